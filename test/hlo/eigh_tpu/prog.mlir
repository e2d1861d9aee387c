module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x5xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4x4xf32>) -> (tensor<2x5xf32> {jax.result_info = "result[0]"}, tensor<2x5x5xf32> {jax.result_info = "result[1]"}, tensor<2x5x5xf32> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3]"}, tensor<4x4xf32> {jax.result_info = "result[4]"}, tensor<4x4xf32> {jax.result_info = "result[5]"}, tensor<4x4xf32> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x5x5xf32>
    %2 = stablehlo.transpose %1, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x5x5xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %5 = stablehlo.divide %3, %4 : tensor<2x5x5xf32>
    %6:2 = stablehlo.custom_call @Eigh(%5) {backend_config = "1,1,100,1e-6"} : (tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2x5xf32>)
    %7 = stablehlo.broadcast_in_dim %6#1, dims = [0, 2] : (tensor<2x5xf32>) -> tensor<2x1x5xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x1x5xf32>) -> tensor<2x5x5xf32>
    %9 = stablehlo.multiply %6#0, %8 : tensor<2x5x5xf32>
    %10 = stablehlo.transpose %6#0, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %11 = stablehlo.dot_general %9, %10, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %12 = stablehlo.abs %6#0 : tensor<2x5x5xf32>
    %13 = stablehlo.complex %arg1, %arg2 : tensor<4x4xcomplex<f32>>
    %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %15 = stablehlo.real %14 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %16 = stablehlo.imag %14 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %17 = stablehlo.negate %16 : tensor<4x4xf32>
    %18 = stablehlo.complex %15, %17 : tensor<4x4xcomplex<f32>>
    %19 = stablehlo.add %13, %18 : tensor<4x4xcomplex<f32>>
    %20 = stablehlo.transpose %19, dims = [1, 0] : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %21 = stablehlo.real %20 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %22 = stablehlo.imag %20 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %23 = stablehlo.negate %22 : tensor<4x4xf32>
    %24 = stablehlo.complex %21, %23 : tensor<4x4xcomplex<f32>>
    %25 = stablehlo.add %19, %24 : tensor<4x4xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %26 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<4x4xcomplex<f32>>
    %27 = stablehlo.divide %25, %26 : tensor<4x4xcomplex<f32>>
    %28:2 = stablehlo.custom_call @Eigh(%27) {backend_config = "0,1,100,1e-6"} : (tensor<4x4xcomplex<f32>>) -> (tensor<4x4xcomplex<f32>>, tensor<4xf32>)
    %29 = stablehlo.broadcast_in_dim %28#1, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %30 = stablehlo.convert %29 : (tensor<1x4xf32>) -> tensor<1x4xcomplex<f32>>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<1x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %32 = stablehlo.multiply %28#0, %31 : tensor<4x4xcomplex<f32>>
    %33 = stablehlo.transpose %28#0, dims = [1, 0] : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %34 = stablehlo.real %33 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %35 = stablehlo.imag %33 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %36 = stablehlo.negate %35 : tensor<4x4xf32>
    %37 = stablehlo.complex %34, %36 : tensor<4x4xcomplex<f32>>
    %38 = stablehlo.dot_general %32, %37, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %39 = stablehlo.abs %28#0 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %40 = stablehlo.real %38 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %41 = stablehlo.imag %38 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    return %6#1, %11, %12, %28#1, %40, %41, %39 : tensor<2x5xf32>, tensor<2x5x5xf32>, tensor<2x5x5xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
}
