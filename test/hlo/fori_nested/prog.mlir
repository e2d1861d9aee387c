module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<3x3x6xf32>) -> (tensor<6xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %c_0, %iterArg_2 = %c, %iterArg_3 = %arg0) : tensor<3x3x6xf32>, tensor<i32>, tensor<i32>, tensor<6xf32>
    cond {
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_1, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_3) : (tensor<3x3x6xf32>, tensor<i32>, tensor<6xf32>) -> (tensor<i32>, tensor<6xf32>)
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg_1, %c_4 : tensor<i32>
      stablehlo.return %iterArg, %2, %1#0, %1#1 : tensor<3x3x6xf32>, tensor<i32>, tensor<i32>, tensor<6xf32>
    }
    return %0#3 : tensor<6xf32>
  }
  func.func private @closed_call(%arg0: tensor<3x3x6xf32>, %arg1: tensor<i32>, %arg2: tensor<6xf32>) -> (tensor<i32>, tensor<6xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %arg1, %iterArg_2 = %arg0, %iterArg_3 = %c_1, %iterArg_4 = %1, %iterArg_5 = %arg2) : tensor<i32>, tensor<3x3x6xf32>, tensor<i32>, tensor<i32>, tensor<6xf32>
    cond {
      %3 = stablehlo.compare LT, %iterArg_3, %iterArg_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
      %5 = stablehlo.multiply %iterArg_5, %4 : tensor<6xf32>
      %6 = stablehlo.convert %iterArg : tensor<i32>
      %7 = stablehlo.convert %iterArg_3 : tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.compare LT, %6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<3> : tensor<i32>
      %9 = stablehlo.add %6, %c_8 : tensor<i32>
      %10 = stablehlo.select %8, %9, %6 : tensor<i1>, tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.compare LT, %7, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_10 = stablehlo.constant dense<3> : tensor<i32>
      %12 = stablehlo.add %7, %c_10 : tensor<i32>
      %13 = stablehlo.select %11, %12, %7 : tensor<i1>, tensor<i32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %14 = stablehlo.compare LT, %c_11, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %c_14 = stablehlo.constant dense<6> : tensor<i32>
      %15 = stablehlo.add %c_13, %c_14 : tensor<i32>
      %c_15 = stablehlo.constant dense<0> : tensor<i32>
      %16 = stablehlo.select %14, %15, %c_15 : tensor<i1>, tensor<i32>
      %17 = stablehlo.dynamic_slice %iterArg_2, %10, %13, %16, sizes = [1, 1, 6] : (tensor<3x3x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x6xf32>
      %18 = stablehlo.reshape %17 : (tensor<1x1x6xf32>) -> tensor<6xf32>
      %19 = stablehlo.add %5, %18 : tensor<6xf32>
      stablehlo.return %iterArg, %iterArg_2, %3, %iterArg_4, %19 : tensor<i32>, tensor<3x3x6xf32>, tensor<i32>, tensor<i32>, tensor<6xf32>
    }
    return %0, %2#4 : tensor<i32>, tensor<6xf32>
  }
}
