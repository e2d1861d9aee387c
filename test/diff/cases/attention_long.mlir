// Rows so long that a block of a GPU has room for few.
func.func @main(%q: tensor<1x21x8xf32>, %k: tensor<1x1500x8xf32>, %v: tensor<1x1500x8xf32>) -> tensor<1x21x8xf32> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x21x8xf32>, tensor<1x1500x8xf32>) -> tensor<1x21x1500xf32>
    %ninf = stablehlo.constant dense<-3.0e38> : tensor<f32>
    %m = stablehlo.reduce(%s init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<1x21x1500xf32>, tensor<f32>) -> tensor<1x21xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<1x21xf32>) -> tensor<1x21x1500xf32>
    %d = stablehlo.subtract %s, %mb : tensor<1x21x1500xf32>
    %e = stablehlo.exponential %d : tensor<1x21x1500xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %u = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : (tensor<1x21x1500xf32>, tensor<f32>) -> tensor<1x21xf32>
    %ub = stablehlo.broadcast_in_dim %u, dims = [0, 1] : (tensor<1x21xf32>) -> tensor<1x21x1500xf32>
    %p = stablehlo.divide %e, %ub : tensor<1x21x1500xf32>
    %y = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x21x1500xf32>, tensor<1x1500x8xf32>) -> tensor<1x21x8xf32>
    return %y : tensor<1x21x8xf32>
}
