// Convolutions whose images have few columns: rows of a product's tiles are those of many lines and images. Strides, padding, 1x1, a prologue,
// a bias, channels that are no whole vectors, few results and a long k.
module @rows_of_images {
  func.func public @main(%a0: tensor<2x8x11x7xf32>, %w0: tensor<16x8x3x3xf32>, %a1: tensor<3x16x7x9xbf16>, %w1: tensor<24x16x3x3xbf16>, %a2: tensor<2x72x7x7xbf16>, %w2: tensor<40x72x3x3xbf16>, %b2: tensor<40xbf16>, %a3: tensor<5x8x5x3xf16>, %w3: tensor<17x8x1x1xf16>, %a4: tensor<2x5x6x7xf64>, %w4: tensor<12x5x2x2xf64>, %a5: tensor<1x3x20x20xf32>, %w5: tensor<16x3x7x7xf32>, %b5: tensor<16xf32>, %a6: tensor<9x24x13x6xbf16>, %w6: tensor<136x24x1x1xbf16>, %a7: tensor<2x24x11x13xbf16>, %w7: tensor<256x24x3x3xbf16>, %a8: tensor<1x16x3x128xbf16>, %w8: tensor<256x16x3x3xbf16>) -> (tensor<2x16x11x7xf32>, tensor<3x24x4x5xbf16>, tensor<2x40x7x7xbf16>, tensor<5x17x3x2xf16>, tensor<2x12x7x8xf64>, tensor<1x16x10x10xf32>, tensor<9x136x7x3xbf16>, tensor<2x256x6x7xbf16>, tensor<1x256x3x128xbf16>) {
    %c0 = stablehlo.convolution(%a0, %w0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x11x7xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x11x7xf32>
    %z1 = stablehlo.constant dense<0.0> : tensor<3x16x7x9xbf16>
    %x1 = stablehlo.maximum %a1, %z1 : tensor<3x16x7x9xbf16>
    %c1 = stablehlo.convolution(%x1, %w1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x16x7x9xbf16>, tensor<24x16x3x3xbf16>) -> tensor<3x24x4x5xbf16>
    %c2 = stablehlo.convolution(%a2, %w2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x72x7x7xbf16>, tensor<40x72x3x3xbf16>) -> tensor<2x40x7x7xbf16>
    %bb2 = stablehlo.broadcast_in_dim %b2, dims = [1] : (tensor<40xbf16>) -> tensor<2x40x7x7xbf16>
    %s2 = stablehlo.add %c2, %bb2 : tensor<2x40x7x7xbf16>
    %c3 = stablehlo.convolution(%a3, %w3) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x8x5x3xf16>, tensor<17x8x1x1xf16>) -> tensor<5x17x3x2xf16>
    %z4 = stablehlo.constant dense<0.0> : tensor<2x5x6x7xf64>
    %x4 = stablehlo.maximum %a4, %z4 : tensor<2x5x6x7xf64>
    %c4 = stablehlo.convolution(%x4, %w4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x5x6x7xf64>, tensor<12x5x2x2xf64>) -> tensor<2x12x7x8xf64>
    %c5 = stablehlo.convolution(%a5, %w5) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[3, 3], [3, 3]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x20x20xf32>, tensor<16x3x7x7xf32>) -> tensor<1x16x10x10xf32>
    %bb5 = stablehlo.broadcast_in_dim %b5, dims = [1] : (tensor<16xf32>) -> tensor<1x16x10x10xf32>
    %s5 = stablehlo.add %c5, %bb5 : tensor<1x16x10x10xf32>
    %c6 = stablehlo.convolution(%a6, %w6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<9x24x13x6xbf16>, tensor<136x24x1x1xbf16>) -> tensor<9x136x7x3xbf16>
    %z7 = stablehlo.constant dense<0.0> : tensor<2x24x11x13xbf16>
    %x7 = stablehlo.maximum %a7, %z7 : tensor<2x24x11x13xbf16>
    %c7 = stablehlo.convolution(%x7, %w7) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x24x11x13xbf16>, tensor<256x24x3x3xbf16>) -> tensor<2x256x6x7xbf16>
    %c8 = stablehlo.convolution(%a8, %w8) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x3x128xbf16>, tensor<256x16x3x3xbf16>) -> tensor<1x256x3x128xbf16>
    return %c0, %c1, %s2, %c3, %c4, %s5, %c6, %c7, %c8 : tensor<2x16x11x7xf32>, tensor<3x24x4x5xbf16>, tensor<2x40x7x7xbf16>, tensor<5x17x3x2xf16>, tensor<2x12x7x8xf64>, tensor<1x16x10x10xf32>, tensor<9x136x7x3xbf16>, tensor<2x256x6x7xbf16>, tensor<1x256x3x128xbf16>
  }
}
