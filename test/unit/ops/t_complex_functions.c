/* t_complex_functions.c - public functions of complex numbers: each has ATen's meaning, or is
 * LZ_EDTYPE in its own name. The elementwise ones are all rows of ops/user_ops.def. */
#include "aten.h"
#include "ir/op.h"
#include <complex.h>
#include <lazuli/ops.h>

enum { NPOINTS = 6 };
static const double points[2 * NPOINTS] = {1, 0.5, -0.25, 2,    0.125, -1,
                                           3, 0,   -1.5,  -0.5, 0.5,   0.75};

static lz_tensor *complexes(int n)
{
    return lz_to(lz_from_host(LZ_C128, LZ_SHAPE(n), points), LZ_C64);
}
#define C64(...)                                                                                   \
    lz_from_host(LZ_C64, LZ_SHAPE(sizeof((float[]){__VA_ARGS__}) / 8), ((float[]){__VA_ARGS__}))
#define WANT(...) ((double[]){__VA_ARGS__})
/* A result that is complex, as its parts. */
#define PARTS(t, n, want, tol) EXPECT(lz_view_as_real(t), LZ_F32, LZ_SHAPE(n, 2), want, tol)

/* ---- rows ---- */

typedef enum kind { KEEP, WHOLE, FLOAT, EXPONENT, BOOL, BITS, SHIFT } kind;
typedef struct row {
    const char *name;
    lz_tensor *(*one)(lz_tensor *, const lz_site *);
    lz_tensor *(*two)(lz_tensor *, lz_tensor *, const lz_site *);
    bool known, takes; /* known: whether it takes them, the row says itself */
    kind kind;
    lz_op op;
} row;
static const row rows[] = {
#define REAL false
#define COMPLEX true
#define LZ_UNARY(name, OP, kind, doc) {#name, lz_##name##_at, NULL, false, false, kind, LZ_OP_##OP},
#define LZ_BINARY(name, OP, kind, part, doc)                                                       \
    {#name, NULL, lz_##name##_at, true, part, kind, LZ_OP_##OP},
#define LZ_COMPARE(name, DIR, doc)                                                                 \
    {#name,                                                                                        \
     NULL,                                                                                         \
     lz_##name##_at,                                                                               \
     true,                                                                                         \
     LZ_CMP_##DIR == LZ_CMP_EQ || LZ_CMP_##DIR == LZ_CMP_NE,                                       \
     KEEP,                                                                                         \
     LZ_OP_COMPARE},
#define LZ_UNARY_OF(name, kind, part, takes, doc)                                                  \
    {#name, lz_##name##_at, NULL, true, part, kind, LZ_OP_CONVERT},
#define LZ_BINARY_OF(name, kind, part, takes, doc)                                                 \
    {#name, NULL, lz_##name##_at, true, part, kind, LZ_OP_CONVERT},
#include "ops/user_ops.def"
#undef REAL
#undef COMPLEX
};
enum { NROWS = sizeof rows / sizeof *rows };

/* The row says so; of a comparison, whether it is of equality or needs an order; of an operation
 * with one operand its dtypes do. What is of x != 0 takes everything. */
static bool takes(const row *r)
{
    if (r->known)
        return r->takes;
    return r->kind == BOOL || lz_op_accepts(r->op, LZ_C64);
}

START_TEST(a_row_takes_them_or_says_so)
{
    rt_use(rt_devices[_i]);
    for (int i = 0; i < NROWS; i++) {
        lz_scope_begin();
        lz_tensor *x = complexes(NPOINTS);
        lz_tensor *y = rows[i].one ? rows[i].one(x, LZ_SITE) : rows[i].two(x, x, LZ_SITE);
        lz_status got = lz_status_of(y);
        char own[64];
        snprintf(own, sizeof own, "lz_%s: ", rows[i].name);
        ck_assert_msg(got == LZ_OK || got == LZ_EDTYPE, "%s: %s", rows[i].name,
                      lz_status_name(got));
        ck_assert_msg((got == LZ_OK) == takes(&rows[i]), "%s: %s", rows[i].name,
                      got == LZ_OK ? "is taken" : lz_last_error_text());
        if (got != LZ_OK) {
            ck_assert_msg(strstr(lz_last_error_text(), own) != NULL, "%s", lz_last_error_text());
            ck_assert_msg(!rows[i].known || !strstr(lz_last_error_text(), "compare"), "%s",
                          lz_last_error_text());
        }
        lz_scope_end();
    }
}
END_TEST

typedef double complex number;
static number f_exp2(number z)
{
    return cexp(z * M_LN2);
}
static number f_log2(number z)
{
    return clog(z) / M_LN2;
}
static number f_log10(number z)
{
    return clog(z) / M_LN10;
}
static number f_reciprocal(number z)
{
    return 1 / z;
}
static number f_sinc(number z)
{
    return csin(M_PI * z) / (M_PI * z);
}
static number f_softsign(number z)
{
    return z / (1 + cabs(z));
}
static number f_square(number z)
{
    return z * z;
}
static number f_tanhshrink(number z)
{
    return z - ctanh(z);
}

static const struct {
    const char *name;
    number (*f)(number);
} truths[] = {
    {"exp2", f_exp2}, {"log2", f_log2},         {"log10", f_log10},   {"reciprocal", f_reciprocal},
    {"sinc", f_sinc}, {"softsign", f_softsign}, {"square", f_square}, {"tanhshrink", f_tanhshrink}};
enum { NTRUTHS = sizeof truths / sizeof *truths };

START_TEST(composites_of_complex_numbers)
{
    int matched = 0;
    rt_use(rt_devices[_i]);
    for (int i = 0; i < NROWS; i++)
        for (int k = 0; k < NTRUTHS; k++) {
            double want[2 * NPOINTS];
            if (strcmp(rows[i].name, truths[k].name) != 0)
                continue;
            matched++;
            for (int p = 0; p < NPOINTS; p++) {
                number z = truths[k].f(points[2 * p] + I * points[2 * p + 1]);
                want[2 * p] = creal(z), want[2 * p + 1] = cimag(z);
            }
            at_expect_at(lz_view_as_real(rows[i].one(complexes(NPOINTS), LZ_SITE)), LZ_F32,
                         LZ_SHAPE(NPOINTS, 2), want, 1e-4, rows[i].name, __LINE__);
        }
    ck_assert_int_eq(matched, NTRUTHS);
    const float inf = INFINITY;
    PARTS(lz_log10(C64(0, 0, 0, inf)), 2, WANT(-inf, 0, inf, M_PI / 2 / M_LN10), 1e-6);
    PARTS(lz_log2(C64(0, 0, inf, 0)), 2, WANT(-inf, 0, inf, 0), 1e-6);
    PARTS(lz_exp2(C64(inf, 0)), 1, WANT(inf, 0), 0);
    PARTS(lz_pow_scalar(C64(0, inf, -4, 0), 0.5), 2, WANT(inf, inf, 0, 2), 1e-6);
    EXPECT(lz_isinf(C64(inf, NAN, 1, -inf, NAN, 0)), LZ_BOOL, LZ_SHAPE(3), WANT(1, 1, 0), 0);
}
END_TEST

/* ---- nearness and numbers ---- */

START_TEST(nearness)
{
    rt_use(rt_devices[_i]);
    lz_tensor *a = C64(0, 0, 1, 1, 2, 0, NAN, 0), *b = C64(0, -2, 1, 1, 2, 5, 3, NAN);
    EXPECT(lz_isclose(a, b), LZ_BOOL, LZ_SHAPE(4), WANT(0, 1, 0, 0), 0);
    EXPECT(lz_isclose(a, b, .equal_nan = true), LZ_BOOL, LZ_SHAPE(4), WANT(0, 1, 0, 1), 0);
    /* |a - b| = 5, |b| = 13 */
    EXPECT(lz_isclose(C64(8, 9, 8, 9), C64(5, 12, 5, 13), .rtol = 0.33, .atol = 0), LZ_BOOL,
           LZ_SHAPE(2), WANT(1, 0), 0);
    ck_assert(lz_item(lz_allclose(a, b)) == 0);
    ck_assert(lz_item(lz_allclose(b, lz_neg(b), .atol = INFINITY)) == 0);
    PARTS(lz_nan_to_num(C64(NAN, 1, 2, INFINITY, -INFINITY, NAN)), 3,
          WANT(0, 1, 2, 3.4028234663852886e38, -3.4028234663852886e38, 0), 0);
    PARTS(lz_nan_to_num(C64(NAN, 1, 2, INFINITY), .nan = 7, .posinf = 8), 2, WANT(7, 1, 2, 8), 0);
}
END_TEST

/* ---- statistics ---- */

START_TEST(statistics)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = C64(1, 3, 1, 1, -1, 3, -1, 1), *m; /* mean 2i, every distance sqrt(2) */
    EXPECT(lz_var(x), LZ_F32, LZ_SCALAR, WANT(8 / 3.), 1e-6);
    EXPECT(lz_std(x), LZ_F32, LZ_SCALAR, WANT(sqrt(8 / 3.)), 1e-6);
    EXPECT(lz_var_mean(x, &m), LZ_F32, LZ_SCALAR, WANT(8 / 3.), 1e-6);
    EXPECT(lz_view_as_real(m), LZ_F32, LZ_SHAPE(2), WANT(0, 2), 1e-6);
    EXPECT(lz_std_mean(x, &m), LZ_F32, LZ_SCALAR, WANT(sqrt(8 / 3.)), 1e-6);
    x = C64(3, 4, 0, 12, 0, 0);
    const double ords[] = {0, 1, 2, 3, INFINITY, 0.5};
    const double norms[] = {
        2, 17, 13, cbrt(125 + 1728.), 12, (sqrt(5) + sqrt(12)) * (sqrt(5) + sqrt(12))};
    for (int k = 0; k < 6; k++) {
        EXPECT(lz_norm(x, .ord = ords[k]), LZ_F32, LZ_SCALAR, norms + k, 1e-6);
        EXPECT(lz_dist(x, lz_zeros(LZ_C64, LZ_SHAPE(3)), ords[k]), LZ_F32, LZ_SCALAR, norms + k,
               1e-6);
        EXPECT(lz_cdist(lz_reshape(x, LZ_SHAPE(1, 3)), lz_zeros(LZ_C64, LZ_SHAPE(1, 3)), ords[k]),
               LZ_F32, LZ_SHAPE(1, 1), norms + k, 1e-6);
        EXPECT(
            lz_pdist(lz_stack(((lz_tensor *[]){x, lz_zeros(LZ_C64, LZ_SHAPE(3))}), 2, 0), ords[k]),
            LZ_F32, LZ_SHAPE(1), norms + k, 1e-6);
    }
    EXPECT(lz_norm(x, .ord = -INFINITY), LZ_F32, LZ_SCALAR, WANT(0), 0);
    ck_assert_int_eq(lz_dtype_of(lz_norm(x, .dtype = LZ_C128)), LZ_F64);
    ck_assert_int_eq(lz_status_of(lz_norm(x, .dtype = LZ_F32)), LZ_EDTYPE);
    PARTS(lz_select(lz_renorm(lz_reshape(C64(3, 4, 0, 12), LZ_SHAPE(1, 2)), 2, 0, 1), 0, 0), 2,
          WANT(3 / 13., 4 / 13., 0, 12 / 13.), 1e-5);
}
END_TEST

/* ---- no order ---- */

#define REFUSED(t, name)                                                                           \
    do {                                                                                           \
        ck_assert_int_eq(lz_status_of(t), LZ_EDTYPE);                                              \
        ck_assert_msg(strstr(lz_last_error_text(), name ": ") &&                                   \
                          !strstr(lz_last_error_text(), "compare"),                                \
                      "%s", lz_last_error_text());                                                 \
    } while (0)

START_TEST(what_needs_an_order)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = complexes(NPOINTS), *y = lz_real(x);
    REFUSED(lz_clamp(x, 0, 1), "lz_clamp");
    REFUSED(lz_clamp(x, NAN, NAN), "lz_clamp");
    REFUSED(lz_clamp_min(x, 0), "lz_clamp_min");
    REFUSED(lz_clamp_max(x, 0), "lz_clamp_max");
    REFUSED(lz_clamp_tensor(x, y, NULL), "lz_clamp_tensor");
    REFUSED(lz_clamp_tensor(y, NULL, x), "lz_clamp_tensor");
    REFUSED(lz_cosine_similarity(x, x, 0, 1e-8), "lz_cosine_similarity");
    REFUSED(lz_lt_scalar(x, 1), "lz_lt_scalar");
    REFUSED(lz_relu(x), "lz_relu");
    REFUSED(lz_maximum(x, x), "lz_maximum");
    REFUSED(lz_amax(x), "lz_amax");
    REFUSED(lz_amin(x), "lz_amin");
    REFUSED(lz_aminmax(x, NULL), "lz_aminmax");
    REFUSED(lz_lt(x, x), "lz_lt");
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("functions of complex numbers");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, a_row_takes_them_or_says_so, 0, at_devices());
    tcase_add_loop_test(t, composites_of_complex_numbers, 0, at_devices());
    tcase_add_loop_test(t, nearness, 0, at_devices());
    tcase_add_loop_test(t, statistics, 0, at_devices());
    tcase_add_loop_test(t, what_needs_an_order, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
