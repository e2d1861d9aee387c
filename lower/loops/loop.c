/* loop.c - kernels of the loop IR: creating, freeing, finishing (which sizes are baked in and
 * which are run-time arguments).
 * Threads: thread-compatible; a finished kernel is immutable. */
#include "lower/loops/loop.h"
#include "lower/loops/loop_impl.h"
#include <stdio.h>
#include <string.h>

/* Extents up to these are part of the code, where it gains: a short loop of vectors is one masked
 * vector, few rows make another tile, the loops of a window need no test of whether they run at
 * all. Longer ones are run-time arguments, so that another batch size, another image or another
 * layer of the same form finds the same kernel. */
enum { BAKED_WIDE_MAX = 16, BAKED_LOOP_MAX = 4, BAKED_PART_MAX = 1 };
/* Rows of several loops are one loop to a product, which tiles cut wherever they like: only such
 * short ones of pixels as nearly fill a tile are given one each. All others are the same kernel, or
 * each stage of a network, with half as many pixels, had its own. */
enum { BAKED_ROWS_MIN = 6, BAKED_ROWS_MAX = 7 };

lz_kernel *lz_kernel_new(const char *name)
{
    lz_kernel *k = lz_calloc(1, sizeof *k);
    if (!k) {
        (void)LZ_FAIL(LZ_EMEM, "kernel '%s': no memory", name ? name : "");
        return NULL;
    }
    snprintf(k->name, sizeof k->name, "%s", name ? name : "");
    return k;
}

void lz_kernel_free(lz_kernel *k)
{
    if (!k)
        return;
    lz_arena_free(&k->arena);
    lz_free(k);
}

int lz_sop_arity(const lz_sop *s)
{
    return s->kind == LZ_S_EW ? lz_op_get(s->op)->arity : 0;
}

static lz_status each_of_access(const lz_kernel *k, const lz_stage *st, lz_access *a, lz_sz_fn fn,
                                void *user)
{
    /* Products of parts of arrays, the first ones too, are one kernel: theirs takes long to
     * compile. */
    LZ_TRY(fn(&a->offset, lz_kernel_is_dot(k) ? LZ_SZ_VALUE : LZ_SZ_OFFSET, user));
    for (uint32_t d = 0; d < k->nouter + st->ninner; d++)
        LZ_TRY(fn(&a->stride[d], LZ_SZ_STRIDE, user));
    for (uint32_t i = 0; i < a->ndyn; i++)
        LZ_TRY(fn(&a->dyn[i].stride, LZ_SZ_STRIDE, user));
    for (uint32_t i = 0; i < a->nborder; i++) {
        lz_border *b = &a->border[i];
        LZ_TRY(fn(&b->by, LZ_SZ_STRIDE, user));
        LZ_TRY(fn(&b->step, LZ_SZ_STRIDE, user));
        LZ_TRY(fn(&b->low, LZ_SZ_VALUE, user));
        LZ_TRY(fn(&b->high, LZ_SZ_VALUE, user));
    }
    return LZ_OK;
}

static lz_status each_of_sops(lz_sop *sops, uint32_t n, lz_sz_fn fn, void *user)
{
    for (uint32_t i = 0; i < n; i++)
        if (sops[i].kind == LZ_S_SIZE)
            LZ_TRY(fn(&sops[i].size, LZ_SZ_VALUE, user));
    return LZ_OK;
}

/* The second factor of a product is the same along more outer loops than that of the rows. */
static bool has_more_rows(const lz_kernel *k)
{
    const lz_stage *st = &k->stages[0];
    const lz_sop *b = &st->sops[lz_converted_from(st, lz_kernel_dot(k)->b_sop)];
    uint32_t rows = 0;
    for (uint32_t d = 0; d < k->nouter && b->kind == LZ_S_LOAD; d++)
        rows += d != lz_kernel_dot(k)->n && st->accs[b->a].stride[d].v == 0;
    return rows > 1;
}

static lz_sz_role role_of_outer(const lz_kernel *k, uint32_t d)
{
    if (lz_kernel_is_dot(k) && d == lz_kernel_dot(k)->m && has_more_rows(k))
        return LZ_SZ_ROWS;
    if (lz_kernel_is_dot(k))
        return d == lz_kernel_dot(k)->m || d == lz_kernel_dot(k)->n ? LZ_SZ_WIDE : LZ_SZ_PART;
    return k->vec == LZ_VEC_OUTER && d + 1 == k->nouter ? LZ_SZ_WIDE : LZ_SZ_LOOP;
}

static lz_sz_role role_of_inner(const lz_kernel *k, uint32_t stage, uint32_t d)
{
    if (lz_kernel_is_dot(k) && stage == 0)
        return LZ_SZ_PART;
    return k->vec == LZ_VEC_INNER && d + 1 == k->stages[stage].ninner ? LZ_SZ_WIDE : LZ_SZ_LOOP;
}

lz_status lz_kernel_each_size(lz_kernel *k, lz_sz_fn fn, void *user)
{
    for (uint32_t d = 0; d < k->nouter; d++)
        LZ_TRY(fn(&k->outer[d], role_of_outer(k, d), user));
    for (uint32_t s = 0; s < k->nstage; s++) {
        lz_stage *st = &k->stages[s];
        for (uint32_t d = 0; d < st->ninner; d++)
            LZ_TRY(fn(&st->extent[d], role_of_inner(k, s, d), user));
        LZ_TRY(each_of_sops(st->sops, st->nsop, fn, user));
        for (uint32_t i = 0; i < st->nacc; i++)
            LZ_TRY(each_of_access(k, st, &st->accs[i], fn, user));
        for (uint32_t i = 0; i < st->nred; i++)
            LZ_TRY(each_of_sops(st->reds[i].body, st->reds[i].nbody, fn, user));
        for (uint32_t i = 0; i < st->nstore; i++)
            LZ_TRY(each_of_access(k, st, &st->stores[i].at, fn, user));
    }
    return LZ_OK;
}

/* Every size that is not baked gets a slot of its own, also when equal values meet: sharing would
 * make the pattern of slots, and so the kernel, depend on coincidences between the sizes of one
 * instance. */
static lz_status decide_slot(lz_sz *s, lz_sz_role role, void *user)
{
    lz_kernel *k = user;
    bool baked = role == LZ_SZ_WIDE     ? s->v <= BAKED_WIDE_MAX
                 : role == LZ_SZ_ROWS   ? s->v >= BAKED_ROWS_MIN && s->v <= BAKED_ROWS_MAX
                 : role == LZ_SZ_LOOP   ? s->v <= BAKED_LOOP_MAX
                 : role == LZ_SZ_PART   ? s->v <= BAKED_PART_MAX
                 : role == LZ_SZ_OFFSET ? s->v == 0
                 : role == LZ_SZ_STRIDE ? s->v >= -1 && s->v <= 1
                                        : false;
    s->slot = baked ? -1 : (int32_t)k->narg++;
    return LZ_OK;
}

static lz_status collect_arg(lz_sz *s, lz_sz_role role, void *user)
{
    (void)role;
    lz_kernel *k = user;
    if (s->slot >= 0)
        k->args[s->slot] = s->v;
    return LZ_OK;
}

/* One form for what can be said in two ways: constants have no bits beyond their dtype, and a
 * conversion, which says its target twice, has the attribute that builders may leave out. */
static lz_status normalise(lz_sop *sops, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t nbytes = lz_dtype_size(sops[i].dtype);
        if (sops[i].kind == LZ_S_CONST && nbytes < 8)
            sops[i].bits &= (UINT64_C(1) << nbytes * 8) - 1;
        if (sops[i].kind != LZ_S_EW || sops[i].attr || lz_op_get(sops[i].op)->attr != LZ_ATTR_dtype)
            continue;
        lz_attr_dtype a;
        memset(&a, 0, sizeof a);
        a.kind = LZ_ATTR_dtype;
        a.dtype = sops[i].dtype;
        sops[i].attr = lz_attr_get((const lz_attr *)&a);
        if (!sops[i].attr)
            return LZ_EMEM;
    }
    return LZ_OK;
}

lz_status lz_kernel_finish(lz_kernel *k)
{
    if (k->finished)
        return LZ_FAIL(LZ_ESTATE, "kernel '%s' is finished already", k->name);
    for (uint32_t s = 0; s < k->nstage; s++) {
        lz_stage *st = &k->stages[s];
        LZ_TRY(normalise(st->sops, st->nsop));
        for (uint32_t i = 0; i < st->nred; i++)
            LZ_TRY(normalise(st->reds[i].body, st->reds[i].nbody));
        if (st->sort)
            LZ_TRY(normalise(st->sort->body, st->sort->nbody));
    }
    LZ_TRY(lz_kernel_verify(k));
    k->narg = 0;
    LZ_TRY(lz_kernel_each_size(k, decide_slot, k));
    k->args = lz_arena_alloc(&k->arena, k->narg * sizeof *k->args);
    if (!k->args)
        return LZ_FAIL(LZ_EMEM, "kernel '%s': no memory for %u run-time sizes", k->name, k->narg);
    LZ_TRY(lz_kernel_each_size(k, collect_arg, k));
    return lz_kernel_encode(k);
}

uint32_t lz_stage_before_prefix(const lz_stage *st)
{
    uint32_t n = 0;
    while (n < st->nsop && st->sops[n].kind != LZ_S_PREFIX)
        n++;
    return n;
}

/* ---- rows ---- */

bool lz_kernel_has_rows(const lz_kernel *k)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        if (lz_stage_is_row_dot(&k->stages[s]) || k->stages[s].nrow)
            return true;
    return false;
}

bool lz_kernel_keeps_sums(const lz_kernel *k)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        if (lz_stage_is_row_dot(&k->stages[s]))
            return true;
    return false;
}

bool lz_access_down_rows(const lz_kernel *k, const lz_access *a)
{
    uint32_t column = k->nouter - 1, row = k->nouter + k->stages[0].ninner - 1;
    return a->ndyn == 0 && a->guard < 0 && lz_sz_is(a->stride[column], 1) &&
           !lz_sz_is(a->stride[row], 0) && !lz_sz_is(a->stride[row], 1);
}

bool lz_kernel_sums_columns(const lz_kernel *k)
{
    const lz_stage *s = k->stages;
    if (!k->nstage || lz_kernel_is_dot(k) || k->vec != LZ_VEC_OUTER || !k->nouter || !s->nred ||
        !s->ninner)
        return false;
    for (uint32_t i = 0; i < s->nacc; i++)
        if (lz_access_down_rows(k, &s->accs[i]))
            return true;
    return false;
}

const lz_sz *lz_row_extent(const lz_kernel *k, int32_t s, int32_t r)
{
    if (s < 0 || (uint32_t)s >= k->nstage || r < 0)
        return NULL;
    const lz_stage *st = &k->stages[s];
    if (lz_stage_is_row_dot(st))
        return r == 0 && st->ninner == 2 ? &st->extent[0] : NULL;
    return (uint32_t)r < st->nrow && st->ninner == 1 ? &st->extent[0] : NULL;
}

lz_dtype lz_row_dtype(const lz_kernel *k, int32_t s, int32_t r)
{
    const lz_stage *st = &k->stages[s];
    return lz_stage_is_row_dot(st) ? st->reds[0].acc_dtype[0] : st->sops[st->row[r]].dtype;
}

bool lz_stage_set_row_dot(lz_kernel *k, uint32_t s)
{
    lz_stage *st = &k->stages[s];
    st->dot = (lz_dot_info){
        .role = LZ_DOT_ROW, .m = k->nouter - 1, .n = k->nouter, .a_sop = -1, .b_sop = -1};
    int32_t sum = st->nred == 1 && st->reds[0].comb == LZ_OP_ADD ? st->reds[0].value[0] : -1;
    if (sum < 0 || (uint32_t)sum >= st->nsop)
        return false;
    const lz_sop *mul = &st->sops[sum];
    if (mul->kind != LZ_S_EW || mul->op != LZ_OP_MULTIPLY)
        return false;
    st->dot.a_sop = mul->a;
    st->dot.b_sop = mul->b;
    return true;
}

/* ---- dependences ---- */

static uint32_t deps_of_access(const lz_kernel *k, const lz_stage *st, const lz_access *a,
                               const uint32_t *dep)
{
    uint32_t m = 0;
    for (uint32_t d = 0; d < k->nouter + st->ninner; d++)
        if (a->stride[d].v != 0 || (k->finished && a->stride[d].slot >= 0))
            m |= 1u << d;
    for (uint32_t i = 0; i < a->ndyn; i++)
        m |= dep[a->dyn[i].sop];
    if (a->guard >= 0)
        m |= dep[a->guard];
    if (a->other >= 0)
        m |= dep[a->other];
    return m;
}

void lz_stage_deps(const lz_kernel *k, const lz_stage *st, uint32_t *dep)
{
    const uint32_t outer = (1u << k->nouter) - 1, memory = 1u << 31;
    for (uint32_t i = 0; i < st->nsop; i++) {
        const lz_sop *s = &st->sops[i];
        dep[i] = 0;
        if (s->kind == LZ_S_INDEX)
            dep[i] = 1u << s->a;
        else if (s->kind == LZ_S_SIZE)
            dep[i] = memory;
        else if (s->kind == LZ_S_LOAD)
            dep[i] = memory | deps_of_access(k, st, &st->accs[s->a], dep);
        else if (s->kind == LZ_S_RED)
            dep[i] = memory | outer;
        else if (s->kind == LZ_S_SORTED || s->kind == LZ_S_PREFIX)
            dep[i] = memory | outer | LZ_DEP_INNER(k, st);
        else if (s->kind == LZ_S_ROW)
            dep[i] = memory | outer | 1u << (k->nouter + st->ninner - 1);
        const int32_t opnd[3] = {s->a, s->b, s->c};
        for (int j = 0; j < lz_sop_arity(s); j++)
            dep[i] |= dep[opnd[j]];
    }
}

bool lz_sums_from_zero(const lz_stage *st)
{
    lz_dtype d = st->reds[0].acc_dtype[0];
    const lz_sop *init = &st->sops[st->reds[0].init[0]];
    uint64_t sign = d == LZ_F32 ? UINT64_C(1) << 31 : d == LZ_F64 ? UINT64_C(1) << 63 : 0;
    return init->kind == LZ_S_CONST && !(init->bits & ~sign);
}

int32_t lz_converted_from(const lz_stage *st, int32_t sop)
{
    const lz_sop *p = &st->sops[sop];
    return p->kind == LZ_S_EW && p->op == LZ_OP_CONVERT ? p->a : sop;
}

static bool border_eq(const lz_border *a, const lz_border *b)
{
    return a->outer == b->outer && a->inner == b->inner && lz_sz_eq(a->by, b->by) &&
           lz_sz_eq(a->step, b->step) && lz_sz_eq(a->low, b->low) && lz_sz_eq(a->high, b->high);
}

bool lz_access_eq(const lz_access *a, const lz_access *b)
{
    bool same = a->buf == b->buf && a->guard == b->guard && a->other == b->other &&
                a->ndyn == b->ndyn && a->nborder == b->nborder && lz_sz_eq(a->offset, b->offset);
    for (int l = 0; l < LZ_LOOP_MAX && same; l++)
        same = lz_sz_eq(a->stride[l], b->stride[l]);
    for (uint32_t i = 0; i < a->ndyn && same; i++)
        same = a->dyn[i].sop == b->dyn[i].sop && lz_sz_eq(a->dyn[i].stride, b->dyn[i].stride);
    for (uint32_t i = 0; i < a->nborder && same; i++)
        same = border_eq(&a->border[i], &b->border[i]);
    return same;
}
