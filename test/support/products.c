/* products.c - see products.h. */
#include "support/products.h"
#include "ir/module.h"
#include "suite.h"
#include <string.h>

const product lz_products[PRODUCTS] = {
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

const product lz_products_tf32[TF32] = {
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

const way lz_product_ways[WAYS] = {{"0", 90}, {"1", 90}, {"1", 80}, {"4", 90}};

/* The last two are another code only for what warpgroups can multiply, and for what is split. */
static bool differs(const product *p, int w)
{
    bool half = strstr(p->in, "f16") != NULL;
    return w < 2 || (w == 2 ? half : p->k > SHORT_K);
}

bool lz_product_is_tried(int i, int w, bool few)
{
    int own = (int)(((unsigned)i + lz_test_seed()) % WAYS);
    if (!differs(&lz_products[i], own))
        own %= 2;
    return differs(&lz_products[i], w) && (!few || w == own);
}

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

lz_func *lz_product_program(const product *p)
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

/* ---- as plans ---- */

lz_kernel *lz_product_kernel(const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nkernel; i++)
        if (lz_kernel_is_dot(p->kernels[i]))
            return p->kernels[i];
    return NULL;
}

lz_plan *lz_product_plan(const lz_func *f)
{
    lz_plan *p = NULL;
    lz_lower_options o = {.machine.threads = 132};
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    return p;
}

lz_simt_dims lz_product_dims(const product *r, int processors, int capability)
{
    lz_func *f = lz_product_program(r);
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
