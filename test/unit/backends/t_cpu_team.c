/* t_cpu_team.c - programs of several partitions on the CPU and on REF, against the reference
 * evaluator; donation; many runs from several threads, with more partitions than cores. */
#include "backends/common/partitions.h"
#include "backends/common/program_store.h"
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/workers.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/thread.h"
#include "ir/attr.h"
#include "ir/eval/eval_partitions.h"
#include "suite.h"
#include "support/lit.h"
#include "support/partition_values.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };

#define SUM                                                                                        \
    "({\n ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n  %%s = stablehlo.add %%a, %%b : "            \
    "tensor<f32>\n"                                                                                \
    "  stablehlo.return %%s : tensor<f32>\n})"
#define CHANNEL                                                                                    \
    "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids"

static void groups(lz_buf *b, int n)
{
    lz_buf_puts(b, "dense<[[");
    for (int i = 0; i < n; i++)
        lz_buf_printf(b, "%s%d", i ? ", " : "", i);
    lz_buf_printf(b, "]]> : tensor<1x%dxi64>", n);
}

/* `count` collectives, one after the other, with something elementwise between, and the number of
 * the partition in it. */
static lz_func *chain(int n, int count)
{
    lz_buf b = {0}, g = {0};
    lz_func *f = NULL;
    groups(&g, n);
    lz_buf_puts(&b, "func.func @main(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {\n"
                    "  %p = stablehlo.partition_id : tensor<ui32>\n"
                    "  %pf = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>\n"
                    "  %pb = stablehlo.broadcast_in_dim %pf, dims = [] : (tensor<f32>) -> "
                    "tensor<64x8xf32>\n");
    lz_buf_printf(&b, "  %%n = stablehlo.constant dense<%g> : tensor<64x8xf32>\n", 1. / n);
    lz_buf_puts(&b, "  %0 = stablehlo.add %x, %pb : tensor<64x8xf32>\n");
    for (int i = 0; i < count; i++) {
        if (i % 3 == 2)
            lz_buf_printf(&b,
                          "  %%%d = \"stablehlo.all_to_all\"(%%%d) {split_dimension = 0 : i64, "
                          "concat_dimension = 0 : i64, split_count = %d : i64, replica_groups = "
                          "%s, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : "
                          "(tensor<64x8xf32>) -> tensor<64x8xf32>\n",
                          2 * i + 1, 2 * i, n, g.data);
        else
            lz_buf_printf(&b,
                          "  %%%d = \"stablehlo.all_reduce\"(%%%d) " SUM
                          " {replica_groups = %s, " CHANNEL
                          "} : (tensor<64x8xf32>) -> tensor<64x8xf32>\n",
                          2 * i + 1, 2 * i, g.data);
        lz_buf_printf(&b, "  %%t%d = stablehlo.multiply %%%d, %%n : tensor<64x8xf32>\n", i,
                      2 * i + 1);
        lz_buf_printf(&b, "  %%%d = stablehlo.add %%t%d, %%pb : tensor<64x8xf32>\n", 2 * i + 2, i);
    }
    lz_buf_printf(&b, "  return %%%d : tensor<64x8xf32>\n}\n", 2 * count);
    ck_assert_msg(lz_func_parse(b.data, b.len, "chain", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
    lz_buf_free(&g);
    return f;
}

static void fill(const lz_func *f, int n, values *in)
{
    lz_rnd r = {lz_test_seed()};
    fill_arguments(&r, f, n, LZ_FILL_MODEST, in);
}

static void compare(const char *backend, const lz_func *f, int n, const values *in, int ulp)
{
    values want, got;
    lz_collective_uses a = {0}, b = {0};
    lz_exec_info info;
    rows_of(&want);
    rows_of(&got);
    ck_assert_msg(
        lz_ref_count_partitions(f, n, (lz_literal *const *const *)in->row, want.row, &a) == LZ_OK,
        "%s", lz_error_get()->message);
    ck_assert_msg(lz_run_partitions(lz_backend_get(backend), f, (uint32_t)n, 3, NULL,
                                    (lz_literal *const *const *)in->row, got.row, &b,
                                    &info) == LZ_OK,
                  "%s", lz_error_get()->message);
    compare_results(f, n, &got, &want, ulp, backend, "");
    ck_assert_uint_eq(a.len, b.len);
    for (uint32_t i = 0; i < a.len; i++) {
        ck_assert_ptr_eq(a.data[i].sig, b.data[i].sig);
        ck_assert_uint_eq(a.data[i].executions, b.data[i].executions);
        ck_assert_uint_eq(a.data[i].group_size, b.data[i].group_size);
    }
    ck_assert_uint_gt(info.argument_bytes, 0);
    lz_vec_free(&a);
    lz_vec_free(&b);
    release(&want);
    release(&got);
}

static const int counts[] = {2, 4, 8, 64};

START_TEST(chains)
{
    int n = counts[_i];
    lz_func *f = chain(n, 12);
    values in;
    fill(f, n, &in);
    compare("CPU", f, n, &in, 4);
    compare("REF", f, n, &in, 0);
    release(&in);
    lz_func_free(f);
}
END_TEST

/* Large enough for the workers to share, of several dtypes, exactly. */
START_TEST(large)
{
    static const lz_dtype dtypes[] = {LZ_F32, LZ_BF16, LZ_I8, LZ_F64};
    for (int i = 0; i < 4; i++) {
        lz_func *f = lz_func_new("large");
        lz_attr_any a, g;
        lz_shape s = LZ_SHAPE(4, 30011);
        lz_attr_init(&a, LZ_ATTR_all_reduce);
        a.as_all_reduce.channel_id = 1;
        a.as_all_reduce.replica_groups = lz_string_get("[[0]]", 5);
        a.as_all_reduce.computation = lz_region_binary(LZ_OP_ADD, dtypes[i]);
        lz_attr_init(&g, LZ_ATTR_all_gather);
        g.as_all_gather.channel_id = 2;
        g.as_all_gather.replica_groups = a.as_all_reduce.replica_groups;
        g.as_all_gather.participants = 4;
        g.as_all_gather.all_gather_dim = 1;
        lz_val x = lz_build_param(f, lz_type_get(dtypes[i], &s));
        lz_val out[2] = {lz_build(f, LZ_OP_ALL_REDUCE, &a.head, &x, 1),
                         lz_build(f, LZ_OP_ALL_GATHER, &g.head, &x, 1)};
        ck_assert_int_eq(lz_func_set_results(f, out, 2), LZ_OK);
        values in;
        fill(f, 4, &in);
        compare("CPU", f, 4, &in, 0);
        release(&in);
        lz_func_free(f);
    }
}
END_TEST

/* Donated arguments become results; what is not donated stays. */
START_TEST(donation)
{
    const lz_backend *b = lz_backend_get("CPU");
    lz_func *f = chain(4, 3);
    const bool donate[1] = {true};
    lz_compile_options o = {.partitions = 4, .donate = donate};
    lz_exec *x;
    lz_device_buffer *in[4], *out[4];
    lz_device_buffer **out_rows[4] = {&out[0], &out[1], &out[2], &out[3]};
    lz_device_buffer *const *const in_rows[4] = {&in[0], &in[1], &in[2], &in[3]};
    lz_event *done;
    ck_assert_int_eq(b->init(), LZ_OK);
    ck_assert_int_eq(b->compile(0, f, &o, &x), LZ_OK);
    float v[64 * 8];
    for (int i = 0; i < 64 * 8; i++)
        v[i] = (float)i;
    for (int q = 0; q < 4; q++) {
        ck_assert_int_eq(b->alloc(0, sizeof v, &in[q]), LZ_OK);
        ck_assert_int_eq(b->copy_in(in[q], v, sizeof v), LZ_OK);
    }
    for (int pass = 0; pass < 2; pass++) {
        float w[64 * 8];
        ck_assert_msg(b->execute_partitions(x, 4, NULL, in_rows, pass ? donate : NULL, pass,
                                            out_rows, NULL, &done) == LZ_OK,
                      "%s", lz_error_get()->message);
        ck_assert_int_eq(lz_event_wait(done), LZ_OK);
        lz_event_release(done);
        for (int q = 0; q < 4; q++) {
            ck_assert_int_eq(pass, out[q] == in[q]);
            ck_assert_int_eq(b->copy_out(in[q], w, sizeof w), LZ_OK);
            ck_assert_int_eq(pass, memcmp(v, w, sizeof v) != 0);
            lz_device_buffer_release(out[q]);
        }
    }
    /* and alone it does not run */
    ck_assert_int_eq(b->execute(x, 0, in, NULL, true, out, &done), LZ_EINVAL);
    for (int q = 0; q < 4; q++)
        lz_device_buffer_release(in[q]);
    b->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* Results are on the devices that the caller names, and counted there. */
START_TEST(homes)
{
    static const uint32_t home[3] = {3, 0, 2};
    const lz_backend *b = lz_backend_get("CPU");
    lz_func *f = chain(3, 2);
    lz_compile_options o = {.partitions = 3};
    lz_exec *x;
    lz_device_buffer *in[3], *out[3];
    lz_device_buffer **out_rows[3] = {&out[0], &out[1], &out[2]};
    lz_device_buffer *const *const in_rows[3] = {&in[0], &in[1], &in[2]};
    lz_device_info before[4], after;
    lz_event *done;
    static const float v[64 * 8];
    ck_assert_int_eq(lz_config_set("CPU_NUM_DEVICES", "4"), LZ_OK);
    ck_assert_int_eq(b->init(), LZ_OK);
    ck_assert_int_eq(b->compile(0, f, &o, &x), LZ_OK);
    for (int q = 0; q < 3; q++) {
        ck_assert_int_eq(b->alloc((int)home[q], sizeof v, &in[q]), LZ_OK);
        ck_assert_int_eq(b->copy_in(in[q], v, sizeof v), LZ_OK);
    }
    for (int d = 0; d < 4; d++)
        ck_assert_int_eq(b->device_info(d, &before[d]), LZ_OK);
    ck_assert_int_eq(b->execute_partitions(x, 3, home, in_rows, NULL, true, out_rows, NULL, &done),
                     LZ_OK);
    ck_assert_int_eq(lz_event_wait(done), LZ_OK);
    lz_event_release(done);
    for (int q = 0; q < 3; q++) {
        ck_assert_uint_eq(out[q]->device, home[q]);
        ck_assert_int_eq(b->device_info((int)home[q], &after), LZ_OK);
        ck_assert_uint_ge(after.memory_used, before[home[q]].memory_used + sizeof v);
        lz_device_buffer_release(out[q]);
        lz_device_buffer_release(in[q]);
    }
    b->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* Replicas and partitions of one function are other programs, and the key says which. */
START_TEST(keys)
{
    static const uint32_t teams[] = {0, 4, 4 | LZ_KEY_OVERLAP, 4 | LZ_KEY_PARTITIONS,
                                     8 | LZ_KEY_PARTITIONS};
    lz_func *f = chain(4, 3);
    const bool donate[1] = {true};
    lz_buf device = {0}, key[5] = {{0}, {0}, {0}, {0}, {0}};
    lz_buf_puts(&device, "CPU; mine");
    for (int i = 0; i < 5; i++) {
        lz_program_parts p;
        lz_compile_options o = {0};
        ck_assert_int_eq(lz_program_key(&device, donate, f, teams[i], &key[i]), LZ_OK);
        ck_assert_int_eq(lz_program_take_apart(key[i].data, key[i].len, &p), LZ_OK);
        ck_assert_uint_eq(p.team, teams[i]);
        lz_program_set_team(&o, p.team);
        ck_assert_uint_eq(o.partitions, i == 4 ? 8 : i ? 4 : 0);
        ck_assert_int_eq(o.replicas, i == 1 || i == 2);
        lz_program_parts_free(&p);
        for (int k = 0; k < i; k++)
            ck_assert(key[k].len != key[i].len ||
                      memcmp(key[k].data, key[i].data, key[i].len) != 0);
    }
    for (int i = 0; i < 5; i++)
        lz_buf_free(&key[i]);
    lz_buf_free(&device);
    lz_func_free(f);
}
END_TEST

/* Stored and read again; for another number of partitions it is no such program. */
START_TEST(stored)
{
    const lz_backend *b = lz_backend_get("CPU");
    lz_func *f = chain(4, 3);
    lz_compile_options o = {.partitions = 4, .func = f}, other = {.partitions = 8, .func = f},
                       alone = {.func = f};
    lz_exec *x, *y = NULL;
    lz_buf bytes = {0};
    ck_assert_int_eq(b->compile(0, f, &o, &x), LZ_OK);
    ck_assert_int_eq(b->serialize(x, &bytes), LZ_OK);
    b->exec_free(x);
    ck_assert_msg(b->deserialize(0, bytes.data, bytes.len, &o, &y) == LZ_OK, "%s",
                  lz_error_get()->message);
    b->exec_free(y);
    ck_assert_int_eq(b->deserialize(0, bytes.data, bytes.len, &other, &y), LZ_ECORRUPT);
    ck_assert_int_eq(b->deserialize(0, bytes.data, bytes.len, &alone, &y), LZ_ECORRUPT);
    lz_buf_free(&bytes);
    lz_func_free(f);
}
END_TEST

/* ---- many runs ---- */

typedef struct runner {
    const lz_backend *b;
    lz_exec *x;
    int n, runs;
    float want;
    bool same;
} runner;

static float run_once(const runner *r, lz_device_buffer **in, int i)
{
    lz_device_buffer *out[MOST], **out_rows[MOST];
    lz_device_buffer *const *in_rows[MOST];
    lz_event *done;
    for (int q = 0; q < r->n; q++) {
        in_rows[q] = &in[q];
        out_rows[q] = &out[q];
    }
    float v[64 * 8], last = 0;
    ck_assert_int_eq(
        r->b->execute_partitions(r->x, r->n, NULL, in_rows, NULL, i % 2, out_rows, NULL, &done),
        LZ_OK);
    ck_assert_int_eq(lz_event_wait(done), LZ_OK);
    lz_event_release(done);
    for (int q = 0; q < r->n; q++) {
        if (q == r->n - 1) {
            ck_assert_int_eq(r->b->copy_out(out[q], v, sizeof v), LZ_OK);
            last = v[511];
        }
        lz_device_buffer_release(out[q]);
    }
    return last;
}

static void *run_many(void *arg)
{
    runner *r = arg;
    lz_device_buffer *in[MOST];
    float v[64 * 8];
    for (int q = 0; q < r->n; q++) {
        for (int i = 0; i < 64 * 8; i++)
            v[i] = (float)(i % 7 + q % 3);
        ck_assert_int_eq(r->b->alloc(0, sizeof v, &in[q]), LZ_OK);
        ck_assert_int_eq(r->b->copy_in(in[q], v, sizeof v), LZ_OK);
    }
    r->want = run_once(r, in, 1);
    r->same = true;
    for (int i = 0; i < r->runs; i++)
        r->same &= run_once(r, in, i) == r->want;
    for (int q = 0; q < r->n; q++)
        lz_device_buffer_release(in[q]);
    return NULL;
}

/* 100 collectives, over and over, from four threads at once: no hang, the same bits. The whole of
 * it is 10,000 runs of each. */
START_TEST(many_runs)
{
    static const int of[] = {2, 8, 64};
    int n = of[_i], runs = getenv("LZ_TEST_WHOLE") ? 10000 : 3200 / n / 8;
    lz_func *f = chain(n, 100);
    lz_compile_options o = {.partitions = (uint32_t)n};
    runner r[4];
    pthread_t t[4];
    lz_exec *x;
    const lz_backend *b = lz_backend_get("CPU");
    ck_assert_int_eq(b->compile(0, f, &o, &x), LZ_OK);
    for (int i = 0; i < 4; i++) {
        r[i] = (runner){.b = b, .x = x, .n = n, .runs = runs / 4 + 1};
        ck_assert_int_eq(pthread_create(&t[i], NULL, run_many, &r[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        ck_assert(r[i].same && r[i].want == r[0].want);
    }
    b->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* An execution like the one before takes no memory but that of the results' handles and of events,
 * which are recycled: the job, with the states of all partitions, is there. */
START_TEST(steady)
{
    lz_func *f = chain(8, 4);
    lz_compile_options o = {.partitions = 8};
    runner r = {.b = lz_backend_get("CPU"), .n = 8};
    lz_device_buffer *in[MOST];
    ck_assert_int_eq(r.b->compile(0, f, &o, &r.x), LZ_OK);
    for (int q = 0; q < r.n; q++) {
        float v[64 * 8] = {(float)q};
        ck_assert_int_eq(r.b->alloc(0, sizeof v, &in[q]), LZ_OK);
        ck_assert_int_eq(r.b->copy_in(in[q], v, sizeof v), LZ_OK);
    }
    float want = run_once(&r, in, 1);
    (void)run_once(&r, in, 1);
    uint64_t before = lz_alloc_count();
    enum { RUNS = 40 };
    for (int i = 0; i < RUNS; i++)
        ck_assert(run_once(&r, in, 1) == want);
    /* a thread that had nothing to do before may want memory of its own */
    ck_assert_uint_lt(lz_alloc_count() - before, RUNS / 2);
    for (int q = 0; q < r.n; q++)
        lz_device_buffer_release(in[q]);
    r.b->exec_free(r.x);
    lz_func_free(f);
}
END_TEST

/* ---- partitions at once ---- */

static void use_threads(int n)
{
    char text[16];
    snprintf(text, sizeof text, "%d", n);
    lz_workers_stop();
    ck_assert_int_eq(lz_config_set("LAZULI_NUM_THREADS", text), LZ_OK);
}

typedef struct meeting {
    _Atomic int here, met;
    _Atomic uint32_t order; /* a digit of each partition that came, while nobody waits */
    bool wait;
    int fails;
} meeting;

/* Waits until two partitions are here at once: for as long as a loaded machine may need. */
static lz_status meet(void *ctx, uint32_t q, void *run)
{
    meeting *m = ctx;
    ck_assert_ptr_nonnull(run);
    m->order = m->order * 10 + q + 1;
    m->here++;
    for (int i = 0; i < 200000 && m->wait && m->here < 2 && !m->met; i++)
        usleep(100);
    m->met |= m->here >= 2;
    m->here--;
    return (int)q == m->fails ? LZ_FAIL(LZ_ERANGE, "partition %u", q) : LZ_OK;
}

/* Two workers take partitions of their own; what is little, and what does not divide well or must
 * not, goes through them in order. */
START_TEST(at_once)
{
    enum { MUCH = 1 << 30 };
    lz_cpu_device d = {.at_once = true};
    meeting m = {.wait = true, .fails = -1};
    use_threads(2);
    ck_assert_int_eq(lz_cpu_each(&d.scratch, 4, MUCH, MUCH, meet, &m), LZ_OK);
    ck_assert_int_eq(m.met, 1);
    m = (meeting){.wait = true, .fails = 3};
    ck_assert_int_eq(lz_cpu_each(&d.scratch, 4, MUCH, MUCH, meet, &m), LZ_ERANGE);
    ck_assert_str_eq(lz_error_get()->message, "partition 3");
    m = (meeting){.fails = -1};
    ck_assert_int_eq(lz_cpu_each(&d.scratch, 4, 100, 100, meet, &m), LZ_OK);
    ck_assert_uint_eq(m.order, 1234);
    m = (meeting){.fails = 2};
    d.at_once = false;
    ck_assert_int_eq(lz_cpu_each(&d.scratch, 4, MUCH, MUCH, meet, &m), LZ_ERANGE);
    ck_assert_uint_eq(m.order, 123);
    use_threads(4);
    d.at_once = true;
    m = (meeting){.fails = -1};
    ck_assert_int_eq(lz_cpu_each(&d.scratch, 2, MUCH, MUCH, meet, &m), LZ_OK);
    ck_assert_uint_eq(m.order, 12);
    use_threads(0);
}
END_TEST

/* Products, with a loop between two of them, and sums over all. */
static lz_func *products(void)
{
    static const char text[] =
        "func.func @main(%x: tensor<96x128xf32>, %w: tensor<128x128xf32>) -> (tensor<96x128xf32>, "
        "tensor<128xf32>) {\n"
        "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<96x128xf32>, "
        "tensor<128x128xf32>) -> tensor<96x128xf32>\n"
        "  %1 = stablehlo.tanh %0 : tensor<96x128xf32>\n"
        "  %2 = \"stablehlo.all_reduce\"(%1) ({\n ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
        "  %s = stablehlo.add %a, %b : tensor<f32>\n  stablehlo.return %s : tensor<f32>\n})"
        " {replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, " CHANNEL
        "} : (tensor<96x128xf32>) -> tensor<96x128xf32>\n"
        "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
        "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
        "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "  %3:2 = stablehlo.while(%i = %c, %v = %2) : tensor<i32>, tensor<96x128xf32>\n"
        "   cond {\n    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> "
        "tensor<i1>\n    stablehlo.return %p : tensor<i1>\n  } do {\n"
        "    %j = stablehlo.add %i, %one : tensor<i32>\n"
        "    %u = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : "
        "(tensor<96x128xf32>, tensor<128x128xf32>) -> tensor<96x128xf32>\n"
        "    %t = stablehlo.tanh %u : tensor<96x128xf32>\n"
        "    stablehlo.return %j, %t : tensor<i32>, tensor<96x128xf32>\n  }\n"
        "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %4 = stablehlo.reduce(%3#1 init: %z) applies stablehlo.add across dimensions = [0] : "
        "(tensor<96x128xf32>, tensor<f32>) -> tensor<128xf32>\n"
        "  return %3#1, %4 : tensor<96x128xf32>, tensor<128xf32>\n}\n";
    lz_func *f = NULL;
    ck_assert_msg(lz_func_parse(text, sizeof text - 1, "products", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    return f;
}

/* The same bits whoever runs the partitions: one thread, two that take whole ones, and more than
 * that, which share launches. */
START_TEST(threads)
{
    static const int of[] = {1, 2, 3, 16};
    lz_func *f = products();
    values in, got[4];
    char msg[256];
    fill(f, 8, &in);
    for (int i = 0; i < 4; i++) {
        use_threads(of[i]);
        rows_of(&got[i]);
        ck_assert_msg(lz_run_partitions(lz_backend_get("CPU"), f, 8, 2, NULL,
                                        (lz_literal *const *const *)in.row, got[i].row, NULL,
                                        NULL) == LZ_OK,
                      "%s", lz_error_get()->message);
        for (int q = 0; q < 8; q++)
            for (int k = 0; k < 2; k++)
                ck_assert_msg(lz_test_same(got[i].v[q][k], got[0].v[q][k], 0, msg, sizeof msg),
                              "%d threads, partition %d, result %d: %s", of[i], q, k, msg);
    }
    for (int i = 0; i < 4; i++)
        release(&got[i]);
    release(&in);
    lz_func_free(f);
    use_threads(0);
}
END_TEST

/* Any allocation of an execution fails, then none: an error or results, and nothing is lost. */
START_TEST(no_memory)
{
    const lz_backend *b = lz_backend_get(_i ? "REF" : "CPU");
    lz_func *f = chain(2, 2);
    lz_compile_options o = {.partitions = 2};
    lz_device_buffer *in[2], *out[2];
    lz_device_buffer **out_rows[2] = {&out[0], &out[1]};
    lz_device_buffer *const *const in_rows[2] = {&in[0], &in[1]};
    lz_status s = LZ_EMEM;
    for (int64_t at = 1; s != LZ_OK; at++) {
        float v[64 * 8] = {1};
        lz_exec *x;
        lz_event *done = NULL;
        ck_assert_int_eq(b->init(), LZ_OK);
        ck_assert_int_eq(b->compile(0, f, &o, &x), LZ_OK);
        for (int q = 0; q < 2; q++) {
            ck_assert_int_eq(b->alloc(0, sizeof v, &in[q]), LZ_OK);
            ck_assert_int_eq(b->copy_in(in[q], v, sizeof v), LZ_OK);
        }
        lz_alloc_fail_at(at, false);
        s = b->execute_partitions(x, 2, NULL, in_rows, NULL, true, out_rows, NULL, &done);
        bool begun = s == LZ_OK;
        if (begun)
            s = lz_event_wait(done);
        lz_alloc_fail_at(0, false);
        ck_assert(s == LZ_OK || s == LZ_EMEM || s == LZ_EDEVMEM);
        ck_assert_msg(at > 1 || s != LZ_OK, "nothing is allocated");
        lz_event_release(done);
        for (int q = 0; q < 2; q++) {
            lz_device_buffer_release(in[q]);
            lz_device_buffer_release(begun ? out[q] : NULL);
        }
        b->exec_free(x);
    }
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cpu_team");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, chains, 0, 4);
    tcase_add_loop_test(t, many_runs, 0, 3);
    tcase_add_test(t, large);
    tcase_add_test(t, donation);
    tcase_add_test(t, homes);
    tcase_add_test(t, keys);
    tcase_add_test(t, stored);
    tcase_add_test(t, steady);
    tcase_add_test(t, at_once);
    tcase_add_test(t, threads);
    tcase_add_loop_test(t, no_memory, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
