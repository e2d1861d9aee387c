/* t_expand_windows.c - pass `expand_windows`: every way of taking windows apart, with memory that
 * runs out at every point, and ranks that leave no room. */
#include "base/alloc.h"
#include "ir/attr.h"
#include "ir/eval/eval.h"
#include "lower/plan/plan.h"
#include "passtest.h"
#include "support/lit.h"
#include <math.h>
#include <string.h>

#define REGION(op)                                                                                 \
    "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo." op " %a, %b : tensor<f32> "       \
    "stablehlo.return %r : tensor<f32> })"
#define SELECT                                                                                     \
    "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.compare GE, %a, %b, FLOAT : "       \
    "(tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1> }, "                \
    "{ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.add %a, %b : tensor<f32> "           \
    "stablehlo.return %r : tensor<f32> })"

static const struct {
    const char *parameters, *result, *op;
} programs[] = {
    {"%x: tensor<6x5xf32>", "tensor<3x5xf32>",
     "\"stablehlo.reduce_window\"(%x, %z) <{padding = dense<[[1, 0], [1, 1]]> : tensor<2x2xi64>, "
     "window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> " REGION(
         "maximum") " : (tensor<6x5xf32>, tensor<f32>) -> tensor<3x5xf32>"},
    /* prefixes; suffixes by a region of its own */
    {"%x: tensor<2x700xf32>", "tensor<2x700xf32>",
     "\"stablehlo.reduce_window\"(%x, %z) <{padding = dense<[[0, 0], [699, 0]]> : tensor<2x2xi64>, "
     "window_dimensions = array<i64: 1, 700>}> " REGION(
         "add") " : (tensor<2x700xf32>, tensor<f32>) -> tensor<2x700xf32>"},
    {"%x: tensor<90xf32>", "tensor<90xf32>",
     "\"stablehlo.reduce_window\"(%x, %z) <{padding = dense<[[0, 89]]> : tensor<1x2xi64>, "
     "window_dimensions = array<i64: 90>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): "
     "%r = stablehlo.add %b, %a : tensor<f32> stablehlo.return %r : tensor<f32> })"
     " : (tensor<90xf32>, tensor<f32>) -> tensor<90xf32>"},
    /* no room for the elements of five windows in rank 5 */
    {"%x: tensor<3x4x3x3x4xf32>", "tensor<2x3x2x2x3xf32>",
     "\"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: 2, 2, 2, 2, "
     "2>}> " REGION("add") " : (tensor<3x4x3x3x4xf32>, tensor<f32>) -> tensor<2x3x2x2x3xf32>"},
    {"%x: tensor<5x7xf32>, %s: tensor<2x3xf32>", "tensor<5x7xf32>",
     "\"stablehlo.select_and_scatter\"(%x, %s, %z) <{window_dimensions = array<i64: 3, 3>, "
     "window_strides = array<i64: 2, 2>}> " SELECT
     " : (tensor<5x7xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<5x7xf32>"},
    {"%x: tensor<3x3x3x3x3xf32>, %s: tensor<2x2x2x2x2xf32>", "tensor<3x3x3x3x3xf32>",
     "\"stablehlo.select_and_scatter\"(%x, %s, %z) <{window_dimensions = array<i64: 2, 2, 2, 2, "
     "2>}> " SELECT
     " : (tensor<3x3x3x3x3xf32>, tensor<2x2x2x2x2xf32>, tensor<f32>) -> tensor<3x3x3x3x3xf32>"},
    {"%x: tensor<2x4x5x6xf32>, %k: tensor<6x2x3x2xf32>", "tensor<2x6x3x5xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], "
     "window = {reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : "
     "i64} : (tensor<2x4x5x6xf32>, tensor<6x2x3x2xf32>) -> tensor<2x6x3x5xf32>"},
    {"%x: tensor<1x2x3x3x3xf32>, %k: tensor<4x1x2x2x2xf32>", "tensor<1x4x2x2x2xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, "
     "2], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : "
     "(tensor<1x2x3x3x3xf32>, tensor<4x1x2x2x2xf32>) -> tensor<1x4x2x2x2xf32>"},
    {"%x: tensor<1x2x2x2x2x2x1x4xf32>, %k: tensor<2x2x2x2x2x1x2x2xf32>",
     "tensor<1x1x1x1x1x1x1x2xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, 2, 3, 4, 5, f]x[0, 1, 2, 3, 4, 5, i, "
     "o]->[b, 0, 1, 2, 3, 4, 5, f], window = {} {batch_group_count = 1 : i64, feature_group_count "
     "= 2 : i64} : (tensor<1x2x2x2x2x2x1x4xf32>, tensor<2x2x2x2x2x1x2x2xf32>) -> "
     "tensor<1x1x1x1x1x1x1x2xf32>"},
    /* a dilated input: phases with all taps, some, and none; results that no phase divides */
    {"%x: tensor<2x3x4x5xf32>, %k: tensor<3x2x5x6xf32>", "tensor<2x7x9x6xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {pad = [[1, 3], [1, -1]], lhs_dilate = [2, 3], reverse = [true, false]} "
     "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<2x3x4x5xf32>, tensor<3x2x5x6xf32>) -> tensor<2x7x9x6xf32>"},
    /* windows longer than the result */
    {"%x: tensor<3x2x9x4xf32>, %k: tensor<2x5x3x5xf32>", "tensor<1x5x5x4xf32>",
     "stablehlo.convolution(%x, %k) dim_numbers = [f, 0, 1, b]x[0, 1, i, o]->[0, 1, f, b], "
     "window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<3x2x9x4xf32>, tensor<2x5x3x5xf32>) -> tensor<1x5x5x4xf32>"},
};
enum { NPROGRAM = sizeof programs / sizeof *programs };

static lz_func *program(int i)
{
    lz_buf b = {0};
    lz_func *f;
    lz_buf_printf(
        &b,
        "module { func.func public @main(%s) -> %s { %%z = stablehlo.constant dense<0.0> : "
        "tensor<f32> %%v = %s return %%v : %s } }",
        programs[i].parameters, programs[i].result, programs[i].op, programs[i].result);
    const char *text = lz_buf_str(&b);
    ck_assert_msg(lz_func_parse(text, strlen(text), "program", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
    return f;
}

static lz_literal *run(const lz_func *f)
{
    lz_rnd r = {7};
    lz_literal *args[2] = {NULL}, *out = NULL;
    for (uint32_t k = 0; k < f->nparam; k++)
        args[k] = lz_test_random(&r, lz_val_type(f, k), LZ_FILL_MODEST);
    ck_assert_msg(lz_ref_run(f, args, &out) == LZ_OK, "%s", lz_error_get()->message);
    for (uint32_t k = 0; k < f->nparam; k++)
        lz_literal_release(args[k]);
    return out;
}

/* The same results, of nothing that has a window. */
START_TEST(taken_apart)
{
    lz_func *f = program(_i), *g;
    ck_assert_msg(lz_passes_run(f, "expand_windows", NULL, &g) == LZ_OK && g, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_func_verify(g), LZ_OK);
    for (uint32_t i = 0; i < g->ninst; i++)
        ck_assert_int_ne(lz_op_get(lz_inst_op(&g->insts[i]))->cls, LZ_CLASS_WINDOW);
    lz_literal *want = run(f), *got = run(g);
    for (int64_t k = 0; k < want->type->nelem; k++) {
        double a = lz_literal_get_f64(want, k), b = lz_literal_get_f64(got, k);
        ck_assert_msg(fabs(a - b) <= 1e-4 * (1 + fabs(a)), "element %d: %g, not %g", (int)k, b, a);
    }
    lz_literal_release(want);
    lz_literal_release(got);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

START_TEST(failing_memory)
{
    lz_check_failing_memory(program(_i), "expand_windows");
}
END_TEST

/* ---- random windows ---- */

enum { MOST_VALUES = 7, MOST_WORK = 200000 };

/* a + b + a b of integers: an associative region that is no op, whose identity is 0. */
static const lz_func *region_of(uint32_t n)
{
    lz_shape scalar = LZ_SCALAR;
    const lz_type *t = lz_type_get(LZ_I32, &scalar);
    lz_func *f = lz_func_new("body");
    lz_val v[2 * MOST_VALUES], out[MOST_VALUES];
    for (uint32_t k = 0; k < 2 * n; k++)
        v[k] = lz_build_param(f, t);
    for (uint32_t k = 0; k < n; k++)
        out[k] = lz_build_ew2(f, LZ_OP_ADD, lz_build_ew2(f, LZ_OP_ADD, v[k], v[n + k]),
                              lz_build_ew2(f, LZ_OP_MULTIPLY, v[k], v[n + k]));
    ck_assert(lz_func_set_results(f, out, n) == LZ_OK);
    const lz_func *r = lz_region_intern(f);
    lz_func_free(f);
    return r;
}

/* Sizes, strides, holes and padding of each dimension; what the reference has to do. */
static int64_t some_windows(lz_rnd *r, lz_shape *s, lz_attr_reduce_window *a)
{
    int64_t work = 1;
    s->rank = lz_rnd_chance(r, 10) ? LZ_MAX_RANK : (int)lz_rnd_range(r, 1, 4);
    lz_ints *all[] = {&a->window_dimensions, &a->window_strides, &a->base_dilations,
                      &a->window_dilations,  &a->padding_low,    &a->padding_high};
    for (int i = 0; i < 6; i++)
        all[i]->n = s->rank;
    int left = 2; /* dimensions that are walked */
    for (int d = 0; d < s->rank; d++) {
        bool walked = left > 0 && lz_rnd_chance(r, s->rank == LZ_MAX_RANK ? 15 : 60);
        int64_t n = !walked && s->rank == LZ_MAX_RANK ? 1 : lz_rnd_range(r, walked ? 0 : 1, 4);
        left -= walked;
        if (walked && lz_rnd_chance(r, 70))
            n = lz_rnd_range(r, 17, 60);
        s->dims[d] = n;
        for (int i = 0; i < 4; i++)
            all[i]->v[d] = 1;
        if (!walked)
            continue;
        int64_t size = lz_rnd_range(r, 1, 45);
        a->window_dimensions.v[d] = size;
        a->window_strides.v[d] = lz_rnd_chance(r, 30) ? lz_rnd_range(r, 1, 4) : 1;
        a->base_dilations.v[d] = lz_rnd_chance(r, 20) ? lz_rnd_range(r, 1, 3) : 1;
        a->window_dilations.v[d] = lz_rnd_chance(r, 20) ? lz_rnd_range(r, 1, 3) : 1;
        a->padding_low.v[d] = lz_rnd_range(r, -2, size);
        a->padding_high.v[d] = lz_rnd_range(r, -2, size);
        if (lz_rnd_chance(r, 20)) { /* prefixes or suffixes */
            a->window_dimensions.v[d] = n ? n : 1;
            a->padding_low.v[d] = n && lz_rnd_chance(r, 50) ? n - 1 : 0;
            a->padding_high.v[d] = n ? n - 1 - a->padding_low.v[d] : 0;
        }
        work *= a->window_dimensions.v[d] * (n * 3 + 90);
    }
    return work * (s->rank == LZ_MAX_RANK ? 1 : 4);
}

/* NULL: there are no such windows. */
static lz_func *some_program(lz_rnd *r)
{
    static const lz_op ops[] = {LZ_OP_ADD, LZ_OP_MAXIMUM, LZ_OP_MINIMUM, LZ_OP_MULTIPLY, LZ_OP_OR};
    lz_attr_any a;
    lz_shape s = {0}, scalar = LZ_SCALAR;
    lz_attr_init(&a, LZ_ATTR_reduce_window);
    if (some_windows(r, &s, &a.as_reduce_window) > MOST_WORK * 10)
        return NULL;
    lz_op op = ops[lz_rnd_range(r, 0, 4)];
    bool any = lz_rnd_chance(r, 40);
    lz_dtype d = !any && lz_rnd_chance(r, 50) && (op == LZ_OP_MAXIMUM || op == LZ_OP_MINIMUM)
                     ? LZ_F32
                     : LZ_I32;
    uint32_t n = any ? (uint32_t)lz_rnd_range(r, 1, MOST_VALUES) : 1;
    a.as_reduce_window.body = any ? region_of(n) : lz_region_binary(op, d);
    lz_func *f = lz_func_new("windows");
    lz_val v[2 * MOST_VALUES], out[MOST_VALUES];
    for (uint32_t k = 0; k < 2 * n; k++)
        v[k] = lz_build_param(f, lz_type_get(d, k < n ? &s : &scalar));
    uint64_t bits = 0;
    ck_assert(any || lz_identity_bits(op, d, &bits));
    bool neutral = any || lz_rnd_chance(r, 50); /* a region and its initial values are a monoid */
    for (uint32_t k = n; k < 2 * n && neutral; k++)
        v[k] = lz_build_splat_bits(f, lz_type_get(d, &scalar), bits);
    LZ_QUIETLY {
        lz_val w = lz_build(f, LZ_OP_REDUCE_WINDOW, &a.head, v, 2 * n);
        for (uint32_t k = 0; k < n && f->status == LZ_OK; k++)
            out[k] = lz_build_result(f, w, k);
    }
    if (f->status == LZ_OK && lz_func_set_results(f, out, n) == LZ_OK)
        return f;
    lz_func_free(f);
    return NULL;
}

/* With NaN, and zeros of both signs, where there are. */
static lz_literal *some_input(lz_rnd *r, const lz_type *t)
{
    static const float special[] = {0.0F, -0.0F, NAN, INFINITY, -INFINITY};
    lz_literal *l = lz_literal_new(t);
    ck_assert_ptr_nonnull(l);
    for (int64_t i = 0; i < t->nelem; i++) {
        int64_t x = lz_rnd_range(r, -3, 3);
        if (t->dtype == LZ_I32)
            ((int32_t *)l->data)[i] = (int32_t)x;
        else
            ((float *)l->data)[i] =
                lz_rnd_chance(r, 5) ? special[lz_rnd_range(r, 0, 4)] : (float)x / 2;
    }
    return l;
}

static bool same_numbers(const lz_literal *a, const void *b)
{
    for (int64_t i = 0; i < a->type->nelem; i++) {
        const float *x = (const float *)a->data + i, *y = (const float *)b + i;
        bool nan = a->type->dtype == LZ_F32 && isnan(*x) && isnan(*y);
        if (!nan && memcmp(x, y, 4) != 0)
            return false;
    }
    return true;
}

static void check_way(const lz_func *f, lz_literal *const *args, lz_literal *const *want,
                      bool scans, int seed)
{
    lz_lower_options o = {.prefix_scans = scans};
    lz_func *g = NULL;
    lz_plan *p = NULL;
    lz_literal *got[MOST_VALUES];
    const void *in[2 * MOST_VALUES];
    void *out[MOST_VALUES];
    ck_assert_msg(lz_passes_run(f, "expand_windows", &o, &g) == LZ_OK, "%d: %s", seed,
                  lz_error_get()->message);
    ck_assert_msg(lz_ref_run(g, args, got) == LZ_OK, "%d: %s", seed, lz_error_get()->message);
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%d: %s", seed, lz_error_get()->message);
    for (uint32_t k = 0; k < f->nparam; k++)
        in[k] = args[k]->data;
    for (uint32_t k = 0; k < f->nresult; k++)
        out[k] = lz_alloc(want[k]->nbytes + 1);
    ck_assert_msg(lz_plan_run(p, in, out) == LZ_OK, "%d: %s", seed, lz_error_get()->message);
    for (uint32_t k = 0; k < f->nresult; k++) {
        ck_assert_msg(same_numbers(want[k], got[k]->data), "%d: %u: the pass, scans %d", seed, k,
                      scans);
        ck_assert_msg(same_numbers(want[k], out[k]), "%d: %u: the plan, scans %d", seed, k, scans);
        lz_free(out[k]);
        lz_literal_release(got[k]);
    }
    lz_plan_free(p);
    lz_func_free(g);
}

START_TEST(random_windows)
{
    lz_rnd r = {(uint64_t)_i + 8 * lz_test_seed()};
    int n = lz_test_whole() ? 2000 : lz_test_small() ? 20 : 60;
    for (int i = 0; i < n; i++) {
        lz_literal *args[2 * MOST_VALUES], *want[MOST_VALUES];
        lz_func *f = some_program(&r);
        if (!f)
            continue;
        for (uint32_t k = 0; k < f->nparam; k++)
            args[k] = some_input(&r, lz_val_type(f, k));
        ck_assert_msg(lz_ref_run(f, args, want) == LZ_OK, "%s", lz_error_get()->message);
        for (int scans = 0; scans < 2; scans++)
            check_way(f, args, want, scans, i);
        for (uint32_t k = 0; k < f->nparam; k++)
            lz_literal_release(args[k]);
        for (uint32_t k = 0; k < f->nresult; k++)
            lz_literal_release(want[k]);
        lz_func_free(f);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("windows");
    TCase *t = tcase_create("windows");
    tcase_add_loop_test(t, taken_apart, 0, NPROGRAM);
    tcase_add_loop_test(t, failing_memory, 0, NPROGRAM);
    tcase_add_loop_test(t, random_windows, 0, 8);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
