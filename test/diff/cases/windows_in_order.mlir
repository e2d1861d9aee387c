// Long windows of regions that do not commute (of one because of NaN): on CPUs they are combined in order.
module @windows_in_order {
  func.func public @main(%x: tensor<3x200xf32>, %k: tensor<3x200xi32>) -> (tensor<3x180xf32>, tensor<3x180xf32>, tensor<3x200xf32>, tensor<3x200xi32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %ni = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %mi = stablehlo.constant dense<2147483647> : tensor<i32>
    %o = stablehlo.constant dense<1.0> : tensor<f32>
    %r8:2 = "stablehlo.reduce_window"(%x, %x, %o, %z) <{window_dimensions = array<i64: 1, 30>, padding = dense<[[0, 0], [7, 2]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %p = stablehlo.multiply %a, %c : tensor<f32>
      %q = stablehlo.multiply %b, %c : tensor<f32>
      %s = stablehlo.add %q, %d : tensor<f32>
      stablehlo.return %p, %s : tensor<f32>, tensor<f32>
    }) : (tensor<3x200xf32>, tensor<3x200xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x180xf32>, tensor<3x180xf32>)
    %r9:2 = "stablehlo.reduce_window"(%x, %k, %ni, %mi) <{window_dimensions = array<i64: 1, 200>, padding = dense<[[0, 0], [199, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
      %g = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %e = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %l = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %t = stablehlo.and %e, %l : tensor<i1>
      %n = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %y = stablehlo.or %g, %t : tensor<i1>
      %z = stablehlo.or %y, %n : tensor<i1>
      %v = stablehlo.select %z, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %z, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }) : (tensor<3x200xf32>, tensor<3x200xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x200xf32>, tensor<3x200xi32>)
    return %r8#0, %r8#1, %r9#0, %r9#1 : tensor<3x180xf32>, tensor<3x180xf32>, tensor<3x200xf32>, tensor<3x200xi32>
  }
}
