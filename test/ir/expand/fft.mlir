// A line of few elements is one product of both parts with the matrix of the transform; 128 = 16 x 8 are two.
// run: lazuli opt --passes=expand %s
// check: stablehlo.dot_general %{{[0-9]+}}, %{{.*}}, contracting_dims = [1, 2] x [0, 1]
// check-same: (tensor<3x2x4xf32>, tensor<2x4x2x4xf32>) -> tensor<3x2x4xf32>
// check: stablehlo.dot_general
// check-same: (tensor<1x1x16x8xf64>, tensor<1x16x2x16xf64>) -> tensor<1x8x2x16xf64>
// check: stablehlo.reverse
// check: stablehlo.dot_general
// check-same: (tensor<16x2x8xf64>, tensor<2x8x2x8xf64>) -> tensor<16x2x8xf64>
// check-not: stablehlo.fft
module {
  func.func public @main(%a: tensor<3x4xcomplex<f32>>, %b: tensor<128xf64>) -> (tensor<3x4xcomplex<f32>>, tensor<65xcomplex<f64>>) {
    %0 = stablehlo.fft %a, type = FFT, length = [4] : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
    %1 = stablehlo.fft %b, type = RFFT, length = [128] : (tensor<128xf64>) -> tensor<65xcomplex<f64>>
    return %0, %1 : tensor<3x4xcomplex<f32>>, tensor<65xcomplex<f64>>
  }
}
