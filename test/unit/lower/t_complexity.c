/* t_complexity.c - how the work of a plan grows with an extent of its program: every row of ops.def
 * at n, 4 n and 16 n, in the operations and bytes of the lowered plan, with prefix scans and
 * without. Every row has a bound here, or says why it has none. */
#include "ir/attr.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum bound {
    NO_BOUND, /* of a row: the test fails */
    LINEAR,
    N_LOG_N,
    SQUARE,
    CUBE,
    ELSEWHERE /* no kernel, or no extent, of its own: `text` says why */
} bound;

#define BINARY(op, t)                                                                              \
    "({ ^bb0(%a: tensor<" t ">, %b: tensor<" t ">): %r = stablehlo." op " %a, %b : tensor<" t "> " \
    "stablehlo.return %r : tensor<" t "> })"
#define ZERO "%z = stablehlo.constant dense<0.0> : tensor<f32> "
#define NONE "%z = stablehlo.constant dense<0xFF800000> : tensor<f32> "
#define WINDOWS(how, region, to)                                                                   \
    "%v = \"stablehlo.reduce_window\"(%x, %z) <{" how "}> " region                                 \
    " : (tensor<@xf32>, tensor<f32>) -> tensor<" to "xf32>"
#define SELECT                                                                                     \
    "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.compare GE, %a, %b, TOTALORDER : "  \
    "(tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1> }, "                \
    "{ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.add %a, %b : tensor<f32> "           \
    "stablehlo.return %r : tensor<f32> })"
#define VECTOR "%x: tensor<@xf32>"
#define MATRIX "%x: tensor<@x@xf32>"

/* In texts: @ is n, $ n - 1, ! n + 1, ~ 2 n, & n / 2 + 1. */
static const struct row {
    lz_op op;
    bound bound;
    int64_t n; /* the least */
    const char *parameters, *result, *text;
} rows[] = {
    {LZ_OP_IOTA, LINEAR, 256, "", "@xf32", "%v = stablehlo.iota dim = 0 : tensor<@xf32>"},
    {LZ_OP_BITCAST_CONVERT, LINEAR, 256, VECTOR, "@xi32",
     "%v = stablehlo.bitcast_convert %x : (tensor<@xf32>) -> tensor<@xi32>"},
    {LZ_OP_BROADCAST_IN_DIM, LINEAR, 256, VECTOR, "3x@xf32",
     "%v = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<@xf32>) -> tensor<3x@xf32>"},
    {LZ_OP_CONCATENATE, LINEAR, 256, VECTOR, "~xf32",
     "%v = stablehlo.concatenate %x, %x, dim = 0 : (tensor<@xf32>, tensor<@xf32>) -> "
     "tensor<~xf32>"},
    {LZ_OP_PAD, LINEAR, 256, VECTOR, "~xf32",
     ZERO "%v = stablehlo.pad %x, %z, low = [1], high = [0], interior = [1] : (tensor<@xf32>, "
          "tensor<f32>) -> tensor<~xf32>"},
    {LZ_OP_RESHAPE, LINEAR, 256, VECTOR, "2x@xf32",
     "%y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<@xf32>, tensor<@xf32>) -> tensor<~xf32> "
     "%v = stablehlo.reshape %y : (tensor<~xf32>) -> tensor<2x@xf32>"},
    {LZ_OP_REVERSE, LINEAR, 256, VECTOR, "@xf32",
     "%v = stablehlo.reverse %x, dims = [0] : tensor<@xf32>"},
    {LZ_OP_SLICE, LINEAR, 256, VECTOR, "$xf32",
     "%v = stablehlo.slice %x [1:@] : (tensor<@xf32>) -> tensor<$xf32>"},
    {LZ_OP_TRANSPOSE, LINEAR, 256, "%x: tensor<3x@xf32>", "@x3xf32",
     "%v = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x@xf32>) -> tensor<@x3xf32>"},
    {LZ_OP_DYNAMIC_SLICE, LINEAR, 256, VECTOR ", %i: tensor<i32>", "$xf32",
     "%v = stablehlo.dynamic_slice %x, %i, sizes = [$] : (tensor<@xf32>, tensor<i32>) -> "
     "tensor<$xf32>"},
    {LZ_OP_DYNAMIC_UPDATE_SLICE, LINEAR, 256, VECTOR ", %u: tensor<$xf32>, %i: tensor<i32>",
     "@xf32",
     "%v = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<@xf32>, tensor<$xf32>, tensor<i32>) "
     "-> tensor<@xf32>"},
    {LZ_OP_GATHER, LINEAR, 256, VECTOR ", %i: tensor<@x1xi32>", "@xf32",
     "%v = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<"
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1>}> : (tensor<@xf32>, tensor<@x1xi32>) -> tensor<@xf32>"},
    {LZ_OP_SCATTER, LINEAR, 256, VECTOR ", %i: tensor<@x1xi32>, %u: tensor<@xf32>", "@xf32",
     "%v = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<"
     "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " BINARY("add",
                    "f32") " : (tensor<@xf32>, tensor<@x1xi32>, tensor<@xf32>) -> tensor<@xf32>"},
    {LZ_OP_REDUCE, LINEAR, 1024, VECTOR, "f32",
     ZERO "%v = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : "
          "(tensor<@xf32>, tensor<f32>) -> tensor<f32>"},
    {LZ_OP_DOT_GENERAL, CUBE, 64, MATRIX, "@x@xf32",
     "%v = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<@x@xf32>, "
     "tensor<@x@xf32>) -> tensor<@x@xf32>"},
    {LZ_OP_FFT, N_LOG_N, 256, VECTOR, "&xcomplex<f32>",
     "%v = stablehlo.fft %x, type = RFFT, length = [@] : (tensor<@xf32>) -> "
     "tensor<&xcomplex<f32>>"},
    {LZ_OP_CHOLESKY, CUBE, 64, MATRIX, "@x@xf32",
     "%v = stablehlo.cholesky %x, lower = true : tensor<@x@xf32>"},
    {LZ_OP_TRIANGULAR_SOLVE, CUBE, 64, MATRIX, "@x@xf32",
     "%v = \"stablehlo.triangular_solve\"(%x, %x) <{left_side = true, lower = true, unit_diagonal "
     "= false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<@x@xf32>, "
     "tensor<@x@xf32>) -> tensor<@x@xf32>"},
    {LZ_OP_LU, CUBE, 64, MATRIX, "@x@xf32",
     "%v:3 = \"lazuli.lu\"(%x) : (tensor<@x@xf32>) -> (tensor<@x@xf32>, tensor<@xi32>, "
     "tensor<@xi32>)"},
    {LZ_OP_QR, CUBE, 64, MATRIX, "@x@xf32",
     "%v:2 = \"lazuli.qr\"(%x) <{complete = false}> : (tensor<@x@xf32>) -> (tensor<@x@xf32>, "
     "tensor<@x@xf32>)"},
    {LZ_OP_GEQRF, CUBE, 64, MATRIX, "@x@xf32",
     "%v:2 = \"lazuli.geqrf\"(%x) : (tensor<@x@xf32>) -> (tensor<@x@xf32>, tensor<@xf32>)"},
    {LZ_OP_SORT, N_LOG_N, 1024, VECTOR, "@xf32",
     "%v = \"stablehlo.sort\"(%x) <{dimension = 0 : i64, is_stable = true}> ({ ^bb0(%a: "
     "tensor<f32>, %b: tensor<f32>): %r = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, "
     "tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1> }) : (tensor<@xf32>) -> "
     "tensor<@xf32>"},
    {LZ_OP_CONVOLUTION, SQUARE, 64, "%x: tensor<1x@x@x3xf32>, %k: tensor<3x3x3x4xf32>",
     "1x@x@x4xf32",
     "%v = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
     "i64} : (tensor<1x@x@x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x@x@x4xf32>"},
    /* prefixes, suffixes; windows that grow with what they go over; those of any region */
    {LZ_OP_REDUCE_WINDOW, LINEAR, 512, VECTOR, "@xf32",
     ZERO WINDOWS("padding = dense<[[$, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: @>",
                  BINARY("add", "f32"), "@")},
    {LZ_OP_REDUCE_WINDOW, LINEAR, 512, VECTOR, "@xf32",
     NONE WINDOWS("padding = dense<[[0, $]]> : tensor<1x2xi64>, window_dimensions = array<i64: @>",
                  BINARY("maximum", "f32"), "@")},
    {LZ_OP_REDUCE_WINDOW, LINEAR, 512, VECTOR, "@xf32",
     NONE
     "%y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<@xf32>, tensor<@xf32>) -> "
     "tensor<~xf32> %w = \"stablehlo.reduce_window\"(%y, %z) <{window_dimensions = "
     "array<i64: @>}> " BINARY(
         "maximum",
         "f32") " : (tensor<~xf32>, tensor<f32>) -> "
                "tensor<!xf32> %v = stablehlo.slice %w [1:!] : (tensor<!xf32>) -> tensor<@xf32>"},
    {LZ_OP_REDUCE_WINDOW, LINEAR, 512, VECTOR, "@xf32",
     ZERO WINDOWS("padding = dense<[[$, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: @>",
                  "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %p = stablehlo.multiply %a, %b : "
                  "tensor<f32> %q = stablehlo.add %a, %b : tensor<f32> %r = stablehlo.add %p, %q : "
                  "tensor<f32> stablehlo.return %r : tensor<f32> })",
                  "@")},
    {LZ_OP_REDUCE_WINDOW, SQUARE, 64, MATRIX, "@x@xf32",
     ZERO "%v = \"stablehlo.reduce_window\"(%x, %z) <{padding = dense<[[$, 0], [0, $]]> : "
          "tensor<2x2xi64>, window_dimensions = array<i64: @, @>}> " BINARY(
              "add", "f32") " : (tensor<@x@xf32>, tensor<f32>) -> tensor<@x@xf32>"},
    {LZ_OP_SELECT_AND_SCATTER, LINEAR, 512, "%x: tensor<@xf32>, %s: tensor<@xf32>", "@xf32",
     ZERO "%v = \"stablehlo.select_and_scatter\"(%x, %s, %z) <{padding = dense<[[$, 0]]> : "
          "tensor<1x2xi64>, window_dimensions = array<i64: @>}> " SELECT
          " : (tensor<@xf32>, tensor<@xf32>, tensor<f32>) -> tensor<@xf32>"},
    {LZ_OP_RNG_BIT_GENERATOR, LINEAR, 256, "%x: tensor<2xui64>", "@xui32",
     "%s, %v = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<@xui32>)"},
    {LZ_OP_WHILE, SQUARE, 64, VECTOR, "@xf32",
     "%i = stablehlo.constant dense<0> : tensor<i32> %o = stablehlo.constant dense<1> : "
     "tensor<i32> %n = stablehlo.constant dense<@> : tensor<i32> %w:2 = stablehlo.while(%k = %i, "
     "%y = %x) : tensor<i32>, tensor<@xf32> cond { %c = stablehlo.compare LT, %k, %n, SIGNED : "
     "(tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %c : tensor<i1> } do { %k1 = "
     "stablehlo.add %k, %o : tensor<i32> %y1 = stablehlo.sine %y : tensor<@xf32> stablehlo.return "
     "%k1, %y1 : tensor<i32>, tensor<@xf32> } %v = stablehlo.negate %w#1 : tensor<@xf32>"},
    {LZ_OP_IF, LINEAR, 256, VECTOR ", %p: tensor<i1>", "@xf32",
     "%v = \"stablehlo.if\"(%p) ({ %a = stablehlo.sine %x : tensor<@xf32> stablehlo.return %a : "
     "tensor<@xf32> }, { %a = stablehlo.cosine %x : tensor<@xf32> stablehlo.return %a : "
     "tensor<@xf32> }) : (tensor<i1>) -> tensor<@xf32>"},
    {LZ_OP_OPTIMIZATION_BARRIER, LINEAR, 256, VECTOR, "@xf32",
     "%v = stablehlo.optimization_barrier %x : tensor<@xf32>"},
    {LZ_OP_PARAMETER, ELSEWHERE, 0, NULL, NULL, "in all programs"},
    {LZ_OP_CONSTANT, ELSEWHERE, 0, NULL, NULL, "in most programs"},
    {LZ_OP_WINDOW_VIEW, ELSEWHERE, 0, NULL, NULL, "an address; reduce_window and convolution"},
    {LZ_OP_SVD, ELSEWHERE, 0, NULL, NULL, "rounds until it converges: the data's"},
    {LZ_OP_EIGH, ELSEWHERE, 0, NULL, NULL, "the same"},
    {LZ_OP_SCHUR, ELSEWHERE, 0, NULL, NULL, "the same"},
    {LZ_OP_EIG, ELSEWHERE, 0, NULL, NULL, "the same"},
    {LZ_OP_HESSENBERG, ELSEWHERE, 0, NULL, NULL, "a routine, on every device"},
    {LZ_OP_TRIDIAGONAL, ELSEWHERE, 0, NULL, NULL, "a routine, on every device"},
    {LZ_OP_GEQP3, ELSEWHERE, 0, NULL, NULL, "a routine, on every device"},
    {LZ_OP_GTSV, ELSEWHERE, 0, NULL, NULL, "a routine, on every device"},
    {LZ_OP_CUSTOM_CALL, ELSEWHERE, 0, NULL, NULL, "the program's function"},
    {LZ_OP_CUSTOM_VJP, ELSEWHERE, 0, NULL, NULL, "gone before it is lowered"},
    {LZ_OP_RESULT, ELSEWHERE, 0, NULL, NULL, "names a value"},
    {LZ_OP_PARTITION_ID, ELSEWHERE, 0, NULL, NULL, "a number"},
    {LZ_OP_REPLICA_ID, ELSEWHERE, 0, NULL, NULL, "a number"},
    {LZ_OP_SHARDING_CONSTRAINT, ELSEWHERE, 0, NULL, NULL, "a mark"},
    {LZ_OP_SHARDING_GROUP, ELSEWHERE, 0, NULL, NULL, "a mark"},
    {LZ_OP_PROPAGATION_BARRIER, ELSEWHERE, 0, NULL, NULL, "a mark"},
    {LZ_OP_MANUAL_COMPUTATION, ELSEWHERE, 0, NULL, NULL, "its body, inlined"},
    {LZ_OP_ALL_GATHER, ELSEWHERE, 0, NULL, NULL, "moved by the executor"},
    {LZ_OP_ALL_REDUCE, ELSEWHERE, 0, NULL, NULL, "moved by the executor"},
    {LZ_OP_ALL_TO_ALL, ELSEWHERE, 0, NULL, NULL, "moved by the executor"},
    {LZ_OP_COLLECTIVE_BROADCAST, ELSEWHERE, 0, NULL, NULL, "moved by the executor"},
    {LZ_OP_COLLECTIVE_PERMUTE, ELSEWHERE, 0, NULL, NULL, "moved by the executor"},
    {LZ_OP_REDUCE_SCATTER, ELSEWHERE, 0, NULL, NULL, "moved by the executor"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void put(lz_buf *b, const char *text, int64_t n)
{
    for (; *text; text++)
        if (*text == '@')
            lz_buf_printf(b, "%lld", (long long)n);
        else if (*text == '$')
            lz_buf_printf(b, "%lld", (long long)n - 1);
        else if (*text == '~')
            lz_buf_printf(b, "%lld", 2 * (long long)n);
        else if (*text == '!')
            lz_buf_printf(b, "%lld", (long long)n + 1);
        else if (*text == '&')
            lz_buf_printf(b, "%lld", (long long)n / 2 + 1);
        else
            lz_buf_putc(b, *text);
}

static double work_of(const lz_func *f, bool scans)
{
    lz_lower_options o = {.prefix_scans = scans, .column_reductions = scans};
    lz_plan *p = NULL;
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    double w = (double)lz_plan_work(p);
    lz_plan_free(p);
    return w;
}

static double work_at(const struct row *r, int64_t n, bool scans)
{
    lz_buf b = {0};
    lz_func *f;
    bool several = strstr(r->text, "%v:") != NULL;
    lz_buf_puts(&b, "module { func.func public @main(");
    put(&b, r->parameters, n);
    lz_buf_puts(&b, ") -> tensor<");
    put(&b, r->result, n);
    lz_buf_puts(&b, "> { ");
    put(&b, r->text, n);
    lz_buf_printf(&b, " return %%v%s : tensor<", several ? "#0" : "");
    put(&b, r->result, n);
    lz_buf_puts(&b, "> } }");
    const char *text = lz_buf_str(&b);
    ck_assert_msg(lz_func_parse(text, strlen(text), "row", &f) == LZ_OK, "%s\n%s",
                  lz_error_get()->message, text);
    double w = work_of(f, scans);
    lz_func_free(f);
    lz_buf_free(&b);
    return w;
}

/* How many times as much 4 n may be as n. */
static double most(bound b)
{
    double p = b == CUBE ? 64 : b == SQUARE ? 16 : b == N_LOG_N ? 4 * 1.5 : 4;
    return p * 1.25;
}

START_TEST(grows_as_bound)
{
    const struct row *r = &rows[_i / 2];
    bool scans = _i % 2;
    if (r->bound == ELSEWHERE)
        return;
    double last = 0;
    for (int k = 0; k < 3; k++) {
        int64_t n = r->n << 2 * k;
        double w = work_at(r, n, scans);
        ck_assert_msg(k == 0 || w <= most(r->bound) * last,
                      "%s (row %d, scans: %d): work %g at %lld, %g at a quarter",
                      lz_op_get(r->op)->text, _i / 2, scans, w, (long long)n, last);
        last = w;
    }
}
END_TEST

START_TEST(every_row_is_bounded)
{
    for (int op = 1; op < LZ_OP_COUNT; op++) {
        bound b = lz_op_get((lz_op)op)->cls == LZ_CLASS_EW ? LINEAR : NO_BOUND;
        for (int i = 0; i < ROWS && b == NO_BOUND; i++)
            b = rows[i].op == (lz_op)op ? rows[i].bound : NO_BOUND;
        ck_assert_msg(b != NO_BOUND, "%s has no bound", lz_op_get((lz_op)op)->text);
    }
}
END_TEST

/* Elementwise rows, by their arity and dtypes. */
static lz_func *elementwise(lz_op op, int64_t n)
{
    const lz_op_info *info = lz_op_get(op);
    lz_shape s = LZ_SHAPE(n);
    lz_attr_any a = {.head = {.kind = info->attr}};
    lz_val v[3];
    lz_dtype d = LZ_F32;
    while (!lz_op_accepts(op, d) && op != LZ_OP_SELECT)
        d = d == LZ_F32 ? LZ_BOOL : (lz_dtype)(d + 1);
    lz_func *f = lz_func_new("row");
    if (info->attr == LZ_ATTR_dtype)
        a.as_dtype.dtype = LZ_I32;
    if (info->attr == LZ_ATTR_precision)
        a.as_precision =
            (lz_attr_precision){.kind = info->attr, .exponent_bits = 5, .mantissa_bits = 10};
    for (int k = 0; k < info->arity; k++)
        v[k] = lz_build_param(f, lz_type_get(op == LZ_OP_SELECT && k == 0 ? LZ_BOOL : d, &s));
    lz_val r =
        lz_build(f, op, info->attr == LZ_ATTR_none ? NULL : &a.head, v, (uint32_t)info->arity);
    ck_assert_msg(f->status == LZ_OK && lz_func_set_results(f, &r, 1) == LZ_OK, "%s: %s",
                  info->text, lz_error_get()->message);
    return f;
}

START_TEST(elementwise_is_linear)
{
    for (int op = 1; op < LZ_OP_COUNT; op++) {
        double last = 0;
        if (lz_op_get((lz_op)op)->cls != LZ_CLASS_EW)
            continue;
        for (int64_t n = 64; n <= 1024; n *= 4) {
            lz_func *f = elementwise((lz_op)op, n);
            double w = work_of(f, true);
            ck_assert_msg(last == 0 || w <= most(LINEAR) * last, "%s", lz_op_get((lz_op)op)->text);
            last = w;
            lz_func_free(f);
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("complexity");
    TCase *t = tcase_create("complexity");
    tcase_add_loop_test(t, grows_as_bound, 0, 2 * ROWS);
    tcase_add_test(t, every_row_is_bounded);
    tcase_add_test(t, elementwise_is_linear);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
