/* t_expand_complex.c - transforms and complex products as products of floats: the same numbers, and
 * memory that runs out at every point. */
#include "ir/eval/eval_complex.h"
#include "passtest.h"
#include "support/lit.h"
#include <math.h>
#include <string.h>

static const struct {
    const char *parameters, *result, *op;
} programs[] = {
    {"%x: tensor<2x12xcomplex<f64>>", "tensor<2x12xcomplex<f64>>",
     "stablehlo.fft %x, type = FFT, length = [12] : (tensor<2x12xcomplex<f64>>) -> "
     "tensor<2x12xcomplex<f64>>"},
    /* 16 x 8; a prime; a line of one */
    {"%x: tensor<128xf64>", "tensor<65xcomplex<f64>>",
     "stablehlo.fft %x, type = RFFT, length = [128] : (tensor<128xf64>) -> "
     "tensor<65xcomplex<f64>>"},
    {"%x: tensor<67xcomplex<f64>>", "tensor<67xcomplex<f64>>",
     "stablehlo.fft %x, type = IFFT, length = [67] : (tensor<67xcomplex<f64>>) -> "
     "tensor<67xcomplex<f64>>"},
    {"%x: tensor<3x1xf64>", "tensor<3x1xcomplex<f64>>",
     "stablehlo.fft %x, type = RFFT, length = [1] : (tensor<3x1xf64>) -> tensor<3x1xcomplex<f64>>"},
    {"%x: tensor<2x3x4xcomplex<f64>>", "tensor<2x3x7xf64>",
     "stablehlo.fft %x, type = IRFFT, length = [2, 3, 7] : (tensor<2x3x4xcomplex<f64>>) -> "
     "tensor<2x3x7xf64>"},
    {"%x: tensor<0x4xcomplex<f64>>", "tensor<0x4xcomplex<f64>>",
     "stablehlo.fft %x, type = FFT, length = [4] : (tensor<0x4xcomplex<f64>>) -> "
     "tensor<0x4xcomplex<f64>>"},
    {"%x: tensor<2x16x20xcomplex<f64>>, %y: tensor<2x20x9xcomplex<f64>>",
     "tensor<2x16x9xcomplex<f64>>",
     "stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
     "(tensor<2x16x20xcomplex<f64>>, tensor<2x20x9xcomplex<f64>>) -> tensor<2x16x9xcomplex<f64>>"},
};
enum { NPROGRAM = sizeof programs / sizeof *programs };

static lz_func *program(int i)
{
    lz_buf b = {0};
    lz_func *f;
    lz_buf_printf(&b, "module { func.func public @main(%s) -> %s { %%v = %s return %%v : %s } }",
                  programs[i].parameters, programs[i].result, programs[i].op, programs[i].result);
    const char *text = lz_buf_str(&b);
    ck_assert_msg(lz_func_parse(text, strlen(text), "program", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
    return f;
}

static lz_literal *run(const lz_func *f)
{
    lz_rnd r = {7};
    lz_literal *args[2] = {NULL}, *out = NULL;
    for (uint32_t k = 0; k < f->nparam; k++)
        args[k] = lz_test_random(&r, lz_val_type(f, k), LZ_FILL_MODEST);
    ck_assert_msg(lz_ref_run(f, args, &out) == LZ_OK, "%s", lz_error_get()->message);
    for (uint32_t k = 0; k < f->nparam; k++)
        lz_literal_release(args[k]);
    return out;
}

static lz_cx number(const lz_literal *l, int64_t i)
{
    lz_dtype d = l->type->dtype;
    return lz_dtype_is_complex(d) ? lz_ref_load_c(d, l->data, i)
                                  : (lz_cx){lz_elem_get_f64(d, l->data, i), 0};
}

START_TEST(the_same_numbers)
{
    lz_func *f = program(_i), *g;
    ck_assert_msg(lz_passes_run(f, "expand", NULL, &g) == LZ_OK && g, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_func_verify(g), LZ_OK);
    for (uint32_t i = 0; i < g->ninst; i++) {
        const lz_sig *s = g->insts[i].sig;
        lz_op_class c = lz_op_get(s->op)->cls;
        ck_assert(c != LZ_CLASS_FFT);
        ck_assert(c != LZ_CLASS_DOT || !lz_dtype_is_complex(s->result[0]->dtype));
    }
    lz_literal *want = run(f), *got = run(g);
    for (int64_t k = 0; k < want->type->nelem; k++) {
        lz_cx a = number(want, k), b = number(got, k);
        ck_assert_msg(lz_cx_abs((lz_cx){a.re - b.re, a.im - b.im}) <= 1e-11L,
                      "element %d: (%Lg, %Lg), not (%Lg, %Lg)", (int)k, b.re, b.im, a.re, a.im);
    }
    lz_literal_release(want);
    lz_literal_release(got);
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
    Suite *s = suite_create("expand_complex");
    TCase *t = tcase_create("expand");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, the_same_numbers, 0, NPROGRAM);
    tcase_add_loop_test(t, failing_memory, 0, NPROGRAM);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
