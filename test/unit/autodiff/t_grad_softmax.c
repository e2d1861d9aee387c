/* t_grad_softmax.c - the gradient of softmax as one operation (vjp_softmax.c): against differences
 * in all the forms in which a program writes softmax, and in similar ones that are not; where a
 * gradient inside of it is asked for, or cut; and the invariant that only the quotients are
 * stored. */
#include "grad_check.h"
#include "support/graph_reads.h"

static lz_tensor *over(lz_tensor *e, int64_t dim, bool keepdim)
{
    return lz_sum(e, .dims = LZ_DIM(dim), .keepdim = keepdim);
}

static lz_tensor *f_middle(lz_tensor **x)
{
    return lz_softmax(x[0], 1);
}
static lz_tensor *f_by_hand(lz_tensor **x)
{
    lz_tensor *e = lz_exp(x[0]);
    return lz_div(e, over(e, 1, true));
}
static lz_tensor *f_over_two(lz_tensor **x)
{
    lz_tensor *e = lz_exp(x[0]);
    return lz_div(e, lz_sum(e, .dims = {2, {0, 2}}, .keepdim = true));
}
static lz_tensor *f_over_all(lz_tensor **x)
{
    lz_tensor *e = lz_exp(x[0]);
    return lz_div(e, lz_sum(e));
}
static lz_tensor *f_used_again(lz_tensor **x)
{
    lz_tensor *e = lz_exp(x[0]), *s = over(e, 1, true);
    return lz_add(lz_mul(lz_div(e, s), lz_sqrt(e)), lz_log(s));
}
static lz_tensor *f_twice(lz_tensor **x) /* by two sums */
{
    lz_tensor *e = lz_exp(x[0]);
    return lz_mul(lz_div(e, over(e, 0, true)), lz_div(e, over(e, 1, true)));
}
static lz_tensor *f_more(lz_tensor **x) /* the sum is not of exponentials alone */
{
    lz_tensor *e = lz_exp(x[0]);
    return lz_div(e, lz_unsqueeze(lz_add(lz_mul(x[1], x[1]), over(e, 1, false)), 1));
}
static lz_tensor *f_other_row(lz_tensor **x) /* a square: divided by another row's sum */
{
    lz_tensor *e = lz_exp(x[0]);
    return lz_div(e, over(e, 1, false));
}
static lz_tensor *f_other(lz_tensor **x) /* by the sum of other exponentials */
{
    return lz_div(lz_exp(x[0]), over(lz_exp(x[1]), 1, true));
}
static lz_tensor *f_one(lz_tensor **x) /* rows of one element */
{
    lz_tensor *e = lz_exp(x[0]);
    return lz_add(lz_div(e, over(e, 1, true)), x[0]);
}
static lz_tensor *f_turned(lz_tensor **x) /* broadcast out of order */
{
    lz_tensor *e = lz_exp(x[0]), *s = over(e, 2, false);
    return lz_div(e, lz_hlo_broadcast_in_dim(s, LZ_SHAPE(2, 2, 3), ((int64_t[]){1, 0}), 2));
}
/* e / (what the sum begins with + sum(e)): a number, or a value with a gradient of its own */
#define BEGINNING(param, number)                                                                   \
    "module { func.func @main(%x: tensor<2x3xf64>" param ") -> tensor<2x3xf64> {" number           \
    "%e = stablehlo.exponential %x : tensor<2x3xf64>"                                              \
    "%s = stablehlo.reduce(%e init: %b) applies stablehlo.add across dimensions = [1] : "          \
    "(tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>"                                              \
    "%w = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xf64>) -> tensor<2x3xf64>"          \
    "%y = stablehlo.divide %e, %w : tensor<2x3xf64>"                                               \
    "return %y : tensor<2x3xf64> } }"
static lz_tensor *called(const char *text, lz_tensor **x, int n)
{
    lz_tensor *y;
    lz_stablehlo *p = lz_stablehlo_parse(text, strlen(text), "test");
    ck_assert_msg(p != NULL, "%s", lz_last_error_text());
    ck_assert_msg(lz_stablehlo_call(p, x, n, &y, 1) == LZ_OK, "%s", lz_last_error_text());
    lz_stablehlo_free(p);
    return y;
}
static lz_tensor *f_from_number(lz_tensor **x)
{
    return called(BEGINNING("", "%b = stablehlo.constant dense<0.7> : tensor<f64>"), x, 1);
}
static lz_tensor *f_from_value(lz_tensor **x)
{
    return called(BEGINNING(", %b: tensor<f64>", ""), x, 2);
}
static const gcase cases[] = {
    {"middle", f_middle, 1, {S(2, 3, 2)}, -2, 2, true},
    {"by hand", f_by_hand, 1, {S(2, 3)}, -2, 2, true},
    {"over two", f_over_two, 1, {S(2, 3, 2)}, -2, 2, true},
    {"over all", f_over_all, 1, {S(2, 3)}, -2, 2, true},
    {"used again", f_used_again, 1, {S(2, 3)}, -2, 2, true},
    {"by two sums", f_twice, 1, {S(3, 3)}, -2, 2, true},
    {"more in the sum", f_more, 2, {S(2, 3), S(2)}, -2, 2, true},
    {"from a number", f_from_number, 1, {S(2, 3)}, -2, 2, true},
    {"from a value", f_from_value, 2, {S(2, 3), S()}, 0.5, 2, true},
    {"another row's", f_other_row, 1, {S(3, 3)}, -2, 2, true},
    {"another's", f_other, 2, {S(2, 3), S(2, 3)}, -2, 2, true},
    {"one element", f_one, 1, {S(3, 1)}, -2, 2, true},
    {"out of order", f_turned, 1, {S(2, 2, 3)}, -2, 2, true},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(by_differences)
{
    compare_first(cases, NCASES, _i);
}
END_TEST

START_TEST(second_order)
{
    compare_second(&cases[_i]);
}
END_TEST

static const double given[6] = {0.3, -1.2, 0.8, 2, 0.1, -0.4},
                    weights[6] = {1, -2, 0.5, 3, 0.7, -1};

static lz_tensor *of(const double *v)
{
    return lz_from_host(LZ_F64, LZ_SHAPE(2, 3), v);
}

static void is_near(lz_tensor *t, const double *want, int n, const char *what)
{
    double got[6];
    ck_assert_msg(lz_to_host(t, got, (size_t)n * sizeof *got) == LZ_OK, "%s: %s", what,
                  lz_last_error_text());
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(got[i] - want[i]) < 1e-12, "%s: element %d: %g for %g", what, i, got[i],
                      want[i]);
}

/* The exponentials and their sum are parameters, too: what arrives at them is theirs. */
START_TEST(gradients_inside)
{
    double by_e[6], by_s[2] = {0};
    lz_scope_begin();
    lz_tensor *x = of(given), *e = lz_exp(x), *s = over(e, 1, false);
    lz_tensor *loss = lz_sum(lz_mul(lz_div(e, lz_unsqueeze(s, 1)), of(weights)));
    lz_tensor *only_s[1] = {s}, *both[2] = {e, s}, *g[2];
    for (int r = 0; r < 2; r++) {
        double sum = 0;
        for (int i = 0; i < 3; i++)
            sum += exp(given[3 * r + i]);
        for (int i = 0; i < 3; i++) {
            by_e[3 * r + i] = weights[3 * r + i] / sum;
            by_s[r] -= weights[3 * r + i] * exp(given[3 * r + i]) / sum / sum;
        }
    }
    ck_assert_int_eq(lz_grad(loss, only_s, 1, g), LZ_OK);
    is_near(g[0], by_s, 2, "by the sums");
    double whole[6]; /* s is of e: its gradient passes on */
    for (int i = 0; i < 6; i++)
        whole[i] = by_e[i] + by_s[i / 3];
    ck_assert_int_eq(lz_grad(loss, both, 2, g), LZ_OK);
    is_near(g[0], whole, 6, "by the exponentials");
    is_near(g[1], by_s, 2, "by the sums, of both");
    lz_scope_end();
}
END_TEST

/* A sum that is detached divides like a number. */
START_TEST(a_cut_inside)
{
    double want[6];
    lz_scope_begin();
    lz_tensor *x = of(given), *e = lz_exp(x), *g;
    lz_tensor *loss = lz_sum(lz_mul(lz_div(e, lz_detach(over(e, 1, true))), of(weights)));
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += exp(given[i / 3 * 3 + k]);
        want[i] = weights[i] * exp(given[i]) / sum;
    }
    ck_assert_int_eq(lz_grad(loss, &x, 1, &g), LZ_OK);
    is_near(g, want, 6, "a detached sum");
    lz_scope_end();
}
END_TEST

/* Invariant: the exponentials are read by their sum and by the quotient alone, so no step keeps
 * them until the gradient. */
START_TEST(the_quotients_are_all_it_keeps)
{
    lz_scope_begin();
    lz_tensor *x = of(given), *g;
    lz_tensor *y = _i == 0   ? lz_softmax(x, 1)
                   : _i == 1 ? f_by_hand(&x)
                   : _i == 2 ? f_from_number(&x)
                             : lz_to(lz_softmax(lz_to(x, LZ_BF16), 1), LZ_F64);
    ck_assert_int_eq(lz_grad(lz_sum(lz_mul(y, of(weights))), &x, 1, &g), LZ_OK);
    ck_assert_int_eq(reads_of(g, "stablehlo.exponential"), 2);
    lz_scope_end();
}
END_TEST

/* Reshapes that put extents of 1 in and take them out. */
START_TEST(moved_in_order)
{
    double got[2][12], v[12];
    for (int i = 0; i < 12; i++)
        v[i] = sin(3.0 * i);
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F64, LZ_SHAPE(2, 2, 3), v), *g[2];
    lz_tensor *e = lz_exp(x), *s = lz_hlo_reshape(over(e, 2, false), LZ_SHAPE(2, 1, 2, 1));
    s = lz_hlo_reshape(lz_hlo_reshape(s, LZ_SHAPE(1, 2, 2)), LZ_SHAPE(2, 2, 1));
    lz_tensor *y[2] = {lz_div(e, s), lz_softmax(x, 2)};
    lz_tensor *w =
        lz_from_host(LZ_F64, LZ_SHAPE(2, 2, 3), (double[12]){1, 2, -1, 4, 0.5, 3, 1, 1, 2});
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lz_grad(lz_sum(lz_mul(y[i], w)), &x, 1, &g[i]), LZ_OK);
        ck_assert_int_eq(reads_of(g[i], "stablehlo.exponential"), 2);
        ck_assert_int_eq(lz_to_host(g[i], got[i], sizeof got[i]), LZ_OK);
    }
    for (int i = 0; i < 12; i++)
        ck_assert_msg(fabs(got[0][i] - got[1][i]) < 1e-12, "%d: %g for %g", i, got[0][i],
                      got[1][i]);
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_softmax");
    TCase *t = tcase_create("softmax");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, by_differences, 0, 2 * NCASES);
    tcase_add_loop_test(t, second_order, 0, NCASES);
    tcase_add_test(t, gradients_inside);
    tcase_add_test(t, a_cut_inside);
    tcase_add_loop_test(t, the_quotients_are_all_it_keeps, 0, 4);
    tcase_add_test(t, moved_in_order);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
