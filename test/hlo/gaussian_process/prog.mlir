module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<12xf32>, %arg2: tensor<12xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<2xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    %2 = stablehlo.slice %arg0 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = stablehlo.negate %3 : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x12xf32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<12x12xf32>
    %9 = stablehlo.subtract %7, %8 : tensor<12x12xf32>
    %10 = stablehlo.multiply %9, %9 : tensor<12x12xf32>
    %11 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<12x12xf32>
    %13 = stablehlo.exponential %12 : tensor<12x12xf32>
    %14 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<12x12xf32>
    %16 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %17 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %19 = stablehlo.add %16, %18 : tensor<12x12xi32>
    %20 = stablehlo.compare EQ, %19, %17, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %21 = stablehlo.convert %20 : (tensor<12x12xi1>) -> tensor<12x12xf32>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %23 = stablehlo.multiply %22, %21 : tensor<12x12xf32>
    %24 = stablehlo.add %15, %23 : tensor<12x12xf32>
    %25:5 = call @cholesky(%24) : (tensor<12x12xf32>) -> (tensor<12x12xf32>, tensor<12x12xf32>, tensor<12x12xi1>, tensor<12x12xf32>, tensor<12x12xi1>)
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %27 = stablehlo.multiply %26, %arg2 : tensor<12xf32>
    %28:5 = call @_cho_solve(%25#0, %arg2) : (tensor<12x12xf32>, tensor<12xf32>) -> (tensor<12xf32>, tensor<12x12xi1>, tensor<12x1xf32>, tensor<12x12xi1>, tensor<12x1xf32>)
    %29 = stablehlo.dot_general %27, %28#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<12xf32>, tensor<12xf32>) -> tensor<f32>
    %30:4 = call @_diag(%25#0) : (tensor<12x12xf32>) -> (tensor<12xf32>, tensor<i32>, tensor<12x12xf32>, tensor<12x2xi32>)
    %31 = stablehlo.log %30#0 : tensor<12xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
    %33 = stablehlo.add %29, %32 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %35 = stablehlo.divide %34, %30#0 : tensor<12xf32>
    %36 = call @_diag_0(%30#1, %30#2, %30#3, %35) : (tensor<i32>, tensor<12x12xf32>, tensor<12x2xi32>, tensor<12xf32>) -> tensor<12x12xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.dot_general %cst_3, %27, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<f32>, tensor<12xf32>) -> tensor<12xf32>
    %38 = call @_cho_solve_2(%28#1, %28#2, %25#0, %28#3, %28#4, %37) : (tensor<12x12xi1>, tensor<12x1xf32>, tensor<12x12xf32>, tensor<12x12xi1>, tensor<12x1xf32>, tensor<12xf32>) -> tensor<12x12xf32>
    %39 = stablehlo.add %36, %38 : tensor<12x12xf32>
    %40 = call @cholesky_3(%25#1, %25#2, %25#3, %25#4, %39) : (tensor<12x12xf32>, tensor<12x12xi1>, tensor<12x12xf32>, tensor<12x12xi1>, tensor<12x12xf32>) -> tensor<12x12xf32>
    %41 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %42 = stablehlo.multiply %41, %40 : tensor<12x12xf32>
    %43 = stablehlo.multiply %40, %13 : tensor<12x12xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x12xf32>, tensor<f32>) -> tensor<f32>
    %45 = stablehlo.multiply %42, %13 : tensor<12x12xf32>
    %46 = stablehlo.multiply %45, %10 : tensor<12x12xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x12xf32>, tensor<f32>) -> tensor<f32>
    %48 = stablehlo.negate %47 : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.pad %49, %cst_6, low = [1], high = [0], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %51 = stablehlo.broadcast_in_dim %44, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.pad %51, %cst_7, low = [0], high = [1], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %53 = stablehlo.add %50, %52 : tensor<2xf32>
    return %33, %53 : tensor<f32>, tensor<2xf32>
  }
  func.func private @cholesky(%arg0: tensor<12x12xf32>) -> (tensor<12x12xf32>, tensor<12x12xf32>, tensor<12x12xi1>, tensor<12x12xf32>, tensor<12x12xi1>) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<12x12xf32>) -> tensor<12x12xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<12x12xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %3 = stablehlo.divide %1, %2 : tensor<12x12xf32>
    %4 = stablehlo.cholesky %3, lower = true : tensor<12x12xf32>
    %5 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %7 = stablehlo.add %5, %6 : tensor<12x12xi32>
    %8 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %9 = stablehlo.compare GE, %7, %8, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %11 = stablehlo.select %9, %4, %10 : tensor<12x12xi1>, tensor<12x12xf32>
    %12 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %14 = stablehlo.add %12, %13 : tensor<12x12xi32>
    %15 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %16 = stablehlo.compare GE, %14, %15, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %17 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %19 = stablehlo.add %17, %18 : tensor<12x12xi32>
    %20 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %21 = stablehlo.compare EQ, %19, %20, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %22 = stablehlo.convert %21 : (tensor<12x12xi1>) -> tensor<12x12xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %24 = stablehlo.add %23, %22 : tensor<12x12xf32>
    %25 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %27 = stablehlo.add %25, %26 : tensor<12x12xi32>
    %28 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %29 = stablehlo.compare GE, %27, %28, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %31 = stablehlo.select %29, %11, %30 : tensor<12x12xi1>, tensor<12x12xf32>
    return %31, %11, %16, %24, %29 : tensor<12x12xf32>, tensor<12x12xf32>, tensor<12x12xi1>, tensor<12x12xf32>, tensor<12x12xi1>
  }
  func.func private @_cho_solve(%arg0: tensor<12x12xf32>, %arg1: tensor<12xf32>) -> (tensor<12xf32>, tensor<12x12xi1>, tensor<12x1xf32>, tensor<12x12xi1>, tensor<12x1xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %1 = "stablehlo.triangular_solve"(%arg0, %0) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<12x12xf32>, tensor<12x1xf32>) -> tensor<12x1xf32>
    %2 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %4 = stablehlo.add %2, %3 : tensor<12x12xi32>
    %5 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %7 = stablehlo.reshape %1 : (tensor<12x1xf32>) -> tensor<12xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %9 = "stablehlo.triangular_solve"(%arg0, %8) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<12x12xf32>, tensor<12x1xf32>) -> tensor<12x1xf32>
    %10 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %12 = stablehlo.add %10, %11 : tensor<12x12xi32>
    %13 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %14 = stablehlo.compare GE, %12, %13, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %15 = stablehlo.reshape %9 : (tensor<12x1xf32>) -> tensor<12xf32>
    return %15, %6, %1, %14, %9 : tensor<12xf32>, tensor<12x12xi1>, tensor<12x1xf32>, tensor<12x12xi1>, tensor<12x1xf32>
  }
  func.func private @_diag(%arg0: tensor<12x12xf32>) -> (tensor<12xf32>, tensor<i32>, tensor<12x12xf32>, tensor<12x2xi32>) {
    %0:4 = call @diagonal(%arg0) : (tensor<12x12xf32>) -> (tensor<12xf32>, tensor<i32>, tensor<12x12xf32>, tensor<12x2xi32>)
    return %0#0, %0#1, %0#2, %0#3 : tensor<12xf32>, tensor<i32>, tensor<12x12xf32>, tensor<12x2xi32>
  }
  func.func private @diagonal(%arg0: tensor<12x12xf32>) -> (tensor<12xf32>, tensor<i32>, tensor<12x12xf32>, tensor<12x2xi32>) {
    %0 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %1 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %3 = stablehlo.add %0, %2 : tensor<12x12xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %5 = stablehlo.convert %4 : (tensor<12x12xi1>) -> tensor<12x12xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7:3 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<12xi32>
      %9 = stablehlo.iota dim = 0 : tensor<12xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<12xi32>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
      %c_2 = stablehlo.constant dense<12> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12xi32>
      %13 = stablehlo.add %8, %12 : tensor<12xi32>
      %14 = stablehlo.select %11, %13, %8 : tensor<12xi1>, tensor<12xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<12xi32>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
      %c_4 = stablehlo.constant dense<12> : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<12xi32>
      %18 = stablehlo.add %9, %17 : tensor<12xi32>
      %19 = stablehlo.select %16, %18, %9 : tensor<12xi1>, tensor<12xi32>
      %20 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
      %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
      %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x2xi32>
      %23 = "stablehlo.gather"(%arg0, %22) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<12x12xf32>, tensor<12x2xi32>) -> tensor<12xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %24 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
      stablehlo.return %23, %24, %22 : tensor<12xf32>, tensor<12x12xf32>, tensor<12x2xi32>
    }) : (tensor<i32>) -> (tensor<12xf32>, tensor<12x12xf32>, tensor<12x2xi32>)
    return %7#0, %c_0, %7#1, %7#2 : tensor<12xf32>, tensor<i32>, tensor<12x12xf32>, tensor<12x2xi32>
  }
  func.func private @_diag_0(%arg0: tensor<i32>, %arg1: tensor<12x12xf32>, %arg2: tensor<12x2xi32>, %arg3: tensor<12xf32>) -> tensor<12x12xf32> {
    %0 = call @diagonal_1(%arg0, %arg1, %arg2, %arg3) : (tensor<i32>, tensor<12x12xf32>, tensor<12x2xi32>, tensor<12xf32>) -> tensor<12x12xf32>
    return %0 : tensor<12x12xf32>
  }
  func.func private @diagonal_1(%arg0: tensor<i32>, %arg1: tensor<12x12xf32>, %arg2: tensor<12x2xi32>, %arg3: tensor<12xf32>) -> tensor<12x12xf32> {
    %0 = "stablehlo.case"(%arg0) ({
      %c = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
      %3 = "stablehlo.scatter"(%2, %arg2, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %4 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }) : (tensor<12x12xf32>, tensor<12x2xi32>, tensor<12xf32>) -> tensor<12x12xf32>
      stablehlo.return %3 : tensor<12x12xf32>
    }) : (tensor<i32>) -> tensor<12x12xf32>
    return %1 : tensor<12x12xf32>
  }
  func.func private @_cho_solve_2(%arg0: tensor<12x12xi1>, %arg1: tensor<12x1xf32>, %arg2: tensor<12x12xf32>, %arg3: tensor<12x12xi1>, %arg4: tensor<12x1xf32>, %arg5: tensor<12xf32>) -> tensor<12x12xf32> {
    %0 = stablehlo.broadcast_in_dim %arg5, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %1 = "stablehlo.triangular_solve"(%arg2, %0) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<12x12xf32>, tensor<12x1xf32>) -> tensor<12x1xf32>
    %2 = "stablehlo.triangular_solve"(%arg2, %0) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<12x12xf32>, tensor<12x1xf32>) -> tensor<12x1xf32>
    %3 = stablehlo.dot_general %2, %arg4, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<12x1xf32>, tensor<12x1xf32>) -> tensor<12x12xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<12x12xf32>) -> tensor<12x12xf32>
    %5 = stablehlo.negate %4 : tensor<12x12xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %7 = stablehlo.select %arg3, %5, %6 : tensor<12x12xi1>, tensor<12x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<12x1xf32>, tensor<f32>) -> tensor<12xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %10 = "stablehlo.triangular_solve"(%arg2, %9) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<12x12xf32>, tensor<12x1xf32>) -> tensor<12x1xf32>
    %11 = stablehlo.dot_general %10, %arg1, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<12x1xf32>, tensor<12x1xf32>) -> tensor<12x12xf32>
    %12 = stablehlo.negate %11 : tensor<12x12xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %14 = stablehlo.select %arg0, %12, %13 : tensor<12x12xi1>, tensor<12x12xf32>
    %15 = stablehlo.add %7, %14 : tensor<12x12xf32>
    return %15 : tensor<12x12xf32>
  }
  func.func private @cholesky_3(%arg0: tensor<12x12xf32>, %arg1: tensor<12x12xi1>, %arg2: tensor<12x12xf32>, %arg3: tensor<12x12xi1>, %arg4: tensor<12x12xf32>) -> tensor<12x12xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %1 = stablehlo.select %arg3, %arg4, %0 : tensor<12x12xi1>, tensor<12x12xf32>
    %2 = stablehlo.dot_general %1, %arg0, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<12x12xf32>) -> tensor<12x12xf32>
    %4 = stablehlo.divide %3, %arg2 : tensor<12x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %6 = stablehlo.select %arg1, %4, %5 : tensor<12x12xi1>, tensor<12x12xf32>
    %7 = "stablehlo.triangular_solve"(%arg0, %6) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
    %8 = "stablehlo.triangular_solve"(%arg0, %7) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %10 = stablehlo.divide %8, %9 : tensor<12x12xf32>
    %11 = stablehlo.transpose %10, dims = [1, 0] : (tensor<12x12xf32>) -> tensor<12x12xf32>
    %12 = stablehlo.add %10, %11 : tensor<12x12xf32>
    return %12 : tensor<12x12xf32>
  }
}
