/* d_products_code.c - the code of matrix products for CUDA devices (support/products.h): what
 * targets and keys depend on, which entry point and how many slices sizes get, and what NVIDIA's
 * assembler, where it is installed, makes of the kernels: no register may be spilt, and the counts
 * stay within a budget. */
#include "base/config.h"
#include "ir/module.h"
#include "suite.h"
#include "support/assembler.h"
#include "support/products.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
            f = lz_product_program(&r);
        else
            ck_assert_int_eq(lz_func_parse(add, sizeof add - 1, "add", &f), LZ_OK);
        lz_plan *p = lz_product_plan(f);
        int depends = i < 5 ? of[i].depends : 0;
        const lz_kernel *k = i < 5 ? lz_product_kernel(p) : p->kernels[0];
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
        product r = lz_products[0];
        r.m = r.n = r.k = sizes[i].n;
        lz_simt_dims d = lz_product_dims(&r, 0, 90);
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
            mine += lz_product_is_tried(i, w, true);
            few[w] += lz_product_is_tried(i, w, true);
            if (!lz_product_is_tried(i, w, false))
                continue;
            lz_simt_dims d = lz_product_dims(&lz_products[i], atoi(lz_product_ways[w].processors),
                                             lz_product_ways[w].capability);
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
    const product *r = _i < PRODUCTS ? &lz_products[_i] : &lz_products_tf32[_i - PRODUCTS];
    lz_func *f = lz_product_program(r);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_TF32", _i < PRODUCTS ? "0" : "1"), LZ_OK);
    lz_plan *p = lz_product_plan(f);
    lz_kernel *k = lz_product_kernel(p);
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
    Suite *s = suite_create("products_code");
    TCase *t = tcase_create("assembled");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, without_spills, 0, PRODUCTS + TF32);
    tcase_add_test(t, gemm_for_the_size);
    tcase_add_test(t, every_way_is_tried);
    tcase_add_test(t, targets);
    tcase_add_test(t, keys);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
