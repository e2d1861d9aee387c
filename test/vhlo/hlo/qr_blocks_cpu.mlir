module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<80x70xf32>) -> (tensor<70x70xf32> {jax.result_info = "result[0]"}, tensor<80x70xf32> {jax.result_info = "result[1]"}, tensor<70x70xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%arg0) {mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=80, j=70, k=80, l=70, m=70}, custom>} : (tensor<80x70xf32>) -> (tensor<80x70xf32>, tensor<70xf32>)
    %1 = stablehlo.custom_call @lapack_sorgqr_ffi(%0#0, %0#1) {mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=80, j=70, k=70, l=80, m=70}, custom>} : (tensor<80x70xf32>, tensor<70xf32>) -> tensor<80x70xf32>
    %2 = stablehlo.slice %0#0 [0:70, 0:70] : (tensor<80x70xf32>) -> tensor<70x70xf32>
    %3 = stablehlo.iota dim = 0 : tensor<70x70xi32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<70x70xi32>
    %5 = stablehlo.add %3, %4 : tensor<70x70xi32>
    %6 = stablehlo.iota dim = 1 : tensor<70x70xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<70x70xi32>, tensor<70x70xi32>) -> tensor<70x70xi1>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<70x70xf32>
    %9 = stablehlo.select %7, %8, %2 : tensor<70x70xi1>, tensor<70x70xf32>
    %10 = stablehlo.dot_general %1, %9, contracting_dims = [1] x [0] : (tensor<80x70xf32>, tensor<70x70xf32>) -> tensor<80x70xf32>
    %11 = stablehlo.transpose %1, dims = [1, 0] : (tensor<80x70xf32>) -> tensor<70x80xf32>
    %12 = stablehlo.dot_general %11, %1, contracting_dims = [1] x [0] : (tensor<70x80xf32>, tensor<80x70xf32>) -> tensor<70x70xf32>
    return %9, %10, %12 : tensor<70x70xf32>, tensor<80x70xf32>, tensor<70x70xf32>
  }
}

