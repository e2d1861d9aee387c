"""NumPy with the BLAS of its wheel; results go into arrays that are used again, as NumPy's users can. See common.py."""
from common import OPERANDS, PRODUCTS, emit, options, sample

import numpy as np

numbers = np.random.default_rng(0)


def chain(a, b, c, d, e):
    return np.tanh(a * b + c) * (1 / (1 + np.exp(-d))) - np.exp(-e * e)


ops = {  # each gives what is called
    "bmm_qk": lambda a, b, out=np.empty((16, 256, 256), np.float32): lambda: np.matmul(a, b.transpose(0, 2, 1), out=out),
    "bmm_pv": lambda a, b, out=np.empty((16, 256, 64), np.float32): lambda: np.matmul(a, b, out=out),
    "chain_16M": lambda *x: lambda: chain(*x),
    "chain_4096": lambda *x: lambda: chain(*x),
    "sum_4096": lambda a: lambda: a.sum(),
    "sumrow_4096": lambda a: lambda: a.sum(1),
    "sumcol_4096": lambda a: lambda: a.sum(0),
    "max_4096": lambda a: lambda: a.max(),
    "transpose_4096": lambda a: (lambda out: lambda: np.copyto(out, a.T))(np.empty_like(a)),
    "add_16M": lambda a, b: (lambda out: lambda: np.add(a, b, out=out))(np.empty_like(a)),
}


def product(a, b):
    out = np.empty((a.shape[0], b.shape[1]), np.float32)
    return lambda: np.matmul(a, b, out=out)


ops.update({name: product for name in PRODUCTS})

for workload in options.workloads:
    if workload in ops:
        shapes, spread = OPERANDS[workload]
        call = ops[workload](*[((numbers.random(s) - 0.5) * spread).astype(np.float32) for s in shapes])
        emit("numpy", workload, sample(call))
