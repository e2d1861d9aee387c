/* t_auto_flush.c - training steps with more operations than LAZULI_GRAPH_LIMIT: they are run in
 * pieces, to the numbers of a step that is run whole, and equal steps are cut at equal places, so
 * that nothing is compiled after the second one. */
#include "base/config.h"
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

enum { P = 60, N = 3, STEPS = 7, WARM = 2, MAX_THREADS = 4 };

typedef struct model {
    lz_params params;
    lz_optim *adam;
    int ballast; /* operations that need no gradient */
    double w[P * N];
} model;

static void open_model(model *m, float seed)
{
    memset(m, 0, sizeof *m);
    lz_scope_begin();
    for (int p = 0; p < P; p++) {
        float v[N];
        char name[16];
        for (int i = 0; i < N; i++)
            v[i] = seed + 0.01f * (float)(p % 7) - 0.02f * (float)i;
        snprintf(name, sizeof name, "w%d", p);
        lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(N), v);
        OK(lz_requires_grad(t, true));
        OK(lz_params_add(&m->params, name, t));
    }
    m->adam = lz_adam(&m->params, .lr = 0.01);
    ck_assert_ptr_nonnull(m->adam);
    lz_scope_end();
}

static void close_model(model *m)
{
    float v[N];
    for (int p = 0; p < P; p++) {
        OK(lz_to_host(m->params.tensors[p], v, sizeof v));
        for (int i = 0; i < N; i++)
            m->w[p * N + i] = v[i];
    }
    lz_optim_free(m->adam);
    lz_params_free(&m->params);
}

/* One chain through all parameters, each of which is used twice: a gradient that loses one of the
 * two is another number. */
static lz_tensor *loss_of(const model *m)
{
    lz_tensor *h = lz_ones(LZ_F32, LZ_SHAPE(N)), *more = lz_zeros(LZ_F32, LZ_SHAPE(N));
    for (int p = 0; p < P; p++) {
        h = lz_tanh(lz_add_scalar(lz_mul(h, m->params.tensors[p]), 0.25));
        more = lz_add(more, lz_mul(m->params.tensors[P - 1 - p], h));
    }
    return lz_sum(lz_square(more));
}

static void ballast(int n)
{
    lz_tensor *b = lz_ones(LZ_F32, LZ_SHAPE(N));
    for (int i = 0; i < n; i++)
        b = lz_add_scalar(b, i % 2 ? 1 : 2);
}

typedef enum kind { PLAIN, SCOPES, GRADS, READS, KINDS } kind;

/* A step, but for its end. */
static void record(model *m, kind k)
{
    ballast(m->ballast);
    if (k == SCOPES)
        lz_scope_begin();
    lz_tensor *loss = loss_of(m);
    if (k == SCOPES)
        loss = lz_scope_end_keep(loss);
    if (k == READS)
        ck_assert(lz_item(loss) > 0);
    if (k == GRADS) {
        lz_tensor *g[P];
        OK(lz_grad(loss, m->params.tensors, P, g));
        for (int p = 0; p < P; p++)
            OK(lz_assign(m->params.tensors[p],
                         lz_sub(m->params.tensors[p], lz_mul_scalar(g[p], 1e-4))));
    } else {
        OK(lz_backward(loss));
        OK(lz_optim_step(m->adam));
        OK(lz_optim_zero_grad(m->adam));
    }
}

static void step(model *m, kind k)
{
    lz_scope_begin();
    record(m, k);
    OK(lz_mark_step());
    lz_scope_end();
}

static void set_limit(int64_t limit)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)limit);
    OK(lz_config_set("LAZULI_GRAPH_LIMIT", text));
}

/* The parameters after some steps; what was compiled after the first few. */
static int64_t train(kind k, int64_t limit, int balls, double *w)
{
    model m;
    int64_t warm = 0;
    set_limit(limit);
    open_model(&m, 0.5f);
    m.ballast = balls;
    OK(lz_mark_step());
    for (int s = 0; s < STEPS; s++) {
        if (s == WARM)
            warm = lz_counter_value("UncachedCompile");
        step(&m, k);
    }
    int64_t late = lz_counter_value("UncachedCompile") - warm;
    close_model(&m);
    memcpy(w, m.w, sizeof m.w);
    return late;
}

static const struct {
    int64_t limit;
    int ballast;
} cuts[] = {{100, 0}, {333, 17}, {1000, 400}, {1400, 900}, {16, 0}, {700, 700}};
enum { NCUTS = sizeof cuts / sizeof *cuts };

START_TEST(the_same_numbers_and_programs)
{
    static double whole[P * N], cut[P * N];
    kind k = (kind)(_i / NCUTS);
    int c = _i % NCUTS;
    if (!lz_test_in_turn((unsigned)_i, 3))
        return;
    (void)train(k, 1 << 30, cuts[c].ballast, whole);
    ck_assert_int_eq(lz_counter_value("AutoFlush"), 0);
    int64_t late = train(k, cuts[c].limit, cuts[c].ballast, cut);
    ck_assert_int_ge(lz_counter_value("AutoFlush"), STEPS);
    ck_assert_int_eq(late, 0);
    for (int i = 0; i < P * N; i++)
        ck_assert_msg(fabs(whole[i] - cut[i]) <= 1e-6, "parameter %d, element %d: %.9g, not %.9g",
                      i / N, i % N, cut[i], whole[i]);
}
END_TEST

/* A program without steps: its flushes come anywhere, and old history is cut, but never between a
 * loss and its gradient. */
START_TEST(no_steps)
{
    enum { ROUNDS = 150 };
    static double steps[P * N];
    model m;
    for (int flushes = 0; flushes < 2; flushes++) {
        set_limit(flushes ? 777 : 1 << 30);
        open_model(&m, 0.5f);
        OK(lz_mark_step());
        for (int r = 0; r < ROUNDS; r++) {
            lz_scope_begin();
            record(&m, GRADS);
            if (!flushes)
                OK(lz_mark_step());
            lz_scope_end();
        }
        close_model(&m);
        if (!flushes)
            memcpy(steps, m.w, sizeof steps);
    }
    ck_assert_int_ge(lz_counter_value("AutoFlush"), ROUNDS);
    for (int i = 0; i < P * N; i++)
        ck_assert_double_eq_tol(m.w[i], steps[i], 1e-5);
}
END_TEST

/* More operations than history is kept for, in several automatic runs. */
static void many_operations(void)
{
    lz_scope_begin();
    ballast((1 << 17) + 2000);
    lz_scope_end();
}

/* A derivative that would miss what flows through a value whose history was cut is an error; one
 * by parameters that came after it, through lz_detach, or after a step, where values are constants,
 * is none. */
START_TEST(lost_history)
{
    float got[N];
    lz_tensor *g, *out, *v;
    set_limit(1000);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(N), (float[]){1, -2, 3});
    lz_tensor *data = lz_mul_scalar(x, 2);
    lz_tensor *w = lz_from_host(LZ_F32, LZ_SHAPE(N), (float[]){0.5f, 0.25f, -1}), *own = w;
    lz_tensor *h = lz_mul(lz_square(w), data);
    many_operations();
    lz_tensor *loss = lz_sum(lz_mul(h, w)), *of_data = lz_sum(lz_mul(data, w));
    v = lz_ones(LZ_F32, LZ_SHAPE(N));
    OK(lz_scope_begin());
    ck_assert_int_eq(lz_grad(loss, &w, 1, &g), LZ_EGRAD);
    ck_assert_msg(strstr(lz_last_error_text(), "t_auto_flush.c:") != NULL, "%s",
                  lz_last_error_text());
    ck_assert_int_eq(lz_jvp(&loss, 1, &w, &v, 1, &out), LZ_EGRAD);
    OK(lz_requires_grad(w, true));
    ck_assert_int_eq(lz_backward(loss), LZ_EGRAD);
    OK(lz_requires_grad(w, false));
    OK(lz_scope_end());

    OK(lz_grad(of_data, &w, 1, &g));
    OK(lz_to_host(g, got, sizeof got));
    ck_assert(got[0] == 2 && got[1] == -4 && got[2] == 6);
    OK(lz_jvp(&of_data, 1, &w, &v, 1, &out));
    ck_assert(lz_item(out) == 4);
    OK(lz_grad(lz_sum(lz_mul(lz_detach(h), w)), &w, 1, &g));
    OK(lz_to_host(g, got, sizeof got));
    ck_assert(got[0] == 0.5f && got[1] == -0.25f && got[2] == 6);
    OK(lz_grad(loss, &h, 1, &g)); /* it is a parameter: what it was made of does not matter */
    OK(lz_to_host(g, got, sizeof got));
    ck_assert(got[0] == 0.5f && got[1] == 0.25f && got[2] == -1);
    lz_retain(h);
    OK(lz_mark_step());
    OK(lz_grad(lz_sum(lz_mul(h, own)), &own, 1, &g));
    OK(lz_to_host(g, got, sizeof got));
    ck_assert(got[0] == 0.5f && got[1] == -0.25f && got[2] == 6);
    OK(lz_release(h));
}
END_TEST

/* A step of another device makes nothing of this one a constant. */
START_TEST(lost_beside_steps_of_another_device)
{
    lz_tensor *g;
    set_limit(1000);
    OK(lz_set_device("REF:0"));
    lz_tensor *w = lz_from_host(LZ_F32, LZ_SHAPE(N), (float[]){0.5f, 0.25f, -1});
    lz_tensor *h = lz_square(w);
    OK(lz_set_device("CPU:0"));
    many_operations();
    OK(lz_mark_step());
    OK(lz_set_device("REF:0"));
    lz_scope_begin();
    ballast(2500);
    lz_scope_end();
    OK(lz_set_device("CPU:0"));
    many_operations();
    OK(lz_set_device("REF:0"));
    lz_scope_begin();
    ballast(2500); /* here its history is cut */
    lz_scope_end();
    OK(lz_scope_begin());
    OK(lz_set_device("CPU:0"));
    OK(lz_mark_step());
    ck_assert_int_eq(lz_grad(lz_sum(lz_mul(h, w)), &w, 1, &g), LZ_EGRAD);
    OK(lz_scope_end());
    OK(lz_set_device("REF:0"));
    lz_retain(h);
    OK(lz_mark_step());
    OK(lz_grad(lz_sum(lz_mul(h, w)), &w, 1, &g));
    OK(lz_release(h));
}
END_TEST

/* What a gradient costs to record does not grow with what was recorded before its parameters. */
START_TEST(gradients_look_back_no_further)
{
    static const int rounds[2] = {300, 3000};
    int64_t visits[2];
    set_limit(1 << 30);
    for (int k = 0; k < 2; k++) {
        OK(lz_mark_step());
        lz_tensor *w = lz_retain(lz_ones(LZ_F32, LZ_SHAPE(N))), *g;
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(N), (float[]){1, -2, 3});
        int64_t before = lz_counter_value("DerivativeNodes");
        for (int i = 0; i < rounds[k]; i++) {
            lz_scope_begin();
            OK(lz_grad(lz_sum(lz_square(lz_sub(w, x))), &w, 1, &g));
            OK(lz_assign(w, lz_sub(w, lz_mul_scalar(g, 0.1))));
            lz_scope_end();
        }
        visits[k] = lz_counter_value("DerivativeNodes") - before;
        OK(lz_release(w));
    }
    ck_assert_int_gt(visits[0], 0);
    ck_assert_int_le(visits[1], 11 * visits[0]);
}
END_TEST

/* ---- several threads: each is cut by its own operations ---- */

static pthread_barrier_t warm_now;
static _Atomic int wrong;

static void *train_alone(void *arg)
{
    model *m = arg;
    for (int s = 0; s < STEPS; s++) {
        if (s == WARM + 1) { /* all have had their first steps */
            pthread_barrier_wait(&warm_now);
            pthread_barrier_wait(&warm_now);
        }
        lz_scope_begin();
        ballast(m->ballast);
        lz_tensor *loss = loss_of(m);
        wrong += lz_backward(loss) != LZ_OK || lz_optim_step(m->adam) != LZ_OK ||
                 lz_optim_zero_grad(m->adam) != LZ_OK || lz_mark_step() != LZ_OK;
        lz_scope_end();
    }
    return NULL;
}

START_TEST(threads)
{
    static model m[MAX_THREADS];
    static double alone[P * N];
    pthread_t th[MAX_THREADS];
    (void)train(PLAIN, 1 << 30, 0, alone);
    set_limit(900);
    for (int t = 0; t < MAX_THREADS; t++)
        open_model(&m[t], 0.5f);
    OK(lz_mark_step());
    pthread_barrier_init(&warm_now, NULL, MAX_THREADS + 1);
    for (int t = 0; t < MAX_THREADS; t++) {
        m[t].ballast = 0;
        ck_assert_int_eq(pthread_create(&th[t], NULL, train_alone, &m[t]), 0);
    }
    pthread_barrier_wait(&warm_now);
    int64_t warm = lz_counter_value("UncachedCompile");
    pthread_barrier_wait(&warm_now);
    for (int t = 0; t < MAX_THREADS; t++)
        pthread_join(th[t], NULL);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_ge(lz_counter_value("AutoFlush"), STEPS * MAX_THREADS);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), warm);
    for (int t = 0; t < MAX_THREADS; t++) {
        close_model(&m[t]);
        for (int i = 0; i < P * N; i++)
            ck_assert_double_eq_tol(m[t].w[i], alone[i], 1e-6);
    }
    pthread_barrier_destroy(&warm_now);
}
END_TEST

/* ---- what threads that have ended left pending is run, too ---- */

enum { LEFT = 2000, ENDED = 8 };
static lz_tensor *left[ENDED];

static void *leave_pending(void *arg)
{
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(N));
    for (int i = 0; i < LEFT; i++)
        x = lz_add_scalar(x, 1);
    *(lz_tensor **)arg = lz_retain(x);
    return NULL;
}

START_TEST(ended_threads)
{
    pthread_t th;
    set_limit(3 * LEFT);
    OK(lz_mark_step());
    for (int t = 0; t < ENDED; t++) {
        ck_assert_int_eq(pthread_create(&th, NULL, leave_pending, &left[t]), 0);
        pthread_join(th, NULL);
        lz_scope_begin();
        ballast(500);
        lz_scope_end();
    }
    ck_assert_int_ge(lz_counter_value("AutoFlush"), 1);
    for (int t = 0; t < ENDED; t++) {
        float v[N];
        OK(lz_to_host(left[t], v, sizeof v));
        ck_assert_float_eq(v[0], LEFT + 1);
        OK(lz_release(left[t]));
    }
}
END_TEST

int main(void)
{
    setenv("PJRT_DEVICE", "REF", 1);
    setenv("LAZULI_CACHE", "0", 1);
    setenv("LAZULI_LOG", "error", 1);
    Suite *s = suite_create("automatic flush");
    TCase *t = tcase_create("steps beyond the limit");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, the_same_numbers_and_programs, 0, KINDS * NCUTS);
    tcase_add_test(t, no_steps);
    tcase_add_test(t, lost_history);
    tcase_add_test(t, lost_beside_steps_of_another_device);
    tcase_add_test(t, gradients_look_back_no_further);
    tcase_add_test(t, threads);
    tcase_add_test(t, ended_threads);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
