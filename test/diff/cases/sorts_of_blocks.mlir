// Rows that a block of a GPU sorts: lengths around powers of two, equal keys with something that tells them apart, keys of two columns.
func.func @main(%x0: tensor<3x64xi8>, %x1: tensor<2x65xf32>, %x2: tensor<2x127xi8>, %x3: tensor<1x1000xi8>, %x4: tensor<1x2048xf32>, %x5: tensor<2x100xf64>, %x6: tensor<4x63xi8>, %x7: tensor<2x300xi8>, %y7: tensor<2x300xf32>, %x8: tensor<130x3xi16>) -> (tensor<3x64xi8>, tensor<3x64xi32>, tensor<2x65xf32>, tensor<2x65xi32>, tensor<2x127xi8>, tensor<2x127xi32>, tensor<1x1000xi8>, tensor<1x1000xi32>, tensor<1x2048xf32>, tensor<1x2048xi32>, tensor<2x100xf64>, tensor<2x100xi32>, tensor<4x63xi8>, tensor<4x63xi32>, tensor<2x300xi8>, tensor<2x300xf32>, tensor<130x3xi16>) {
    %three0 = stablehlo.constant dense<3> : tensor<3x64xi8>
    %k0 = stablehlo.and %x0, %three0 : tensor<3x64xi8>
    %i0 = stablehlo.iota dim = 1 : tensor<3x64xi32>
    %p0:2 = "stablehlo.sort"(%k0, %i0) ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<i32>, %d: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<3x64xi8>, tensor<3x64xi32>) -> (tensor<3x64xi8>, tensor<3x64xi32>)
    %i1 = stablehlo.iota dim = 1 : tensor<2x65xi32>
    %p1:2 = "stablehlo.sort"(%x1, %i1) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<2x65xf32>, tensor<2x65xi32>) -> (tensor<2x65xf32>, tensor<2x65xi32>)
    %three2 = stablehlo.constant dense<3> : tensor<2x127xi8>
    %k2 = stablehlo.and %x2, %three2 : tensor<2x127xi8>
    %i2 = stablehlo.iota dim = 1 : tensor<2x127xi32>
    %p2:2 = "stablehlo.sort"(%k2, %i2) ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<i32>, %d: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<2x127xi8>, tensor<2x127xi32>) -> (tensor<2x127xi8>, tensor<2x127xi32>)
    %three3 = stablehlo.constant dense<3> : tensor<1x1000xi8>
    %k3 = stablehlo.and %x3, %three3 : tensor<1x1000xi8>
    %i3 = stablehlo.iota dim = 1 : tensor<1x1000xi32>
    %p3:2 = "stablehlo.sort"(%k3, %i3) ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<i32>, %d: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<1x1000xi8>, tensor<1x1000xi32>) -> (tensor<1x1000xi8>, tensor<1x1000xi32>)
    %i4 = stablehlo.iota dim = 1 : tensor<1x2048xi32>
    %p4:2 = "stablehlo.sort"(%x4, %i4) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<1x2048xf32>, tensor<1x2048xi32>) -> (tensor<1x2048xf32>, tensor<1x2048xi32>)
    %i5 = stablehlo.iota dim = 1 : tensor<2x100xi32>
    %p5:2 = "stablehlo.sort"(%x5, %i5) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<i32>, %d: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<2x100xf64>, tensor<2x100xi32>) -> (tensor<2x100xf64>, tensor<2x100xi32>)
    %three6 = stablehlo.constant dense<3> : tensor<4x63xi8>
    %k6 = stablehlo.and %x6, %three6 : tensor<4x63xi8>
    %i6 = stablehlo.iota dim = 1 : tensor<4x63xi32>
    %p6:2 = "stablehlo.sort"(%k6, %i6) ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<i32>, %d: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<4x63xi8>, tensor<4x63xi32>) -> (tensor<4x63xi8>, tensor<4x63xi32>)
    %two = stablehlo.constant dense<1> : tensor<2x300xi8>
    %k7 = stablehlo.and %x7, %two : tensor<2x300xi8>
    %p7:2 = "stablehlo.sort"(%k7, %y7) ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<f32>, %d: tensor<f32>):
      %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %e = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %m = stablehlo.compare GT, %c, %d, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %n = stablehlo.and %e, %m : tensor<i1>
      %o = stablehlo.or %l, %n : tensor<i1>
      stablehlo.return %o : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<2x300xi8>, tensor<2x300xf32>) -> (tensor<2x300xi8>, tensor<2x300xf32>)
    %p8 = "stablehlo.sort"(%x8) ({
    ^bb0(%a: tensor<i16>, %b: tensor<i16>):
      %l = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i16>, tensor<i16>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 0 : i64, is_stable = true} : (tensor<130x3xi16>) -> tensor<130x3xi16>
    return %p0#0, %p0#1, %p1#0, %p1#1, %p2#0, %p2#1, %p3#0, %p3#1, %p4#0, %p4#1, %p5#0, %p5#1, %p6#0, %p6#1, %p7#0, %p7#1, %p8 : tensor<3x64xi8>, tensor<3x64xi32>, tensor<2x65xf32>, tensor<2x65xi32>, tensor<2x127xi8>, tensor<2x127xi32>, tensor<1x1000xi8>, tensor<1x1000xi32>, tensor<1x2048xf32>, tensor<1x2048xi32>, tensor<2x100xf64>, tensor<2x100xi32>, tensor<4x63xi8>, tensor<4x63xi32>, tensor<2x300xi8>, tensor<2x300xf32>, tensor<130x3xi16>
}
