// The gradient of a convolution by its kernel keeps images and features in the order of its input; that by its input, of windows that are apart,
// is made of phases without zeros between the elements.
// run: lazuli opt --passes=expand_windows,simplify %s
// check: "lazuli.window_view"(%arg0)
// check-next: stablehlo.dot_general %{{.*}}, %arg1, contracting_dims = [0, 4, 5] x [0, 1, 2]
// check-not: interior = [0, 1
// check: stablehlo.concatenate
// check: stablehlo.concatenate
module {
  func.func public @main(%x: tensor<2x10x10x16xf32>, %d: tensor<2x8x8x32xf32>, %k: tensor<3x3x32x16xf32>) -> (tensor<3x3x16x32xf32>, tensor<2x17x17x16xf32>) {
    %0 = stablehlo.convolution(%x, %d) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x10x10x16xf32>, tensor<2x8x8x32xf32>) -> tensor<3x3x16x32xf32>
    %1 = stablehlo.convolution(%d, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x32xf32>, tensor<3x3x32x16xf32>) -> tensor<2x17x17x16xf32>
    return %0, %1 : tensor<3x3x16x32xf32>, tensor<2x17x17x16xf32>
  }
}
