/* metrics.c - counters, metrics and their report in PyTorch/XLA's format. See metrics.h,
 * metrics.def. */
#include "runtime/debug/metrics.h"
#include "backends/backend.h"
#include "backends/common/collective_totals.h"
#include "base/config.h"
#include "base/thread.h"
#include "runtime/graph/thread_state.h"
#include "runtime/graph/node.h"
#include <inttypes.h>
#include <lazuli/debug.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum metric_unit { TIME, BYTES, VALUE } metric_unit;
typedef struct sample {
    int64_t at_ns; /* lz_now_ns */
    double value;
} sample;
typedef struct metric {
    const char *name;
    metric_unit unit;
    lz_mutex lock;
    atomic_bool begun; /* there is a ring */
    sample *ring;      /* the last `cap` samples; NULL until the first, or without memory */
    uint32_t cap;
    uint64_t total; /* samples since the last clearing */
    double sum;
} metric;

static metric metrics[LZ_METRIC_COUNT] = {
#define METRIC(name, unit, doc) {#name, unit, LZ_MUTEX_INIT("metrics"), false, NULL, 0, 0, 0},
#include "runtime/debug/metrics.def"
};
static const char *const counter_name[LZ_COUNTER_COUNT] = {
#define COUNTER(name, doc) #name,
#include "runtime/debug/metrics.def"
};
_Atomic int64_t lz_counters[LZ_COUNTER_COUNT];
/* At the last clearing: handles made and destroyed, products by libraries. */
static _Atomic uint64_t handles_base[2], products_base, jit_base;
/* Kinds of collectives, and what has run of each at the last clearing. */
static struct {
    lz_op op;
    lz_counter_id runs, bytes;
    _Atomic uint64_t runs_base, bytes_base;
} collectives[] = {
#define COLLECTIVE(name, op, text)                                                                 \
    {LZ_OP_##op, LZ_COUNTER_Collective##name, LZ_COUNTER_Collective##name##Bytes, 0, 0},
#include "runtime/debug/metrics.def"
};
static _Atomic int64_t took_base, waited_base; /* nanoseconds at the last clearing */
enum { COLLECTIVES = (int)(sizeof collectives / sizeof *collectives) };

static void make_ring(metric *m)
{
    lz_mutex_lock(&m->lock);
    if (!m->ring) {
        m->cap = (uint32_t)lz_cfg_int(LZ_OPT_METRICS_SAMPLES);
        m->ring = lz_alloc(m->cap * sizeof *m->ring);
    }
    atomic_store_explicit(&m->begun, m->ring != NULL, memory_order_release);
    lz_mutex_unlock(&m->lock);
}

void lz_metric_add(lz_metric_id id, double value)
{
    lz_metric_add_at(id, value, lz_now_ns());
}

void lz_metric_add_at(lz_metric_id id, double value, int64_t now_ns)
{
    metric *m = &metrics[id];
    if (__builtin_expect(!atomic_load_explicit(&m->begun, memory_order_acquire), 0))
        make_ring(m);
    lz_mutex_lock_leaf(&m->lock);
    if (m->ring)
        m->ring[m->total % m->cap] = (sample){now_ns, value};
    m->total++;
    m->sum += value;
    lz_mutex_unlock_leaf(&m->lock);
}

static uint32_t retained(const metric *m)
{
    return !m->ring ? 0 : m->total < m->cap ? (uint32_t)m->total : m->cap;
}

uint64_t lz_metric_samples(lz_metric_id id, double *sum, double *largest)
{
    metric *m = &metrics[id];
    lz_mutex_lock(&m->lock);
    uint64_t n = m->total;
    if (sum)
        *sum = m->sum;
    if (largest) {
        *largest = 0;
        for (uint32_t i = 0; i < retained(m); i++)
            *largest = fmax(*largest, m->ring[i].value);
    }
    lz_mutex_unlock(&m->lock);
    return n;
}

/* ---- counters ---- */

static uint64_t library_products(void)
{
    uint64_t n = 0;
    const lz_backend *b;
    for (uint32_t i = 0; (b = lz_backend_at(i)); i++)
        n += b->library_products ? b->library_products() : 0;
    return n;
}

static uint64_t jit_kernels(void)
{
    uint64_t n = 0;
    const lz_backend *b;
    for (uint32_t i = 0; (b = lz_backend_at(i)); i++)
        n += b->jit_kernels ? b->jit_kernels() : 0;
    return n;
}

static void update_collectives(void)
{
    for (int i = 0; i < COLLECTIVES; i++) {
        lz_collective_total t = lz_collective_total_of(collectives[i].op);
        atomic_store(&lz_counters[collectives[i].runs],
                     (int64_t)(t.runs - atomic_load(&collectives[i].runs_base)));
        atomic_store(&lz_counters[collectives[i].bytes],
                     (int64_t)(t.bytes - atomic_load(&collectives[i].bytes_base)));
    }
    int64_t took, waited;
    lz_collective_times(&took, &waited);
    atomic_store(&lz_counters[LZ_COUNTER_CollectiveMicroseconds],
                 (took - atomic_load(&took_base)) / 1000);
    atomic_store(&lz_counters[LZ_COUNTER_CollectiveWaitMicroseconds],
                 (waited - atomic_load(&waited_base)) / 1000);
}

static void clear_collectives(void)
{
    for (int i = 0; i < COLLECTIVES; i++) {
        lz_collective_total t = lz_collective_total_of(collectives[i].op);
        atomic_store(&collectives[i].runs_base, t.runs);
        atomic_store(&collectives[i].bytes_base, t.bytes);
    }
    int64_t took, waited;
    lz_collective_times(&took, &waited);
    atomic_store(&took_base, took);
    atomic_store(&waited_base, waited);
}

/* Counters that are kept elsewhere. */
static void update_counters(void)
{
    update_collectives();
    uint64_t made, destroyed;
    lz_thread_state_sum_handles(&made, &destroyed);
    atomic_store(&lz_counters[LZ_COUNTER_CreateXlaTensor],
                 (int64_t)(made - atomic_load(&handles_base[0])));
    atomic_store(&lz_counters[LZ_COUNTER_DestroyXlaTensor],
                 (int64_t)(destroyed - atomic_load(&handles_base[1])));
    atomic_store(&lz_counters[LZ_COUNTER_CudaLibProduct],
                 (int64_t)(library_products() - atomic_load(&products_base)));
    atomic_store(&lz_counters[LZ_COUNTER_JitKernels],
                 (int64_t)(jit_kernels() - atomic_load(&jit_base)));
}

typedef struct named_count {
    char name[48];
    int64_t value;
} named_count;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named_count *)a)->name, ((const named_count *)b)->name);
}

/* Every nonzero counter, by name. Gives their number; the caller frees *out with lz_free. */
static size_t collect_counters(named_count **out)
{
    uint64_t ops[LZ_OP_COUNT];
    named_count *c = lz_alloc((LZ_COUNTER_COUNT + LZ_OP_COUNT) * sizeof *c);
    size_t n = 0;
    *out = c;
    if (!c)
        return 0;
    update_counters();
    lz_thread_state_sum_ops(ops);
    for (int i = 0; i < LZ_COUNTER_COUNT; i++)
        if (lz_counter_get((lz_counter_id)i)) {
            snprintf(c[n].name, sizeof c[n].name, "%s", counter_name[i]);
            c[n++].value = lz_counter_get((lz_counter_id)i);
        }
    for (int i = 1; i < LZ_OP_COUNT; i++)
        if (ops[i]) {
            snprintf(c[n].name, sizeof c[n].name, "xla::%s", lz_op_get((lz_op)i)->text);
            c[n++].value = (int64_t)ops[i];
        }
    qsort(c, n, sizeof *c, by_name);
    return n;
}

/* ---- the report ---- */

void lz_metrics_print_time(lz_buf *out, double ns)
{
    static const struct {
        const char *suffix;
        double ns;
        int width, precision;
    } part[] = {{"d", 86400e9, 2, 0}, {"h", 3600e9, 2, 0}, {"m", 60e9, 2, 0},
                {"s", 1e9, 2, 0},     {"ms", 1e6, 3, 0},   {"us", 1e3, 7, 3}};
    bool begun = false;
    for (int i = 0; i < 6; i++) {
        double v = ns / part[i].ns;
        if (i < 5) {
            v = floor(v);
            ns -= v * part[i].ns;
            if (v == 0 && !begun)
                continue;
        }
        begun = true;
        lz_buf_printf(out, "%0*.*f%s", part[i].width, part[i].precision, v, part[i].suffix);
    }
}

static void print_value(lz_buf *out, metric_unit unit, double v)
{
    static const char *const bytes[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    int i = 0;
    if (unit == TIME) {
        lz_metrics_print_time(out, v);
        return;
    }
    for (; unit == BYTES && v >= 1024 && i < 5; i++)
        v /= 1024;
    lz_buf_printf(out, "%.2f%s", v, unit == BYTES ? bytes[i] : "");
}

static int by_value(const void *a, const void *b)
{
    double x = ((const sample *)a)->value, y = ((const sample *)b)->value;
    return (x > y) - (x < y);
}

static void print_percentiles(lz_buf *out, metric_unit unit, sample *s, uint32_t n)
{
    const char *p = lz_cfg_str(LZ_OPT_METRICS_PERCENTILES);
    double q;
    bool first = true;
    qsort(s, n, sizeof *s, by_value);
    lz_buf_puts(out, "  Percentiles: ");
    while (lz_fraction_next(&p, &q)) {
        lz_buf_printf(out, "%s%g%%=", first ? "" : "; ", q * 100);
        print_value(out, unit, s[(uint32_t)(q * n)].value);
        first = false;
    }
    lz_buf_putc(out, '\n');
}

static void print_metric(lz_buf *out, metric *m)
{
    lz_mutex_lock(&m->lock);
    uint32_t n = retained(m);
    uint64_t total = m->total;
    double sum = m->sum, in_ring = 0;
    sample *s = n ? lz_alloc(n * sizeof *s) : NULL;
    if (s)
        for (uint32_t i = 0; i < n; i++) /* oldest first */
            s[i] = m->ring[total < m->cap ? i : (total + i) % m->cap];
    lz_mutex_unlock(&m->lock);
    if (total == 0)
        return;
    lz_buf_printf(out, "Metric: %s\n  TotalSamples: %" PRIu64 "\n  Accumulator: ", m->name, total);
    print_value(out, m->unit, sum);
    lz_buf_putc(out, '\n');
    if (s) {
        double seconds = (double)(s[n - 1].at_ns - s[0].at_ns) / 1e9;
        for (uint32_t i = 0; i < n; i++)
            in_ring += s[i].value;
        if (seconds > 0) {
            lz_buf_puts(out, "  ValueRate: ");
            print_value(out, m->unit, in_ring / seconds);
            lz_buf_printf(out, " / second\n  Rate: %g / second\n", (double)n / seconds);
        }
        print_percentiles(out, m->unit, s, n);
    }
    lz_free(s);
}

static bool in_brief(const char *name)
{
    static const char *const names[] = {"CachedCompile",        "MarkStep",
                                        "CompileTime",          "ExecuteTime",
                                        "TransferToDeviceTime", "TransferFromDeviceTime"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

void lz_metrics_print(lz_buf *out, bool brief)
{
    for (int i = 0; i < LZ_METRIC_COUNT; i++) /* metrics.def is in the order of names */
        if (!brief || in_brief(metrics[i].name))
            print_metric(out, &metrics[i]);
    named_count *c;
    size_t n = collect_counters(&c);
    for (size_t i = 0; i < n; i++)
        if (!brief || in_brief(c[i].name))
            lz_buf_printf(out, "Counter: %s\n  Value: %" PRId64 "\n", c[i].name, c[i].value);
    lz_free(c);
}

/* ---- public ---- */

size_t lz_metrics_report(char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_buf b = {0};
    lz_metrics_print(&b, false);
    return lz_api_text(&b, buf, n);
}

size_t lz_short_metrics_report(char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_buf b = {0};
    lz_metrics_print(&b, true);
    return lz_api_text(&b, buf, n);
}

int64_t lz_counter_value(const char *name)
{
    LZ_PUBLIC(0);
    named_count *c;
    int64_t v = 0;
    size_t n = name ? collect_counters(&c) : 0;
    if (!name)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(c[i].name, name) == 0)
            v = c[i].value;
    lz_free(c);
    return v;
}

lz_status lz_metric_data(const char *name, lz_metric_summary *out)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = LZ_OK;
    if (!name || !out)
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", name ? "out" : "name");
    for (int i = 0; s == LZ_OK && i < LZ_METRIC_COUNT; i++)
        if (strcmp(metrics[i].name, name) == 0) {
            out->total_samples = lz_metric_samples((lz_metric_id)i, &out->accumulator, NULL);
            return LZ_OK;
        }
    if (s == LZ_OK)
        s = LZ_FAIL(LZ_ENOENT, "there is no metric \"%.60s\"", name);
    lz_error_annotate("lz_metric_data", NULL);
    return s;
}

size_t lz_counter_names(char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_buf b = {0};
    named_count *c;
    size_t k = collect_counters(&c);
    for (size_t i = 0; i < k; i++)
        lz_buf_printf(&b, "%s\n", c[i].name);
    lz_free(c);
    return lz_api_text(&b, buf, n);
}

size_t lz_metric_names(char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_buf b = {0};
    for (int i = 0; i < LZ_METRIC_COUNT; i++)
        if (lz_metric_samples((lz_metric_id)i, NULL, NULL))
            lz_buf_printf(&b, "%s\n", metrics[i].name);
    return lz_api_text(&b, buf, n);
}

void lz_clear_counters(void)
{
    LZ_PUBLIC();
    uint64_t made, destroyed;
    for (int i = 0; i < LZ_COUNTER_COUNT; i++)
        atomic_store(&lz_counters[i], 0);
    lz_thread_state_sum_handles(&made, &destroyed);
    atomic_store(&handles_base[0], made);
    atomic_store(&handles_base[1], destroyed);
    atomic_store(&products_base, library_products());
    atomic_store(&jit_base, jit_kernels());
    clear_collectives();
    lz_thread_state_clear_ops();
}

void lz_clear_metrics(void)
{
    LZ_PUBLIC();
    for (int i = 0; i < LZ_METRIC_COUNT; i++) {
        lz_mutex_lock(&metrics[i].lock);
        metrics[i].total = 0;
        metrics[i].sum = 0;
        lz_mutex_unlock(&metrics[i].lock);
    }
}
