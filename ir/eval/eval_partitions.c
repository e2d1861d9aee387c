/* eval_partitions.c - reference runs of several partitions in lock step. See eval_partitions.h.
 * Threads: pure. */
#include "ir/eval/eval_partitions.h"
#include "ir/attr.h"
#include "ir/eval/eval_frame.h"
#include <inttypes.h>
#include <string.h>

/* Partitions that run side by side: all, or one alone where nobody meets. */
typedef struct team {
    int64_t first, n; /* n is that of the program where it may come to a collective */
    lz_collective_uses *uses;
} team;

static lz_status run_team(const team *t, const lz_func *f, lz_literal *const *const *args,
                          lz_literal ***results, int depth);

/* ---- arrays of arrays ---- */

/* rows[i] of n rows: m pointers each, all NULL. One block. */
static lz_literal ***rows_new(int64_t n, size_t m)
{
    lz_literal ***v = lz_calloc((size_t)n, sizeof *v + m * sizeof **v);
    for (int64_t i = 0; v && i < n; i++)
        v[i] = (lz_literal **)(void *)(v + n) + (size_t)i * m;
    return v;
}

static void rows_release(lz_literal ***v, int64_t n, size_t m)
{
    for (int64_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++) {
            lz_literal_release(v[i][k]);
            v[i][k] = NULL;
        }
}

static lz_status no_memory(const team *t)
{
    return LZ_FAIL(LZ_EMEM, "reference run: no memory for %" PRId64 " partitions", t->n);
}

/* ---- control flow ---- */

/* What all say; they must say the same. */
static lz_status agree(const team *t, const char *op, lz_literal *const *const *p, bool *out)
{
    for (int64_t i = 0; i < t->n; i++) {
        bool v = *(const uint8_t *)p[i][0]->data != 0;
        if (i && v != *out)
            return LZ_FAIL(LZ_EINVAL,
                           "%s: the predicates of partitions 0 and %" PRId64
                           " differ, and there are collectives in it",
                           op, i);
        *out = v;
    }
    return LZ_OK;
}

static lz_status holds(const team *t, const lz_func *cond, lz_literal *const *const *args,
                       int depth, bool *out)
{
    lz_literal ***p = rows_new(t->n, 1);
    if (!p)
        return no_memory(t);
    lz_status s = run_team(t, cond, args, p, depth);
    if (s == LZ_OK)
        s = agree(t, "while", (lz_literal *const *const *)p, out);
    rows_release(p, t->n, 1);
    lz_free(p);
    return s;
}

/* args: the operands of each, the carried values first, of which they have references. */
static lz_status iterate(const team *t, const lz_sig *sig, lz_literal ***args, lz_literal ***next,
                         int depth)
{
    const lz_attr_loop *a = LZ_ATTR(loop, sig->attr);
    for (;;) {
        bool more = false;
        LZ_TRY(holds(t, a->cond, (lz_literal *const *const *)args, depth, &more));
        if (!more)
            return LZ_OK;
        LZ_TRY(run_team(t, a->body, (lz_literal *const *const *)args, next, depth));
        rows_release(args, t->n, sig->nresult);
        for (int64_t i = 0; i < t->n; i++) {
            memcpy(args[i], next[i], sig->nresult * sizeof **args);
            memset(next[i], 0, sig->nresult * sizeof **next);
        }
    }
}

static lz_status run_while(const team *t, const lz_sig *sig, lz_literal *const *const *opnds,
                           lz_literal ***results, int depth)
{
    lz_literal ***args = rows_new(t->n, sig->nopnd), ***next = rows_new(t->n, sig->nresult);
    lz_status s = args && next ? LZ_OK : no_memory(t);
    for (int64_t i = 0; i < t->n && s == LZ_OK; i++) {
        memcpy(args[i], opnds[i], sig->nopnd * sizeof **args);
        for (uint32_t k = 0; k < sig->nresult; k++)
            lz_literal_retain(args[i][k]);
    }
    if (s == LZ_OK)
        s = iterate(t, sig, args, next, depth);
    for (int64_t i = 0; i < t->n && s == LZ_OK; i++) {
        memcpy(results[i], args[i], sig->nresult * sizeof **args);
        memset(args[i], 0, sig->nresult * sizeof **args);
    }
    if (args && next)
        rows_release(args, t->n, sig->nresult);
    lz_free(args);
    lz_free(next);
    return s;
}

static lz_status run_if(const team *t, const lz_sig *sig, lz_literal *const *const *opnds,
                        lz_literal ***results, int depth)
{
    const lz_attr_branches *a = LZ_ATTR(branches, sig->attr);
    lz_literal ***args = rows_new(t->n, sig->nopnd);
    bool p = false;
    lz_status s = args ? agree(t, "if", opnds, &p) : no_memory(t);
    for (int64_t i = 0; i < t->n && s == LZ_OK; i++)
        memcpy(args[i], opnds[i] + 1, (sig->nopnd - 1) * sizeof **args);
    if (s == LZ_OK)
        s = run_team(t, p ? a->true_branch : a->false_branch, (lz_literal *const *const *)args,
                     results, depth);
    lz_free(args);
    return s;
}

static lz_status run_control(const team *t, const lz_sig *sig, lz_literal *const *const *opnds,
                             lz_literal ***results, int depth)
{
    return (sig->op == LZ_OP_WHILE ? run_while : run_if)(t, sig, opnds, results, depth);
}

/* ---- one instruction of all ---- */

/* How an instruction runs. */
typedef enum manner {
    ALONE,   /* each partition for itself, by the plain evaluator */
    APART,   /* each for itself, but it asks for its number */
    TOGETHER /* they meet in it */
} manner;

static manner manner_of(const lz_sig *sig)
{
    const lz_func *r;
    manner m = ALONE;
    if (lz_op_get(sig->op)->cls == LZ_CLASS_COLLECTIVE)
        return TOGETHER;
    for (int k = 0; (r = lz_attr_region(sig->attr, k)); k++) {
        if (lz_func_has_collective(r))
            return TOGETHER;
        m = lz_func_has_partition_id(r) ? APART : m;
    }
    return m;
}

static lz_status collective(const team *t, const lz_ref_frame *f, uint32_t at,
                            lz_literal *const *const *opnds, lz_literal ***results)
{
    const lz_sig *sig = f->f->insts[at].sig;
    lz_participants g;
    lz_arena arena = {0};
    lz_status s = lz_participants_of(sig, t->n, &arena, &g);
    if (s == LZ_OK)
        s = lz_ref_collective_all(sig, &g, opnds, results);
    if (s == LZ_OK && t->uses)
        s = lz_collective_count(t->uses, sig, &f->f->insts[at], g.largest);
    lz_arena_free(&arena);
    return s;
}

static lz_status meet(const team *t, const lz_ref_frame *f, uint32_t at,
                      lz_literal *const *const *opnds, lz_literal ***results, int depth)
{
    const lz_sig *sig = f->f->insts[at].sig;
    bool control = sig->op == LZ_OP_WHILE || sig->op == LZ_OP_IF;
    manner m = manner_of(sig);
    if (m == TOGETHER && !control && lz_op_get(sig->op)->cls != LZ_CLASS_COLLECTIVE)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: a collective in its region", lz_op_get(sig->op)->text);
    if (m == APART && !control)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: partition_id in its region", lz_op_get(sig->op)->text);
    if (m == TOGETHER)
        return control ? run_control(t, sig, opnds, results, depth + 1)
                       : collective(t, f, at, opnds, results);
    for (int64_t i = 0; i < t->n; i++) {
        const team one = {.first = t->first + i, .n = 1};
        LZ_TRY(run_control(&one, sig, opnds + i, results + i, depth + 1));
    }
    return LZ_OK;
}

static lz_status step_together(const team *t, lz_ref_frame *f, uint32_t at, int depth)
{
    const lz_inst *in = &f->f->insts[at];
    lz_literal ***opnds = rows_new(t->n, in->sig->nopnd);
    lz_literal ***results = lz_alloc((size_t)t->n * sizeof *results);
    lz_status s = opnds && results ? LZ_OK : no_memory(t);
    for (int64_t i = 0; i < t->n && s == LZ_OK; i++) {
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            opnds[i][k] = f[i].val[f[i].first[in->opnd[k]]];
        results[i] = &f[i].val[f[i].first[at]];
    }
    if (s == LZ_OK)
        s = meet(t, f, at, (lz_literal *const *const *)opnds, results, depth);
    lz_free(opnds);
    lz_free(results);
    return s;
}

static lz_status number(lz_ref_frame *f, uint32_t at, int64_t partition)
{
    lz_literal *l = lz_literal_scalar_i64(LZ_U32, partition);
    f->val[f->first[at]] = l;
    return l ? LZ_OK : LZ_EMEM;
}

static lz_status step(const team *t, lz_ref_frame *f, uint32_t at, lz_literal *const *const *args,
                      int depth)
{
    const lz_sig *sig = f->f->insts[at].sig;
    if (manner_of(sig) != ALONE)
        return step_together(t, f, at, depth);
    for (int64_t i = 0; i < t->n; i++)
        LZ_TRY(sig->op == LZ_OP_PARTITION_ID ? number(&f[i], at, t->first + i)
                                             : lz_ref_frame_step(&f[i], at, args[i], depth));
    return LZ_OK;
}

/* ---- a function ---- */

static lz_status run_frames(const team *t, lz_ref_frame *f, lz_literal *const *const *args,
                            int depth)
{
    for (uint32_t at = 0; at < f->f->ninst; at++) {
        if (f->uses[at] == 0)
            continue; /* the same for all */
        LZ_TRY(step(t, f, at, args, depth));
        for (int64_t i = 0; i < t->n; i++)
            lz_ref_frame_used(&f[i], at);
    }
    return LZ_OK;
}

/* Recursion: regions, as deep as they nest. */
static lz_status run_team(const team *t, const lz_func *f, lz_literal *const *const *args,
                          lz_literal ***results, int depth)
{
    lz_ref_frame *v = lz_calloc((size_t)t->n, sizeof *v);
    lz_status s = v ? LZ_OK : no_memory(t);
    for (int64_t i = 0; i < t->n && s == LZ_OK; i++)
        s = lz_ref_frame_begin(&v[i], f, args[i], depth);
    if (s == LZ_OK)
        s = run_frames(t, v, args, depth);
    for (int64_t i = 0; v && i < t->n; i++) {
        if (s == LZ_OK)
            lz_ref_frame_results(&v[i], results[i]);
        lz_ref_frame_end(&v[i]);
    }
    lz_free(v);
    return s;
}

lz_status lz_ref_count_partitions(const lz_func *local, int64_t n, lz_literal *const *const *args,
                                  lz_literal ***results, lz_collective_uses *uses)
{
    if (n < 1 || n > LZ_MAX_PARTITIONS)
        return LZ_FAIL(LZ_ERANGE, "'%s': %" PRId64 " partitions", local->name, n);
    const team t = {.n = n, .uses = uses};
    for (int64_t i = 0; i < n; i++)
        memset(results[i], 0, local->nresult * sizeof **results);
    return run_team(&t, local, args, results, 0);
}

lz_status lz_ref_run_partitions(const lz_func *local, int64_t n, lz_literal *const *const *args,
                                lz_literal ***results)
{
    return lz_ref_count_partitions(local, n, args, results, NULL);
}
