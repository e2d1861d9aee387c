/* kernels_transpose.c - in-register transpose: elementwise kernels that read along another loop
 * than they write, in blocks of lanes x lanes.
 *
 * The rows of a block are loaded as vectors along the loop `d` in which the load is contiguous,
 * transposed in registers and stored to a small buffer, from which the block's points are computed
 * row by row along the last loop. Where vectors are shorter than cache lines, blocks that share
 * lines are done together. A unit is SIDE blocks of d. Where blocks write whole cache lines and
 * read nothing along the last loop, a unit has one line of that, and units go along d first, so
 * that rows are streamed. Elsewhere it has CHUNK indices of the last loop, and units go along that
 * first, so that neighbouring lines of a row are touched together. The next blocks' rows are
 * prefetched. Where one of the two loops fits in a block (the taps of a window), rows along it are
 * less than a line, and a unit has NEAR indices of a third loop as well.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot.h"

enum { CHUNK = 64, SIDE = 8, NEAR = 16 };
enum { LINE = 64, AHEAD = 1024 }; /* bytes: of a line; how far ahead in a row it is fetched */

/* Contiguous along loop d, backwards too. */
static bool lies_along(const lz_access *a, uint32_t d)
{
    return lz_sz_is(a->stride[d], 1) || lz_sz_is(a->stride[d], -1);
}

/* Loop d if load `a` of the stage is contiguous along d but not along the last loop, and is plain;
 * -1 otherwise. */
static int across(const kern *c, const lz_access *a)
{
    uint32_t last = c->k->nouter - 1;
    if (a->ndyn || a->guard >= 0 || em_esize(c->k->buf[a->buf].dtype) > 8 ||
        lz_sz_is(a->stride[last], 0) || lz_sz_is(a->stride[last], 1))
        return -1;
    for (uint32_t d = 0; d < last; d++) {
        lz_sz n = c->k->outer[d];
        if (lies_along(a, d) && (n.slot >= 0 || n.v >= 4))
            return (int)d;
    }
    return -1;
}

int kern_transposed_loop(const kern *c)
{
    const lz_kernel *k = c->k;
    if (!em_may(c->e, LZ_VARIANT_transpose) || k->nstage != 1 || k->stages[0].ninner ||
        k->nouter < 2 || c->vec != LZ_VEC_OUTER || k->serial || c->lanes < 4)
        return -1;
    lz_sz n = k->outer[k->nouter - 1];
    if (n.slot < 0 && n.v < 4)
        return -1;
    for (uint32_t i = 0; i < k->stages[0].nacc; i++)
        if (!(c->written >> k->stages[0].accs[i].buf & 1) && across(c, &k->stages[0].accs[i]) >= 0)
            return across(c, &k->stages[0].accs[i]);
    return -1;
}

/* ---- units ---- */

static uint32_t row_loops(const kern *c, uint32_t d, uint32_t *loops)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i + 1 < c->k->nouter; i++)
        if (i != d)
            loops[n++] = i;
    return n;
}

/* Whether a block has all of loop l. */
static Val is_short(kern *c, uint32_t l)
{
    em *e = c->e;
    return ICMP(SLE, kern_outer(c, l), em_c64(e, c->lanes));
}

/* The loop of which a unit may have several indices, or -1: there is none but the two. */
static int near_loop(const kern *c, uint32_t d)
{
    uint32_t loops[LZ_OUTER_MAX], n = row_loops(c, d, loops);
    return n ? (int)loops[n - 1] : -1;
}

/* How many indices of row loop l a unit has. */
static Val indices_of(kern *c, uint32_t d, uint32_t l)
{
    em *e = c->e;
    if ((int)l != near_loop(c, d))
        return em_c64(e, 1);
    Val some = OR(is_short(c, d), is_short(c, c->k->nouter - 1));
    return SEL(some, em_c64(e, NEAR), em_c64(e, 1));
}

/* Blocks along each of the two loops whose vectors are in the same lines. */
static unsigned beside(const kern *c)
{
    int bytes = c->e->t->machine.vector_bytes;
    return bytes < LINE ? (unsigned)(LINE / bytes) : 1;
}

/* Elements of a loop that are in the same lines. */
static int64_t step_of(const kern *c)
{
    return (int64_t)beside(c) * c->lanes;
}

static bool reads_rows(const kern *c)
{
    const lz_stage *s = &c->k->stages[0];
    for (uint32_t i = 0; i < s->nacc; i++)
        if (lz_sz_is(s->accs[i].stride[c->k->nouter - 1], 1))
            return true;
    return false;
}

/* Indices of the last loop that fill the lines they are written to. */
static int64_t line_of(const kern *c)
{
    const lz_stage *s = &c->k->stages[0];
    int64_t n = step_of(c);
    for (uint32_t j = 0; j < s->nstore; j++) {
        int64_t line = LINE / em_esize(c->k->buf[s->stores[j].at.buf].dtype);
        n = line > n ? line : n;
    }
    return n;
}

/* Whether units go along d first: all rows that are written begin where the first one does in a
 * line. */
static Val goes_along(kern *c)
{
    em *e = c->e;
    const lz_stage *s = &c->k->stages[0];
    if (reads_rows(c))
        return em_ci(e->i1, 0);
    Val lines = em_ci(e->i1, 1);
    for (uint32_t j = 0; j < s->nstore; j++)
        for (uint32_t d = 0; d + 1 < c->k->nouter; d++) {
            Val past = AND(kern_size(c, s->stores[j].at.stride[d]), em_c64(e, line_of(c) - 1));
            lines = AND(lines, ICMP(EQ, past, em_c64(e, 0)));
        }
    return lines;
}

/* How units divide the two loops. */
typedef struct grid {
    Val along;         /* goes_along */
    Val chunk;         /* indices of the last loop in a unit */
    Val chunks, sides; /* how many there are along the last loop, and along d */
} grid;

static grid divide(kern *c, uint32_t d)
{
    em *e = c->e;
    grid g = {.along = goes_along(c)};
    g.chunk = SEL(g.along, em_c64(e, line_of(c)), em_c64(e, CHUNK));
    g.chunks = em_ceil(e, kern_outer(c, c->k->nouter - 1), g.chunk);
    g.sides = em_ceil(e, kern_outer(c, d), em_c64(e, SIDE * (int64_t)c->lanes));
    return g;
}

static void emit_sizes(kern *c, uint32_t d)
{
    em *e = c->e;
    Val f = em_func(e, "lz_grid", e->i64, &e->ptr, 1, true);
    em_func_rare(e);
    kern_enter(c, NULL, LLVMGetParam(f, 0));
    grid g = divide(c, d);
    Val n = MUL(g.sides, g.chunks);
    uint32_t loops[LZ_OUTER_MAX], nl = row_loops(c, d, loops);
    for (uint32_t i = 0; i < nl; i++)
        n = MUL(n, em_ceil(e, kern_outer(c, loops[i]), indices_of(c, d, loops[i])));
    LLVMBuildRet(e->b, n);
}

/* ---- one block, or those beside each other ---- */

typedef struct block {
    const grid *g;
    uint32_t d, last;
    Val i0, j0; /* first indices */
    Val rows;   /* of d in the block */
} block;

/* One of them: rows of L elements at the addresses of `row`, of which the block has some, become
 *   columns. Where elements follow each other backwards, the last one comes first. */
static void make_square(kern *c, const block *b, const lz_access *a, Val *row, Val mask, Val square)
{
    em *e = c->e;
    lz_dtype dt = c->k->buf[a->buf].dtype;
    Ty mt = kern_mem_type(e, dt, c->lanes);
    unsigned L = c->lanes, es = em_esize(dt);
    bool back = lz_sz_is(a->stride[b->d], -1);
    Val top = SUB(b->rows, em_c64(e, 1));
    for (unsigned r = 0; r < L; r++) {
        Val first = back ? em_at(e, row[r], SUB(em_c64(e, 0), top), es) : row[r];
        row[r] = em_mload(e, mt, first, mask, NULL, es);
    }
    em_transpose(e, row, L);
    for (unsigned r = 0; r < L; r++) {
        Val to = em_c64(e, r);
        if (back)
            to = AND(SUB(top, to), em_c64(e, L - 1));
        em_store(e, row[r], em_at(e, square, to, (int64_t)L * es), es);
    }
}

/* Squares beside each other along d, from `row` on, to where those of the h-th block along the last
 * loop are. */
static void make_squares(kern *c, const block *b, uint32_t sop, Val *row, Val h)
{
    em *e = c->e;
    kstage *t = &c->st[0];
    const lz_access *a = &t->s->accs[t->s->sops[sop].a];
    unsigned L = c->lanes, es = em_esize(c->k->buf[a->buf].dtype), side = beside(c);
    if (side == 1) {
        make_square(c, b, a, row, em_tail_mask(e, b->rows, L), t->square[sop]);
        return;
    }
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), b->rows, em_c64(e, L), 0, NULL);
    block one = *b;
    one.rows = em_smin(e, SUB(b->rows, l.i), em_c64(e, L));
    Val along = MUL(l.i, kern_size(c, a->stride[b->d])), at[EM_LANES];
    for (unsigned r = 0; r < L; r++)
        at[r] = em_at(e, row[r], along, es);
    Val to = ADD(MUL(h, em_c64(e, (int64_t)side * L)), l.i);
    make_square(c, &one, a, at, em_tail_mask(e, one.rows, L),
                em_at(e, t->square[sop], to, (int64_t)L * es));
    em_loop_end(e, &l, NULL);
}

/* Elements from a row to what is fetched: to the same place of the rows that follow, or, where
 * those would be gone from the second-level cache when they are read, ahead in the row. */
static Val fetch_from(kern *c, const block *b, const lz_access *a, Val next)
{
    em *e = c->e;
    unsigned es = em_esize(c->k->buf[a->buf].dtype);
    Val reach = em_smax(e, next, SUB(em_c64(e, 0), next));
    Val far = ICMP(SGT, MUL(reach, em_c64(e, es)), em_c64(e, e->t->machine.l2_bytes / 2));
    Val ahead = MUL(kern_size(c, a->stride[b->d]), em_c64(e, AHEAD / es));
    return SEL(AND(b->g->along, far), ahead, next);
}

/* The squares of all transposed loads, from rows along d: those of the h-th block along the last
 * loop. */
static void read_squares(kern *c, const block *b, Val h)
{
    em *e = c->e;
    kstage *t = &c->st[0];
    unsigned L = c->lanes;
    int near = near_loop(c, b->d);
    Val top = SUB(kern_size(c, c->k->outer[b->last]), em_c64(e, 1)), row[EM_LANES];
    Val from = ADD(b->j0, MUL(h, em_c64(e, L)));
    c->oidx[b->d] = b->i0;
    kern_advance(c, 0, POS_TOP, POS_ROW, (1u << b->last) - 1);
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        if (!t->square[i])
            continue;
        const lz_access *a = &t->s->accs[t->s->sops[i].a];
        unsigned es = em_esize(c->k->buf[a->buf].dtype);
        Val after = MUL(kern_size(c, a->stride[b->last]), em_c64(e, step_of(c)));
        after = fetch_from(c, b, a, after);
        if (near >= 0)
            after = SEL(is_short(c, b->last), kern_size(c, a->stride[near]), after);
        for (unsigned r = 0; r < L; r++) {
            c->oidx[b->last] = em_intr2(e, "llvm.umin", ADD(from, em_c64(e, r)), top);
            kern_advance(c, 0, POS_ROW, POS_POINT, 1u << b->last);
            row[r] = t->ptr[POS_POINT][t->s->sops[i].a];
            em_prefetch(e, em_at(e, row[r], after, es), false, 2);
        }
        make_squares(c, b, i, row, h);
    }
}

/* What is read along the last loop is on its way: the part of a row that the next unit reads, a
 * line of it each block; where a row is but a part of a line, those of the next indices of the near
 * loop. */
static void fetch_rows(kern *c, const block *b)
{
    enum { NEXT_LINES = 128 };
    em *e = c->e;
    kstage *t = &c->st[0];
    lz_sz n = c->k->outer[b->last];
    bool parts = n.slot < 0 && n.v <= (int64_t)c->lanes;
    for (uint32_t i = 0; i < t->s->nacc; i++) {
        const lz_access *a = &t->s->accs[i];
        if (!lz_sz_is(a->stride[b->last], 1))
            continue;
        Val row = t->ptr[POS_ROW][i], next = ADD(b->j0, em_c64(e, CHUNK));
        if (parts)
            em_prefetch(e, em_at(e, row, em_c64(e, NEXT_LINES), 1), false, 3);
        else
            em_prefetch(e, em_at(e, row, next, em_esize(c->k->buf[a->buf].dtype)), false, 2);
    }
}

/* A loop over the blocks along the last loop; where there is but one there is none. Gives which. */
static Val blocks_begin(kern *c, em_loop *l, Val n)
{
    Val none = em_c64(c->e, 0);
    if (beside(c) == 1)
        return none;
    em_loop_begin(c->e, l, none, n, em_c64(c->e, 1), 0, NULL);
    return l->i;
}

static void blocks_end(kern *c, em_loop *l)
{
    if (beside(c) > 1)
        em_loop_end(c->e, l, NULL);
}

/* The points of row i in the h-th block along the last loop. */
static void emit_points(kern *c, const block *b, Val i, Val h, Val end)
{
    em *e = c->e;
    Val from = ADD(b->j0, MUL(h, em_c64(e, c->lanes))), left = SUB(end, from);
    c->oidx[b->last] = from;
    c->st[0].square_row = ADD(i, MUL(h, em_c64(e, (int64_t)beside(c) * c->lanes)));
    kctx x = {.u = 1, .mask = {em_tail_mask(e, left, c->lanes)}};
    x.full = ICMP(SGE, left, em_c64(e, c->lanes));
    kern_stage(c, 0, &x);
}

static void emit_block(kern *c, const block *b, Val end)
{
    em *e = c->e;
    em_loop l, lh;
    kctx one = {.u = 1};
    Val n = em_smin(e, em_ceil_div(e, SUB(end, b->j0), c->lanes), em_c64(e, beside(c)));
    read_squares(c, b, blocks_begin(c, &lh, n));
    blocks_end(c, &lh);
    em_loop_begin(e, &l, em_c64(e, 0), b->rows, em_c64(e, 1), 0, NULL);
    c->oidx[b->d] = ADD(b->i0, l.i);
    c->oidx[b->last] = b->j0;
    kern_addresses(c, 0, POS_ROW);
    fetch_rows(c, b);
    kern_eval(c, 0, POS_ROW, &one);
    emit_points(c, b, l.i, blocks_begin(c, &lh, n), end);
    blocks_end(c, &lh);
    em_loop_end(e, &l, NULL);
}

/* Indices `lo` to `hi` of the near loop, which is `near` (-1: there is none). */
static void emit_near(kern *c, const block *b, Val end, int near, Val lo, Val hi)
{
    em *e = c->e;
    em_loop l;
    if (near < 0) {
        emit_block(c, b, end);
        return;
    }
    em_loop_begin(e, &l, lo, hi, em_c64(e, 1), 0, NULL);
    c->oidx[near] = l.i;
    emit_block(c, b, end);
    em_loop_end(e, &l, NULL);
}

static void emit_unit(kern *c, uint32_t d, Val u, const grid *g)
{
    em *e = c->e;
    uint32_t loops[LZ_OUTER_MAX], nl = row_loops(c, d, loops);
    int near = near_loop(c, d);
    block b = {.g = g, .d = d, .last = c->k->nouter - 1};
    Val i = u, near_lo = NULL, near_hi = NULL, side_n = em_c64(e, SIDE * (int64_t)c->lanes);
    Val one = em_split_index(e, &i, SEL(g->along, g->sides, g->chunks)),
        other = em_split_index(e, &i, SEL(g->along, g->chunks, g->sides));
    Val lo = MUL(SEL(g->along, other, one), g->chunk),
        first = MUL(SEL(g->along, one, other), side_n);
    for (uint32_t q = nl; q-- > 0;) {
        Val n = kern_outer(c, loops[q]), some = indices_of(c, d, loops[q]);
        c->oidx[loops[q]] = q ? em_split_index(e, &i, em_ceil(e, n, some)) : i;
        if ((int)loops[q] != near)
            continue;
        near_lo = MUL(c->oidx[loops[q]], some);
        near_hi = em_smin(e, ADD(near_lo, some), n);
    }
    Val past = kern_size(c, c->k->outer[d]), upto = em_smin(e, ADD(first, side_n), past);
    Val end = em_smin(e, ADD(lo, g->chunk), kern_size(c, c->k->outer[b.last]));
    em_loop l, side;
    Val step = em_c64(e, step_of(c));
    em_loop_begin(e, &l, lo, end, step, 0, NULL);
    b.j0 = l.i;
    em_loop_begin(e, &side, first, upto, step, 0, NULL);
    b.i0 = side.i;
    b.rows = em_smin(e, SUB(past, b.i0), step);
    emit_near(c, &b, end, near, near_lo, near_hi);
    em_loop_end(e, &side, NULL);
    em_loop_end(e, &l, NULL);
}

static void emit_run(kern *c, uint32_t d)
{
    em *e = c->e;
    kstage *t = &c->st[0];
    Ty args[5] = {e->ptr, e->ptr, e->i64, e->i64, e->ptr};
    Val f = em_func(e, "lz_run", e->none, args, 5, true);
    kern_enter(c, LLVMGetParam(f, 0), LLVMGetParam(f, 1));
    kern_nt_enter(c);
    Val begin = LLVMGetParam(f, 2), end = LLVMGetParam(f, 3);
    grid g = divide(c, d);
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        const lz_sop *p = &t->s->sops[i];
        if (p->kind != LZ_S_LOAD || across(c, &t->s->accs[p->a]) != (int)d ||
            (c->written >> t->s->accs[p->a].buf & 1))
            continue;
        lz_dtype dt = c->k->buf[t->s->accs[p->a].buf].dtype;
        t->square[i] =
            em_alloca(e, kern_mem_type(e, dt, c->lanes), beside(c) * beside(c) * c->lanes, 64);
    }
    em_if some;
    em_if_begin(e, &some, ICMP(SLT, begin, end));
    kctx one = {.u = 1};
    kern_addresses(c, 0, POS_TOP);
    kern_eval(c, 0, POS_TOP, &one);
    em_loop l;
    em_loop_begin(e, &l, begin, end, em_c64(e, 1), 0, NULL);
    emit_unit(c, d, l.i, &g);
    em_loop_end(e, &l, NULL);
    kern_nt_leave(c);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
    LLVMBuildRetVoid(e->b);
}

void kern_emit_transposed(kern *c, uint32_t d)
{
    emit_sizes(c, d);
    emit_run(c, d);
}
