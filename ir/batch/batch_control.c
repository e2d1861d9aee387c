/* batch_control.c - batching rules of control flow and barriers. What chooses may be the same for
 * all examples: then it chooses for all. When it is each example's own, a loop runs as long as any
 * example goes on, and of branches both run; what counts is selected. See batch.h. */
#include "ir/batch/batch.h"
#include "ir/sharding/sharding.h"
#include <string.h>

#define ATTRS(kind) LZ_ATTR(kind, b->sig->attr)

/* ---- barriers ---- */

lz_status lz_batch_barrier(const lz_batch *b)
{
    memcpy(b->out_mapped, b->mapped, b->sig->nresult * sizeof *b->mapped);
    return b->to ? lz_batch_build(b, b->sig->attr, b->opnd) : LZ_OK;
}

/* The examples may lie on the devices in any way. */
lz_status lz_batch_sharding(const lz_batch *b)
{
    const lz_sharding *one = lz_sharding_parse(ATTRS(sharding)->sharding);
    lz_attr_sharding a = {.kind = LZ_ATTR_sharding};
    lz_sharding many;
    if (!b->to)
        return LZ_OK;
    if (!one)
        return lz_error_get()->status;
    if (one->rank == LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE, "%s: of many examples would have more than %d dimensions",
                       lz_op_get(b->sig->op)->text, LZ_MAX_RANK);
    many = *one;
    many.rank = one->rank + 1;
    many.open = one->open << 1 | 1;
    many.priority[0] = 0;
    many.dims[0] = (lz_axis_list){0};
    for (int d = 0; d < one->rank; d++) {
        many.priority[d + 1] = one->priority[d];
        many.dims[d + 1] = one->dims[d];
    }
    const lz_sharding *s = lz_sharding_get(&many);
    a.sharding = s ? lz_sharding_text(s) : NULL;
    return a.sharding ? lz_batch_build(b, (const lz_attr *)(const void *)&a, b->opnd)
                      : lz_error_get()->status;
}

/* The results are each example's own, and so are the gradients, for every input: one that is the
 * same for all has the sum of them. */
lz_status lz_batch_custom_vjp(const lz_batch *b)
{
    const lz_attr_custom_vjp *a = ATTRS(custom_vjp);
    const lz_func *f = a->backward;
    uint32_t n = (uint32_t)a->results, fixed = n + f->nresult;
    if (!b->to)
        return LZ_OK;
    bool *is = lz_calloc((size_t)f->nparam + f->nresult + 1, sizeof *is);
    lz_val *opnd = lz_alloc(((size_t)b->sig->nopnd + 1) * sizeof *opnd);
    lz_status s = is && opnd ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u values", b->sig->nopnd);
    if (s == LZ_OK) {
        lz_attr_custom_vjp all = *a;
        bool *want = is + f->nparam;
        for (uint32_t i = 0; i < f->nparam; i++)
            is[i] = i < 2 * n || b->mapped[i - n + f->nresult];
        memset(want, true, f->nresult);
        for (uint32_t k = 0; k < b->sig->nopnd; k++)
            opnd[k] = k < fixed ? lz_batch_opnd(b, k) : b->opnd[k];
        all.backward = lz_batch_region(f, b->n, is, want);
        s = all.backward ? lz_batch_build(b, (const lz_attr *)&all, opnd) : lz_error_get()->status;
    }
    lz_free(is);
    lz_free(opnd);
    return s;
}

/* ---- what is chosen ---- */

/* a where pred, else b: pred is one boolean for each example. */
static lz_val choose(lz_func *to, lz_val pred, lz_val a, lz_val b)
{
    if (pred == LZ_NOVAL || a == LZ_NOVAL)
        return LZ_NOVAL;
    const lz_ints examples = {.n = 1};
    return lz_build_select(to, lz_build_broadcast(to, pred, &examples, &lz_val_type(to, a)->shape),
                           a, b);
}

/* ---- while ---- */

typedef struct loop {
    const lz_batch *b;
    const lz_func *cond, *body;
    uint32_t n, ncarried;
    bool *mapped; /* per value of the loop */
    bool *next;   /* per result of body */
    bool own;     /* each example goes on by itself */
} loop;

/* Values are mapped that begin so, or become so. */
static lz_status find_mapped(loop *x)
{
    memcpy(x->mapped, x->b->mapped, x->n * sizeof *x->mapped);
    for (bool changed = true; changed;) {
        changed = false;
        LZ_TRY(lz_batch_flow(x->cond, x->mapped, &x->own));
        LZ_TRY(lz_batch_flow(x->body, x->mapped, x->next));
        for (uint32_t k = 0; k < x->ncarried; k++)
            if ((x->own || x->next[k]) && !x->mapped[k])
                changed = x->mapped[k] = true;
    }
    return LZ_OK;
}

/* Any example's condition. */
static const lz_func *any_goes_on(const loop *x)
{
    const lz_func *each = lz_batch_region(x->cond, x->b->n, x->mapped, &x->own), *r = NULL;
    lz_func *f = each ? lz_func_new("cond") : NULL;
    lz_val *v = lz_alloc(((size_t)x->n + 1) * sizeof *v);
    if (!v)
        (void)LZ_FAIL(LZ_EMEM, "no memory for %u values", x->n);
    if (f && v) {
        for (uint32_t i = 0; i < x->n; i++)
            v[i] = lz_build_param(f, lz_val_type(each, i));
        const lz_ints all = {.n = 1};
        lz_val pred = LZ_NOVAL;
        if (lz_build_inline(f, each, v, &pred) == LZ_OK)
            pred = lz_build_reduce(f, LZ_OP_OR, pred, lz_build_scalar(f, LZ_BOOL, 0), &all);
        if (pred != LZ_NOVAL && lz_func_set_results(f, &pred, 1) == LZ_OK)
            r = lz_region_intern(f);
    }
    lz_func_free(f);
    lz_free(v);
    return r;
}

/* A round that examples which do not go on leave as they are. */
static lz_status build_some(const loop *x, lz_func *f, const lz_func *cond, const lz_func *body,
                            lz_val *v)
{
    lz_val *out = v + x->n, pred = LZ_NOVAL;
    for (uint32_t i = 0; i < x->n; i++)
        v[i] = lz_build_param(f, lz_val_type(body, i));
    LZ_TRY(f->status);
    LZ_TRY(lz_build_inline(f, cond, v, &pred));
    LZ_TRY(lz_build_inline(f, body, v, out));
    for (uint32_t k = 0; k < x->ncarried; k++)
        out[k] = choose(f, pred, out[k], v[k]);
    return f->status != LZ_OK ? f->status : lz_func_set_results(f, out, x->ncarried);
}

static const lz_func *round_of_some(const loop *x, const lz_func *body)
{
    const lz_func *cond = lz_batch_region(x->cond, x->b->n, x->mapped, &x->own), *r = NULL;
    lz_func *f = cond ? lz_func_new("body") : NULL;
    lz_val *v = lz_alloc(((size_t)x->n + x->ncarried + 1) * sizeof *v);
    if (!v)
        (void)LZ_FAIL(LZ_EMEM, "no memory for %u values", x->n);
    if (f && v && build_some(x, f, cond, body, v) == LZ_OK)
        r = lz_region_intern(f);
    lz_func_free(f);
    lz_free(v);
    return r;
}

static lz_status build_while(const loop *x, lz_val *v)
{
    const lz_batch *b = x->b;
    const lz_func *cond =
                      x->own ? any_goes_on(x) : lz_batch_region(x->cond, b->n, x->mapped, &x->own),
                  *body = cond ? lz_batch_region(x->body, b->n, x->mapped, x->mapped) : NULL;
    if (body && x->own)
        body = round_of_some(x, body);
    if (!body)
        return lz_error_get()->status;
    for (uint32_t i = 0; i < x->n; i++)
        v[i] = lz_batch_front(b->to, b->opnd[i], b->n, b->mapped[i] || !x->mapped[i]);
    lz_val r = lz_build_while(b->to, cond, body, v, x->n);
    for (uint32_t k = 0; k < x->ncarried; k++)
        b->out[k] = lz_build_result(b->to, r, k);
    return b->to->status;
}

lz_status lz_batch_while(const lz_batch *b)
{
    const lz_attr_loop *a = ATTRS(loop);
    loop x = {b, a->cond, a->body, b->sig->nopnd, b->sig->nresult, NULL, NULL, false};
    x.mapped = lz_calloc((size_t)x.n + x.ncarried + 1, sizeof *x.mapped);
    lz_val *v = lz_alloc(((size_t)x.n + 1) * sizeof *v);
    x.next = x.mapped + x.n;
    lz_status s = x.mapped && v ? find_mapped(&x) : LZ_FAIL(LZ_EMEM, "no memory for a loop");
    if (s == LZ_OK)
        memcpy(b->out_mapped, x.mapped, x.ncarried * sizeof *x.mapped);
    if (s == LZ_OK && b->to)
        s = build_while(&x, v);
    lz_free(x.mapped);
    lz_free(v);
    return s;
}

/* ---- if ---- */

static lz_status build_both(const lz_batch *b, const lz_attr_branches *a, lz_val *v, bool *is)
{
    uint32_t n = b->sig->nresult;
    lz_val *f = v + n;
    LZ_TRY(lz_batch_inline(b->to, a->true_branch, b->n, b->opnd + 1, b->mapped + 1, v, is));
    for (uint32_t k = 0; k < n; k++)
        v[k] = lz_batch_front(b->to, v[k], b->n, is[k]);
    LZ_TRY(lz_batch_inline(b->to, a->false_branch, b->n, b->opnd + 1, b->mapped + 1, f, is));
    for (uint32_t k = 0; k < n; k++)
        b->out[k] = choose(b->to, b->opnd[0], v[k], lz_batch_front(b->to, f[k], b->n, is[k]));
    return b->to->status;
}

static lz_status build_if(const lz_batch *b, const lz_attr_branches *a)
{
    const lz_func *t = lz_batch_region(a->true_branch, b->n, b->mapped + 1, b->out_mapped),
                  *f = t ? lz_batch_region(a->false_branch, b->n, b->mapped + 1, b->out_mapped)
                         : NULL;
    if (!f)
        return lz_error_get()->status;
    lz_val r = lz_build_if(b->to, t, f, b->opnd, b->sig->nopnd);
    for (uint32_t k = 0; k < b->sig->nresult; k++)
        b->out[k] = lz_build_result(b->to, r, k);
    return b->to->status;
}

lz_status lz_batch_if(const lz_batch *b)
{
    const lz_attr_branches *a = ATTRS(branches);
    uint32_t n = b->sig->nresult;
    bool *is = lz_calloc((size_t)n + 1, sizeof *is);
    lz_val *v = lz_alloc((2 * (size_t)n + 1) * sizeof *v);
    lz_status s = is && v ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a branch");
    if (s == LZ_OK && !b->mapped[0]) {
        s = lz_batch_flow(a->true_branch, b->mapped + 1, b->out_mapped);
        if (s == LZ_OK)
            s = lz_batch_flow(a->false_branch, b->mapped + 1, is);
        for (uint32_t k = 0; k < n; k++)
            b->out_mapped[k] |= is[k];
    }
    if (s == LZ_OK && b->to)
        s = b->mapped[0] ? build_both(b, a, v, is) : build_if(b, a);
    lz_free(is);
    lz_free(v);
    return s;
}
