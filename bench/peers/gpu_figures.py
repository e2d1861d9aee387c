"""The single kernels that tools/gpu-check.sh times, by torch (eager; with --compile also compiled, where that differs) or, with --jax, by JAX,
on the same GPU.

    python gpu_figures.py [--jax] [--compile] [NAME...]

A line per figure: name, peer, the median in ms, Tflop/s or GB/s. By the device's events, on random data; of JAX by the clock, over
calls that follow one another without waiting. Nothing is printed for what a peer has not.
"""
import argparse
import statistics
import time

parser = argparse.ArgumentParser()
parser.add_argument("--jax", action="store_true")
parser.add_argument("--compile", action="store_true")
parser.add_argument("names", nargs="*")
options = parser.parse_args()

M = 1 << 20
# name: (flops, bytes) of one call, the least that the work takes
WORK = {
    "product-bf16": (2 * 8192**3, 0),
    "product-f32": (2 * 4096**3, 0),
    "product-tf32": (2 * 8192**3, 0),
    "attention-bf16": (4 * 64 * 1024 * 1024 * 64, 0),
    "attention-f32": (4 * 64 * 1024 * 1024 * 64, 0),
    "elementwise": (0, 4 * 4 * 64 * M),
    "transpose": (0, 2 * 4 * 8192 * 8192),
    "softmax": (0, 2 * 4 * 8192 * 4096),
    "softmax-short": (0, 2 * 4 * 262144 * 128),
    "layer-norm": (0, 2 * 4 * 65536 * 1024),
    "sum-rows": (0, 4 * 8192 * 8192),
    "sum-columns": (0, 4 * 8192 * 8192),
    "sum": (0, 4 * 8192 * 8192),
    "copy": (0, 2 * 4 * 256 * M),
}


def say(name, peer, ms):
    flops, nbytes = WORK[name]
    rate = f"{flops / ms * 1e-9:9.1f} Tflop/s" if flops else f"{nbytes / ms * 1e-6:9.1f} GB/s"
    print(f"{name:18} {peer:14} {ms:9.4f} ms {rate}", flush=True)


def wanted(name):
    return not options.names or name in options.names


def by_torch():
    import torch
    import torch.nn.functional as F

    def rand(*shape, dtype=torch.float32):
        return torch.randn(*shape, device="cuda").to(dtype)

    def median(f):
        for _ in range(3):
            f()
        times = []
        for _ in range(15):
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record()
            f()
            b.record()
            b.synchronize()
            times.append(a.elapsed_time(b))
        return statistics.median(times)

    def measure(name, make, compiled=False, setting=None):
        if not wanted(name):
            return
        try:
            torch.backends.cuda.matmul.allow_tf32 = setting == "tf32"
            f, args = make()
            say(name, "torch", median(lambda: f(*args)))
            if compiled and options.compile:
                g = torch.compile(f)
                say(name, "torch-compile", median(lambda: g(*args)))
        except Exception as e:
            print(f"{name}: torch: {type(e).__name__}: {str(e).splitlines()[0]}", flush=True)
        torch.cuda.empty_cache()

    matmul = lambda a, b: a @ b
    attend = lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None], scale=1.0)
    bf16 = torch.bfloat16
    with torch.no_grad():
        measure("product-bf16", lambda: (matmul, [rand(8192, 8192, dtype=bf16) for _ in range(2)]))
        measure("product-f32", lambda: (matmul, [rand(4096, 4096) for _ in range(2)]))
        measure("product-tf32", lambda: (matmul, [rand(8192, 8192) for _ in range(2)]), setting="tf32")
        measure("attention-bf16", lambda: (attend, [rand(64, 1024, 64, dtype=bf16) for _ in range(3)]))
        measure("attention-f32", lambda: (attend, [rand(64, 1024, 64) for _ in range(3)]))
        measure("copy", lambda: ((lambda y, x: y.copy_(x)), [rand(256 * M) for _ in range(2)]))
        measure("elementwise", lambda: ((lambda a, b, c: torch.tanh(a * b + c)), [rand(64 * M) for _ in range(3)]), True)
        measure("transpose", lambda: ((lambda a: a.t().contiguous()), [rand(8192, 8192)]), True)
        measure("softmax", lambda: ((lambda a: torch.softmax(a, -1)), [rand(8192, 4096)]), True)
        measure("softmax-short", lambda: ((lambda a: torch.softmax(a, -1)), [rand(262144, 128)]), True)
        measure("layer-norm", lambda: ((lambda a, g, b: F.layer_norm(a, (1024,), g, b)), [rand(65536, 1024), rand(1024), rand(1024)]), True)
        measure("sum-rows", lambda: ((lambda a: a.sum(1)), [rand(8192, 8192)]))
        measure("sum-columns", lambda: ((lambda a: a.sum(0)), [rand(8192, 8192)]))
        measure("sum", lambda: ((lambda a: a.sum()), [rand(8192, 8192)]))


def by_jax():
    import jax
    import jax.numpy as jnp

    def rand(*shape, dtype=jnp.float32):
        return jax.random.normal(jax.random.PRNGKey(len(shape)), shape).astype(dtype)

    def measure(name, f, *args):
        if not wanted(name):
            return
        f, args = jax.jit(f), [a() for a in args]
        f(*args).block_until_ready()
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(20):
                y = f(*args)
            y.block_until_ready()
            times.append((time.perf_counter() - begin) / 20)
        say(name, "jax", statistics.median(times) * 1e3)

    bf16 = jnp.bfloat16
    square = lambda n, dtype=jnp.float32: lambda: rand(n, n, dtype=dtype)
    measure("product-bf16", lambda a, b: a @ b, square(8192, bf16), square(8192, bf16))
    with jax.default_matmul_precision("float32"):
        measure("product-f32", lambda a, b: a @ b, square(4096), square(4096))
    with jax.default_matmul_precision("tensorfloat32"):
        measure("product-tf32", lambda a, b: a @ b, square(8192), square(8192))
    heads = lambda dtype: [lambda: rand(64, 1024, 64, dtype=dtype)] * 3

    def attend(q, k, v):
        s = jnp.einsum("hqd,hkd->hqk", q, k, preferred_element_type=jnp.float32)
        return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(s, -1).astype(v.dtype), v)

    measure("attention-bf16", attend, *heads(bf16))
    with jax.default_matmul_precision("float32"):
        measure("attention-f32", attend, *heads(jnp.float32))
    long = lambda: rand(64 * M)
    measure("elementwise", lambda a, b, c: jnp.tanh(a * b + c), long, long, long)
    measure("transpose", lambda a: a.T + 0, square(8192))
    measure("softmax", lambda a: jax.nn.softmax(a, -1), lambda: rand(8192, 4096))
    measure("softmax-short", lambda a: jax.nn.softmax(a, -1), lambda: rand(262144, 128))
    norm = lambda a: (a - a.mean(-1, keepdims=True)) * jax.lax.rsqrt(a.var(-1, keepdims=True) + 1e-5)
    measure("layer-norm", norm, lambda: rand(65536, 1024))
    measure("sum-rows", lambda a: a.sum(1), square(8192))
    measure("sum-columns", lambda a: a.sum(0), square(8192))
    measure("sum", lambda a: a.sum(), square(8192))


by_jax() if options.jax else by_torch()
