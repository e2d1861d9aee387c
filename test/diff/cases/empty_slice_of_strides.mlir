module @empty_slice_of_strides {
  func.func public @main(%arg0: tensor<7x2xi32>) -> tensor<1x0xi32> {
    %0 = stablehlo.slice %arg0 [0:1, 1:2:2] : (tensor<7x2xi32>) -> tensor<1x1xi32>
    %1 = stablehlo.slice %0 [0:1, 1:1] : (tensor<1x1xi32>) -> tensor<1x0xi32>
    return %1 : tensor<1x0xi32>
  }
}
