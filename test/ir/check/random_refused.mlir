// run: lazuli run --device ref %s
// error: rng: no NORMAL of i32
// error: rng: no UNIFORM of bool
// error: rng: the shape is not the result's
// error: rng: operand 1 is no scalar of the result's dtype
// error: rng: in a region it would give the same numbers in every round
// error: rng: expected UNIFORM or NORMAL
// error: stablehlo.rng: takes 3 operands, not 2
// error: random_refused.mlir:85:8: rng: in a region it would give the same numbers in every round
// error: random_refused.mlir:106:8: rng: in a region it would give the same numbers in every round
// error: random_refused.mlir:121:8: rng: the shape is not the result's

func.func @integers() -> tensor<2xi32> {
  %a = stablehlo.constant dense<2> : tensor<i32>
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.rng %a, %a, %shape, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

func.func @booleans() -> tensor<2xi1> {
  %a = stablehlo.constant dense<true> : tensor<i1>
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.rng %a, %a, %shape, distribution = UNIFORM : (tensor<i1>, tensor<i1>, tensor<1xi64>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// -----

func.func @shape() -> tensor<2xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %shape = stablehlo.constant dense<3> : tensor<1xi64>
  %0 = stablehlo.rng %a, %a, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @dtype() -> tensor<2xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %b = stablehlo.constant dense<2.0> : tensor<f64>
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f64>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @region() -> tensor<2xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %p = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%p) ({
    %shape = stablehlo.constant dense<2> : tensor<1xi64>
    %1 = stablehlo.rng %a, %a, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }, {
    %2 = stablehlo.constant dense<2.0> : tensor<2xf32>
    stablehlo.return %2 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @name() -> tensor<2xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.rng %a, %a, %shape, distribution = NORMALLY : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @operands() -> tensor<2xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.rng %a, %a, distribution = NORMAL : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @draw(%shape: tensor<1xi64>) -> tensor<2xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.rng %a, %a, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @call_in_a_region() -> (tensor<2xf32>, tensor<2xf32>) {
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %p = stablehlo.constant dense<true> : tensor<i1>
  %0 = call @draw(%shape) : (tensor<1xi64>) -> tensor<2xf32>
  %1 = "stablehlo.if"(%p) ({
    %2 = call @draw(%shape) : (tensor<1xi64>) -> tensor<2xf32>
    stablehlo.return %2 : tensor<2xf32>
  }, {
    stablehlo.return %0 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// A function that is used as a region.
func.func private @gt(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %shape = stablehlo.constant dense<> : tensor<0xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<0xi64>) -> tensor<f32>
  %1 = stablehlo.compare GT, %a, %0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %1 : tensor<i1>
}
func.func @comparator(%x: tensor<4xf32>, %e: tensor<f32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @ApproxTopK(%x, %e) {called_computations = [@gt], mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 2 : i64}} : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// The shape is written as one number.
func.func @splat() -> tensor<2x2xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %shape = stablehlo.constant dense<3> : tensor<2xi64>
  %0 = stablehlo.rng %a, %a, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
