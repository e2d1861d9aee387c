/* t_profiler.c - traces of programs: what steps, compilations, executions, kernels, copies and
 * waits leave in the file, on which thread, and that what is warm compiles nothing. */
#include "rt.h"
#include <jansson.h>
#include <pthread.h>
#include <sys/wait.h>

static char path[64];

static void name_file(void)
{
    snprintf(path, sizeof path, "/tmp/lz-profiler-%d.json", (int)getpid());
    rt_use(rt_devices[1]);
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
    return j;
}

static const char *text_of(const json_t *e, const char *k)
{
    const char *s = json_string_value(json_object_get(e, k));
    return s ? s : "";
}

static double number(const json_t *e, const char *k)
{
    return json_number_value(json_object_get(e, k));
}

/* Spans of this name and category; "": any. *last: the last of them. */
static int count(const json_t *j, const char *name, const char *category, json_t **last)
{
    const json_t *all = json_object_get(j, "traceEvents");
    int n = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *e = json_array_get(all, i);
        if (strcmp(text_of(e, "ph"), "X") != 0 ||
            (*name && strcmp(text_of(e, "name"), name) != 0) ||
            (*category && strcmp(text_of(e, "cat"), category) != 0))
            continue;
        n++;
        if (last)
            *last = e;
    }
    return n;
}

static json_t *only(const json_t *j, const char *name)
{
    json_t *e = NULL;
    int n = count(j, name, "", &e);
    ck_assert_msg(n == 1, "%d spans are called %s", n, name);
    return e;
}

/* Times are written to the nanosecond, and read as doubles of microseconds. */
static bool inside(const json_t *in, const json_t *out)
{
    double a = number(in, "ts"), b = a + number(in, "dur"), c = number(out, "ts"),
           d = c + number(out, "dur");
    return number(in, "tid") == number(out, "tid") && a >= c - 1e-3 && b <= d + 1e-3;
}

/* Any two spans of a thread: one holds the other, or they have nothing in common. */
static void check_nesting(const json_t *j)
{
    const json_t *all = json_object_get(j, "traceEvents");
    for (size_t i = 0; i < json_array_size(all); i++)
        for (size_t k = 0; k < i; k++) {
            const json_t *a = json_array_get(all, i), *b = json_array_get(all, k);
            if (strcmp(text_of(a, "ph"), "X") || strcmp(text_of(b, "ph"), "X") ||
                number(a, "tid") != number(b, "tid"))
                continue;
            bool apart = number(a, "ts") + number(a, "dur") <= number(b, "ts") + 1e-3 ||
                         number(b, "ts") + number(b, "dur") <= number(a, "ts") + 1e-3;
            ck_assert_msg(apart || inside(a, b) || inside(b, a), "%s and %s overlap",
                          text_of(a, "name"), text_of(b, "name"));
        }
}

/* One step: 64 values in, their squares summed, the sum read. */
static double step(void)
{
    float v[64];
    for (int i = 0; i < 64; i++)
        v[i] = 2;
    OK(lz_scope_begin());
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(64), v);
    lz_tensor *y = lz_retain(lz_sum(lz_mul(x, x)));
    OK(lz_mark_step());
    double r = lz_item(y);
    lz_release(y);
    OK(lz_scope_end());
    return r;
}

START_TEST(a_step)
{
    OK(lz_start_trace(path));
    OK(lz_trace_begin("the \"first\" step"));
    ck_assert(step() == 256);
    OK(lz_trace_end());
    OK(lz_wait_device_ops());
    OK(lz_stop_trace());
    json_t *j = read_file(), *own = only(j, "the \"first\" step"), *mark = only(j, "lz_mark_step");
    json_t *compile = only(j, "compile program"), *kernel = NULL;
    ck_assert(inside(mark, own));
    ck_assert(inside(only(j, "trace graph"), mark));
    ck_assert(inside(compile, mark));
    ck_assert(inside(only(j, "lz_item"), own));
    ck_assert(inside(only(j, "copy from the device"), only(j, "lz_item")));
    const json_t *args = json_object_get(mark, "args");
    ck_assert(number(args, "nodes") >= 3);
    ck_assert_str_eq(text_of(args, "graph"), text_of(json_object_get(compile, "args"), "graph"));
    ck_assert_str_ne(text_of(args, "graph"), "");
    ck_assert(number(json_object_get(only(j, "copy to the device"), "args"), "bytes") == 256);
    ck_assert_int_ge(count(j, "compile kernel", "compile", NULL), 1);
    ck_assert_int_ge(count(j, "", "kernel", &kernel), 1);
    ck_assert(number(json_object_get(kernel, "args"), "units") >= 1);
    ck_assert_int_eq(count(j, "", "execute", NULL), 1);
    ck_assert(inside(only(j, "lz_wait_device_ops"), only(j, "lz_wait_device_ops")));
    check_nesting(j);
    json_decref(j);
}
END_TEST

START_TEST(a_warm_step)
{
    ck_assert(step() == 256);
    OK(lz_start_trace(path));
    ck_assert(step() == 256);
    OK(lz_stop_trace());
    ck_assert(step() == 256);
    json_t *j = read_file();
    ck_assert_int_eq(count(j, "", "compile", NULL), 0);
    ck_assert_int_ge(count(j, "program from memory", "cache", NULL), 1);
    ck_assert_int_eq(count(j, "lz_mark_step", "", NULL), 1);
    ck_assert_int_ge(count(j, "", "kernel", NULL), 1);
    check_nesting(j);
    json_decref(j);
}
END_TEST

static void stepped(void)
{
    ck_assert(step() == 256);
    OK(lz_wait_device_ops());
}

START_TEST(the_disk)
{
    char dir[] = "/tmp/lz-profiler-XXXXXX", command[64];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("LAZULI_CACHE", "1", 1);
    setenv("LAZULI_CACHE_DIR", dir, 1);
    for (int again = 0; again < 2; again++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) { /* LAZULI_TRACE is all that it has to know */
            setenv("LAZULI_TRACE", path, 1);
            stepped();
            exit(0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        json_t *j = read_file();
        ck_assert_int_eq(count(j, "compile program", "compile", NULL), !again);
        ck_assert_int_eq(count(j, "program from disk", "cache", NULL), again);
        ck_assert_int_eq(count(j, "kernel from disk", "cache", NULL) > 0, again);
        ck_assert_int_eq(count(j, "compile kernel", "compile", NULL) > 0, !again);
        json_decref(j);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(the_table_beside_it)
{
    char table[80], line[256];
    snprintf(table, sizeof table, "%s.txt", path);
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        setenv("LAZULI_PROFILE", table, 1);
        setenv("LAZULI_TRACE", path, 1);
        stepped();
        exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    FILE *f = fopen(table, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    ck_assert_ptr_nonnull(strstr(line, "run 1 times"));
    fclose(f);
    unlink(table);
    json_t *j = read_file();
    ck_assert_int_ge(count(j, "", "kernel", NULL), 1);
    json_decref(j);
}
END_TEST

START_TEST(errors)
{
    FAILS(lz_start_trace(NULL), LZ_ENULL, "lz_start_trace");
    FAILS(lz_start_trace(""), LZ_EINVAL, "empty");
    FAILS(lz_start_trace("/nowhere/at/all.json"), LZ_ENOENT, "/nowhere/at/all.json");
    FAILS(lz_stop_trace(), LZ_ESTATE, "no trace runs");
    FAILS(lz_trace_begin(NULL), LZ_ENULL, "lz_trace_begin");
    FAILS(lz_trace_end(), LZ_ESTATE, "lz_trace_end");
    OK(lz_start_trace(path));
    FAILS(lz_start_trace(path), LZ_ESTATE, "runs already");
    OK(lz_trace_begin("open"));
    OK(lz_stop_trace());
    OK(lz_trace_end());
    FAILS(lz_stop_trace(), LZ_ESTATE, "lz_stop_trace");
}
END_TEST

/* The same allocations with the hooks as ever: a trace that ended leaves nothing behind. */
START_TEST(off_costs_nothing)
{
    uint64_t n[2];
    for (int i = 0; i < 3; i++)
        ck_assert(step() == 256);
    for (int traced = 0; traced < 2; traced++) {
        uint64_t before = lz_alloc_count();
        ck_assert(step() == 256);
        n[traced] = lz_alloc_count() - before;
        if (!traced) {
            OK(lz_start_trace(path));
            ck_assert(step() == 256);
            OK(lz_stop_trace());
        }
    }
    ck_assert_uint_le(n[1], n[0]);
}
END_TEST

static void *steps(void *arg)
{
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(lz_trace_begin(arg), LZ_OK);
        ck_assert(step() == 256);
        ck_assert_int_eq(lz_trace_end(), LZ_OK);
    }
    return NULL;
}

START_TEST(several_threads)
{
    pthread_t t[3];
    OK(lz_start_trace(path));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, steps, (void *)"work"), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    OK(lz_wait_device_ops());
    OK(lz_stop_trace());
    json_t *j = read_file();
    ck_assert_int_eq(count(j, "work", "user", NULL), 60);
    ck_assert_int_eq(count(j, "lz_mark_step", "step", NULL), 60);
    ck_assert_int_eq(count(j, "lz_item", "read", NULL), 60);
    check_nesting(j);
    json_decref(j);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("profiler");
    TCase *t = tcase_create("profiler");
    tcase_add_checked_fixture(t, name_file, remove_file);
    tcase_add_test(t, a_step);
    tcase_add_test(t, a_warm_step);
    tcase_add_test(t, the_disk);
    tcase_add_test(t, the_table_beside_it);
    tcase_add_test(t, errors);
    tcase_add_test(t, off_costs_nothing);
    tcase_add_test(t, several_threads);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
