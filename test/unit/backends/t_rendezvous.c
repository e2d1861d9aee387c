/* t_rendezvous.c - partitions of a program that run as jobs of their own devices and meet in
 * collectives: the bits of lock step; what does not fit, fails, ends or is late is an error of all;
 * after it equal steps meet again. */
#include "backends/backend.h"
#include "backends/common/rendezvous_impl.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/thread.h"
#include "ir/attr.h"
#include "suite.h"
#include "support/rnd.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 24, COUNT = ROWS * COLUMNS, MOST = 8 };
#define T "tensor<8x24xf32>"
#define REGION(op, type)                                                                           \
    "({\n ^bb0(%ra: tensor<" type ">, %rb: tensor<" type ">):\n  %rs = stablehlo." op              \
    " %ra, %rb : tensor<" type ">\n  stablehlo.return %rs : tensor<" type ">\n})"
#define SUM REGION("add", "f32")
#define MAX REGION("maximum", "f32")

static const lz_backend *start(void)
{
    setenv("CPU_NUM_DEVICES", "8", 1);
    const lz_backend *b = lz_backend_get("CPU");
    ck_assert_int_eq(b->init(), LZ_OK);
    return b;
}

static lz_func *parse(const char *text)
{
    lz_func *f = NULL;
    ck_assert_msg(lz_func_parse(text, strlen(text), "test", &f) == LZ_OK, "%s\n%s",
                  lz_error_get()->message, text);
    return f;
}

/* [[0, 1], [2, 3]] of n participants in groups of `each`; backwards: the last one first. */
static void groups(lz_buf *b, int n, int each, bool backwards)
{
    lz_buf_puts(b, "replica_groups = dense<[");
    for (int i = 0; i < n; i++) {
        int q = i / each * each + (backwards ? each - 1 - i % each : i % each);
        lz_buf_printf(b, "%s%d%s",
                      i % each ? ", "
                      : i      ? ", ["
                               : "[",
                      q, i % each == each - 1 ? "]" : "");
    }
    lz_buf_printf(b, "]> : tensor<%dx%dxi64>", n / each, each);
}

static void unary(lz_buf *b, int to, int from, const char *op, const char *region, const char *rest,
                  const char *result)
{
    lz_buf_printf(b, "  %%%d = \"stablehlo.%s\"(%%%d) ", to, op, from);
    lz_buf_puts(b, region);
    lz_buf_printf(b, " {%s} : (" T ") -> %s\n", rest, result);
}

/* All six collectives, among replicas, with the number of the replica in it. Half of them among
 * groups of two, the last one first. A loop of a trip count that only data says has one, too. */
static lz_func *all_kinds(int n)
{
    lz_buf b = {0}, g = {0}, h = {0}, r = {0};
    groups(&g, n, n, false);
    groups(&h, n, 2, true);
    lz_buf_puts(&b, "func.func @main(%x: " T ", %k: tensor<i32>) -> " T " {\n"
                    "  %id = stablehlo.replica_id : tensor<ui32>\n"
                    "  %idf = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>\n"
                    "  %b = stablehlo.broadcast_in_dim %idf, dims = [] : (tensor<f32>) -> " T "\n"
                    "  %0 = stablehlo.add %x, %b : " T "\n");
    unary(&b, 1, 0, "all_reduce", SUM, g.data, T);
    unary(&b, 2, 1, "all_reduce", MAX, h.data, T);
    lz_buf_printf(&r, "%s, all_gather_dim = 0 : i64", h.data);
    unary(&b, 3, 0, "all_gather", "", r.data, "tensor<16x24xf32>");
    lz_buf_puts(&b, "  %4 = stablehlo.slice %3 [4:12, 0:24] : (tensor<16x24xf32>) -> " T "\n");
    r.len = 0;
    lz_buf_printf(&r, "%s, scatter_dimension = 0 : i64", g.data);
    char part[40];
    snprintf(part, sizeof part, "tensor<%dx24xf32>", ROWS / n);
    unary(&b, 5, 0, "reduce_scatter", SUM, r.data, part);
    lz_buf_printf(&b,
                  "  %%z = stablehlo.constant dense<0.5> : tensor<f32>\n"
                  "  %%6 = stablehlo.pad %%5, %%z, low = [0, 0], high = [%d, 0], interior = [0, "
                  "0] : (%s, tensor<f32>) -> " T "\n",
                  ROWS - ROWS / n, part);
    r.len = 0;
    lz_buf_printf(&r,
                  "%s, split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = %d : "
                  "i64",
                  g.data, n);
    unary(&b, 7, 0, "all_to_all", "", r.data, T);
    r.len = 0;
    lz_buf_puts(&r, "source_target_pairs = dense<[");
    for (int q = 0; q < n; q++) /* a ring, with a gap */
        if (q != 1)
            lz_buf_printf(&r, "%s[%d, %d]", q ? ", " : "", q, (q + 1) % n);
    lz_buf_printf(&r, "]> : tensor<%dx2xi64>", n - 1);
    unary(&b, 8, 7, "collective_permute", "", r.data, T);
    unary(&b, 9, 0, "collective_broadcast", "", h.data, T);
    lz_buf_puts(&b,
                "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
                "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
                "  %l:2 = stablehlo.while(%i = %zero, %v = %0) : tensor<i32>, " T "\n   cond {\n"
                "    %c = stablehlo.compare LT, %i, %k : (tensor<i32>, tensor<i32>) -> "
                "tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  } do {\n"
                "    %j = stablehlo.add %i, %one : tensor<i32>\n"
                "    %t = \"stablehlo.all_reduce\"(%v) ");
    lz_buf_puts(&b, MAX);
    lz_buf_printf(&b,
                  " {%s} : (" T ") -> " T "\n    %%w = stablehlo.add %%t, %%b : " T "\n"
                  "    stablehlo.return %%j, %%w : tensor<i32>, " T "\n  }\n",
                  h.data);
    static const char *const sum[] = {"%1", "%2", "%4", "%6", "%7", "%8", "%9", "%l#1"};
    for (int i = 1; i < 8; i++) {
        char before[8];
        snprintf(before, sizeof before, "%%y%d", i - 1);
        lz_buf_printf(&b, "  %%y%d = stablehlo.add %s, %s : " T "\n", i, i > 1 ? before : sum[0],
                      sum[i]);
    }
    lz_buf_puts(&b, "  return %y7 : " T "\n}\n");
    lz_func *f = parse(b.data);
    lz_buf_free(&b);
    lz_buf_free(&g);
    lz_buf_free(&h);
    lz_buf_free(&r);
    return f;
}

static lz_exec *compile(const lz_backend *b, const lz_func *f, int n)
{
    lz_exec *x;
    lz_compile_options o = {.partitions = (uint32_t)n, .replicas = true};
    ck_assert_msg(b->compile(0, f, &o, &x) == LZ_OK, "%s", lz_error_get()->message);
    return x;
}

static lz_device_buffer *upload(const lz_backend *b, int device, const void *v, size_t nbytes)
{
    lz_device_buffer *to;
    ck_assert_int_eq(b->alloc(device, nbytes, &to), LZ_OK);
    ck_assert_int_eq(b->copy_in(to, v, nbytes), LZ_OK);
    return to;
}

static lz_device_buffer *input(const lz_backend *b, int device)
{
    float v[COUNT];
    lz_rnd r = {lz_test_seed() + (uint64_t)device};
    for (int i = 0; i < COUNT; i++)
        v[i] = (float)lz_rnd_range(&r, -1000, 1000) / 7;
    return upload(b, device, v, sizeof v);
}

/* One step of one device: its result, or the status. */
static lz_status step(const lz_backend *b, lz_exec *x, int device, lz_device_buffer *const *in,
                      float out[COUNT])
{
    lz_device_buffer *y;
    lz_event *done;
    lz_status s = b->execute(x, device, in, NULL, true, &y, &done);
    if (s != LZ_OK)
        return s;
    s = lz_event_wait(done);
    lz_event_release(done);
    if (s == LZ_OK && out)
        s = b->copy_out(y, out, COUNT * sizeof *out);
    lz_device_buffer_release(y);
    return s;
}

typedef struct replica {
    const lz_backend *b;
    lz_exec *x;
    int device, times;
    lz_device_buffer *in[2];
    float out[COUNT];
    lz_status s;
    lz_error err;
    bool same;
} replica;

static void *run_replica(void *arg)
{
    replica *r = arg;
    float v[COUNT];
    r->same = true;
    for (int i = 0; i < r->times; i++) {
        r->s = step(r->b, r->x, r->device, r->in, v);
        if (r->s != LZ_OK)
            break;
        r->same &= i == 0 || memcmp(v, r->out, sizeof v) == 0;
        memcpy(r->out, v, sizeof v);
    }
    r->err = *lz_error_get();
    return NULL;
}

static void run_threads(replica *r, int n)
{
    pthread_t t[MOST];
    for (int q = 0; q < n; q++)
        ck_assert_int_eq(pthread_create(&t[q], NULL, run_replica, &r[q]), 0);
    for (int q = 0; q < n; q++)
        pthread_join(t[q], NULL);
}

static void replicas(const lz_backend *b, lz_exec *x, int n, int times, replica *r)
{
    int32_t trips = 3;
    for (int q = 0; q < n; q++) {
        r[q] = (replica){.b = b, .x = x, .device = q, .times = times};
        r[q].in[0] = input(b, q);
        r[q].in[1] = upload(b, q, &trips, sizeof trips);
    }
}

static void end(replica *r, int n)
{
    for (int q = 0; q < n; q++) {
        lz_device_buffer_release(r[q].in[0]);
        lz_device_buffer_release(r[q].in[1]);
    }
}

static void lock_step(const lz_backend *b, lz_exec *x, const replica *r, int n,
                      float out[MOST][COUNT])
{
    lz_device_buffer *const *in[MOST], *y[MOST], **rows[MOST];
    lz_event *done;
    for (int q = 0; q < n; q++) {
        in[q] = r[q].in;
        rows[q] = &y[q];
    }
    ck_assert_int_eq(b->execute_partitions(x, n, NULL, in, NULL, true, rows, NULL, &done), LZ_OK);
    ck_assert_msg(lz_event_wait(done) == LZ_OK, "%s", lz_error_get()->message);
    lz_event_release(done);
    for (int q = 0; q < n; q++) {
        ck_assert_int_eq(b->copy_out(y[q], out[q], COUNT * sizeof(float)), LZ_OK);
        lz_device_buffer_release(y[q]);
    }
}

static const int counts[] = {2, 4, 8};

/* The same program, in lock step and as replicas, over and over. */
START_TEST(bits)
{
    if (_i == 3)
        setenv("LAZULI_EXEC", "loop", 1);
    int n = counts[_i % 3], times = getenv("LZ_TEST_WHOLE") ? 1000 : 60 / n;
    const lz_backend *b = start();
    lz_func *f = all_kinds(n);
    lz_exec *x = compile(b, f, n);
    replica r[MOST];
    float want[MOST][COUNT];
    replicas(b, x, n, times, r);
    lock_step(b, x, r, n, want);
    run_threads(r, n);
    for (int q = 0; q < n; q++) {
        ck_assert_msg(r[q].s == LZ_OK, "CPU:%d: %s", q, r[q].err.message);
        ck_assert_msg(r[q].same && memcmp(r[q].out, want[q], sizeof want[q]) == 0,
                      "CPU:%d of %d differs from lock step", q, n);
    }
    end(r, n);
    b->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* One thread enqueues the steps of all devices, and more than may be in flight of each. */
START_TEST(one_thread)
{
    enum { N = 4, STEPS = 40 };
    const lz_backend *b = start();
    lz_func *f = all_kinds(N);
    lz_exec *x = compile(b, f, N);
    replica r[MOST];
    float want[MOST][COUNT], got[COUNT];
    lz_event *done[STEPS][N];
    lz_device_buffer *out[STEPS][N];
    replicas(b, x, N, 1, r);
    lock_step(b, x, r, N, want);
    for (int q = 0; q < N; q++)
        for (int i = 0; i < STEPS; i++)
            ck_assert_int_eq(b->execute(x, q, r[q].in, NULL, true, &out[i][q], &done[i][q]), LZ_OK);
    for (int i = 0; i < STEPS; i++)
        for (int q = 0; q < N; q++) {
            ck_assert_int_eq(lz_event_wait(done[i][q]), LZ_OK);
            ck_assert_int_eq(b->copy_out(out[i][q], got, sizeof got), LZ_OK);
            ck_assert(memcmp(got, want[q], sizeof got) == 0);
            lz_event_release(done[i][q]);
            lz_device_buffer_release(out[i][q]);
        }
    end(r, N);
    b->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* ---- what does not fit ---- */

static lz_func *one_op(const char *op, const char *region, const char *attrs, const char *shape,
                       const char *result)
{
    lz_buf b = {0};
    lz_buf_printf(&b, "func.func @main(%%x: %s) -> %s {\n  %%0 = \"stablehlo.%s\"(%%x) ", shape,
                  result, op);
    lz_buf_puts(&b, region);
    lz_buf_printf(&b, " {%s} : (%s) -> %s\n  return %%0 : %s\n}\n", attrs, shape, result, result);
    lz_func *f = parse(b.data);
    lz_buf_free(&b);
    return f;
}

#define ALL4 "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
#define PAIRS4 "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
#define ORDER4 "replica_groups = dense<[[1, 0, 2, 3]]> : tensor<1x4xi64>"

static const struct odd {
    const char *op, *region, *attrs, *shape, *result;
    const char *said[2];
} odds[] = {
    {"all_reduce", MAX, ALL4, T, T, {"CPU:3 ", "of another kind"}},
    {"all_reduce", SUM, ALL4, "tensor<4x48xf32>", "tensor<4x48xf32>", {"f32[4,48]", "f32[8,24]"}},
    {"all_reduce",
     REGION("add", "i32"),
     ALL4,
     "tensor<8x24xi32>",
     "tensor<8x24xi32>",
     {"i32[8,24]", NULL}},
    {"all_reduce", SUM, ORDER4, T, T, {"group", NULL}},
    {"all_reduce", SUM, PAIRS4, T, T, {"CPU:[2, 3]", "CPU:[0, 1, 2, 3]"}},
    {"all_to_all",
     "",
     ALL4 ", split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64",
     T,
     T,
     {"all_to_all", "all_reduce"}},
    {"reduce_scatter",
     SUM,
     ALL4 ", scatter_dimension = 0 : i64",
     T,
     "tensor<2x24xf32>",
     {"reduce_scatter", "all_reduce"}},
    {"collective_permute",
     "",
     "source_target_pairs = dense<[[3, 2], [2, 1], [1, 0]]> : tensor<3x2xi64>",
     T,
     T,
     {"collective_permute", "all_reduce"}},
    {"collective_broadcast", "", ALL4, T, T, {"collective_broadcast", "all_reduce"}},
};
enum { ODDS = sizeof odds / sizeof odds[0] };

/* Device 3 runs something else: an error everywhere; then all run the same, and meet. */
START_TEST(mismatch)
{
    const struct odd *o = &odds[_i];
    const lz_backend *b = start();
    lz_func *f = one_op("all_reduce", SUM, ALL4, T, T);
    lz_func *g = one_op(o->op, o->region, o->attrs, o->shape, o->result);
    lz_exec *x = compile(b, f, 4), *y = compile(b, g, 4);
    replica r[MOST];
    float want[MOST][COUNT];
    replicas(b, x, 4, 1, r);
    lock_step(b, x, r, 4, want);
    for (int again = 0; again < 2; again++) {
        r[3].x = y;
        bool named = false;
        run_threads(r, 4);
        for (int q = 0; q < 4; q++) {
            const char *m = r[q].err.message;
            ck_assert_msg(r[q].s == LZ_EINVAL, "CPU:%d: %d", q, r[q].s);
            named |= strstr(m, o->said[0]) && (!o->said[1] || strstr(m, o->said[1]));
        }
        ck_assert_msg(named, "%s", r[0].err.message);
        r[3].x = x;
        run_threads(r, 4);
        for (int q = 0; q < 4; q++) {
            ck_assert_msg(r[q].s == LZ_OK, "CPU:%d: %s", q, r[q].err.message);
            ck_assert(memcmp(r[q].out, want[q], sizeof want[q]) == 0);
        }
    }
    end(r, 4);
    b->exec_free(x);
    b->exec_free(y);
    lz_func_free(f);
    lz_func_free(g);
}
END_TEST

/* ---- who does not come ---- */

/* The step of one device fails before it meets anybody: an error of all, with its message; the next
 * steps meet. However far each is: every thread does its steps in a row. */
typedef struct failing {
    replica r;
    lz_device_buffer *bad;
    lz_status first;
    lz_error why;
} failing;

static void *fail_once(void *arg)
{
    failing *f = arg;
    lz_device_buffer *good = f->r.in[0];
    if (f->bad)
        f->r.in[0] = f->bad;
    f->r.times = 1;
    (void)run_replica(&f->r);
    f->first = f->r.s;
    f->why = f->r.err;
    f->r.in[0] = good;
    f->r.times = 5;
    return run_replica(&f->r);
}

START_TEST(failure)
{
    const lz_backend *b = start();
    lz_func *f = all_kinds(4);
    lz_exec *x = compile(b, f, 4);
    replica r[MOST];
    failing who[4];
    pthread_t t[4];
    float want[MOST][COUNT];
    replicas(b, x, 4, 1, r);
    lock_step(b, x, r, 4, want);
    for (int again = 0; again < 3; again++) {
        for (int q = 0; q < 4; q++)
            who[q] = (failing){.r = r[q]};
        lz_device_buffer *bad = input(b, again);
        bad->ready = lz_event_new();
        lz_error err = {.status = LZ_EDEVICE, .message = "the argument is broken"};
        lz_event_complete(bad->ready, &err);
        who[again].bad = bad;
        for (int q = 0; q < 4; q++)
            ck_assert_int_eq(pthread_create(&t[q], NULL, fail_once, &who[q]), 0);
        for (int q = 0; q < 4; q++)
            pthread_join(t[q], NULL);
        for (int q = 0; q < 4; q++) {
            ck_assert_int_eq(who[q].first, LZ_EDEVICE);
            ck_assert_msg(strstr(who[q].why.message, "the argument is broken"), "%s",
                          who[q].why.message);
            ck_assert_msg(who[q].r.s == LZ_OK, "CPU:%d: %s", q, who[q].r.err.message);
            ck_assert(who[q].r.same && memcmp(who[q].r.out, want[q], sizeof want[q]) == 0);
        }
        lz_device_buffer_release(bad);
    }
    end(r, 4);
    b->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* Another process may name any group: so many, until somebody comes to one of them. */
START_TEST(foreign_groups)
{
    static lz_rendezvous r = LZ_RENDEZVOUS_INIT("CPU", NULL);
    uint32_t last[2] = {0}, own[2] = {1000, 1001};
    lz_mutex_lock(&r.lock);
    for (uint32_t i = 0; i <= LZ_RENDEZVOUS_FOREIGN; i++) {
        last[0] = i / 1000;
        last[1] = i % 1000 + 2;
        lz_rendezvous_group *g = lz_rendezvous_group_of(&r, last, 2, true);
        ck_assert_int_eq(g != NULL, i < LZ_RENDEZVOUS_FOREIGN);
        ck_assert(!g || lz_rendezvous_group_of(&r, last, 2, true) == g);
    }
    ck_assert_int_eq(lz_error_get()->status, LZ_ERANGE);
    ck_assert_ptr_nonnull(lz_rendezvous_group_of(&r, own, 2, false)); /* not one of them */
    ck_assert_ptr_null(lz_rendezvous_group_of(&r, last, 2, true));
    lz_rendezvous_group *met = lz_rendezvous_group_of(&r, (uint32_t[]){0, 2}, 2, false);
    ck_assert(met && lz_rendezvous_group_of(&r, (uint32_t[]){0, 2}, 2, false) == met);
    ck_assert_uint_eq(r.nforeign, LZ_RENDEZVOUS_FOREIGN - 1);
    ck_assert_ptr_nonnull(lz_rendezvous_group_of(&r, last, 2, true));
    ck_assert_uint_eq(r.nforeign, LZ_RENDEZVOUS_FOREIGN);
    lz_mutex_unlock(&r.lock);
    for (lz_rendezvous_group *g = r.groups, *next; g; g = next) {
        next = g->next;
        lz_free(g);
    }
}
END_TEST

/* One does not come in time, or its thread has ended; then it comes, fails too, and all meet. */
START_TEST(late)
{
    bool ended = _i == 1;
    const lz_backend *b = start();
    ck_assert_int_eq(lz_config_set("LAZULI_COLLECTIVE_TIMEOUT", ended ? "0" : "1"), LZ_OK);
    lz_func *f = all_kinds(2);
    lz_exec *x = compile(b, f, 2);
    replica r[MOST];
    replicas(b, x, 2, 1, r);
    run_threads(r, 2);
    ck_assert_int_eq(r[0].s, LZ_OK);
    if (ended)
        b->leave(1, true);
    run_threads(r, 1);
    ck_assert_int_eq(r[0].s, ended ? LZ_ESTATE : LZ_ETIMEOUT);
    ck_assert_msg(strstr(r[0].err.message,
                         ended ? "the thread of CPU:1 has ended" : "LAZULI_COLLECTIVE_TIMEOUT"),
                  "%s", r[0].err.message);
    b->leave(1, false);
    run_threads(r + 1, 1);
    ck_assert_int_eq(r[1].s, ended ? LZ_ESTATE : LZ_ETIMEOUT);
    run_threads(r, 2);
    ck_assert_int_eq(r[0].s, LZ_OK);
    ck_assert_int_eq(r[1].s, LZ_OK);
    end(r, 2);
    b->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* Collectives go on beside compute, as between processes. */
static void overlap(void)
{
    setenv("LAZULI_OVERLAP", "2", 1);
}

static void add_meetings(TCase *t)
{
    tcase_add_loop_test(t, bits, 0, 4);
    tcase_add_test(t, one_thread);
    tcase_add_loop_test(t, mismatch, 0, ODDS);
    tcase_add_test(t, failure);
    tcase_add_loop_test(t, late, 0, 2);
}

int main(void)
{
    Suite *s = suite_create("rendezvous");
    TCase *t = tcase_create("all"), *beside = tcase_create("overlap");
    add_meetings(t);
    tcase_add_test(t, foreign_groups);
    tcase_add_checked_fixture(beside, overlap, NULL);
    add_meetings(beside);
    suite_add_tcase(s, t);
    suite_add_tcase(s, beside);
    return lz_run_suite(s);
}
