// Random bits become integer operations; the four lanes of a block are interleaved.
// run: lazuli opt --passes=expand %s
// check-not: rng_bit_generator
// check: stablehlo.iota dim = 0 : tensor<3xui64>
// check: stablehlo.concatenate %{{.*}}, dim = 1 : (tensor<3x1xui32>, tensor<3x1xui32>, tensor<3x1xui32>, tensor<3x1xui32>) -> tensor<3x4xui32>
// check: stablehlo.slice %{{.*}} [0:10]
// check-not: rng_bit_generator
module {
  func.func public @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<2x5xui32>) {
    %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x5xui32>)
    return %0, %1 : tensor<2xui64>, tensor<2x5xui32>
  }
}
