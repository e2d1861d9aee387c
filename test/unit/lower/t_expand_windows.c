/* t_expand_windows.c - pass `expand_windows`: every way of taking windows apart, with memory that
 * runs out at every point, and ranks that leave no room. */
#include "ir/eval/eval.h"
#include "passtest.h"
#include "support/lit.h"
#include <math.h>
#include <string.h>

#define REGION(op)                                                                                 \
    "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo." op " %a, %b : tensor<f32> "       \
    "stablehlo.return %r : tensor<f32> })"
#define SELECT                                                                                     \
    "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.compare GE, %a, %b, FLOAT : "       \
    "(tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1> }, "                \
    "{ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.add %a, %b : tensor<f32> "           \
    "stablehlo.return %r : tensor<f32> })"

static const struct {
    const char *parameters, *result, *op;
} programs[] = {
    {"%x: tensor<6x5xf32>", "tensor<3x5xf32>",
     "\"stablehlo.reduce_window\"(%x, %z) <{padding = dense<[[1, 0], [1, 1]]> : tensor<2x2xi64>, "
     "window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> " REGION(
         "maximum") " : (tensor<6x5xf32>, tensor<f32>) -> tensor<3x5xf32>"},
    /* prefixes; suffixes by a region of its own */
    {"%x: tensor<2x700xf32>", "tensor<2x700xf32>",
     "\"stablehlo.reduce_window\"(%x, %z) <{padding = dense<[[0, 0], [699, 0]]> : tensor<2x2xi64>, "
     "window_dimensions = array<i64: 1, 700>}> " REGION(
         "add") " : (tensor<2x700xf32>, tensor<f32>) -> tensor<2x700xf32>"},
    {"%x: tensor<90xf32>", "tensor<90xf32>",
     "\"stablehlo.reduce_window\"(%x, %z) <{padding = dense<[[0, 89]]> : tensor<1x2xi64>, "
     "window_dimensions = array<i64: 90>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): "
     "%r = stablehlo.add %b, %a : tensor<f32> stablehlo.return %r : tensor<f32> })"
     " : (tensor<90xf32>, tensor<f32>) -> tensor<90xf32>"},
    /* no room for the elements of five windows in rank 5 */
    {"%x: tensor<3x4x3x3x4xf32>", "tensor<2x3x2x2x3xf32>",
     "\"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: 2, 2, 2, 2, "
     "2>}> " REGION("add") " : (tensor<3x4x3x3x4xf32>, tensor<f32>) -> tensor<2x3x2x2x3xf32>"},
    {"%x: tensor<5x7xf32>, %s: tensor<2x3xf32>", "tensor<5x7xf32>",
     "\"stablehlo.select_and_scatter\"(%x, %s, %z) <{window_dimensions = array<i64: 3, 3>, "
     "window_strides = array<i64: 2, 2>}> " SELECT
     " : (tensor<5x7xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<5x7xf32>"},
    {"%x: tensor<3x3x3x3x3xf32>, %s: tensor<2x2x2x2x2xf32>", "tensor<3x3x3x3x3xf32>",
     "\"stablehlo.select_and_scatter\"(%x, %s, %z) <{window_dimensions = array<i64: 2, 2, 2, 2, "
     "2>}> " SELECT
     " : (tensor<3x3x3x3x3xf32>, tensor<2x2x2x2x2xf32>, tensor<f32>) -> tensor<3x3x3x3x3xf32>"},
    {"%x: tensor<2x4x5x6xf32>, %k: tensor<6x2x3x2xf32>", "tensor<2x6x3x5xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], "
     "window = {reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : "
     "i64} : (tensor<2x4x5x6xf32>, tensor<6x2x3x2xf32>) -> tensor<2x6x3x5xf32>"},
    {"%x: tensor<1x2x3x3x3xf32>, %k: tensor<4x1x2x2x2xf32>", "tensor<1x4x2x2x2xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, "
     "2], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : "
     "(tensor<1x2x3x3x3xf32>, tensor<4x1x2x2x2xf32>) -> tensor<1x4x2x2x2xf32>"},
    {"%x: tensor<1x2x2x2x2x2x1x4xf32>, %k: tensor<2x2x2x2x2x1x2x2xf32>",
     "tensor<1x1x1x1x1x1x1x2xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, 2, 3, 4, 5, f]x[0, 1, 2, 3, 4, 5, i, "
     "o]->[b, 0, 1, 2, 3, 4, 5, f], window = {} {batch_group_count = 1 : i64, feature_group_count "
     "= 2 : i64} : (tensor<1x2x2x2x2x2x1x4xf32>, tensor<2x2x2x2x2x1x2x2xf32>) -> "
     "tensor<1x1x1x1x1x1x1x2xf32>"},
    /* a dilated input: phases with all taps, some, and none; results that no phase divides */
    {"%x: tensor<2x3x4x5xf32>, %k: tensor<3x2x5x6xf32>", "tensor<2x7x9x6xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {pad = [[1, 3], [1, -1]], lhs_dilate = [2, 3], reverse = [true, false]} "
     "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<2x3x4x5xf32>, tensor<3x2x5x6xf32>) -> tensor<2x7x9x6xf32>"},
    /* windows longer than the result */
    {"%x: tensor<3x2x9x4xf32>, %k: tensor<2x5x3x5xf32>", "tensor<1x5x5x4xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [f, 0, 1, b]x[0, 1, i, o]->[0, 1, f, b], "
     "window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<3x2x9x4xf32>, tensor<2x5x3x5xf32>) -> tensor<1x5x5x4xf32>"},
};
enum { NPROGRAM = sizeof programs / sizeof *programs };

static lz_func *program(int i)
{
    lz_buf b = {0};
    lz_func *f;
    lz_buf_printf(
        &b,
        "module { func.func public @main(%s) -> %s { %%z = stablehlo.constant dense<0.0> : "
        "tensor<f32> %%v = %s return %%v : %s } }",
        programs[i].parameters, programs[i].result, programs[i].op, programs[i].result);
    const char *text = lz_buf_str(&b);
    ck_assert_msg(lz_func_parse(text, strlen(text), "program", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
    return f;
}

static lz_literal *run(const lz_func *f)
{
    lz_rnd r = {7};
    lz_literal *args[2] = {NULL}, *out = NULL;
    for (uint32_t k = 0; k < f->nparam; k++)
        args[k] = lz_test_random(&r, lz_val_type(f, k), LZ_FILL_MODEST);
    ck_assert_msg(lz_ref_run(f, args, &out) == LZ_OK, "%s", lz_error_get()->message);
    for (uint32_t k = 0; k < f->nparam; k++)
        lz_literal_release(args[k]);
    return out;
}

/* The same results, of nothing that has a window. */
START_TEST(taken_apart)
{
    lz_func *f = program(_i), *g;
    ck_assert_msg(lz_passes_run(f, "expand_windows", NULL, &g) == LZ_OK && g, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_func_verify(g), LZ_OK);
    for (uint32_t i = 0; i < g->ninst; i++)
        ck_assert_int_ne(lz_op_get(lz_inst_op(&g->insts[i]))->cls, LZ_CLASS_WINDOW);
    lz_literal *want = run(f), *got = run(g);
    for (int64_t k = 0; k < want->type->nelem; k++) {
        double a = lz_literal_get_f64(want, k), b = lz_literal_get_f64(got, k);
        ck_assert_msg(fabs(a - b) <= 1e-4 * (1 + fabs(a)), "element %d: %g, not %g", (int)k, b, a);
    }
    lz_literal_release(want);
    lz_literal_release(got);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

START_TEST(failing_memory)
{
    lz_check_failing_memory(program(_i), "expand_windows");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("windows");
    TCase *t = tcase_create("windows");
    tcase_add_loop_test(t, taken_apart, 0, NPROGRAM);
    tcase_add_loop_test(t, failing_memory, 0, NPROGRAM);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
