/* simt_scatter.c - scatters whose points of the outer loops never meet, but whose updates do:
 * gradients of embeddings. A point's updates come in order, so it would be the work of one thread,
 * which waits for each sum before it reads the next. Here several threads go through all updates of
 * a point, and each does those whose row of the result is its own: the order of what meets is kept,
 * and so are the bits. Neighbouring threads have neighbouring points, so that a warp owns the same
 * rows: it agrees on what to do.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

enum { FEW = 32, MANY_POINTS = 1 << 16, GROUPS = 64, THREADS = SIMT_POINTS_THREADS };

/* ---- which ---- */

static bool along_loops(const lz_kernel *k, const lz_access *a)
{
    for (uint32_t j = 0; j < k->stages[0].ninner; j++)
        if (!lz_sz_is(a->stride[k->nouter + j], 0))
            return true;
    return false;
}

static int64_t updates(const lz_stage *st)
{
    int64_t n = 1;
    for (uint32_t j = 0; j < st->ninner; j++)
        n = st->extent[j].slot >= 0 ? INT64_MAX : simt_times(n, st->extent[j].v);
    return n;
}

int32_t simt_scatter_by(const lz_kernel *k)
{
    if (k->nstage != 1 || k->serial || k->nouter == 0)
        return -1;
    const lz_stage *st = &k->stages[0];
    if (st->nstore != 1 || st->nred || st->sort || st->nrow || !st->ninner || updates(st) <= FEW)
        return -1;
    const lz_access *to = &st->stores[0].at;
    if (to->ndyn != 1 || along_loops(k, to) || st->sops[to->dyn[0].sop].dtype != LZ_I64)
        return -1;
    bool marks[256] = {false};
    if (st->nsop > sizeof marks / sizeof *marks)
        return -1;
    kern_needs(st, to->dyn[0].sop, marks);
    for (uint32_t i = 0; i < st->nsop; i++) { /* what is stored does not say where */
        const lz_sop *p = &st->sops[i];
        const lz_access *a = p->kind == LZ_S_LOAD ? &st->accs[p->a] : NULL;
        if (!a || a->buf != to->buf)
            continue;
        if (marks[i] || a->ndyn != 1 || a->dyn[0].sop != to->dyn[0].sop || along_loops(k, a))
            return -1;
    }
    return to->dyn[0].sop;
}

/* ---- blocks and threads ---- */

void simt_scatter_dims(int64_t n, int64_t most, lz_simt_launch *out)
{
    int64_t warps = simt_ceil_div(n, SIMT_WARP) * (n < MANY_POINTS ? GROUPS : 1),
            blocks = simt_ceil_div(warps, THREADS / SIMT_WARP);
    out->block = THREADS;
    out->grid = (uint32_t)(blocks < most ? blocks : most);
}

/* ---- code ---- */

void simt_emit_scatter(simt *s, kern *c)
{
    static const kctx one = {.u = 1};
    em *e = c->e;
    const lz_kernel *k = c->k;
    Val size[LZ_OUTER_MAX], n = em_c64(e, 1);
    for (uint32_t d = 0; d < k->nouter; d++)
        n = MUL(n, size[d] = kern_size(c, k->outer[d]));
    c->own_by = simt_scatter_by(k);
    c->own_groups = SEL(ICMP(SLT, n, em_c64(e, MANY_POINTS)), em_c64(e, GROUPS), em_c64(e, 1));
    kern_top(c, 0);
    Val warps = LSHR(s->ntid, em_c64(e, 5)), lane = AND(s->tid, em_c64(e, SIMT_WARP - 1)),
        all = MUL(LSHR(ADD(n, em_c64(e, SIMT_WARP - 1)), em_c64(e, 5)), c->own_groups);
    em_loop l;
    em_if in;
    em_loop_begin(e, &l, ADD(MUL(s->ctaid, warps), LSHR(s->tid, em_c64(e, 5))), all,
                  MUL(s->nctaid, warps), 0, NULL);
    Val block = simt_udiv(e, l.i, c->own_groups),
        point = ADD(MUL(block, em_c64(e, SIMT_WARP)), lane);
    c->own_group = SUB(l.i, MUL(block, c->own_groups));
    em_if_begin(e, &in, ICMP(SLT, point, n));
    simt_split(e, point, size, k->nouter, c->oidx);
    kern_addresses(c, 0, POS_ROW);
    kern_eval(c, 0, POS_ROW, &one);
    kern_stage(c, 0, &one);
    em_if_end(e, &in, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, NULL);
}
