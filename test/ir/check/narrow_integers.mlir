// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: pairs_of_i2: 16 checks
// check: values_of_i2: 24 checks
// check: pairs_of_ui2: 16 checks
// check: values_of_ui2: 22 checks
// check: pairs_of_i4: 16 checks
// check: values_of_i4: 24 checks
// check: pairs_of_ui4: 16 checks
// check: values_of_ui4: 22 checks

// Integers of 2 and 4 bits: every pair of numbers, every conversion.
func.func @pairs_of_i2() {
  %x = stablehlo.constant dense<[-2, -2, -2, -2, -1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1]> : tensor<16xi2>
  %y = stablehlo.constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
  %add = stablehlo.add %x, %y : tensor<16xi2>
  check.expect_eq_const %add, dense<[0, 1, -2, -1, 1, -2, -1, 0, -2, -1, 0, 1, -1, 0, 1, -2]> : tensor<16xi2>
  %subtract = stablehlo.subtract %x, %y : tensor<16xi2>
  check.expect_eq_const %subtract, dense<[0, -1, -2, 1, 1, 0, -1, -2, -2, 1, 0, -1, -1, -2, 1, 0]> : tensor<16xi2>
  %multiply = stablehlo.multiply %x, %y : tensor<16xi2>
  check.expect_eq_const %multiply, dense<[0, -2, 0, -2, -2, 1, 0, -1, 0, 0, 0, 0, -2, -1, 0, 1]> : tensor<16xi2>
  %divide = stablehlo.divide %x, %y : tensor<16xi2>
  check.expect_eq_const %divide, dense<[1, -2, -1, -2, 0, 1, -1, -1, 0, 0, -1, 0, 0, -1, -1, 1]> : tensor<16xi2>
  %remainder = stablehlo.remainder %x, %y : tensor<16xi2>
  check.expect_eq_const %remainder, dense<[0, 0, -2, 0, -1, 0, -1, 0, 0, 0, 0, 0, 1, 0, 1, 0]> : tensor<16xi2>
  %maximum = stablehlo.maximum %x, %y : tensor<16xi2>
  check.expect_eq_const %maximum, dense<[-2, -1, 0, 1, -1, -1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1]> : tensor<16xi2>
  %minimum = stablehlo.minimum %x, %y : tensor<16xi2>
  check.expect_eq_const %minimum, dense<[-2, -2, -2, -2, -2, -1, -1, -1, -2, -1, 0, 0, -2, -1, 0, 1]> : tensor<16xi2>
  %and = stablehlo.and %x, %y : tensor<16xi2>
  check.expect_eq_const %and, dense<[-2, -2, 0, 0, -2, -1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1]> : tensor<16xi2>
  %or = stablehlo.or %x, %y : tensor<16xi2>
  check.expect_eq_const %or, dense<[-2, -1, -2, -1, -1, -1, -1, -1, -2, -1, 0, 1, -1, -1, 1, 1]> : tensor<16xi2>
  %xor = stablehlo.xor %x, %y : tensor<16xi2>
  check.expect_eq_const %xor, dense<[0, 1, -2, -1, 1, 0, -1, -2, -2, -1, 0, 1, -1, -2, 1, 0]> : tensor<16xi2>
  %shift_left = stablehlo.shift_left %x, %y : tensor<16xi2>
  check.expect_eq_const %shift_left, dense<[0, 0, -2, 0, 0, 0, -1, -2, 0, 0, 0, 0, 0, 0, 1, -2]> : tensor<16xi2>
  %shift_right_logical = stablehlo.shift_right_logical %x, %y : tensor<16xi2>
  check.expect_eq_const %shift_right_logical, dense<[0, 0, -2, 1, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0, 1, 0]> : tensor<16xi2>
  %shift_right_arithmetic = stablehlo.shift_right_arithmetic %x, %y : tensor<16xi2>
  check.expect_eq_const %shift_right_arithmetic, dense<[-1, -1, -2, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 1, 0]> : tensor<16xi2>
  %LT = stablehlo.compare LT, %x, %y, SIGNED : (tensor<16xi2>, tensor<16xi2>) -> tensor<16xi1>
  check.expect_eq_const %LT, dense<[false, true, true, true, false, false, true, true, false, false, false, true, false, false, false, false]> : tensor<16xi1>
  %GE = stablehlo.compare GE, %x, %y, SIGNED : (tensor<16xi2>, tensor<16xi2>) -> tensor<16xi1>
  check.expect_eq_const %GE, dense<[true, false, false, false, true, true, false, false, true, true, true, false, true, true, true, true]> : tensor<16xi1>
  %EQ = stablehlo.compare EQ, %x, %y, SIGNED : (tensor<16xi2>, tensor<16xi2>) -> tensor<16xi1>
  check.expect_eq_const %EQ, dense<[true, false, false, false, false, true, false, false, false, false, true, false, false, false, false, true]> : tensor<16xi1>
  func.return
}
func.func @values_of_i2() {
  %x = stablehlo.constant dense<[-2, -1, 0, 1]> : tensor<4xi2>
  %not = stablehlo.not %x : tensor<4xi2>
  check.expect_eq_const %not, dense<[1, 0, -1, -2]> : tensor<4xi2>
  %popcnt = stablehlo.popcnt %x : tensor<4xi2>
  check.expect_eq_const %popcnt, dense<[1, -2, 0, 1]> : tensor<4xi2>
  %count_leading_zeros = stablehlo.count_leading_zeros %x : tensor<4xi2>
  check.expect_eq_const %count_leading_zeros, dense<[0, 0, -2, 1]> : tensor<4xi2>
  %negate = stablehlo.negate %x : tensor<4xi2>
  check.expect_eq_const %negate, dense<[-2, 1, 0, -1]> : tensor<4xi2>
  %abs = stablehlo.abs %x : tensor<4xi2>
  check.expect_eq_const %abs, dense<[-2, 1, 0, 1]> : tensor<4xi2>
  %sign = stablehlo.sign %x : tensor<4xi2>
  check.expect_eq_const %sign, dense<[-1, -1, 0, 1]> : tensor<4xi2>
  %to_f32 = stablehlo.convert %x : (tensor<4xi2>) -> tensor<4xf32>
  check.expect_eq_const %to_f32, dense<[-2.0, -1.0, 0.0, 1.0]> : tensor<4xf32>
  %to_f16 = stablehlo.convert %x : (tensor<4xi2>) -> tensor<4xf16>
  check.expect_eq_const %to_f16, dense<[-2.0, -1.0, 0.0, 1.0]> : tensor<4xf16>
  %to_i8 = stablehlo.convert %x : (tensor<4xi2>) -> tensor<4xi8>
  check.expect_eq_const %to_i8, dense<[-2, -1, 0, 1]> : tensor<4xi8>
  %to_i64 = stablehlo.convert %x : (tensor<4xi2>) -> tensor<4xi64>
  check.expect_eq_const %to_i64, dense<[-2, -1, 0, 1]> : tensor<4xi64>
  %to_ui8 = stablehlo.convert %x : (tensor<4xi2>) -> tensor<4xui8>
  check.expect_eq_const %to_ui8, dense<[254, 255, 0, 1]> : tensor<4xui8>
  %to_i1 = stablehlo.convert %x : (tensor<4xi2>) -> tensor<4xi1>
  check.expect_eq_const %to_i1, dense<[true, true, false, true]> : tensor<4xi1>
  %bits = stablehlo.bitcast_convert %x : (tensor<4xi2>) -> tensor<4xui2>
  check.expect_eq_const %bits, dense<[2, 3, 0, 1]> : tensor<4xui2>
  %f = stablehlo.constant dense<[-1000000000.0, -9.5, -8.5, -1.5, -0.5, 0.0, 0.5, 1.9, 2.5, 3.7, 7.9, 8.0, 15.9, 16.0, 1e+30]> : tensor<15xf32>
  %from_f = stablehlo.convert %f : (tensor<15xf32>) -> tensor<15xi2>
  check.expect_eq_const %from_f, dense<[-2, -2, -2, -1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]> : tensor<15xi2>
  %i = stablehlo.constant dense<[-300, -17, -9, -8, -1, 0, 3, 7, 8, 15, 16, 1000]> : tensor<12xi32>
  %from_i = stablehlo.convert %i : (tensor<12xi32>) -> tensor<12xi2>
  check.expect_eq_const %from_i, dense<[0, -1, -1, 0, -1, 0, -1, -1, 0, -1, 0, 0]> : tensor<12xi2>
  %zadd = stablehlo.constant dense<0> : tensor<i2>
  %radd = stablehlo.reduce(%x init: %zadd) applies stablehlo.add across dimensions = [0] : (tensor<4xi2>, tensor<i2>) -> tensor<i2>
  check.expect_eq_const %radd, dense<-2> : tensor<i2>
  %zmaximum = stablehlo.constant dense<-2> : tensor<i2>
  %rmaximum = stablehlo.reduce(%x init: %zmaximum) applies stablehlo.maximum across dimensions = [0] : (tensor<4xi2>, tensor<i2>) -> tensor<i2>
  check.expect_eq_const %rmaximum, dense<1> : tensor<i2>
  %zminimum = stablehlo.constant dense<1> : tensor<i2>
  %rminimum = stablehlo.reduce(%x init: %zminimum) applies stablehlo.minimum across dimensions = [0] : (tensor<4xi2>, tensor<i2>) -> tensor<i2>
  check.expect_eq_const %rminimum, dense<-2> : tensor<i2>
  %dot = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<4xi2>, tensor<4xi2>) -> tensor<i32>
  check.expect_eq_const %dot, dense<6> : tensor<i32>
  %same = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<4xi2>, tensor<4xi2>) -> tensor<i2>
  check.expect_eq_const %same, dense<-2> : tensor<i2>
  %back = stablehlo.reverse %x, dims = [0] : tensor<4xi2>
  %sorted = "stablehlo.sort"(%back) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i2>, %b: tensor<i2>):
    %less = stablehlo.compare LT, %a, %b : (tensor<i2>, tensor<i2>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<4xi2>) -> tensor<4xi2>
  check.expect_eq_const %sorted, dense<[-2, -1, 0, 1]> : tensor<4xi2>
  %count = stablehlo.iota dim = 0 : tensor<4xi2>
  check.expect_eq_const %count, dense<[0, 1, -2, -1]> : tensor<4xi2>
  %hex = stablehlo.constant dense<"0x02030001"> : tensor<4xi2>
  check.expect_eq_const %hex, dense<[-2, -1, 0, 1]> : tensor<4xi2>
  %last = stablehlo.constant dense<1> : tensor<i2>
  %from = stablehlo.dynamic_slice %x, %last, sizes = [1] : (tensor<4xi2>, tensor<i2>) -> tensor<1xi2>
  check.expect_eq_const %from, dense<-1> : tensor<1xi2>
  func.return
}
func.func @pairs_of_ui2() {
  %x = stablehlo.constant dense<[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]> : tensor<16xui2>
  %y = stablehlo.constant dense<[0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]> : tensor<16xui2>
  %add = stablehlo.add %x, %y : tensor<16xui2>
  check.expect_eq_const %add, dense<[0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2]> : tensor<16xui2>
  %subtract = stablehlo.subtract %x, %y : tensor<16xui2>
  check.expect_eq_const %subtract, dense<[0, 3, 2, 1, 1, 0, 3, 2, 2, 1, 0, 3, 3, 2, 1, 0]> : tensor<16xui2>
  %multiply = stablehlo.multiply %x, %y : tensor<16xui2>
  check.expect_eq_const %multiply, dense<[0, 0, 0, 0, 0, 1, 2, 3, 0, 2, 0, 2, 0, 3, 2, 1]> : tensor<16xui2>
  %divide = stablehlo.divide %x, %y : tensor<16xui2>
  check.expect_eq_const %divide, dense<[3, 0, 0, 0, 3, 1, 0, 0, 3, 2, 1, 0, 3, 3, 1, 1]> : tensor<16xui2>
  %remainder = stablehlo.remainder %x, %y : tensor<16xui2>
  check.expect_eq_const %remainder, dense<[0, 0, 0, 0, 1, 0, 1, 1, 2, 0, 0, 2, 3, 0, 1, 0]> : tensor<16xui2>
  %maximum = stablehlo.maximum %x, %y : tensor<16xui2>
  check.expect_eq_const %maximum, dense<[0, 1, 2, 3, 1, 1, 2, 3, 2, 2, 2, 3, 3, 3, 3, 3]> : tensor<16xui2>
  %minimum = stablehlo.minimum %x, %y : tensor<16xui2>
  check.expect_eq_const %minimum, dense<[0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 2, 2, 0, 1, 2, 3]> : tensor<16xui2>
  %and = stablehlo.and %x, %y : tensor<16xui2>
  check.expect_eq_const %and, dense<[0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0, 1, 2, 3]> : tensor<16xui2>
  %or = stablehlo.or %x, %y : tensor<16xui2>
  check.expect_eq_const %or, dense<[0, 1, 2, 3, 1, 1, 3, 3, 2, 3, 2, 3, 3, 3, 3, 3]> : tensor<16xui2>
  %xor = stablehlo.xor %x, %y : tensor<16xui2>
  check.expect_eq_const %xor, dense<[0, 1, 2, 3, 1, 0, 3, 2, 2, 3, 0, 1, 3, 2, 1, 0]> : tensor<16xui2>
  %shift_left = stablehlo.shift_left %x, %y : tensor<16xui2>
  check.expect_eq_const %shift_left, dense<[0, 0, 0, 0, 1, 2, 0, 0, 2, 0, 0, 0, 3, 2, 0, 0]> : tensor<16xui2>
  %shift_right_logical = stablehlo.shift_right_logical %x, %y : tensor<16xui2>
  check.expect_eq_const %shift_right_logical, dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0, 3, 1, 0, 0]> : tensor<16xui2>
  %shift_right_arithmetic = stablehlo.shift_right_arithmetic %x, %y : tensor<16xui2>
  check.expect_eq_const %shift_right_arithmetic, dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 3, 3, 3, 3, 3, 3, 3]> : tensor<16xui2>
  %LT = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<16xui2>, tensor<16xui2>) -> tensor<16xi1>
  check.expect_eq_const %LT, dense<[false, true, true, true, false, false, true, true, false, false, false, true, false, false, false, false]> : tensor<16xi1>
  %GE = stablehlo.compare GE, %x, %y, UNSIGNED : (tensor<16xui2>, tensor<16xui2>) -> tensor<16xi1>
  check.expect_eq_const %GE, dense<[true, false, false, false, true, true, false, false, true, true, true, false, true, true, true, true]> : tensor<16xi1>
  %EQ = stablehlo.compare EQ, %x, %y, UNSIGNED : (tensor<16xui2>, tensor<16xui2>) -> tensor<16xi1>
  check.expect_eq_const %EQ, dense<[true, false, false, false, false, true, false, false, false, false, true, false, false, false, false, true]> : tensor<16xi1>
  func.return
}
func.func @values_of_ui2() {
  %x = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xui2>
  %not = stablehlo.not %x : tensor<4xui2>
  check.expect_eq_const %not, dense<[3, 2, 1, 0]> : tensor<4xui2>
  %popcnt = stablehlo.popcnt %x : tensor<4xui2>
  check.expect_eq_const %popcnt, dense<[0, 1, 1, 2]> : tensor<4xui2>
  %count_leading_zeros = stablehlo.count_leading_zeros %x : tensor<4xui2>
  check.expect_eq_const %count_leading_zeros, dense<[2, 1, 0, 0]> : tensor<4xui2>
  %negate = stablehlo.negate %x : tensor<4xui2>
  check.expect_eq_const %negate, dense<[0, 3, 2, 1]> : tensor<4xui2>
  %to_f32 = stablehlo.convert %x : (tensor<4xui2>) -> tensor<4xf32>
  check.expect_eq_const %to_f32, dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %to_f16 = stablehlo.convert %x : (tensor<4xui2>) -> tensor<4xf16>
  check.expect_eq_const %to_f16, dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf16>
  %to_i8 = stablehlo.convert %x : (tensor<4xui2>) -> tensor<4xi8>
  check.expect_eq_const %to_i8, dense<[0, 1, 2, 3]> : tensor<4xi8>
  %to_i64 = stablehlo.convert %x : (tensor<4xui2>) -> tensor<4xi64>
  check.expect_eq_const %to_i64, dense<[0, 1, 2, 3]> : tensor<4xi64>
  %to_ui8 = stablehlo.convert %x : (tensor<4xui2>) -> tensor<4xui8>
  check.expect_eq_const %to_ui8, dense<[0, 1, 2, 3]> : tensor<4xui8>
  %to_i1 = stablehlo.convert %x : (tensor<4xui2>) -> tensor<4xi1>
  check.expect_eq_const %to_i1, dense<[false, true, true, true]> : tensor<4xi1>
  %bits = stablehlo.bitcast_convert %x : (tensor<4xui2>) -> tensor<4xi2>
  check.expect_eq_const %bits, dense<[0, 1, -2, -1]> : tensor<4xi2>
  %f = stablehlo.constant dense<[-1000000000.0, -9.5, -8.5, -1.5, -0.5, 0.0, 0.5, 1.9, 2.5, 3.7, 7.9, 8.0, 15.9, 16.0, 1e+30]> : tensor<15xf32>
  %from_f = stablehlo.convert %f : (tensor<15xf32>) -> tensor<15xui2>
  check.expect_eq_const %from_f, dense<[0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]> : tensor<15xui2>
  %i = stablehlo.constant dense<[-300, -17, -9, -8, -1, 0, 3, 7, 8, 15, 16, 1000]> : tensor<12xi32>
  %from_i = stablehlo.convert %i : (tensor<12xi32>) -> tensor<12xui2>
  check.expect_eq_const %from_i, dense<[0, 3, 3, 0, 3, 0, 3, 3, 0, 3, 0, 0]> : tensor<12xui2>
  %zadd = stablehlo.constant dense<0> : tensor<ui2>
  %radd = stablehlo.reduce(%x init: %zadd) applies stablehlo.add across dimensions = [0] : (tensor<4xui2>, tensor<ui2>) -> tensor<ui2>
  check.expect_eq_const %radd, dense<2> : tensor<ui2>
  %zmaximum = stablehlo.constant dense<0> : tensor<ui2>
  %rmaximum = stablehlo.reduce(%x init: %zmaximum) applies stablehlo.maximum across dimensions = [0] : (tensor<4xui2>, tensor<ui2>) -> tensor<ui2>
  check.expect_eq_const %rmaximum, dense<3> : tensor<ui2>
  %zminimum = stablehlo.constant dense<3> : tensor<ui2>
  %rminimum = stablehlo.reduce(%x init: %zminimum) applies stablehlo.minimum across dimensions = [0] : (tensor<4xui2>, tensor<ui2>) -> tensor<ui2>
  check.expect_eq_const %rminimum, dense<0> : tensor<ui2>
  %dot = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<4xui2>, tensor<4xui2>) -> tensor<i32>
  check.expect_eq_const %dot, dense<14> : tensor<i32>
  %same = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<4xui2>, tensor<4xui2>) -> tensor<ui2>
  check.expect_eq_const %same, dense<2> : tensor<ui2>
  %back = stablehlo.reverse %x, dims = [0] : tensor<4xui2>
  %sorted = "stablehlo.sort"(%back) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<ui2>, %b: tensor<ui2>):
    %less = stablehlo.compare LT, %a, %b : (tensor<ui2>, tensor<ui2>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<4xui2>) -> tensor<4xui2>
  check.expect_eq_const %sorted, dense<[0, 1, 2, 3]> : tensor<4xui2>
  %count = stablehlo.iota dim = 0 : tensor<4xui2>
  check.expect_eq_const %count, dense<[0, 1, 2, 3]> : tensor<4xui2>
  %hex = stablehlo.constant dense<"0x00010203"> : tensor<4xui2>
  check.expect_eq_const %hex, dense<[0, 1, 2, 3]> : tensor<4xui2>
  %last = stablehlo.constant dense<3> : tensor<ui2>
  %from = stablehlo.dynamic_slice %x, %last, sizes = [1] : (tensor<4xui2>, tensor<ui2>) -> tensor<1xui2>
  check.expect_eq_const %from, dense<3> : tensor<1xui2>
  func.return
}
func.func @pairs_of_i4() {
  %x = stablehlo.constant dense<[-8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -3, -3, -3, -3, -3, -3, -3, -3, -3, -3, -3, -3, -3, -3, -3, -3, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]> : tensor<256xi4>
  %y = stablehlo.constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<256xi4>
  %add = stablehlo.add %x, %y : tensor<256xi4>
  check.expect_eq_const %add, dense<[0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2]> : tensor<256xi4>
  %subtract = stablehlo.subtract %x, %y : tensor<256xi4>
  check.expect_eq_const %subtract, dense<[0, -1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, 7, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0]> : tensor<256xi4>
  %multiply = stablehlo.multiply %x, %y : tensor<256xi4>
  check.expect_eq_const %multiply, dense<[0, -8, 0, -8, 0, -8, 0, -8, 0, -8, 0, -8, 0, -8, 0, -8, -8, 1, -6, 3, -4, 5, -2, 7, 0, -7, 2, -5, 4, -3, 6, -1, 0, -6, 4, -2, -8, 2, -4, 6, 0, -6, 4, -2, -8, 2, -4, 6, -8, 3, -2, -7, 4, -1, -6, 5, 0, -5, 6, 1, -4, 7, 2, -3, 0, -4, -8, 4, 0, -4, -8, 4, 0, -4, -8, 4, 0, -4, -8, 4, -8, 5, 2, -1, -4, -7, 6, 3, 0, -3, -6, 7, 4, 1, -2, -5, 0, -2, -4, -6, -8, 6, 4, 2, 0, -2, -4, -6, -8, 6, 4, 2, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 4, 6, -8, -6, -4, -2, 0, 2, 4, 6, -8, -6, -4, -2, -8, -5, -2, 1, 4, 7, -6, -3, 0, 3, 6, -7, -4, -1, 2, 5, 0, 4, -8, -4, 0, 4, -8, -4, 0, 4, -8, -4, 0, 4, -8, -4, -8, -3, 2, 7, -4, 1, 6, -5, 0, 5, -6, -1, 4, -7, -2, 3, 0, 6, -4, 2, -8, -2, 4, -6, 0, 6, -4, 2, -8, -2, 4, -6, -8, -1, 6, -3, 4, -5, 2, -7, 0, 7, -2, 5, -4, 3, -6, 1]> : tensor<256xi4>
  %divide = stablehlo.divide %x, %y : tensor<256xi4>
  check.expect_eq_const %divide, dense<[1, 1, 1, 1, 2, 2, 4, -8, -1, -8, -4, -2, -2, -1, -1, -1, 0, 1, 1, 1, 1, 2, 3, 7, -1, -7, -3, -2, -1, -1, -1, -1, 0, 0, 1, 1, 1, 2, 3, 6, -1, -6, -3, -2, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 2, 5, -1, -5, -2, -1, -1, -1, 0, 0, 0, 0, 0, 0, 1, 1, 2, 4, -1, -4, -2, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 3, -1, -3, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, -1, -2, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -2, -1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -3, -1, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -2, -4, -1, 4, 2, 1, 1, 0, 0, 0, 0, 0, 0, -1, -1, -1, -2, -5, -1, 5, 2, 1, 1, 1, 0, 0, 0, 0, -1, -1, -1, -2, -3, -6, -1, 6, 3, 2, 1, 1, 1, 0, 0, -1, -1, -1, -1, -2, -3, -7, -1, 7, 3, 2, 1, 1, 1, 1]> : tensor<256xi4>
  %remainder = stablehlo.remainder %x, %y : tensor<256xi4>
  check.expect_eq_const %remainder, dense<[0, -1, -2, -3, 0, -2, 0, 0, -8, 0, 0, -2, 0, -3, -2, -1, -7, 0, -1, -2, -3, -1, -1, 0, -7, 0, -1, -1, -3, -2, -1, 0, -6, -6, 0, -1, -2, 0, 0, 0, -6, 0, 0, 0, -2, -1, 0, -6, -5, -5, -5, 0, -1, -2, -1, 0, -5, 0, -1, -2, -1, 0, -5, -5, -4, -4, -4, -4, 0, -1, 0, 0, -4, 0, 0, -1, 0, -4, -4, -4, -3, -3, -3, -3, -3, 0, -1, 0, -3, 0, -1, 0, -3, -3, -3, -3, -2, -2, -2, -2, -2, -2, 0, 0, -2, 0, 0, -2, -2, -2, -2, -2, -1, -1, -1, -1, -1, -1, -1, 0, -1, 0, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0, 0, 2, 0, 0, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 0, 1, 0, 3, 0, 1, 0, 3, 3, 3, 3, 4, 4, 4, 4, 0, 1, 0, 0, 4, 0, 0, 1, 0, 4, 4, 4, 5, 5, 5, 0, 1, 2, 1, 0, 5, 0, 1, 2, 1, 0, 5, 5, 6, 6, 0, 1, 2, 0, 0, 0, 6, 0, 0, 0, 2, 1, 0, 6, 7, 0, 1, 2, 3, 1, 1, 0, 7, 0, 1, 1, 3, 2, 1, 0]> : tensor<256xi4>
  %maximum = stablehlo.maximum %x, %y : tensor<256xi4>
  check.expect_eq_const %maximum, dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -7, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -6, -6, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -5, -5, -5, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -4, -4, -4, -4, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -3, -3, -3, -3, -3, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -2, -2, -2, -2, -2, -2, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 5, 6, 7, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 5, 6, 7, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 6, 7, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 7, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]> : tensor<256xi4>
  %minimum = stablehlo.minimum %x, %y : tensor<256xi4>
  check.expect_eq_const %minimum, dense<[-8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7, -8, -7, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -6, -8, -7, -6, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -8, -7, -6, -5, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -8, -7, -6, -5, -4, -3, -3, -3, -3, -3, -3, -3, -3, -3, -3, -3, -8, -7, -6, -5, -4, -3, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -8, -7, -6, -5, -4, -3, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -8, -7, -6, -5, -4, -3, -2, -1, 0, 0, 0, 0, 0, 0, 0, 0, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 1, 1, 1, 1, 1, 1, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 2, 2, 2, 2, 2, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 3, 3, 3, 3, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 4, 4, 4, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 5, 5, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 6, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<256xi4>
  %and = stablehlo.and %x, %y : tensor<256xi4>
  check.expect_eq_const %and, dense<[-8, -8, -8, -8, -8, -8, -8, -8, 0, 0, 0, 0, 0, 0, 0, 0, -8, -7, -8, -7, -8, -7, -8, -7, 0, 1, 0, 1, 0, 1, 0, 1, -8, -8, -6, -6, -8, -8, -6, -6, 0, 0, 2, 2, 0, 0, 2, 2, -8, -7, -6, -5, -8, -7, -6, -5, 0, 1, 2, 3, 0, 1, 2, 3, -8, -8, -8, -8, -4, -4, -4, -4, 0, 0, 0, 0, 4, 4, 4, 4, -8, -7, -8, -7, -4, -3, -4, -3, 0, 1, 0, 1, 4, 5, 4, 5, -8, -8, -6, -6, -4, -4, -2, -2, 0, 0, 2, 2, 4, 4, 6, 6, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0, 0, 4, 4, 4, 4, 0, 0, 0, 0, 4, 4, 4, 4, 0, 1, 0, 1, 4, 5, 4, 5, 0, 1, 0, 1, 4, 5, 4, 5, 0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 2, 2, 4, 4, 6, 6, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<256xi4>
  %or = stablehlo.or %x, %y : tensor<256xi4>
  check.expect_eq_const %or, dense<[-8, -7, -6, -5, -4, -3, -2, -1, -8, -7, -6, -5, -4, -3, -2, -1, -7, -7, -5, -5, -3, -3, -1, -1, -7, -7, -5, -5, -3, -3, -1, -1, -6, -5, -6, -5, -2, -1, -2, -1, -6, -5, -6, -5, -2, -1, -2, -1, -5, -5, -5, -5, -1, -1, -1, -1, -5, -5, -5, -5, -1, -1, -1, -1, -4, -3, -2, -1, -4, -3, -2, -1, -4, -3, -2, -1, -4, -3, -2, -1, -3, -3, -1, -1, -3, -3, -1, -1, -3, -3, -1, -1, -3, -3, -1, -1, -2, -1, -2, -1, -2, -1, -2, -1, -2, -1, -2, -1, -2, -1, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -7, -7, -5, -5, -3, -3, -1, -1, 1, 1, 3, 3, 5, 5, 7, 7, -6, -5, -6, -5, -2, -1, -2, -1, 2, 3, 2, 3, 6, 7, 6, 7, -5, -5, -5, -5, -1, -1, -1, -1, 3, 3, 3, 3, 7, 7, 7, 7, -4, -3, -2, -1, -4, -3, -2, -1, 4, 5, 6, 7, 4, 5, 6, 7, -3, -3, -1, -1, -3, -3, -1, -1, 5, 5, 7, 7, 5, 5, 7, 7, -2, -1, -2, -1, -2, -1, -2, -1, 6, 7, 6, 7, 6, 7, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1, 7, 7, 7, 7, 7, 7, 7, 7]> : tensor<256xi4>
  %xor = stablehlo.xor %x, %y : tensor<256xi4>
  check.expect_eq_const %xor, dense<[0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 1, 0, 3, 2, 5, 4, 7, 6, -7, -8, -5, -6, -3, -4, -1, -2, 2, 3, 0, 1, 6, 7, 4, 5, -6, -5, -8, -7, -2, -1, -4, -3, 3, 2, 1, 0, 7, 6, 5, 4, -5, -6, -7, -8, -1, -2, -3, -4, 4, 5, 6, 7, 0, 1, 2, 3, -4, -3, -2, -1, -8, -7, -6, -5, 5, 4, 7, 6, 1, 0, 3, 2, -3, -4, -1, -2, -7, -8, -5, -6, 6, 7, 4, 5, 2, 3, 0, 1, -2, -1, -4, -3, -6, -5, -8, -7, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -7, -8, -5, -6, -3, -4, -1, -2, 1, 0, 3, 2, 5, 4, 7, 6, -6, -5, -8, -7, -2, -1, -4, -3, 2, 3, 0, 1, 6, 7, 4, 5, -5, -6, -7, -8, -1, -2, -3, -4, 3, 2, 1, 0, 7, 6, 5, 4, -4, -3, -2, -1, -8, -7, -6, -5, 4, 5, 6, 7, 0, 1, 2, 3, -3, -4, -1, -2, -7, -8, -5, -6, 5, 4, 7, 6, 1, 0, 3, 2, -2, -1, -4, -3, -6, -5, -8, -7, 6, 7, 4, 5, 2, 3, 0, 1, -1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0]> : tensor<256xi4>
  %shift_left = stablehlo.shift_left %x, %y : tensor<256xi4>
  check.expect_eq_const %shift_left, dense<[0, 0, 0, 0, 0, 0, 0, 0, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -7, 2, 4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -6, 4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -5, 6, -4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -3, -6, 4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2, -4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -2, -4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 6, -4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, -6, 4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, -4, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, -2, -4, -8, 0, 0, 0, 0]> : tensor<256xi4>
  %shift_right_logical = stablehlo.shift_right_logical %x, %y : tensor<256xi4>
  check.expect_eq_const %shift_right_logical, dense<[0, 0, 0, 0, 0, 0, 0, 0, -8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -7, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -6, 5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -5, 5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -4, 6, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -3, 6, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2, 7, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 7, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 3, 1, 0, 0, 0, 0, 0]> : tensor<256xi4>
  %shift_right_arithmetic = stablehlo.shift_right_arithmetic %x, %y : tensor<256xi4>
  check.expect_eq_const %shift_right_arithmetic, dense<[-1, -1, -1, -1, -1, -1, -1, -1, -8, -4, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -7, -4, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -6, -3, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -5, -3, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -4, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -3, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 3, 1, 0, 0, 0, 0, 0]> : tensor<256xi4>
  %LT = stablehlo.compare LT, %x, %y, SIGNED : (tensor<256xi4>, tensor<256xi4>) -> tensor<256xi1>
  check.expect_eq_const %LT, dense<[false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false]> : tensor<256xi1>
  %GE = stablehlo.compare GE, %x, %y, SIGNED : (tensor<256xi4>, tensor<256xi4>) -> tensor<256xi1>
  check.expect_eq_const %GE, dense<[true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]> : tensor<256xi1>
  %EQ = stablehlo.compare EQ, %x, %y, SIGNED : (tensor<256xi4>, tensor<256xi4>) -> tensor<256xi1>
  check.expect_eq_const %EQ, dense<[true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true]> : tensor<256xi1>
  func.return
}
func.func @values_of_i4() {
  %x = stablehlo.constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
  %not = stablehlo.not %x : tensor<16xi4>
  check.expect_eq_const %not, dense<[7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8]> : tensor<16xi4>
  %popcnt = stablehlo.popcnt %x : tensor<16xi4>
  check.expect_eq_const %popcnt, dense<[1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3]> : tensor<16xi4>
  %count_leading_zeros = stablehlo.count_leading_zeros %x : tensor<16xi4>
  check.expect_eq_const %count_leading_zeros, dense<[0, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 2, 1, 1, 1, 1]> : tensor<16xi4>
  %negate = stablehlo.negate %x : tensor<16xi4>
  check.expect_eq_const %negate, dense<[-8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7]> : tensor<16xi4>
  %abs = stablehlo.abs %x : tensor<16xi4>
  check.expect_eq_const %abs, dense<[-8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
  %sign = stablehlo.sign %x : tensor<16xi4>
  check.expect_eq_const %sign, dense<[-1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 1, 1, 1, 1, 1, 1]> : tensor<16xi4>
  %to_f32 = stablehlo.convert %x : (tensor<16xi4>) -> tensor<16xf32>
  check.expect_eq_const %to_f32, dense<[-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<16xf32>
  %to_f16 = stablehlo.convert %x : (tensor<16xi4>) -> tensor<16xf16>
  check.expect_eq_const %to_f16, dense<[-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<16xf16>
  %to_i8 = stablehlo.convert %x : (tensor<16xi4>) -> tensor<16xi8>
  check.expect_eq_const %to_i8, dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi8>
  %to_i64 = stablehlo.convert %x : (tensor<16xi4>) -> tensor<16xi64>
  check.expect_eq_const %to_i64, dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi64>
  %to_ui8 = stablehlo.convert %x : (tensor<16xi4>) -> tensor<16xui8>
  check.expect_eq_const %to_ui8, dense<[248, 249, 250, 251, 252, 253, 254, 255, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xui8>
  %to_i1 = stablehlo.convert %x : (tensor<16xi4>) -> tensor<16xi1>
  check.expect_eq_const %to_i1, dense<[true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true]> : tensor<16xi1>
  %bits = stablehlo.bitcast_convert %x : (tensor<16xi4>) -> tensor<16xui4>
  check.expect_eq_const %bits, dense<[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xui4>
  %f = stablehlo.constant dense<[-1000000000.0, -9.5, -8.5, -1.5, -0.5, 0.0, 0.5, 1.9, 2.5, 3.7, 7.9, 8.0, 15.9, 16.0, 1e+30]> : tensor<15xf32>
  %from_f = stablehlo.convert %f : (tensor<15xf32>) -> tensor<15xi4>
  check.expect_eq_const %from_f, dense<[-8, -8, -8, -1, 0, 0, 0, 1, 2, 3, 7, 7, 7, 7, 7]> : tensor<15xi4>
  %i = stablehlo.constant dense<[-300, -17, -9, -8, -1, 0, 3, 7, 8, 15, 16, 1000]> : tensor<12xi32>
  %from_i = stablehlo.convert %i : (tensor<12xi32>) -> tensor<12xi4>
  check.expect_eq_const %from_i, dense<[4, -1, 7, -8, -1, 0, 3, 7, -8, -1, 0, -8]> : tensor<12xi4>
  %zadd = stablehlo.constant dense<0> : tensor<i4>
  %radd = stablehlo.reduce(%x init: %zadd) applies stablehlo.add across dimensions = [0] : (tensor<16xi4>, tensor<i4>) -> tensor<i4>
  check.expect_eq_const %radd, dense<-8> : tensor<i4>
  %zmaximum = stablehlo.constant dense<-8> : tensor<i4>
  %rmaximum = stablehlo.reduce(%x init: %zmaximum) applies stablehlo.maximum across dimensions = [0] : (tensor<16xi4>, tensor<i4>) -> tensor<i4>
  check.expect_eq_const %rmaximum, dense<7> : tensor<i4>
  %zminimum = stablehlo.constant dense<7> : tensor<i4>
  %rminimum = stablehlo.reduce(%x init: %zminimum) applies stablehlo.minimum across dimensions = [0] : (tensor<16xi4>, tensor<i4>) -> tensor<i4>
  check.expect_eq_const %rminimum, dense<-8> : tensor<i4>
  %dot = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<16xi4>, tensor<16xi4>) -> tensor<i32>
  check.expect_eq_const %dot, dense<344> : tensor<i32>
  %same = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<16xi4>, tensor<16xi4>) -> tensor<i4>
  check.expect_eq_const %same, dense<-8> : tensor<i4>
  %back = stablehlo.reverse %x, dims = [0] : tensor<16xi4>
  %sorted = "stablehlo.sort"(%back) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i4>, %b: tensor<i4>):
    %less = stablehlo.compare LT, %a, %b : (tensor<i4>, tensor<i4>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<16xi4>) -> tensor<16xi4>
  check.expect_eq_const %sorted, dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
  %count = stablehlo.iota dim = 0 : tensor<16xi4>
  check.expect_eq_const %count, dense<[0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1]> : tensor<16xi4>
  %hex = stablehlo.constant dense<"0x08090A0B0C0D0E0F0001020304050607"> : tensor<16xi4>
  check.expect_eq_const %hex, dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
  %last = stablehlo.constant dense<7> : tensor<i4>
  %from = stablehlo.dynamic_slice %x, %last, sizes = [1] : (tensor<16xi4>, tensor<i4>) -> tensor<1xi4>
  check.expect_eq_const %from, dense<-1> : tensor<1xi4>
  func.return
}
func.func @pairs_of_ui4() {
  %x = stablehlo.constant dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]> : tensor<256xui4>
  %y = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<256xui4>
  %add = stablehlo.add %x, %y : tensor<256xui4>
  check.expect_eq_const %add, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]> : tensor<256xui4>
  %subtract = stablehlo.subtract %x, %y : tensor<256xui4>
  check.expect_eq_const %subtract, dense<[0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]> : tensor<256xui4>
  %multiply = stablehlo.multiply %x, %y : tensor<256xui4>
  check.expect_eq_const %multiply, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14, 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11, 0, 6, 12, 2, 8, 14, 4, 10, 0, 6, 12, 2, 8, 14, 4, 10, 0, 7, 14, 5, 12, 3, 10, 1, 8, 15, 6, 13, 4, 11, 2, 9, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12, 5, 14, 7, 0, 10, 4, 14, 8, 2, 12, 6, 0, 10, 4, 14, 8, 2, 12, 6, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5, 0, 12, 8, 4, 0, 12, 8, 4, 0, 12, 8, 4, 0, 12, 8, 4, 0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3, 0, 14, 12, 10, 8, 6, 4, 2, 0, 14, 12, 10, 8, 6, 4, 2, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]> : tensor<256xui4>
  %divide = stablehlo.divide %x, %y : tensor<256xui4>
  check.expect_eq_const %divide, dense<[15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 4, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 5, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 6, 3, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 7, 3, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 15, 8, 4, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 15, 9, 4, 3, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 15, 10, 5, 3, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 15, 11, 5, 3, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 15, 12, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 0, 15, 13, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 0, 0, 15, 14, 7, 4, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 0, 15, 15, 7, 5, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1]> : tensor<256xui4>
  %remainder = stablehlo.remainder %x, %y : tensor<256xui4>
  check.expect_eq_const %remainder, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 0, 1, 0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 0, 0, 1, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 0, 1, 2, 1, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 0, 0, 0, 2, 1, 0, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0, 1, 1, 3, 2, 1, 0, 7, 7, 7, 7, 7, 7, 7, 7, 8, 0, 0, 2, 0, 3, 2, 1, 0, 8, 8, 8, 8, 8, 8, 8, 9, 0, 1, 0, 1, 4, 3, 2, 1, 0, 9, 9, 9, 9, 9, 9, 10, 0, 0, 1, 2, 0, 4, 3, 2, 1, 0, 10, 10, 10, 10, 10, 11, 0, 1, 2, 3, 1, 5, 4, 3, 2, 1, 0, 11, 11, 11, 11, 12, 0, 0, 0, 0, 2, 0, 5, 4, 3, 2, 1, 0, 12, 12, 12, 13, 0, 1, 1, 1, 3, 1, 6, 5, 4, 3, 2, 1, 0, 13, 13, 14, 0, 0, 2, 2, 4, 2, 0, 6, 5, 4, 3, 2, 1, 0, 14, 15, 0, 1, 0, 3, 0, 3, 1, 7, 6, 5, 4, 3, 2, 1, 0]> : tensor<256xui4>
  %maximum = stablehlo.maximum %x, %y : tensor<256xui4>
  check.expect_eq_const %maximum, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 4, 4, 4, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 5, 5, 5, 5, 5, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 6, 6, 6, 6, 6, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 7, 7, 7, 7, 7, 7, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15, 8, 8, 8, 8, 8, 8, 8, 8, 8, 9, 10, 11, 12, 13, 14, 15, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 11, 12, 13, 14, 15, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 11, 12, 13, 14, 15, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 12, 13, 14, 15, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 13, 14, 15, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 14, 15, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]> : tensor<256xui4>
  %minimum = stablehlo.minimum %x, %y : tensor<256xui4>
  check.expect_eq_const %minimum, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 11, 11, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 12, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 13, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 14, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<256xui4>
  %and = stablehlo.and %x, %y : tensor<256xui4>
  check.expect_eq_const %and, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0, 0, 4, 4, 4, 4, 0, 0, 0, 0, 4, 4, 4, 4, 0, 1, 0, 1, 4, 5, 4, 5, 0, 1, 0, 1, 4, 5, 4, 5, 0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 2, 2, 4, 4, 6, 6, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8, 0, 1, 0, 1, 0, 1, 0, 1, 8, 9, 8, 9, 8, 9, 8, 9, 0, 0, 2, 2, 0, 0, 2, 2, 8, 8, 10, 10, 8, 8, 10, 10, 0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11, 8, 9, 10, 11, 0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<256xui4>
  %or = stablehlo.or %x, %y : tensor<256xui4>
  check.expect_eq_const %or, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15, 2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15, 4, 5, 6, 7, 4, 5, 6, 7, 12, 13, 14, 15, 12, 13, 14, 15, 5, 5, 7, 7, 5, 5, 7, 7, 13, 13, 15, 15, 13, 13, 15, 15, 6, 7, 6, 7, 6, 7, 6, 7, 14, 15, 14, 15, 14, 15, 14, 15, 7, 7, 7, 7, 7, 7, 7, 7, 15, 15, 15, 15, 15, 15, 15, 15, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15, 9, 9, 11, 11, 13, 13, 15, 15, 9, 9, 11, 11, 13, 13, 15, 15, 10, 11, 10, 11, 14, 15, 14, 15, 10, 11, 10, 11, 14, 15, 14, 15, 11, 11, 11, 11, 15, 15, 15, 15, 11, 11, 11, 11, 15, 15, 15, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 13, 13, 15, 15, 13, 13, 15, 15, 13, 13, 15, 15, 13, 13, 15, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]> : tensor<256xui4>
  %xor = stablehlo.xor %x, %y : tensor<256xui4>
  check.expect_eq_const %xor, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11, 5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8, 11, 10, 6, 7, 4, 5, 2, 3, 0, 1, 14, 15, 12, 13, 10, 11, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, 13, 12, 15, 14, 1, 0, 3, 2, 5, 4, 7, 6, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5, 11, 10, 9, 8, 15, 14, 13, 12, 3, 2, 1, 0, 7, 6, 5, 4, 12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3, 13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2, 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]> : tensor<256xui4>
  %shift_left = stablehlo.shift_left %x, %y : tensor<256xui4>
  check.expect_eq_const %shift_left, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 6, 12, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 10, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 12, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 14, 12, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 6, 12, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 13, 10, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14, 12, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 14, 12, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<256xui4>
  %shift_right_logical = stablehlo.shift_right_logical %x, %y : tensor<256xui4>
  check.expect_eq_const %shift_right_logical, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 6, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 13, 6, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14, 7, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 7, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<256xui4>
  %shift_right_arithmetic = stablehlo.shift_right_arithmetic %x, %y : tensor<256xui4>
  check.expect_eq_const %shift_right_arithmetic, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 12, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 9, 12, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 10, 13, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 11, 13, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 12, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 13, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]> : tensor<256xui4>
  %LT = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<256xui4>, tensor<256xui4>) -> tensor<256xi1>
  check.expect_eq_const %LT, dense<[false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false]> : tensor<256xi1>
  %GE = stablehlo.compare GE, %x, %y, UNSIGNED : (tensor<256xui4>, tensor<256xui4>) -> tensor<256xi1>
  check.expect_eq_const %GE, dense<[true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]> : tensor<256xi1>
  %EQ = stablehlo.compare EQ, %x, %y, UNSIGNED : (tensor<256xui4>, tensor<256xui4>) -> tensor<256xi1>
  check.expect_eq_const %EQ, dense<[true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true]> : tensor<256xi1>
  func.return
}
func.func @values_of_ui4() {
  %x = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xui4>
  %not = stablehlo.not %x : tensor<16xui4>
  check.expect_eq_const %not, dense<[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]> : tensor<16xui4>
  %popcnt = stablehlo.popcnt %x : tensor<16xui4>
  check.expect_eq_const %popcnt, dense<[0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4]> : tensor<16xui4>
  %count_leading_zeros = stablehlo.count_leading_zeros %x : tensor<16xui4>
  check.expect_eq_const %count_leading_zeros, dense<[4, 3, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<16xui4>
  %negate = stablehlo.negate %x : tensor<16xui4>
  check.expect_eq_const %negate, dense<[0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]> : tensor<16xui4>
  %to_f32 = stablehlo.convert %x : (tensor<16xui4>) -> tensor<16xf32>
  check.expect_eq_const %to_f32, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : tensor<16xf32>
  %to_f16 = stablehlo.convert %x : (tensor<16xui4>) -> tensor<16xf16>
  check.expect_eq_const %to_f16, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : tensor<16xf16>
  %to_i8 = stablehlo.convert %x : (tensor<16xui4>) -> tensor<16xi8>
  check.expect_eq_const %to_i8, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi8>
  %to_i64 = stablehlo.convert %x : (tensor<16xui4>) -> tensor<16xi64>
  check.expect_eq_const %to_i64, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi64>
  %to_ui8 = stablehlo.convert %x : (tensor<16xui4>) -> tensor<16xui8>
  check.expect_eq_const %to_ui8, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xui8>
  %to_i1 = stablehlo.convert %x : (tensor<16xui4>) -> tensor<16xi1>
  check.expect_eq_const %to_i1, dense<[false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]> : tensor<16xi1>
  %bits = stablehlo.bitcast_convert %x : (tensor<16xui4>) -> tensor<16xi4>
  check.expect_eq_const %bits, dense<[0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1]> : tensor<16xi4>
  %f = stablehlo.constant dense<[-1000000000.0, -9.5, -8.5, -1.5, -0.5, 0.0, 0.5, 1.9, 2.5, 3.7, 7.9, 8.0, 15.9, 16.0, 1e+30]> : tensor<15xf32>
  %from_f = stablehlo.convert %f : (tensor<15xf32>) -> tensor<15xui4>
  check.expect_eq_const %from_f, dense<[0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 7, 8, 15, 15, 15]> : tensor<15xui4>
  %i = stablehlo.constant dense<[-300, -17, -9, -8, -1, 0, 3, 7, 8, 15, 16, 1000]> : tensor<12xi32>
  %from_i = stablehlo.convert %i : (tensor<12xi32>) -> tensor<12xui4>
  check.expect_eq_const %from_i, dense<[4, 15, 7, 8, 15, 0, 3, 7, 8, 15, 0, 8]> : tensor<12xui4>
  %zadd = stablehlo.constant dense<0> : tensor<ui4>
  %radd = stablehlo.reduce(%x init: %zadd) applies stablehlo.add across dimensions = [0] : (tensor<16xui4>, tensor<ui4>) -> tensor<ui4>
  check.expect_eq_const %radd, dense<8> : tensor<ui4>
  %zmaximum = stablehlo.constant dense<0> : tensor<ui4>
  %rmaximum = stablehlo.reduce(%x init: %zmaximum) applies stablehlo.maximum across dimensions = [0] : (tensor<16xui4>, tensor<ui4>) -> tensor<ui4>
  check.expect_eq_const %rmaximum, dense<15> : tensor<ui4>
  %zminimum = stablehlo.constant dense<15> : tensor<ui4>
  %rminimum = stablehlo.reduce(%x init: %zminimum) applies stablehlo.minimum across dimensions = [0] : (tensor<16xui4>, tensor<ui4>) -> tensor<ui4>
  check.expect_eq_const %rminimum, dense<0> : tensor<ui4>
  %dot = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<16xui4>, tensor<16xui4>) -> tensor<i32>
  check.expect_eq_const %dot, dense<1240> : tensor<i32>
  %same = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<16xui4>, tensor<16xui4>) -> tensor<ui4>
  check.expect_eq_const %same, dense<8> : tensor<ui4>
  %back = stablehlo.reverse %x, dims = [0] : tensor<16xui4>
  %sorted = "stablehlo.sort"(%back) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<ui4>, %b: tensor<ui4>):
    %less = stablehlo.compare LT, %a, %b : (tensor<ui4>, tensor<ui4>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<16xui4>) -> tensor<16xui4>
  check.expect_eq_const %sorted, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xui4>
  %count = stablehlo.iota dim = 0 : tensor<16xui4>
  check.expect_eq_const %count, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xui4>
  %hex = stablehlo.constant dense<"0x000102030405060708090A0B0C0D0E0F"> : tensor<16xui4>
  check.expect_eq_const %hex, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xui4>
  %last = stablehlo.constant dense<15> : tensor<ui4>
  %from = stablehlo.dynamic_slice %x, %last, sizes = [1] : (tensor<16xui4>, tensor<ui4>) -> tensor<1xui4>
  check.expect_eq_const %from, dense<15> : tensor<1xui4>
  func.return
}
