// Two devices, of four processes the last two have none.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<5xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<5xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5xi32>, tensor<i32>) -> tensor<i32>
  %b = stablehlo.add %a, %a : tensor<5xi32>
  return %b, %r : tensor<5xi32>, tensor<i32>
}
