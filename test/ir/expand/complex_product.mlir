// A large product of complex matrices is four of their parts; a small one stays.
// run: lazuli opt --passes=expand %s
// check: stablehlo.dot_general %{{[0-9]+}}, %{{[0-9]+}}, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x8xf32>) -> tensor<32x8xf32>
// check-next: stablehlo.dot_general
// check-next: stablehlo.dot_general
// check-next: stablehlo.dot_general
// check: stablehlo.complex
// check: stablehlo.dot_general %arg2, %arg2
module {
  func.func public @main(%a: tensor<32x16xcomplex<f32>>, %b: tensor<16x8xcomplex<f32>>, %c: tensor<4x4xcomplex<f64>>) -> (tensor<32x8xcomplex<f32>>, tensor<4x4xcomplex<f64>>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<32x16xcomplex<f32>>, tensor<16x8xcomplex<f32>>) -> tensor<32x8xcomplex<f32>>
    %1 = stablehlo.dot_general %c, %c, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    return %0, %1 : tensor<32x8xcomplex<f32>>, tensor<4x4xcomplex<f64>>
  }
}
