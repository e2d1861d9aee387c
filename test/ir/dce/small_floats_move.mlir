// Floats that are only stored are chosen, moved and carried as they are: nothing of it is read in f32.
// run: lazuli opt --passes=dce %s
// check: stablehlo.select
// check: tensor<8xf8E4M3B11FNUZ>
// check-not: stablehlo.convert
// check: "stablehlo.if"
module {
  func.func public @main(%p: tensor<i1>, %m: tensor<8xi1>, %x: tensor<8xf8E4M3B11FNUZ>, %y: tensor<8xf8E4M3B11FNUZ>) -> (tensor<8xf8E4M3B11FNUZ>, tensor<8xf8E4M3B11FNUZ>, tensor<8xf8E4M3B11FNUZ>) {
    %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<8xf8E4M3B11FNUZ>
    %1 = stablehlo.select %m, %x, %y : tensor<8xi1>, tensor<8xf8E4M3B11FNUZ>
    %2 = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<8xf8E4M3B11FNUZ>
    }, {
      %r = stablehlo.reverse %y, dims = [0] : tensor<8xf8E4M3B11FNUZ>
      stablehlo.return %r : tensor<8xf8E4M3B11FNUZ>
    }) : (tensor<i1>) -> tensor<8xf8E4M3B11FNUZ>
    return %0, %1, %2 : tensor<8xf8E4M3B11FNUZ>, tensor<8xf8E4M3B11FNUZ>, tensor<8xf8E4M3B11FNUZ>
  }
}
