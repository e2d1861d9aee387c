/* effects.c - functions in which something happens beside the results. See module.h. */
#include "ir/attr.h"
#include "ir/module.h"

bool lz_func_may_take_long(const lz_func *f)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        if (s->op == LZ_OP_CUSTOM_CALL || s->op == LZ_OP_WHILE)
            return true;
        const lz_func *r;
        for (int k = 0; (r = lz_attr_region(s->attr, k)); k++)
            if (lz_func_may_take_long(r))
                return true;
    }
    return false;
}

static uint32_t find(const lz_func *f, lz_val *out)
{
    uint32_t n = 0;
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (f->insts[i].sig->flags & LZ_F_EFFECT) {
            if (out)
                out[n] = i;
            n++;
        }
    return n;
}

/* The results behind a barrier, which everything that happens goes through as well. */
static lz_status tie(lz_func *f, uint32_t n, lz_val *v)
{
    uint32_t all = n + f->nresult;
    (void)find(f, v);
    for (uint32_t i = 0; i < n; i++)
        v[i] = lz_build_result(f, v[i], 0);
    for (uint32_t k = 0; k < f->nresult; k++)
        v[n + k] = f->results[k];
    lz_val b = lz_build(f, LZ_OP_OPTIMIZATION_BARRIER, NULL, v, all);
    for (uint32_t k = 0; k < f->nresult && b != LZ_NOVAL; k++)
        v[k] = lz_build_result(f, b, n + k);
    return f->status != LZ_OK ? f->status : lz_func_set_results(f, v, f->nresult);
}

lz_status lz_func_tie_effects(lz_func *f)
{
    uint32_t n = find(f, NULL);
    if (n == 0)
        return LZ_OK;
    if (f->nresult == 0)
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "%s has side effects and no results that somebody could ask for", f->name);
    lz_val *v = lz_alloc(((size_t)n + f->nresult) * sizeof *v);
    if (!v)
        return LZ_FAIL(LZ_EMEM, "no memory for %u effects", n);
    lz_status s = tie(f, n, v);
    lz_free(v);
    return s;
}
