// Of numbers that are hardly any, every product of a transform is off by as much as the smallest number, however small the sum is.
module {
  func.func public @main(%x: tensor<3x5x8xui8>) -> tensor<3x5x5xcomplex<f64>> {
    %0 = stablehlo.convert %x : (tensor<3x5x8xui8>) -> tensor<3x5x8xi64>
    %1 = stablehlo.bitcast_convert %0 : (tensor<3x5x8xi64>) -> tensor<3x5x8xf64>
    %2 = stablehlo.fft %1, type = RFFT, length = [5, 8] : (tensor<3x5x8xf64>) -> tensor<3x5x5xcomplex<f64>>
    return %2 : tensor<3x5x5xcomplex<f64>>
  }
}
