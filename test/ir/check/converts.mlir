// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// run: lazuli run --device loop %s
// check: c64s_to_c128_bits:
// convert and bitcast_convert; numbers by NumPy

func.func @f32_to_i8() {
  %a = stablehlo.constant dense<[-1.9, 300.7, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
  %r = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi8>
  check.expect_eq_const %r, dense<[-1, 127, 0, 127]> : tensor<4xi8>
  func.return
}

// -----

func.func @f32_to_ui32() {
  %a = stablehlo.constant dense<[-1.9, 255.7, 0x7FC00000, 3.0e+10]> : tensor<4xf32>
  %r = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xui32>
  check.expect_eq_const %r, dense<[0, 255, 0, 4294967295]> : tensor<4xui32>
  func.return
}

// -----

func.func @f32_to_i1() {
  %a = stablehlo.constant dense<[-1.9, 0.0, 0x7FC00000]> : tensor<3xf32>
  %r = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %r, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @i64_to_f32() {
  %a = stablehlo.constant dense<[9007199254740993, -1, 4611686018427387905]> : tensor<3xi64>
  %r = stablehlo.convert %a : (tensor<3xi64>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[9.007199e+15, -1.0, 4.611686e+18]> : tensor<3xf32>
  func.return
}

// -----

func.func @i1_to_c128() {
  %a = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %r = stablehlo.convert %a : (tensor<2xi1>) -> tensor<2xcomplex<f64>>
  check.expect_eq_const %r, dense<[(1.0, 0.0), (0.0, 0.0)]> : tensor<2xcomplex<f64>>
  func.return
}

// -----

func.func @c128_to_i1() {
  %a = stablehlo.constant dense<[(-1.0, 0.0), (0.0, 1.0), (1.0, -2.0)]> : tensor<3xcomplex<f64>>
  %r = stablehlo.convert %a : (tensor<3xcomplex<f64>>) -> tensor<3xi1>
  check.expect_eq_const %r, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @c128_to_i64() {
  %a = stablehlo.constant dense<[(-1.5, 0.0), (0.0, 1.0), (3.0, -2.0)]> : tensor<3xcomplex<f64>>
  %r = stablehlo.convert %a : (tensor<3xcomplex<f64>>) -> tensor<3xi64>
  check.expect_eq_const %r, dense<[-1, 0, 3]> : tensor<3xi64>
  func.return
}

// -----

func.func @c128_to_f32() {
  %a = stablehlo.constant dense<[(-1.5, 0.0), (0.0, 1.0), (3.0, -2.0)]> : tensor<3xcomplex<f64>>
  %r = stablehlo.convert %a : (tensor<3xcomplex<f64>>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[-1.5, 0.0, 3.0]> : tensor<3xf32>
  func.return
}

// -----

func.func @c128_to_c64() {
  %a = stablehlo.constant dense<[(-1.5, 0.0), (0.0, 1.0), (3.0, -2.0)]> : tensor<3xcomplex<f64>>
  %r = stablehlo.convert %a : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f32>>
  check.expect_eq_const %r, dense<[(-1.5, 0.0), (0.0, 1.0), (3.0, -2.0)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @f64_to_f16() {
  %a = stablehlo.constant dense<[1.00048828125, 65520.0, 6.0e-08]> : tensor<3xf64>
  %r = stablehlo.convert %a : (tensor<3xf64>) -> tensor<3xf16>
  check.expect_eq_const %r, dense<[1.0, 0x7C00, 6.0e-08]> : tensor<3xf16>
  func.return
}

// -----

func.func @i32_to_ui8() {
  %a = stablehlo.constant dense<[-1, 300, -129]> : tensor<3xi32>
  %r = stablehlo.convert %a : (tensor<3xi32>) -> tensor<3xui8>
  check.expect_eq_const %r, dense<[255, 44, 127]> : tensor<3xui8>
  func.return
}

// -----

func.func @i64_to_ui16s() {
  %a = stablehlo.constant dense<81985529216486895> : tensor<i64>
  %r = stablehlo.bitcast_convert %a : (tensor<i64>) -> tensor<4xui16>
  check.expect_eq_const %r, dense<[52719, 35243, 17767, 291]> : tensor<4xui16>
  func.return
}

// -----

func.func @f32_to_i32_bits() {
  %a = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %r = stablehlo.bitcast_convert %a : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %r, dense<[1065353216, -1073741824]> : tensor<2xi32>
  func.return
}

// -----

func.func @ui8s_to_i32() {
  %a = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xui8>
  %r = stablehlo.bitcast_convert %a : (tensor<2x4xui8>) -> tensor<2xi32>
  check.expect_eq_const %r, dense<[67305985, 134678021]> : tensor<2xi32>
  func.return
}

// -----

func.func @c128_to_c64_bits() {
  %a = stablehlo.constant dense<(2.5, -1.0)> : tensor<complex<f64>>
  %r = stablehlo.bitcast_convert %a : (tensor<complex<f64>>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %r, dense<[(0.0, 2.0625), (0.0, -1.875)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @c64s_to_c128_bits() {
  %a = stablehlo.constant dense<[[(1.0, 2.0), (3.0, -4.0)]]> : tensor<1x2xcomplex<f32>>
  %r = stablehlo.bitcast_convert %a : (tensor<1x2xcomplex<f32>>) -> tensor<1xcomplex<f64>>
  check.expect_eq_const %r, dense<[(2.000000473111868, -512.0001225471497)]> : tensor<1xcomplex<f64>>
  func.return
}
