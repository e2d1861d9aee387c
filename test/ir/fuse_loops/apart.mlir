// Values that only start alike are no reason to join.
// run: lazuli opt --passes=dce,fuse_loops %s
// check: stablehlo.while
// check: stablehlo.while
// check: return
func.func public @main(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
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
  %1:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i64>, tensor<3xf64>
    cond {
    %n = stablehlo.constant dense<4> : tensor<i64>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.add %a, %w : tensor<3xf64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %b : tensor<i64>, tensor<3xf64>
  }
  return %0#1, %1#1 : tensor<3xf64>, tensor<3xf64>
}
