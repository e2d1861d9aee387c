module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<30xf32>) -> (tensor<30xi32> {jax.result_info = "result[0]"}, tensor<30xui8> {jax.result_info = "result[1]"}, tensor<30xi8> {jax.result_info = "result[2]"}, tensor<30xi1> {jax.result_info = "result[3]"}, tensor<30xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<30xf32>) -> tensor<30xi32>
    %1 = stablehlo.convert %arg0 : (tensor<30xf32>) -> tensor<30xui8>
    %cst = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<30xf32>
    %4 = stablehlo.convert %3 : (tensor<30xf32>) -> tensor<30xi8>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %6 = stablehlo.compare GT, %arg0, %5, FLOAT : (tensor<30xf32>, tensor<30xf32>) -> tensor<30xi1>
    %7 = stablehlo.convert %arg0 : (tensor<30xf32>) -> tensor<30xi16>
    %8 = stablehlo.convert %7 : (tensor<30xi16>) -> tensor<30xf32>
    return %0, %1, %4, %6, %8 : tensor<30xi32>, tensor<30xui8>, tensor<30xi8>, tensor<30xi1>, tensor<30xf32>
  }
}
