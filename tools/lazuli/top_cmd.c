/* top_cmd.c - lazuli top: what a process that runs does, again and again: its counters, and by how
 * much they grow in a second. */
#include "backends/distributed/net.h"
#include "base/formats/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "tools/lazuli/tool.h"
#include "tools/lazuli/watch_client.h"
#include <getopt.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct top_options {
    bool once, json, terminal, colour;
    uint64_t interval_ms;
} top_options;

static lz_status get_statistics(const watch_address *a, lz_watch_statistics *out)
{
    lz_buf b = {0};
    lz_wire_type type;
    int fd;
    LZ_TRY(watch_ask(a, LZ_WATCH_STATISTICS, 0, &fd));
    lz_status s = watch_answer(fd, LZ_WIRE_STATISTICS, LZ_WIRE_STATISTICS, &type, &b);
    if (s == LZ_OK)
        s = lz_watch_get_statistics(b.data, b.len, out);
    lz_net_close(&fd);
    lz_buf_free(&b);
    return s;
}

/* ---- numbers ---- */

static double seconds(const lz_watch_statistics *was, const lz_watch_statistics *is)
{
    return is->now_ns > was->now_ns ? (double)(is->now_ns - was->now_ns) / 1e9 : 0;
}

/* By how much it grew in a second; 0 of a counter that was cleared. */
static double rate(uint64_t was, uint64_t is, double s)
{
    return s > 0 && is > was ? (double)(is - was) / s : 0;
}

static double share(uint64_t hits, uint64_t misses)
{
    double n = (double)hits + (double)misses;
    return n > 0 ? (double)hits / n : 0;
}

/* ---- as JSON: an object on a line ---- */

static void put_number(lz_buf *b, const char *key, double v)
{
    lz_buf_printf(b, ",\"%s\":%.6g", key, v);
}

static void put_count(lz_buf *b, const char *key, uint64_t v)
{
    lz_buf_printf(b, ",\"%s\":%" PRIu64, key, v);
}

static void put_json(lz_buf *b, const lz_watch_statistics *was, const lz_watch_statistics *is)
{
    double s = seconds(was, is);
    lz_buf_puts(b, "{\"program\":");
    lz_buf_json_text(b, is->program);
    lz_buf_puts(b, ",\"host\":");
    lz_buf_json_text(b, is->host);
    put_count(b, "pid", is->pid);
    put_count(b, "rank", is->rank);
    put_count(b, "size", is->size);
    put_number(b, "seconds", s);
    put_count(b, "steps", is->steps);
    put_number(b, "steps_per_second", rate(was->steps, is->steps, s));
    put_count(b, "executions", is->executions);
    put_number(b, "executions_per_second", rate(was->executions, is->executions, s));
    put_count(b, "compilations", is->compilations);
    put_number(b, "compilations_per_second", rate(was->compilations, is->compilations, s));
    put_number(b, "compile_share", rate(was->compile_ns, is->compile_ns, s) / 1e9);
    put_count(b, "memory_cache_hits", is->memory_hits);
    put_count(b, "memory_cache_misses", is->memory_misses);
    put_count(b, "persistent_cache_hits", is->disk_hits);
    put_count(b, "persistent_cache_misses", is->disk_misses);
    put_number(b, "processors", rate(was->cpu_ns, is->cpu_ns, s) / 1e9);
    put_count(b, "resident_bytes", is->resident_bytes);
    lz_buf_puts(b, ",\"devices\":[");
    for (uint32_t i = 0; i < is->ndevice; i++) {
        lz_buf_puts(b, i ? ",{\"name\":" : "{\"name\":");
        lz_buf_json_text(b, is->device[i].name);
        put_count(b, "used_bytes", is->device[i].used);
        put_count(b, "peak_bytes", is->device[i].peak);
        put_count(b, "limit_bytes", is->device[i].limit);
        lz_buf_putc(b, '}');
    }
    lz_buf_puts(b, "]}\n");
}

/* ---- as text ---- */

static void put_bytes(lz_buf *b, uint64_t n)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double v = (double)n;
    int i = 0;
    for (; v >= 1024 && i < 5; i++)
        v /= 1024;
    lz_buf_printf(b, "%.*f %s", i ? 1 : 0, v, units[i]);
}

static void put_rate(lz_buf *b, const char *what, uint64_t was, uint64_t is, double s)
{
    lz_buf_printf(b, "%-20s %12" PRIu64 " %12.2f /s\n", what, is, rate(was, is, s));
}

static void put_hits(lz_buf *b, const char *what, uint64_t hits, uint64_t misses)
{
    lz_buf_printf(b, "%-20s %12" PRIu64 " hits %12" PRIu64 " misses %6.1f %%\n", what, hits, misses,
                  100 * share(hits, misses));
}

static void put_text(lz_buf *b, const lz_watch_statistics *was, const lz_watch_statistics *is,
                     bool colour)
{
    double s = seconds(was, is);
    lz_buf_printf(b, "%s%s%s on %s, pid %" PRIu32, colour ? "\033[1m" : "", is->program,
                  colour ? "\033[0m" : "", is->host, is->pid);
    if (is->size > 1)
        lz_buf_printf(b, ", rank %" PRIu32 " of %" PRIu32, is->rank, is->size);
    lz_buf_putc(b, '\n');
    put_rate(b, "steps", was->steps, is->steps, s);
    put_rate(b, "programs run", was->executions, is->executions, s);
    put_rate(b, "compilations", was->compilations, is->compilations, s);
    lz_buf_printf(b, "%-20s %12.1f %% of the time\n", "compiling",
                  rate(was->compile_ns, is->compile_ns, s) / 1e7);
    put_hits(b, "graphs in memory", is->memory_hits, is->memory_misses);
    put_hits(b, "programs on disk", is->disk_hits, is->disk_misses);
    lz_buf_printf(b, "%-20s %12.2f\n", "processors", rate(was->cpu_ns, is->cpu_ns, s) / 1e9);
    lz_buf_printf(b, "%-20s ", "resident memory");
    put_bytes(b, is->resident_bytes);
    lz_buf_putc(b, '\n');
    for (uint32_t i = 0; i < is->ndevice; i++) {
        const lz_watch_device *d = &is->device[i];
        lz_buf_printf(b, "%-20s ", d->name);
        put_bytes(b, d->used);
        lz_buf_puts(b, " used, ");
        put_bytes(b, d->peak);
        lz_buf_puts(b, " at most");
        if (d->limit) {
            lz_buf_puts(b, ", limit ");
            put_bytes(b, d->limit);
        }
        lz_buf_putc(b, '\n');
    }
}

/* ---- again and again ---- */

/* false: nobody reads it any more. */
static bool show(const lz_watch_statistics *was, const lz_watch_statistics *is,
                 const top_options *o)
{
    lz_buf b = {0};
    if (o->terminal && !o->once && !o->json)
        lz_buf_puts(&b, "\033[H\033[J"); /* to the top, and clear what was there */
    if (o->json)
        put_json(&b, was, is);
    else
        put_text(&b, was, is, o->colour);
    if (!o->terminal && !o->once && !o->json)
        lz_buf_putc(&b, '\n');
    fwrite(b.data, 1, b.len, stdout);
    lz_buf_free(&b);
    return fflush(stdout) == 0;
}

static int watch(const char *address, const watch_address *a, const top_options *o)
{
    lz_watch_statistics s[2];
    if (get_statistics(a, &s[0]) != LZ_OK)
        return tool_fail(address);
    for (int i = 1;; i ^= 1) {
        (void)nanosleep(&(struct timespec){(time_t)(o->interval_ms / 1000),
                                           (long)(o->interval_ms % 1000) * 1000000},
                        NULL);
        if (get_statistics(a, &s[i]) != LZ_OK)
            return tool_fail(address);
        if (!show(&s[i ^ 1], &s[i], o))
            return 1;
        if (o->once)
            return 0;
    }
}

int tool_top(int argc, char **argv)
{
    static const struct option options[] = {{"once", no_argument, NULL, 'o'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"interval_ms", required_argument, NULL, 'i'},
                                            {NULL, 0, NULL, 0}};
    top_options o = {.interval_ms = 1000};
    watch_address a;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) >= 0;) {
        if (c == '?')
            return 2;
        o.once |= c == 'o';
        o.json |= c == 'j';
        if (c == 'i' && !tool_uint("--interval_ms", optarg, 10, 3600000, &o.interval_ms))
            return 2;
    }
    if (optind + 1 != argc)
        return tool_usage("one HOST:PORT is needed");
    if (!watch_parse(argv[optind], &a))
        return 2;
    o.terminal = lz_terminal_is(STDOUT_FILENO);
    o.colour = lz_terminal_has_colour(STDOUT_FILENO);
    return watch(argv[optind], &a, &o);
}
