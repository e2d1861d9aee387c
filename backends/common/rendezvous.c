/* rendezvous.c - see rendezvous.h. */
#include "backends/common/rendezvous.h"
#include "backends/common/rendezvous_impl.h"
#include "backends/common/meeting.h"
#include "backends/backend.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/text.h"
#include "base/thread.h"
#include "ir/attr.h"
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MOST = LZ_RENDEZVOUS_DEVICES };
_Static_assert((int)MOST == (int)LZ_REPLICAS_MAX, "one number of devices that meet");
#define LOOK_NS INT64_C(500000000)
#define GRACE_NS                                                                                   \
    INT64_C(2000000000) /* for a thread that takes over the device of one that ended               \
                         */

/* ---- who meets ---- */

/* Those of a permute that pairs connect with the device. */
static void connected(const lz_participants *who, uint32_t device, lz_meeters *m)
{
    bool in[MOST] = {false}, more = true;
    in[device] = true;
    while (more) {
        more = false;
        for (uint32_t q = 0; q < who->n; q++) {
            uint32_t from = who->from[q];
            if (from != LZ_NO_PARTITION && in[q] != in[from])
                more = in[q] = in[from] = true;
        }
    }
    for (uint32_t q = 0; q < who->n; q++)
        if (in[q])
            m->member[m->n++] = q;
    for (uint32_t i = 0; i < m->n; i++) {
        m->from[i] = LZ_NO_PARTITION;
        for (uint32_t k = 0; k < m->n; k++)
            if (who->from[m->member[i]] == m->member[k])
                m->from[i] = k;
    }
}

static void find_meeters(const lz_step_collective *c, uint32_t device, lz_meeters *m)
{
    const lz_participants *who = &c->who;
    uint32_t group = who->group[device];
    m->n = 0;
    if (c->sig->op == LZ_OP_COLLECTIVE_PERMUTE) {
        connected(who, device, m);
        return;
    }
    if (group == LZ_NO_PARTITION) { /* of a broadcast: it gets zeros */
        *m = (lz_meeters){.n = 1, .member = {device}, .from = {LZ_NO_PARTITION}};
        return;
    }
    for (uint32_t i = who->start[group]; i < who->start[group + 1]; i++)
        m->member[m->n++] = who->member[i];
    memset(m->from, 0, m->n * sizeof *m->from); /* of a broadcast: the first */
}

static lz_rendezvous_group *new_group(lz_rendezvous *r, const uint32_t *member, uint32_t n)
{
    lz_rendezvous_group *g = lz_calloc(1, sizeof *g);
    if (!g) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a group of %u devices", n);
        return NULL;
    }
    g->n = g->nlocal = n;
    memcpy(g->member, member, n * sizeof *member);
    if (atomic_load(&r->several) && lz_meeting_new_group(g) != LZ_OK) {
        lz_free(g);
        return NULL;
    }
    g->next = r->groups;
    r->groups = g;
    return g;
}

lz_rendezvous_group *lz_rendezvous_group_of(lz_rendezvous *r, const uint32_t *member, uint32_t n,
                                            bool foreign)
{
    lz_rendezvous_group *g = r->groups;
    while (g && (g->n != n || memcmp(g->member, member, n * sizeof *member) != 0))
        g = g->next;
    if (!g && foreign && r->nforeign >= LZ_RENDEZVOUS_FOREIGN) {
        (void)LZ_FAIL(LZ_ERANGE, "other processes speak of %u groups that nobody has come to here",
                      r->nforeign);
        return NULL;
    }
    if (g && g->foreign && !foreign) {
        g->foreign = false;
        r->nforeign--;
    }
    if (g)
        return g;
    g = new_group(r, member, n);
    if (g && foreign) {
        g->foreign = true;
        r->nforeign++;
    }
    return g;
}

static lz_rendezvous_group *group_of(lz_rendezvous *r, const lz_meeters *m)
{
    uint32_t sorted[MOST];
    memcpy(sorted, m->member, m->n * sizeof *sorted);
    for (uint32_t i = 1; i < m->n; i++)
        for (uint32_t k = i; k > 0 && sorted[k] < sorted[k - 1]; k--) {
            uint32_t x = sorted[k];
            sorted[k] = sorted[k - 1];
            sorted[k - 1] = x;
        }
    return lz_rendezvous_group_of(r, sorted, m->n, false);
}

static uint32_t *debt_of(lz_rendezvous_group *g, uint32_t device)
{
    uint32_t i = 0;
    while (g->member[i] != device)
        i++;
    return &g->debt[i];
}

/* ---- for people ---- */

static const char *name_of(const lz_sig *sig)
{
    return lz_op_get(sig->op)->text;
}

void lz_rendezvous_print_members(const lz_rendezvous *r, const lz_rendezvous_group *g, char *text,
                                 size_t n)
{
    int at = snprintf(text, n, "%s:[", r->platform);
    for (uint32_t i = 0; i < g->n && (size_t)at + 8 < n; i++)
        at += snprintf(text + at, n - (size_t)at, "%s%u", i ? ", " : "", g->member[i]);
    (void)snprintf(text + at, n - (size_t)at, "]");
}

void lz_rendezvous_print_what(const lz_sig *sig, char *text, size_t n)
{
    char t[96];
    lz_type_short(sig->opnd[0], t, sizeof t);
    (void)snprintf(text, n, "%s of %s%s", name_of(sig), t, sig->nopnd > 1 ? ", .." : "");
}

/* ---- waking ---- */

static void ring(lz_rendezvous *r, uint32_t device)
{
    atomic_fetch_add(&r->device[device].bell, 1);
    lz_futex_wake(&r->device[device].bell, INT_MAX);
}

static void ring_all(lz_rendezvous *r, const lz_rendezvous_group *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        ring(r, g->member[i]);
}

/* Those that are there go on; err: NULL when they have their results. */
static void release_all(lz_rendezvous *r, lz_rendezvous_group *g, const lz_error *err)
{
    for (uint32_t i = 0; i < g->n; i++) {
        lz_arrival *a = r->device[g->member[i]].at;
        if (!a || a->g != g)
            continue;
        a->err.status = LZ_OK;
        if (err)
            a->err = *err;
        a->done = true;
        r->device[a->device].at = NULL;
        ring(r, a->device);
    }
    g->first = NULL;
    g->narrived = 0;
    g->running = false;
}

void lz_rendezvous_break_up(lz_rendezvous *r, lz_rendezvous_group *g, const lz_error *err)
{
    g->broken = *err;
    release_all(r, g, err);
}

void lz_rendezvous_lose(lz_rendezvous *r, lz_rendezvous_group *g, const lz_error *err)
{
    g->lost = *err;
    if (g->running) /* who runs it finds that a member has failed */
        return;
    lz_rendezvous_break_up(r, g, err);
    ring_all(r, g);
}

void lz_rendezvous_settle(lz_rendezvous *r, lz_rendezvous_group *g)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        least = g->debt[i] < least ? g->debt[i] : least;
        most = g->debt[i] > most ? g->debt[i] : most;
    }
    for (uint32_t i = 0; i < g->n; i++)
        g->debt[i] -= least;
    g->epoch += least;
    g->seq = least ? 0 : g->seq;
    if (most == least)
        g->broken.status = LZ_OK;
    if (least)
        ring_all(r, g);
}

/* ---- sleeping ---- */

static int64_t time_limit(void)
{
    return lz_cfg_int(LZ_OPT_COLLECTIVE_TIMEOUT) * INT64_C(1000000000); /* 0: none */
}

/* Sleeps until the device is to look again. Fails where that would be for ever. The lock is held,
 * but not meanwhile. */
static lz_status doze(lz_rendezvous *r, uint32_t device, const lz_rendezvous_group *g,
                      const lz_step_collective *c, int64_t since)
{
    char all[160];
    int64_t now = lz_now_ns(), limit = g->running ? 0 : time_limit(),
            wait = limit ? since + limit - now : -1;
    uint32_t seen = atomic_load(&r->device[device].bell);
    lz_rendezvous_print_members(r, g, all, sizeof all);
    if (limit && wait <= 0)
        return LZ_FAIL(LZ_ETIMEOUT,
                       "%s among %s: %s:%u has waited for %" PRId64
                       " s (LAZULI_COLLECTIVE_TIMEOUT), %u of %u%s are there",
                       name_of(c->sig), all, r->platform, device, limit / 1000000000, g->narrived,
                       g->nlocal, g->far ? " of this process" : "");
    for (uint32_t i = 0; i < g->n && !g->running; i++) {
        const lz_rendezvous_device *d = &r->device[g->member[i]];
        if (!d->left)
            continue;
        int64_t from = d->left_ns > since ? d->left_ns : since;
        if (now - from >= GRACE_NS)
            return LZ_FAIL(LZ_ESTATE, "%s among %s: the thread of %s:%u has ended", name_of(c->sig),
                           all, r->platform, g->member[i]);
        wait = wait < 0 || from + GRACE_NS - now < wait ? from + GRACE_NS - now : wait;
    }
    if (g->far && !g->running && (wait < 0 || wait > LOOK_NS))
        wait = LOOK_NS; /* whether the other processes are still there */
    lz_mutex_unlock(&r->lock);
    (void)lz_futex_wait(&r->device[device].bell, seen, wait);
    lz_mutex_lock(&r->lock);
    return LZ_OK;
}

/* ---- what fits ---- */

/* Numbers and regions; texts are groups, whose members are compared. */
static bool same_numbers(const lz_sig *a, const lz_sig *b)
{
    lz_attr_field x[LZ_ATTR_MAX_FIELDS], y[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(a->attr, x);
    (void)lz_attr_fields(b->attr, y);
    for (int i = 0; i < n; i++)
        if ((x[i].type == LZ_FIELD_I64 && *x[i].i64 != *y[i].i64) ||
            (x[i].type == LZ_FIELD_BOOL && *x[i].flag != *y[i].flag))
            return false;
    return lz_attr_region(a->attr, 0) == lz_attr_region(b->attr, 0);
}

static bool fits(const lz_step_collective *a, const lz_step_collective *b, uint32_t device)
{
    if (a->sig == b->sig)
        return true;
    if (a->sig->op != b->sig->op || a->sig->nopnd != b->sig->nopnd || !same_numbers(a->sig, b->sig))
        return false;
    for (uint32_t k = 0; k < a->sig->nopnd; k++)
        if (a->sig->opnd[k] != b->sig->opnd[k])
            return false;
    lz_meeters x, y;
    find_meeters(a, device, &x);
    find_meeters(b, device, &y);
    return x.n == y.n && memcmp(x.member, y.member, x.n * sizeof *x.member) == 0 &&
           (a->sig->op != LZ_OP_COLLECTIVE_PERMUTE ||
            memcmp(x.from, y.from, x.n * sizeof *x.from) == 0);
}

static lz_status check_fits(const lz_rendezvous *r, const lz_rendezvous_group *g,
                            const lz_arrival *a)
{
    char here[160], there[160], all[160];
    if (!g->first || fits(g->first->c, a->c, a->device))
        return LZ_OK;
    lz_rendezvous_print_what(a->c->sig, here, sizeof here);
    lz_rendezvous_print_what(g->first->c->sig, there, sizeof there);
    lz_rendezvous_print_members(r, g, all, sizeof all);
    return LZ_FAIL(LZ_EINVAL,
                   "collective %" PRIu64
                   " among %s: %s:%u runs %s, %s:%u %s%s: all members run the "
                   "same collectives in the same order",
                   g->met + 1, all, r->platform, a->device, here, r->platform, g->first->device,
                   there, strcmp(here, there) == 0 ? " of another kind, dimension or group" : "");
}

static void say_ring(const lz_rendezvous *r, const lz_rendezvous_group *g, const lz_arrival *a)
{
    char here[160], there[160], us[160], them[160];
    lz_rendezvous_print_what(g->first->c->sig, here, sizeof here);
    lz_rendezvous_print_what(a->c->sig, there, sizeof there);
    lz_rendezvous_print_members(r, g, us, sizeof us);
    lz_rendezvous_print_members(r, a->g, them, sizeof them);
    (void)LZ_FAIL(LZ_EINVAL,
                  "%s among %s waits for %s:%u, which waits in %s among %s: all members run the "
                  "same collectives in the same order",
                  here, us, r->platform, a->device, there, them);
}

/* Whether g waits for `start`: a member that is not there waits in a group that does. Those on the
 * way are marked. Recursion: groups in which devices wait, one for each device at most. */
static bool waits_for(lz_rendezvous *r, lz_rendezvous_group *g, const lz_rendezvous_group *start)
{
    g->seen = r->walk;
    for (uint32_t i = 0; i < g->n; i++) {
        const lz_arrival *a = r->device[g->member[i]].at;
        if (!a || a->g == g || a->g->running)
            continue;
        if (a->g == start)
            say_ring(r, g, a);
        else if (a->g->seen == r->walk || !waits_for(r, a->g, start))
            continue;
        g->ring = r->walk;
        return true;
    }
    return false;
}

/* One more job of member i fails. */
static void owe(lz_rendezvous_group *g, uint32_t i, const lz_error *err)
{
    g->debt[i]++;
    if (g->far)
        lz_meeting_owe(g, i, err);
}

/* Breaks up the marked groups. The job that waits in one of them will not come to the others. */
static void break_ring(lz_rendezvous *r, const lz_error *err)
{
    for (lz_rendezvous_group *g = r->groups; g; g = g->next)
        for (uint32_t i = 0; i < g->n && g->ring == r->walk; i++) {
            const lz_arrival *a = r->device[g->member[i]].at;
            if (!a || a->g == g || a->g->ring != r->walk)
                continue;
            owe(g, i, err);
            g->noted[i] = true;
        }
    for (lz_rendezvous_group *g = r->groups; g; g = g->next)
        if (g->ring == r->walk) {
            lz_rendezvous_break_up(r, g, err);
            lz_rendezvous_settle(r, g);
        }
}

/* g waits for a member that waits, over others or not, for g: nobody ever comes. */
static void look_for_ring(lz_rendezvous *r, lz_rendezvous_group *g)
{
    r->walk++;
    LZ_QUIETLY {
        if (waits_for(r, g, g)) {
            lz_error err = *lz_error_get();
            break_ring(r, &err);
        }
    }
}

/* ---- meeting ---- */

/* The loop over the memory of all members, without the lock: they sleep. */
static lz_status run_all(lz_rendezvous *r, const lz_step_collective *c, const lz_meeters *m,
                         void *const *const *bufs)
{
    uint32_t self[MOST], zero[MOST] = {0}, from[MOST], start[2] = {0, m->n};
    for (uint32_t i = 0; i < m->n; i++) {
        self[i] = i;
        from[i] = m->from[i];
    }
    lz_step_collective one = {.sig = c->sig,
                              .who = {.n = m->n,
                                      .ngroup = 1,
                                      .largest = m->n,
                                      .member = self,
                                      .start = start,
                                      .group = zero,
                                      .place = self,
                                      .from = from}};
    return r->run(NULL, &one, bufs);
}

/* The last one is here. */
static void finish(lz_rendezvous *r, lz_rendezvous_group *g, const lz_step_collective *c,
                   const lz_meeters *m)
{
    void *const *bufs[MOST];
    for (uint32_t i = 0; i < m->n; i++)
        bufs[i] = r->device[m->member[i]].at ? r->device[m->member[i]].at->bufs : NULL;
    g->running = true;
    lz_mutex_unlock(&r->lock);
    bool lost = false;
    lz_status s = g->far ? lz_meeting_run(r, g, c, m, bufs, &lost) : run_all(r, c, m, bufs);
    lz_mutex_lock(&r->lock);
    g->met++;
    g->seq += s == LZ_OK;
    if (s != LZ_OK)
        g->broken = *lz_error_get();
    if (lost)
        g->lost = g->broken;
    release_all(r, g, s != LZ_OK ? &g->broken : NULL);
}

/* Under lock. */
static lz_status come(lz_rendezvous *r, lz_rendezvous_group *g, lz_arrival *a, const lz_meeters *m)
{
    int64_t since = lz_now_ns();
    uint32_t *debt = debt_of(g, a->device);
    while (*debt && g->lost.status == LZ_OK) {
        if (g->far && lz_meeting_deserted(r, g))
            g->lost = *lz_error_get();
        else
            LZ_TRY(doze(r, a->device, g, a->c, since));
    }
    if (g->lost.status != LZ_OK) {
        lz_error_set(&g->lost);
        return g->lost.status;
    }
    if (g->far)
        lz_meeting_note_missing(r, g);
    if (g->broken.status != LZ_OK) {
        lz_error_set(&g->broken);
        return g->broken.status;
    }
    if (check_fits(r, g, a) != LZ_OK) {
        lz_error err = *lz_error_get();
        lz_rendezvous_break_up(r, g, &err);
        return err.status;
    }
    r->device[a->device].at = a;
    g->first = g->first ? g->first : a;
    if (++g->narrived == g->nlocal)
        finish(r, g, a->c, m);
    else
        look_for_ring(r, g);
    while (!a->done)
        if (doze(r, a->device, g, a->c, since) != LZ_OK) {
            lz_error err = *lz_error_get();
            lz_rendezvous_break_up(r, g, &err);
        }
    if (a->err.status != LZ_OK)
        lz_error_set(&a->err);
    return a->err.status;
}

lz_status lz_rendezvous_meet(lz_rendezvous *r, uint32_t device, const lz_hash *program,
                             const lz_step_collective *c, const lz_site *site, void *const *bufs)
{
    lz_meeters m;
    if (c->who.n > MOST || device >= c->who.n)
        return LZ_FAIL(LZ_ERANGE, "%s among %u devices on %s:%u", name_of(c->sig), c->who.n,
                       r->platform, device);
    find_meeters(c, device, &m);
    if (m.n == 1)
        return run_all(r, c, &m, &bufs);
    lz_arrival a = {.device = device, .c = c, .site = site, .program = program, .bufs = bufs};
    lz_mutex_lock(&r->lock);
    r->device[device].left = false;
    a.g = group_of(r, &m);
    lz_status s = a.g ? come(r, a.g, &a, &m) : LZ_EMEM;
    lz_mutex_unlock(&r->lock);
    return s;
}

lz_status lz_rendezvous_world(lz_rendezvous *r, uint32_t ndevice, uint32_t *n, uint32_t *first)
{
    return lz_meeting_join(r, ndevice, n, first);
}

/* ---- not meeting ---- */

typedef struct missing {
    lz_rendezvous *r;
    uint32_t device;
    const lz_error *err;
} missing;

/* Once for each group. */
static void miss_one(void *user, const lz_step_collective *c)
{
    const missing *x = user;
    lz_meeters m;
    if (c->who.n > MOST || x->device >= c->who.n)
        return;
    find_meeters(c, x->device, &m);
    lz_rendezvous_group *g = m.n > 1 ? group_of(x->r, &m) : NULL;
    if (!g || g->seen == x->r->walk)
        return;
    g->seen = x->r->walk;
    if (g->broken.status == LZ_OK) {
        char all[160];
        lz_rendezvous_print_members(x->r, g, all, sizeof all);
        (void)LZ_FAIL(x->err->status, "%s among %s: the step of %s:%u has failed: %.160s",
                      name_of(c->sig), all, x->r->platform, x->device, x->err->message);
        lz_error err = *lz_error_get();
        lz_rendezvous_break_up(x->r, g, &err);
    }
    ptrdiff_t i = debt_of(g, x->device) - g->debt;
    if (!g->noted[i])
        owe(g, (uint32_t)i, x->err);
    lz_rendezvous_settle(x->r, g);
}

void lz_rendezvous_miss(lz_rendezvous *r, uint32_t device, const lz_plan_exec *g, uint32_t reached,
                        const lz_error *err)
{
    missing x = {r, device, err};
    LZ_QUIETLY {
        lz_mutex_lock(&r->lock);
        r->device[device].left = false;
        r->walk++;
        lz_plan_exec_each_collective(g, reached, miss_one, &x);
        for (lz_rendezvous_group *k = r->groups; k; k = k->next)
            for (uint32_t i = 0; i < k->n; i++)
                k->noted[i] &= k->member[i] != device;
        lz_mutex_unlock(&r->lock);
    }
}

void lz_rendezvous_leave(lz_rendezvous *r, uint32_t device, bool left)
{
    if (device >= MOST)
        return;
    lz_mutex_lock(&r->lock);
    r->device[device].left = left;
    r->device[device].left_ns = lz_now_ns();
    for (const lz_rendezvous_group *g = r->groups; g && left; g = g->next)
        if (g->narrived)
            ring_all(r, g);
    lz_mutex_unlock(&r->lock);
}
