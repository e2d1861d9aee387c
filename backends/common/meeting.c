/* meeting.c - see meeting.h. A meeting has a number: the epoch of its group, and how many were
 * before in it. A process that is at one has been at all before, so of each process two arrivals at
 * most are of interest, the one of this meeting and that of the next. */
#include "backends/common/meeting.h"
#include "backends/common/collective_totals.h"
#include "backends/distributed/exchange.h"
#include "backends/distributed/join.h"
#include "backends/distributed/processes.h"
#include "base/config.h"
#include "base/thread.h"
#include "base/timeline/timeline.h"
#include "ir/attr.h"
#include "ir/func.h"
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_NAP_NS = 1000, SHORT_NAP_NS = 20000, LAST_NAP_NS = 100000 };
#define LOOK_NS INT64_C(1000000000)   /* for a process that has gone without a word */
#define SILENT_NS INT64_C(1000000000) /* twice the time between two heartbeats */

/* What a process has said about a meeting. */
typedef struct far_arrival {
    bool there;
    uint64_t epoch, seq;
    lz_hash digest;
    uint32_t tag;
    char what[LZ_WIRE_TEXT], where[LZ_WIRE_TEXT];
} far_arrival;

/* A group's members elsewhere. */
typedef struct lz_far {
    uint32_t nproc, self;            /* processes that have members; which of them is this one */
    uint32_t *rank;                  /* [nproc] ascending */
    uint32_t *place;                 /* by rank: where in `rank`; UINT32_MAX: nowhere */
    far_arrival (*arrival)[2];       /* [nproc]; by the lowest bit of seq */
    uint64_t *miss_epoch, *miss_seq; /* [n], by member: where the group was when its job failed */
    lz_error err;                    /* of the last one that failed */
} lz_far;

static lz_rendezvous *meets; /* whose groups processes speak of */

/* ---- groups ---- */

static void free_far(lz_far *f)
{
    if (!f)
        return;
    lz_free(f->rank);
    lz_free(f->place);
    lz_free(f->arrival);
    lz_free(f->miss_epoch);
    lz_free(f);
}

lz_status lz_meeting_new_group(lz_rendezvous_group *g)
{
    lz_far *f = lz_calloc(1, sizeof *f);
    uint32_t self = lz_processes_self();
    bool ok = f && (f->rank = lz_calloc(g->n, sizeof *f->rank)) &&
              (f->place = lz_alloc(lz_processes_count() * sizeof *f->place));
    for (uint32_t i = 0; i < lz_processes_count() && ok; i++)
        f->place[i] = UINT32_MAX;
    g->nlocal = 0;
    for (uint32_t i = 0; i < g->n && ok; i++) {
        uint32_t rank = lz_processes_of_device(g->member[i])->rank;
        g->nlocal += rank == self;
        if (f->place[rank] != UINT32_MAX)
            continue;
        f->place[rank] = f->nproc;
        f->rank[f->nproc++] = rank; /* devices are numbered by rank */
    }
    if (ok && g->nlocal == g->n) {
        free_far(f);
        return LZ_OK;
    }
    if (ok) {
        f->self = f->place[self];
        f->arrival = lz_calloc(f->nproc, sizeof *f->arrival);
        f->miss_epoch = lz_calloc(2 * (size_t)g->n, sizeof *f->miss_epoch);
        f->miss_seq = f->miss_epoch ? f->miss_epoch + g->n : NULL;
    }
    if (ok && f->arrival && f->miss_epoch) {
        g->far = f;
        return LZ_OK;
    }
    free_far(f);
    return LZ_FAIL(LZ_EMEM, "no memory for a group of %u devices", g->n);
}

static void write_group(const lz_rendezvous_group *g, lz_wire_group *to)
{
    _Static_assert(sizeof to->member >= sizeof g->member, "room for all members");
    to->n = g->n;
    memcpy(to->member, g->member, g->n * sizeof *g->member);
}

/* ---- who will not come ---- */

/* Whether a member elsewhere has failed before meeting `seq` of this epoch, or in it. Under lock.
 */
static bool is_missing(const lz_rendezvous_group *g)
{
    const lz_far *f = g->far;
    for (uint32_t i = 0; i < g->n; i++)
        if (g->debt[i] && lz_processes_of_device(g->member[i])->rank != lz_processes_self() &&
            (f->miss_epoch[i] != g->epoch || f->miss_seq[i] <= g->seq))
            return true;
    return false;
}

void lz_meeting_note_missing(lz_rendezvous *r, lz_rendezvous_group *g)
{
    if (g->broken.status == LZ_OK && is_missing(g))
        lz_rendezvous_break_up(r, g, &g->far->err);
}

bool lz_meeting_deserted(const lz_rendezvous *r, const lz_rendezvous_group *g)
{
    char text[160];
    for (uint32_t p = 0; p < g->far->nproc; p++) {
        uint32_t rank = g->far->rank[p];
        if (p == g->far->self || lz_processes_state(rank) == LZ_PROCESS_LIVE)
            continue;
        lz_rendezvous_print_members(r, g, text, sizeof text);
        (void)LZ_FAIL(LZ_ETIMEOUT, "after a step of %s that failed %s %s", text,
                      lz_processes_get(rank)->name,
                      lz_processes_said_bye(rank) ? "has ended" : "is gone");
        return true;
    }
    return false;
}

void lz_meeting_owe(lz_rendezvous_group *g, uint32_t i, const lz_error *err)
{
    static const char before[] = "the step of ";
    lz_wire_miss m = {.member = g->member[i],
                      .status = err->status,
                      .lost = g->lost.status != LZ_OK,
                      .total = g->epoch + g->debt[i],
                      .epoch = g->epoch,
                      .seq = g->seq};
    write_group(g, &m.group);
    /* an error that has been told already is told as it is */
    bool told = strstr(err->message, before) != NULL;
    if (told)
        snprintf(m.text, sizeof m.text, "%s", err->message);
    else
        snprintf(m.text, sizeof m.text, "%s%s:%u, of %s, has failed: %.240s", before,
                 meets->platform, m.member, lz_processes_get(lz_processes_self())->name,
                 err->message);
    for (uint32_t p = 0; p < g->far->nproc; p++) {
        lz_buf b = {0};
        if (p == g->far->self)
            continue;
        lz_wire_put_miss(&b, &m);
        LZ_QUIETLY {
            (void)lz_processes_send(g->far->rank[p], LZ_WIRE_MISS, &b);
        }
    }
}

/* ---- what others say, on the thread of the sockets ---- */

/* The group, if the sender and this process are in it. */
static lz_rendezvous_group *group_of_message(uint32_t from, const lz_wire_group *w)
{
    bool theirs = false, ours = false;
    if (w->member[w->n - 1] >= lz_processes_devices())
        return NULL;
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t rank = lz_processes_of_device(w->member[i])->rank;
        theirs |= rank == from;
        ours |= rank == lz_processes_self();
    }
    lz_rendezvous_group *g =
        theirs && ours ? lz_rendezvous_group_of(meets, w->member, w->n, true) : NULL;
    return g && g->far ? g : NULL;
}

static bool came(uint32_t from, const void *p, size_t n)
{
    lz_wire_arrive a;
    if (lz_wire_get_arrive(p, n, &a) != LZ_OK || a.tag >= lz_processes_transport()->last_tag)
        return false;
    lz_mutex_lock(&meets->lock);
    lz_rendezvous_group *g = group_of_message(from, &a.group);
    if (g) {
        far_arrival *to = &g->far->arrival[g->far->place[from]][a.seq & 1];
        *to = (far_arrival){true, a.epoch, a.seq, a.digest, a.tag, "", ""};
        memcpy(to->what, a.what, sizeof to->what);
        memcpy(to->where, a.where, sizeof to->where);
    }
    lz_mutex_unlock(&meets->lock);
    return g != NULL;
}

static bool missed(uint32_t from, const void *p, size_t n)
{
    lz_wire_miss m;
    if (lz_wire_get_miss(p, n, &m) != LZ_OK)
        return false;
    lz_mutex_lock(&meets->lock);
    lz_rendezvous_group *g = group_of_message(from, &m.group);
    bool ok = g && lz_processes_of_device(m.member)->rank == from;
    for (uint32_t i = 0; ok && i < g->n; i++) {
        if (g->member[i] != m.member)
            continue;
        ok = m.total >= g->epoch + g->debt[i] && m.total - g->epoch <= UINT32_MAX;
        if (!ok)
            break;
        g->debt[i] = (uint32_t)(m.total - g->epoch);
        g->far->miss_epoch[i] = m.epoch;
        g->far->miss_seq[i] = m.seq;
        g->far->err = (lz_error){.status = m.status};
        memcpy(g->far->err.message, m.text, sizeof g->far->err.message);
        if (m.lost && g->lost.status == LZ_OK)
            lz_rendezvous_lose(meets, g, &g->far->err);
        if (!g->running && g->narrived)
            lz_meeting_note_missing(meets, g);
        lz_rendezvous_settle(meets, g);
    }
    lz_mutex_unlock(&meets->lock);
    return ok;
}

static bool listen_to(uint32_t from, lz_wire_type type, const void *p, size_t n)
{
    bool ok = false;
    LZ_QUIETLY {
        ok = type == LZ_WIRE_ARRIVE ? came(from, p, n) : missed(from, p, n);
    }
    return ok;
}

lz_status lz_meeting_join(lz_rendezvous *r, uint32_t ndevice, uint32_t *n, uint32_t *first)
{
    const lz_process_info *p;
    *n = ndevice;
    *first = 0;
    LZ_TRY(lz_process_info_get(&p));
    if (p->count == 1)
        return LZ_OK;
    lz_mutex_lock(&r->lock);
    if (!atomic_load(&r->several)) { /* messages may come before this call returns */
        meets = r;
        lz_processes_listen(listen_to);
        atomic_store(&r->several, true);
    }
    lz_mutex_unlock(&r->lock);
    LZ_TRY(lz_processes_join(ndevice));
    *n = lz_processes_devices();
    *first = lz_processes_get((uint32_t)p->index)->first;
    return LZ_OK;
}

/* ---- one meeting ---- */

typedef struct meeting {
    lz_rendezvous *r;
    lz_rendezvous_group *g;
    const lz_step_collective *c;
    const lz_meeters *m;
    lz_exchange x;
    const lz_transport *via;
    uint32_t nproc, tag;
    uint32_t *proc;   /* [n]: of the members */
    uint32_t *tag_of; /* [nproc]: under which each receives */
    char **came;      /* [2 * nproc]: messages of both rounds, and */
    char **sent;      /* [2 * nproc]: those that had to be packed */
    lz_transfer *transfers;
    uint32_t ntransfer, mtransfer;
    bool kept; /* memory that the transport may still touch: it is not freed */
    char what[LZ_WIRE_TEXT], where[LZ_WIRE_TEXT];
    lz_arena arena;
} meeting;

/* Of what the members of this process run; equal where others run the same. */
static lz_status digest_of(const meeting *x, lz_hash *out)
{
    lz_buf b = {0};
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    const lz_sig *sig = x->c->sig;
    lz_buf_u32(&b, (uint32_t)sig->op);
    lz_buf_u32(&b, sig->nopnd);
    for (uint32_t k = 0; k < sig->nopnd; k++) {
        const lz_type *t = sig->opnd[k];
        lz_buf_u32(&b, (uint32_t)t->dtype);
        lz_buf_u32(&b, (uint32_t)t->shape.rank);
        for (int i = 0; i < t->shape.rank; i++)
            lz_buf_u64(&b, (uint64_t)t->shape.dims[i]);
    }
    int n = lz_attr_fields(sig->attr, f);
    for (int i = 0; i < n; i++)
        if (f[i].type == LZ_FIELD_I64)
            lz_buf_u64(&b, (uint64_t)*f[i].i64);
        else if (f[i].type == LZ_FIELD_BOOL)
            lz_buf_u8(&b, *f[i].flag);
    const lz_func *region = lz_attr_region(sig->attr, 0);
    const lz_hash *program = x->g->first->program;
    const lz_hash h[2] = {region ? lz_func_hash(region) : (lz_hash){0, 0},
                          program ? *program : (lz_hash){0, 0}};
    for (int i = 0; i < 2; i++) {
        lz_buf_u64(&b, h[i].lo);
        lz_buf_u64(&b, h[i].hi);
    }
    lz_buf_put(&b, x->m->member, x->m->n * sizeof *x->m->member);
    if (sig->op == LZ_OP_COLLECTIVE_PERMUTE)
        lz_buf_put(&b, x->m->from, x->m->n * sizeof *x->m->from);
    *out = lz_hash_bytes(b.data, b.len);
    bool failed = b.failed;
    lz_buf_free(&b);
    return failed ? LZ_FAIL(LZ_EMEM, "no memory for a collective") : LZ_OK;
}

/* "all_reduce of f32[4] among CPU:[0, 1] (train.c:42)" */
static const char *about(const meeting *x, char *text, size_t n)
{
    char all[96];
    lz_rendezvous_print_members(x->r, x->g, all, sizeof all);
    snprintf(text, n, "%.100s among %s%s%.60s%s", x->what, all, x->where[0] ? " (" : "", x->where,
             x->where[0] ? ")" : "");
    return text;
}

/* ---- memory ---- */

static size_t pieces(size_t nbytes)
{
    return (nbytes + LZ_TRANSFER_MAX - 1) / LZ_TRANSFER_MAX;
}

static int rounds(const meeting *x)
{
    return x->x.sliced ? 2 : 1;
}

static lz_status no_memory(const meeting *x)
{
    char text[300];
    return LZ_FAIL(LZ_EMEM, "%s: no memory for what is exchanged", about(x, text, sizeof text));
}

/* Everything that can be refused is asked for before anybody is told of the arrival. */
static lz_status allocate(meeting *x)
{
    size_t ntransfer = 0;
    uint32_t n = 2 * x->nproc;
    x->came = lz_arena_alloc(&x->arena, n * sizeof *x->came);
    x->sent = lz_arena_alloc(&x->arena, n * sizeof *x->sent);
    x->tag_of = lz_arena_alloc(&x->arena, x->nproc * sizeof *x->tag_of);
    if (!x->came || !x->sent || !x->tag_of)
        return no_memory(x);
    for (int round = 0; round < rounds(x); round++)
        for (uint32_t p = 0; p < x->nproc; p++) {
            size_t in = lz_exchange_receives(&x->x, round, p),
                   out = lz_exchange_sends(&x->x, round, p);
            bool whole = !x->via->polls && lz_exchange_whole(&x->x, round, p);
            uint32_t at = (uint32_t)round * x->nproc + p;
            ntransfer += pieces(in) + pieces(out);
            x->came[at] = lz_alloc(in + 1);
            x->sent[at] = out && !whole ? lz_alloc(out) : NULL;
            if (!x->came[at] || (out && !whole && !x->sent[at]))
                return no_memory(x);
        }
    x->transfers = lz_calloc(ntransfer + 1, sizeof *x->transfers);
    return x->transfers ? LZ_OK : no_memory(x);
}

/* Memory that a transport may touch as long as the process lives, where leak checkers find it. */
typedef struct keepsake {
    struct keepsake *next;
    meeting of;
} keepsake;
static _Atomic(keepsake *) keepsakes;

static void keep(const meeting *x)
{
    keepsake *k = lz_alloc(sizeof *k);
    if (!k)
        return;
    k->of = *x;
    k->next = atomic_load(&keepsakes);
    while (!atomic_compare_exchange_weak(&keepsakes, &k->next, k))
        continue;
}

static void let_go(meeting *x)
{
    for (uint32_t i = 0; i < x->ntransfer; i++)
        x->kept |= !x->via->cancel(&x->transfers[i]);
    for (uint32_t i = 0; x->came && i < 2 * x->nproc && !x->kept; i++) {
        lz_free(x->came[i]);
        lz_free(x->sent[i]);
    }
    lz_exchange_end(&x->x);
    if (x->kept) {
        keep(x);
        return;
    }
    lz_free(x->transfers);
    lz_arena_free(&x->arena);
}

/* ---- somebody is missing ---- */

/* Under lock or not. */
static lz_status missing(const meeting *x, uint32_t rank, const char *what)
{
    char text[300];
    return lz_processes_missing(rank, about(x, text, sizeof text), what);
}

/* Sleeps until something may have changed. *nap: of a transport that polls, grows; a short one only
 * lets others run, which may be the peers. */
static void nap(uint32_t seen, int64_t until, bool polls, int64_t *nap_ns)
{
    int64_t left = until - lz_now_ns(), ns = left < LOOK_NS ? left : LOOK_NS;
    if (polls) {
        ns = *nap_ns < ns ? *nap_ns : ns;
        *nap_ns = 2 * *nap_ns < LAST_NAP_NS ? 2 * *nap_ns : LAST_NAP_NS;
    }
    if (polls && ns < SHORT_NAP_NS)
        (void)sched_yield();
    else if (ns > 0)
        lz_processes_wait(seen, ns);
}

/* ---- arriving ---- */

static lz_status announce(meeting *x, const lz_hash *digest)
{
    lz_wire_arrive a = {.digest = *digest, .tag = x->tag};
    write_group(x->g, &a.group);
    a.epoch = x->g->epoch; /* both stand still while this process is at a meeting */
    a.seq = x->g->seq;
    memcpy(a.what, x->what, sizeof a.what);
    memcpy(a.where, x->where, sizeof a.where);
    for (uint32_t p = 0; p < x->nproc; p++) {
        lz_buf b = {0};
        if (p == x->g->far->self)
            continue;
        lz_wire_put_arrive(&b, &a);
        LZ_TRY(lz_processes_send(x->g->far->rank[p], LZ_WIRE_ARRIVE, &b));
    }
    return LZ_OK;
}

/* Whether process a is more likely than b to be the reason why others wait: it is not there any
 * more, or does not answer, while b waits for it, too. */
static bool suspect(uint32_t a, uint32_t b)
{
    bool live_a = lz_processes_state(a) == LZ_PROCESS_LIVE,
         live_b = lz_processes_state(b) == LZ_PROCESS_LIVE;
    return live_a != live_b ? live_b : lz_processes_heard(a) + SILENT_NS < lz_processes_heard(b);
}

/* Under lock. A process that has not come; nproc: all have, and said the same. */
static lz_status look(const meeting *x, const lz_hash *digest, uint32_t *who)
{
    const lz_rendezvous_group *g = x->g;
    const lz_far *f = g->far;
    char text[300];
    *who = f->nproc;
    if (is_missing(g)) {
        lz_error_set(&f->err);
        return f->err.status;
    }
    for (uint32_t p = 0; p < f->nproc; p++) {
        const far_arrival *a = &f->arrival[p][g->seq & 1];
        bool there = p == f->self || (a->there && a->epoch == g->epoch && a->seq == g->seq);
        if (!there && (*who == f->nproc || suspect(f->rank[p], f->rank[*who])))
            *who = p;
        x->tag_of[p] = a->tag;
    }
    for (uint32_t p = 0; p < f->nproc && *who == f->nproc; p++) {
        const far_arrival *a = &f->arrival[p][g->seq & 1];
        if (p == f->self || lz_hash_eq(a->digest, *digest))
            continue;
        return LZ_FAIL(LZ_EINVAL,
                       "%s, and %s runs %.100s%s%.60s%s%s: all members run the same collectives in "
                       "the same order",
                       about(x, text, sizeof text), lz_processes_get(f->rank[p])->name, a->what,
                       a->where[0] ? " (" : "", a->where, a->where[0] ? ")" : "",
                       strcmp(a->what, x->what) != 0 ? ""
                       : g->first->program           ? ", of another program or another call of it"
                                                     : ", of another kind, dimension or group");
    }
    return LZ_OK;
}

static lz_status look_locked(const meeting *x, const lz_hash *digest, uint32_t *who)
{
    lz_mutex_lock(&x->r->lock);
    lz_status s = look(x, digest, who);
    lz_mutex_unlock(&x->r->lock);
    return s;
}

static lz_status await_arrivals(meeting *x, const lz_hash *digest, bool *lost)
{
    int64_t until = lz_now_ns() + lz_join_limit();
    for (;;) {
        uint32_t seen = lz_processes_bell(), who, again;
        lz_status s = look_locked(x, digest, &who);
        if (s != LZ_OK || who == x->nproc)
            return s;
        uint32_t rank = x->g->far->rank[who];
        bool late = lz_now_ns() >= until;
        if (lz_processes_state(rank) != LZ_PROCESS_LIVE) {
            s = look_locked(x, digest, &again); /* what it said last may have come meanwhile */
            if (s != LZ_OK || again == x->nproc)
                return s;
            if (again != who)
                continue;
            late = true;
        }
        if (late) {
            *lost = true;
            return missing(x, rank, "come");
        }
        nap(seen, until, false, NULL);
    }
}

/* ---- exchanging ---- */

static lz_status post(meeting *x, bool sends, uint32_t p, int round, char *at, size_t nbytes)
{
    uint32_t rank = x->g->far->rank[p];
    for (size_t done = 0; done < nbytes; done += LZ_TRANSFER_MAX) {
        size_t n = nbytes - done < LZ_TRANSFER_MAX ? nbytes - done : LZ_TRANSFER_MAX;
        lz_transfer *t = &x->transfers[x->ntransfer];
        lz_status s = sends ? x->via->send(t, rank, x->tag_of[p] + (uint32_t)round, at + done, n)
                            : x->via->receive(t, rank, x->tag + (uint32_t)round, at + done, n);
        if (s == LZ_EIO)
            return missing(x, rank, "come");
        LZ_TRY(s);
        x->ntransfer++;
    }
    return LZ_OK;
}

static lz_status post_receives(meeting *x)
{
    for (int round = 0; round < rounds(x); round++)
        for (uint32_t p = 0; p < x->nproc; p++)
            LZ_TRY(post(x, false, p, round, x->came[(uint32_t)round * x->nproc + p],
                        lz_exchange_receives(&x->x, round, p)));
    return LZ_OK;
}

static lz_status post_sends(meeting *x, int round)
{
    for (uint32_t k = 1; k < x->nproc; k++) { /* each begins with another one */
        uint32_t p = (x->g->far->self + k) % x->nproc;
        size_t n = lz_exchange_sends(&x->x, round, p);
        char *packed = x->sent[(uint32_t)round * x->nproc + p];
        if (packed)
            lz_exchange_pack(&x->x, round, p, packed);
        const char *whole = packed ? packed : lz_exchange_whole(&x->x, round, p);
        LZ_TRY(post(x, true, p, round, (char *)whole, n));
    }
    return LZ_OK;
}

/* A member that fails now, fails although others may have its operands. */
static bool withdrawn(const meeting *x)
{
    lz_mutex_lock(&x->r->lock);
    bool is = is_missing(x->g);
    if (is)
        lz_error_set(&x->g->far->err);
    lz_mutex_unlock(&x->r->lock);
    return is;
}

/* Until all that is sent has gone, and all of the round has come. */
static lz_status await_transfers(meeting *x, int round)
{
    int64_t limit = lz_join_limit(), until = lz_now_ns() + limit, nap_ns = FIRST_NAP_NS;
    uint32_t left = UINT32_MAX;
    bool gone = false;
    for (;;) {
        uint32_t seen = lz_processes_bell(), open = 0, who = 0;
        bool sends = false, was_gone = gone;
        gone = false;
        for (uint32_t i = 0; i < x->ntransfer; i++) {
            lz_transfer *t = &x->transfers[i];
            bool done = false;
            if (!t->sends && t->tag != x->tag + (uint32_t)round)
                continue;
            if (x->via->test(t, &done) != LZ_OK)
                return missing(x, t->peer, "sent its operands");
            if (done)
                continue;
            if (open++ == 0 || suspect(t->peer, who)) {
                who = t->peer;
                sends = t->sends;
            }
            gone |= x->via->polls && lz_processes_state(t->peer) == LZ_PROCESS_GONE;
        }
        if (!open)
            return LZ_OK;
        if (open < left) {
            until = lz_now_ns() + limit;
            nap_ns = FIRST_NAP_NS;
        }
        left = open;
        if (withdrawn(x))
            return lz_error_get()->status;
        if (gone && !was_gone) /* what it sent last may have come meanwhile */
            continue;
        if (gone || lz_now_ns() >= until)
            return missing(x, who, sends ? "taken what is sent to it" : "sent its operands");
        nap(seen, until, x->via->polls, &nap_ns);
    }
}

static lz_status exchange(meeting *x)
{
    for (int round = 0; round < rounds(x); round++) {
        LZ_TRY(post_sends(x, round));
        LZ_TRY(await_transfers(x, round));
        LZ_TRY(lz_exchange_finish(&x->x, round,
                                  (const void *const *)x->came + (size_t)round * x->nproc));
    }
    return LZ_OK;
}

/* ---- all ---- */

static lz_status begin(meeting *x, const lz_step_collective *c, void *const *const *bufs)
{
    const lz_far *f = x->g->far;
    const lz_meeters *m = x->m;
    const lz_arrival *a = x->g->first;
    x->nproc = f->nproc;
    x->via = lz_processes_transport();
    lz_rendezvous_print_what(c->sig, x->what, sizeof x->what);
    if (a && a->site && a->site->file)
        snprintf(x->where, sizeof x->where, "%.120s:%d", a->site->file, a->site->line);
    x->proc = lz_arena_alloc(&x->arena, m->n * sizeof *x->proc);
    if (!x->proc)
        return no_memory(x);
    for (uint32_t i = 0; i < m->n; i++)
        x->proc[i] = f->place[lz_processes_of_device(m->member[i])->rank];
    x->x = (lz_exchange){.sig = c->sig,
                         .n = m->n,
                         .nproc = f->nproc,
                         .self = f->self,
                         .proc = x->proc,
                         .from = m->from,
                         .bufs = bufs};
    LZ_TRY(lz_exchange_begin(&x->x));
    return allocate(x);
}

lz_status lz_meeting_run(lz_rendezvous *r, lz_rendezvous_group *g, const lz_step_collective *c,
                         const lz_meeters *m, void *const *const *bufs, bool *lost)
{
    static _Atomic uint32_t next;
    meeting x = {.r = r, .g = g, .c = c, .m = m};
    lz_hash digest = {0, 0};
    int64_t t0 = lz_timeline_begin();
    *lost = false;
    x.tag = 2 + 2 * (atomic_fetch_add(&next, 1) % (lz_processes_transport()->last_tag / 2 - 1));
    lz_status s = begin(&x, c, bufs);
    if (s == LZ_OK)
        s = digest_of(&x, &digest);
    if (s == LZ_OK) {
        s = post_receives(&x);
        if (s == LZ_OK)
            s = announce(&x, &digest);
        *lost = s != LZ_OK;
        if (s == LZ_OK)
            s = await_arrivals(&x, &digest, lost);
        if (s == LZ_OK) {
            s = exchange(&x);
            *lost = s != LZ_OK;
        }
    }
    let_go(&x);
    if (s == LZ_OK)
        lz_collective_ran(c);
    lz_timeline_end(t0, .name = lz_op_get(c->sig->op)->text, .category = "collective",
                    .key = {"bytes sent by each", "largest group"},
                    .value = {(int64_t)lz_collective_sends(c), m->n});
    return s;
}
