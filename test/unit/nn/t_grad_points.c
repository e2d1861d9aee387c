/* t_grad_points.c - first and second derivatives at special points: zeros, ends of domains, ties,
 * kinks, infinities, denormal numbers, NaN. The points and what is right there are in
 * grad_points.def: by forward and by reverse mode, and of the second order by each over each. Every
 * differentiable function of one operand in ops/user_ops.def, and every elementwise row of
 * ir/ops.def, has points there, or the test fails. */
#include "autodiff/vjp_table.h"
#include "grad_points.h"

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

static const function functions[] = {
#define LZ_UNARY(fn, OP, kind, doc)                                                                \
    {.name = #fn, .op = LZ_OP_##OP, .smooth = kind, .of = lz_##fn##_at},
#define LZ_UNARY_OF(fn, kind, part, takes, doc) {.name = #fn, .smooth = kind, .of = lz_##fn##_at},
#define LZ_BINARY(...)
#define LZ_BINARY_OF(...)
#define LZ_COMPARE(...)
#include "ops/user_ops.def"
#define OWN(name) OWN_OF(#name, LZ_OP_NONE, own, name)
    OWN_OF("cbrt", LZ_OP_CBRT, own, cbrt_of),
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

/* An operand and the first two derivatives. */
static const point points[] = {
#define POINT(name, x, d1, d2) {#name, {x}, {d1, d2}},
#include "grad_points.def"
#undef POINT
};
enum { NPOINT = sizeof points / sizeof *points };

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

/* Of f32: what is in its range, and so is what is right there. */
static bool fits(const point *p, lz_dtype d)
{
    double x = fabs(p->x[0]), d1 = p->d[0] == ANY ? 0 : fabs(p->d[0]),
           d2 = p->d[1] == ANY ? 0 : fabs(p->d[1]), most = fmax(d1, d2);
    return d == LZ_F64 || ((x == 0 || !(x < 1e-30)) && !(x > 1e30 && isfinite(x)) &&
                           !(most > 1e30 && isfinite(most)));
}

static int compare(const function *f, const point *const *all_points, int npoint, lz_dtype d)
{
    double at[MOST_POINTS];
    const point *p[MOST_POINTS];
    int n = 0;
    for (int i = 0; i < npoint; i++)
        if (fits(all_points[i], d)) {
            at[n] = all_points[i]->x[0];
            p[n++] = all_points[i];
        }
    lz_scope_begin();
    lz_tensor *x = lz_to(lz_from_host(LZ_F64, LZ_SHAPE(n), at), d);
    lz_tensor *y = f->of ? f->of(x, LZ_SITE) : f->own(x);
    lz_tensor *g = reverse(y, x), *t = forward(y, x);
    const way ways[] = {{"reverse", g, 0},
                        {"forward", t, 0},
                        {"reverse over reverse", reverse(g, x), 1},
                        {"forward over reverse", forward(g, x), 1},
                        {"reverse over forward", reverse(t, x), 1}};
    int bad =
        compare_ways(f, p, n, ways, sizeof ways / sizeof *ways, d, d == LZ_F64 ? 1e-14 : 1e-6);
    lz_scope_end();
    return bad;
}

START_TEST(functions_of_one_number)
{
    int bad = 0;
    ck_assert_int_eq(lz_set_device(devices[_i / 2]), LZ_OK);
    for (int i = 0; i < NFUNCTION; i++) {
        const point *p[MOST_POINTS];
        int n = rows_of(points, NPOINT, functions[i].name, p);
        if (n)
            bad += compare(&functions[i], p, n, _i % 2 ? LZ_F32 : LZ_F64);
    }
    ck_assert_int_eq(bad, 0);
}
END_TEST

START_TEST(every_function_has_points)
{
    const point *p[MOST_POINTS];
    int bad = 0;
    for (int i = 0; i < NFUNCTION; i++) {
        bool zero = false;
        if (!has_derivative(&functions[i]))
            continue;
        int n = rows_of(points, NPOINT, functions[i].name, p);
        for (int k = 0; k < n; k++)
            zero |= p[k]->x[0] == 0 || fabs(p[k]->x[0]) == 1;
        if (n < 3 || !zero) {
            printf("%s has %d points in grad_points.def, %s 0 or an end\n", functions[i].name, n,
                   zero ? "with" : "without");
            bad++;
        }
    }
    ck_assert_int_eq(bad, 0);
    all_rows_are_met(points, NPOINT, functions, NFUNCTION);
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
