// Sums scattered into 16-bit floats are added up in f32.
// run: lazuli opt --passes=expand %s
// check: stablehlo.convert %arg0 : (tensor<5xbf16>) -> tensor<5xf32>
// check: "stablehlo.scatter"
// check: stablehlo.add %{{.*}} : tensor<f32>
// check: stablehlo.convert %{{.*}} : (tensor<5xf32>) -> tensor<5xbf16>
module {
  func.func public @main(%x: tensor<5xbf16>, %i: tensor<7x1xi32>, %u: tensor<7xbf16>) -> tensor<5xbf16> {
    %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %s = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }) : (tensor<5xbf16>, tensor<7x1xi32>, tensor<7xbf16>) -> tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
}
