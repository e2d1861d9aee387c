/* loop_normalize.c - loop normalization: the last transformation before a kernel is finished.
 * Does:      collapses adjacent loops that every access traverses as one; interchanges inner loops
 *   so that the innermost has the smallest strides; moves m and n of a dot innermost; chooses the
 *   vector loop.
 * Needs:     a kernel of to_loops.c that is not finished.
 * Invariant: no decision depends on an exact extent, beyond whether it is small (most of those are
 *   baked in anyway), so another batch size or an equal layer gives the same kernel with other
 *   arguments.
 * Cost:      O(accesses x loops).   Threads: pure. */
#include "lower/loops/loop_impl.h"
#include "lower/loops/to_loops_impl.h"
#include <string.h>

enum { SHORT_LOOP = 8, FEW_COLUMNS = 4 };

/* ---- all accesses of a stage ---- */

static uint32_t naccess(const lz_stage *st)
{
    return st->nacc + st->nstore;
}

static lz_access *access_at(const lz_stage *st, uint32_t i)
{
    return i < st->nacc ? &st->accs[i] : &st->stores[i - st->nacc].at;
}

static bool has_index(const lz_stage *st, uint32_t loop)
{
    for (uint32_t i = 0; i < st->nsop; i++)
        if (st->sops[i].kind == LZ_S_INDEX && (uint32_t)st->sops[i].a == loop)
            return true;
    return false;
}

/* ---- merging ---- */

bool lz_access_as_one(const lz_access *a, uint32_t l, int64_t inner)
{
    int64_t step;
    return lz_mul_i64(a->stride[l + 1].v, inner, &step) && a->stride[l].v == step;
}

/* Loops l and l+1 (of extent `inner`) run through every access of the stage as one. */
static bool as_one(const lz_stage *st, uint32_t l, int64_t inner)
{
    for (uint32_t i = 0; i < naccess(st); i++)
        if (!lz_access_as_one(access_at(st, i), l, inner))
            return false;
    return !has_index(st, l) && !has_index(st, l + 1);
}

static void drop_loop(lz_stage *st, uint32_t l, int64_t inner)
{
    for (uint32_t i = 0; i < naccess(st); i++) {
        lz_access *a = access_at(st, i);
        lz_loops_merge_padding(a, l, inner);
        a->stride[l] = a->stride[l + 1];
        for (uint32_t j = l + 1; j + 1 < LZ_LOOP_MAX; j++)
            a->stride[j] = a->stride[j + 1];
        a->stride[LZ_LOOP_MAX - 1].v = 0;
    }
    for (uint32_t i = 0; i < st->nsop; i++)
        if (st->sops[i].kind == LZ_S_INDEX && (uint32_t)st->sops[i].a > l)
            st->sops[i].a--;
}

static void drop_extent(lz_sz *ext, uint32_t *n, uint32_t l)
{
    ext[l].v *= ext[l + 1].v;
    for (uint32_t j = l + 1; j + 1 < *n; j++)
        ext[j] = ext[j + 1];
    --*n;
}

void lz_loops_merge_outer(lz_kernel *k)
{
    for (uint32_t l = k->nouter; l-- > 1;) {
        bool ok = true;
        for (uint32_t s = 0; s < k->nstage; s++)
            ok = ok && as_one(&k->stages[s], l - 1, k->outer[l].v);
        if (!ok)
            continue;
        for (uint32_t s = 0; s < k->nstage; s++)
            drop_loop(&k->stages[s], l - 1, k->outer[l].v);
        drop_extent(k->outer, &k->nouter, l - 1);
    }
}

static void merge_inner(const lz_kernel *k, lz_stage *st)
{
    for (uint32_t l = st->ninner; l-- > 1;) {
        if (!as_one(st, k->nouter + l - 1, st->extent[l].v))
            continue;
        drop_loop(st, k->nouter + l - 1, st->extent[l].v);
        drop_extent(st->extent, &st->ninner, l - 1);
    }
}

/* ---- order ---- */

/* Loop first+i becomes what loop first+order[i] was. */
static void permute(lz_stage *st, uint32_t first, uint32_t n, const uint8_t *order)
{
    uint8_t where[LZ_LOOP_MAX];
    for (uint32_t i = 0; i < n; i++)
        where[order[i]] = (uint8_t)i;
    for (uint32_t i = 0; i < naccess(st); i++) {
        lz_access *a = access_at(st, i), old = *a;
        for (uint32_t j = 0; j < n; j++)
            a->stride[first + j] = old.stride[first + order[j]];
        lz_loops_permute_padding(a, first, n, where);
    }
    for (uint32_t i = 0; i < st->nsop; i++) {
        lz_sop *s = &st->sops[i];
        if (s->kind == LZ_S_INDEX && (uint32_t)s->a >= first && (uint32_t)s->a < first + n)
            s->a = (int32_t)(first + where[(uint32_t)s->a - first]);
    }
}

static void permute_extents(lz_sz *ext, uint32_t n, const uint8_t *order)
{
    lz_sz old[LZ_LOOP_MAX];
    memcpy(old, ext, n * sizeof *ext);
    for (uint32_t i = 0; i < n; i++)
        ext[i] = old[order[i]];
}

void lz_loops_permute_outer(lz_kernel *k, const uint8_t *order)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        permute(&k->stages[s], 0, k->nouter, order);
    permute_extents(k->outer, k->nouter, order);
}

/* The access that walks most of the stage's inner loops: their order is its order in memory. */
static const lz_access *main_access(const lz_kernel *k, const lz_stage *st)
{
    const lz_access *best = NULL;
    uint32_t most = 0;
    for (uint32_t i = 0; i < st->nacc; i++) {
        uint32_t n = 0;
        for (uint32_t l = 0; l < st->ninner; l++)
            n += st->accs[i].stride[k->nouter + l].v != 0;
        if (n > most) {
            most = n;
            best = &st->accs[i];
        }
    }
    return best;
}

static void order_inner(const lz_kernel *k, lz_stage *st)
{
    const lz_access *a = main_access(k, st);
    uint8_t order[LZ_LOOP_MAX];
    if (!a)
        return;
    for (uint32_t i = 0; i < st->ninner; i++) {
        uint32_t j = i;
        int64_t s = a->stride[k->nouter + i].v, m = s < 0 ? -s : s;
        for (; j > 0; j--) {
            int64_t t = a->stride[k->nouter + order[j - 1]].v, u = t < 0 ? -t : t;
            if (u == 0 || m == 0 || u >= m)
                break;
            order[j] = order[j - 1];
        }
        order[j] = (uint8_t)i;
    }
    permute(st, k->nouter, st->ninner, order);
    permute_extents(st->extent, st->ninner, order);
}

/* ---- products ---- */

/* Last outer loop that only one factor walks, or -1. */
static int last_only(uint32_t nouter, uint32_t has, uint32_t has_not)
{
    for (int l = (int)nouter - 1; l >= 0; l--)
        if ((has >> l & 1) && !(has_not >> l & 1))
            return l;
    return -1;
}

/* The loop the last stage's first store is contiguous in, or -1. */
static int stored_loop(const lz_kernel *k)
{
    const lz_stage *st = &k->stages[k->nstage - 1];
    for (uint32_t l = 0; st->nstore && l < k->nouter; l++)
        if (st->stores[0].at.stride[l].v == 1)
            return (int)l;
    return -1;
}

/* The last loop that only one factor walks, and is contiguous along, of columns enough to fill
 * vectors; -1: there is none. */
static int last_wide(const lz_kernel *k, uint32_t has, uint32_t has_not)
{
    const lz_stage *st = &k->stages[0];
    for (int l = (int)k->nouter - 1; l >= 0; l--)
        for (uint32_t i = 0; i < st->nacc && k->outer[l].v > FEW_COLUMNS; i++)
            if ((has >> l & 1) && !(has_not >> l & 1) && st->accs[i].stride[l].v == 1)
                return l;
    return -1;
}

/* Exchanges the factors of the product, so that the loop of the left one that is contiguous in the
 * result becomes n. */
static void exchange(lz_stage *st, int32_t *a, int32_t *b)
{
    lz_sop *mul = &st->sops[st->reds[0].value[0]];
    int32_t t = *a;
    *a = *b;
    *b = t;
    mul->a = *a;
    mul->b = *b;
}

static lz_status describe_product(lz_kernel *k, int32_t a, int32_t b)
{
    lz_stage *st = &k->stages[0];
    uint32_t *dep = lz_calloc(st->nsop + 1, sizeof *dep);
    if (!dep)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_stage_deps(k, st, dep);
    uint32_t da = dep[a], db = dep[b];
    lz_free(dep);
    int fast = stored_loop(k), wide = last_wide(k, db, da);
    /* few columns (the channels of an image) fill no vector, so those of the other factor do */
    bool few = fast >= 0 && k->outer[fast].v <= FEW_COLUMNS && wide >= 0;
    if (fast >= 0 && (da >> fast & 1) && !(db >> fast & 1) && !few) {
        uint32_t t = da;
        da = db;
        db = t;
        exchange(st, &a, &b);
    }
    int m = last_only(k->nouter, da, db), n = last_only(k->nouter, db, da);
    wide = last_wide(k, db, da);
    if (n >= 0 && k->outer[n].v <= FEW_COLUMNS && wide >= 0)
        n = wide;
    if (m < 0 || n < 0 || st->ninner == 0) {
        for (uint32_t i = 0; i < st->nacc; i++)
            st->accs[i].nborder = 0; /* they are for products */
        return LZ_OK;
    }
    uint8_t order[LZ_LOOP_MAX];
    uint32_t c = 0;
    for (int l = 0; l < (int)k->nouter; l++)
        if (l != m && l != n)
            order[c++] = (uint8_t)l;
    order[c++] = (uint8_t)m;
    order[c++] = (uint8_t)n;
    lz_loops_permute_outer(k, order);
    st->dot = (lz_dot_info){LZ_DOT_KERNEL, k->nouter - 2, k->nouter - 1, a, b};
    return LZ_OK;
}

/* ---- the vector loop ---- */

/* How well the accesses of the stage run along loop l: contiguous ones count for it, strided ones
 * against. */
static int score(const lz_stage *st, uint32_t l)
{
    int n = 0;
    for (uint32_t i = 0; i < naccess(st); i++) {
        const lz_access *a = access_at(st, i);
        int64_t s = a->stride[l].v;
        n += s == 1 ? 2 : s == 0 ? 0 : s == -1 ? 1 : -1;
    }
    return n;
}

static bool scatters(const lz_kernel *k)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t i = 0; i < k->stages[s].nstore; i++)
            if (k->stages[s].stores[i].at.ndyn || k->stages[s].stores[i].at.guard >= 0)
                return true;
    return false;
}

static bool sorts(const lz_kernel *k)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        if (k->stages[s].sort)
            return true;
    return false;
}

/* Whether a reduction's state at each point is stored: its points keep their order. */
static bool scans(const lz_kernel *k)
{
    return k->nstage == 1 && lz_stage_scans(&k->stages[0]);
}

static void choose_vector(lz_kernel *k)
{
    int in = 0, out = 0;
    int64_t len = -1;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        if (st->ninner) {
            in += score(st, k->nouter + st->ninner - 1);
            len = st->extent[st->ninner - 1].v > len ? st->extent[st->ninner - 1].v : len;
        }
        if (k->nouter && (st->ninner || len < 0))
            out += score(st, k->nouter - 1);
    }
    if (k->serial || sorts(k))
        k->vec = LZ_VEC_NONE;
    else if (len < 0)
        k->vec = k->nouter ? LZ_VEC_OUTER : LZ_VEC_NONE;
    else if (scatters(k))
        k->vec = k->nouter && out > 0 ? LZ_VEC_OUTER : LZ_VEC_NONE;
    else if (k->nouter == 0 || (len >= SHORT_LOOP && in >= out) ||
             (scans(k) && len >= SHORT_LOOP && k->outer[k->nouter - 1].v < SHORT_LOOP))
        k->vec = LZ_VEC_INNER;
    else
        k->vec = LZ_VEC_OUTER;
}

lz_status lz_loops_normalize(lz_kernel *k, bool product, int32_t dot_a, int32_t dot_b)
{
    bool ordered = k->serial || scatters(k) || sorts(k) || scans(k);
    lz_loops_merge_outer(k);
    if (!product)
        LZ_TRY(lz_loops_merge_short(k));
    for (uint32_t s = 0; s < k->nstage; s++) {
        if (!ordered)
            order_inner(k, &k->stages[s]);
        merge_inner(k, &k->stages[s]);
    }
    if (product)
        LZ_TRY(describe_product(k, dot_a, dot_b));
    choose_vector(k);
    return lz_loops_free_constants(k);
}
