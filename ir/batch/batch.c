/* batch.c - the walk over a function, and what the rules share. See batch.h. Regions nest no deeper
 * than LZ_MAX_REGION_DEPTH, so recursion into them is bounded; within a function nothing
 * recurses. */
#include "ir/batch/batch.h"
#include "ir/counted.h"
#include "ir/func.h"
#include <string.h>

static lz_batch_fn *const rules[LZ_OP_COUNT] = {
#define LZ_EW(...)
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, ...)               \
    [LZ_OP_##E] = lz_batch_##batch,
#include "ir/ops.def"
};

/* ---- what rules share ---- */

lz_shape lz_batch_shape(int64_t n, const lz_shape *s)
{
    int64_t dims[LZ_MAX_RANK + 1] = {n};
    memcpy(dims + 1, s->dims, sizeof s->dims);
    return lz_shape_make(s->rank + 1, dims);
}

lz_ints lz_batch_list(int64_t first, const lz_ints *rest)
{
    int64_t v[LZ_MAX_RANK + 1] = {first};
    memcpy(v + 1, rest->v, sizeof rest->v);
    return lz_ints_make(rest->n + 1, v);
}

lz_ints lz_batch_shift(const lz_ints *v)
{
    lz_ints r = *v;
    for (int i = 0; i < r.n; i++)
        r.v[i]++;
    return r;
}

lz_val lz_batch_front(lz_func *to, lz_val x, int64_t n, bool mapped)
{
    if (mapped || x == LZ_NOVAL)
        return x;
    lz_shape s = lz_batch_shape(n, &lz_val_type(to, x)->shape);
    lz_ints dims = {.n = s.rank - 1};
    for (int i = 0; i < dims.n; i++)
        dims.v[i] = i + 1;
    return lz_build_broadcast(to, x, &dims, &s);
}

lz_val lz_batch_opnd(const lz_batch *b, uint32_t k)
{
    return lz_batch_front(b->to, b->opnd[k], b->n, b->mapped[k]);
}

lz_status lz_batch_gave(const lz_batch *b, lz_val v)
{
    b->out[0] = v;
    return b->to->status;
}

lz_status lz_batch_build(const lz_batch *b, const lz_attr *record, const lz_val *opnd)
{
    lz_val v = lz_build(b->to, b->sig->op, record, opnd, b->sig->nopnd);
    for (uint32_t k = 0; k < b->sig->nresult; k++)
        b->out[k] = lz_build_result(b->to, v, k);
    return b->to->status;
}

lz_status lz_batch_all(const lz_batch *b, const lz_attr *record)
{
    lz_val *opnd = lz_alloc(((size_t)b->sig->nopnd + 1) * sizeof *opnd);
    if (!opnd)
        return LZ_FAIL(LZ_EMEM, "no memory for %u operands", b->sig->nopnd);
    for (uint32_t k = 0; k < b->sig->nopnd; k++)
        opnd[k] = lz_batch_opnd(b, k);
    lz_status s = lz_batch_build(b, record, opnd);
    lz_free(opnd);
    return s;
}

/* ---- rules without an operation ---- */

lz_status lz_batch_plain(const lz_batch *b)
{
    return lz_batch_all(b, b->sig->attr);
}

/* A leaf has no operand that could be mapped. */
lz_status lz_batch_none(const lz_batch *b)
{
    return LZ_FAIL(LZ_EINTERNAL, "%s has no batching rule", lz_op_get(b->sig->op)->text);
}

lz_status lz_batch_collective(const lz_batch *b)
{
    return LZ_FAIL(LZ_EUNSUPPORTED, "%s: of many examples at once is not supported",
                   lz_op_get(b->sig->op)->text);
}

lz_status lz_batch_result(const lz_batch *b)
{
    return lz_batch_none(b); /* the walk reads results itself */
}

/* Of clamp and select, a number for all elements of one example. */
static lz_val spread(const lz_batch *b, uint32_t k)
{
    const lz_shape *one = &b->sig->result[0]->shape;
    if (b->sig->opnd[k]->shape.rank == one->rank)
        return lz_batch_opnd(b, k);
    const lz_ints examples = {.n = 1};
    lz_shape s = lz_batch_shape(b->n, one);
    return b->mapped[k] ? lz_build_broadcast(b->to, b->opnd[k], &examples, &s) : b->opnd[k];
}

static lz_status elementwise(const lz_batch *b)
{
    lz_val opnd[3];
    for (uint32_t k = 0; k < b->sig->nopnd; k++)
        opnd[k] = spread(b, k);
    return lz_batch_build(b, b->sig->attr, opnd);
}

/* ---- one example after the other ---- */

/* Parameters: the round, a stack for each result, the operands. v: room for all and for the
 *   results. */
static lz_status build_example(const lz_batch *b, lz_func *f, const lz_type *const *stack,
                               lz_val *v)
{
    const lz_sig *sig = b->sig;
    lz_val *opnd = v + 1 + sig->nresult, *out = opnd + sig->nopnd;
    v[0] = lz_build_param(f, lz_type_get(LZ_I64, &(lz_shape){.rank = 0}));
    for (uint32_t k = 0; k < sig->nresult; k++)
        v[1 + k] = lz_build_param(f, stack[k]);
    for (uint32_t k = 0; k < sig->nopnd; k++)
        opnd[k] = lz_build_param(f, lz_val_type(b->to, b->opnd[k]));
    LZ_TRY(f->status);
    for (uint32_t k = 0; k < sig->nopnd; k++)
        if (b->mapped[k])
            opnd[k] = lz_loop_slice(f, opnd[k], v[0]);
    lz_val r = lz_build_sig(f, sig, opnd);
    for (uint32_t k = 0; k < sig->nresult; k++)
        out[k] = lz_loop_put(f, v[1 + k], lz_build_result(f, r, k), v[0]);
    return f->status != LZ_OK ? f->status : lz_func_set_results(f, out, sig->nresult);
}

static lz_status run_examples(const lz_batch *b, const lz_type *const *stack, lz_val *v)
{
    const lz_sig *sig = b->sig;
    lz_func *f = lz_func_new("example");
    const lz_func *body = NULL;
    lz_status s = f ? build_example(b, f, stack, v) : LZ_EMEM;
    if (s == LZ_OK && !(body = lz_region_intern(f)))
        s = lz_error_get()->status;
    lz_func_free(f);
    LZ_TRY(s);
    for (uint32_t k = 0; k < sig->nresult; k++)
        v[k] = lz_build_splat(b->to, stack[k], 0);
    memcpy(v + sig->nresult, b->opnd, sig->nopnd * sizeof *v);
    return lz_build_count(b->to, body, b->n, v, sig->nresult + sig->nopnd, sig->nresult, b->out);
}

lz_status lz_batch_each(const lz_batch *b)
{
    const lz_sig *sig = b->sig;
    size_t n = 1 + 2 * (size_t)sig->nresult + sig->nopnd;
    lz_val *v = lz_alloc(n * sizeof *v);
    const lz_type **stack = lz_calloc((size_t)sig->nresult + 1, sizeof *stack);
    lz_status s = v && stack ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u operands", sig->nopnd);
    for (uint32_t k = 0; k < sig->nresult && s == LZ_OK; k++)
        if (!(stack[k] = lz_loop_stack_type(sig->result[k], b->n)))
            s = lz_error_get()->status;
    if (s == LZ_OK && b->n > 0)
        s = run_examples(b, stack, v);
    for (uint32_t k = 0; k < sig->nresult && s == LZ_OK && b->n == 0; k++)
        b->out[k] = lz_build_splat(b->to, stack[k], 0);
    lz_free(v);
    lz_free(stack);
    return s != LZ_OK ? s : b->to->status;
}

/* ---- the walk ---- */

typedef struct walk {
    lz_func *to; /* NULL: only what is mapped */
    const lz_func *f;
    int64_t n;
    uint32_t *at; /* per instruction: its first value in val and mapped */
    lz_val *val;
    bool *mapped;
    lz_val *opnd; /* of one instruction */
    bool *is;
} walk;

static lz_status open_walk(walk *w)
{
    uint32_t total = 0, widest = lz_func_widest(w->f);
    w->at = lz_alloc(((size_t)w->f->ninst + 1) * sizeof *w->at);
    for (uint32_t i = 0; w->at && i < w->f->ninst; i++) {
        const lz_sig *sig = w->f->insts[i].sig;
        w->at[i] = total;
        total += sig->nresult;
    }
    w->val = lz_alloc(((size_t)total + widest) * sizeof *w->val);
    w->mapped = lz_calloc((size_t)total + widest, sizeof *w->mapped);
    if (!w->at || !w->val || !w->mapped)
        return LZ_FAIL(LZ_EMEM, "no memory for the values of %s", w->f->name);
    w->opnd = w->val + total;
    w->is = w->mapped + total;
    return LZ_OK;
}

static void close_walk(walk *w)
{
    lz_free(w->at);
    lz_free(w->val);
    lz_free(w->mapped);
}

/* The same for all examples: as it is. */
static lz_status keep_inst(walk *w, const lz_inst *in, lz_val *out)
{
    if (!w->to)
        return LZ_OK;
    lz_val v = in->lit ? lz_build_const(w->to, in->lit) : lz_build_copy(w->to, in->sig, w->opnd);
    for (uint32_t k = 0; k < in->sig->nresult; k++)
        out[k] = lz_build_result(w->to, v, k);
    return w->to->status;
}

static lz_status check_rank(const lz_sig *sig)
{
    const lz_type *t = NULL;
    for (uint32_t k = 0; k < sig->nopnd + sig->nresult; k++) {
        const lz_type *u = k < sig->nopnd ? sig->opnd[k] : sig->result[k - sig->nopnd];
        t = !t || u->shape.rank > t->shape.rank ? u : t;
    }
    char text[128];
    if (t->shape.rank == LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE,
                       "%s: there is no room for one more dimension, that of the examples, beside "
                       "the %d of %s",
                       lz_op_get(sig->op)->text, LZ_MAX_RANK, lz_type_short(t, text, sizeof text));
    return LZ_OK;
}

static lz_status map_inst(walk *w, const lz_inst *in, lz_val *out, bool *out_mapped)
{
    lz_op_class cls = lz_op_get(in->sig->op)->cls;
    lz_batch b = {w->to, w->n, in->sig, w->opnd, w->is, out, out_mapped};
    memset(out_mapped, true, in->sig->nresult);
    if (!w->to && cls != LZ_CLASS_CONTROL && cls != LZ_CLASS_META)
        return LZ_OK;
    lz_batch_fn *rule = cls == LZ_CLASS_EW ? elementwise : rules[in->sig->op];
    LZ_TRY(check_rank(in->sig));
    return rule(&b);
}

static lz_status walk_inst(walk *w, uint32_t i)
{
    const lz_inst *in = &w->f->insts[i];
    lz_val *out = w->val + w->at[i];
    bool *out_mapped = w->mapped + w->at[i], any = false;
    if (in->sig->op == LZ_OP_RESULT) {
        uint32_t from = w->at[in->opnd[0]] + (uint32_t)LZ_ATTR(index, in->sig->attr)->index;
        *out = w->val[from];
        *out_mapped = w->mapped[from];
        return LZ_OK;
    }
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        w->opnd[k] = w->val[w->at[in->opnd[k]]];
        any |= w->is[k] = w->mapped[w->at[in->opnd[k]]];
    }
    uint32_t before = w->to ? w->to->ninst : 0;
    LZ_TRY(any ? map_inst(w, in, out, out_mapped) : keep_inst(w, in, out));
    for (uint32_t k = before; w->to && k < w->to->ninst; k++) {
        w->to->insts[k].site = in->site;
        w->to->insts[k].scope = in->scope;
    }
    return LZ_OK;
}

static lz_status run_walk(walk *w, const lz_val *args, const bool *mapped, lz_val *results,
                          bool *out_mapped)
{
    LZ_TRY(open_walk(w));
    for (uint32_t i = 0; i < w->f->nparam; i++) {
        w->val[i] = args ? args[i] : 0;
        w->mapped[i] = mapped[i];
    }
    for (uint32_t i = w->f->nparam; i < w->f->ninst; i++)
        LZ_TRY(walk_inst(w, i));
    for (uint32_t k = 0; k < w->f->nresult; k++) {
        if (results)
            results[k] = w->val[w->at[w->f->results[k]]];
        out_mapped[k] = w->mapped[w->at[w->f->results[k]]];
    }
    return LZ_OK;
}

lz_status lz_batch_inline(lz_func *to, const lz_func *f, int64_t n, const lz_val *args,
                          const bool *mapped, lz_val *results, bool *out_mapped)
{
    walk w = {.to = to, .f = f, .n = n};
    lz_status s = run_walk(&w, args, mapped, results, out_mapped);
    close_walk(&w);
    return s;
}

lz_status lz_batch_flow(const lz_func *f, const bool *mapped, bool *out_mapped)
{
    walk w = {.f = f};
    lz_status s = run_walk(&w, NULL, mapped, NULL, out_mapped);
    close_walk(&w);
    return s;
}

static lz_status build_region(lz_func *to, const lz_func *f, int64_t n, const bool *mapped,
                              const bool *want, lz_val *v, bool *is)
{
    for (uint32_t i = 0; i < f->nparam; i++) {
        const lz_type *t = lz_val_type(f, i);
        lz_shape s = lz_batch_shape(n, &t->shape);
        v[i] = lz_build_param(to, mapped[i] ? lz_type_get(t->dtype, &s) : t);
    }
    LZ_TRY(to->status);
    lz_val *out = v + f->nparam;
    LZ_TRY(lz_batch_inline(to, f, n, v, mapped, out, is));
    for (uint32_t k = 0; k < f->nresult; k++)
        if (want[k])
            out[k] = lz_batch_front(to, out[k], n, is[k]);
    return to->status != LZ_OK ? to->status : lz_func_set_results(to, out, f->nresult);
}

const lz_func *lz_batch_region(const lz_func *f, int64_t n, const bool *mapped, const bool *want)
{
    lz_func *to = lz_func_new(f->name);
    lz_val *v = lz_alloc(((size_t)f->nparam + f->nresult + 1) * sizeof *v);
    bool *is = lz_calloc((size_t)f->nresult + 1, sizeof *is);
    const lz_func *r = NULL;
    if (!to || !v || !is)
        (void)LZ_FAIL(LZ_EMEM, "no memory for %s", f->name);
    else if (build_region(to, f, n, mapped, want, v, is) == LZ_OK)
        r = lz_region_intern(to);
    lz_func_free(to);
    lz_free(v);
    lz_free(is);
    return r;
}
