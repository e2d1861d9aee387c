/* t_partitions.c - the reference of programs on several partitions: against the same program
 * written out for all participants (interpreter.run_parallel), in loops and branches, and what must
 * be refused. */
#include "ir/attr.h"
#include "ir/eval/eval_partitions.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <string.h>

enum { MOST = 8 };

#define CHANNEL "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
#define GLOBAL CHANNEL ", use_global_device_ids"
#define REGION(op, t)                                                                              \
    "({\n ^bb0(%a: tensor<" t ">, %b: tensor<" t ">):\n  %s = stablehlo." op " %a, %b : tensor<" t \
    ">\n  stablehlo.return %s : tensor<" t ">\n})"

typedef struct row {
    int n;
    const char *in, *out, *name, *attributes, *region;
} row;

static const row rows[] = {
    {4, "2x4xf32", "2x4xf32", "all_reduce",
     "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, " GLOBAL, REGION("add", "f32")},
    {4, "3x5xbf16", "3x5xbf16", "all_reduce",
     "replica_groups = dense<[[3, 1], [0, 2]]> : tensor<2x2xi64>, " GLOBAL, REGION("add", "bf16")},
    {3, "7xi32", "7xi32", "all_reduce",
     "replica_groups = dense<[[2, 0], [1, -1]]> : tensor<2x2xi64>, " GLOBAL,
     REGION("maximum", "i32")},
    {2, "0x3xf32", "0x3xf32", "all_reduce",
     "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, " GLOBAL, REGION("add", "f32")},
    {4, "2x3xf32", "4x3xf32", "all_gather",
     "all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0], [2, 3]]> : "
     "tensor<2x2xi64>, " GLOBAL,
     ""},
    {4, "2x3xf32", "2x12xf32", "all_gather",
     "all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, " GLOBAL,
     ""},
    {4, "4x6xf32", "2x6xf32", "reduce_scatter",
     "replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>, scatter_dimension = 0 : "
     "i64, " GLOBAL,
     REGION("add", "f32")},
    {3, "4x6xf32", "4x2xf32", "reduce_scatter",
     "replica_groups = dense<[[0, 2, 1]]> : tensor<1x3xi64>, scatter_dimension = 1 : i64, " GLOBAL,
     REGION("minimum", "f32")},
    {4, "4x6xf32", "2x12xf32", "all_to_all",
     "concat_dimension = 1 : i64, replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>, "
     "split_count = 2 : i64, split_dimension = 0 : i64, " CHANNEL,
     ""},
    {3, "4x6xi16", "4x6xi16", "all_to_all",
     "concat_dimension = 1 : i64, replica_groups = dense<[[0, 2, 1]]> : tensor<1x3xi64>, "
     "split_count = 3 : i64, split_dimension = 1 : i64, " CHANNEL,
     ""},
    {4, "2xf64", "2xf64", "collective_permute",
     "source_target_pairs = dense<[[0, 1], [1, 2], [3, 3]]> : tensor<3x2xi64>, " CHANNEL, ""},
    {4, "2xf64", "2xf64", "collective_broadcast",
     "replica_groups = dense<[[2, 1], [3, 0]]> : tensor<2x2xi64>, " CHANNEL, ""},
    {4, "2xf64", "2xf64", "collective_broadcast",
     "replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>, " CHANNEL, ""},
};
enum { NROW = (int)(sizeof rows / sizeof *rows) };

static lz_func *parse(const char *text, const char *entry)
{
    lz_func *f = NULL;
    ck_assert_msg(lz_func_parse_entry(text, strlen(text), "t", entry, &f) == LZ_OK, "%s: %s", text,
                  lz_error_get()->message);
    return f;
}

static void list(lz_buf *b, const char *item, int n)
{
    for (int i = 0; i < n; i++)
        lz_buf_printf(b, "%s%s", i ? ", " : "", item);
}

/* @f, and @main that runs it as n participants. */
static void text_of(const row *r, lz_buf *b)
{
    char in[32], out[32];
    snprintf(in, sizeof in, "tensor<%s>", r->in);
    snprintf(out, sizeof out, "tensor<%s>", r->out);
    lz_buf_printf(
        b,
        "func.func @f(%%x: %s) -> %s {\n  %%0 = \"stablehlo.%s\"(%%x) %s {%s} : (%s) -> %s\n"
        "  return %%0 : %s\n}\nfunc.func @main(",
        in, out, r->name, r->region, r->attributes, in, out, out);
    for (int i = 0; i < r->n; i++)
        lz_buf_printf(b, "%s%%x%d: %s", i ? ", " : "", i, in);
    lz_buf_puts(b, ") -> (");
    list(b, out, r->n);
    lz_buf_printf(b, ") {\n  %%0:%d = \"interpreter.run_parallel\"(", r->n);
    for (int i = 0; i < r->n; i++)
        lz_buf_printf(b, "%s%%x%d", i ? ", " : "", i);
    lz_buf_puts(b, ") {programs=[[");
    list(b, "@f", r->n);
    lz_buf_puts(b, "]]} : (");
    list(b, in, r->n);
    lz_buf_puts(b, ") -> (");
    list(b, out, r->n);
    lz_buf_puts(b, ")\n  return ");
    for (int i = 0; i < r->n; i++)
        lz_buf_printf(b, "%s%%0#%d", i ? ", " : "", i);
    lz_buf_puts(b, " : ");
    list(b, out, r->n);
    lz_buf_puts(b, "\n}\n");
}

static lz_literal *values(const lz_type *t, int salt)
{
    lz_literal *l = lz_literal_new(t);
    for (int64_t i = 0; i < t->nelem; i++)
        lz_elem_set_f64(t->dtype, l->data, i, (double)((i * 7 + salt * 13) % 41) / 3 - 5);
    return l;
}

/* What n partitions give, in two ways. */
START_TEST(as_written_out)
{
    const row *r = &rows[_i];
    lz_buf b = {0};
    lz_literal *x[MOST], **args[MOST], *got[MOST], **results[MOST], *want[MOST];
    text_of(r, &b);
    lz_func *all = parse(lz_buf_str(&b), "main");
    lz_func *f = parse(lz_buf_str(&b), "f");
    const lz_type *t = lz_val_type(all, 0);
    for (int i = 0; i < r->n; i++) {
        x[i] = values(t, i);
        args[i] = &x[i];
        results[i] = &got[i];
    }
    ck_assert_msg(lz_ref_run(all, x, want) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_msg(lz_ref_run_partitions(f, r->n, (lz_literal *const *const *)args, results) ==
                      LZ_OK,
                  "%s", lz_error_get()->message);
    for (int i = 0; i < r->n; i++) {
        ck_assert_msg(lz_literal_eq(got[i], want[i]), "%s: partition %d", r->name, i);
        lz_literal_release(got[i]);
        lz_literal_release(want[i]);
        lz_literal_release(x[i]);
    }
    lz_func_free(f);
    lz_func_free(all);
    lz_buf_free(&b);
}
END_TEST

/* ---- control flow ---- */

static const char loop[] =
    "func.func @main(%n: tensor<i32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>) {\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %0:3 = stablehlo.while(%i = %zero, %v = %x, %m = %n) : tensor<i32>, tensor<2xf32>, "
    "tensor<i32>\n"
    "  cond {\n    %c = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n  } do {\n"
    "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %s = \"stablehlo.all_reduce\"(%v) " REGION(
        "add",
        "f32") " {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, " GLOBAL
               "} : (tensor<2xf32>) -> tensor<2xf32>\n"
               "    %j = stablehlo.add %i, %one : tensor<i32>\n"
               "    stablehlo.return %j, %s, %m : tensor<i32>, tensor<2xf32>, tensor<i32>\n  }\n"
               "  %p = stablehlo.partition_id : tensor<ui32>\n"
               "  return %0#1, %p : tensor<2xf32>, tensor<ui32>\n}\n";

START_TEST(in_loops)
{
    lz_func *f = parse(loop, NULL);
    lz_literal *arg[3][2], *got[3][2], **results[3] = {got[0], got[1], got[2]};
    lz_literal *const *const args[3] = {arg[0], arg[1], arg[2]};
    lz_collective_uses uses = {0};
    for (int i = 0; i < 3; i++) {
        arg[i][0] = lz_literal_scalar_i64(LZ_I32, 3);
        arg[i][1] = lz_test_lit(LZ_F32, LZ_SHAPE(2), i, 1);
    }
    ck_assert_msg(lz_ref_count_partitions(f, 3, args, results, &uses) == LZ_OK, "%s",
                  lz_error_get()->message);
    for (int i = 0; i < 3; i++) {
        const float *v = got[i][0]->data;
        ck_assert(v[0] == 27 && v[1] == 27);
        ck_assert_uint_eq(*(const uint32_t *)got[i][1]->data, (unsigned)i);
        lz_literal_release(got[i][0]);
        lz_literal_release(got[i][1]);
    }
    ck_assert_uint_eq(uses.len, 1);
    ck_assert_uint_eq(uses.data[0].executions, 3);
    ck_assert_uint_eq(uses.data[0].group_size, 3);
    /* partitions that do not agree how often */
    lz_literal_release(arg[2][0]);
    arg[2][0] = lz_literal_scalar_i64(LZ_I32, 2);
    ck_assert_int_eq(lz_ref_run_partitions(f, 3, args, results), LZ_EINVAL);
    ck_assert(strstr(lz_error_get()->message, "while"));
    ck_assert_ptr_null(got[0][0]);
    for (int i = 0; i < 3; i++) {
        lz_literal_release(arg[i][0]);
        lz_literal_release(arg[i][1]);
    }
    lz_vec_free(&uses);
    lz_func_free(f);
}
END_TEST

/* Partitions under other numbers give what they gave. */
START_TEST(renumbered)
{
    const row *r = &rows[_i];
    lz_buf b = {0};
    lz_literal *x[MOST], **args[MOST], *got[MOST], **results[MOST], *same[MOST], **others[MOST];
    lz_literal *const *moved[MOST];
    int64_t to[MOST];
    lz_func *g;
    text_of(r, &b);
    lz_func *f = parse(lz_buf_str(&b), "f");
    for (int i = 0; i < r->n; i++) {
        to[i] = (i * (r->n - 1) + 1) % r->n; /* backwards, from 1 on */
        x[i] = values(lz_val_type(f, 0), i);
        args[i] = &x[i];
        results[i] = &got[i];
        moved[to[i]] = &x[i];
        others[to[i]] = &same[i];
    }
    ck_assert_msg(lz_func_renumber_partitions(f, to, r->n, &g) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_ref_run_partitions(f, r->n, (lz_literal *const *const *)args, results),
                     LZ_OK);
    ck_assert_int_eq(lz_ref_run_partitions(g, r->n, moved, others), LZ_OK);
    for (int i = 0; i < r->n; i++) {
        ck_assert_msg(lz_literal_eq(got[i], same[i]), "%s: partition %d", r->name, i);
        lz_literal_release(got[i]);
        lz_literal_release(same[i]);
        lz_literal_release(x[i]);
    }
    lz_func_free(g);
    ck_assert_int_eq(lz_func_renumber_partitions(f, to, 1, &g), LZ_ERANGE);
    lz_func_free(f);
    lz_buf_free(&b);
    f = parse(loop, NULL);
    ck_assert_int_eq(lz_func_renumber_partitions(f, to, 4, &g), LZ_EUNSUPPORTED); /* partition_id */
    lz_func_free(f);
}
END_TEST

/* Where nobody meets, each goes its own way, and knows its number there. */
START_TEST(apart)
{
    static const char text[] =
        "func.func @main(%x: tensor<ui32>) -> tensor<ui32> {\n"
        "  %p = stablehlo.partition_id : tensor<ui32>\n"
        "  %one = stablehlo.constant dense<1> : tensor<ui32>\n"
        "  %c = stablehlo.compare GT, %p, %one : (tensor<ui32>, tensor<ui32>) -> tensor<i1>\n"
        "  %0 = \"stablehlo.if\"(%c) ({\n    %q = stablehlo.partition_id : tensor<ui32>\n"
        "    stablehlo.return %q : tensor<ui32>\n  }, {\n    stablehlo.return %x : tensor<ui32>\n"
        "  }) : (tensor<i1>) -> tensor<ui32>\n  return %0 : tensor<ui32>\n}\n";
    lz_func *f = parse(text, NULL);
    lz_literal *x = lz_literal_scalar_i64(LZ_U32, 77), *got[4];
    lz_literal **results[4] = {&got[0], &got[1], &got[2], &got[3]};
    lz_literal *const *const args[4] = {&x, &x, &x, &x};
    ck_assert_msg(lz_ref_run_partitions(f, 4, args, results) == LZ_OK, "%s",
                  lz_error_get()->message);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(*(const uint32_t *)got[i]->data, i > 1 ? i : 77);
        lz_literal_release(got[i]);
    }
    lz_literal_release(x);
    lz_func_free(f);
}
END_TEST

/* Groups that name replicas, of which there is one: with a channel all its partitions, else each
 * partition for itself. No text: all. */
START_TEST(of_replicas)
{
    static const struct {
        int64_t channel;
        const char *text;
        int64_t participants;
    } how[] = {{1, "[[0]]", 3}, {0, "[[0]]", 1}, {0, "[[0, 1, 2]]", -1}};
    for (int c = 0; c < 3; c++) {
        lz_func *f = lz_func_new("f");
        lz_attr_any a;
        lz_attr_init(&a, LZ_ATTR_all_gather);
        a.as_all_gather.channel_id = how[c].channel;
        a.as_all_gather.replica_groups = lz_string_get(how[c].text, strlen(how[c].text));
        a.as_all_gather.participants = how[c].participants < 0 ? 3 : how[c].participants;
        lz_shape shape = LZ_SHAPE(2);
        lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &shape));
        lz_val y = lz_build(f, LZ_OP_ALL_GATHER, &a.head, &x, 1);
        ck_assert_int_eq(lz_func_set_results(f, &y, 1), LZ_OK);
        lz_literal *v[3], *got[3], **results[3] = {&got[0], &got[1], &got[2]};
        lz_literal *const *const args[3] = {&v[0], &v[1], &v[2]};
        for (int i = 0; i < 3; i++)
            v[i] = lz_test_lit(LZ_F32, LZ_SHAPE(2), i, 10 + i);
        lz_status s = lz_ref_run_partitions(f, 3, args, results);
        ck_assert_int_eq(s, how[c].participants < 0 ? LZ_EINVAL : LZ_OK);
        for (int i = 0; i < 3 && s == LZ_OK; i++) {
            const float *g = got[i]->data;
            ck_assert(g[0] == (how[c].channel ? 0 : i) && g[1] == (how[c].channel ? 10 : 10 + i));
            lz_literal_release(got[i]);
        }
        for (int i = 0; i < 3; i++)
            lz_literal_release(v[i]);
        lz_func_free(f);
    }
}
END_TEST

/* Groups that do not fit the partitions, and exhausted memory. */
START_TEST(refused)
{
    const row *r = &rows[_i];
    lz_buf b = {0};
    lz_literal *got[MOST], **results[MOST], *x[MOST], **args[MOST];
    text_of(r, &b);
    lz_func *f = parse(lz_buf_str(&b), "f");
    for (int i = 0; i < MOST; i++) {
        x[i] = values(lz_val_type(f, 0), i);
        args[i] = &x[i];
        results[i] = &got[i];
    }
    int64_t live = lz_alloc_live_bytes_hint();
    lz_status s = LZ_EMEM;
    for (int64_t at = 1; s == LZ_EMEM; at++) {
        lz_alloc_fail_at(at, false);
        s = lz_ref_run_partitions(f, r->n, (lz_literal *const *const *)args, results);
        lz_alloc_fail_at(0, false);
        ck_assert(s == LZ_OK || s == LZ_EMEM);
        for (int i = 0; i < r->n; i++) {
            ck_assert(s == LZ_OK || !got[i]);
            lz_literal_release(s == LZ_OK ? got[i] : NULL);
        }
    }
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    s = lz_ref_run_partitions(f, 1, (lz_literal *const *const *)args, results);
    ck_assert_int_eq(s, LZ_EINVAL);
    ck_assert(strstr(lz_error_get()->message, r->name));
    ck_assert_int_eq(lz_ref_run_partitions(f, 0, (lz_literal *const *const *)args, results),
                     LZ_ERANGE);
    for (int i = 0; i < MOST; i++)
        lz_literal_release(x[i]);
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("partitions");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, as_written_out, 0, NROW);
    tcase_add_loop_test(t, refused, 0, NROW);
    tcase_add_loop_test(t, renumbered, 0, NROW);
    tcase_add_test(t, of_replicas);
    tcase_add_test(t, in_loops);
    tcase_add_test(t, apart);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
