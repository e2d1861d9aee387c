/* overlap.c - collectives that go on beside compute: where in the order of groups each one starts,
 * and where it is done.
 * Does:     a collective starts as soon as what it reads is there, if that is earlier than the
 *   schedule has it, and is done just before the first group that reads what it gives, or writes
 *   over what it reads (XLA's latency hiding scheduler, with the latency of everything unknown). So
 *   a gradient's sum goes on during the backward pass of the layers before, and a gather during
 *   compute of the layer before its own. Groups of compute keep their order, and so do starts:
 *   collectives are in program order on all devices.
 * Memory:   a result is there from the start on, an operand till the done. What that adds at a time
 *   is limited by twice the largest that a single one adds: of a model of equal layers one more is
 *   gathered ahead, and one more is summed behind. Results that are in place of operands add
 *   nothing.
 * Cost:     O(groups x LZ_STARTED_MAX + reads + updates in place of what collectives read, for each
 *   of them).   Threads: pure. */
#include "lower/plan/schedule.h"
#include "base/alloc.h"
#include "lower/effort.h"
#include "lower/plan/plan.h"
#include <string.h>

enum { SMALL_BYTES = 64 << 10 }; /* that those on their way may always add */

/* Places are in the order of the schedule. */
typedef struct flight {
    uint32_t at;    /* where the schedule has it */
    uint32_t ready; /* the first place before which it can start */
    uint32_t use;   /* the place before which it has to be done; that of the end */
    uint64_t adds;  /* bytes of memory, while it goes on beside others */
} flight;

typedef struct overlap {
    const lz_fusion *fu;
    const uint32_t *donor;
    const lz_schedule *s;
    uint32_t *place; /* by group; LZ_NONE: it is dead */
    uint32_t *taken; /* by buffer: the first place at which a group would like to be in its place */
    uint32_t *last;  /* by buffer: the last place at which it is read, or 0 */
    flight *all;     /* in order */
    uint32_t n;
    /* The new order. */
    uint32_t *order, *start, len;
    uint32_t *began;                      /* by collective: the place of its start in it */
    uint32_t open[LZ_STARTED_MAX], nopen; /* those that have started and are not done, in order */
    uint64_t held;                        /* bytes that they add */
} overlap;

static const lz_fusion_node *first_node(const overlap *o, uint32_t at)
{
    const lz_group *g = o->fu->groups[o->s->order.data[at]];
    return o->fu->nodes[g->nodes.data[0]];
}

static bool is_collective(const overlap *o, uint32_t at)
{
    const lz_fusion_node *n = first_node(o, at);
    return n->kind == LZ_FUSION_CONTROL &&
           lz_op_get(o->fu->f->insts[n->v].sig->op)->cls == LZ_CLASS_COLLECTIVE;
}

static uint32_t place_of(const overlap *o, uint32_t node)
{
    return o->place[o->fu->nodes[node]->group];
}

/* ---- one collective ---- */

/* Of nodes by buffer, the first that runs behind `at`, or LZ_NONE, which is behind all. */
static uint32_t first_behind(const overlap *o, const uint32_t *nodes, uint32_t at)
{
    uint32_t first = LZ_NONE;
    for (; nodes && *nodes != LZ_NONE; nodes++, lz_effort++) {
        uint32_t p = place_of(o, *nodes);
        if (p != LZ_NONE && p > at && p < first)
            first = p;
    }
    return first;
}

static void sooner(uint32_t *use, uint32_t place)
{
    *use = place < *use ? place : *use;
}

static void look_at_operand(const overlap *o, flight *x, uint32_t buf, uint64_t *dies)
{
    for (const uint32_t *w = o->fu->writers[buf]; w && *w != LZ_NONE; w++, lz_effort++) {
        uint32_t p = place_of(o, *w);
        if (p == LZ_NONE || p >= x->at)
            continue;
        /* what another one gives is there when that is done: it does not start before */
        uint32_t from = is_collective(o, p) ? x->at : p + 1;
        x->ready = from > x->ready ? from : x->ready;
    }
    sooner(&x->use, first_behind(o, o->fu->writers[buf], x->at));
    if (o->taken[buf] > x->at)
        sooner(&x->use, o->taken[buf]);
    if (lz_fusion_is_temporary(o->fu, buf) && o->last[buf] <= x->at)
        *dies += lz_fusion_buf_type(o->fu, buf)->nbytes;
}

static void look_at(const overlap *o, flight *x)
{
    const lz_fusion_node *n = first_node(o, x->at);
    const lz_inst *in = &o->fu->f->insts[n->v];
    uint64_t dies = 0, made = 0;
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        look_at_operand(o, x, lz_fusion_whole(o->fu, in->opnd[k]), &dies);
    for (uint32_t k = 0; k < n->nres; k++) {
        uint32_t buf = n->res[k];
        if (buf == LZ_NONE)
            continue;
        made += o->fu->is_result[buf] ? 0 : lz_fusion_buf_type(o->fu, buf)->nbytes;
        sooner(&x->use, first_behind(o, o->fu->readers[buf], x->at));
        sooner(&x->use, first_behind(o, o->fu->writers[buf], x->at));
    }
    if (in->sig->op == LZ_OP_ALL_REDUCE) /* in place where operands die */
        x->adds = made > dies ? made - dies : 0;
    else
        x->adds = made + dies;
}

static void note_use(void *user, uint32_t buf, bool write)
{
    overlap *o = user;
    uint32_t from = write && o->donor ? o->donor[buf] : LZ_NONE;
    if (!write)
        o->last[buf] = o->len;
    if (from != LZ_NONE && o->taken[from] == LZ_NONE)
        o->taken[from] = o->len; /* the place that is looked at */
}

static void find_uses(overlap *o)
{
    for (o->len = 0; o->len < o->s->order.len; o->len++) {
        const lz_group *g = o->fu->groups[o->s->order.data[o->len]];
        for (uint32_t i = 0; i < g->nodes.len; i++)
            lz_fusion_node_each_buffer(o->fu, o->fu->nodes[g->nodes.data[i]], note_use, o);
    }
    o->len = 0;
}

static void find_flights(overlap *o)
{
    uint32_t ordered = 0; /* behind the last one, and the start of each collective behind that */
    for (uint32_t at = 0; at < o->s->order.len; at++)
        o->place[o->s->order.data[at]] = at;
    find_uses(o);
    for (uint32_t at = 0; at < o->s->order.len; at++) {
        if (!is_collective(o, at)) {
            const lz_group *g = o->fu->groups[o->s->order.data[at]];
            ordered = lz_group_is_ordered(o->fu, g) ? at + 1 : ordered;
            continue;
        }
        flight *x = &o->all[o->n++];
        *x = (flight){.at = at, .ready = ordered, .use = LZ_NONE};
        look_at(o, x);
    }
}

/* ---- the new order ---- */

static void put(overlap *o, uint32_t at, uint32_t start)
{
    o->start[o->len] = start;
    o->order[o->len++] = o->s->order.data[at];
}

/* One that nothing runs beside is a single step. */
static void end(overlap *o, uint32_t i)
{
    uint32_t c = o->open[i];
    if (o->began[c] + 1 < o->len)
        put(o, o->all[c].at, o->began[c]);
    o->held -= o->all[c].adds;
    memmove(&o->open[i], &o->open[i + 1], (--o->nopen - i) * sizeof *o->open);
}

static void end_used(overlap *o, uint32_t place)
{
    for (uint32_t i = 0; i < o->nopen; lz_effort++)
        if (o->all[o->open[i]].use <= place)
            end(o, i);
        else
            i++;
}

/* Whether collective c begins before the group at a place; there it has to when that is where the
 * schedule has it. */
static bool begin(overlap *o, uint32_t c, uint32_t place, uint64_t budget)
{
    const flight *x = &o->all[c];
    while (o->nopen && (o->nopen == LZ_STARTED_MAX || o->held + x->adds > budget)) {
        if (x->at > place)
            return false;
        end(o, 0);
    }
    o->began[c] = o->len;
    put(o, x->at, LZ_NONE);
    o->held += x->adds;
    o->open[o->nopen++] = c;
    return true;
}

static void arrange(overlap *o)
{
    uint64_t budget = SMALL_BYTES / 2;
    uint32_t next = 0;
    for (uint32_t c = 0; c < o->n; c++)
        budget = o->all[c].adds > budget ? o->all[c].adds : budget;
    budget *= 2;
    for (uint32_t place = 0; place < o->s->order.len; place++) {
        end_used(o, place);
        while (next < o->n && o->all[next].ready <= place && begin(o, next, place, budget))
            next++;
        if (!is_collective(o, place)) /* else it has begun */
            put(o, place, LZ_NONE);
    }
    end_used(o, LZ_NONE);
}

lz_status lz_schedule_overlap(const lz_fusion *fu, const uint32_t *donor, lz_schedule *s)
{
    overlap o = {.fu = fu, .donor = donor, .s = s};
    uint32_t n = 0, len = s->order.len;
    for (uint32_t at = 0; at < len; at++)
        n += is_collective(&o, at);
    if (n == 0)
        return LZ_OK;
    lz_arena a = {0};
    size_t nbuf = (size_t)lz_fusion_nbuf(fu) + 1;
    o.place = lz_arena_alloc(&a, (fu->ngroup + 1) * sizeof *o.place);
    o.taken = lz_arena_alloc(&a, nbuf * sizeof *o.taken);
    o.last = lz_arena_alloc(&a, nbuf * sizeof *o.last);
    o.all = lz_arena_alloc(&a, n * sizeof *o.all);
    o.began = lz_arena_alloc(&a, n * sizeof *o.began);
    o.order = lz_arena_alloc(&a, ((size_t)len + n) * sizeof *o.order);
    o.start = lz_alloc(((size_t)len + n) * sizeof *o.start);
    lz_status st = o.place && o.taken && o.last && o.all && o.began && o.order && o.start
                       ? LZ_OK
                       : LZ_FAIL(LZ_EMEM, "out of memory");
    if (st == LZ_OK) {
        memset(o.place, 0xff, fu->ngroup * sizeof *o.place);
        memset(o.taken, 0xff, nbuf * sizeof *o.taken);
        memset(o.last, 0, nbuf * sizeof *o.last);
        find_flights(&o);
        arrange(&o);
        s->order.len = 0;
        st = lz_vec_reserve(&s->order, o.len);
    }
    for (uint32_t i = 0; st == LZ_OK && i < o.len; i++)
        s->order.data[s->order.len++] = o.order[i];
    s->start = o.start;
    lz_arena_free(&a);
    return st;
}
