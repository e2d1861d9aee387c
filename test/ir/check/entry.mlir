// The function that is asked for, or the only one that may be meant; functions without a body.
// run: lazuli run --entry second --device cpu %s
// check: second: 1 check
// check-not: first
func.func private @elsewhere(%x: tensor<2xf32>) -> tensor<2xf32>
func.func @first() {
  %a = stablehlo.constant dense<[255, 1]> : tensor<2xi8>
  check.expect_eq_const %a, dense<[-1, 1]> : tensor<2xi8>
  func.return
}
func.func private @second() {
  %b = stablehlo.constant dense<[4294967295, 1]> : tensor<2xi32>
  check.expect_eq_const %b, dense<[-1, 1]> : tensor<2xi32>
  func.return
}
