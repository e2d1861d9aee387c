/* overhead.c - the overhead of tracing and stepping when the work itself is tiny: trace_op,
 * cached_graph_50, cached_graph_500, function_1, function_50, function_500. */
#include "bench.h"
#include <math.h>
#include <stdio.h>

enum { WIDTH = 8 };
static lz_tensor *state, *other;

/* n ops, additions and multiplications of b in turn. b is between 0.4 and 0.5, so y -> (y + b) * b
 * stays bounded. */
static lz_tensor *chain(lz_tensor *y, int n)
{
    for (int i = 0; i < n; i++)
        y = i & 1 ? lz_mul(y, other) : lz_add(y, other);
    return y;
}

static void trace_only(void *arg)
{
    int n = *(int *)arg;
    lz_scope_begin();
    chain(state, n);
    lz_scope_end();
}

static void trace_and_step(void *arg)
{
    int n = *(int *)arg;
    lz_scope_begin();
    lz_assign(state, chain(state, n));
    lz_mark_step(.wait = true);
    lz_scope_end();
}

static void set_up(void)
{
    float a[WIDTH], b[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        a[i] = 0.25f * (float)(i + 1);
        b[i] = 0.5f - 0.01f * (float)i;
    }
    lz_release(state);
    lz_release(other);
    lz_scope_begin();
    state = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(WIDTH), a));
    other = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(WIDTH), b));
    lz_scope_end();
    bench_check(lz_status_of(state), "make");
}

/* The expected result of the chain, in plain C. */
static void chain_in_c(float *y, int n)
{
    for (int i = 0; i < WIDTH; i++) {
        float b = 0.5f - 0.01f * (float)i;
        y[i] = 0.25f * (float)(i + 1);
        for (int k = 0; k < n; k++)
            y[i] = k & 1 ? y[i] * b : y[i] + b;
    }
}

static void same(const float *got, const float *expect)
{
    struct difference d = {0};
    for (int i = 0; i < WIDTH; i++)
        bench_compare(&d, (double)got[i], (double)expect[i], 1e-5 * fabs((double)expect[i]));
    bench_verdict(&d);
}

static void verify(int n)
{
    float y[WIDTH], out[WIDTH];
    set_up();
    chain_in_c(y, n);
    trace_and_step(&n);
    bench_check(lz_to_host(state, out, sizeof out), "read");
    same(out, y);
}

/* ---- the same operations recorded once as a function of the state: calls without recording
 * ---- */

static void recorded(lz_tensor *const *in, lz_tensor **out, void *user)
{
    *out = chain(in[0], *(int *)user);
}

struct replay {
    lz_function *f;
    lz_tensor *y;
};

static void call_and_wait(void *arg)
{
    struct replay *r = arg;
    lz_scope_begin();
    bench_check(lz_function_call(r->f, &state, 1, &r->y, 1), "call");
    bench_check(lz_sync(&r->y, 1, true), "wait");
    lz_scope_end();
}

static void functions(const struct workload *w)
{
    static const int sizes[] = {1, 50, 500};
    for (int i = 0; i < 3; i++) {
        int n = sizes[i];
        char label[32];
        float expect[WIDTH], out[WIDTH];
        struct replay r = {0};
        set_up();
        bench_check(lz_function_trace(recorded, &n, &state, 1, 1, &r.f), "trace");
        int64_t before = lz_counter_value("UncachedCompile");
        struct sample s = bench_run(call_and_wait, &r);
        chain_in_c(expect, n);
        lz_scope_begin();
        bench_check(lz_function_call(r.f, &state, 1, &r.y, 1), "call");
        bench_check(lz_to_host(r.y, out, sizeof out), "read");
        lz_scope_end();
        same(out, expect);
        snprintf(label, sizeof label, "function_%d", n);
        bench_emit(w, label, s, ",\"compiles\":%lld",
                   (long long)(lz_counter_value("UncachedCompile") - before));
        lz_function_free(r.f);
    }
}

static void overhead(const struct workload *w)
{
    int many = 1000;
    set_up();
    struct sample s = bench_run(trace_only, &many);
    s.median /= many;
    s.min /= many;
    bench_emit(w, "trace_op", s, " ");
    static const int sizes[] = {50, 500};
    for (int i = 0; i < 2; i++) {
        int n = sizes[i];
        char label[32];
        verify(n);
        int64_t before = lz_counter_value("UncachedCompile");
        s = bench_run(trace_and_step, &n);
        snprintf(label, sizeof label, "cached_graph_%d", n);
        bench_emit(w, label, s, ",\"compiles\":%lld",
                   (long long)(lz_counter_value("UncachedCompile") - before));
    }
    functions(w);
    lz_release(state);
    lz_release(other);
    state = other = NULL;
}

const struct workload workloads_overhead[] = {
    {.name = "overhead",
     .run = overhead,
     .doc =
         "tracing an operation; steps of 50 and 500 tiny operations; functions of 1, 50 and 500"},
    {0}};
