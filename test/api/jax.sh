#!/usr/bin/env bash
# jax.sh - the package jax_lazuli as a user of JAX has it: the wheel's files, found by JAX itself, and Python functions in programs.
# LZ_JAX_PYTHON: the python with JAX, 0.10 or later; skipped where there is none.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
python=$(jax_python)
if ! JAX_PLATFORMS=cpu "$python" -c 'import sys, jax; sys.exit(jax.__version_info__ < (0, 10))' 2>/dev/null; then
    echo "skipped: $python has no JAX (LZ_JAX_PYTHON)"
    exit 77
fi
case $(cat "$BUILD/flags") in *-fsanitize*)
    echo 'skipped: python is not built with the sanitizer'
    exit 77
    ;;
esac
wheel() { python3 tools/wheel.py jax 0.0.1 "$BUILD/libpjrt_lazuli.so" "$tmp" && "$python" -m zipfile -e "$tmp"/jax_lazuli-*.whl "$tmp/site"; }
step 'the wheel' wheel || { total; exit 1; }
export PYTHONPATH=$tmp/site XDG_CACHE_HOME=$tmp/cache JAX_PLATFORMS=lazuli
unset PJRT_NAMES_AND_LIBRARY_PATHS LAZULI_PJRT_PLUGIN LAZULI_PJRT_PLATFORM

program() { # NAME, limit in seconds: a program on stdin, whose output goes to out
    cat >"$tmp/$1.py"
    timeout "$2" "$python" "$tmp/$1.py" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
}
is() { diff - "$tmp/out" || { cat "$tmp/err"; return 1; }; }

found() {
    program found 100 <<'P' && is <<<'lazuli cpu 285.0'
import jax, jax.numpy as jnp
print(jax.devices()[0].platform, jax.devices("cpu")[0].platform, jax.jit(lambda x: (x * x).sum())(jnp.arange(10.)))
P
}
step 'JAX finds the plugin, and the CPU for callbacks' found

tridiagonal() { # singular systems, for which JAX has a function of its own on the CPU
    program tridiagonal 100 <<'P' && is <<<'True True True'
import jax, numpy as np
r = np.random.default_rng(1)
solve = jax.jit(lambda *a: jax.lax.linalg.tridiagonal_solve(*a, perturb_singular=True))
near = finite = True
for n in (1, 2, 3, 33):
    dl, d, du, b = (r.standard_normal((2, n)).astype(np.float32) for _ in range(4))
    x = np.asarray(solve(dl, d, du, b[..., None]))[..., 0]
    product = d * x
    product[:, 1:] += dl[:, 1:] * x[:, :-1]
    product[:, :-1] += du[:, :-1] * x[:, 1:]
    near &= bool(np.abs(product - b).max() <= 1e-5 * max(1, np.abs(x).max()))
    d[:, n // 2] = dl[:, n // 2] = du[:, n // 2] = 0
    finite &= bool(np.isfinite(solve(dl, d, du, b[..., None])).all())
w, v = jax.scipy.linalg.eigh_tridiagonal(d[0], dl[0][1:])
m = np.diag(d[0]) + np.diag(dl[0][1:], 1) + np.diag(dl[0][1:], -1)
print(near, finite, bool(np.abs(m @ np.asarray(v) - np.asarray(v) * np.asarray(w)).max() < 1e-4))
P
}
step 'tridiagonal systems that are singular' tridiagonal

decompositions() { # JAX's CPU refuses most algorithms and all parts of results
    program decompositions 200 <<'P' && is <<<'True True gesdd True'
import itertools, jax, numpy as np
L = jax.lax.linalg
r = np.random.default_rng(2)
H = lambda a: np.conj(np.swapaxes(a, -1, -2))
eigh = svd = True
for dtype in (np.float32, np.complex64):
    x = r.standard_normal((2, 6, 6)).astype(dtype)
    x = x + 1j * x[::-1] if dtype == np.complex64 else x
    h = x + H(x)
    w0 = np.linalg.eigvalsh(h)
    for algorithm, (b, e) in itertools.product(L.EighImplementation, ((0, 6), (1, 4), (2, 2))):
        v, w = jax.jit(lambda a: L.eigh(a, implementation=algorithm, subset_by_index=(b, e)))(h)
        eigh &= v.shape == (2, 6, e - b) and np.allclose(w, w0[:, b:e], atol=1e-4)
        eigh &= np.allclose(h @ v, v * w[:, None], atol=1e-4)
    for a, algorithm, (b, e) in itertools.product((x[..., :4], x[:, :4]), L.SvdAlgorithm, ((0, 4), (1, 3))):
        s0 = np.linalg.svd(a, compute_uv=False)[:, b:e]
        for full in (False, True)[:1 + (e - b == 4)]:
            f = lambda uv: jax.jit(lambda a: L.svd(a, full_matrices=full, compute_uv=uv, algorithm=algorithm, subset_by_index=(b, e)))
            u, s, vt = f(True)(a)
            svd &= u.shape == (2, a.shape[1], a.shape[1] if full else e - b)
            svd &= vt.shape == (2, a.shape[2] if full else e - b, a.shape[2])
            svd &= np.allclose(s, s0, atol=1e-4) and np.allclose(f(False)(a), s0, atol=1e-4)
            svd &= np.allclose(a @ H(vt[:, :e - b]), u[..., :e - b] * s[:, None], atol=1e-4)
text = jax.jit(jax.numpy.linalg.svd).lower(x).as_text()
from jax._src.lax.linalg import geqrf
a, taus = geqrf(x[..., :4])
q = L.householder_product(np.pad(a, ((0, 0), (0, 0), (0, 2))), taus)
ormqr = all(np.allclose(jax.jit(lambda *t: L.ormqr(*t, left=left, transpose=transpose))(a, taus, x),
                        p @ x if left else x @ p, atol=1e-4)
            for left in (False, True) for transpose, p in ((False, q), (True, H(q))))
print(bool(eigh), bool(svd), "gesdd" if "lapack_cgesdd" in text and "while" not in text else text, ormqr)
P
}
step 'decompositions by any algorithm' decompositions

halves() { # 16-bit floats, of which LAPACK has none
    program halves 200 <<'P' && is <<<'True True True True True True'
import jax, numpy as np, jax.numpy as jnp
from jax._src.lax import linalg as L
r = np.random.default_rng(4)
T = lambda a: jnp.swapaxes(a, -1, -2)
def near(f, x):
    a, b = (np.asarray(jax.jit(f)(y).astype(np.float32)) for y in (x, x.astype(np.float32)))
    return a.shape == b.shape and bool(np.abs(a - b).max() < 0.1 * max(1, np.abs(b).max()))
for dtype in (jnp.bfloat16, np.float16):
    x = jnp.asarray(r.standard_normal((2, 5, 4))).astype(dtype)
    def qr(a):
        h, taus = L.geqrf(a)
        assert h.dtype == a.dtype == taus.dtype
        return L.householder_product(h, taus)
    same = near(qr, x) and near(lambda a: L.lu(a)[0], x[:, :4]) and near(lambda a: L.svd(a, compute_uv=False), x)
    h = x[:, :4] + T(x[:, :4])
    print(same, near(lambda a: L.eigh(a)[1], h), near(lambda a: L.hessenberg(a)[0], x[:, :4]), end=" " if dtype == jnp.bfloat16 else "\n")
P
}
step 'decompositions of 16-bit floats' halves

dlpack() { # arrays for others, in the same memory
    program dlpack 100 <<'P' && is <<<'True True True True'
import gc, jax, numpy as np, jax.numpy as jnp
same = alike = True
for dtype in (np.float32, np.int8, np.bool_, np.complex64, np.float16):
    for shape in ((), (0, 3), (5,), (64, 32)):
        x = jnp.asarray(np.arange(int(np.prod(shape))).reshape(shape)).astype(dtype)
        y = np.from_dlpack(x)
        alike &= y.dtype == dtype and np.array_equal(x, y)
        same &= y.size < 2048 or y.ctypes.data == np.asarray(x).ctypes.data
f = jax.jit(lambda a: a + 1, donate_argnums=0)
x = jnp.arange(1000.0)
y = np.from_dlpack(x)
f(x).block_until_ready()
del x
gc.collect()
kept = np.array_equal(y, np.arange(1000.0))
back = jax.device_put(jax.dlpack.from_dlpack(y.copy()), jax.devices()[0])
print(alike, same, kept, back.devices() == {jax.devices()[0]} and np.array_equal(back + 1, y + 1))
P
}
step 'DLPack' dlpack

late_rules() { # of modules that are imported when the package's rules are there
    program late_rules 100 <<'P' && is <<<'True positive ValueError'
import jax, numpy as np, scipy.sparse
jax.devices()
from jax.experimental import checkify
from jax.experimental.sparse.linalg import spsolve
a = scipy.sparse.csr_matrix(np.diag([3, 2, 4, 5]) + np.diag([1, -1, 2], 1)).astype(np.float32)
near = np.allclose(a @ np.asarray(jax.jit(spsolve)(a.data, a.indices, a.indptr, np.arange(4, dtype=np.float32))), range(4))
def f(x):
    checkify.check(x > 0, "positive", debug=False)
    return x + 1
def why(x):
    try:
        return jax.jit(lambda y: f(y) * x)(x).block_until_ready()
    except Exception as e:
        return "positive" if "positive" in str(e) and "`check` failed" in str(e) else type(e).__name__
with jax._src.config.xla_runtime_errors(True):
    first = why(-1.0)
print(near, first, why(-2.0))
import os; os._exit(0)  # without the error that JAX reports again at the end
P
}
step 'rules of modules that come later' late_rules

futures() { # collectives that are started and waited for, which newer versions of StableHLO have
    program futures 100 <<'P' && is <<<'True' && ! grep -q error "$tmp/err"
import jax, numpy as np
from jax._src.lax import parallel
if not hasattr(parallel, "psum_start"):
    raise SystemExit(print(True))
n = len(jax.devices())
mesh = jax.make_mesh((n,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
put = lambda a: jax.device_put(np.asarray(a, np.float32), jax.sharding.NamedSharding(mesh, jax.P("i")))
with jax.set_mesh(mesh):
    @jax.jit
    @jax.shard_map(out_specs=(jax.P("i"), jax.P()), check_vma=False)
    def f(x, w):
        g, s = parallel.all_gather_start(w, "i", tiled=True), parallel.psum_start(x, "i")
        y = x @ x.T
        return g.done() * y.sum(), s.done()
    x, w = np.arange(8 * n).reshape(n, 2, 4), np.arange(2 * n)
    a, b = f(put(x.reshape(2 * n, 4)), put(w))
print(np.allclose(a, np.concatenate([w * (y @ y.T).sum() for y in x])) and np.allclose(b, x.sum(0)))
P
}
for n in 1 2; do
    export CPU_NUM_DEVICES=$n
    step "futures on $n devices" futures
done
unset CPU_NUM_DEVICES

parts() { # a function called for each part, whose results are marked with a mesh of no axes
    program parts 100 <<'P' && is <<<'True'
import jax, numpy as np
from jax.sharding import PartitionSpec as P
mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
def part(x):
    like = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda a: (a + 1, a * 2), (like, like), x)
f = jax.jit(jax.shard_map(part, mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")), check_vma=False))
x = np.arange(8, dtype=np.float32)
a, b = f(x)
print(np.array_equal(a, x + 1) and np.array_equal(b, x * 2))
P
}
CPU_NUM_DEVICES=2 step 'callbacks of parts with two results' parts

timeout 250 "$python" test/api/jax_callbacks.py >"$tmp/cases" 2>"$tmp/err" || { tail -30 "$tmp/err"; }
for name in $(sed -n 's/^def \(case_[a-z_]*\).*/\1/p' test/api/jax_callbacks.py); do
    step "$name" grep -qx "$name" "$tmp/cases"
done

# ---- ends of processes ----
late() { # what a program prints after its last line is printed
    program late 100 <<'P' && sort "$tmp/out" | diff - <(printf '%s\n' end 'io' 'ordered 1' 'plain 1')
import time, jax
from jax.experimental import io_callback
def f(x):
    jax.debug.print("plain {}", x)
    jax.debug.print("ordered {}", x, ordered=True)
    io_callback(lambda a: (time.sleep(0.2), print("io")), None, x)
    return x
jax.jit(f)(1)
print("end")
P
}
step 'effects at the end' late
failing() { # an error at the end is said
    program failing 100 <<'P' && is <<<'end' && grep -q ZeroDivisionError "$tmp/err"
import jax
from jax.experimental import io_callback
jax.jit(lambda x: io_callback(lambda a: 1 / 0, None, x))(1)
print("end")
P
}
step 'an error at the end' failing
breaks() { # the order: nothing is done behind what failed
    program breaks 100 <<'P' && is <<<'ZeroDivisionError ZeroDivisionError'
import jax
from jax.experimental import io_callback
def why(f):
    try:
        f()
        jax.effects_barrier()
    except Exception as e:
        return "ZeroDivisionError" * ("ZeroDivisionError" in str(e))
first = lambda: jax.jit(lambda x: io_callback(lambda a: 1 / 0, None, x, ordered=True))(1)
second = lambda: jax.jit(lambda x: io_callback(print, None, x, ordered=True))(1)
print(why(first), why(second))
P
}
step 'an error in the order' breaks
cleared() { # a client that ends while Python holds the lock that its program needs
    program cleared 100 <<'P' && is <<<'end'
import time, jax, jax.extend, numpy as np
jax.jit(lambda x: jax.pure_callback(lambda a: (time.sleep(0.5), np.asarray(a))[1], jax.ShapeDtypeStruct((), np.float32), x))(1.0)
jax.clear_caches()
jax.extend.backend.clear_backends()
print("end")
P
}
step 'the end of a client meanwhile' cleared
closed() { # a thread that goes on calling when the interpreter ends
    program closed 100 <<'P' && is <<<'end'
import threading, time, jax, numpy as np, os, atexit
f = jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(a) + 1, jax.ShapeDtypeStruct((), np.float32), x))
f(1.0).block_until_ready()
for i in range(100): f(float(i))  # nobody waits
print("end")
P
}
step 'calls nobody waits for' closed
total
