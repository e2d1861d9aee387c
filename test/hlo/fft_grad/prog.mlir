module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<17xf32>) -> (tensor<17xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<17xf32>) -> tensor<9xcomplex<f32>>
    %1 = stablehlo.abs %0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %2 = stablehlo.real %0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %3 = stablehlo.imag %0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %4 = stablehlo.negate %3 : tensor<9xf32>
    %5 = stablehlo.complex %2, %4 : tensor<9xcomplex<f32>>
    %6 = stablehlo.convert %1 : (tensor<9xf32>) -> tensor<9xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %8 = stablehlo.compare EQ, %6, %7, FLOAT : (tensor<9xcomplex<f32>>, tensor<9xcomplex<f32>>) -> tensor<9xi1>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %10 = stablehlo.select %8, %9, %6 : tensor<9xi1>, tensor<9xcomplex<f32>>
    %11 = stablehlo.divide %5, %10 : tensor<9xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %13 = stablehlo.multiply %12, %1 : tensor<9xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<9xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %17 = stablehlo.complex %15, %16 : tensor<9xcomplex<f32>>
    %18 = stablehlo.multiply %17, %11 : tensor<9xcomplex<f32>>
    %19 = call @fft_0(%18) : (tensor<9xcomplex<f32>>) -> tensor<17xf32>
    return %19 : tensor<17xf32>
  }
  func.func private @fft(%arg0: tensor<17xf32>) -> tensor<9xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [17] : (tensor<17xf32>) -> tensor<9xcomplex<f32>>
    return %0 : tensor<9xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<9xcomplex<f32>>) -> tensor<17xf32> {
    %0 = call @_rfft_transpose(%arg0) : (tensor<9xcomplex<f32>>) -> tensor<17xf32>
    return %0 : tensor<17xf32>
  }
  func.func private @_rfft_transpose(%arg0: tensor<9xcomplex<f32>>) -> tensor<17xf32> {
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<1xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %0, %1, %c : (tensor<9xcomplex<f32>>, tensor<1xcomplex<f32>>, tensor<i32>) -> tensor<9xcomplex<f32>>
    %3 = stablehlo.real %arg0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %4 = stablehlo.imag %arg0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %5 = stablehlo.negate %4 : tensor<9xf32>
    %6 = stablehlo.complex %3, %5 : tensor<9xcomplex<f32>>
    %7 = stablehlo.divide %6, %2 : tensor<9xcomplex<f32>>
    %8 = call @fft_1(%7) : (tensor<9xcomplex<f32>>) -> tensor<17xf32>
    %cst_1 = stablehlo.constant dense<1.700000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %10 = stablehlo.multiply %9, %8 : tensor<17xf32>
    return %10 : tensor<17xf32>
  }
  func.func private @fft_1(%arg0: tensor<9xcomplex<f32>>) -> tensor<17xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [17] : (tensor<9xcomplex<f32>>) -> tensor<17xf32>
    return %0 : tensor<17xf32>
  }
}
