/* loop_short.c - part of loop normalization: the last outer loop, where it is too short to fill
 * vectors (the channels of an image, boxes, keys of two words), and the loop around it become one,
 * although not every load runs through both as one: what lies along rows is loaded at the computed
 * row. A gather costs less than a loop of two points for every row.
 * Does:      elementwise kernels of one stage; stores must run through memory as one.
 * Cost:      O(scalar ops).   Threads: pure. */
#include "lower/loops/elemental.h"
#include "lower/loops/loop_impl.h"
#include "lower/loops/to_loops_impl.h"

/* About what things cost next to an operation on a vector of LANES elements: the loop around a row,
 * and a gather. */
enum { LANES = 16, LEAST_ROWS = 8, ROW_COST = 7, GATHER_COST = 14 };

/* Whether it pays: LANES points of rows by themselves, or of all of them at once. */
static bool is_cheaper(const lz_stage *st, uint32_t l, int64_t n)
{
    int64_t work = 0, gathers = 0;
    for (uint32_t i = 0; i < st->nsop; i++)
        work += st->sops[i].kind == LZ_S_EW;
    for (uint32_t i = 0; i < st->nacc; i++)
        gathers += !lz_access_as_one(&st->accs[i], l, n);
    return LANES * (work + ROW_COST) > n * (work + GATHER_COST * gathers);
}

static bool may_merge(const lz_kernel *k)
{
    const lz_stage *st = &k->stages[0];
    if (k->nstage != 1 || k->serial || k->nouter < 2 || st->ninner || st->nred || st->sort ||
        st->nrow || st->dot.role != LZ_DOT_NONE)
        return false;
    uint32_t l = k->nouter - 2;
    int64_t n = k->outer[l + 1].v, all;
    if (n < 2 || n >= LANES || k->outer[l].v < LEAST_ROWS || !lz_mul_i64(n, k->outer[l].v, &all) ||
        all > INT32_MAX)
        return false;
    for (uint32_t i = 0; i < st->nstore; i++) {
        const lz_access *a = &st->stores[i].at;
        if (a->ndyn || a->guard >= 0 || !lz_access_as_one(a, l, n))
            return false;
    }
    for (uint32_t i = 0; i < st->nacc; i++) {
        const lz_access *a = &st->accs[i];
        int64_t step;
        if (a->nborder || a->ndyn >= LZ_DYN_MAX || !lz_mul_i64(a->stride[l + 1].v, n, &step) ||
            __builtin_sub_overflow(a->stride[l].v, step, &step))
            return false;
    }
    return is_cheaper(st, l, n);
}

/* ---- the scalar ops ---- */

typedef struct merged {
    lz_stage_rewrite w;
    uint32_t l; /* the merged loop */
    int64_t n;  /* columns */
} merged;

static int32_t index_of(merged *x)
{
    lz_sop s = {.kind = LZ_S_INDEX, .dtype = LZ_I64, .a = (int32_t)x->l, .b = -1, .c = -1};
    s.size.slot = -1;
    s.node = x->w.sops.node;
    return lz_sops_add(&x->w.sops, &s);
}

/* In 32 bits, where vectors divide by a constant without a division. */
static int32_t row_of(merged *x)
{
    lz_soplist *l = &x->w.sops;
    int32_t at = lz_sops_convert(l, index_of(x), LZ_U32),
            n = lz_sops_const(l, LZ_U32, (uint64_t)x->n);
    return lz_sops_convert(l, lz_sops_ew(l, LZ_OP_DIVIDE, LZ_U32, at, n, -1, NULL), LZ_I64);
}

static int32_t column_of(merged *x)
{
    lz_soplist *l = &x->w.sops;
    int32_t n = lz_sops_const(l, LZ_I64, (uint64_t)x->n),
            before = lz_sops_ew(l, LZ_OP_MULTIPLY, LZ_I64, row_of(x), n, -1, NULL);
    return lz_sops_ew(l, LZ_OP_SUBTRACT, LZ_I64, index_of(x), before, -1, NULL);
}

static int32_t copy_sop(merged *x, const lz_sop *old)
{
    if (old->kind == LZ_S_INDEX && (uint32_t)old->a == x->l)
        return row_of(x);
    if (old->kind == LZ_S_INDEX && (uint32_t)old->a == x->l + 1)
        return column_of(x);
    return lz_stage_rewrite_copy(&x->w, old);
}

/* ---- the accesses ---- */

/* The address of a row and a column is that of their common index, and for each row what it is not
 * by then. */
static void merge_access(const merged *x, lz_access *a, int32_t row)
{
    /* may_merge: none of this overflows */
    int64_t step = a->stride[x->l].v - a->stride[x->l + 1].v * x->n;
    a->stride[x->l] = a->stride[x->l + 1];
    a->stride[x->l + 1] = lz_sz_of(0);
    if (step == 0)
        return;
    a->dyn[a->ndyn].sop = row;
    a->dyn[a->ndyn++].stride = lz_sz_of(step);
}

lz_status lz_loops_merge_short(lz_kernel *k)
{
    if (!may_merge(k))
        return LZ_OK;
    lz_stage *st = &k->stages[0];
    merged x = {.l = k->nouter - 2, .n = k->outer[k->nouter - 1].v};
    int32_t row = -1;
    LZ_TRY(lz_stage_rewrite_begin(&x.w, st));
    for (uint32_t i = 0; i < st->nacc && row < 0; i++) /* before the loads that need it */
        row = lz_access_as_one(&st->accs[i], x.l, x.n) ? -1 : row_of(&x);
    for (uint32_t i = 0; i < st->nsop; i++) {
        x.w.sops.node = st->sops[i].node;
        x.w.to[i] = copy_sop(&x, &st->sops[i]);
    }
    LZ_TRY(lz_stage_rewrite_end(&x.w, k));
    for (uint32_t i = 0; i < st->nacc; i++)
        merge_access(&x, &st->accs[i], row);
    for (uint32_t i = 0; i < st->nstore; i++)
        merge_access(&x, &st->stores[i].at, -1);
    k->outer[x.l].v *= x.n;
    k->nouter--;
    lz_loops_merge_outer(k);
    return LZ_OK;
}
