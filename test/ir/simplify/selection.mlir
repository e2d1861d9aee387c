// Selection by constants and of constants.
// run: lazuli opt --passes=simplify %s
// check: stablehlo.select %arg0, %arg2, %arg1
// check-not: select
// check: return %arg1, %arg1, %{{[0-9]+}}, %arg0
module {
  func.func public @main(%p: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
    %t = stablehlo.constant dense<true> : tensor<4xi1>
    %f = stablehlo.constant dense<false> : tensor<4xi1>
    %0 = stablehlo.select %t, %a, %b : tensor<4xi1>, tensor<4xf32>
    %1 = stablehlo.select %p, %a, %a : tensor<4xi1>, tensor<4xf32>
    %n = stablehlo.not %p : tensor<4xi1>
    %2 = stablehlo.select %n, %a, %b : tensor<4xi1>, tensor<4xf32>
    %3 = stablehlo.select %p, %t, %f : tensor<4xi1>, tensor<4xi1>
    return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
  }
}
