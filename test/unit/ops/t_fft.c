/* t_fft.c - torch.fft and complex functions: against the definition, with dimensions, lengths and
 * norms; on both devices. */
#include "unit/runtime/rt.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex cd;
enum { MAX = 512 };
static const char *const devices[] = {"REF:0", "CPU:0"};

static double noise(unsigned *r)
{
    *r = *r * 1664525u + 1013904223u;
    return (double)(*r >> 8) / 16777216.0 - 0.5;
}

static void fill(cd *x, int64_t n, bool real)
{
    unsigned seed = (unsigned)n;
    for (int64_t i = 0; i < n; i++) {
        double re = noise(&seed);
        x[i] = __builtin_complex(re, real ? 0 : noise(&seed));
    }
}

static int64_t count(lz_shape s)
{
    int64_t n = 1;
    for (int i = 0; i < s.rank; i++)
        n *= s.dims[i];
    return n;
}

/* A tensor of real parts alone, or of complex numbers. */
static lz_tensor *tensor(const cd *x, lz_shape s, bool real)
{
    double re[MAX];
    for (int64_t i = 0; real && i < count(s); i++)
        re[i] = creal(x[i]);
    return lz_from_host(real ? LZ_F64 : LZ_C128, s, real ? (const void *)re : x);
}

/* `got` is x of shape s, or the real numbers among it. */
static void same(const char *what, lz_tensor *got, const cd *x, lz_shape s)
{
    cd out[MAX];
    double re[MAX];
    lz_shape have = lz_shape_of(got);
    ck_assert_msg(lz_status_of(got) == LZ_OK, "%s: %s", what, lz_last_error_text());
    ck_assert_msg(have.rank == s.rank &&
                      memcmp(have.dims, s.dims, (size_t)s.rank * sizeof *s.dims) == 0,
                  "%s: another shape", what);
    bool real = lz_dtype_of(got) == LZ_F64;
    ck_assert_msg(real || lz_dtype_of(got) == LZ_C128, "%s: dtype %d", what, (int)lz_dtype_of(got));
    OK(lz_to_host(got, real ? (void *)re : out, sizeof out));
    for (int64_t i = 0; i < count(s); i++) {
        cd v = real ? re[i] : out[i];
        ck_assert_msg(cabs(v - (real ? creal(x[i]) : x[i])) < 1e-12,
                      "%s: element %lld is (%g, %g), want (%g, %g)", what, (long long)i, creal(v),
                      cimag(v), creal(x[i]), cimag(x[i]));
    }
}

/* x of shape *s along dimension d, made n long first, in place; *s follows. */
static void dft(cd *x, lz_shape *s, int d, int64_t n, int sign, double scale)
{
    cd out[MAX];
    int64_t before = 1, after = 1, m = s->dims[d];
    for (int i = 0; i < s->rank; i++)
        *(i < d ? &before : &after) *= i == d ? 1 : s->dims[i];
    for (int64_t b = 0; b < before; b++)
        for (int64_t a = 0; a < after; a++)
            for (int64_t k = 0; k < n; k++) {
                cd sum = 0;
                for (int64_t j = 0; j < n && j < m; j++)
                    sum += x[(b * m + j) * after + a] *
                           cexp(I * (sign * 2 * M_PI * (double)(j * k % n) / (double)n));
                out[(b * n + k) * after + a] = sum * scale;
            }
    memcpy(x, out, sizeof *x * (size_t)(before * n * after));
    s->dims[d] = n;
}

/* The first n elements of dimension d. */
static void keep(cd *x, lz_shape *s, int d, int64_t n)
{
    int64_t before = 1, after = 1, m = s->dims[d];
    for (int i = 0; i < s->rank; i++)
        *(i < d ? &before : &after) *= i == d ? 1 : s->dims[i];
    for (int64_t b = 0; b < before; b++)
        for (int64_t i = 0; i < n * after; i++)
            x[b * n * after + i] = x[b * m * after + i];
    s->dims[d] = n;
}

static double factor(const char *norm, bool inverse, double n)
{
    if (strcmp(norm, "ortho") == 0)
        return 1 / sqrt(n);
    return (strcmp(norm, "forward") == 0) != inverse ? 1 / n : 1;
}

START_TEST(one_dimension)
{
    static const char *const norms[] = {"backward", "ortho", "forward"};
    OK(lz_set_device(devices[_i]));
    for (int t = 0; t < 18; t++) {
        const char *norm = norms[t % 3];
        int dim = t / 9; /* of [3, 7] */
        int64_t n = (int64_t[]){0, 5, 9}[t / 3 % 3], len = n ? n : (int64_t[]){3, 7}[dim];
        cd x[MAX], y[MAX];
        lz_shape s = LZ_SHAPE(3, 7), r;
        lz_scope_begin();
        fill(x, 21, false);
        memcpy(y, x, sizeof y);
        dft(y, (r = s, &r), dim, len, -1, factor(norm, false, (double)len));
        same("fft", lz_fft(tensor(x, s, false), .n = n, .dim = dim, .norm = norm), y, r);
        memcpy(y, x, sizeof y);
        dft(y, (r = s, &r), dim, len, 1, factor(norm, true, (double)len));
        same("ifft", lz_ifft(tensor(x, s, false), .n = n, .dim = dim - 2, .norm = norm), y, r);
        fill(x, 21, true);
        memcpy(y, x, sizeof y);
        dft(y, (r = s, &r), dim, len, -1, factor(norm, false, (double)len));
        keep(y, &r, dim, len / 2 + 1);
        lz_tensor *half = lz_rfft(tensor(x, s, true), .n = n, .dim = dim, .norm = norm);
        same("rfft", half, y, r);
        for (int64_t i = 0; i < count(r); i++)
            y[i] = conj(y[i]);
        same("ihfft", lz_ihfft(tensor(x, s, true), .n = n, .dim = dim, .norm = norms[2 - t % 3]), y,
             r);
        lz_scope_end();
    }
}
END_TEST

/* The inverse of the half gives the signal back, of even and odd length; hfft of ihfft too. */
/* Lengths whose constants the program computes: a prime, and one of many factors. */
START_TEST(long_lines)
{
    static const int64_t lengths[] = {16411, 24576};
    int64_t n = lengths[_i];
    rt_use("CPU:0");
    lz_scope_begin();
    cd *x = malloc((size_t)n * sizeof *x), *got = malloc((size_t)n * sizeof *got);
    ck_assert(x && got);
    fill(x, n, false);
    for (int inverse = 0; inverse < 2; inverse++)
        for (int wide = 0; wide < 2; wide++) {
            lz_tensor *t = lz_to(lz_from_host(LZ_C128, LZ_SHAPE(n), x), wide ? LZ_C128 : LZ_C64);
            t = inverse ? lz_ifft(t) : lz_fft(t);
            OK(lz_to_host(lz_to(t, LZ_C128), got, (size_t)n * sizeof *got));
            double size = sqrt((double)n) / (inverse ? (double)n : 1);
            for (int64_t k = 0; k < n; k += n / 13) {
                cd want = 0;
                for (int64_t j = 0; j < n; j++)
                    want += x[j] *
                            cexp(I * ((inverse ? 2 : -2) * M_PI * (double)(j * k % n) / (double)n));
                want /= inverse ? (double)n : 1;
                ck_assert_msg(cabs(got[k] - want) < size * (wide ? 2e-14 : 1e-6),
                              "%lld of %lld is off by %g", (long long)k, (long long)n,
                              cabs(got[k] - want));
            }
        }
    free(x);
    free(got);
    lz_scope_end();
}
END_TEST

START_TEST(halves)
{
    OK(lz_set_device(devices[_i]));
    for (int64_t n = 2; n < 12; n++) {
        cd x[MAX];
        lz_shape s = LZ_SHAPE(2, n);
        lz_scope_begin();
        fill(x, 2 * n, true);
        lz_tensor *t = tensor(x, s, true);
        same("irfft", lz_irfft(lz_rfft(t), .n = n), x, s);
        same("hfft", lz_hfft(lz_ihfft(t), .n = n), x, s);
        same("irfftn", lz_irfft2(lz_rfft2(t), .s = LZ_SHAPE(2, n)), x, s);
        if (n % 2 == 0) {
            same("irfft", lz_irfft(lz_rfft(t, .norm = "ortho"), .norm = "ortho"), x, s);
            same("irfft2", lz_irfft2(lz_rfft2(t)), x, s);
        }
        lz_scope_end();
    }
}
END_TEST

START_TEST(several_dimensions)
{
    OK(lz_set_device(devices[_i]));
    cd x[MAX], y[MAX];
    lz_shape s = LZ_SHAPE(2, 3, 4, 5), r = s;
    lz_scope_begin();
    fill(x, 120, false);
    memcpy(y, x, sizeof y);
    for (int d = 0; d < 4; d++)
        dft(y, &r, d, s.dims[d], -1, 1);
    same("fftn", lz_fftn(tensor(x, s, false)), y, r);
    same("ifftn", lz_ifftn(lz_fftn(tensor(x, s, false))), x, s);
    memcpy(y, x, sizeof y);
    r = s;
    dft(y, &r, 3, 3, -1, 1);
    dft(y, &r, 1, 4, -1, 1);
    same("fft of 3 and 1", lz_fftn(tensor(x, s, false), .s = LZ_SHAPE(3, 4), .dims = LZ_DIM(-1, 1)),
         y, r);
    memcpy(y, x, sizeof y);
    r = s;
    dft(y, &r, 2, 4, 1, 0.25);
    dft(y, &r, 3, 6, 1, 1. / 6);
    same("ifft2", lz_ifft2(tensor(x, s, false), .s = LZ_SHAPE(-1, 6)), y, r);
    fill(x, 120, true);
    memcpy(y, x, sizeof y);
    r = s;
    for (int d = 3; d >= 0; d--) {
        dft(y, &r, d, s.dims[d], -1, 1);
        if (d == 1)
            keep(y, &r, 1, 2);
    }
    same("rfftn", lz_rfftn(tensor(x, s, true), .dims = LZ_DIM(0, 2, 3, 1)), y, r);
    same("irfftn",
         lz_irfftn(lz_rfftn(tensor(x, s, true), .dims = LZ_DIM(0, 2, 3, 1)),
                   .s = LZ_SHAPE(2, 4, 5, 3), .dims = LZ_DIM(0, 2, 3, 1)),
         x, s);
    lz_scope_end();
}
END_TEST

START_TEST(frequencies_and_shifts)
{
    double f[8], even[] = {0, 0.5, 1, -1.5, -1, -0.5}, odd[] = {0, 0.4, 0.8, -0.8, -0.4};
    OK(lz_set_device(devices[_i]));
    lz_scope_begin();
    OK(lz_to_host(lz_fftfreq(LZ_F64, 6, 1. / 3), f, sizeof f));
    for (int i = 0; i < 6; i++)
        ck_assert(fabs(f[i] - even[i]) < 1e-15);
    OK(lz_to_host(lz_fftfreq(LZ_F64, 5, 0.5), f, sizeof f));
    for (int i = 0; i < 5; i++)
        ck_assert(fabs(f[i] - odd[i]) < 1e-15);
    OK(lz_to_host(lz_rfftfreq(LZ_F64, 5, 0.5), f, sizeof f));
    ck_assert(f[0] == 0 && fabs(f[1] - 0.4) < 1e-15 && fabs(f[2] - 0.8) < 1e-15);
    int32_t v[6] = {0, 1, 2, 3, 4, 5}, w[6];
    lz_tensor *t = lz_from_host(LZ_I32, LZ_SHAPE(2, 3), v);
    OK(lz_to_host(lz_fftshift(t, 1), w, sizeof w));
    ck_assert(w[0] == 2 && w[1] == 0 && w[2] == 1 && w[3] == 5);
    OK(lz_to_host(lz_fftshift(t), w, sizeof w));
    ck_assert(w[0] == 5 && w[1] == 3 && w[2] == 4 && w[3] == 2);
    OK(lz_to_host(lz_ifftshift(lz_fftshift(t)), w, sizeof w));
    ck_assert(memcmp(v, w, sizeof v) == 0);
    lz_scope_end();
}
END_TEST

START_TEST(parts_and_angles)
{
    OK(lz_set_device(devices[_i]));
    cd x[MAX], y[MAX];
    double a[16], parts[24];
    lz_shape s = LZ_SHAPE(3, 4);
    lz_scope_begin();
    fill(x, 12, false);
    for (int i = 0; i < 12; i++)
        y[i] = conj(x[i]);
    lz_tensor *t = tensor(x, s, false);
    same("conj", lz_conj(t), y, s);
    same("polar", lz_polar(lz_abs(t), lz_angle(t)), x, s);
    same("view_as_complex", lz_view_as_complex(lz_view_as_real(t)), x, s);
    OK(lz_to_host(lz_view_as_real(t), parts, sizeof parts));
    ck_assert(memcmp(parts, x, sizeof parts) == 0);
    OK(lz_to_host(lz_angle(lz_from_host(LZ_F64, LZ_SHAPE(4), ((double[]){2, -3, -0.0, NAN}))), a,
                  sizeof a));
    ck_assert(a[0] == 0 && a[1] == M_PI && a[2] == 0 && isnan(a[3]));
    ck_assert_int_eq(lz_dtype_of(lz_fft(lz_from_host(LZ_I32, LZ_SHAPE(3), ((int32_t[]){1, 2, 3})))),
                     LZ_C64);
    ck_assert_int_eq(lz_dtype_of(lz_conj(lz_ones(LZ_I8, s))), LZ_I8);
    lz_scope_end();
}
END_TEST

static void refused(lz_tensor *t, lz_status status, const char *says)
{
    ck_assert_msg(lz_status_of(t) == status && strstr(lz_last_error_text(), says), "%s: %s",
                  lz_status_name(lz_status_of(t)), lz_last_error_text());
    lz_clear_error();
}

START_TEST(wrong_calls)
{
    lz_scope_begin();
    lz_tensor *x = lz_ones(LZ_C64, LZ_SHAPE(2, 3)), *scalar = lz_ones(LZ_F32, LZ_SCALAR);
    refused(lz_fft(x, .norm = "none"), LZ_EINVAL, "\"none\"");
    refused(lz_fft(x, .dim = 2), LZ_ERANGE, "dimension 2");
    refused(lz_fft(x, .n = -3), LZ_ESHAPE, "-3");
    refused(lz_fft(scalar), LZ_ESHAPE, "scalar");
    refused(lz_fftn(scalar), LZ_ESHAPE, "scalar");
    refused(lz_rfft(x), LZ_EDTYPE, "f32 or f64");
    refused(lz_fft(lz_ones(LZ_F16, LZ_SHAPE(4))), LZ_EDTYPE, "f16");
    refused(lz_fft(lz_ones(LZ_F32, LZ_SHAPE(0))), LZ_ESHAPE, "0 elements");
    refused(lz_irfft(lz_ones(LZ_C64, LZ_SHAPE(1))), LZ_ESHAPE, "0 elements");
    refused(lz_fftn(x, .dims = LZ_DIM(0, -2)), LZ_EINVAL, "twice");
    refused(lz_fftn(x, .s = LZ_SHAPE(2), .dims = LZ_DIM(0, 1)), LZ_EINVAL, "lengths");
    refused(lz_fftfreq(LZ_I32, 4, 1), LZ_EDTYPE, "i32");
    refused(lz_fftfreq(LZ_F32, 0, 1), LZ_EINVAL, "0 samples");
    refused(lz_fftshift(x, 5), LZ_ERANGE, "dimension 5");
    refused(lz_view_as_complex(lz_ones(LZ_F32, LZ_SHAPE(3))), LZ_ESHAPE, "two parts");
    refused(lz_view_as_complex(lz_ones(LZ_I32, LZ_SHAPE(2))), LZ_EDTYPE, "i32");
    refused(lz_view_as_real(scalar), LZ_EDTYPE, "complex");
    refused(lz_polar(lz_ones(LZ_F16, LZ_SHAPE(2)), lz_ones(LZ_F16, LZ_SHAPE(2))), LZ_EDTYPE, "f16");
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fft");
    TCase *t = tcase_create("functions");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, one_dimension, 0, 2);
    tcase_add_loop_test(t, long_lines, 0, 2);
    tcase_add_loop_test(t, halves, 0, 2);
    tcase_add_loop_test(t, several_dimensions, 0, 2);
    tcase_add_loop_test(t, frequencies_and_shifts, 0, 2);
    tcase_add_loop_test(t, parts_and_angles, 0, 2);
    tcase_add_test(t, wrong_calls);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
