/* kernels_sort.c - a stage that sorts rows, and the loads of sorted rows. Long rows with an
 * integer key: radix sort (kernels_sort_radix.c). Others: insertion sort of runs of RUN elements,
 * then bottom-up merge sort. Both are stable. Where only the first positions are read, the others
 * are dropped before (kernels_sort_select.c). Steps are bounded by the ends of runs alone, so an
 * inconsistent comparator gives some permutation and no access out of bounds.
 * Threads: belongs to one thread. */
#include "codegen/loops/kernels_sort.h"

enum { RUN = 8, ALIGN = 64 };

static Blk block(em *e)
{
    return LLVMAppendBasicBlockInContext(e->cx, e->f, "");
}

/* ---- columns ---- */

/* Rows that are read after the sort: a bit each. */
static uint32_t rows_read(const lz_kernel *k, uint32_t s)
{
    uint32_t rows = 0;
    for (uint32_t i = s + 1; i < k->nstage; i++)
        for (uint32_t j = 0; j < k->stages[i].nsop; j++) {
            const lz_sop *p = &k->stages[i].sops[j];
            if (p->kind == LZ_S_SORTED && (uint32_t)p->a == s)
                rows |= 1u << p->b;
        }
    return rows;
}

static uint32_t rows_compared(const lz_sort *s)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < s->nbody; i++)
        if (s->body[i].kind == LZ_S_ELT)
            rows |= 1u << (s->body[i].a / 2);
    return rows;
}

lz_status kern_sort_plan(kern *c, uint32_t s)
{
    const lz_stage *st = &c->k->stages[s];
    ksort *t = c->st[s].sort = lz_arena_alloc(&c->arena, sizeof *t);
    if (!t)
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory for stage %u", c->k->name, s);
    t->s = st->sort;
    kern_sort_find_key(t);
    uint32_t rows = rows_read(c->k, s);
    if (t->keyed) {
        t->col_dtype[t->ncol] = t->key_dtype;
        t->col_size[t->ncol++] = em_esize(t->key_dtype);
        rows &= t->exact ? ~(1u << t->key_row) : ~0u;
    } else {
        rows |= rows_compared(t->s);
    }
    for (uint32_t k = 0; k < t->s->nrow; k++) {
        t->col_of[k] = -1;
        if (!(rows >> k & 1))
            continue;
        t->col_of[k] = (int8_t)t->ncol;
        t->col_dtype[t->ncol] = st->sops[t->s->value[k]].dtype;
        t->col_size[t->ncol] = em_esize(t->col_dtype[t->ncol]);
        t->ncol++;
    }
    t->selects = kern_sort_selects(c, s, t);
    return LZ_OK;
}

static Val row_length(kern *c, const kstage *t)
{
    em *e = c->e;
    Val n = em_c64(e, 1);
    for (uint32_t d = 0; d < t->s->ninner; d++)
        n = MUL(n, kern_size(c, t->s->extent[d]));
    return n;
}

/* The most positions of stage s that a later stage reads. */
static Val positions_read(kern *c, uint32_t s)
{
    Val most = NULL;
    for (uint32_t i = s + 1; i < c->k->nstage; i++) {
        bool reads = false;
        for (uint32_t j = 0; j < c->k->stages[i].nsop; j++) {
            const lz_sop *p = &c->k->stages[i].sops[j];
            reads |= p->kind == LZ_S_SORTED && (uint32_t)p->a == s;
        }
        Val n = reads ? row_length(c, &c->st[i]) : NULL;
        most = most && n ? em_smax(c->e, most, n) : n ? n : most;
    }
    return most ? most : em_c64(c->e, 0);
}

/* Elements of a set: a row, or candidates. */
static Val room_of(kern *c, uint32_t s, const ksort *t)
{
    Val n = row_length(c, &c->st[s]);
    return t->selects ? kern_sort_room(c, t, n, positions_read(c, s)) : n;
}

/* Offsets of the columns of one set, when at is not NULL, and how large the set is. */
static Val layout(kern *c, const ksort *t, Val n, Val *at)
{
    em *e = c->e;
    Val sum = em_c64(e, 0);
    for (uint32_t k = 0; k < t->ncol; k++) {
        Val size = MUL(n, em_c64(e, t->col_size[k]));
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
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        const ksort *t = c->st[s].sort;
        if (!t)
            continue;
        Val set = layout(c, t, room_of(c, s, t), NULL);
        sum = ADD(sum, SHL(set, em_c64(e, 1)));
        sum = ADD(sum, em_c64(e, (int64_t)kern_sort_counters(t)));
    }
    return sum;
}

void kern_sort_enter(kern *c, Val scratch)
{
    em *e = c->e;
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        ksort *t = c->st[s].sort;
        if (!t)
            continue;
        t->n = row_length(c, &c->st[s]);
        t->room = room_of(c, s, t);
        t->kept = t->selects ? positions_read(c, s) : t->n;
        Val size = layout(c, t, t->room, t->at);
        t->counts = scratch;
        t->set = em_at(e, scratch, em_c64(e, (int64_t)kern_sort_counters(t)), 1);
        t->set2 = em_at(e, t->set, size, 1);
        /* where each element was first, of rows that blocks sort */
        Val places = e->simt ? MUL(t->n, em_c64(e, 8)) : size;
        scratch = em_at(e, t->set2, em_smax(e, size, places), 1);
    }
}

/* ---- single elements ---- */

Ty kern_sort_type(em *e, const ksort *t, uint32_t col)
{
    if (!t->keyed || col != SORT_KEY)
        return kern_mem_type(e, t->col_dtype[col], 1);
    unsigned n = t->col_size[col];
    return n == 1 ? e->i8 : n == 2 ? e->i16 : n == 4 ? e->i32 : e->i64;
}

static Val element(kern *c, const ksort *t, Val set, uint32_t col, Val i)
{
    return em_at(c->e, em_at(c->e, set, t->at[col], 1), i, t->col_size[col]);
}

static unsigned align(const ksort *t, uint32_t col)
{
    return t->col_size[col] < 8 ? t->col_size[col] : 8;
}

Val kern_sort_load(kern *c, const ksort *t, Val set, uint32_t col, Val i)
{
    return em_load(c->e, kern_sort_type(c->e, t, col), element(c, t, set, col, i), align(t, col));
}

void kern_sort_store(kern *c, const ksort *t, Val set, uint32_t col, Val i, Val v)
{
    em_store(c->e, v, element(c, t, set, col, i), align(t, col));
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
    kern_sort_put_at(c, s, position(c, &c->st[s]));
}

void kern_sort_put_at(kern *c, uint32_t s, Val at)
{
    const ksort *t = c->st[s].sort;
    for (uint32_t k = 0; k < t->s->nrow; k++) {
        Ev v = kern_value(c, s, t->s->value[k], 0);
        if (t->keyed && k == t->key_row)
            kern_sort_store(c, t, t->set, SORT_KEY, at, kern_sort_key(c, t, v));
        if (t->col_of[k] >= 0) {
            uint32_t col = (uint32_t)t->col_of[k];
            kern_sort_store(c, t, t->set, col, at, kern_to_mem(c->e, t->col_dtype[col], v));
        }
    }
}

Ev kern_sort_get(kern *c, uint32_t s, const lz_sop *p)
{
    const ksort *t = c->st[p->a].sort;
    Val at = position(c, &c->st[s]);
    int8_t col = t->col_of[p->b];
    if (col < 0)
        return kern_sort_unkey(c, t, kern_sort_load(c, t, t->sorted, SORT_KEY, at));
    return kern_from_mem(c->e, p->dtype, kern_sort_load(c, t, t->sorted, (uint32_t)col, at));
}

/* ---- comparing ---- */

/* What comparing needs of the elements at i: one value a column, NULL for the others. */
static void load_compared(kern *c, const ksort *t, Val set, Val i, Val *out)
{
    uint32_t rows = rows_compared(t->s);
    for (uint32_t k = 0; k < t->ncol; k++)
        out[k] = NULL;
    if (t->keyed)
        out[SORT_KEY] = kern_sort_load(c, t, set, SORT_KEY, i);
    for (uint32_t k = 0; k < t->s->nrow && !t->keyed; k++)
        if (rows >> k & 1)
            out[t->col_of[k]] = kern_sort_load(c, t, set, (uint32_t)t->col_of[k], i);
}

/* Given at least what load_compared gives. */
Val kern_sort_before(kern *c, const ksort *t, const Val *left, const Val *right)
{
    em *e = c->e;
    Ev l[LZ_SORT_MAX] = {{0}}, r[LZ_SORT_MAX] = {{0}};
    if (t->keyed)
        return ICMP(ULT, left[SORT_KEY], right[SORT_KEY]);
    for (uint32_t k = 0; k < t->s->nrow; k++) {
        int8_t col = t->col_of[k];
        if (col >= 0 && left[col]) {
            l[k] = kern_from_mem(e, t->col_dtype[col], left[col]);
            r[k] = kern_from_mem(e, t->col_dtype[col], right[col]);
        }
    }
    return kern_sort_body(c, t->s, t->s->less, l, r).v;
}

/* ---- runs by insertion ---- */

/* Moves the element at i down to where it belongs among lo..i. */
static void insert(kern *c, const ksort *t, Val lo, Val i)
{
    em *e = c->e;
    Val x[SORT_COLS], y[SORT_COLS], one = em_c64(e, 1);
    for (uint32_t k = 0; k < t->ncol; k++)
        x[k] = kern_sort_load(c, t, t->set, k, i);
    Blk pre = LLVMGetInsertBlock(e->b), head = block(e), test = block(e), move = block(e),
        done = block(e);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    Val j = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(j, &i, &pre, 1);
    LLVMBuildCondBr(e->b, ICMP(SGT, j, lo), test, done);
    LLVMPositionBuilderAtEnd(e->b, test);
    Val down = SUB(j, one);
    load_compared(c, t, t->set, down, y);
    LLVMBuildCondBr(e->b, kern_sort_before(c, t, x, y), move, done);
    LLVMPositionBuilderAtEnd(e->b, move);
    for (uint32_t k = 0; k < t->ncol; k++)
        kern_sort_store(c, t, t->set, k, j, kern_sort_load(c, t, t->set, k, down));
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(j, &down, &move, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
    for (uint32_t k = 0; k < t->ncol; k++)
        kern_sort_store(c, t, t->set, k, j, x[k]);
}

static void sort_runs(kern *c, const ksort *t)
{
    em *e = c->e;
    em_loop run, l;
    em_loop_begin(e, &run, em_c64(e, 0), t->n, em_c64(e, RUN), 0, NULL);
    Val end = em_smin(e, ADD(run.i, em_c64(e, RUN)), t->n);
    em_loop_begin(e, &l, ADD(run.i, em_c64(e, 1)), end, em_c64(e, 1), 0, NULL);
    insert(c, t, run.i, l.i);
    em_loop_end(e, &l, NULL);
    em_loop_end(e, &run, NULL);
}

/* ---- merging ---- */

/* Positions lo..mid-1 and mid..hi-1 of `src` become lo..hi-1 of `dst`; the left one first where
 * neither comes before the other. */
static void merge(kern *c, const ksort *t, Val src, Val dst, Val lo, Val mid, Val hi)
{
    em *e = c->e;
    Val left[SORT_COLS], right[SORT_COLS], one = em_c64(e, 1);
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
    load_compared(c, t, src, i, left);
    load_compared(c, t, src, j, right);
    Val second = kern_sort_before(c, t, right, left), from = SEL(second, j, i);
    for (uint32_t k = 0; k < t->ncol; k++)
        kern_sort_store(c, t, dst, k, p,
                        left[k] ? SEL(second, right[k], left[k])
                                : kern_sort_load(c, t, src, k, from));
    Val step = LLVMBuildZExt(e->b, second, e->i64, "");
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
    for (uint32_t k = 0; k < t->ncol; k++)
        kern_sort_store(c, t, dst, k, l.i, kern_sort_load(c, t, src, k, ADD(l.i, shift)));
    em_loop_end(e, &l, NULL);
}

/* All pairs of runs of `width`. */
static void merge_all(kern *c, const ksort *t, Val src, Val dst, Val width)
{
    em *e = c->e;
    em_loop l;
    Val twice = SHL(width, em_c64(e, 1));
    em_loop_begin(e, &l, em_c64(e, 0), t->n, twice, 0, NULL);
    Val mid = em_smin(e, ADD(l.i, width), t->n), hi = em_smin(e, ADD(l.i, twice), t->n);
    merge(c, t, src, dst, l.i, mid, hi);
    em_loop_end(e, &l, NULL);
}

/* Gives the set that is sorted. */
static Val merge_sort(kern *c, const ksort *t)
{
    em *e = c->e;
    sort_runs(c, t);
    Blk pre = LLVMGetInsertBlock(e->b), head = block(e), body = block(e), done = block(e);
    Val first = em_c64(e, RUN);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    Val width = LLVMBuildPhi(e->b, e->i64, ""), src = LLVMBuildPhi(e->b, e->ptr, ""),
        dst = LLVMBuildPhi(e->b, e->ptr, "");
    LLVMAddIncoming(width, &first, &pre, 1);
    LLVMAddIncoming(src, (Val[]){t->set}, &pre, 1);
    LLVMAddIncoming(dst, (Val[]){t->set2}, &pre, 1);
    LLVMBuildCondBr(e->b, ICMP(SLT, width, t->n), body, done);
    LLVMPositionBuilderAtEnd(e->b, body);
    merge_all(c, t, src, dst, width);
    Val twice = SHL(width, em_c64(e, 1));
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(width, &twice, &latch, 1);
    LLVMAddIncoming(src, &dst, &latch, 1);
    LLVMAddIncoming(dst, &src, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
    return src;
}

void kern_sort_run(kern *c, uint32_t s)
{
    em *e = c->e;
    ksort *t = c->st[s].sort;
    if (c->threads && c->threads->sort) {
        c->threads->sort(c, s);
        return;
    }
    if (t->selects)
        t->n = t->kept; /* the others have been dropped */
    if (!t->keyed || !em_may(e, LZ_VARIANT_radix_sort)) {
        t->sorted = merge_sort(c, t);
        return;
    }
    em_ifelse by;
    int64_t from = em_always(e, LZ_VARIANT_radix_sort) ? 2 : kern_sort_radix_from(t);
    em_ifelse_begin(e, &by, ICMP(SLT, t->n, em_c64(e, from)));
    Val few = merge_sort(c, t);
    em_ifelse_else(e, &by);
    Val many = kern_sort_radix(c, t);
    em_ifelse_end(e, &by, 1, &few, &many, &t->sorted);
}
