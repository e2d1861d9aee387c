// Attention by pieces of rows: masks of large numbers and of infinite ones, rows of which nothing is seen, and those numbers made 0 or not.
func.func @main(%q0: tensor<2x70x40xbf16>, %k0: tensor<2x150x40xbf16>, %v0: tensor<2x150x24xbf16>, %q1: tensor<1x35x64xbf16>, %k1: tensor<1x70x64xbf16>, %v1: tensor<1x70x64xbf16>, %q2: tensor<1x20x17xf16>, %k2: tensor<1x130x17xf16>, %v2: tensor<1x130x33xf16>, %q3: tensor<1x33x30xf32>, %k3: tensor<1x130x30xf32>, %v3: tensor<1x130x20xf32>, %q4: tensor<1x40x64xf32>, %k4: tensor<1x65x64xf32>, %v4: tensor<1x65x8xf32>, %q5: tensor<1x20x16xbf16>, %k5: tensor<1x150x16xbf16>, %v5: tensor<1x150x16xbf16>, %q6: tensor<1x20x16xf32>, %k6: tensor<1x90x16xf32>, %v6: tensor<1x90x16xf32>) -> (tensor<2x70x24xbf16>, tensor<1x35x64xbf16>, tensor<1x20x33xf16>, tensor<1x33x20xf32>, tensor<1x40x8xf32>, tensor<1x20x16xbf16>, tensor<1x20x16xf32>) {
    %s0 = stablehlo.dot_general %q0, %k0, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x70x40xbf16>, tensor<2x150x40xbf16>) -> tensor<2x70x150xf32>
    %sc0 = stablehlo.constant dense<0.125> : tensor<2x70x150xf32>
    %ss0 = stablehlo.multiply %s0, %sc0 : tensor<2x70x150xf32>
    %i0 = stablehlo.iota dim = 1 : tensor<2x70x150xi32>
    %j0 = stablehlo.iota dim = 2 : tensor<2x70x150xi32>
    %c0 = stablehlo.compare LE, %j0, %i0, SIGNED : (tensor<2x70x150xi32>, tensor<2x70x150xi32>) -> tensor<2x70x150xi1>
    %l0 = stablehlo.constant dense<-3.0e38> : tensor<2x70x150xf32>
    %t0 = stablehlo.select %c0, %ss0, %l0 : tensor<2x70x150xi1>, tensor<2x70x150xf32>
    %lo0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z0 = stablehlo.constant dense<0.0> : tensor<f32>
    %m0 = stablehlo.reduce(%t0 init: %lo0) applies stablehlo.maximum across dimensions = [2] : (tensor<2x70x150xf32>, tensor<f32>) -> tensor<2x70xf32>
    %mb0 = stablehlo.broadcast_in_dim %m0, dims = [0, 1] : (tensor<2x70xf32>) -> tensor<2x70x150xf32>
    %d0 = stablehlo.subtract %t0, %mb0 : tensor<2x70x150xf32>
    %e0 = stablehlo.exponential %d0 : tensor<2x70x150xf32>
    %u0 = stablehlo.reduce(%e0 init: %z0) applies stablehlo.add across dimensions = [2] : (tensor<2x70x150xf32>, tensor<f32>) -> tensor<2x70xf32>
    %ub0 = stablehlo.broadcast_in_dim %u0, dims = [0, 1] : (tensor<2x70xf32>) -> tensor<2x70x150xf32>
    %p0 = stablehlo.divide %e0, %ub0 : tensor<2x70x150xf32>
    %zz0 = stablehlo.constant dense<0.0> : tensor<2x70x150xf32>
    %pz0 = stablehlo.select %c0, %p0, %zz0 : tensor<2x70x150xi1>, tensor<2x70x150xf32>
    %pt0 = stablehlo.convert %pz0 : (tensor<2x70x150xf32>) -> tensor<2x70x150xbf16>
    %y0 = stablehlo.dot_general %pt0, %v0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x70x150xbf16>, tensor<2x150x24xbf16>) -> tensor<2x70x24xbf16>
    %s1 = stablehlo.dot_general %q1, %k1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x35x64xbf16>, tensor<1x70x64xbf16>) -> tensor<1x35x70xf32>
    %sc1 = stablehlo.constant dense<0.125> : tensor<1x35x70xf32>
    %ss1 = stablehlo.multiply %s1, %sc1 : tensor<1x35x70xf32>
    %i1 = stablehlo.iota dim = 1 : tensor<1x35x70xi32>
    %j1 = stablehlo.iota dim = 2 : tensor<1x35x70xi32>
    %h1 = stablehlo.constant dense<18> : tensor<1x35x70xi32>
    %c1 = stablehlo.compare GE, %i1, %h1, SIGNED : (tensor<1x35x70xi32>, tensor<1x35x70xi32>) -> tensor<1x35x70xi1>
    %l1 = stablehlo.constant dense<0xFF800000> : tensor<1x35x70xf32>
    %t1 = stablehlo.select %c1, %ss1, %l1 : tensor<1x35x70xi1>, tensor<1x35x70xf32>
    %lo1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z1 = stablehlo.constant dense<0.0> : tensor<f32>
    %m1 = stablehlo.reduce(%t1 init: %lo1) applies stablehlo.maximum across dimensions = [2] : (tensor<1x35x70xf32>, tensor<f32>) -> tensor<1x35xf32>
    %mb1 = stablehlo.broadcast_in_dim %m1, dims = [0, 1] : (tensor<1x35xf32>) -> tensor<1x35x70xf32>
    %d1 = stablehlo.subtract %t1, %mb1 : tensor<1x35x70xf32>
    %e1 = stablehlo.exponential %d1 : tensor<1x35x70xf32>
    %u1 = stablehlo.reduce(%e1 init: %z1) applies stablehlo.add across dimensions = [2] : (tensor<1x35x70xf32>, tensor<f32>) -> tensor<1x35xf32>
    %ub1 = stablehlo.broadcast_in_dim %u1, dims = [0, 1] : (tensor<1x35xf32>) -> tensor<1x35x70xf32>
    %p1 = stablehlo.divide %e1, %ub1 : tensor<1x35x70xf32>
    %zz1 = stablehlo.constant dense<0.0> : tensor<1x35x70xf32>
    %pz1 = stablehlo.select %c1, %p1, %zz1 : tensor<1x35x70xi1>, tensor<1x35x70xf32>
    %pt1 = stablehlo.convert %pz1 : (tensor<1x35x70xf32>) -> tensor<1x35x70xbf16>
    %y1 = stablehlo.dot_general %pt1, %v1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x35x70xbf16>, tensor<1x70x64xbf16>) -> tensor<1x35x64xbf16>
    %s2 = stablehlo.dot_general %q2, %k2, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x20x17xf16>, tensor<1x130x17xf16>) -> tensor<1x20x130xf32>
    %sc2 = stablehlo.constant dense<0.125> : tensor<1x20x130xf32>
    %ss2 = stablehlo.multiply %s2, %sc2 : tensor<1x20x130xf32>
    %i2 = stablehlo.iota dim = 1 : tensor<1x20x130xi32>
    %j2 = stablehlo.iota dim = 2 : tensor<1x20x130xi32>
    %h2 = stablehlo.constant dense<100> : tensor<1x20x130xi32>
    %c2 = stablehlo.compare GE, %j2, %h2, SIGNED : (tensor<1x20x130xi32>, tensor<1x20x130xi32>) -> tensor<1x20x130xi1>
    %l2 = stablehlo.constant dense<-1.0e30> : tensor<1x20x130xf32>
    %t2 = stablehlo.select %c2, %ss2, %l2 : tensor<1x20x130xi1>, tensor<1x20x130xf32>
    %lo2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z2 = stablehlo.constant dense<0.0> : tensor<f32>
    %m2 = stablehlo.reduce(%t2 init: %lo2) applies stablehlo.maximum across dimensions = [2] : (tensor<1x20x130xf32>, tensor<f32>) -> tensor<1x20xf32>
    %mb2 = stablehlo.broadcast_in_dim %m2, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x130xf32>
    %d2 = stablehlo.subtract %t2, %mb2 : tensor<1x20x130xf32>
    %e2 = stablehlo.exponential %d2 : tensor<1x20x130xf32>
    %u2 = stablehlo.reduce(%e2 init: %z2) applies stablehlo.add across dimensions = [2] : (tensor<1x20x130xf32>, tensor<f32>) -> tensor<1x20xf32>
    %ub2 = stablehlo.broadcast_in_dim %u2, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x130xf32>
    %p2 = stablehlo.divide %e2, %ub2 : tensor<1x20x130xf32>
    %pt2 = stablehlo.convert %p2 : (tensor<1x20x130xf32>) -> tensor<1x20x130xf16>
    %y2 = stablehlo.dot_general %pt2, %v2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x20x130xf16>, tensor<1x130x33xf16>) -> tensor<1x20x33xf16>
    %s3 = stablehlo.dot_general %q3, %k3, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x33x30xf32>, tensor<1x130x30xf32>) -> tensor<1x33x130xf32>
    %sc3 = stablehlo.constant dense<0.125> : tensor<1x33x130xf32>
    %ss3 = stablehlo.multiply %s3, %sc3 : tensor<1x33x130xf32>
    %i3 = stablehlo.iota dim = 1 : tensor<1x33x130xi32>
    %j3 = stablehlo.iota dim = 2 : tensor<1x33x130xi32>
    %h3 = stablehlo.constant dense<9> : tensor<1x33x130xi32>
    %c3 = stablehlo.compare GE, %i3, %h3, SIGNED : (tensor<1x33x130xi32>, tensor<1x33x130xi32>) -> tensor<1x33x130xi1>
    %l3 = stablehlo.constant dense<0xFF800000> : tensor<1x33x130xf32>
    %t3 = stablehlo.select %c3, %ss3, %l3 : tensor<1x33x130xi1>, tensor<1x33x130xf32>
    %lo3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z3 = stablehlo.constant dense<0.0> : tensor<f32>
    %m3 = stablehlo.reduce(%t3 init: %lo3) applies stablehlo.maximum across dimensions = [2] : (tensor<1x33x130xf32>, tensor<f32>) -> tensor<1x33xf32>
    %mb3 = stablehlo.broadcast_in_dim %m3, dims = [0, 1] : (tensor<1x33xf32>) -> tensor<1x33x130xf32>
    %d3 = stablehlo.subtract %t3, %mb3 : tensor<1x33x130xf32>
    %e3 = stablehlo.exponential %d3 : tensor<1x33x130xf32>
    %u3 = stablehlo.reduce(%e3 init: %z3) applies stablehlo.add across dimensions = [2] : (tensor<1x33x130xf32>, tensor<f32>) -> tensor<1x33xf32>
    %ub3 = stablehlo.broadcast_in_dim %u3, dims = [0, 1] : (tensor<1x33xf32>) -> tensor<1x33x130xf32>
    %p3 = stablehlo.divide %e3, %ub3 : tensor<1x33x130xf32>
    %zz3 = stablehlo.constant dense<0.0> : tensor<1x33x130xf32>
    %pz3 = stablehlo.select %c3, %p3, %zz3 : tensor<1x33x130xi1>, tensor<1x33x130xf32>
    %y3 = stablehlo.dot_general %pz3, %v3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x33x130xf32>, tensor<1x130x20xf32>) -> tensor<1x33x20xf32>
    %s4 = stablehlo.dot_general %q4, %k4, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x40x64xf32>, tensor<1x65x64xf32>) -> tensor<1x40x65xf32>
    %sc4 = stablehlo.constant dense<0.125> : tensor<1x40x65xf32>
    %ss4 = stablehlo.multiply %s4, %sc4 : tensor<1x40x65xf32>
    %i4 = stablehlo.iota dim = 1 : tensor<1x40x65xi32>
    %j4 = stablehlo.iota dim = 2 : tensor<1x40x65xi32>
    %h4 = stablehlo.constant dense<64> : tensor<1x40x65xi32>
    %c4 = stablehlo.compare GE, %j4, %h4, SIGNED : (tensor<1x40x65xi32>, tensor<1x40x65xi32>) -> tensor<1x40x65xi1>
    %l4 = stablehlo.constant dense<-3.0e38> : tensor<1x40x65xf32>
    %t4 = stablehlo.select %c4, %ss4, %l4 : tensor<1x40x65xi1>, tensor<1x40x65xf32>
    %lo4 = stablehlo.constant dense<-1.0e30> : tensor<f32>
    %z4 = stablehlo.constant dense<0.0> : tensor<f32>
    %m4 = stablehlo.reduce(%t4 init: %lo4) applies stablehlo.maximum across dimensions = [2] : (tensor<1x40x65xf32>, tensor<f32>) -> tensor<1x40xf32>
    %mb4 = stablehlo.broadcast_in_dim %m4, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x65xf32>
    %d4 = stablehlo.subtract %t4, %mb4 : tensor<1x40x65xf32>
    %e4 = stablehlo.exponential %d4 : tensor<1x40x65xf32>
    %u4 = stablehlo.reduce(%e4 init: %z4) applies stablehlo.add across dimensions = [2] : (tensor<1x40x65xf32>, tensor<f32>) -> tensor<1x40xf32>
    %ub4 = stablehlo.broadcast_in_dim %u4, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x65xf32>
    %p4 = stablehlo.divide %e4, %ub4 : tensor<1x40x65xf32>
    %y4 = stablehlo.dot_general %p4, %v4, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x40x65xf32>, tensor<1x65x8xf32>) -> tensor<1x40x8xf32>
    %s5 = stablehlo.dot_general %q5, %k5, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x20x16xbf16>, tensor<1x150x16xbf16>) -> tensor<1x20x150xf32>
    %sc5 = stablehlo.constant dense<0.125> : tensor<1x20x150xf32>
    %ss5 = stablehlo.multiply %s5, %sc5 : tensor<1x20x150xf32>
    %i5 = stablehlo.iota dim = 1 : tensor<1x20x150xi32>
    %j5 = stablehlo.iota dim = 2 : tensor<1x20x150xi32>
    %h5 = stablehlo.constant dense<70> : tensor<1x20x150xi32>
    %c5 = stablehlo.compare GE, %j5, %h5, SIGNED : (tensor<1x20x150xi32>, tensor<1x20x150xi32>) -> tensor<1x20x150xi1>
    %l5 = stablehlo.constant dense<0xFF800000> : tensor<1x20x150xf32>
    %t5 = stablehlo.select %c5, %ss5, %l5 : tensor<1x20x150xi1>, tensor<1x20x150xf32>
    %lo5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z5 = stablehlo.constant dense<0.0> : tensor<f32>
    %m5 = stablehlo.reduce(%t5 init: %lo5) applies stablehlo.maximum across dimensions = [2] : (tensor<1x20x150xf32>, tensor<f32>) -> tensor<1x20xf32>
    %mb5 = stablehlo.broadcast_in_dim %m5, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x150xf32>
    %d5 = stablehlo.subtract %t5, %mb5 : tensor<1x20x150xf32>
    %e5 = stablehlo.exponential %d5 : tensor<1x20x150xf32>
    %u5 = stablehlo.reduce(%e5 init: %z5) applies stablehlo.add across dimensions = [2] : (tensor<1x20x150xf32>, tensor<f32>) -> tensor<1x20xf32>
    %ub5 = stablehlo.broadcast_in_dim %u5, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x150xf32>
    %p5 = stablehlo.divide %e5, %ub5 : tensor<1x20x150xf32>
    %pt5 = stablehlo.convert %p5 : (tensor<1x20x150xf32>) -> tensor<1x20x150xbf16>
    %y5 = stablehlo.dot_general %pt5, %v5, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x20x150xbf16>, tensor<1x150x16xbf16>) -> tensor<1x20x16xbf16>
    %s6 = stablehlo.dot_general %q6, %k6, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x20x16xf32>, tensor<1x90x16xf32>) -> tensor<1x20x90xf32>
    %sc6 = stablehlo.constant dense<0.125> : tensor<1x20x90xf32>
    %ss6 = stablehlo.multiply %s6, %sc6 : tensor<1x20x90xf32>
    %i6 = stablehlo.iota dim = 1 : tensor<1x20x90xi32>
    %j6 = stablehlo.iota dim = 2 : tensor<1x20x90xi32>
    %h6 = stablehlo.constant dense<66> : tensor<1x20x90xi32>
    %c6 = stablehlo.compare GE, %j6, %h6, SIGNED : (tensor<1x20x90xi32>, tensor<1x20x90xi32>) -> tensor<1x20x90xi1>
    %l6 = stablehlo.constant dense<0xFF800000> : tensor<1x20x90xf32>
    %t6 = stablehlo.select %c6, %ss6, %l6 : tensor<1x20x90xi1>, tensor<1x20x90xf32>
    %lo6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z6 = stablehlo.constant dense<0.0> : tensor<f32>
    %m6 = stablehlo.reduce(%t6 init: %lo6) applies stablehlo.maximum across dimensions = [2] : (tensor<1x20x90xf32>, tensor<f32>) -> tensor<1x20xf32>
    %mb6 = stablehlo.broadcast_in_dim %m6, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x90xf32>
    %d6 = stablehlo.subtract %t6, %mb6 : tensor<1x20x90xf32>
    %e6 = stablehlo.exponential %d6 : tensor<1x20x90xf32>
    %u6 = stablehlo.reduce(%e6 init: %z6) applies stablehlo.add across dimensions = [2] : (tensor<1x20x90xf32>, tensor<f32>) -> tensor<1x20xf32>
    %ub6 = stablehlo.broadcast_in_dim %u6, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<1x20x90xf32>
    %p6 = stablehlo.divide %e6, %ub6 : tensor<1x20x90xf32>
    %y6 = stablehlo.dot_general %p6, %v6, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x20x90xf32>, tensor<1x90x16xf32>) -> tensor<1x20x16xf32>
    return %y0, %y1, %y2, %y3, %y4, %y5, %y6 : tensor<2x70x24xbf16>, tensor<1x35x64xbf16>, tensor<1x20x33xf16>, tensor<1x33x20xf32>, tensor<1x40x8xf32>, tensor<1x20x16xbf16>, tensor<1x20x16xf32>
}
