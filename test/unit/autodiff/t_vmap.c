/* t_vmap.c - vmap (batching) on the CPU device: against loops over the examples and formulas. The
 * batching rules of single operations are tested by test/unit/ir/t_batch.c. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <string.h>

static lz_tensor *values(lz_shape s, double first)
{
    int64_t n = 1;
    for (int d = 0; d < s.rank; d++)
        n *= s.dims[d];
    lz_tensor *x = lz_arange(LZ_F64, 0, (double)n, 1);
    return lz_reshape(lz_add_scalar(lz_sin(lz_mul_scalar(x, 37 + first)), 0.25), s);
}

static void same(lz_tensor *a, lz_tensor *b, double tolerance)
{
    lz_shape s = lz_shape_of(a), t = lz_shape_of(b);
    ck_assert_msg(lz_status_of(a) == LZ_OK && lz_status_of(b) == LZ_OK, "%s", lz_last_error_text());
    ck_assert(s.rank == t.rank && memcmp(s.dims, t.dims, sizeof s.dims) == 0);
    ck_assert(lz_dtype_of(a) == lz_dtype_of(b));
    double d = lz_item(lz_amax(lz_abs(lz_sub(lz_to(a, LZ_F64), lz_to(b, LZ_F64)))));
    ck_assert_msg(d <= tolerance, "differ by %g", d);
}

static lz_tensor *example(lz_tensor *x, int64_t dim, int64_t i)
{
    return lz_select(x, dim, i);
}

/* fn, on example i of each argument */
static lz_tensor *stack_of(lz_body_fn *fn, lz_tensor *const *in, int nin, const int64_t *axes,
                           int64_t n, void *user)
{
    lz_tensor *all[16], *one[8], *out;
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < nin; k++)
            one[k] = axes && axes[k] == LZ_UNMAPPED ? in[k] : example(in[k], axes ? axes[k] : 0, i);
        fn(one, &out, user);
        all[i] = out;
    }
    return lz_stack(all, (int)n, 0);
}

static void layer(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_tanh(lz_add(lz_matmul(in[0], in[1]), in[2]));
}

START_TEST(a_layer_for_many_examples)
{
    lz_scope_begin();
    const int64_t axes[3] = {1, LZ_UNMAPPED, -1};
    lz_tensor *in[3] = {values(LZ_SHAPE(3, 5), 0), values(LZ_SHAPE(3, 4), 1),
                        values(LZ_SHAPE(4, 5), 2)},
              *out;
    ck_assert_msg(lz_vmap(layer, in, 3, 1, NULL, &out, .in_axes = axes) == LZ_OK, "%s",
                  lz_last_error_text());
    same(out, stack_of(layer, in, 3, axes, 5, NULL), 1e-14);
    const int64_t last = -1;
    ck_assert_int_eq(lz_vmap(layer, in, 3, 1, NULL, &out, .in_axes = axes, .out_axes = &last),
                     LZ_OK);
    same(lz_transpose(out, 0, 1), stack_of(layer, in, 3, axes, 5, NULL), 1e-14);
    lz_scope_end();
}
END_TEST

static void gradient(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *w = user, *loss = lz_sum(lz_square(lz_tanh(lz_matmul(in[0], w))));
    lz_grad(loss, &w, 1, out);
}

/* the gradient of a parameter by each example, which lies outside of the callback */
START_TEST(gradients_by_example)
{
    lz_scope_begin();
    lz_tensor *x = values(LZ_SHAPE(6, 3), 0), *w = values(LZ_SHAPE(3, 2), 1), *out;
    ck_assert_msg(lz_vmap(gradient, &x, 1, 1, w, &out) == LZ_OK, "%s", lz_last_error_text());
    same(out, stack_of(gradient, &x, 1, NULL, 6, w), 1e-14);
    lz_scope_end();
}
END_TEST

/* the gradient of a sum over examples: captured values collect what comes from all */
START_TEST(gradient_of_a_vmap)
{
    lz_scope_begin();
    lz_tensor *in[3] = {values(LZ_SHAPE(5, 3), 0), values(LZ_SHAPE(3, 4), 1),
                        values(LZ_SHAPE(4), 2)},
              *out, *g[3], *want[3];
    const int64_t axes[3] = {0, LZ_UNMAPPED, LZ_UNMAPPED};
    ck_assert_int_eq(lz_vmap(layer, in, 3, 1, NULL, &out, .in_axes = axes), LZ_OK);
    ck_assert_int_eq(lz_grad(lz_sum(lz_square(out)), in, 3, g), LZ_OK);
    out = lz_tanh(lz_add(lz_matmul(in[0], in[1]), in[2]));
    ck_assert_int_eq(lz_grad(lz_sum(lz_square(out)), in, 3, want), LZ_OK);
    for (int k = 0; k < 3; k++)
        same(g[k], want[k], 1e-13);
    lz_scope_end();
}
END_TEST

static void halve(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_mul_scalar(in[0], 0.5);
    out[1] = lz_add_scalar(in[1], 1);
}
static lz_tensor *above_one(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_gt(in[0], lz_full(LZ_F64, LZ_SCALAR, 1));
}
static void rounds_needed(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *init[2] = {in[0], lz_zeros(LZ_I64, LZ_SCALAR)}, *end[2];
    lz_while(init, 2, above_one, halve, user, end);
    out[0] = end[1];
}

/* every example ends when its own condition says */
START_TEST(loops_that_end_by_example)
{
    lz_scope_begin();
    int64_t got[4];
    lz_tensor *x = lz_from_host(LZ_F64, LZ_SHAPE(4), ((double[]){0.5, 3, 100, 1})), *out;
    ck_assert_msg(lz_vmap(rounds_needed, &x, 1, 1, NULL, &out) == LZ_OK, "%s",
                  lz_last_error_text());
    ck_assert_int_eq(lz_to_host(out, got, sizeof got), LZ_OK);
    ck_assert(got[0] == 0 && got[1] == 2 && got[2] == 7 && got[3] == 0);
    lz_scope_end();
}
END_TEST

static void step(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                 void *user)
{
    (void)user;
    next[0] = lz_tanh(lz_add(carry[0], x[0]));
    y[0] = lz_mul(next[0], next[0]);
}
static void scanned(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *init = lz_zeros(LZ_F64, LZ_SHAPE(2)), *end;
    lz_scan(&init, 1, &in[0], 1, 1, step, user, &end, out);
}

/* a scan stays one that has gradients */
START_TEST(scans)
{
    lz_scope_begin();
    lz_tensor *x = values(LZ_SHAPE(3, 7, 2), 0), *out, *g, *want;
    ck_assert_msg(lz_vmap(scanned, &x, 1, 1, NULL, &out) == LZ_OK, "%s", lz_last_error_text());
    same(out, stack_of(scanned, &x, 1, NULL, 3, NULL), 1e-14);
    ck_assert_msg(lz_grad(lz_sum(out), &x, 1, &g) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_grad(lz_sum(stack_of(scanned, &x, 1, NULL, 3, NULL)), &x, 1, &want), LZ_OK);
    same(g, want, 1e-14);
    lz_scope_end();
}
END_TEST

static void product(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_mul(in[0], in[1]);
}
static void outer_row(lz_tensor *const *in, lz_tensor **out, void *user)
{
    const int64_t axes[2] = {LZ_UNMAPPED, 0};
    lz_vmap(product, in, 2, 1, user, out, .in_axes = axes);
}

START_TEST(one_in_another)
{
    lz_scope_begin();
    const int64_t axes[2] = {0, LZ_UNMAPPED};
    lz_tensor *in[2] = {values(LZ_SHAPE(3), 0), values(LZ_SHAPE(4), 1)}, *out;
    ck_assert_msg(lz_vmap(outer_row, in, 2, 1, NULL, &out, .in_axes = axes) == LZ_OK, "%s",
                  lz_last_error_text());
    same(out, lz_mul(lz_unsqueeze(in[0], 1), in[1]), 0);
    lz_scope_end();
}
END_TEST

static void noisy(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], lz_randn(LZ_F64, LZ_SHAPE(3)));
}
static void noisy_step(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next,
                       lz_tensor **y, void *user)
{
    (void)carry, (void)next;
    noisy(x, y, user);
}

START_TEST(random_numbers_are_those_of_a_loop)
{
    lz_scope_begin();
    lz_tensor *x = values(LZ_SHAPE(4, 3), 0), *a, *b;
    ck_assert_int_eq(lz_manual_seed(5), LZ_OK);
    ck_assert_int_eq(lz_vmap(noisy, &x, 1, 1, NULL, &a), LZ_OK);
    ck_assert_int_eq(lz_manual_seed(5), LZ_OK);
    ck_assert_int_eq(lz_scan(NULL, 0, &x, 1, 1, noisy_step, NULL, NULL, &b), LZ_OK);
    same(a, b, 0);
    lz_tensor *noise = lz_sub(a, x);
    ck_assert(lz_item(lz_amax(lz_abs(lz_sub(example(noise, 0, 0), example(noise, 0, 1))))) > 0.01);
    lz_scope_end();
}
END_TEST

static void constant(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)in;
    out[0] = lz_add_scalar(user, 1);
    out[1] = in[0];
}

START_TEST(results_that_are_the_same_for_all)
{
    lz_scope_begin();
    lz_tensor *x = values(LZ_SHAPE(4, 3), 0), *c = values(LZ_SHAPE(2), 1), *out[2];
    const int64_t axes[2] = {LZ_UNMAPPED, 0}, all[2] = {1, LZ_UNMAPPED};
    ck_assert_int_eq(lz_vmap(constant, &x, 1, 2, c, out, .out_axes = axes), LZ_OK);
    same(out[0], lz_add_scalar(c, 1), 0);
    same(out[1], x, 0);
    ck_assert_int_eq(lz_vmap(constant, &x, 1, 2, c, out), LZ_OK);
    same(out[0], lz_expand(lz_add_scalar(c, 1), LZ_SHAPE(4, 2)), 0);
    ck_assert_int_eq(lz_vmap(constant, &x, 1, 2, c, out, .out_axes = all), LZ_EINVAL);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "result 1"));
    ck_assert_int_eq(lz_status_of(out[0]), LZ_EINVAL);
    lz_scope_end();
}
END_TEST

static void no_result(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)in, (void)out, (void)user;
}
static void into_sixteen(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_reshape(in[0], LZ_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
}

START_TEST(bad_calls_are_errors)
{
    lz_scope_begin();
    lz_tensor *in[2] = {values(LZ_SHAPE(3), 0), values(LZ_SHAPE(4), 1)}, *out;
    const int64_t none[2] = {LZ_UNMAPPED, LZ_UNMAPPED}, far[2] = {1, 0};
    ck_assert_int_eq(lz_vmap(product, in, 2, 1, NULL, &out), LZ_ESHAPE);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "in[1]"));
    ck_assert_int_eq(lz_status_of(out), LZ_ESHAPE);
    ck_assert_int_eq(lz_vmap(product, in, 2, 1, NULL, &out, .in_axes = none), LZ_EINVAL);
    ck_assert_int_eq(lz_vmap(product, in, 2, 1, NULL, &out, .in_axes = far), LZ_ERANGE);
    ck_assert_int_eq(lz_vmap(NULL, in, 2, 1, NULL, &out), LZ_ENULL);
    ck_assert_int_eq(lz_vmap(product, NULL, 2, 1, NULL, &out), LZ_ENULL);
    ck_assert_int_eq(lz_vmap(product, in, 2, 1, NULL, NULL), LZ_ENULL);
    ck_assert_int_eq(lz_vmap(product, in, 2, 0, NULL, &out), LZ_EINVAL);
    ck_assert_int_eq(lz_vmap(no_result, in, 1, 1, NULL, &out), LZ_ENULL);
    lz_tensor *one = values(LZ_SHAPE(2, 1), 0);
    ck_assert_int_eq(lz_vmap(into_sixteen, &one, 1, 1, NULL, &out), LZ_ESHAPE);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "reshape"));
    const int64_t size_only[1] = {LZ_UNMAPPED};
    ck_assert_int_eq(lz_vmap(no_result, in, 0, 1, NULL, &out, .size = 3, .in_axes = size_only),
                     LZ_ENULL);
    lz_scope_end();
}
END_TEST

START_TEST(no_examples)
{
    lz_scope_begin();
    lz_tensor *x = lz_zeros(LZ_F64, LZ_SHAPE(0, 7, 2)), *out;
    ck_assert_msg(lz_vmap(scanned, &x, 1, 1, NULL, &out) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_shape_of(out).dims[0], 0);
    ck_assert_int_eq(lz_sync(&out, 1, true), LZ_OK);
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vmap");
    TCase *t = tcase_create("vmap");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_layer_for_many_examples);
    tcase_add_test(t, gradients_by_example);
    tcase_add_test(t, gradient_of_a_vmap);
    tcase_add_test(t, loops_that_end_by_example);
    tcase_add_test(t, scans);
    tcase_add_test(t, one_in_another);
    tcase_add_test(t, random_numbers_are_those_of_a_loop);
    tcase_add_test(t, results_that_are_the_same_for_all);
    tcase_add_test(t, bad_calls_are_errors);
    tcase_add_test(t, no_examples);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
