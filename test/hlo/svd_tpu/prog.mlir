module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x3xf32>, %arg1: tensor<3x5xf32>) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<2x5x3xf32> {jax.result_info = "result[1]"}, tensor<2x3x3xf32> {jax.result_info = "result[2]"}, tensor<2x3x3xf32> {jax.result_info = "result[3]"}, tensor<2x5x3xf32> {jax.result_info = "result[4]"}, tensor<2x3xf32> {jax.result_info = "result[5]"}, tensor<2x5x3xf32> {jax.result_info = "result[6]"}, tensor<2x5x5xf32> {jax.result_info = "result[7]"}, tensor<2x3x3xf32> {jax.result_info = "result[8]"}, tensor<2x5x3xf32> {jax.result_info = "result[9]"}, tensor<3xf32> {jax.result_info = "result[10]"}, tensor<3x5xf32> {jax.result_info = "result[11]"}, tensor<3x5xf32> {jax.result_info = "result[12]"}, tensor<3x3xf32> {jax.result_info = "result[13]"}, tensor<3x3xf32> {jax.result_info = "result[14]"}, tensor<5x5xf32> {jax.result_info = "result[15]"}, tensor<5x5xf32> {jax.result_info = "result[16]"}, tensor<3x3xf32> {jax.result_info = "result[17]"}, tensor<2x3xf32> {jax.result_info = "result[18]"}) {
    %0:3 = call @svd(%arg0) : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>)
    %1 = stablehlo.broadcast_in_dim %0#1, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<2x1x3xf32>) -> tensor<2x5x3xf32>
    %3 = stablehlo.multiply %0#0, %2 : tensor<2x5x3xf32>
    %4 = stablehlo.dot_general %3, %0#2, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf32>, tensor<2x3x3xf32>) -> tensor<2x5x3xf32>
    %5 = stablehlo.transpose %0#0, dims = [0, 2, 1] : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
    %6 = stablehlo.dot_general %5, %0#0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x5xf32>, tensor<2x5x3xf32>) -> tensor<2x3x3xf32>
    %7 = stablehlo.transpose %0#2, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %8 = stablehlo.dot_general %0#2, %7, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %9 = stablehlo.abs %0#0 : tensor<2x5x3xf32>
    %10:3 = call @svd_8(%arg0) : (tensor<2x5x3xf32>) -> (tensor<2x5x5xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>)
    %11 = stablehlo.slice %10#0 [0:2, 0:5, 0:3] : (tensor<2x5x5xf32>) -> tensor<2x5x3xf32>
    %12 = stablehlo.broadcast_in_dim %10#1, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x1x3xf32>) -> tensor<2x5x3xf32>
    %14 = stablehlo.multiply %11, %13 : tensor<2x5x3xf32>
    %15 = stablehlo.dot_general %14, %10#2, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf32>, tensor<2x3x3xf32>) -> tensor<2x5x3xf32>
    %16 = stablehlo.transpose %10#0, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %17 = stablehlo.dot_general %16, %10#0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %18 = stablehlo.transpose %10#2, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %19 = stablehlo.dot_general %10#2, %18, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %20 = stablehlo.slice %10#0 [0:2, 0:5, 0:3] : (tensor<2x5x5xf32>) -> tensor<2x5x3xf32>
    %21 = stablehlo.abs %20 : tensor<2x5x3xf32>
    %22 = stablehlo.slice %arg0 [0:1, 0:5, 0:3] : (tensor<2x5x3xf32>) -> tensor<1x5x3xf32>
    %23 = stablehlo.reshape %22 : (tensor<1x5x3xf32>) -> tensor<5x3xf32>
    %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
    %25 = stablehlo.complex %24, %arg1 : tensor<3x5xcomplex<f32>>
    %26:3 = call @svd_10(%25) : (tensor<3x5xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3xf32>, tensor<5x5xcomplex<f32>>)
    %27 = stablehlo.broadcast_in_dim %26#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %28 = stablehlo.convert %27 : (tensor<1x3xf32>) -> tensor<1x3xcomplex<f32>>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<1x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %30 = stablehlo.multiply %26#0, %29 : tensor<3x3xcomplex<f32>>
    %31 = stablehlo.slice %26#2 [0:3, 0:5] : (tensor<5x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
    %32 = stablehlo.dot_general %30, %31, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f32>>, tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
    %33 = stablehlo.transpose %26#0, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %34 = stablehlo.real %33 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %35 = stablehlo.imag %33 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %36 = stablehlo.negate %35 : tensor<3x3xf32>
    %37 = stablehlo.complex %34, %36 : tensor<3x3xcomplex<f32>>
    %38 = stablehlo.dot_general %37, %26#0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %39 = stablehlo.transpose %26#2, dims = [1, 0] : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xcomplex<f32>>
    %40 = stablehlo.real %39 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %41 = stablehlo.imag %39 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %42 = stablehlo.negate %41 : tensor<5x5xf32>
    %43 = stablehlo.complex %40, %42 : tensor<5x5xcomplex<f32>>
    %44 = stablehlo.dot_general %26#2, %43, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x5xcomplex<f32>>, tensor<5x5xcomplex<f32>>) -> tensor<5x5xcomplex<f32>>
    %45 = stablehlo.abs %26#0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %46 = stablehlo.real %32 : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>
    %47 = stablehlo.imag %32 : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>
    %48 = stablehlo.real %38 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %49 = stablehlo.imag %38 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %50 = stablehlo.real %44 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %51 = stablehlo.imag %44 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %52 = call @svd_30(%arg0) : (tensor<2x5x3xf32>) -> tensor<2x3xf32>
    return %0#1, %4, %6, %8, %9, %10#1, %15, %17, %19, %21, %26#1, %46, %47, %48, %49, %50, %51, %45, %52 : tensor<2x3xf32>, tensor<2x5x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x5x3xf32>, tensor<2x5x5xf32>, tensor<2x3x3xf32>, tensor<2x5x3xf32>, tensor<3xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<2x3xf32>
  }
  func.func private @svd(%arg0: tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>) {
    %0:2 = stablehlo.custom_call @Qr(%arg0) {backend_config = ""} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>)
    %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) {backend_config = ""} : (tensor<2x5x3xf32>, tensor<2x3xf32>) -> tensor<2x5x3xf32>
    %2 = stablehlo.slice %0#0 [0:2, 0:3, 0:3] : (tensor<2x5x3xf32>) -> tensor<2x3x3xf32>
    %3 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %5 = stablehlo.add %3, %4 : tensor<3x3xi32>
    %6 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %10 = stablehlo.select %8, %9, %2 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    %11:3 = call @_svd_tall_and_square_input(%10) : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>)
    %12 = stablehlo.dot_general %1, %11#0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x5x3xf32>, tensor<2x3x3xf32>) -> tensor<2x5x3xf32>
    %13 = stablehlo.is_finite %10 : (tensor<2x3x3xf32>) -> tensor<2x3x3xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %14 = stablehlo.reduce(%13 init: %c_0) applies stablehlo.and across dimensions = [1, 2] : (tensor<2x3x3xi1>, tensor<i1>) -> tensor<2xi1>
    %15:4 = stablehlo.while(%iterArg = %14, %iterArg_1 = %12, %iterArg_2 = %11#1, %iterArg_3 = %11#2) : tensor<2xi1>, tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>
    cond {
      %17 = stablehlo.not %iterArg : tensor<2xi1>
      %c_4 = stablehlo.constant dense<false> : tensor<i1>
      %18 = stablehlo.reduce(%17 init: %c_4) applies stablehlo.or across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
      %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %cst_6 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
      %c_7 = stablehlo.constant dense<true> : tensor<i1>
      %20 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i1>) -> tensor<2xi1>
      %21 = stablehlo.broadcast_in_dim %17, dims = [1, 2] : (tensor<5x3xf32>) -> tensor<2x5x3xf32>
      %22 = stablehlo.broadcast_in_dim %18, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
      %23 = stablehlo.broadcast_in_dim %19, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
      %24 = stablehlo.not %iterArg : tensor<2xi1>
      %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<2xi1>) -> tensor<2xi1>
      %26 = stablehlo.select %25, %20, %iterArg : tensor<2xi1>, tensor<2xi1>
      %27 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<2xi1>) -> tensor<2x5x3xi1>
      %28 = stablehlo.select %27, %21, %iterArg_1 : tensor<2x5x3xi1>, tensor<2x5x3xf32>
      %29 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<2xi1>) -> tensor<2x3xi1>
      %30 = stablehlo.select %29, %22, %iterArg_2 : tensor<2x3xi1>, tensor<2x3xf32>
      %31 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<2xi1>) -> tensor<2x3x3xi1>
      %32 = stablehlo.select %31, %23, %iterArg_3 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
      stablehlo.return %26, %28, %30, %32 : tensor<2xi1>, tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>
    }
    %16 = stablehlo.transpose %15#3, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    return %15#1, %15#2, %16 : tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>
  }
  func.func private @_svd_tall_and_square_input(%arg0: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>) {
    %0:4 = call @qdwh(%arg0) : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2xi32>, tensor<2xi1>)
    %1 = stablehlo.transpose %0#1, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %2 = stablehlo.add %0#1, %1 : tensor<2x3x3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %4 = stablehlo.divide %2, %3 : tensor<2x3x3xf32>
    %5:2 = stablehlo.custom_call @Eigh(%4) {backend_config = "1,0,100,1e-6"} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>)
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %7 = stablehlo.maximum %5#1, %6 : tensor<2x3xf32>
    %8 = call @argsort(%7) : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %12 = stablehlo.add %8, %11 : tensor<2x3xi32>
    %13 = stablehlo.select %10, %12, %8 : tensor<2x3xi1>, tensor<2x3xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %15 = "stablehlo.gather"(%7, %14) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %17 = stablehlo.compare LT, %8, %16, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %19 = stablehlo.add %8, %18 : tensor<2x3xi32>
    %20 = stablehlo.select %17, %19, %8 : tensor<2x3xi1>, tensor<2x3xi32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %22 = "stablehlo.gather"(%5#0, %21) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3, 1>}> : (tensor<2x3x3xf32>, tensor<2x3x1xi32>) -> tensor<2x3x3xf32>
    %23 = stablehlo.dot_general %0#0, %22, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %24 = stablehlo.slice %15 [0:2, 2:3] : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %25 = stablehlo.reshape %24 : (tensor<2x1xf32>) -> tensor<2xf32>
    %26 = stablehlo.slice %15 [0:2, 0:1] : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %27 = stablehlo.reshape %26 : (tensor<2x1xf32>) -> tensor<2xf32>
    %cst_4 = stablehlo.constant dense<3.57627869E-7> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %29 = stablehlo.multiply %28, %27 : tensor<2xf32>
    %30 = stablehlo.compare LE, %25, %29, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %31:2 = stablehlo.while(%iterArg = %23, %iterArg_5 = %30) : tensor<2x3x3xf32>, tensor<2xi1>
    cond {
      %c_6 = stablehlo.constant dense<false> : tensor<i1>
      %32 = stablehlo.reduce(%iterArg_5 init: %c_6) applies stablehlo.or across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32:2 = stablehlo.custom_call @Qr(%iterArg) {backend_config = ""} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>)
      %33 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%32#0, %32#1) {backend_config = ""} : (tensor<2x3x3xf32>, tensor<2x3xf32>) -> tensor<2x3x3xf32>
      %34 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %c_6 = stablehlo.constant dense<-1> : tensor<i32>
      %35 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %36 = stablehlo.add %34, %35 : tensor<3x3xi32>
      %37 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %38 = stablehlo.compare GE, %36, %37, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %39 = stablehlo.broadcast_in_dim %38, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %40 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
      %41 = stablehlo.select %39, %40, %32#0 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
      %42 = func.call @_diag(%41) : (tensor<2x3x3xf32>) -> tensor<2x3xf32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %43 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %44 = stablehlo.compare GE, %42, %43, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %c_9 = stablehlo.constant dense<1> : tensor<i32>
      %c_10 = stablehlo.constant dense<-1> : tensor<i32>
      %45 = func.call @_where_5(%44, %c_9, %c_10) : (tensor<2x3xi1>, tensor<i32>, tensor<i32>) -> tensor<2x3xi32>
      %46 = func.call @_diag_6(%45) : (tensor<2x3xi32>) -> tensor<2x3x3xi32>
      %47 = stablehlo.dot_general %33, %46, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x3xf32>, tensor<2x3x3xi32>) -> tensor<2x3x3xf32>
      %c_11 = stablehlo.constant dense<false> : tensor<i1>
      %48 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i1>) -> tensor<2xi1>
      %49 = stablehlo.broadcast_in_dim %iterArg_5, dims = [0] : (tensor<2xi1>) -> tensor<2x3x3xi1>
      %50 = stablehlo.select %49, %47, %iterArg : tensor<2x3x3xi1>, tensor<2x3x3xf32>
      %51 = stablehlo.broadcast_in_dim %iterArg_5, dims = [0] : (tensor<2xi1>) -> tensor<2xi1>
      %52 = stablehlo.select %51, %48, %iterArg_5 : tensor<2xi1>, tensor<2xi1>
      stablehlo.return %50, %52 : tensor<2x3x3xf32>, tensor<2xi1>
    }
    return %31#0, %15, %22 : tensor<2x3x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>
  }
  func.func private @qdwh(%arg0: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2xi32>, tensor<2xi1>) {
    %cst = stablehlo.constant dense<[[1.9999615, 52016.457, 0.999961555], [1.92178214, 24.0162086, 0.920118272]]> : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<[[3.74143839, 5.72027779, 0.443261355], [2.67155766, 3.01101112, 0.333944082]]> : tensor<2x3xf32>
    %0 = call @norm(%arg0) : (tensor<2x3x3xf32>) -> tensor<2xf32>
    %1 = call @norm_0(%arg0) : (tensor<2x3x3xf32>) -> tensor<2xf32>
    %2 = stablehlo.rsqrt %0 : tensor<2xf32>
    %3 = stablehlo.rsqrt %1 : tensor<2xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %6 = stablehlo.compare EQ, %0, %5, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %7 = call @_where(%6, %c, %4) : (tensor<2xi1>, tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xf32>) -> tensor<2x1x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x1x1xf32>) -> tensor<2x3x3xf32>
    %10 = stablehlo.multiply %arg0, %9 : tensor<2x3x3xf32>
    %cst_2 = stablehlo.constant dense<5.96046448E-7> : tensor<f32>
    %11 = stablehlo.cbrt %cst_2 : tensor<f32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<true> : tensor<i1>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %12:5 = stablehlo.while(%iterArg = %cst, %iterArg_13 = %c_5, %iterArg_14 = %c_3, %iterArg_15 = %10, %iterArg_16 = %c_4) : tensor<2x3xf32>, tensor<i32>, tensor<i32>, tensor<2x3x3xf32>, tensor<i1>
    cond {
      %c_17 = stablehlo.constant dense<2> : tensor<i32>
      %32 = stablehlo.compare LT, %iterArg_13, %c_17, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32:3 = func.call @closed_call(%iterArg, %iterArg_14, %iterArg_15, %iterArg_16) : (tensor<2x3xf32>, tensor<i32>, tensor<2x3x3xf32>, tensor<i1>) -> (tensor<i32>, tensor<2x3x3xf32>, tensor<i1>)
      %c_17 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.add %iterArg_13, %c_17 : tensor<i32>
      stablehlo.return %iterArg, %33, %32#0, %32#1, %32#2 : tensor<2x3xf32>, tensor<i32>, tensor<i32>, tensor<2x3x3xf32>, tensor<i1>
    }
    %c_6 = stablehlo.constant dense<true> : tensor<i1>
    %13 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<2xi1>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %14:6 = stablehlo.while(%iterArg = %cst_0, %iterArg_13 = %11, %iterArg_14 = %c_8, %iterArg_15 = %c_7, %iterArg_16 = %12#3, %iterArg_17 = %13) : tensor<2x3xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<2x3x3xf32>, tensor<2xi1>
    cond {
      %c_18 = stablehlo.constant dense<2> : tensor<i32>
      %32 = stablehlo.compare LT, %iterArg_14, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32:3 = func.call @closed_call_2(%iterArg, %iterArg_13, %iterArg_15, %iterArg_16, %iterArg_17) : (tensor<2x3xf32>, tensor<f32>, tensor<i32>, tensor<2x3x3xf32>, tensor<2xi1>) -> (tensor<i32>, tensor<2x3x3xf32>, tensor<2xi1>)
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.add %iterArg_14, %c_18 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_13, %33, %32#0, %32#1, %32#2 : tensor<2x3xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<2x3x3xf32>, tensor<2xi1>
    }
    %c_9 = stablehlo.constant dense<4> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %16:4 = stablehlo.while(%iterArg = %11, %iterArg_13 = %15, %iterArg_14 = %14#4, %iterArg_15 = %14#5) : tensor<f32>, tensor<2xi32>, tensor<2x3x3xf32>, tensor<2xi1>
    cond {
      %c_16 = stablehlo.constant dense<10> : tensor<i32>
      %32 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %33 = stablehlo.compare LT, %iterArg_13, %32, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
      %c_17 = stablehlo.constant dense<false> : tensor<i1>
      %34 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i1>) -> tensor<2xi1>
      %35 = stablehlo.compare NE, %33, %34, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
      %36 = stablehlo.convert %35 : tensor<2xi1>
      %37 = stablehlo.and %iterArg_15, %36 : tensor<2xi1>
      %c_18 = stablehlo.constant dense<false> : tensor<i1>
      %38 = stablehlo.reduce(%37 init: %c_18) applies stablehlo.or across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %38 : tensor<i1>
    } do {
      %32 = stablehlo.transpose %iterArg_14, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
      %33 = stablehlo.dot_general %32, %iterArg_14, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
      %cst_16 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
      %34 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
      %35 = stablehlo.multiply %34, %33 : tensor<2x3x3xf32>
      %36 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %37 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %c_17 = stablehlo.constant dense<0> : tensor<i32>
      %38 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %39 = stablehlo.add %36, %38 : tensor<3x3xi32>
      %40 = stablehlo.compare EQ, %39, %37, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %41 = stablehlo.convert %40 : (tensor<3x3xi1>) -> tensor<3x3xf32>
      %42 = stablehlo.broadcast_in_dim %41, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<1x3x3xf32>
      %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<1x3x3xf32>) -> tensor<2x3x3xf32>
      %44 = stablehlo.add %35, %43 : tensor<2x3x3xf32>
      %45 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %46 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %c_18 = stablehlo.constant dense<0> : tensor<i32>
      %47 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %48 = stablehlo.add %45, %47 : tensor<3x3xi32>
      %49 = stablehlo.compare EQ, %48, %46, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %50 = stablehlo.convert %49 : (tensor<3x3xi1>) -> tensor<3x3xf32>
      %51 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %c_19 = stablehlo.constant dense<3> : tensor<i32>
      %52 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %53 = stablehlo.compare LT, %51, %52, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %54 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %c_20 = stablehlo.constant dense<3> : tensor<i32>
      %55 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %56 = stablehlo.compare LT, %54, %55, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %57 = stablehlo.and %53, %56 : tensor<3x3xi1>
      %58 = func.call @_where_3(%57, %44, %50) : (tensor<3x3xi1>, tensor<2x3x3xf32>, tensor<3x3xf32>) -> tensor<2x3x3xf32>
      %59 = stablehlo.cholesky %58, lower = true : tensor<2x3x3xf32>
      %60 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %c_21 = stablehlo.constant dense<0> : tensor<i32>
      %61 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %62 = stablehlo.add %60, %61 : tensor<3x3xi32>
      %63 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %64 = stablehlo.compare GE, %62, %63, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %65 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
      %66 = stablehlo.broadcast_in_dim %64, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
      %67 = stablehlo.broadcast_in_dim %65, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
      %68 = stablehlo.select %66, %59, %67 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
      %69 = stablehlo.transpose %iterArg_14, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
      %70 = "stablehlo.triangular_solve"(%68, %69) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
      %71 = "stablehlo.triangular_solve"(%68, %70) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
      %72 = stablehlo.transpose %71, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
      %cst_23 = stablehlo.constant dense<0.333333343> : tensor<f32>
      %73 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
      %74 = stablehlo.multiply %73, %iterArg_14 : tensor<2x3x3xf32>
      %cst_24 = stablehlo.constant dense<2.66666675> : tensor<f32>
      %75 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
      %76 = stablehlo.multiply %75, %72 : tensor<2x3x3xf32>
      %77 = stablehlo.add %74, %76 : tensor<2x3x3xf32>
      %78 = stablehlo.subtract %77, %iterArg_14 : tensor<2x3x3xf32>
      %79 = func.call @norm_4(%78) : (tensor<2x3x3xf32>) -> tensor<2xf32>
      %80 = stablehlo.convert %iterArg : tensor<f32>
      %81 = stablehlo.broadcast_in_dim %80, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %82 = stablehlo.compare GT, %79, %81, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %83 = stablehlo.broadcast_in_dim %c_25, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %84 = stablehlo.add %iterArg_13, %83 : tensor<2xi32>
      %c_26 = stablehlo.constant dense<10> : tensor<i32>
      %85 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %86 = stablehlo.compare LT, %iterArg_13, %85, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
      %c_27 = stablehlo.constant dense<false> : tensor<i1>
      %87 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<i1>) -> tensor<2xi1>
      %88 = stablehlo.compare NE, %86, %87, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
      %89 = stablehlo.convert %88 : tensor<2xi1>
      %90 = stablehlo.and %iterArg_15, %89 : tensor<2xi1>
      %91 = stablehlo.broadcast_in_dim %90, dims = [0] : (tensor<2xi1>) -> tensor<2xi1>
      %92 = stablehlo.select %91, %84, %iterArg_13 : tensor<2xi1>, tensor<2xi32>
      %93 = stablehlo.broadcast_in_dim %90, dims = [0] : (tensor<2xi1>) -> tensor<2x3x3xi1>
      %94 = stablehlo.select %93, %77, %iterArg_14 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
      %95 = stablehlo.broadcast_in_dim %90, dims = [0] : (tensor<2xi1>) -> tensor<2xi1>
      %96 = stablehlo.select %95, %82, %iterArg_15 : tensor<2xi1>, tensor<2xi1>
      stablehlo.return %iterArg, %92, %94, %96 : tensor<f32>, tensor<2xi32>, tensor<2x3x3xf32>, tensor<2xi1>
    }
    %cst_10 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %18 = stablehlo.multiply %17, %16#2 : tensor<2x3x3xf32>
    %cst_11 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %20 = stablehlo.multiply %19, %16#2 : tensor<2x3x3xf32>
    %21 = stablehlo.transpose %16#2, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %22 = stablehlo.dot_general %21, %16#2, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %23 = stablehlo.dot_general %20, %22, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %24 = stablehlo.subtract %18, %23 : tensor<2x3x3xf32>
    %25 = stablehlo.transpose %24, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %26 = stablehlo.dot_general %25, %arg0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %27 = stablehlo.transpose %26, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %28 = stablehlo.add %26, %27 : tensor<2x3x3xf32>
    %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %30 = stablehlo.divide %28, %29 : tensor<2x3x3xf32>
    %31 = stablehlo.not %16#3 : tensor<2xi1>
    return %24, %30, %16#1, %31 : tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2xi32>, tensor<2xi1>
  }
  func.func private @norm(%arg0: tensor<2x3x3xf32>) -> tensor<2xf32> {
    %0 = stablehlo.abs %arg0 : tensor<2x3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<2xf32>
    return %4 : tensor<2xf32>
  }
  func.func private @norm_0(%arg0: tensor<2x3x3xf32>) -> tensor<2xf32> {
    %0 = stablehlo.abs %arg0 : tensor<2x3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<2xf32>
    return %4 : tensor<2xf32>
  }
  func.func private @_where(%arg0: tensor<2xi1>, %arg1: tensor<i32>, %arg2: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<2xi1>, tensor<2xf32>
    return %2 : tensor<2xf32>
  }
  func.func private @closed_call(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>, %arg2: tensor<2x3x3xf32>, %arg3: tensor<i1>) -> (tensor<i32>, tensor<2x3x3xf32>, tensor<i1>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %1 = call @dynamic_index_in_dim(%arg0, %arg1) : (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>
    %2 = stablehlo.slice %1 [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = stablehlo.slice %1 [1:2] : (tensor<3xf32>) -> tensor<1xf32>
    %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
    %6 = stablehlo.slice %1 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %7 = stablehlo.reshape %6 : (tensor<1xf32>) -> tensor<f32>
    %8 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %9 = stablehlo.multiply %8, %arg2 : tensor<2x3x3xf32>
    %10 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %11 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %13 = stablehlo.add %10, %12 : tensor<3x3xi32>
    %14 = stablehlo.compare EQ, %13, %11, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %15 = stablehlo.convert %14 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.pad %9, %cst, low = [0, 0, 0], high = [0, 3, 0], interior = [0, 0, 0] : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x6x3xf32>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.concatenate %17, %18, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = stablehlo.broadcast_in_dim %15, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
    %c_3 = stablehlo.constant dense<[3, 0]> : tensor<2xi32>
    %c_4 = stablehlo.constant dense<2147483647> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %22 = stablehlo.minimum %c_3, %21 : tensor<2xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %24 = stablehlo.clamp %23, %19, %22 : tensor<2xi32>
    %25 = "stablehlo.scatter"(%16, %24, %20) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [1, 2]>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<2x6x3xf32>, tensor<2xi32>, tensor<2x3x3xf32>) -> tensor<2x6x3xf32>
    %26:2 = stablehlo.custom_call @Qr(%25) {backend_config = ""} : (tensor<2x6x3xf32>) -> (tensor<2x6x3xf32>, tensor<2x3xf32>)
    %27 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%26#0, %26#1) {backend_config = ""} : (tensor<2x6x3xf32>, tensor<2x3xf32>) -> tensor<2x6x3xf32>
    %28 = stablehlo.slice %26#0 [0:2, 0:3, 0:3] : (tensor<2x6x3xf32>) -> tensor<2x3x3xf32>
    %29 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_6 = stablehlo.constant dense<-1> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %31 = stablehlo.add %29, %30 : tensor<3x3xi32>
    %32 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %33 = stablehlo.compare GE, %31, %32, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %36 = stablehlo.select %34, %35, %28 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    %37 = stablehlo.slice %27 [0:2, 0:3, 0:3] : (tensor<2x6x3xf32>) -> tensor<2x3x3xf32>
    %38 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_8 = stablehlo.constant dense<3> : tensor<i32>
    %39 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %40 = stablehlo.compare LT, %38, %39, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %41 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_9 = stablehlo.constant dense<3> : tensor<i32>
    %42 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %43 = stablehlo.compare LT, %41, %42, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %44 = stablehlo.and %40, %43 : tensor<3x3xi1>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %45 = call @_where_1(%44, %37, %c_10) : (tensor<3x3xi1>, tensor<2x3x3xf32>, tensor<i32>) -> tensor<2x3x3xf32>
    %c_11 = stablehlo.constant dense<3> : tensor<i32>
    %46 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %47 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %48 = stablehlo.concatenate %46, %47, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %49 = "stablehlo.gather"(%27, %48) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], start_index_map = [1, 2]>, indices_are_sorted = true, slice_sizes = array<i64: 2, 3, 3>}> : (tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<2x3x3xf32>
    %50 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_13 = stablehlo.constant dense<3> : tensor<i32>
    %51 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %52 = stablehlo.compare LT, %50, %51, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %53 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_14 = stablehlo.constant dense<3> : tensor<i32>
    %54 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %55 = stablehlo.compare LT, %53, %54, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %56 = stablehlo.and %52, %55 : tensor<3x3xi1>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %57 = call @_where_1(%56, %49, %c_15) : (tensor<3x3xi1>, tensor<2x3x3xf32>, tensor<i32>) -> tensor<2x3x3xf32>
    %58 = stablehlo.transpose %57, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %59 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %60 = stablehlo.multiply %59, %arg2 : tensor<2x3x3xf32>
    %61 = stablehlo.dot_general %45, %58, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %62 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %63 = stablehlo.multiply %62, %61 : tensor<2x3x3xf32>
    %64 = stablehlo.add %60, %63 : tensor<2x3x3xf32>
    %c_16 = stablehlo.constant dense<true> : tensor<i1>
    return %0, %64, %c_16 : tensor<i32>, tensor<2x3x3xf32>, tensor<i1>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.convert %arg1 : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.add %1, %c_0 : tensor<i32>
    %3 = stablehlo.select %0, %2, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.dynamic_slice %arg0, %3, %c_1, sizes = [1, 3] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %5 : tensor<3xf32>
  }
  func.func private @_where_1(%arg0: tensor<3x3xi1>, %arg1: tensor<2x3x3xf32>, %arg2: tensor<i32>) -> tensor<2x3x3xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
    %4 = stablehlo.select %2, %arg1, %3 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    return %4 : tensor<2x3x3xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<2x3x3xf32>, %arg4: tensor<2xi1>) -> (tensor<i32>, tensor<2x3x3xf32>, tensor<2xi1>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg2, %c : tensor<i32>
    %1 = call @dynamic_index_in_dim(%arg0, %arg2) : (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>
    %2 = stablehlo.slice %1 [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = stablehlo.slice %1 [1:2] : (tensor<3xf32>) -> tensor<1xf32>
    %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
    %6 = stablehlo.slice %1 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %7 = stablehlo.reshape %6 : (tensor<1xf32>) -> tensor<f32>
    %8 = stablehlo.transpose %arg3, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %9 = stablehlo.dot_general %8, %arg3, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %10 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<2x3x3xf32>
    %12 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %13 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %15 = stablehlo.add %12, %14 : tensor<3x3xi32>
    %16 = stablehlo.compare EQ, %15, %13, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %17 = stablehlo.convert %16 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<1x3x3xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<1x3x3xf32>) -> tensor<2x3x3xf32>
    %20 = stablehlo.add %11, %19 : tensor<2x3x3xf32>
    %21 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %22 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %24 = stablehlo.add %21, %23 : tensor<3x3xi32>
    %25 = stablehlo.compare EQ, %24, %22, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %26 = stablehlo.convert %25 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %27 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %28 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %29 = stablehlo.compare LT, %27, %28, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %30 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %32 = stablehlo.compare LT, %30, %31, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %33 = stablehlo.and %29, %32 : tensor<3x3xi1>
    %34 = call @_where_3(%33, %20, %26) : (tensor<3x3xi1>, tensor<2x3x3xf32>, tensor<3x3xf32>) -> tensor<2x3x3xf32>
    %35 = stablehlo.cholesky %34, lower = true : tensor<2x3x3xf32>
    %36 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %37 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %38 = stablehlo.add %36, %37 : tensor<3x3xi32>
    %39 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %40 = stablehlo.compare GE, %38, %39, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %42 = stablehlo.broadcast_in_dim %40, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
    %43 = stablehlo.broadcast_in_dim %41, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
    %44 = stablehlo.select %42, %35, %43 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    %45 = stablehlo.transpose %arg3, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %46 = "stablehlo.triangular_solve"(%44, %45) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %47 = "stablehlo.triangular_solve"(%44, %46) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %48 = stablehlo.transpose %47, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %49 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %50 = stablehlo.multiply %49, %arg3 : tensor<2x3x3xf32>
    %51 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %52 = stablehlo.multiply %51, %48 : tensor<2x3x3xf32>
    %53 = stablehlo.add %50, %52 : tensor<2x3x3xf32>
    %54 = stablehlo.subtract %53, %arg3 : tensor<2x3x3xf32>
    %55 = call @norm_4(%54) : (tensor<2x3x3xf32>) -> tensor<2xf32>
    %56 = stablehlo.convert %arg1 : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %58 = stablehlo.compare GT, %55, %57, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return %0, %53, %58 : tensor<i32>, tensor<2x3x3xf32>, tensor<2xi1>
  }
  func.func private @_where_3(%arg0: tensor<3x3xi1>, %arg1: tensor<2x3x3xf32>, %arg2: tensor<3x3xf32>) -> tensor<2x3x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    return %2 : tensor<2x3x3xf32>
  }
  func.func private @norm_4(%arg0: tensor<2x3x3xf32>) -> tensor<2xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.sqrt %1 : tensor<2xf32>
    return %2 : tensor<2xf32>
  }
  func.func private @argsort(%arg0: tensor<2x3xf32>) -> tensor<2x3xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<3xi32>
    %1 = stablehlo.reverse %arg0, dims = [1] : tensor<2x3xf32>
    %2 = stablehlo.reverse %0, dims = [0] : tensor<3xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
    %4:2 = "stablehlo.sort"(%1, %3) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.select %6, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %8 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %9 = stablehlo.select %8, %cst_1, %7 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = stablehlo.select %10, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %12 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %13 = stablehlo.select %12, %cst_4, %11 : tensor<i1>, tensor<f32>
      %14 = stablehlo.compare LT, %9, %13, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    }) : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    %5 = stablehlo.reverse %4#1, dims = [1] : tensor<2x3xi32>
    return %5 : tensor<2x3xi32>
  }
  func.func private @_diag(%arg0: tensor<2x3x3xf32>) -> tensor<2x3xf32> {
    %0 = call @diagonal(%arg0) : (tensor<2x3x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func private @diagonal(%arg0: tensor<2x3x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %1 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %3 = stablehlo.add %0, %2 : tensor<3x3xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %5 = stablehlo.convert %4 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<3xi32>
      %9 = stablehlo.iota dim = 0 : tensor<3xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %13 = stablehlo.add %8, %12 : tensor<3xi32>
      %14 = stablehlo.select %11, %13, %8 : tensor<3xi1>, tensor<3xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %18 = stablehlo.add %9, %17 : tensor<3xi32>
      %19 = stablehlo.select %16, %18, %9 : tensor<3xi1>, tensor<3xi32>
      %20 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
      %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
      %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
      %23 = "stablehlo.gather"(%arg0, %22) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1, 2], start_index_map = [1, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1, 1>}> : (tensor<2x3x3xf32>, tensor<3x2xi32>) -> tensor<2x3xf32>
      stablehlo.return %23 : tensor<2x3xf32>
    }) : (tensor<i32>) -> tensor<2x3xf32>
    return %7 : tensor<2x3xf32>
  }
  func.func private @_where_5(%arg0: tensor<2x3xi1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<2x3xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
    %3 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
    %4 = stablehlo.select %arg0, %3, %2 : tensor<2x3xi1>, tensor<2x3xi32>
    return %4 : tensor<2x3xi32>
  }
  func.func private @_diag_6(%arg0: tensor<2x3xi32>) -> tensor<2x3x3xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.pad %arg0, %c, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    %1 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %2 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %4 = stablehlo.add %1, %3 : tensor<3x3xi32>
    %5 = stablehlo.compare EQ, %4, %2, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %6 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = call @_where_7(%5, %6, %c_1) : (tensor<3x3xi1>, tensor<2x3x1xi32>, tensor<i32>) -> tensor<2x3x3xi32>
    return %7 : tensor<2x3x3xi32>
  }
  func.func private @_where_7(%arg0: tensor<3x3xi1>, %arg1: tensor<2x3x1xi32>, %arg2: tensor<i32>) -> tensor<2x3x3xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2] : (tensor<2x3x1xi32>) -> tensor<2x3x3xi32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<3x3xi32>) -> tensor<2x3x3xi32>
    %4 = stablehlo.select %2, %0, %3 : tensor<2x3x3xi1>, tensor<2x3x3xi32>
    return %4 : tensor<2x3x3xi32>
  }
  func.func private @svd_8(%arg0: tensor<2x5x3xf32>) -> (tensor<2x5x5xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>) {
    %0:2 = stablehlo.custom_call @Qr(%arg0) {backend_config = ""} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %0#0, %cst, low = [0, 0, 0], high = [0, 0, 2], interior = [0, 0, 0] : (tensor<2x5x3xf32>, tensor<f32>) -> tensor<2x5x5xf32>
    %2 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1, %0#1) {backend_config = ""} : (tensor<2x5x5xf32>, tensor<2x3xf32>) -> tensor<2x5x5xf32>
    %3 = stablehlo.iota dim = 0 : tensor<5x3xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x3xi32>
    %5 = stablehlo.add %3, %4 : tensor<5x3xi32>
    %6 = stablehlo.iota dim = 1 : tensor<5x3xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<5x3xi32>, tensor<5x3xi32>) -> tensor<5x3xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<5x3xi1>) -> tensor<2x5x3xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x3xf32>
    %10 = stablehlo.select %8, %9, %0#0 : tensor<2x5x3xi1>, tensor<2x5x3xf32>
    %11 = stablehlo.slice %2 [0:2, 0:5, 0:3] : (tensor<2x5x5xf32>) -> tensor<2x5x3xf32>
    %12 = stablehlo.slice %2 [0:2, 0:5, 3:5] : (tensor<2x5x5xf32>) -> tensor<2x5x2xf32>
    %13 = stablehlo.slice %10 [0:2, 0:3, 0:3] : (tensor<2x5x3xf32>) -> tensor<2x3x3xf32>
    %14:3 = call @_svd_tall_and_square_input(%13) : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>)
    %15 = stablehlo.dot_general %11, %14#0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x5x3xf32>, tensor<2x3x3xf32>) -> tensor<2x5x3xf32>
    %16 = call @atleast_1d(%15) : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %17 = call @atleast_1d_9(%12) : (tensor<2x5x2xf32>) -> tensor<2x5x2xf32>
    %18 = stablehlo.concatenate %16, %17, dim = 2 : (tensor<2x5x3xf32>, tensor<2x5x2xf32>) -> tensor<2x5x5xf32>
    %19 = stablehlo.is_finite %13 : (tensor<2x3x3xf32>) -> tensor<2x3x3xi1>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %20 = stablehlo.reduce(%19 init: %c_1) applies stablehlo.and across dimensions = [1, 2] : (tensor<2x3x3xi1>, tensor<i1>) -> tensor<2xi1>
    %21:4 = stablehlo.while(%iterArg = %20, %iterArg_2 = %18, %iterArg_3 = %14#1, %iterArg_4 = %14#2) : tensor<2xi1>, tensor<2x5x5xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>
    cond {
      %23 = stablehlo.not %iterArg : tensor<2xi1>
      %c_5 = stablehlo.constant dense<false> : tensor<i1>
      %24 = stablehlo.reduce(%23 init: %c_5) applies stablehlo.or across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %24 : tensor<i1>
    } do {
      %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %23 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
      %cst_6 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %24 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %cst_7 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %25 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
      %c_8 = stablehlo.constant dense<true> : tensor<i1>
      %26 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i1>) -> tensor<2xi1>
      %27 = stablehlo.broadcast_in_dim %23, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<2x5x5xf32>
      %28 = stablehlo.broadcast_in_dim %24, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
      %29 = stablehlo.broadcast_in_dim %25, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
      %30 = stablehlo.not %iterArg : tensor<2xi1>
      %31 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<2xi1>) -> tensor<2xi1>
      %32 = stablehlo.select %31, %26, %iterArg : tensor<2xi1>, tensor<2xi1>
      %33 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<2xi1>) -> tensor<2x5x5xi1>
      %34 = stablehlo.select %33, %27, %iterArg_2 : tensor<2x5x5xi1>, tensor<2x5x5xf32>
      %35 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<2xi1>) -> tensor<2x3xi1>
      %36 = stablehlo.select %35, %28, %iterArg_3 : tensor<2x3xi1>, tensor<2x3xf32>
      %37 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<2xi1>) -> tensor<2x3x3xi1>
      %38 = stablehlo.select %37, %29, %iterArg_4 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
      stablehlo.return %32, %34, %36, %38 : tensor<2xi1>, tensor<2x5x5xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>
    }
    %22 = stablehlo.transpose %21#3, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    return %21#1, %21#2, %22 : tensor<2x5x5xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>
  }
  func.func private @atleast_1d(%arg0: tensor<2x5x3xf32>) -> tensor<2x5x3xf32> {
    return %arg0 : tensor<2x5x3xf32>
  }
  func.func private @atleast_1d_9(%arg0: tensor<2x5x2xf32>) -> tensor<2x5x2xf32> {
    return %arg0 : tensor<2x5x2xf32>
  }
  func.func private @svd_10(%arg0: tensor<3x5xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3xf32>, tensor<5x5xcomplex<f32>>) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x5xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<5x3xcomplex<f32>>) -> tensor<5x3xf32>
    %2 = stablehlo.imag %0 : (tensor<5x3xcomplex<f32>>) -> tensor<5x3xf32>
    %3 = stablehlo.negate %2 : tensor<5x3xf32>
    %4 = stablehlo.complex %1, %3 : tensor<5x3xcomplex<f32>>
    %5:2 = stablehlo.custom_call @Qr(%4) {backend_config = ""} : (tensor<5x3xcomplex<f32>>) -> (tensor<5x3xcomplex<f32>>, tensor<3xcomplex<f32>>)
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %6 = stablehlo.pad %5#0, %cst, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<5x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5x5xcomplex<f32>>
    %7 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%6, %5#1) {backend_config = ""} : (tensor<5x5xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<5x5xcomplex<f32>>
    %8 = stablehlo.iota dim = 0 : tensor<5x3xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x3xi32>
    %10 = stablehlo.add %8, %9 : tensor<5x3xi32>
    %11 = stablehlo.iota dim = 1 : tensor<5x3xi32>
    %12 = stablehlo.compare GE, %10, %11, SIGNED : (tensor<5x3xi32>, tensor<5x3xi32>) -> tensor<5x3xi1>
    %cst_0 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<5x3xcomplex<f32>>
    %14 = stablehlo.select %12, %13, %5#0 : tensor<5x3xi1>, tensor<5x3xcomplex<f32>>
    %15 = stablehlo.slice %7 [0:5, 0:3] : (tensor<5x5xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
    %16 = stablehlo.slice %7 [0:5, 3:5] : (tensor<5x5xcomplex<f32>>) -> tensor<5x2xcomplex<f32>>
    %17 = stablehlo.slice %14 [0:3, 0:3] : (tensor<5x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %18:3 = call @_svd_tall_and_square_input_11(%17) : (tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3xf32>, tensor<3x3xcomplex<f32>>)
    %19 = stablehlo.dot_general %15, %18#0, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<5x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
    %20 = call @atleast_1d_28(%19) : (tensor<5x3xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
    %21 = call @atleast_1d_29(%16) : (tensor<5x2xcomplex<f32>>) -> tensor<5x2xcomplex<f32>>
    %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<5x3xcomplex<f32>>, tensor<5x2xcomplex<f32>>) -> tensor<5x5xcomplex<f32>>
    %23 = stablehlo.real %17 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %24 = stablehlo.is_finite %23 : (tensor<3x3xf32>) -> tensor<3x3xi1>
    %25 = stablehlo.imag %17 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %26 = stablehlo.is_finite %25 : (tensor<3x3xf32>) -> tensor<3x3xi1>
    %27 = stablehlo.and %24, %26 : tensor<3x3xi1>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %28 = stablehlo.reduce(%27 init: %c_1) applies stablehlo.and across dimensions = [0, 1] : (tensor<3x3xi1>, tensor<i1>) -> tensor<i1>
    %29:4 = stablehlo.while(%iterArg = %28, %iterArg_2 = %22, %iterArg_3 = %18#1, %iterArg_4 = %18#2) : tensor<i1>, tensor<5x5xcomplex<f32>>, tensor<3xf32>, tensor<3x3xcomplex<f32>>
    cond {
      %35 = stablehlo.not %iterArg : tensor<i1>
      stablehlo.return %35 : tensor<i1>
    } do {
      %cst_5 = stablehlo.constant dense<(0x7FC00000,0.000000e+00)> : tensor<complex<f32>>
      %35 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<complex<f32>>) -> tensor<5x5xcomplex<f32>>
      %cst_6 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %36 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %cst_7 = stablehlo.constant dense<(0x7FC00000,0.000000e+00)> : tensor<complex<f32>>
      %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
      %c_8 = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c_8, %35, %36, %37 : tensor<i1>, tensor<5x5xcomplex<f32>>, tensor<3xf32>, tensor<3x3xcomplex<f32>>
    }
    %30 = stablehlo.transpose %29#1, dims = [1, 0] : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xcomplex<f32>>
    %31 = stablehlo.real %30 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %32 = stablehlo.imag %30 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %33 = stablehlo.negate %32 : tensor<5x5xf32>
    %34 = stablehlo.complex %31, %33 : tensor<5x5xcomplex<f32>>
    return %29#3, %29#2, %34 : tensor<3x3xcomplex<f32>>, tensor<3xf32>, tensor<5x5xcomplex<f32>>
  }
  func.func private @_svd_tall_and_square_input_11(%arg0: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3xf32>, tensor<3x3xcomplex<f32>>) {
    %0:4 = call @qdwh_12(%arg0) : (tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<i32>, tensor<i1>)
    %1 = stablehlo.transpose %0#1, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %2 = stablehlo.real %1 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %3 = stablehlo.imag %1 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %4 = stablehlo.negate %3 : tensor<3x3xf32>
    %5 = stablehlo.complex %2, %4 : tensor<3x3xcomplex<f32>>
    %6 = stablehlo.add %0#1, %5 : tensor<3x3xcomplex<f32>>
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %8 = stablehlo.divide %6, %7 : tensor<3x3xcomplex<f32>>
    %9:2 = stablehlo.custom_call @Eigh(%8) {backend_config = "1,0,100,1e-6"} : (tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3xf32>)
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %11 = stablehlo.maximum %9#1, %10 : tensor<3xf32>
    %12 = call @argsort_22(%11) : (tensor<3xf32>) -> tensor<3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %14 = stablehlo.compare LT, %12, %13, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %16 = stablehlo.add %12, %15 : tensor<3xi32>
    %17 = stablehlo.select %14, %16, %12 : tensor<3xi1>, tensor<3xi32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %19 = "stablehlo.gather"(%11, %18) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<3xf32>, tensor<3x1xi32>) -> tensor<3xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %21 = stablehlo.compare LT, %12, %20, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %23 = stablehlo.add %12, %22 : tensor<3xi32>
    %24 = stablehlo.select %21, %23, %12 : tensor<3xi1>, tensor<3xi32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %26 = "stablehlo.gather"(%9#0, %25) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1>}> : (tensor<3x3xcomplex<f32>>, tensor<3x1xi32>) -> tensor<3x3xcomplex<f32>>
    %27 = stablehlo.dot_general %0#0, %26, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %28 = stablehlo.slice %19 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %29 = stablehlo.reshape %28 : (tensor<1xf32>) -> tensor<f32>
    %30 = stablehlo.slice %19 [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    %31 = stablehlo.reshape %30 : (tensor<1xf32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<3.57627869E-7> : tensor<f32>
    %32 = stablehlo.multiply %cst_4, %31 : tensor<f32>
    %33 = stablehlo.compare LE, %29, %32, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %34:2 = stablehlo.while(%iterArg = %27, %iterArg_5 = %33) : tensor<3x3xcomplex<f32>>, tensor<i1>
    cond {
      stablehlo.return %iterArg_5 : tensor<i1>
    } do {
      %35:2 = stablehlo.custom_call @Qr(%iterArg) {backend_config = ""} : (tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3xcomplex<f32>>)
      %36 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%35#0, %35#1) {backend_config = ""} : (tensor<3x3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %37 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %c_6 = stablehlo.constant dense<-1> : tensor<i32>
      %38 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %39 = stablehlo.add %37, %38 : tensor<3x3xi32>
      %40 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %41 = stablehlo.compare GE, %39, %40, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %cst_7 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %42 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
      %43 = stablehlo.select %41, %42, %35#0 : tensor<3x3xi1>, tensor<3x3xcomplex<f32>>
      %44 = func.call @_diag_23(%43) : (tensor<3x3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
      %45 = stablehlo.real %44 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
      %cst_8 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %46 = stablehlo.real %cst_8 : (tensor<complex<f32>>) -> tensor<f32>
      %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %48 = stablehlo.compare EQ, %45, %47, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %49 = stablehlo.imag %44 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
      %cst_9 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %50 = stablehlo.imag %cst_9 : (tensor<complex<f32>>) -> tensor<f32>
      %51 = stablehlo.broadcast_in_dim %50, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %52 = stablehlo.compare GE, %49, %51, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %53 = stablehlo.real %44 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
      %cst_10 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %54 = stablehlo.real %cst_10 : (tensor<complex<f32>>) -> tensor<f32>
      %55 = stablehlo.broadcast_in_dim %54, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %56 = stablehlo.compare GE, %53, %55, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %57 = stablehlo.select %48, %52, %56 : tensor<3xi1>, tensor<3xi1>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %c_12 = stablehlo.constant dense<-1> : tensor<i32>
      %58 = func.call @_where_25(%57, %c_11, %c_12) : (tensor<3xi1>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
      %59 = func.call @_diag_26(%58) : (tensor<3xi32>) -> tensor<3x3xi32>
      %60 = stablehlo.convert %36 : tensor<3x3xcomplex<f32>>
      %61 = stablehlo.convert %59 : (tensor<3x3xi32>) -> tensor<3x3xcomplex<f32>>
      %62 = stablehlo.dot_general %60, %61, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %c_13 = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %62, %c_13 : tensor<3x3xcomplex<f32>>, tensor<i1>
    }
    return %34#0, %19, %26 : tensor<3x3xcomplex<f32>>, tensor<3xf32>, tensor<3x3xcomplex<f32>>
  }
  func.func private @qdwh_12(%arg0: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<i32>, tensor<i1>) {
    %cst = stablehlo.constant dense<[[1.9999615, 52016.457, 0.999961555], [1.92178214, 24.0162086, 0.920118272]]> : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<[[3.74143839, 5.72027779, 0.443261355], [2.67155766, 3.01101112, 0.333944082]]> : tensor<2x3xf32>
    %0 = call @norm_13(%arg0) : (tensor<3x3xcomplex<f32>>) -> tensor<f32>
    %1 = call @norm_14(%arg0) : (tensor<3x3xcomplex<f32>>) -> tensor<f32>
    %2 = stablehlo.rsqrt %0 : tensor<f32>
    %3 = stablehlo.rsqrt %1 : tensor<f32>
    %4 = stablehlo.multiply %2, %3 : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.compare EQ, %0, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %6 = call @_where_15(%5, %c, %4) : (tensor<i1>, tensor<i32>, tensor<f32>) -> tensor<f32>
    %7 = stablehlo.convert %6 : (tensor<f32>) -> tensor<complex<f32>>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %9 = stablehlo.multiply %arg0, %8 : tensor<3x3xcomplex<f32>>
    %cst_2 = stablehlo.constant dense<5.96046448E-7> : tensor<f32>
    %10 = stablehlo.cbrt %cst_2 : tensor<f32>
    %11 = stablehlo.convert %cst : (tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<true> : tensor<i1>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %12:5 = stablehlo.while(%iterArg = %11, %iterArg_13 = %c_5, %iterArg_14 = %c_3, %iterArg_15 = %9, %iterArg_16 = %c_4) : tensor<2x3xcomplex<f32>>, tensor<i32>, tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>
    cond {
      %c_17 = stablehlo.constant dense<2> : tensor<i32>
      %43 = stablehlo.compare LT, %iterArg_13, %c_17, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %43 : tensor<i1>
    } do {
      %43:3 = func.call @closed_call_16(%iterArg, %iterArg_14, %iterArg_15, %iterArg_16) : (tensor<2x3xcomplex<f32>>, tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>) -> (tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>)
      %c_17 = stablehlo.constant dense<1> : tensor<i32>
      %44 = stablehlo.add %iterArg_13, %c_17 : tensor<i32>
      stablehlo.return %iterArg, %44, %43#0, %43#1, %43#2 : tensor<2x3xcomplex<f32>>, tensor<i32>, tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>
    }
    %13 = stablehlo.convert %cst_0 : (tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %c_7 = stablehlo.constant dense<true> : tensor<i1>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %14:6 = stablehlo.while(%iterArg = %13, %iterArg_13 = %10, %iterArg_14 = %c_8, %iterArg_15 = %c_6, %iterArg_16 = %12#3, %iterArg_17 = %c_7) : tensor<2x3xcomplex<f32>>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>
    cond {
      %c_18 = stablehlo.constant dense<2> : tensor<i32>
      %43 = stablehlo.compare LT, %iterArg_14, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %43 : tensor<i1>
    } do {
      %43:3 = func.call @closed_call_19(%iterArg, %iterArg_13, %iterArg_15, %iterArg_16, %iterArg_17) : (tensor<2x3xcomplex<f32>>, tensor<f32>, tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>) -> (tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>)
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %44 = stablehlo.add %iterArg_14, %c_18 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_13, %44, %43#0, %43#1, %43#2 : tensor<2x3xcomplex<f32>>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>
    }
    %c_9 = stablehlo.constant dense<4> : tensor<i32>
    %15:4 = stablehlo.while(%iterArg = %10, %iterArg_13 = %c_9, %iterArg_14 = %14#4, %iterArg_15 = %14#5) : tensor<f32>, tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>
    cond {
      %c_16 = stablehlo.constant dense<10> : tensor<i32>
      %43 = stablehlo.compare LT, %iterArg_13, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_17 = stablehlo.constant dense<false> : tensor<i1>
      %44 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i1>) -> tensor<i1>
      %45 = stablehlo.compare NE, %43, %44, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %46 = stablehlo.convert %45 : tensor<i1>
      %47 = stablehlo.and %iterArg_15, %46 : tensor<i1>
      stablehlo.return %47 : tensor<i1>
    } do {
      %43 = stablehlo.transpose %iterArg_14, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %44 = stablehlo.real %43 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
      %45 = stablehlo.imag %43 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
      %46 = stablehlo.negate %45 : tensor<3x3xf32>
      %47 = stablehlo.complex %44, %46 : tensor<3x3xcomplex<f32>>
      %48 = stablehlo.dot_general %47, %iterArg_14, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %cst_16 = stablehlo.constant dense<(3.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %49 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
      %50 = stablehlo.multiply %49, %48 : tensor<3x3xcomplex<f32>>
      %51 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %52 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %c_17 = stablehlo.constant dense<0> : tensor<i32>
      %53 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %54 = stablehlo.add %51, %53 : tensor<3x3xi32>
      %55 = stablehlo.compare EQ, %54, %52, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %56 = stablehlo.convert %55 : (tensor<3x3xi1>) -> tensor<3x3xcomplex<f32>>
      %57 = stablehlo.add %50, %56 : tensor<3x3xcomplex<f32>>
      %58 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %59 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %c_18 = stablehlo.constant dense<0> : tensor<i32>
      %60 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %61 = stablehlo.add %58, %60 : tensor<3x3xi32>
      %62 = stablehlo.compare EQ, %61, %59, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %63 = stablehlo.convert %62 : (tensor<3x3xi1>) -> tensor<3x3xcomplex<f32>>
      %64 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %c_19 = stablehlo.constant dense<3> : tensor<i32>
      %65 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %66 = stablehlo.compare LT, %64, %65, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %67 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %c_20 = stablehlo.constant dense<3> : tensor<i32>
      %68 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %69 = stablehlo.compare LT, %67, %68, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %70 = stablehlo.and %66, %69 : tensor<3x3xi1>
      %71 = func.call @_where_20(%70, %57, %63) : (tensor<3x3xi1>, tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %72 = stablehlo.cholesky %71, lower = true : tensor<3x3xcomplex<f32>>
      %73 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %c_21 = stablehlo.constant dense<0> : tensor<i32>
      %74 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %75 = stablehlo.add %73, %74 : tensor<3x3xi32>
      %76 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %77 = stablehlo.compare GE, %75, %76, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %cst_22 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %78 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
      %79 = stablehlo.select %77, %72, %78 : tensor<3x3xi1>, tensor<3x3xcomplex<f32>>
      %80 = stablehlo.transpose %iterArg_14, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %81 = chlo.conj %79 : tensor<3x3xcomplex<f32>> -> tensor<3x3xcomplex<f32>>
      %82 = "stablehlo.triangular_solve"(%81, %80) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %83 = stablehlo.real %82 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
      %84 = stablehlo.imag %82 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
      %85 = stablehlo.negate %84 : tensor<3x3xf32>
      %86 = stablehlo.complex %83, %85 : tensor<3x3xcomplex<f32>>
      %87 = "stablehlo.triangular_solve"(%79, %86) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %88 = stablehlo.transpose %87, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %89 = stablehlo.real %88 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
      %90 = stablehlo.imag %88 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
      %91 = stablehlo.negate %90 : tensor<3x3xf32>
      %92 = stablehlo.complex %89, %91 : tensor<3x3xcomplex<f32>>
      %cst_23 = stablehlo.constant dense<(0.333333343,0.000000e+00)> : tensor<complex<f32>>
      %93 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
      %94 = stablehlo.multiply %93, %iterArg_14 : tensor<3x3xcomplex<f32>>
      %cst_24 = stablehlo.constant dense<(2.66666675,0.000000e+00)> : tensor<complex<f32>>
      %95 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
      %96 = stablehlo.multiply %95, %92 : tensor<3x3xcomplex<f32>>
      %97 = stablehlo.add %94, %96 : tensor<3x3xcomplex<f32>>
      %98 = stablehlo.subtract %97, %iterArg_14 : tensor<3x3xcomplex<f32>>
      %99 = func.call @norm_21(%98) : (tensor<3x3xcomplex<f32>>) -> tensor<f32>
      %100 = stablehlo.convert %iterArg : tensor<f32>
      %101 = stablehlo.compare GT, %99, %100, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %102 = stablehlo.add %iterArg_13, %c_25 : tensor<i32>
      stablehlo.return %iterArg, %102, %97, %101 : tensor<f32>, tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>
    }
    %cst_10 = stablehlo.constant dense<(1.500000e+00,0.000000e+00)> : tensor<complex<f32>>
    %16 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %17 = stablehlo.multiply %16, %15#2 : tensor<3x3xcomplex<f32>>
    %cst_11 = stablehlo.constant dense<(5.000000e-01,0.000000e+00)> : tensor<complex<f32>>
    %18 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %19 = stablehlo.multiply %18, %15#2 : tensor<3x3xcomplex<f32>>
    %20 = stablehlo.transpose %15#2, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %21 = stablehlo.real %20 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %22 = stablehlo.imag %20 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %23 = stablehlo.negate %22 : tensor<3x3xf32>
    %24 = stablehlo.complex %21, %23 : tensor<3x3xcomplex<f32>>
    %25 = stablehlo.dot_general %24, %15#2, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %26 = stablehlo.dot_general %19, %25, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %27 = stablehlo.subtract %17, %26 : tensor<3x3xcomplex<f32>>
    %28 = stablehlo.transpose %27, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %29 = stablehlo.real %28 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %30 = stablehlo.imag %28 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %31 = stablehlo.negate %30 : tensor<3x3xf32>
    %32 = stablehlo.complex %29, %31 : tensor<3x3xcomplex<f32>>
    %33 = stablehlo.dot_general %32, %arg0, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %34 = stablehlo.transpose %33, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %35 = stablehlo.real %34 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %36 = stablehlo.imag %34 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %37 = stablehlo.negate %36 : tensor<3x3xf32>
    %38 = stablehlo.complex %35, %37 : tensor<3x3xcomplex<f32>>
    %39 = stablehlo.add %33, %38 : tensor<3x3xcomplex<f32>>
    %cst_12 = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %40 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %41 = stablehlo.divide %39, %40 : tensor<3x3xcomplex<f32>>
    %42 = stablehlo.not %15#3 : tensor<i1>
    return %27, %41, %15#1, %42 : tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<i32>, tensor<i1>
  }
  func.func private @norm_13(%arg0: tensor<3x3xcomplex<f32>>) -> tensor<f32> {
    %0 = stablehlo.abs %arg0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.maximum %cst_1, %2 : tensor<f32>
    return %3 : tensor<f32>
  }
  func.func private @norm_14(%arg0: tensor<3x3xcomplex<f32>>) -> tensor<f32> {
    %0 = stablehlo.abs %arg0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.maximum %cst_1, %2 : tensor<f32>
    return %3 : tensor<f32>
  }
  func.func private @_where_15(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @closed_call_16(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<i32>, %arg2: tensor<3x3xcomplex<f32>>, %arg3: tensor<i1>) -> (tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %1 = call @dynamic_index_in_dim_17(%arg0, %arg1) : (tensor<2x3xcomplex<f32>>, tensor<i32>) -> tensor<3xcomplex<f32>>
    %2 = stablehlo.slice %1 [0:1] : (tensor<3xcomplex<f32>>) -> tensor<1xcomplex<f32>>
    %3 = stablehlo.reshape %2 : (tensor<1xcomplex<f32>>) -> tensor<complex<f32>>
    %4 = stablehlo.slice %1 [1:2] : (tensor<3xcomplex<f32>>) -> tensor<1xcomplex<f32>>
    %5 = stablehlo.reshape %4 : (tensor<1xcomplex<f32>>) -> tensor<complex<f32>>
    %6 = stablehlo.slice %1 [2:3] : (tensor<3xcomplex<f32>>) -> tensor<1xcomplex<f32>>
    %7 = stablehlo.reshape %6 : (tensor<1xcomplex<f32>>) -> tensor<complex<f32>>
    %8 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %9 = stablehlo.multiply %8, %arg2 : tensor<3x3xcomplex<f32>>
    %10 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %11 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %13 = stablehlo.add %10, %12 : tensor<3x3xi32>
    %14 = stablehlo.compare EQ, %13, %11, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %15 = stablehlo.convert %14 : (tensor<3x3xi1>) -> tensor<3x3xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %16 = stablehlo.pad %9, %cst, low = [0, 0], high = [3, 0], interior = [0, 0] : (tensor<3x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<6x3xcomplex<f32>>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.dynamic_update_slice %16, %15, %c_1, %c_2 : (tensor<6x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<6x3xcomplex<f32>>
    %18:2 = stablehlo.custom_call @Qr(%17) {backend_config = ""} : (tensor<6x3xcomplex<f32>>) -> (tensor<6x3xcomplex<f32>>, tensor<3xcomplex<f32>>)
    %19 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%18#0, %18#1) {backend_config = ""} : (tensor<6x3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<6x3xcomplex<f32>>
    %20 = stablehlo.slice %18#0 [0:3, 0:3] : (tensor<6x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %21 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_3 = stablehlo.constant dense<-1> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %23 = stablehlo.add %21, %22 : tensor<3x3xi32>
    %24 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %25 = stablehlo.compare GE, %23, %24, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %cst_4 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %27 = stablehlo.select %25, %26, %20 : tensor<3x3xi1>, tensor<3x3xcomplex<f32>>
    %28 = stablehlo.slice %19 [0:3, 0:3] : (tensor<6x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %29 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_5 = stablehlo.constant dense<3> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %31 = stablehlo.compare LT, %29, %30, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %32 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_6 = stablehlo.constant dense<3> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %34 = stablehlo.compare LT, %32, %33, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %35 = stablehlo.and %31, %34 : tensor<3x3xi1>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %36 = call @_where_18(%35, %28, %c_7) : (tensor<3x3xi1>, tensor<3x3xcomplex<f32>>, tensor<i32>) -> tensor<3x3xcomplex<f32>>
    %c_8 = stablehlo.constant dense<3> : tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %37 = stablehlo.dynamic_slice %19, %c_8, %c_9, sizes = [3, 3] : (tensor<6x3xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<3x3xcomplex<f32>>
    %38 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_10 = stablehlo.constant dense<3> : tensor<i32>
    %39 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %40 = stablehlo.compare LT, %38, %39, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %41 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_11 = stablehlo.constant dense<3> : tensor<i32>
    %42 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %43 = stablehlo.compare LT, %41, %42, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %44 = stablehlo.and %40, %43 : tensor<3x3xi1>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %45 = call @_where_18(%44, %37, %c_12) : (tensor<3x3xi1>, tensor<3x3xcomplex<f32>>, tensor<i32>) -> tensor<3x3xcomplex<f32>>
    %46 = stablehlo.transpose %45, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %47 = stablehlo.real %46 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %48 = stablehlo.imag %46 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %49 = stablehlo.negate %48 : tensor<3x3xf32>
    %50 = stablehlo.complex %47, %49 : tensor<3x3xcomplex<f32>>
    %51 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %52 = stablehlo.multiply %51, %arg2 : tensor<3x3xcomplex<f32>>
    %53 = stablehlo.dot_general %36, %50, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %54 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %55 = stablehlo.multiply %54, %53 : tensor<3x3xcomplex<f32>>
    %56 = stablehlo.add %52, %55 : tensor<3x3xcomplex<f32>>
    %c_13 = stablehlo.constant dense<true> : tensor<i1>
    return %0, %56, %c_13 : tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>
  }
  func.func private @dynamic_index_in_dim_17(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<i32>) -> tensor<3xcomplex<f32>> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.convert %arg1 : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.add %1, %c_0 : tensor<i32>
    %3 = stablehlo.select %0, %2, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.dynamic_slice %arg0, %3, %c_1, sizes = [1, 3] : (tensor<2x3xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<1x3xcomplex<f32>>
    %5 = stablehlo.reshape %4 : (tensor<1x3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    return %5 : tensor<3xcomplex<f32>>
  }
  func.func private @_where_18(%arg0: tensor<3x3xi1>, %arg1: tensor<3x3xcomplex<f32>>, %arg2: tensor<i32>) -> tensor<3x3xcomplex<f32>> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<3x3xi1>, tensor<3x3xcomplex<f32>>
    return %2 : tensor<3x3xcomplex<f32>>
  }
  func.func private @closed_call_19(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<3x3xcomplex<f32>>, %arg4: tensor<i1>) -> (tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg2, %c : tensor<i32>
    %1 = call @dynamic_index_in_dim_17(%arg0, %arg2) : (tensor<2x3xcomplex<f32>>, tensor<i32>) -> tensor<3xcomplex<f32>>
    %2 = stablehlo.slice %1 [0:1] : (tensor<3xcomplex<f32>>) -> tensor<1xcomplex<f32>>
    %3 = stablehlo.reshape %2 : (tensor<1xcomplex<f32>>) -> tensor<complex<f32>>
    %4 = stablehlo.slice %1 [1:2] : (tensor<3xcomplex<f32>>) -> tensor<1xcomplex<f32>>
    %5 = stablehlo.reshape %4 : (tensor<1xcomplex<f32>>) -> tensor<complex<f32>>
    %6 = stablehlo.slice %1 [2:3] : (tensor<3xcomplex<f32>>) -> tensor<1xcomplex<f32>>
    %7 = stablehlo.reshape %6 : (tensor<1xcomplex<f32>>) -> tensor<complex<f32>>
    %8 = stablehlo.transpose %arg3, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %9 = stablehlo.real %8 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %10 = stablehlo.imag %8 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %11 = stablehlo.negate %10 : tensor<3x3xf32>
    %12 = stablehlo.complex %9, %11 : tensor<3x3xcomplex<f32>>
    %13 = stablehlo.dot_general %12, %arg3, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %14 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %15 = stablehlo.multiply %14, %13 : tensor<3x3xcomplex<f32>>
    %16 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %17 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %19 = stablehlo.add %16, %18 : tensor<3x3xi32>
    %20 = stablehlo.compare EQ, %19, %17, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %21 = stablehlo.convert %20 : (tensor<3x3xi1>) -> tensor<3x3xcomplex<f32>>
    %22 = stablehlo.add %15, %21 : tensor<3x3xcomplex<f32>>
    %23 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %24 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %25 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %26 = stablehlo.add %23, %25 : tensor<3x3xi32>
    %27 = stablehlo.compare EQ, %26, %24, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %28 = stablehlo.convert %27 : (tensor<3x3xi1>) -> tensor<3x3xcomplex<f32>>
    %29 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %31 = stablehlo.compare LT, %29, %30, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %32 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %34 = stablehlo.compare LT, %32, %33, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %35 = stablehlo.and %31, %34 : tensor<3x3xi1>
    %36 = call @_where_20(%35, %22, %28) : (tensor<3x3xi1>, tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %37 = stablehlo.cholesky %36, lower = true : tensor<3x3xcomplex<f32>>
    %38 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %39 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %40 = stablehlo.add %38, %39 : tensor<3x3xi32>
    %41 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %42 = stablehlo.compare GE, %40, %41, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %43 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %44 = stablehlo.select %42, %37, %43 : tensor<3x3xi1>, tensor<3x3xcomplex<f32>>
    %45 = stablehlo.transpose %arg3, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %46 = chlo.conj %44 : tensor<3x3xcomplex<f32>> -> tensor<3x3xcomplex<f32>>
    %47 = "stablehlo.triangular_solve"(%46, %45) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %48 = stablehlo.real %47 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %49 = stablehlo.imag %47 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %50 = stablehlo.negate %49 : tensor<3x3xf32>
    %51 = stablehlo.complex %48, %50 : tensor<3x3xcomplex<f32>>
    %52 = "stablehlo.triangular_solve"(%44, %51) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %53 = stablehlo.transpose %52, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %54 = stablehlo.real %53 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %55 = stablehlo.imag %53 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %56 = stablehlo.negate %55 : tensor<3x3xf32>
    %57 = stablehlo.complex %54, %56 : tensor<3x3xcomplex<f32>>
    %58 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %59 = stablehlo.multiply %58, %arg3 : tensor<3x3xcomplex<f32>>
    %60 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %61 = stablehlo.multiply %60, %57 : tensor<3x3xcomplex<f32>>
    %62 = stablehlo.add %59, %61 : tensor<3x3xcomplex<f32>>
    %63 = stablehlo.subtract %62, %arg3 : tensor<3x3xcomplex<f32>>
    %64 = call @norm_21(%63) : (tensor<3x3xcomplex<f32>>) -> tensor<f32>
    %65 = stablehlo.convert %arg1 : tensor<f32>
    %66 = stablehlo.compare GT, %64, %65, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0, %62, %66 : tensor<i32>, tensor<3x3xcomplex<f32>>, tensor<i1>
  }
  func.func private @_where_20(%arg0: tensor<3x3xi1>, %arg1: tensor<3x3xcomplex<f32>>, %arg2: tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<3x3xi1>, tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @norm_21(%arg0: tensor<3x3xcomplex<f32>>) -> tensor<f32> {
    %0 = stablehlo.real %arg0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %1 = stablehlo.imag %arg0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %2 = stablehlo.negate %1 : tensor<3x3xf32>
    %3 = stablehlo.complex %0, %2 : tensor<3x3xcomplex<f32>>
    %4 = stablehlo.multiply %arg0, %3 : tensor<3x3xcomplex<f32>>
    %5 = stablehlo.real %4 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf32>, tensor<f32>) -> tensor<f32>
    %7 = stablehlo.sqrt %6 : tensor<f32>
    return %7 : tensor<f32>
  }
  func.func private @argsort_22(%arg0: tensor<3xf32>) -> tensor<3xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<3xi32>
    %1 = stablehlo.reverse %arg0, dims = [0] : tensor<3xf32>
    %2 = stablehlo.reverse %0, dims = [0] : tensor<3xi32>
    %3:2 = "stablehlo.sort"(%1, %2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_1, %6 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.select %9, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %11 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %12 = stablehlo.select %11, %cst_4, %10 : tensor<i1>, tensor<f32>
      %13 = stablehlo.compare LT, %8, %12, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    }) : (tensor<3xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>)
    %4 = stablehlo.reverse %3#1, dims = [0] : tensor<3xi32>
    return %4 : tensor<3xi32>
  }
  func.func private @_diag_23(%arg0: tensor<3x3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
    %0 = call @diagonal_24(%arg0) : (tensor<3x3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    return %0 : tensor<3xcomplex<f32>>
  }
  func.func private @diagonal_24(%arg0: tensor<3x3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
    %0 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %1 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %3 = stablehlo.add %0, %2 : tensor<3x3xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %5 = stablehlo.convert %4 : (tensor<3x3xi1>) -> tensor<3x3xcomplex<f32>>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<3xi32>
      %9 = stablehlo.iota dim = 0 : tensor<3xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %13 = stablehlo.add %8, %12 : tensor<3xi32>
      %14 = stablehlo.select %11, %13, %8 : tensor<3xi1>, tensor<3xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %18 = stablehlo.add %9, %17 : tensor<3xi32>
      %19 = stablehlo.select %16, %18, %9 : tensor<3xi1>, tensor<3xi32>
      %20 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
      %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
      %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
      %23 = "stablehlo.gather"(%arg0, %22) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<3x3xcomplex<f32>>, tensor<3x2xi32>) -> tensor<3xcomplex<f32>>
      stablehlo.return %23 : tensor<3xcomplex<f32>>
    }) : (tensor<i32>) -> tensor<3xcomplex<f32>>
    return %7 : tensor<3xcomplex<f32>>
  }
  func.func private @_where_25(%arg0: tensor<3xi1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<3xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<3xi1>, tensor<3xi32>
    return %2 : tensor<3xi32>
  }
  func.func private @_diag_26(%arg0: tensor<3xi32>) -> tensor<3x3xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.pad %arg0, %c, low = [0], high = [0], interior = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
    %1 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %2 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %4 = stablehlo.add %1, %3 : tensor<3x3xi32>
    %5 = stablehlo.compare EQ, %4, %2, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %6 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = call @_where_27(%5, %6, %c_1) : (tensor<3x3xi1>, tensor<3x1xi32>, tensor<i32>) -> tensor<3x3xi32>
    return %7 : tensor<3x3xi32>
  }
  func.func private @_where_27(%arg0: tensor<3x3xi1>, %arg1: tensor<3x1xi32>, %arg2: tensor<i32>) -> tensor<3x3xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<3x1xi32>) -> tensor<3x3xi32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<3x3xi1>, tensor<3x3xi32>
    return %2 : tensor<3x3xi32>
  }
  func.func private @atleast_1d_28(%arg0: tensor<5x3xcomplex<f32>>) -> tensor<5x3xcomplex<f32>> {
    return %arg0 : tensor<5x3xcomplex<f32>>
  }
  func.func private @atleast_1d_29(%arg0: tensor<5x2xcomplex<f32>>) -> tensor<5x2xcomplex<f32>> {
    return %arg0 : tensor<5x2xcomplex<f32>>
  }
  func.func private @svd_30(%arg0: tensor<2x5x3xf32>) -> tensor<2x3xf32> {
    %0 = call @svd_31(%arg0) : (tensor<2x5x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func private @svd_31(%arg0: tensor<2x5x3xf32>) -> tensor<2x3xf32> {
    %0:2 = stablehlo.custom_call @Qr(%arg0) {backend_config = ""} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %0#0, %cst, low = [0, 0, 0], high = [0, 0, 2], interior = [0, 0, 0] : (tensor<2x5x3xf32>, tensor<f32>) -> tensor<2x5x5xf32>
    %2 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1, %0#1) {backend_config = ""} : (tensor<2x5x5xf32>, tensor<2x3xf32>) -> tensor<2x5x5xf32>
    %3 = stablehlo.iota dim = 0 : tensor<5x3xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x3xi32>
    %5 = stablehlo.add %3, %4 : tensor<5x3xi32>
    %6 = stablehlo.iota dim = 1 : tensor<5x3xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<5x3xi32>, tensor<5x3xi32>) -> tensor<5x3xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<5x3xi1>) -> tensor<2x5x3xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x3xf32>
    %10 = stablehlo.select %8, %9, %0#0 : tensor<2x5x3xi1>, tensor<2x5x3xf32>
    %11 = stablehlo.slice %2 [0:2, 0:5, 0:3] : (tensor<2x5x5xf32>) -> tensor<2x5x3xf32>
    %12 = stablehlo.slice %2 [0:2, 0:5, 3:5] : (tensor<2x5x5xf32>) -> tensor<2x5x2xf32>
    %13 = stablehlo.slice %10 [0:2, 0:3, 0:3] : (tensor<2x5x3xf32>) -> tensor<2x3x3xf32>
    %14 = call @_svd_tall_and_square_input_32(%13) : (tensor<2x3x3xf32>) -> tensor<2x3xf32>
    return %14 : tensor<2x3xf32>
  }
  func.func private @_svd_tall_and_square_input_32(%arg0: tensor<2x3x3xf32>) -> tensor<2x3xf32> {
    %0:4 = call @qdwh(%arg0) : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2xi32>, tensor<2xi1>)
    %1 = stablehlo.transpose %0#1, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %2 = stablehlo.add %0#1, %1 : tensor<2x3x3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %4 = stablehlo.divide %2, %3 : tensor<2x3x3xf32>
    %5:2 = stablehlo.custom_call @Eigh(%4) {backend_config = "1,0,100,1e-6"} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>)
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %7 = stablehlo.maximum %5#1, %6 : tensor<2x3xf32>
    %8 = call @argsort(%7) : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %12 = stablehlo.add %8, %11 : tensor<2x3xi32>
    %13 = stablehlo.select %10, %12, %8 : tensor<2x3xi1>, tensor<2x3xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %15 = "stablehlo.gather"(%7, %14) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>
    return %15 : tensor<2x3xf32>
  }
}
