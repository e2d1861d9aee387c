/* t_numbers.c - numbers, letters and formatted text, the same under every locale. */
#include "base/text.h"
#include "base/vec.h"
#include "locales.h"
#include "suite.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *text;
    bool good;
    double value;
} floats[] = {
    {"0", true, 0},          {"-0.5", true, -0.5},
    {"+1.5", true, 1.5},     {"1e3", true, 1000},
    {"1E-3", true, 1e-3},    {".5", true, 0.5},
    {"5.", true, 5},         {"0x1.8p+1", true, 3},
    {"inf", true, INFINITY}, {"-Infinity", true, -INFINITY},
    {"nan", true, NAN},      {"1e999", true, INFINITY},
    {"0.1", true, 0.1},      {"4.9406564584124654e-324", true, 0x1p-1074},
    {"", false, 0},          {" 1", false, 0},
    {"1 ", false, 0},        {"\t1", false, 0},
    {"1,5", false, 0},       {"1.000,5", false, 0},
    {"1x", false, 0},        {"1e", false, 0},
    {"1.5.5", false, 0},     {"abc", false, 0},
    {"0x1p-3xyz", false, 0}, {"--1", false, 0},
    {"1\n", false, 0},       {".", false, 0},
};

static void check_floats(const char *where)
{
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        double v = 42;
        float f = 42;
        size_t n = strlen(floats[i].text);
        ck_assert_msg(lz_text_f64(floats[i].text, n, &v) == floats[i].good, "%s: \"%s\"", where,
                      floats[i].text);
        ck_assert(lz_text_f32(floats[i].text, n, &f) == floats[i].good);
        double want = floats[i].good ? floats[i].value : 42;
        ck_assert_msg(v == want || (isnan(v) && isnan(want)), "%s: \"%s\"", where, floats[i].text);
        ck_assert(f == (float)want || (isnan(f) && isnan(want)));
    }
    char text[64];
    double v;
    lz_snprintf(text, sizeof text, "%.17g|%a|%e|%.3f|%d", 0.1, 0.5, 1e10, 1234567.5, 1234567);
    ck_assert_str_eq(text, "0.10000000000000001|0x1p-1|1.000000e+10|1234567.500|1234567");
    ck_assert(lz_text_f64("1\0002", 3, &v) == false);
}

static void check_printing(void)
{
    lz_buf b = {0};
    char long_text[400];
    lz_buf_printf(&b, "%.1f", 0.5);
    ck_assert_str_eq(lz_buf_str(&b), "0.5");
    lz_buf_free(&b);
    lz_buf_printf(&b, "%300d%.1f", 1, 0.5); /* more than it formats on the stack */
    ck_assert_str_eq(lz_buf_str(&b) + 300, "0.5");
    lz_buf_free(&b);
    lz_arena a = {0};
    ck_assert_str_eq(lz_arena_printf(&a, "%g", 0.5), "0.5");
    lz_arena_free(&a);
    (void)LZ_FAIL(LZ_EINVAL, "lr is %g", 0.5);
    ck_assert_str_eq(lz_error_get()->message, "lr is 0.5");
    FILE *f = tmpfile();
    ck_assert_int_eq(lz_fprintf(f, "%.2f", 0.25), 4);
    rewind(f);
    ck_assert(fgets(long_text, sizeof long_text, f) && strcmp(long_text, "0.25") == 0);
    fclose(f);
}

static void check_letters(void)
{
    for (int c = 0; c < 256; c++) {
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool digit = c >= '0' && c <= '9';
        ck_assert(lz_is_alpha((char)c) == letter && lz_is_digit((char)c) == digit);
        ck_assert(lz_is_alnum((char)c) == (letter || digit));
        ck_assert(lz_is_space((char)c) == (c && strchr(" \t\n\v\f\r", c)));
        char low = letter ? (char)(c | 32) : (char)c, up = letter ? (char)(c & ~32) : (char)c;
        ck_assert(lz_to_lower((char)c) == low && lz_to_upper((char)c) == up);
    }
    ck_assert(lz_text_same("info", "INFO") && lz_text_same("", "") && !lz_text_same("a", "ab"));
    ck_assert(!lz_text_same("ab", "a") && !lz_text_same("\xe4", "\xc4"));
}

START_TEST(texts)
{
    ck_assert(!_i || lz_test_set_locale(_i - 1));
    char before[64], after[64];
    if (!_i)
        setlocale(LC_ALL, "C");
    snprintf(before, sizeof before, "%.1f", 0.5);
    check_floats(_i ? lz_test_have.name[_i - 1] : "C");
    check_printing();
    check_letters();
    snprintf(after, sizeof after, "%.1f", 0.5); /* the program keeps its locale */
    ck_assert_str_eq(before, after);
    ck_assert_str_eq(before, _i ? "0,5" : "0.5");
}
END_TEST

static const struct {
    const char *text;
    lz_status status;
    int64_t value;
} integers[] = {
    {"0", LZ_OK, 0},
    {"-7", LZ_OK, -7},
    {"+7", LZ_OK, 7},
    {"007", LZ_OK, 7},
    {"9223372036854775807", LZ_OK, INT64_MAX},
    {"-9223372036854775808", LZ_OK, INT64_MIN},
    {"9223372036854775808", LZ_ERANGE, 0},
    {"-9223372036854775809", LZ_ERANGE, 0},
    {"99999999999999999999999999", LZ_ERANGE, 0},
    {"", LZ_EPARSE, 0},
    {"-", LZ_EPARSE, 0},
    {"+-1", LZ_EPARSE, 0},
    {" 1", LZ_EPARSE, 0},
    {"1 ", LZ_EPARSE, 0},
    {"1.0", LZ_EPARSE, 0},
    {"1e3", LZ_EPARSE, 0},
    {"0x10", LZ_EPARSE, 0},
    {"1.000", LZ_EPARSE, 0},
    {"99999999999999999999999999x", LZ_EPARSE, 0},
};

START_TEST(whole_numbers)
{
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        int64_t v = 42;
        size_t n = strlen(integers[i].text);
        ck_assert_msg(lz_text_i64(integers[i].text, n, INT64_MIN, INT64_MAX, &v) ==
                          integers[i].status,
                      "%s", integers[i].text);
        ck_assert(v == (integers[i].status == LZ_OK ? integers[i].value : 42));
    }
    int64_t v = 0;
    uint64_t u = 0;
    ck_assert_int_eq(lz_text_i64("128", 3, -128, 127, &v), LZ_ERANGE);
    ck_assert_int_eq(lz_text_i64("-129", 4, -128, 127, &v), LZ_ERANGE);
    ck_assert_int_eq(lz_text_u64("-1", 2, 10, UINT64_MAX, &u), LZ_EPARSE);
    ck_assert(lz_text_u64("18446744073709551615", 20, 10, UINT64_MAX, &u) == LZ_OK && !~u);
    ck_assert_int_eq(lz_text_u64("18446744073709551616", 20, 10, UINT64_MAX, &u), LZ_ERANGE);
    ck_assert(lz_text_u64("fF", 2, 16, 255, &u) == LZ_OK && u == 255);
    ck_assert(lz_text_u64("0x1f", 4, 0, 99, &u) == LZ_OK && u == 31);
    ck_assert(lz_text_u64("017", 3, 0, 99, &u) == LZ_OK && u == 15);
    ck_assert_int_eq(lz_text_u64("08", 2, 0, 99, &u), LZ_EPARSE);
    ck_assert_int_eq(lz_text_u64("0x", 2, 0, 99, &u), LZ_EPARSE);
    ck_assert(lz_text_digits("32K", 3, &u) == 2 && u == 32);
    ck_assert_uint_eq(lz_text_digits("K", 1, &u), 0);
    ck_assert_uint_eq(lz_text_digits("99999999999999999999", 20, &u), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("numbers");
    TCase *t = tcase_create("numbers");
    tcase_add_loop_test(t, texts, 0, 1 + lz_test_make_locales());
    tcase_add_test(t, whole_numbers);
    suite_add_tcase(s, t);
    int rc = lz_run_suite(s);
    lz_test_remove_locales();
    return rc;
}
