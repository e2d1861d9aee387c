module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x11xf32>) -> (tensor<bf16> {jax.result_info = "result[0]"}, tensor<11xf32> {jax.result_info = "result[1]"}, tensor<f32> {jax.result_info = "result[2]"}, tensor<7xf32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}, tensor<f32> {jax.result_info = "result[5]"}) {
    %c = stablehlo.constant dense<30> : tensor<i32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convert %arg0 : (tensor<7x11xf32>) -> tensor<7x11xbf16>
    %1 = stablehlo.convert %0 : (tensor<7x11xbf16>) -> tensor<7x11xf32>
    %2 = stablehlo.reduce(%1 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x11xf32>, tensor<f32>) -> tensor<f32>
    %3 = stablehlo.convert %2 : (tensor<f32>) -> tensor<bf16>
    %4 = call @_var(%arg0, %c_0) : (tensor<7x11xf32>, tensor<i32>) -> tensor<11xf32>
    %5 = call @_std(%arg0, %c_0) : (tensor<7x11xf32>, tensor<i32>) -> tensor<f32>
    %6 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<7x11xf32>, tensor<f32>) -> tensor<7xf32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<7xf32>
    %9 = stablehlo.is_finite %8 : (tensor<7xf32>) -> tensor<7xi1>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %11 = stablehlo.select %9, %8, %10 : tensor<7xi1>, tensor<7xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<7xf32>) -> tensor<7x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<7x1xf32>) -> tensor<7x11xf32>
    %14 = stablehlo.subtract %arg0, %13 : tensor<7x11xf32>
    %15 = stablehlo.exponential %14 : tensor<7x11xf32>
    %16 = stablehlo.reduce(%15 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<7x11xf32>, tensor<f32>) -> tensor<7xf32>
    %17 = stablehlo.abs %16 : tensor<7xf32>
    %18 = stablehlo.log %17 : tensor<7xf32>
    %19 = stablehlo.add %18, %11 : tensor<7xf32>
    %20 = call @norm(%arg0) : (tensor<7x11xf32>) -> tensor<f32>
    %21 = call @percentile(%arg0, %c) : (tensor<7x11xf32>, tensor<i32>) -> tensor<f32>
    return %3, %4, %5, %19, %20, %21 : tensor<bf16>, tensor<11xf32>, tensor<f32>, tensor<7xf32>, tensor<f32>, tensor<f32>
  }
  func.func private @_var(%arg0: tensor<7x11xf32>, %arg1: tensor<i32>) -> tensor<11xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<7x11xf32>, tensor<f32>) -> tensor<11xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<11xf32>) -> tensor<1x11xf32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x11xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x11xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x11xf32>) -> tensor<7x11xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<7x11xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<7x11xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %8 = stablehlo.subtract %cst_0, %7 : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<7x11xf32>, tensor<f32>) -> tensor<11xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<11xf32>
    %11 = stablehlo.divide %9, %10 : tensor<11xf32>
    %12 = stablehlo.compare GT, %8, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %13 = call @_where(%12, %11, %cst) : (tensor<i1>, tensor<11xf32>, tensor<f32>) -> tensor<11xf32>
    return %13 : tensor<11xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<11xf32>, %arg2: tensor<f32>) -> tensor<11xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<11xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<11xf32>
    return %2 : tensor<11xf32>
  }
  func.func private @_std(%arg0: tensor<7x11xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %0 = call @_var_0(%arg0, %arg1) : (tensor<7x11xf32>, tensor<i32>) -> tensor<f32>
    %1 = stablehlo.sqrt %0 : tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @_var_0(%arg0: tensor<7x11xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<7.700000e+01> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x11xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<7x11xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<7x11xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<7x11xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %8 = stablehlo.subtract %cst_0, %7 : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x11xf32>, tensor<f32>) -> tensor<f32>
    %10 = stablehlo.divide %9, %8 : tensor<f32>
    %11 = stablehlo.compare GT, %8, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %12 = call @_where_1(%11, %10, %cst) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    return %12 : tensor<f32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @norm(%arg0: tensor<7x11xf32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.abs %arg0 : tensor<7x11xf32>
    %1 = stablehlo.reduce(%0 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<7x11xf32>, tensor<f32>) -> tensor<11xf32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<11xf32>, tensor<f32>) -> tensor<f32>
    %3 = stablehlo.maximum %cst_0, %2 : tensor<f32>
    return %3 : tensor<f32>
  }
  func.func private @percentile(%arg0: tensor<7x11xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.divide %0, %cst : tensor<f32>
    %2 = call @quantile(%arg0, %1) : (tensor<7x11xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @quantile(%arg0: tensor<7x11xf32>, %arg1: tensor<f32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<7.700000e+01> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %0 = stablehlo.reshape %arg0 : (tensor<7x11xf32>) -> tensor<77xf32>
    %1 = stablehlo.compare NE, %0, %0, FLOAT : (tensor<77xf32>, tensor<77xf32>) -> tensor<77xi1>
    %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.or across dimensions = [0] : (tensor<77xi1>, tensor<i1>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %4 = call @_where_2(%3, %cst_2, %0) : (tensor<1xi1>, tensor<f32>, tensor<77xf32>) -> tensor<77xf32>
    %5 = "stablehlo.sort"(%4) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %25 = stablehlo.compare EQ, %arg2, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %26 = stablehlo.select %25, %cst_1, %arg2 : tensor<i1>, tensor<f32>
      %27 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %28 = stablehlo.select %27, %cst_2, %26 : tensor<i1>, tensor<f32>
      %29 = stablehlo.compare EQ, %arg3, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %30 = stablehlo.select %29, %cst_1, %arg3 : tensor<i1>, tensor<f32>
      %31 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %32 = stablehlo.select %31, %cst_2, %30 : tensor<i1>, tensor<f32>
      %33 = stablehlo.compare LT, %28, %32, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %33 : tensor<i1>
    }) : (tensor<77xf32>) -> tensor<77xf32>
    %6 = stablehlo.subtract %cst_0, %cst : tensor<f32>
    %7 = stablehlo.multiply %arg1, %6 : tensor<f32>
    %8 = stablehlo.floor %7 : tensor<f32>
    %9 = stablehlo.ceil %7 : tensor<f32>
    %10 = stablehlo.subtract %7, %8 : tensor<f32>
    %11 = stablehlo.subtract %cst, %10 : tensor<f32>
    %12 = stablehlo.subtract %cst_0, %cst : tensor<f32>
    %13 = stablehlo.clamp %cst_1, %8, %12 : tensor<f32>
    %14 = stablehlo.subtract %cst_0, %cst : tensor<f32>
    %15 = stablehlo.clamp %cst_1, %9, %14 : tensor<f32>
    %16 = stablehlo.convert %13 : (tensor<f32>) -> tensor<i32>
    %17 = stablehlo.convert %15 : (tensor<f32>) -> tensor<i32>
    %18 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %19 = "stablehlo.gather"(%5, %18) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<77xf32>, tensor<1xi32>) -> tensor<f32>
    %20 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %21 = "stablehlo.gather"(%5, %20) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<77xf32>, tensor<1xi32>) -> tensor<f32>
    %22 = stablehlo.multiply %19, %11 : tensor<f32>
    %23 = stablehlo.multiply %21, %10 : tensor<f32>
    %24 = stablehlo.add %22, %23 : tensor<f32>
    return %24 : tensor<f32>
  }
  func.func private @_where_2(%arg0: tensor<1xi1>, %arg1: tensor<f32>, %arg2: tensor<77xf32>) -> tensor<77xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<1xi1>) -> tensor<77xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<77xf32>
    %3 = stablehlo.select %1, %2, %arg2 : tensor<77xi1>, tensor<77xf32>
    return %3 : tensor<77xf32>
  }
}

