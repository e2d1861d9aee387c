module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40xf32>, %arg1: tensor<40xf32>) -> (tensor<40xf32> {jax.result_info = "result[0]"}, tensor<40xf32> {jax.result_info = "result[1]"}, tensor<40xf32> {jax.result_info = "result[2]"}, tensor<40xf32> {jax.result_info = "result[3]"}, tensor<40xf32> {jax.result_info = "result[4]"}, tensor<40xf32> {jax.result_info = "result[5]"}, tensor<40xf32> {jax.result_info = "result[6]"}, tensor<40xf32> {jax.result_info = "result[7]"}, tensor<40xf32> {jax.result_info = "result[8]"}, tensor<40xf32> {jax.result_info = "result[9]"}, tensor<40xf32> {jax.result_info = "result[10]"}) {
    %0 = stablehlo.sine %arg0 : tensor<40xf32>
    %1 = stablehlo.cosine %arg0 : tensor<40xf32>
    %2 = stablehlo.tan %arg1 : tensor<40xf32>
    %3 = stablehlo.log_plus_one %arg1 : tensor<40xf32>
    %4 = stablehlo.exponential_minus_one %arg0 : tensor<40xf32>
    %5 = stablehlo.cbrt %arg0 : tensor<40xf32>
    %6 = stablehlo.exponential %arg0 : tensor<40xf32>
    %7 = stablehlo.atan2 %arg0, %arg1 : tensor<40xf32>
    %8 = stablehlo.rsqrt %arg1 : tensor<40xf32>
    %9 = chlo.erf %arg0 : tensor<40xf32> -> tensor<40xf32>
    %10 = stablehlo.negate %arg0 : tensor<40xf32>
    %11 = stablehlo.exponential %10 : tensor<40xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %13 = stablehlo.add %12, %11 : tensor<40xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %15 = stablehlo.divide %14, %13 : tensor<40xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %15 : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>
  }
}
