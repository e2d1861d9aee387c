// A reduction of windows is a reduction of a view of them; only what a window reaches is padded.
// run: lazuli opt --passes=expand_windows %s
// check-not: reduce_window
// check: stablehlo.pad %arg0, %{{.*}}, low = [0, 1], high = [0, 0], interior = [0, 0]
// check-next: "lazuli.window_view"(%{{.*}}) <{dilations = array<i64: 1, 1>, dimensions = array<i64: 0, 1>, sizes = array<i64: 2, 3>, strides = array<i64: 2, 2>}> : (tensor<4x7xf32>) -> tensor<2x3x2x3xf32>
// check-next: stablehlo.reduce({{.*}}) applies stablehlo.maximum across dimensions = [2, 3]
module {
  func.func public @main(%x: tensor<4x6xf32>) -> tensor<2x3xf32> {
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%x, %i) <{padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
