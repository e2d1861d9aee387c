// With NaN among them comparisons as numbers do not associate: windows are combined in order.
// run: lazuli opt --passes=expand_windows %s
// check: stablehlo.slice %arg0 [0:7:2]
// check: stablehlo.slice %arg0 [1:8:2]
// check: stablehlo.slice %arg0 [2:9:2]
// check-not: stablehlo.reduce(%arg0
// check-not: "stablehlo.scatter"
module {
  func.func public @main(%x: tensor<9xf32>, %s: tensor<4xf32>) -> tensor<9xf32> {
    %i = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%x, %s, %i) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<9xf32>, tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
    return %0 : tensor<9xf32>
  }
}
