/* t_combine.c - the loops that sum memory over partitions: every combiner and dtype, by any
 * processor's code and by AVX2's, have the reference's bits, whatever the length and the
 * numbers. */
#include "ir/eval/eval.h"
#include "lower/plan/plan_collective.h"
#include "suite.h"
#include "support/lit.h"
#include <float.h>
#include <math.h>
#include <string.h>

static const lz_op ops[] = {LZ_OP_ADD, LZ_OP_MULTIPLY, LZ_OP_MAXIMUM, LZ_OP_MINIMUM,
                            LZ_OP_AND, LZ_OP_OR,       LZ_OP_XOR};
enum { NOP = (int)(sizeof ops / sizeof *ops), MOST = 1100 };

/* A NaN is as good as another of two operands', and so is its sign. Parts of complex numbers are
 * compared by themselves. */
static bool same(lz_dtype d, const char *x, const char *y, int64_t i)
{
    lz_dtype part = lz_dtype_is_complex(d) ? lz_dtype_part(d) : d;
    size_t size = lz_dtype_size(part);
    for (int64_t k = i * (int64_t)(lz_dtype_size(d) / size),
                 end = k + (int64_t)(lz_dtype_size(d) / size);
         k < end; k++) {
        double a = lz_elem_get_f64(part, x, k), b = lz_elem_get_f64(part, y, k);
        if (memcmp(x + (size_t)k * size, y + (size_t)k * size, size) != 0 && (a == a || b == b))
            return false;
    }
    return true;
}

static const double special[] = {0.0,      -0.0,  INFINITY, -INFINITY, NAN,        1,
                                 -1,       1.5,   0x1p-24,  -0x1p-24,  0x1.8p-133, -0x1p-149,
                                 -DBL_MAX, 65504, FLT_MAX,  -FLT_MAX};
enum { NSPECIAL = (int)(sizeof special / sizeof *special) };

/* n elements: any bits that one can have, or a special number. */
static void fill(lz_rnd *r, lz_dtype d, char *p, int64_t n)
{
    bool complex = lz_dtype_is_complex(d), is_float = complex || lz_dtype_is_float(d);
    lz_dtype part = complex ? lz_dtype_part(d) : d;
    for (int64_t i = 0; i < n * (complex ? 2 : 1); i++) {
        uint64_t bits = lz_rnd_u64(r);
        if (is_float && lz_rnd_u64(r) % 2)
            lz_ref_store_f(part, p, i, special[bits % NSPECIAL]);
        else if (is_float)
            memcpy(p + (size_t)i * lz_dtype_size(part), &bits, lz_dtype_size(part));
        else
            lz_ref_store_u(part, p, i, bits);
    }
}

static void compare(lz_rnd *r, lz_op op, lz_dtype d, bool avx2, int64_t n)
{
    static _Alignas(64) char x[(MOST + 1) * 16], y[(MOST + 1) * 16], want[(MOST + 1) * 16];
    size_t size = lz_dtype_size(d);
    lz_combine_fn *f = lz_combine_get(op, d, avx2);
    if (!f)
        return;
    fill(r, d, x, n + 1);
    fill(r, d, y, n + 1);
    for (int64_t i = 0; i < n; i += 3) /* some are equal */
        memcpy(y + (size_t)i * size, x + (size_t)i * size, size);
    lz_ref_ew e = {
        .op = op, .out = d, .in = {d, d}, .src = {x, y}, .step = {1, 1}, .dst = want, .n = n};
    ck_assert_int_eq(lz_ref_ew_get(op)(&e), LZ_OK);
    char behind[16];
    memcpy(behind, x + (size_t)n * size, size);
    f(x, y, (size_t)n);
    ck_assert_int_eq(memcmp(behind, x + (size_t)n * size, size), 0);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(same(d, x, want, i), "%s %s, element %d of %d, avx2 %d", lz_op_get(op)->text,
                      lz_dtype_name(d), (int)i, (int)n, avx2);
}

/* What has a meaning of a dtype: there is a loop for it, so that none is slow. */
static bool has_loop(lz_op op, lz_dtype d)
{
    bool logic = op == LZ_OP_AND || op == LZ_OP_OR || op == LZ_OP_XOR,
         extremum = op == LZ_OP_MAXIMUM || op == LZ_OP_MINIMUM;
    if (lz_dtype_is_complex(d))
        return !logic && !extremum;
    if (lz_dtype_is_float(d))
        return !logic;
    return d == LZ_BOOL || lz_dtype_is_int(d);
}

START_TEST(loops)
{
    lz_rnd r = {lz_test_seed() + (uint64_t)_i};
    for (lz_dtype d = LZ_BOOL; d < LZ_DTYPE_COUNT; d++) {
        for (int avx2 = 0; avx2 < 2; avx2++)
            ck_assert_msg((lz_combine_get(ops[_i], d, avx2) != NULL) == has_loop(ops[_i], d),
                          "%s %s", lz_op_get(ops[_i])->text, lz_dtype_name(d));
        for (int avx2 = 0; avx2 <= lz_combine_avx2(); avx2++)
            for (int64_t n = 0; n <= MOST; n += n < 20 ? 1 : 120)
                compare(&r, ops[_i], d, avx2, n);
    }
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
