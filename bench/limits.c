/* limits.c - what this machine can do at this moment, as a baseline for the workloads: FMA
 * throughput, memory bandwidth of all threads at once (read, and STREAM triad), page faults of
 * fresh memory, cache-line latency between processors. With the widest vectors of the processor,
 * and non-temporal stores where they exist. */
#include "bench.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The work of one thread; gives the operations or bytes done. */
typedef double work_fn(int thread);

/* ---- multiply-adds: 16 independent sums hide the latency of every processor up to now; where
 * there are 16 registers, 12, since the factors take two, and those have no more than 10 in flight.
 * Bursts of half a millisecond, so that some are undisturbed ---- */

enum { ROUNDS = 100000 };
/* clang-format off */
#define EACH_OF_12(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#define EACH_OF_16(F) EACH_OF_12(F) F(12) F(13) F(14) F(15)
/* clang-format on */
#if defined(__aarch64__)
#define IN_REGISTER "w"
#else
#define IN_REGISTER "v"
#endif
#define START(i) v##i = zero,
#define NEEDED(i) __asm__ volatile("" : "+" IN_REGISTER(v##i));
/* STEP(i) adds to accumulator i. The compiler must not know x and y, or it would multiply them
 * once, nor the accumulators, or it would merge them. */
#define ADDS(NAME, TARGET, TYPE, SUMS, X, Y, STEP, OPS)                                            \
    TARGET static double NAME(int thread)                                                          \
    {                                                                                              \
        (void)thread;                                                                              \
        TYPE zero = {0}, x = X, y = Y;                                                             \
        __asm__ volatile("" : "+" IN_REGISTER(x), "+" IN_REGISTER(y));                             \
        TYPE EACH_OF_##SUMS(START) last = zero;                                                    \
        (void)last;                                                                                \
        EACH_OF_##SUMS(NEEDED);                                                                    \
        for (long r = 0; r < ROUNDS; r++) {                                                        \
            EACH_OF_##SUMS(STEP);                                                                  \
        }                                                                                          \
        EACH_OF_##SUMS(NEEDED);                                                                    \
        return (double)ROUNDS * SUMS * (OPS);                                                      \
    }
#define MULTIPLY_ADD(i) v##i += x * y;

/* ---- memory: each thread has its part of arrays that are far larger than the caches ---- */

static float *a, *b, *c;
static size_t part; /* floats of a thread */

/* V: vector of W floats. STORE(p, v). Several accumulators keep several loads in flight. */
#define MEMORY(ISA, TARGET, V, W)                                                                  \
    TARGET static double read_##ISA(int thread)                                                    \
    {                                                                                              \
        const V *x = (const V *)(a + (size_t)thread * part), zero = {0};                           \
        V v0 = zero, v1 = zero, v2 = zero, v3 = zero;                                              \
        for (size_t i = 0; i < part / W; i += 4)                                                   \
            v0 += x[i], v1 += x[i + 1], v2 += x[i + 2], v3 += x[i + 3];                            \
        NEEDED(0) NEEDED(1) NEEDED(2) NEEDED(3) return (double)part * 4;                           \
    }                                                                                              \
    WRITES(ISA, TARGET, V, W, plain, PLAIN_STORE) WRITES(ISA, TARGET, V, W, nt, NT_STORE_##ISA)
#define WRITES(ISA, TARGET, V, W, KIND, STORE)                                                     \
    TARGET static double copy_##KIND##_##ISA(int thread)                                           \
    {                                                                                              \
        const V *x = (const V *)(a + (size_t)thread * part);                                       \
        V *z = (V *)(c + (size_t)thread * part);                                                   \
        for (size_t i = 0; i < part / W; i++)                                                      \
            STORE(z + i, x[i]);                                                                    \
        FENCE();                                                                                   \
        return (double)part * 8;                                                                   \
    }                                                                                              \
    TARGET static double triad_##KIND##_##ISA(int thread)                                          \
    {                                                                                              \
        const V *x = (const V *)(a + (size_t)thread * part),                                       \
                *y = (const V *)(b + (size_t)thread * part);                                       \
        V *z = (V *)(c + (size_t)thread * part);                                                   \
        for (size_t i = 0; i < part / W; i++)                                                      \
            STORE(z + i, x[i] + 3 * y[i]);                                                         \
        FENCE();                                                                                   \
        return (double)part * 12;                                                                  \
    }
#define PLAIN_STORE(p, v) *(p) = (v)

/* ---- the instruction sets ---- */

struct isa {
    const char *name;
    work_fn *f32, *f64, *bf16, *int8, *read, *copy, *copy_nt, *triad, *triad_nt;
};
#define ISA_ROW(ISA, BF16, INT8)                                                                   \
    {                                                                                              \
#ISA, f32_##ISA, f64_##ISA, BF16, INT8, read_##ISA, copy_plain_##ISA, copy_nt_##ISA,       \
            triad_plain_##ISA, triad_nt_##ISA                                                      \
    }
#define VECTORS(ISA, TARGET, BYTES, SUMS)                                                          \
    typedef float f32_##ISA##_v __attribute__((vector_size(BYTES)));                               \
    typedef double f64_##ISA##_v __attribute__((vector_size(BYTES)));                              \
    ADDS(f32_##ISA, TARGET, f32_##ISA##_v, SUMS, zero + 0.5f, zero + 0.25f, MULTIPLY_ADD,          \
         BYTES / 2)                                                                                \
    ADDS(f64_##ISA, TARGET, f64_##ISA##_v, SUMS, zero + 0.5, zero + 0.25, MULTIPLY_ADD, BYTES / 4) \
    MEMORY(ISA, TARGET, f32_##ISA##_v, (BYTES / 4))

#if defined(__x86_64__)
#include <immintrin.h>
#define FENCE() _mm_sfence()
#define NT_STORE_avx512(p, v) _mm512_stream_ps((float *)(p), (__m512)(v))
#define NT_STORE_avx2(p, v) _mm256_stream_ps((float *)(p), (__m256)(v))
#define NT_STORE_base(p, v) _mm_stream_ps((float *)(p), (__m128)(v))
#define AVX512 __attribute__((target("avx512f,avx512bf16,avx512vnni")))
VECTORS(avx512, AVX512, 64, 16)
VECTORS(avx2, __attribute__((target("avx2,fma"))), 32, 12)
VECTORS(base, , 16, 12)
#define DOT_BF16(i) v##i = _mm512_dpbf16_ps(v##i, (__m512bh)x, (__m512bh)y);
#define DOT_INT8(i) v##i = _mm512_dpbusd_epi32(v##i, x, y);
ADDS(bf16_avx512, AVX512, __m512, 16, _mm512_set1_ps(1), _mm512_set1_ps(1), DOT_BF16, 64)
ADDS(int8_avx512, AVX512, __m512i, 16, _mm512_set1_epi8(1), _mm512_set1_epi8(2), DOT_INT8, 128)
static const struct isa isas[] = {ISA_ROW(avx512, bf16_avx512, int8_avx512),
                                  ISA_ROW(avx2, NULL, NULL), ISA_ROW(base, NULL, NULL)};
static struct isa widest(void)
{
    bool wide = __builtin_cpu_supports("avx512f");
    struct isa r = isas[wide                                                              ? 0
                        : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1
                                                                                          : 2];
    if (!wide || !__builtin_cpu_supports("avx512bf16"))
        r.bf16 = NULL;
    if (!wide || !__builtin_cpu_supports("avx512vnni"))
        r.int8 = NULL;
    return r;
}
#else
#define FENCE() (void)0
#define NT_STORE_base PLAIN_STORE
VECTORS(base, , 16, 16)
static struct isa widest(void)
{
    return (struct isa)ISA_ROW(base, NULL, NULL);
}
#endif

/* ---- fresh pages: one byte of each ---- */

enum { FRESH = 256 << 20, PAGE = 4096 };

static double touch(int advice)
{
    char *m = mmap(NULL, FRESH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED)
        bench_fail("no memory for fresh pages");
    (void)madvise(m, FRESH, advice);
    for (size_t i = 0; i < FRESH; i += PAGE)
        m[i] = 1;
    (void)munmap(m, FRESH);
    return FRESH;
}

static double touch_small(int thread)
{
    (void)thread;
    return touch(MADV_NOHUGEPAGE);
}
static double touch_huge(int thread)
{
    (void)thread;
    return touch(MADV_HUGEPAGE);
}

/* ---- a line that one processor writes and another one waits for. Threads of one job meet so;
 * where a host moves the processors of a virtual machine, it takes ten times as long in one second
 * as in the next ---- */

enum { PASSES = 500 };
static _Alignas(64) _Atomic unsigned turn; /* even: of thread 0 */

static double pass_line(int thread)
{
    for (int i = 0; i < PASSES && thread < 2; i++) {
        while ((atomic_load_explicit(&turn, memory_order_acquire) & 1) != (unsigned)thread)
            ;
        atomic_fetch_add_explicit(&turn, 1, memory_order_release);
    }
    return thread < 2 ? PASSES : 0;
}

/* ---- all threads at once, each on a processor of its own where there are enough ---- */

struct thread {
    pthread_t id;
    int index, cpu;
    work_fn *work;
    pthread_barrier_t *start;
    double done, begin, end;
};

static void *run_thread(void *arg)
{
    struct thread *t = arg;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(t->cpu, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    pthread_barrier_wait(t->start);
    t->begin = bench_now();
    t->done = t->work(t->index);
    t->end = bench_now();
    return NULL;
}

/* The n-th processor this process may use, modulo their number. */
static int processor(int n)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) == 0)
        return 0;
    n %= CPU_COUNT(&all);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && n-- == 0)
            return i;
    return 0;
}

/* per second, from the first thread's start to the last one's end */
static double rate(work_fn *work)
{
    enum { MOST = 1024 };
    static struct thread t[MOST];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, (unsigned)bench.threads);
    for (int i = 0; i < bench.threads; i++) {
        t[i] = (struct thread){.index = i, .cpu = processor(i), .work = work, .start = &start};
        if (pthread_create(&t[i].id, NULL, run_thread, &t[i]) != 0)
            bench_fail("no thread");
    }
    double begin = HUGE_VAL, end = 0, done = 0;
    for (int i = 0; i < bench.threads; i++) {
        pthread_join(t[i].id, NULL);
        begin = fmin(begin, t[i].begin);
        end = fmax(end, t[i].end);
        done += t[i].done;
    }
    pthread_barrier_destroy(&start);
    return done / (end - begin);
}

static struct sample rates(work_fn *work, int n)
{
    double r[100];
    for (int i = 0; i < n; i++)
        r[i] = 1 / rate(work); /* seconds for one pass: the best is the smallest */
    return bench_sample(r, n);
}

/* Nanoseconds of a round trip of one cache line; 0 with a single processor. */
static double line_ns(void)
{
    return bench.threads < 2 || processor(0) == processor(1) ? 0
                                                             : 1e9 * rates(pass_line, 15).median;
}

static void make_arrays(size_t nbytes)
{
    float **all[] = {&a, &b, &c};
    part = nbytes / sizeof *a / (size_t)bench.threads / 64 * 64;
    for (int k = 0; k < 3; k++) {
        void *m = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (m == MAP_FAILED)
            bench_fail("no memory for arrays of %zu bytes", nbytes);
        (void)madvise(m, nbytes, MADV_HUGEPAGE);
        *all[k] = m;
        for (size_t i = 0; i < nbytes / sizeof *a; i++)
            (*all[k])[i] = (float)k;
    }
}

static void print(const char *name, const char *unit, work_fn *work, int n)
{
    if (!work)
        return;
    struct sample s = rates(work, n);
    printf("{\"peer\":\"limit\",\"workload\":\"%s\",\"threads\":%d,\"unit\":\"%s\",\"median\":%.2f,"
           "\"max\":%.2f}\n",
           name, bench.threads, unit, 1e-9 / s.median, 1e-9 / s.min);
    fflush(stdout);
}

/* A child's answer to bench_limits, or a line for every figure. */
static void run_limits(const struct workload *w)
{
    (void)w;
    struct isa isa = widest();
    if (bench.measured) {
        make_arrays(128 << 20);
        struct sample fma = rates(isa.f32, 60), r = rates(isa.read, 7), t = rates(isa.triad_nt, 7);
        double bf16 = 0, int8 = 0;
        if (bench_has_tiles()) {
            bf16 = 1e-9 / rates(bench_tiles_bf16, 60).min;
            int8 = 1e-9 / rates(bench_tiles_int8, 60).min;
        }
        printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", 1e-9 / fma.min, 1e-9 / fma.median,
               1e-9 / r.median, 1e-9 / t.median, line_ns(), bf16, int8);
        return;
    }
    print("fma_f32", "GFLOP/s", isa.f32, 100);
    print("fma_f64", "GFLOP/s", isa.f64, 100);
    print("dot_bf16", "GFLOP/s", isa.bf16, 100);
    print("dot_int8", "GOP/s", isa.int8, 100);
    if (bench_has_tiles()) {
        print("tiles_bf16", "GFLOP/s", bench_tiles_bf16, 100);
        print("tiles_int8", "GOP/s", bench_tiles_int8, 100);
    }
    make_arrays((size_t)512 << 20);
    print("read", "GB/s", isa.read, 9);
    print("copy", "GB/s", isa.copy, 9);
    print("copy_nt", "GB/s", isa.copy_nt, 9);
    print("triad", "GB/s", isa.triad, 9);
    print("triad_nt", "GB/s", isa.triad_nt, 9);
    print("first_touch", "GB/s", touch_small, 5);
    print("first_touch_huge", "GB/s", touch_huge, 5);
    printf("{\"peer\":\"limit\",\"workload\":\"pass_line\",\"threads\":%d,\"unit\":\"ns\","
           "\"median\":%.0f}\n",
           bench.threads, line_ns());
}

const struct limits *bench_limits(void)
{
    static struct limits l;
    char said[256];
    if (l.fma_max > 0)
        return &l;
    bench_child("limits", bench.threads, bench.cache, said, sizeof said);
    if (sscanf(said, "%lf %lf %lf %lf %lf %lf %lf", &l.fma_max, &l.fma, &l.read, &l.triad_nt,
               &l.line_ns, &l.tiles_bf16, &l.tiles_int8) != 7)
        bench_fail("limits: a process said %s", said);
    return &l;
}

const struct workload workloads_limits[] = {
    {.name = "limits",
     .run = run_limits,
     .doc = "this machine: multiply-adds by dtype, memory read and written, fresh pages, a line "
            "passed on"},
    {0}};
