// Both updates start from a copy of %1: each copy could be left out alone, not both, also when the one that changes first is read no more
// once the other changes.
module @random {
  func.func public @main(%arg0: tensor<3x17xui8>, %arg1: tensor<1x3xi16>, %arg2: tensor<1x3xui8>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<1x11xui8>, %arg6: tensor<3x9x1xui8>, %arg7: tensor<ui32>, %arg8: tensor<5x10xui8>, %arg9: tensor<2x17xui8>, %arg10: tensor<1x17xui8>, %arg11: tensor<2x17xui8>, %arg12: tensor<5x2x3xui8>, %arg13: tensor<5x2x2xi8>) -> (tensor<3x9x1xi16>, tensor<8x17xui8>) {
    %0 = "stablehlo.scatter"(%arg0, %arg13, %arg12) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
    ^bb0(%arg14: tensor<ui8>, %arg15: tensor<ui8>):
      %14 = stablehlo.add %arg14, %arg15 : tensor<ui8>
      stablehlo.return %14 : tensor<ui8>
    }) : (tensor<3x17xui8>, tensor<5x2x2xi8>, tensor<5x2x3xui8>) -> tensor<3x17xui8>
    %1 = stablehlo.concatenate %arg0, %arg11, %arg10, %arg9, dim = 0 : (tensor<3x17xui8>, tensor<2x17xui8>, tensor<1x17xui8>, tensor<2x17xui8>) -> tensor<8x17xui8>
    %2 = stablehlo.convert %0 : (tensor<3x17xui8>) -> tensor<3x17xui32>
    %3 = stablehlo.slice %2 [2:3, 11:12] : (tensor<3x17xui32>) -> tensor<1x1xui32>
    %4 = stablehlo.reshape %3 : (tensor<1x1xui32>) -> tensor<ui32>
    %5 = stablehlo.dynamic_update_slice %1, %arg8, %arg7, %4 : (tensor<8x17xui8>, tensor<5x10xui8>, tensor<ui32>, tensor<ui32>) -> tensor<8x17xui8>
    %6 = stablehlo.dynamic_update_slice %1, %arg5, %arg4, %arg3 : (tensor<8x17xui8>, tensor<1x11xui8>, tensor<i32>, tensor<i32>) -> tensor<8x17xui8>
    %7 = stablehlo.convert %3 : (tensor<1x1xui32>) -> tensor<1x1xi8>
    %8 = stablehlo.reshape %7 : (tensor<1x1xi8>) -> tensor<1xi8>
    %9 = stablehlo.convert %6 : (tensor<8x17xui8>) -> tensor<8x17xi16>
    %10 = stablehlo.slice %9 [7:8, 2:3] : (tensor<8x17xi16>) -> tensor<1x1xi16>
    %11 = stablehlo.reshape %10 : (tensor<1x1xi16>) -> tensor<i16>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<i16>) -> tensor<3x9x1xi16>
    %13:2 = "stablehlo.scatter"(%arg6, %12, %8, %arg2, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [2], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg14: tensor<ui8>, %arg15: tensor<i16>, %arg16: tensor<ui8>, %arg17: tensor<i16>):
      %14 = stablehlo.add %arg14, %arg16 : tensor<ui8>
      %15 = stablehlo.add %arg15, %arg17 : tensor<i16>
      stablehlo.return %14, %15 : tensor<ui8>, tensor<i16>
    }) : (tensor<3x9x1xui8>, tensor<3x9x1xi16>, tensor<1xi8>, tensor<1x3xui8>, tensor<1x3xi16>) -> (tensor<3x9x1xui8>, tensor<3x9x1xi16>)
    return %13#1, %5 : tensor<3x9x1xi16>, tensor<8x17xui8>
  }
}
