module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x3xf32>, %arg1: tensor<3x5xf32>) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<2x5x3xf32> {jax.result_info = "result[1]"}, tensor<2x3x3xf32> {jax.result_info = "result[2]"}, tensor<2x3x3xf32> {jax.result_info = "result[3]"}, tensor<2x5x3xf32> {jax.result_info = "result[4]"}, tensor<2x3xf32> {jax.result_info = "result[5]"}, tensor<2x5x3xf32> {jax.result_info = "result[6]"}, tensor<2x5x5xf32> {jax.result_info = "result[7]"}, tensor<2x3x3xf32> {jax.result_info = "result[8]"}, tensor<2x5x3xf32> {jax.result_info = "result[9]"}, tensor<3xf32> {jax.result_info = "result[10]"}, tensor<3x5xf32> {jax.result_info = "result[11]"}, tensor<3x5xf32> {jax.result_info = "result[12]"}, tensor<3x3xf32> {jax.result_info = "result[13]"}, tensor<3x3xf32> {jax.result_info = "result[14]"}, tensor<5x5xf32> {jax.result_info = "result[15]"}, tensor<5x5xf32> {jax.result_info = "result[16]"}, tensor<3x3xf32> {jax.result_info = "result[17]"}, tensor<2x3xf32> {jax.result_info = "result[18]"}) {
    %cst = stablehlo.constant dense<(0x7FC00000,0x7FC00000)> : tensor<complex<f32>>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%arg0) {mhlo.backend_config = {mode = 83 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=3, q=3, r=3}, custom>} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x5x3xf32>, tensor<2x3x3xf32>, tensor<2xi32>)
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<2x3xi1>, tensor<2x3xf32>
    %7 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x3xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x3xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<2x5x3xi1>, tensor<2x5x3xf32>
    %11 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    %15 = stablehlo.broadcast_in_dim %6, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<2x1x3xf32>) -> tensor<2x5x3xf32>
    %17 = stablehlo.multiply %10, %16 : tensor<2x5x3xf32>
    %18 = stablehlo.dot_general %17, %14, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x5x3xf32>, tensor<2x3x3xf32>) -> tensor<2x5x3xf32>
    %19 = stablehlo.transpose %10, dims = [0, 2, 1] : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
    %20 = stablehlo.dot_general %19, %10, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x5xf32>, tensor<2x5x3xf32>) -> tensor<2x3x3xf32>
    %21 = stablehlo.transpose %14, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %22 = stablehlo.dot_general %14, %21, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %23 = stablehlo.abs %10 : tensor<2x5x3xf32>
    %24:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%arg0) {mhlo.backend_config = {mode = 65 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=5, q=3, r=3}, custom>} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x5x5xf32>, tensor<2x3x3xf32>, tensor<2xi32>)
    %25 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %26 = stablehlo.compare EQ, %24#4, %25, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %28 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %30 = stablehlo.select %29, %24#1, %28 : tensor<2x3xi1>, tensor<2x3xf32>
    %31 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %32 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %33 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x5xi1>
    %34 = stablehlo.select %33, %24#2, %32 : tensor<2x5x5xi1>, tensor<2x5x5xf32>
    %35 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %36 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %37 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %38 = stablehlo.select %37, %24#3, %36 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    %39 = stablehlo.slice %34 [0:2, 0:5, 0:3] : (tensor<2x5x5xf32>) -> tensor<2x5x3xf32>
    %40 = stablehlo.broadcast_in_dim %30, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<2x1x3xf32>) -> tensor<2x5x3xf32>
    %42 = stablehlo.multiply %39, %41 : tensor<2x5x3xf32>
    %43 = stablehlo.dot_general %42, %38, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x5x3xf32>, tensor<2x3x3xf32>) -> tensor<2x5x3xf32>
    %44 = stablehlo.transpose %34, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %45 = stablehlo.dot_general %44, %34, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %46 = stablehlo.transpose %38, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %47 = stablehlo.dot_general %38, %46, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %48 = stablehlo.slice %34 [0:2, 0:5, 0:3] : (tensor<2x5x5xf32>) -> tensor<2x5x3xf32>
    %49 = stablehlo.abs %48 : tensor<2x5x3xf32>
    %50 = stablehlo.slice %arg0 [0:1, 0:5, 0:3] : (tensor<2x5x3xf32>) -> tensor<1x5x3xf32>
    %51 = stablehlo.reshape %50 : (tensor<1x5x3xf32>) -> tensor<5x3xf32>
    %52 = stablehlo.transpose %51, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
    %53 = stablehlo.complex %52, %arg1 : tensor<3x5xcomplex<f32>>
    %54:5 = stablehlo.custom_call @lapack_cgesdd_ffi(%53) {mhlo.backend_config = {mode = 65 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=5, k=3, l=5, m=3, n=3, o=3, p=5, q=5}, custom>} : (tensor<3x5xcomplex<f32>>) -> (tensor<3x5xcomplex<f32>>, tensor<3xf32>, tensor<3x3xcomplex<f32>>, tensor<5x5xcomplex<f32>>, tensor<i32>)
    %55 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %56 = stablehlo.compare EQ, %54#4, %55, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %57 = stablehlo.broadcast_in_dim %56, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %58 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %59 = stablehlo.broadcast_in_dim %57, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %60 = stablehlo.select %59, %54#1, %58 : tensor<3xi1>, tensor<3xf32>
    %61 = stablehlo.broadcast_in_dim %56, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %62 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %63 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %64 = stablehlo.select %63, %54#2, %62 : tensor<3x3xi1>, tensor<3x3xcomplex<f32>>
    %65 = stablehlo.broadcast_in_dim %56, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %66 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<5x5xcomplex<f32>>
    %67 = stablehlo.broadcast_in_dim %65, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<5x5xi1>
    %68 = stablehlo.select %67, %54#3, %66 : tensor<5x5xi1>, tensor<5x5xcomplex<f32>>
    %69 = stablehlo.broadcast_in_dim %60, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %70 = stablehlo.convert %69 : (tensor<1x3xf32>) -> tensor<1x3xcomplex<f32>>
    %71 = stablehlo.broadcast_in_dim %70, dims = [0, 1] : (tensor<1x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %72 = stablehlo.multiply %64, %71 : tensor<3x3xcomplex<f32>>
    %73 = stablehlo.slice %68 [0:3, 0:5] : (tensor<5x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
    %74 = stablehlo.dot_general %72, %73, contracting_dims = [1] x [0] : (tensor<3x3xcomplex<f32>>, tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
    %75 = stablehlo.transpose %64, dims = [1, 0] : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %76 = stablehlo.real %75 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %77 = stablehlo.imag %75 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %78 = stablehlo.negate %77 : tensor<3x3xf32>
    %79 = stablehlo.complex %76, %78 : tensor<3x3xcomplex<f32>>
    %80 = stablehlo.dot_general %79, %64, contracting_dims = [1] x [0] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %81 = stablehlo.transpose %68, dims = [1, 0] : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xcomplex<f32>>
    %82 = stablehlo.real %81 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %83 = stablehlo.imag %81 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %84 = stablehlo.negate %83 : tensor<5x5xf32>
    %85 = stablehlo.complex %82, %84 : tensor<5x5xcomplex<f32>>
    %86 = stablehlo.dot_general %68, %85, contracting_dims = [1] x [0] : (tensor<5x5xcomplex<f32>>, tensor<5x5xcomplex<f32>>) -> tensor<5x5xcomplex<f32>>
    %87 = stablehlo.abs %64 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %88 = stablehlo.real %74 : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>
    %89 = stablehlo.imag %74 : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>
    %90 = stablehlo.real %80 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %91 = stablehlo.imag %80 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
    %92 = stablehlo.real %86 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %93 = stablehlo.imag %86 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
    %94 = call @svd(%arg0) : (tensor<2x5x3xf32>) -> tensor<2x3xf32>
    return %6, %18, %20, %22, %23, %30, %43, %45, %47, %49, %60, %88, %89, %90, %91, %92, %93, %87, %94 : tensor<2x3xf32>, tensor<2x5x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x5x3xf32>, tensor<2x5x5xf32>, tensor<2x3x3xf32>, tensor<2x5x3xf32>, tensor<3xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<2x3xf32>
  }
  func.func private @svd(%arg0: tensor<2x5x3xf32>) -> tensor<2x3xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%arg0) {mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=5, q=3, r=3}, custom>} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x5x5xf32>, tensor<2x3x3xf32>, tensor<2xi32>)
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<2x3xi1>, tensor<2x3xf32>
    return %6 : tensor<2x3xf32>
  }
}

