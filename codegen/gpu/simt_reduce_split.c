/* simt_reduce_split.c - two-kernel reductions: the kernel that combines. Where rows or columns are
 * few, the longest loop of stage 0 is split into slices, each the work of a block (or warp) as if
 * it were the whole; it leaves its accumulators in the workspace (simt_reduce_workspace.c). This
 * kernel combines them, some slices each thread, then the threads of a block in a fixed order, and
 * runs the later stages. Of a column reduction a later stage may have loops, too (a variance after
 * a mean): a kernel between those two combines the slices of stage 0 in every block, runs the
 * stages before that one without their stores, and leaves that one's accumulators; the last kernel
 * does these stores. Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

/* ---- the last function ---- */

void simt_reduce_final_body(simt *s, kern *c)
{
    static const kctx one = {.u = 1};
    em *e = s->e;
    const lz_kernel *k = c->k;
    Val size[LZ_OUTER_MAX], n = em_c64(e, 1), log2 = em_c64(e, SIMT_LOG2_GROUPS);
    simt_reduce_col w = {.s = s, .log2 = log2};
    w.slices = AND(s->share, em_c64(e, UINT32_MAX));
    for (uint32_t d = 0; d < k->nouter; d++)
        n = MUL(n, size[d] = kern_size(c, k->outer[d]));
    simt_reduce_col_enter(&w, c);
    kern_top(c, 0);
    em_loop l;
    em_loop_begin(e, &l, s->ctaid, LSHR(ADD(n, SUB(w.wide, em_c64(e, 1))), w.log2_wide), s->nctaid,
                  0, NULL);
    simt_reduce_col_point(&w, c, l.i, n);
    simt_split(e, w.point, size, k->nouter, c->oidx);
    for (uint32_t i = 0; i < k->nstage; i++) {
        kern_addresses(c, i, POS_ROW);
        kern_eval(c, i, POS_ROW, &one);
    }
    for (uint32_t i = 0; i < k->nstage; i++) {
        if (k->stages[i].ninner)
            simt_workspace_join(&w, c, i, n, w.point);
        else
            kern_stage(c, i, &one);
    }
    em_loop_end(e, &l, NULL);
    c->threads = NULL;
}
