// Prefixes of a long dimension are computed in blocks of 16, and prefixes of the blocks' totals.
// run: lazuli opt --passes=expand_windows %s
// check: stablehlo.reshape %{{.*}} : (tensor<1x1008x1xf32>) -> tensor<1x63x16x1xf32>
// check: sizes = array<i64: 16>
// check: tensor<1x4x16x1xf32>
// check: sizes = array<i64: 4>
// check-not: array<i64: 1000>
module {
  func.func public @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
    %i = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%x, %i) <{padding = dense<[[999, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 1000>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<1000xf32>, tensor<f32>) -> tensor<1000xf32>
    return %0 : tensor<1000xf32>
  }
}
