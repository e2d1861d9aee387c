/* stage_rewrite.c - the scalar ops of a stage made anew, one by one, by who changes some of them:
 * all that refers to an op follows. See to_loops_impl.h. */
#include "lower/loops/loop_impl.h"
#include "lower/loops/to_loops_impl.h"

lz_status lz_stage_rewrite_begin(lz_stage_rewrite *x, lz_stage *st)
{
    *x = (lz_stage_rewrite){.st = st};
    x->to = lz_alloc(((size_t)st->nsop + 1) * sizeof *x->to);
    return x->to ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u scalar ops", st->nsop);
}

int32_t lz_stage_rewrite_copy(lz_stage_rewrite *x, const lz_sop *old)
{
    lz_sop s = *old;
    int n = s.kind == LZ_S_EW ? lz_sop_arity(&s) : 0;
    s.a = n > 0 ? x->to[s.a] : s.a;
    s.b = n > 1 ? x->to[s.b] : s.b;
    s.c = n > 2 ? x->to[s.c] : s.c;
    return lz_sops_add(&x->sops, &s);
}

static void follow(const lz_stage_rewrite *x, int32_t *sop)
{
    *sop = *sop >= 0 ? x->to[*sop] : *sop;
}

static void follow_access(const lz_stage_rewrite *x, lz_access *a)
{
    for (uint32_t i = 0; i < a->ndyn; i++)
        follow(x, &a->dyn[i].sop);
    follow(x, &a->guard);
    follow(x, &a->other);
}

static lz_status install(lz_stage_rewrite *x, lz_kernel *k)
{
    lz_stage *st = x->st;
    lz_sop *sops = lz_arena_copy(&k->arena, x->sops.v.data, x->sops.v.len * sizeof *sops);
    if (x->sops.failed || !sops)
        return LZ_FAIL(LZ_EMEM, "no memory for the loops of '%s'", k->name);
    st->sops = sops;
    st->nsop = x->sops.v.len;
    for (uint32_t i = 0; i < st->nacc; i++)
        follow_access(x, &st->accs[i]);
    for (uint32_t i = 0; i < st->nstore; i++) {
        follow_access(x, &st->stores[i].at);
        follow(x, &st->stores[i].value);
    }
    for (uint32_t r = 0; r < st->nred; r++)
        for (uint32_t i = 0; i < st->reds[r].nacc; i++) {
            follow(x, &st->reds[r].value[i]);
            follow(x, &st->reds[r].init[i]);
        }
    for (uint32_t i = 0; st->sort && i < st->sort->nrow; i++)
        follow(x, &st->sort->value[i]);
    for (uint32_t i = 0; i < st->nrow; i++)
        follow(x, &st->row[i]);
    if (st->dot.role != LZ_DOT_NONE) {
        follow(x, &st->dot.a_sop);
        follow(x, &st->dot.b_sop);
    }
    return LZ_OK;
}

lz_status lz_stage_rewrite_end(lz_stage_rewrite *x, lz_kernel *k)
{
    lz_status s = install(x, k);
    lz_sops_free(&x->sops);
    lz_free(x->to);
    return s;
}
