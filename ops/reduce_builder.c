/* reduce_builder.c - see reduce_builder.h. */
#include "ops/reduce_builder.h"
#include <inttypes.h>

static const lz_type *type_of(const lz_node *x)
{
    return lz_node_type(x);
}

bool lz_tracer_reduction(const lz_node *x, const lz_reduce_options *o, lz_reduced_dims *r)
{
    bool chosen[LZ_MAX_RANK] = {false};
    const lz_shape *s = &type_of(x)->shape;
    int n = o ? o->dims.n : 0;
    *r = (lz_reduced_dims){.n = 1,
                           .kept = *s,
                           .keepdim = o && o->keepdim,
                           .correction = o ? o->correction : 1,
                           .dtype = o ? o->dtype : LZ_DTYPE_NONE};
    if (o && o->struct_size < sizeof *o) {
        LZ_FAIL(LZ_EINVAL, "struct_size is %zu: fill the options with LZ_REDUCE_OPTIONS",
                o->struct_size);
        return false;
    }
    if (r->dtype != LZ_DTYPE_NONE && !lz_dtype_size(r->dtype)) {
        LZ_FAIL(LZ_EDTYPE, "%d is no dtype", (int)r->dtype);
        return false;
    }
    if (n < 0 || n > LZ_MAX_RANK) {
        LZ_FAIL(LZ_ERANGE, "%d dimensions", n);
        return false;
    }
    for (int i = 0; i < n; i++) {
        int64_t d;
        if (!lz_tracer_dim(o->dims.v[i], s->rank, &d))
            return false;
        if (chosen[d]) {
            LZ_FAIL(LZ_EINVAL, "dimension %" PRId64 " comes twice", d);
            return false;
        }
        chosen[d] = true;
    }
    for (int i = 0; i < s->rank; i++) {
        if (n && !chosen[i]) {
            r->rest.v[r->rest.n++] = i;
            continue;
        }
        r->dims.v[r->dims.n++] = i;
        r->n *= s->dims[i];
        r->kept.dims[i] = 1;
    }
    return true;
}

bool lz_tracer_reduction_of(const lz_node *x, const lz_dims *dims, bool keepdim, lz_reduced_dims *r)
{
    lz_reduce_options o = {.struct_size = sizeof o, .dims = *dims, .keepdim = keepdim};
    return lz_tracer_reduction(x, &o, r);
}

/* The reduced value with extents of 1 where it was reduced. */
static lz_node *keep(lz_tracer *c, const lz_reduced_dims *r, lz_node *x)
{
    return lz_tracer_reshape(c, x, &r->kept);
}

lz_node *lz_tracer_reduced(lz_tracer *c, const lz_reduced_dims *r, lz_node *x)
{
    return r->keepdim ? keep(c, r, x) : x;
}

lz_node *lz_tracer_spread(lz_tracer *c, const lz_reduced_dims *r, lz_node *reduced,
                          const lz_node *like)
{
    if (!reduced)
        return NULL;
    return r->dims.n ? lz_tracer_broadcast_in_dim(c, reduced, &r->rest, &type_of(like)->shape)
                     : reduced;
}

lz_node *lz_tracer_combine(lz_tracer *c, const lz_reduced_dims *r, lz_op op, lz_node *x)
{
    return x && r->dims.n ? lz_tracer_reduce(c, op, x, &r->dims) : x;
}

lz_node *lz_tracer_wide(lz_tracer *c, lz_node *x)
{
    lz_dtype d = x ? type_of(x)->dtype : LZ_DTYPE_NONE;
    return d == LZ_F16 || d == LZ_BF16 ? lz_tracer_convert(c, x, LZ_F32) : x;
}

lz_node *lz_tracer_no_gradient(lz_node *x)
{
    if (x && x->kind == LZ_NODE_OP)
        atomic_fetch_or(&x->flags, LZ_NODE_NOGRAD);
    return x;
}

lz_node *lz_tracer_corrected(lz_tracer *c, lz_node *sum, const lz_reduced_dims *r)
{
    double left = (double)r->n - r->correction;
    lz_node *n = sum ? lz_tracer_argument(c, type_of(sum)->dtype, left > 0 ? left : 0, sum) : NULL;
    return n ? lz_tracer_ew2(c, LZ_OP_DIVIDE, sum, lz_tracer_fill(c, n, &type_of(sum)->shape))
             : NULL;
}
