/* events.c - see events.h. */
#include "runtime/debug/events.h"
#include "base/config.h"
#include "base/formats/json.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/timeline/timeline.h"
#include "runtime/debug/frames.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Atomic int lz_events_state;

struct lz_execution_event {
    lz_buf text; /* the line as far as it is known */
};

static void at_exit(void);

bool lz_events_ask(void)
{
    const char *path = lz_cfg_str(LZ_OPT_PT_XLA_DEBUG_FILE);
    int was = 0;
    bool on = lz_analysis_file_is_json(path);
    if (on)
        atomic_store(&lz_event_times, true);
    if (atomic_compare_exchange_strong(&lz_events_state, &was, on ? 2 : 1) && on)
        (void)atexit(at_exit);
    return on;
}

/* ---- lines ---- */

static void put_ms(lz_buf *b, const char *key, double ns)
{
    lz_buf_printf(b, "\"%s\":%.6f,", key, ns > 0 ? ns * 1e-6 : 0);
}

static void put_text(lz_buf *b, const char *key, const char *text)
{
    lz_buf_printf(b, "\"%s\":", key);
    lz_buf_json_text(b, text);
    lz_buf_putc(b, ',');
}

/* Takes the comma back that is behind the last member. */
static void close_with(lz_buf *b, const char *bracket)
{
    if (b->len && b->data[b->len - 1] == ',')
        b->len--;
    lz_buf_puts(b, bracket);
}

static void begin(lz_buf *b, const char *event)
{
    int64_t now = lz_wall_ns();
    lz_buf_printf(b, "{\"v\":%d,\"event\":\"%s\",\"time\":%" PRId64 ".%06d,\"pid\":%d,\"tid\":%d,",
                  LZ_EVENTS_VERSION, event, now / 1000000000, (int)(now / 1000 % 1000000),
                  (int)getpid(), (int)gettid());
}

static void finish(lz_buf *b)
{
    const char *path = lz_cfg_str(LZ_OPT_PT_XLA_DEBUG_FILE);
    close_with(b, "}\n");
    int error = b->failed ? ENOMEM : lz_file_append(path, b->data, b->len, false);
    if (error)
        LZ_WARN_ONCE("events", "PT_XLA_DEBUG_FILE %s: an event is missing: %s", path,
                     strerrordesc_np(error));
    lz_buf_free(b);
}

static const char *cause_name(lz_sync_cause c)
{
    static const char *const name[] = {[LZ_CAUSE_STEP] = "step",
                                       [LZ_CAUSE_READ] = "read",
                                       [LZ_CAUSE_SYNC] = "sync",
                                       [LZ_CAUSE_FLUSH] = "flush",
                                       [LZ_CAUSE_FUNCTION] = "function"};
    return name[c];
}

static bool put_frame(const lz_stack_frame *f, void *user)
{
    lz_buf *b = user;
    lz_buf_putc(b, '{');
    put_text(b, "function", f->site ? f->site->func : f->name);
    if (f->site) {
        put_text(b, "file", f->site->file);
        lz_buf_printf(b, "\"line\":%d,", f->site->line);
    } else {
        put_text(b, "module", f->module);
        lz_buf_printf(b, "\"offset\":%" PRIuPTR ",", f->offset);
    }
    close_with(b, "},");
    return true;
}

static void put_frames(lz_buf *b)
{
    lz_buf_puts(b, "\"frames\":[");
    lz_frames_each(put_frame, b);
    close_with(b, "],");
}

static void put_site(lz_buf *b, const char *key, const lz_site *s)
{
    if (!s || !s->file)
        return;
    lz_buf_printf(b, "\"%s\":{", key);
    put_text(b, "function", s->func);
    put_text(b, "file", s->file);
    lz_buf_printf(b, "\"line\":%d},", s->line);
}

static void put_graph(lz_buf *b, const lz_program *p)
{
    char hash[33];
    put_text(b, "graph", lz_hash_text(p->hash, hash));
    if (p->name)
        put_text(b, "name", p->name);
    lz_buf_printf(b, "\"nodes\":%u,\"inputs\":%u,\"outputs\":%u,", p->nnode, p->nparam, p->nresult);
}

/* ---- programs ---- */

static void put_difference(lz_buf *b, const lz_difference *d)
{
    char hash[33];
    lz_buf_puts(b, "\"difference\":{");
    put_text(b, "kind", lz_difference_name(d->kind));
    put_text(b, "text", d->text);
    if (d->kind != LZ_DIFFERS_FIRST)
        put_text(b, "nearest", lz_hash_text(d->nearest, hash));
    put_site(b, "is", d->is);
    put_site(b, "was", d->was);
    close_with(b, "},");
}

static void put_memory(lz_buf *b, const lz_exec_info *i)
{
    lz_buf_printf(b,
                  "\"memory\":{\"inputs\":%" PRIu64 ",\"outputs\":%" PRIu64 ",\"aliased\":%" PRIu64
                  ",\"temporaries\":%" PRIu64 ",\"code\":%" PRIu64 "},",
                  i->argument_bytes, i->output_bytes, i->alias_bytes, i->temp_bytes, i->code_bytes);
}

static void put_kernels(lz_buf *b, const lz_exec_info *i)
{
    char hash[33];
    lz_buf_puts(b, "\"kernels\":[");
    for (uint32_t k = 0; i->outcome && k < i->kernels; k++) {
        const lz_kernel_outcome *o = &i->outcome[k];
        lz_buf_putc(b, '{');
        put_text(b, "name", o->name);
        put_text(b, "hash", lz_hash_text(o->hash, hash));
        put_text(b, "from", o->from);
        put_ms(b, "ms", o->ms * 1e6);
        close_with(b, "},");
    }
    close_with(b, "],");
}

/* Kernels are compiled on several threads: codegen and link are sums, kernels is what passed. */
static void put_times(lz_buf *b, const lz_exec_info *i, const lz_watch *w)
{
    double codegen = 0, link = 0;
    for (uint32_t k = 0; i->outcome && k < i->kernels; k++) {
        codegen += i->outcome[k].ms - i->outcome[k].link_ms;
        link += i->outcome[k].link_ms;
    }
    lz_buf_puts(b, "\"times_ms\":{");
    put_ms(b, "trace", (double)w->times.trace_ns);
    put_ms(b, "hash", (double)w->times.hash_ns);
    put_ms(b, "lookup", (double)w->program.lookup_ns);
    put_ms(b, "disk", (double)w->program.disk_ns);
    put_ms(b, "compile", (double)w->program.compile_ns);
    put_ms(b, "partition", i->partition_ms * 1e6);
    put_ms(b, "lower", i->lower_ms * 1e6);
    put_ms(b, "kernels", i->kernels_ms * 1e6);
    put_ms(b, "codegen", codegen * 1e6);
    put_ms(b, "link", link * 1e6);
    close_with(b, "},");
}

/* What a program is that was compiled, or read from disk. */
static void put_program(lz_buf *b, const lz_program *p, const lz_watch *w)
{
    static const lz_difference unknown = {.text = "there was no memory to compare it"};
    lz_exec_info i;
    p->be->exec_info(p->exec, &i);
    put_text(b, "cause", cause_name(w->cause));
    put_difference(b, w->graph ? &w->graph->why : &unknown);
    put_times(b, &i, w);
    put_kernels(b, &i);
    put_memory(b, &i);
    put_frames(b);
}

static void begin_look(lz_buf *b, const lz_program *p, const char *where, const char *outcome,
                       int64_t ns)
{
    begin(b, "cache");
    put_text(b, "where", where);
    put_text(b, "outcome", outcome);
    put_graph(b, p);
    put_ms(b, "ms", (double)ns);
}

/* How the program of a graph was found: in memory, on disk, or by compiling it. */
static void write_found(const lz_watch *w, const lz_program *p, lz_found found)
{
    const lz_program_watch *pw = &w->program;
    lz_buf b = {0};
    begin_look(&b, p, "memory", found == LZ_FOUND_MEMORY ? "hit" : "miss", pw->lookup_ns);
    finish(&b);
    if (found != LZ_FOUND_MEMORY && pw->disk) {
        begin_look(&b, p, "disk", pw->disk, pw->disk_ns);
        if (found == LZ_FOUND_DISK)
            put_program(&b, p, w);
        finish(&b);
    }
    if (found != LZ_FOUND_COMPILED)
        return;
    begin(&b, "compilation");
    put_graph(&b, p);
    put_program(&b, p, w);
    finish(&b);
}

/* ---- for whoever finds programs ---- */

static void on_miss(const lz_capture *c, lz_hash hash, uint32_t nparam, uint32_t nresult,
                    void *user)
{
    lz_watch *w = user;
    LZ_QUIETLY {
        w->graph = w->graph ? w->graph : lz_alloc(sizeof *w->graph);
        if (w->graph)
            lz_analysis_new_graph(c, hash, nparam, nresult, w->cause, w->graph);
    }
}

static void on_compilation(void *user)
{
    const lz_watch *w = user;
    if (w->graph)
        LZ_QUIETLY
            lz_analysis_compilation(w->graph);
}

lz_program_watch *lz_watch_start(lz_watch *w, lz_sync_cause cause)
{
    w->cause = cause;
    if (!lz_analysis_on() && !lz_events_on() && !lz_timeline_on())
        return NULL;
    w->program.missed = on_miss;
    w->program.compiles = on_compilation;
    w->program.user = w;
    return &w->program;
}

/* Diagnostics; their failures are no failure of the program. */
void lz_watch_found(const lz_watch *w, const lz_program *p, lz_found found)
{
    bool analyse = lz_analysis_on(), events = lz_events_on();
    LZ_QUIETLY {
        if (analyse && found == LZ_FOUND_DISK && w->graph)
            lz_analysis_cache(w->graph, p);
        if (analyse && found != LZ_FOUND_MEMORY)
            lz_analysis_post_compilation(p);
        if (analyse && found == LZ_FOUND_COMPILED)
            lz_analysis_took(LZ_METRIC_CompileTime, lz_thread_state_self->api_site,
                             (double)w->program.compile_ns);
        if (analyse && w->cause != LZ_CAUSE_FUNCTION) /* that is traced, and not run */
            lz_analysis_execution(p, w->cause);
        if (events)
            write_found(w, p, found);
    }
}

/* ---- executions ---- */

lz_execution_event *lz_execution_event_new(const lz_watch *w, const lz_program *p, lz_found found,
                                           const char *device)
{
    static const char *const where[] = {"memory", "disk", "compiled"};
    lz_execution_event *e = NULL;
    LZ_QUIETLY
        e = lz_calloc(1, sizeof *e);
    if (!e)
        return NULL;
    begin(&e->text, "execution");
    put_text(&e->text, "cause", cause_name(w->cause));
    put_text(&e->text, "device", device);
    put_text(&e->text, "program", where[found]);
    put_graph(&e->text, p);
    put_frames(&e->text);
    lz_buf_puts(&e->text, "\"times_ms\":{");
    put_ms(&e->text, "trace", (double)w->times.trace_ns);
    put_ms(&e->text, "hash", (double)w->times.hash_ns);
    put_ms(&e->text, "lookup", (double)w->program.lookup_ns);
    return e;
}

void lz_events_drop(lz_execution_event *e)
{
    if (!e)
        return;
    lz_buf_free(&e->text);
    lz_free(e);
}

void lz_events_executed(lz_execution_event *e, int64_t launched_ns, const lz_event *done,
                        const lz_error *error)
{
    if (!e)
        return;
    lz_buf *b = &e->text;
    bool over = lz_event_done(done);
    if (over) {
        int64_t end = lz_event_completed_ns(done), began = lz_event_began_ns(done);
        began = began ? began : launched_ns; /* the device has no queue of ours */
        put_ms(b, "queue", (double)(began - launched_ns));
        put_ms(b, "run", (double)(end - began));
    }
    close_with(b, "},");
    put_text(b, "status", !over ? "running" : error ? lz_status_name(error->status) : "LZ_OK");
    if (over && error)
        put_text(b, "error", error->message);
    finish(b);
    lz_free(e);
}

/* Those that nobody has seen finished, some of which may not be. */
static void at_exit(void)
{
    lz_dev *d;
    for (uint32_t i = 0; !lz_fork_happened() && (d = lz_dev_at(i)); i++) {
        if (!lz_mutex_trylock(&d->step))
            continue; /* another thread steps on */
        for (uint32_t k = 0; k < d->flight_len; k++) {
            lz_flight *f = &d->flight[(d->flight_head + k) % LZ_DEV_FLIGHTS];
            const lz_error *error = lz_event_done(f->done) ? lz_event_failure(f->done) : NULL;
            lz_events_executed(f->event, f->start_ns, f->done, error);
            f->event = NULL;
        }
        lz_dev_unlock(d);
    }
}

/* ---- reads ---- */

void lz_events_read(const lz_read_event *r)
{
    lz_buf b = {0};
    if (!r->start_ns || !lz_events_on())
        return;
    begin(&b, "read");
    put_text(&b, "device", r->device);
    lz_buf_printf(&b, "\"bytes\":%zu,\"computed\":%s,", r->nbytes, r->computed ? "true" : "false");
    put_ms(&b, "ms", (double)(lz_now_ns() - r->start_ns));
    put_frames(&b);
    finish(&b);
}
