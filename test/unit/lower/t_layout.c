/* t_layout.c - pass `layout`: the same results in any order, no transposes between convolutions,
 * arguments and results as they were; and what plans of convolutions may cost. */
#include "ir/eval/eval.h"
#include "lower/plan/plan.h"
#include "passtest.h"
#include "support/lit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONV "dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
#define ONE " {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
#define X "tensor<2x3x8x8xf32>"
#define Y "tensor<2x6x8x8xf32>"

static const struct {
    const char *text;
    int transposes; /* that remain: of arguments and results */
} programs[] = {
    /* two convolutions, bias, relu, a residual sum, sums over pixels */
    {"func.func public @main(%x: " X ", %k: tensor<6x3x3x3xf32>, %l: tensor<6x6x3x3xf32>, "
     "%b: tensor<6xf32>) -> (" Y ", tensor<6xf32>) {"
     "%z = stablehlo.constant dense<0.0> : tensor<f32>"
     "%0 = stablehlo.convolution(%x, %k) " CONV "{pad = [[1, 1], [1, 1]]}" ONE "(" X
     ", tensor<6x3x3x3xf32>) -> " Y
     "%1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6xf32>) -> " Y
     "%2 = stablehlo.add %0, %1 : " Y
     "%3 = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> " Y
     "%4 = stablehlo.maximum %2, %3 : " Y "%5 = stablehlo.convolution(%4, %l) " CONV
     "{pad = [[1, 1], [1, 1]]}" ONE "(" Y ", tensor<6x6x3x3xf32>) -> " Y
     "%6 = stablehlo.add %5, %4 : " Y
     "%7 = stablehlo.reduce(%6 init: %z) applies stablehlo.add across dimensions = [0, 2, 3] : "
     "(" Y ", tensor<f32>) -> tensor<6xf32>"
     "return %6, %7 : " Y ", tensor<6xf32> }",
     4},
    /* what is in another order on the way: a reverse, a slice, a concatenation, an iota, a reshape,
     * a value and its transpose */
    {"func.func public @main(%x: " X ", %k: tensor<6x3x3x3xf32>, %l: tensor<2x12x1x1xf32>) -> "
     "(tensor<2x2x8x4xf32>, tensor<2x384xf32>, tensor<2x6x8x8xf32>) {"
     "%z = stablehlo.constant dense<0.5> : tensor<f32>"
     "%0 = stablehlo.convolution(%x, %k) " CONV "{pad = [[1, 1], [1, 1]]}" ONE "(" X
     ", tensor<6x3x3x3xf32>) -> " Y "%1 = stablehlo.reverse %0, dims = [1, 3] : " Y
     "%2 = stablehlo.concatenate %0, %1, dim = 1 : (" Y ", " Y ") -> tensor<2x12x8x8xf32>"
     "%3 = stablehlo.slice %2 [0:2, 0:12, 0:8, 1:8:2] : (tensor<2x12x8x8xf32>) -> "
     "tensor<2x12x8x4xf32>"
     "%4 = stablehlo.iota dim = 2 : tensor<2x12x8x4xf32>"
     "%5 = stablehlo.multiply %3, %4 : tensor<2x12x8x4xf32>"
     "%6 = stablehlo.convolution(%5, %l) " CONV "{}" ONE
     "(tensor<2x12x8x4xf32>, tensor<2x12x1x1xf32>) -> tensor<2x2x8x4xf32>"
     "%7 = stablehlo.reshape %0 : (" Y ") -> tensor<2x384xf32>"
     "%8 = stablehlo.pad %0, %z, low = [0, 0, -1, 1], high = [0, 0, 1, -1], interior = [0, 0, 0, "
     "0] : (" Y ", tensor<f32>) -> " Y "%9 = stablehlo.transpose %8, dims = [0, 1, 3, 2] : (" Y
     ") -> " Y "%10 = stablehlo.add %8, %9 : " Y
     "return %6, %7, %10 : tensor<2x2x8x4xf32>, tensor<2x384xf32>, " Y " }",
     -1},
    /* what windows that overlap chose, repeated and looked at window by window */
    {"func.func public @main(%x: " X ", %k: tensor<6x3x3x3xf32>, %g: tensor<2x6x4x4xf32>) -> " Y
     " {"
     "%z = stablehlo.constant dense<0.0> : tensor<f32>"
     "%0 = stablehlo.convolution(%x, %k) " CONV "{pad = [[1, 1], [1, 1]]}" ONE "(" X
     ", tensor<6x3x3x3xf32>) -> " Y "%1 = \"stablehlo.select_and_scatter\"(%0, %g, %z) <{padding = "
     "dense<[[0, 0], [0, 0], [1, 1], [1, "
     "1]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = "
     "array<i64: 1, "
     "1, 2, 2>}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
     "%m = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "stablehlo.return %m : tensor<i1>\n}, {\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
     "%s = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) : (" Y
     ", tensor<2x6x4x4xf32>, tensor<f32>) -> " Y "%2 = stablehlo.add %0, %1 : " Y "return %2 : " Y
     " }",
     -1},
};
enum { NPROGRAM = sizeof programs / sizeof *programs };

static lz_func *parsed(const char *body)
{
    lz_buf b = {0};
    lz_func *f;
    lz_buf_printf(&b, "module { %s }", body);
    const char *text = lz_buf_str(&b);
    ck_assert_msg(lz_func_parse(text, strlen(text), "program", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
    return f;
}

static lz_func *prepared(int i)
{
    lz_func *f = parsed(programs[i].text), *g;
    ck_assert_int_eq(lz_passes_run(f, "expand_windows,simplify", NULL, &g), LZ_OK);
    lz_func_free(f);
    return g;
}

static void run(const lz_func *f, lz_literal **out)
{
    lz_rnd r = {7};
    lz_literal *args[4] = {NULL};
    for (uint32_t k = 0; k < f->nparam; k++)
        args[k] = lz_test_random(&r, lz_val_type(f, k), LZ_FILL_MODEST);
    ck_assert_msg(lz_ref_run(f, args, out) == LZ_OK, "%s", lz_error_get()->message);
    for (uint32_t k = 0; k < f->nparam; k++)
        lz_literal_release(args[k]);
}

static int transposes(const lz_func *f)
{
    int n = 0;
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        n += f->insts[i].sig->attr->kind == LZ_ATTR_perm;
    return n;
}

START_TEST(the_same_in_another_order)
{
    lz_func *f = prepared(_i), *g;
    lz_literal *want[3] = {NULL}, *got[3] = {NULL};
    ck_assert_msg(lz_passes_run(f, "layout", NULL, &g) == LZ_OK && g, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_func_verify(g), LZ_OK);
    run(f, want);
    run(g, got);
    for (uint32_t r = 0; r < f->nresult; r++) {
        for (int64_t k = 0; k < want[r]->type->nelem; k++) {
            double a = lz_literal_get_f64(want[r], k), b = lz_literal_get_f64(got[r], k);
            ck_assert_msg(fabs(a - b) <= 1e-4 * (1 + fabs(a)), "element %d: %g, not %g", (int)k, b,
                          a);
        }
        lz_literal_release(want[r]);
        lz_literal_release(got[r]);
    }
    if (programs[_i].transposes >= 0)
        ck_assert_int_eq(transposes(g), programs[_i].transposes);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

START_TEST(failing_memory)
{
    lz_check_failing_memory(prepared(_i), "layout");
}
END_TEST

/* ---- what plans cost ---- */

static uint64_t flops_of(const char *body)
{
    lz_func *f = parsed(body);
    lz_plan *p = NULL;
    uint64_t n = 0;
    ck_assert_msg(lz_lower(f, NULL, &p) == LZ_OK, "%s", lz_error_get()->message);
    for (uint32_t i = 0; i < p->nstep; i++)
        n += p->steps[i].flops;
    lz_plan_free(p);
    lz_func_free(f);
    return n;
}

/* The gradient of windows two apart: 2 x 16 x 16 results of 16 sums, of 9 taps of which each result
 * meets 1 to 4. */
START_TEST(dilated_inputs_are_not_multiplied_with_zeros)
{
    uint64_t n = flops_of(
        "func.func public @main(%x: tensor<2x8x8x16xf32>, %k: tensor<3x3x16x16xf32>) -> "
        "tensor<2x16x16x16xf32> {"
        "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
        "window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]}" ONE
        "(tensor<2x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<2x16x16x16xf32>"
        "return %0 : tensor<2x16x16x16xf32> }");
    uint64_t useful = 2 * 2 * 8 * 8 * 9 * 16 * 16;
    ck_assert_uint_ge(n, useful);
    ck_assert_uint_lt(n, useful + useful / 4);
}
END_TEST

/* A product of narrow numbers has the operations of any other; its factors and results are
 * converted once. */
START_TEST(conversions_are_counted_once)
{
    uint64_t n =
        flops_of("func.func public @main(%x: tensor<64x96xbf16>, %y: tensor<96x32xbf16>) -> "
                 "tensor<64x32xbf16> {"
                 "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
                 "(tensor<64x96xbf16>, tensor<96x32xbf16>) -> tensor<64x32xbf16>"
                 "return %0 : tensor<64x32xbf16> }");
    ck_assert_uint_eq(n, 2 * 64 * 96 * 32 + 64 * 96 + 96 * 32 + 64 * 32);
}
END_TEST

/* Few features of many images, there and back: vectors of every product run along the images, or
 * sums do, in both factors; and the sums of a gradient by the kernel are not cut into one for each
 * pixel. */
START_TEST(images_lie_in_the_lanes)
{
    lz_func *f = parsed(
        "func.func public @main(%x: tensor<32x3x9x9xf32>, %k: tensor<10x3x3x3xf32>, "
        "%l: tensor<20x10x3x3xf32>, %g: tensor<32x20x5x5xf32>) -> "
        "(tensor<32x20x5x5xf32>, tensor<20x10x3x3xf32>, tensor<32x10x7x7xf32>) {"
        "%0 = stablehlo.convolution(%x, %k) " CONV "{}" ONE
        "(tensor<32x3x9x9xf32>, tensor<10x3x3x3xf32>) -> tensor<32x10x7x7xf32>"
        "%1 = stablehlo.tanh %0 : tensor<32x10x7x7xf32>"
        "%2 = stablehlo.convolution(%1, %l) " CONV "{}" ONE
        "(tensor<32x10x7x7xf32>, tensor<20x10x3x3xf32>) -> tensor<32x20x5x5xf32>"
        "%3 = stablehlo.convolution(%1, %g) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], "
        "window = {}" ONE "(tensor<32x10x7x7xf32>, tensor<32x20x5x5xf32>) -> tensor<20x10x3x3xf32>"
        "%4 = stablehlo.convolution(%g, %l) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], "
        "window = {pad = [[2, 2], [2, 2]], reverse = [1, 1]}" ONE
        "(tensor<32x20x5x5xf32>, tensor<20x10x3x3xf32>) -> tensor<32x10x7x7xf32>"
        "return %2, %3, %4 : tensor<32x20x5x5xf32>, tensor<20x10x3x3xf32>, tensor<32x10x7x7xf32> "
        "}");
    lz_plan *p = NULL;
    int products = 0, transposes = 0;
    ck_assert_msg(lz_lower(f, NULL, &p) == LZ_OK, "%s", lz_error_get()->message);
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_kernel *k = p->kernels[p->steps[i].kernel];
        transposes += strcmp(k->name, "transpose") == 0;
        if (!lz_kernel_is_dot(k))
            continue;
        const lz_stage *s = &k->stages[0];
        const lz_access *a = &s->accs[s->sops[lz_kernel_dot(k)->a_sop].a],
                        *b = &s->accs[s->sops[lz_kernel_dot(k)->b_sop].a];
        uint32_t last = k->nouter + s->ninner - 1;
        bool along = k->outer[lz_kernel_dot(k)->n].slot >= 0 &&
                     b->stride[lz_kernel_dot(k)->n].slot < 0 &&
                     b->stride[lz_kernel_dot(k)->n].v == 1,
             across = a->stride[last].slot < 0 && a->stride[last].v == 1 &&
                      b->stride[last].slot < 0 && b->stride[last].v == 1;
        ck_assert_msg(along || across, "%s", k->name);
        products++;
    }
    ck_assert_int_eq(products, 4);
    ck_assert_int_le(transposes, 5); /* two arguments, two results, a kernel */
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* What kernel k stores contiguously along one of its outer loops it reads contiguously, or not at
 * all, along that loop. */
static bool reads_as_it_stores(const lz_kernel *k)
{
    for (uint32_t i = 0; i < k->nstage; i++)
        for (uint32_t j = 0; j < k->stages[i].nstore; j++)
            for (uint32_t l = 0; l < k->nouter + k->stages[i].ninner; l++) {
                lz_sz at = k->stages[i].stores[j].at.stride[l];
                if (at.slot >= 0 || at.v != 1)
                    continue;
                for (uint32_t q = 0; q < k->stages[i].nacc; q++)
                    if (k->stages[i].accs[q].stride[l].slot >= 0)
                        return false;
            }
    return true;
}

/* Below a pool's gradient too: positions have no order, a pool has its operand's, and what comes
 * from rows of features is turned once. */
START_TEST(pools_lie_as_their_operands)
{
    lz_func *f = lz_test_program("test/diff/cases/pool_in_lanes.mlir");
    lz_plan *p = NULL;
    int transposes = 0, others = 0;
    ck_assert_msg(f != NULL, "%s", lz_error_get()->message);
    ck_assert_msg(lz_lower(f, NULL, &p) == LZ_OK, "%s", lz_error_get()->message);
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_kernel *k = p->kernels[p->steps[i].kernel];
        bool turns = strcmp(k->name, "transpose") == 0;
        transposes += turns;
        if (turns || lz_kernel_is_dot(k))
            continue;
        ck_assert_msg(reads_as_it_stores(k), "%s", k->name);
        others++;
    }
    ck_assert_int_eq(transposes, 2); /* images, rows of features */
    ck_assert_int_ge(others, 1);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("layout");
    TCase *t = tcase_create("layout");
    tcase_add_loop_test(t, the_same_in_another_order, 0, NPROGRAM);
    tcase_add_loop_test(t, failing_memory, 0, NPROGRAM);
    tcase_add_test(t, dilated_inputs_are_not_multiplied_with_zeros);
    tcase_add_test(t, conversions_are_counted_once);
    tcase_add_test(t, images_lie_in_the_lanes);
    tcase_add_test(t, pools_lie_as_their_operands);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
