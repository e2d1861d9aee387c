// versions: 0.19.0 1.13.0 1.17.0
module @composite {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.composite "chlo.erf" %arg0 {decomposition = @erf, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.composite "my.op" %arg0 {composite_attributes = {a = 1 : i64, b = dense<[1, 2]> : tensor<2xi64>, c = "s", d = [true, 1.5 : f32], e = f32}, decomposition = @erf} : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @erf(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
