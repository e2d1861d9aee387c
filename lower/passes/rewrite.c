/* rewrite.c - rebuilding a function. See rewrite.h. */
#include "lower/passes/rewrite.h"
#include <string.h>

static lz_val copy_inst(lz_rw *rw, uint32_t i)
{
    const lz_inst *in = &rw->in->insts[i];
    lz_val few[16], *o = few;
    uint32_t n = in->sig->nopnd;
    if (in->lit)
        return lz_build_const(rw->out, in->lit);
    if (n > 16 && !(o = lz_alloc(n * sizeof *o))) {
        rw->out->status = LZ_FAIL(LZ_EMEM, "out of memory");
        return LZ_NOVAL;
    }
    for (uint32_t k = 0; k < n; k++)
        o[k] = rw->map[in->opnd[k]];
    lz_val v = lz_build_sig(rw->out, in->sig, o);
    if (o != few)
        lz_free(o);
    return v;
}

static lz_status run(lz_rw *rw, lz_rw_fn fn, void *user)
{
    const lz_func *in = rw->in;
    for (uint32_t i = 0; i < in->ninst; i++) {
        lz_val v = LZ_NOVAL;
        rw->out->now = lz_func_origin(in, i);
        if (i < in->nparam)
            v = lz_build_param(rw->out, lz_val_type(in, i));
        else
            v = fn(rw, i, user);
        if (i >= in->nparam && v == LZ_NOVAL && rw->out->status == LZ_OK)
            v = copy_inst(rw, i);
        else if (i >= in->nparam)
            rw->fired = true;
        if (rw->out->status != LZ_OK)
            return rw->out->status;
        rw->map[i] = v;
    }
    lz_val *results = rw->map + in->ninst; /* room behind the map */
    for (uint32_t k = 0; k < in->nresult; k++)
        results[k] = rw->map[in->results[k]];
    return lz_func_set_results(rw->out, results, in->nresult);
}

lz_status lz_rw_run(const lz_func *in, lz_rw_fn fn, void *user, lz_func **out)
{
    *out = NULL;
    lz_rw rw = {.in = in, .out = lz_func_new(in->name)};
    rw.map = lz_alloc(((size_t)in->ninst + in->nresult + 1) * sizeof *rw.map);
    lz_status s = rw.out && rw.map ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    lz_func *pruned = NULL;
    if (s == LZ_OK) {
        rw.out->derived = true;
        s = run(&rw, fn, user);
    }
    if (s == LZ_OK && rw.fired) {
        pruned = lz_func_prune(rw.out);
        if (!pruned)
            s = lz_error_get()->status;
    }
    lz_func_free(rw.out);
    lz_free(rw.map);
    if (s != LZ_OK || (pruned && lz_func_same(pruned, in))) {
        lz_func_free(pruned);
        pruned = NULL;
    }
    *out = pruned;
    return s;
}

uint64_t *lz_rw_dependence(const lz_func *f, uint32_t first, uint32_t n)
{
    uint32_t words = (n + 63) / 64;
    uint64_t *d = lz_calloc((size_t)f->ninst * words + 1, sizeof *d);
    for (uint32_t i = 0; d && i < f->ninst; i++) {
        uint64_t *at = d + (size_t)i * words;
        if (i < f->nparam && i - first < n)
            at[(i - first) / 64] |= UINT64_C(1) << (i - first) % 64;
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd; k++)
            for (uint32_t w = 0; w < words; w++)
                at[w] |= d[(size_t)f->insts[i].opnd[k] * words + w];
    }
    return d;
}

const lz_func *lz_rw_region(const lz_func *r, const uint32_t *params, uint32_t nparam,
                            const uint32_t *results, uint32_t nresult)
{
    const lz_func *out = NULL;
    lz_func *f = lz_func_new(r->name);
    lz_val *v = lz_alloc(((size_t)r->nparam + r->nresult + nresult + 1) * sizeof *v);
    if (!f || !v) {
        (void)LZ_FAIL(LZ_EMEM, "out of memory");
        goto done;
    }
    f->derived = true;
    lz_val *all = v + r->nparam, *res = all + r->nresult;
    for (uint32_t i = 0; i < r->nparam; i++)
        v[i] = LZ_NOVAL;
    for (uint32_t i = 0; i < nparam; i++)
        v[params[i]] = lz_build_param(f, lz_val_type(r, params[i]));
    for (uint32_t i = 0; i < r->nparam; i++)
        if (v[i] == LZ_NOVAL)
            v[i] = lz_build_splat(f, lz_val_type(r, i), 0);
    if (lz_build_inline_nodes(f, r, v, all) != LZ_OK)
        goto done;
    for (uint32_t k = 0; k < nresult; k++)
        res[k] = all[results[k]];
    if (lz_func_set_results(f, res, nresult) == LZ_OK)
        out = lz_region_intern(f);
done:
    lz_func_free(f);
    lz_free(v);
    return out;
}

/* Whether a result or an effect of the body is made of carried value k, but for its own next
 * value. */
static lz_status is_read(const lz_func *body, uint32_t k, uint32_t ncarried, bool *read)
{
    uint64_t *of = lz_rw_dependence(body, k, 1); /* made of it, by value */
    *read = false;
    if (!of)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = body->nparam; i < body->ninst; i++)
        *read |= of[i] && body->insts[i].sig->flags & LZ_F_EFFECT;
    for (uint32_t j = 0; j < ncarried; j++)
        *read |= j != k && of[body->results[j]];
    lz_free(of);
    return LZ_OK;
}

lz_status lz_rw_without_carried(const lz_func *body, uint32_t k, uint32_t ncarried,
                                const lz_func **out)
{
    bool read;
    *out = NULL;
    LZ_TRY(is_read(body, k, ncarried, &read));
    if (read)
        return LZ_OK;
    uint32_t *stay = lz_alloc((size_t)body->nparam * sizeof *stay), n = 0;
    if (!stay)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < body->nparam; i++)
        if (i != k)
            stay[n++] = i;
    *out = lz_rw_region(body, stay, n, stay, ncarried - 1);
    lz_free(stay);
    return *out ? LZ_OK : lz_error_get()->status;
}

bool lz_rw_splat(const lz_func *f, lz_val v, uint64_t *bits)
{
    const lz_literal *l = f->insts[lz_val_behind_views(f, v)].lit;
    return l && l->nbytes <= 64 && lz_literal_splat(l, bits);
}
