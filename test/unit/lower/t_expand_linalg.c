/* t_expand_linalg.c - decompositions as loops, with memory that runs out at every point. */
#include "passtest.h"
#include <stdio.h>
#include <string.h>

/* One panel and blocks of each. */
static const char *const programs[] = {
    "%r = stablehlo.cholesky %x, lower = false : tensor<3x3xcomplex<f32>>",
    "%r = stablehlo.cholesky %x, lower = true : tensor<67x67xf64>",
    "%r = \"stablehlo.triangular_solve\"(%x, %x) <{left_side = false, lower = false, transpose_a = "
    "#stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<67x67xf64>, "
    "tensor<67x67xf64>) -> tensor<67x67xf64>",
    "%r:3 = \"lazuli.lu\"(%x) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>, "
    "tensor<3xi32>)",
    "%r:3 = \"lazuli.lu\"(%x) : (tensor<67x67xf64>) -> (tensor<67x67xf64>, tensor<67xi32>, "
    "tensor<67xi32>)",
    "%r:2 = \"lazuli.qr\"(%x) <{complete = true}> : (tensor<3x3xcomplex<f32>>) -> "
    "(tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)",
    "%r:2 = \"lazuli.qr\"(%x) <{complete = false}> : (tensor<67x67xf64>) -> (tensor<67x67xf64>, "
    "tensor<67x67xf64>)",
    "%r:2 = \"lazuli.geqrf\"(%x) : (tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, "
    "tensor<3xcomplex<f32>>)",
    "%r:2 = \"lazuli.geqrf\"(%x) : (tensor<67x67xf64>) -> (tensor<67x67xf64>, tensor<67xf64>)",
    "%r:3 = \"lazuli.svd\"(%x) <{full = false}> : (tensor<3x3xcomplex<f32>>) -> "
    "(tensor<3x3xcomplex<f32>>, tensor<3xf32>, tensor<3x3xcomplex<f32>>)",
    "%r:2 = \"lazuli.eigh\"(%x) <{lower = true}> : (tensor<3x3xcomplex<f32>>) -> "
    "(tensor<3x3xcomplex<f32>>, tensor<3xf32>)",
    "%r:3 = \"lazuli.schur\"(%x) <{vectors = true}> : (tensor<3x3xf64>) -> (tensor<3x3xf64>, "
    "tensor<3x3xf64>, tensor<3xcomplex<f64>>)",
    "%r:2 = \"lazuli.hessenberg\"(%x) <{leading = 0 : i64, trailing = 1 : i64}> : "
    "(tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<2xf64>)",
};
enum { NPROGRAM = sizeof programs / sizeof *programs };

static lz_func *program(int i)
{
    char text[1024], type[64];
    const char *t = strstr(programs[i], "tensor<"), *end = strstr(t, ">>");
    size_t n = end && end - t < 30 ? (size_t)(end - t) + 2 : (size_t)(strchr(t, '>') - t) + 1;
    lz_func *f;
    snprintf(type, sizeof type, "%.*s", (int)n, t);
    snprintf(text, sizeof text,
             "module {\n func.func public @main(%%x: %s) -> %s {\n %s\n return %%r%s : %s\n }\n}\n",
             type, type, programs[i], strstr(programs[i], "%r:") ? "#0" : "", type);
    ck_assert_msg(lz_func_parse(text, strlen(text), "t", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    return f;
}

/* No decomposition is left. */
START_TEST(taken_apart)
{
    lz_func *f = program(_i), *g;
    ck_assert_int_eq(lz_passes_run(f, "expand", NULL, &g), LZ_OK);
    ck_assert_int_eq(lz_func_verify(g), LZ_OK);
    for (uint32_t i = 0; i < g->ninst; i++)
        ck_assert(lz_op_get(g->insts[i].sig->op)->cls != LZ_CLASS_LINALG);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

/* A backend that has routines gets decompositions of f32, f64 and complex numbers as they are. */
START_TEST(left_alone)
{
    lz_func *f = program(_i), *g;
    ck_assert_int_eq(lz_passes_run(f, "expand", &(lz_lower_options){.routines = true}, &g), LZ_OK);
    int n = 0;
    for (uint32_t i = 0; i < g->ninst; i++)
        n += lz_op_get(g->insts[i].sig->op)->cls == LZ_CLASS_LINALG;
    ck_assert_int_eq(n, 1);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

START_TEST(failing_memory)
{
    lz_check_failing_memory(program(_i), "expand");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("expand_linalg");
    TCase *t = tcase_create("expand");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, taken_apart, 0, NPROGRAM);
    tcase_add_loop_test(t, left_alone, 0, NPROGRAM);
    tcase_add_loop_test(t, failing_memory, 0, NPROGRAM);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
