"""What JAX has no rule for on the CPU, or calls functions of its own for that Lazuli has no operation for, in JAX's operations."""
import jax
import jax.numpy as jnp


def part_of_eigh(results, begin, end):
    v, w = results
    return v[..., begin:end], w[..., begin:end]


def part_of_svd(results, begin, end):
    s, *vectors = results
    if not vectors:
        return (s[..., begin:end],)
    u, vt = vectors
    if end - begin == s.shape[-1]:  # all of them: full matrices are allowed
        return s, u, vt
    return s[..., begin:end], u[..., begin:end], vt[..., begin:end, :]


def perturbed(pivot, largest, step, tiny):
    """The pivot, made larger until the largest element of b divided by it does not overflow (LAPACK's lagts)."""
    small = lambda p: (abs(p) < 1) & ((p == 0) | (largest * tiny > abs(p)))

    def grow(state):
        p, step = state
        return jnp.where(small(p), p + step.astype(p.dtype), p), 2 * step

    step = jnp.copysign(step, pivot.real)
    return jax.lax.while_loop(lambda state: small(state[0]).any(), grow, (pivot, step))[0]


def solve_tridiagonal_perturbed(dl, d, du, b):
    """x with A x = b, of A with the diagonals dl, d and du: jax.lax.linalg.tridiagonal_solve(perturb_singular=True), so pivots
    that b would overflow by grow, from eps max |U| on. Gaussian elimination with partial pivoting (LAPACK's gttrf): row i of U has
    three elements. dl, d, du: [.., n], b: [.., n, k]."""
    rows = [jnp.moveaxis(a, -1, 0) for a in (dl, d, du)]
    rhs = jnp.moveaxis(b, -2, 0)
    zero = jnp.zeros_like(rows[0][0])

    def eliminate(row, following):
        """row: what is left of the row above, in the columns of its pivot and the next one; gives a row of U and its b."""
        p, q, r = row
        l, m, u, s = following
        swap = abs(l) > abs(p)
        upper = [jnp.where(swap, x, y) for x, y in ((l, p), (m, q), (u, zero))]
        other = [jnp.where(swap, y, x) for x, y in ((l, p), (m, q), (u, zero))]
        factor = jnp.where(upper[0] == 0, zero, other[0] / jnp.where(upper[0] == 0, 1, upper[0]))
        above, below = jnp.where(swap[..., None], s, r), jnp.where(swap[..., None], r, s)
        left = (other[1] - factor * upper[1], other[2] - factor * upper[2], below - factor[..., None] * above)
        return left, (*upper, above)

    last, first = jax.lax.scan(eliminate, (rows[1][0], rows[2][0], rhs[0]), (*(a[1:] for a in rows), rhs[1:]))
    u0, u1, u2, y = (jnp.concatenate([a, e[None]]) for a, e in zip(first, (last[0], zero, zero, last[2])))

    info = jnp.finfo(d.dtype)
    step = jnp.maximum(jnp.maximum(jnp.maximum(abs(u0), abs(u1)), abs(u2)).max(0) * info.eps, info.tiny)

    def substitute(x, row):
        p, q, r, s = row
        s = s - q[..., None] * x[0] - r[..., None] * x[1]
        now = s / perturbed(p, abs(s).max(-1), step, info.tiny)[..., None]
        return (now, x[0]), now

    none = jnp.zeros_like(y[0])
    return jnp.moveaxis(jax.lax.scan(substitute, (none, none), (u0, u1, u2, y), reverse=True)[1], 0, -2)
