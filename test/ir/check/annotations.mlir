// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: main: 4 checks

// Where values are to be, and what goes around operations, changes nothing for one device.
module @annotations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=1]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
  func.func public @main() {
    %a = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<2xf32>
    %1 = "sdy.reshard"(%0) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<2xf32>) -> tensor<2xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {backend_config = "", mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<2xf32>) -> tensor<2xf32>
    %3 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}]>]>"}} : (tensor<2xf32>) -> tensor<2xf32>
    %4 = stablehlo.custom_call @annotate_device_placement(%3) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_eq_const %4, dense<[1.5, -2.0]> : tensor<2xf32>
    %5 = stablehlo.composite "my.twice" %4 {composite_attributes = {n = 2 : i64, name = "a", list = [1, 2], t = f32, d = dense<[1, 2]> : tensor<2xi64>}, decomposition = @twice, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    %6 = "stablehlo.composite"(%5) <{name = "my.twice", decomposition = @twice, version = 3 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_eq_const %6, dense<[6.0, -8.0]> : tensor<2xf32>
    %k = stablehlo.composite "my.const" {decomposition = @k} : () -> tensor<2xi32>
    %7:2 = "stablehlo.optimization_barrier"(%6, %k) : (tensor<2xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>)
    %8 = stablehlo.optimization_barrier %7#0 : tensor<2xf32>
    %9:2 = stablehlo.optimization_barrier %8, %7#1 : tensor<2xf32>, tensor<2xi32>
    check.expect_eq_const %9#0, dense<[6.0, -8.0]> : tensor<2xf32>
    check.expect_eq_const %9#1, dense<[3, 4]> : tensor<2xi32>
    func.return
  }
  func.func private @twice(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2xf32> {
    %0 = stablehlo.add %a, %a : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @k() -> tensor<2xi32> {
    %0 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
