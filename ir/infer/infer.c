/* infer.c - what the shape rules share. See infer.h. */
#include "ir/infer/infer.h"
#include <stdio.h>

lz_text lz_infer_type_text(const lz_type *t)
{
    lz_text r;
    lz_type_short(t, r.s, sizeof r.s);
    return r;
}

lz_text lz_infer_ints_text(const lz_ints *v)
{
    lz_text r;
    size_t at = (size_t)snprintf(r.s, sizeof r.s, "[");
    for (int i = 0; i < v->n && at < sizeof r.s; i++)
        at += (size_t)snprintf(r.s + at, sizeof r.s - at, "%s%" PRId64, i ? ", " : "", v->v[i]);
    if (at < sizeof r.s)
        snprintf(r.s + at, sizeof r.s - at, "]");
    return r;
}

lz_status lz_infer_same_dtype(const lz_infer *c, uint32_t a, uint32_t b)
{
    const lz_type *x = c->opnd[a], *y = c->opnd[b];
    if (x->dtype != y->dtype)
        return LZ_FAIL(LZ_EDTYPE, "%s: dtypes of %s and %s differ", c->name, LZ_TT(x), LZ_TT(y));
    return LZ_OK;
}

lz_status lz_infer_same_type(const lz_infer *c, uint32_t a, uint32_t b)
{
    const lz_type *x = c->opnd[a], *y = c->opnd[b];
    if (x == y)
        return LZ_OK;
    if (!lz_shape_eq(&x->shape, &y->shape))
        return LZ_FAIL(LZ_ESHAPE, "%s: shapes %s and %s differ", c->name, LZ_TT(x), LZ_TT(y));
    return lz_infer_same_dtype(c, a, b);
}

lz_status lz_infer_scalar_int(const lz_infer *c, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        const lz_type *t = c->opnd[i];
        if (t->shape.rank != 0)
            return LZ_FAIL(LZ_ESHAPE, "%s: start index %u is %s, not a scalar", c->name, i - first,
                           LZ_TT(t));
        if (!lz_dtype_is_int(t->dtype))
            return LZ_FAIL(LZ_EDTYPE, "%s: start index %u is %s, not an integer", c->name,
                           i - first, LZ_TT(t));
        if (t != c->opnd[first])
            return LZ_FAIL(LZ_EDTYPE, "%s: start indices %s and %s have different dtypes", c->name,
                           LZ_TT(c->opnd[first]), LZ_TT(t));
    }
    return LZ_OK;
}

lz_status lz_infer_dim_list(const lz_infer *c, const char *field, const lz_ints *v, int rank,
                            bool sorted)
{
    for (int i = 0; i < v->n; i++) {
        if (v->v[i] < 0 || v->v[i] >= rank)
            return LZ_FAIL(LZ_EINVAL, "%s: %s = %s: %" PRId64 " is outside the %d dimensions",
                           c->name, field, LZ_IT(v), v->v[i], rank);
        for (int j = 0; j < i; j++)
            if (v->v[j] == v->v[i])
                return LZ_FAIL(LZ_EINVAL, "%s: %s = %s names dimension %" PRId64 " twice", c->name,
                               field, LZ_IT(v), v->v[i]);
        if (sorted && i > 0 && v->v[i] < v->v[i - 1])
            return LZ_FAIL(LZ_EINVAL, "%s: %s = %s is not ascending", c->name, field, LZ_IT(v));
    }
    return LZ_OK;
}

lz_status lz_infer_disjoint(const lz_infer *c, const char *fa, const lz_ints *a, const char *fb,
                            const lz_ints *b)
{
    for (int i = 0; i < a->n; i++)
        if (lz_ints_has(b, a->v[i]))
            return LZ_FAIL(LZ_EINVAL, "%s: dimension %" PRId64 " is in both %s = %s and %s = %s",
                           c->name, a->v[i], fa, LZ_IT(a), fb, LZ_IT(b));
    return LZ_OK;
}

lz_status lz_infer_count(const lz_infer *c, const char *field, const lz_ints *v, int64_t want,
                         const char *of)
{
    if (v->n != want)
        return LZ_FAIL(LZ_EINVAL, "%s: %s = %s has %d values, but %s is %" PRId64, c->name, field,
                       LZ_IT(v), v->n, of, want);
    return LZ_OK;
}

lz_status lz_infer_give(lz_infer *c, lz_dtype d, const lz_shape *s)
{
    const lz_type *t = lz_type_get(d, s);
    if (!t) {
        lz_error e = *lz_error_get(); /* say which op wanted the type */
        return e.status == LZ_EMEM ? LZ_EMEM : LZ_FAIL(e.status, "%s: %.300s", c->name, e.message);
    }
    c->result[0] = t;
    return LZ_OK;
}

lz_status lz_infer_give_dims(lz_infer *c, lz_dtype d, int rank, const int64_t *dims)
{
    if (rank > LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE, "%s: the result would have rank %d; at most %d is possible",
                       c->name, rank, LZ_MAX_RANK);
    lz_shape s = lz_shape_make(rank, dims);
    return lz_infer_give(c, d, &s);
}

/* Type of parameter or result i of a region must be the scalar of operand `like`'s dtype. */
static lz_status body_scalar(const lz_infer *c, const char *field, const char *what, uint32_t i,
                             const lz_type *have, const lz_type *like)
{
    if (have->shape.rank != 0 || have->dtype != like->dtype)
        return LZ_FAIL(have->shape.rank != 0 ? LZ_ESHAPE : LZ_EDTYPE,
                       "%s: %s %u of %s is %s, but the operand is %s", c->name, what, i, field,
                       LZ_TT(have), LZ_TT(like));
    return LZ_OK;
}

lz_status lz_infer_body(const lz_infer *c, const char *field, const lz_func *body, uint32_t n)
{
    if (!body)
        return LZ_FAIL(LZ_EINVAL, "%s: there is no %s", c->name, field);
    if (body->nparam != 2 * n || body->nresult != n)
        return LZ_FAIL(
            LZ_EINVAL,
            "%s: %s has %u parameters and %u results, but %u and %u are needed for %u inputs",
            c->name, field, body->nparam, body->nresult, 2 * n, n, n);
    for (uint32_t i = 0; i < n; i++) {
        LZ_TRY(body_scalar(c, field, "parameter", i, lz_val_type(body, i), c->opnd[i]));
        LZ_TRY(body_scalar(c, field, "parameter", n + i, lz_val_type(body, n + i), c->opnd[i]));
        LZ_TRY(body_scalar(c, field, "result", i, lz_val_type(body, body->results[i]), c->opnd[i]));
    }
    return LZ_OK;
}
