// Sums of 4096 and of 6272 in parts, with and without an update behind them; factors that lie either way.
module {
  func.func public @main(%a: tensor<4096x17xf32>, %b: tensor<4096x19xf32>, %c: tensor<16x6272xf64>, %d: tensor<6272x16xf64>, %w: tensor<17x19xf32>) -> (tensor<17x19xf32>, tensor<16x16xf64>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4096x17xf32>, tensor<4096x19xf32>) -> tensor<17x19xf32>
    %1 = stablehlo.subtract %w, %0 : tensor<17x19xf32>
    %2 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<16x6272xf64>, tensor<6272x16xf64>) -> tensor<16x16xf64>
    return %1, %2 : tensor<17x19xf32>, tensor<16x16xf64>
  }
}
