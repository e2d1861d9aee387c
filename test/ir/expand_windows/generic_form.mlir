// The generic form of a convolution is read, defaults are left out when it is printed, and what is printed is read again.
// run: lazuli opt --passes= %s
// run: lazuli opt --passes= %s >$TMPDIR/once.mlir && lazuli opt --passes= $TMPDIR/once.mlir
// check: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 1, 0, f]x[o, 0, 1, i]->[f, 0, 1, b], window = {pad = [{{\[}}1, 0], [0, 0]], rhs_dilate = [1, 2], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]}
// check-next: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
module {
  func.func public @main(%x: tensor<2x4x5x3xf32>, %k: tensor<6x2x2x3xf32>) -> (tensor<6x5x2x2xf32>, tensor<2x3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 1, 0, f]x[o, 0, 1, i]->[f, 0, 1, b]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>], rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: true, false>, window_strides = array<i64: 1, 1>}> : (tensor<2x4x5x3xf32>, tensor<6x2x2x3xf32>) -> tensor<6x5x2x2xf32>
    %1 = "stablehlo.convolution"(%x, %k) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 3, kernel_output_feature_dimension = 0, kernel_spatial_dimensions = [1, 2], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64} : (tensor<2x4x5x3xf32>, tensor<6x2x2x3xf32>) -> tensor<2x3x4x6xf32>
    return %0, %1 : tensor<6x5x2x2xf32>, tensor<2x3x4x6xf32>
  }
}
