/* t_collective.c - operations among participants: text in both forms, bytes, shape rules, and that
 * one device refuses them. */
#include "ir/attr.h"
#include "ir/batch/batch.h"
#include "ir/collective.h"
#include "ir/eval/eval.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

#define X "tensor<2x4xf32>"
#define ADD                                                                                        \
    "({\n ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n  %s = stablehlo.add %a, %b : tensor<f32>\n"    \
    "  stablehlo.return %s : tensor<f32>\n})"

/* The operation on %x, and the type that it gives. */
typedef struct row {
    const char *name, *attributes, *region, *result, *wrong; /* wrong: NULL, or what is said */
} row;

static const row rows[] = {
    {"all_gather", "all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "", "tensor<2x8xf32>", NULL},
    {"all_gather",
     "all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>, "
     "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "", "tensor<8x4xf32>", NULL},
    {"all_reduce", "replica_groups = dense<[[0, 3], [2, -1]]> : tensor<2x2xi64>", ADD, X, NULL},
    {"all_reduce",
     "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = "
     "dense<[[0, 3]]> : tensor<1x2xi64>, use_global_device_ids",
     ADD, X, NULL},
    {"all_to_all",
     "concat_dimension = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, "
     "split_count = 2 : i64, split_dimension = 1 : i64",
     "", "tensor<4x2xf32>", NULL},
    {"all_to_all",
     "concat_dimension = 1 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, "
     "split_count = 2 : i64, split_dimension = 1 : i64",
     "", X, NULL},
    {"collective_broadcast", "replica_groups = dense<[[2, 1, 0]]> : tensor<1x3xi64>", "", X, NULL},
    {"collective_permute", "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>", "", X,
     NULL},
    {"reduce_scatter",
     "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64", ADD,
     "tensor<2x1xf32>", NULL},
    /* wrong */
    {"all_gather", "all_gather_dim = 2 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>", "",
     "tensor<2x8xf32>", "result 0 is f32[2,4], but the text says f32[2,8]"},
    {"all_gather", "all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "", "tensor<2x8xf32>", "1 times the extent, but groups of 2"},
    {"all_gather", "all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "", "tensor<2x12xf32>", "3 times the extent, but groups of 2"},
    {"all_gather", "all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "", "tensor<2x9xf32>", "result 0 is f32[2,8], but the text says f32[2,9]"},
    {"all_gather", "all_gather_dim = 1 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>",
     "", "tensor<2x8xf32>", "participant 0 occurs twice"},
    {"all_gather", "all_gather_dim = 1 : i64, replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>",
     "", "tensor<2x8xf32>", "there is no participant -2"},
    {"all_gather", "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", "", "tensor<2x8xf32>",
     "the attribute all_gather_dim is missing"},
    {"all_gather",
     "all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = []>", "",
     "tensor<2x8xf32>", "only lists of lists of integers are supported"},
    {"all_gather",
     "all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, "
     "use_global_device_ids",
     "", "tensor<2x8xf32>", "use_global_device_ids needs a channel"},
    {"all_reduce", "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", "", X,
     "the region is missing"},
    {"all_reduce", "replica_groups = dense<[0, 1]> : tensor<2xi64>", ADD, X,
     "expected lists of lists of integers"},
    {"all_to_all",
     "concat_dimension = 0 : i64, replica_groups = dense<[[1, 0, 2]]> : tensor<1x3xi64>, "
     "split_count = 2 : i64, split_dimension = 1 : i64",
     "", "tensor<4x2xf32>", "split_count = 2, but groups of 3"},
    {"all_to_all",
     "concat_dimension = 0 : i64, replica_groups = dense<[[1, 0, 2]]> : tensor<1x3xi64>, "
     "split_count = 3 : i64, split_dimension = 1 : i64",
     "", "tensor<4x2xf32>", "dimension 1 of f32[2,4] does not split into 3 parts"},
    {"all_to_all",
     "concat_dimension = 5 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, "
     "split_count = 2 : i64, split_dimension = 1 : i64",
     "", "tensor<4x2xf32>", "concat_dimension = 5 is no dimension"},
    {"collective_permute", "source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>", "", X,
     "participant 0 occurs twice"},
    {"collective_permute", "source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>", "", X,
     "participant 1 occurs twice"},
    {"collective_permute", "source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>", "", X,
     "lists of 3, not pairs"},
    {"collective_permute", "source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>", "", X,
     "there is no participant -1"},
    {"reduce_scatter",
     "replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, scatter_dimension = 1 : i64", ADD,
     "tensor<2x2xf32>", "2 times the extent, but groups of 3"},
};
enum { NROW = (int)(sizeof rows / sizeof *rows) };

static void text_of(const row *r, lz_buf *b)
{
    lz_buf_printf(b,
                  "func.func @main(%%x: " X ") -> %s {\n  %%0 = \"stablehlo.%s\"(%%x) %s {%s} : (" X
                  ") -> %s\n  return %%0 : %s\n}\n",
                  r->result, r->name, r->region, r->attributes, r->result, r->result);
}

static lz_func *parse(const lz_buf *b)
{
    lz_func *f = NULL;
    ck_assert_msg(lz_func_parse(b->data, b->len, "t", &f) == LZ_OK, "%s: %s", b->data,
                  lz_error_get()->message);
    return f;
}

/* Text -> function -> text -> function, and through bytes: the same function, with the row and all
 * its attributes. */
START_TEST(good_and_bad)
{
    const row *r = &rows[_i];
    lz_buf b = {0}, again = {0}, bytes = {0};
    lz_func *f = NULL, *g, *h;
    text_of(r, &b);
    if (r->wrong) {
        ck_assert_int_ne(lz_func_parse(b.data, b.len, "t", &f), LZ_OK);
        ck_assert_msg(strstr(lz_error_get()->message, r->wrong), "%s", lz_error_get()->message);
        ck_assert(strstr(lz_error_get()->message, r->name) || strstr(r->wrong, "lists of lists"));
        lz_buf_free(&b);
        return;
    }
    f = parse(&b);
    ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    ck_assert_int_eq(lz_op_get(f->insts[1].sig->op)->cls, LZ_CLASS_COLLECTIVE);
    lz_func_print(f, &again, 0);
    ck_assert_msg(strstr(again.data, r->attributes), "%s", again.data);
    g = parse(&again);
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
    lz_func_serialize(f, &bytes);
    ck_assert_int_eq(lz_func_deserialize(bytes.data, bytes.len, &h), LZ_OK);
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(h)));
    lz_func_free(f);
    lz_func_free(g);
    lz_func_free(h);
    lz_buf_free(&b);
    lz_buf_free(&again);
    lz_buf_free(&bytes);
}
END_TEST

/* Run, compiled or batched: an error that names the operation. */
START_TEST(not_alone)
{
    const row *r = &rows[_i];
    lz_buf b = {0};
    if (r->wrong)
        return;
    text_of(r, &b);
    lz_func *f = parse(&b);
    lz_literal *x = lz_literal_new(lz_val_type(f, 0)), *out = NULL;
    bool mapped = true, out_mapped;
    lz_func *to = lz_func_new("many");
    ck_assert_int_eq(lz_ref_run(f, &x, &out), LZ_EUNSUPPORTED);
    ck_assert_ptr_null(out);
    ck_assert_int_eq(lz_func_check_alone(f), LZ_EUNSUPPORTED);
    ck_assert(strstr(lz_error_get()->message, r->name));
    ck_assert(strstr(lz_error_get()->message, "one device runs alone"));
    const lz_shape many = LZ_SHAPE(3, 2, 4);
    lz_val v = lz_build_param(to, lz_type_get(LZ_F32, &many)), result;
    ck_assert_int_eq(lz_batch_inline(to, f, 3, &v, &mapped, &result, &out_mapped), LZ_EUNSUPPORTED);
    ck_assert(strstr(lz_error_get()->message, r->name));
    lz_func_free(to);
    lz_literal_release(x);
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

/* Several operands, several results; of one dtype where one region reduces them. */
START_TEST(several_operands)
{
    static const char good[] =
        "func.func @main(%x: tensor<2x4xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %0:2 = \"stablehlo.all_reduce\"(%x, %y) <{replica_groups = dense<[[0, 1]]> : "
        "tensor<1x2xi64>}> " ADD " : (tensor<2x4xf32>, tensor<3xf32>) -> (tensor<2x4xf32>, "
        "tensor<3xf32>)\n  return %0#1 : tensor<3xf32>\n}\n";
    static const char bad[] =
        "func.func @main(%x: tensor<2x4xf32>, %y: tensor<3xf64>) -> tensor<3xf64> {\n"
        "  %0:2 = \"stablehlo.all_reduce\"(%x, %y) <{replica_groups = dense<[[0, 1]]> : "
        "tensor<1x2xi64>}> " ADD " : (tensor<2x4xf32>, tensor<3xf64>) -> (tensor<2x4xf32>, "
        "tensor<3xf64>)\n  return %0#1 : tensor<3xf64>\n}\n";
    lz_func *f;
    ck_assert_msg(lz_func_parse(good, strlen(good), "t", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    lz_func_free(f);
    ck_assert_int_eq(lz_func_parse(bad, strlen(bad), "t", &f), LZ_EPARSE);
    ck_assert(strstr(lz_error_get()->message, "all_reduce"));
}
END_TEST

/* Texts of matrices that nobody wrote so: bytes of the cache are not trusted. */
START_TEST(matrices)
{
    static const char *const bad[] = {"",
                                      "[]",
                                      "[[]]",
                                      "[[0,1]]",
                                      "[[0, 1]",
                                      "[[0, 1]]x",
                                      "[[0, 1], [2]]",
                                      "[[00, 1]]",
                                      "[[-0, 1]]",
                                      "[[+1, 2]]",
                                      "[[0 , 1]]",
                                      "[[1]], [[2]]",
                                      "[[99999999999999999999999, 1]]"};
    lz_groups g;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(lz_groups_read("op", "field", bad[i], &g, NULL, NULL) == LZ_EINVAL, "%s",
                      bad[i]);
    ck_assert_int_eq(lz_groups_read("op", "field", NULL, &g, NULL, NULL), LZ_EINVAL);
    ck_assert_int_eq(lz_groups_read("op", "field", "[[0, -1, 20], [3, 4, 5]]", &g, NULL, NULL),
                     LZ_OK);
    ck_assert_int_eq(g.rows, 2);
    ck_assert_int_eq(g.columns, 3);
}
END_TEST

/* The only device is number 0, and says so in both forms of text. */
START_TEST(places)
{
    static const char text[] = "func.func @main() -> (tensor<ui32>, tensor<ui32>) {\n"
                               "  %0 = stablehlo.replica_id : tensor<ui32>\n"
                               "  %1 = \"stablehlo.partition_id\"() : () -> tensor<ui32>\n"
                               "  return %0, %1 : tensor<ui32>, tensor<ui32>\n}\n";
    lz_func *f;
    lz_literal *out[2];
    lz_buf b = {0};
    ck_assert_int_eq(lz_func_parse(text, strlen(text), "t", &f), LZ_OK);
    ck_assert_int_eq(f->insts[0].sig->op, LZ_OP_REPLICA_ID);
    ck_assert_int_eq(f->insts[1].sig->op, LZ_OP_PARTITION_ID);
    lz_func_print(f, &b, 0);
    ck_assert(strstr(b.data, "stablehlo.partition_id : tensor<ui32>"));
    ck_assert_int_eq(lz_ref_run(f, NULL, out), LZ_OK);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(*(const uint32_t *)out[k]->data, 0);
        lz_literal_release(out[k]);
    }
    lz_buf_free(&b);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("collective");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, good_and_bad, 0, NROW);
    tcase_add_loop_test(t, not_alone, 0, NROW);
    tcase_add_test(t, several_operands);
    tcase_add_test(t, matrices);
    tcase_add_test(t, places);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
