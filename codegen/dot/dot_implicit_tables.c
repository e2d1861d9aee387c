/* dot_implicit_tables.c - implicit GEMM: the indirection tables, which give the offset of A and the
 * step of B for each k. See dot_implicit.h.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot_implicit.h"

Val implicit_base(implicit *g, const lz_access *a)
{
    em *e = g->e;
    return em_at(e, g->c.buf[a->buf], kern_size(&g->c, a->offset), g->es);
}

/* B at k0, column vector v, for the batch that is set. */
Val implicit_b_at(implicit *g, Val k0, Val v)
{
    em *e = g->e;
    uint32_t n = g->k->stages[0].ninner, no = g->k->nouter;
    Val p = em_at(e, implicit_base(g, g->b), v, (int64_t)g->L * g->es), at = k0;
    for (uint32_t l = 0; l < g->n; l++)
        if (!implicit_is_row(g, l))
            p = em_at(e, p, MUL(g->c.oidx[l], dot_bytes(&g->c, g->es, g->b->stride[l])), 1);
    for (uint32_t q = n; q-- > 0;) {
        uint32_t l = g->order[q];
        Val i = q ? em_split_index(e, &at, em_smax(e, kern_inner(&g->c, 0, l), em_c64(e, 1))) : at;
        p = em_at(e, p, MUL(i, dot_bytes(&g->c, g->es, g->b->stride[no + l])), 1);
    }
    return p;
}

/* The tables of k from k0 on. */
void implicit_fill_tables(implicit *g, Val k0, Val kc)
{
    em *e = g->e;
    uint32_t n = g->k->stages[0].ninner, no = g->k->nouter;
    Val ext[LZ_LOOP_MAX] = {NULL}, i[LZ_LOOP_MAX + 1], at = k0;
    for (uint32_t q = n; q-- > 0;) {
        ext[q] = kern_inner(&g->c, 0, g->order[q]);
        i[q] = q ? em_split_index(e, &at, em_smax(e, ext[q], em_c64(e, 1))) : at;
    }
    Val b = em_c64(e, 0);
    for (uint32_t q = 0; q < n; q++)
        b = ADD(b, MUL(i[q], dot_bytes(&g->c, g->es, g->b->stride[no + g->order[q]])));
    i[n] = b;
    em_loop lk;
    em_loop_begin(e, &lk, em_c64(e, 0), kc, em_c64(e, 1), (int)n + 1, i);
    Val next[LZ_LOOP_MAX + 1], a = em_c64(e, 0), to = em_c64(e, 0);
    for (uint32_t q = 0; q < n; q++) {
        a = ADD(a, MUL(lk.phi[q], dot_bytes(&g->c, g->es, g->a->stride[no + g->order[q]])));
        next[q] = lk.phi[q];
    }
    dot_count_on(e, n, ext, next);
    for (uint32_t q = 0; q < n; q++)
        to = ADD(to, MUL(next[q], dot_bytes(&g->c, g->es, g->b->stride[no + g->order[q]])));
    em_store(e, a, em_at(e, g->off_a, lk.i, 8), 8);
    em_store(e, SUB(to, lk.phi[n]), em_at(e, g->step_b, lk.i, 8), 8);
    if (g->padded)
        em_store(e, SUB(lk.phi[n], b), em_at(e, g->at_b, lk.i, 8), 8);
    next[n] = to;
    em_loop_end(e, &lk, next);
}

Val implicit_part(em *e, Val a, Val b, Val n)
{
    Val zero = em_c64(e, 0), up = em_smax(e, ADD(a, SUB(b, em_c64(e, 1))), zero);
    return em_smin(e, LLVMBuildUDiv(e->b, up, b, ""), n);
}
