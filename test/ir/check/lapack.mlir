// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: getrf_older: 3 checks
// check-next: getrf_info: 2 checks
// check-next: getrf_generic: 6 checks
// check-next: geqrf_older: 8 checks
// check-next: geqrf_complex: 3 checks
// check-next: geqrf_tiny: 2 checks
// check-next: syevd_older: 6 checks
// check-next: gesdd_older: 5 checks
// check-next: potrf_older: 4 checks
// check-next: trsm: 3 checks

// Calls of LAPACK as older versions of JAX wrote them, with sizes and work space, and as newer ones do; what they must give is known: of whole
// numbers, or put together again.
func.func @getrf_older() {
  %a = stablehlo.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]> : tensor<3x3xf32>
  %b = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.custom_call @lapack_sgetrf(%b, %n, %n, %a) {api_version = 2 : i32, operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 3, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<3x3xf32>) -> tuple<tensor<3x3xf32>, tensor<3xi32>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<3x3xf32>, tensor<3xi32>, tensor<i32>>) -> tensor<3x3xf32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<3x3xf32>, tensor<3xi32>, tensor<i32>>) -> tensor<3xi32>
  %3 = stablehlo.get_tuple_element %0[2] : (tuple<tensor<3x3xf32>, tensor<3xi32>, tensor<i32>>) -> tensor<i32>
  check.expect_eq_const %1, dense<[[6.0, 7.0, 8.0], [0.0, 1.0, 2.0], [0.5, 0.5, 0.0]]> : tensor<3x3xf32>
  check.expect_eq_const %2, dense<3> : tensor<3xi32>
  check.expect_eq_const %3, dense<3> : tensor<i32>
  func.return
}
// info is the first zero on the diagonal, from 1, of each matrix by itself
func.func @getrf_info() {
  %a = stablehlo.constant dense<[[[2.0, 1.0], [4.0, 3.0]], [[0.0, 1.0], [0.0, 3.0]], [[1.0, 0.0], [1.0, 0.0]]]> : tensor<3x2x2xf64>
  %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=3, j=2, k=2, l=2, m=2, n=2}, custom>} : (tensor<3x2x2xf64>) -> (tensor<3x2x2xf64>, tensor<3x2xi32>, tensor<3xi32>)
  check.expect_eq_const %0#1, dense<[[2, 2], [1, 2], [1, 2]]> : tensor<3x2xi32>
  check.expect_eq_const %0#2, dense<[0, 1, 2]> : tensor<3xi32>
  func.return
}
func.func @getrf_generic() {
  %a = stablehlo.constant dense<[[2.0, 1.0], [4.0, 3.0]]> : tensor<2x2xf32>
  %0:3 = "stablehlo.custom_call"(%a) <{api_version = 4 : i32, backend_config = {}, call_target_name = "lapack_sgetrf_ffi", called_computations = [], has_side_effect = false}> : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<i32>)
  %1:3 = stablehlo.custom_call @LuDecomposition(%a) {api_version = 2 : i32, backend_config = ""} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[[4.0, 3.0], [0.5, -0.5]]> : tensor<2x2xf32>
  check.expect_eq_const %0#1, dense<[2, 2]> : tensor<2xi32>
  check.expect_eq_const %0#2, dense<0> : tensor<i32>
  check.expect_eq_const %1#0, dense<[[4.0, 3.0], [0.5, -0.5]]> : tensor<2x2xf32>
  check.expect_eq_const %1#1, dense<1> : tensor<2xi32>
  check.expect_eq_const %1#2, dense<[1, 0]> : tensor<2xi32>
  func.return
}
// of 3 and 4 the norm is 5: v = 4 / (3 + 5), tau = (-5 - 3) / -5
func.func @geqrf_older() {
  %a = stablehlo.constant dense<[[3.0, 1.0], [4.0, 2.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %w = stablehlo.constant dense<64> : tensor<i32>
  %0:4 = stablehlo.custom_call @lapack_dgeqrf(%b, %n, %n, %w, %a) {api_version = 2 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<i32>, tensor<64xf64>)
  check.expect_almost_eq_const %0#0, dense<[[-5.0, -2.2], [0.5, 0.4]]> : tensor<2x2xf64>
  check.expect_almost_eq_const %0#1, dense<[1.6, 0.0]> : tensor<2xf64>
  check.expect_eq_const %0#2, dense<0> : tensor<i32>
  %1:3 = stablehlo.custom_call @lapack_dorgqr(%b, %n, %n, %n, %w, %0#0, %0#1) {api_version = 2 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x2xf64>, tensor<2xf64>) -> (tensor<2x2xf64>, tensor<i32>, tensor<64xf64>)
  check.expect_almost_eq_const %1#0, dense<[[-0.6, -0.8], [-0.8, 0.6]]> : tensor<2x2xf64>
  %2 = stablehlo.custom_call @lapack_dormqr_ffi(%0#0, %0#1, %a) {mhlo.backend_config = {left = true, transpose = true}} : (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq_const %2, dense<[[-5.0, -2.2], [0.0, 0.4]]> : tensor<2x2xf64>
  %3 = stablehlo.custom_call @lapack_dormqr_ffi(%0#0, %0#1, %2) {mhlo.backend_config = {left = true, transpose = false}} : (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq %3, %a : tensor<2x2xf64>
  %4 = stablehlo.custom_call @lapack_dormqr_ffi(%0#0, %0#1, %a) {mhlo.backend_config = {left = false, transpose = false}} : (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq_const %4, dense<[[-2.6, -1.8], [-4.0, -2.0]]> : tensor<2x2xf64>
  %5 = stablehlo.custom_call @lapack_dormqr_ffi(%0#0, %0#1, %4) {mhlo.backend_config = {left = false, transpose = true}} : (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq %5, %a : tensor<2x2xf64>
  func.return
}
// z = 3 + 4i alone: LAPACK makes the diagonal real
func.func @geqrf_complex() {
  %a = stablehlo.constant dense<[[(3.0, 4.0)]]> : tensor<1x1xcomplex<f64>>
  %0:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<1x1xcomplex<f64>>) -> (tensor<1x1xcomplex<f64>>, tensor<1xcomplex<f64>>)
  %1 = stablehlo.custom_call @lapack_zungqr_ffi(%0#0, %0#1) {mhlo.backend_config = {}} : (tensor<1x1xcomplex<f64>>, tensor<1xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
  check.expect_almost_eq_const %0#0, dense<[[(-5.0, 0.0)]]> : tensor<1x1xcomplex<f64>>
  check.expect_almost_eq_const %0#1, dense<[(1.6, 0.8)]> : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %1, dense<[[(-0.6, -0.8)]]> : tensor<1x1xcomplex<f64>>
  func.return
}
// what is reflected counts, however small: its square is 0
func.func @geqrf_tiny() {
  %a = stablehlo.constant dense<[[1.0], [1.0e-30]]> : tensor<2x1xf32>
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>)
  check.expect_eq_const %0#0, dense<[[-1.0], [5.0e-31]]> : tensor<2x1xf32>
  check.expect_eq_const %0#1, dense<2.0> : tensor<1xf32>
  func.return
}
// only one triangle is read
func.func @syevd_older() {
  %a = stablehlo.constant dense<[[2.0, 77.0], [1.0, 2.0]]> : tensor<2x2xf32>
  %h = stablehlo.constant dense<[[(2.0, 9.0), (0.0, -1.0)], [(5.0, 5.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %up = stablehlo.constant dense<0> : tensor<i32>
  %low = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %0:5 = stablehlo.custom_call @lapack_ssyevd(%low, %low, %n, %a) {api_version = 2 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<i32>, tensor<21xf32>, tensor<13xi32>)
  %1:6 = stablehlo.custom_call @lapack_cheevd(%up, %low, %n, %h) {api_version = 2 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x2xcomplex<f32>>) -> (tensor<2x2xcomplex<f32>>, tensor<2xf32>, tensor<i32>, tensor<9xcomplex<f32>>, tensor<19xf32>, tensor<13xi32>)
  %2:2 = stablehlo.custom_call @Eigh(%a) {backend_config = "1,1,15,0.000010", xla_shape = "(f32[2,2]{1,0}, f32[2]{0})"} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>)
  %3 = stablehlo.abs %0#0 : tensor<2x2xf32>
  %4 = stablehlo.abs %1#0 : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>
  check.expect_almost_eq_const %0#1, dense<[1.0, 3.0]> : tensor<2xf32>
  check.expect_almost_eq_const %1#1, dense<[1.0, 3.0]> : tensor<2xf32>
  check.expect_almost_eq_const %2#1, dense<[1.0, 3.0]> : tensor<2xf32>
  check.expect_almost_eq_const %3, dense<0.70710678> : tensor<2x2xf32>
  check.expect_almost_eq_const %4, dense<0.70710678> : tensor<2x2xf32>
  check.expect_eq_const %0#2, dense<0> : tensor<i32>
  func.return
}
func.func @gesdd_older() {
  %a = stablehlo.constant dense<[[3.0, 0.0, 0.0], [0.0, -5.0, 0.0]]> : tensor<2x3xf64>
  %yes = stablehlo.constant dense<1> : tensor<i32>
  %no = stablehlo.constant dense<0> : tensor<i32>
  %m = stablehlo.constant dense<2> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %w = stablehlo.constant dense<100> : tensor<i32>
  %0:7 = stablehlo.custom_call @lapack_dgesdd(%no, %yes, %yes, %m, %n, %w, %a) {api_version = 2 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x3xf64>, tensor<i32>, tensor<16xi32>, tensor<100xf64>)
  %1 = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<2xf64>) -> tensor<2x2xf64>
  %2 = stablehlo.multiply %0#2, %1 : tensor<2x2xf64>
  %3 = stablehlo.dot_general %2, %0#3, contracting_dims = [1] x [0] : (tensor<2x2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  check.expect_almost_eq_const %0#1, dense<[5.0, 3.0]> : tensor<2xf64>
  check.expect_almost_eq %3, %a : tensor<2x3xf64>
  %4:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8}} : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<3x3xf64>, tensor<i32>)
  check.expect_almost_eq_const %4#1, dense<[5.0, 3.0]> : tensor<2xf64>
  %5:5 = stablehlo.custom_call @lapack_dgesvd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<3x3xf64>, tensor<i32>)
  %6 = stablehlo.dot_general %5#3, %5#3, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  check.expect_almost_eq_const %6, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>
  check.expect_eq_const %5#4, dense<0> : tensor<i32>
  func.return
}
// the other triangle stays as it was; a matrix that is not positive definite says so in info
func.func @potrf_older() {
  %a = stablehlo.constant dense<[[[4.0, 9.0], [2.0, 5.0]], [[1.0, 8.0], [2.0, 1.0]]]> : tensor<2x2x2xf32>
  %up = stablehlo.constant dense<0> : tensor<i32>
  %low = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = stablehlo.custom_call @lapack_spotrf(%low, %n, %n, %a) {api_version = 2 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2xi32>)
  %1 = stablehlo.slice %0#0 [0:1, 0:2, 0:2] : (tensor<2x2x2xf32>) -> tensor<1x2x2xf32>
  check.expect_almost_eq_const %1, dense<[[[2.0, 9.0], [1.0, 2.0]]]> : tensor<1x2x2xf32>
  %2 = stablehlo.constant dense<0> : tensor<2xi32>
  %3 = stablehlo.compare EQ, %0#1, %2, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  check.expect_eq_const %3, dense<[true, false]> : tensor<2xi1>
  %b = stablehlo.constant dense<[[4.0, 2.0], [9.0, 5.0]]> : tensor<2x2xf32>
  %4:2 = stablehlo.custom_call @lapack_spotrf_ffi(%b) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  check.expect_almost_eq_const %4#0, dense<[[2.0, 1.0], [9.0, 2.0]]> : tensor<2x2xf32>
  check.expect_eq_const %4#1, dense<0> : tensor<i32>
  func.return
}
func.func @trsm() {
  %a = stablehlo.constant dense<[[2.0, 9.0], [1.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[4.0], [6.0]]> : tensor<2x1xf32>
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %2 = stablehlo.constant dense<2> : tensor<i32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %3 = stablehlo.custom_call @blas_strsm(%1, %1, %0, %0, %2, %1, %1, %two, %a, %b) {api_version = 2 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %3, dense<[[4.0], [2.0]]> : tensor<2x1xf32>
  %4 = stablehlo.custom_call @blas_strsm_ffi(%a, %b, %two) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<2x2xf32>, tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  check.expect_eq_const %4, dense<[[4.0], [2.0]]> : tensor<2x1xf32>
  %5 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %5, dense<[[-2.0], [6.0]]> : tensor<2x1xf32>
  func.return
}
