/* t_trace_file.c - the file of a timeline while the trace runs and after its process was ended by a
 * signal: strict JSON, plain and compressed; which steps it has; the last steps; pipes. */
#include "base/config.h"
#include "base/log.h"
#include "base/timeline/timeline.h"
#include "base/timeline/trace_steps.h"
#include "suite.h"
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static char path[80];
#define OK(x) ck_assert_msg((x) == LZ_OK, "%s", lz_error_get()->message)

static void name_file(void)
{
    snprintf(path, sizeof path, "/tmp/lz-trace-%d.json", (int)getpid());
}

static void remove_file(void)
{
    unlink(path);
}

/* Of a plain or a compressed file, and an error where the compression is damaged. NULL: it is
 * neither whole nor strict. */
static json_t *load(void)
{
    static char text[256 << 20];
    gzFile f = gzopen(path, "r");
    if (!f)
        return NULL;
    int n = gzread(f, text, sizeof text - 1), closed = gzclose(f);
    return n < 0 || closed != Z_OK ? NULL
                                   : json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
}

static const char *text_of(const json_t *e, const char *k)
{
    const char *s = json_string_value(json_object_get(e, k));
    return s ? s : "";
}

/* Spans of this name; NULL: of any. */
static int count(const json_t *j, const char *name)
{
    size_t i;
    int n = 0;
    json_t *e;
    json_array_foreach(json_object_get(j, "traceEvents"), i, e) n +=
        strcmp(text_of(e, "ph"), "X") == 0 && (!name || strcmp(text_of(e, "name"), name) == 0);
    return n;
}

static void span(const char *name)
{
    int64_t t0 = lz_timeline_begin();
    lz_timeline_end(t0, .name = name, .category = "test", .key = {"n"}, .value = {1});
}

/* Waits until the file of a trace that runs has so many spans, each time whole. */
static void wait_for(int spans)
{
    for (int i = 0; i < 3000; i++) {
        json_t *j = load();
        int n = j ? count(j, NULL) : 0;
        json_decref(j);
        if (n >= spans)
            return;
        usleep(10000);
    }
    ck_abort_msg("the file does not grow");
}

/* ---- signals ---- */

static void record_for_ever(void)
{
    if (lz_timeline_start(path, LZ_TIMELINE_EVENTS) != LZ_OK)
        _exit(1);
    for (;;) {
        for (int i = 0; i < 100; i++)
            span("a span with a name that is not short");
        usleep(50000);
    }
}

static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGSEGV};

START_TEST(ended_by_a_signal)
{
    int status, number = signals[_i / 2];
    if (_i % 2)
        strcat(path, ".gz");
    pid_t pid = fork();
    if (pid == 0) {
        signal(number, SIG_DFL);
        record_for_ever();
    }
    wait_for(500);
    kill(pid, number);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == number); /* it is not caught */
    json_t *j = load();
    ck_assert_msg(j != NULL, "the file is not whole");
    ck_assert_int_ge(count(j, NULL), 500);
    json_decref(j);
}
END_TEST

/* Its thread never rests, and may be faster than the writer: the file grows all the same. */
START_TEST(a_thread_that_never_rests)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        lz_log_set_callback(NULL, NULL);
        if (lz_timeline_start(path, 100000) != LZ_OK)
            _exit(1);
        for (;;)
            span("x");
    }
    wait_for(1000);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}
END_TEST

/* ---- compression ---- */

START_TEST(compressed)
{
    enum { SPANS = 20000 };
    struct stat st;
    strcat(path, ".gz");
    OK(lz_timeline_start(path, LZ_TIMELINE_EVENTS));
    for (int i = 0; i < SPANS; i++)
        span("a span");
    OK(lz_timeline_stop());
    json_t *j = load();
    ck_assert_ptr_nonnull(j);
    ck_assert_int_eq(count(j, "a span"), SPANS);
    json_decref(j);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_lt(st.st_size, SPANS * 25);
}
END_TEST

/* ---- steps ---- */

START_TEST(slices)
{
    static const struct {
        const char *text;
        bool good;
        lz_trace_steps is;
    } t[] = {{"", true, {0, INT64_MAX, 0}},      {"100:110", true, {100, 110, 0}},
             {"3:", true, {3, INT64_MAX, 0}},    {":7", true, {0, 7, 0}},
             {"-20:", true, {0, INT64_MAX, 20}}, {":", true, {0, INT64_MAX, 0}},
             {"5", false, {0, INT64_MAX, 0}},    {"5:5", false, {5, 5, 0}},
             {"7:5", false, {7, 5, 0}},          {"-3:5", false, {0, INT64_MAX, 0}},
             {"a:b", false, {0, INT64_MAX, 0}},  {"1:2:3", false, {0, INT64_MAX, 0}},
             {"1:-2", false, {0, INT64_MAX, 0}}, {" 1:2", false, {0, INT64_MAX, 0}},
             {"-0:", true, {0, INT64_MAX, 0}}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        lz_trace_steps s;
        ck_assert_msg(lz_trace_steps_parse(t[i].text, &s) == t[i].good, "\"%s\"", t[i].text);
        ck_assert_msg(!t[i].good || (s.first == t[i].is.first && s.last == t[i].is.last &&
                                     s.newest == t[i].is.newest),
                      "\"%s\"", t[i].text);
    }
}
END_TEST

enum { STEPS = 10 };

/* A span of each step; what the last one is told. */
static void run_steps(const char *which)
{
    static const char *const name[STEPS] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    if (lz_config_set("LAZULI_TRACE", path) != LZ_OK ||
        lz_config_set("LAZULI_TRACE_STEPS", which) != LZ_OK)
        _exit(1);
    for (int i = 0; i < STEPS; i++) {
        span(name[i]);
        if (lz_timeline_counts_steps() && lz_timeline_step())
            lz_timeline_steps_over();
    }
}

START_TEST(some_steps)
{
    static const struct {
        const char *which;
        int first, last;
    } t[] = {{"", 0, 9},    {"2:4", 2, 3}, {"8:", 8, 9},   {":3", 0, 2},
             {"50:", 1, 0}, {"-3:", 7, 9}, {"-50:", 0, 9}, {"nonsense", 0, 9}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            lz_log_set_callback(NULL, NULL);
            run_steps(t[i].which);
            exit(7);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        json_t *j = load();
        ck_assert_msg(j != NULL, "%s", t[i].which);
        for (int k = 0; k < STEPS; k++) {
            char name[2] = {(char)('0' + k), 0};
            /* of the last steps there may be the end of one before, which began within it */
            ck_assert_msg(count(j, name) == (k >= t[i].first && k <= t[i].last),
                          "%s: step %d is there %d times", t[i].which, k, count(j, name));
        }
        json_decref(j);
    }
}
END_TEST

/* The last steps of a process that is killed: the file is replaced by whole ones. */
START_TEST(last_steps_of_a_killed_process)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (lz_config_set("LAZULI_TRACE", path) != LZ_OK ||
            lz_config_set("LAZULI_TRACE_STEPS", "-5:") != LZ_OK)
            _exit(1);
        for (;;) {
            span("x");
            usleep(1000);
            (void)lz_timeline_step();
        }
    }
    wait_for(4);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    json_t *j = load();
    ck_assert_ptr_nonnull(j);
    ck_assert_int_ge(count(j, "x"), 4);
    ck_assert_int_le(count(j, "x"), 6);
    json_decref(j);
}
END_TEST

/* ---- what is no plain file ---- */

static void *read_pipe(void *text)
{
    FILE *f = fopen(path, "r");
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    ((char *)text)[n] = '\0';
    fclose(f);
    return NULL;
}

START_TEST(a_pipe)
{
    static char text[1 << 20];
    pthread_t t;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(pthread_create(&t, NULL, read_pipe, text), 0);
    lz_status s;
    while ((s = lz_timeline_start(path, 1000)) == LZ_EIO) /* nobody reads yet */
        usleep(1000);
    OK(s);
    span("x");
    usleep(600000); /* the writer has come by */
    span("x");
    OK(lz_timeline_stop());
    pthread_join(t, NULL);
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(j != NULL, "%.300s", text);
    ck_assert_int_eq(count(j, "x"), 2);
    json_decref(j);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("trace_file");
    TCase *t = tcase_create("trace_file");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, name_file, remove_file);
    tcase_add_loop_test(t, ended_by_a_signal, 0, 2 * sizeof signals / sizeof *signals);
    tcase_add_test(t, a_thread_that_never_rests);
    tcase_add_test(t, compressed);
    tcase_add_test(t, slices);
    tcase_add_test(t, some_steps);
    tcase_add_test(t, last_steps_of_a_killed_process);
    tcase_add_test(t, a_pipe);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
