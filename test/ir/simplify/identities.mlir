// Identities that keep every bit.
// run: lazuli opt --passes=simplify %s
// check: func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>)
// check-not: negate
// check-not: multiply
// check-not: subtract
// check: return %arg0, %arg0, %arg0, %arg1, %arg0
module {
  func.func public @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
    %izero = stablehlo.constant dense<0> : tensor<4xi32>
    %n = stablehlo.negate %x : tensor<4xf32>
    %a = stablehlo.negate %n : tensor<4xf32>
    %b = stablehlo.multiply %one, %x : tensor<4xf32>
    %c = stablehlo.subtract %x, %zero : tensor<4xf32>
    %d = stablehlo.add %i, %izero : tensor<4xi32>
    %e = stablehlo.maximum %x, %x : tensor<4xf32>
    return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
  }
}
