/* dot_blocking.c - GEMM on a CPU: the macro-kernel. Work partition into units, their sizes, and the
 * loops of a unit around the micro-kernel. See dot.h.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot.h"
#include <string.h>

enum {
    UNITS = 8,        /* for threads to share; */
    UNITS_DIRECT = 16 /* where more cost nothing */
};

/* ---- sizes ---- */

static dot_columns columns(const dot *g)
{
    return (dot_columns){g->V, g->CB, g->nv, g->nv_small};
}

/* The columns are cut into panels, as few as possible. */
static void count_panels(dot *g)
{
    em *e = g->e;
    Val fewest = em_ceil_div(e, g->V, g->nv), one = em_c64(e, 1);
    g->panels = em_smax(e, fewest, one);
}

/* Into how many blocks, for at least `units` units where there are `others` of each. */
static Val units_for(dot *g, int64_t units, Val others)
{
    em *e = g->e;
    return em_smax(e, LLVMBuildUDiv(e->b, ADD(em_c64(e, units - 1), others), others, ""),
                   em_c64(e, 1));
}

/* B is not worth packing: few rows use it, or it stays in the L2 cache unpacked and the rows of
 * a panel do not fall on the same few sets of the L1. */
static Val b_in_place(dot *g)
{
    em *e = g->e;
    if (!g->b_place)
        return em_ci(e->i1, 0);
    Val few = ICMP(SLE, g->M, em_c64(e, dot_few_rows(g)));
    Val small = ICMP(SLE, MUL(g->K, g->row_b), em_c64(e, 2 * g->e->t->machine.l2_bytes));
    return OR(few, AND(small, dot_rows_apart(e, g->row_b)));
}

/* Blocks of columns and rows. Enough units for the threads to share, of columns first: a block of
 * rows packs B again when K has several blocks, so where the sums need no block of their own there
 * are just as many as the threads want. Where neither factor is packed a block has one panel, which
 * stays in the L2 cache for all its rows. */
static void divide(dot *g)
{
    em *e = g->e;
    Val one = em_c64(e, 1), batch = em_smax(e, g->batch, one);
    Val fit = em_ceil_div(e, g->panels, g->nc / g->nv);
    Val rows = em_smax(e, em_ceil_div(e, g->T, g->mc), one), least = rows;
    Val wide = em_smax(e, fit, em_smin(e, g->panels, units_for(g, UNITS, batch)));
    if (g->plain && g->amode != DOT_A_COLS) {
        Val few = em_smin(e, rows, units_for(g, UNITS, MUL(batch, wide)));
        rows = SEL(ICMP(SGT, g->KB, one), few, rows);
    }
    g->RB = rows;
    g->CB = em_smax(e, fit, em_smin(e, g->panels, units_for(g, UNITS, MUL(batch, rows))));
    g->CB = dot_share_equally(e, MUL(batch, rows), g->CB, g->panels);
    g->each = b_in_place(g);
    if (g->amode != DOT_A_PLACE)
        g->each = em_ci(e->i1, 0);
    Val more = units_for(g, UNITS_DIRECT, MUL(batch, g->panels));
    g->RB = SEL(g->each, em_smax(e, least, em_smin(e, em_smax(e, g->T, one), more)), g->RB);
    g->CB = SEL(g->each, g->panels, g->CB);
}

/* What the numbers are computed from. */
static void products(dot *g)
{
    em *e = g->e;
    kern *c = &g->c;
    Val one = em_c64(e, 1), zero = em_c64(e, 0);
    g->M = kern_outer(c, g->m);
    g->N = kern_outer(c, g->n);
    g->K = kern_inner(c, 0, g->ki);
    g->KO = g->batch = one;
    for (uint32_t d = 0; d < g->ki; d++) { /* without elements it is a block of none */
        Val n = kern_inner(c, 0, d);
        g->K = SEL(ICMP(SGT, n, zero), g->K, zero);
        g->KO = MUL(g->KO, em_smax(e, n, one));
    }
    for (uint32_t d = 0; d < g->m; d++)
        g->batch = MUL(g->batch, kern_outer(c, d));
    g->row_b = zero;
    if (g->b_place)
        g->row_b = dot_bytes(c, g->es, dot_access(g, lz_kernel_dot(g->k)->b_sop)->stride[g->kd]);
}

static void emit_dims(dot *g)
{
    em *e = g->e;
    Val one = em_c64(e, 1), zero = em_c64(e, 0);
    g->T = em_ceil_div(e, g->M, g->mr);
    g->V = em_ceil_div(e, g->N, g->L);
    g->KS = em_ceil_div(e, g->K, (int64_t)1 << g->words);
    g->KN = em_smax(e, em_ceil_div(e, g->KS, g->kc), one);
    g->KB = MUL(g->KN, g->KO);
    count_panels(g);
    divide(g);
    g->direct = b_in_place(g);
    g->wide = dot_block_most(e, columns(g));
    Val empty = OR(ICMP(EQ, g->M, zero), ICMP(EQ, g->N, zero));
    g->grid = SEL(empty, zero, MUL(MUL(g->batch, g->RB), g->CB));
}

/* Bytes of the parts of the scratch memory. */
static void scratch_parts(dot *g)
{
    em *e = g->e;
    Val kc = LLVMBuildUDiv(e->b, ADD(g->KS, SUB(g->KN, em_c64(e, 1))), g->KN, "");
    Val b = MUL(MUL(g->wide, ADD(kc, em_c64(e, g->L))), em_c64(e, (int64_t)g->L * g->es));
    b = AND(ADD(b, em_c64(e, 63)), em_c64(e, -64));
    g->npack_b = SEL(g->direct, em_c64(e, 0), b);
    int64_t na = g->amode == DOT_A_ROWS   ? dot_a_stride(g) * g->mr
                 : g->amode == DOT_A_COLS ? dot_a_stride(g) * g->kc
                                          : 0;
    g->npack_a = em_c64(e, (na + 63) / 64 * 64);
    /* Of all rows of the longest unit: where sums are stored as they are, most tiles need none of
     * it, but the last one does. */
    Val most_rows = MUL(em_ceil(e, g->T, g->RB), em_c64(e, g->mr));
    Val rows = SEL(ICMP(SGT, g->KB, em_c64(e, 1)), most_rows, em_c64(e, g->mr));
    Val nblock = MUL(MUL(g->wide, rows), em_c64(e, (int64_t)g->L * g->es));
    g->scratch = ADD(ADD(g->npack_a, g->npack_b), ADD(nblock, em_c64(e, 256)));
}

void dot_emit_blocking(dot *g)
{
    em *e = g->e;
    g->numbers =
        (em_numbers){.from = {&g->M, &g->N, &g->K, &g->KO, &g->batch, &g->row_b},
                     .v = {&g->KS, &g->T, &g->V, &g->RB, &g->CB, &g->each, &g->KN, &g->KB,
                           &g->direct, &g->wide, &g->npack_b, &g->npack_a, &g->grid, &g->scratch},
                     .nfrom = 6,
                     .n = 14};
    em_numbers_begin(e, &g->numbers);
    emit_dims(g);
    scratch_parts(g);
    em_numbers_end(e, &g->numbers);
    Val f = dot_sizes_begin(&g->base);
    products(g);
    dot_emit_sizes(&g->base, f, &g->numbers, &g->grid, &g->scratch);
}

/* ---- the loops ---- */

/* A unit of the work partition. */
typedef struct unit {
    Val r0, r1, v0, v1; /* rows, vectors of columns */
    Val direct;         /* B in place */
    Val c_stride;       /* bytes between rows of the sums */
    Val keep;           /* B is packed already */
    Val more_rows;      /* the next unit has the same columns */
} unit;

/* Where the panel of vector v of v0.. is, kc rows deep. */
Val dot_panel_at(dot *g, Val v0, Val v, Val kc)
{
    em *e = g->e;
    Val rows = g->alike ? ADD(kc, em_c64(e, 1)) : kc;
    return em_at(e, g->pack_b, MUL(SUB(v, v0), rows), (int64_t)g->L * g->es);
}

void dot_panels_begin(dot *g, Val v0, Val v1, dot_panels *p)
{
    em *e = g->e;
    Blk from = LLVMGetInsertBlock(e->b);
    p->v0 = v0;
    p->v1 = v1;
    p->body = LLVMAppendBasicBlockInContext(e->cx, e->f, "");
    p->exit = LLVMAppendBasicBlockInContext(e->cx, e->f, "");
    LLVMBuildCondBr(e->b, ICMP(SLT, v0, v1), p->body, p->exit);
    LLVMPositionBuilderAtEnd(e->b, p->body);
    p->v = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(p->v, &v0, &from, 1);
    if (g->nv == g->nv_small)
        p->small = em_ci(e->i1, 0);
    else if (g->near || g->nv_small == 1)
        p->small = ICMP(SLT, SUB(v1, p->v), em_c64(e, g->nv));
    else if (g->nv % g->nv_small == 0)
        p->small = ICMP(SLE, SUB(v1, p->v), em_c64(e, g->nv_small));
    else
        p->small = ICMP(NE, LLVMBuildURem(e->b, SUB(v1, p->v), em_c64(e, g->nv), ""), em_c64(e, 0));
    p->nv = SEL(p->small, em_c64(e, g->nv_small), em_c64(e, g->nv));
}

void dot_panels_end(dot *g, dot_panels *p)
{
    em *e = g->e;
    Val next = ADD(p->v, p->nv);
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildCondBr(e->b, ICMP(SLT, next, p->v1), p->body, p->exit);
    LLVMAddIncoming(p->v, &next, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, p->exit);
}

void dot_pack_panels(dot *g, Val v0, Val v1, Val k0, Val kc)
{
    em *e = g->e;
    dot_panels p;
    dot_panels_begin(g, v0, v1, &p);
    Val out = dot_panel_at(g, v0, p.v, kc);
    if (g->nv == g->nv_small || g->bmode == DOT_B_COLS) {
        dot_pack_b(g, k0, kc, p.v, p.nv, g->nv, out);
    } else {
        em_ifelse s;
        em_ifelse_begin(e, &s, p.small);
        dot_pack_b(g, k0, kc, p.v, p.nv, g->nv_small, out);
        em_ifelse_else(e, &s);
        dot_pack_b(g, k0, kc, p.v, p.nv, g->nv, out);
        em_ifelse_end(e, &s, 0, NULL, NULL, NULL);
    }
    dot_panels_end(g, &p);
}

/* The epilogue of the rows of a panel. */
static void epilogue_tile(dot *g, Val r, Val nrows, Val v, Val past, Val c, Val c_stride)
{
    em *e = g->e;
    em_loop li;
    em_loop_begin(e, &li, em_c64(e, 0), nrows, em_c64(e, 1), 0, NULL);
    g->c.oidx[g->m] = ADD(r, li.i);
    dot_epilogue_row(&g->c, g->n, g->N, em_at(e, c, MUL(li.i, c_stride), 1), v, past,
                     &(dot_panel){g->nv, g->nv_small});
    em_loop_end(e, &li, NULL);
}

/* Prefetches what the epilogue reads and writes while the tile is multiplied. */
static void prefetch_tile(dot *g, Val here, Val r, Val nrows, Val v)
{
    em *e = g->e;
    em_if s;
    em_loop li;
    if (g->plain || !dot_prefetches_rows(&g->c, g->n))
        return;
    em_if_begin(e, &s, here);
    em_loop_begin(e, &li, em_c64(e, 0), nrows, em_c64(e, 1), 0, NULL);
    g->c.oidx[g->m] = ADD(r, li.i);
    dot_prefetch_row(&g->c, g->n, v, g->nv);
    em_loop_end(e, &li, NULL);
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}

/* The tile's rows of A at k0, and the bytes between them. */
static void tile_a(dot *g, const unit *w, Val r, Val nrows, Val k0, Val kc, Val *args)
{
    em *e = g->e;
    args[MICRO_A] = g->pack_a;
    args[MICRO_A_STRIDE] = em_c64(e, dot_a_stride(g));
    if (g->amode == DOT_A_PLACE) {
        kern *f = &g->a;
        dot_share_indices(g, f);
        f->oidx[g->m] = r;
        f->iidx[g->ki] = k0;
        kern_advance(f, 0, POS_TOP, POS_POINT, dot_fixed_loops(g) | 1u << g->m | 1u << g->kd);
        uint32_t i = (uint32_t)g->k->stages[0].sops[lz_kernel_dot(g->k)->a_sop].a;
        args[MICRO_A] = f->st[0].ptr[POS_POINT][i];
        args[MICRO_A_STRIDE] =
            MUL(kern_size(f, f->st[0].s->accs[i].stride[g->m]), em_c64(e, g->es));
    } else if (g->amode == DOT_A_ROWS) {
        dot_pack_a(g, r, nrows, k0, kc);
    } else {
        args[MICRO_A] = em_at(e, g->pack_a, SUB(r, w->r0), g->es);
    }
}

/* Rows of the tile that follows: two a panel where the panels of a tile fetch it together, and all
 * of them where a unit has one panel, after whose last tile the first one follows. NULL where the
 * caches bring what is used anyway. */
static void next_rows(dot *g, const unit *w, Val r, Val v, Val *args)
{
    em *e = g->e;
    Val near = LLVMConstNull(e->ptr), none = em_c64(e, 0);
    args[MICRO_NEXT_ROWS] = none;
    if (g->amode != DOT_A_PLACE) {
        args[MICRO_NEXT] = SEL(w->direct, near, args[MICRO_A]);
        return;
    }
    Val mr = em_c64(e, g->mr), next = ADD(r, mr);
    Val two = SHL(em_ceil_div(e, SUB(v, w->v0), g->nv), em_c64(e, 1)); /* narrow ones are first */
    Val shared = SEL(ICMP(ULT, two, mr), ADD(two, mr), none);
    Val alone = SUB(SEL(ICMP(SLT, next, w->r1), next, w->r0), r);
    Val row = SEL(w->direct, alone, shared);
    Val at = em_at(e, args[MICRO_A], MUL(row, args[MICRO_A_STRIDE]), 1);
    Val few = ICMP(SLE, g->M, em_c64(e, dot_few_rows(g)));
    args[MICRO_NEXT] = SEL(AND(w->direct, few), near, at);
    args[MICRO_NEXT_ROWS] = SEL(w->direct, em_c64(e, DOT_MR - 1), em_c64(e, 1));
}

/* The last 2^n tiles of rows fetch the block of B that is packed next, as much of this panel's
 * each, where both blocks leave room for A in the L2 cache; others what they have. */
static void far_rows(dot *g, const unit *w, Val r, Val v, Val k0, Val kc, Val *args)
{
    em *e = g->e;
    Val zero = em_c64(e, 0), one = em_c64(e, 1);
    args[MICRO_FAR] = args[MICRO_B];
    args[MICRO_FAR_STRIDE] = zero;
    args[MICRO_FAR_LOG] = em_c64(e, g->log_steps + g->log_lines);
    if (!g->b_place || g->stream)
        return;
    Val tiles = em_ceil_div(e, SUB(w->r1, w->r0), g->mr),
        i = LLVMBuildUDiv(e->b, SUB(r, w->r0), em_c64(e, g->mr), "");
    Val lz =
        em_intr(e, "llvm.ctlz", &e->i64, 1, (Val[]){OR(SUB(tiles, one), one), em_ci(e->i1, 0)}, 2);
    Val log = SUB(em_c64(e, 63), lz), from = SUB(tiles, SHL(one, log));
    Val wide = SUB(w->v1, w->v0), block = MUL(MUL(wide, kc), em_c64(e, (int64_t)g->L * g->es));
    Val fit = ICMP(SLE, block, em_c64(e, g->e->t->machine.l2_bytes * 3 / 8));
    Val deeper = ICMP(SLT, ADD(k0, kc), g->KS), again = AND(w->more_rows, ICMP(SGT, g->KB, one));
    Val same = OR(deeper, again), col = SEL(same, v, ADD(v, wide));
    Val some =
        AND(AND(ICMP(SGE, i, from), ICMP(SGE, log, em_c64(e, g->log_lines))),
            AND(AND(ICMP(SLT, col, g->V), AND(fit, NOT(w->direct))), OR(same, NOT(w->more_rows))));
    kern *f = &g->b;
    f->oidx[g->n] = MUL(col, em_c64(e, g->L));
    f->iidx[g->ki] = ADD(SEL(deeper, ADD(k0, kc), zero), MUL(SUB(i, from), LSHR(kc, log)));
    kern_advance(f, 0, POS_TOP, POS_POINT, dot_fixed_loops(g) | 1u << g->n | 1u << g->kd);
    uint32_t x = (uint32_t)g->k->stages[0].sops[lz_kernel_dot(g->k)->b_sop].a;
    Val stride = MUL(kern_size(f, f->st[0].s->accs[x].stride[g->kd]), em_c64(e, g->es));
    args[MICRO_FAR] = SEL(some, f->st[0].ptr[POS_POINT][x], args[MICRO_FAR]);
    args[MICRO_FAR_STRIDE] = SEL(some, stride, zero);
    args[MICRO_FAR_LOG] = SEL(some, log, args[MICRO_FAR_LOG]);
}

/* A panel of B: packed, in place, or in place and packed on the way. */
static void tile_b(dot *g, const unit *w, const dot_panels *p, Val r, Val k0, Val kc, Val *args)
{
    em *e = g->e;
    Val nowhere = LLVMConstNull(e->ptr), packed = dot_panel_at(g, w->v0, p->v, kc);
    args[MICRO_B] = packed;
    args[MICRO_B_STRIDE] = MUL(p->nv, em_c64(e, (int64_t)g->L * g->es));
    args[MICRO_KEEP] = nowhere;
    args[MICRO_COLS] = em_c64(e, INT32_MAX);
    if (!g->b_place)
        return;
    Val fresh = AND(ICMP(EQ, r, w->r0), NOT(OR(w->keep, w->direct))), place = OR(w->direct, fresh);
    kern *f = &g->b;
    dot_share_indices(g, f);
    f->oidx[g->n] = MUL(p->v, em_c64(e, g->L));
    f->iidx[g->ki] = k0;
    kern_advance(f, 0, POS_TOP, POS_POINT, dot_fixed_loops(g) | 1u << g->n | 1u << g->kd);
    uint32_t i = (uint32_t)g->k->stages[0].sops[lz_kernel_dot(g->k)->b_sop].a;
    Val stride = MUL(kern_size(f, f->st[0].s->accs[i].stride[g->kd]), em_c64(e, g->es));
    args[MICRO_B] = SEL(place, f->st[0].ptr[POS_POINT][i], packed);
    args[MICRO_B_STRIDE] = SEL(place, stride, args[MICRO_B_STRIDE]);
    args[MICRO_KEEP] = SEL(fresh, packed, nowhere);
    args[MICRO_COLS] = SEL(place, SUB(g->N, f->oidx[g->n]), args[MICRO_COLS]);
}

/* Where the sums go: to the results at once where that is all there is to do; those of several
 * blocks of K stay in a block of their own, those of one in a tile that never leaves the L1 cache.
 * Gives whether they went to the results. */
static Val tile_c(dot *g, const unit *w, const dot_panels *p, Val r, Val nrows, Val *args)
{
    em *e = g->e;
    Val many = ICMP(SGT, g->KB, em_c64(e, 1)), row = MUL(SUB(r, w->r0), w->c_stride),
        col = MUL(SUB(p->v, w->v0), em_c64(e, (int64_t)g->L * g->es));
    args[MICRO_C] = em_at(e, g->block, SEL(many, ADD(row, col), em_c64(e, 0)), 1);
    args[MICRO_C_STRIDE] = w->c_stride;
    if (!g->plain)
        return em_ci(e->i1, 0);
    kern *f = &g->c;
    f->oidx[g->m] = r;
    f->oidx[g->n] = MUL(p->v, em_c64(e, g->L));
    kern_advance(f, 1, POS_TOP, POS_POINT, ((1u << g->m) - 1) | 1u << g->m | 1u << g->n);
    Val cols = SUB(g->N, f->oidx[g->n]), whole = MUL(p->nv, em_c64(e, g->L));
    Val to_c = AND(ICMP(EQ, nrows, em_c64(e, g->mr)),
                   AND(ICMP(SGE, cols, whole), ICMP(SLE, ADD(p->v, p->nv), w->v1)));
    const lz_access *at = &g->k->stages[1].stores[0].at;
    args[MICRO_C] = SEL(to_c, f->st[1].ptr[POS_POINT][0], args[MICRO_C]);
    args[MICRO_C_STRIDE] =
        SEL(to_c, MUL(kern_size(f, at->stride[g->m]), em_c64(e, g->es)), args[MICRO_C_STRIDE]);
    return to_c;
}

/* All panels of one tile of rows for one block of K. */
static void tile_row(dot *g, const unit *w, Val r, Val kn, Val k0, Val kc)
{
    em *e = g->e;
    Val args[MICRO_ARGS], nrows = em_smin(e, SUB(w->r1, r), em_c64(e, g->mr));
    Val first = ICMP(EQ, kn, em_c64(e, 0)), last = ICMP(EQ, ADD(kn, em_c64(e, 1)), g->KB);
    args[MICRO_ROWS] = nrows;
    args[MICRO_KC] = kc;
    tile_a(g, w, r, nrows, k0, kc, args);
    dot_panels p;
    dot_panels_begin(g, w->v0, w->v1, &p);
    tile_b(g, w, &p, r, k0, kc, args);
    next_rows(g, w, r, p.v, args);
    far_rows(g, w, r, p.v, k0, kc, args);
    Val to_c = tile_c(g, w, &p, r, nrows, args);
    args[MICRO_OLD] = SEL(first, g->zero, args[MICRO_C]);
    args[MICRO_OLD_STRIDE] = SEL(first, em_c64(e, 0), args[MICRO_C_STRIDE]);
    Val finish = AND(last, NOT(to_c));
    prefetch_tile(g, finish, r, nrows, p.v);
    dot_call_micro(g, p.small, args);
    em_if done;
    em_if_begin(e, &done, finish);
    epilogue_tile(g, r, nrows, p.v, em_smin(e, ADD(p.v, p.nv), w->v1), args[MICRO_C], w->c_stride);
    em_if_end(e, &done, 0, NULL, NULL, NULL);
    dot_panels_end(g, &p);
}

static void run_unit(dot *g, const unit *w)
{
    em *e = g->e;
    em_loop lk, lr;
    em_loop_begin(e, &lk, em_c64(e, 0), g->KB, em_c64(e, 1), 0, NULL);
    Val i = lk.i, part = g->ki ? em_split_index(e, &i, g->KN) : i, one = em_c64(e, 1);
    for (uint32_t d = g->ki; d-- > 0;)
        g->c.iidx[d] = d ? em_split_index(e, &i, em_smax(e, kern_inner(&g->c, 0, d), one)) : i;
    Val k0 = dot_cut(e, g->KS, g->KN, part), kc = SUB(dot_cut(e, g->KS, g->KN, ADD(part, one)), k0);
    if (!g->b_place) {
        em_if fresh;
        em_if_begin(e, &fresh, NOT(w->keep));
        dot_pack_panels(g, w->v0, w->v1, k0, kc);
        em_if_end(e, &fresh, 0, NULL, NULL, NULL);
    }
    if (g->amode == DOT_A_COLS)
        dot_pack_a(g, w->r0, SUB(w->r1, w->r0), k0, kc);
    em_loop_begin(e, &lr, w->r0, w->r1, em_c64(e, g->mr), 0, NULL);
    tile_row(g, w, lr.i, lk.i, k0, kc);
    em_loop_end(e, &lr, NULL);
    em_loop_end(e, &lk, NULL);
}

static void place_unit(dot *g, Val u, Val prev, unit *w)
{
    em *e = g->e;
    Val one = em_c64(e, 1), i = u, fast = em_split_index(e, &i, SEL(g->each, g->CB, g->RB)),
        group = i, slow = em_split_index(e, &i, SEL(g->each, g->RB, g->CB));
    Val rb = SEL(g->each, slow, fast), cb = SEL(g->each, fast, slow);
    for (uint32_t d = g->m; d-- > 0;)
        g->c.oidx[d] = d ? em_split_index(e, &i, kern_outer(&g->c, d)) : i;
    w->r0 = MUL(dot_cut(e, g->T, g->RB, rb), em_c64(e, g->mr));
    w->r1 = em_smin(e, MUL(dot_cut(e, g->T, g->RB, ADD(rb, one)), em_c64(e, g->mr)), g->M);
    w->more_rows = ICMP(SLT, ADD(rb, one), g->RB);
    w->v0 = dot_block_start(e, columns(g), cb);
    w->v1 = dot_block_start(e, columns(g), ADD(cb, one));
    w->keep = AND(ICMP(EQ, group, prev), ICMP(EQ, g->KB, one));
    w->direct = g->direct;
    Val wide = MUL(g->wide, em_c64(e, (int64_t)g->L * g->es));
    w->c_stride = SEL(ICMP(SGT, g->KB, one), wide, em_c64(e, (int64_t)g->nv * g->L * g->es));
}

void dot_emit_run(dot *g)
{
    em *e = g->e;
    Ty args[5] = {e->ptr, e->ptr, e->i64, e->i64, e->ptr};
    Val f = em_func(e, "lz_run", e->none, args, 5, true), begin = LLVMGetParam(f, 2),
        end = LLVMGetParam(f, 3);
    kern_enter(&g->c, LLVMGetParam(f, 0), LLVMGetParam(f, 1));
    kern *all[3] = {&g->c, &g->a, &g->b};
    for (int i = 1; i < 3; i++)
        kern_share(all[i], &g->c);
    products(g);
    em_numbers_get(e, &g->numbers);
    g->pack_b = LLVMGetParam(f, 4);
    g->pack_a = em_at(e, g->pack_b, g->npack_b, 1);
    g->block = em_at(e, g->pack_a, g->npack_a, 1);
    g->zero = em_alloca(e, g->vec, g->nv, 64);
    for (unsigned v = 0; v < g->nv; v++)
        em_store(e, LLVMConstNull(g->vec), em_at(e, g->zero, em_c64(e, v), (int64_t)g->L * g->es),
                 g->es);
    em_if some;
    em_if_begin(e, &some, ICMP(SLT, begin, end));
    kctx one = {.u = 1};
    kern_top(&g->c, 1);
    for (int i = 1; i < 3; i++)
        kern_addresses(all[i], 0, POS_TOP);
    for (int i = 1; i < 3; i++)
        kern_eval(all[i], 0, POS_TOP, &one);
    em_loop l;
    Val none = em_c64(e, -1);
    em_loop_begin(e, &l, begin, end, em_c64(e, 1), 1, &none);
    unit w;
    place_unit(g, l.i, l.phi[0], &w);
    run_unit(g, &w);
    Val group = LLVMBuildUDiv(e->b, l.i, g->RB, "");
    em_loop_end(e, &l, &group);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
    LLVMBuildRetVoid(e->b);
}
