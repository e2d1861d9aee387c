/* t_norm_text.c - map and batch normalisations as text: what the reference makes of them, against
 * loops. */
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/lit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 4, F = 3, W = 5, ALL = B * F * W };
static char msg[512];

static void run(const char *text, lz_literal **in, lz_literal **out, uint32_t nout)
{
    lz_func *f;
    ck_assert_msg(lz_func_parse(text, strlen(text), "t", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    ck_assert_uint_eq(f->nresult, nout);
    ck_assert_int_eq(lz_ref_run(f, in, out), LZ_OK);
    lz_func_free(f);
}

static void release(lz_literal **l, int n)
{
    for (int i = 0; i < n; i++)
        lz_literal_release(l[i]);
}

static void near(const lz_literal *got, int64_t i, double want)
{
    double v = lz_literal_get_f64(got, i);
    ck_assert_msg(fabs(v - want) <= 1e-5 * (1 + fabs(want)), "element %d: %g, not %g", (int)i, v,
                  want);
}

#define X "tensor<4x3x5xf32>"
#define V "tensor<3xf32>"
#define ATTRS " <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : "

static double x[ALL], g[ALL], scale[F], offset[F], mean[F], var[F];
static lz_literal *lx, *lg, *ls, *lo, *lm, *lv;

static void make(void)
{
    lz_rnd r = {4};
    lz_shape xs = LZ_SHAPE(B, F, W), vs = LZ_SHAPE(F);
    lx = lz_test_random(&r, lz_type_get(LZ_F32, &xs), LZ_FILL_MODEST);
    lg = lz_test_random(&r, lz_type_get(LZ_F32, &xs), LZ_FILL_MODEST);
    ls = lz_test_random(&r, lz_type_get(LZ_F32, &vs), LZ_FILL_MODEST);
    lo = lz_test_random(&r, lz_type_get(LZ_F32, &vs), LZ_FILL_MODEST);
    lm = lz_literal_new(lz_type_get(LZ_F32, &vs));
    lv = lz_literal_new(lz_type_get(LZ_F32, &vs));
    for (int i = 0; i < ALL; i++) {
        x[i] = lz_literal_get_f64(lx, i);
        g[i] = lz_literal_get_f64(lg, i);
    }
    for (int f = 0; f < F; f++) {
        double sum = 0, square = 0;
        scale[f] = lz_literal_get_f64(ls, f);
        offset[f] = lz_literal_get_f64(lo, f);
        for (int i = 0; i < ALL; i++)
            sum += i / W % F == f ? x[i] : 0;
        mean[f] = sum / (B * W);
        for (int i = 0; i < ALL; i++)
            square += i / W % F == f ? (x[i] - mean[f]) * (x[i] - mean[f]) : 0;
        var[f] = square / (B * W);
        lz_elem_set_f64(LZ_F32, lm->data, f, mean[f]);
        lz_elem_set_f64(LZ_F32, lv->data, f, var[f]);
    }
}

START_TEST(training_and_inference)
{
    make();
    lz_literal *out[4], *in[5] = {lx, ls, lo, lm, lv};
    run("func.func @main(%x: " X ", %s: " V ", %o: " V ") -> (" X ", " V ", " V ") {\n"
        "  %0:3 = \"stablehlo.batch_norm_training\"(%x, %s, %o)" ATTRS "(" X ", " V ", " V
        ") -> (" X ", " V ", " V ")\n"
        "  return %0#0, %0#1, %0#2 : " X ", " V ", " V "\n}\n",
        in, out, 3);
    run("func.func @main(%x: " X ", %s: " V ", %o: " V ", %m: " V ", %v: " V ") -> " X " {\n"
        "  %0 = \"stablehlo.batch_norm_inference\"(%x, %s, %o, %m, %v)" ATTRS "(" X ", " V ", " V
        ", " V ", " V ") -> " X "\n  return %0 : " X "\n}\n",
        in, out + 3, 1);
    for (int i = 0; i < ALL; i++) {
        int f = i / W % F;
        double want = (x[i] - mean[f]) / sqrt(var[f] + 1e-3) * scale[f] + offset[f];
        near(out[0], i, want);
        near(out[3], i, want);
    }
    for (int f = 0; f < F; f++) {
        near(out[1], f, mean[f]);
        near(out[2], f, var[f]);
    }
    release(out, 4);
}
END_TEST

START_TEST(gradient)
{
    make();
    lz_literal *out[3], *in[5] = {lx, ls, lm, lv, lg};
    run("func.func @main(%x: " X ", %s: " V ", %m: " V ", %v: " V ", %g: " X ") -> (" X ", " V
        ", " V ") {\n"
        "  %0:3 = \"stablehlo.batch_norm_grad\"(%x, %s, %m, %v, %g)" ATTRS "(" X ", " V ", " V
        ", " V ", " X ") -> (" X ", " V ", " V ")\n  return %0#0, %0#1, %0#2 : " X ", " V ", " V
        "\n}\n",
        in, out, 3);
    double n = B * W;
    for (int f = 0; f < F; f++) {
        double sum = 0, along = 0, v = var[f] + 1e-3;
        for (int i = 0; i < ALL; i++)
            if (i / W % F == f) {
                sum += g[i];
                along += g[i] * (x[i] - mean[f]);
            }
        near(out[1], f, along / sqrt(v));
        near(out[2], f, sum);
        for (int i = 0; i < ALL; i++) /* the specification's formula */
            if (i / W % F == f)
                near(out[0], i,
                     scale[f] / sqrt(v) / n * (n * g[i] - sum - along * (x[i] - mean[f]) / v));
    }
    release(out, 3);
}
END_TEST

START_TEST(map)
{
    lz_literal *in[2] = {lz_test_lit(LZ_F32, LZ_SHAPE(2, 2), 1, -2, 3, -4),
                         lz_test_lit(LZ_F32, LZ_SHAPE(2, 2), 2, 2, 5, 5)},
               *out, *want = lz_test_lit(LZ_F32, LZ_SHAPE(2, 2), 5, 5, 8, 8);
    run("func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
        "  %0 = \"stablehlo.map\"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({\n"
        "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
        "    %c = stablehlo.constant dense<3.0> : tensor<f32>\n"
        "    %1 = stablehlo.maximum %a, %c : tensor<f32>\n    %2 = stablehlo.add %1, %b : "
        "tensor<f32>\n"
        "    stablehlo.return %2 : tensor<f32>\n"
        "  }) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n  return %0 : "
        "tensor<2x2xf32>\n}\n",
        in, &out, 1);
    ck_assert_msg(lz_test_same(out, want, 0, msg, sizeof msg), "%s", msg);
    release(in, 2);
    lz_literal_release(out);
    lz_literal_release(want);
}
END_TEST

START_TEST(refused)
{
    static const char *const text[][2] = {
        {"func.func @main(%x: " X ", %s: " V ") -> " X
         " {\n  %0:3 = \"stablehlo.batch_norm_training\"(%x, %s)" ATTRS "(" X ", " V ") -> (" X
         ", " V ", " V ")\n  return %0#0 : " X "\n}\n",
         "takes 3 operands"},
        {"func.func @main(%x: " X ", %s: tensor<5xf32>) -> " X
         " {\n  %0:3 = \"stablehlo.batch_norm_training\"(%x, %s, %s)" ATTRS "(" X
         ", tensor<5xf32>, tensor<5xf32>) -> (" X ", " V ", " V ")\n  return %0#0 : " X "\n}\n",
         "operand 1 is not one value per feature"},
        {"func.func @main(%x: " X ", %s: " V ") -> " X
         " {\n  %0:3 = \"stablehlo.batch_norm_training\"(%x, %s, %s) <{epsilon = "
         "0.0 : f32, feature_index = 3 : i64}> : (" X ", " V ", " V ") -> (" X ", " V ", " V
         ")\n  return %0#0 : " X "\n}\n",
         "no feature dimension 3"},
        {"func.func @main(%x: " X ", %s: " V ") -> " X
         " {\n  %0:3 = \"stablehlo.batch_norm_training\"(%x, %s, %s) <{epsilon = "
         "no, feature_index = 1 : i64}> : (" X ", " V ", " V ") -> (" X ", " V ", " V
         ")\n  return %0#0 : " X "\n}\n",
         "expected a number"},
        {"func.func @main(%x: " V ") -> " V
         " {\n  %0 = \"stablehlo.map\"(%x) <{dimensions = array<i64: 0>}> : (" V ") -> " V
         "\n  return %0 : " V "\n}\n",
         "needs a region"},
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        lz_func *f;
        ck_assert_int_ne(lz_func_parse(text[i][0], strlen(text[i][0]), "t", &f), LZ_OK);
        ck_assert_msg(strstr(lz_error_get()->message, text[i][1]), "%s", lz_error_get()->message);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("norm_text");
    TCase *t = tcase_create("norm");
    tcase_add_test(t, training_and_inference);
    tcase_add_test(t, gradient);
    tcase_add_test(t, map);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
