/* t_eval_linalg.c - cholesky and triangular_solve of the reference by what they solve, their shape
 * rules, their text. */
#include "ir/attr.h"
#include "ir/eval/eval_complex.h"
#include "suite.h"
#include "support/lit.h"
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef long double complex cld;

static cld number(const lz_literal *l, int64_t i)
{
    if (!lz_dtype_is_complex(l->type->dtype))
        return lz_elem_get_f64(l->type->dtype, l->data, i);
    lz_cx v = lz_ref_load_c(l->type->dtype, l->data, i);
    return __builtin_complex(v.re, v.im);
}

static void put(lz_literal *l, int64_t i, cld v)
{
    if (lz_dtype_is_complex(l->type->dtype))
        lz_ref_store_c(l->type->dtype, l->data, i, (lz_cx){creall(v), cimagl(v)});
    else
        lz_elem_set_f64(l->type->dtype, l->data, i, (double)creall(v));
}

static lz_literal *random_of(uint64_t seed, lz_dtype d, lz_shape s)
{
    lz_rnd r = {seed};
    return lz_test_random(&r, lz_type_get(d, &s), LZ_FILL_MODEST);
}

static lz_literal *run(lz_op op, const lz_attr *record, lz_literal **x, uint32_t n)
{
    const lz_type *t[2] = {x[0]->type, n > 1 ? x[1]->type : NULL};
    const lz_attr *a = lz_attr_get(record);
    const lz_sig *s = lz_sig_get(op, a, t, n);
    lz_literal *r = NULL;
    ck_assert_msg(s != NULL, "%s", lz_error_get()->message);
    ck_assert_msg(lz_ref_eval_inst(s, x, &r) == LZ_OK, "%s", lz_error_get()->message);
    return r;
}

static lz_literal *cholesky(lz_literal *a, bool lower)
{
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_cholesky);
    at.as_cholesky.lower = lower;
    return run(LZ_OP_CHOLESKY, &at.head, &a, 1);
}

static const lz_dtype dtypes[] = {LZ_F64, LZ_C128};

/* x x^H + I of size n for batch b, in one triangle; NaN in the other. */
static lz_literal *definite(uint64_t seed, lz_dtype d, int64_t n, bool lower)
{
    lz_literal *x = random_of(seed, d, LZ_SHAPE(2, n, n)), *a = lz_literal_new(x->type);
    for (int64_t e = 0; e < a->type->nelem; e++) {
        int64_t b = e / (n * n), i = e / n % n, j = e % n;
        cld s = i == j;
        for (int64_t k = 0; k < n; k++)
            s += number(x, (b * n + i) * n + k) * conjl(number(x, (b * n + j) * n + k));
        put(a, e, (lower ? j > i : j < i) ? NAN : s);
    }
    lz_literal_release(x);
    return a;
}

START_TEST(factors)
{
    int64_t n = _i / 4;
    lz_dtype d = dtypes[_i & 1];
    bool lower = _i & 2;
    lz_literal *a = definite((uint64_t)_i + 1, d, n, lower), *l = cholesky(a, lower);
    for (int64_t e = 0; e < a->type->nelem; e++) {
        int64_t b = e / (n * n), i = e / n % n, j = e % n;
        bool other = lower ? j > i : j < i;
        cld s = 0;
        for (int64_t k = 0; k < n; k++)
            s += lower ? number(l, (b * n + i) * n + k) * conjl(number(l, (b * n + j) * n + k))
                       : conjl(number(l, (b * n + k) * n + i)) * number(l, (b * n + k) * n + j);
        ck_assert_msg(other ? number(l, e) == 0 : cabsl(s - number(a, e)) < 1e-12L * (n + 1) * 64,
                      "size %d element %d", (int)n, (int)e);
    }
    lz_literal_release(a), lz_literal_release(l);
}
END_TEST

/* The second of three matrices is not positive definite: its pivot, the last, is 0. */
START_TEST(not_definite)
{
    const double in[] = {4, 2, 2, 5, 1, 2, 2, 4, 9, 0, 0, 1},
                 want[] = {2, 0, 1, 2, NAN, 0, NAN, NAN, 3, 0, 0, 1};
    lz_literal *a = lz_test_lit_(LZ_F32, (lz_shape)LZ_SHAPE(3, 2, 2), in, 12),
               *l = cholesky(a, true);
    for (int i = 0; i < 12; i++) {
        double v = lz_elem_get_f64(LZ_F32, l->data, i);
        ck_assert_msg(v == want[i] || (isnan(v) && isnan(want[i])), "%d: %g", i, v);
    }
    lz_literal_release(a), lz_literal_release(l);
}
END_TEST

static lz_attr_any solve_record(int form)
{
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_triangular_solve);
    at.as_triangular_solve.left_side = form & 1;
    at.as_triangular_solve.lower = form & 2;
    at.as_triangular_solve.unit_diagonal = form & 4;
    at.as_triangular_solve.transpose_a = form / 8;
    return at;
}

/* Element i, j of op(a) as the operation reads it. */
static cld read_a(const lz_literal *a, const lz_attr_triangular_solve *at, int64_t b, int64_t i,
                  int64_t j)
{
    int64_t n = a->type->shape.dims[2];
    bool turned = at->transpose_a != LZ_NO_TRANSPOSE;
    int64_t r = turned ? j : i, c = turned ? i : j;
    cld v = r == c && at->unit_diagonal ? 1
            : at->lower                 ? (c > r ? 0 : number(a, (b * n + r) * n + c))
                                        : (c < r ? 0 : number(a, (b * n + r) * n + c));
    return at->transpose_a == LZ_ADJOINT ? conjl(v) : v;
}

START_TEST(solves)
{
    const int64_t n = 5, m = 3;
    int form = _i / 2;
    lz_dtype d = dtypes[_i & 1];
    lz_attr_any at = solve_record(form);
    const lz_attr_triangular_solve *t = &at.as_triangular_solve;
    int64_t rows = t->left_side ? n : m, cols = t->left_side ? m : n;
    lz_literal *v[2] = {random_of(9, d, LZ_SHAPE(2, n, n)),
                        random_of(11, d, LZ_SHAPE(2, rows, cols))};
    for (int64_t e = 0; e < v[0]->type->nelem; e++) { /* what is not read is NaN */
        int64_t i = e / n % n, j = e % n;
        bool other = t->lower ? j > i : j < i;
        put(v[0], e,
            other || (i == j && t->unit_diagonal) ? NAN
            : i == j                              ? 3 + cabsl(number(v[0], e))
                                                  : number(v[0], e) / 8);
    }
    lz_literal *x = run(LZ_OP_TRIANGULAR_SOLVE, &at.head, v, 2);
    for (int64_t e = 0; e < x->type->nelem; e++) {
        int64_t b = e / (rows * cols), i = e / cols % rows, j = e % cols;
        cld s = 0;
        for (int64_t k = 0; k < n; k++)
            s += t->left_side ? read_a(v[0], t, b, i, k) * number(x, (b * n + k) * cols + j)
                              : number(x, (b * m + i) * n + k) * read_a(v[0], t, b, k, j);
        ck_assert_msg(cabsl(s - number(v[1], e)) < 1e-13L * 64, "form %d element %d", form, (int)e);
    }
    lz_literal_release(v[0]), lz_literal_release(v[1]), lz_literal_release(x);
}
END_TEST

static const struct {
    lz_op op;
    lz_dtype d[2];
    lz_shape s[2];
    int form;
    lz_status status;
    const char *says;
} wrong[] = {
    {LZ_OP_CHOLESKY, {LZ_F32}, {{1, {4}}}, 0, LZ_ESHAPE, "at least 2"},
    {LZ_OP_CHOLESKY, {LZ_F32}, {{2, {4, 3}}}, 0, LZ_ESHAPE, "f32[4,3] is not square"},
    {LZ_OP_CHOLESKY, {LZ_I32}, {{2, {3, 3}}}, 0, LZ_EDTYPE, "i32"},
    {LZ_OP_TRIANGULAR_SOLVE, {LZ_F32, LZ_F64}, {{2, {3, 3}}, {2, {3, 3}}}, 1, LZ_EDTYPE, "f64"},
    {LZ_OP_TRIANGULAR_SOLVE, {LZ_F32, LZ_F32}, {{2, {3, 3}}, {2, {2, 3}}}, 1, LZ_ESHAPE, "right"},
    {LZ_OP_TRIANGULAR_SOLVE, {LZ_F32, LZ_F32}, {{2, {3, 3}}, {2, {3, 2}}}, 0, LZ_ESHAPE, "left"},
    {LZ_OP_TRIANGULAR_SOLVE,
     {LZ_F32, LZ_F32},
     {{3, {2, 3, 3}}, {3, {1, 3, 3}}},
     1,
     LZ_ESHAPE,
     "[1,3,3]"},
    {LZ_OP_TRIANGULAR_SOLVE, {LZ_F32, LZ_F32}, {{2, {3, 3}}, {1, {3}}}, 1, LZ_ESHAPE, "f32[3]"},
};

START_TEST(wrong_shapes)
{
    lz_attr_any at = solve_record(wrong[_i].form);
    if (wrong[_i].op == LZ_OP_CHOLESKY)
        lz_attr_init(&at, LZ_ATTR_cholesky);
    const lz_type *t[2] = {lz_type_get(wrong[_i].d[0], &wrong[_i].s[0]), NULL};
    if (wrong[_i].op == LZ_OP_TRIANGULAR_SOLVE)
        t[1] = lz_type_get(wrong[_i].d[1], &wrong[_i].s[1]);
    ck_assert(!lz_sig_get(wrong[_i].op, lz_attr_get(&at.head), t, t[1] ? 2 : 1));
    ck_assert_int_eq(lz_error_get()->status, wrong[_i].status);
    ck_assert_msg(strstr(lz_error_get()->message, wrong[_i].says), "%s", lz_error_get()->message);
}
END_TEST

/* Both forms of each, and how they are printed. */
static const struct {
    const char *in, *out;
} texts[] = {
    {"stablehlo.cholesky %arg0,  lower =  true : tensor<2x2xf32>",
     "stablehlo.cholesky %arg0, lower = true : tensor<2x2xf32>"},
    {"stablehlo.cholesky %arg0 : tensor<2x2xf32>",
     "stablehlo.cholesky %arg0, lower = false : tensor<2x2xf32>"},
    {"\"stablehlo.cholesky\"(%arg0) <{lower = true}> : (tensor<2x2xf32>) -> tensor<2x2xf32>",
     "stablehlo.cholesky %arg0, lower = true : tensor<2x2xf32>"},
    {"\"stablehlo.cholesky\"(%arg0) {lower = true} : (tensor<2x2xf32>) -> tensor<2x2xf32>",
     "stablehlo.cholesky %arg0, lower = true : tensor<2x2xf32>"},
    {"\"stablehlo.triangular_solve\"(%arg0, %arg0) <{left_side = true, lower = false, "
     "transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true}> : (tensor<2x2xf32>, "
     "tensor<2x2xf32>) -> tensor<2x2xf32>",
     "\"stablehlo.triangular_solve\"(%arg0, %arg0) <{left_side = true, lower = false, "
     "transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true}> : (tensor<2x2xf32>, "
     "tensor<2x2xf32>) -> tensor<2x2xf32>"},
};

START_TEST(text)
{
    char t[1024];
    lz_func *f;
    lz_buf b = {0};
    snprintf(t, sizeof t,
             "module {\n  func.func public @main(%%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
             "    %%0 = %s\n    return %%0 : tensor<2x2xf32>\n  }\n}\n",
             texts[_i].in);
    ck_assert_msg(lz_func_parse(t, strlen(t), "t", &f) == LZ_OK, "%s", lz_error_get()->message);
    lz_func_print(f, &b, 0);
    ck_assert_msg(strstr(lz_buf_str(&b), texts[_i].out), "%s", lz_buf_str(&b));
    lz_buf_free(&b);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("eval_linalg");
    TCase *t = tcase_create("reference");
    tcase_add_loop_test(t, factors, 0, 4 * 9);
    tcase_add_test(t, not_definite);
    tcase_add_loop_test(t, solves, 0, 2 * 24);
    tcase_add_loop_test(t, wrong_shapes, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_loop_test(t, text, 0, (int)(sizeof texts / sizeof *texts));
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
