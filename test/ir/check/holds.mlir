// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// run: lazuli run --device loop %s
// check: sums: 3 checks
// check-next: both: 2 checks
// check-next: main: 3 checks
// check-next: edges: 4 checks
// check-not: unused
func.func @sums() {
  %0 = stablehlo.constant dense<[1, -2, 9223372036854775807]> : tensor<3xi64>
  %1 = stablehlo.constant dense<[5, 7, 1]> : tensor<3xi64>
  %2 = stablehlo.add %0, %1 : tensor<3xi64>
  check.expect_eq_const %2, dense<[6, 5, -9223372036854775808]> : tensor<3xi64>
  "check.expect_eq_const"(%1) <{value = dense<[5, 7, 1]> : tensor<3xi64>}> : (tensor<3xi64>) -> ()
  "check.expect_eq"(%2, %2) : (tensor<3xi64>, tensor<3xi64>) -> ()
  func.return
}
func.func private @unused() {
  func.return
}
func.func @needs_arguments(%arg0: tensor<f32>) {
  check.expect_eq_const %arg0, dense<0.0> : tensor<f32>
  func.return
}
func.func @both() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[0.3, -7.25]> : tensor<2xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<2xf32>
  check.expect_almost_eq_const %1, dense<[0.0900999, 52.5625]> : tensor<2xf32>
  check.expect_almost_eq_const %1, dense<[0.4, 52.3]> : tensor<2xf32> {tolerance = 3.2e-1 : f64}
  func.return %1 : tensor<2xf32>
}

  // -----
// ----- a comment that splits nothing

// -----

module @second attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = call @inputs() : () -> tensor<3xf32>
    %1 = call @expected() : () -> tensor<3xf32>
    %2 = stablehlo.exponential %0 : tensor<3xf32>
    stablehlo.custom_call @check.expect_close(%2, %1) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%2, %1) {has_side_effect = true, tolerance = 1.0e-3 : f64} : (tensor<3xf32>, tensor<3xf32>) -> ()
    check.expect_close %2, %1, min_ulp_difference = 0, max_ulp_difference = 2 : tensor<3xf32>, tensor<3xf32>
    return %2 : tensor<3xf32>
  }
  func.func private @inputs() -> (tensor<3xf32> {mhlo.layout_mode = "default"}) {
    %cst = stablehlo.constant dense<[0.5, -1.0, 3.0]> : tensor<3xf32>
    return %cst : tensor<3xf32>
  }
  func.func private @expected() -> tensor<3xf32> {
    %cst = stablehlo.constant dense<[1.64872122, 0.36787945, 20.085537]> : tensor<3xf32>
    return %cst : tensor<3xf32>
  }
  func.func @beside() {
    func.return
  }
}

// -----

func.func @edges() {
  %0 = stablehlo.constant dense<[0x7FC00000, 0x7F800000, 0x80000000, 0x00000001]> : tensor<4xf32>
  %1 = stablehlo.constant dense<(1.5, -2.0)> : tensor<2xcomplex<f64>>
  %2 = stablehlo.constant dense<> : tensor<0x3xf16>
  check.expect_eq_const %0, dense<[0xFFC00001, 0x7F800000, 0.0, 0x00000001]> : tensor<4xf32>
  check.eq_const %1, dense<(1.5, -2.0)> : tensor<2xcomplex<f64>>
  check.expect_eq %2, %2 : tensor<0x3xf16>
  check.expect_close %0, %0 : tensor<4xf32>, tensor<4xf32>
  func.return
}
