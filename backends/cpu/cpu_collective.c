/* cpu_collective.c - collectives of partitions on the CPU: loops over the memory of all, which the
 * workers share when there is much of it. Threads: as a job, on the queue. */
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/workers.h"
#include "lower/plan/plan_collective.h"

enum { SPREAD_BYTES = 1 << 19 }; /* traffic of a collective that is worth waking workers */

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

lz_status lz_cpu_collective(void *run, const lz_step_collective *c, void *const *const *bufs)
{
    int64_t units = lz_collective_units(c);
    (void)run;
    if (lz_collective_traffic(c) < SPREAD_BYTES)
        return lz_collective_run(c, bufs, 0, units);
    spread s = {.c = c, .bufs = bufs};
    lz_workers_run(units, 0, run_units, &s);
    if (!s.failed)
        return LZ_OK;
    lz_error_set(&s.err);
    return s.err.status;
}
