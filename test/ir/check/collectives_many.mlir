// run: lazuli run %s
// run: lazuli run --device ref %s
// error: collectives_many.mlir: all_gather: groups of 2 participants; one device runs alone: LZ_EUNSUPPORTED
// error: collectives_many.mlir: collective_permute: has other participants; one device runs alone: LZ_EUNSUPPORTED

func.func @gather() -> tensor<4xf32> {
  %x = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @permute() -> tensor<2xf32> {
  %x = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
