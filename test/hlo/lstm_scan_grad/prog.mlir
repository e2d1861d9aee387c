module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x12xf32>, %arg1: tensor<6x2x4xf32>) -> (tensor<7x12xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x2x7xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<6x2x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %14:17 = stablehlo.while(%iterArg = %arg1, %iterArg_17 = %arg0, %iterArg_18 = %c, %iterArg_19 = %0, %iterArg_20 = %1, %iterArg_21 = %2, %iterArg_22 = %3, %iterArg_23 = %4, %iterArg_24 = %5, %iterArg_25 = %6, %iterArg_26 = %7, %iterArg_27 = %8, %iterArg_28 = %9, %iterArg_29 = %10, %iterArg_30 = %11, %iterArg_31 = %12, %iterArg_32 = %13) : tensor<6x2x4xf32>, tensor<7x12xf32>, tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<6x2x7xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>
    cond {
      %c_33 = stablehlo.constant dense<6> : tensor<i32>
      %19 = stablehlo.compare LT, %iterArg_18, %c_33, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %19 : tensor<i1>
    } do {
      %19 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_18) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %20:14 = func.call @closed_call(%iterArg_17, %iterArg_19, %iterArg_20, %19) : (tensor<7x12xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x7xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
      %21 = func.call @dynamic_update_index_in_dim(%iterArg_21, %20#2, %iterArg_18) : (tensor<6x2x7xf32>, tensor<2x7xf32>, tensor<i32>) -> tensor<6x2x7xf32>
      %22 = func.call @dynamic_update_index_in_dim_0(%iterArg_22, %20#3, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %23 = func.call @dynamic_update_index_in_dim_0(%iterArg_23, %20#4, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %24 = func.call @dynamic_update_index_in_dim_0(%iterArg_24, %20#5, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %25 = func.call @dynamic_update_index_in_dim_0(%iterArg_25, %20#6, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %26 = func.call @dynamic_update_index_in_dim_0(%iterArg_26, %20#7, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %27 = func.call @dynamic_update_index_in_dim_0(%iterArg_27, %20#8, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %28 = func.call @dynamic_update_index_in_dim_0(%iterArg_28, %20#9, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %29 = func.call @dynamic_update_index_in_dim_0(%iterArg_29, %20#10, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %30 = func.call @dynamic_update_index_in_dim_0(%iterArg_30, %20#11, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %31 = func.call @dynamic_update_index_in_dim_0(%iterArg_31, %20#12, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %32 = func.call @dynamic_update_index_in_dim_0(%iterArg_32, %20#13, %iterArg_18) : (tensor<6x2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<6x2x3xf32>
      %c_33 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.add %iterArg_18, %c_33 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_17, %33, %20#0, %20#1, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32 : tensor<6x2x4xf32>, tensor<7x12xf32>, tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<6x2x7xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>
    }
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<7x12xf32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %18:17 = stablehlo.while(%iterArg = %14#5, %iterArg_17 = %14#6, %iterArg_18 = %14#7, %iterArg_19 = %14#8, %iterArg_20 = %14#9, %iterArg_21 = %14#10, %iterArg_22 = %14#11, %iterArg_23 = %14#12, %iterArg_24 = %14#13, %iterArg_25 = %14#14, %iterArg_26 = %14#15, %iterArg_27 = %14#16, %iterArg_28 = %arg0, %iterArg_29 = %c_16, %iterArg_30 = %17, %iterArg_31 = %15, %iterArg_32 = %16) : tensor<6x2x7xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<7x12xf32>, tensor<i32>, tensor<7x12xf32>, tensor<2x3xf32>, tensor<2x3xf32>
    cond {
      %c_33 = stablehlo.constant dense<6> : tensor<i32>
      %19 = stablehlo.compare LT, %iterArg_29, %c_33, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %19 : tensor<i1>
    } do {
      %c_33 = stablehlo.constant dense<6> : tensor<i32>
      %19 = stablehlo.subtract %c_33, %iterArg_29 : tensor<i32>
      %c_34 = stablehlo.constant dense<1> : tensor<i32>
      %20 = stablehlo.subtract %19, %c_34 : tensor<i32>
      %21 = func.call @dynamic_index_in_dim_1(%iterArg, %20) : (tensor<6x2x7xf32>, tensor<i32>) -> tensor<2x7xf32>
      %22 = func.call @dynamic_index_in_dim_2(%iterArg_17, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %23 = func.call @dynamic_index_in_dim_2(%iterArg_18, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %24 = func.call @dynamic_index_in_dim_2(%iterArg_19, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %25 = func.call @dynamic_index_in_dim_2(%iterArg_20, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %26 = func.call @dynamic_index_in_dim_2(%iterArg_21, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %27 = func.call @dynamic_index_in_dim_2(%iterArg_22, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %28 = func.call @dynamic_index_in_dim_2(%iterArg_23, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %29 = func.call @dynamic_index_in_dim_2(%iterArg_24, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %30 = func.call @dynamic_index_in_dim_2(%iterArg_25, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %31 = func.call @dynamic_index_in_dim_2(%iterArg_26, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %32 = func.call @dynamic_index_in_dim_2(%iterArg_27, %20) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %33:3 = func.call @closed_call_3(%iterArg_28, %iterArg_30, %iterArg_31, %iterArg_32, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32) : (tensor<7x12xf32>, tensor<7x12xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x7xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<7x12xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
      %c_35 = stablehlo.constant dense<1> : tensor<i32>
      %34 = stablehlo.add %iterArg_29, %c_35 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %iterArg_24, %iterArg_25, %iterArg_26, %iterArg_27, %iterArg_28, %34, %33#0, %33#1, %33#2 : tensor<6x2x7xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<6x2x3xf32>, tensor<7x12xf32>, tensor<i32>, tensor<7x12xf32>, tensor<2x3xf32>, tensor<2x3xf32>
    }
    return %18#14 : tensor<7x12xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x2x4xf32>, %arg1: tensor<i32>) -> tensor<2x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 4] : (tensor<6x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<7x12xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x7xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.concatenate %arg3, %arg1, dim = 1 : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x7xf32>, tensor<7x12xf32>) -> tensor<2x12xf32>
    %2 = stablehlo.slice %1 [0:2, 0:3] : (tensor<2x12xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.negate %2 : tensor<2x3xf32>
    %4 = stablehlo.exponential %3 : tensor<2x3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %6 = stablehlo.add %5, %4 : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %8 = stablehlo.divide %7, %6 : tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %10 = stablehlo.subtract %9, %8 : tensor<2x3xf32>
    %11 = stablehlo.multiply %8, %10 : tensor<2x3xf32>
    %12 = stablehlo.multiply %8, %arg2 : tensor<2x3xf32>
    %13 = stablehlo.slice %1 [0:2, 3:6] : (tensor<2x12xf32>) -> tensor<2x3xf32>
    %14 = stablehlo.negate %13 : tensor<2x3xf32>
    %15 = stablehlo.exponential %14 : tensor<2x3xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %17 = stablehlo.add %16, %15 : tensor<2x3xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %19 = stablehlo.divide %18, %17 : tensor<2x3xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %21 = stablehlo.subtract %20, %19 : tensor<2x3xf32>
    %22 = stablehlo.multiply %19, %21 : tensor<2x3xf32>
    %23 = stablehlo.slice %1 [0:2, 6:9] : (tensor<2x12xf32>) -> tensor<2x3xf32>
    %24 = stablehlo.tanh %23 : tensor<2x3xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %26 = stablehlo.subtract %25, %24 : tensor<2x3xf32>
    %27 = stablehlo.multiply %19, %24 : tensor<2x3xf32>
    %28 = stablehlo.add %12, %27 : tensor<2x3xf32>
    %29 = stablehlo.slice %1 [0:2, 9:12] : (tensor<2x12xf32>) -> tensor<2x3xf32>
    %30 = stablehlo.negate %29 : tensor<2x3xf32>
    %31 = stablehlo.exponential %30 : tensor<2x3xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %33 = stablehlo.add %32, %31 : tensor<2x3xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %35 = stablehlo.divide %34, %33 : tensor<2x3xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %37 = stablehlo.subtract %36, %35 : tensor<2x3xf32>
    %38 = stablehlo.multiply %35, %37 : tensor<2x3xf32>
    %39 = stablehlo.tanh %28 : tensor<2x3xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %41 = stablehlo.subtract %40, %39 : tensor<2x3xf32>
    %42 = stablehlo.multiply %35, %39 : tensor<2x3xf32>
    return %42, %28, %0, %11, %arg2, %8, %22, %24, %26, %19, %38, %39, %41, %35 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x7xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x2x7xf32>, %arg1: tensor<2x7xf32>, %arg2: tensor<i32>) -> tensor<6x2x7xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x7xf32>) -> tensor<1x2x7xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x2x7xf32>, tensor<1x2x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x2x7xf32>
    return %1 : tensor<6x2x7xf32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<6x2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<i32>) -> tensor<6x2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x2x3xf32>, tensor<1x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x2x3xf32>
    return %1 : tensor<6x2x3xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<6x2x7xf32>, %arg1: tensor<i32>) -> tensor<2x7xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 7] : (tensor<6x2x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x7xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x7xf32>) -> tensor<2x7xf32>
    return %1 : tensor<2x7xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<6x2x3xf32>, %arg1: tensor<i32>) -> tensor<2x3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 3] : (tensor<6x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<7x12xf32>, %arg1: tensor<7x12xf32>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x7xf32>, %arg5: tensor<2x3xf32>, %arg6: tensor<2x3xf32>, %arg7: tensor<2x3xf32>, %arg8: tensor<2x3xf32>, %arg9: tensor<2x3xf32>, %arg10: tensor<2x3xf32>, %arg11: tensor<2x3xf32>, %arg12: tensor<2x3xf32>, %arg13: tensor<2x3xf32>, %arg14: tensor<2x3xf32>, %arg15: tensor<2x3xf32>) -> (tensor<7x12xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.multiply %arg15, %arg2 : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg2, %arg13 : tensor<2x3xf32>
    %2 = stablehlo.multiply %0, %arg14 : tensor<2x3xf32>
    %3 = stablehlo.add %arg3, %2 : tensor<2x3xf32>
    %4 = stablehlo.multiply %2, %arg13 : tensor<2x3xf32>
    %5 = stablehlo.add %3, %4 : tensor<2x3xf32>
    %6 = stablehlo.multiply %1, %arg12 : tensor<2x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.pad %6, %cst, low = [0, 9], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x12xf32>
    %8 = stablehlo.multiply %arg11, %5 : tensor<2x3xf32>
    %9 = stablehlo.multiply %5, %arg9 : tensor<2x3xf32>
    %10 = stablehlo.multiply %8, %arg10 : tensor<2x3xf32>
    %11 = stablehlo.multiply %10, %arg9 : tensor<2x3xf32>
    %12 = stablehlo.add %10, %11 : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.pad %12, %cst_0, low = [0, 6], high = [0, 3], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x12xf32>
    %14 = stablehlo.add %7, %13 : tensor<2x12xf32>
    %15 = stablehlo.multiply %9, %arg8 : tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.pad %15, %cst_1, low = [0, 3], high = [0, 6], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x12xf32>
    %17 = stablehlo.add %14, %16 : tensor<2x12xf32>
    %18 = stablehlo.multiply %arg7, %5 : tensor<2x3xf32>
    %19 = stablehlo.multiply %5, %arg6 : tensor<2x3xf32>
    %20 = stablehlo.multiply %19, %arg5 : tensor<2x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.pad %20, %cst_2, low = [0, 0], high = [0, 9], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x12xf32>
    %22 = stablehlo.add %17, %21 : tensor<2x12xf32>
    %23 = stablehlo.dot_general %22, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x12xf32>, tensor<2x7xf32>) -> tensor<12x7xf32>
    %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<12x7xf32>) -> tensor<7x12xf32>
    %25 = stablehlo.add %arg1, %24 : tensor<7x12xf32>
    %26 = stablehlo.dot_general %22, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x12xf32>, tensor<7x12xf32>) -> tensor<2x7xf32>
    %27 = stablehlo.slice %26 [0:2, 0:4] : (tensor<2x7xf32>) -> tensor<2x4xf32>
    %28 = stablehlo.slice %26 [0:2, 4:7] : (tensor<2x7xf32>) -> tensor<2x3xf32>
    return %25, %28, %18 : tensor<7x12xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
}
