/* t_fusion.c - which computations share a kernel: what training runs, counted; sizes do not matter;
 * wrong merges do not happen. */
#include "graphs.h"
#include "lower/fusion/fusion.h"
#include "base/config.h"
#include "ir/attr.h"
#include "lower/pass.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <string.h>

static lz_plan *lower(const lz_func *f)
{
    lz_plan *p = NULL;
    ck_assert_msg(f->status == LZ_OK && lz_lower(f, NULL, &p) == LZ_OK, "%s",
                  lz_error_get()->message);
    return p;
}

/* Kernels launched for a function, which is freed. */
static uint32_t steps_of(lz_func *f)
{
    lz_plan *p = lower(f);
    uint32_t n = p->nstep;
    lz_plan_free(p);
    lz_func_free(f);
    return n;
}

static lz_func *finish(lz_func *f, const lz_val *v, uint32_t n)
{
    ck_assert_msg(lz_func_set_results(f, v, n) == LZ_OK, "%s", lz_error_get()->message);
    return f;
}

static lz_func *softmax(int64_t m, int64_t n)
{
    lz_func *f = lz_func_new("softmax");
    lz_val y = g_softmax(f, g_param(f, LZ_F32, LZ_SHAPE(m, n)));
    return finish(f, &y, 1);
}

static lz_func *layer_norm(void)
{
    lz_func *f = lz_func_new("layer_norm");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(40, 33)), g = g_param(f, LZ_F32, LZ_SHAPE(33)),
           b = g_param(f, LZ_F32, LZ_SHAPE(33));
    lz_val y = g_layer_norm(f, x, g, b);
    return finish(f, &y, 1);
}

START_TEST(rows_are_one_kernel)
{
    ck_assert_int_eq(steps_of(softmax(30, 50)), 1);
    ck_assert_int_eq(steps_of(softmax(1, 50)), 1);
    ck_assert_int_eq(steps_of(layer_norm()), 1);
    /* log-softmax: the exponentials are only summed */
    lz_func *f = lz_func_new("log_softmax");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(9, 21)),
           c = g_sub(f, x, g_rows(f, g_reduce(f, LZ_OP_MAXIMUM, x, 1), x));
    lz_val s = g_reduce(f, LZ_OP_ADD, lz_build_ew1(f, LZ_OP_EXPONENTIAL, c), 1);
    lz_val y = g_sub(f, c, g_rows(f, lz_build_ew1(f, LZ_OP_LOG, s), x));
    lz_plan *p = lower(finish(f, &y, 1));
    ck_assert_int_eq(p->nstep, 1);
    ck_assert_int_eq(p->temp_bytes, 0);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* The exponentials of a softmax are made once and kept in the result's own memory. */
START_TEST(costly_values_are_made_once)
{
    lz_func *f = softmax(20, 100);
    lz_plan *p = lower(f);
    uint32_t exps = 0;
    for (uint32_t s = 0; s < p->kernels[0]->nstage; s++)
        for (uint32_t i = 0; i < p->kernels[0]->stages[s].nsop; i++)
            exps += p->kernels[0]->stages[s].sops[i].kind == LZ_S_EW &&
                    p->kernels[0]->stages[s].sops[i].op == LZ_OP_EXPONENTIAL;
    ck_assert_int_eq(exps, 1);
    ck_assert_int_eq(p->temp_bytes, 0);
    ck_assert(p->kernels[0]->vec == LZ_VEC_INNER);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

START_TEST(columns)
{
    lz_func *f = lz_func_new("columns");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(60, 40)), y = g_param(f, LZ_F32, LZ_SHAPE(60, 40));
    lz_val out[2] = {g_reduce(f, LZ_OP_ADD, x, 0), g_reduce(f, LZ_OP_ADD, g_mul(f, x, y), 0)};
    lz_plan *p = lower(finish(f, out, 2));
    ck_assert_int_eq(p->nstep, 1); /* both read x */
    ck_assert(p->kernels[0]->vec == LZ_VEC_OUTER);
    ck_assert_int_eq(p->kernels[0]->stages[0].nred, 2);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* Rotated halves (rotary embeddings): the concatenation is a choice between loads. */
START_TEST(rotation)
{
    lz_func *f = lz_func_new("rotation");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(20, 16)), c = g_param(f, LZ_F32, LZ_SHAPE(20, 16)),
           s = g_param(f, LZ_F32, LZ_SHAPE(20, 16));
    lz_attr_slice lo, hi;
    memset(&lo, 0, sizeof lo);
    lo.kind = LZ_ATTR_slice;
    lo.start_indices = g_dims(2, 0, 0);
    lo.limit_indices = g_dims(2, 20, 8);
    lo.strides = g_dims(2, 1, 1);
    hi = lo;
    hi.start_indices = g_dims(2, 0, 8);
    hi.limit_indices = g_dims(2, 20, 16);
    lz_attr_dim d = {LZ_ATTR_dim, 1};
    lz_val part[2] = {lz_build_ew1(f, LZ_OP_NEGATE, lz_build(f, LZ_OP_SLICE, G_RECORD(hi), &x, 1)),
                      lz_build(f, LZ_OP_SLICE, G_RECORD(lo), &x, 1)};
    lz_val y =
        g_add(f, g_mul(f, x, c), g_mul(f, lz_build(f, LZ_OP_CONCATENATE, G_RECORD(d), part, 2), s));
    ck_assert_int_eq(steps_of(finish(f, &y, 1)), 1);
}
END_TEST

static lz_func *adam(int n)
{
    lz_func *f = lz_func_new("adam");
    lz_val s[3], out[60], t[20][4];
    for (int i = 0; i < 3; i++)
        s[i] = g_param(f, LZ_F32, LZ_SCALAR);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            t[i][k] = g_param(f, LZ_F32, LZ_SHAPE(30 + 10 * i, 17));
    for (int i = 0; i < n; i++)
        g_adam(f, t[i][0], t[i][1], t[i][2], t[i][3], s, out + 3 * i);
    return finish(f, out, 3 * (uint32_t)n);
}

START_TEST(optimizer)
{
    lz_func *f = adam(5);
    bool donate[64];
    for (int i = 0; i < 64; i++)
        donate[i] = i >= 3;
    lz_lower_options o = {.donate = donate};
    lz_plan *p = NULL;
    ck_assert_int_eq(lz_lower(f, &o, &p), LZ_OK);
    ck_assert_int_eq(p->nstep, 5);
    ck_assert_int_eq(p->nkernel, 1); /* other sizes are other arguments */
    ck_assert_int_eq(p->temp_bytes, 0);
    for (uint32_t k = 0; k < p->nout;
         k++) { /* parameter, gradient, moments: each result in the place of what it replaces */
        static const int of[3] = {1, 2, 3};
        ck_assert_int_eq(p->out_alias[k], 3 + 4 * (int)(k / 3) + of[k % 3]);
    }
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

START_TEST(products)
{
    lz_func *f = lz_func_new("product");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(20, 30)), w = g_param(f, LZ_F32, LZ_SHAPE(30, 40)),
           b = g_param(f, LZ_F32, LZ_SHAPE(40));
    lz_val r = g_param(f, LZ_F32, LZ_SHAPE(20, 40)), d = g_dot(f, x, w, 1, 0);
    lz_val y = g_add(f, lz_build_ew1(f, LZ_OP_TANH, g_add(f, d, g_cols(f, b, d))), r);
    lz_plan *p = lower(finish(f, &y, 1));
    ck_assert_int_eq(p->nstep, 1);
    ck_assert(lz_kernel_is_dot(p->kernels[0]));
    lz_plan_free(p);
    lz_func_free(f);

    f = lz_func_new("prologue"); /* the factor is converted while it is packed */
    x = g_param(f, LZ_BF16, LZ_SHAPE(20, 30));
    w = g_param(f, LZ_F32, LZ_SHAPE(30, 40));
    y = g_dot(f, lz_build_convert(f, x, LZ_F32), w, 1, 0);
    p = lower(finish(f, &y, 1));
    ck_assert_int_eq(p->nstep, 1);
    ck_assert(lz_kernel_is_dot(p->kernels[0]));
    lz_plan_free(p);
    lz_func_free(f);

    f = lz_func_new("transposed"); /* stored the other way round: the sides are exchanged */
    x = g_param(f, LZ_F32, LZ_SHAPE(20, 30));
    w = g_param(f, LZ_F32, LZ_SHAPE(30, 40));
    lz_ints swap = g_dims(2, 1, 0);
    y = lz_build_transpose(f, g_dot(f, x, w, 1, 0), &swap);
    p = lower(finish(f, &y, 1));
    ck_assert_int_eq(p->nstep, 1);
    const lz_kernel *k = p->kernels[0];
    ck_assert(lz_kernel_is_dot(k));
    ck_assert_int_eq(k->stages[k->nstage - 1].stores[0].at.stride[lz_kernel_dot(k)->n].v, 1);
    lz_plan_free(p);
    lz_func_free(f);

    f = lz_func_new("vector"); /* a product against a vector is a reduction */
    x = g_param(f, LZ_F32, LZ_SHAPE(20, 30));
    w = g_param(f, LZ_F32, LZ_SHAPE(30));
    y = g_dot(f, x, w, 1, 0);
    p = lower(finish(f, &y, 1));
    ck_assert(!lz_kernel_is_dot(p->kernels[0]));
    ck_assert(p->kernels[0]->vec == LZ_VEC_INNER);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* What several kernels read as f32, and is of 16 bits, is stored in these. */
START_TEST(wider_values_are_stored_narrow)
{
    enum { M = 64, N = 48 };
    lz_func *f = lz_func_new("narrow");
    lz_val x = g_param(f, LZ_BF16, LZ_SHAPE(M, 32)), w = g_param(f, LZ_BF16, LZ_SHAPE(32, N));
    lz_val d = lz_build_convert(f, g_dot(f, x, w, 1, 0), LZ_BF16),
           v = lz_build_convert(f, d, LZ_F32), mean = g_reduce(f, LZ_OP_ADD, v, 0);
    lz_val far = g_sub(f, v, g_cols(f, mean, v));
    lz_val out[2] = {g_reduce(f, LZ_OP_ADD, g_mul(f, far, far), 0), g_mul(f, far, v)};
    lz_plan *p = lower(finish(f, out, 2));
    ck_assert_uint_ge(p->temp_bytes, M * N * 2);
    ck_assert_uint_lt(p->temp_bytes, M * N * 4);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

static bool has_kernel(const lz_plan *p, const lz_kernel *k)
{
    for (uint32_t i = 0; i < p->nkernel; i++)
        if (p->kernels[i]->nencoding == k->nencoding &&
            memcmp(p->kernels[i]->encoding, k->encoding, k->nencoding) == 0)
            return true;
    return false;
}

START_TEST(training_step)
{
    lz_func *f3 = g_mlp_step(3, 128, 96, 10), *f6 = g_mlp_step(6, 128, 96, 10),
            *batch = g_mlp_step(3, 77, 96, 10);
    lz_plan *p3 = lower(f3), *p6 = lower(f6), *pb = lower(batch);
    ck_assert_int_eq(p3->nstep, 13);
    ck_assert_int_eq(p6->nstep, 25);
    ck_assert_int_eq(p3->nkernel, 9);
    ck_assert_int_eq(p6->nkernel, 9); /* more layers, the same kernels */
    for (uint32_t i = 0; i < p3->nkernel; i++) {
        ck_assert(has_kernel(p6, p3->kernels[i]));
        ck_assert_msg(has_kernel(pb, p3->kernels[i]), "kernel %s depends on the batch size",
                      p3->kernels[i]->name);
    }
    lz_plan_free(p3);
    lz_plan_free(p6);
    lz_plan_free(pb);
    lz_func_free(f3);
    lz_func_free(f6);
    lz_func_free(batch);
}
END_TEST

/* A 3x3 window over images of w by w pixels and c features, moved by `stride`. */
static lz_plan *window_plan(int w, int c, int stride)
{
    char text[1024];
    int out = (w - 1) / stride + 1;
    lz_func *f = NULL;
    snprintf(
        text, sizeof text,
        "module { func.func public @main(%%x: tensor<8x%dx%dx%dxf32>, %%k: tensor<3x3x%dx%dxf32>)"
        " -> tensor<8x%dx%dx%dxf32> { %%v = stablehlo.convolution(%%x, %%k) dim_numbers = "
        "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [%d, %d], pad = [[1, 1], "
        "[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
        "(tensor<8x%dx%dx%dxf32>, tensor<3x3x%dx%dxf32>) -> tensor<8x%dx%dx%dxf32> "
        "return %%v : tensor<8x%dx%dx%dxf32> } }",
        w, w, c, c, 2 * c, out, out, 2 * c, stride, stride, w, w, c, c, 2 * c, out, out, 2 * c, out,
        out, 2 * c);
    ck_assert_msg(lz_func_parse(text, strlen(text), "window", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_plan *p = lower(f);
    lz_func_free(f);
    return p;
}

static const lz_kernel *product_of(const lz_plan *p)
{
    const lz_kernel *found = NULL;
    for (uint32_t i = 0; i < p->nkernel; i++)
        found = lz_kernel_is_dot(p->kernels[i]) ? p->kernels[i] : found;
    ck_assert_ptr_nonnull(found);
    return found;
}

/* The stages of a network for images, each with half as many pixels a side and twice the features,
 * have one product; but rows of 7 pixels, which nearly fill a tile, have their own. */
START_TEST(stages_of_images_share_products)
{
    lz_plan *p = window_plan(56, 32, 1), *q;
    for (int w = 28; w >= 3; w = w == 7 ? 3 : w / 2) {
        q = window_plan(w, 32, 1);
        ck_assert_msg(has_kernel(p, product_of(q)) == (w != 7), "%d pixels", w);
        lz_plan_free(q);
    }
    lz_plan_free(p);
    p = window_plan(64, 32, 2);
    for (int w = 32; w >= 4; w /= 2) {
        q = window_plan(w, 32, 2);
        ck_assert_msg(has_kernel(p, product_of(q)), "%d pixels, each second", w);
        lz_plan_free(q);
    }
    lz_plan_free(p);
}
END_TEST

/* A small step, against the reference. */
START_TEST(training_step_is_right)
{
    static const int64_t shapes[][4] = {
        {2, 5, 7, 3}, {3, 8, 16, 4}, {1, 3, 2, 2}, {2, 1, 5, 3}, {2, 33, 17, 1}};
    const int64_t *s = shapes[_i];
    lz_func *f = g_mlp_step((int)s[0], s[1], s[2], s[3]);
    lz_literal **args, *got[64];
    lz_expect *e;
    char msg[512];
    ck_assert_int_eq(lz_gen_args(f, 11, LZ_FILL_MODEST, &args), LZ_OK);
    for (uint32_t i = 5; i < f->nparam; i++) /* second moments are not negative */
        for (int64_t j = 0; j < args[i]->type->nelem; j++)
            ((float *)args[i]->data)[j] =
                __builtin_fabsf(((float *)args[i]->data)[j]) * 0.1f + 0.01f;
    ck_assert_int_eq(lz_expect_new(f, args, 0, &e), LZ_OK);
    lz_plan *p = lower(f);
    const void *in[64];
    void *out[64];
    for (uint32_t i = 0; i < f->nparam; i++)
        in[i] = args[i]->data;
    for (uint32_t k = 0; k < f->nresult; k++) {
        got[k] = lz_literal_new(lz_val_type(f, f->results[k]));
        out[k] = got[k]->data;
    }
    ck_assert_msg(lz_plan_run(p, in, out) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_msg(lz_expect_met(e, got, msg, sizeof msg), "%s", msg);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(got[k]);
    lz_expect_free(e);
    lz_gen_args_free(f, args);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* ---- products joined through rows ---- */

/* Batched product: dimension ca of a by cb of b, [batch, rows, cols] all. */
static lz_val batched(lz_func *f, lz_val a, lz_val b, int64_t ca, int64_t cb)
{
    lz_attr_any d;
    lz_attr_init(&d, LZ_ATTR_dot);
    d.as_dot.lhs_batching_dimensions.n = d.as_dot.rhs_batching_dimensions.n = 1;
    d.as_dot.lhs_contracting_dimensions = lz_ints_make(1, &ca);
    d.as_dot.rhs_contracting_dimensions = lz_ints_make(1, &cb);
    return lz_build(f, LZ_OP_DOT_GENERAL, &d.head, (lz_val[]){a, b}, 2);
}

/* v[b, i] in the shape of `like`, [b, i, j] */
static lz_val along(lz_func *f, lz_val v, lz_val like)
{
    return g_spread(f, v, g_dims(2, 0, 1), lz_val_type(f, like)->shape);
}

typedef struct attention {
    lz_func *f;
    lz_val q, k, v, e, sum, p, y;
} attention;

/* softmax of the scores, of those j <= i where it is causal, times the values */
static attention attend(int64_t heads, int64_t rows, int64_t cols, int64_t width, bool causal)
{
    attention a = {.f = lz_func_new("attention")};
    lz_func *f = a.f;
    a.q = g_param(f, LZ_F32, LZ_SHAPE(heads, rows, width));
    a.k = g_param(f, LZ_F32, LZ_SHAPE(heads, cols, width));
    a.v = g_param(f, LZ_F32, LZ_SHAPE(heads, cols, width));
    lz_val s = batched(f, g_mul(f, a.q, g_like(f, a.q, 0.125)), a.k, 2, 2);
    if (causal) {
        const lz_type *t = lz_type_get(LZ_I32, &lz_val_type(f, s)->shape);
        lz_val seen =
            lz_build_compare(f, LZ_CMP_LE, lz_build_iota(f, t, 2), lz_build_iota(f, t, 1));
        s = lz_build_select(f, seen, s, g_like(f, s, -3e38));
    }
    a.e = lz_build_ew1(f, LZ_OP_EXPONENTIAL,
                       g_sub(f, s, along(f, g_reduce(f, LZ_OP_MAXIMUM, s, 2), s)));
    a.sum = g_reduce(f, LZ_OP_ADD, a.e, 2);
    a.p = g_div(f, a.e, along(f, a.sum, s));
    a.y = batched(f, a.p, a.v, 2, 1);
    return a;
}

static lz_plan *with_rows(lz_func *f, lz_val *v, uint32_t n, lz_b2b_mode rows)
{
    lz_plan *p = NULL;
    lz_lower_options o = {.b2b = rows};
    finish(f, v, n);
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    lz_func_free(f);
    return p;
}

static void expect(lz_plan *p, uint32_t nstep, uint64_t temp_bytes)
{
    ck_assert_uint_eq(p->nstep, nstep);
    ck_assert_uint_eq(p->temp_bytes, temp_bytes);
    lz_plan_free(p);
}

/* Exponentials that the quotients read stay in a row of scratch memory: the result is written once,
 * and not read. */
START_TEST(softmax_keeps_a_row)
{
    for (int i = 0; i < 3; i++) {
        static const int64_t length[] = {100, 8192,
                                         8193}; /* the last is too long to stay in the caches */
        lz_func *f = lz_func_new("softmax");
        lz_val y = g_softmax(f, g_param(f, LZ_F32, LZ_SHAPE(20, length[i])));
        lz_plan *p = with_rows(f, &y, 1, LZ_B2B_PROFITABLE);
        const lz_kernel *k = p->kernels[0];
        ck_assert_uint_eq(p->nstep, 1);
        ck_assert_uint_eq(p->temp_bytes, 0);
        ck_assert_int_eq(lz_kernel_has_rows(k), i < 2);
        ck_assert(!lz_kernel_keeps_sums(k) && k->vec == LZ_VEC_INNER);
        for (uint32_t b = 0; b < k->nbuf; b++)
            ck_assert(i == 2 || k->buf[b].read != k->buf[b].written);
        lz_plan_free(p);
    }
}
END_TEST

/* Many softmaxes of one array, with as many rows as a stage can keep, and with more: those have
 * memory, but for one in the result's place. */
START_TEST(too_many_rows_go_to_memory)
{
    enum { ROWS = 20, LENGTH = 100 };
    static const int counts[] = {LZ_ROW_MAX, LZ_ROW_MAX + 1, 12};
    int n = counts[_i];
    lz_func *f = lz_func_new("many");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(ROWS, LENGTH)), y = LZ_NOVAL;
    for (int i = 0; i < n; i++) {
        lz_val e = lz_build_ew1(f, i % 2 ? LZ_OP_TANH : LZ_OP_EXPONENTIAL,
                                g_mul(f, x, lz_build_splat(f, lz_val_type(f, x), 1 + i)));
        lz_val q = g_div(f, e, g_rows(f, g_reduce(f, LZ_OP_ADD, e, 1), x));
        y = i ? g_add(f, y, q) : q;
    }
    lz_plan *p = with_rows(f, &y, 1, LZ_B2B_PROFITABLE);
    ck_assert_uint_eq(p->nkernel, 1);
    ck_assert_int_eq(lz_kernel_has_rows(p->kernels[0]), n <= LZ_ROW_MAX);
    expect(p, 1, n <= LZ_ROW_MAX ? 0 : (uint64_t)(n - 1) * ROWS * LENGTH * sizeof(float));
}
END_TEST

/* Of a cross entropy, exponentials that the gradient wants take the place of the logits, which are
 * read until the end: they are stored when the last stage has its row. */
START_TEST(rows_are_stored_at_the_end)
{
    enum { LOGITS = 4 * 30 * 100 };
    uint64_t bytes[2];
    for (int i = 0; i < 2; i++) {
        lz_func *f = lz_func_new("cross_entropy");
        lz_val a = g_param(f, LZ_F32, LZ_SHAPE(1, 30, 40)),
               b = g_param(f, LZ_F32, LZ_SHAPE(1, 40, 100)),
               w = g_param(f, LZ_F32, LZ_SHAPE(1, 30, 100)), logits = batched(f, a, b, 2, 1);
        lz_val c = g_sub(f, logits, along(f, g_reduce(f, LZ_OP_MAXIMUM, logits, 2), logits));
        lz_val e = lz_build_ew1(f, LZ_OP_EXPONENTIAL, c), sum = g_reduce(f, LZ_OP_ADD, e, 2);
        lz_val picked = g_mul(f, w, g_sub(f, c, along(f, lz_build_ew1(f, LZ_OP_LOG, sum), c)));
        lz_val loss = g_reduce(f, LZ_OP_ADD, picked, 2);
        lz_val out[2] = {loss,
                         batched(f, e, w, 1, 1)}; /* a product that reads them in another order */
        lz_plan *p = with_rows(f, out, 2, i ? LZ_B2B_PROFITABLE : LZ_B2B_NEVER);
        bytes[i] = p->temp_bytes;
        lz_plan_free(p);
    }
    ck_assert_uint_ge(bytes[0], 2 * LOGITS);
    ck_assert_uint_lt(bytes[1], LOGITS + LOGITS / 2);
}
END_TEST

/* One kernel and no memory between; without them scores and probabilities are in memory. */
START_TEST(attention_is_one_kernel)
{
    enum { SQUARE = 4 * 8 * 100 * 70 };
    attention a = attend(8, 100, 70, 40, _i);
    expect(with_rows(a.f, &a.y, 1, LZ_B2B_PROFITABLE), 1, 0);
    a = attend(8, 100, 70, 40, _i);
    expect(with_rows(a.f, &a.y, 1, LZ_B2B_NEVER), 3, 2 * SQUARE);
    lz_config_set("LAZULI_PASSES_OFF", "b2b");
    a = attend(8, 100, 70, 40, _i);
    expect(with_rows(a.f, &a.y, 1, LZ_B2B_PROFITABLE), 3, 2 * SQUARE);
    lz_config_set("LAZULI_PASSES_OFF", NULL);
    a = attend(8, 3, 70, 40,
               _i); /* few rows are not worth it; probabilities in the scores' place */
    expect(with_rows(a.f, &a.y, 1, LZ_B2B_PROFITABLE), 3, 4 * 8 * 3 * 70 + 0);
    a = attend(8, 3, 70, 40, _i);
    expect(with_rows(a.f, &a.y, 1, LZ_B2B_ALWAYS), 1, 0);
}
END_TEST

/* The kernel does not depend on the sizes. */
START_TEST(attention_of_other_sizes)
{
    attention a = attend(20, 100, 70, 40, true), b = attend(30, 256, 300, 64, true);
    lz_plan *p = with_rows(a.f, &a.y, 1, LZ_B2B_PROFITABLE),
            *q = with_rows(b.f, &b.y, 1, LZ_B2B_PROFITABLE);
    ck_assert_int_eq(p->nkernel, 1);
    ck_assert(has_kernel(q, p->kernels[0]));
    lz_plan_free(p);
    lz_plan_free(q);
}
END_TEST

/* With the gradients: the derivative of softmax joins the products around it, and the products over
 *   the queries stay by themselves. What they read is all that is in memory. */
START_TEST(gradient_of_attention)
{
    enum { SQUARE = 4 * 4 * 50 * 70 };
    attention a = attend(4, 50, 70, 40, true);
    lz_func *f = a.f;
    lz_val g = g_mul(f, a.y, a.y), dp = batched(f, g, a.v, 2, 2);
    lz_val delta = g_reduce(f, LZ_OP_ADD, g_mul(f, dp, a.p), 2);
    lz_val ds = g_mul(f, a.p, g_sub(f, dp, along(f, delta, dp)));
    lz_val out[4] = {a.y, batched(f, ds, a.k, 2, 1), batched(f, ds, a.q, 1, 1),
                     batched(f, a.p, g, 1, 1)};
    lz_plan *p = with_rows(f, out, 4, LZ_B2B_PROFITABLE);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < p->nkernel; i++)
        rows += lz_kernel_has_rows(p->kernels[i]);
    ck_assert_uint_eq(rows, 2);
    ck_assert_msg(p->temp_bytes <= 2 * SQUARE + 2 * 4 * 4 * 50 * 40, "%d", (int)p->temp_bytes);
    lz_plan_free(p);
}
END_TEST

/* Groups of a random function: no ring, every node in one group, reads inside a group are of the
 * point being computed. */
START_TEST(groups_are_sound)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        lz_gen_options o = {.max_insts = 40, .no_empty = true};
        lz_func *f = lz_gen_random(seed, &o), *g = NULL;
        lz_fusion *fu = NULL;
        ck_assert(f != NULL);
        ck_assert_int_eq(lz_passes_run(f, "pipeline", NULL, &g), LZ_OK);
        ck_assert_msg(lz_fusion_new(g, &(lz_lower_options){.b2b = (lz_b2b_mode)(seed % 3)}, &fu) ==
                          LZ_OK,
                      "seed %d: %s", (int)seed, lz_error_get()->message);
        for (uint32_t i = 0; i < fu->nnode; i++) {
            const lz_fusion_node *n = fu->nodes[i];
            ck_assert(!fu->groups[n->group]->dead);
            for (uint32_t k = 0; k < n->reads.len; k++)
                for (const uint32_t *w = fu->writers[n->reads.data[k].src]; w && *w != LZ_NONE;
                     w++) {
                    const lz_group *from = fu->groups[fu->nodes[*w]->group],
                                   *to = fu->groups[n->group];
                    ck_assert(from == to || from->rank < to->rank);
                    ck_assert(from != to || n->reads.data[k].map);
                }
        }
        lz_buf b = {0};
        lz_fusion_print(fu, &b);
        ck_assert(!b.failed);
        lz_buf_free(&b);
        lz_fusion_free(fu);
        lz_func_free(g);
        lz_func_free(f);
    }
}
END_TEST

/* Memory that is touched for the first time costs more than what is done in it: a read has as many
 * expressions as its value has dimensions, a kernel as many stages as it needs. */
START_TEST(lowering_takes_little_memory)
{
    lz_func *f = g_mlp_step(3, 128, 96, 10), *g = NULL;
    lz_fusion *fu = NULL;
    ck_assert_int_eq(lz_passes_run(f, "pipeline", NULL, &g), LZ_OK);
    ck_assert_int_eq(lz_fusion_new(g ? g : f, &(lz_lower_options){.b2b = LZ_B2B_PROFITABLE}, &fu),
                     LZ_OK);
    uint32_t dims = 0;
    for (uint32_t i = 0; i < fu->nnode; i++)
        for (uint32_t k = 0; k < fu->nodes[i]->reads.len; k++)
            dims += fu->nodes[i]->reads.data[k].map
                        ? (uint32_t)fu->nodes[i]->reads.data[k].map->rank + 1
                        : 0;
    ck_assert_uint_gt(dims, 20);
    ck_assert_uint_le(fu->maps.used, 2 * dims * sizeof(lz_ix));
    lz_fusion_free(fu);
    lz_plan *p = lower(f);
    for (uint32_t i = 0; i < p->nkernel; i++)
        if (p->kernels[i]->nstage == 1)
            ck_assert_uint_lt(p->kernels[i]->arena.used, LZ_STAGE_MAX * sizeof(lz_stage));
    lz_plan_free(p);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

/* ---- long columns ---- */

static int64_t points(const lz_plan *p, uint32_t step)
{
    const lz_kernel *k = p->kernels[p->steps[step].kernel];
    int64_t n = 1;
    for (uint32_t d = 0; d < k->nouter; d++)
        n *= k->outer[d].slot < 0 ? k->outer[d].v : p->steps[step].args[k->outer[d].slot];
    return n;
}

/* The sum of each of 64 features of a batch of images: 64 columns are not work for threads, unless
 * they are cut. */
START_TEST(long_columns_are_cut)
{
    lz_func *f = lz_func_new("sum");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(32, 16, 16, 64)), zero = g_param(f, LZ_F32, LZ_SCALAR);
    const lz_ints dims = {3, {0, 1, 2}};
    lz_val y = lz_build_reduce(f, LZ_OP_ADD, x, zero, &dims);
    lz_func_set_results(f, &y, 1);
    for (int cut = 0; cut < 2; cut++) {
        lz_lower_options o = {.column_reductions = cut};
        lz_plan *p;
        ck_assert_int_eq(lz_lower(f, &o, &p), LZ_OK);
        ck_assert_uint_eq(p->nstep, cut ? 2 : 1);
        ck_assert_int_ge(points(p, 0), cut ? 32 * 64 : 64);
        ck_assert_int_eq(points(p, p->nstep - 1), 64);
        lz_plan_free(p);
    }
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fusion");
    TCase *t = tcase_create("kernels");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, rows_are_one_kernel);
    tcase_add_test(t, long_columns_are_cut);
    tcase_add_test(t, softmax_keeps_a_row);
    tcase_add_test(t, rows_are_stored_at_the_end);
    tcase_add_loop_test(t, too_many_rows_go_to_memory, 0, 3);
    tcase_add_test(t, costly_values_are_made_once);
    tcase_add_test(t, columns);
    tcase_add_test(t, rotation);
    tcase_add_test(t, optimizer);
    tcase_add_test(t, products);
    tcase_add_test(t, wider_values_are_stored_narrow);
    tcase_add_test(t, training_step);
    tcase_add_test(t, stages_of_images_share_products);
    tcase_add_loop_test(t, training_step_is_right, 0, 5);
    tcase_add_loop_test(t, attention_is_one_kernel, 0, 2);
    tcase_add_test(t, attention_of_other_sizes);
    tcase_add_test(t, gradient_of_attention);
    tcase_add_test(t, groups_are_sound);
    tcase_add_test(t, lowering_takes_little_memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
