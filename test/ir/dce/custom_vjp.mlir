// A rule for a gradient goes, and what only it needs: its results are its first operands.
// run: lazuli opt --passes=dce %s
// check: @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>)
// check-next: %0 = stablehlo.tanh %arg0
// check-next: %1 = stablehlo.add %0, %arg1
// check-next: return %1
module {
  func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %x : tensor<4xf32>
    %k = stablehlo.exponential %x : tensor<4xf32>
    %1:2 = "lazuli.custom_vjp"(%0, %y, %x, %k) <{name = "two", results = 2 : i64}> ({
    ^bb0(%g: tensor<4xf32>, %h: tensor<4xf32>, %r: tensor<4xf32>, %s: tensor<4xf32>, %kept: tensor<4xf32>):
      %2 = stablehlo.multiply %g, %kept : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %2 = stablehlo.add %1#0, %1#1 : tensor<4xf32>
    %3 = "lazuli.custom_vjp"(%2, %x) <{name = "one", results = 1 : i64}> ({
    ^bb0(%g: tensor<4xf32>, %r: tensor<4xf32>):
      stablehlo.return %g : tensor<4xf32>
    }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }
}
