#!/usr/bin/env python3
"""Makes the folders here: programs as JAX lowers them, arguments, and what XLA's CPU backend answers.

    pip install jax numpy && python3 test/hlo/make.py [NAME..]

NAME: makes the folders of these cases only, as another version of JAX writes other text.

Each folder holds prog.mlir, in0.npy .. and out0.npy .. in the order of the program's parameters and results. The files
are committed; nothing in the tests needs Python. Each case is named with its relative tolerance in cases.txt."""
import os
import sys
import numpy as np
import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_platforms", "cpu")
here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20240501)
f32 = lambda *s: rng.standard_normal(s).astype(np.float32)
cases = []


def case(name, fn, *args, tol="1e-5", platform="tpu"):
    folder = os.path.join(here, name)
    cases.append((name, tol))
    if sys.argv[1:] and name not in sys.argv[1:]:
        return
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "prog.mlir"), "w") as f:
        # mostly for TPU: there JAX unrolls its generators instead of writing loops
        f.write(jax.jit(fn).trace(*args).lower(lowering_platforms=(platform,)).as_text())
    for i, a in enumerate(args):
        np.save(os.path.join(folder, f"in{i}.npy"), np.asarray(a))
    for i, r in enumerate(jax.tree.leaves(jax.jit(fn)(*args))):
        np.save(os.path.join(folder, f"out{i}.npy"), np.asarray(r))


def softmax_xent(logits, labels):
    z = logits - logits.max(-1, keepdims=True)
    logp = z - jnp.log(jnp.exp(z).sum(-1, keepdims=True))
    return -(labels * logp).sum(-1).mean()


def mlp(p, x):
    return jnp.tanh(x @ p[0] + p[1]) @ p[2] + p[3]


params = [f32(12, 16), f32(16), f32(16, 5), f32(5)]
onehot = np.eye(5, dtype=np.float32)[rng.integers(0, 5, 8)]

case("x_plus_1", lambda x: x + 1, f32(4), tol="0")
case("matmul_relu", lambda x, w, b: jax.nn.relu(x @ w + b), f32(8, 16), f32(16, 32), f32(32))
case("mlp_grad", lambda a, b, c, d, x, y: jax.grad(lambda p: softmax_xent(mlp(p, x), y))([a, b, c, d]),
     *params, f32(8, 12), onehot)


def attention(q, k, v):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))
    p = jax.nn.softmax(jnp.where(mask, s, -jnp.inf), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", p, v)


case("attention", attention, f32(2, 7, 3, 4), f32(2, 7, 3, 4), f32(2, 7, 3, 4))


def layer_norm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * g + b


case("layer_norm", layer_norm, f32(6, 33), f32(33), f32(33))
case("layer_norm_grad", jax.grad(lambda x, g, b: (layer_norm(x, g, b) ** 3).sum(), (0, 1, 2)), f32(6, 33), f32(33), f32(33),
     tol="1e-4")
case("gelu_tanh", lambda x: jax.nn.gelu(x, approximate=True), 3 * f32(50))
case("transcendental", lambda x, y: (jnp.sin(x), jnp.cos(x), jnp.tan(y), jnp.log1p(y), jnp.expm1(x), jnp.cbrt(x), jnp.exp(x),
                                     jnp.arctan2(x, y), lax.rsqrt(y), lax.erf(x), lax.logistic(x)), 2 * f32(40),
     np.abs(f32(40)) + np.float32(0.1))
case("gather_scatter", lambda x, i: x.at[i].add(2 * x[i]), f32(10, 3), np.array([0, 3, 3, -1, 7], np.int32))
case("embedding_grad", lambda t, i: jax.grad(lambda t: (t[i] ** 2).sum())(t), f32(11, 6), rng.integers(0, 11, (4, 5)).astype(np.int32))
case("take_along", lambda x, i: jnp.take_along_axis(x, i, axis=1), f32(4, 9), rng.integers(0, 9, (4, 3)).astype(np.int32), tol="0")
case("dynamic_update", lambda x, u, i: (lax.dynamic_update_slice(x, u, (i, 0)), lax.dynamic_slice(x, (i, i), (2, 3))), f32(6, 5),
     f32(2, 5), np.int32(5), tol="0")
case("argmax", lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 0), x.max(1), x.min()), f32(7, 9), tol="0")
case("integers", lambda a, b: (a // b, a % b, a & b, a | b, a ^ b, a << (b & 7), a >> (b & 7), lax.population_count(a), lax.clz(a),
                               a * b - a, lax.div(a, b), lax.rem(a, b)),
     rng.integers(-10**9, 10**9, 30).astype(np.int32), rng.integers(1, 10**5, 30).astype(np.int32), tol="0")
case("padding", lambda x: (lax.pad(x, np.float32(-1), ((1, 2, 1), (-1, 0, 2))), x[::-1, 1::2], jnp.concatenate([x, x[:1]]),
                           jnp.transpose(x)), f32(4, 6), tol="0")
case("reductions", lambda x: (x.sum((0, 2)), x.prod(1), x.mean(), (x > 0).any(1), (x > -3).all(), jnp.linalg.norm(x, axis=2)), f32(3, 5, 4))
case("bf16_mlp", lambda x, w: jnp.tanh((x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16))).astype(jnp.float32), f32(8, 24), f32(24, 6),
     tol="2e-2")
case("bf16_dot", lambda a, b: (lax.dot(a, b, preferred_element_type=jnp.float32), a @ b, a + a, a.sum(0)),
     f32(8, 9).astype(jnp.bfloat16), f32(9, 4).astype(jnp.bfloat16), tol="1e-2")
case("f16_scale", lambda x: ((x.astype(jnp.float16) * 3 + 1) / 7).astype(jnp.float32), f32(40), tol="2e-3")
case("random_uniform", lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (13,), minval=-2, maxval=3), np.array([8, 1], np.uint32))
case("rbg_bits", lambda k: lax.rng_bit_generator(k, (3, 5), dtype=np.uint32), np.array([1, 2, 3, 4], np.uint32), tol="0")
case("dropout", lambda k, x: jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(k), 0.7, x.shape), x / np.float32(0.7), 0),
     np.array([5, 6], np.uint32), f32(6, 8))


def adam(p, g, m, v, t):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    mh, vh = m / (1 - 0.9 ** t), v / (1 - 0.999 ** t)
    return p - 1e-3 * mh / (jnp.sqrt(vh) + 1e-8), m, v


case("adam", adam, f32(20), f32(20), f32(20), np.abs(f32(20)), np.float32(3))
case("batch_dot", lambda a, b: (jnp.einsum("bij,bkj->bik", a, b), jnp.einsum("bij,bij->b", a, b), jnp.tensordot(a, b, ((0, 2), (0, 2)))),
     f32(3, 4, 5), f32(3, 6, 5)[:, :4])
case("select_clip", lambda x: (jnp.clip(x, -0.5, 0.5), jnp.where(x > 0, x, 0.1 * x), jnp.sign(x), jnp.round(x * 3), jnp.floor(x), jnp.ceil(x)),
     f32(30))
case("converts", lambda x: (x.astype(np.int32), x.astype(np.uint8), (x * 100).astype(np.int8), x > 0, x.astype(np.int16).astype(np.float32)),
     np.abs(3 * f32(30)), tol="0")
case("empty", lambda x: (x + 1, x.sum(), jnp.concatenate([x, jnp.ones((2, 3), np.float32)])), np.zeros((0, 3), np.float32), tol="0")
special = np.round(f32(6, 7), 1)
special[0, 3], special[1, 3], special[2, 3], special[2, 6], special[3, 1] = np.nan, np.inf, -np.inf, -0.0, 0.0
case("sort", lambda x: (jnp.sort(x, 1), jnp.argsort(x, 0)), special, tol="0")
case("top_k", lambda x: lax.top_k(x, 3), np.round(f32(4, 9), 1), tol="0")


# ---- control flow ----

def rnn(w, u, xs, h):
    step = lambda h, x: (jnp.tanh(h @ w + x @ u),) * 2
    return lax.scan(step, h, xs)


rnn_args = 0.5 * f32(6, 6), f32(4, 6), f32(5, 3, 4), f32(3, 6)
case("while_newton", lambda a: lax.while_loop(lambda s: (jnp.abs(s[0] * s[0] - a) > 1e-4).any() & (s[1] < 50),
                                              lambda s: (0.5 * (s[0] + a / s[0]), s[1] + 1), (a, 0)), np.abs(f32(9)) + np.float32(0.5))
case("scan_rnn", rnn, *rnn_args)
case("scan_rnn_grad", jax.grad(lambda w, u, xs, h: (rnn(w, u, xs, h)[1] ** 2).sum(), (0, 1, 2, 3)), *rnn_args, tol="1e-4")
case("scan_reverse", lambda x: lax.scan(lambda c, v: (c * 0.5 + v, c), jnp.zeros(3, np.float32), x, reverse=True), f32(7, 3))
case("cond_both", lambda p, x: (lax.cond(p, lambda x: x * 2, lambda x: -x, x), lax.cond(~p, jnp.sin, jnp.cos, x)), np.bool_(True), f32(5))
case("cond_grad", jax.grad(lambda x: lax.cond(x.sum() > 0, lambda x: (x ** 3).sum(), lambda x: jnp.exp(x).sum(), x)), f32(6))
case("switch_inside", lambda i, x: lax.switch(i, [lambda x: x + 1, lambda x: x * 2, jnp.tanh, lambda x: -x], x), np.int32(2), f32(4, 3))
case("switch_beyond", lambda i, x: lax.switch(i, [lambda x: x + 1, lambda x: x * 2, jnp.tanh, lambda x: -x], x), np.int32(7), f32(4, 3))
case("fori_power", lambda a, v: lax.fori_loop(0, 12, lambda _, v: (a @ v) / jnp.linalg.norm(a @ v), v), f32(8, 8), f32(8), tol="1e-4")
case("fori_nested", lambda x, b: lax.fori_loop(0, 3, lambda i, x: lax.fori_loop(0, i + 1, lambda j, y: y * 0.5 + b[i, j], x), x), f32(6),
     f32(3, 3, 6))
case("fori_swap", lambda a, b: lax.fori_loop(0, 5, lambda i, s: (s[1], s[0] + s[1], s[2] + i), (a, b, jnp.int32(0))), f32(3), f32(3))
case("while_never", lambda x: lax.while_loop(lambda s: s[0] < 0, lambda s: (s[0] - 1, s[1] * 2), (3, x)), f32(4), tol="0")
case("map_rows", lambda x, w: lax.map(lambda r: jnp.where(r.sum() > 0, r @ w, -r @ w), x), f32(6, 4), f32(4, 2))
case("collatz", lambda n: lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1),
                                         (n, 0)), np.int32(27), tol="0")
case("bubble_sort", lambda x: lax.fori_loop(0, 8, lambda i, x: lax.fori_loop(0, 7, lambda j, x: lax.cond(
    x[j] > x[j + 1], lambda x: x.at[j].set(x[j + 1]).at[j + 1].set(x[j]), lambda x: x, x), x), x), f32(8), tol="0")
case("special_functions", lambda x: (lax.erf(x), lax.digamma(x), jnp.sinh(x), lax.atan2(x, x), lax.lgamma(x), lax.erf_inv(x), jnp.tan(x),
                                     lax.bessel_i1e(x)), np.array([0.3, 0.7, 0.125, 0.91], np.float32))
case("random_normal", lambda k: jax.random.normal(jax.random.wrap_key_data(k), (4, 4)), np.array([7, 42], np.uint32))


# ---- convolutions, transforms, sorting, linear layers of larger models ----

def convnet(p, x):
    h = jax.nn.relu(lax.conv_general_dilated(x, p[0], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    h = lax.reduce_window(h, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return h.reshape(h.shape[0], -1) @ p[1]


cnn = [0.3 * f32(3, 3, 2, 4), 0.2 * f32(4 * 4 * 4, 5)]
case("convnet_grad", lambda a, b, x, y: jax.value_and_grad(lambda p: -(y * jax.nn.log_softmax(convnet(p, x))).sum(-1).mean())([a, b]), *cnn,
     f32(3, 8, 8, 2), np.eye(5, dtype=np.float32)[[0, 3, 4]], tol="1e-4")
case("conv_strided_dilated", lambda x, w: lax.conv_general_dilated(x, w, (2, 1), ((1, 2), (0, 1)), lhs_dilation=(1, 2), rhs_dilation=(2, 1),
     dimension_numbers=("NCHW", "OIHW", "NCHW")), f32(2, 3, 9, 7), f32(4, 3, 3, 2), tol="1e-4")
case("conv_grouped", lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", feature_group_count=2, dimension_numbers=("NCH", "OIH", "NCH")),
     f32(2, 4, 10), f32(6, 2, 3), tol="1e-4")
case("conv_transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), f32(1, 5, 4, 3),
     f32(3, 3, 3, 2), tol="1e-4")
case("depthwise_grad", jax.grad(lambda w, x: (lax.conv_general_dilated(x, w, (1, 1), "VALID", feature_group_count=4, dimension_numbers=(
     "NHWC", "HWIO", "NHWC")) ** 2).sum()), f32(3, 3, 1, 4), f32(2, 6, 6, 4), tol="1e-4")
case("avg_pool_grad", jax.grad(lambda x: (lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 3).sum()), f32(2, 7, 7, 3), tol="1e-4")
case("max_pool_grad", jax.grad(lambda x: (lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum()), f32(2, 7, 7, 3))
case("cumulative", lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, 1), lax.cumlogsumexp(x, 0, reverse=True)), f32(6, 50), tol="1e-4")
case("fft_real", lambda x: (jnp.fft.rfft(x), jnp.abs(jnp.fft.fft(x)), jnp.fft.irfft(jnp.fft.rfft(x), n=30)), f32(3, 30), tol="1e-4")
case("fft_2d", lambda x: (jnp.fft.fft2(x).real, jnp.fft.ifftn(x).imag), f32(4, 6, 5), tol="1e-4")
case("fft_grad", jax.grad(lambda x: (jnp.abs(jnp.fft.rfft(x)) ** 2).sum()), f32(17), tol="1e-4")
case("complex_arithmetic", lambda a, b: (lax.complex(a, b) * lax.complex(b, a) / (1 + 2j), jnp.exp(lax.complex(a, b)), jnp.sqrt(lax.complex(a, b)),
     jnp.log(lax.complex(a, b)), jnp.abs(lax.complex(a, b)), jnp.conj(lax.complex(a, b))), f32(12), f32(12))
case("sort_pairs", lambda k, v: (lax.sort((k, v), num_keys=1), jnp.argsort(v), jnp.sort(v)[::-1], jnp.median(v)), rng.integers(0, 5, 40).astype(np.int32), f32(40), tol="0")
case("sort_grad", jax.grad(lambda x: (jnp.sort(x) * jnp.arange(9.0)).sum()), f32(9))
case("top_k_rows", lambda x: lax.top_k(x, 4), f32(5, 20), tol="0")
case("unique_sizes", lambda x: (jnp.unique(x, size=6, fill_value=-1), jnp.bincount(x, length=9), jnp.searchsorted(jnp.sort(x), x)),
     rng.integers(0, 9, 20).astype(np.int32), tol="0")
case("random_draws", lambda k: (jax.random.normal(jax.random.wrap_key_data(k), (40,)), jax.random.permutation(jax.random.wrap_key_data(k), 12),
     jax.random.randint(jax.random.wrap_key_data(k), (9,), 0, 100)), np.array([3, 4], np.uint32))
case("random_gumbel", lambda k: (jax.random.gumbel(jax.random.wrap_key_data(k), (20,)), jax.random.categorical(jax.random.wrap_key_data(k), jnp.zeros((4, 7))),
     jax.random.truncated_normal(jax.random.wrap_key_data(k), -1, 1, (10,))), np.array([1, 9], np.uint32))
case("special_values", lambda x: (lax.lgamma(x), lax.digamma(x), lax.erf_inv(x / 8), jnp.arcsin(x / 8), jnp.arctanh(x / 8), jnp.sinh(x), jnp.arcsinh(x),
     jax.scipy.special.gammaln(x), lax.bessel_i1e(x)), np.abs(f32(20)) + np.float32(0.2), tol="2e-5")


def transformer(p, t):
    e, wq, wk, wv, wo, w1, w2 = p
    x = e[t]
    h = x - x.mean(-1, keepdims=True)
    h = h * lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-5)
    q, k, v = h @ wq, h @ wk, h @ wv
    s = jnp.where(jnp.tril(jnp.ones((t.shape[1], t.shape[1]), bool)), jnp.einsum("bqd,bkd->bqk", q, k) / 4, -1e9)
    x = x + jax.nn.softmax(s) @ v @ wo
    x = x + jax.nn.gelu(x @ w1) @ w2
    return -jnp.take_along_axis(jax.nn.log_softmax(x[:, :-1] @ e.T), t[:, 1:, None], -1).mean()


gpt = [0.3 * f32(11, 16)] + [0.3 * f32(16, 16) for _ in range(4)] + [0.3 * f32(16, 32), 0.3 * f32(32, 16)]
case("transformer_grad", lambda *a: jax.value_and_grad(transformer)(list(a[:7]), a[7]), *gpt, rng.integers(0, 11, (2, 6)).astype(np.int32), tol="2e-4")
case("batch_norm_grad", jax.grad(lambda g, b, x: (jnp.tanh((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * g + b) ** 2).sum(), (0, 1, 2)), f32(4), f32(4),
     f32(3, 5, 5, 4), tol="1e-4")
case("lstm_scan_grad", jax.grad(lambda w, xs: lax.scan(lambda s, x: ((lambda g: (lambda c: (jax.nn.sigmoid(g[..., 9:12]) * jnp.tanh(c), c))(
     jax.nn.sigmoid(g[..., :3]) * s[1] + jax.nn.sigmoid(g[..., 3:6]) * jnp.tanh(g[..., 6:9])))(jnp.concatenate([x, s[0]], -1) @ w), s[0]),
     (jnp.zeros((2, 3)), jnp.zeros((2, 3))), xs)[0][0].sum()), f32(7, 12), f32(6, 2, 4), tol="1e-4")
case("jacobian", lambda x, w: (jax.jacfwd(lambda x: jnp.tanh(w @ x))(x), jax.jacrev(lambda x: jnp.tanh(w @ x))(x), jax.hessian(lambda x: jnp.sum(jnp.sin(w @ x)))(x)),
     f32(4), f32(3, 4), tol="1e-4")
case("vmapped", lambda x, w: jax.vmap(lambda a: jax.vmap(lambda b: jnp.dot(a, b) ** 2 + jnp.sin(a).sum())(w))(x), f32(5, 4), f32(6, 4), tol="1e-4")
case("segments", lambda x, i: (jax.ops.segment_sum(x, i, 5), jax.ops.segment_max(x, i, 5), x.at[i].mul(2.0), x.at[i].min(0.0)), f32(8, 3),
     np.array([0, 2, 2, 4, 1, 0, 4, 4], np.int32))
case("image_ops", lambda x: (jax.image.resize(x, (1, 8, 6, 2), "nearest"), jnp.pad(x, ((0, 0), (2, 1), (1, 1), (0, 0)), mode="reflect"), jnp.rot90(x[0]), jnp.roll(x, 3, 1)),
     f32(1, 4, 3, 2))
case("polynomials", lambda x, c: (jnp.polyval(c, x), jnp.interp(x, jnp.arange(5.0), c), jnp.convolve(x, c), jnp.outer(x, c), jnp.kron(x[:3], c)), f32(9), f32(5), tol="1e-4")
case("f64_reductions", lambda x: (x.astype(jnp.bfloat16).sum(), jnp.var(x, 0), jnp.std(x), jax.nn.logsumexp(x, 1), jnp.linalg.norm(x, ord=1), jnp.percentile(x, 30)), f32(7, 11), tol="2e-3")
case("gru_while", lambda h, w: lax.while_loop(lambda s: (jnp.abs(s[0]).max() > 0.1) & (s[1] < 20), lambda s: (jnp.tanh(s[0] @ w) * 0.7, s[1] + 1), (h, 0)), f32(3, 5), 0.5 * f32(5, 5), tol="1e-4")
case("newton_fori", lambda a, b: lax.fori_loop(0, 30, lambda i, x: x - 0.1 * (a.T @ (a @ x - b)), jnp.zeros(4)), 0.4 * f32(6, 4), f32(6), tol="1e-4")

spd = lambda n, *b: (lambda a: (a @ a.swapaxes(-1, -2) + n * np.eye(n)).astype(np.float32))(f32(*b, n, n))
case("cholesky", lambda a: (jnp.linalg.cholesky(a), lax.linalg.cholesky(a, symmetrize_input=False), jnp.linalg.cholesky(a, upper=True), jnp.linalg.cholesky(-a)), spd(9, 2), tol="1e-4")
case("cholesky_blocks", lambda a, b: (lambda l: (l, jax.scipy.linalg.cho_solve((l, True), b)))(jnp.linalg.cholesky(a)), spd(70), f32(70, 2), tol="1e-3")
case("cholesky_grad", jax.grad(lambda a, b: jnp.sum(jnp.sin(jnp.linalg.cholesky(a @ a.swapaxes(-1, -2) + 5 * jnp.eye(5)) @ b)), (0, 1)), f32(2, 5, 5), f32(2, 5, 3), tol="1e-4")
case("triangular_solve", lambda a, b, c: [lax.linalg.triangular_solve(a + 4 * jnp.eye(6, dtype=a.dtype), b if left else c, left_side=left, lower=low, transpose_a=t, unit_diagonal=u)
     for left in (True, False) for low in (True, False) for t in (True, False) for u in (True, False)], f32(3, 6, 6), f32(3, 6, 4), f32(3, 2, 6), tol="2e-4")
case("triangular_solve_grad", jax.grad(lambda a, b: jnp.sum(jnp.cos(jax.scipy.linalg.solve_triangular(a + 4 * jnp.eye(6), b, trans=1, lower=True))), (0, 1)), f32(6, 6), f32(6, 2), tol="1e-4")
case("triangular_solve_complex", lambda a, i, b: (lambda x: (x.real, x.imag))(lax.linalg.triangular_solve(lax.complex(a, i) + 4 * jnp.eye(5), lax.complex(b, -b), left_side=True,
     transpose_a=True, conjugate_a=True)), f32(5, 5), f32(5, 5), f32(5, 3), tol="1e-4")
case("gaussian_process", jax.value_and_grad(lambda p, x, y: (lambda k: (lambda l: 0.5 * y @ jax.scipy.linalg.cho_solve((l, True), y) + jnp.sum(jnp.log(jnp.diag(l))))(jnp.linalg.cholesky(k)))(
     p[0] * jnp.exp(-p[1] * (x[:, None] - x) ** 2) + 0.1 * jnp.eye(12))), np.array([1.3, 0.7], np.float32), f32(12), f32(12), tol="1e-3")

case("complex_functions", lambda a, b: [v for f in (jnp.sinh, jnp.cosh, jnp.arcsin, jnp.arccos, jnp.arctan, jnp.arcsinh, jnp.arccosh, jnp.arctanh) for v in (
     lambda z: (z.real, z.imag))(f(lax.complex(a, b)))], 2 * f32(20), f32(20), tol="1e-4")
case("complex_functions_grad", lambda a, b: (lambda g: (g.real, g.imag))(jax.grad(lambda z: jnp.abs(jnp.sinh(z) * jnp.arctan(z)).sum())(lax.complex(a, b))),
     f32(9), f32(9), tol="1e-4")



# ---- decompositions: LAPACK's routines on CPUs, XLA's on TPUs; singular vectors by what does not depend on their signs ----

rng = np.random.default_rng(20240502)
H = lambda x: jnp.conj(jnp.swapaxes(x, -1, -2))
parts = lambda *v: [p for x in v for p in ((x.real, x.imag) if jnp.iscomplexobj(x) else (x,))]
cx = lambda a, b: lax.complex(a, b)
sym = lambda a: a + H(a)
both = lambda name, *a, **k: [case(name + "_" + p, *a, platform=p, **k) for p in ("cpu", "tpu")]


def svd_parts(a, full):
    u, s, v = lax.linalg.svd(a, full_matrices=full)
    k = s.shape[-1]
    thin = (u[..., :k] * s[..., None, :]) @ v[..., :k, :]
    return parts(s, thin, H(u) @ u, v @ H(v), jnp.abs(u[..., :k]))


def eigh_parts(a, lower):
    v, w = lax.linalg.eigh(a, lower=lower)
    return parts(w, (v * w[..., None, :]) @ H(v), jnp.abs(v))


both("lu", lambda a, b, i: (*lax.linalg.lu(a), *lax.linalg.lu(b), *parts(*lax.linalg.lu(cx(b[0], i)))), f32(2, 5, 3), f32(3, 4, 4), f32(4, 4), tol="1e-4")
both("lu_blocks", lambda a: lax.linalg.lu(a)[1:], f32(70, 70), tol="0")
both("linear_solve", lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.det(a), jnp.linalg.slogdet(a), jnp.linalg.inv(a)), f32(2, 5, 5) + 3 * np.eye(5, dtype=np.float32),
     f32(2, 5, 3), tol="1e-4")
both("linear_solve_grad", jax.value_and_grad(lambda a, b: jnp.sin(jnp.linalg.solve(a, b)).sum() + jnp.linalg.slogdet(a)[1].sum(), (0, 1)),
     f32(2, 4, 4) + 3 * np.eye(4, dtype=np.float32), f32(2, 4, 2), tol="2e-4")
both("qr", lambda a, b, i: (*lax.linalg.qr(a, full_matrices=False), *lax.linalg.qr(a, full_matrices=True), *lax.linalg.qr(b, full_matrices=False),
     *parts(*lax.linalg.qr(cx(b, i), full_matrices=True))), f32(2, 5, 3), f32(3, 4), f32(3, 4), tol="1e-4")
both("qr_blocks", lambda a: (lambda q, r: (r, q @ r, q.T @ q))(*lax.linalg.qr(a, full_matrices=False)), f32(80, 70), tol="1e-3")
both("qr_nothing", lambda a: lax.linalg.qr(jnp.triu(a)), f32(4, 4), tol="1e-5")
both("householder_product", lambda a, t: lax.linalg.householder_product(a, t), f32(2, 5, 3), f32(2, 2), tol="1e-4")
both("qr_grad", jax.grad(lambda a: sum((x ** 3).sum() for x in jnp.linalg.qr(a))), f32(4, 3), tol="5e-4")
both("svd", lambda a, i: svd_parts(a, False) + svd_parts(a, True) + svd_parts(cx(a[0].T, i), True) + [jnp.linalg.svd(a, compute_uv=False)], f32(2, 5, 3), f32(3, 5),
     tol="2e-4")
case("svd_gesvd", lambda a: lax.linalg.svd(a, full_matrices=False, algorithm=lax.linalg.SvdAlgorithm.QR)[1], f32(4, 6), tol="1e-4", platform="cpu")
both("least_squares", lambda a, b: (jnp.linalg.lstsq(a, b)[0], jnp.linalg.pinv(a), jnp.linalg.matrix_rank(a), jnp.linalg.cond(a)), f32(6, 3), f32(6, 2), tol="5e-4")
both("eigh", lambda a, b, i: (*eigh_parts(sym(a), True), *eigh_parts(sym(cx(b, i)), False)), f32(2, 5, 5), f32(4, 4), f32(4, 4), tol="2e-4")
both("eigh_grad", jax.grad(lambda a: (lambda w, v: (w ** 3).sum() + (v[:, 0] ** 4).sum())(*jnp.linalg.eigh(a @ a.T))), f32(4, 4), tol="2e-3")
case("cholesky_cpu", lambda a, i, b: (jnp.linalg.cholesky(a), jnp.linalg.cholesky(a, upper=True), lax.linalg.cholesky(a, symmetrize_input=False), jnp.linalg.cholesky(-a),
     *parts(jnp.linalg.cholesky((lambda z: z @ H(z) + 4 * jnp.eye(5))(cx(a[0], i)))), jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(a[0]), True), b)),
     (lambda a: (a @ a.swapaxes(-1, -2) + 4 * np.eye(5)).astype(np.float32))(f32(2, 5, 5)), f32(5, 5), f32(5, 2), tol="2e-4", platform="cpu")
case("triangular_solve_cpu", lambda a, i, b, c: [p for z, w in ((b, c), (cx(b, b + 1), cx(c, 1 - c))) for left in (True, False) for low in (True, False)
     for t in ((0, 1, 2) if z is b else (2,)) for u in (True, False) for p in parts(lax.linalg.triangular_solve((a if z is b else cx(a, i)) + 4 * jnp.eye(5),
     z if left else w, left_side=left, lower=low, transpose_a=t > 0, conjugate_a=t > 1, unit_diagonal=u))], f32(2, 5, 5), f32(2, 5, 5), f32(2, 5, 3), f32(2, 3, 5),
     tol="5e-4", platform="cpu")
both("expm", lambda a: jax.scipy.linalg.expm(a), f32(4, 4), tol="2e-4")
both("polar", lambda a: jax.scipy.linalg.polar(a), f32(5, 3), tol="5e-4")

with open(os.path.join(here, "cases.txt"), "w") as f:
    f.writelines(f"{name} {tol}\n" for name, tol in cases)
