/* t_eval_ew.c - elementwise operations of the reference against tables and formulas. */
#include "ir/eval/eval.h"
#include "ir/eval/special.h"
#include "suite.h"
#include "support/gen.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint64_t run3(lz_op op, const void *attr, lz_dtype out, lz_dtype in, uint64_t a, uint64_t b,
                     uint64_t c)
{
    const lz_dtype d[3] = {op == LZ_OP_SELECT ? LZ_BOOL : in, in, in};
    const uint64_t x[3] = {a, b, c};
    uint64_t r = 0;
    ck_assert_msg(lz_ref_eval_bits(op, attr, out, d, x, &r) == LZ_OK, "%s: %s", lz_op_get(op)->text,
                  lz_error_get()->message);
    return r;
}

/* ---- floats in f32 ---- */

static uint32_t f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static uint64_t f64_bits(double f)
{
    uint64_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static void check_f32(lz_op op, uint64_t got, float want, float a, float b)
{
    bool ok = isnan(want) ? (got & 0x7fffffff) > 0x7f800000 : got == f32_bits(want);
    ck_assert_msg(ok, "%s(%a, %a) = 0x%08" PRIx64 ", want %a", lz_op_get(op)->text, a, b, got,
                  want);
}

static const struct {
    lz_op op;
    float a, b, want;
} binary_f32[] = {
    /* NaN, infinities, zeros through max, min and the rest */
    {LZ_OP_MAXIMUM, NAN, 1, NAN},
    {LZ_OP_MAXIMUM, 1, NAN, NAN},
    {LZ_OP_MAXIMUM, 0.f, -0.f, 0.f},
    {LZ_OP_MAXIMUM, -0.f, 0.f, 0.f},
    {LZ_OP_MAXIMUM, -0.f, -0.f, -0.f},
    {LZ_OP_MAXIMUM, -INFINITY, 3, 3},
    {LZ_OP_MAXIMUM, INFINITY, NAN, NAN},
    {LZ_OP_MINIMUM, NAN, 1, NAN},
    {LZ_OP_MINIMUM, 1, NAN, NAN},
    {LZ_OP_MINIMUM, 0.f, -0.f, -0.f},
    {LZ_OP_MINIMUM, -0.f, 0.f, -0.f},
    {LZ_OP_MINIMUM, 0.f, 0.f, 0.f},
    {LZ_OP_MINIMUM, -INFINITY, 3, -INFINITY},
    {LZ_OP_ADD, INFINITY, -INFINITY, NAN},
    {LZ_OP_ADD, -0.f, 0.f, 0.f},
    {LZ_OP_ADD, -0.f, -0.f, -0.f},
    {LZ_OP_ADD, 0x1.fffffep127f, 0x1p103f, INFINITY},
    {LZ_OP_ADD, 0x1.fffffep127f, 0x1p102f, 0x1.fffffep127f},
    {LZ_OP_ADD, 0x1p-149f, 0x1p-149f, 0x1p-148f},
    {LZ_OP_SUBTRACT, 1, 1, 0.f},
    {LZ_OP_MULTIPLY, 0, INFINITY, NAN},
    {LZ_OP_MULTIPLY, -1, 0, -0.f},
    {LZ_OP_MULTIPLY, 0x1p-100f, 0x1p-49f, 0x1p-149f},
    {LZ_OP_MULTIPLY, 0x1p-100f, 0x1p-50f, 0},
    {LZ_OP_MULTIPLY, 0x1p-100f, 0x1.8p-50f, 0x1p-149f},
    {LZ_OP_DIVIDE, 1, 0.f, INFINITY},
    {LZ_OP_DIVIDE, 1, -0.f, -INFINITY},
    {LZ_OP_DIVIDE, 0, 0, NAN},
    {LZ_OP_DIVIDE, INFINITY, INFINITY, NAN},
    {LZ_OP_DIVIDE, 1, 3, 1.f / 3},
    {LZ_OP_REMAINDER, 5.5f, 2, 1.5f},
    {LZ_OP_REMAINDER, -5.5f, 2, -1.5f},
    {LZ_OP_REMAINDER, 5.5f, -2, 1.5f},
    {LZ_OP_REMAINDER, -4, 2, -0.f},
    {LZ_OP_REMAINDER, 1, 0, NAN},
    {LZ_OP_REMAINDER, INFINITY, 2, NAN},
    {LZ_OP_REMAINDER, 2, INFINITY, 2},
    {LZ_OP_REMAINDER, 1e38f, 7, 2},
    {LZ_OP_POWER, 2, 10, 1024},
    {LZ_OP_POWER, NAN, 0, 1},
    {LZ_OP_POWER, 1, NAN, 1},
    {LZ_OP_POWER, -8, 3, -512},
    {LZ_OP_POWER, -8, 0.5f, NAN},
    {LZ_OP_POWER, 0, -1, INFINITY},
    {LZ_OP_POWER, -0.f, -1, -INFINITY},
    {LZ_OP_POWER, -1, INFINITY, 1},
    {LZ_OP_POWER, 0.5f, -INFINITY, INFINITY},
    {LZ_OP_ATAN2, 0, 1, 0},
    {LZ_OP_ATAN2, 0, -1, 0x1.921fb6p+1f},
    {LZ_OP_ATAN2, -0.f, -1, -0x1.921fb6p+1f},
    {LZ_OP_ATAN2, 1, 0, 0x1.921fb6p+0f},
    {LZ_OP_ATAN2, INFINITY, INFINITY, 0x1.921fb6p-1f},
    {LZ_OP_ATAN2, NAN, 1, NAN},
};

START_TEST(f32_pairs)
{
    lz_op op = binary_f32[_i].op;
    float a = binary_f32[_i].a, b = binary_f32[_i].b, want = binary_f32[_i].want;
    if (op == LZ_OP_REMAINDER && a == 1e38f)
        want = (float)fmod(1e38f, 7);
    check_f32(op, run3(op, NULL, LZ_F32, LZ_F32, f32_bits(a), f32_bits(b), 0), want, a, b);
}
END_TEST

static const struct {
    lz_op op;
    float a, want;
} unary_f32[] = {
    {LZ_OP_ABS, -0.f, 0.f},
    {LZ_OP_ABS, -INFINITY, INFINITY},
    {LZ_OP_ABS, -2.5f, 2.5f},
    {LZ_OP_NEGATE, 0.f, -0.f},
    {LZ_OP_NEGATE, -3, 3},
    {LZ_OP_SIGN, -0.f, -0.f},
    {LZ_OP_SIGN, 0.f, 0.f},
    {LZ_OP_SIGN, NAN, NAN},
    {LZ_OP_SIGN, -0x1p-149f, -1},
    {LZ_OP_SIGN, INFINITY, 1},
    {LZ_OP_CEIL, -0.8f, -0.f},
    {LZ_OP_CEIL, 0.2f, 1},
    {LZ_OP_CEIL, 8388609.f, 8388609.f},
    {LZ_OP_FLOOR, -0.2f, -1},
    {LZ_OP_FLOOR, -0.f, -0.f},
    {LZ_OP_ROUND_NEAREST_AFZ, -2.5f, -3},
    {LZ_OP_ROUND_NEAREST_AFZ, 0.4f, 0},
    {LZ_OP_ROUND_NEAREST_AFZ, 0.5f, 1},
    {LZ_OP_ROUND_NEAREST_AFZ, 0x1.fffffep-2f, 0},
    {LZ_OP_ROUND_NEAREST_AFZ, -0.4f, -0.f},
    {LZ_OP_ROUND_NEAREST_EVEN, -2.5f, -2},
    {LZ_OP_ROUND_NEAREST_EVEN, 0.5f, 0},
    {LZ_OP_ROUND_NEAREST_EVEN, 1.5f, 2},
    {LZ_OP_ROUND_NEAREST_EVEN, -0.5f, -0.f},
    {LZ_OP_SQRT, -0.f, -0.f},
    {LZ_OP_SQRT, -1, NAN},
    {LZ_OP_SQRT, 0x1p-149f, 0x1.6a09e6p-75f},
    {LZ_OP_SQRT, 2, 0x1.6a09e6p+0f},
    {LZ_OP_RSQRT, 0.f, INFINITY},
    {LZ_OP_RSQRT, -0.f, -INFINITY},
    {LZ_OP_RSQRT, INFINITY, 0},
    {LZ_OP_RSQRT, 4, 0.5f},
    {LZ_OP_CBRT, -27, -3},
    {LZ_OP_CBRT, -0.f, -0.f},
    {LZ_OP_EXPONENTIAL, -INFINITY, 0},
    {LZ_OP_EXPONENTIAL, 88.8f, INFINITY},
    {LZ_OP_EXPONENTIAL, -104.f, 0},
    {LZ_OP_EXPONENTIAL, 1, 0x1.5bf0a8p+1f},
    {LZ_OP_EXPONENTIAL, -103.f, 0x1p-149f},
    {LZ_OP_EXPONENTIAL_MINUS_ONE, -0.f, -0.f},
    {LZ_OP_EXPONENTIAL_MINUS_ONE, 1e-10f, 1e-10f},
    {LZ_OP_EXPONENTIAL_MINUS_ONE, -INFINITY, -1},
    {LZ_OP_LOG, 0, -INFINITY},
    {LZ_OP_LOG, -1, NAN},
    {LZ_OP_LOG, 1, 0},
    {LZ_OP_LOG, 0x1p-149f, -0x1.9d1dap+6f},
    {LZ_OP_LOG_PLUS_ONE, -1, -INFINITY},
    {LZ_OP_LOG_PLUS_ONE, 1e-10f, 1e-10f},
    {LZ_OP_LOG_PLUS_ONE, -0.f, -0.f},
    {LZ_OP_LOGISTIC, 0, 0.5f},
    {LZ_OP_LOGISTIC, INFINITY, 1},
    {LZ_OP_LOGISTIC, -INFINITY, 0},
    {LZ_OP_LOGISTIC, -103, 0x1p-149f},
    {LZ_OP_TANH, -0.f, -0.f},
    {LZ_OP_TANH, 20, 1},
    {LZ_OP_TANH, -INFINITY, -1},
    {LZ_OP_TANH, 1e-20f, 1e-20f},
    {LZ_OP_SINE, -0.f, -0.f},
    {LZ_OP_SINE, INFINITY, NAN},
    {LZ_OP_COSINE, 0, 1},
    {LZ_OP_SINE, 1e22f, -0x1.6deb32p-1f},
    {LZ_OP_TAN, -0.f, -0.f},
    {LZ_OP_TAN, 0x1.921fb6p-1f, 1},
    {LZ_OP_ERF, -0.f, -0.f},
    {LZ_OP_ERF, 1, 0x1.af767ap-1f},
    {LZ_OP_ERF, INFINITY, 1},
    {LZ_OP_ERF, NAN, NAN},
};

START_TEST(f32_singles)
{
    lz_op op = unary_f32[_i].op;
    float a = unary_f32[_i].a, want = unary_f32[_i].want;
    if (op == LZ_OP_SINE && a == 1e22f) /* the float nearest 1e22 is another number */
        want = (float)sin((double)1e22f);
    check_f32(op, run3(op, NULL, LZ_F32, LZ_F32, f32_bits(a), 0, 0), want, a, 0);
}
END_TEST

START_TEST(is_finite)
{
    const float v[] = {0, -0.f, 1, 0x1p-149f, 0x1.fffffep127f, INFINITY, -INFINITY, NAN};
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(run3(LZ_OP_IS_FINITE, NULL, LZ_BOOL, LZ_F32, f32_bits(v[i]), 0, 0),
                          i < 5);
}
END_TEST

/* ---- integers: division, shifts and powers at every width ---- */

static const lz_dtype ints[] = {LZ_I8, LZ_I16, LZ_I32, LZ_I64, LZ_U8, LZ_U16, LZ_U32, LZ_U64};

START_TEST(integer_totality)
{
    lz_dtype d = ints[_i];
    unsigned w = (unsigned)lz_dtype_size(d) * 8;
    bool sgn = lz_dtype_is_signed(d);
    uint64_t mask = ~UINT64_C(0) >> (64 - w), low = sgn ? UINT64_C(1) << (w - 1) : 0, seven = 7;
#define BIN(op, a, b) run3(LZ_OP_##op, NULL, d, d, (a)&mask, (b)&mask, 0)
    ck_assert_uint_eq(BIN(DIVIDE, seven, 0), mask);
    ck_assert_uint_eq(BIN(DIVIDE, 0, 0), mask);
    ck_assert_uint_eq(BIN(REMAINDER, seven, 0), 7);
    ck_assert_uint_eq(BIN(REMAINDER, 0, 0), 0);
    if (sgn) {
        ck_assert_uint_eq(BIN(DIVIDE, low, mask), low);
        ck_assert_uint_eq(BIN(REMAINDER, low, mask), 0);
        ck_assert_uint_eq(BIN(DIVIDE, 0 - seven, 2), (0 - UINT64_C(3)) & mask);
        ck_assert_uint_eq(BIN(REMAINDER, 0 - seven, 2), mask);
        ck_assert_uint_eq(BIN(REMAINDER, seven, 0 - UINT64_C(2)), 1);
        ck_assert_uint_eq(run3(LZ_OP_ABS, NULL, d, d, low, 0, 0), low);
        ck_assert_uint_eq(run3(LZ_OP_NEGATE, NULL, d, d, low, 0, 0), low);
        ck_assert_uint_eq(run3(LZ_OP_SIGN, NULL, d, d, low, 0, 0), mask);
        ck_assert_uint_eq(BIN(MAXIMUM, mask, 1), 1);
        ck_assert_uint_eq(BIN(POWER, 2, mask), 0);
        ck_assert_uint_eq(BIN(POWER, mask, mask), mask);
        ck_assert_uint_eq(BIN(POWER, mask, mask - 1), 1);
        ck_assert_uint_eq(BIN(POWER, 1, low), 1);
        ck_assert_uint_eq(BIN(POWER, 0, mask), 0);
    } else {
        ck_assert_uint_eq(BIN(DIVIDE, mask, mask), 1);
        ck_assert_uint_eq(BIN(MAXIMUM, mask, 1), mask);
        ck_assert_uint_eq(run3(LZ_OP_NEGATE, NULL, d, d, 1, 0, 0), mask);
    }
    ck_assert_uint_eq(BIN(ADD, mask, 1), 0);
    ck_assert_uint_eq(BIN(SUBTRACT, 0, 1), mask);
    ck_assert_uint_eq(BIN(MULTIPLY, mask, mask), 1);
    ck_assert_uint_eq(BIN(POWER, 0, 0), 1);
    ck_assert_uint_eq(BIN(POWER, 3, 4), 81);
    uint64_t p5 = 1;
    for (int k = 0; k < 100; k++)
        p5 *= 5;
    ck_assert_uint_eq(BIN(POWER, 5, 100), p5 & mask);
    ck_assert_uint_eq(BIN(SHIFT_LEFT, 1, w - 1), UINT64_C(1) << (w - 1));
    ck_assert_uint_eq(BIN(SHIFT_LEFT, 1, w), 0);
    ck_assert_uint_eq(BIN(SHIFT_LEFT, 1, mask), 0);
    ck_assert_uint_eq(BIN(SHIFT_RIGHT_LOGICAL, mask, w - 1), 1);
    ck_assert_uint_eq(BIN(SHIFT_RIGHT_LOGICAL, mask, w), 0);
    ck_assert_uint_eq(BIN(SHIFT_RIGHT_LOGICAL, mask, mask), 0);
    ck_assert_uint_eq(BIN(SHIFT_RIGHT_ARITHMETIC, mask - 7, 2), mask - 1);
    ck_assert_uint_eq(BIN(SHIFT_RIGHT_ARITHMETIC, mask, w), mask);
    ck_assert_uint_eq(BIN(SHIFT_RIGHT_ARITHMETIC, mask >> 1, mask), 0);
    ck_assert_uint_eq(run3(LZ_OP_COUNT_LEADING_ZEROS, NULL, d, d, 0, 0, 0), w);
    ck_assert_uint_eq(run3(LZ_OP_COUNT_LEADING_ZEROS, NULL, d, d, 1, 0, 0), w - 1);
    ck_assert_uint_eq(run3(LZ_OP_COUNT_LEADING_ZEROS, NULL, d, d, mask, 0, 0), 0);
    ck_assert_uint_eq(run3(LZ_OP_POPCNT, NULL, d, d, mask, 0, 0), w);
    ck_assert_uint_eq(run3(LZ_OP_NOT, NULL, d, d, 5, 0, 0), mask - 5);
    ck_assert_uint_eq(BIN(XOR, mask, 5), mask - 5);
#undef BIN
}
END_TEST

/* Against 128-bit arithmetic, at every width: 64-bit integers must not pass through a double. */
START_TEST(integer_arithmetic_is_exact)
{
    lz_dtype d = ints[_i];
    unsigned w = (unsigned)lz_dtype_size(d) * 8;
    uint64_t mask = ~UINT64_C(0) >> (64 - w);
    lz_rnd r = {(uint64_t)_i + 5};
    for (int k = 0; k < 2000; k++) {
        uint64_t a = lz_rnd_u64(&r) & mask,
                 b = (lz_rnd_u64(&r) & mask) >> lz_rnd_range(&r, 0, w - 1);
        __int128 x = (__int128)a, y = (__int128)b;
        if (lz_dtype_is_signed(d)) {
            x = a >> (w - 1) ? x - ((__int128)1 << w) : x;
            y = b >> (w - 1) ? y - ((__int128)1 << w) : y;
        }
        ck_assert_uint_eq(run3(LZ_OP_ADD, NULL, d, d, a, b, 0), (uint64_t)(x + y) & mask);
        ck_assert_uint_eq(run3(LZ_OP_SUBTRACT, NULL, d, d, a, b, 0), (uint64_t)(x - y) & mask);
        ck_assert_uint_eq(run3(LZ_OP_MULTIPLY, NULL, d, d, a, b, 0),
                          (uint64_t)((unsigned __int128)x * (unsigned __int128)y) & mask);
        ck_assert_uint_eq(run3(LZ_OP_MAXIMUM, NULL, d, d, a, b, 0),
                          (uint64_t)(x > y ? x : y) & mask);
        ck_assert_uint_eq(
            run3(LZ_OP_CLAMP, NULL, d, d, b, a, mask >> 1),
            (uint64_t)(x > y ? (x > (__int128)(mask >> 1) ? (__int128)(mask >> 1) : x)
                             : (y > (__int128)(mask >> 1) ? (__int128)(mask >> 1) : y)) &
                mask);
        if (y != 0) {
            ck_assert_uint_eq(run3(LZ_OP_DIVIDE, NULL, d, d, a, b, 0), (uint64_t)(x / y) & mask);
            ck_assert_uint_eq(run3(LZ_OP_REMAINDER, NULL, d, d, a, b, 0), (uint64_t)(x % y) & mask);
        }
        lz_attr_compare lt = {LZ_ATTR_compare, LZ_CMP_LT, LZ_CT_NOTYPE};
        ck_assert_uint_eq(run3(LZ_OP_COMPARE, &lt, LZ_BOOL, d, a, b, 0), x < y);
    }
}
END_TEST

START_TEST(booleans)
{
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t a = i & 1, b = i >> 1;
        ck_assert_uint_eq(run3(LZ_OP_ADD, NULL, LZ_BOOL, LZ_BOOL, a, b, 0), a | b);
        ck_assert_uint_eq(run3(LZ_OP_MULTIPLY, NULL, LZ_BOOL, LZ_BOOL, a, b, 0), a & b);
        ck_assert_uint_eq(run3(LZ_OP_MAXIMUM, NULL, LZ_BOOL, LZ_BOOL, a, b, 0), a | b);
        ck_assert_uint_eq(run3(LZ_OP_MINIMUM, NULL, LZ_BOOL, LZ_BOOL, a, b, 0), a & b);
        ck_assert_uint_eq(run3(LZ_OP_AND, NULL, LZ_BOOL, LZ_BOOL, a, b, 0), a & b);
        ck_assert_uint_eq(run3(LZ_OP_OR, NULL, LZ_BOOL, LZ_BOOL, a, b, 0), a | b);
        ck_assert_uint_eq(run3(LZ_OP_XOR, NULL, LZ_BOOL, LZ_BOOL, a, b, 0), a ^ b);
        ck_assert_uint_eq(run3(LZ_OP_NOT, NULL, LZ_BOOL, LZ_BOOL, a, 0, 0), !a);
        ck_assert_uint_eq(run3(LZ_OP_SELECT, NULL, LZ_I32, LZ_I32, a, 11, 22), a ? 11 : 22);
    }
    uint64_t r;
    lz_dtype d = LZ_BOOL;
    ck_assert_int_eq(lz_ref_eval_bits(LZ_OP_NEGATE, NULL, LZ_BOOL, &d, &(uint64_t){1}, &r),
                     LZ_EUNSUPPORTED);
    ck_assert_int_eq(lz_ref_eval_bits(LZ_OP_REDUCE, NULL, LZ_BOOL, &d, &(uint64_t){1}, &r),
                     LZ_EUNSUPPORTED);
}
END_TEST

/* ---- comparison ---- */

static bool cmp(int32_t dir, int32_t type, lz_dtype d, uint64_t a, uint64_t b)
{
    lz_attr_compare at = {LZ_ATTR_compare, dir, type};
    return run3(LZ_OP_COMPARE, &at, LZ_BOOL, d, a, b, 0) != 0;
}

/* Any two specials of f32: the directions against C's operators, totalOrder by its definition. */
START_TEST(comparison_of_floats)
{
    uint64_t s[64];
    int n = lz_test_specials(LZ_F32, s);
    for (int i = 0; i < n * n; i++) {
        uint32_t ua = (uint32_t)s[i / n], ub = (uint32_t)s[i % n];
        float a, b;
        memcpy(&a, &ua, 4);
        memcpy(&b, &ub, 4);
        ck_assert_int_eq(cmp(LZ_CMP_EQ, LZ_CT_FLOAT, LZ_F32, ua, ub), a == b);
        ck_assert_int_eq(cmp(LZ_CMP_NE, LZ_CT_FLOAT, LZ_F32, ua, ub), a != b);
        ck_assert_int_eq(cmp(LZ_CMP_GE, LZ_CT_FLOAT, LZ_F32, ua, ub), a >= b);
        ck_assert_int_eq(cmp(LZ_CMP_GT, LZ_CT_FLOAT, LZ_F32, ua, ub), a > b);
        ck_assert_int_eq(cmp(LZ_CMP_LE, LZ_CT_NOTYPE, LZ_F32, ua, ub), a <= b);
        ck_assert_int_eq(cmp(LZ_CMP_LT, LZ_CT_FLOAT, LZ_F32, ua, ub), a < b);
        /* the sign first, then the magnitude in its direction */
        bool na = ua >> 31, nb = ub >> 31;
        uint32_t ma = ua & 0x7fffffff, mb = ub & 0x7fffffff;
        bool less = na != nb ? na : na ? ma > mb : ma < mb;
        ck_assert_int_eq(cmp(LZ_CMP_LT, LZ_CT_TOTALORDER, LZ_F32, ua, ub), less);
        ck_assert_int_eq(cmp(LZ_CMP_GE, LZ_CT_TOTALORDER, LZ_F32, ua, ub), !less);
        ck_assert_int_eq(cmp(LZ_CMP_EQ, LZ_CT_TOTALORDER, LZ_F32, ua, ub), ua == ub);
        ck_assert_int_eq(cmp(LZ_CMP_LE, LZ_CT_TOTALORDER, LZ_F32, ua, ub), less || ua == ub);
    }
    ck_assert(cmp(LZ_CMP_LT, LZ_CT_TOTALORDER, LZ_F16, 0x8000, 0));
    ck_assert(cmp(LZ_CMP_GT, LZ_CT_TOTALORDER, LZ_BF16, 0x7fc0, 0x7f80));
    ck_assert(cmp(LZ_CMP_LT, LZ_CT_TOTALORDER, LZ_F64, f64_bits(-INFINITY), f64_bits(-1e308)));
    ck_assert(cmp(LZ_CMP_GT, LZ_CT_UNSIGNED, LZ_U64, UINT64_MAX, 1));
    ck_assert(cmp(LZ_CMP_LT, LZ_CT_SIGNED, LZ_I64, UINT64_MAX, 1));
    ck_assert(cmp(LZ_CMP_GT, LZ_CT_UNSIGNED, LZ_BOOL, 1, 0));
}
END_TEST

START_TEST(clamping)
{
    const float t[][4] = {
        {0, 5, 1, 1},     {0, -5, 1, 0},    {0, 0.5f, 1, 0.5f}, {2, 0, 1, 1} /* lo > hi: hi wins */,
        {NAN, 0, 1, NAN}, {0, NAN, 1, NAN}, {0, 1, NAN, NAN},   {0.f, -0.f, 1, 0.f}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        check_f32(LZ_OP_CLAMP,
                  run3(LZ_OP_CLAMP, NULL, LZ_F32, LZ_F32, f32_bits(t[i][0]), f32_bits(t[i][1]),
                       f32_bits(t[i][2])),
                  t[i][3], t[i][1], 0);
    ck_assert_uint_eq(run3(LZ_OP_CLAMP, NULL, LZ_I32, LZ_I32, 5, 3, 10), 5);
    ck_assert_uint_eq(run3(LZ_OP_CLAMP, NULL, LZ_I32, LZ_I32, 10, 13, 15), 13);
    ck_assert_uint_eq(run3(LZ_OP_CLAMP, NULL, LZ_I32, LZ_I32, 15, 23, 20), 20);
}
END_TEST

/* ---- convert ---- */

static uint64_t convert(lz_dtype from, lz_dtype to, uint64_t v)
{
    lz_attr_dtype at = {LZ_ATTR_dtype, to};
    return run3(LZ_OP_CONVERT, &at, to, from, v, 0, 0);
}

/* f32 to every integer: truncation, saturation, NaN. */
START_TEST(float_to_integer)
{
    lz_dtype d = ints[_i];
    unsigned w = (unsigned)lz_dtype_size(d) * 8;
    bool sgn = lz_dtype_is_signed(d);
    uint64_t mask = ~UINT64_C(0) >> (64 - w), max = sgn ? mask >> 1 : mask,
             min = sgn ? UINT64_C(1) << (w - 1) : 0;
    ck_assert_uint_eq(convert(LZ_F32, d, f32_bits(NAN)), 0);
    ck_assert_uint_eq(convert(LZ_F32, d, f32_bits(INFINITY)), max);
    ck_assert_uint_eq(convert(LZ_F32, d, f32_bits(-INFINITY)), min);
    ck_assert_uint_eq(convert(LZ_F32, d, f32_bits(2.9f)), 2);
    ck_assert_uint_eq(convert(LZ_F32, d, f32_bits(-2.9f)), sgn ? (0 - UINT64_C(2)) & mask : 0);
    ck_assert_uint_eq(convert(LZ_F32, d, f32_bits(-0.9f)), 0);
    ck_assert_uint_eq(convert(LZ_F32, d, f32_bits(3e38f)), max);
    ck_assert_uint_eq(convert(LZ_F64, d, f64_bits(ldexp(1, (int)w))), max);
    ck_assert_uint_eq(convert(LZ_F64, d, f64_bits(-ldexp(1, (int)w - 1))), min);
    ck_assert_uint_eq(convert(LZ_F64, d, f64_bits(ldexp(1, (int)w - 2))), UINT64_C(1) << (w - 2));
    ck_assert_uint_eq(convert(LZ_F16, d, 0x4500), 5);
    ck_assert_uint_eq(convert(LZ_F32, LZ_BOOL, f32_bits(NAN)), 1);
    ck_assert_uint_eq(convert(d, LZ_BOOL, min + !sgn), 1);
    ck_assert_uint_eq(convert(d, LZ_BOOL, 0), 0);
    ck_assert_uint_eq(convert(LZ_BOOL, d, 1), 1);
}
END_TEST

START_TEST(integer_to_integer_wraps)
{
    ck_assert_uint_eq(convert(LZ_I32, LZ_I8, 0x1ff), 0xff);
    ck_assert_uint_eq(convert(LZ_I8, LZ_U64, 0xff), UINT64_MAX);
    ck_assert_uint_eq(convert(LZ_U8, LZ_I64, 0xff), 255);
    ck_assert_uint_eq(convert(LZ_I64, LZ_U32, UINT64_C(0x8000000180000003)), 0x80000003);
    ck_assert_uint_eq(convert(LZ_I32, LZ_U16, 0xffffffff), 0xffff);
}
END_TEST

/* Rounding of integers to floats against a search among neighbours in exact arithmetic. */
START_TEST(integer_to_float_rounds_once)
{
    lz_rnd r = {77};
    const lz_dtype to[] = {LZ_F16, LZ_BF16, LZ_F32, LZ_F64};
    for (int k = 0; k < 20000; k++) {
        lz_dtype d = to[k % 4];
        int64_t v = (int64_t)lz_rnd_u64(&r) >> lz_rnd_range(&r, 0, 62);
        if (k % 3 == 0) /* close to a tie of the format */
            v = (int64_t)(((uint64_t)v & ~UINT64_C(0x7fffff)) | (k % 2 ? 0x400001 : 0x400000));
        uint64_t got = convert(LZ_I64, d, (uint64_t)v);
        /* no neighbour is closer, and of two equally close ones the even one is taken */
        lz_literal *l = lz_test_lit(d, LZ_SCALAR, 0);
        lz_test_set_bits(l, 0, got);
        double g = lz_literal_get_f64(l, 0);
        if (isfinite(g)) {
            long double err = fabsl((long double)g - v);
            for (int s = -1; s <= 1; s += 2) {
                lz_test_set_bits(l, 0, lz_test_step(d, got, s));
                long double e2 = fabsl((long double)lz_literal_get_f64(l, 0) - v);
                ck_assert_msg(err < e2 || (err == e2 && got % 2 == 0), "%" PRId64 " as %s gave %g",
                              v, lz_dtype_name(d), g);
            }
        }
        lz_literal_release(l);
    }
    ck_assert_uint_eq(convert(LZ_I32, LZ_F16, 65519), 0x7bff);
    ck_assert_uint_eq(convert(LZ_I32, LZ_F16, 65520), 0x7c00);
    ck_assert_uint_eq(convert(LZ_U64, LZ_F32, UINT64_MAX), f32_bits(0x1p64f));
    ck_assert_uint_eq(convert(LZ_U64, LZ_F64, UINT64_C(0xfffffffffffffbff)),
                      f64_bits(0x1.fffffffffffffp63));
}
END_TEST

START_TEST(float_to_float_rounds_once)
{
    /* just above a tie of f16 by less than f32 can hold: rounding through f32 would fall to even */
    ck_assert_uint_eq(convert(LZ_F64, LZ_F16, f64_bits(1 + 0x1p-11 + 0x1p-40)), 0x3c01);
    ck_assert_uint_eq(convert(LZ_F64, LZ_F16, f64_bits(1 + 0x1p-11)), 0x3c00);
    ck_assert_uint_eq(convert(LZ_F64, LZ_BF16, f64_bits(1 + 0x1p-8 + 0x1p-45)), 0x3f81);
    ck_assert_uint_eq(convert(LZ_F64, LZ_BF16, f64_bits(1 + 0x1p-8 - 0x1p-45)), 0x3f80);
    ck_assert_uint_eq(convert(LZ_F64, LZ_F16, f64_bits(1e300)), 0x7c00);
    ck_assert_uint_eq(convert(LZ_F64, LZ_F16, f64_bits(-1e-300)), 0x8000);
    ck_assert_uint_eq(convert(LZ_F64, LZ_F16, f64_bits(0x1p-25)), 0);
    ck_assert_uint_eq(convert(LZ_F64, LZ_F16, f64_bits(0x1p-25 + 0x1p-60)), 1);
    ck_assert_uint_eq(convert(LZ_F64, LZ_BF16, f64_bits(0x1.fep127 + 0x1p119)), 0x7f80);
    ck_assert_uint_eq(convert(LZ_F64, LZ_BF16, f64_bits(0x1.fffffep127)), 0x7f80);
    ck_assert_uint_eq(convert(LZ_F32, LZ_F64, f32_bits(0x1p-149f)), f64_bits(0x1p-149));
    ck_assert_uint_gt(convert(LZ_F32, LZ_F16, f32_bits(NAN)) & 0x7fff, 0x7c00);
    for (uint64_t h = 0; h < 65536; h++) { /* widening and coming back is the identity */
        bool nan16 = (h & 0x7fff) > 0x7c00, nanb = (h & 0x7fff) > 0x7f80;
        if (!nan16)
            ck_assert_uint_eq(convert(LZ_F64, LZ_F16, convert(LZ_F16, LZ_F64, h)), h);
        if (!nanb)
            ck_assert_uint_eq(convert(LZ_F32, LZ_BF16, convert(LZ_BF16, LZ_F32, h)), h);
    }
}
END_TEST

/* ---- reduce_precision ---- */

static uint64_t reduce_to(lz_dtype d, int e, int m, uint64_t v)
{
    lz_attr_precision at = {LZ_ATTR_precision, e, m};
    return run3(LZ_OP_REDUCE_PRECISION, &at, d, d, v, 0, 0);
}

START_TEST(reducing_precision)
{
    lz_rnd r = {9};
    for (int k = 0; k < 20000; k++) { /* e8m7 is bf16; normal results of e5m10 are f16 */
        uint32_t v = (uint32_t)lz_rnd_u64(&r);
        float f;
        memcpy(&f, &v, 4);
        if (isnan(f))
            continue;
        ck_assert_uint_eq(reduce_to(LZ_F32, 8, 7, v),
                          convert(LZ_BF16, LZ_F32, convert(LZ_F32, LZ_BF16, v)));
        float m = ldexpf(f, -ilogbf(f) + (int)lz_rnd_range(&r, -13, 16));
        if (isfinite(m) && m != 0)
            ck_assert_uint_eq(reduce_to(LZ_F32, 5, 10, f32_bits(m)),
                              convert(LZ_F16, LZ_F32, convert(LZ_F32, LZ_F16, f32_bits(m))));
        ck_assert_uint_eq(reduce_to(LZ_F32, 8, 23, v), v);
        ck_assert_uint_eq(reduce_to(LZ_F32, 11, 52, v), v);
    }
    /* the specification's example, e5m10 on f32, and the corners */
    ck_assert_uint_eq(reduce_to(LZ_F32, 5, 10, f32_bits(1e6f)), f32_bits(INFINITY));
    ck_assert_uint_eq(reduce_to(LZ_F32, 5, 10, f32_bits(-0x1p-15f)),
                      f32_bits(-0.f)); /* below the smallest normal */
    ck_assert_uint_eq(reduce_to(LZ_F32, 5, 10, f32_bits(0x1p-14f)), f32_bits(0x1p-14f));
    ck_assert_uint_eq(reduce_to(LZ_F32, 5, 10, f32_bits(65519)), f32_bits(65504));
    ck_assert_uint_eq(reduce_to(LZ_F32, 5, 10, f32_bits(65520)), f32_bits(INFINITY));
    ck_assert_uint_eq(reduce_to(LZ_F32, 5, 0, f32_bits(NAN)), f32_bits(INFINITY));
    ck_assert_uint_gt(reduce_to(LZ_F32, 5, 2, f32_bits(NAN)) & 0x7fffffff, 0x7f800000);
    ck_assert_uint_eq(reduce_to(LZ_F64, 8, 23, f64_bits(1 + 0x1p-24)), f64_bits(1));
    ck_assert_uint_eq(reduce_to(LZ_F16, 5, 1, 0x3f00 /* 1.75 */), 0x4000);
}
END_TEST

/* ---- 16-bit floats: every value through every unary op, against long double formulas ---- */

/* Nearest f16 (ties to even) of a nearly exact value, without any conversion under test. */
static uint16_t nearest_f16(long double v)
{
    if (isnan(v))
        return 0x7e00;
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    long double m = fabsl(v);
    if (m >= 65520)
        return sign | 0x7c00;
    int e = m < 0x1p-14L ? -14 : ilogbl(m);
    long double q = scalbnl(m, 10 - e), f = floorl(q), rest = q - f;
    uint32_t n = (uint32_t)f + (rest > 0.5L || (rest == 0.5L && ((uint32_t)f & 1)));
    return (uint16_t)(sign + (e == -14 && n < 1024 ? n : ((uint32_t)(e + 15) << 10) + (n - 1024)));
}

static long double formula(lz_op op, long double x)
{
    switch (op) {
    case LZ_OP_ABS:
        return fabsl(x);
    case LZ_OP_CBRT:
        return cbrtl(x);
    case LZ_OP_CEIL:
        return ceill(x);
    case LZ_OP_COSINE:
        return cosl(x);
    case LZ_OP_ACOS:
        return acosl(x);
    case LZ_OP_ACOSH:
        return acoshl(x);
    case LZ_OP_ASIN:
        return asinl(x);
    case LZ_OP_ASINH:
        return asinhl(x);
    case LZ_OP_ATAN:
        return atanl(x);
    case LZ_OP_ATANH:
        return atanhl(x);
    case LZ_OP_BESSEL_I1E:
        return lz_sf_bessel_i1e(x);
    case LZ_OP_COSH:
        return coshl(x);
    case LZ_OP_DIGAMMA:
        return lz_sf_digamma(x);
    case LZ_OP_ERF_INV:
        return lz_sf_erf_inv(x);
    case LZ_OP_ERFC:
        return erfcl(x);
    case LZ_OP_LGAMMA:
        return lz_sf_lgamma(x);
    case LZ_OP_SINH:
        return sinhl(x);
    case LZ_OP_ERF:
        return erfl(x);
    case LZ_OP_EXPONENTIAL:
        return expl(x);
    case LZ_OP_EXPONENTIAL_MINUS_ONE:
        return expm1l(x);
    case LZ_OP_FLOOR:
        return floorl(x);
    case LZ_OP_IMAG:
        return 0;
    case LZ_OP_REAL:
        return x;
    case LZ_OP_LOG:
        return logl(x);
    case LZ_OP_LOG_PLUS_ONE:
        return log1pl(x);
    case LZ_OP_LOGISTIC:
        return 1 / (1 + expl(-x));
    case LZ_OP_NEGATE:
        return -x;
    case LZ_OP_ROUND_NEAREST_AFZ:
        return roundl(x);
    case LZ_OP_ROUND_NEAREST_EVEN:
        return rintl(x);
    case LZ_OP_RSQRT:
        return 1 / sqrtl(x);
    case LZ_OP_SIGN:
        return x > 0 ? 1 : x < 0 ? -1 : x;
    case LZ_OP_SINE:
        return sinl(x);
    case LZ_OP_SQRT:
        return sqrtl(x);
    case LZ_OP_TAN:
        return tanl(x);
    case LZ_OP_TANH:
        return tanhl(x);
    default:
        ck_abort_msg("no formula for %s", lz_op_get(op)->text);
        return 0;
    }
}

static long double f16_value(uint16_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    long double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpl(1024 + m, e - 25) : ldexpl(m, -24);
    return h >> 15 ? -v : v;
}

START_TEST(every_f16_through_every_unary)
{
    lz_op op = (lz_op)(_i + 1);
    const lz_op_info *info = lz_op_get(op);
    if (info->cls != LZ_CLASS_EW || info->arity != 1 || info->attr != LZ_ATTR_none ||
        !lz_op_accepts(op, LZ_F16) || op == LZ_OP_IS_FINITE)
        return;
    uint32_t step = lz_test_small() ? 7 : 1;
    for (uint32_t h = lz_test_seed() % step; h < 65536; h += step) {
        uint64_t got = run3(op, NULL, LZ_F16, LZ_F16, h, 0, 0),
                 want = nearest_f16(formula(op, f16_value((uint16_t)h)));
        bool ok = (want & 0x7fff) > 0x7c00 ? (got & 0x7fff) > 0x7c00 : got == want;
        ck_assert_msg(ok, "%s(0x%04x) = 0x%04x, want 0x%04x", info->text, h, (unsigned)got,
                      (unsigned)want);
    }
}
END_TEST

/* Random pairs of f16 and bf16 against exact arithmetic. */
START_TEST(sixteen_bit_arithmetic)
{
    lz_rnd r = {3};
    for (int k = 0; k < 50000; k++) {
        uint16_t a = (uint16_t)lz_rnd_u64(&r), b = (uint16_t)lz_rnd_u64(&r);
        long double x = f16_value(a), y = f16_value(b);
        const lz_op ops[4] = {LZ_OP_ADD, LZ_OP_SUBTRACT, LZ_OP_MULTIPLY, LZ_OP_DIVIDE};
        const long double want[4] = {x + y, x - y, x * y, x / y};
        for (int i = 0; i < 4; i++) {
            uint64_t got = run3(ops[i], NULL, LZ_F16, LZ_F16, a, b, 0), w = nearest_f16(want[i]);
            if (isnan(want[i]))
                ck_assert_uint_gt(got & 0x7fff, 0x7c00);
            else
                ck_assert_msg(got == w, "%s(0x%04x, 0x%04x) = 0x%04x, want 0x%04x",
                              lz_op_get(ops[i])->text, a, b, (unsigned)got, (unsigned)w);
        }
    }
    ck_assert_uint_eq(run3(LZ_OP_ADD, NULL, LZ_BF16, LZ_BF16, 0x3f80, 0x3b80, 0),
                      0x3f80); /* 1 + 2^-8: a tie */
    ck_assert_uint_eq(run3(LZ_OP_ADD, NULL, LZ_BF16, LZ_BF16, 0x3f81, 0x3b80, 0), 0x3f82);
}
END_TEST

/* f64 transcendentals agree with libm's double ones: the long double path is wired up right. */
START_TEST(double_precision)
{
    lz_rnd r = {11};
    for (int k = 0; k < 2000; k++) {
        double x = ldexp(lz_rnd_unit(&r) - 0.5, (int)lz_rnd_range(&r, -20, 6)),
               y = 1 + lz_rnd_unit(&r);
        const struct {
            lz_op op;
            double want;
        } c[] = {{LZ_OP_EXPONENTIAL, exp(x)},
                 {LZ_OP_TANH, tanh(x)},
                 {LZ_OP_SINE, sin(x)},
                 {LZ_OP_ERF, erf(x)},
                 {LZ_OP_CBRT, cbrt(x)},
                 {LZ_OP_EXPONENTIAL_MINUS_ONE, expm1(x)},
                 {LZ_OP_LOGISTIC, 1 / (1 + exp(-x))}};
        for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
            uint64_t got = run3(c[i].op, NULL, LZ_F64, LZ_F64, f64_bits(x), 0, 0);
            ck_assert_msg(lz_test_ulps(LZ_F64, got, f64_bits(c[i].want)) <= 4, "%s(%a)",
                          lz_op_get(c[i].op)->text, x);
        }
        ck_assert_uint_le(
            lz_test_ulps(LZ_F64,
                         run3(LZ_OP_POWER, NULL, LZ_F64, LZ_F64, f64_bits(y), f64_bits(x), 0),
                         f64_bits(pow(y, x))),
            1);
        ck_assert_uint_le(
            lz_test_ulps(LZ_F64,
                         run3(LZ_OP_ATAN2, NULL, LZ_F64, LZ_F64, f64_bits(y), f64_bits(x), 0),
                         f64_bits(atan2(y, x))),
            1);
        ck_assert_uint_eq(run3(LZ_OP_ADD, NULL, LZ_F64, LZ_F64, f64_bits(y), f64_bits(x), 0),
                          f64_bits(y + x));
        ck_assert_uint_eq(run3(LZ_OP_SQRT, NULL, LZ_F64, LZ_F64, f64_bits(y), 0, 0),
                          f64_bits(sqrt(y)));
    }
}
END_TEST

START_TEST(power_of_extreme_exponents)
{
    const double t[][3] = {{-INFINITY, -0x1p63, 0},   {INFINITY, -0x1p63, 0},
                           {-1, -0x1p63, 1},          {2, -0x1p63, 0},
                           {0.5, -0x1p63, INFINITY},  {-0., -0x1p63, INFINITY},
                           {-INFINITY, 3, -INFINITY}, {1, NAN, 1}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        ck_assert_uint_eq(
            run3(LZ_OP_POWER, NULL, LZ_F64, LZ_F64, f64_bits(t[i][0]), f64_bits(t[i][1]), 0),
            f64_bits(t[i][2]));
}
END_TEST

START_TEST(complex_arithmetic)
{
#define C(re, im) ((uint64_t)f32_bits(re) | (uint64_t)f32_bits(im) << 32)
    ck_assert_uint_eq(run3(LZ_OP_ADD, NULL, LZ_C64, LZ_C64, C(1, 2), C(3, -5), 0), C(4, -3));
    ck_assert_uint_eq(run3(LZ_OP_MULTIPLY, NULL, LZ_C64, LZ_C64, C(1, 2), C(3, 4), 0), C(-5, 10));
    ck_assert_uint_eq(run3(LZ_OP_DIVIDE, NULL, LZ_C64, LZ_C64, C(-5, 10), C(3, 4), 0), C(1, 2));
    ck_assert_uint_eq(run3(LZ_OP_NEGATE, NULL, LZ_C64, LZ_C64, C(1, -2), 0, 0), C(-1, 2));
    ck_assert_uint_eq(run3(LZ_OP_POWER, NULL, LZ_C64, LZ_C64, C(0, 0), C(0, 0), 0), C(1, 0));
    ck_assert_uint_eq(run3(LZ_OP_MAXIMUM, NULL, LZ_C64, LZ_C64, C(1, 2), C(1, 3), 0), C(1, 3));
    /* NaN in any part wins on either side; of two, part by part */
    for (int i = 0; i < 8; i++) {
        lz_op op = i & 4 ? LZ_OP_MAXIMUM : LZ_OP_MINIMUM;
        uint64_t n = i & 2 ? C(NAN, 7) : C(7, NAN), m = C(9, 9), o = C(8, NAN);
        ck_assert_uint_eq(run3(op, NULL, LZ_C64, LZ_C64, i & 1 ? n : m, i & 1 ? m : n, 0), n);
        ck_assert_uint_eq(run3(op, NULL, LZ_C64, LZ_C64, n, n, 0), n);
        ck_assert_uint_eq(run3(op, NULL, LZ_C64, LZ_C64, i & 1 ? n : o, i & 1 ? o : n, 0),
                          i & 2 ? C(NAN, NAN) : o);
    }
    ck_assert(cmp(LZ_CMP_EQ, LZ_CT_FLOAT, LZ_C64, C(1, 2), C(1, 2)) &&
              !cmp(LZ_CMP_EQ, LZ_CT_FLOAT, LZ_C64, C(1, 2), C(1, 3)));
    ck_assert(cmp(LZ_CMP_NE, LZ_CT_FLOAT, LZ_C64, C(1, NAN), C(1, NAN)));
    ck_assert_uint_eq(convert(LZ_I32, LZ_C64, 3), C(3, 0));
    ck_assert_uint_eq(convert(LZ_C64, LZ_I32, C(-3.5f, 9)), 0xfffffffd);
    /* StableHLO: by the real part */
    ck_assert_uint_eq(convert(LZ_C64, LZ_BOOL, C(0, 2)), 0);
    ck_assert_uint_eq(convert(LZ_C64, LZ_BOOL, C(2, 0)), 1);
    ck_assert_uint_eq(convert(LZ_C64, LZ_F64, C(1.5f, 9)), f64_bits(1.5));
#undef C
}
END_TEST

int main(void)
{
    Suite *s = suite_create("eval_ew");
    TCase *t = tcase_create("eval_ew");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, f32_pairs, 0, (int)(sizeof binary_f32 / sizeof *binary_f32));
    tcase_add_loop_test(t, f32_singles, 0, (int)(sizeof unary_f32 / sizeof *unary_f32));
    tcase_add_test(t, is_finite);
    tcase_add_loop_test(t, integer_totality, 0, 8);
    tcase_add_loop_test(t, integer_arithmetic_is_exact, 0, 8);
    tcase_add_test(t, booleans);
    tcase_add_test(t, comparison_of_floats);
    tcase_add_test(t, clamping);
    tcase_add_loop_test(t, float_to_integer, 0, 8);
    tcase_add_test(t, integer_to_integer_wraps);
    tcase_add_test(t, integer_to_float_rounds_once);
    tcase_add_test(t, float_to_float_rounds_once);
    tcase_add_test(t, reducing_precision);
    tcase_add_loop_test(t, every_f16_through_every_unary, 0, LZ_OP_COUNT - 1);
    tcase_add_test(t, sixteen_bit_arithmetic);
    tcase_add_test(t, double_precision);
    tcase_add_test(t, power_of_extreme_exponents);
    tcase_add_test(t, complex_arithmetic);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
