// What every partition runs as it is: 1 + 2 + .. + 6 of all six, and what the one before has; the first one has 6.
func.func @main(%a: tensor<3xi32>) -> (tensor<3xi32>, tensor<i32>) {
  %p = stablehlo.partition_id : tensor<ui32>
  %q = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.add %q, %one : tensor<i32>
  %v = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %s = "stablehlo.all_reduce"(%v) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %z = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %z : tensor<i32>
  }) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>, use_global_device_ids} : (tensor<3xi32>) -> tensor<3xi32>
  %r = stablehlo.add %s, %a : tensor<3xi32>
  %b = "stablehlo.collective_permute"(%n) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]]> : tensor<6x2xi64>} : (tensor<i32>) -> tensor<i32>
  return %r, %b : tensor<3xi32>, tensor<i32>
}
