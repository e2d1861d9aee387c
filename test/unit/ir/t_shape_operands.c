/* t_shape_operands.c - operands that say a shape: they are computed from the constants of the text
 * while it is read, if that is no more than arithmetic on shapes. */
#include "base/alloc.h"
#include "ir/eval/eval.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

static lz_status parse(const char *text, size_t n)
{
    lz_func *f;
    lz_error_clear();
    lz_status s = lz_func_parse(text, n, "t", &f);
    ck_assert_int_eq(s == LZ_OK, f != NULL);
    if (s == LZ_OK)
        ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    lz_func_free(f);
    return s;
}

/* ---- too much ---- */

/* Values of tensor<1xi32> that take for ever to compute, or as good as. What is computed from
 * constants is, when it says a shape, unless that takes more than arithmetic on shapes does. */
#define WHILE                                                                                      \
    "\"stablehlo.while\"(%one) ({\n^bb0(%c: tensor<1xi32>):\n %t = stablehlo.constant "            \
    "dense<true> : tensor<i1>\n "                                                                  \
    "stablehlo.return %t : tensor<i1>\n}, {\n^bb0(%d: tensor<1xi32>):\n %e = stablehlo.add %d, "   \
    "%d "                                                                                          \
    ": tensor<1xi32>\n stablehlo.return %e : tensor<1xi32>\n}) : (tensor<1xi32>) -> "              \
    "tensor<1xi32>\n"
static const struct {
    const char *name, *text;
} endless[] = {
    {"a while", "%v = " WHILE},
    {"a while before arithmetic",
     "%w = " WHILE "%v = stablehlo.multiply %w, %one : tensor<1xi32>\n"},
    {"a while in a branch",
     "%p = stablehlo.constant dense<true> : tensor<i1>\n%v = \"stablehlo.if\"(%p) ({\n %w = " WHILE
     " stablehlo.return %w : tensor<1xi32>\n}, {\n stablehlo.return %one : tensor<1xi32>\n}) : "
     "(tensor<i1>) -> tensor<1xi32>\n"},
    {"a while in a call", "%v = func.call @endless(%one) : (tensor<1xi32>) -> tensor<1xi32>\n"},
    {"a while behind a barrier",
     "%w = " WHILE "%v = stablehlo.optimization_barrier %w : tensor<1xi32>\n"},
    {"a window over padding",
     "%z = stablehlo.constant dense<0> : tensor<i32>\n%v = \"stablehlo.reduce_window\"(%one, %z) "
     "<{window_dimensions = array<i64: 1000000000000>, padding = dense<[[0, 999999999999]]> : "
     "tensor<1x2xi64>}> ({\n^bb0(%a: tensor<i32>, %b: tensor<i32>):\n %s = stablehlo.add %a, %b : "
     "tensor<i32>\n stablehlo.return %s : tensor<i32>\n}) : (tensor<1xi32>, tensor<i32>) -> "
     "tensor<1xi32>\n"},
    {"a second result that is wide",
     "%k = stablehlo.constant dense<1> : tensor<2xui64>\n%w:2 = stablehlo.rng_bit_generator %k, "
     "algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, "
     "tensor<1000000000000xui32>)\n%u = stablehlo.slice %w#0 [0:1] : (tensor<2xui64>) -> "
     "tensor<1xui64>\n%v = stablehlo.convert %u : (tensor<1xui64>) -> tensor<1xi32>\n"},
    {"a region with a wide value",
     "%z = stablehlo.constant dense<0> : tensor<i32>\n%k = stablehlo.constant dense<1> : "
     "tensor<1x9xi32>\n%v = \"stablehlo.reduce\"(%k, %z) <{dimensions = array<i64: 1>}> "
     "({\n^bb0(%a: tensor<i32>, %b: tensor<i32>):\n %x = stablehlo.broadcast_in_dim %a, dims = [] "
     ": "
     "(tensor<i32>) -> tensor<1000000000000xi32>\n %y = stablehlo.slice %x [0:1] : "
     "(tensor<1000000000000xi32>) -> tensor<1xi32>\n %s = stablehlo.reshape %y : (tensor<1xi32>) "
     "-> "
     "tensor<i32>\n %u = stablehlo.add %s, %b : tensor<i32>\n stablehlo.return %u : "
     "tensor<i32>\n}) : (tensor<1x9xi32>, tensor<i32>) -> tensor<1xi32>\n"},
};
/* What a shape is read by: one where the result's type says all, one that must know. */
static const char by_type[] = "%0 = stablehlo.dynamic_reshape %x0, %v : (tensor<3xf32>, "
                              "tensor<1xi32>) -> tensor<3xf32>\n",
                  by_value[] =
                      "%f = stablehlo.constant dense<0.0> : tensor<f32>\n%0 = "
                      "stablehlo.dynamic_pad %x0, %f, %v, %v, %v : (tensor<3xf32>, tensor<f32>, "
                      "tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xf32>\n";

START_TEST(shapes_that_take_for_ever)
{
    for (int known = 0; known < 2; known++) {
        lz_buf b = {0};
        lz_buf_puts(&b, "func.func @main(%x0: tensor<3xf32>) -> tensor<3xf32> {\n%one = "
                        "stablehlo.constant dense<1> : tensor<1xi32>\n");
        lz_buf_puts(&b, endless[_i].text);
        lz_buf_puts(&b, known ? by_value : by_type);
        lz_buf_puts(&b, "return %0 : tensor<3xf32>\n}\nfunc.func private @endless(%one: "
                        "tensor<1xi32>) -> tensor<1xi32> {\n%r = " WHILE
                        "return %r : tensor<1xi32>\n}\n");
        lz_status s = parse(b.data, b.len);
        ck_assert_msg(s == (known ? LZ_EUNSUPPORTED : LZ_OK), "%s: %s", endless[_i].name,
                      lz_error_get()->message);
        ck_assert(!known ||
                  strstr(lz_error_get()->message, "operand 2 is not computed from constants"));
        lz_buf_free(&b);
    }
}
END_TEST

/* ---- no list ---- */

/* What is given as the shape of a reshape of tensor<3xf32>: one number for each dimension of any
 * result, in a row. */
static const struct {
    const char *type;
    bool list;
} lists[] = {
    {"1xi32", true},     {"1xui64", true},   {"1xindex", true}, {"i32", true},
    {"1x1xi32", false},  {"1xf32", false},   {"1xi1", false},   {"1x1x1xi32", false},
    {"LONGxi32", false}, {"2x8xi32", false},
};

START_TEST(what_is_no_list_of_numbers)
{
    char type[32];
    lz_buf b = {0};
    if (strncmp(lists[_i].type, "LONG", 4) == 0)
        snprintf(type, sizeof type, "%dxi32", LZ_MAX_RANK + 1);
    else
        snprintf(type, sizeof type, "%s", lists[_i].type);
    lz_buf_printf(&b,
                  "func.func @main(%%a: tensor<3xf32>, %%n: tensor<%s>) -> tensor<3xf32> {\n%%0 = "
                  "stablehlo.dynamic_reshape %%a, %%n : (tensor<3xf32>, tensor<%s>) -> "
                  "tensor<3xf32>\nreturn %%0 : tensor<3xf32>\n}\n",
                  type, type);
    lz_status s = parse(b.data, b.len);
    ck_assert_msg(s == (lists[_i].list ? LZ_OK : LZ_EPARSE), "%s", type);
    if (!lists[_i].list)
        ck_assert_msg(strstr(lz_error_get()->message, "operand 1 is no list of numbers"), "%s",
                      lz_error_get()->message);
    lz_buf_free(&b);
}
END_TEST

/* ---- without memory ---- */

static const char *const sparse[] = {
    /* both operands lose a dimension that the other one has */
    "func.func @main(%a: tensor<2x1xf32>, %b: tensor<1x3xf32>) -> tensor<2x3xf32> {\n%0 = "
    "stablehlo.einsum %a, %b, config = \"ij,ij->ij\" : (tensor<2x1xf32>, tensor<1x3xf32>) -> "
    "tensor<2x3xf32>\nreturn %0 : tensor<2x3xf32>\n}\n",
    /* numbers that are computed: one where the type says all, and one that must be known */
    "func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) -> tensor<5xf32> {\n%c = "
    "stablehlo.constant dense<1> : tensor<1xi32>\n%one = stablehlo.multiply %c, %c : "
    "tensor<1xi32>\n%three = stablehlo.constant dense<3> : tensor<1xi32>\n%n = "
    "stablehlo.multiply %one, %three : tensor<1xi32>\n%r = stablehlo.dynamic_reshape %a, %n : "
    "(tensor<3xf32>, tensor<1xi32>) -> tensor<3xf32>\n%0 = stablehlo.dynamic_pad %r, %b, %one, "
    "%one, %one : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> "
    "tensor<7xf32>\n%1 = stablehlo.slice %0 [0:5] : (tensor<7xf32>) -> tensor<5xf32>\nreturn %1 : "
    "tensor<5xf32>\n}\n",
    "func.func @main(%x: tensor<1x3x1xf32>, %k: tensor<2x1x1xf32>) -> tensor<1x3x1xf32> {\n%i = "
    "stablehlo.iota dim = 1 : tensor<1x2xi32>\n%0 = stablehlo.dynamic_conv(%x, %k, %i) dim_numbers "
    "= [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {batch_group_count = 1 : i64, "
    "feature_group_count = 1 : i64} : (tensor<1x3x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> "
    "tensor<1x3x1xf32>\nreturn %0 : tensor<1x3x1xf32>\n}\n",
};

START_TEST(memory_runs_out)
{
    int64_t n = 1;
    for (lz_status s = LZ_EMEM; s != LZ_OK; n++) {
        lz_alloc_fail_at(n, false);
        s = parse(sparse[_i], strlen(sparse[_i]));
        lz_alloc_fail_at(0, false);
        ck_assert_msg(s == LZ_OK || s == LZ_EMEM, "%s", lz_error_get()->message);
    }
    ck_assert_int_gt(n, 5);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/shape_operands");
    TCase *t = tcase_create("shape_operands");
    tcase_add_loop_test(t, shapes_that_take_for_ever, 0, (int)(sizeof endless / sizeof *endless));
    tcase_add_loop_test(t, what_is_no_list_of_numbers, 0, (int)(sizeof lists / sizeof *lists));
    tcase_add_loop_test(t, memory_runs_out, 0, (int)(sizeof sparse / sizeof *sparse));
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
