/* d_products.c - matrix products on the CUDA device, on the library that stands in for the driver:
 * every type that has instructions of its own and those that have not, factors stored either way
 * round, edges, odd pitches, batches, prologues and epilogues, against the reference. And what
 * NVIDIA's assembler, where it is installed, makes of the same kernels: no register may be spilt,
 * and the counts stay within a budget. */
#include "backends/backend.h"
#include "codegen/gpu/simt.h"
#include "ir/module.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/assembler.h"
#include "support/expect.h"
#include "support/gen.h"
#include "support/mock.h"
#include "mock/cuda_mock.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum before { AS_IT_IS, RELU, FROM_F32 /* converted from f32 */ } before;
typedef enum after { NOTHING, BIAS_TANH, NARROW /* converted to the factors' type */ } after;

typedef struct product {
    const char *in, *out; /* types of the factors, of the result */
    int batch, m, n, k;
    bool ta, tb; /* the left factor is stored [k, m]; the right one [n, k] */
    before before;
    after after;
    const char *schedule;
} product;

#define TENSOR "gemm_mma"
static const product products[] = {
    {"bf16", "f32", 0, 200, 150, 70, false, false, AS_IT_IS, NOTHING, TENSOR},
    {"bf16", "f32", 0, 136, 264, 96, false, true, AS_IT_IS, NOTHING, TENSOR},
    {"bf16", "f32", 0, 136, 136, 40, true, false, AS_IT_IS, NOTHING, TENSOR},
    {"bf16", "bf16", 0, 72, 200, 128, true, true, AS_IT_IS, NARROW, TENSOR},
    {"bf16", "f32", 3, 40, 56, 24, false, false, AS_IT_IS, BIAS_TANH, TENSOR},
    {"bf16", "bf16", 0, 64, 72, 80, false, false, RELU, BIAS_TANH, TENSOR},
    {"bf16", "bf16", 0, 64, 72, 80, false, true, FROM_F32, NARROW, TENSOR},
    {"bf16", "f32", 0, 63, 65, 81, true, false, RELU, NOTHING, TENSOR},
    {"bf16", "f32", 0, 12, 10, 300, false, false, AS_IT_IS, NOTHING, TENSOR},
    {"f16", "f32", 0, 130, 129, 65, false, true, AS_IT_IS, NOTHING, TENSOR},
    {"f16", "f16", 2, 136, 40, 33, true, false, AS_IT_IS, NARROW, TENSOR},
    {"i8", "i32", 0, 140, 136, 144, false, true, AS_IT_IS, NOTHING, TENSOR},
    {"i8", "i32", 2, 33, 65, 50, false, false, AS_IT_IS, NOTHING, TENSOR},
    {"ui8", "i32", 0, 40, 40, 100, true, false, AS_IT_IS, NOTHING, TENSOR},
    {"f64", "f64", 0, 70, 66, 34, false, false, AS_IT_IS, NOTHING, TENSOR},
    {"f64", "f64", 0, 64, 80, 33, true, true, AS_IT_IS, BIAS_TANH, TENSOR},
    {"f64", "f64", 2, 40, 34, 18, false, true, RELU, NOTHING, TENSOR},
    {"f32", "f32", 0, 200, 150, 70, false, false, AS_IT_IS, NOTHING, "gemm_fma"},
    {"f32", "f32", 0, 136, 264, 96, false, true, AS_IT_IS, BIAS_TANH, "gemm_fma"},
    {"f32", "f32", 0, 133, 131, 41, true, false, AS_IT_IS, NOTHING, "gemm_fma"},
    {"f32", "f32", 3, 40, 56, 24, true, true, RELU, NOTHING, "gemm_fma"},
    {"f32", "f32", 0, 16, 300, 17, false, false, AS_IT_IS, NOTHING, "gemm_fma"},
    {"i32", "i32", 0, 70, 66, 34, false, true, AS_IT_IS, NOTHING, "gemm_fma"},
    {"i64", "i64", 0, 70, 66, 34, false, false, AS_IT_IS, NOTHING, "gemm_fma"},
    {"bf16", "bf16", 0, 130, 200, 130, false, true, RELU, BIAS_TANH, TENSOR},
    {"f16", "f16", 2, 130, 201, 129, true, false, FROM_F32, NARROW, TENSOR},
    {"bf16", "f32", 0, 131, 330, 200, true, true, AS_IT_IS, BIAS_TANH, TENSOR},
    /* few tiles and a long k, which is divided */
    {"bf16", "f32", 0, 72, 200, 1400, false, false, AS_IT_IS, NOTHING, TENSOR},
    {"bf16", "bf16", 2, 40, 57, 801, true, false, RELU, NARROW, TENSOR},
    {"i8", "i32", 0, 33, 65, 2500, false, true, AS_IT_IS, NOTHING, TENSOR},
    {"i8", "i32", 0, 12, 10, 3000, false, false, AS_IT_IS, NOTHING, TENSOR},
    {"f64", "f64", 0, 34, 30, 400, false, false, AS_IT_IS, BIAS_TANH, TENSOR},
    {"f32", "f32", 0, 70, 33, 901, true, true, AS_IT_IS, BIAS_TANH, "gemm_fma"},
    {"i64", "i64", 3, 40, 34, 340, false, false, AS_IT_IS, NOTHING, "gemm_fma"},
    /* factors that can be copied as boxes, but for the odd pitch of one */
    {"bf16", "f32", 0, 136, 264, 200, true, false, AS_IT_IS, NOTHING, TENSOR},
    {"f16", "f16", 2, 264, 264, 72, false, false, AS_IT_IS, NARROW, TENSOR},
    {"bf16", "f32", 0, 1032, 136, 16, false, true, AS_IT_IS, NOTHING, TENSOR},
    {"f16", "f16", 2, 136, 264, 72, true, true, AS_IT_IS, BIAS_TANH, TENSOR},
    {"bf16", "f32", 0, 72, 203, 1400, false, false, AS_IT_IS, NOTHING, TENSOR},
    /* whole chunks, for single threads: rows, columns and k end within a tile */
    {"f32", "f32", 0, 200, 152, 72, false, false, AS_IT_IS, NOTHING, "gemm_fma"},
    {"f32", "f32", 0, 133, 260, 44, false, true, AS_IT_IS, NOTHING, "gemm_fma"},
    {"f32", "f32", 2, 140, 132, 36, true, false, AS_IT_IS, BIAS_TANH, "gemm_fma"},
    {"f32", "f32", 0, 72, 135, 100, true, true, AS_IT_IS, NOTHING, "gemm_fma"},
    {"f32", "f32", 0, 72, 36, 1204, false, false, AS_IT_IS, NOTHING, "gemm_fma"},
    {"f32", "f32", 0, 132, 12, 100, false, true, AS_IT_IS, NOTHING,
     "gemm_fma"}, /* narrow: 3 parts */
    {"i32", "i32", 0, 36, 68, 20, false, false, AS_IT_IS, NOTHING, "gemm_fma"},
    {"i64", "i64", 0, 66, 70, 38, false, true, AS_IT_IS, NOTHING, "gemm_fma"},
};
enum { PRODUCTS = sizeof products / sizeof *products, SHORT_K = 300 };

/* ---- as programs ---- */

static void type(lz_buf *b, int batch, int rows, int columns, const char *elem)
{
    lz_buf_puts(b, "tensor<");
    if (batch)
        lz_buf_printf(b, "%dx", batch);
    lz_buf_printf(b, "%dx%dx%s>", rows, columns, elem);
}

static void left(lz_buf *b, const product *p, const char *elem)
{
    type(b, p->batch, p->ta ? p->k : p->m, p->ta ? p->m : p->k, elem);
}

static void right(lz_buf *b, const product *p, const char *elem)
{
    type(b, p->batch, p->tb ? p->n : p->k, p->tb ? p->k : p->n, elem);
}

static void prologue(lz_buf *b, const product *p, char name,
                     void (*t)(lz_buf *, const product *, const char *))
{
    if (p->before == RELU) {
        lz_buf_printf(b, "  %%%c0 = stablehlo.constant dense<0.0> : ", name);
        t(b, p, p->in);
        lz_buf_printf(b, "\n  %%%c1 = stablehlo.maximum %%%c, %%%c0 : ", name, name, name);
        t(b, p, p->in);
    } else if (p->before == FROM_F32) {
        lz_buf_printf(b, "  %%%c1 = stablehlo.convert %%%c : (", name, name);
        t(b, p, "f32");
        lz_buf_puts(b, ") -> ");
        t(b, p, p->in);
    }
    lz_buf_puts(b, "\n");
}

static void epilogue(lz_buf *b, const product *p, const char *sum)
{
    if (p->after == NARROW) {
        lz_buf_puts(b, "  %r = stablehlo.convert %d : (");
        type(b, p->batch, p->m, p->n, sum);
        lz_buf_puts(b, ") -> ");
    } else if (p->after == BIAS_TANH) {
        lz_buf_printf(b,
                      "  %%w = stablehlo.broadcast_in_dim %%v, dims = [%d] : (tensor<%dx%s>) -> ",
                      p->batch ? 2 : 1, p->n, sum);
        type(b, p->batch, p->m, p->n, sum);
        lz_buf_puts(b, "\n  %s = stablehlo.add %d, %w : ");
        type(b, p->batch, p->m, p->n, sum);
        lz_buf_puts(b, "\n  %r = stablehlo.tanh %s : ");
    }
    if (p->after != NOTHING)
        type(b, p->batch, p->m, p->n, p->after == NARROW ? p->out : sum);
    lz_buf_puts(b, "\n");
}

static lz_func *program(const product *p)
{
    lz_buf b = {0};
    lz_func *f = NULL;
    bool plain = p->before == AS_IT_IS;
    const char *from = p->before == FROM_F32 ? "f32" : p->in,
               *sum = p->after == NARROW ? "f32" : p->out;
    lz_buf_puts(&b, "func.func @main(%a: ");
    left(&b, p, from);
    lz_buf_puts(&b, ", %b: ");
    right(&b, p, from);
    lz_buf_printf(&b, ", %%v: tensor<%dx%s>) -> ", p->n, sum);
    type(&b, p->batch, p->m, p->n, p->out);
    lz_buf_puts(&b, " {\n");
    prologue(&b, p, 'a', left);
    prologue(&b, p, 'b', right);
    int first = p->batch ? 1 : 0;
    lz_buf_printf(&b, "  %%d = stablehlo.dot_general %s, %s, ", plain ? "%a" : "%a1",
                  plain ? "%b" : "%b1");
    if (p->batch)
        lz_buf_puts(&b, "batching_dims = [0] x [0], ");
    lz_buf_printf(&b, "contracting_dims = [%d] x [%d] : (", first + !p->ta, first + p->tb);
    left(&b, p, p->in);
    lz_buf_puts(&b, ", ");
    right(&b, p, p->in);
    lz_buf_puts(&b, ") -> ");
    type(&b, p->batch, p->m, p->n, sum);
    lz_buf_puts(&b, "\n");
    epilogue(&b, p, sum);
    lz_buf_printf(&b, "  return %s : ", p->after == NOTHING ? "%d" : "%r");
    type(&b, p->batch, p->m, p->n, p->out);
    lz_buf_puts(&b, "\n}\n");
    ck_assert_msg(lz_func_parse(lz_buf_str(&b), b.len, "product", &f) == LZ_OK, "%s\n%s",
                  lz_error_get()->message, lz_buf_str(&b));
    lz_buf_free(&b);
    return f;
}

/* ---- on the device ---- */

static const lz_backend *device(void)
{
    (void)lz_mock_use();
    const lz_backend *cuda = lz_backend_get("cuda");
    ck_assert_msg(cuda->init() == LZ_OK, "%s", lz_error_get()->message);
    return cuda;
}

/* Laid out for one multiprocessor, everything is done in large tiles without split-K: by
 * warpgroups where there are any, otherwise by warps; for four, some of it by warpgroups and
 * split. */
typedef struct way {
    const char *processors;
    int capability;
} way;
static const way ways[] = {{"0", 90}, {"1", 90}, {"1", 80}, {"4", 90}};
enum { WAYS = sizeof ways / sizeof *ways };

/* The last two are another code only for what warpgroups can multiply, and for what is split. */
static bool differs(const product *p, int w)
{
    bool half = strstr(p->in, "f16") != NULL;
    return w < 2 || (w == 2 ? half : p->k > SHORT_K);
}

/* few: each product in one way, each way by some, in turn. */
static bool is_tried(int i, int w, bool few)
{
    int own = (int)(((unsigned)i + lz_test_seed()) % WAYS);
    if (!differs(&products[i], own))
        own %= 2;
    return differs(&products[i], w) && (!few || w == own);
}

/* A control of the library that stands in for the driver; NULL: it is the real one. */
static void *control(const char *name)
{
    if (getenv("LZ_TEST_GPU"))
        return NULL;
    void *h = dlopen(lz_mock_path(), RTLD_NOW);
    ck_assert_msg(h != NULL, "%s", dlerror());
    return dlsym(h, name);
}

static void pretend(int capability)
{
    void (*set)(int);
    *(void **)&set = control("lzMockCapability");
    if (set)
        set(capability);
}

static lz_mock_stats launches(void)
{
    lz_mock_stats s = {0};
    void (*get)(lz_mock_stats *);
    *(void **)&get = control("lzMockGetStats");
    if (get)
        get(&s);
    return s;
}

/* Kernels so far whose factors came as boxes. */
static uint64_t boxes(void)
{
    return launches().boxes;
}

/* What lies `off` bytes behind the start of its memory. */
static void place(const lz_backend *cuda, const lz_literal *arg, size_t off, lz_device_buffer **out)
{
    ck_assert_int_eq(cuda->alloc(0, arg->nbytes + off, out), LZ_OK);
    (*out)->data = (char *)(*out)->data + off;
    ck_assert_int_eq(cuda->copy_in(*out, arg->data, arg->nbytes), LZ_OK);
}

/* `then`: what LAZULI_CUDA_TF32 becomes between compilation and execution; NULL: it stays. `off`:
 * arguments lie so far from where memory starts. */
static lz_literal *execute_then(const lz_func *f, lz_literal *const *args, const char *then,
                                size_t off)
{
    const lz_backend *cuda = device();
    lz_exec *x = NULL;
    lz_compile_options o = {0};
    lz_device_buffer *in[3], *out[1];
    lz_event *done = NULL;
    bool given[3] = {false};
    ck_assert_msg(cuda->compile(0, f, &o, &x) == LZ_OK, "%s", lz_error_get()->message);
    if (then)
        ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TF32", then), LZ_OK);
    for (int i = 0; i < 3; i++)
        place(cuda, args[i], off, &in[i]);
    ck_assert_int_eq(cuda->execute(x, 0, in, given, false, out, &done), LZ_OK);
    ck_assert_msg(lz_event_wait(done) == LZ_OK, "%s", lz_error_get()->message);
    lz_literal *got = lz_literal_new(lz_val_type(f, f->results[0]));
    ck_assert_int_eq(cuda->copy_out(out[0], got->data, got->nbytes), LZ_OK);
    for (int i = 0; i < 3; i++) {
        in[i]->data = (char *)in[i]->data - off;
        lz_device_buffer_release(in[i]);
    }
    lz_device_buffer_release(out[0]);
    lz_event_release(done);
    cuda->exec_free(x);
    return got;
}

static lz_literal *execute(const lz_func *f, lz_literal *const *args)
{
    return execute_then(f, args, NULL, 0);
}

/* How a device of this capability would run it, laid out for so many processors (0: those of the
 * architecture). */
static lz_simt_dims dims_of(const product *r, int processors, int capability)
{
    lz_func *f = program(r);
    lz_plan *p = NULL;
    lz_lower_options o = {.machine.threads = 132};
    lz_target t;
    lz_simt_dims d = {0};
    ck_assert_int_eq(lz_simt_target(capability / 10, capability % 10, &t), LZ_OK);
    t.processors = processors ? processors : t.processors;
    ck_assert_int_eq(lz_lower(f, &o, &p), LZ_OK);
    for (uint32_t i = 0; i < p->nstep; i++)
        if (p->steps[i].kind == LZ_STEP_KERNEL && lz_kernel_is_dot(p->kernels[p->steps[i].kernel]))
            lz_simt_dims_of(p->kernels[p->steps[i].kernel], p->steps[i].args, &t, 132, &d);
    lz_plan_free(p);
    lz_func_free(f);
    return d;
}

static bool comes_in_boxes(const product *p, const way *w)
{
    lz_simt_dims d = dims_of(p, atoi(w->processors), w->capability);
    return d.nlaunch && d.launch[0].entry == SIMT_TMA;
}

START_TEST(as_the_reference)
{
    const product *p = &products[_i / WAYS];
    const way *w = &ways[_i % WAYS];
    if (!is_tried(_i / WAYS, _i % WAYS, !lz_test_whole()))
        return;
    lz_func *f = program(p);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PROCESSORS", w->processors), LZ_OK);
    pretend(w->capability);
    for (uint64_t seed = 0; seed < 2; seed++) {
        if (!lz_test_in_turn((unsigned)((uint64_t)_i / WAYS + seed), lz_test_small() ? 6 : 3))
            continue;
        uint64_t had = boxes();
        lz_literal **args;
        lz_expect *want;
        char msg[512];
        ck_assert_int_eq(lz_gen_args(f, seed, seed ? LZ_FILL_SPICED : LZ_FILL_MODEST, &args),
                         LZ_OK);
        ck_assert_int_eq(lz_expect_new(f, args, 0, &want), LZ_OK);
        lz_literal *got = execute(f, args);
        ck_assert_msg(lz_expect_met(want, &got, msg, sizeof msg), "%s -> %s, %d x %d x %d: %s",
                      p->in, p->out, p->m, p->n, p->k, msg);
        if (!getenv("LZ_TEST_GPU"))
            ck_assert_uint_eq(boxes(), had + comes_in_boxes(p, w));
        lz_literal_release(got);
        lz_expect_free(want);
        lz_gen_args_free(f, args);
    }
    lz_func_free(f);
}
END_TEST

/* ---- boxes ---- */

/* By pairs of blocks or, of three rows of tiles, by single ones; f32 as tf32, of which a factor
 * that is contiguous along the result comes through registers: the tiles of the right one lie
 * across, and pairs are of columns. */
static const struct {
    product p;
    const char *processors;
    bool pairs;
} boxed[] = {
    {{"bf16", "f32", 0, 136, 264, 264, false, true, AS_IT_IS, NOTHING, TENSOR}, "1", true},
    {{"f16", "f32", 0, 264, 264, 136, true, false, AS_IT_IS, BIAS_TANH, TENSOR}, "1", false},
    {{"f32", "f32", 0, 136, 264, 100, false, true, AS_IT_IS, NOTHING, TENSOR}, "1", true},
    {{"f32", "f32", 0, 260, 136, 68, false, false, AS_IT_IS, BIAS_TANH, TENSOR}, "1", true},
    {{"f32", "f32", 2, 264, 260, 40, false, false, AS_IT_IS, NOTHING, TENSOR}, "1", false},
    {{"f32", "f32", 0, 264, 264, 36, true, true, AS_IT_IS, NOTHING, TENSOR}, "1", false},
    {{"f32", "f32", 0, 132, 136, 332, true, true, AS_IT_IS, NOTHING, TENSOR}, "1", true},
    {{"f32", "f32", 0, 136, 260, 1200, false, false, AS_IT_IS, NOTHING, TENSOR}, "4", false},
};
enum { BOXED = sizeof boxed / sizeof *boxed, OTHERWISE = 3 };

/* Bit for bit what comes of factors that threads copy: because memory is not aligned, the driver
 * makes no map, or the user will not have it. */
START_TEST(boxes_or_not)
{
    const product *p = &boxed[_i / OTHERWISE].p;
    int how = _i % OTHERWISE;
    bool tf32 = strcmp(p->in, "f32") == 0;
    void (*refuse)(const char *, uint64_t, int);
    *(void **)&refuse = control("lzMockFail");
    if (!refuse && how == 1)
        return;
    lz_func *f = program(p);
    lz_literal **args;
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PROCESSORS", boxed[_i / OTHERWISE].processors),
                     LZ_OK);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TF32", tf32 ? "1" : "0"), LZ_OK);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TMA", how == 0 ? "0" : "1"), LZ_OK);
    ck_assert_int_eq(lz_gen_args(f, 3, LZ_FILL_MODEST, &args), LZ_OK);
    (void)device();
    uint64_t had = boxes();
    if (how == 1)
        refuse("cuTensorMapEncodeTiled", 1, 1);
    lz_literal *got = execute_then(f, args, NULL, how == 2 ? 8 : 0);
    ck_assert_uint_eq(boxes(), had);
    if (how == 0 && !tf32) { /* the device has started so; this one asks for nothing else */
        lz_expect *want;
        char msg[512];
        ck_assert_int_eq(lz_expect_new(f, args, 0, &want), LZ_OK);
        ck_assert_msg(lz_expect_met(want, &got, msg, sizeof msg), "%s", msg);
        lz_expect_free(want);
    } else if (how != 0) {
        lz_literal *same = execute(f, args);
        if (refuse) {
            ck_assert_uint_eq(boxes(), had + 1);
            ck_assert_uint_eq(launches().clusters, boxed[_i / OTHERWISE].pairs);
        }
        ck_assert_mem_eq(got->data, same->data, got->nbytes);
        lz_literal_release(same);
    }
    lz_literal_release(got);
    lz_gen_args_free(f, args);
    lz_func_free(f);
}
END_TEST

/* ---- tf32 ---- */

static const product tf32[] = {
    {"f32", "f32", 0, 70, 66, 50, false, false, AS_IT_IS, NOTHING, TENSOR},
    {"f32", "f32", 0, 65, 132, 33, true, true, AS_IT_IS, NOTHING, TENSOR},
    {"f32", "f32", 0, 136, 72, 64, false, true, AS_IT_IS, NOTHING, TENSOR},
    {"f32", "f32", 0, 40, 50, 40, true, false, RELU, NOTHING, TENSOR},
    /* large ones, by warpgroups: whole chunks of both factors, */
    {"f32", "f32", 0, 136, 264, 68, false, false, AS_IT_IS, NOTHING, TENSOR},
    {"f32", "f32", 0, 133, 259, 100, false, true, AS_IT_IS, NOTHING, TENSOR},
    {"f32", "f32", 0, 140, 260, 33, true, false, AS_IT_IS, NOTHING, TENSOR},
    {"f32", "f32", 0, 132, 257, 20, true, true, AS_IT_IS, NOTHING, TENSOR},
    /* and not */
    {"f32", "f32", 0, 135, 261, 45, false, true, AS_IT_IS, NOTHING, TENSOR},
    {"f32", "f32", 0, 134, 258, 35, true, false, AS_IT_IS, NOTHING, TENSOR},
    {"f32", "f32", 0, 132, 260, 40, false, false, RELU, NOTHING, TENSOR},
};
enum { TF32 = sizeof tf32 / sizeof *tf32 };

/* To the nearest of 10 bits behind the point, in the middle to the even one. */
static double as_tf32(float f)
{
    uint32_t w;
    memcpy(&w, &f, sizeof w);
    w = (w + 0xfff + (w >> 13 & 1)) & ~0x1fffu;
    memcpy(&f, &w, sizeof f);
    return f;
}

/* Element (x, i) of a factor of which x is a row or a column of the result. */
static double factor(const product *p, const lz_literal *a, bool along_x, int x, int i, int nx)
{
    float f = ((const float *)a->data)[along_x ? i * nx + x : x * p->k + i];
    return as_tf32(p->before == RELU && f < 0 ? 0 : f);
}

/* Of large ones: rows that are whole chunks come as boxes where a factor is contiguous along k. */
static lz_simt_entry entry_of_tf32(const product *p)
{
    bool chunks = (p->ta ? p->m : p->k) % 4 == 0 && (p->tb ? p->k : p->n) % 4 == 0;
    return chunks && (!p->ta || p->tb) && p->before == AS_IT_IS ? SIMT_TMA : SIMT_WGMMA;
}

START_TEST(rounded_to_tf32)
{
    if (!lz_test_in_turn((unsigned)(_i / 2 + _i), 2))
        return;
    const product *p = &tf32[_i / 2];
    lz_func *f = program(p);
    lz_literal **args;
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TF32", "1"), LZ_OK);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PROCESSORS", _i % 2 ? "1" : "0"), LZ_OK);
    ck_assert_int_eq(lz_gen_args(f, 3, LZ_FILL_MODEST, &args), LZ_OK);
    if (_i % 2 && p->m > 128 && p->n > 128)
        ck_assert_int_eq(dims_of(p, 1, 90).launch[0].entry, entry_of_tf32(p));
    lz_literal *got = execute(f, args);
    bool other = false; /* the factors are not of 10 bits as they are */
    for (int i = 0; i < p->m * p->n; i++) {
        double want = 0, size = 0;
        for (int k = 0; k < p->k; k++) {
            double a = factor(p, args[0], p->ta, i / p->n, k, p->m),
                   b = factor(p, args[1], !p->tb, i % p->n, k, p->n);
            want += a * b;
            size += fabs(a * b);
        }
        double off = fabs(((const float *)got->data)[i] - want);
        ck_assert_msg(off <= 4e-6 * size, "element %d: %g, not %g", i, ((float *)got->data)[i],
                      want);
    }
    for (int i = 0; i < p->m * p->k; i++) {
        float v = ((const float *)args[0]->data)[i];
        other |= as_tf32(v) != (double)v;
    }
    ck_assert(other);
    lz_literal_release(got);
    lz_gen_args_free(f, args);
    lz_func_free(f);
}
END_TEST

/* What a device was started with holds: a product that was compiled for f32 is launched as one. */
START_TEST(decided_once)
{
    static const product large = {"f32", "f32", .m = 136, .n = 264, .k = 96};
    lz_func *f = program(&large);
    lz_literal **args;
    lz_expect *want;
    char msg[512];
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PROCESSORS", "1"), LZ_OK); /* large tiles */
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TF32", "0"), LZ_OK);
    ck_assert_int_eq(lz_gen_args(f, 3, LZ_FILL_MODEST, &args), LZ_OK);
    ck_assert_int_eq(lz_expect_new(f, args, 0, &want), LZ_OK);
    lz_literal *got = execute_then(f, args, "1", 0);
    ck_assert_msg(lz_expect_met(want, &got, msg, sizeof msg), "%s", msg);
    lz_literal_release(got);
    lz_expect_free(want);
    lz_gen_args_free(f, args);
    lz_func_free(f);
}
END_TEST

/* ---- targets and keys ---- */

/* A device and its emulator are configured alike. */
START_TEST(targets)
{
    lz_target t[2];
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PROCESSORS", "7"), LZ_OK);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TF32", "1"), LZ_OK);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TMA", "0"), LZ_OK);
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", "-radix_sort,+nontemporal"), LZ_OK);
    ck_assert_int_eq(lz_simt_target(9, 0, &t[0]), LZ_OK);
    ck_assert_int_eq(lz_simt_emulated(9, 0, &t[1]), LZ_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert(t[i].simt && t[i].wgmma && !t[i].tma && t[i].tf32);
        ck_assert_int_eq(t[i].processors, 7);
        ck_assert_uint_eq(t[i].without, 1u << LZ_VARIANT_radix_sort);
        ck_assert_uint_eq(t[i].always, 1u << LZ_VARIANT_nontemporal);
    }
}
END_TEST

static lz_kernel *product_of(const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nkernel; i++)
        if (lz_kernel_is_dot(p->kernels[i]))
            return p->kernels[i];
    return NULL;
}

static lz_plan *plan_of(const lz_func *f)
{
    lz_plan *p = NULL;
    lz_lower_options o = {.machine.threads = 132};
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    return p;
}

static bool same_key(const lz_kernel *k, const lz_target *a, const lz_target *b)
{
    lz_buf x = {0}, y = {0};
    lz_simt_print(k, a, &x);
    lz_simt_print(k, b, &y);
    bool same = strcmp(lz_buf_str(&x), lz_buf_str(&y)) == 0;
    lz_buf_free(&x);
    lz_buf_free(&y);
    return same;
}

/* Keys have what makes other code of a kernel, and no more: nothing else is compiled again where
 * the user allows tf32. */
START_TEST(keys)
{
    enum { GROUPS = 1, ROUNDED = 2 };
    static const struct {
        const char *type;
        int depends;
    } of[] = {{"bf16", GROUPS}, {"f16", GROUPS}, {"f32", ROUNDED}, {"f64", 0}, {"i8", 0}};
    static const char add[] = "func.func @main(%a: tensor<99x70xf32>) -> tensor<99x70xf32> {\n"
                              "  %r = stablehlo.add %a, %a : tensor<99x70xf32>\n"
                              "  return %r : tensor<99x70xf32>\n}\n";
    lz_target t, other[3];
    ck_assert_int_eq(lz_simt_target(9, 0, &t), LZ_OK);
    other[0] = other[1] = other[2] = t;
    other[0].wgmma = !t.wgmma;
    other[1].tf32 = !t.tf32;
    other[2].tma = !t.tma;
    for (int i = 0; i < 6; i++) {
        lz_func *f = NULL;
        product r = {i < 5 ? of[i].type : "f32", "f32", .m = 200, .n = 150, .k = 70};
        r.out = i == 3 ? "f64" : i == 4 ? "i32" : "f32";
        if (i < 5)
            f = program(&r);
        else
            ck_assert_int_eq(lz_func_parse(add, sizeof add - 1, "add", &f), LZ_OK);
        lz_plan *p = plan_of(f);
        int depends = i < 5 ? of[i].depends : 0;
        const lz_kernel *k = i < 5 ? product_of(p) : p->kernels[0];
        ck_assert_int_eq(same_key(k, &t, &other[0]), !(depends & GROUPS));
        ck_assert_int_eq(same_key(k, &t, &other[1]), !(depends & ROUNDED));
        ck_assert_int_eq(same_key(k, &t, &other[2]), !(depends & GROUPS));
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

/* ---- assembled ---- */

/* What the assembler says of one kernel, into `said`. */
static void assemble(const lz_buf *ptx, const char *arch, char *said, size_t nsaid)
{
    char path[] = "/tmp/lazuli-product.XXXXXX", command[256];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, ptx->data, ptx->len), (int)ptx->len);
    close(fd);
    snprintf(command, sizeof command, "%s -v -arch=%s -o /dev/null %s 2>&1", assembler(), arch,
             path);
    FILE *in = popen(command, "r");
    ck_assert_ptr_nonnull(in);
    said[fread(said, 1, nsaid - 1, in)] = '\0';
    ck_assert_msg(pclose(in) == 0, "%s: %s", arch, said);
    unlink(path);
}

/* The largest of the numbers before it: every function has one. */
static int number_before(const char *text, const char *what)
{
    int most = -1;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) {
        const char *digits = at;
        while (digits > text && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        most = atoi(digits) > most ? atoi(digits) : most;
    }
    ck_assert_msg(most >= 0, "no '%s' in: %s", what, text);
    return most;
}

static void check_budget(const product *r, const lz_kernel *k, int major, const char *arch)
{
    enum { REGISTERS = 255 };
    lz_target t;
    lz_buf ptx = {0};
    char said[8192];
    ck_assert_int_eq(lz_simt_target(major, 0, &t), LZ_OK);
    ck_assert_msg(lz_llvm_compile(k, &t, &ptx, NULL, NULL) == LZ_OK, "%s", lz_error_get()->message);
    const char *text = lz_buf_str(&ptx);
    bool tensor = strcmp(r->schedule, TENSOR) == 0, half = strstr(r->in, "f16") != NULL;
    ck_assert_int_eq(strstr(text, "mma.sync") != NULL, tensor);
    ck_assert_int_eq(strstr(text, "wgmma.mma_async") != NULL,
                     major == 9 && lz_simt_entry_name(k, &t, SIMT_WGMMA) != NULL);
    ck_assert(half || t.tf32 || !lz_simt_entry_name(k, &t, SIMT_WGMMA));
    bool tma = lz_simt_entry_name(k, &t, SIMT_TMA) != NULL;
    static const char *const of_tma[] = {"cp.async.bulk.tensor", "mbarrier.try_wait",
                                         "setmaxnreg.inc"};
    for (size_t i = 0; i < sizeof of_tma / sizeof *of_tma; i++)
        ck_assert_int_eq(strstr(text, of_tma[i]) != NULL, tma);
    ck_assert(!tma || (major == 9 && (half || t.tf32) && r->before == AS_IT_IS));
    if (assembler()) {
        assemble(&ptx, arch, said, sizeof said);
        ck_assert_msg(number_before(said, " bytes spill stores") == 0, "%s: %s", arch, said);
        ck_assert_int_eq(number_before(said, " bytes stack frame"), 0);
        ck_assert_msg(!strstr(said, "serialized"), "%s: %s", arch, said); /* wgmma instructions */
        ck_assert_int_le(number_before(said, " registers"), REGISTERS);
        printf("%s, %d x %d x %d, %s: %d registers\n", r->in, r->m, r->n, r->k, arch,
               number_before(said, " registers"));
    }
    lz_buf_free(&ptx);
}

/* The number of split-K slices depends on the sizes and the architecture, not on the device. */
static void check_parts(const product *r, const lz_plan *p, const lz_kernel *k)
{
    lz_target t, emulated;
    lz_simt_dims d[3];
    ck_assert_int_eq(lz_simt_target(9, 0, &t), LZ_OK);
    ck_assert_int_eq(lz_simt_emulated(9, 0, &emulated), LZ_OK);
    for (uint32_t i = 0; i < p->nstep; i++) {
        if (p->steps[i].kind != LZ_STEP_KERNEL || p->kernels[p->steps[i].kernel] != k)
            continue;
        lz_simt_dims_of(k, p->steps[i].args, &t, 132, &d[0]);
        lz_simt_dims_of(k, p->steps[i].args, &t, 2, &d[1]);
        lz_simt_dims_of(k, p->steps[i].args, &emulated, 2, &d[2]);
        ck_assert_int_eq(d[0].nlaunch, r->k > SHORT_K ? 2 : 1);
        for (int j = 0; j < 3; j++)
            ck_assert_msg(d[j].share == d[0].share && d[j].scratch == d[0].scratch &&
                              d[j].launch[0].entry == d[0].launch[0].entry,
                          "%s: not the same on every device", r->in);
    }
}

/* Large results are made in large tiles, small ones in small ones. */
START_TEST(gemm_for_the_size)
{
    static const struct {
        int n;
        lz_simt_entry entry;
    } sizes[] = {{256, SIMT_SMALL},
                 {512, SIMT_SMALL},
                 {2048, SIMT_TMA},
                 {8192, SIMT_TMA},
                 {8196, SIMT_WGMMA}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        product r = products[0];
        r.m = r.n = r.k = sizes[i].n;
        lz_simt_dims d = dims_of(&r, 0, 90);
        ck_assert_msg(d.nlaunch == 1 && d.launch[0].entry == sizes[i].entry, "%d: %d, %u parts",
                      sizes[i].n, d.launch[0].entry, (unsigned)d.share);
        if (d.launch[0].entry == SIMT_TMA) { /* blocks that stay */
            ck_assert_uint_eq(d.plain.entry, SIMT_WGMMA);
            ck_assert_uint_le(d.launch[0].grid, 132);
            ck_assert_uint_ge(d.plain.grid, d.launch[0].grid);
        }
    }
}
END_TEST

/* What as_the_reference goes through. */
START_TEST(every_way_is_tried)
{
    int n[SIMT_ENTRIES][2] = {{0}}, few[WAYS] = {0};
    for (int i = 0; i < PRODUCTS; i++) {
        int mine = 0;
        for (int w = 0; w < WAYS; w++) {
            mine += is_tried(i, w, true);
            few[w] += is_tried(i, w, true);
            if (!is_tried(i, w, false))
                continue;
            lz_simt_dims d = dims_of(&products[i], atoi(ways[w].processors), ways[w].capability);
            n[d.launch[0].entry][d.share > 1]++;
        }
        ck_assert_msg(mine == 1, "of few ways, product %d is tried in %d", i, mine);
    }
    for (int w = 0; w < WAYS; w++)
        ck_assert_int_ge(few[w], 2);
    for (lz_simt_entry i = SIMT_MAIN; i < SIMT_SECOND; i++) /* those of products */
        ck_assert_msg(n[i][0] >= 6 && n[i][1] >= 1, "%d: %d undivided, %d divided", i, n[i][0],
                      n[i][1]);
}
END_TEST

START_TEST(without_spills)
{
    if (!lz_test_in_turn((unsigned)_i, 4))
        return;
    const product *r = _i < PRODUCTS ? &products[_i] : &tf32[_i - PRODUCTS];
    lz_func *f = program(r);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TF32", _i < PRODUCTS ? "0" : "1"), LZ_OK);
    lz_plan *p = plan_of(f);
    lz_kernel *k = product_of(p);
    ck_assert_ptr_nonnull(k);
    lz_target t;
    ck_assert_int_eq(lz_simt_target(8, 0, &t), LZ_OK);
    ck_assert_str_eq(lz_simt_schedule_name(k, &t), r->schedule);
    check_parts(r, p, k);
    check_budget(r, k, 8, "sm_80");
    check_budget(r, k, 9, "sm_90a");
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("products");
    TCase *t = tcase_create("on the device"), *b = tcase_create("boxes"), *r = tcase_create("tf32"),
          *a = tcase_create("assembled");
    tcase_set_timeout(t, 120);
    tcase_set_timeout(b, 120);
    tcase_set_timeout(r, 120);
    tcase_set_timeout(a, 120);
    tcase_add_loop_test(t, as_the_reference, 0, WAYS * PRODUCTS);
    tcase_add_loop_test(a, without_spills, 0, PRODUCTS + TF32);
    tcase_add_test(a, gemm_for_the_size);
    tcase_add_test(a, every_way_is_tried);
    tcase_add_loop_test(r, rounded_to_tf32, 0, 2 * TF32);
    tcase_add_test(r, decided_once);
    tcase_add_loop_test(b, boxes_or_not, 0, OTHERWISE * BOXED);
    tcase_add_test(a, targets);
    tcase_add_test(a, keys);
    suite_add_tcase(s, t);
    suite_add_tcase(s, b);
    suite_add_tcase(s, r);
    suite_add_tcase(s, a);
    return lz_run_suite(s);
}
