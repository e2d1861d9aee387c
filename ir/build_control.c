/* build_control.c - the builder's calls for functions in functions: copying one into another,
 * choosing one of many. See module.h.
 * Threads: thread-compatible. */
#include "ir/attr.h"
#include "ir/func.h"
#include <string.h>

/* What was a parameter of f may be a constant now: control flow takes it in. */
lz_val lz_build_copy(lz_func *to, const lz_sig *sig, const lz_val *opnd)
{
    if (lz_op_get(sig->op)->cls != LZ_CLASS_CONTROL)
        return lz_build_sig(to, sig, opnd);
    const lz_func *a = lz_attr_region(sig->attr, 0), *b = lz_attr_region(sig->attr, 1);
    return sig->op == LZ_OP_WHILE ? lz_build_while(to, a, b, opnd, sig->nopnd)
                                  : lz_build_if(to, a, b, opnd, sig->nopnd);
}

lz_val lz_build_copy_inst(lz_func *to, const lz_inst *in, const lz_val *map, lz_val *opnd)
{
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        opnd[k] = map[in->opnd[k]];
    return in->lit ? lz_build_const(to, in->lit) : lz_build_copy(to, in->sig, opnd);
}

/* map: room for f's values and, behind them, for the operands of one instruction. */
static lz_status copy_body(lz_func *to, const lz_func *f, lz_val *map, lz_val *opnd, bool origins)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        if (origins)
            to->now = lz_func_origin(f, i);
        map[i] = lz_build_copy_inst(to, &f->insts[i], map, opnd);
        if (map[i] == LZ_NOVAL)
            return to->status != LZ_OK ? to->status : lz_error_get()->status;
    }
    return LZ_OK;
}

static lz_status build_inline(lz_func *to, const lz_func *f, const lz_val *args, lz_val *results,
                              bool origins)
{
    lz_val *map = lz_alloc(((size_t)f->ninst + lz_func_widest(f)) * sizeof *map);
    if (!map)
        return to->status = LZ_FAIL(LZ_EMEM, "no memory to copy %s", f->name);
    if (f->nparam)
        memcpy(map, args, f->nparam * sizeof *map);
    const lz_origin now = to->now;
    lz_status s = copy_body(to, f, map, map + f->ninst, origins);
    to->now = now;
    for (uint32_t k = 0; k < f->nresult && s == LZ_OK; k++)
        results[k] = map[f->results[k]];
    lz_free(map);
    return s;
}

lz_status lz_build_inline(lz_func *to, const lz_func *f, const lz_val *args, lz_val *results)
{
    return build_inline(to, f, args, results, !to->derived);
}

lz_status lz_build_inline_nodes(lz_func *to, const lz_func *f, const lz_val *args, lz_val *results)
{
    return build_inline(to, f, args, results, true);
}

/* ---- what regions take ---- */

/* Two regions of the same values. Those from `own` on are only used inside: what no region uses is
 * left out, what comes twice comes once, and a constant is made again inside, where it can be
 * folded. */
typedef struct takes {
    const lz_func *r[2];
    const lz_val *opnd; /* by parameter */
    uint32_t n, own;
    bool *keep;     /* by parameter */
    uint32_t *same; /* the parameter that has its value */
} takes;

/* Marks the parameters that some region uses. */
static lz_status find_used(takes *t)
{
    for (int k = 0; k < 2; k++) {
        uint32_t *uses = lz_alloc(((size_t)t->r[k]->ninst + 1) * sizeof *uses);
        if (!uses)
            return LZ_FAIL(LZ_EMEM, "no memory for the values of %s", t->r[k]->name);
        lz_func_use_counts(t->r[k], uses);
        for (uint32_t i = 0; i < t->n; i++)
            t->keep[i] |= i < t->own || uses[i] > 0;
        lz_free(uses);
    }
    return LZ_OK;
}

/* Whether anything is to be done. */
static bool find_same(const lz_func *f, takes *t)
{
    bool change = false;
    lz_map seen = {0}; /* without memory for it, values stay twice */
    for (uint32_t i = t->own; i < t->n; i++) {
        t->same[i] = i;
        lz_hash h = {t->opnd[i], 1};
        uintptr_t j = t->keep[i] ? (uintptr_t)lz_map_get(&seen, h) : 0;
        if (j) {
            t->same[i] = (uint32_t)(j - 1);
            t->keep[i] = false;
        } else if (t->keep[i]) {
            (void)lz_map_put(&seen, h, (void *)((uintptr_t)i + 1));
            t->keep[i] = !f->insts[t->opnd[i]].lit;
        }
        change |= !t->keep[i];
    }
    lz_map_free(&seen);
    return change;
}

static const lz_func *smaller(const lz_func *f, const takes *t, const lz_func *r, lz_val *map)
{
    const lz_func *out = NULL;
    lz_func *g = lz_func_new(r->name);
    lz_val *results = lz_alloc(((size_t)r->nresult + 1) * sizeof *results);
    if (!results)
        (void)LZ_FAIL(LZ_EMEM, "no memory for %u results", r->nresult);
    if (g)
        g->derived = f->derived || r->derived;
    for (uint32_t i = 0; g && i < t->n; i++)
        map[i] = t->keep[i] ? lz_build_param(g, lz_val_type(r, i)) : LZ_NOVAL;
    for (uint32_t i = t->own; g && i < t->n; i++) {
        if (t->same[i] != i)
            map[i] = map[t->same[i]];
        else if (!t->keep[i] && f->insts[t->opnd[i]].lit)
            map[i] = lz_build_const(g, f->insts[t->opnd[i]].lit);
    }
    if (g && results && lz_build_inline_nodes(g, r, map, results) == LZ_OK &&
        lz_func_set_results(g, results, r->nresult) == LZ_OK)
        out = lz_region_intern(g);
    lz_free(results);
    lz_func_free(g);
    return out;
}

/* Rewrites t->r and the operands in `out`, which begin with those that are no parameters; *n: how
 * many are left. */
static lz_status tidy(const lz_func *f, takes *t, lz_val *out, uint32_t *n)
{
    if (t->r[0]->nparam != t->n || t->r[1]->nparam != t->n)
        return LZ_OK; /* the shape rule has something to say about it */
    LZ_TRY(find_used(t));
    if (!find_same(f, t))
        return LZ_OK;
    lz_val *map = lz_alloc(((size_t)t->n + 1) * sizeof *map);
    if (!map)
        return LZ_FAIL(LZ_EMEM, "no memory for %u values", t->n);
    for (int k = 0; k < 2 && t->r[k]; k++)
        t->r[k] = smaller(f, t, t->r[k], map);
    lz_free(map);
    if (!t->r[0] || !t->r[1])
        return lz_error_get()->status;
    *n = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->keep[i])
            out[(*n)++] = t->opnd[i];
    return LZ_OK;
}

/* before: operands that are no parameters. */
static lz_val build(lz_func *f, lz_op op, takes *t, const lz_val *opnd, uint32_t nopnd,
                    uint32_t before)
{
    lz_attr_any a;
    for (uint32_t i = 0; i < nopnd; i++)
        if (opnd[i] == LZ_NOVAL)
            return LZ_NOVAL;
    if (!t->r[0] || !t->r[1] || nopnd < before)
        return lz_func_failed(f);
    t->opnd = opnd + before;
    t->n = nopnd - before;
    size_t room = (size_t)nopnd + 1;
    lz_val *out = lz_alloc(room * (sizeof *out + sizeof *t->same + 1));
    if (!out) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for %u values", nopnd);
        return lz_func_failed(f);
    }
    t->same = out + room;
    t->keep = memset(t->same + room, 0, room);
    memcpy(out, opnd, nopnd * sizeof *out);
    uint32_t n = t->n;
    lz_val v = LZ_NOVAL;
    if (tidy(f, t, out + before, &n) == LZ_OK) {
        lz_attr_init(&a, lz_op_get(op)->attr);
        if (op == LZ_OP_WHILE) {
            a.as_loop.cond = t->r[0];
            a.as_loop.body = t->r[1];
        } else {
            a.as_branches.true_branch = t->r[0];
            a.as_branches.false_branch = t->r[1];
        }
        v = lz_build(f, op, &a.head, out, before + n);
    } else {
        (void)lz_func_failed(f);
    }
    lz_free(out);
    return v;
}

lz_val lz_build_if(lz_func *f, const lz_func *on_true, const lz_func *on_false, const lz_val *opnd,
                   uint32_t nopnd)
{
    takes t = {.r = {on_true, on_false}};
    return build(f, LZ_OP_IF, &t, opnd, nopnd, 1);
}

lz_val lz_build_while(lz_func *f, const lz_func *cond, const lz_func *body, const lz_val *opnd,
                      uint32_t nopnd)
{
    takes t = {.r = {cond, body}, .own = body ? body->nresult : 0};
    if (t.own > nopnd)
        t.own = nopnd;
    return build(f, LZ_OP_WHILE, &t, opnd, nopnd, 0);
}

/* ---- one of many ---- */

/* The branches of a case, each a function of the same values. Regions made here have the index
 * before those. */
typedef struct choice {
    const lz_func *const *branch;
    const lz_type *index;
    lz_val *v, *r; /* room for all values and the predicate; for the results */
} choice;

static lz_status params(const choice *c, lz_func *f)
{
    const lz_func *b = c->branch[0];
    c->v[1] = lz_build_param(f, c->index);
    for (uint32_t i = 0; i < b->nparam; i++)
        c->v[2 + i] = lz_build_param(f, lz_val_type(b, i));
    return f->status;
}

/* if (index < middle) the first of them, else the others, on the values in c->v from 1 on. */
static lz_status choose(const choice *c, lz_func *f, uint32_t middle, const lz_func *first,
                        const lz_func *others)
{
    uint32_t n = c->branch[0]->nparam;
    c->v[0] =
        lz_build_compare(f, LZ_CMP_LT, c->v[1], lz_build_scalar_i64(f, c->index->dtype, middle));
    lz_val v = lz_build_if(f, first, others, c->v, n + 2);
    for (uint32_t k = 0; k < c->branch[0]->nresult; k++)
        c->r[k] = lz_build_result(f, v, k);
    return f->status == LZ_OK && v == LZ_NOVAL ? lz_error_get()->status : f->status;
}

/* A region for branches lo..hi-1. Recursion: as deep as the logarithm of their number. */
static const lz_func *region_of(const choice *c, uint32_t lo, uint32_t hi)
{
    const lz_func *first = NULL, *others = NULL, *out = NULL;
    uint32_t middle = lo + (hi - lo) / 2;
    if (hi - lo > 1 &&
        (!(first = region_of(c, lo, middle)) || !(others = region_of(c, middle, hi))))
        return NULL;
    lz_func *f = lz_func_new("branch");
    if (f && params(c, f) == LZ_OK &&
        (first ? choose(c, f, middle, first, others)
               : lz_build_inline(f, c->branch[lo], c->v + 2, c->r)) == LZ_OK &&
        lz_func_set_results(f, c->r, c->branch[0]->nresult) == LZ_OK)
        out = lz_region_intern(f);
    lz_func_free(f);
    return out;
}

/* The index, or that of the last branch when it is none of 0..n-1. */
static lz_val into_range(lz_func *f, lz_val index, uint32_t n)
{
    lz_dtype d = lz_val_type(f, index)->dtype;
    lz_val zero = lz_build_scalar_i64(f, d, 0), last = lz_build_scalar_i64(f, d, n - 1);
    lz_val inside = lz_build_ew2(f, LZ_OP_AND, lz_build_compare(f, LZ_CMP_GE, index, zero),
                                 lz_build_compare(f, LZ_CMP_LE, index, last));
    return lz_build_select(f, inside, index, last);
}

lz_status lz_build_case(lz_func *f, lz_val index, const lz_func *const *branch, uint32_t n,
                        const lz_val *opnd, lz_val *results)
{
    uint32_t nopnd = branch[0]->nparam, nres = branch[0]->nresult;
    if (index == LZ_NOVAL || f->status != LZ_OK)
        return f->status;
    if (!lz_dtype_is_int(lz_val_type(f, index)->dtype) || lz_val_type(f, index)->shape.rank != 0)
        return f->status = LZ_FAIL(LZ_EDTYPE, "case: the index is not an integer scalar");
    for (uint32_t i = 1; i < n; i++)
        if (branch[i]->nparam != nopnd || branch[i]->nresult != nres)
            return f->status = LZ_FAIL(LZ_EINVAL, "case: branch %u has %u results, branch 0 has %u",
                                       i, branch[i]->nresult, nres);
    if (n == 1)
        return lz_build_inline(f, branch[0], opnd, results);
    if (lz_val_type(f, index)->dtype !=
        LZ_I32) /* a narrow one may not hold the branches' numbers */
        index = lz_build_convert(f, index, LZ_I64);
    if (index == LZ_NOVAL)
        return f->status;
    const lz_type *t = lz_val_type(f, index);
    lz_val *room = lz_alloc(((size_t)nopnd + 2 + nres) * sizeof *room);
    if (!room)
        return f->status = LZ_FAIL(LZ_EMEM, "no memory for a case of %u branches", n);
    choice c = {branch, t, room, room + nopnd + 2};
    const lz_func *first = region_of(&c, 0, n / 2),
                  *others = first ? region_of(&c, n / 2, n) : NULL;
    lz_status s = others ? LZ_OK : (f->status = lz_error_get()->status);
    if (s == LZ_OK) {
        room[1] = into_range(f, index, n);
        if (nopnd)
            memcpy(room + 2, opnd, nopnd * sizeof *room);
        s = choose(&c, f, n / 2, first, others);
        memcpy(results, c.r, nres * sizeof *results);
    }
    lz_free(room);
    return s;
}
