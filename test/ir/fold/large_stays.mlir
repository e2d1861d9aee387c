// What would be a large constant stays an operation.
// run: lazuli opt --passes=fold %s
// check: stablehlo.iota dim = 0 : tensor<1000xi32>
// check: stablehlo.add
module {
  func.func public @main() -> tensor<1000xi32> {
    %i = stablehlo.iota dim = 0 : tensor<1000xi32>
    %c = stablehlo.constant dense<3> : tensor<1000xi32>
    %r = stablehlo.add %i, %c : tensor<1000xi32>
    return %r : tensor<1000xi32>
  }
}
