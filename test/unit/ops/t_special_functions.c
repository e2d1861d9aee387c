/* t_special_functions.c - the special functions of ops/special/torch_special.c against values of
 * mpmath (special_values.def), in each float dtype: f64 within a few ulp, of oscillating functions
 * beside their zeros within a few of their amplitude; narrower ones as rounded from f64. */
#include "aten.h"

typedef lz_tensor *function(lz_tensor *x, const lz_site *site);
static const struct value {
    const char *name;
    function *f;
    double x, value;
} values[] = {
#define VALUE(fn, x, value) {#fn, lz_##fn##_at, x, value},
#include "special_values.def"
};
enum { NVALUES = sizeof values / sizeof *values };
static const struct dtype {
    lz_dtype dtype;
    double eps, least, ulps; /* least: the smallest number */
} dtypes[] = {{LZ_F64, 0x1p-52, 0x1p-1074, 8},
              {LZ_F32, 0x1p-23, 0x1p-149, 1},
              {LZ_F16, 0x1p-10, 0x1p-24, 1},
              {LZ_BF16, 0x1p-7, 0x1p-133, 1}};
enum { NDTYPES = sizeof dtypes / sizeof *dtypes };

/* Of Bessel functions beside their zeros. */
static double amplitude(const struct value *v)
{
    return strstr(v->name, "bessel") ? sqrt(2 / (M_PI * fmax(1, fabs(v->x)))) : 0;
}

static bool good(const struct value *v, const struct dtype *d, double got, double want)
{
    if (isnan(want) || isinf(want) || isnan(got) || isinf(got))
        return (isnan(want) && isnan(got)) || got == want;
    if (want == 0)
        return got == 0 && (strcmp(v->name, "special_i1") != 0 || signbit(got) == signbit(want));
    double ulp = fmax(d->eps * fabs(want), d->least), more = d->dtype == LZ_F64 ? amplitude(v) : 0;
    return fabs(got - want) <= d->ulps * (ulp + 2 * d->eps * more);
}

START_TEST(values_of_mpmath)
{
    ON_DEVICE(_i / NDTYPES);
    const struct dtype *d = &dtypes[_i % NDTYPES];
    for (int i = 0; i < NVALUES; i++) {
        const struct value *v = &values[i];
        double x, got, want;
        lz_scope_begin();
        lz_tensor *t = at_tensor(d->dtype, LZ_SHAPE(1), &v->x);
        OK(lz_to_host(lz_to(t, LZ_F64), &x, sizeof x));
        if (x == v->x || isnan(x)) { /* the dtype has the argument */
            OK(lz_to_host(lz_to(at_tensor(d->dtype, LZ_SHAPE(1), &v->value), LZ_F64), &want, 8));
            OK(lz_to_host(lz_to(v->f(t, LZ_SITE), LZ_F64), &got, sizeof got));
            ck_assert_msg(good(v, d, got, want), "%s(%.17g) of %s is %.17g, not %.17g", v->name, x,
                          lz_dtype_name(d->dtype), got, want);
        }
        lz_scope_end();
    }
}
END_TEST

/* ---- polynomials, by what they are in closed form ---- */

typedef lz_tensor *polynomial(lz_tensor *x, int n, const lz_site *site);
typedef double closed(double x);
static double t5(double x)
{
    return ((16 * x * x - 20) * x * x + 5) * x;
}
static double u4(double x)
{
    return (16 * x * x - 12) * x * x + 1;
}
static double v3(double x)
{
    return ((8 * x - 4) * x - 4) * x + 1;
}
static double w3(double x)
{
    return ((8 * x + 4) * x - 4) * x - 1;
}
static double h4(double x)
{
    return (16 * x * x - 48) * x * x + 12;
}
static double he4(double x)
{
    return (x * x - 6) * x * x + 3;
}
static double l3(double x)
{
    return (((-x + 9) * x - 18) * x + 6) / 6;
}
static double p4(double x)
{
    return ((35 * x * x - 30) * x * x + 3) / 8;
}
#define ROW(name, n, closed, shifted)                                                              \
    {                                                                                              \
        lz_special_##name##_at, n, closed, shifted                                                 \
    }
static const struct degree {
    polynomial *f;
    int n;
    closed *value;
    bool shifted;
} degrees[] = {ROW(chebyshev_polynomial_t, 5, t5, false),
               ROW(chebyshev_polynomial_u, 4, u4, false),
               ROW(chebyshev_polynomial_v, 3, v3, false),
               ROW(chebyshev_polynomial_w, 3, w3, false),
               ROW(shifted_chebyshev_polynomial_t, 5, t5, true),
               ROW(shifted_chebyshev_polynomial_u, 4, u4, true),
               ROW(shifted_chebyshev_polynomial_v, 3, v3, true),
               ROW(shifted_chebyshev_polynomial_w, 3, w3, true),
               ROW(hermite_polynomial_h, 4, h4, false),
               ROW(hermite_polynomial_he, 4, he4, false),
               ROW(laguerre_polynomial_l, 3, l3, false),
               ROW(legendre_polynomial_p, 4, p4, false)};

START_TEST(polynomials)
{
    enum { N = 40 };
    double x[N], want[N];
    ON_DEVICE(_i);
    for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++)
        for (int narrow = 0; narrow < 2; narrow++) {
            const struct degree *g = &degrees[k];
            lz_tensor *X = at_random(narrow ? LZ_F32 : LZ_F64, LZ_SHAPE(N), -2, 2, x);
            for (int i = 0; i < N; i++)
                want[i] = g->value(g->shifted ? 2 * x[i] - 1 : x[i]);
            EXPECT(g->f(X, g->n, LZ_SITE), lz_dtype_of(X), LZ_SHAPE(N), want,
                   narrow ? 1e-6 : 1e-12);
            for (int i = 0; i < N; i++)
                want[i] = 1;
            EXPECT(g->f(X, 0, LZ_SITE), lz_dtype_of(X), LZ_SHAPE(N), want, 0);
            memset(want, 0, sizeof want);
            EXPECT(g->f(X, -1, LZ_SITE), lz_dtype_of(X), LZ_SHAPE(N), want, 0);
            BAD(g->f(X, 1025, LZ_SITE), LZ_EINVAL, "at most 1024");
            BAD(g->f(lz_to(X, LZ_C64), 2, LZ_SITE), LZ_EDTYPE, "complex");
        }
    for (int i = 0; i < N; i++)
        x[i] = cos(0.07 * i), want[i] = cos(300 * acos(x[i]));
    EXPECT(lz_special_chebyshev_polynomial_t(at_tensor(LZ_F64, LZ_SHAPE(N), x), 300), LZ_F64,
           LZ_SHAPE(N), want, 1e-9);
}
END_TEST

/* By mpmath. */
START_TEST(kaiser_windows)
{
    ON_DEVICE(_i);
    static const double five[] = {0.00133251399790241935, 0.340393622440188504, 1,
                                  0.340393622440188504, 0.00133251399790241935};
    EXPECT(lz_kaiser_window(LZ_F64, 5, false, 8.6), LZ_F64, LZ_SHAPE(5), five, 1e-12);
    EXPECT(lz_kaiser_window(LZ_F32, 4, true, 8.6), LZ_F32, LZ_SHAPE(4), five, 1e-6);
    EXPECT(lz_kaiser_window(LZ_F64, 1, true, 3), LZ_F64, LZ_SHAPE(1), ((double[]){1}), 0);
    double middle;
    OK(lz_to_host(lz_slice(lz_kaiser_window(LZ_F64, 5, false, 1e4), 0, 2, 3, 1), &middle, 8));
    ck_assert(middle == 1);
    BAD(lz_kaiser_window(LZ_I32, 5, false, 1), LZ_EDTYPE, "floats");
    BAD(lz_kaiser_window(LZ_F32, -5, false, 1), LZ_EINVAL, "-5 elements");
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("special functions");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, values_of_mpmath, 0, at_devices() * NDTYPES);
    tcase_add_loop_test(t, polynomials, 0, at_devices());
    tcase_add_loop_test(t, kaiser_windows, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
