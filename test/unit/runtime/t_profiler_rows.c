/* t_profiler_rows.c - what a timeline has of a program beyond its spans: why a graph is new,
 * passes, arrows, memory; and on the mock CUDA driver, the device's rows:
 * every launch and copy once, in order, on the host's clock. */
#include "rt.h"
#include "support/mock.h"
#include "test/mock/cuda_mock.h"
#include "tracefile.h"
#include <dlfcn.h>
#include <pthread.h>

static char path[64];

static void setup(void)
{
    snprintf(path, sizeof path, "/tmp/lz-rows-%d.json", (int)getpid());
}

static void teardown(void)
{
    unlink(path);
}

enum { SIDE = 24 };

static void fill(float *p, int n) /* by any thread */
{
    for (int i = 0; i < n; i++)
        p[i] = (float)(i * 7 % 11 - 5) * 0.1f;
}

/* relu(x @ w) summed, and w updated: a few kernels. */
static lz_status step(lz_tensor *w, int rows)
{
    float data[64 * SIDE];
    fill(data, rows * SIDE);
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(rows, SIDE), data);
    lz_tensor *h = lz_relu(lz_matmul(x, w)), *y = lz_softmax(h, 1), *sum = lz_sum(y);
    lz_tensor *g = lz_matmul(lz_transpose(x, 0, 1), h);
    lz_status s = lz_assign(w, lz_sub(w, lz_mul_scalar(g, 1e-3)));
    if (s == LZ_OK)
        s = lz_mark_step();
    if (s == LZ_OK && !(lz_item(sum) > 0))
        s = LZ_EINTERNAL;
    lz_scope_end();
    return s;
}

static lz_tensor *weights(void)
{
    float v[SIDE * SIDE];
    fill(v, SIDE * SIDE);
    return lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(SIDE, SIDE), v));
}

static tf_file finish(void)
{
    OK(lz_stop_trace());
    return tf_load(path);
}

static const json_t *the_span(const tf_file *f, const char *cat, const char *name)
{
    const json_t *e = tf_span(f, cat, name, 0);
    ck_assert_msg(e != NULL, "there is no %s span \"%s\"", cat, name);
    return e;
}

/* ---- a program ---- */

/* What the first step is made of, and why. */
START_TEST(first_step)
{
    rt_use("CPU");
    OK(lz_start_trace(path));
    lz_tensor *w = weights();
    OK(lz_step_trace_begin("train", 0));
    OK(step(w, 16));
    OK(lz_trace_end());
    tf_file f = finish();
    const json_t *train = the_span(&f, "user", "train"),
                 *mark = the_span(&f, "step", "lz_mark_step"),
                 *graph = the_span(&f, "trace", "new graph"),
                 *compile = the_span(&f, "compile", "compile program"),
                 *run = the_span(&f, "execute", "run program"),
                 *enqueue = the_span(&f, "queue", "enqueue");
    ck_assert_int_eq(tf_arg_num(train, "step"), 0);
    ck_assert(tf_within(mark, train) && tf_within(graph, mark) && tf_within(enqueue, mark));
    ck_assert_str_eq(tf_arg_text(graph, "why"), "it is the first graph");
    ck_assert_str_eq(tf_arg_text(graph, "cause"), "user mark_step");
    ck_assert_str_eq(tf_arg_text(graph, "graph"), tf_arg_text(mark, "graph"));
    static const char *const passes[] = {"dce",    "simplify", "split_reductions",
                                         "fusion", "loops",    "plan"};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        ck_assert(tf_within(the_span(&f, "pass", passes[i]), compile));
    ck_assert_int_gt(tf_arg_num(the_span(&f, "pass", "dce"), "instructions"), 5);
    ck_assert_ptr_nonnull(tf_arg(run, "queued_ns"));
    ck_assert_str_eq(tf_arg_text(run, "program"), tf_arg_text(enqueue, "program"));
    ck_assert(strstr(tf_arg_text(run, "program"), "graph-") == tf_arg_text(run, "program"));
    size_t i;
    json_t *e;
    int launches = 0;
    json_array_foreach(f.events, i, e) launches +=
        strcmp(tf_text(e, "cat"), "kernel") == 0 && tf_same_row(e, run) && tf_within(e, run);
    ck_assert_int_eq(launches, tf_arg_num(run, "launches"));
    ck_assert_int_ge(launches, 2);
    tf_free(&f);
    OK(lz_start_trace(path)); /* another shape: what is new about it */
    OK(step(w, 20));
    f = finish();
    graph = the_span(&f, "trace", "new graph");
    const char *why = tf_arg_text(graph, "why");
    ck_assert_msg(strstr(why, "[20,24]") && strstr(why, "[16,24]"), "%s", why);
    ck_assert_str_ne(tf_arg_text(graph, "nearest"), "");
    tf_free(&f);
    OK(lz_start_trace(path)); /* nothing is new */
    OK(step(w, 20));
    f = finish();
    ck_assert_int_eq(tf_count(&f, "pass", NULL) + tf_count(&f, NULL, "new graph"), 0);
    tf_free(&f);
    FAILS(lz_step_trace_begin(NULL, 1), LZ_ENULL, "lz_step_trace_begin");
    FAILS(lz_step_trace_begin("step", -1), LZ_EINVAL, "-1");
    lz_release(w);
}
END_TEST

START_TEST(reference_interpreter)
{
    rt_use("REF");
    OK(lz_start_trace(path));
    lz_tensor *w = weights();
    OK(step(w, 4));
    tf_file f = finish();
    ck_assert_int_gt(tf_arg_num(the_span(&f, "execute", "run program"), "instructions"), 3);
    tf_free(&f);
    lz_release(w);
}
END_TEST

/* Memory goes up with a large tensor, and down again. */
START_TEST(memory)
{
    rt_use("CPU");
    static float big[1 << 18];
    OK(lz_start_trace(path));
    OK(lz_scope_begin());
    (void)lz_from_host(LZ_F32, LZ_SHAPE(1 << 18), big);
    OK(lz_scope_end());
    lz_tensor *w = weights();
    OK(step(w, 8));
    tf_file f = finish();
    long long most = 0, last = 0;
    size_t i;
    json_t *e;
    json_array_foreach(f.events, i, e) if (tf_is(e, "C") && tf_arg(e, "bytes"))
    {
        last = tf_arg_num(e, "bytes");
        most = last > most ? last : most;
        ck_assert_int_ge(last, 0);
        ck_assert_str_eq(tf_text(e, "name"), "CPU:0 memory");
    }
    ck_assert_int_ge(most, (long long)sizeof big);
    ck_assert_int_lt(last, (long long)sizeof big);
    tf_free(&f);
    lz_release(w);
}
END_TEST

static void *train(void *arg)
{
    lz_status *s = arg;
    lz_tensor *w = weights();
    for (int i = 0; i < 10 && *s == LZ_OK; i++) {
        (void)lz_step_trace_begin("thread's step", i);
        *s = step(w, 16);
        (void)lz_trace_end();
    }
    lz_release(w);
    return NULL;
}

START_TEST(many_threads)
{
    enum { THREADS = 4 };
    pthread_t t[THREADS];
    lz_status s[THREADS] = {LZ_OK};
    rt_use("CPU");
    OK(lz_start_trace(path));
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, train, &s[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        ck_assert_int_eq(s[i], LZ_OK);
    }
    tf_file f = finish(); /* and every thread's spans nest */
    ck_assert_int_eq(tf_count(&f, "user", "thread's step"), THREADS * 10);
    ck_assert_int_eq(tf_count(&f, "step", "lz_mark_step"), THREADS * 10);
    ck_assert_int_eq(tf_dropped(&f), 0);
    tf_free(&f);
}
END_TEST

/* Traces come and go while other threads train. */
START_TEST(traces_come_and_go)
{
    pthread_t t[2];
    lz_status s[2] = {LZ_OK};
    rt_use("CPU");
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, train, &s[i]), 0);
    for (int round = 0; round < 10; round++) {
        OK(lz_start_trace(path));
        usleep(1000);
        tf_file f = finish();
        tf_free(&f);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], NULL);
        ck_assert_int_eq(s[i], LZ_OK);
    }
}
END_TEST

/* ---- a GPU ---- */

static void (*mock_stats)(lz_mock_stats *);
static void (*mock_fail)(const char *, uint64_t, int);
static void (*mock_reset)(void);

static void use_cuda(void)
{
    rt_use("CUDA");
    void *h = lz_mock_open(lz_mock_path());
    *(void **)&mock_stats = dlsym(h, "lzMockGetStats");
    *(void **)&mock_fail = dlsym(h, "lzMockFail");
    *(void **)&mock_reset = dlsym(h, "lzMockReset");
    OK(lz_mock_use());
}

static bool on_row(const tf_file *f, const json_t *e, const char *device, const char *row)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s", device, row);
    return tf_is(e, "X") &&
           strcmp(tf_row(f, "thread_name", tf_num(e, "pid"), tf_num(e, "tid")), name) == 0;
}

/* Spans of a device's row, one after the other. *bytes: of all of them. */
static int row_of(const tf_file *f, const char *device, const char *row, long long *bytes)
{
    size_t i;
    int n = 0;
    double end = 0;
    json_t *e;
    *bytes = 0;
    json_array_foreach(f->events, i, e)
    {
        if (!on_row(f, e, device, row))
            continue;
        ck_assert_msg(tf_num(e, "ts") >= end - 1e-6, "%s begins before the one before it ends",
                      tf_text(e, "name"));
        end = tf_num(e, "ts") + tf_num(e, "dur");
        *bytes += tf_arg_num(e, "bytes");
        n++;
    }
    return n;
}

START_TEST(cuda_rows)
{
    enum { STEPS = 6 };
    lz_mock_stats a, b;
    long long bytes;
    use_cuda();
    lz_tensor *w = weights();
    for (int i = 0; i < 4; i++)
        OK(step(w, 16));
    OK(lz_wait_device_ops());
    OK(lz_start_trace(path));
    mock_stats(&a);
    for (int i = 0; i < STEPS; i++)
        OK(step(w, 16));
    tf_file f = finish();
    mock_stats(&b);
    ck_assert_uint_eq(a.graph_launches, b.graph_launches); /* kernel by kernel */
    int programs = row_of(&f, "CUDA:0", "programs", &bytes);
    ck_assert_int_eq(programs, STEPS);
    int kernels = row_of(&f, "CUDA:0", "compute", &bytes);
    ck_assert_int_eq((uint64_t)kernels, b.launches - a.launches);
    ck_assert_int_eq(row_of(&f, "CUDA:0", "copy in", &bytes), STEPS);
    ck_assert_int_eq((uint64_t)bytes, b.bytes_in - a.bytes_in);
    ck_assert_int_eq(row_of(&f, "CUDA:0", "copy out", &bytes), STEPS);
    ck_assert_int_eq((uint64_t)bytes, b.bytes_out - a.bytes_out);
    /* On the host's clock: what a program does lies between its launch and the end of the step
     * around it, and every launch in a program. */
    size_t i, k;
    json_t *e, *other;
    json_array_foreach(f.events, i, e)
    {
        if (!on_row(&f, e, "CUDA:0", "compute"))
            continue;
        bool inside = false;
        json_array_foreach(f.events, k, other) inside |=
            on_row(&f, other, "CUDA:0", "programs") && tf_within(e, other);
        ck_assert_msg(inside, "%s is in no program", tf_text(e, "name"));
        ck_assert_int_gt(tf_arg_num(e, "threads"), 0);
        ck_assert_int_gt(tf_arg_num(e, "bytes"), 0);
    }
    for (int n = 0; n < STEPS; n++) {
        const json_t *enqueue = tf_span(&f, "queue", "enqueue", n),
                     *read = tf_span(&f, "copy", "copy from the device", n), *program = NULL;
        int seen = n;
        json_array_foreach(f.events, i, e) if (on_row(&f, e, "CUDA:0", "programs") && seen-- == 0)
            program = e;
        ck_assert(program && tf_num(program, "ts") >= tf_num(enqueue, "ts") - 50);
        ck_assert(tf_num(program, "ts") + tf_num(program, "dur") <=
                  tf_num(read, "ts") + tf_num(read, "dur") + 50);
    }
    tf_free(&f);
    for (int n = 0; n < 4; n++)
        OK(step(w, 16));
    OK(lz_wait_device_ops());
    mock_stats(&a);
    ck_assert_uint_gt(a.graph_launches, b.graph_launches); /* as graphs again */
    lz_release(w);
}
END_TEST

/* Uploads that nobody waits for are there when the trace stops. */
START_TEST(cuda_uploads)
{
    static float big[3 << 20];
    long long bytes;
    use_cuda();
    lz_tensor *w = weights();
    OK(lz_start_trace(path));
    lz_tensor *x = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(3 << 20), big)),
              *y = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(100), big));
    tf_file f = finish();
    ck_assert_int_eq(row_of(&f, "CUDA:0", "copy in", &bytes), 2);
    ck_assert_int_eq(bytes, (long long)sizeof big + 400);
    size_t i;
    json_t *e;
    bool counted = false;
    json_array_foreach(f.events, i, e) counted |=
        tf_is(e, "C") && tf_arg_num(e, "bytes") >= (long long)sizeof big;
    ck_assert(counted);
    tf_free(&f);
    lz_release(x);
    lz_release(y);
    lz_release(w);
}
END_TEST

START_TEST(cuda_copies_across)
{
    long long bytes;
    use_cuda();
    lz_tensor *w = weights();
    OK(lz_start_trace(path));
    lz_tensor *there = lz_retain(lz_to_device(w, "CUDA:1"));
    OK(lz_sync(&there, 1, true));
    tf_file f = finish();
    ck_assert_int_eq(row_of(&f, "CUDA:0", "copy across", &bytes), 1);
    ck_assert_int_eq(bytes, SIDE * SIDE * 4);
    tf_free(&f);
    lz_release(there);
    lz_release(w);
}
END_TEST

/* A loop waits for its condition; its kernels are there, and none twice. */
static void double_it(lz_tensor *const *state, lz_tensor **next, void *user)
{
    (void)user;
    next[0] = lz_add_scalar(state[0], 1);
    next[1] = lz_mul_scalar(state[1], 2);
}

static lz_tensor *goes_on(lz_tensor *const *state, void *user)
{
    (void)user;
    return lz_lt_scalar(state[0], 5);
}

START_TEST(cuda_loop)
{
    lz_mock_stats a, b;
    long long bytes;
    use_cuda();
    lz_tensor *w = weights(), *out[2];
    OK(lz_start_trace(path));
    mock_stats(&a);
    OK(lz_while((lz_tensor *[]){lz_full(LZ_F32, LZ_SCALAR, 0), w}, 2, goes_on, double_it, NULL,
                out));
    OK(lz_sync(&out[1], 1, true));
    tf_file f = finish();
    mock_stats(&b);
    int kernels = row_of(&f, "CUDA:0", "compute", &bytes);
    size_t i;
    json_t *e;
    json_array_foreach(f.events, i, e) kernels -=
        on_row(&f, e, "CUDA:0", "compute") && strcmp(tf_text(e, "cat"), "copy") == 0;
    ck_assert_int_eq((uint64_t)kernels, b.launches - a.launches);
    ck_assert_int_ge(kernels, 11); /* conditions and bodies */
    ck_assert_int_eq(row_of(&f, "CUDA:0", "programs", &bytes), 1);
    tf_free(&f);
    lz_release(w);
}
END_TEST

static void halve(lz_tensor *i, lz_tensor *const *state, lz_tensor **next, void *user)
{
    (void)i, (void)user;
    next[0] = lz_mul_scalar(state[0], 0.5);
}

/* A loop of known rounds waits for none of them; there are more than are kept before the program is
 * waited for. */
START_TEST(cuda_rounds)
{
    enum { ROUNDS = 4500 };
    lz_mock_stats a, b;
    long long bytes;
    use_cuda();
    lz_tensor *w = weights(), *out;
    OK(lz_start_trace(path));
    mock_stats(&a);
    OK(lz_fori(0, ROUNDS, &w, 1, halve, NULL, &out));
    OK(lz_sync(&out, 1, true));
    tf_file f = finish();
    mock_stats(&b);
    int all = row_of(&f, "CUDA:0", "compute", &bytes), copies = 0;
    size_t i;
    json_t *e;
    json_array_foreach(f.events, i, e) copies +=
        on_row(&f, e, "CUDA:0", "compute") && strcmp(tf_text(e, "cat"), "copy") == 0;
    ck_assert_int_eq((uint64_t)(all - copies), b.launches - a.launches);
    ck_assert_int_ge(all - copies, ROUNDS);
    ck_assert_int_eq(row_of(&f, "CUDA:0", "programs", &bytes), 1);
    tf_free(&f);
    lz_release(w);
}
END_TEST

START_TEST(cuda_threads)
{
    enum { THREADS = 3 };
    pthread_t t[THREADS];
    lz_status s[THREADS] = {LZ_OK};
    long long bytes;
    use_cuda();
    lz_tensor *w = weights();
    OK(step(w, 16));
    OK(lz_start_trace(path));
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, train, &s[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        ck_assert_int_eq(s[i], LZ_OK);
    }
    tf_file f = finish();
    ck_assert_int_eq(row_of(&f, "CUDA:0", "programs", &bytes), THREADS * 10);
    ck_assert_int_gt(row_of(&f, "CUDA:0", "compute", &bytes), THREADS * 20);
    ck_assert_int_ge(row_of(&f, "CUDA:0", "copy in", &bytes), THREADS * 10);
    tf_free(&f);
    lz_release(w);
}
END_TEST

/* What cannot be measured is missing; the program goes on. */
START_TEST(cuda_without_times)
{
    static const char *const calls[] = {"cuEventElapsedTime", "cuEventQuery"};
    use_cuda();
    lz_tensor *w = weights();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (uint64_t n = 1; n < 12; n++) {
            OK(lz_start_trace(path));
            mock_fail(calls[i], n, 2);
            OK(step(w, 16));
            mock_reset();
            tf_file f = finish();
            ck_assert_int_eq(tf_count(&f, "step", "lz_mark_step"), 1);
            tf_free(&f);
        }
    lz_release(w);
}
END_TEST

/* The n-th call of any kind fails, or loses the device: the step says so or goes on, and the file
 * is whole. */
START_TEST(cuda_failures)
{
    use_cuda();
    lz_tensor *w = weights();
    OK(step(w, 16));
    OK(lz_start_trace(path));
    mock_fail(NULL, (uint64_t)_i / 2 * 5 + 1, _i % 2 ? 700 : 2);
    lz_status s = step(w, 16);
    mock_fail(NULL, 0, 0);
    ck_assert_msg(s == LZ_OK || s == LZ_EDEVICE || s == LZ_EDEVMEM || s == LZ_EINTERNAL, "%s",
                  lz_last_error_text());
    tf_file f = finish();
    tf_free(&f);
    lz_release(w);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("profiler_rows");
    TCase *c = tcase_create("profiler_rows");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, first_step);
    tcase_add_test(c, reference_interpreter);
    tcase_add_test(c, memory);
    tcase_add_test(c, many_threads);
    tcase_add_test(c, traces_come_and_go);
    tcase_add_test(c, cuda_rows);
    tcase_add_test(c, cuda_uploads);
    tcase_add_test(c, cuda_copies_across);
    tcase_add_test(c, cuda_loop);
    tcase_add_test(c, cuda_rounds);
    tcase_add_test(c, cuda_without_times);
    tcase_add_loop_test(c, cuda_failures, 0, lz_test_small() ? 8 : 40);
    tcase_add_test(c, cuda_threads);
    suite_add_tcase(s, c);
    return s;
}

int main(void)
{
    return lz_run_suite(suite());
}
