// versions: 0.9.0 1.13.0
// of a number, whose text MLIR itself does not read: see the generic form
module @dynamic_slice {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %0 = "stablehlo.dynamic_slice"(%arg0) <{slice_sizes = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.dynamic_update_slice"(%arg0, %arg1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %0, %1 : tensor<f32>, tensor<f32>
  }
}
