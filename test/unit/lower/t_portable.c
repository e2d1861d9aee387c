/* t_portable.c - functions in operations of StableHLO alone compute what they did: what is
 * expanded, in regions too, what stays, what is refused; and the marks of donated parameters. */
#include "lower/portable.h"
#include "ir/attr.h"
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <string.h>

static char msg[512];

static lz_func *parse(const char *text)
{
    lz_func *f;
    ck_assert_msg(lz_func_parse(text, strlen(text), "t", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    return f;
}

static bool has(const lz_func *f, const char *op)
{
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_func *r;
        if (strcmp(lz_op_get(f->insts[i].sig->op)->text, op) == 0)
            return true;
        for (int k = 0; (r = lz_attr_region(f->insts[i].sig->attr, k)); k++)
            if (has(r, op))
                return true;
    }
    return false;
}

static void near(const lz_literal *got, const lz_literal *want, double atol)
{
    for (int64_t i = 0; i < want->type->nelem; i++)
        ck_assert_double_eq_tol(lz_literal_get_f64(got, i), lz_literal_get_f64(want, i), atol);
}

/* The function without `gone`, with `stays` (NULL: not looked at), and the same results. */
static void same(const lz_func *f, const lz_portable_options *o, const char *gone,
                 const char *stays, double atol)
{
    lz_func *p;
    ck_assert_msg(lz_lower_portable(f, o, &p) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_int_eq(lz_func_verify(p), LZ_OK);
    ck_assert_msg(!has(p, gone), "%s is left", gone);
    ck_assert(!stays || has(p, stays));
    for (uint64_t seed = 0; seed < 12; seed++) {
        lz_literal **args, *want[4], *got[4];
        ck_assert_int_eq(
            lz_gen_args(f, seed, (lz_fill)(atol > 0 ? 0 : seed % LZ_FILL_INDEX), &args), LZ_OK);
        ck_assert_int_eq(lz_ref_run(f, args, want), LZ_OK);
        ck_assert_msg(lz_ref_run(p, args, got) == LZ_OK, "%s", lz_error_get()->message);
        for (uint32_t k = 0; k < f->nresult; k++) {
            if (atol > 0)
                near(got[k], want[k], atol);
            else
                ck_assert_msg(lz_test_same(got[k], want[k], 0, msg, sizeof msg), "%s", msg);
            lz_literal_release(got[k]);
            lz_literal_release(want[k]);
        }
        lz_gen_args_free(f, args);
    }
    lz_func_free(p);
}

static const char gather_text[] =
    "func.func @main(%%x: tensor<%s>, %%i: tensor<%s>) -> tensor<%s> {\n"
    "  %%0 = \"stablehlo.gather\"(%%x, %%i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
    "%s, "
    "collapsed_slice_dims = [%d], start_index_map = [%d], index_vector_dim = %d>, slice_sizes = "
    "array<i64: %s>, indices_are_sorted = false}> : (tensor<%s>, tensor<%s>) -> tensor<%s>\n"
    "  return %%0 : tensor<%s> }";

START_TEST(gathers)
{
    static const struct {
        const char *x, *i, *y, *offset;
        int d, vector;
        const char *sizes;
        bool dense;
    } all[] = {
        {"4x3xf32", "5xi32", "5x3xf32", "[1]", 0, 1, "1, 3", true},
        {"4x3xf32", "5x1xi32", "5x3xf32", "[1]", 0, 1, "1, 3", true},
        {"2x7x3xf16", "2x2xi8", "2x2x2x3xf16", "[0, 3]", 1, 2, "2, 1, 3", true},
        {"7xi32", "3xui8", "3xi32", "[]", 0, 1, "1", true},
        {"1x2xi1", "3xi64", "2x3xi1", "[0]", 0, 1, "1, 2", true},
        {"4x3xf8E4M3FN", "2xi16", "2x3xf8E4M3FN", "[1]", 0, 1, "1, 3", true},
        {"4x3xf32", "5xi32", "5x2xf32", "[1]", 0, 1, "1, 2", false}, /* parts of rows */
        {"8x3xf32", "5xi32", "5x3xf32", "[1]", 0, 1, "1, 3", false}, /* too many rows */
        {"4x3xf32", "0xi32", "0x3xf32", "[1]", 0, 1, "1, 3", false},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char text[1024];
        (void)snprintf(text, sizeof text, gather_text, all[k].x, all[k].i, all[k].y, all[k].offset,
                       all[k].d, all[k].d, all[k].vector, all[k].sizes, all[k].x, all[k].i,
                       all[k].y, all[k].y);
        lz_func *f = parse(text);
        lz_portable_options o = {.gather_threshold = 7};
        same(f, &o, all[k].dense ? "gather" : "lazuli.x", all[k].dense ? NULL : "gather", 0);
        same(f, NULL, "lazuli.x", "gather", 0);
        lz_func_free(f);
    }
}
END_TEST

START_TEST(window_views)
{
    lz_func *f = lz_func_new("views");
    const lz_shape s = lz_shape_make(3, (const int64_t[]){2, 7, 9});
    lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &s)), v;
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_window_view);
    a.as_window_view.dimensions = lz_ints_make(2, (const int64_t[]){1, 2});
    a.as_window_view.sizes = lz_ints_make(2, (const int64_t[]){3, 2});
    a.as_window_view.strides = lz_ints_make(2, (const int64_t[]){2, 1});
    a.as_window_view.dilations = lz_ints_make(2, (const int64_t[]){1, 3});
    v = lz_build(f, LZ_OP_WINDOW_VIEW, &a.head, &x, 1);
    ck_assert_int_eq(lz_func_set_results(f, &v, 1), LZ_OK);
    same(f, NULL, "lazuli.window_view", "gather", 0);
    lz_func_free(f);
}
END_TEST

static const char loop_text[] =
    "func.func @main(%x: tensor<3x3xf64>, %p: tensor<i1>) -> tensor<3x3xf64> {\n"
    "  %c0 = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %c1 = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %c2 = stablehlo.constant dense<2> : tensor<i32>\n"
    "  %0:2 = stablehlo.while(%i = %c0, %a = %x) : tensor<i32>, tensor<3x3xf64>\n"
    "  cond { %l = stablehlo.compare LT, %i, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "         stablehlo.return %l : tensor<i1> }\n"
    "  do { %n = stablehlo.add %i, %c1 : tensor<i32>\n"
    "    %b = \"stablehlo.if\"(%p) ({\n"
    "      %q:2 = \"lazuli.qr\"(%a) <{complete = false}> : (tensor<3x3xf64>) -> (tensor<3x3xf64>, "
    "tensor<3x3xf64>)\n"
    "      stablehlo.return %q#0 : tensor<3x3xf64>\n"
    "    }, {\n"
    "      stablehlo.return %a : tensor<3x3xf64>\n"
    "    }) : (tensor<i1>) -> tensor<3x3xf64>\n"
    "    stablehlo.return %n, %b : tensor<i32>, tensor<3x3xf64> }\n"
    "  return %0#1 : tensor<3x3xf64> }";

START_TEST(regions)
{
    lz_func *f = parse(loop_text);
    same(f, NULL, "lazuli.qr", "if", 1e-9);
    lz_func_free(f);
}
END_TEST

START_TEST(what_stays)
{
    lz_func *f = parse("func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>) {\n"
                       "  %a, %b = stablehlo.rng_bit_generator %s, algorithm = PHILOX : "
                       "(tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)\n"
                       "  return %a, %b : tensor<2xui64>, tensor<7xui32> }");
    same(f, NULL, "rng_bit_generator", NULL, 0);
    same(f, &(lz_portable_options){.native_rng = true}, "lazuli.x", "rng_bit_generator", 0);
    lz_func_free(f);
    f = parse("func.func @main(%x: tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>> {\n"
              "  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<2x8xcomplex<f32>>) -> "
              "tensor<2x8xcomplex<f32>>\n"
              "  return %0 : tensor<2x8xcomplex<f32>> }");
    same(f, NULL, "lazuli.x", "fft", 0);
    lz_func_free(f);
}
END_TEST

START_TEST(refused)
{
    lz_func *p = NULL,
            *f = parse("module @m { func.func @main(%x: tensor<3x3xf32>) -> tensor<3xcomplex<f32>> "
                       "{\n  %0 = \"lazuli.eig\"(%x) <{left = false, right = false}> : "
                       "(tensor<3x3xf32>) -> tensor<3xcomplex<f32>>\n"
                       "  return %0 : tensor<3xcomplex<f32>> } }");
    ck_assert_int_eq(lz_lower_portable(f, NULL, &p), LZ_EUNSUPPORTED);
    ck_assert_msg(strstr(lz_error_get()->message, "'m' has lazuli.eig, which StableHLO"), "%s",
                  lz_error_get()->message);
    lz_func_free(f);
}
END_TEST

START_TEST(donations)
{
    static const bool donate[] = {true, false, true, true};
    lz_func *f =
        parse("func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>, %d: "
              "tensor<3xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
              "  %0 = stablehlo.add %a, %b : tensor<2xf32>\n"
              "  %1 = stablehlo.multiply %0, %c : tensor<2xf32>\n"
              "  return %0, %1 : tensor<2xf32>, tensor<2xf32> }");
    lz_buf text = {0};
    lz_param_list given = {0};
    lz_partitions about = {.donated = &given};
    lz_func *back;
    lz_func_print_donating(f, donate, &text, 0);
    ck_assert_ptr_nonnull(strstr(text.data, "%arg0: tensor<2xf32> {tf.aliasing_output = 0 : i32}, "
                                            "%arg1: tensor<2xf32>, %arg2: tensor<2xf32> "
                                            "{tf.aliasing_output = 1 : i32}, %arg3: tensor<3xf32> "
                                            "{jax.buffer_donor = true})"));
    ck_assert_int_eq(lz_func_parse_about(text.data, text.len, "t", NULL, &about, &back), LZ_OK);
    ck_assert(given.len == 3 && given.data[0] == 0 && given.data[1] == 2 && given.data[2] == 3);
    ck_assert(lz_func_same(f, back));
    lz_vec_free(&given);
    lz_buf_free(&text);
    lz_func_free(back);
    lz_func_free(f);
}
END_TEST

/* A parameter has one dictionary. */
START_TEST(marked_donations)
{
    static const bool donate[] = {true, true};
    lz_func *f = NULL, *back = NULL;
    lz_buf text = {0};
    lz_param_list given = {0};
    lz_partitions about = {.donated = &given};
    const char module[] =
        "module @m { sdy.mesh @mesh = <[\"x\"=2]>\n"
        "func.func @main(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}, "
        "%b: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<2xf32> {\n"
        "  %0 = stablehlo.negate %a : tensor<2xf32>\n"
        "  return %0 : tensor<2xf32> } }";
    ck_assert_int_eq(lz_func_parse_marked(module, sizeof module - 1, "t", NULL, 2, &about, &f),
                     LZ_OK);
    lz_func_print_donating(f, donate, &text, 0);
    ck_assert_msg(strstr(text.data, ", tf.aliasing_output = 0 : i32}, ") != NULL, "%s", text.data);
    ck_assert_ptr_null(strstr(text.data, "} {tf"));
    ck_assert_ptr_null(strstr(text.data, "} {jax"));
    ck_assert_int_eq(lz_func_parse_marked(text.data, text.len, "t", NULL, 2, &about, &back), LZ_OK);
    ck_assert(given.len == 2 && given.data[0] == 0 && given.data[1] == 1);
    ck_assert(lz_func_same(f, back));
    lz_vec_free(&given);
    lz_buf_free(&text);
    lz_func_free(back);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("portable");
    TCase *t = tcase_create("portable");
    tcase_add_test(t, gathers);
    tcase_add_test(t, window_views);
    tcase_add_test(t, regions);
    tcase_add_test(t, what_stays);
    tcase_add_test(t, refused);
    tcase_add_test(t, donations);
    tcase_add_test(t, marked_donations);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
