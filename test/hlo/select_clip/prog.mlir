module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<30xf32>) -> (tensor<30xf32> {jax.result_info = "result[0]"}, tensor<30xf32> {jax.result_info = "result[1]"}, tensor<30xf32> {jax.result_info = "result[2]"}, tensor<30xf32> {jax.result_info = "result[3]"}, tensor<30xf32> {jax.result_info = "result[4]"}, tensor<30xf32> {jax.result_info = "result[5]"}) {
    %cst = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = call @clip(%arg0, %cst, %cst_0) : (tensor<30xf32>, tensor<f32>, tensor<f32>) -> tensor<30xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %2 = stablehlo.compare GT, %arg0, %1, FLOAT : (tensor<30xf32>, tensor<30xf32>) -> tensor<30xi1>
    %cst_2 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %4 = stablehlo.multiply %3, %arg0 : tensor<30xf32>
    %5 = call @_where(%2, %arg0, %4) : (tensor<30xi1>, tensor<30xf32>, tensor<30xf32>) -> tensor<30xf32>
    %6 = stablehlo.sign %arg0 : tensor<30xf32>
    %cst_3 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %8 = stablehlo.multiply %arg0, %7 : tensor<30xf32>
    %9 = call @round(%8) : (tensor<30xf32>) -> tensor<30xf32>
    %10 = stablehlo.floor %arg0 : tensor<30xf32>
    %11 = stablehlo.ceil %arg0 : tensor<30xf32>
    return %0, %5, %6, %9, %10, %11 : tensor<30xf32>, tensor<30xf32>, tensor<30xf32>, tensor<30xf32>, tensor<30xf32>, tensor<30xf32>
  }
  func.func private @clip(%arg0: tensor<30xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<30xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<30xf32>
    %3 = stablehlo.convert %arg2 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<30xf32>
    return %5 : tensor<30xf32>
  }
  func.func private @_where(%arg0: tensor<30xi1>, %arg1: tensor<30xf32>, %arg2: tensor<30xf32>) -> tensor<30xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<30xi1>, tensor<30xf32>
    return %0 : tensor<30xf32>
  }
  func.func private @round(%arg0: tensor<30xf32>) -> tensor<30xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<30xf32>
    return %0 : tensor<30xf32>
  }
}
