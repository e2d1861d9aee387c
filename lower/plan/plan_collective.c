/* plan_collective.c - see plan_collective.h. A reduction goes through memory in blocks that stay in
 * the first cache: a block of the sum is made of that of every member, then given to all. So each
 * operand is read once and each result written once. */
#include "lower/plan/plan_collective.h"
#include "ir/attr.h"
#include "ir/eval/eval.h"
#include <string.h>

enum { BLOCK = 8192 }; /* bytes of a sum at a time; a multiple of every element size */

typedef struct work {
    const lz_sig *sig;
    const lz_participants *who;
    void *const *const *bufs;
    lz_combine_fn *combine; /* of a reduction; NULL: elementwise, else the region */
    lz_ref_ew_fn *elementwise;
    lz_op combiner;
    const lz_attr *attr;
    lz_ref_region *region;
} work;

static bool reduces(const lz_sig *sig)
{
    return sig->op == LZ_OP_ALL_REDUCE || sig->op == LZ_OP_REDUCE_SCATTER;
}

static uint64_t blocks_of(const lz_type *t)
{
    return (t->nbytes + BLOCK - 1) / BLOCK;
}

int64_t lz_collective_units(const lz_step_collective *c)
{
    const lz_sig *sig = c->sig;
    uint64_t n = 0;
    if (sig->op != LZ_OP_ALL_REDUCE)
        return (int64_t)sig->nresult * c->who.n;
    for (uint32_t k = 0; k < sig->nopnd; k++)
        n += blocks_of(sig->opnd[k]) * c->who.ngroup;
    return (int64_t)n;
}

uint64_t lz_collective_traffic(const lz_step_collective *c)
{
    uint64_t from, to;
    lz_collective_bytes(c->sig, &from, &to);
    return (from + to) * c->who.n;
}

static char *operand(const work *w, uint32_t q, uint32_t k)
{
    return w->bufs[q][w->sig->nresult + k];
}

static char *result(const work *w, uint32_t q, uint32_t k)
{
    return w->bufs[q][k];
}

/* ---- sums ---- */

static lz_status add_elementwise(const work *w, lz_dtype d, char *sum, const char *x, int64_t n)
{
    lz_ref_ew e = {.op = w->combiner,
                   .attr = w->attr,
                   .out = d,
                   .in = {d, d},
                   .src = {sum, x},
                   .step = {1, 1},
                   .dst = sum,
                   .n = n};
    return w->elementwise(&e);
}

static lz_status add(const work *w, lz_dtype d, char *sum, const char *x, size_t nbytes)
{
    size_t size = lz_dtype_size(d), n = nbytes / size;
    if (w->combine) {
        w->combine(sum, x, n);
        return LZ_OK;
    }
    if (w->elementwise)
        return add_elementwise(w, d, sum, x, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        const void *const both[2] = {sum + i * size, x + i * size};
        void *const out[1] = {sum + i * size};
        LZ_TRY(lz_ref_region_call(w->region, both, out));
    }
    return LZ_OK;
}

/* Bytes at..at+nbytes-1 of operand k, of all members of a group, at most BLOCK. */
static lz_status sum_block(const work *w, uint32_t group, uint32_t k, size_t at, size_t nbytes,
                           char *sum)
{
    const uint32_t *m = w->who->member + w->who->start[group],
                   *end = w->who->member + w->who->start[group + 1];
    memcpy(sum, operand(w, *m, k) + at, nbytes);
    while (++m < end)
        LZ_TRY(add(w, w->sig->opnd[k]->dtype, sum, operand(w, *m, k) + at, nbytes));
    return LZ_OK;
}

/* Unit u of an all_reduce: a block of one operand in one group. */
static lz_status all_reduce(const work *w, uint64_t u)
{
    _Alignas(64) char sum[BLOCK];
    uint32_t k = 0, ngroup = w->who->ngroup;
    for (; u >= blocks_of(w->sig->opnd[k]) * ngroup; k++)
        u -= blocks_of(w->sig->opnd[k]) * ngroup;
    uint32_t group = (uint32_t)(u % ngroup);
    size_t at = u / ngroup * BLOCK, nbytes = w->sig->opnd[k]->nbytes - at;
    nbytes = nbytes < BLOCK ? nbytes : BLOCK;
    LZ_TRY(sum_block(w, group, k, at, nbytes, sum));
    for (uint32_t i = w->who->start[group]; i < w->who->start[group + 1]; i++)
        memcpy(result(w, w->who->member[i], k) + at, sum, nbytes);
    return LZ_OK;
}

/* ---- parts of arrays ---- */

/* Bytes of the dimensions of t from d on, one element of those before. */
static size_t bytes_from(const lz_type *t, int d)
{
    size_t n = lz_dtype_size(t->dtype);
    for (int i = d; i < t->shape.rank; i++)
        n *= (size_t)t->shape.dims[i];
    return n;
}

static size_t points_before(const lz_type *t, int d)
{
    size_t n = 1;
    for (int i = 0; i < d; i++)
        n *= (size_t)t->shape.dims[i];
    return n;
}

/* Result k of partition q: its part of the sum along the scattered dimension. */
static lz_status reduce_scatter(const work *w, uint32_t k, uint32_t q)
{
    _Alignas(64) char sum[BLOCK];
    int d = (int)LZ_ATTR(reduce_scatter, w->sig->attr)->scatter_dimension;
    const lz_type *from = w->sig->opnd[k], *to = w->sig->result[k];
    size_t run = bytes_from(to, d), whole = bytes_from(from, d), n = points_before(to, d);
    if (to->nelem == 0)
        return LZ_OK;
    for (size_t o = 0; o < n; o++)
        for (size_t at = 0; at < run; at += BLOCK) {
            size_t nbytes = run - at < BLOCK ? run - at : BLOCK;
            LZ_TRY(sum_block(w, w->who->group[q], k, o * whole + w->who->place[q] * run + at,
                             nbytes, sum));
            memcpy(result(w, q, k) + o * run + at, sum, nbytes);
        }
    return LZ_OK;
}

/* ---- joins ---- */

static void all_gather(const work *w, uint32_t k, uint32_t q)
{
    int d = (int)LZ_ATTR(all_gather, w->sig->attr)->all_gather_dim;
    const lz_type *from = w->sig->opnd[k], *to = w->sig->result[k];
    size_t run = bytes_from(from, d), whole = bytes_from(to, d), n = points_before(to, d);
    uint32_t group = w->who->group[q], first = w->who->start[group];
    for (uint32_t i = first; i < w->who->start[group + 1] && to->nelem; i++) {
        const char *src = operand(w, w->who->member[i], k);
        char *dst = result(w, q, k) + (i - first) * run;
        for (size_t o = 0; o < n; o++)
            memcpy(dst + o * whole, src + o * run, run);
    }
}

/* A piece of an array that is moved: `outer` times `mid` runs of bytes. */
typedef struct piece {
    size_t outer, mid, run;
    size_t souter, smid, douter, dmid; /* steps in bytes */
} piece;

static void move_piece(const piece *p, char *dst, const char *src)
{
    for (size_t o = 0; o < p->outer; o++)
        for (size_t m = 0; m < p->mid; m++)
            memcpy(dst + o * p->douter + m * p->dmid, src + o * p->souter + m * p->smid, p->run);
}

/* What a partition gets of one member: part of the operand along dimension s, which becomes part of
 * the result along dimension c. Runs begin at the later of both. */
static piece piece_of(const lz_type *from, const lz_type *to, int s, int c)
{
    int lo = s < c ? s : c, hi = s < c ? c : s;
    piece p = {.outer = points_before(from, lo),
               .mid = 1,
               .souter = bytes_from(from, lo),
               .douter = bytes_from(to, lo),
               .smid = bytes_from(from, hi),
               .dmid = bytes_from(to, hi)};
    for (int i = lo; i < hi; i++) /* the smaller extents are those of the piece */
        p.mid *= (size_t)(i == s ? to : from)->shape.dims[i];
    p.run = p.smid < p.dmid ? p.smid : p.dmid;
    if (lo == hi) /* cut and joined along the same dimension: a part of either */
        p.run = 0;
    return p;
}

static void all_to_all(const work *w, uint32_t k, uint32_t q)
{
    int s = (int)LZ_ATTR(all_to_all, w->sig->attr)->split_dimension,
        c = (int)LZ_ATTR(all_to_all, w->sig->attr)->concat_dimension;
    const lz_type *from = w->sig->opnd[k], *to = w->sig->result[k];
    uint32_t group = w->who->group[q], first = w->who->start[group],
             n = w->who->start[group + 1] - first, place = w->who->place[q];
    piece p = piece_of(from, to, s, c);
    if (to->nelem == 0)
        return;
    if (s == c)
        p.run = p.smid / n;
    size_t cut = bytes_from(from, s) / n, part = bytes_from(to, c) / n;
    for (uint32_t i = 0; i < n; i++)
        move_piece(&p, result(w, q, k) + i * part,
                   operand(w, w->who->member[first + i], k) + place * cut);
}

/* Permute and broadcast. */
static void take_from(const work *w, uint32_t k, uint32_t q)
{
    uint32_t from = w->who->from[q];
    size_t nbytes = w->sig->result[k]->nbytes;
    if (nbytes && from == LZ_NO_PARTITION)
        memset(result(w, q, k), 0, nbytes);
    else if (nbytes)
        memcpy(result(w, q, k), operand(w, from, k), nbytes);
}

/* ---- all ---- */

static lz_status run_unit(const work *w, int64_t u)
{
    uint32_t k = (uint32_t)(u / w->who->n), q = (uint32_t)(u % w->who->n);
    switch (w->sig->op) {
    case LZ_OP_ALL_REDUCE:
        return all_reduce(w, (uint64_t)u);
    case LZ_OP_REDUCE_SCATTER:
        return reduce_scatter(w, k, q);
    case LZ_OP_ALL_GATHER:
        all_gather(w, k, q);
        break;
    case LZ_OP_ALL_TO_ALL:
        all_to_all(w, k, q);
        break;
    default:
        take_from(w, k, q);
    }
    return LZ_OK;
}

/* How the region is applied. */
static lz_status find_combiner(work *w)
{
    const lz_func *f = w->sig->op == LZ_OP_ALL_REDUCE
                           ? LZ_ATTR(all_reduce, w->sig->attr)->computation
                           : LZ_ATTR(reduce_scatter, w->sig->attr)->computation;
    w->combiner = lz_region_as_binary(f);
    if (w->combiner == LZ_OP_NONE)
        return lz_ref_region_new(f, 0, &w->region);
    w->attr = f->insts[f->results[0]].sig->attr;
    w->combine = lz_combine_get(w->combiner, w->sig->opnd[0]->dtype, lz_combine_avx2());
    w->elementwise = lz_ref_ew_get(w->combiner);
    return LZ_OK;
}

lz_status lz_collective_run(const lz_step_collective *c, void *const *const *bufs, int64_t begin,
                            int64_t end)
{
    work w = {.sig = c->sig, .who = &c->who, .bufs = bufs};
    lz_status s = reduces(c->sig) ? find_combiner(&w) : LZ_OK;
    for (int64_t u = begin; u < end && s == LZ_OK; u++)
        s = run_unit(&w, u);
    lz_ref_region_free(w.region);
    return s;
}

lz_status lz_collective_fold(const lz_sig *sig, uint32_t k, const void *const *in, uint32_t n,
                             void *to, size_t nbytes)
{
    _Alignas(64) char sum[BLOCK];
    work w = {.sig = sig};
    lz_status s = find_combiner(&w);
    for (size_t at = 0; at < nbytes && s == LZ_OK; at += BLOCK) {
        size_t m = nbytes - at < BLOCK ? nbytes - at : BLOCK;
        memcpy(sum, (const char *)in[0] + at, m);
        for (uint32_t i = 1; i < n && s == LZ_OK; i++)
            s = add(&w, sig->opnd[k]->dtype, sum, (const char *)in[i] + at, m);
        memcpy((char *)to + at, sum, m);
    }
    lz_ref_region_free(w.region);
    return s;
}
