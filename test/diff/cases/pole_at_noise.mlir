// What cancels is zero or noise: the logarithm of it is anything, and that is expected.
module @random {
  func.func public @main(%arg0: tensor<f64>, %arg1: tensor<1x1xui8>) -> (tensor<7x2xcomplex<f64>>, tensor<5x3xcomplex<f64>>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f64>) -> tensor<7x3xf64>
    %1 = stablehlo.fft %0, type = RFFT, length = [3] : (tensor<7x3xf64>) -> tensor<7x2xcomplex<f64>>
    %2 = stablehlo.log %1 : tensor<7x2xcomplex<f64>>
    %3 = stablehlo.convert %arg1 : (tensor<1x1xui8>) -> tensor<1x1xf64>
    %4 = stablehlo.reshape %3 : (tensor<1x1xf64>) -> tensor<f64>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f64>) -> tensor<5x5xf64>
    %6 = stablehlo.fft %5, type = RFFT, length = [5] : (tensor<5x5xf64>) -> tensor<5x3xcomplex<f64>>
    %7 = stablehlo.rsqrt %6 : tensor<5x3xcomplex<f64>>
    return %2, %7 : tensor<7x2xcomplex<f64>>, tensor<5x3xcomplex<f64>>
  }
}
