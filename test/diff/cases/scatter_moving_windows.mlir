// Windows whose start is computed overlap: elements of one window are not independent of those of the next.
func.func public @main(%arg0: tensor<17x19xi64>, %arg1: tensor<19x1x3xui32>, %arg2: tensor<19x3x17xi64>) -> tensor<17x19xi64> {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], input_batching_dims = [1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
    %1 = stablehlo.add %arg3, %arg4 : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }) : (tensor<17x19xi64>, tensor<19x1x3xui32>, tensor<19x3x17xi64>) -> tensor<17x19xi64>
  return %0 : tensor<17x19xi64>
}
