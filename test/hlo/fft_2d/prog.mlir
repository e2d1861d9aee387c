module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6x5xf32>) -> (tensor<4x6x5xf32> {jax.result_info = "result[0]"}, tensor<4x6x5xf32> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<4x6x5xf32>) -> tensor<4x6x5xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<4x6x5xcomplex<f32>>) -> tensor<4x6x5xf32>
    %2 = call @fft_0(%arg0) : (tensor<4x6x5xf32>) -> tensor<4x6x5xcomplex<f32>>
    %3 = stablehlo.imag %2 : (tensor<4x6x5xcomplex<f32>>) -> tensor<4x6x5xf32>
    return %1, %3 : tensor<4x6x5xf32>, tensor<4x6x5xf32>
  }
  func.func private @fft(%arg0: tensor<4x6x5xf32>) -> tensor<4x6x5xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<4x6x5xf32>) -> tensor<4x6x5xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [6, 5] : (tensor<4x6x5xcomplex<f32>>) -> tensor<4x6x5xcomplex<f32>>
    return %1 : tensor<4x6x5xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<4x6x5xf32>) -> tensor<4x6x5xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<4x6x5xf32>) -> tensor<4x6x5xcomplex<f32>>
    %1 = stablehlo.fft %0, type = IFFT, length = [4, 6, 5] : (tensor<4x6x5xcomplex<f32>>) -> tensor<4x6x5xcomplex<f32>>
    return %1 : tensor<4x6x5xcomplex<f32>>
  }
}
