module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40xf32>) -> (tensor<40xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<40xf32>) -> tensor<40xf16>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f16>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<40xf16>
    %2 = stablehlo.multiply %0, %1 : tensor<40xf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<40xf16>
    %4 = stablehlo.add %2, %3 : tensor<40xf16>
    %cst_1 = stablehlo.constant dense<7.000000e+00> : tensor<f16>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f16>) -> tensor<40xf16>
    %6 = stablehlo.divide %4, %5 : tensor<40xf16>
    %7 = stablehlo.convert %6 : (tensor<40xf16>) -> tensor<40xf32>
    return %7 : tensor<40xf32>
  }
}
