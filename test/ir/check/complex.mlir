// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// run: lazuli run --device loop %s
// check: irfft:
// complex numbers and Fourier transforms; numbers by NumPy in double

func.func @add_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %b = stablehlo.constant dense<[(2.0, -1.0), (0.0, 1.0), (-1.0, 3.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.add %a, %b : tensor<3xcomplex<f32>>
  check.expect_eq_const %r, dense<[(3.0, 1.0), (-3.5, 1.0), (-0.75, 2.0)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @multiply_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %b = stablehlo.constant dense<[(2.0, -1.0), (0.0, 1.0), (-1.0, 3.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.multiply %a, %b : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(4.0, 3.0), (-0.0, -3.5), (2.75, 1.75)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @divide_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %b = stablehlo.constant dense<[(2.0, -1.0), (0.0, 1.0), (-1.0, 3.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.divide %a, %b : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(0.0, 1.0), (0.0, 3.5), (-0.325, 0.025)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @exponential_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.exponential %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(-1.1312044, 2.4717267), (0.030197384, 0.0), (0.6937619, -1.0804701)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @log_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.log %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(0.804719, 1.1071488), (1.2527629, 3.1415927), (0.03031231, -1.3258177)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @sqrt_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.sqrt %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(1.2720196, 0.78615135), (0.0, 1.8708287), (0.8002426, -0.6248105)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @tanh_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.tanh %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(1.1667362, -0.2434582), (-0.9981779, 0.0), (0.7324112, -1.2780381)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @sine_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.sine %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(3.1657784, 1.959601), (0.35078323, -0.0), (0.38176426, -1.138667)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @cosine_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.cosine %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(2.032723, -3.0518978), (-0.9364567, -0.0), (1.49511, 0.29074943)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @rsqrt_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.rsqrt %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(0.56886446, -0.35157758), (0.0, -0.5345225), (0.77634937, 0.6061553)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @logistic_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.logistic %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(1.0214154, 0.40343872), (0.02931223, 0.0), (0.58036196, -0.2676919)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @log_plus_one_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.log_plus_one %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(1.0397208, 0.7853982), (0.91629076, 3.1415927), (0.47049168, -0.67474097)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @exponential_minus_one_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.exponential_minus_one %a : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %r, dense<[(-2.1312044, 2.4717267), (-0.9698026, 0.0), (-0.3062381, -1.0804701)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @abs_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.abs %a : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %want0 = stablehlo.constant dense<[2.236068, 3.5, 1.0307764]> : tensor<3xf32>
  check.expect_close %r, %want0 : tensor<3xf32>, tensor<3xf32>
  func.return
}

// -----

func.func @real_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.real %a : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[1.0, -3.5, 0.25]> : tensor<3xf32>
  func.return
}

// -----

func.func @imag_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.imag %a : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[2.0, 0.0, -1.0]> : tensor<3xf32>
  func.return
}

// -----

func.func @negate_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.negate %a : tensor<3xcomplex<f32>>
  check.expect_eq_const %r, dense<[(-1.0, -2.0), (3.5, -0.0), (-0.25, 1.0)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @complex() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[-3.0, 4.0]> : tensor<2xf32>
  %r = stablehlo.complex %a, %b : tensor<2xcomplex<f32>>
  check.expect_eq_const %r, dense<[(1.0, -3.0), (2.0, 4.0)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @EQ_compare_FLOAT_complex_f32() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (-3.5, 0.0), (0.25, -1.0)]> : tensor<3xcomplex<f32>>
  %b = stablehlo.constant dense<[(1.0, 2.0), (0.0, 3.0), (0.25, 1.0)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>
  check.expect_eq_const %r, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

func.func @fft_of_five() {
  %a = stablehlo.constant dense<[[(0.0, 4.0), (0.0, -3.0), (3.0, -4.0), (5.0, -2.0), (-5.0, -1.0)], [(-4.0, 3.0), (4.0, -1.0), (5.0, -4.0), (-3.0, -2.0), (-2.0, 1.0)]]> : tensor<2x5xcomplex<f64>>
  %r = stablehlo.fft %a, type = FFT, length = [5] : tensor<2x5xcomplex<f64>>
  check.expect_almost_eq_const %r, dense<[[(3.0, -6.0), (-11.09490446404957, 4.038321911859073), (7.243763454879677, 0.5409267171974319), (5.790678398868956, 10.223005305302777), (-4.939537389699063, 11.197746065640716)], [(0.0, -3.0), (-8.077683537175254, -2.5545191498610205), (-4.273457471994639, 5.227638650356704), (-5.726542528005361, -2.9358425828560737), (-1.9223164628247469, 18.262723082360388)]]> : tensor<2x5xcomplex<f64>>
  func.return
}

// -----

func.func @ifft_2d() {
  %a = stablehlo.constant dense<[[(0.0, 4.0), (0.0, -3.0), (3.0, -4.0), (5.0, -2.0), (-5.0, -1.0)], [(-4.0, 3.0), (4.0, -1.0), (5.0, -4.0), (-3.0, -2.0), (-2.0, 1.0)]]> : tensor<2x5xcomplex<f64>>
  %r = stablehlo.fft %a, type = IFFT, length = [2, 5] : tensor<2x5xcomplex<f64>>
  check.expect_almost_eq_const %r, dense<[[(0.30000000000000004, -0.9000000000000001), (-0.6861853852523809, 2.9460469148001103), (0.00641358708635964, 0.7287162722446703), (0.29703059828850387, 0.5768565367554136), (-1.9172588001224824, 0.14838027619980532)], [(0.30000000000000004, -0.30000000000000004), (-0.3017220926874316, -0.7064977016719671), (1.1517220926874319, 1.315884788815885), (1.1517220926874319, -0.4686711933159272), (-0.30172209268743166, 0.6592841061720094)]]> : tensor<2x5xcomplex<f64>>
  func.return
}

// -----

func.func @fft_f64() {
  %a = stablehlo.constant dense<[1.0, 2.0, 3.0, -4.0, 0.5, 7.0]> : tensor<6xf64>
  %r = stablehlo.fft %a, type = RFFT, length = [6] : (tensor<6xf64>) -> tensor<4xcomplex<f64>>
  check.expect_almost_eq_const %r, dense<[(9.5, 0.0), (7.75, 2.1650635094610964), (-9.25, 6.495190528383289), (-0.5, 0.0)]> : tensor<4xcomplex<f64>>
  func.return
}

// -----

func.func @irfft() {
  %a = stablehlo.constant dense<[(9.5, 0.0), (7.75, 2.1650635094610964), (-9.25, 6.495190528383289), (-0.5, 0.0)]> : tensor<4xcomplex<f64>>
  %r = stablehlo.fft %a, type = IRFFT, length = [6] : (tensor<4xcomplex<f64>>) -> tensor<6xf64>
  check.expect_almost_eq_const %r, dense<[1.0, 2.0, 3.0, -4.0, 0.5000000000000001, 7.0]> : tensor<6xf64>
  func.return
}
