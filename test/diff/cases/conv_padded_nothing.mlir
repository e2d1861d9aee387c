// An input without elements that is padded: the kernel meets zeros, and what is infinite or NaN in it gives NaN, not the zeros of an empty sum.
module @random {
  func.func public @main(%arg0: tensor<5x0x3x9xf32>, %arg1: tensor<2x3x9x4xf32>) -> tensor<4x2x1x5xf32> {
    %0 = stablehlo.constant dense<[0x7F800000, 1.0, 0x7FC00000, 2.0]> : tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [3] : (tensor<4xf32>) -> tensor<2x3x9x4xf32>
    %2 = stablehlo.multiply %arg1, %1 : tensor<2x3x9x4xf32>
    %3 = stablehlo.convolution(%arg0, %2) dim_numbers = [b, 0, 1, f]x[1, 0, i, o]->[f, 0, 1, b], window = {stride = [2, 2], pad = [[3, 3], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x0x3x9xf32>, tensor<2x3x9x4xf32>) -> tensor<4x2x1x5xf32>
    return %3 : tensor<4x2x1x5xf32>
  }
}
