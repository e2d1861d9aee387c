// More columns than a piece, and a piece that is not whole.
func.func @main(%q: tensor<2x18x130xf16>, %k: tensor<2x33x130xf16>, %v: tensor<2x33x130xf16>) -> tensor<2x18x130xf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x18x130xf16>, tensor<2x33x130xf16>) -> tensor<2x18x33xf32>
    %ninf = stablehlo.constant dense<-3.0e38> : tensor<f32>
    %m = stablehlo.reduce(%s init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<2x18x33xf32>, tensor<f32>) -> tensor<2x18xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x18xf32>) -> tensor<2x18x33xf32>
    %d = stablehlo.subtract %s, %mb : tensor<2x18x33xf32>
    %e = stablehlo.exponential %d : tensor<2x18x33xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %u = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x18x33xf32>, tensor<f32>) -> tensor<2x18xf32>
    %ub = stablehlo.broadcast_in_dim %u, dims = [0, 1] : (tensor<2x18xf32>) -> tensor<2x18x33xf32>
    %p = stablehlo.divide %e, %ub : tensor<2x18x33xf32>
    %pt = stablehlo.convert %p : (tensor<2x18x33xf32>) -> tensor<2x18x33xf16>
    %y = stablehlo.dot_general %pt, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x18x33xf16>, tensor<2x33x130xf16>) -> tensor<2x18x130xf16>
    return %y : tensor<2x18x130xf16>
}
