/* profile_report.c - see profile_report.h. The limits of the machine are measured once, in a second
 * or two, and kept in the cache folder. */
#include "runtime/debug/profile_report.h"
#include "base/config.h"
#include "base/host_time.h"
#include "base/formats/json.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/text.h"
#include "base/thread.h"
#include "runtime/debug/metrics.h"
#include "runtime/debug/profile_rows.h"
#include "runtime/exec/program.h"
#include <errno.h>
#include <inttypes.h>
#include <lazuli/profiler.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the machine can do ---- */

static lz_mutex limits_lock = LZ_MUTEX_INIT("profile limits");
static lz_cpu_limits limits; /* zeros: not known */

static bool plausible(const lz_cpu_limits *l)
{
    return isfinite(l->flop_s) && isfinite(l->byte_s) && l->flop_s > 0 && l->byte_s > 0;
}

static void limits_key(const lz_backend *be, lz_buf *key)
{
    lz_device_info info;
    lz_buf_puts(key, "limits of a processor, 1|");
    if (be->device_info(0, &info) == LZ_OK)
        lz_buf_printf(key, "%s|%d", info.kind, info.threads);
}

static void find_limits(const lz_backend *be)
{
    lz_cache *cache = lz_program_cache();
    lz_buf key = {0};
    void *value = NULL;
    size_t n = 0;
    limits_key(be, &key);
    bool have =
        !key.failed && lz_cache_get_bound(cache, LZ_CACHE_CHOICE, key.data, key.len, &value, &n);
    if (have && n == sizeof limits)
        memcpy(&limits, value, n);
    lz_free(value);
    if (!plausible(&limits)) {
        limits = (lz_cpu_limits){0};
        if (lz_cpu_measure_limits(&limits) == LZ_OK && plausible(&limits) && !key.failed)
            lz_cache_put_bound(cache, LZ_CACHE_CHOICE, key.data, key.len, "", &limits,
                               sizeof limits);
    }
    lz_buf_free(&key);
}

lz_cpu_limits lz_profile_limits(void)
{
    const lz_backend *be = lz_backend_get("CPU");
    const char *device = lz_cfg_str(LZ_OPT_PJRT_DEVICE);
    bool cpu = be && (!device[0] || lz_backend_of(device) == be);
    lz_mutex_lock(&limits_lock);
    if (cpu && limits.flop_s == 0)
        LZ_QUIETLY
            find_limits(be);
    lz_cpu_limits l = limits;
    lz_mutex_unlock(&limits_lock);
    return cpu ? l : (lz_cpu_limits){0};
}

/* The share of its time that a row would need at best; 0: not known. */
static double of_roofline(const lz_cpu_limits *l, const lz_profile_sum *s)
{
    if (!plausible(l) || s->ns <= 0)
        return 0;
    double f = s->flops / l->flop_s, b = s->bytes / l->byte_s;
    return (f > b ? f : b) * 1e9 / s->ns;
}

/* ---- host ---- */

static const char *const host_text[LZ_HOST_COUNT] = {
#define HOST(name, doc) doc,
    LZ_HOST_TIMES(HOST)
#undef HOST
};
static const char *const host_name[LZ_HOST_COUNT] = {
#define HOST(name, doc) #name,
    LZ_HOST_TIMES(HOST)
#undef HOST
};

/* What is left of the wall clock: the program's own time, and recording operations. What programs
 * wait in a queue is nobody's time. */
static double rest_of(double wall)
{
    for (int k = 0; k < LZ_HOST_QUEUE; k++)
        wall -= (double)lz_host_sum((lz_host_time_kind)k);
    return wall > 0 ? wall : 0;
}

/* ---- text ---- */

static void print_rows(lz_buf *out, const lz_profile_rows *r, lz_profile_by by,
                       const lz_cpu_limits *l)
{
    enum { MOST = 30 };
    lz_buf_printf(out,
                  "\nBy %s\n      %%         ms   calls    mean_us   least_us  Gflop/s     GB/s "
                  "flop/byte roof%%  %s\n",
                  lz_profile_by_name[by], lz_profile_by_name[by]);
    for (uint32_t i = 0; i < r->v[by].len && i < MOST; i++) {
        const lz_profile_sum *s = &r->v[by].data[i];
        double calls = s->calls ? (double)s->calls : 1, ns = s->ns > 0 ? s->ns : 1;
        lz_buf_printf(out, " %6.2f %10.3f %7" PRId64 " %10.2f %10.2f %8.2f %8.2f %9.2f ",
                      100 * s->ns / (r->ns > 0 ? r->ns : 1), s->ns * 1e-6, s->calls,
                      s->ns * 1e-3 / calls, s->least_ns * 1e-3 / calls, s->flops / ns,
                      s->bytes / ns, s->bytes > 0 ? s->flops / s->bytes : 0);
        if (plausible(l))
            lz_buf_printf(out, "%5.1f  %s\n", 100 * of_roofline(l, s), s->what);
        else
            lz_buf_printf(out, "    -  %s\n", s->what);
    }
    if (r->v[by].len > MOST)
        lz_buf_printf(out, "        and %u more\n", r->v[by].len - MOST);
}

static void print_host(lz_buf *out, double wall)
{
    lz_buf_puts(out, "\nHost: what the threads that step did\n      %         ms\n");
    double all = wall > 0 ? wall : 1;
    for (int k = 0; k < LZ_HOST_QUEUE; k++)
        lz_buf_printf(out, " %6.2f %10.3f  %s\n",
                      100 * (double)lz_host_sum((lz_host_time_kind)k) / all,
                      (double)lz_host_sum((lz_host_time_kind)k) * 1e-6, host_text[k]);
    lz_buf_printf(out, " %6.2f %10.3f  record operations, and the program itself\n",
                  100 * rest_of(wall) / all, rest_of(wall) * 1e-6);
    lz_buf_printf(out, "      - %10.3f  %s\n", (double)lz_host_sum(LZ_HOST_QUEUE) * 1e-6,
                  host_text[LZ_HOST_QUEUE]);
}

static void print_text(lz_buf *out, const lz_profile_rows *r, const lz_cpu_limits *l, double wall)
{
    lz_buf_printf(out, "%" PRId64 " steps in %.3f ms, %.3f ms of kernels\n",
                  lz_counter_get(LZ_COUNTER_MarkStep), wall * 1e-6, r->ns * 1e-6);
    if (plausible(l))
        lz_buf_printf(out, "This machine does %.1f Gflop/s (f32) and %.1f GB/s at best.\n",
                      l->flop_s * 1e-9, l->byte_s * 1e-9);
    for (int by = 0; by < LZ_BY_COUNT; by++)
        print_rows(out, r, (lz_profile_by)by, l);
    print_host(out, wall);
}

/* ---- JSON ---- */

static void json_rows(lz_buf *out, const lz_profile_rows *r, lz_profile_by by,
                      const lz_cpu_limits *l)
{
    lz_buf_printf(out, "\"%s\":[", lz_profile_list_name[by]);
    for (uint32_t i = 0; i < r->v[by].len; i++) {
        const lz_profile_sum *s = &r->v[by].data[i];
        lz_buf_puts(out, i ? ",\n{" : "\n{");
        lz_buf_printf(out, "\"%s\":", lz_profile_by_name[by]);
        lz_buf_json_text(out, s->what);
        lz_buf_printf(out,
                      ",\"calls\":%" PRId64 ",\"ns\":%.0f,\"least_ns\":%.0f,\"flops\":%.0f,"
                      "\"bytes\":%.0f,\"roofline\":%.4f}",
                      s->calls, s->ns, s->least_ns, s->flops, s->bytes, of_roofline(l, s));
    }
    lz_buf_puts(out, "],\n");
}

static void print_json(lz_buf *out, const lz_profile_rows *r, const lz_cpu_limits *l, double wall)
{
    lz_buf_printf(out,
                  "{\"version\":1,\"steps_run\":%" PRId64 ",\"wall_ns\":%.0f,\"kernels_ns\":%.0f,"
                  "\"flop_s\":%.0f,\"byte_s\":%.0f,\n",
                  lz_counter_get(LZ_COUNTER_MarkStep), wall, r->ns, l->flop_s, l->byte_s);
    for (int by = 0; by < LZ_BY_COUNT; by++)
        json_rows(out, r, (lz_profile_by)by, l);
    lz_buf_puts(out, "\"host_ns\":{");
    for (int k = 0; k < LZ_HOST_COUNT; k++)
        lz_buf_printf(out, "\"%s\":%" PRId64 ",", host_name[k], lz_host_sum((lz_host_time_kind)k));
    lz_buf_printf(out, "\"REST\":%.0f}}\n", rest_of(wall));
}

/* ---- whole ---- */

lz_status lz_profile_print(lz_buf *out, bool json)
{
    lz_profile_rows r;
    double wall = (double)lz_host_wall();
    lz_cpu_limits l = lz_profile_limits();
    lz_profile_gather(&r);
    if (json)
        print_json(out, &r, &l, wall);
    else
        print_text(out, &r, &l, wall);
    bool failed = r.failed || out->failed;
    lz_profile_rows_free(&r);
    return failed ? LZ_FAIL(LZ_EMEM, "no memory for a profile") : LZ_OK;
}

static void write_report(void)
{
    const char *path = lz_cfg_str(LZ_OPT_PROFILE_REPORT);
    lz_buf text = {0};
    if (lz_fork_happened())
        return; /* the file is the parent's */
    LZ_QUIETLY {
        lz_status s = lz_profile_print(&text, lz_text_ends(path, ".json"));
        if (s == LZ_OK && strcmp(path, "STDERR") == 0)
            fwrite(text.data, 1, text.len, stderr);
        else if (s == LZ_OK)
            s = lz_outfile_write(path, text.data, text.len, false);
        if (s != LZ_OK)
            LZ_WARN("profile", "LAZULI_PROFILE_REPORT: %s", lz_error_get()->message);
    }
    lz_buf_free(&text);
}

void lz_profile_at_exit(void)
{
    if (!*lz_cfg_str(LZ_OPT_PROFILE_REPORT))
        return;
    lz_host_start();
    (void)atexit(write_report);
}
