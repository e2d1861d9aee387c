/* simt_dot_workspace.c - split-K: the workspace in device memory that the slices of K leave their
 * partial tiles in. See simt_dot.h. It holds one matrix of partial sums per slice, row-major, each
 * row padded to 16 bytes.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_dot.h"

/* Sums in 16 bytes. */
unsigned gemm_workspace_chunk(const gemm *t)
{
    return GEMM_CHUNK / t->esize;
}

/* Sums in a row. Here and below nothing is kept for long: the sums need the registers. */
static Val pitch(gemm *t)
{
    em *e = t->e;
    return AND(ADD(t->N, em_c64(e, gemm_workspace_chunk(t) - 1)),
               em_c64(e, -(int64_t)gemm_workspace_chunk(t)));
}

Val gemm_workspace_matrices(gemm *t)
{
    em *e = t->e;
    Val n = em_c64(e, 1);
    for (uint32_t d = 0; d < t->m; d++)
        n = MUL(n, kern_size(&t->c, t->k->outer[d]));
    return n;
}

Val gemm_workspace_row(gemm *t, Val slice, Val matrix)
{
    em *e = t->e;
    return MUL(ADD(MUL(slice, gemm_workspace_matrices(t)), matrix),
               kern_size(&t->c, t->k->outer[t->m]));
}

/* Byte of a column of a row of scratch memory. */
Val gemm_workspace_at(gemm *t, Val row, Val column)
{
    em *e = t->e;
    return MUL(ADD(MUL(row, pitch(t)), column), em_c64(e, t->esize));
}

void gemm_workspace_store(gemm *t, unsigned rows, Val m0, Val n0)
{
    em *e = t->e;
    unsigned n = gemm_workspace_chunk(t), per_row = t->p.sn / n;
    em_loop l;
    em_if in;
    em_loop_begin(e, &l, t->s->tid, em_c64(e, (int64_t)rows * per_row), em_c64(e, t->p.threads), 0,
                  NULL);
    Val r = LLVMBuildUDiv(e->b, l.i, em_c64(e, per_row), ""),
        c = MUL(AND(l.i, em_c64(e, per_row - 1)), em_c64(e, n)), row = ADD(m0, r),
        column = ADD(n0, c);
    em_if_begin(e, &in, AND(ICMP(SLT, row, t->M), ICMP(SLT, column, t->N)));
    Val from = ADD(MUL(r, em_c64(e, gemm_acc_pitch(&t->p, t->esize))), MUL(c, em_c64(e, t->esize))),
        to = gemm_workspace_at(t, ADD(t->first_row, row), column);
    Val v =
        em_load(e, em_vec(t->elem, n),
                em_at(e, t->s->shared, ADD(from, em_c64(e, gemm_acc_at(&t->p))), 1), GEMM_CHUNK);
    em_store(e, v, em_at(e, t->s->scratch, to, 1), GEMM_CHUNK);
    em_if_end(e, &in, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, NULL);
}
