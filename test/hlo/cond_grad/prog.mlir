module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>) -> (tensor<6xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.compare GT, %0, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.convert %1 : (tensor<i1>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %5 = stablehlo.exponential %arg0 : tensor<6xf32>
      stablehlo.return %5 : tensor<6xf32>
    }, {
      %5 = stablehlo.multiply %arg0, %arg0 : tensor<6xf32>
      %cst_2 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6xf32>
      %7 = stablehlo.multiply %6, %5 : tensor<6xf32>
      stablehlo.return %7 : tensor<6xf32>
    }) : (tensor<i32>) -> tensor<6xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = "stablehlo.case"(%2) ({
      %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6xf32>
      %6 = stablehlo.multiply %5, %3 : tensor<6xf32>
      stablehlo.return %6 : tensor<6xf32>
    }, {
      %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6xf32>
      %6 = stablehlo.multiply %5, %3 : tensor<6xf32>
      stablehlo.return %6 : tensor<6xf32>
    }) : (tensor<i32>) -> tensor<6xf32>
    return %4 : tensor<6xf32>
  }
}
