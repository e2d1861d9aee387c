// Attention of bf16, summed up in f32.
module @attention_bf16 {
  func.func public @main(%q: tensor<2x25x24xbf16>, %k: tensor<2x47x24xbf16>, %v: tensor<2x47x18xbf16>, %g: tensor<2x25x18xbf16>, %seen: tensor<25x47xi1>) -> (tensor<2x25x18xbf16>, tensor<2x25x24xbf16>, tensor<2x47x24xbf16>, tensor<2x47x18xbf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x25x24xbf16>, tensor<2x47x24xbf16>) -> tensor<2x25x47xbf16>
    %ninf = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %zero = stablehlo.constant dense<0.0> : tensor<bf16>
    %nb = stablehlo.broadcast_in_dim %ninf, dims = [] : (tensor<bf16>) -> tensor<2x25x47xbf16>
    %zb = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<bf16>) -> tensor<2x25x47xbf16>
    %i = stablehlo.iota dim = 0 : tensor<25x47xi32>
    %j = stablehlo.iota dim = 1 : tensor<25x47xi32>
    %c = stablehlo.compare LE, %j, %i, SIGNED : (tensor<25x47xi32>, tensor<25x47xi32>) -> tensor<25x47xi1>
    %cb = stablehlo.broadcast_in_dim %c, dims = [1, 2] : (tensor<25x47xi1>) -> tensor<2x25x47xi1>
    %t = stablehlo.select %cb, %s, %nb : tensor<2x25x47xi1>, tensor<2x25x47xbf16>
    %mx = stablehlo.reduce(%t init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<2x25x47xbf16>, tensor<bf16>) -> tensor<2x25xbf16>
    %mb = stablehlo.broadcast_in_dim %mx, dims = [0, 1] : (tensor<2x25xbf16>) -> tensor<2x25x47xbf16>
    %d = stablehlo.subtract %t, %mb : tensor<2x25x47xbf16>
    %e = stablehlo.exponential %d : tensor<2x25x47xbf16>
    %su = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x25x47xbf16>, tensor<bf16>) -> tensor<2x25xbf16>
    %sb = stablehlo.broadcast_in_dim %su, dims = [0, 1] : (tensor<2x25xbf16>) -> tensor<2x25x47xbf16>
    %p = stablehlo.divide %e, %sb : tensor<2x25x47xbf16>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x25x47xbf16>, tensor<2x47x18xbf16>) -> tensor<2x25x18xbf16>
    %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x25x18xbf16>, tensor<2x47x18xbf16>) -> tensor<2x25x47xbf16>
    %pd = stablehlo.multiply %p, %dp : tensor<2x25x47xbf16>
    %de = stablehlo.reduce(%pd init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x25x47xbf16>, tensor<bf16>) -> tensor<2x25xbf16>
    %deb = stablehlo.broadcast_in_dim %de, dims = [0, 1] : (tensor<2x25xbf16>) -> tensor<2x25x47xbf16>
    %u = stablehlo.subtract %dp, %deb : tensor<2x25x47xbf16>
    %w = stablehlo.multiply %p, %u : tensor<2x25x47xbf16>
    %ds = stablehlo.select %cb, %w, %zb : tensor<2x25x47xi1>, tensor<2x25x47xbf16>
    %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x25x47xbf16>, tensor<2x47x24xbf16>) -> tensor<2x25x24xbf16>
    %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x25x47xbf16>, tensor<2x25x24xbf16>) -> tensor<2x47x24xbf16>
    %dv = stablehlo.dot_general %p, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x25x47xbf16>, tensor<2x25x18xbf16>) -> tensor<2x47x18xbf16>
    return %o, %dq, %dk, %dv : tensor<2x25x18xbf16>, tensor<2x25x24xbf16>, tensor<2x47x24xbf16>, tensor<2x47x18xbf16>
  }
}
