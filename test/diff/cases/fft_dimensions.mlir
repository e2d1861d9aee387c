// Two and three dimensions at once, real and complex, and a transform of what was computed.
module {
  func.func public @main(%a: tensor<2x6x35xcomplex<f32>>, %b: tensor<2x3x4x5xf64>, %c: tensor<3x4x4xcomplex<f64>>, %d: tensor<8x4xf32>) -> (tensor<2x6x35xcomplex<f32>>, tensor<2x3x4x3xcomplex<f64>>, tensor<3x4x7xf64>, tensor<8x4xcomplex<f32>>) {
    %0 = stablehlo.fft %a, type = IFFT, length = [6, 35] : (tensor<2x6x35xcomplex<f32>>) -> tensor<2x6x35xcomplex<f32>>
    %1 = stablehlo.fft %b, type = RFFT, length = [3, 4, 5] : (tensor<2x3x4x5xf64>) -> tensor<2x3x4x3xcomplex<f64>>
    %2 = stablehlo.fft %c, type = IRFFT, length = [3, 4, 7] : (tensor<3x4x4xcomplex<f64>>) -> tensor<3x4x7xf64>
    %3 = stablehlo.convert %d : (tensor<8x4xf32>) -> tensor<8x4xcomplex<f32>>
    %4 = stablehlo.fft %3, type = FFT, length = [4] : (tensor<8x4xcomplex<f32>>) -> tensor<8x4xcomplex<f32>>
    %5 = stablehlo.multiply %4, %4 : tensor<8x4xcomplex<f32>>
    return %0, %1, %2, %5 : tensor<2x6x35xcomplex<f32>>, tensor<2x3x4x3xcomplex<f64>>, tensor<3x4x7xf64>, tensor<8x4xcomplex<f32>>
  }
}
