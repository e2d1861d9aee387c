/* metrics.h - counters and metrics of the runtime: rows of metrics.def. Threads: thread-safe.
 * Nothing here allocates after a metric's first sample. */
#ifndef LZ_RUNTIME_DEBUG_METRICS_H
#define LZ_RUNTIME_DEBUG_METRICS_H
#include "base/vec.h"
#include <stdatomic.h>

typedef enum lz_metric_id {
#define METRIC(name, unit, doc) LZ_METRIC_##name,
#include "runtime/debug/metrics.def"
    LZ_METRIC_COUNT
} lz_metric_id;
typedef enum lz_counter_id {
#define COUNTER(name, doc) LZ_COUNTER_##name,
#include "runtime/debug/metrics.def"
    LZ_COUNTER_COUNT
} lz_counter_id;

extern _Atomic int64_t lz_counters[LZ_COUNTER_COUNT];
static inline void lz_counter_add(lz_counter_id c, int64_t n)
{
    atomic_fetch_add_explicit(&lz_counters[c], n, memory_order_relaxed);
}
static inline int64_t lz_counter_get(lz_counter_id c)
{
    return atomic_load_explicit(&lz_counters[c], memory_order_relaxed);
}
void lz_metric_add(lz_metric_id m, double value); /* TIME in nanoseconds */
/* The same, at a moment that the caller knows (lz_now_ns). */
void lz_metric_add_at(lz_metric_id m, double value, int64_t now_ns);
/* Samples so far, their sum, the largest retained one. Pointers may be NULL. */
uint64_t lz_metric_samples(lz_metric_id m, double *sum, double *largest);
void lz_metrics_print(lz_buf *out, bool brief);     /* PyTorch/XLA's report */
void lz_metrics_print_time(lz_buf *out, double ns); /* 06m09s401ms746.001us */
#endif
