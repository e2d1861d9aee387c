module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x9x9xf32>) -> (tensor<2x9x9xf32> {jax.result_info = "result[0]"}, tensor<2x9x9xf32> {jax.result_info = "result[1]"}, tensor<2x9x9xf32> {jax.result_info = "result[2]"}, tensor<2x9x9xf32> {jax.result_info = "result[3]"}) {
    %0 = call @cholesky(%arg0) : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
    %1 = stablehlo.cholesky %arg0, lower = true : tensor<2x9x9xf32>
    %2 = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9x9xi32>
    %4 = stablehlo.add %2, %3 : tensor<9x9xi32>
    %5 = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1, 2] : (tensor<9x9xi1>) -> tensor<2x9x9xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x9x9xf32>
    %9 = stablehlo.select %7, %1, %8 : tensor<2x9x9xi1>, tensor<2x9x9xf32>
    %10 = call @cholesky_0(%arg0) : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
    %11 = stablehlo.negate %arg0 : tensor<2x9x9xf32>
    %12 = call @cholesky(%11) : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
    return %0, %9, %10, %12 : tensor<2x9x9xf32>, tensor<2x9x9xf32>, tensor<2x9x9xf32>, tensor<2x9x9xf32>
  }
  func.func private @cholesky(%arg0: tensor<2x9x9xf32>) -> tensor<2x9x9xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x9x9xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x9x9xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x9x9xf32>
    %4 = stablehlo.cholesky %3, lower = true : tensor<2x9x9xf32>
    %5 = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9x9xi32>
    %7 = stablehlo.add %5, %6 : tensor<9x9xi32>
    %8 = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %9 = stablehlo.compare GE, %7, %8, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2] : (tensor<9x9xi1>) -> tensor<2x9x9xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x9x9xf32>
    %12 = stablehlo.select %10, %4, %11 : tensor<2x9x9xi1>, tensor<2x9x9xf32>
    return %12 : tensor<2x9x9xf32>
  }
  func.func private @cholesky_0(%arg0: tensor<2x9x9xf32>) -> tensor<2x9x9xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x9x9xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x9x9xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x9x9xf32>
    %4 = stablehlo.cholesky %3, lower = true : tensor<2x9x9xf32>
    %5 = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9x9xi32>
    %7 = stablehlo.add %5, %6 : tensor<9x9xi32>
    %8 = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %9 = stablehlo.compare GE, %7, %8, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2] : (tensor<9x9xi1>) -> tensor<2x9x9xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x9x9xf32>
    %12 = stablehlo.select %10, %4, %11 : tensor<2x9x9xi1>, tensor<2x9x9xf32>
    %13 = stablehlo.transpose %12, dims = [0, 2, 1] : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
    return %13 : tensor<2x9x9xf32>
  }
}
