/* dot_inner.c - GEMM on a CPU as inner products (lane reductions), where both factors are
 * contiguous along k: the weight gradient of a convolution whose batch is the vector loop.
 *
 * C[m, n] = sum over k of A[m, k] B[n, k]. Rows m are all the loops that only A walks, columns n
 * all that only B walks; k are all inner loops, the last one contiguous in both. A tile has a
 * vector of partial sums for each of its rows and columns, which is reduced across its lanes at the
 * very end: nothing is packed or transposed. Rows and columns have a pointer each, so that tiles
 * are full whatever the extents are. Loop order: unit (block of rows, block of columns) > block of
 * k > tile of rows > tile of columns. A unit's partial sums take half of the L2 cache, at most. A
 * block of k is short enough for a tile's rows to stay in L1; between blocks sums are in the
 * workspace. Sums run over k in order in every tile, so results do not depend on the division into
 * units.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot.h"
#include <string.h>

enum {
    SIDE = 5, /* rows and columns of a tile, at most; with 16 registers: */
    SMALL_SIDE = 3,
    UNITS = 8 /* for threads to share */
};

typedef struct dot_inner {
    DOT_BASE;                /* n: the last loop of columns */
    unsigned mr, nr;         /* rows and columns of a tile */
    uint32_t row_loop, cols; /* a bit per outer loop that rows, that columns run over */
    uint32_t ki;             /* the last inner loop */
    const lz_access *a, *b;
    Val micro;
    /* emitted sizes: rows, columns, tiles of rows; columns but for the last loop, that, and vectors
     * of it; inner loops but the last, and that */
    Val M, N, T, Q, NE, VE, KO, KI;
    /* units: of rows, of columns but for the last loop, and of that (only where the others are
     * apart); what one has at most */
    Val RB, CB, NB, most_rows, most_cols, col_tiles;
    /* parts of the scratch memory: tables by k, pointers, vectors of sums, sums */
    Val off_a, off_b, row_at, col_at, block, sums;
} dot_inner;

/* ---- which products ---- */

/* Bits of the outer loops that x walks. */
static uint32_t walks(const lz_kernel *k, const lz_access *x)
{
    uint32_t w = 0;
    for (uint32_t l = 0; l < k->nouter; l++)
        w |= (uint32_t)!lz_sz_is(x->stride[l], 0) << l;
    return w;
}

static bool baked(lz_sz s)
{
    return s.slot < 0;
}

bool dot_inner_suits(const lz_kernel *k, const lz_target *t)
{
    if (!dot_suits(k, t) || !lz_variant_may(t, LZ_VARIANT_lane_reduction))
        return false;
    const lz_stage *s = &k->stages[0];
    lz_dtype d = s->reds[0].acc_dtype[0];
    if (d != LZ_F32 && d != LZ_F64)
        return false;
    const lz_access *a = kern_plain_access(k, lz_kernel_dot(k)->a_sop),
                    *b = kern_plain_access(k, lz_kernel_dot(k)->b_sop);
    if (!a || !b || k->buf[a->buf].dtype != d || k->buf[b->buf].dtype != d)
        return false;
    uint32_t wa = walks(k, a), wb = walks(k, b), kd = k->nouter + s->ninner - 1;
    if ((wa & wb) || (wa | wb) != (1u << k->nouter) - 1 || !(wb >> lz_kernel_dot(k)->n & 1))
        return false;
    if (!lz_sz_is(a->stride[kd], 1) || !lz_sz_is(b->stride[kd], 1))
        return false;
    bool few = lz_sz_is(s->extent[s->ninner - 1], 1); /* others are not known */
    bool several = k->nouter > 2 &&
                   (baked(k->outer[lz_kernel_dot(k)->m]) || baked(k->outer[lz_kernel_dot(k)->n]));
    return lz_variant_always(t, LZ_VARIANT_lane_reduction) || (!few && (s->ninner > 1 || several));
}

/* Equal parts of at most `most`. */
static unsigned side(const dot_inner *g, uint32_t loops, unsigned most)
{
    int64_t n = 1;
    for (uint32_t l = 0; l < g->k->nouter; l++)
        if (loops >> l & 1) {
            if (!baked(g->k->outer[l]))
                return most;
            n *= g->k->outer[l].v;
        }
    int64_t parts = (n + most - 1) / most;
    return parts ? (unsigned)((n + parts - 1) / parts) : 1;
}

/* ---- the tile ---- */

enum tile_arg {
    T_ROWS,
    T_COLS,
    T_OFF_A,
    T_OFF_B,
    T_KO,    /* steps of the tables */
    T_BEGIN, /* of the last loop: first element, vectors, elements after them */
    T_VECS,
    T_REST,
    T_C,
    T_ARGS
};

typedef struct tile {
    Val row[SIDE], col[SIDE]; /* where the last loop begins */
    Val sum[SIDE * SIDE];
} tile;

static Val load(dot_inner *g, Val p, Val mask)
{
    em *e = g->e;
    return mask ? em_mload(e, g->vec, p, mask, NULL, g->es) : em_load(e, g->vec, p, g->es);
}

/* The products of one vector of k, at byte `at` of the last loop. */
static void add_products(dot_inner *g, const tile *t, Val at, Val mask, const Val *sum, Val *out)
{
    em *e = g->e;
    Val x[SIDE];
    for (unsigned r = 0; r < g->mr; r++)
        x[r] = load(g, em_at(e, t->row[r], at, 1), mask);
    for (unsigned c = 0; c < g->nr; c++) {
        Val y = load(g, em_at(e, t->col[c], at, 1), mask);
        for (unsigned r = 0; r < g->mr; r++)
            out[r * g->nr + c] = em_fma(e, x[r], y, sum[r * g->nr + c]);
    }
}

static void load_pointers(dot_inner *g, Val from, Val off, unsigned n, Val *to)
{
    em *e = g->e;
    for (unsigned i = 0; i < n; i++)
        to[i] = em_at(e, em_load(e, e->ptr, em_at(e, from, em_c64(e, i), 8), 8), off, 1);
}

static void emit_tile(dot_inner *g)
{
    em *e = g->e;
    Ty i = e->i64, args[T_ARGS] = {e->ptr, e->ptr, e->ptr, e->ptr, i, i, i, i, e->ptr};
    Val f = em_shared_func(e, "tile", e->none, args, T_ARGS), p[T_ARGS];
    unsigned n = g->mr * g->nr;
    int64_t vb = (int64_t)g->L * g->es;
    for (unsigned q = 0; q < T_ARGS; q++)
        p[q] = LLVMGetParam(f, q);
    Val first = MUL(p[T_BEGIN], em_c64(e, g->es)), end = MUL(p[T_VECS], em_c64(e, vb));
    Val mask = em_tail_mask(e, p[T_REST], g->L), rest = ICMP(SGT, p[T_REST], em_c64(e, 0));
    tile t;
    for (unsigned q = 0; q < n; q++)
        t.sum[q] = em_load(e, g->vec, em_at(e, p[T_C], em_c64(e, q), vb), g->es);
    em_loop lo, lk;
    em_loop_begin(e, &lo, em_c64(e, 0), p[T_KO], em_c64(e, 1), (int)n, t.sum);
    load_pointers(g, p[T_ROWS], ADD(first, em_load(e, i, em_at(e, p[T_OFF_A], lo.i, 8), 8)), g->mr,
                  t.row);
    load_pointers(g, p[T_COLS], ADD(first, em_load(e, i, em_at(e, p[T_OFF_B], lo.i, 8), 8)), g->nr,
                  t.col);
    em_loop_begin(e, &lk, em_c64(e, 0), end, em_c64(e, vb), (int)n, lo.phi);
    add_products(g, &t, lk.i, NULL, lk.phi, t.sum);
    em_loop_end(e, &lk, t.sum);
    em_if more;
    em_if_begin(e, &more, rest);
    add_products(g, &t, end, mask, lk.phi, t.sum);
    em_if_end(e, &more, (int)n, t.sum, lk.phi, t.sum);
    em_loop_end(e, &lo, t.sum);
    for (unsigned q = 0; q < n; q++)
        em_store(e, lo.phi[q], em_at(e, p[T_C], em_c64(e, q), vb), g->es);
    LLVMBuildRetVoid(e->b);
    g->micro = em_shared_end(e, f);
}

/* ---- sizes ---- */

static void count(dot_inner *g)
{
    em *e = g->e;
    g->M = g->Q = g->KO = em_c64(e, 1);
    for (uint32_t l = 0; l < g->k->nouter; l++)
        if (g->row_loop >> l & 1)
            g->M = MUL(g->M, kern_outer(&g->c, l));
        else if (l != g->n)
            g->Q = MUL(g->Q, kern_outer(&g->c, l));
    for (uint32_t l = 0; l < g->ki; l++)
        g->KO = MUL(g->KO, kern_inner(&g->c, 0, l));
    g->KI = kern_inner(&g->c, 0, g->ki);
    g->NE = kern_outer(&g->c, g->n);
    g->N = MUL(g->Q, g->NE);
    g->T = em_ceil_div(e, g->M, g->mr);
    g->VE = em_ceil_div(e, g->NE, g->L);
}

/* Units for threads to share; more where their sums would not stay in the cache, about as many rows
 * as columns each. */
static void divide(dot_inner *g)
{
    em *e = g->e;
    int64_t most = g->e->t->machine.l2_bytes / 2 / ((int64_t)g->mr * g->nr * g->L * g->es),
            side_of = 1;
    most = most > 1 ? most : 1; /* tiles of a unit */
    while ((side_of + 1) * (side_of + 1) <= most)
        side_of++;
    Val one = em_c64(e, 1), all = em_c64(e, most);
    Val rb = em_smax(e, em_smin(e, g->T, em_c64(e, UNITS)), one),
        cb = em_smax(e, em_smin(e, g->Q, em_ceil(e, em_c64(e, UNITS), rb)), one);
    Val rows = em_smax(e, em_ceil(e, g->T, rb), one),
        columns = em_smax(e, MUL(em_ceil(e, g->Q, cb), g->NE), one);
    Val fit = LLVMBuildUDiv(e->b, all, em_ceil_div(e, columns, g->nr), "");
    rows = em_smin(e, rows, em_smax(e, fit, em_c64(e, side_of)));
    columns = em_smin(e, columns, MUL(LLVMBuildUDiv(e->b, all, rows, ""), em_c64(e, g->nr)));
    Val steps = LLVMBuildUDiv(e->b, columns, em_smax(e, g->NE, one), ""),
        vecs = em_smax(e, LLVMBuildUDiv(e->b, columns, em_c64(e, g->L), ""), one);
    Val apart = ICMP(EQ, steps, em_c64(e, 0));
    g->RB = em_smax(e, em_ceil(e, g->T, rows), one);
    g->CB = em_smax(e, em_ceil(e, g->Q, em_smax(e, steps, one)), one);
    g->NB = SEL(apart, em_smax(e, em_ceil(e, g->VE, vecs), one), one);
    g->most_rows = MUL(em_ceil(e, g->T, g->RB), em_c64(e, g->mr));
    g->most_cols = SEL(apart, MUL(em_ceil(e, g->VE, g->NB), em_c64(e, g->L)),
                       MUL(em_ceil(e, g->Q, g->CB), g->NE));
    g->col_tiles = em_ceil_div(e, g->most_cols, g->nr);
}

static void emit_dims(dot_inner *g)
{
    count(g);
    divide(g);
}

/* Bytes between rows of the sums: a vector past the last one may be read. */
static Val sums_stride(dot_inner *g)
{
    em *e = g->e;
    return MUL(ADD(MUL(g->col_tiles, em_c64(e, g->nr)), em_c64(e, g->L)), em_c64(e, g->es));
}

typedef struct parts {
    Val table, rows, cols, block, all;
} parts;

static Val padded(em *e, Val n)
{
    return AND(ADD(n, em_c64(e, 63)), em_c64(e, -64));
}

static void scratch_parts(dot_inner *g, parts *p)
{
    em *e = g->e;
    Val eight = em_c64(e, 8), row_tiles = em_ceil(e, g->T, g->RB);
    p->table = padded(e, MUL(g->KO, eight));
    p->rows = padded(e, MUL(g->most_rows, eight));
    p->cols = padded(e, MUL(MUL(g->col_tiles, em_c64(e, g->nr)), eight));
    p->block = MUL(MUL(row_tiles, g->col_tiles), em_c64(e, (int64_t)g->mr * g->nr * g->L * g->es));
    p->all = ADD(ADD(ADD(p->table, p->table), ADD(p->rows, p->cols)), p->block);
    p->all = ADD(p->all, MUL(g->most_rows, sums_stride(g)));
}

static void emit_sizes(dot_inner *g)
{
    em *e = g->e;
    Val f = em_func(e, "lz_grid", e->i64, &e->ptr, 1, true), zero = em_c64(e, 0);
    em_func_rare(e);
    kern_enter(&g->c, NULL, LLVMGetParam(f, 0));
    emit_dims(g);
    Val empty = OR(ICMP(EQ, g->M, zero), ICMP(EQ, g->N, zero));
    LLVMBuildRet(e->b, SEL(empty, zero, MUL(MUL(g->RB, g->CB), g->NB)));
    f = em_func(e, "lz_scratch", e->i64, &e->ptr, 1, true);
    em_func_rare(e);
    kern_enter(&g->c, NULL, LLVMGetParam(f, 0));
    emit_dims(g);
    parts p;
    scratch_parts(g, &p);
    LLVMBuildRet(e->b, p.all);
}

static void place_scratch(dot_inner *g, Val scratch)
{
    em *e = g->e;
    parts p;
    scratch_parts(g, &p);
    g->off_a = scratch;
    g->off_b = em_at(e, g->off_a, p.table, 1);
    g->row_at = em_at(e, g->off_b, p.table, 1);
    g->col_at = em_at(e, g->row_at, p.rows, 1);
    g->block = em_at(e, g->col_at, p.cols, 1);
    g->sums = em_at(e, g->block, p.block, 1);
}

/* ---- tables ---- */

/* Where the last loop begins, for every step of the others. */
static void fill_tables(dot_inner *g)
{
    em *e = g->e;
    uint32_t no = g->k->nouter;
    Val ext[LZ_LOOP_MAX] = {NULL}, i[LZ_LOOP_MAX];
    for (uint32_t l = 0; l < g->ki; l++) {
        ext[l] = kern_inner(&g->c, 0, l);
        i[l] = em_c64(e, 0);
    }
    em_loop lk;
    em_loop_begin(e, &lk, em_c64(e, 0), g->KO, em_c64(e, 1), (int)g->ki, i);
    Val next[LZ_LOOP_MAX], a = em_c64(e, 0), b = a;
    for (uint32_t l = 0; l < g->ki; l++) {
        a = ADD(a, MUL(lk.phi[l], dot_bytes(&g->c, g->es, g->a->stride[no + l])));
        b = ADD(b, MUL(lk.phi[l], dot_bytes(&g->c, g->es, g->b->stride[no + l])));
        next[l] = lk.phi[l];
    }
    dot_count_on(e, g->ki, ext, next);
    em_store(e, a, em_at(e, g->off_a, lk.i, 8), 8);
    em_store(e, b, em_at(e, g->off_b, lk.i, 8), 8);
    em_loop_end(e, &lk, next);
}

/* Pointers to rows first.. of an access, `n` of them; those from `past` on are the last one
 * again. */
static void fill_pointers(dot_inner *g, const lz_access *x, uint32_t loops, Val first, Val n,
                          Val past, Val to)
{
    em *e = g->e;
    em_loop li;
    em_loop_begin(e, &li, em_c64(e, 0), n, em_c64(e, 1), 0, NULL);
    Val i = em_smin(e, ADD(first, li.i), SUB(past, em_c64(e, 1))),
        p = em_at(e, g->c.buf[x->buf], kern_size(&g->c, x->offset), g->es);
    for (uint32_t l = g->k->nouter; l-- > 0;)
        if (loops >> l & 1)
            p = em_at(e, p,
                      MUL(em_split_index(e, &i, em_smax(e, kern_outer(&g->c, l), em_c64(e, 1))),
                          dot_bytes(&g->c, g->es, x->stride[l])),
                      1);
    em_store(e, p, em_at(e, to, li.i, 8), 8);
    em_loop_end(e, &li, NULL);
}

/* ---- a unit ---- */

typedef struct unit {
    Val r0, r1, q0, q1, v0,
        v1; /* rows; steps of the columns' loops but the last; vectors of that */
    Val row_tiles, col_tiles;
} unit;

static void place_unit(dot_inner *g, Val u, unit *w)
{
    em *e = g->e;
    Val i = u, one = em_c64(e, 1), lanes_of = em_c64(e, g->L), nb = em_split_index(e, &i, g->NB),
        cb = em_split_index(e, &i, g->CB);
    Val t0 = dot_cut(e, g->T, g->RB, i), t1 = dot_cut(e, g->T, g->RB, ADD(i, one));
    w->r0 = MUL(t0, em_c64(e, g->mr));
    w->r1 = em_smin(e, MUL(t1, em_c64(e, g->mr)), g->M);
    w->q0 = dot_cut(e, g->Q, g->CB, cb);
    w->q1 = dot_cut(e, g->Q, g->CB, ADD(cb, one));
    w->v0 = dot_cut(e, g->VE, g->NB, nb);
    w->v1 = dot_cut(e, g->VE, g->NB, ADD(nb, one));
    Val c0 = ADD(MUL(w->q0, g->NE), MUL(w->v0, lanes_of)),
        c1 = ADD(MUL(SUB(w->q1, one), g->NE), em_smin(e, MUL(w->v1, lanes_of), g->NE));
    w->row_tiles = SUB(t1, t0);
    w->col_tiles = em_ceil_div(e, SUB(c1, c0), g->nr);
    fill_pointers(g, g->a, g->row_loop, w->r0, MUL(w->row_tiles, em_c64(e, g->mr)), w->r1,
                  g->row_at);
    fill_pointers(g, g->b, g->cols, c0, MUL(w->col_tiles, em_c64(e, g->nr)), c1, g->col_at);
}

static Val block_at(dot_inner *g, const unit *w, Val r, Val c)
{
    em *e = g->e;
    return em_at(e, g->block, ADD(MUL(r, w->col_tiles), c), (int64_t)g->mr * g->nr * g->L * g->es);
}

/* All tiles, for some of k. */
static void run_tiles(dot_inner *g, const unit *w, Val *args)
{
    em *e = g->e;
    em_loop lr, lc;
    em_loop_begin(e, &lr, em_c64(e, 0), w->row_tiles, em_c64(e, 1), 0, NULL);
    em_loop_begin(e, &lc, em_c64(e, 0), w->col_tiles, em_c64(e, 1), 0, NULL);
    args[T_ROWS] = em_at(e, g->row_at, lr.i, 8 * (int64_t)g->mr);
    args[T_COLS] = em_at(e, g->col_at, lc.i, 8 * (int64_t)g->nr);
    args[T_C] = block_at(g, w, lr.i, lc.i);
    LLVMBuildCall2(e->b, LLVMGlobalGetValueType(g->micro), g->micro, args, T_ARGS, "");
    em_loop_end(e, &lc, NULL);
    em_loop_end(e, &lr, NULL);
}

/* Blocks of k: parts of the last loop; or, where that is short, several steps of the others. */
static void run_blocks(dot_inner *g, const unit *w)
{
    em *e = g->e;
    Val one = em_c64(e, 1), lanes_of = em_c64(e, g->L), args[T_ARGS];
    int64_t run = g->e->t->machine.l1_bytes / 2 / (int64_t)(g->mr * g->es);
    Val vecs = LLVMBuildUDiv(e->b, g->KI, lanes_of, ""), rest = SUB(g->KI, MUL(vecs, lanes_of));
    Val nparts = em_smax(e, em_ceil_div(e, vecs, run > g->L ? run / g->L : 1), one);
    Val some = em_smax(e, LLVMBuildUDiv(e->b, em_c64(e, run), em_smax(e, g->KI, one), ""), one);
    em_loop lo, lp;
    em_loop_begin(e, &lo, em_c64(e, 0), g->KO, some, 0, NULL);
    args[T_OFF_A] = em_at(e, g->off_a, lo.i, 8);
    args[T_OFF_B] = em_at(e, g->off_b, lo.i, 8);
    args[T_KO] = em_smin(e, some, SUB(g->KO, lo.i));
    em_loop_begin(e, &lp, em_c64(e, 0), nparts, one, 0, NULL);
    Val v0 = dot_cut(e, vecs, nparts, lp.i), v1 = dot_cut(e, vecs, nparts, ADD(lp.i, one));
    args[T_BEGIN] = MUL(v0, lanes_of);
    args[T_VECS] = SUB(v1, v0);
    args[T_REST] = SEL(ICMP(EQ, ADD(lp.i, one), nparts), rest, em_c64(e, 0));
    run_tiles(g, w, args);
    em_loop_end(e, &lp, NULL);
    em_loop_end(e, &lo, NULL);
}

/* ---- the end ---- */

static Val across(dot_inner *g, Val v)
{
    em *e = g->e;
    int at[64];
    for (unsigned n = g->L; n > 1; n /= 2) {
        Val half[2];
        for (unsigned h = 0; h < 2; h++) {
            for (unsigned i = 0; i < n / 2; i++)
                at[i] = (int)(h * n / 2 + i);
            half[h] = em_shuffle(e, v, v, at, n / 2);
        }
        v = FADD(half[0], half[1]);
    }
    return em_extract(e, v, 0);
}

/* Vectors of sums to sums, in rows. */
static void add_up(dot_inner *g, const unit *w)
{
    em *e = g->e;
    em_loop lr, lc;
    int64_t vb = (int64_t)g->L * g->es;
    em_loop_begin(e, &lr, em_c64(e, 0), w->row_tiles, em_c64(e, 1), 0, NULL);
    Val row = em_at(e, g->sums, MUL(MUL(lr.i, em_c64(e, g->mr)), sums_stride(g)), 1);
    em_loop_begin(e, &lc, em_c64(e, 0), w->col_tiles, em_c64(e, 1), 0, NULL);
    Val from = block_at(g, w, lr.i, lc.i), to = em_at(e, row, lc.i, (int64_t)g->nr * g->es);
    em_loop lm, ln;
    em_loop_begin(e, &lm, em_c64(e, 0), em_c64(e, g->mr), em_c64(e, 1), 0, NULL);
    em_loop_begin(e, &ln, em_c64(e, 0), em_c64(e, g->nr), em_c64(e, 1), 0, NULL);
    Val q = ADD(MUL(lm.i, em_c64(e, g->nr)), ln.i);
    Val s = across(g, em_load(e, g->vec, em_at(e, from, q, vb), g->es));
    em_store(e, s, em_at(e, em_at(e, to, MUL(lm.i, sums_stride(g)), 1), ln.i, g->es), g->es);
    em_loop_end(e, &ln, NULL);
    em_loop_end(e, &lm, NULL);
    em_loop_end(e, &lc, NULL);
    em_loop_end(e, &lr, NULL);
}

/* The epilogue. */
static void epilogue(dot_inner *g, const unit *w)
{
    em *e = g->e;
    em_loop lr, lq;
    Val one = em_c64(e, 1);
    em_loop_begin(e, &lr, w->r0, w->r1, one, 0, NULL);
    em_loop_begin(e, &lq, w->q0, w->q1, one, 0, NULL);
    Val r = lr.i, q = lq.i;
    for (uint32_t l = g->k->nouter; l-- > 0;)
        if (l != g->n)
            g->c.oidx[l] = em_split_index(e, g->row_loop >> l & 1 ? &r : &q,
                                          em_smax(e, kern_outer(&g->c, l), one));
    Val row = em_at(e, g->sums, MUL(SUB(lr.i, w->r0), sums_stride(g)), 1);
    row = em_at(e, row, MUL(SUB(lq.i, w->q0), g->NE), g->es);
    dot_epilogue_row(&g->c, g->n, g->NE, row, w->v0, w->v1, NULL);
    em_loop_end(e, &lq, NULL);
    em_loop_end(e, &lr, NULL);
}

static void clear(dot_inner *g, const unit *w)
{
    em *e = g->e;
    int64_t vb = (int64_t)g->L * g->es;
    em_loop l;
    Val n = MUL(MUL(w->row_tiles, w->col_tiles), em_c64(e, (int64_t)g->mr * g->nr));
    em_loop_begin(e, &l, em_c64(e, 0), n, em_c64(e, 1), 0, NULL);
    em_store(e, LLVMConstNull(g->vec), em_at(e, g->block, l.i, vb), g->es);
    em_loop_end(e, &l, NULL);
}

static void emit_run(dot_inner *g)
{
    em *e = g->e;
    Ty args[5] = {e->ptr, e->ptr, e->i64, e->i64, e->ptr};
    Val f = em_func(e, "lz_run", e->none, args, 5, true), begin = LLVMGetParam(f, 2),
        end = LLVMGetParam(f, 3);
    kern_enter(&g->c, LLVMGetParam(f, 0), LLVMGetParam(f, 1));
    emit_dims(g);
    place_scratch(g, LLVMGetParam(f, 4));
    em_if some;
    em_if_begin(e, &some, ICMP(SLT, begin, end));
    kern_top(&g->c, 1);
    fill_tables(g);
    em_loop l;
    em_loop_begin(e, &l, begin, end, em_c64(e, 1), 0, NULL);
    unit w;
    place_unit(g, l.i, &w);
    clear(g, &w);
    run_blocks(g, &w);
    add_up(g, &w);
    epilogue(g, &w);
    em_loop_end(e, &l, NULL);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
    LLVMBuildRetVoid(e->b);
}

lz_status dot_emit_inner(em *e, const lz_kernel *k)
{
    dot_inner g;
    memset(&g, 0, sizeof g);
    dot_common_init(&g.base, e, k);
    g.ki = k->stages[0].ninner - 1;
    g.a = kern_plain_access(k, lz_kernel_dot(k)->a_sop);
    g.b = kern_plain_access(k, lz_kernel_dot(k)->b_sop);
    g.row_loop = walks(k, g.a);
    g.cols = walks(k, g.b);
    unsigned bound = e->many ? SIDE : SMALL_SIDE;
    g.mr = side(&g, g.row_loop, bound);
    g.nr = side(&g, g.cols, bound);
    lz_status s = kern_init_epilogue(&g.c, e, k, g.L);
    if (s == LZ_OK) {
        emit_tile(&g);
        emit_sizes(&g);
        emit_run(&g);
        s = e->status;
    }
    kern_done(&g.c);
    return s;
}
