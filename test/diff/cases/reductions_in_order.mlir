// Reductions whose regions do not commute, or do not associate: elements are taken in order.
module @reductions_in_order {
  func.func public @main(%x: tensor<5x300xf32>, %y: tensor<5x300xf32>, %k: tensor<5x300xi32>, %c: tensor<4x3x7x9xf32>) -> (tensor<5xi32>, tensor<5xi32>, tensor<5xf32>, tensor<5xi32>, tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<300xf32>, tensor<3x9xf32>, tensor<3x9xf32>, tensor<5xf32>, tensor<5xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %o = stablehlo.constant dense<1.0> : tensor<f32>
    %ni = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %pi = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %zi = stablehlo.constant dense<0> : tensor<i32>
    %i = stablehlo.iota dim = 1 : tensor<5x300xi32>
    // the first of the largest and of the smallest as JAX writes it: NaN is largest, and smallest
    %r0:2 = stablehlo.reduce(%x init: %ni), (%i init: %zi) across dimensions = [1] : (tensor<5x300xf32>, tensor<5x300xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%ai: tensor<i32>, %bi: tensor<i32>) {
      %0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.compare LT, %ai, %bi, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
      %8 = stablehlo.select %6, %ai, %bi : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
    }
    %r1:2 = stablehlo.reduce(%x init: %pi), (%i init: %zi) across dimensions = [1] : (tensor<5x300xf32>, tensor<5x300xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%ai: tensor<i32>, %bi: tensor<i32>) {
      %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.compare LT, %ai, %bi, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
      %8 = stablehlo.select %6, %ai, %bi : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
    }
    // the value is wanted too, with the sign of its zero, and the indices are any
    %r2:2 = stablehlo.reduce(%x init: %ni), (%k init: %zi) across dimensions = [1] : (tensor<5x300xf32>, tensor<5x300xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%ai: tensor<i32>, %bi: tensor<i32>) {
      %0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
      %8 = stablehlo.select %2, %ai, %bi : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
    }
    // compositions of x -> a x + b
    %r3:2 = stablehlo.reduce(%x init: %o), (%y init: %z) across dimensions = [1] : (tensor<5x300xf32>, tensor<5x300xf32>, tensor<f32>, tensor<f32>) -> (tensor<5xf32>, tensor<5xf32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c0: tensor<f32>, %d: tensor<f32>) {
      %0 = stablehlo.multiply %a, %b : tensor<f32>
      %1 = stablehlo.multiply %c0, %b : tensor<f32>
      %2 = stablehlo.add %1, %d : tensor<f32>
      stablehlo.return %0, %2 : tensor<f32>, tensor<f32>
    }
    // the last number, then one that associates with numbers alone: a NaN gives way to what follows
    %r4 = stablehlo.reduce(%k init: %zi) across dimensions = [1] : (tensor<5x300xi32>, tensor<i32>) -> tensor<5xi32>
     reducer(%a: tensor<i32>, %b: tensor<i32>) {
      stablehlo.return %b : tensor<i32>
    }
    %r5 = stablehlo.reduce(%x init: %ni) across dimensions = [0] : (tensor<5x300xf32>, tensor<f32>) -> tensor<300xf32>
     reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.select %0, %a, %b : tensor<i1>, tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
    // over two dimensions that are not neighbours
    %r6:2 = stablehlo.reduce(%c init: %ni), (%c init: %z) across dimensions = [0, 2] : (tensor<4x3x7x9xf32>, tensor<4x3x7x9xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x9xf32>, tensor<3x9xf32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c0: tensor<f32>, %d: tensor<f32>) {
      %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.select %0, %a, %b : tensor<i1>, tensor<f32>
      %2 = stablehlo.select %0, %c0, %d : tensor<i1>, tensor<f32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
    }
    // one that does not associate, over many elements
    %r7:2 = stablehlo.reduce(%x init: %z), (%y init: %o) across dimensions = [1] : (tensor<5x300xf32>, tensor<5x300xf32>, tensor<f32>, tensor<f32>) -> (tensor<5xf32>, tensor<5xf32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c0: tensor<f32>, %d: tensor<f32>) {
      %0 = stablehlo.compare LE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.select %0, %b, %a : tensor<i1>, tensor<f32>
      %2 = stablehlo.select %0, %c0, %d : tensor<i1>, tensor<f32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
    }
    return %r0#1, %r1#1, %r2#0, %r2#1, %r3#0, %r3#1, %r4, %r5, %r6#0, %r6#1, %r7#0, %r7#1 : tensor<5xi32>, tensor<5xi32>, tensor<5xf32>, tensor<5xi32>, tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<300xf32>, tensor<3x9xf32>, tensor<3x9xf32>, tensor<5xf32>, tensor<5xf32>
  }
}
