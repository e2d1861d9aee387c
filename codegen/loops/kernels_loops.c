/* kernels_loops.c - the general CPU schedule: any kernel as loops.
 * Rows are the points of the outer loops but the last. A unit is `chunk` points of one
 * row, so a call runs over consecutive units, one row at a time. With vectors over the last outer
 * loop, blocks of several full vectors come first, then masked ones.
 * A serial kernel is one unit.
 * Threads: belongs to one thread. */
#include "codegen/loops/kern.h"

static bool has_inner(const lz_kernel *k)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        if (k->stages[s].ninner || k->stages[s].sort)
            return true;
    return false;
}

static unsigned outer_unroll(const kern *c)
{
    unsigned u = KERN_U;
    if (c->vec != LZ_VEC_OUTER)
        return 1;
    bool loops = has_inner(c->k); /* then the stages without loops do not matter */
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        unsigned v = kern_unroll(c, s);
        if (!loops || c->k->stages[s].ninner)
            u = v < u ? v : u;
    }
    return u;
}

/* Points of the last outer loop in a unit. */
static int64_t chunk_of(const kern *c)
{
    if (c->vec == LZ_VEC_OUTER)
        return has_inner(c->k) ? (int64_t)(outer_unroll(c) * c->lanes) : 1024;
    return has_inner(c->k) ? 1 : 256;
}

/* Product of the extents of the rows, and units per row. */
static Val rows_of(kern *c)
{
    em *e = c->e;
    Val n = em_c64(e, 1);
    for (uint32_t d = 0; d + 1 < c->k->nouter; d++)
        n = MUL(n, kern_size(c, c->k->outer[d]));
    return n;
}

static Val units_per_row(kern *c, int64_t chunk)
{
    em *e = c->e;
    if (c->k->nouter == 0)
        return em_c64(e, 1);
    Val n = kern_size(c, c->k->outer[c->k->nouter - 1]);
    return chunk == 1 ? n : LLVMBuildUDiv(e->b, ADD(n, em_c64(e, chunk - 1)), em_c64(e, chunk), "");
}

static bool needs_scratch(const kern *c)
{
    for (uint32_t s = 0; s < c->k->nstage; s++)
        if (c->st[s].sort || c->k->stages[s].nrow)
            return true;
    return false;
}

static void emit_sizes(kern *c, int64_t chunk)
{
    em *e = c->e;
    Val f = em_func(e, "lz_grid", e->i64, &e->ptr, 1, true);
    em_func_rare(e);
    kern_enter(c, NULL, LLVMGetParam(f, 0));
    Val n = MUL(rows_of(c), units_per_row(c, chunk));
    if (c->k->serial)
        n = LLVMBuildZExt(e->b, ICMP(SGT, n, em_c64(e, 0)), e->i64, "");
    LLVMBuildRet(e->b, n);
    if (!needs_scratch(c))
        return;
    f = em_func(e, "lz_scratch", e->i64, &e->ptr, 1, true);
    em_func_rare(e);
    kern_enter(c, NULL, LLVMGetParam(f, 0));
    LLVMBuildRet(e->b, ADD(kern_sort_scratch(c), kern_rows_scratch(c))); /* never both */
}

/* left: there are so many; NULL: as many as the vectors take. */
static void block_of_points(kern *c, Val first, unsigned u, Val left)
{
    em *e = c->e;
    kctx x = {.u = u};
    for (unsigned i = 0; i < u && left; i++)
        x.mask[i] = em_tail_mask(e, SUB(left, em_c64(e, (int64_t)i * c->lanes)), c->lanes);
    if (c->k->nouter)
        c->oidx[c->k->nouter - 1] = first;
    for (uint32_t s = 0; s < c->k->nstage; s++)
        kern_stage(c, s, &x);
}

/* So much is computed for a point that masks for vectors that need none cost nothing, and a second
 * copy of the code costs time to make. */
static bool always_masked(const kern *c)
{
    enum { HEAVY = 40 };
    unsigned work = 0;
    for (uint32_t s = 0; s < c->k->nstage; s++)
        work += kern_stage_work(c, s);
    return c->e->avx512 && work >= HEAVY && !has_inner(c->k) && outer_unroll(c) <= 2;
}

/* Where the last block of n points from lo on ends. */
static Val whole_blocks(kern *c, Val lo, Val hi, int64_t n)
{
    em *e = c->e;
    return ADD(lo, AND(SUB(hi, lo), em_c64(e, -n)));
}

/* Points from lo on, in whole blocks of u vectors or, where columns go in strips, of these; gives
 * where they end. */
static Val in_blocks(kern *c, Val lo, Val hi, unsigned u)
{
    em *e = c->e;
    em_ifelse strips;
    em_loop l;
    lz_sz n = c->k->outer[c->k->nouter - 1];
    int64_t block = (int64_t)u * c->lanes, side = kern_reduce_col_side(c);
    bool columns = kern_reduces_columns(c, u) && (n.slot >= 0 || n.v >= side);
    Val end = whole_blocks(c, lo, hi, block), wide = NULL;
    if (columns) {
        wide = whole_blocks(c, lo, hi, side);
        em_ifelse_begin(e, &strips, kern_reduce_col_here(c));
        kern_reduce_col(c, lo, wide);
        em_ifelse_else(e, &strips);
    }
    if (n.slot >= 0 || n.v >= block) {
        em_loop_begin(e, &l, lo, end, em_c64(e, block), 0, NULL);
        block_of_points(c, l.i, u, NULL);
        em_loop_end(e, &l, NULL);
    }
    if (columns)
        em_ifelse_end(e, &strips, 1, &wide, &end, &end);
    return end;
}

/* Points lo..hi-1 of the last outer loop. */
static void piece_of_row(kern *c, Val lo, Val hi)
{
    em *e = c->e;
    em_loop l;
    if (c->vec != LZ_VEC_OUTER) {
        em_loop_begin(e, &l, lo, hi, em_c64(e, 1), 0, NULL);
        block_of_points(c, l.i, 1, NULL);
        em_loop_end(e, &l, NULL);
        return;
    }
    unsigned u = outer_unroll(c);
    int64_t block = (int64_t)u * c->lanes;
    lz_sz n = c->k->outer[c->k->nouter - 1];
    bool masked = always_masked(c);
    Val mid = masked ? lo : in_blocks(c, lo, hi, u);
    if (masked || n.slot >= 0 || n.v % block) {
        unsigned few = masked ? u : 1;
        em_loop_begin(e, &l, mid, hi, em_c64(e, (int64_t)few * c->lanes), 0, NULL);
        block_of_points(c, l.i, few, SUB(hi, l.i));
        em_loop_end(e, &l, NULL);
    }
}

/* Outer indices of row r. */
static void split_row(kern *c, Val r)
{
    em *e = c->e;
    for (uint32_t d = c->k->nouter > 1 ? c->k->nouter - 1 : 0; d-- > 0;) {
        Val n = kern_size(c, c->k->outer[d]);
        if (d == 0) {
            c->oidx[0] = r;
            break;
        }
        Val q = LLVMBuildUDiv(e->b, r, n, "");
        c->oidx[d] = SUB(r, MUL(q, n));
        r = q;
    }
}

static void emit_run(kern *c, int64_t chunk)
{
    em *e = c->e;
    Ty args[5] = {e->ptr, e->ptr, e->i64, e->i64, e->ptr};
    Val f = em_func(e, "lz_run", e->none, args, 5, true);
    Val begin = LLVMGetParam(f, 2), end = LLVMGetParam(f, 3);
    kern_enter(c, LLVMGetParam(f, 0), LLVMGetParam(f, 1));
    kern_sort_enter(c, LLVMGetParam(f, 4));
    kern_rows_enter(c, LLVMGetParam(f, 4));
    kern_nt_enter(c);
    Val per_row = units_per_row(c, chunk);
    if (c->k->serial)
        end = SEL(ICMP(SLT, begin, end), MUL(rows_of(c), per_row), begin);
    em_if some;
    em_if_begin(e, &some, ICMP(SLT, begin, end));
    kctx one = {.u = 1};
    kern_top(c, 0);
    Val last = em_c64(e, 1), first_row = begin, lo0 = em_c64(e, 0), last_row = em_c64(e, 1);
    if (c->k->nouter) {
        last = kern_size(c, c->k->outer[c->k->nouter - 1]);
        first_row = LLVMBuildUDiv(e->b, begin, per_row, "");
        lo0 = SUB(begin, MUL(first_row, per_row));
        last_row = LLVMBuildUDiv(e->b, ADD(end, SUB(per_row, em_c64(e, 1))), per_row, "");
    }
    em_loop rows; /* carries the first unit of the row */
    em_loop_begin(e, &rows, first_row, last_row, em_c64(e, 1), 1, &lo0);
    split_row(c, rows.i);
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        kern_addresses(c, s, POS_ROW);
        kern_eval(c, s, POS_ROW, &one);
    }
    Val lo = MUL(rows.phi[0], em_c64(e, chunk));
    Val upto = em_smin(e, SUB(end, MUL(rows.i, per_row)), per_row);
    piece_of_row(c, lo, em_smin(e, MUL(upto, em_c64(e, chunk)), last));
    Val zero = em_c64(e, 0);
    em_loop_end(e, &rows, &zero);
    kern_nt_leave(c);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
    LLVMBuildRetVoid(e->b);
}

bool kern_any_suits(const lz_kernel *k, const lz_target *t)
{
    (void)k, (void)t;
    return true;
}

lz_status lz_kern_loops(em *e, const lz_kernel *k)
{
    kern c;
    lz_status s = kern_init(&c, e, k);
    int across = s == LZ_OK ? kern_transposed_loop(&c) : -1;
    if (across >= 0) {
        c.lanes = c.lanes > 16 ? 16 : c.lanes; /* a square of more is too much code */
        kern_emit_transposed(&c, (uint32_t)across);
        s = e->status;
    } else if (s == LZ_OK) {
        int64_t chunk = chunk_of(&c);
        emit_sizes(&c, chunk);
        emit_run(&c, chunk);
        s = e->status;
    }
    kern_done(&c);
    return s;
}
