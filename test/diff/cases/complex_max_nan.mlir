// With a NaN in any part, which of two complex numbers is larger hung on their order: a reduction gave another result than its parts.
module @random {
  func.func public @main(%arg0: tensor<17x19xcomplex<f32>>, %arg1: tensor<complex<f32>>) -> (tensor<17xcomplex<f32>>, tensor<17xcomplex<f32>>) {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [1] : (tensor<17x19xcomplex<f32>>, tensor<complex<f32>>) -> tensor<17xcomplex<f32>>
    %1 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.minimum across dimensions = [1] : (tensor<17x19xcomplex<f32>>, tensor<complex<f32>>) -> tensor<17xcomplex<f32>>
    return %0, %1 : tensor<17xcomplex<f32>>, tensor<17xcomplex<f32>>
  }
}
