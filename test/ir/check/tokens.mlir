// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: tokens: 3 checks

// One device does everything in the order in which it is written: tokens say nothing.
func.func private @next(%x: tensor<2xi32>, %t: !stablehlo.token) -> (!stablehlo.token, tensor<2xi32>) {
  %0 = stablehlo.negate %x : tensor<2xi32>
  %1 = stablehlo.after_all %t, %t : !stablehlo.token
  return %1, %0 : !stablehlo.token, tensor<2xi32>
}

func.func @tokens() {
  %a = stablehlo.constant dense<[1, -2]> : tensor<2xi32>
  %t0 = stablehlo.after_all : !stablehlo.token
  %t1 = stablehlo.create_token : !stablehlo.token
  %t2 = "stablehlo.after_all"(%t0, %t1) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  %t3 = "stablehlo.create_token"() : () -> !stablehlo.token
  check.expect_eq %t2, %t3 : !stablehlo.token
  %0:2 = call @next(%a, %t2) : (tensor<2xi32>, !stablehlo.token) -> (!stablehlo.token, tensor<2xi32>)
  %1, %2 = func.call @next(%0#1, %0#0) : (tensor<2xi32>, !stablehlo.token) -> (!stablehlo.token, tensor<2xi32>)
  check.expect_eq_const %0#1, dense<[-1, 2]> : tensor<2xi32>
  check.expect_eq %2, %a : tensor<2xi32>
  %3 = stablehlo.tuple %1, %2 : tuple<!stablehlo.token, tensor<2xi32>>
  %4 = stablehlo.get_tuple_element %3[1] : (tuple<!stablehlo.token, tensor<2xi32>>) -> tensor<2xi32>
  check.expect_eq %4, %a : tensor<2xi32>
  func.return
}
