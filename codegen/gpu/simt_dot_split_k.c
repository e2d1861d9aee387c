/* simt_dot_split_k.c - split-K: the second kernel. Adds the partial sums of all slices, in order,
 * and runs the epilogue. simt_dot_cost.c decides whether K is split and into how many slices;
 * simt_dot_workspace.c says how partial tiles are laid out in the workspace.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_dot.h"

/* ---- the second function ---- */

static Val add(gemm *t, Val a, Val b)
{
    em *e = t->e;
    return lz_dtype_is_float(t->acc) ? FADD(a, b) : ADD(a, b);
}

/* n sums of all slices, from byte `at` of each. */
static Val of_all_parts(gemm *t, Val at, unsigned n)
{
    em *e = t->e;
    unsigned align = n * t->esize < GEMM_CHUNK ? n * t->esize : GEMM_CHUNK;
    Ty type = em_vec(t->elem, n);
    Val first = em_at(e, t->s->scratch, at, 1), next,
        each = gemm_workspace_at(t, MUL(gemm_workspace_matrices(t), t->M), em_c64(e, 0));
    Val sum = em_load(e, type, first, align);
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 1), t->nslices, em_c64(e, 1), 1, &sum);
    next = add(t, l.phi[0], em_load(e, type, em_at(e, first, MUL(l.i, each), 1), align));
    em_loop_end(e, &l, &next);
    return l.phi[0];
}

/* Every thread takes vectors of columns, or points. */
void gemm_split_k_reduce(gemm *t)
{
    em *e = t->e;
    simt *s = t->s;
    unsigned n = t->lanes ? t->lanes : 1;
    Val size[LZ_OUTER_MAX], at[LZ_OUTER_MAX], matrix = em_c64(e, 0);
    for (uint32_t d = 0; d < t->m; d++)
        size[d] = kern_size(&t->c, t->k->outer[d]);
    size[t->m] = t->M;
    size[t->n] = LLVMBuildUDiv(e->b, ADD(t->N, em_c64(e, n - 1)), em_c64(e, n), "");
    gemm_epilogue_top(t);
    em_loop l;
    em_loop_begin(e, &l, ADD(MUL(s->ctaid, s->ntid), s->tid),
                  MUL(MUL(gemm_workspace_matrices(t), t->M), size[t->n]), MUL(s->nctaid, s->ntid),
                  0, NULL);
    simt_split(e, l.i, size, t->n + 1, at);
    for (uint32_t d = 0; d < t->m; d++) {
        matrix = ADD(MUL(matrix, size[d]), at[d]);
        t->c.oidx[d] = t->cv.oidx[d] = at[d];
    }
    Val column = MUL(at[t->n], em_c64(e, n)), row = ADD(MUL(matrix, t->M), at[t->m]);
    gemm_epilogue_at(t, at[t->m], column, gemm_workspace_at(t, row, column), of_all_parts);
    em_loop_end(e, &l, NULL);
}
