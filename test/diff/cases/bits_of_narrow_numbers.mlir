// Bit casts from and to numbers of 2 and 4 bits of another width, between those, and within a loop.
module @bits {
  func.func public @main(%a: tensor<3xui8>, %b: tensor<2x4xi32>, %c: tensor<5x3xf32>, %d: tensor<7x16xi4>, %e: tensor<2xi64>) -> (tensor<3x2xi4>, tensor<3xi8>, tensor<2x4xf32>, tensor<2x4x8xui4>, tensor<2x4x8x2xui2>, tensor<5x3x8xui4>, tensor<7xui64>, tensor<7x16xui4>, tensor<7x16x2xi2>, tensor<5x3xf32>, tensor<2x16xi4>) {
    %0 = stablehlo.bitcast_convert %a : (tensor<3xui8>) -> tensor<3x2xi4>
    %1 = stablehlo.bitcast_convert %0 : (tensor<3x2xi4>) -> tensor<3xi8>
    %2 = stablehlo.bitcast_convert %b : (tensor<2x4xi32>) -> tensor<2x4x16xi2>
    %3 = stablehlo.bitcast_convert %2 : (tensor<2x4x16xi2>) -> tensor<2x4xf32>
    %4 = stablehlo.bitcast_convert %b : (tensor<2x4xi32>) -> tensor<2x4x8xui4>
    %5 = stablehlo.bitcast_convert %4 : (tensor<2x4x8xui4>) -> tensor<2x4x8x2xui2>
    %6 = stablehlo.bitcast_convert %c : (tensor<5x3xf32>) -> tensor<5x3x8xui4>
    %7 = stablehlo.bitcast_convert %d : (tensor<7x16xi4>) -> tensor<7xui64>
    %8 = stablehlo.bitcast_convert %d : (tensor<7x16xi4>) -> tensor<7x16xui4>
    %9 = stablehlo.bitcast_convert %d : (tensor<7x16xi4>) -> tensor<7x16x2xi2>
    %n = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%i = %n, %x = %c) : tensor<i32>, tensor<5x3xf32>
    cond {
      %most = stablehlo.constant dense<3> : tensor<i32>
      %p = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.bitcast_convert %x : (tensor<5x3xf32>) -> tensor<5x3x8xui4>
      %y = stablehlo.reverse %w, dims = [1] : tensor<5x3x8xui4>
      %z = stablehlo.bitcast_convert %y : (tensor<5x3x8xui4>) -> tensor<5x3xf32>
      stablehlo.return %j, %z : tensor<i32>, tensor<5x3xf32>
    }
    %10 = stablehlo.bitcast_convert %e : (tensor<2xi64>) -> tensor<2x16xi4>
    return %0, %1, %3, %4, %5, %6, %7, %8, %9, %r#1, %10 : tensor<3x2xi4>, tensor<3xi8>, tensor<2x4xf32>, tensor<2x4x8xui4>, tensor<2x4x8x2xui2>, tensor<5x3x8xui4>, tensor<7xui64>, tensor<7x16xui4>, tensor<7x16x2xi2>, tensor<5x3xf32>, tensor<2x16xi4>
  }
}
