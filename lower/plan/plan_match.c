/* plan_match.c - whether a plan read from disk is one of the graph it was found for. The verifier
 * says that a plan does nothing outside of its own arguments, results and memory; this says that
 * those are the graph's, so that the caller's buffers fit, and that it calls nothing of the program
 * that the graph does not call.
 * Threads: pure. */
#include "lower/plan/plan.h"
#include "ir/attr.h"
#include <string.h>

#define OTHER(fmt, ...) LZ_FAIL(LZ_ECORRUPT, "stored plan: " fmt, __VA_ARGS__)

static lz_status other_type(const char *what, uint32_t i, const lz_type *have, const lz_type *want)
{
    char a[96], b[96];
    return OTHER("%s %u is %s, that of the graph is %s", what, i, lz_type_short(have, a, sizeof a),
                 lz_type_short(want, b, sizeof b));
}

/* Whether the function or a region of it has the call. As deep as regions nest. */
static bool calls(const lz_func *f, const lz_ffi_target *c)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_sig *sig = f->insts[i].sig;
        if (sig->op == LZ_OP_CUSTOM_CALL) {
            lz_ffi_target have;
            lz_ffi_of(sig, &have);
            if (strcmp(have.target, c->target) == 0 && strcmp(have.config, c->config) == 0)
                return true;
        }
        const lz_func *r;
        for (int k = 0; sig->attr && (r = lz_attr_region(sig->attr, k)) != NULL; k++)
            if (calls(r, c))
                return true;
    }
    return false;
}

static lz_status check_calls(const lz_plan *p, const lz_func *f)
{
    for (uint32_t i = 0; i < p->nstep; i++)
        if (p->steps[i].kind == LZ_STEP_CALL && !calls(f, p->steps[i].call))
            return OTHER("the graph has no call of @%.200s", p->steps[i].call->target);
    for (uint32_t i = 0; i < p->nsub; i++)
        LZ_TRY(check_calls(p->subs[i], f));
    return LZ_OK;
}

lz_status lz_plan_check_of(const lz_plan *p, const lz_func *f, const bool *donate)
{
    if (p->nin - p->numbered != f->nparam || p->nout != f->nresult)
        return OTHER("%u parameters and %u results, the graph has %u and %u", p->nin, p->nout,
                     f->nparam, f->nresult);
    for (uint32_t i = 0; i < f->nparam; i++)
        if (p->in_type[i] != lz_val_type(f, i))
            return other_type("parameter", i, p->in_type[i], lz_val_type(f, i));
    for (uint32_t k = 0; k < p->nout; k++) {
        const lz_type *want = lz_val_type(f, f->results[k]);
        int32_t a = p->out_alias[k];
        if (p->out_type[k] != want)
            return other_type("result", k, p->out_type[k], want);
        if (a >= 0 && !(donate && donate[a]))
            return OTHER("result %u takes over parameter %d, which is not donated", k, a);
    }
    return check_calls(p, f);
}

lz_status lz_plan_deserialize_of(const void *bytes, size_t n, const lz_func *f, const bool *donate,
                                 uint32_t partitions, lz_plan **out)
{
    lz_plan *p = NULL;
    *out = NULL;
    LZ_TRY(lz_plan_deserialize(bytes, n, &p));
    lz_status s = p->partitions == partitions
                      ? LZ_OK
                      : OTHER("of %u partitions, not %u", p->partitions, partitions);
    if (s == LZ_OK && f)
        s = lz_plan_check_of(p, f, donate);
    if (s == LZ_OK && f)
        lz_plan_find_nodes(p, f);
    if (s == LZ_OK)
        *out = p;
    else
        lz_plan_free(p);
    return s;
}
