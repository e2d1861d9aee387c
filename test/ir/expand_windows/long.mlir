// A long window is a suffix of one block and a prefix of the next; blocks have one element less.
// run: lazuli opt --passes=expand_windows --prefix-scans %s
// check: -> tensor<1x4x100x1xf32>
// check: window_dimensions = array<i64: 1, 1, 100, 1>
// check: window_dimensions = array<i64: 1, 1, 100, 1>
// check: stablehlo.maximum %{{.*}} : tensor<1x{{.*}}x1xf32>
// check-not: window_dimensions = array<i64: 101>
module {
  func.func public @main(%x: tensor<400xf32>) -> tensor<300xf32> {
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 101>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<400xf32>, tensor<f32>) -> tensor<300xf32>
    return %0 : tensor<300xf32>
  }
}
