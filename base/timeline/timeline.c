/* timeline.c - see timeline.h. A recorder is one thread's list of chunks of records, which its
 * thread appends to and the writer, under the lock, takes from, without waiting for each other. The
 * thread raises `busy`, looks whether a trace still runs, writes, and lowers it; whoever stops the
 * trace first says so and then waits until each is lowered, so that neither needs a lock (both
 * orders are sequentially consistent: one of the two sees the other). Nothing is waited for and
 * nobody is told anything while busy is up. */
#include "base/timeline/timeline.h"
#include "base/config.h"
#include "base/log.h"
#include "base/timeline/trace_steps.h"
#include "base/vec.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    CHUNK_BYTES = 32 << 10,
    TEXT_BYTES = 255,
    ROWS = 128,
    ROW_BYTES = 32,
    PENDING_BYTES = 256 << 20, /* of what is not written yet; more is only counted */
    WRITE_MS = 250,
    WRITE_CHUNKS = 32, /* of a thread, at most, between two writes */
    HOOKS = 4
};

/* Behind it: arguments, then the name and the texts. */
typedef struct argument {
    const char *key;
    int64_t value; /* of a text, how long it is */
} argument;
typedef struct record {
    const char *category; /* NULL: a quantity, whose value is the argument's */
    int64_t start_ns, ns;
    uint64_t flow;
    uint32_t row, nbytes;
    uint8_t nname, nnumber, ntext;
    bool sends;
    argument arg[];
} record;

typedef struct chunk {
    _Atomic(struct chunk *) next;
    _Atomic uint32_t used; /* of whole records */
    _Alignas(8) char data[CHUNK_BYTES];
} chunk;

typedef struct open_span {
    int64_t start_ns; /* 0: opened while no trace ran */
    int64_t step;
    char name[TEXT_BYTES + 1];
} open_span;

typedef struct recorder {
    struct recorder *next;
    atomic_bool busy;
    bool ended; /* its thread has; under the lock */
    int tid;
    char name[16], told[16]; /* told: the name that the file has; "": none */
    _Atomic(chunk *) first;  /* the writer's, but when there is none; */
    uint32_t done;           /* of it these bytes are written */
    chunk *last;             /* the thread's */
    LZ_VEC(open_span) open;  /* the thread's own */
} recorder;

_Atomic int lz_timeline_state_now = LZ_TIMELINE_ASK;

static lz_mutex lock = LZ_MUTEX_INIT("timeline"); /* the list, rows, start and stop */
static recorder *recorders;
/* Of the process this one was forked from: their memory is not this one's to free, and not
 * leaked. */
__attribute__((used)) static recorder *of_parents;
static char rows[ROWS][ROW_BYTES];
static uint32_t nrow, nrow_told;
static bool running;          /* a trace is */
static lz_trace_file file;    /* its file */
static lz_trace_steps steps;  /* that the trace is of, */
static lz_timeline_ring ring; /* if it is of the last ones */
static int64_t nstep;         /* that have ended */
static bool asked;            /* LAZULI_TRACE started it */
static lz_timeline_tap *taps[LZ_TIMELINE_TAPS];
static uint32_t ntap;
static int64_t from_ns;            /* what began earlier is of no interest to any of them */
static uint64_t nwritten;          /* events of the file, */
static uint64_t nrefused;          /* that it has no room for, though they were recorded, */
static uint64_t file_from_dropped; /* and ndropped when it began */
static struct {                    /* the thread that writes while the trace runs */
    pthread_t thread;
    bool started;
    _Atomic uint32_t turn; /* whose number is another one ends, though the next has begun */
} writer;
static int64_t began_ns, began_wall_ns;
static int64_t file_from_ns;         /* the file has what began since then */
static uint64_t limit;               /* of the file */
static _Atomic uint64_t most_events; /* that are recorded: as many, or without limit for taps */
static _Atomic uint64_t nevent, ndropped, nflow;
static void (*before_stop[HOOKS])(void);
static int nbefore_stop;
static atomic_bool warned;
static atomic_bool whole_curves; /* a file is written */
static pthread_key_t key;
static bool key_ok;
static lz_once armed = LZ_ONCE_INIT;
static _Thread_local recorder *self;
static _Thread_local uint32_t depth; /* of open spans */

/* ---- recorders ---- */

static _Atomic int64_t pending; /* bytes of chunks */

static void chunk_free(chunk *c)
{
    atomic_fetch_sub_explicit(&pending, CHUNK_BYTES, memory_order_relaxed);
    lz_free(c);
}

static void drop_chunks(recorder *r)
{
    for (chunk *c = atomic_load(&r->first), *next; c; c = next) {
        next = atomic_load(&c->next);
        chunk_free(c);
    }
    atomic_store(&r->first, NULL);
    r->last = NULL;
    r->done = 0;
    r->told[0] = '\0';
}

static void recorder_free(recorder *r)
{
    drop_chunks(r);
    lz_vec_free(&r->open);
    lz_free(r);
}

/* Frees those of ended threads; under the lock, while no trace runs. */
static void sweep(void)
{
    for (recorder **at = &recorders; *at;) {
        recorder *r = *at;
        if (!r->ended) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        recorder_free(r);
    }
}

static void thread_end(void *arg)
{
    recorder *r = arg;
    self = NULL;
    lz_mutex_lock(&lock);
    (void)prctl(PR_GET_NAME, r->name);
    r->ended = true;
    if (!running && !ntap)
        sweep();
    lz_mutex_unlock(&lock);
}

static void arm(void);

/* The first span of a thread. The flag that brought it here orders nothing, hence the once. */
static recorder *join(void)
{
    lz_once_run(&armed, arm);
    recorder *r = key_ok ? lz_calloc(1, sizeof *r) : NULL;
    if (!r)
        return NULL;
    if (pthread_setspecific(key, r) != 0) {
        lz_free(r);
        return NULL;
    }
    r->tid = (int)gettid();
    (void)prctl(PR_GET_NAME, r->name);
    lz_mutex_lock(&lock);
    r->next = recorders;
    recorders = r;
    lz_mutex_unlock(&lock);
    return self = r;
}

static void missed(void)
{
    atomic_fetch_add_explicit(&ndropped, 1, memory_order_relaxed);
    if (!atomic_exchange(&warned, true))
        LZ_WARN("trace", "the trace is full, or out of memory: what follows is only counted");
}

/* The calling thread's recorder with busy up; NULL when no trace runs any more. */
static recorder *enter(void)
{
    recorder *r = self ? self : join();
    if (!r) {
        missed();
        return NULL;
    }
    atomic_store(&r->busy, true);
    if (atomic_load(&lz_timeline_state_now) == LZ_TIMELINE_ON)
        return r;
    atomic_store_explicit(&r->busy, false, memory_order_release);
    return NULL;
}

static void leave(recorder *r)
{
    atomic_store_explicit(&r->busy, false, memory_order_release);
}

/* ---- recording ---- */

static record *room(recorder *r, size_t nbytes)
{
    chunk *c = r->last;
    if (c && CHUNK_BYTES - atomic_load_explicit(&c->used, memory_order_relaxed) >= nbytes)
        return (record *)(void *)(c->data + atomic_load_explicit(&c->used, memory_order_relaxed));
    bool full = atomic_fetch_add_explicit(&pending, CHUNK_BYTES, memory_order_relaxed) >
                PENDING_BYTES - CHUNK_BYTES;
    chunk *more = full ? NULL : lz_alloc(sizeof *more);
    if (!more) {
        atomic_fetch_sub_explicit(&pending, CHUNK_BYTES, memory_order_relaxed);
        return NULL;
    }
    atomic_init(&more->next, NULL);
    atomic_init(&more->used, 0);
    atomic_store_explicit(c ? &c->next : &r->first, more, memory_order_release);
    r->last = more;
    return (record *)(void *)more->data;
}

static void add_text(record *e, const char **text, const char *k, const char *t)
{
    if (!k || !t)
        return;
    uint32_t i = e->nnumber + e->ntext;
    text[e->ntext++] = t;
    e->arg[i] = (argument){k, (int64_t)strnlen(t, TEXT_BYTES)};
    e->nbytes += (uint32_t)(sizeof *e->arg + (size_t)e->arg[i].value);
}

/* Everything but the characters of the texts. The room is for a record that has everything. */
static void fill(record *e, const lz_span *s, const char **text)
{
    *e = (record){.category = s->category,
                  .start_ns = s->start_ns,
                  .ns = s->ns > 0 ? s->ns : 0,
                  .flow = s->flow,
                  .row = s->row,
                  .sends = s->sends,
                  .nbytes = sizeof *e};
    for (int i = 0; i < LZ_SPAN_NUMBERS; i++)
        if (s->key[i]) {
            e->arg[e->nnumber++] = (argument){s->key[i], s->value[i]};
            e->nbytes += sizeof *e->arg;
        }
    add_text(e, text, s->text_key, s->text);
    for (int i = 0; i < LZ_SPAN_TEXTS; i++)
        add_text(e, text, s->more[i].key, s->more[i].text);
}

static char *chars_of(record *e)
{
    return (char *)&e->arg[e->nnumber + e->ntext];
}

static bool put(recorder *r, const lz_span *s)
{
    enum { ARGUMENTS = LZ_SPAN_NUMBERS + 1 + LZ_SPAN_TEXTS };
    _Alignas(record) char all[sizeof(record) + ARGUMENTS * sizeof(argument)];
    record *head = (record *)(void *)all;
    const char *text[1 + LZ_SPAN_TEXTS], *name = s->name ? s->name : "";
    if (atomic_fetch_add_explicit(&nevent, 1, memory_order_relaxed) >=
        atomic_load_explicit(&most_events, memory_order_relaxed))
        return false;
    fill(head, s, text);
    head->nname = (uint8_t)strnlen(name, TEXT_BYTES);
    head->nbytes = (uint32_t)LZ_ALIGN_UP(head->nbytes + head->nname, 8);
    record *e = room(r, head->nbytes);
    if (!e)
        return false;
    memcpy(e, head, (size_t)(chars_of(head) - all));
    char *at = chars_of(e);
    memcpy(at, name, e->nname);
    at += e->nname;
    for (uint32_t i = 0; i < e->ntext; i++) {
        size_t n = (size_t)e->arg[e->nnumber + i].value;
        memcpy(at, text[i], n);
        at += n;
    }
    atomic_store_explicit(&r->last->used, (uint32_t)((char *)e - r->last->data) + head->nbytes,
                          memory_order_release); /* now the writer sees it */
    return true;
}

void lz_timeline_add(const lz_span *s)
{
    recorder *r = lz_timeline_on() ? enter() : NULL;
    if (!r)
        return;
    bool kept = s->start_ns < from_ns || put(r, s);
    leave(r);
    if (!kept)
        missed();
}

uint32_t lz_timeline_row(const char *name)
{
    uint32_t i = 0;
    lz_mutex_lock(&lock);
    while (i < nrow && strncmp(rows[i], name, ROW_BYTES - 1) != 0)
        i++;
    if (i == nrow && nrow < ROWS)
        snprintf(rows[nrow++], ROW_BYTES, "%s", name);
    uint32_t row = i < nrow ? i + 1 : 0;
    lz_mutex_unlock(&lock);
    return row;
}

uint64_t lz_timeline_flow(void)
{
    return atomic_fetch_add_explicit(&nflow, 1, memory_order_relaxed) + 1;
}

/* Where only taps listen a curve need not be whole: programs of small kernels use and free memory
 * more often than anything else happens. */
static bool too_dense(const char *name, int64_t now)
{
    static lz_trace_curves curves;
    return !atomic_load_explicit(&whole_curves, memory_order_relaxed) &&
           lz_trace_curve_dense(&curves, lz_trace_text_of(name), now);
}

static void add_point(const char *name, const char *unit, int64_t value)
{
    int64_t now = lz_now_ns();
    if (!too_dense(name, now))
        lz_timeline_add(&(lz_span){.name = name, .key = {unit}, .value = {value}, .start_ns = now});
}

void lz_timeline_quantity(const char *name, int64_t nbytes)
{
    if (lz_timeline_on())
        add_point(name, "bytes", nbytes);
}

void lz_timeline_count(const char *name, int64_t n)
{
    if (lz_timeline_on())
        add_point(name, "count", n);
}

/* ---- the program's own spans ---- */

/* Levels without a trace have no name and no start. */
static bool open_to(recorder *r, uint32_t n)
{
    if (lz_vec_reserve(&r->open, n) != LZ_OK)
        return false;
    while (r->open.len < n)
        r->open.data[r->open.len++].start_ns = 0;
    return true;
}

void lz_timeline_open(const char *name, int64_t step)
{
    uint32_t at = depth++;
    if (self && self->open.len > at)
        self->open.len = at;
    if (!lz_timeline_on())
        return;
    recorder *r = self ? self : join();
    if (!r || !open_to(r, at + 1)) {
        missed();
        return;
    }
    open_span *o = &r->open.data[at];
    snprintf(o->name, sizeof o->name, "%s", name);
    o->step = step;
    o->start_ns = lz_now_ns();
}

lz_status lz_timeline_close(void)
{
    if (!depth)
        return LZ_FAIL(LZ_ESTATE, "no span is open on this thread");
    uint32_t at = --depth;
    if (!self || self->open.len <= at)
        return LZ_OK;
    self->open.len = at;
    const open_span *o = &self->open.data[at];
    lz_timeline_end(o->start_ns, .name = o->name, .category = "user",
                    .key = {o->step >= 0 ? "step" : NULL}, .value = {o->step});
    return LZ_OK;
}

/* ---- writing; all under the lock ---- */

/* Where an event goes that ended at that time. */
typedef struct destination {
    int64_t end_ns;
} destination;

static lz_buf *next_event(void *user)
{
    const destination *to = user;
    return ring.steps ? lz_timeline_ring_event(&ring, to->end_ns) : lz_trace_file_event(&file);
}

static lz_trace_text text_at(const char **at, size_t n)
{
    lz_trace_text t = {*at, (uint8_t)n};
    *at += n;
    return t;
}

static lz_trace_event event_of(const recorder *r, const record *e)
{
    const char *at = chars_of((record *)e);
    lz_trace_event v = {.tid = e->row ? LZ_TRACE_ROWS + (int64_t)e->row : r->tid,
                        .row = lz_trace_text_of(e->row ? rows[e->row - 1] : r->name),
                        .name = text_at(&at, e->nname),
                        .category = lz_trace_text_of(e->category),
                        .start_ns = e->start_ns,
                        .ns = e->ns,
                        .flow = e->flow,
                        .sends = e->sends,
                        .narg = e->nnumber + e->ntext};
    for (uint32_t i = 0; i < v.narg; i++) {
        v.arg[i] =
            (lz_trace_arg){.key = lz_trace_text_of(e->arg[i].key), .is_text = i >= e->nnumber};
        if (v.arg[i].is_text)
            v.arg[i].text = text_at(&at, (size_t)e->arg[i].value);
        else
            v.arg[i].number = e->arg[i].value;
    }
    return v;
}

static void tell_name(recorder *r);

static void write_record(recorder *r, const record *e)
{
    lz_trace_event v = event_of(r, e);
    bool of_file = running && v.start_ns >= file_from_ns;
    if (of_file && nwritten < limit) {
        nwritten++;
        tell_name(r);
        lz_trace_event_json(&v, (int)getpid(), began_ns, next_event,
                            &(destination){v.start_ns + v.ns});
    } else if (of_file) {
        nrefused++;
    }
    for (uint32_t i = 0; i < ntap; i++) {
        lz_trace_event seen = v;
        if (seen.flow <= taps[i]->first_flow)
            seen.flow = 0;
        if (seen.start_ns >= taps[i]->began_ns)
            taps[i]->event(&seen, taps[i]->user);
    }
}

static void write_name(int64_t tid, const char *what, const char *name)
{
    lz_trace_name_json(next_event(&(destination){INT64_MAX}), (int)getpid(), tid, what,
                       lz_trace_text_of(name));
}

/* Its name, before its first event and when it has changed. */
static void tell_name(recorder *r)
{
    if (strcmp(r->told, r->name) == 0)
        return;
    write_name(r->tid, "thread_name", r->name);
    memcpy(r->told, r->name, sizeof r->told);
}

/* What is there by now, but for what a thread adds that records faster than this one writes: false:
 * there is more. */
static bool drain(recorder *r, bool all)
{
    uint32_t chunks = 0;
    for (chunk *c; (c = atomic_load_explicit(&r->first, memory_order_acquire));) {
        if (!all && chunks++ == WRITE_CHUNKS)
            return false;
        chunk *next = atomic_load_explicit(&c->next, memory_order_acquire);
        uint32_t used = atomic_load_explicit(&c->used, memory_order_acquire);
        while (r->done < used) {
            const record *e = (const record *)(const void *)(c->data + r->done);
            write_record(r, e);
            r->done += e->nbytes;
        }
        if (!next) /* read before `used`: with a next one, this one is complete */
            break;
        atomic_store(&r->first, next);
        r->done = 0;
        chunk_free(c);
    }
    return true;
}

static bool drain_all(bool all)
{
    bool done = true;
    for (; running && nrow_told < nrow; nrow_told++)
        write_name(LZ_TRACE_ROWS + (int64_t)nrow_told + 1, "thread_name", rows[nrow_told]);
    for (recorder *r = recorders; r; r = r->next) {
        done &= drain(r, all);
        if (running && r->told[0])
            tell_name(r);
    }
    return done;
}

static lz_trace_totals ending(void)
{
    return (lz_trace_totals){atomic_load(&ndropped) - file_from_dropped + nrefused, began_wall_ns};
}

/* Nobody records any more. */
static lz_status write_rest(void)
{
    (void)drain_all(true);
    lz_trace_totals e = ending();
    running = false;
    return ring.steps ? lz_timeline_ring_close(&ring, &e) : lz_trace_file_close(&file, &e);
}

/* false: there is more. */
static bool write_some(void)
{
    bool done = drain_all(false);
    lz_trace_totals e = ending();
    if (done)
        sweep();
    if (!running)
        return done;
    if (ring.steps)
        lz_timeline_ring_flush(&ring, &e);
    else
        lz_trace_file_flush(&file, &e);
    return done;
}

static void *write_loop(void *arg)
{
    const uint32_t turn = (uint32_t)(uintptr_t)arg;
    bool done = true;
    while (atomic_load(&writer.turn) == turn) {
        if (done)
            (void)lz_futex_wait(&writer.turn, turn, (int64_t)WRITE_MS * 1000000);
        done = true;
        lz_mutex_lock(&lock);
        if ((running || ntap) && atomic_load(&writer.turn) == turn)
            LZ_QUIETLY
                done = write_some();
        lz_mutex_unlock(&lock);
    }
    return NULL;
}

/* Without one everything is written at the end. A child of a process that only traces may use the
 * library: in_child. */
static void start_writer(void)
{
    void *turn = (void *)(uintptr_t)atomic_load(&writer.turn);
    LZ_QUIETLY
        writer.started =
            lz_thread_start_unarmed(&writer.thread, "lz-trace", write_loop, turn) == LZ_OK;
}

/* Whether there is a thread to be joined, without the lock. */
static bool stop_writer(pthread_t *t)
{
    bool is = writer.started;
    writer.started = false;
    *t = writer.thread;
    atomic_fetch_add(&writer.turn, 1);
    lz_futex_wake(&writer.turn, INT_MAX); /* the one before may still wait */
    return is;
}

/* ---- start and stop ---- */

static char shown_path[256];

/* Under the lock: nobody records any more. */
static void stop_recording(void)
{
    atomic_store(&lz_timeline_state_now, LZ_TIMELINE_OFF);
    for (recorder *r = recorders; r; r = r->next)
        while (atomic_load(&r->busy))
            sched_yield();
}

/* Under the lock: nothing is left of what was recorded. */
static void forget_records(void)
{
    for (recorder *r = recorders; r; r = r->next)
        drop_chunks(r);
    sweep();
}

static void forget_names(void)
{
    for (recorder *r = recorders; r; r = r->next)
        r->told[0] = '\0';
}

/* Under the lock: the file is written. */
static lz_status end(void)
{
    if (!ntap)
        stop_recording();
    atomic_store(&lz_timeline_steps_matter, false);
    atomic_store(&whole_curves, false);
    lz_status s = write_rest();
    if (!ntap)
        forget_records();
    forget_names();
    asked = false;
    return s;
}

void lz_timeline_before_stop(void (*fn)(void))
{
    lz_mutex_lock(&lock);
    bool known = false;
    for (int i = 0; i < nbefore_stop; i++)
        known |= before_stop[i] == fn;
    if (!known && nbefore_stop < HOOKS)
        before_stop[nbefore_stop++] = fn;
    lz_mutex_unlock(&lock);
}

/* They record, so the lock is free. */
static void tell_hooks(void)
{
    void (*fn[HOOKS])(void);
    lz_mutex_lock(&lock);
    int n = running || ntap ? nbefore_stop : 0;
    memcpy(fn, before_stop, sizeof fn);
    lz_mutex_unlock(&lock);
    LZ_QUIETLY {
        for (int i = 0; i < n; i++)
            fn[i]();
    }
}

/* Ends the trace, if one runs. */
static lz_status end_now(bool only_ours)
{
    pthread_t t;
    tell_hooks();
    lz_mutex_lock(&lock);
    lz_status s = !only_ours ? LZ_OK
                  : !running ? LZ_FAIL(LZ_ESTATE, "no trace runs")
                  : asked    ? LZ_FAIL(LZ_ESTATE, "LAZULI_TRACE traces until the process ends")
                             : LZ_OK;
    bool ends = s == LZ_OK && running, join = ends && !ntap && stop_writer(&t);
    if (ends)
        s = end();
    uint64_t dropped = ends ? ending().dropped : 0;
    lz_mutex_unlock(&lock);
    if (join)
        (void)pthread_join(t, NULL);
    if (dropped)
        LZ_WARN("trace", "%" PRIu64 " events are missing in the trace", dropped);
    return s;
}

static void at_exit(void)
{
    if (!lz_fork_happened() && end_now(false) != LZ_OK)
        LZ_WARN("trace", "%s", lz_error_get()->message);
}

/* ---- steps ---- */

_Atomic bool lz_timeline_steps_matter;

/* Under the lock: what is recorded from now on goes to the file. */
static void record_file(void)
{
    if (ntap)
        (void)drain_all(true); /* to the taps alone */
    file_from_ns = began_ns;
    atomic_store(&whole_curves, true);
    atomic_store(&lz_timeline_state_now, LZ_TIMELINE_ON);
}

bool lz_timeline_step(void)
{
    lz_mutex_lock(&lock);
    nstep++;
    if (running && ring.steps)
        lz_timeline_ring_step(&ring, lz_now_ns());
    if (running && asked && nstep == steps.first)
        record_file();
    bool over = running && asked && nstep == steps.last;
    lz_mutex_unlock(&lock);
    return over;
}

void lz_timeline_steps_over(void)
{
    at_exit();
}

/* The file is the parent's, and the threads that own the other recorders are not here. Without the
 * lock: in the child there is one thread, and who held it in the parent, if the library was armed,
 * keeps it for ever (base/fork.h); was it not, fork has waited, and nobody did. */
static void in_child(void)
{
    int none = LZ_TIMELINE_ON;
    bool whole = !lz_fork_happened();
    atomic_compare_exchange_strong(&lz_timeline_state_now, &none, LZ_TIMELINE_OFF);
    if (running && !ring.steps)
        lz_trace_file_forget(&file, whole);
    else if (running && whole)
        lz_timeline_ring_forget(&ring);
    running = false;
    atomic_store(&whole_curves, false);
    ntap = 0;
    writer.started = false;
    atomic_store(&lz_timeline_steps_matter, false);
    asked = false;
    recorder **last = &of_parents;
    while (*last)
        last = &(*last)->next;
    *last = recorders;
    recorders = NULL;
    self = NULL;
    if (key_ok)
        (void)pthread_setspecific(key, NULL);
}

static void arm(void)
{
    key_ok = pthread_key_create(&key, thread_end) == 0;
    (void)atexit(at_exit);
    (void)pthread_atfork(NULL, NULL, in_child);
}

static void begin_counts(uint64_t most)
{
    atomic_store(&most_events, most);
    atomic_store(&nevent, 0);
    atomic_store(&warned, false);
}

/* Under the lock. */
static lz_status begin(const char *path, uint64_t most, const lz_trace_steps *of)
{
    if (running)
        return asked ? LZ_FAIL(LZ_ESTATE, "LAZULI_TRACE traces the whole process already")
                     : LZ_FAIL(LZ_ESTATE, "a trace runs already, to %s", shown_path);
    memset(&ring, 0, sizeof ring);
    if (of->newest)
        LZ_TRY(lz_timeline_ring_open(&ring, path, of->newest));
    else
        LZ_TRY(lz_trace_file_open(&file, path, true));
    running = true;
    steps = *of;
    nstep = nrow_told = 0;
    snprintf(shown_path, sizeof shown_path, "%s", path);
    limit = most;
    nwritten = nrefused = 0;
    file_from_dropped = atomic_load(&ndropped);
    begin_counts(ntap ? UINT64_MAX : most);
    began_wall_ns = lz_wall_ns();
    began_ns = lz_now_ns();
    file_from_ns = INT64_MAX;
    if (!ntap)
        from_ns = began_ns;
    write_name((int)getpid(), "process_name", program_invocation_short_name);
    if (ring.steps)
        lz_timeline_ring_step(&ring, began_ns);
    atomic_store(&lz_timeline_steps_matter, of->newest || of->first || of->last != INT64_MAX);
    if (!of->first)
        record_file();
    if (!ntap)
        start_writer();
    return LZ_OK;
}

static lz_trace_steps wanted_steps(void)
{
    lz_trace_steps s;
    const char *text = lz_cfg_str(LZ_OPT_TRACE_STEPS);
    if (lz_trace_steps_parse(text, &s))
        return s;
    LZ_WARN("trace",
            "LAZULI_TRACE_STEPS %s: it is none of FIRST:END, FIRST:, :END, -COUNT:, so all steps "
            "are traced",
            text);
    return (lz_trace_steps){0, INT64_MAX, 0};
}

/* Whoever asks first starts it; who asks meanwhile records nothing yet. */
bool lz_timeline_ask(void)
{
    int state = LZ_TIMELINE_ASK;
    if (!atomic_compare_exchange_strong(&lz_timeline_state_now, &state, LZ_TIMELINE_OFF))
        return state == LZ_TIMELINE_ON;
    const char *path = lz_cfg_str(LZ_OPT_TRACE);
    if (!*path)
        return false;
    lz_status s = LZ_OK;
    LZ_QUIETLY {
        lz_once_run(&armed, arm);
        lz_trace_steps of = wanted_steps();
        lz_mutex_lock(&lock);
        s = begin(path, LZ_TIMELINE_EVENTS, &of);
        asked = s == LZ_OK;
        lz_mutex_unlock(&lock);
        if (s != LZ_OK)
            LZ_WARN("trace", "LAZULI_TRACE: %s", lz_error_get()->message);
    }
    return atomic_load(&lz_timeline_state_now) == LZ_TIMELINE_ON;
}

lz_status lz_timeline_start(const char *path, uint64_t most)
{
    (void)lz_timeline_on(); /* LAZULI_TRACE goes first */
    lz_once_run(&armed, arm);
    lz_mutex_lock(&lock);
    lz_status s = begin(path, most, &(lz_trace_steps){0, INT64_MAX, 0});
    lz_mutex_unlock(&lock);
    return s;
}

lz_status lz_timeline_stop(void)
{
    return end_now(true);
}

/* ---- taps ---- */

lz_status lz_timeline_tap_on(lz_timeline_tap *t)
{
    (void)lz_timeline_on(); /* LAZULI_TRACE goes first */
    lz_once_run(&armed, arm);
    lz_mutex_lock(&lock);
    lz_status s =
        ntap < LZ_TIMELINE_TAPS ? LZ_OK : LZ_FAIL(LZ_EUNAVAILABLE, "%u captures run already", ntap);
    if (s == LZ_OK) {
        bool records = running || ntap;
        t->began_wall_ns = lz_wall_ns();
        t->began_ns = lz_now_ns();
        t->first_flow = atomic_load(&nflow);
        t->missed = atomic_load(&ndropped);
        if (!records) {
            begin_counts(UINT64_MAX);
            from_ns = t->began_ns;
        }
        atomic_store(&most_events, UINT64_MAX);
        taps[ntap++] = t;
        atomic_store(&lz_timeline_state_now, LZ_TIMELINE_ON);
        if (!records)
            start_writer();
    }
    lz_mutex_unlock(&lock);
    return s;
}

/* Under the lock: whether the file is to go on recording without taps. */
static bool file_records(void)
{
    return running && file_from_ns != INT64_MAX;
}

void lz_timeline_tap_off(lz_timeline_tap *t)
{
    pthread_t writes;
    uint32_t i = 0;
    tell_hooks();
    lz_mutex_lock(&lock);
    while (i < ntap && taps[i] != t)
        i++;
    bool last = i < ntap && ntap == 1, join = last && !running && stop_writer(&writes);
    if (last && !file_records())
        stop_recording();
    if (i < ntap) {
        LZ_QUIETLY (void)
            drain_all(true);
        taps[i] = taps[--ntap];
    }
    t->missed = atomic_load(&ndropped) - t->missed;
    if (last) {
        atomic_store(&nevent, nwritten);
        atomic_store(&most_events, limit);
    }
    if (last && !running)
        forget_records();
    lz_mutex_unlock(&lock);
    if (join)
        (void)pthread_join(writes, NULL);
}
