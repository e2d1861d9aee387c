// Nothing but padding times a kernel with infinities: not numbers. Plain, and dilated by two.
module @convolution_of_padding {
  func.func public @main(%x: tensor<5x0x3x9xf32>, %k: tensor<2x3x9x4xf32>) -> (tensor<4x2x1x5xf32>, tensor<4x2x2x5xf32>) {
    %huge = stablehlo.constant dense<0x7F7FFFFF> : tensor<2x3x9x4xf32>
    %y = stablehlo.multiply %k, %huge : tensor<2x3x9x4xf32>
    %i = stablehlo.multiply %y, %huge : tensor<2x3x9x4xf32>
    %0 = stablehlo.convolution(%x, %i) dim_numbers = [b, 0, 1, f]x[1, 0, i, o]->[f, 0, 1, b], window = {stride = [2, 2], pad = [[3, 3], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x0x3x9xf32>, tensor<2x3x9x4xf32>) -> tensor<4x2x1x5xf32>
    %1 = stablehlo.convolution(%x, %i) dim_numbers = [b, 0, 1, f]x[1, 0, i, o]->[f, 0, 1, b], window = {stride = [1, 1], pad = [[2, 2], [0, 0]], lhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x0x3x9xf32>, tensor<2x3x9x4xf32>) -> tensor<4x2x2x5xf32>
    return %0, %1 : tensor<4x2x1x5xf32>, tensor<4x2x2x5xf32>
  }
}
