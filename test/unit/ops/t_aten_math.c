/* t_aten_math.c - elementwise operators made of several operations, against formulas in double:
 * random and special values, dtypes, numbers as operands, integers, bounds and options. */
#include "aten.h"

static const double special[] = {NAN, INFINITY, -INFINITY, 0.0,  -0.0,  1,    -1,    0.5,    -0.5,
                                 2,   -2,       3,         -3,   1e-40, 1e30, -1e30, 20.5,   -20.5,
                                 6,   88,       -88,       1e-7, 2.5,   -2.5, 3.5,   0.9999, 127};
enum { NSPECIAL = sizeof special / sizeof *special, NRANDOM = 64 };

static double sgn(double x)
{
    return (x > 0) - (x < 0);
}

/* ---- one operand ---- */

typedef lz_tensor *un(lz_tensor *x, const lz_site *site);
#define R1(name, expr)                                                                             \
    static double r_##name(double x)                                                               \
    {                                                                                              \
        return (expr);                                                                             \
    }
/* clang-format off */
R1(exp2, exp2(x))
R1(frac, x - trunc(x))
R1(deg2rad, x * (M_PI / 180))
R1(rad2deg, x * (180 / M_PI))
R1(hardsigmoid, x <= -3 ? 0 : x >= 3 ? 1 : x / 6 + 0.5)
R1(hardswish, isnan(x) ? x : x * fmin(fmax(x + 3, 0), 6) / 6)
R1(isinf, isinf(x) != 0)
R1(isnan, isnan(x) != 0)
R1(isneginf, x == -INFINITY)
R1(isposinf, x == INFINITY)
R1(log10, log10(x))
R1(log2, log2(x))
R1(log_sigmoid, x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x)))
R1(mish, x * tanh(x > 30 ? x : log1p(exp(x))))
R1(reciprocal, 1 / x)
R1(relu6, isnan(x) ? x : fmin(fmax(x, 0), 6))
R1(selu, 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1(x)))
R1(signbit, signbit(x) != 0)
R1(sinc, x == 0 ? 1 : sin(M_PI * x) / (M_PI * x))
R1(softsign, x / (1 + fabs(x)))
R1(square, x * x)
R1(tanhshrink, x - tanh(x))
R1(trunc, trunc(x))
R1(ceil, ceil(x))
R1(round, rint(x))
R1(abs, fabs(x))
R1(acos, acos(x))
R1(acosh, acosh(x))
R1(asin, asin(x))
R1(asinh, asinh(x))
R1(atan, atan(x))
R1(atanh, atanh(x))
R1(cos, cos(x))
R1(cosh, cosh(x))
R1(sinh, sinh(x))
R1(tan, tan(x))
/* clang-format on */
#define F_(name, tol, loose)                                                                       \
    {                                                                                              \
#name, lz_##name##_at, r_##name, tol, loose                                                \
    }
static const struct unary {
    const char *name;
    un *f;
    double (*ref)(double);
    double tol;
    bool near_zero; /* cancels near 0, or angles that are large: only within 100 */
} unaries[] = {
    F_(deg2rad, 1e-6, false),     F_(rad2deg, 1e-6, false),     F_(exp2, 4e-6, false),
    F_(frac, 1e-6, false),        F_(hardsigmoid, 1e-6, false), F_(hardswish, 1e-6, false),
    F_(isinf, 0, false),          F_(isnan, 0, false),          F_(isneginf, 0, false),
    F_(isposinf, 0, false),       F_(log10, 1e-6, false),       F_(log2, 1e-6, false),
    F_(log_sigmoid, 4e-6, false), F_(mish, 4e-6, false),        F_(reciprocal, 1e-6, false),
    F_(relu6, 0, false),          F_(selu, 4e-6, false),        F_(sinc, 1e-4, true),
    F_(softsign, 1e-6, false),    F_(square, 1e-6, false),      F_(tanhshrink, 2e-4, true),
    F_(trunc, 0, false),          F_(ceil, 0, false),           F_(abs, 0, false),
    F_(acos, 4e-6, false),        F_(acosh, 4e-6, false),       F_(asin, 4e-6, false),
    F_(asinh, 4e-6, false),       F_(atan, 4e-6, false),        F_(atanh, 4e-6, false),
    F_(cos, 4e-5, true),          F_(cosh, 4e-6, false),        F_(sinh, 4e-6, false),
    F_(tan, 4e-5, true),          F_(round, 0, false),          F_(signbit, 0, false),
};
enum { NUNARY = sizeof unaries / sizeof *unaries };

static bool gives_bool(const char *name)
{
    return strncmp(name, "is", 2) == 0 || strcmp(name, "signbit") == 0;
}

static int unary_values(const struct unary *u, double *v)
{
    int n = 0;
    for (int i = 0; i < NSPECIAL; i++)
        if ((!u->near_zero || !(fabs(special[i]) > 100)) &&
            !(strcmp(u->name, "signbit") == 0 && isnan(special[i])))
            v[n++] = special[i];
    at_fill(v + n, NRANDOM, -8, 8);
    return n + NRANDOM;
}

START_TEST(one_operand)
{
    ON_DEVICE(_i);
    for (int k = 0; k < NUNARY; k++)
        for (int d = 0; d < 2; d++) {
            const struct unary *u = &unaries[k];
            double v[128], want[128];
            lz_dtype dt = d ? LZ_F64 : LZ_F32;
            lz_scope_begin();
            int n = unary_values(u, v);
            for (int i = 0; i < n; i++) {
                v[i] = at_in(dt, v[i]);
                want[i] = u->ref(v[i]);
            }
            at_expect_at(u->f(at_tensor(dt, LZ_SHAPE(n), v), LZ_SITE),
                         gives_bool(u->name) ? LZ_BOOL : dt, LZ_SHAPE(n), want,
                         d && !u->near_zero ? 1e-13
                         : d                ? 1e-9
                                            : u->tol,
                         u->name, __LINE__);
            lz_scope_end();
        }
}
END_TEST

/* Of a number next to 10^e the logarithm is the integer e, if that is the nearest of the dtype:
 * denormal numbers are less near than others, down to where it is not. */
START_TEST(logarithms_of_denormal_powers)
{
    ON_DEVICE(_i);
    static const struct {
        lz_dtype dtype;
        int lowest, highest;
    } ends[] = {{LZ_F32, -45, -28}, {LZ_F64, -324, -290}};
    for (int k = 0; k < 2; k++) {
        enum { MOST = 64 };
        double x[MOST], got[MOST];
        int n = 0, whole = 0;
        bool wide = ends[k].dtype == LZ_F64;
        for (int e = ends[k].lowest; e <= ends[k].highest; e++, n++) {
            char text[16];
            snprintf(text, sizeof text, "1e%d", e);
            x[n] = wide ? strtod(text, NULL) : (double)strtof(text, NULL);
        }
        lz_scope_begin();
        lz_tensor *t = lz_to(lz_from_host(LZ_F64, LZ_SHAPE(n), x), ends[k].dtype);
        OK(lz_to_host(lz_to(lz_log10(t), LZ_F64), got, (size_t)n * 8));
        lz_scope_end();
        for (int i = 0; i < n; i++) {
            double want = wide ? (double)log10l(x[i]) : (double)(float)log10(x[i]);
            bool integral = want == rint(want);
            whole += integral;
            ck_assert_msg(integral ? got[i] == want : fabs(got[i] / want - 1) < 1e-6,
                          "log10(%g) is %.17g, not %.17g", x[i], got[i], want);
        }
        ck_assert_int_ge(whole, 10);
    }
}
END_TEST

START_TEST(one_operand_of_other_dtypes)
{
    OK(lz_set_device("REF"));
    const double v[] = {-3, -2, -1, 0, 1, 2, 5, 9};
    for (int k = 0; k < NUNARY; k++) {
        const struct unary *u = &unaries[k];
        double want[8];
        lz_tensor *i32 = at_tensor(LZ_I32, LZ_SHAPE(2, 4), v);
        for (int i = 0; i < 8; i++)
            want[i] = u->ref(v[i]);
        bool keep = !strcmp(u->name, "relu6") || !strcmp(u->name, "square") ||
                    !strcmp(u->name, "trunc") || !strcmp(u->name, "ceil") ||
                    !strcmp(u->name, "round") || !strcmp(u->name, "abs");
        if (!strcmp(u->name, "frac"))
            BAD(lz_frac(i32), LZ_EDTYPE, "i32");
        else
            at_expect_at(u->f(i32, LZ_SITE),
                         gives_bool(u->name) ? LZ_BOOL
                         : keep              ? LZ_I32
                                             : LZ_F32,
                         LZ_SHAPE(2, 4), want, 1e-4, u->name, __LINE__);
        /* 16-bit floats are computed in f32: one rounding at the end. Sizes 0 and 1 */
        at_expect_at(u->f(at_tensor(LZ_BF16, LZ_SHAPE(1, 8), v), LZ_SITE),
                     gives_bool(u->name) ? LZ_BOOL : LZ_BF16, LZ_SHAPE(1, 8), want, 4.1e-3, u->name,
                     __LINE__);
        ck_assert_int_eq(lz_numel(u->f(lz_zeros(LZ_F32, LZ_SHAPE(3, 0)), LZ_SITE)), 0);
        at_expect_at(u->f(lz_scalar(LZ_F64, 2.5), LZ_SITE), gives_bool(u->name) ? LZ_BOOL : LZ_F64,
                     LZ_SCALAR, &(double){u->ref(2.5)}, 1e-12, u->name, __LINE__);
    }
}
END_TEST

/* ---- two operands ---- */

typedef lz_tensor *bin(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define R2(name, expr)                                                                             \
    static double q_##name(double a, double b)                                                     \
    {                                                                                              \
        return (expr);                                                                             \
    }
static double py_mod(double a, double b)
{
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static double py_floordiv(double a, double b)
{
    if (b == 0)
        return a / b;
    double r = fmod(a, b), q = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0))
        q -= 1;
    if (q == 0)
        return copysign(0, a / b);
    double f = floor(q);
    return q - f > 0.5 ? f + 1 : f;
}
static double log_add(double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    return a == b ? a + M_LN2 : fmax(a, b) + log1p(exp(-fabs(a - b)));
}
/* clang-format off */
R2(copysign, copysign(a, b))
R2(floor_divide, py_floordiv(a, b))
R2(fmax, isnan(a) ? b : isnan(b) ? a : a >= b ? a : b)
R2(fmin, isnan(a) ? b : isnan(b) ? a : a <= b ? a : b)
R2(heaviside, a == 0 ? b : a > 0)
R2(hypot, hypot(a, b))
R2(ldexp, isfinite(b) && (isinf(a) || a == 0) ? a : a * exp2(b))
R2(logaddexp, log_add(a, b))
R2(logaddexp2, log_add(a * M_LN2, b * M_LN2) / M_LN2)
R2(remainder, py_mod(a, b))
R2(rsub, b - a)
R2(xlog1py, a == 0 && !isnan(b) ? 0 : a * log1p(b))
R2(xlogy, a == 0 && !isnan(b) ? 0 : a * log(b))
/* clang-format on */
#define G_(name, tol)                                                                              \
    {                                                                                              \
#name, lz_##name##_at, q_##name, tol                                                       \
    }
static const struct binary {
    const char *name;
    bin *f;
    double (*ref)(double, double);
    double tol;
} binaries[] = {
    G_(copysign, 0),      G_(floor_divide, 0), G_(fmax, 0),     G_(fmin, 0),
    G_(heaviside, 0),     G_(hypot, 1e-6),     G_(ldexp, 4e-6), G_(logaddexp, 2e-5),
    G_(logaddexp2, 2e-5), G_(remainder, 1e-5), G_(rsub, 1e-6),  G_(xlog1py, 4e-6),
    G_(xlogy, 4e-6),
};
enum { NBINARY = sizeof binaries / sizeof *binaries };

START_TEST(two_operands)
{
    ON_DEVICE(_i);
    for (int k = 0; k < NBINARY; k++)
        for (int d = 0; d < 2; d++) {
            const struct binary *u = &binaries[k];
            enum { M = NSPECIAL + 13 };
            static double a[M], b[M], want[M * M];
            lz_dtype dt = d ? LZ_F64 : LZ_F32;
            lz_scope_begin();
            memcpy(a, special, sizeof special);
            memcpy(b, special, sizeof special);
            at_fill(a + NSPECIAL, 13, -6, 6);
            at_fill(b + NSPECIAL, 13, -6, 6);
            for (int i = 0; i < M; i++) {
                a[i] = at_in(dt, a[i]);
                b[i] = at_in(dt, b[i]);
                if (strcmp(u->name, "copysign") == 0 && isnan(b[i]))
                    b[i] = 7; /* the sign of a NaN is unspecified */
                if (fabs(a[i]) < 1e-30 || fabs(b[i]) < 1e-30) { /* denormal divisors overflow */
                    a[i] = fabs(a[i]) < 1e-30 && a[i] != 0 ? 1e-20 : a[i];
                    b[i] = fabs(b[i]) < 1e-30 && b[i] != 0 ? 1e-20 : b[i];
                    a[i] = at_in(dt, a[i]), b[i] = at_in(dt, b[i]);
                }
            }
            for (int i = 0; i < M; i++)
                for (int j = 0; j < M; j++) {
                    double w = u->ref(a[i], b[j]);
                    if (strcmp(u->name, "floor_divide") == 0 && !d) /* in the dtype's arithmetic */
                        w = isfinite((float)w) && fabs(w) > 1e6 ? NAN : w;
                    want[i * M + j] = w;
                }
            lz_tensor *x = at_tensor(dt, LZ_SHAPE(M, 1), a), *y = at_tensor(dt, LZ_SHAPE(M), b);
            lz_tensor *r = u->f(x, y, LZ_SITE);
            if (strcmp(u->name, "floor_divide") == 0 && !d)
                r = lz_where(lz_logical_and(lz_isfinite(r), lz_gt_scalar(lz_abs(r), 1e6)),
                             lz_full(LZ_F32, LZ_SCALAR, NAN), r);
            at_expect_at(r, dt, LZ_SHAPE(M, M), want, d ? fmin(u->tol, 1e-12) : u->tol, u->name,
                         __LINE__);
            lz_scope_end();
        }
}
END_TEST

START_TEST(integers)
{
    ON_DEVICE(_i);
    const double a[] = {7, -7, 7, -7, 0, 5, -128, 127, 1}, b[] = {2, 2, -2, -2, 3, 0, -1, -128, 1};
    lz_tensor *x = at_tensor(LZ_I8, LZ_SHAPE(9), a), *y = at_tensor(LZ_I8, LZ_SHAPE(9), b);
    EXPECT(lz_floor_divide(x, y), LZ_I8, LZ_SHAPE(9),
           ((double[]){3, -4, -4, 3, 0, -1, -128, -1, 1}), 0);
    EXPECT(lz_div_mode(x, y, "floor"), LZ_I8, LZ_SHAPE(9),
           ((double[]){3, -4, -4, 3, 0, -1, -128, -1, 1}), 0);
    EXPECT(lz_div_mode(x, y, "trunc"), LZ_I8, LZ_SHAPE(9),
           ((double[]){3, -3, -3, 3, 0, -1, -128, 0, 1}), 0);
    EXPECT(lz_remainder(x, y), LZ_I8, LZ_SHAPE(9), ((double[]){1, 1, -1, -1, 0, 5, 0, -1, 0}), 0);
    EXPECT(lz_div_mode(x, y, NULL), LZ_F32, LZ_SHAPE(9),
           ((double[]){3.5, -3.5, -3.5, 3.5, 0, INFINITY, 128, -127.0 / 128, 1}), 1e-6);
    lz_tensor *u = at_tensor(LZ_U8, LZ_SHAPE(3), (double[]){250, 7, 9}),
              *w = at_tensor(LZ_U8, LZ_SHAPE(3), (double[]){100, 3, 0});
    EXPECT(lz_floor_divide(u, w), LZ_U8, LZ_SHAPE(3), ((double[]){2, 2, 255}), 0);
    EXPECT(lz_remainder(u, w), LZ_U8, LZ_SHAPE(3), ((double[]){50, 1, 9}), 0);
    EXPECT(lz_remainder(u, x = at_tensor(LZ_I8, LZ_SHAPE(3), (double[]){-100, 3, 2})), LZ_I16,
           LZ_SHAPE(3), ((double[]){-50, 1, 1}), 0);
    BAD(lz_div_mode(u, w, "up"), LZ_EINVAL, "up");
    BAD(lz_floor_divide(lz_ones(LZ_BOOL, LZ_SHAPE(2)), lz_ones(LZ_BOOL, LZ_SHAPE(2))), LZ_EDTYPE,
        "bool");
}
END_TEST

static int64_t i_or(int64_t a, int64_t b)
{
    return a | b;
}
static int64_t i_xor(int64_t a, int64_t b)
{
    return a ^ b;
}
static int64_t l_or(int64_t a, int64_t b)
{
    return a || b;
}
static int64_t l_xor(int64_t a, int64_t b)
{
    return !a != !b;
}
static int64_t i_ne(int64_t a, int64_t b)
{
    return a != b;
}

START_TEST(bits_and_truths)
{
    ON_DEVICE(_i);
    static const struct {
        bin *f;
        int64_t (*ref)(int64_t, int64_t);
        lz_dtype gives;
    } rows[] = {{lz_bitwise_or_at, i_or, LZ_I32},
                {lz_bitwise_xor_at, i_xor, LZ_I32},
                {lz_logical_or_at, l_or, LZ_BOOL},
                {lz_logical_xor_at, l_xor, LZ_BOOL},
                {lz_ne_at, i_ne, LZ_BOOL}};
    double a[12], b[4], want[12];
    lz_tensor *x = at_random(LZ_I32, LZ_SHAPE(3, 4), -3, 3, a),
              *y = at_random(LZ_I32, LZ_SHAPE(4), -3, 3, b);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        for (int i = 0; i < 12; i++)
            want[i] = (double)rows[k].ref((int64_t)a[i], (int64_t)b[i % 4]);
        EXPECT(rows[k].f(x, y, LZ_SITE), rows[k].gives, LZ_SHAPE(3, 4), want, 0);
    }
    EXPECT(lz_bitwise_not(y), LZ_I32, LZ_SHAPE(4),
           ((double[]){-1 - b[0], -1 - b[1], -1 - b[2], -1 - b[3]}), 0);
}
END_TEST

START_TEST(numbers_as_operands)
{
    ON_DEVICE(_i);
    const double v[] = {-3, -1.5, 0, 1.5, 3, 7};
    lz_shape s = LZ_SHAPE(6);
    lz_tensor *x = at_tensor(LZ_F32, s, v),
              *n = at_tensor(LZ_I32, s, (double[]){-3, -1, 0, 1, 3, 7});
#define SIX(...) ((double[]){__VA_ARGS__})
    EXPECT(lz_eq_scalar(x, 1.5), LZ_BOOL, s, SIX(0, 0, 0, 1, 0, 0), 0);
    EXPECT(lz_ne_scalar(x, 1.5), LZ_BOOL, s, SIX(1, 1, 1, 0, 1, 1), 0);
    EXPECT(lz_lt_scalar(n, 0.5), LZ_BOOL, s, SIX(1, 1, 1, 0, 0, 0), 0);
    EXPECT(lz_le_scalar(n, 3), LZ_BOOL, s, SIX(1, 1, 1, 1, 1, 0), 0);
    EXPECT(lz_gt_scalar(x, 0), LZ_BOOL, s, SIX(0, 0, 0, 1, 1, 1), 0);
    EXPECT(lz_ge_scalar(x, 0), LZ_BOOL, s, SIX(0, 0, 1, 1, 1, 1), 0);
    EXPECT(lz_fmod_scalar(x, 2), LZ_F32, s, SIX(-1, -1.5, 0, 1.5, 1, 1), 0);
    EXPECT(lz_remainder_scalar(x, 2), LZ_F32, s, SIX(1, 0.5, 0, 1.5, 1, 1), 0);
    EXPECT(lz_remainder_scalar(n, -2), LZ_I32, s, SIX(-1, -1, 0, -1, -1, -1), 0);
    EXPECT(lz_floor_divide_scalar(n, 2), LZ_I32, s, SIX(-2, -1, 0, 0, 1, 3), 0);
    EXPECT(lz_div_scalar_mode(n, 2, "trunc"), LZ_I32, s, SIX(-1, 0, 0, 0, 1, 3), 0);
    EXPECT(lz_div_scalar_mode(n, 2, NULL), LZ_F32, s, SIX(-1.5, -0.5, 0, 0.5, 1.5, 3.5), 0);
    EXPECT(lz_bitwise_and_scalar(n, 6), LZ_I32, s, SIX(4, 6, 0, 0, 2, 6), 0);
    EXPECT(lz_bitwise_or_scalar(n, 4), LZ_I32, s, SIX(-3, -1, 4, 5, 7, 7), 0);
    EXPECT(lz_bitwise_xor_scalar(n, 1), LZ_I32, s, SIX(-4, -2, 1, 0, 2, 6), 0);
    EXPECT(lz_bitwise_left_shift_scalar(n, 3), LZ_I32, s, SIX(-24, -8, 0, 8, 24, 56), 0);
    EXPECT(lz_bitwise_right_shift_scalar(n, 1), LZ_I32, s, SIX(-2, -1, 0, 0, 1, 3), 0);
    EXPECT(lz_rsub_scalar(n, 1), LZ_I32, s, SIX(4, 2, 1, 0, -2, -6), 0);
    EXPECT(lz_rsub_scalar(n, 0.5), LZ_F32, s, SIX(3.5, 1.5, 0.5, -0.5, -2.5, -6.5), 0);
    EXPECT(lz_xlogy_scalar(n, 2), LZ_F32, s,
           SIX(-3 * M_LN2, -M_LN2, 0, M_LN2, 3 * M_LN2, 7 * M_LN2), 1e-6);
    EXPECT(lz_scalar_pow(2, n), LZ_I32, s, SIX(0, 0, 1, 2, 8, 128), 0);
    EXPECT(lz_scalar_pow(2.5, x), LZ_F32, s,
           SIX(pow(2.5, -3), pow(2.5, -1.5), 1, pow(2.5, 1.5), 15.625, pow(2.5, 7)), 4e-6);
    EXPECT(lz_add_alpha(x, n, 2.5), LZ_F32, s, SIX(-10.5, -4, 0, 4, 10.5, 24.5), 1e-6);
    EXPECT(lz_sub_alpha(n, n, 3), LZ_I32, s, SIX(6, 2, 0, -2, -6, -14), 0);
    BAD(lz_add_alpha(n, n, 0.5), LZ_EDTYPE, "0.5");
    EXPECT(lz_clamp_min(n, -1), LZ_I32, s, SIX(-1, -1, 0, 1, 3, 7), 0);
    EXPECT(lz_clamp_max(x, 1.25), LZ_F32, s, SIX(-3, -1.5, 0, 1.25, 1.25, 1.25), 0);
}
END_TEST

START_TEST(bounds)
{
    ON_DEVICE(_i);
    lz_shape s = LZ_SHAPE(2, 3);
    lz_tensor *x = at_tensor(LZ_F32, s, SIX(-3, 0, 3, NAN, 1, 2)),
              *lo = at_tensor(LZ_F32, LZ_SHAPE(3), (double[]){-1, 0.5, NAN}),
              *hi = at_tensor(LZ_F64, LZ_SHAPE(2, 1), (double[]){2, 0});
    EXPECT(lz_clamp_tensor(x, lo, NULL), LZ_F32, s, SIX(-1, 0.5, NAN, NAN, 1, NAN), 0);
    EXPECT(lz_clamp_tensor(x, NULL, hi), LZ_F64, s, SIX(-3, 0, 2, NAN, 0, 0), 0);
    EXPECT(lz_clamp_tensor(x, lo, hi), LZ_F64, s, SIX(-1, 0.5, NAN, NAN, 0, NAN), 0);
    BAD(lz_clamp_tensor(x, NULL, NULL), LZ_ENULL, "bounds");
    BAD(lz_clamp_tensor(x, lz_zeros(LZ_F32, LZ_SHAPE(4)), NULL), LZ_ESHAPE, "[4]");
    lz_tensor *w = at_tensor(LZ_F32, s, SIX(NAN, INFINITY, -INFINITY, 1, -0.0, 2));
    EXPECT(lz_nan_to_num(w), LZ_F32, s, SIX(0, FLT_MAX, -FLT_MAX, 1, 0, 2), 0);
    EXPECT(lz_nan_to_num(w, .nan = 5, .posinf = 6, .neginf_zero = true), LZ_F32, s,
           SIX(5, 6, 0, 1, 0, 2), 0);
    EXPECT(lz_nan_to_num(at_tensor(LZ_I8, s, SIX(1, 2, 3, 4, 5, 6))), LZ_I8, s,
           SIX(1, 2, 3, 4, 5, 6), 0);
    EXPECT(lz_round_decimals(at_tensor(LZ_F64, s, SIX(1.2345, -0.005, 15, 25, 149.9, 0)), 2),
           LZ_F64, s, SIX(1.23, -0.0, 15, 25, 149.9, 0), 1e-15);
    EXPECT(lz_round_decimals(at_tensor(LZ_F64, s, SIX(1.2345, -0.005, 15, 25, 149.9, 0)), -1),
           LZ_F64, s, SIX(0, 0, 20, 20, 150, 0), 1e-15);
    lz_tensor *p = at_tensor(LZ_F64, s, SIX(0.25, 0.5, 1, 0, 0.999, 2));
    EXPECT(lz_logit(p, NAN), LZ_F64, s,
           SIX(log(1.0 / 3), 0, INFINITY, -INFINITY, log(0.999 / (1 - 0.999)), NAN), 1e-12);
    EXPECT(lz_logit(p, 0.1), LZ_F64, s, SIX(log(1.0 / 3), 0, log(9), -log(9), log(9), log(9)),
           1e-12);
}
END_TEST

START_TEST(three_operands)
{
    ON_DEVICE(_i);
    double x[6], a[6], b[3], want[6];
    lz_shape s = LZ_SHAPE(2, 3);
    lz_tensor *X = at_random(LZ_F32, s, -2, 2, x), *A = at_random(LZ_F32, s, -2, 2, a),
              *B = at_random(LZ_F32, LZ_SHAPE(3), 0.5, 2, b);
    for (int i = 0; i < 6; i++)
        want[i] = x[i] + 0.5 * a[i] * b[i % 3];
    EXPECT(lz_addcmul(X, A, B, 0.5), LZ_F32, s, want, TOL32);
    for (int i = 0; i < 6; i++)
        want[i] = x[i] - 2 * a[i] / b[i % 3];
    EXPECT(lz_addcdiv(X, A, B, -2), LZ_F32, s, want, TOL32);
    for (int i = 0; i < 6; i++)
        want[i] = x[i] + b[i % 3] * (a[i] - x[i]);
    EXPECT(lz_lerp(X, A, B), LZ_F32, s, want, TOL32);
    for (int i = 0; i < 6; i++)
        want[i] = x[i] + 0.25 * (a[i] - x[i]);
    EXPECT(lz_lerp_scalar(X, A, 0.25), LZ_F32, s, want, TOL32);
    EXPECT(lz_lerp_scalar(X, A, 1), LZ_F32, s, a, 0);
    lz_tensor *n = at_tensor(LZ_I32, s, SIX(1, 2, 3, 4, 5, 6));
    EXPECT(lz_addcmul(n, n, n, 2), LZ_I32, s, SIX(3, 10, 21, 36, 55, 78), 0);
    BAD(lz_addcmul(n, n, n, 0.5), LZ_EDTYPE, "0.5");
    BAD(lz_addcmul(X, A, lz_zeros(LZ_F32, LZ_SHAPE(4)), 1), LZ_ESHAPE, "[4]");
    ck_assert_int_eq(lz_numel(lz_lerp(lz_zeros(LZ_F32, LZ_SHAPE(0, 3)), B, B)), 0);
}
END_TEST

START_TEST(nearness)
{
    ON_DEVICE(_i);
    lz_shape s = LZ_SHAPE(6);
    lz_tensor *a = at_tensor(LZ_F64, s, SIX(1, 1e8, NAN, INFINITY, INFINITY, 0)),
              *b = at_tensor(LZ_F64, s, SIX(1.000009, 1e8 + 2000, NAN, INFINITY, -INFINITY, 2e-8));
    EXPECT(lz_isclose(a, b), LZ_BOOL, s, SIX(1, 0, 0, 1, 0, 0), 0);
    EXPECT(lz_isclose(a, b, .equal_nan = true, .atol = 1e-7), LZ_BOOL, s, SIX(1, 0, 1, 1, 0, 1), 0);
    EXPECT(lz_isclose(a, b, .rtol = 1e-4), LZ_BOOL, s, SIX(1, 1, 0, 1, 0, 0), 0);
    ck_assert_int_eq(lz_item_i64(lz_allclose(a, b)), 0);
    ck_assert_int_eq(lz_item_i64(lz_allclose(a, a, .equal_nan = true)), 1);
    ck_assert_int_eq(
        lz_item_i64(lz_allclose(lz_zeros(LZ_F32, LZ_SHAPE(0)), lz_zeros(LZ_F32, LZ_SHAPE(0)))), 1);
    BAD(lz_isclose(a, b, .rtol = -1), LZ_EINVAL, "-1");
    ck_assert_int_eq(lz_item_i64(lz_equal(a, a)), 0);
    lz_tensor *n = at_tensor(LZ_I64, s, SIX(1, 2, 3, 4, 5, 6));
    ck_assert_int_eq(lz_item_i64(lz_equal(n, n)), 1);
    ck_assert_int_eq(lz_item_i64(lz_equal(n, lz_ones(LZ_I64, LZ_SHAPE(5)))), 0);
    EXPECT(lz_isclose(n, lz_add_scalar(n, 1), .rtol = 0, .atol = 1), LZ_BOOL, s,
           SIX(1, 1, 1, 1, 1, 1), 0);
}
END_TEST

/* ---- activations with options ---- */

static double elu(double x, double a, double sc, double in)
{
    return x > 0 ? sc * x : sc * a * expm1(x * in);
}
static double softplus(double x, double b, double t)
{
    return x * b > t ? x : log1p(exp(x * b)) / b;
}

START_TEST(activations)
{
    ON_DEVICE(_i);
    enum { N = NSPECIAL + 21 };
    double v[N], want[N];
    lz_shape s = LZ_SHAPE(N / 3, 3);
    memcpy(v, special, sizeof special);
    at_fill(v + NSPECIAL, 21, -5, 5);
    for (int i = 0; i < N; i++)
        v[i] = at_in(LZ_F32, v[i]);
    lz_tensor *x = at_tensor(LZ_F32, s, v);
#define EACH(tensor, expr)                                                                         \
    do {                                                                                           \
        for (int i = 0; i < N; i++) {                                                              \
            double y = v[i];                                                                       \
            want[i] = (expr);                                                                      \
        }                                                                                          \
        EXPECT(tensor, LZ_F32, s, want, TOL32);                                                    \
    } while (0)
    EACH (lz_leaky_relu(x), y > 0 ? y : 0.01f * y)
        ;
    EACH (lz_leaky_relu(x, .negative_slope = 0.25), y > 0 ? y : 0.25 * y)
        ;
    EACH (lz_elu(x), elu(y, 1, 1, 1))
        ;
    EACH (lz_elu(x, .alpha = 2, .scale = 1.5, .input_scale = 0.5), elu(y, 2, 1.5, 0.5))
        ;
    EACH (lz_celu(x, 2), elu(y, 2, 1, 0.5))
        ;
    EACH (lz_softplus(x), softplus(y, 1, 20))
        ;
    EACH (lz_softplus(x, .beta = 2, .threshold = 5), softplus(y, 2, 5))
        ;
    EACH (lz_hardtanh(x), y <= -1 ? -1 : y >= 1 ? 1 : y)
        ;
    EACH (lz_hardtanh(x, .min_val = -2.5, .max_val = 0.5), y <= -2.5 ? -2.5 : y >= 0.5 ? 0.5 : y)
        ;
    EACH (lz_hardshrink(x, 0.5), y >= -0.5 && y <= 0.5 ? 0 : y)
        ;
    EACH (lz_softshrink(x, 0.5), isnan(y) ? y : fabs(y) > 0.5 ? y - 0.5 * sgn(y) : 0)
        ;
    EACH (lz_threshold(x, 0.25, 20), y <= 0.25 ? 20 : y)
        ;
    EACH (lz_prelu(x, lz_full(LZ_F32, LZ_SHAPE(1), 0.125)), y > 0 ? y : 0.125 * y)
        ;
    EACH (lz_prelu(x, at_tensor(LZ_F32, LZ_SHAPE(3), (double[]){0.5, -1, 2})),
          y > 0 ? y
                : y * (i % 3 == 0   ? 0.5
                       : i % 3 == 1 ? -1
                                    : 2))
        ;
    BAD(lz_hardtanh(x, .min_val = 2), LZ_EINVAL, "min_val");
    BAD(lz_softshrink(x, -1), LZ_EINVAL, "-1");
    BAD(lz_celu(x, 0), LZ_EINVAL, "alpha");
    BAD(lz_prelu(x, lz_zeros(LZ_F32, LZ_SHAPE(2))), LZ_ESHAPE, "[2]");
    lz_elu_options bad = {.struct_size = 3};
    BAD(lz_elu_at(x, &bad, LZ_SITE), LZ_EINVAL, "struct_size");
    ck_assert_int_eq(lz_status_of(lz_elu_at(x, NULL, LZ_SITE)), LZ_OK);
    double g[3 * 4], gw[6];
    lz_tensor *G = at_random(LZ_F32, LZ_SHAPE(3, 4), -2, 2, g);
    for (int i = 0; i < 6; i++)
        gw[i] = g[i / 2 * 4 + i % 2] / (1 + exp(-g[i / 2 * 4 + 2 + i % 2]));
    EXPECT(lz_glu(G, -1), LZ_F32, LZ_SHAPE(3, 2), gw, TOL32);
    BAD(lz_glu(G, 0), LZ_ESHAPE, "even");
    EXPECT(lz_softmax_dtype(at_tensor(LZ_BF16, LZ_SHAPE(2), (double[]){1, 2}), 0, LZ_F32), LZ_F32,
           LZ_SHAPE(2), ((double[]){1 / (1 + M_E), M_E / (1 + M_E)}), TOL32);
    EXPECT(lz_log_softmax_dtype(at_tensor(LZ_F32, LZ_SHAPE(2), (double[]){1, 2}), 0, LZ_F64),
           LZ_F64, LZ_SHAPE(2), ((double[]){-log(1 + M_E), 1 - log(1 + M_E)}), 1e-12);
    EXPECT(lz_softmin(at_tensor(LZ_F32, LZ_SHAPE(2), (double[]){1, 2}), 0), LZ_F32, LZ_SHAPE(2),
           ((double[]){M_E / (1 + M_E), 1 / (1 + M_E)}), TOL32);
    BAD(lz_softmax_dtype(x, 0, LZ_I32), LZ_EDTYPE, "i32");
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("aten elementwise");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, one_operand, 0, at_devices());
    tcase_add_loop_test(t, logarithms_of_denormal_powers, 0, at_devices());
    tcase_add_test(t, one_operand_of_other_dtypes);
    tcase_add_loop_test(t, two_operands, 0, at_devices());
    tcase_add_loop_test(t, integers, 0, at_devices());
    tcase_add_loop_test(t, bits_and_truths, 0, at_devices());
    tcase_add_loop_test(t, numbers_as_operands, 0, at_devices());
    tcase_add_loop_test(t, bounds, 0, at_devices());
    tcase_add_loop_test(t, three_operands, 0, at_devices());
    tcase_add_loop_test(t, nearness, 0, at_devices());
    tcase_add_loop_test(t, activations, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
