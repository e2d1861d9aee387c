/* t_tfrecord.c - records with their checksums, fields of protocol buffers that are floats, and text
 * within XML. */
#include "base/formats/proto.h"
#include "base/formats/tfrecord.h"
#include "base/formats/xml.h"
#include "suite.h"
#include <string.h>

/* RFC 3720, appendix B.4. */
START_TEST(checksums_are_those_of_the_rfc)
{
    uint8_t b[32] = {0};
    ck_assert_uint_eq(lz_crc32c(b, 32), 0x8a9136aa);
    memset(b, 0xff, 32);
    ck_assert_uint_eq(lz_crc32c(b, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        b[i] = (uint8_t)i;
    ck_assert_uint_eq(lz_crc32c(b, 32), 0x46dd794e);
    ck_assert_uint_eq(lz_crc32c("123456789", 9), 0xe3069283);
    ck_assert_uint_eq(lz_crc32c(b, 0), 0);
}
END_TEST

START_TEST(records_are_read_back)
{
    lz_buf b = {0};
    static const char *const texts[] = {"", "a", "some longer text"};
    for (int i = 0; i < 3; i++)
        lz_tfrecord_put(&b, texts[i], strlen(texts[i]));
    const void *p;
    const char *why;
    size_t at = 0, n;
    for (int i = 0; i < 3; i++) {
        ck_assert(lz_tfrecord_next(b.data, b.len, &at, &p, &n, &why));
        ck_assert(n == strlen(texts[i]) && memcmp(p, texts[i], n) == 0);
    }
    ck_assert(!lz_tfrecord_next(b.data, b.len, &at, &p, &n, &why) && !why && at == b.len);
    lz_buf_free(&b);
}
END_TEST

/* Cut anywhere, or with any bit wrong: the records before it, then why. */
START_TEST(what_is_damaged_is_said)
{
    lz_buf b = {0};
    lz_tfrecord_put(&b, "first", 5);
    size_t first = b.len;
    lz_tfrecord_put(&b, "second", 6);
    const void *p;
    const char *why;
    size_t n;
    for (size_t cut = first + 1; cut < b.len; cut++) {
        size_t at = 0;
        ck_assert(lz_tfrecord_next(b.data, cut, &at, &p, &n, &why));
        ck_assert(!lz_tfrecord_next(b.data, cut, &at, &p, &n, &why) && why && at == first);
    }
    for (size_t bit = 8 * first; bit < 8 * b.len; bit++) {
        size_t at = first;
        b.data[bit / 8] = (char)(b.data[bit / 8] ^ 1 << bit % 8);
        ck_assert(!lz_tfrecord_next(b.data, b.len, &at, &p, &n, &why) && why);
        b.data[bit / 8] = (char)(b.data[bit / 8] ^ 1 << bit % 8);
    }
    lz_buf_free(&b);
}
END_TEST

START_TEST(floats_are_fixed_fields)
{
    static const uint8_t want[] = {0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0x15, 0, 0, 0x20, 0xc0};
    lz_buf b = {0};
    lz_proto_double(&b, 1, 1.5);
    lz_proto_float(&b, 2, -2.5f);
    ck_assert(b.len == sizeof want && memcmp(b.data, want, sizeof want) == 0);
    lz_buf_free(&b);
}
END_TEST

START_TEST(any_bytes_are_text_of_xml)
{
    lz_buf b = {0};
    lz_buf_xml(&b, "a<b>&\"\xc3\xa4\x01\xff\xe2\x82");
    ck_assert_str_eq(lz_buf_str(&b), "a&lt;b&gt;&amp;&quot;\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd"
                                     "\xef\xbf\xbd\xef\xbf\xbd");
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tfrecord");
    TCase *t = tcase_create("tfrecord");
    tcase_add_test(t, checksums_are_those_of_the_rfc);
    tcase_add_test(t, records_are_read_back);
    tcase_add_test(t, what_is_damaged_is_said);
    tcase_add_test(t, floats_are_fixed_fields);
    tcase_add_test(t, any_bytes_are_text_of_xml);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
