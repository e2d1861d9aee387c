/* kernels_sort.c - code of a stage that sorts rows, and of what reads them.
 * The rows of an outer point lie in scratch memory, one array per row, twice: the stage's loops fill the first set; runs of RUN
 * positions are sorted by insertion, then merged between the two sets, twice as long each time. That is stable. Every step is bounded by
 * the ends of its runs alone, so a comparator that contradicts itself moves elements about and does no harm.
 * Units: bytes of scratch.   Threads: belongs to one thread. */
#include "backends/llvm/kern.h"

enum { RUN = 8, ALIGN = 64 };

static Blk block(em *e)
{
    return LLVMAppendBasicBlockInContext(e->cx, e->f, "");
}

static lz_dtype row_dtype(const kstage *t, uint32_t k)
{
    return t->s->sops[t->s->sort->value[k]].dtype;
}

/* ---- where the rows lie ---- */

static Val row_length(kern *c, const kstage *t)
{
    em *e = c->e;
    Val n = em_c64(e, 1);
    for (uint32_t d = 0; d < t->s->ninner; d++)
        n = MUL(n, kern_size(c, t->s->extent[d]));
    return n;
}

/* Offsets of the rows of one set, when at is not NULL, and how large the set is. */
static Val row_offsets(kern *c, const kstage *t, Val n, Val *at)
{
    em *e = c->e;
    Val sum = em_c64(e, 0);
    for (uint32_t k = 0; k < t->s->sort->nrow; k++) {
        Val size = MUL(n, em_c64(e, kern_esize(row_dtype(t, k))));
        if (at)
            at[k] = sum;
        sum = ADD(sum, AND(ADD(size, em_c64(e, ALIGN - 1)), em_c64(e, -ALIGN)));
    }
    return sum;
}

Val kern_sort_scratch(kern *c)
{
    em *e = c->e;
    Val sum = em_c64(e, 0);
    for (uint32_t s = 0; s < c->k->nstage; s++)
        if (c->st[s].s->sort)
            sum = ADD(sum,
                      SHL(row_offsets(c, &c->st[s], row_length(c, &c->st[s]), NULL), em_c64(e, 1)));
    return sum;
}

void kern_sort_enter(kern *c, Val scratch)
{
    em *e = c->e;
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        kstage *t = &c->st[s];
        if (!t->s->sort)
            continue;
        t->row_n = row_length(c, t);
        Val set = row_offsets(c, t, t->row_n, t->row_at);
        t->rows = scratch;
        t->rows2 = em_at(e, scratch, set, 1);
        scratch = em_at(e, t->rows2, set, 1);
    }
}

/* ---- single elements ---- */

static Val element(kern *c, const kstage *t, Val set, uint32_t k, Val i)
{
    em *e = c->e;
    return em_at(e, em_at(e, set, t->row_at[k], 1), i, kern_esize(row_dtype(t, k)));
}

static Val get(kern *c, const kstage *t, Val set, uint32_t k, Val i)
{
    lz_dtype d = row_dtype(t, k);
    return em_load(c->e, kern_mem_type(c->e, d, 1), element(c, t, set, k, i), kern_esize(d));
}

static void put(kern *c, const kstage *t, Val set, uint32_t k, Val i, Val v)
{
    em_store(c->e, v, element(c, t, set, k, i), kern_esize(row_dtype(t, k)));
}

/* Position of the current point among those of the stage's inner loops. */
static Val position(kern *c, const kstage *t)
{
    em *e = c->e;
    Val at = em_c64(e, 0);
    for (uint32_t d = 0; d < t->s->ninner; d++)
        at = d ? ADD(MUL(at, kern_size(c, t->s->extent[d])), c->iidx[d]) : c->iidx[d];
    return at;
}

void kern_sort_put(kern *c, uint32_t s)
{
    kstage *t = &c->st[s];
    Val at = position(c, t);
    for (uint32_t k = 0; k < t->s->sort->nrow; k++)
        put(c, t, t->rows, k, at,
            kern_to_mem(c->e, row_dtype(t, k), kern_value(c, s, t->s->sort->value[k], 0)));
}

Ev kern_sort_get(kern *c, uint32_t s, const lz_sop *p)
{
    const kstage *t = &c->st[p->a];
    Val v = get(c, t, t->sorted, (uint32_t)p->b, position(c, &c->st[s]));
    return kern_from_mem(c->e, p->dtype, v);
}

/* ---- comparing ---- */

/* Rows the comparator looks at: a bit each. */
static uint32_t keys_of(const lz_sort *r)
{
    uint32_t keys = 0;
    for (uint32_t i = 0; i < r->nbody; i++)
        if (r->body[i].kind == LZ_S_ELT)
            keys |= 1u << (r->body[i].a / 2);
    return keys;
}

/* Whether the left elements come before the right ones; both in memory's form. */
static Val before(kern *c, const kstage *t, const Val *left, const Val *right)
{
    em *e = c->e;
    const lz_sort *r = t->s->sort;
    Ev *val = lz_arena_alloc(&c->arena, r->nbody * sizeof *val);
    if (!val) {
        e->status = e->status
                        ? e->status
                        : LZ_FAIL(LZ_EMEM, "code generation: no memory for a comparator of %u ops",
                                  r->nbody);
        return LLVMConstNull(e->i1);
    }
    for (uint32_t i = 0; i < r->nbody; i++) {
        const lz_sop *p = &r->body[i];
        if (p->kind == LZ_S_CONST) {
            val[i] = lz_ev_const(e, p->dtype, p->bits);
        } else if (p->kind == LZ_S_ELT) {
            val[i] = kern_from_mem(e, p->dtype, (p->a & 1 ? right : left)[p->a / 2]);
        } else {
            int32_t o[3] = {p->a, p->b, p->c};
            lz_dtype in[3] = {0};
            Ev a[3] = {{0}};
            for (int j = 0; j < lz_op_get(p->op)->arity && j < 3; j++)
                in[j] = r->body[o[j]].dtype, a[j] = val[o[j]];
            val[i] = lz_emit_ew(e, p->op, p->attr, p->dtype, in, a);
        }
    }
    return val[r->less].v;
}

static void load_keys(kern *c, const kstage *t, Val set, Val i, Val *out)
{
    uint32_t keys = keys_of(t->s->sort);
    for (uint32_t k = 0; k < t->s->sort->nrow; k++)
        out[k] = keys >> k & 1 ? get(c, t, set, k, i) : NULL;
}

/* ---- runs by insertion ---- */

/* Moves the element at i down to where it belongs among lo..i. */
static void insert(kern *c, const kstage *t, Val lo, Val i)
{
    em *e = c->e;
    uint32_t n = t->s->sort->nrow;
    Val x[LZ_SORT_MAX], y[LZ_SORT_MAX], one = em_c64(e, 1);
    for (uint32_t k = 0; k < n; k++)
        x[k] = get(c, t, t->rows, k, i);
    Blk pre = LLVMGetInsertBlock(e->b), head = block(e), test = block(e), move = block(e),
        done = block(e);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    Val j = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(j, &i, &pre, 1);
    LLVMBuildCondBr(e->b, ICMP(SGT, j, lo), test, done);
    LLVMPositionBuilderAtEnd(e->b, test);
    Val down = SUB(j, one);
    load_keys(c, t, t->rows, down, y);
    LLVMBuildCondBr(e->b, before(c, t, x, y), move, done);
    LLVMPositionBuilderAtEnd(e->b, move);
    for (uint32_t k = 0; k < n; k++)
        put(c, t, t->rows, k, j, get(c, t, t->rows, k, down));
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(j, &down, &move, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
    for (uint32_t k = 0; k < n; k++)
        put(c, t, t->rows, k, j, x[k]);
}

static void sort_runs(kern *c, const kstage *t)
{
    em *e = c->e;
    em_loop run, l;
    em_loop_begin(e, &run, em_c64(e, 0), t->row_n, em_c64(e, RUN), 0, NULL);
    Val end = em_intr2(e, "llvm.smin", ADD(run.i, em_c64(e, RUN)), t->row_n);
    em_loop_begin(e, &l, ADD(run.i, em_c64(e, 1)), end, em_c64(e, 1), 0, NULL);
    insert(c, t, run.i, l.i);
    em_loop_end(e, &l, NULL);
    em_loop_end(e, &run, NULL);
}

/* ---- merging ---- */

/* Positions lo..mid-1 and mid..hi-1 of `src` become lo..hi-1 of `dst`; the left one first where neither comes before the other. */
static void merge(kern *c, const kstage *t, Val src, Val dst, Val lo, Val mid, Val hi)
{
    em *e = c->e;
    uint32_t n = t->s->sort->nrow;
    Val left[LZ_SORT_MAX], right[LZ_SORT_MAX];
    Blk pre = LLVMGetInsertBlock(e->b), head = block(e), body = block(e), rest = block(e);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    Val i = LLVMBuildPhi(e->b, e->i64, ""), j = LLVMBuildPhi(e->b, e->i64, ""),
        p = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(i, &lo, &pre, 1);
    LLVMAddIncoming(j, &mid, &pre, 1);
    LLVMAddIncoming(p, &lo, &pre, 1);
    LLVMBuildCondBr(e->b, AND(ICMP(SLT, i, mid), ICMP(SLT, j, hi)), body, rest);
    LLVMPositionBuilderAtEnd(e->b, body);
    load_keys(c, t, src, i, left);
    load_keys(c, t, src, j, right);
    Val second = before(c, t, right, left), from = SEL(second, j, i);
    for (uint32_t k = 0; k < n; k++)
        put(c, t, dst, k, p, left[k] ? SEL(second, right[k], left[k]) : get(c, t, src, k, from));
    Val step = LLVMBuildZExt(e->b, second, e->i64, ""), one = em_c64(e, 1);
    Val i2 = ADD(i, SUB(one, step)), j2 = ADD(j, step), p2 = ADD(p, one);
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(i, &i2, &latch, 1);
    LLVMAddIncoming(j, &j2, &latch, 1);
    LLVMAddIncoming(p, &p2, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, rest);
    Val shift = SUB(SEL(ICMP(SLT, i, mid), i, j), p);
    em_loop l;
    em_loop_begin(e, &l, p, hi, one, 0, NULL);
    for (uint32_t k = 0; k < n; k++)
        put(c, t, dst, k, l.i, get(c, t, src, k, ADD(l.i, shift)));
    em_loop_end(e, &l, NULL);
}

/* All pairs of runs of `width`. */
static void merge_all(kern *c, const kstage *t, Val src, Val dst, Val width)
{
    em *e = c->e;
    em_loop l;
    Val twice = SHL(width, em_c64(e, 1));
    em_loop_begin(e, &l, em_c64(e, 0), t->row_n, twice, 0, NULL);
    Val mid = em_intr2(e, "llvm.smin", ADD(l.i, width), t->row_n),
        hi = em_intr2(e, "llvm.smin", ADD(l.i, twice), t->row_n);
    merge(c, t, src, dst, l.i, mid, hi);
    em_loop_end(e, &l, NULL);
}

void kern_sort_run(kern *c, uint32_t s)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    sort_runs(c, t);
    Blk pre = LLVMGetInsertBlock(e->b), head = block(e), body = block(e), done = block(e);
    Val first = em_c64(e, RUN);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    Val width = LLVMBuildPhi(e->b, e->i64, ""), src = LLVMBuildPhi(e->b, e->ptr, ""),
        dst = LLVMBuildPhi(e->b, e->ptr, "");
    LLVMAddIncoming(width, &first, &pre, 1);
    LLVMAddIncoming(src, &t->rows, &pre, 1);
    LLVMAddIncoming(dst, &t->rows2, &pre, 1);
    LLVMBuildCondBr(e->b, ICMP(SLT, width, t->row_n), body, done);
    LLVMPositionBuilderAtEnd(e->b, body);
    merge_all(c, t, src, dst, width);
    Val twice = SHL(width, em_c64(e, 1));
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(width, &twice, &latch, 1);
    LLVMAddIncoming(src, &dst, &latch, 1);
    LLVMAddIncoming(dst, &src, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
    t->sorted = src;
}
