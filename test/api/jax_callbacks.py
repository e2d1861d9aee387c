"""jax_callbacks.py - Python functions in programs of JAX on Lazuli: run by jax.sh, each function case_* is one case."""
import contextlib
import gc
import io
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

S = jax.ShapeDtypeStruct
F4 = S((4,), jnp.float32)
X = np.arange(4, dtype=np.float32)


def call(function, out, *args, **options):
    return jax.pure_callback(function, out, *args, **options)


def same(v, function=lambda a: a):
    return call(function, S(v.shape, v.dtype), v)


def check(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6, atol=1e-6)


def fails(function, *words):
    try:
        jax.block_until_ready(function())
        jax.effects_barrier()
    except Exception as e:
        for word in words:
            assert word in str(e), str(e)
        return
    raise AssertionError(f"no error about {words}")


def printed(function):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        jax.block_until_ready(function())
        jax.effects_barrier()
    return out.getvalue().splitlines()


# ---- pure_callback ----

def case_values():
    check(jax.jit(lambda v: same(v, np.sin) + 1)(X), np.sin(X) + 1)
    check(jax.jit(lambda: call(lambda: np.float32(5), S((), jnp.float32)))(), 5)
    a, b = jax.jit(lambda v: call(lambda a: (a + 1, np.int32(7)), (F4, S((), jnp.int32)), v))(X)
    check(a, X + 1)
    check(b, 7)
    transposed = jax.jit(lambda v: call(lambda a: np.asarray(a).T, S((5, 7), jnp.float32), v))  # not dense
    check(transposed(np.arange(35, dtype=np.float32).reshape(7, 5)), np.arange(35).reshape(7, 5).T)
    check(call(lambda a: a + 1, F4, X), X + 1)  # without jit
    compiled = jax.jit(lambda v: same(v, lambda a: a + 10)).lower(X).compile()
    check(compiled(X) + compiled(X), 2 * X + 20)


def case_shapes():
    for shape in ((), (0,), (3, 0, 2), (1, 1), (7, 5)):
        got = jax.jit(lambda v: same(v, lambda a: a + 1))(np.full(shape, 3, np.float32))
        assert got.shape == shape and (np.asarray(got) == 4).all(), shape


def case_dtypes():
    names = "bool int8 uint8 int16 uint16 int32 uint32 bfloat16 float16 float32 complex64 int2 int4 uint4 float8_e4m3fn float8_e5m2"
    for name in names.split():
        v = jnp.array([0, 1, 1, 0, 1], getattr(jnp, name + "_" * (name == "bool")))
        got = jax.jit(lambda v: same(v, lambda a: np.asarray(a)[::-1]))(v)
        assert got.dtype == v.dtype and (np.asarray(got) == np.asarray(v)[::-1]).all(), name
    if hasattr(jax, "enable_x64"):  # the function has the mode of the thread that compiles
        with jax.enable_x64(True):
            v = jnp.arange(5, dtype=jnp.float64) + 1e-12
            got = jax.jit(lambda v: same(v, lambda a: jnp.sin(a)))(v)
            assert got.dtype == jnp.float64
            np.testing.assert_allclose(np.asarray(got), np.sin(np.asarray(v)), rtol=1e-13)


def case_transformed():
    for method in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all"):
        f = lambda a: call(lambda a: np.asarray(a) * 2, S(a.shape, a.dtype), a, vmap_method=method)
        check(jax.jit(jax.vmap(f))(X), 2 * X)

    @jax.custom_vjp
    def sin(x):
        return call(np.sin, S(x.shape, x.dtype), x, vmap_method="sequential")

    def back(x, g):
        return (g * call(np.cos, S(x.shape, x.dtype), x, vmap_method="sequential"),)

    sin.defvjp(lambda x: (sin(x), x), back)
    check(jax.jit(jax.grad(lambda x: sin(x).sum()))(X), np.cos(X))
    check(jax.jit(jax.vmap(jax.grad(sin)))(X), np.cos(X))
    step = lambda c, x: (c + call(np.sin, S((), jnp.float32), x), c)
    check(jax.jit(lambda v: jax.lax.scan(step, 0.0, v))(X)[0], np.sin(X).sum())
    branch = jax.jit(lambda v: jax.lax.cond(v[0] > 0, lambda v: same(v, np.cos), lambda v: same(v, np.sin), v))
    check(branch(X), np.sin(X))
    check(branch(X + 1), np.cos(X + 1))


def case_kept():
    """What a function has got stays as it was."""
    kept = []
    jax.jit(lambda v: same(v, lambda a: (kept.append(a), np.asarray(a))[1]))(X).block_until_ready()
    for i in range(20):
        jax.jit(lambda v: v * i + i)(X).block_until_ready()
    check(kept[0], X)


def case_inside():
    """A function may use JAX, on the CPU, and arrays that are there."""
    check(jax.jit(lambda v: same(v, lambda a: jnp.sort(jax.jit(lambda b: -b)(a))))(X), [-3, -2, -1, 0])
    there = jnp.asarray(X) + 1
    there.block_until_ready()
    check(jax.jit(lambda v: same(v, lambda a: a + there))(X), 2 * X + 1)
    device = jax.devices("lazuli")[0]
    on_device = lambda a: jax.jit(lambda q: q * 3)(jax.device_put(a, device))
    fails(lambda: jax.jit(lambda v: same(v, on_device))(X), "a program cannot be executed")
    check(jax.jit(lambda v: same(v, lambda a: jax.jit(lambda q: same(q, np.cos))(a)))(X), np.cos(X))


# ---- errors ----

class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


def case_errors():
    def throws(e):
        def function(a):
            raise e
        return lambda: jax.jit(lambda v: same(v, function))(X)

    fails(throws(ValueError("no such number")), "ValueError: no such number")
    fails(throws(ValueError("\u00e4" * 1000)), "ValueError: \u00e4\u00e4")
    fails(throws(SystemExit(3)), "SystemExit: 3")
    fails(throws(Unspeakable()), "raised an exception")
    fails(lambda: jax.jit(lambda v: same(v, lambda a: np.zeros(3, np.float32)))(X), "Incorrect output shape")
    fails(lambda: jax.jit(lambda v: same(v, lambda a: np.zeros(4, np.int32)))(X), "Incorrect output dtype")
    fails(lambda: jax.jit(lambda v: same(v, lambda a: (a, a)))(X), "Mismatched number of outputs")
    fails(lambda: jax.jit(lambda v: same(v, lambda a: np.array(["x"] * 4)))(X), "")

    def effect(v, **options):
        io_callback(lambda a: 1 / 0, None, v, **options)
        return v

    fails(lambda: jax.jit(effect)(X), "ZeroDivisionError")
    check(jax.jit(lambda v: same(v, lambda a: a * 2))(X), 2 * X)


# ---- effects ----

def case_ordered():
    out = []

    def step(c, y):
        io_callback(lambda a: out.append(int(a)), None, c, ordered=True)
        return c + y, None

    jax.jit(lambda: jax.lax.scan(step, 0, jnp.arange(10)))()
    jax.effects_barrier()
    assert out == [0, 0, 1, 3, 6, 10, 15, 21, 28, 36], out
    n = [0]

    def following():
        n[0] += 1
        return np.int32(n[0])

    number = lambda: io_callback(following, S((), jnp.int32), ordered=True)
    check(jax.jit(lambda: jax.lax.scan(lambda c, _: (c, number()), 0, None, length=5))()[1], [1, 2, 3, 4, 5])
    looped = jax.jit(lambda: jax.lax.while_loop(lambda c: number() < 9, lambda c: c + number(), 0))
    check(looped(), 7 + 9)  # 6 <, 7, 8 <, 9, 10
    out.clear()
    for i in range(5):  # from one program to the next
        jax.jit(lambda v: io_callback(lambda a: out.append(int(a)), None, v, ordered=True))(i)
    jax.effects_barrier()
    assert out == [0, 1, 2, 3, 4], out


def case_unordered():
    got = jax.jit(jax.vmap(lambda a: io_callback(lambda a: np.asarray(a) + 1, S((), jnp.float32), a)))(X)
    check(got, X + 1)
    out = []
    jax.jit(lambda v: (io_callback(lambda a: out.append(1), None, v), v)[1])(X)  # although nobody needs it
    jax.effects_barrier()
    assert out == [1]


def case_prints():
    def loud(v, ordered):
        jax.debug.print("{}", v, ordered=ordered)
        return v

    for ordered in (False, True):
        assert printed(lambda: jax.jit(lambda v: loud(v, ordered))(1)) == ["1"]
        branch = jax.jit(lambda v: jax.lax.cond(v > 0, lambda: (loud(v, ordered), None)[1], lambda: None))
        assert printed(lambda: branch(1)) == ["1"] and printed(lambda: branch(0)) == []
        loop = jax.jit(lambda n: jax.lax.while_loop(lambda c: c < n, lambda c: loud(c, ordered) + 1, 0))
        assert printed(lambda: loop(3)) == ["0", "1", "2"]
        check(jax.jit(jax.grad(lambda v: loud(v, ordered) * 2.0))(1.0), 2)
        assert printed(lambda: loud(5, ordered)) == ["5"]
    assert sorted(printed(lambda: jax.jit(jax.vmap(lambda v: loud(v, False)))(jnp.arange(3)))) == ["0", "1", "2"]
    seen = []
    jax.jit(lambda v: jax.debug.callback(lambda a, k: seen.append((int(a), k)), v, k="k", ordered=True))(4)
    jax.effects_barrier()
    assert seen == [(4, "k")], seen


def case_only_tokens():
    """A loop that carries nothing else."""
    n = [0]

    def more():
        n[0] += 1
        return np.bool_(n[0] < 4)

    def loop():
        jax.lax.while_loop(lambda _: io_callback(more, S((), jnp.bool_), ordered=True),
                           lambda _: (jax.debug.print("on", ordered=True), ())[1], ())

    assert printed(jax.jit(loop)) == ["on"] * 3


# ---- lives ----

def case_threads():
    f = jax.jit(lambda v: same(v, lambda a: (time.sleep(0.0005), np.asarray(a) + 1)[1]) * 2)
    wrong = []

    def work(k):
        for i in range(20):
            if not (np.asarray(f(X + k)) == (X + k + 1) * 2).all():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def case_freed():
    """A function lives as long as programs that call it, also while they run."""
    from jax_lazuli import callbacks

    gc.collect()
    before = len(callbacks.known)
    fs = [jax.jit(lambda v, i=i: same(v, lambda a: (time.sleep(0.01), np.asarray(a) + i)[1])) for i in range(5)]
    results = [f(X) for f in fs]
    assert len(callbacks.known) >= 5
    del fs
    jax.clear_caches()
    gc.collect()
    for i, r in enumerate(results):
        check(r, X + i)
    del results, r
    jax.clear_caches()
    gc.collect()
    assert len(callbacks.known) <= before, (before, len(callbacks.known))


def case_bytes():
    """A program that calls this process is not written down for another."""
    compiled = jax.jit(lambda v: same(v, np.sin)).lower(X).compile()
    from jax.experimental import serialize_executable
    try:
        serialize_executable.serialize(compiled)
    except Exception:
        return
    raise AssertionError("written")


def main():
    for name, case in list(globals().items()):
        if name.startswith("case_"):
            case()
            print(name)


main()
