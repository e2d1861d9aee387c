/* t_many_threads.c - tracing, stepping, reading and releasing from many threads; a forked child;
 * asynchronous failures. */
#include "rt.h"
#include "runtime/exec/runtime_device.h"
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 60 };
static lz_tensor *shared;
static _Atomic int wrong;

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #cond, lz_last_error_text());   \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

/* A small training loop of its own, on data shared by all. */
static void *work(void *arg)
{
    int id = *(int *)arg;
    float v[4] = {(float)id, 1, 2, 3}, want[4], got[4];
    lz_tensor *w = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(4), v));
    memcpy(want, v, sizeof v);
    for (int i = 0; i < ROUNDS; i++) {
        lz_scope_begin();
        lz_tensor *d = lz_mul_scalar(lz_sub(w, shared), 0.1 + 0.1 * id);
        lz_tensor *loss = lz_sum(d);
        CHECK(lz_assign(w, lz_sub(w, lz_mul_scalar(d, 0.5))) == LZ_OK);
        float sum = 0;
        for (int k = 0; k < 4; k++) {
            float e = (want[k] - (float)(k + 1)) * (0.1f + 0.1f * (float)id);
            sum += e;
            want[k] -= e * 0.5f;
        }
        if (i % 3 == 0)
            CHECK(fabs(lz_item(loss) - sum) <= 1e-4 * (1 + fabsf(sum)) || !isfinite(sum));
        if (i % 4 != 1)
            CHECK(lz_mark_step() == LZ_OK);
        if (i % 7 == 0) {
            CHECK(lz_to_host(w, got, sizeof got) == LZ_OK);
            for (int k = 0; k < 4; k++)
                CHECK(fabsf(got[k] - want[k]) <= 1e-3f * (1 + fabsf(want[k])) ||
                      !isfinite(want[k]));
        }
        lz_scope_end();
    }
    CHECK(lz_release(w) == LZ_OK);
    CHECK(lz_status_of(shared) == LZ_OK);
    return NULL;
}

START_TEST(threads_do_not_disturb_each_other)
{
    pthread_t th[THREADS];
    int id[THREADS];
    shared = lz_retain(lz_add_scalar(lz_iota(LZ_F32, LZ_SHAPE(4), 0), 1));
    OK(lz_sync(&shared, 1, false));
    for (int i = 0; i < THREADS; i++) {
        id[i] = i;
        ck_assert_int_eq(pthread_create(&th[i], NULL, work, &id[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(th[i], NULL);
    ck_assert_int_eq(wrong, 0);
    OK(lz_wait_device_ops());
    OK(lz_release(shared));
}
END_TEST

static lz_tensor *slot[16];

/* Threads hand tensors to each other: one assigns and releases what another reads. */
static void *juggle(void *arg)
{
    unsigned seed = 1 + (unsigned)(uintptr_t)arg;
    for (int i = 0; i < 2000; i++) {
        seed = seed * 1103515245u + 12345u;
        int a = (int)(seed >> 16) & 15, b = (int)(seed >> 20) & 15;
        lz_scope_begin();
        switch (seed >> 28) {
        case 0:
            CHECK(lz_assign(slot[a], lz_add(slot[b], slot[b])) == LZ_OK);
            break;
        case 1:
            CHECK(lz_assign(slot[a], lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2})) == LZ_OK);
            break;
        case 2:
            CHECK(lz_mark_step() == LZ_OK);
            break;
        case 3:
            lz_retain(slot[a]);
            CHECK(lz_release(slot[a]) == LZ_OK);
            break;
        case 4: {
            float v[2];
            CHECK(lz_to_host(slot[a], v, sizeof v) == LZ_OK);
            CHECK(v[1] == 2 * v[0]);
            break;
        }
        default:
            CHECK(lz_status_of(lz_mul_scalar(slot[a], 0.5)) == LZ_OK);
            break;
        }
        lz_scope_end();
    }
    return NULL;
}

START_TEST(tensors_may_be_shared)
{
    pthread_t th[4];
    for (int i = 0; i < 16; i++)
        slot[i] = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2}));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&th[i], NULL, juggle, (void *)(uintptr_t)i), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(th[i], NULL);
    ck_assert_int_eq(wrong, 0);
    for (int i = 0; i < 16; i++)
        OK(lz_release(slot[i]));
}
END_TEST

static lz_tensor *left;
static void *leave_pending(void *arg)
{
    (void)arg;
    left = lz_retain(lz_mul_scalar(lz_ones(LZ_F32, LZ_SHAPE(3)), 7));
    return NULL;
}

START_TEST(what_an_ended_thread_left_is_stepped)
{
    pthread_t th;
    OK(lz_mark_step());
    ck_assert_int_eq(pthread_create(&th, NULL, leave_pending, NULL), 0);
    pthread_join(th, NULL);
    OK(lz_mark_step());
    ck_assert_int_eq(lz_counter_value("ExecuteComputation"), 1);
    rt_expect(left, (float[]){7, 7, 7}, 3, 0);
    ck_assert_int_eq(lz_counter_value("ExecuteComputation"), 1);
    OK(lz_release(left));
}
END_TEST

static void *train_here(void *arg)
{
    lz_tensor *w = arg;
    for (int i = 0; i < 6; i++) {
        lz_scope_begin();
        CHECK(lz_assign(w, lz_mul_scalar(w, 2)) == LZ_OK);
        CHECK(lz_mark_step() == LZ_OK);
        lz_scope_end();
    }
    return NULL;
}

/* A parameter made by one thread and updated by another belongs to the steps of the one that wrote
 * it last. */
START_TEST(the_last_writer_steps)
{
    pthread_t th;
    OK(lz_scope_begin());
    lz_tensor *w = lz_retain(lz_add_scalar(lz_iota(LZ_F32, LZ_SHAPE(3), 0), 1.5));
    OK(lz_scope_end()); /* pending here */
    ck_assert_int_eq(pthread_create(&th, NULL, train_here, w), 0);
    pthread_join(th, NULL);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(lz_counter_value("ExecuteComputation"), 6);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 2); /* the first step and the others */
    OK(lz_mark_step());
    ck_assert_int_eq(lz_counter_value("ExecuteComputation"), 6);
    rt_expect(w, (float[]){96, 160, 224}, 3, 0);
    OK(lz_release(w));
}
END_TEST

/* ---- fork ---- */

START_TEST(a_forked_child_gets_an_error)
{
    int status;
    lz_tensor *x = lz_retain(lz_ones(LZ_F32, LZ_SHAPE(2)));
    OK(lz_sync(&x, 1, true));
    pid_t pid = fork();
    if (pid == 0) {
        float v[2];
        bool ok =
            lz_status_of(lz_neg(x)) == LZ_EFORK && lz_to_host(x, v, sizeof v) == LZ_EFORK &&
            lz_mark_step() == LZ_EFORK && lz_wait_device_ops() == LZ_EFORK &&
            lz_release(x) == LZ_EFORK && isnan(lz_item(x)) && lz_sync(&x, 1, true) == LZ_EFORK &&
            lz_status_of(lz_ones(LZ_F32, LZ_SHAPE(2))) == LZ_EFORK && lz_device_count(NULL) == -1;
        _exit(ok ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    pid = fork();
    if (pid == 0)
        exit(0); /* its exit handlers must not hang */
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    rt_expect(lz_add(x, x), (float[]){2, 2}, 2, 0);
    OK(lz_mark_step());
}
END_TEST

/* ---- asynchronous failures: a backend whose executions fail when told ---- */

static _Atomic int failing;
static const lz_backend *real;
static lz_backend broken;

static lz_status execute_or_fail(lz_exec *x, int device, lz_device_buffer *const *in,
                                 const bool *donated, bool awaited, lz_device_buffer **out,
                                 lz_event **done)
{
    lz_error err = {.status = LZ_EDEVICE, .message = "the device caught fire"};
    if (!failing)
        return real->execute(x, device, in, donated, awaited, out, done);
    LZ_TRY(real->execute(x, device, in, donated, awaited, out, done));
    (void)lz_event_wait(*done);
    lz_event_release(*done);
    *done = lz_event_new();
    lz_event_complete(*done, &err);
    lz_device_buffer *b = out[0];
    lz_event_release(b->ready);
    lz_event_retain(*done);
    b->ready = *done;
    return LZ_OK;
}

START_TEST(device_failures_reach_the_next_wait)
{
    float v[2];
    lz_tensor *x = lz_retain(lz_ones(LZ_F32, LZ_SHAPE(2)));
    OK(lz_mark_step(.wait = true));
    lz_dev *d = lz_dev_current();
    real = d->be;
    broken = *real;
    broken.execute = execute_or_fail;
    d->be = &broken;
    failing = 1;
    lz_tensor *y = lz_retain(lz_neg(x));
    lz_status now = lz_mark_step(); /* it may know already */
    failing = 0;
    if (now == LZ_OK)
        now = lz_wait_device_ops();
    ck_assert_int_eq(now, LZ_EDEVICE);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "caught fire"));
    FAILS(lz_to_host(y, v, sizeof v), LZ_EDEVICE, "caught fire");
    lz_tensor *z = lz_add(x, y); /* what depends on it fails too */
    FAILS(lz_to_host(z, v, sizeof v), LZ_EDEVICE, "caught fire");
    FAILS(lz_wait_device_ops(), LZ_EDEVICE, "caught fire");
    OK(lz_wait_device_ops()); /* told once */
    rt_expect(x, (float[]){1, 1}, 2, 0);
    rt_expect(lz_add(x, x), (float[]){2, 2}, 2, 0); /* the device goes on */
    d->be = real;
}
END_TEST

/* ---- compiling: other threads go on; who needs the same program waits for it ---- */

static _Atomic int slow, entered, opened;
static lz_tensor *base_of, *mid, *end_of;

/* Blocks the first compilation it is told to until the gate is opened; half a minute at the
 * most. */
static lz_status compile_when_told(int device, const lz_func *f, const lz_compile_options *o,
                                   lz_exec **out)
{
    if (atomic_exchange(&slow, 0)) {
        entered = 1;
        for (int i = 0; i < 30000 && !opened; i++)
            usleep(1000);
        if (!opened)
            return LZ_FAIL(LZ_ECOMPILE, "nobody could step while this was compiled");
    }
    return real->compile(device, f, o, out);
}

static void *step_slowly(void *arg)
{
    (void)arg;
    lz_scope_begin();
    mid = lz_retain(lz_mul(base_of, base_of));
    end_of = lz_retain(lz_sub(mid, lz_neg(base_of)));
    slow = 1;
    CHECK(lz_mark_step() == LZ_OK);
    lz_scope_end();
    return NULL;
}

START_TEST(steps_go_on_while_a_thread_compiles)
{
    pthread_t th;
    base_of = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){3, -5}));
    OK(lz_mark_step());
    lz_dev *d = lz_dev_current();
    real = d->be;
    broken = *real;
    broken.compile = compile_when_told;
    d->be = &broken;
    wrong = 0;
    ck_assert_int_eq(pthread_create(&th, NULL, step_slowly, NULL), 0);
    while (!entered)
        usleep(1000);
    rt_expect(lz_add(base_of, base_of), (float[]){6, -10}, 2, 0); /* a program of its own */
    if (_i == 1) /* and what the other one is about to compute, which then finds it done */
        rt_expect(mid, (float[]){9, 25}, 2, 0);
    if (_i == 2) { /* or all of it */
        rt_expect(end_of, (float[]){12, 20}, 2, 0);
        rt_expect(mid, (float[]){9, 25}, 2, 0);
    }
    OK(lz_mark_step());
    opened = 1;
    ck_assert_int_eq(pthread_join(th, NULL), 0);
    ck_assert_int_eq(wrong, 0);
    rt_expect(end_of, (float[]){12, 20}, 2, 0);
    rt_expect(mid, (float[]){9, 25}, 2, 0);
    d->be = real;
}
END_TEST

static pthread_barrier_t together;

/* The same graph as all the others at the same time, on numbers of its own; every round another
 * one. */
static void *compile_too(void *arg)
{
    int id = *(int *)arg;
    for (int r = 0; r < 20; r++) {
        float v[32], got[32];
        for (int k = 0; k < r + 3; k++)
            v[k] = (float)(id * 3 + k);
        lz_scope_begin();
        lz_tensor *x = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(r + 3), v));
        lz_tensor *y = lz_retain(lz_sub(lz_mul(x, x), x));
        pthread_barrier_wait(&together);
        if (id % 3 == 0)
            CHECK(lz_mark_step() == LZ_OK);
        CHECK(lz_to_host(y, got, (size_t)(r + 3) * 4) == LZ_OK);
        for (int k = 0; k < r + 3; k++)
            CHECK(got[k] == v[k] * v[k] - v[k]);
        CHECK(lz_assign(x, lz_add(x, y)) == LZ_OK); /* with its memory given away */
        CHECK(lz_mark_step() == LZ_OK);
        CHECK(lz_to_host(x, got, (size_t)(r + 3) * 4) == LZ_OK);
        for (int k = 0; k < r + 3; k++)
            CHECK(got[k] == v[k] * v[k]);
        lz_release(x);
        lz_release(y);
        lz_scope_end();
    }
    return NULL;
}

START_TEST(a_program_is_made_once)
{
    pthread_t th[THREADS];
    int id[THREADS];
    wrong = 0;
    pthread_barrier_init(&together, NULL, THREADS);
    int64_t before = lz_counter_value("UncachedCompile");
    for (int i = 0; i < THREADS; i++) {
        id[i] = i;
        ck_assert_int_eq(pthread_create(&th[i], NULL, compile_too, &id[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(th[i], NULL), 0);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(lz_counter_value("UncachedCompile") - before, 2 * 20);
    pthread_barrier_destroy(&together);
}
END_TEST

/* ---- a loop that a condition ends ---- */

static lz_tensor *rounds_left(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_gt_scalar(in[0], 0);
}

static void one_round(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_sub_scalar(in[0], 1);
    out[1] = lz_add_scalar(lz_mul_scalar(in[1], 1664525), 1013904223);
}

/* Waits for as many rounds. */
static void go_round(int64_t n, bool step)
{
    lz_tensor *out[2];
    uint32_t seed = 1;
    OK(lz_scope_begin());
    lz_tensor *in[2] = {lz_from_host(LZ_I64, (lz_shape){0}, &n),
                        lz_from_host(LZ_U32, (lz_shape){0}, &seed)};
    OK(lz_while(in, 2, rounds_left, one_round, NULL, out));
    if (step)
        OK(lz_mark_step());
    (void)lz_item(out[1]);
    OK(lz_scope_end());
}

static _Atomic bool goes_round, has_gone;
static void *others(void *arg)
{
    float v[2] = {1, 2};
    bool *held = arg;
    for (int k = 0; k < 2; k++) { /* the first time it compiles */
        while (k && !goes_round)
            usleep(1000);
        usleep(k * 100000);
        lz_scope_begin();
        CHECK(lz_status_of(lz_exp(lz_from_host(LZ_F32, LZ_SHAPE(2), v))) == LZ_OK);
        CHECK(lz_mark_step() == LZ_OK);
        lz_scope_end();
        *held = k ? has_gone : false;
    }
    return NULL;
}

/* It was quick until now, so the thread that waits runs it; others can trace and step. */
START_TEST(a_long_loop_holds_nobody_up)
{
    pthread_t th;
    bool held = true, step = _i;
    rt_use("CPU");
    for (int i = 0; i < 50; i++)
        go_round(3, step);
    pthread_create(&th, NULL, others, &held);
    usleep(300000);
    goes_round = true;
    go_round(1500000000, step);
    has_gone = true;
    pthread_join(th, NULL);
    ck_assert_int_eq(wrong, 0);
    ck_assert(!held);
}
END_TEST

int main(void)
{
    rt_use(getenv("RT_DEVICE") ? getenv("RT_DEVICE") : "REF");
    Suite *s = suite_create("threads");
    TCase *t = tcase_create("threads");
    tcase_set_timeout(t, 200);
    tcase_add_test(t, threads_do_not_disturb_each_other);
    tcase_add_test(t, tensors_may_be_shared);
    tcase_add_test(t, what_an_ended_thread_left_is_stepped);
    tcase_add_test(t, the_last_writer_steps);
    tcase_add_test(t, a_forked_child_gets_an_error);
    tcase_add_test(t, device_failures_reach_the_next_wait);
    tcase_add_loop_test(t, steps_go_on_while_a_thread_compiles, 0, 3);
    tcase_add_test(t, a_program_is_made_once);
    tcase_add_loop_test(t, a_long_loop_holds_nobody_up, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
