/* t_fft.c - transforms of every kind, type and instruction set compared with the definition in long
 * double; memory around results and scratch; units in any order; lines that know nothing of each
 * other. */
#include "fft/fft.h"
#include "base/host_isa.h"
#include "suite.h"
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef long double complex lc;

static uint64_t rng_state = 88172645463325252u;
static double rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (double)(int64_t)rng_state / 9.3e18;
}

static lc root_of(int64_t k, int64_t n)
{
    const long double turn = 6.283185307179586476925286766559005768L;
    long double a = turn * (long double)(k % n) / (long double)n;
    return cosl(a) - I * sinl(a);
}

/* ---- arrays: of T, complex numbers interleaved ---- */

typedef struct job {
    lz_fft_task t;
    int64_t in, out, lines, last, half; /* elements T of a transform; its lines along the last */
    char *x, *y;
    lz_arena mem;
    const lz_fft_plan *plan;
} job;

enum { GUARD = 64 };

static size_t size_of(const job *j)
{
    return j->t.wide ? 8 : 4;
}

static double get(const job *j, const char *p, int64_t i)
{
    return j->t.wide ? ((const double *)(const void *)p)[i]
                     : (double)((const float *)(const void *)p)[i];
}

static void put(const job *j, char *p, int64_t i, double v)
{
    if (j->t.wide)
        ((double *)(void *)p)[i] = v;
    else
        ((float *)(void *)p)[i] = (float)v;
}

static job job_new(lz_fft_kind kind, bool wide, int ndim, const int64_t *n, int64_t batch)
{
    job j = {.t = {.kind = kind, .wide = wide, .ndim = ndim, .batch = batch}, .lines = 1};
    for (int d = 0; d < ndim; d++) {
        j.t.n[d] = n[d];
        j.lines *= d + 1 < ndim ? n[d] : 1;
    }
    j.last = n[ndim - 1];
    j.half = j.last / 2 + 1;
    j.in = j.lines * (kind == LZ_FFT_REAL ? j.last : kind == LZ_FFT_HALF ? 2 * j.half : 2 * j.last);
    j.out = j.lines * (kind == LZ_FFT_HALF   ? j.last
                       : kind == LZ_FFT_REAL ? 2 * j.half
                                             : 2 * j.last);
    size_t es = size_of(&j), nx = (size_t)(batch * j.in) * es, ny = (size_t)(batch * j.out) * es;
    j.x = malloc(nx + GUARD);
    j.y = malloc(ny + GUARD);
    for (int64_t i = 0; i < batch * j.in; i++)
        put(&j, j.x, i, rnd());
    memset(j.y + ny, 0x5a, GUARD);
    ck_assert_int_eq(lz_fft_plan_new(&j.mem, &j.t, &j.plan), LZ_OK);
    return j;
}

static void job_free(job *j)
{
    free(j->x);
    free(j->y);
    lz_arena_free(&j->mem);
}

/* Units one at a time, the last one first, each in memory full of NaNs; or all at once. */
static void job_run(job *j, bool apart)
{
    size_t n = lz_fft_scratch(j->plan), ny = (size_t)(j->t.batch * j->out) * size_of(j);
    char *s = aligned_alloc(64, (n + GUARD + 63) / 64 * 64);
    int64_t units = lz_fft_units(j->plan);
    memset(j->y, 0xff, ny);
    for (int64_t u = apart ? units : 1; u-- > 0;) {
        memset(s, 0xff, n);
        memset(s + n, 0x5a, GUARD);
        lz_fft_run((void *[]){j->y, j->x}, (const int64_t *)(const void *)j->plan, apart ? u : 0,
                   apart ? u + 1 : units, s);
        for (int i = 0; i < GUARD; i++)
            ck_assert_int_eq(s[n + (size_t)i], 0x5a);
    }
    for (int i = 0; i < GUARD; i++)
        ck_assert_int_eq(j->y[ny + (size_t)i], 0x5a);
    free(s);
}

/* ---- the definition ---- */

/* The signal, or spectrum, that transform b of the operand stands for. */
static lc *operand_of(const job *j, int64_t b)
{
    lc *v = malloc((size_t)(j->lines * j->last) * sizeof *v);
    const char *x = j->x + (size_t)(b * j->in) * size_of(j);
    for (int64_t i = 0; i < j->lines; i++)
        for (int64_t k = 0; k < j->last; k++) {
            lc *to = &v[i * j->last + k];
            if (j->t.kind == LZ_FFT_REAL)
                *to = get(j, x, i * j->last + k);
            else if (j->t.kind != LZ_FFT_HALF)
                *to = get(j, x, 2 * (i * j->last + k)) + I * get(j, x, 2 * (i * j->last + k) + 1);
            else if (k < j->half)
                *to = get(j, x, 2 * (i * j->half + k)) + I * get(j, x, 2 * (i * j->half + k) + 1);
        }
    return v;
}

static void along(lc *v, int64_t outer, int64_t n, int64_t inner, bool back)
{
    lc *root = malloc((size_t)n * sizeof *root), *line = malloc((size_t)n * sizeof *line);
    for (int64_t k = 0; k < n; k++)
        root[k] = back ? conjl(root_of(k, n)) / (long double)n : root_of(k, n);
    long double by = back ? (long double)n : 1;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            lc *x = v + o * n * inner + i;
            for (int64_t k = 0; k < n; k++) {
                lc sum = 0;
                for (int64_t m = 0, e = 0; m < n; m++, e = e + k < n ? e + k : e + k - n)
                    sum += x[m * inner] * root[e] * by;
                line[k] = sum / by;
            }
            for (int64_t k = 0; k < n; k++)
                x[k * inner] = line[k];
        }
    free(root);
    free(line);
}

/* Parts that no real signal's spectrum has are ignored. */
static void complete_lines(const job *j, lc *v)
{
    for (int64_t i = 0; i < j->lines; i++) {
        lc *x = v + i * j->last;
        x[0] = creall(x[0]);
        if (j->last % 2 == 0)
            x[j->half - 1] = creall(x[j->half - 1]);
        for (int64_t k = j->half; k < j->last; k++)
            x[k] = conjl(x[j->last - k]);
    }
}

static void by_definition(const job *j, lc *v)
{
    bool half = j->t.kind == LZ_FFT_HALF, back = half || j->t.kind == LZ_FFT_BACKWARD;
    int64_t outer = 1;
    for (int d = 0; d < j->t.ndim; d++) {
        int64_t inner = j->lines * j->last / outer / j->t.n[d];
        if (d + 1 == j->t.ndim && half)
            complete_lines(j, v);
        along(v, outer, j->t.n[d], inner, back);
        outer *= j->t.n[d];
    }
}

/* The largest error of a transform in units of eps times the norm of an element. */
static double error_of(const job *j, int64_t b, const lc *want)
{
    const char *y = j->y + (size_t)(b * j->out) * size_of(j);
    bool real = j->t.kind == LZ_FFT_HALF;
    int64_t row = j->t.kind == LZ_FFT_REAL ? j->half : j->last;
    long double most = 0, norm = 0;
    for (int64_t i = 0; i < j->lines; i++)
        for (int64_t k = 0; k < row; k++) {
            lc w = want[i * j->last + k], g;
            int64_t at = i * row + k;
            g = real ? get(j, y, at) : get(j, y, 2 * at) + I * get(j, y, 2 * at + 1);
            long double e = cabsl(g - w);
            most = e > most || e != e ? e : most;
            norm += creall(w) * creall(w) + cimagl(w) * cimagl(w);
        }
    norm = sqrtl(norm / (long double)(j->lines * row));
    return (double)(most / (norm > 1e-30L ? norm : 1) / (j->t.wide ? 0x1p-52L : 0x1p-23L));
}

static void check(lz_fft_kind kind, bool wide, int ndim, const int64_t *n, int64_t batch)
{
    job j = job_new(kind, wide, ndim, n, batch);
    job_run(&j, false);
    size_t ny = (size_t)(batch * j.out) * size_of(&j);
    char *whole = malloc(ny);
    memcpy(whole, j.y, ny);
    job_run(&j, true);
    ck_assert(memcmp(whole, j.y, ny) == 0);
    for (int64_t b = 0; b<batch; b += batch> 1 ? batch - 1 : 1) {
        lc *v = operand_of(&j, b);
        by_definition(&j, v);
        double e = error_of(&j, b, v), levels = log2((double)(j.lines * j.last)) + 1;
        if (!(e < 4 + 1.5 * levels))
            ck_abort_msg("kind %d, %s, %d dimensions, last %d of %d, batch %d: %g eps", (int)kind,
                         wide ? "f64" : "f32", ndim, (int)j.last, (int)j.lines, (int)batch, e);
        free(v);
    }
    free(whole);
    job_free(&j);
}

START_TEST(one_dimension)
{
    static const int64_t few[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13,  15,  16,
                                  17, 22, 24, 30, 31, 32, 37, 49, 64, 67, 96, 121, 128, 210};
    static const int64_t many[] = {251, 256, 360, 506, 512, 513, 625, 997, 1024, 1026};
    int isa = _i / 8;
    if (isa >= lz_host_isas())
        return;
    lz_host_use_isa(isa);
    lz_fft_kind kind = (lz_fft_kind)(_i % 4);
    bool wide = _i / 4 % 2;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        for (int64_t b = 1; b <= 33; b += b == 1 ? 2 : 30)
            check(kind, wide, 1, &few[i], b);
    for (size_t i = 0; i < sizeof many / sizeof *many && !lz_test_small(); i++)
        for (int64_t b = 1; b <= 5; b += 4)
            check(kind, wide, 1, &many[i], b);
    lz_host_use_isa(-1);
}
END_TEST

START_TEST(several_dimensions)
{
    static const struct {
        int ndim;
        int64_t n[3];
    } c[] = {{2, {1, 1}},    {2, {2, 3}},     {2, {5, 1}},   {2, {1, 5}},    {2, {8, 8}},
             {2, {16, 17}},  {2, {37, 6}},    {2, {6, 74}},  {2, {64, 33}},  {3, {3, 4, 5}},
             {3, {7, 1, 2}}, {3, {4, 37, 9}}, {2, {600, 3}}, {3, {1, 1, 1}}, {3, {2, 17, 40}}};
    int isa = _i / 8;
    if (isa >= lz_host_isas())
        return;
    lz_host_use_isa(isa);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        for (int64_t b = 1; b <= 3; b += 2)
            check((lz_fft_kind)(_i % 4), _i / 4 % 2, c[i].ndim, c[i].n, b);
    lz_host_use_isa(-1);
}
END_TEST

/* An impulse at `at`: its spectrum is known. */
START_TEST(long_lines)
{
    static const int64_t lengths[] = {4096, 4099, 1 << 16, 65537, 100000, 1 << 20, 999983};
    int64_t n = lengths[_i / 2], at = n / 3 + 1;
    job j = job_new(LZ_FFT_FORWARD, _i % 2, 1, &n, 1);
    memset(j.x, 0, (size_t)j.in * size_of(&j));
    put(&j, j.x, 2 * at, 1);
    job_run(&j, false);
    for (int64_t k = 0; k < n; k += 1 + n / 1000) {
        lc want = root_of((int64_t)((unsigned __int128)k * (uint64_t)at % (uint64_t)n), n);
        lc got = get(&j, j.y, 2 * k) + I * get(&j, j.y, 2 * k + 1);
        double e = (double)cabsl(got - want) / (_i % 2 ? 0x1p-52 : 0x1p-23);
        if (!(e < 60)) /* those of a convolution have the noise of two transforms */
            ck_abort_msg("%d of %d: %g eps", (int)k, (int)n, e);
    }
    job_free(&j);
}
END_TEST

/* What is in one line of a batch is in no other result. */
START_TEST(lines_apart)
{
    static const int64_t lengths[] = {8, 15, 37, 256, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int kind = 0; kind < 4; kind++) {
            job j = job_new((lz_fft_kind)kind, false, 1, &lengths[i], 20);
            size_t ny = (size_t)(20 * j.out) * 4, line = (size_t)j.out * 4;
            char *before = malloc(ny);
            job_run(&j, false);
            memcpy(before, j.y, ny);
            for (int64_t k = 0; k < j.in; k++)
                put(&j, j.x, 7 * j.in + k, k % 3 ? NAN : 1e30);
            job_run(&j, false);
            ck_assert(memcmp(before, j.y, 7 * line) == 0);
            ck_assert(memcmp(before + 8 * line, j.y + 8 * line, ny - 8 * line) == 0);
            ck_assert(isnan(get(&j, j.y, 7 * j.out)));
            free(before);
            job_free(&j);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fft");
    TCase *t = tcase_create("fft");
    tcase_add_loop_test(t, one_dimension, 0, 24);
    tcase_add_loop_test(t, several_dimensions, 0, 24);
    tcase_add_loop_test(t, long_lines, 0, 14);
    tcase_add_test(t, lines_apart);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
