module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x5xf32>, %arg1: tensor<5x5xf32>, %arg2: tensor<5x3xf32>) -> (tensor<5x3xf32> {jax.result_info = "result[0]"}, tensor<5x3xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<5x5xcomplex<f32>>
    %1 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %2 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %4 = stablehlo.add %1, %3 : tensor<5x5xi32>
    %5 = stablehlo.compare EQ, %4, %2, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %6 = stablehlo.convert %5 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<5x5xf32>
    %9 = stablehlo.convert %8 : (tensor<5x5xf32>) -> tensor<5x5xcomplex<f32>>
    %10 = stablehlo.add %0, %9 : tensor<5x5xcomplex<f32>>
    %11 = stablehlo.negate %arg2 : tensor<5x3xf32>
    %12 = stablehlo.complex %arg2, %11 : tensor<5x3xcomplex<f32>>
    %13 = "stablehlo.triangular_solve"(%10, %12) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<5x5xcomplex<f32>>, tensor<5x3xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
    %14 = stablehlo.real %13 : (tensor<5x3xcomplex<f32>>) -> tensor<5x3xf32>
    %15 = stablehlo.imag %13 : (tensor<5x3xcomplex<f32>>) -> tensor<5x3xf32>
    return %14, %15 : tensor<5x3xf32>, tensor<5x3xf32>
  }
}
