// A branch that is known is taken.
// run: lazuli opt --passes=simplify_control %s
// check-not: stablehlo.if
// check: stablehlo.negate %arg0
// check-not: exponential
module {
  func.func public @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %p = stablehlo.constant dense<false> : tensor<i1>
    %0:2 = "stablehlo.if"(%p) ({
      %1 = stablehlo.exponential %a : tensor<4xf32>
      stablehlo.return %1, %a : tensor<4xf32>, tensor<4xf32>
    }, {
      %2 = stablehlo.negate %a : tensor<4xf32>
      stablehlo.return %a, %2 : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>)
    return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
  }
}
