// Products of bytes with sums of 32 bits: signed and not, lying either way, of lengths that fill no word, tile, panel or block of k.
func.func @main(%a0: tensor<33x67xi8>, %b0: tensor<67x50xi8>, %a1: tensor<9x130xi8>, %b1: tensor<40x130xi8>, %a2: tensor<40x61xui8>, %b2: tensor<61x33xui8>, %a3: tensor<64x24xui8>, %b3: tensor<48x64xui8>, %a4: tensor<19x63xi8>, %b4: tensor<63x35xui8>, %a5: tensor<66x17xui8>, %b5: tensor<66x20xi8>, %a6: tensor<8x2309xi8>, %b6: tensor<2309x17xi8>, %a7: tensor<4x21xi8>, %b7: tensor<4x16xi8>, %a8: tensor<30x1xi8>, %b8: tensor<1x30xi8>, %a9: tensor<5x259xui8>, %b9: tensor<70x259xi8>, %x: tensor<3x20x45xi8>, %y: tensor<3x45x37xi8>) -> (tensor<33x50xi32>, tensor<9x40xi32>, tensor<40x33xi32>, tensor<24x48xi32>, tensor<19x35xi32>, tensor<17x20xi32>, tensor<8x17xi32>, tensor<21x16xi32>, tensor<30x30xi32>, tensor<5x70xi32>, tensor<3x20x37xf32>) {
    %p0 = stablehlo.dot_general %a0, %b0, contracting_dims = [1] x [0] : (tensor<33x67xi8>, tensor<67x50xi8>) -> tensor<33x50xi32>
    %p1 = stablehlo.dot_general %a1, %b1, contracting_dims = [1] x [1] : (tensor<9x130xi8>, tensor<40x130xi8>) -> tensor<9x40xi32>
    %p2 = stablehlo.dot_general %a2, %b2, contracting_dims = [1] x [0] : (tensor<40x61xui8>, tensor<61x33xui8>) -> tensor<40x33xi32>
    %p3 = stablehlo.dot_general %a3, %b3, contracting_dims = [0] x [1] : (tensor<64x24xui8>, tensor<48x64xui8>) -> tensor<24x48xi32>
    %c4 = stablehlo.convert %a4 : (tensor<19x63xi8>) -> tensor<19x63xi32>
    %d4 = stablehlo.convert %b4 : (tensor<63x35xui8>) -> tensor<63x35xi32>
    %p4 = stablehlo.dot_general %c4, %d4, contracting_dims = [1] x [0] : (tensor<19x63xi32>, tensor<63x35xi32>) -> tensor<19x35xi32>
    %c5 = stablehlo.convert %a5 : (tensor<66x17xui8>) -> tensor<66x17xi32>
    %d5 = stablehlo.convert %b5 : (tensor<66x20xi8>) -> tensor<66x20xi32>
    %p5 = stablehlo.dot_general %c5, %d5, contracting_dims = [0] x [0] : (tensor<66x17xi32>, tensor<66x20xi32>) -> tensor<17x20xi32>
    %p6 = stablehlo.dot_general %a6, %b6, contracting_dims = [1] x [0] : (tensor<8x2309xi8>, tensor<2309x17xi8>) -> tensor<8x17xi32>
    %p7 = stablehlo.dot_general %a7, %b7, contracting_dims = [0] x [0] : (tensor<4x21xi8>, tensor<4x16xi8>) -> tensor<21x16xi32>
    %p8 = stablehlo.dot_general %a8, %b8, contracting_dims = [1] x [0] : (tensor<30x1xi8>, tensor<1x30xi8>) -> tensor<30x30xi32>
    %c9 = stablehlo.convert %a9 : (tensor<5x259xui8>) -> tensor<5x259xi32>
    %d9 = stablehlo.convert %b9 : (tensor<70x259xi8>) -> tensor<70x259xi32>
    %p9 = stablehlo.dot_general %c9, %d9, contracting_dims = [1] x [1] : (tensor<5x259xi32>, tensor<70x259xi32>) -> tensor<5x70xi32>
    %q = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x20x45xi8>, tensor<3x45x37xi8>) -> tensor<3x20x37xi32>
    %g = stablehlo.convert %q : (tensor<3x20x37xi32>) -> tensor<3x20x37xf32>
    %h = stablehlo.constant dense<0.0078125> : tensor<3x20x37xf32>
    %f = stablehlo.multiply %g, %h : tensor<3x20x37xf32>
    return %p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %f : tensor<33x50xi32>, tensor<9x40xi32>, tensor<40x33xi32>, tensor<24x48xi32>, tensor<19x35xi32>, tensor<17x20xi32>, tensor<8x17xi32>, tensor<21x16xi32>, tensor<30x30xi32>, tensor<5x70xi32>, tensor<3x20x37xf32>
}
