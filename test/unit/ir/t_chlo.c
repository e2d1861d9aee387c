/* t_chlo.c - CHLO's text: operations of the table, those written with several, composites. */
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/lit.h"
#include <stdio.h>
#include <string.h>

static char msg[512];

static lz_status parse(const char *args, const char *line, const char *results, lz_func **f)
{
    char t[2048];
    snprintf(
        t, sizeof t,
        "module @m {\n  func.func public @main(%s) -> (%s) {\n    %s\n    return %%0%s : %s\n  }\n"
        "  func.func private @impl(%%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "    %%y = stablehlo.negate %%x : tensor<2xf32>\n    return %%y : tensor<2xf32>\n  }\n}\n",
        args, results, line, strchr(results, ',') && line[2] == ':' ? "#0, %0#1" : "", results);
    return lz_func_parse(t, strlen(t), "t", f);
}

/* The operation of the only result, its text read back. */
static void has_op(const char *args, const char *line, const char *results, lz_op op)
{
    lz_func *f, *g;
    lz_buf b = {0};
    ck_assert_msg(parse(args, line, results, &f) == LZ_OK, "%s: %s", line, lz_error_get()->message);
    ck_assert_msg(lz_inst_op(&f->insts[f->results[0]]) == op, "%s", line);
    lz_func_print(f, &b, 0);
    ck_assert_msg(lz_func_parse(b.data, b.len, "printed", &g) == LZ_OK, "%s\n%s",
                  lz_error_get()->message, lz_buf_str(&b));
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
    lz_buf_free(&b);
    lz_func_free(f);
    lz_func_free(g);
}

START_TEST(rows)
{
    static const struct {
        const char *name;
        lz_op op;
        int n;
    } t[] = {{"acos", LZ_OP_ACOS, 1},
             {"acosh", LZ_OP_ACOSH, 1},
             {"asin", LZ_OP_ASIN, 1},
             {"asinh", LZ_OP_ASINH, 1},
             {"atan", LZ_OP_ATAN, 1},
             {"atanh", LZ_OP_ATANH, 1},
             {"bessel_i1e", LZ_OP_BESSEL_I1E, 1},
             {"cosh", LZ_OP_COSH, 1},
             {"digamma", LZ_OP_DIGAMMA, 1},
             {"erf", LZ_OP_ERF, 1},
             {"erf_inv", LZ_OP_ERF_INV, 1},
             {"erfc", LZ_OP_ERFC, 1},
             {"lgamma", LZ_OP_LGAMMA, 1},
             {"sinh", LZ_OP_SINH, 1},
             {"square", LZ_OP_MULTIPLY, 1},
             {"tan", LZ_OP_TAN, 1},
             {"next_after", LZ_OP_NEXT_AFTER, 2},
             {"polygamma", LZ_OP_POLYGAMMA, 2},
             {"zeta", LZ_OP_ZETA, 2}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char line[256];
        const char *T = "tensor<2xf32>";
        if (t[i].n == 1)
            snprintf(line, sizeof line, "%%0 = chlo.%s %%a : %s -> %s", t[i].name, T, T);
        else
            snprintf(line, sizeof line, "%%0 = chlo.%s %%a, %%a : %s, %s -> %s", t[i].name, T, T,
                     T);
        has_op("%a: tensor<2xf32>", line, T, t[i].op);
        snprintf(line, sizeof line, "%%0 = \"chlo.%s\"(%%a%s) : (%s%s%s) -> %s", t[i].name,
                 t[i].n == 2 ? ", %a" : "", T, t[i].n == 2 ? ", " : "", t[i].n == 2 ? T : "", T);
        has_op("%a: tensor<2xf32>", line, T, t[i].op);
    }
}
END_TEST

START_TEST(written_with_others)
{
    has_op("%a: tensor<2xf32>", "%0 = chlo.is_inf %a : tensor<2xf32> -> tensor<2xi1>",
           "tensor<2xi1>", LZ_OP_COMPARE);
    has_op("%a: tensor<2xf32>", "%0 = chlo.conj %a : tensor<2xf32> -> tensor<2xf32>",
           "tensor<2xf32>", LZ_OP_PARAMETER);
    has_op("%a: tensor<2xcomplex<f32>>",
           "%0 = chlo.conj %a : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>",
           "tensor<2xcomplex<f32>>", LZ_OP_COMPLEX);
    has_op("%a: tensor<2xf32>", "%0 = chlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
           "tensor<2xf32>", LZ_OP_CONSTANT);
    has_op("%a: tensor<2xf32>, %b: tensor<3x1xf32>",
           "%0 = chlo.broadcast_add %a, %b : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>",
           "tensor<3x2xf32>", LZ_OP_ADD);
    has_op("%a: tensor<2xf32>, %b: tensor<2x3xf32>",
           "%0 = chlo.broadcast_subtract %a, %b {broadcast_dimensions = array<i64: 0>} : "
           "(tensor<2xf32>, "
           "tensor<2x3xf32>) -> tensor<2x3xf32>",
           "tensor<2x3xf32>", LZ_OP_SUBTRACT);
    has_op("%a: tensor<f32>, %b: tensor<2xf32>",
           "%0 = chlo.broadcast_zeta %a, %b : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>",
           "tensor<2xf32>", LZ_OP_ZETA);
    has_op("%a: tensor<f32>, %b: tensor<2xf32>",
           "%0 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction "
           "LT>, compare_type = "
           "#chlo<comparison_type FLOAT>} : (tensor<f32>, tensor<2xf32>) -> tensor<2xi1>",
           "tensor<2xi1>", LZ_OP_COMPARE);
    has_op("%p: tensor<2xi1>, %b: tensor<f32>",
           "%0 = chlo.broadcast_select %p, %b, %b : (tensor<2xi1>, tensor<f32>, tensor<f32>) -> "
           "tensor<2xf32>",
           "tensor<2xf32>", LZ_OP_SELECT);
}
END_TEST

START_TEST(composites)
{
    const char *T = "tensor<2xf32>";
    has_op("%a: tensor<2xf32>",
           "%0 = stablehlo.composite \"chlo.erf\" %a {decomposition = @impl, version = 1 : i32} : "
           "(tensor<2xf32>) -> tensor<2xf32>",
           T, LZ_OP_ERF);
    /* not a row, or with attributes: what the decomposition says */
    has_op("%a: tensor<2xf32>",
           "%0 = stablehlo.composite \"mine.erf\" %a {decomposition = @impl} : (tensor<2xf32>) -> "
           "tensor<2xf32>",
           T, LZ_OP_NEGATE);
    has_op("%a: tensor<2xf32>",
           "%0 = stablehlo.composite \"chlo.erf\" %a {composite_attributes = {k = 1 : i64}, "
           "decomposition = @impl} : "
           "(tensor<2xf32>) -> tensor<2xf32>",
           T, LZ_OP_NEGATE);
}
END_TEST

START_TEST(custom_calls)
{
    const char *T = "tensor<2xf32>";
    has_op("%a: tensor<2xf32>",
           "%0 = stablehlo.custom_call @mhlo.erf(%a) {mhlo.version = 1 : i64} : (tensor<2xf32>) -> "
           "tensor<2xf32>",
           T, LZ_OP_ERF);
    has_op("%a: tensor<2xf32>",
           "%0 = stablehlo.custom_call @mhlo.tan(%a) : (tensor<2xf32>) -> tensor<2xf32>", T,
           LZ_OP_TAN);
    has_op("%a: tensor<2xf32>",
           "%0 = \"stablehlo.custom_call\"(%a) <{call_target_name = \"chlo.lgamma\"}> : "
           "(tensor<2xf32>) -> tensor<2xf32>",
           T, LZ_OP_LGAMMA);
    has_op("%a: tensor<2xf32>",
           "%0 = stablehlo.custom_call @Sharding(%a) {backend_config = \"\", mhlo.sharding = "
           "\"{replicated}\"} : (tensor<2xf32>) -> "
           "tensor<2xf32>",
           T, LZ_OP_PARAMETER);
}
END_TEST

START_TEST(top_k)
{
    static const char *const lines[] = {
        "%0:2 = chlo.top_k(%a, k = 2) : tensor<2x4xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)",
        "%0:2 = \"chlo.top_k\"(%a) <{k = 2 : i64}> : (tensor<2x4xf32>) -> (tensor<2x2xf32>, "
        "tensor<2x2xi32>)",
        "%0:2 = chlo.top_k(%a, k = 2) {note = 3 : i64} : tensor<2x4xf32> -> (tensor<2x2xf32>, "
        "tensor<2x2xi32>)"};
    for (int i = 0; i < 3; i++) {
        lz_func *f;
        ck_assert_msg(
            parse("%a: tensor<2x4xf32>", lines[i], "tensor<2x2xf32>, tensor<2x2xi32>", &f) == LZ_OK,
            "%s", lz_error_get()->message);
        lz_literal *in = lz_test_lit(LZ_F32, LZ_SHAPE(2, 4), 1, 5, -2, 5, 0, -1, 7, 3), *out[2],
                   *want[2] = {lz_test_lit(LZ_F32, LZ_SHAPE(2, 2), 5, 5, 7, 3),
                               lz_test_lit(LZ_I32, LZ_SHAPE(2, 2), 1, 3, 2, 3)};
        ck_assert_int_eq(lz_ref_run(f, &in, out), LZ_OK);
        for (int k = 0; k < 2; k++) {
            ck_assert_msg(lz_test_same(out[k], want[k], 0, msg, sizeof msg), "%s", msg);
            lz_literal_release(out[k]);
            lz_literal_release(want[k]);
        }
        lz_literal_release(in);
        lz_func_free(f);
    }
}
END_TEST

/* Bits of numbers of less than a byte: element j of an element is its bits from j times the width
 * on, and back it is what it was; every pair of dtypes of other widths. */
static void bits_there_and_back(lz_dtype wide, lz_dtype narrow)
{
    enum { N = 3 };
    int k = lz_dtype_bits(wide) / lz_dtype_bits(narrow), width = lz_dtype_bits(narrow);
    const char *w = lz_dtype_mlir(wide), *n = lz_dtype_mlir(narrow);
    char args[64], line[400];
    lz_func *f;
    snprintf(args, sizeof args, "%%a: tensor<%dx%s>", N, w);
    snprintf(line, sizeof line,
             "%%1 = stablehlo.bitcast_convert %%a : (tensor<%dx%s>) -> tensor<%dx%dx%s>\n"
             "    %%0 = stablehlo.bitcast_convert %%1 : (tensor<%dx%dx%s>) -> tensor<%dx%s>",
             N, w, N, k, n, N, k, n, N, w);
    char result[64];
    snprintf(result, sizeof result, "tensor<%dx%s>", N, w);
    ck_assert_msg(parse(args, line, result, &f) == LZ_OK, "%s: %s", line, lz_error_get()->message);
    lz_rnd r = {lz_test_seed() + (uint64_t)wide * 64 + narrow};
    lz_shape s = lz_shape_make(1, (int64_t[]){N});
    lz_literal *in = lz_test_random(&r, lz_type_get(wide, &s), LZ_FILL_MODEST), *out;
    uint64_t mask =
        lz_dtype_bits(wide) == 64 ? UINT64_MAX : (UINT64_C(1) << lz_dtype_bits(wide)) - 1;
    for (int i = 0; i < N; i++)
        if (!lz_dtype_is_float(wide)) /* NaNs of floats may change */
            lz_test_set_bits(in, i, lz_dtype_wrap(wide, lz_rnd_u64(&r)));
    ck_assert_int_eq(lz_ref_run(f, &in, &out), LZ_OK);
    for (int i = 0; i < N; i++)
        ck_assert_msg(((lz_test_get_bits(in, i) ^ lz_test_get_bits(out, i)) & mask) == 0,
                      "%s as %s and back", w, n);
    lz_literal_release(out);
    lz_func_free(f);
    snprintf(result, sizeof result, "tensor<%dx%dx%s>", N, k, n);
    snprintf(line, sizeof line,
             "%%0 = stablehlo.bitcast_convert %%a : (tensor<%dx%s>) -> tensor<%dx%dx%s>", N, w, N,
             k, n);
    ck_assert_int_eq(parse(args, line, result, &f), LZ_OK);
    ck_assert_int_eq(lz_ref_run(f, &in, &out), LZ_OK);
    for (int i = 0; i < N * k; i++) {
        uint64_t want = lz_test_get_bits(in, i / k) >> i % k * width,
                 have = lz_test_get_bits(out, i);
        ck_assert_msg(((want ^ have) & ((1U << width) - 1)) == 0, "%s as %s: part %d", w, n, i % k);
    }
    lz_literal_release(out);
    lz_literal_release(in);
    lz_func_free(f);
}

START_TEST(bits_of_narrow_numbers)
{
    int tried = 0;
    for (lz_dtype n = 0; n < LZ_DTYPE_COUNT; n++)
        for (lz_dtype w = 0; w < LZ_DTYPE_COUNT; w++)
            if (n != LZ_DTYPE_NONE && w != LZ_DTYPE_NONE && lz_dtype_is_narrow(n) && w != LZ_BOOL &&
                !lz_dtype_is_complex(w) && lz_dtype_bits(w) > lz_dtype_bits(n) &&
                lz_dtype_bits(w) % lz_dtype_bits(n) == 0)
                bits_there_and_back(w, n), tried++;
    ck_assert_int_gt(tried, 60);
    lz_func *f;
    ck_assert_int_eq(parse("%a: tensor<3xi4>",
                           "%0 = stablehlo.bitcast_convert %a : (tensor<3xi4>) -> tensor<3xi8>",
                           "tensor<3xi8>", &f),
                     LZ_EPARSE);
}
END_TEST

START_TEST(refused)
{
    static const struct {
        const char *args, *line, *results, *says;
    } t[] = {
        {"%a: tensor<2x4xf32>",
         "%0:2 = chlo.top_k(%a, k = 5) : tensor<2x4xf32> -> (tensor<2x5xf32>, tensor<2x5xi32>)",
         "tensor<2x5xf32>, tensor<2x5xi32>", "no 5 elements"},
        {"%a: tensor<f32>",
         "%0:2 = chlo.top_k(%a, k = 1) : tensor<f32> -> (tensor<f32>, tensor<i32>)",
         "tensor<f32>, tensor<i32>", "no 1 elements"},
        {"%a: tensor<4xf32>", "%0:2 = chlo.top_k(%a) : tensor<4xf32> -> (tensor<f32>, tensor<i32>)",
         "tensor<f32>, tensor<i32>", "one operand and k"},
        {"%a: tensor<2xf32>, %b: tensor<3xf32>",
         "%0 = chlo.broadcast_add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>",
         "tensor<3xf32>", "extents 2 and 3"},
        {"%a: tensor<2xf32>, %b: tensor<2x3xf32>",
         "%0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 2>} : (tensor<2xf32>, "
         "tensor<2x3xf32>) -> "
         "tensor<2x3xf32>",
         "tensor<2x3xf32>", "do not fit"},
        {"%a: tensor<2xf32>", "%0 = chlo.broadcast_add %a : (tensor<2xf32>) -> tensor<2xf32>",
         "tensor<2xf32>", "takes 2 operands, not 1"},
        {"%a: tensor<2xf32>",
         "%0 = chlo.broadcast_nothing %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
         "tensor<2xf32>", "is not supported"},
        {"%a: tensor<2xf32>",
         "%0 = stablehlo.custom_call @Schur(%a) : (tensor<2xf32>) -> tensor<2xf32>",
         "tensor<2xf32>", "no function is registered as @Schur"},
        {"%a: tensor<2xf32>",
         "%0 = stablehlo.custom_call @mhlo.atan2(%a) : (tensor<2xf32>) -> tensor<2xf32>",
         "tensor<2xf32>", "no function is registered as @mhlo.atan2"},
        {"%a: tensor<2xi32>", "%0 = chlo.lgamma %a : tensor<2xi32> -> tensor<2xi32>",
         "tensor<2xi32>", "lgamma"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        lz_func *f;
        ck_assert_int_ne(parse(t[i].args, t[i].line, t[i].results, &f), LZ_OK);
        ck_assert_msg(strstr(lz_error_get()->message, t[i].says), "%s", lz_error_get()->message);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("chlo");
    TCase *t = tcase_create("chlo");
    tcase_add_test(t, rows);
    tcase_add_test(t, written_with_others);
    tcase_add_test(t, composites);
    tcase_add_test(t, custom_calls);
    tcase_add_test(t, top_k);
    tcase_add_test(t, bits_of_narrow_numbers);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
