module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x4x3x2xf32>) -> (tensor<1x8x6x2xf32> {jax.result_info = "result[0]"}, tensor<1x7x5x2xf32> {jax.result_info = "result[1]"}, tensor<3x4x2xf32> {jax.result_info = "result[2]"}, tensor<1x4x3x2xf32> {jax.result_info = "result[3]"}) {
    %0 = call @_resize(%arg0) : (tensor<1x4x3x2xf32>) -> tensor<1x8x6x2xf32>
    %1 = call @_pad(%arg0) : (tensor<1x4x3x2xf32>) -> tensor<1x7x5x2xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<1x4x3x2xf32>) -> tensor<4x3x2xf32>
    %3 = call @rot90(%2) : (tensor<4x3x2xf32>) -> tensor<3x4x2xf32>
    %4 = call @_roll_static(%arg0) : (tensor<1x4x3x2xf32>) -> tensor<1x4x3x2xf32>
    return %0, %1, %3, %4 : tensor<1x8x6x2xf32>, tensor<1x7x5x2xf32>, tensor<3x4x2xf32>, tensor<1x4x3x2xf32>
  }
  func.func private @_resize(%arg0: tensor<1x4x3x2xf32>) -> tensor<1x8x6x2xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<8xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %6 = stablehlo.divide %4, %5 : tensor<8xf32>
    %7 = stablehlo.floor %6 : tensor<8xf32>
    %8 = stablehlo.convert %7 : (tensor<8xf32>) -> tensor<8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %c_2 = stablehlo.constant dense<4> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %12 = stablehlo.add %8, %11 : tensor<8xi32>
    %13 = stablehlo.select %10, %12, %8 : tensor<8xi1>, tensor<8xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %15 = "stablehlo.gather"(%arg0, %14) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 3, 2>}> : (tensor<1x4x3x2xf32>, tensor<8x1xi32>) -> tensor<1x8x3x2xf32>
    %16 = stablehlo.iota dim = 0 : tensor<6xf32>
    %cst_3 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %18 = stablehlo.add %16, %17 : tensor<6xf32>
    %cst_4 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %20 = stablehlo.multiply %18, %19 : tensor<6xf32>
    %cst_5 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %22 = stablehlo.divide %20, %21 : tensor<6xf32>
    %23 = stablehlo.floor %22 : tensor<6xf32>
    %24 = stablehlo.convert %23 : (tensor<6xf32>) -> tensor<6xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %25 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %26 = stablehlo.compare LT, %24, %25, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_7 = stablehlo.constant dense<3> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %28 = stablehlo.add %24, %27 : tensor<6xi32>
    %29 = stablehlo.select %26, %28, %24 : tensor<6xi1>, tensor<6xi32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %31 = "stablehlo.gather"(%15, %30) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8, 1, 2>}> : (tensor<1x8x3x2xf32>, tensor<6x1xi32>) -> tensor<1x8x6x2xf32>
    return %31 : tensor<1x8x6x2xf32>
  }
  func.func private @_pad(%arg0: tensor<1x4x3x2xf32>) -> tensor<1x7x5x2xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 1:3, 0:3, 0:2] : (tensor<1x4x3x2xf32>) -> tensor<1x2x3x2xf32>
    %1 = call @_flip(%0) : (tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
    %2 = stablehlo.concatenate %1, %arg0, dim = 1 : (tensor<1x2x3x2xf32>, tensor<1x4x3x2xf32>) -> tensor<1x6x3x2xf32>
    %3 = stablehlo.slice %2 [0:1, 4:5, 0:3, 0:2] : (tensor<1x6x3x2xf32>) -> tensor<1x1x3x2xf32>
    %4 = call @_flip_0(%3) : (tensor<1x1x3x2xf32>) -> tensor<1x1x3x2xf32>
    %5 = stablehlo.concatenate %2, %4, dim = 1 : (tensor<1x6x3x2xf32>, tensor<1x1x3x2xf32>) -> tensor<1x7x3x2xf32>
    %6 = stablehlo.slice %5 [0:1, 0:7, 1:2, 0:2] : (tensor<1x7x3x2xf32>) -> tensor<1x7x1x2xf32>
    %7 = call @_flip_1(%6) : (tensor<1x7x1x2xf32>) -> tensor<1x7x1x2xf32>
    %8 = stablehlo.concatenate %7, %5, dim = 2 : (tensor<1x7x1x2xf32>, tensor<1x7x3x2xf32>) -> tensor<1x7x4x2xf32>
    %9 = stablehlo.slice %8 [0:1, 0:7, 2:3, 0:2] : (tensor<1x7x4x2xf32>) -> tensor<1x7x1x2xf32>
    %10 = call @_flip_1(%9) : (tensor<1x7x1x2xf32>) -> tensor<1x7x1x2xf32>
    %11 = stablehlo.concatenate %8, %10, dim = 2 : (tensor<1x7x4x2xf32>, tensor<1x7x1x2xf32>) -> tensor<1x7x5x2xf32>
    return %11 : tensor<1x7x5x2xf32>
  }
  func.func private @_flip(%arg0: tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<1x2x3x2xf32>
    return %0 : tensor<1x2x3x2xf32>
  }
  func.func private @_flip_0(%arg0: tensor<1x1x3x2xf32>) -> tensor<1x1x3x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<1x1x3x2xf32>
    return %0 : tensor<1x1x3x2xf32>
  }
  func.func private @_flip_1(%arg0: tensor<1x7x1x2xf32>) -> tensor<1x7x1x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [2] : tensor<1x7x1x2xf32>
    return %0 : tensor<1x7x1x2xf32>
  }
  func.func private @rot90(%arg0: tensor<4x3x2xf32>) -> tensor<3x4x2xf32> {
    %0 = call @_flip_2(%arg0) : (tensor<4x3x2xf32>) -> tensor<4x3x2xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<4x3x2xf32>) -> tensor<3x4x2xf32>
    return %1 : tensor<3x4x2xf32>
  }
  func.func private @_flip_2(%arg0: tensor<4x3x2xf32>) -> tensor<4x3x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<4x3x2xf32>
    return %0 : tensor<4x3x2xf32>
  }
  func.func private @_roll_static(%arg0: tensor<1x4x3x2xf32>) -> tensor<1x4x3x2xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 1:4, 0:3, 0:2] : (tensor<1x4x3x2xf32>) -> tensor<1x3x3x2xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:1, 0:3, 0:2] : (tensor<1x4x3x2xf32>) -> tensor<1x1x3x2xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<1x3x3x2xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x3x2xf32>
    return %2 : tensor<1x4x3x2xf32>
  }
}
