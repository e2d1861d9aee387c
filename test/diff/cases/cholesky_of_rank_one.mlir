// Whether a matrix of rank one has a factor is a matter of rounding.
module {
  func.func public @main(%x: tensor<3000xf64>) -> (tensor<3000x2x2xf32>, tensor<3000x3x3xf32>) {
    %0 = stablehlo.convert %x : (tensor<3000xf64>) -> tensor<3000xf32>
    %1 = stablehlo.abs %0 : tensor<3000xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<3000xf32>) -> tensor<3000x2x2xf32>
    %3 = stablehlo.cholesky %2, lower = false : tensor<3000x2x2xf32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<3000xf32>) -> tensor<3000x3x3xf32>
    %5 = stablehlo.cholesky %4, lower = true : tensor<3000x3x3xf32>
    return %3, %5 : tensor<3000x2x2xf32>, tensor<3000x3x3xf32>
  }
}
