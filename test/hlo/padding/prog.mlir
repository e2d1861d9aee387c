module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<10x15xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}, tensor<5x6xf32> {jax.result_info = "result[2]"}, tensor<6x4xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [1, -1], high = [2, 0], interior = [1, 2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<10x15xf32>
    %1 = stablehlo.slice %arg0 [0:4, 1:6:2] : (tensor<4x6xf32>) -> tensor<4x3xf32>
    %2 = stablehlo.reverse %1, dims = [0] : tensor<4x3xf32>
    %3 = stablehlo.slice %arg0 [0:1, 0:6] : (tensor<4x6xf32>) -> tensor<1x6xf32>
    %4 = stablehlo.concatenate %arg0, %3, dim = 0 : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<5x6xf32>
    %5 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    return %0, %2, %4, %5 : tensor<10x15xf32>, tensor<4x3xf32>, tensor<5x6xf32>, tensor<6x4xf32>
  }
}
