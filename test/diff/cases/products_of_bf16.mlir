// Products of bf16 with sums in f32: factors that lie either way, are made on the way or are the same for all matrices; sizes that fill no word, tile, panel or block of k; convolutions with padding and holes.
func.func @main(%a0: tensor<33x67xbf16>, %b0: tensor<67x50xbf16>, %a1: tensor<70x130xf32>, %b1: tensor<40x130xf32>, %a2: tensor<61x40xbf16>, %b2: tensor<61x33xbf16>, %v2: tensor<33xf32>, %a3: tensor<3x20x96xbf16>, %b3: tensor<96x64xbf16>, %a4: tensor<5x17x45xbf16>, %b4: tensor<5x37x45xbf16>, %a5: tensor<16x1300xbf16>, %b5: tensor<1300x35xbf16>, %x6: tensor<2x9x13x20xbf16>, %k6: tensor<3x3x20x24xbf16>, %x7: tensor<1x12x12x35xf32>, %k7: tensor<2x3x35x17xf32>, %a8: tensor<0x40xbf16>, %b8: tensor<40x20xbf16>, %a9: tensor<20x0xbf16>, %b9: tensor<0x20xbf16>, %x10: tensor<1x10x10x19xi8>, %k10: tensor<3x3x19x21xi8>) -> (tensor<33x50xf32>, tensor<70x40xbf16>, tensor<40x33xbf16>, tensor<3x20x64xbf16>, tensor<5x17x37xf32>, tensor<16x35xbf16>, tensor<2x9x13x24xbf16>, tensor<1x5x5x17xf32>, tensor<0x20xf32>, tensor<20x20xf32>, tensor<1x10x10x21xi32>) {
    %p0 = stablehlo.dot_general %a0, %b0, contracting_dims = [1] x [0] : (tensor<33x67xbf16>, tensor<67x50xbf16>) -> tensor<33x50xf32>
    %c1 = stablehlo.convert %a1 : (tensor<70x130xf32>) -> tensor<70x130xbf16>
    %d1 = stablehlo.convert %b1 : (tensor<40x130xf32>) -> tensor<40x130xbf16>
    %p1 = stablehlo.dot_general %c1, %d1, contracting_dims = [1] x [1] : (tensor<70x130xbf16>, tensor<40x130xbf16>) -> tensor<70x40xbf16>
    %z2 = stablehlo.constant dense<0.0> : tensor<61x40xbf16>
    %c2 = stablehlo.maximum %a2, %z2 : tensor<61x40xbf16>
    %q2 = stablehlo.dot_general %c2, %b2, contracting_dims = [0] x [0] : (tensor<61x40xbf16>, tensor<61x33xbf16>) -> tensor<40x33xf32>
    %w2 = stablehlo.broadcast_in_dim %v2, dims = [1] : (tensor<33xf32>) -> tensor<40x33xf32>
    %r2 = stablehlo.add %q2, %w2 : tensor<40x33xf32>
    %s2 = stablehlo.tanh %r2 : tensor<40x33xf32>
    %p2 = stablehlo.convert %s2 : (tensor<40x33xf32>) -> tensor<40x33xbf16>
    %p3 = stablehlo.dot_general %a3, %b3, contracting_dims = [2] x [0] : (tensor<3x20x96xbf16>, tensor<96x64xbf16>) -> tensor<3x20x64xbf16>
    %p4 = stablehlo.dot_general %a4, %b4, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<5x17x45xbf16>, tensor<5x37x45xbf16>) -> tensor<5x17x37xf32>
    %p5 = stablehlo.dot_general %a5, %b5, contracting_dims = [1] x [0] : (tensor<16x1300xbf16>, tensor<1300x35xbf16>) -> tensor<16x35xbf16>
    %p6 = stablehlo.convolution(%x6, %k6) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x13x20xbf16>, tensor<3x3x20x24xbf16>) -> tensor<2x9x13x24xbf16>
    %c7 = stablehlo.convert %x7 : (tensor<1x12x12x35xf32>) -> tensor<1x12x12x35xbf16>
    %d7 = stablehlo.convert %k7 : (tensor<2x3x35x17xf32>) -> tensor<2x3x35x17xbf16>
    %p7 = stablehlo.convolution(%c7, %d7) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [1, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x12x12x35xbf16>, tensor<2x3x35x17xbf16>) -> tensor<1x5x5x17xf32>
    %p8 = stablehlo.dot_general %a8, %b8, contracting_dims = [1] x [0] : (tensor<0x40xbf16>, tensor<40x20xbf16>) -> tensor<0x20xf32>
    %p9 = stablehlo.dot_general %a9, %b9, contracting_dims = [1] x [0] : (tensor<20x0xbf16>, tensor<0x20xbf16>) -> tensor<20x20xf32>
    %p10 = stablehlo.convolution(%x10, %k10) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x10x19xi8>, tensor<3x3x19x21xi8>) -> tensor<1x10x10x21xi32>
    return %p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10 : tensor<33x50xf32>, tensor<70x40xbf16>, tensor<40x33xbf16>, tensor<3x20x64xbf16>, tensor<5x17x37xf32>, tensor<16x35xbf16>, tensor<2x9x13x24xbf16>, tensor<1x5x5x17xf32>, tensor<0x20xf32>, tensor<20x20xf32>, tensor<1x10x10x21xi32>
}
