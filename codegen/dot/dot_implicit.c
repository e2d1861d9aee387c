/* dot_implicit.c - implicit GEMM on a CPU: GEMM whose rows or k run over several loops, without an
 * im2col buffer: convolutions and their gradients (XNNPACK's IGEMM).
 *
 * C[m, n] = sum over k of A[m, k] B[k, n]. Rows m are all loops that B does not depend on,
 * collapsed into one; k are all inner loops, collapsed. The address of A[m, k] is a sum of an
 * offset by m and one by k, whatever the strides: a tile has a pointer per row, and an indirection
 * table has the offsets by k. So tiles are full whatever the extents are, and accumulators stay in
 * registers from one inner loop to the next. Elements of A are broadcast from memory, also where
 * rows are contiguous and k strided (a weight gradient): packing those of one or two tiles cost
 * more than it gave (512 channels: 97 to 82 Gflop/s). Vectors run along n, where B is contiguous. B
 * is read in place, its steps along k from a second table, or packed by blocks of k, with
 * prefetches, where it would not stay in the caches.
 *
 * - micro-kernel: dot_implicit_micro.c; tables: dot_implicit_tables.c
 * - rows of a tile: dot_implicit_rows.c; skipping padding: dot_implicit_padding.c
 *
 * Loop order: unit (batch, block of rows, block of columns) > block of k > tile of rows > panel of
 * columns. Sums run over k in order in every tile, so results do not depend on the work partition.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot_implicit.h"
#include <string.h>

enum {
    FEW_ROWS = 5, /* of one with wide panels, where rows are not known; else */
    LEAST_FEW = 4,
    MOST_FEW = 6,
    ROWS_OF_16 = 6,  /* of a tile where there are 16 registers */
    ROW_TILES = 24,  /* of a unit, at most; */
    MORE_TILES = 48, /* where B and the sums of so many stay in the L2 cache */
    LARGE_L2 = 1 << 20,
    BLOCK_K = 2048, /* bytes of a row of A in a block of k */
    UNITS = 8,      /* for threads to share; */
    FEW_UNITS = 4,  /* where each reads more than MANY blocks of k */
    MANY = 8,
    FEW = 4,        /* tiles of rows that do not repay packing; */
    FEW_SHARED = 8, /* where their rows meet another B in each matrix */
    PACK_AHEAD = 16 /* rows of B that are fetched before they are packed */
};

/* ---- which kernels ---- */

/* A does not depend on the matrix (batch) index: the weights of a convolution whose batch is the
 * vector loop. */
static bool shares_rows(const lz_kernel *k, const lz_access *a, const lz_access *b)
{
    uint32_t rows = 0, matrices = 0;
    for (uint32_t l = 0; l < lz_kernel_dot(k)->n; l++) {
        if (lz_sz_is(b->stride[l], 0))
            rows++;
        else if (!lz_sz_is(a->stride[l], 0))
            return false;
        else
            matrices++;
    }
    return rows == 1 && matrices > 0;
}

/* Several inner loops, or several loops of rows; and both operands are plain loads, columns of B
 * contiguous. */
bool dot_implicit_suits(const lz_kernel *k, const lz_target *t)
{
    if (!dot_suits(k, t) || !lz_variant_may(t, LZ_VARIANT_indirect))
        return false;
    const lz_stage *s = &k->stages[0];
    lz_dtype d = s->reds[0].acc_dtype[0];
    if (d != LZ_F32 && d != LZ_F64)
        return false;
    const lz_access *a = kern_plain_access(k, lz_kernel_dot(k)->a_sop),
                    *b = kern_plain_access(k, lz_kernel_dot(k)->b_sop);
    uint32_t n = lz_kernel_dot(k)->n,
             lanes = (uint32_t)t->machine.vector_bytes / (uint32_t)lz_dtype_size(d);
    if (!a || !b || !lz_sz_is(b->stride[n], 1) || !lz_sz_is(a->stride[n], 0) ||
        k->buf[a->buf].dtype != d || k->buf[b->buf].dtype != d)
        return false;
    lz_sz ext = k->outer[n];
    if (!lz_target_masks(t) && (ext.slot >= 0 || ext.v % lanes) && !shares_rows(k, a, b))
        return false;
    uint32_t rows = 0;
    for (uint32_t l = 0; l < n; l++)
        rows += lz_sz_is(b->stride[l], 0);
    return rows > 1 || (rows == 1 && (s->ninner > 1 || lz_variant_always(t, LZ_VARIANT_indirect)));
}

/* Few rows, divided as equally as tiles of 4 to 6 allow, and wide panels. */
static void choose_few_rows(implicit *g, bool many)
{
    lz_sz m = g->k->outer[lz_kernel_dot(g->k)->m];
    int64_t best = FEW_ROWS;
    g->mr = FEW_ROWS;
    if (m.slot < 0 && m.v > 0) {
        best = INT64_MAX;
        for (unsigned r = MOST_FEW; r >= LEAST_FEW; r--) {
            int64_t all = (m.v + r - 1) / r * r;
            g->mr = all < best ? r : g->mr;
            best = all < best ? all : best;
        }
        g->mr = m.v < LEAST_FEW ? (unsigned)m.v : g->mr;
    }
    g->nv = many ? IMPLICIT_VECS : IMPLICIT_VECS / 2;
    g->nv_small = g->nv / 2;
}

/* Images of 6 or 7 pixels a row have a tile for each row, which is then full whatever the height
 * is. */
static unsigned tile_rows(const implicit *g)
{
    lz_sz w = g->k->outer[lz_kernel_dot(g->k)->m];
    return w.slot < 0 && w.v >= IMPLICIT_ROWS - 2 && w.v < IMPLICIT_ROWS ? (unsigned)w.v
                                                                         : IMPLICIT_ROWS;
}

static void choose_tile(implicit *g)
{
    bool many = g->e->many;
    lz_sz n = g->k->outer[g->n];
    g->mr = many ? tile_rows(g) : ROWS_OF_16;
    g->nv = many ? 3 : 2;
    g->nv_small = many ? 2 : 1;
    if (g->shared)
        choose_few_rows(g, many);
    if (n.slot < 0) {
        int64_t v = (n.v + g->L - 1) / g->L;
        if (v <= g->nv)
            g->nv = g->nv_small = v > 0 ? (unsigned)v : 1;
        else if (many && v % 3 && v % 2 == 0)
            g->nv = g->nv_small = 2;
    }
}

/* ---- sizes ---- */

/* The last panel ends where the columns do: panels of 3 vectors and of 2 make any number but 1. */
static Val panels_fill(implicit *g)
{
    em *e = g->e;
    bool any = g->nv % g->nv_small != 0;
    Val by = em_c64(e, (int64_t)g->L * (any ? 1 : g->nv_small));
    Val fill = ICMP(EQ, LLVMBuildURem(e->b, g->N, by, ""), em_c64(e, 0));
    return any ? AND(fill, ICMP(NE, g->V, em_c64(e, 1))) : fill;
}

/* B stays in the caches unpacked, or is not used often enough; and nothing is read past its
 * end. */
static Val in_place(implicit *g)
{
    em *e = g->e;
    Val few = ICMP(SLE, g->T, em_c64(e, g->shared ? FEW_SHARED : FEW));
    Val small =
        ICMP(SLE, MUL(MUL(g->K, g->N), em_c64(e, g->es)), em_c64(e, g->e->t->machine.l2_bytes / 2));
    Val right = OR(few, AND(small, dot_rows_apart(e, g->row_b)));
    return g->full ? AND(panels_fill(g), right) : right;
}

/* Each unit packs B again, so they are as long as their sums have room. */
static int64_t row_tiles(const implicit *g)
{
    return g->e->t->machine.l2_bytes >= LARGE_L2 ? MORE_TILES : ROW_TILES;
}

/* What the numbers are computed from. */
static void products(implicit *g)
{
    em *e = g->e;
    uint32_t last = g->k->nouter + g->order[g->k->stages[0].ninner - 1];
    g->M = g->K = g->batch = em_c64(e, 1);
    for (uint32_t l = 0; l < g->n; l++)
        if (implicit_is_row(g, l))
            g->M = MUL(g->M, kern_outer(&g->c, l));
        else
            g->batch = MUL(g->batch, kern_outer(&g->c, l));
    for (uint32_t l = 0; l < g->k->stages[0].ninner; l++)
        g->K = MUL(g->K, kern_inner(&g->c, 0, l));
    g->N = kern_outer(&g->c, g->n);
    g->row_b = dot_bytes(&g->c, g->es, g->b->stride[last]);
}

static void emit_dims(implicit *g)
{
    em *e = g->e;
    Val one = em_c64(e, 1), zero = em_c64(e, 0);
    g->T = em_ceil_div(e, g->M, g->mr);
    g->V = em_ceil_div(e, g->N, g->L);
    g->KB = em_smax(e, em_ceil_div(e, g->K, g->kc), one);
    g->direct = in_place(g);
    g->P = em_ceil_div(e, g->V, g->nv);
    Val most = SEL(ICMP(SGT, g->KB, em_c64(e, MANY)), em_c64(e, FEW_UNITS), em_c64(e, UNITS));
    /* Each block of rows packs B again: what units can be had besides those for many rows are of
     * columns. */
    Val blocks = em_smax(e, em_ceil_div(e, g->T, row_tiles(g)), one),
        apart = LLVMBuildUDiv(e->b, most, em_smax(e, MUL(g->batch, blocks), one), "");
    apart = em_smax(e, em_smin(e, apart, g->P), one);
    g->CB = em_smax(e, em_ceil_div(e, g->P, dot_most_vectors(e) / (int64_t)g->nv),
                    SEL(g->direct, one, apart));
    Val others = em_smax(e, MUL(g->batch, g->CB), one);
    Val half = LLVMBuildLShr(e->b, others, em_c64(e, 1), "");
    Val want = LLVMBuildUDiv(e->b, ADD(most, SEL(g->direct, SUB(others, one), half)), others, "");
    Val some = em_smin(e, want, em_ceil_div(e, g->T, 2));
    g->RB = em_smax(e, blocks, some);
    Val each = MUL(em_smax(e, g->batch, one), g->RB);
    g->CB = dot_share_equally(e, each, g->CB, em_smax(e, g->P, one));
    Val empty = OR(ICMP(EQ, MUL(g->M, g->batch), zero), ICMP(EQ, g->N, zero));
    g->grid = SEL(empty, zero, MUL(g->batch, MUL(g->RB, g->CB)));
}

static dot_columns columns(const implicit *g)
{
    return (dot_columns){g->V, g->CB, g->nv, g->nv_small};
}

/* Bytes of the parts of the scratch memory. */
static void scratch_parts(implicit *g)
{
    em *e = g->e;
    int64_t vb = (int64_t)g->L * g->es;
    Val most_k = em_ceil(e, g->K, g->KB);
    Val entries = ADD(most_k, em_c64(e, IMPLICIT_AHEAD)); /* those past the last k hold anything */
    g->ntable = AND(ADD(MUL(entries, em_c64(e, 8)), em_c64(e, 127)), em_c64(e, -64));
    Val b = MUL(MUL(g->wide, ADD(most_k, em_c64(e, 1))), em_c64(e, vb));
    g->npack = SEL(g->direct, em_c64(e, 0), AND(ADD(b, em_c64(e, 63)), em_c64(e, -64)));
    Val rows = SEL(ICMP(SGT, g->KB, em_c64(e, 1)), em_c64(e, (row_tiles(g) + 1) * g->mr),
                   em_c64(e, g->mr));
    g->nblock = MUL(MUL(g->wide, rows), em_c64(e, vb));
    Val tables = MUL(g->ntable, em_c64(e, g->padded ? 3 : 2));
    g->scratch = ADD(ADD(tables, em_c64(e, 256)), ADD(g->npack, g->nblock));
}

/* The function that computes all of this, which the three of the kernel call. */
static void emit_numbers(implicit *g)
{
    em *e = g->e;
    g->numbers = (em_numbers){.from = {&g->M, &g->N, &g->K, &g->batch, &g->row_b},
                              .v = {&g->T, &g->V, &g->KB, &g->RB, &g->CB, &g->direct, &g->wide,
                                    &g->ntable, &g->npack, &g->nblock, &g->grid, &g->scratch},
                              .nfrom = 5,
                              .n = 12};
    em_numbers_begin(e, &g->numbers);
    emit_dims(g);
    g->wide = dot_block_most(e, columns(g));
    scratch_parts(g);
    em_numbers_end(e, &g->numbers);
    Val f = dot_sizes_begin(&g->base);
    products(g);
    dot_emit_sizes(&g->base, f, &g->numbers, &g->grid, &g->scratch);
}

/* ---- the loops ---- */

typedef struct unit {
    Val r0, r1, v0, v1; /* rows, vectors of columns */
    Val c_stride;       /* bytes between rows of the sums */
} unit;

/* Of 3 vectors and of 2: narrow ones until the rest is a multiple of the wide ones. Of twice as
 * many: narrow only where that is enough for the rest. */
typedef struct panels {
    Blk from, body, exit;
    Val v, nv, small, first,
        on; /* `on` goes from panel to panel, from `first`; NULL: nothing does */
} panels;

static void panels_begin(implicit *g, const unit *w, panels *p, Val on)
{
    em *e = g->e;
    p->from = LLVMGetInsertBlock(e->b);
    p->body = LLVMAppendBasicBlockInContext(e->cx, e->f, "");
    p->exit = LLVMAppendBasicBlockInContext(e->cx, e->f, "");
    LLVMBuildCondBr(e->b, ICMP(SLT, w->v0, w->v1), p->body, p->exit);
    LLVMPositionBuilderAtEnd(e->b, p->body);
    p->v = LLVMBuildPhi(e->b, e->i64, "");
    Val v0 = w->v0;
    LLVMAddIncoming(p->v, &v0, &p->from, 1);
    p->first = on;
    p->on = on ? LLVMBuildPhi(e->b, LLVMTypeOf(on), "") : NULL;
    if (on)
        LLVMAddIncoming(p->on, &on, &p->from, 1);
    Val left = SUB(w->v1, p->v), rest = LLVMBuildURem(e->b, left, em_c64(e, g->nv), "");
    p->small = g->nv % g->nv_small ? ICMP(NE, rest, em_c64(e, 0))
                                   : ICMP(SLE, left, em_c64(e, g->nv_small));
    p->nv = SEL(p->small, em_c64(e, g->nv_small), em_c64(e, g->nv));
}

/* Gives what goes on, as it is after the last one. */
static Val panels_end(implicit *g, const unit *w, panels *p, Val on)
{
    em *e = g->e;
    Val next = ADD(p->v, p->nv);
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildCondBr(e->b, ICMP(SLT, next, w->v1), p->body, p->exit);
    LLVMAddIncoming(p->v, &next, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, p->exit);
    if (!on)
        return NULL;
    LLVMAddIncoming(p->on, &on, &latch, 1);
    Val end = LLVMBuildPhi(e->b, LLVMTypeOf(on), ""), from[2] = {p->first, on};
    LLVMAddIncoming(end, from, (Blk[]){p->from, latch}, 2);
    return end;
}

static Val panel_at(implicit *g, const unit *w, Val v, Val kc)
{
    em *e = g->e;
    return em_at(e, g->pack, MUL(SUB(v, w->v0), kc), (int64_t)g->L * g->es);
}

/* The vectors of a panel in row k, which begins at `row` with those of the unit. Rows are far apart
 * and few lines of each are read, which processors do not foresee. Gives the largest magnitudes of
 * those in p->on and these, where these are known. */
static Val pack_row(implicit *g, const unit *w, const panels *p, Val row, Val ahead, Val k, Val kc)
{
    em *e = g->e;
    int64_t vb = (int64_t)g->L * g->es;
    em_loop lv;
    Val to = em_at(e, panel_at(g, w, p->v, kc), MUL(k, p->nv), vb);
    em_loop_begin(e, &lv, em_c64(e, 0), p->nv, em_c64(e, 1), p->on != NULL, &p->on);
    Val v = ADD(p->v, lv.i), left = SUB(g->N, MUL(v, em_c64(e, g->L)));
    Val mask = g->whole ? NULL : em_tail_mask(e, left, g->L);
    Val there = ICMP(SLT, v, g->V);
    Val from = em_at(e, row, SUB(SEL(there, v, p->v), w->v0), vb);
    em_prefetch(e, em_at(e, from, ahead, 1), false, 3);
    Val x = mask ? em_mload(e, g->vec, from, mask, NULL, g->es) : em_load(e, g->vec, from, g->es);
    em_store(e, x, em_at(e, to, lv.i, vb), g->es);
    Val next = p->on ? implicit_larger(g, lv.phi[0], x) : NULL;
    em_loop_end(e, &lv, &next);
    return p->on ? lv.phi[0] : NULL;
}

/* Panels of the unit's columns, k-major, row by row of B; lanes past N are zero. */
static void pack_block(implicit *g, const unit *w, Val k0, Val kc)
{
    em *e = g->e;
    em_if s;
    em_loop lk;
    em_if_begin(e, &s, NOT(g->direct));
    Val state[2] = {implicit_b_at(g, k0, w->v0),
                    implicit_least(g)}; /* the latter is NULL without borders of A */
    em_loop_begin(e, &lk, em_c64(e, 0), kc, em_c64(e, 1), state[1] ? 2 : 1, state);
    Val step = em_load(e, e->i64, em_at(e, g->step_b, lk.i, 8), 8);
    panels p;
    panels_begin(g, w, &p, state[1] ? lk.phi[1] : NULL);
    Val most = pack_row(g, w, &p, lk.phi[0], MUL(step, em_c64(e, PACK_AHEAD)), lk.i, kc);
    Val next[2] = {NULL, panels_end(g, w, &p, most)};
    next[0] = em_at(e, lk.phi[0], step, 1);
    em_loop_end(e, &lk, next);
    if (state[1])
        implicit_finite_where(g, lk.phi[1]);
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}

/* The epilogue of the rows of a panel. */
static void epilogue_tile(implicit *g, Val nrows, Val v, Val past, Val c, Val c_stride)
{
    em *e = g->e;
    em_loop li;
    em_loop_begin(e, &li, em_c64(e, 0), nrows, em_c64(e, 1), 0, NULL);
    implicit_load_indices(g, li.i);
    dot_epilogue_row(&g->c, g->n, g->N, em_at(e, c, MUL(li.i, c_stride), 1), v, past,
                     &(dot_panel){g->nv, g->nv_small});
    em_loop_end(e, &li, NULL);
}

/* Prefetches what the epilogue reads and writes while the tile is multiplied. */
static void prefetch_tile(implicit *g, Val here, Val nrows, Val v)
{
    em *e = g->e;
    em_if s;
    em_loop li;
    if (!dot_prefetches_rows(&g->c, g->n))
        return;
    em_if_begin(e, &s, here);
    em_loop_begin(e, &li, em_c64(e, 0), nrows, em_c64(e, 1), 0, NULL);
    implicit_load_indices(g, li.i);
    dot_prefetch_row(&g->c, g->n, v, g->nv);
    em_loop_end(e, &li, NULL);
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}

/* Where the sums go, as in dot_blocking.c. Gives whether they went to the results. */
static Val tile_c(implicit *g, const unit *w, const panels *p, Val r, Val nrows, Val *args)
{
    em *e = g->e;
    Val many = ICMP(SGT, g->KB, em_c64(e, 1)), row = MUL(SUB(r, w->r0), w->c_stride),
        col = MUL(SUB(p->v, w->v0), em_c64(e, (int64_t)g->L * g->es));
    args[T_C] = em_at(e, g->block, SEL(many, ADD(row, col), em_c64(e, 0)), 1);
    args[T_C_STRIDE] = w->c_stride;
    if (!g->plain)
        return em_ci(e->i1, 0);
    const lz_access *at = &g->k->stages[1].stores[0].at;
    Val c = em_at(e, em_at(e, implicit_base(g, at), g->result, 1), p->v, (int64_t)g->L * g->es);
    Val cols = SUB(g->N, MUL(p->v, em_c64(e, g->L))), whole = MUL(p->nv, em_c64(e, g->L));
    Val full = AND(ICMP(EQ, nrows, em_c64(e, g->mr)),
                   AND(ICMP(SGE, cols, whole), ICMP(SLE, ADD(p->v, p->nv), w->v1)));
    Val to_c = AND(g->result_even, full);
    args[T_C] = SEL(to_c, c, args[T_C]);
    args[T_C_STRIDE] = SEL(to_c, g->result_stride, args[T_C_STRIDE]);
    return to_c;
}

static void tile_row(implicit *g, const unit *w, Val r, Val kn, Val k0, Val kc)
{
    em *e = g->e;
    Val args[T_ARGS], nrows = em_smin(e, SUB(w->r1, r), em_c64(e, g->mr));
    Val first = ICMP(EQ, kn, em_c64(e, 0)), last = ICMP(EQ, ADD(kn, em_c64(e, 1)), g->KB);
    implicit_next_rows(g, nrows);
    args[T_ROWS] = g->rows;
    args[T_OFF_A] = g->off_a;
    args[T_KC] = kc;
    Val nranges = NULL;
    if (g->padded == g->a)
        nranges = implicit_list_k_ranges(g, w->v0, 1, k0, kc);
    panels p;
    panels_begin(g, w, &p, NULL);
    if (g->padded == g->b)
        nranges = implicit_list_k_ranges(g, p.v, g->nv, k0, kc);
    Val wide = em_alloca(e, e->i64, 1, 8);
    em_store(e, MUL(p.nv, em_c64(e, (int64_t)g->L * g->es)), wide, 8);
    args[T_B] = SEL(g->direct, implicit_b_at(g, k0, p.v), panel_at(g, w, p.v, kc));
    args[T_STEP_B] = SEL(g->direct, g->step_b, wide);
    args[T_NEXT_B] = SEL(g->direct, em_c64(e, 8), em_c64(e, 0));
    if (g->padded)
        implicit_pass_k_ranges(g, nranges, args);
    args[T_COLS] = SEL(g->direct, SUB(g->N, MUL(p.v, em_c64(e, g->L))), em_c64(e, INT32_MAX));
    Val to_c = tile_c(g, w, &p, r, nrows, args);
    args[T_OLD] = SEL(first, g->zero, args[T_C]);
    args[T_OLD_STRIDE] = SEL(first, em_c64(e, 0), args[T_C_STRIDE]);
    Val finish = AND(last, NOT(to_c));
    prefetch_tile(g, finish, nrows, p.v);
    implicit_call_tile(g, p.small, args);
    em_if done;
    em_if_begin(e, &done, finish);
    epilogue_tile(g, nrows, p.v, em_smin(e, ADD(p.v, p.nv), w->v1), args[T_C], args[T_C_STRIDE]);
    em_if_end(e, &done, 0, NULL, NULL, NULL);
    panels_end(g, w, &p, NULL);
}

/* first: the tables are still to be made; those of one block of k serve all units. */
static void run_unit(implicit *g, const unit *w, Val first)
{
    em *e = g->e;
    em_loop lk, lr;
    em_loop_begin(e, &lk, em_c64(e, 0), g->KB, em_c64(e, 1), 0, NULL);
    Val k0 = dot_cut(e, g->K, g->KB, lk.i),
        kc = SUB(dot_cut(e, g->K, g->KB, ADD(lk.i, em_c64(e, 1))), k0);
    em_if other;
    em_if_begin(e, &other, OR(first, ICMP(SGT, g->KB, em_c64(e, 1))));
    implicit_fill_tables(g, k0, kc);
    implicit_check_finite_a(g);
    em_if_end(e, &other, 0, NULL, NULL, NULL);
    pack_block(g, w, k0, kc);
    implicit_check_finite_b(g, first, k0, kc, lk.i);
    implicit_start_rows(g, w->r0);
    em_loop_begin(e, &lr, w->r0, w->r1, em_c64(e, g->mr), 0, NULL);
    tile_row(g, w, lr.i, lk.i, k0, kc);
    em_loop_end(e, &lr, NULL);
    em_loop_end(e, &lk, NULL);
}

static void place_unit(implicit *g, Val u, unit *w)
{
    em *e = g->e;
    Val i = u, one = em_c64(e, 1), rb = em_split_index(e, &i, g->RB),
        cb = em_split_index(e, &i, g->CB);
    uint32_t first = g->n;
    for (uint32_t l = g->n; l-- > 0;)
        first = implicit_is_row(g, l) ? first : l;
    for (uint32_t l = g->n; l-- > 0;)
        if (!implicit_is_row(g, l))
            g->c.oidx[l] = l == first ? i : em_split_index(e, &i, kern_outer(&g->c, l));
    w->r0 = MUL(dot_cut(e, g->T, g->RB, rb), em_c64(e, g->mr));
    w->r1 = em_smin(e, MUL(dot_cut(e, g->T, g->RB, ADD(rb, one)), em_c64(e, g->mr)), g->M);
    w->v0 = dot_block_start(e, columns(g), cb);
    w->v1 = dot_block_start(e, columns(g), ADD(cb, one));
    int64_t vb = (int64_t)g->L * g->es;
    w->c_stride =
        SEL(ICMP(SGT, g->KB, one), MUL(g->wide, em_c64(e, vb)), em_c64(e, (int64_t)g->nv * vb));
}

static void place_scratch(implicit *g, Val scratch)
{
    em *e = g->e;
    g->off_a = scratch;
    g->step_b = em_at(e, scratch, g->ntable, 1);
    g->at_b = em_at(e, g->step_b, g->ntable, 1);
    g->pack = g->padded ? em_at(e, g->at_b, g->ntable, 1) : g->at_b;
    g->block = em_at(e, g->pack, g->npack, 1);
    g->zero = em_alloca(e, g->vec, g->nv, 64);
    implicit_place_k_ranges(g);
    implicit_place_rows(g);
    for (unsigned v = 0; v < g->nv; v++)
        em_store(e, LLVMConstNull(g->vec), em_at(e, g->zero, em_c64(e, v), (int64_t)g->L * g->es),
                 g->es);
}

static void emit_run(implicit *g)
{
    em *e = g->e;
    Ty args[5] = {e->ptr, e->ptr, e->i64, e->i64, e->ptr};
    Val f = em_func(e, "lz_run", e->none, args, 5, true), begin = LLVMGetParam(f, 2),
        end = LLVMGetParam(f, 3);
    kern_enter(&g->c, LLVMGetParam(f, 0), LLVMGetParam(f, 1));
    products(g);
    em_numbers_get(e, &g->numbers);
    place_scratch(g, LLVMGetParam(f, 4));
    em_if some;
    em_if_begin(e, &some, ICMP(SLT, begin, end));
    kern_top(&g->c, 1);
    em_loop l;
    em_loop_begin(e, &l, begin, end, em_c64(e, 1), 0, NULL);
    unit w;
    place_unit(g, l.i, &w);
    run_unit(g, &w, ICMP(EQ, l.i, begin));
    em_loop_end(e, &l, NULL);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
    LLVMBuildRetVoid(e->b);
}

lz_status dot_emit_implicit(em *e, const lz_kernel *k)
{
    implicit g;
    memset(&g, 0, sizeof g);
    dot_common_init(&g.base, e, k);
    g.a = kern_plain_access(k, lz_kernel_dot(k)->a_sop);
    g.b = kern_plain_access(k, lz_kernel_dot(k)->b_sop);
    for (uint32_t l = 0; l < g.n; l++)
        if (lz_sz_is(g.b->stride[l], 0))
            g.row_loop |= 1u << l;
    g.kc = BLOCK_K / g.es;
    g.whole = k->outer[g.n].slot < 0 && k->outer[g.n].v % g.L == 0;
    g.full = g.whole || !e->masks;
    g.plain = dot_stores_sums(k);
    g.shared = shares_rows(k, g.a, g.b);
    g.rows_touch = lz_sz_is(g.a->stride[lz_kernel_dot(k)->m], 1);
    choose_tile(&g);
    implicit_choose_padding(&g);
    lz_status s = kern_init_epilogue(&g.c, e, k, g.L);
    if (s == LZ_OK) {
        implicit_emit_micro(&g);
        emit_numbers(&g);
        emit_run(&g);
        s = e->status;
    }
    kern_done(&g.c);
    return s;
}
