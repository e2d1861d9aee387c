/* t_grad_points.c - first and second derivatives at special points: zeros, ends of domains, ties,
 * kinks, infinities, denormal numbers, NaN. The points and what is right there are in
 * grad_points.def: by forward and by reverse mode, and of the second order by each over each. Every
 * differentiable function of one operand in ops/user_ops.def, and every elementwise row of
 * ir/ops.def, has points there, or the test fails. */
#include "autodiff/vjp_table.h"
#include "ir/op.h"
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_POINTS = 40, WAYS = 5 };
#define ANY 12345.678 /* nothing is said: the derivative jumps there */

/* ---- functions of one operand ---- */

static lz_tensor *cbrt_of(lz_tensor *x)
{
    return lz_hlo_ew_at("cbrt", &x, 1, LZ_SITE);
}
static lz_tensor *softplus(lz_tensor *x)
{
    return lz_softplus(x);
}
static lz_tensor *relu(lz_tensor *x)
{
    return lz_relu(x);
}
static lz_tensor *clamp(lz_tensor *x)
{
    return lz_clamp(x, -1, 1);
}
static lz_tensor *clamp_min(lz_tensor *x)
{
    return lz_clamp_min(x, 1);
}
static lz_tensor *clamp_max(lz_tensor *x)
{
    return lz_clamp_max(x, 1);
}
static lz_tensor *hardtanh(lz_tensor *x)
{
    return lz_hardtanh(x);
}
static lz_tensor *leaky_relu(lz_tensor *x)
{
    return lz_leaky_relu(x);
}
static lz_tensor *elu(lz_tensor *x)
{
    return lz_elu(x);
}
static lz_tensor *celu(lz_tensor *x)
{
    return lz_celu(x, 1);
}
static lz_tensor *rrelu(lz_tensor *x)
{
    return lz_rrelu(x, 0.125, 0.375, false);
}
static lz_tensor *hardshrink(lz_tensor *x)
{
    return lz_hardshrink(x, 0.5);
}
static lz_tensor *softshrink(lz_tensor *x)
{
    return lz_softshrink(x, 0.5);
}
static lz_tensor *silu(lz_tensor *x)
{
    return lz_silu(x);
}
static lz_tensor *gelu(lz_tensor *x)
{
    return lz_gelu(x, false);
}
static lz_tensor *logit(lz_tensor *x)
{
    return lz_logit(x, NAN);
}
static lz_tensor *logit_eps(lz_tensor *x)
{
    return lz_logit(x, 0.25);
}
static lz_tensor *pow_0(lz_tensor *x)
{
    return lz_pow_scalar(x, 0);
}
static lz_tensor *pow_1(lz_tensor *x)
{
    return lz_pow_scalar(x, 1);
}
static lz_tensor *pow_2(lz_tensor *x)
{
    return lz_pow_scalar(x, 2);
}
static lz_tensor *pow_3(lz_tensor *x)
{
    return lz_pow_scalar(x, 3);
}
static lz_tensor *pow_half(lz_tensor *x)
{
    return lz_pow_scalar(x, 0.5);
}
static lz_tensor *pow_minus_1(lz_tensor *x)
{
    return lz_pow_scalar(x, -1);
}

/* A loss of x and a target that is one number everywhere. */
#define OF_TARGET(name, call, target)                                                              \
    static lz_tensor *name(lz_tensor *x)                                                           \
    {                                                                                              \
        lz_tensor *t = lz_full(lz_dtype_of(x), lz_shape_of(x), (target));                          \
        return call(x, t, .reduction = LZ_REDUCE_NONE);                                            \
    }
OF_TARGET(huber, lz_huber_loss, 0)
OF_TARGET(smooth_l1, lz_smooth_l1_loss, 0)
OF_TARGET(mse, lz_mse_loss, 0)
OF_TARGET(l1, lz_l1_loss, 0)
OF_TARGET(soft_margin, lz_soft_margin_loss, 1)
OF_TARGET(bce_of_1, lz_binary_cross_entropy, 1)
OF_TARGET(bce_of_0, lz_binary_cross_entropy, 0)
OF_TARGET(bce_logits_of_1, lz_binary_cross_entropy_with_logits, 1)
OF_TARGET(bce_logits_of_0, lz_binary_cross_entropy_with_logits, 0)
static lz_tensor *kl_div_target(lz_tensor *t)
{
    return lz_kl_div(lz_zeros(lz_dtype_of(t), lz_shape_of(t)), t, .reduction = LZ_REDUCE_NONE);
}

/* ---- those that grad_points.def names ---- */

typedef struct function {
    const char *name;
    lz_op op; /* a row of ir/ops.def that it is, or LZ_OP_NONE */
    bool smooth;
    lz_tensor *(*of)(lz_tensor *x, const lz_site *site);
    lz_tensor *(*of_default)(lz_tensor *x);
} function;

#define FLOAT true
#define KEEP true
#define WHOLE true
#define BOOL false
#define BITS false
static const function functions[] = {
#define LZ_UNARY(name, OP, kind, doc) {#name, LZ_OP_##OP, kind, lz_##name##_at, NULL},
#define LZ_UNARY_OF(name, kind, part, takes, doc) {#name, LZ_OP_NONE, kind, lz_##name##_at, NULL},
#define LZ_BINARY(...)
#define LZ_BINARY_OF(...)
#define LZ_COMPARE(...)
#include "ops/user_ops.def"
#define OWN(name)                                                                                  \
    {                                                                                              \
#name, LZ_OP_NONE, true, NULL, name                                                        \
    }
    {"cbrt", LZ_OP_CBRT, true, NULL, cbrt_of},
    OWN(softplus),
    OWN(relu),
    OWN(clamp),
    OWN(clamp_min),
    OWN(clamp_max),
    OWN(hardtanh),
    OWN(leaky_relu),
    OWN(elu),
    OWN(celu),
    OWN(rrelu),
    OWN(hardshrink),
    OWN(softshrink),
    OWN(silu),
    OWN(gelu),
    OWN(logit),
    OWN(logit_eps),
    OWN(pow_0),
    OWN(pow_1),
    OWN(pow_2),
    OWN(pow_3),
    OWN(pow_half),
    OWN(pow_minus_1),
    OWN(huber),
    OWN(smooth_l1),
    OWN(mse),
    OWN(l1),
    OWN(soft_margin),
    OWN(bce_of_1),
    OWN(bce_of_0),
    OWN(bce_logits_of_1),
    OWN(bce_logits_of_0),
    OWN(kl_div_target)};
enum { NFUNCTION = sizeof functions / sizeof *functions };

typedef struct point {
    const char *name;
    double x, d1, d2;
} point;
static const point points[] = {
#define POINT(name, x, d1, d2) {#name, x, d1, d2},
#include "grad_points.def"
#undef POINT
};
enum { NPOINT = sizeof points / sizeof *points };

static int points_of(const char *name, const point **out)
{
    int n = 0;
    for (int i = 0; i < NPOINT; i++)
        if (strcmp(points[i].name, name) == 0 && n < MAX_POINTS)
            out[n++] = &points[i];
    return n;
}

/* What says yes or no about a number is not differentiable. */
static bool has_derivative(const function *f)
{
    static const char *const none[] = {"isfinite", "isinf",    "isnan",
                                       "isneginf", "isposinf", "signbit"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strcmp(f->name, none[i]) == 0)
            return false;
    return f->smooth;
}

/* ---- comparison ---- */

static lz_tensor *reverse(lz_tensor *y, lz_tensor *x)
{
    lz_tensor *g = NULL;
    ck_assert_msg(lz_grad(lz_sum(y), &x, 1, &g, .allow_unused = true) == LZ_OK, "%s",
                  lz_last_error_text());
    return g;
}

static lz_tensor *forward(lz_tensor *y, lz_tensor *x)
{
    lz_tensor *t = lz_ones(lz_dtype_of(x), lz_shape_of(x)), *d = NULL;
    ck_assert_msg(lz_jvp(&y, 1, &x, &t, 1, &d, .allow_unused = true) == LZ_OK, "%s",
                  lz_last_error_text());
    return d;
}

static bool agrees(double have, double want, lz_dtype d)
{
    double relative = d == LZ_F64 ? 1e-11 : 2e-5, absolute = d == LZ_F64 ? 1e-14 : 1e-6;
    if (want == ANY)
        return true;
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(have) : have == want;
    return fabs(have - want) <= relative * fabs(want) + absolute;
}

/* Of f32: what is in its range, and so is what is right there. */
static bool fits(const point *p, lz_dtype d)
{
    double x = fabs(p->x),
           most = fmax(p->d1 == ANY ? 0 : fabs(p->d1), p->d2 == ANY ? 0 : fabs(p->d2));
    return d == LZ_F64 || ((x == 0 || !(x < 1e-30)) && !(x > 1e30 && isfinite(x)) &&
                           !(most > 1e30 && isfinite(most)));
}

static int compare(const function *f, const point *const *all_points, int npoint, lz_dtype d)
{
    static const char *const ways[WAYS] = {"reverse", "forward", "reverse over reverse",
                                           "forward over reverse", "reverse over forward"};
    double at[MAX_POINTS], got[WAYS * MAX_POINTS];
    const point *p[MAX_POINTS];
    int bad = 0, n = 0;
    for (int i = 0; i < npoint; i++)
        if (fits(all_points[i], d)) {
            at[n] = all_points[i]->x;
            p[n++] = all_points[i];
        }
    lz_scope_begin();
    lz_tensor *x = lz_to(lz_from_host(LZ_F64, LZ_SHAPE(n), at), d);
    lz_tensor *y = f->of ? f->of(x, LZ_SITE) : f->of_default(x);
    lz_tensor *g = reverse(y, x), *t = forward(y, x);
    lz_tensor *all[WAYS] = {g, t, reverse(g, x), forward(g, x), reverse(t, x)};
    ck_assert_msg(lz_to_host(lz_to(lz_stack(all, WAYS, 0), LZ_F64), got,
                             sizeof *got * (size_t)(WAYS * n)) == LZ_OK,
                  "%s: %s", f->name, lz_last_error_text());
    lz_scope_end();
    for (int k = 0; k < WAYS * n; k++) {
        double want = k / n < 2 ? p[k % n]->d1 : p[k % n]->d2;
        if (agrees(got[k], want, d))
            continue;
        printf("%s %s(%g), %s: %.17g, right is %.17g\n", lz_dtype_name(d), f->name, at[k % n],
               ways[k / n], got[k], want);
        bad++;
    }
    return bad;
}

static const char *const devices[] = {"CPU:0", "REF:0"};

START_TEST(functions_of_one_number)
{
    int bad = 0;
    ck_assert_int_eq(lz_set_device(devices[_i / 2]), LZ_OK);
    for (int i = 0; i < NFUNCTION; i++) {
        const point *p[MAX_POINTS];
        int n = points_of(functions[i].name, p);
        if (n)
            bad += compare(&functions[i], p, n, _i % 2 ? LZ_F32 : LZ_F64);
    }
    ck_assert_int_eq(bad, 0);
}
END_TEST

START_TEST(every_function_has_points)
{
    const point *p[MAX_POINTS];
    int bad = 0;
    for (int i = 0; i < NFUNCTION; i++) {
        bool zero = false;
        if (!has_derivative(&functions[i]))
            continue;
        int n = points_of(functions[i].name, p);
        for (int k = 0; k < n; k++)
            zero |= p[k]->x == 0 || fabs(p[k]->x) == 1;
        if (n < 3 || !zero) {
            printf("%s has %d points in grad_points.def, %s 0 or an end\n", functions[i].name, n,
                   zero ? "with" : "without");
            bad++;
        }
    }
    ck_assert_int_eq(bad, 0);
}
END_TEST

START_TEST(every_elementwise_row_is_met)
{
    /* those of two operands have their points in grad_pairs.def; select and conversions are linear,
     * and clamp, abs and sign are among the functions of one operand */
    static const lz_op own[] = {
        LZ_OP_ABS,    LZ_OP_SIGN,  LZ_OP_CONVERT,   LZ_OP_REDUCE_PRECISION,
        LZ_OP_SELECT, LZ_OP_CLAMP, LZ_OP_POLYGAMMA,
#define LZ_UNARY(...)
#define LZ_UNARY_OF(...)
#define LZ_BINARY_OF(...)
#define LZ_COMPARE(...)
#define LZ_BINARY(name, OP, kind, part, doc) LZ_OP_##OP,
#include "ops/user_ops.def"
    };
    int bad = 0;
    for (lz_op op = 1; op < LZ_OP_COUNT; op++) {
        const lz_op_info *info = lz_op_get(op);
        bool met = info->cls != LZ_CLASS_EW || lz_vjp_rule_of(op).blocks;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            met |= own[i] == op;
        for (int i = 0; i < NFUNCTION; i++)
            met |= functions[i].op == op;
        if (!met)
            printf("%s is in no function of this test\n", info->text);
        bad += !met;
    }
    ck_assert_int_eq(bad, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_points");
    TCase *t = tcase_create("points");
    tcase_set_timeout(t, 240);
    tcase_add_test(t, every_function_has_points);
    tcase_add_test(t, every_elementwise_row_is_met);
    tcase_add_loop_test(t, functions_of_one_number, 0, 4);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
