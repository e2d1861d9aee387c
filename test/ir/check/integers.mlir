// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// run: lazuli run --device loop %s
// check: not_i1:
// elementwise operations on integers and booleans; numbers by unbounded integers

func.func @add_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.add %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[-125, -127, 12, 46]> : tensor<4xi8>
  func.return
}

// -----

func.func @subtract_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.subtract %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[125, 125, 2, 38]> : tensor<4xi8>
  func.return
}

// -----

func.func @multiply_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.multiply %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[-128, -2, 35, -88]> : tensor<4xi8>
  func.return
}

// -----

func.func @divide_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.divide %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[-42, 63, 1, 10]> : tensor<4xi8>
  func.return
}

// -----

func.func @remainder_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.remainder %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[-2, 1, 2, 2]> : tensor<4xi8>
  func.return
}

// -----

func.func @maximum_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.maximum %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[3, 127, 7, 42]> : tensor<4xi8>
  func.return
}

// -----

func.func @and_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.and %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[0, 2, 5, 0]> : tensor<4xi8>
  func.return
}

// -----

func.func @or_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.or %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[-125, 127, 7, 46]> : tensor<4xi8>
  func.return
}

// -----

func.func @xor_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.xor %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[-125, 125, 2, 46]> : tensor<4xi8>
  func.return
}

// -----

func.func @shift_left_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.shift_left %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[0, -4, -32, -96]> : tensor<4xi8>
  func.return
}

// -----

func.func @shift_right_logical_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.shift_right_logical %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[16, 31, 0, 2]> : tensor<4xi8>
  func.return
}

// -----

func.func @shift_right_arithmetic_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.shift_right_arithmetic %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[-16, 31, 0, 2]> : tensor<4xi8>
  func.return
}

// -----

func.func @popcnt_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %r = stablehlo.popcnt %a : tensor<4xi8>
  check.expect_eq_const %r, dense<[1, 7, 3, 3]> : tensor<4xi8>
  func.return
}

// -----

func.func @count_leading_zeros_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %r = stablehlo.count_leading_zeros %a : tensor<4xi8>
  check.expect_eq_const %r, dense<[0, 1, 5, 2]> : tensor<4xi8>
  func.return
}

// -----

func.func @not_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %r = stablehlo.not %a : tensor<4xi8>
  check.expect_eq_const %r, dense<[127, -128, -8, -43]> : tensor<4xi8>
  func.return
}

// -----

func.func @LT_compare_SIGNED_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = stablehlo.compare LT, %a, %b, SIGNED : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @power_i8() {
  %a = stablehlo.constant dense<[2, 3, 0, 1]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 4, 0, 9]> : tensor<4xi8>
  %r = stablehlo.power %a, %b : tensor<4xi8>
  check.expect_eq_const %r, dense<[8, 81, 1, 1]> : tensor<4xi8>
  func.return
}

// -----

func.func @chlo_mulhi_i8() {
  %a = stablehlo.constant dense<[-128, 127, 7, 42]> : tensor<4xi8>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi8>
  %r = chlo.mulhi %a, %b : tensor<4xi8>, tensor<4xi8> -> tensor<4xi8>
  check.expect_eq_const %r, dense<[-2, 0, 0, 0]> : tensor<4xi8>
  func.return
}

// -----

func.func @add_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.add %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[-2147483645, -2147483647, 12, 715827886]> : tensor<4xi32>
  func.return
}

// -----

func.func @subtract_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.subtract %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[2147483645, 2147483645, 2, 715827878]> : tensor<4xi32>
  func.return
}

// -----

func.func @multiply_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.multiply %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[-2147483648, -2, 35, -1431655768]> : tensor<4xi32>
  func.return
}

// -----

func.func @divide_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.divide %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[-715827882, 1073741823, 1, 178956970]> : tensor<4xi32>
  func.return
}

// -----

func.func @remainder_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.remainder %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[-2, 1, 2, 2]> : tensor<4xi32>
  func.return
}

// -----

func.func @maximum_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.maximum %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[3, 2147483647, 7, 715827882]> : tensor<4xi32>
  func.return
}

// -----

func.func @and_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.and %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[0, 2, 5, 0]> : tensor<4xi32>
  func.return
}

// -----

func.func @or_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.or %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[-2147483645, 2147483647, 7, 715827886]> : tensor<4xi32>
  func.return
}

// -----

func.func @xor_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.xor %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[-2147483645, 2147483645, 2, 715827886]> : tensor<4xi32>
  func.return
}

// -----

func.func @shift_left_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.shift_left %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[0, -4, 224, -1431655776]> : tensor<4xi32>
  func.return
}

// -----

func.func @shift_right_logical_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.shift_right_logical %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[268435456, 536870911, 0, 44739242]> : tensor<4xi32>
  func.return
}

// -----

func.func @shift_right_arithmetic_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.shift_right_arithmetic %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[-268435456, 536870911, 0, 44739242]> : tensor<4xi32>
  func.return
}

// -----

func.func @popcnt_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %r = stablehlo.popcnt %a : tensor<4xi32>
  check.expect_eq_const %r, dense<[1, 31, 3, 15]> : tensor<4xi32>
  func.return
}

// -----

func.func @count_leading_zeros_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %r = stablehlo.count_leading_zeros %a : tensor<4xi32>
  check.expect_eq_const %r, dense<[0, 1, 29, 2]> : tensor<4xi32>
  func.return
}

// -----

func.func @not_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %r = stablehlo.not %a : tensor<4xi32>
  check.expect_eq_const %r, dense<[2147483647, -2147483648, -8, -715827883]> : tensor<4xi32>
  func.return
}

// -----

func.func @LT_compare_SIGNED_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = stablehlo.compare LT, %a, %b, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @power_i32() {
  %a = stablehlo.constant dense<[2, 3, 0, 1]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 4, 0, 9]> : tensor<4xi32>
  %r = stablehlo.power %a, %b : tensor<4xi32>
  check.expect_eq_const %r, dense<[8, 81, 1, 1]> : tensor<4xi32>
  func.return
}

// -----

func.func @chlo_mulhi_i32() {
  %a = stablehlo.constant dense<[-2147483648, 2147483647, 7, 715827882]> : tensor<4xi32>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi32>
  %r = chlo.mulhi %a, %b : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  check.expect_eq_const %r, dense<[-2, 0, 0, 0]> : tensor<4xi32>
  func.return
}

// -----

func.func @add_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.add %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[-9223372036854775805, -9223372036854775807, 12, 3074457345618258606]> : tensor<4xi64>
  func.return
}

// -----

func.func @subtract_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.subtract %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[9223372036854775805, 9223372036854775805, 2, 3074457345618258598]> : tensor<4xi64>
  func.return
}

// -----

func.func @multiply_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.multiply %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[-9223372036854775808, -2, 35, -6148914691236517208]> : tensor<4xi64>
  func.return
}

// -----

func.func @divide_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.divide %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[-3074457345618258602, 4611686018427387903, 1, 768614336404564650]> : tensor<4xi64>
  func.return
}

// -----

func.func @remainder_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.remainder %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[-2, 1, 2, 2]> : tensor<4xi64>
  func.return
}

// -----

func.func @maximum_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.maximum %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[3, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  func.return
}

// -----

func.func @and_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.and %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[0, 2, 5, 0]> : tensor<4xi64>
  func.return
}

// -----

func.func @or_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.or %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[-9223372036854775805, 9223372036854775807, 7, 3074457345618258606]> : tensor<4xi64>
  func.return
}

// -----

func.func @xor_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.xor %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[-9223372036854775805, 9223372036854775805, 2, 3074457345618258606]> : tensor<4xi64>
  func.return
}

// -----

func.func @shift_left_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.shift_left %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[0, -4, 224, -6148914691236517216]> : tensor<4xi64>
  func.return
}

// -----

func.func @shift_right_logical_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.shift_right_logical %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[1152921504606846976, 2305843009213693951, 0, 192153584101141162]> : tensor<4xi64>
  func.return
}

// -----

func.func @shift_right_arithmetic_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.shift_right_arithmetic %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[-1152921504606846976, 2305843009213693951, 0, 192153584101141162]> : tensor<4xi64>
  func.return
}

// -----

func.func @popcnt_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %r = stablehlo.popcnt %a : tensor<4xi64>
  check.expect_eq_const %r, dense<[1, 63, 3, 31]> : tensor<4xi64>
  func.return
}

// -----

func.func @count_leading_zeros_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %r = stablehlo.count_leading_zeros %a : tensor<4xi64>
  check.expect_eq_const %r, dense<[0, 1, 61, 2]> : tensor<4xi64>
  func.return
}

// -----

func.func @not_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %r = stablehlo.not %a : tensor<4xi64>
  check.expect_eq_const %r, dense<[9223372036854775807, -9223372036854775808, -8, -3074457345618258603]> : tensor<4xi64>
  func.return
}

// -----

func.func @LT_compare_SIGNED_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = stablehlo.compare LT, %a, %b, SIGNED : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @power_i64() {
  %a = stablehlo.constant dense<[2, 3, 0, 1]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 4, 0, 9]> : tensor<4xi64>
  %r = stablehlo.power %a, %b : tensor<4xi64>
  check.expect_eq_const %r, dense<[8, 81, 1, 1]> : tensor<4xi64>
  func.return
}

// -----

func.func @chlo_mulhi_i64() {
  %a = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, 7, 3074457345618258602]> : tensor<4xi64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xi64>
  %r = chlo.mulhi %a, %b : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  check.expect_eq_const %r, dense<[-2, 0, 0, 0]> : tensor<4xi64>
  func.return
}

// -----

func.func @mulhi_large_i64() {
  %a = stablehlo.constant dense<[5626310876064179623, 5680504938125105652, 282706702330408383, -3951267122455837579, -8228526172304961300, -2151464407179853170]> : tensor<6xi64>
  %b = stablehlo.constant dense<[-1688371355504270397, -8388192122048793139, -8323951025450743117, 9208174042313963663, 2810714006202103380, -4897422363977517204]> : tensor<6xi64>
  %r = chlo.mulhi %a, %b : tensor<6xi64>, tensor<6xi64> -> tensor<6xi64>
  check.expect_eq_const %r, dense<[-514958199796753294, -2583066506525140934, -127569219552346522, -1972378171771848871, -1253773222552612804, 571191851576730770]> : tensor<6xi64>
  func.return
}

// -----

func.func @add_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.add %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[3, 1, 12, 21849]> : tensor<4xui16>
  func.return
}

// -----

func.func @subtract_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.subtract %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[65533, 65533, 2, 21841]> : tensor<4xui16>
  func.return
}

// -----

func.func @multiply_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.multiply %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[0, 65534, 35, 21844]> : tensor<4xui16>
  func.return
}

// -----

func.func @divide_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.divide %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[0, 32767, 1, 5461]> : tensor<4xui16>
  func.return
}

// -----

func.func @remainder_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.remainder %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[0, 1, 2, 1]> : tensor<4xui16>
  func.return
}

// -----

func.func @maximum_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.maximum %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[3, 65535, 7, 21845]> : tensor<4xui16>
  func.return
}

// -----

func.func @and_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.and %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[0, 2, 5, 4]> : tensor<4xui16>
  func.return
}

// -----

func.func @or_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.or %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[3, 65535, 7, 21845]> : tensor<4xui16>
  func.return
}

// -----

func.func @xor_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.xor %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[3, 65533, 2, 21841]> : tensor<4xui16>
  func.return
}

// -----

func.func @shift_left_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.shift_left %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[0, 65532, 224, 21840]> : tensor<4xui16>
  func.return
}

// -----

func.func @shift_right_logical_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.shift_right_logical %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[0, 16383, 0, 1365]> : tensor<4xui16>
  func.return
}

// -----

func.func @shift_right_arithmetic_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.shift_right_arithmetic %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[0, 65535, 0, 1365]> : tensor<4xui16>
  func.return
}

// -----

func.func @popcnt_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %r = stablehlo.popcnt %a : tensor<4xui16>
  check.expect_eq_const %r, dense<[0, 16, 3, 8]> : tensor<4xui16>
  func.return
}

// -----

func.func @count_leading_zeros_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %r = stablehlo.count_leading_zeros %a : tensor<4xui16>
  check.expect_eq_const %r, dense<[16, 0, 13, 1]> : tensor<4xui16>
  func.return
}

// -----

func.func @not_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %r = stablehlo.not %a : tensor<4xui16>
  check.expect_eq_const %r, dense<[65535, 0, 65528, 43690]> : tensor<4xui16>
  func.return
}

// -----

func.func @LT_compare_UNSIGNED_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @power_ui16() {
  %a = stablehlo.constant dense<[2, 3, 0, 1]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 4, 0, 9]> : tensor<4xui16>
  %r = stablehlo.power %a, %b : tensor<4xui16>
  check.expect_eq_const %r, dense<[8, 81, 1, 1]> : tensor<4xui16>
  func.return
}

// -----

func.func @chlo_mulhi_ui16() {
  %a = stablehlo.constant dense<[0, 65535, 7, 21845]> : tensor<4xui16>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui16>
  %r = chlo.mulhi %a, %b : tensor<4xui16>, tensor<4xui16> -> tensor<4xui16>
  check.expect_eq_const %r, dense<[0, 1, 0, 1]> : tensor<4xui16>
  func.return
}

// -----

func.func @add_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.add %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[3, 1, 12, 6148914691236517209]> : tensor<4xui64>
  func.return
}

// -----

func.func @subtract_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.subtract %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[18446744073709551613, 18446744073709551613, 2, 6148914691236517201]> : tensor<4xui64>
  func.return
}

// -----

func.func @multiply_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.multiply %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[0, 18446744073709551614, 35, 6148914691236517204]> : tensor<4xui64>
  func.return
}

// -----

func.func @divide_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.divide %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[0, 9223372036854775807, 1, 1537228672809129301]> : tensor<4xui64>
  func.return
}

// -----

func.func @remainder_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.remainder %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[0, 1, 2, 1]> : tensor<4xui64>
  func.return
}

// -----

func.func @maximum_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.maximum %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[3, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  func.return
}

// -----

func.func @and_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.and %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[0, 2, 5, 4]> : tensor<4xui64>
  func.return
}

// -----

func.func @or_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.or %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[3, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  func.return
}

// -----

func.func @xor_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.xor %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[3, 18446744073709551613, 2, 6148914691236517201]> : tensor<4xui64>
  func.return
}

// -----

func.func @shift_left_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.shift_left %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[0, 18446744073709551612, 224, 6148914691236517200]> : tensor<4xui64>
  func.return
}

// -----

func.func @shift_right_logical_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.shift_right_logical %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[0, 4611686018427387903, 0, 384307168202282325]> : tensor<4xui64>
  func.return
}

// -----

func.func @shift_right_arithmetic_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.shift_right_arithmetic %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[0, 18446744073709551615, 0, 384307168202282325]> : tensor<4xui64>
  func.return
}

// -----

func.func @popcnt_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %r = stablehlo.popcnt %a : tensor<4xui64>
  check.expect_eq_const %r, dense<[0, 64, 3, 32]> : tensor<4xui64>
  func.return
}

// -----

func.func @count_leading_zeros_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %r = stablehlo.count_leading_zeros %a : tensor<4xui64>
  check.expect_eq_const %r, dense<[64, 0, 61, 1]> : tensor<4xui64>
  func.return
}

// -----

func.func @not_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %r = stablehlo.not %a : tensor<4xui64>
  check.expect_eq_const %r, dense<[18446744073709551615, 0, 18446744073709551608, 12297829382473034410]> : tensor<4xui64>
  func.return
}

// -----

func.func @LT_compare_UNSIGNED_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @power_ui64() {
  %a = stablehlo.constant dense<[2, 3, 0, 1]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 4, 0, 9]> : tensor<4xui64>
  %r = stablehlo.power %a, %b : tensor<4xui64>
  check.expect_eq_const %r, dense<[8, 81, 1, 1]> : tensor<4xui64>
  func.return
}

// -----

func.func @chlo_mulhi_ui64() {
  %a = stablehlo.constant dense<[0, 18446744073709551615, 7, 6148914691236517205]> : tensor<4xui64>
  %b = stablehlo.constant dense<[3, 2, 5, 4]> : tensor<4xui64>
  %r = chlo.mulhi %a, %b : tensor<4xui64>, tensor<4xui64> -> tensor<4xui64>
  check.expect_eq_const %r, dense<[0, 1, 0, 1]> : tensor<4xui64>
  func.return
}

// -----

func.func @mulhi_large_ui64() {
  %a = stablehlo.constant dense<[8023366181383615932, 17970563387194837694, 16559229097478137922, 15573313889850709464, 7238588416313556749, 9094669448992167762]> : tensor<6xui64>
  %b = stablehlo.constant dense<[12482715290632075645, 1121612084924484403, 10248939377183394185, 5007398277164600571, 16226700068647630230, 1184547290935253318]> : tensor<6xui64>
  %r = chlo.mulhi %a, %b : tensor<6xui64>, tensor<6xui64> -> tensor<6xui64>
  check.expect_eq_const %r, dense<[5429326460783774703, 1092659007326160155, 9200243385759509144, 4227401043250893020, 6367432793698796715, 584009081207406457]> : tensor<6xui64>
  func.return
}

// -----

func.func @divide_by_zero_i32() {
  %a = stablehlo.constant dense<[7, -2147483648, 0]> : tensor<3xi32>
  %b = stablehlo.constant dense<[0, -1, 0]> : tensor<3xi32>
  %r = stablehlo.divide %a, %b : tensor<3xi32>
  check.expect_eq_const %r, dense<[-1, -2147483648, -1]> : tensor<3xi32>
  func.return
}

// -----

func.func @add_i1() {
  %a = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
  %r = stablehlo.add %a, %b : tensor<4xi1>
  check.expect_eq_const %r, dense<[true, true, true, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @multiply_i1() {
  %a = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
  %r = stablehlo.multiply %a, %b : tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @xor_i1() {
  %a = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
  %r = stablehlo.xor %a, %b : tensor<4xi1>
  check.expect_eq_const %r, dense<[false, true, true, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @maximum_i1() {
  %a = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
  %r = stablehlo.maximum %a, %b : tensor<4xi1>
  check.expect_eq_const %r, dense<[true, true, true, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @minimum_i1() {
  %a = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
  %r = stablehlo.minimum %a, %b : tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @not_i1() {
  %a = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
  %r = stablehlo.not %a : tensor<4xi1>
  check.expect_eq_const %r, dense<[false, false, true, true]> : tensor<4xi1>
  func.return
}
