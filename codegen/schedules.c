/* schedules.c - the schedule of a kernel: the first row of schedules.def that suits it.
 * Threads: thread-safe. */
#include "codegen/schedules.h"
#include "codegen/dot/dot.h"
#include "codegen/gpu/simt.h"

#define SCHEDULE(target, ...) SCHEDULE_##target(__VA_ARGS__)
#define SCHEDULE_gpu(...)
static const struct {
    const char *name;
    bool (*suits)(const lz_kernel *k, const lz_target *t);
    lz_status (*emit)(em *e, const lz_kernel *k);
} cpu[] = {
#define SCHEDULE_cpu(id, name, suits, dims, emit, file, doc) {name, suits, emit},
#include "codegen/schedules.def"
};

static size_t cpu_schedule(const lz_kernel *k, const lz_target *t)
{
    size_t i = 0;
    while (!cpu[i].suits(k, t)) /* the last row suits any kernel */
        i++;
    return i;
}

const char *lz_schedule_name(const lz_kernel *k, const lz_target *t)
{
    return t->simt ? lz_simt_schedule_name(k, t) : cpu[cpu_schedule(k, t)].name;
}

lz_status lz_schedule_emit(em *e, const lz_kernel *k)
{
    return e->t->simt ? lz_simt_emit(e, k) : cpu[cpu_schedule(k, e->t)].emit(e, k);
}
