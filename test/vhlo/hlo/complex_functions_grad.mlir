module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xf32>, %arg1: tensor<9xf32>) -> (tensor<9xf32> {jax.result_info = "result[0]"}, tensor<9xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<9xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<9xf32>
    %cst_1 = stablehlo.constant dense<3.14159274> : tensor<9xf32>
    %cst_2 = stablehlo.constant dense<2.500000e-01> : tensor<9xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<9xf32>
    %cst_4 = stablehlo.constant dense<2.050000e+03> : tensor<9xf32>
    %cst_5 = stablehlo.constant dense<0x4B800001> : tensor<9xf32>
    %cst_6 = stablehlo.constant dense<9.99999968E+37> : tensor<9xf32>
    %cst_7 = stablehlo.constant dense<9.00719925E+15> : tensor<9xf32>
    %cst_8 = stablehlo.constant dense<0x7F800000> : tensor<9xf32>
    %cst_9 = stablehlo.constant dense<3.40282347E+38> : tensor<9xf32>
    %cst_10 = stablehlo.constant dense<4.000000e+00> : tensor<9xf32>
    %cst_11 = stablehlo.constant dense<-1.000000e+00> : tensor<9xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<9xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<9xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_16 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %cst_17 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.complex %arg0, %arg1 : tensor<9xcomplex<f32>>
    %1 = stablehlo.composite "chlo.sinh" %0 {decomposition = @chlo.sinh.impl, version = 1 : i32} : (tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>>
    %2 = stablehlo.composite "chlo.cosh" %0 {decomposition = @chlo.cosh.impl, version = 1 : i32} : (tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>>
    %3 = stablehlo.imag %0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %4 = stablehlo.negate %3 : tensor<9xf32>
    %5 = stablehlo.real %0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %6 = stablehlo.complex %4, %5 : tensor<9xcomplex<f32>>
    %7 = stablehlo.real %6 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %8 = stablehlo.compare GE, %7, %cst_13 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %9 = stablehlo.select %8, %cst_12, %cst_11 : tensor<9xi1>, tensor<9xf32>
    %10 = stablehlo.abs %7 : tensor<9xf32>
    %11 = stablehlo.compare GT, %cst_9, %cst_8 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %12 = stablehlo.compare GT, %cst_9, %cst_6 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %13 = stablehlo.select %12, %cst_5, %cst_4 : tensor<9xi1>, tensor<9xf32>
    %14 = stablehlo.select %11, %cst_7, %13 : tensor<9xi1>, tensor<9xf32>
    %15 = stablehlo.multiply %14, %14 : tensor<9xf32>
    %16 = stablehlo.compare LT, %10, %15 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %17 = stablehlo.imag %6 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %18 = stablehlo.abs %17 : tensor<9xf32>
    %19 = stablehlo.compare LT, %18, %15 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %20 = stablehlo.and %16, %19 : tensor<9xi1>
    %21 = stablehlo.subtract %cst_12, %10 : tensor<9xf32>
    %22 = stablehlo.multiply %21, %21 : tensor<9xf32>
    %23 = stablehlo.multiply %17, %17 : tensor<9xf32>
    %24 = stablehlo.add %22, %23 : tensor<9xf32>
    %25 = stablehlo.divide %10, %24 : tensor<9xf32>
    %26 = stablehlo.multiply %18, %14 : tensor<9xf32>
    %27 = stablehlo.compare LT, %26, %10 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %28 = stablehlo.divide %cst_12, %10 : tensor<9xf32>
    %29 = stablehlo.compare EQ, %7, %cst_8 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %30 = stablehlo.compare EQ, %7, %cst_3 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %31 = stablehlo.or %29, %30 : tensor<9xi1>
    %32 = stablehlo.compare EQ, %17, %cst_8 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %33 = stablehlo.compare EQ, %17, %cst_3 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %34 = stablehlo.or %32, %33 : tensor<9xi1>
    %35 = stablehlo.or %31, %34 : tensor<9xi1>
    %36 = stablehlo.divide %10, %17 : tensor<9xf32>
    %37 = stablehlo.divide %17, %10 : tensor<9xf32>
    %38 = stablehlo.add %36, %37 : tensor<9xf32>
    %39 = stablehlo.divide %cst_12, %38 : tensor<9xf32>
    %40 = stablehlo.divide %39, %17 : tensor<9xf32>
    %41 = stablehlo.select %35, %cst_13, %40 : tensor<9xi1>, tensor<9xf32>
    %42 = stablehlo.select %27, %28, %41 : tensor<9xi1>, tensor<9xf32>
    %43 = stablehlo.select %20, %25, %42 : tensor<9xi1>, tensor<9xf32>
    %44 = stablehlo.multiply %cst_10, %43 : tensor<9xf32>
    %45 = stablehlo.log_plus_one %44 : tensor<9xf32>
    %46 = stablehlo.multiply %9, %45 : tensor<9xf32>
    %47 = stablehlo.multiply %46, %cst_2 : tensor<9xf32>
    %48 = stablehlo.add %17, %17 : tensor<9xf32>
    %49 = stablehlo.add %cst_12, %10 : tensor<9xf32>
    %50 = stablehlo.multiply %21, %49 : tensor<9xf32>
    %51 = stablehlo.subtract %50, %23 : tensor<9xf32>
    %52 = stablehlo.atan2 %48, %51 : tensor<9xf32>
    %53 = stablehlo.compare GE, %17, %cst_13 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %54 = stablehlo.select %53, %cst_12, %cst_11 : tensor<9xi1>, tensor<9xf32>
    %55 = stablehlo.multiply %54, %cst_1 : tensor<9xf32>
    %56 = stablehlo.select %20, %52, %55 : tensor<9xi1>, tensor<9xf32>
    %57 = stablehlo.multiply %56, %cst_0 : tensor<9xf32>
    %58 = stablehlo.complex %47, %57 : tensor<9xcomplex<f32>>
    %59 = stablehlo.imag %58 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %60 = stablehlo.real %58 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %61 = stablehlo.negate %60 : tensor<9xf32>
    %62 = stablehlo.complex %59, %61 : tensor<9xcomplex<f32>>
    %63 = stablehlo.real %0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %64 = stablehlo.is_finite %63 : (tensor<9xf32>) -> tensor<9xi1>
    %65 = stablehlo.abs %63 : tensor<9xf32>
    %66 = stablehlo.imag %0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %67 = stablehlo.abs %66 : tensor<9xf32>
    %68 = stablehlo.compare EQ, %65, %67 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %69 = stablehlo.and %64, %68 : tensor<9xi1>
    %70 = stablehlo.subtract %63, %66 : tensor<9xf32>
    %71 = stablehlo.add %63, %66 : tensor<9xf32>
    %72 = stablehlo.multiply %70, %71 : tensor<9xf32>
    %73 = stablehlo.select %69, %cst_13, %72 : tensor<9xi1>, tensor<9xf32>
    %74 = stablehlo.multiply %63, %66 : tensor<9xf32>
    %75 = stablehlo.multiply %cst, %74 : tensor<9xf32>
    %76 = stablehlo.complex %73, %75 : tensor<9xcomplex<f32>>
    %77 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %78 = stablehlo.add %77, %76 : tensor<9xcomplex<f32>>
    %79 = stablehlo.multiply %1, %62 : tensor<9xcomplex<f32>>
    %80 = stablehlo.abs %79 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %81 = stablehlo.real %79 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %82 = stablehlo.imag %79 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %83 = stablehlo.negate %82 : tensor<9xf32>
    %84 = stablehlo.complex %81, %83 : tensor<9xcomplex<f32>>
    %85 = stablehlo.convert %80 : (tensor<9xf32>) -> tensor<9xcomplex<f32>>
    %86 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %87 = stablehlo.compare EQ, %85, %86, FLOAT : (tensor<9xcomplex<f32>>, tensor<9xcomplex<f32>>) -> tensor<9xi1>
    %88 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %89 = stablehlo.select %87, %88, %85 : tensor<9xi1>, tensor<9xcomplex<f32>>
    %90 = stablehlo.divide %84, %89 : tensor<9xcomplex<f32>>
    %91 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %92 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %93 = stablehlo.complex %91, %92 : tensor<9xcomplex<f32>>
    %94 = stablehlo.multiply %93, %90 : tensor<9xcomplex<f32>>
    %95 = stablehlo.multiply %1, %94 : tensor<9xcomplex<f32>>
    %96 = stablehlo.multiply %94, %62 : tensor<9xcomplex<f32>>
    %97 = stablehlo.divide %95, %78 : tensor<9xcomplex<f32>>
    %98 = stablehlo.multiply %96, %2 : tensor<9xcomplex<f32>>
    %99 = stablehlo.add %97, %98 : tensor<9xcomplex<f32>>
    %100 = stablehlo.real %99 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %101 = stablehlo.imag %99 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    return %100, %101 : tensor<9xf32>, tensor<9xf32>
  }
  func.func private @chlo.cosh.impl(%arg0: tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>> {
    %cst = stablehlo.constant dense<(5.000000e-01,0.000000e+00)> : tensor<9xcomplex<f32>>
    %0 = stablehlo.log %cst : tensor<9xcomplex<f32>>
    %1 = stablehlo.add %arg0, %0 : tensor<9xcomplex<f32>>
    %2 = stablehlo.exponential %1 : tensor<9xcomplex<f32>>
    %3 = stablehlo.subtract %0, %arg0 : tensor<9xcomplex<f32>>
    %4 = stablehlo.exponential %3 : tensor<9xcomplex<f32>>
    %5 = stablehlo.add %2, %4 : tensor<9xcomplex<f32>>
    return %5 : tensor<9xcomplex<f32>>
  }
  func.func private @chlo.sinh.impl(%arg0: tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>> {
    %cst = stablehlo.constant dense<(5.000000e-01,0.000000e+00)> : tensor<9xcomplex<f32>>
    %0 = stablehlo.log %cst : tensor<9xcomplex<f32>>
    %1 = stablehlo.add %arg0, %0 : tensor<9xcomplex<f32>>
    %2 = stablehlo.exponential %1 : tensor<9xcomplex<f32>>
    %3 = stablehlo.subtract %0, %arg0 : tensor<9xcomplex<f32>>
    %4 = stablehlo.exponential %3 : tensor<9xcomplex<f32>>
    %5 = stablehlo.subtract %2, %4 : tensor<9xcomplex<f32>>
    return %5 : tensor<9xcomplex<f32>>
  }
}

