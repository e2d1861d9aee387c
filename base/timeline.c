/* timeline.c - see timeline.h. A recorder is one thread's list of chunks of records. Its thread
 * raises `busy`, looks whether a trace still runs, writes, and lowers it; whoever stops the trace
 * first says so and then waits until each is lowered, so that neither needs a lock (both orders are
 * sequentially consistent: one of the two sees the other). Nothing is waited for and nobody is told
 * anything while busy is up. */
#include "base/timeline.h"
#include "base/config.h"
#include "base/json.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/vec.h"
#include <errno.h>
#include <inttypes.h>
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
    FLUSH_BYTES = 64 << 10,
    HOOKS = 4
};
enum { ROW_TID = 1000000000 }; /* larger than any thread's number */

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
    struct chunk *next;
    uint32_t used;
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
    char name[16];
    chunk *first, *last;
    LZ_VEC(open_span) open; /* the thread's own */
} recorder;

_Atomic int lz_timeline_state_now = LZ_TIMELINE_ASK;

static lz_mutex lock = LZ_MUTEX_INIT("timeline"); /* the list, rows, start and stop */
static recorder *recorders;
/* Of the process this one was forked from: their memory is not this one's to free, and not
 * leaked. */
__attribute__((used)) static recorder *of_parents;
static char rows[ROWS][ROW_BYTES];
static uint32_t nrow;
static bool running;   /* a trace is */
static lz_outfile out; /* its file */
static bool asked;     /* LAZULI_TRACE started it */
static char shown_path[256];
static int64_t began_ns, began_wall_ns;
static uint64_t limit;
static _Atomic uint64_t nevent, ndropped, nflow;
static void (*before_stop[HOOKS])(void);
static int nbefore_stop;
static atomic_bool warned;
static pthread_key_t key;
static bool key_ok;
static lz_once armed = LZ_ONCE_INIT;
static _Thread_local recorder *self;
static _Thread_local uint32_t depth; /* of open spans */

/* ---- recorders ---- */

static void drop_chunks(recorder *r)
{
    while (r->first) {
        chunk *c = r->first;
        r->first = c->next;
        lz_free(c);
    }
    r->last = NULL;
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
    if (!running)
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
    if (!c || CHUNK_BYTES - c->used < nbytes) {
        c = lz_alloc(sizeof *c);
        if (!c)
            return NULL;
        c->next = NULL;
        c->used = 0;
        *(r->last ? &r->last->next : &r->first) = c;
        r->last = c;
    }
    record *e = (record *)(void *)(c->data + c->used);
    c->used += (uint32_t)nbytes;
    return e;
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
    if (atomic_fetch_add_explicit(&nevent, 1, memory_order_relaxed) >= limit)
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
    return true;
}

void lz_timeline_add(const lz_span *s)
{
    recorder *r = lz_timeline_on() ? enter() : NULL;
    if (!r)
        return;
    bool kept = s->start_ns < began_ns || put(r, s);
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

void lz_timeline_quantity(const char *name, int64_t nbytes)
{
    if (lz_timeline_on())
        lz_timeline_add(
            &(lz_span){.name = name, .key = {"bytes"}, .value = {nbytes}, .start_ns = lz_now_ns()});
}

void lz_timeline_count(const char *name, int64_t n)
{
    if (lz_timeline_on())
        lz_timeline_add(
            &(lz_span){.name = name, .key = {"count"}, .value = {n}, .start_ns = lz_now_ns()});
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

/* ---- writing ---- */

typedef struct writer {
    lz_buf text;
    bool later; /* an event is there: a comma comes first */
} writer;

static void flush(writer *w)
{
    lz_outfile_put(&out, w->text.data, w->text.len);
    w->text.len = 0;
}

static void put_micros(lz_buf *b, const char *what, int64_t ns)
{
    lz_buf_printf(b, ",\"%s\":%" PRId64 ".%03d", what, ns / 1000, (int)(ns % 1000));
}

static void begin_event(writer *w, const char *phase, int64_t tid)
{
    if (w->text.len > FLUSH_BYTES)
        flush(w);
    lz_buf_printf(&w->text, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRId64, w->later ? "," : "",
                  phase, (int)getpid(), tid);
    w->later = true;
}

static void write_args(lz_buf *b, const record *e)
{
    const char *at = chars_of((record *)e) + e->nname;
    lz_buf_puts(b, ",\"args\":{");
    for (uint32_t i = 0; i < e->nnumber + e->ntext; i++) {
        lz_buf_printf(b, "%s\"%s\":", i ? "," : "", e->arg[i].key);
        if (i < e->nnumber) {
            lz_buf_printf(b, "%" PRId64, e->arg[i].value);
        } else {
            lz_buf_json(b, at, (size_t)e->arg[i].value);
            at += e->arg[i].value;
        }
    }
    lz_buf_puts(b, "}}");
}

static void write_arrow(writer *w, int64_t tid, const record *e)
{
    begin_event(w, e->sends ? "s" : "f", tid);
    lz_buf_printf(&w->text, ",\"name\":\"run\",\"cat\":\"flow\",\"id\":%" PRIu64 "%s", e->flow,
                  e->sends ? "" : ",\"bp\":\"e\"");
    put_micros(&w->text, "ts", e->start_ns - began_ns);
    lz_buf_putc(&w->text, '}');
}

static void write_record(writer *w, const recorder *r, const record *e)
{
    lz_buf *b = &w->text;
    int64_t tid = e->row ? ROW_TID + (int64_t)e->row : r->tid;
    begin_event(w, e->category ? "X" : "C", e->category ? tid : 0);
    lz_buf_puts(b, ",\"name\":");
    lz_buf_json(b, chars_of((record *)e), e->nname);
    lz_buf_printf(b, ",\"cat\":\"%s\"", e->category ? e->category : "memory");
    put_micros(b, "ts", e->start_ns - began_ns);
    if (e->category)
        put_micros(b, "dur", e->ns);
    write_args(b, e);
    if (e->flow)
        write_arrow(w, tid, e);
}

static void write_name(writer *w, int64_t tid, const char *what, const char *name)
{
    begin_event(w, "M", tid);
    lz_buf_printf(&w->text, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    lz_buf_json(&w->text, name, strlen(name));
    lz_buf_puts(&w->text, "}}");
}

static void write_recorder(writer *w, const recorder *r)
{
    if (!r->first)
        return;
    write_name(w, r->tid, "thread_name", r->name);
    for (const chunk *c = r->first; c; c = c->next)
        for (uint32_t at = 0; at < c->used;) {
            const record *e = (const record *)(const void *)(c->data + at);
            write_record(w, r, e);
            at += e->nbytes;
        }
}

static lz_status write_file(void)
{
    writer w = {0};
    (void)lz_outfile_resume(&out); /* its end says what went wrong */
    lz_buf_printf(&w.text,
                  "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"producer\":\"lazuli\","
                  "\"dropped_events\":%" PRIu64 ",\"start_unix_ns\":%" PRId64 "},\"traceEvents\":[",
                  atomic_load(&ndropped), began_wall_ns);
    write_name(&w, (int)getpid(), "process_name", program_invocation_short_name);
    for (uint32_t i = 0; i < nrow; i++)
        write_name(&w, ROW_TID + (int64_t)i + 1, "thread_name", rows[i]);
    for (const recorder *r = recorders; r; r = r->next)
        write_recorder(&w, r);
    lz_buf_puts(&w.text, "\n]}\n");
    flush(&w);
    bool failed = w.text.failed;
    lz_buf_free(&w.text);
    running = false;
    return lz_outfile_end(
        &out, failed ? LZ_FAIL(LZ_EMEM, "no memory to write the trace %s", shown_path) : LZ_OK);
}

/* ---- start and stop ---- */

/* Under the lock: nobody records any more, and the file is written. */
static lz_status end(void)
{
    atomic_store(&lz_timeline_state_now, LZ_TIMELINE_OFF);
    for (recorder *r = recorders; r; r = r->next)
        while (atomic_load(&r->busy))
            sched_yield();
    lz_status s = write_file();
    for (recorder *r = recorders; r; r = r->next)
        drop_chunks(r);
    sweep();
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
    int n = running ? nbefore_stop : 0;
    memcpy(fn, before_stop, sizeof fn);
    lz_mutex_unlock(&lock);
    LZ_QUIETLY {
        for (int i = 0; i < n; i++)
            fn[i]();
    }
}

static void at_exit(void)
{
    if (lz_fork_happened())
        return;
    tell_hooks();
    lz_mutex_lock(&lock);
    lz_status s = running ? end() : LZ_OK;
    lz_mutex_unlock(&lock);
    if (s != LZ_OK)
        LZ_WARN("trace", "%s", lz_error_get()->message);
}

/* The file is the parent's, and the threads that own the other recorders are not here. Without the
 * lock: in the child there is one thread, and who held it in the parent, if the library was armed,
 * keeps it for ever (base/fork.h). */
static void in_child(void)
{
    int none = LZ_TIMELINE_ON;
    atomic_compare_exchange_strong(&lz_timeline_state_now, &none, LZ_TIMELINE_OFF);
    if (running)
        lz_outfile_forget(&out);
    running = false;
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

/* Under the lock. */
static lz_status begin(const char *path, uint64_t most)
{
    if (running)
        return asked ? LZ_FAIL(LZ_ESTATE, "LAZULI_TRACE traces the whole process already")
                     : LZ_FAIL(LZ_ESTATE, "a trace runs already, to %s", shown_path);
    LZ_TRY(lz_outfile_begin(&out, path, false));
    lz_outfile_pause(&out);
    running = true;
    snprintf(shown_path, sizeof shown_path, "%s", path);
    out.path = shown_path;
    limit = most;
    atomic_store(&nevent, 0);
    atomic_store(&ndropped, 0);
    atomic_store(&warned, false);
    began_wall_ns = lz_wall_ns();
    began_ns = lz_now_ns();
    atomic_store(&lz_timeline_state_now, LZ_TIMELINE_ON);
    return LZ_OK;
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
        lz_mutex_lock(&lock);
        s = begin(path, LZ_TIMELINE_EVENTS);
        asked = s == LZ_OK;
        lz_mutex_unlock(&lock);
        if (s != LZ_OK)
            LZ_WARN("trace", "LAZULI_TRACE: %s", lz_error_get()->message);
    }
    return s == LZ_OK;
}

lz_status lz_timeline_start(const char *path, uint64_t most)
{
    (void)lz_timeline_on(); /* LAZULI_TRACE goes first */
    lz_once_run(&armed, arm);
    lz_mutex_lock(&lock);
    lz_status s = begin(path, most);
    lz_mutex_unlock(&lock);
    return s;
}

lz_status lz_timeline_stop(void)
{
    tell_hooks();
    lz_mutex_lock(&lock);
    lz_status s = !running ? LZ_FAIL(LZ_ESTATE, "no trace runs")
                  : asked  ? LZ_FAIL(LZ_ESTATE, "LAZULI_TRACE traces until the process ends")
                           : end();
    lz_mutex_unlock(&lock);
    return s;
}
