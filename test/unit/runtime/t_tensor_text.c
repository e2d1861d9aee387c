/* t_tensor_text.c - lz_to_string and lz_print: NumPy's layout of numbers, and what is said of
 * tensors without a value. */
#include "rt.h"
#include <stdint.h>

static const char *text_of(lz_tensor *t)
{
    static char text[1 << 14];
    size_t n = lz_to_string(t, text, sizeof text);
    ck_assert_uint_eq(n, strlen(text));
    char some[8]; /* of which as much as fits is written */
    ck_assert_uint_eq(lz_to_string(t, some, sizeof some) > 7, 1);
    ck_assert_int_eq(strncmp(some, text, 7) == 0 && some[7] == '\0', 1);
    return text;
}

/* "tensor(", the layout, and a comma. */
static void layout(lz_tensor *t, const char *want)
{
    const char *text = text_of(t);
    ck_assert_msg(strncmp(text, "tensor(", 7) == 0 && strncmp(text + 7, want, strlen(want)) == 0 &&
                      strncmp(text + 7 + strlen(want), ", dtype=", 8) == 0,
                  "%s\nis not\n%s", text, want);
}
#define F32(n, ...) lz_from_host(LZ_F32, LZ_SHAPE(n), ((float[]){__VA_ARGS__}))
#define F64(n, ...) lz_from_host(LZ_F64, LZ_SHAPE(n), ((double[]){__VA_ARGS__}))

/* What array2string(x, separator=", ", prefix="tensor(", suffix=")") of NumPy 2 gives. */
START_TEST(floats)
{
    rt_use("REF");
    layout(F32(3, 1, 2.5, 3.25), "[1.  , 2.5 , 3.25]");
    layout(F32(2, -0.0f, 1), "[-0.,  1.]");
    layout(F32(3, 1, 1e-5f, 3.25e9f), "[1.00e+00, 1.00e-05, 3.25e+09]");
    layout(F32(2, 1e-7f, 1e-7f), "[1.e-07, 1.e-07]");
    layout(F32(2, 0.1f, 0.2f), "[0.1, 0.2]");
    layout(F32(2, 16777216, 1), "[1.6777216e+07, 1.0000000e+00]");
    layout(F32(2, 99999, 100), "[99999.,   100.]");
    layout(F64(2, 1.0 / 3, 2), "[0.33333333, 2.        ]");
    layout(F64(1, 123456789), "[1.23456789e+08]");
    layout(F64(2, 1e300, 1e-300), "[1.e+300, 1.e-300]");
    layout(F64(1, 5e-324), "[5.e-324]");
    layout(F64(4, 1.5, NAN, -INFINITY, 22), "[ 1.5,  nan, -inf, 22. ]");
    layout(F32(2, NAN, INFINITY), "[nan, inf]");
    layout(F32(1, 0), "[0.]");
    layout(lz_scalar(LZ_F32, 3.5), "3.5");
    layout(lz_full(LZ_F16, LZ_SHAPE(1), 65504), "[65500.]");
    layout(lz_full(LZ_BF16, LZ_SHAPE(2), 0.1), "[0.1, 0.1]");
    layout(lz_from_host(LZ_C64, LZ_SHAPE(2), ((float[]){1, 2.5, -3.25, -1})),
           "[ 1.  +2.5j, -3.25-1.j ]");
}
END_TEST

START_TEST(integers)
{
    rt_use("REF");
    layout(lz_from_host(LZ_I32, LZ_SHAPE(3), ((int32_t[]){1, -20, 300})), "[  1, -20, 300]");
    layout(lz_from_host(LZ_U64, LZ_SHAPE(1), ((uint64_t[]){UINT64_MAX})), "[18446744073709551615]");
    layout(lz_from_host(LZ_I64, LZ_SHAPE(1), ((int64_t[]){INT64_MIN})), "[-9223372036854775808]");
    layout(lz_from_host(LZ_BOOL, LZ_SHAPE(2), ((char[]){1, 0})), "[ True, False]");
    layout(lz_from_host(LZ_U8, LZ_SHAPE(1), ((uint8_t[]){255})), "[255]");
}
END_TEST

START_TEST(dimensions)
{
    rt_use("REF");
    layout(lz_reshape(lz_arange(LZ_I32, 0, 8, 1), LZ_SHAPE(2, 2, 2)),
           "[[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]]");
    layout(lz_zeros(LZ_F32, LZ_SHAPE(0, 3)), "[]");
    layout(lz_arange(LZ_F32, 0, 15, 1),
           "[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12.,\n"
           "        13., 14.]");
    layout(lz_arange(LZ_I32, 0, 1001, 1), "[   0,    1,    2, ...,  998,  999, 1000]");
    layout(lz_reshape(lz_arange(LZ_I64, 0, 10000, 1), LZ_SHAPE(100, 100)),
           "[[   0,    1,    2, ...,   97,   98,   99],\n"
           "        [ 100,  101,  102, ...,  197,  198,  199],\n"
           "        [ 200,  201,  202, ...,  297,  298,  299],\n"
           "        ...,\n"
           "        [9700, 9701, 9702, ..., 9797, 9798, 9799],\n"
           "        [9800, 9801, 9802, ..., 9897, 9898, 9899],\n"
           "        [9900, 9901, 9902, ..., 9997, 9998, 9999]]");
}
END_TEST

static bool says(lz_tensor *t, const char *what)
{
    return strstr(text_of(t), what) != NULL;
}

START_TEST(what_it_is)
{
    rt_use(rt_devices[_i]);
    char place[64];
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 1), ((float[]){1, 2}));
    ck_assert(says(x, "dtype=f32, shape=[2, 1], device=") && says(x, rt_devices[_i]));
    ck_assert(!says(x, "pending"));
    lz_tensor *p = lz_add(x, x);
    ck_assert(says(p, "[[2.],\n        [4.]], dtype"));
    p = lz_add(p, x);
    snprintf(place, sizeof place, "t_tensor_text.c:%d)", __LINE__ - 1);
    const char *text = text_of(p);
    ck_assert_msg(strstr(text, "pending since ") && strstr(text, place), "%s", text);
    ck_assert(!says(p, "pending")); /* it has its value by now */
    lz_tensor *m = lz_mul(x, x), *e = lz_neg(m);
    OK(lz_mark_step());
    char one[512];
    (void)lz_to_string(lz_sum(e), one, sizeof one);
    ck_assert_msg(strstr(one, "pending since") != NULL, "%s", one);
    ck_assert(says(m, "temporary that the step did not keep"));
    ck_assert(says(e, "[[-1.],"));
    lz_tensor *bad = lz_add(lz_ones(LZ_F32, LZ_SHAPE(2)), lz_ones(LZ_F32, LZ_SHAPE(3)));
    ck_assert(says(lz_neg(bad), "error: ") && says(bad, "do not broadcast") &&
              says(bad, "LZ_ESHAPE"));
    ck_assert(says(NULL, ": lz_to_string: the tensor is NULL"));
    OK(lz_mark_step()); /* what has been said is known */
    FAILS(lz_print(bad), LZ_ESHAPE, "do not broadcast");
    OK(lz_print(e));
    lz_tensor *gone = lz_retain(lz_neg(x));
    lz_release(gone);
    ck_assert(lz_to_string(gone, NULL, 0) > 8);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tensor_text");
    TCase *t = tcase_create("tensor_text");
    tcase_add_test(t, floats);
    tcase_add_test(t, integers);
    tcase_add_test(t, dimensions);
    tcase_add_loop_test(t, what_it_is, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
