module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x6x6xf32>, %arg1: tensor<3x6x4xf32>, %arg2: tensor<3x2x6xf32>) -> (tensor<3x6x4xf32> {jax.result_info = "result[0]"}, tensor<3x6x4xf32> {jax.result_info = "result[1]"}, tensor<3x6x4xf32> {jax.result_info = "result[2]"}, tensor<3x6x4xf32> {jax.result_info = "result[3]"}, tensor<3x6x4xf32> {jax.result_info = "result[4]"}, tensor<3x6x4xf32> {jax.result_info = "result[5]"}, tensor<3x6x4xf32> {jax.result_info = "result[6]"}, tensor<3x6x4xf32> {jax.result_info = "result[7]"}, tensor<3x2x6xf32> {jax.result_info = "result[8]"}, tensor<3x2x6xf32> {jax.result_info = "result[9]"}, tensor<3x2x6xf32> {jax.result_info = "result[10]"}, tensor<3x2x6xf32> {jax.result_info = "result[11]"}, tensor<3x2x6xf32> {jax.result_info = "result[12]"}, tensor<3x2x6xf32> {jax.result_info = "result[13]"}, tensor<3x2x6xf32> {jax.result_info = "result[14]"}, tensor<3x2x6xf32> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %1 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %3 = stablehlo.add %0, %2 : tensor<6x6xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %5 = stablehlo.convert %4 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<6x6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %10 = stablehlo.add %arg0, %9 : tensor<3x6x6xf32>
    %11 = "stablehlo.triangular_solve"(%10, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x6x6xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
    %12 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %13 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %15 = stablehlo.add %12, %14 : tensor<6x6xi32>
    %16 = stablehlo.compare EQ, %15, %13, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %17 = stablehlo.convert %16 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %19 = stablehlo.multiply %18, %17 : tensor<6x6xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %22 = stablehlo.add %arg0, %21 : tensor<3x6x6xf32>
    %23 = "stablehlo.triangular_solve"(%22, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x6x6xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
    %24 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %25 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %27 = stablehlo.add %24, %26 : tensor<6x6xi32>
    %28 = stablehlo.compare EQ, %27, %25, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %29 = stablehlo.convert %28 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %31 = stablehlo.multiply %30, %29 : tensor<6x6xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %34 = stablehlo.add %arg0, %33 : tensor<3x6x6xf32>
    %35 = "stablehlo.triangular_solve"(%34, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x6x6xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
    %36 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %37 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %38 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %39 = stablehlo.add %36, %38 : tensor<6x6xi32>
    %40 = stablehlo.compare EQ, %39, %37, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %41 = stablehlo.convert %40 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_5 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %43 = stablehlo.multiply %42, %41 : tensor<6x6xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %46 = stablehlo.add %arg0, %45 : tensor<3x6x6xf32>
    %47 = "stablehlo.triangular_solve"(%46, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x6x6xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
    %48 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %49 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %50 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %51 = stablehlo.add %48, %50 : tensor<6x6xi32>
    %52 = stablehlo.compare EQ, %51, %49, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %53 = stablehlo.convert %52 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %55 = stablehlo.multiply %54, %53 : tensor<6x6xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %58 = stablehlo.add %arg0, %57 : tensor<3x6x6xf32>
    %59 = "stablehlo.triangular_solve"(%58, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x6x6xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
    %60 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %61 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %62 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %63 = stablehlo.add %60, %62 : tensor<6x6xi32>
    %64 = stablehlo.compare EQ, %63, %61, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %65 = stablehlo.convert %64 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_9 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %67 = stablehlo.multiply %66, %65 : tensor<6x6xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %70 = stablehlo.add %arg0, %69 : tensor<3x6x6xf32>
    %71 = "stablehlo.triangular_solve"(%70, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x6x6xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
    %72 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %73 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %74 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %75 = stablehlo.add %72, %74 : tensor<6x6xi32>
    %76 = stablehlo.compare EQ, %75, %73, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %77 = stablehlo.convert %76 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_11 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %79 = stablehlo.multiply %78, %77 : tensor<6x6xf32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %82 = stablehlo.add %arg0, %81 : tensor<3x6x6xf32>
    %83 = "stablehlo.triangular_solve"(%82, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x6x6xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
    %84 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %85 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %86 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %87 = stablehlo.add %84, %86 : tensor<6x6xi32>
    %88 = stablehlo.compare EQ, %87, %85, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %89 = stablehlo.convert %88 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_13 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %91 = stablehlo.multiply %90, %89 : tensor<6x6xf32>
    %92 = stablehlo.broadcast_in_dim %91, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %94 = stablehlo.add %arg0, %93 : tensor<3x6x6xf32>
    %95 = "stablehlo.triangular_solve"(%94, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x6x6xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
    %96 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %97 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %98 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %99 = stablehlo.add %96, %98 : tensor<6x6xi32>
    %100 = stablehlo.compare EQ, %99, %97, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %101 = stablehlo.convert %100 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_15 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %103 = stablehlo.multiply %102, %101 : tensor<6x6xf32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %106 = stablehlo.add %arg0, %105 : tensor<3x6x6xf32>
    %107 = "stablehlo.triangular_solve"(%106, %arg2) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x6x6xf32>, tensor<3x2x6xf32>) -> tensor<3x2x6xf32>
    %108 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %109 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %110 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %111 = stablehlo.add %108, %110 : tensor<6x6xi32>
    %112 = stablehlo.compare EQ, %111, %109, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %113 = stablehlo.convert %112 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_17 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %115 = stablehlo.multiply %114, %113 : tensor<6x6xf32>
    %116 = stablehlo.broadcast_in_dim %115, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %118 = stablehlo.add %arg0, %117 : tensor<3x6x6xf32>
    %119 = "stablehlo.triangular_solve"(%118, %arg2) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x6x6xf32>, tensor<3x2x6xf32>) -> tensor<3x2x6xf32>
    %120 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %121 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %122 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %123 = stablehlo.add %120, %122 : tensor<6x6xi32>
    %124 = stablehlo.compare EQ, %123, %121, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %125 = stablehlo.convert %124 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_19 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %127 = stablehlo.multiply %126, %125 : tensor<6x6xf32>
    %128 = stablehlo.broadcast_in_dim %127, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %129 = stablehlo.broadcast_in_dim %128, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %130 = stablehlo.add %arg0, %129 : tensor<3x6x6xf32>
    %131 = "stablehlo.triangular_solve"(%130, %arg2) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x6x6xf32>, tensor<3x2x6xf32>) -> tensor<3x2x6xf32>
    %132 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %133 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %134 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %135 = stablehlo.add %132, %134 : tensor<6x6xi32>
    %136 = stablehlo.compare EQ, %135, %133, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %137 = stablehlo.convert %136 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_21 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %139 = stablehlo.multiply %138, %137 : tensor<6x6xf32>
    %140 = stablehlo.broadcast_in_dim %139, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %141 = stablehlo.broadcast_in_dim %140, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %142 = stablehlo.add %arg0, %141 : tensor<3x6x6xf32>
    %143 = "stablehlo.triangular_solve"(%142, %arg2) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x6x6xf32>, tensor<3x2x6xf32>) -> tensor<3x2x6xf32>
    %144 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %145 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %146 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %147 = stablehlo.add %144, %146 : tensor<6x6xi32>
    %148 = stablehlo.compare EQ, %147, %145, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %149 = stablehlo.convert %148 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_23 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %151 = stablehlo.multiply %150, %149 : tensor<6x6xf32>
    %152 = stablehlo.broadcast_in_dim %151, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %153 = stablehlo.broadcast_in_dim %152, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %154 = stablehlo.add %arg0, %153 : tensor<3x6x6xf32>
    %155 = "stablehlo.triangular_solve"(%154, %arg2) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x6x6xf32>, tensor<3x2x6xf32>) -> tensor<3x2x6xf32>
    %156 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %157 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_24 = stablehlo.constant dense<0> : tensor<i32>
    %158 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %159 = stablehlo.add %156, %158 : tensor<6x6xi32>
    %160 = stablehlo.compare EQ, %159, %157, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %161 = stablehlo.convert %160 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_25 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %163 = stablehlo.multiply %162, %161 : tensor<6x6xf32>
    %164 = stablehlo.broadcast_in_dim %163, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %165 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %166 = stablehlo.add %arg0, %165 : tensor<3x6x6xf32>
    %167 = "stablehlo.triangular_solve"(%166, %arg2) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x6x6xf32>, tensor<3x2x6xf32>) -> tensor<3x2x6xf32>
    %168 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %169 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_26 = stablehlo.constant dense<0> : tensor<i32>
    %170 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %171 = stablehlo.add %168, %170 : tensor<6x6xi32>
    %172 = stablehlo.compare EQ, %171, %169, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %173 = stablehlo.convert %172 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_27 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %175 = stablehlo.multiply %174, %173 : tensor<6x6xf32>
    %176 = stablehlo.broadcast_in_dim %175, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %177 = stablehlo.broadcast_in_dim %176, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %178 = stablehlo.add %arg0, %177 : tensor<3x6x6xf32>
    %179 = "stablehlo.triangular_solve"(%178, %arg2) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x6x6xf32>, tensor<3x2x6xf32>) -> tensor<3x2x6xf32>
    %180 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %181 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %c_28 = stablehlo.constant dense<0> : tensor<i32>
    %182 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %183 = stablehlo.add %180, %182 : tensor<6x6xi32>
    %184 = stablehlo.compare EQ, %183, %181, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %185 = stablehlo.convert %184 : (tensor<6x6xi1>) -> tensor<6x6xf32>
    %cst_29 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %186 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %187 = stablehlo.multiply %186, %185 : tensor<6x6xf32>
    %188 = stablehlo.broadcast_in_dim %187, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %189 = stablehlo.broadcast_in_dim %188, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<3x6x6xf32>
    %190 = stablehlo.add %arg0, %189 : tensor<3x6x6xf32>
    %191 = "stablehlo.triangular_solve"(%190, %arg2) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x6x6xf32>, tensor<3x2x6xf32>) -> tensor<3x2x6xf32>
    return %11, %23, %35, %47, %59, %71, %83, %95, %107, %119, %131, %143, %155, %167, %179, %191 : tensor<3x6x4xf32>, tensor<3x6x4xf32>, tensor<3x6x4xf32>, tensor<3x6x4xf32>, tensor<3x6x4xf32>, tensor<3x6x4xf32>, tensor<3x6x4xf32>, tensor<3x6x4xf32>, tensor<3x2x6xf32>, tensor<3x2x6xf32>, tensor<3x2x6xf32>, tensor<3x2x6xf32>, tensor<3x2x6xf32>, tensor<3x2x6xf32>, tensor<3x2x6xf32>, tensor<3x2x6xf32>
  }
}
