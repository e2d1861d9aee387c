// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: rows: 1 check
// check: batches: 1 check
// check: other_places: 1 check
// check: sums: 1 check
// check: sums_of_batches: 1 check
// check: wider: 1 check
// check: no_rows: 1 check

// Rows 0 and 1 with the first matrix, none with the second, the last in no group; what is infinite or no number stays in its group.
func.func @rows() {
  %l = stablehlo.constant dense<[[3.0, -4.0, -3.0], [0x7F800000, -3.0, 3.0], [3.0, 1.0, -4.0], [-4.0, -2.0, -1.0], [1.0, 0.0, -2.0], [-3.0, 2.0, 2.0], [-4.0, -3.0, 0.0]]> : tensor<7x3xf32>
  %r = stablehlo.constant dense<[[[-1.0, 3.0], [0.0, -1.0], [-1.0, 1.0]], [[1.0, -3.0], [2.0, 0x7FC00000], [4.0, 3.0]], [[-2.0, -2.0], [1.0, 1.0], [2.0, 3.0]], [[-2.0, 4.0], [-4.0, -4.0], [0xFF800000, 4.0]]]> : tensor<4x3x2xf32>
  %s = stablehlo.constant dense<[2, 0, 3, 1]> : tensor<4xi32>
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGHEST>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<7x3xf32>, tensor<4x3x2xf32>, tensor<4xi32>) -> tensor<7x2xf32>
  check.expect_eq_const %0, dense<[[0.0, 10.0], [0xFF800000, 0x7F800000], [-13.0, -17.0], [4.0, 3.0], [-6.0, -8.0], [0xFF800000, -12.0], [0.0, 0.0]]> : tensor<7x2xf32>
  func.return
}

// -----

func.func @batches() {
  %l = stablehlo.constant dense<[[[-2.0, -3.0, -2.0], [-4.0, 4.0, 1.0], [1.0, -2.0, 0.0], [-3.0, 2.0, 0.0], [-4.0, -2.0, 2.0]], [[0.0, -1.0, -2.0], [-4.0, 1.0, 1.0], [0.0, 4.0, 4.0], [-3.0, 1.0, 1.0], [-2.0, -2.0, 0.0]]]> : tensor<2x5x3xf32>
  %r = stablehlo.constant dense<[[[[2.0, -2.0], [2.0, 1.0], [-3.0, -1.0]], [[3.0, 3.0], [1.0, -4.0], [2.0, -2.0]]], [[[3.0, 4.0], [-1.0, 4.0], [2.0, -2.0]], [[3.0, -1.0], [-4.0, 1.0], [3.0, 1.0]]], [[[-1.0, 4.0], [0.0, -1.0], [-3.0, -3.0]], [[2.0, 3.0], [-2.0, 1.0], [3.0, -3.0]]]]> : tensor<3x2x3x2xf32>
  %s = stablehlo.constant dense<[1, 2, 2]> : tensor<3xi64>
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<2x5x3xf32>, tensor<3x2x3x2xf32>, tensor<3xi64>) -> tensor<2x5x2xf32>
  check.expect_eq_const %0, dense<[[[-4.0, 3.0], [-14.0, -2.0], [5.0, -4.0], [3.0, -14.0], [-2.0, -20.0]], [[-5.0, 8.0], [-13.0, 6.0], [-4.0, 8.0], [-5.0, -11.0], [0.0, -8.0]]]> : tensor<2x5x2xf32>
  func.return
}

// -----

// Dimensions in other places; sizes beyond the rows.
func.func @other_places() {
  %l = stablehlo.constant dense<[[[-2.0, 0.0, 1.0, -1.0, -1.0], [-3.0, 1.0, 4.0, -3.0, 3.0]], [[-3.0, -4.0, 2.0, -3.0, 2.0], [-2.0, 1.0, 4.0, 4.0, 0.0]], [[-3.0, -2.0, 3.0, 1.0, -3.0], [3.0, 4.0, 4.0, 1.0, 4.0]]]> : tensor<3x2x5xf32>
  %r = stablehlo.constant dense<[[[1.0, 0.0, 4.0], [1.0, 3.0, -1.0], [3.0, 4.0, -4.0]], [[0.0, -1.0, -4.0], [-4.0, -2.0, -3.0], [2.0, -3.0, 1.0]]]> : tensor<2x3x3xf32>
  %s = stablehlo.constant dense<[2, 2, 9]> : tensor<3xi32>
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2], rhs_group_dimensions = [2]>}> : (tensor<3x2x5xf32>, tensor<2x3x3xf32>, tensor<3xi32>) -> tensor<2x5x2xf32>
  check.expect_eq_const %0, dense<[[[-14.0, 6.0], [-10.0, 12.0], [18.0, -14.0], [-5.0, 4.0], [6.0, -5.0]], [[4.0, 14.0], [14.0, 4.0], [28.0, -24.0], [16.0, -8.0], [-4.0, -8.0]]]> : tensor<2x5x2xf32>
  func.return
}

// -----

// Contracted elements in groups: a product for each.
func.func @sums() {
  %l = stablehlo.constant dense<[[3.0, 1.0, -3.0, -4.0, 0x7FC00000, -1.0], [0.0, 2.0, 3.0, 1.0, 4.0, 4.0]]> : tensor<2x6xf32>
  %r = stablehlo.constant dense<[[2.0, -4.0, -3.0], [1.0, -1.0, 0x7F800000], [2.0, 3.0, -4.0], [-2.0, 2.0, 1.0], [1.0, 2.0, 3.0], [-4.0, 2.0, 3.0]]> : tensor<6x3xf32>
  %s = stablehlo.constant dense<[3, 0, 2]> : tensor<3xi32>
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>}> : (tensor<2x6xf32>, tensor<6x3xf32>, tensor<3xi32>) -> tensor<3x2x3xf32>
  check.expect_eq_const %0, dense<[[[1.0, -22.0, 0x7F800000], [8.0, 7.0, 0x7F800000]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0x7FC00000, 0x7FC00000, 0x7FC00000], [2.0, 10.0, 13.0]]]> : tensor<3x2x3xf32>
  func.return
}

// -----

func.func @sums_of_batches() {
  %l = stablehlo.constant dense<[[[2.0, -4.0, 0.0], [-2.0, 0.0, 2.0], [-3.0, -4.0, 0.0], [1.0, -3.0, 4.0]], [[0.0, 4.0, 0.0], [2.0, 2.0, 0.0], [-1.0, 2.0, -4.0], [1.0, 0.0, -3.0]]]> : tensor<2x4x3xf32>
  %r = stablehlo.constant dense<[[[-3.0, -4.0], [2.0, 2.0], [-1.0, 4.0], [-1.0, -2.0]], [[4.0, -4.0], [-1.0, -4.0], [-1.0, 2.0], [-1.0, 0.0]]]> : tensor<2x4x2xf32>
  %s = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1]>}> : (tensor<2x4x3xf32>, tensor<2x4x2xf32>, tensor<2xi32>) -> tensor<2x2x3x2xf32>
  check.expect_eq_const %0, dense<[[[[-7.0, -24.0], [16.0, 0.0], [4.0, 4.0]], [[-1.0, -10.0], [12.0, -20.0], [4.0, -8.0]]], [[[-1.0, -2.0], [3.0, 6.0], [-4.0, -8.0]], [[-1.0, 0.0], [0.0, 0.0], [3.0, 0.0]]]]> : tensor<2x2x3x2xf32>
  func.return
}

// -----

// The result is wider than the operands.
func.func @wider() {
  %l = stablehlo.constant dense<[[-4, -87], [-81, -40], [9, -85]]> : tensor<3x2xi8>
  %r = stablehlo.constant dense<[[[83, 70], [12, 45]], [[48, -98], [88, -90]]]> : tensor<2x2x2xi8>
  %s = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<3x2xi8>, tensor<2x2x2xi8>, tensor<2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[-1376, -4195], [-7203, -7470], [-7048, 6768]]> : tensor<3x2xi32>
  func.return
}

// -----

func.func @no_rows() {
  %l = stablehlo.constant dense<> : tensor<0x3xf32>
  %r = stablehlo.constant dense<1.0> : tensor<2x3x4xf32>
  %s = stablehlo.constant dense<0> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<0x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<0x4xf32>
  check.expect_eq_const %0, dense<> : tensor<0x4xf32>
  func.return
}
