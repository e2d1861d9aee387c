/* statistics.c - see statistics.h. */
#include "runtime/watch/statistics.h"
#include "backends/distributed/launcher.h"
#include "base/file_io.h"
#include "base/text.h"
#include "base/thread.h"
#include "runtime/debug/metrics.h"
#include "runtime/exec/runtime_device.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void lz_watch_who(lz_watch_self *out)
{
    const lz_process_info *job = NULL;
    char host[256] = "";
    memset(out, 0, sizeof *out);
    out->pid = (uint32_t)getpid();
    out->size = 1;
    LZ_QUIETLY {
        if (lz_process_info_get(&job) == LZ_OK && job->count >= 1 &&
            job->count <= LZ_PROCESSES_MAX && job->index >= 0 && job->index < job->count) {
            out->rank = (uint32_t)job->index;
            out->size = (uint32_t)job->count;
        }
    }
    if (gethostname(host, sizeof host - 1) != 0 || !host[0])
        snprintf(host, sizeof host, "host");
    snprintf(out->host, sizeof out->host, "%.*s", (int)sizeof out->host - 1, host);
    snprintf(out->program, sizeof out->program, "%.*s", (int)sizeof out->program - 1,
             program_invocation_short_name);
}

/* Memory of the process that is in the machine's. */
static uint64_t resident(void)
{
    char text[128];
    uint64_t pages;
    if (!lz_file_text("/proc/self/statm", text, sizeof text))
        return 0;
    const char *at = strchr(text, ' ');
    if (!at || !lz_text_digits(at + 1, strlen(at + 1), &pages))
        return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void count_devices(lz_watch_statistics *out)
{
    const lz_dev *d;
    for (uint32_t i = 0; out->ndevice < LZ_WATCH_DEVICES && (d = lz_dev_at(i)); i++) {
        lz_device_info info = {0};
        lz_watch_device *to = &out->device[out->ndevice];
        if (d->be->device_info(d->ordinal, &info) != LZ_OK)
            continue;
        memcpy(to->name, d->name, sizeof to->name);
        to->used = info.memory_used;
        to->peak = info.memory_peak;
        to->limit = info.memory_limit;
        out->ndevice++;
    }
}

static uint64_t count(lz_counter_id c)
{
    int64_t n = lz_counter_get(c);
    return n > 0 ? (uint64_t)n : 0;
}

void lz_watch_count(lz_watch_statistics *out)
{
    lz_watch_self self;
    double compile_ns = 0;
    lz_watch_who(&self);
    memset(out, 0, sizeof *out);
    out->pid = self.pid;
    out->rank = self.rank;
    out->size = self.size;
    memcpy(out->host, self.host, sizeof out->host);
    memcpy(out->program, self.program, sizeof out->program);
    out->compilations = lz_metric_samples(LZ_METRIC_CompileTime, &compile_ns, NULL);
    out->compile_ns = compile_ns > 0 ? (uint64_t)compile_ns : 0;
    out->steps = count(LZ_COUNTER_MarkStep);
    out->executions = count(LZ_COUNTER_ExecuteComputation);
    out->memory_hits = count(LZ_COUNTER_CachedCompile);
    out->memory_misses = count(LZ_COUNTER_UncachedCompile);
    out->disk_hits = count(LZ_COUNTER_PersistentCacheHit);
    out->disk_misses = count(LZ_COUNTER_PersistentCacheMiss);
    out->resident_bytes = resident();
    LZ_QUIETLY
        count_devices(out);
    out->cpu_ns = (uint64_t)lz_cpu_ns();
    out->now_ns = (uint64_t)lz_now_ns();
}
