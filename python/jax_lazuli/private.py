"""All that this package uses of JAX which JAX does not promise to keep. Tried with 0.7.2 and 0.10.2; callbacks with 0.10.2.

What is missing in another version is left out, so that a program that does not need it still runs.
"""
import functools
import logging
import types

import jax
import jax.ffi
from jax._src import compilation_cache, core, xla_bridge
from jax._src.interpreters import mlir

from . import callbacks, linalg

log = logging.getLogger(__name__)

# Primitives of which Lazuli takes the CPU's rule. It calls LAPACK by name, and Lazuli has functions of those names; or it
# calls Python (call_python).
DECOMPOSITIONS = ("eigh", "svd", "schur", "hessenberg", "tridiagonal", "geqp3", "lu", "geqrf", "householder_product", "ormqr",
                  "tridiagonal_solve")
BORROWED = (*DECOMPOSITIONS, "eig", "debug_callback", "debug_print", "check", "spsolve")


def register(name, path, options):
    xla_bridge.register_plugin(name, library_path=path, options=options, priority=500)
    for part in (donate, borrow, decompose, perturb, widen, functools.partial(call_python, path=path), cache,
                 functools.partial(share, platform=options.get("platform", "cpu"))):
        try:
            part(name)
        except Exception as e:  # JAX has changed
            log.warning("jax_lazuli: %s is left out: %s", getattr(part, "func", part).__name__, e)


def donate(name):
    """Buffers of arguments that a program gives up are reused."""
    platforms = mlir._platforms_with_donation
    if name not in platforms:
        platforms.append(name)


class Rules(dict):
    """The rules of a platform that borrows others': also those of modules that are imported later, as jax.experimental.sparse."""

    def __init__(self, own, others):
        super().__init__(own)
        self.others = others

    def __contains__(self, primitive):
        return super().__contains__(primitive) or (primitive.name in BORROWED and primitive in self.others)

    def __missing__(self, primitive):
        if primitive.name in BORROWED:
            return self.others[primitive]
        raise KeyError(primitive)


def borrow(name):
    """The CPU's rules."""
    rules = mlir._platform_specific_lowerings
    rules[name] = Rules(rules[name], rules["cpu"])


def decompose(name):
    """eigh and svd by any algorithm, and parts of their results, of which the CPU's rules refuse most."""
    from jax._src.lax.linalg import eigh_p, svd_p

    for primitive, part in ((eigh_p, linalg.part_of_eigh), (svd_p, linalg.part_of_svd)):
        mlir.register_lowering(primitive, decomposition(primitive, part), platform=name)


def decomposition(primitive, part):
    others = mlir._platform_specific_lowerings["cpu"][primitive].rule

    def rule(ctx, operand, **params):
        if "algorithm" in params:  # each is asked for the same decomposition; LAPACK's is the fastest that Lazuli has
            params["algorithm"] = None
        bounds = params.get("subset_by_index")
        if bounds is None:
            return others(ctx, operand, **params)
        params["subset_by_index"] = None
        return mlir.lower_fun(lambda a: part(primitive.bind(a, **params), *bounds), multiple_results=True)(ctx, operand)

    return rule


def perturb(name):
    """tridiagonal_solve(perturb_singular=True), for which the CPU's rule calls a function of JAX's own."""
    from jax._src.lax.linalg import tridiagonal_solve_p

    others = mlir._platform_specific_lowerings["cpu"][tridiagonal_solve_p].rule
    own = mlir.lower_fun(linalg.solve_tridiagonal_perturbed, multiple_results=False)

    def rule(ctx, *args, **params):
        return own(ctx, *args) if params.get("perturb_singular") else others(ctx, *args, **params)

    mlir.register_lowering(tridiagonal_solve_p, rule, platform=name)


def widen(name):
    """Decompositions of 16-bit floats, which LAPACK does not have: of f32, rounded back."""
    rules = mlir._platform_specific_lowerings
    for primitive in [p for p in rules["cpu"] if p.name in DECOMPOSITIONS]:
        mlir.register_lowering(primitive, widened(primitive, rules[name][primitive].rule), platform=name)


def widened(primitive, others):
    small = lambda a: a.dtype.itemsize == 2

    def rule(ctx, *args, **params):
        if not any(small(a) for a in ctx.avals_in):
            return others(ctx, *args, **params)

        def wide(*operands):
            results = primitive.bind(*(a.astype("float32") if small(a) else a for a in operands), **params)
            return [r.astype(a.dtype) for r, a in zip(results if primitive.multiple_results else [results], ctx.avals_out)]

        return mlir.lower_fun(wide, multiple_results=True)(ctx, *args)

    return rule


# ---- callbacks ----

def call_python(name, path):
    """Every rule that calls Python does so by one function, emit_python_callback, which knows JAX's own platforms only: it
    becomes one that knows `name`, too."""
    from jax._src import callback
    from jax.interpreters import mlir as public

    places = [m for m in (callback, mlir, public) if hasattr(m, "emit_python_callback")]
    others = places[0].emit_python_callback

    @functools.wraps(others)
    def emit_python_callback(ctx, *args, **kwargs):
        own = tuple(ctx.module_context.platforms) == (name,)
        return emit(path, ctx, *args, **kwargs) if own else others(ctx, *args, **kwargs)

    for m in places:
        m.emit_python_callback = emit_python_callback


def emit(path, ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect, partitioned=False,
         sharding=None, **others):
    """A custom call of callbacks.TARGET. The token says nothing to Lazuli, which makes calls in program order."""
    if partitioned and (getattr(ctx.module_context.axis_context, "num_devices", 1) or 1) > 1:
        raise NotImplementedError("callbacks for each part of an array")
    callbacks.open_library(path)
    c = callbacks.Callback(callback, [spec(a) for a in operand_avals], [spec(a) for a in result_avals])
    ctx.module_context.add_host_callback(c)  # lives as long as the program, which JAX does not keep on disk
    lower = jax.ffi.build_ffi_lowering_function(callbacks.TARGET, has_side_effect=has_side_effect, api_version=2,
                                                backend_config=str(c.number), skip_ffi_layout_processing=True)
    tokens = [core.abstract_token] if token else []
    ctx = ctx.replace(avals_in=[*tokens, *operand_avals], avals_out=[*tokens, *result_avals])
    call = lower(ctx, *([token] if token else []), *operands)
    if sharding is not None:
        mlir.set_sharding(ctx.module_context, call, with_token(sharding) if token and result_avals else sharding)
    results = list(call.results)
    return (results[1:], results[0], c) if token else (results, None, c)


def with_token(sharding):
    """One for each result, of which the token is the first."""
    if not hasattr(sharding, "shardings"):
        return sharding
    first = sharding.shardings[0]
    token = type(first)(mesh_shape=(), dim_shardings=(), logical_device_ids=first.logical_device_ids)
    return type(sharding)((token, *sharding.shardings))


def spec(aval):
    aval = core.physical_aval(aval)
    return tuple(aval.shape), callbacks.dtype_of(aval.dtype)


# ---- JAX's own cache of programs (jax_compilation_cache_dir) ----

def cache(name):
    """It asks whether the platform is one of JAX's that write executables down."""
    others = compilation_cache.is_cache_used

    @functools.wraps(others)
    def is_cache_used(backend):
        return others(types.SimpleNamespace(platform="cpu") if backend.platform == name else backend)

    compilation_cache.is_cache_used = is_cache_used


# ---- DLPack ----

def share(name, platform):
    """jaxlib exports arrays of its own devices only. Those in the host's memory are exported by JAX's CPU, which takes them as
    they are."""
    from jax._src import array

    if platform == "cuda":
        return
    of_jax = {method: getattr(array.ArrayImpl, method) for method in ("__dlpack__", "__dlpack_device__")}

    def on_host(x):
        devices = x.devices()
        ours = len(devices) == 1 and next(iter(devices)).platform == name
        return jax.device_put(x, jax.local_devices(backend="cpu")[0]) if ours else x

    def wrapped(method):
        return functools.wraps(method)(lambda self, *args, **kwargs: method(on_host(self), *args, **kwargs))

    for attribute, method in of_jax.items():
        setattr(array.ArrayImpl, attribute, wrapped(method))
