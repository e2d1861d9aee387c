// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// run: lazuli run --device loop %s
// check: scatter:
// data movement, gather and scatter; numbers by NumPy

func.func @broadcast_in_dim_i32() {
  %a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %r = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %r, dense<[[1, 2, 3], [1, 2, 3]]> : tensor<2x3xi32>
  func.return
}

// -----

func.func @broadcast_in_dim_f32() {
  %a = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %r = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %r, dense<[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]> : tensor<2x3xf32>
  func.return
}

// -----

func.func @reshape_i32() {
  %a = stablehlo.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi32>
  %r = stablehlo.reshape %a : (tensor<2x3x4xi32>) -> tensor<4x6xi32>
  check.expect_eq_const %r, dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xi32>
  func.return
}

// -----

func.func @transpose_i32() {
  %a = stablehlo.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi32>
  %r = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x3x4xi32>) -> tensor<4x2x3xi32>
  check.expect_eq_const %r, dense<[[[0, 4, 8], [12, 16, 20]], [[1, 5, 9], [13, 17, 21]], [[2, 6, 10], [14, 18, 22]], [[3, 7, 11], [15, 19, 23]]]> : tensor<4x2x3xi32>
  func.return
}

// -----

func.func @reverse_i32() {
  %a = stablehlo.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi32>
  %r = stablehlo.reverse %a, dims = [1, 2] : tensor<2x3x4xi32>
  check.expect_eq_const %r, dense<[[[11, 10, 9, 8], [7, 6, 5, 4], [3, 2, 1, 0]], [[23, 22, 21, 20], [19, 18, 17, 16], [15, 14, 13, 12]]]> : tensor<2x3x4xi32>
  func.return
}

// -----

func.func @slice() {
  %a = stablehlo.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi32>
  %r = stablehlo.slice %a [0:2, 1:3, 0:4:3] : (tensor<2x3x4xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %r, dense<[[[4, 7], [8, 11]], [[16, 19], [20, 23]]]> : tensor<2x2x2xi32>
  func.return
}

// -----

func.func @concatenate() {
  %a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %b = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %r = stablehlo.concatenate %a, %b, %a, dim = 0 : (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<9xi32>
  check.expect_eq_const %r, dense<[1, 2, 3, 1, 2, 3, 1, 2, 3]> : tensor<9xi32>
  func.return
}

// -----

func.func @pad() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %p = stablehlo.constant dense<9> : tensor<i32>
  %r = stablehlo.pad %a, %p, low = [1, -2], high = [0, 1], interior = [1, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<4x4xi32>
  check.expect_eq_const %r, dense<[[9, 9, 9, 9], [2, 9, 3, 9], [9, 9, 9, 9], [5, 9, 6, 9]]> : tensor<4x4xi32>
  func.return
}

// -----

func.func @iota() {
  %r = stablehlo.iota dim = 1 : tensor<2x3xf32>
  check.expect_eq_const %r, dense<[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]> : tensor<2x3xf32>
  func.return
}

// -----

func.func @iota_c64() {
  %r = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<3xcomplex<f32>>
  check.expect_eq_const %r, dense<[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @dynamic_slice() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<1> : tensor<i64>
  %j = stablehlo.constant dense<5> : tensor<i64>
  %r = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<1x2xi32>
  check.expect_eq_const %r, dense<[[5, 6]]> : tensor<1x2xi32>
  func.return
}

// -----

func.func @dynamic_update_slice() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = stablehlo.constant dense<[[7, 8]]> : tensor<1x2xi32>
  %i = stablehlo.constant dense<-1> : tensor<i64>
  %j = stablehlo.constant dense<0> : tensor<i64>
  %r = stablehlo.dynamic_update_slice %a, %b, %i, %j : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<i64>, tensor<i64>) -> tensor<2x3xi32>
  check.expect_eq_const %r, dense<[[7, 8, 3], [4, 5, 6]]> : tensor<2x3xi32>
  func.return
}

// -----

func.func @gather() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = stablehlo.constant dense<[1, 0, 9]> : tensor<3xi64>
  %r = "stablehlo.gather"(%a, %b) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 2>, indices_are_sorted = false
  } : (tensor<2x3xi32>, tensor<3xi64>) -> tensor<3x2xi32>
  check.expect_eq_const %r, dense<[[4, 5], [1, 2], [4, 5]]> : tensor<3x2xi32>
  func.return
}

// -----

func.func @gather_batching() {
  %a = stablehlo.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi32>
  %b = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi64>
  %r = "stablehlo.gather"(%a, %b) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
    slice_sizes = dense<[1, 1, 3]> : tensor<3xi64>
  } : (tensor<2x3x4xi32>, tensor<2x2xi64>) -> tensor<2x2x3xi32>
  check.expect_eq_const %r, dense<[[[8, 9, 10], [0, 1, 2]], [[16, 17, 18], [16, 17, 18]]]> : tensor<2x2x3xi32>
  func.return
}

// -----

func.func @scatter() {
  %a = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %b = stablehlo.constant dense<[[2], [0], [2], [7]]> : tensor<4x1xi64>
  %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %r = "stablehlo.scatter"(%a, %b, %c) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %0 = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    indices_are_sorted = false, unique_indices = false
  } : (tensor<3xi32>, tensor<4x1xi64>, tensor<4xi32>) -> tensor<3xi32>
  check.expect_eq_const %r, dense<[12, 20, 34]> : tensor<3xi32>
  func.return
}
