// x + 0 is not x when x is -0: the addition stays. Adding -0 goes.
// run: lazuli opt --passes=simplify %s
// check: stablehlo.add %arg0
// check-not: stablehlo.add
// check: return %{{[0-9]+}}, %arg0
module {
  func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
    %nzero = stablehlo.constant dense<-0.0> : tensor<4xf32>
    %a = stablehlo.add %x, %zero : tensor<4xf32>
    %b = stablehlo.add %nzero, %x : tensor<4xf32>
    return %a, %b : tensor<4xf32>, tensor<4xf32>
  }
}
