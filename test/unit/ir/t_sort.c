/* t_sort.c - sort: its shape rule, its text, and the reference against a definition written out: a
 * permutation of every row, in order, with equal elements as they were. */
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/lit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static char msg[512];

static const lz_attr *attr_of(int64_t dim, const lz_func *comparator)
{
    lz_attr_sort a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_sort;
    a.dimension = dim;
    a.is_stable = true;
    a.comparator = comparator;
    return lz_attr_get((const lz_attr *)&a);
}

/* -1, 0, 1 as a comes before, with or after b: NaN last, both zeros equal. */
static int order(lz_dtype d, uint64_t a, uint64_t b)
{
    if (lz_dtype_is_float(d)) {
        double x = lz_elem_get_f64(d, &a, 0), y = lz_elem_get_f64(d, &b, 0);
        if (isnan(x) || isnan(y))
            return isnan(x) - isnan(y);
        return (x > y) - (x < y);
    }
    int64_t x = lz_elem_get_i64(d, &a, 0), y = lz_elem_get_i64(d, &b, 0);
    if (lz_dtype_is_signed(d))
        return (x > y) - (x < y);
    return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
}

/* Row by row: `at` is a permutation that orders x, and y is x in that order. */
static void check_rows(const lz_literal *x, const lz_literal *y, const lz_literal *at, int64_t dim,
                       bool descending)
{
    const lz_shape *s = &x->type->shape;
    lz_dtype d = x->type->dtype;
    int64_t n = s->dims[dim], stride = 1;
    for (int k = (int)dim + 1; k < s->rank; k++)
        stride *= s->dims[k];
    bool *seen = calloc((size_t)n + 1, 1);
    for (int64_t row = 0; row < x->type->nelem; row++) {
        if (row / stride % n)
            continue;
        memset(seen, 0, (size_t)n);
        for (int64_t i = 0; i < n; i++) {
            int64_t from = lz_elem_get_i64(LZ_I32, at->data, row + i * stride);
            uint64_t v = lz_test_get_bits(y, row + i * stride);
            ck_assert(from >= 0 && from < n && !seen[from]);
            seen[from] = true;
            ck_assert_uint_eq(v, lz_test_get_bits(x, row + from * stride));
            if (i == 0)
                continue;
            int64_t before = lz_elem_get_i64(LZ_I32, at->data, row + (i - 1) * stride);
            int c = order(d, lz_test_get_bits(y, row + (i - 1) * stride), v);
            ck_assert_int_le(descending ? -c : c, 0);
            ck_assert(c || before < from);
        }
    }
    free(seen);
}

START_TEST(rows_are_ordered)
{
    static const lz_shape shapes[] = {
        {1, {1}}, {1, {64}}, {2, {3, 17}}, {3, {4, 9, 5}}, {2, {0, 3}}};
    lz_rnd r = {(uint64_t)_i + 7};
    lz_dtype d = (lz_dtype)_i;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int dim = 0; dim < shapes[k].rank; dim++)
            for (int fill = LZ_FILL_MODEST; fill <= LZ_FILL_SPECIAL; fill++) {
                lz_literal *in[2] = {lz_test_random(&r, lz_type_get(d, &shapes[k]), (lz_fill)fill),
                                     lz_literal_new(lz_type_get(LZ_I32, &shapes[k]))},
                           *out[2] = {NULL};
                int64_t stride = 1;
                for (int i = dim + 1; i < shapes[k].rank; i++)
                    stride *= shapes[k].dims[i];
                for (int64_t i = 0; i < in[1]->type->nelem; i++)
                    ((int32_t *)in[1]->data)[i] = (int32_t)(i / stride % shapes[k].dims[dim]);
                const lz_type *t[2] = {in[0]->type, in[1]->type};
                const lz_func *f = lz_region_order((lz_dtype[]){d, LZ_I32}, 2, 1, fill & 1);
                const lz_sig *s = lz_sig_get(LZ_OP_SORT, attr_of(dim, f), t, 2);
                ck_assert_msg(s != NULL, "%s", lz_error_get()->message);
                ck_assert_int_eq(lz_ref_eval_inst(s, in, out), LZ_OK);
                check_rows(in[0], out[0], out[1], dim, fill & 1);
                for (int i = 0; i < 2; i++) {
                    lz_literal_release(in[i]);
                    lz_literal_release(out[i]);
                }
            }
}
END_TEST

START_TEST(second_key)
{
    lz_literal *in[2] = {lz_test_lit(LZ_I32, LZ_SHAPE(6), 2, 1, 2, 1, 2, 1),
                         lz_test_lit(LZ_F32, LZ_SHAPE(6), 5, NAN, -1, 3, -0., 0)},
               *out[2] = {NULL},
               *want[2] = {lz_test_lit(LZ_I32, LZ_SHAPE(6), 1, 1, 1, 2, 2, 2),
                           lz_test_lit(LZ_F32, LZ_SHAPE(6), 0, 3, NAN, -1, -0., 5)};
    const lz_type *t[2] = {in[0]->type, in[1]->type};
    const lz_func *f = lz_region_order((lz_dtype[]){LZ_I32, LZ_F32}, 2, 2, false);
    ck_assert_int_eq(lz_ref_eval_inst(lz_sig_get(LZ_OP_SORT, attr_of(0, f), t, 2), in, out), LZ_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(lz_test_same(out[i], want[i], 0, msg, sizeof msg), "%s", msg);
        lz_literal_release(in[i]);
        lz_literal_release(out[i]);
        lz_literal_release(want[i]);
    }
}
END_TEST

/* (a, b) -> v for every pair. */
static const lz_func *constant_order(lz_dtype d, bool v)
{
    const lz_shape scalar = {0};
    lz_func *f = lz_func_new("c");
    (void)lz_build_param(f, lz_type_get(d, &scalar));
    (void)lz_build_param(f, lz_type_get(d, &scalar));
    lz_val r = lz_build_scalar(f, LZ_BOOL, v);
    ck_assert_int_eq(lz_func_set_results(f, &r, 1), LZ_OK);
    const lz_func *k = lz_region_intern(f);
    lz_func_free(f);
    return k;
}

START_TEST(contradictory_comparators)
{
    for (int v = 0; v < 2; v++) {
        lz_literal *in = lz_test_lit(LZ_I32, LZ_SHAPE(7), 4, 1, 6, 2, 5, 0, 3), *out = NULL;
        const lz_type *t = in->type;
        const lz_attr *a = attr_of(0, constant_order(LZ_I32, v));
        ck_assert_int_eq(lz_ref_eval_inst(lz_sig_get(LZ_OP_SORT, a, &t, 1), &in, &out), LZ_OK);
        unsigned seen = 0;
        for (int i = 0; i < 7; i++)
            seen |= 1u << ((int32_t *)out->data)[i];
        ck_assert_uint_eq(seen, 127);
        ck_assert(v || memcmp(in->data, out->data, 28) == 0);
        lz_literal_release(in);
        lz_literal_release(out);
    }
}
END_TEST

START_TEST(refused)
{
    const lz_shape s = LZ_SHAPE(2, 3), other = LZ_SHAPE(3, 2), scalar = {0};
    const lz_type *t = lz_type_get(LZ_F32, &s), *u = lz_type_get(LZ_F32, &other),
                  *i = lz_type_get(LZ_I32, &s), *z = lz_type_get(LZ_F32, &scalar);
    const lz_func *one = lz_region_order((lz_dtype[]){LZ_F32}, 1, 1, false),
                  *two = lz_region_order((lz_dtype[]){LZ_F32, LZ_F32}, 2, 1, false),
                  *add = lz_region_binary(LZ_OP_ADD, LZ_F32);
    const struct {
        int64_t dim;
        const lz_func *f;
        const lz_type *t[2];
        uint32_t n;
        lz_status want;
        const char *says;
    } bad[] = {
        {2, one, {t}, 1, LZ_EINVAL, "dimension 2 is outside"},
        {-1, one, {t}, 1, LZ_EINVAL, "dimension -1 is outside"},
        {0, one, {z}, 1, LZ_EINVAL, "outside the 0 dimensions"},
        {0, two, {t}, 1, LZ_EINVAL, "4 parameters"},
        {0, two, {t, u}, 2, LZ_ESHAPE, "f32[2,3] and f32[3,2]"},
        {0, two, {t, i}, 2, LZ_EDTYPE, "parameter 2"},
        {0, add, {t}, 1, LZ_EDTYPE, "not a boolean"},
        {0, one, {t}, 0, LZ_EINVAL, "no operands"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        ck_assert_ptr_null(
            lz_sig_get(LZ_OP_SORT, attr_of(bad[k].dim, bad[k].f), bad[k].t, bad[k].n));
        ck_assert_msg(lz_error_get()->status == bad[k].want &&
                          strstr(lz_error_get()->message, bad[k].says),
                      "case %zu: %s", k, lz_error_get()->message);
    }
    ck_assert_ptr_null(lz_region_order((lz_dtype[]){LZ_C64}, 1, 1, false));
    ck_assert_int_eq(lz_error_get()->status, LZ_EDTYPE);
}
END_TEST

/* Attributes may be left out; a dimension counts from the end; what is printed is read back. */
START_TEST(text)
{
    static const char *const attrs[] = {"", "<{dimension = 1 : i64}> ", "<{dimension = -1 : i64}> ",
                                        "<{is_stable = true}> "};
    for (int k = 0; k < 4; k++) {
        char t[1024];
        snprintf(
            t, sizeof t,
            "func.func @main(%%a: tensor<2x5xf32>) -> tensor<2x5xf32> {\n"
            "  %%0 = \"stablehlo.sort\"(%%a) %s({\n  ^bb0(%%l: tensor<f32>, %%r: tensor<f32>):\n"
            "    %%1 = stablehlo.compare LT, %%l, %%r : (tensor<f32>, tensor<f32>) -> "
            "tensor<i1>\n    stablehlo.return %%1 : tensor<i1>\n"
            "  }) : (tensor<2x5xf32>) -> tensor<2x5xf32>\n  return %%0 : tensor<2x5xf32>\n}\n",
            attrs[k]);
        lz_func *f, *g;
        ck_assert_msg(lz_func_parse(t, strlen(t), "t", &f) == LZ_OK, "%s", lz_error_get()->message);
        const lz_attr_sort *a = LZ_ATTR(sort, f->insts[1].sig->attr);
        ck_assert_int_eq(a->dimension, 1);
        ck_assert_int_eq(a->is_stable, k == 3);
        lz_buf b = {0};
        lz_func_print(f, &b, 0);
        ck_assert_msg(lz_func_parse(b.data, b.len, "p", &g) == LZ_OK, "%s",
                      lz_error_get()->message);
        ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
        lz_buf_free(&b);
        lz_func_free(f);
        lz_func_free(g);
    }
    lz_func *f;
    const char *bare = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                       "  %0 = \"stablehlo.sort\"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
                       "  return %0 : tensor<2xf32>\n}\n";
    ck_assert_int_eq(lz_func_parse(bare, strlen(bare), "t", &f), LZ_EPARSE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "region is missing"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sort");
    TCase *t = tcase_create("sort");
    tcase_add_loop_test(t, rows_are_ordered, 1, LZ_C64);
    tcase_add_test(t, second_key);
    tcase_add_test(t, contradictory_comparators);
    tcase_add_test(t, refused);
    tcase_add_test(t, text);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
