/* vjp_util.c - helpers of the gradient rules. See vjp.h. */
#include "autodiff/vjp.h"

bool lz_has_gradient(const lz_type *t)
{
    return lz_dtype_is_float(t->dtype) || lz_dtype_is_complex(t->dtype) ||
           lz_dtype_is_storage(t->dtype);
}

lz_tensor *lz_v1(const lz_vjp *v, const char *op, lz_tensor *a)
{
    return lz_hlo_ew_at(op, &a, 1, v->site);
}

lz_tensor *lz_v2(const lz_vjp *v, const char *op, lz_tensor *a, lz_tensor *b)
{
    lz_tensor *x[2] = {a, b};
    return lz_hlo_ew_at(op, x, 2, v->site);
}

lz_tensor *lz_v3(const lz_vjp *v, const char *op, lz_tensor *a, lz_tensor *b, lz_tensor *c)
{
    lz_tensor *x[3] = {a, b, c};
    return lz_hlo_ew_at(op, x, 3, v->site);
}

lz_tensor *lz_v_const_like(const lz_vjp *v, const lz_type *t, double value)
{
    lz_tensor *c = lz_hlo_constant_at(t->dtype, value, v->site);
    return t->shape.rank ? lz_hlo_broadcast_in_dim_at(c, t->shape, NULL, 0, v->site) : c;
}

lz_tensor *lz_v_zeros(const lz_vjp *v, const lz_type *t)
{
    return lz_v_const_like(v, t, 0);
}

lz_tensor *lz_v_scale(const lz_vjp *v, lz_tensor *a, double s)
{
    lz_shape shape = lz_shape_of(a);
    lz_tensor *c = lz_hlo_constant_at(lz_dtype_of(a), s, v->site);
    if (shape.rank > 0)
        c = lz_hlo_broadcast_in_dim_at(c, shape, NULL, 0, v->site);
    return lz_v2(v, "multiply", a, c);
}

lz_tensor *lz_v_conj(const lz_vjp *v, lz_tensor *a)
{
    if (!lz_dtype_is_complex(lz_dtype_of(a)))
        return a;
    return lz_v2(v, "complex", lz_v1(v, "real", a), lz_v1(v, "negate", lz_v1(v, "imag", a)));
}

lz_tensor *lz_v_cmp(const lz_vjp *v, lz_hlo_direction d, lz_tensor *a, lz_tensor *b)
{
    if (!lz_dtype_is_complex(lz_dtype_of(a)) || d == LZ_HLO_EQ || d == LZ_HLO_NE)
        return lz_hlo_compare_at(d, a, b, v->site);
    lz_hlo_direction strictly = d == LZ_HLO_LT || d == LZ_HLO_LE ? LZ_HLO_LT : LZ_HLO_GT;
    lz_tensor *x = lz_v1(v, "real", a), *y = lz_v1(v, "real", b);
    lz_tensor *first = lz_v_cmp(v, strictly, x, y), *same = lz_v_cmp(v, LZ_HLO_EQ, x, y);
    lz_tensor *then = lz_v_cmp(v, d, lz_v1(v, "imag", a), lz_v1(v, "imag", b));
    return lz_v2(v, "or", first, lz_v2(v, "and", same, then));
}

lz_tensor *lz_v_mask(const lz_vjp *v, lz_tensor *pred, lz_tensor *g)
{
    lz_shape shape = lz_shape_of(g);
    lz_tensor *zero = lz_hlo_constant_at(lz_dtype_of(g), 0, v->site);
    if (shape.rank > 0)
        zero = lz_hlo_broadcast_in_dim_at(zero, shape, NULL, 0, v->site);
    return lz_v3(v, "select", pred, g, zero);
}

lz_tensor *lz_v_sum_all(const lz_vjp *v, lz_tensor *a)
{
    int64_t dims[LZ_MAX_RANK];
    int rank = lz_rank_of(a);
    for (int i = 0; i < rank; i++)
        dims[i] = i;
    return rank > 0 ? lz_hlo_reduce_at("add", a, dims, rank, v->site) : a;
}

lz_tensor *lz_v_pair(const lz_vjp *v, lz_tensor *y, lz_tensor *g, lz_tensor *sum)
{
    lz_tensor *p = lz_v2(v, "multiply", y, lz_v_conj(v, g));
    if (lz_dtype_is_complex(lz_dtype_of(p)))
        p = lz_v1(v, "real", p);
    p = lz_v_sum_all(v, p);
    if (sum && lz_dtype_of(sum) != lz_dtype_of(p))
        p = lz_hlo_convert_at(p, lz_dtype_of(sum), v->site);
    return sum ? lz_v2(v, "add", sum, p) : p;
}

lz_tensor *lz_v_unreduce(const lz_vjp *v, lz_tensor *a, const lz_ints *dims, const lz_shape *shape)
{
    int64_t kept[LZ_MAX_RANK];
    int n = 0;
    for (int64_t d = 0; d < shape->rank; d++)
        if (!lz_ints_has(dims, d))
            kept[n++] = d;
    return lz_hlo_broadcast_in_dim_at(a, *shape, kept, n, v->site);
}

lz_tensor *lz_v_numbers(const lz_vjp *v, lz_shape s)
{
    int64_t n = 1;
    for (int d = 0; d < s.rank; d++)
        n *= s.dims[d]; /* of a type that is there */
    return lz_hlo_reshape_at(lz_iota_at(LZ_I64, LZ_SHAPE(n), 0, v->site), s, v->site);
}

lz_tensor *lz_v_attains(const lz_vjp *v, lz_tensor *x, lz_tensor *extremum)
{
    lz_tensor *equal = lz_v_cmp(v, LZ_HLO_EQ, x, extremum);
    if (!lz_dtype_is_float(lz_dtype_of(x)))
        return equal;
    return lz_v2(v, "or", equal, lz_v_cmp(v, LZ_HLO_NE, x, x));
}
