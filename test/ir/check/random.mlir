// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: floats: 4 checks
// check: doubles: 2 checks
// check: integers: 4 checks
// check: calls: 2 checks
// check: nothing: 2 checks
// check: halves: 2 checks

// rng draws Philox4x32-10: the k-th draw of a program is that of the state [k, 0].
func.func @floats() {
  %low = stablehlo.constant dense<-2.0> : tensor<f32>
  %high = stablehlo.constant dense<6.0> : tensor<f32>
  %shape = stablehlo.constant dense<[3, 5]> : tensor<2xi64>
  %u = stablehlo.rng %low, %high, %shape, distribution =  UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x5xf32>
  %n = "stablehlo.rng"(%low, %high, %shape) {rng_distribution = #stablehlo<rng_distribution NORMAL>} : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x5xf32>

  %s0 = stablehlo.constant dense<[0, 0]> : tensor<2xui64>
  %b:2 = stablehlo.rng_bit_generator %s0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
  %eight = stablehlo.constant dense<8> : tensor<3x5xui32>
  %top = stablehlo.shift_right_logical %b#1, %eight : tensor<3x5xui32>
  %f = stablehlo.convert %top : (tensor<3x5xui32>) -> tensor<3x5xf32>
  %scale = stablehlo.constant dense<4.76837158203125E-7> : tensor<3x5xf32> // 8 2^-24
  %two = stablehlo.constant dense<2.0> : tensor<3x5xf32>
  %g = stablehlo.multiply %f, %scale : tensor<3x5xf32>
  %want = stablehlo.subtract %g, %two : tensor<3x5xf32>
  check.expect_close %u, %want, max_ulp_difference = 0 : tensor<3x5xf32>, tensor<3x5xf32>

  %s1 = stablehlo.constant dense<[1, 0]> : tensor<2xui64>
  %w:2 = stablehlo.rng_bit_generator %s1, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui64>)
  %by = stablehlo.constant dense<40> : tensor<3x5xui64>
  %half = stablehlo.constant dense<32> : tensor<3x5xui64>
  %unit = stablehlo.constant dense<5.9604644775390625E-8> : tensor<3x5xf32> // 2^-24
  %one = stablehlo.constant dense<1.0> : tensor<3x5xf32>
  %w1 = stablehlo.shift_right_logical %w#1, %by : tensor<3x5xui64>
  %w2 = stablehlo.shift_left %w#1, %half : tensor<3x5xui64>
  %w3 = stablehlo.shift_right_logical %w2, %by : tensor<3x5xui64>
  %f1 = stablehlo.convert %w1 : (tensor<3x5xui64>) -> tensor<3x5xf32>
  %f2 = stablehlo.convert %w3 : (tensor<3x5xui64>) -> tensor<3x5xf32>
  %u1 = stablehlo.multiply %f1, %unit : tensor<3x5xf32>
  %u2 = stablehlo.multiply %f2, %unit : tensor<3x5xf32>
  %u3 = stablehlo.subtract %one, %u1 : tensor<3x5xf32>
  %l = stablehlo.log %u3 : tensor<3x5xf32>
  %m2 = stablehlo.negate %two : tensor<3x5xf32>
  %r2 = stablehlo.multiply %l, %m2 : tensor<3x5xf32>
  %r = stablehlo.sqrt %r2 : tensor<3x5xf32>
  %turn = stablehlo.constant dense<6.28318548> : tensor<3x5xf32>
  %angle = stablehlo.multiply %u2, %turn : tensor<3x5xf32>
  %c = stablehlo.cosine %angle : tensor<3x5xf32>
  %z = stablehlo.multiply %r, %c : tensor<3x5xf32>
  %six = stablehlo.constant dense<6.0> : tensor<3x5xf32>
  %zz = stablehlo.multiply %z, %six : tensor<3x5xf32>
  %wanted = stablehlo.subtract %zz, %two : tensor<3x5xf32>
  check.expect_almost_eq %n, %wanted, tolerance = 1e-4 : tensor<3x5xf32>

  // rounding to the format does not reach the end of the interval
  %hl = stablehlo.constant dense<1.0> : tensor<bf16>
  %hh = stablehlo.constant dense<1.0156250> : tensor<bf16>
  %many = stablehlo.constant dense<999> : tensor<1xi32>
  %h = stablehlo.rng %hl, %hh, %many, distribution = UNIFORM : (tensor<bf16>, tensor<bf16>, tensor<1xi32>) -> tensor<999xbf16>
  %least = stablehlo.reduce(%h init: %hh) applies stablehlo.minimum across dimensions = [0] : (tensor<999xbf16>, tensor<bf16>) -> tensor<bf16>
  %most = stablehlo.reduce(%h init: %hl) applies stablehlo.maximum across dimensions = [0] : (tensor<999xbf16>, tensor<bf16>) -> tensor<bf16>
  check.expect_eq_const %least, dense<1.0> : tensor<bf16>
  check.expect_eq_const %most, dense<1.0078125> : tensor<bf16>
  func.return
}

// -----

// Of 20000 numbers: mean and variance within five standard errors.
func.func @doubles() {
  %mu = stablehlo.constant dense<3.0> : tensor<f64>
  %sigma = stablehlo.constant dense<0.5> : tensor<f64>
  %shape = stablehlo.constant dense<20000> : tensor<1xi64>
  %n = stablehlo.rng %mu, %sigma, %shape, distribution = NORMAL : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<20000xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %count = stablehlo.constant dense<20000.0> : tensor<f64>
  %sum = stablehlo.reduce(%n init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<20000xf64>, tensor<f64>) -> tensor<f64>
  %mean = stablehlo.divide %sum, %count : tensor<f64>
  check.expect_almost_eq %mean, %mu, tolerance = 0.0177 : tensor<f64>
  %all = stablehlo.broadcast_in_dim %mean, dims = [] : (tensor<f64>) -> tensor<20000xf64>
  %d = stablehlo.subtract %n, %all : tensor<20000xf64>
  %d2 = stablehlo.multiply %d, %d : tensor<20000xf64>
  %squares = stablehlo.reduce(%d2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<20000xf64>, tensor<f64>) -> tensor<f64>
  %var = stablehlo.divide %squares, %count : tensor<f64>
  %quarter = stablehlo.constant dense<0.25> : tensor<f64>
  check.expect_almost_eq %var, %quarter, tolerance = 0.0125 : tensor<f64>
  func.return
}

// -----

// a + bits mod (b - a), with all 64 bits of the difference
func.func @integers() {
  %low = stablehlo.constant dense<-3> : tensor<i8>
  %high = stablehlo.constant dense<4> : tensor<i8>
  %shape = stablehlo.constant dense<999> : tensor<1xi64>
  %n = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<i8>, tensor<i8>, tensor<1xi64>) -> tensor<999xi8>
  %least = stablehlo.reduce(%n init: %high) applies stablehlo.minimum across dimensions = [0] : (tensor<999xi8>, tensor<i8>) -> tensor<i8>
  %most = stablehlo.reduce(%n init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<999xi8>, tensor<i8>) -> tensor<i8>
  check.expect_eq_const %least, dense<-3> : tensor<i8>
  check.expect_eq_const %most, dense<3> : tensor<i8>

  %l = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
  %h = stablehlo.constant dense<9223372036854775807> : tensor<i64>
  %four = stablehlo.constant dense<4> : tensor<1xi64>
  %w = stablehlo.rng %l, %h, %four, distribution = UNIFORM : (tensor<i64>, tensor<i64>, tensor<1xi64>) -> tensor<4xi64>
  %s1 = stablehlo.constant dense<[1, 0]> : tensor<2xui64>
  %b:2 = stablehlo.rng_bit_generator %s1, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui64>)
  %i = stablehlo.bitcast_convert %b#1 : (tensor<4xui64>) -> tensor<4xi64>
  %ls = stablehlo.broadcast_in_dim %l, dims = [] : (tensor<i64>) -> tensor<4xi64>
  %want = stablehlo.add %i, %ls : tensor<4xi64>
  check.expect_eq %w, %want : tensor<4xi64>

  %ul = stablehlo.constant dense<18446744073709551614> : tensor<ui64>
  %uh = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %none = stablehlo.constant dense<> : tensor<0xi64>
  %u = stablehlo.rng %ul, %uh, %none, distribution = UNIFORM : (tensor<ui64>, tensor<ui64>, tensor<0xi64>) -> tensor<ui64>
  check.expect_eq_const %u, dense<18446744073709551614> : tensor<ui64>
  func.return
}

// -----

// Every call of a function draws again.
func.func private @draw(%shape: tensor<1xi64>) -> tensor<2xui32> {
  %low = stablehlo.constant dense<0> : tensor<ui32>
  %high = stablehlo.constant dense<4294967295> : tensor<ui32>
  %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<ui32>, tensor<ui32>, tensor<1xi64>) -> tensor<2xui32>
  return %0 : tensor<2xui32>
}
func.func private @outer(%shape: tensor<1xi64>) -> tensor<2xui32> {
  %0 = call @draw(%shape) : (tensor<1xi64>) -> tensor<2xui32>
  return %0 : tensor<2xui32>
}
func.func public @calls() {
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = call @outer(%shape) : (tensor<1xi64>) -> tensor<2xui32>
  %1 = call @draw(%shape) : (tensor<1xi64>) -> tensor<2xui32>
  %2 = call @outer(%shape) : (tensor<1xi64>) -> tensor<2xui32>
  %3 = stablehlo.compare NE, %0, %1 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
  %4 = stablehlo.compare NE, %0, %2 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
  check.expect_eq_const %3, dense<true> : tensor<2xi1>
  check.expect_eq_const %4, dense<true> : tensor<2xi1>
  func.return
}

// -----

func.func @nothing() {
  %a = stablehlo.constant dense<2.0> : tensor<f16>
  %shape = stablehlo.constant dense<[3, 0]> : tensor<2xi64>
  %0 = stablehlo.rng %a, %a, %shape, distribution = NORMAL : (tensor<f16>, tensor<f16>, tensor<2xi64>) -> tensor<3x0xf16>
  check.expect_eq_const %0, dense<> : tensor<3x0xf16>
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %1 = stablehlo.rng %a, %a, %two, distribution = UNIFORM : (tensor<f16>, tensor<f16>, tensor<1xi64>) -> tensor<2xf16>
  check.expect_eq_const %1, dense<2.0> : tensor<2xf16>
  func.return
}

// -----

// As many bits as the format has, so that all its numbers from 0 to 1 come as often as they should.
func.func @halves() {
  %shape = stablehlo.constant dense<999> : tensor<1xi64>
  %l0 = stablehlo.constant dense<0.0> : tensor<bf16>
  %h0 = stablehlo.constant dense<1.0> : tensor<bf16>
  %u0 = stablehlo.rng %l0, %h0, %shape, distribution = UNIFORM : (tensor<bf16>, tensor<bf16>, tensor<1xi64>) -> tensor<999xbf16>
  %s0 = stablehlo.constant dense<[0, 0]> : tensor<2xui64>
  %b0:2 = stablehlo.rng_bit_generator %s0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<999xui32>)
  %by0 = stablehlo.constant dense<24> : tensor<999xui32>
  %n0 = stablehlo.shift_right_logical %b0#1, %by0 : tensor<999xui32>
  %f0 = stablehlo.convert %n0 : (tensor<999xui32>) -> tensor<999xbf16>
  %one0 = stablehlo.constant dense<0.00390625> : tensor<999xbf16>
  %want0 = stablehlo.multiply %f0, %one0 : tensor<999xbf16>
  check.expect_eq %u0, %want0 : tensor<999xbf16>
  %l1 = stablehlo.constant dense<0.0> : tensor<f16>
  %h1 = stablehlo.constant dense<1.0> : tensor<f16>
  %u1 = stablehlo.rng %l1, %h1, %shape, distribution = UNIFORM : (tensor<f16>, tensor<f16>, tensor<1xi64>) -> tensor<999xf16>
  %s1 = stablehlo.constant dense<[1, 0]> : tensor<2xui64>
  %b1:2 = stablehlo.rng_bit_generator %s1, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<999xui32>)
  %by1 = stablehlo.constant dense<21> : tensor<999xui32>
  %n1 = stablehlo.shift_right_logical %b1#1, %by1 : tensor<999xui32>
  %f1 = stablehlo.convert %n1 : (tensor<999xui32>) -> tensor<999xf16>
  %one1 = stablehlo.constant dense<0.00048828125> : tensor<999xf16>
  %want1 = stablehlo.multiply %f1, %one1 : tensor<999xf16>
  check.expect_eq %u1, %want1 : tensor<999xf16>
  func.return
}
