/* t_eval_fft.c - fft of the reference against the definition, its shape rule, its text. */
#include "ir/eval/eval_complex.h"
#include "suite.h"
#include "support/lit.h"
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef long double complex cld;

static const lz_sig *sig_of(lz_fft_type type, lz_dtype d, lz_shape s, int n, const int64_t *length)
{
    lz_attr_fft a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_fft;
    a.fft_type = type;
    a.fft_length = lz_ints_make(n, length);
    const lz_type *t = lz_type_get(d, &s);
    const lz_attr *attr = lz_attr_get((const lz_attr *)(const void *)&a);
    return lz_sig_get(LZ_OP_FFT, attr, &t, 1);
}

static lz_literal *run(const lz_sig *s, lz_literal *x)
{
    lz_literal *r = NULL;
    ck_assert_msg(s != NULL, "%s", lz_error_get()->message);
    ck_assert_msg(lz_ref_eval_inst(s, &x, &r) == LZ_OK, "%s", lz_error_get()->message);
    return r;
}

static cld number(const lz_literal *l, int64_t i)
{
    if (!lz_dtype_is_complex(l->type->dtype))
        return lz_elem_get_f64(l->type->dtype, l->data, i);
    lz_cx v = lz_ref_load_c(l->type->dtype, l->data, i);
    return __builtin_complex(v.re, v.im);
}

/* The sum over j of x[j] e^(sign 2 pi i j k / n). */
static cld line_sum(const lz_literal *x, int64_t first, int64_t n, int64_t k, int sign)
{
    cld sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += number(x, first + j) * cexpl(I * (sign * 2 * M_PIl * (long double)(j * k % n) / n));
    return sum;
}

static void near(cld got, cld want, int64_t n, int64_t k)
{
    ck_assert_msg(cabsl(got - want) <= 1e-15L * (long double)(n + 1) * 4,
                  "n %lld at %lld: (%Lg, %Lg), want (%Lg, %Lg)", (long long)n, (long long)k,
                  creall(got), cimagl(got), creall(want), cimagl(want));
}

/* Every length up to 70, two lines of it. */
START_TEST(one_dimension)
{
    int64_t n = _i, half = n / 2 + 1;
    lz_rnd r = {(uint64_t)n};
    const lz_shape s = LZ_SHAPE(2, n);
    lz_literal *x = lz_test_random(&r, lz_type_get(LZ_C128, &s), LZ_FILL_MODEST),
               *y = lz_test_random(&r, lz_type_get(LZ_F64, &s), LZ_FILL_MODEST);
    lz_literal *fft = run(sig_of(LZ_FFT, LZ_C128, s, 1, &n), x),
               *ifft = run(sig_of(LZ_IFFT, LZ_C128, s, 1, &n), x),
               *rfft = run(sig_of(LZ_RFFT, LZ_F64, s, 1, &n), y),
               *back = run(sig_of(LZ_IRFFT, LZ_C128, LZ_SHAPE(2, half), 1, &n), rfft);
    for (int64_t i = 0; i < 2 * n; i++) {
        near(number(fft, i), line_sum(x, i / n * n, n, i % n, -1), n, i);
        near(number(ifft, i), line_sum(x, i / n * n, n, i % n, 1) / n, n, i);
        near(number(back, i), number(y, i), n, i);
        if (i % n < half)
            near(number(rfft, i / n * half + i % n), line_sum(y, i / n * n, n, i % n, -1), n, i);
    }
    lz_literal_release(fft), lz_literal_release(ifft), lz_literal_release(rfft);
    lz_literal_release(back), lz_literal_release(x), lz_literal_release(y);
}
END_TEST

/* Three dimensions at once are one after the other. */
START_TEST(dimensions)
{
    lz_rnd r = {5};
    const lz_shape s = LZ_SHAPE(2, 3, 4, 5);
    const int64_t n[3] = {3, 4, 5};
    lz_literal *x = lz_test_random(&r, lz_type_get(LZ_C128, &s), LZ_FILL_MODEST),
               *y = run(sig_of(LZ_FFT, LZ_C128, s, 3, n), x);
    for (int64_t at = 0; at < 120; at++) {
        int64_t b = at / 60, k[3] = {at / 20 % 3, at / 5 % 4, at % 5};
        cld sum = 0;
        for (int64_t j = 0; j < 60; j++) {
            long double turn = (long double)(j / 20 * k[0]) / 3 +
                               (long double)(j / 5 % 4 * k[1]) / 4 +
                               (long double)(j % 5 * k[2]) / 5;
            sum += number(x, b * 60 + j) * cexpl(-2 * M_PIl * I * turn);
        }
        near(number(y, at), sum, 60, at);
    }
    lz_literal_release(x), lz_literal_release(y);
}
END_TEST

/* What no real signal has is not looked at: the imaginary parts of the first and, of an even
 * length, the middle element. */
START_TEST(imaginary_parts_without_meaning)
{
    for (int64_t n = 1; n < 9; n++) {
        lz_rnd r = {(uint64_t)n};
        const lz_shape s = LZ_SHAPE(n / 2 + 1);
        lz_literal *x = lz_test_random(&r, lz_type_get(LZ_C128, &s), LZ_FILL_MODEST),
                   *z = lz_literal_copy_from(x->type, x->data);
        lz_c128 *v = z->data;
        v[0].im = NAN;
        if (n % 2 == 0)
            v[n / 2].im = INFINITY;
        lz_literal *a = run(sig_of(LZ_IRFFT, LZ_C128, s, 1, &n), x),
                   *b = run(sig_of(LZ_IRFFT, LZ_C128, s, 1, &n), z);
        ck_assert(lz_literal_eq(a, b));
        lz_literal_release(x), lz_literal_release(z), lz_literal_release(a), lz_literal_release(b);
    }
}
END_TEST

static const struct {
    lz_fft_type type;
    lz_dtype d;
    lz_shape s;
    int n;
    int64_t length[4];
    lz_status status;
    const char *says;
} wrong[] = {
    {LZ_FFT, LZ_F32, {1, {4}}, 1, {4}, LZ_EDTYPE, "complex"},
    {LZ_IRFFT, LZ_F64, {1, {3}}, 1, {4}, LZ_EDTYPE, "complex"},
    {LZ_RFFT, LZ_C64, {1, {4}}, 1, {4}, LZ_EDTYPE, "f32 or f64"},
    {LZ_RFFT, LZ_F16, {1, {4}}, 1, {4}, LZ_EDTYPE, "f16"},
    {LZ_FFT, LZ_C64, {1, {4}}, 1, {5}, LZ_ESHAPE, "[5]"},
    {LZ_FFT, LZ_C64, {1, {4}}, 2, {4, 4}, LZ_ESHAPE, "dimensions"},
    {LZ_FFT, LZ_C64, {4, {2, 2, 2, 2}}, 4, {2, 2, 2, 2}, LZ_EINVAL, "1 to 3"},
    {LZ_FFT, LZ_C64, {1, {4}}, 0, {0}, LZ_EINVAL, "1 to 3"},
    {LZ_IRFFT, LZ_C64, {1, {4}}, 1, {9}, LZ_ESHAPE, "[9]"},
    {LZ_FFT, LZ_C64, {1, {4}}, 1, {-4}, LZ_ESHAPE, "[-4]"},
};

START_TEST(wrong_shapes)
{
    ck_assert(!sig_of(wrong[_i].type, wrong[_i].d, wrong[_i].s, wrong[_i].n, wrong[_i].length));
    ck_assert_int_eq(lz_error_get()->status, wrong[_i].status);
    ck_assert_msg(strstr(lz_error_get()->message, wrong[_i].says), "%s", lz_error_get()->message);
}
END_TEST

START_TEST(text)
{
    static const char *const in[] = {
        "%0 = stablehlo.fft %arg0, type =  IRFFT, length = [8] : (tensor<5xcomplex<f32>>) -> "
        "tensor<8xf32>",
        "%0 = \"stablehlo.fft\"(%arg0) <{fft_length = array<i64: 8>, fft_type = "
        "#stablehlo<fft_type IRFFT>}> : (tensor<5xcomplex<f32>>) -> tensor<8xf32>"};
    for (int i = 0; i < 2; i++) {
        char t[1024];
        lz_func *f;
        lz_buf b = {0};
        snprintf(t, sizeof t,
                 "module {\n  func.func public @main(%%arg0: tensor<5xcomplex<f32>>) -> "
                 "tensor<8xf32> {\n    %s\n"
                 "    return %%0 : tensor<8xf32>\n  }\n}\n",
                 in[i]);
        ck_assert_msg(lz_func_parse(t, strlen(t), "t", &f) == LZ_OK, "%s", lz_error_get()->message);
        lz_func_print(f, &b, 0);
        ck_assert_ptr_nonnull(strstr(lz_buf_str(&b),
                                     "%0 = stablehlo.fft %arg0, type = IRFFT, length = [8] : "
                                     "(tensor<5xcomplex<f32>>) -> tensor<8xf32>"));
        lz_buf_free(&b);
        lz_func_free(f);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("eval_fft");
    TCase *t = tcase_create("reference");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, one_dimension, 1, 71);
    tcase_add_test(t, dimensions);
    tcase_add_test(t, imaginary_parts_without_meaning);
    tcase_add_loop_test(t, wrong_shapes, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(t, text);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
