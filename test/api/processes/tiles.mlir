// Tiles that are uneven, one that is empty, a loop with a sum over devices in it; small whole numbers, so the answers do not depend on the order of sums.
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<37x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<10x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<37x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<5xf32>, tensor<3x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<f32>) {
  %four = stablehlo.constant dense<4.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %f = stablehlo.broadcast_in_dim %four, dims = [] : (tensor<f32>) -> tensor<37x10xf32>
  %sa = stablehlo.multiply %a, %f : tensor<37x10xf32>
  %ra = stablehlo.floor %sa : tensor<37x10xf32>
  %g = stablehlo.broadcast_in_dim %four, dims = [] : (tensor<f32>) -> tensor<10x5xf32>
  %sb = stablehlo.multiply %b, %g : tensor<10x5xf32>
  %rb = stablehlo.floor %sb : tensor<10x5xf32>
  %d = stablehlo.dot_general %ra, %rb, contracting_dims = [1] x [0] : (tensor<37x10xf32>, tensor<10x5xf32>) -> tensor<37x5xf32>
  %n0 = stablehlo.constant dense<0> : tensor<i32>
  %n3 = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%i = %n0, %v = %d) : tensor<i32>, tensor<37x5xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s = stablehlo.reduce(%v init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<37x5xf32>, tensor<f32>) -> tensor<5xf32>
      %t = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<5xf32>) -> tensor<37x5xf32>
      %u = stablehlo.subtract %t, %v : tensor<37x5xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %u : tensor<i32>, tensor<37x5xf32>
    }
  %r = stablehlo.reduce(%w#1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<37x5xf32>, tensor<f32>) -> tensor<5xf32>
  %q = stablehlo.iota dim = 0 : tensor<3x2xi32>
  %p = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
  return %w#1, %r, %q, %p : tensor<37x5xf32>, tensor<5xf32>, tensor<3x2xi32>, tensor<f32>
}
