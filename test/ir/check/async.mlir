// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: async: 4 checks
// check: sums: 2 checks
// check: order: 1 check

func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.add %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// what is started is there when it is done, whatever comes between
func.func @async() {
  %x = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %i = stablehlo.constant dense<7> : tensor<i32>
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = func.call @twice(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "stablehlo.return"(%b) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  %other = stablehlo.multiply %x, %x : tensor<2xf32>
  %y = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  check.expect_eq_const %y, dense<[3.0, -4.0]> : tensor<2xf32>
  check.expect_eq_const %other, dense<[2.25, 4.0]> : tensor<2xf32>
  // two results, and a value from around
  %g = "stablehlo.async_start"(%x, %i) <{}> ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %other : tensor<2xf32>
    %d = stablehlo.add %b, %b : tensor<i32>
    stablehlo.return %d, %c : tensor<i32>, tensor<2xf32>
  }) {mhlo.backend_config = {}} : (tensor<2xf32>, tensor<i32>) -> !stablehlo.future<tensor<i32>, tensor<2xf32>>
  %z:2 = "stablehlo.async_done"(%g) : (!stablehlo.future<tensor<i32>, tensor<2xf32>>) -> (tensor<i32>, tensor<2xf32>)
  check.expect_eq_const %z#0, dense<14> : tensor<i32>
  check.expect_eq_const %z#1, dense<[3.75, 2.0]> : tensor<2xf32>
  return
}

// collectives, which is what there are futures for
func.func @part(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = "stablehlo.all_reduce"(%a) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %b : tensor<2xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  %g = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    stablehlo.return %b : tensor<4xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  %z = "stablehlo.async_done"(%g) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %y = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %y, %z : tensor<2xf32>, tensor<4xf32>
}

func.func @sums() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %r:4 = "interpreter.run_parallel"(%a, %b) {programs = [[@part], [@part]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>)
  check.expect_eq_const %r#0, dense<[4.0, 7.0]> : tensor<2xf32>
  check.expect_eq_const %r#3, dense<[1.0, 2.0, 3.0, 5.0]> : tensor<4xf32>
  return
}

// what is to be computed before what changes no value
func.func @order() {
  %x = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %y = stablehlo.add %x, %x : tensor<2xf32>
  %z = stablehlo.multiply %x, %x : tensor<2xf32>
  stablehlo.custom_call @control_dep(%z, %y) {api_version = 4 : i32, has_side_effect = true, mhlo.backend_config = {}} : (tensor<2xf32>, tensor<2xf32>) -> ()
  %s = stablehlo.add %y, %z : tensor<2xf32>
  check.expect_eq_const %s, dense<[5.25, 0.0]> : tensor<2xf32>
  return
}
