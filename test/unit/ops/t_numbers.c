/* t_numbers.c - numbers that an integer dtype cannot hold, as operands: comparisons are those of
 * numbers, arithmetic is modulo the range or LZ_ERANGE, and what fills refuses. Every integer dtype
 * with numbers around its ends, on the reference and the CPU. */
#include "aten.h"

static const lz_dtype dtypes[] = {LZ_I8, LZ_I16, LZ_I32, LZ_I64, LZ_U8, LZ_U16, LZ_U32, LZ_U64};
enum { NDTYPES = sizeof dtypes / sizeof *dtypes, NVALUES = 7, NNUMBERS = 64 };
typedef __int128 wide;

static int width(lz_dtype d)
{
    return (int)lz_dtype_size(d) * 8;
}
static bool signed_dtype(lz_dtype d)
{
    return d == LZ_I8 || d == LZ_I16 || d == LZ_I32 || d == LZ_I64;
}
static wide top(lz_dtype d)
{
    return ((wide)1 << (signed_dtype(d) ? width(d) - 1 : width(d))) - 1;
}
static wide bottom(lz_dtype d)
{
    return signed_dtype(d) ? -top(d) - 1 : 0;
}
/* v modulo the range of d. */
static wide reduced(lz_dtype d, wide v)
{
    wide n = (wide)1 << width(d), r = ((v % n) + n) % n;
    return r > top(d) ? r - n : r;
}

/* The ends, what lies next to them, and a few small values. */
static int values(lz_dtype d, wide *v)
{
    wide all[NVALUES] = {bottom(d), bottom(d) + 1, 0, 1, 5, top(d) - 1, top(d)};
    memcpy(v, all, sizeof all);
    return NVALUES;
}
static lz_tensor *tensor(lz_dtype d)
{
    wide v[NVALUES];
    unsigned char bytes[NVALUES * 8];
    size_t size = lz_dtype_size(d);
    int n = values(d, v);
    for (int i = 0; i < n; i++) {
        uint64_t u = (uint64_t)v[i];
        memcpy(bytes + (size_t)i * size, &u, size);
    }
    return lz_from_host_at(d, LZ_SHAPE(n), bytes, (size_t)-1, LZ_SITE);
}
static int numbers(double *s)
{
    int n = 0;
    for (int k = 0; k <= 64; k++) {
        if (k != 0 && k != 7 && k != 8 && k != 15 && k != 16 && k != 31 && k != 32 && k != 63 &&
            k != 64)
            continue;
        s[n++] = ldexp(1, k);
        s[n++] = -ldexp(1, k);
        s[n++] = ldexp(1, k) - 1;
        s[n++] = -ldexp(1, k) - 1;
    }
    const double more[] = {0,      0.5,  -0.5,  1.5,      255.5,     -128.5,
                           126.25, 1e30, -1e30, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        s[n++] = more[i];
    ck_assert_int_le(n, NNUMBERS);
    return n;
}

/* ---- comparisons ---- */

/* -1, 0, 1: v against s; 2: unordered. Every s of numbers() is exact in f80, as every v is. */
static int order(wide v, double s)
{
    long double x = (long double)v;
    return isnan(s) ? 2 : (x > s) - (x < s);
}
typedef lz_tensor *with_number(lz_tensor *, double, const lz_site *);
static const struct {
    const char *name;
    with_number *f;
    bool less, equal, more, none;
} comparisons[] = {
    {"eq", lz_eq_scalar_at, 0, 1, 0, 0}, {"ne", lz_ne_scalar_at, 1, 0, 1, 1},
    {"lt", lz_lt_scalar_at, 1, 0, 0, 0}, {"le", lz_le_scalar_at, 1, 1, 0, 0},
    {"gt", lz_gt_scalar_at, 0, 0, 1, 0}, {"ge", lz_ge_scalar_at, 0, 1, 1, 0},
};

static void compare(lz_dtype d, int k, double s)
{
    wide v[NVALUES];
    uint8_t got[NVALUES];
    int n = values(d, v);
    OK(lz_to_host(comparisons[k].f(tensor(d), s, LZ_SITE), got, sizeof got));
    for (int i = 0; i < n; i++) {
        int o = order(v[i], s);
        bool want = o == 2   ? comparisons[k].none
                    : o < 0  ? comparisons[k].less
                    : o == 0 ? comparisons[k].equal
                             : comparisons[k].more;
        ck_assert_msg(got[i] == want, "%s %s of element %d and %.17g is %d", lz_dtype_name(d),
                      comparisons[k].name, i, s, got[i]);
    }
}

START_TEST(comparisons_are_exact)
{
    double s[NNUMBERS];
    int n = numbers(s);
    rt_use(rt_devices[_i]);
    for (int d = 0; d < NDTYPES; d++)
        for (int k = 0; k < 6; k++)
            for (int i = 0; i < n; i++) {
                lz_scope_begin();
                compare(dtypes[d], k, s[i]);
                lz_scope_end();
            }
}
END_TEST

START_TEST(comparisons_of_booleans_are_exact)
{
    uint8_t got[2];
    double s[NNUMBERS];
    int n = numbers(s);
    rt_use(rt_devices[_i]);
    for (int i = 0; i < n; i++) {
        lz_scope_begin();
        lz_tensor *x = lz_from_host(LZ_BOOL, LZ_SHAPE(2), ((uint8_t[]){0, 1}));
        OK(lz_to_host(lz_lt_scalar(x, s[i]), got, sizeof got));
        ck_assert_msg(got[0] == (0 < s[i]) && got[1] == (1 < s[i]), "%g", s[i]);
        lz_scope_end();
    }
}
END_TEST

/* ---- arithmetic ---- */

typedef enum range { WRAPS, FITS, SHIFTS } range;
static wide w_add(wide a, wide s)
{
    return a + s;
}
static wide w_sub(wide a, wide s)
{
    return a - s;
}
static wide w_mul(wide a, wide s)
{
    return a * s;
}
static wide w_rsub(wide a, wide s)
{
    return s - a;
}
static wide w_and(wide a, wide s)
{
    return a & s;
}
static wide w_or(wide a, wide s)
{
    return a | s;
}
static wide w_xor(wide a, wide s)
{
    return a ^ s;
}
static wide w_left(wide a, wide s)
{
    return s < 0 || s > 63 ? 0 : a * ((wide)1 << s);
}
static wide w_right(wide a, wide s)
{
    return s < 0 || s > 63 ? (a < 0 ? -1 : 0) : a >> s;
}
static wide w_fmod(wide a, wide s)
{
    return s == 0 ? a : a % s;
}
static wide w_floor(wide a, wide s)
{
    return s == 0 ? -1 : a / s - (a % s != 0 && (a < 0) != (s < 0));
}
static wide w_remainder(wide a, wide s)
{
    return s == 0 ? a : a - w_floor(a, s) * s;
}
static const struct {
    const char *name;
    with_number *f;
    wide (*want)(wide, wide);
    range range;
} arithmetic[] = {
    {"add", lz_add_scalar_at, w_add, WRAPS},
    {"sub", lz_sub_scalar_at, w_sub, WRAPS},
    {"mul", lz_mul_scalar_at, w_mul, WRAPS},
    {"rsub", lz_rsub_scalar_at, w_rsub, WRAPS},
    {"and", lz_bitwise_and_scalar_at, w_and, WRAPS},
    {"or", lz_bitwise_or_scalar_at, w_or, WRAPS},
    {"xor", lz_bitwise_xor_scalar_at, w_xor, WRAPS},
    {"left shift", lz_bitwise_left_shift_scalar_at, w_left, SHIFTS},
    {"right shift", lz_bitwise_right_shift_scalar_at, w_right, SHIFTS},
    {"fmod", lz_fmod_scalar_at, w_fmod, FITS},
    {"floor_divide", lz_floor_divide_scalar_at, w_floor, FITS},
    {"remainder", lz_remainder_scalar_at, w_remainder, FITS},
};
enum { NARITHMETIC = sizeof arithmetic / sizeof *arithmetic };

static wide element(lz_dtype d, const unsigned char *bytes, int i)
{
    uint64_t u = 0;
    memcpy(&u, bytes + (size_t)i * lz_dtype_size(d), lz_dtype_size(d));
    return reduced(d, (wide)u);
}

static void compute(lz_dtype d, int k, double s)
{
    wide v[NVALUES];
    unsigned char got[NVALUES * 8];
    int n = values(d, v);
    lz_tensor *r = arithmetic[k].f(tensor(d), s, LZ_SITE);
    bool refused = arithmetic[k].range == WRAPS  ? s < -0x1p63 || s >= 0x1p64
                   : arithmetic[k].range == FITS ? s < (double)bottom(d) || (wide)s > top(d)
                                                 : false;
    if (refused) {
        ck_assert_msg(lz_status_of(r) == LZ_ERANGE, "%s %s %.17g: %s", lz_dtype_name(d),
                      arithmetic[k].name, s, lz_status_name(lz_status_of(r)));
        return;
    }
    ck_assert_msg(lz_dtype_of(r) == d, "%s %s %.17g", lz_dtype_name(d), arithmetic[k].name, s);
    OK(lz_to_host(r, got, sizeof got));
    for (int i = 0; i < n; i++) {
        wide want = reduced(d, arithmetic[k].want(v[i], s > 1e20 || s < -1e20 ? 64 : (wide)s));
        if (arithmetic[k].range == SHIFTS && (s < 0 || s >= width(d)))
            want = arithmetic[k].want == w_right && v[i] < 0 ? -1 : 0;
        ck_assert_msg(element(d, got, i) == want, "%s %s of element %d and %.17g is %lld, not %lld",
                      lz_dtype_name(d), arithmetic[k].name, i, s, (long long)element(d, got, i),
                      (long long)want);
    }
}

START_TEST(arithmetic_wraps_or_refuses)
{
    double s[NNUMBERS];
    int n = numbers(s);
    rt_use(rt_devices[_i]);
    for (int d = 0; d < NDTYPES; d++)
        for (int k = 0; k < NARITHMETIC; k++)
            for (int i = 0; i < n; i++) {
                if (!isfinite(s[i]) || s[i] != trunc(s[i]))
                    continue;
                lz_scope_begin();
                compute(dtypes[d], k, s[i]);
                lz_scope_end();
            }
    lz_tensor *x = lz_full(LZ_U8, LZ_SHAPE(1), 2);
    ck_assert_int_eq((int)lz_item(lz_add_alpha(x, x, -2)), 254);
    ck_assert_int_eq((int)lz_item(lz_addcmul(x, x, x, 300)), (2 + 4 * 300) % 256);
}
END_TEST

/* ---- fills ---- */

/* The number is in the result, or LZ_ERANGE. */
static void filled(lz_dtype d, double s, const char *what, lz_tensor *r)
{
    bool fits = s >= (double)bottom(d) && s < (double)top(d) + 1 && (wide)s <= top(d);
    lz_status want = fits ? LZ_OK : LZ_ERANGE, got = lz_status_of(r);
    ck_assert_msg(got == want, "%s of %s with %.17g: %s, not %s", what, lz_dtype_name(d), s,
                  lz_status_name(got), lz_status_name(want));
}

START_TEST(fills_refuse)
{
    double s[NNUMBERS];
    int n = numbers(s);
    rt_use(rt_devices[_i]);
    for (int k = 0; k < NDTYPES; k++)
        for (int i = 0; i < n; i++) {
            lz_dtype d = dtypes[k];
            if (s[i] != trunc(s[i]) && !isnan(s[i]))
                continue;
            lz_scope_begin();
            lz_tensor *x = tensor(d), *yes = lz_ones(LZ_BOOL, LZ_SHAPE(NVALUES));
            lz_tensor *at = lz_zeros(LZ_I64, LZ_SHAPE(1));
            filled(d, s[i], "full", lz_full(d, LZ_SHAPE(2), s[i]));
            filled(d, s[i], "scalar", lz_scalar(d, s[i]));
            filled(d, s[i], "masked_fill", lz_masked_fill(x, yes, s[i]));
            filled(d, s[i], "index_fill", lz_index_fill(x, 0, at, s[i]));
            filled(d, s[i], "scatter_value", lz_scatter_value(x, 0, at, s[i]));
            filled(d, s[i], "constant_pad_nd", lz_constant_pad_nd(x, ((int64_t[]){1, 1}), 2, s[i]));
            lz_scope_end();
        }
}
END_TEST

START_TEST(bounds_that_do_not_fit)
{
    rt_use(rt_devices[_i]);
    for (int k = 0; k < NDTYPES; k++) {
        lz_dtype d = dtypes[k];
        double above = (double)top(d) + 1, below = (double)bottom(d) * 2 - 1;
        above = d == LZ_I64 || d == LZ_U64 ? above * 2 : above;
        lz_tensor *x = tensor(d);
        ck_assert(lz_item(lz_equal(lz_clamp(x, below, above), x)) == 1);
        ck_assert(lz_item(lz_equal(lz_clamp_min(x, below), x)) == 1);
        ck_assert(lz_item(lz_equal(lz_clamp_max(x, above), x)) == 1);
        ck_assert_int_eq(lz_status_of(lz_clamp(x, above, above)), LZ_ERANGE);
        ck_assert_int_eq(lz_status_of(lz_clamp(x, below, below)), LZ_ERANGE);
        ck_assert_int_eq(lz_status_of(lz_clamp_min(x, above)), LZ_ERANGE);
        ck_assert_int_eq(lz_status_of(lz_clamp_max(x, below)), LZ_ERANGE);
    }
}
END_TEST

START_TEST(ranges_that_do_not_fit)
{
    rt_use(rt_devices[_i]);
    for (int k = 0; k < NDTYPES; k++) {
        lz_dtype d = dtypes[k];
        if (width(d) > 32)
            continue;
        int64_t lo = (int64_t)bottom(d), hi = (int64_t)top(d);
        ck_assert_int_eq(lz_status_of(lz_randint(d, lo, hi + 1, LZ_SHAPE(3))), LZ_OK);
        ck_assert_int_eq(lz_status_of(lz_randint(d, lo, hi + 2, LZ_SHAPE(3))), LZ_ERANGE);
        ck_assert_int_eq(lz_status_of(lz_randint(d, lo - 1, hi, LZ_SHAPE(3))), LZ_ERANGE);
        ck_assert_int_eq(lz_status_of(lz_arange(d, (double)hi - 3, (double)hi + 1, 1)), LZ_OK);
        ck_assert_int_eq(lz_status_of(lz_arange(d, (double)hi - 3, (double)hi + 2, 1)), LZ_ERANGE);
        ck_assert_int_eq(lz_status_of(lz_arange(d, (double)lo - 1, (double)hi, 1e6)), LZ_ERANGE);
        if (width(d) > 16)
            continue;
        ck_assert_int_eq(lz_status_of(lz_randperm(d, hi + 1)), LZ_OK);
        ck_assert_int_eq(lz_status_of(lz_randperm(d, hi + 2)), LZ_ERANGE);
    }
    ck_assert_int_eq(lz_status_of(lz_randint(LZ_U64, -1, 5, LZ_SHAPE(3))), LZ_ERANGE);
    ck_assert_int_eq(lz_status_of(lz_randint(LZ_I64, INT64_MIN, INT64_MAX, LZ_SHAPE(3))), LZ_OK);
}
END_TEST

/* ---- nearness and squares ---- */

START_TEST(wide_integers_are_close_exactly)
{
    rt_use(rt_devices[_i]);
    const int64_t a[] = {9007199254740993, INT64_MIN, INT64_MAX, INT64_MAX, -5};
    const int64_t b[] = {9007199254740992, INT64_MAX, INT64_MIN, INT64_MAX - 1, -5};
    const bool exact[] = {0, 0, 0, 0, 1}, by1[] = {1, 0, 0, 1, 1};
    bool got[5];
    lz_tensor *x = lz_from_host(LZ_I64, LZ_SHAPE(5), a), *y = lz_from_host(LZ_I64, LZ_SHAPE(5), b);
    OK(lz_to_host(lz_isclose(x, y, .rtol = 0, .atol = 0), got, sizeof got));
    ck_assert_mem_eq(got, exact, sizeof got);
    OK(lz_to_host(lz_isclose(x, y, .rtol = 0, .atol = 1.5), got, sizeof got));
    ck_assert_mem_eq(got, by1, sizeof got);
    ck_assert(lz_item(lz_allclose(x, y, .rtol = 0, .atol = INFINITY)) == 1);
    const uint64_t u[] = {UINT64_MAX, 0}, w[] = {UINT64_MAX - 1, UINT64_MAX};
    x = lz_from_host(LZ_U64, LZ_SHAPE(2), u), y = lz_from_host(LZ_U64, LZ_SHAPE(2), w);
    OK(lz_to_host(lz_isclose(x, y, .rtol = 0, .atol = 0), got, 2));
    ck_assert(!got[0] && !got[1]);
    OK(lz_to_host(lz_isclose(x, y, .rtol = 0, .atol = 1), got, 2));
    ck_assert(got[0] && !got[1]);
}
END_TEST

START_TEST(squares_and_signs)
{
    rt_use(rt_devices[_i]);
    lz_tensor *b = lz_from_host(LZ_BOOL, LZ_SHAPE(2), ((uint8_t[]){1, 0}));
    EXPECT(lz_square(b), LZ_I64, LZ_SHAPE(2), ((double[]){1, 0}), 0);
    EXPECT(lz_pow_scalar(b, 2), LZ_I64, LZ_SHAPE(2), ((double[]){1, 0}), 0);
    lz_tensor *u = lz_from_host(LZ_U8, LZ_SHAPE(3), ((uint8_t[]){0, 1, 200}));
    EXPECT(lz_neg(u), LZ_U8, LZ_SHAPE(3), ((double[]){0, 255, 56}), 0);
    EXPECT(lz_abs(u), LZ_U8, LZ_SHAPE(3), ((double[]){0, 1, 200}), 0);
    EXPECT(lz_sign(u), LZ_U8, LZ_SHAPE(3), ((double[]){0, 1, 1}), 0);
    EXPECT(lz_square(u), LZ_U8, LZ_SHAPE(3), ((double[]){0, 1, 64}), 0);
    EXPECT(lz_sign(b), LZ_BOOL, LZ_SHAPE(2), ((double[]){1, 0}), 0);
    ck_assert_int_eq(lz_status_of(lz_abs(b)), LZ_EDTYPE);
    ck_assert_int_eq(lz_status_of(lz_neg(b)), LZ_EDTYPE);
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("numbers");
    TCase *t = tcase_create("numbers");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, comparisons_are_exact, 0, at_devices());
    tcase_add_loop_test(t, comparisons_of_booleans_are_exact, 0, at_devices());
    tcase_add_loop_test(t, arithmetic_wraps_or_refuses, 0, at_devices());
    tcase_add_loop_test(t, fills_refuse, 0, at_devices());
    tcase_add_loop_test(t, bounds_that_do_not_fit, 0, at_devices());
    tcase_add_loop_test(t, ranges_that_do_not_fit, 0, at_devices());
    tcase_add_loop_test(t, wide_integers_are_close_exactly, 0, at_devices());
    tcase_add_loop_test(t, squares_and_signs, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
