// Attention in f64.
module @attention_f64 {
  func.func public @main(%q: tensor<2x25x9xf64>, %k: tensor<2x23x9xf64>, %v: tensor<2x23x18xf64>, %g: tensor<2x25x18xf64>, %seen: tensor<25x23xi1>) -> (tensor<2x25x18xf64>, tensor<2x25x9xf64>, tensor<2x23x9xf64>, tensor<2x23x18xf64>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x25x9xf64>, tensor<2x23x9xf64>) -> tensor<2x25x23xf64>
    %ninf = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %nb = stablehlo.broadcast_in_dim %ninf, dims = [] : (tensor<f64>) -> tensor<2x25x23xf64>
    %zb = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f64>) -> tensor<2x25x23xf64>
    %i = stablehlo.iota dim = 0 : tensor<25x23xi32>
    %j = stablehlo.iota dim = 1 : tensor<25x23xi32>
    %c = stablehlo.compare LE, %j, %i, SIGNED : (tensor<25x23xi32>, tensor<25x23xi32>) -> tensor<25x23xi1>
    %cb = stablehlo.broadcast_in_dim %c, dims = [1, 2] : (tensor<25x23xi1>) -> tensor<2x25x23xi1>
    %t = stablehlo.select %cb, %s, %nb : tensor<2x25x23xi1>, tensor<2x25x23xf64>
    %mx = stablehlo.reduce(%t init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<2x25x23xf64>, tensor<f64>) -> tensor<2x25xf64>
    %mb = stablehlo.broadcast_in_dim %mx, dims = [0, 1] : (tensor<2x25xf64>) -> tensor<2x25x23xf64>
    %d = stablehlo.subtract %t, %mb : tensor<2x25x23xf64>
    %e = stablehlo.exponential %d : tensor<2x25x23xf64>
    %su = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x25x23xf64>, tensor<f64>) -> tensor<2x25xf64>
    %sb = stablehlo.broadcast_in_dim %su, dims = [0, 1] : (tensor<2x25xf64>) -> tensor<2x25x23xf64>
    %p = stablehlo.divide %e, %sb : tensor<2x25x23xf64>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x25x23xf64>, tensor<2x23x18xf64>) -> tensor<2x25x18xf64>
    %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x25x18xf64>, tensor<2x23x18xf64>) -> tensor<2x25x23xf64>
    %pd = stablehlo.multiply %p, %dp : tensor<2x25x23xf64>
    %de = stablehlo.reduce(%pd init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x25x23xf64>, tensor<f64>) -> tensor<2x25xf64>
    %deb = stablehlo.broadcast_in_dim %de, dims = [0, 1] : (tensor<2x25xf64>) -> tensor<2x25x23xf64>
    %u = stablehlo.subtract %dp, %deb : tensor<2x25x23xf64>
    %w = stablehlo.multiply %p, %u : tensor<2x25x23xf64>
    %ds = stablehlo.select %cb, %w, %zb : tensor<2x25x23xi1>, tensor<2x25x23xf64>
    %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x25x23xf64>, tensor<2x23x9xf64>) -> tensor<2x25x9xf64>
    %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x25x23xf64>, tensor<2x25x9xf64>) -> tensor<2x23x9xf64>
    %dv = stablehlo.dot_general %p, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x25x23xf64>, tensor<2x25x18xf64>) -> tensor<2x23x18xf64>
    return %o, %dq, %dk, %dv : tensor<2x25x18xf64>, tensor<2x25x9xf64>, tensor<2x23x9xf64>, tensor<2x23x18xf64>
  }
}
