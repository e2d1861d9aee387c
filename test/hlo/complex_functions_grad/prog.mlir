module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xf32>, %arg1: tensor<9xf32>) -> (tensor<9xf32> {jax.result_info = "result[0]"}, tensor<9xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<9xcomplex<f32>>
    %1 = chlo.sinh %0 : tensor<9xcomplex<f32>> -> tensor<9xcomplex<f32>>
    %2 = chlo.cosh %0 : tensor<9xcomplex<f32>> -> tensor<9xcomplex<f32>>
    %3 = chlo.atan %0 : tensor<9xcomplex<f32>> -> tensor<9xcomplex<f32>>
    %4 = chlo.square %0 : tensor<9xcomplex<f32>> -> tensor<9xcomplex<f32>>
    %cst = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %6 = stablehlo.add %5, %4 : tensor<9xcomplex<f32>>
    %7 = stablehlo.multiply %1, %3 : tensor<9xcomplex<f32>>
    %8 = stablehlo.abs %7 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %9 = stablehlo.real %7 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %10 = stablehlo.imag %7 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %11 = stablehlo.negate %10 : tensor<9xf32>
    %12 = stablehlo.complex %9, %11 : tensor<9xcomplex<f32>>
    %13 = stablehlo.convert %8 : (tensor<9xf32>) -> tensor<9xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %15 = stablehlo.compare EQ, %13, %14, FLOAT : (tensor<9xcomplex<f32>>, tensor<9xcomplex<f32>>) -> tensor<9xi1>
    %cst_1 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %17 = stablehlo.select %15, %16, %13 : tensor<9xi1>, tensor<9xcomplex<f32>>
    %18 = stablehlo.divide %12, %17 : tensor<9xcomplex<f32>>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %21 = stablehlo.complex %19, %20 : tensor<9xcomplex<f32>>
    %22 = stablehlo.multiply %21, %18 : tensor<9xcomplex<f32>>
    %23 = stablehlo.multiply %1, %22 : tensor<9xcomplex<f32>>
    %24 = stablehlo.multiply %22, %3 : tensor<9xcomplex<f32>>
    %25 = stablehlo.divide %23, %6 : tensor<9xcomplex<f32>>
    %26 = stablehlo.multiply %24, %2 : tensor<9xcomplex<f32>>
    %27 = stablehlo.add %25, %26 : tensor<9xcomplex<f32>>
    %28 = stablehlo.real %27 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %29 = stablehlo.imag %27 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    return %28, %29 : tensor<9xf32>, tensor<9xf32>
  }
}
