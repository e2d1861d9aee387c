// Where the code generator scans, prefixes stay what they are; a neutral initial value is seen through what moves it.
// run: lazuli opt --passes=expand_windows --prefix-scans %s
// check-not: stablehlo.reverse
// check-not: "lazuli.window_view"
// check-not: stablehlo.add %{{.*}} : tensor<4x1000xf32>
// check: "stablehlo.reduce_window"
// check-same: window_dimensions = array<i64: 1, 1000>
// check-not: stablehlo.add %{{.*}} : tensor<4x1000xf32>
module {
  func.func public @main(%x: tensor<4x1000xf32>) -> tensor<4x1000xf32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %d = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %i = stablehlo.reshape %d : (tensor<1xf32>) -> tensor<f32>
    %0 = "stablehlo.reduce_window"(%x, %i) <{padding = dense<[[0, 0], [0, 999]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 1000>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<4x1000xf32>, tensor<f32>) -> tensor<4x1000xf32>
    return %0 : tensor<4x1000xf32>
  }
}
