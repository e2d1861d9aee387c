/* t_custom_vjp.c - custom gradient rules: the rule is used wherever a gradient can be taken;
 * mistakes are reported. */
#include "../runtime/rt.h"

#define LENGTH(a) (int)(sizeof(a) / sizeof *(a))

static lz_tensor *vec(int n, const double *x)
{
    return lz_from_host(LZ_F64, LZ_SHAPE(n), x);
}

static void expect(lz_tensor *t, const double *want, int n)
{
    double got[64];
    ck_assert_msg(lz_status_of(t) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_numel(t), n);
    OK(lz_to_host(t, got, sizeof got));
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(got[i] - want[i]) <= 1e-12 * (1 + fabs(want[i])),
                      "element %d: %.15g, not %.15g", i, got[i], want[i]);
}
#define EXPECT(t, ...)                                                                             \
    expect((t), (const double[]){__VA_ARGS__}, LENGTH(((const double[]){__VA_ARGS__})))

/* x^3, whose gradient says 5 x^2 g: nobody takes it for the slope. */
static void cube(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    (void)user;
    kept[0] = in[0];
    out[0] = lz_mul(in[0], lz_mul(in[0], in[0]));
}
static void five_squares(lz_tensor *const *kept, lz_tensor *const *g, lz_tensor **grad_in,
                         void *user)
{
    (void)user;
    grad_in[0] = lz_mul(g[0], lz_mul_scalar(lz_mul(kept[0], kept[0]), 5));
}
static lz_tensor *odd_cube(lz_tensor *x)
{
    lz_tensor *y = NULL;
    lz_custom_vjp(cube, five_squares, &x, 1, 1, 1, NULL, &y, .name = "cube");
    return y;
}
static const double at[3] = {1, 2, -3}, slope[3] = {5, 20, 45};

START_TEST(the_rule_counts)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(3, at), *g, *gg;
    lz_tensor *y = odd_cube(x);
    OK(lz_grad(lz_sum(y), &x, 1, &g));
    EXPECT(y, 1, 8, -27);
    expect(g, slope, 3);
    y = odd_cube(x);
    OK(lz_grad(lz_sum(y), &x, 1, &g));
    OK(lz_grad(lz_sum(g), &x, 1, &gg)); /* of 5 x^2 */
    EXPECT(gg, 10, 20, -30);
    OK(lz_requires_grad(x, true));
    OK(lz_backward(lz_sum(lz_mul_scalar(odd_cube(x), 2))));
    EXPECT(lz_grad_of(x), 10, 40, 90);
}
END_TEST

/* ---- in every place ---- */

static void in_function(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *x = in[0];
    out[0] = odd_cube(x);
    OK(lz_grad(lz_sum(out[0]), &x, 1, &out[1]));
}
static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = odd_cube(in[0]);
}
static void other(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = in[0];
}
static void round_(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = odd_cube(in[0]);
}
static void step(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                 void *user)
{
    (void)user;
    y[0] = odd_cube(x[0]);
    next[0] = lz_add(carry[0], y[0]);
}

START_TEST(inside_of_functions_loops_branches_and_checkpoints)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(3, at), *y, *g, *out[2], *zero = lz_zeros(LZ_F64, LZ_SHAPE(1)), *xs, *ys;
    lz_function *f;
    OK(lz_function_trace(in_function, NULL, &x, 1, 2, &f));
    OK(lz_function_call(f, &x, 1, out, 2));
    EXPECT(out[0], 1, 8, -27);
    expect(out[1], slope, 3);
    lz_function_free(f);

    OK(lz_fori(0, 2, &x, 1, round_, NULL, &y)); /* 5 (x^3)^2 5 x^2 */
    OK(lz_grad(lz_sum(y), &x, 1, &g));
    EXPECT(g, 25, 5. * 64 * 20, 5. * 729 * 45);

    xs = lz_reshape(x, LZ_SHAPE(3, 1));
    OK(lz_scan(&zero, 1, &xs, 1, 1, step, NULL, &y, &ys));
    OK(lz_grad(lz_add(lz_sum(y), lz_sum(ys)), &x, 1, &g));
    EXPECT(g, 10, 40, 90);

    for (int yes = 0; yes < 2; yes++) {
        OK(lz_cond(lz_scalar(LZ_BOOL, yes), body, other, &x, 1, 1, NULL, &y));
        OK(lz_grad(lz_sum(y), &x, 1, &g));
        if (yes)
            expect(g, slope, 3);
        else
            EXPECT(g, 1, 1, 1);
    }
    OK(lz_checkpoint(body, &x, 1, 1, NULL, &y));
    OK(lz_grad(lz_sum(y), &x, 1, &g));
    expect(g, slope, 3);
}
END_TEST

static void gradient_of_one(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *x = in[0];
    OK(lz_grad(lz_sum(odd_cube(x)), &x, 1, out));
}

START_TEST(tangents_and_many_examples)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(3, at), *t = vec(3, (double[]){1, -1, 2}), *y = odd_cube(x), *dy, *g, *hv;
    OK(lz_jvp(&y, 1, &x, &t, 1, &dy));
    EXPECT(dy, 5, -20, 90);
    lz_tensor *loss = lz_sum(odd_cube(x));
    OK(lz_hvp(loss, &x, &t, 1, &hv));
    EXPECT(hv, 10, -20, -60);

    lz_tensor *m = lz_reshape(x, LZ_SHAPE(3, 1));
    OK(lz_vmap(gradient_of_one, &m, 1, 1, NULL, &g)); /* around */
    expect(g, slope, 3);
    OK(lz_vmap(body, &m, 1, 1, NULL, &y)); /* inside */
    OK(lz_grad(lz_sum(y), &x, 1, &g));
    expect(g, slope, 3);
    OK(lz_vmap(body, &x, 1, 1, NULL, &y)); /* of numbers */
    OK(lz_jvp(&y, 1, &x, &t, 1, &dy));
    EXPECT(dy, 5, -20, 90);
}
END_TEST

/* ---- several inputs and results; one input the same for all examples ---- */

/* a b and the integer n; the gradient of b is left out. */
static void product(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    (void)user;
    kept[0] = in[1];
    out[0] = lz_mul(in[0], in[1]);
    out[1] = in[2];
}
static void half(lz_tensor *const *kept, lz_tensor *const *g, lz_tensor **grad_in, void *user)
{
    lz_tensor *scale = user; /* from outside */
    ck_assert_int_eq(lz_dtype_of(g[1]), LZ_I32);
    grad_in[0] = lz_mul(lz_mul(g[0], kept[0]), scale);
}
static void several(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *all[3] = {in[0], in[1], lz_scalar(LZ_I32, 4)};
    OK(lz_custom_vjp(product, half, all, 3, 2, 1, user, out));
}

START_TEST(several_inputs_and_results)
{
    rt_use(rt_devices[_i]);
    lz_tensor *in[2] = {vec(3, at), vec(3, (double[]){2, 3, 4})}, *out[2], *g[2], *gg;
    lz_tensor *scale = lz_scalar(LZ_F64, 0.5);
    several(in, out, scale);
    OK(lz_grad(lz_sum(lz_mul(out[0], out[0])), in, 2, g));
    EXPECT(g[0], 4, 18, -48); /* 2 a b b / 2 */
    EXPECT(g[1], 0, 0, 0);
    several(in, out, scale);
    OK(lz_grad(lz_sum(lz_mul(out[0], out[0])), in, 2, g));
    OK(lz_grad(lz_sum(g[0]), in, 1, &gg)); /* of (a b) b by a: the rule again, b / 2 times b */
    EXPECT(gg, 2, 4.5, 8);
    OK(lz_to_host(out[1], (int[1]){0}, sizeof(int)));

    lz_tensor *m[2] = {lz_reshape(in[0], LZ_SHAPE(3, 1)), vec(1, (double[]){2})};
    const int64_t axes[2] = {0, LZ_UNMAPPED};
    OK(lz_vmap(several, m, 2, 2, scale, out, .in_axes = axes));
    OK(lz_grad(lz_sum(out[0]), m, 2, g, .allow_unused = true));
    EXPECT(g[0], 1, 1, 1);
    EXPECT(g[1], 0);
}
END_TEST

static void weighed(lz_tensor *const *kept, lz_tensor *const *g, lz_tensor **grad_in, void *user)
{
    (void)user;
    grad_in[0] = lz_mul(g[0], kept[0]);
    grad_in[1] = lz_mul_scalar(g[0], 7);
}
static void two(lz_tensor *const *in, lz_tensor **out, void *user)
{
    OK(lz_custom_vjp(product, weighed, ((lz_tensor *[]){in[0], in[1], lz_scalar(LZ_I32, 1)}), 3, 2,
                     1, user, out));
}

START_TEST(an_input_that_is_the_same_for_all_examples)
{
    rt_use(rt_devices[_i]);
    lz_tensor *m[2] = {lz_reshape(vec(3, at), LZ_SHAPE(3, 1)), vec(1, (double[]){2})}, *out[2],
              *g[2];
    const int64_t axes[2] = {0, LZ_UNMAPPED};
    OK(lz_vmap(two, m, 2, 2, NULL, out, .in_axes = axes));
    OK(lz_grad(lz_sum(out[0]), m, 2, g));
    EXPECT(g[0], 2, 2, 2);
    EXPECT(g[1], 21);
}
END_TEST

/* ---- what has no gradient of its own ---- */

static lz_status exponentials(const lz_ffi_call *c, void *user)
{
    (void)user;
    for (size_t i = 0; i < c->rets[0].nbytes / sizeof(double); i++)
        ((double *)c->rets[0].data)[i] = exp(((const double *)c->args[0].data)[i]);
    return LZ_OK;
}
static void call(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    (void)user;
    lz_ffi_type t = {LZ_F64, lz_shape_of(in[0])};
    out[0] = kept[0] = lz_custom_call("exponentials", NULL, in, 1, &t, 1, NULL);
}
static void itself(lz_tensor *const *kept, lz_tensor *const *g, lz_tensor **grad_in, void *user)
{
    (void)user;
    grad_in[0] = lz_mul(g[0], kept[0]);
}

/* A residual that is a result has the rule's gradient: any number of derivatives of a function that
 * nobody can look into. */
START_TEST(a_custom_call_has_all_derivatives)
{
    rt_use(rt_devices[_i]);
    OK(lz_ffi_register("exponentials", exponentials, NULL));
    lz_tensor *x = vec(3, at), *t = vec(3, (double[]){1, -1, 2}), *y, *g, *hv;
    OK(lz_custom_vjp(call, itself, &x, 1, 1, 1, NULL, &y));
    lz_tensor *d = y;
    for (int order = 1; order <= 3; order++) {
        OK(lz_grad(lz_sum(d), &x, 1, &g));
        d = g;
        EXPECT(g, exp(1), exp(2), exp(-3));
    }
    OK(lz_custom_vjp(call, itself, &x, 1, 1, 1, NULL, &y));
    OK(lz_jvp(&y, 1, &x, &t, 1, &d));
    OK(lz_grad(lz_sum(d), &x, 1, &g));
    EXPECT(d, exp(1), -exp(2), 2 * exp(-3));
    EXPECT(g, exp(1), -exp(2), 2 * exp(-3));
    OK(lz_custom_vjp(call, itself, &x, 1, 1, 1, NULL, &y));
    OK(lz_hvp(lz_sum(y), &x, &t, 1, &hv));
    EXPECT(hv, exp(1), -exp(2), 2 * exp(-3));
}
END_TEST

/* Rounding whose gradient passes: with nothing kept, and a result that is an input. */
static void rounded(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    (void)kept;
    out[0] = user ? in[0] : lz_round(in[0]);
}
static void clipped(lz_tensor *const *kept, lz_tensor *const *g, lz_tensor **grad_in, void *user)
{
    (void)kept;
    grad_in[0] = user ? lz_neg(g[0]) : lz_clamp(g[0], -1, 1);
}

START_TEST(straight_through_and_reversed)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(3, (double[]){0.2, 1.7, -2.6}), *w = vec(3, (double[]){0.5, 3, -7}), *y, *g;
    OK(lz_custom_vjp(rounded, clipped, &x, 1, 1, 0, NULL, &y));
    OK(lz_grad(lz_sum(lz_mul(y, w)), &x, 1, &g));
    EXPECT(y, 0, 2, -3);
    EXPECT(g, 0.5, 1, -1);
    OK(lz_custom_vjp(rounded, clipped, &x, 1, 1, 0, &x, &y));
    OK(lz_grad(lz_sum(lz_mul(y, w)), &x, 1, &g));
    EXPECT(g, -0.5, -3, 7);
}
END_TEST

/* ---- what is wrong ---- */

static void forgets(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    if (user)
        out[0] = in[0];
    else
        kept[0] = in[0];
}
static void wrong(lz_tensor *const *kept, lz_tensor *const *g, lz_tensor **grad_in, void *user)
{
    (void)kept, (void)g;
    grad_in[0] = user;
}

START_TEST(mistakes_have_names)
{
    rt_use("REF");
    lz_tensor *x = vec(3, at), *y,
              *bad[4] = {lz_zeros(LZ_F64, LZ_SHAPE(4)), lz_zeros(LZ_F32, LZ_SHAPE(3))};
    FAILS(lz_custom_vjp(cube, wrong, &x, 1, 1, 1, bad[0], &y, .name = "cube"), LZ_ESHAPE,
          "backward of cube: the gradient of input 0 is f64[4], but must be f64[3]");
    BAD(y, LZ_ESHAPE, "lz_custom_vjp");
    FAILS(lz_custom_vjp(cube, wrong, &x, 1, 1, 1, bad[1], &y), LZ_EDTYPE,
          "backward: the gradient of input 0 is f32[3]");
    FAILS(lz_custom_vjp(cube, wrong, &x, 1, 1, 1, lz_add(bad[0], x), &y), LZ_ESHAPE, "lz_add");
    FAILS(lz_custom_vjp(forgets, itself, &x, 1, 1, 1, NULL, &y), LZ_ENULL,
          "result 0 was not given");
    FAILS(lz_custom_vjp(forgets, itself, &x, 1, 1, 1, x, &y), LZ_ENULL, "residual 0 was not given");
    FAILS(lz_custom_vjp(NULL, itself, &x, 1, 1, 1, NULL, &y), LZ_ENULL, "forward is NULL");
    FAILS(lz_custom_vjp(cube, NULL, &x, 1, 1, 1, NULL, &y), LZ_ENULL, "backward is NULL");
    FAILS(lz_custom_vjp(cube, itself, &x, 1, 0, 1, NULL, &y), LZ_EINVAL, "0 results");
    FAILS(lz_custom_vjp(cube, itself, &x, 1, 1, -1, NULL, &y), LZ_EINVAL, "-1 residuals");
    FAILS(lz_custom_vjp(cube, itself, NULL, 1, 1, 1, NULL, &y), LZ_ENULL, "in is NULL");
    FAILS(lz_custom_vjp(cube, itself, &x, 1, 1, 1, NULL, NULL), LZ_ENULL, "out is NULL");
}
END_TEST

/* ---- what it costs ---- */

static int calls;
static lz_status counted(const lz_ffi_call *c, void *user)
{
    calls++;
    return exponentials(c, user);
}
static void keeps_a_call(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    (void)user;
    lz_ffi_type t = {LZ_F64, lz_shape_of(in[0])};
    kept[0] = lz_custom_call("counted", NULL, in, 1, &t, 1, NULL);
    out[0] = lz_sin(in[0]);
}

/* What is kept is computed for a gradient only, and once. The reference interpreter runs what is
 * recorded as it stands. */
START_TEST(nothing_is_kept_where_no_gradient_is)
{
    rt_use(rt_devices[1]);
    OK(lz_ffi_register("counted", counted, NULL));
    lz_tensor *x = vec(3, at), *y, *g;
    char text[8192];
    OK(lz_custom_vjp(keeps_a_call, itself, &x, 1, 1, 1, NULL, &y, .name = "counting"));
    ck_assert(lz_dump_graph(&y, 1, "text", text, sizeof text) > 0);
    ck_assert_msg(strstr(text, "lazuli::custom_vjp") && strstr(text, "counting"), "%s", text);
    EXPECT(y, sin(1), sin(2), sin(-3));
    ck_assert_int_eq(calls, 0);
    OK(lz_custom_vjp(keeps_a_call, itself, &x, 1, 1, 1, NULL, &y));
    OK(lz_grad(lz_sum(y), &x, 1, &g));
    EXPECT(g, exp(1), exp(2), exp(-3));
    ck_assert_int_eq(calls, 1);
}
END_TEST

static void counted_call(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    (void)user;
    lz_ffi_type t = {LZ_F64, lz_shape_of(in[0])};
    out[0] = kept[0] = lz_custom_call("counted", NULL, in, 1, &t, 1, NULL);
}
static void counted_round(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    lz_tensor *x = lz_mul_scalar(in[0], -0.5);
    OK(lz_custom_vjp(counted_call, itself, &x, 1, 1, 1, user, out));
}
static int64_t part;
static void counted_part(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    OK(lz_fori(0, part, in, 1, counted_round, user, out));
}

/* Value and gradient of rounds, and how often one was executed. */
static int rounds(int64_t outer, int64_t inner, double out[2])
{
    lz_tensor *x = vec(1, at), *y, *g;
    part = inner;
    calls = 0;
    OK(lz_fori(0, outer, &x, 1, inner ? counted_part : counted_round, NULL, &y));
    OK(lz_grad(lz_sum(y), &x, 1, &g));
    lz_tensor *both[2] = {y, g};
    OK(lz_sync(both, 2, true));
    OK(lz_to_host(y, &out[0], sizeof *out));
    OK(lz_to_host(g, &out[1], sizeof *out));
    return calls;
}

/* The loop, the loop that keeps what its rounds start from, and the way back; parts of a loop are
 * worked out once more. */
START_TEST(a_gradient_runs_a_loop_a_fixed_number_of_times)
{
    rt_use(rt_devices[_i]);
    OK(lz_ffi_register("counted", counted, NULL));
    double few[2], all[2], parts[2];
    ck_assert_int_le(rounds(8, 0, few), 3 * 8);
    ck_assert_int_le(rounds(64, 0, all), 3 * 64);
    ck_assert_int_le(rounds(8, 8, parts), 5 * 64);
    for (int k = 0; k < 2; k++)
        ck_assert_msg(fabs(all[k] - parts[k]) <= 1e-12 * fabs(all[k]), "%g, %g", all[k], parts[k]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("custom_vjp");
    TCase *t = tcase_create("custom_vjp");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, the_rule_counts, 0, 2);
    tcase_add_loop_test(t, inside_of_functions_loops_branches_and_checkpoints, 0, 2);
    tcase_add_loop_test(t, tangents_and_many_examples, 0, 2);
    tcase_add_loop_test(t, several_inputs_and_results, 0, 2);
    tcase_add_loop_test(t, an_input_that_is_the_same_for_all_examples, 0, 2);
    tcase_add_loop_test(t, a_custom_call_has_all_derivatives, 0, 2);
    tcase_add_loop_test(t, straight_through_and_reversed, 0, 2);
    tcase_add_loop_test(t, a_gradient_runs_a_loop_a_fixed_number_of_times, 0, 2);
    tcase_add_test(t, mistakes_have_names);
    tcase_add_test(t, nothing_is_kept_where_no_gradient_is);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
