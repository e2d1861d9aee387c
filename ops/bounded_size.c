/* bounded_size.c - operations with data-dependent result size, up to a given bound:
 * include/lazuli/order.h. The elements that belong to the result are moved to the front by a stable
 * sort. */
#include "ops/index_builder.h"
#include "ops/order_builder.h"
#include "ops/compose.h"
#include "runtime/debug/metrics.h"
#include <inttypes.h>
#include <lazuli/hlo.h>
#include <lazuli/order.h>
#include <lazuli/shape_ops.h>
#include <string.h>

static lz_node *flat(lz_tracer *c, lz_node *x)
{
    if (!x)
        return NULL;
    lz_shape s = {.rank = 1, .dims = {lz_node_type(x)->nelem}};
    return lz_tracer_reshape(c, x, &s);
}

/* Rows of the result: what the caller asks for, or n. -1 after a failure. */
static int64_t bound(int64_t size, int64_t n)
{
    if (size < 0 || size == INT64_MAX) { /* of which one more is needed */
        LZ_FAIL(LZ_EINVAL, "size is %" PRId64, size);
        return -1;
    }
    return size ? size : n;
}

/* The first n elements of the vector, zero-padded. */
static lz_node *front(lz_tracer *c, lz_node *v, int64_t n)
{
    if (!v)
        return NULL;
    int64_t has = lz_tracer_shape(v)->dims[0];
    if (n <= has)
        return lz_tracer_slice_dim(c, v, 0, 0, n, 1);
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_pad);
    lz_attr_pad *p = &a.as_pad;
    p->edge_padding_low.n = p->edge_padding_high.n = p->interior_padding.n = 1;
    p->edge_padding_high.v[0] = n - has;
    lz_node *o[2] = {v, lz_tracer_const(c, lz_tracer_dtype(v), 0, v)};
    return o[1] ? lz_tracer_op(c, LZ_OP_PAD, &a.head, o, 2) : NULL;
}

typedef struct found {
    lz_node *at;    /* [size]: positions in the vector, 0 for unused rows */
    lz_node *there; /* [size]: whether the row is used */
    lz_node *count; /* i64, rank 0 */
} found;

/* Positions of the true elements of a vector, in order. */
static bool find(lz_tracer *c, lz_node *is, int64_t size, found *f)
{
    lz_reduced_dims r;
    lz_dims all = {0};
    if (!is || size < 0 || !lz_tracer_reduction_of(is, &all, false, &r))
        return false;
    f->count = lz_tracer_combine(c, &r, LZ_OP_ADD, TO(is, LZ_I64));
    lz_node *o[2] = {NOT(is), lz_tracer_places(c, is, 0)};
    lz_node *at = lz_tracer_result(c, lz_tracer_sort(c, o, 2, 0, 1, false), 1);
    f->at = TO(front(c, at, size), LZ_I64);
    lz_shape s = {.rank = 1, .dims = {size}};
    lz_node *row = lz_tracer_iota(c, LZ_I64, &s, 0, is);
    f->there = f->count ? LT(row, lz_tracer_fill(c, f->count, &s)) : NULL;
    f->at = SEL(f->there, f->at, K(f->at, 0));
    return f->at != NULL;
}

/* x[at] of a vector; of an empty one, zeros. */
static lz_node *take(lz_tracer *c, lz_node *x, lz_node *at)
{
    if (!x || !at)
        return NULL;
    if (lz_node_type(x)->nelem == 0)
        return lz_tracer_fill(c, lz_tracer_const(c, lz_tracer_dtype(x), 0, x), lz_tracer_shape(at));
    return lz_tracer_take(c, x, 0, at);
}

/* ---- nonzero, masked_select ---- */

static lz_node *coordinates(lz_tracer *c, const lz_shape *s, const found *f, int64_t size,
                            double fill)
{
    lz_node *part[LZ_MAX_RANK];
    lz_shape col = {.rank = 2, .dims = {size, 1}};
    int64_t stride = 1;
    for (int d = s->rank; d-- > 0;) {
        int64_t n = s->dims[d] ? s->dims[d] : 1;
        lz_node *i = REM(DIV(f->at, K(f->at, (double)stride)), K(f->at, (double)n));
        i = i ? SEL(f->there, i, ARG(i, fill)) : NULL;
        if (!(part[d] = i ? lz_tracer_reshape(c, i, &col) : NULL))
            return NULL;
        stride *= n;
    }
    if (s->rank)
        return lz_tracer_concat(c, part, (uint32_t)s->rank, 1);
    col.dims[1] = 0;
    return lz_tracer_fill(c, lz_tracer_const(c, LZ_I64, 0, f->at), &col);
}

/* ---- as long as there are: all there can be is recorded, the count read, and the rest cut off
 * ---- */

typedef struct exact {
    lz_api_frame frame;
    const char *op;
    lz_tensor *count, **wanted; /* where the caller wants it; may be NULL */
} exact;

static void exact_begin(exact *e, const char *op, lz_tensor **wanted, const lz_site *site)
{
    *e = (exact){.frame = lz_api_enter(op, site), .op = op, .wanted = wanted};
    lz_scope_begin();
}

/* n < 0: the count could not be read. */
static lz_tensor *first_rows(const exact *e, lz_tensor *all, int64_t n, const lz_site *site)
{
    return n < 0 ? lz_trace_error_tensor(e->op, site) : lz_narrow_at(all, 0, 0, n, site);
}

/* `all`, with the fields of `more` over it where it is not NULL. */
static lz_tensor *exact_end(exact *e, lz_tensor *all, lz_tensor **more, const lz_site *site)
{
    int64_t n = lz_item_i64_at(e->count, site);
    lz_tensor *r = first_rows(e, all, n, site);
    if (more)
        *more = lz_escape(first_rows(e, *more, n, site));
    if (e->wanted)
        *e->wanted = lz_escape(e->count);
    lz_counter_add(LZ_COUNTER_MaterializedSizes, n >= 0);
    return lz_api_leave_with(&e->frame, lz_scope_end_keep(r));
}

static bool is_exact(size_t struct_size, int64_t size)
{
    return struct_size > sizeof(size_t) && size == LZ_EXACT_SIZE;
}

/* The options of all rows; fields that an older caller does not have get their defaults. */
static lz_size_options all_rows(const lz_size_options *o, lz_tensor **count)
{
    lz_size_options all = {.struct_size = sizeof all};
    memcpy(&all, o, o->struct_size < sizeof all ? o->struct_size : sizeof all);
    all.struct_size = sizeof all;
    all.size = 0;
    all.count = count;
    return all;
}

static lz_tensor **count_of(const lz_size_options *o)
{
    return o->struct_size >= sizeof *o ? o->count : NULL;
}

lz_tensor *lz_nonzero_at(lz_tensor *x, const lz_size_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    if (o && is_exact(o->struct_size, o->size)) {
        exact e;
        exact_begin(&e, "lz_nonzero", count_of(o), site);
        lz_size_options all = all_rows(o, &e.count);
        return exact_end(&e, lz_nonzero_at(x, &all, site), NULL, site);
    }
    BEGIN("lz_nonzero");
    OPTIONS(lz_size_options, opt, .size = 0);
    lz_node *n = opt ? IN(x) : NULL, *r = NULL;
    found f = {0};
    int64_t size = n ? bound(opt->size, lz_node_type(n)->nelem) : -1;
    if (size >= 0 && find(c, flat(c, TO(n, LZ_BOOL)), size, &f))
        r = coordinates(c, lz_tracer_shape(n), &f, size, opt->fill);
    lz_tracer_also(c, r ? f.count : NULL, opt ? opt->count : NULL);
    return lz_tracer_end(c, r);
}

static lz_node *masked_select(lz_tracer *c, lz_node *x, lz_node *mask, const lz_size_options *o,
                              found *f)
{
    lz_shape s;
    if (!x || !mask || !lz_tracer_broadcast_shapes(lz_tracer_shape(x), lz_tracer_shape(mask), &s))
        return NULL;
    if (lz_tracer_dtype(mask) != LZ_BOOL) {
        LZ_FAIL(LZ_EDTYPE, "the mask is %s: it must be boolean",
                lz_dtype_name(lz_tracer_dtype(mask)));
        return NULL;
    }
    lz_node *v = flat(c, lz_tracer_expand(c, x, &s)), *is = flat(c, lz_tracer_expand(c, mask, &s));
    int64_t size = v ? bound(o->size, lz_node_type(v)->nelem) : -1;
    if (size < 0 || !find(c, is, size, f))
        return NULL;
    lz_node *r = take(c, v, f->at);
    return r ? SEL(f->there, r, ARG(r, o->fill)) : NULL;
}

lz_tensor *lz_masked_select_at(lz_tensor *x, lz_tensor *mask, const lz_size_options *o,
                               const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    if (o && is_exact(o->struct_size, o->size)) {
        exact e;
        exact_begin(&e, "lz_masked_select", count_of(o), site);
        lz_size_options all = all_rows(o, &e.count);
        return exact_end(&e, lz_masked_select_at(x, mask, &all, site), NULL, site);
    }
    BEGIN("lz_masked_select");
    OPTIONS(lz_size_options, opt, .size = 0);
    found f = {0};
    lz_node *n = opt ? IN(x) : NULL, *m = n ? IN(mask) : NULL, *r = masked_select(c, n, m, opt, &f);
    lz_tracer_also(c, r ? f.count : NULL, opt ? opt->count : NULL);
    return lz_tracer_end(c, r);
}

/* ---- unique ---- */

typedef struct distinct {
    lz_node *values, *inverse, *counts, *count;
} distinct;

/* Whether each element of the sorted vector differs from the one before it. */
static lz_node *fresh(lz_tracer *c, lz_node *s, lz_node *place)
{
    lz_node *before = lz_tracer_shift(c, s, 0, 1, lz_tracer_const(c, lz_tracer_dtype(s), 0, s));
    lz_node *other = NE(s, before);
    if (s && lz_dtype_is_float(lz_tracer_dtype(s)))
        other = AND(other, NOT(AND(IS_NAN(s), IS_NAN(before))));
    return OR(other, EQ(place, K(place, 0)));
}

static bool find_distinct(lz_tracer *c, lz_node *x, int64_t size, distinct *out)
{
    found f = {0};
    lz_node *v = flat(c, x), *s = NULL, *where = v ? lz_tracer_argsort(c, v, 0, false, &s) : NULL;
    int64_t n = v ? lz_node_type(v)->nelem : 0;
    if (!where || !s)
        return false;
    lz_node *place = lz_tracer_places(c, s, 0), *is = fresh(c, s, place);
    if (!find(c, is, size + 1, &f)) /* one more: the end of the last run */
        return false;
    lz_node *at = lz_tracer_slice_dim(c, f.at, 0, 0, size, 1);
    out->values = take(c, s, at); /* at position 0 for unused rows: the smallest */
    out->count = f.count;
    lz_node *start = SEL(f.there, f.at, K(f.at, (double)n));
    out->counts = SUB(lz_tracer_slice_dim(c, start, 0, 1, size + 1, 1),
                      lz_tracer_slice_dim(c, start, 0, 0, size, 1));
    lz_node *id = SUB(lz_tracer_scan(c, LZ_OP_ADD, TO(is, LZ_I64), 0), K(where, 1));
    lz_node *o[2] = {where, id};
    lz_node *back = lz_tracer_result(c, lz_tracer_sort(c, o, 2, 0, 1, false), 1);
    out->inverse = back ? lz_tracer_reshape(c, back, lz_tracer_shape(x)) : NULL;
    return out->values && out->counts && out->inverse;
}

/* o->size is LZ_EXACT_SIZE. */
static lz_tensor *unique_exact(lz_tensor *x, const lz_unique_options *o, const lz_site *site)
{
    exact e;
    lz_unique_options all = {.struct_size = sizeof all};
    memcpy(&all, o, o->struct_size < sizeof all ? o->struct_size : sizeof all);
    exact_begin(&e, "lz_unique", all.count, site);
    all.struct_size = sizeof all;
    all.size = 0;
    all.count = &e.count;
    lz_tensor *values = lz_unique_at(x, &all, site);
    if (all.inverse)
        *all.inverse = lz_escape(*all.inverse);
    return exact_end(&e, values, all.counts, site);
}

lz_tensor *lz_unique_at(lz_tensor *x, const lz_unique_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    if (o && is_exact(o->struct_size, o->size))
        return unique_exact(x, o, site);
    BEGIN("lz_unique");
    OPTIONS(lz_unique_options, opt, .size = 0);
    lz_node *n = opt ? IN(x) : NULL;
    distinct d = {0};
    int64_t size = n ? bound(opt->size, lz_node_type(n)->nelem) : -1;
    bool ok = size >= 0 && find_distinct(c, n, size, &d);
    lz_tracer_also(c, ok ? d.inverse : NULL, opt ? opt->inverse : NULL);
    lz_tracer_also(c, ok ? d.counts : NULL, opt ? opt->counts : NULL);
    lz_tracer_also(c, ok ? d.count : NULL, opt ? opt->count : NULL);
    return lz_tracer_end(c, ok ? d.values : NULL);
}
