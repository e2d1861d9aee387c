/* schedule.c - orders the groups to keep peak memory low.
 * Does:     list scheduling: of the ready groups, the one that frees most and allocates least runs
 *   next; ties go to program order. A group that would overwrite an argument in place waits for
 *   the argument's other readers. Then groups that allocate and free nothing (weights in another
 *   layout: small, so they came first) move to just before their first reader.
 * Cost:     O(groups x WINDOW + reads).   Threads: pure. */
#include "lower/plan/schedule.h"
#include "lower/effort.h"
#include <string.h>

enum {
    WINDOW = 48, /* ready groups looked at: the earliest */
    CHAIN = 3    /* groups one before the other that are moved together */
};

/* Groups that wait for nothing any more: the earliest of them in order, the others in a heap,
 * earliest first. */
typedef struct ready {
    uint32_t window[WINDOW + 1], n;
    LZ_VEC(uint32_t) heap;
} ready;

typedef LZ_VEC(uint32_t) ids;

typedef struct sched {
    const lz_fusion *fu;
    const uint32_t *donor;
    bool overlap;
    uint32_t ngroup, nbuf;
    uint32_t *nread; /* by buffer: reads of groups that have not run */
    ids *in, *out;   /* by group: buffers read and written, each once */
    ids *users;      /* by group: groups that wait for it */
    uint32_t *waits; /* by group: groups it waits for */
    /* by buffer: 1 + the last group that had it put into its in, its out; then seen_in: the last
     * `cost` that saw it read */
    uint32_t *seen_in, *seen_out, stamp;
    ready ready;
    lz_status status;
    uint32_t group; /* being looked at */
} sched;

void lz_fusion_node_each_buffer(const lz_fusion *fu, const lz_fusion_node *n,
                                void (*fn)(void *user, uint32_t buf, bool write), void *user)
{
    bool update = n->kind == LZ_FUSION_SCATTER || n->store == LZ_STORE_UPDATE;
    for (uint32_t i = 0; i < n->reads.len; i++)
        fn(user, n->reads.data[i].src, false);
    if (!n->stored && !n->spill)
        return;
    for (uint32_t k = 0; k < n->nres; k++)
        if (n->res[k] != LZ_NONE) {
            if (update)
                fn(user, n->res[k], false);
            fn(user, n->res[k], true);
        }
    (void)fu;
}

/* Groups are noted one after the other, so a buffer is in the list of this one when this one saw it
 * last. */
static void push(sched *s, ids *v, uint32_t *seen, uint32_t buf)
{
    if (seen[buf] == s->group + 1)
        return;
    seen[buf] = s->group + 1;
    if (lz_vec_push(v, buf) != LZ_OK)
        s->status = LZ_EMEM;
}

/* Whether the group of node n makes src itself, so that reading it is no matter of memory. */
static bool inside(const sched *s, uint32_t buf)
{
    if (buf >= s->fu->f->ninst)
        return false;
    uint32_t n = s->fu->node_of[buf];
    return n != LZ_NONE && s->fu->nodes[n]->group == s->group;
}

static void note(void *user, uint32_t buf, bool write)
{
    sched *s = user;
    if (write)
        push(s, &s->out[s->group], s->seen_out, buf);
    else if (!inside(s, buf))
        push(s, &s->in[s->group], s->seen_in, buf);
}

/* Asked for one g after the other, so g stands last among the users when it is there. */
static void wait_for(sched *s, uint32_t g, uint32_t before)
{
    ids *u = &s->users[before];
    lz_effort++;
    if (g == before || (u->len && u->data[u->len - 1] == g))
        return;
    s->waits[g]++;
    if (lz_vec_push(u, g) != LZ_OK)
        s->status = LZ_EMEM;
}

static void find_waits(sched *s, uint32_t g)
{
    for (uint32_t i = 0; i < s->in[g].len; i++) {
        uint32_t buf = s->in[g].data[i];
        s->nread[buf]++;
        for (const uint32_t *w = s->fu->writers[buf]; w && *w != LZ_NONE; w++) {
            const lz_fusion_node *n = s->fu->nodes[*w];
            bool update = n->kind == LZ_FUSION_SCATTER || n->store == LZ_STORE_UPDATE;
            bool self = update && n->group == g;
            if (self)
                break; /* what is updated in place waits for what was written before */
            wait_for(s, g, n->group);
        }
    }
}

/* Memory the group takes, less what it gives back. Results have their memory anyway. */
static int64_t cost(sched *s, uint32_t g)
{
    const int64_t wait = INT64_C(1) << 50;
    int64_t c = 0;
    s->stamp++;
    for (uint32_t i = 0; i < s->in[g].len; i++) {
        uint32_t buf = s->in[g].data[i];
        s->seen_in[buf] = s->stamp;
        if (s->nread[buf] == 1 && lz_fusion_is_temporary(s->fu, buf))
            c -= (int64_t)lz_fusion_buf_type(s->fu, buf)->nbytes;
    }
    for (uint32_t i = 0; i < s->out[g].len; i++) {
        uint32_t buf = s->out[g].data[i], p = s->donor ? s->donor[buf] : LZ_NONE;
        if (!s->fu->is_result[buf])
            c += (int64_t)lz_fusion_buf_type(s->fu, buf)->nbytes;
        if (p != LZ_NONE && s->nread[p] > (s->seen_in[p] == s->stamp))
            c += wait; /* others still read what it wants to write over */
    }
    return c;
}

/* ---- ready groups ---- */

static lz_status heap_add(ready *r, uint32_t g)
{
    LZ_TRY(lz_vec_push(&r->heap, g));
    uint32_t i = r->heap.len - 1, *h = r->heap.data;
    for (; i > 0 && h[(i - 1) / 2] > g; i = (i - 1) / 2, lz_effort++)
        h[i] = h[(i - 1) / 2];
    h[i] = g;
    return LZ_OK;
}

static uint32_t heap_take(ready *r)
{
    uint32_t *h = r->heap.data, first = h[0], g = h[--r->heap.len], i = 0;
    for (uint32_t k; (k = 2 * i + 1) < r->heap.len; i = k, lz_effort++) {
        k += k + 1 < r->heap.len && h[k + 1] < h[k];
        if (h[k] > g)
            break;
        h[i] = h[k];
    }
    h[i] = g;
    return first;
}

static lz_status make_ready(ready *r, uint32_t g)
{
    if (r->n == WINDOW && g > r->window[WINDOW - 1])
        return heap_add(r, g);
    uint32_t i = r->n++;
    for (; i > 0 && r->window[i - 1] > g; i--)
        r->window[i] = r->window[i - 1];
    r->window[i] = g;
    return r->n > WINDOW ? heap_add(r, r->window[--r->n]) : LZ_OK;
}

static void take_ready(ready *r, uint32_t at)
{
    for (uint32_t i = at; i + 1 < r->n; i++)
        r->window[i] = r->window[i + 1];
    r->n--;
    if (r->heap.len)
        r->window[r->n++] = heap_take(r);
}

static lz_status run_group(sched *s, uint32_t at)
{
    uint32_t g = s->ready.window[at];
    take_ready(&s->ready, at);
    for (uint32_t i = 0; i < s->in[g].len; i++)
        s->nread[s->in[g].data[i]]--;
    for (uint32_t i = 0; i < s->users[g].len; i++)
        if (--s->waits[s->users[g].data[i]] == 0)
            LZ_TRY(make_ready(&s->ready, s->users[g].data[i]));
    return LZ_OK;
}

static lz_status choose(sched *s, lz_schedule *out, uint32_t nlive)
{
    while (out->order.len < nlive) {
        uint32_t best = 0;
        int64_t least = 0;
        for (uint32_t i = 0; i < s->ready.n; i++) {
            int64_t c = cost(s, s->ready.window[i]);
            if (i == 0 || c < least) {
                best = i;
                least = c;
            }
        }
        if (s->ready.n == 0)
            return LZ_FAIL(LZ_EINTERNAL, "schedule: groups depend on each other in a ring");
        LZ_TRY(lz_vec_push(&out->order, s->ready.window[best]));
        LZ_TRY(run_group(s, best));
    }
    return LZ_OK;
}

/* ---- late groups ---- */

/* The new order as a list, built from its end. Labels rise along it, with gaps for what is put
 * between. */
typedef struct late {
    uint64_t *label;          /* by group: 0 as long as it is not in the list */
    uint32_t *before, *after; /* by group: its neighbours; of the last group (one more): the ends */
    uint64_t *last;           /* by buffer: the last of those in the list that read it */
    uint32_t *over;           /* by buffer: the first of them that writes over an argument */
    uint32_t ngroup;
} late;

enum { GAP = 40, PARTS = 4 }; /* 2^24 groups; a hundred can be put before the same one */

/* The group that makes all of buf; LZ_NONE where several do, or none. */
static uint32_t maker_of(const sched *s, uint32_t buf)
{
    const uint32_t *w = s->fu->writers[buf];
    uint32_t from = w && *w != LZ_NONE ? s->fu->nodes[*w]->group : LZ_NONE;
    for (; from != LZ_NONE && *w != LZ_NONE; w++)
        if (s->fu->nodes[*w]->group != from)
            return LZ_NONE;
    return from;
}

/* What g reads for the last time if it runs just before u. What a group makes for g alone need not
 * be kept, as that group can come along: then what it reads counts. */
static int64_t kept_for(const sched *s, const late *l, uint32_t g, uint32_t u, int chain)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < s->in[g].len; i++) {
        uint32_t buf = s->in[g].data[i], from;
        lz_effort++;
        if (!lz_fusion_is_temporary(s->fu, buf) || l->last[buf] >= l->label[u])
            continue;
        int64_t all = (int64_t)lz_fusion_buf_type(s->fu, buf)->nbytes, along = all;
        if (chain > 0 && (from = maker_of(s, buf)) != LZ_NONE && s->users[from].len == 1)
            along = kept_for(s, l, from, u, chain - 1);
        bytes += along < all ? along : all;
    }
    return bytes;
}

/* Of what others write, too, a share. */
static int64_t taken(const sched *s, uint32_t g)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < s->out[g].len; i++) {
        uint32_t buf = s->out[g].data[i], n = 0;
        for (const uint32_t *w = s->fu->writers[buf]; w && *w != LZ_NONE; w++)
            n++;
        if (!s->fu->is_result[buf])
            bytes += (int64_t)lz_fusion_buf_type(s->fu, buf)->nbytes / (n ? n : 1);
    }
    return bytes;
}

/* The first that waits for g, or that writes over what g reads; LZ_NONE when nothing waits. */
static uint32_t first_behind(const sched *s, const late *l, uint32_t g)
{
    uint32_t first = LZ_NONE;
    for (uint32_t i = 0; i < s->users[g].len; i++) {
        uint32_t u = s->users[g].data[i];
        first = first == LZ_NONE || l->label[u] < l->label[first] ? u : first;
        lz_effort++;
    }
    for (uint32_t i = 0; i < s->in[g].len && first != LZ_NONE; i++) {
        uint32_t w = l->over[s->in[g].data[i]];
        first = w != LZ_NONE && l->label[w] < l->label[first] ? w : first;
    }
    return first;
}

/* A label between u's and that of the one before it; 0: there is none left. at: the place in the
 * old order that is looked at; those before it will have labels up to its own. */
static uint64_t label_before(const late *l, uint32_t u, uint32_t at)
{
    uint32_t p = l->before[u];
    uint64_t low = p == l->ngroup ? (uint64_t)at << GAP : l->label[p];
    uint64_t gap = (l->label[u] - low) / PARTS;
    return gap ? low + gap : 0;
}

static void put_before(late *l, uint32_t g, uint32_t u, uint64_t label)
{
    uint32_t p = l->before[u];
    l->label[g] = label;
    l->before[g] = p;
    l->after[g] = u;
    l->after[p] = l->before[u] = g;
}

static void note_places(const sched *s, late *l, uint32_t g)
{
    for (uint32_t i = 0; i < s->in[g].len; i++) {
        uint64_t *last = &l->last[s->in[g].data[i]];
        *last = l->label[g] > *last ? l->label[g] : *last;
    }
    for (uint32_t i = 0; i < s->out[g].len && s->donor; i++) {
        uint32_t p = s->donor[s->out[g].data[i]];
        if (p != LZ_NONE && (l->over[p] == LZ_NONE || l->label[g] < l->label[l->over[p]]))
            l->over[p] = g;
    }
}

static bool is_sum(const sched *s, uint32_t g)
{
    const lz_fusion_node *n = s->fu->nodes[s->fu->groups[g]->nodes.data[0]];
    lz_op op = s->fu->f->insts[n->v].sig->op;
    return n->kind == LZ_FUSION_CONTROL && (op == LZ_OP_ALL_REDUCE || op == LZ_OP_REDUCE_SCATTER);
}

/* A sum over partitions, or what it is of: the sooner it is made, the more runs beside it. */
static bool is_summed(const sched *s, uint32_t g)
{
    bool is = is_sum(s, g);
    if (lz_group_is_ordered(s->fu,
                            s->fu->groups[g])) /* who waits for it does so for the order's sake */
        return is;
    for (uint32_t i = 0; i < s->users[g].len && !is; i++, lz_effort++)
        is = is_sum(s, s->users[g].data[i]);
    return is;
}

/* From the last group on, so that those behind one have their places. */
static void find_places(const sched *s, late *l, const uint32_t *order, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;) {
        uint32_t g = order[i], u = first_behind(s, l, g);
        uint64_t label = 0;
        if (u != LZ_NONE && !(s->overlap && is_summed(s, g)) &&
            taken(s, g) > kept_for(s, l, g, u, CHAIN))
            label = label_before(l, u, i);
        if (label)
            put_before(l, g, u, label);
        else
            put_before(l, g, l->after[l->ngroup], (uint64_t)(i + 1) << GAP);
        note_places(s, l, g);
    }
}

static void late_free(late *l)
{
    lz_free(l->label);
    lz_free(l->before);
    lz_free(l->after);
    lz_free(l->last);
    lz_free(l->over);
}

static lz_status delay(const sched *s, lz_schedule *o)
{
    uint32_t n = s->ngroup;
    if (o->order.len >> (63 - GAP)) /* labels end */
        return LZ_OK;
    late l = {.label = lz_calloc(n + 1, sizeof *l.label),
              .before = lz_calloc(n + 1, sizeof *l.before),
              .after = lz_calloc(n + 1, sizeof *l.after),
              .last = lz_calloc(s->nbuf + 1, sizeof *l.last),
              .over = lz_calloc(s->nbuf + 1, sizeof *l.over),
              .ngroup = n};
    bool ok = l.label && l.before && l.after && l.last && l.over;
    if (ok) {
        l.before[n] = l.after[n] = n;
        for (uint32_t b = 0; b < s->nbuf; b++)
            l.over[b] = LZ_NONE;
        find_places(s, &l, o->order.data, o->order.len);
        for (uint32_t i = 0, g = l.after[n]; g != n; g = l.after[g])
            o->order.data[i++] = g;
    }
    late_free(&l);
    return ok ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
}

static lz_status schedule(sched *s, lz_schedule *out)
{
    uint32_t nlive = 0;
    for (uint32_t g = 0; g < s->ngroup; g++) {
        const lz_group *gr = s->fu->groups[g];
        s->group = g;
        for (uint32_t i = 0; i < gr->nodes.len && !gr->dead; i++)
            lz_fusion_node_each_buffer(s->fu, s->fu->nodes[gr->nodes.data[i]], note, s);
    }
    uint32_t last = LZ_NONE; /* what has effects, or is a collective, waits for the one before */
    for (uint32_t g = 0; g < s->ngroup; g++) {
        find_waits(s, g);
        if (!lz_group_is_ordered(s->fu, s->fu->groups[g]))
            continue;
        if (last != LZ_NONE)
            wait_for(s, g, last);
        last = g;
    }
    for (uint32_t g = 0; g < s->ngroup; g++) {
        if (s->fu->groups[g]->dead)
            continue;
        nlive++;
        if (s->waits[g] == 0)
            LZ_TRY(make_ready(&s->ready, g));
    }
    if (s->status != LZ_OK)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    s->stamp = s->ngroup + 1;
    LZ_TRY(choose(s, out, nlive));
    return delay(s, out);
}

lz_status lz_schedule_groups(const lz_fusion *fu, const uint32_t *donor, bool overlap,
                             lz_schedule *out)
{
    memset(out, 0, sizeof *out);
    sched s = {.fu = fu,
               .donor = donor,
               .overlap = overlap,
               .ngroup = fu->ngroup,
               .nbuf = lz_fusion_nbuf(fu)};
    s.nread = lz_calloc(s.nbuf + 1, sizeof *s.nread);
    s.waits = lz_calloc(s.ngroup + 1, sizeof *s.waits);
    s.in = lz_calloc(s.ngroup + 1, sizeof *s.in);
    s.out = lz_calloc(s.ngroup + 1, sizeof *s.out);
    s.users = lz_calloc(s.ngroup + 1, sizeof *s.users);
    s.seen_in = lz_calloc(s.nbuf + 1, sizeof *s.seen_in);
    s.seen_out = lz_calloc(s.nbuf + 1, sizeof *s.seen_out);
    lz_status st = s.nread && s.waits && s.in && s.out && s.users && s.seen_in && s.seen_out
                       ? schedule(&s, out)
                       : LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t g = 0; g < s.ngroup; g++) {
        if (s.in)
            lz_vec_free(&s.in[g]);
        if (s.out)
            lz_vec_free(&s.out[g]);
        if (s.users)
            lz_vec_free(&s.users[g]);
    }
    lz_free(s.in);
    lz_free(s.out);
    lz_free(s.users);
    lz_free(s.nread);
    lz_free(s.waits);
    lz_free(s.seen_in);
    lz_free(s.seen_out);
    lz_vec_free(&s.ready.heap);
    if (st != LZ_OK)
        lz_schedule_free(out);
    return st;
}

void lz_schedule_free(lz_schedule *s)
{
    lz_vec_free(&s->order);
    lz_free(s->start);
    s->start = NULL;
}
