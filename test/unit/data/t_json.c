/* t_json.c - the JSON reader accepts what another one accepts, means the same by strings and
 * numbers, and what it writes is read back. */
#include "data/json.h"
#include "suite.h"
#include <jansson.h>
#include <string.h>

static bool accepts(const char *text, size_t n)
{
    lz_json j = lz_json_of(text, n);
    return lz_json_skip(&j) && lz_json_finish(&j);
}

/* Whether both say the same. The other one refuses floats that are too large, which nobody reads
 * here, so that it does not see what follows. */
static bool agree(const char *text, size_t n)
{
    json_error_t e;
    json_t *t = json_loadb(text, n, JSON_DECODE_ANY, &e);
    bool theirs = t != NULL;
    json_decref(t);
    return accepts(text, n) == theirs || (!theirs && strstr(e.text, "real number overflow"));
}

static const char *const texts[] = {
    "{}",
    "[]",
    " [1, -2 , 3.5e+7,0.25,-0,10]\n",
    "{\"a\":{\"b\":[true,false,null]},\"c\":\"\"}",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
    "[[[[[[[[]]]]]]]]",
    "{\"__metadata__\":{\"k\":\"v\"},\"w\":{\"shape\":[2,3],\"data_offsets\":[0,24]}}",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "[1,]",
    "{\"a\":1,}",
    "{\"a\"}",
    "{1:2}",
    "[1 2]",
    "tru",
    "\"\\u12\"",
    "\"\\ud800\"",
    "\"\\udc00\"",
    "\"\\ud800\\u0041\"",
    "\"\\u0000\"",
    "\"\\x\"",
    "\"\x01\"",
    "\"\xc0\x80\"",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"abc",
    "",
    " ",
    "[",
    "{",
};
enum { TEXTS = sizeof texts / sizeof *texts };

START_TEST(the_same_texts)
{
    static const char bytes[] = "{}[]\",:\\u0e-+.19atrfnl \n\x01\x80\xc3\xff";
    const char *text = texts[_i];
    size_t n = strlen(text);
    ck_assert_msg(agree(text, n), "%s", text);
    for (size_t i = 0; i <= n; i++) { /* cut, and with each byte changed, left out or added */
        ck_assert_msg(agree(text, i), "%.*s", (int)i, text);
        for (size_t k = 0; k + 1 < sizeof bytes; k++)
            for (int way = 0; way < 3; way++) {
                char changed[200];
                size_t skip = way == 1 || i == n ? 0 : 1, put = way < 2;
                memcpy(changed, text, i);
                changed[i] = bytes[k];
                memcpy(changed + i + put, text + i + skip, n - i - skip);
                size_t len = n + put - skip;
                ck_assert_msg(agree(changed, len), "%.*s", (int)len, changed);
            }
    }
}
END_TEST

START_TEST(the_same_strings)
{
    const char *text = texts[_i];
    json_t *t = json_loads(text, JSON_DECODE_ANY, NULL);
    lz_json j = lz_json_of(text, strlen(text));
    char out[200], again[20];
    size_t len = 0, n = 0;
    bool good = lz_json_string(&j, out, &len) && lz_json_finish(&j);
    ck_assert(good == json_is_string(t));
    if (good) {
        ck_assert_str_eq(out, json_string_value(t));
        ck_assert_uint_eq(len, strlen(out));
        j = lz_json_of(text, strlen(text));
        ck_assert(lz_json_string(&j, NULL, &n) && n == len);
        for (size_t room = 1; room <= sizeof again; room++) { /* whole characters, as many as fit */
            j = lz_json_of(text, strlen(text));
            ck_assert(lz_json_short(&j, again, room, &n) && n == len);
            ck_assert(strlen(again) < room && strncmp(again, out, strlen(again)) == 0);
            ck_assert(accepts("\"\"", 2) && strlen(again) + 4 >= (room - 1 < len ? room - 1 : len));
        }
        lz_buf b = {0};
        ck_assert(lz_json_put(&b, out));
        char *theirs = json_dumps(t, JSON_ENCODE_ANY);
        ck_assert_str_eq(lz_buf_str(&b), theirs);
        free(theirs);
        lz_buf_free(&b);
    }
    json_decref(t);
}
END_TEST

/* What is no string leaves one nevertheless: its part before the mistake, which is told. */
START_TEST(buffers_end_in_any_case)
{
    static const char *const bad[] = {"\"abc", "\"abc\x01\"", "\"abc\\u00\"", "\"abc\xff\"", "7"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char out[16];
        size_t n;
        memset(out, 'x', sizeof out);
        lz_json j = lz_json_of(bad[i], strlen(bad[i]));
        ck_assert(!lz_json_short(&j, out, sizeof out, &n) && j.why);
        ck_assert_str_eq(out, i == 4 ? "" : "abc");
    }
}
END_TEST

START_TEST(depth_is_limited)
{
    enum { DEEP = 1000000 };
    char *text = malloc(DEEP);
    memset(text, '[', DEEP);
    ck_assert(!accepts(text, DEEP));
    for (int depth = LZ_JSON_DEPTH - 1; depth <= LZ_JSON_DEPTH + 1; depth++) {
        memset(text + depth, ']', (size_t)depth);
        memset(text, '[', (size_t)depth);
        ck_assert(accepts(text, 2 * (size_t)depth) == (depth <= LZ_JSON_DEPTH));
    }
    free(text);
}
END_TEST

START_TEST(what_is_no_text_is_not_written)
{
    lz_buf b = {0};
    ck_assert(!lz_json_put(&b, "a\xff") && !lz_json_put(&b, "\xed\xa0\x80") && !b.len);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("json");
    TCase *t = tcase_create("json");
    tcase_add_loop_test(t, the_same_texts, 0, TEXTS);
    tcase_add_loop_test(t, the_same_strings, 0, TEXTS);
    tcase_add_test(t, buffers_end_in_any_case);
    tcase_add_test(t, depth_is_limited);
    tcase_add_test(t, what_is_no_text_is_not_written);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
