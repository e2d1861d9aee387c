// Keys and values stored the other way round, 16-bit factors of f32 sums.
func.func @main(%q: tensor<3x37x40xbf16>, %k: tensor<3x40x90xbf16>, %v: tensor<3x40x90xbf16>) -> tensor<3x37x40xbf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x37x40xbf16>, tensor<3x40x90xbf16>) -> tensor<3x37x90xf32>
    %ninf = stablehlo.constant dense<-3.0e38> : tensor<f32>
    %m = stablehlo.reduce(%s init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<3x37x90xf32>, tensor<f32>) -> tensor<3x37xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<3x37xf32>) -> tensor<3x37x90xf32>
    %d = stablehlo.subtract %s, %mb : tensor<3x37x90xf32>
    %e = stablehlo.exponential %d : tensor<3x37x90xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %u = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : (tensor<3x37x90xf32>, tensor<f32>) -> tensor<3x37xf32>
    %ub = stablehlo.broadcast_in_dim %u, dims = [0, 1] : (tensor<3x37xf32>) -> tensor<3x37x90xf32>
    %p = stablehlo.divide %e, %ub : tensor<3x37x90xf32>
    %pt = stablehlo.convert %p : (tensor<3x37x90xf32>) -> tensor<3x37x90xbf16>
    %y = stablehlo.dot_general %pt, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x37x90xbf16>, tensor<3x40x90xbf16>) -> tensor<3x37x40xbf16>
    return %y : tensor<3x37x40xbf16>
}
