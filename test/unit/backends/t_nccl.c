/* t_nccl.c - collectives between CUDA devices over NCCL, on libraries that stand in for it and for
 * the driver: every collective, dtype and form of groups has the reference's bits, as it has by
 * copies (t_cuda_team); which sums NCCL makes, and how far they are off; communicators made once;
 * work that hangs, errors of communicators, calls that fail, lost devices; no library, an old one,
 * one without the entry points. Each test has a process of its own. */
#include "cuda_collectives.h"
#include "base/log.h"
#include "ir/eval/eval.h"
#include "support/lit.h"
#include "test/mock/nccl_mock.h"
#include <float.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>

static struct {
    void (*fault)(lz_nccl_mock_fault, uint64_t, int);
    void (*version)(int);
    void (*stats)(lz_nccl_mock_stats *);
} lib;

/* path: of the library; NULL: the one that stands in */
static void use(int devices, const char *path)
{
    use_mock();
    mock.devices(devices);
    void *h = lz_mock_open(lz_mock_nccl_path());
    *(void **)&lib.fault = dlsym(h, "lzNcclMockFault");
    *(void **)&lib.version = dlsym(h, "lzNcclMockVersion");
    *(void **)&lib.stats = dlsym(h, "lzNcclMockGetStats");
    OK(lz_config_set("LAZULI_CUDA_NCCL", path ? path : lz_mock_nccl_path()));
}

static lz_nccl_mock_stats nccl_stats(void)
{
    lz_nccl_mock_stats s;
    lib.stats(&s);
    ck_assert_uint_eq(s.wrong, 0);
    return s;
}

static uint64_t bytes_across(void)
{
    lz_mock_stats s;
    mock.stats(&s);
    return s.bytes_across;
}

/* ---- every collective ---- */

static const int devices[NCOUNT] = {2, 2, 2, 4, 4, 4, 8, 8, 8, 8, 8, 8};

/* NaNs, infinities, zeros of either sign: all the reference's, and no byte goes by a copy from
 * device to device. */
START_TEST(one_collective)
{
    lz_rnd r = {lz_test_seed() + (uint64_t)_i};
    use(MOST, NULL);
    one_kind(&kinds[_i], &r, getenv("LZ_TEST_WHOLE") ? 1 : 3, devices);
    ck_assert_uint_gt(nccl_stats().groups, 0);
    ck_assert_uint_eq(bytes_across(), 0);
}
END_TEST

/* Where sums may be NCCL's, all that are no sums of floats have the reference's bits. */
START_TEST(fast_but_exact)
{
    static const int some[] = {2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13};
    lz_rnd r = {lz_test_seed() + (uint64_t)_i};
    use(MOST, NULL);
    OK(lz_config_set("LAZULI_COLLECTIVES", "fast"));
    one_kind(&kinds[some[_i]], &r, 5, devices);
    (void)nccl_stats();
}
END_TEST

/* Large sums, which are made in halves, uneven ones, too. */
START_TEST(large_sums)
{
    static const lz_dtype dtypes[] = {LZ_F32, LZ_BF16, LZ_I8, LZ_C64};
    lz_rnd r = {lz_test_seed()};
    use(MOST, NULL);
    for (int i = 0; i < 4; i++) {
        lz_shape s = lz_shape_make(2, (int64_t[]){i ? 3 : 4, i == 2 ? 30011 : i ? 7001 : 8192});
        int n = i == 1 ? 8 : 4;
        lz_func *f =
            program(&kinds[0], lz_type_get(dtypes[i], &s), i == 3 ? BACKWARDS : ALL, n, 0, 0);
        values in;
        fill_arguments(&r, f, n, LZ_FILL_MODEST, &in);
        compare(f, n, &in, 0, lz_dtype_name(dtypes[i]));
        release(&in);
        lz_func_free(f);
    }
    ck_assert_uint_gt(nccl_stats().reduced, 0); /* those of integers */
    ck_assert_uint_eq(bytes_across(), 0);
}
END_TEST

/* ---- which sums are NCCL's ---- */

static const struct who {
    lz_dtype dtype;
    lz_op op, combiner;
    bool ordered, fast; /* NCCL makes it in that mode */
} whose[] = {
    {LZ_F32, LZ_OP_ALL_REDUCE, LZ_OP_ADD, false, true},
    {LZ_F64, LZ_OP_ALL_REDUCE, LZ_OP_ADD, false, true},
    {LZ_BF16, LZ_OP_ALL_REDUCE, LZ_OP_ADD, false, true},
    {LZ_F16, LZ_OP_REDUCE_SCATTER, LZ_OP_ADD, false, true},
    {LZ_C64, LZ_OP_ALL_REDUCE, LZ_OP_ADD, false, true},
    {LZ_C128, LZ_OP_REDUCE_SCATTER, LZ_OP_ADD, false, true},
    {LZ_F32, LZ_OP_ALL_REDUCE, LZ_OP_MULTIPLY, false, true},
    {LZ_C64, LZ_OP_ALL_REDUCE, LZ_OP_MULTIPLY, false, false},
    {LZ_F32, LZ_OP_ALL_REDUCE, LZ_OP_MAXIMUM, false, false}, /* NaNs */
    {LZ_F32, LZ_OP_REDUCE_SCATTER, LZ_OP_MAXIMUM, false, false},
    {LZ_I32, LZ_OP_ALL_REDUCE, LZ_OP_ADD, true, true},
    {LZ_U64, LZ_OP_ALL_REDUCE, LZ_OP_MULTIPLY, true, true},
    {LZ_I8, LZ_OP_REDUCE_SCATTER, LZ_OP_MAXIMUM, true, true},
    {LZ_I16, LZ_OP_ALL_REDUCE, LZ_OP_ADD, false, false}, /* NCCL has no such type */
    {LZ_I32, LZ_OP_ALL_REDUCE, LZ_OP_XOR, false, false},
    {LZ_BOOL, LZ_OP_ALL_REDUCE, LZ_OP_AND, true, true},
    {LZ_BOOL, LZ_OP_ALL_REDUCE, LZ_OP_OR, true, true},
};
enum { NWHO = (int)(sizeof whose / sizeof *whose) };

START_TEST(whose_sum)
{
    use(4, NULL);
    lz_rnd r = {lz_test_seed()};
    for (int i = 0; i < 2 * NWHO; i++) {
        const struct who *w = &whose[i / 2];
        bool fast = i % 2;
        lz_shape s = lz_shape_make(2, (int64_t[]){8, 12});
        kind k = {w->op, w->combiner};
        OK(lz_config_set("LAZULI_COLLECTIVES", fast ? "fast" : "ordered"));
        lz_func *f = program(&k, lz_type_get(w->dtype, &s), ALL, 4, 0, 0);
        ck_assert_msg(f != NULL, "row %d", i / 2);
        values in;
        lz_nccl_mock_stats a = nccl_stats(), b;
        fill_arguments(&r, f, 4, LZ_FILL_MODEST, &in);
        compare(f, 4, &in, 1 << 20, "whose sum");
        b = nccl_stats();
        ck_assert_msg((b.reduced + b.scattered > a.reduced + a.scattered) ==
                          (fast ? w->fast : w->ordered),
                      "row %d, %s", i / 2, fast ? "fast" : "ordered");
        release(&in);
        lz_func_free(f);
    }
}
END_TEST

/* NCCL's sums of n terms: each of n - 1 additions rounds once. */
static void check_sum(const values *in, const values *got, int n, lz_dtype d, double eps)
{
    int64_t count = in->v[0][1]->type->nelem;
    for (int64_t i = 0; i < count; i++) {
        double sum = 0, size = 0;
        for (int q = 0; q < n; q++) {
            double v = lz_ref_load_f(d, in->v[q][1]->data, i);
            sum += v;
            size += fabs(v);
        }
        double is = lz_ref_load_f(d, got->v[n - 1][1]->data, i);
        ck_assert_msg(fabs(is - sum) <= n * eps * size + DBL_MIN, "%s, element %d: %g, not %g",
                      lz_dtype_name(d), (int)i, is, sum);
    }
}

START_TEST(fast_sums)
{
    static const struct {
        lz_dtype dtype;
        double eps;
    } types[] = {
        {LZ_F32, FLT_EPSILON}, {LZ_F64, DBL_EPSILON}, {LZ_BF16, 0x1p-7}, {LZ_F16, 0x1p-10}};
    static const int counts[] = {2, 4, 8};
    lz_rnd r = {lz_test_seed()};
    use(MOST, NULL);
    OK(lz_config_set("LAZULI_COLLECTIVES", "fast"));
    for (int i = 0; i < 12; i++) {
        lz_shape s = lz_shape_make(2, (int64_t[]){5, 13});
        int n = counts[i % 3];
        lz_dtype d = types[i / 3].dtype;
        lz_func *f = program(&kinds[0], lz_type_get(d, &s), ALL, n, 0, 0);
        values in, got;
        rows_of(&got);
        fill_arguments(&r, f, n, LZ_FILL_MODEST, &in);
        OK(lz_run_partitions(be, f, (uint32_t)n, 1, NULL, (lz_literal *const *const *)in.row,
                             got.row, NULL, NULL));
        check_sum(&in, &got, n, d, types[i / 3].eps);
        release(&in);
        release(&got);
        lz_func_free(f);
    }
    ck_assert_uint_gt(nccl_stats().reduced, 0);
}
END_TEST

/* ---- steps ---- */

enum { N = 4, ELEMS = 24 };
#define V "tensor<4x6xf32>"
/* two sums, of all and of pairs */
static const char text[] =
    "func.func @main(%x: " V ") -> " V " {\n"
    "  %q = stablehlo.constant dense<0.25> : " V "\n"
    "  %1 = \"stablehlo.all_reduce\"(%x) ({\n ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "  %s = stablehlo.add %a, %b : tensor<f32>\n  stablehlo.return %s : tensor<f32>\n})"
    " {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = "
    "#stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (" V ") -> " V "\n"
    "  %2 = stablehlo.multiply %1, %q : " V "\n"
    "  %3 = \"stablehlo.all_reduce\"(%2) ({\n ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "  %s = stablehlo.add %a, %b : tensor<f32>\n  stablehlo.return %s : tensor<f32>\n})"
    " {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, channel_handle = "
    "#stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids} : (" V ") -> " V "\n"
    "  return %3 : " V "\n}\n";

typedef struct steps {
    lz_func *f;
    lz_exec *x;
    lz_device_buffer *v[N];
    float want[ELEMS];
} steps;

static void fill(steps *s)
{
    for (int i = 0; i < ELEMS; i++)
        s->want[i] = 0;
    for (int q = 0; q < N; q++) {
        float v[ELEMS];
        for (int i = 0; i < ELEMS; i++) {
            v[i] = (float)(i - 3 * q);
            s->want[i] += v[i] * 0.5f;
        }
        lz_device_buffer_release(s->v[q]);
        OK(be->alloc(q, sizeof v, &s->v[q]));
        OK(be->copy_in(s->v[q], v, sizeof v));
    }
}

static void begin(steps *s, const char *path)
{
    memset(s, 0, sizeof *s);
    use(N, path);
    OK(lz_func_parse(text, strlen(text), "steps", &s->f));
    OK(be->init());
}

static void compile(steps *s)
{
    OK(be->compile(0, s->f, &(lz_compile_options){.partitions = N}, &s->x));
    fill(s);
}

static lz_status launch(steps *s, lz_device_buffer *out[N], lz_event **done)
{
    lz_device_buffer **outs[N], *const *ins[N];
    for (int q = 0; q < N; q++) {
        ins[q] = &s->v[q];
        outs[q] = &out[q];
    }
    return be->execute_partitions(s->x, N, NULL, ins, NULL, false, outs, NULL, done);
}

static void drop(lz_device_buffer *out[N], lz_event *done)
{
    for (int q = 0; q < N; q++)
        lz_device_buffer_release(out[q]);
    lz_event_release(done);
}

/* The status of a step; what it made, where that is right, is dropped. */
static lz_status step(steps *s)
{
    lz_device_buffer *out[N] = {0};
    lz_event *done = NULL;
    float got[ELEMS];
    lz_status st = launch(s, out, &done);
    if (st == LZ_OK)
        st = lz_event_wait(done);
    for (int q = 0; q < N && st == LZ_OK; q++) {
        st = be->copy_out(out[q], got, sizeof got);
        for (int i = 0; i < ELEMS && st == LZ_OK; i++)
            ck_assert_msg(got[i] == s->want[i], "partition %d, element %d: %g, not %g", q, i,
                          (double)got[i], (double)s->want[i]);
    }
    drop(out, done);
    return st;
}

static void end(steps *s)
{
    for (int q = 0; q < N; q++)
        lz_device_buffer_release(s->v[q]);
    be->exec_free(s->x);
    lz_func_free(s->f);
}

/* Communicators: four of all, two times two of pairs, for all programs and steps. */
START_TEST(made_once)
{
    steps s;
    begin(&s, NULL);
    for (int round = 0; round < 2; round++) {
        compile(&s);
        for (int i = 0; i < 3; i++)
            OK(step(&s));
        ck_assert_uint_eq(nccl_stats().made, 8);
        ck_assert_uint_eq(nccl_stats().live, 8);
        if (round == 0)
            be->exec_free(s.x);
    }
    ck_assert_uint_eq(nccl_stats().groups, 2 * 3 * 2);
    end(&s);
}
END_TEST

/* ---- what goes wrong ---- */

static const struct {
    lz_nccl_mock_fault fault;
    uint64_t group;
    lz_status status;
    const char *says[3];
} faults[] = {
    {LZ_NCCL_MOCK_HANG,
     1,
     LZ_ETIMEOUT,
     {"all_reduce of f32[4,6] among CUDA:[0, 1, 2, 3]", "1 s", "LAZULI_COLLECTIVE_TIMEOUT"}},
    {LZ_NCCL_MOCK_HANG, 2, LZ_ETIMEOUT, {"all_reduce of f32[4,6]", "among CUDA:[", "1 s"}},
    {LZ_NCCL_MOCK_ASYNC,
     1,
     LZ_EDEVICE,
     {"all_reduce of f32[4,6] among CUDA:[0, 1, 2, 3]", "NCCL: remote process", "(6)"}},
    {LZ_NCCL_MOCK_STUCK, 1, LZ_ETIMEOUT, {"among CUDA:[0, 1, 2, 3]", "not ready", "1 s"}},
};
enum { NFAULT = (int)(sizeof faults / sizeof *faults) };

/* The step fails, saying what and where; all communicators are aborted, so the devices go on, and
 * the next step makes new ones. */
START_TEST(fault)
{
    steps s;
    begin(&s, NULL);
    OK(lz_config_set("LAZULI_COLLECTIVE_TIMEOUT", "1"));
    compile(&s);
    OK(step(&s));
    for (int round = 0; round < 2; round++) {
        lib.fault(faults[_i].fault, faults[_i].group, 6);
        lz_status got = step(&s);
        ck_assert_msg(got == faults[_i].status, "status %d: %s", got, message());
        for (int k = 0; k < 3; k++)
            ck_assert_msg(strstr(message(), faults[_i].says[k]) != NULL, "%s", message());
        ck_assert_uint_eq(nccl_stats().aborted, 8 * (unsigned)(round + 1));
        OK(step(&s));
        ck_assert_uint_eq(nccl_stats().made, 8 * (unsigned)(round + 2));
        ck_assert_uint_eq(nccl_stats().live, 8);
    }
    end(&s);
}
END_TEST

/* Steps behind the one that hangs fail with it, and none of them hands out what it has. */
START_TEST(in_flight)
{
    enum { STEPS = 5 };
    steps s;
    lz_event *done[STEPS];
    lz_device_buffer *out[STEPS][N];
    begin(&s, NULL);
    OK(lz_config_set("LAZULI_COLLECTIVE_TIMEOUT", "1"));
    compile(&s);
    OK(step(&s));
    mock.hold(1);
    lib.fault(LZ_NCCL_MOCK_HANG, 3, 0);
    for (int t = 0; t < STEPS; t++)
        OK(launch(&s, out[t], &done[t]));
    mock.hold(0);
    for (int t = 0; t < STEPS; t++) {
        lz_status got = lz_event_wait(done[t]);
        ck_assert_msg(t == 0 || got == LZ_ETIMEOUT, "step %d: %d, %s", t, got, message());
        drop(out[t], done[t]);
    }
    OK(step(&s));
    end(&s);
}
END_TEST

/* A condition that all sum up: the launching thread reads it, in each round. */
static const char loop[] =
    "func.func @main(%x: " V ") -> " V " {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %lim = stablehlo.constant dense<200000.0> : tensor<f32>\n  %0 = stablehlo.while(%v = %x) "
    ": " V "\n  cond {\n"
    "    %r = \"stablehlo.all_reduce\"(%v) ({\n ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "    %s = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %s : tensor<f32>\n})"
    " {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = "
    "#stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (" V ") -> " V "\n"
    "    %q = stablehlo.multiply %r, %r : " V "\n"
    "    %t = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [0, 1] : (" V
    ", tensor<f32>) -> tensor<f32>\n"
    "    %c = stablehlo.compare LT, %t, %lim : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n  } do {\n    %w = stablehlo.add %v, %v : " V "\n"
    "    stablehlo.return %w : " V "\n  }\n  return %0 : " V "\n}\n";

/* A round that hangs ends the step, although the thread that would end it waits for the device. */
START_TEST(loop_that_hangs)
{
    lz_rnd r = {lz_test_seed()};
    lz_func *f = NULL;
    values in, got;
    lz_collective_uses uses = {0};
    use(N, NULL);
    OK(lz_config_set("LAZULI_COLLECTIVE_TIMEOUT", "1"));
    OK(lz_func_parse(loop, strlen(loop), "loop", &f));
    fill_arguments(&r, f, N, LZ_FILL_MODEST, &in);
    rows_of(&got);
    compare(f, N, &in, 4, "loop");
    lib.fault(LZ_NCCL_MOCK_HANG, 2, 0);
    lz_status s = lz_run_partitions(be, f, N, 1, NULL, (lz_literal *const *const *)in.row, got.row,
                                    &uses, NULL);
    ck_assert_msg(s == LZ_ETIMEOUT, "%d: %s", s, message());
    lz_vec_free(&uses);
    release(&got);
    compare(f, N, &in, 4, "loop");
    release(&in);
    lz_func_free(f);
}
END_TEST

/* Each call of a step fails in turn; then a group may lack ranks, which is why all are aborted. */
START_TEST(refused)
{
    static const char *const calls[] = {"ncclGroupStart", "ncclAllGather", "ncclGroupEnd",
                                        "ncclCommGetAsyncError", "cuEventRecord"};
    steps s;
    lz_mock_stats st;
    int failed = 0;
    begin(&s, NULL);
    compile(&s);
    for (int i = 0; i < 5; i++)
        for (uint64_t n = 1; n < 20; n += 2) {
            mock.fail_at(calls[i], n, 1);
            lz_status got = step(&s);
            mock.stats(&st);
            bool came = st.failed > 0;
            mock.reset();
            if (i != 3) /* another thread polls, too */
                ck_assert_msg(got == (came ? LZ_EDEVICE : LZ_OK), "%s %d: %d, %s", calls[i], (int)n,
                              got, message());
            if (came && got != LZ_OK && i < 4)
                ck_assert_msg(strstr(message(), "all_reduce") && strstr(message(), "NCCL"), "%s",
                              message());
            failed += came;
            OK(step(&s));
        }
    ck_assert_int_gt(failed, 10);
    end(&s);
}
END_TEST

/* A device that is lost while the others wait for it: the error is its own, at once. */
START_TEST(lost)
{
    steps s;
    begin(&s, NULL);
    compile(&s);
    OK(step(&s));
    lib.fault(LZ_NCCL_MOCK_HANG, 1, 0);
    mock.lose(2, 719);
    ck_assert_int_eq(step(&s), LZ_EDEVICE);
    ck_assert_msg(strstr(message(), "CUDA:2") != NULL, "%s", message());
    ck_assert_int_eq(step(&s), LZ_EDEVICE);
    end(&s);
}
END_TEST

/* The second device of four is lost once the work hangs. */
START_TEST(lost_in_flight)
{
    steps s;
    lz_event *done = NULL;
    lz_device_buffer *out[N];
    begin(&s, NULL);
    compile(&s);
    OK(step(&s));
    lib.fault(LZ_NCCL_MOCK_HANG, 1, 0);
    OK(launch(&s, out, &done));
    lib.fault(LZ_NCCL_MOCK_NOTHING, 0, 0);
    mock.lose(1, 719);
    ck_assert_int_eq(lz_event_wait(done), LZ_EDEVICE);
    ck_assert_msg(strstr(message(), "CUDA:1") != NULL, "%s", message());
    drop(out, done);
    end(&s);
}
END_TEST

/* The same where NCCL is not ready to go on: who waits for it does not keep others from seeing what
 * has happened. */
START_TEST(lost_while_not_ready)
{
    steps s;
    lz_event *done = NULL;
    lz_device_buffer *out[N];
    begin(&s, NULL);
    OK(lz_config_set("LAZULI_COLLECTIVE_TIMEOUT", "10"));
    compile(&s);
    OK(step(&s));
    uint64_t before = nccl_stats().groups;
    lib.fault(LZ_NCCL_MOCK_STUCK, 2, 0);
    OK(launch(&s, out, &done));
    while (nccl_stats().groups < before + 2)
        (void)sched_yield();
    mock.lose(1, 719);
    ck_assert_int_eq(lz_event_wait(done), LZ_EDEVICE);
    ck_assert_msg(strstr(message(), "CUDA:1") != NULL, "%s", message());
    drop(out, done);
    end(&s);
}
END_TEST

/* ---- without it ---- */

static const struct {
    const char *path; /* NULL: the library that stands in */
    int version;
    const char *call; /* fails when communicators are made */
} without[] = {{"off", 0, NULL},
               {"/nowhere/libnccl.so.2", 0, NULL},
               {"driver", 0, NULL}, /* a library that has none of its functions */
               {NULL, 21306, NULL},
               {NULL, 2803, NULL},
               {NULL, 0, "ncclGetVersion"},
               {NULL, 0, "ncclGetUniqueId"},
               {NULL, 0, "ncclCommInitRankConfig"},
               {NULL, 0, "ncclGroupStart"},
               {NULL, 0, "ncclGroupEnd"},
               {NULL, 0, "ncclCommGetAsyncError"},
               {NULL, 0, "stuck"}};
enum { NWITHOUT = (int)(sizeof without / sizeof *without) };

/* Devices copy to each other, and results are the same. */
START_TEST(copies_instead)
{
    steps s;
    const char *path = without[_i].path, *call = without[_i].call;
    begin(&s, path && strcmp(path, "driver") == 0 ? lz_mock_path() : path);
    if (without[_i].version)
        lib.version(without[_i].version);
    OK(lz_config_set("LAZULI_COLLECTIVE_TIMEOUT", "1"));
    if (call && strcmp(call, "stuck") == 0)
        lib.fault(LZ_NCCL_MOCK_STUCK, 1, 0);
    else if (call)
        mock.fail_at(call, 1, 2);
    compile(&s);
    OK(step(&s));
    OK(step(&s));
    ck_assert_uint_eq(nccl_stats().groups, 0);
    ck_assert_uint_eq(nccl_stats().live, 0);
    ck_assert_uint_gt(bytes_across(), 0);
    end(&s);
}
END_TEST

/* With a driver that stands in, the machine's own NCCL is not asked. */
START_TEST(not_unasked)
{
    steps s;
    begin(&s, "");
    compile(&s);
    OK(step(&s));
    ck_assert_uint_gt(bytes_across(), 0);
    end(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("nccl");
    TCase *t = tcase_create("nccl");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, one_collective, 0, NKIND);
    tcase_add_loop_test(t, fast_but_exact, 0, 11);
    tcase_add_test(t, large_sums);
    tcase_add_test(t, whose_sum);
    tcase_add_test(t, fast_sums);
    tcase_add_test(t, made_once);
    tcase_add_loop_test(t, fault, 0, NFAULT);
    tcase_add_test(t, in_flight);
    tcase_add_test(t, loop_that_hangs);
    tcase_add_test(t, refused);
    tcase_add_test(t, lost);
    tcase_add_test(t, lost_in_flight);
    tcase_add_test(t, lost_while_not_ready);
    tcase_add_loop_test(t, copies_instead, 0, NWITHOUT);
    tcase_add_test(t, not_unasked);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
