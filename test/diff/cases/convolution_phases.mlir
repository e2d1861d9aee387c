// A dilated input: where a window has no element of it, taps that are infinite give NaN.
module @convolution_phases {
  func.func public @main(%x: tensor<2x4x5x3xf32>, %k: tensor<3x4x3x6xf32>, %h: tensor<5x8x1x5xf16>, %g: tensor<8x2x1x3xf16>) -> (tensor<2x8x13x6xf32>, tensor<5x4x3x3xf16>) {
    %huge = stablehlo.constant dense<0x7F7FFFFF> : tensor<3x4x3x6xf32>
    %i = stablehlo.multiply %k, %huge : tensor<3x4x3x6xf32>
    %0 = stablehlo.convolution(%x, %i) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 2], [2, 1]], lhs_dilate = [2, 3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x5x3xf32>, tensor<3x4x3x6xf32>) -> tensor<2x8x13x6xf32>
    %large = stablehlo.constant dense<0x7BFF> : tensor<8x2x1x3xf16>
    %j = stablehlo.multiply %g, %large : tensor<8x2x1x3xf16>
    %1 = stablehlo.convolution(%h, %j) dim_numbers = [1, f, 0, b]x[i, 1, 0, o]->[b, 1, f, 0], window = {stride = [1, 2], pad = [[1, 1], [2, 2]], lhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x8x1x5xf16>, tensor<8x2x1x3xf16>) -> tensor<5x4x3x3xf16>
    return %0, %1 : tensor<2x8x13x6xf32>, tensor<5x4x3x3xf16>
  }
}
