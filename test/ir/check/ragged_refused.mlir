// run: lazuli run --device ref %s
// error: ragged_dot: there are no dimension numbers
// error: 'no_dimensions' is no field
// error: do not fit the operands
// error: do not fit the operands
// error: only one list of integers as sizes
// error: only one list of integers as sizes
// error: 3 sizes for 2 groups
// error: 0 group dimensions, but 1 are needed
// error: groups of a batch dimension are not supported
// error: ragged_refused.mlir:81:8: ragged_dot: the dimension numbers do not fit the operands
// error: ragged_refused.mlir:88:8: ragged_dot: the dimension numbers do not fit the operands
// error: ragged_refused.mlir:95:8: ragged_dot: the dimension numbers do not fit the operands
// error: ragged_refused.mlir:102:8: ragged_dot: the dimension numbers do not fit the operands
// error: ragged_refused.mlir:109:8: ragged_dot: the dimension numbers do not fit the operands

func.func @bad(%l: tensor<8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{}> : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @bad(%l: tensor<8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<no_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @bad(%l: tensor<8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2], rhs_group_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @bad(%l: tensor<8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @bad(%l: tensor<8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<1x3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<1x3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @bad(%l: tensor<8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xf32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<3xf32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @bad(%l: tensor<8x4xf32>, %r: tensor<2x4x5xf32>, %s: tensor<3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<2x4x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @bad(%l: tensor<8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @bad(%l: tensor<3x8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<3x8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<3x8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<3x8x5xf32>
  return %0 : tensor<3x8x5xf32>
}

// -----

func.func @bad(%l: tensor<3x8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<3x3x8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0, 0, 0, 0, 0, 0, 0, 0], rhs_batching_dimensions = [0, 0, 0, 0, 0, 0, 0, 0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]>}> : (tensor<3x8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<3x3x8x5xf32>
  return %0 : tensor<3x3x8x5xf32>
}

// -----

func.func @bad(%l: tensor<3x8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<3x3x8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [2, 2, 2], rhs_contracting_dimensions = [1, 1, 1], lhs_ragged_dimensions = [2]>}> : (tensor<3x8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<3x3x8x5xf32>
  return %0 : tensor<3x3x8x5xf32>
}

// -----

func.func @bad(%l: tensor<3x8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<3x3x8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [2], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<3x8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<3x3x8x5xf32>
  return %0 : tensor<3x3x8x5xf32>
}

// -----

func.func @bad(%l: tensor<8x3xf32>, %r: tensor<3x3x5xf32>, %s: tensor<3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>}> : (tensor<8x3xf32>, tensor<3x3x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @bad(%l: tensor<3x8x4xf32>, %r: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<3x8x5xf32> {
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<3x8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<3x8x5xf32>
  return %0 : tensor<3x8x5xf32>
}
