// A long sum of a product with few results, in parts; a shorter one, one whose length has no parts, and one with many results stay.
// run: lazuli opt --passes=pipeline --column-reductions %s
// check: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x784x64xf32>, tensor<8x784x32xf32>) -> tensor<8x64x32xf32>
// check: applies stablehlo.add across dimensions = [0] : (tensor<8x64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
// check: (tensor<1568x64xf32>, tensor<1568x32xf32>) -> tensor<64x32xf32>
// check: (tensor<6273x64xf32>, tensor<6273x32xf32>) -> tensor<64x32xf32>
// check: (tensor<6272x512xf32>, tensor<6272x256xf32>) -> tensor<512x256xf32>
module {
  func.func public @main(%a: tensor<6272x64xf32>, %b: tensor<6272x32xf32>, %c: tensor<1568x64xf32>, %d: tensor<1568x32xf32>, %e: tensor<6273x64xf32>, %f: tensor<6273x32xf32>, %g: tensor<6272x512xf32>, %h: tensor<6272x256xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<512x256xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<6272x64xf32>, tensor<6272x32xf32>) -> tensor<64x32xf32>
    %1 = stablehlo.dot_general %c, %d, contracting_dims = [0] x [0] : (tensor<1568x64xf32>, tensor<1568x32xf32>) -> tensor<64x32xf32>
    %2 = stablehlo.dot_general %e, %f, contracting_dims = [0] x [0] : (tensor<6273x64xf32>, tensor<6273x32xf32>) -> tensor<64x32xf32>
    %3 = stablehlo.dot_general %g, %h, contracting_dims = [0] x [0] : (tensor<6272x512xf32>, tensor<6272x256xf32>) -> tensor<512x256xf32>
    return %0, %1, %2, %3 : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<512x256xf32>
  }
}
