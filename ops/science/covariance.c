/* covariance.c - covariances and correlations: include/lazuli/science_ops.h.
 * Source: ATen's Correlation.cpp. */
#include "ops/science/science.h"
#include "base/status.h"
#include <inttypes.h>
#include <lazuli/complex_ops.h>
#include <lazuli/science_ops.h>

/* Whether w, which may be NULL, is one weight for each of n observations. */
static bool weights_fit(const lz_composite *c, const lz_tensor *w, int64_t n, bool whole,
                        const char *what)
{
    char text[160];
    if (!w)
        return true;
    if (!lz_composite_real(c, w, what))
        return false;
    lz_dtype d = lz_dtype_of(w);
    if (whole != (lz_dtype_is_int(d) != 0) || d == LZ_BOOL) {
        LZ_FAIL(LZ_EDTYPE, "%s are %s: they are %s", what, lz_dtype_name(d),
                whole ? "integers" : "floats");
        return false;
    }
    if (lz_rank_of(w) != 1 || lz_numel(w) != n) {
        LZ_FAIL(LZ_ESHAPE, "%s are %s: one for each of %" PRId64 " observations is needed", what,
                lz_composite_shape(w, text), n);
        return false;
    }
    return true;
}

static lz_tensor *total(const lz_composite *c, lz_tensor *w)
{
    return lz_composite_sum(c, w, 0, false);
}

static lz_tensor *adjoint(const lz_composite *c, lz_tensor *x)
{
    return lz_conj_at(lz_transpose_at(x, 0, 1, c->site), c->site);
}

/* x[variables, observations], wide. */
static lz_tensor *covariance(const lz_composite *c, lz_tensor *x, const lz_cov_options *o)
{
    int64_t n = lz_shape_of(x).dims[1];
    lz_tensor *a = o->aweights, *w = o->fweights;
    lz_dtype real =
        lz_dtype_is_complex(lz_dtype_of(x)) ? lz_dtype_part(lz_dtype_of(x)) : lz_dtype_of(x);
    a = a ? TO(a, real) : NULL;
    w = w ? TO(w, real) : NULL;
    w = w && a ? MUL(w, a) : w ? w : a;
    if (!w) {
        lz_tensor *mean = lz_mean_at(x,
                                     &(lz_reduce_options){.struct_size = sizeof(lz_reduce_options),
                                                          .dims = {1, {1}},
                                                          .keepdim = true},
                                     c->site);
        double by = (double)n - o->correction;
        lz_tensor *e = SUB(x, mean);
        return DIV(lz_matmul_at(e, adjoint(c, e), c->site),
                   lz_full_at(real, LZ_SCALAR, by > 0 || by != by ? by : 0, c->site));
    }
    lz_tensor *sum = total(c, w);
    lz_tensor *e = SUB(x, DIV(lz_composite_sum(c, MUL(x, w), 1, true), sum));
    lz_tensor *less = lz_full_at(real, LZ_SCALAR, o->correction, c->site);
    if (a)
        less = MUL(less, DIV(total(c, MUL(w, a)), sum));
    lz_tensor *by = SUB(sum, less), *zero = NUMBER(by, 0);
    by = WHERE(lz_lt_at(by, zero, c->site), zero, by);
    return DIV(lz_matmul_at(MUL(e, w), adjoint(c, e), c->site), by);
}

/* Rank 0 of a row, or a matrix; wide. NULL with the error recorded. */
static lz_tensor *of_rows(const lz_composite *c, lz_tensor *x, const lz_cov_options *o)
{
    char text[160];
    if (!lz_composite_in(c, x, "x"))
        return NULL;
    int32_t rank = lz_rank_of(x);
    if (rank > 2) {
        LZ_FAIL(LZ_ESHAPE, "x is %s: it is [variables, observations], or one row of them",
                lz_composite_shape(x, text));
        return NULL;
    }
    int64_t n = rank == 0 ? 1 : lz_shape_of(x).dims[rank - 1];
    if (!weights_fit(c, o->fweights, n, true, "fweights") ||
        !weights_fit(c, o->aweights, n, false, "aweights"))
        return NULL;
    lz_tensor *rows = lz_composite_wide(c, x);
    if (rank < 2)
        rows = RESHAPE(rows, LZ_SHAPE(1, n));
    lz_tensor *r = covariance(c, rows, o);
    return rank < 2 ? RESHAPE(r, LZ_SCALAR) : r;
}

lz_tensor *lz_cov_at(lz_tensor *x, const lz_cov_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_cov");
    lz_cov_options opt = {.struct_size = sizeof opt, LZ_COV_DEFAULTS};
    lz_tensor *r = lz_composite_options(c, &opt, sizeof opt, o) ? of_rows(c, x, &opt) : NULL;
    return lz_composite_end(c, r ? TO(r, lz_composite_dtype(x)) : NULL);
}

static lz_tensor *clipped(const lz_composite *c, lz_tensor *r)
{
    if (!lz_dtype_is_complex(lz_dtype_of(r)))
        return lz_clamp_at(r, -1, 1, c->site);
    return lz_complex_at(lz_clamp_at(lz_real_at(r, c->site), -1, 1, c->site),
                         lz_clamp_at(lz_imag_at(r, c->site), -1, 1, c->site), c->site);
}

lz_tensor *lz_corrcoef_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_corrcoef");
    static const lz_cov_options plain = {.struct_size = sizeof plain, LZ_COV_DEFAULTS};
    lz_tensor *r = of_rows(c, x, &plain);
    if (!r)
        return lz_composite_end(c, NULL);
    if (lz_rank_of(r) == 0)
        return lz_composite_end(c, TO(DIV(r, r), lz_composite_dtype(x)));
    lz_tensor *d = lz_diagonal_at(r, 0, 0, 1, site);
    d = lz_sqrt_at(lz_dtype_is_complex(lz_dtype_of(d)) ? lz_real_at(d, site) : d, site);
    r = DIV(DIV(r, lz_unsqueeze_at(d, 1, site)), lz_unsqueeze_at(d, 0, site));
    return lz_composite_end(c, TO(clipped(c, r), lz_composite_dtype(x)));
}
