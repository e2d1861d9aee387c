/* t_derivatives.c - forward mode, Jacobians and Hessians: calls, errors, loops that only forward
 * mode can differentiate, results against formulas. Every rule is checked beside the gradients
 * (grad_check.h). */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <string.h>

static lz_tensor *vec3(double a, double b, double c)
{
    return lz_from_host(LZ_F64, LZ_SHAPE(3), ((double[]){a, b, c}));
}

static void is(lz_tensor *t, int n, const double *want)
{
    double got[16];
    ck_assert_msg(lz_to_host(t, got, sizeof got) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_numel(t), n);
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(got[i] - want[i]) <= 1e-12 * (1 + fabs(want[i])), "%d: %.15g, not %.15g",
                      i, got[i], want[i]);
}

START_TEST(tangents_of_several_outputs)
{
    lz_scope_begin();
    lz_tensor *x[2] = {vec3(1, 2, 3), vec3(4, 5, 6)}, *t[2] = {vec3(1, 0, 2), vec3(0, 1, -1)};
    lz_tensor *y[3] = {lz_mul(x[0], x[1]), lz_sum(lz_square(x[0])), lz_neg(vec3(7, 8, 9))}, *d[3];
    ck_assert_msg(lz_jvp(y, 3, x, t, 2, d) == LZ_OK, "%s", lz_last_error_text());
    is(d[0], 3, (double[]){4, 2, 9});
    is(d[1], 1, (double[]){14});
    is(d[2], 3, (double[]){0, 0, 0});
    lz_scope_end();
}
END_TEST

START_TEST(an_input_in_the_middle_cuts_what_is_before_it)
{
    lz_scope_begin();
    lz_tensor *x = vec3(1, 2, 3), *z = lz_square(x), *y = lz_mul(z, x), *in[2] = {x, z},
              *t[2] = {vec3(1, 1, 1), vec3(0, 0, 0)}, *d;
    ck_assert_int_eq(lz_jvp(&y, 1, in, t, 2, &d), LZ_OK);
    is(d, 3, (double[]){1, 4, 9});
    ck_assert_int_eq(lz_jvp(&y, 1, in, t, 1, &d), LZ_OK);
    is(d, 3, (double[]){3, 12, 27});
    lz_tensor *stopped = lz_mul(lz_stop_gradient(z), x);
    ck_assert_int_eq(lz_jvp(&stopped, 1, in, t, 1, &d), LZ_OK);
    is(d, 3, (double[]){1, 4, 9});
    lz_scope_end();
}
END_TEST

static void newton(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *a = user;
    out[0] = lz_mul_scalar(lz_add(in[0], lz_div(a, in[0])), 0.5);
    out[1] = lz_abs(lz_sub(out[0], in[0]));
}
static lz_tensor *not_there(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_gt(in[1], lz_full(LZ_F64, LZ_SCALAR, 1e-13));
}

/* a loop whose number of rounds nobody knows: sqrt by Newton's method */
START_TEST(loops_without_a_count)
{
    lz_scope_begin();
    lz_tensor *a = lz_full(LZ_F64, LZ_SCALAR, 7), *one = lz_full(LZ_F64, LZ_SCALAR, 1),
              *init[2] = {one, one}, *end[2], *d;
    ck_assert_int_eq(lz_while(init, 2, not_there, newton, a, end), LZ_OK);
    ck_assert_msg(lz_jvp(end, 1, &a, &one, 1, &d) == LZ_OK, "%s", lz_last_error_text());
    is(d, 1, (double[]){0.5 / sqrt(7)});
    lz_scope_end();
}
END_TEST

/* f = x0^2 x1 + sin(x2) */
static lz_tensor *f(lz_tensor *x)
{
    lz_tensor *a = lz_select(x, 0, 0), *b = lz_select(x, 0, 1), *c = lz_select(x, 0, 2);
    return lz_add(lz_mul(lz_square(a), b), lz_sin(c));
}

START_TEST(hessian_times_vector)
{
    lz_scope_begin();
    lz_tensor *x = vec3(1, 2, 3), *v = vec3(1, -1, 2), *h;
    lz_tensor *loss = f(x);
    ck_assert_msg(lz_hvp(loss, &x, &v, 1, &h) == LZ_OK, "%s", lz_last_error_text());
    is(h, 3, (double[]){4 * 1 + 2 * -1, 2 * 1, -sin(3) * 2});
    lz_scope_end();
}
END_TEST

START_TEST(jacobians)
{
    lz_scope_begin();
    lz_tensor *x = vec3(1, 2, 3), *wide, *g;
    lz_tensor *two = lz_stack(((lz_tensor *[]){f(x), lz_prod(x)}), 2, 0);
    is(lz_jacobian(two, x), 6, (double[]){4, 1, cos(3), 6, 3, 2}); /* by rows */
    lz_tensor *s = lz_select(x, 0, 1);
    wide = lz_mul(x, s);
    ck_assert_int_eq(lz_shape_of(lz_jacobian(wide, s)).rank, 1);
    is(lz_jacobian(wide, s), 3, (double[]){1, 2, 3}); /* by columns: x itself is no function of s */
    is(lz_jacobian(wide, x), 9, (double[]){2, 1, 0, 0, 4, 0, 0, 3, 2});
    lz_tensor *loss = f(x);
    ck_assert_int_eq(lz_grad(loss, &x, 1, &g), LZ_OK);
    is(lz_jacobian(g, x), 9, (double[]){4, 2, 0, 2, 0, 0, 0, 0, -sin(3)}); /* the Hessian */
    lz_scope_end();
}
END_TEST

static void loss_and_more(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[1] = lz_mul(in[0], in[1]);
    out[0] = lz_sum(out[1]);
}

START_TEST(values_and_gradients)
{
    lz_scope_begin();
    lz_tensor *in[3] = {vec3(1, 2, 3), vec3(4, 5, 6), vec3(7, 8, 9)}, *out[2], *g[3];
    ck_assert_int_eq(lz_value_and_grad(loss_and_more, in, 3, 2, NULL, out, g), LZ_OK);
    is(out[0], 1, (double[]){32});
    is(out[1], 3, (double[]){4, 10, 18});
    is(g[0], 3, (double[]){4, 5, 6});
    is(g[1], 3, (double[]){1, 2, 3});
    is(g[2], 3, (double[]){0, 0, 0});
    ck_assert_int_eq(lz_value_and_grad(NULL, in, 3, 2, NULL, out, g), LZ_ENULL);
    ck_assert_int_eq(lz_status_of(out[1]), LZ_ENULL);
    lz_scope_end();
}
END_TEST

START_TEST(bad_calls_are_errors)
{
    lz_scope_begin();
    lz_tensor *x = vec3(1, 2, 3), *y = lz_square(x), *d, *other = vec3(0, 0, 0),
              *n = lz_from_host(LZ_I64, LZ_SHAPE(3), ((int64_t[]){1, 2, 3}));
    lz_tensor *small = lz_zeros(LZ_F64, LZ_SHAPE(2)), *null = NULL;
    ck_assert_int_eq(lz_jvp(&y, 1, &x, &small, 1, &d), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(d), LZ_ESHAPE);
    ck_assert_int_eq(lz_jvp(&y, 1, &n, &n, 1, &d), LZ_EDTYPE);
    ck_assert_int_eq(lz_jvp(&y, 1, &x, &null, 1, &d), LZ_ENULL);
    ck_assert_int_eq(lz_jvp(&y, 0, &x, &x, 1, &d), LZ_EINVAL);
    ck_assert_int_eq(lz_jvp(NULL, 1, &x, &x, 1, &d), LZ_ENULL);
    ck_assert_int_eq(lz_jvp(&y, 1, &other, &x, 1, &d), LZ_EGRAD);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "input 0"));
    ck_assert_int_eq(lz_jvp(&y, 1, &other, &x, 1, &d, .allow_unused = true), LZ_OK);
    is(d, 3, (double[]){0, 0, 0});
    ck_assert_int_eq(lz_status_of(lz_jacobian(y, n)), LZ_EDTYPE);
    ck_assert_int_eq(lz_status_of(lz_jacobian(NULL, x)), LZ_ENULL);
    lz_tensor *loss = lz_sum(y);
    ck_assert_int_eq(lz_hvp(loss, &other, &x, 1, &d), LZ_EGRAD);
    lz_scope_end();
}
END_TEST

START_TEST(long_chains_need_no_stack)
{
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SCALAR, &(float){1.5f}), *y = x, *d;
    for (int i = 0; i < 20000; i++)
        y = i & 1 ? lz_neg(y) : lz_add(y, x);
    ck_assert_msg(lz_jvp(&y, 1, &x, &x, 1, &d) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_status_of(d), LZ_OK);
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("derivatives");
    TCase *t = tcase_create("derivatives");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, tangents_of_several_outputs);
    tcase_add_test(t, an_input_in_the_middle_cuts_what_is_before_it);
    tcase_add_test(t, loops_without_a_count);
    tcase_add_test(t, hessian_times_vector);
    tcase_add_test(t, jacobians);
    tcase_add_test(t, values_and_gradients);
    tcase_add_test(t, bad_calls_are_errors);
    tcase_add_test(t, long_chains_need_no_stack);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
