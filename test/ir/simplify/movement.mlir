// Movement composed, and movement that moves nothing.
// run: lazuli opt --passes=simplify %s
// check-not: transpose
// check: stablehlo.reshape %arg0 : (tensor<2x1x6xf32>) -> tensor<1x2x6xf32>
// check-next: stablehlo.slice %arg1 [2:5:2] : (tensor<8xf32>) -> tensor<2xf32>
// check-next: stablehlo.slice %arg2 [1:3] : (tensor<4xf32>) -> tensor<2xf32>
// check-next: return %{{.*}}, %arg0, %{{.*}}, %{{.*}}, %arg1
module {
  func.func public @main(%x: tensor<2x1x6xf32>, %y: tensor<8xf32>, %z: tensor<4xf32>) -> (tensor<1x2x6xf32>, tensor<2x1x6xf32>, tensor<2xf32>, tensor<2xf32>, tensor<8xf32>) {
    %0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<2x1x6xf32>) -> tensor<1x2x6xf32>
    %1 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<2x1x6xf32>) -> tensor<6x1x2xf32>
    %2 = stablehlo.transpose %1, dims = [2, 1, 0] : (tensor<6x1x2xf32>) -> tensor<2x1x6xf32>
    %3 = stablehlo.slice %y [0:8:2] : (tensor<8xf32>) -> tensor<4xf32>
    %4 = stablehlo.slice %3 [1:3] : (tensor<4xf32>) -> tensor<2xf32>
    %5 = stablehlo.concatenate %y, %z, dim = 0 : (tensor<8xf32>, tensor<4xf32>) -> tensor<12xf32>
    %6 = stablehlo.slice %5 [9:11] : (tensor<12xf32>) -> tensor<2xf32>
    %7 = stablehlo.reverse %y, dims = [0] : tensor<8xf32>
    %8 = stablehlo.reverse %7, dims = [0] : tensor<8xf32>
    return %0, %2, %4, %6, %8 : tensor<1x2x6xf32>, tensor<2x1x6xf32>, tensor<2xf32>, tensor<2xf32>, tensor<8xf32>
  }
}
