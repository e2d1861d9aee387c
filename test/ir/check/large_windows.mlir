// run: lazuli run --device ref %s
// check: chosen: 1 check
// Windows that reach far beyond what there is: padding that changes nothing isn't counted out.
func.func @max() {
  %a = stablehlo.constant dense<[[3.0], [-1.0]]> : tensor<2x1xf32>
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %i) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1, 9223372036854775807>, padding = dense<[[0, 0], [4611686018427387903, 4611686018427387903]]> : tensor<2x2xi64>} : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  check.expect_eq %0, %a : tensor<2x1xf32>
  return
}
func.func @sums() {
  %a = stablehlo.constant dense<[1.5, 2.0, 4.0]> : tensor<3xf32>
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %i) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1000000000000>, padding = dense<[[999999999998, 1]]> : tensor<1x2xi64>} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %0, dense<[3.5, 7.5, 7.5]> : tensor<3xf32>
  %b = stablehlo.constant dense<[1.5, 2.0, 4.0]> : tensor<3xf64>
  %j = stablehlo.constant dense<0.0> : tensor<f64>
  %1 = "stablehlo.reduce_window"(%b, %j) ({
    ^bb0(%x: tensor<f64>, %y: tensor<f64>):
      %m = stablehlo.add %x, %y : tensor<f64>
      stablehlo.return %m : tensor<f64>
  }) {window_dimensions = array<i64: 1000000000000>, padding = dense<[[999999999998, 1]]> : tensor<1x2xi64>} : (tensor<3xf64>, tensor<f64>) -> tensor<3xf64>
  check.expect_eq_const %1, dense<[3.5, 7.5, 7.5]> : tensor<3xf64>
  return
}
// Gaps between two elements, between those of a window, and a start that isn't the identity, in few.
func.func @gaps() {
  %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%a, %i) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %m = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %m : tensor<i32>
  }) {window_dimensions = array<i64: 2, 1099511627777>, base_dilations = array<i64: 1, 1099511627776>, padding = dense<[[1, 1], [5, 0]]> : tensor<2x2xi64>, window_strides = array<i64: 1, 5>} : (tensor<2x2xi32>, tensor<i32>) -> tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[1, 3], [4, 10], [3, 7]]> : tensor<3x2xi32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %1 = "stablehlo.reduce_window"(%a, %one) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %m = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %m : tensor<i32>
  }) {window_dimensions = array<i64: 1, 3>, window_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [3, 2]]> : tensor<2x2xi64>} : (tensor<2x2xi32>, tensor<i32>) -> tensor<2x3xi32>
  check.expect_eq_const %1, dense<[[5, 4, 5], [7, 6, 7]]> : tensor<2x3xi32>
  return
}
func.func @chosen() {
  %a = stablehlo.constant dense<[1.0, 5.0, 2.0]> : tensor<3xf32>
  %s = stablehlo.constant dense<[2.0]> : tensor<1xf32>
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
  }, {
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 9000000000000>, padding = dense<[[4000000000000, 4999999999997]]> : tensor<1x2xi64>} : (tensor<3xf32>, tensor<1xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %0, dense<[0.0, 2.0, 0.0]> : tensor<3xf32>
  return
}
