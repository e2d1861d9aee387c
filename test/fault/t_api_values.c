/* t_api_values.c - values that break naive code, by every way of computing: the reference, compiled
 * code, and the loop executor. A10: NaN, infinities, signed zeros, subnormals, also sorted; casts
 * out of range. A11: integer division by 0 and of the lowest by -1. A12: indices out of bounds, on
 * memory whose neighbours may not be touched. Expected values are written out here: IEEE 754, the
 * StableHLO specification, and docs/reference/ops.md where those leave it open. */
#include "suite.h"
#include "support/rnd.h"
#include <lazuli/hlo.h>
#include <lazuli/lazuli.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int way; /* of this process */
static const char *const ways[] = {"reference", "compiled", "loop executor"};
enum { NWAYS = 3 };

/* Check forks each test before the library is used. */
static void choose(int w)
{
    way = w;
    setenv("PJRT_DEVICE", way == 0 ? "REF" : "CPU", 1);
    setenv("LAZULI_EXEC", way == 2 ? "loop" : "", 1);
    setenv("LAZULI_CACHE", "0", 1);
}

#define OK(expr) ck_assert_msg((expr) == LZ_OK, "%s: %s", #expr, lz_last_error_text())

static uint32_t bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* The same value, the same zero; any NaN is NaN. */
static bool same(float a, float b)
{
    return isnan(a) ? isnan(b) : bits(a) == bits(b);
}

/* ---- A10 ---- */

enum { TILE = 37 }; /* so that whole vectors and the rest of one are both reached */

static lz_tensor *tiled(float v)
{
    float x[TILE];
    for (int i = 0; i < TILE; i++)
        x[i] = v;
    return lz_from_host(LZ_F32, LZ_SHAPE(TILE), x);
}

static void is(lz_tensor *t, float want, const char *what, float a, float b)
{
    float got[TILE];
    OK(lz_to_host(t, got, sizeof got));
    for (int i = 0; i < TILE; i++)
        ck_assert_msg(same(got[i], want), "%s of %a and %a is %a at %d, not %a (%s)", what, a, b,
                      got[i], i, want, ways[way]);
}

#define INF INFINITY
#define TINY 0x1p-149f /* the smallest subnormal */

START_TEST(a10_one_operand)
{
    static const struct {
        const char *op;
        float x, want;
    } rows[] = {{"abs", -0.0f, 0},
                {"abs", -INF, INF},
                {"abs", NAN, NAN},
                {"abs", -TINY, TINY},
                {"negate", 0, -0.0f},
                {"negate", -0.0f, 0},
                {"sign", -0.0f, -0.0f},
                {"sign", 0, 0},
                {"sign", NAN, NAN},
                {"sign", -INF, -1},
                {"sign", TINY, 1},
                {"sign", -TINY, -1},
                {"sqrt", -0.0f, -0.0f},
                {"sqrt", INF, INF},
                {"sqrt", -1, NAN},
                {"sqrt", -TINY, NAN},
                {"sqrt", 0x1p-148f, 0x1p-74f},
                {"rsqrt", 0, INF},
                {"rsqrt", -0.0f, -INF},
                {"rsqrt", INF, 0},
                {"rsqrt", -1, NAN},
                {"cbrt", -0.0f, -0.0f},
                {"cbrt", -INF, -INF},
                {"exponential", -INF, 0},
                {"exponential", INF, INF},
                {"exponential", 0, 1},
                {"exponential", -0.0f, 1},
                {"exponential", NAN, NAN},
                {"exponential", 89, INF},
                {"exponential", -104, 0},
                {"exponential_minus_one", -INF, -1},
                {"exponential_minus_one", -0.0f, -0.0f},
                {"exponential_minus_one", TINY, TINY},
                {"log", 0, -INF},
                {"log", -0.0f, -INF},
                {"log", 1, 0},
                {"log", -TINY, NAN},
                {"log", INF, INF},
                {"log_plus_one", -1, -INF},
                {"log_plus_one", -0.0f, -0.0f},
                {"log_plus_one", -2, NAN},
                {"log_plus_one", TINY, TINY},
                {"tanh", INF, 1},
                {"tanh", -INF, -1},
                {"tanh", -0.0f, -0.0f},
                {"tanh", NAN, NAN},
                {"tanh", TINY, TINY},
                {"logistic", -INF, 0},
                {"logistic", INF, 1},
                {"logistic", 0, 0.5f},
                {"logistic", NAN, NAN},
                {"chlo.erf", INF, 1},
                {"chlo.erf", -INF, -1},
                {"chlo.erf", -0.0f, -0.0f},
                {"sine", INF, NAN},
                {"sine", -0.0f, -0.0f},
                {"cosine", -INF, NAN},
                {"cosine", -0.0f, 1},
                {"tan", -0.0f, -0.0f},
                {"tan", INF, NAN},
                {"floor", -0.0f, -0.0f},
                {"floor", -TINY, -1},
                {"floor", -INF, -INF},
                {"ceil", -TINY, -0.0f},
                {"ceil", -0.5f, -0.0f},
                {"ceil", TINY, 1},
                {"round_nearest_even", 2.5f, 2},
                {"round_nearest_even", -0.5f, -0.0f},
                {"round_nearest_even", 0.49999997f, 0},
                {"round_nearest_even", -3.5f, -4},
                {"round_nearest_afz", 2.5f, 3},
                {"round_nearest_afz", -0.5f, -1},
                {"round_nearest_afz", 0.49999997f, 0},
                {"round_nearest_afz", -0.0f, -0.0f},
                {"round_nearest_even", 8388609, 8388609},
                {"round_nearest_even", NAN, NAN}};
    choose(_i);
    lz_scope_begin();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lz_tensor *x = tiled(rows[k].x);
        is(lz_hlo_ew_at(rows[k].op, &x, 1, NULL), rows[k].want, rows[k].op, rows[k].x, 0);
    }
    lz_scope_end();
}
END_TEST

START_TEST(a10_two_operands)
{
    static const struct {
        const char *op;
        float a, b, want;
    } rows[] = {{"add", INF, -INF, NAN},
                {"add", -0.0f, -0.0f, -0.0f},
                {"add", -0.0f, 0, 0},
                {"add", TINY, TINY, 2 * TINY},
                {"add", FLT_MAX, FLT_MAX, INF},
                {"subtract", INF, INF, NAN},
                {"subtract", 0, 0, 0},
                {"subtract", -0.0f, 0, -0.0f},
                {"subtract", FLT_MIN, 2 * FLT_MIN, -FLT_MIN},
                {"subtract", 1.5f * FLT_MIN, FLT_MIN, 0.5f * FLT_MIN},
                {"multiply", 0, INF, NAN},
                {"multiply", -0.0f, 5, -0.0f},
                {"multiply", FLT_MIN, 0.5f, 0.5f * FLT_MIN},
                {"multiply", TINY, 0.5f, 0},
                {"multiply", TINY, 0.75f, TINY},
                {"multiply", NAN, 0, NAN},
                {"divide", 1, 0, INF},
                {"divide", 1, -0.0f, -INF},
                {"divide", 0, 0, NAN},
                {"divide", INF, INF, NAN},
                {"divide", -1, INF, -0.0f},
                {"divide", FLT_MIN, 4, 0.25f * FLT_MIN},
                {"remainder", 5, 0, NAN},
                {"remainder", -5, 3, -2},
                {"remainder", 5, INF, 5},
                {"remainder", INF, 2, NAN},
                {"remainder", -4, 2, -0.0f},
                {"maximum", NAN, 1, NAN},
                {"maximum", 1, NAN, NAN},
                {"maximum", -0.0f, 0, 0},
                {"maximum", 0, -0.0f, 0},
                {"maximum", -INF, INF, INF},
                {"maximum", TINY, 0, TINY},
                {"minimum", NAN, 1, NAN},
                {"minimum", -INF, NAN, NAN},
                {"minimum", 0, -0.0f, -0.0f},
                {"minimum", -0.0f, 0, -0.0f},
                {"minimum", -TINY, 0, -TINY},
                {"power", 0, 0, 1},
                {"power", NAN, 0, 1},
                {"power", 1, NAN, 1},
                {"power", -2, 3, -8},
                {"power", -8, 1 / 3.0f, NAN},
                {"power", 0, -1, INF},
                {"power", -0.0f, -1, -INF},
                {"power", -0.0f, -2, INF},
                {"power", -0.0f, 3, -0.0f},
                {"power", INF, -1, 0},
                {"power", -INF, 3, -INF},
                {"power", -INF, 2, INF},
                {"power", 0.5f, INF, 0},
                {"power", 2, INF, INF},
                {"power", -1, INF, 1},
                {"power", 2, -149, TINY},
                {"atan2", 0, 1, 0},
                {"atan2", -0.0f, 1, -0.0f},
                {"atan2", NAN, 1, NAN},
                {"atan2", 0, 0, 0},
                {"atan2", -0.0f, 0, -0.0f}};
    choose(_i);
    lz_scope_begin();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lz_tensor *x[2] = {tiled(rows[k].a), tiled(rows[k].b)};
        is(lz_hlo_ew_at(rows[k].op, x, 2, NULL), rows[k].want, rows[k].op, rows[k].a, rows[k].b);
    }
    is(lz_clamp(tiled(NAN), -1, 1), NAN, "clamp", NAN, 0);
    is(lz_clamp(tiled(-INF), -1, 1), -1, "clamp", -INF, 0);
    is(lz_clamp(tiled(3), NAN, 1), 1, "clamp without a lower bound", 3, 0);
    is(lz_clamp(tiled(-3), -INF, NAN), -3, "clamp without an upper bound", -3, 0);
    is(lz_clamp(tiled(0), 2, 1), 1, "clamp with bounds that cross", 0, 0);
    is(lz_relu(tiled(NAN)), NAN, "relu", NAN, 0);
    lz_scope_end();
}
END_TEST

START_TEST(a10_comparisons)
{
    static const float v[] = {NAN, -INF, -1, -0.0f, 0, TINY, 1, INF};
    choose(_i);
    lz_scope_begin();
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            lz_tensor *a = tiled(v[i]), *b = tiled(v[j]);
            float x = v[i], y = v[j];
            const struct {
                lz_tensor *t;
                int want;
            } rows[] = {{lz_eq(a, b), x == y}, {lz_ne(a, b), x != y}, {lz_lt(a, b), x < y},
                        {lz_le(a, b), x <= y}, {lz_gt(a, b), x > y},  {lz_ge(a, b), x >= y}};
            for (int k = 0; k < 6; k++) {
                uint8_t got[TILE];
                OK(lz_to_host(rows[k].t, got, sizeof got));
                for (int e = 0; e < TILE; e++)
                    ck_assert_msg(got[e] == rows[k].want, "comparison %d of %a and %a is %d (%s)",
                                  k, x, y, got[e], ways[_i]);
            }
        }
    uint8_t fin[TILE];
    OK(lz_to_host(lz_isfinite(tiled(NAN)), fin, sizeof fin));
    ck_assert_int_eq(fin[TILE - 1], 0);
    OK(lz_to_host(lz_isfinite(tiled(TINY)), fin, sizeof fin));
    ck_assert_int_eq(fin[0], 1);
    lz_scope_end();
}
END_TEST

START_TEST(a10_reductions)
{
    choose(_i);
    lz_scope_begin();
    for (int n = 1; n < 70; n += 11) {
        float v[70];
        for (int at = 0; at < n; at += 1 + n / 5) {
            for (int i = 0; i < n; i++)
                v[i] = (float)(i % 7) - 3;
            v[at] = NAN;
            lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(n), v);
            ck_assert(isnan(lz_item(lz_amax(x))) && isnan(lz_item(lz_amin(x))) &&
                      isnan(lz_item(lz_sum(x))) && isnan(lz_item(lz_prod(x))));
            ck_assert_int_eq(lz_item_i64(lz_argmax(x, 0, false)), at);
            ck_assert_int_eq(lz_item_i64(lz_argmin(x, 0, false)), at);
            v[n - 1] = NAN; /* the first NaN is the answer */
            x = lz_from_host(LZ_F32, LZ_SHAPE(n), v);
            ck_assert_int_eq(lz_item_i64(lz_argmax(x, 0, false)), at);
        }
        for (int i = 0; i < n; i++)
            v[i] = i & 1 ? 0 : -0.0f;
        lz_tensor *z = lz_from_host(LZ_F32, LZ_SHAPE(n), v);
        ck_assert_int_eq(lz_item_i64(lz_argmax(z, 0, false)),
                         0); /* zeros tie, whatever their sign */
        ck_assert(!signbit(lz_item(lz_amax(z))) == (n > 1));
        ck_assert(signbit(lz_item(lz_amin(z))));
    }
    const float mixed[4] = {INF, 1, -INF, 2}, big[4] = {FLT_MAX, FLT_MAX, -FLT_MAX, 1},
                tiny[4] = {TINY, TINY, TINY, TINY};
    ck_assert(isnan(lz_item(lz_sum(lz_from_host(LZ_F32, LZ_SHAPE(4), mixed)))));
    ck_assert_double_eq(lz_item(lz_amax(lz_from_host(LZ_F32, LZ_SHAPE(4), mixed))), INF);
    ck_assert_double_eq(lz_item(lz_sum(lz_from_host(LZ_F32, LZ_SHAPE(4), tiny))), 4 * TINY);
    ck_assert_double_eq(lz_item(lz_amax(lz_neg(lz_from_host(LZ_F32, LZ_SHAPE(4), big)))), FLT_MAX);
    const float rows[4] = {-INF, -INF, 3, 1000};
    float sm[4];
    OK(lz_to_host(lz_softmax(lz_from_host(LZ_F32, LZ_SHAPE(2, 2), rows), 1), sm, sizeof sm));
    ck_assert(isnan(sm[0]) && isnan(sm[1]) && sm[2] == 0 && sm[3] == 1); /* as torch.softmax */
    lz_scope_end();
}
END_TEST

/* Ascending: NaN last; descending: NaN first. Zeros of either sign are equal, and equal ones keep
 *   their order. */
START_TEST(a10_sort)
{
    static const float v[] = {NAN, 1, -INF, 0, -0.0f, INF, -NAN, TINY, 0, -TINY, -1};
    static const int up[] = {2, 10, 9, 3, 4, 8, 7, 1, 5, 0, 6},
                     down[] = {0, 6, 5, 1, 7, 3, 4, 8, 9, 10, 2};
    enum { N = sizeof v / sizeof *v };
    choose(_i);
    lz_scope_begin();
    for (int d = 0; d < 2; d++)
        for (int wide = 0; wide < 2; wide++) {
            float got[N];
            double got64[N];
            int64_t at[N];
            lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(N), v), *i = NULL;
            lz_tensor *y = lz_sort(wide ? lz_to(x, LZ_F64) : x, 0, d, &i);
            OK(wide ? lz_to_host(y, got64, sizeof got64) : lz_to_host(y, got, sizeof got));
            OK(lz_to_host(i, at, sizeof at));
            for (int k = 0; k < N; k++) {
                int want = (d ? down : up)[k];
                float have = wide ? (float)got64[k] : got[k];
                ck_assert_msg(same(have, v[want]) && at[k] == want,
                              "place %d holds %a of %lld (%s)", k, have, (long long)at[k],
                              ways[_i]);
            }
        }
    lz_scope_end();
}
END_TEST

/* A number of any dtype into any other: truncation, saturation, NaN as 0, rounding to even. */
START_TEST(a10_casts)
{
    static const double v[] = {NAN,
                               INFINITY,
                               -INFINITY,
                               0.0,
                               -0.0,
                               0.9,
                               -0.9,
                               1.5,
                               2.5,
                               -1.5,
                               127.9,
                               128,
                               255.5,
                               256,
                               -128.9,
                               -129,
                               32768,
                               65535.9,
                               65536,
                               -32769,
                               2147483648.0,
                               -2147483649.0,
                               4294967296.0,
                               9223372036854775808.0,
                               -9223372036854775809.0,
                               18446744073709551616.0,
                               1e30,
                               -1e30,
                               65519.99,
                               65520,
                               0x1p-149,
                               0x1p-25,
                               6e-8,
                               1.00390625,
                               1.01171875,
                               3.4e38,
                               3.5e38};
    enum { N = sizeof v / sizeof *v };
    static const struct {
        lz_dtype d;
        double lo, hi;
    } ints[] = {{LZ_I8, -128, 127},
                {LZ_U8, 0, 255},
                {LZ_I16, -32768, 32767},
                {LZ_U16, 0, 65535},
                {LZ_I32, -2147483648.0, 2147483647.0},
                {LZ_U32, 0, 4294967295.0},
                {LZ_I64, -0x1p63, 0x1p63},
                {LZ_U64, 0, 0x1p64}};
    choose(_i);
    lz_scope_begin();
    for (int from = 0; from < 2; from++) {
        float f[N];
        for (int i = 0; i < N; i++)
            f[i] = (float)v[i];
        lz_tensor *x =
            from ? lz_from_host(LZ_F32, LZ_SHAPE(N), f) : lz_from_host(LZ_F64, LZ_SHAPE(N), v);
        for (int k = 0; k < 8; k++)
            for (int i = 0; i < N; i++) {
                double in = from ? (double)f[i] : v[i], want = isnan(in) ? 0 : trunc(in);
                want = want < ints[k].lo ? ints[k].lo : want > ints[k].hi ? ints[k].hi : want;
                lz_tensor *e = lz_select(lz_to(x, ints[k].d), 0, i);
                int64_t got = lz_item_i64(e);
                bool u64 = ints[k].d == LZ_U64;
                int64_t w = want >= 0x1p63 ? (u64 ? (want >= 0x1p64 ? -1 : (int64_t)(uint64_t)want)
                                                  : INT64_MAX)
                                           : (int64_t)want;
                ck_assert_msg(got == w, "%g as %s is %lld, not %lld (%s)", in,
                              lz_dtype_name(ints[k].d), (long long)got, (long long)w, ways[_i]);
            }
        uint8_t b[N];
        OK(lz_to_host(lz_to(x, LZ_BOOL), b, sizeof b));
        for (int i = 0; i < N; i++)
            ck_assert_msg(b[i] == ((from ? (double)f[i] : v[i]) != 0), "%g as bool is %d (%s)",
                          v[i], b[i], ways[_i]);
        uint16_t h[N];
        OK(lz_to_host(lz_to(x, LZ_F16), h, sizeof h));
        static const struct {
            double x;
            uint16_t f16;
        } halves[] = {{INFINITY, 0x7c00}, {-INFINITY, 0xfc00}, {-0.0, 0x8000},
                      {1.5, 0x3e00},      {65519.99, 0x7bff},  {65520, 0x7c00},
                      {0x1p-25, 0},       {6e-8, 1},           {1e30, 0x7c00}};
        for (size_t r = 0; r < sizeof halves / sizeof *halves; r++)
            for (int i = 0; i < N; i++)
                if (v[i] == halves[r].x && signbit(v[i]) == signbit(halves[r].x))
                    ck_assert_msg(h[i] == halves[r].f16, "%g as f16 is %04x, not %04x (%s)", v[i],
                                  h[i], halves[r].f16, ways[_i]);
        OK(lz_to_host(lz_to(x, LZ_BF16), h, sizeof h));
        for (int i = 0; i < N; i++) {
            if (v[i] == 1.00390625) /* half-way between 0x3f80 and 0x3f81: to even */
                ck_assert_int_eq(h[i], 0x3f80);
            if (v[i] == 1.01171875)
                ck_assert_int_eq(h[i], 0x3f82);
            if (v[i] == 3.4e38)
                ck_assert_int_eq(h[i], 0x7f80);
            if (isnan(v[i]))
                ck_assert_msg((h[i] & 0x7f80) == 0x7f80 && (h[i] & 0x7f), "NaN as bf16 is %04x",
                              h[i]);
        }
    }
    const int64_t wide[4] = {INT64_MAX, INT64_MIN, 16777217, 9007199254740993};
    float f[4];
    double d[4];
    int8_t narrow[4];
    lz_tensor *w = lz_from_host(LZ_I64, LZ_SHAPE(4), wide);
    OK(lz_to_host(lz_to(w, LZ_F32), f, sizeof f));
    OK(lz_to_host(lz_to(w, LZ_F64), d, sizeof d));
    OK(lz_to_host(lz_to(w, LZ_I8), narrow, sizeof narrow));
    ck_assert(f[0] == 0x1p63f && f[1] == -0x1p63f && f[2] == 16777216 &&
              d[3] == 9007199254740992.0 && d[2] == 16777217);
    ck_assert(narrow[0] == -1 && narrow[1] == 0 && narrow[2] == 1 &&
              narrow[3] == 1); /* integers wrap */
    lz_scope_end();
}
END_TEST

/* ---- A11 ---- */

static int64_t lowest(lz_dtype d)
{
    return (int64_t)((uint64_t)1 << (8 * lz_dtype_size(d) - 1)); /* as the type's bits */
}

static int64_t as(lz_dtype d, int64_t v)
{
    unsigned shift = 64 - 8 * (unsigned)lz_dtype_size(d);
    bool sign = d == LZ_I8 || d == LZ_I16 || d == LZ_I32 || d == LZ_I64;
    return sign ? (int64_t)((uint64_t)v << shift) >> shift
                : (int64_t)((uint64_t)v << shift >> shift);
}

static lz_tensor *integers(lz_dtype d, int64_t v, int how)
{
    unsigned char buf[TILE * 8];
    for (int i = 0; i < TILE; i++)
        memcpy(buf + (size_t)i * lz_dtype_size(d), &v, lz_dtype_size(d));
    lz_tensor *t = lz_from_host(d, LZ_SHAPE(TILE), buf);
    if (how == 0 || d == LZ_I64 || d == LZ_U64)
        return t;
    /* part of the program, where the compiler sees it and may compute with it itself */
    lz_tensor *c =
        lz_hlo_constant(d, d == LZ_U8 || d == LZ_U16 || d == LZ_U32 ? (double)(uint64_t)as(d, v)
                                                                    : (double)as(d, v));
    return lz_hlo_broadcast_in_dim(c, LZ_SHAPE(TILE), NULL, 0);
}

START_TEST(a11_division)
{
    static const lz_dtype types[] = {LZ_I8, LZ_I16, LZ_I32, LZ_I64, LZ_U8, LZ_U16, LZ_U32, LZ_U64};
    choose(_i);
    for (int t = 0; t < 8; t++) {
        lz_dtype d = types[t];
        bool sign = t < 4;
        int64_t low = as(d, lowest(d));
        const struct {
            int64_t a, b, q, r;
        } rows[] = {{7, 0, -1, 7},
                    {0, 0, -1, 0},
                    {low, 0, -1, low},
                    {low, -1, sign ? low : 0, sign ? 0 : low},
                    {-7, 2, 0, 0},
                    {low, 1, low, 0},
                    {5, -1, sign ? -5 : 0, sign ? 0 : 5}};
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            for (int how = 0; how < 4; how++) {
                int64_t a = as(d, rows[k].a), b = as(d, rows[k].b), q = as(d, rows[k].q),
                        r = as(d, rows[k].r);
                if (k == 4) {
                    q = sign ? a / b : (int64_t)((uint64_t)a / (uint64_t)b);
                    r = sign ? a % b : (int64_t)((uint64_t)a % (uint64_t)b);
                }
                lz_scope_begin();
                lz_tensor *x[2] = {integers(d, a, how & 1), integers(d, b, how >> 1)};
                lz_tensor *res[2] = {lz_hlo_ew_at("divide", x, 2, NULL),
                                     lz_hlo_ew_at("remainder", x, 2, NULL)};
                for (int w = 0; w < 2; w++) {
                    unsigned char buf[TILE * 8];
                    OK(lz_to_host(res[w], buf, sizeof buf));
                    for (int e = 0; e < TILE; e++) {
                        int64_t got = 0;
                        memcpy(&got, buf + (size_t)e * lz_dtype_size(d), lz_dtype_size(d));
                        got = as(d, got);
                        ck_assert_msg(got == (w ? r : q),
                                      "%s: %lld %s %lld is %lld, not %lld (%s, %d)",
                                      lz_dtype_name(d), (long long)a, w ? "%" : "/", (long long)b,
                                      (long long)got, (long long)(w ? r : q), ways[_i], how);
                    }
                }
                lz_scope_end();
            }
    }
    /* the user's functions */
    lz_scope_begin();
    int32_t got[2], x[2] = {INT32_MIN, 7};
    lz_tensor *v = lz_from_host(LZ_I32, LZ_SHAPE(2), x);
    OK(lz_to_host(lz_fmod(v, lz_zeros(LZ_I32, LZ_SHAPE(2))), got, sizeof got));
    ck_assert(got[0] == INT32_MIN && got[1] == 7);
    OK(lz_to_host(lz_fmod(v, lz_full(LZ_I32, LZ_SHAPE(2), -1)), got, sizeof got));
    ck_assert(got[0] == 0 && got[1] == 0);
    lz_scope_end();
}
END_TEST

/* ---- A12 ---- */

/* n bytes that end, or begin, where memory may not be touched. */
static void *guarded(size_t n, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (n + page - 1) / page * page;
    char *p = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    ck_assert_int_eq(mprotect(p + page, whole, PROT_READ | PROT_WRITE), 0);
    return at_end ? p + page + (whole - n) : p + page;
}

static int64_t clampi(int64_t v, int64_t hi)
{
    return v < 0 ? 0 : v > hi ? hi : v;
}

static const int64_t wild[] = {
    0,  1,  2,    7,     8,         9,         15,        16,        17,        -1,          -2,
    -8, -9, 1000, -1000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 40, -(1LL << 33)};

enum {
    ROWS = 16,
    COLS = 64,
    PICKS = 32
}; /* rows of 256 bytes: the array is 64-byte aligned at either end of its pages */

START_TEST(a12_out_of_bounds)
{
    choose(_i);
    lz_rnd rnd = {77};
    for (int round = 0; round < 40; round++) {
        bool narrow = round & 1;
        lz_scope_begin();
        float *x = guarded(ROWS * COLS * sizeof *x, round & 2);
        for (int i = 0; i < ROWS * COLS; i++)
            x[i] = (float)i;
        int64_t at[PICKS];
        int32_t at32[PICKS];
        for (int i = 0; i < PICKS; i++) {
            at[i] = wild[lz_rnd_range(&rnd, 0, (int64_t)(sizeof wild / sizeof *wild) - 1)];
            at32[i] = (int32_t)(at[i] > INT32_MAX   ? INT32_MAX
                                : at[i] < INT32_MIN ? INT32_MIN
                                                    : at[i]);
            if (narrow)
                at[i] = at32[i];
        }
        lz_tensor *t = lz_from_borrowed(LZ_F32, LZ_SHAPE(ROWS, COLS), x, NULL, NULL);
        lz_tensor *idx = narrow ? lz_from_host(LZ_I32, LZ_SHAPE(PICKS, 1), at32)
                                : lz_from_host(LZ_I64, LZ_SHAPE(PICKS, 1), at);
        lz_gather_dims g = {.noffset = 1,
                            .offset_dims = {1},
                            .ncollapsed = 1,
                            .collapsed_slice_dims = {0},
                            .nstart_map = 1,
                            .start_index_map = {0},
                            .slice_sizes = {1, COLS},
                            .index_vector_dim = 1};
        static float got[PICKS * COLS], upd[ROWS * COLS];
        OK(lz_to_host(lz_hlo_gather(t, idx, &g), got, sizeof got));
        for (int i = 0; i < PICKS; i++)
            for (int c = 0; c < COLS; c++)
                ck_assert_msg(got[i * COLS + c] == x[clampi(at[i], ROWS - 1) * COLS + c],
                              "gather at %lld (%s)", (long long)at[i], ways[_i]);
        /* updates out of bounds are dropped */
        lz_scatter_dims s = {.nwindow = 1,
                             .update_window_dims = {1},
                             .ninserted = 1,
                             .inserted_window_dims = {0},
                             .nmap = 1,
                             .scatter_dims_to_operand_dims = {0},
                             .index_vector_dim = 1};
        OK(lz_to_host(lz_hlo_scatter("add", t, idx, lz_full(LZ_F32, LZ_SHAPE(PICKS, COLS), 1), &s),
                      upd, sizeof upd));
        for (int r = 0; r < ROWS; r++) {
            int hits = 0;
            for (int i = 0; i < PICKS; i++)
                hits += at[i] == r;
            for (int c = 0; c < COLS; c++)
                ck_assert_msg(upd[r * COLS + c] == x[r * COLS + c] + (float)hits,
                              "scatter into row %d (%s)", r, ways[_i]);
        }
        /* slices at run-time starts are clamped, to read and to write */
        lz_tensor *st[2] = {lz_reshape(lz_slice(idx, 0, 0, 1, 1), LZ_SCALAR),
                            lz_reshape(lz_slice(idx, 0, 1, 2, 1), LZ_SCALAR)};
        int64_t r0 = clampi(at[0], ROWS - 3), c0 = clampi(at[1], COLS - 5);
        float small[15], whole[ROWS * COLS];
        OK(lz_to_host(lz_hlo_dynamic_slice(t, st, ((int64_t[]){3, 5}), 2), small, sizeof small));
        for (int i = 0; i < 15; i++)
            ck_assert_msg(small[i] == x[(r0 + i / 5) * COLS + c0 + i % 5],
                          "dynamic_slice at %lld, %lld (%s)", (long long)at[0], (long long)at[1],
                          ways[_i]);
        OK(lz_to_host(lz_hlo_dynamic_update_slice(t, lz_full(LZ_F32, LZ_SHAPE(3, 5), -5), st, 2),
                      whole, sizeof whole));
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLS; c++) {
                bool in = r >= r0 && r < r0 + 3 && c >= c0 && c < c0 + 5;
                ck_assert_msg(whole[r * COLS + c] == (in ? -5 : x[r * COLS + c]),
                              "dynamic_update_slice at %lld, %lld: %d, %d (%s)", (long long)at[0],
                              (long long)at[1], r, c, ways[_i]);
            }
        OK(lz_to_host(lz_embedding(t, lz_reshape(idx, LZ_SHAPE(PICKS))), got, sizeof got));
        ck_assert(got[5] == x[clampi(at[0], ROWS - 1) * COLS + 5]);
        lz_scope_end();
        OK(lz_wait_device_ops());
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("values");
    TCase *t = tcase_create("A10 A11 A12");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, a10_one_operand, 0, NWAYS);
    tcase_add_loop_test(t, a10_two_operands, 0, NWAYS);
    tcase_add_loop_test(t, a10_comparisons, 0, NWAYS);
    tcase_add_loop_test(t, a10_reductions, 0, NWAYS);
    tcase_add_loop_test(t, a10_sort, 0, NWAYS);
    tcase_add_loop_test(t, a10_casts, 0, NWAYS);
    tcase_add_loop_test(t, a11_division, 0, NWAYS);
    tcase_add_loop_test(t, a12_out_of_bounds, 0, NWAYS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
