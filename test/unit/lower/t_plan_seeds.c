/* t_plan_seeds.c - what the fuzzer of stored plans begins with (test/fuzz/corpus/f_plan_bytes):
 * each of these files loads, as bytes of another version are refused at their first word, and
 * nothing behind it is tried. LZ_TEST_SEEDS=write makes them anew. */
#include "graphs.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/collectives.h"
#include <stdio.h>
#include <stdlib.h>

/* test/hlo/NAME; NULL: a sum of two partitions that goes on beside a product. */
static const struct {
    const char *file, *program;
    lz_step_kind has;
} seeds[] = {
    {"argmax", "argmax", LZ_STEP_KERNEL},      {"colsum", "reductions", LZ_STEP_KERNEL},
    {"dot", "matmul_relu", LZ_STEP_KERNEL},    {"gather", "top_k_rows", LZ_STEP_KERNEL},
    {"loop", "while_newton", LZ_STEP_WHILE},   {"branches", "cond_both", LZ_STEP_IF},
    {"scale", "x_plus_1", LZ_STEP_KERNEL},     {"scatter", "gather_scatter", LZ_STEP_KERNEL},
    {"softmax", "layer_norm", LZ_STEP_KERNEL}, {"transform", "fft_real", LZ_STEP_ROUTINE},
    {"overlap", NULL, LZ_STEP_DONE},
};
enum { NSEED = sizeof seeds / sizeof *seeds, MOST = 1 << 16 };

static size_t read_file(const char *path, char *to)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    size_t n = fread(to, 1, MOST, f);
    ck_assert_uint_lt(n, MOST);
    (void)fclose(f);
    return n;
}

static lz_func *overlap(void)
{
    lz_attr_any a;
    lz_func *f = lz_func_new("f");
    lz_shape s = lz_shape_make(2, (int64_t[]){8, 8});
    lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &s));
    ck_assert(record(&kinds[0], LZ_F32, ALL, 2, 0, 0, &a));
    lz_val sum = lz_build(f, kinds[0].op, &a.head, &x, 1);
    lz_val out[2] = {sum, g_dot(f, x, x, 1, 0)};
    ck_assert_int_eq(lz_func_set_results(f, out, 2), LZ_OK);
    return f;
}

static void write_seed(int i, const char *path)
{
    static char text[MOST];
    char program[128];
    lz_func *f = NULL;
    lz_plan *p;
    lz_buf b = {0};
    lz_lower_options o = {
        .routines = true, .overlap = true, .partitions = seeds[i].program ? 0 : 2};
    if (seeds[i].program) {
        snprintf(program, sizeof program, "test/hlo/%s/prog.mlir", seeds[i].program);
        size_t n = read_file(program, text);
        ck_assert_int_eq(lz_func_parse(text, n, NULL, &f), LZ_OK);
    } else {
        f = overlap();
    }
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    lz_plan_serialize(p, &b);
    FILE *to = fopen(path, "wb");
    ck_assert(to != NULL && fwrite(b.data, 1, b.len, to) == b.len);
    ck_assert_int_eq(fclose(to), 0);
    lz_buf_free(&b);
    lz_plan_free(p);
    lz_func_free(f);
}

START_TEST(loads)
{
    static char bytes[MOST];
    char path[128];
    lz_plan *p = NULL;
    bool has = false;
    snprintf(path, sizeof path, "test/fuzz/corpus/f_plan_bytes/%s.bin", seeds[_i].file);
    if (getenv("LZ_TEST_SEEDS"))
        write_seed(_i, path);
    size_t n = read_file(path, bytes);
    ck_assert_msg(lz_plan_deserialize(bytes, n, &p) == LZ_OK, "%s: %s", path,
                  lz_error_get()->message);
    for (uint32_t i = 0; i < p->nstep; i++)
        has |= p->steps[i].kind == seeds[_i].has;
    ck_assert_msg(has, "%s has no step of kind %d", path, (int)seeds[_i].has);
    lz_plan_free(p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plan_seeds");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, loads, 0, NSEED);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
