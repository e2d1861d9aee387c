// Fourier transforms of lengths that are made of small factors, of large ones, of one, of none.
module {
  func.func public @main(%a: tensor<2x67xcomplex<f32>>, %b: tensor<134xcomplex<f64>>, %c: tensor<3x1xcomplex<f64>>, %d: tensor<2x1000xcomplex<f32>>, %e: tensor<0x8xcomplex<f32>>, %f: tensor<3x127xf32>, %g: tensor<65xcomplex<f64>>, %h: tensor<2x101xcomplex<f32>>) -> (tensor<2x67xcomplex<f32>>, tensor<134xcomplex<f64>>, tensor<3x1xcomplex<f64>>, tensor<2x1000xcomplex<f32>>, tensor<0x8xcomplex<f32>>, tensor<3x64xcomplex<f32>>, tensor<129xf64>, tensor<2x200xf32>) {
    %0 = stablehlo.fft %a, type = FFT, length = [67] : (tensor<2x67xcomplex<f32>>) -> tensor<2x67xcomplex<f32>>
    %1 = stablehlo.fft %b, type = IFFT, length = [134] : (tensor<134xcomplex<f64>>) -> tensor<134xcomplex<f64>>
    %2 = stablehlo.fft %c, type = IFFT, length = [1] : (tensor<3x1xcomplex<f64>>) -> tensor<3x1xcomplex<f64>>
    %3 = stablehlo.fft %d, type = FFT, length = [1000] : (tensor<2x1000xcomplex<f32>>) -> tensor<2x1000xcomplex<f32>>
    %4 = stablehlo.fft %e, type = FFT, length = [8] : (tensor<0x8xcomplex<f32>>) -> tensor<0x8xcomplex<f32>>
    %5 = stablehlo.fft %f, type = RFFT, length = [127] : (tensor<3x127xf32>) -> tensor<3x64xcomplex<f32>>
    %6 = stablehlo.fft %g, type = IRFFT, length = [129] : (tensor<65xcomplex<f64>>) -> tensor<129xf64>
    %7 = stablehlo.fft %h, type = IRFFT, length = [200] : (tensor<2x101xcomplex<f32>>) -> tensor<2x200xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x67xcomplex<f32>>, tensor<134xcomplex<f64>>, tensor<3x1xcomplex<f64>>, tensor<2x1000xcomplex<f32>>, tensor<0x8xcomplex<f32>>, tensor<3x64xcomplex<f32>>, tensor<129xf64>, tensor<2x200xf32>
  }
}
