// Rows that several stages read and threads hold in registers: of warps and of blocks, some of whose vectors, or threads, have nothing; rows that are
// too short, or no whole vectors; two of them at once; 16-bit and 64-bit elements.
module @rows_in_registers {
  func.func public @main(%a0: tensor<9x1024xf32>, %a1: tensor<5x768xf32>, %a2: tensor<3x260xf32>, %a3: tensor<2x256xf32>, %a4: tensor<3x1022xf32>, %a5: tensor<2x5120xf32>, %a6: tensor<4x1000xbf16>, %a7: tensor<3x900xf32>, %a8: tensor<3x200xf64>, %a9: tensor<2x16384xf32>, %a10: tensor<6x512xf32>, %a11: tensor<6x512xf32>, %a12: tensor<2x6148xf32>, %a13: tensor<2x6148xf32>, %a14: tensor<4x640xf32>, %a15: tensor<17x1xf32>) -> (tensor<9x1024xf32>, tensor<5x768xf32>, tensor<3x260xf32>, tensor<2x256xf32>, tensor<3x1022xf32>, tensor<2x5120xf32>, tensor<4x1000xbf16>, tensor<3x900xf32>, tensor<3x200xf64>, tensor<2x16384xf32>, tensor<6x512xf32>, tensor<2x6148xf32>, tensor<4xf32>, tensor<17xf32>) {
    %z1 = stablehlo.constant dense<0.0> : tensor<f32>
    %r1 = stablehlo.reduce(%a0 init: %z1) applies stablehlo.add across dimensions = [1] : (tensor<9x1024xf32>, tensor<f32>) -> tensor<9xf32>
    %c2 = stablehlo.constant dense<1024.0> : tensor<9xf32>
    %o3 = stablehlo.divide %r1, %c2 : tensor<9xf32>
    %b4 = stablehlo.broadcast_in_dim %o3, dims = [0] : (tensor<9xf32>) -> tensor<9x1024xf32>
    %o5 = stablehlo.subtract %a0, %b4 : tensor<9x1024xf32>
    %o6 = stablehlo.multiply %o5, %o5 : tensor<9x1024xf32>
    %z7 = stablehlo.constant dense<0.0> : tensor<f32>
    %r7 = stablehlo.reduce(%o6 init: %z7) applies stablehlo.add across dimensions = [1] : (tensor<9x1024xf32>, tensor<f32>) -> tensor<9xf32>
    %c8 = stablehlo.constant dense<1024.0> : tensor<9xf32>
    %o9 = stablehlo.divide %r7, %c8 : tensor<9xf32>
    %c10 = stablehlo.constant dense<1.0e-5> : tensor<9xf32>
    %o11 = stablehlo.add %o9, %c10 : tensor<9xf32>
    %o12 = stablehlo.rsqrt %o11 : tensor<9xf32>
    %b13 = stablehlo.broadcast_in_dim %o12, dims = [0] : (tensor<9xf32>) -> tensor<9x1024xf32>
    %o14 = stablehlo.multiply %o5, %b13 : tensor<9x1024xf32>
    %z15 = stablehlo.constant dense<0.0> : tensor<f32>
    %r15 = stablehlo.reduce(%a1 init: %z15) applies stablehlo.add across dimensions = [1] : (tensor<5x768xf32>, tensor<f32>) -> tensor<5xf32>
    %c16 = stablehlo.constant dense<768.0> : tensor<5xf32>
    %o17 = stablehlo.divide %r15, %c16 : tensor<5xf32>
    %b18 = stablehlo.broadcast_in_dim %o17, dims = [0] : (tensor<5xf32>) -> tensor<5x768xf32>
    %o19 = stablehlo.subtract %a1, %b18 : tensor<5x768xf32>
    %o20 = stablehlo.multiply %o19, %o19 : tensor<5x768xf32>
    %z21 = stablehlo.constant dense<0.0> : tensor<f32>
    %r21 = stablehlo.reduce(%o20 init: %z21) applies stablehlo.add across dimensions = [1] : (tensor<5x768xf32>, tensor<f32>) -> tensor<5xf32>
    %c22 = stablehlo.constant dense<768.0> : tensor<5xf32>
    %o23 = stablehlo.divide %r21, %c22 : tensor<5xf32>
    %c24 = stablehlo.constant dense<1.0e-5> : tensor<5xf32>
    %o25 = stablehlo.add %o23, %c24 : tensor<5xf32>
    %o26 = stablehlo.rsqrt %o25 : tensor<5xf32>
    %b27 = stablehlo.broadcast_in_dim %o26, dims = [0] : (tensor<5xf32>) -> tensor<5x768xf32>
    %o28 = stablehlo.multiply %o19, %b27 : tensor<5x768xf32>
    %z29 = stablehlo.constant dense<0.0> : tensor<f32>
    %r29 = stablehlo.reduce(%a2 init: %z29) applies stablehlo.add across dimensions = [1] : (tensor<3x260xf32>, tensor<f32>) -> tensor<3xf32>
    %c30 = stablehlo.constant dense<260.0> : tensor<3xf32>
    %o31 = stablehlo.divide %r29, %c30 : tensor<3xf32>
    %b32 = stablehlo.broadcast_in_dim %o31, dims = [0] : (tensor<3xf32>) -> tensor<3x260xf32>
    %o33 = stablehlo.subtract %a2, %b32 : tensor<3x260xf32>
    %o34 = stablehlo.multiply %o33, %o33 : tensor<3x260xf32>
    %z35 = stablehlo.constant dense<0.0> : tensor<f32>
    %r35 = stablehlo.reduce(%o34 init: %z35) applies stablehlo.add across dimensions = [1] : (tensor<3x260xf32>, tensor<f32>) -> tensor<3xf32>
    %c36 = stablehlo.constant dense<260.0> : tensor<3xf32>
    %o37 = stablehlo.divide %r35, %c36 : tensor<3xf32>
    %c38 = stablehlo.constant dense<1.0e-5> : tensor<3xf32>
    %o39 = stablehlo.add %o37, %c38 : tensor<3xf32>
    %o40 = stablehlo.rsqrt %o39 : tensor<3xf32>
    %b41 = stablehlo.broadcast_in_dim %o40, dims = [0] : (tensor<3xf32>) -> tensor<3x260xf32>
    %o42 = stablehlo.multiply %o33, %b41 : tensor<3x260xf32>
    %z43 = stablehlo.constant dense<0.0> : tensor<f32>
    %r43 = stablehlo.reduce(%a3 init: %z43) applies stablehlo.add across dimensions = [1] : (tensor<2x256xf32>, tensor<f32>) -> tensor<2xf32>
    %c44 = stablehlo.constant dense<256.0> : tensor<2xf32>
    %o45 = stablehlo.divide %r43, %c44 : tensor<2xf32>
    %b46 = stablehlo.broadcast_in_dim %o45, dims = [0] : (tensor<2xf32>) -> tensor<2x256xf32>
    %o47 = stablehlo.subtract %a3, %b46 : tensor<2x256xf32>
    %o48 = stablehlo.multiply %o47, %o47 : tensor<2x256xf32>
    %z49 = stablehlo.constant dense<0.0> : tensor<f32>
    %r49 = stablehlo.reduce(%o48 init: %z49) applies stablehlo.add across dimensions = [1] : (tensor<2x256xf32>, tensor<f32>) -> tensor<2xf32>
    %c50 = stablehlo.constant dense<256.0> : tensor<2xf32>
    %o51 = stablehlo.divide %r49, %c50 : tensor<2xf32>
    %c52 = stablehlo.constant dense<1.0e-5> : tensor<2xf32>
    %o53 = stablehlo.add %o51, %c52 : tensor<2xf32>
    %o54 = stablehlo.rsqrt %o53 : tensor<2xf32>
    %b55 = stablehlo.broadcast_in_dim %o54, dims = [0] : (tensor<2xf32>) -> tensor<2x256xf32>
    %o56 = stablehlo.multiply %o47, %b55 : tensor<2x256xf32>
    %z57 = stablehlo.constant dense<0.0> : tensor<f32>
    %r57 = stablehlo.reduce(%a4 init: %z57) applies stablehlo.add across dimensions = [1] : (tensor<3x1022xf32>, tensor<f32>) -> tensor<3xf32>
    %c58 = stablehlo.constant dense<1022.0> : tensor<3xf32>
    %o59 = stablehlo.divide %r57, %c58 : tensor<3xf32>
    %b60 = stablehlo.broadcast_in_dim %o59, dims = [0] : (tensor<3xf32>) -> tensor<3x1022xf32>
    %o61 = stablehlo.subtract %a4, %b60 : tensor<3x1022xf32>
    %o62 = stablehlo.multiply %o61, %o61 : tensor<3x1022xf32>
    %z63 = stablehlo.constant dense<0.0> : tensor<f32>
    %r63 = stablehlo.reduce(%o62 init: %z63) applies stablehlo.add across dimensions = [1] : (tensor<3x1022xf32>, tensor<f32>) -> tensor<3xf32>
    %c64 = stablehlo.constant dense<1022.0> : tensor<3xf32>
    %o65 = stablehlo.divide %r63, %c64 : tensor<3xf32>
    %c66 = stablehlo.constant dense<1.0e-5> : tensor<3xf32>
    %o67 = stablehlo.add %o65, %c66 : tensor<3xf32>
    %o68 = stablehlo.rsqrt %o67 : tensor<3xf32>
    %b69 = stablehlo.broadcast_in_dim %o68, dims = [0] : (tensor<3xf32>) -> tensor<3x1022xf32>
    %o70 = stablehlo.multiply %o61, %b69 : tensor<3x1022xf32>
    %z71 = stablehlo.constant dense<0.0> : tensor<f32>
    %r71 = stablehlo.reduce(%a5 init: %z71) applies stablehlo.add across dimensions = [1] : (tensor<2x5120xf32>, tensor<f32>) -> tensor<2xf32>
    %c72 = stablehlo.constant dense<5120.0> : tensor<2xf32>
    %o73 = stablehlo.divide %r71, %c72 : tensor<2xf32>
    %b74 = stablehlo.broadcast_in_dim %o73, dims = [0] : (tensor<2xf32>) -> tensor<2x5120xf32>
    %o75 = stablehlo.subtract %a5, %b74 : tensor<2x5120xf32>
    %o76 = stablehlo.multiply %o75, %o75 : tensor<2x5120xf32>
    %z77 = stablehlo.constant dense<0.0> : tensor<f32>
    %r77 = stablehlo.reduce(%o76 init: %z77) applies stablehlo.add across dimensions = [1] : (tensor<2x5120xf32>, tensor<f32>) -> tensor<2xf32>
    %c78 = stablehlo.constant dense<5120.0> : tensor<2xf32>
    %o79 = stablehlo.divide %r77, %c78 : tensor<2xf32>
    %c80 = stablehlo.constant dense<1.0e-5> : tensor<2xf32>
    %o81 = stablehlo.add %o79, %c80 : tensor<2xf32>
    %o82 = stablehlo.rsqrt %o81 : tensor<2xf32>
    %b83 = stablehlo.broadcast_in_dim %o82, dims = [0] : (tensor<2xf32>) -> tensor<2x5120xf32>
    %o84 = stablehlo.multiply %o75, %b83 : tensor<2x5120xf32>
    %v85 = stablehlo.convert %a6 : (tensor<4x1000xbf16>) -> tensor<4x1000xf32>
    %z86 = stablehlo.constant dense<0.0> : tensor<f32>
    %r86 = stablehlo.reduce(%v85 init: %z86) applies stablehlo.add across dimensions = [1] : (tensor<4x1000xf32>, tensor<f32>) -> tensor<4xf32>
    %c87 = stablehlo.constant dense<1000.0> : tensor<4xf32>
    %o88 = stablehlo.divide %r86, %c87 : tensor<4xf32>
    %b89 = stablehlo.broadcast_in_dim %o88, dims = [0] : (tensor<4xf32>) -> tensor<4x1000xf32>
    %o90 = stablehlo.subtract %v85, %b89 : tensor<4x1000xf32>
    %o91 = stablehlo.multiply %o90, %o90 : tensor<4x1000xf32>
    %z92 = stablehlo.constant dense<0.0> : tensor<f32>
    %r92 = stablehlo.reduce(%o91 init: %z92) applies stablehlo.add across dimensions = [1] : (tensor<4x1000xf32>, tensor<f32>) -> tensor<4xf32>
    %c93 = stablehlo.constant dense<1000.0> : tensor<4xf32>
    %o94 = stablehlo.divide %r92, %c93 : tensor<4xf32>
    %c95 = stablehlo.constant dense<1.0e-5> : tensor<4xf32>
    %o96 = stablehlo.add %o94, %c95 : tensor<4xf32>
    %o97 = stablehlo.rsqrt %o96 : tensor<4xf32>
    %b98 = stablehlo.broadcast_in_dim %o97, dims = [0] : (tensor<4xf32>) -> tensor<4x1000xf32>
    %o99 = stablehlo.multiply %o90, %b98 : tensor<4x1000xf32>
    %v100 = stablehlo.convert %o99 : (tensor<4x1000xf32>) -> tensor<4x1000xbf16>
    %z101 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %r101 = stablehlo.reduce(%a7 init: %z101) applies stablehlo.maximum across dimensions = [1] : (tensor<3x900xf32>, tensor<f32>) -> tensor<3xf32>
    %b102 = stablehlo.broadcast_in_dim %r101, dims = [0] : (tensor<3xf32>) -> tensor<3x900xf32>
    %o103 = stablehlo.subtract %a7, %b102 : tensor<3x900xf32>
    %o104 = stablehlo.exponential %o103 : tensor<3x900xf32>
    %z105 = stablehlo.constant dense<0.0> : tensor<f32>
    %r105 = stablehlo.reduce(%o104 init: %z105) applies stablehlo.add across dimensions = [1] : (tensor<3x900xf32>, tensor<f32>) -> tensor<3xf32>
    %b106 = stablehlo.broadcast_in_dim %r105, dims = [0] : (tensor<3xf32>) -> tensor<3x900xf32>
    %o107 = stablehlo.divide %o104, %b106 : tensor<3x900xf32>
    %z108 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %r108 = stablehlo.reduce(%a8 init: %z108) applies stablehlo.maximum across dimensions = [1] : (tensor<3x200xf64>, tensor<f64>) -> tensor<3xf64>
    %b109 = stablehlo.broadcast_in_dim %r108, dims = [0] : (tensor<3xf64>) -> tensor<3x200xf64>
    %o110 = stablehlo.subtract %a8, %b109 : tensor<3x200xf64>
    %o111 = stablehlo.exponential %o110 : tensor<3x200xf64>
    %z112 = stablehlo.constant dense<0.0> : tensor<f64>
    %r112 = stablehlo.reduce(%o111 init: %z112) applies stablehlo.add across dimensions = [1] : (tensor<3x200xf64>, tensor<f64>) -> tensor<3xf64>
    %b113 = stablehlo.broadcast_in_dim %r112, dims = [0] : (tensor<3xf64>) -> tensor<3x200xf64>
    %o114 = stablehlo.divide %o111, %b113 : tensor<3x200xf64>
    %z115 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %r115 = stablehlo.reduce(%a9 init: %z115) applies stablehlo.maximum across dimensions = [1] : (tensor<2x16384xf32>, tensor<f32>) -> tensor<2xf32>
    %b116 = stablehlo.broadcast_in_dim %r115, dims = [0] : (tensor<2xf32>) -> tensor<2x16384xf32>
    %o117 = stablehlo.subtract %a9, %b116 : tensor<2x16384xf32>
    %o118 = stablehlo.exponential %o117 : tensor<2x16384xf32>
    %z119 = stablehlo.constant dense<0.0> : tensor<f32>
    %r119 = stablehlo.reduce(%o118 init: %z119) applies stablehlo.add across dimensions = [1] : (tensor<2x16384xf32>, tensor<f32>) -> tensor<2xf32>
    %b120 = stablehlo.broadcast_in_dim %r119, dims = [0] : (tensor<2xf32>) -> tensor<2x16384xf32>
    %o121 = stablehlo.divide %o118, %b120 : tensor<2x16384xf32>
    %o122 = stablehlo.multiply %a10, %a11 : tensor<6x512xf32>
    %z123 = stablehlo.constant dense<0.0> : tensor<f32>
    %r123 = stablehlo.reduce(%o122 init: %z123) applies stablehlo.add across dimensions = [1] : (tensor<6x512xf32>, tensor<f32>) -> tensor<6xf32>
    %b124 = stablehlo.broadcast_in_dim %r123, dims = [0] : (tensor<6xf32>) -> tensor<6x512xf32>
    %o125 = stablehlo.subtract %a11, %b124 : tensor<6x512xf32>
    %o126 = stablehlo.multiply %a10, %o125 : tensor<6x512xf32>
    %o127 = stablehlo.multiply %a12, %a13 : tensor<2x6148xf32>
    %z128 = stablehlo.constant dense<0.0> : tensor<f32>
    %r128 = stablehlo.reduce(%o127 init: %z128) applies stablehlo.add across dimensions = [1] : (tensor<2x6148xf32>, tensor<f32>) -> tensor<2xf32>
    %b129 = stablehlo.broadcast_in_dim %r128, dims = [0] : (tensor<2xf32>) -> tensor<2x6148xf32>
    %o130 = stablehlo.subtract %a13, %b129 : tensor<2x6148xf32>
    %o131 = stablehlo.multiply %a12, %o130 : tensor<2x6148xf32>
    %z132 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %r132 = stablehlo.reduce(%a14 init: %z132) applies stablehlo.maximum across dimensions = [1] : (tensor<4x640xf32>, tensor<f32>) -> tensor<4xf32>
    %b133 = stablehlo.broadcast_in_dim %r132, dims = [0] : (tensor<4xf32>) -> tensor<4x640xf32>
    %o134 = stablehlo.subtract %a14, %b133 : tensor<4x640xf32>
    %z135 = stablehlo.constant dense<0.0> : tensor<f32>
    %r135 = stablehlo.reduce(%o134 init: %z135) applies stablehlo.add across dimensions = [1] : (tensor<4x640xf32>, tensor<f32>) -> tensor<4xf32>
    %o136 = stablehlo.add %r135, %r132 : tensor<4xf32>
    %z137 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %r137 = stablehlo.reduce(%a15 init: %z137) applies stablehlo.maximum across dimensions = [1] : (tensor<17x1xf32>, tensor<f32>) -> tensor<17xf32>
    %b138 = stablehlo.broadcast_in_dim %r137, dims = [0] : (tensor<17xf32>) -> tensor<17x1xf32>
    %o139 = stablehlo.subtract %a15, %b138 : tensor<17x1xf32>
    %z140 = stablehlo.constant dense<0.0> : tensor<f32>
    %r140 = stablehlo.reduce(%o139 init: %z140) applies stablehlo.add across dimensions = [1] : (tensor<17x1xf32>, tensor<f32>) -> tensor<17xf32>
    %o141 = stablehlo.add %r140, %r137 : tensor<17xf32>
    return %o14, %o28, %o42, %o56, %o70, %o84, %v100, %o107, %o114, %o121, %o126, %o131, %o136, %o141 : tensor<9x1024xf32>, tensor<5x768xf32>, tensor<3x260xf32>, tensor<2x256xf32>, tensor<3x1022xf32>, tensor<2x5120xf32>, tensor<4x1000xbf16>, tensor<3x900xf32>, tensor<3x200xf64>, tensor<2x16384xf32>, tensor<6x512xf32>, tensor<2x6148xf32>, tensor<4xf32>, tensor<17xf32>
  }
}
