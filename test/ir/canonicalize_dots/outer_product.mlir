// A product over one element is a multiplication; a sum of one product starts from +0.
// run: lazuli opt --passes=canonicalize_dots %s
// check-not: dot_general
// check: stablehlo.multiply
// check: stablehlo.add
module {
  func.func public @main(%a: tensor<4x1xf32>, %b: tensor<1x7xf32>) -> tensor<4x7xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x1xf32>, tensor<1x7xf32>) -> tensor<4x7xf32>
    return %0 : tensor<4x7xf32>
  }
}
