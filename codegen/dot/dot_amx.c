/* dot_amx.c - GEMM on AMX tiles: bf16 with sums in f32, bytes with sums in 32 bits.
 *
 * C[m, n] = sum over k of A[m, k] B[k, n], one matrix per point of the outer loops before m and n.
 * A tile has 16 rows of 64 bytes. Of A a row is 16 words of k, of B a row has a word of k for each
 * of 16 columns; a word is two bf16 or four bytes that follow each other along k. A register tile
 * is 2 x 2 tiles, 32 rows and 32 columns of C; a step is 16 words of k. Both factors are packed,
 * filled up with zeros to whole steps, so one configuration of the tiles serves everything; but
 * whole rows of A whose lines are whole and apart are read where they are. What leaves the tiles
 * goes through the epilogue, which knows edges.
 *
 * Loop order: unit (matrix, block of columns, block of rows) > block of K > tile of rows (A in L1)
 * > panel of columns (B in L2). Units of the same columns share packed B, blocks of K too where all
 * of them have their place. Between blocks of K sums are kept as they are, and steps begin at
 * multiples of 16 words of the loop, so that sums are added up in one order: results do not depend
 * on the blocks, nor on who runs which units.
 *
 * - micro-kernel: dot_amx_micro.c; packing: dot_amx_pack.c; epilogue: dot_epilogue.c
 * Threads: belongs to one thread. */
#include "codegen/dot/dot_amx.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

enum {
    PANELS = 24,          /* of a block of columns, at most; */
    TILES = 8,            /* of a block of rows */
    UNITS = 8,            /* for threads to share */
    KEEP_BYTES = 16 << 20 /* of packed B */
};

/* ---- which kernels ---- */

static lz_dtype narrow_type(const lz_kernel *k, int32_t sop)
{
    const lz_stage *s = &k->stages[0];
    int32_t from = lz_converted_from(s, sop);
    return from == sop ? LZ_DTYPE_NONE : s->sops[from].dtype;
}

static bool is_byte(lz_dtype d)
{
    return d == LZ_I8 || d == LZ_U8;
}

/* log2 of the k in a word; 0: there are no such tiles. */
static unsigned words_of(const lz_kernel *k, const lz_target *t)
{
    lz_dtype d = k->stages[0].reds[0].acc_dtype[0], a = narrow_type(k, lz_kernel_dot(k)->a_sop),
             b = narrow_type(k, lz_kernel_dot(k)->b_sop);
    if (d == LZ_F32 && a == LZ_BF16 && b == LZ_BF16)
        return lz_target_has(t, "amx-bf16") ? 1 : 0;
    if ((d == LZ_I32 || d == LZ_U32) && is_byte(a) && is_byte(b))
        return lz_target_has(t, "amx-int8") ? 2 : 0;
    return 0;
}

bool dot_amx_suits(const lz_kernel *k, const lz_target *t)
{
    bool x86 = strncmp(t->triple, "x86_64", 6) == 0 && t->machine.vector_bytes == 64;
    if (!x86 || !lz_target_has(t, "amx-tile") || !lz_variant_may(t, LZ_VARIANT_amx) ||
        !dot_suits(k, t) || !words_of(k, t))
        return false;
    int64_t m = dot_baked(k->outer[lz_kernel_dot(k)->m]),
            n = dot_baked(k->outer[lz_kernel_dot(k)->n]);
    return (m < 0 || m > 1) && (n < 0 || n > 1); /* a vector has nothing to use twice */
}

/* ---- sizes ---- */

/* What the numbers are computed from. */
static void products(amx *g)
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
}

static Val units_for(amx *g, Val others)
{
    return em_smax(g->e, em_ceil(g->e, em_c64(g->e, UNITS), others), em_c64(g->e, 1));
}

/* Blocks of columns are as wide as the L2 cache allows, since A is packed for each; B is packed for
 * all blocks of rows of the same columns. Enough units for the threads to share. */
static void divide(amx *g)
{
    em *e = g->e;
    Val one = em_c64(e, 1), batch = em_smax(e, g->batch, one), p = em_smax(e, g->P, one);
    Val fit = em_ceil_div(e, p, PANELS), tiles = em_smax(e, g->T, one);
    Val rows = em_ceil_div(e, tiles, g->mc);
    g->RB = em_smax(e, rows, em_smin(e, tiles, units_for(g, MUL(batch, fit))));
    g->CB = em_smax(e, fit, em_smin(e, p, units_for(g, MUL(batch, g->RB))));
    g->CB = dot_share_equally(e, MUL(batch, g->RB), g->CB, p);
}

static void emit_dims(amx *g)
{
    em *e = g->e;
    Val one = em_c64(e, 1), zero = em_c64(e, 0), none = em_ci(e->i1, 0);
    int64_t step_bytes = (int64_t)g->nv * AMX_TILE;
    g->KS = em_ceil_div(e, g->K, AMX_SIDE << g->words);
    g->T = em_ceil_div(e, g->M, AMX_ROWS);
    g->P = em_ceil_div(e, g->N, (int64_t)g->nv * AMX_SIDE);
    g->KN = em_smax(e, em_ceil_div(e, g->KS, g->kc), one);
    g->KB = MUL(g->KN, g->KO);
    divide(g);
    g->wide = em_ceil(e, g->P, g->CB);
    Val all = MUL(MUL(MUL(g->KS, g->KO), g->wide), em_c64(e, step_bytes));
    Val again = ICMP(SGT, g->same_b ? MUL(g->RB, g->batch) : g->RB, one);
    g->keep = SEL(again, ICMP(SLE, all, em_c64(e, KEEP_BYTES)), none);
    Val part = MUL(MUL(em_ceil(e, g->KS, g->KN), g->wide), em_c64(e, step_bytes));
    g->npack_b = SEL(g->keep, all, part);
    Val tiles = SEL(ICMP(SGT, g->KB, one), MUL(em_ceil(e, g->T, g->RB), g->wide), zero);
    g->scratch = ADD(g->npack_b, em_c64(e, g->kc * AMX_A_STEP));
    g->scratch = ADD(g->scratch, MUL(ADD(tiles, em_c64(e, 2)), em_c64(e, 2 * step_bytes)));
    Val empty = OR(ICMP(EQ, g->M, zero), ICMP(EQ, g->N, zero));
    g->grid = SEL(empty, zero, MUL(MUL(g->batch, g->RB), g->CB));
}

static void emit_sizes(amx *g)
{
    em *e = g->e;
    g->numbers = (em_numbers){.from = {&g->M, &g->N, &g->K, &g->KO, &g->batch},
                              .v = {&g->KS, &g->T, &g->P, &g->KN, &g->KB, &g->RB, &g->CB, &g->keep,
                                    &g->wide, &g->npack_b, &g->grid, &g->scratch},
                              .nfrom = 5,
                              .n = 12};
    em_numbers_begin(e, &g->numbers);
    emit_dims(g);
    em_numbers_end(e, &g->numbers);
    Val f = dot_sizes_begin(&g->base);
    products(g);
    dot_emit_sizes(&g->base, f, &g->numbers, &g->grid, &g->scratch);
}

static void place_scratch(amx *g, Val scratch)
{
    em *e = g->e;
    g->pack_b = scratch;
    g->pack_a = em_at(e, g->pack_b, g->npack_b, 1);
    g->tile = em_at(e, g->pack_a, em_c64(e, g->kc), AMX_A_STEP);
    g->block = em_at(e, g->tile, em_c64(e, 4 * (int64_t)g->nv), AMX_TILE);
}

/* ---- a tile of rows ---- */

/* Whole lines that the rows of a tile do not have to share sets of the L1 for are read in place:
 * loads across lines take six times as long. */
static Val in_place(amx *g, Val at, Val row, Val nrows)
{
    enum { SAME_SET = 2048 };
    em *e = g->e;
    Val nbytes = MUL(g->K, em_c64(e, 4 >> g->words)), zero = em_c64(e, 0);
    Val bits = OR(OR(LLVMBuildPtrToInt(e->b, at, e->i64, ""), row), nbytes);
    Val lines = ICMP(EQ, AND(bits, em_c64(e, AMX_LINE - 1)), zero);
    Val apart = ICMP(NE, AND(row, em_c64(e, SAME_SET - 1)), zero);
    return AND(AND(lines, apart), ICMP(EQ, nrows, em_c64(e, AMX_ROWS)));
}

/* The tile's rows of A from step s0 on, packed or in place. */
static void tile_a(amx *g, Val r, Val nrows, Val s0, Val ss, Val *args)
{
    em *e = g->e;
    kern *f = &g->a.f;
    Val packed[3] = {g->pack_a, em_c64(e, AMX_LINE), em_c64(e, AMX_A_STEP)};
    em_ifelse s;
    Val place[3];
    bool may = g->a.load && g->a.along_k;
    if (may) {
        amx_share_indices(g, f);
        f->oidx[g->m] = r;
        f->iidx[g->ki] = MUL(s0, em_c64(e, AMX_SIDE << g->words));
        kern_advance(f, 0, POS_TOP, POS_POINT, amx_fixed_loops(g) | 1u << g->m | 1u << g->kd);
        place[0] = f->st[0].ptr[POS_POINT][g->a.load - f->st[0].s->accs];
        place[1] = dot_bytes(f, 4 >> g->words, g->a.load->stride[g->m]);
        place[2] = em_c64(e, AMX_LINE);
        em_ifelse_begin(e, &s, in_place(g, place[0], place[1], nrows));
        em_ifelse_else(e, &s);
    }
    amx_pack_a(g, r, nrows, s0, ss);
    if (may)
        em_ifelse_end(e, &s, 3, place, packed, packed);
    memcpy(args + AMX_A, packed, sizeof packed);
}

/* A block of K. */
typedef struct block {
    Val i, s0, ss; /* its number, steps of the last inner loop */
    Val b;         /* packed B */
} block;

/* A register tile that is finished, or is being made: its rows, its vectors of columns, the sums.
 */
typedef struct finished {
    Val r, nrows, v, sums;
} finished;

static void epilogue_of(amx *g, const finished *t, Val i)
{
    em *e = g->e;
    Val past = em_smin(e, ADD(t->v, em_c64(e, g->nv)), em_ceil_div(e, g->N, g->L));
    g->c.oidx[g->m] = ADD(t->r, i);
    dot_epilogue_row(&g->c, g->n, g->N, em_at(e, t->sums, i, (int64_t)g->nv * AMX_LINE), t->v, past,
                     &(dot_panel){g->nv, g->nv});
}

static void epilogue_rows(amx *g, const finished *t)
{
    em *e = g->e;
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), t->nrows, em_c64(e, 1), 0, NULL);
    epilogue_of(g, t, l.i);
    em_loop_end(e, &l, NULL);
}

/* What the vector units do beside a step: as many rows of the tile that was finished last, and what
 * the epilogue of this one reads and writes is fetched. */
typedef struct beside {
    finished last, now;
    Val each; /* rows of a step */
} beside;

static void finish_beside(amx *g, Val step, void *user)
{
    em *e = g->e;
    const beside *t = user;
    em_loop l;
    em_if there;
    Val from = MUL(step, t->each);
    em_loop_begin(e, &l, from, em_smin(e, ADD(from, t->each), t->now.nrows), em_c64(e, 1), 0, NULL);
    if (dot_prefetches_rows(&g->c, g->n)) {
        g->c.oidx[g->m] = ADD(t->now.r, l.i);
        dot_prefetch_row(&g->c, g->n, t->now.v, g->nv);
    }
    em_if_begin(e, &there, ICMP(SLT, l.i, t->last.nrows));
    epilogue_of(g, &t->last, l.i);
    em_if_end(e, &there, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, NULL);
}

/* The arguments of panel p of the unit. */
static void panel_args(amx *g, const amx_unit *w, const block *k, Val r, Val p, Val *args)
{
    em *e = g->e;
    int64_t bytes = (int64_t)g->nv * AMX_TILE;
    Val at = MUL(LLVMBuildUDiv(e->b, SUB(r, w->r0), em_c64(e, AMX_ROWS), ""), SUB(w->p1, w->p0));
    Val sums = em_at(e, g->block, ADD(at, p), 2 * bytes), first = ICMP(EQ, k->i, em_c64(e, 0));
    args[AMX_B] = em_at(e, k->b, MUL(p, k->ss), bytes);
    args[AMX_STEPS] = k->ss;
    args[AMX_FROM] = SEL(first, LLVMConstNull(e->ptr), sums);
    args[AMX_TO] = sums;
}

/* All panels of one tile of rows, for a block of K that is not the last one. */
static void sum_row(amx *g, const amx_unit *w, const block *k, Val r, Val nrows, Val *args)
{
    em *e = g->e;
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), SUB(w->p1, w->p0), em_c64(e, 1), 0, NULL);
    panel_args(g, w, k, r, l.i, args);
    amx_call_micro(g, ICMP(SLE, nrows, em_c64(e, AMX_SIDE)), args);
    em_loop_end(e, &l, NULL);
}

/* For the last one: a tile is finished beside the next one, and one of few rows before it. */
static void finish_row(amx *g, const amx_unit *w, const block *k, Val r, Val nrows, Val *args)
{
    em *e = g->e;
    Val zero = em_c64(e, 0), one = em_c64(e, 1), low = ICMP(SLE, nrows, em_c64(e, AMX_SIDE));
    Val np = SUB(w->p1, w->p0), other = em_at(e, g->tile, em_c64(e, 2 * (int64_t)g->nv), AMX_TILE);
    beside t = {.each = em_ceil(e, nrows, em_smax(e, k->ss, one))};
    em_loop l;
    em_ifelse s;
    em_if more;
    em_loop_begin(e, &l, zero, ADD(np, one), one, 2, (Val[]){zero, other});
    Val to = SEL(ICMP(EQ, l.phi[1], g->tile), other, g->tile), past = ICMP(EQ, l.i, np);
    t.last = (finished){r, SEL(ICMP(SGT, l.i, zero), nrows, zero), l.phi[0], l.phi[1]};
    t.now = (finished){r, nrows, MUL(ADD(w->p0, l.i), em_c64(e, g->nv)), to};
    panel_args(g, w, k, r, l.i, args);
    args[AMX_TO] = to;
    em_ifelse_begin(e, &s, OR(OR(past, low), ICMP(EQ, k->ss, zero)));
    epilogue_rows(g, &t.last);
    em_if_begin(e, &more, NOT(past));
    amx_call_micro(g, low, args);
    em_if_end(e, &more, 0, NULL, NULL, NULL);
    em_ifelse_else(e, &s);
    amx_tile(g, 2, args, finish_beside, &t);
    em_ifelse_end(e, &s, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, (Val[]){t.now.v, to});
}

static void tile_row(amx *g, const amx_unit *w, const block *k, Val r)
{
    em *e = g->e;
    em_ifelse s;
    Val args[AMX_ARGS], nrows = em_smin(e, SUB(w->r1, r), em_c64(e, AMX_ROWS));
    tile_a(g, r, nrows, k->s0, k->ss, args);
    em_ifelse_begin(e, &s, ICMP(EQ, ADD(k->i, em_c64(e, 1)), g->KB));
    finish_row(g, w, k, r, nrows, args);
    em_ifelse_else(e, &s);
    sum_row(g, w, k, r, nrows, args);
    em_ifelse_end(e, &s, 0, NULL, NULL, NULL);
}

/* ---- a unit ---- */

static void run_unit(amx *g, const amx_unit *w)
{
    em *e = g->e;
    em_loop lk, lr;
    Val one = em_c64(e, 1);
    em_loop_begin(e, &lk, em_c64(e, 0), g->KB, one, 0, NULL);
    Val i = lk.i, part = em_split_index(e, &i, g->KN), outer = i;
    for (uint32_t d = g->ki; d-- > 0;)
        g->c.iidx[d] = d ? em_split_index(e, &i, em_smax(e, kern_inner(&g->c, 0, d), one)) : i;
    block k = {.i = lk.i, .s0 = dot_cut(e, g->KS, g->KN, part)};
    k.ss = SUB(dot_cut(e, g->KS, g->KN, ADD(part, one)), k.s0);
    Val before = MUL(ADD(MUL(outer, g->KS), k.s0), SUB(w->p1, w->p0));
    k.b = em_at(e, g->pack_b, SEL(g->keep, before, em_c64(e, 0)), (int64_t)g->nv * AMX_TILE);
    em_if fresh;
    em_if_begin(e, &fresh, NOT(w->packed));
    amx_pack_b(g, w, k.s0, k.ss, k.b);
    em_if_end(e, &fresh, 0, NULL, NULL, NULL);
    em_loop_begin(e, &lr, w->r0, w->r1, em_c64(e, AMX_ROWS), 0, NULL);
    tile_row(g, w, &k, lr.i);
    em_loop_end(e, &lr, NULL);
    em_loop_end(e, &lk, NULL);
}

/* Unit u; prev: the columns, and the matrix where it has its own, of the one before. Gives those of
 * this one. Blocks of rows follow each other, then matrices where B is the same for all. */
static Val place_unit(amx *g, Val u, Val prev, amx_unit *w)
{
    em *e = g->e;
    Val one = em_c64(e, 1), i = u, rb = em_split_index(e, &i, g->RB), group = i, cb;
    if (g->same_b) {
        Val batch = em_split_index(e, &i, em_smax(e, g->batch, one));
        group = cb = i;
        i = batch;
    } else {
        cb = em_split_index(e, &i, g->CB);
    }
    for (uint32_t d = g->m; d-- > 0;)
        g->c.oidx[d] = d ? em_split_index(e, &i, kern_outer(&g->c, d)) : i;
    w->r0 = MUL(dot_cut(e, g->T, g->RB, rb), em_c64(e, AMX_ROWS));
    w->r1 = em_smin(e, MUL(dot_cut(e, g->T, g->RB, ADD(rb, one)), em_c64(e, AMX_ROWS)), g->M);
    w->p0 = dot_cut(e, g->P, g->CB, cb);
    w->p1 = dot_cut(e, g->P, g->CB, ADD(cb, one));
    w->packed = AND(g->keep, ICMP(EQ, group, prev));
    return group;
}

static void emit_run(amx *g)
{
    em *e = g->e;
    Ty args[5] = {e->ptr, e->ptr, e->i64, e->i64, e->ptr};
    Val f = em_func(e, "lz_run", e->none, args, 5, true), begin = LLVMGetParam(f, 2),
        end = LLVMGetParam(f, 3), none = em_c64(e, -1);
    kern *factors[2] = {&g->a.f, &g->b.f};
    kctx one = {.u = 1};
    kern_enter(&g->c, LLVMGetParam(f, 0), LLVMGetParam(f, 1));
    products(g);
    em_numbers_get(e, &g->numbers);
    place_scratch(g, LLVMGetParam(f, 4));
    em_if some;
    em_if_begin(e, &some, ICMP(SLT, begin, end));
    kern_top(&g->c, 1);
    for (int i = 0; i < 2; i++) {
        kern_share(factors[i], &g->c);
        kern_addresses(factors[i], 0, POS_TOP);
        kern_eval(factors[i], 0, POS_TOP, &one);
    }
    amx_configure(g);
    em_loop l;
    em_loop_begin(e, &l, begin, end, em_c64(e, 1), 1, &none);
    amx_unit w;
    Val group = place_unit(g, l.i, l.phi[0], &w);
    run_unit(g, &w);
    em_loop_end(e, &l, &group);
    amx_release(g);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
    LLVMBuildRetVoid(e->b);
}

/* ---- the plan ---- */

/* How a factor is packed: vectors along the loop in which its loads are contiguous. */
static lz_status plan_factor(amx *g, amx_factor *x, int32_t sop, uint32_t loop, bool k_first)
{
    const lz_stage *s = &g->k->stages[0];
    bool first;
    x->sop = lz_converted_from(s, sop);
    x->loop = loop;
    LZ_TRY(dot_choose_vectors(&g->base, &x->f, x->sop, k_first ? g->kd : loop,
                              k_first ? loop : g->kd, &first));
    x->along_k = first == k_first;
    const lz_access *a = kern_plain_access(g->k, x->sop);
    if (a && lz_sz_is(a->stride[x->along_k ? g->kd : loop], 1) &&
        g->k->buf[a->buf].dtype == s->sops[x->sop].dtype)
        x->load = a;
    return LZ_OK;
}

static lz_status plan(amx *g)
{
    const lz_dot_info *info = lz_kernel_dot(g->k);
    enum { MOST_STEPS = 20 };
    LZ_TRY(kern_init_epilogue(&g->c, g->e, g->k, g->L));
    LZ_TRY(plan_factor(g, &g->a, info->a_sop, g->m, true));
    LZ_TRY(plan_factor(g, &g->b, info->b_sop, g->n, false));
    g->word = em_vec(g->e->i32, g->L);
    g->words = words_of(g->k, g->e->t);
    g->a_signed = narrow_type(g->k, info->a_sop) == LZ_I8;
    g->b_signed = narrow_type(g->k, info->b_sop) == LZ_I8;
    g->same_b = !(g->b.f.st[0].dep[g->b.sop] & ((1u << g->m) - 1));
    int64_t n = dot_baked(g->k->outer[g->n]), l1 = g->e->t->machine.l1_bytes;
    g->nv = n >= 0 && n <= AMX_SIDE ? 1 : 2;
    g->kc = l1 * 5 / 6 / AMX_A_STEP;
    g->kc = g->kc < 1 ? 1 : g->kc > MOST_STEPS ? MOST_STEPS : g->kc;
    g->mc = TILES;
    return LZ_OK;
}

lz_status dot_emit_amx(em *e, const lz_kernel *k)
{
    amx g;
    memset(&g, 0, sizeof g);
    dot_common_init(&g.base, e, k);
    g.m = lz_kernel_dot(k)->m;
    g.ki = k->stages[0].ninner - 1;
    g.kd = k->nouter + g.ki;
    lz_status s = plan(&g);
    if (s == LZ_OK) {
        amx_emit_micro(&g);
        emit_sizes(&g);
        emit_run(&g);
        s = e->status;
    }
    kern_done(&g.a.f);
    kern_done(&g.b.f);
    kern_done(&g.c);
    return s;
}
