// versions: 0.9.0 1.13.0
// names that need quotes, attributes of the module, of parameters and of results, calls, donation
module @"jit_a-b<c>" attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32, "odd.na-me" = "x\22y\\z\0A"} {
  func.func public @main(%arg0: tensor<4xf32> {jax.buffer_donor = true, mhlo.layout_mode = "default", mhlo.memory_kind = "pinned_host"}, %arg1: tensor<4xf32> {tf.aliasing_output = 1 : i32, mhlo.sharding = "{replicated}"}) -> (tensor<4xf32> {jax.result_info = "result['a']", mhlo.memory_kind = "device"}, tensor<4xf32>) {
    %0:2 = call @"f<1>"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %1 = call @g() : () -> tensor<4xf32>
    %2 = stablehlo.subtract %0#1, %0#0 {mhlo.frontend_attributes = {_xla = "{}"}} : tensor<4xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<4xf32>
    return %3, %0#0 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @"f<1>"(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    return %0, %arg1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @g() -> tensor<4xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
