// What the taps between the elements of a dilated input add, 0 times the kernel, is summed before it is added to the results of a phase: once for each of three phases.
// run: lazuli opt --passes=expand_windows %s | grep -c 'stablehlo.add .*: tensor<2x3x3xf32>'
// check: 3
func.func public @main(%x: tensor<2x3x4xf32>, %k: tensor<6x4x3xf32>) -> tensor<2x9x3xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[3, 4]], lhs_dilate = [3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x3x4xf32>, tensor<6x4x3xf32>) -> tensor<2x9x3xf32>
  return %0 : tensor<2x9x3xf32>
}
