// The gradient of a pool between convolutions of images: what its windows chose, and what comes to them, is repeated in the order of the products, and
// so is what is made of it.
// run: lazuli opt --passes=expand_windows,expand,simplify,fold,layout,simplify,dce %s
// check: broadcast_in_dim %{{.*}}, dims = [0, 1, 3, 5] : (tensor<2x6x6x16xi32>) -> tensor<2x6x2x6x2x16xi32>
// check: broadcast_in_dim %{{.*}}, dims = [0, 1, 3, 5] : (tensor<2x6x6x16xf32>) -> tensor<2x6x2x6x2x16xf32>
// check: applies stablehlo.add across dimensions = [4, 5] : (tensor<2x12x12x16x2x2xf32>, tensor<f32>) -> tensor<2x12x12x16xf32>
// check-not: stablehlo.transpose
// check: stablehlo.dot_general
// check: stablehlo.transpose %{{.*}}, dims = [0, 3, 1, 2]
module {
  func.func public @main(%x: tensor<2x16x12x12xf32>, %k: tensor<3x3x16x16xf32>) -> tensor<2x16x12x12xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x12x12xf32>, tensor<3x3x16x16xf32>) -> tensor<2x16x12x12xf32>
    %p = "stablehlo.reduce_window"(%0, %i) <{padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<2x16x12x12xf32>, tensor<f32>) -> tensor<2x16x6x6xf32>
    %q = stablehlo.multiply %p, %p : tensor<2x16x6x6xf32>
    %2 = "stablehlo.select_and_scatter"(%0, %q, %z) <{padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x16x12x12xf32>, tensor<2x16x6x6xf32>, tensor<f32>) -> tensor<2x16x12x12xf32>
    %3 = stablehlo.convolution(%2, %k) dim_numbers = [b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x12x12xf32>, tensor<3x3x16x16xf32>) -> tensor<2x16x12x12xf32>
    return %3 : tensor<2x16x12x12xf32>
  }
}
