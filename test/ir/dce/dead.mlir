// What the results do not need goes; parameters stay.
// run: lazuli opt --passes=dce %s
// check: @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>)
// check-next: stablehlo.add %arg0, %arg0
// check-next: return
module {
  func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %y : tensor<4xf32>
    %1 = stablehlo.add %x, %x : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
