// Attention with a causal mask, and its gradients: kernels that keep rows, of odd sizes.
module @attention_causal {
  func.func public @main(%q: tensor<3x49x20xf32>, %k: tensor<3x35x20xf32>, %v: tensor<3x35x17xf32>, %g: tensor<3x49x17xf32>, %seen: tensor<49x35xi1>) -> (tensor<3x49x17xf32>, tensor<3x49x20xf32>, tensor<3x35x20xf32>, tensor<3x35x17xf32>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x49x20xf32>, tensor<3x35x20xf32>) -> tensor<3x49x35xf32>
    %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %nb = stablehlo.broadcast_in_dim %ninf, dims = [] : (tensor<f32>) -> tensor<3x49x35xf32>
    %zb = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<3x49x35xf32>
    %i = stablehlo.iota dim = 0 : tensor<49x35xi32>
    %j = stablehlo.iota dim = 1 : tensor<49x35xi32>
    %c = stablehlo.compare LE, %j, %i, SIGNED : (tensor<49x35xi32>, tensor<49x35xi32>) -> tensor<49x35xi1>
    %cb = stablehlo.broadcast_in_dim %c, dims = [1, 2] : (tensor<49x35xi1>) -> tensor<3x49x35xi1>
    %t = stablehlo.select %cb, %s, %nb : tensor<3x49x35xi1>, tensor<3x49x35xf32>
    %mx = stablehlo.reduce(%t init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<3x49x35xf32>, tensor<f32>) -> tensor<3x49xf32>
    %mb = stablehlo.broadcast_in_dim %mx, dims = [0, 1] : (tensor<3x49xf32>) -> tensor<3x49x35xf32>
    %d = stablehlo.subtract %t, %mb : tensor<3x49x35xf32>
    %e = stablehlo.exponential %d : tensor<3x49x35xf32>
    %su = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x49x35xf32>, tensor<f32>) -> tensor<3x49xf32>
    %sb = stablehlo.broadcast_in_dim %su, dims = [0, 1] : (tensor<3x49xf32>) -> tensor<3x49x35xf32>
    %p = stablehlo.divide %e, %sb : tensor<3x49x35xf32>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x49x35xf32>, tensor<3x35x17xf32>) -> tensor<3x49x17xf32>
    %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x49x17xf32>, tensor<3x35x17xf32>) -> tensor<3x49x35xf32>
    %pd = stablehlo.multiply %p, %dp : tensor<3x49x35xf32>
    %de = stablehlo.reduce(%pd init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x49x35xf32>, tensor<f32>) -> tensor<3x49xf32>
    %deb = stablehlo.broadcast_in_dim %de, dims = [0, 1] : (tensor<3x49xf32>) -> tensor<3x49x35xf32>
    %u = stablehlo.subtract %dp, %deb : tensor<3x49x35xf32>
    %w = stablehlo.multiply %p, %u : tensor<3x49x35xf32>
    %ds = stablehlo.select %cb, %w, %zb : tensor<3x49x35xi1>, tensor<3x49x35xf32>
    %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x49x35xf32>, tensor<3x35x20xf32>) -> tensor<3x49x20xf32>
    %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x49x35xf32>, tensor<3x49x20xf32>) -> tensor<3x35x20xf32>
    %dv = stablehlo.dot_general %p, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x49x35xf32>, tensor<3x49x17xf32>) -> tensor<3x35x17xf32>
    return %o, %dq, %dk, %dv : tensor<3x49x17xf32>, tensor<3x49x20xf32>, tensor<3x35x20xf32>, tensor<3x35x17xf32>
  }
}
