// The gradient of the largest of windows, long and short, with comparisons as JAX writes them: a NaN gives way to what follows.
module @select_in_order {
  func.func public @main(%x: tensor<2x150xf32>, %s: tensor<2x150xf32>) -> (tensor<2x150xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %v = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 1, 40>, padding = dense<[[0, 0], [20, 19]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<2x150xf32>, tensor<2x150xf32>, tensor<f32>) -> tensor<2x150xf32>
    return %v : tensor<2x150xf32>
  }
}
