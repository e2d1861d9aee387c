#!/usr/bin/env python3
"""Makes the folders here whose programs work on windows: convolutions, pooling and their gradients, cumulative sums, as JAX writes them.

    python3 test/hlo/windows.py

Needs nothing but Python: arguments and expected results are computed here, element by element from the definitions (a
convolution is a sum over window positions and input features, and so on), in double, from arguments that f32 holds exactly,
and rounded once. Independent of the library and of XLA. Each case is named with its relative tolerance in cases.txt."""
import itertools
import os
import random
import struct

here = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(20240502)
f32 = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]


class Array:
    def __init__(self, shape, values=None, kind="<f4"):
        self.shape, self.kind = tuple(shape), kind
        self.n = 1
        for d in shape:
            self.n *= d
        self.v = list(values) if values is not None else [0.0] * self.n

    def at(self, *i):
        k = 0
        for d, x in zip(self.shape, i):
            k = k * d + x
        return k

    def __getitem__(self, i):
        return self.v[self.at(*i)]

    def __setitem__(self, i, x):
        self.v[self.at(*i)] = x

    def indices(self):
        return itertools.product(*map(range, self.shape))

    def save(self, path):
        head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (
            self.kind, str(self.shape))
        head += " " * (-(len(head) + 11) % 64) + "\n"
        code = {"<f4": "f", "<i4": "i"}[self.kind]
        with open(path, "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
            f.write(struct.pack("<%d%s" % (self.n, code), *self.v))


def normal(*shape):
    a = Array(shape)
    a.v = [f32(rng.gauss(0, 1)) for _ in range(a.n)]
    return a


def case(name, program, args, results, tol="1e-5"):
    folder = os.path.join(here, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "prog.mlir"), "w") as f:
        f.write("module @jit_%s attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n%s}\n"
                % (name, program))
    for i, a in enumerate(args):
        a.save(os.path.join(folder, "in%d.npy" % i))
    for i, a in enumerate(results):
        a.save(os.path.join(folder, "out%d.npy" % i))
    path = os.path.join(here, "cases.txt")
    lines = open(path).read().splitlines()
    if not any(line.split()[0] == name for line in lines):
        open(path, "a").write("%s %s\n" % (name, tol))


def inside(x, p):
    return all(0 <= i < d for i, d in zip(p, x.shape))


# ---- convolution, NHWC x HWIO ----
def conv(x, k, stride, pad, lhs_dilation=(1, 1), rhs_dilation=(1, 1), groups=1):
    b, h, w, c = x.shape
    kh, kw, ci, o = k.shape
    out = []
    for n, kn, s, (lo, hi), ld, rd in zip((h, w), (kh, kw), stride, pad, lhs_dilation, rhs_dilation):
        out.append(((n - 1) * ld + 1 + lo + hi - ((kn - 1) * rd + 1)) // s + 1)
    y = Array((b, out[0], out[1], o))
    for n, i, j, f in y.indices():
        total = 0.0
        for p, q, e in itertools.product(range(kh), range(kw), range(ci)):
            u = i * stride[0] + p * rhs_dilation[0] - pad[0][0]
            v = j * stride[1] + q * rhs_dilation[1] - pad[1][0]
            if u % lhs_dilation[0] or v % lhs_dilation[1]:
                continue
            at = (n, u // lhs_dilation[0], v // lhs_dilation[1], f // (o // groups) * ci + e)
            if inside(x, at):
                total += x[at] * k[p, q, e, f]
        y[n, i, j, f] = total
    return y


x, k = normal(2, 16, 16, 3), normal(3, 3, 3, 8)
case("conv_general_dilated", """  func.func public @main(%arg0: tensor<2x16x16x3xf32>, %arg1: tensor<3x3x3x8xf32>) -> (tensor<2x8x8x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x3xf32>, tensor<3x3x3x8xf32>) -> tensor<2x8x8x8xf32>
    return %0 : tensor<2x8x8x8xf32>
  }
""", [x, k], [conv(x, k, (2, 2), ((0, 1), (0, 1)))])

x, k = normal(1, 5, 6, 4), normal(2, 3, 2, 6)
case("conv_dilated_groups", """  func.func public @main(%arg0: tensor<1x5x6x4xf32>, %arg1: tensor<2x3x2x6xf32>) -> (tensor<1x9x5x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 0], [2, 1]], lhs_dilate = [2, 1], rhs_dilate = [1, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x5x6x4xf32>, tensor<2x3x2x6xf32>) -> tensor<1x9x5x6xf32>
    return %0 : tensor<1x9x5x6xf32>
  }
""", [x, k], [conv(x, k, (1, 1), ((1, 0), (2, 1)), (2, 1), (1, 2), 2)])


# ---- pooling, NHWC ----
x = normal(2, 8, 8, 3)
y = Array((2, 4, 4, 3))
g = Array(x.shape)
for n, i, j, c in y.indices():
    best = max(((x[n, 2 * i + p, 2 * j + q, c], -p, -q) for p in (0, 1) for q in (0, 1)))
    y[n, i, j, c] = best[0]
    g[n, 2 * i - best[1], 2 * j - best[2], c] += 1.0
case("reduce_window_pool", """  func.func public @main(%arg0: tensor<2x8x8x3xf32>) -> (tensor<2x4x4x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x8x8x3xf32>, tensor<f32>) -> tensor<2x4x4x3xf32>
    return %1 : tensor<2x4x4x3xf32>
  }
""", [x], [y], "0")
SELECT = """    %%1 = "stablehlo.select_and_scatter"(%%arg0, %s, %%cst) <{%swindow_dimensions = array<i64: 1, %d, %d, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%%arg2: tensor<f32>, %%arg3: tensor<f32>):
      %%2 = stablehlo.compare GE, %%arg2, %%arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %%2 : tensor<i1>
    }, {
    ^bb0(%%arg2: tensor<f32>, %%arg3: tensor<f32>):
      %%2 = stablehlo.add %%arg2, %%arg3 : tensor<f32>
      stablehlo.return %%2 : tensor<f32>
    }) : (tensor<2x8x8x3xf32>, tensor<2x4x4x3xf32>, tensor<f32>) -> tensor<2x8x8x3xf32>
    return %%1 : tensor<2x8x8x3xf32>
  }
"""
case("grad_pool", """  func.func public @main(%arg0: tensor<2x8x8x3xf32>) -> (tensor<2x8x8x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x4x3xf32>
""" + SELECT % ("%0", "", 2, 2), [x], [g], "0")

# overlapping windows of 3 with a stride of 2, padded after: several may choose one element
x, source = normal(2, 8, 8, 3), normal(2, 4, 4, 3)
g = Array(x.shape)
for n, i, j, c in source.indices():
    window = [(2 * i + p, 2 * j + q) for p in range(3) for q in range(3) if 2 * i + p < 8 and 2 * j + q < 8]
    best = max(window, key=lambda at: (x[n, at[0], at[1], c], -at[0], -at[1]))
    g[n, best[0], best[1], c] += source[n, i, j, c]
case("select_and_scatter_overlap", """  func.func public @main(%arg0: tensor<2x8x8x3xf32>, %arg1: tensor<2x4x4x3xf32>) -> (tensor<2x8x8x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
""" + SELECT % ("%arg1", "padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, ", 3, 3), [x, source], [g])

# an average of windows, padded and dilated
x = normal(7, 5)
y = Array((4, 5))
for i, j in y.indices():
    y[i, j] = sum(x[2 * i - 1 + p, j - 2 + 2 * q] for p in range(3) for q in range(3)
                  if inside(x, (2 * i - 1 + p, j - 2 + 2 * q)))
case("reduce_window_dilated", """  func.func public @main(%arg0: tensor<7x5xf32>) -> (tensor<4x5xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[1, 1], [2, 2]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 2>, window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<7x5xf32>, tensor<f32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
""", [x], [y])

# ---- cumulative: the whole dimension as a window ----
x = normal(3, 200)
y, m = Array(x.shape), Array(x.shape)
for i in range(3):
    total, most = 0.0, float("-inf")
    for j in range(200):
        total += x[i, j]
        y[i, j] = total
    for j in reversed(range(200)):
        most = max(most, x[i, j])
        m[i, j] = most
case("cumsum_reduce_window", """  func.func public @main(%arg0: tensor<3x200xf32>) -> (tensor<3x200xf32> {jax.result_info = "result[0]"}, tensor<3x200xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{padding = dense<[[0, 0], [199, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 200>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %4 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<3x200xf32>, tensor<f32>) -> tensor<3x200xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<f32>
    %3 = "stablehlo.reduce_window"(%arg0, %2) <{padding = dense<[[0, 0], [0, 199]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 200>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %4 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<3x200xf32>, tensor<f32>) -> tensor<3x200xf32>
    return %1, %3 : tensor<3x200xf32>, tensor<3x200xf32>
  }
""", [x], [y, m])
