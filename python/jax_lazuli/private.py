"""All that this package uses of JAX which JAX does not promise to keep. Tried with 0.7.2 and 0.10.2.

What is missing in another version is left out, so that a program that does not need it still runs.
"""
import logging

from jax._src import xla_bridge
from jax._src.interpreters import mlir

log = logging.getLogger(__name__)

# Primitives that have a rule for each platform only. Those of the CPU call LAPACK by name, and
# Lazuli has functions of those names.
BORROWED = ("eigh", "eig", "schur", "hessenberg", "tridiagonal", "geqp3", "lu", "geqrf", "householder_product", "tridiagonal_solve")


def register(name, path, options):
    xla_bridge.register_plugin(name, library_path=path, options=options, priority=500)
    for part in (donate, borrow):
        try:
            part(name)
        except Exception as e:  # JAX has changed
            log.warning("jax_lazuli: %s is left out: %s", part.__name__, e)


def donate(name):
    """Buffers of arguments that a program gives up are reused."""
    platforms = mlir._platforms_with_donation
    if name not in platforms:
        platforms.append(name)


def borrow(name):
    """The CPU's rules for decompositions."""
    from jax._src.lax import linalg  # noqa: F401  (its rules are made when it is imported)

    rules = mlir._platform_specific_lowerings
    for primitive, rule in list(rules["cpu"].items()):
        if primitive.name in BORROWED and primitive not in rules[name]:
            rules[name][primitive] = rule
