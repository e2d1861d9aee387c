module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<3x4xf32>) -> (tensor<3x4xf32> {jax.result_info = "result[0]"}, tensor<3x4xf32> {jax.result_info = "result[1]"}, tensor<4x4xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %1 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %3 = stablehlo.add %0, %2 : tensor<4x4xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %5 = stablehlo.convert %4 : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %6 = stablehlo.slice %5 [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %7 = stablehlo.convert %6 : tensor<4x4xf32>
    %8 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %9 = stablehlo.dot_general %arg1, %7, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
    %10 = stablehlo.tanh %8 : tensor<3xf32>
    %11 = stablehlo.transpose %9, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %14 = stablehlo.multiply %11, %13 : tensor<4x3xf32>
    %15 = stablehlo.transpose %9, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %16 = stablehlo.add %15, %14 : tensor<4x3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %18 = stablehlo.subtract %17, %10 : tensor<3xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %21 = stablehlo.multiply %16, %20 : tensor<4x3xf32>
    %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %23 = stablehlo.slice %22 [0:3, 0:4] : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %24 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %25 = stablehlo.tanh %24 : tensor<3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %27 = stablehlo.subtract %26, %25 : tensor<3xf32>
    %28 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %29 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %31 = stablehlo.add %28, %30 : tensor<3x3xi32>
    %32 = stablehlo.compare EQ, %31, %29, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %33 = stablehlo.convert %32 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %34 = stablehlo.slice %33 [0:3, 0:3] : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %35 = stablehlo.convert %34 : tensor<3x3xf32>
    %36 = stablehlo.broadcast_in_dim %27, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<3x3xf32>
    %38 = stablehlo.multiply %35, %37 : tensor<3x3xf32>
    %39 = stablehlo.broadcast_in_dim %25, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<3x3xf32>
    %41 = stablehlo.multiply %38, %40 : tensor<3x3xf32>
    %42 = stablehlo.add %38, %41 : tensor<3x3xf32>
    %43 = stablehlo.dot_general %42, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %44 = stablehlo.slice %43 [0:3, 0:4] : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %45 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %46 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %47 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %48 = stablehlo.add %45, %47 : tensor<4x4xi32>
    %49 = stablehlo.compare EQ, %48, %46, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %50 = stablehlo.convert %49 : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %51 = stablehlo.slice %50 [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %52 = stablehlo.convert %51 : tensor<4x4xf32>
    %53 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %54 = stablehlo.dot_general %arg1, %52, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
    %55 = stablehlo.sine %53 : tensor<3xf32>
    %56 = stablehlo.transpose %54, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %57 = stablehlo.broadcast_in_dim %55, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %59 = stablehlo.multiply %56, %58 : tensor<4x3xf32>
    %60 = stablehlo.negate %59 : tensor<4x3xf32>
    %61 = stablehlo.iota dim = 0 : tensor<1x1xi32>
    %62 = stablehlo.iota dim = 1 : tensor<1x1xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %63 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<1x1xi32>
    %64 = stablehlo.add %61, %63 : tensor<1x1xi32>
    %65 = stablehlo.compare EQ, %64, %62, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
    %66 = stablehlo.convert %65 : (tensor<1x1xi1>) -> tensor<1x1xf32>
    %67 = stablehlo.slice %66 [0:1, 0:1] : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %68 = stablehlo.reshape %67 : (tensor<1x1xf32>) -> tensor<1xf32>
    %69 = stablehlo.convert %68 : tensor<1xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0] : (tensor<1xf32>) -> tensor<1x3xf32>
    %71 = stablehlo.broadcast_in_dim %60, dims = [0, 2] : (tensor<4x3xf32>) -> tensor<4x1x3xf32>
    %72 = stablehlo.broadcast_in_dim %70, dims = [1, 2] : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1, 2] : (tensor<1x1x3xf32>) -> tensor<4x1x3xf32>
    %74 = stablehlo.multiply %73, %71 : tensor<4x1x3xf32>
    %75 = stablehlo.dot_general %74, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x1x3xf32>, tensor<3x4xf32>) -> tensor<4x1x4xf32>
    %76 = stablehlo.slice %75 [0:4, 0:1, 0:4] : (tensor<4x1x4xf32>) -> tensor<4x1x4xf32>
    %77 = stablehlo.reshape %76 : (tensor<4x1x4xf32>) -> tensor<4x4xf32>
    %78 = stablehlo.transpose %77, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %79 = stablehlo.slice %78 [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %23, %44, %79 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<4x4xf32>
  }
}
