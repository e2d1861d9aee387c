// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: rows: 2 checks
// check: smallest: 2 checks
// check: not_aggregated: 2 checks
// check: none: 2 checks

// Exactly the first ones of the comparator's order; of equal ones those that come first.
module @top {
  func.func private @gt(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @rows() {
    %x = stablehlo.constant dense<[[3.0, 7.0, -1.0, 7.0, 0.0], [2.0, 2.0, 5.0, -8.0, 2.0]]> : tensor<2x5xf32>
    %i = stablehlo.iota dim = 1 : tensor<2x5xi32>
    %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %nowhere = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %none, %nowhere) {backend_config = "", called_computations = [@gt], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    check.expect_eq_const %0#0, dense<[[7.0, 7.0, 3.0], [5.0, 2.0, 2.0]]> : tensor<2x3xf32>
    check.expect_eq_const %0#1, dense<[[1, 3, 0], [2, 0, 1]]> : tensor<2x3xi32>
    func.return
  }
}

// -----

// Along another dimension, counted from the end; the generic form.
module @bottom {
  func.func private @lt(%a: tensor<bf16>, %b: tensor<bf16>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @smallest() {
    %x = stablehlo.constant dense<[[3.0, 7.0], [0xFF80, 0xFFC0], [2.0, -0.0], [0.5, 0.0]]> : tensor<4x2xbf16>
    %i = stablehlo.iota dim = 0 : tensor<4x2xi32>
    %none = stablehlo.constant dense<0x7F80> : tensor<bf16>
    %nowhere = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = "stablehlo.custom_call"(%x, %i, %none, %nowhere) <{api_version = 4 : i32, backend_config = {reduction_dim = -2 : i64, top_k = 2 : i64}, call_target_name = "ApproxTopK", called_computations = [@lt]}> : (tensor<4x2xbf16>, tensor<4x2xi32>, tensor<bf16>, tensor<i32>) -> (tensor<2x2xbf16>, tensor<2x2xi32>)
    check.expect_eq_const %0#0, dense<[[0xFF80, 0xFFC0], [0.5, -0.0]]> : tensor<2x2xbf16>
    check.expect_eq_const %0#1, dense<[[1, 1], [3, 2]]> : tensor<2x2xi32>
    func.return
  }
}

// -----

// As many as the result has room for.
module @wide {
  func.func private @gt(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @not_aggregated() {
    %x = stablehlo.constant dense<[1.0, 4.0, 3.0, 2.0]> : tensor<4xf32>
    %i = stablehlo.constant dense<[10, 11, 12, 13]> : tensor<4xi32>
    %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %nowhere = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %none, %nowhere) {called_computations = [@gt], mhlo.backend_config = {aggregate_to_topk = false, reduction_dim = 0 : i64, top_k = 1 : i64}} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
    check.expect_eq_const %0#0, dense<[4.0, 3.0, 2.0]> : tensor<3xf32>
    check.expect_eq_const %0#1, dense<[11, 12, 13]> : tensor<3xi32>
    func.return
  }
}

// -----

module @empty {
  func.func private @gt(%a: tensor<i8>, %b: tensor<i8>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @none() {
    %x = stablehlo.constant dense<5> : tensor<2x1xi8>
    %i = stablehlo.constant dense<6> : tensor<2x1xi32>
    %least = stablehlo.constant dense<-128> : tensor<i8>
    %nowhere = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %least, %nowhere) {called_computations = [@gt], mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 0 : i64}} : (tensor<2x1xi8>, tensor<2x1xi32>, tensor<i8>, tensor<i32>) -> (tensor<2x0xi8>, tensor<2x0xi32>)
    check.expect_eq_const %0#0, dense<> : tensor<2x0xi8>
    check.expect_eq_const %0#1, dense<> : tensor<2x0xi32>
    func.return
  }
}
