/* kernels_sum_blocks.c - the steps of a reducing loop in blocks, and blocks of blocks, each with
 * accumulators of its own. Added one by one to a single accumulator, n floats are off by up to n
 * units of roundoff; so they are off by the lengths of the chains, which do not grow with n but for
 * the outermost. What does not round (integers, maxima) goes through all blocks in one accumulator.
 * The order depends on the loop's extent only. Threads: belongs to one thread. */
#include "codegen/loops/kern.h"

enum {
    RUN = 32,  /* steps of the innermost chain */
    MORE = 16, /* of the others */
    ROW = 8,   /* what a row of vectors counts for in the chain around it: its sum is of many */
};

static bool is_sum(lz_op op, lz_dtype d)
{
    return op == LZ_OP_ADD && (lz_dtype_is_float(d) || lz_dtype_is_complex(d));
}

/* Whether a reduction's partial results are rounded sums. */
static bool rounds(const lz_red *q)
{
    if (q->comb != LZ_OP_NONE)
        return is_sum(q->comb, q->acc_dtype[0]);
    for (uint32_t i = 0; i < q->nbody; i++)
        if (q->body[i].kind == LZ_S_EW && is_sum(q->body[i].op, q->body[i].dtype))
            return true;
    return false;
}

static bool any_rounds(const lz_stage *s)
{
    for (uint32_t r = 0; r < s->nred; r++)
        if (rounds(&s->reds[r]))
            return true;
    return false;
}

/* Points of the loops inside loop j for each of its own, RUN at most. Those whose extent is not
 * known have blocks themselves. */
static int64_t points_inside(const kern *c, uint32_t s, uint32_t j)
{
    const lz_stage *t = c->st[s].s;
    int64_t n = 1;
    for (uint32_t i = j + 1; i < t->ninner && n < RUN; i++) {
        if (c->lanes > 1 && c->st[s].vdim == (int)(c->k->nouter + i))
            n *= ROW;
        else
            n *= t->extent[i].slot >= 0 || t->extent[i].v > RUN ? RUN : t->extent[i].v;
    }
    return n < 1 ? 1 : n < RUN ? n : RUN;
}

unsigned kern_sum_blocks(const kern *c, uint32_t s, uint32_t j, int64_t side, int64_t *steps)
{
    const lz_stage *t = c->st[s].s;
    lz_sz n = t->extent[j];
    int64_t size = RUN / points_inside(c, s, j);
    unsigned level = 0, most = side > 1 ? KERN_SUM_LEVELS - 1 : KERN_SUM_LEVELS;
    if (!any_rounds(t) || t->sort || t->nrow || t->nstore)
        return 0;
    for (; level < most && (n.slot >= 0 || n.v > size * side); size *= MORE)
        steps[level++] = size;
    return level;
}

void kern_sum_fresh(kern *c, uint32_t s, const kern_accs *a, kern_accs *fresh)
{
    const lz_stage *t = c->st[s].s;
    *fresh = *a;
    kern_accs_start(c, s, fresh);
    for (uint32_t r = 0, k0 = 0; r < t->nred; k0 += t->reds[r++].nacc)
        for (uint32_t k = k0; k < k0 + t->reds[r].nacc && !rounds(&t->reds[r]); k++)
            for (unsigned u = 0; u < a->u; u++)
                fresh->v[k][u] = a->v[k][u];
}

void kern_sum_join(kern *c, uint32_t s, kern_accs *a, const kern_accs *part)
{
    const lz_stage *t = c->st[s].s;
    for (uint32_t r = 0, k0 = 0; r < t->nred; k0 += t->reds[r++].nacc) {
        const lz_red *q = &t->reds[r];
        for (unsigned u = 0; u < a->u; u++) {
            Ev x[8], y[8], out[8];
            for (uint32_t k = 0; k < q->nacc; k++)
                x[k] = a->v[k0 + k][u], y[k] = out[k] = part->v[k0 + k][u];
            if (rounds(q))
                kern_merge(c, q, x, y, q->acc_dtype, out);
            for (uint32_t k = 0; k < q->nacc; k++)
                a->v[k0 + k][u] = out[k];
        }
    }
}

void kern_in_sum_blocks(kern *c, uint32_t s, const kern_steps *w, unsigned level, Val lo, Val hi,
                        kern_accs *a)
{
    em *e = c->e;
    em_loop l;
    Val flat[EM_PHI];
    kern_accs part;
    if (level == 0) {
        w->run(c, w, lo, hi, a);
        return;
    }
    Val each = MUL(w->step, em_c64(e, w->size[level - 1]));
    em_loop_begin(e, &l, lo, hi, each, kern_accs_flatten(a, flat), flat);
    kern_accs_unflatten(a, l.phi);
    kern_sum_fresh(c, s, a, &part);
    kern_in_sum_blocks(c, s, w, level - 1, l.i, em_smin(e, ADD(l.i, each), hi), &part);
    kern_sum_join(c, s, a, &part);
    kern_accs_flatten(a, flat);
    em_loop_end(e, &l, flat);
    kern_accs_unflatten(a, l.phi);
}
