module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x5xf32>, %arg1: tensor<2x5x5xf32>, %arg2: tensor<2x5x3xf32>, %arg3: tensor<2x3x5xf32>) -> (tensor<2x5x3xf32> {jax.result_info = "result[0]"}, tensor<2x5x3xf32> {jax.result_info = "result[1]"}, tensor<2x5x3xf32> {jax.result_info = "result[2]"}, tensor<2x5x3xf32> {jax.result_info = "result[3]"}, tensor<2x5x3xf32> {jax.result_info = "result[4]"}, tensor<2x5x3xf32> {jax.result_info = "result[5]"}, tensor<2x5x3xf32> {jax.result_info = "result[6]"}, tensor<2x5x3xf32> {jax.result_info = "result[7]"}, tensor<2x5x3xf32> {jax.result_info = "result[8]"}, tensor<2x5x3xf32> {jax.result_info = "result[9]"}, tensor<2x5x3xf32> {jax.result_info = "result[10]"}, tensor<2x5x3xf32> {jax.result_info = "result[11]"}, tensor<2x3x5xf32> {jax.result_info = "result[12]"}, tensor<2x3x5xf32> {jax.result_info = "result[13]"}, tensor<2x3x5xf32> {jax.result_info = "result[14]"}, tensor<2x3x5xf32> {jax.result_info = "result[15]"}, tensor<2x3x5xf32> {jax.result_info = "result[16]"}, tensor<2x3x5xf32> {jax.result_info = "result[17]"}, tensor<2x3x5xf32> {jax.result_info = "result[18]"}, tensor<2x3x5xf32> {jax.result_info = "result[19]"}, tensor<2x3x5xf32> {jax.result_info = "result[20]"}, tensor<2x3x5xf32> {jax.result_info = "result[21]"}, tensor<2x3x5xf32> {jax.result_info = "result[22]"}, tensor<2x3x5xf32> {jax.result_info = "result[23]"}, tensor<2x5x3xf32> {jax.result_info = "result[24]"}, tensor<2x5x3xf32> {jax.result_info = "result[25]"}, tensor<2x5x3xf32> {jax.result_info = "result[26]"}, tensor<2x5x3xf32> {jax.result_info = "result[27]"}, tensor<2x5x3xf32> {jax.result_info = "result[28]"}, tensor<2x5x3xf32> {jax.result_info = "result[29]"}, tensor<2x5x3xf32> {jax.result_info = "result[30]"}, tensor<2x5x3xf32> {jax.result_info = "result[31]"}, tensor<2x3x5xf32> {jax.result_info = "result[32]"}, tensor<2x3x5xf32> {jax.result_info = "result[33]"}, tensor<2x3x5xf32> {jax.result_info = "result[34]"}, tensor<2x3x5xf32> {jax.result_info = "result[35]"}, tensor<2x3x5xf32> {jax.result_info = "result[36]"}, tensor<2x3x5xf32> {jax.result_info = "result[37]"}, tensor<2x3x5xf32> {jax.result_info = "result[38]"}, tensor<2x3x5xf32> {jax.result_info = "result[39]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x3xf32>
    %1 = stablehlo.add %arg2, %0 : tensor<2x5x3xf32>
    %2 = stablehlo.complex %arg2, %1 : tensor<2x5x3xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3x5xf32>
    %4 = stablehlo.subtract %3, %arg3 : tensor<2x3x5xf32>
    %5 = stablehlo.complex %arg3, %4 : tensor<2x3x5xcomplex<f32>>
    %6 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %7 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %9 = stablehlo.add %6, %8 : tensor<5x5xi32>
    %10 = stablehlo.compare EQ, %9, %7, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %11 = stablehlo.convert %10 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %13 = stablehlo.multiply %12, %11 : tensor<5x5xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %16 = stablehlo.add %arg0, %15 : tensor<2x5x5xf32>
    %17 = stablehlo.custom_call @lapack_strsm_ffi(%16, %arg2) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %18 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %19 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %21 = stablehlo.add %18, %20 : tensor<5x5xi32>
    %22 = stablehlo.compare EQ, %21, %19, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %23 = stablehlo.convert %22 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %25 = stablehlo.multiply %24, %23 : tensor<5x5xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %28 = stablehlo.add %arg0, %27 : tensor<2x5x5xf32>
    %29 = stablehlo.custom_call @lapack_strsm_ffi(%28, %arg2) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %30 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %31 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %33 = stablehlo.add %30, %32 : tensor<5x5xi32>
    %34 = stablehlo.compare EQ, %33, %31, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %35 = stablehlo.convert %34 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_5 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %37 = stablehlo.multiply %36, %35 : tensor<5x5xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %40 = stablehlo.add %arg0, %39 : tensor<2x5x5xf32>
    %41 = stablehlo.custom_call @lapack_strsm_ffi(%40, %arg2) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %42 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %43 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %44 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %45 = stablehlo.add %42, %44 : tensor<5x5xi32>
    %46 = stablehlo.compare EQ, %45, %43, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %47 = stablehlo.convert %46 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %49 = stablehlo.multiply %48, %47 : tensor<5x5xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %52 = stablehlo.add %arg0, %51 : tensor<2x5x5xf32>
    %53 = stablehlo.custom_call @lapack_strsm_ffi(%52, %arg2) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %54 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %55 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %56 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %57 = stablehlo.add %54, %56 : tensor<5x5xi32>
    %58 = stablehlo.compare EQ, %57, %55, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %59 = stablehlo.convert %58 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_9 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %61 = stablehlo.multiply %60, %59 : tensor<5x5xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %64 = stablehlo.add %arg0, %63 : tensor<2x5x5xf32>
    %65 = stablehlo.custom_call @lapack_strsm_ffi(%64, %arg2) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %66 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %67 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %68 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %69 = stablehlo.add %66, %68 : tensor<5x5xi32>
    %70 = stablehlo.compare EQ, %69, %67, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %71 = stablehlo.convert %70 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_11 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %73 = stablehlo.multiply %72, %71 : tensor<5x5xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %76 = stablehlo.add %arg0, %75 : tensor<2x5x5xf32>
    %77 = stablehlo.custom_call @lapack_strsm_ffi(%76, %arg2) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %78 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %79 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %80 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %81 = stablehlo.add %78, %80 : tensor<5x5xi32>
    %82 = stablehlo.compare EQ, %81, %79, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %83 = stablehlo.convert %82 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_13 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %85 = stablehlo.multiply %84, %83 : tensor<5x5xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %87 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %88 = stablehlo.add %arg0, %87 : tensor<2x5x5xf32>
    %89 = stablehlo.custom_call @lapack_strsm_ffi(%88, %arg2) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %90 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %91 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %92 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %93 = stablehlo.add %90, %92 : tensor<5x5xi32>
    %94 = stablehlo.compare EQ, %93, %91, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %95 = stablehlo.convert %94 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_15 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %97 = stablehlo.multiply %96, %95 : tensor<5x5xf32>
    %98 = stablehlo.broadcast_in_dim %97, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %99 = stablehlo.broadcast_in_dim %98, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %100 = stablehlo.add %arg0, %99 : tensor<2x5x5xf32>
    %101 = stablehlo.custom_call @lapack_strsm_ffi(%100, %arg2) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %102 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %103 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %104 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %105 = stablehlo.add %102, %104 : tensor<5x5xi32>
    %106 = stablehlo.compare EQ, %105, %103, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %107 = stablehlo.convert %106 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_17 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %109 = stablehlo.multiply %108, %107 : tensor<5x5xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %111 = stablehlo.broadcast_in_dim %110, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %112 = stablehlo.add %arg0, %111 : tensor<2x5x5xf32>
    %113 = stablehlo.custom_call @lapack_strsm_ffi(%112, %arg2) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %114 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %115 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %116 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %117 = stablehlo.add %114, %116 : tensor<5x5xi32>
    %118 = stablehlo.compare EQ, %117, %115, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %119 = stablehlo.convert %118 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_19 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %121 = stablehlo.multiply %120, %119 : tensor<5x5xf32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %123 = stablehlo.broadcast_in_dim %122, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %124 = stablehlo.add %arg0, %123 : tensor<2x5x5xf32>
    %125 = stablehlo.custom_call @lapack_strsm_ffi(%124, %arg2) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %126 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %127 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %128 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %129 = stablehlo.add %126, %128 : tensor<5x5xi32>
    %130 = stablehlo.compare EQ, %129, %127, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %131 = stablehlo.convert %130 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_21 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %133 = stablehlo.multiply %132, %131 : tensor<5x5xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %136 = stablehlo.add %arg0, %135 : tensor<2x5x5xf32>
    %137 = stablehlo.custom_call @lapack_strsm_ffi(%136, %arg2) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %138 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %139 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %140 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %141 = stablehlo.add %138, %140 : tensor<5x5xi32>
    %142 = stablehlo.compare EQ, %141, %139, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %143 = stablehlo.convert %142 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_23 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %145 = stablehlo.multiply %144, %143 : tensor<5x5xf32>
    %146 = stablehlo.broadcast_in_dim %145, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %147 = stablehlo.broadcast_in_dim %146, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %148 = stablehlo.add %arg0, %147 : tensor<2x5x5xf32>
    %149 = stablehlo.custom_call @lapack_strsm_ffi(%148, %arg2) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %150 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %151 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_24 = stablehlo.constant dense<0> : tensor<i32>
    %152 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %153 = stablehlo.add %150, %152 : tensor<5x5xi32>
    %154 = stablehlo.compare EQ, %153, %151, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %155 = stablehlo.convert %154 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_25 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %157 = stablehlo.multiply %156, %155 : tensor<5x5xf32>
    %158 = stablehlo.broadcast_in_dim %157, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %160 = stablehlo.add %arg0, %159 : tensor<2x5x5xf32>
    %161 = stablehlo.custom_call @lapack_strsm_ffi(%160, %arg3) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %162 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %163 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_26 = stablehlo.constant dense<0> : tensor<i32>
    %164 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %165 = stablehlo.add %162, %164 : tensor<5x5xi32>
    %166 = stablehlo.compare EQ, %165, %163, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %167 = stablehlo.convert %166 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_27 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %169 = stablehlo.multiply %168, %167 : tensor<5x5xf32>
    %170 = stablehlo.broadcast_in_dim %169, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %171 = stablehlo.broadcast_in_dim %170, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %172 = stablehlo.add %arg0, %171 : tensor<2x5x5xf32>
    %173 = stablehlo.custom_call @lapack_strsm_ffi(%172, %arg3) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %174 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %175 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_28 = stablehlo.constant dense<0> : tensor<i32>
    %176 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %177 = stablehlo.add %174, %176 : tensor<5x5xi32>
    %178 = stablehlo.compare EQ, %177, %175, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %179 = stablehlo.convert %178 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_29 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %181 = stablehlo.multiply %180, %179 : tensor<5x5xf32>
    %182 = stablehlo.broadcast_in_dim %181, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %183 = stablehlo.broadcast_in_dim %182, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %184 = stablehlo.add %arg0, %183 : tensor<2x5x5xf32>
    %185 = stablehlo.custom_call @lapack_strsm_ffi(%184, %arg3) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %186 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %187 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_30 = stablehlo.constant dense<0> : tensor<i32>
    %188 = stablehlo.broadcast_in_dim %c_30, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %189 = stablehlo.add %186, %188 : tensor<5x5xi32>
    %190 = stablehlo.compare EQ, %189, %187, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %191 = stablehlo.convert %190 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_31 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %192 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %193 = stablehlo.multiply %192, %191 : tensor<5x5xf32>
    %194 = stablehlo.broadcast_in_dim %193, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %195 = stablehlo.broadcast_in_dim %194, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %196 = stablehlo.add %arg0, %195 : tensor<2x5x5xf32>
    %197 = stablehlo.custom_call @lapack_strsm_ffi(%196, %arg3) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %198 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %199 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_32 = stablehlo.constant dense<0> : tensor<i32>
    %200 = stablehlo.broadcast_in_dim %c_32, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %201 = stablehlo.add %198, %200 : tensor<5x5xi32>
    %202 = stablehlo.compare EQ, %201, %199, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %203 = stablehlo.convert %202 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_33 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %205 = stablehlo.multiply %204, %203 : tensor<5x5xf32>
    %206 = stablehlo.broadcast_in_dim %205, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %207 = stablehlo.broadcast_in_dim %206, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %208 = stablehlo.add %arg0, %207 : tensor<2x5x5xf32>
    %209 = stablehlo.custom_call @lapack_strsm_ffi(%208, %arg3) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %210 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %211 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_34 = stablehlo.constant dense<0> : tensor<i32>
    %212 = stablehlo.broadcast_in_dim %c_34, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %213 = stablehlo.add %210, %212 : tensor<5x5xi32>
    %214 = stablehlo.compare EQ, %213, %211, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %215 = stablehlo.convert %214 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_35 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %217 = stablehlo.multiply %216, %215 : tensor<5x5xf32>
    %218 = stablehlo.broadcast_in_dim %217, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %219 = stablehlo.broadcast_in_dim %218, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %220 = stablehlo.add %arg0, %219 : tensor<2x5x5xf32>
    %221 = stablehlo.custom_call @lapack_strsm_ffi(%220, %arg3) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %222 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %223 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_36 = stablehlo.constant dense<0> : tensor<i32>
    %224 = stablehlo.broadcast_in_dim %c_36, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %225 = stablehlo.add %222, %224 : tensor<5x5xi32>
    %226 = stablehlo.compare EQ, %225, %223, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %227 = stablehlo.convert %226 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_37 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %229 = stablehlo.multiply %228, %227 : tensor<5x5xf32>
    %230 = stablehlo.broadcast_in_dim %229, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %231 = stablehlo.broadcast_in_dim %230, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %232 = stablehlo.add %arg0, %231 : tensor<2x5x5xf32>
    %233 = stablehlo.custom_call @lapack_strsm_ffi(%232, %arg3) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %234 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %235 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_38 = stablehlo.constant dense<0> : tensor<i32>
    %236 = stablehlo.broadcast_in_dim %c_38, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %237 = stablehlo.add %234, %236 : tensor<5x5xi32>
    %238 = stablehlo.compare EQ, %237, %235, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %239 = stablehlo.convert %238 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_39 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %241 = stablehlo.multiply %240, %239 : tensor<5x5xf32>
    %242 = stablehlo.broadcast_in_dim %241, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %243 = stablehlo.broadcast_in_dim %242, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %244 = stablehlo.add %arg0, %243 : tensor<2x5x5xf32>
    %245 = stablehlo.custom_call @lapack_strsm_ffi(%244, %arg3) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %246 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %247 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_40 = stablehlo.constant dense<0> : tensor<i32>
    %248 = stablehlo.broadcast_in_dim %c_40, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %249 = stablehlo.add %246, %248 : tensor<5x5xi32>
    %250 = stablehlo.compare EQ, %249, %247, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %251 = stablehlo.convert %250 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_41 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %253 = stablehlo.multiply %252, %251 : tensor<5x5xf32>
    %254 = stablehlo.broadcast_in_dim %253, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %255 = stablehlo.broadcast_in_dim %254, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %256 = stablehlo.add %arg0, %255 : tensor<2x5x5xf32>
    %257 = stablehlo.custom_call @lapack_strsm_ffi(%256, %arg3) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %258 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %259 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_42 = stablehlo.constant dense<0> : tensor<i32>
    %260 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %261 = stablehlo.add %258, %260 : tensor<5x5xi32>
    %262 = stablehlo.compare EQ, %261, %259, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %263 = stablehlo.convert %262 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_43 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %265 = stablehlo.multiply %264, %263 : tensor<5x5xf32>
    %266 = stablehlo.broadcast_in_dim %265, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %267 = stablehlo.broadcast_in_dim %266, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %268 = stablehlo.add %arg0, %267 : tensor<2x5x5xf32>
    %269 = stablehlo.custom_call @lapack_strsm_ffi(%268, %arg3) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %270 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %271 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_44 = stablehlo.constant dense<0> : tensor<i32>
    %272 = stablehlo.broadcast_in_dim %c_44, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %273 = stablehlo.add %270, %272 : tensor<5x5xi32>
    %274 = stablehlo.compare EQ, %273, %271, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %275 = stablehlo.convert %274 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_45 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %276 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %277 = stablehlo.multiply %276, %275 : tensor<5x5xf32>
    %278 = stablehlo.broadcast_in_dim %277, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %279 = stablehlo.broadcast_in_dim %278, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %280 = stablehlo.add %arg0, %279 : tensor<2x5x5xf32>
    %281 = stablehlo.custom_call @lapack_strsm_ffi(%280, %arg3) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %282 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %283 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_46 = stablehlo.constant dense<0> : tensor<i32>
    %284 = stablehlo.broadcast_in_dim %c_46, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %285 = stablehlo.add %282, %284 : tensor<5x5xi32>
    %286 = stablehlo.compare EQ, %285, %283, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %287 = stablehlo.convert %286 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_47 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %288 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %289 = stablehlo.multiply %288, %287 : tensor<5x5xf32>
    %290 = stablehlo.broadcast_in_dim %289, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %291 = stablehlo.broadcast_in_dim %290, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %292 = stablehlo.add %arg0, %291 : tensor<2x5x5xf32>
    %293 = stablehlo.custom_call @lapack_strsm_ffi(%292, %arg3) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %294 = stablehlo.complex %arg0, %arg1 : tensor<2x5x5xcomplex<f32>>
    %295 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %296 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_48 = stablehlo.constant dense<0> : tensor<i32>
    %297 = stablehlo.broadcast_in_dim %c_48, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %298 = stablehlo.add %295, %297 : tensor<5x5xi32>
    %299 = stablehlo.compare EQ, %298, %296, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %300 = stablehlo.convert %299 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_49 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %301 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %302 = stablehlo.multiply %301, %300 : tensor<5x5xf32>
    %303 = stablehlo.convert %302 : (tensor<5x5xf32>) -> tensor<5x5xcomplex<f32>>
    %304 = stablehlo.broadcast_in_dim %303, dims = [1, 2] : (tensor<5x5xcomplex<f32>>) -> tensor<1x5x5xcomplex<f32>>
    %305 = stablehlo.broadcast_in_dim %304, dims = [0, 1, 2] : (tensor<1x5x5xcomplex<f32>>) -> tensor<2x5x5xcomplex<f32>>
    %306 = stablehlo.add %294, %305 : tensor<2x5x5xcomplex<f32>>
    %307 = stablehlo.custom_call @lapack_ctrsm_ffi(%306, %2) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xcomplex<f32>>, tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xcomplex<f32>>
    %308 = stablehlo.real %307 : (tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xf32>
    %309 = stablehlo.imag %307 : (tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xf32>
    %310 = stablehlo.complex %arg0, %arg1 : tensor<2x5x5xcomplex<f32>>
    %311 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %312 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_50 = stablehlo.constant dense<0> : tensor<i32>
    %313 = stablehlo.broadcast_in_dim %c_50, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %314 = stablehlo.add %311, %313 : tensor<5x5xi32>
    %315 = stablehlo.compare EQ, %314, %312, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %316 = stablehlo.convert %315 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_51 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %317 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %318 = stablehlo.multiply %317, %316 : tensor<5x5xf32>
    %319 = stablehlo.convert %318 : (tensor<5x5xf32>) -> tensor<5x5xcomplex<f32>>
    %320 = stablehlo.broadcast_in_dim %319, dims = [1, 2] : (tensor<5x5xcomplex<f32>>) -> tensor<1x5x5xcomplex<f32>>
    %321 = stablehlo.broadcast_in_dim %320, dims = [0, 1, 2] : (tensor<1x5x5xcomplex<f32>>) -> tensor<2x5x5xcomplex<f32>>
    %322 = stablehlo.add %310, %321 : tensor<2x5x5xcomplex<f32>>
    %323 = stablehlo.custom_call @lapack_ctrsm_ffi(%322, %2) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xcomplex<f32>>, tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xcomplex<f32>>
    %324 = stablehlo.real %323 : (tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xf32>
    %325 = stablehlo.imag %323 : (tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xf32>
    %326 = stablehlo.complex %arg0, %arg1 : tensor<2x5x5xcomplex<f32>>
    %327 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %328 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_52 = stablehlo.constant dense<0> : tensor<i32>
    %329 = stablehlo.broadcast_in_dim %c_52, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %330 = stablehlo.add %327, %329 : tensor<5x5xi32>
    %331 = stablehlo.compare EQ, %330, %328, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %332 = stablehlo.convert %331 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_53 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %333 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %334 = stablehlo.multiply %333, %332 : tensor<5x5xf32>
    %335 = stablehlo.convert %334 : (tensor<5x5xf32>) -> tensor<5x5xcomplex<f32>>
    %336 = stablehlo.broadcast_in_dim %335, dims = [1, 2] : (tensor<5x5xcomplex<f32>>) -> tensor<1x5x5xcomplex<f32>>
    %337 = stablehlo.broadcast_in_dim %336, dims = [0, 1, 2] : (tensor<1x5x5xcomplex<f32>>) -> tensor<2x5x5xcomplex<f32>>
    %338 = stablehlo.add %326, %337 : tensor<2x5x5xcomplex<f32>>
    %339 = stablehlo.custom_call @lapack_ctrsm_ffi(%338, %2) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xcomplex<f32>>, tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xcomplex<f32>>
    %340 = stablehlo.real %339 : (tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xf32>
    %341 = stablehlo.imag %339 : (tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xf32>
    %342 = stablehlo.complex %arg0, %arg1 : tensor<2x5x5xcomplex<f32>>
    %343 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %344 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_54 = stablehlo.constant dense<0> : tensor<i32>
    %345 = stablehlo.broadcast_in_dim %c_54, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %346 = stablehlo.add %343, %345 : tensor<5x5xi32>
    %347 = stablehlo.compare EQ, %346, %344, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %348 = stablehlo.convert %347 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_55 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %349 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %350 = stablehlo.multiply %349, %348 : tensor<5x5xf32>
    %351 = stablehlo.convert %350 : (tensor<5x5xf32>) -> tensor<5x5xcomplex<f32>>
    %352 = stablehlo.broadcast_in_dim %351, dims = [1, 2] : (tensor<5x5xcomplex<f32>>) -> tensor<1x5x5xcomplex<f32>>
    %353 = stablehlo.broadcast_in_dim %352, dims = [0, 1, 2] : (tensor<1x5x5xcomplex<f32>>) -> tensor<2x5x5xcomplex<f32>>
    %354 = stablehlo.add %342, %353 : tensor<2x5x5xcomplex<f32>>
    %355 = stablehlo.custom_call @lapack_ctrsm_ffi(%354, %2) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xcomplex<f32>>, tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xcomplex<f32>>
    %356 = stablehlo.real %355 : (tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xf32>
    %357 = stablehlo.imag %355 : (tensor<2x5x3xcomplex<f32>>) -> tensor<2x5x3xf32>
    %358 = stablehlo.complex %arg0, %arg1 : tensor<2x5x5xcomplex<f32>>
    %359 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %360 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_56 = stablehlo.constant dense<0> : tensor<i32>
    %361 = stablehlo.broadcast_in_dim %c_56, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %362 = stablehlo.add %359, %361 : tensor<5x5xi32>
    %363 = stablehlo.compare EQ, %362, %360, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %364 = stablehlo.convert %363 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_57 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %365 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %366 = stablehlo.multiply %365, %364 : tensor<5x5xf32>
    %367 = stablehlo.convert %366 : (tensor<5x5xf32>) -> tensor<5x5xcomplex<f32>>
    %368 = stablehlo.broadcast_in_dim %367, dims = [1, 2] : (tensor<5x5xcomplex<f32>>) -> tensor<1x5x5xcomplex<f32>>
    %369 = stablehlo.broadcast_in_dim %368, dims = [0, 1, 2] : (tensor<1x5x5xcomplex<f32>>) -> tensor<2x5x5xcomplex<f32>>
    %370 = stablehlo.add %358, %369 : tensor<2x5x5xcomplex<f32>>
    %371 = stablehlo.custom_call @lapack_ctrsm_ffi(%370, %5) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xcomplex<f32>>, tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xcomplex<f32>>
    %372 = stablehlo.real %371 : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xf32>
    %373 = stablehlo.imag %371 : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xf32>
    %374 = stablehlo.complex %arg0, %arg1 : tensor<2x5x5xcomplex<f32>>
    %375 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %376 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_58 = stablehlo.constant dense<0> : tensor<i32>
    %377 = stablehlo.broadcast_in_dim %c_58, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %378 = stablehlo.add %375, %377 : tensor<5x5xi32>
    %379 = stablehlo.compare EQ, %378, %376, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %380 = stablehlo.convert %379 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_59 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %381 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %382 = stablehlo.multiply %381, %380 : tensor<5x5xf32>
    %383 = stablehlo.convert %382 : (tensor<5x5xf32>) -> tensor<5x5xcomplex<f32>>
    %384 = stablehlo.broadcast_in_dim %383, dims = [1, 2] : (tensor<5x5xcomplex<f32>>) -> tensor<1x5x5xcomplex<f32>>
    %385 = stablehlo.broadcast_in_dim %384, dims = [0, 1, 2] : (tensor<1x5x5xcomplex<f32>>) -> tensor<2x5x5xcomplex<f32>>
    %386 = stablehlo.add %374, %385 : tensor<2x5x5xcomplex<f32>>
    %387 = stablehlo.custom_call @lapack_ctrsm_ffi(%386, %5) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xcomplex<f32>>, tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xcomplex<f32>>
    %388 = stablehlo.real %387 : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xf32>
    %389 = stablehlo.imag %387 : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xf32>
    %390 = stablehlo.complex %arg0, %arg1 : tensor<2x5x5xcomplex<f32>>
    %391 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %392 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_60 = stablehlo.constant dense<0> : tensor<i32>
    %393 = stablehlo.broadcast_in_dim %c_60, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %394 = stablehlo.add %391, %393 : tensor<5x5xi32>
    %395 = stablehlo.compare EQ, %394, %392, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %396 = stablehlo.convert %395 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_61 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %397 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %398 = stablehlo.multiply %397, %396 : tensor<5x5xf32>
    %399 = stablehlo.convert %398 : (tensor<5x5xf32>) -> tensor<5x5xcomplex<f32>>
    %400 = stablehlo.broadcast_in_dim %399, dims = [1, 2] : (tensor<5x5xcomplex<f32>>) -> tensor<1x5x5xcomplex<f32>>
    %401 = stablehlo.broadcast_in_dim %400, dims = [0, 1, 2] : (tensor<1x5x5xcomplex<f32>>) -> tensor<2x5x5xcomplex<f32>>
    %402 = stablehlo.add %390, %401 : tensor<2x5x5xcomplex<f32>>
    %403 = stablehlo.custom_call @lapack_ctrsm_ffi(%402, %5) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xcomplex<f32>>, tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xcomplex<f32>>
    %404 = stablehlo.real %403 : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xf32>
    %405 = stablehlo.imag %403 : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xf32>
    %406 = stablehlo.complex %arg0, %arg1 : tensor<2x5x5xcomplex<f32>>
    %407 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %408 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c_62 = stablehlo.constant dense<0> : tensor<i32>
    %409 = stablehlo.broadcast_in_dim %c_62, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %410 = stablehlo.add %407, %409 : tensor<5x5xi32>
    %411 = stablehlo.compare EQ, %410, %408, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %412 = stablehlo.convert %411 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst_63 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %413 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %414 = stablehlo.multiply %413, %412 : tensor<5x5xf32>
    %415 = stablehlo.convert %414 : (tensor<5x5xf32>) -> tensor<5x5xcomplex<f32>>
    %416 = stablehlo.broadcast_in_dim %415, dims = [1, 2] : (tensor<5x5xcomplex<f32>>) -> tensor<1x5x5xcomplex<f32>>
    %417 = stablehlo.broadcast_in_dim %416, dims = [0, 1, 2] : (tensor<1x5x5xcomplex<f32>>) -> tensor<2x5x5xcomplex<f32>>
    %418 = stablehlo.add %406, %417 : tensor<2x5x5xcomplex<f32>>
    %419 = stablehlo.custom_call @lapack_ctrsm_ffi(%418, %5) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xcomplex<f32>>, tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xcomplex<f32>>
    %420 = stablehlo.real %419 : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xf32>
    %421 = stablehlo.imag %419 : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x5xf32>
    return %17, %29, %41, %53, %65, %77, %89, %101, %113, %125, %137, %149, %161, %173, %185, %197, %209, %221, %233, %245, %257, %269, %281, %293, %308, %309, %324, %325, %340, %341, %356, %357, %372, %373, %388, %389, %404, %405, %420, %421 : tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>
  }
}
