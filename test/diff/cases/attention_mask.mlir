// Attention with a mask, under which whole rows may be hidden (no numbers), and its gradients.
module @attention_mask {
  func.func public @main(%q: tensor<2x33x19xf32>, %k: tensor<2x40x19xf32>, %v: tensor<2x40x50xf32>, %g: tensor<2x33x50xf32>, %seen: tensor<33x40xi1>) -> (tensor<2x33x50xf32>, tensor<2x33x19xf32>, tensor<2x40x19xf32>, tensor<2x40x50xf32>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x33x19xf32>, tensor<2x40x19xf32>) -> tensor<2x33x40xf32>
    %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %nb = stablehlo.broadcast_in_dim %ninf, dims = [] : (tensor<f32>) -> tensor<2x33x40xf32>
    %zb = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<2x33x40xf32>
    %cb = stablehlo.broadcast_in_dim %seen, dims = [1, 2] : (tensor<33x40xi1>) -> tensor<2x33x40xi1>
    %t = stablehlo.select %cb, %s, %nb : tensor<2x33x40xi1>, tensor<2x33x40xf32>
    %mx = stablehlo.reduce(%t init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<2x33x40xf32>, tensor<f32>) -> tensor<2x33xf32>
    %mb = stablehlo.broadcast_in_dim %mx, dims = [0, 1] : (tensor<2x33xf32>) -> tensor<2x33x40xf32>
    %d = stablehlo.subtract %t, %mb : tensor<2x33x40xf32>
    %e = stablehlo.exponential %d : tensor<2x33x40xf32>
    %su = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x33x40xf32>, tensor<f32>) -> tensor<2x33xf32>
    %sb = stablehlo.broadcast_in_dim %su, dims = [0, 1] : (tensor<2x33xf32>) -> tensor<2x33x40xf32>
    %p = stablehlo.divide %e, %sb : tensor<2x33x40xf32>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x33x40xf32>, tensor<2x40x50xf32>) -> tensor<2x33x50xf32>
    %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x33x50xf32>, tensor<2x40x50xf32>) -> tensor<2x33x40xf32>
    %pd = stablehlo.multiply %p, %dp : tensor<2x33x40xf32>
    %de = stablehlo.reduce(%pd init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x33x40xf32>, tensor<f32>) -> tensor<2x33xf32>
    %deb = stablehlo.broadcast_in_dim %de, dims = [0, 1] : (tensor<2x33xf32>) -> tensor<2x33x40xf32>
    %u = stablehlo.subtract %dp, %deb : tensor<2x33x40xf32>
    %w = stablehlo.multiply %p, %u : tensor<2x33x40xf32>
    %ds = stablehlo.select %cb, %w, %zb : tensor<2x33x40xi1>, tensor<2x33x40xf32>
    %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x33x40xf32>, tensor<2x40x19xf32>) -> tensor<2x33x19xf32>
    %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x33x40xf32>, tensor<2x33x19xf32>) -> tensor<2x40x19xf32>
    %dv = stablehlo.dot_general %p, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x33x40xf32>, tensor<2x33x50xf32>) -> tensor<2x40x50xf32>
    return %o, %dq, %dk, %dv : tensor<2x33x50xf32>, tensor<2x33x19xf32>, tensor<2x40x19xf32>, tensor<2x40x50xf32>
  }
}
