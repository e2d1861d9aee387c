// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// error: fails.mlir:20: check.expect_eq: [1, 2] is -6, expected 6
// error: fails.mlir:31: check.expect_almost_eq: [0] is 0.100000001, expected 0.200000003
// error: fails.mlir:32: check.expect_close: [1] is 2, expected 2.00000095; 4 ulp apart, not 0 to 3
// error: fails.mlir:33: check.expect_close: [0] is 0.100000001, expected 0.100000001; 0 ulp apart, not 1 to 3
// error: fails.mlir:40:8: operation 'stablehlo.no_such_thing' is not supported
// error: fails.mlir:49:1: the text ends inside brackets
// error: fails.mlir:57: check.expect_eq: [] is (1.5,-2), expected (1.5,2)
// error: fails.mlir:65:3: check.expect_eq: only the function that is run may check
// error: fails.mlir:80:3: check.expect_eq: compares f32[2] with f32[3]
// error: fails.mlir:88:46: tolerance: expected a number, 0 or more

func.func @wrong() {
  %0 = stablehlo.constant dense<[[1, 2, 3], [4, -5, 6]]> : tensor<2x3xi8>
  %1 = stablehlo.negate %0 : tensor<2x3xi8>
  %2 = stablehlo.constant dense<[[-1, -2, -3], [-4, 5, 6]]> : tensor<2x3xi8>

  // got, expected
  check.expect_eq %1, %2 : tensor<2x3xi8>
  func.return
}

// -----

func.func @far() {
  %0 = stablehlo.constant dense<[0.1, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[0.1, 2.00000095]> : tensor<2xf32>
  %2 = stablehlo.constant dense<[0.2, 2.0]> : tensor<2xf32>

  check.expect_almost_eq %0, %2 : tensor<2xf32>
  check.expect_close %0, %1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %0, %0, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  func.return
}

// -----

func.func @unknown() {
  %0 = stablehlo.no_such_thing : () -> tensor<f32>
  func.return
}

// -----

func.func @cut_off() {
  %0 = stablehlo.constant dense<1

// -----

func.func @complex() {
  %0 = stablehlo.constant dense<(1.5, 2.0)> : tensor<complex<f32>>
  %1 = stablehlo.imag %0 : (tensor<complex<f32>>) -> tensor<f32>
  %2 = stablehlo.negate %1 : tensor<f32>
  %3 = stablehlo.real %0 : (tensor<complex<f32>>) -> tensor<f32>
  %4 = stablehlo.complex %3, %2 : tensor<complex<f32>>
  check.expect_eq %4, %0 : tensor<complex<f32>>
  func.return
}

// -----

func.func private @inner() {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  check.expect_eq_const %0, dense<1.0> : tensor<f32>
  func.return
}
func.func @outer() {
  call @inner() : () -> ()
  func.return
}

// -----


func.func @types() {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<3xf32>

  check.expect_eq %0, %1 : tensor<2xf32>
  func.return
}

// -----

func.func @attributes() {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  check.expect_almost_eq %0, %0, tolerance = -0.1 : tensor<2xf32>
  func.return
}
