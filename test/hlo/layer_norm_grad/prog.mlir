module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x33xf32>, %arg1: tensor<33xf32>, %arg2: tensor<33xf32>) -> (tensor<6x33xf32> {jax.result_info = "result[0]"}, tensor<33xf32> {jax.result_info = "result[1]"}, tensor<33xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x33xf32>, tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_0 = stablehlo.constant dense<3.300000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<6x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x33xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<6x33xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<6x33xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x33xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<6x33xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<6x33xf32>, tensor<f32>) -> tensor<6xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_3 = stablehlo.constant dense<3.300000e+01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<6x1xf32>
    %13 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x33xf32>
    %14 = stablehlo.subtract %arg0, %13 : tensor<6x33xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %16 = stablehlo.add %12, %15 : tensor<6x1xf32>
    %17 = stablehlo.rsqrt %16 : tensor<6x1xf32>
    %18 = stablehlo.divide %17, %16 : tensor<6x1xf32>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<6x1xf32>
    %21 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x33xf32>
    %22 = stablehlo.multiply %14, %21 : tensor<6x33xf32>
    %23 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<33xf32>) -> tensor<1x33xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<1x33xf32>) -> tensor<6x33xf32>
    %25 = stablehlo.multiply %22, %24 : tensor<6x33xf32>
    %26 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<33xf32>) -> tensor<1x33xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x33xf32>) -> tensor<6x33xf32>
    %28 = stablehlo.add %25, %27 : tensor<6x33xf32>
    %29 = stablehlo.multiply %28, %28 : tensor<6x33xf32>
    %cst_6 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x33xf32>
    %31 = stablehlo.multiply %30, %29 : tensor<6x33xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x33xf32>
    %33 = stablehlo.multiply %32, %31 : tensor<6x33xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<6x33xf32>, tensor<f32>) -> tensor<33xf32>
    %35 = stablehlo.reshape %34 : (tensor<33xf32>) -> tensor<1x33xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<1x33xf32>, tensor<f32>) -> tensor<33xf32>
    %37 = stablehlo.multiply %22, %33 : tensor<6x33xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<6x33xf32>, tensor<f32>) -> tensor<33xf32>
    %39 = stablehlo.reshape %38 : (tensor<33xf32>) -> tensor<1x33xf32>
    %40 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<1x33xf32>) -> tensor<6x33xf32>
    %41 = stablehlo.multiply %33, %40 : tensor<6x33xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%39 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<1x33xf32>, tensor<f32>) -> tensor<33xf32>
    %43 = stablehlo.multiply %14, %41 : tensor<6x33xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_12) applies stablehlo.add across dimensions = [1] : (tensor<6x33xf32>, tensor<f32>) -> tensor<6xf32>
    %45 = stablehlo.reshape %44 : (tensor<6xf32>) -> tensor<6x1xf32>
    %46 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x33xf32>
    %47 = stablehlo.multiply %41, %46 : tensor<6x33xf32>
    %48 = stablehlo.multiply %45, %20 : tensor<6x1xf32>
    %49 = stablehlo.negate %47 : tensor<6x33xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<6x33xf32>, tensor<f32>) -> tensor<6xf32>
    %51 = stablehlo.reshape %50 : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_14 = stablehlo.constant dense<3.300000e+01> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %53 = stablehlo.divide %48, %52 : tensor<6x1xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_15) applies stablehlo.add across dimensions = [1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0] : (tensor<6xf32>) -> tensor<6x33xf32>
    %56 = stablehlo.multiply %55, %8 : tensor<6x33xf32>
    %57 = stablehlo.negate %56 : tensor<6x33xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%57 init: %cst_16) applies stablehlo.add across dimensions = [1] : (tensor<6x33xf32>, tensor<f32>) -> tensor<6xf32>
    %59 = stablehlo.reshape %58 : (tensor<6xf32>) -> tensor<6x1xf32>
    %60 = stablehlo.add %47, %56 : tensor<6x33xf32>
    %61 = stablehlo.add %51, %59 : tensor<6x1xf32>
    %cst_17 = stablehlo.constant dense<3.300000e+01> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %63 = stablehlo.divide %61, %62 : tensor<6x1xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.reduce(%63 init: %cst_18) applies stablehlo.add across dimensions = [1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0] : (tensor<6xf32>) -> tensor<6x33xf32>
    %66 = stablehlo.add %60, %65 : tensor<6x33xf32>
    return %66, %42, %36 : tensor<6x33xf32>, tensor<33xf32>, tensor<33xf32>
  }
}
