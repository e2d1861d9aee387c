/* t_cuda_team.c - programs of several CUDA devices, on the library that stands in for the driver:
 * every collective, dtype and form of groups against the reference evaluator, chains of them,
 * control flow, donation, what the host waits for, the driver's refusals, a device that is lost,
 * order with programs of one device. Each test has a process of its own. */
#include "cuda_collectives.h"
#include "support/lit.h"
#include <stdlib.h>

static void use(int devices)
{
    use_mock();
    mock.devices(devices);
}

/* ---- every collective ---- */

/* Of each dtype two forms of groups in turn, or all of them. */
START_TEST(one_collective)
{
    static const int counts[NCOUNT] = {2, 2, 2, 2, 4, 4, 4, 8, 8, 8, 1, 1};
    lz_rnd r = {lz_test_seed() + (uint64_t)_i};
    use(MOST);
    one_kind(&kinds[_i], &r, getenv("LZ_TEST_WHOLE") ? 1 : 3, counts);
}
END_TEST

/* Large sums, which are made in halves, uneven ones, too; several operands; groups of four. */
START_TEST(large_sums)
{
    static const lz_dtype dtypes[] = {LZ_F32, LZ_BF16, LZ_I8, LZ_C64};
    lz_rnd r = {lz_test_seed()};
    use(MOST);
    for (int i = 0; i < 4; i++) {
        lz_shape s = lz_shape_make(2, (int64_t[]){3, i == 2 ? 30011 : 7001});
        lz_func *f = program(&kinds[0], lz_type_get(dtypes[i], &s), i == 3 ? BACKWARDS : ALL,
                             i == 1 ? 8 : 4, 0, 0);
        values in;
        fill_arguments(&r, f, MOST, LZ_FILL_MODEST, &in);
        compare(f, i == 1 ? 8 : 4, &in, 0, lz_dtype_name(dtypes[i]));
        release(&in);
        lz_func_free(f);
    }
}
END_TEST

/* A region that is no plain combiner: a + 2 b. */
static const lz_func *odd_region(void)
{
    lz_func *f = lz_func_new("odd");
    lz_shape scalar = LZ_SCALAR;
    const lz_type *t = lz_type_get(LZ_F32, &scalar);
    lz_val a = lz_build_param(f, t), b = lz_build_param(f, t);
    lz_val y = lz_build_ew2(f, LZ_OP_ADD, a, lz_build_ew2(f, LZ_OP_ADD, b, b));
    OK(lz_func_set_results(f, &y, 1));
    const lz_func *out = lz_region_intern(f);
    lz_func_free(f);
    return out;
}

START_TEST(any_region)
{
    lz_rnd r = {lz_test_seed()};
    use(4);
    lz_attr_any a;
    lz_shape s = lz_shape_make(2, (int64_t[]){5, 7});
    lz_attr_init(&a, LZ_ATTR_all_reduce);
    a.as_all_reduce.channel_id = 1;
    a.as_all_reduce.use_global_device_ids = true;
    a.as_all_reduce.replica_groups = lz_string_get("[[3, 0], [1, 2]]", 16);
    a.as_all_reduce.computation = odd_region();
    lz_func *f = lz_func_new("odd");
    lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &s));
    lz_val y = lz_build(f, LZ_OP_ALL_REDUCE, &a.head, &x, 1);
    OK(lz_func_set_results(f, &y, 1));
    values in;
    fill_arguments(&r, f, 4, LZ_FILL_MODEST, &in);
    compare(f, 4, &in, 0, "a + 2 b");
    release(&in);
    lz_func_free(f);
}
END_TEST

/* ---- chains ---- */

#define V "tensor<4x6xf32>"
#define SUM(x)                                                                                     \
    "\"stablehlo.all_reduce\"(" x ") ({\n ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"               \
    "  %s = stablehlo.add %a, %b : tensor<f32>\n  stablehlo.return %s : tensor<f32>\n})"           \
    " {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = "                \
    "#stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (" V ") -> " V

static const char *const programs[] = {
    /* one sum feeds the next; the number of the partition is in it */
    "func.func @main(%x: " V ") -> " V " {\n"
    "  %p = stablehlo.partition_id : tensor<ui32>\n"
    "  %f = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>\n"
    "  %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> " V "\n"
    "  %q = stablehlo.constant dense<0.25> : " V "\n"
    "  %0 = stablehlo.add %x, %b : " V
    "\n  %1 = " SUM("%0") "\n"
                          "  %2 = stablehlo.multiply %1, %q : " V
                          "\n  %3 = stablehlo.add %2, %b : " V "\n"
                          "  %4 = " SUM("%3") "\n  %5 = stablehlo.multiply %4, %q : " V "\n"
                                              "  return %5 : " V "\n}\n",
    /* a loop of three rounds with a sum in it */
    "func.func @main(%x: " V ") -> " V " {\n"
    "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
    "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %0:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, " V "\n"
    "  cond {\n    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n  } do {\n"
    "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %h = stablehlo.constant dense<0.3> : " V
    "\n    %r = " SUM("%v") "\n"
                            "    %w = stablehlo.multiply %r, %h : " V
                            "\n    %j = stablehlo.add %i, %one : tensor<i32>\n"
                            "    stablehlo.return %j, %w : tensor<i32>, " V
                            "\n  }\n  return %0#1 : " V "\n}\n",
    /* a loop that each goes through as often as its number says, then a sum */
    "func.func @main(%x: " V ") -> " V " {\n"
    "  %p = stablehlo.partition_id : tensor<ui32>\n"
    "  %z = stablehlo.constant dense<0> : tensor<ui32>\n"
    "  %0:2 = stablehlo.while(%i = %z, %v = %x) : tensor<ui32>, " V "\n"
    "  cond {\n    %c = stablehlo.compare LT, %i, %p : (tensor<ui32>, tensor<ui32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n  } do {\n"
    "    %one = stablehlo.constant dense<1> : tensor<ui32>\n    %w = stablehlo.add %v, %v : " V "\n"
    "    %j = stablehlo.add %i, %one : tensor<ui32>\n"
    "    stablehlo.return %j, %w : tensor<ui32>, " V "\n  }\n  %r = " SUM("%0#1") "\n"
                                                                                  "  return %r : " V
                                                                                  "\n}\n",
    /* a condition that all sum up */
    "func.func @main(%x: " V ") -> " V " {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %lim = stablehlo.constant dense<200000.0> : tensor<f32>\n  %0 = stablehlo.while(%v = %x) "
    ": " V "\n  cond {\n    %r = " SUM(
        "%v") "\n    %q = stablehlo.multiply %r, %r : " V "\n"
              "    %t = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = "
              "[0, 1] : (" V ", tensor<f32>) -> tensor<f32>\n"
              "    %c = stablehlo.compare LT, %t, %lim : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
              "    stablehlo.return %c : tensor<i1>\n  } do {\n    %w = stablehlo.add %v, %v : " V
              "\n"
              "    stablehlo.return %w : " V "\n  }\n  return %0 : " V "\n}\n",
};
enum { NPROGRAM = (int)(sizeof programs / sizeof *programs) };

static lz_func *parse(const char *text)
{
    lz_func *f = NULL;
    ck_assert_msg(lz_func_parse(text, strlen(text), "chain", &f) == LZ_OK, "%s", message());
    return f;
}

START_TEST(in_control_flow)
{
    lz_rnd r = {lz_test_seed()};
    values in;
    use(4);
    lz_func *f = parse(programs[_i]);
    fill_arguments(&r, f, 4, LZ_FILL_MODEST, &in);
    compare(f, 4, &in, 4, "control flow");
    release(&in);
    lz_func_free(f);
}
END_TEST

/* ---- steps ---- */

enum { N = 4, ELEMS = 24 };
typedef struct steps {
    lz_func *f;
    lz_exec *x;
    lz_device_buffer *v[N];
    float want[N][ELEMS];
} steps;

static void advance(steps *s, int times)
{
    for (int t = 0; t < times; t++) {
        float sum[ELEMS] = {0}, mid[N][ELEMS], again[ELEMS] = {0};
        for (int q = 0; q < N; q++)
            for (int i = 0; i < ELEMS; i++)
                sum[i] += s->want[q][i] + (float)q;
        for (int q = 0; q < N; q++)
            for (int i = 0; i < ELEMS; i++)
                mid[q][i] = sum[i] * 0.25f + (float)q;
        for (int q = 0; q < N; q++)
            for (int i = 0; i < ELEMS; i++)
                again[i] += mid[q][i];
        for (int q = 0; q < N; q++)
            for (int i = 0; i < ELEMS; i++)
                s->want[q][i] = again[i] * 0.25f;
    }
}

static void begin(steps *s)
{
    bool donate = true;
    use(N);
    s->f = parse(programs[0]);
    OK(be->init());
    OK(be->compile(0, s->f, &(lz_compile_options){.partitions = N, .donate = &donate}, &s->x));
    for (int q = 0; q < N; q++) {
        for (int i = 0; i < ELEMS; i++)
            s->want[q][i] = (float)(i - 3 * q);
        OK(be->alloc(q, sizeof s->want[q], &s->v[q]));
        OK(be->copy_in(s->v[q], s->want[q], sizeof s->want[q]));
    }
}

static lz_status step(steps *s, bool donate, lz_event **done)
{
    lz_device_buffer *out[N], **outs[N];
    lz_device_buffer *const *ins[N];
    for (int q = 0; q < N; q++) {
        ins[q] = &s->v[q];
        outs[q] = &out[q];
    }
    LZ_TRY(be->execute_partitions(s->x, N, NULL, ins, &donate, false, outs, NULL, done));
    for (int q = 0; q < N; q++) {
        ck_assert_int_eq(out[q] == s->v[q], donate);
        ck_assert_uint_eq(out[q]->device, (unsigned)q);
        lz_device_buffer_release(s->v[q]);
        s->v[q] = out[q];
    }
    return LZ_OK;
}

static void expect(const steps *s)
{
    float got[ELEMS];
    for (int q = 0; q < N; q++) {
        OK(be->copy_out(s->v[q], got, sizeof got));
        for (int i = 0; i < ELEMS; i++)
            ck_assert_msg(fabsf(got[i] - s->want[q][i]) <= 1e-5f * (1 + fabsf(s->want[q][i])),
                          "partition %d, element %d: %g, not %g", q, i, (double)got[i],
                          (double)s->want[q][i]);
    }
}

static void end(steps *s)
{
    for (int q = 0; q < N; q++)
        lz_device_buffer_release(s->v[q]);
    be->exec_free(s->x);
    lz_func_free(s->f);
}

/* Results take over donated memory, on every device. What is not donated stays. */
START_TEST(donation)
{
    steps s;
    uint64_t used[2][N];
    lz_device_info info;
    begin(&s);
    for (int t = 0; t < 6; t++) {
        lz_event *done = NULL;
        lz_device_buffer *kept = s.v[1];
        float before[ELEMS], after[ELEMS];
        memcpy(before, s.want[1], sizeof before);
        lz_device_buffer_retain(kept);
        OK(step(&s, t != 2, &done));
        OK(lz_event_wait(done));
        lz_event_release(done);
        advance(&s, 1);
        if (t == 2) {
            OK(be->copy_out(kept, after, sizeof after));
            for (int i = 0; i < ELEMS; i++)
                ck_assert_float_eq_tol(before[i], after[i], 1e-3f * (1 + fabsf(before[i])));
        }
        lz_device_buffer_release(kept);
        for (int q = 0; q < N; q++) {
            OK(be->device_info(q, &info));
            used[t > 3][q] = info.memory_used;
            if (t > 4)
                ck_assert_uint_eq(used[1][q], used[0][q]);
        }
    }
    expect(&s);
    end(&s);
}
END_TEST

/* Many steps are on the streams before the first one has ended, and the host waits for nothing but
 * their ends: one event of each device for each step. */
START_TEST(host_waits_for_ends_only)
{
    enum { STEPS = 20 };
    steps s;
    lz_mock_stats a, b;
    lz_event *done[STEPS];
    begin(&s);
    for (int warm = 0; warm < 3; warm++) {
        OK(step(&s, true, &done[0]));
        OK(lz_event_wait(done[0]));
        lz_event_release(done[0]);
    }
    mock.stats(&a);
    mock.hold(1);
    for (int t = 0; t < STEPS; t++)
        OK(step(&s, true, &done[t]));
    for (int t = 0; t < STEPS; t++)
        ck_assert(!lz_event_done(done[t]));
    mock.hold(0);
    for (int t = 0; t < STEPS; t++) {
        OK(lz_event_wait(done[t]));
        lz_event_release(done[t]);
    }
    mock.stats(&b);
    ck_assert_uint_eq(b.waits - a.waits, STEPS * N);
    ck_assert_uint_eq(b.bytes_in, a.bytes_in);
    ck_assert_uint_eq(b.bytes_out, a.bytes_out);
    /* each device gets the operand of three others, twice a step */
    ck_assert_uint_eq(b.bytes_across - a.bytes_across, STEPS * 2 * N * (N - 1) * ELEMS * 4);
    advance(&s, STEPS + 3);
    expect(&s);
    end(&s);
}
END_TEST

/* One set of kernels: the code of device 0 is loaded on the others, too. */
START_TEST(compiled_once)
{
    use(N);
    lz_exec_info one, all;
    lz_func *f = parse(programs[0]);
    lz_exec *x;
    lz_mock_stats a, b, c;
    OK(be->init());
    mock.stats(&a);
    OK(be->compile(0, f, &(lz_compile_options){.partitions = N}, &x));
    mock.stats(&b);
    be->exec_info(x, &all);
    ck_assert_uint_gt(all.llvm_compiles, 0);
    ck_assert_uint_eq(b.modules - a.modules, N * all.llvm_compiles);
    lz_exec *again;
    OK(be->compile(0, f, &(lz_compile_options){.partitions = N}, &again));
    mock.stats(&c);
    be->exec_info(again, &one);
    ck_assert_uint_eq(one.llvm_compiles, 0);
    ck_assert_uint_eq(c.modules, b.modules);
    be->exec_free(again);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* ---- errors ---- */

/* Each driver call of a step fails in turn: the step's event says so, and the next step, with
 * arguments of its own, is right. */
START_TEST(refused)
{
    static const char *const calls[] = {"cuLaunchKernel", "cuMemcpyPeerAsync", "cuStreamWaitEvent",
                                        "cuEventRecord", "cuMemcpyDtoDAsync_v2"};
    steps s;
    lz_mock_stats st;
    int failed = 0;
    begin(&s);
    for (int i = 0; i < 5; i++)
        for (uint64_t n = 1; n < 40; n += 3) {
            lz_event *done = NULL;
            float v[N][ELEMS];
            memcpy(v, s.want, sizeof v);
            mock.fail_at(calls[i], n, 1);
            OK(step(&s, true, &done));
            lz_status got = lz_event_wait(done);
            lz_event_release(done);
            mock.stats(&st);
            bool came = st.failed > 0;
            mock.reset();
            ck_assert_int_eq(got, came ? LZ_EDEVICE : LZ_OK);
            failed += came;
            for (int q = 0; q < N; q++) {
                lz_device_buffer_release(s.v[q]);
                OK(be->alloc(q, sizeof v[q], &s.v[q]));
                OK(be->copy_in(s.v[q], v[q], sizeof v[q]));
            }
            OK(step(&s, true, &done));
            OK(lz_event_wait(done));
            lz_event_release(done);
            memcpy(s.want, v, sizeof v);
            advance(&s, 1);
            expect(&s);
        }
    ck_assert_int_gt(failed, 20);
    end(&s);
}
END_TEST

/* A device that is lost while steps run: they fail, and so do later ones, saying which it was. */
START_TEST(lost)
{
    steps s;
    lz_event *done[3];
    begin(&s);
    OK(step(&s, true, &done[0]));
    OK(lz_event_wait(done[0]));
    lz_event_release(done[0]);
    mock.hold(1);
    for (int t = 0; t < 3; t++)
        OK(step(&s, true, &done[t]));
    mock.lose(2, 719);
    mock.hold(0);
    for (int t = 0; t < 3; t++) {
        ck_assert_int_eq(lz_event_wait(done[t]), LZ_EDEVICE);
        ck_assert_msg(strstr(message(), "CUDA:2") != NULL, "%s", message());
        lz_event_release(done[t]);
    }
    lz_event *late = NULL;
    lz_status st = step(&s, true, &late);
    if (st == LZ_OK)
        st = lz_event_wait(late);
    lz_event_release(late);
    ck_assert_int_eq(st, LZ_EDEVICE);
    ck_assert_msg(strstr(message(), "CUDA:2") != NULL && strstr(message(), "lost") != NULL, "%s",
                  message());
    OK(be->wait_all(0));
    end(&s);
}
END_TEST

START_TEST(said_so)
{
    lz_exec *x = NULL;
    lz_event *done = NULL;
    steps s;
    begin(&s);
    ck_assert_int_eq(be->compile(0, s.f, &(lz_compile_options){.partitions = 5}, &x), LZ_EINVAL);
    lz_func *f = triple(8);
    ck_assert_int_eq(be->compile(0, f, &(lz_compile_options){.partitions = 5}, &x), LZ_ERANGE);
    ck_assert_msg(strstr(message(), "5") && strstr(message(), "there are 4"), "%s", message());
    lz_func_free(f);
    OK(lz_config_set("LAZULI_CUDA_PEERS", "off"));
    ck_assert_int_eq(be->compile(0, s.f, &(lz_compile_options){.partitions = N}, &x),
                     LZ_EUNSUPPORTED);
    OK(lz_config_set("LAZULI_CUDA_PEERS", "on"));
    lz_device_buffer *swap = s.v[1];
    s.v[1] = s.v[2];
    s.v[2] = swap;
    ck_assert_int_eq(step(&s, false, &done), LZ_EINVAL);
    ck_assert_msg(strstr(message(), "of partition 1 is on CUDA:2"), "%s", message());
    lz_device_buffer *out;
    ck_assert_int_eq(be->execute(s.x, 0, s.v, NULL, false, &out, &done), LZ_EINVAL);
    end(&s);
}
END_TEST

/* ---- with programs of one device ---- */

/* A result of all is an argument of one, whose result is an argument of all again; nobody waits. */
START_TEST(alone_and_together)
{
    steps s;
    lz_exec *one[N];
    lz_event *done, *last = NULL;
    begin(&s);
    lz_func *f = triple(ELEMS);
    for (int q = 0; q < N; q++)
        OK(be->compile(q, f, NULL, &one[q]));
    for (int t = 0; t < 8; t++) {
        int q = t % N;
        OK(step(&s, t & 1, &done));
        lz_event_release(done);
        advance(&s, 1);
        lz_device_buffer *out = NULL;
        OK(be->execute(one[q], q, &s.v[q], NULL, false, &out, &done));
        lz_event_release(last);
        last = done;
        lz_device_buffer_release(s.v[q]);
        s.v[q] = out;
        for (int i = 0; i < ELEMS; i++)
            s.want[q][i] *= 3;
    }
    OK(lz_event_wait(last));
    lz_event_release(last);
    expect(&s);
    for (int q = 0; q < N; q++)
        be->exec_free(one[q]);
    lz_func_free(f);
    end(&s);
}
END_TEST

/* Devices that cannot reach each other: the driver carries the bytes. */
START_TEST(unreachable)
{
    steps s;
    lz_event *done;
    use_mock();
    mock.reachable(0);
    begin(&s);
    OK(step(&s, true, &done));
    OK(lz_event_wait(done));
    lz_event_release(done);
    advance(&s, 1);
    expect(&s);
    end(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cuda_team");
    TCase *t = tcase_create("cuda_team");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, one_collective, 0, NKIND);
    tcase_add_test(t, large_sums);
    tcase_add_test(t, any_region);
    tcase_add_loop_test(t, in_control_flow, 0, NPROGRAM);
    tcase_add_test(t, donation);
    tcase_add_test(t, host_waits_for_ends_only);
    tcase_add_test(t, compiled_once);
    tcase_add_test(t, refused);
    tcase_add_test(t, lost);
    tcase_add_test(t, said_so);
    tcase_add_test(t, alone_and_together);
    tcase_add_test(t, unreachable);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
