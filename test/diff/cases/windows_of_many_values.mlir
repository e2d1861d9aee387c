// Windows of more values than one loop reduces: each is made of a few of them. Padding and holes are no elements, initial values
// are any.
func.func @main(%x0: tensor<2x9xf32>, %x1: tensor<2x9xf32>, %x2: tensor<2x9xf32>, %x3: tensor<2x9xf32>, %x4: tensor<2x9xf32>, %x5: tensor<2x9xf32>, %x6: tensor<2x9xf32>, %x7: tensor<2x9xf32>, %x8: tensor<2x9xf32>, %x9: tensor<2x9xf32>, %i0: tensor<f32>, %i1: tensor<f32>, %i2: tensor<f32>, %i3: tensor<f32>, %i4: tensor<f32>, %i5: tensor<f32>, %i6: tensor<f32>, %i7: tensor<f32>, %i8: tensor<f32>, %i9: tensor<f32>) -> (tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>) {
  %0:10 = "stablehlo.reduce_window"(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %i0, %i1, %i2, %i3, %i4, %i5, %i6, %i7, %i8, %i9) <{base_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [3, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>, %a2: tensor<f32>, %a3: tensor<f32>, %a4: tensor<f32>, %a5: tensor<f32>, %a6: tensor<f32>, %a7: tensor<f32>, %a8: tensor<f32>, %a9: tensor<f32>, %b0: tensor<f32>, %b1: tensor<f32>, %b2: tensor<f32>, %b3: tensor<f32>, %b4: tensor<f32>, %b5: tensor<f32>, %b6: tensor<f32>, %b7: tensor<f32>, %b8: tensor<f32>, %b9: tensor<f32>):
    %g0 = stablehlo.compare GE, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r0 = stablehlo.select %g0, %a0, %b0 : tensor<i1>, tensor<f32>
    %r1 = stablehlo.select %g0, %a1, %b1 : tensor<i1>, tensor<f32>
    %g2 = stablehlo.compare GE, %a2, %b2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r2 = stablehlo.select %g2, %a2, %b2 : tensor<i1>, tensor<f32>
    %r3 = stablehlo.select %g2, %a3, %b3 : tensor<i1>, tensor<f32>
    %g4 = stablehlo.compare GE, %a4, %b4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r4 = stablehlo.select %g4, %a4, %b4 : tensor<i1>, tensor<f32>
    %r5 = stablehlo.select %g4, %a5, %b5 : tensor<i1>, tensor<f32>
    %g6 = stablehlo.compare GE, %a6, %b6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r6 = stablehlo.select %g6, %a6, %b6 : tensor<i1>, tensor<f32>
    %r7 = stablehlo.select %g6, %a7, %b7 : tensor<i1>, tensor<f32>
    %r8 = stablehlo.add %a8, %b8 : tensor<f32>
    %r9 = stablehlo.subtract %a9, %b9 : tensor<f32>
    stablehlo.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }) : (tensor<2x9xf32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9 : tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>
}
