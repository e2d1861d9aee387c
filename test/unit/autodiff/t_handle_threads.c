/* t_handle_threads.c - the same handles in many threads: each asks about, reads, assigns, retains,
 * prints and releases what the others publish and end meanwhile. A call gives the right value or
 * says that the handle has ended. LZ_TEST_WHOLE: for 60 seconds. */
#include "../runtime/rt.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 8, PLACES = 24, ERRORS = 6, ROUNDS = 1500 };

/* Place i: a handle of [4] f32, all i; of the first ERRORS: an error tensor (LZ_ESHAPE). */
static _Atomic(lz_tensor *) place[PLACES];
static _Atomic int bad, most_rounds;
static _Atomic time_t end;
static bool may_end = true; /* other threads end handles meanwhile */

typedef struct worker {
    pthread_t id;
    uint32_t seed;
    bool alone; /* the test's own thread */
} worker;

static uint32_t next(worker *w)
{
    return w->seed = w->seed * 1664525u + 1013904223u;
}

#define RIGHT(cond, ...)                                                                           \
    do {                                                                                           \
        if (!(cond) && atomic_fetch_add(&bad, 1) == 0) {                                           \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, " (%s)\n", lz_last_error_text());                                      \
        }                                                                                          \
    } while (0)

/* A new tensor for place i, in no scope. */
static lz_tensor *make(int i, uint32_t how)
{
    static const float zero[4];
    lz_scope_begin();
    lz_tensor *t;
    if (i < ERRORS)
        t = lz_matmul(lz_ones(LZ_F32, LZ_SHAPE(4, 2)), lz_ones(LZ_F32, LZ_SHAPE(3, 2)));
    else if (how & 1)
        t = lz_add_scalar(lz_from_host(LZ_F32, LZ_SHAPE(4), zero), i);
    else
        t = lz_from_host(LZ_F32, LZ_SHAPE(4), (float[]){(float)i, (float)i, (float)i, (float)i});
    lz_retain(t);
    if (!(how & 6) && i >= ERRORS)
        lz_requires_grad(t, true);
    lz_scope_end();
    return t;
}

static bool ended(lz_status s)
{
    return may_end && s == LZ_EHANDLE;
}

/* Nothing is known of a handle that has ended, nor of an error tensor. */
static bool nothing(int i)
{
    return may_end || i < ERRORS;
}

static bool allowed(int i, lz_status s)
{
    return ended(s) || (i < ERRORS ? s == LZ_ESHAPE : s == LZ_OK);
}

static void ask(int i, lz_tensor *t)
{
    lz_status s = lz_status_of(t);
    RIGHT(allowed(i, s), "place %d: status %s", i, lz_status_name(s));
    lz_shape shape = lz_shape_of(t);
    RIGHT((nothing(i) && shape.rank == -1) ||
              (i >= ERRORS && shape.rank == 1 && shape.dims[0] == 4),
          "place %d: rank %d", i, shape.rank);
    lz_dtype d = lz_dtype_of(t);
    RIGHT((nothing(i) && d == LZ_DTYPE_NONE) || (i >= ERRORS && d == LZ_F32), "place %d: dtype %d",
          i, (int)d);
    int64_t n = lz_numel(t);
    RIGHT((nothing(i) && n == -1) || (i >= ERRORS && n == 4), "place %d: %d elements", i, (int)n);
    char device[32];
    (void)lz_device_of(t, device, sizeof device);
    RIGHT((nothing(i) && !*device) || strchr(device, ':'), "place %d: device %s", i, device);
}

static void read_it(int i, lz_tensor *t)
{
    float v[4] = {0};
    lz_status s = lz_to_host(t, v, sizeof v);
    RIGHT(allowed(i, s), "place %d: reading gives %s", i, lz_status_name(s));
    for (int k = 0; k < 4 && s == LZ_OK; k++)
        RIGHT(v[k] == (float)i, "place %d: element %d is %g", i, k, (double)v[k]);
}

static void compute(int i, lz_tensor *t)
{
    lz_scope_begin();
    lz_tensor *sum = lz_sum(lz_mul_scalar(t, 2));
    double v = lz_item(sum);
    lz_status s = lz_status_of(sum);
    RIGHT(allowed(i, s), "place %d: computing gives %s", i, lz_status_name(s));
    RIGHT(s != LZ_OK || v == 8.0 * i, "place %d: twice the sum is %g", i, v);
    lz_scope_end();
}

static void assign(int i, lz_tensor *t)
{
    lz_scope_begin();
    lz_tensor *same = lz_add_scalar(lz_zeros(LZ_F32, LZ_SHAPE(4)), i);
    lz_status s = lz_assign(t, same);
    RIGHT(allowed(i, s), "place %d: assigning gives %s", i, lz_status_name(s));
    lz_scope_end();
}

static void print(int i, lz_tensor *t)
{
    char text[4096];
    lz_tensor *one[1] = {t};
    size_t n = lz_dump_graph(one, 1, "text", text, sizeof text);
    RIGHT(n < sizeof text, "place %d: a graph of %zu bytes", i, n);
    struct DLManagedTensorVersioned *m = NULL;
    lz_status s = lz_to_dlpack(t, false, &m);
    RIGHT(allowed(i, s), "place %d: lending gives %s", i, lz_status_name(s));
    if (s == LZ_OK) {
        RIGHT(((const float *)m->dl_tensor.data)[3] == (float)i, "place %d: lent wrongly", i);
        m->deleter(m);
    }
}

static void gradient(int i, lz_tensor *t)
{
    lz_status s = lz_requires_grad(t, true);
    RIGHT(allowed(i, s), "place %d: marking gives %s", i, lz_status_name(s));
    (void)lz_shape_of(lz_grad_of(t));
    s = lz_zero_grad(&t, 1);
    RIGHT(s == LZ_OK || ended(s), "place %d: clearing gives %s", i, lz_status_name(s));
    (void)lz_requires_grad(t, false);
}

static void keep(int i, lz_tensor *t)
{
    lz_retain(t);
    if (!ended(lz_status_of(t)) && atomic_load(&place[i]) == t) {
        ask(i, t);
        read_it(i, t);
    }
}

static void replace(worker *w, int i)
{
    lz_tensor *old = atomic_exchange(&place[i], make(i, next(w) >> 8));
    lz_status s = lz_release(old);
    RIGHT(s == LZ_OK || ended(s), "place %d: releasing gives %s", i, lz_status_name(s));
}

static void round_of(worker *w)
{
    static void (*const calls[])(int, lz_tensor *) = {ask,   ask,      read_it, compute,
                                                      print, gradient, assign};
    enum { CALLS = sizeof calls / sizeof calls[0] };
    int i = (int)(next(w) >> 16) % PLACES;
    uint32_t what = (next(w) >> 16) % (CALLS + 3);
    lz_tensor *t = atomic_load(&place[i]);
    if (what < CALLS)
        calls[what](i, t);
    else
        replace(w, i);
    if ((next(w) >> 16) % 32 == 0) {
        lz_status s = lz_mark_step();
        RIGHT(s == LZ_OK || s == LZ_ESHAPE || ended(s), "a step gives %s", lz_status_name(s));
    }
    if (w->alone) /* nobody ends it meanwhile */
        keep(i, atomic_load(&place[i]));
}

static void *work(void *arg)
{
    worker *w = arg;
    for (int r = 0; end ? time(NULL) < end : r < most_rounds; r++)
        round_of(w);
    return NULL;
}

static void run(int threads, const char *device)
{
    worker w[THREADS];
    rt_use(device);
    setenv("LAZULI_LOG", "error", 1);
    bool whole = getenv("LZ_TEST_WHOLE") != NULL;
    end = whole && threads > 1 ? time(NULL) + 60 : 0;
    most_rounds = lz_test_small() ? ROUNDS / 5 : ROUNDS;
    for (int i = 0; i < PLACES; i++)
        place[i] = make(i, (uint32_t)i);
    for (int k = 0; k < threads; k++) {
        w[k] = (worker){.seed = lz_test_seed() * 977u + (uint32_t)k * 7919u + 1};
        ck_assert_int_eq(pthread_create(&w[k].id, NULL, work, &w[k]), 0);
    }
    for (int k = 0; k < threads; k++)
        pthread_join(w[k].id, NULL);
    ck_assert_int_eq(bad, 0);
    for (int i = 0; i < PLACES; i++)
        (void)lz_release(place[i]);
}

START_TEST(handles_end_meanwhile)
{
    run(THREADS, rt_devices[_i]);
}
END_TEST

/* Nothing but questions about error tensors, which are freed under the questions. */
static _Atomic int stop;
static void *ask_errors(void *arg)
{
    (void)arg;
    while (!stop)
        for (int i = 0; i < ERRORS; i++) {
            lz_tensor *t = place[i];
            lz_status s = lz_status_of(t);
            RIGHT(allowed(i, s), "an error tensor gives %s", lz_status_name(s));
            lz_scope_begin();
            s = lz_status_of(lz_neg(t));
            RIGHT(allowed(i, s), "an operation of an error tensor gives %s", lz_status_name(s));
            s = lz_assign(t, t);
            RIGHT(allowed(i, s), "assigning to an error tensor gives %s", lz_status_name(s));
            lz_scope_end();
        }
    return NULL;
}

START_TEST(errors_end_meanwhile)
{
    pthread_t t[3];
    worker w = {.seed = lz_test_seed() + 1};
    rt_use("REF");
    for (int i = 0; i < PLACES; i++)
        place[i] = make(i, 0);
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(pthread_create(&t[k], NULL, ask_errors, NULL), 0);
    for (int r = 0; r < (lz_test_small() ? 3000 : 30000); r++)
        replace(&w, (int)(next(&w) >> 16) % ERRORS);
    stop = 1;
    for (int k = 0; k < 3; k++)
        pthread_join(t[k], NULL);
    ck_assert_int_eq(bad, 0);
}
END_TEST

START_TEST(alone)
{
    worker w = {.seed = lz_test_seed() + 1, .alone = true};
    may_end = false;
    rt_use(rt_devices[_i]);
    for (int i = 0; i < PLACES; i++)
        place[i] = make(i, (uint32_t)i);
    for (int r = 0; r < 300; r++)
        round_of(&w);
    ck_assert_int_eq(bad, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("handles in threads");
    TCase *t = tcase_create("threads");
    tcase_add_loop_test(t, handles_end_meanwhile, 0, 2);
    tcase_add_test(t, errors_end_meanwhile);
    tcase_add_loop_test(t, alone, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
