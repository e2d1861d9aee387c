/* simt_dot_epilogue.c - GEMM: the epilogue. Accumulators go to shared memory, the rows of one row
 * of warps at a time, and every thread runs the kernel's later stages on points, or vectors of
 * columns, that are neighbours in the result. With split-K a block stores its partial tile
 * instead. See simt_dot.h. Threads: belongs to one thread. */
#include "codegen/gpu/simt_dot.h"

static const kctx one_point = {.u = 1};

static bool without_loops(const lz_kernel *k)
{
    for (uint32_t s = 1; s < k->nstage; s++)
        if (k->stages[s].ninner)
            return false;
    return true;
}

void gemm_epilogue_plan(gemm *t)
{
    unsigned lanes = gemm_epilogue_lanes(t->k);
    t->lanes = 0;
    if (!without_loops(t->k) || kern_init_epilogue(&t->cv, t->e, t->k, lanes) != LZ_OK)
        return;
    t->cv.aligned = true;
    for (uint32_t s = 1; s < t->k->nstage; s++)
        if (!simt_vectors_suit(&t->cv, s))
            return;
    t->lanes = lanes;
}

/* Here and not at the start: what it finds would take registers from the sums. */
void gemm_epilogue_top(gemm *t)
{
    em *e = t->e;
    kern_top(&t->c, 1);
    if (!t->lanes)
        return;
    kern_top(&t->cv, 1);
    t->epilogue_aligned = em_true(e, 1);
    for (uint32_t s = 1; s < t->k->nstage; s++)
        t->epilogue_aligned = AND(t->epilogue_aligned, simt_vectors_aligned(&t->cv, s));
}

/* The later stages at a point, or of a vector of columns from it. */
static void run(gemm *t, kern *c, Val row, Val column, Val sum)
{
    gemm_row_indices(t, row, c->oidx);
    c->oidx[t->n] = column;
    c->st[0].red[0][0] = (Ev){sum, NULL};
    for (uint32_t s = 1; s < t->k->nstage; s++) {
        kern_addresses(c, s, POS_ROW);
        kern_eval(c, s, POS_ROW, &one_point);
    }
    for (uint32_t s = 1; s < t->k->nstage; s++)
        kern_stage(c, s, &one_point);
}

static void points(gemm *t, Val row, Val column, Val at, gemm_read *sums, unsigned n)
{
    em *e = t->e;
    em_loop l;
    em_if in;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, n), em_c64(e, 1), 0, NULL);
    Val x = ADD(column, l.i);
    em_if_begin(e, &in, AND(ICMP(SLT, row, t->M), ICMP(SLT, x, t->N)));
    run(t, &t->c, row, x, sums(t, ADD(at, MUL(l.i, em_c64(e, t->esize))), 1));
    em_if_end(e, &in, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, NULL);
}

void gemm_epilogue_at(gemm *t, Val row, Val column, Val at, gemm_read *sums)
{
    em *e = t->e;
    em_ifelse whole;
    unsigned n = t->lanes;
    if (!n) {
        points(t, row, column, at, sums, 1);
        return;
    }
    Val inside = AND(ICMP(SLT, row, t->M), ICMP(SLE, ADD(column, em_c64(e, n)), t->N));
    em_ifelse_begin(e, &whole, AND(t->epilogue_aligned, inside));
    run(t, &t->cv, row, column, sums(t, at, n));
    em_ifelse_else(e, &whole);
    points(t, row, column, at, sums, n);
    em_ifelse_end(e, &whole, 0, NULL, NULL, NULL);
}

static Val shared_sums(gemm *t, Val at, unsigned n)
{
    em *e = t->e;
    unsigned align = n * t->esize < GEMM_CHUNK ? n * t->esize : GEMM_CHUNK;
    return em_load(e, em_vec(t->elem, n),
                   em_at(e, t->s->shared, ADD(at, em_c64(e, gemm_acc_at(&t->p))), 1), align);
}

/* Rows of one row of warps, from m0. */
static void finish_rows(gemm *t, Val m0, Val n0)
{
    em *e = t->e;
    unsigned n = t->lanes ? t->lanes : 1, per_row = t->p.sn / n;
    em_loop l;
    em_loop_begin(e, &l, t->s->tid, em_c64(e, (int64_t)t->p.wm * per_row), em_c64(e, t->p.threads),
                  0, NULL);
    Val r = LLVMBuildUDiv(e->b, l.i, em_c64(e, per_row), ""),
        c = MUL(AND(l.i, em_c64(e, per_row - 1)), em_c64(e, n));
    Val at = ADD(MUL(r, em_c64(e, gemm_acc_pitch(&t->p, t->esize))), MUL(c, em_c64(e, t->esize)));
    gemm_epilogue_at(t, ADD(m0, r), ADD(n0, c), at, shared_sums);
    em_loop_end(e, &l, NULL);
}

/* What becomes of the sums of one row of warps, which are in shared memory. */
static void leave_rows(gemm *t, Val m0, Val n0)
{
    em *e = t->e;
    if (!t->split_k) {
        finish_rows(t, m0, n0);
        return;
    }
    em_ifelse which;
    em_ifelse_begin(e, &which, ICMP(SGT, t->nslices, em_c64(e, 1)));
    gemm_workspace_store(t, t->p.wm, m0, n0);
    em_ifelse_else(e, &which);
    finish_rows(t, m0, n0);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}

/* Columns part * sn and on, of all rows of warps. */
static void epilogue_part(gemm *t, Val m0, Val n0, const Val *sum, unsigned part)
{
    em *e = t->e;
    em_loop l;
    em_if mine;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, GEMM_DOWN), em_c64(e, 1), 0, NULL);
    simt_barrier(t->s); /* what this memory held has been read */
    em_if_begin(e, &mine, ICMP(EQ, t->down, l.i));
    gemm_acc_to_shared(t, sum, part);
    em_if_end(e, &mine, 0, NULL, NULL, NULL);
    simt_barrier(t->s);
    leave_rows(t, ADD(m0, MUL(l.i, em_c64(e, t->p.wm))),
               ADD(n0, em_c64(e, (int64_t)part * t->p.sn)));
    em_loop_end(e, &l, NULL);
}

/* All columns, some rows of each warpgroup at a time. */
static void epilogue_transposed(gemm *t, Val m0, Val n0, const Val *sum)
{
    em *e = t->e;
    unsigned parts = t->p.tm / t->p.wm;
    em_loop l;
    em_if now;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, parts), em_c64(e, 1), 0, NULL);
    simt_barrier(t->s); /* what this memory held has been read */
    for (unsigned part = 0; part < parts; part++) {
        em_if_begin(e, &now, ICMP(EQ, l.i, em_c64(e, part)));
        gemm_acc_to_shared(t, sum, part);
        em_if_end(e, &now, 0, NULL, NULL, NULL);
    }
    simt_barrier(t->s);
    leave_rows(t, ADD(m0, MUL(l.i, em_c64(e, t->p.wm))), n0);
    em_loop_end(e, &l, NULL);
}

void gemm_epilogue(gemm *t, Val m0, Val n0, const Val *sum)
{
    gemm_epilogue_top(t);
    if (t->p.swap_ab) {
        epilogue_transposed(t, m0, n0, sum);
        return;
    }
    for (unsigned part = 0; part < t->p.tn / t->p.sn; part++)
        epilogue_part(t, m0, n0, sum, part);
}
