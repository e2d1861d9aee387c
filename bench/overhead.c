/* overhead.c - what tracing and stepping cost when the work itself is tiny: trace_op, cached_graph_50, cached_graph_500. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 8 };
static lz_tensor *state, *other;

/* n ops, additions and multiplications of b in turn. b is between 0.4 and 0.5, so y -> (y + b) * b stays bounded. */
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

/* One step from the known start must give what plain C gives. */
static void verify(int n)
{
    float y[WIDTH], out[WIDTH];
    set_up();
    for (int i = 0; i < WIDTH; i++) {
        float b = 0.5f - 0.01f * (float)i;
        y[i] = 0.25f * (float)(i + 1);
        for (int k = 0; k < n; k++)
            y[i] = k & 1 ? y[i] * b : y[i] + b;
    }
    trace_and_step(&n);
    bench_check(lz_to_host(state, out, sizeof out), "read");
    for (int i = 0; i < WIDTH; i++)
        if (fabsf(out[i] - y[i]) > 1e-5f * fabsf(y[i])) {
            fprintf(stderr, "lz-bench: overhead: element %d is %g, not %g\n", i, out[i], y[i]);
            exit(1);
        }
}

static void overhead(const char *name)
{
    (void)name;
    int many = 1000;
    set_up();
    struct sample s = bench_run(trace_only, &many);
    s.median /= many;
    s.min /= many;
    bench_emit("trace_op", s, "");
    static const int sizes[] = {50, 500};
    for (int i = 0; i < 2; i++) {
        int n = sizes[i];
        char label[32], extra[96];
        verify(n);
        int64_t before = lz_counter_value("UncachedCompile");
        s = bench_run(trace_and_step, &n);
        snprintf(label, sizeof label, "cached_graph_%d", n);
        snprintf(extra, sizeof extra, ",\"compiles\":%lld",
                 (long long)(lz_counter_value("UncachedCompile") - before));
        bench_emit(label, s, extra);
    }
    lz_release(state);
    lz_release(other);
    state = other = NULL;
}

const struct workload workloads_overhead[] = {
    {"overhead", overhead, "tracing an operation; steps of 50 and 500 tiny operations"}, {0}};
