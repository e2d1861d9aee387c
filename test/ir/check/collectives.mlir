// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: collectives: 8 checks

func.func @collectives() {
  %x = stablehlo.constant dense<[1.5, -2.0, 4.0]> : tensor<3xf32>
  %i = stablehlo.constant dense<[7, -3]> : tensor<2xi64>
  %r:2 = "stablehlo.all_reduce"(%x, %x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  check.expect_eq_const %r#1, dense<[1.5, -2.0, 4.0]> : tensor<3xf32>
  %g = "stablehlo.all_gather"(%i) {all_gather_dim = 0 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  check.expect_eq_const %g, dense<[7, -3]> : tensor<2xi64>
  %t = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %t, dense<[1.5, -2.0, 4.0]> : tensor<3xf32>
  %b = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<> : tensor<0x0xi64>} : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %b, dense<[1.5, -2.0, 4.0]> : tensor<3xf32>
  %p = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %p, dense<[1.5, -2.0, 4.0]> : tensor<3xf32>
  %z = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<> : tensor<0x2xi64>} : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %z, dense<0.0> : tensor<3xf32>
  %n = stablehlo.replica_id : tensor<ui32>
  check.expect_eq_const %n, dense<0> : tensor<ui32>
  %m = "stablehlo.partition_id"() : () -> tensor<ui32>
  check.expect_eq_const %m, dense<0> : tensor<ui32>
  func.return
}
