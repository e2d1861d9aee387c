/* t_grad_complex.c - gradients of complex operations: for a real loss L and z = x + iy, dL/dx + i
 * dL/dy (PyTorch's convention), against central differences of the two parts, on every device. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <string.h>

enum { N = 6 };
typedef lz_tensor *(*fn)(lz_tensor **x);
static const char *const devices[] = {"REF:0", "CPU:0"};

static double noise(unsigned *r)
{
    *r = *r * 1664525u + 1013904223u;
    return (double)(*r >> 8) / 16777216.0;
}

/* ---- the functions under test ---- */
#define EW1(NAME)                                                                                  \
    static lz_tensor *f_##NAME(lz_tensor **x)                                                      \
    {                                                                                              \
        return lz_hlo_ew_at(#NAME, x, 1, LZ_SITE);                                                 \
    }
#define EW2(NAME)                                                                                  \
    static lz_tensor *f_##NAME(lz_tensor **x)                                                      \
    {                                                                                              \
        return lz_hlo_ew_at(#NAME, x, 2, LZ_SITE);                                                 \
    }
/* clang-format off */
EW1(abs) EW1(cbrt) EW1(cosine) EW1(exponential) EW1(exponential_minus_one) EW1(imag) EW1(log) EW1(log_plus_one)
EW1(logistic) EW1(negate) EW1(real) EW1(rsqrt) EW1(sign) EW1(sine) EW1(sqrt) EW1(tan) EW1(tanh)
EW2(add) EW2(atan2) EW2(divide) EW2(multiply) EW2(power) EW2(subtract)
    /* clang-format on */
    static lz_tensor *f_complex(lz_tensor **x)
{
    return lz_complex(lz_imag(x[0]), lz_real(x[1]));
}
static lz_tensor *f_squared_magnitude(lz_tensor **x)
{
    return lz_mul(x[0], lz_complex(lz_real(x[0]), lz_neg(lz_imag(x[0]))));
}
static lz_tensor *f_from_real(lz_tensor **x)
{
    return lz_mul(lz_to(lz_abs(x[0]), lz_dtype_of(x[0])), x[1]);
}
static lz_tensor *f_matmul(lz_tensor **x)
{
    return lz_matmul(lz_reshape(x[0], LZ_SHAPE(2, 3)), lz_reshape(x[1], LZ_SHAPE(3, 2)));
}
static lz_tensor *f_sum(lz_tensor **x)
{
    return lz_sum(lz_mul(x[0], x[1]));
}
static lz_tensor *f_prod(lz_tensor **x)
{
    return lz_hlo_reduce("multiply", lz_reshape(x[0], LZ_SHAPE(2, 3)), ((int64_t[]){1}), 1);
}

static lz_tensor *f_fft(lz_tensor **x)
{
    return lz_hlo_fft(LZ_HLO_FFT, lz_reshape(x[0], LZ_SHAPE(2, 3)), ((int64_t[]){2, 3}), 2);
}
static lz_tensor *f_ifft(lz_tensor **x)
{
    return lz_hlo_fft(LZ_HLO_IFFT, x[0], ((int64_t[]){6}), 1);
}
static lz_tensor *f_rfft(lz_tensor **x)
{
    return lz_hlo_fft(LZ_HLO_RFFT, lz_reshape(lz_real(x[0]), LZ_SHAPE(2, 3)), ((int64_t[]){2, 3}),
                      2);
}
static lz_tensor *f_rfft_even(lz_tensor **x)
{
    return lz_hlo_fft(LZ_HLO_RFFT, lz_imag(x[0]), ((int64_t[]){6}), 1);
}
static lz_tensor *f_irfft(lz_tensor **x)
{
    return lz_hlo_fft(LZ_HLO_IRFFT, lz_reshape(x[0], LZ_SHAPE(3, 2)), ((int64_t[]){3, 2}), 2);
}
static lz_tensor *f_irfft_odd(lz_tensor **x)
{
    return lz_hlo_fft(LZ_HLO_IRFFT, lz_reshape(x[0], LZ_SHAPE(2, 3)), ((int64_t[]){5}), 1);
}

static const struct gcase {
    const char *name;
    fn f;
    int nin;
} cases[] = {
    {"abs", f_abs, 1},
    {"cbrt", f_cbrt, 1},
    {"cosine", f_cosine, 1},
    {"exponential", f_exponential, 1},
    {"exponential_minus_one", f_exponential_minus_one, 1},
    {"imag", f_imag, 1},
    {"log", f_log, 1},
    {"log_plus_one", f_log_plus_one, 1},
    {"logistic", f_logistic, 1},
    {"negate", f_negate, 1},
    {"real", f_real, 1},
    {"rsqrt", f_rsqrt, 1},
    {"sign", f_sign, 1},
    {"sine", f_sine, 1},
    {"sqrt", f_sqrt, 1},
    {"tan", f_tan, 1},
    {"tanh", f_tanh, 1},
    {"add", f_add, 2},
    {"atan2", f_atan2, 2},
    {"divide", f_divide, 2},
    {"multiply", f_multiply, 2},
    {"power", f_power, 2},
    {"subtract", f_subtract, 2},
    {"complex", f_complex, 2},
    {"squared_magnitude", f_squared_magnitude, 1},
    {"from_real", f_from_real, 2},
    {"matmul", f_matmul, 2},
    {"sum", f_sum, 2},
    {"prod", f_prod, 1},
    {"fft", f_fft, 1},
    {"ifft", f_ifft, 1},
    {"rfft", f_rfft, 1},
    {"rfft_even", f_rfft_even, 1},
    {"irfft", f_irfft, 1},
    {"irfft_odd", f_irfft_odd, 1},
};
enum { NCASES = sizeof cases / sizeof *cases };

/* ---- the harness ---- */
typedef struct point {
    double z[2][N][2]; /* of two inputs, N elements, the parts */
} point;

/* Away from zeros, poles and branch cuts. */
static void start(point *p)
{
    unsigned seed = 5;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < N; k++) {
            p->z[i][k][0] = 0.4 + 0.8 * noise(&seed);
            p->z[i][k][1] = (noise(&seed) - 0.5) * 1.2;
        }
}

/* The sum of the parts with fixed weights. */
static lz_tensor *weigh(lz_tensor *t)
{
    static double w[4 * N];
    unsigned seed = 7;
    int64_t n = lz_numel(t);
    ck_assert_msg(n > 0 && n <= 2 * N, "%s", lz_last_error_text());
    for (int i = 0; i < 4 * N; i++)
        w[i] = 0.5 + noise(&seed);
    lz_tensor *a = lz_from_host(LZ_F64, lz_shape_of(t), w),
              *b = lz_from_host(LZ_F64, lz_shape_of(t), w + 2 * N);
    return lz_add(lz_sum(lz_mul(lz_to(lz_real(t), LZ_F64), a)),
                  lz_sum(lz_mul(lz_to(lz_imag(t), LZ_F64), b)));
}

static lz_tensor *loss_at(const struct gcase *c, const point *p, lz_tensor **x)
{
    for (int i = 0; i < c->nin; i++)
        x[i] = lz_from_host(LZ_C128, LZ_SHAPE(N), p->z[i]);
    return weigh(c->f(x));
}

static double value(const struct gcase *c, const point *p)
{
    lz_tensor *x[2];
    lz_scope_begin();
    double v = lz_item(loss_at(c, p, x));
    lz_scope_end();
    ck_assert_msg(isfinite(v), "%s: %s", c->name, lz_last_error_text());
    return v;
}

/* The tangent along some direction: the sum of products of the parts with the gradient's. */
static void compare_tangent(const struct gcase *c, const point *p, double got[2][N][2])
{
    double along[2][N][2], want = 0, size = 1;
    lz_tensor *x[2], *t[2], *d;
    unsigned seed = 3;
    lz_scope_begin();
    lz_tensor *loss = loss_at(c, p, x);
    for (int i = 0; i < c->nin; i++) {
        for (int e = 0; e < 2 * N; e++) {
            double a = along[i][e / 2][e % 2] = noise(&seed) - 0.5;
            want += a * got[i][e / 2][e % 2];
            size += fabs(a * got[i][e / 2][e % 2]);
        }
        t[i] = lz_from_host(LZ_C128, LZ_SHAPE(N), along[i]);
    }
    ck_assert_msg(lz_jvp(&loss, 1, x, t, (size_t)c->nin, &d) == LZ_OK, "%s: %s", c->name,
                  lz_last_error_text());
    double have = lz_item(d);
    lz_scope_end();
    ck_assert_msg(fabs(have - want) <= 1e-9 * size, "%s: tangent %.10g, by the gradient %.10g",
                  c->name, have, want);
}

START_TEST(against_differences)
{
    const struct gcase *c = &cases[_i % NCASES];
    ck_assert_int_eq(lz_set_device(devices[_i / NCASES]), LZ_OK);
    point p;
    lz_tensor *x[2], *g[2];
    double got[2][N][2];
    start(&p);
    lz_scope_begin();
    lz_tensor *loss = loss_at(c, &p, x);
    ck_assert_msg(lz_grad(loss, x, (size_t)c->nin, g) == LZ_OK, "%s: %s", c->name,
                  lz_last_error_text());
    for (int i = 0; i < c->nin; i++)
        ck_assert_msg(lz_to_host(g[i], got[i], sizeof got[i]) == LZ_OK, "%s: %s", c->name,
                      lz_last_error_text());
    lz_scope_end();
    compare_tangent(c, &p, got);
    for (int e = 0; e < c->nin * N * 2; e++) {
        int i = e / (2 * N), k = e / 2 % N, part = e % 2;
        const double h = 0x1p-17;
        double at = p.z[i][k][part];
        p.z[i][k][part] = at + h;
        double up = value(c, &p);
        p.z[i][k][part] = at - h;
        double down = value(c, &p);
        p.z[i][k][part] = at;
        double want = (up - down) / (2 * h);
        ck_assert_msg(fabs(got[i][k][part] - want) <= 1e-6 * (1 + fabs(want)),
                      "%s: input %d element %d part %d: %.10g, by differences %.10g", c->name, i, k,
                      part, got[i][k][part], want);
    }
}
END_TEST

/* torch: z = 3 + 4i; abs(z).backward() gives 0.6 + 0.8i, real(z * z) 6 - 8i, and abs at 0 gives
 * 0. */
START_TEST(convention)
{
    float g[2], z0[2] = {0, 0}, z1[2] = {3, 4};
    lz_scope_begin();
    lz_tensor *z = lz_from_host(LZ_C64, LZ_SCALAR, z1), *d;
    ck_assert_int_eq(lz_grad(lz_abs(z), &z, 1, &d), LZ_OK);
    ck_assert_int_eq(lz_dtype_of(d), LZ_C64);
    ck_assert_int_eq(lz_to_host(d, g, sizeof g), LZ_OK);
    ck_assert(fabsf(g[0] - 0.6f) < 1e-6f && fabsf(g[1] - 0.8f) < 1e-6f);
    ck_assert_int_eq(lz_grad(lz_real(lz_mul(z, z)), &z, 1, &d), LZ_OK);
    ck_assert_int_eq(lz_to_host(d, g, sizeof g), LZ_OK);
    ck_assert(g[0] == 6 && g[1] == -8);
    z = lz_from_host(LZ_C64, LZ_SCALAR, z0);
    ck_assert_int_eq(lz_grad(lz_abs(z), &z, 1, &d), LZ_OK);
    ck_assert_int_eq(lz_to_host(d, g, sizeof g), LZ_OK);
    ck_assert(g[0] == 0 && g[1] == 0);
    lz_scope_end();
}
END_TEST

START_TEST(a_complex_loss_needs_a_direction)
{
    float z1[2] = {3, 4}, one[2] = {0, 1}, g[2];
    lz_scope_begin();
    lz_tensor *z = lz_from_host(LZ_C64, LZ_SCALAR, z1), *d;
    lz_tensor *w = lz_mul(z, z);
    ck_assert_int_eq(lz_grad(w, &z, 1, &d), LZ_EDTYPE);
    ck_assert_int_eq(lz_grad(w, &z, 1, &d, .grad_output = lz_from_host(LZ_C64, LZ_SCALAR, one)),
                     LZ_OK);
    ck_assert_int_eq(lz_to_host(d, g, sizeof g), LZ_OK);
    ck_assert(g[0] == 8 && g[1] == 6); /* i times the conjugate of 2z */
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_complex");
    TCase *t = tcase_create("rules");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, against_differences, 0, 2 * NCASES);
    tcase_add_test(t, convention);
    tcase_add_test(t, a_complex_loss_needs_a_direction);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
