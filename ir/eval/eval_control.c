/* eval_control.c - reference evaluation of while and if. Threads: pure. */
#include "ir/eval/eval.h"
#include <string.h>

static void release_all(lz_literal **v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        lz_literal_release(v[i]);
        v[i] = NULL;
    }
}

static lz_status holds(const lz_func *cond, lz_literal *const *args, int depth, bool *out)
{
    lz_literal *p = NULL;
    LZ_TRY(lz_ref_run_at(cond, args, &p, depth));
    *out = *(const uint8_t *)p->data != 0;
    lz_literal_release(p);
    return LZ_OK;
}

/* args: the values, carried ones first; next: room for those. Both keep references of their own to
 * the carried ones. */
static lz_status iterate(const lz_ref_call *c, lz_literal **args, lz_literal **next)
{
    const lz_attr_loop *a = LZ_ATTR(loop, c->sig->attr);
    uint32_t n = c->sig->nresult;
    for (;;) {
        bool more;
        LZ_TRY(holds(a->cond, args, c->depth + 1, &more));
        if (!more)
            return LZ_OK;
        LZ_TRY(lz_ref_run_at(a->body, args, next, c->depth + 1));
        release_all(args, n);
        memcpy(args, next, n * sizeof *args);
        memset(next, 0, n * sizeof *next);
    }
}

lz_status lz_ref_while(const lz_ref_call *c)
{
    uint32_t n = c->sig->nresult, nopnd = c->sig->nopnd;
    lz_literal **args = lz_calloc((size_t)nopnd + n, sizeof *args);
    if (!args)
        return LZ_FAIL(LZ_EMEM, "while: no memory for %u values", nopnd);
    memcpy(args, c->opnd, nopnd * sizeof *args);
    for (uint32_t i = 0; i < n; i++)
        lz_literal_retain(args[i]);
    lz_status s = iterate(c, args, args + nopnd);
    for (uint32_t i = 0; i < n && s == LZ_OK; i++) {
        c->result[i] = args[i];
        args[i] = NULL;
    }
    release_all(args, n);
    lz_free(args);
    return s;
}

lz_status lz_ref_if(const lz_ref_call *c)
{
    const lz_attr_branches *a = LZ_ATTR(branches, c->sig->attr);
    bool p = *(const uint8_t *)c->opnd[0]->data != 0;
    return lz_ref_run_at(p ? a->true_branch : a->false_branch, c->opnd + 1, c->result,
                         c->depth + 1);
}
