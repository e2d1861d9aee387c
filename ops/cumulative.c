/* cumulative.c - cumulative operations (prefix scans): include/lazuli/window_ops.h. A sum is a
 * reduce_window as long as the dimension; operations without a gradient in that form are scans of
 * log n steps, which have one. */
#include "ops/compose.h"
#include "ops/order_builder.h"
#include "ops/window_builder.h"
#include <lazuli/window_ops.h>
#include <math.h>

/* Inclusive prefixes along dim; NULL for NULL. */
static lz_node *prefixes(lz_tracer *c, lz_op op, lz_node *x, int64_t dim)
{
    lz_window_axis w[LZ_MAX_RANK];
    if (!x || lz_tracer_shape(x)->dims[dim] == 0)
        return x;
    for (int d = 0; d < lz_tracer_shape(x)->rank; d++)
        w[d] = (lz_window_axis){1, 1, 0, 0, 1, 1};
    w[dim].size = lz_tracer_shape(x)->dims[dim];
    w[dim].low = w[dim].size - 1;
    return lz_tracer_reduce_window(c, op, x, w);
}

/* x with at least one dimension, and the resolved dimension. */
static lz_node *rows_of(lz_tracer *c, lz_node *x, int64_t *dim)
{
    lz_shape one = lz_shape_make(1, (int64_t[]){1});
    if (!x || !lz_tracer_dim(*dim, lz_tracer_shape(x)->rank, dim))
        return NULL;
    return lz_tracer_shape(x)->rank ? x : lz_tracer_reshape(c, x, &one);
}

static lz_node *as_given(lz_tracer *c, lz_node *y, const lz_node *x)
{
    return y ? lz_tracer_reshape(c, y, lz_tracer_shape(x)) : NULL;
}

static bool is_integral(lz_dtype d)
{
    return d == LZ_BOOL || lz_dtype_is_int(d);
}

lz_tensor *lz_cumsum_at(lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_cumsum");
    lz_node *a = IN(x), *r = rows_of(c, a, &dim);
    if (r && is_integral(lz_tracer_dtype(r)))
        r = TO(r, LZ_I64);
    return lz_tracer_end(c, r ? as_given(c, prefixes(c, LZ_OP_ADD, r, dim), a) : NULL);
}

lz_tensor *lz_cumprod_at(lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_cumprod");
    lz_node *a = IN(x), *r = rows_of(c, a, &dim);
    lz_dtype d = lz_tracer_dtype(r);
    r = r ? is_integral(d) ? TO(r, LZ_I64) : lz_tracer_wide(c, r) : NULL;
    lz_node *one = r ? lz_tracer_const(c, lz_tracer_dtype(r), 1, r) : NULL;
    for (int64_t step = 1; r && step < lz_tracer_shape(r)->dims[dim]; step *= 2)
        r = MUL(r, lz_tracer_shift(c, r, dim, step, one));
    return lz_tracer_end(c, r ? as_given(c, is_integral(d) ? r : TO(r, d), a) : NULL);
}

lz_tensor *lz_logcumsumexp_at(lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_logcumsumexp");
    lz_node *a = IN(x), *r = rows_of(c, lz_tracer_float(c, a), &dim);
    lz_dtype d = lz_tracer_dtype(r);
    if (r && !lz_dtype_is_float(d)) {
        LZ_FAIL(LZ_EDTYPE, "the operand is %s: complex numbers have no largest", lz_dtype_name(d));
        r = NULL;
    }
    r = lz_tracer_wide(c, r);
    lz_node *none = r ? lz_tracer_const(c, lz_tracer_dtype(r), -INFINITY, r) : NULL;
    for (int64_t step = 1; r && step < lz_tracer_shape(r)->dims[dim]; step *= 2)
        r = lz_tracer_log_add(c, r, lz_tracer_shift(c, r, dim, step, none), 1);
    return lz_tracer_end(c, r ? as_given(c, TO(r, d), a) : NULL);
}

/* An element that is the extreme so far has its own index; the cumulative maximum of these fills in
 * the others. */
static lz_node *cumulative_extreme(lz_tracer *c, bool max, lz_node *x, int64_t dim,
                                   lz_node **indices)
{
    *indices = NULL;
    lz_node *r = rows_of(c, x, &dim), *still = lz_tracer_detached(c, r);
    lz_node *m = prefixes(c, max ? LZ_OP_MAXIMUM : LZ_OP_MINIMUM, still, dim);
    if (!m)
        return NULL;
    lz_node *hit = EQ(still, m), *at = lz_tracer_iota(c, LZ_I64, lz_tracer_shape(r), dim, r);
    if (lz_dtype_is_float(lz_tracer_dtype(r)))
        hit = OR(hit, IS_NAN(still));
    at = prefixes(c, LZ_OP_MAXIMUM, SEL(hit, at, K(at, 0)), dim);
    *indices = as_given(c, at, x);
    return as_given(c, lz_tracer_gather(c, r, dim, at), x);
}

static lz_tensor *extreme(const char *name, bool max, lz_tensor *x, int64_t dim,
                          lz_tensor **indices, const lz_site *site)
{
    lz_node *at = NULL;
    BEGIN(name);
    lz_node *a = IN(x), *y = a ? cumulative_extreme(c, max, a, dim, &at) : NULL;
    lz_tracer_also(c, y ? at : NULL, indices);
    return lz_tracer_end(c, y);
}

lz_tensor *lz_cummax_at(lz_tensor *x, int64_t dim, lz_tensor **indices, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return extreme("lz_cummax", true, x, dim, indices, site);
}

lz_tensor *lz_cummin_at(lz_tensor *x, int64_t dim, lz_tensor **indices, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return extreme("lz_cummin", false, x, dim, indices, site);
}
