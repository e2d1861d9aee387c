// Attention by pieces of rows whose numerators, quotients and sums are results, too.
func.func @main(%q0: tensor<2x50x32xbf16>, %k0: tensor<2x130x32xbf16>, %v0: tensor<2x130x32xbf16>, %q1: tensor<1x70x20xf32>, %k1: tensor<1x66x20xf32>, %v1: tensor<1x66x64xf32>, %q2: tensor<1x34x16xf16>, %k2: tensor<1x40x16xf16>, %v2: tensor<1x40x16xf16>, %q3: tensor<1x40x70xbf16>, %k3: tensor<1x80x70xbf16>, %v3: tensor<1x80x90xbf16>) -> (tensor<2x50x32xbf16>, tensor<2x50x130xf32>, tensor<2x50x130xbf16>, tensor<2x50xf32>, tensor<1x70x64xf32>, tensor<1x70x66xf32>, tensor<1x70x66xf32>, tensor<1x70xf32>, tensor<1x34x16xf16>, tensor<1x34x40xf32>, tensor<1x34x40xf16>, tensor<1x34xf32>, tensor<1x40x90xbf16>, tensor<1x40x80xf32>, tensor<1x40x80xbf16>, tensor<1x40xf32>) {
    %s0 = stablehlo.dot_general %q0, %k0, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x50x32xbf16>, tensor<2x130x32xbf16>) -> tensor<2x50x130xf32>
    %sc0 = stablehlo.constant dense<0.125> : tensor<2x50x130xf32>
    %ss0 = stablehlo.multiply %s0, %sc0 : tensor<2x50x130xf32>
    %i0 = stablehlo.iota dim = 1 : tensor<2x50x130xi32>
    %j0 = stablehlo.iota dim = 2 : tensor<2x50x130xi32>
    %c0 = stablehlo.compare LE, %j0, %i0, SIGNED : (tensor<2x50x130xi32>, tensor<2x50x130xi32>) -> tensor<2x50x130xi1>
    %l0 = stablehlo.constant dense<-3.0e38> : tensor<2x50x130xf32>
    %t0 = stablehlo.select %c0, %ss0, %l0 : tensor<2x50x130xi1>, tensor<2x50x130xf32>
    %lo0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z0 = stablehlo.constant dense<0.0> : tensor<f32>
    %m0 = stablehlo.reduce(%t0 init: %lo0) applies stablehlo.maximum across dimensions = [2] : (tensor<2x50x130xf32>, tensor<f32>) -> tensor<2x50xf32>
    %mb0 = stablehlo.broadcast_in_dim %m0, dims = [0, 1] : (tensor<2x50xf32>) -> tensor<2x50x130xf32>
    %d0 = stablehlo.subtract %t0, %mb0 : tensor<2x50x130xf32>
    %e0 = stablehlo.exponential %d0 : tensor<2x50x130xf32>
    %u0 = stablehlo.reduce(%e0 init: %z0) applies stablehlo.add across dimensions = [2] : (tensor<2x50x130xf32>, tensor<f32>) -> tensor<2x50xf32>
    %ub0 = stablehlo.broadcast_in_dim %u0, dims = [0, 1] : (tensor<2x50xf32>) -> tensor<2x50x130xf32>
    %p0 = stablehlo.divide %e0, %ub0 : tensor<2x50x130xf32>
    %zz0 = stablehlo.constant dense<0.0> : tensor<2x50x130xf32>
    %pz0 = stablehlo.select %c0, %p0, %zz0 : tensor<2x50x130xi1>, tensor<2x50x130xf32>
    %pt0 = stablehlo.convert %pz0 : (tensor<2x50x130xf32>) -> tensor<2x50x130xbf16>
    %y0 = stablehlo.dot_general %pt0, %v0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x50x130xbf16>, tensor<2x130x32xbf16>) -> tensor<2x50x32xbf16>
    %s1 = stablehlo.dot_general %q1, %k1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x70x20xf32>, tensor<1x66x20xf32>) -> tensor<1x70x66xf32>
    %sc1 = stablehlo.constant dense<0.125> : tensor<1x70x66xf32>
    %ss1 = stablehlo.multiply %s1, %sc1 : tensor<1x70x66xf32>
    %i1 = stablehlo.iota dim = 1 : tensor<1x70x66xi32>
    %j1 = stablehlo.iota dim = 2 : tensor<1x70x66xi32>
    %c1 = stablehlo.compare LE, %j1, %i1, SIGNED : (tensor<1x70x66xi32>, tensor<1x70x66xi32>) -> tensor<1x70x66xi1>
    %l1 = stablehlo.constant dense<0xFF800000> : tensor<1x70x66xf32>
    %t1 = stablehlo.select %c1, %ss1, %l1 : tensor<1x70x66xi1>, tensor<1x70x66xf32>
    %lo1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z1 = stablehlo.constant dense<0.0> : tensor<f32>
    %m1 = stablehlo.reduce(%t1 init: %lo1) applies stablehlo.maximum across dimensions = [2] : (tensor<1x70x66xf32>, tensor<f32>) -> tensor<1x70xf32>
    %mb1 = stablehlo.broadcast_in_dim %m1, dims = [0, 1] : (tensor<1x70xf32>) -> tensor<1x70x66xf32>
    %d1 = stablehlo.subtract %t1, %mb1 : tensor<1x70x66xf32>
    %e1 = stablehlo.exponential %d1 : tensor<1x70x66xf32>
    %u1 = stablehlo.reduce(%e1 init: %z1) applies stablehlo.add across dimensions = [2] : (tensor<1x70x66xf32>, tensor<f32>) -> tensor<1x70xf32>
    %ub1 = stablehlo.broadcast_in_dim %u1, dims = [0, 1] : (tensor<1x70xf32>) -> tensor<1x70x66xf32>
    %p1 = stablehlo.divide %e1, %ub1 : tensor<1x70x66xf32>
    %y1 = stablehlo.dot_general %p1, %v1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x70x66xf32>, tensor<1x66x64xf32>) -> tensor<1x70x64xf32>
    %s2 = stablehlo.dot_general %q2, %k2, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x34x16xf16>, tensor<1x40x16xf16>) -> tensor<1x34x40xf32>
    %sc2 = stablehlo.constant dense<0.125> : tensor<1x34x40xf32>
    %ss2 = stablehlo.multiply %s2, %sc2 : tensor<1x34x40xf32>
    %i2 = stablehlo.iota dim = 1 : tensor<1x34x40xi32>
    %j2 = stablehlo.iota dim = 2 : tensor<1x34x40xi32>
    %h2 = stablehlo.constant dense<7> : tensor<1x34x40xi32>
    %c2 = stablehlo.compare GE, %i2, %h2, SIGNED : (tensor<1x34x40xi32>, tensor<1x34x40xi32>) -> tensor<1x34x40xi1>
    %l2 = stablehlo.constant dense<0xFF800000> : tensor<1x34x40xf32>
    %t2 = stablehlo.select %c2, %ss2, %l2 : tensor<1x34x40xi1>, tensor<1x34x40xf32>
    %lo2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z2 = stablehlo.constant dense<0.0> : tensor<f32>
    %m2 = stablehlo.reduce(%t2 init: %lo2) applies stablehlo.maximum across dimensions = [2] : (tensor<1x34x40xf32>, tensor<f32>) -> tensor<1x34xf32>
    %mb2 = stablehlo.broadcast_in_dim %m2, dims = [0, 1] : (tensor<1x34xf32>) -> tensor<1x34x40xf32>
    %d2 = stablehlo.subtract %t2, %mb2 : tensor<1x34x40xf32>
    %e2 = stablehlo.exponential %d2 : tensor<1x34x40xf32>
    %u2 = stablehlo.reduce(%e2 init: %z2) applies stablehlo.add across dimensions = [2] : (tensor<1x34x40xf32>, tensor<f32>) -> tensor<1x34xf32>
    %ub2 = stablehlo.broadcast_in_dim %u2, dims = [0, 1] : (tensor<1x34xf32>) -> tensor<1x34x40xf32>
    %p2 = stablehlo.divide %e2, %ub2 : tensor<1x34x40xf32>
    %pt2 = stablehlo.convert %p2 : (tensor<1x34x40xf32>) -> tensor<1x34x40xf16>
    %y2 = stablehlo.dot_general %pt2, %v2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x34x40xf16>, tensor<1x40x16xf16>) -> tensor<1x34x16xf16>
    %s3 = stablehlo.dot_general %q3, %k3, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x40x70xbf16>, tensor<1x80x70xbf16>) -> tensor<1x40x80xf32>
    %sc3 = stablehlo.constant dense<0.125> : tensor<1x40x80xf32>
    %ss3 = stablehlo.multiply %s3, %sc3 : tensor<1x40x80xf32>
    %i3 = stablehlo.iota dim = 1 : tensor<1x40x80xi32>
    %j3 = stablehlo.iota dim = 2 : tensor<1x40x80xi32>
    %c3 = stablehlo.compare LE, %j3, %i3, SIGNED : (tensor<1x40x80xi32>, tensor<1x40x80xi32>) -> tensor<1x40x80xi1>
    %l3 = stablehlo.constant dense<0xFF800000> : tensor<1x40x80xf32>
    %t3 = stablehlo.select %c3, %ss3, %l3 : tensor<1x40x80xi1>, tensor<1x40x80xf32>
    %lo3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z3 = stablehlo.constant dense<0.0> : tensor<f32>
    %m3 = stablehlo.reduce(%t3 init: %lo3) applies stablehlo.maximum across dimensions = [2] : (tensor<1x40x80xf32>, tensor<f32>) -> tensor<1x40xf32>
    %mb3 = stablehlo.broadcast_in_dim %m3, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x80xf32>
    %d3 = stablehlo.subtract %t3, %mb3 : tensor<1x40x80xf32>
    %e3 = stablehlo.exponential %d3 : tensor<1x40x80xf32>
    %u3 = stablehlo.reduce(%e3 init: %z3) applies stablehlo.add across dimensions = [2] : (tensor<1x40x80xf32>, tensor<f32>) -> tensor<1x40xf32>
    %ub3 = stablehlo.broadcast_in_dim %u3, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x80xf32>
    %p3 = stablehlo.divide %e3, %ub3 : tensor<1x40x80xf32>
    %zz3 = stablehlo.constant dense<0.0> : tensor<1x40x80xf32>
    %pz3 = stablehlo.select %c3, %p3, %zz3 : tensor<1x40x80xi1>, tensor<1x40x80xf32>
    %pt3 = stablehlo.convert %pz3 : (tensor<1x40x80xf32>) -> tensor<1x40x80xbf16>
    %y3 = stablehlo.dot_general %pt3, %v3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x40x80xbf16>, tensor<1x80x90xbf16>) -> tensor<1x40x90xbf16>
    return %y0, %e0, %pt0, %u0, %y1, %e1, %p1, %u1, %y2, %e2, %pt2, %u2, %y3, %e3, %pt3, %u3 : tensor<2x50x32xbf16>, tensor<2x50x130xf32>, tensor<2x50x130xbf16>, tensor<2x50xf32>, tensor<1x70x64xf32>, tensor<1x70x66xf32>, tensor<1x70x66xf32>, tensor<1x70xf32>, tensor<1x34x16xf16>, tensor<1x34x40xf32>, tensor<1x34x40xf16>, tensor<1x34xf32>, tensor<1x40x90xbf16>, tensor<1x40x80xf32>, tensor<1x40x80xbf16>, tensor<1x40xf32>
}
