// A product whose result has the three channels of an image last: its columns are those of the other factor, which fill vectors.
// run: lazuli opt --emit=loops %s
// check: outer [20{{(@[0-9]+)?}}, 3{{(@[0-9]+)?}}, 384{{(@[0-9]+)?}}]
// check-next: dot %0 %1
// check: load 1 = 1[0{{(@[0-9]+)?}} + 1 i2 +
module @resized {
  func.func public @main(%x: tensor<20x224x3xf32>, %w: tensor<224x384xf32>) -> tensor<20x384x3xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<20x224x3xf32>, tensor<224x384xf32>) -> tensor<20x3x384xf32>
    %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<20x3x384xf32>) -> tensor<20x384x3xf32>
    return %1 : tensor<20x384x3xf32>
  }
}
