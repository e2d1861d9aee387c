// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// run: lazuli run --device loop %s
// check: iota:
// Operations that give shapes as operands, with results of static types, and others that are read as
// several: XLA's answers.
func.func @iota() {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %n = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<2x3xi32>
  check.expect_eq_const %n, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  func.return
}
func.func @broadcast_of_computed_shape() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<2xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %three, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  check.expect_eq_const %y, dense<[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]> : tensor<3x2xf32>
  %z = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  check.expect_eq %y, %z : tensor<3x2xf32>
  func.return
}
func.func @reshape() {
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %s = stablehlo.constant dense<[3, 2]> : tensor<2xindex>
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<6xi32>, tensor<2xindex>) -> tensor<3x2xi32>
  check.expect_eq_const %y, dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  func.return
}
func.func @pad() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %v = stablehlo.constant dense<9> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %low = stablehlo.add %one, %one : tensor<1xi64>
  %high = stablehlo.constant dense<-1> : tensor<1xi64>
  %y = stablehlo.dynamic_pad %x, %v, %low, %high, %one : (tensor<3xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6xi32>
  check.expect_eq_const %y, dense<[9, 9, 1, 9, 2, 9]> : tensor<6xi32>
  func.return
}
func.func @gather() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>
  %n = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = "stablehlo.dynamic_gather"(%x, %i, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false} : (tensor<3x2xi32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %y, dense<[[5, 6], [1, 2]]> : tensor<2x2xi32>
  func.return
}
func.func @convolution() {
  %x = stablehlo.constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf32>
  %k = stablehlo.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
  %p = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %y = "stablehlo.dynamic_conv"(%x, %k, %p) {window_strides = array<i64: 1>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x3x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x3x1xf32>
  check.expect_eq_const %y, dense<[[[10.0], [21.0], [32.0]]]> : tensor<1x3x1xf32>
  %z = stablehlo.dynamic_conv(%x, %k, %p) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x3x1xf32>
  check.expect_eq %y, %z : tensor<1x3x1xf32>
  func.return
}
func.func @slices() {
  %x = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
  %a = stablehlo.constant dense<1> : tensor<1xi64>
  %b = stablehlo.constant dense<8> : tensor<1xi64>
  %c = stablehlo.constant dense<3> : tensor<1xi64>
  %y = stablehlo.real_dynamic_slice %x, %a, %b, %c : (tensor<8xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi32>
  check.expect_eq_const %y, dense<[1, 4, 7]> : tensor<3xi32>
  func.return
}
func.func @extents() {
  %a = stablehlo.constant dense<1.0> : tensor<3x5xf32>
  %n = "stablehlo.get_dimension_size"(%a) {dimension = 1 : i64} : (tensor<3x5xf32>) -> tensor<i32>
  check.expect_eq_const %n, dense<5> : tensor<i32>
  func.return
}
func.func @products() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %c = stablehlo.einsum %a, %b, config = "ij,jk->ki" : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %c, dense<[[19.0, 43.0], [22.0, 50.0]]> : tensor<2x2xf32>
  %d = "stablehlo.einsum"(%a, %b) {einsum_config = "ij,ij->ij"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %d, dense<[[5.0, 12.0], [21.0, 32.0]]> : tensor<2x2xf32>
  // a diagonal, and a label that is summed over
  %e = stablehlo.einsum %a, %b, config = "ii,jk->ij" : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %e, dense<[[11.0, 15.0], [44.0, 60.0]]> : tensor<2x2xf32>
  %f = stablehlo.einsum %a, %b, config = "...i,...i->..." : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  check.expect_eq_const %f, dense<[17.0, 53.0]> : tensor<2xf32>
  %g = stablehlo.einsum %a, %b, config = "ij,kl->" : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<f32>
  check.expect_eq_const %g, dense<260.0> : tensor<f32>
  %one = stablehlo.constant dense<[[2.0, 3.0]]> : tensor<1x2xf32>
  %h = stablehlo.einsum %one, %a, config = "...i,...i->...i" : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %h, dense<[[2.0, 6.0], [6.0, 12.0]]> : tensor<2x2xf32>
  func.return
}
func.func @one_operand() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %t = stablehlo.unary_einsum %a, config = "ij->ji" : (tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %t, dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>
  %d = "stablehlo.unary_einsum"(%a) {einsum_config = "ii->i"} : (tensor<2x2xf32>) -> tensor<2xf32>
  check.expect_eq_const %d, dense<[1.0, 4.0]> : tensor<2xf32>
  %s = stablehlo.unary_einsum %a, config = "ij->i" : (tensor<2x2xf32>) -> tensor<2xf32>
  check.expect_eq_const %s, dense<[3.0, 7.0]> : tensor<2xf32>
  %r = stablehlo.unary_einsum %a, config = "ii->" : (tensor<2x2xf32>) -> tensor<f32>
  check.expect_eq_const %r, dense<5.0> : tensor<f32>
  func.return
}
func.func @rows() {
  %x = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %i = stablehlo.constant dense<[[1, 0], [1, 1]]> : tensor<2x2xi32>
  %y = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x2x2xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %y, dense<[[[3, 4], [1, 2]], [[7, 8], [7, 8]]]> : tensor<2x2x2xi32>
  %z = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x2x2xi32>, tensor<2x2xi32>) -> tensor<2x2x2x2xi32>
  check.expect_eq_const %z, dense<[[[[3, 4], [1, 2]], [[3, 4], [3, 4]]], [[[7, 8], [5, 6]], [[7, 8], [7, 8]]]]> : tensor<2x2x2x2xi32>
  %k = stablehlo.constant dense<1> : tensor<i32>
  %w = stablehlo.torch_index_select %x, %k, dim = -1, batch_dims = 0 : (tensor<2x2x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  check.expect_eq_const %w, dense<[[2, 4], [6, 8]]> : tensor<2x2xi32>
  func.return
}
