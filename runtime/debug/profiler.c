/* profiler.c - the public calls that start and stop traces; base/timeline.h does the work. */
#include "base/timeline.h"
#include "runtime/exec/runtime_device.h"
#include <lazuli/profiler.h>

static lz_status told(const char *op, lz_status s)
{
    if (s != LZ_OK)
        lz_error_annotate(op, NULL);
    return s;
}

lz_status lz_start_trace(const char *path)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = !path      ? LZ_FAIL(LZ_ENULL, "path is NULL")
                  : !path[0] ? LZ_FAIL(LZ_EINVAL, "path is empty")
                             : lz_timeline_start(path, LZ_TIMELINE_EVENTS);
    return told("lz_start_trace", s);
}

lz_status lz_stop_trace(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_dev *d;
    for (uint32_t i = 0; lz_timeline_on() && !lz_fork_happened() && (d = lz_dev_at(i)) != NULL; i++)
        lz_dev_settle(d);
    return told("lz_stop_trace", lz_timeline_stop());
}

lz_status lz_trace_begin(const char *name)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!name)
        return told("lz_trace_begin", LZ_FAIL(LZ_ENULL, "name is NULL"));
    lz_timeline_open(name, -1);
    return LZ_OK;
}

lz_status lz_step_trace_begin(const char *name, int64_t step)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!name || step < 0)
        return told("lz_step_trace_begin",
                    name ? LZ_FAIL(LZ_EINVAL, "step %lld is negative", (long long)step)
                         : LZ_FAIL(LZ_ENULL, "name is NULL"));
    lz_timeline_open(name, step);
    return LZ_OK;
}

lz_status lz_trace_end(void)
{
    LZ_PUBLIC(LZ_EFORK);
    return told("lz_trace_end", lz_timeline_close());
}
