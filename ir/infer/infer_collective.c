/* infer_collective.c - shape rules of operations among participants. See infer.h. Which
 * participants a group has may depend on how many replicas and partitions there are, which a
 * program does not say: then its size divides the number of values that are joined. */
#include "ir/collective.h"
#include "ir/infer/infer.h"
#include <stdlib.h>

/* ---- groups and pairs ---- */

typedef struct numbers {
    const lz_infer *c;
    const char *field;
    int64_t *v;
    size_t n, cap;
    bool pairs;
} numbers;

static lz_status note(void *user, int64_t row, int64_t column, int64_t v)
{
    numbers *x = user;
    (void)row;
    if (v < (x->pairs ? 0 : -1))
        return LZ_FAIL(LZ_EINVAL, "%s: %s: there is no participant %" PRId64, x->c->name, x->field,
                       v);
    if (v < 0) /* a group with fewer participants than others */
        return LZ_OK;
    if (x->n == x->cap) {
        size_t cap = x->cap ? 2 * x->cap : 16;
        int64_t *p = lz_realloc(x->v, cap * sizeof *p);
        if (!p)
            return LZ_FAIL(LZ_EMEM, "%s: no memory for %zu participants", x->c->name, cap);
        x->v = p;
        x->cap = cap;
    }
    x->v[x->n++] = x->pairs ? 2 * v + column % 2 : v; /* sources apart from targets */
    return LZ_OK;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Every participant is in one group; every source and every target is in one pair. */
static lz_status check_groups(const lz_infer *c, const char *field, const char *text, bool pairs,
                              lz_groups *out)
{
    numbers x = {.c = c, .field = field, .pairs = pairs};
    lz_status s = lz_groups_read(c->name, field, text, out, note, &x);
    if (s == LZ_OK && pairs && out->columns != 2)
        s = LZ_FAIL(LZ_EINVAL, "%s: %s: lists of %" PRId64 ", not pairs", c->name, field,
                    out->columns);
    if (x.n)
        qsort(x.v, x.n, sizeof *x.v, by_value);
    for (size_t i = 1; i < x.n && s == LZ_OK; i++)
        if (x.v[i] == x.v[i - 1])
            s = LZ_FAIL(LZ_EINVAL, "%s: %s: participant %" PRId64 " occurs twice", c->name, field,
                        pairs ? x.v[i] / 2 : x.v[i]);
    lz_free(x.v);
    return s;
}

static lz_status check_channel(const lz_infer *c, int64_t id, bool global)
{
    if (global && id <= 0)
        return LZ_FAIL(LZ_EINVAL, "%s: use_global_device_ids needs a channel, not number %" PRId64,
                       c->name, id);
    return LZ_OK;
}

static lz_status needs_operands(const lz_infer *c)
{
    return c->nopnd ? LZ_OK : LZ_FAIL(LZ_EINVAL, "%s: there is no operand", c->name);
}

/* How many values are joined or split: as many as a group has participants, times the partitions in
 * the mode that takes those of all. */
static lz_status check_participants(const lz_infer *c, int64_t participants, const lz_groups *g,
                                    int64_t channel, bool global)
{
    bool all_partitions = channel > 0 && !global;
    bool fits = participants >= 1 &&
                (all_partitions ? participants % g->columns == 0 : participants == g->columns);
    return fits
               ? LZ_OK
               : LZ_FAIL(LZ_ESHAPE,
                         "%s: %" PRId64 " times the extent, but groups of %" PRId64 " participants",
                         c->name, participants, g->columns);
}

static lz_status check_dim(const lz_infer *c, const char *field, int64_t dim, uint32_t k)
{
    if (dim >= 0 && dim < c->opnd[k]->shape.rank)
        return LZ_OK;
    return LZ_FAIL(LZ_EINVAL, "%s: %s = %" PRId64 " is no dimension of %s", c->name, field, dim,
                   LZ_TT(c->opnd[k]));
}

/* Result k, the last ones first: operand k with dimension `cut` a `parts`-th, then dimension `dim`
 * `by` times as large. */
static lz_status give_scaled(lz_infer *c, uint32_t k, int64_t dim, int64_t by, int64_t cut,
                             int64_t parts)
{
    lz_shape s = c->opnd[k]->shape;
    if (parts < 1 || s.dims[cut] % parts)
        return LZ_FAIL(LZ_ESHAPE,
                       "%s: dimension %" PRId64 " of %s does not split into %" PRId64 " parts",
                       c->name, cut, LZ_TT(c->opnd[k]), parts);
    s.dims[cut] /= parts;
    if (by < 1 || __builtin_mul_overflow(s.dims[dim], by, &s.dims[dim]))
        return LZ_FAIL(LZ_ERANGE, "%s: %" PRId64 " times %s is too large", c->name, by,
                       LZ_TT(c->opnd[k]));
    LZ_TRY(lz_infer_give(c, c->opnd[k]->dtype, &s));
    c->result[k] = c->result[0];
    c->nresult = c->nopnd;
    return LZ_OK;
}

/* ---- the rules ---- */

lz_status lz_infer_all_gather(lz_infer *c)
{
    const lz_attr_all_gather *a = LZ_ATTR(all_gather, c->attr);
    lz_groups g;
    LZ_TRY(needs_operands(c));
    LZ_TRY(check_channel(c, a->channel_id, a->use_global_device_ids));
    LZ_TRY(check_groups(c, "replica_groups", a->replica_groups, false, &g));
    LZ_TRY(check_participants(c, a->participants, &g, a->channel_id, a->use_global_device_ids));
    for (uint32_t k = c->nopnd; k-- > 0;) {
        LZ_TRY(check_dim(c, "all_gather_dim", a->all_gather_dim, k));
        LZ_TRY(give_scaled(c, k, a->all_gather_dim, a->participants, a->all_gather_dim, 1));
    }
    return LZ_OK;
}

/* One region for all operands, which are of one dtype. */
static lz_status check_computation(const lz_infer *c, const lz_func *computation)
{
    LZ_TRY(needs_operands(c));
    for (uint32_t k = 1; k < c->nopnd; k++)
        LZ_TRY(lz_infer_same_dtype(c, 0, k));
    return lz_infer_body(c, "computation", computation, 1);
}

lz_status lz_infer_all_reduce(lz_infer *c)
{
    const lz_attr_all_reduce *a = LZ_ATTR(all_reduce, c->attr);
    lz_groups g;
    LZ_TRY(check_computation(c, a->computation));
    LZ_TRY(check_channel(c, a->channel_id, a->use_global_device_ids));
    LZ_TRY(check_groups(c, "replica_groups", a->replica_groups, false, &g));
    for (uint32_t k = 0; k < c->nopnd; k++)
        c->result[k] = c->opnd[k];
    c->nresult = c->nopnd;
    return LZ_OK;
}

lz_status lz_infer_reduce_scatter(lz_infer *c)
{
    const lz_attr_reduce_scatter *a = LZ_ATTR(reduce_scatter, c->attr);
    lz_groups g;
    LZ_TRY(check_computation(c, a->computation));
    LZ_TRY(check_channel(c, a->channel_id, a->use_global_device_ids));
    LZ_TRY(check_groups(c, "replica_groups", a->replica_groups, false, &g));
    LZ_TRY(check_participants(c, a->participants, &g, a->channel_id, a->use_global_device_ids));
    for (uint32_t k = c->nopnd; k-- > 0;) {
        LZ_TRY(check_dim(c, "scatter_dimension", a->scatter_dimension, k));
        LZ_TRY(give_scaled(c, k, a->scatter_dimension, 1, a->scatter_dimension, a->participants));
    }
    return LZ_OK;
}

lz_status lz_infer_all_to_all(lz_infer *c)
{
    const lz_attr_all_to_all *a = LZ_ATTR(all_to_all, c->attr);
    lz_groups g;
    LZ_TRY(needs_operands(c));
    LZ_TRY(check_groups(c, "replica_groups", a->replica_groups, false, &g));
    if (a->split_count != g.columns)
        return LZ_FAIL(LZ_EINVAL,
                       "%s: split_count = %" PRId64 ", but groups of %" PRId64 " participants",
                       c->name, a->split_count, g.columns);
    for (uint32_t k = c->nopnd; k-- > 0;) {
        LZ_TRY(check_dim(c, "split_dimension", a->split_dimension, k));
        LZ_TRY(check_dim(c, "concat_dimension", a->concat_dimension, k));
        LZ_TRY(give_scaled(c, k, a->concat_dimension, a->split_count, a->split_dimension,
                           a->split_count));
    }
    return LZ_OK;
}

/* collective_broadcast, collective_permute */
lz_status lz_infer_collective_same(lz_infer *c)
{
    bool pairs = c->attr->kind == LZ_ATTR_collective_permute;
    const char *text = pairs ? LZ_ATTR(collective_permute, c->attr)->source_target_pairs
                             : LZ_ATTR(collective_broadcast, c->attr)->replica_groups;
    lz_groups g;
    LZ_TRY(needs_operands(c));
    LZ_TRY(check_groups(c, pairs ? "source_target_pairs" : "replica_groups", text, pairs, &g));
    for (uint32_t k = 0; k < c->nopnd; k++)
        c->result[k] = c->opnd[k];
    c->nresult = c->nopnd;
    return LZ_OK;
}

lz_status lz_infer_place(lz_infer *c)
{
    const lz_shape scalar = LZ_SCALAR;
    return lz_infer_give(c, LZ_U32, &scalar);
}
