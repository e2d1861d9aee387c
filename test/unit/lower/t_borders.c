/* t_borders.c - borders (lower/loops/loop.h): which loads of a product say where padding is, what
 * that says, and that the slow executor holds them to it. */
#include "kernels.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include <string.h>

#define ONE " {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
#define MAIN "func.func public @main(%x: "
#define CONV "%0 = stablehlo.convolution(%x, %k) dim_numbers = "

/* Borders as text are those of the pattern, whose sizes that are arguments are shown as they
 * are. */
static const struct {
    const char *program, *borders[2];
} programs[] = {
    /* windows over rows and pixels of images; window and features are one loop */
    {MAIN "tensor<4x8x9x16xf32>, %k: tensor<3x5x16x32xf32>) -> tensor<4x8x9x32xf32> {" CONV
          "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [2, 2]]}" ONE
          "(tensor<4x8x9x16xf32>, tensor<3x5x16x32xf32>) -> tensor<4x8x9x32xf32>"
          "return %0 : tensor<4x8x9x32xf32> }",
     {"border 1 i1 + 1 i4 in 1 to 9", "border 16 i2 + 1 i5 in 32 to 176"}},
    /* by steps of two, and on one side only */
    {MAIN "tensor<4x8x9x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<4x4x4x32xf32> {" CONV
          "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, "
          "0]]}" ONE "(tensor<4x8x9x16xf32>, tensor<3x3x16x32xf32>) -> tensor<4x4x4x32xf32>"
          "return %0 : tensor<4x4x4x32xf32> }",
     {"border 2 i1 + 1 i4 in 0 to 8", NULL}},
    /* gaps in the window */
    {MAIN "tensor<4x12x16xf32>, %k: tensor<3x16x32xf32>) -> tensor<4x12x32xf32> {" CONV
          "[b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[3, 3]], rhs_dilate = [3]}" ONE
          "(tensor<4x12x16xf32>, tensor<3x16x32xf32>) -> tensor<4x12x32xf32>"
          "return %0 : tensor<4x12x32xf32> }",
     {"border 1 i1 + 3 i3 in 3 to 15", NULL}},
    /* images in the lanes: the padded array is the right factor, and pixels and images are one
     * loop */
    {MAIN "tensor<32x2x7x7xf32>, %k: tensor<10x2x3x3xf32>) -> tensor<32x10x7x7xf32> {" CONV
          "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}" ONE
          "(tensor<32x2x7x7xf32>, tensor<10x2x3x3xf32>) -> tensor<32x10x7x7xf32>"
          "return %0 : tensor<32x10x7x7xf32> }",
     {"border 1 i0 + 1 i4 in 1 to 8", "border 1 i2 + 32 i5 in 32 to 256"}},
    /* nothing is padded */
    {MAIN "tensor<4x8x9x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<4x6x7x32xf32> {" CONV
          "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}" ONE
          "(tensor<4x8x9x16xf32>, tensor<3x3x16x32xf32>) -> tensor<4x6x7x32xf32>"
          "return %0 : tensor<4x6x7x32xf32> }",
     {NULL, NULL}},
    /* pixels are what is summed */
    {MAIN "tensor<4x8x8x16xf32>, %k: tensor<4x8x8x32xf32>) -> tensor<3x3x16x32xf32> {" CONV
          "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]}" ONE
          "(tensor<4x8x8x16xf32>, tensor<4x8x8x32xf32>) -> tensor<3x3x16x32xf32>"
          "return %0 : tensor<3x3x16x32xf32> }",
     {NULL, NULL}},
    /* padding that is no zero */
    {MAIN "tensor<9x16xf32>, %k: tensor<3x16x32xf32>) -> tensor<1x9x32xf32> {"
          "%c = stablehlo.constant dense<1.0> : tensor<f32>"
          "%p = stablehlo.pad %x, %c, low = [1, 0], high = [1, 0], interior = [0, 0] : "
          "(tensor<9x16xf32>, tensor<f32>) -> tensor<11x16xf32>"
          "%r = stablehlo.reshape %p : (tensor<11x16xf32>) -> tensor<1x11x16xf32>"
          "%0 = stablehlo.convolution(%r, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
          "window = {}" ONE "(tensor<1x11x16xf32>, tensor<3x16x32xf32>) -> tensor<1x9x32xf32>"
          "return %0 : tensor<1x9x32xf32> }",
     {NULL, NULL}},
};
enum { NPROGRAM = sizeof programs / sizeof *programs };

static void must(lz_status s)
{
    ck_assert_msg(s == LZ_OK, "%s", lz_error_get()->message);
}

/* What the kernels of a program are, without the arguments' numbers. */
static char *kernels_of(const char *text)
{
    lz_func *f = NULL;
    lz_plan *p = NULL;
    lz_buf b = {0};
    must(lz_func_parse(text, strlen(text), NULL, &f));
    must(lz_lower(f, NULL, &p));
    for (uint32_t i = 0; i < p->nkernel; i++)
        lz_kernel_print(p->kernels[i], &b);
    ck_assert(!b.failed);
    char *to = b.data;
    for (const char *at = b.data; *at; at++) {
        if (*at == '@')
            at += 1 + strspn(at + 1, "0123456789");
        *to++ = *at;
    }
    *to = '\0';
    lz_plan_free(p);
    lz_func_free(f);
    return b.data;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

START_TEST(of_convolutions)
{
    char *t = kernels_of(programs[_i].program);
    int want = 0;
    for (int i = 0; i < 2; i++)
        if (programs[_i].borders[i]) {
            ck_assert_msg(strstr(t, programs[_i].borders[i]), "%s\n%s", programs[_i].borders[i], t);
            want++;
        }
    ck_assert_msg(count(t, " border ") == want, "%s", t);
    lz_free(t);
}
END_TEST

/* 3 rows of 5 windows over 7 of 2 elements, of which the first and the last are padding. */
static const char padded[] = "kernel \"padded\" vec(outer) {\n"
                             "  buf 0: f32 read\n  buf 1: f32 read\n  buf 2: f32 write\n"
                             "  outer [3, 5, 4]\n"
                             "  dot %0 %1\n"
                             "  stage 0 inner [6] {\n"
                             "    %0: f32 = load 0 = 0[0 + 14 i0 + 2 i1 + 1 i3] border 2 i1 + 1 i3 "
                             "in 2 to 12\n"
                             "    %1: f32 = load 1 = 1[0 + 1 i2 + 4 i3]\n"
                             "    %2: f32 = multiply %0, %1\n"
                             "    %3: f32 = const 0x0\n"
                             "    reduce add f32 %2 init %3\n"
                             "  }\n"
                             "  stage 1 inner [] {\n"
                             "    %0: f32 = red 0.0\n"
                             "    store 2[0 + 20 i0 + 4 i1 + 1 i2] = %0\n"
                             "  }\n}\n";

START_TEST(the_executor_looks)
{
    float x[42], w[24], y[60];
    lz_kernel *k;
    must(lz_kernel_parse(padded, strlen(padded), &k));
    void *p[] = {x, w, y};
    size_t n[] = {sizeof x, sizeof w, sizeof y};
    for (int i = 0; i < 42; i++)
        x[i] = i % 14 < 2 || i % 14 >= 12 ? 0 : (float)(i * 7 % 11) - 5;
    for (int i = 0; i < 24; i++)
        w[i] = (float)(i * 5 % 9) - 4;
    must(lz_loop_run(k, p, n));
    static const int at[] = {0, 13, 15, 40};
    for (int i = 0; i < 4; i++) {
        float was = x[at[i]];
        x[at[i]] = i & 1 ? 1e-40f : -0.0f; /* is no +0, either */
        ck_assert_int_eq(lz_loop_run(k, p, n), LZ_EINTERNAL);
        ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "border of buffer 0"));
        x[at[i]] = was;
    }
    must(lz_loop_run(k, p, n));
    lz_kernel_free(k);
}
END_TEST

static lz_status changed(const char *from, const char *to)
{
    char text[sizeof padded + 100];
    const char *at = strstr(padded, from);
    ck_assert_ptr_nonnull(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - padded), padded, to, at + strlen(from));
    lz_kernel *k = NULL;
    lz_status s = lz_kernel_parse(text, strlen(text), &k);
    lz_kernel_free(k);
    return s;
}

START_TEST(the_verifier_looks)
{
    ck_assert_int_eq(changed("in 2 to", "in 3 to"), LZ_OK);
    ck_assert_int_ne(changed("border 2 i1", "border 0 i1"), LZ_OK);
    ck_assert_int_ne(changed("border 2 i1", "border 2 i3"), LZ_OK);
    ck_assert_int_ne(changed("+ 1 i3 in", "+ 1 i1 in"), LZ_OK);
    ck_assert_int_ne(changed("+ 1 i3 in", "+ -1 i3 in"), LZ_OK);
    ck_assert_int_ne(changed("+ 1 i3 in", "+ 1 i4 in"), LZ_OK);
    ck_assert_int_ne(changed("to 12", ""), LZ_OK);
    ck_assert_int_eq(changed("to 12", "to 12 border 1 i0 + 1 i3 in 0 to 9"), LZ_OK);
    ck_assert_int_ne(
        changed("to 12", "to 12 border 1 i0 + 1 i3 in 0 to 9 border 1 i0 + 1 i3 in 0 to 9"), LZ_OK);
}
END_TEST

/* Borders are part of what a kernel is. */
START_TEST(other_borders_are_other_kernels)
{
    lz_kernel *a, *b;
    char text[sizeof padded];
    strcpy(text, padded);
    must(lz_kernel_parse(text, strlen(text), &a));
    memset(strstr(text, " border"), ' ', strlen(" border 2 i1 + 1 i3 in 2 to 12"));
    must(lz_kernel_parse(text, strlen(text), &b));
    ck_assert(!lz_hash_eq(a->hash, b->hash));
    ck_assert_uint_eq(b->stages[0].accs[0].nborder, 0);
    ck_assert_uint_eq(a->stages[0].accs[0].nborder, 1);
    lz_kernel_free(a);
    lz_kernel_free(b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("borders");
    TCase *t = tcase_create("borders");
    tcase_add_loop_test(t, of_convolutions, 0, NPROGRAM);
    tcase_add_test(t, the_executor_looks);
    tcase_add_test(t, the_verifier_looks);
    tcase_add_test(t, other_borders_are_other_kernels);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
