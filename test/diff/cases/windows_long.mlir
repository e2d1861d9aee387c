// Windows that share most of their elements: padded, strided, dilated, over two dimensions, of pairs.
module @windows_long {
  func.func public @main(%x: tensor<3x200xf32>, %y: tensor<60x50xf32>, %h: tensor<90xbf16>, %i: tensor<130x3xi32>, %k: tensor<3x200xi32>, %d: tensor<100xf64>) -> (tensor<3x200xf32>, tensor<3x67xf32>, tensor<3x145xf32>, tensor<3x372xf32>, tensor<60x50xf32>, tensor<27x42xf32>, tensor<90xbf16>, tensor<130x3xi32>, tensor<18xf64>, tensor<100xf64>, tensor<3x183xf32>, tensor<3x183xi32>, tensor<186xf64>) {
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
    %r0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 33>, padding = dense<[[0, 0], [16, 16]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<3x200xf32>, tensor<f32>) -> tensor<3x200xf32>
    %r1 = "stablehlo.reduce_window"(%x, %ni) <{window_dimensions = array<i64: 1, 40>, padding = dense<[[0, 0], [39, 0]]> : tensor<2x2xi64>, window_strides = array<i64: 1, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<3x200xf32>, tensor<f32>) -> tensor<3x67xf32>
    %r2 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 20>, padding = dense<[[0, 0], [-3, 5]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<3x200xf32>, tensor<f32>) -> tensor<3x145xf32>
    %r3 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 35>, padding = dense<[[0, 0], [3, 4]]> : tensor<2x2xi64>, base_dilations = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<3x200xf32>, tensor<f32>) -> tensor<3x372xf32>
    %r4 = "stablehlo.reduce_window"(%y, %z) <{window_dimensions = array<i64: 21, 11>, padding = dense<[[10, 10], [5, 5]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<60x50xf32>, tensor<f32>) -> tensor<60x50xf32>
    %r5 = "stablehlo.reduce_window"(%y, %ni) <{window_dimensions = array<i64: 7, 9>, window_strides = array<i64: 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<60x50xf32>, tensor<f32>) -> tensor<27x42xf32>
    %r6 = "stablehlo.reduce_window"(%h, %zb) <{window_dimensions = array<i64: 25>, padding = dense<[[24, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %r = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %r : tensor<bf16>
    }) : (tensor<90xbf16>, tensor<bf16>) -> tensor<90xbf16>
    %r7 = "stablehlo.reduce_window"(%i, %zi) <{window_dimensions = array<i64: 64, 1>, padding = dense<[[0, 63], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) : (tensor<130x3xi32>, tensor<i32>) -> tensor<130x3xi32>
    %r10 = "stablehlo.reduce_window"(%d, %od) <{window_dimensions = array<i64: 50>, padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_strides = array<i64: 3>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.multiply %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) : (tensor<100xf64>, tensor<f64>) -> tensor<18xf64>
    %r11 = "stablehlo.reduce_window"(%d, %od) <{window_dimensions = array<i64: 30>, padding = dense<[[29, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) : (tensor<100xf64>, tensor<f64>) -> tensor<100xf64>
    %r12:2 = "stablehlo.reduce_window"(%x, %k, %z, %zi) <{window_dimensions = array<i64: 1, 18>}> ({
    ^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
      %g = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %e = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %l = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %t = stablehlo.and %e, %l : tensor<i1>
      %n = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %y = stablehlo.or %g, %t : tensor<i1>
      %z = stablehlo.or %y, %n : tensor<i1>
      %v = stablehlo.select %z, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %z, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }) : (tensor<3x200xf32>, tensor<3x200xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x183xf32>, tensor<3x183xi32>)
    %r13 = "stablehlo.reduce_window"(%d, %zd) <{window_dimensions = array<i64: 20>, padding = dense<[[60, 45]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) : (tensor<100xf64>, tensor<f64>) -> tensor<186xf64>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r10, %r11, %r12#0, %r12#1, %r13 : tensor<3x200xf32>, tensor<3x67xf32>, tensor<3x145xf32>, tensor<3x372xf32>, tensor<60x50xf32>, tensor<27x42xf32>, tensor<90xbf16>, tensor<130x3xi32>, tensor<18xf64>, tensor<100xf64>, tensor<3x183xf32>, tensor<3x183xi32>, tensor<186xf64>
  }
}
