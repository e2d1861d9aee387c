// A convolution is a product of the view of its windows, whose dimensions stay as they are.
// run: lazuli opt --passes=expand_windows,simplify,canonicalize_dots %s
// check: stablehlo.pad %arg0
// check: "lazuli.window_view"
// check-next: stablehlo.dot_general %{{.*}}, %arg1, contracting_dims = [4, 5, 3] x [0, 1, 2]
// check-not: stablehlo.reshape
module {
  func.func public @main(%x: tensor<2x8x8x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<2x8x8x32xf32> {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<2x8x8x32xf32>
    return %0 : tensor<2x8x8x32xf32>
  }
}
