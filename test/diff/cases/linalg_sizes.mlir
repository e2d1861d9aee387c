// Matrices of one block and of several, whole ones and with a rest; every form of triangular_solve. What is factored is made positive definite
// by the products before it.
module {
  func.func public @main(%a: tensor<1x67x67xf32>, %b: tensor<96x96xf64>, %c: tensor<66x66xcomplex<f32>>, %d: tensor<1x1xf64>, %e: tensor<3x0x0xf32>, %x: tensor<1x67x3xf32>, %y: tensor<5x96xf64>, %z: tensor<66x2xcomplex<f32>>) -> (tensor<1x67x67xf32>, tensor<96x96xf64>, tensor<66x66xcomplex<f32>>, tensor<1x1xf64>, tensor<3x0x0xf32>, tensor<1x67x3xf32>, tensor<5x96xf64>, tensor<66x2xcomplex<f32>>) {
    %at = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x67x67xf32>, tensor<1x67x67xf32>) -> tensor<1x67x67xf32>
    %i0 = stablehlo.iota dim = 1 : tensor<1x67x67xi32>
    %i1 = stablehlo.iota dim = 2 : tensor<1x67x67xi32>
    %ie = stablehlo.compare EQ, %i0, %i1, SIGNED : (tensor<1x67x67xi32>, tensor<1x67x67xi32>) -> tensor<1x67x67xi1>
    %if = stablehlo.convert %ie : (tensor<1x67x67xi1>) -> tensor<1x67x67xf32>
    %ic = stablehlo.constant dense<9.0> : tensor<1x67x67xf32>
    %id = stablehlo.multiply %if, %ic : tensor<1x67x67xf32>
    %ap = stablehlo.add %at, %id : tensor<1x67x67xf32>
    %0 = stablehlo.cholesky %ap, lower = true : tensor<1x67x67xf32>
    %bt = stablehlo.dot_general %b, %b, contracting_dims = [1] x [1] : (tensor<96x96xf64>, tensor<96x96xf64>) -> tensor<96x96xf64>
    %j0 = stablehlo.iota dim = 0 : tensor<96x96xi32>
    %j1 = stablehlo.iota dim = 1 : tensor<96x96xi32>
    %je = stablehlo.compare EQ, %j0, %j1, SIGNED : (tensor<96x96xi32>, tensor<96x96xi32>) -> tensor<96x96xi1>
    %jf = stablehlo.convert %je : (tensor<96x96xi1>) -> tensor<96x96xf64>
    %jc = stablehlo.constant dense<9.0> : tensor<96x96xf64>
    %jd = stablehlo.multiply %jf, %jc : tensor<96x96xf64>
    %bp = stablehlo.add %bt, %jd : tensor<96x96xf64>
    %1 = stablehlo.cholesky %bp, lower = false : tensor<96x96xf64>
    %cr = stablehlo.real %c : (tensor<66x66xcomplex<f32>>) -> tensor<66x66xf32>
    %ci = stablehlo.imag %c : (tensor<66x66xcomplex<f32>>) -> tensor<66x66xf32>
    %cn = stablehlo.negate %ci : tensor<66x66xf32>
    %ch = stablehlo.complex %cr, %cn : tensor<66x66xcomplex<f32>>
    %ct = stablehlo.dot_general %c, %ch, contracting_dims = [1] x [1] : (tensor<66x66xcomplex<f32>>, tensor<66x66xcomplex<f32>>) -> tensor<66x66xcomplex<f32>>
    %k0 = stablehlo.iota dim = 0 : tensor<66x66xi32>
    %k1 = stablehlo.iota dim = 1 : tensor<66x66xi32>
    %ke = stablehlo.compare EQ, %k0, %k1, SIGNED : (tensor<66x66xi32>, tensor<66x66xi32>) -> tensor<66x66xi1>
    %kf = stablehlo.convert %ke : (tensor<66x66xi1>) -> tensor<66x66xcomplex<f32>>
    %kc = stablehlo.constant dense<(9.0, 0.0)> : tensor<66x66xcomplex<f32>>
    %kd = stablehlo.multiply %kf, %kc : tensor<66x66xcomplex<f32>>
    %cp = stablehlo.add %ct, %kd : tensor<66x66xcomplex<f32>>
    %2 = stablehlo.cholesky %cp, lower = true : tensor<66x66xcomplex<f32>>
    %3 = stablehlo.cholesky %d : tensor<1x1xf64>
    %4 = stablehlo.cholesky %e, lower = true : tensor<3x0x0xf32>
    %5 = "stablehlo.triangular_solve"(%0, %x) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<1x67x67xf32>, tensor<1x67x3xf32>) -> tensor<1x67x3xf32>
    %6 = "stablehlo.triangular_solve"(%1, %y) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<96x96xf64>, tensor<5x96xf64>) -> tensor<5x96xf64>
    %7 = "stablehlo.triangular_solve"(%2, %z) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<66x66xcomplex<f32>>, tensor<66x2xcomplex<f32>>) -> tensor<66x2xcomplex<f32>>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<1x67x67xf32>, tensor<96x96xf64>, tensor<66x66xcomplex<f32>>, tensor<1x1xf64>, tensor<3x0x0xf32>, tensor<1x67x3xf32>, tensor<5x96xf64>, tensor<66x2xcomplex<f32>>
  }
}
