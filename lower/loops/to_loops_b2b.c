/* to_loops_b2b.c - turns a B2B group into one kernel (loop.h). For every level it emits one stage
 * per inner loop, over the elements of the rows and of the dots that consume them, and then one
 * stage per dot of the level. Values that later stages read become row buffers.
 * Cost: O(scalar ops).   Threads: pure. */
#include "lower/loops/loop_impl.h"
#include "lower/loops/to_loops_impl.h"
#include <string.h>

/* ---- stages ---- */

/* The group axis beside the outer ones that the node's values, or what it reduces, lie along:
 * LZ_NONE when there is one per outer point. A product has one for its sums. */
static uint32_t axis_of(const lz_group_build *b, const lz_fusion_node *n)
{
    uint32_t end = n->kind == LZ_FUSION_DOT ? n->first[n->rank] : n->ax.n;
    for (uint32_t x = 0; x < end; x++)
        if (n->axis[x] >= b->g->nouter)
            return n->axis[x];
    return LZ_NONE;
}

static void open_stage(lz_group_build *b, uint32_t level, uint32_t first, uint32_t second)
{
    uint32_t axes[2] = {first, second};
    lz_emit_begin_stage(&b->e);
    b->level = level;
    b->full = true;
    b->nrow = 0;
    b->row_dot = false;
    b->e.ax.n = b->g->nouter;
    for (uint32_t a = 0; a < b->g->nouter; a++)
        b->e.ax.ext[a] = b->g->ax.ext[a];
    for (int i = 0; i < 2; i++) {
        if (axes[i] == LZ_NONE)
            continue;
        b->loop_of[axes[i]] = (uint8_t)b->e.ax.n;
        b->e.ax.ext[b->e.ax.n++] = b->g->ax.ext[axes[i]];
    }
}

static lz_status keep_row(lz_group_build *b, const lz_fusion_node *n, uint32_t i)
{
    lz_ixmap m;
    uint8_t loop[LZ_LOOP_MAX];
    int32_t sop;
    if (b->nrow == LZ_ROW_MAX)
        return LZ_FAIL(LZ_EINTERNAL, "to_loops: more than %d rows", LZ_ROW_MAX);
    for (uint32_t a = 0; a < n->ax.n; a++)
        loop[a] = b->loop_of[n->axis[a]];
    lz_fusion_node_map(n, 0, n->rank, loop, &m);
    LZ_TRY(lz_emit_value(&b->e, n->v, &m, -1, &sop));
    if (b->e.stop)
        return LZ_FAIL(LZ_EINTERNAL, "to_loops: %%%u cannot be computed in place", b->e.realise);
    b->row_stage[i] = b->k->nstage;
    b->row_at[i] = b->nrow;
    b->row[b->nrow++] = sop;
    return LZ_OK;
}

/* The last level that has anything to do along an axis. 0 where there are products: nothing is
 * stored late there, for points of a block would wait for each other. */
static uint32_t last_level(const lz_group_build *b, uint32_t axis)
{
    uint32_t last = 0;
    if (lz_group_dot(b->fu, b->g))
        return 0;
    for (uint32_t i = 0; i < b->g->nodes.len; i++) {
        const lz_fusion_node *n = lz_build_node(b, i);
        if (axis_of(b, n) == axis && n->level > last && (n->kind != LZ_FUSION_POINT || n->stored))
            last = n->level;
    }
    return last;
}

/* What is a row may as well be stored when the kernel has read all it needs, at the last level:
 * then it can take the place of what it was made from. */
static bool stored_late(const lz_fusion_node *n, uint32_t last)
{
    return n->kind == LZ_FUSION_POINT && n->row && n->stored && last > n->level;
}

static lz_status do_node(lz_group_build *b, lz_fusion_node *n, uint32_t i, uint32_t last)
{
    b->current = b->g->nodes.data[i];
    if (n->kind == LZ_FUSION_REDUCE)
        return lz_build_reduction(b, n, i);
    if (n->kind == LZ_FUSION_DOT)
        return n->stored ? lz_build_results(b, n) : LZ_OK;
    if (n->row)
        LZ_TRY(keep_row(b, n, i));
    return (n->stored && !stored_late(n, last)) || n->spill ? lz_build_point(b, n) : LZ_OK;
}

/* All of one level along one axis; sums of products a level later, when they are there. */
static lz_status line_stage(lz_group_build *b, uint32_t level, uint32_t axis)
{
    uint32_t last = last_level(b, axis);
    open_stage(b, level, axis, LZ_NONE);
    for (uint32_t i = 0; i < b->g->nodes.len; i++) {
        lz_fusion_node *n = lz_build_node(b, i);
        if (n->level + (n->kind == LZ_FUSION_DOT) == level && axis_of(b, n) == axis)
            LZ_TRY(do_node(b, n, i, last));
    }
    for (uint32_t i = 0; i < b->g->nodes.len && level == last; i++) {
        lz_fusion_node *n = lz_build_node(b, i);
        b->current = b->g->nodes.data[i];
        if (axis_of(b, n) == axis && stored_late(n, last))
            LZ_TRY(lz_build_point(b, n)); /* from the row */
    }
    for (uint32_t i = 0; i < b->g->nodes.len; i++) {
        const lz_fusion_node *n = lz_build_node(b, i);
        if (n->kind == LZ_FUSION_POINT && n->level == level && axis_of(b, n) == axis &&
            (n->stored || n->spill) && !stored_late(n, last))
            b->stored_at[i] = b->k->nstage;
    }
    return lz_build_close(b);
}

static lz_status product_stage(lz_group_build *b, lz_fusion_node *n, uint32_t i)
{
    open_stage(b, n->level, axis_of(b, n), n->axis[n->first[n->rank]]);
    b->current = b->g->nodes.data[i];
    LZ_TRY(lz_build_reduction(b, n, i));
    b->row_dot = true;
    b->row_stage[i] = b->k->nstage;
    b->row_at[i] = 0;
    return lz_build_close(b);
}

lz_status lz_build_rows(lz_group_build *b, uint32_t top)
{
    for (uint32_t l = 0; l <= top + 1; l++) {
        for (uint32_t a = b->g->nouter; a < b->g->ax.n; a++)
            LZ_TRY(line_stage(b, l, a));
        for (uint32_t i = 0; i < b->g->nodes.len; i++) {
            lz_fusion_node *n = lz_build_node(b, i);
            if (n->kind == LZ_FUSION_DOT && n->level == l)
                LZ_TRY(product_stage(b, n, i));
        }
    }
    return lz_build_last(b);
}

/* ---- the last hand on the kernel ---- */

/* Loops that the factors of the stage's dot depend on. */
static lz_status factor_loops(const lz_kernel *k, const lz_stage *st, uint32_t *a, uint32_t *b)
{
    uint32_t *dep = lz_calloc(st->nsop + 1, sizeof *dep);
    if (!dep)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_stage_deps(k, st, dep);
    *a = dep[st->dot.a_sop];
    *b = dep[st->dot.b_sop];
    lz_free(dep);
    return LZ_OK;
}

/* Describes the dots of a B2B kernel. The factor that does not depend on n becomes the left one.
 * *free: outer loops that no right factor depends on. */
static lz_status describe_dots(lz_kernel *k, uint32_t *free)
{
    *free = (1u << k->nouter) - 1;
    for (uint32_t s = 0; s < k->nstage; s++) {
        lz_stage *st = &k->stages[s];
        uint32_t a = 0, b = 0;
        if (!lz_stage_is_row_dot(st))
            continue;
        if (!lz_stage_set_row_dot(k, s))
            return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': no product to keep", k->name);
        LZ_TRY(factor_loops(k, st, &a, &b));
        if (a >> k->nouter & 1) {
            lz_sop *mul = &st->sops[st->reds[0].value[0]];
            mul->a = st->dot.b_sop;
            mul->b = st->dot.a_sop;
            (void)lz_stage_set_row_dot(k, s);
            b = a;
        }
        *free &= ~b;
    }
    return LZ_OK;
}

/* A loop no right factor walks comes last: the last one of those that are not short. */
static lz_status choose_block(lz_kernel *k)
{
    enum { SHORT = 16 };
    uint8_t order[LZ_OUTER_MAX];
    uint32_t free, m = LZ_NONE, n = 0;
    LZ_TRY(describe_dots(k, &free));
    for (uint32_t l = 0; l < k->nouter; l++)
        if ((free >> l & 1) && (m == LZ_NONE || k->outer[l].v > SHORT || k->outer[m].v <= SHORT))
            m = l;
    if (m == LZ_NONE)
        return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': every outer loop has a right factor", k->name);
    for (uint32_t l = 0; l < k->nouter; l++)
        if (l != m)
            order[n++] = (uint8_t)l;
    order[n] = (uint8_t)m;
    lz_loops_permute_outer(k, order);
    return LZ_OK;
}

/* ---- quotients ---- */

/* The reduction accumulator `acc` of a stage belongs to, when it has one accumulator. */
static const lz_red *red_of(const lz_stage *st, uint32_t acc)
{
    for (uint32_t i = 0; i < st->nred; acc -= st->reds[i++].nacc)
        if (acc < st->reds[i].nacc)
            return st->reds[i].nacc == 1 ? &st->reds[i] : NULL;
    return NULL;
}

/* Both are the same element, without conditions. */
static bool same_element(const lz_access *a, const lz_access *b)
{
    return a->ndyn == 0 && a->guard < 0 && lz_access_eq(a, b);
}

/* Nothing in the kernel writes buffer b. */
static bool only_read(const lz_kernel *k, uint32_t b)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t j = 0; j < k->stages[s].nstore; j++)
            if (k->stages[s].stores[j].at.buf == b)
                return false;
    return true;
}

/* What op x of stage s reads is the value that stage m reduces. */
static bool same_value(const lz_kernel *k, const lz_stage *st, const lz_sop *x, int32_t m,
                       int32_t value)
{
    const lz_sop *y = &k->stages[m].sops[value];
    if (x->kind == LZ_S_LOAD && y->kind == LZ_S_LOAD) {
        const lz_access *a = &st->accs[x->a];
        return only_read(k, a->buf) && same_element(a, &k->stages[m].accs[y->a]);
    }
    if (x->kind != LZ_S_ROW)
        return false;
    return (y->kind == LZ_S_ROW && y->a == x->a && y->b == x->b) ||
           (x->a == m && !lz_stage_is_row_dot(&k->stages[m]) && k->stages[m].row[x->b] == value);
}

/* Op x of some stage is a sum of exp(v - max v): at least 1, at most as much as it has terms, or no
 * number. */
static bool sums_exponentials(const lz_kernel *k, const lz_sop *x)
{
    if (x->kind != LZ_S_RED)
        return false;
    const lz_stage *st = &k->stages[x->a];
    const lz_red *sum = red_of(st, (uint32_t)x->b);
    const lz_sop *e = sum && sum->comb == LZ_OP_ADD ? &st->sops[sum->value[0]] : NULL;
    if (!e || e->kind != LZ_S_EW || e->op != LZ_OP_EXPONENTIAL)
        return false;
    const lz_sop *d = &st->sops[e->a];
    const lz_sop *top = d->kind == LZ_S_EW && d->op == LZ_OP_SUBTRACT ? &st->sops[d->b] : NULL;
    if (!top || top->kind != LZ_S_RED)
        return false;
    const lz_red *max = red_of(&k->stages[top->a], (uint32_t)top->b);
    return max && max->comb == LZ_OP_MAXIMUM &&
           same_value(k, st, &st->sops[d->a], top->a, max->value[0]);
}

/* Whether op i divides a probability by its row's sum. */
static bool divides_by_sum(const lz_kernel *k, const lz_stage *st, uint32_t i)
{
    const lz_sop *q = &st->sops[i];
    return q->kind == LZ_S_EW && q->op == LZ_OP_DIVIDE &&
           (q->dtype == LZ_F32 || q->dtype == LZ_F64) && sums_exponentials(k, &st->sops[q->b]);
}

/* x / s as x (1 / s). */
static int32_t by_reciprocal(lz_stage_rewrite *w, const lz_sop *q)
{
    uint64_t one = 0;
    lz_elem_set_f64(q->dtype, &one, 0, 1);
    int32_t r = lz_sops_ew(&w->sops, LZ_OP_DIVIDE, q->dtype, lz_sops_const(&w->sops, q->dtype, one),
                           w->to[q->b], -1, NULL);
    return lz_sops_ew(&w->sops, LZ_OP_MULTIPLY, q->dtype, w->to[q->a], r, -1, NULL);
}

/* Probabilities: dividing by a sum of exponentials, once a row; the error of the reciprocal is less
 *   than that of an exponential, and a sum in that range has one. */
static lz_status divide_once(lz_kernel *k)
{
    for (uint32_t s = 0; s < k->nstage; s++) {
        lz_stage *st = &k->stages[s];
        lz_stage_rewrite w;
        bool any = false;
        for (uint32_t i = 0; i < st->nsop && st->ninner == 1; i++)
            any = any || divides_by_sum(k, st, i);
        if (!any)
            continue;
        LZ_TRY(lz_stage_rewrite_begin(&w, st));
        for (uint32_t i = 0; i < st->nsop; i++) {
            w.sops.node = st->sops[i].node;
            w.to[i] = divides_by_sum(k, st, i) ? by_reciprocal(&w, &st->sops[i])
                                               : lz_stage_rewrite_copy(&w, &st->sops[i]);
        }
        LZ_TRY(lz_stage_rewrite_end(&w, k));
    }
    return LZ_OK;
}

lz_status lz_loops_normalize_b2b(lz_kernel *k)
{
    lz_loops_merge_outer(k);
    LZ_TRY(choose_block(k));
    LZ_TRY(divide_once(k));
    k->vec = LZ_VEC_INNER;
    return LZ_OK;
}
