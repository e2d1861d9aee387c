/* d_products.c - matrix products on the CUDA device, on the library that stands in for the driver:
 * those of support/products.h against the reference, by boxes (TMA) and not, and rounded to tf32.
 */
#include "backends/backend.h"
#include "ir/module.h"
#include "suite.h"
#include "support/expect.h"
#include "support/gen.h"
#include "support/mock.h"
#include "support/products.h"
#include "mock/cuda_mock.h"
#include <math.h>
#include <string.h>

/* ---- on the device ---- */

static const lz_backend *device(void)
{
    (void)lz_mock_use();
    const lz_backend *cuda = lz_backend_get("cuda");
    ck_assert_msg(cuda->init() == LZ_OK, "%s", lz_error_get()->message);
    return cuda;
}

/* A control of the library that stands in for the driver; NULL: it is the real one. */
static void *control(const char *name)
{
    if (getenv("LZ_TEST_GPU"))
        return NULL;
    void *h = lz_mock_open(lz_mock_path());
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

static bool comes_in_boxes(const product *p, const way *w)
{
    lz_simt_dims d = lz_product_dims(p, atoi(w->processors), w->capability);
    return d.nlaunch && d.launch[0].entry == SIMT_TMA;
}

START_TEST(as_the_reference)
{
    const product *p = &lz_products[_i / WAYS];
    const way *w = &lz_product_ways[_i % WAYS];
    if (!lz_product_is_tried(_i / WAYS, _i % WAYS, !lz_test_whole()))
        return;
    lz_func *f = lz_product_program(p);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PROCESSORS", w->processors), LZ_OK);
    pretend(w->capability);
    for (uint64_t seed = 0; seed < 2; seed++) {
        if (!lz_test_in_turn((unsigned)((uint64_t)_i / WAYS + seed), lz_test_small() ? 12 : 4))
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

/* To the nearest of 10 bits behind the point, in the middle to the even one. */
static float as_tf32(float f)
{
    uint32_t w;
    memcpy(&w, &f, sizeof w);
    w = (w + 0xfff + (w >> 13 & 1)) & ~0x1fffu;
    memcpy(&f, &w, sizeof f);
    return f;
}

static void round_all(lz_literal *l)
{
    float *v = l->data;
    for (int64_t i = 0; i < l->type->nelem; i++)
        v[i] = as_tf32(v[i]);
}

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
    lz_func *f = lz_product_program(p);
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
    if (how == 0) { /* the device has started so; this one asks for nothing else */
        lz_expect *want;
        char msg[512];
        for (int i = 0; i < 2 && tf32; i++)
            round_all(args[i]);
        ck_assert_int_eq(lz_expect_new(f, args, 0, &want), LZ_OK);
        ck_assert_msg(lz_expect_met(want, &got, msg, sizeof msg), "%s", msg);
        lz_expect_free(want);
    } else {
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
    const product *p = &lz_products_tf32[_i / 2];
    lz_func *f = lz_product_program(p);
    lz_literal **args;
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TF32", "1"), LZ_OK);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PROCESSORS", _i % 2 ? "1" : "0"), LZ_OK);
    ck_assert_int_eq(lz_gen_args(f, 3, LZ_FILL_MODEST, &args), LZ_OK);
    if (_i % 2 && p->m > 128 && p->n > 128)
        ck_assert_int_eq(lz_product_dims(p, 1, 90).launch[0].entry, entry_of_tf32(p));
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
        other |= as_tf32(v) != v;
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
    lz_func *f = lz_product_program(&large);
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

int main(void)
{
    Suite *s = suite_create("products");
    TCase *t = tcase_create("on the device"), *b = tcase_create("boxes"), *r = tcase_create("tf32");
    tcase_set_timeout(t, 120);
    tcase_set_timeout(b, 120);
    tcase_set_timeout(r, 120);
    tcase_add_loop_test(t, as_the_reference, 0, WAYS * PRODUCTS);
    tcase_add_loop_test(r, rounded_to_tf32, 0, 2 * TF32);
    tcase_add_test(r, decided_once);
    tcase_add_loop_test(b, boxes_or_not, 0, OTHERWISE * BOXED);
    suite_add_tcase(s, t);
    suite_add_tcase(s, b);
    suite_add_tcase(s, r);
    return lz_run_suite(s);
}
