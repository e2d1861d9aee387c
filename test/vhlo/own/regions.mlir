// versions: 0.9.0 1.13.0
// regions that use values from around them, of one operation and of others next to it, and tuples
module @regions {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<i32>, %arg2: tensor<i1>) -> (tensor<4xf32>, tensor<i32>, tensor<4xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.while(%a = %arg0, %b = %c) : tensor<4xf32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %b, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %s = stablehlo.add %a, %arg0 : tensor<4xf32>
      %t:2 = "stablehlo.if"(%arg2) ({
        stablehlo.return %s, %b : tensor<4xf32>, tensor<i32>
      }, {
        %u = stablehlo.negate %s : tensor<4xf32>
        stablehlo.return %u, %c : tensor<4xf32>, tensor<i32>
      }) : (tensor<i1>) -> (tensor<4xf32>, tensor<i32>)
      %n = stablehlo.add %t#1, %c : tensor<i32>
      stablehlo.return %t#0, %n : tensor<4xf32>, tensor<i32>
    }
    %1 = "stablehlo.case"(%0#1) ({
      stablehlo.return %0#0 : tensor<4xf32>
    }, {
      %s = stablehlo.abs %0#0 : tensor<4xf32>
      stablehlo.return %s : tensor<4xf32>
    }, {
      stablehlo.return %arg0 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %2 = stablehlo.tuple %1, %0#1 : tuple<tensor<4xf32>, tensor<i32>>
    %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
    %4 = stablehlo.optimization_barrier %3 : tensor<4xf32>
    return %1, %0#1, %4 : tensor<4xf32>, tensor<i32>, tensor<4xf32>
  }
}
