// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: tokens: 3 checks
// check: carried: 3 checks
// check: alone: 1 check

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

// Loops and branches carry them.
func.func @carried() {
  %a = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %t = stablehlo.create_token : !stablehlo.token
  %0:3 = stablehlo.while(%u = %t, %i = %a, %v = %t) : !stablehlo.token, tensor<i32>, !stablehlo.token
  cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %v, %j, %u : !stablehlo.token, tensor<i32>, !stablehlo.token
  }
  check.expect_eq_const %0#1, dense<3> : tensor<i32>
  %t1 = stablehlo.after_all %0#0, %0#2 : !stablehlo.token
  %1:2 = "stablehlo.while"(%0#0, %0#1) ({
  ^bb0(%u: !stablehlo.token, %i: tensor<i32>):
    %c = stablehlo.compare GT, %i, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%u: !stablehlo.token, %i: tensor<i32>):
    %j = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %u, %j : !stablehlo.token, tensor<i32>
  }) : (!stablehlo.token, tensor<i32>) -> (!stablehlo.token, tensor<i32>)
  check.expect_eq_const %1#1, dense<0> : tensor<i32>
  %2:2 = "stablehlo.case"(%1#1) ({
    stablehlo.return %1#0, %n : !stablehlo.token, tensor<i32>
  }, {
    stablehlo.return %1#0, %one : !stablehlo.token, tensor<i32>
  }) : (tensor<i32>) -> (!stablehlo.token, tensor<i32>)
  check.expect_eq_const %2#1, dense<3> : tensor<i32>
  func.return
}

// Where nothing else is carried.
func.func @alone() {
  %t = stablehlo.create_token : !stablehlo.token
  %no = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.while(%u = %t) : !stablehlo.token
  cond {
    stablehlo.return %no : tensor<i1>
  } do {
    stablehlo.return %u : !stablehlo.token
  }
  %1 = "stablehlo.while"(%0) ({
  ^bb0(%u: !stablehlo.token):
    stablehlo.return %no : tensor<i1>
  }, {
  ^bb0(%u: !stablehlo.token):
    stablehlo.return %u : !stablehlo.token
  }) : (!stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.if"(%no) ({
    stablehlo.return %1 : !stablehlo.token
  }, {
    stablehlo.return %0 : !stablehlo.token
  }) : (tensor<i1>) -> !stablehlo.token
  "stablehlo.if"(%no) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  check.expect_eq %2, %t : !stablehlo.token
  check.expect_eq_const %no, dense<false> : tensor<i1>
  func.return
}
