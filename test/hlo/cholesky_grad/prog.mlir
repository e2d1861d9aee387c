module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x5xf32>, %arg1: tensor<2x5x3xf32>) -> (tensor<2x5x5xf32> {jax.result_info = "result[0]"}, tensor<2x5x3xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %1 = stablehlo.dot_general %arg0, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %2 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %3 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %5 = stablehlo.add %2, %4 : tensor<5x5xi32>
    %6 = stablehlo.compare EQ, %5, %3, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %7 = stablehlo.convert %6 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<5x5xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %12 = stablehlo.add %1, %11 : tensor<2x5x5xf32>
    %13:5 = call @cholesky(%12) : (tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2x5x5xf32>, tensor<2x5x5xi1>, tensor<1x5x5xf32>, tensor<2x5x5xi1>)
    %14 = stablehlo.dot_general %13#0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %15 = stablehlo.cosine %14 : tensor<2x5x3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x3xf32>
    %17 = stablehlo.multiply %16, %15 : tensor<2x5x3xf32>
    %18 = stablehlo.dot_general %17, %13#0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf32>, tensor<2x5x5xf32>) -> tensor<2x3x5xf32>
    %19 = stablehlo.transpose %18, dims = [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
    %20 = stablehlo.dot_general %17, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x5xf32>
    %21 = call @cholesky_0(%13#1, %13#2, %13#3, %13#4, %20) : (tensor<2x5x5xf32>, tensor<2x5x5xi1>, tensor<1x5x5xf32>, tensor<2x5x5xi1>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %22 = stablehlo.dot_general %21, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %23 = stablehlo.transpose %22, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %24 = stablehlo.dot_general %21, %0, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %25 = stablehlo.transpose %23, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %26 = stablehlo.add %24, %25 : tensor<2x5x5xf32>
    return %26, %19 : tensor<2x5x5xf32>, tensor<2x5x3xf32>
  }
  func.func private @cholesky(%arg0: tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2x5x5xf32>, tensor<2x5x5xi1>, tensor<1x5x5xf32>, tensor<2x5x5xi1>) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x5x5xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x5x5xf32>
    %4 = stablehlo.cholesky %3, lower = true : tensor<2x5x5xf32>
    %5 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %7 = stablehlo.add %5, %6 : tensor<5x5xi32>
    %8 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %9 = stablehlo.compare GE, %7, %8, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2] : (tensor<5x5xi1>) -> tensor<2x5x5xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %12 = stablehlo.select %10, %4, %11 : tensor<2x5x5xi1>, tensor<2x5x5xf32>
    %13 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %15 = stablehlo.add %13, %14 : tensor<5x5xi32>
    %16 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %17 = stablehlo.compare GE, %15, %16, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1, 2] : (tensor<5x5xi1>) -> tensor<2x5x5xi1>
    %19 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %21 = stablehlo.add %19, %20 : tensor<5x5xi32>
    %22 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %23 = stablehlo.compare EQ, %21, %22, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %24 = stablehlo.convert %23 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %26 = stablehlo.add %25, %24 : tensor<5x5xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %28 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %30 = stablehlo.add %28, %29 : tensor<5x5xi32>
    %31 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %32 = stablehlo.compare GE, %30, %31, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %33 = stablehlo.broadcast_in_dim %32, dims = [1, 2] : (tensor<5x5xi1>) -> tensor<2x5x5xi1>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %35 = stablehlo.select %33, %12, %34 : tensor<2x5x5xi1>, tensor<2x5x5xf32>
    return %35, %12, %18, %27, %33 : tensor<2x5x5xf32>, tensor<2x5x5xf32>, tensor<2x5x5xi1>, tensor<1x5x5xf32>, tensor<2x5x5xi1>
  }
  func.func private @cholesky_0(%arg0: tensor<2x5x5xf32>, %arg1: tensor<2x5x5xi1>, %arg2: tensor<1x5x5xf32>, %arg3: tensor<2x5x5xi1>, %arg4: tensor<2x5x5xf32>) -> tensor<2x5x5xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %1 = stablehlo.select %arg3, %arg4, %0 : tensor<2x5x5xi1>, tensor<2x5x5xf32>
    %2 = stablehlo.dot_general %1, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %3 = stablehlo.transpose %2, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %4 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %5 = stablehlo.divide %3, %4 : tensor<2x5x5xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %7 = stablehlo.select %arg1, %5, %6 : tensor<2x5x5xi1>, tensor<2x5x5xf32>
    %8 = "stablehlo.triangular_solve"(%arg0, %7) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %9 = "stablehlo.triangular_solve"(%arg0, %8) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %11 = stablehlo.divide %9, %10 : tensor<2x5x5xf32>
    %12 = stablehlo.transpose %11, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %13 = stablehlo.add %11, %12 : tensor<2x5x5xf32>
    return %13 : tensor<2x5x5xf32>
  }
}
