// run: lazuli opt --passes=dce %s
// check: func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<f32>, %arg2: tensor<3xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<3xi32>)
// check: stablehlo.add %arg0, %arg0
// check: return %arg1, %0, %arg2
func.func @main(%t: tuple<tensor<2xf32>, tuple<tensor<f32>>>, %i: tensor<3xi32>) -> tuple<tuple<tensor<f32>>, tensor<2xf32>, tensor<3xi32>> {
  %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tuple<tensor<f32>>>) -> tensor<2xf32>
  %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tuple<tensor<f32>>>) -> tuple<tensor<f32>>
  %s = stablehlo.add %a, %a : tensor<2xf32>
  %r = stablehlo.tuple %b, %s, %i : tuple<tuple<tensor<f32>>, tensor<2xf32>, tensor<3xi32>>
  return %r : tuple<tuple<tensor<f32>>, tensor<2xf32>, tensor<3xi32>>
}
