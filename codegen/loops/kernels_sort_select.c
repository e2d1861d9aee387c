/* kernels_sort_select.c - selection before a partial sort: of a row whose first `kept` positions
 * are read alone, the candidates for these are what is sorted. The row is read once, in vectors of
 * keys that are compared with a threshold; elements that are not above it go to the end of the
 * set. A full set is cut back to its `kept` smallest, whose largest key is the new threshold.
 *
 * Ties: elements come in the order of the row, so one with the key of the threshold that comes
 * later belongs to none of the first positions; the cut keeps the earliest of those that are
 * equal. What is left is in the order of the row, and the stable sort does the rest.
 * Cost: a pass over the row, and a cut each `capacity - kept` candidates, of which a row in random
 * order has about kept * ln(n / kept). A cut finds the key bit by bit: a vectorized count of
 * smaller keys for each.
 * Threads: belongs to one thread. */
#include "codegen/loops/kernels_sort.h"

enum { CUTS = 4, FEW = 64 }; /* capacity: so many times what is kept, and at least so many */

typedef struct selection {
    kern *c;
    ksort *t;
    uint32_t s;
    const kctx *x;
    kern scan; /* evaluates the key's row in vectors */
    unsigned lanes;
    Ty key, keys; /* a key, and a vector of them */
} selection;

static Blk block(em *e)
{
    return LLVMAppendBasicBlockInContext(e->cx, e->f, "");
}

static void go(em *e, Blk to)
{
    LLVMBuildBr(e->b, to);
    LLVMPositionBuilderAtEnd(e->b, to);
}

static Val phi(em *e, Ty t, Val v, Blk from)
{
    Val p = LLVMBuildPhi(e->b, t, "");
    LLVMAddIncoming(p, &v, &from, 1);
    return p;
}

static unsigned lanes_of(const em *e, const ksort *t)
{
    unsigned n = (unsigned)e->t->machine.vector_bytes / (t->col_size[SORT_KEY] == 8 ? 8 : 4);
    n = n > EM_LANES ? EM_LANES : n;
    return n > 1 && em_may(e, LZ_VARIANT_vectors) ? n : 1;
}

bool kern_sort_selects(const kern *c, uint32_t s, const ksort *t)
{
    return t->keyed && t->s->partial && s == 0 && c->k->stages[s].ninner == 1 && !c->e->simt &&
           em_may(c->e, LZ_VARIANT_partial_sort);
}

Val kern_sort_room(kern *c, const ksort *t, Val n, Val kept)
{
    em *e = c->e;
    Val lanes = em_c64(e, lanes_of(e, t));
    Val some = em_smax(e, MUL(kept, em_c64(e, CUTS)), em_c64(e, FEW));
    return ADD(em_smin(e, n, ADD(some, lanes)), lanes); /* a vector of padding */
}

/* ---- the cut ---- */

/* How many of the set's m keys, padded by the largest one, are below `key`. */
static Val count_below(selection *q, Val m, Val key)
{
    em *e = q->c->e;
    Ty counts = em_vec(e->i32, q->lanes), wide = em_vec(e->i64, q->lanes);
    Val none = LLVMConstNull(counts), all = em_splat(e, key, q->lanes);
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), m, em_c64(e, q->lanes), 1, &none);
    Val at = em_at(e, em_at(e, q->t->set, q->t->at[SORT_KEY], 1), l.i, q->t->col_size[SORT_KEY]);
    Val x = em_load(e, q->keys, at, q->t->col_size[SORT_KEY]);
    Val sum = ADD(l.phi[0], LLVMBuildZExt(e->b, ICMP(ULT, x, all), counts, ""));
    em_loop_end(e, &l, &sum);
    Val n = LLVMBuildZExt(e->b, l.phi[0], wide, "");
    return q->lanes > 1 ? em_intr1(e, "llvm.vector.reduce.add", n) : n;
}

/* The `kept`-th smallest of the set's m keys: the largest one that fewer are below. *below: how
 * many are. */
static Val nth_key(selection *q, Val m, Val *below)
{
    em *e = q->c->e;
    ksort *t = q->t;
    int64_t bits = 8 * (int64_t)t->col_size[SORT_KEY];
    Val at = em_at(e, em_at(e, t->set, t->at[SORT_KEY], 1), m, t->col_size[SORT_KEY]);
    em_store(e, LLVMConstAllOnes(q->keys), at, t->col_size[SORT_KEY]);
    Val start[2] = {LLVMConstNull(q->key), em_c64(e, 0)};
    em_loop l; /* the last round has no bit: it counts */
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, bits + 1), em_c64(e, 1), 2, start);
    Val last = ICMP(EQ, l.i, em_c64(e, bits));
    Val shift = SUB(em_c64(e, bits - 1), SEL(last, em_c64(e, 0), l.i));
    if (bits < 64)
        shift = LLVMBuildTrunc(e->b, shift, q->key, "");
    Val bit = SEL(last, LLVMConstNull(q->key), SHL(em_ci(q->key, 1), shift));
    Val key = OR(l.phi[0], bit), n = count_below(q, m, key);
    Val next[2] = {SEL(ICMP(SLT, n, t->kept), key, l.phi[0]), n};
    em_loop_end(e, &l, next);
    *below = l.phi[1];
    return l.phi[0];
}

/* Cuts the set's m elements back to the first `kept` in order, which stay in that of the row. Gives
 * the largest key of theirs. */
static Val cut(selection *q, Val m)
{
    em *e = q->c->e;
    ksort *t = q->t;
    Val below, key = nth_key(q, m, &below);
    Val start[2] = {em_c64(e, 0), SUB(t->kept, below)};
    em_loop l; /* carries where the next one goes, and how many that equal `key` may stay */
    em_loop_begin(e, &l, em_c64(e, 0), m, em_c64(e, 1), 2, start);
    Val x = kern_sort_load(q->c, t, t->set, SORT_KEY, l.i);
    Val equal = AND(ICMP(EQ, x, key), ICMP(SGT, l.phi[1], em_c64(e, 0)));
    Val stays = OR(ICMP(ULT, x, key), equal);
    for (uint32_t k = 0; k < t->ncol; k++)
        kern_sort_store(q->c, t, t->set, k, l.phi[0],
                        k == SORT_KEY ? x : kern_sort_load(q->c, t, t->set, k, l.i));
    Val next[2] = {ADD(l.phi[0], LLVMBuildZExt(e->b, stays, e->i64, "")),
                   SUB(l.phi[1], LLVMBuildZExt(e->b, equal, e->i64, ""))};
    em_loop_end(e, &l, next);
    return key;
}

/* ---- the row ---- */

static Val vector_of_keys(selection *q, Val i)
{
    kern *f = &q->scan;
    f->iidx[0] = i;
    kern_advance(f, 0, POS_ROW, POS_POINT, 1u << f->k->nouter);
    kern_eval(f, 0, POS_POINT, q->x);
    return kern_sort_key(q->c, q->t, kern_vector(f, 0, q->t->s->value[q->t->key_row], 0));
}

/* The element at i of the row as a scalar to place m of the set. */
static void put(selection *q, Val i, Val m)
{
    q->c->iidx[0] = i;
    kern_addresses(q->c, q->s, POS_INNER);
    kern_eval(q->c, q->s, POS_INNER, q->x);
    kern_sort_put_at(q->c, q->s, m);
}

/* The lanes whose bits are set, from i of the row on, to the end of the set; gives how many it has
 * then. */
static Val put_lanes(selection *q, Val i, Val m, Val mask)
{
    em *e = q->c->e;
    Ty word = LLVMIntTypeInContext(e->cx, q->lanes);
    Val bits = q->lanes > 1 ? BITS(mask, word) : mask;
    bits = q->lanes < 64 ? LLVMBuildZExt(e->b, bits, e->i64, "") : bits;
    Blk pre = LLVMGetInsertBlock(e->b), hit = block(e), done = block(e);
    LLVMBuildCondBr(e->b, ICMP(NE, bits, em_c64(e, 0)), hit, done);
    LLVMPositionBuilderAtEnd(e->b, hit);
    Val left = phi(e, e->i64, bits, pre), at = phi(e, e->i64, m, pre);
    Val lane = em_intr(e, "llvm.cttz", &e->i64, 1, (Val[]){left, em_ci(e->i1, 1)}, 2);
    put(q, ADD(i, lane), at);
    Val rest = AND(left, SUB(left, em_c64(e, 1))), next = ADD(at, em_c64(e, 1));
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(left, &rest, &latch, 1);
    LLVMAddIncoming(at, &next, &latch, 1);
    LLVMBuildCondBr(e->b, ICMP(NE, rest, em_c64(e, 0)), hit, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    Val all = phi(e, e->i64, m, pre);
    LLVMAddIncoming(all, &next, &latch, 1);
    return all;
}

/* Vectors from *i on, while the row has whole ones and the set has room for one. */
static void scan_vectors(selection *q, Val *i, Val *m, Val limit, Val top)
{
    em *e = q->c->e;
    Val lanes = em_c64(e, q->lanes);
    Blk pre = LLVMGetInsertBlock(e->b), head = block(e), body = block(e), done = block(e);
    go(e, head);
    Val at = phi(e, e->i64, *i, pre), n = phi(e, e->i64, *m, pre), end = ADD(at, lanes);
    Val more = AND(ICMP(SLE, end, q->t->n), ICMP(SLE, ADD(n, lanes), limit));
    LLVMBuildCondBr(e->b, more, body, done);
    LLVMPositionBuilderAtEnd(e->b, body);
    Val mask = ICMP(ULE, vector_of_keys(q, at), em_splat(e, top, q->lanes));
    Val next = put_lanes(q, at, n, mask);
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(at, &end, &latch, 1);
    LLVMAddIncoming(n, &next, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
    *i = at;
    *m = n;
}

/* One by one what the row has behind its whole vectors, while the set has room. */
static void scan_rest(selection *q, Val *i, Val *m, Val limit, Val top)
{
    em *e = q->c->e;
    Val lanes = em_c64(e, q->lanes), one = em_c64(e, 1);
    Val whole = ICMP(SLE, ADD(*i, lanes), q->t->n), n0 = SEL(whole, em_c64(e, 0), q->t->n);
    Blk pre = LLVMGetInsertBlock(e->b), head = block(e), body = block(e), done = block(e);
    go(e, head);
    Val at = phi(e, e->i64, *i, pre), n = phi(e, e->i64, *m, pre);
    LLVMBuildCondBr(e->b, AND(ICMP(SLT, at, n0), ICMP(SLT, n, limit)), body, done);
    LLVMPositionBuilderAtEnd(e->b, body);
    put(q, at, n);
    Val low = ICMP(ULE, kern_sort_load(q->c, q->t, q->t->set, SORT_KEY, n), top);
    Val end = ADD(at, one), next = ADD(n, LLVMBuildZExt(e->b, low, e->i64, ""));
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(at, &end, &latch, 1);
    LLVMAddIncoming(n, &next, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
    *i = at;
    *m = n;
}

/* The candidates of the whole row. */
static void scan_row(selection *q)
{
    em *e = q->c->e;
    ksort *t = q->t;
    Val zero = em_c64(e, 0), limit = SUB(t->room, em_c64(e, q->lanes));
    Blk pre = LLVMGetInsertBlock(e->b), round = block(e), full = block(e), done = block(e);
    go(e, round);
    Val i0 = phi(e, e->i64, zero, pre), m0 = phi(e, e->i64, zero, pre);
    Val top = phi(e, q->key, LLVMConstAllOnes(q->key), pre), i = i0, m = m0;
    scan_vectors(q, &i, &m, limit, top);
    scan_rest(q, &i, &m, limit, top);
    LLVMBuildCondBr(e->b, ICMP(SGT, m, t->kept), full, done);
    LLVMPositionBuilderAtEnd(e->b, full);
    Val key = cut(q, m), lower = SUB(key, em_ci(q->key, 1));
    Val more = AND(ICMP(SLT, i, t->n), ICMP(NE, key, LLVMConstNull(q->key)));
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildCondBr(e->b, more, round, done);
    LLVMAddIncoming(i0, &i, &latch, 1);
    LLVMAddIncoming(m0, &t->kept, &latch, 1);
    LLVMAddIncoming(top, &lower, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
}

void kern_sort_select(kern *c, uint32_t s, const kctx *x)
{
    em *e = c->e;
    ksort *t = c->st[s].sort;
    selection *q = lz_arena_alloc(&c->arena, sizeof *q);
    if (!q) {
        em_fail(e, e->i1, "no memory for a selection");
        return;
    }
    q->c = c;
    q->t = t;
    q->s = s;
    q->x = x;
    q->lanes = lanes_of(e, t);
    q->key = kern_sort_type(e, t, SORT_KEY);
    q->keys = em_vec(q->key, q->lanes);
    kern *f = &q->scan;
    uint32_t outer = (1u << c->k->nouter) - 1;
    lz_status st = kern_init_factor(f, e, c->k, q->lanes, c->k->nouter, t->s->value[t->key_row]);
    if (st == LZ_OK) {
        kern_share(f, c);
        for (uint32_t d = 0; d < c->k->nouter; d++)
            f->oidx[d] = c->oidx[d];
        kern_addresses(f, 0, POS_TOP);
        kern_eval(f, 0, POS_TOP, x);
        kern_advance(f, 0, POS_TOP, POS_ROW, outer);
        scan_row(q);
    }
    e->status = e->status ? e->status : st;
    kern_done(f);
}
