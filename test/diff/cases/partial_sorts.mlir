// The first positions of rows: few and most of them, of long and short rows, of rows along other dimensions and put together of several, keys of two
// columns, other columns that are read alone, results that are read again, rows of equal keys.
func.func @main(%x0: tensor<3x700xf32>, %x1: tensor<5x31xbf16>, %x2: tensor<2x300xi8>, %x3: tensor<70x6xf64>, %x4: tensor<4x5x40xi32>, %x5: tensor<2x500xi64>, %x6: tensor<3x90xf32>, %x7: tensor<1000xui16>) -> (tensor<3x50xf32>, tensor<3x50xi32>, tensor<5x1xbf16>, tensor<5x1xi32>, tensor<2x290xi8>, tensor<9x6xf64>, tensor<4x23xi32>, tensor<4x23xi32>, tensor<2x40xi32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x7xf32>, tensor<33xui16>, tensor<33xi32>) {
    %v0, %i0 = chlo.top_k(%x0, k = 50) : tensor<3x700xf32> -> (tensor<3x50xf32>, tensor<3x50xi32>)
    %v1, %i1 = chlo.top_k(%x1, k = 1) : tensor<5x31xbf16> -> (tensor<5x1xbf16>, tensor<5x1xi32>)
    %s2 = "stablehlo.sort"(%x2) ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>):
      %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<2x300xi8>) -> tensor<2x300xi8>
    %r2 = stablehlo.slice %s2 [0:2, 0:290] : (tensor<2x300xi8>) -> tensor<2x290xi8>
    %f3 = stablehlo.convert %x3 : (tensor<70x6xf64>) -> tensor<70x6xi32>
    %k3 = stablehlo.convert %f3 : (tensor<70x6xi32>) -> tensor<70x6xf64>
    %s3 = "stablehlo.sort"(%k3) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %l = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 0 : i64, is_stable = true} : (tensor<70x6xf64>) -> tensor<70x6xf64>
    %r3 = stablehlo.slice %s3 [0:9, 0:6] : (tensor<70x6xf64>) -> tensor<9x6xf64>
    %three = stablehlo.constant dense<3> : tensor<4x5x40xi32>
    %t4 = stablehlo.and %x4, %three : tensor<4x5x40xi32>
    %y4 = stablehlo.transpose %t4, dims = [0, 2, 1] : (tensor<4x5x40xi32>) -> tensor<4x40x5xi32>
    %z4 = stablehlo.reshape %y4 : (tensor<4x40x5xi32>) -> tensor<4x200xi32>
    %j4 = stablehlo.iota dim = 1 : tensor<4x200xi32>
    %s4:2 = "stablehlo.sort"(%z4, %j4) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<4x200xi32>, tensor<4x200xi32>) -> (tensor<4x200xi32>, tensor<4x200xi32>)
    %r4 = stablehlo.slice %s4#0 [0:4, 0:23] : (tensor<4x200xi32>) -> tensor<4x23xi32>
    %q4 = stablehlo.slice %s4#1 [0:4, 0:23] : (tensor<4x200xi32>) -> tensor<4x23xi32>
    %j5 = stablehlo.iota dim = 1 : tensor<2x500xi32>
    %s5:2 = "stablehlo.sort"(%x5, %j5) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i32>, %d: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<2x500xi64>, tensor<2x500xi32>) -> (tensor<2x500xi64>, tensor<2x500xi32>)
    %r5 = stablehlo.slice %s5#1 [0:2, 0:40] : (tensor<2x500xi32>) -> tensor<2x40xi32>
    %j6 = stablehlo.iota dim = 1 : tensor<3x90xi32>
    %k6 = stablehlo.convert %x6 : (tensor<3x90xf32>) -> tensor<3x90xi32>
    %s6:3 = "stablehlo.sort"(%k6, %x6, %j6) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>, %e: tensor<i32>, %f: tensor<i32>):
      %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %m = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %n = stablehlo.compare GT, %e, %f, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %o = stablehlo.and %m, %n : tensor<i1>
      %p = stablehlo.or %l, %o : tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<3x90xi32>, tensor<3x90xf32>, tensor<3x90xi32>) -> (tensor<3x90xi32>, tensor<3x90xf32>, tensor<3x90xi32>)
    %r6 = stablehlo.slice %s6#1 [0:3, 0:20] : (tensor<3x90xf32>) -> tensor<3x20xf32>
    %q6 = stablehlo.slice %s6#2 [0:3, 0:20] : (tensor<3x90xi32>) -> tensor<3x20xi32>
    %h6 = stablehlo.slice %r6 [0:3, 2:9] : (tensor<3x20xf32>) -> tensor<3x7xf32>
    %u6 = stablehlo.add %h6, %h6 : tensor<3x7xf32>
    %zero = stablehlo.constant dense<0> : tensor<1000xui16>
    %e7 = stablehlo.and %x7, %zero : tensor<1000xui16>
    %v7, %i7 = chlo.top_k(%e7, k = 33) : tensor<1000xui16> -> (tensor<33xui16>, tensor<33xi32>)
    return %v0, %i0, %v1, %i1, %r2, %r3, %r4, %q4, %r5, %r6, %q6, %u6, %v7, %i7 : tensor<3x50xf32>, tensor<3x50xi32>, tensor<5x1xbf16>, tensor<5x1xi32>, tensor<2x290xi8>, tensor<9x6xf64>, tensor<4x23xi32>, tensor<4x23xi32>, tensor<2x40xi32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x7xf32>, tensor<33xui16>, tensor<33xi32>
}
