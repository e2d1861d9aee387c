// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: differences: 2 checks
// check: means: 2 checks
// check: running_product: 1 check
// check: counting: 2 checks
// check: nothing: 2 checks

func.func @differences() {
  %x = stablehlo.constant dense<[[1.0, 4.0, 9.0], [2.0, 0.0, -2.0]]> : tensor<2x3xf32>
  %before = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %0:2 = chlo.scan(%x) inits(%before) dimension=1 {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %d = stablehlo.subtract %a, %b : tensor<2xf32>
    stablehlo.return %d, %a : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  check.expect_eq_const %0#0, dense<[[0.5, 3.0, 5.0], [1.0, -2.0, -2.0]]> : tensor<2x3xf32>
  check.expect_eq_const %0#1, dense<[9.0, -2.0]> : tensor<2xf32>
  func.return
}

// -----

// Two inputs, two carried values, one output of another type.
func.func @means() {
  %x = stablehlo.constant dense<[2.0, 4.0, 9.0, 1.0]> : tensor<4xf32>
  %w = stablehlo.constant dense<[1, 3, 2, 2]> : tensor<4xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = "chlo.scan"(%x, %w, %zero, %none) <{dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %sum: tensor<f32>, %count: tensor<i32>):
    %c = stablehlo.convert %b : (tensor<i32>) -> tensor<f32>
    %m = stablehlo.multiply %a, %c : tensor<f32>
    %s = stablehlo.add %sum, %m : tensor<f32>
    %n = stablehlo.add %count, %b : tensor<i32>
    %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
    %mean = stablehlo.divide %s, %f : tensor<f32>
    stablehlo.return %mean, %s, %n : tensor<f32>, tensor<f32>, tensor<i32>
  }) : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<f32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[4.25, 4.5714288, 5.0, 1.0]> : tensor<4xf32>
  check.expect_eq_const %0#2, dense<8> : tensor<i32>
  func.return
}

// -----

// Nothing carried but the product, nothing given but the end.
func.func @running_product() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %one = stablehlo.constant dense<1> : tensor<2xi64>
  %0 = chlo.scan(%x) inits(%one) dimension=0 attributes {is_associative = true} {
  ^bb0(%a: tensor<2xi64>, %p: tensor<2xi64>):
    %m = stablehlo.multiply %a, %p : tensor<2xi64>
    stablehlo.return %m : tensor<2xi64>
  } : (tensor<3x2xi64>, tensor<2xi64>) -> tensor<2xi64>
  check.expect_eq_const %0, dense<[15, 48]> : tensor<2xi64>
  func.return
}

// -----

// Without inputs the outputs say how many rounds there are.
func.func @counting() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %step = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = chlo.scan() inits(%zero) dimension=0 {
  ^bb0(%c: tensor<i32>):
    %n = stablehlo.add %c, %step : tensor<i32>
    stablehlo.return %c, %n : tensor<i32>, tensor<i32>
  } : (tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[0, 3, 6, 9]> : tensor<4xi32>
  check.expect_eq_const %0#1, dense<12> : tensor<i32>
  func.return
}

// -----

func.func @nothing() {
  %x = stablehlo.constant dense<> : tensor<0x2xf32>
  %c = stablehlo.constant dense<[7.0, 8.0]> : tensor<2xf32>
  %0:2 = chlo.scan(%x) inits(%c) dimension=0 {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %s = stablehlo.add %a, %b : tensor<2xf32>
    stablehlo.return %s, %s : tensor<2xf32>, tensor<2xf32>
  } : (tensor<0x2xf32>, tensor<2xf32>) -> (tensor<0x2xf32>, tensor<2xf32>)
  check.expect_eq_const %0#0, dense<> : tensor<0x2xf32>
  check.expect_eq_const %0#1, dense<[7.0, 8.0]> : tensor<2xf32>
  func.return
}
