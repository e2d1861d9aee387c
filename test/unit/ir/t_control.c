/* t_control.c - while, if, case: their rules, what their regions take from around them, and what
 * the reference makes of them. */
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/lit.h"
#include <stdio.h>
#include <string.h>

static lz_func *parse(const char *text)
{
    lz_func *f;
    ck_assert_msg(lz_func_parse(text, strlen(text), "t", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    return f;
}

static const lz_inst *find(const lz_func *f, lz_op op)
{
    for (uint32_t i = 0; i < f->ninst; i++)
        if (lz_inst_op(&f->insts[i]) == op)
            return &f->insts[i];
    return NULL;
}

static double run1(const lz_func *f, lz_literal *const *args)
{
    lz_literal *r = NULL;
    ck_assert_msg(lz_ref_run(f, args, &r) == LZ_OK, "%s", lz_error_get()->message);
    double v = lz_literal_get_f64(r, 0);
    lz_literal_release(r);
    return v;
}

/* ---- how long they may take ---- */

/* Branches take no longer than what is in them; how often a loop runs nobody
 * knows. */
START_TEST(what_may_take_long)
{
    static const struct {
        const char *statement;
        bool is_long;
    } rows[] = {
        {"stablehlo.negate %a : tensor<f32>", false},
        {"stablehlo.while(%i = %a) : tensor<f32>\n cond {\n stablehlo.return %p : tensor<i1>\n} do "
         "{\n stablehlo.return %i : tensor<f32>\n}",
         true}};
    for (size_t i = 0; i < 3 * sizeof rows / sizeof *rows; i++) {
        lz_buf b = {0};
        int depth = (int)(i % 3);
        lz_buf_puts(&b, "func.func @main(%p: tensor<i1>, %a: tensor<f32>) -> tensor<f32> {\n");
        for (int k = 0; k < depth; k++)
            lz_buf_printf(&b, "%%r%d = \"stablehlo.if\"(%%p) ({\n", k);
        lz_buf_printf(&b, "%%r = %s\n", rows[i / 3].statement);
        for (int k = depth; k-- > 0;)
            lz_buf_printf(&b,
                          "stablehlo.return %%r%s : tensor<f32>\n}, {\nstablehlo.return %%a : "
                          "tensor<f32>\n}) : (tensor<i1>) -> tensor<f32>\n",
                          k + 2 < depth   ? "2"
                          : k + 1 < depth ? "1"
                                          : "");
        lz_buf_printf(&b, "return %%r%s : tensor<f32>\n}\n", depth ? "0" : "");
        lz_func *f = parse(lz_buf_str(&b));
        ck_assert_msg(lz_func_may_take_long(f) == rows[i / 3].is_long, "%s", lz_buf_str(&b));
        lz_func_free(f);
        lz_buf_free(&b);
    }
}
END_TEST

/* ---- captures ---- */

/* What is used around becomes an operand once, in the order of use; constants are made again
 * inside; what nobody uses stays outside. */
START_TEST(regions_take_what_they_use)
{
    lz_func *f = parse(
        "func.func @main(%a: tensor<f32>, %b: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {\n"
        "  %c = stablehlo.constant dense<1> : tensor<i32>\n"
        "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
        "  %unused = stablehlo.add %a, %b : tensor<f32>\n"
        "  %r:2 = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<f32>\n"
        "  cond {\n"
        "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "    stablehlo.return %p : tensor<i1>\n"
        "  } do {\n"
        "    %j = stablehlo.add %i, %c : tensor<i32>\n"
        "    %y = stablehlo.add %x, %b : tensor<f32>\n"
        "    %w = stablehlo.multiply %y, %b : tensor<f32>\n"
        "    stablehlo.return %j, %w : tensor<i32>, tensor<f32>\n"
        "  }\n"
        "  return %r#1 : tensor<f32>\n"
        "}\n");
    const lz_inst *w = find(f, LZ_OP_WHILE);
    ck_assert_uint_eq(w->sig->nopnd, 4);
    ck_assert_uint_eq(w->sig->nresult, 2);
    ck_assert_uint_eq(w->opnd[2], 2); /* %n, used first */
    ck_assert_uint_eq(w->opnd[3], 1); /* %b */
    lz_literal *args[] = {lz_literal_scalar(LZ_F32, 2), lz_literal_scalar(LZ_F32, 3),
                          lz_literal_scalar_i64(LZ_I32, 3)};
    ck_assert_double_eq(run1(f, args), (((2 + 3) * 3 + 3) * 3 + 3) * 3.0);
    for (int i = 0; i < 3; i++)
        lz_literal_release(args[i]);
    lz_func_free(f);
}
END_TEST

/* Regions in regions; a value of several results used by number; an inner region reaches over the
 * one around it. */
START_TEST(regions_nest)
{
    lz_func *f =
        parse("func.func @main(%p: tensor<i1>, %q: tensor<i1>, %a: tensor<f32>) -> tensor<f32> {\n"
              "  %t:2 = \"stablehlo.if\"(%p) ({\n"
              "    %m = stablehlo.negate %a : tensor<f32>\n"
              "    stablehlo.return %m, %a : tensor<f32>, tensor<f32>\n"
              "  }, {\n"
              "    %s = stablehlo.add %a, %a : tensor<f32>\n"
              "    stablehlo.return %a, %s : tensor<f32>, tensor<f32>\n"
              "  }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)\n"
              "  %u = \"stablehlo.if\"(%q) ({\n"
              "    %v = \"stablehlo.if\"(%p) ({\n"
              "      %k = stablehlo.multiply %t#0, %t#1 : tensor<f32>\n"
              "      stablehlo.return %k : tensor<f32>\n"
              "    }, {\n"
              "      stablehlo.return %t#1 : tensor<f32>\n"
              "    }) : (tensor<i1>) -> tensor<f32>\n"
              "    stablehlo.return %v : tensor<f32>\n"
              "  }, {\n"
              "    stablehlo.return %a : tensor<f32>\n"
              "  }) : (tensor<i1>) -> tensor<f32>\n"
              "  return %u : tensor<f32>\n"
              "}\n");
    static const double want[] = {3, 3, 6, -9}; /* by q, then p */
    for (int k = 0; k < 4; k++) {
        lz_literal *args[] = {lz_literal_scalar_i64(LZ_BOOL, k & 1),
                              lz_literal_scalar_i64(LZ_BOOL, k >> 1), lz_literal_scalar(LZ_F32, 3)};
        ck_assert_double_eq(run1(f, args), want[k]);
        for (int i = 0; i < 3; i++)
            lz_literal_release(args[i]);
    }
    lz_func_free(f);
}
END_TEST

/* An index that is none takes the last branch, for every number of branches. */
START_TEST(case_chooses)
{
    int n = _i;
    lz_buf b = {0};
    lz_buf_puts(&b, "func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {\n"
                    "  %r = \"stablehlo.case\"(%i) (");
    for (int k = 0; k < n; k++)
        lz_buf_printf(&b,
                      "%s{\n    %%c%d = stablehlo.constant dense<%d.0> : tensor<f32>\n"
                      "    %%y%d = stablehlo.add %%x, %%c%d : tensor<f32>\n"
                      "    stablehlo.return %%y%d : tensor<f32>\n  }",
                      k ? ", " : "", k, 10 * k, k, k, k);
    lz_buf_puts(&b, ") : (tensor<i32>) -> tensor<f32>\n  return %r : tensor<f32>\n}\n");
    lz_func *f = parse(lz_buf_str(&b));
    static const int64_t out[] = {-1, INT32_MIN, INT32_MAX};
    for (int64_t i = -3; i < n; i++) {
        lz_literal *args[] = {lz_literal_scalar_i64(LZ_I32, i < 0 ? out[-i - 1] : i),
                              lz_literal_scalar(LZ_F32, 1.5)};
        ck_assert_double_eq(run1(f, args), 1.5 + 10 * (double)(i < 0 ? n - 1 : i));
        lz_literal_release(args[0]);
        lz_literal_release(args[1]);
    }
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

/* ---- rules ---- */

/* A region of scalars that returns its parameters `ret`. */
static const lz_func *region(const lz_dtype *d, uint32_t n, const lz_val *ret, uint32_t nret)
{
    const lz_shape scalar = {0};
    lz_func *f = lz_func_new("r");
    for (uint32_t i = 0; i < n; i++)
        (void)lz_build_param(f, lz_type_get(d[i], &scalar));
    ck_assert_int_eq(lz_func_set_results(f, ret, nret), LZ_OK);
    const lz_func *r = lz_region_intern(f);
    lz_func_free(f);
    return r;
}

START_TEST(wrong_regions_are_named)
{
    static const lz_dtype pf[] = {LZ_BOOL, LZ_F32}, ff[] = {LZ_F32, LZ_F32};
    const lz_func *first = region(pf, 2, (lz_val[]){0}, 1),
                  *both = region(pf, 2, (lz_val[]){0, 1}, 2),
                  *swapped = region(pf, 2, (lz_val[]){1, 0}, 2),
                  *other = region(ff, 2, (lz_val[]){0}, 1), *one = region(pf, 1, (lz_val[]){0}, 1),
                  *none = region(pf, 2, NULL, 0);
    const struct {
        bool loop;
        const lz_func *a, *b;
        lz_status status;
        const char *message;
    } wrong[] = {
        {true, first, swapped, LZ_EDTYPE, "result 0 of body is f32[], but the value it follows is"},
        {true, both, both, LZ_EINVAL, "cond has 2 results"},
        {true, other, both, LZ_EDTYPE, "parameter 0 of cond is f32[], but its value is bool[]"},
        {true, first, one, LZ_EINVAL, "body has 1 parameters for 2 values"},
        {true, first, none, LZ_EINVAL, "body has 0 results"},
        {false, one, first, LZ_EINVAL, "true_branch has 1 parameters for 2 values"},
        {false, first, both, LZ_EINVAL, "the branches have 1 and 2 results"},
        {false, both, swapped, LZ_EDTYPE, "result 0 of the branches is bool[] and f32[]"},
    };
    const lz_shape scalar = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lz_func *f = lz_func_new("main");
        lz_val p = lz_build_param(f, lz_type_get(LZ_BOOL, &scalar)),
               x = lz_build_param(f, lz_type_get(LZ_F32, &scalar));
        lz_val v[] = {p, p, x};
        lz_val r = wrong[i].loop ? lz_build_while(f, wrong[i].a, wrong[i].b, v + 1, 2)
                                 : lz_build_if(f, wrong[i].a, wrong[i].b, v, 3);
        ck_assert_uint_eq(r, LZ_NOVAL);
        ck_assert_int_eq(f->status, wrong[i].status);
        ck_assert_msg(strstr(lz_error_get()->message, wrong[i].message), "%s",
                      lz_error_get()->message);
        lz_func_free(f);
    }
}
END_TEST

/* More results than operands. */
START_TEST(many_results)
{
    lz_buf b = {0};
    lz_buf_puts(
        &b, "func.func @main(%p: tensor<i1>) -> tensor<i32> {\n  %r:40 = \"stablehlo.if\"(%p) (");
    for (int side = 0; side < 2; side++) {
        lz_buf_puts(&b, side ? ", {\n" : "{\n");
        for (int k = 0; k < 40; k++)
            lz_buf_printf(&b, "    %%v%d = stablehlo.constant dense<%d> : tensor<i32>\n", k,
                          k + 100 * side);
        lz_buf_puts(&b, "    stablehlo.return ");
        for (int k = 0; k < 40; k++)
            lz_buf_printf(&b, "%s%%v%d", k ? ", " : "", k);
        lz_buf_puts(&b, " : ");
        for (int k = 0; k < 40; k++)
            lz_buf_printf(&b, "%stensor<i32>", k ? ", " : "");
        lz_buf_puts(&b, "\n  }");
    }
    lz_buf_puts(&b, ") : (tensor<i1>) -> (");
    for (int k = 0; k < 40; k++)
        lz_buf_printf(&b, "%stensor<i32>", k ? ", " : "");
    lz_buf_puts(&b, ")\n  return %r#37 : tensor<i32>\n}\n");
    lz_func *f = parse(lz_buf_str(&b));
    for (int64_t p = 0; p < 2; p++) {
        lz_literal *arg = lz_literal_scalar_i64(LZ_BOOL, p);
        ck_assert_double_eq(run1(f, &arg), p ? 37 : 137);
        lz_literal_release(arg);
    }
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/control");
    TCase *t = tcase_create("control");
    tcase_add_test(t, what_may_take_long);
    tcase_add_test(t, regions_take_what_they_use);
    tcase_add_test(t, regions_nest);
    tcase_add_loop_test(t, case_chooses, 1, 10);
    tcase_add_test(t, wrong_regions_are_named);
    tcase_add_test(t, many_results);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
