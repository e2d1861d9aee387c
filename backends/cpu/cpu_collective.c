/* cpu_collective.c - partitions on the CPU: collectives, which are loops over the memory of all
 * that the workers share when there is much of it, and what each partition does between them.
 * Replicas that meet go through the same loops. Threads: as a job, on the queue. */
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/workers.h"
#include "backends/common/collective_totals.h"
#include "base/timeline/timeline.h"
#include "lower/plan/plan_collective.h"
#include <stddef.h>

lz_rendezvous lz_cpu_rendezvous = LZ_RENDEZVOUS_INIT("CPU", lz_cpu_collective);

enum {
    SPREAD_BYTES = 1 << 19, /* traffic of a collective that is worth waking workers */
    SPREAD_NS = 50000       /* the same of launches of all partitions */
};

typedef struct spread {
    const lz_step_collective *c;
    void *const *const *bufs;
    _Atomic bool failed; /* err is that of the first */
    lz_error err;
} spread;

static void run_units(void *ctx, int64_t begin, int64_t end, int worker)
{
    spread *s = ctx;
    (void)worker;
    if (lz_collective_run(s->c, s->bufs, begin, end) != LZ_OK && !atomic_exchange(&s->failed, true))
        s->err = *lz_error_get();
}

static lz_status run_all_units(const lz_step_collective *c, void *const *const *bufs)
{
    int64_t units = lz_collective_units(c);
    if (lz_collective_traffic(c) < SPREAD_BYTES)
        return lz_collective_run(c, bufs, 0, units);
    spread s = {.c = c, .bufs = bufs};
    lz_workers_run(units, 0, run_units, &s);
    if (!s.failed)
        return LZ_OK;
    lz_error_set(&s.err);
    return s.err.status;
}

lz_status lz_cpu_collective(void *run, const lz_step_collective *c, void *const *const *bufs)
{
    (void)run;
    int64_t t0 = lz_timeline_begin();
    lz_status s = run_all_units(c, bufs);
    lz_collective_ran(c);
    lz_timeline_end(t0, .name = lz_op_get(c->sig->op)->text, .category = "collective",
                    .key = {"bytes sent by each", "largest group"},
                    .value = {(int64_t)lz_collective_sends(c), c->who.largest});
    return s;
}

/* ---- between collectives ---- */

typedef struct shared_out {
    lz_plan_each_fn *fn;
    void *ctx;
    const lz_scratch *scratch;
    _Atomic bool failed; /* err is that of the first */
    lz_error err;
} shared_out;

static void run_partitions(void *ctx, int64_t begin, int64_t end, int worker)
{
    shared_out *s = ctx;
    lz_scratch own = {.first = s->scratch->first + (size_t)worker * s->scratch->apart};
    for (int64_t q = begin; q < end; q++)
        if (s->fn(s->ctx, (uint32_t)q, &own) != LZ_OK && !atomic_exchange(&s->failed, true))
            s->err = *lz_error_get();
}

/* Whether workers that take whole partitions have something to do for most of the time. */
static bool divides_well(uint32_t n)
{
    uint32_t workers = (uint32_t)lz_workers_count(), turns = (n + workers - 1) / workers;
    return workers > 1 && 4 * n >= 3 * turns * workers;
}

lz_status lz_cpu_each(void *run, uint32_t n, uint64_t flops, uint64_t bytes, lz_plan_each_fn *fn,
                      void *ctx)
{
    const lz_cpu_device *d =
        (lz_cpu_device *)(void *)((char *)run - offsetof(lz_cpu_device, scratch));
    if (!d->at_once || !divides_well(n) || n * lz_cpu_about_ns(flops, bytes) < SPREAD_NS) {
        for (uint32_t q = 0; q < n; q++)
            LZ_TRY(fn(ctx, q, run));
        return LZ_OK;
    }
    shared_out s = {.fn = fn, .ctx = ctx, .scratch = &d->scratch};
    lz_workers_run(n, 0, run_partitions, &s);
    if (!s.failed)
        return LZ_OK;
    lz_error_set(&s.err);
    return s.err.status;
}
