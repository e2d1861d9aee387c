module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x5xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4x4xf32>) -> (tensor<2x5xf32> {jax.result_info = "result[0]"}, tensor<2x5x5xf32> {jax.result_info = "result[1]"}, tensor<2x5x5xf32> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3]"}, tensor<4x4xf32> {jax.result_info = "result[4]"}, tensor<4x4xf32> {jax.result_info = "result[5]"}, tensor<4x4xf32> {jax.result_info = "result[6]"}) {
    %cst = stablehlo.constant dense<(0x7FC00000,0x7FC00000)> : tensor<complex<f32>>
    %cst_0 = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x5x5xf32>
    %2 = stablehlo.transpose %1, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x5x5xf32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %5 = stablehlo.divide %3, %4 : tensor<2x5x5xf32>
    %6:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%5) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=2, j=5, k=5, l=5, m=5, n=5}, custom>} : (tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2x5xf32>, tensor<2xi32>)
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %8 = stablehlo.compare EQ, %6#2, %7, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x5xi1>
    %12 = stablehlo.select %11, %6#0, %10 : tensor<2x5x5xi1>, tensor<2x5x5xf32>
    %13 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x5xi1>
    %16 = stablehlo.select %15, %6#1, %14 : tensor<2x5xi1>, tensor<2x5xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 2] : (tensor<2x5xf32>) -> tensor<2x1x5xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x1x5xf32>) -> tensor<2x5x5xf32>
    %19 = stablehlo.multiply %12, %18 : tensor<2x5x5xf32>
    %20 = stablehlo.transpose %12, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %21 = stablehlo.dot_general %19, %20, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %22 = stablehlo.abs %12 : tensor<2x5x5xf32>
    %23 = stablehlo.complex %arg1, %arg2 : tensor<4x4xcomplex<f32>>
    %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %25 = stablehlo.real %24 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %26 = stablehlo.imag %24 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %27 = stablehlo.negate %26 : tensor<4x4xf32>
    %28 = stablehlo.complex %25, %27 : tensor<4x4xcomplex<f32>>
    %29 = stablehlo.add %23, %28 : tensor<4x4xcomplex<f32>>
    %30 = stablehlo.transpose %29, dims = [1, 0] : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %31 = stablehlo.real %30 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %32 = stablehlo.imag %30 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %33 = stablehlo.negate %32 : tensor<4x4xf32>
    %34 = stablehlo.complex %31, %33 : tensor<4x4xcomplex<f32>>
    %35 = stablehlo.add %29, %34 : tensor<4x4xcomplex<f32>>
    %36 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<4x4xcomplex<f32>>
    %37 = stablehlo.divide %35, %36 : tensor<4x4xcomplex<f32>>
    %38:3 = stablehlo.custom_call @lapack_cheevd_ffi(%37) {mhlo.backend_config = {mode = 86 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=4, j=4, k=4, l=4, m=4}, custom>} : (tensor<4x4xcomplex<f32>>) -> (tensor<4x4xcomplex<f32>>, tensor<4xf32>, tensor<i32>)
    %39 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %40 = stablehlo.compare EQ, %38#2, %39, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %41 = stablehlo.broadcast_in_dim %40, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %42 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<4x4xcomplex<f32>>
    %43 = stablehlo.broadcast_in_dim %41, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %44 = stablehlo.select %43, %38#0, %42 : tensor<4x4xi1>, tensor<4x4xcomplex<f32>>
    %45 = stablehlo.broadcast_in_dim %40, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %46 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %47 = stablehlo.broadcast_in_dim %45, dims = [0] : (tensor<1xi1>) -> tensor<4xi1>
    %48 = stablehlo.select %47, %38#1, %46 : tensor<4xi1>, tensor<4xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %50 = stablehlo.convert %49 : (tensor<1x4xf32>) -> tensor<1x4xcomplex<f32>>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1] : (tensor<1x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %52 = stablehlo.multiply %44, %51 : tensor<4x4xcomplex<f32>>
    %53 = stablehlo.transpose %44, dims = [1, 0] : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %54 = stablehlo.real %53 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %55 = stablehlo.imag %53 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %56 = stablehlo.negate %55 : tensor<4x4xf32>
    %57 = stablehlo.complex %54, %56 : tensor<4x4xcomplex<f32>>
    %58 = stablehlo.dot_general %52, %57, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %59 = stablehlo.abs %44 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %60 = stablehlo.real %58 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %61 = stablehlo.imag %58 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    return %16, %21, %22, %48, %60, %61, %59 : tensor<2x5xf32>, tensor<2x5x5xf32>, tensor<2x5x5xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
}

