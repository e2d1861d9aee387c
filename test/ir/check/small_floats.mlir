// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: f8e4m3fn: 7 checks
// check: f4e2m1fn: 7 checks
// Arithmetic with floats of 8 bits and fewer: in f32, rounded once (facts of ml_dtypes, and of NumPy in f32).
func.func @f8e4m3fn() {
  %a32 = stablehlo.constant dense<[0.5, 1, 2, 4, 0.25, 1, 1, 2]> : tensor<8xf32>
  %b32 = stablehlo.constant dense<[1.5, 1.75, 3, 0.5, 0.5, 6, 1, 4]> : tensor<8xf32>
  %a = stablehlo.convert %a32 : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %b = stablehlo.convert %b32 : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %add = stablehlo.add %a, %b : tensor<8xf8E4M3FN>
  %add32 = stablehlo.convert %add : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  check.expect_eq_const %add32, dense<[2, 2.75, 5, 4.5, 0.75, 7, 2, 6]> : tensor<8xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<8xf8E4M3FN>
  %multiply32 = stablehlo.convert %multiply : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  check.expect_eq_const %multiply32, dense<[0.75, 1.75, 6, 2, 0.125, 6, 1, 8]> : tensor<8xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<8xf8E4M3FN>
  %maximum32 = stablehlo.convert %maximum : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  check.expect_eq_const %maximum32, dense<[1.5, 1.75, 3, 4, 0.5, 6, 1, 4]> : tensor<8xf32>
  %divide = stablehlo.divide %a, %b : tensor<8xf8E4M3FN>
  %divide32 = stablehlo.convert %divide : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  check.expect_eq_const %divide32, dense<[0.34375, 0.5625, 0.6875, 8, 0.5, 0.171875, 1, 0.5]> : tensor<8xf32>
  %less = stablehlo.compare LT, %a, %b : (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>) -> tensor<8xi1>
  check.expect_eq_const %less, dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %one32 = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.convert %one32 : (tensor<f32>) -> tensor<f8E4M3FN>
  %sum = stablehlo.reduce(%a init: %one) across dimensions = [0] : (tensor<8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
    reducer(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>) {
      %z = stablehlo.add %x, %y : tensor<f8E4M3FN>
      stablehlo.return %z : tensor<f8E4M3FN>
    }
  %sum32 = stablehlo.convert %sum : (tensor<f8E4M3FN>) -> tensor<f32>
  check.expect_eq_const %sum32, dense<13> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<8xf8E4M3FN>) -> tensor<2x4xf8E4M3FN>
  %n = stablehlo.reshape %b : (tensor<8xf8E4M3FN>) -> tensor<4x2xf8E4M3FN>
  %dot = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf8E4M3FN>, tensor<4x2xf8E4M3FN>) -> tensor<2x2xf8E4M3FN>
  %dot32 = stablehlo.convert %dot : (tensor<2x2xf8E4M3FN>) -> tensor<2x2xf32>
  check.expect_eq_const %dot32, dense<[[9, 30], [6, 15]]> : tensor<2x2xf32>
  func.return
}
func.func @f8e5m2() {
  %a32 = stablehlo.constant dense<[0.5, 1, 2, 4, 0.25, 1, 1, 2]> : tensor<8xf32>
  %b32 = stablehlo.constant dense<[1.5, 1.75, 3, 0.5, 0.5, 6, 1, 4]> : tensor<8xf32>
  %a = stablehlo.convert %a32 : (tensor<8xf32>) -> tensor<8xf8E5M2>
  %b = stablehlo.convert %b32 : (tensor<8xf32>) -> tensor<8xf8E5M2>
  %add = stablehlo.add %a, %b : tensor<8xf8E5M2>
  %add32 = stablehlo.convert %add : (tensor<8xf8E5M2>) -> tensor<8xf32>
  check.expect_eq_const %add32, dense<[2, 3, 5, 4, 0.75, 7, 2, 6]> : tensor<8xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<8xf8E5M2>
  %multiply32 = stablehlo.convert %multiply : (tensor<8xf8E5M2>) -> tensor<8xf32>
  check.expect_eq_const %multiply32, dense<[0.75, 1.75, 6, 2, 0.125, 6, 1, 8]> : tensor<8xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<8xf8E5M2>
  %maximum32 = stablehlo.convert %maximum : (tensor<8xf8E5M2>) -> tensor<8xf32>
  check.expect_eq_const %maximum32, dense<[1.5, 1.75, 3, 4, 0.5, 6, 1, 4]> : tensor<8xf32>
  %divide = stablehlo.divide %a, %b : tensor<8xf8E5M2>
  %divide32 = stablehlo.convert %divide : (tensor<8xf8E5M2>) -> tensor<8xf32>
  check.expect_eq_const %divide32, dense<[0.3125, 0.625, 0.625, 8, 0.5, 0.15625, 1, 0.5]> : tensor<8xf32>
  %less = stablehlo.compare LT, %a, %b : (tensor<8xf8E5M2>, tensor<8xf8E5M2>) -> tensor<8xi1>
  check.expect_eq_const %less, dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %one32 = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.convert %one32 : (tensor<f32>) -> tensor<f8E5M2>
  %sum = stablehlo.reduce(%a init: %one) across dimensions = [0] : (tensor<8xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
    reducer(%x: tensor<f8E5M2>, %y: tensor<f8E5M2>) {
      %z = stablehlo.add %x, %y : tensor<f8E5M2>
      stablehlo.return %z : tensor<f8E5M2>
    }
  %sum32 = stablehlo.convert %sum : (tensor<f8E5M2>) -> tensor<f32>
  check.expect_eq_const %sum32, dense<12> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<8xf8E5M2>) -> tensor<2x4xf8E5M2>
  %n = stablehlo.reshape %b : (tensor<8xf8E5M2>) -> tensor<4x2xf8E5M2>
  %dot = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf8E5M2>, tensor<4x2xf8E5M2>) -> tensor<2x2xf8E5M2>
  %dot32 = stablehlo.convert %dot : (tensor<2x2xf8E5M2>) -> tensor<2x2xf32>
  check.expect_eq_const %dot32, dense<[[8, 28], [6, 14]]> : tensor<2x2xf32>
  func.return
}
func.func @f8e4m3() {
  %a32 = stablehlo.constant dense<[0.5, 1, 2, 4, 0.25, 1, 1, 2]> : tensor<8xf32>
  %b32 = stablehlo.constant dense<[1.5, 1.75, 3, 0.5, 0.5, 6, 1, 4]> : tensor<8xf32>
  %a = stablehlo.convert %a32 : (tensor<8xf32>) -> tensor<8xf8E4M3>
  %b = stablehlo.convert %b32 : (tensor<8xf32>) -> tensor<8xf8E4M3>
  %add = stablehlo.add %a, %b : tensor<8xf8E4M3>
  %add32 = stablehlo.convert %add : (tensor<8xf8E4M3>) -> tensor<8xf32>
  check.expect_eq_const %add32, dense<[2, 2.75, 5, 4.5, 0.75, 7, 2, 6]> : tensor<8xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<8xf8E4M3>
  %multiply32 = stablehlo.convert %multiply : (tensor<8xf8E4M3>) -> tensor<8xf32>
  check.expect_eq_const %multiply32, dense<[0.75, 1.75, 6, 2, 0.125, 6, 1, 8]> : tensor<8xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<8xf8E4M3>
  %maximum32 = stablehlo.convert %maximum : (tensor<8xf8E4M3>) -> tensor<8xf32>
  check.expect_eq_const %maximum32, dense<[1.5, 1.75, 3, 4, 0.5, 6, 1, 4]> : tensor<8xf32>
  %divide = stablehlo.divide %a, %b : tensor<8xf8E4M3>
  %divide32 = stablehlo.convert %divide : (tensor<8xf8E4M3>) -> tensor<8xf32>
  check.expect_eq_const %divide32, dense<[0.34375, 0.5625, 0.6875, 8, 0.5, 0.171875, 1, 0.5]> : tensor<8xf32>
  %less = stablehlo.compare LT, %a, %b : (tensor<8xf8E4M3>, tensor<8xf8E4M3>) -> tensor<8xi1>
  check.expect_eq_const %less, dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %one32 = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.convert %one32 : (tensor<f32>) -> tensor<f8E4M3>
  %sum = stablehlo.reduce(%a init: %one) across dimensions = [0] : (tensor<8xf8E4M3>, tensor<f8E4M3>) -> tensor<f8E4M3>
    reducer(%x: tensor<f8E4M3>, %y: tensor<f8E4M3>) {
      %z = stablehlo.add %x, %y : tensor<f8E4M3>
      stablehlo.return %z : tensor<f8E4M3>
    }
  %sum32 = stablehlo.convert %sum : (tensor<f8E4M3>) -> tensor<f32>
  check.expect_eq_const %sum32, dense<13> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<8xf8E4M3>) -> tensor<2x4xf8E4M3>
  %n = stablehlo.reshape %b : (tensor<8xf8E4M3>) -> tensor<4x2xf8E4M3>
  %dot = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf8E4M3>, tensor<4x2xf8E4M3>) -> tensor<2x2xf8E4M3>
  %dot32 = stablehlo.convert %dot : (tensor<2x2xf8E4M3>) -> tensor<2x2xf32>
  check.expect_eq_const %dot32, dense<[[9, 30], [6, 15]]> : tensor<2x2xf32>
  func.return
}
func.func @f8e3m4() {
  %a32 = stablehlo.constant dense<[0.5, 1, 2, 4, 0.25, 1, 1, 2]> : tensor<8xf32>
  %b32 = stablehlo.constant dense<[1.5, 1.75, 3, 0.5, 0.5, 6, 1, 4]> : tensor<8xf32>
  %a = stablehlo.convert %a32 : (tensor<8xf32>) -> tensor<8xf8E3M4>
  %b = stablehlo.convert %b32 : (tensor<8xf32>) -> tensor<8xf8E3M4>
  %add = stablehlo.add %a, %b : tensor<8xf8E3M4>
  %add32 = stablehlo.convert %add : (tensor<8xf8E3M4>) -> tensor<8xf32>
  check.expect_eq_const %add32, dense<[2, 2.75, 5, 4.5, 0.75, 7, 2, 6]> : tensor<8xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<8xf8E3M4>
  %multiply32 = stablehlo.convert %multiply : (tensor<8xf8E3M4>) -> tensor<8xf32>
  check.expect_eq_const %multiply32, dense<[0.75, 1.75, 6, 2, 0.125, 6, 1, 8]> : tensor<8xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<8xf8E3M4>
  %maximum32 = stablehlo.convert %maximum : (tensor<8xf8E3M4>) -> tensor<8xf32>
  check.expect_eq_const %maximum32, dense<[1.5, 1.75, 3, 4, 0.5, 6, 1, 4]> : tensor<8xf32>
  %divide = stablehlo.divide %a, %b : tensor<8xf8E3M4>
  %divide32 = stablehlo.convert %divide : (tensor<8xf8E3M4>) -> tensor<8xf32>
  check.expect_eq_const %divide32, dense<[0.328125, 0.5625, 0.65625, 8, 0.5, 0.171875, 1, 0.5]> : tensor<8xf32>
  %less = stablehlo.compare LT, %a, %b : (tensor<8xf8E3M4>, tensor<8xf8E3M4>) -> tensor<8xi1>
  check.expect_eq_const %less, dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %one32 = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.convert %one32 : (tensor<f32>) -> tensor<f8E3M4>
  %sum = stablehlo.reduce(%a init: %one) across dimensions = [0] : (tensor<8xf8E3M4>, tensor<f8E3M4>) -> tensor<f8E3M4>
    reducer(%x: tensor<f8E3M4>, %y: tensor<f8E3M4>) {
      %z = stablehlo.add %x, %y : tensor<f8E3M4>
      stablehlo.return %z : tensor<f8E3M4>
    }
  %sum32 = stablehlo.convert %sum : (tensor<f8E3M4>) -> tensor<f32>
  check.expect_eq_const %sum32, dense<13> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<8xf8E3M4>) -> tensor<2x4xf8E3M4>
  %n = stablehlo.reshape %b : (tensor<8xf8E3M4>) -> tensor<4x2xf8E3M4>
  %dot = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf8E3M4>, tensor<4x2xf8E3M4>) -> tensor<2x2xf8E3M4>
  %dot32 = stablehlo.convert %dot : (tensor<2x2xf8E3M4>) -> tensor<2x2xf32>
  check.expect_eq_const %dot32, dense<[[9, 0x7F800000], [6, 15]]> : tensor<2x2xf32>
  func.return
}
func.func @f8e4m3fnuz() {
  %a32 = stablehlo.constant dense<[0.5, 1, 2, 4, 0.25, 1, 1, 2]> : tensor<8xf32>
  %b32 = stablehlo.constant dense<[1.5, 1.75, 3, 0.5, 0.5, 6, 1, 4]> : tensor<8xf32>
  %a = stablehlo.convert %a32 : (tensor<8xf32>) -> tensor<8xf8E4M3FNUZ>
  %b = stablehlo.convert %b32 : (tensor<8xf32>) -> tensor<8xf8E4M3FNUZ>
  %add = stablehlo.add %a, %b : tensor<8xf8E4M3FNUZ>
  %add32 = stablehlo.convert %add : (tensor<8xf8E4M3FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %add32, dense<[2, 2.75, 5, 4.5, 0.75, 7, 2, 6]> : tensor<8xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<8xf8E4M3FNUZ>
  %multiply32 = stablehlo.convert %multiply : (tensor<8xf8E4M3FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %multiply32, dense<[0.75, 1.75, 6, 2, 0.125, 6, 1, 8]> : tensor<8xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<8xf8E4M3FNUZ>
  %maximum32 = stablehlo.convert %maximum : (tensor<8xf8E4M3FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %maximum32, dense<[1.5, 1.75, 3, 4, 0.5, 6, 1, 4]> : tensor<8xf32>
  %divide = stablehlo.divide %a, %b : tensor<8xf8E4M3FNUZ>
  %divide32 = stablehlo.convert %divide : (tensor<8xf8E4M3FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %divide32, dense<[0.34375, 0.5625, 0.6875, 8, 0.5, 0.171875, 1, 0.5]> : tensor<8xf32>
  %less = stablehlo.compare LT, %a, %b : (tensor<8xf8E4M3FNUZ>, tensor<8xf8E4M3FNUZ>) -> tensor<8xi1>
  check.expect_eq_const %less, dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %one32 = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.convert %one32 : (tensor<f32>) -> tensor<f8E4M3FNUZ>
  %sum = stablehlo.reduce(%a init: %one) across dimensions = [0] : (tensor<8xf8E4M3FNUZ>, tensor<f8E4M3FNUZ>) -> tensor<f8E4M3FNUZ>
    reducer(%x: tensor<f8E4M3FNUZ>, %y: tensor<f8E4M3FNUZ>) {
      %z = stablehlo.add %x, %y : tensor<f8E4M3FNUZ>
      stablehlo.return %z : tensor<f8E4M3FNUZ>
    }
  %sum32 = stablehlo.convert %sum : (tensor<f8E4M3FNUZ>) -> tensor<f32>
  check.expect_eq_const %sum32, dense<13> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<8xf8E4M3FNUZ>) -> tensor<2x4xf8E4M3FNUZ>
  %n = stablehlo.reshape %b : (tensor<8xf8E4M3FNUZ>) -> tensor<4x2xf8E4M3FNUZ>
  %dot = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf8E4M3FNUZ>, tensor<4x2xf8E4M3FNUZ>) -> tensor<2x2xf8E4M3FNUZ>
  %dot32 = stablehlo.convert %dot : (tensor<2x2xf8E4M3FNUZ>) -> tensor<2x2xf32>
  check.expect_eq_const %dot32, dense<[[9, 30], [6, 15]]> : tensor<2x2xf32>
  func.return
}
func.func @f8e5m2fnuz() {
  %a32 = stablehlo.constant dense<[0.5, 1, 2, 4, 0.25, 1, 1, 2]> : tensor<8xf32>
  %b32 = stablehlo.constant dense<[1.5, 1.75, 3, 0.5, 0.5, 6, 1, 4]> : tensor<8xf32>
  %a = stablehlo.convert %a32 : (tensor<8xf32>) -> tensor<8xf8E5M2FNUZ>
  %b = stablehlo.convert %b32 : (tensor<8xf32>) -> tensor<8xf8E5M2FNUZ>
  %add = stablehlo.add %a, %b : tensor<8xf8E5M2FNUZ>
  %add32 = stablehlo.convert %add : (tensor<8xf8E5M2FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %add32, dense<[2, 3, 5, 4, 0.75, 7, 2, 6]> : tensor<8xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<8xf8E5M2FNUZ>
  %multiply32 = stablehlo.convert %multiply : (tensor<8xf8E5M2FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %multiply32, dense<[0.75, 1.75, 6, 2, 0.125, 6, 1, 8]> : tensor<8xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<8xf8E5M2FNUZ>
  %maximum32 = stablehlo.convert %maximum : (tensor<8xf8E5M2FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %maximum32, dense<[1.5, 1.75, 3, 4, 0.5, 6, 1, 4]> : tensor<8xf32>
  %divide = stablehlo.divide %a, %b : tensor<8xf8E5M2FNUZ>
  %divide32 = stablehlo.convert %divide : (tensor<8xf8E5M2FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %divide32, dense<[0.3125, 0.625, 0.625, 8, 0.5, 0.15625, 1, 0.5]> : tensor<8xf32>
  %less = stablehlo.compare LT, %a, %b : (tensor<8xf8E5M2FNUZ>, tensor<8xf8E5M2FNUZ>) -> tensor<8xi1>
  check.expect_eq_const %less, dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %one32 = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.convert %one32 : (tensor<f32>) -> tensor<f8E5M2FNUZ>
  %sum = stablehlo.reduce(%a init: %one) across dimensions = [0] : (tensor<8xf8E5M2FNUZ>, tensor<f8E5M2FNUZ>) -> tensor<f8E5M2FNUZ>
    reducer(%x: tensor<f8E5M2FNUZ>, %y: tensor<f8E5M2FNUZ>) {
      %z = stablehlo.add %x, %y : tensor<f8E5M2FNUZ>
      stablehlo.return %z : tensor<f8E5M2FNUZ>
    }
  %sum32 = stablehlo.convert %sum : (tensor<f8E5M2FNUZ>) -> tensor<f32>
  check.expect_eq_const %sum32, dense<12> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<8xf8E5M2FNUZ>) -> tensor<2x4xf8E5M2FNUZ>
  %n = stablehlo.reshape %b : (tensor<8xf8E5M2FNUZ>) -> tensor<4x2xf8E5M2FNUZ>
  %dot = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf8E5M2FNUZ>, tensor<4x2xf8E5M2FNUZ>) -> tensor<2x2xf8E5M2FNUZ>
  %dot32 = stablehlo.convert %dot : (tensor<2x2xf8E5M2FNUZ>) -> tensor<2x2xf32>
  check.expect_eq_const %dot32, dense<[[8, 28], [6, 14]]> : tensor<2x2xf32>
  func.return
}
func.func @f8e4m3b11fnuz() {
  %a32 = stablehlo.constant dense<[0.5, 1, 2, 4, 0.25, 1, 1, 2]> : tensor<8xf32>
  %b32 = stablehlo.constant dense<[1.5, 1.75, 3, 0.5, 0.5, 6, 1, 4]> : tensor<8xf32>
  %a = stablehlo.convert %a32 : (tensor<8xf32>) -> tensor<8xf8E4M3B11FNUZ>
  %b = stablehlo.convert %b32 : (tensor<8xf32>) -> tensor<8xf8E4M3B11FNUZ>
  %add = stablehlo.add %a, %b : tensor<8xf8E4M3B11FNUZ>
  %add32 = stablehlo.convert %add : (tensor<8xf8E4M3B11FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %add32, dense<[2, 2.75, 5, 4.5, 0.75, 7, 2, 6]> : tensor<8xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<8xf8E4M3B11FNUZ>
  %multiply32 = stablehlo.convert %multiply : (tensor<8xf8E4M3B11FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %multiply32, dense<[0.75, 1.75, 6, 2, 0.125, 6, 1, 8]> : tensor<8xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<8xf8E4M3B11FNUZ>
  %maximum32 = stablehlo.convert %maximum : (tensor<8xf8E4M3B11FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %maximum32, dense<[1.5, 1.75, 3, 4, 0.5, 6, 1, 4]> : tensor<8xf32>
  %divide = stablehlo.divide %a, %b : tensor<8xf8E4M3B11FNUZ>
  %divide32 = stablehlo.convert %divide : (tensor<8xf8E4M3B11FNUZ>) -> tensor<8xf32>
  check.expect_eq_const %divide32, dense<[0.34375, 0.5625, 0.6875, 8, 0.5, 0.171875, 1, 0.5]> : tensor<8xf32>
  %less = stablehlo.compare LT, %a, %b : (tensor<8xf8E4M3B11FNUZ>, tensor<8xf8E4M3B11FNUZ>) -> tensor<8xi1>
  check.expect_eq_const %less, dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %one32 = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.convert %one32 : (tensor<f32>) -> tensor<f8E4M3B11FNUZ>
  %sum = stablehlo.reduce(%a init: %one) across dimensions = [0] : (tensor<8xf8E4M3B11FNUZ>, tensor<f8E4M3B11FNUZ>) -> tensor<f8E4M3B11FNUZ>
    reducer(%x: tensor<f8E4M3B11FNUZ>, %y: tensor<f8E4M3B11FNUZ>) {
      %z = stablehlo.add %x, %y : tensor<f8E4M3B11FNUZ>
      stablehlo.return %z : tensor<f8E4M3B11FNUZ>
    }
  %sum32 = stablehlo.convert %sum : (tensor<f8E4M3B11FNUZ>) -> tensor<f32>
  check.expect_eq_const %sum32, dense<13> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<8xf8E4M3B11FNUZ>) -> tensor<2x4xf8E4M3B11FNUZ>
  %n = stablehlo.reshape %b : (tensor<8xf8E4M3B11FNUZ>) -> tensor<4x2xf8E4M3B11FNUZ>
  %dot = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf8E4M3B11FNUZ>, tensor<4x2xf8E4M3B11FNUZ>) -> tensor<2x2xf8E4M3B11FNUZ>
  %dot32 = stablehlo.convert %dot : (tensor<2x2xf8E4M3B11FNUZ>) -> tensor<2x2xf32>
  check.expect_eq_const %dot32, dense<[[9, 30], [6, 15]]> : tensor<2x2xf32>
  func.return
}
func.func @f8e8m0fnu() {
  %a32 = stablehlo.constant dense<[0.5, 1, 2, 4, 0.25, 1, 1, 2]> : tensor<8xf32>
  %b32 = stablehlo.constant dense<[1.5, 1.75, 3, 0.5, 0.5, 6, 1, 4]> : tensor<8xf32>
  %a = stablehlo.convert %a32 : (tensor<8xf32>) -> tensor<8xf8E8M0FNU>
  %b = stablehlo.convert %b32 : (tensor<8xf32>) -> tensor<8xf8E8M0FNU>
  %add = stablehlo.add %a, %b : tensor<8xf8E8M0FNU>
  %add32 = stablehlo.convert %add : (tensor<8xf8E8M0FNU>) -> tensor<8xf32>
  check.expect_eq_const %add32, dense<[2, 4, 8, 4, 1, 8, 2, 8]> : tensor<8xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<8xf8E8M0FNU>
  %multiply32 = stablehlo.convert %multiply : (tensor<8xf8E8M0FNU>) -> tensor<8xf32>
  check.expect_eq_const %multiply32, dense<[1, 2, 8, 2, 0.125, 8, 1, 8]> : tensor<8xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<8xf8E8M0FNU>
  %maximum32 = stablehlo.convert %maximum : (tensor<8xf8E8M0FNU>) -> tensor<8xf32>
  check.expect_eq_const %maximum32, dense<[2, 2, 4, 4, 0.5, 8, 1, 4]> : tensor<8xf32>
  %divide = stablehlo.divide %a, %b : tensor<8xf8E8M0FNU>
  %divide32 = stablehlo.convert %divide : (tensor<8xf8E8M0FNU>) -> tensor<8xf32>
  check.expect_eq_const %divide32, dense<[0.25, 0.5, 0.5, 8, 0.5, 0.125, 1, 0.5]> : tensor<8xf32>
  %less = stablehlo.compare LT, %a, %b : (tensor<8xf8E8M0FNU>, tensor<8xf8E8M0FNU>) -> tensor<8xi1>
  check.expect_eq_const %less, dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %one32 = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.convert %one32 : (tensor<f32>) -> tensor<f8E8M0FNU>
  %sum = stablehlo.reduce(%a init: %one) across dimensions = [0] : (tensor<8xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU>
    reducer(%x: tensor<f8E8M0FNU>, %y: tensor<f8E8M0FNU>) {
      %z = stablehlo.add %x, %y : tensor<f8E8M0FNU>
      stablehlo.return %z : tensor<f8E8M0FNU>
    }
  %sum32 = stablehlo.convert %sum : (tensor<f8E8M0FNU>) -> tensor<f32>
  check.expect_eq_const %sum32, dense<16> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<8xf8E8M0FNU>) -> tensor<2x4xf8E8M0FNU>
  %n = stablehlo.reshape %b : (tensor<8xf8E8M0FNU>) -> tensor<4x2xf8E8M0FNU>
  %dot = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf8E8M0FNU>, tensor<4x2xf8E8M0FNU>) -> tensor<2x2xf8E8M0FNU>
  %dot32 = stablehlo.convert %dot : (tensor<2x2xf8E8M0FNU>) -> tensor<2x2xf32>
  check.expect_eq_const %dot32, dense<[[8, 32], [8, 16]]> : tensor<2x2xf32>
  func.return
}
func.func @f4e2m1fn() {
  %a32 = stablehlo.constant dense<[0.5, 1, 2, 4, 0.25, 1, 1, 2]> : tensor<8xf32>
  %b32 = stablehlo.constant dense<[1.5, 1.75, 3, 0.5, 0.5, 6, 1, 4]> : tensor<8xf32>
  %a = stablehlo.convert %a32 : (tensor<8xf32>) -> tensor<8xf4E2M1FN>
  %b = stablehlo.convert %b32 : (tensor<8xf32>) -> tensor<8xf4E2M1FN>
  %add = stablehlo.add %a, %b : tensor<8xf4E2M1FN>
  %add32 = stablehlo.convert %add : (tensor<8xf4E2M1FN>) -> tensor<8xf32>
  check.expect_eq_const %add32, dense<[2, 3, 4, 4, 0.5, 6, 2, 6]> : tensor<8xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<8xf4E2M1FN>
  %multiply32 = stablehlo.convert %multiply : (tensor<8xf4E2M1FN>) -> tensor<8xf32>
  check.expect_eq_const %multiply32, dense<[1, 2, 6, 2, 0, 6, 1, 6]> : tensor<8xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<8xf4E2M1FN>
  %maximum32 = stablehlo.convert %maximum : (tensor<8xf4E2M1FN>) -> tensor<8xf32>
  check.expect_eq_const %maximum32, dense<[1.5, 2, 3, 4, 0.5, 6, 1, 4]> : tensor<8xf32>
  %divide = stablehlo.divide %a, %b : tensor<8xf4E2M1FN>
  %divide32 = stablehlo.convert %divide : (tensor<8xf4E2M1FN>) -> tensor<8xf32>
  check.expect_eq_const %divide32, dense<[0.5, 0.5, 0.5, 6, 0, 0, 1, 0.5]> : tensor<8xf32>
  %less = stablehlo.compare LT, %a, %b : (tensor<8xf4E2M1FN>, tensor<8xf4E2M1FN>) -> tensor<8xi1>
  check.expect_eq_const %less, dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %one32 = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.convert %one32 : (tensor<f32>) -> tensor<f4E2M1FN>
  %sum = stablehlo.reduce(%a init: %one) across dimensions = [0] : (tensor<8xf4E2M1FN>, tensor<f4E2M1FN>) -> tensor<f4E2M1FN>
    reducer(%x: tensor<f4E2M1FN>, %y: tensor<f4E2M1FN>) {
      %z = stablehlo.add %x, %y : tensor<f4E2M1FN>
      stablehlo.return %z : tensor<f4E2M1FN>
    }
  %sum32 = stablehlo.convert %sum : (tensor<f4E2M1FN>) -> tensor<f32>
  check.expect_eq_const %sum32, dense<6> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<8xf4E2M1FN>) -> tensor<2x4xf4E2M1FN>
  %n = stablehlo.reshape %b : (tensor<8xf4E2M1FN>) -> tensor<4x2xf4E2M1FN>
  %dot = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf4E2M1FN>, tensor<4x2xf4E2M1FN>) -> tensor<2x2xf4E2M1FN>
  %dot32 = stablehlo.convert %dot : (tensor<2x2xf4E2M1FN>) -> tensor<2x2xf32>
  check.expect_eq_const %dot32, dense<[[6, 6], [6, 6]]> : tensor<2x2xf32>
  func.return
}
