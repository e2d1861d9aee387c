// What the taps between elements add to the results of all four phases of a window of 3x3 takes two sums, whatever the phases have of it.
// run: lazuli opt --passes=expand_windows %s | grep -c 'stablehlo.reduce'
// check: 2
func.func public @main(%x: tensor<2x3x5x4xf32>, %k: tensor<3x3x4x6xf32>) -> tensor<2x6x10x6xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x3x5x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x6x10x6xf32>
  return %0 : tensor<2x6x10x6xf32>
}
