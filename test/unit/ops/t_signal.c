/* t_signal.c - windows and transforms of short times against sums of the test; exponentials and
 * eigenvalues of matrices against series and spectra that are known; images resized and sampled
 * under torch's names. */
#include "aten.h"
#include <complex.h>

static double x[AT_MAX], y[AT_MAX], w[AT_MAX], want[AT_MAX], other[AT_MAX];

START_TEST(windows)
{
    ON_DEVICE(_i);
    for (int n = 0; n < 9; n++)
        for (int periodic = 0; periodic < 2; periodic++) {
            double v[4][9], length = periodic ? n : n - 1;
            for (int i = 0; i < n; i++) {
                double t = n == 1 ? 0.5 : i / length, turn = 2 * acos(-1.0) * t;
                v[0][i] = sin(turn / 2) * sin(turn / 2);
                v[1][i] = 0.08 + 0.92 * v[0][i];
                v[2][i] = 0.34 - 0.5 * cos(turn) + 0.16 * cos(turn) * cos(turn);
                v[3][i] = t < 0.5 ? 2 * t : 2 - 2 * t;
            }
            EXPECT(lz_hann_window(LZ_F64, n, periodic), LZ_F64, LZ_SHAPE(n), v[0], 1e-12);
            EXPECT(lz_hamming_window(LZ_F32, n, periodic), LZ_F32, LZ_SHAPE(n), v[1], 1e-6);
            EXPECT(lz_blackman_window(LZ_F64, n, periodic), LZ_F64, LZ_SHAPE(n), v[2], 1e-12);
            EXPECT(lz_bartlett_window(LZ_F64, n, periodic), LZ_F64, LZ_SHAPE(n), v[3], 1e-12);
        }
    BAD(lz_hann_window(LZ_I32, 4, true), LZ_EDTYPE, "lz_hann_window");
    BAD(lz_hamming_window(LZ_F32, -1, true), LZ_EINVAL, "-1");
}
END_TEST

/* Sample i of the signal of n samples, reflected at its ends. */
static double mirrored(const double *v, int n, int i)
{
    i = i < 0 ? -i : i;
    return v[i >= n ? 2 * (n - 1) - i : i];
}

START_TEST(short_time_transforms)
{
    ON_DEVICE(_i);
    enum { B = 2, N = 21, FFT = 8, HOP = 3, WIN = 6, T = 1 + N / HOP, F = FFT / 2 + 1 };
    lz_tensor *X = at_random(LZ_F64, LZ_SHAPE(B, N), -2, 2, x),
              *W = at_random(LZ_F64, LZ_SHAPE(WIN), 0.5, 2, w);
    for (int i = 0; i < B * F * T; i++) {
        int b = i / (F * T), f = i / T % F, t = i % T;
        double complex s = 0;
        for (int k = 0; k < WIN; k++) { /* the window begins one after the frame */
            int at = t * HOP + 1 + k - FFT / 2;
            s += w[k] * mirrored(x + b * N, N, at) * cexp(-2 * acos(-1.0) * I * f * (k + 1) / FFT);
        }
        want[i] = creal(s);
        other[i] = cimag(s);
    }
    lz_tensor *S = lz_stft(X, FFT, .hop_length = HOP, .win_length = WIN, .window = W);
    EXPECT(lz_real(S), LZ_F64, LZ_SHAPE(B, F, T), want, 1e-9);
    EXPECT(lz_imag(S), LZ_F64, LZ_SHAPE(B, F, T), other, 1e-9);
    EXPECT(lz_istft(S, FFT, .hop_length = HOP, .win_length = WIN, .window = W, .length = N), LZ_F64,
           LZ_SHAPE(B, N), x, 1e-10);
    /* every other way, back and forth */
    static const char *const modes[] = {"reflect", "replicate", "circular", "constant"};
    for (int way = 0; way < 16; way++) {
        bool center = way & 1, normalized = way & 2, complex_signal = way & 4, part = way & 8;
        lz_tensor *C = complex_signal ? lz_complex(X, lz_flip(X, 0)) : X;
        lz_tensor *Z = lz_stft(C, FFT, .center = center, .normalized = normalized,
                               .onesided = !complex_signal && part, .pad_mode = modes[way % 4]);
        int64_t frames = center ? 1 + N / 2 : 1 + (N - FFT) / 2;
        ck_assert_int_eq(lz_shape_of(Z).dims[2], frames);
        int64_t have = center ? (N / 2) * 2 : (frames - 1) * 2 + FFT;
        lz_tensor *back =
            lz_istft(Z, FFT, .center = center, .normalized = normalized,
                     .onesided = !complex_signal && part, .return_complex = complex_signal);
        lz_tensor *d = lz_sub(back, lz_slice(C, 1, 0, have, 1));
        ck_assert_msg(lz_item(lz_amax(lz_abs(d))) < 1e-12, "way %d: %s", way, lz_last_error_text());
    }
    /* longer than there is: zeros; a window that leaves a gap: NaN there; one vector of integers */
    lz_tensor *longer =
        lz_istft(S, FFT, .hop_length = HOP, .win_length = WIN, .window = W, .length = 40);
    ck_assert(lz_item(lz_select(lz_select(longer, 0, 0), 0, 39)) == 0);
    lz_tensor *gap =
        lz_istft(lz_stft(X, FFT, .window = lz_hann_window(LZ_F64, FFT, true), .center = false), FFT,
                 .window = lz_hann_window(LZ_F64, FFT, true), .center = false);
    ck_assert(isnan(lz_item(lz_select(lz_select(gap, 0, 0), 0, 0))));
    ck_assert(!isnan(lz_item(lz_select(lz_select(gap, 0, 0), 0, 1))));
    ck_assert_int_eq(lz_dtype_of(lz_stft(lz_arange(LZ_I32, 0, 8, 1), 4)), LZ_C64);
    BAD(lz_stft(X, 64, .center = false), LZ_ESHAPE, "shorter than n_fft 64");
    BAD(lz_stft(X, 64), LZ_ESHAPE, "[2, 21]");
    BAD(lz_stft(X, FFT, .win_length = 9), LZ_EINVAL, "win_length 9");
    BAD(lz_stft(X, FFT, .window = W), LZ_ESHAPE, "window is [6]");
    BAD(lz_stft(X, FFT, .pad_mode = "mirror"), LZ_EINVAL, "mirror");
    BAD(lz_istft(S, 10), LZ_ESHAPE, "6 frequencies");
    BAD(lz_istft(X, FFT), LZ_EDTYPE, "complex");
    BAD(lz_istft(S, FFT, .win_length = 4, .hop_length = 5), LZ_EINVAL, "hop_length 5");
}
END_TEST

/* The series itself, in long double: a[n, n] of a small norm. */
static void exp_series(int n, const double complex *a, double complex *out)
{
    static long double complex term[64], next[64], sum[64];
    for (int i = 0; i < n * n; i++)
        sum[i] = term[i] = i / n == i % n;
    for (int k = 1; k < 80; k++) {
        for (int i = 0; i < n * n; i++) {
            next[i] = 0;
            for (int l = 0; l < n; l++)
                next[i] += term[i / n * n + l] * a[l * n + i % n] / k;
        }
        for (int i = 0; i < n * n; i++)
            sum[i] += term[i] = next[i];
    }
    for (int i = 0; i < n * n; i++)
        out[i] = (double complex)sum[i];
}

START_TEST(exponentials)
{
    ON_DEVICE(_i);
    enum { B = 3, N = 4 };
    double complex a[N * N], e[N * N];
    double re[B * N * N], im[B * N * N];
    static const double scale[B] = {1e-3, 0.4, 2.5};
    lz_tensor *X = at_random(LZ_F64, LZ_SHAPE(B, N, N), -1, 1, x),
              *Y = at_random(LZ_F64, LZ_SHAPE(B, N, N), -1, 1, y);
    lz_tensor *by = at_tensor(LZ_F64, LZ_SHAPE(B, 1, 1), scale);
    for (int complex_values = 0; complex_values < 2; complex_values++) {
        for (int b = 0; b < B; b++) {
            for (int i = 0; i < N * N; i++)
                a[i] = scale[b] * (x[b * N * N + i] + (complex_values ? I * y[b * N * N + i] : 0));
            exp_series(N, a, e);
            for (int i = 0; i < N * N; i++) {
                re[b * N * N + i] = creal(e[i]);
                im[b * N * N + i] = cimag(e[i]);
            }
        }
        lz_tensor *A = lz_mul(X, by);
        if (!complex_values) {
            EXPECT(lz_linalg_matrix_exp(A), LZ_F64, LZ_SHAPE(B, N, N), re, 1e-11);
            EXPECT(lz_linalg_matrix_exp(lz_to(A, LZ_F32)), LZ_F32, LZ_SHAPE(B, N, N), re, 2e-5);
            continue;
        }
        lz_tensor *E = lz_linalg_matrix_exp(lz_complex(A, lz_mul(Y, by)));
        EXPECT(lz_real(E), LZ_F64, LZ_SHAPE(B, N, N), re, 1e-11);
        EXPECT(lz_imag(E), LZ_F64, LZ_SHAPE(B, N, N), im, 1e-11);
    }
    /* a turn by 100, large and small numbers, nothing, one element */
    EXPECT(lz_linalg_matrix_exp(at_tensor(LZ_F64, LZ_SHAPE(2, 2), ((double[]){0, -100, 100, 0}))),
           LZ_F64, LZ_SHAPE(2, 2), ((double[]){cos(100), -sin(100), sin(100), cos(100)}), 1e-10);
    EXPECT(lz_linalg_matrix_exp(at_tensor(LZ_F64, LZ_SHAPE(2, 2), ((double[]){-1e20, 0, 0, 3}))),
           LZ_F64, LZ_SHAPE(2, 2), ((double[]){0, 0, 0, exp(3)}), 1);
    EXPECT(lz_linalg_matrix_exp(at_tensor(LZ_F64, LZ_SHAPE(2, 2), ((double[]){0, 0x1p40, 0, 0}))),
           LZ_F64, LZ_SHAPE(2, 2), ((double[]){1, 0x1p40, 0, 1}), 0);
    EXPECT(lz_linalg_matrix_exp(at_tensor(LZ_F64, LZ_SHAPE(1, 1), ((double[]){800}))), LZ_F64,
           LZ_SHAPE(1, 1), ((double[]){INFINITY}), 0);
    EXPECT(lz_linalg_matrix_exp(at_tensor(LZ_BF16, LZ_SHAPE(1, 1), ((double[]){1}))), LZ_BF16,
           LZ_SHAPE(1, 1), ((double[]){exp(1)}), 0x1p-8);
    EXPECT(lz_linalg_matrix_exp(lz_zeros(LZ_F32, LZ_SHAPE(2, 0, 0))), LZ_F32, LZ_SHAPE(2, 0, 0), re,
           0);
    lz_tensor *nan =
        lz_linalg_matrix_exp(at_tensor(LZ_F64, LZ_SHAPE(2, 2), ((double[]){NAN, 0, 0, 1})));
    ck_assert(isnan(lz_item(lz_sum(nan))));
    BAD(lz_linalg_matrix_exp(lz_zeros(LZ_F32, LZ_SHAPE(2, 3))), LZ_ESHAPE, "[2, 3]");
    BAD(lz_linalg_matrix_exp(lz_zeros(LZ_I32, LZ_SHAPE(2, 2))), LZ_EDTYPE, "i32");
}
END_TEST

/* The spectrum w[n] in any order is want[n]. */
static void expect_spectrum(lz_tensor *t, int n, const double complex *spectrum, double tol)
{
    double re[32], im[32];
    OK(lz_to_host(lz_to(lz_real(t), LZ_F64), re, sizeof re));
    OK(lz_to_host(lz_to(lz_imag(t), LZ_F64), im, sizeof im));
    bool used[32] = {false};
    for (int i = 0; i < n; i++) {
        int best = -1;
        for (int k = 0; k < n; k++)
            if (!used[k] && (best < 0 || cabs(re[k] + I * im[k] - spectrum[i]) <
                                             cabs(re[best] + I * im[best] - spectrum[i])))
                best = k;
        used[best] = true;
        ck_assert_msg(cabs(re[best] + I * im[best] - spectrum[i]) <= tol, "%d: %.17g + %.17g i", i,
                      re[best], im[best]);
    }
}

/* a v = v diag(w), and the vectors have norm 1. */
static void expect_vectors(lz_tensor *a, lz_tensor *v, lz_tensor *ww, double tol)
{
    lz_dtype d = lz_dtype_of(v);
    lz_tensor *r = lz_sub(lz_matmul(lz_to(a, d), v), lz_mul(v, lz_unsqueeze(ww, -2)));
    ck_assert_msg(lz_item(lz_amax(lz_abs(r))) <= tol, "%s, residual %g", lz_last_error_text(),
                  lz_item(lz_amax(lz_abs(r))));
    lz_tensor *norm = lz_linalg_vector_norm(v, .dims = {1, {-2}});
    ck_assert(lz_item(lz_amax(lz_abs(lz_sub_scalar(norm, 1)))) <= tol);
}

/* Of real matrices: conjugate pairs of values w[b, n] and vectors v[b, n, n], bit for bit. */
static void expect_pairs(lz_tensor *ev, lz_tensor *v, int b, int n)
{
    static double wr[32], wi[32], vr[256], vi[256];
    OK(lz_to_host(lz_to(lz_real(ev), LZ_F64), wr, sizeof wr));
    OK(lz_to_host(lz_to(lz_imag(ev), LZ_F64), wi, sizeof wi));
    OK(lz_to_host(lz_to(lz_real(v), LZ_F64), vr, sizeof vr));
    OK(lz_to_host(lz_to(lz_imag(v), LZ_F64), vi, sizeof vi));
    for (int i = 0; i < b * n; i++) {
        bool pair = wi[i] > 0;
        ck_assert(wi[i] >= 0 && (!pair || (wr[i + 1] == wr[i] && wi[i + 1] == -wi[i])));
        for (int r = 0; r < n; r++) {
            int at = i / n * n * n + r * n + i % n;
            ck_assert(pair ? vr[at + 1] == vr[at] && vi[at + 1] == -vi[at] : vi[at] == 0);
        }
        i += pair;
    }
}

START_TEST(spectra)
{
    ON_DEVICE(_i);
    /* rotations, triangles, a companion of (x - 1)(x - 2)(x - 3)(x^2 + 1), permutations, defects */
    static const struct {
        int n;
        double a[25];
        double complex w[5];
        double tol;
    } known[] = {
        {1, {-3}, {-3}, 0},
        {2, {0, -1, 1, 0}, {I, -I}, 1e-15},
        {2, {1, 5, 0, 2}, {1, 2}, 1e-15},
        {3,
         {0, 0, 1, 1, 0, 0, 0, 1, 0},
         {1, -0.5 + 0.8660254037844386 * I, -0.5 - 0.8660254037844386 * I},
         1e-14},
        {3, {2, 1, 0, 0, 2, 1, 0, 0, 2}, {2, 2, 2}, 1e-14},
        {3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 1, 1}, 0},
        {3, {1, 1e9, 1e9, 1e-9, 2, 1e3, 0, 1e-6, 3}, {0}, -1},
        {5,
         {6, -12, 12, -11, 6, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0},
         {1, 2, 3, I, -I},
         1e-11},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int n = known[k].n;
        lz_tensor *A = at_tensor(LZ_F64, LZ_SHAPE(n, n), known[k].a), *v,
                  *ev = lz_linalg_eig(A, &v);
        ck_assert_int_eq(lz_dtype_of(ev), LZ_C128);
        if (known[k].tol >= 0)
            expect_spectrum(ev, n, known[k].w, known[k].tol);
        expect_vectors(A, v, ev, 1e-9);
        if (known[k].tol >= 0)
            expect_spectrum(lz_linalg_eigvals(A), n, known[k].w, known[k].tol);
    }
    /* random ones, in batches: real ones have exact pairs, and the trace is the sum */
    for (int pass = 0; pass < 4; pass++) {
        enum { B = 3, N = 7 };
        lz_dtype d = (lz_dtype[]){LZ_F64, LZ_C128, LZ_F32, LZ_C64}[pass];
        double tol = pass < 2 ? 1e-12 : 1e-5;
        lz_tensor *A = at_random(LZ_F64, LZ_SHAPE(B, N, N), -1, 1, x), *v;
        if (pass & 1)
            A = lz_complex(A, at_random(LZ_F64, LZ_SHAPE(B, N, N), -1, 1, y));
        A = lz_to(A, d);
        lz_tensor *ev = lz_linalg_eig(A, &v);
        ck_assert_int_eq(lz_dtype_of(v), pass < 2 ? LZ_C128 : LZ_C64);
        expect_vectors(A, v, ev, tol * 10);
        lz_tensor *trace = lz_sum(lz_diagonal(A, 0, 1, 2)), *sum = lz_sum(ev);
        ck_assert(lz_item(lz_abs(lz_sub(sum, lz_to(trace, lz_dtype_of(sum))))) <= tol * 20);
        if (!(pass & 1))
            expect_pairs(ev, v, B, N);
    }
    lz_tensor *v, *none = lz_linalg_eig(lz_zeros(LZ_F32, LZ_SHAPE(2, 0, 0)), &v);
    EXPECT(lz_real(none), LZ_F32, LZ_SHAPE(2, 0), want, 0);
    EXPECT(lz_real(v), LZ_F32, LZ_SHAPE(2, 0, 0), want, 0);
    ck_assert(
        isnan(lz_item(lz_sum(lz_real(lz_linalg_eigvals(lz_full(LZ_F32, LZ_SHAPE(2, 2), NAN)))))));
    BAD(lz_linalg_eigvals(lz_zeros(LZ_F32, LZ_SHAPE(2, 3))), LZ_ESHAPE, "lz_linalg_eigvals");
    BAD(lz_linalg_eig(lz_zeros(LZ_F16, LZ_SHAPE(2, 2)), &v), LZ_EDTYPE, "f16");
    BAD(v, LZ_EDTYPE, "lz_linalg_eig");
}
END_TEST

static void same_values(lz_tensor *a, lz_tensor *b, const char *what)
{
    ck_assert_msg(lz_status_of(a) == LZ_OK && lz_status_of(b) == LZ_OK, "%s: %s", what,
                  lz_last_error_text());
    ck_assert_msg(lz_item(lz_all(lz_eq(a, b))) == 1, "%s", what);
}

START_TEST(resized)
{
    ON_DEVICE(_i);
    lz_tensor *X = at_random(LZ_F32, LZ_SHAPE(2, 3, 4, 5), -2, 2, x), *L = lz_select(X, 2, 0),
              *V = lz_unsqueeze(X, 2);
    lz_shape s = LZ_SHAPE(6, 7);
    double twice[3] = {1.5, 2, 0};
    same_values(lz_interpolate(X, .size = s), lz_upsample_nearest2d(X, s, NULL), "nearest");
    same_values(lz_interpolate(X, .size = s, .mode = "nearest-exact"),
                lz_upsample_nearest(X, s, NULL, true), "exact");
    same_values(lz_interpolate(X, .size = s, .mode = "bilinear", .align_corners = true),
                lz_upsample_bilinear2d(X, s, true, NULL), "bilinear");
    same_values(lz_interpolate(X, .size = s, .mode = "bicubic"),
                lz_upsample_bicubic2d(X, s, false, NULL), "bicubic");
    same_values(lz_interpolate(X, .size = LZ_SHAPE(3), .mode = "area"),
                lz_adaptive_avg_pool2d(X, 3, 3), "area");
    same_values(lz_interpolate(X, .scale_factor = {1.5, 2}, .mode = "bilinear"),
                lz_upsample_bilinear2d(X, LZ_SHAPE(6, 10), false, twice), "scales");
    same_values(lz_interpolate(X, .scale_factor = {1.7}, .mode = "bilinear",
                               .recompute_scale_factor = true),
                lz_upsample_bilinear2d(X, LZ_SHAPE(6, 8), false, NULL), "recomputed");
    same_values(lz_interpolate(L, .size = LZ_SHAPE(9), .mode = "linear"),
                lz_upsample_linear(L, LZ_SHAPE(9), false, NULL), "linear");
    same_values(lz_interpolate(V, .scale_factor = {2}, .mode = "trilinear"),
                lz_upsample_linear(V, LZ_SHAPE(2, 8, 10), false, ((double[]){2, 2, 2})),
                "trilinear");
    BAD(lz_interpolate(X), LZ_EINVAL, "neither");
    BAD(lz_interpolate(X, .size = s, .scale_factor = {2}), LZ_EINVAL, "size and scale_factor");
    BAD(lz_interpolate(X, .size = s, .mode = "linear"), LZ_ESHAPE, "[2, 3, 4, 5]");
    BAD(lz_interpolate(X, .size = s, .mode = "cubic"), LZ_EINVAL, "trilinear");
    BAD(lz_interpolate(X, .size = s, .align_corners = true), LZ_EINVAL, "align_corners");
    BAD(lz_interpolate(X, .size = LZ_SHAPE(1, 2, 3)), LZ_ESHAPE, "rank 3");
}
END_TEST

/* A coordinate of -1..1 as a place of n elements, padded by mode 0 zeros, 1 border, 2 reflection.
 */
static double place(double g, int n, bool align, int padding)
{
    double v = align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    double low = align ? 0 : -0.5, high = align ? n - 1 : n - 0.5;
    while (padding == 2 && high > low && (v < low || v > high))
        v = v < low ? 2 * low - v : 2 * high - v;
    return padding ? fmin(fmax(v, 0), n - 1) : v;
}

static double voxel(const double *v, const int *n, int ix, int iy, int iz)
{
    bool in = ix >= 0 && iy >= 0 && iz >= 0 && ix < n[0] && iy < n[1] && iz < n[2];
    return in ? v[(iz * n[1] + iy) * n[0] + ix] : 0;
}

START_TEST(sampled_volumes)
{
    ON_DEVICE(_i);
    enum { C = 2, D = 3, H = 2, W = 4, P = 10 };
    static const int n[3] = {W, H, D};
    lz_tensor *X = at_random(LZ_F64, LZ_SHAPE(1, C, D, H, W), -2, 2, x),
              *G = at_random(LZ_F64, LZ_SHAPE(1, 1, 2, 5, 3), -1.8, 1.8, y);
    static const char *const modes[] = {"bilinear", "nearest"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    for (int way = 0; way < 12; way++) {
        bool align = way & 1, nearest = way & 2;
        int padding = way / 4;
        for (int i = 0; i < C * P; i++) {
            double at[3], sum = 0;
            for (int k = 0; k < 3; k++)
                at[k] = place(y[i % P * 3 + k], n[k], align, padding);
            const double *v = x + i / P * D * H * W;
            for (int corner = 0; corner < 8 && !nearest; corner++) {
                double weight = 1;
                int p[3];
                for (int k = 0; k < 3; k++) {
                    p[k] = (int)floor(at[k]) + (corner >> k & 1);
                    weight *= 1 - fabs(at[k] - p[k]);
                }
                sum += weight * voxel(v, n, p[0], p[1], p[2]);
            }
            want[i] =
                nearest ? voxel(v, n, (int)rint(at[0]), (int)rint(at[1]), (int)rint(at[2])) : sum;
        }
        EXPECT(lz_grid_sample(X, G, .mode = modes[nearest], .padding_mode = paddings[padding],
                              .align_corners = align),
               LZ_F64, LZ_SHAPE(1, C, 1, 2, 5), want, 1e-11);
    }
    /* images, and identity grids */
    lz_tensor *I2 = lz_select(X, 2, 0), *G2 = lz_slice(lz_select(G, 1, 0), 3, 0, 2, 1);
    same_values(lz_grid_sample(I2, G2),
                lz_grid_sampler_2d(I2, G2, LZ_GRID_BILINEAR, LZ_GRID_ZEROS, false), "image");
    lz_tensor *one =
        at_tensor(LZ_F64, LZ_SHAPE(1, 3, 4), ((double[]){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
    for (int align = 0; align < 2; align++)
        EXPECT(lz_grid_sample(X, lz_affine_grid(one, LZ_SHAPE(1, C, D, H, W), align),
                              .align_corners = align),
               LZ_F64, LZ_SHAPE(1, C, D, H, W), x, 1e-11);
    lz_tensor *flat = at_tensor(LZ_F64, LZ_SHAPE(1, 2, 3), ((double[]){1, 0.5, 0, 0, 1, -0.25}));
    same_values(lz_affine_grid(flat, LZ_SHAPE(1, 1, 3, 2), false),
                lz_affine_grid_generator(flat, LZ_SHAPE(1, 1, 3, 2), false), "affine");
    /* what is nowhere has no value */
    EXPECT(lz_grid_sample(X, lz_full(LZ_F64, LZ_SHAPE(1, 1, 1, 1, 3), NAN)), LZ_F64,
           LZ_SHAPE(1, C, 1, 1, 1), ((double[]){0, 0}), 0);
    BAD(lz_grid_sample(X, G2), LZ_ESHAPE, "[1, 2, 5, 2]");
    BAD(lz_grid_sample(X, G, .mode = "bicubic"), LZ_EINVAL, "bicubic");
    BAD(lz_grid_sample(I2, G2, .padding_mode = "wrap"), LZ_EINVAL, "reflection");
    BAD(lz_affine_grid(flat, LZ_SHAPE(1, 1, 2, 3, 2), false), LZ_ESHAPE, "[1, 2, 3]");
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("signals and matrices");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, windows, 0, at_devices());
    tcase_add_loop_test(t, short_time_transforms, 0, at_devices());
    tcase_add_loop_test(t, exponentials, 0, at_devices());
    tcase_add_loop_test(t, spectra, 0, at_devices());
    tcase_add_loop_test(t, resized, 0, at_devices());
    tcase_add_loop_test(t, sampled_volumes, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
