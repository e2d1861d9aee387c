/* t_cuda.c - the CUDA backend through the device interface, on the library that stands in for the
 * driver: start, memory, transfers, order, and what happens when calls fail or the device is lost.
 * Each test has a process of its own, so the backend starts anew. */
#include "cuda_util.h"
#include "base/timeline/timeline.h"
#include <jansson.h>
#include <unistd.h>

/* ---- start ---- */

START_TEST(no_driver)
{
    OK(lz_config_set("LAZULI_CUDA_DRIVER", "/nowhere/libcuda.so.1"));
    ck_assert_int_eq(be->init(), LZ_EUNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(message(), "/nowhere/libcuda.so.1"));
    ck_assert_int_eq(be->device_count(), 0);
    lz_device_buffer *b;
    ck_assert_int_eq(be->alloc(0, 64, &b), LZ_EUNAVAILABLE);
}
END_TEST

START_TEST(not_a_driver)
{
    OK(lz_config_set("LAZULI_CUDA_DRIVER", "libm.so.6"));
    ck_assert_int_eq(be->init(), LZ_EUNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(message(), "cuInit"));
}
END_TEST

START_TEST(no_device)
{
    use_mock();
    mock.fail_at("cuInit", 1, 100);
    ck_assert_int_eq(be->init(), LZ_EUNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(message(), "no CUDA device"));
}
END_TEST

START_TEST(devices)
{
    use_mock();
    OK(be->init());
    ck_assert_int_eq(be->device_count(), 2);
    lz_device_info info;
    OK(be->device_info(1, &info));
    ck_assert_str_eq(info.kind, "cuda: Emulated GPU 1, sm_90");
    ck_assert_uint_eq(info.memory_limit, 1 << 30);
    ck_assert_int_eq(be->device_info(2, &info), LZ_ENOENT);
    lz_buf key = {0}, cpu = {0};
    be->key(0, &key);
    lz_backend_get("cpu")->key(0, &cpu);
    ck_assert_str_ne(lz_buf_str(&key), lz_buf_str(&cpu));
    lz_buf_free(&key);
    lz_buf_free(&cpu);
}
END_TEST

START_TEST(fewer_devices)
{
    use_mock();
    OK(lz_config_set("GPU_NUM_DEVICES", "3"));
    ck_assert_int_eq(be->init(), LZ_EUNAVAILABLE);
    OK(lz_config_set("GPU_NUM_DEVICES", "1"));
    OK(be->init());
    ck_assert_int_eq(be->device_count(), 1);
}
END_TEST

/* ---- memory ---- */

START_TEST(pool)
{
    use_mock();
    lz_device_buffer *a, *b;
    lz_device_info info;
    OK(be->alloc(0, 1000, &a));
    void *at = a->data;
    ck_assert_uint_eq((uintptr_t)at % 64, 0);
    lz_device_buffer_release(a);
    OK(be->alloc(0, 1001, &b));
    ck_assert_ptr_eq(b->data, at);
    OK(be->device_info(0, &info));
    ck_assert_uint_ge(info.memory_used, 1001);
    lz_device_buffer_release(b);
    OK(be->device_info(0, &info));
    ck_assert_uint_eq(info.memory_used, 0);
    ck_assert_uint_ge(info.memory_peak, 1001);
    OK(be->alloc(0, 0, &a));
    lz_device_buffer_release(a);
}
END_TEST

START_TEST(out_of_memory)
{
    use_mock();
    mock.memory(8 << 20);
    lz_device_buffer *a, *b;
    OK(be->alloc(0, 5 << 20, &a));
    ck_assert_int_eq(be->alloc(0, 5 << 20, &b), LZ_EDEVMEM);
    ck_assert_ptr_null(b);
    ck_assert_ptr_nonnull(strstr(message(), "5242880"));
    lz_device_buffer_release(a);
    OK(be->alloc(0, 7 << 20, &b)); /* what waited went back */
    lz_device_buffer_release(b);
    OK(lz_config_set("LAZULI_DEVICE_MEMORY_MB", "1"));
    ck_assert_int_eq(be->alloc(0, 2 << 20, &b), LZ_EDEVMEM);
    ck_assert_ptr_nonnull(strstr(message(), "LAZULI_DEVICE_MEMORY_MB"));
    OK(be->alloc(0, 1 << 20, &b));
    lz_device_buffer_release(b);
}
END_TEST

START_TEST(transfers)
{
    static const size_t sizes[] = {0, 1, 7, 4 << 20, (4 << 20) + 1, (21 << 20) + 3};
    use_mock();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *from = malloc(sizes[i] + 1), *to = malloc(sizes[i] + 1);
        lz_device_buffer *b;
        uint32_t r = 12345;
        for (size_t k = 0; k < sizes[i]; k++)
            from[k] = (char)((r = r * 1664525 + 1013904223) >> 24);
        OK(be->alloc(1, sizes[i], &b));
        OK(be->copy_in(b, from, sizes[i]));
        OK(be->copy_out(b, to, sizes[i]));
        ck_assert_int_eq(memcmp(from, to, sizes[i]), 0);
        ck_assert_int_eq(be->copy_in(b, from, sizes[i] + 1), LZ_ERANGE);
        lz_device_buffer_release(b);
        free(from);
        free(to);
    }
}
END_TEST

/* ---- programs ---- */

static lz_status one_run(lz_exec *x, int device, int64_t n, float *data)
{
    lz_device_buffer *in = NULL, *out = NULL;
    lz_event *done = NULL;
    bool given = false;
    lz_status s = be->alloc(device, (size_t)n * 4, &in);
    if (s == LZ_OK)
        s = be->copy_in(in, data, (size_t)n * 4);
    if (s == LZ_OK)
        s = be->execute(x, device, &in, &given, false, &out, &done);
    lz_device_buffer_release(in);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    if (s == LZ_OK)
        s = be->copy_out(out, data, (size_t)n * 4);
    lz_device_buffer_release(out);
    lz_event_release(done);
    return s;
}

/* Steps are enqueued one after the other, each on the result of the last, with uploads between
 * them; nobody waits until the end. */
START_TEST(steps_in_flight)
{
    enum { N = 5000, STEPS = 12 };
    use_mock();
    lz_func *f = triple(N);
    lz_exec *x;
    lz_device_buffer *v;
    lz_event *done[STEPS];
    float *data = malloc(N * sizeof *data);
    for (int i = 0; i < N; i++)
        data[i] = (float)(i % 30);
    OK(be->compile(0, f, NULL, &x));
    OK(be->alloc(0, N * 4, &v));
    OK(be->copy_in(v, data, N * 4));
    for (int s = 0; s < STEPS; s++) {
        lz_device_buffer *next, *other;
        bool given = s % 2;
        OK(be->execute(x, 0, &v, &given, false, &next, &done[s]));
        lz_device_buffer_release(v);
        v = next;
        OK(be->alloc(0, N * 4, &other)); /* memory of something that runs must not be handed out */
        OK(be->copy_in(other, data, N * 4));
        lz_device_buffer_release(other);
    }
    float *got = malloc(N * sizeof *got), by = 1;
    OK(be->copy_out(v, got, N * 4));
    for (int s = 0; s < STEPS; s++) {
        OK(lz_event_wait(done[s]));
        lz_event_release(done[s]);
        by *= 3;
    }
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(got[i], data[i] * by);
    OK(be->wait_all(0));
    lz_device_buffer_release(v);
    be->exec_free(x);
    lz_func_free(f);
    free(data);
    free(got);
}
END_TEST

/* x -> x^7 of an n x n matrix: six kernels */
static lz_func *power(int64_t n)
{
    lz_buf b = {0};
    lz_func *f = NULL;
    lz_buf_printf(&b, "func.func @main(%%0: tensor<%ldx%ldxf32>) -> tensor<%ldx%ldxf32> {\n",
                  (long)n, (long)n, (long)n, (long)n);
    for (int i = 0; i < 6; i++)
        lz_buf_printf(&b,
                      "  %%%d = stablehlo.dot_general %%%d, %%0, contracting_dims = [1] x [0] : "
                      "(tensor<%ldx%ldxf32>, tensor<%ldx%ldxf32>) -> tensor<%ldx%ldxf32>\n",
                      i + 1, i, (long)n, (long)n, (long)n, (long)n, (long)n, (long)n);
    lz_buf_printf(&b, "  return %%6 : tensor<%ldx%ldxf32>\n}\n", (long)n, (long)n);
    ck_assert_msg(lz_func_parse(lz_buf_str(&b), b.len, "power", &f) == LZ_OK, "%s", message());
    lz_buf_free(&b);
    return f;
}

enum { SIDE = 12, ELEMS = SIDE * SIDE };

static void permutation(float *v) /* its powers are exact, and differ */
{
    for (int i = 0; i < ELEMS; i++)
        v[i] = i % SIDE == (i / SIDE + 1) % SIDE;
}

static void check_power(const float *v)
{
    for (int i = 0; i < ELEMS; i++)
        ck_assert_float_eq(v[i], i % SIDE == (i / SIDE + 7) % SIDE);
}

/* Steps of the same addresses are recorded once, then launched in one call; other addresses get
 * graphs of their own, a few. */
START_TEST(steps_as_graphs)
{
    use_mock();
    lz_func *f = power(SIDE);
    lz_exec *x;
    lz_mock_stats a, b;
    float v[ELEMS];
    OK(be->compile(0, f, NULL, &x));
    for (int i = 0; i < 6;
         i++) { /* the pool's blocks in either order: each is seen, then recorded */
        permutation(v);
        OK(one_run(x, 0, ELEMS, v));
        check_power(v);
    }
    mock.stats(&a);
    ck_assert_uint_ge(a.graphs, 1);
    ck_assert_uint_le(a.graphs, 2);
    for (int i = 0; i < 5; i++) {
        permutation(v);
        OK(one_run(x, 0, ELEMS, v));
        check_power(v);
    }
    mock.stats(&b);
    ck_assert_uint_eq(b.graphs, a.graphs);
    ck_assert_uint_eq(b.graph_launches - a.graph_launches, 5);
    ck_assert_uint_eq(b.launches - a.launches, 30);
    be->exec_free(x);
    OK(be->wait_all(0));
    mock.stats(&b);
    ck_assert_uint_eq(b.live_graphs, 0);
    lz_func_free(f);
}
END_TEST

static int on_row(const json_t *events, const char *row, const char *category)
{
    const json_t *e;
    size_t i;
    json_int_t tid = -1, end = 0;
    int n = 0;
    json_array_foreach(events, i, e)
    {
        const char *name = json_string_value(json_object_get(json_object_get(e, "args"), "name"));
        if (name && strcmp(name, row) == 0)
            tid = json_integer_value(json_object_get(e, "tid"));
    }
    json_array_foreach(events, i, e)
    {
        const json_t *cat = json_object_get(e, "cat");
        if (json_integer_value(json_object_get(e, "tid")) != tid || !cat)
            continue;
        ck_assert_str_eq(json_string_value(cat), category);
        double ts = json_number_value(json_object_get(e, "ts"));
        double ns = json_number_value(json_object_get(e, "dur")) * 1e3;
        ck_assert(ts * 1e3 >= (double)end - 2 && ns >= 0); /* one after the other */
        end = (json_int_t)(ts * 1e3 + ns);
        n++;
    }
    return n;
}

/* Kernels have a row of their own in a trace, and are launched one by one as long as it lasts. */
START_TEST(steps_in_a_trace)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/lz-cuda-trace-%d.json", (int)getpid());
    use_mock();
    lz_func *f = power(SIDE);
    lz_exec *x;
    lz_mock_stats at[3];
    float v[ELEMS];
    OK(be->compile(0, f, NULL, &x));
    for (int i = 0; i < 12; i++) {
        permutation(v);
        if (i == 6) {
            mock.stats(&at[0]);
            OK(lz_timeline_start(path, 1000));
        }
        if (i == 9) {
            OK(lz_timeline_stop());
            mock.stats(&at[1]);
        }
        OK(one_run(x, 0, ELEMS, v));
        check_power(v);
    }
    mock.stats(&at[2]);
    ck_assert_uint_eq(at[1].graph_launches, at[0].graph_launches);
    ck_assert_uint_eq(at[1].launches - at[0].launches, 18);
    ck_assert_uint_eq(at[2].graph_launches - at[1].graph_launches, 3);
    json_t *j = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    const json_t *events = json_object_get(j, "traceEvents");
    ck_assert_int_eq(on_row(events, "CUDA:0 compute", "kernel"), 18);
    ck_assert_int_eq(on_row(events, "CUDA:1 compute", "kernel"), 0);
    json_decref(j);
    unlink(path);
    lz_func_free(f);
    be->exec_free(x);
}
END_TEST

/* Arguments in ever other memory: right every time, and no more graphs than an executable keeps. */
START_TEST(graphs_of_other_addresses)
{
    enum { SETS = 7, KEPT = 4 };
    use_mock();
    lz_func *f = power(SIDE);
    lz_exec *x;
    lz_device_buffer *in[SETS];
    float v[ELEMS];
    OK(be->compile(0, f, NULL, &x));
    permutation(v);
    for (int i = 0; i < SETS; i++) {
        OK(be->alloc(0, sizeof v, &in[i]));
        OK(be->copy_in(in[i], v, sizeof v));
    }
    for (int round = 0; round < 24; round++) {
        lz_device_buffer *out;
        lz_event *done;
        bool given = false;
        OK(be->execute(x, 0, &in[round * round % SETS], &given, false, &out, &done));
        OK(lz_event_wait(done));
        OK(be->copy_out(out, v, sizeof v));
        check_power(v);
        lz_device_buffer_release(out);
        lz_event_release(done);
        lz_mock_stats s;
        mock.stats(&s);
        ck_assert_uint_le(s.live_graphs, KEPT);
    }
    for (int i = 0; i < SETS; i++)
        lz_device_buffer_release(in[i]);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* What a driver may refuse of graphs: the steps run without. */
START_TEST(graphs_refused)
{
    static const char *const calls[] = {"cuStreamBeginCapture_v2", "cuStreamEndCapture",
                                        "cuGraphInstantiateWithFlags"};
    use_mock();
    lz_func *f = power(SIDE);
    lz_exec *x;
    float v[ELEMS];
    OK(be->compile(0, f, NULL, &x));
    mock.fail_at(calls[_i], 1, 2);
    for (int i = 0; i < 4; i++) {
        permutation(v);
        OK(one_run(x, 0, ELEMS, v));
        check_power(v);
    }
    lz_mock_stats s;
    mock.stats(&s);
    ck_assert_uint_eq(s.failed, 1);
    ck_assert_uint_eq(s.graph_launches, 0);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

START_TEST(another_device)
{
    use_mock();
    lz_func *f = triple(3);
    lz_exec *x;
    float v[3] = {1, 2, -0.5f};
    OK(be->compile(1, f, NULL, &x));
    OK(one_run(x, 1, 3, v));
    ck_assert_float_eq(v[1], 6);
    ck_assert_int_eq(one_run(x, 0, 3, v), LZ_EINVAL);
    lz_exec_info info;
    be->exec_info(x, &info);
    ck_assert_uint_eq(info.kernels, 1);
    ck_assert_uint_eq(info.llvm_compiles, 1);
    ck_assert_uint_gt(info.code_bytes, 0);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* What another process compiled is read from the disk; what was damaged there is compiled again. */
START_TEST(kernels_from_disk)
{
    use_mock();
    char dir[] = "/tmp/lazuli-cuda.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    lz_cache_options co = {.path = dir};
    lz_compile_options o = {0};
    lz_exec_info info;
    lz_func *f = triple(11);
    for (int device = 0; device < 2; device++) { /* each has kernels of its own in memory */
        lz_exec *x;
        float v[11] = {1};
        OK(lz_cache_open(&co, &o.cache));
        OK(be->compile(device, f, &o, &x));
        be->exec_info(x, &info);
        ck_assert_uint_eq(info.llvm_compiles, device == 0);
        OK(one_run(x, device, 11, v));
        ck_assert_float_eq(v[0], 3);
        be->exec_free(x);
        lz_cache_close(o.cache);
    }
    lz_func_free(f);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(dumps_ptx)
{
    char dir[] = "/tmp/lazuli-ptx.XXXXXX", command[96];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    use_mock();
    OK(lz_config_set("LAZULI_DUMP", "ptx"));
    OK(lz_config_set("LAZULI_DUMP_DIR", dir));
    lz_func *f = triple(1000);
    lz_exec *x;
    OK(be->compile(0, f, NULL, &x));
    snprintf(command, sizeof command, "grep -q 'schedule elementwise' %s/*.ptx", dir);
    ck_assert_int_eq(system(command), 0);
    snprintf(command, sizeof command, "grep -q 'visible .entry lz_kernel' %s/*.ptx && rm -r %s",
             dir, dir);
    ck_assert_int_eq(system(command), 0);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* ---- failures ---- */

static lz_status everything(float *v)
{
    lz_func *f = triple(40);
    lz_exec *x = NULL;
    LZ_TRY(be->init());
    lz_status s = be->compile(0, f, NULL, &x);
    if (s == LZ_OK)
        s = one_run(x, 0, 40, v);
    if (x)
        be->exec_free(x);
    lz_func_free(f);
    if (s == LZ_OK)
        s = be->wait_all(0);
    return s;
}

static uint64_t calls_of_everything(void)
{
    lz_mock_stats a, b;
    float v[40] = {1};
    OK(everything(v)); /* starts the backend and compiles */
    mock.stats(&a);
    OK(everything(v));
    mock.stats(&b);
    return b.calls - a.calls;
}

/* The n-th call fails in a way that can be gone on from: a status, nothing lost, and the next try
 * works. */
START_TEST(calls_fail)
{
    static const int codes[] = {1, 2};
    use_mock();
    uint64_t calls = calls_of_everything();
    lz_mock_stats before, after;
    float once[40] = {1};
    OK(everything(once));
    mock.stats(&before);
    for (uint64_t n = 1; n <= calls; n++)
        for (int c = 0; c < 2; c++) {
            float v[40] = {2};
            mock.fail_at(NULL, n, codes[c]);
            lz_status s = everything(v);
            ck_assert_msg(s == LZ_OK || s == LZ_EDEVICE || s == LZ_EDEVMEM || s == LZ_ECOMPILE,
                          "call %d: %d, %s", (int)n, s, message());
            mock.reset();
            memset(v, 0, sizeof v);
            v[0] = 2;
            OK(everything(v));
            ck_assert_float_eq(v[0], 6);
        }
    mock.stats(&after);
    ck_assert_uint_le(after.live_bytes, before.live_bytes + 4096);
    ck_assert_uint_le(after.modules, before.modules + 1);
}
END_TEST

/* The same at the start: the start that failed goes on at the next try. */
START_TEST(starting_fails)
{
    use_mock();
    void *h = lz_mock_open(lz_mock_path());
    int (*init)(unsigned) = NULL;
    *(void **)&init = dlsym(h, "cuInit");
    ck_assert_int_eq(init(0), 0); /* the library itself is found once */
    mock.fail_at("cuStreamCreate", (uint64_t)_i + 1, 2);
    ck_assert_int_eq(be->init(), LZ_EDEVMEM);
    mock.reset();
    float v[40] = {1};
    OK(everything(v));
    lz_mock_stats st;
    mock.stats(&st);
    ck_assert_uint_eq(st.streams, 6);
}
END_TEST

START_TEST(device_is_lost)
{
    use_mock();
    uint64_t calls = calls_of_everything();
    uint64_t n = 1 + (uint64_t)_i * calls / 8;
    mock.fail_at(NULL, n, 719);
    float v[40] = {1};
    lz_status s = everything(v); /* at the very end nobody looks */
    ck_assert_int_eq(s == LZ_OK ? everything(v) : s, LZ_EDEVICE);
    ck_assert_msg(strstr(message(), "CUDA:0 is lost") != NULL, "%s", message());
    mock.reset(); /* the driver would go on failing: the backend does not ask it any more */
    ck_assert_int_eq(everything(v), LZ_EDEVICE);
    ck_assert_msg(strstr(message(), "CUDA_ERROR_LAUNCH_FAILED") != NULL, "%s", message());
    lz_device_buffer *b;
    ck_assert_int_eq(be->alloc(0, 64, &b), LZ_EDEVICE);
    OK(be->alloc(1, 64, &b));
    lz_device_buffer_release(b);
}
END_TEST

/* A kernel that failed on the device: whoever waits is told, and so is who uses the result, also
 * who takes over its memory. */
START_TEST(errors_travel)
{
    use_mock();
    lz_func *f = triple(40);
    lz_exec *x;
    lz_device_buffer *in, *out[2];
    lz_event *done[2];
    bool given = _i == 1;
    OK(be->compile(0, f, &(lz_compile_options){.donate = &given}, &x));
    OK(be->alloc(0, 160, &in));
    mock.fail_at("cuLaunchKernel", 1, 1);
    OK(be->execute(x, 0, &in, &given, false, &out[0], &done[0]));
    OK(be->execute(x, 0, &out[0], &given, false, &out[1], &done[1]));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lz_event_wait(done[i]), LZ_EDEVICE);
        ck_assert_msg(strstr(message(), "launching a kernel") != NULL, "%s", message());
        float v[40];
        ck_assert_int_eq(be->copy_out(out[i], v, 160), LZ_EDEVICE);
        lz_device_buffer_release(out[i]);
        lz_event_release(done[i]);
    }
    lz_device_buffer_release(in);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cuda");
    TCase *t = tcase_create("cuda");
    tcase_add_test(t, no_driver);
    tcase_add_test(t, not_a_driver);
    tcase_add_test(t, no_device);
    tcase_add_test(t, devices);
    tcase_add_test(t, fewer_devices);
    tcase_add_test(t, pool);
    tcase_add_test(t, out_of_memory);
    tcase_add_test(t, transfers);
    tcase_add_test(t, steps_in_flight);
    tcase_add_test(t, steps_as_graphs);
    tcase_add_test(t, steps_in_a_trace);
    tcase_add_test(t, graphs_of_other_addresses);
    tcase_add_loop_test(t, graphs_refused, 0, 3);
    tcase_add_test(t, another_device);
    tcase_add_test(t, kernels_from_disk);
    tcase_add_test(t, dumps_ptx);
    tcase_add_test(t, calls_fail);
    tcase_add_loop_test(t, starting_fails, 0, 3);
    tcase_add_loop_test(t, device_is_lost, 0, 8);
    tcase_add_loop_test(t, errors_travel, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
