/* simt_reduce_workspace.c - two-kernel reduction: the workspace in device memory that blocks leave
 * their partial accumulators in, and which loop is split between them. The workspace holds one
 * accumulator after the other, each at a multiple of SIMT_ACC bytes: for each the slices, and for
 * each slice the points.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"

void simt_range_of(kern *c, uint32_t s, bool rows, simt_range *r)
{
    em *e = c->e;
    const lz_stage *st = &c->k->stages[s];
    Val most = em_c64(e, -1);
    r->loop = em_c64(e, 0);
    r->extent = em_c64(e, 0);
    for (uint32_t j = 0; j < st->ninner; j++) {
        Val n = kern_size(c, st->extent[j]), w = n;
        if (rows && j + 1 == st->ninner)
            w = LLVMBuildSDiv(e->b, n, em_c64(e, SIMT_ROW_SLICE), "");
        Val more = ICMP(SGT, w, most);
        most = SEL(more, w, most);
        r->loop = SEL(more, em_c64(e, j), r->loop);
        r->extent = SEL(more, n, r->extent);
    }
}

static Val rounded_up(em *e, Val n, int64_t by)
{
    return AND(ADD(n, em_c64(e, by - 1)), em_c64(e, -by));
}

/* Bytes of accumulator k of a stage. */
static Val bytes(kern *c, uint32_t stage, uint32_t k, Val n)
{
    em *e = c->e;
    return MUL(n, em_c64(e, simt_acc_bytes(kern_acc_dtype(c, stage, k))));
}

/* Where accumulator k of a stage of a slice and point is: that of stage 0, then that of the other
 * one. */
static Val place(simt *s, kern *c, uint32_t stage, uint32_t k, Val slices, Val npoint, Val slice,
                 Val point)
{
    em *e = c->e;
    Val at = em_c64(e, 0), all = MUL(slices, npoint);
    for (uint32_t i = 0; stage && i < c->st[0].nacc; i++)
        at = ADD(at, rounded_up(e, bytes(c, 0, i, all), SIMT_ACC));
    for (uint32_t i = 0; i < k; i++)
        at = ADD(at, rounded_up(e, bytes(c, stage, i, all), SIMT_ACC));
    at = ADD(at, bytes(c, stage, k, ADD(MUL(slice, npoint), point)));
    return em_at(e, s->scratch, at, 1);
}

void simt_workspace_store(simt *s, kern *c, uint32_t stage, Val slices, Val npoint, Val slice,
                          Val point, Val mine)
{
    em *e = s->e;
    em_if f;
    em_if_begin(e, &f, mine);
    for (uint32_t k = 0; k < c->st[stage].nacc; k++)
        simt_acc_put(s, c->st[stage].red[k][0],
                     place(s, c, stage, k, slices, npoint, slice, point));
    em_if_end(e, &f, 0, NULL, NULL, NULL);
}

/* This thread's slices of a point: those of its group, and those by `groups` further. */
static void add_parts(simt_reduce_col *w, kern *c, uint32_t stage, Val npoint, Val point, Ev *acc)
{
    em *e = c->e;
    simt *s = w->s;
    const lz_stage *st = &c->k->stages[stage];
    uint32_t nacc = c->st[stage].nacc;
    Val flat[EM_PHI];
    em_loop l;
    int n = simt_accs_flatten(acc, nacc, flat);
    em_loop_begin(e, &l, w->group, w->slices, w->groups, n, flat);
    simt_accs_unflatten(acc, nacc, l.phi);
    for (uint32_t r = 0, k0 = 0; r < st->nred; k0 += st->reds[r++].nacc) {
        Ev elt[8], out[8];
        const lz_red *q = &st->reds[r];
        for (uint32_t k = 0; k < q->nacc; k++)
            elt[k] = simt_acc_get(s, q->acc_dtype[k], c->lanes,
                                  place(s, c, stage, k0 + k, w->slices, npoint, l.i, point));
        kern_merge(c, q, acc + k0, elt, q->acc_dtype, out);
        for (uint32_t k = 0; k < q->nacc; k++)
            acc[k0 + k] = out[k];
    }
    (void)simt_accs_flatten(acc, nacc, flat);
    em_loop_end(e, &l, flat);
    simt_accs_unflatten(acc, nacc, l.phi);
}

void simt_workspace_join(simt_reduce_col *w, kern *c, uint32_t stage, Val npoint, Val point)
{
    static const kctx one = {.u = 1};
    kern_accs a = {.u = 1};
    Ev acc[KERN_ACCS];
    kern_addresses(c, stage, POS_POINT);
    kern_eval(c, stage, POS_POINT, &one);
    kern_accs_start(c, stage, &a);
    for (uint32_t i = 0; i < a.n; i++)
        acc[i] = a.v[i][0];
    add_parts(w, c, stage, npoint, point, acc);
    c->threads->join(c, stage, acc, a.n);
    for (uint32_t i = 0; i < a.n; i++)
        c->st[stage].red[i][0] = acc[i];
}
