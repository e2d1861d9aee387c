// Reductions down columns that a GPU gives to threads, warps and blocks, in parts and whole, element by element and in vectors; rows in parts.
func.func @main(%x0: tensor<300x64xf32>, %x1: tensor<5000x20xf32>, %x2: tensor<2100x33xf32>, %x3: tensor<1030x72xbf16>, %x4: tensor<1700x70xf16>, %x5: tensor<1300x40xbf16>, %x6: tensor<900x6xf64>, %x7: tensor<1101x10xf64>, %x8: tensor<2049x10xi32>, %x9: tensor<1500x24xi8>, %x10: tensor<1001x9xi64>, %x11: tensor<777x16xi1>, %x12: tensor<2777x66xi1>, %x13: tensor<600x5xcomplex<f32>>, %x14: tensor<1600x3xcomplex<f64>>, %x15: tensor<400x12xf32>, %x16: tensor<33x300x8xf32>, %x17: tensor<5x41x37x8xf32>, %x18: tensor<3x500x7x4xf32>, %x19: tensor<16x12x4x4xf32>, %x20: tensor<64x3x6x7xf32>, %x21: tensor<40x2x800xf32>, %x22: tensor<4x70x33x40xbf16>, %x23: tensor<0x40xf32>, %x24: tensor<300x0xf32>, %x25: tensor<500x1xf32>, %x26: tensor<1x500xf32>, %x27: tensor<1x4000x16xf32>, %x28: tensor<70x65536xi8>, %x29: tensor<1500x24xf32>, %x30: tensor<150x24xf32>, %x31: tensor<2x40000xf32>, %x32: tensor<2100x7xf32>, %x33: tensor<200x40xf32>, %x34: tensor<333x19xf32>, %x35: tensor<90x64xbf16>, %x36: tensor<4x20x20x12xf32>, %x37: tensor<12xf32>, %x38: tensor<2000x24xbf16>, %x39: tensor<24xf32>, %x40: tensor<1999x9xf16>, %x41: tensor<9xf32>, %x42: tensor<30x6x9x100xf32>, %x43: tensor<6xf32>, %x44: tensor<300x40xf32>, %x45: tensor<40xf32>, %x46: tensor<300x36xf32>, %x47: tensor<257x5xf32>, %x48: tensor<20x10x6x50xf32>, %x49: tensor<2600x36xf32>, %x50: tensor<2300x7xf32>, %x51: tensor<2600x36xf32>, %x52: tensor<36xf32>, %x53: tensor<2300x7xf32>, %x54: tensor<7xf32>, %x55: tensor<4x31x29x24xbf16>, %x56: tensor<24xf32>, %x57: tensor<300x12xf32>, %x58: tensor<12xf32>, %x59: tensor<2048x16xf16>, %x60: tensor<16xf32>, %x61: tensor<2600x40xf32>, %x62: tensor<3x200xf32>, %x63: tensor<200x64xf32>, %x64: tensor<1x1300xf32>, %x65: tensor<1300x33xf32>, %x66: tensor<2x700xbf16>, %x67: tensor<700x48xbf16>, %x68: tensor<1x600xf64>, %x69: tensor<600x16xf64>) -> (tensor<64xf32>, tensor<20xf32>, tensor<33xf32>, tensor<72xbf16>, tensor<70xf16>, tensor<40xbf16>, tensor<6xf64>, tensor<10xf64>, tensor<10xi32>, tensor<24xi8>, tensor<9xi64>, tensor<16xi1>, tensor<66xi1>, tensor<5xcomplex<f32>>, tensor<3xcomplex<f64>>, tensor<12xf32>, tensor<33x8xf32>, tensor<41x8xf32>, tensor<3x7x4xf32>, tensor<12xf32>, tensor<3xf32>, tensor<2xf32>, tensor<70xbf16>, tensor<40xf32>, tensor<0xf32>, tensor<1xf32>, tensor<500xf32>, tensor<16xf32>, tensor<70xi8>, tensor<24xf32>, tensor<24xi32>, tensor<24xf32>, tensor<24xi32>, tensor<2xf32>, tensor<2xi32>, tensor<7xf32>, tensor<7xi32>, tensor<200x40xf32>, tensor<333x19xf32>, tensor<90x64xbf16>, tensor<12xf32>, tensor<12xf32>, tensor<24xf32>, tensor<24xf32>, tensor<9xf32>, tensor<9xf32>, tensor<6xf32>, tensor<6xf32>, tensor<40xf32>, tensor<40xf32>, tensor<300x36xf32>, tensor<257x5xf32>, tensor<20x10x6x50xf32>, tensor<2600x36xf32>, tensor<2300x7xf32>, tensor<36xf32>, tensor<36xf32>, tensor<7xf32>, tensor<7xf32>, tensor<24xf32>, tensor<24xf32>, tensor<12xf32>, tensor<12xf32>, tensor<16xf32>, tensor<16xf32>, tensor<2600x40xf32>, tensor<3x64xf32>, tensor<1x33xf32>, tensor<2x48xbf16>, tensor<1x16xf64>) {
    %c1 = stablehlo.constant dense<0.0> : tensor<f32>
    %r2 = stablehlo.reduce(%x0 init: %c1) applies stablehlo.add across dimensions = [0] : (tensor<300x64xf32>, tensor<f32>) -> tensor<64xf32>
    %c3 = stablehlo.constant dense<0.0> : tensor<f32>
    %r4 = stablehlo.reduce(%x1 init: %c3) applies stablehlo.add across dimensions = [0] : (tensor<5000x20xf32>, tensor<f32>) -> tensor<20xf32>
    %c5 = stablehlo.constant dense<0.0> : tensor<f32>
    %r6 = stablehlo.reduce(%x2 init: %c5) applies stablehlo.add across dimensions = [0] : (tensor<2100x33xf32>, tensor<f32>) -> tensor<33xf32>
    %c7 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %r8 = stablehlo.reduce(%x3 init: %c7) applies stablehlo.maximum across dimensions = [0] : (tensor<1030x72xbf16>, tensor<bf16>) -> tensor<72xbf16>
    %c9 = stablehlo.constant dense<0.0> : tensor<f16>
    %r10 = stablehlo.reduce(%x4 init: %c9) applies stablehlo.add across dimensions = [0] : (tensor<1700x70xf16>, tensor<f16>) -> tensor<70xf16>
    %c11 = stablehlo.constant dense<0.0> : tensor<bf16>
    %r12 = stablehlo.reduce(%x5 init: %c11) applies stablehlo.add across dimensions = [0] : (tensor<1300x40xbf16>, tensor<bf16>) -> tensor<40xbf16>
    %c13 = stablehlo.constant dense<0.0> : tensor<f64>
    %r14 = stablehlo.reduce(%x6 init: %c13) applies stablehlo.add across dimensions = [0] : (tensor<900x6xf64>, tensor<f64>) -> tensor<6xf64>
    %c15 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    %r16 = stablehlo.reduce(%x7 init: %c15) applies stablehlo.minimum across dimensions = [0] : (tensor<1101x10xf64>, tensor<f64>) -> tensor<10xf64>
    %c17 = stablehlo.constant dense<0> : tensor<i32>
    %r18 = stablehlo.reduce(%x8 init: %c17) applies stablehlo.add across dimensions = [0] : (tensor<2049x10xi32>, tensor<i32>) -> tensor<10xi32>
    %c19 = stablehlo.constant dense<-128> : tensor<i8>
    %r20 = stablehlo.reduce(%x9 init: %c19) applies stablehlo.maximum across dimensions = [0] : (tensor<1500x24xi8>, tensor<i8>) -> tensor<24xi8>
    %c21 = stablehlo.constant dense<0> : tensor<i64>
    %r22 = stablehlo.reduce(%x10 init: %c21) applies stablehlo.add across dimensions = [0] : (tensor<1001x9xi64>, tensor<i64>) -> tensor<9xi64>
    %c23 = stablehlo.constant dense<true> : tensor<i1>
    %r24 = stablehlo.reduce(%x11 init: %c23) applies stablehlo.and across dimensions = [0] : (tensor<777x16xi1>, tensor<i1>) -> tensor<16xi1>
    %c25 = stablehlo.constant dense<false> : tensor<i1>
    %r26 = stablehlo.reduce(%x12 init: %c25) applies stablehlo.or across dimensions = [0] : (tensor<2777x66xi1>, tensor<i1>) -> tensor<66xi1>
    %c27 = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
    %r28 = stablehlo.reduce(%x13 init: %c27) applies stablehlo.add across dimensions = [0] : (tensor<600x5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
    %c29 = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f64>>
    %r30 = stablehlo.reduce(%x14 init: %c29) applies stablehlo.add across dimensions = [0] : (tensor<1600x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
    %c31 = stablehlo.constant dense<1.0> : tensor<f32>
    %r32 = stablehlo.reduce(%x15 init: %c31) applies stablehlo.multiply across dimensions = [0] : (tensor<400x12xf32>, tensor<f32>) -> tensor<12xf32>
    %c33 = stablehlo.constant dense<0.0> : tensor<f32>
    %r34 = stablehlo.reduce(%x16 init: %c33) applies stablehlo.add across dimensions = [1] : (tensor<33x300x8xf32>, tensor<f32>) -> tensor<33x8xf32>
    %c35 = stablehlo.constant dense<0.0> : tensor<f32>
    %r36 = stablehlo.reduce(%x17 init: %c35) applies stablehlo.add across dimensions = [0, 2] : (tensor<5x41x37x8xf32>, tensor<f32>) -> tensor<41x8xf32>
    %c37 = stablehlo.constant dense<0.0> : tensor<f32>
    %r38 = stablehlo.reduce(%x18 init: %c37) applies stablehlo.add across dimensions = [1] : (tensor<3x500x7x4xf32>, tensor<f32>) -> tensor<3x7x4xf32>
    %c39 = stablehlo.constant dense<0.0> : tensor<f32>
    %r40 = stablehlo.reduce(%x19 init: %c39) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<16x12x4x4xf32>, tensor<f32>) -> tensor<12xf32>
    %c41 = stablehlo.constant dense<0.0> : tensor<f32>
    %r42 = stablehlo.reduce(%x20 init: %c41) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<64x3x6x7xf32>, tensor<f32>) -> tensor<3xf32>
    %c43 = stablehlo.constant dense<0.0> : tensor<f32>
    %r44 = stablehlo.reduce(%x21 init: %c43) applies stablehlo.add across dimensions = [0, 2] : (tensor<40x2x800xf32>, tensor<f32>) -> tensor<2xf32>
    %c45 = stablehlo.constant dense<0.0> : tensor<bf16>
    %r46 = stablehlo.reduce(%x22 init: %c45) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x70x33x40xbf16>, tensor<bf16>) -> tensor<70xbf16>
    %c47 = stablehlo.constant dense<0.0> : tensor<f32>
    %r48 = stablehlo.reduce(%x23 init: %c47) applies stablehlo.add across dimensions = [0] : (tensor<0x40xf32>, tensor<f32>) -> tensor<40xf32>
    %c49 = stablehlo.constant dense<0.0> : tensor<f32>
    %r50 = stablehlo.reduce(%x24 init: %c49) applies stablehlo.add across dimensions = [0] : (tensor<300x0xf32>, tensor<f32>) -> tensor<0xf32>
    %c51 = stablehlo.constant dense<0.0> : tensor<f32>
    %r52 = stablehlo.reduce(%x25 init: %c51) applies stablehlo.add across dimensions = [0] : (tensor<500x1xf32>, tensor<f32>) -> tensor<1xf32>
    %c53 = stablehlo.constant dense<0.0> : tensor<f32>
    %r54 = stablehlo.reduce(%x26 init: %c53) applies stablehlo.add across dimensions = [0] : (tensor<1x500xf32>, tensor<f32>) -> tensor<500xf32>
    %c55 = stablehlo.constant dense<0.0> : tensor<f32>
    %r56 = stablehlo.reduce(%x27 init: %c55) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x4000x16xf32>, tensor<f32>) -> tensor<16xf32>
    %c57 = stablehlo.constant dense<-128> : tensor<i8>
    %r58 = stablehlo.reduce(%x28 init: %c57) applies stablehlo.maximum across dimensions = [1] : (tensor<70x65536xi8>, tensor<i8>) -> tensor<70xi8>
    %i59 = stablehlo.iota dim = 0 : tensor<1500x24xi32>
    %c60 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c61 = stablehlo.constant dense<2147483647> : tensor<i32>
    %a62:2 = stablehlo.reduce(%x29 init: %c60), (%i59 init: %c61) across dimensions = [0] : (tensor<1500x24xf32>, tensor<1500x24xi32>, tensor<f32>, tensor<i32>) -> (tensor<24xf32>, tensor<24xi32>)
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
    %i63 = stablehlo.iota dim = 0 : tensor<150x24xi32>
    %c64 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c65 = stablehlo.constant dense<2147483647> : tensor<i32>
    %a66:2 = stablehlo.reduce(%x30 init: %c64), (%i63 init: %c65) across dimensions = [0] : (tensor<150x24xf32>, tensor<150x24xi32>, tensor<f32>, tensor<i32>) -> (tensor<24xf32>, tensor<24xi32>)
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
    %i67 = stablehlo.iota dim = 1 : tensor<2x40000xi32>
    %c68 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c69 = stablehlo.constant dense<2147483647> : tensor<i32>
    %a70:2 = stablehlo.reduce(%x31 init: %c68), (%i67 init: %c69) across dimensions = [1] : (tensor<2x40000xf32>, tensor<2x40000xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
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
    %i71 = stablehlo.iota dim = 0 : tensor<2100x7xi32>
    %c72 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c73 = stablehlo.constant dense<2147483647> : tensor<i32>
    %a74:2 = stablehlo.reduce(%x32 init: %c72), (%i71 init: %c73) across dimensions = [0] : (tensor<2100x7xf32>, tensor<2100x7xi32>, tensor<f32>, tensor<i32>) -> (tensor<7xf32>, tensor<7xi32>)
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
    %c75 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %r76 = stablehlo.reduce(%x33 init: %c75) applies stablehlo.maximum across dimensions = [0] : (tensor<200x40xf32>, tensor<f32>) -> tensor<40xf32>
    %b77 = stablehlo.broadcast_in_dim %r76, dims = [1] : (tensor<40xf32>) -> tensor<200x40xf32>
    %v78 = stablehlo.subtract %x33, %b77 : tensor<200x40xf32>
    %v79 = stablehlo.exponential %v78 : tensor<200x40xf32>
    %c80 = stablehlo.constant dense<0.0> : tensor<f32>
    %r81 = stablehlo.reduce(%v79 init: %c80) applies stablehlo.add across dimensions = [0] : (tensor<200x40xf32>, tensor<f32>) -> tensor<40xf32>
    %b82 = stablehlo.broadcast_in_dim %r81, dims = [1] : (tensor<40xf32>) -> tensor<200x40xf32>
    %v83 = stablehlo.divide %v79, %b82 : tensor<200x40xf32>
    %c84 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %r85 = stablehlo.reduce(%x34 init: %c84) applies stablehlo.maximum across dimensions = [0] : (tensor<333x19xf32>, tensor<f32>) -> tensor<19xf32>
    %b86 = stablehlo.broadcast_in_dim %r85, dims = [1] : (tensor<19xf32>) -> tensor<333x19xf32>
    %v87 = stablehlo.subtract %x34, %b86 : tensor<333x19xf32>
    %v88 = stablehlo.exponential %v87 : tensor<333x19xf32>
    %c89 = stablehlo.constant dense<0.0> : tensor<f32>
    %r90 = stablehlo.reduce(%v88 init: %c89) applies stablehlo.add across dimensions = [0] : (tensor<333x19xf32>, tensor<f32>) -> tensor<19xf32>
    %b91 = stablehlo.broadcast_in_dim %r90, dims = [1] : (tensor<19xf32>) -> tensor<333x19xf32>
    %v92 = stablehlo.divide %v88, %b91 : tensor<333x19xf32>
    %c93 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %r94 = stablehlo.reduce(%x35 init: %c93) applies stablehlo.maximum across dimensions = [0] : (tensor<90x64xbf16>, tensor<bf16>) -> tensor<64xbf16>
    %b95 = stablehlo.broadcast_in_dim %r94, dims = [1] : (tensor<64xbf16>) -> tensor<90x64xbf16>
    %v96 = stablehlo.subtract %x35, %b95 : tensor<90x64xbf16>
    %v97 = stablehlo.exponential %v96 : tensor<90x64xbf16>
    %c98 = stablehlo.constant dense<0.0> : tensor<bf16>
    %r99 = stablehlo.reduce(%v97 init: %c98) applies stablehlo.add across dimensions = [0] : (tensor<90x64xbf16>, tensor<bf16>) -> tensor<64xbf16>
    %b100 = stablehlo.broadcast_in_dim %r99, dims = [1] : (tensor<64xbf16>) -> tensor<90x64xbf16>
    %v101 = stablehlo.divide %v97, %b100 : tensor<90x64xbf16>
    %c102 = stablehlo.constant dense<0.0> : tensor<f32>
    %r103 = stablehlo.reduce(%x36 init: %c102) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x20x20x12xf32>, tensor<f32>) -> tensor<12xf32>
    %v104 = stablehlo.multiply %x36, %x36 : tensor<4x20x20x12xf32>
    %c105 = stablehlo.constant dense<0.0> : tensor<f32>
    %r106 = stablehlo.reduce(%v104 init: %c105) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x20x20x12xf32>, tensor<f32>) -> tensor<12xf32>
    %v107 = stablehlo.tanh %r103 : tensor<12xf32>
    %v108 = stablehlo.add %v107, %x37 : tensor<12xf32>
    %v109 = stablehlo.maximum %r106, %x37 : tensor<12xf32>
    %w110 = stablehlo.convert %x38 : (tensor<2000x24xbf16>) -> tensor<2000x24xf32>
    %c111 = stablehlo.constant dense<0.0> : tensor<f32>
    %r112 = stablehlo.reduce(%w110 init: %c111) applies stablehlo.add across dimensions = [0] : (tensor<2000x24xf32>, tensor<f32>) -> tensor<24xf32>
    %v113 = stablehlo.multiply %w110, %w110 : tensor<2000x24xf32>
    %c114 = stablehlo.constant dense<0.0> : tensor<f32>
    %r115 = stablehlo.reduce(%v113 init: %c114) applies stablehlo.add across dimensions = [0] : (tensor<2000x24xf32>, tensor<f32>) -> tensor<24xf32>
    %v116 = stablehlo.tanh %r112 : tensor<24xf32>
    %v117 = stablehlo.add %v116, %x39 : tensor<24xf32>
    %v118 = stablehlo.maximum %r115, %x39 : tensor<24xf32>
    %w119 = stablehlo.convert %x40 : (tensor<1999x9xf16>) -> tensor<1999x9xf32>
    %c120 = stablehlo.constant dense<0.0> : tensor<f32>
    %r121 = stablehlo.reduce(%w119 init: %c120) applies stablehlo.add across dimensions = [0] : (tensor<1999x9xf32>, tensor<f32>) -> tensor<9xf32>
    %v122 = stablehlo.multiply %w119, %w119 : tensor<1999x9xf32>
    %c123 = stablehlo.constant dense<0.0> : tensor<f32>
    %r124 = stablehlo.reduce(%v122 init: %c123) applies stablehlo.add across dimensions = [0] : (tensor<1999x9xf32>, tensor<f32>) -> tensor<9xf32>
    %v125 = stablehlo.tanh %r121 : tensor<9xf32>
    %v126 = stablehlo.add %v125, %x41 : tensor<9xf32>
    %v127 = stablehlo.maximum %r124, %x41 : tensor<9xf32>
    %c128 = stablehlo.constant dense<0.0> : tensor<f32>
    %r129 = stablehlo.reduce(%x42 init: %c128) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<30x6x9x100xf32>, tensor<f32>) -> tensor<6xf32>
    %v130 = stablehlo.multiply %x42, %x42 : tensor<30x6x9x100xf32>
    %c131 = stablehlo.constant dense<0.0> : tensor<f32>
    %r132 = stablehlo.reduce(%v130 init: %c131) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<30x6x9x100xf32>, tensor<f32>) -> tensor<6xf32>
    %v133 = stablehlo.tanh %r129 : tensor<6xf32>
    %v134 = stablehlo.add %v133, %x43 : tensor<6xf32>
    %v135 = stablehlo.maximum %r132, %x43 : tensor<6xf32>
    %c136 = stablehlo.constant dense<0.0> : tensor<f32>
    %r137 = stablehlo.reduce(%x44 init: %c136) applies stablehlo.add across dimensions = [0] : (tensor<300x40xf32>, tensor<f32>) -> tensor<40xf32>
    %v138 = stablehlo.multiply %x44, %x44 : tensor<300x40xf32>
    %c139 = stablehlo.constant dense<0.0> : tensor<f32>
    %r140 = stablehlo.reduce(%v138 init: %c139) applies stablehlo.add across dimensions = [0] : (tensor<300x40xf32>, tensor<f32>) -> tensor<40xf32>
    %v141 = stablehlo.tanh %r137 : tensor<40xf32>
    %v142 = stablehlo.add %v141, %x45 : tensor<40xf32>
    %v143 = stablehlo.maximum %r140, %x45 : tensor<40xf32>
    %c144 = stablehlo.constant dense<0.0> : tensor<f32>
    %r145 = stablehlo.reduce(%x46 init: %c144) applies stablehlo.add across dimensions = [0] : (tensor<300x36xf32>, tensor<f32>) -> tensor<36xf32>
    %c146 = stablehlo.constant dense<300.0> : tensor<f32>
    %b147 = stablehlo.broadcast_in_dim %c146, dims = [] : (tensor<f32>) -> tensor<36xf32>
    %v148 = stablehlo.divide %r145, %b147 : tensor<36xf32>
    %b149 = stablehlo.broadcast_in_dim %v148, dims = [1] : (tensor<36xf32>) -> tensor<300x36xf32>
    %v150 = stablehlo.subtract %x46, %b149 : tensor<300x36xf32>
    %v151 = stablehlo.multiply %v150, %v150 : tensor<300x36xf32>
    %c152 = stablehlo.constant dense<0.0> : tensor<f32>
    %r153 = stablehlo.reduce(%v151 init: %c152) applies stablehlo.add across dimensions = [0] : (tensor<300x36xf32>, tensor<f32>) -> tensor<36xf32>
    %c154 = stablehlo.constant dense<1.0> : tensor<f32>
    %b155 = stablehlo.broadcast_in_dim %c154, dims = [] : (tensor<f32>) -> tensor<36xf32>
    %v156 = stablehlo.add %r153, %b155 : tensor<36xf32>
    %v157 = stablehlo.rsqrt %v156 : tensor<36xf32>
    %b158 = stablehlo.broadcast_in_dim %v157, dims = [1] : (tensor<36xf32>) -> tensor<300x36xf32>
    %v159 = stablehlo.multiply %v150, %b158 : tensor<300x36xf32>
    %c160 = stablehlo.constant dense<0.0> : tensor<f32>
    %r161 = stablehlo.reduce(%x47 init: %c160) applies stablehlo.add across dimensions = [0] : (tensor<257x5xf32>, tensor<f32>) -> tensor<5xf32>
    %c162 = stablehlo.constant dense<257.0> : tensor<f32>
    %b163 = stablehlo.broadcast_in_dim %c162, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %v164 = stablehlo.divide %r161, %b163 : tensor<5xf32>
    %b165 = stablehlo.broadcast_in_dim %v164, dims = [1] : (tensor<5xf32>) -> tensor<257x5xf32>
    %v166 = stablehlo.subtract %x47, %b165 : tensor<257x5xf32>
    %v167 = stablehlo.multiply %v166, %v166 : tensor<257x5xf32>
    %c168 = stablehlo.constant dense<0.0> : tensor<f32>
    %r169 = stablehlo.reduce(%v167 init: %c168) applies stablehlo.add across dimensions = [0] : (tensor<257x5xf32>, tensor<f32>) -> tensor<5xf32>
    %c170 = stablehlo.constant dense<1.0> : tensor<f32>
    %b171 = stablehlo.broadcast_in_dim %c170, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %v172 = stablehlo.add %r169, %b171 : tensor<5xf32>
    %v173 = stablehlo.rsqrt %v172 : tensor<5xf32>
    %b174 = stablehlo.broadcast_in_dim %v173, dims = [1] : (tensor<5xf32>) -> tensor<257x5xf32>
    %v175 = stablehlo.multiply %v166, %b174 : tensor<257x5xf32>
    %c176 = stablehlo.constant dense<0.0> : tensor<f32>
    %r177 = stablehlo.reduce(%x48 init: %c176) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<20x10x6x50xf32>, tensor<f32>) -> tensor<10xf32>
    %c178 = stablehlo.constant dense<6000.0> : tensor<f32>
    %b179 = stablehlo.broadcast_in_dim %c178, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %v180 = stablehlo.divide %r177, %b179 : tensor<10xf32>
    %b181 = stablehlo.broadcast_in_dim %v180, dims = [1] : (tensor<10xf32>) -> tensor<20x10x6x50xf32>
    %v182 = stablehlo.subtract %x48, %b181 : tensor<20x10x6x50xf32>
    %v183 = stablehlo.multiply %v182, %v182 : tensor<20x10x6x50xf32>
    %c184 = stablehlo.constant dense<0.0> : tensor<f32>
    %r185 = stablehlo.reduce(%v183 init: %c184) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<20x10x6x50xf32>, tensor<f32>) -> tensor<10xf32>
    %c186 = stablehlo.constant dense<1.0> : tensor<f32>
    %b187 = stablehlo.broadcast_in_dim %c186, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %v188 = stablehlo.add %r185, %b187 : tensor<10xf32>
    %v189 = stablehlo.rsqrt %v188 : tensor<10xf32>
    %b190 = stablehlo.broadcast_in_dim %v189, dims = [1] : (tensor<10xf32>) -> tensor<20x10x6x50xf32>
    %v191 = stablehlo.multiply %v182, %b190 : tensor<20x10x6x50xf32>
    %c192 = stablehlo.constant dense<0.0> : tensor<f32>
    %r193 = stablehlo.reduce(%x49 init: %c192) applies stablehlo.add across dimensions = [0] : (tensor<2600x36xf32>, tensor<f32>) -> tensor<36xf32>
    %c194 = stablehlo.constant dense<2600.0> : tensor<f32>
    %b195 = stablehlo.broadcast_in_dim %c194, dims = [] : (tensor<f32>) -> tensor<36xf32>
    %v196 = stablehlo.divide %r193, %b195 : tensor<36xf32>
    %b197 = stablehlo.broadcast_in_dim %v196, dims = [1] : (tensor<36xf32>) -> tensor<2600x36xf32>
    %v198 = stablehlo.subtract %x49, %b197 : tensor<2600x36xf32>
    %v199 = stablehlo.multiply %v198, %v198 : tensor<2600x36xf32>
    %c200 = stablehlo.constant dense<0.0> : tensor<f32>
    %r201 = stablehlo.reduce(%v199 init: %c200) applies stablehlo.add across dimensions = [0] : (tensor<2600x36xf32>, tensor<f32>) -> tensor<36xf32>
    %c202 = stablehlo.constant dense<1.0> : tensor<f32>
    %b203 = stablehlo.broadcast_in_dim %c202, dims = [] : (tensor<f32>) -> tensor<36xf32>
    %v204 = stablehlo.add %r201, %b203 : tensor<36xf32>
    %v205 = stablehlo.rsqrt %v204 : tensor<36xf32>
    %b206 = stablehlo.broadcast_in_dim %v205, dims = [1] : (tensor<36xf32>) -> tensor<2600x36xf32>
    %v207 = stablehlo.multiply %v198, %b206 : tensor<2600x36xf32>
    %c208 = stablehlo.constant dense<0.0> : tensor<f32>
    %r209 = stablehlo.reduce(%x50 init: %c208) applies stablehlo.add across dimensions = [0] : (tensor<2300x7xf32>, tensor<f32>) -> tensor<7xf32>
    %c210 = stablehlo.constant dense<2300.0> : tensor<f32>
    %b211 = stablehlo.broadcast_in_dim %c210, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %v212 = stablehlo.divide %r209, %b211 : tensor<7xf32>
    %b213 = stablehlo.broadcast_in_dim %v212, dims = [1] : (tensor<7xf32>) -> tensor<2300x7xf32>
    %v214 = stablehlo.subtract %x50, %b213 : tensor<2300x7xf32>
    %v215 = stablehlo.multiply %v214, %v214 : tensor<2300x7xf32>
    %c216 = stablehlo.constant dense<0.0> : tensor<f32>
    %r217 = stablehlo.reduce(%v215 init: %c216) applies stablehlo.add across dimensions = [0] : (tensor<2300x7xf32>, tensor<f32>) -> tensor<7xf32>
    %c218 = stablehlo.constant dense<1.0> : tensor<f32>
    %b219 = stablehlo.broadcast_in_dim %c218, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %v220 = stablehlo.add %r217, %b219 : tensor<7xf32>
    %v221 = stablehlo.rsqrt %v220 : tensor<7xf32>
    %b222 = stablehlo.broadcast_in_dim %v221, dims = [1] : (tensor<7xf32>) -> tensor<2300x7xf32>
    %v223 = stablehlo.multiply %v214, %b222 : tensor<2300x7xf32>
    %c224 = stablehlo.constant dense<0.0> : tensor<f32>
    %r225 = stablehlo.reduce(%x51 init: %c224) applies stablehlo.add across dimensions = [0] : (tensor<2600x36xf32>, tensor<f32>) -> tensor<36xf32>
    %c226 = stablehlo.constant dense<2600.0> : tensor<f32>
    %b227 = stablehlo.broadcast_in_dim %c226, dims = [] : (tensor<f32>) -> tensor<36xf32>
    %v228 = stablehlo.divide %r225, %b227 : tensor<36xf32>
    %b229 = stablehlo.broadcast_in_dim %v228, dims = [1] : (tensor<36xf32>) -> tensor<2600x36xf32>
    %v230 = stablehlo.subtract %x51, %b229 : tensor<2600x36xf32>
    %v231 = stablehlo.multiply %v230, %v230 : tensor<2600x36xf32>
    %c232 = stablehlo.constant dense<0.0> : tensor<f32>
    %r233 = stablehlo.reduce(%v231 init: %c232) applies stablehlo.add across dimensions = [0] : (tensor<2600x36xf32>, tensor<f32>) -> tensor<36xf32>
    %v234 = stablehlo.add %v228, %x52 : tensor<36xf32>
    %v235 = stablehlo.tanh %v228 : tensor<36xf32>
    %v236 = stablehlo.multiply %r233, %v235 : tensor<36xf32>
    %c237 = stablehlo.constant dense<0.0> : tensor<f32>
    %r238 = stablehlo.reduce(%x53 init: %c237) applies stablehlo.add across dimensions = [0] : (tensor<2300x7xf32>, tensor<f32>) -> tensor<7xf32>
    %c239 = stablehlo.constant dense<2300.0> : tensor<f32>
    %b240 = stablehlo.broadcast_in_dim %c239, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %v241 = stablehlo.divide %r238, %b240 : tensor<7xf32>
    %b242 = stablehlo.broadcast_in_dim %v241, dims = [1] : (tensor<7xf32>) -> tensor<2300x7xf32>
    %v243 = stablehlo.subtract %x53, %b242 : tensor<2300x7xf32>
    %v244 = stablehlo.multiply %v243, %v243 : tensor<2300x7xf32>
    %c245 = stablehlo.constant dense<0.0> : tensor<f32>
    %r246 = stablehlo.reduce(%v244 init: %c245) applies stablehlo.add across dimensions = [0] : (tensor<2300x7xf32>, tensor<f32>) -> tensor<7xf32>
    %v247 = stablehlo.add %v241, %x54 : tensor<7xf32>
    %v248 = stablehlo.tanh %v241 : tensor<7xf32>
    %v249 = stablehlo.multiply %r246, %v248 : tensor<7xf32>
    %w250 = stablehlo.convert %x55 : (tensor<4x31x29x24xbf16>) -> tensor<4x31x29x24xf32>
    %c251 = stablehlo.constant dense<0.0> : tensor<f32>
    %r252 = stablehlo.reduce(%w250 init: %c251) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x31x29x24xf32>, tensor<f32>) -> tensor<24xf32>
    %c253 = stablehlo.constant dense<3596.0> : tensor<f32>
    %b254 = stablehlo.broadcast_in_dim %c253, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %v255 = stablehlo.divide %r252, %b254 : tensor<24xf32>
    %b256 = stablehlo.broadcast_in_dim %v255, dims = [3] : (tensor<24xf32>) -> tensor<4x31x29x24xf32>
    %v257 = stablehlo.subtract %w250, %b256 : tensor<4x31x29x24xf32>
    %v258 = stablehlo.multiply %v257, %v257 : tensor<4x31x29x24xf32>
    %c259 = stablehlo.constant dense<0.0> : tensor<f32>
    %r260 = stablehlo.reduce(%v258 init: %c259) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x31x29x24xf32>, tensor<f32>) -> tensor<24xf32>
    %v261 = stablehlo.add %v255, %x56 : tensor<24xf32>
    %v262 = stablehlo.tanh %v255 : tensor<24xf32>
    %v263 = stablehlo.multiply %r260, %v262 : tensor<24xf32>
    %c264 = stablehlo.constant dense<0.0> : tensor<f32>
    %r265 = stablehlo.reduce(%x57 init: %c264) applies stablehlo.add across dimensions = [0] : (tensor<300x12xf32>, tensor<f32>) -> tensor<12xf32>
    %c266 = stablehlo.constant dense<300.0> : tensor<f32>
    %b267 = stablehlo.broadcast_in_dim %c266, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %v268 = stablehlo.divide %r265, %b267 : tensor<12xf32>
    %b269 = stablehlo.broadcast_in_dim %v268, dims = [1] : (tensor<12xf32>) -> tensor<300x12xf32>
    %v270 = stablehlo.subtract %x57, %b269 : tensor<300x12xf32>
    %v271 = stablehlo.multiply %v270, %v270 : tensor<300x12xf32>
    %c272 = stablehlo.constant dense<0.0> : tensor<f32>
    %r273 = stablehlo.reduce(%v271 init: %c272) applies stablehlo.add across dimensions = [0] : (tensor<300x12xf32>, tensor<f32>) -> tensor<12xf32>
    %v274 = stablehlo.add %v268, %x58 : tensor<12xf32>
    %v275 = stablehlo.tanh %v268 : tensor<12xf32>
    %v276 = stablehlo.multiply %r273, %v275 : tensor<12xf32>
    %w277 = stablehlo.convert %x59 : (tensor<2048x16xf16>) -> tensor<2048x16xf32>
    %c278 = stablehlo.constant dense<0.0> : tensor<f32>
    %r279 = stablehlo.reduce(%w277 init: %c278) applies stablehlo.add across dimensions = [0] : (tensor<2048x16xf32>, tensor<f32>) -> tensor<16xf32>
    %c280 = stablehlo.constant dense<2048.0> : tensor<f32>
    %b281 = stablehlo.broadcast_in_dim %c280, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %v282 = stablehlo.divide %r279, %b281 : tensor<16xf32>
    %b283 = stablehlo.broadcast_in_dim %v282, dims = [1] : (tensor<16xf32>) -> tensor<2048x16xf32>
    %v284 = stablehlo.subtract %w277, %b283 : tensor<2048x16xf32>
    %v285 = stablehlo.multiply %v284, %v284 : tensor<2048x16xf32>
    %c286 = stablehlo.constant dense<0.0> : tensor<f32>
    %r287 = stablehlo.reduce(%v285 init: %c286) applies stablehlo.add across dimensions = [0] : (tensor<2048x16xf32>, tensor<f32>) -> tensor<16xf32>
    %v288 = stablehlo.add %v282, %x60 : tensor<16xf32>
    %v289 = stablehlo.tanh %v282 : tensor<16xf32>
    %v290 = stablehlo.multiply %r287, %v289 : tensor<16xf32>
    %c291 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %r292 = stablehlo.reduce(%x61 init: %c291) applies stablehlo.maximum across dimensions = [0] : (tensor<2600x40xf32>, tensor<f32>) -> tensor<40xf32>
    %b293 = stablehlo.broadcast_in_dim %r292, dims = [1] : (tensor<40xf32>) -> tensor<2600x40xf32>
    %v294 = stablehlo.subtract %x61, %b293 : tensor<2600x40xf32>
    %v295 = stablehlo.exponential %v294 : tensor<2600x40xf32>
    %c296 = stablehlo.constant dense<0.0> : tensor<f32>
    %r297 = stablehlo.reduce(%v295 init: %c296) applies stablehlo.add across dimensions = [0] : (tensor<2600x40xf32>, tensor<f32>) -> tensor<40xf32>
    %b298 = stablehlo.broadcast_in_dim %r297, dims = [1] : (tensor<40xf32>) -> tensor<2600x40xf32>
    %v299 = stablehlo.divide %v295, %b298 : tensor<2600x40xf32>
    %p300 = stablehlo.dot_general %x62, %x63, contracting_dims = [1] x [0] : (tensor<3x200xf32>, tensor<200x64xf32>) -> tensor<3x64xf32>
    %p301 = stablehlo.dot_general %x64, %x65, contracting_dims = [1] x [0] : (tensor<1x1300xf32>, tensor<1300x33xf32>) -> tensor<1x33xf32>
    %p302 = stablehlo.dot_general %x66, %x67, contracting_dims = [1] x [0] : (tensor<2x700xbf16>, tensor<700x48xbf16>) -> tensor<2x48xbf16>
    %p303 = stablehlo.dot_general %x68, %x69, contracting_dims = [1] x [0] : (tensor<1x600xf64>, tensor<600x16xf64>) -> tensor<1x16xf64>
    return %r2, %r4, %r6, %r8, %r10, %r12, %r14, %r16, %r18, %r20, %r22, %r24, %r26, %r28, %r30, %r32, %r34, %r36, %r38, %r40, %r42, %r44, %r46, %r48, %r50, %r52, %r54, %r56, %r58, %a62#0, %a62#1, %a66#0, %a66#1, %a70#0, %a70#1, %a74#0, %a74#1, %v83, %v92, %v101, %v108, %v109, %v117, %v118, %v126, %v127, %v134, %v135, %v142, %v143, %v159, %v175, %v191, %v207, %v223, %v234, %v236, %v247, %v249, %v261, %v263, %v274, %v276, %v288, %v290, %v299, %p300, %p301, %p302, %p303 : tensor<64xf32>, tensor<20xf32>, tensor<33xf32>, tensor<72xbf16>, tensor<70xf16>, tensor<40xbf16>, tensor<6xf64>, tensor<10xf64>, tensor<10xi32>, tensor<24xi8>, tensor<9xi64>, tensor<16xi1>, tensor<66xi1>, tensor<5xcomplex<f32>>, tensor<3xcomplex<f64>>, tensor<12xf32>, tensor<33x8xf32>, tensor<41x8xf32>, tensor<3x7x4xf32>, tensor<12xf32>, tensor<3xf32>, tensor<2xf32>, tensor<70xbf16>, tensor<40xf32>, tensor<0xf32>, tensor<1xf32>, tensor<500xf32>, tensor<16xf32>, tensor<70xi8>, tensor<24xf32>, tensor<24xi32>, tensor<24xf32>, tensor<24xi32>, tensor<2xf32>, tensor<2xi32>, tensor<7xf32>, tensor<7xi32>, tensor<200x40xf32>, tensor<333x19xf32>, tensor<90x64xbf16>, tensor<12xf32>, tensor<12xf32>, tensor<24xf32>, tensor<24xf32>, tensor<9xf32>, tensor<9xf32>, tensor<6xf32>, tensor<6xf32>, tensor<40xf32>, tensor<40xf32>, tensor<300x36xf32>, tensor<257x5xf32>, tensor<20x10x6x50xf32>, tensor<2600x36xf32>, tensor<2300x7xf32>, tensor<36xf32>, tensor<36xf32>, tensor<7xf32>, tensor<7xf32>, tensor<24xf32>, tensor<24xf32>, tensor<12xf32>, tensor<12xf32>, tensor<16xf32>, tensor<16xf32>, tensor<2600x40xf32>, tensor<3x64xf32>, tensor<1x33xf32>, tensor<2x48xbf16>, tensor<1x16xf64>
}
