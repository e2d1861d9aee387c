/* kernels_transpose.c - the schedule of elementwise kernels that read something along another loop
 * than they write: blocks of lanes x lanes.
 * The rows of a block are read in vectors along the loop `d` where the load is contiguous,
 * transposed in registers, and lie in a small square in memory while the block's points are
 * computed row by row along the last loop.
 * A unit is SIDE blocks of d and CHUNK indices of the last loop: several lines of each row are read
 * together, which memory far away wants, and the rows of the blocks that follow are fetched.
 * Threads: belongs to one thread. */
#include "backends/llvm/kern.h"

enum { CHUNK = 64, SIDE = 8 };

/* Loop d if load `a` of the stage is contiguous along d but not along the last loop, and is plain;
 * -1 otherwise. */
static int across(const kern *c, const lz_access *a)
{
    uint32_t last = c->k->nouter - 1;
    if (a->ndyn || a->guard >= 0 || kern_esize(c->k->buf[a->buf].dtype) > 8 ||
        kern_sz_is(a->stride[last], 0) || kern_sz_is(a->stride[last], 1))
        return -1;
    for (uint32_t d = 0; d < last; d++) {
        lz_sz n = c->k->outer[d];
        if (kern_sz_is(a->stride[d], 1) && (n.slot >= 0 || n.v >= 4))
            return (int)d;
    }
    return -1;
}

int kern_transposed_loop(const kern *c)
{
    const lz_kernel *k = c->k;
    if (!em_may(c->e, LZ_FORM_squares) || k->nstage != 1 || k->stages[0].ninner || k->nouter < 2 ||
        c->vec != LZ_VEC_OUTER || k->serial || c->lanes < 4)
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

static Val blocks_of(kern *c, lz_sz n, int64_t by)
{
    em *e = c->e;
    return LLVMBuildUDiv(e->b, ADD(kern_size(c, n), em_c64(e, by - 1)), em_c64(e, by), "");
}

static void emit_sizes(kern *c, uint32_t d)
{
    em *e = c->e;
    Val f = em_func(e, "lz_grid", e->i64, &e->ptr, 1, true);
    kern_enter(c, NULL, LLVMGetParam(f, 0));
    Val n = MUL(blocks_of(c, c->k->outer[d], SIDE * (int64_t)c->lanes),
                blocks_of(c, c->k->outer[c->k->nouter - 1], CHUNK));
    uint32_t loops[LZ_OUTER_MAX], nl = row_loops(c, d, loops);
    for (uint32_t i = 0; i < nl; i++)
        n = MUL(n, kern_size(c, c->k->outer[loops[i]]));
    LLVMBuildRet(e->b, n);
}

static Val split(em *e, Val *i, Val n)
{
    Val q = LLVMBuildUDiv(e->b, *i, n, ""), r = SUB(*i, MUL(q, n));
    *i = q;
    return r;
}

/* ---- one block ---- */

typedef struct block {
    uint32_t d, last;
    Val i0, j0; /* first indices */
    Val rows;   /* of d in the block */
} block;

/* The squares of all transposed loads, from rows along d. */
static void read_squares(kern *c, const block *b)
{
    em *e = c->e;
    kstage *t = &c->st[0];
    unsigned L = c->lanes;
    Val top = SUB(kern_size(c, c->k->outer[b->last]), em_c64(e, 1)),
        mask = em_tail_mask(e, b->rows, L), row[EM_LANES];
    c->oidx[b->d] = b->i0;
    kern_advance(c, 0, POS_TOP, POS_ROW, (1u << b->last) - 1);
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        if (!t->square[i])
            continue;
        lz_dtype dt = c->k->buf[t->s->accs[t->s->sops[i].a].buf].dtype;
        Ty mt = kern_mem_type(e, dt, L);
        unsigned es = kern_esize(dt);
        lz_sz stride = t->s->accs[t->s->sops[i].a].stride[b->last];
        Val after = MUL(kern_size(c, stride), em_c64(e, L));
        for (unsigned r = 0; r < L; r++) {
            c->oidx[b->last] = em_intr2(e, "llvm.umin", ADD(b->j0, em_c64(e, r)), top);
            kern_advance(c, 0, POS_ROW, POS_POINT, 1u << b->last);
            Val p = t->ptr[POS_POINT][t->s->sops[i].a];
            em_prefetch(e, em_at(e, p, after, es), false, 2);
            row[r] = em_mload(e, mt, p, mask, NULL, es);
        }
        em_transpose(e, row, L);
        for (unsigned r = 0; r < L; r++)
            em_store(e, row[r], em_at(e, t->square[i], em_c64(e, r), (int64_t)L * es), es);
    }
}

static void emit_block(kern *c, const block *b, Val end)
{
    em *e = c->e;
    kstage *t = &c->st[0];
    read_squares(c, b);
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), b->rows, em_c64(e, 1), 0, NULL);
    c->oidx[b->d] = ADD(b->i0, l.i);
    c->oidx[b->last] = b->j0;
    kctx x = {.u = 1};
    t->square_row = l.i;
    kern_addresses(c, 0, POS_ROW);
    kern_eval(c, 0, POS_ROW, &x);
    x.mask[0] = em_tail_mask(e, SUB(end, b->j0), c->lanes);
    x.full = ICMP(SGE, SUB(end, b->j0), em_c64(e, c->lanes));
    kern_stage(c, 0, &x);
    em_loop_end(e, &l, NULL);
}

static void emit_unit(kern *c, uint32_t d, Val u, Val chunks, Val blocks)
{
    em *e = c->e;
    uint32_t loops[LZ_OUTER_MAX], nl = row_loops(c, d, loops);
    block b = {.d = d, .last = c->k->nouter - 1};
    Val i = u, lo = MUL(split(e, &i, chunks), em_c64(e, CHUNK));
    Val some = em_c64(e, SIDE * (int64_t)c->lanes), first = MUL(split(e, &i, blocks), some);
    for (uint32_t q = nl; q-- > 0;)
        c->oidx[loops[q]] = q ? split(e, &i, kern_size(c, c->k->outer[loops[q]])) : i;
    Val past = kern_size(c, c->k->outer[d]), upto = em_smin(e, ADD(first, some), past);
    Val end = em_smin(e, ADD(lo, em_c64(e, CHUNK)), kern_size(c, c->k->outer[b.last]));
    em_loop l, side;
    em_loop_begin(e, &l, lo, end, em_c64(e, c->lanes), 0, NULL);
    b.j0 = l.i;
    em_loop_begin(e, &side, first, upto, em_c64(e, c->lanes), 0, NULL);
    b.i0 = side.i;
    b.rows = em_smin(e, SUB(past, b.i0), em_c64(e, c->lanes));
    emit_block(c, &b, end);
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
    kern_stream_enter(c);
    Val begin = LLVMGetParam(f, 2), end = LLVMGetParam(f, 3);
    Val chunks = blocks_of(c, c->k->outer[c->k->nouter - 1], CHUNK),
        blocks = blocks_of(c, c->k->outer[d], SIDE * (int64_t)c->lanes);
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        const lz_sop *p = &t->s->sops[i];
        if (p->kind != LZ_S_LOAD || across(c, &t->s->accs[p->a]) != (int)d ||
            (c->written >> t->s->accs[p->a].buf & 1))
            continue;
        lz_dtype dt = c->k->buf[t->s->accs[p->a].buf].dtype;
        t->square[i] = em_alloca(e, kern_mem_type(e, dt, c->lanes), c->lanes, 64);
    }
    em_if some;
    em_if_begin(e, &some, ICMP(SLT, begin, end));
    kctx one = {.u = 1};
    kern_addresses(c, 0, POS_TOP);
    kern_eval(c, 0, POS_TOP, &one);
    em_loop l;
    em_loop_begin(e, &l, begin, end, em_c64(e, 1), 0, NULL);
    emit_unit(c, d, l.i, chunks, blocks);
    em_loop_end(e, &l, NULL);
    kern_stream_leave(c);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
    LLVMBuildRetVoid(e->b);
}

void kern_emit_transposed(kern *c, uint32_t d)
{
    emit_sizes(c, d);
    emit_run(c, d);
}
