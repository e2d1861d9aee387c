/* t_variants.c - forms of code (codegen/variants.def): each is what some kernel gets on its own
 * account, so leaving it out gives other code. What the code computes is d_variants' business. */
#include "codegen/codegen.h"
#include "base/config.h"
#include "ir/module.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include <string.h>

#define MAIN "func.func public @main("
static const struct {
    int form;
    const char *text;
} programs[] = {
    {LZ_VARIANT_vectors, MAIN "%x: tensor<999xf32>) -> tensor<999xf32> {"
                              "%0 = stablehlo.add %x, %x : tensor<999xf32>"
                              "return %0 : tensor<999xf32> }"},
    {LZ_VARIANT_dot, MAIN "%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {"
                          "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
                          "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>"
                          "return %0 : tensor<64x64xf32> }"},
    {LZ_VARIANT_amx, MAIN "%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xf32> {"
                          "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
                          "(tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>"
                          "return %0 : tensor<64x64xf32> }"},
    {LZ_VARIANT_bf16_pairs,
     MAIN "%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xbf16> {"
          "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
          "(tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>"
          "return %0 : tensor<64x64xbf16> }"},
    {LZ_VARIANT_int8_quads,
     MAIN "%x: tensor<64x64xi8>, %y: tensor<64x64xi8>) -> tensor<64x64xi32> {"
          "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
          "(tensor<64x64xi8>, tensor<64x64xi8>) -> tensor<64x64xi32>"
          "return %0 : tensor<64x64xi32> }"},
    {LZ_VARIANT_indirect,
     MAIN "%x: tensor<2x8x8x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<2x6x6x32xf32> {"
          "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
          "[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
          " : (tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<2x6x6x32xf32>"
          "return %0 : tensor<2x6x6x32xf32> }"},
    {LZ_VARIANT_padding_skip,
     MAIN "%x: tensor<2x8x8x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<2x8x8x32xf32> {"
          "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
          "[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
          "feature_group_count = 1 : i64} : (tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>) -> "
          "tensor<2x8x8x32xf32> return %0 : tensor<2x8x8x32xf32> }"},
    {LZ_VARIANT_lane_reduction,
     MAIN "%x: tensor<32x2x8x8xf32>, %k: tensor<32x10x6x6xf32>) -> tensor<10x2x3x3xf32> {"
          "%0 = stablehlo.convolution(%x, %k) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->"
          "[f, b, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
          " : (tensor<32x2x8x8xf32>, tensor<32x10x6x6xf32>) -> tensor<10x2x3x3xf32>"
          "return %0 : tensor<10x2x3x3xf32> }"},
    {LZ_VARIANT_col_reduction,
     MAIN "%x: tensor<256x256xf32>) -> tensor<256xf32> {"
          "%z = stablehlo.constant dense<0.0> : tensor<f32>"
          "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across "
          "dimensions = [0] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>"
          "return %0 : tensor<256xf32> }"},
    {LZ_VARIANT_transpose, MAIN "%x: tensor<99x77xf32>) -> tensor<77x99xf32> {"
                                "%0 = stablehlo.transpose %x, dims = [1, 0] : "
                                "(tensor<99x77xf32>) -> tensor<77x99xf32>"
                                "return %0 : tensor<77x99xf32> }"},
    {LZ_VARIANT_nontemporal, MAIN "%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {"
                                  "%0 = stablehlo.add %x, %x : tensor<4096x4096xf32>"
                                  "return %0 : tensor<4096x4096xf32> }"},
    {LZ_VARIANT_radix_sort,
     MAIN "%x: tensor<5000xi32>) -> tensor<5000xi32> {"
          "%0 = \"stablehlo.sort\"(%x) <{dimension = 0 : i64, is_stable = true}> ({"
          "^bb0(%a: tensor<i32>, %b: tensor<i32>):"
          "%1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>"
          "stablehlo.return %1 : tensor<i1> }) : (tensor<5000xi32>) -> tensor<5000xi32>"
          "return %0 : tensor<5000xi32> }"},
    {LZ_VARIANT_partial_sort,
     MAIN "%x: tensor<5000xi32>) -> tensor<20xi32> {"
          "%0 = \"stablehlo.sort\"(%x) <{dimension = 0 : i64, is_stable = true}> ({"
          "^bb0(%a: tensor<i32>, %b: tensor<i32>):"
          "%1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>"
          "stablehlo.return %1 : tensor<i1> }) : (tensor<5000xi32>) -> tensor<5000xi32>"
          "%2 = stablehlo.slice %0 [0:20] : (tensor<5000xi32>) -> tensor<20xi32>"
          "return %2 : tensor<20xi32> }"},
};
enum { NPROGRAM = sizeof programs / sizeof *programs };

static void must(lz_status s)
{
    ck_assert_msg(s == LZ_OK, "%s", lz_error_get()->message);
}

static lz_plan *plan_of(const char *text, const lz_target *t)
{
    lz_func *f = NULL;
    lz_plan *p = NULL;
    lz_lower_options o = {.machine = t->machine};
    must(lz_func_parse(text, strlen(text), NULL, &f));
    must(lz_lower(f, &o, &p));
    lz_func_free(f);
    return p;
}

static bool other_code(const lz_kernel *k, const lz_target *a, const lz_target *b)
{
    lz_buf x = {0}, y = {0};
    must(lz_llvm_compile(k, a, &x, NULL, NULL));
    must(lz_llvm_compile(k, b, &y, NULL, NULL));
    bool other = x.len != y.len || memcmp(x.data, y.data, x.len) != 0;
    lz_buf_free(&x);
    lz_buf_free(&y);
    return other;
}

/* The feature of the processor that a form needs, or NULL. */
static const char *needed(int form)
{
    return form == LZ_VARIANT_amx          ? "+amx-bf16"
           : form == LZ_VARIANT_bf16_pairs ? "+avx512bf16"
           : form == LZ_VARIANT_int8_quads ? "+avx512vnni"
                                           : NULL;
}

START_TEST(each_is_taken)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_target own, without;
    must(lz_target_host(&own));
    const char *needs = needed(programs[_i].form);
    bool has = !needs || strstr(own.features, needs);
    if (programs[_i].form == LZ_VARIANT_indirect || programs[_i].form == LZ_VARIANT_padding_skip)
        has = lz_target_masks(&own);
    if (programs[_i].form != LZ_VARIANT_amx) /* what is taken where there are no tiles */
        own.without = 1u << LZ_VARIANT_amx;
    if (programs[_i].form == LZ_VARIANT_bf16_pairs) /* not where FMA are faster */
        own.always = 1u << LZ_VARIANT_bf16_pairs;
    lz_plan *p = plan_of(programs[_i].text, &own);
    without = own;
    without.without |= 1u << programs[_i].form;
    bool other = false;
    for (uint32_t i = 0; i < p->nkernel; i++)
        other |= other_code(p->kernels[i], &own, &without);
    ck_assert_int_eq(other, has);
    lz_plan_free(p);
}
END_TEST

START_TEST(each_has_a_program)
{
    bool seen[LZ_VARIANT_COUNT] = {false};
    for (int i = 0; i < NPROGRAM; i++)
        seen[programs[i].form] = true;
    for (int i = 0; i < LZ_VARIANT_COUNT; i++)
        ck_assert_msg(seen[i] || i == LZ_VARIANT_joined_loops, /* of no kernel: t_joined_loops.c */
                      "form %d", i);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("forms");
    TCase *t = tcase_create("forms");
    tcase_add_loop_test(t, each_is_taken, 0, NPROGRAM);
    tcase_add_test(t, each_has_a_program);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
