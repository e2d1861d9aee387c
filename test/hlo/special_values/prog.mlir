module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20xf32>) -> (tensor<20xf32> {jax.result_info = "result[0]"}, tensor<20xf32> {jax.result_info = "result[1]"}, tensor<20xf32> {jax.result_info = "result[2]"}, tensor<20xf32> {jax.result_info = "result[3]"}, tensor<20xf32> {jax.result_info = "result[4]"}, tensor<20xf32> {jax.result_info = "result[5]"}, tensor<20xf32> {jax.result_info = "result[6]"}, tensor<20xf32> {jax.result_info = "result[7]"}, tensor<20xf32> {jax.result_info = "result[8]"}) {
    %0 = chlo.lgamma %arg0 : tensor<20xf32> -> tensor<20xf32>
    %1 = chlo.digamma %arg0 : tensor<20xf32> -> tensor<20xf32>
    %cst = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %3 = stablehlo.divide %arg0, %2 : tensor<20xf32>
    %4 = chlo.erf_inv %3 : tensor<20xf32> -> tensor<20xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %6 = stablehlo.divide %arg0, %5 : tensor<20xf32>
    %7 = chlo.asin %6 : tensor<20xf32> -> tensor<20xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %9 = stablehlo.divide %arg0, %8 : tensor<20xf32>
    %10 = chlo.atanh %9 : tensor<20xf32> -> tensor<20xf32>
    %11 = chlo.sinh %arg0 : tensor<20xf32> -> tensor<20xf32>
    %12 = chlo.asinh %arg0 : tensor<20xf32> -> tensor<20xf32>
    %13 = chlo.lgamma %arg0 : tensor<20xf32> -> tensor<20xf32>
    %14 = chlo.bessel_i1e %arg0 : tensor<20xf32> -> tensor<20xf32>
    return %0, %1, %4, %7, %10, %11, %12, %13, %14 : tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>
  }
}
