/* simt_scatter.c - owner-computes scatter-add: scatters whose outer points never collide, but whose
 * updates do (gradients of embeddings). Several threads go through all updates of a point, and each
 * does those of the result rows it owns: updates of a row keep their order, and so the bits.
 * Neighbouring threads have neighbouring points, so a warp owns the same rows and does not diverge.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

/* ---- code ---- */

void simt_scatter_body(simt *s, kern *c)
{
    static const kctx one = {.u = 1};
    em *e = c->e;
    const lz_kernel *k = c->k;
    Val size[LZ_OUTER_MAX], n = em_c64(e, 1);
    for (uint32_t d = 0; d < k->nouter; d++)
        n = MUL(n, size[d] = kern_size(c, k->outer[d]));
    kern_threads threads = {.owned_by = simt_scatter_by(k)};
    c->threads = &threads;
    threads.owners =
        SEL(ICMP(SLT, n, em_c64(e, SCATTER_MANY_POINTS)), em_c64(e, SCATTER_GROUPS), em_c64(e, 1));
    kern_top(c, 0);
    Val warps = LSHR(s->ntid, em_c64(e, 5)), lane = AND(s->tid, em_c64(e, SIMT_WARP - 1)),
        all = MUL(LSHR(ADD(n, em_c64(e, SIMT_WARP - 1)), em_c64(e, 5)), threads.owners);
    em_loop l;
    em_if in;
    em_loop_begin(e, &l, ADD(MUL(s->ctaid, warps), LSHR(s->tid, em_c64(e, 5))), all,
                  MUL(s->nctaid, warps), 0, NULL);
    Val block = simt_udiv(e, l.i, threads.owners),
        point = ADD(MUL(block, em_c64(e, SIMT_WARP)), lane);
    threads.owner = SUB(l.i, MUL(block, threads.owners));
    em_if_begin(e, &in, ICMP(SLT, point, n));
    simt_split(e, point, size, k->nouter, c->oidx);
    kern_addresses(c, 0, POS_ROW);
    kern_eval(c, 0, POS_ROW, &one);
    kern_stage(c, 0, &one);
    em_if_end(e, &in, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, NULL);
    c->threads = NULL;
}
