/* t_kernel_store.c - kernels of a device: the order they are compiled in, keys of what is stored,
 * how a launch is divided among threads. */
#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/cpu_tuning.h"
#include "backends/cpu/workers.h"
#include "ir/module.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include <string.h>

#define MAIN "func.func public @main("
static const char product[] =
    MAIN "%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {"
         "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
         "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>"
         "return %0 : tensor<64x64xf32> }";
static const char tanh_f32[] = MAIN "%x: tensor<10xf32>) -> tensor<10xf32> {"
                                    "%0 = stablehlo.tanh %x : tensor<10xf32>"
                                    "return %0 : tensor<10xf32> }";
static const char log_f64[] = MAIN "%x: tensor<10xf64>) -> tensor<10xf64> {"
                                   "%0 = stablehlo.log %x : tensor<10xf64>"
                                   "return %0 : tensor<10xf64> }";
static const char columns[] =
    MAIN "%x: tensor<100x300xf32>) -> tensor<300xf32> {"
         "%z = stablehlo.constant dense<0.0> : tensor<f32>"
         "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across "
         "dimensions = [0] : (tensor<100x300xf32>, tensor<f32>) -> tensor<300xf32>"
         "return %0 : tensor<300xf32> }";
static const char transposed[] = MAIN "%x: tensor<300x64xf32>) -> tensor<64x300xf32> {"
                                      "%0 = stablehlo.transpose %x, dims = [1, 0] : "
                                      "(tensor<300x64xf32>) -> tensor<64x300xf32>"
                                      "return %0 : tensor<64x300xf32> }";

static void must(lz_status s)
{
    ck_assert_msg(s == LZ_OK, "%s", lz_error_get()->message);
}

static lz_plan *plan_of(const char *text)
{
    lz_target t;
    lz_func *f = NULL;
    lz_plan *p = NULL;
    must(lz_target_host(&t));
    lz_lower_options o = {.machine = t.machine};
    must(lz_func_parse(text, strlen(text), NULL, &f));
    must(lz_lower(f, &o, &p));
    lz_func_free(f);
    ck_assert_uint_eq(p->nkernel, 1);
    return p;
}

/* ---- the order of compiling ---- */

static const lz_kernel *order[3];
static int norder;

/* user: whether products fail */
static lz_status note(void *user, const lz_kernel *k, lz_buf *bytes)
{
    order[norder++] = k;
    if (user && lz_kernel_is_dot(k))
        return LZ_FAIL(LZ_ECOMPILE, "no products today");
    lz_buf_puts(bytes, "code");
    return LZ_OK;
}

static lz_status no_load(void *user, const lz_kernel *k, const void *bytes, size_t n, void *code)
{
    (void)user, (void)k, (void)bytes, (void)n, (void)code;
    return LZ_OK;
}

static void no_unload(void *code)
{
    (void)code;
}

static int one_thread(void)
{
    return 1;
}

/* What takes long is not begun when all else is done. */
START_TEST(products_first)
{
    static const lz_kstore_ops ops = {
        .make = note, .load = no_load, .unload = no_unload, .threads = one_thread};
    static lz_kstore st = LZ_KSTORE_INIT(&ops);
    lz_plan *p[3] = {plan_of(tanh_f32), plan_of(log_f64), plan_of(product)};
    lz_kernel *k[3] = {p[0]->kernels[0], p[1]->kernels[0], p[2]->kernels[0]};
    lz_kernel_load out[3];
    must(lz_kstore_load(&st, k, 3, NULL, NULL, out));
    ck_assert_int_eq(norder, 3);
    ck_assert_ptr_eq(order[0], k[2]);
    ck_assert_ptr_eq(order[1], k[0]); /* then as they come */
    ck_assert_ptr_eq(order[2], k[1]);
    for (int i = 0; i < 3; i++)
        lz_kstore_release(out[i].code);
    lz_kstore_trim(&st);
    /* what failed is told, not what was left undone for it */
    bool fails = true;
    norder = 0;
    ck_assert_int_eq(lz_kstore_load(&st, k, 3, &fails, NULL, out), LZ_ECOMPILE);
    ck_assert_int_eq(norder, 1);
    ck_assert_str_eq(lz_error_get()->message, "no products today");
    lz_kstore_trim(&st);
    for (int i = 0; i < 3; i++)
        lz_plan_free(p[i]);
}
END_TEST

/* ---- keys ---- */

static bool same_key(const lz_kernel *k, const lz_target *a, const lz_target *b)
{
    lz_buf x = {0}, y = {0};
    lz_kernels_key(k, a, &x);
    lz_kernels_key(k, b, &y);
    bool same = x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
    lz_buf_free(&x);
    lz_buf_free(&y);
    return same;
}

START_TEST(variants_are_in_keys)
{
    lz_target own, other;
    must(lz_target_host(&own));
    lz_plan *p = plan_of(tanh_f32);
    other = own;
    ck_assert(same_key(p->kernels[0], &own, &other));
    for (int i = 0; i < LZ_VARIANT_COUNT; i++) {
        other.without = 1u << i;
        ck_assert(!same_key(p->kernels[0], &own, &other));
        other.without = 0;
        other.always = 1u << i;
        ck_assert(!same_key(p->kernels[0], &own, &other));
        other.always = 0;
    }
    lz_plan_free(p);
}
END_TEST

/* ---- threads ---- */

/* Chunks that each thread's share of the kernel is cut into. */
static int chunks_of(const char *text)
{
    lz_target t;
    lz_kernel_load l = {0};
    lz_cpu_code code;
    must(lz_target_host(&t));
    lz_plan *p = plan_of(text);
    must(lz_kernels_load(p->kernels, 1, &t, NULL, &l));
    lz_cpu_code_of(l.code, p->kernels[0], &(lz_step){.args = p->kernels[0]->args, .bytes = 1 << 24},
                   &code);
    lz_kernels_release(l.code);
    lz_plan_free(p);
    return code.chunks;
}

/* Strips are as wide as a chunk at most: sums down columns have wider ones than other kernels. */
START_TEST(columns_have_wide_chunks)
{
    ck_assert_int_lt(chunks_of(columns), LZ_WORKERS_CHUNKS);
    ck_assert_int_eq(chunks_of(transposed), LZ_WORKERS_CHUNKS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernel_store");
    TCase *t = tcase_create("kernel_store");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, products_first);
    tcase_add_test(t, variants_are_in_keys);
    tcase_add_test(t, columns_have_wide_chunks);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
