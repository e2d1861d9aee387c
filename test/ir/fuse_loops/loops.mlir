// The value of a loop, and the same loop keeping what its rounds start from: one loop. A value that only starts alike is carried twice.
// run: lazuli opt --passes=dce,fuse_loops %s
// check: stablehlo.while(%arg2 = %c, %arg3 = %arg0, %arg4 = %0)
// check: multiply %arg3, %arg1
// check-not: multiply
// check: return %1#1, %1#2
// check-not: stablehlo.while
func.func public @main(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (tensor<3xf64>, tensor<4x3xf64>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i64>, tensor<3xf64>
    cond {
    %n = stablehlo.constant dense<4> : tensor<i64>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.multiply %a, %w : tensor<3xf64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %b : tensor<i64>, tensor<3xf64>
  }
  %z = stablehlo.constant dense<0.0> : tensor<4x3xf64>
  %1:3 = stablehlo.while(%i = %zero, %a = %x, %s = %z) : tensor<i64>, tensor<3xf64>, tensor<4x3xf64>
    cond {
    %n = stablehlo.constant dense<4> : tensor<i64>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %k = stablehlo.constant dense<0> : tensor<i64>
    %b = stablehlo.multiply %a, %w : tensor<3xf64>
    %r = stablehlo.reshape %a : (tensor<3xf64>) -> tensor<1x3xf64>
    %t = stablehlo.dynamic_update_slice %s, %r, %i, %k : (tensor<4x3xf64>, tensor<1x3xf64>, tensor<i64>, tensor<i64>) -> tensor<4x3xf64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %b, %t : tensor<i64>, tensor<3xf64>, tensor<4x3xf64>
  }
  return %0#1, %1#2 : tensor<3xf64>, tensor<4x3xf64>
}
