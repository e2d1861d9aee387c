module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<8xf32>
    cond {
      %c_1 = stablehlo.constant dense<8> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg_0) : (tensor<8xf32>) -> tensor<8xf32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_1 : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<8xf32>
    }
    return %0#1 : tensor<8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %c, %iterArg_2 = %arg0) : tensor<i32>, tensor<i32>, tensor<8xf32>
    cond {
      %c_3 = stablehlo.constant dense<7> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @closed_call_0(%iterArg_1, %iterArg_2) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_3 : tensor<i32>
      stablehlo.return %2, %1#0, %1#1 : tensor<i32>, tensor<i32>, tensor<8xf32>
    }
    return %0#2 : tensor<8xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<i32>, %arg1: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %arg0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.convert %arg0 : tensor<i32>
    %c_1 = stablehlo.constant dense<8> : tensor<i32>
    %3 = stablehlo.add %2, %c_1 : tensor<i32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<i1>, tensor<i32>
    %5 = stablehlo.dynamic_slice %arg1, %4, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
    %6 = stablehlo.reshape %5 : (tensor<1xf32>) -> tensor<f32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %7 = stablehlo.add %arg0, %c_2 : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %7, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = stablehlo.convert %7 : tensor<i32>
    %c_4 = stablehlo.constant dense<8> : tensor<i32>
    %10 = stablehlo.add %9, %c_4 : tensor<i32>
    %11 = stablehlo.select %8, %10, %7 : tensor<i1>, tensor<i32>
    %12 = stablehlo.dynamic_slice %arg1, %11, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
    %13 = stablehlo.reshape %12 : (tensor<1xf32>) -> tensor<f32>
    %14 = stablehlo.compare GT, %6, %13, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %15 = stablehlo.convert %14 : (tensor<i1>) -> tensor<i32>
    %16 = "stablehlo.case"(%15) ({
      stablehlo.return %arg1 : tensor<8xf32>
    }, {
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %17 = stablehlo.add %arg0, %c_5 : tensor<i32>
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %18 = stablehlo.compare LT, %17, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %19 = stablehlo.convert %17 : tensor<i32>
      %c_7 = stablehlo.constant dense<8> : tensor<i32>
      %20 = stablehlo.add %19, %c_7 : tensor<i32>
      %21 = stablehlo.select %18, %20, %17 : tensor<i1>, tensor<i32>
      %22 = stablehlo.dynamic_slice %arg1, %21, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
      %23 = stablehlo.reshape %22 : (tensor<1xf32>) -> tensor<f32>
      %c_8 = stablehlo.constant dense<0> : tensor<i32>
      %24 = stablehlo.compare LT, %arg0, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_9 = stablehlo.constant dense<8> : tensor<i32>
      %25 = stablehlo.add %arg0, %c_9 : tensor<i32>
      %26 = stablehlo.select %24, %25, %arg0 : tensor<i1>, tensor<i32>
      %27 = stablehlo.convert %26 : tensor<i32>
      %28 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %29 = "stablehlo.scatter"(%arg1, %28, %23) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        stablehlo.return %arg3 : tensor<f32>
      }) : (tensor<8xf32>, tensor<1xi32>, tensor<f32>) -> tensor<8xf32>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %30 = stablehlo.add %arg0, %c_10 : tensor<i32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %31 = stablehlo.compare LT, %arg0, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %32 = stablehlo.convert %arg0 : tensor<i32>
      %c_12 = stablehlo.constant dense<8> : tensor<i32>
      %33 = stablehlo.add %32, %c_12 : tensor<i32>
      %34 = stablehlo.select %31, %33, %arg0 : tensor<i1>, tensor<i32>
      %35 = stablehlo.dynamic_slice %arg1, %34, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
      %36 = stablehlo.reshape %35 : (tensor<1xf32>) -> tensor<f32>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %37 = stablehlo.compare LT, %30, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_14 = stablehlo.constant dense<8> : tensor<i32>
      %38 = stablehlo.add %30, %c_14 : tensor<i32>
      %39 = stablehlo.select %37, %38, %30 : tensor<i1>, tensor<i32>
      %40 = stablehlo.convert %39 : tensor<i32>
      %41 = stablehlo.broadcast_in_dim %40, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %42 = "stablehlo.scatter"(%29, %41, %36) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        stablehlo.return %arg3 : tensor<f32>
      }) : (tensor<8xf32>, tensor<1xi32>, tensor<f32>) -> tensor<8xf32>
      stablehlo.return %42 : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    return %0, %16 : tensor<i32>, tensor<8xf32>
  }
}
