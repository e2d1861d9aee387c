/* cpu_limits.c - see cpu_limits.h. Independent sums hide the latency of multiply-adds; a copy of
 * arrays that are larger than the caches has the bandwidth of memory. The best of a few rounds
 * counts, since others use the machine, too. */
#include "backends/cpu/cpu_limits.h"
#include "backends/cpu/workers.h"
#include "base/alloc.h"
#include "base/thread.h"
#include <string.h>

enum {
    ROUNDS = 100000,
    SUMS = 12,
    MOST_TIMES = 40,
    MOST_NS = 700000000,
    COPY = 48 << 20,
    PIECE = 1 << 20
};

#if defined(__aarch64__)
#define IN_REGISTER "w"
#else
#define IN_REGISTER "v"
#endif

/* The compiler must not know the factors, or it would multiply once, nor the sums, or it would
 * merge them. */
#define MULTIPLY_ADDS(NAME, TARGET, BYTES)                                                         \
    typedef float NAME##_v __attribute__((vector_size(BYTES)));                                    \
    TARGET static double NAME(void)                                                                \
    {                                                                                              \
        NAME##_v zero = {0}, x = zero + 0.5f, y = zero + 0.25f, s[SUMS];                           \
        __asm__ volatile("" : "+" IN_REGISTER(x), "+" IN_REGISTER(y));                             \
        _Pragma("GCC unroll 12") for (int i = 0; i < SUMS; i++)                                    \
        {                                                                                          \
            s[i] = zero;                                                                           \
            __asm__ volatile("" : "+" IN_REGISTER(s[i]));                                          \
        }                                                                                          \
        for (int r = 0; r < ROUNDS; r++) {                                                         \
            _Pragma("GCC unroll 12") for (int i = 0; i < SUMS; i++) s[i] += x * y;                 \
        }                                                                                          \
        _Pragma("GCC unroll 12") for (int i = 0; i < SUMS;                                         \
                                      i++) __asm__ volatile("" : "+" IN_REGISTER(s[i]));           \
        return (double)ROUNDS * SUMS * (BYTES / 2);                                                \
    }

MULTIPLY_ADDS(adds_base, , 16)
#if defined(__x86_64__)
MULTIPLY_ADDS(adds_avx2, __attribute__((target("avx2,fma"))), 32)
MULTIPLY_ADDS(adds_avx512, __attribute__((target("avx512f"))), 64)
#endif

static double (*adds_of_this_processor(void))(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return adds_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return adds_avx2;
#endif
    return adds_base;
}

typedef struct work {
    double (*adds)(void);
    char *from, *to;
    double done[LZ_WORKERS_MAX];
} work;

static void add_units(void *ctx, int64_t begin, int64_t end, int worker)
{
    work *w = ctx;
    for (int64_t i = begin; i < end; i++)
        w->done[worker] += w->adds();
}

static void copy_units(void *ctx, int64_t begin, int64_t end, int worker)
{
    work *w = ctx;
    for (int64_t i = begin; i < end; i++)
        memcpy(w->to + i * PIECE, w->from + i * PIECE, PIECE);
    w->done[worker] += 2.0 * PIECE * (double)(end - begin);
}

/* The most of what fn does in a second. */
static double best(work *w, int64_t units, lz_workers_fn fn)
{
    double most = 0;
    int64_t until = lz_now_ns() + MOST_NS;
    for (int t = 0; t < MOST_TIMES && (t < 3 || lz_now_ns() < until); t++) {
        double all = 0;
        memset(w->done, 0, sizeof w->done);
        int64_t t0 = lz_now_ns();
        lz_workers_run(units, 0, fn, w);
        int64_t ns = lz_now_ns() - t0;
        for (int i = 0; i < LZ_WORKERS_MAX; i++)
            all += w->done[i];
        double rate = ns > 0 ? all * 1e9 / (double)ns : 0;
        most = rate > most ? rate : most;
    }
    return most;
}

lz_status lz_cpu_measure_limits(lz_cpu_limits *out)
{
    work *w = lz_calloc(1, sizeof *w);
    char *memory = lz_calloc(2, COPY);
    *out = (lz_cpu_limits){0};
    if (!w || !memory) {
        lz_free(w);
        lz_free(memory);
        return LZ_FAIL(LZ_EMEM, "no memory to measure the processor");
    }
    w->adds = adds_of_this_processor();
    w->from = memory;
    w->to = memory + COPY;
    memset(memory, 1, 2 * (size_t)COPY);
    out->flop_s = best(w, 4 * (int64_t)lz_workers_count(), add_units);
    out->byte_s = best(w, COPY / PIECE, copy_units);
    lz_free(memory);
    lz_free(w);
    return LZ_OK;
}
