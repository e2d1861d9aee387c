module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<5xf32>) -> (tensor<5xf32> {jax.result_info = "result[0]"}, tensor<5xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<i1>) -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %5 = stablehlo.negate %arg1 : tensor<5xf32>
      stablehlo.return %5 : tensor<5xf32>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %6 = stablehlo.multiply %arg1, %5 : tensor<5xf32>
      stablehlo.return %6 : tensor<5xf32>
    }) : (tensor<i32>) -> tensor<5xf32>
    %2 = stablehlo.not %arg0 : tensor<i1>
    %3 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
    %4 = "stablehlo.case"(%3) ({
      %5 = stablehlo.cosine %arg1 : tensor<5xf32>
      stablehlo.return %5 : tensor<5xf32>
    }, {
      %5 = stablehlo.sine %arg1 : tensor<5xf32>
      stablehlo.return %5 : tensor<5xf32>
    }) : (tensor<i32>) -> tensor<5xf32>
    return %1, %4 : tensor<5xf32>, tensor<5xf32>
  }
}
