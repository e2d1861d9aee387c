module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20xf32>, %arg1: tensor<20xf32>) -> (tensor<20xf32> {jax.result_info = "result[0]"}, tensor<20xf32> {jax.result_info = "result[1]"}, tensor<20xf32> {jax.result_info = "result[2]"}, tensor<20xf32> {jax.result_info = "result[3]"}, tensor<20xf32> {jax.result_info = "result[4]"}, tensor<20xf32> {jax.result_info = "result[5]"}, tensor<20xf32> {jax.result_info = "result[6]"}, tensor<20xf32> {jax.result_info = "result[7]"}, tensor<20xf32> {jax.result_info = "result[8]"}, tensor<20xf32> {jax.result_info = "result[9]"}, tensor<20xf32> {jax.result_info = "result[10]"}, tensor<20xf32> {jax.result_info = "result[11]"}, tensor<20xf32> {jax.result_info = "result[12]"}, tensor<20xf32> {jax.result_info = "result[13]"}, tensor<20xf32> {jax.result_info = "result[14]"}, tensor<20xf32> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<20xcomplex<f32>>
    %1 = chlo.sinh %0 : tensor<20xcomplex<f32>> -> tensor<20xcomplex<f32>>
    %2 = stablehlo.real %1 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %3 = stablehlo.imag %1 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %4 = stablehlo.complex %arg0, %arg1 : tensor<20xcomplex<f32>>
    %5 = chlo.cosh %4 : tensor<20xcomplex<f32>> -> tensor<20xcomplex<f32>>
    %6 = stablehlo.real %5 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %7 = stablehlo.imag %5 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %8 = stablehlo.complex %arg0, %arg1 : tensor<20xcomplex<f32>>
    %9 = chlo.asin %8 : tensor<20xcomplex<f32>> -> tensor<20xcomplex<f32>>
    %10 = stablehlo.real %9 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %11 = stablehlo.imag %9 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %12 = stablehlo.complex %arg0, %arg1 : tensor<20xcomplex<f32>>
    %13 = chlo.acos %12 : tensor<20xcomplex<f32>> -> tensor<20xcomplex<f32>>
    %14 = stablehlo.real %13 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %15 = stablehlo.imag %13 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %16 = stablehlo.complex %arg0, %arg1 : tensor<20xcomplex<f32>>
    %17 = chlo.atan %16 : tensor<20xcomplex<f32>> -> tensor<20xcomplex<f32>>
    %18 = stablehlo.real %17 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %19 = stablehlo.imag %17 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %20 = stablehlo.complex %arg0, %arg1 : tensor<20xcomplex<f32>>
    %21 = chlo.asinh %20 : tensor<20xcomplex<f32>> -> tensor<20xcomplex<f32>>
    %22 = stablehlo.real %21 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %23 = stablehlo.imag %21 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %24 = stablehlo.complex %arg0, %arg1 : tensor<20xcomplex<f32>>
    %25 = call @arccosh(%24) : (tensor<20xcomplex<f32>>) -> tensor<20xcomplex<f32>>
    %26 = stablehlo.real %25 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %27 = stablehlo.imag %25 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %28 = stablehlo.complex %arg0, %arg1 : tensor<20xcomplex<f32>>
    %29 = chlo.atanh %28 : tensor<20xcomplex<f32>> -> tensor<20xcomplex<f32>>
    %30 = stablehlo.real %29 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %31 = stablehlo.imag %29 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    return %2, %3, %6, %7, %10, %11, %14, %15, %18, %19, %22, %23, %26, %27, %30, %31 : tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>
  }
  func.func private @arccosh(%arg0: tensor<20xcomplex<f32>>) -> tensor<20xcomplex<f32>> {
    %0 = chlo.acosh %arg0 : tensor<20xcomplex<f32>> -> tensor<20xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<20xcomplex<f32>>) -> tensor<20xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %3 = stablehlo.compare LT, %1, %2, FLOAT : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xi1>
    %4 = stablehlo.negate %0 : tensor<20xcomplex<f32>>
    %5 = call @_where(%3, %4, %0) : (tensor<20xi1>, tensor<20xcomplex<f32>>, tensor<20xcomplex<f32>>) -> tensor<20xcomplex<f32>>
    return %5 : tensor<20xcomplex<f32>>
  }
  func.func private @_where(%arg0: tensor<20xi1>, %arg1: tensor<20xcomplex<f32>>, %arg2: tensor<20xcomplex<f32>>) -> tensor<20xcomplex<f32>> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<20xi1>, tensor<20xcomplex<f32>>
    return %0 : tensor<20xcomplex<f32>>
  }
}
