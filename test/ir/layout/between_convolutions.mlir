// Between convolutions of images in the order batch, feature, rows, columns, values lie in the order of the products.
// run: lazuli opt --passes=expand_windows,simplify,layout,simplify %s
// check: stablehlo.transpose
// check: "lazuli.window_view"
// check: stablehlo.dot_general
// check-not: stablehlo.transpose
// check: stablehlo.maximum %{{.*}} : tensor<2x8x8x16xf32>
// check-not: stablehlo.transpose
// check: stablehlo.pad
// check: stablehlo.dot_general
// check: stablehlo.transpose %{{.*}}, dims = [0, 3, 1, 2]
module {
  func.func public @main(%x: tensor<2x16x8x8xf32>, %k: tensor<3x3x16x16xf32>) -> tensor<2x16x8x8xf32> {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x8x8xf32>, tensor<3x3x16x16xf32>) -> tensor<2x16x8x8xf32>
    %z = stablehlo.constant dense<0.0> : tensor<2x16x8x8xf32>
    %1 = stablehlo.maximum %0, %z : tensor<2x16x8x8xf32>
    %2 = stablehlo.convolution(%1, %k) dim_numbers = [b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x8x8xf32>, tensor<3x3x16x16xf32>) -> tensor<2x16x8x8xf32>
    return %2 : tensor<2x16x8x8xf32>
  }
}
