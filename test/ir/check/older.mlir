// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: lists: 2 checks
// check: spelling: 3 checks
// check: squares: 2 checks
// check: angles: 1 check
// check: given_on: 2 checks

// Lists as tensors, also as one without dimensions.
func.func @lists() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %a = "stablehlo.reverse"(%x) {dimensions = dense<1> : tensor<i64>} : (tensor<3x2xi64>) -> tensor<3x2xi64>
  check.expect_eq_const %a, dense<[[2, 1], [4, 3], [6, 5]]> : tensor<3x2xi64>
  %b = "stablehlo.reverse"(%x) {dimensions = dense<[1, 0]> : tensor<2xi64>} : (tensor<3x2xi64>) -> tensor<3x2xi64>
  check.expect_eq_const %b, dense<[[6, 5], [4, 3], [2, 1]]> : tensor<3x2xi64>
  func.return
}

// -----

// What is expected written out, under the name for two values.
func.func @spelling() {
  %x = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %y = stablehlo.negate %x : tensor<2xf32>
  check.eq %y, dense<[-1.5, 2.0]> : tensor<2xf32>
  check.almost_eq %y, dense<[-1.50001, 2.0]> : tensor<2xf32>
  check.expect_almost_eq %y, dense<[-1.51, 2.0]> : tensor<2xf32>, tolerance = 0.1
  func.return
}

// -----

func.func @squares() {
  %z = stablehlo.constant dense<[(3.0, -2.0), (1.0e+25, 2.0e+25), (1.0e+30, -1.0e+30), (0.0, -1.5)]> : tensor<4xcomplex<f32>>
  %a = chlo.square %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  check.expect_eq_const %a, dense<[(5.0, -12.0), (0xFF800000, 0x7F800000), (0.0, 0xFF800000), (-2.25, 0.0)]> : tensor<4xcomplex<f32>>
  %x = stablehlo.constant dense<[3.0, -0.5]> : tensor<2xf32>
  %b = stablehlo.square %x : tensor<2xf32>
  check.expect_eq_const %b, dense<[9.0, 0.25]> : tensor<2xf32>
  func.return
}

// -----

func.func @angles() {
  %y = stablehlo.constant dense<[(0.0, 0.0), (-0.0, 0.0), (2.0, 0.0)]> : tensor<3xcomplex<f64>>
  %x = stablehlo.constant dense<[(0.0, 0.0), (0.0, -0.0), (0.0, 0.0)]> : tensor<3xcomplex<f64>>
  %a = stablehlo.atan2 %y, %x : tensor<3xcomplex<f64>>
  check.expect_almost_eq_const %a, dense<[(0x7FF8000000000000, 0x7FF8000000000000), (0x7FF8000000000000, 0x7FF8000000000000), (1.5707963267948966, 0.0)]> : tensor<3xcomplex<f64>>
  func.return
}

// -----

// A check that gives on whether it holds.
func.func @given_on() -> tensor<i1> {
  %x = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %y = stablehlo.add %x, %x : tensor<2xf32>
  %z = stablehlo.constant dense<[3.0, -4.0]> : tensor<2xf32>
  %0 = stablehlo.custom_call @check.eq(%y, %z) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  %1 = stablehlo.custom_call @check.almost_eq(%y, %z) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  %2 = stablehlo.and %0, %1 : tensor<i1>
  return %2 : tensor<i1>
}
