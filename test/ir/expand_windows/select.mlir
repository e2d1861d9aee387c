// What windows scatter is looked up by the elements they may have chosen: nothing collides.
// run: lazuli opt --passes=expand_windows %s
// check: stablehlo.reduce(
// check: stablehlo.compare EQ
// check: applies stablehlo.add across dimensions = [1]
// check-not: "stablehlo.scatter"
module {
  func.func public @main(%x: tensor<9xf32>, %s: tensor<4xf32>) -> tensor<9xf32> {
    %i = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%x, %s, %i) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.compare GE, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<9xf32>, tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
    return %0 : tensor<9xf32>
  }
}
