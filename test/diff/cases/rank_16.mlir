// Sixteen dimensions, as programs of quantum circuits have them: movement that merges no two of them, sums, products, windows, indices.
module {
  func.func public @main(%a: tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>, %b: tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xf64>, %c: tensor<2x2x2x2x2x2x2x2x2x2xf32>, %i: tensor<2x3xi32>) -> (tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>, tensor<2x3x2x2x2xf64>, tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>, tensor<2x1x2x1x2x1x2x1x1x1x2x1x2x1x2x1xf64>, tensor<2x2x2x2x2x2x2x2x2x2xf32>, tensor<2x1x2x1x1x1x2x1x2x1x2x1x2x1x2x1xf64>, tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xi1>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %zd = stablehlo.constant dense<0.0> : tensor<f64>
    %low = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.transpose %a, dims = [11, 0, 9, 2, 7, 4, 5, 6, 3, 8, 1, 10] : (tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>
    %1 = stablehlo.subtract %a, %0 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>
    %2 = stablehlo.reduce(%b init: %zd) applies stablehlo.add across dimensions = [0, 1, 3, 5, 7, 9, 10, 11, 13, 14, 15] : (tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xf64>, tensor<f64>) -> tensor<2x3x2x2x2xf64>
    %3 = stablehlo.dot_general %a, %c, batching_dims = [4, 0] x [9, 2], contracting_dims = [2, 7] x [5, 1] : (tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>, tensor<2x2x2x2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>
    %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [4, 13] : (tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>, tensor<f32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>
    %5 = "stablehlo.reduce_window"(%b, %low) <{window_dimensions = array<i64: 1, 1, 2, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1>, padding = dense<[[0, 0], [0, 0], [1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1], [0, 0], [0, 0], [0, 0]]> : tensor<16x2xi64>}> ({
    ^bb0(%x: tensor<f64>, %y: tensor<f64>):
      %m = stablehlo.maximum %x, %y : tensor<f64>
      stablehlo.return %m : tensor<f64>
    }) : (tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xf64>, tensor<f64>) -> tensor<2x1x2x1x2x1x2x1x1x1x2x1x2x1x2x1xf64>
    %6 = stablehlo.reverse %c, dims = [1, 4, 8] : tensor<2x2x2x2x2x2x2x2x2x2xf32>
    %7 = stablehlo.transpose %c, dims = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : (tensor<2x2x2x2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<2x2x2x2x2x2x2x2x2x2xf32>
    %9 = stablehlo.slice %b [0:2, 0:1, 0:2, 0:1, 1:2, 0:1, 0:2, 0:1, 0:2, 0:1, 0:2, 0:1, 0:2, 0:1, 0:2, 0:1] : (tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xf64>) -> tensor<2x1x2x1x1x1x2x1x2x1x2x1x2x1x2x1xf64>
    %10 = stablehlo.sine %9 : tensor<2x1x2x1x1x1x2x1x2x1x2x1x2x1x2x1xf64>
    %11 = stablehlo.iota dim = 4 : tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xf64>
    %12 = stablehlo.compare LT, %b, %11 : (tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xf64>, tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xf64>) -> tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xi1>
    return %1, %2, %4, %5, %8, %10, %12 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>, tensor<2x3x2x2x2xf64>, tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>, tensor<2x1x2x1x2x1x2x1x1x1x2x1x2x1x2x1xf64>, tensor<2x2x2x2x2x2x2x2x2x2xf32>, tensor<2x1x2x1x1x1x2x1x2x1x2x1x2x1x2x1xf64>, tensor<2x1x2x1x3x1x2x1x2x1x2x1x2x1x2x1xi1>
  }
}
