module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x6xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<5x3x4xf32>, %arg3: tensor<3x6xf32>) -> (tensor<6x6xf32> {jax.result_info = "result[0]"}, tensor<4x6xf32> {jax.result_info = "result[1]"}, tensor<5x3x4xf32> {jax.result_info = "result[2]"}, tensor<3x6xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x3x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x3x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5x3x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<5x3x6xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:9 = stablehlo.while(%iterArg = %arg2, %iterArg_10 = %arg0, %iterArg_11 = %arg1, %iterArg_12 = %c, %iterArg_13 = %arg3, %iterArg_14 = %0, %iterArg_15 = %1, %iterArg_16 = %2, %iterArg_17 = %3) : tensor<5x3x4xf32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<i32>, tensor<3x6xf32>, tensor<5x3x6xf32>, tensor<5x3x6xf32>, tensor<5x3x6xf32>, tensor<5x3x6xf32>
    cond {
      %c_18 = stablehlo.constant dense<5> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_12, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_12) : (tensor<5x3x4xf32>, tensor<i32>) -> tensor<3x4xf32>
      %15:5 = func.call @closed_call(%iterArg_10, %iterArg_11, %iterArg_13, %14) : (tensor<6x6xf32>, tensor<4x6xf32>, tensor<3x6xf32>, tensor<3x4xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>)
      %16 = func.call @dynamic_update_index_in_dim(%iterArg_14, %15#1, %iterArg_12) : (tensor<5x3x6xf32>, tensor<3x6xf32>, tensor<i32>) -> tensor<5x3x6xf32>
      %17 = func.call @dynamic_update_index_in_dim(%iterArg_15, %15#2, %iterArg_12) : (tensor<5x3x6xf32>, tensor<3x6xf32>, tensor<i32>) -> tensor<5x3x6xf32>
      %18 = func.call @dynamic_update_index_in_dim(%iterArg_16, %15#3, %iterArg_12) : (tensor<5x3x6xf32>, tensor<3x6xf32>, tensor<i32>) -> tensor<5x3x6xf32>
      %19 = func.call @dynamic_update_index_in_dim(%iterArg_17, %15#4, %iterArg_12) : (tensor<5x3x6xf32>, tensor<3x6xf32>, tensor<i32>) -> tensor<5x3x6xf32>
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %20 = stablehlo.add %iterArg_12, %c_18 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %iterArg_11, %20, %15#0, %16, %17, %18, %19 : tensor<5x3x4xf32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<i32>, tensor<3x6xf32>, tensor<5x3x6xf32>, tensor<5x3x6xf32>, tensor<5x3x6xf32>, tensor<5x3x6xf32>
    }
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<5x3x6xf32>
    %6 = stablehlo.multiply %5, %4#5 : tensor<5x3x6xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<5x3x6xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<5x3x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<5x3x4xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %13:12 = stablehlo.while(%iterArg = %8, %iterArg_10 = %4#6, %iterArg_11 = %arg2, %iterArg_12 = %4#7, %iterArg_13 = %4#8, %iterArg_14 = %arg0, %iterArg_15 = %arg1, %iterArg_16 = %c_9, %iterArg_17 = %10, %iterArg_18 = %11, %iterArg_19 = %9, %iterArg_20 = %12) : tensor<5x3x6xf32>, tensor<5x3x6xf32>, tensor<5x3x4xf32>, tensor<5x3x6xf32>, tensor<5x3x6xf32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<i32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<3x6xf32>, tensor<5x3x4xf32>
    cond {
      %c_21 = stablehlo.constant dense<5> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_16, %c_21, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %c_21 = stablehlo.constant dense<5> : tensor<i32>
      %14 = stablehlo.subtract %c_21, %iterArg_16 : tensor<i32>
      %c_22 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.subtract %14, %c_22 : tensor<i32>
      %16 = func.call @dynamic_index_in_dim_0(%iterArg, %15) : (tensor<5x3x6xf32>, tensor<i32>) -> tensor<3x6xf32>
      %17 = func.call @dynamic_index_in_dim_0(%iterArg_10, %15) : (tensor<5x3x6xf32>, tensor<i32>) -> tensor<3x6xf32>
      %18 = func.call @dynamic_index_in_dim(%iterArg_11, %15) : (tensor<5x3x4xf32>, tensor<i32>) -> tensor<3x4xf32>
      %19 = func.call @dynamic_index_in_dim_0(%iterArg_12, %15) : (tensor<5x3x6xf32>, tensor<i32>) -> tensor<3x6xf32>
      %20 = func.call @dynamic_index_in_dim_0(%iterArg_13, %15) : (tensor<5x3x6xf32>, tensor<i32>) -> tensor<3x6xf32>
      %21:4 = func.call @closed_call_1(%iterArg_14, %iterArg_15, %iterArg_17, %iterArg_18, %iterArg_19, %16, %17, %18, %19, %20) : (tensor<6x6xf32>, tensor<4x6xf32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x4xf32>, tensor<3x6xf32>, tensor<3x6xf32>) -> (tensor<6x6xf32>, tensor<4x6xf32>, tensor<3x6xf32>, tensor<3x4xf32>)
      %22 = func.call @dynamic_update_index_in_dim_2(%iterArg_20, %21#3, %15) : (tensor<5x3x4xf32>, tensor<3x4xf32>, tensor<i32>) -> tensor<5x3x4xf32>
      %c_23 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %iterArg_16, %c_23 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %23, %21#0, %21#1, %21#2, %22 : tensor<5x3x6xf32>, tensor<5x3x6xf32>, tensor<5x3x4xf32>, tensor<5x3x6xf32>, tensor<5x3x6xf32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<i32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<3x6xf32>, tensor<5x3x4xf32>
    }
    return %13#8, %13#9, %13#11, %13#10 : tensor<6x6xf32>, tensor<4x6xf32>, tensor<5x3x4xf32>, tensor<3x6xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x3x4xf32>, %arg1: tensor<i32>) -> tensor<3x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 3, 4] : (tensor<5x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x4xf32>) -> tensor<3x4xf32>
    return %1 : tensor<3x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<6x6xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<3x6xf32>, %arg3: tensor<3x4xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
    %2 = stablehlo.add %0, %1 : tensor<3x6xf32>
    %3 = stablehlo.tanh %2 : tensor<3x6xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
    %5 = stablehlo.subtract %4, %3 : tensor<3x6xf32>
    return %3, %3, %arg2, %3, %5 : tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5x3x6xf32>, %arg1: tensor<3x6xf32>, %arg2: tensor<i32>) -> tensor<5x3x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<5x3x6xf32>, tensor<1x3x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x3x6xf32>
    return %1 : tensor<5x3x6xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<5x3x6xf32>, %arg1: tensor<i32>) -> tensor<3x6xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 3, 6] : (tensor<5x3x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
    return %1 : tensor<3x6xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<6x6xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<6x6xf32>, %arg3: tensor<4x6xf32>, %arg4: tensor<3x6xf32>, %arg5: tensor<3x6xf32>, %arg6: tensor<3x6xf32>, %arg7: tensor<3x4xf32>, %arg8: tensor<3x6xf32>, %arg9: tensor<3x6xf32>) -> (tensor<6x6xf32>, tensor<4x6xf32>, tensor<3x6xf32>, tensor<3x4xf32>) {
    %0 = stablehlo.add %arg4, %arg5 : tensor<3x6xf32>
    %1 = stablehlo.multiply %0, %arg9 : tensor<3x6xf32>
    %2 = stablehlo.multiply %1, %arg8 : tensor<3x6xf32>
    %3 = stablehlo.add %1, %2 : tensor<3x6xf32>
    %4 = stablehlo.dot_general %3, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %6 = stablehlo.add %arg3, %5 : tensor<4x6xf32>
    %7 = stablehlo.dot_general %3, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<4x6xf32>) -> tensor<3x4xf32>
    %8 = stablehlo.dot_general %3, %arg6, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
    %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
    %10 = stablehlo.add %arg2, %9 : tensor<6x6xf32>
    %11 = stablehlo.dot_general %3, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
    return %10, %6, %11, %7 : tensor<6x6xf32>, tensor<4x6xf32>, tensor<3x6xf32>, tensor<3x4xf32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<5x3x4xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<i32>) -> tensor<5x3x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<5x3x4xf32>, tensor<1x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x3x4xf32>
    return %1 : tensor<5x3x4xf32>
  }
}
