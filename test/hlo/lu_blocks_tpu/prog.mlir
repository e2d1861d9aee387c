module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<70x70xf32>) -> (tensor<70xi32> {jax.result_info = "result[0]"}, tensor<70xi32> {jax.result_info = "result[1]"}) {
    %0:3 = stablehlo.custom_call @LuDecomposition(%arg0) {api_version = 2 : i32, backend_config = ""} : (tensor<70x70xf32>) -> (tensor<70x70xf32>, tensor<70xi32>, tensor<70xi32>)
    return %0#1, %0#2 : tensor<70xi32>, tensor<70xi32>
  }
}
