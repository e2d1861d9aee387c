/* t_lapack.c - custom calls of decompositions: what they are made of, and what is refused. That
 * their values are right is test/ir/check/lapack.mlir's and test/hlo's. */
#include "ir/eval/eval.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

static lz_status parse(const char *line, lz_func **f)
{
    char t[2048];
    snprintf(t, sizeof t,
             "module @m {\n  func.func public @main(%%a: tensor<3x2x2xf32>, %%w: tensor<2x3xf32>, "
             "%%t: tensor<3x2xf32>, %%k: tensor<i32>, %%v: tensor<2xf32>) -> tensor<3x2x2xf32> {\n"
             "    %%c = stablehlo.constant dense<7> : tensor<i32>\n    %s\n    return %%a : "
             "tensor<3x2x2xf32>\n  }\n}\n",
             line);
    return lz_func_parse(t, strlen(t), "t", f);
}

#define A "tensor<3x2x2xf32>"
#define W "tensor<2x3xf32>"
#define TAU "tensor<3x2xf32>"
#define INFO "tensor<3xi32>"

static const struct {
    const char *line, *message;
    lz_status status;
} refused[] = {
    {"%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8, "
     "pivot = 1 : i64}} : (" A ") -> (" A ", " INFO ")",
     "@lapack_spotrf_ffi has no option pivot", LZ_EUNSUPPORTED},
    {"%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 86 : "
     "ui8}} "
     ": (" A ") -> (" A ", " INFO ")",
     "uplo = 86 is none of the letters UL", LZ_EUNSUPPORTED},
    {"%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {}} : (" A
     ") -> (" A ", " INFO ")",
     "the option uplo is missing", LZ_EPARSE},
    {"%0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}, tiling = 4 : "
     "i64} : (" A ") -> (" A ", tensor<3x2xi32>, " INFO ")",
     "@lapack_sgetrf_ffi has no attribute tiling", LZ_EUNSUPPORTED},
    {"%0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {backend_config = \"fast\"} : (" A
     ") -> (" A ", tensor<3x2xi32>, " INFO ")",
     "backend_config is \"fast\", and must be empty", LZ_EUNSUPPORTED},
    {"%0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {has_side_effect = true} : (" A ") -> (" A
     ", tensor<3x2xi32>, " INFO ")",
     "@lapack_sgetrf_ffi has no side effect", LZ_EUNSUPPORTED},
    {"%0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) {mhlo.backend_config = {}} : (" A
     ") -> (" A ", tensor<3x2xi32>, " INFO ")",
     "@lapack_dgetrf_ffi is of f64, not of f32", LZ_EPARSE},
    {"%0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%v) {mhlo.backend_config = {}} : "
     "(tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<i32>)",
     "@lapack_sgetrf_ffi: a is no matrix", LZ_EPARSE},
    {"%0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a, %t) : (" A ", " TAU ") -> (" A
     ", tensor<3x2xi32>, " INFO ")",
     "takes 1 arrays, and has 2 operands", LZ_EPARSE},
    {"%0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (" A ") -> (" A
     ", tensor<3x2xi64>, " INFO ")",
     "result 1", LZ_EPARSE},
    {"%0:2 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (" A ") -> (" A ", tensor<3x2xi32>)",
     "gives 3 results, but the text has 2 types", LZ_EPARSE},
    {"%0:4 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (" A ") -> (" A
     ", tensor<3x2xi32>, " INFO ", " A ")",
     "has too many results", LZ_EPARSE},
    {"%0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%w) {mhlo.backend_config = {uplo = 76 : "
     "ui8}} : (" W ") -> (" W ", tensor<3xf32>, tensor<i32>)",
     "@lapack_ssyevd_ffi: a is not square", LZ_EPARSE},
    {"%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%w) {mhlo.backend_config = {uplo = 76 : "
     "ui8}} : (" W ") -> (" W ", tensor<i32>)",
     "@lapack_spotrf_ffi: a is not square", LZ_EPARSE},
    {"%0 = stablehlo.custom_call @lapack_sorgqr_ffi(%w, %v) : (" W ", tensor<2xf32>) -> " W,
     "a has more columns than rows", LZ_EPARSE},
    {"%0 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %v) : (" A ", tensor<2xf32>) -> " A,
     "the scalar factors do not fit the reflections", LZ_EPARSE},
    {"%0 = stablehlo.custom_call @lapack_sormqr_ffi(%a, %t, %w) {mhlo.backend_config = {left = "
     "true, transpose = false}} : (" A ", " TAU ", " W ") -> " W,
     "the matrix that is multiplied does not fit", LZ_EPARSE},
    {"%0 = stablehlo.custom_call @lapack_sormqr_ffi(%a, %t, %a) {mhlo.backend_config = {transpose "
     "= true}} : (" A ", " TAU ", " A ") -> " A,
     "the option left is missing", LZ_EPARSE},
    {"%0 = stablehlo.custom_call @lapack_sormqr_ffi(%a, %t, %a) {mhlo.backend_config = {left = "
     "false}} : (" A ", " TAU ", " A ") -> " A,
     "the option transpose is missing", LZ_EPARSE},
    {"%0:2 = stablehlo.custom_call @lapack_spotrf(%c, %c, %c, %a) : (tensor<i32>, tensor<i32>, "
     "tensor<i32>, " A ") -> (" A ", " INFO ")",
     "uplo is 7", LZ_EUNSUPPORTED},
    {"%0:2 = stablehlo.custom_call @lapack_spotrf(%k, %c, %c, %a) : (tensor<i32>, tensor<i32>, "
     "tensor<i32>, " A ") -> (" A ", " INFO ")",
     "operand 0 is no constant", LZ_EUNSUPPORTED},
    {"%0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %a, %k) {mhlo.backend_config = {diag = 78 : "
     "ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (" A ", " A
     ", tensor<i32>) -> " A,
     "alpha is no number of a's dtype", LZ_EPARSE},
    {"%0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = \"1,0\"} : (" A ") -> (" A ", " TAU
     ")",
     "backend_config is not \"lower,sort,iterations,tolerance\"", LZ_EPARSE},
    {"%0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) : (" A ") -> (" TAU ", " TAU ", " A ", " A
     ", " INFO ")",
     "the option compute_left is missing", LZ_EPARSE},
    {"%0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%w) {mhlo.backend_config = {compute_left = 78 "
     ": ui8, compute_right = 78 : ui8}} : (" W ") -> (" W ", " W ", " W ", " W ", tensor<i32>)",
     "@lapack_sgeev_ffi: a is not square", LZ_EPARSE},
    {"%0:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, "
     "sort = 83 : ui8}} : (" A ") -> (" A ", " A ", " TAU ", " TAU ", " INFO ", " INFO ")",
     "sort = 83 is none of the letters N", LZ_EUNSUPPORTED},
    {"%0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {low = 1 : i32, "
     "high = 3 : i32}} : (" A ") -> (" A ", tensor<3x1xf32>, " INFO ")",
     "low and high are no rows of a", LZ_EPARSE},
    {"%0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {low = 1 : i32}} "
     ": (" A ") -> (" A ", tensor<3x1xf32>, " INFO ")",
     "the option high is missing", LZ_EPARSE},
    {"%0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %t) : (" A ", " TAU ") -> (" A
     ", tensor<3x2xi32>, " TAU ")",
     "lazuli.geqp3: operand 1 is", LZ_EPARSE},
    {"%0:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%t, %t, %v, %a) : (" TAU ", " TAU
     ", tensor<2xf32>, " A ") -> (" TAU ", " TAU ", tensor<2xf32>, " A ", " INFO ")",
     "lazuli.gtsv: operand 3 is", LZ_EPARSE},
    {"%0:3 = stablehlo.custom_call @lapack_strsyl_ffi(%a) : (" A ") -> (" A ", " A ", " INFO ")",
     "no function is registered as @lapack_strsyl_ffi", LZ_EUNSUPPORTED},
};
enum { NREFUSED = sizeof refused / sizeof *refused };

START_TEST(what_is_refused_is_named)
{
    lz_func *f;
    lz_status s = parse(refused[_i].line, &f);
    ck_assert_msg(s == refused[_i].status && strstr(lz_error_get()->message, refused[_i].message),
                  "%s: %d, %s", refused[_i].message, s, lz_error_get()->message);
}
END_TEST

/* One is all there is of an operation in what was read. */
START_TEST(rows_they_become)
{
    static const struct {
        const char *line;
        lz_op op;
    } t[] = {
        {"%0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (" A ") -> (" A
         ", tensor<3x2xi32>, " INFO ")",
         LZ_OP_LU},
        {"%0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) : (" A ") -> (" A ", " TAU ")",
         LZ_OP_GEQRF},
        {"%0:2 = stablehlo.custom_call @Qr(%a) {backend_config = \"\"} : (" A ") -> (" A ", " TAU
         ")",
         LZ_OP_GEQRF},
        {"%0 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%a, %t) : (" A
         ", " TAU ") -> " A,
         LZ_OP_TRIANGULAR_SOLVE},
        {"%0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = \"0,1,100,1e-6\"} : (" A
         ") -> (" A ", " TAU ")",
         LZ_OP_EIGH},
        {"%0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left "
         "= 78 : ui8, compute_right = 86 : ui8}} : (" A ") -> (" TAU ", " TAU
         ", tensor<3x2x2xcomplex<f32>>, tensor<3x2x2xcomplex<f32>>, " INFO ")",
         LZ_OP_EIG},
        {"%0:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 78 : "
         "ui8, sort = 78 : ui8}} : (" A ") -> (" A ", " A ", " TAU ", " TAU ", " INFO ", " INFO ")",
         LZ_OP_SCHUR},
        {"%0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {low = 1 : "
         "i32, high = 2 : i32}} : (" A ") -> (" A ", tensor<3x1xf32>, " INFO ")",
         LZ_OP_HESSENBERG},
        {"%0:5 = stablehlo.custom_call @lapack_ssytrd_ffi(%a) {mhlo.backend_config = {uplo = 85 : "
         "ui8}} : (" A ") -> (" A ", " TAU ", tensor<3x1xf32>, tensor<3x1xf32>, " INFO ")",
         LZ_OP_TRIDIAGONAL},
        {"%0:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%t, %t, %t, %a) : (" TAU ", " TAU ", " TAU
         ", " A ") -> (" TAU ", " TAU ", " TAU ", " A ", " INFO ")",
         LZ_OP_GTSV},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        lz_func *f;
        int n = 0;
        ck_assert_msg(parse(t[i].line, &f) == LZ_OK, "%s", lz_error_get()->message);
        for (uint32_t k = 0; k < f->ninst; k++)
            n += lz_inst_op(&f->insts[k]) == t[i].op;
        ck_assert_int_eq(n, 1);
        lz_func_free(f);
    }
}
END_TEST

/* What is read as one call is as exact as that, also where the user lets products be less so. */
START_TEST(products_are_exact)
{
    static const char *const lines[] = {
        "%0 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %t) : (" A ", " TAU ") -> " A,
        "%0 = stablehlo.custom_call @lapack_sormqr_ffi(%a, %t, %a) {mhlo.backend_config = {left = "
        "true, transpose = false}} : (" A ", " TAU ", " A ") -> " A};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        lz_func *f;
        int n = 0;
        ck_assert_msg(parse(lines[i], &f) == LZ_OK, "%s", lz_error_get()->message);
        for (uint32_t k = 0; k < f->ninst; k++) {
            if (lz_inst_op(&f->insts[k]) != LZ_OP_DOT_GENERAL)
                continue;
            ck_assert_int_eq(LZ_ATTR(dot, f->insts[k].sig->attr)->precision, LZ_PRECISION_HIGHEST);
            n++;
        }
        ck_assert_int_ge(n, 2);
        lz_func_free(f);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lapack");
    TCase *t = tcase_create("lapack");
    tcase_add_loop_test(t, what_is_refused_is_named, 0, NREFUSED);
    tcase_add_test(t, rows_they_become);
    tcase_add_test(t, products_are_exact);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
