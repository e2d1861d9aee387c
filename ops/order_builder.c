/* order_builder.c - see order_builder.h. */
#include "ops/index_builder.h"
#include "ops/order_builder.h"
#include "ops/compose.h"
#include <math.h>

lz_node *lz_tracer_sort(lz_tracer *c, lz_node *const *xs, uint32_t n, int64_t dim, uint32_t nkey,
                        bool descending)
{
    lz_dtype d[16];
    lz_attr_any a;
    for (uint32_t k = 0; k < n; k++) {
        if (!xs[k])
            return NULL;
        d[k] = lz_node_type(xs[k])->dtype;
    }
    lz_attr_init(&a, LZ_ATTR_sort);
    a.as_sort.dimension = dim;
    a.as_sort.is_stable = true;
    a.as_sort.comparator = lz_region_order(d, n, nkey, descending);
    return a.as_sort.comparator ? lz_tracer_op(c, LZ_OP_SORT, &a.head, xs, n) : NULL;
}

lz_node *lz_tracer_places(lz_tracer *c, lz_node *x, int64_t dim)
{
    if (!x)
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    return lz_tracer_iota(c, s->dims[dim] <= INT32_MAX ? LZ_I32 : LZ_I64, s, dim, x);
}

lz_node *lz_tracer_argsort(lz_tracer *c, lz_node *x, int64_t dim, bool descending, lz_node **values)
{
    lz_node *o[2] = {x, lz_tracer_places(c, x, dim)};
    lz_node *m = lz_tracer_sort(c, o, 2, dim, 1, descending);
    if (values)
        *values = lz_tracer_result(c, m, 0);
    return TO(lz_tracer_result(c, m, 1), LZ_I64);
}

lz_node *lz_tracer_shift(lz_tracer *c, lz_node *x, int64_t dim, int64_t by, lz_node *fill)
{
    lz_attr_any a;
    if (!x || !fill)
        return NULL;
    lz_attr_init(&a, LZ_ATTR_pad);
    lz_attr_pad *p = &a.as_pad;
    p->edge_padding_low.n = p->edge_padding_high.n = p->interior_padding.n =
        lz_tracer_shape(x)->rank;
    p->edge_padding_low.v[dim] = by;
    p->edge_padding_high.v[dim] = -by;
    lz_node *o[2] = {x, fill};
    return lz_tracer_op(c, LZ_OP_PAD, &a.head, o, 2);
}

lz_node *lz_tracer_scan(lz_tracer *c, lz_op op, lz_node *x, int64_t dim)
{
    if (!x)
        return NULL;
    lz_dtype d = lz_tracer_dtype(x);
    int64_t n = lz_tracer_shape(x)->dims[dim];
    lz_node *identity = lz_tracer_const(c, d, 0, x);
    if (lz_op_has(op, LZ_F_IDMIN) || lz_op_has(op, LZ_F_IDMAX))
        identity = lz_tracer_const(c, d, lz_op_has(op, LZ_F_IDMIN) ? -INFINITY : INFINITY, x);
    for (int64_t step = 1; x && step < n; step *= 2)
        x = lz_tracer_ew2(c, op, x, lz_tracer_shift(c, x, dim, step, identity));
    return x;
}

/* Whether an element s of the row stays before value v: s < v, or s <= v, with NaN the largest. */
static lz_node *stays_before(lz_tracer *c, lz_node *s, lz_node *v, bool right)
{
    lz_node *before = right ? LE(s, v) : LT(s, v);
    if (!v || !lz_dtype_is_float(lz_tracer_dtype(v)))
        return before;
    return OR(before, right ? IS_NAN(v) : AND(IS_NAN(v), NOT(IS_NAN(s))));
}

/* Elements of the rows at `at`, which has the shape of the values. */
static lz_node *look_up(lz_tracer *c, lz_node *rows, lz_node *at)
{
    if (!rows || !at)
        return NULL;
    return lz_tracer_shape(rows)->rank == 1
               ? lz_tracer_take(c, rows, 0, at)
               : lz_tracer_gather(c, rows, lz_tracer_shape(rows)->rank - 1, at);
}

/* The longest step first: `at` elements are known to stay before the value. */
lz_node *lz_tracer_searchsorted(lz_tracer *c, lz_node *sorted, lz_node *values, bool right)
{
    const lz_shape *s = lz_tracer_shape(sorted);
    int64_t n = s->dims[s->rank - 1], step = 1;
    const lz_shape *vs = lz_tracer_shape(values);
    lz_node *at = lz_tracer_fill(c, lz_tracer_const(c, LZ_I64, 0, values), vs);
    while (step <= n / 2)
        step *= 2;
    for (; n > 0 && at && step > 0; step /= 2) {
        lz_node *next = ADD(at, K(at, (double)step)),
                *probe = MIN(SUB(next, K(at, 1)), K(at, (double)(n - 1)));
        lz_node *go = AND(LE(next, K(at, (double)n)),
                          stays_before(c, look_up(c, sorted, probe), values, right));
        at = SEL(go, next, at);
    }
    return at;
}
