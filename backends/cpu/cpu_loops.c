/* cpu_loops.c - see cpu_loops.h. Only loops that every run may reach are joined: kernels of
 * branches are loaded when a branch is first taken, and a loop in one stays as it is. */
#include "backends/cpu/cpu_loops.h"
#include "base/alloc.h"
#include <string.h>

const lz_cpu_loop *lz_cpu_loops_find(const lz_cpu_loops *l, const lz_step *s)
{
    for (uint32_t i = 0; i < l->loops.len; i++)
        if (l->loops.data[i].kernel->joined->step == s)
            return &l->loops.data[i];
    return NULL;
}

void lz_cpu_loops_free(lz_cpu_loops *l)
{
    for (uint32_t i = 0; i < l->loops.len; i++) {
        lz_kernels_release(l->loops.data[i].load.code);
        lz_kernel_free(l->loops.data[i].kernel);
    }
    lz_vec_free(&l->loops);
}

static lz_status add(lz_cpu_loops *l, const lz_plan *p, const lz_step *s)
{
    lz_cpu_loop x = {0};
    LZ_TRY(lz_join_kernel(p, s, &x.kernel));
    lz_status st = lz_vec_push(&l->loops, x);
    if (st != LZ_OK)
        lz_kernel_free(x.kernel);
    return st;
}

/* Of parts that every run may reach; needed[i]: part i runs by launches. A part is before those it
 * runs. */
static lz_status find(lz_cpu_loops *l, const lz_plan_exec *g, const lz_target *t, bool *needed)
{
    bool always = lz_variant_always(t, LZ_VARIANT_joined_loops);
    needed[0] = true;
    for (uint32_t i = 0; i < g->npart; i++) {
        const lz_part *p = &g->parts[i];
        for (uint32_t k = 0; k < p->plan->nstep && needed[i]; k++) {
            const lz_step *s = &p->plan->steps[k];
            bool joined = lz_join_suits(p->plan, s, always);
            if (joined)
                LZ_TRY(add(l, p->plan, s));
            for (int j = 0; j < 2 && !joined && s->kind == LZ_STEP_WHILE; j++)
                if (s->sub[j] != LZ_NO_PLAN)
                    needed[p->subs[s->sub[j]]] = true;
        }
    }
    return LZ_OK;
}

static lz_status load(lz_cpu_loops *l, const lz_target *t, lz_cache *cache)
{
    uint32_t n = l->loops.len;
    lz_kernel **k = lz_calloc(n, sizeof *k);
    lz_kernel_load *out = lz_calloc(n, sizeof *out);
    lz_status s = k && out ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u loops", n);
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        k[i] = l->loops.data[i].kernel;
    if (s == LZ_OK)
        s = lz_kernels_load(k, n, t, cache, out);
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        l->loops.data[i].load = out[i];
    lz_free(k);
    lz_free(out);
    return s;
}

lz_status lz_cpu_loops_load(lz_cpu_loops *l, const lz_plan_exec *g, const lz_target *t,
                            lz_cache *cache, bool *late)
{
    if (g->npart == 1 || g->parts->plan->partitions || !lz_variant_may(t, LZ_VARIANT_joined_loops))
        return LZ_OK;
    bool *needed = lz_calloc(g->npart, sizeof *needed);
    if (!needed)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u plans", g->npart);
    lz_error before = *lz_error_get();
    lz_status s = find(l, g, t, needed);
    if (s == LZ_OK && l->loops.len && load(l, t, cache) != LZ_OK) {
        lz_error_set(&before);
        lz_cpu_loops_free(l);
    }
    for (uint32_t i = 0; i < g->npart && s == LZ_OK && l->loops.len; i++)
        if (!needed[i])
            memset(late + g->parts[i].kernel_at, 1, g->parts[i].plan->nkernel);
    lz_free(needed);
    return s;
}
