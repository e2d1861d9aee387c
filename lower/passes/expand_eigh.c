/* expand_eigh.c - lazuli.eigh for backends without routines: with c I added, c a bound of the
 * eigenvalues' magnitudes, a Hermitian matrix is positive semidefinite, so its eigenvalues are
 * singular values (expand_svd.c), in the other order. Errors are of the order of the unit roundoff
 * times that bound. Threads: as rewrite.h. */
#include "lower/passes/expand_linalg.h"

/* The Hermitian matrix of one triangle. */
static lz_val hermitian(const lz_mats *t, lz_val a, bool lower, int64_t n)
{
    lz_val zeros = lz_mat_zeros(t, n, n);
    lz_val half =
        lz_build_select(t->f, lz_mat_triangle(t, lower ? LZ_CMP_GT : LZ_CMP_LT, n, n), a, zeros);
    lz_val on = lz_build_select(t->f, lz_mat_triangle(t, LZ_CMP_EQ, n, n),
                                lz_mat_complex(t, lz_mat_real(t, a)), zeros);
    return lz_mat_add(t, lz_mat_add(t, half, lz_mat_conj(t, lz_mat_transpose(t, half))), on);
}

static lz_val backwards(const lz_mats *t, lz_val x)
{
    lz_attr_dims a = {.kind = LZ_ATTR_dims, .dimensions = lz_ints_make(1, (int64_t[]){2})};
    return lz_build(t->f, LZ_OP_REVERSE, (const lz_attr *)(const void *)&a, &x, 1);
}

/* NaN in all of x[batch, rows, n] of a matrix in which something is not finite. */
static lz_val marked(const lz_mats *t, lz_val x, lz_val finite, int64_t rows, int64_t n)
{
    if (x == LZ_NOVAL)
        return x;
    lz_val nan = lz_mat_number(t, __builtin_nan(""), rows, n);
    if (lz_dtype_is_complex(lz_val_type(t->f, x)->dtype))
        nan = lz_build_ew2(t->f, LZ_OP_COMPLEX, nan, nan);
    return lz_build_select(t->f, lz_mat_repeat(t, finite, rows, n), x, nan);
}

void lz_expand_eigh(lz_rw *rw, uint32_t i, lz_val *out)
{
    lz_mats own, *t = &own;
    int64_t n, same;
    lz_val a = lz_mat_operand(rw, i, 0, t, &n, &same), u = LZ_NOVAL, s = u, v = u;
    a = hermitian(t, a, LZ_ATTR(eigh, rw->in->insts[i].sig->attr)->lower, n);
    lz_val bound =
        lz_mat_reduce(t, LZ_OP_MAXIMUM, lz_mat_reduce(t, LZ_OP_ADD, lz_mat_abs(t, a), 2, n), 1, 1);
    if (bound == LZ_NOVAL)
        return;
    lz_val finite = lz_build_ew1(t->f, LZ_OP_IS_FINITE, bound);
    lz_val shift =
        lz_build_select(t->f, lz_mat_triangle(t, LZ_CMP_EQ, n, n),
                        lz_mat_complex(t, lz_mat_repeat(t, bound, n, n)), lz_mat_zeros(t, n, n));
    lz_mat_svd(t, lz_mat_add(t, a, shift), n, n, n, &u, &s, &v);
    s = lz_mat_sub(t, s, lz_mat_repeat(t, bound, 1, n));
    out[0] = lz_mat_result(rw, i, 0, marked(t, backwards(t, v), finite, n, n));
    out[1] = lz_mat_result(rw, i, 1, marked(t, backwards(t, s), finite, 1, n));
}
