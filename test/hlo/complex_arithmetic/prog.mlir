module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12xf32>, %arg1: tensor<12xf32>) -> (tensor<12xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<12xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<12xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<12xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<12xf32> {jax.result_info = "result[4]"}, tensor<12xcomplex<f32>> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<12xcomplex<f32>>
    %1 = stablehlo.complex %arg1, %arg0 : tensor<12xcomplex<f32>>
    %2 = stablehlo.multiply %0, %1 : tensor<12xcomplex<f32>>
    %cst = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<12xcomplex<f32>>
    %4 = stablehlo.divide %2, %3 : tensor<12xcomplex<f32>>
    %5 = stablehlo.complex %arg0, %arg1 : tensor<12xcomplex<f32>>
    %6 = stablehlo.exponential %5 : tensor<12xcomplex<f32>>
    %7 = stablehlo.complex %arg0, %arg1 : tensor<12xcomplex<f32>>
    %8 = stablehlo.sqrt %7 : tensor<12xcomplex<f32>>
    %9 = stablehlo.complex %arg0, %arg1 : tensor<12xcomplex<f32>>
    %10 = stablehlo.log %9 : tensor<12xcomplex<f32>>
    %11 = stablehlo.complex %arg0, %arg1 : tensor<12xcomplex<f32>>
    %12 = stablehlo.abs %11 : (tensor<12xcomplex<f32>>) -> tensor<12xf32>
    %13 = stablehlo.complex %arg0, %arg1 : tensor<12xcomplex<f32>>
    %14 = stablehlo.real %13 : (tensor<12xcomplex<f32>>) -> tensor<12xf32>
    %15 = stablehlo.imag %13 : (tensor<12xcomplex<f32>>) -> tensor<12xf32>
    %16 = stablehlo.negate %15 : tensor<12xf32>
    %17 = stablehlo.complex %14, %16 : tensor<12xcomplex<f32>>
    return %4, %6, %8, %10, %12, %17 : tensor<12xcomplex<f32>>, tensor<12xcomplex<f32>>, tensor<12xcomplex<f32>>, tensor<12xcomplex<f32>>, tensor<12xf32>, tensor<12xcomplex<f32>>
  }
}
