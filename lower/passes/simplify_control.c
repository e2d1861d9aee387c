/* simplify_control.c - pass `simplify_control`: while-loop and conditional simplification.
 * Does:      loop-invariant carried values are captured instead of carried; dead carried values
 *   are dropped; an if with a constant predicate becomes the branch it takes.
 * Needs:     nothing.   Recreates: nothing.   Breaks: simplify, fold (an inlined branch).
 * Cost:      O(instructions of a body x values carried / 64).
 * Off:       LAZULI_PASSES_OFF=simplify_control */
#include "ir/attr.h"
#include "lower/passes.h"
#include "lower/passes/rewrite.h"
#include "lower/effort.h"
#include <string.h>

enum { MOST = 4096 }; /* values carried by one loop that is looked at */

/* What became of the results of one operation: as many values as it has results. NULL: nothing. */
typedef struct fates {
    lz_val **of;           /* by instruction */
    uint32_t *uses;        /* by instruction */
    lz_val *result, *next; /* lz_func_result_lists */
    lz_arena arena;
} fates;

/* ---- what a loop must carry ---- */

typedef struct loop {
    const lz_func *cond, *body;
    uint32_t n, words;
    bool *wanted; /* by carried value */
    bool *same;   /* the body gives it back as it got it */
} loop;

static bool take(loop *x, const uint64_t *d, lz_val v)
{
    bool more = false;
    for (uint32_t k = 0; k < x->n; k++)
        if ((d[(size_t)v * x->words + k / 64] >> k % 64 & 1) && !x->wanted[k]) {
            x->wanted[k] = true;
            more = true;
        }
    return more;
}

/* What has effects happens. */
static void take_effects(loop *x, const uint64_t *d, const lz_func *f)
{
    for (uint32_t i = f->nparam; i < f->ninst && f->effects; i++)
        if (f->insts[i].sig->flags & LZ_F_EFFECT)
            (void)take(x, d, i);
}

/* Wanted: what somebody reads after the loop, what the condition looks at, effects, and what those
 *   need in turn. */
static lz_status find_wanted(loop *x)
{
    uint64_t *c = lz_rw_dependence(x->cond, 0, x->n), *b = lz_rw_dependence(x->body, 0, x->n);
    if (c && b) {
        (void)take(x, c, x->cond->results[0]);
        take_effects(x, c, x->cond);
        take_effects(x, b, x->body);
        for (bool more = true; more;) {
            more = false;
            for (uint32_t k = 0; k < x->n; k++)
                if (x->wanted[k])
                    more |= take(x, b, x->body->results[k]);
        }
    }
    lz_status s = c && b ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    lz_free(c);
    lz_free(b);
    return s;
}

/* What the new loop has for operands, and its regions for parameters: the carried values that stay
 * first, then those that do not change, then what was not carried. Returns how many; *stay: how
 * many of them are carried. */
static uint32_t order(const loop *x, uint32_t nopnd, uint32_t *of, uint32_t *stay)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < x->n; k++)
        if (x->wanted[k] && !x->same[k])
            of[n++] = k;
    *stay = n;
    for (uint32_t k = 0; k < x->n; k++)
        if (x->wanted[k] && x->same[k])
            of[n++] = k;
    for (uint32_t k = x->n; k < nopnd; k++)
        of[n++] = k;
    return n;
}

static lz_val rebuild(lz_rw *rw, uint32_t i, const loop *x, lz_val *fate)
{
    static const uint32_t answer = 0;
    const lz_inst *in = &rw->in->insts[i];
    uint32_t *of = lz_alloc(2 * ((size_t)in->sig->nopnd + 1) * sizeof *of), n, stay;
    lz_val v = LZ_NOVAL;
    if (!of) {
        rw->out->status = LZ_FAIL(LZ_EMEM, "out of memory");
        return v;
    }
    n = order(x, in->sig->nopnd, of, &stay);
    const lz_func *c = lz_rw_region(x->cond, of, n, &answer, 1);
    const lz_func *b = c ? lz_rw_region(x->body, of, n, of, stay) : NULL;
    if (b) {
        lz_val *opnd = of + n;
        for (uint32_t k = 0; k < n; k++)
            opnd[k] = lz_rw_opnd(rw, i, of[k]);
        v = lz_build_while(rw->out, c, b, opnd, n);
    } else {
        rw->out->status = lz_error_get()->status;
    }
    for (uint32_t k = 0; k < x->n && v != LZ_NOVAL; k++)
        fate[k] = lz_rw_opnd(rw, i, k);
    for (uint32_t k = 0; k < stay && v != LZ_NOVAL; k++)
        fate[of[k]] = lz_build_result(rw->out, v, k);
    lz_free(of);
    return v == LZ_NOVAL ? v : fate[0];
}

/* Marks the results of instruction i that are read. */
static void find_read(const lz_func *f, const fates *to, uint32_t i, bool *read)
{
    if (f->insts[i].sig->nresult == 1) {
        read[0] = true;
        return;
    }
    for (lz_val j = to->result[i]; j != LZ_NOVAL; j = to->next[j], lz_effort++)
        if (to->uses[j])
            read[LZ_ATTR(index, f->insts[j].sig->attr)->index] = true;
}

static lz_val slim_while(lz_rw *rw, uint32_t i, fates *to)
{
    const lz_inst *in = &rw->in->insts[i];
    const lz_attr_loop *a = LZ_ATTR(loop, in->sig->attr);
    uint32_t n = in->sig->nresult, stay = 0;
    loop x = {.cond = a->cond, .body = a->body, .n = n, .words = (n + 63) / 64};
    if (n > MOST)
        return LZ_NOVAL;
    x.wanted = lz_arena_alloc(&to->arena, 2 * (size_t)n);
    lz_val *fate = lz_arena_alloc(&to->arena, n * sizeof *fate);
    if (!x.wanted || !fate) {
        rw->out->status = LZ_FAIL(LZ_EMEM, "out of memory");
        return LZ_NOVAL;
    }
    memset(x.wanted, 0, 2 * (size_t)n);
    x.same = x.wanted + n;
    find_read(rw->in, to, i, x.wanted);
    rw->out->status = find_wanted(&x);
    if (rw->out->status != LZ_OK)
        return LZ_NOVAL;
    for (uint32_t k = 0; k < n; k++) {
        x.same[k] = a->body->results[k] == k;
        stay += x.wanted[k] && !x.same[k];
    }
    if (stay == n || stay == 0) /* nothing to do; or a loop that does nothing, or never ends */
        return LZ_NOVAL;
    to->of[i] = fate;
    return rebuild(rw, i, &x, fate);
}

/* ---- branches ---- */

static lz_val take_branch(lz_rw *rw, uint32_t i, fates *to)
{
    const lz_inst *in = &rw->in->insts[i];
    const lz_attr_branches *a = LZ_ATTR(branches, in->sig->attr);
    uint64_t on;
    if (!lz_rw_splat(rw->out, lz_rw_opnd(rw, i, 0), &on))
        return LZ_NOVAL;
    lz_val *fate =
        lz_arena_alloc(&to->arena, (in->sig->nresult + (size_t)in->sig->nopnd) * sizeof *fate);
    if (!fate) {
        rw->out->status = LZ_FAIL(LZ_EMEM, "out of memory");
        return LZ_NOVAL;
    }
    lz_val *opnd = fate + in->sig->nresult;
    for (uint32_t k = 1; k < in->sig->nopnd; k++)
        opnd[k - 1] = lz_rw_opnd(rw, i, k);
    if (lz_build_inline(rw->out, on & 1 ? a->true_branch : a->false_branch, opnd, fate) != LZ_OK)
        return LZ_NOVAL;
    to->of[i] = fate;
    return fate[0];
}

static lz_val control(lz_rw *rw, uint32_t i, void *user)
{
    fates *to = user;
    const lz_inst *in = &rw->in->insts[i];
    switch (lz_inst_op(in)) {
    case LZ_OP_WHILE:
        return slim_while(rw, i, to);
    case LZ_OP_IF:
        return take_branch(rw, i, to);
    case LZ_OP_RESULT:
        return to->of[in->opnd[0]] ? to->of[in->opnd[0]][LZ_ATTR(index, in->sig->attr)->index]
                                   : LZ_NOVAL;
    default:
        return LZ_NOVAL;
    }
}

lz_status lz_pass_simplify_control(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    (void)o;
    size_t n = (size_t)in->ninst + 1;
    fates to = {.of = lz_calloc(n, sizeof *to.of), .uses = lz_alloc(3 * n * sizeof *to.uses)};
    *out = NULL;
    lz_status s = to.of && to.uses ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    if (s == LZ_OK) {
        to.result = to.uses + n;
        to.next = to.result + n;
        lz_func_use_counts(in, to.uses);
        lz_func_result_lists(in, to.result, to.next);
        s = lz_rw_run(in, control, &to, out);
    }
    lz_free(to.of);
    lz_free(to.uses);
    lz_arena_free(&to.arena);
    return s;
}
