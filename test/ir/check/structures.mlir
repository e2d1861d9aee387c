// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// run: lazuli run --device loop %s
// check: weak_order_generic:
// reductions, products, windows, order, control flow, normalisation; numbers by NumPy

func.func @reduce() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %r, dense<[6, 15]> : tensor<2xi32>
  func.return
}

// -----

func.func @reduce_two() {
  %a = stablehlo.constant dense<[3.0, -1.0, 7.0, 2.0]> : tensor<4xf32>
  %b = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %k = stablehlo.constant dense<-1> : tensor<i32>
  %r:2 = stablehlo.reduce(%a init: %z), (%b init: %k) across dimensions = [0] : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    reducer(%v: tensor<f32>, %x: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare GE, %v, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.select %0, %v, %x : tensor<i1>, tensor<f32>
      %2 = stablehlo.select %0, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }
  check.expect_eq_const %r#0, dense<7.0> : tensor<f32>
  check.expect_eq_const %r#1, dense<2> : tensor<i32>
  func.return
}

// -----

func.func @dot_general() {
  %a = stablehlo.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]]> : tensor<2x2x3xf32>
  %b = stablehlo.constant dense<[[[-5.0, -4.0], [-3.0, -2.0], [-1.0, 0.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]> : tensor<2x3x2xf32>
  %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2xf32>
  check.expect_eq_const %r, dense<[[[-14.0, -8.0], [-41.0, -26.0]], [[76.0, 100.0], [103.0, 136.0]]]> : tensor<2x2x2xf32>
  func.return
}

// -----

func.func @dot_general_wide() {
  %a = stablehlo.constant dense<[[100, -100], [3, 4]]> : tensor<2x2xi8>
  %b = stablehlo.constant dense<[[100, -100], [3, 4]]> : tensor<2x2xi8>
  %r = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
    algorithm = #stablehlo.dot_algorithm<lhs_precision_type = i8, rhs_precision_type = i8, accumulation_type = i32, lhs_component_count = 1,
    rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi32>
  check.expect_eq_const %r, dense<[[9700, -10400], [312, -284]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @convolution() {
  %a = stablehlo.constant dense<[[[[1], [2], [3], [4]], [[5], [6], [7], [8]], [[9], [10], [11], [12]], [[13], [14], [15], [16]]]]> : tensor<1x4x4x1xi64>
  %b = stablehlo.constant dense<[[[[1]], [[-1]]], [[[2]], [[3]]]]> : tensor<2x2x1x1xi64>
  %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [4, 4], pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [3, 3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
  : (tensor<1x4x4x1xi64>, tensor<2x2x1x1xi64>) -> tensor<1x2x2x1xi64>
  check.expect_eq_const %r, dense<[[[[18], [24]], [[42], [48]]]]> : tensor<1x2x2x1xi64>
  func.return
}

// -----

func.func @reduce_window() {
  %a = stablehlo.constant dense<[[3, 1, 4, 1], [5, 9, 2, 6]]> : tensor<2x4xi32>
  %z = stablehlo.constant dense<-2147483648> : tensor<i32>
  %r = "stablehlo.reduce_window"(%a, %z) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %0 = stablehlo.maximum %x, %y : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>} : (tensor<2x4xi32>, tensor<i32>) -> tensor<1x3xi32>
  check.expect_eq_const %r, dense<[[5, 9, 6]]> : tensor<1x3xi32>
  func.return
}

// -----

func.func @select_and_scatter() {
  %a = stablehlo.constant dense<[[1, 5], [2, 5], [3, 6], [4, 4]]> : tensor<4x2xi64>
  %b = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  %z = stablehlo.constant dense<1> : tensor<i64>
  %r = "stablehlo.select_and_scatter"(%a, %b, %z) ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %0 = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
  }, {
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %0 = stablehlo.add %x, %y : tensor<i64>
      stablehlo.return %0 : tensor<i64>
  }) {window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>} : (tensor<4x2xi64>, tensor<2x2xi64>, tensor<i64>) -> tensor<4x2xi64>
  check.expect_eq_const %r, dense<[[1, 1], [1, 1], [6, 15], [8, 1]]> : tensor<4x2xi64>
  func.return
}

// -----

func.func @sort() {
  %a = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xi32>
  %b = stablehlo.constant dense<[0.5, 1.5, 2.5, 3.5]> : tensor<4xf32>
  %r:2 = "stablehlo.sort"(%a, %b) ({
    ^bb0(%p: tensor<i32>, %q: tensor<i32>, %s: tensor<f32>, %t: tensor<f32>):
      %0 = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
  check.expect_eq_const %r#0, dense<[1, 1, 2, 3]> : tensor<4xi32>
  check.expect_eq_const %r#1, dense<[1.5, 3.5, 2.5, 0.5]> : tensor<4xf32>
  func.return
}

// -----

func.func @top_k() {
  %a = stablehlo.constant dense<[3.0, 9.0, -1.0, 4.0]> : tensor<4xf32>
  %r:2 = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %r#0, dense<[9.0, 4.0]> : tensor<2xf32>
  check.expect_eq_const %r#1, dense<[1, 3]> : tensor<2xi32>
  func.return
}

// -----

func.func @while() {
  %a = stablehlo.constant dense<0> : tensor<i64>
  %b = stablehlo.constant dense<1> : tensor<i64>
  %n = stablehlo.constant dense<6> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %r:2 = stablehlo.while(%k = %a, %p = %b) : tensor<i64>, tensor<i64>
  cond {
    %0 = stablehlo.compare LT, %k, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %0 = stablehlo.multiply %p, %two : tensor<i64>
    %1 = stablehlo.add %k, %one : tensor<i64>
    stablehlo.return %1, %0 : tensor<i64>, tensor<i64>
  }
  check.expect_eq_const %r#0, dense<6> : tensor<i64>
  check.expect_eq_const %r#1, dense<64> : tensor<i64>
  func.return
}

// -----

func.func @if() {
  %a = stablehlo.constant dense<false> : tensor<i1>
  %b = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = "stablehlo.if"(%a) ({
    "stablehlo.return"(%b) : (tensor<2xf32>) -> ()
  }, {
    %0 = stablehlo.negate %b : tensor<2xf32>
    stablehlo.return %0 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  check.expect_eq_const %r, dense<[-1.0, -2.0]> : tensor<2xf32>
  func.return
}

// -----

func.func @case() {
  %a = stablehlo.constant dense<-1> : tensor<i32>
  %b = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = "stablehlo.case"(%a) ({
    stablehlo.return %b : tensor<2xf32>
  }, {
    %0 = stablehlo.negate %b : tensor<2xf32>
    stablehlo.return %0 : tensor<2xf32>
  }, {
    %0 = stablehlo.add %b, %b : tensor<2xf32>
    stablehlo.return %0 : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  check.expect_eq_const %r, dense<[2.0, 4.0]> : tensor<2xf32>
  func.return
}

// -----

func.func @map() {
  %a = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = stablehlo.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
  %r = "stablehlo.map"(%a, %b) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %0 = stablehlo.multiply %x, %y : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[4.0, 10.0, 18.0]> : tensor<3xf32>
  func.return
}

// -----

func.func @optimization_barrier() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[3]> : tensor<1xi32>
  %r:2 = stablehlo.optimization_barrier %a, %b : tensor<2xf32>, tensor<1xi32>
  check.expect_eq_const %r#0, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %r#1, dense<[3]> : tensor<1xi32>
  func.return
}

// -----

func.func @batch_norm_training() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 5.0], [8.0, -1.0]]> : tensor<3x2xf32>
  %b = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = stablehlo.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %r:3 = "stablehlo.batch_norm_training"(%a, %b, %c) {epsilon = 0.25 : f32, feature_index = 1 : i64} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_almost_eq_const %r#0, dense<[[-0.5046619, -1.0], [0.16511267, 1.4000001], [1.8395493, -3.4]]> : tensor<3x2xf32>
  check.expect_almost_eq_const %r#1, dense<[4.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const %r#2, dense<[8.666667, 6.0]> : tensor<2xf32>
  func.return
}

// -----

func.func @batch_norm_inference() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 5.0], [8.0, -1.0]]> : tensor<3x2xf32>
  %b = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = stablehlo.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %d = stablehlo.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %e = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %r = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) {epsilon = 0.25 : f32, feature_index = 1 : i64} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  check.expect_almost_eq_const %r, dense<[[0.5, 0.9402851], [1.8333334, 3.8507128], [5.1666665, -1.9701426]]> : tensor<3x2xf32>
  func.return
}

// -----

func.func @EQ_compare_WEAKORDER_f64() {
  %a = stablehlo.constant dense<[0x7FF8000000000000, 0x7FF8000000000000, 0xFFF0000000000000, -0.0, 1.0, 0x7FF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000]> : tensor<8xf64>
  %b = stablehlo.constant dense<[0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000000, 0.0, 2.0, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<8xf64>
  %r = stablehlo.compare EQ, %a, %b, WEAKORDER : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>
  check.expect_eq_const %r, dense<[true, true, false, true, false, true, false, false]> : tensor<8xi1>
  func.return
}

// -----

func.func @NE_compare_WEAKORDER_f64() {
  %a = stablehlo.constant dense<[0x7FF8000000000000, 0x7FF8000000000000, 0xFFF0000000000000, -0.0, 1.0, 0x7FF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000]> : tensor<8xf64>
  %b = stablehlo.constant dense<[0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000000, 0.0, 2.0, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<8xf64>
  %r = stablehlo.compare NE, %a, %b, WEAKORDER : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>
  check.expect_eq_const %r, dense<[false, false, true, false, true, false, true, true]> : tensor<8xi1>
  func.return
}

// -----

func.func @GE_compare_WEAKORDER_f64() {
  %a = stablehlo.constant dense<[0x7FF8000000000000, 0x7FF8000000000000, 0xFFF0000000000000, -0.0, 1.0, 0x7FF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000]> : tensor<8xf64>
  %b = stablehlo.constant dense<[0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000000, 0.0, 2.0, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<8xf64>
  %r = stablehlo.compare GE, %a, %b, WEAKORDER : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>
  check.expect_eq_const %r, dense<[true, true, false, true, false, true, false, true]> : tensor<8xi1>
  func.return
}

// -----

func.func @GT_compare_WEAKORDER_f64() {
  %a = stablehlo.constant dense<[0x7FF8000000000000, 0x7FF8000000000000, 0xFFF0000000000000, -0.0, 1.0, 0x7FF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000]> : tensor<8xf64>
  %b = stablehlo.constant dense<[0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000000, 0.0, 2.0, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<8xf64>
  %r = stablehlo.compare GT, %a, %b, WEAKORDER : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>
  check.expect_eq_const %r, dense<[false, false, false, false, false, false, false, true]> : tensor<8xi1>
  func.return
}

// -----

func.func @LE_compare_WEAKORDER_f64() {
  %a = stablehlo.constant dense<[0x7FF8000000000000, 0x7FF8000000000000, 0xFFF0000000000000, -0.0, 1.0, 0x7FF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000]> : tensor<8xf64>
  %b = stablehlo.constant dense<[0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000000, 0.0, 2.0, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<8xf64>
  %r = stablehlo.compare LE, %a, %b, WEAKORDER : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>
  check.expect_eq_const %r, dense<[true, true, true, true, true, true, true, false]> : tensor<8xi1>
  func.return
}

// -----

func.func @LT_compare_WEAKORDER_f64() {
  %a = stablehlo.constant dense<[0x7FF8000000000000, 0x7FF8000000000000, 0xFFF0000000000000, -0.0, 1.0, 0x7FF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000]> : tensor<8xf64>
  %b = stablehlo.constant dense<[0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000000, 0.0, 2.0, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<8xf64>
  %r = stablehlo.compare LT, %a, %b, WEAKORDER : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>
  check.expect_eq_const %r, dense<[false, false, true, false, true, false, true, false]> : tensor<8xi1>
  func.return
}

// -----

func.func @weak_order_generic() {
  %a = stablehlo.constant dense<[0x7FF8000000000000, 0x7FF8000000000000, 0xFFF0000000000000, -0.0, 1.0, 0x7FF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000]> : tensor<8xf64>
  %b = stablehlo.constant dense<[0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000000, 0.0, 2.0, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<8xf64>
  %r = "stablehlo.compare"(%a, %b) {compare_type = #stablehlo<comparison_type WEAKORDER>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>
  check.expect_eq_const %r, dense<[false, false, true, false, true, false, true, false]> : tensor<8xi1>
  func.return
}
