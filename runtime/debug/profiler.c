/* profiler.c - the public calls that start and stop traces; base/timeline/timeline.h does the work.
 */
#include "backends/common/profile.h"
#include "base/host_time.h"
#include "base/timeline/timeline.h"
#include "runtime/debug/profile_report.h"
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/node.h"
#include <lazuli/profiler.h>
#include <string.h>

lz_status lz_start_trace(const char *path)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = !path      ? LZ_FAIL(LZ_ENULL, "path is NULL")
                  : !path[0] ? LZ_FAIL(LZ_EINVAL, "path is empty")
                             : lz_timeline_start(path, LZ_TIMELINE_EVENTS);
    return lz_error_annotated("lz_start_trace", s);
}

lz_status lz_stop_trace(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_dev *d;
    for (uint32_t i = 0; lz_timeline_on() && !lz_fork_happened() && (d = lz_dev_at(i)) != NULL; i++)
        lz_dev_settle(d);
    return lz_error_annotated("lz_stop_trace", lz_timeline_stop());
}

lz_status lz_start_profile(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_profile_start();
    lz_host_start();
    return LZ_OK;
}

size_t lz_profile_report(const char *format, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    bool json = format && strcmp(format, "json") == 0;
    lz_buf b = {0};
    lz_status s = LZ_OK;
    if (!format)
        s = LZ_FAIL(LZ_ENULL, "format is NULL");
    else if (!json && strcmp(format, "text") != 0)
        s = LZ_FAIL(LZ_EINVAL, "format is \"%.40s\", not text or json", format);
    else if (!lz_profile_on())
        s = LZ_FAIL(LZ_ESTATE, "no profile was started");
    else
        s = lz_profile_print(&b, json);
    if (s == LZ_OK)
        return lz_api_text(&b, buf, n);
    lz_buf_free(&b);
    (void)lz_error_annotated("lz_profile_report", s);
    return 0;
}

lz_status lz_trace_begin(const char *name)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!name)
        return lz_error_annotated("lz_trace_begin", LZ_FAIL(LZ_ENULL, "name is NULL"));
    lz_timeline_open(name, -1);
    return LZ_OK;
}

lz_status lz_step_trace_begin(const char *name, int64_t step)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!name || step < 0)
        return lz_error_annotated("lz_step_trace_begin",
                                  name
                                      ? LZ_FAIL(LZ_EINVAL, "step %lld is negative", (long long)step)
                                      : LZ_FAIL(LZ_ENULL, "name is NULL"));
    lz_timeline_open(name, step);
    return LZ_OK;
}

lz_status lz_trace_end(void)
{
    LZ_PUBLIC(LZ_EFORK);
    return lz_error_annotated("lz_trace_end", lz_timeline_close());
}
