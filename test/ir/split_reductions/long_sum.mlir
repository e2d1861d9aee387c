// A long sum in two levels; the rest of the last row is filled up with zeros. Sums of 16-bit floats stay in f32.
// run: lazuli opt --passes=split_reductions %s
// check: stablehlo.convert %arg0 : (tensor<20000xbf16>) -> tensor<20000xf32>
// check-next: stablehlo.pad %{{.*}}, low = [0], high = [480], interior = [0]
// check-next: stablehlo.reshape %{{.*}} : (tensor<20480xf32>) -> tensor<10x2048xf32>
// check-next: stablehlo.reduce(%{{.*}}) applies stablehlo.add across dimensions = [1]
// check-next: stablehlo.reduce(%{{.*}}) applies stablehlo.add across dimensions = [0]
// check-next: stablehlo.convert %{{.*}} : (tensor<f32>) -> tensor<bf16>
module {
  func.func public @main(%x: tensor<20000xbf16>) -> tensor<bf16> {
    %z = stablehlo.constant dense<0.0> : tensor<bf16>
    %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<20000xbf16>, tensor<bf16>) -> tensor<bf16>
    return %0 : tensor<bf16>
  }
}
