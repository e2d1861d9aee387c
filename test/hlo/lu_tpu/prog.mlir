module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x3xf32>, %arg1: tensor<3x4x4xf32>, %arg2: tensor<4x4xf32>) -> (tensor<2x5x3xf32> {jax.result_info = "result[0]"}, tensor<2x3xi32> {jax.result_info = "result[1]"}, tensor<2x5xi32> {jax.result_info = "result[2]"}, tensor<3x4x4xf32> {jax.result_info = "result[3]"}, tensor<3x4xi32> {jax.result_info = "result[4]"}, tensor<3x4xi32> {jax.result_info = "result[5]"}, tensor<4x4xf32> {jax.result_info = "result[6]"}, tensor<4x4xf32> {jax.result_info = "result[7]"}, tensor<4xi32> {jax.result_info = "result[8]"}, tensor<4xi32> {jax.result_info = "result[9]"}) {
    %0:3 = stablehlo.custom_call @LuDecomposition(%arg0) {api_version = 2 : i32, backend_config = ""} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xi32>, tensor<2x5xi32>)
    %1:3 = stablehlo.custom_call @LuDecomposition(%arg1) {api_version = 2 : i32, backend_config = ""} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3x4xi32>)
    %2 = stablehlo.slice %arg1 [0:1, 0:4, 0:4] : (tensor<3x4x4xf32>) -> tensor<1x4x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %4 = stablehlo.complex %3, %arg2 : tensor<4x4xcomplex<f32>>
    %5:3 = stablehlo.custom_call @LuDecomposition(%4) {api_version = 2 : i32, backend_config = ""} : (tensor<4x4xcomplex<f32>>) -> (tensor<4x4xcomplex<f32>>, tensor<4xi32>, tensor<4xi32>)
    %6 = stablehlo.real %5#0 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %7 = stablehlo.imag %5#0 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2, %6, %7, %5#1, %5#2 : tensor<2x5x3xf32>, tensor<2x3xi32>, tensor<2x5xi32>, tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xi32>, tensor<4xi32>
  }
}
