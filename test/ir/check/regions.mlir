// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// run: lazuli run --device loop %s
// check: reduce:
// Regions that compute in wider element types than the operands have, and that use values from
// around them.
!row = tensor<4xbf16>
!sum = tensor<f32>
!pair = tuple<!row, !sum>
func.func private @never_called(%x: !row) -> !sum
func.func private @two(%x: !row, %y: !sum) -> !pair {
  %t = stablehlo.tuple %x, %y : !pair
  func.return %t : !pair
}
func.func @reduce() {
  %x = stablehlo.constant dense<[1.0, 256.0, 1.0, 1.0]> : !row
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %s = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: !sum, %b: !sum):
    %t = stablehlo.add %a, %b : !sum
    stablehlo.return %t : !sum
  }) {dimensions = array<i64: 0>} : (!row, tensor<bf16>) -> !sum
  check.expect_eq_const %s, dense<259.0> : !sum
  %p = stablehlo.reduce(%x init: %z) across dimensions = [0] : (!row, tensor<bf16>) -> !sum
   reducer(%a: !sum, %b: !sum) {
    %t = stablehlo.add %a, %b : !sum
    stablehlo.return %t : !sum
  }
  check.expect_eq_const %p, dense<259.0> : !sum
  %q = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (!row, tensor<bf16>) -> !sum
  check.expect_eq_const %q, dense<259.0> : !sum
  %u = func.call @two(%x, %q) : (!row, !sum) -> !pair
  %v = stablehlo.get_tuple_element %u[1] : (!pair) -> !sum
  check.expect_eq_const %v, dense<259.0> : !sum
  func.return
}
func.func @integers() {
  %x = stablehlo.constant dense<[100, 100, -1]> : tensor<3xi8>
  %z = stablehlo.constant dense<0> : tensor<i8>
  %s = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %t = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<3xi8>, tensor<i8>) -> tensor<i32>
  check.expect_eq_const %s, dense<199> : tensor<i32>
  func.return
}
func.func @windows() {
  %x = stablehlo.constant dense<[256.0, 1.0, 1.0, 1.0]> : !row
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %s = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: !sum, %b: !sum):
    %t = stablehlo.add %a, %b : !sum
    stablehlo.return %t : !sum
  }) {window_dimensions = array<i64: 2>} : (!row, tensor<bf16>) -> tensor<3xf32>
  check.expect_eq_const %s, dense<[257.0, 2.0, 2.0]> : tensor<3xf32>
  %one = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xbf16>
  %g = "stablehlo.select_and_scatter"(%x, %one, %z) ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %t = stablehlo.compare GE, %a, %b : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }, {
  ^bb0(%a: !sum, %b: !sum):
    %t = stablehlo.add %a, %b : !sum
    stablehlo.return %t : !sum
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (!row, tensor<2xbf16>, tensor<bf16>) -> tensor<4xf32>
  check.expect_eq_const %g, dense<[1.0, 0.0, 1.0, 0.0]> : tensor<4xf32>
  func.return
}
func.func @scatter() {
  %x = stablehlo.constant dense<0.0> : tensor<3xf32>
  %i = stablehlo.constant dense<[[0], [0], [2]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[16777216.0, 1.0, 5.0]> : tensor<3xf32>
  %s = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %t = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %t : tensor<f64>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<3xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<3xf64>
  check.expect_eq_const %s, dense<[16777217.0, 0.0, 5.0]> : tensor<3xf64>
  func.return
}
// ---- values from around ----
func.func @from_around() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %c = stablehlo.add %two, %three : tensor<f32>
  %top = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    %t = stablehlo.minimum %m, %c : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %top, dense<4.0> : tensor<f32>
  %y = stablehlo.constant dense<[7.0, 2.0, 9.0, 4.0]> : tensor<4xf32>
  %p = stablehlo.reduce(%y init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %m = stablehlo.maximum %a, %b : tensor<f32>
    %t = stablehlo.minimum %m, %c : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }
  check.expect_eq_const %p, dense<5.0> : tensor<f32>
  %w = "stablehlo.reduce_window"(%y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    %t = stablehlo.minimum %m, %c : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {window_dimensions = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %w, dense<[5.0, 5.0, 5.0, 5.0]> : tensor<4xf32>
  %i = stablehlo.constant dense<[[0], [0], [2]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[1.0, 1.0, 5.0]> : tensor<3xf32>
  %s = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.multiply %b, %c : tensor<f32>
    %t = stablehlo.add %a, %m : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<4xf32>
  check.expect_eq_const %s, dense<[11.0, 2.0, 28.0, 4.0]> : tensor<4xf32>
  func.return
}
func.func @sorted_by_distance() {
  %y = stablehlo.constant dense<[7.0, 2.0, 9.0, 4.0]> : tensor<4xf32>
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %c = stablehlo.add %three, %three : tensor<f32>
  %o = "stablehlo.sort"(%y) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.subtract %a, %c : tensor<f32>
    %n = stablehlo.subtract %b, %c : tensor<f32>
    %ma = stablehlo.abs %m : tensor<f32>
    %na = stablehlo.abs %n : tensor<f32>
    %t = stablehlo.compare LT, %ma, %na : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %o, dense<[7.0, 4.0, 9.0, 2.0]> : tensor<4xf32>
  %s = "stablehlo.map"(%y) ({
  ^bb0(%a: tensor<f32>):
    %m = stablehlo.subtract %a, %c : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %s, dense<[1.0, -4.0, 3.0, -2.0]> : tensor<4xf32>
  func.return
}
// ---- bits ----
func.func @by_bits() {
  %x = stablehlo.constant dense<[3.0, -1.0, 2.0, -0.0, 0.0]> : tensor<5xf32>
  %y = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %i = stablehlo.bitcast_convert %a : (tensor<f32>) -> tensor<ui32>
    %j = stablehlo.bitcast_convert %b : (tensor<f32>) -> tensor<ui32>
    %p = stablehlo.compare LT, %i, %j, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<5xf32>) -> tensor<5xf32>
  %bits = stablehlo.bitcast_convert %y : (tensor<5xf32>) -> tensor<5xui32>
  check.expect_eq_const %bits, dense<[0, 1073741824, 1077936128, 2147483648, 3212836864]> : tensor<5xui32>
  func.return
}
func.func @total_order() {
  %x = stablehlo.constant dense<[1.0, 0xFFC0, -2.0, -0.0, 0.0, 0x7F80]> : tensor<6xbf16>
  %y = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %zero = stablehlo.constant dense<0> : tensor<i16>
    %most = stablehlo.constant dense<32767> : tensor<i16>
    %i = stablehlo.bitcast_convert %a : (tensor<bf16>) -> tensor<i16>
    %j = stablehlo.bitcast_convert %b : (tensor<bf16>) -> tensor<i16>
    %in = stablehlo.compare LT, %i, %zero, SIGNED : (tensor<i16>, tensor<i16>) -> tensor<i1>
    %jn = stablehlo.compare LT, %j, %zero, SIGNED : (tensor<i16>, tensor<i16>) -> tensor<i1>
    %if = stablehlo.xor %i, %most : tensor<i16>
    %jf = stablehlo.xor %j, %most : tensor<i16>
    %is = stablehlo.select %in, %if, %i : tensor<i1>, tensor<i16>
    %js = stablehlo.select %jn, %jf, %j : tensor<i1>, tensor<i16>
    %p = stablehlo.compare LT, %is, %js, SIGNED : (tensor<i16>, tensor<i16>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<6xbf16>) -> tensor<6xbf16>
  %bits = stablehlo.bitcast_convert %y : (tensor<6xbf16>) -> tensor<6xui16>
  check.expect_eq_const %bits, dense<[65472, 49152, 32768, 0, 16256, 32640]> : tensor<6xui16>
  func.return
}
// One element is one whatever its rank.
func.func @bits_of_one_element() {
  %x = stablehlo.constant dense<[1.5, -2.0, 4.0, 8.0]> : tensor<4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %ar = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
    %br = stablehlo.reshape %b : (tensor<f32>) -> tensor<1xf32>
    %i = stablehlo.bitcast_convert %ar : (tensor<1xf32>) -> tensor<1xi32>
    %j = stablehlo.bitcast_convert %br : (tensor<1xf32>) -> tensor<1xi32>
    %m = stablehlo.xor %i, %j : tensor<1xi32>
    %f = stablehlo.bitcast_convert %m : (tensor<1xi32>) -> tensor<1xf32>
    %r = stablehlo.reshape %f : (tensor<1xf32>) -> tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %rb = stablehlo.bitcast_convert %r : (tensor<f32>) -> tensor<ui32>
  check.expect_eq_const %rb, dense<0xFE400000> : tensor<ui32>
  %w = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %ar = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
    %br = stablehlo.reshape %b : (tensor<f32>) -> tensor<1xf32>
    %i = stablehlo.bitcast_convert %ar : (tensor<1xf32>) -> tensor<1xi32>
    %j = stablehlo.bitcast_convert %br : (tensor<1xf32>) -> tensor<1xi32>
    %m = stablehlo.or %i, %j : tensor<1xi32>
    %f = stablehlo.bitcast_convert %m : (tensor<1xi32>) -> tensor<1xf32>
    %r = stablehlo.reshape %f : (tensor<1xf32>) -> tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) {window_dimensions = array<i64: 1>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq %w, %x : tensor<4xf32>
  %b = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = "stablehlo.select_and_scatter"(%x, %b, %z) ({
  ^bb0(%a: tensor<f32>, %b0: tensor<f32>):
    %ar = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
    %br = stablehlo.reshape %b0 : (tensor<f32>) -> tensor<1xf32>
    %i = stablehlo.bitcast_convert %ar : (tensor<1xf32>) -> tensor<1xui32>
    %j = stablehlo.bitcast_convert %br : (tensor<1xf32>) -> tensor<1xui32>
    %m = stablehlo.compare GE, %i, %j, UNSIGNED : (tensor<1xui32>, tensor<1xui32>) -> tensor<1xi1>
    %p = stablehlo.reshape %m : (tensor<1xi1>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b0: tensor<f32>):
    %p = stablehlo.add %a, %b0 : tensor<f32>
    stablehlo.return %p : tensor<f32>
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %s, dense<[0.0, 1.0, 0.0, 2.0]> : tensor<4xf32>
  func.return
}
func.func @bits_of_sums() {
  %x = stablehlo.constant dense<[1.5, -2.0, 4.0, 8.0]> : tensor<4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %i = stablehlo.bitcast_convert %a : (tensor<f32>) -> tensor<i32>
    %j = stablehlo.bitcast_convert %b : (tensor<f32>) -> tensor<i32>
    %m = stablehlo.xor %i, %j : tensor<i32>
    %f = stablehlo.bitcast_convert %m : (tensor<i32>) -> tensor<f32>
    stablehlo.return %f : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %rb = stablehlo.bitcast_convert %r : (tensor<f32>) -> tensor<ui32>
  check.expect_eq_const %rb, dense<0xFE400000> : tensor<ui32>
  %w = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %i = stablehlo.bitcast_convert %a : (tensor<f32>) -> tensor<i32>
    %j = stablehlo.bitcast_convert %b : (tensor<f32>) -> tensor<i32>
    %m = stablehlo.or %i, %j : tensor<i32>
    %f = stablehlo.bitcast_convert %m : (tensor<i32>) -> tensor<f32>
    stablehlo.return %f : tensor<f32>
  }) {window_dimensions = array<i64: 1>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq %w, %x : tensor<4xf32>
  %i0 = stablehlo.constant dense<[[3], [0]]> : tensor<2x1xi32>
  %u = stablehlo.constant dense<[-0.0, -0.0]> : tensor<2xf32>
  %s = "stablehlo.scatter"(%x, %i0, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %i = stablehlo.bitcast_convert %a : (tensor<f32>) -> tensor<i32>
    %j = stablehlo.bitcast_convert %b : (tensor<f32>) -> tensor<i32>
    %m = stablehlo.xor %i, %j : tensor<i32>
    %f = stablehlo.bitcast_convert %m : (tensor<i32>) -> tensor<f32>
    stablehlo.return %f : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  check.expect_eq_const %s, dense<[-1.5, -2.0, 4.0, -8.0]> : tensor<4xf32>
  %v = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    %i = stablehlo.bitcast_convert %a : (tensor<f32>) -> tensor<i32>
    stablehlo.return %i : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xi32>
  check.expect_eq_const %v, dense<[1069547520, 3221225472, 1082130432, 1090519040]> : tensor<4xi32>
  func.return
}
