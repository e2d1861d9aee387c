/* t_invariant_cache.c - the constant cache: when results of invariant launches are cached, that
 * results equal those of full runs, and when the cache is freed. The program is y = x w / sums(w),
 * where the sums are a launch that depends on w alone, and wsum' = w * 2 + 1, which takes over w's
 * memory where w is donated. */
#include "backends/cpu/invariant_cache.h"
#include "backends/cpu/cpu_mem.h"
#include "base/config.h"
#include "base/thread.h"
#include "suite.h"
#include "unit/lower/graphs.h"

#define OK(expr) ck_assert_msg((expr) == LZ_OK, "%s: %s", #expr, lz_error_get()->message)

enum { M = 4, K = 256, N = 256, X = M * K, W = K * N, Y = M * N };

static const lz_backend *cpu(void)
{
    const lz_backend *b = lz_backend_get("cpu");
    OK(b->init());
    return b;
}

static lz_func *program(bool updates)
{
    lz_func *f = lz_func_new("scaled");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(M, K)), w = g_param(f, LZ_F32, LZ_SHAPE(K, N));
    lz_val sums = g_reduce(f, LZ_OP_ADD, w, 0), d = g_dot(f, x, w, 1, 0), out[2];
    out[0] = g_div(f, d, g_cols(f, sums, d));
    out[1] = g_add(f, g_mul(f, w, g_like(f, w, 2)), g_like(f, w, 1));
    lz_func_set_results(f, out, updates ? 2 : 1);
    return f;
}

static lz_exec *compile(int device, bool updates)
{
    lz_func *f = program(updates);
    lz_exec *x;
    OK(cpu()->compile(device, f,
                      &(lz_compile_options){.donate = updates ? (bool[]){false, true} : NULL}, &x));
    lz_func_free(f);
    return x;
}

static void fill(float *p, int n, int seed)
{
    for (int i = 0; i < n; i++)
        p[i] = (float)((i * 7919 + seed * 104729) % 1009) / 1009 + 0.5f;
}

static lz_device_buffer *upload(int device, int n, int seed)
{
    float *p = malloc((size_t)n * sizeof *p);
    lz_device_buffer *b;
    fill(p, n, seed);
    OK(cpu()->alloc(device, (size_t)n * sizeof *p, &b));
    OK(cpu()->copy_in(b, p, (size_t)n * sizeof *p));
    free(p);
    return b;
}

static lz_device_buffer *run(lz_exec *e, int device, lz_device_buffer *x, lz_device_buffer *w)
{
    lz_device_buffer *y;
    lz_event *done;
    OK(cpu()->execute(e, device, (lz_device_buffer *[]){x, w}, NULL, false, &y, &done));
    OK(lz_event_wait(done));
    lz_event_release(done);
    return y;
}

/* What a program that keeps nothing makes of the same. */
static lz_exec *whole;

static void check(lz_exec *e, int device, lz_device_buffer *x, lz_device_buffer *w)
{
    static float got[Y], want[Y];
    lz_device_buffer *a = run(e, device, x, w), *b = run(whole, device, x, w);
    OK(cpu()->copy_out(a, got, sizeof got));
    OK(cpu()->copy_out(b, want, sizeof want));
    ck_assert(memcmp(got, want, sizeof got) == 0);
    lz_device_buffer_release(a);
    lz_device_buffer_release(b);
}

/* With examples of their own. */
static void use_once(lz_exec *e, int i, lz_device_buffer *w)
{
    lz_device_buffer *x = upload(0, X, i + 1);
    check(e, 0, x, w);
    lz_device_buffer_release(x);
}

static uint64_t skipped(void)
{
    lz_invariant_cache_stats s;
    lz_invariant_cache_get_stats(&s);
    return s.skipped;
}

static uint64_t cached_bytes(void)
{
    lz_invariant_cache_stats s;
    lz_invariant_cache_get_stats(&s);
    return s.nbytes;
}

static lz_exec *start(const char *how)
{
    OK(lz_config_set("LAZULI_CONSTANT_CACHE", "0"));
    whole = compile(0, false);
    OK(lz_config_set("LAZULI_CONSTANT_CACHE", how));
    return compile(0, false);
}

static void end(lz_exec *e)
{
    cpu()->exec_free(e);
    cpu()->exec_free(whole);
    OK(cpu()->wait_all(0));
    ck_assert_uint_eq(cached_bytes(), 0);
}

START_TEST(weights_stay)
{
    OK(lz_config_set("LAZULI_EXEC", _i ? "loop" : NULL));
    lz_exec *e = start("1");
    lz_device_buffer *w = upload(0, W, 0);
    for (int i = 0; i < 8; i++) {
        uint64_t before = skipped();
        use_once(e, i, w);
        ck_assert_uint_eq(skipped() - before, i < 3 ? 0 : 1); /* two to see it, one to fill */
        ck_assert((cached_bytes() > 0) == (i >= 2));
    }
    lz_device_buffer_release(w);
    end(e);
}
END_TEST

START_TEST(never)
{
    lz_exec *e = start("0");
    lz_device_buffer *w = upload(0, W, 0);
    for (int i = 0; i < 5; i++)
        use_once(e, i, w);
    ck_assert_uint_eq(skipped() + cached_bytes(), 0);
    lz_device_buffer_release(w);
    end(e);
}
END_TEST

/* The same over and over is no reason, but when it is asked for. */
START_TEST(nothing_changes)
{
    lz_exec *e = start(_i ? "2" : "1");
    lz_device_buffer *w = upload(0, W, 0), *x = upload(0, X, 1);
    for (int i = 0; i < 6; i++)
        check(e, 0, x, w);
    ck_assert((skipped() > 0) == _i);
    lz_device_buffer_release(w);
    lz_device_buffer_release(x);
    end(e);
}
END_TEST

/* Other weights, in another buffer or in the same one, are seen at once. */
START_TEST(weights_change)
{
    lz_exec *e = start("1");
    lz_device_buffer *w = upload(0, W, 0), *v = upload(0, W, 9);
    static float other[W];
    fill(other, W, 3);
    for (int i = 0; i < 40; i++) {
        use_once(e, i, i == 10 || i == 30 ? v : w);
        if (i == 20)
            OK(cpu()->copy_in(w, other, sizeof other));
    }
    ck_assert_uint_ge(skipped(), 20);
    lz_device_buffer_release(w);
    lz_device_buffer_release(v);
    end(e);
}
END_TEST

/* Two calls with the one, two with the other: not worth it, and found out. */
START_TEST(weights_in_turn)
{
    lz_exec *e = start("1");
    lz_device_buffer *w[2] = {upload(0, W, 0), upload(0, W, 9)};
    for (int i = 0; i < 60; i++)
        use_once(e, i, w[i / 4 % 2]);
    ck_assert_uint_eq(cached_bytes(), 0);
    lz_device_buffer_release(w[0]);
    lz_device_buffer_release(w[1]);
    end(e);
}
END_TEST

/* Memory that others may write to is never relied on. */
START_TEST(memory_of_others)
{
    static float host[W] __attribute__((aligned(64)));
    lz_exec *e = start("2");
    lz_device_buffer *w;
    fill(host, W, 0);
    if (_i == 0) {
        OK(cpu()->wrap(0, host, sizeof host, NULL, NULL, &w));
    } else {
        w = upload(0, W, 0);
        lz_device_buffer_lent(w);
    }
    for (int i = 0; i < 8; i++) {
        use_once(e, i, w);
        ((float *)w->data)[i] += 100;
    }
    ck_assert_uint_eq(skipped(), 0);
    lz_device_buffer_release(w);
    end(e);
}
END_TEST

/* Lent after it was relied on. */
START_TEST(lent_later)
{
    lz_exec *e = start("1");
    lz_device_buffer *w = upload(0, W, 0);
    for (int i = 0; i < 12; i++) {
        if (i == 6)
            lz_device_buffer_lent(w);
        if (i >= 6)
            ((float *)w->data)[i] += 100;
        use_once(e, i, w);
    }
    ck_assert_uint_eq(skipped(), 3);
    lz_device_buffer_release(w);
    end(e);
}
END_TEST

/* Weights that the program itself writes over, many executions ahead of the device. */
START_TEST(weights_are_given_away)
{
    enum { STEPS = 12 };
    OK(lz_config_set("LAZULI_CONSTANT_CACHE", "2"));
    lz_exec *e = compile(0, true);
    OK(lz_config_set("LAZULI_CONSTANT_CACHE", "0"));
    lz_exec *plain = compile(0, true);
    lz_device_buffer *x = upload(0, X, 1), *w[2] = {upload(0, W, 0), upload(0, W, 0)};
    lz_device_buffer *y[STEPS][2];
    lz_event *done;
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 2; k++) {
            lz_device_buffer *out[2];
            OK(cpu()->execute(k ? plain : e, 0, (lz_device_buffer *[]){x, w[k]},
                              (bool[]){false, true}, false, out, &done));
            lz_event_release(done);
            lz_device_buffer_release(w[k]);
            y[i][k] = out[0];
            w[k] = out[1];
        }
    for (int i = 0; i < STEPS; i++) {
        static float got[2][Y];
        for (int k = 0; k < 2; k++) {
            OK(cpu()->copy_out(y[i][k], got[k], sizeof got[k]));
            lz_device_buffer_release(y[i][k]);
        }
        ck_assert_msg(memcmp(got[0], got[1], sizeof got[0]) == 0, "step %d", i);
    }
    lz_device_buffer_release(x);
    lz_device_buffer_release(w[0]);
    lz_device_buffer_release(w[1]);
    cpu()->exec_free(e);
    cpu()->exec_free(plain);
}
END_TEST

/* What is kept is given up for what cannot be had otherwise, and the program goes on. */
START_TEST(short_of_memory)
{
    lz_exec *e = start("1");
    lz_device_buffer *w = upload(0, W, 0), *hog[8192];
    int n = 0;
    for (int i = 0; i < 5; i++)
        use_once(e, i, w);
    ck_assert_uint_gt(cached_bytes(), 0);
    OK(lz_config_set("LAZULI_DEVICE_MEMORY_MB", "8"));
    while (n < 8192 && cached_bytes() > 0)
        OK(cpu()->alloc(0, N * 4, &hog[n++]));
    ck_assert_uint_eq(cached_bytes(), 0);
    while (n)
        lz_device_buffer_release(hog[--n]);
    for (int i = 0; i < 5; i++)
        use_once(e, i, w);
    lz_device_buffer_release(w);
    end(e);
}
END_TEST

/* Without memory to keep or to search, programs run as they are. */
START_TEST(allocations_fail)
{
    for (int n = 1; n < 24; n++) {
        lz_exec *e = start("1");
        lz_device_buffer *w = upload(0, W, 0);
        for (int i = 0; i < 6; i++) {
            lz_device_buffer *x = upload(0, X, i + 1), *y = NULL;
            lz_event *done = NULL;
            if (i == 2)
                lz_alloc_fail_at(n, true);
            lz_status s =
                cpu()->execute(e, 0, (lz_device_buffer *[]){x, w}, NULL, false, &y, &done);
            if (s == LZ_OK)
                OK(lz_event_wait(done));
            lz_alloc_fail_at(0, false);
            ck_assert(s == LZ_OK || s == LZ_EMEM || s == LZ_EDEVMEM);
            lz_event_release(done);
            lz_device_buffer_release(y);
            check(e, 0, x, w);
            lz_device_buffer_release(x);
        }
        lz_device_buffer_release(w);
        end(e);
    }
}
END_TEST

/* One program on two devices at once: one of them keeps. */
typedef struct user {
    lz_exec *e;
    int device;
} user;

static void *use(void *arg)
{
    const user *u = arg;
    lz_device_buffer *w = upload(u->device, W, 0);
    for (int i = 0; i < 20; i++) {
        lz_device_buffer *x = upload(u->device, X, i + 1), *y = run(u->e, u->device, x, w);
        float got[Y], all = 0;
        OK(cpu()->copy_out(y, got, sizeof got));
        for (int k = 0; k < Y; k++)
            all += got[k];
        ck_assert(all > 0.5f * Y && all < 2.f * Y); /* weighted means of what is around 1 */
        lz_device_buffer_release(x);
        lz_device_buffer_release(y);
    }
    lz_device_buffer_release(w);
    return NULL;
}

START_TEST(two_devices)
{
    OK(lz_config_set("CPU_NUM_DEVICES", "2"));
    lz_exec *e = start("1");
    pthread_t t[2];
    user u[2] = {{e, 0}, {e, 1}};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, use, &u[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    lz_device_buffer *x = upload(1, X, 1), *w = upload(1, W, 0);
    for (int i = 0; i < 4; i++)
        check(e, 1, x, w);
    lz_device_buffer_release(x);
    lz_device_buffer_release(w);
    end(e);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kept");
    TCase *t = tcase_create("kept");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, weights_stay, 0, 2);
    tcase_add_test(t, never);
    tcase_add_loop_test(t, nothing_changes, 0, 2);
    tcase_add_test(t, weights_change);
    tcase_add_test(t, weights_in_turn);
    tcase_add_loop_test(t, memory_of_others, 0, 2);
    tcase_add_test(t, lent_later);
    tcase_add_test(t, weights_are_given_away);
    tcase_add_test(t, short_of_memory);
    tcase_add_test(t, allocations_fail);
    tcase_add_test(t, two_devices);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
