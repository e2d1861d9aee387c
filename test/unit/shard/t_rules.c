/* t_rules.c - sharding rules: the text of one of each kind, and what holds of all. */
#include "shard/rules.h"
#include "base/status.h"
#include "base/vec.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <string.h>

/* ---- texts ---- */

/* The rule of the last operation of this name in a function. */
static const struct {
    lz_op op;
    const char *args, *result, *body, *rule;
} texts[] = {
    {LZ_OP_ADD, "%a: tensor<8x4xf32>, %b: tensor<8x4xf32>", "8x4xf32",
     "%0 = stablehlo.add %a, %b : tensor<8x4xf32>", "([i, j], [i, j])->([i, j]) {i=8, j=4}"},
    {LZ_OP_SELECT, "%p: tensor<i1>, %a: tensor<8xf32>, %b: tensor<8xf32>", "8xf32",
     "%0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<8xf32>", "([], [i], [i])->([i]) {i=8}"},
    {LZ_OP_DOT_GENERAL, "%a: tensor<2x8x4xf32>, %b: tensor<2x4x6xf32>", "2x8x6xf32",
     "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] "
     ": (tensor<2x8x4xf32>, tensor<2x4x6xf32>) -> tensor<2x8x6xf32>",
     "([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=8, k=6, l=4} reduction={l}"},
    {LZ_OP_REDUCE, "%a: tensor<8x4xf32>, %b: tensor<f32>", "4xf32",
     "%0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0] : "
     "(tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>",
     "([i, j], [])->([j]) {i=8, j=4} reduction={i}"},
    {LZ_OP_BROADCAST_IN_DIM, "%a: tensor<1x4xf32>", "8x4x3xf32",
     "%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x4xf32>) -> "
     "tensor<8x4x3xf32>",
     "([i, j])->([k, j, l]) {i=1, j=4, k=8, l=3}"},
    {LZ_OP_TRANSPOSE, "%a: tensor<2x3x4xf32>", "4x2x3xf32",
     "%0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> "
     "tensor<4x2x3xf32>",
     "([j, k, i])->([i, j, k]) {i=4, j=2, k=3}"},
    {LZ_OP_RESHAPE, "%a: tensor<8x4xf32>", "32xf32",
     "%0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<32xf32>",
     "([i, j])->([ij]) {i=8, j=4}"},
    {LZ_OP_RESHAPE, "%a: tensor<8x1x12xf32>", "2x4x3x4x1xf32",
     "%0 = stablehlo.reshape %a : (tensor<8x1x12xf32>) -> tensor<2x4x3x4x1xf32>",
     "([ij, *, kl])->([i, j, k, l, *]) {i=2, j=4, k=3, l=4}"},
    {LZ_OP_RESHAPE, "%a: tensor<2x3x5xf32>", "3x10xf32",
     "%0 = stablehlo.reshape %a : (tensor<2x3x5xf32>) -> tensor<3x10xf32>",
     "([i, k, m])->([j, lm]) {i=2, j=3, k=3, l=2, m=5} need_replication={i, j, k, l}"},
    {LZ_OP_RESHAPE, "%a: tensor<0x3xf32>", "3x0xf32",
     "%0 = stablehlo.reshape %a : (tensor<0x3xf32>) -> tensor<3x0xf32>", "([*, *])->([*, *]) {}"},
    {LZ_OP_BITCAST_CONVERT, "%a: tensor<8xf32>", "8x4xui8",
     "%0 = stablehlo.bitcast_convert %a : (tensor<8xf32>) -> tensor<8x4xui8>",
     "([i])->([i, j]) {i=8, j=4} need_replication={j}"},
    {LZ_OP_CONCATENATE, "%a: tensor<8x4xf32>, %b: tensor<8x2xf32>", "8x6xf32",
     "%0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> "
     "tensor<8x6xf32>",
     "([i, j], [i, j])->([i, j]) {i=8, j=6} permutation={j}"},
    {LZ_OP_PAD, "%a: tensor<8x4xf32>, %b: tensor<f32>", "8x6xf32",
     "%0 = stablehlo.pad %a, %b, low = [0, 1], high = [0, 1], interior = [0, 0] : "
     "(tensor<8x4xf32>, tensor<f32>) -> tensor<8x6xf32>",
     "([i, j], [])->([i, j]) {i=8, j=4} permutation={j}"},
    {LZ_OP_SLICE, "%a: tensor<8x4xf32>", "8x2xf32",
     "%0 = stablehlo.slice %a [0:8, 1:3] : (tensor<8x4xf32>) -> tensor<8x2xf32>",
     "([i, j])->([i, j]) {i=8, j=4} permutation={j}"},
    {LZ_OP_REVERSE, "%a: tensor<8x4xf32>", "8x4xf32",
     "%0 = stablehlo.reverse %a, dims = [1] : tensor<8x4xf32>",
     "([i, j])->([i, j]) {i=8, j=4} permutation={j}"},
    {LZ_OP_DYNAMIC_SLICE, "%a: tensor<8x4xf32>, %i: tensor<i32>", "2x4xf32",
     "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 4] : (tensor<8x4xf32>, tensor<i32>, "
     "tensor<i32>) -> tensor<2x4xf32>",
     "([i, j], [], [])->([i, j]) {i=8, j=4} need_replication={i} blocked_propagation={i}"},
    {LZ_OP_DYNAMIC_UPDATE_SLICE, "%a: tensor<8x4xf32>, %u: tensor<2x4xf32>, %i: tensor<i32>",
     "8x4xf32",
     "%0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<8x4xf32>, tensor<2x4xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<8x4xf32>",
     "([i, k], [j, k], [], [])->([i, k]) {i=8, j=2, k=4} need_replication={j}"},
    {LZ_OP_GATHER, "%a: tensor<32x16xf32>, %i: tensor<4x6x1xi32>", "4x6x16xf32",
     "%0 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = "
     "array<i64: 1, 16>, indices_are_sorted = false}> : (tensor<32x16xf32>, tensor<4x6x1xi32>) -> "
     "tensor<4x6x16xf32>",
     "([k, l], [i, j, m])->([i, j, l]) {i=4, j=6, k=32, l=16, m=1} reduction={k} "
     "need_replication={m}"},
    {LZ_OP_SCATTER, "%a: tensor<32x16xf32>, %i: tensor<4x1xi32>, %u: tensor<4x16xf32>", "32x16xf32",
     "%0 = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, "
     "unique_indices = false}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%s = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) : "
     "(tensor<32x16xf32>, tensor<4x1xi32>, tensor<4x16xf32>) -> tensor<32x16xf32>",
     "([j, k], [i, l], [i, k])->([j, k]) {i=4, j=32, k=16, l=1} reduction={i} "
     "need_replication={l}"},
    {LZ_OP_CONVOLUTION, "%a: tensor<8x16x4xf32>, %k: tensor<3x4x6xf32>", "8x16x6xf32",
     "%0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = "
     "{stride = [1], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
     ": (tensor<8x16x4xf32>, tensor<3x4x6xf32>) -> tensor<8x16x6xf32>",
     "([i, l, j], [m, j, k])->([i, l, k]) {i=8, j=4, k=6, l=16, m=3} reduction={j} "
     "need_replication={m} permutation={l}"},
    {LZ_OP_CONVOLUTION, "%a: tensor<8x16x4xf32>, %k: tensor<1x2x6xf32>", "8x16x6xf32",
     "%0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = "
     "{stride = [1], pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} "
     ": (tensor<8x16x4xf32>, tensor<1x2x6xf32>) -> tensor<8x16x6xf32>",
     "([j, m, ik], [n, k, il])->([j, m, il]) {i=2, j=8, k=2, l=3, m=16, n=1} reduction={k} "
     "need_replication={n}"},
    {LZ_OP_REDUCE_WINDOW, "%a: tensor<8x16xf32>, %b: tensor<f32>", "8x8xf32",
     "%0 = \"stablehlo.reduce_window\"(%a, %b) <{window_dimensions = array<i64: 1, 2>, "
     "window_strides = array<i64: 1, 2>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%s = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) : "
     "(tensor<8x16xf32>, tensor<f32>) -> tensor<8x8xf32>",
     "([i, j], [])->([i, j]) {i=8, j=16} permutation={j}"},
    {LZ_OP_SORT, "%a: tensor<8x4xf32>", "8x4xf32",
     "%0 = \"stablehlo.sort\"(%a) <{dimension = 1 : i64, is_stable = true}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%s = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "stablehlo.return %s : tensor<i1>\n}) : (tensor<8x4xf32>) -> tensor<8x4xf32>",
     "([i, j])->([i, j]) {i=8, j=4} need_replication={j}"},
    {LZ_OP_CHOLESKY, "%a: tensor<8x4x4xf32>", "8x4x4xf32",
     "%0 = stablehlo.cholesky %a, lower = true : tensor<8x4x4xf32>",
     "([i, j, k])->([i, l, m]) {i=8, j=4, k=4, l=4, m=4} need_replication={j, k, l, m}"},
    {LZ_OP_TRIANGULAR_SOLVE, "%a: tensor<4x4xf32>, %b: tensor<4x6xf32>", "4x6xf32",
     "%0 = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = true, lower = true, unit_diagonal "
     "= false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, "
     "tensor<4x6xf32>) -> tensor<4x6xf32>",
     "([i, j], [k, l])->([k, l]) {i=4, j=4, k=4, l=6} need_replication={i, j, k}"},
    {LZ_OP_FFT, "%a: tensor<8x6xf32>", "8x4xcomplex<f32>",
     "%0 = stablehlo.fft %a, type = RFFT, length = [6] : (tensor<8x6xf32>) -> "
     "tensor<8x4xcomplex<f32>>",
     "([i, j])->([i, j]) {i=8, j=6} need_replication={j} blocked_propagation={j}"},
    {LZ_OP_RNG_BIT_GENERATOR, "%a: tensor<2xui64>", "8x4xui32",
     "%s, %0 = stablehlo.rng_bit_generator %a, algorithm = DEFAULT : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<8x4xui32>)",
     "([i])->([j], [k, l]) {i=2, j=2, k=8, l=4} need_replication={i, j} blocked_propagation={i, "
     "j}"},
    {LZ_OP_ALL_GATHER, "%a: tensor<8x4xf32>", "8x8xf32",
     "%0 = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x8xf32>",
     "([i, j])->([i, k]) {i=8, j=4, k=8} need_replication={j, k}"},
};

/* Every factor is a letter or z_n: those beyond the alphabet are in no text above. */
static lz_func *function_of(int i)
{
    char text[2048];
    snprintf(text, sizeof text,
             "func.func @main(%s) -> tensor<%s> {\n%s\nreturn %%0 : tensor<%s>\n}\n", texts[i].args,
             texts[i].result, texts[i].body, texts[i].result);
    lz_func *f = NULL;
    ck_assert_msg(lz_func_parse(text, strlen(text), "rule", &f) == LZ_OK, "%d: %s", i,
                  lz_error_get()->message);
    return f;
}

START_TEST(text)
{
    lz_func *f = function_of(_i);
    lz_arena a = {0};
    const lz_rule *r = NULL;
    lz_buf b = {0};
    for (uint32_t i = 0; i < f->ninst; i++)
        if (lz_inst_op(&f->insts[i]) == texts[_i].op)
            ck_assert_int_eq(lz_rule_of(f->insts[i].sig, &a, &r), LZ_OK);
    ck_assert_ptr_nonnull(r);
    lz_rule_print(&b, r);
    ck_assert_str_eq(lz_buf_str(&b), texts[_i].rule);
    lz_buf_free(&b);
    lz_arena_free(&a);
    lz_func_free(f);
}
END_TEST

/* ---- what holds of every rule ---- */

static const lz_shape *shape_of(const lz_sig *s, uint32_t t)
{
    return &(t < s->nopnd ? s->opnd[t] : s->result[t - s->nopnd])->shape;
}

/* How often factor k is in a tensor, in the results and at all; whether an extent is its size. */
typedef struct uses {
    uint32_t all, results;
    bool fits;
} uses;

static uses uses_of(const lz_sig *s, const lz_rule *r, uint32_t k)
{
    uses u = {0};
    for (uint32_t t = 0; t < r->nopnd + r->nresult; t++) {
        uint32_t here = 0;
        for (int d = 0; d < r->tensors[t].rank; d++)
            for (int i = 0; i < r->tensors[t].dims[d].n; i++)
                if (r->tensors[t].dims[d].at[i] == k) {
                    here++;
                    u.fits |= r->tensors[t].dims[d].n > 1 ||
                              shape_of(s, t)->dims[d] == r->factors[k].size;
                }
        ck_assert_msg(here <= 1, "%s: factor %u is twice in tensor %u", lz_op_get(s->op)->text, k,
                      t);
        u.all += here;
        u.results += t >= r->nopnd ? here : 0;
    }
    return u;
}

/* A dimension is the product of its factors; but where neighbours exchange or one is whole, those
 * of the tensors differ. */
static void check_dim(const lz_sig *s, const lz_rule *r, uint32_t t, int d)
{
    const lz_rule_dim *dim = &r->tensors[t].dims[d];
    int64_t product = 1, extent = shape_of(s, t)->dims[d];
    bool exact = true;
    for (int i = 0; i < dim->n; i++) {
        const lz_rule_factor *f = &r->factors[dim->at[i]];
        ck_assert_uint_lt(dim->at[i], r->nfactor);
        product *= f->size;
        exact &= f->kind == LZ_FACTOR_PASS || dim->n > 1 ||
                 (f->kind == LZ_FACTOR_REDUCE && lz_op_get(s->op)->cls != LZ_CLASS_WINDOW);
    }
    if (dim->n && exact)
        ck_assert_msg(product == extent, "%s: tensor %u, dimension %d: factors of %d, not %d",
                      lz_op_get(s->op)->text, t, d, (int)product, (int)extent);
}

static void check_rule(const lz_sig *s)
{
    lz_arena a = {0};
    const lz_rule *r;
    lz_buf b = {0};
    const char *name = lz_op_get(s->op)->text;
    ck_assert_int_eq(lz_rule_of(s, &a, &r), LZ_OK);
    ck_assert_uint_eq(r->nopnd, s->nopnd);
    ck_assert_uint_eq(r->nresult, s->nresult);
    for (uint32_t t = 0; t < r->nopnd + r->nresult; t++) {
        ck_assert_int_eq(r->tensors[t].rank, shape_of(s, t)->rank);
        for (int d = 0; d < r->tensors[t].rank; d++)
            check_dim(s, r, t, d);
    }
    for (uint32_t k = 0; k < r->nfactor; k++) {
        uses u = uses_of(s, r, k);
        ck_assert_msg(u.all > 0 && u.fits, "%s: factor %u is of no dimension", name, k);
        if (r->factors[k].kind == LZ_FACTOR_REDUCE)
            ck_assert_msg(u.results == 0, "%s: factor %u is summed and in a result", name, k);
        else
            ck_assert_int_eq(r->factors[k].reduction, LZ_OP_NONE);
    }
    ck_assert(!r->edges || !r->nfactor);
    lz_rule_print(&b, r);
    ck_assert(!b.failed);
    lz_buf_free(&b);
    lz_arena_free(&a);
}

static void check_rules(const lz_func *f)
{
    for (uint32_t i = 0; i < f->ninst; i++)
        check_rule(f->insts[i].sig);
}

/* Row _i: every case that there is. */
START_TEST(rows)
{
    lz_func *f;
    lz_literal **args;
    int rc, n = 0;
    for (; (rc = lz_gen_row_cases((lz_op)(_i + 1), n, &f, &args)) == 1; n++) {
        if (!lz_test_small() || lz_test_in_turn((unsigned)(n + _i), 3))
            check_rules(f);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    ck_assert_msg(rc == 0, "%s", lz_error_get()->message);
}
END_TEST

START_TEST(functions)
{
    for (unsigned k = 0; k < 40; k++) {
        lz_func *f = lz_gen_random(lz_test_seed() * 4000 + (unsigned)_i * 40 + k, NULL);
        ck_assert_ptr_nonnull(f);
        check_rules(f);
        lz_func_free(f);
        f = lz_gen_net((unsigned)_i * 40 + k);
        ck_assert_ptr_nonnull(f);
        check_rules(f);
        lz_func_free(f);
    }
}
END_TEST

START_TEST(memory)
{
    lz_func *f = function_of(2);
    const lz_sig *s = f->insts[f->ninst - 1].sig;
    for (int n = 1;; n++) {
        lz_arena a = {0};
        const lz_rule *r;
        lz_alloc_fail_at(n, false);
        lz_status status = lz_rule_of(s, &a, &r);
        lz_alloc_fail_at(0, false);
        lz_arena_free(&a);
        if (status == LZ_OK)
            break;
        ck_assert_int_eq(status, LZ_EMEM);
    }
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rules");
    TCase *t = tcase_create("rules");
    tcase_add_loop_test(t, text, 0, (int)(sizeof texts / sizeof *texts));
    tcase_add_loop_test(t, rows, 0, LZ_OP_COUNT - 1);
    tcase_add_loop_test(t, functions, 0, 20);
    tcase_add_test(t, memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
