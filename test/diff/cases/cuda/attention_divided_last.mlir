// Attention of 16-bit floats whose division comes last, where numerators or their sums are out of range: too large times a factor, or with large values;
// too small where more than the maximum is subtracted.
func.func @main(%q0: tensor<1x40x16xf16>, %k0: tensor<1x150x16xf16>, %v0: tensor<1x150x24xf16>, %q1: tensor<1x33x16xbf16>, %k1: tensor<1x130x16xbf16>, %v1: tensor<1x130x16xbf16>, %q2: tensor<1x35x16xf16>, %k2: tensor<1x140x16xf16>, %v2: tensor<1x140x20xf16>, %q3: tensor<1x20x16xbf16>, %k3: tensor<1x90x16xbf16>, %v3: tensor<1x90x20xbf16>, %q4: tensor<2x34x32xf16>, %k4: tensor<2x200x32xf16>, %v4: tensor<2x200x64xf16>, %q5: tensor<1x18x8xf16>, %k5: tensor<1x70x8xf16>, %v5: tensor<1x70x8xf16>) -> (tensor<1x40x24xf16>, tensor<1x33x16xbf16>, tensor<1x35x20xf16>, tensor<1x20x20xbf16>, tensor<2x34x64xf16>, tensor<1x18x8xf16>) {
    %s0 = stablehlo.dot_general %q0, %k0, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x40x16xf16>, tensor<1x150x16xf16>) -> tensor<1x40x150xf32>
    %sc0 = stablehlo.constant dense<0.5> : tensor<1x40x150xf32>
    %ss0 = stablehlo.multiply %s0, %sc0 : tensor<1x40x150xf32>
    %lo0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z0 = stablehlo.constant dense<0.0> : tensor<f32>
    %m0 = stablehlo.reduce(%ss0 init: %lo0) applies stablehlo.maximum across dimensions = [2] : (tensor<1x40x150xf32>, tensor<f32>) -> tensor<1x40xf32>
    %mb0 = stablehlo.broadcast_in_dim %m0, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x150xf32>
    %d0 = stablehlo.subtract %ss0, %mb0 : tensor<1x40x150xf32>
    %e0 = stablehlo.exponential %d0 : tensor<1x40x150xf32>
    %u0 = stablehlo.reduce(%e0 init: %z0) applies stablehlo.add across dimensions = [2] : (tensor<1x40x150xf32>, tensor<f32>) -> tensor<1x40xf32>
    %ub0 = stablehlo.broadcast_in_dim %u0, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x150xf32>
    %p0 = stablehlo.divide %e0, %ub0 : tensor<1x40x150xf32>
    %f0 = stablehlo.constant dense<6.0e4> : tensor<1x40x150xf32>
    %pf0 = stablehlo.multiply %p0, %f0 : tensor<1x40x150xf32>
    %pt0 = stablehlo.convert %pf0 : (tensor<1x40x150xf32>) -> tensor<1x40x150xf16>
    %y0 = stablehlo.dot_general %pt0, %v0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x40x150xf16>, tensor<1x150x24xf16>) -> tensor<1x40x24xf16>
    %s1 = stablehlo.dot_general %q1, %k1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x33x16xbf16>, tensor<1x130x16xbf16>) -> tensor<1x33x130xf32>
    %sc1 = stablehlo.constant dense<0.01> : tensor<1x33x130xf32>
    %ss1 = stablehlo.multiply %s1, %sc1 : tensor<1x33x130xf32>
    %lo1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z1 = stablehlo.constant dense<0.0> : tensor<f32>
    %m1 = stablehlo.reduce(%ss1 init: %lo1) applies stablehlo.maximum across dimensions = [2] : (tensor<1x33x130xf32>, tensor<f32>) -> tensor<1x33xf32>
    %mb1 = stablehlo.broadcast_in_dim %m1, dims = [0, 1] : (tensor<1x33xf32>) -> tensor<1x33x130xf32>
    %d1 = stablehlo.subtract %ss1, %mb1 : tensor<1x33x130xf32>
    %e1 = stablehlo.exponential %d1 : tensor<1x33x130xf32>
    %u1 = stablehlo.reduce(%e1 init: %z1) applies stablehlo.add across dimensions = [2] : (tensor<1x33x130xf32>, tensor<f32>) -> tensor<1x33xf32>
    %ub1 = stablehlo.broadcast_in_dim %u1, dims = [0, 1] : (tensor<1x33xf32>) -> tensor<1x33x130xf32>
    %p1 = stablehlo.divide %e1, %ub1 : tensor<1x33x130xf32>
    %pt1 = stablehlo.convert %p1 : (tensor<1x33x130xf32>) -> tensor<1x33x130xbf16>
    %vc1 = stablehlo.constant dense<3.0e38> : tensor<1x130x16xbf16>
    %vm1 = stablehlo.minimum %v1, %vc1 : tensor<1x130x16xbf16>
    %vx1 = stablehlo.maximum %vm1, %vc1 : tensor<1x130x16xbf16>
    %y1 = stablehlo.dot_general %pt1, %vx1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x33x130xbf16>, tensor<1x130x16xbf16>) -> tensor<1x33x16xbf16>
    %s2 = stablehlo.dot_general %q2, %k2, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x35x16xf16>, tensor<1x140x16xf16>) -> tensor<1x35x140xf32>
    %sc2 = stablehlo.constant dense<0.25> : tensor<1x35x140xf32>
    %ss2 = stablehlo.multiply %s2, %sc2 : tensor<1x35x140xf32>
    %lo2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z2 = stablehlo.constant dense<0.0> : tensor<f32>
    %m2 = stablehlo.reduce(%ss2 init: %lo2) applies stablehlo.maximum across dimensions = [2] : (tensor<1x35x140xf32>, tensor<f32>) -> tensor<1x35xf32>
    %mc2 = stablehlo.constant dense<60.0> : tensor<1x35xf32>
    %mx2 = stablehlo.maximum %m2, %mc2 : tensor<1x35xf32>
    %mb2 = stablehlo.broadcast_in_dim %mx2, dims = [0, 1] : (tensor<1x35xf32>) -> tensor<1x35x140xf32>
    %d2 = stablehlo.subtract %ss2, %mb2 : tensor<1x35x140xf32>
    %e2 = stablehlo.exponential %d2 : tensor<1x35x140xf32>
    %u2 = stablehlo.reduce(%e2 init: %z2) applies stablehlo.add across dimensions = [2] : (tensor<1x35x140xf32>, tensor<f32>) -> tensor<1x35xf32>
    %ub2 = stablehlo.broadcast_in_dim %u2, dims = [0, 1] : (tensor<1x35xf32>) -> tensor<1x35x140xf32>
    %p2 = stablehlo.divide %e2, %ub2 : tensor<1x35x140xf32>
    %pt2 = stablehlo.convert %p2 : (tensor<1x35x140xf32>) -> tensor<1x35x140xf16>
    %y2 = stablehlo.dot_general %pt2, %v2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x35x140xf16>, tensor<1x140x20xf16>) -> tensor<1x35x20xf16>
    %s3 = stablehlo.dot_general %q3, %k3, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x20x16xbf16>, tensor<1x90x16xbf16>) -> tensor<1x20x90xf32>
    %sc3 = stablehlo.constant dense<0.25> : tensor<1x20x90xf32>
    %ss3 = stablehlo.multiply %s3, %sc3 : tensor<1x20x90xf32>
    %lo3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z3 = stablehlo.constant dense<0.0> : tensor<f32>
    %m3 = stablehlo.reduce(%ss3 init: %lo3) applies stablehlo.maximum across dimensions = [2] : (tensor<1x20x90xf32>, tensor<f32>) -> tensor<1x20xf32>
    %mc3 = stablehlo.constant dense<1.2e2> : tensor<1x20xf32>
    %mx3 = stablehlo.maximum %m3, %mc3 : tensor<1x20xf32>
    %mb3 = stablehlo.broadcast_in_dim %mx3, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x90xf32>
    %d3 = stablehlo.subtract %ss3, %mb3 : tensor<1x20x90xf32>
    %e3 = stablehlo.exponential %d3 : tensor<1x20x90xf32>
    %u3 = stablehlo.reduce(%e3 init: %z3) applies stablehlo.add across dimensions = [2] : (tensor<1x20x90xf32>, tensor<f32>) -> tensor<1x20xf32>
    %ub3 = stablehlo.broadcast_in_dim %u3, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x90xf32>
    %p3 = stablehlo.divide %e3, %ub3 : tensor<1x20x90xf32>
    %pt3 = stablehlo.convert %p3 : (tensor<1x20x90xf32>) -> tensor<1x20x90xbf16>
    %y3 = stablehlo.dot_general %pt3, %v3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x20x90xbf16>, tensor<1x90x20xbf16>) -> tensor<1x20x20xbf16>
    %s4 = stablehlo.dot_general %q4, %k4, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x34x32xf16>, tensor<2x200x32xf16>) -> tensor<2x34x200xf32>
    %sc4 = stablehlo.constant dense<4.0> : tensor<2x34x200xf32>
    %ss4 = stablehlo.multiply %s4, %sc4 : tensor<2x34x200xf32>
    %lo4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z4 = stablehlo.constant dense<0.0> : tensor<f32>
    %m4 = stablehlo.reduce(%ss4 init: %lo4) applies stablehlo.maximum across dimensions = [2] : (tensor<2x34x200xf32>, tensor<f32>) -> tensor<2x34xf32>
    %mb4 = stablehlo.broadcast_in_dim %m4, dims = [0, 1] : (tensor<2x34xf32>) -> tensor<2x34x200xf32>
    %d4 = stablehlo.subtract %ss4, %mb4 : tensor<2x34x200xf32>
    %e4 = stablehlo.exponential %d4 : tensor<2x34x200xf32>
    %u4 = stablehlo.reduce(%e4 init: %z4) applies stablehlo.add across dimensions = [2] : (tensor<2x34x200xf32>, tensor<f32>) -> tensor<2x34xf32>
    %ub4 = stablehlo.broadcast_in_dim %u4, dims = [0, 1] : (tensor<2x34xf32>) -> tensor<2x34x200xf32>
    %p4 = stablehlo.divide %e4, %ub4 : tensor<2x34x200xf32>
    %pt4 = stablehlo.convert %p4 : (tensor<2x34x200xf32>) -> tensor<2x34x200xf16>
    %y4 = stablehlo.dot_general %pt4, %v4, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x34x200xf16>, tensor<2x200x64xf16>) -> tensor<2x34x64xf16>
    %s5 = stablehlo.dot_general %q5, %k5, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x18x8xf16>, tensor<1x70x8xf16>) -> tensor<1x18x70xf32>
    %sc5 = stablehlo.constant dense<1.0> : tensor<1x18x70xf32>
    %ss5 = stablehlo.multiply %s5, %sc5 : tensor<1x18x70xf32>
    %lo5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z5 = stablehlo.constant dense<0.0> : tensor<f32>
    %m5 = stablehlo.reduce(%ss5 init: %lo5) applies stablehlo.maximum across dimensions = [2] : (tensor<1x18x70xf32>, tensor<f32>) -> tensor<1x18xf32>
    %mb5 = stablehlo.broadcast_in_dim %m5, dims = [0, 1] : (tensor<1x18xf32>) -> tensor<1x18x70xf32>
    %d5 = stablehlo.subtract %ss5, %mb5 : tensor<1x18x70xf32>
    %e5 = stablehlo.exponential %d5 : tensor<1x18x70xf32>
    %u5 = stablehlo.reduce(%e5 init: %z5) applies stablehlo.add across dimensions = [2] : (tensor<1x18x70xf32>, tensor<f32>) -> tensor<1x18xf32>
    %ub5 = stablehlo.broadcast_in_dim %u5, dims = [0, 1] : (tensor<1x18xf32>) -> tensor<1x18x70xf32>
    %p5 = stablehlo.divide %e5, %ub5 : tensor<1x18x70xf32>
    %f5 = stablehlo.constant dense<0x7F800000> : tensor<1x18x70xf32>
    %pf5 = stablehlo.multiply %p5, %f5 : tensor<1x18x70xf32>
    %pt5 = stablehlo.convert %pf5 : (tensor<1x18x70xf32>) -> tensor<1x18x70xf16>
    %y5 = stablehlo.dot_general %pt5, %v5, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x18x70xf16>, tensor<1x70x8xf16>) -> tensor<1x18x8xf16>
    return %y0, %y1, %y2, %y3, %y4, %y5 : tensor<1x40x24xf16>, tensor<1x33x16xbf16>, tensor<1x35x20xf16>, tensor<1x20x20xbf16>, tensor<2x34x64xf16>, tensor<1x18x8xf16>
}
