// versions: 0.9.0 1.0.0 1.5.0 1.13.0 1.17.0
// operations whose attributes are gathered in others, or have been regrouped since
module @structs {
  func.func public @main(%arg0: tensor<3x4x5xf32>, %arg1: tensor<3x5x2xf32>, %arg2: tensor<2x1xi32>, %arg3: tensor<2x4x5xf32>, %arg4: tensor<1x8x8x4xf32>, %arg5: tensor<3x3x2x6xf32>) -> (tensor<3x4x2xf32>, tensor<2x4x5xf32>, tensor<3x4x5xf32>, tensor<1x5x5x6xf32>, tensor<3x4x5xi1>, tensor<3x4x5xf32>, tensor<1x4x4x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT] : (tensor<3x4x5xf32>, tensor<3x5x2xf32>) -> tensor<3x4x2xf32>
    %1 = "stablehlo.gather"(%arg0, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 4, 5>}> : (tensor<3x4x5xf32>, tensor<2x1xi32>) -> tensor<2x4x5xf32>
    %2 = "stablehlo.scatter"(%arg0, %arg2, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4x5xf32>, tensor<2x1xi32>, tensor<2x4x5xf32>) -> tensor<3x4x5xf32>
    %3 = stablehlo.convolution(%arg4, %arg5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [2, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x4x4x6xf32>
    %4 = stablehlo.convolution(%arg4, %arg5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 3], [2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x5x5x6xf32>
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.pad %3, %c, low = [0, 0, 0, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<1x4x4x6xf32>, tensor<f32>) -> tensor<1x5x5x6xf32>
    %5 = stablehlo.add %4, %p : tensor<1x5x5x6xf32>
    %6 = stablehlo.compare GE, %arg0, %2, TOTALORDER : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xi1>
    %7 = stablehlo.exponential %arg0 : tensor<3x4x5xf32>
    %8 = "stablehlo.sort"(%7) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }) : (tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
    %9 = "stablehlo.reduce_window"(%arg4, %c) <{padding = dense<[[0, 0], [1, 0], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1x8x8x4xf32>, tensor<f32>) -> tensor<1x4x4x4xf32>
    return %0, %1, %2, %5, %6, %8, %9 : tensor<3x4x2xf32>, tensor<2x4x5xf32>, tensor<3x4x5xf32>, tensor<1x5x5x6xf32>, tensor<3x4x5xi1>, tensor<3x4x5xf32>, tensor<1x4x4x4xf32>
  }
}
