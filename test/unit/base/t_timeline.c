/* t_timeline.c - the recorder of spans: the file is JSON whatever the names are, spans lie on their
 * threads, nothing is recorded while no trace runs, threads that end, a full trace, errors, fork,
 * the end of the process. */
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include "base/timeline/timeline.h"
#include "suite.h"
#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char path[64];
#define OK(x) ck_assert_msg((x) == LZ_OK, "%s", lz_error_get()->message)

static void name_file(void)
{
    snprintf(path, sizeof path, "/tmp/lz-timeline-%d.json", (int)getpid());
}

static void remove_file(void)
{
    unlink(path);
}

static json_t *read_file(void)
{
    json_error_t e;
    json_t *j = json_load_file(path, JSON_REJECT_DUPLICATES, &e);
    ck_assert_msg(j != NULL, "%s:%d: %s", path, e.line, e.text);
    ck_assert(json_is_array(json_object_get(j, "traceEvents")));
    return j;
}

static const char *text_of(const json_t *e, const char *k)
{
    const char *s = json_string_value(json_object_get(e, k));
    return s ? s : "";
}

/* Event number `nth` of that phase and name ("": any); NULL: there are fewer. */
static json_t *event(const json_t *j, const char *phase, const char *name, int nth)
{
    const json_t *all = json_object_get(j, "traceEvents");
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *e = json_array_get(all, i);
        if (strcmp(text_of(e, "ph"), phase) == 0 && (!*name || !strcmp(text_of(e, "name"), name)) &&
            nth-- == 0)
            return e;
    }
    return NULL;
}

static double number(const json_t *e, const char *k)
{
    ck_assert_msg(json_is_number(json_object_get(e, k)), "%s is no number", k);
    return json_number_value(json_object_get(e, k));
}

static json_int_t dropped(const json_t *j)
{
    return json_integer_value(json_object_get(json_object_get(j, "otherData"), "dropped_events"));
}

static void span(const char *name)
{
    int64_t t0 = lz_timeline_begin();
    lz_timeline_end(t0, .name = name, .category = "test");
}

START_TEST(fields)
{
    OK(lz_timeline_start(path, 100));
    int64_t t0 = lz_timeline_begin();
    ck_assert_int_gt(t0, 0);
    lz_timeline_add(&(lz_span){.name = "a",
                               .category = "test",
                               .key = {"n", "m"},
                               .value = {-3, INT64_MAX},
                               .text_key = "t",
                               .text = "word",
                               .start_ns = t0,
                               .ns = 1234567});
    lz_timeline_add(&(lz_span){.name = "b", .category = "test", .start_ns = t0, .ns = -1});
    lz_timeline_add(&(lz_span){.name = "early", .category = "test", .start_ns = 1, .ns = 5});
    OK(lz_timeline_stop());
    json_t *j = read_file(), *a = event(j, "X", "a", 0), *b = event(j, "X", "b", 0);
    ck_assert(a && b && !event(j, "X", "early", 0));
    ck_assert_str_eq(text_of(a, "cat"), "test");
    ck_assert(number(a, "dur") == 1234.567);
    ck_assert(number(b, "dur") == 0);
    ck_assert(number(a, "ts") >= 0 && number(a, "ts") < 1e7);
    ck_assert_int_eq(json_integer_value(json_object_get(a, "pid")), getpid());
    ck_assert_int_eq(json_integer_value(json_object_get(a, "tid")), gettid());
    const json_t *args = json_object_get(a, "args");
    ck_assert(json_integer_value(json_object_get(args, "n")) == -3);
    ck_assert(json_integer_value(json_object_get(args, "m")) == INT64_MAX);
    ck_assert_str_eq(text_of(args, "t"), "word");
    ck_assert_uint_eq(json_object_size(json_object_get(b, "args")), 0);
    ck_assert_int_eq(dropped(j), 0);
    json_decref(j);
}
END_TEST

START_TEST(names_are_escaped)
{
    char long_name[400];
    memset(long_name, 'x', 254);
    strcpy(long_name + 254, "\xc3\xa4 and more"); /* cut within the letter */
    static const char *const names[] = {"\"quoted\" \\ back", "line\nfeed\ttab\x01\x7f",
                                        "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "",
                                        "</script>"};
    static const char *const broken[] = {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                                         "\xe2\x82"};
    OK(lz_timeline_start(path, 100));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        span(names[i]);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        span(broken[i]);
    span(long_name);
    OK(lz_timeline_stop());
    json_t *j = read_file();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_str_eq(text_of(event(j, "X", "", (int)i), "name"), names[i]);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        ck_assert_ptr_nonnull(
            strstr(text_of(event(j, "X", "", (int)(i + sizeof names / sizeof *names)), "name"),
                   "\xef\xbf\xbd"));
    const char *cut = text_of(event(j, "X", "", 10), "name");
    ck_assert_uint_eq(strlen(cut), 254 + 3);
    json_decref(j);
}
END_TEST

START_TEST(off_records_nothing)
{
    span("warm up"); /* looks at the variable */
    uint64_t before = lz_alloc_count();
    ck_assert(!lz_timeline_on());
    for (int i = 0; i < 1000; i++) {
        span("nothing");
        lz_timeline_open("nothing", -1);
        OK(lz_timeline_close());
    }
    ck_assert_uint_eq(lz_alloc_count(), before);
    OK(lz_timeline_start(path, 100));
    OK(lz_timeline_stop());
    span("after");
    json_t *j = read_file();
    ck_assert(!event(j, "X", "", 0));
    json_decref(j);
}
END_TEST

START_TEST(open_spans)
{
    ck_assert_int_eq(lz_timeline_close(), LZ_ESTATE);
    lz_timeline_open("before", -1);
    OK(lz_timeline_start(path, 100));
    lz_timeline_open("outer", -1);
    lz_timeline_open("inner", -1);
    OK(lz_timeline_close());
    OK(lz_timeline_close());
    OK(lz_timeline_close()); /* began before the trace */
    ck_assert_int_eq(lz_timeline_close(), LZ_ESTATE);
    lz_timeline_open("open", -1);
    OK(lz_timeline_stop());
    json_t *j = read_file(), *out = event(j, "X", "outer", 0), *in = event(j, "X", "inner", 0);
    ck_assert(out && in && !event(j, "X", "before", 0) && !event(j, "X", "open", 0));
    ck_assert(number(out, "ts") <= number(in, "ts"));
    ck_assert(number(in, "ts") + number(in, "dur") <=
              number(out, "ts") + number(out, "dur") + 1e-3);
    json_decref(j);
    OK(lz_timeline_start(path, 100)); /* that one belongs to the trace before */
    OK(lz_timeline_close());
    lz_timeline_open("new", -1);
    OK(lz_timeline_close());
    OK(lz_timeline_stop());
    j = read_file();
    ck_assert(event(j, "X", "new", 0) && !event(j, "X", "", 1));
    json_decref(j);
}
END_TEST

static int64_t lines;
static void count_lines(lz_log_level level, const char *module, const char *message, void *user)
{
    (void)level, (void)message, (void)user;
    lines += strcmp(module, "trace") == 0;
}

START_TEST(bound)
{
    lz_log_set_callback(count_lines, NULL);
    for (int again = 1; again <= 2; again++) {
        OK(lz_timeline_start(path, 10));
        for (int i = 0; i < 25; i++)
            span("x");
        OK(lz_timeline_stop());
        json_t *j = read_file();
        ck_assert(event(j, "X", "x", 9) && !event(j, "X", "x", 10));
        ck_assert_int_eq(dropped(j), 15);
        json_decref(j);
        ck_assert_int_eq(lines, 2 * again); /* that it is full; at the end, how many */
    }
}
END_TEST

START_TEST(no_memory)
{
    lz_log_set_callback(count_lines, NULL);
    OK(lz_timeline_start(path, 100));
    lz_alloc_fail_at(1, true);
    span("x");
    lz_timeline_open("y", -1);
    OK(lz_timeline_close());
    lz_alloc_fail_at(0, false);
    span("z");
    lz_alloc_fail_at(1, true);
    ck_assert_int_eq(lz_timeline_stop(), LZ_EMEM);
    lz_alloc_fail_at(0, false);
    ck_assert_int_eq(lines, 2);
    ck_assert_int_eq(lz_timeline_stop(), LZ_ESTATE); /* it is over all the same */
}
END_TEST

START_TEST(errors)
{
    ck_assert_int_eq(lz_timeline_stop(), LZ_ESTATE);
    ck_assert_int_eq(lz_timeline_start("/nowhere/at/all.json", 1), LZ_ENOENT);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "/nowhere/at/all.json"));
    ck_assert(!lz_timeline_on());
    OK(lz_timeline_start(path, 1));
    ck_assert_int_eq(lz_timeline_start("/tmp/other", 1), LZ_ESTATE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, path));
    OK(lz_timeline_stop());
    OK(lz_timeline_start("/dev/full", 1));
    ck_assert_int_eq(lz_timeline_stop(), LZ_EIO);
    ck_assert_int_eq(lz_timeline_stop(), LZ_ESTATE);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 6, SPANS = 3000 };

static void *record_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < SPANS; i++) {
        lz_timeline_open("outer", -1);
        span("inner");
        ck_assert_int_eq(lz_timeline_close(), LZ_OK);
    }
    return NULL;
}

START_TEST(threads)
{
    pthread_t t[THREADS];
    OK(lz_timeline_start(path, LZ_TIMELINE_EVENTS));
    for (int i = 0; i < THREADS; i++) {
        char name[32];
        snprintf(name, sizeof name, "recorder %d", i);
        OK(lz_thread_start(&t[i], name, record_many, NULL));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    OK(lz_timeline_stop());
    json_t *j = read_file();
    const json_t *all = json_object_get(j, "traceEvents");
    size_t spans = 0, names = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *e = json_array_get(all, i);
        const char *name = text_of(json_object_get(e, "args"), "name");
        spans += strcmp(text_of(e, "ph"), "X") == 0;
        names +=
            strcmp(text_of(e, "name"), "thread_name") == 0 && strncmp(name, "recorder ", 9) == 0;
    }
    ck_assert_uint_eq(spans, 2 * THREADS * SPANS);
    ck_assert_uint_eq(names, THREADS);
    json_decref(j);
}
END_TEST

static atomic_bool enough;
static void *record_until(void *arg)
{
    while (!atomic_load(&enough))
        span(arg);
    return NULL;
}

static void *come_and_go(void *arg)
{
    while (!atomic_load(&enough)) {
        pthread_t t;
        if (lz_thread_start(&t, "short", record_many, arg) == LZ_OK)
            pthread_join(t, NULL);
    }
    return NULL;
}

START_TEST(start_and_stop_while_others_record)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        OK(lz_thread_start(&t[i], "recorder", i ? record_until : come_and_go, (void *)"x"));
    for (int i = 0; i < 30; i++) {
        OK(lz_timeline_start(path, 5000));
        usleep(1000);
        OK(lz_timeline_stop());
        if (i % 10 == 9)
            json_decref(read_file());
    }
    atomic_store(&enough, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}
END_TEST

START_TEST(rows)
{
    uint32_t a = lz_timeline_row("X:0 compute"), b = lz_timeline_row("X:1 compute");
    ck_assert(a && b && a != b && a == lz_timeline_row("X:0 compute"));
    OK(lz_timeline_start(path, 10));
    int64_t t0 = lz_timeline_begin();
    lz_timeline_add(
        &(lz_span){.name = "k", .category = "kernel", .start_ns = t0, .ns = 5, .row = b});
    OK(lz_timeline_stop());
    json_t *j = read_file(), *e = event(j, "X", "k", 0);
    const json_t *n = event(j, "M", "thread_name", 1);
    ck_assert_str_eq(text_of(json_object_get(n, "args"), "name"), "X:1 compute");
    ck_assert(number(n, "tid") == number(e, "tid"));
    ck_assert(number(e, "tid") != gettid());
    json_decref(j);
}
END_TEST

/* ---- processes ---- */

static int in_child(void (*fn)(void))
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        fn();
        exit(7);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "status %x", status);
    return WEXITSTATUS(status);
}

static void child_of_traced(void)
{
    span("of the child");
    if (lz_timeline_on() || lz_timeline_stop() != LZ_ESTATE)
        _exit(1);
}

/* A trace alone does not arm the library: the child may use it, and trace on its own. */
static void child_traces(void)
{
    char own[sizeof path + 8];
    child_of_traced();
    snprintf(own, sizeof own, "%s.child", path);
    if (lz_fork_check() != LZ_OK || lz_timeline_start(own, 10) != LZ_OK)
        _exit(2);
    span("of the child's own");
    if (lz_timeline_stop() != LZ_OK || unlink(own) != 0)
        _exit(3);
}

START_TEST(forked)
{
    OK(lz_timeline_start(path, 10));
    span("of the parent");
    ck_assert_int_eq(in_child(child_traces), 7);
    lz_fork_arm();
    ck_assert_int_eq(in_child(child_of_traced), 7);
    span("later");
    OK(lz_timeline_stop());
    json_t *j = read_file();
    ck_assert(event(j, "X", "of the parent", 0) && event(j, "X", "later", 0));
    ck_assert(!event(j, "X", "of the child", 0));
    json_decref(j);
}
END_TEST

static void traced_by_variable(void)
{
    if (lz_config_set("LAZULI_TRACE", path) != LZ_OK)
        _exit(1);
    span("first");
    if (!lz_timeline_on() || lz_timeline_start("/tmp/other", 1) != LZ_ESTATE ||
        lz_timeline_stop() != LZ_ESTATE)
        _exit(2);
}

static void steps_traced_by_variable(void)
{
    if (lz_config_set("LAZULI_TRACE", path) != LZ_OK ||
        lz_config_set("LAZULI_TRACE_STEPS", "-2:") != LZ_OK)
        _exit(1);
    span("first");
    if (!lz_timeline_on() || in_child(child_traces) != 7)
        _exit(2);
}

START_TEST(forked_while_steps_are_kept)
{
    ck_assert_int_eq(in_child(steps_traced_by_variable), 7);
    json_t *j = read_file();
    ck_assert(event(j, "X", "first", 0) && !event(j, "X", "of the child's own", 0));
    json_decref(j);
}
END_TEST

START_TEST(variable)
{
    ck_assert_int_eq(in_child(traced_by_variable), 7);
    json_t *j = read_file();
    ck_assert_ptr_nonnull(event(j, "X", "first", 0));
    json_decref(j);
}
END_TEST

static void bad_variable(void)
{
    lz_log_set_callback(count_lines, NULL);
    if (lz_config_set("LAZULI_TRACE", "/nowhere/at/all.json") != LZ_OK)
        _exit(1);
    span("x");
    span("x");
    if (lz_timeline_on() || lines != 1 || lz_error_get()->status != LZ_OK)
        _exit(2);
}

static void not_stopped(void)
{
    if (lz_timeline_start(path, 10) != LZ_OK)
        _exit(1);
    span("x");
}

START_TEST(end_of_the_process)
{
    ck_assert_int_eq(in_child(bad_variable), 7);
    ck_assert_int_eq(in_child(not_stopped), 7);
    json_t *j = read_file();
    ck_assert_ptr_nonnull(event(j, "X", "x", 0));
    json_decref(j);
}
END_TEST

/* ---- taps ---- */

typedef struct seen {
    int n, arrows;
    char last[64];
} seen;

static void count_event(const lz_trace_event *e, void *user)
{
    seen *s = user;
    s->n++;
    s->arrows += e->flow != 0;
    snprintf(s->last, sizeof s->last, "%.*s", (int)e->name.n, e->name.at);
}

static seen one, two;
static lz_timeline_tap first_tap = {.event = count_event, .user = &one},
                       second_tap = {.event = count_event, .user = &two};

START_TEST(taps_alone)
{
    span("before");
    OK(lz_timeline_tap_on(&first_tap));
    ck_assert(lz_timeline_on());
    span("a");
    OK(lz_timeline_tap_on(&second_tap));
    span("b");
    lz_timeline_tap_off(&first_tap);
    ck_assert_int_eq(one.n, 2);
    ck_assert(lz_timeline_on());
    span("c");
    lz_timeline_tap_off(&second_tap);
    ck_assert_int_eq(one.n, 2);
    ck_assert_int_eq(two.n, 2);
    ck_assert_str_eq(two.last, "c");
    ck_assert(!lz_timeline_on());
    span("after");
    ck_assert_int_eq(two.n, 2);
}
END_TEST

/* The program's own trace has what it would have without them, and they what is theirs. */
START_TEST(taps_beside_a_trace)
{
    OK(lz_timeline_tap_on(&first_tap));
    span("a");
    OK(lz_timeline_start(path, 2));
    span("b");
    OK(lz_timeline_tap_on(&second_tap));
    span("c");
    span("one too many");
    lz_timeline_tap_off(&first_tap);
    OK(lz_timeline_stop());
    ck_assert(lz_timeline_on());
    span("d");
    lz_timeline_tap_off(&second_tap);
    ck_assert(!lz_timeline_on());
    ck_assert_int_eq(one.n, 4);
    ck_assert_int_eq(two.n, 3);
    ck_assert_uint_eq(first_tap.missed, 0); /* what the file has no room for is the file's loss */
    ck_assert_uint_eq(second_tap.missed, 0);
    json_t *j = read_file();
    ck_assert_ptr_null(event(j, "X", "a", 0));
    ck_assert_ptr_nonnull(event(j, "X", "b", 0));
    ck_assert_ptr_nonnull(event(j, "X", "c", 0));
    ck_assert_ptr_null(event(j, "X", "one too many", 0));
    ck_assert_ptr_null(event(j, "X", "d", 0));
    ck_assert_int_eq(dropped(j), 1);
    json_decref(j);
    OK(lz_timeline_start(path, 2)); /* and a trace that goes on without them */
    OK(lz_timeline_tap_on(&first_tap));
    lz_timeline_tap_off(&first_tap);
    span("e");
    OK(lz_timeline_stop());
    j = read_file();
    ck_assert_ptr_nonnull(event(j, "X", "e", 0));
    ck_assert_int_eq(dropped(j), 0);
    json_decref(j);
}
END_TEST

START_TEST(arrows_that_began_before_a_tap)
{
    uint64_t flow = lz_timeline_flow();
    OK(lz_timeline_tap_on(&first_tap));
    lz_timeline_add(
        &(lz_span){.name = "x", .category = "test", .start_ns = lz_now_ns(), .flow = flow});
    lz_timeline_add(&(lz_span){.name = "y",
                               .category = "test",
                               .start_ns = lz_now_ns(),
                               .flow = lz_timeline_flow(),
                               .sends = true});
    lz_timeline_tap_off(&first_tap);
    ck_assert_int_eq(one.n, 2);
    ck_assert_int_eq(one.arrows, 1);
}
END_TEST

/* A curve is whole in a file; taps alone get a point now and then. */
START_TEST(curves_of_taps)
{
    OK(lz_timeline_tap_on(&first_tap));
    int64_t t0 = lz_now_ns();
    for (int i = 0; i < 1000; i++)
        lz_timeline_quantity("bytes", i);
    int64_t ns = lz_now_ns() - t0;
    lz_timeline_tap_off(&first_tap);
    ck_assert_int_ge(one.n, 1);
    ck_assert_int_le(one.n, 1 + ns / 500000);
    OK(lz_timeline_start(path, 2000));
    for (int i = 0; i < 1000; i++)
        lz_timeline_quantity("bytes", i);
    OK(lz_timeline_stop());
    json_t *j = read_file();
    ck_assert_ptr_nonnull(event(j, "C", "bytes", 999));
    json_decref(j);
}
END_TEST

START_TEST(too_many_taps)
{
    lz_timeline_tap t[LZ_TIMELINE_TAPS + 1];
    for (int i = 0; i <= LZ_TIMELINE_TAPS; i++) {
        t[i] = first_tap;
        lz_status s = lz_timeline_tap_on(&t[i]);
        ck_assert_int_eq(s, i < LZ_TIMELINE_TAPS ? LZ_OK : LZ_EUNAVAILABLE);
    }
    span("x");
    for (int i = 0; i < LZ_TIMELINE_TAPS; i++)
        lz_timeline_tap_off(&t[i]);
    ck_assert_int_eq(one.n, LZ_TIMELINE_TAPS);
    ck_assert(!lz_timeline_on());
}
END_TEST

static void ignore_event(const lz_trace_event *e, void *user)
{
    (void)e, (void)user;
}

static void *tap_off(void *tap)
{
    lz_timeline_tap_off(tap);
    return NULL;
}

/* The last one to go waits for the thread that writes, though the next one starts another. */
START_TEST(taps_that_come_and_go)
{
    for (int i = 0; i < 100; i++) {
        lz_timeline_tap first = {.event = ignore_event}, next = first;
        struct timespec until;
        pthread_t t;
        OK(lz_timeline_tap_on(&first));
        ck_assert_int_eq(pthread_create(&t, NULL, tap_off, &first), 0);
        while (lz_timeline_on())
            sched_yield();
        OK(lz_timeline_tap_on(&next));
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 10;
        ck_assert_int_eq(pthread_timedjoin_np(t, NULL, &until), 0);
        lz_timeline_tap_off(&next);
    }
}
END_TEST

static void tapped(void)
{
    span("in the child");
    if (lz_timeline_on() || one.n)
        _exit(1);
}

START_TEST(taps_and_fork)
{
    OK(lz_timeline_tap_on(&first_tap));
    ck_assert_int_eq(in_child(tapped), 7);
    span("x");
    lz_timeline_tap_off(&first_tap);
    ck_assert_int_eq(one.n, 1);
}
END_TEST

/* LAZULI_TRACE_STEPS has the steps it asks for, whatever is recorded before. */
START_TEST(taps_before_the_steps_of_a_trace)
{
    OK(lz_config_set("LAZULI_TRACE", path));
    OK(lz_config_set("LAZULI_TRACE_STEPS", "1:2"));
    OK(lz_timeline_tap_on(&first_tap));
    span("step 0");
    ck_assert(!lz_timeline_step());
    span("step 1");
    ck_assert(lz_timeline_step());
    lz_timeline_steps_over();
    lz_timeline_tap_off(&first_tap);
    ck_assert_int_eq(one.n, 2);
    json_t *j = read_file();
    ck_assert_ptr_null(event(j, "X", "step 0", 0));
    ck_assert_ptr_nonnull(event(j, "X", "step 1", 0));
    json_decref(j);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("timeline");
    TCase *t = tcase_create("timeline");
    tcase_add_checked_fixture(t, name_file, remove_file);
    tcase_add_test(t, fields);
    tcase_add_test(t, names_are_escaped);
    tcase_add_test(t, off_records_nothing);
    tcase_add_test(t, open_spans);
    tcase_add_test(t, bound);
    tcase_add_test(t, no_memory);
    tcase_add_test(t, errors);
    tcase_add_test(t, threads);
    tcase_add_test(t, start_and_stop_while_others_record);
    tcase_add_test(t, rows);
    tcase_add_test(t, forked);
    tcase_add_test(t, forked_while_steps_are_kept);
    tcase_add_test(t, variable);
    tcase_add_test(t, end_of_the_process);
    tcase_add_test(t, taps_alone);
    tcase_add_test(t, taps_beside_a_trace);
    tcase_add_test(t, arrows_that_began_before_a_tap);
    tcase_add_test(t, curves_of_taps);
    tcase_add_test(t, too_many_taps);
    tcase_add_test(t, taps_that_come_and_go);
    tcase_add_test(t, taps_and_fork);
    tcase_add_test(t, taps_before_the_steps_of_a_trace);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
