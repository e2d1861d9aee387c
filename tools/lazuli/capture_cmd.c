/* capture_cmd.c - lazuli capture: a trace of a process that runs. Its server sends what it records
 * from now on, and the files are made here; so they have what came, whoever ends. */
#include "backends/distributed/net.h"
#include "runtime/watch/trace_folder.h"
#include "tools/lazuli/tool.h"
#include "tools/lazuli/watch_client.h"
#include <getopt.h>
#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught; /* a signal that asks this command to end */

static void catch_signal(int number)
{
    caught = number;
}

/* What was ignored, as by nohup, still is. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = catch_signal}, was;
    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &a, NULL);
}

/* Events until there are no more, or this command is to end. */
static lz_status receive(int fd, lz_trace_folder *f, lz_watch_end *end)
{
    lz_buf b = {0};
    lz_status s = LZ_OK;
    lz_wire_type type = LZ_WIRE_EVENTS;
    while (s == LZ_OK && type == LZ_WIRE_EVENTS && !caught) {
        s = watch_answer(fd, LZ_WIRE_EVENTS, LZ_WIRE_END, &type, &b);
        if (s == LZ_OK && type == LZ_WIRE_EVENTS) {
            s = lz_trace_folder_add(f, b.data, b.len);
            lz_trace_folder_flush(f);
        } else if (s == LZ_OK) {
            s = lz_watch_get_end(b.data, b.len, end);
        }
    }
    lz_buf_free(&b);
    return s;
}

static lz_status get_origin(int fd, lz_watch_origin *o)
{
    lz_buf b = {0};
    lz_wire_type type;
    lz_status s = watch_answer(fd, LZ_WIRE_ORIGIN, LZ_WIRE_ORIGIN, &type, &b);
    if (s == LZ_OK)
        s = lz_watch_get_origin(b.data, b.len, o);
    lz_buf_free(&b);
    return s;
}

static int tell(const lz_trace_folder *f, const lz_watch_origin *o, const lz_watch_end *end)
{
    printf("%s: %" PRIu64 " events of %s (pid %" PRIu32 ")", lz_trace_folder_path(f),
           lz_trace_folder_events(f), o->program, o->pid);
    if (end->ns)
        printf(" in %" PRId64 " ms", end->ns / 1000000);
    if (end->dropped)
        printf(", %" PRIu64 " are missing", end->dropped);
    printf("\n");
    return caught ? 128 + (int)caught : 0;
}

static int capture(const char *address, int fd, const char *logdir)
{
    lz_watch_origin o;
    lz_watch_end end = {0};
    lz_trace_folder *f;
    if (get_origin(fd, &o) != LZ_OK)
        return tool_fail(address);
    if (lz_trace_folder_open(logdir, &o, &f) != LZ_OK)
        return tool_fail(logdir);
    int rc = receive(fd, f, &end) == LZ_OK ? 0 : tool_fail(address);
    int told = tell(f, &o, &end);
    if (lz_trace_folder_close(f, end.dropped) != LZ_OK)
        rc = tool_fail(logdir);
    return rc ? rc : told;
}

int tool_capture(int argc, char **argv)
{
    static const struct option options[] = {{"duration_ms", required_argument, NULL, 'd'},
                                            {"logdir", required_argument, NULL, 'l'},
                                            {NULL, 0, NULL, 0}};
    uint64_t ms = 1000;
    const char *logdir = NULL;
    watch_address a;
    int fd;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) >= 0;) {
        if (c == '?')
            return 2;
        if (c == 'd' && !tool_uint("--duration_ms", optarg, 1, LZ_WATCH_LONGEST_MS, &ms))
            return 2;
        logdir = c == 'l' ? optarg : logdir;
    }
    if (optind + 1 != argc)
        return tool_usage("one HOST:PORT is needed");
    if (!logdir || !*logdir)
        return tool_usage("--logdir is needed");
    if (!watch_parse(argv[optind], &a))
        return 2;
    if (watch_ask(&a, LZ_WATCH_CAPTURE, (uint32_t)ms, &fd) != LZ_OK)
        return tool_fail(argv[optind]);
    catch_signals();
    int rc = capture(argv[optind], fd, logdir);
    lz_net_close(&fd);
    return rc;
}
