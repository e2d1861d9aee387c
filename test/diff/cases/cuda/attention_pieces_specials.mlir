// Attention by pieces of rows: NaN and infinities among the scores, scores that grow from piece to piece, factors the other way round.
func.func @main(%q0: tensor<2x41x24xbf16>, %k0: tensor<2x24x129xbf16>, %v0: tensor<2x16x129xbf16>, %q1: tensor<1x40x33xf32>, %k1: tensor<1x33x90xf32>, %v1: tensor<1x60x90xf32>, %q2: tensor<1x66x16xf16>, %k2: tensor<1x16x200xf16>, %v2: tensor<1x200x40xf16>, %q3: tensor<1x30x9xf32>, %k3: tensor<1x70x9xf32>, %v3: tensor<1x70x64xf32>) -> (tensor<2x41x16xbf16>, tensor<1x40x60xf32>, tensor<1x66x40xf16>, tensor<1x30x64xf32>) {
    %s0 = stablehlo.dot_general %q0, %k0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x41x24xbf16>, tensor<2x24x129xbf16>) -> tensor<2x41x129xf32>
    %sc0 = stablehlo.constant dense<0.125> : tensor<2x41x129xf32>
    %ss0 = stablehlo.multiply %s0, %sc0 : tensor<2x41x129xf32>
    %i0 = stablehlo.iota dim = 1 : tensor<2x41x129xi32>
    %j0 = stablehlo.iota dim = 2 : tensor<2x41x129xi32>
    %r0s0 = stablehlo.constant dense<1> : tensor<2x41x129xi32>
    %f0s0 = stablehlo.constant dense<3> : tensor<2x41x129xi32>
    %a0s0 = stablehlo.compare EQ, %i0, %r0s0, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %b0s0 = stablehlo.compare EQ, %j0, %f0s0, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %c0s0 = stablehlo.and %a0s0, %b0s0 : tensor<2x41x129xi1>
    %v0s0 = stablehlo.constant dense<0x7FC00000> : tensor<2x41x129xf32>
    %x0s0 = stablehlo.select %c0s0, %v0s0, %ss0 : tensor<2x41x129xi1>, tensor<2x41x129xf32>
    %r0s1 = stablehlo.constant dense<4> : tensor<2x41x129xi32>
    %f0s1 = stablehlo.constant dense<12> : tensor<2x41x129xi32>
    %a0s1 = stablehlo.compare EQ, %i0, %r0s1, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %b0s1 = stablehlo.compare EQ, %j0, %f0s1, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %c0s1 = stablehlo.and %a0s1, %b0s1 : tensor<2x41x129xi1>
    %v0s1 = stablehlo.constant dense<0x7F800000> : tensor<2x41x129xf32>
    %x0s1 = stablehlo.select %c0s1, %v0s1, %x0s0 : tensor<2x41x129xi1>, tensor<2x41x129xf32>
    %r0s2 = stablehlo.constant dense<9> : tensor<2x41x129xi32>
    %f0s2 = stablehlo.constant dense<27> : tensor<2x41x129xi32>
    %a0s2 = stablehlo.compare EQ, %i0, %r0s2, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %b0s2 = stablehlo.compare EQ, %j0, %f0s2, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %c0s2 = stablehlo.and %a0s2, %b0s2 : tensor<2x41x129xi1>
    %v0s2 = stablehlo.constant dense<0xFF800000> : tensor<2x41x129xf32>
    %x0s2 = stablehlo.select %c0s2, %v0s2, %x0s1 : tensor<2x41x129xi1>, tensor<2x41x129xf32>
    %r0s3 = stablehlo.constant dense<20> : tensor<2x41x129xi32>
    %f0s3 = stablehlo.constant dense<60> : tensor<2x41x129xi32>
    %a0s3 = stablehlo.compare EQ, %i0, %r0s3, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %b0s3 = stablehlo.compare EQ, %j0, %f0s3, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %c0s3 = stablehlo.and %a0s3, %b0s3 : tensor<2x41x129xi1>
    %v0s3 = stablehlo.constant dense<0x7F800000> : tensor<2x41x129xf32>
    %x0s3 = stablehlo.select %c0s3, %v0s3, %x0s2 : tensor<2x41x129xi1>, tensor<2x41x129xf32>
    %r0s4 = stablehlo.constant dense<22> : tensor<2x41x129xi32>
    %f0s4 = stablehlo.constant dense<66> : tensor<2x41x129xi32>
    %a0s4 = stablehlo.compare EQ, %i0, %r0s4, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %b0s4 = stablehlo.compare EQ, %j0, %f0s4, SIGNED : (tensor<2x41x129xi32>, tensor<2x41x129xi32>) -> tensor<2x41x129xi1>
    %c0s4 = stablehlo.and %a0s4, %b0s4 : tensor<2x41x129xi1>
    %v0s4 = stablehlo.constant dense<3.0e38> : tensor<2x41x129xf32>
    %x0s4 = stablehlo.select %c0s4, %v0s4, %x0s3 : tensor<2x41x129xi1>, tensor<2x41x129xf32>
    %lo0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z0 = stablehlo.constant dense<0.0> : tensor<f32>
    %m0 = stablehlo.reduce(%x0s4 init: %lo0) applies stablehlo.maximum across dimensions = [2] : (tensor<2x41x129xf32>, tensor<f32>) -> tensor<2x41xf32>
    %mb0 = stablehlo.broadcast_in_dim %m0, dims = [0, 1] : (tensor<2x41xf32>) -> tensor<2x41x129xf32>
    %d0 = stablehlo.subtract %x0s4, %mb0 : tensor<2x41x129xf32>
    %e0 = stablehlo.exponential %d0 : tensor<2x41x129xf32>
    %u0 = stablehlo.reduce(%e0 init: %z0) applies stablehlo.add across dimensions = [2] : (tensor<2x41x129xf32>, tensor<f32>) -> tensor<2x41xf32>
    %ub0 = stablehlo.broadcast_in_dim %u0, dims = [0, 1] : (tensor<2x41xf32>) -> tensor<2x41x129xf32>
    %p0 = stablehlo.divide %e0, %ub0 : tensor<2x41x129xf32>
    %pt0 = stablehlo.convert %p0 : (tensor<2x41x129xf32>) -> tensor<2x41x129xbf16>
    %y0 = stablehlo.dot_general %pt0, %v0, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x41x129xbf16>, tensor<2x16x129xbf16>) -> tensor<2x41x16xbf16>
    %s1 = stablehlo.dot_general %q1, %k1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x40x33xf32>, tensor<1x33x90xf32>) -> tensor<1x40x90xf32>
    %sc1 = stablehlo.constant dense<4.0> : tensor<1x40x90xf32>
    %ss1 = stablehlo.multiply %s1, %sc1 : tensor<1x40x90xf32>
    %i1 = stablehlo.iota dim = 1 : tensor<1x40x90xi32>
    %j1 = stablehlo.iota dim = 2 : tensor<1x40x90xi32>
    %r1s0 = stablehlo.constant dense<1> : tensor<1x40x90xi32>
    %f1s0 = stablehlo.constant dense<3> : tensor<1x40x90xi32>
    %a1s0 = stablehlo.compare EQ, %i1, %r1s0, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %b1s0 = stablehlo.compare EQ, %j1, %f1s0, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %c1s0 = stablehlo.and %a1s0, %b1s0 : tensor<1x40x90xi1>
    %v1s0 = stablehlo.constant dense<0x7FC00000> : tensor<1x40x90xf32>
    %x1s0 = stablehlo.select %c1s0, %v1s0, %ss1 : tensor<1x40x90xi1>, tensor<1x40x90xf32>
    %r1s1 = stablehlo.constant dense<4> : tensor<1x40x90xi32>
    %f1s1 = stablehlo.constant dense<12> : tensor<1x40x90xi32>
    %a1s1 = stablehlo.compare EQ, %i1, %r1s1, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %b1s1 = stablehlo.compare EQ, %j1, %f1s1, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %c1s1 = stablehlo.and %a1s1, %b1s1 : tensor<1x40x90xi1>
    %v1s1 = stablehlo.constant dense<0x7F800000> : tensor<1x40x90xf32>
    %x1s1 = stablehlo.select %c1s1, %v1s1, %x1s0 : tensor<1x40x90xi1>, tensor<1x40x90xf32>
    %r1s2 = stablehlo.constant dense<9> : tensor<1x40x90xi32>
    %f1s2 = stablehlo.constant dense<27> : tensor<1x40x90xi32>
    %a1s2 = stablehlo.compare EQ, %i1, %r1s2, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %b1s2 = stablehlo.compare EQ, %j1, %f1s2, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %c1s2 = stablehlo.and %a1s2, %b1s2 : tensor<1x40x90xi1>
    %v1s2 = stablehlo.constant dense<0xFF800000> : tensor<1x40x90xf32>
    %x1s2 = stablehlo.select %c1s2, %v1s2, %x1s1 : tensor<1x40x90xi1>, tensor<1x40x90xf32>
    %r1s3 = stablehlo.constant dense<20> : tensor<1x40x90xi32>
    %f1s3 = stablehlo.constant dense<60> : tensor<1x40x90xi32>
    %a1s3 = stablehlo.compare EQ, %i1, %r1s3, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %b1s3 = stablehlo.compare EQ, %j1, %f1s3, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %c1s3 = stablehlo.and %a1s3, %b1s3 : tensor<1x40x90xi1>
    %v1s3 = stablehlo.constant dense<0x7F800000> : tensor<1x40x90xf32>
    %x1s3 = stablehlo.select %c1s3, %v1s3, %x1s2 : tensor<1x40x90xi1>, tensor<1x40x90xf32>
    %r1s4 = stablehlo.constant dense<22> : tensor<1x40x90xi32>
    %f1s4 = stablehlo.constant dense<66> : tensor<1x40x90xi32>
    %a1s4 = stablehlo.compare EQ, %i1, %r1s4, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %b1s4 = stablehlo.compare EQ, %j1, %f1s4, SIGNED : (tensor<1x40x90xi32>, tensor<1x40x90xi32>) -> tensor<1x40x90xi1>
    %c1s4 = stablehlo.and %a1s4, %b1s4 : tensor<1x40x90xi1>
    %v1s4 = stablehlo.constant dense<3.0e38> : tensor<1x40x90xf32>
    %x1s4 = stablehlo.select %c1s4, %v1s4, %x1s3 : tensor<1x40x90xi1>, tensor<1x40x90xf32>
    %lo1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z1 = stablehlo.constant dense<0.0> : tensor<f32>
    %m1 = stablehlo.reduce(%x1s4 init: %lo1) applies stablehlo.maximum across dimensions = [2] : (tensor<1x40x90xf32>, tensor<f32>) -> tensor<1x40xf32>
    %mb1 = stablehlo.broadcast_in_dim %m1, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x90xf32>
    %d1 = stablehlo.subtract %x1s4, %mb1 : tensor<1x40x90xf32>
    %e1 = stablehlo.exponential %d1 : tensor<1x40x90xf32>
    %u1 = stablehlo.reduce(%e1 init: %z1) applies stablehlo.add across dimensions = [2] : (tensor<1x40x90xf32>, tensor<f32>) -> tensor<1x40xf32>
    %ub1 = stablehlo.broadcast_in_dim %u1, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x90xf32>
    %p1 = stablehlo.divide %e1, %ub1 : tensor<1x40x90xf32>
    %y1 = stablehlo.dot_general %p1, %v1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x40x90xf32>, tensor<1x60x90xf32>) -> tensor<1x40x60xf32>
    %s2 = stablehlo.dot_general %q2, %k2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x66x16xf16>, tensor<1x16x200xf16>) -> tensor<1x66x200xf32>
    %sc2 = stablehlo.constant dense<9.0> : tensor<1x66x200xf32>
    %ss2 = stablehlo.multiply %s2, %sc2 : tensor<1x66x200xf32>
    %i2 = stablehlo.iota dim = 1 : tensor<1x66x200xi32>
    %j2 = stablehlo.iota dim = 2 : tensor<1x66x200xi32>
    %h2 = stablehlo.constant dense<190> : tensor<1x66x200xi32>
    %c2 = stablehlo.compare GE, %j2, %h2, SIGNED : (tensor<1x66x200xi32>, tensor<1x66x200xi32>) -> tensor<1x66x200xi1>
    %l2 = stablehlo.constant dense<-2.0> : tensor<1x66x200xf32>
    %t2 = stablehlo.select %c2, %ss2, %l2 : tensor<1x66x200xi1>, tensor<1x66x200xf32>
    %lo2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z2 = stablehlo.constant dense<0.0> : tensor<f32>
    %m2 = stablehlo.reduce(%t2 init: %lo2) applies stablehlo.maximum across dimensions = [2] : (tensor<1x66x200xf32>, tensor<f32>) -> tensor<1x66xf32>
    %mb2 = stablehlo.broadcast_in_dim %m2, dims = [0, 1] : (tensor<1x66xf32>) -> tensor<1x66x200xf32>
    %d2 = stablehlo.subtract %t2, %mb2 : tensor<1x66x200xf32>
    %e2 = stablehlo.exponential %d2 : tensor<1x66x200xf32>
    %u2 = stablehlo.reduce(%e2 init: %z2) applies stablehlo.add across dimensions = [2] : (tensor<1x66x200xf32>, tensor<f32>) -> tensor<1x66xf32>
    %ub2 = stablehlo.broadcast_in_dim %u2, dims = [0, 1] : (tensor<1x66xf32>) -> tensor<1x66x200xf32>
    %p2 = stablehlo.divide %e2, %ub2 : tensor<1x66x200xf32>
    %pt2 = stablehlo.convert %p2 : (tensor<1x66x200xf32>) -> tensor<1x66x200xf16>
    %y2 = stablehlo.dot_general %pt2, %v2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x66x200xf16>, tensor<1x200x40xf16>) -> tensor<1x66x40xf16>
    %s3 = stablehlo.dot_general %q3, %k3, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x30x9xf32>, tensor<1x70x9xf32>) -> tensor<1x30x70xf32>
    %sc3 = stablehlo.constant dense<-7.0> : tensor<1x30x70xf32>
    %ss3 = stablehlo.multiply %s3, %sc3 : tensor<1x30x70xf32>
    %i3 = stablehlo.iota dim = 1 : tensor<1x30x70xi32>
    %j3 = stablehlo.iota dim = 2 : tensor<1x30x70xi32>
    %c3 = stablehlo.compare LE, %j3, %i3, SIGNED : (tensor<1x30x70xi32>, tensor<1x30x70xi32>) -> tensor<1x30x70xi1>
    %l3 = stablehlo.constant dense<0xFF800000> : tensor<1x30x70xf32>
    %t3 = stablehlo.select %c3, %ss3, %l3 : tensor<1x30x70xi1>, tensor<1x30x70xf32>
    %lo3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z3 = stablehlo.constant dense<0.0> : tensor<f32>
    %m3 = stablehlo.reduce(%t3 init: %lo3) applies stablehlo.maximum across dimensions = [2] : (tensor<1x30x70xf32>, tensor<f32>) -> tensor<1x30xf32>
    %mb3 = stablehlo.broadcast_in_dim %m3, dims = [0, 1] : (tensor<1x30xf32>) -> tensor<1x30x70xf32>
    %d3 = stablehlo.subtract %t3, %mb3 : tensor<1x30x70xf32>
    %e3 = stablehlo.exponential %d3 : tensor<1x30x70xf32>
    %u3 = stablehlo.reduce(%e3 init: %z3) applies stablehlo.add across dimensions = [2] : (tensor<1x30x70xf32>, tensor<f32>) -> tensor<1x30xf32>
    %ub3 = stablehlo.broadcast_in_dim %u3, dims = [0, 1] : (tensor<1x30xf32>) -> tensor<1x30x70xf32>
    %p3 = stablehlo.divide %e3, %ub3 : tensor<1x30x70xf32>
    %y3 = stablehlo.dot_general %p3, %v3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x30x70xf32>, tensor<1x70x64xf32>) -> tensor<1x30x64xf32>
    return %y0, %y1, %y2, %y3 : tensor<2x41x16xbf16>, tensor<1x40x60xf32>, tensor<1x66x40xf16>, tensor<1x30x64xf32>
}
