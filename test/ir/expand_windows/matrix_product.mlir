// Windows of one element, and one window that is all of the input, are products of matrices.
// run: lazuli opt --passes=expand_windows,simplify,canonicalize_dots %s
// check-not: window_view
// check: stablehlo.dot_general %arg0, %{{.*}}, contracting_dims = [3] x [0]
// check: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [1] x [0] : (tensor<2x1024xf32>, tensor<1024x32xf32>) -> tensor<2x32xf32>
// check-not: window_view
module {
  func.func public @main(%x: tensor<2x8x8x16xf32>, %k: tensor<1x1x16x32xf32>, %w: tensor<8x8x16x32xf32>) -> (tensor<2x8x8x32xf32>, tensor<2x1x1x32xf32>) {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x16xf32>, tensor<1x1x16x32xf32>) -> tensor<2x8x8x32xf32>
    %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x16xf32>, tensor<8x8x16x32xf32>) -> tensor<2x1x1x32xf32>
    return %0, %1 : tensor<2x8x8x32xf32>, tensor<2x1x1x32xf32>
  }
}
