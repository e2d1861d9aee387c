/* t_replicas.c - one thread for each device: collectives among them and their gradients, training,
 * what goes wrong. */
#include "../runtime/rt.h"
#include "runtime/graph/node.h"
#include "runtime/graph/trace_builder.h"
#include <lazuli/replicas.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST = 8, ROWS = 8, COLUMNS = 6, COUNT = ROWS * COLUMNS };

typedef struct replica {
    void (*fn)(int q, int n);
    int q, n;
} replica;

static void *run_replica(void *arg)
{
    const replica *r = arg;
    char name[16];
    snprintf(name, sizeof name, "CPU:%d", r->q);
    OK(lz_set_device(name));
    OK(lz_scope_begin());
    r->fn(r->q, r->n);
    OK(lz_scope_end());
    return NULL;
}

/* fn in a thread for each of n devices. */
static void replicas(int n, void (*fn)(int q, int n))
{
    replica r[MOST];
    pthread_t t[MOST];
    char text[8];
    rt_use("CPU");
    snprintf(text, sizeof text, "%d", n);
    setenv("CPU_NUM_DEVICES", text, 1);
    for (int q = 0; q < n; q++) {
        r[q] = (replica){fn, q, n};
        ck_assert_int_eq(pthread_create(&t[q], NULL, run_replica, &r[q]), 0);
    }
    for (int q = 0; q < n; q++)
        pthread_join(t[q], NULL);
}

static const int counts[] = {2, 4, 8};

/* ---- every word ---- */

static float value(int q, int i)
{
    return (float)(((q + 1) * 37 + i * 11) % 29) - 9;
}

static lz_tensor *input(int q, int rows)
{
    float v[MOST * COUNT];
    for (int i = 0; i < rows * COLUMNS; i++)
        v[i] = value(q, i);
    return lz_from_host(LZ_F32, LZ_SHAPE(rows, COLUMNS), v);
}

static void expect(const char *what, int q, lz_tensor *x, const float *want, int n)
{
    float got[MOST * COUNT];
    ck_assert_msg(lz_to_host(x, got, (size_t)n * sizeof *got) == LZ_OK, "%s: %s", what,
                  lz_last_error_text());
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i], "%s on CPU:%d: element %d is %g, not %g", what, q, i,
                      got[i], want[i]);
}

static void reductions(int q, int n)
{
    float sum[COUNT], most[COUNT], pair[COUNT];
    int64_t groups[MOST];
    for (int i = 0; i < COUNT; i++) {
        sum[i] = 0;
        most[i] = -100;
        for (int p = 0; p < n; p++) {
            sum[i] += value(p, i);
            most[i] = value(p, i) > most[i] ? value(p, i) : most[i];
        }
        pair[i] = (value(q / 2 * 2, i) + value(q / 2 * 2 + 1, i)) * 0.5f;
    }
    for (int p = 0; p < n; p++)
        groups[p] = p;
    lz_tensor *x = input(q, ROWS);
    expect("sum", q, lz_all_reduce("sum", x), sum, COUNT);
    expect("max", q, lz_all_reduce("max", x), most, COUNT);
    expect(
        "mean of pairs", q,
        lz_all_reduce("sum", x, .scale = 0.5, .groups = groups, .ngroups = n / 2, .group_size = 2),
        pair, COUNT);
    expect("reduce_scatter", q, lz_reduce_scatter("sum", x, 0), sum + q * (COUNT / n), COUNT / n);
    lz_tensor *both[2] = {input(q, ROWS), lz_to(input(q, ROWS), LZ_I32)};
    OK(lz_all_reduce_in_place("sum", both, 2));
    expect("in place", q, both[0], sum, COUNT);
    expect("in place, integers", q, lz_to(both[1], LZ_F32), sum, COUNT);
}

static void moves(int q, int n)
{
    float all[MOST * COUNT], one[COUNT], zero[COUNT] = {0};
    int64_t ring[2 * MOST];
    for (int i = 0; i < n * COUNT; i++)
        all[i] = value(i / COUNT, i % COUNT);
    lz_tensor *x = input(q, ROWS);
    expect("all_gather", q, lz_all_gather(x, 0), all, n * COUNT);
    int part = COUNT / n;
    for (int i = 0; i < COUNT; i++)
        one[i] = value(i / part, q * part + i % part);
    expect("all_to_all", q, lz_all_to_all(x, 0, 0), one, COUNT);
    for (int p = 0; p < n; p++) {
        ring[2 * p] = p;
        ring[2 * p + 1] = (p + 1) % n;
    }
    expect("permute", q, lz_collective_permute(x, ring, n), all + (q + n - 1) % n * COUNT, COUNT);
    expect("permute of one", q, lz_collective_permute(x, ring, 1), q == 1 ? all : zero, COUNT);
    expect("broadcast", q, lz_collective_broadcast(x, 1), all + COUNT, COUNT);
}

/* How many combined collectives the results are of. */
static int buckets(lz_tensor *const *out, int n)
{
    lz_node *of[8], *x;
    int found = 0;
    for (int i = 0; i < n; i++) {
        ck_assert_ptr_nonnull(x = lz_trace_node_of(out[i]));
        lz_node *all = lz_node_op(x) == LZ_OP_RESULT ? x->opnd[0] : x;
        int k = 0;
        while (k < found && of[k] != all)
            k++;
        if (k == found)
            of[found++] = all;
        lz_node_release(x);
    }
    return found;
}

/* Floats of 192, 96, 96 and 192 KiB with integers between them: no cap, one for each alone, for
 * two, and for all. */
static void lists(int q, int n)
{
    static const struct {
        double mb;
        int buckets;
    } caps[] = {{0, 2}, {0.0001, 5}, {0.28125, 3}, {160, 2}};
    enum { LIST = 5, LARGE = 1024 };
    lz_tensor *xs[LIST], *all[LIST], *part[LIST];
    for (int i = 0; i < LIST; i++) {
        xs[i] = lz_repeat(input(q + i, ROWS), LZ_SHAPE(i % 2 ? LARGE / 2 : LARGE, 1));
        xs[i] = i == 2 ? lz_to(xs[i], LZ_I32) : xs[i];
    }
    for (size_t k = 0; k < sizeof caps / sizeof *caps; k++) {
        OK(lz_all_gather_bucketized(xs, LIST, -1, all, .bucket_cap_mb = caps[k].mb));
        OK(lz_reduce_scatter_bucketized("sum", xs, LIST, 0, part, .bucket_cap_mb = caps[k].mb));
        ck_assert_int_eq(buckets(all, LIST), caps[k].buckets);
        ck_assert_int_eq(buckets(part, LIST), caps[k].buckets);
        for (int i = 0; i < LIST; i++) {
            lz_tensor *same =
                lz_logical_and(lz_all(lz_eq(all[i], lz_all_gather(xs[i], 1))),
                               lz_all(lz_eq(part[i], lz_reduce_scatter("sum", xs[i], 0))));
            ck_assert_msg(lz_item(same) == 1, "cap %g, tensor %d", caps[k].mb, i);
        }
    }
    lz_tensor *scalar[] = {xs[0], lz_sum(xs[0])}, *out[2];
    FAILS(lz_all_gather_bucketized(scalar, 2, 0, out), LZ_ESHAPE, "a scalar has no dimension");
    FAILS(lz_all_gather_bucketized(xs, 1, 2, out), LZ_ERANGE, "dimension 2");
    FAILS(lz_all_gather_bucketized(xs, 1, 0, out, .bucket_cap_mb = -1), LZ_EINVAL, "bucket_cap_mb");
    FAILS(lz_all_gather_bucketized(xs, 1, 0, NULL), LZ_ENULL, "out is NULL");
    FAILS(lz_reduce_scatter_bucketized("avg", xs, 1, 0, out), LZ_EINVAL, "avg");
    FAILS(lz_reduce_scatter_bucketized("sum", scalar, 1, 1, out), n == 4 ? LZ_ESHAPE : LZ_OK,
          n == 4 ? "does not split" : "");
    OK(lz_all_gather_bucketized(NULL, 0, 0, NULL));
}

START_TEST(all_lists)
{
    replicas(counts[_i], lists);
}
END_TEST

static void words(int q, int n)
{
    ck_assert_int_eq(lz_world_size(), n);
    ck_assert_int_eq(lz_global_ordinal(), q);
    ck_assert_int_eq(lz_local_ordinal(), q);
    reductions(q, n);
    moves(q, n);
    int64_t mine = q * 7, all[MOST];
    OK(lz_rendezvous("here", &mine, sizeof mine, all));
    for (int p = 0; p < n; p++)
        ck_assert_int_eq(all[p], p * 7);
    OK(lz_rendezvous("here", NULL, 0, NULL));
    ck_assert_int_eq(lz_rendezvous(q ? "here" : "there", NULL, 0, NULL), LZ_EINVAL);
    ck_assert_int_eq(lz_rendezvous("here", all, (size_t)q, NULL), LZ_EINVAL);
}

START_TEST(all_words)
{
    replicas(counts[_i], words);
}
END_TEST

/* ---- gradients: what a collective does to x, paired with w, is what its gradient does to w,
 *      paired with x, all replicas together ---- */

static double left[MOST], right[MOST];

static lz_tensor *apply(int word, lz_tensor *x, int n)
{
    int64_t pairs[4] = {0, 1, 1, 0};
    switch (word) {
    case 0:
        return lz_all_reduce("sum", x, .scale = 0.5);
    case 1:
        return lz_all_gather(x, 1);
    case 2:
        return lz_reduce_scatter("sum", x, 0);
    case 3:
        return lz_all_to_all(x, 0, 1);
    case 4:
        return lz_collective_permute(x, pairs, n > 2 ? 1 : 2);
    default:
        return lz_collective_broadcast(x, 1);
    }
}

static int word_now;

static void gradients(int q, int n)
{
    float w[MOST * COUNT], g[COUNT], y[MOST * COUNT];
    lz_tensor *x = input(q, ROWS);
    OK(lz_requires_grad(x, true));
    lz_tensor *out = apply(word_now, x, n);
    int m = (int)lz_numel(out);
    for (int i = 0; i < m; i++)
        w[i] = value(q + 3, 5 * i);
    lz_tensor *by = lz_from_host(LZ_F32, lz_shape_of(out), w);
    OK(lz_backward(lz_sum(lz_mul(out, by))));
    OK(lz_to_host(lz_grad_of(x), g, sizeof g));
    OK(lz_to_host(out, y, (size_t)m * sizeof *y));
    left[q] = right[q] = 0;
    for (int i = 0; i < m; i++)
        left[q] += (double)y[i] * w[i];
    for (int i = 0; i < COUNT; i++)
        right[q] += (double)g[i] * value(q, i);
}

START_TEST(all_gradients)
{
    word_now = _i;
    replicas(4, gradients);
    double a = 0, b = 0;
    for (int q = 0; q < 4; q++) {
        a += left[q];
        b += right[q];
    }
    ck_assert_msg(a == b && a != 0, "word %d: %g and %g", _i, a, b);
}
END_TEST

/* ---- training ---- */

enum { BATCH = 16, STEPS = 12, WEIGHTS = COLUMNS * 3 + 3 };
static float trained[MOST][WEIGHTS];
static bool alone; /* one device has the whole batch */

static void train(int q, int n)
{
    lz_params ps = {0};
    lz_linear_layer l;
    OK(lz_manual_seed(5 + (uint64_t)q)); /* made equal by the broadcast */
    OK(lz_linear_layer_init(&l, &ps, "l", COLUMNS, 3, true, LZ_F32));
    float w[COLUMNS * 3];
    for (int i = 0; i < COLUMNS * 3; i++)
        w[i] = q == 0 ? value(2, i) / 16 : 7;
    OK(lz_assign(l.weight, lz_from_host(LZ_F32, LZ_SHAPE(3, COLUMNS), w)));
    OK(lz_assign(l.bias, lz_zeros(LZ_F32, LZ_SHAPE(3))));
    if (!alone)
        OK(lz_broadcast_master_param(&ps));
    lz_optim *o = lz_sgd(&ps, .lr = 0.01, .momentum = 0.9);
    int rows = BATCH / n;
    for (int step = 0; step < STEPS; step++) {
        float x[BATCH * COLUMNS], y[BATCH * 3];
        OK(lz_scope_begin());
        for (int i = 0; i < rows * COLUMNS; i++)
            x[i] = value(step, q * rows * COLUMNS + i) / 16;
        for (int i = 0; i < rows * 3; i++)
            y[i] = value(step + 1, q * rows * 3 + i) / 16;
        lz_tensor *loss = lz_mse_loss(
            lz_linear_layer_forward(&l, lz_from_host(LZ_F32, LZ_SHAPE(rows, COLUMNS), x)),
            lz_from_host(LZ_F32, LZ_SHAPE(rows, 3), y));
        OK(lz_backward(loss));
        OK(alone ? lz_optim_step(o) : lz_optimizer_step(o));
        OK(lz_optim_zero_grad(o));
        OK(lz_mark_step());
        OK(lz_scope_end());
    }
    OK(lz_to_host(l.weight, trained[q], COLUMNS * 3 * sizeof(float)));
    OK(lz_to_host(l.bias, trained[q] + COLUMNS * 3, 3 * sizeof(float)));
    lz_optim_free(o);
    lz_params_free(&ps);
}

START_TEST(training)
{
    int n = counts[_i];
    float want[WEIGHTS];
    replicas(n, train);
    for (int q = 1; q < n; q++)
        ck_assert(memcmp(trained[q], trained[0], sizeof trained[0]) == 0);
    ck_assert_int_le((int)lz_counter_value("UncachedCompile"), 5 + n);
    memcpy(want, trained[0], sizeof want);
    alone = true;
    run_replica(&(replica){train, 0, 1});
    for (int i = 0; i < WEIGHTS; i++)
        ck_assert_msg(fabsf(trained[0][i] - want[i]) <= 2e-5f * (1 + fabsf(want[i])),
                      "weight %d is %.8g on %d replicas, %.8g on one device", i, want[i], n,
                      trained[0][i]);
}
END_TEST

/* ---- what goes wrong ---- */

static void mismatch(int q, int n)
{
    lz_tensor *x = input(q, ROWS);
    float v[COUNT * MOST];
    (void)n;
    lz_tensor *y = q == 1 ? lz_all_gather(x, 0) : lz_all_reduce("sum", x);
    ck_assert_int_eq(lz_to_host(y, v, (q == 1 ? (size_t)n : 1) * COUNT * sizeof *v), LZ_EINVAL);
    ck_assert_msg(strstr(lz_last_error_text(), "CPU:1"), "%s", lz_last_error_text());
    reductions(q, n);
}

START_TEST(other_words)
{
    replicas(2, mismatch);
}
END_TEST

static void leave_early(int q, int n)
{
    float v[COUNT];
    (void)n;
    if (q == 1) {
        OK(lz_mark_step());
        return;
    }
    ck_assert_int_eq(lz_to_host(lz_all_reduce("sum", input(q, ROWS)), v, sizeof v), LZ_ESTATE);
    ck_assert_msg(strstr(lz_last_error_text(), "thread of CPU:1"), "%s", lz_last_error_text());
}

START_TEST(ended)
{
    replicas(2, leave_early);
}
END_TEST

/* ---- the process ends while a replica waits ---- */

static _Atomic int waiting;

static void wait_for_ever(int q, int n)
{
    float v[COUNT];
    (void)n;
    lz_tensor *x = lz_all_reduce("sum", input(q, ROWS));
    OK(lz_mark_step());
    waiting = 1;
    if (q == 0) /* itself, or only its job */
        waiting = lz_to_host(x, v, sizeof v) == LZ_OK ? 1 : 2;
    for (;;)
        (void)pause();
}

START_TEST(the_process_ends)
{
    int status = 0;
    rt_use("CPU");
    setenv("CPU_NUM_DEVICES", "3", 1);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        pthread_t t;
        replica r = {wait_for_ever, _i % 2, 3};
        (void)pthread_create(&t, NULL, run_replica, &r);
        while (!waiting)
            sched_yield();
        if (_i >= 2) { /* it has used the library, too */
            OK(lz_set_device("CPU:2"));
            OK(lz_scope_begin());
            OK(lz_status_of(lz_add(input(2, ROWS), input(1, ROWS))));
            OK(lz_mark_step(.wait = true));
        }
        exit(7);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 7, "0x%x", (unsigned)status);
}
END_TEST

static void refusals(int q, int n)
{
    static const int64_t twice[] = {0, 0}, beyond[] = {0, 2};
    lz_tensor *x = input(q, 3);
    (void)n;
    ck_assert_int_eq(lz_status_of(lz_all_reduce("avg", x)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_all_reduce("and", x)), LZ_EDTYPE);
    ck_assert_int_eq(lz_status_of(lz_all_reduce("sum", lz_to(x, LZ_I32), .scale = 2)), LZ_EDTYPE);
    ck_assert_int_eq(
        lz_status_of(lz_all_reduce("sum", x, .groups = twice, .ngroups = 1, .group_size = 2)),
        LZ_EINVAL);
    ck_assert_int_eq(
        lz_status_of(lz_all_gather(x, 0, .groups = beyond, .ngroups = 1, .group_size = 2)),
        LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_all_gather(x, 2)), LZ_ERANGE);
    ck_assert_int_eq(lz_status_of(lz_reduce_scatter("sum", x, 0)), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_all_to_all(x, 0, 1)), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_collective_permute(x, beyond, 1)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_collective_broadcast(x, 2)), LZ_EINVAL);
}

START_TEST(refused)
{
    replicas(2, refusals);
}
END_TEST

/* Many steps, none of which anybody waits for: the whole is 1000. */
static void many(int q, int n)
{
    int steps = getenv("LZ_TEST_WHOLE") ? 1000 : 100;
    lz_tensor *x = input(q, ROWS);
    float v[COUNT];
    for (int i = 0; i < steps; i++) {
        OK(lz_scope_begin());
        OK(lz_assign(x, lz_all_reduce("max", lz_all_to_all(x, 0, 0))));
        OK(lz_mark_step());
        OK(lz_scope_end());
    }
    OK(lz_to_host(x, v, sizeof v));
    for (int i = 0; i < COUNT; i++)
        ck_assert(v[i] >= -9 && v[i] < 20);
    (void)n;
}

START_TEST(many_steps)
{
    replicas(counts[_i], many);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("replicas");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, all_words, 0, 3);
    tcase_add_loop_test(t, all_lists, 0, 2);
    tcase_add_loop_test(t, all_gradients, 0, 6);
    tcase_add_loop_test(t, training, 0, 3);
    tcase_add_test(t, other_words);
    tcase_add_test(t, ended);
    tcase_add_loop_test(t, the_process_ends, 0, 4);
    tcase_add_test(t, refused);
    tcase_add_loop_test(t, many_steps, 0, 3);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
