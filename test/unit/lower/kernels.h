/* kernels.h - kernels as text for the tests of the loop IR: one of every kind. @R and @C in a text
 * stand for sizes. */
#ifndef LZ_TEST_KERNELS_H
#define LZ_TEST_KERNELS_H
#include "lower/loops/loop.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* out[i][j] = x[i][j] * s[j] + 0.5 */
static const char k_scale[] = "kernel \"scale\" vec(outer) {\n"
                              "  buf 0: f32 read\n  buf 1: f32 read\n  buf 2: f32 write inplace 0\n"
                              "  outer [$R, $C]\n"
                              "  stage 0 inner [] {\n"
                              "    %0: f32 = load 0 = 0[0 + $C i0 + 1 i1]\n"
                              "    %1: f32 = load 1 = 1[0 + 1 i1]\n"
                              "    %2: f32 = multiply %0, %1\n"
                              "    %3: f32 = const 0x3f000000\n"
                              "    %4: f32 = add %2, %3\n"
                              "    store 2[0 + $C i0 + 1 i1] = %4\n"
                              "  }\n}\n";

/* out[i][:] = softmax(x[i][:]) */
static const char k_softmax[] = "kernel \"softmax\" vec(inner) {\n"
                                "  buf 0: f32 read\n  buf 1: f32 read write\n"
                                "  outer [$R]\n"
                                "  stage 0 inner [$C] {\n"
                                "    %0: f32 = load 0 = 0[0 + $C i0 + 1 i1]\n"
                                "    %1: f32 = const 0xff800000\n"
                                "    reduce maximum f32 %0 init %1\n"
                                "  }\n"
                                "  stage 1 inner [$C] {\n"
                                "    %0: f32 = load 0 = 0[0 + $C i0 + 1 i1]\n"
                                "    %1: f32 = red 0.0\n"
                                "    %2: f32 = subtract %0, %1\n"
                                "    %3: f32 = exponential %2\n"
                                "    %4: f32 = const 0x0\n"
                                "    reduce add f32 %3 init %4\n"
                                "    store 1[0 + $C i0 + 1 i1] = %3\n"
                                "  }\n"
                                "  stage 2 inner [$C] {\n"
                                "    %0: f32 = load 0 = 1[0 + $C i0 + 1 i1]\n"
                                "    %1: f32 = red 1.0\n"
                                "    %2: f32 = divide %0, %1\n"
                                "    store 1[0 + $C i0 + 1 i1] = %2\n"
                                "  }\n}\n";

/* out[j] = sum_i x[i][j], bf16 accumulated in f32 */
static const char k_colsum[] = "kernel \"colsum\" vec(outer) {\n"
                               "  buf 0: bf16 read\n  buf 1: bf16 write\n"
                               "  outer [$C]\n"
                               "  stage 0 inner [$R] {\n"
                               "    %0: bf16 = load 0 = 0[0 + 1 i0 + $C i1]\n"
                               "    %1: f32 = const 0x0\n"
                               "    reduce add f32 %0 init %1\n"
                               "  }\n"
                               "  stage 1 inner [] {\n"
                               "    %0: f32 = red 0.0\n"
                               "    %1: bf16 = convert %0\n"
                               "    store 1[0 + 1 i0] = %1\n"
                               "  }\n}\n";

/* out[m][n] = relu(sum_k a[m][k] * b[k][n] + bias[n]), k = 9 */
static const char k_dot[] =
    "kernel \"dot\" vec(outer) {\n"
    "  buf 0: f32 read\n  buf 1: f32 read\n  buf 2: f32 read\n  buf 3: f32 write\n"
    "  outer [$R, $C]\n"
    "  dot %0 %1\n"
    "  stage 0 inner [9] {\n"
    "    %0: f32 = load 0 = 0[0 + 9 i0 + 1 i2]\n"
    "    %1: f32 = load 1 = 1[0 + 1 i1 + $C i2]\n"
    "    %2: f32 = multiply %0, %1\n"
    "    %3: f32 = const 0x0\n"
    "    reduce add f32 %2 init %3\n"
    "  }\n"
    "  stage 1 inner [] {\n"
    "    %0: f32 = red 0.0\n"
    "    %1: f32 = load 0 = 2[0 + 1 i1]\n"
    "    %2: f32 = add %0, %1\n"
    "    %3: f32 = const 0x0\n"
    "    %4: f32 = maximum %2, %3\n"
    "    store 3[0 + $C i0 + 1 i1] = %4\n"
    "  }\n}\n";

/* out[i] = index of the largest of x[i][:], the first one of equals */
static const char k_argmax[] =
    "kernel \"argmax\" {\n"
    "  buf 0: f32 read\n  buf 1: i64 write\n"
    "  outer [$R]\n"
    "  stage 0 inner [$C] {\n"
    "    %0: f32 = load 0 = 0[0 + $C i0 + 1 i1]\n"
    "    %1: i64 = index 1\n"
    "    %2: f32 = const 0xff800000\n"
    "    %3: i64 = size $C\n"
    "    reduce (f32 %0 init %2, i64 %1 init %3) {\n"
    "      %0: f32 = acc 0\n      %1: i64 = acc 1\n      %2: f32 = elt 0\n      %3: i64 = elt 1\n"
    "      %4: bool = compare %2, %0 {comparison_direction = GT, compare_type = FLOAT}\n"
    "      %5: bool = compare %2, %0 {comparison_direction = EQ, compare_type = FLOAT}\n"
    "      %6: bool = compare %3, %1 {comparison_direction = LT, compare_type = SIGNED}\n"
    "      %7: bool = and %5, %6\n"
    "      %8: bool = or %4, %7\n"
    "      %9: f32 = select %8, %2, %0\n"
    "      %10: i64 = select %8, %3, %1\n"
    "      out %9, %10\n"
    "    }\n"
    "  }\n"
    "  stage 1 inner [] {\n"
    "    %0: i64 = red 0.1\n"
    "    store 1[0 + 1 i0] = %0\n"
    "  }\n}\n";

/* out[i][j] = table[clamp(id[i])][j], table of 4 rows; rows with a negative id are -1 */
static const char k_gather[] =
    "kernel \"gather\" vec(outer) {\n"
    "  buf 0: f32 read\n  buf 1: i32 read\n  buf 2: f32 write\n"
    "  outer [$R, $C]\n"
    "  stage 0 inner [] {\n"
    "    %0: i32 = load 1 = 1[0 + 1 i0]\n"
    "    %1: i64 = convert %0\n"
    "    %2: i64 = const 0x0\n"
    "    %3: i64 = const 0x3\n"
    "    %4: i64 = clamp %2, %1, %3\n"
    "    %5: bool = compare %1, %2 {comparison_direction = GE, compare_type = SIGNED}\n"
    "    %6: f32 = const 0xbf800000\n"
    "    %7: f32 = load 0 = 0[0 + 1 i1 + $C %4] if %5 else %6\n"
    "    store 2[0 + $C i0 + 1 i1] = %7\n"
    "  }\n}\n";

/* out[id[i]] += x[i] for every i in order; ids outside 0..4 are dropped */
static const char k_scatter[] =
    "kernel \"scatter\" serial {\n"
    "  buf 0: i32 read\n  buf 1: f32 read\n  buf 2: f32 read write\n"
    "  outer [$R]\n"
    "  stage 0 inner [] {\n"
    "    %0: i32 = load 0 = 0[0 + 1 i0]\n"
    "    %1: i64 = convert %0\n"
    "    %2: i64 = const 0x0\n"
    "    %3: i64 = const 0x5\n"
    "    %4: bool = compare %1, %2 {comparison_direction = GE, compare_type = SIGNED}\n"
    "    %5: bool = compare %1, %3 {comparison_direction = LT, compare_type = SIGNED}\n"
    "    %6: bool = and %4, %5\n"
    "    %7: f32 = const 0x0\n"
    "    %8: f32 = load 1 = 2[0 + 1 %1] if %6 else %7\n"
    "    %9: f32 = load 2 = 1[0 + 1 i0]\n"
    "    %10: f32 = add %8, %9\n"
    "    store 2[0 + 1 %1] = %10 if %6\n"
    "  }\n}\n";

/* out[i] = reverse of x, bits reduced; exercises stride -1, an offset and an attribute with
 * numbers */
static const char k_reverse[] =
    "kernel \"reverse\" vec(outer) {\n"
    "  buf 0: f32 read\n  buf 1: f32 write\n"
    "  outer [$R]\n"
    "  stage 0 inner [] {\n"
    "    %0: f32 = load 0 = 0[$C + -1 i0]\n"
    "    %1: f32 = reduce_precision %0 {exponent_bits = 5, mantissa_bits = 10}\n"
    "    store 1[0 + 1 i0] = %1\n"
    "  }\n}\n";

/* out[i][:] = the places of x[i][:] in descending order, sums of x and its index as values */
static const char k_sort[] =
    "kernel \"sort\" {\n"
    "  buf 0: f32 read\n  buf 1: i64 write\n  buf 2: f32 write inplace 0\n"
    "  outer [$R]\n"
    "  stage 0 inner [$C] {\n"
    "    %0: f32 = load 0 = 0[0 + $C i0 + 1 i1]\n"
    "    %1: i64 = index 1\n"
    "    sort %0, %1 {\n"
    "      %0: f32 = elt 0\n      %1: f32 = elt 1\n"
    "      %2: bool = compare %0, %1 {comparison_direction = GT, compare_type = TOTALORDER}\n"
    "      out %2\n"
    "    }\n"
    "  }\n"
    "  stage 1 inner [$C] {\n"
    "    %0: i64 = sorted 0.1\n"
    "    %1: f32 = sorted 0.0\n"
    "    %2: f32 = convert %0\n"
    "    %3: f32 = add %1, %2\n"
    "    store 1[0 + $C i0 + 1 i1] = %0\n"
    "    store 2[0 + $C i0 + 1 i1] = %3\n"
    "  }\n}\n";

/* out[b][i][:] = softmax of x[b][i][:] y[b][j][:] along j, where j <= i, times z[b][j][:]; 3 of b,
 * $R of i, $C of j */
static const char k_attend[] = "kernel \"attend\" vec(inner) {\n"
                               "  buf 0: f32 read\n  buf 1: f32 read\n  buf 2: bf16 read\n"
                               "  buf 3: f32 write\n  buf 4: f32 write\n"
                               "  outer [3, $R]\n"
                               "  stage 0 inner [$C, 20] keep {\n"
                               "    %0: f32 = load 0 = 0[0 + 2000 i0 + 20 i1 + 1 i3]\n"
                               "    %1: f32 = const 0x3f000000\n"
                               "    %2: f32 = multiply %0, %1\n"
                               "    %3: f32 = load 1 = 1[0 + 2000 i0 + 20 i2 + 1 i3]\n"
                               "    %4: f32 = multiply %2, %3\n"
                               "    %5: f32 = const 0x0\n"
                               "    reduce add f32 %4 init %5\n"
                               "  }\n"
                               "  stage 1 inner [$C] {\n"
                               "    %0: i64 = index 2\n"
                               "    %1: i64 = index 1\n"
                               "    %2: bool = compare %0, %1 {comparison_direction = LE, "
                               "compare_type = SIGNED}\n"
                               "    %3: f32 = row 0.0\n"
                               "    %4: f32 = const 0xff800000\n"
                               "    %5: f32 = select %2, %3, %4\n"
                               "    reduce maximum f32 %5 init %4\n"
                               "    row %5\n"
                               "  }\n"
                               "  stage 2 inner [$C] {\n"
                               "    %0: f32 = row 1.0\n"
                               "    %1: f32 = red 1.0\n"
                               "    %2: f32 = subtract %0, %1\n"
                               "    %3: f32 = exponential %2\n"
                               "    %4: f32 = const 0x0\n"
                               "    %5: bf16 = convert %3\n"
                               "    reduce add f32 %3 init %4\n"
                               "    row %3, %5\n"
                               "  }\n"
                               "  stage 3 inner [17, $C] keep {\n"
                               "    %0: bf16 = row 2.1\n"
                               "    %1: f32 = convert %0\n"
                               "    %2: bf16 = load 0 = 2[0 + 1700 i0 + 1 i2 + 17 i3]\n"
                               "    %3: f32 = convert %2\n"
                               "    %4: f32 = multiply %1, %3\n"
                               "    %5: f32 = const 0x0\n"
                               "    reduce add f32 %4 init %5\n"
                               "  }\n"
                               "  stage 4 inner [17] {\n"
                               "    %0: f32 = row 3.0\n"
                               "    %1: f32 = red 2.0\n"
                               "    %2: f32 = divide %0, %1\n"
                               "    store 3[0 + 1700 i0 + 17 i1 + 1 i2] = %2\n"
                               "  }\n"
                               "  stage 5 inner [] {\n"
                               "    %0: f32 = red 2.0\n"
                               "    store 4[0 + 100 i0 + 1 i1] = %0\n"
                               "  }\n}\n";

/* a product with windows over a padded factor */
static const char k_padded[] =
    "kernel \"padded\" vec(outer) {\n"
    "  buf 0: f32 read\n  buf 1: f32 read\n  buf 2: f32 write\n"
    "  outer [$C, 40, $R]\n"
    "  dot %0 %1\n"
    "  stage 0 inner [33, 50] {\n"
    "    %0: f32 = load 0 = 0[0 + 900 i0 + 30 i1 + 3000 i3 + 1 i4] border $C i0 + 30 i3 in $R to "
    "900 border 30 i1 + 1 i4 in 60 to 3333\n"
    "    %1: f32 = load 1 = 1[0 + 1 i2 + 2000 i3 + 40 i4]\n"
    "    %2: f32 = multiply %0, %1\n"
    "    %3: f32 = const 0x0\n"
    "    reduce add f32 %2 init %3\n"
    "  }\n"
    "  stage 1 inner [] {\n"
    "    %0: f32 = red 0.0\n"
    "    store 2[0 + 40000 i0 + 400 i1 + 1 i2] = %0\n"
    "  }\n}\n";

static const char *const k_all[] = {k_scale,   k_softmax, k_colsum, k_dot,    k_argmax, k_gather,
                                    k_scatter, k_reverse, k_sort,   k_attend, k_padded};
enum { K_COUNT = sizeof k_all / sizeof *k_all };

/* The text with $R and $C replaced. */
static inline char *k_text(const char *t, int64_t r, int64_t c)
{
    char *out = malloc(strlen(t) * 4 + 1), *p = out;
    for (; *t; t++) {
        if (*t == '$' && (t[1] == 'R' || t[1] == 'C'))
            p += sprintf(p, "%lld", (long long)(*++t == 'R' ? r : c));
        else
            *p++ = *t;
    }
    *p = '\0';
    return out;
}

static inline lz_kernel *k_make(const char *t, int64_t r, int64_t c)
{
    char *text = k_text(t, r, c);
    lz_kernel *k = NULL;
    lz_status s = lz_kernel_parse(text, strlen(text), &k);
    ck_assert_msg(s == LZ_OK, "%s\n%s", lz_error_get()->message, text);
    free(text);
    return k;
}
#endif
