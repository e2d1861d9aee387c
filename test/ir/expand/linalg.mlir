// A matrix of up to 64 columns is one loop over them; a larger one a loop over blocks of 32, in each a loop over its columns.
// run: lazuli opt --passes=expand %s
// check: stablehlo.while
// check-same: tensor<i64>, tensor<1x5x5xf32>
// check: stablehlo.while
// check-same: tensor<i64>, tensor<1x128x128xf64>
// check: stablehlo.dot_general
// check-same: (tensor<1x128x128xf64>, tensor<1x32x128xf64>) -> tensor<1x128x32xf64>
// check: stablehlo.while
// check-same: tensor<i64>, tensor<1x128x32xf64>
// check: stablehlo.while
// check-same: tensor<i64>, tensor<1x50x2xf64>
// check-not: stablehlo.cholesky
// check: (tensor<1x1x50xf64>, tensor<1x50x2xf64>) -> tensor<1x1x2xf64>
module {
  func.func public @main(%a: tensor<5x5xf16>, %b: tensor<100x100xf64>, %c: tensor<50x50xf64>, %d: tensor<50x2xf64>) -> (tensor<5x5xf16>, tensor<100x100xf64>, tensor<50x2xf64>) {
    %0 = stablehlo.cholesky %a, lower = true : tensor<5x5xf16>
    %1 = stablehlo.cholesky %b, lower = false : tensor<100x100xf64>
    %2 = "stablehlo.triangular_solve"(%c, %d) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<50x50xf64>, tensor<50x2xf64>) -> tensor<50x2xf64>
    return %0, %1, %2 : tensor<5x5xf16>, tensor<100x100xf64>, tensor<50x2xf64>
  }
}
