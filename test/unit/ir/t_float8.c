/* t_float8.c - floats of 8 bits and fewer: every code, every boundary of rounding from every dtype,
 * against a second definition: the nearest of the format's values, by search. */
#include "ir/eval/eval.h"
#include "suite.h"
#include <math.h>
#include <string.h>

typedef enum kind { IEEE, FN, FNUZ, FNU, FNS } kind; /* ir/small_floats.def */
typedef struct format {
    lz_dtype dtype;
    int exponent, mantissa, bias;
    kind kind;
    double largest, least;
} format;
static const format formats[] = {{LZ_F8E4M3FN, 4, 3, 7, FN, 448, 0x1p-9},
                                 {LZ_F8E5M2, 5, 2, 15, IEEE, 57344, 0x1p-16},
                                 {LZ_F8E4M3, 4, 3, 7, IEEE, 240, 0x1p-9},
                                 {LZ_F8E3M4, 3, 4, 3, IEEE, 15.5, 0x1p-6},
                                 {LZ_F8E4M3FNUZ, 4, 3, 8, FNUZ, 240, 0x1p-10},
                                 {LZ_F8E5M2FNUZ, 5, 2, 16, FNUZ, 57344, 0x1p-17},
                                 {LZ_F8E4M3B11FNUZ, 4, 3, 11, FNUZ, 30, 0x1p-13},
                                 {LZ_F8E8M0FNU, 8, 0, 127, FNU, 0x1p127, 0x1p-127},
                                 {LZ_F4E2M1FN, 2, 1, 1, FNS, 6, 0.5}};
enum { NFORMAT = sizeof formats / sizeof formats[0] };

static int sign_bit(const format *f)
{
    return f->kind == FNU ? 0 : 1 << (f->exponent + f->mantissa);
}

static int ncode(const format *f)
{
    return f->kind == FNS ? 16 : 256;
}

/* The value of a code by the formats' descriptions (OFP8, revision 1.0; OCP Microscaling, revision
 * 1.0; float8_e4m3fnuz and the like of ml_dtypes). */
static double value(const format *f, int code)
{
    int e = code >> f->mantissa & ((1 << f->exponent) - 1), m = code & ((1 << f->mantissa) - 1),
        top = (1 << f->exponent) - 1, all = (1 << (f->exponent + f->mantissa)) - 1;
    double s = code & sign_bit(f) ? -1 : 1;
    if ((f->kind == FN || f->kind == FNU) && (code & all) == all)
        return NAN;
    if (f->kind == FNUZ && code == sign_bit(f))
        return NAN;
    if (f->kind == IEEE && e == top)
        return m ? NAN : s * INFINITY;
    if (f->kind == FNU)
        return ldexp(1, e - f->bias);
    return s * (e ? ldexp(1 + ldexp(m, -f->mantissa), e - f->bias)
                  : ldexp(m, 1 - f->bias - f->mantissa));
}

/* The code of what is too large; without its sign. */
static int too_large(const format *f)
{
    int codes = 1 << (f->exponent + f->mantissa);
    return f->kind == IEEE ? codes - (1 << f->mantissa) : f->kind == FNUZ ? codes : codes - 1;
}

static int nan_code(const format *f, bool negative)
{
    int sign = negative ? sign_bit(f) : 0;
    switch (f->kind) {
    case IEEE:
        return sign | too_large(f) | 1 << (f->mantissa - 1);
    case FN:
        return sign | too_large(f);
    case FNS: /* there is none: a zero of the other sign */
        return sign ^ sign_bit(f);
    default:
        return too_large(f);
    }
}

/* The code of the nearest value; of two, the even one, the larger of two powers. One step beyond
 * the largest counts as too large. */
static int nearest(const format *f, long double v)
{
    int sign = signbit(v) ? sign_bit(f) : 0, best = 0, last = 0;
    long double x = fabsl(v), least = INFINITY;
    if (v != v || (f->kind == FNU && v <= 0))
        return nan_code(f, signbit(v));
    for (int c = 0; c < (sign_bit(f) ? sign_bit(f) : 255) && value(f, c) <= f->largest; c++) {
        long double off = fabsl(x - value(f, c));
        if (off < least || (off == least && (f->kind == FNU || c % 2 == 0))) {
            least = off;
            best = c;
        }
        last = c;
    }
    long double step = f->kind == FNU ? (long double)f->largest : f->largest - value(f, last - 1),
                off = fabsl(f->largest + step - x);
    bool even_beyond = f->kind == FNU || last % 2;
    if (x > f->largest + step || off < least || (off == least && even_beyond))
        return f->kind == FNUZ ? too_large(f) : sign | too_large(f);
    return f->kind == FNUZ && best == 0 ? 0 : sign | best;
}

static uint64_t converted(lz_dtype from, lz_dtype to, uint64_t bits)
{
    uint64_t out = 0;
    lz_attr_dtype a = {LZ_ATTR_dtype, to};
    ck_assert_int_eq(lz_ref_eval_bits(LZ_OP_CONVERT, (const lz_attr *)&a, to, &from, &bits, &out),
                     LZ_OK);
    return out;
}

static uint64_t bits_of(lz_dtype d, double v)
{
    uint64_t u = 0;
    lz_elem_set_f64(d, &u, 0, v);
    return u;
}

START_TEST(codes)
{
    const format *f = &formats[_i];
    static const lz_dtype wide[] = {LZ_F16, LZ_BF16, LZ_F32, LZ_F64};
    double largest = 0, least = INFINITY;
    for (int c = 0; c < ncode(f); c++) {
        double v = value(f, c);
        uint8_t code = (uint8_t)c;
        float g = lz_f8_to_f32(f->dtype, code);
        bool negative = (c & sign_bit(f)) && !(f->kind == FNUZ && v != v);
        ck_assert(v != v ? g != g : g == v && !signbit(g) == !signbit(v));
        ck_assert(!signbit(g) == !negative);
        ck_assert(v != v || lz_elem_get_f64(f->dtype, &code, 0) == v);
        int back = v != v ? nan_code(f, negative) : c;
        ck_assert_uint_eq(lz_f64_to_f8(f->dtype, g), back);
        largest = v - v == 0 && v > largest ? v : largest;
        least = v > 0 && v < least ? v : least;
        for (int k = f->kind == FNU; k < 4; k++) { /* every wider format holds it */
            uint64_t w = converted(f->dtype, wide[k], code);
            double x = lz_elem_get_f64(wide[k], &w, 0);
            ck_assert(v != v ? x != x : x == v && !signbit(x) == !signbit(v));
            ck_assert_uint_eq(converted(wide[k], f->dtype, w), back);
        }
    }
    ck_assert(largest == f->largest && least == f->least);
}
END_TEST

static void check(const format *f, lz_dtype from, uint64_t bits)
{
    double v = lz_elem_get_f64(from, &bits, 0);
    uint64_t got = converted(from, f->dtype, bits);
    ck_assert_msg(got == (uint64_t)nearest(f, v), "%s %.17g gives 0x%02x, not 0x%02x",
                  lz_dtype_name(from), v, (unsigned)got, nearest(f, v));
}

/* Values, the middles between them, and the neighbours of both in the format they come from. */
START_TEST(boundaries)
{
    const format *f = &formats[_i];
    static const lz_dtype from[] = {LZ_F16, LZ_BF16, LZ_F32, LZ_F64};
    for (int k = 0; k < 4; k++) {
        int sign = 8 * (int)lz_dtype_size(from[k]) - 1;
        for (int c = 0; value(f, c) <= f->largest && c != sign_bit(f) + (f->kind == FNU); c++) {
            double lo = value(f, c), hi = c == too_large(f) ? INFINITY : value(f, c + 1);
            double next = hi <= f->largest && hi > lo ? hi : 2 * lo - value(f, c - 1);
            const double at[] = {lo, (lo + next) / 2, next, lo + (next - lo) / 4};
            for (size_t i = 0; i < sizeof at / sizeof *at; i++)
                for (int step = -2; step <= 2; step++) {
                    uint64_t b = bits_of(from[k], at[i]);
                    b = (int64_t)b + step < 0 ? 0 : b + (uint64_t)(int64_t)step;
                    check(f, from[k], b);
                    check(f, from[k], b | (uint64_t)1 << sign);
                }
        }
        const double special[] = {INFINITY, -INFINITY, NAN, -0.0,  1e30, -1e30,
                                  1e-30,    464,       465, 61440, 65536};
        for (size_t i = 0; i < sizeof special / sizeof *special; i++)
            check(f, from[k], bits_of(from[k], special[i]));
    }
    for (uint32_t b = (uint32_t)_i % 5; b < 1 << 16; b += 5) {
        check(f, LZ_F16, b);
        check(f, LZ_BF16, b);
    }
}
END_TEST

/* Rounded once, where the way through f32 rounds twice. */
START_TEST(once)
{
    for (int k = 0; k < NFORMAT; k++) {
        const format *f = &formats[k];
        for (int c = 1; value(f, c) < f->largest; c++) {
            double mid = (value(f, c) + value(f, c + 1)) / 2, tiny = ldexp(mid, -40);
            ck_assert_uint_eq(lz_f64_to_f8(f->dtype, mid + tiny), c + 1);
            ck_assert_uint_eq(lz_f64_to_f8(f->dtype, mid - tiny), c);
        }
    }
}
END_TEST

START_TEST(integers)
{
    const format *f = &formats[_i];
    static const lz_dtype from[] = {LZ_BOOL, LZ_I8,  LZ_I16, LZ_I32, LZ_I64,
                                    LZ_U8,   LZ_U16, LZ_U32, LZ_U64};
    for (int k = 0; k < 9; k++) {
        int width = from[k] == LZ_BOOL ? 1 : 8 * (int)lz_dtype_size(from[k]);
        for (int64_t v = -70000; v <= 70000; v += v > -600 && v < 600 ? 1 : 61) {
            uint64_t bits = (uint64_t)v & (~UINT64_C(0) >> (64 - width));
            int64_t is = lz_elem_get_i64(from[k], &bits, 0);
            long double x = from[k] == LZ_U64 ? (long double)(uint64_t)is : (long double)is;
            ck_assert_uint_eq(converted(from[k], f->dtype, bits), nearest(f, x));
        }
    }
    static const int64_t wide[] = {INT64_MIN,        INT64_MAX,
                                   INT64_MIN + 1,    -1,
                                   INT32_MIN,        (INT64_C(3) << 40) - 1,
                                   INT64_C(3) << 40, (INT64_C(3) << 40) + 1};
    for (int i = 0; i < 8; i++) {
        ck_assert_uint_eq(converted(LZ_I64, f->dtype, (uint64_t)wide[i]), nearest(f, wide[i]));
        ck_assert_uint_eq(converted(LZ_U64, f->dtype, (uint64_t)wide[i]),
                          nearest(f, (uint64_t)wide[i]));
    }
    for (int c = 0; c < ncode(f); c++) { /* and back: truncated, saturated, NaN is 0 */
        double v = value(f, c);
        ck_assert_uint_eq(converted(f->dtype, LZ_BOOL, (uint64_t)c), v != 0);
        for (int k = 1; k < 9; k++)
            ck_assert_uint_eq(converted(f->dtype, from[k], (uint64_t)c),
                              converted(LZ_F64, from[k], bits_of(LZ_F64, v)));
    }
}
END_TEST

START_TEST(from_each_other)
{
    const format *a = &formats[_i / NFORMAT], *b = &formats[_i % NFORMAT];
    for (int c = 0; c < ncode(a); c++) {
        double v = value(a, c);
        v = v != v ? copysign(NAN, a->kind != FNUZ && c & sign_bit(a) ? -1 : 1) : v;
        int want = a == b ? c : nearest(b, v);
        ck_assert_uint_eq(converted(a->dtype, b->dtype, (uint64_t)c),
                          v != v ? nan_code(b, signbit(v)) : want);
        uint64_t z = converted(a->dtype, LZ_C64, (uint64_t)c);
        ck_assert_uint_eq(converted(LZ_C64, a->dtype, z), nearest(a, v));
    }
}
END_TEST

/* What ml_dtypes makes of numbers about which the formats' papers say nothing. */
START_TEST(of_ml_dtypes)
{
    static const struct {
        lz_dtype d;
        double v;
        int code;
    } known[] = {
        {LZ_F8E8M0FNU, 1.5, 0x80},   {LZ_F8E8M0FNU, 3, 0x81},    {LZ_F8E8M0FNU, 12, 0x83},
        {LZ_F8E8M0FNU, 0, 0xff},     {LZ_F8E8M0FNU, -1, 0xff},   {LZ_F8E8M0FNU, 0x1p-149, 0},
        {LZ_F8E8M0FNU, 3.4e38, 255}, {LZ_F4E2M1FN, NAN, 8},      {LZ_F4E2M1FN, -NAN, 0},
        {LZ_F4E2M1FN, 5, 6},         {LZ_F4E2M1FN, -1e9, 15},    {LZ_F4E2M1FN, 0.25, 0},
        {LZ_F4E2M1FN, 0.75, 2},      {LZ_F8E4M3FNUZ, -0.0, 0},   {LZ_F8E4M3FNUZ, 1e9, 128},
        {LZ_F8E3M4, NAN, 0x78},      {LZ_F8E4M3, INFINITY, 0x78}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_int_eq(lz_f64_to_f8(known[i].d, known[i].v), known[i].code);
}
END_TEST

START_TEST(only_stored)
{
    static const char *const computes[] = {"add",   "multiply", "maximum",     "compare",
                                           "clamp", "negate",   "sine",        "is_finite",
                                           "and",   "abs",      "dot_general", "reduce"};
    static const char *const moves[] = {"convert",     "bitcast_convert",  "reshape", "transpose",
                                        "concatenate", "gather",           "pad",     "scatter",
                                        "slice",       "broadcast_in_dim", "reverse", "while"};
    const lz_dtype d = formats[_i].dtype;
    for (int i = 0; i < 12; i++) {
        ck_assert(!lz_op_accepts(lz_op_from_text(computes[i], strlen(computes[i])), d));
        ck_assert(lz_op_accepts(lz_op_from_text(moves[i], strlen(moves[i])), d));
    }
    const lz_shape s = LZ_SHAPE(3);
    const lz_type *t = lz_type_get(d, &s), *two[2] = {t, t};
    const lz_attr none = {LZ_ATTR_none};
    ck_assert_ptr_null(lz_sig_get(LZ_OP_ADD, lz_attr_get(&none), two, 2));
    ck_assert_int_eq(lz_error_get()->status, LZ_EDTYPE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "convert it to a float first"));
    ck_assert(!lz_dtype_is_float(d) && !lz_dtype_is_int(d) && lz_dtype_is_storage(d));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("float8");
    TCase *t = tcase_create("float8");
    tcase_add_loop_test(t, codes, 0, NFORMAT);
    tcase_add_loop_test(t, boundaries, 0, NFORMAT);
    tcase_add_test(t, once);
    tcase_add_loop_test(t, integers, 0, NFORMAT);
    tcase_add_loop_test(t, from_each_other, 0, NFORMAT * NFORMAT);
    tcase_add_test(t, of_ml_dtypes);
    tcase_add_loop_test(t, only_stored, 0, NFORMAT);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
