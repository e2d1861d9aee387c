// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// run: lazuli run --device loop %s
// check: select_f32:
// elementwise operations on floats; numbers by C's mathematics in double

func.func @abs_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.5, -0.0, 1.5, 2.51]> : tensor<5xf32>
  %r = stablehlo.abs %a : tensor<5xf32>
  check.expect_eq_const %r, dense<[2.5, 0.5, 0.0, 1.5, 2.51]> : tensor<5xf32>
  func.return
}

// -----

func.func @ceil_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.5, -0.0, 1.5, 2.51]> : tensor<5xf32>
  %r = stablehlo.ceil %a : tensor<5xf32>
  check.expect_eq_const %r, dense<[-2.0, 0.0, 0.0, 2.0, 3.0]> : tensor<5xf32>
  func.return
}

// -----

func.func @floor_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.5, -0.0, 1.5, 2.51]> : tensor<5xf32>
  %r = stablehlo.floor %a : tensor<5xf32>
  check.expect_eq_const %r, dense<[-3.0, -1.0, 0.0, 1.0, 2.0]> : tensor<5xf32>
  func.return
}

// -----

func.func @negate_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.5, -0.0, 1.5, 2.51]> : tensor<5xf32>
  %r = stablehlo.negate %a : tensor<5xf32>
  check.expect_eq_const %r, dense<[2.5, 0.5, -0.0, -1.5, -2.51]> : tensor<5xf32>
  func.return
}

// -----

func.func @round_nearest_even_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.5, -0.0, 1.5, 2.51]> : tensor<5xf32>
  %r = stablehlo.round_nearest_even %a : tensor<5xf32>
  check.expect_eq_const %r, dense<[-2.0, 0.0, 0.0, 2.0, 3.0]> : tensor<5xf32>
  func.return
}

// -----

func.func @sign_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.5, -0.0, 1.5, 2.51]> : tensor<5xf32>
  %r = stablehlo.sign %a : tensor<5xf32>
  check.expect_eq_const %r, dense<[-1.0, -1.0, 0.0, 1.0, 1.0]> : tensor<5xf32>
  func.return
}

// -----

func.func @round_nearest_afz_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.5, -0.0, 1.5, 2.51]> : tensor<5xf32>
  %r = stablehlo.round_nearest_afz %a : tensor<5xf32>
  check.expect_eq_const %r, dense<[-3.0, -1.0, 0.0, 2.0, 3.0]> : tensor<5xf32>
  func.return
}

// -----

func.func @exponential_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.3, 0.0, 0.7, 1.9, 4.25]> : tensor<6xf32>
  %r = stablehlo.exponential %a : tensor<6xf32>
  %want0 = stablehlo.constant dense<[0.082085, 0.7408182, 1.0, 2.0137527, 6.6858945, 70.105415]> : tensor<6xf32>
  check.expect_close %r, %want0 : tensor<6xf32>, tensor<6xf32>
  func.return
}

// -----

func.func @exponential_minus_one_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.3, 0.0, 0.7, 1.9, 4.25]> : tensor<6xf32>
  %r = stablehlo.exponential_minus_one %a : tensor<6xf32>
  %want0 = stablehlo.constant dense<[-0.917915, -0.2591818, 0.0, 1.0137527, 5.6858945, 69.105415]> : tensor<6xf32>
  check.expect_close %r, %want0 : tensor<6xf32>, tensor<6xf32>
  func.return
}

// -----

func.func @tanh_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.3, 0.0, 0.7, 1.9, 4.25]> : tensor<6xf32>
  %r = stablehlo.tanh %a : tensor<6xf32>
  %want0 = stablehlo.constant dense<[-0.9866143, -0.29131263, 0.0, 0.6043678, 0.95623744, 0.99959314]> : tensor<6xf32>
  check.expect_close %r, %want0 : tensor<6xf32>, tensor<6xf32>
  func.return
}

// -----

func.func @sine_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.3, 0.0, 0.7, 1.9, 4.25]> : tensor<6xf32>
  %r = stablehlo.sine %a : tensor<6xf32>
  %want0 = stablehlo.constant dense<[-0.5984721, -0.29552022, 0.0, 0.64421767, 0.9463001, -0.8949894]> : tensor<6xf32>
  check.expect_close %r, %want0 : tensor<6xf32>, tensor<6xf32>
  func.return
}

// -----

func.func @cosine_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.3, 0.0, 0.7, 1.9, 4.25]> : tensor<6xf32>
  %r = stablehlo.cosine %a : tensor<6xf32>
  %want0 = stablehlo.constant dense<[-0.8011436, 0.9553365, 1.0, 0.7648422, -0.32328954, -0.44608748]> : tensor<6xf32>
  check.expect_close %r, %want0 : tensor<6xf32>, tensor<6xf32>
  func.return
}

// -----

func.func @tan_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.3, 0.0, 0.7, 1.9, 4.25]> : tensor<6xf32>
  %r = stablehlo.tan %a : tensor<6xf32>
  %want0 = stablehlo.constant dense<[0.7470223, -0.30933627, 0.0, 0.8422884, -2.9270978, 2.006309]> : tensor<6xf32>
  check.expect_close %r, %want0 : tensor<6xf32>, tensor<6xf32>
  func.return
}

// -----

func.func @logistic_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.3, 0.0, 0.7, 1.9, 4.25]> : tensor<6xf32>
  %r = stablehlo.logistic %a : tensor<6xf32>
  %want0 = stablehlo.constant dense<[0.07585818, 0.4255575, 0.5, 0.6681878, 0.8698915, 0.98593634]> : tensor<6xf32>
  check.expect_close %r, %want0 : tensor<6xf32>, tensor<6xf32>
  func.return
}

// -----

func.func @cbrt_f32() {
  %a = stablehlo.constant dense<[-2.5, -0.3, 0.0, 0.7, 1.9, 4.25]> : tensor<6xf32>
  %r = stablehlo.cbrt %a : tensor<6xf32>
  %want0 = stablehlo.constant dense<[-1.3572088, -0.66943294, 0.0, 0.887904, 1.2385623, 1.6198059]> : tensor<6xf32>
  check.expect_close %r, %want0 : tensor<6xf32>, tensor<6xf32>
  func.return
}

// -----

func.func @log_f32() {
  %a = stablehlo.constant dense<[0.01, 0.5, 1.0, 3.7, 1.0e+20]> : tensor<5xf32>
  %r = stablehlo.log %a : tensor<5xf32>
  %want0 = stablehlo.constant dense<[-4.6051702, -0.6931472, 0.0, 1.3083328, 46.0517]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @log_plus_one_f32() {
  %a = stablehlo.constant dense<[0.01, 0.5, 1.0, 3.7, 1.0e+20]> : tensor<5xf32>
  %r = stablehlo.log_plus_one %a : tensor<5xf32>
  %want0 = stablehlo.constant dense<[0.0099503305, 0.4054651, 0.6931472, 1.5475625, 46.0517]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @sqrt_f32() {
  %a = stablehlo.constant dense<[0.01, 0.5, 1.0, 3.7, 1.0e+20]> : tensor<5xf32>
  %r = stablehlo.sqrt %a : tensor<5xf32>
  %want0 = stablehlo.constant dense<[0.1, 0.70710677, 1.0, 1.9235384, 1.0e+10]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @rsqrt_f32() {
  %a = stablehlo.constant dense<[0.01, 0.5, 1.0, 3.7, 1.0e+20]> : tensor<5xf32>
  %r = stablehlo.rsqrt %a : tensor<5xf32>
  %want0 = stablehlo.constant dense<[10.0, 1.4142135, 1.0, 0.5198752, 1.0e-10]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @log_f64() {
  %a = stablehlo.constant dense<[0.01, 0.5, 1.0, 3.7, 1.0e+20]> : tensor<5xf64>
  %r = stablehlo.log %a : tensor<5xf64>
  %want0 = stablehlo.constant dense<[-4.605170185988091, -0.6931471805599453, 0.0, 1.308332819650179, 46.051701859880914]> : tensor<5xf64>
  check.expect_close %r, %want0 : tensor<5xf64>, tensor<5xf64>
  func.return
}

// -----

func.func @log_plus_one_f64() {
  %a = stablehlo.constant dense<[0.01, 0.5, 1.0, 3.7, 1.0e+20]> : tensor<5xf64>
  %r = stablehlo.log_plus_one %a : tensor<5xf64>
  %want0 = stablehlo.constant dense<[0.009950330853168083, 0.4054651081081644, 0.6931471805599453, 1.547562508716013, 46.051701859880914]> : tensor<5xf64>
  check.expect_close %r, %want0 : tensor<5xf64>, tensor<5xf64>
  func.return
}

// -----

func.func @sqrt_f64() {
  %a = stablehlo.constant dense<[0.01, 0.5, 1.0, 3.7, 1.0e+20]> : tensor<5xf64>
  %r = stablehlo.sqrt %a : tensor<5xf64>
  %want0 = stablehlo.constant dense<[0.1, 0.7071067811865476, 1.0, 1.9235384061671346, 1.0e+10]> : tensor<5xf64>
  check.expect_close %r, %want0 : tensor<5xf64>, tensor<5xf64>
  func.return
}

// -----

func.func @chlo_asin_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.asin %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[-1.1197695, -0.25268024, 0.0, 0.12532783, 0.64350116]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_acos_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.acos %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[2.6905658, 1.8234766, 1.5707964, 1.4454685, 0.9272952]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_atan_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.atan %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[-0.7328151, -0.24497867, 0.0, 0.124354996, 0.5404195]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_asinh_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.asinh %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[-0.8088669, -0.24746646, 0.0, 0.12467675, 0.56882495]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_atanh_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.atanh %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[-1.4722193, -0.25541282, 0.0, 0.12565722, 0.69314724]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_sinh_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.sinh %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[-1.0265167, -0.25261232, 0.0, 0.12532577, 0.6366536]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_cosh_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.cosh %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[1.4330864, 1.0314131, 1.0, 1.0078226, 1.1854652]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_erf_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.erf %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[-0.7969082, -0.2763264, 0.0, 0.1403162, 0.6038561]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_erfc_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.erfc %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[1.7969083, 1.2763264, 1.0, 0.8596838, 0.39614388]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_erf_inv_f32() {
  %a = stablehlo.constant dense<[-0.9, -0.25, 0.0, 0.125, 0.6]> : tensor<5xf32>
  %r = chlo.erf_inv %a : tensor<5xf32> -> tensor<5xf32>
  %want0 = stablehlo.constant dense<[-1.1630871, -0.22531205, 0.0, 0.111235455, 0.59511614]> : tensor<5xf32>
  check.expect_close %r, %want0 : tensor<5xf32>, tensor<5xf32>
  func.return
}

// -----

func.func @chlo_lgamma_f32() {
  %a = stablehlo.constant dense<[0.3, 1.0, 2.5, 10.0]> : tensor<4xf32>
  %r = chlo.lgamma %a : tensor<4xf32> -> tensor<4xf32>
  check.expect_almost_eq_const %r, dense<[1.0957979, 0.0, 0.28468287, 12.801827]> : tensor<4xf32>
  func.return
}

// -----

func.func @chlo_digamma_f32() {
  %a = stablehlo.constant dense<[0.3, 1.0, 2.5, 10.0]> : tensor<4xf32>
  %r = chlo.digamma %a : tensor<4xf32> -> tensor<4xf32>
  check.expect_almost_eq_const %r, dense<[-3.5025241, -0.5772157, 0.70315665, 2.2517526]> : tensor<4xf32>
  func.return
}

// -----

func.func @is_finite_f32() {
  %a = stablehlo.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %r = stablehlo.is_finite %a : (tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @reduce_precision_f32() {
  %a = stablehlo.constant dense<[1.2345678, -100000.0, 3.0e-05]> : tensor<3xf32>
  %r = stablehlo.reduce_precision %a, format = e5m10 : tensor<3xf32>
  check.expect_eq_const %r, dense<[1.234375, 0xFF800000, 0.0]> : tensor<3xf32>
  func.return
}

// -----

func.func @add_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.add %a, %b : tensor<5xf32>
  check.expect_eq_const %r, dense<[7.5, -3.5, 0x7FC00000, 0.0, 0x7F800000]> : tensor<5xf32>
  func.return
}

// -----

func.func @subtract_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.subtract %a, %b : tensor<5xf32>
  check.expect_eq_const %r, dense<[3.5, -7.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  func.return
}

// -----

func.func @multiply_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.multiply %a, %b : tensor<5xf32>
  check.expect_eq_const %r, dense<[11.0, -11.0, 0x7FC00000, -0.0, 0xFF800000]> : tensor<5xf32>
  func.return
}

// -----

func.func @divide_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.divide %a, %b : tensor<5xf32>
  check.expect_eq_const %r, dense<[2.75, -2.75, 0x7FC00000, 0xFFC00000, 0xFF800000]> : tensor<5xf32>
  func.return
}

// -----

func.func @maximum_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.maximum %a, %b : tensor<5xf32>
  check.expect_eq_const %r, dense<[5.5, 2.0, 0x7FC00000, 0.0, 0x7F800000]> : tensor<5xf32>
  func.return
}

// -----

func.func @minimum_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.minimum %a, %b : tensor<5xf32>
  check.expect_eq_const %r, dense<[2.0, -5.5, 0x7FC00000, 0.0, -3.0]> : tensor<5xf32>
  func.return
}

// -----

func.func @remainder_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.remainder %a, %b : tensor<5xf32>
  check.expect_eq_const %r, dense<[1.5, -1.5, 0x7FC00000, 0xFFC00000, 0xFFC00000]> : tensor<5xf32>
  func.return
}

// -----

func.func @power_f32() {
  %a = stablehlo.constant dense<[2.0, 0.5, -3.0, 9.0]> : tensor<4xf32>
  %b = stablehlo.constant dense<[3.0, -2.0, 3.0, 0.5]> : tensor<4xf32>
  %r = stablehlo.power %a, %b : tensor<4xf32>
  %want0 = stablehlo.constant dense<[8.0, 4.0, -27.0, 3.0]> : tensor<4xf32>
  check.expect_close %r, %want0 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

func.func @atan2_f32() {
  %a = stablehlo.constant dense<[2.0, 0.5, -3.0, 9.0]> : tensor<4xf32>
  %b = stablehlo.constant dense<[3.0, -2.0, 3.0, 0.5]> : tensor<4xf32>
  %r = stablehlo.atan2 %a, %b : tensor<4xf32>
  %want0 = stablehlo.constant dense<[0.5880026, 2.896614, -0.7853982, 1.5152978]> : tensor<4xf32>
  check.expect_close %r, %want0 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

func.func @EQ_compare_FLOAT_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %r, dense<[false, false, false, true, false]> : tensor<5xi1>
  func.return
}

// -----

func.func @NE_compare_FLOAT_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.compare NE, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %r, dense<[true, true, true, false, true]> : tensor<5xi1>
  func.return
}

// -----

func.func @GE_compare_FLOAT_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.compare GE, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %r, dense<[true, false, false, true, true]> : tensor<5xi1>
  func.return
}

// -----

func.func @GT_compare_FLOAT_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.compare GT, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %r, dense<[true, false, false, false, true]> : tensor<5xi1>
  func.return
}

// -----

func.func @LE_compare_FLOAT_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.compare LE, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %r, dense<[false, true, false, true, false]> : tensor<5xi1>
  func.return
}

// -----

func.func @LT_compare_FLOAT_f32() {
  %a = stablehlo.constant dense<[5.5, -5.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0, -3.0]> : tensor<5xf32>
  %r = stablehlo.compare LT, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %r, dense<[false, true, false, false, false]> : tensor<5xi1>
  func.return
}

// -----

func.func @add_f16() {
  %a = stablehlo.constant dense<[1.5, -0.25, 60000.0]> : tensor<3xf16>
  %b = stablehlo.constant dense<[1.5, -0.25, 60000.0]> : tensor<3xf16>
  %r = stablehlo.add %a, %b : tensor<3xf16>
  check.expect_eq_const %r, dense<[3.0, -0.5, 0x7C00]> : tensor<3xf16>
  func.return
}

// -----

func.func @multiply_f16() {
  %a = stablehlo.constant dense<[1.5, -0.25, 60000.0]> : tensor<3xf16>
  %b = stablehlo.constant dense<[1.5, -0.25, 60000.0]> : tensor<3xf16>
  %r = stablehlo.multiply %a, %b : tensor<3xf16>
  check.expect_eq_const %r, dense<[2.25, 0.0625, 0x7C00]> : tensor<3xf16>
  func.return
}

// -----

func.func @clamp_f32() {
  %a = stablehlo.constant dense<[-1.0, 0.5, 7.0]> : tensor<3xf32>
  %lo = stablehlo.constant dense<-0.5> : tensor<f32>
  %hi = stablehlo.constant dense<2.0> : tensor<f32>
  %r = stablehlo.clamp %lo, %a, %hi : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[-0.5, 0.5, 2.0]> : tensor<3xf32>
  func.return
}

// -----

func.func @select_f32() {
  %a = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %b = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c = stablehlo.constant dense<[-1.0, -2.0, -3.0]> : tensor<3xf32>
  %r = stablehlo.select %a, %b, %c : tensor<3xi1>, tensor<3xf32>
  check.expect_eq_const %r, dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
  func.return
}
