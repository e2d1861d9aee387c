// Rows that are put together of several dimensions: the loops of the sort split, and their order is the order of the row. The sign of a NaN that is
// computed is anybody's, and total order goes by it: all are made the same one first.
module @sort_through_reshape {
  func.func public @main(%arg0: tensor<5x6x7xf32>) -> (tensor<5x6x7xf32>, tensor<5x42xf32>, tensor<35x6xi32>, tensor<210xf32>, tensor<5x42xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<5x6x7xf32>
    %x = stablehlo.exponential %0 : tensor<5x6x7xf32>
    %nan = stablehlo.constant dense<0x7FC00000> : tensor<5x6x7xf32>
    %is = stablehlo.compare EQ, %x, %x : (tensor<5x6x7xf32>, tensor<5x6x7xf32>) -> tensor<5x6x7xi1>
    %1 = stablehlo.select %is, %x, %nan : tensor<5x6x7xi1>, tensor<5x6x7xf32>
    %2 = stablehlo.reshape %1 : (tensor<5x6x7xf32>) -> tensor<5x42xf32>
    %3 = "stablehlo.sort"(%2) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<5x42xf32>) -> tensor<5x42xf32>
    %4 = stablehlo.transpose %1, dims = [0, 2, 1] : (tensor<5x6x7xf32>) -> tensor<5x7x6xf32>
    %5 = stablehlo.reshape %4 : (tensor<5x7x6xf32>) -> tensor<35x6xf32>
    %6 = stablehlo.iota dim = 1 : tensor<35x6xi32>
    %7:2 = "stablehlo.sort"(%5, %6) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %c = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<35x6xf32>, tensor<35x6xi32>) -> (tensor<35x6xf32>, tensor<35x6xi32>)
    %8 = stablehlo.reshape %4 : (tensor<5x7x6xf32>) -> tensor<210xf32>
    %9 = "stablehlo.sort"(%8) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare GT, %b, %a, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<210xf32>) -> tensor<210xf32>
    %10 = stablehlo.reverse %3, dims = [1] : tensor<5x42xf32>
    return %1, %3, %7#1, %9, %10 : tensor<5x6x7xf32>, tensor<5x42xf32>, tensor<35x6xi32>, tensor<210xf32>, tensor<5x42xf32>
  }
}
