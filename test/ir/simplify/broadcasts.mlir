// Operations on broadcasts are done before broadcasting, and broadcasts of broadcasts are one.
// run: lazuli opt --passes=simplify %s
// check: stablehlo.exponential %arg0 : tensor<5xf32>
// check-next: stablehlo.broadcast_in_dim %{{.*}}, dims = [2] : (tensor<5xf32>) -> tensor<3x4x5xf32>
// check: stablehlo.add %arg1, %arg2 : tensor<f32>
// check-next: stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<7xf32>
module {
  func.func public @main(%v: tensor<5xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<3x4x5xf32>, tensor<7xf32>) {
    %0 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.exponential %0 : tensor<4x5xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<4x5xf32>) -> tensor<3x4x5xf32>
    %3 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %4 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %5 = stablehlo.add %3, %4 : tensor<7xf32>
    return %2, %5 : tensor<3x4x5xf32>, tensor<7xf32>
  }
}
