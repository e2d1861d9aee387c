/* t_random_calls.c - random sequences of calls on shared handles, by one, two or four threads, with
 * allocations that fail, and with functions that call back: a log callback, release functions,
 * custom calls. Nothing is checked but that every call returns, with a status that there is.
 * LZ_TEST_SEED: the first seed; LZ_TEST_WHOLE: 2,000 sequences. */
#include "../unit/runtime/rt.h"
#include <lazuli/dlpack.h>
#include <lazuli/ffi.h>
#include <lazuli/jit.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PLACES = 12, CALLS = 40, MOST_THREADS = 4, SEQUENCES = 200, WHOLE = 2000, AT_ONCE = 20 };

static _Atomic(lz_tensor *) place[PLACES];
static _Atomic uint32_t back_seed;

typedef struct state {
    uint32_t seed;
    int depth; /* in a function that the library called */
} state;

static uint32_t pick(state *s, uint32_t n)
{
    s->seed = s->seed * 1664525u + 1013904223u;
    return (s->seed >> 12) % n;
}

static lz_tensor *any(state *s)
{
    return place[pick(s, PLACES)];
}

static void put(state *s, lz_tensor *t)
{
    lz_release(atomic_exchange(&place[pick(s, PLACES)], lz_retain(t)));
}

static void random_call(state *s);

/* A function that the library calls makes a call or two. */
static _Thread_local int calling;
static void call_back(void)
{
    if (calling)
        return;
    calling = 1;
    state s = {.seed = atomic_fetch_add(&back_seed, 7919), .depth = 1};
    lz_scope_begin();
    for (uint32_t n = 1 + pick(&s, 2); n > 0; n--)
        random_call(&s);
    lz_scope_end();
    calling = 0;
}

static void log_line(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
    if (atomic_fetch_add(&back_seed, 1) % 8 == 0)
        call_back();
}

static void release(void *user)
{
    (void)user;
    call_back();
}

static lz_status custom(const lz_ffi_call *c, void *user)
{
    (void)user;
    memcpy(c->rets[0].data, c->args[0].data, c->rets[0].nbytes);
    call_back();
    return LZ_OK;
}

/* ---- calls ---- */

static void make_data(state *s)
{
    put(s, lz_from_host(LZ_F32, LZ_SHAPE(4), (float[]){1, 2, 3, (float)pick(s, 9)}));
}
static void make_borrowed(state *s)
{
    static _Alignas(64) float memory[4] = {1, 2, 3, 4};
    put(s, lz_from_borrowed(LZ_F32, LZ_SHAPE(4), memory, release, NULL));
}
static void make_error(state *s)
{
    put(s, lz_matmul(lz_ones(LZ_F32, LZ_SHAPE(4, 2)), lz_ones(LZ_F32, LZ_SHAPE(3, 2))));
}
static void unary(state *s)
{
    put(s, pick(s, 2) ? lz_tanh(any(s)) : lz_mul_scalar(any(s), pick(s, 5)));
}
static void binary(state *s)
{
    lz_tensor *a = any(s), *b = any(s);
    put(s, pick(s, 2) ? lz_add(a, b) : lz_mul(a, b));
}
static void call_out(state *s)
{
    static const lz_ffi_type four = {LZ_F32, {1, {4}}};
    lz_tensor *in[1] = {any(s)};
    put(s, lz_custom_call("call_back", NULL, in, 1, &four, 1, NULL));
}
static void step(state *s)
{
    if (pick(s, 4))
        (void)lz_mark_step();
    else
        (void)lz_mark_step(.wait = true);
}
static void read_it(state *s)
{
    float v[4];
    if (lz_to_host(any(s), v, sizeof v) != LZ_OK)
        (void)lz_last_error(NULL);
}
static void item(state *s)
{
    (void)lz_item(lz_sum(any(s)));
}
static void assign(state *s)
{
    lz_tensor *a = any(s);
    (void)lz_assign(a, any(s));
}
static void ask(state *s)
{
    char text[256];
    lz_tensor *t = any(s);
    (void)lz_status_of(t);
    (void)lz_shape_of(t);
    (void)lz_numel(t);
    (void)lz_device_of(t, text, sizeof text);
    (void)lz_dump_graph(&t, 1, "text", text, sizeof text);
}
static void gradient(state *s)
{
    lz_tensor *x = any(s), *g = NULL;
    if (lz_grad(lz_sum(lz_mul(x, any(s))), &x, 1, &g) == LZ_OK)
        put(s, g);
}
static void backward(state *s)
{
    lz_tensor *x = any(s);
    (void)lz_requires_grad(x, true);
    (void)lz_backward(lz_sum(lz_mul(x, x)));
    (void)lz_zero_grad(&x, 1);
    (void)lz_requires_grad(x, false);
}
static void lend(state *s)
{
    struct DLManagedTensorVersioned *m = NULL;
    if (lz_to_dlpack(any(s), pick(s, 2), &m) == LZ_OK)
        put(s, lz_from_dlpack(m, true));
}
static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], in[0]);
}
static void function(state *s)
{
    lz_tensor *x = any(s), *out[1];
    lz_function *f = NULL;
    if (lz_function_trace(twice, NULL, &x, 1, 1, &f) == LZ_OK &&
        lz_function_call(f, &x, 1, out, 1) == LZ_OK)
        put(s, out[0]);
    lz_function_free(f);
}
static void scopes(state *s)
{
    (void)lz_scope_begin();
    lz_tensor *t = lz_neg(any(s));
    if (pick(s, 2))
        (void)lz_scope_end_keep(t);
    else
        (void)lz_scope_end();
}
static void wait_all(state *s)
{
    (void)s;
    (void)lz_wait_device_ops();
}
static void fail_soon(state *s)
{
    lz_alloc_fail_at(1 + pick(s, 200), false);
}
static void drop(state *s)
{
    lz_release(atomic_exchange(&place[pick(s, PLACES)], NULL));
}
static void mistakes(state *s)
{
    (void)lz_initialize_cache("", false);
    (void)lz_release((lz_tensor *)(uintptr_t)((uint64_t)pick(s, 1000) << 32 | pick(s, 64)));
    (void)lz_last_error_text();
}

static void (*const calls[])(state *) = {
    make_data, make_data, make_borrowed, make_error, unary,     unary, binary,   binary,
    call_out,  step,      read_it,       item,       assign,    ask,   gradient, backward,
    lend,      function,  scopes,        wait_all,   fail_soon, drop,  mistakes, step};
enum { KINDS = sizeof calls / sizeof calls[0] };

static void random_call(state *s)
{
    calls[pick(s, KINDS)](s);
    lz_status e = lz_last_error(NULL);
    ck_assert_str_ne(lz_status_name(e), "LZ_?");
}

/* ---- sequences ---- */

static void *sequence(void *arg)
{
    state *s = arg;
    lz_scope_begin();
    for (int i = 0; i < CALLS; i++)
        random_call(s);
    lz_scope_end();
    return NULL;
}

static void run(uint32_t seed)
{
    state s[MOST_THREADS], first = {.seed = seed};
    pthread_t id[MOST_THREADS];
    int threads = 1 << pick(&first, 3);
    back_seed = seed * 31u;
    for (int i = 0; i < threads; i++)
        s[i] = (state){.seed = seed * 977u + (uint32_t)i * 7919u};
    for (int i = 1; i < threads; i++)
        ck_assert_int_eq(pthread_create(&id[i], NULL, sequence, &s[i]), 0);
    (void)sequence(&s[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(id[i], NULL);
    lz_alloc_fail_at(0, false);
    for (int i = 0; i < PLACES; i++)
        lz_release(atomic_exchange(&place[i], NULL));
    (void)lz_mark_step(.wait = true);
    lz_clear_error();
}

START_TEST(calls_return)
{
    rt_use(rt_devices[_i & 1]);
    setenv("LAZULI_LOG", "debug", 1);
    lz_set_log_callback(log_line, NULL);
    if (!freopen("/dev/null", "w", stderr)) /* what the callback's own messages say */
        ck_abort_msg("no /dev/null");
    OK(lz_ffi_register("call_back", custom, NULL));
    for (int k = 0; k < AT_ONCE; k++)
        run(lz_test_seed() * 100003u + (uint32_t)(_i * AT_ONCE + k));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("random calls");
    TCase *t = tcase_create("sequences");
    int n = getenv("LZ_TEST_WHOLE") ? WHOLE : SEQUENCES;
    tcase_add_loop_test(t, calls_return, 0, n / AT_ONCE);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
