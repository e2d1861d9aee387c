module @m {
  func.func public @main(%a: tensor<4x2xf64>, %ta: tensor<4x2xf64>, %i: tensor<3x1xi64>, %u: tensor<3x2xf64>, %tu: tensor<3x2xf64>) -> tensor<4x2xf64> {
    %0:2 = "stablehlo.scatter"(%a, %ta, %i, %u, %tu) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x: tensor<f64>, %tx: tensor<f64>, %y: tensor<f64>, %ty: tensor<f64>):
      %p = stablehlo.multiply %x, %y : tensor<f64>
      %q = stablehlo.multiply %tx, %y : tensor<f64>
      %r = stablehlo.multiply %x, %ty : tensor<f64>
      %s = stablehlo.add %q, %r : tensor<f64>
      stablehlo.return %p, %s : tensor<f64>, tensor<f64>
    }) : (tensor<4x2xf64>, tensor<4x2xf64>, tensor<3x1xi64>, tensor<3x2xf64>, tensor<3x2xf64>) -> (tensor<4x2xf64>, tensor<4x2xf64>)
    return %0#1 : tensor<4x2xf64>
  }
}
