/* eval.c - the reference evaluator: driver over a function, one instruction, one scalar; regions
 * on scalars.
 * Threads: pure; every call owns its storage. */
#include "ir/eval/eval_frame.h"
#include <string.h>

/* What evaluates an op: exactly one of the two. */
typedef struct rule {
    lz_ref_ew_fn *ew;
    lz_ref_op_fn *op;
} rule;
static const rule rules[LZ_OP_COUNT] = {
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, vjp, eval, ...)                          \
    [LZ_OP_##E] = {lz_ref_##eval, NULL},
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, eval, ...)         \
    [LZ_OP_##E] = {NULL, lz_ref_##eval},
#include "ir/ops.def"
};

static const rule *rule_of(lz_op op)
{
    return &rules[(unsigned)op < LZ_OP_COUNT ? op : LZ_OP_NONE];
}

lz_ref_ew_fn *lz_ref_ew_get(lz_op op)
{
    return rule_of(op)->ew;
}

/* ---- one instruction ---- */

lz_status lz_ref_alloc(const lz_ref_call *c)
{
    for (uint32_t k = 0; k < c->sig->nresult; k++) {
        c->result[k] = lz_literal_new(c->sig->result[k]);
        if (!c->result[k])
            return LZ_EMEM;
    }
    return LZ_OK;
}

static lz_status run_ew(const lz_ref_call *c, lz_ref_ew_fn *fn)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_type *t = c->sig->result[0];
    lz_ref_ew e = {.op = c->sig->op,
                   .attr = c->sig->attr,
                   .out = t->dtype,
                   .dst = c->result[0]->data,
                   .n = t->nelem};
    for (uint32_t k = 0; k < c->sig->nopnd && k < 3; k++) {
        e.in[k] = c->sig->opnd[k]->dtype;
        e.src[k] = c->opnd[k]->data;
        e.step[k] = c->sig->opnd[k]->shape.rank == 0 ? 0 : 1;
    }
    return fn(&e);
}

lz_status lz_ref_eval_at(const lz_sig *sig, lz_literal *const *opnds, lz_literal **results,
                         int depth)
{
    const rule *r = rule_of(sig->op);
    lz_ref_call c = {.sig = sig, .opnd = opnds, .result = results, .depth = depth};
    for (uint32_t k = 0; k < sig->nresult; k++)
        results[k] = NULL;
    lz_status s = r->ew   ? run_ew(&c, r->ew)
                  : r->op ? r->op(&c)
                          : LZ_FAIL(LZ_EINTERNAL, "no operation has the number %d", (int)sig->op);
    for (uint32_t k = 0; s != LZ_OK && k < sig->nresult; k++) {
        lz_literal_release(results[k]);
        results[k] = NULL;
    }
    return s;
}

lz_status lz_ref_eval_inst(const lz_sig *sig, lz_literal *const *opnds, lz_literal **results)
{
    return lz_ref_eval_at(sig, opnds, results, 0);
}

lz_status lz_ref_parameter(const lz_ref_call *c)
{
    return LZ_FAIL(LZ_EINVAL, "%s: has no value of its own", lz_op_get(c->sig->op)->text);
}

lz_status lz_ref_constant(const lz_ref_call *c)
{
    return LZ_FAIL(LZ_EINVAL, "%s: its value is with the instruction, not the signature",
                   lz_op_get(c->sig->op)->text);
}

lz_status lz_ref_result(const lz_ref_call *c)
{
    int64_t k = LZ_ATTR(index, c->sig->attr)->index;
    lz_literal_retain(c->opnd[k]);
    c->result[0] = c->opnd[k];
    return LZ_OK;
}

lz_status lz_ref_barrier(const lz_ref_call *c)
{
    for (uint32_t k = 0; k < c->sig->nresult; k++) {
        lz_literal_retain(c->opnd[k]);
        c->result[k] = c->opnd[k];
    }
    return LZ_OK;
}

/* ---- one scalar ---- */

lz_status lz_ref_eval_scalar(lz_op op, const lz_attr *attr, lz_dtype out, const lz_dtype *in,
                             const void *const *opnd, void *result)
{
    lz_ref_ew_fn *fn = lz_ref_ew_get(op);
    if (op == LZ_OP_BITCAST_CONVERT && lz_dtype_size(out) == lz_dtype_size(in[0])) {
        memcpy(result, opnd[0], lz_dtype_size(out));
        if (lz_dtype_is_narrow(out))
            *(uint8_t *)result = (uint8_t)lz_dtype_wrap(out, *(uint8_t *)result);
        return LZ_OK;
    }
    if (!fn)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s is not elementwise", lz_op_get(op)->text);
    lz_ref_ew e = {.op = op, .attr = attr, .out = out, .dst = result, .n = 1};
    int n = lz_op_get(op)->arity;
    for (int k = 0; k < n && k < 3; k++) {
        e.in[k] = in[k];
        e.src[k] = opnd[k];
    }
    return fn(&e);
}

lz_status lz_ref_eval_bits(lz_op op, const lz_attr *attr, lz_dtype out, const lz_dtype *in,
                           const uint64_t *opnd, uint64_t *result)
{
    const void *p[3] = {NULL, NULL, NULL};
    int n = lz_op_get(op)->arity;
    bool fits = lz_dtype_size(out) <= sizeof *result;
    for (int k = 0; k < n && k < 3; k++) {
        p[k] = &opnd[k];
        fits &= lz_dtype_size(in[k]) <= sizeof *opnd;
    }
    if (!fits)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: %s takes more than 64 bits", lz_op_get(op)->text,
                       lz_dtype_name(out));
    uint64_t r = 0;
    LZ_TRY(lz_ref_eval_scalar(op, attr, out, in, p, &r));
    *result = r;
    return LZ_OK;
}

/* ---- a function ---- */

void lz_ref_frame_end(lz_ref_frame *r)
{
    for (uint64_t i = 0; r->val && i < r->nval; i++)
        lz_literal_release(r->val[i]);
    lz_free(r->val);
    lz_free(r->uses);
    lz_free(r->first);
    lz_free(r->opnd);
}

static lz_status allocate(lz_ref_frame *r, const lz_func *f)
{
    uint32_t max_opnd = 1;
    r->uses = lz_calloc(f->ninst, sizeof *r->uses);
    r->first = lz_calloc(f->ninst, sizeof *r->first);
    if (!r->uses || !r->first)
        return LZ_FAIL(LZ_EMEM, "reference run of '%s': no memory for %u instructions", f->name,
                       f->ninst);
    for (uint32_t i = 0; i < f->ninst; i++) {
        r->first[i] = (uint32_t)r->nval;
        r->nval += f->insts[i].sig->nresult;
        if (f->insts[i].sig->nopnd > max_opnd)
            max_opnd = f->insts[i].sig->nopnd;
    }
    if (r->nval > UINT32_MAX)
        return LZ_FAIL(LZ_ERANGE, "reference run of '%s': %llu values", f->name,
                       (unsigned long long)r->nval);
    r->val = lz_calloc(r->nval, sizeof *r->val);
    r->opnd = lz_calloc(max_opnd, sizeof *r->opnd);
    if (!r->val || !r->opnd)
        return LZ_FAIL(LZ_EMEM, "reference run of '%s': no memory for %llu values", f->name,
                       (unsigned long long)r->nval);
    lz_func_use_counts(f, r->uses);
    for (uint32_t i = f->nparam; i < f->ninst && f->effects; i++)
        r->uses[i] += (f->insts[i].sig->flags & LZ_F_EFFECT) != 0;
    return LZ_OK;
}

static void drop(lz_ref_frame *r, lz_val v)
{
    for (uint32_t k = 0; k < r->f->insts[v].sig->nresult; k++) {
        lz_literal_release(r->val[r->first[v] + k]);
        r->val[r->first[v] + k] = NULL;
    }
}

static lz_status check_args(const lz_func *f, lz_literal *const *args)
{
    for (uint32_t i = 0; i < f->nparam; i++) {
        const lz_type *want = f->insts[i].sig->result[0];
        if (!args[i])
            return LZ_FAIL(LZ_ENULL, "'%s': argument %u is NULL", f->name, i);
        const lz_type *got = args[i]->type;
        char a[96], b[96];
        if (got->dtype != want->dtype)
            return LZ_FAIL(LZ_EDTYPE, "'%s': argument %u is %s, expected %s", f->name, i,
                           lz_type_short(got, a, sizeof a), lz_type_short(want, b, sizeof b));
        if (got != want)
            return LZ_FAIL(LZ_ESHAPE, "'%s': argument %u is %s, expected %s", f->name, i,
                           lz_type_short(got, a, sizeof a), lz_type_short(want, b, sizeof b));
    }
    return LZ_OK;
}

/* Counts go down as values are used, so uses of dead instructions must not be in them. */
static void discount_dead(lz_ref_frame *r)
{
    for (uint32_t i = r->f->ninst; i-- > 0;)
        for (uint32_t k = 0; r->uses[i] == 0 && k < r->f->insts[i].sig->nopnd; k++)
            r->uses[r->f->insts[i].opnd[k]]--;
}

lz_status lz_ref_frame_begin(lz_ref_frame *r, const lz_func *f, lz_literal *const *args, int depth)
{
    *r = (lz_ref_frame){.f = f};
    if (depth > LZ_REF_DEPTH)
        return LZ_FAIL(LZ_EUNSUPPORTED, "'%s': regions are nested deeper than %d", f->name,
                       LZ_REF_DEPTH);
    if (f->status != LZ_OK)
        return LZ_FAIL(f->status, "'%s': the function was not built to the end", f->name);
    LZ_TRY(check_args(f, args));
    LZ_TRY(allocate(r, f));
    discount_dead(r);
    return LZ_OK;
}

static __thread lz_ref_watch *watch; /* of the run of the thread; NULL: nobody looks */

static lz_status eval_watched(lz_ref_frame *r, uint32_t i, lz_literal **out, int depth)
{
    const lz_inst *in = &r->f->insts[i];
    if (!watch)
        return lz_ref_eval_at(in->sig, r->opnd, out, depth);
    watch->at[depth].f = r->f;
    watch->at[depth].v = i;
    LZ_TRY(lz_ref_eval_at(in->sig, r->opnd, out, depth));
    watch->depth = depth;
    return watch->seen(watch, r->opnd, out);
}

lz_status lz_ref_frame_step(lz_ref_frame *r, uint32_t i, lz_literal *const *args, int depth)
{
    const lz_inst *in = &r->f->insts[i];
    lz_literal **out = &r->val[r->first[i]];
    if (i < r->f->nparam || in->lit) {
        *out = i < r->f->nparam ? args[i] : in->lit;
        lz_literal_retain(*out);
        return LZ_OK;
    }
    if (in->sig->op == LZ_OP_RESULT)
        return lz_ref_eval_at(in->sig, &r->val[r->first[in->opnd[0]]], out, depth);
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        r->opnd[k] = r->val[r->first[in->opnd[k]]];
    return eval_watched(r, i, out, depth);
}

void lz_ref_frame_used(lz_ref_frame *r, uint32_t i)
{
    const lz_inst *in = &r->f->insts[i];
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        if (--r->uses[in->opnd[k]] == 0)
            drop(r, in->opnd[k]);
}

void lz_ref_frame_results(const lz_ref_frame *r, lz_literal **results)
{
    for (uint32_t k = 0; k < r->f->nresult; k++) {
        results[k] = r->val[r->first[r->f->results[k]]];
        lz_literal_retain(results[k]);
    }
}

static lz_status run_all(lz_ref_frame *r, lz_literal *const *args, int depth)
{
    for (uint32_t i = 0; i < r->f->ninst; i++) {
        if (r->uses[i] == 0)
            continue; /* dead, or a parameter that nobody reads */
        LZ_TRY(lz_ref_frame_step(r, i, args, depth));
        lz_ref_frame_used(r, i);
    }
    return LZ_OK;
}

lz_status lz_ref_run_at(const lz_func *f, lz_literal *const *args, lz_literal **results, int depth)
{
    lz_ref_frame r;
    for (uint32_t k = 0; k < f->nresult; k++)
        results[k] = NULL;
    lz_status s = lz_ref_frame_begin(&r, f, args, depth);
    if (s == LZ_OK)
        s = run_all(&r, args, depth);
    if (s == LZ_OK)
        lz_ref_frame_results(&r, results);
    lz_ref_frame_end(&r);
    return s;
}

lz_status lz_ref_run(const lz_func *f, lz_literal *const *args, lz_literal **results)
{
    return lz_ref_run_at(f, args, results, 0);
}

lz_status lz_ref_run_watched(const lz_func *f, lz_literal *const *args, lz_literal **results,
                             lz_ref_watch *w)
{
    lz_ref_watch *outer = watch;
    watch = w;
    lz_status s = lz_ref_run_at(f, args, results, 0);
    watch = outer;
    return s;
}

/* ---- regions ---- Nearly every region is a few elementwise operations on scalars: those run on
 * an array of slots without allocating. Anything else goes through lz_ref_run. */
struct lz_ref_region {
    const lz_func *f;
    int depth;
    bool scalar;
    lz_ref_slot *slot; /* scalar: value of each instruction, */
    lz_ref_ew *step;   /* and what makes those that are computed */
    uint32_t nstep;
    lz_literal **arg, **res; /* otherwise */
};

static bool all_scalar(const lz_func *f)
{
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        if (in->sig->nresult != 1 || in->sig->result[0]->shape.rank != 0)
            return false;
        if (i >= f->nparam && !in->lit && !lz_ref_ew_get(in->sig->op))
            return false;
    }
    return true;
}

/* The slots stay where they are, so the steps are made once. */
static lz_status scalar_init(lz_ref_region *r)
{
    const lz_func *f = r->f;
    r->slot = lz_calloc(f->ninst, sizeof *r->slot);
    r->step = lz_calloc(f->ninst, sizeof *r->step);
    if (!r->slot || !r->step)
        return LZ_FAIL(LZ_EMEM, "region '%s': no memory for %u values", f->name, f->ninst);
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        if (in->lit) {
            memcpy(&r->slot[i], in->lit->data, in->lit->nbytes);
            continue;
        }
        lz_ref_ew *e = &r->step[r->nstep++];
        *e = (lz_ref_ew){.op = in->sig->op,
                         .attr = in->sig->attr,
                         .out = in->sig->result[0]->dtype,
                         .dst = &r->slot[i],
                         .n = 1};
        for (uint32_t k = 0; k < in->sig->nopnd && k < 3; k++) {
            e->in[k] = in->sig->opnd[k]->dtype;
            e->src[k] = &r->slot[in->opnd[k]];
        }
    }
    return LZ_OK;
}

static lz_status region_init(lz_ref_region *r)
{
    const lz_func *f = r->f;
    if (r->scalar)
        return scalar_init(r);
    r->arg = lz_calloc(f->nparam, sizeof *r->arg);
    r->res = lz_calloc(f->nresult, sizeof *r->res);
    if (!r->arg || !r->res)
        return LZ_FAIL(LZ_EMEM, "region '%s': no memory for its arguments", f->name);
    for (uint32_t i = 0; i < f->nparam; i++) {
        if (f->insts[i].sig->result[0]->nelem != 1)
            return LZ_FAIL(LZ_EUNSUPPORTED, "region '%s': parameter %u is not a scalar", f->name,
                           i);
        r->arg[i] = lz_literal_new(f->insts[i].sig->result[0]);
        if (!r->arg[i])
            return LZ_EMEM;
    }
    return LZ_OK;
}

lz_status lz_ref_region_new(const lz_func *f, int depth, lz_ref_region **out)
{
    *out = NULL;
    lz_ref_region *r = lz_calloc(1, sizeof *r);
    if (!r)
        return LZ_FAIL(LZ_EMEM, "region '%s': no memory", f->name);
    r->f = f;
    r->depth = depth + 1;
    r->scalar = all_scalar(f);
    lz_status s = region_init(r);
    if (s != LZ_OK) {
        lz_ref_region_free(r);
        return s;
    }
    *out = r;
    return LZ_OK;
}

void lz_ref_region_free(lz_ref_region *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; r->arg && i < r->f->nparam; i++)
        lz_literal_release(r->arg[i]);
    lz_free(r->arg);
    lz_free(r->res);
    lz_free(r->slot);
    lz_free(r->step);
    lz_free(r);
}

static lz_status call_scalar(lz_ref_region *r, const void *const *args, void *const *out)
{
    const lz_func *f = r->f;
    for (uint32_t i = 0; i < f->nparam; i++)
        lz_ref_copy_element(&r->slot[i], args[i], f->insts[i].sig->result[0]->nbytes);
    for (uint32_t i = 0; i < r->nstep; i++)
        LZ_TRY(lz_ref_ew_get(r->step[i].op)(&r->step[i]));
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_ref_copy_element(out[k], &r->slot[f->results[k]], lz_val_type(f, f->results[k])->nbytes);
    return LZ_OK;
}

lz_status lz_ref_region_call(lz_ref_region *r, const void *const *args, void *const *out)
{
    if (r->scalar)
        return call_scalar(r, args, out);
    const lz_func *f = r->f;
    for (uint32_t i = 0; i < f->nparam; i++)
        memcpy(r->arg[i]->data, args[i], r->arg[i]->nbytes);
    LZ_TRY(lz_ref_run_at(f, r->arg, r->res, r->depth));
    for (uint32_t k = 0; k < f->nresult; k++)
        if (r->res[k]->nbytes <= sizeof(lz_ref_slot))
            memcpy(out[k], r->res[k]->data, r->res[k]->nbytes);
    for (uint32_t k = 0; k < f->nresult; k++) {
        lz_literal_release(r->res[k]);
        r->res[k] = NULL;
    }
    return LZ_OK;
}
