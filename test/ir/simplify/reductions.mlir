// Reductions of single elements, of nothing, and independent ones written as one.
// run: lazuli opt --passes=simplify %s
// check: stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3xf32>
// check: stablehlo.add %{{.*}} : tensor<3xf32>
// check: applies stablehlo.add across dimensions = [1]
// check: applies stablehlo.maximum across dimensions = [1]
// check-not: reducer
module {
  func.func public @main(%x: tensor<3x1xf32>, %e: tensor<3x0xf32>, %i: tensor<f32>, %y: tensor<3x9xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.reduce(%e init: %i) applies stablehlo.add across dimensions = [1] : (tensor<3x0xf32>, tensor<f32>) -> tensor<3xf32>
    %2:2 = stablehlo.reduce(%y init: %i), (%y init: %i) across dimensions = [1] : (tensor<3x9xf32>, tensor<3x9xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
     reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<f32>, %d: tensor<f32>) {
      %s = stablehlo.add %a, %c : tensor<f32>
      %m = stablehlo.maximum %b, %d : tensor<f32>
      stablehlo.return %s, %m : tensor<f32>, tensor<f32>
    }
    return %0, %1, %2#0, %2#1 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
}
