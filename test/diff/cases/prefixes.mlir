// Prefixes and suffixes, along either dimension: of vectors, blocks of them, rests and less than one.
module @prefixes {
  func.func public @main(%x: tensor<3x700xf32>, %y: tensor<2x37x19xf32>, %v: tensor<600xf64>, %h: tensor<5x67xbf16>, %i: tensor<4x100xi32>, %c: tensor<70x3xi8>, %p: tensor<6x45xi1>, %w: tensor<2x90xcomplex<f32>>, %q: tensor<47xf32>) -> (tensor<3x700xf32>, tensor<3x700xf32>, tensor<3x700xf32>, tensor<3x700xf32>, tensor<2x37x19xf32>, tensor<2x37x19xf32>, tensor<600xf64>, tensor<5x67xbf16>, tensor<4x100xi32>, tensor<70x3xi8>, tensor<6x45xi1>, tensor<47xf32>, tensor<38x37xf32>, tensor<2x703xf32>, tensor<38x37xf32>, tensor<2x90xcomplex<f32>>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %o = stablehlo.constant dense<1.0> : tensor<f32>
    %ni = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %pi = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %zb = stablehlo.constant dense<0.0> : tensor<bf16>
    %zd = stablehlo.constant dense<0.0> : tensor<f64>
    %od = stablehlo.constant dense<1.0> : tensor<f64>
    %zi = stablehlo.constant dense<0> : tensor<i32>
    %mi = stablehlo.constant dense<2147483647> : tensor<i32>
    %zc = stablehlo.constant dense<-128> : tensor<i8>
    %f = stablehlo.constant dense<false> : tensor<i1>
    %zw = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
    %r0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 700>, padding = dense<[[0, 0], [699, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<3x700xf32>, tensor<f32>) -> tensor<3x700xf32>
    %r1 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 700>, padding = dense<[[0, 0], [0, 699]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<3x700xf32>, tensor<f32>) -> tensor<3x700xf32>
    %r2 = "stablehlo.reduce_window"(%x, %ni) <{window_dimensions = array<i64: 1, 700>, padding = dense<[[0, 0], [699, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<3x700xf32>, tensor<f32>) -> tensor<3x700xf32>
    %r3 = "stablehlo.reduce_window"(%x, %pi) <{window_dimensions = array<i64: 1, 700>, padding = dense<[[0, 0], [0, 699]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.minimum %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<3x700xf32>, tensor<f32>) -> tensor<3x700xf32>
    %r4 = "stablehlo.reduce_window"(%y, %z) <{window_dimensions = array<i64: 1, 37, 1>, padding = dense<[[0, 0], [36, 0], [0, 0]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<2x37x19xf32>, tensor<f32>) -> tensor<2x37x19xf32>
    %r5 = "stablehlo.reduce_window"(%y, %o) <{window_dimensions = array<i64: 1, 1, 19>, padding = dense<[[0, 0], [0, 0], [0, 18]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<2x37x19xf32>, tensor<f32>) -> tensor<2x37x19xf32>
    %r6 = "stablehlo.reduce_window"(%v, %zd) <{window_dimensions = array<i64: 600>, padding = dense<[[599, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) : (tensor<600xf64>, tensor<f64>) -> tensor<600xf64>
    %r7 = "stablehlo.reduce_window"(%h, %zb) <{window_dimensions = array<i64: 1, 67>, padding = dense<[[0, 0], [0, 66]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %r = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %r : tensor<bf16>
    }) : (tensor<5x67xbf16>, tensor<bf16>) -> tensor<5x67xbf16>
    %r8 = "stablehlo.reduce_window"(%i, %zi) <{window_dimensions = array<i64: 1, 100>, padding = dense<[[0, 0], [99, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) : (tensor<4x100xi32>, tensor<i32>) -> tensor<4x100xi32>
    %r9 = "stablehlo.reduce_window"(%c, %zc) <{window_dimensions = array<i64: 70, 1>, padding = dense<[[0, 69], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>):
      %r = stablehlo.maximum %a, %b : tensor<i8>
      stablehlo.return %r : tensor<i8>
    }) : (tensor<70x3xi8>, tensor<i8>) -> tensor<70x3xi8>
    %r10 = "stablehlo.reduce_window"(%p, %f) <{window_dimensions = array<i64: 1, 45>, padding = dense<[[0, 0], [44, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i1>, %b: tensor<i1>):
      %r = stablehlo.or %a, %b : tensor<i1>
      stablehlo.return %r : tensor<i1>
    }) : (tensor<6x45xi1>, tensor<i1>) -> tensor<6x45xi1>
    %r11 = "stablehlo.reduce_window"(%q, %o) <{window_dimensions = array<i64: 47>, padding = dense<[[46, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<47xf32>, tensor<f32>) -> tensor<47xf32>
    %t0 = stablehlo.transpose %y, dims = [2, 0, 1] : (tensor<2x37x19xf32>) -> tensor<19x2x37xf32>
    %t1 = stablehlo.multiply %t0, %t0 : tensor<19x2x37xf32>
    %t2 = stablehlo.reshape %t1 : (tensor<19x2x37xf32>) -> tensor<38x37xf32>
    %t3 = stablehlo.reverse %t2, dims = [1] : tensor<38x37xf32>
    %t4 = stablehlo.reshape %t1 : (tensor<19x2x37xf32>) -> tensor<2x703xf32>
    %r12 = "stablehlo.reduce_window"(%t3, %z) <{window_dimensions = array<i64: 1, 37>, padding = dense<[[0, 0], [36, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<38x37xf32>, tensor<f32>) -> tensor<38x37xf32>
    %r13 = "stablehlo.reduce_window"(%t4, %z) <{window_dimensions = array<i64: 1, 703>, padding = dense<[[0, 0], [0, 702]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<2x703xf32>, tensor<f32>) -> tensor<2x703xf32>
    %r14 = "stablehlo.reduce_window"(%t2, %z) <{window_dimensions = array<i64: 38, 1>, padding = dense<[[37, 0], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<38x37xf32>, tensor<f32>) -> tensor<38x37xf32>
    %r15 = "stablehlo.reduce_window"(%w, %zw) <{window_dimensions = array<i64: 1, 90>, padding = dense<[[0, 0], [0, 89]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
      %r = stablehlo.add %a, %b : tensor<complex<f32>>
      stablehlo.return %r : tensor<complex<f32>>
    }) : (tensor<2x90xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2x90xcomplex<f32>>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15 : tensor<3x700xf32>, tensor<3x700xf32>, tensor<3x700xf32>, tensor<3x700xf32>, tensor<2x37x19xf32>, tensor<2x37x19xf32>, tensor<600xf64>, tensor<5x67xbf16>, tensor<4x100xi32>, tensor<70x3xi8>, tensor<6x45xi1>, tensor<47xf32>, tensor<38x37xf32>, tensor<2x703xf32>, tensor<38x37xf32>, tensor<2x90xcomplex<f32>>
  }
}
