/* simt_dot.c - GEMM kernels: the main loops for mma.sync and wgmma (mainloop, mainloop_wgmma), and
 * the order of emission. See simt_dot.h. Rows, columns and k past the end are zero-filled. Threads:
 * belongs to one thread. */
#include "codegen/gpu/simt_dot.h"
#include <string.h>

/* ---- tile loads ---- */

/* Where the k-tile is that is loaded next: its start along k, and bytes to it from the first k-tile
 * of both factors. It is carried along, since finding it takes divisions; factors that are
 * evaluated need the indices themselves. */
enum { PLACE = 3 };

/* Single threads that multiply have no registers to spare. */
static unsigned nplace(const gemm *t)
{
    return t->p.mma && t->a.copied && t->b.copied ? PLACE : 0;
}

static void place_of(gemm *t, Val j, Val *place)
{
    if (!nplace(t))
        return;
    place[0] = gemm_locate_k_tile(t, j);
    place[1] = gemm_k_tile_offset(t, &t->a, place[0]);
    place[2] = gemm_k_tile_offset(t, &t->b, place[0]);
}

/* That of k-tile j from the one before it: further along k, or where another inner loop goes on. */
static void next_place(gemm *t, Val j, const Val *place, Val *next)
{
    em *e = t->e;
    uint32_t kd = t->k->nouter + t->ki;
    Val kt = em_c64(e, t->p.kt), there[PLACE];
    em_if on;
    if (!nplace(t))
        return;
    Val further[PLACE] = {ADD(place[0], kt), ADD(place[1], gemm_offset(t, &t->a, kd, kt)),
                          ADD(place[2], gemm_offset(t, &t->b, kd, kt))};
    memcpy(next, further, sizeof further);
    if (t->ki == 0)
        return;
    em_if_begin(e, &on, ICMP(SGE, further[0], t->K));
    place_of(t, j, there);
    em_if_end(e, &on, PLACE, there, further, next);
}

/* K-tile j into its stage, if there is one. */
static void load_ahead(gemm *t, Val j, Val n, Val stage, const Val *place)
{
    em *e = t->e;
    em_if more;
    em_if_begin(e, &more, ICMP(SLT, j, n));
    bool known = nplace(t) > 0;
    Val k0 = known ? place[0] : gemm_locate_k_tile(t, j);
    t->k_tile = known ? j : NULL;
    t->a.k_tile = known ? place[1] : NULL;
    t->b.k_tile = known ? place[2] : NULL;
    gemm_load_tile(t, &t->a, k0, stage);
    gemm_load_tile(t, &t->b, k0, stage);
    em_if_end(e, &more, 0, NULL, NULL, NULL);
    simt_cp_async_commit(t->s);
}

/* Sums of a tile over k-tiles first..end-1. Iteration i starts the load of k-tile i + stages - 1
 * into the stage that was multiplied last, and multiplies k-tile i; the first iterations (the
 * prologue) only load. */
static void mainloop(gemm *t, Val first, Val end, Val *sum)
{
    em *e = t->e;
    unsigned n = gemm_nacc(t), ahead = t->p.stages - 1;
    Val carried[GEMM_ACC + 2 + PLACE], next[GEMM_ACC + 2 + PLACE];
    memcpy(carried, sum, n * sizeof *sum);
    carried[n] = em_c64(e, 0); /* stage that is loaded */
    carried[n + 1] =
        em_c64(e, gemm_stage_bytes(&t->p)); /* stage that is multiplied: comes to 0 in time */
    place_of(t, first, carried + n + 2);
    em_loop l;
    em_loop_begin(e, &l, SUB(first, em_c64(e, ahead)), end, em_c64(e, 1), (int)(n + 2 + nplace(t)),
                  carried);
    simt_cp_async_wait(t->s, ahead - 1);
    simt_barrier(t->s);
    Val j = ADD(l.i, em_c64(e, ahead));
    load_ahead(t, j, end, l.phi[n], l.phi + n + 2);
    next_place(t, ADD(j, em_c64(e, 1)), l.phi + n + 2, next + n + 2);
    memcpy(next, l.phi, n * sizeof *next);
    em_if ready;
    em_if_begin(e, &ready, ICMP(SGE, l.i, first));
    gemm_acc_add(t, l.phi[n + 1], next);
    em_if_end(e, &ready, (int)n, next, l.phi, next);
    next[n] = gemm_next_stage(t, l.phi[n]);
    next[n + 1] = gemm_next_stage(t, l.phi[n + 1]);
    em_loop_end(e, &l, next);
    memcpy(sum, l.phi, n * sizeof *sum);
}

/* ---- main loops ---- */

/* The main loop for wgmma: loads go on while the warpgroups multiply. */
static void mainloop_wgmma(gemm *t, Val first, Val end, Val *sum)
{
    em *e = t->e;
    unsigned n = gemm_nacc(t), ahead = t->p.stages - 1;
    Val carried[GEMM_ACC + 2 + PLACE], next[GEMM_ACC + 2 + PLACE], loads[1 + PLACE];
    em_loop l;
    simt_barrier(t->s); /* what this memory held has been read */
    loads[0] = em_c64(e, 0);
    place_of(t, first, loads + 1);
    em_loop_begin(e, &l, first, ADD(first, em_c64(e, ahead)), em_c64(e, 1), (int)(1 + nplace(t)),
                  loads);
    load_ahead(t, l.i, end, l.phi[0], l.phi + 1);
    loads[0] = gemm_next_stage(t, l.phi[0]);
    next_place(t, ADD(l.i, em_c64(e, 1)), l.phi + 1, loads + 1);
    em_loop_end(e, &l, loads);
    memcpy(carried, sum, n * sizeof *sum);
    memcpy(carried + n + 2, l.phi + 1, nplace(t) * sizeof *carried);
    carried[n] = l.phi[0];
    carried[n + 1] = em_c64(e, 0);
    em_loop_begin(e, &l, first, end, em_c64(e, 1), (int)(n + 2 + nplace(t)), carried);
    simt_cp_async_wait(t->s, ahead - 1);
    simt_wgmma_fence(t->s);
    simt_barrier(t->s);
    memcpy(next, l.phi, n * sizeof *next);
    gemm_wgmma_multiply(t, l.phi[n + 1], 0, next);
    Val j = ADD(l.i, em_c64(e, ahead));
    load_ahead(t, j, end, l.phi[n], l.phi + n + 2);
    next_place(t, ADD(j, em_c64(e, 1)), l.phi + n + 2, next + n + 2);
    gemm_wgmma_wait(t, next, 0);
    next[n] = gemm_next_stage(t, l.phi[n]);
    next[n + 1] = gemm_next_stage(t, l.phi[n + 1]);
    em_loop_end(e, &l, next);
    memcpy(sum, l.phi, n * sizeof *sum);
}

static void mainloop_any(gemm *t, Val first, Val end, Val *sum)
{
    gemm_factor_tile(t, &t->a);
    gemm_factor_tile(t, &t->b);
    if (t->p.wgmma)
        mainloop_wgmma(t, first, end, sum);
    else
        mainloop(t, first, end, sum);
}

/* The main loop for aligned 16-byte chunks (FMA, or tf32) where the run-time sizes allow it. */
static void mainloop_fast(gemm *t, Val first, Val end, Val *sum)
{
    em *e = t->e;
    unsigned n = gemm_nacc(t);
    Val fast[GEMM_ACC], any[GEMM_ACC];
    memcpy(fast, sum, n * sizeof *sum);
    memcpy(any, sum, n * sizeof *sum);
    em_ifelse which;
    em_ifelse_begin(e, &which, t->p.wgmma ? gemm_tf32_mainloop_here(t) : gemm_fma_mainloop_here(t));
    if (t->p.wgmma)
        gemm_tf32_mainloop(t, first, end, fast);
    else
        gemm_fma_mainloop(t, first, end, fast);
    em_ifelse_else(e, &which);
    mainloop_any(t, first, end, any);
    em_ifelse_end(e, &which, (int)n, fast, any, sum);
}

static Val make_tile(gemm *t, Val slice, Val before)
{
    Val sum[GEMM_ACC], first, end;
    gemm_k_tiles_of_slice(t, slice, &first, &end);
    for (unsigned i = 0; i < gemm_nacc(t); i++)
        sum[i] = LLVMConstNull(t->elem);
    if (gemm_fma_mainloop_suits(t) || gemm_tf32_mainloop_suits(t))
        mainloop_fast(t, first, end, sum);
    else
        mainloop_any(t, first, end, sum);
    gemm_epilogue(t, t->a.x0, t->b.x0, sum);
    return before;
}

/* The function's start; n other users of its parameters than c. */
static void begin(gemm *t, kern *const *others, int n)
{
    simt_begin(t->s, &t->c);
    for (int i = 0; i < n; i++)
        kern_share(others[i], &t->c);
    t->M = t->a.X = gemm_all_rows(t);
    t->N = t->b.X = kern_size(&t->c, t->k->outer[t->n]);
    t->nslices = t->split_k ? t->s->share : NULL;
}

static void locate_warp(gemm *t)
{
    em *e = t->e;
    t->K = kern_size(&t->c, t->k->stages[0].extent[t->ki]);
    Val warp = LSHR(t->s->tid, em_c64(e, 5));
    t->lane = AND(t->s->tid, em_c64(e, SIMT_WARP - 1));
    t->down = AND(warp, em_c64(e, GEMM_DOWN - 1));
    t->across = LLVMBuildUDiv(e->b, warp, em_c64(e, GEMM_DOWN), "");
    if (t->p.wgmma)
        t->down = gemm_warpgroup(t);
}

static void emit(gemm *t)
{
    em *e = t->e;
    kern *others[5] = {&t->a.one, &t->a.many, &t->b.one, &t->b.many, &t->cv};
    begin(t, others, t->lanes ? 5 : 4);
    locate_warp(t);
    if (t->p.tma) {
        gemm_tma_body(t);
    } else {
        gemm_factor_top(t, &t->a);
        gemm_factor_top(t, &t->b);
        gemm_acc_top(t);
        gemm_each(t, make_tile);
    }
    LLVMBuildRetVoid(e->b);
}

/* SIMT_FINAL: the kernel that adds the slices. */
static void emit_split_k_reduce(gemm *t)
{
    kern *cv = &t->cv;
    begin(t, &cv, t->lanes ? 1 : 0);
    gemm_split_k_reduce(t);
    LLVMBuildRetVoid(t->e->b);
}

static lz_status plan(gemm *t)
{
    const lz_kernel *k = t->k;
    gemm_shape_of(k, t->e->t, t->s->entry, &t->p);
    t->split_k = simt_gemm_splits_k(k);
    t->acc = k->stages[0].reds[0].acc_dtype[0];
    t->elem = em_type(t->e, t->acc, 1);
    t->esize = (unsigned)lz_dtype_size(t->acc);
    LZ_TRY(kern_init_scalar(&t->c, t->e, k));
    gemm_epilogue_plan(t);
    if (t->s->entry == SIMT_FINAL)
        return LZ_OK;
    t->b.first = gemm_factor_bytes(&t->p, t->p.tm);
    LZ_TRY(gemm_factor_init(t, &t->a, t->m, lz_kernel_dot(k)->a_sop));
    return gemm_factor_init(t, &t->b, t->n, lz_kernel_dot(k)->b_sop);
}

static lz_status emit_entry(simt *s)
{
    const lz_kernel *k = s->k;
    gemm *t = lz_calloc(1, sizeof *t);
    if (!t)
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", k->name);
    bool whole = s->entry == SIMT_TMA || s->entry == SIMT_FINAL; /* these go by loops */
    *t = (gemm){.s = s, .e = s->e, .k = k, .m = lz_kernel_dot(k)->m, .n = lz_kernel_dot(k)->n};
    t->rows = whole ? t->m : simt_gemm_rows(k);
    t->ki = k->stages[0].ninner - 1;
    lz_status r = plan(t);
    if (r == LZ_OK && s->entry == SIMT_FINAL)
        emit_split_k_reduce(t);
    else if (r == LZ_OK)
        emit(t);
    kern *all[6] = {&t->a.one, &t->a.many, &t->b.one, &t->b.many, &t->c, &t->cv};
    for (int i = 0; i < 6; i++)
        kern_done(all[i]);
    lz_free(t);
    return r;
}

lz_status simt_emit_gemm(simt *s)
{
    for (lz_simt_entry i = SIMT_MAIN; i < SIMT_ENTRIES; i++) {
        simt one = *s;
        one.entry = i;
        one.plan.max_block = i == SIMT_FINAL ? SIMT_THREADS : simt_gemm_threads(s->k, s->e->t, i);
        one.plan.min_blocks = i == SIMT_MAIN ? s->plan.min_blocks : 1;
        if (lz_simt_entry_name(s->k, s->e->t, i))
            LZ_TRY(emit_entry(&one));
    }
    return LZ_OK;
}
