// The sum of padded parts that lie side by side (the gradient of slices) is a concatenation; -0 still becomes +0.
// run: lazuli opt --passes=simplify %s
// check: stablehlo.pad %arg2
// check-not: stablehlo.pad
// check: stablehlo.add %arg0
// check: stablehlo.add %arg1
// check: stablehlo.add %arg2
// check: stablehlo.concatenate %{{.*}}, dim = 1 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
// check-next: stablehlo.add
module {
  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.pad %a, %z, low = [0, 0], high = [0, 5], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x8xf32>
    %1 = stablehlo.pad %b, %z, low = [0, 3], high = [0, 4], interior = [0, 0] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x8xf32>
    %2 = stablehlo.pad %c, %z, low = [0, 4], high = [0, 0], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x8xf32>
    %3 = stablehlo.add %2, %0 : tensor<2x8xf32>
    %4 = stablehlo.add %3, %1 : tensor<2x8xf32>
    %5 = stablehlo.add %4, %2 : tensor<2x8xf32>
    return %4, %5 : tensor<2x8xf32>, tensor<2x8xf32>
  }
}
