"""devices.py - JAX programs on eight of Lazuli's devices and on eight of JAX's own CPU devices: the same values, within what
sums in another order may differ by, every shard the part of the whole array that its sharding says, and errors where JAX has them.

  devices.py [--seed N] [--count N] [--only KIND] [--verbose]

The plugin is $LAZULI_PJRT_PLUGIN. Programs are generated: --seed N --count 1 --only KIND repeats one.
"""
import argparse
import functools
import os
import sys
import traceback

os.environ.setdefault("JAX_PLATFORMS", "lazuli,cpu")
os.environ["CPU_NUM_DEVICES"] = "8"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..", "python"))

import jax
import jax_lazuli
import numpy as np

jax_lazuli.initialize()
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

MESHES = [((8,), ("x",)), ((2, 4), ("x", "y")), ((4, 2), ("x", "y")), ((2, 2, 2), ("x", "y", "z")), ((4,), ("x",)),
          ((3, 2), ("x", "y")), ((1, 8), ("x", "y")), ((6,), ("x",))]
DTYPES = [np.float32, np.float32, np.float64, np.int32, jnp.bfloat16, np.complex64, np.uint8, np.float16]
BOUND = {"float64": 1e-11, "complex128": 1e-11, "float32": 2e-4, "complex64": 2e-4, "bfloat16": 0.06, "float16": 0.02}


class Draw:
    """What one program is made of; the same for both platforms."""

    def __init__(self, seed, devices):
        self.r = np.random.RandomState(seed)
        self.devices = devices

    def pick(self, list_):
        return list_[self.r.randint(len(list_))]

    def chance(self, p):
        return self.r.rand() < p

    def mesh(self, least=1, orders=True):
        shape, names = self.pick([m for m in MESHES if len(m[0]) >= least])
        n = int(np.prod(shape))
        own = list(self.devices)
        if orders and self.chance(0.3):
            self.r.shuffle(own)
        first = self.r.randint(len(own) - n + 1)
        return Mesh(np.array(own[first:first + n]).reshape(shape), names)

    def spec(self, mesh, shape, whole=0.3):
        """Axes, each at most once, on dimensions that they divide."""
        names, dims = list(mesh.axis_names), [()] * len(shape)
        self.r.shuffle(names)
        for name in names:
            if not shape or self.chance(whole):
                continue
            d = self.r.randint(len(shape))
            n = int(np.prod([mesh.shape[a] for a in dims[d] + (name,)]))
            if shape[d] % n == 0:
                dims[d] += (name,)
        return P(*[d if len(d) > 1 else d[0] if d else None for d in dims])

    def sharding(self, mesh, shape, whole=0.3):
        return NamedSharding(mesh, self.spec(mesh, shape, whole))

    def array(self, shape, dtype=None):
        dtype = np.dtype(dtype or self.pick(DTYPES))
        v = self.r.randn(*shape)
        if dtype.kind in "iu":
            v = np.abs(v * 7) if dtype.kind == "u" else v * 7
        if dtype.kind == "c":
            v = v + 1j * self.r.randn(*shape)
        return np.asarray(v).astype(dtype)

    def shape(self, rank=None):
        rank = self.r.randint(1, 4) if rank is None else rank
        return tuple(int(self.pick([24, 8, 48, 12, 16])) for _ in range(rank))


class Alone(Draw):
    """The same program with all arrays on one device: what it means, where XLA's partitioner is wrong."""

    def sharding(self, mesh, shape, whole=0.3):
        super().sharding(mesh, shape, whole)
        return SingleDeviceSharding(self.devices[0])


# ---- operations of programs: (arrays of any rank) -> array ----

def widen(x):
    return x.astype(np.float32) if x.dtype.kind in "iub" else x


def op_ew(d, x):
    f = d.pick([jnp.negative, lambda v: v * 2 + 1, lambda v: v * v, jnp.abs, lambda v: jnp.where(v == 0, 1, v), jnp.conj])
    return f(x)


def op_smooth(d, x):
    return d.pick([jnp.tanh, jnp.sin, lambda v: jnp.exp(-v * v / 8) if v.dtype.kind != "c" else v, jax.nn.sigmoid])(widen(x))


def op_reduce(d, x):
    axis = d.pick([None] + list(range(x.ndim)))
    f = d.pick([jnp.sum, jnp.mean, jnp.max, jnp.min] if x.dtype.kind != "c" else [jnp.sum, jnp.mean])
    return x + f(widen(x) if f is jnp.mean else x, axis=axis, keepdims=True).astype(x.dtype)


def op_move(d, x):
    a = d.r.randint(x.ndim)
    return d.pick([lambda v: jnp.roll(v, int(d.r.randint(-9, 9)), a), lambda v: jnp.flip(v, a), lambda v: v.T,
                   lambda v: jnp.concatenate([v, v[::-1]], 0), lambda v: jnp.pad(v, [(1, 2)] * v.ndim),
                   lambda v: jnp.moveaxis(v, a, 0), lambda v: jnp.repeat(v, 2, a), lambda v: jnp.swapaxes(v, 0, -1)])(x)


def op_cut(d, x):
    a = d.r.randint(x.ndim)
    n = x.shape[a]
    lo = int(d.r.randint(0, max(1, n // 2)))
    return d.pick([lambda v: lax.slice_in_dim(v, lo, n, axis=a), lambda v: lax.slice_in_dim(v, lo, n, 2, axis=a),
                   lambda v: lax.dynamic_slice_in_dim(v, jnp.int32(lo), n - lo, a),
                   lambda v: lax.dynamic_update_slice_in_dim(v, v[tuple(slice(0, 1) for _ in v.shape)], jnp.int32(lo), a)])(x)


def op_index(d, x):
    i = d.r.randint(0, x.shape[0], 5)
    return d.pick([lambda v: v[i], lambda v: v.at[i].set(v[0]), lambda v: v.at[i].add(v[0]),
                   lambda v: jnp.take(v, i, axis=v.ndim - 1, mode="clip")])(x)


def op_order(d, x):
    a = d.r.randint(x.ndim)
    if x.dtype.kind == "c":
        return x
    return d.pick([lambda v: jnp.sort(v, axis=a), lambda v: jnp.cumsum(v, axis=a).astype(v.dtype), lambda v: jnp.argmax(v, axis=a),
                   lambda v: lax.cummax(v, axis=a), lambda v: lax.top_k(v, 3)[0], lambda v: jnp.argsort(v, axis=a, stable=True)])(x)


def op_shape(d, x):
    return d.pick([lambda v: v.reshape(-1), lambda v: v.reshape(v.shape[0], -1), lambda v: v[None], lambda v: v.reshape(2, -1),
                   lambda v: jnp.broadcast_to(v, (3,) + v.shape)])(x)


def op_product(d, x):
    return d.pick([lambda v: jnp.tensordot(v, v, ((0,), (0,))) / v.shape[0], lambda v: jnp.einsum("i...,i...->...", v, v),
                   lambda v: v.reshape(v.shape[0], -1) @ v.reshape(v.shape[0], -1).T])(widen(x))


def op_softmax(d, x):
    return jax.nn.softmax(widen(x), axis=d.r.randint(x.ndim)) if x.dtype.kind != "c" else x


OPS = [op_ew, op_ew, op_smooth, op_reduce, op_move, op_cut, op_index, op_order, op_shape, op_product, op_softmax]


def program(d, mesh, n, smooth=False):
    """A function of one array: n operations, some with a constraint behind them."""
    ops = [d.pick([op_smooth, op_reduce, op_move, op_cut, op_index, op_product, op_softmax, op_shape] if smooth else OPS)
           for _ in range(n)]
    seeds = d.r.randint(1 << 30, size=n)

    def f(x):
        for op, s in zip(ops, seeds):
            own = type(d)(int(s), d.devices)
            if not x.ndim or x.size > 1 << 16:
                x = x.reshape(-1)[:48]
            x = op(own, x)
            if own.chance(0.4):
                x = lax.with_sharding_constraint(x, own.sharding(mesh, x.shape))
        return x

    return f


# ---- kinds of programs ----

def kind_jit(d):
    mesh, shape = d.mesh(), d.shape()
    x = jax.device_put(d.array(shape), d.sharding(mesh, shape))
    f = program(d, mesh, d.r.randint(1, 5))
    return jax.jit(f)(x)


def kind_shardings(d):
    """in_shardings, out_shardings, two arguments, one of them left on the host."""
    mesh, shape = d.mesh(), d.shape(2)
    x, y = d.array(shape, np.float32), d.array(shape[:1], np.float32)
    f = lambda a, b: (jnp.tanh(a) * b[:, None], {"sum": a.sum(0), "one": b.mean()}, a)
    out = (d.sharding(mesh, shape), {"sum": d.sharding(mesh, shape[1:]), "one": NamedSharding(mesh, P())}, None)
    return jax.jit(f, in_shardings=(d.sharding(mesh, shape), d.sharding(mesh, shape[:1])), out_shardings=out)(x, y)


def kind_eager(d):
    mesh, shape = d.mesh(), d.shape(2)
    x = jax.device_put(d.array(shape), d.sharding(mesh, shape))
    return x + x, x[0], x[1:3, 2], x.T, x.sum(), jnp.concatenate([x, x]), x.reshape(-1), x.astype(np.complex64)


def kind_gradient(d):
    mesh, shape = d.mesh(), d.shape()
    x = jax.device_put(d.array(shape, d.pick([np.float32, np.float64])), d.sharding(mesh, shape))
    f = program(d, mesh, d.r.randint(1, 4), smooth=True)
    return jax.jit(jax.value_and_grad(lambda v: jnp.sum(f(v).astype(v.dtype) ** 2) / 64))(x)


def kind_training(d):
    """A step with momentum, its state donated, a few times."""
    mesh = d.mesh(least=2)
    w = {"a": d.array((24, 48), np.float32) / 5, "b": d.array((48, 12), np.float32) / 5}
    at = {k: d.sharding(mesh, v.shape) for k, v in w.items()}
    w = jax.device_put(w, at)
    m = jax.tree.map(jnp.zeros_like, w)
    x = jax.device_put(d.array((48, 24), np.float32), d.sharding(mesh, (48, 24)))

    def loss(w, x):
        return jnp.mean((jax.nn.relu(x @ w["a"]) @ w["b"]) ** 2)

    @functools.partial(jax.jit, donate_argnums=(0, 1), out_shardings=(at, at, None))
    def step(w, m, x):
        v, g = jax.value_and_grad(loss)(w, x)
        m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g)
        return jax.tree.map(lambda a, b: a - 0.05 * b, w, m), m, v

    for _ in range(3):
        before = w
        w, m, v = step(w, m, x)
        assert all(a.is_deleted() for a in jax.tree.leaves(before))
    return w, m, v


def kind_loop(d):
    mesh, shape = d.mesh(), d.shape(2)
    x = jax.device_put(d.array(shape, np.float32), d.sharding(mesh, shape))
    at = d.sharding(mesh, shape)

    def body(c, t):
        c = lax.with_sharding_constraint(c * 0.5 + jnp.roll(c, 1, 0) * t, at)
        return c, c.sum(1)

    def f(v):
        c, s = lax.scan(body, v, jnp.arange(4, dtype=np.float32))
        w = lax.while_loop(lambda u: (u[1] < 5) & (jnp.abs(u[0]).max() > 1e-3), lambda u: (u[0] * 0.5, u[1] + 1), (c, 0))
        return s, w, lax.cond(v.sum() > 0, lambda: c * 2, lambda: c - 1), lax.fori_loop(0, 3, lambda i, u: u + i, c)

    return jax.jit(f)(x)


def kind_shard_map(d):
    mesh = d.mesh()
    names = mesh.axis_names
    a, n = names[0], mesh.shape[names[0]]
    all_names = tuple(names)
    x = d.array((n * mesh.size, 2 * mesh.size), d.pick([np.float32, np.int32, np.float64]))
    spec = P(a, names[1] if len(names) > 1 and d.chance(0.5) else None)
    choice = d.r.randint(11)
    shift = [(i, (i + 1) % n) for i in range(n)]

    def f(v):
        if choice == 0:
            return lax.psum(v, a)
        if choice == 1:
            return lax.all_gather(v, a, axis=0, tiled=True)
        if choice == 2:
            return lax.ppermute(v, a, shift)
        if choice == 3:
            return lax.all_to_all(v, a, 0, 0, tiled=True)
        if choice == 4:
            return lax.psum_scatter(v, a, scatter_dimension=0, tiled=True)
        if choice == 5:
            return v + lax.axis_index(all_names).astype(v.dtype)
        if choice == 6:
            return lax.pmax(v, a) - lax.pmin(v, all_names)
        if choice == 7:
            return lax.scan(lambda c, _: (lax.ppermute(c, a, shift) + v, lax.psum(c.sum(), a)), v, None, 3)[0]
        if choice == 8:
            return lax.all_gather(v[:1] * (lax.axis_index(a) + 1).astype(v.dtype), all_names, axis=0, tiled=True)
        if choice == 9:
            return lax.ppermute(v, a, [(0, n - 1)])
        return lax.psum(v, all_names) + lax.pmean(v.astype(np.float32), a).astype(v.dtype)

    g = jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    h = jax.jit(lambda v: (g(v), g(v * 2).sum(0))) if d.chance(0.7) else g
    out = [h(jax.device_put(x, NamedSharding(mesh, spec)))]
    if x.dtype.kind == "f" and choice not in (5, 6):
        out.append(jax.jit(jax.grad(lambda v: (g(v) ** 2).sum()))(x))
    return out


def kind_some_axes(d):
    """shard_map over one axis of two, the other left to propagation."""
    mesh = d.mesh(least=2)
    a, n = mesh.axis_names[0], mesh.shape[mesh.axis_names[0]]
    x = d.array((n * 8, 24), np.float32)
    g = jax.shard_map(lambda v: (lax.psum(v, a), jnp.sin(v) + lax.axis_index(a)), mesh=mesh, in_specs=P(a),
                      out_specs=(P(), P(a)), axis_names={a})
    return jax.jit(g)(jax.device_put(x, d.sharding(mesh, x.shape)))


def kind_pmap(d):
    n = d.pick([1, 2, 4, 8])
    x = d.array((n, 4, 6), np.float32)
    shift = [(i, (i + 1) % n) for i in range(n)]
    f = lambda v, s: (lax.psum(v, "i"), lax.all_gather(v[0], "i"), lax.ppermute(v, "i", shift), v * s + lax.axis_index("i"))
    g = jax.pmap(f, axis_name="i", in_axes=(0, None), devices=d.devices[:n])
    return g(x, 3.0), jax.pmap(lambda v: v + 1, devices=d.devices[:n])(g(x, 2.0)[3])


def kind_put(d):
    shape = d.shape(2)
    v = d.array(shape)
    out = [jax.device_put(v, d.pick(d.devices))]
    for _ in range(5):
        mesh = d.mesh()
        at = SingleDeviceSharding(d.pick(d.devices)) if d.chance(0.3) else d.sharding(mesh, shape)
        out.append(jax.device_put(out[-1], at))
    return out, jax.device_put(out[3], d.devices[2]) + 1


def kind_random(d):
    mesh, shape = d.mesh(), d.shape(2)
    at = d.sharding(mesh, shape)
    with jax.default_device(d.devices[0]):
        key = jax.random.key(int(d.r.randint(1 << 20)), impl=d.pick(["threefry2x32", "threefry2x32", "rbg"]))
    if jax.random.key_impl(key) == "rbg": # whose bits each platform may choose
        return jax.jit(lambda k: jax.random.bits(k, shape).shape[0] * jnp.ones(shape), out_shardings=at)(key)
    f = d.pick([jax.random.normal, jax.random.uniform, jax.random.bits])
    return (jax.jit(lambda k: f(k, shape), out_shardings=at)(key),
            jax.jit(lambda k: lax.with_sharding_constraint(f(jax.random.split(k)[1], shape), at) * 2)(key))


def kind_keys(d):
    mesh = d.mesh()
    with jax.default_device(d.devices[0]):
        keys = jax.random.split(jax.random.key(7), 24)
    keys = jax.device_put(keys, d.sharding(mesh, (24,)))
    return jax.jit(jax.vmap(lambda k: jax.random.normal(k, (3,))))(keys), jax.random.key_data(keys)


def kind_donated(d):
    mesh, shape = d.mesh(), d.shape(2)
    at = d.sharding(mesh, shape)
    x, y = (jax.device_put(d.array(shape, np.float32), at) for _ in range(2))
    f = jax.jit(lambda a, b: (a + b, a.sum()), donate_argnums=0, out_shardings=(at, None))
    out = f(x, y)
    assert x.is_deleted() and not y.is_deleted()
    try:
        np.asarray(x)
    except RuntimeError:
        return out, f(out[0] * 1, y)
    raise AssertionError("a donated array can be read")


def kind_linalg(d):
    mesh = d.mesh()
    a = d.array((12, 12), np.float64)
    a = a @ a.T + 12 * np.eye(12)
    x = jax.device_put(a, d.sharding(mesh, a.shape))
    b = jax.device_put(d.array((12, 24), np.float64), d.sharding(mesh, (12, 24)))
    f = d.pick([lambda u, v: jnp.linalg.cholesky(u), lambda u, v: jnp.linalg.solve(u, v), lambda u, v: jnp.linalg.eigvalsh(u),
                lambda u, v: jnp.fft.fft(v, axis=0), lambda u, v: jnp.linalg.inv(u), lambda u, v: jnp.linalg.norm(u @ v)])
    return jax.jit(f)(x, b)


def kind_convolution(d):
    mesh = d.mesh()
    x, k = d.array((8, 4, 12, 24), np.float32), d.array((8, 4, 3, 3), np.float32)
    x, k = (jax.device_put(v, d.sharding(mesh, v.shape)) for v in (x, k))
    stride, pad = d.pick([(1, 1), (2, 1), (3, 2)]), d.pick(["SAME", "VALID"])
    f = lambda u, v: lax.conv_general_dilated(u, v, stride, pad)
    return jax.jit(f)(x, k), jax.jit(jax.grad(lambda v, u: f(u, v).sum()))(k, x)


def kind_two_meshes(d):
    """Marks of two meshes over the same devices, in one program."""
    own = np.array(d.devices)
    m, n = Mesh(own.reshape(2, 4), ("x", "y")), Mesh(own.reshape(4, 2), ("a", "b"))
    shape = (16, 24)
    x = jax.device_put(d.array(shape, np.float32), d.sharding(m, shape))
    y = jax.device_put(d.array(shape, np.float32), d.sharding(n, shape))
    return jax.jit(lambda u, v: (u + v, u.sum(0), v.T @ u))(x, y)


def kind_errors(d):
    """Both platforms refuse it, or none does."""
    mesh = d.mesh()
    a, n = mesh.axis_names[0], mesh.shape[mesh.axis_names[0]]
    x = d.array((n + 1, 8) if n > 1 else (2, 8), np.float32)
    choice = d.r.randint(4)
    if choice == 0:
        return jax.device_put(x, NamedSharding(mesh, P(a)))
    if choice == 1:
        return jax.jit(lambda v: v, out_shardings=NamedSharding(mesh, P(a)))(x)
    if choice == 2:
        return jax.jit(lambda u, v: u + v)(jax.device_put(x, d.devices[0]), jax.device_put(x, d.devices[1]))
    return jax.jit(lambda v: lax.with_sharding_constraint(v, NamedSharding(mesh, P(a))) * 2)(x)


OF_DEVICES = ("shard_map", "some_axes", "pmap")  # what these compute depends on how many there are
KINDS = {k[5:]: v for k, v in list(globals().items()) if k.startswith("kind_")}


# ---- comparing ----

def whole(x):
    return np.asarray(jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x)


def check_shards(x):
    """Every shard is the part of the whole that its sharding says, copies too."""
    v = whole(x)
    for s in x.addressable_shards:
        part = np.asarray(s.data)
        assert part.shape == x.sharding.shard_shape(x.shape), (part.shape, x.sharding)
        assert s.data.devices() == {s.device}, (s.data.devices(), s.device)
        np.testing.assert_array_equal(part, v[s.index], err_msg=f"shard of {s.device}")


def compare(got, want):
    """Equal, or as close as sums in another order leave it: relative to the largest element."""
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, got.shape, want.dtype, want.shape)
    bound = BOUND.get(str(got.dtype))
    if bound is None:
        np.testing.assert_array_equal(got, want)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    got, want = got.astype(wide), want.astype(wide)
    big = np.abs(want[np.isfinite(want)]).max(initial=1e-30)
    np.testing.assert_allclose(got, want, rtol=bound, atol=bound * big)


def compare_all(got, want):
    assert len(got) == len(want)
    for g, w in zip(got, want):
        compare(g, w)


def run(kind, seed, devices, draw=Draw):
    try:
        out = jax.tree.leaves(KINDS[kind](draw(seed, devices)))
        return out, [whole(x) for x in out], None
    except Exception as e:  # noqa: BLE001
        return None, None, e


def one(kind, seed, mine, theirs):
    _, want, wrong = run(kind, seed, theirs)
    out, got, e = run(kind, seed, mine)
    if wrong is not None and "INTERNAL: RET_CHECK" in str(wrong):  # XLA's own mistake
        return
    if wrong is not None or e is not None:
        if wrong is None:
            raise e
        assert e is not None, f"JAX refuses it: {wrong}"
        assert type(e) is type(wrong), (e, wrong)
        return
    for x in out:
        check_shards(x)
    try:
        compare_all(got, want)
    except AssertionError:
        _, alone, wrong = run(kind, seed, theirs, Alone)
        if wrong is not None or kind in OF_DEVICES:
            raise
        compare_all(got, alone)
        print(f"--only {kind} --seed {seed}: JAX's own CPU devices differ from one of them; Lazuli's do not")


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--seed", type=int, default=0)
    a.add_argument("--count", type=int, default=3)
    a.add_argument("--only", choices=KINDS)
    a.add_argument("--verbose", action="store_true")
    o = a.parse_args()
    mine, theirs = jax.devices("lazuli"), jax.devices("cpu")
    assert len(mine) == len(theirs) == 8, (mine, theirs)
    passed = failed = 0
    for kind in [o.only] if o.only else KINDS:
        for seed in range(o.seed, o.seed + o.count):
            try:
                one(kind, seed, mine, theirs)
                passed += 1
            except Exception as e:  # noqa: BLE001
                failed += 1
                print(f"--only {kind} --seed {seed} --count 1: {type(e).__name__}: {str(e)[:600]}")
                if o.verbose:
                    traceback.print_exc()
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
