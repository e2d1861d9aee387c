/* t_grad_regions.c - gradients of reductions, windows and scatters with arbitrary regions and
 * significant initial values, against central differences, first and second order, on every
 * device. */
#include "grad_check.h"
#include <stdio.h>

/* log(e^a + e^b), and a linear recurrence: (a, b) then (c, d) is (a c, b c + d). */
#define LOGADDEXP                                                                                  \
    "({ ^bb0(%a: tensor<f64>, %b: tensor<f64>): %m = stablehlo.maximum %a, %b : tensor<f64> "      \
    "%u = stablehlo.subtract %a, %m : tensor<f64> %v = stablehlo.subtract %b, %m : tensor<f64> "   \
    "%p = stablehlo.exponential %u : tensor<f64> %q = stablehlo.exponential %v : tensor<f64> "     \
    "%s = stablehlo.add %p, %q : tensor<f64> %l = stablehlo.log %s : tensor<f64> "                 \
    "%r = stablehlo.add %l, %m : tensor<f64> stablehlo.return %r : tensor<f64> })"
#define RECURRENCE                                                                                 \
    "({ ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>): "                \
    "%p = stablehlo.multiply %a, %c : tensor<f64> %q = stablehlo.multiply %b, %c : tensor<f64> "   \
    "%r = stablehlo.add %q, %d : tensor<f64> stablehlo.return %p, %r : tensor<f64>, tensor<f64> "  \
    "})"
#define MAIN(params, results) "func.func @main(" params ") -> " results " { "

static lz_tensor *run(const char *text, lz_tensor *const *x, int n, int nout)
{
    lz_tensor *out[2];
    lz_stablehlo *p = lz_stablehlo_parse(text, strlen(text), "test");
    ck_assert_msg(p != NULL, "%s", lz_last_error_text());
    lz_status s = lz_stablehlo_call(p, x, n, out, nout);
    ck_assert_msg(s == LZ_OK, "%s", lz_last_error_text());
    lz_stablehlo_free(p);
    return nout == 2 ? lz_add(out[0], lz_mul_scalar(out[1], 0.5)) : out[0];
}

static lz_tensor *f_reduce(lz_tensor **x)
{
    return run(MAIN("%x: tensor<3x5xf64>, %i: tensor<f64>",
                    "tensor<3xf64>") "%0 = \"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64: "
                                     "1>}> " LOGADDEXP " : (tensor<3x5xf64>, tensor<f64>) -> "
                                     "tensor<3xf64> return %0 : tensor<3xf64> }",
               x, 2, 1);
}
static lz_tensor *f_reduce_all(lz_tensor **x)
{
    return run(MAIN("%x: tensor<3x5xf64>, %i: tensor<f64>",
                    "tensor<f64>") "%0 = \"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64: 0, "
                                   "1>}> " LOGADDEXP " : (tensor<3x5xf64>, tensor<f64>) -> "
                                   "tensor<f64> return %0 : tensor<f64> }",
               x, 2, 1);
}
/* The order counts. */
static lz_tensor *f_recurrence(lz_tensor **x)
{
    return run(
        MAIN("%x: tensor<7x2xf64>, %y: tensor<7x2xf64>, %j: tensor<f64>",
             "(tensor<2xf64>, tensor<2xf64>)") "%i = stablehlo.constant dense<1.0> : tensor<f64> "
                                               "%0:2 = \"stablehlo.reduce\"(%x, %y, %i, %j) "
                                               "<{dimensions = array<i64: 0>}> " RECURRENCE
                                               " : (tensor<7x2xf64>, tensor<7x2xf64>, tensor<f64>, "
                                               "tensor<f64>) -> (tensor<2xf64>, tensor<2xf64>) "
                                               "return %0#0, %0#1 : tensor<2xf64>, tensor<2xf64> }",
        x, 3, 2);
}
static lz_tensor *f_product_from(lz_tensor **x)
{
    return run(MAIN("%x: tensor<2x3xf64>, %i: tensor<f64>",
                    "tensor<2xf64>") "%0 = stablehlo.reduce(%x init: %i) applies "
                                     "stablehlo.multiply across dimensions = [1] : "
                                     "(tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64> return %0 : "
                                     "tensor<2xf64> }",
               x, 2, 1);
}
/* Some rows are below the initial value, and have no gradient; that has it. */
static lz_tensor *f_max_from(lz_tensor **x)
{
    return run(MAIN("%x: tensor<6x2xf64>, %i: tensor<f64>",
                    "tensor<6xf64>") "%0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum "
                                     "across dimensions = [1] : "
                                     "(tensor<6x2xf64>, tensor<f64>) -> tensor<6xf64> return %0 : "
                                     "tensor<6xf64> }",
               x, 2, 1);
}
static lz_tensor *f_max_from_number(lz_tensor **x)
{
    lz_tensor *in[2] = {x[0], lz_scalar(LZ_F64, 0.9)};
    return f_max_from(in);
}
static lz_tensor *window(const char *op, lz_tensor **x, lz_tensor *init, const char *how)
{
    char text[1024];
    lz_tensor *in[2] = {x[0], init};
    snprintf(text, sizeof text,
             MAIN("%%x: tensor<9xf64>, %%i: tensor<f64>",
                  "tensor<4xf64>") "%%0 = \"stablehlo.reduce_window\"(%%x, %%i) <{%s, "
                                   "window_dimensions = array<i64: 3>, "
                                   "window_strides = array<i64: 2>}> ({ ^bb0(%%a: tensor<f64>, "
                                   "%%b: tensor<f64>): %%r = "
                                   "stablehlo.%s %%a, %%b : tensor<f64> stablehlo.return %%r : "
                                   "tensor<f64> }) : (tensor<9xf64>, "
                                   "tensor<f64>) -> tensor<4xf64> return %%0 : tensor<4xf64> }",
             how, op);
    return run(text, in, 2, 1);
}
#define PLAIN "padding = dense<[[1, -1]]> : tensor<1x2xi64>"
#define WIDE "padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_dilations = array<i64: 2>"
static lz_tensor *f_max_window(lz_tensor **x)
{
    return window("maximum", x, lz_scalar(LZ_F64, 1), PLAIN);
}
static lz_tensor *f_max_window_apart(lz_tensor **x)
{
    return window("maximum", x, lz_scalar(LZ_F64, 1), WIDE);
}
static lz_tensor *f_min_window(lz_tensor **x)
{
    return window("minimum", x, lz_scalar(LZ_F64, 0.6), PLAIN);
}
static lz_tensor *f_max_window_from(lz_tensor **x)
{
    return window("maximum", x, x[1], WIDE);
}
static lz_tensor *f_sum_window_from(lz_tensor **x)
{
    return window("add", x, x[1], WIDE);
}
static lz_tensor *f_window(lz_tensor **x)
{
    return run(MAIN("%x: tensor<5x4xf64>, %i: tensor<f64>",
                    "tensor<3x4xf64>") "%0 = \"stablehlo.reduce_window\"(%x, %i) <{padding = "
                                       "dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, "
                                       "window_dimensions = array<i64: 2, 2>, window_strides = "
                                       "array<i64: 2, 1>}> " LOGADDEXP
                                       " : (tensor<5x4xf64>, tensor<f64>) -> tensor<3x4xf64> "
                                       "return %0 : tensor<3x4xf64> }",
               x, 2, 1);
}
static const char scatter[] =
    MAIN("%x: tensor<5x2xf64>, %u: tensor<3x2xf64>",
         "tensor<5x2xf64>") "%i = stablehlo.constant dense<[3, 0, 9]> : "
                            "tensor<3xi64> " /* one is outside */
                            "%0 = \"stablehlo.scatter\"(%x, %i, %u) "
                            "<{scatter_dimension_numbers = "
                            "#stablehlo.scatter<update_window_dims = "
                            "[1], "
                            "inserted_window_dims = [0], "
                            "scatter_dims_to_operand_dims = [0], "
                            "index_vector_dim = 1>, unique_indices = "
                            "UNIQUE}> " LOGADDEXP " : (tensor<5x2xf64>, tensor<3xi64>, "
                            "tensor<3x2xf64>) -> tensor<5x2xf64> return "
                            "%0 : tensor<5x2xf64> }";
static lz_tensor *scattered(lz_tensor **x, const char *unique)
{
    char text[2048];
    const char *at = strstr(scatter, "UNIQUE");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - scatter), scatter, unique, at + 6);
    return run(text, x, 2, 1);
}
static lz_tensor *f_scatter(lz_tensor **x)
{
    return scattered(x, "true");
}
static lz_tensor *f_scatter_pair(lz_tensor **x)
{
    return run(
        MAIN("%x: tensor<5xf64>, %y: tensor<5xf64>, %u: tensor<2xf64>",
             "(tensor<5xf64>, tensor<5xf64>)") "%i = stablehlo.constant dense<[4, 1]> : "
                                               "tensor<2xi64> "
                                               "%0:2 = \"stablehlo.scatter\"(%x, %y, %i, %u, %u) "
                                               "<{scatter_dimension_numbers = "
                                               "#stablehlo.scatter<inserted_window_dims = [0], "
                                               "scatter_dims_to_operand_dims = [0], "
                                               "index_vector_dim = 1>, "
                                               "unique_indices = true}> " RECURRENCE
                                               " : (tensor<5xf64>, tensor<5xf64>, tensor<2xi64>, "
                                               "tensor<2xf64>, tensor<2xf64>) -> (tensor<5xf64>, "
                                               "tensor<5xf64>) "
                                               "return %0#0, %0#1 : tensor<5xf64>, tensor<5xf64> }",
        x, 3, 2);
}

/* Updates that meet, in a region where the order counts: (a, b) is a b + sin b. */
#define IN_ORDER                                                                                   \
    "({ ^bb0(%a: tensor<f64>, %b: tensor<f64>): %p = stablehlo.multiply %a, %b : tensor<f64> "     \
    "%q = stablehlo.sine %b : tensor<f64> %r = stablehlo.add %p, %q : tensor<f64> "                \
    "stablehlo.return %r : tensor<f64> })"
static lz_tensor *f_scatter_meets(lz_tensor **x)
{
    return run(MAIN("%x: tensor<5x3xf64>, %u: tensor<4x2xf64>",
                    "tensor<5x3xf64>") "%i = stablehlo.constant dense<[[3, 0], [0, 1], [3, 1], [4, "
                                       "2]]> : tensor<4x2xi64> " /* the last one is outside */
                                       "%0 = \"stablehlo.scatter\"(%x, %i, %u) "
                                       "<{scatter_dimension_numbers = "
                                       "#stablehlo.scatter<update_window_dims = [1], "
                                       "inserted_window_dims = [0], scatter_dims_to_operand_dims "
                                       "= [0, 1], index_vector_dim = 1>}> " IN_ORDER
                                       " : (tensor<5x3xf64>, tensor<4x2xi64>, tensor<4x2xf64>) -> "
                                       "tensor<5x3xf64> return %0 : tensor<5x3xf64> }",
               x, 2, 1);
}
static lz_tensor *f_scatter_logs(lz_tensor **x)
{
    return scattered(x, "false");
}
static lz_tensor *f_scatter_pairs_meet(lz_tensor **x)
{
    return run(
        MAIN("%x: tensor<5xf64>, %y: tensor<5xf64>, %u: tensor<4xf64>",
             "(tensor<5xf64>, tensor<5xf64>)") "%i = stablehlo.constant dense<[4, 1, 4, 4]> : "
                                               "tensor<4xi64> "
                                               "%0:2 = \"stablehlo.scatter\"(%x, %y, %i, %u, %u) "
                                               "<{scatter_dimension_numbers = "
                                               "#stablehlo.scatter<inserted_window_dims = [0], "
                                               "scatter_dims_to_operand_dims = [0], "
                                               "index_vector_dim = 1>}> " RECURRENCE
                                               " : (tensor<5xf64>, tensor<5xf64>, tensor<4xi64>, "
                                               "tensor<4xf64>, tensor<4xf64>) -> (tensor<5xf64>, "
                                               "tensor<5xf64>) "
                                               "return %0#0, %0#1 : tensor<5xf64>, tensor<5xf64> }",
        x, 3, 2);
}
/* The element of least magnitude, of windows that overlap. */
#define SELECTED(scatter)                                                                          \
    MAIN("%x: tensor<5x4xf64>, %s: tensor<3x3xf64>, %i: tensor<f64>", "tensor<5x4xf64>")           \
    "%0 = \"stablehlo.select_and_scatter\"(%x, %s, %i) <{padding = dense<[[0, 1], [1, 0]]> : "     \
    "tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> "  \
    "({ ^bb0(%a: tensor<f64>, %b: tensor<f64>): %p = stablehlo.abs %a : tensor<f64> "              \
    "%q = stablehlo.abs %b : tensor<f64> %r = stablehlo.compare LT, %p, %q : (tensor<f64>, "       \
    "tensor<f64>) -> tensor<i1> stablehlo.return %r : tensor<i1> }, " scatter                      \
    ") : (tensor<5x4xf64>, tensor<3x3xf64>, tensor<f64>) -> tensor<5x4xf64> "                      \
    "return %0 : tensor<5x4xf64> }"
#define ADDED                                                                                      \
    "{ ^bb0(%a: tensor<f64>, %b: tensor<f64>): %r = stablehlo.add %a, %b : tensor<f64> "           \
    "stablehlo.return %r : tensor<f64> }"
#define COMBINED                                                                                   \
    "{ ^bb0(%a: tensor<f64>, %b: tensor<f64>): %p = stablehlo.multiply %a, %b : tensor<f64> "      \
    "%q = stablehlo.sine %b : tensor<f64> %r = stablehlo.add %p, %q : tensor<f64> "                \
    "stablehlo.return %r : tensor<f64> }"
static lz_tensor *f_select_any(lz_tensor **x)
{
    return run(SELECTED(ADDED), x, 3, 1);
}
static lz_tensor *f_select_combine(lz_tensor **x)
{
    return run(SELECTED(COMBINED), x, 3, 1);
}

static const gcase cases[] = {
    {"reduce", f_reduce, 2, {S(3, 5), S()}, -1, 1, true},
    {"reduce of all", f_reduce_all, 2, {S(3, 5), S()}, -1, 1, true},
    {"recurrence", f_recurrence, 3, {S(7, 2), S(7, 2), S()}, 0.5, 1.5, true},
    {"product from", f_product_from, 2, {S(2, 3), S()}, 0.5, 1.5, true},
    {"maximum from", f_max_from, 2, {S(6, 2), S()}, 0.1, 1.5, true},
    {"maximum from a number", f_max_from_number, 1, {S(6, 2)}, 0.1, 1.5, true},
    {"largest of windows", f_max_window, 1, {S(9)}, 0.1, 1.5, true},
    {"largest of windows with gaps", f_max_window_apart, 1, {S(9)}, 0.1, 1.5, true},
    {"smallest of windows", f_min_window, 1, {S(9)}, 0.1, 1.5, true},
    {"largest of windows from", f_max_window_from, 2, {S(9), S()}, 0.1, 1.5, true},
    {"sum of windows from", f_sum_window_from, 2, {S(9), S()}, 0.1, 1.5, true},
    {"windows", f_window, 2, {S(5, 4), S()}, -1, 1, true},
    {"scatter", f_scatter, 2, {S(5, 2), S(3, 2)}, -1, 1, true},
    {"scatter of pairs", f_scatter_pair, 3, {S(5), S(5), S(2)}, 0.5, 1.5, true},
    {"scatter that meets", f_scatter_meets, 2, {S(5, 3), S(4, 2)}, 0.3, 1.5, true},
    {"scatter that may meet", f_scatter_logs, 2, {S(5, 2), S(3, 2)}, -1, 1, true},
    {"scatter of pairs that meet", f_scatter_pairs_meet, 3, {S(5), S(5), S(4)}, 0.5, 1.5, true},
    {"select by a region", f_select_any, 3, {S(5, 4), S(3, 3), S()}, 0.1, 1.5, true},
    {"select, combined", f_select_combine, 3, {S(5, 4), S(3, 3), S()}, 0.1, 1.5, true},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(first_order)
{
    compare_first(cases, NCASES, _i);
}
END_TEST

START_TEST(second_order)
{
    ck_assert_int_eq(lz_set_device(devices[_i / NCASES]), LZ_OK);
    compare(&cases[_i % NCASES], 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_regions");
    TCase *t = tcase_create("regions");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, first_order, 0, 2 * NCASES);
    tcase_add_loop_test(t, second_order, 0, 2 * NCASES);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
