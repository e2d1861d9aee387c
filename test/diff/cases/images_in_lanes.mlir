// Few features of full vectors of images: convolutions whose vectors run along the images. Padding, windows apart and spread, reversed ones, kernels and
// inputs with infinities (which meet the padding), one spatial dimension, a gradient by the kernel that sums the images.
module {
  func.func public @main(%a0: tensor<32x3x7x6xf32>, %a1: tensor<10x3x3x2xf32>, %a2: tensor<10xf32>, %a3: tensor<16x9x8x2xf32>, %a4: tensor<3x2x2x20xf32>, %a5: tensor<16x2x5x5xf32>, %a6: tensor<3x2x3x3xf32>, %a7: tensor<64x3x11xf64>, %a8: tensor<5x3x4xf64>, %a9: tensor<32x2x8x7xf32>, %a10: tensor<32x10x7x6xf32>, %a11: tensor<16x9x9x3xf32>, %a12: tensor<16x4x4x5xf32>, %a13: tensor<16x1x8x8xf32>, %a14: tensor<5x1x3x3xf32>, %a15: tensor<6x5x2x2xf32>) -> (tensor<32x10x7x6xf32>, tensor<16x4x4x20xf32>, tensor<16x3x5x5xf32>, tensor<64x5x8xf64>, tensor<10x2x3x2xf32>, tensor<3x3x3x5xf32>, tensor<16x6x2x2xf32>) {
    %v0 = stablehlo.convolution(%a0, %a1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<32x3x7x6xf32>, tensor<10x3x3x2xf32>) -> tensor<32x10x7x6xf32>
    %v1 = stablehlo.broadcast_in_dim %a2, dims = [1] : (tensor<10xf32>) -> tensor<32x10x7x6xf32>
    %v2 = stablehlo.add %v0, %v1 : tensor<32x10x7x6xf32>
    %v3 = stablehlo.convolution(%a3, %a4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [1, 1]], rhs_dilate = [1, 2], reverse = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<16x9x8x2xf32>, tensor<3x2x2x20xf32>) -> tensor<16x4x4x20xf32>
    %v4 = stablehlo.constant dense<[0x7F800000, 1.0, 0x7FC00000]> : tensor<3xf32>
    %v5 = stablehlo.broadcast_in_dim %v4, dims = [2] : (tensor<3xf32>) -> tensor<3x2x3x3xf32>
    %v6 = stablehlo.multiply %a6, %v5 : tensor<3x2x3x3xf32>
    %v7 = stablehlo.convolution(%a5, %v6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<16x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<16x3x5x5xf32>
    %v8 = stablehlo.convolution(%a7, %a8) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x3x11xf64>, tensor<5x3x4xf64>) -> tensor<64x5x8xf64>
    %v9 = stablehlo.convolution(%a9, %a10) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {pad = [[1, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<32x2x8x7xf32>, tensor<32x10x7x6xf32>) -> tensor<10x2x3x2xf32>
    %v10 = stablehlo.convolution(%a11, %a12) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<16x9x9x3xf32>, tensor<16x4x4x5xf32>) -> tensor<3x3x3x5xf32>
    %v14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %v11 = stablehlo.convolution(%a13, %a14) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<16x1x8x8xf32>, tensor<5x1x3x3xf32>) -> tensor<16x5x6x6xf32>
    %v12 = "stablehlo.reduce_window"(%v11, %v14) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>} : (tensor<16x5x6x6xf32>, tensor<f32>) -> tensor<16x5x3x3xf32>
    %v13 = stablehlo.convolution(%v12, %a15) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<16x5x3x3xf32>, tensor<6x5x2x2xf32>) -> tensor<16x6x2x2xf32>
    return %v2, %v3, %v7, %v8, %v9, %v10, %v13 : tensor<32x10x7x6xf32>, tensor<16x4x4x20xf32>, tensor<16x3x5x5xf32>, tensor<64x5x8xf64>, tensor<10x2x3x2xf32>, tensor<3x3x3x5xf32>, tensor<16x6x2x2xf32>
  }
}
