// Attention by pieces of rows: heads of more than 64.
func.func @main(%q0: tensor<1x70x100xbf16>, %k0: tensor<1x150x100xbf16>, %v0: tensor<1x150x128xbf16>, %q1: tensor<2x33x128xf16>, %k1: tensor<2x64x128xf16>, %v1: tensor<2x20x64xf16>, %q2: tensor<1x18x8xbf16>, %k2: tensor<1x67x8xbf16>, %v2: tensor<1x67x72xbf16>) -> (tensor<1x70x128xbf16>, tensor<2x33x20xf16>, tensor<1x18x72xbf16>) {
    %s0 = stablehlo.dot_general %q0, %k0, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x70x100xbf16>, tensor<1x150x100xbf16>) -> tensor<1x70x150xf32>
    %sc0 = stablehlo.constant dense<0.125> : tensor<1x70x150xf32>
    %ss0 = stablehlo.multiply %s0, %sc0 : tensor<1x70x150xf32>
    %i0 = stablehlo.iota dim = 1 : tensor<1x70x150xi32>
    %j0 = stablehlo.iota dim = 2 : tensor<1x70x150xi32>
    %c0 = stablehlo.compare LE, %j0, %i0, SIGNED : (tensor<1x70x150xi32>, tensor<1x70x150xi32>) -> tensor<1x70x150xi1>
    %l0 = stablehlo.constant dense<-3.0e38> : tensor<1x70x150xf32>
    %t0 = stablehlo.select %c0, %ss0, %l0 : tensor<1x70x150xi1>, tensor<1x70x150xf32>
    %lo0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z0 = stablehlo.constant dense<0.0> : tensor<f32>
    %m0 = stablehlo.reduce(%t0 init: %lo0) applies stablehlo.maximum across dimensions = [2] : (tensor<1x70x150xf32>, tensor<f32>) -> tensor<1x70xf32>
    %mb0 = stablehlo.broadcast_in_dim %m0, dims = [0, 1] : (tensor<1x70xf32>) -> tensor<1x70x150xf32>
    %d0 = stablehlo.subtract %t0, %mb0 : tensor<1x70x150xf32>
    %e0 = stablehlo.exponential %d0 : tensor<1x70x150xf32>
    %u0 = stablehlo.reduce(%e0 init: %z0) applies stablehlo.add across dimensions = [2] : (tensor<1x70x150xf32>, tensor<f32>) -> tensor<1x70xf32>
    %ub0 = stablehlo.broadcast_in_dim %u0, dims = [0, 1] : (tensor<1x70xf32>) -> tensor<1x70x150xf32>
    %p0 = stablehlo.divide %e0, %ub0 : tensor<1x70x150xf32>
    %zz0 = stablehlo.constant dense<0.0> : tensor<1x70x150xf32>
    %pz0 = stablehlo.select %c0, %p0, %zz0 : tensor<1x70x150xi1>, tensor<1x70x150xf32>
    %pt0 = stablehlo.convert %pz0 : (tensor<1x70x150xf32>) -> tensor<1x70x150xbf16>
    %y0 = stablehlo.dot_general %pt0, %v0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x70x150xbf16>, tensor<1x150x128xbf16>) -> tensor<1x70x128xbf16>
    %s1 = stablehlo.dot_general %q1, %k1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x33x128xf16>, tensor<2x64x128xf16>) -> tensor<2x33x64xf32>
    %sc1 = stablehlo.constant dense<0.125> : tensor<2x33x64xf32>
    %ss1 = stablehlo.multiply %s1, %sc1 : tensor<2x33x64xf32>
    %i1 = stablehlo.iota dim = 1 : tensor<2x33x64xi32>
    %j1 = stablehlo.iota dim = 2 : tensor<2x33x64xi32>
    %lo1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z1 = stablehlo.constant dense<0.0> : tensor<f32>
    %m1 = stablehlo.reduce(%ss1 init: %lo1) applies stablehlo.maximum across dimensions = [2] : (tensor<2x33x64xf32>, tensor<f32>) -> tensor<2x33xf32>
    %mb1 = stablehlo.broadcast_in_dim %m1, dims = [0, 1] : (tensor<2x33xf32>) -> tensor<2x33x64xf32>
    %d1 = stablehlo.subtract %ss1, %mb1 : tensor<2x33x64xf32>
    %e1 = stablehlo.exponential %d1 : tensor<2x33x64xf32>
    %u1 = stablehlo.reduce(%e1 init: %z1) applies stablehlo.add across dimensions = [2] : (tensor<2x33x64xf32>, tensor<f32>) -> tensor<2x33xf32>
    %ub1 = stablehlo.broadcast_in_dim %u1, dims = [0, 1] : (tensor<2x33xf32>) -> tensor<2x33x64xf32>
    %p1 = stablehlo.divide %e1, %ub1 : tensor<2x33x64xf32>
    %pt1 = stablehlo.convert %p1 : (tensor<2x33x64xf32>) -> tensor<2x33x64xf16>
    %y1 = stablehlo.dot_general %pt1, %v1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x33x64xf16>, tensor<2x20x64xf16>) -> tensor<2x33x20xf16>
    %s2 = stablehlo.dot_general %q2, %k2, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x18x8xbf16>, tensor<1x67x8xbf16>) -> tensor<1x18x67xf32>
    %sc2 = stablehlo.constant dense<0.125> : tensor<1x18x67xf32>
    %ss2 = stablehlo.multiply %s2, %sc2 : tensor<1x18x67xf32>
    %i2 = stablehlo.iota dim = 1 : tensor<1x18x67xi32>
    %j2 = stablehlo.iota dim = 2 : tensor<1x18x67xi32>
    %h2 = stablehlo.constant dense<5> : tensor<1x18x67xi32>
    %c2 = stablehlo.compare GE, %i2, %h2, SIGNED : (tensor<1x18x67xi32>, tensor<1x18x67xi32>) -> tensor<1x18x67xi1>
    %l2 = stablehlo.constant dense<0xFF800000> : tensor<1x18x67xf32>
    %t2 = stablehlo.select %c2, %ss2, %l2 : tensor<1x18x67xi1>, tensor<1x18x67xf32>
    %r2s0 = stablehlo.constant dense<1> : tensor<1x18x67xi32>
    %f2s0 = stablehlo.constant dense<3> : tensor<1x18x67xi32>
    %a2s0 = stablehlo.compare EQ, %i2, %r2s0, SIGNED : (tensor<1x18x67xi32>, tensor<1x18x67xi32>) -> tensor<1x18x67xi1>
    %b2s0 = stablehlo.compare EQ, %j2, %f2s0, SIGNED : (tensor<1x18x67xi32>, tensor<1x18x67xi32>) -> tensor<1x18x67xi1>
    %c2s0 = stablehlo.and %a2s0, %b2s0 : tensor<1x18x67xi1>
    %v2s0 = stablehlo.constant dense<0x7FC00000> : tensor<1x18x67xf32>
    %x2s0 = stablehlo.select %c2s0, %v2s0, %t2 : tensor<1x18x67xi1>, tensor<1x18x67xf32>
    %r2s1 = stablehlo.constant dense<4> : tensor<1x18x67xi32>
    %f2s1 = stablehlo.constant dense<12> : tensor<1x18x67xi32>
    %a2s1 = stablehlo.compare EQ, %i2, %r2s1, SIGNED : (tensor<1x18x67xi32>, tensor<1x18x67xi32>) -> tensor<1x18x67xi1>
    %b2s1 = stablehlo.compare EQ, %j2, %f2s1, SIGNED : (tensor<1x18x67xi32>, tensor<1x18x67xi32>) -> tensor<1x18x67xi1>
    %c2s1 = stablehlo.and %a2s1, %b2s1 : tensor<1x18x67xi1>
    %v2s1 = stablehlo.constant dense<0x7F800000> : tensor<1x18x67xf32>
    %x2s1 = stablehlo.select %c2s1, %v2s1, %x2s0 : tensor<1x18x67xi1>, tensor<1x18x67xf32>
    %lo2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z2 = stablehlo.constant dense<0.0> : tensor<f32>
    %m2 = stablehlo.reduce(%x2s1 init: %lo2) applies stablehlo.maximum across dimensions = [2] : (tensor<1x18x67xf32>, tensor<f32>) -> tensor<1x18xf32>
    %mb2 = stablehlo.broadcast_in_dim %m2, dims = [0, 1] : (tensor<1x18xf32>) -> tensor<1x18x67xf32>
    %d2 = stablehlo.subtract %x2s1, %mb2 : tensor<1x18x67xf32>
    %e2 = stablehlo.exponential %d2 : tensor<1x18x67xf32>
    %u2 = stablehlo.reduce(%e2 init: %z2) applies stablehlo.add across dimensions = [2] : (tensor<1x18x67xf32>, tensor<f32>) -> tensor<1x18xf32>
    %ub2 = stablehlo.broadcast_in_dim %u2, dims = [0, 1] : (tensor<1x18xf32>) -> tensor<1x18x67xf32>
    %p2 = stablehlo.divide %e2, %ub2 : tensor<1x18x67xf32>
    %pt2 = stablehlo.convert %p2 : (tensor<1x18x67xf32>) -> tensor<1x18x67xbf16>
    %y2 = stablehlo.dot_general %pt2, %v2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x18x67xbf16>, tensor<1x67x72xbf16>) -> tensor<1x18x72xbf16>
    return %y0, %y1, %y2 : tensor<1x70x128xbf16>, tensor<2x33x20xf16>, tensor<1x18x72xbf16>
}
