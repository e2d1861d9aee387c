/* linalg.c - products with addends and other shapes: include/lazuli/linalg_ops.h. */
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/linalg_ops.h>
#include <math.h>

static const char *text_of(const lz_node *x, char *text)
{
    return lz_type_short(lz_node_type(x), text, 128);
}

/* Whether a and b are there and have these ranks. */
static bool ranks(const lz_node *a, const lz_node *b, int ra, int rb)
{
    char ta[128], tb[128];
    if (!a || !b)
        return false;
    if (lz_tracer_shape(a)->rank == ra && lz_tracer_shape(b)->rank == rb)
        return true;
    LZ_FAIL(LZ_ESHAPE, "%s and %s: ranks %d and %d are needed", text_of(a, ta), text_of(b, tb), ra,
            rb);
    return false;
}

static lz_node *batched(lz_tracer *c, lz_node *a, lz_node *b)
{
    char ta[128], tb[128];
    if (!ranks(a, b, 3, 3))
        return NULL;
    if (lz_tracer_shape(a)->dims[0] == lz_tracer_shape(b)->dims[0])
        return lz_tracer_matmul(c, a, b);
    LZ_FAIL(LZ_ESHAPE, "%s and %s: the batches differ", text_of(a, ta), text_of(b, tb));
    return NULL;
}

static lz_node *outer(lz_tracer *c, lz_node *a, lz_node *b)
{
    if (!ranks(a, b, 1, 1))
        return NULL;
    a = lz_tracer_unsqueeze(c, a, 1);
    b = lz_tracer_unsqueeze(c, b, 0);
    return a && b && lz_tracer_match(c, &a, &b) ? MUL(a, b) : NULL;
}

static lz_tensor *product(const char *name, lz_tensor *a, lz_tensor *b, int ra, int rb,
                          const lz_site *site)
{
    BEGIN(name);
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    return lz_tracer_end(c, y && ranks(x, y, ra, rb) ? lz_tracer_matmul(c, x, y) : NULL);
}

lz_tensor *lz_mm_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return product("lz_mm", a, b, 2, 2, site);
}

lz_tensor *lz_mv_at(lz_tensor *a, lz_tensor *v, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return product("lz_mv", a, v, 2, 1, site);
}

lz_tensor *lz_dot_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return product("lz_dot", a, b, 1, 1, site);
}

lz_tensor *lz_bmm_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_bmm");
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    return lz_tracer_end(c, y ? batched(c, x, y) : NULL);
}

lz_tensor *lz_outer_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_outer");
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    return lz_tracer_end(c, y ? outer(c, x, y) : NULL);
}

/* ---- contractions of any dimensions ---- */

static lz_node *contract(lz_tracer *c, lz_node *a, lz_node *b, const lz_ints *da, const lz_ints *db)
{
    lz_attr_any r;
    lz_attr_init(&r, LZ_ATTR_dot);
    r.as_dot.lhs_contracting_dimensions = *da;
    r.as_dot.rhs_contracting_dimensions = *db;
    lz_node *o[2] = {a, b};
    return lz_tracer_op(c, LZ_OP_DOT_GENERAL, &r.head, o, 2);
}

/* Both in one dtype: that of ranks that are equal, so that a scalar counts with its dtype too, as
 * in ATen's products. */
static bool one_dtype(lz_tracer *c, lz_node **a, lz_node **b)
{
    lz_dtype d = lz_promote(lz_tracer_dtype(*a), lz_tracer_dtype(*b));
    if (d == LZ_DTYPE_NONE) {
        LZ_FAIL(LZ_EDTYPE, "%s and %s have no common dtype", lz_dtype_name(lz_tracer_dtype(*a)),
                lz_dtype_name(lz_tracer_dtype(*b)));
        return false;
    }
    *a = TO(*a, d);
    *b = TO(*b, d);
    return *a && *b;
}

lz_tensor *lz_inner_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char ta[128], tb[128];
    BEGIN("lz_inner");
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    if (!y)
        return lz_tracer_end(c, NULL);
    int ra = lz_tracer_shape(x)->rank, rb = lz_tracer_shape(y)->rank;
    if (ra == 0 || rb == 0)
        return lz_tracer_end(c, lz_tracer_binary(c, LZ_OP_MULTIPLY, x, y));
    if (lz_tracer_shape(x)->dims[ra - 1] != lz_tracer_shape(y)->dims[rb - 1]) {
        LZ_FAIL(LZ_ESHAPE, "%s and %s: the last extents differ", text_of(x, ta), text_of(y, tb));
        return lz_tracer_end(c, NULL);
    }
    bool ok = one_dtype(c, &x, &y);
    return lz_tracer_end(c, ok ? contract(c, x, y, &(lz_ints){.n = 1, .v = {ra - 1}},
                                          &(lz_ints){.n = 1, .v = {rb - 1}})
                               : NULL);
}

static lz_node *tensordot(lz_tracer *c, lz_node *a, lz_node *b, const lz_dims *da,
                          const lz_dims *db)
{
    char ta[128], tb[128];
    lz_ints ia = {.n = da->n}, ib = {.n = db->n};
    if (da->n != db->n || da->n < 0 || da->n > LZ_MAX_RANK) {
        LZ_FAIL(LZ_EINVAL, "%d dimensions of a with %d of b", da->n, db->n);
        return NULL;
    }
    for (int i = 0; i < da->n; i++) {
        if (!lz_tracer_dim(da->v[i], lz_tracer_shape(a)->rank, &ia.v[i]) ||
            !lz_tracer_dim(db->v[i], lz_tracer_shape(b)->rank, &ib.v[i]))
            return NULL;
        if (lz_tracer_shape(a)->rank == 0 || lz_tracer_shape(b)->rank == 0 ||
            lz_tracer_shape(a)->dims[ia.v[i]] != lz_tracer_shape(b)->dims[ib.v[i]]) {
            LZ_FAIL(LZ_ESHAPE,
                    "%s and %s: dimensions %" PRId64 " and %" PRId64 " have not the same extent",
                    text_of(a, ta), text_of(b, tb), ia.v[i], ib.v[i]);
            return NULL;
        }
        for (int k = 0; k < i; k++)
            if (ia.v[k] == ia.v[i] || ib.v[k] == ib.v[i]) {
                LZ_FAIL(LZ_EINVAL, "a dimension comes twice");
                return NULL;
            }
    }
    return one_dtype(c, &a, &b) ? contract(c, a, b, &ia, &ib) : NULL;
}

lz_tensor *lz_tensordot_at(lz_tensor *a, lz_tensor *b, lz_dims dims_a, lz_dims dims_b,
                           const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_tensordot");
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    return lz_tracer_end(c, y ? tensordot(c, x, y, &dims_a, &dims_b) : NULL);
}

/* a as [a0, 1, a1, 1, ..] times b as [1, b0, 1, b1, ..], pairs merged. */
static lz_node *kron(lz_tracer *c, lz_node *a, lz_node *b)
{
    char ta[128], tb[128];
    const lz_shape *sa = lz_tracer_shape(a), *sb = lz_tracer_shape(b);
    int rank = sa->rank > sb->rank ? sa->rank : sb->rank;
    lz_shape pa = {.rank = 2 * rank}, pb = {.rank = 2 * rank}, out = {.rank = rank};
    if (2 * rank > LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "%s and %s: at most rank %d", text_of(a, ta), text_of(b, tb),
                LZ_MAX_RANK / 2);
        return NULL;
    }
    for (int i = 0; i < rank; i++) {
        int ka = i - (rank - sa->rank), kb = i - (rank - sb->rank);
        pa.dims[2 * i] = ka >= 0 ? sa->dims[ka] : 1;
        pb.dims[2 * i + 1] = kb >= 0 ? sb->dims[kb] : 1;
        pa.dims[2 * i + 1] = pb.dims[2 * i] = 1;
        if (!lz_mul_i64(pa.dims[2 * i], pb.dims[2 * i + 1], &out.dims[i])) {
            LZ_FAIL(LZ_ERANGE, "%s and %s: too many elements", text_of(a, ta), text_of(b, tb));
            return NULL;
        }
    }
    a = lz_tracer_reshape(c, a, &pa);
    b = lz_tracer_reshape(c, b, &pb);
    return lz_tracer_reshape(c, lz_tracer_binary(c, LZ_OP_MULTIPLY, a, b), &out);
}

lz_tensor *lz_kron_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_kron");
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    return lz_tracer_end(c, y ? kron(c, x, y) : NULL);
}

/* Elements k, k + 1, .. of dim, cyclic. */
static lz_node *turned(lz_tracer *c, lz_node *x, int64_t dim, int64_t k)
{
    lz_node *p[2] = {lz_tracer_slice_dim(c, x, dim, k, 3, 1),
                     lz_tracer_slice_dim(c, x, dim, 0, k, 1)};
    return p[0] && p[1] ? lz_tracer_concat(c, p, 2, dim) : NULL;
}

static lz_node *cross(lz_tracer *c, lz_node *a, lz_node *b, int64_t dim)
{
    char text[128];
    if (!lz_tracer_match(c, &a, &b))
        return NULL;
    const lz_shape *s = lz_tracer_shape(a);
    if (dim == LZ_ALL_DIMS)
        for (dim = 0; dim < s->rank - 1 && s->dims[dim] != 3; dim++)
            ;
    if (!lz_tracer_dim(dim, s->rank, &dim))
        return NULL;
    if (s->rank == 0 || s->dims[dim] != 3) {
        LZ_FAIL(LZ_ESHAPE, "%s: a cross product needs a dimension of 3 elements", text_of(a, text));
        return NULL;
    }
    return SUB(MUL(turned(c, a, dim, 1), turned(c, b, dim, 2)),
               MUL(turned(c, a, dim, 2), turned(c, b, dim, 1)));
}

lz_tensor *lz_cross_at(lz_tensor *a, lz_tensor *b, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_cross");
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    return lz_tracer_end(c, y ? cross(c, x, y, dim) : NULL);
}

/* ---- with an addend ---- */

lz_node *lz_tracer_scaled(lz_tracer *c, lz_node *x, double v, const char *what)
{
    if (x && lz_dtype_is_integral(lz_tracer_dtype(x)) && v != trunc(v)) {
        LZ_FAIL(LZ_EDTYPE, "%s is %g: integers need a whole number", what, v);
        return NULL;
    }
    x = lz_tracer_wide(c, x);
    return MUL(x, ARG(x, v));
}

/* Whether the sum has its product as it is: the operation without numbers, by far the commonest, is
 * a program of its own, and so is the one that does not read x (beta 0). */
static bool is_plain(const lz_addmm_options *o)
{
    return o->alpha == 1 && (o->beta == 1 || o->beta == 0);
}

/* dp: the dtype of the product, whose sums p may still have in f32. */
static lz_node *add_product(lz_tracer *c, lz_node *x, lz_node *p, lz_dtype dp,
                            const lz_addmm_options *o)
{
    lz_dtype d = p ? lz_promote(lz_tracer_dtype(x), dp) : LZ_DTYPE_NONE;
    if (p && !is_plain(o))
        p = lz_tracer_scaled(c, p, o->alpha, "alpha");
    if (!p)
        return NULL;
    if (d == LZ_DTYPE_NONE) {
        LZ_FAIL(LZ_EDTYPE, "%s and %s have no common dtype", lz_dtype_name(lz_tracer_dtype(x)),
                lz_dtype_name(dp));
        return NULL;
    }
    x = lz_tracer_expand(c, TO(x, d), lz_tracer_shape(p)); /* checked also when it is not read */
    if (!x || o->beta == 0)
        return x ? TO(p, d) : NULL;
    if (is_plain(o))
        return ADD(x, TO(p, d));
    p = lz_tracer_wide(c, p); /* of 16-bit floats the sum, too, is one of f32 */
    x = lz_tracer_scaled(c, x, o->beta, "beta");
    return x ? TO(ADD(x, TO(p, lz_tracer_dtype(x))), d) : NULL;
}

typedef enum form { MM, MV, OUTER, SUMMED, BATCHED } form;

static lz_node *form_product(lz_tracer *c, form f, lz_node *a, lz_node *b)
{
    lz_reduced_dims r;
    switch (f) {
    case MM:
        return ranks(a, b, 2, 2) ? lz_tracer_matmul(c, a, b) : NULL;
    case MV:
        return ranks(a, b, 2, 1) ? lz_tracer_matmul(c, a, b) : NULL;
    case OUTER:
        return outer(c, a, b);
    case BATCHED:
        return batched(c, a, b);
    case SUMMED: { /* the batch is one more contracted dimension */
        lz_node *p = batched(c, a, b);
        if (!p)
            return NULL;
        lz_dtype d = lz_tracer_dtype(p);
        p = lz_tracer_wide(c, p);
        return p && lz_tracer_reduction_of(p, &(lz_dims){1, {0}}, false, &r)
                   ? TO(lz_tracer_combine(c, &r, LZ_OP_ADD, p), d)
                   : NULL;
    }
    }
    return NULL;
}

static lz_tensor *with_addend(const char *name, form f, lz_tensor *x, lz_tensor *a, lz_tensor *b,
                              const lz_addmm_options *o, const lz_site *site)
{
    BEGIN(name);
    OPTIONS(lz_addmm_options, p, LZ_ADDMM_DEFAULTS);
    lz_node *n = p ? IN(x) : NULL, *l = n ? IN(a) : NULL, *r = l ? IN(b) : NULL;
    if (!r)
        return lz_tracer_end(c, NULL);
    lz_dtype dp = lz_promote(lz_tracer_dtype(l), lz_tracer_dtype(r));
    /* Scaled sums of 16-bit floats are rounded once, at the end. Plain ones are those of lz_matmul,
     * which matrix units give. */
    if (dp != LZ_DTYPE_NONE && !is_plain(p)) {
        l = lz_tracer_wide(c, l);
        r = lz_tracer_wide(c, r);
    }
    return lz_tracer_end(c, add_product(c, n, form_product(c, f, l, r), dp, p));
}

lz_tensor *lz_addmm_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, const lz_addmm_options *o,
                       const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_addend("lz_addmm", MM, x, a, b, o, site);
}

lz_tensor *lz_addmv_at(lz_tensor *x, lz_tensor *a, lz_tensor *v, const lz_addmm_options *o,
                       const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_addend("lz_addmv", MV, x, a, v, o, site);
}

lz_tensor *lz_addr_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, const lz_addmm_options *o,
                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_addend("lz_addr", OUTER, x, a, b, o, site);
}

lz_tensor *lz_addbmm_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, const lz_addmm_options *o,
                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_addend("lz_addbmm", SUMMED, x, a, b, o, site);
}

lz_tensor *lz_baddbmm_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, const lz_addmm_options *o,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_addend("lz_baddbmm", BATCHED, x, a, b, o, site);
}
