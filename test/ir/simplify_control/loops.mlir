// What the body gives back as it got it, and what nobody wants, is not carried.
// run: lazuli opt --passes=simplify_control %s
// check: stablehlo.while(%arg3 = %c, %arg4 = %arg0) : tensor<i32>, tensor<4xf32>
// check: stablehlo.add %arg4, %arg1
// check-not: multiply
// check: return %0#1, %arg1
module {
  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %d: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%i = %c, %x = %a, %y = %b, %z = %d) : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %n = stablehlo.constant dense<5> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %x1 = stablehlo.add %x, %y : tensor<4xf32>
      %z1 = stablehlo.multiply %z, %x : tensor<4xf32>
      stablehlo.return %j, %x1, %y, %z1 : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
    return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>
  }
}
