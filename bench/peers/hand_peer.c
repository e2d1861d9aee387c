/* hand_peer.c - what a C programmer writes by hand for this machine: AVX-512 intrinsics, each
 * thread its half, results past the caches, memory that
 * is used again, on huge pages.  hand_peer WORKLOAD[,WORKLOAD...] [--threads N] [--secs S]
 * Workloads, sizes and fields are those of lz-bench; it prints nothing for a workload that it does
 * not have, nor where there is no AVX-512. Some results are compared with double precision. */
#define _GNU_SOURCE
#include <getopt.h>
#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef __m512 v16;

enum { ELEMENTS = 16 << 20, SQUARE = 4096, ROWS = 4096, WIDTH = 1024, MAX_IN = 5 };

static float *in[MAX_IN], *out;
static int threads = 2;
static double secs = 1;

/* ---- functions of 16 numbers ---- */

static inline v16 all(float x)
{
    return _mm512_set1_ps(x);
}

static inline v16 load(const float *p)
{
    return _mm512_load_ps(p);
}

/* 2^n (1 + r + r^2 (1/2 + ...)), n the nearest integer to x / ln 2 and r the rest */
static inline v16 vexp(v16 x)
{
    x = _mm512_min_ps(all(89), _mm512_max_ps(all(-105), x));
    v16 n = _mm512_roundscale_ps(_mm512_mul_ps(x, all(1.44269504f)), 8);
    v16 r = _mm512_fnmadd_ps(n, all(0.693145752f), x);
    r = _mm512_fnmadd_ps(n, all(1.42860677e-6f), r);
    v16 p = _mm512_fmadd_ps(all(1.394153573e-3f), r, all(8.368832059e-3f));
    p = _mm512_fmadd_ps(p, r, all(4.166639224e-2f));
    p = _mm512_fmadd_ps(p, r, all(1.666651964e-1f));
    p = _mm512_fmadd_ps(p, r, all(0.5f));
    p = _mm512_fmadd_ps(_mm512_mul_ps(r, r), p, _mm512_add_ps(r, all(1)));
    return _mm512_scalef_ps(p, n);
}

static inline v16 vtanh(v16 x)
{
    v16 e = vexp(_mm512_add_ps(x, x));
    return _mm512_sub_ps(all(1), _mm512_div_ps(all(2), _mm512_add_ps(e, all(1))));
}

static inline v16 vsigmoid(v16 x)
{
    return _mm512_div_ps(all(1), _mm512_add_ps(all(1), vexp(_mm512_sub_ps(all(0), x))));
}

/* ---- the workloads: elements or rows begin..end-1 ---- */

static inline v16 chain16(long i)
{
    v16 t = vtanh(_mm512_fmadd_ps(load(in[0] + i), load(in[1] + i), load(in[2] + i)));
    v16 e = load(in[4] + i);
    v16 x = vexp(_mm512_sub_ps(all(0), _mm512_mul_ps(e, e)));
    return _mm512_fmsub_ps(t, vsigmoid(load(in[3] + i)), x);
}

static void chain(long begin, long end)
{
    for (long i = begin; i < end; i += 16)
        _mm512_stream_ps(out + i, chain16(i));
}

static void chain_short(long begin, long end)
{
    for (long i = begin; i < end; i += 16)
        _mm512_store_ps(out + i, chain16(i));
}

static void gelu(long begin, long end)
{
    for (long i = begin; i < end; i += 16) {
        v16 x = load(in[0] + i),
            u = _mm512_fmadd_ps(_mm512_mul_ps(x, x), all(0.0356774081f), all(0.7978845608f));
        v16 t = _mm512_add_ps(all(1), vtanh(_mm512_mul_ps(x, u)));
        _mm512_stream_ps(out + i, _mm512_mul_ps(_mm512_mul_ps(all(0.5f), x), t));
    }
}

static void add(long begin, long end)
{
    for (long i = begin; i < end; i += 16)
        _mm512_stream_ps(out + i, _mm512_add_ps(load(in[0] + i), load(in[1] + i)));
}

static _Atomic float total; /* so that sums are needed */

static void sum(long begin, long end)
{
    v16 s[4] = {all(0), all(0), all(0), all(0)};
    for (long i = begin; i < end; i += 64)
        for (int k = 0; k < 4; k++)
            s[k] = _mm512_add_ps(s[k], load(in[0] + i + 16 * k));
    total =
        _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3])));
}

static void softmax(long begin, long end)
{
    static _Thread_local _Alignas(64) float e[SQUARE];
    for (long r = begin; r < end; r++) {
        const float *x = in[0] + r * SQUARE;
        v16 m[4] = {load(x), load(x + 16), load(x + 32), load(x + 48)}, s = all(0);
        for (long i = 64; i < SQUARE; i += 64)
            for (int k = 0; k < 4; k++)
                m[k] = _mm512_max_ps(m[k], load(x + i + 16 * k));
        v16 most = all(_mm512_reduce_max_ps(
            _mm512_max_ps(_mm512_max_ps(m[0], m[1]), _mm512_max_ps(m[2], m[3]))));
        for (long i = 0; i < SQUARE; i += 16) {
            v16 y = vexp(_mm512_sub_ps(load(x + i), most));
            _mm512_store_ps(e + i, y);
            s = _mm512_add_ps(s, y);
        }
        v16 by = all(1 / _mm512_reduce_add_ps(s));
        for (long i = 0; i < SQUARE; i += 16)
            _mm512_stream_ps(out + r * SQUARE + i, _mm512_mul_ps(by, load(e + i)));
    }
}

static void layer_norm(long begin, long end)
{
    for (long r = begin; r < end; r++) {
        const float *x = in[0] + r * WIDTH;
        v16 s = all(0), q = all(0);
        for (long i = 0; i < WIDTH; i += 16)
            s = _mm512_add_ps(s, load(x + i));
        v16 mean = all(_mm512_reduce_add_ps(s) / WIDTH);
        for (long i = 0; i < WIDTH; i += 16) {
            v16 d = _mm512_sub_ps(load(x + i), mean);
            q = _mm512_fmadd_ps(d, d, q);
        }
        v16 by = all(1 / sqrtf(_mm512_reduce_add_ps(q) / WIDTH + 1e-5f));
        for (long i = 0; i < WIDTH; i += 16)
            _mm512_store_ps(out + r * WIDTH + i,
                            _mm512_fmadd_ps(_mm512_mul_ps(_mm512_sub_ps(load(x + i), mean), by),
                                            load(in[1] + i), load(in[2] + i)));
    }
}

/* 16 by 16 numbers in registers, from rows of x to columns of y */
static void transpose16(const float *x, float *y)
{
    v16 r[16], t[16];
    for (int k = 0; k < 16; k++)
        r[k] = load(x + (long)k * SQUARE);
    for (int k = 0; k < 16; k += 2) {
        t[k] = _mm512_unpacklo_ps(r[k], r[k + 1]);
        t[k + 1] = _mm512_unpackhi_ps(r[k], r[k + 1]);
    }
    for (int k = 0; k < 16; k += 4)
        for (int j = 0; j < 2; j++) {
            __m512d low = _mm512_castps_pd(t[k + j]), high = _mm512_castps_pd(t[k + j + 2]);
            r[k + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
            r[k + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
        }
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 2; j++) {
            v16 low = r[k + 8 * j], high = r[k + 8 * j + 4];
            t[k + 8 * j] = _mm512_shuffle_f32x4(low, high, 0x88);
            t[k + 8 * j + 4] = _mm512_shuffle_f32x4(low, high, 0xdd);
        }
    for (int k = 0; k < 8; k++) {
        _mm512_stream_ps(y + (long)k * SQUARE, _mm512_shuffle_f32x4(t[k], t[k + 8], 0x88));
        _mm512_stream_ps(y + (long)(k + 8) * SQUARE, _mm512_shuffle_f32x4(t[k], t[k + 8], 0xdd));
    }
}

static void transpose(long begin, long end)
{
    for (long c = begin; c < end; c += 16)
        for (long r = 0; r < SQUARE; r += 16)
            transpose16(in[0] + r * SQUARE + c, out + c * SQUARE + r);
}

/* ---- one result in double precision ---- */

static double at(const float *x, long i)
{
    return (double)x[i];
}

static double chain_at(long i)
{
    return tanh(at(in[0], i) * at(in[1], i) + at(in[2], i)) / (1 + exp(-at(in[3], i))) -
           exp(-at(in[4], i) * at(in[4], i));
}

static double gelu_at(long i)
{
    double x = at(in[0], i);
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double add_at(long i)
{
    return at(in[0], i) + at(in[1], i);
}

static double softmax_at(long i)
{
    const float *x = in[0] + i / SQUARE * SQUARE;
    double s = 0;
    for (int k = 0; k < SQUARE; k++)
        s += exp(at(x, k));
    return exp(at(in[0], i)) / s;
}

static double layer_norm_at(long i)
{
    const float *x = in[0] + i / WIDTH * WIDTH;
    double mean = 0, q = 0;
    for (int k = 0; k < WIDTH; k++)
        mean += at(x, k) / WIDTH;
    for (int k = 0; k < WIDTH; k++)
        q += (at(x, k) - mean) * (at(x, k) - mean) / WIDTH;
    return (at(in[0], i) - mean) / sqrt(q + 1e-5) * at(in[1], i % WIDTH) + at(in[2], i % WIDTH);
}

static double transpose_at(long i)
{
    return at(in[0], i % SQUARE * SQUARE + i / SQUARE);
}

/* ---- threads: all do their part of a call at once ---- */

static const struct work {
    const char *name;
    void (*run)(long begin, long end);
    long n, grain; /* of elements or rows; multiples of it for each thread */
    long results;
    double (*at)(long i);
    float spread; /* of the operands' random numbers */
    bool alone;   /* too short to share */
} works[] = {
    {"chain_16M", chain, ELEMENTS, 16, ELEMENTS, chain_at, 4, false},
    {"chain_4096", chain_short, 4096, 16, 4096, chain_at, 4, true},
    {"gelu_16M", gelu, ELEMENTS, 16, ELEMENTS, gelu_at, 4, false},
    {"add_16M", add, ELEMENTS, 16, ELEMENTS, add_at, 1, false},
    {"sum_4096", sum, ELEMENTS, 64, 0, NULL, 1, false},
    {"softmax_4096", softmax, SQUARE, 1, ELEMENTS, softmax_at, 1, false},
    {"layernorm_4096x1024", layer_norm, ROWS, 1, (long)ROWS *WIDTH, layer_norm_at, 1, false},
    {"transpose_4096", transpose, SQUARE, 16, ELEMENTS, transpose_at, 1, false},
};

static const struct work *current;
static _Atomic unsigned call;
static _Atomic int left;

static void part(int t)
{
    long blocks = current->n / current->grain;
    current->run(blocks * t / threads * current->grain,
                 blocks * (t + 1) / threads * current->grain);
    _mm_sfence();
}

static cpu_set_t have; /* what the process may use */

/* The last processors, as the other peers take. */
static void pin(int t)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    int skip = CPU_COUNT(&have) - threads + t;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &have) && skip-- == 0)
            CPU_SET(i, &one);
    if (CPU_COUNT(&one))
        (void)sched_setaffinity(0, sizeof one, &one);
}

static void *help(void *arg)
{
    pin((int)(long)arg);
    for (unsigned seen = 0;;) {
        while (call == seen)
            _mm_pause();
        seen++;
        part((int)(long)arg);
        left--;
    }
    return NULL;
}

static void once(void)
{
    if (current->alone) {
        current->run(0, current->n);
        return;
    }
    left = threads - 1;
    call++;
    part(0);
    while (left)
        _mm_pause();
}

/* ---- measuring ---- */

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill(float spread)
{
    unsigned long s = 1;
    for (int k = 0; k < MAX_IN; k++)
        for (long i = 0; i < ELEMENTS; i++) {
            s = s * 6364136223846793005UL + 1442695040888963407UL;
            in[k][i] = ((float)(s >> 40) / (1 << 24) - 0.5f) * spread;
        }
}

static void check(void)
{
    for (long i = 0; i < current->results; i += current->results / 200 + 1) {
        double expect = current->at(i);
        if (!(fabs(at(out, i) - expect) <= 2e-5 * fabs(expect) + 2e-6)) {
            fprintf(stderr, "hand_peer: %s: result %ld is %g, not %g\n", current->name, i,
                    at(out, i), expect);
            exit(1);
        }
    }
}

static void measure(void)
{
    enum { MOST = 400 };
    static double s[MOST];
    double load = 0, t = seconds(CLOCK_MONOTONIC);
    once();
    t = seconds(CLOCK_MONOTONIC);
    once();
    double one = seconds(CLOCK_MONOTONIC) - t, begin = seconds(CLOCK_MONOTONIC), spent = 0,
           used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int n = 0, inner = one < 3e-3 ? (int)(3e-3 / fmax(one, 1e-9)) + 1 : 1;
    for (; n < MOST && (spent < secs || n < 7); n++) {
        t = seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < inner; i++)
            once();
        s[n] = (seconds(CLOCK_MONOTONIC) - t) / inner;
        spent = seconds(CLOCK_MONOTONIC) - begin;
    }
    used = (seconds(CLOCK_PROCESS_CPUTIME_ID) - used) / n / inner;
    check();
    qsort(s, (size_t)n, sizeof *s, by_value);
    (void)getloadavg(&load, 1);
    printf("{\"peer\":\"hand\",\"workload\":\"%s\",\"median_ms\":%.6f,\"min_ms\":%.6f,\"extra\":{"
           "\"threads\":%d,\"n\":%d,\"cpu_ms\":%.6f,\"load\":%.2f}}\n",
           current->name, s[n / 2] * 1e3, s[0] * 1e3, threads, n, used * 1e3, load);
}

static float *memory(void)
{
    size_t nbytes = (size_t)ELEMENTS * sizeof(float), huge = (size_t)2 << 20;
    char *p = mmap(NULL, nbytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        fputs("hand_peer: no memory\n", stderr);
        exit(1);
    }
    p += huge - (size_t)p % huge;
    (void)madvise(p, nbytes, MADV_HUGEPAGE);
    return (float *)(void *)p;
}

static void start(void)
{
    for (int k = 0; k < MAX_IN; k++)
        in[k] = memory();
    out = memory();
    pin(0);
    for (long t = 1; t < threads; t++) {
        pthread_t id;
        if (pthread_create(&id, NULL, help, (void *)t) != 0) {
            fputs("hand_peer: no thread\n", stderr);
            exit(1);
        }
    }
}

static void run(const char *name)
{
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(works[i].name, name) == 0) {
            if (!out)
                start();
            current = &works[i];
            fill(current->spread);
            measure();
        }
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"threads", 1, 0, 't'}, {"secs", 1, 0, 's'}, {0}};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        if (c == 't')
            threads = atoi(optarg);
        else if (c == 's')
            secs = atof(optarg);
    if (optind + 1 != argc || threads < 1 || threads > 1024)
        return 2;
    if (!__builtin_cpu_supports("avx512f"))
        return 0;
    if (sched_getaffinity(0, sizeof have, &have) != 0)
        return 1;
    for (char *w = strtok(argv[optind], ","); w; w = strtok(NULL, ","))
        run(w);
    return 0;
}
