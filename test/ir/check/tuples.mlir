// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: tuples: 9 checks
// check: aliases: 3 checks

!row = tensor<2xf32>
!same = !row
!pair = tuple<!row, !same>
!nested = tuple<!pair, tensor<i32>, !pair>

func.func private @swap(%t: tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<3xi64>>>, %x: tensor<i32>) -> (tuple<tuple<tensor<i32>, tensor<3xi64>>, tensor<2xf32>>, tensor<i32>) {
  %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<3xi64>>>) -> tensor<2xf32>
  %b = "stablehlo.get_tuple_element"(%t) <{index = 1 : i32}> : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<3xi64>>>) -> tuple<tensor<i32>, tensor<3xi64>>
  %c = "stablehlo.get_tuple_element"(%b) {index = 0 : i32} : (tuple<tensor<i32>, tensor<3xi64>>) -> tensor<i32>
  %s = stablehlo.add %c, %x : tensor<i32>
  %r = stablehlo.tuple %b, %a : tuple<tuple<tensor<i32>, tensor<3xi64>>, tensor<2xf32>>
  return %r, %s : tuple<tuple<tensor<i32>, tensor<3xi64>>, tensor<2xf32>>, tensor<i32>
}

func.func private @give() -> tuple<tensor<f32>> {
  %c = stablehlo.constant dense<2.5> : tensor<f32>
  %t = "stablehlo.tuple"(%c) : (tensor<f32>) -> tuple<tensor<f32>>
  "func.return"(%t) : (tuple<tensor<f32>>) -> ()
}

func.func @tuples() {
  %x = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %i = stablehlo.constant dense<7> : tensor<i32>
  %l = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi64>
  %in = "stablehlo.tuple"(%i, %l) : (tensor<i32>, tensor<3xi64>) -> tuple<tensor<i32>, tensor<3xi64>>
  %t = stablehlo.tuple %x, %in : tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<3xi64>>>
  %r:2 = call @swap(%t, %i) : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<3xi64>>>, tensor<i32>) -> (tuple<tuple<tensor<i32>, tensor<3xi64>>, tensor<2xf32>>, tensor<i32>)
  check.expect_eq_const %r#1, dense<14> : tensor<i32>
  %first = stablehlo.get_tuple_element %r#0[0] : (tuple<tuple<tensor<i32>, tensor<3xi64>>, tensor<2xf32>>) -> tuple<tensor<i32>, tensor<3xi64>>
  %second = stablehlo.get_tuple_element %r#0[1] : (tuple<tuple<tensor<i32>, tensor<3xi64>>, tensor<2xf32>>) -> tensor<2xf32>
  check.expect_eq_const %second, dense<[1.5, -2.0]> : tensor<2xf32>
  %i2 = stablehlo.get_tuple_element %first[0] : (tuple<tensor<i32>, tensor<3xi64>>) -> tensor<i32>
  %l2 = stablehlo.get_tuple_element %first[1] : (tuple<tensor<i32>, tensor<3xi64>>) -> tensor<3xi64>
  check.expect_eq_const %i2, dense<7> : tensor<i32>
  check.expect_eq_const %l2, dense<[1, 2, 3]> : tensor<3xi64>
  %one = "func.call"() <{callee = @give}> : () -> tuple<tensor<f32>>
  %f = stablehlo.get_tuple_element %one[0] : (tuple<tensor<f32>>) -> tensor<f32>
  check.expect_eq_const %f, dense<2.5> : tensor<f32>
  %none = "stablehlo.tuple"() : () -> tuple<>
  %pair = stablehlo.tuple %none, %f, %none : tuple<tuple<>, tensor<f32>, tuple<>>
  %g = stablehlo.get_tuple_element %pair[1] : (tuple<tuple<>, tensor<f32>, tuple<>>) -> tensor<f32>
  check.expect_eq_const %g, dense<2.5> : tensor<f32>
  // a loop and branches use what is in a tuple around them
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %sum = stablehlo.while(%n = %zero) : tensor<i32>
  cond {
    %go = stablehlo.compare LT, %n, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %k = stablehlo.get_tuple_element %first[0] : (tuple<tensor<i32>, tensor<3xi64>>) -> tensor<i32>
    %m = stablehlo.add %n, %k : tensor<i32>
    stablehlo.return %m : tensor<i32>
  }
  check.expect_eq_const %sum, dense<7> : tensor<i32>
  %yes = stablehlo.compare EQ, %sum, %i2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %b = "stablehlo.if"(%yes) ({
    %v = stablehlo.get_tuple_element %r#0[1] : (tuple<tuple<tensor<i32>, tensor<3xi64>>, tensor<2xf32>>) -> tensor<2xf32>
    stablehlo.return %v : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  check.expect_eq_const %b, dense<[1.5, -2.0]> : tensor<2xf32>
  check.expect_eq_const %x, dense<[1.5, -2.0]> : tensor<2xf32>
  func.return
}

// aliases in tuples, of tuples, and of one another
func.func private @aliased(%t: !nested) -> tuple<!pair, !row> {
  %p = stablehlo.get_tuple_element %t[2] : (!nested) -> !pair
  %r = stablehlo.get_tuple_element %p[1] : (tuple<tensor<2xf32>, !row>) -> !same
  %o = stablehlo.tuple %p, %r : tuple<!pair, !row>
  return %o : tuple<tuple<!row, tensor<2xf32>>, !same>
}

func.func @aliases() {
  %a = stablehlo.constant dense<[1.5, -2.0]> : !row
  %b = stablehlo.constant dense<[3.0, 4.0]> : !same
  %i = stablehlo.constant dense<7> : tensor<i32>
  %p = stablehlo.tuple %a, %b : !pair
  %q = stablehlo.tuple %b, %a : tuple<!same, tensor<2xf32>>
  %t = stablehlo.tuple %p, %i, %q : tuple<!pair, tensor<i32>, !pair>
  %o = call @aliased(%t) : (!nested) -> tuple<!pair, !row>
  %first = stablehlo.get_tuple_element %o[0] : (tuple<!pair, !row>) -> !pair
  %x = stablehlo.get_tuple_element %first[0] : (!pair) -> !row
  %y = stablehlo.get_tuple_element %first[1] : (!pair) -> !row
  %z = stablehlo.get_tuple_element %o[1] : (tuple<!pair, !row>) -> !row
  check.expect_eq_const %x, dense<[3.0, 4.0]> : !row
  check.expect_eq_const %y, dense<[1.5, -2.0]> : !row
  check.expect_eq_const %z, dense<[1.5, -2.0]> : tensor<2xf32>
  func.return
}
