/* t_combine.c - the loops that sum memory over partitions: every combiner and dtype, by any
 * processor's code and by AVX2's, have the reference's bits, whatever the length. */
#include "ir/eval/eval.h"
#include "lower/plan/plan_collective.h"
#include "suite.h"
#include "support/lit.h"
#include <string.h>

static const lz_op ops[] = {LZ_OP_ADD, LZ_OP_MULTIPLY, LZ_OP_MAXIMUM, LZ_OP_MINIMUM,
                            LZ_OP_AND, LZ_OP_OR,       LZ_OP_XOR};
enum { NOP = (int)(sizeof ops / sizeof *ops), MOST = 1100 };

/* A NaN is as good as another of two operands', and so is its sign. */
static bool same(lz_dtype d, const char *x, const char *y, int64_t i)
{
    size_t size = lz_dtype_size(d);
    double a = lz_elem_get_f64(d, x, i), b = lz_elem_get_f64(d, y, i);
    return memcmp(x + (size_t)i * size, y + (size_t)i * size, size) == 0 || (a != a && b != b);
}

static void compare(lz_rnd *r, lz_op op, lz_dtype d, bool avx2, int64_t n)
{
    static _Alignas(64) char x[(MOST + 1) * 8], y[(MOST + 1) * 8], want[(MOST + 1) * 8];
    size_t size = lz_dtype_size(d);
    lz_combine_fn *f = lz_combine_get(op, d, avx2);
    if (!f)
        return;
    for (int64_t i = 0; i < MOST * 8; i += 8) {
        uint64_t a = lz_rnd_u64(r), b = lz_rnd_u64(r);
        memcpy(x + i, &a, 8);
        memcpy(y + i, i % 3 ? &b : &a, 8); /* some are equal */
    }
    lz_ref_ew e = {
        .op = op, .out = d, .in = {d, d}, .src = {x, y}, .step = {1, 1}, .dst = want, .n = n};
    ck_assert_int_eq(lz_ref_ew_get(op)(&e), LZ_OK);
    char behind[8];
    memcpy(behind, x + (size_t)n * size, 8);
    f(x, y, (size_t)n);
    ck_assert_int_eq(memcmp(behind, x + (size_t)n * size, 8), 0);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(same(d, x, want, i), "%s %s, element %d of %d, avx2 %d: %a for %a",
                      lz_op_get(op)->text, lz_dtype_name(d), (int)i, (int)n, avx2,
                      lz_elem_get_f64(d, x, i), lz_elem_get_f64(d, want, i));
}

START_TEST(loops)
{
    lz_rnd r = {lz_test_seed() + (uint64_t)_i};
    int found = 0;
    for (lz_dtype d = LZ_BOOL; d < LZ_DTYPE_COUNT; d++) {
        found += lz_combine_get(ops[_i], d, false) != NULL;
        ck_assert(!lz_combine_get(ops[_i], d, false) == !lz_combine_get(ops[_i], d, true));
        for (int avx2 = 0; avx2 <= lz_combine_avx2(); avx2++)
            for (int64_t n = 0; n <= MOST; n += n < 20 ? 1 : 120)
                compare(&r, ops[_i], d, avx2, n);
    }
    ck_assert_int_ge(found, 8); /* integers at least */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("combine");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, loops, 0, NOP);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
