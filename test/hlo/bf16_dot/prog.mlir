module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x9xbf16>, %arg1: tensor<9x4xbf16>) -> (tensor<8x4xf32> {jax.result_info = "result[0]"}, tensor<8x4xbf16> {jax.result_info = "result[1]"}, tensor<8x9xbf16> {jax.result_info = "result[2]"}, tensor<9xbf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x9xbf16>, tensor<9x4xbf16>) -> tensor<8x4xf32>
    %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x9xbf16>, tensor<9x4xbf16>) -> tensor<8x4xbf16>
    %2 = stablehlo.add %arg0, %arg0 : tensor<8x9xbf16>
    %3 = stablehlo.convert %arg0 : (tensor<8x9xbf16>) -> tensor<8x9xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x9xf32>, tensor<f32>) -> tensor<9xf32>
    %5 = stablehlo.convert %4 : (tensor<9xf32>) -> tensor<9xbf16>
    return %0, %1, %2, %5 : tensor<8x4xf32>, tensor<8x4xbf16>, tensor<8x9xbf16>, tensor<9xbf16>
  }
}
