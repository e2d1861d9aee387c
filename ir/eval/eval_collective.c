/* eval_collective.c - reference evaluation of collectives, with the operands of all partitions at
 * hand. Threads: pure. */
#include "ir/eval/eval_partitions.h"
#include <string.h>

typedef struct meeting {
    const lz_sig *sig;
    const lz_participants *g;
    lz_literal *const *const *opnd; /* [partition][operand] */
    lz_literal ***result;
} meeting;

/* Part `from` along dimension `cut` of src (all of it: cut -1) becomes part `at` along dimension
 * `dim` of dst. Parts are as large as dst is wide, or as src is along the others. */
typedef struct piece {
    const lz_literal *src;
    lz_literal *dst;
    int64_t cut, from, parts;
    int64_t dim, at;
} piece;

static void move_piece(const piece *p)
{
    const lz_shape *ss = &p->src->type->shape, *ds = &p->dst->type->shape;
    int64_t sstride[LZ_MAX_RANK], dstride[LZ_MAX_RANK], dims[LZ_MAX_RANK];
    int64_t sbase = 0, dbase = 0;
    lz_ref_strides(ss, sstride);
    lz_ref_strides(ds, dstride);
    memcpy(dims, ss->dims, sizeof dims);
    if (p->cut >= 0) {
        dims[p->cut] /= p->parts;
        sbase = p->from * dims[p->cut] * sstride[p->cut];
    }
    if (p->dim >= 0)
        dbase = p->at * dims[p->dim] * dstride[p->dim];
    lz_ref_copy_affine(ss->rank, dims, lz_dtype_size(p->src->type->dtype), p->dst->data, dbase,
                       dstride, p->src->data, sbase, sstride);
}

/* ---- all_gather, all_to_all ---- */

/* Result k of partition p: of each member of its group a piece, side by side. */
static void join(const meeting *m, uint32_t p, uint32_t k)
{
    const lz_participants *g = m->g;
    const uint32_t *first = g->member + g->start[g->group[p]];
    uint32_t n = g->start[g->group[p] + 1] - g->start[g->group[p]];
    bool exchanges = m->sig->op == LZ_OP_ALL_TO_ALL;
    piece x = {.dst = m->result[p][k], .cut = -1, .from = g->place[p], .parts = n};
    if (exchanges)
        x.cut = LZ_ATTR(all_to_all, m->sig->attr)->split_dimension;
    x.dim = exchanges ? LZ_ATTR(all_to_all, m->sig->attr)->concat_dimension
                      : LZ_ATTR(all_gather, m->sig->attr)->all_gather_dim;
    for (uint32_t i = 0; i < n; i++) {
        x.src = m->opnd[first[i]][k];
        x.at = i;
        move_piece(&x);
    }
}

/* ---- all_reduce, reduce_scatter ---- */

static lz_status accumulate(lz_ref_region *r, lz_literal *sum, const lz_literal *x)
{
    size_t size = lz_dtype_size(x->type->dtype);
    for (int64_t i = 0; i < x->type->nelem; i++) {
        uint8_t *to = (uint8_t *)sum->data + (size_t)i * size;
        const void *const both[2] = {to, (const uint8_t *)x->data + (size_t)i * size};
        void *const out[1] = {to};
        LZ_TRY(lz_ref_region_call(r, both, out));
    }
    return LZ_OK;
}

/* Operand k of a group's members, the first one's first. */
static lz_status sum_group(const meeting *m, uint32_t group, uint32_t k, lz_ref_region *r,
                           lz_literal **out)
{
    const lz_participants *g = m->g;
    uint32_t first = g->start[group];
    const lz_literal *x = m->opnd[g->member[first]][k];
    *out = lz_literal_copy_from(x->type, x->data);
    if (!*out)
        return LZ_EMEM;
    for (uint32_t i = first + 1; i < g->start[group + 1]; i++)
        LZ_TRY(accumulate(r, *out, m->opnd[g->member[i]][k]));
    return LZ_OK;
}

static void give_sum(const meeting *m, uint32_t group, uint32_t k, lz_literal *sum)
{
    const lz_participants *g = m->g;
    for (uint32_t i = g->start[group]; i < g->start[group + 1]; i++) {
        lz_literal **to = &m->result[g->member[i]][k];
        if (m->sig->op == LZ_OP_ALL_REDUCE) {
            lz_literal_release(*to);
            lz_literal_retain(sum);
            *to = sum;
            continue;
        }
        piece x = {.src = sum,
                   .dst = *to,
                   .cut = LZ_ATTR(reduce_scatter, m->sig->attr)->scatter_dimension,
                   .from = i - g->start[group],
                   .parts = g->start[group + 1] - g->start[group],
                   .dim = -1};
        move_piece(&x);
    }
}

static lz_status reduce(const meeting *m)
{
    const lz_func *f = m->sig->op == LZ_OP_ALL_REDUCE
                           ? LZ_ATTR(all_reduce, m->sig->attr)->computation
                           : LZ_ATTR(reduce_scatter, m->sig->attr)->computation;
    lz_ref_region *r;
    lz_status s = lz_ref_region_new(f, 0, &r);
    for (uint32_t i = 0; i < m->g->ngroup * m->sig->nresult && s == LZ_OK; i++) {
        uint32_t group = i / m->sig->nresult, k = i % m->sig->nresult;
        lz_literal *sum = NULL;
        s = sum_group(m, group, k, r, &sum);
        if (s == LZ_OK)
            give_sum(m, group, k, sum);
        lz_literal_release(sum);
    }
    lz_ref_region_free(r);
    return s;
}

/* ---- all ---- */

/* Permute and broadcast: from whom each gets; of nobody it is zeros. */
static void give_from(const meeting *m, uint32_t p, uint32_t k)
{
    lz_literal **to = &m->result[p][k];
    if (m->g->from[p] == LZ_NO_PARTITION)
        return;
    lz_literal_release(*to);
    *to = m->opnd[m->g->from[p]][k];
    lz_literal_retain(*to);
}

static lz_status evaluate(const meeting *m)
{
    switch (m->sig->op) {
    case LZ_OP_ALL_REDUCE:
    case LZ_OP_REDUCE_SCATTER:
        return reduce(m);
    case LZ_OP_ALL_GATHER:
    case LZ_OP_ALL_TO_ALL:
    case LZ_OP_COLLECTIVE_PERMUTE:
    case LZ_OP_COLLECTIVE_BROADCAST:
        break;
    default:
        return LZ_FAIL(LZ_EINTERNAL, "%s is no collective", lz_op_get(m->sig->op)->text);
    }
    bool joins = m->sig->op == LZ_OP_ALL_GATHER || m->sig->op == LZ_OP_ALL_TO_ALL;
    for (uint32_t p = 0; p < m->g->n; p++)
        for (uint32_t k = 0; k < m->sig->nresult; k++)
            (joins ? join : give_from)(m, p, k);
    return LZ_OK;
}

lz_status lz_ref_collective_all(const lz_sig *sig, const lz_participants *g,
                                lz_literal *const *const *opnds, lz_literal ***results)
{
    meeting m = {sig, g, opnds, results};
    lz_status s = LZ_OK;
    for (uint32_t p = 0; p < g->n; p++)
        memset(results[p], 0, sig->nresult * sizeof **results);
    for (uint32_t p = 0; p < g->n; p++)
        for (uint32_t k = 0; k < sig->nresult && s == LZ_OK; k++)
            s = (results[p][k] = lz_literal_new(sig->result[k])) ? LZ_OK : LZ_EMEM;
    if (s == LZ_OK)
        s = evaluate(&m);
    for (uint32_t p = 0; p < g->n && s != LZ_OK; p++)
        for (uint32_t k = 0; k < sig->nresult; k++) {
            lz_literal_release(results[p][k]);
            results[p][k] = NULL;
        }
    return s;
}
