/* combine.c - neighbouring collectives of one kind and one group become one of several operands: a
 * launch costs more than a few bytes. Two may become one where neither needs what the other gives,
 * also through others that have become one. What they take together is limited (XLA's combine
 * thresholds, the bucket cap of PyTorch/XLA): all that is joined is in memory at once, from the
 * first that is made to the last that is used. Values keep their order otherwise.
 * Cost: O(n log n) and the cube of the collectives' number over 64. */
#include "ir/attr.h"
#include "ir/func.h"
#include "shard/partition.h"
#include <string.h>

enum {
    MOST_COLLECTIVES = 2048, /* more are left as they are: sets of them would be large */
    MOST_BYTES = 32 << 20,   /* of a batch, which may always have lz_shard_small; between them */
    SHARE = 16,              /* it has this part of what all collectives of the kind have, */
    SUM_SHARE = 8 /* of sums this one: gradients are there till the last of them is used anyway */
};

typedef struct batch {
    lz_val first; /* of its collectives */
    uint32_t n;
    uint64_t nbytes;
} batch;

typedef struct combiner {
    const lz_func *f;
    lz_arena *a;
    uint32_t words, nbatch;
    uint32_t *of;   /* [ninst]: the batch of a collective, or UINT32_MAX */
    lz_val *next;   /* [ninst]: the next collective of its batch */
    lz_val *last;   /* [nbatch] */
    batch *batches; /* [collectives] */
    uint64_t *
        *behind;      /* [ninst]: batches that a value needs at first hand; shared between values */
    uint64_t **reach; /* [nbatch]: all batches that a batch needs */
    uint64_t *all;    /* all that the collective which is being placed needs */
    uint64_t total[LZ_OP_COUNT]; /* bytes of all collectives of each kind */
} combiner;

static bool is_collective(const lz_func *f, lz_val v)
{
    const lz_sig *s = f->insts[v].sig;
    return lz_op_get(s->op)->cls == LZ_CLASS_COLLECTIVE && s->nopnd == 1 && s->nresult == 1;
}

/* That are in memory because of it. */
static uint64_t bytes_of(const lz_func *f, lz_val v)
{
    const lz_sig *s = f->insts[v].sig;
    uint64_t in = (uint64_t)s->opnd[0]->nbytes, out = (uint64_t)s->result[0]->nbytes;
    return in > out ? in : out;
}

static bool has(const uint64_t *set, uint32_t b)
{
    return set && (set[b / 64] >> b % 64 & 1);
}

static void add_set(uint64_t *to, const uint64_t *from, uint32_t words)
{
    for (uint32_t i = 0; i < words && from; i++)
        to[i] |= from[i];
}

/* What v's operands need: one set where it is that of a single operand. False: no memory. */
static bool needs(combiner *c, lz_val v, uint64_t **out)
{
    const lz_inst *in = &c->f->insts[v];
    bool own = false;
    *out = NULL;
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        uint64_t *s = c->behind[in->opnd[k]];
        if (!s || s == *out)
            continue;
        if (!*out) {
            *out = s;
            continue;
        }
        if (!own && !(*out = lz_arena_copy(c->a, *out, c->words * sizeof *s)))
            return false;
        own = true;
        add_set(*out, s, c->words);
    }
    return true;
}

/* c->all: what the set has, and what that needs. */
static void close_set(combiner *c, const uint64_t *set)
{
    memset(c->all, 0, c->words * sizeof *c->all);
    add_set(c->all, set, c->words);
    for (uint32_t k = 0; k < c->nbatch; k++)
        if (has(set, k))
            add_set(c->all, c->reach[k], c->words);
}

/* Batch b needs c->all, too, and so does whoever needs b. */
static void extend(combiner *c, uint32_t b)
{
    add_set(c->reach[b], c->all, c->words);
    for (uint32_t k = 0; k < c->nbatch; k++)
        if (k != b && has(c->reach[k], b))
            add_set(c->reach[k], c->reach[b], c->words);
}

static bool same_kind(const combiner *c, lz_val a, lz_val b)
{
    const lz_sig *x = c->f->insts[a].sig, *y = c->f->insts[b].sig;
    return x->op == y->op && x->attr == y->attr && x->opnd[0]->dtype == y->opnd[0]->dtype;
}

/* The bytes that a batch of v's kind may have. */
static uint64_t cap_of(const combiner *c, lz_val v)
{
    lz_op op = c->f->insts[v].sig->op;
    uint64_t share = c->total[op] / (op == LZ_OP_ALL_REDUCE ? SUM_SHARE : SHARE);
    return share < lz_shard_small ? lz_shard_small : share > MOST_BYTES ? MOST_BYTES : share;
}

/* A batch that v may join, whose collectives come before it. */
static uint32_t find_batch(const combiner *c, lz_val v)
{
    uint64_t n = bytes_of(c->f, v), cap = cap_of(c, v);
    for (uint32_t b = c->nbatch; b-- > 0 && n <= cap;)
        if (c->batches[b].nbytes <= cap - n && same_kind(c, c->batches[b].first, v) &&
            !has(c->all, b))
            return b;
    return UINT32_MAX;
}

static bool place(combiner *c, lz_val v)
{
    uint64_t *set, *mine;
    if (!needs(c, v, &set))
        return false;
    close_set(c, set);
    uint32_t b = find_batch(c, v);
    if (b == UINT32_MAX) {
        b = c->nbatch++;
        c->batches[b] = (batch){.first = v};
        c->reach[b] = lz_arena_alloc(c->a, c->words * sizeof *mine);
        if (!c->reach[b])
            return false;
    } else {
        c->next[c->last[b]] = v;
    }
    c->last[b] = v;
    c->batches[b].n++;
    c->batches[b].nbytes += bytes_of(c->f, v);
    c->of[v] = b;
    extend(c, b);
    mine = lz_arena_alloc(c->a, c->words * sizeof *mine);
    if (mine)
        mine[b / 64] |= UINT64_C(1) << b % 64;
    c->behind[v] = mine;
    return mine != NULL;
}

static bool find(combiner *c, uint32_t n)
{
    const lz_func *f = c->f;
    c->words = n / 64 + 1;
    c->of = lz_arena_alloc(c->a, (f->ninst + 1) * sizeof *c->of);
    c->next = lz_arena_alloc(c->a, (f->ninst + 1) * sizeof *c->next);
    c->behind = lz_arena_alloc(c->a, (f->ninst + 1) * sizeof *c->behind);
    c->last = lz_arena_alloc(c->a, (n + 1) * sizeof *c->last);
    c->batches = lz_arena_alloc(c->a, (n + 1) * sizeof *c->batches);
    c->reach = lz_arena_alloc(c->a, (n + 1) * sizeof *c->reach);
    c->all = lz_arena_alloc(c->a, c->words * sizeof *c->all);
    if (!c->of || !c->next || !c->behind || !c->last || !c->batches || !c->reach || !c->all)
        return false;
    for (lz_val v = 0; v < f->ninst; v++)
        if (is_collective(f, v))
            c->total[f->insts[v].sig->op] += bytes_of(f, v);
    for (lz_val v = 0; v < f->ninst; v++) {
        c->of[v] = UINT32_MAX;
        c->next[v] = LZ_NOVAL;
        if (!(is_collective(f, v) ? place(c, v) : needs(c, v, &c->behind[v])))
            return false;
    }
    return true;
}

/* ---- the function again, in the order of its values ---- */

typedef struct order {
    uint32_t *waits;        /* [ninst]: operands that are not there yet; of a batch at its first */
    uint32_t *begin, *user; /* users of each value */
    lz_val *heap;
    uint32_t nheap;
} order;

static lz_val node_of(const combiner *c, lz_val v)
{
    return c->of[v] == UINT32_MAX ? v : c->batches[c->of[v]].first;
}

static void push(order *o, lz_val v)
{
    uint32_t i = o->nheap++;
    for (; i && o->heap[(i - 1) / 2] > v; i = (i - 1) / 2)
        o->heap[i] = o->heap[(i - 1) / 2];
    o->heap[i] = v;
}

static lz_val pop(order *o)
{
    lz_val top = o->heap[0], v = o->heap[--o->nheap];
    uint32_t i = 0;
    for (uint32_t k; (k = 2 * i + 1) < o->nheap; i = k) {
        k += k + 1 < o->nheap && o->heap[k + 1] < o->heap[k];
        if (o->heap[k] >= v)
            break;
        o->heap[i] = o->heap[k];
    }
    o->heap[i] = v;
    return top;
}

static bool list_users(const combiner *c, order *o)
{
    const lz_func *f = c->f;
    size_t edges = 0, n = (size_t)f->ninst + 2;
    for (lz_val v = 0; v < f->ninst; v++)
        edges += f->insts[v].sig->nopnd;
    o->waits = lz_arena_alloc(c->a, n * sizeof *o->waits);
    o->begin = lz_arena_alloc(c->a, n * sizeof *o->begin);
    o->user = lz_arena_alloc(c->a, (edges + 1) * sizeof *o->user);
    o->heap = lz_arena_alloc(c->a, n * sizeof *o->heap);
    if (!o->waits || !o->begin || !o->user || !o->heap)
        return false;
    for (lz_val v = 0; v < f->ninst; v++)
        for (uint32_t k = 0; k < f->insts[v].sig->nopnd; k++)
            o->begin[f->insts[v].opnd[k] + 2]++;
    for (lz_val v = 0; v < f->ninst; v++)
        o->begin[v + 2] += o->begin[v + 1];
    for (lz_val v = 0; v < f->ninst; v++)
        for (uint32_t k = 0; k < f->insts[v].sig->nopnd; k++) {
            o->user[o->begin[f->insts[v].opnd[k] + 1]++] = v;
            o->waits[node_of(c, v)]++;
        }
    return true;
}

static void made(const combiner *c, order *o, lz_val v)
{
    for (uint32_t i = o->begin[v]; i < o->begin[v + 1]; i++) {
        lz_val user = node_of(c, o->user[i]);
        if (--o->waits[user] == 0)
            push(o, user);
    }
}

static void make_batch(const combiner *c, lz_func *to, const batch *b, lz_val *map, lz_val *opnd)
{
    const lz_sig *sig = c->f->insts[b->first].sig;
    uint32_t n = 0;
    for (lz_val v = b->first; v != LZ_NOVAL; v = c->next[v])
        opnd[n++] = map[c->f->insts[v].opnd[0]];
    lz_val all = lz_build(to, sig->op, sig->attr, opnd, n);
    const lz_site *note = c->f->insts[b->first].site;
    for (lz_val v = c->next[b->first]; v != LZ_NOVAL; v = c->next[v])
        lz_note_join(note, c->f->insts[v].site);
    if (all != LZ_NOVAL)
        to->insts[all].site = note;
    n = 0;
    for (lz_val v = b->first; v != LZ_NOVAL; v = c->next[v])
        map[v] = lz_build_result(to, all, n++);
}

static void copy_inst(lz_func *to, const lz_inst *in, lz_val *out, const lz_val *map, lz_val *opnd)
{
    *out = lz_build_copy_inst(to, in, map, opnd);
    if (*out != LZ_NOVAL && in->site)
        to->insts[*out].site = in->site;
}

static lz_status rebuild(const combiner *c, lz_func *to)
{
    const lz_func *f = c->f;
    order o = {0};
    lz_val *map = lz_arena_alloc(c->a, ((size_t)f->ninst + 1) * sizeof *map);
    lz_val *opnd = lz_arena_alloc(c->a, ((size_t)f->ninst + lz_func_widest(f)) * sizeof *opnd);
    if (!map || !opnd || !list_users(c, &o))
        return LZ_FAIL(LZ_EMEM, "no memory to combine collectives of %s", f->name);
    for (lz_val v = 0; v < f->nparam; v++)
        map[v] = lz_build_param(to, lz_val_type(f, v));
    for (lz_val v = f->nparam; v < f->ninst; v++)
        if (node_of(c, v) == v && o.waits[v] == 0)
            push(&o, v);
    for (lz_val v = 0; v < f->nparam; v++)
        made(c, &o, v);
    while (o.nheap) {
        lz_val v = pop(&o);
        uint32_t b = c->of[v];
        to->now = (lz_origin){NULL, f->insts[v].scope, f->insts[v].node};
        if (b != UINT32_MAX && c->batches[b].n > 1)
            make_batch(c, to, &c->batches[b], map, opnd);
        else
            copy_inst(to, &f->insts[v], &map[v], map, opnd);
        LZ_TRY(to->status);
        for (lz_val w = v; w != LZ_NOVAL; w = c->next[w])
            made(c, &o, w);
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        opnd[k] = map[f->results[k]];
    return lz_func_set_results(to, opnd, f->nresult);
}

lz_status lz_shard_combine(lz_func **f)
{
    lz_arena a = {0};
    combiner c = {.f = *f, .a = &a};
    lz_status s = LZ_OK;
    lz_func *to = NULL;
    uint32_t n = 0;
    for (lz_val v = 0; v < (*f)->ninst; v++)
        n += is_collective(*f, v);
    if (n > 1 && n <= MOST_COLLECTIVES) {
        to = lz_func_new((*f)->name);
        s = to && find(&c, n) ? rebuild(&c, to)
                              : LZ_FAIL(LZ_EMEM, "no memory to combine collectives");
    }
    if (s == LZ_OK && to) {
        lz_func_free(*f);
        *f = to;
    } else {
        lz_func_free(to);
    }
    lz_arena_free(&a);
    return s;
}
