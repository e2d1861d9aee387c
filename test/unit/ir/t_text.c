/* t_text.c - StableHLO text: what is printed is read back as the same function and printed the same
 * again. */
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/gen.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static lz_func *parsed(const lz_buf *text)
{
    lz_func *g;
    ck_assert(!text->failed);
    lz_status s = lz_func_parse_marked(text->data, text->len, "text", NULL, 0, NULL, &g);
    ck_assert_msg(s == LZ_OK, "%s\n%.3000s", lz_error_get()->message, (const char *)text->data);
    ck_assert_int_eq(lz_func_verify(g), LZ_OK);
    return g;
}

static void round_trip(const lz_func *f)
{
    lz_buf a = {0}, b = {0};
    lz_func_print(f, &a, 0);
    lz_func *g = parsed(&a);
    lz_func_print(g, &b, 0);
    ck_assert_msg(strcmp(lz_buf_str(&a), lz_buf_str(&b)) == 0, "first:\n%.1500s\nthen:\n%.1500s",
                  lz_buf_str(&a), lz_buf_str(&b));
    lz_buf x = {0}, y = {0};
    lz_func_serialize(f, &x);
    lz_func_serialize(g, &y);
    ck_assert_msg(x.len == y.len && memcmp(x.data, y.data, x.len) == 0,
                  "another function:\n%.3000s", lz_buf_str(&a));
    lz_buf_free(&x);
    lz_buf_free(&y);
    lz_func_free(g);
    lz_buf_free(&a);
    lz_buf_free(&b);
}

/* What a region uses from around it is found in its text: each value once, in the order of their
 * use, constants made again inside. What was read once is therefore in that form, and means the
 * same. */
static void meaning_trip(const lz_func *f, lz_literal *const *args)
{
    bool control = false;
    for (uint32_t i = 0; i < f->ninst; i++)
        control |= lz_op_get(lz_inst_op(&f->insts[i]))->cls == LZ_CLASS_CONTROL;
    if (!control) {
        round_trip(f);
        return;
    }
    lz_buf a = {0};
    lz_func_print(f, &a, 0);
    lz_func *g = parsed(&a);
    round_trip(g);
    lz_literal **x = lz_calloc(f->nresult, sizeof *x), **y = lz_calloc(f->nresult, sizeof *y);
    ck_assert(g->nparam == f->nparam && g->nresult == f->nresult);
    ck_assert_int_eq(lz_ref_run(f, args, x), LZ_OK);
    ck_assert_int_eq(lz_ref_run(g, args, y), LZ_OK);
    for (uint32_t k = 0; k < f->nresult; k++) {
        ck_assert_msg(lz_literal_eq(x[k], y[k]), "result %u of\n%.3000s", k, lz_buf_str(&a));
        lz_literal_release(x[k]);
        lz_literal_release(y[k]);
    }
    lz_free(x);
    lz_free(y);
    lz_func_free(g);
    lz_buf_free(&a);
}

/* Every row, every dtype, random attributes. */
START_TEST(rows_round_trip)
{
    lz_func *f;
    lz_literal **args;
    for (int k = 0; k < 150 && lz_gen_row_cases((lz_op)_i, k, &f, &args) == 1; k++) {
        meaning_trip(f, args);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
}
END_TEST

START_TEST(random_functions_round_trip)
{
    for (uint64_t seed = (uint64_t)_i * 60; seed < (uint64_t)_i * 60 + 60; seed++) {
        lz_func *f = lz_gen_random(seed, &(lz_gen_options){.max_insts = 30});
        lz_literal **args;
        ck_assert_ptr_nonnull(f);
        ck_assert_int_eq(lz_gen_args(f, seed, LZ_FILL_MODEST, &args), LZ_OK);
        meaning_trip(f, args);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
}
END_TEST

/* Constants of every dtype and size, each bit pattern that matters: through decimal, hexadecimal
 * and nested lists. */
START_TEST(constants_round_trip)
{
    lz_rnd r = {(uint64_t)_i};
    static const int64_t shapes[][3] = {{0, 0, 0},   {1, 1, 0},  {1, 7, 0}, {2, 3, 4},
                                        {2, 2, 0},   {1, 0, 0},  {3, 2, 2}, {1, 100, 0},
                                        {1, 101, 0}, {2, 20, 20}};
    lz_dtype d = (lz_dtype)_i;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int fill = 0; fill < LZ_FILL_COUNT; fill++) {
            lz_shape s = {.rank = (int32_t)shapes[k][0]};
            for (int i = 0; i < s.rank; i++)
                s.dims[i] = i < 2 ? shapes[k][1 + i] : 2;
            lz_literal *l = lz_test_random(&r, lz_type_get(d, &s), (lz_fill)fill);
            lz_func *f = lz_func_new("c");
            lz_val v = lz_build_const(f, l);
            ck_assert_int_eq(lz_func_set_results(f, &v, 1), LZ_OK);
            round_trip(f);
            lz_func_free(f);
            lz_literal_release(l);
        }
}
END_TEST

/* Every f16 and bf16, and random f32 and f64 bits, through text. */
START_TEST(floats_keep_their_bits)
{
    lz_rnd r = {(uint64_t)_i + 9};
    const lz_dtype dtypes[] = {LZ_F16, LZ_BF16, LZ_F32, LZ_F64};
    lz_dtype d = dtypes[_i];
    lz_shape s = LZ_SHAPE(100);
    for (int block = 0; block < 656; block++) {
        lz_literal *l = lz_literal_new(lz_type_get(d, &s));
        for (int i = 0; i < 100; i++)
            lz_test_set_bits(l, i,
                             d == LZ_F16 || d == LZ_BF16 ? (uint64_t)(block * 100 + i) & 0xffff
                                                         : lz_rnd_u64(&r));
        if (block % 2) /* numbers with few digits too */
            for (int i = 0; i < 100 && lz_dtype_size(d) > 2; i++)
                lz_elem_set_f64(d, l->data, i,
                                (double)lz_rnd_range(&r, -99999, 99999) *
                                    pow(10, (double)lz_rnd_range(&r, -12, 12)));
        lz_func *f = lz_func_new("c");
        lz_val v = lz_build_const(f, l);
        ck_assert_int_eq(lz_func_set_results(f, &v, 1), LZ_OK);
        round_trip(f);
        lz_func_free(f);
        lz_literal_release(l);
    }
}
END_TEST

/* ---- the words of the text ---- */

static lz_func *parse(const char *text)
{
    lz_func *f;
    lz_status s = lz_func_parse(text, strlen(text), "t", &f);
    ck_assert_msg(s == LZ_OK, "%s\n%s", lz_error_get()->message, text);
    return f;
}

/* Input forms and the line they are printed as; NULL: exactly as they came. */
static const struct {
    const char *in, *out;
} lines[] = {
    {"%0 = stablehlo.abs %arg0 : tensor<2x3xf32>", NULL},
    {"%0 = \"stablehlo.abs\"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     "%0 = stablehlo.abs %arg0 : tensor<2x3xf32>"},
    {"%0 = chlo.erf %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>", NULL},
    {"%0 = \"chlo.erf\"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     "%0 = chlo.erf %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>"},
    {"%0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>", NULL},
    {"%0 = stablehlo.add %arg0, %arg1 {a.b = \"}, c\", d} : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xf32> loc(\"x\"(#loc1))",
     "%0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>"},
    {"%0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 0.0, "
     "mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2x3xf32>",
     "%0 = stablehlo.exponential %arg0 : tensor<2x3xf32>"},
    {"%0 = stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi8>", NULL},
    {"%0 = stablehlo.is_finite %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi1>", NULL},
    {"%0 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xi1>",
     NULL},
    {"%0 = stablehlo.compare  LT, %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xi1>",
     "%0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xi1>"},
    {"%0 = \"stablehlo.compare\"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type "
     "TOTALORDER>, comparison_direction = #stablehlo<comparison_direction GE>}> : "
     "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
     "%0 = stablehlo.compare GE, %arg0, %arg1, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xi1>"},
    {"%0 = stablehlo.clamp %arg2, %arg0, %arg2 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> "
     "tensor<2x3xf32>",
     NULL},
    {"%0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<2x3xf32>", NULL},
    {"%0 = \"stablehlo.reduce_precision\"(%arg0) {exponent_bits = 8 : i32, mantissa_bits = 10 : "
     "i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     "%0 = stablehlo.reduce_precision %arg0, format = e8m10 : tensor<2x3xf32>"},
    {"%0 = stablehlo.iota dim = 1 : tensor<3x0x4xi32>", NULL},
    {"%0 = \"stablehlo.iota\"() <{iota_dimension = 0 : i64}> : () -> tensor<5xbf16>",
     "%0 = stablehlo.iota dim = 0 : tensor<5xbf16>"},
    {"%0 = stablehlo.broadcast_in_dim %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> "
     "tensor<3x2x4xf32>",
     NULL},
    {"%0 = \"stablehlo.broadcast_in_dim\"(%arg0) {broadcast_dimensions = dense<[0, 1]> : "
     "tensor<2xi64>} : (tensor<2x3xf32>) -> tensor<2x3x4xf32>",
     "%0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<2x3xf32>) -> "
     "tensor<2x3x4xf32>"},
    {"%0 = \"stablehlo.broadcast_in_dim\"(%arg2) {broadcast_dimensions = dense<> : tensor<0xi64>} "
     ": (tensor<f32>) -> tensor<2xf32>",
     "%0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2xf32>"},
    {"%0 = stablehlo.broadcast %arg0, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>",
     "%0 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<2x3xf32>) -> "
     "tensor<4x2x3xf32>"},
    {"%0 = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x6xf32>",
     NULL},
    {"%0 = stablehlo.pad %arg0, %arg2, low = [1, -1], high = [0, 2], interior = [0, 1] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>",
     NULL},
    {"%0 = \"stablehlo.pad\"(%arg0, %arg2) {edge_padding_high = dense<1> : tensor<2xi64>, "
     "edge_padding_low = array<i64: 0, 0>, interior_padding = dense<0> : tensor<2xi64>} : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>",
     "%0 = stablehlo.pad %arg0, %arg2, low = [0, 0], high = [1, 1], interior = [0, 0] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>"},
    {"%0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>", NULL},
    {"%0 = stablehlo.reverse %arg0, dims = [1] : tensor<2x3xf32>", NULL},
    {"%0 = stablehlo.slice %arg0 [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>", NULL},
    {"%0 = stablehlo.slice %arg0 [0:2:1, 1:1] : (tensor<2x3xf32>) -> tensor<2x0xf32>",
     "%0 = stablehlo.slice %arg0 [0:2, 1:1] : (tensor<2x3xf32>) -> tensor<2x0xf32>"},
    {"%0 = \"stablehlo.slice\"(%arg0) <{limit_indices = array<i64: 2, 3>, start_indices = "
     "array<i64: 1, 0>, strides = array<i64: 1, 3>}> : (tensor<2x3xf32>) -> tensor<1x1xf32>",
     "%0 = stablehlo.slice %arg0 [1:2, 0:3:3] : (tensor<2x3xf32>) -> tensor<1x1xf32>"},
    {"%0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>", NULL},
    {"%0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3x2xi16>", NULL},
    {"%0 = stablehlo.dynamic_slice %arg0, %arg3, %arg3, sizes = [1, 2] : (tensor<2x3xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<1x2xf32>",
     NULL},
    {"%0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg3, %arg3 : (tensor<2x3xf32>, "
     "tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>",
     NULL},
    {"%0 = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.add across dimensions = [0, 1] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<f32>",
     NULL},
    {"%0 = \"stablehlo.reduce\"(%arg0, %arg2) ({\n^bb0(%x: tensor<f32> loc(\"foo\"), %y: "
     "tensor<f32>):\n%m = \"stablehlo.maximum\"(%x, %y) : (tensor<f32>, tensor<f32>) -> "
     "tensor<f32> loc(\"foo\")\n\"stablehlo.return\"(%m) : (tensor<f32>) -> ()\n}) {dimensions = "
     "array<i64: 1>, foo = \"bar\"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32> loc(\"foo\")",
     "%0 = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.maximum across dimensions = [1] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>"},
    {"%0 = stablehlo.reduce(%arg0 init: %arg2) across dimensions = [0] : (tensor<2x3xf32>, "
     "tensor<f32>) -> tensor<3xf32>\n     reducer(%arg5: tensor<f32>, %arg6: tensor<f32>)  {\n     "
     " %1 = stablehlo.divide %arg5, %arg6 : tensor<f32>\n      stablehlo.return %1 : tensor<f32>\n "
     "   }",
     NULL},
    {"%0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg2) across dimensions = [0] : "
     "(tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, "
     "tensor<3xf32>)\n     reducer(%arg5: tensor<f32>, %arg7: tensor<f32>) (%arg6: tensor<f32>, "
     "%arg8: tensor<f32>)  {\n      %1 = stablehlo.add %arg5, %arg7 : tensor<f32>\n      "
     "stablehlo.return %1, %arg8 : tensor<f32>, tensor<f32>\n    }",
     NULL},
    {"%0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [1] x "
     "[1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>",
     NULL},
    {"%0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [], precision = [HIGHEST, "
     "DEFAULT] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x2x3xf32>",
     "%0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [], precision = [HIGHEST, "
     "HIGHEST] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x2x3xf32>"},
    {"%0 = \"stablehlo.dot_general\"(%arg0, %arg1) <{dot_dimension_numbers = "
     "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, "
     "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : "
     "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>",
     "%0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x2xf32>"},
    {"%output_state, %output = stablehlo.rng_bit_generator %arg4, algorithm = PHILOX : "
     "(tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)",
     NULL},
    {"%0 = stablehlo.optimization_barrier %arg0 : tensor<2x3xf32>", NULL},
    {"%0:2 = stablehlo.optimization_barrier %arg0, %arg2 : tensor<2x3xf32>, tensor<f32>", NULL},
    {"%0:2 = \"stablehlo.optimization_barrier\"(%arg0, %arg2) : (tensor<2x3xf32>, tensor<f32>) -> "
     "(tensor<2x3xf32>, tensor<f32>)",
     "%0:2 = stablehlo.optimization_barrier %arg0, %arg2 : tensor<2x3xf32>, tensor<f32>"},
    {"%0:2 = \"lazuli.custom_vjp\"(%arg2, %arg0, %arg0, %arg2) <{name = \"a \\\"b\", results = 2 : "
     "i64}> ({\n    ^bb0(%arg5: tensor<f32>, %arg6: tensor<2x3xf32>, %arg7: tensor<f32>, %arg8: "
     "tensor<2x3xf32>, %arg9: tensor<f32>):\n      %1 = stablehlo.multiply %arg6, %arg8 : "
     "tensor<2x3xf32>\n      stablehlo.return %1 : tensor<2x3xf32>\n    }) : (tensor<f32>, "
     "tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> (tensor<f32>, tensor<2x3xf32>)",
     NULL},
    {"%0 = chlo.square %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>",
     "%0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xf32>"},
    {"%cst = stablehlo.constant dense<0x7F800000> : tensor<f32>", NULL},
    {"%cst = stablehlo.constant dense<-0.000000e+00> : tensor<f32>", NULL},
    {"%cst = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>", NULL},
    {"%cst = stablehlo.constant dense<-0.00737332925> : tensor<f32>", NULL},
    {"%cst = stablehlo.constant dense<-2.13374049E-4> : tensor<f32>", NULL},
    {"%cst = stablehlo.constant dense<-2.954600e-03> : tensor<f32>", NULL},
    {"%cst = stablehlo.constant dense<3.1415926535897931> : tensor<f64>", NULL},
    {"%cst = stablehlo.constant dense<123456789> : tensor<i32>",
     "%c = stablehlo.constant dense<123456789> : tensor<i32>"},
    {"%cst = stablehlo.constant dense<0x419D6F3454000000> : tensor<f64>",
     NULL}, /* 123456789: a point would be missing */
    {"%cst = stablehlo.constant dense<0x3C00> : tensor<f16>",
     "%cst = stablehlo.constant dense<1.000000e+00> : tensor<f16>"},
    {"%cst = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.5]]> : tensor<2x2xf32>",
     "%cst = stablehlo.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, "
     "4.500000e+00]]> : tensor<2x2xf32>"},
    {"%cst = stablehlo.constant dense<\"0x0000803F00000040\"> : tensor<2xf32>",
     "%cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>"},
    {"%cst = \"stablehlo.constant\"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>",
     "%c = stablehlo.constant dense<true> : tensor<i1>"},
    {"%c = stablehlo.constant dense<[true, false]> : tensor<2xi1>", NULL},
    {"%c = stablehlo.constant dense<\"0x05\"> : tensor<3xi1>",
     "%c = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>"},
    {"%c = stablehlo.constant dense<-128> : tensor<1xi8>", NULL},
    {"%c = stablehlo.constant dense<18446744073709551615> : tensor<ui64>", NULL},
    {"%c = stablehlo.constant dense<-9223372036854775808> : tensor<i64>", NULL},
    {"%cst = stablehlo.constant dense<(1.0,-2.0)> : tensor<complex<f32>>",
     "%cst = stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<complex<f32>>"},
    {"%0 = stablehlo.complex %arg0, %arg1 : tensor<2x3xcomplex<f32>>", NULL},
    {"%0 = \"stablehlo.complex\"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xcomplex<f32>>",
     "%0 = stablehlo.complex %arg0, %arg1 : tensor<2x3xcomplex<f32>>"},
    {"%0 = stablehlo.complex %arg0, %arg1 : tensor<2x3xcomplex<f32>>\n    %1 = stablehlo.real %0 : "
     "(tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>\n    %2 = stablehlo.imag %0 : "
     "(tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>\n    %3 = stablehlo.abs %0 : "
     "(tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>\n    %4 = stablehlo.exponential %0 : "
     "tensor<2x3xcomplex<f32>>\n    %5 = stablehlo.real %arg0 : tensor<2x3xf32>",
     NULL},
    {"%cst = stablehlo.constant dense<> : tensor<0x3xf32>", NULL},
    {"%cst = stablehlo.constant dense<1.0> : tensor<4xf32>",
     "%cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>\n    %0 = "
     "stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>"},
    {"%6 = \"stablehlo.gather\"(%arg0, %arg3) <{dimension_numbers = #stablehlo.gather<offset_dims "
     "= [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 3>}> "
     ": (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>",
     "%0 = \"stablehlo.gather\"(%arg0, %arg3) <{dimension_numbers = #stablehlo.gather<offset_dims "
     "= [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 3>}> "
     ": (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>"},
};

START_TEST(lines_are_printed_as_expected)
{
    char line[2048];
    const char *from = lines[_i].in;
    char text[8192];
    snprintf(text, sizeof text,
             "module @m {\n  func.func public @main(%%arg0: tensor<2x3xf32>, %%arg1: "
             "tensor<2x3xf32>, %%arg2: tensor<f32>, "
             "%%arg3: tensor<i32>, %%arg4: tensor<2xui64>) -> tensor<f32> {\n    %s\n    return "
             "%%arg2 : tensor<f32>\n  }\n}\n",
             from);
    lz_func *f = parse(text);
    ck_assert_str_eq(f->name, "m");
    lz_buf b = {0};
    lz_func_print(f, &b, 0);
    snprintf(line, sizeof line, "{\n    %s\n    return", lines[_i].out ? lines[_i].out : from);
    ck_assert_msg(strstr(lz_buf_str(&b), line) != NULL, "%s\nis printed as\n%s", from,
                  lz_buf_str(&b));
    lz_buf_free(&b);
    round_trip(f);
    lz_func_free(f);
}
END_TEST

/* ---- whole modules ---- */

START_TEST(calls_are_inlined)
{
    lz_func *f = parse(
        "#loc1 = loc(\"a.py\":1:2)\n"
        "module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n"
        "  func.func public @main(%arg0: tensor<4xf32> {mhlo.sharding = \"{replicated}\"} "
        "loc(#loc1)) -> (tensor<4xf32> {jax.result_info = \"r\"}, tensor<4xf32>) {\n"
        "    %0:2 = call @both(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, "
        "tensor<4xf32>)\n"
        "    %1 = func.call @twice(%0#1) {x = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>\n"
        "    %2 = stablehlo.composite \"my.twice\" %1 {composite_attributes = {k = 3 : i64}, "
        "decomposition = @twice, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>\n"
        "    return %0#0, %2 : tensor<4xf32>, tensor<4xf32> loc(#loc1)\n"
        "  } loc(#loc1)\n"
        "  func.func private @both(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, "
        "tensor<4xf32>) {\n"
        "    %0 = call @twice(%arg0) : (tensor<4xf32>) -> tensor<4xf32> // comment\n"
        "    return %0, %arg1 : tensor<4xf32>, tensor<4xf32>\n"
        "  }\n"
        "  func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> attributes {a = 1} {\n"
        "    %y = stablehlo.add %x, %x : tensor<4xf32>\n"
        "    func.return %y : tensor<4xf32>\n"
        "  }\n"
        "} loc(#loc)\n"
        "#loc = loc(unknown)\n");
    lz_buf b = {0};
    lz_func_print(f, &b, 0);
    ck_assert_str_eq(
        lz_buf_str(&b),
        "module @jit_f {\n"
        "  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
        "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n"
        "    %1 = stablehlo.add %0, %0 : tensor<4xf32>\n"
        "    return %0, %1 : tensor<4xf32>, tensor<4xf32>\n"
        "  }\n"
        "}\n");
    lz_buf_free(&b);
    lz_func_free(f);
}
END_TEST

START_TEST(regions_may_use_constants_from_around)
{
    lz_func *f =
        parse("func.func @f(%a: tensor<3xf32>) -> tensor<f32> {\n"
              "  %two = stablehlo.constant dense<2.0> : tensor<f32>\n"
              "  %0 = \"stablehlo.reduce\"(%a, %two) ({\n"
              "  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
              "    %p = stablehlo.multiply %y, %two : tensor<f32>\n"
              "    %q = stablehlo.add %x, %p : tensor<f32>\n"
              "    stablehlo.return %q : tensor<f32>\n"
              "  }) {dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<f32>\n"
              "  return %0 : tensor<f32>\n}\n");
    ck_assert_str_eq(f->name, "f");
    round_trip(f);
    lz_func_free(f);
}
END_TEST

START_TEST(a_wide_product_converts_its_operands)
{
    lz_func *f =
        parse("func.func @main(%a: tensor<8x8xbf16>, %b: tensor<8x8xbf16>) -> tensor<8x8xf32> {\n"
              "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
              "(tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>\n"
              "  return %0 : tensor<8x8xf32>\n}\n");
    ck_assert_uint_eq(f->ninst, 5);
    ck_assert_int_eq(f->insts[4].sig->op, LZ_OP_DOT_GENERAL);
    ck_assert_int_eq(f->insts[4].sig->opnd[0]->dtype, LZ_F32);
    lz_func_free(f);
}
END_TEST

/* The expansions of CHLO against libm. */
START_TEST(chlo_means_what_libm_means)
{
    static const struct {
        const char *name;
        double (*fn)(double);
        double lo, hi;
    } cases[] = {
        {"sinh", sinh, -60, 60}, {"cosh", cosh, -60, 60}, {"tan", tan, -1.5, 1.5},
        {"atan", atan, -50, 50}, {"asin", asin, -1, 1},   {"acos", acos, -1, 1},
    };
    char text[400];
    lz_rnd r = {8};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(text, sizeof text,
                 "func.func @main(%%a: tensor<200xf32>) -> tensor<200xf32> {\n %%0 = chlo.%s %%a : "
                 "tensor<200xf32> -> tensor<200xf32>\n return %%0 : tensor<200xf32>\n}",
                 cases[k].name);
        lz_func *f = parse(text);
        lz_literal *x = lz_literal_new(lz_val_type(f, 0)), *y;
        for (int i = 0; i < 200; i++)
            lz_elem_set_f64(LZ_F32, x->data, i,
                            i == 0   ? 1e-6
                            : i == 1 ? -0.0
                                     : cases[k].lo + (cases[k].hi - cases[k].lo) * lz_rnd_unit(&r) *
                                                         (i < 40 ? 0.01 : 1));
        ck_assert_int_eq(lz_ref_run(f, &x, &y), LZ_OK);
        for (int i = 0; i < 200; i++) {
            double v = lz_literal_get_f64(x, i), want = cases[k].fn(v),
                   got = lz_literal_get_f64(y, i);
            ck_assert_msg(fabs(got - want) <= 1e-5 * fabs(want) + 1e-12, "%s(%g) = %g, want %g",
                          cases[k].name, v, got, want);
        }
        lz_literal_release(x);
        lz_literal_release(y);
        lz_func_free(f);
    }
}
END_TEST

START_TEST(large_constants_are_elided_on_demand)
{
    lz_shape s = LZ_SHAPE(65);
    lz_func *f = lz_func_new("\"odd\" name\n"), *g;
    lz_literal *l = lz_literal_new(lz_type_get(LZ_F32, &s));
    lz_val v = lz_build_const(f, l);
    ck_assert_int_eq(lz_func_set_results(f, &v, 1), LZ_OK);
    lz_buf b = {0};
    lz_func_print(f, &b, LZ_PRINT_NO_LARGE);
    ck_assert(
        strstr(lz_buf_str(&b), "stablehlo.constant dense_resource<__elided__> : tensor<65xf32>"));
    ck_assert_int_eq(lz_func_parse(b.data, b.len, "t", &g), LZ_EUNSUPPORTED);
    lz_buf_free(&b);
    lz_func_free(f);
    lz_literal_release(l);
}
END_TEST

START_TEST(locations_are_printed_on_demand)
{
    static const lz_site site = {"a \"b\".c", "main", 12};
    lz_func *f =
        parse("func.func @main(%a: tensor<f32>) -> tensor<f32> {\n %0 = stablehlo.abs %a : "
              "tensor<f32>\n %1 = stablehlo.negate %0 : tensor<f32>\n return %1 : tensor<f32>\n}");
    f->insts[1].site = &site;
    f->insts[2].site = &site;
    f->insts[2].scope = "layer/1";
    lz_buf b = {0};
    lz_func_print(f, &b, LZ_PRINT_LOCATIONS);
    ck_assert(strstr(lz_buf_str(&b), "tensor<f32> loc(\"a \\\"b\\\".c\":12:0)\n"));
    ck_assert(strstr(lz_buf_str(&b), "tensor<f32> loc(\"layer/1\"(\"a \\\"b\\\".c\":12:0))\n"));
    lz_func *g;
    ck_assert_msg(lz_func_parse(b.data, b.len, "t", &g) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
    lz_func_free(g);
    lz_buf_free(&b);
    lz_func_print_irtext(f, &b, true);
    ck_assert_str_eq(
        lz_buf_str(&b),
        "IR {\n"
        "  %0 = f32[] xla::device_data(), xla_shape=f32[]\n"
        "  %1 = f32[] stablehlo::abs(%0), location=main@a \"b\".c:12, xla_shape=f32[]\n"
        "  %2 = f32[] stablehlo::negate(%1), location=main@a \"b\".c:12, scope=layer/1, "
        "xla_shape=f32[], ROOT=0\n"
        "}\n");
    lz_buf_free(&b);
    lz_func_free(f);
}
END_TEST

START_TEST(debugging_texts)
{
    lz_func *f = parse("func.func @main(%a: tensor<2xui64>, %b: tensor<2x3xi32>) -> "
                       "(tensor<4xui32>, tensor<2xi32>) {\n"
                       "  %s, %r = stablehlo.rng_bit_generator %a, algorithm = DEFAULT : "
                       "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)\n"
                       "  %t = stablehlo.add %r, %r : tensor<4xui32>\n"
                       "  %c = stablehlo.constant dense<3> : tensor<i32>\n"
                       "  %d = stablehlo.reduce(%b init: %c) applies stablehlo.add across "
                       "dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>\n"
                       "  return %t, %d : tensor<4xui32>, tensor<2xi32>\n}");
    lz_buf b = {0};
    lz_func_print_irtext(f, &b, false);
    ck_assert(strstr(lz_buf_str(&b),
                     "%2 = (u64[2]{0}, u32[4]{0}) stablehlo::rng_bit_generator(%0), "
                     "rng_algorithm=DEFAULT, xla_shape="));
    ck_assert(strstr(lz_buf_str(&b),
                     "= u32[4]{0} stablehlo::add(%2.1, %2.1), xla_shape=u32[4]{0}, ROOT=0\n"));
    ck_assert(strstr(lz_buf_str(&b), "= s32[] prim::Constant(), value=3, xla_shape=s32[]\n"));
    ck_assert(strstr(lz_buf_str(&b), "= s32[2]{0} stablehlo::reduce(%1, %6), dimensions=[1], "
                                     "body=add, xla_shape=s32[2]{0}, ROOT=1\n"));
    lz_buf_free(&b);
    lz_func_print_dot(f, &b);
    ck_assert(strstr(lz_buf_str(&b), "digraph G {\n"));
    ck_assert(strstr(lz_buf_str(&b), "  node2 -> node5 [label=\"i=1,o=1\"]\n"));
    ck_assert(strstr(lz_buf_str(&b), "\\nROOT=1\"]\n"));
    lz_buf_free(&b);
    lz_func_free(f);
}
END_TEST

/* ---- what loc(..) says, where it is asked for ---- */

static const char with_locations[] =
    "#named = loc(\"a/b\"(#line))\n"
    "func.func @main(%x: tensor<f32> loc(\"weights\")) -> tensor<f32> {\n"
    "  %0 = stablehlo.negate %x : tensor<f32> loc(#named)\n"
    "  %1 = stablehlo.exponential %0 : tensor<f32> loc(\"net.c\":12:3)\n"
    "  %2 = stablehlo.tanh %1 : tensor<f32> loc(fused<\"x\">[\"s\"(\"f.c\":1:1), \"g.c\":2:2])\n"
    "  %3 = stablehlo.abs %2 : tensor<f32> loc(callsite(\"in.c\":5:0 at \"out.c\":6:0))\n"
    "  %4 = stablehlo.sine %3 : tensor<f32> loc(unknown)\n"
    "  %5 = stablehlo.cosine %4 : tensor<f32> loc(#nowhere)\n"
    "  %6 = stablehlo.sqrt %5 : tensor<f32> loc(#circle)\n"
    "  return %6 : tensor<f32>\n"
    "}\n"
    "#line = loc(\"far.c\":7:0)\n"
    "#circle = loc(\"c\"(#circle))\n";

START_TEST(locations_are_read_on_demand)
{
    static const struct {
        const char *scope, *file;
        int line;
    } want[] = {{"weights", NULL, 0}, {"a/b", "far.c", 7}, {NULL, "net.c", 12}, {"s", "f.c", 1},
                {NULL, "in.c", 5},    {NULL, NULL, 0},     {NULL, NULL, 0},     {"c", NULL, 0}};
    for (int on = 0; on < 2; on++) {
        lz_func *f;
        lz_partitions about = {.locations = on};
        ck_assert_int_eq(
            lz_func_parse_about(with_locations, strlen(with_locations), "t", NULL, &about, &f),
            LZ_OK);
        ck_assert_int_eq(f->ninst, 8);
        for (int i = 0; i < 8; i++) {
            const lz_inst *in = &f->insts[i];
            ck_assert_int_eq(in->site != NULL, on && want[i].file);
            ck_assert_int_eq(in->scope != NULL, on && want[i].scope);
            if (in->site)
                ck_assert(strcmp(in->site->file, want[i].file) == 0 &&
                          in->site->line == want[i].line);
            if (in->scope)
                ck_assert_str_eq(in->scope, want[i].scope);
        }
        lz_func_free(f);
    }
}
END_TEST

/* What a name stands for is found once: from its end and from within, through others, of a text
 * that is none; and metadata that is long is not read again for each of many instructions. */
START_TEST(a_location_by_name_is_read_once)
{
    enum { MANY = 20000, LONG = 1 << 23 };
    static const char *const names[] = {"inner", "outer", "twice", "bad", "outer", "long", "bad"};
    static const struct {
        const char *scope, *file;
    } want[] = {{NULL, "far.c"}, {"o", "far.c"},  {"o", "far.c"}, {NULL, NULL},
                {"o", "far.c"},  {"i", "long.c"}, {NULL, NULL}};
    enum { N = sizeof names / sizeof *names };
    lz_buf b = {0};
    lz_func *f;
    lz_partitions about = {.locations = true};
    lz_buf_puts(&b, "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n");
    for (int i = 0; i < MANY; i++)
        lz_buf_printf(&b, "%%%d = stablehlo.abs %%%s%d : tensor<f32> loc(#%s)\n", i, i ? "" : "a",
                      i ? i - 1 : 0, i < N ? names[i] : "long");
    char *at = strstr(lz_buf_str(&b), "%a0");
    ck_assert(at && b.len);
    memcpy(at, "%a ", 3);
    lz_buf_printf(&b,
                  "return %%%d : tensor<f32>\n}\n#inner = loc(\"far.c\":7:0)\n#outer = "
                  "loc(\"o\"(#inner))\n#twice = loc(#outer)\n#bad = loc(\"x\":no)\n#long = "
                  "loc(#far)\n#far = loc(fused<\"",
                  MANY - 1);
    for (int i = 0; i < LONG; i++)
        lz_buf_putc(&b, 'm');
    lz_buf_puts(&b, "\">[\"i\"(\"long.c\":1:1), #inner])\n");
    ck_assert_int_eq(lz_func_parse_about(lz_buf_str(&b), b.len, "t", NULL, &about, &f), LZ_OK);
    for (int i = 0; i < MANY; i++) {
        const lz_inst *in = &f->insts[i + 1];
        int k = i < N ? i : 5;
        ck_assert_msg(!in->scope == !want[k].scope && !in->site == !want[k].file, "%d", i);
        ck_assert(!in->scope || strcmp(in->scope, want[k].scope) == 0);
        ck_assert(!in->site || strcmp(in->site->file, want[k].file) == 0);
    }
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

/* A program that set a locale with a decimal comma reads and writes the same text. */
START_TEST(the_locale_does_not_matter)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"};
    for (int i = 0; i < 3; i++) {
        if (!setlocale(LC_ALL, names[i]))
            continue;
        lz_func *f = parse("func.func @main() -> tensor<f32> {\n %0 = stablehlo.constant "
                           "dense<1.5> : tensor<f32>\n return %0 : tensor<f32>\n}");
        ck_assert(lz_literal_get_f64(f->insts[0].lit, 0) == 1.5);
        lz_buf b = {0};
        lz_func_print(f, &b, 0);
        ck_assert(strstr(lz_buf_str(&b), "dense<1.500000e+00>"));
        lz_buf_free(&b);
        lz_func_free(f);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/text");
    TCase *t = tcase_create("text");
    tcase_add_loop_test(t, rows_round_trip, 1, LZ_OP_COUNT);
    tcase_add_loop_test(t, random_functions_round_trip, 0, 8);
    tcase_add_loop_test(t, constants_round_trip, 1, LZ_DTYPE_COUNT);
    tcase_add_loop_test(t, floats_keep_their_bits, 0, 4);
    tcase_add_loop_test(t, lines_are_printed_as_expected, 0, (int)(sizeof lines / sizeof *lines));
    tcase_add_test(t, calls_are_inlined);
    tcase_add_test(t, regions_may_use_constants_from_around);
    tcase_add_test(t, a_wide_product_converts_its_operands);
    tcase_add_test(t, chlo_means_what_libm_means);
    tcase_add_test(t, large_constants_are_elided_on_demand);
    tcase_add_test(t, locations_are_printed_on_demand);
    tcase_add_test(t, locations_are_read_on_demand);
    tcase_add_test(t, a_location_by_name_is_read_once);
    tcase_add_test(t, debugging_texts);
    tcase_add_test(t, the_locale_does_not_matter);
    tcase_set_timeout(t, 300);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
