/* t_team.c - plans with collectives, run for several partitions in lock step by the loop-IR
 * interpreter, against the reference: every collective, dtype and form of groups; in loops and
 * branches; stored and read again; damaged. */
#include "ir/attr.h"
#include "ir/custom_call.h"
#include "ir/eval/eval_partitions.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/collectives.h"
#include "support/lit.h"
#include "support/partition_values.h"
#include <stdio.h>
#include <string.h>

enum { MOST = PARTITIONS_MAX };

/* ---- both ways ---- */

static lz_status run_plan(const lz_plan *p, int n, const values *in, values *out,
                          lz_collective_uses *uses)
{
    const void *from[MOST][VALUES + 1];
    void *to[MOST][VALUES];
    const void *const *in_rows[MOST];
    void *const *out_rows[MOST];
    for (int q = 0; q < n; q++) {
        for (uint32_t i = 0; i < p->nin; i++)
            from[q][i] = in->v[q][i]->data;
        for (uint32_t k = 0; k < p->nout; k++) {
            out->v[q][k] = lz_literal_new(p->out_type[k]);
            to[q][k] = out->v[q][k]->data;
        }
        in_rows[q] = from[q];
        out_rows[q] = to[q];
    }
    return lz_plan_run_partitions(p, in_rows, out_rows, uses);
}

/* in: with the number of the partition behind the parameters. */
static void compare_plan(const lz_func *f, int n, const values *in, const char *what, bool overlap)
{
    values want, got;
    lz_plan *p, *again;
    lz_buf bytes = {0}, print = {0}, print2 = {0};
    lz_collective_uses a = {0}, b = {0};
    lz_literal *const *const *args = (lz_literal *const *const *)in->row;
    rows_of(&want);
    rows_of(&got);
    ck_assert_msg(lz_ref_count_partitions(f, n, args, want.row, &a) == LZ_OK, "%s: %s", what,
                  lz_error_get()->message);
    lz_lower_options o = {.partitions = n, .overlap = overlap};
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s: %s", what, lz_error_get()->message);
    ck_assert_uint_eq(p->nin, f->nparam + p->numbered);
    ck_assert_int_eq(p->numbered, lz_func_has_partition_id(f));
    lz_plan_serialize(p, &bytes);
    ck_assert_msg(lz_plan_deserialize(bytes.data, bytes.len, &again) == LZ_OK, "%s: %s", what,
                  lz_error_get()->message);
    lz_plan_find_nodes(again, f);
    lz_plan_print(p, &print);
    lz_plan_print(again, &print2);
    ck_assert_str_eq(lz_buf_str(&print), lz_buf_str(&print2));
    ck_assert_msg(run_plan(again, n, in, &got, &b) == LZ_OK, "%s: %s", what,
                  lz_error_get()->message);
    compare_results(f, n, &got, &want, 0, what, print.data);
    compare_counts(&b, &a);
    lz_buf_free(&bytes);
    lz_buf_free(&print);
    lz_buf_free(&print2);
    release(&want);
    release(&got);
    lz_plan_free(p);
    lz_plan_free(again);
}

/* In lock step the start of a collective is all of it. */
static void compare(const lz_func *f, int n, const values *in, const char *what)
{
    compare_plan(f, n, in, what, false);
    compare_plan(f, n, in, what, true);
}

static void fill(lz_rnd *r, const lz_func *f, int n, values *in)
{
    fill_arguments(r, f, n, LZ_FILL_SPICED, in);
    for (int q = 0; q < n; q++)
        in->v[q][f->nparam] = lz_literal_scalar_i64(LZ_U32, q);
}

static const int64_t shapes[][2] = {{0, 8}, {8, 1}, {8, 24}, {24, 8}, {16, 704}};
enum { NSHAPE = (int)(sizeof shapes / sizeof *shapes) };

START_TEST(one_collective)
{
    lz_rnd r = {lz_test_seed() + (uint64_t)_i};
    const kind *k = &kinds[_i];
    int tried = 0;
    static const int counts[] = {1, 2, 4, 8};
    for (lz_dtype d = LZ_BOOL; d < LZ_DTYPE_COUNT; d++)
        for (int form = 0; form < NGROUPS; form++) {
            int n = counts[lz_rnd_range(&r, 0, 3)], s = (int)lz_rnd_range(&r, 0, NSHAPE - 1);
            int dim = (int)lz_rnd_range(&r, 0, 1), other = (int)lz_rnd_range(&r, 0, 1);
            char what[128];
            lz_shape shape = lz_shape_make(2, shapes[s]);
            values in;
            lz_func *f = program(k, lz_type_get(d, &shape), (groups)form, n, dim, other);
            snprintf(what, sizeof what, "%s %s %s, form %d, %d partitions, shape %d, dim %d %d",
                     lz_op_get(k->op)->text, lz_op_get(k->combiner)->text, lz_dtype_name(d), form,
                     n, s, dim, other);
            if (!f)
                continue;
            fill(&r, f, n, &in);
            compare(f, n, &in, what);
            release(&in);
            lz_func_free(f);
            tried++;
        }
    ck_assert_int_ge(tried, 4);
}
END_TEST

/* ---- control flow ---- */

#define CHANNEL                                                                                    \
    "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids"
#define SUM(x, t)                                                                                  \
    "\"stablehlo.all_reduce\"(" x ") ({\n ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"               \
    "  %s = stablehlo.add %a, %b : tensor<f32>\n  stablehlo.return %s : tensor<f32>\n})"           \
    " {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, " CHANNEL "} : (" t ") -> " t
#define V "tensor<3x5xf32>"

/* A counted loop and one that asks, a branch in it, partition_id in and out of regions. */
static const char *const programs[] = {
    "func.func @main(%n: tensor<i32>, %x: " V ") -> (" V ", tensor<i32>) {\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %0:3 = stablehlo.while(%i = %zero, %v = %x, %m = %n) : tensor<i32>, " V ", tensor<i32>\n"
    "  cond {\n    %c = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n  } do {\n"
    "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %half = stablehlo.constant dense<0.3> : " V "\n"
    "    %r = " SUM("%v", V) "\n    %h = stablehlo.multiply %r, %half : " V "\n"
                             "    %j = stablehlo.add %i, %one : tensor<i32>\n"
                             "    stablehlo.return %j, %h, %m : tensor<i32>, " V
                             ", tensor<i32>\n  }\n"
                             "  return %0#1, %0#0 : " V ", tensor<i32>\n}\n",

    "func.func @main(%n: tensor<i32>, %x: " V ") -> " V " {\n"
    "  %lim = stablehlo.constant dense<2000.0> : tensor<f32>\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %ab = stablehlo.multiply %x, %x : " V "\n"
    "  %two = stablehlo.constant dense<1.5> : " V "\n  %st = stablehlo.add %ab, %two : " V "\n"
    "  %0 = stablehlo.while(%v = %st) : " V "\n"
    "  cond {\n    %l = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = "
    "[0, 1] : (" V ", tensor<f32>) -> tensor<f32>\n"
    "    %r = " SUM("%l",
                    "tensor<f32>") "\n"
                                   "    %c = stablehlo.compare LT, %r, %lim : (tensor<f32>, "
                                   "tensor<f32>) -> tensor<i1>\n"
                                   "    stablehlo.return %c : tensor<i1>\n  } do {\n    %r = " SUM(
                                       "%v", V) "\n"
                                                "    stablehlo.return %r : " V
                                                "\n  }\n  return %0 : " V "\n}\n",

    "func.func @main(%n: tensor<i32>, %x: " V ") -> (" V ", tensor<ui32>) {\n"
    "  %one = stablehlo.constant dense<2> : tensor<i32>\n"
    "  %c = stablehlo.compare LT, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "  %p = stablehlo.partition_id : tensor<ui32>\n"
    "  %0 = \"stablehlo.if\"(%c) ({\n    %r = " SUM(
        "%x", V) "\n"
                 "    stablehlo.return %r : " V
                 "\n  }, {\n    %q = stablehlo.partition_id : tensor<ui32>\n"
                 "    %qf = stablehlo.convert %q : (tensor<ui32>) -> tensor<f32>\n"
                 "    %qb = stablehlo.broadcast_in_dim %qf, dims = [] : (tensor<f32>) -> " V "\n"
                 "    %y = stablehlo.add %x, %qb : " V
                 "\n    %r = " SUM("%y", V) "\n"
                                            "    %w = stablehlo.subtract %r, %y : " V "\n"
                                            "    stablehlo.return %w : " V
                                            "\n  }) : (tensor<i1>) -> " V "\n"
                                            "  return %0, %p : " V ", tensor<ui32>\n}\n",

    /* each its own way, as nobody meets there */
    "func.func @main(%n: tensor<i32>, %x: " V ") -> " V " {\n"
    "  %p = stablehlo.partition_id : tensor<ui32>\n"
    "  %zero = stablehlo.constant dense<0> : tensor<ui32>\n"
    "  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<ui32>, " V "\n"
    "  cond {\n    %c = stablehlo.compare LT, %i, %p : (tensor<ui32>, tensor<ui32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n  } do {\n"
    "    %one = stablehlo.constant dense<1> : tensor<ui32>\n"
    "    %h = stablehlo.add %v, %v : " V "\n    %j = stablehlo.add %i, %one : tensor<ui32>\n"
    "    stablehlo.return %j, %h : tensor<ui32>, " V "\n  }\n"
    "  %r = " SUM("%0#1", V) "\n  return %r : " V "\n}\n",
};
enum { NPROGRAM = (int)(sizeof programs / sizeof *programs) };

static lz_func *parse(const char *text)
{
    lz_func *f;
    ck_assert_msg(lz_func_parse(text, strlen(text), "t", &f) == LZ_OK, "%s\n%s",
                  lz_error_get()->message, text);
    return f;
}

START_TEST(in_control_flow)
{
    lz_rnd r = {lz_test_seed() + (uint64_t)_i};
    lz_func *f = parse(programs[_i]);
    for (int64_t n = 0; n < 6; n++) {
        values in;
        rows_of(&in);
        for (int q = 0; q < 4; q++) {
            in.v[q][0] = lz_literal_scalar_i64(LZ_I32, n);
            in.v[q][1] = lz_test_random(&r, lz_val_type(f, 1), LZ_FILL_MODEST);
            in.v[q][2] = lz_literal_scalar_i64(LZ_U32, q);
        }
        compare(f, 4, &in, "program");
        release(&in);
    }
    lz_func_free(f);
}
END_TEST

static lz_plan *plan_of(const lz_func *f, int n)
{
    lz_plan *p;
    lz_lower_options o = {.partitions = n};
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    return p;
}

/* Partitions that do not agree where they meet. */
START_TEST(disagree)
{
    lz_rnd r = {lz_test_seed()};
    for (int i = 0; i < 3; i += 2) {
        lz_func *f = parse(programs[i]);
        lz_plan *p = plan_of(f, 4);
        values in, out;
        rows_of(&in);
        rows_of(&out);
        for (int q = 0; q < 4; q++) {
            in.v[q][0] = lz_literal_scalar_i64(LZ_I32, q == 3 ? 1 : 3);
            in.v[q][1] = lz_test_random(&r, lz_val_type(f, 1), LZ_FILL_MODEST);
            in.v[q][2] = lz_literal_scalar_i64(LZ_U32, q);
        }
        ck_assert_int_eq(run_plan(p, 4, &in, &out, NULL), LZ_EINVAL);
        ck_assert(strstr(lz_error_get()->message, i ? "if" : "while"));
        ck_assert(strstr(lz_error_get()->message, "differ"));
        release(&in);
        release(&out);
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

/* ---- order, memory, refusals ---- */

/* Independent collectives stay in the order of the program, whatever the sizes. */
START_TEST(in_order)
{
    lz_func *f = lz_func_new("f");
    lz_val x[8], out[8];
    lz_attr_any a;
    kind k = {LZ_OP_ALL_REDUCE, LZ_OP_ADD};
    ck_assert(record(&k, LZ_F32, ALL, 2, 0, 0, &a));
    for (int i = 0; i < 8; i++) {
        lz_shape s = lz_shape_make(1, (int64_t[]){i % 3 * 1000 + 1 + i});
        x[i] = lz_build_param(f, lz_type_get(LZ_F32, &s));
    }
    for (int i = 0; i < 8; i++) /* into memory of our own, of which the smallest would come first */
        out[i] = lz_build(f, LZ_OP_ALL_REDUCE, &a.head, &x[7 - i], 1);
    const lz_ints d0 = lz_ints_make(1, (const int64_t[]){0});
    lz_val zero = lz_build_scalar(f, LZ_F32, 0);
    for (int i = 0; i < 8; i++)
        out[i] = lz_build_reduce(f, LZ_OP_ADD, out[i], zero, &d0);
    ck_assert_int_eq(lz_func_set_results(f, out, 8), LZ_OK);
    lz_plan *p = plan_of(f, 2);
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->nstep; i++)
        if (p->steps[i].kind == LZ_STEP_COLLECTIVE)
            ck_assert_ptr_eq(p->steps[i].collective->sig->opnd[0], lz_val_type(f, x[7 - at++]));
    ck_assert_uint_eq(at, 8);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* Two that know nothing of each other, but have an order: no kernel may make what the first reads
 * and read what the second makes. */
static const char *const ordered[] = {
    "\"stablehlo.all_reduce\"(%v) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):"
    " %s = stablehlo.add %a, %b : tensor<f32> stablehlo.return %s : tensor<f32> })"
    " {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids,"
    "  channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}"
    " : (tensor<1000xf32>) -> tensor<1000xf32>",
    "stablehlo.custom_call @f(%v) {has_side_effect = true} : (tensor<1000xf32>) -> "
    "tensor<1000xf32>"};

static void put_ordered(lz_buf *b, int what, const char *result, const char *operand)
{
    const char *at = strstr(ordered[what], "%v");
    lz_buf_printf(b, "%s = %.*s%s%s\n", result, (int)(at - ordered[what]), ordered[what], operand,
                  at + 2);
}

static lz_status never(const lz_ffi_call *call, void *user)
{
    (void)call, (void)user;
    return LZ_EINTERNAL;
}

START_TEST(kernels_keep_the_order)
{
    lz_buf b = {0};
    ck_assert_int_eq(lz_ffi_table_register("f", never, NULL), LZ_OK);
    lz_buf_puts(&b, "func.func @main(%x: tensor<1000xf32>, %w: tensor<1000xf32>) -> "
                    "(tensor<1000xf32>, tensor<1000xf32>) {"
                    "%y = stablehlo.exponential %x : tensor<1000xf32>\n");
    put_ordered(&b, _i, "%p", "%y");
    put_ordered(&b, _i, "%q", "%w");
    lz_buf_puts(&b, "%t = stablehlo.multiply %x, %x : tensor<1000xf32>\n"
                    "%u = stablehlo.add %t, %q : tensor<1000xf32>\n"
                    "return %p, %u : tensor<1000xf32>, tensor<1000xf32> }");
    lz_func *f = parse(lz_buf_str(&b));
    lz_plan_free(plan_of(f, _i ? 0 : 2));
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

/* A sum over partitions is made where its operand was, when nobody else wants that. */
START_TEST(in_place)
{
    lz_func *f = lz_func_new("f");
    lz_shape s = LZ_SHAPE(1000);
    lz_attr_any a;
    kind k = {LZ_OP_ALL_REDUCE, LZ_OP_ADD};
    ck_assert(record(&k, LZ_F32, ALL, 2, 0, 0, &a));
    lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &s)), y = lz_build_ew2(f, LZ_OP_ADD, x, x);
    lz_val z = lz_build(f, LZ_OP_ALL_REDUCE, &a.head, &y, 1);
    z = lz_build_ew1(f, LZ_OP_TANH, z);
    z = lz_build(f, LZ_OP_ALL_REDUCE, &a.head, &z, 1);
    z = lz_build_ew1(f, LZ_OP_TANH, z);
    ck_assert_int_eq(lz_func_set_results(f, &z, 1), LZ_OK);
    lz_plan *p = plan_of(f, 2);
    ck_assert_uint_le(p->temp_bytes, LZ_ALIGN_UP(4000, 64));
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* Groups in which nobody meets leave no step. */
START_TEST(alone)
{
    lz_rnd r = {lz_test_seed()};
    lz_shape s = LZ_SHAPE(8, 8);
    for (int i = 0; i < NKIND; i++) {
        lz_func *f = program(&kinds[i], lz_type_get(LZ_I32, &s), ALL, 1, 0, 1);
        if (!f)
            continue;
        lz_plan *p = plan_of(f, 1);
        ck_assert(!lz_plan_meets(p));
        values in;
        fill(&r, f, 1, &in);
        compare(f, 1, &in, "alone");
        release(&in);
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

static lz_plan *sample(int i, lz_buf *bytes)
{
    lz_func *f;
    lz_shape s = LZ_SHAPE(8, 16);
    f = i < NPROGRAM ? parse(programs[i])
                     : program(&kinds[i - NPROGRAM], lz_type_get(LZ_I32, &s), BACKWARDS, 4, 1, 0);
    lz_plan *p = plan_of(f, 4);
    lz_plan_serialize(p, bytes);
    lz_func_free(f);
    return p;
}

/* Damaged bytes are refused, or are a plan that the verifier has nothing against. */
START_TEST(damaged)
{
    lz_rnd r = {lz_test_seed() + (uint64_t)_i};
    lz_buf b = {0};
    lz_plan *p = sample(_i, &b), *q;
    ck_assert(!b.failed);
    for (size_t n = 0; n < b.len; n += 1 + b.len / 200)
        ck_assert_int_ne(lz_plan_deserialize(b.data, n, &q), LZ_OK);
    for (int k = 0; k < 600; k++) {
        size_t at = (size_t)lz_rnd_range(&r, 0, (int64_t)b.len - 1);
        char was = b.data[at];
        b.data[at] = (char)lz_rnd_u64(&r);
        lz_status s = lz_plan_deserialize(b.data, b.len, &q);
        ck_assert(s == LZ_OK || s == LZ_ECORRUPT || s == LZ_EUNSUPPORTED || s == LZ_ERANGE);
        if (s == LZ_OK)
            ck_assert_int_eq(lz_plan_verify(q), LZ_OK);
        lz_plan_free(s == LZ_OK ? q : NULL);
        b.data[at] = was;
    }
    lz_plan_free(p);
    lz_buf_free(&b);
}
END_TEST

/* Steps whose buffers do not fit, or write over what others read. */
START_TEST(mutated)
{
    lz_buf b = {0};
    lz_plan *p = sample(NPROGRAM + 10, &b); /* all_gather */
    lz_step *s = p->steps;
    while (s->kind != LZ_STEP_COLLECTIVE)
        s++;
    ck_assert_int_eq(lz_plan_verify(p), LZ_OK);
    lz_bufref was = s->bufs[0];
    s->bufs[0].nbytes /= 2;
    ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    s->bufs[0] = s->bufs[1];
    ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    s->bufs[0] = was;
    s->nbuf--;
    ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    s->nbuf++;
    s->bufs[0] = (lz_bufref){.kind = LZ_BUFREF_INPUT, .nbytes = was.nbytes};
    ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    s->bufs[0] = was;
    p->partitions = 0;
    ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    p->partitions = 4;
    ck_assert_int_eq(lz_plan_verify(p), LZ_OK);
    lz_plan_free(p);
    lz_buf_free(&b);
}
END_TEST

/* One device alone refuses, and exhausted memory leaks nothing. */
START_TEST(refused)
{
    lz_func *f = parse(programs[2]);
    lz_lower_options o = {.partitions = LZ_MAX_PARTITIONS + 1};
    lz_plan *p = NULL;
    ck_assert_int_eq(lz_lower(f, NULL, &p), LZ_EUNSUPPORTED);
    ck_assert_int_eq(lz_lower(f, &o, &p), LZ_ERANGE);
    o.partitions = 3; /* the groups are of 4 */
    ck_assert_int_eq(lz_lower(f, &o, &p), LZ_EINVAL);
    ck_assert_ptr_null(p);
    o.partitions = 4;
    lz_plan_free(plan_of(f, 4)); /* everything interned is there */
    int64_t live = lz_alloc_live_bytes_hint();
    lz_status s = LZ_EMEM;
    for (int64_t at = 1; s == LZ_EMEM; at += 1 + at / 40) {
        lz_alloc_fail_at(at, false);
        s = lz_lower(f, &o, &p);
        lz_alloc_fail_at(0, false);
        ck_assert(s == LZ_OK || s == LZ_EMEM);
        lz_plan_free(p);
        p = NULL;
    }
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("team");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, one_collective, 0, NKIND);
    tcase_add_loop_test(t, in_control_flow, 0, NPROGRAM);
    tcase_add_loop_test(t, damaged, 0, NPROGRAM + NKIND);
    tcase_add_test(t, disagree);
    tcase_add_test(t, in_order);
    tcase_add_loop_test(t, kernels_keep_the_order, 0, 2);
    tcase_add_test(t, in_place);
    tcase_add_test(t, alone);
    tcase_add_test(t, mutated);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
