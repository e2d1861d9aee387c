/* t_reduce_order.c - whether it matters in which order a region takes elements: regions of every
 * kind, those of the table's combiners for every dtype, and what becomes of reductions by them. */
#include "lower/passes/reduce_order.h"
#include "ir/attr.h"
#include "ir/text/parse.h"
#include "lower/pass.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

/* The region of a reduce: statements that end in its return. */
static const struct {
    const char *types, *body;
    bool commutes, associates;
    int arg;
} regions[] = {
#define GT_NAN(DIR)                                                                                \
    "%0 = stablehlo.compare " DIR ", %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1> "    \
    "%1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1> "         \
    "%2 = stablehlo.or %0, %1 : tensor<i1> "                                                       \
    "%3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1> "         \
    "%4 = stablehlo.compare LT, %ai, %bi, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1> "      \
    "%5 = stablehlo.and %3, %4 : tensor<i1> %6 = stablehlo.or %2, %5 : tensor<i1> "                \
    "%7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32> "                                  \
    "%8 = stablehlo.select %6, %ai, %bi : tensor<i1>, tensor<i32> "                                \
    "stablehlo.return %7, %8 : tensor<f32>, tensor<i32>"
    {"f32 i32", GT_NAN("GT"), false, true, 1},
    {"f32 i32", GT_NAN("LT"), false, true, -1},
#define PLAIN(DIR)                                                                                 \
    "%0 = stablehlo.compare " DIR ", %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1> "    \
    "%1 = stablehlo.select %0, %a, %b : tensor<i1>, tensor<f32> "                                  \
    "%2 = stablehlo.select %0, %ai, %bi : tensor<i1>, tensor<i32> "                                \
    "stablehlo.return %1, %2 : tensor<f32>, tensor<i32>"
    {"f32 i32", PLAIN("GT"), false, false, 0},
    {"f32 i32", PLAIN("GE"), false, false, 0},
    {"f32 i32", PLAIN("LE"), false, false, 0},
    {"i32 i32",
     "%0 = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1> "
     "%1 = stablehlo.select %0, %a, %b : tensor<i1>, tensor<i32> "
     "%2 = stablehlo.select %0, %ai, %bi : tensor<i1>, tensor<i32> "
     "stablehlo.return %1, %2 : tensor<i32>, tensor<i32>",
     false, true, 1},
    {"f32 f32",
     "%0 = stablehlo.maximum %a, %b : tensor<f32> %1 = stablehlo.minimum %ai, %bi : tensor<f32> "
     "stablehlo.return %0, %1 : tensor<f32>, tensor<f32>",
     true, true, 0},
    {"f32 f32", /* log of a sum of exponentials, by its largest and the rest */
     "%0 = stablehlo.maximum %a, %b : tensor<f32> %1 = stablehlo.subtract %a, %0 : tensor<f32> "
     "%2 = stablehlo.subtract %b, %0 : tensor<f32> %3 = stablehlo.exponential %1 : tensor<f32> "
     "%4 = stablehlo.exponential %2 : tensor<f32> %5 = stablehlo.multiply %ai, %3 : tensor<f32> "
     "%6 = stablehlo.multiply %bi, %4 : tensor<f32> %7 = stablehlo.add %5, %6 : tensor<f32> "
     "stablehlo.return %0, %7 : tensor<f32>, tensor<f32>",
     true, true, 0},
    {"f32 f32", /* compositions of x -> a x + b */
     "%0 = stablehlo.multiply %a, %b : tensor<f32> %1 = stablehlo.multiply %ai, %b : tensor<f32> "
     "%2 = stablehlo.add %1, %bi : tensor<f32> stablehlo.return %0, %2 : tensor<f32>, tensor<f32>",
     false, true, 0},
    {"i32 i32",
     "%0 = stablehlo.subtract %a, %b : tensor<i32> %1 = stablehlo.add %ai, %bi : tensor<i32> "
     "stablehlo.return %0, %1 : tensor<i32>, tensor<i32>",
     false, false, 0},
    {"f32 i32", "stablehlo.return %b, %bi : tensor<f32>, tensor<i32>", false, true, 0},
    {"f32 i32", "stablehlo.return %a, %ai : tensor<f32>, tensor<i32>", false, true, 0}};
enum { NREGION = sizeof regions / sizeof regions[0] };

static lz_func *program(int i)
{
    char t[2][8], text[4096];
    lz_func *f = NULL;
    ck_assert_int_eq(sscanf(regions[i].types, "%7s %7s", t[0], t[1]), 2);
    snprintf(text, sizeof text,
             "func.func @main(%%x: tensor<4x100x%s>, %%p: tensor<%s>, %%q: tensor<%s>) -> "
             "(tensor<4x%s>) {\n%%i = stablehlo.iota dim = 1 : tensor<4x100x%s>\n"
             "%%r:2 = stablehlo.reduce(%%x init: %%p), (%%i init: %%q) across dimensions = [1] : "
             "(tensor<4x100x%s>, tensor<4x100x%s>, tensor<%s>, tensor<%s>) -> (tensor<4x%s>, "
             "tensor<4x%s>) reducer(%%a: tensor<%s>, %%b: tensor<%s>) (%%ai: tensor<%s>, %%bi: "
             "tensor<%s>) { %s }\nreturn %%r#1 : tensor<4x%s> }",
             t[0], t[0], t[1], t[1], t[1], t[0], t[1], t[0], t[1], t[0], t[1], t[0], t[0], t[1],
             t[1], regions[i].body, t[1]);
    ck_assert_msg(lz_func_parse(text, strlen(text), NULL, &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    return f;
}

static const lz_func *body_of(const lz_func *f)
{
    for (uint32_t i = 0; i < f->ninst; i++)
        if (lz_inst_op(&f->insts[i]) == LZ_OP_REDUCE)
            return LZ_ATTR(reduce, f->insts[i].sig->attr)->body;
    return NULL;
}

START_TEST(regions_of_every_kind)
{
    lz_func *f = program(_i);
    for (int again = 0; again < 2; again++) { /* found, then remembered */
        lz_reduce_order o;
        ck_assert_int_eq(lz_reduce_order_of(body_of(f), &o), LZ_OK);
        ck_assert_int_eq(o.commutes, regions[_i].commutes);
        ck_assert_int_eq(o.associates, regions[_i].associates);
        ck_assert_int_eq(o.arg, regions[_i].arg);
    }
    lz_func_free(f);
}
END_TEST

/* No reduction is left whose region does not commute; one that commutes is left as it is. */
START_TEST(no_reduction_wants_an_order)
{
    lz_func *f = program(_i), *g = NULL;
    ck_assert_int_eq(lz_passes_run(f, "expand_windows", NULL, &g), LZ_OK);
    const lz_func *body = body_of(g);
    lz_reduce_order o;
    if (body)
        ck_assert_int_eq(lz_reduce_order_of(body, &o), LZ_OK);
    ck_assert(!body || o.commutes);
    ck_assert(!regions[_i].commutes || body == body_of(f));
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

START_TEST(regions_of_the_library)
{
    lz_reduce_order o;
    for (int d = 1; d < LZ_DTYPE_COUNT; d++) {
        for (int op = 1; op < LZ_OP_COUNT; op++)
            if (lz_op_has((lz_op)op, LZ_F_COMM) && lz_op_has((lz_op)op, LZ_F_ASSOC) &&
                lz_op_get((lz_op)op)->arity == 2 && lz_op_accepts((lz_op)op, (lz_dtype)d)) {
                ck_assert_int_eq(lz_reduce_order_of(lz_region_binary((lz_op)op, (lz_dtype)d), &o),
                                 LZ_OK);
                ck_assert(o.commutes);
            }
        for (int max = 0; max < 2 && lz_op_accepts(LZ_OP_COMPARE, (lz_dtype)d) && d != LZ_BOOL &&
                          !lz_dtype_is_complex((lz_dtype)d);
             max++) {
            const lz_func *r[2] = {lz_region_arg(max, (lz_dtype)d, LZ_I64),
                                   lz_region_arg_first(max, (lz_dtype)d, LZ_I32)};
            for (int k = 0; k < 2; k++) {
                ck_assert_int_eq(lz_reduce_order_of(r[k], &o), LZ_OK);
                ck_assert_msg(o.commutes, "%s %d %d", lz_dtype_name((lz_dtype)d), max, k);
            }
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reduce_order");
    TCase *t = tcase_create("reduce_order");
    tcase_add_loop_test(t, regions_of_every_kind, 0, NREGION);
    tcase_add_loop_test(t, no_reduction_wants_an_order, 0, NREGION);
    tcase_add_test(t, regions_of_the_library);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
