// A part of a number made of parts is that part; a number made of the parts of one is that one.
// run: lazuli opt --passes=simplify %s
// check: stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f32>>
// check-not: stablehlo
// check: return %arg1, %arg0, %arg2, %0
module {
  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %z: tensor<4xcomplex<f32>>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) {
    %0 = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
    %1 = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %2 = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %3 = stablehlo.real %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %4 = stablehlo.imag %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %5 = stablehlo.complex %3, %4 : tensor<4xcomplex<f32>>
    %6 = stablehlo.real %2 : tensor<4xf32>
    return %1, %6, %5, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
  }
}
