// Of values that all start alike, those that stay so are carried once, the others twice.
// run: lazuli opt --passes=dce,fuse_loops %s
// check: stablehlo.while(%arg2 = %c, %arg3 = %arg0, %arg4 = %arg0, %arg5 = %arg0)
// check: multiply %arg3, %arg1
// check: add %arg4, %arg3
// check-not: multiply
// check: subtract %arg5, %arg3
// check: return %0#2, %0#3
func.func public @main(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %s = %x) : tensor<i64>, tensor<3xf64>, tensor<3xf64>
    cond {
    %n = stablehlo.constant dense<4> : tensor<i64>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.multiply %a, %w : tensor<3xf64>
    %d = stablehlo.add %s, %a : tensor<3xf64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %b, %d : tensor<i64>, tensor<3xf64>, tensor<3xf64>
  }
  %1:3 = stablehlo.while(%i = %zero, %a = %x, %s = %x) : tensor<i64>, tensor<3xf64>, tensor<3xf64>
    cond {
    %n = stablehlo.constant dense<4> : tensor<i64>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.multiply %a, %w : tensor<3xf64>
    %d = stablehlo.subtract %s, %a : tensor<3xf64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %b, %d : tensor<i64>, tensor<3xf64>, tensor<3xf64>
  }
  return %0#2, %1#2 : tensor<3xf64>, tensor<3xf64>
}
