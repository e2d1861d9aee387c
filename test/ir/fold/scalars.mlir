// Arithmetic on constants; a constant of one repeated element is a spread scalar.
// run: lazuli opt --passes=simplify,fold %s
// check-not: divide
// check: stablehlo.constant dense<2.500000e-01> : tensor<f32>
// check: stablehlo.broadcast_in_dim
// check: stablehlo.multiply
module {
  func.func public @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %one = stablehlo.constant dense<1.0> : tensor<64xf32>
    %four = stablehlo.constant dense<4.0> : tensor<f32>
    %fours = stablehlo.broadcast_in_dim %four, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %q = stablehlo.divide %one, %fours : tensor<64xf32>
    %r = stablehlo.multiply %x, %q : tensor<64xf32>
    return %r : tensor<64xf32>
  }
}
