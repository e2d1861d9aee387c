// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: main: 3 checks

// Zeros are one number; between an infinity and a number lies more than any count.
module @ulps {
  func.func public @main() {
    %a = stablehlo.constant dense<[-1.40129846e-45, 0.0, 1.0, -3.0]> : tensor<4xf32>
    %b = stablehlo.constant dense<[1.40129846e-45, 2.80259693e-45, 1.00000024, -3.00000048]> : tensor<4xf32>
    check.expect_close %a, %b, max_ulp_difference = 2, min_ulp_difference = 2 : tensor<4xf32>, tensor<4xf32>
    %i = stablehlo.constant dense<0x7F800000> : tensor<3xf32>
    %n = stablehlo.constant dense<[0xFF800000, 0x7FC00000, 3.40282347E+38]> : tensor<3xf32>
    check.expect_close %i, %n, max_ulp_difference = 18446744073709551615, min_ulp_difference = 18446744073709551615 : tensor<3xf32>, tensor<3xf32>
    stablehlo.custom_call @check.expect_close(%i, %n) {max_ulp_difference = 9223372036854775808 : ui64} : (tensor<3xf32>, tensor<3xf32>) -> ()
    func.return
  }
}
