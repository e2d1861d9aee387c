// Quotients of f32 are the nearest numbers, bit for bit: of any two patterns of bits; of two numbers from 1 to 2; of products, which divide.
func.func @main() -> (tensor<65536xui32>, tensor<65536xui32>, tensor<65536xui32>) {
  %i = stablehlo.iota dim = 0 : tensor<65536xui32>
  %c1 = stablehlo.constant dense<2654435761> : tensor<65536xui32>
  %c2 = stablehlo.constant dense<2246822519> : tensor<65536xui32>
  %c3 = stablehlo.constant dense<3266489917> : tensor<65536xui32>
  %s = stablehlo.constant dense<15> : tensor<65536xui32>
  %x0 = stablehlo.multiply %i, %c1 : tensor<65536xui32>
  %x1 = stablehlo.shift_right_logical %x0, %s : tensor<65536xui32>
  %x2 = stablehlo.xor %x0, %x1 : tensor<65536xui32>
  %x = stablehlo.multiply %x2, %c2 : tensor<65536xui32>
  %y1 = stablehlo.shift_right_logical %x, %s : tensor<65536xui32>
  %y2 = stablehlo.xor %x, %y1 : tensor<65536xui32>
  %y = stablehlo.multiply %y2, %c3 : tensor<65536xui32>
  %a = stablehlo.bitcast_convert %x : (tensor<65536xui32>) -> tensor<65536xf32>
  %b = stablehlo.bitcast_convert %y : (tensor<65536xui32>) -> tensor<65536xf32>
  %q = stablehlo.divide %a, %b : tensor<65536xf32>
  %m = stablehlo.constant dense<8388607> : tensor<65536xui32>
  %o = stablehlo.constant dense<1065353216> : tensor<65536xui32>
  %xm = stablehlo.and %x, %m : tensor<65536xui32>
  %xo = stablehlo.or %xm, %o : tensor<65536xui32>
  %ym = stablehlo.and %y, %m : tensor<65536xui32>
  %yo = stablehlo.or %ym, %o : tensor<65536xui32>
  %a1 = stablehlo.bitcast_convert %xo : (tensor<65536xui32>) -> tensor<65536xf32>
  %b1 = stablehlo.bitcast_convert %yo : (tensor<65536xui32>) -> tensor<65536xf32>
  %q1 = stablehlo.divide %a1, %b1 : tensor<65536xf32>
  %f = stablehlo.convert %xm : (tensor<65536xui32>) -> tensor<65536xf32>
  %k = stablehlo.constant dense<1000> : tensor<65536xui32>
  %r = stablehlo.remainder %y, %k : tensor<65536xui32>
  %g = stablehlo.convert %r : (tensor<65536xui32>) -> tensor<65536xf32>
  %w = stablehlo.multiply %f, %g : tensor<65536xf32>
  %q2 = stablehlo.divide %w, %g : tensor<65536xf32>
  %zz = stablehlo.constant dense<0> : tensor<65536xui32>
  %eq = stablehlo.compare EQ, %q, %q : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xi1>
  %tq = stablehlo.bitcast_convert %q : (tensor<65536xf32>) -> tensor<65536xui32>
  %uq = stablehlo.select %eq, %tq, %zz : tensor<65536xi1>, tensor<65536xui32>
  %eq1 = stablehlo.compare EQ, %q1, %q1 : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xi1>
  %tq1 = stablehlo.bitcast_convert %q1 : (tensor<65536xf32>) -> tensor<65536xui32>
  %uq1 = stablehlo.select %eq1, %tq1, %zz : tensor<65536xi1>, tensor<65536xui32>
  %eq2 = stablehlo.compare EQ, %q2, %q2 : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xi1>
  %tq2 = stablehlo.bitcast_convert %q2 : (tensor<65536xf32>) -> tensor<65536xui32>
  %uq2 = stablehlo.select %eq2, %tq2, %zz : tensor<65536xi1>, tensor<65536xui32>
  return %uq, %uq1, %uq2 : tensor<65536xui32>, tensor<65536xui32>, tensor<65536xui32>
}
