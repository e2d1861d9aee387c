module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x24xf32>, %arg1: tensor<24x6xf32>) -> (tensor<8x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<8x24xf32>) -> tensor<8x24xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<24x6xf32>) -> tensor<24x6xbf16>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x24xbf16>, tensor<24x6xbf16>) -> tensor<8x6xbf16>
    %3 = stablehlo.tanh %2 : tensor<8x6xbf16>
    %4 = stablehlo.convert %3 : (tensor<8x6xbf16>) -> tensor<8x6xf32>
    return %4 : tensor<8x6xf32>
  }
}
