// The gradient by the kernel of a convolution of few features and many images, below a pool, whose gradient comes from rows of features.
module {
  func.func public @main(%x: tensor<32x3x10x10xf32>, %k: tensor<10x3x3x3xf32>, %g: tensor<32x160xf32>) -> tensor<10x3x3x3xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<32x3x10x10xf32>, tensor<10x3x3x3xf32>) -> tensor<32x10x8x8xf32>
    %1 = stablehlo.reshape %g : (tensor<32x160xf32>) -> tensor<32x10x4x4xf32>
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %p = "stablehlo.reduce_window"(%0, %i) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<32x10x8x8xf32>, tensor<f32>) -> tensor<32x10x4x4xf32>
    %q = stablehlo.multiply %1, %p : tensor<32x10x4x4xf32>
    %2 = "stablehlo.select_and_scatter"(%0, %q, %z) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<32x10x8x8xf32>, tensor<32x10x4x4xf32>, tensor<f32>) -> tensor<32x10x8x8xf32>
    %3 = stablehlo.convolution(%x, %2) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<32x3x10x10xf32>, tensor<32x10x8x8xf32>) -> tensor<10x3x3x3xf32>
    return %3 : tensor<10x3x3x3xf32>
  }
}
