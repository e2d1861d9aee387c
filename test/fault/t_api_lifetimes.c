/* t_api_lifetimes.c - A08 handles used after their release, A09 released twice or elsewhere, A16
 * eight threads that trace, compile, step, read, release and look at the counters at once, on one
 * device, on two, and on tensors they share (the thread sanitizer runs this program too). */
#include "suite.h"
#include <lazuli/dlpack.h>
#include <lazuli/hlo.h>
#include <lazuli/lazuli.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define OK(expr) ck_assert_msg((expr) == LZ_OK, "%s: %s", #expr, lz_last_error_text())

static const char *const devices[] = {"REF", "CPU"};

static void use(const char *device)
{
    setenv("PJRT_DEVICE", device, 1);
    setenv("LAZULI_CACHE", "0", 1);
}

static lz_tensor *vec(float a, float b)
{
    const float v[2] = {a, b};
    return lz_from_host(LZ_F32, LZ_SHAPE(2), v);
}

/* ---- A08 ---- */

/* Everything that takes a tensor refuses a stale handle, also after its slot has been given to
 * another tensor. */
static void refused(lz_tensor *t)
{
    float v[2];
    lz_tensor *g = NULL, *good = vec(1, 2);
    struct DLManagedTensorVersioned *m = NULL;
    ck_assert_int_eq(lz_status_of(t), LZ_EHANDLE);
    ck_assert_int_eq(lz_to_host(t, v, sizeof v), LZ_EHANDLE);
    ck_assert(isnan(lz_item(t)));
    ck_assert_int_eq(lz_item_i64(t), INT64_MIN);
    ck_assert_int_eq(lz_assign(t, good), LZ_EHANDLE);
    ck_assert_int_eq(lz_assign(good, t), LZ_EHANDLE);
    ck_assert_int_eq(lz_sync(&t, 1, true), LZ_EHANDLE);
    ck_assert_int_eq(lz_release(t), LZ_EHANDLE);
    ck_assert_int_eq(lz_requires_grad(t, true), LZ_EHANDLE);
    ck_assert_int_eq(lz_zero_grad(&t, 1), LZ_EHANDLE);
    ck_assert_int_eq(lz_backward(t), LZ_EHANDLE);
    ck_assert_int_eq(lz_grad(t, &good, 1, &g), LZ_EHANDLE);
    ck_assert_int_eq(lz_grad(lz_sum(good), &t, 1, &g), LZ_EHANDLE);
    ck_assert_int_eq(lz_to_dlpack(t, false, &m), LZ_EHANDLE);
    ck_assert_ptr_null(m);
    ck_assert_int_eq(lz_rank_of(t), -1);
    ck_assert_int_eq(lz_dtype_of(t), LZ_DTYPE_NONE);
    ck_assert_int_eq(lz_numel(t), -1);
    ck_assert_ptr_null(lz_grad_of(t));
    ck_assert_uint_eq(lz_dump_graph(&t, 1, "text", NULL, 0), 0);
    lz_tensor *ops[] = {lz_neg(t),
                        lz_add(good, t),
                        lz_matmul(t, good),
                        lz_sum(t),
                        lz_cat(&t, 1, 0),
                        lz_reshape(t, LZ_SHAPE(2)),
                        lz_hlo_ew_at("abs", &t, 1, NULL),
                        lz_detach(t),
                        lz_cross_entropy(t, good)};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        ck_assert_msg(lz_status_of(ops[i]) == LZ_EHANDLE, "operation %zu: %s", i,
                      lz_status_name(lz_status_of(ops[i])));
    ck_assert_ptr_eq(lz_retain(t), t); /* for chaining; it is no better afterwards */
    ck_assert_int_eq(lz_status_of(t), LZ_EHANDLE);
    ck_assert_int_eq(lz_status_of(good), LZ_OK);
}

START_TEST(a08_after_release)
{
    use(devices[_i]);
    lz_scope_begin();
    lz_tensor *t = lz_retain(vec(1, 2)), *keep;
    OK(lz_release(t));
    OK(lz_release(t)); /* the scope's own reference */
    refused(t);
    for (int i = 0; i < 5000; i++) /* slots are used again, with another generation */
        (void)vec(3, 4);
    refused(t);
    lz_scope_begin();
    keep = vec(5, 6);
    lz_scope_end();
    refused(keep);
    lz_scope_end();
}
END_TEST

/* ---- A09 ---- */

static void *release_it(void *t)
{
    return (void *)(intptr_t)lz_release(t);
}

START_TEST(a09_released_twice_or_elsewhere)
{
    pthread_t th[8];
    void *r;
    use(devices[_i]);
    lz_scope_begin();
    for (int round = 0; round < 200; round++) {
        lz_scope_begin();
        lz_tensor *t = lz_retain(vec(1, 2)), *u = lz_add(t, t);
        lz_scope_end(); /* one reference is left; eight threads want it */
        int won = 0;
        for (int i = 0; i < 8; i++)
            ck_assert_int_eq(pthread_create(&th[i], NULL, release_it, t), 0);
        for (int i = 0; i < 8; i++) {
            pthread_join(th[i], &r);
            ck_assert((intptr_t)r == LZ_OK || (intptr_t)r == LZ_EHANDLE);
            won += (intptr_t)r == LZ_OK;
        }
        ck_assert_int_eq(won, 1);
        ck_assert_int_eq(lz_release(t), LZ_EHANDLE);
        ck_assert_int_eq(lz_status_of(u), LZ_EHANDLE);
    }
    /* a scope's tensor released by another thread while the scope is open */
    lz_tensor *t = vec(1, 2);
    ck_assert_int_eq(pthread_create(&th[0], NULL, release_it, t), 0);
    pthread_join(th[0], &r);
    ck_assert_int_eq((int)(intptr_t)r, LZ_OK);
    ck_assert_int_eq(lz_status_of(t), LZ_EHANDLE);
    OK(lz_scope_end());
    ck_assert_int_eq(lz_scope_end(), LZ_ESTATE);
    /* a scope of another device's tensors */
    lz_scope_begin();
    OK(lz_set_device(_i ? "REF:0" : "CPU:0"));
    t = vec(7, 8);
    OK(lz_set_device(NULL));
    OK(lz_release(t));
    ck_assert_int_eq(lz_release(t), LZ_EHANDLE);
    OK(lz_scope_end());
}
END_TEST

/* ---- A16 ---- */

enum { THREADS = 8 };
static _Atomic int wrong;
static lz_tensor *shared[4];
static int rounds;

static void check(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "%s: %s\n", what, lz_last_error_text());
        wrong++;
    }
}

/* A training loop of the thread's own, with shapes of its own, so that compilations meet. */
static void train(int id)
{
    lz_params ps = {0};
    lz_linear_layer l;
    float x[12] = {0}, loss = 0, before = 0;
    const int32_t y[3] = {id % 2, 1, 0};
    for (int i = 0; i < 12; i++)
        x[i] = (float)((i * 7 + id) % 5) - 2;
    check(lz_linear_layer_init(&l, &ps, "l", 4, 2 + id % 3, true, LZ_F32) == LZ_OK, "layer");
    lz_optim *o = id & 1 ? lz_adam(&ps, .lr = 0.05) : lz_sgd(&ps, .lr = 0.2, .momentum = 0.5);
    for (int i = 0; i < rounds; i++) {
        lz_scope_begin();
        lz_tensor *t = lz_linear_layer_forward(&l, lz_from_host(LZ_F32, LZ_SHAPE(3, 4), x));
        t = lz_cross_entropy(t, lz_from_host(LZ_I32, LZ_SHAPE(3), y));
        check(lz_backward(t) == LZ_OK && lz_optim_step(o) == LZ_OK &&
                  lz_optim_zero_grad(o) == LZ_OK,
              "training");
        check(lz_mark_step(.wait = i % 5 == 0) == LZ_OK, "step");
        loss = (float)lz_item(t);
        before = i ? before : loss;
        lz_scope_end();
    }
    check(isfinite(loss) && loss < before, "the loss falls");
    lz_optim_free(o);
    lz_params_free(&ps);
}

/* What others made, read, assigned and passed on. */
static void share(int id)
{
    char text[256];
    for (int i = 0; i < rounds; i++) {
        float v[2];
        lz_tensor *s = shared[(i + id) % 4];
        lz_scope_begin();
        switch ((i * 3 + id) % 6) {
        case 0:
            check(lz_assign(s, lz_add(s, lz_sub(s, s))) == LZ_OK, "assign");
            break;
        case 1:
            check(lz_to_host(s, v, sizeof v) == LZ_OK && v[1] == 2 * v[0], "read");
            break;
        case 2:
            check(lz_status_of(lz_retain(s)) == LZ_OK && lz_release(s) == LZ_OK, "retain");
            break;
        case 3:
            check(lz_metrics_report(text, sizeof text) > 0 && lz_counter_value("MarkStep") >= 0,
                  "metrics");
            break;
        case 4:
            check(lz_graph_hash(&s, 1, text, sizeof text) > 0, "hash");
            break;
        default: {
            struct DLManagedTensorVersioned *m = NULL;
            check(lz_to_dlpack(s, i & 1, &m) == LZ_OK, "dlpack");
            if (m)
                m->deleter(m);
        }
        }
        lz_scope_end();
    }
    check(lz_wait_device_ops() == LZ_OK, "wait");
}

static void *work(void *arg)
{
    int id = (int)(intptr_t)arg;
    check(lz_set_device(id % 4 == 3 ? "REF:0" : NULL) == LZ_OK, "device");
    train(id);
    check(lz_set_device(NULL) == LZ_OK, "device");
    share(id);
    return NULL;
}

START_TEST(a16_threads)
{
    pthread_t th[THREADS];
    use(devices[_i]);
    rounds = getenv("LZ_TEST_QUICK") ? 20 : 80;
    for (int i = 0; i < 4; i++)
        shared[i] = lz_retain(vec((float)i + 1, 2 * (float)i + 2));
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&th[i], NULL, work, (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(th[i], NULL);
    ck_assert_int_eq(wrong, 0);
    for (int i = 0; i < 4; i++)
        OK(lz_release(shared[i]));
    OK(lz_wait_device_ops());
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lifetimes");
    TCase *t = tcase_create("A08 A09 A16");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, a08_after_release, 0, 2);
    tcase_add_loop_test(t, a09_released_twice_or_elsewhere, 0, 2);
    tcase_add_loop_test(t, a16_threads, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
