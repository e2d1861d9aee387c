/* profiler.c - the public calls about traces; base/timeline.h does the work. */
#include "base/timeline.h"
#include <lazuli/profiler.h>

static lz_status told(const char *op, lz_status s)
{
    if (s != LZ_OK)
        lz_error_annotate(op, NULL);
    return s;
}

lz_status lz_start_trace(const char *path)
{
    lz_status s = !path      ? LZ_FAIL(LZ_ENULL, "path is NULL")
                  : !path[0] ? LZ_FAIL(LZ_EINVAL, "path is empty")
                             : lz_timeline_start(path, LZ_TIMELINE_EVENTS);
    return told("lz_start_trace", s);
}

lz_status lz_stop_trace(void)
{
    return told("lz_stop_trace", lz_timeline_stop());
}

lz_status lz_trace_begin(const char *name)
{
    if (!name)
        return told("lz_trace_begin", LZ_FAIL(LZ_ENULL, "name is NULL"));
    lz_timeline_open(name);
    return LZ_OK;
}

lz_status lz_trace_end(void)
{
    return told("lz_trace_end", lz_timeline_close());
}
