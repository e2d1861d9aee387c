// The inner dimension first, then the outer: nothing has to be cut. Short reductions stay.
// run: lazuli opt --passes=split_reductions %s
// check-not: pad
// check: applies stablehlo.maximum across dimensions = [1] : (tensor<300x500xf32>, tensor<f32>) -> tensor<300xf32>
// check: applies stablehlo.maximum across dimensions = [0] : (tensor<300xf32>, tensor<f32>) -> tensor<f32>
// check: applies stablehlo.add across dimensions = [0, 1] : (tensor<30x50xf32>, tensor<f32>) -> tensor<f32>
module {
  func.func public @main(%x: tensor<300x500xf32>, %y: tensor<30x50xf32>) -> (tensor<f32>, tensor<f32>) {
    %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %n) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<300x500xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<30x50xf32>, tensor<f32>) -> tensor<f32>
    return %0, %1 : tensor<f32>, tensor<f32>
  }
}
