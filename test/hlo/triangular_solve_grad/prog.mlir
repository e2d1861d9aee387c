module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x6xf32>, %arg1: tensor<6x2xf32>) -> (tensor<6x6xf32> {jax.result_info = "result[0]"}, tensor<6x2xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %1 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %3 = stablehlo.add %0, %2 : tensor<6x6xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %5 = stablehlo.convert %4 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<6x6xf32>
    %8 = stablehlo.add %arg0, %7 : tensor<6x6xf32>
    %9:2 = call @_solve_triangular(%8, %arg1) : (tensor<6x6xf32>, tensor<6x2xf32>) -> (tensor<6x2xf32>, tensor<6x6xi1>)
    %10 = stablehlo.sine %9#0 : tensor<6x2xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %12 = stablehlo.negate %11 : tensor<6x2xf32>
    %13 = stablehlo.multiply %12, %10 : tensor<6x2xf32>
    %14:2 = call @_solve_triangular_0(%9#1, %9#0, %8, %13) : (tensor<6x6xi1>, tensor<6x2xf32>, tensor<6x6xf32>, tensor<6x2xf32>) -> (tensor<6x6xf32>, tensor<6x2xf32>)
    return %14#0, %14#1 : tensor<6x6xf32>, tensor<6x2xf32>
  }
  func.func private @_solve_triangular(%arg0: tensor<6x6xf32>, %arg1: tensor<6x2xf32>) -> (tensor<6x2xf32>, tensor<6x6xi1>) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<6x6xf32>, tensor<6x2xf32>) -> tensor<6x2xf32>
    %1 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %3 = stablehlo.add %1, %2 : tensor<6x6xi32>
    %4 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %5 = stablehlo.compare GE, %3, %4, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    return %0, %5 : tensor<6x2xf32>, tensor<6x6xi1>
  }
  func.func private @_solve_triangular_0(%arg0: tensor<6x6xi1>, %arg1: tensor<6x2xf32>, %arg2: tensor<6x6xf32>, %arg3: tensor<6x2xf32>) -> (tensor<6x6xf32>, tensor<6x2xf32>) {
    %0 = "stablehlo.triangular_solve"(%arg2, %arg3) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<6x6xf32>, tensor<6x2xf32>) -> tensor<6x2xf32>
    %1 = "stablehlo.triangular_solve"(%arg2, %arg3) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<6x6xf32>, tensor<6x2xf32>) -> tensor<6x2xf32>
    %2 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x6xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
    %4 = stablehlo.negate %3 : tensor<6x6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %6 = stablehlo.select %arg0, %4, %5 : tensor<6x6xi1>, tensor<6x6xf32>
    return %6, %0 : tensor<6x6xf32>, tensor<6x2xf32>
  }
}
