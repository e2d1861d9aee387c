// Sorts of whose results slices of the first positions alone are read store those, in one kernel; any other reader wants whole rows.
// run: lazuli opt --emit=loops %s
// check: outer [64
// check-next: stage 0 inner [1024
// check: sort partial %0, %2 {
// check: stage 1 inner [3] {
// check: store 1[0 + 3@{{[0-9]+}} i0 + 1 i1] = %0
// check-next: store 2[0 + 3@{{[0-9]+}} i0 + 1 i1] = %1
// check: sort partial %0 {
// check: stage 1 inner [9
// check: sort %0 {
// check: kernel "slice"
// check: sort %0, %0 {
// check: kernel "slice"
// check: sort %0, %0 {
// check: kernel "slice"
module @partial_sorts {
  func.func public @main(%x: tensor<64x1024xf32>, %a: tensor<90x33xi32>, %b: tensor<91xi32>, %c: tensor<92xi32>, %d: tensor<93xi32>) -> (tensor<64x3xf32>, tensor<64x3xi32>, tensor<9x33xi32>, tensor<5xi32>, tensor<7xi32>, tensor<92xi32>, tensor<7xi32>, tensor<8xi32>) {
    %v, %i = chlo.top_k(%x, k = 3) : tensor<64x1024xf32> -> (tensor<64x3xf32>, tensor<64x3xi32>)
    %s0 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      %p = stablehlo.compare LT, %l, %r, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<90x33xi32>) -> tensor<90x33xi32>
    %0 = stablehlo.slice %s0 [0:9, 0:33] : (tensor<90x33xi32>) -> tensor<9x33xi32>
    %s1 = "stablehlo.sort"(%b) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      %p = stablehlo.compare LT, %l, %r, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<91xi32>) -> tensor<91xi32>
    %1 = stablehlo.slice %s1 [1:6] : (tensor<91xi32>) -> tensor<5xi32>
    %s2:2 = "stablehlo.sort"(%c, %c) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>, %m: tensor<i32>, %n: tensor<i32>):
      %p = stablehlo.compare LT, %l, %r, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<92xi32>, tensor<92xi32>) -> (tensor<92xi32>, tensor<92xi32>)
    %2 = stablehlo.slice %s2#0 [0:7] : (tensor<92xi32>) -> tensor<7xi32>
    %s3:2 = "stablehlo.sort"(%d, %d) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>, %m: tensor<i32>, %n: tensor<i32>):
      %p = stablehlo.compare GT, %l, %r, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<93xi32>, tensor<93xi32>) -> (tensor<93xi32>, tensor<93xi32>)
    %3 = stablehlo.slice %s3#0 [0:7] : (tensor<93xi32>) -> tensor<7xi32>
    %4 = stablehlo.slice %s3#1 [0:8] : (tensor<93xi32>) -> tensor<8xi32>
    return %v, %i, %0, %1, %2, %s2#1, %3, %4 : tensor<64x3xf32>, tensor<64x3xi32>, tensor<9x33xi32>, tensor<5xi32>, tensor<7xi32>, tensor<92xi32>, tensor<7xi32>, tensor<8xi32>
  }
}
