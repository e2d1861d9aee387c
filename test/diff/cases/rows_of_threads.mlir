// Rows that a GPU gives to warps and to blocks, element by element and in vectors: sizes on both sides of each limit.
func.func @main(%x0: tensor<19x40xf32>, %x1: tensor<9x33xf32>, %x2: tensor<7x512xf32>, %x3: tensor<5x516xf32>, %x4: tensor<5x513xf32>, %x5: tensor<3x2052xf32>, %x6: tensor<6x256xf16>, %x7: tensor<3x1032xbf16>, %x8: tensor<11x36xf64>, %x9: tensor<2x771xf64>, %x10: tensor<5x260xf32>, %x11: tensor<3x1040xf32>) -> (tensor<19x40xf32>, tensor<9x33xf32>, tensor<7x512xf32>, tensor<5x516xf32>, tensor<5x513xf32>, tensor<3x2052xf32>, tensor<6x256xf16>, tensor<3x1032xbf16>, tensor<11x36xf64>, tensor<2x771xf64>, tensor<5xf32>, tensor<5xi32>, tensor<3xf32>, tensor<3xi32>) {
    %n0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m0 = stablehlo.reduce(%x0 init: %n0) applies stablehlo.maximum across dimensions = [1] : (tensor<19x40xf32>, tensor<f32>) -> tensor<19xf32>
    %mb0 = stablehlo.broadcast_in_dim %m0, dims = [0] : (tensor<19xf32>) -> tensor<19x40xf32>
    %d0 = stablehlo.subtract %x0, %mb0 : tensor<19x40xf32>
    %e0 = stablehlo.exponential %d0 : tensor<19x40xf32>
    %z0 = stablehlo.constant dense<0.0> : tensor<f32>
    %u0 = stablehlo.reduce(%e0 init: %z0) applies stablehlo.add across dimensions = [1] : (tensor<19x40xf32>, tensor<f32>) -> tensor<19xf32>
    %ub0 = stablehlo.broadcast_in_dim %u0, dims = [0] : (tensor<19xf32>) -> tensor<19x40xf32>
    %p0 = stablehlo.divide %e0, %ub0 : tensor<19x40xf32>
    %n1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m1 = stablehlo.reduce(%x1 init: %n1) applies stablehlo.maximum across dimensions = [1] : (tensor<9x33xf32>, tensor<f32>) -> tensor<9xf32>
    %mb1 = stablehlo.broadcast_in_dim %m1, dims = [0] : (tensor<9xf32>) -> tensor<9x33xf32>
    %d1 = stablehlo.subtract %x1, %mb1 : tensor<9x33xf32>
    %e1 = stablehlo.exponential %d1 : tensor<9x33xf32>
    %z1 = stablehlo.constant dense<0.0> : tensor<f32>
    %u1 = stablehlo.reduce(%e1 init: %z1) applies stablehlo.add across dimensions = [1] : (tensor<9x33xf32>, tensor<f32>) -> tensor<9xf32>
    %ub1 = stablehlo.broadcast_in_dim %u1, dims = [0] : (tensor<9xf32>) -> tensor<9x33xf32>
    %p1 = stablehlo.divide %e1, %ub1 : tensor<9x33xf32>
    %n2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m2 = stablehlo.reduce(%x2 init: %n2) applies stablehlo.maximum across dimensions = [1] : (tensor<7x512xf32>, tensor<f32>) -> tensor<7xf32>
    %mb2 = stablehlo.broadcast_in_dim %m2, dims = [0] : (tensor<7xf32>) -> tensor<7x512xf32>
    %d2 = stablehlo.subtract %x2, %mb2 : tensor<7x512xf32>
    %e2 = stablehlo.exponential %d2 : tensor<7x512xf32>
    %z2 = stablehlo.constant dense<0.0> : tensor<f32>
    %u2 = stablehlo.reduce(%e2 init: %z2) applies stablehlo.add across dimensions = [1] : (tensor<7x512xf32>, tensor<f32>) -> tensor<7xf32>
    %ub2 = stablehlo.broadcast_in_dim %u2, dims = [0] : (tensor<7xf32>) -> tensor<7x512xf32>
    %p2 = stablehlo.divide %e2, %ub2 : tensor<7x512xf32>
    %n3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m3 = stablehlo.reduce(%x3 init: %n3) applies stablehlo.maximum across dimensions = [1] : (tensor<5x516xf32>, tensor<f32>) -> tensor<5xf32>
    %mb3 = stablehlo.broadcast_in_dim %m3, dims = [0] : (tensor<5xf32>) -> tensor<5x516xf32>
    %d3 = stablehlo.subtract %x3, %mb3 : tensor<5x516xf32>
    %e3 = stablehlo.exponential %d3 : tensor<5x516xf32>
    %z3 = stablehlo.constant dense<0.0> : tensor<f32>
    %u3 = stablehlo.reduce(%e3 init: %z3) applies stablehlo.add across dimensions = [1] : (tensor<5x516xf32>, tensor<f32>) -> tensor<5xf32>
    %ub3 = stablehlo.broadcast_in_dim %u3, dims = [0] : (tensor<5xf32>) -> tensor<5x516xf32>
    %p3 = stablehlo.divide %e3, %ub3 : tensor<5x516xf32>
    %n4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m4 = stablehlo.reduce(%x4 init: %n4) applies stablehlo.maximum across dimensions = [1] : (tensor<5x513xf32>, tensor<f32>) -> tensor<5xf32>
    %mb4 = stablehlo.broadcast_in_dim %m4, dims = [0] : (tensor<5xf32>) -> tensor<5x513xf32>
    %d4 = stablehlo.subtract %x4, %mb4 : tensor<5x513xf32>
    %e4 = stablehlo.exponential %d4 : tensor<5x513xf32>
    %z4 = stablehlo.constant dense<0.0> : tensor<f32>
    %u4 = stablehlo.reduce(%e4 init: %z4) applies stablehlo.add across dimensions = [1] : (tensor<5x513xf32>, tensor<f32>) -> tensor<5xf32>
    %ub4 = stablehlo.broadcast_in_dim %u4, dims = [0] : (tensor<5xf32>) -> tensor<5x513xf32>
    %p4 = stablehlo.divide %e4, %ub4 : tensor<5x513xf32>
    %n5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m5 = stablehlo.reduce(%x5 init: %n5) applies stablehlo.maximum across dimensions = [1] : (tensor<3x2052xf32>, tensor<f32>) -> tensor<3xf32>
    %mb5 = stablehlo.broadcast_in_dim %m5, dims = [0] : (tensor<3xf32>) -> tensor<3x2052xf32>
    %d5 = stablehlo.subtract %x5, %mb5 : tensor<3x2052xf32>
    %e5 = stablehlo.exponential %d5 : tensor<3x2052xf32>
    %z5 = stablehlo.constant dense<0.0> : tensor<f32>
    %u5 = stablehlo.reduce(%e5 init: %z5) applies stablehlo.add across dimensions = [1] : (tensor<3x2052xf32>, tensor<f32>) -> tensor<3xf32>
    %ub5 = stablehlo.broadcast_in_dim %u5, dims = [0] : (tensor<3xf32>) -> tensor<3x2052xf32>
    %p5 = stablehlo.divide %e5, %ub5 : tensor<3x2052xf32>
    %n6 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %m6 = stablehlo.reduce(%x6 init: %n6) applies stablehlo.maximum across dimensions = [1] : (tensor<6x256xf16>, tensor<f16>) -> tensor<6xf16>
    %mb6 = stablehlo.broadcast_in_dim %m6, dims = [0] : (tensor<6xf16>) -> tensor<6x256xf16>
    %d6 = stablehlo.subtract %x6, %mb6 : tensor<6x256xf16>
    %e6 = stablehlo.exponential %d6 : tensor<6x256xf16>
    %z6 = stablehlo.constant dense<0.0> : tensor<f16>
    %u6 = stablehlo.reduce(%e6 init: %z6) applies stablehlo.add across dimensions = [1] : (tensor<6x256xf16>, tensor<f16>) -> tensor<6xf16>
    %ub6 = stablehlo.broadcast_in_dim %u6, dims = [0] : (tensor<6xf16>) -> tensor<6x256xf16>
    %p6 = stablehlo.divide %e6, %ub6 : tensor<6x256xf16>
    %n7 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %m7 = stablehlo.reduce(%x7 init: %n7) applies stablehlo.maximum across dimensions = [1] : (tensor<3x1032xbf16>, tensor<bf16>) -> tensor<3xbf16>
    %mb7 = stablehlo.broadcast_in_dim %m7, dims = [0] : (tensor<3xbf16>) -> tensor<3x1032xbf16>
    %d7 = stablehlo.subtract %x7, %mb7 : tensor<3x1032xbf16>
    %e7 = stablehlo.exponential %d7 : tensor<3x1032xbf16>
    %z7 = stablehlo.constant dense<0.0> : tensor<bf16>
    %u7 = stablehlo.reduce(%e7 init: %z7) applies stablehlo.add across dimensions = [1] : (tensor<3x1032xbf16>, tensor<bf16>) -> tensor<3xbf16>
    %ub7 = stablehlo.broadcast_in_dim %u7, dims = [0] : (tensor<3xbf16>) -> tensor<3x1032xbf16>
    %p7 = stablehlo.divide %e7, %ub7 : tensor<3x1032xbf16>
    %n8 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %m8 = stablehlo.reduce(%x8 init: %n8) applies stablehlo.maximum across dimensions = [1] : (tensor<11x36xf64>, tensor<f64>) -> tensor<11xf64>
    %mb8 = stablehlo.broadcast_in_dim %m8, dims = [0] : (tensor<11xf64>) -> tensor<11x36xf64>
    %d8 = stablehlo.subtract %x8, %mb8 : tensor<11x36xf64>
    %e8 = stablehlo.exponential %d8 : tensor<11x36xf64>
    %z8 = stablehlo.constant dense<0.0> : tensor<f64>
    %u8 = stablehlo.reduce(%e8 init: %z8) applies stablehlo.add across dimensions = [1] : (tensor<11x36xf64>, tensor<f64>) -> tensor<11xf64>
    %ub8 = stablehlo.broadcast_in_dim %u8, dims = [0] : (tensor<11xf64>) -> tensor<11x36xf64>
    %p8 = stablehlo.divide %e8, %ub8 : tensor<11x36xf64>
    %n9 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %m9 = stablehlo.reduce(%x9 init: %n9) applies stablehlo.maximum across dimensions = [1] : (tensor<2x771xf64>, tensor<f64>) -> tensor<2xf64>
    %mb9 = stablehlo.broadcast_in_dim %m9, dims = [0] : (tensor<2xf64>) -> tensor<2x771xf64>
    %d9 = stablehlo.subtract %x9, %mb9 : tensor<2x771xf64>
    %e9 = stablehlo.exponential %d9 : tensor<2x771xf64>
    %z9 = stablehlo.constant dense<0.0> : tensor<f64>
    %u9 = stablehlo.reduce(%e9 init: %z9) applies stablehlo.add across dimensions = [1] : (tensor<2x771xf64>, tensor<f64>) -> tensor<2xf64>
    %ub9 = stablehlo.broadcast_in_dim %u9, dims = [0] : (tensor<2xf64>) -> tensor<2x771xf64>
    %p9 = stablehlo.divide %e9, %ub9 : tensor<2x771xf64>
    %i10 = stablehlo.iota dim = 1 : tensor<5x260xi32>
    %n10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %o10 = stablehlo.constant dense<0> : tensor<i32>
    %p10:2 = stablehlo.reduce(%x10 init: %n10), (%i10 init: %o10) across dimensions = [1] : (tensor<5x260xf32>, tensor<5x260xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
     reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>) {
      %g = stablehlo.compare GT, %a, %c, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %q = stablehlo.compare EQ, %a, %c, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %l = stablehlo.compare LT, %b, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %t = stablehlo.and %q, %l : tensor<i1>
      %h = stablehlo.or %g, %t : tensor<i1>
      %v = stablehlo.select %h, %a, %c : tensor<i1>, tensor<f32>
      %w = stablehlo.select %h, %b, %d : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
    %i11 = stablehlo.iota dim = 1 : tensor<3x1040xi32>
    %n11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %o11 = stablehlo.constant dense<0> : tensor<i32>
    %p11:2 = stablehlo.reduce(%x11 init: %n11), (%i11 init: %o11) across dimensions = [1] : (tensor<3x1040xf32>, tensor<3x1040xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
     reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>) {
      %g = stablehlo.compare GT, %a, %c, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %q = stablehlo.compare EQ, %a, %c, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %l = stablehlo.compare LT, %b, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %t = stablehlo.and %q, %l : tensor<i1>
      %h = stablehlo.or %g, %t : tensor<i1>
      %v = stablehlo.select %h, %a, %c : tensor<i1>, tensor<f32>
      %w = stablehlo.select %h, %b, %d : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
    return %p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10#0, %p10#1, %p11#0, %p11#1 : tensor<19x40xf32>, tensor<9x33xf32>, tensor<7x512xf32>, tensor<5x516xf32>, tensor<5x513xf32>, tensor<3x2052xf32>, tensor<6x256xf16>, tensor<3x1032xbf16>, tensor<11x36xf64>, tensor<2x771xf64>, tensor<5xf32>, tensor<5xi32>, tensor<3xf32>, tensor<3xi32>
}
