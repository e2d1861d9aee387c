/* notes.c - why each collective of a local function is there. A note hangs on the instruction where
 * its site would be, so that whatever copies instructions keeps it; when the local function is
 * complete notes become a list, and instructions get the sites of the operations behind them.
 * Threads: thread-compatible. */
#include "ir/attr.h"
#include "ir/func.h"
#include "ir/participants.h"
#include "shard/partition.h"

typedef struct note {
    lz_site site;                     /* first: instructions point to it */
    const lz_site *source;            /* of the operation that wanted it */
    lz_shard_reason *why;             /* of a collective */
    const lz_shard_collective *inner; /* of an operation of control */
} note;

static note *note_of(const lz_site *s)
{
    return (note *)(uintptr_t)s;
}

enum { MOST_STEPS = 1000 };

/* The operation that made the parts of a sum which value v carries; one on the way there where that
 * is far. */
static lz_val sum_of(const lz_partial *p, lz_val v)
{
    const lz_sharding *now = lz_part_now(p, v);
    int steps = 0;
    for (uint32_t k = 0; now && k < p->f->insts[v].sig->nopnd && steps < MOST_STEPS; k++) {
        lz_val o = p->same[p->f->insts[v].opnd[k]];
        const lz_sharding *s = lz_part_now(p, o);
        if (!s || !(s->unreduced & now->unreduced))
            continue;
        v = o;
        now = s;
        k = UINT32_MAX; /* from the first of its operands on */
        steps++;
    }
    return v;
}

static lz_shard_reason reason(const lz_partial *p, lz_val v, const lz_sharding *from,
                              const lz_sharding *to)
{
    lz_shard_reason r = {.f = p->f, .s = p->s, .in = p->in, .from = from, .to = to};
    r.need = !from ? LZ_NEED_ITSELF : p->now == LZ_NOVAL ? LZ_NEED_RESULT : LZ_NEED_OPERAND;
    r.value = from ? v : LZ_NOVAL;
    r.by = p->now;
    r.mark = p->now == LZ_NOVAL ? LZ_NOVAL : p->mark[p->now];
    r.result = p->now_result;
    r.sum = from && from->unreduced & ~to->unreduced ? sum_of(p, v) : LZ_NOVAL;
    return r;
}

static const lz_site *source_of(const lz_partial *p, lz_val v)
{
    return p->f->insts[p->now != LZ_NOVAL && p->f->insts[p->now].site ? p->now : v].site;
}

static note *new_note(lz_partial *p)
{
    note *n = lz_arena_alloc(p->notes, sizeof *n);
    if (!n) {
        (void)LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
        (void)lz_func_failed(p->l.f);
    }
    return n;
}

void lz_note_new(lz_partial *p, lz_val first, lz_val v, const lz_sharding *from,
                 const lz_sharding *to)
{
    for (lz_val i = first; i < p->l.f->ninst; i++) {
        lz_inst *in = &p->l.f->insts[i];
        if (in->site || lz_op_get(in->sig->op)->cls != LZ_CLASS_COLLECTIVE)
            continue;
        lz_shard_reason r = reason(p, v, from, to);
        note *n = new_note(p);
        if (!n || !(n->why = lz_arena_copy(p->notes, &r, sizeof r)))
            return;
        n->source = source_of(p, v);
        in->site = &n->site;
    }
}

void lz_note_regions(lz_partial *p, lz_val local, const lz_shard_collective *inner)
{
    note *n = local == LZ_NOVAL || !inner || p->l.f->insts[local].site ? NULL : new_note(p);
    if (!n)
        return;
    n->inner = inner;
    n->source = source_of(p, p->now);
    p->l.f->insts[local].site = &n->site;
}

void lz_note_join(const lz_site *a, const lz_site *b)
{
    lz_shard_reason *last = a ? note_of(a)->why : NULL;
    while (last && last->next)
        last = (lz_shard_reason *)(uintptr_t)last->next;
    if (last && b)
        last->next = note_of(b)->why;
}

const lz_site *lz_note_copy(lz_arena *a, const lz_site *s)
{
    note *n = s ? lz_arena_copy(a, note_of(s), sizeof *n) : NULL;
    if (n && n->why)
        n->why = lz_arena_copy(a, n->why, sizeof *n->why);
    return n ? &n->site : NULL;
}

static bool append(lz_arena *a, lz_shard_collective c, const lz_shard_collective **list,
                   lz_shard_collective **end)
{
    lz_shard_collective *one = lz_arena_copy(a, &c, sizeof c);
    if (!one) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for the collectives of a function");
        return false;
    }
    one->next = NULL;
    if (*end)
        (*end)->next = one;
    else
        *list = one;
    *end = one;
    return true;
}

/* Those of *c that are still in the regions of an operation of control: pruning may have dropped
 * some. Both are in the order of the instructions. */
static bool append_inner(lz_arena *a, const lz_sig *sig, const lz_shard_collective **c,
                         const lz_shard_collective **list, lz_shard_collective **end)
{
    const lz_func *r;
    for (int k = 0; (r = lz_attr_region(sig->attr, k)); k++)
        for (lz_val i = 0; i < r->ninst; i++) {
            const lz_sig *s = r->insts[i].sig;
            const lz_shard_collective *x = *c;
            if (s->op == LZ_OP_WHILE || s->op == LZ_OP_IF) {
                if (!append_inner(a, s, c, list, end))
                    return false;
                continue;
            }
            while (lz_op_get(s->op)->cls == LZ_CLASS_COLLECTIVE && x && x->sig != s)
                x = x->next;
            if (lz_op_get(s->op)->cls != LZ_CLASS_COLLECTIVE || !x)
                continue;
            if (!append(a, *x, list, end))
                return false;
            *c = x->next;
        }
    return true;
}

bool lz_note_take(lz_arena *a, lz_func *local, const lz_shard_place *in,
                  const lz_shard_collective **list, lz_shard_collective **end)
{
    for (lz_val i = 0; i < local->ninst; i++) {
        lz_inst *at = &local->insts[i];
        note *n = at->site ? note_of(at->site) : NULL;
        bool collective = lz_op_get(at->sig->op)->cls == LZ_CLASS_COLLECTIVE;
        if (collective &&
            !append(a, (lz_shard_collective){at->sig, in, n ? n->why : NULL, NULL}, list, end))
            return false;
        const lz_shard_collective *inner = n ? n->inner : NULL;
        if (inner && !append_inner(a, at->sig, &inner, list, end))
            return false;
        at->site = n ? n->source : NULL;
    }
    return true;
}

void lz_note_lines(lz_func *local, const lz_func *f)
{
    for (lz_val i = 0; i < local->ninst; i++) {
        lz_inst *at = &local->insts[i];
        if (!at->site && at->node < f->ninst)
            at->site = f->insts[at->node].site;
        at->node = LZ_NOVAL; /* from now on instructions are nodes of their own */
    }
}
