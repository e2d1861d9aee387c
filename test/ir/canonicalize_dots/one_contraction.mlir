// Two contracting dimensions become one: a reshape where they lie together, movement where they do not.
// run: lazuli opt --passes=canonicalize_dots %s
// check: stablehlo.reshape %arg0 : (tensor<4x5x6xf32>) -> tensor<4x30xf32>
// check-next: stablehlo.transpose %arg1, dims = [1, 2, 0] : (tensor<6x7x5xf32>) -> tensor<7x5x6xf32>
// check-next: stablehlo.reshape %{{.*}} : (tensor<7x5x6xf32>) -> tensor<7x30xf32>
// check-next: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [1] x [1]
module {
  func.func public @main(%a: tensor<4x5x6xf32>, %b: tensor<6x7x5xf32>) -> tensor<4x7xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1, 2] x [2, 0] : (tensor<4x5x6xf32>, tensor<6x7x5xf32>) -> tensor<4x7xf32>
    return %0 : tensor<4x7xf32>
  }
}
