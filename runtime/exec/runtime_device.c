/* runtime_device.c - devices of the runtime, and the public calls about them. See
 * runtime_device.h. */
#include "runtime/exec/runtime_device.h"
#include "runtime/exec/auto_spmd.h"
#include "lower/lower_dump.h"
#include "base/config.h"
#include "base/log.h"
#include "base/text.h"
#include "base/timeline/timeline.h"
#include "runtime/debug/events.h"
#include "runtime/debug/metrics.h"
#include "runtime/exec/live_report.h"
#include "runtime/debug/profile_report.h"
#include "runtime/graph/thread_state.h"
#include "runtime/watch/server.h"
#include "runtime/graph/node.h"
#include <lazuli/device.h>
#include <lazuli/spmd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static lz_mutex table_lock = LZ_MUTEX_INIT("runtime_device");
static _Atomic(lz_dev *) table[LZ_DEV_MAX];
static _Atomic uint32_t ndevs;
static _Atomic(lz_dev *) process_default;

/* The table of backends refers to them weakly; these references make the linker include all of them
 * with the runtime. */
#define BACKEND(NAME, symbol, doc) extern const lz_backend symbol;
#include "backends/backends.def"
#undef BACKEND
__attribute__((used)) static const lz_backend *const linked[] = {
#define BACKEND(NAME, symbol, doc) &symbol,
#include "backends/backends.def"
#undef BACKEND
};

lz_dev *lz_dev_at(uint32_t i)
{
    return i < atomic_load(&ndevs) ? atomic_load(&table[i]) : NULL;
}

lz_status lz_dev_world(const lz_dev *d, int *n, int *first)
{
    *first = 0;
    if (d->be->world)
        return d->be->world(n, first);
    *n = d->be->device_count();
    return *n >= 0 ? LZ_OK : lz_error_get()->status;
}

/* ---- finding ---- */

static const char *default_platform(void)
{
    const char *p = lz_cfg_str(LZ_OPT_PJRT_DEVICE);
    if (lz_cfg_bool(LZ_OPT_USE_SPMD) || lz_cfg_bool(LZ_OPT_AUTO_SPMD))
        return "SPMD";
    return p[0] ? p : linked[0]->name;
}

/* Splits "CPU:1" into its backend and ordinal. */
static lz_status parse_name(const char *name, const lz_backend **be, int *ordinal)
{
    const char *colon = strchr(name, ':');
    uint64_t o = 0;
    if (colon && lz_text_u64(colon + 1, strlen(colon + 1), 10, 1 << 20, &o) != LZ_OK)
        return LZ_FAIL(LZ_EINVAL, "device \"%s\": not PLATFORM:ordinal", name);
    *be = lz_backend_of(name);
    if (!*be) {
        char known[128] = "";
        for (uint32_t i = 0; lz_backend_at(i); i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                     lz_backend_at(i)->name);
        return LZ_FAIL(LZ_ENOENT, "device \"%s\": there is no such platform (there are %s)", name,
                       known);
    }
    *ordinal = (int)o;
    return LZ_OK;
}

static lz_dev *make_locked(const lz_backend *be, int ordinal)
{
    uint32_t n = atomic_load(&ndevs);
    for (uint32_t i = 0; i < n; i++) {
        lz_dev *d = atomic_load(&table[i]);
        if (d->be == be && d->ordinal == ordinal)
            return d;
    }
    lz_dev *d = n < LZ_DEV_MAX ? lz_calloc(1, sizeof *d) : NULL;
    if (!d) {
        LZ_FAIL(LZ_EMEM, "no memory for device %s:%d", be->name, ordinal);
        return NULL;
    }
    d->be = be;
    d->backend = (uint32_t)lz_backend_index(be);
    d->ordinal = ordinal;
    snprintf(d->name, sizeof d->name, "%s:%d", be->name, ordinal);
    be->key(ordinal, &d->key);
    if (d->key.failed) {
        lz_buf_free(&d->key);
        lz_free(d);
        LZ_FAIL(LZ_EMEM, "no memory for the key of device %s:%d", be->name, ordinal);
        return NULL;
    }
    lz_mutex_init_recursive(&d->step, "step");
    lz_mutex_init(&d->rng_lock, "rng");
    atomic_store(&table[n], d);
    atomic_store(&ndevs, n + 1);
    if (n == 0) {
        lz_profile_at_exit();
        lz_live_at_exit();
    }
    return d;
}

static lz_dev *get(const lz_backend *be, int ordinal)
{
    if (lz_fork_check() != LZ_OK || be->init() != LZ_OK)
        return NULL;
    lz_fork_arm();
    int count = be->device_count();
    if (ordinal >= count) {
        LZ_FAIL(LZ_ENOENT, "device %s:%d: there are %d", be->name, ordinal, count);
        return NULL;
    }
    lz_mutex_lock(&table_lock);
    lz_dev *d = make_locked(be, ordinal);
    lz_mutex_unlock(&table_lock);
    lz_server_ask();
    return d;
}

lz_dev *lz_dev_find(const char *name)
{
    const lz_backend *be;
    int ordinal;
    return parse_name(name, &be, &ordinal) == LZ_OK ? get(be, ordinal) : NULL;
}

static void check_options(void)
{
    lz_config_check_unknown();
    lz_lower_check_names();
}

lz_dev *lz_dev_current(void)
{
    lz_thread_state *t = lz_thread_state_get();
    if (!t)
        return NULL;
    if (t->dev)
        return t->dev;
    lz_dev *d = atomic_load(&process_default);
    if (d)
        return d;
    static lz_once once = LZ_ONCE_INIT;
    lz_once_run(&once, check_options);
    d = lz_dev_find(default_platform());
    if (d)
        atomic_store(&process_default, d);
    return d;
}

/* The thread's default device becomes d (NULL: the process's). The backend hears when the last
 * thread that had chosen a device ends. */
static void choose(lz_thread_state *t, lz_dev *d, bool ends)
{
    lz_dev *was = t->dev;
    if (was == d)
        return;
    t->dev = d;
    if (d && atomic_fetch_add(&d->chosen, 1) == 0 && d->be->leave)
        d->be->leave(d->ordinal, false);
    if (was && atomic_fetch_sub(&was->chosen, 1) == 1 && ends && was->be->leave)
        was->be->leave(was->ordinal, true);
}

static void thread_ends(lz_thread_state *t)
{
    choose(t, NULL, true);
}

lz_dev *lz_dev_of_buffer(const lz_device_buffer *b)
{
    const lz_backend *be = lz_backend_at(b->backend);
    return be ? get(be, (int)b->device) : NULL;
}

/* ---- locking and work in flight ---- */

static void note_wait(const lz_dev *d, const char *what, int64_t t0)
{
    int64_t ns = lz_now_ns() - t0;
    lz_metric_add(LZ_METRIC_DeviceLockWait, (double)ns);
    lz_timeline_note(t0, ns, .name = "wait for the device's lock", .category = "wait",
                     .text_key = "why", .text = what, .more = {{"device", d->name}});
}

void lz_dev_lock(lz_dev *d)
{
    if (lz_mutex_trylock(&d->step))
        return;
    int64_t t0 = lz_now_ns();
    lz_mutex_lock(&d->step);
    note_wait(d, "another thread's step", t0);
}

void lz_dev_unlock(lz_dev *d)
{
    lz_mutex_unlock(&d->step);
}

void lz_trace_lock(lz_dev *d)
{
    lz_thread_state *t = lz_thread_state_self;
    lz_dev_lock(d);
    if (t) {
        t->locked++;
        t->walks++;
    }
}

void lz_trace_unlock(lz_dev *d)
{
    lz_thread_state *t = lz_thread_state_self;
    if (t && t->walks) {
        t->locked--;
        t->walks--;
    }
    lz_dev_unlock(d);
}

/* Removes the oldest entry of the ring and keeps its error. */
static void land(lz_dev *d)
{
    lz_flight *f = &d->flight[d->flight_head];
    const lz_error *err = lz_event_failure(f->done);
    if (err && d->error.status == LZ_OK)
        d->error = *err;
    if (lz_event_done(f->done)) { /* it is not in a forked child */
        int64_t end_ns = lz_event_completed_ns(f->done);
        lz_metric_add_at(LZ_METRIC_ExecuteTime, (double)(end_ns - f->start_ns), end_ns);
        lz_analysis_took(LZ_METRIC_ExecuteTime, f->site, (double)(end_ns - f->start_ns));
    }
    lz_events_executed(f->event, f->start_ns, f->done, err);
    lz_event_release(f->done);
    d->flight_head = (d->flight_head + 1) % LZ_DEV_FLIGHTS;
    d->flight_len--;
    atomic_store_explicit(&d->flying, d->flight_len, memory_order_relaxed);
}

void lz_dev_reap(lz_dev *d)
{
    while (d->flight_len && lz_event_done(d->flight[d->flight_head].done))
        land(d);
}

lz_status lz_dev_may_wait(void)
{
    if (__builtin_expect(!lz_queue_is_running(), 1))
        return LZ_OK;
    return LZ_FAIL(LZ_ESTATE, "the device's own thread would wait for itself: functions that it "
                              "calls (release functions, deleters, custom calls) compute nothing "
                              "and wait for no device");
}

lz_status lz_dev_may_wait_for(const lz_device_buffer *b)
{
    return !b->ready || lz_event_done(b->ready) ? LZ_OK : lz_dev_may_wait();
}

/* The work that is `before` the last one in flight, retained; NULL: there are not so many. */
static lz_event *in_flight(lz_dev *d, uint32_t before)
{
    lz_dev_lock(d);
    lz_event *e = NULL;
    if (d->flight_len > before) {
        uint32_t at = d->flight_head + d->flight_len - 1 - before;
        e = d->flight[at % LZ_DEV_FLIGHTS].done;
        lz_event_retain(e);
    }
    lz_dev_unlock(d);
    return e;
}

/* Its error is kept for lz_dev_reap. */
static void wait_in_flight(lz_event *e)
{
    LZ_QUIETLY {
        (void)lz_event_wait(e);
    }
    lz_event_release(e);
}

void lz_dev_settle(lz_dev *d)
{
    if (!lz_queue_is_running())
        wait_in_flight(in_flight(d, 0));
}

void lz_dev_make_room(lz_dev *d)
{
    if (atomic_load_explicit(&d->flying, memory_order_relaxed) < LZ_DEV_INFLIGHT ||
        lz_queue_is_running())
        return;
    int64_t t0 = lz_now_ns();
    wait_in_flight(in_flight(d, LZ_DEV_INFLIGHT - 1));
    note_wait(d, "too many graphs in flight", t0);
    lz_dev_lock(d);
    lz_dev_reap(d);
    lz_dev_unlock(d);
}

void lz_dev_fly(lz_dev *d, lz_event *done, int64_t start_ns, lz_execution_event *event)
{
    const lz_thread_state *t = lz_thread_state_self;
    if (d->flight_len == LZ_DEV_FLIGHTS)
        land(d);
    d->flight[(d->flight_head + d->flight_len++) % LZ_DEV_FLIGHTS] =
        (lz_flight){done, start_ns, t ? t->api_site : NULL, event};
    atomic_store_explicit(&d->flying, d->flight_len, memory_order_relaxed);
}

lz_status lz_dev_take_error(lz_dev *d)
{
    if (d->error.status == LZ_OK)
        return LZ_OK;
    lz_error_set(&d->error);
    d->error.status = LZ_OK;
    return lz_error_get()->status;
}

lz_status lz_dev_scalar(lz_dev *d, const lz_type *type, const void *bytes, lz_device_buffer **out)
{
    uint64_t v[2] = {0, 0};
    memcpy(v, bytes, type->nbytes);
    uint64_t h = (v[0] ^ v[1] * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)type) *
                 UINT64_C(0xd6e8feb86659fd93);
    lz_scalar_copy *c = &d->scalar[h >> 60];
    if (c->buf && c->type == type && memcmp(c->bytes, v, sizeof v) == 0) {
        lz_device_buffer_retain(c->buf);
        *out = c->buf;
        return LZ_OK;
    }
    LZ_TRY(d->be->alloc(d->ordinal, type->nbytes, out));
    lz_status s = d->be->copy_in(*out, v, type->nbytes);
    if (s != LZ_OK) {
        lz_device_buffer_release(*out);
        *out = NULL;
        return s;
    }
    lz_device_buffer_release(c->buf);
    lz_device_buffer_retain(*out);
    c->buf = *out;
    c->type = type;
    memcpy(c->bytes, v, sizeof v);
    return LZ_OK;
}

/* ---- random numbers ---- */

lz_rng lz_dev_rng_draw(lz_dev *d, uint64_t blocks)
{
    lz_mutex_lock(&d->rng_lock);
    const lz_thread_state *self = lz_thread_state_self;
    uint32_t serial = self ? self->serial : 0;
    if (d->rng_owner != serial) /* what others drew before counts */
        d->rng_before = d->rng;
    d->rng_owner = serial;
    lz_rng r = d->rng;
    d->rng.counter += blocks;
    lz_mutex_unlock(&d->rng_lock);
    return r;
}

void lz_dev_rng_set(lz_dev *d, lz_rng r)
{
    lz_mutex_lock(&d->rng_lock);
    d->rng = d->rng_before = r;
    d->rng_owner = 0;
    lz_mutex_unlock(&d->rng_lock);
}

void lz_dev_rng_undo(lz_dev *d, lz_rng is, lz_rng was)
{
    lz_mutex_lock(&d->rng_lock);
    if (d->rng.seed == is.seed && d->rng.counter == is.counter)
        d->rng = was;
    lz_mutex_unlock(&d->rng_lock);
}

lz_rng lz_dev_rng_get(lz_dev *d)
{
    lz_mutex_lock(&d->rng_lock);
    lz_rng r = d->rng;
    lz_mutex_unlock(&d->rng_lock);
    return r;
}

lz_rng lz_dev_rng_stepped(lz_dev *d)
{
    lz_mutex_lock(&d->rng_lock);
    const lz_thread_state *self = lz_thread_state_self;
    bool elsewhere = d->rng_owner && (!self || d->rng_owner != self->serial) &&
                     lz_thread_state_lives(d->rng_owner);
    lz_rng r = elsewhere ? d->rng_before : d->rng;
    lz_mutex_unlock(&d->rng_lock);
    return r;
}

void lz_dev_rng_step(lz_dev *d, uint32_t serial)
{
    lz_mutex_lock_leaf(&d->rng_lock);
    if (d->rng_owner == serial)
        d->rng_owner = 0;
    lz_mutex_unlock_leaf(&d->rng_lock);
}

/* ---- public ---- */

static size_t copy_text(const char *s, char *buf, size_t n)
{
    if (buf && n)
        snprintf(buf, n, "%s", s);
    return strlen(s);
}

int lz_device_count(const char *platform)
{
    LZ_PUBLIC(-1);
    const lz_backend *be;
    int ordinal;
    if (lz_fork_check() == LZ_OK &&
        parse_name(platform ? platform : default_platform(), &be, &ordinal) == LZ_OK &&
        be->init() == LZ_OK)
        return be->device_count();
    lz_error_annotate("lz_device_count", NULL);
    return -1;
}

lz_status lz_set_device(const char *name)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    lz_dev *d = NULL;
    if (!t || (name && !(d = lz_dev_find(name)))) {
        lz_error_annotate("lz_set_device", NULL);
        return lz_error_get()->status;
    }
    lz_thread_state_at_end(thread_ends);
    choose(t, d, false);
    return LZ_OK;
}

lz_status lz_use_spmd_at(const lz_use_spmd_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    bool given = o && o->struct_size >= sizeof *o;
    lz_thread_state *t = lz_thread_state_get();
    lz_dev *d = t ? lz_dev_find("SPMD") : NULL;
    if (!d || lz_auto_spmd_set(d, given && o->auto_sharding, given ? o->mesh : NULL) != LZ_OK) {
        lz_error_annotate("lz_use_spmd", site);
        return lz_error_get()->status;
    }
    if (atomic_load(&process_default) && atomic_load(&process_default) != d)
        LZ_WARN("spmd",
                "lz_use_spmd is called after the first operation: tensors that are on %s "
                "are moved when they are marked (lz_mark_sharding)",
                atomic_load(&process_default)->name);
    atomic_store(&process_default, d);
    return LZ_OK;
}

bool lz_is_spmd(void)
{
    LZ_PUBLIC(false);
    const lz_dev *d = lz_dev_current();
    return d && d->be->partitions;
}

size_t lz_get_device(char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_dev *d = lz_dev_current();
    if (!d)
        lz_error_annotate("lz_get_device", NULL);
    return copy_text(d ? d->name : "", buf, n);
}

size_t lz_device_kind(const char *name, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_dev *d = name ? lz_dev_find(name) : lz_dev_current();
    lz_device_info info;
    if (!d || d->be->device_info(d->ordinal, &info) != LZ_OK) {
        lz_error_annotate("lz_device_kind", NULL);
        return copy_text("", buf, n);
    }
    return copy_text(info.kind, buf, n);
}

lz_status lz_get_memory_info(const char *device, lz_memory_info *out)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = LZ_OK;
    lz_device_info info;
    lz_dev *d = NULL;
    if (!out)
        s = LZ_FAIL(LZ_ENULL, "out is NULL");
    else if (!(d = device ? lz_dev_find(device) : lz_dev_current()))
        s = lz_error_get()->status;
    else
        s = d->be->device_info(d->ordinal, &info);
    if (s != LZ_OK) {
        lz_error_annotate("lz_get_memory_info", NULL);
        return s;
    }
    *out = (lz_memory_info){info.memory_used, info.memory_limit, info.memory_peak};
    return LZ_OK;
}

lz_status lz_set_num_threads(int n)
{
    LZ_PUBLIC(LZ_EFORK);
    char text[16];
    lz_status s = LZ_OK;
    if (n < 0 || n > 1024)
        s = LZ_FAIL(LZ_EINVAL, "%d threads: 0 to 1024 are allowed", n);
    else if (atomic_load(&ndevs) && n != lz_get_num_threads() &&
             !(n == 0 && !lz_cfg_is_set(LZ_OPT_NUM_THREADS)))
        s = LZ_FAIL(LZ_ESTATE,
                    "the device has started with %d threads: call it before the first operation",
                    lz_get_num_threads());
    if (s == LZ_OK) {
        snprintf(text, sizeof text, "%d", n);
        s = lz_config_set("LAZULI_NUM_THREADS", text);
    }
    if (s != LZ_OK)
        lz_error_annotate("lz_set_num_threads", NULL);
    return s;
}

int lz_get_num_threads(void)
{
    LZ_PUBLIC(1);
    int64_t n = lz_cfg_int(LZ_OPT_NUM_THREADS);
    return n > 0 ? (int)n : lz_num_cores();
}

const char *lz_version(void)
{
    return LZ_STR(LZ_VERSION_MAJOR) "." LZ_STR(LZ_VERSION_MINOR) "." LZ_STR(LZ_VERSION_PATCH);
}
