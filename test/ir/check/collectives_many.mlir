// run: lazuli run %s
// error: collectives_many.mlir:7:8: stablehlo.all_gather: groups of 2 participants; one device runs alone
// error: collectives_many.mlir:15:8: stablehlo.collective_permute: has other participants

func.func @gather() {
  %x = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @permute() {
  %x = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}
