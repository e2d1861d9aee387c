/* t_tfrecord.c - records with their checksums, fields of protocol buffers, text within XML, and
 * drawings of it. */
#include "base/formats/proto.h"
#include "base/formats/svg.h"
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

/* Cut anywhere, the fields before it; what has no kind that is known, or no end, is none. */
START_TEST(fields_are_read_back)
{
    static const int64_t list[] = {3, -1};
    static const char *const none[] = {"\x0b",
                                       "\x0c",
                                       "\x0e",
                                       "\x0f",
                                       "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                                       "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"};
    static const lz_proto_wire wires[] = {LZ_PROTO_VARINT, LZ_PROTO_FIXED64, LZ_PROTO_FIXED32,
                                          LZ_PROTO_BYTES, LZ_PROTO_BYTES};
    lz_buf b = {0};
    size_t ends[6] = {0};
    lz_proto_int(&b, 1, -5), ends[1] = b.len;
    lz_proto_double(&b, 2, 1.5), ends[2] = b.len;
    lz_proto_float(&b, 300, -2.5f), ends[3] = b.len;
    lz_proto_bytes(&b, 4, "", 0), ends[4] = b.len;
    lz_proto_list(&b, 5, list, 2), ends[5] = b.len;
    for (size_t cut = 0; cut <= b.len; cut++) {
        lz_rd r = lz_proto_reader(b.data, cut);
        lz_proto_field f;
        int n = 0;
        for (; lz_proto_next(&r, &f); n++)
            ck_assert(f.wire == wires[n] && f.number == (n == 2 ? 300 : (uint32_t)n + 1));
        ck_assert(ends[n] <= cut && (n == 5 || cut < ends[n + 1]));
        ck_assert_int_eq(r.failed, cut != ends[n]);
        ck_assert(!lz_proto_next(&r, &f));
    }
    lz_rd r = lz_proto_reader(b.data, b.len);
    lz_proto_field f;
    uint64_t v;
    ck_assert(lz_proto_next(&r, &f) && (int64_t)f.value == -5);
    ck_assert(lz_proto_next(&r, &f) && f.value == UINT64_C(0x3ff8000000000000));
    ck_assert(lz_proto_next(&r, &f) && f.value == 0xc0200000);
    ck_assert(lz_proto_next(&r, &f) && f.n == 0);
    ck_assert(lz_proto_next(&r, &f));
    lz_rd in = lz_proto_reader(f.at, f.n);
    ck_assert(lz_proto_varint(&in, &v) && v == 3 && lz_proto_varint(&in, &v) && v == UINT64_MAX);
    ck_assert(in.p == in.end && !lz_proto_varint(&in, &v));
    lz_buf_free(&b);
    for (int i = 0; i < (int)(sizeof none / sizeof *none); i++) {
        r = lz_proto_reader(none[i], strlen(none[i]));
        ck_assert_msg(!lz_proto_next(&r, &f) && r.failed, "%d", i);
    }
}
END_TEST

START_TEST(texts_of_drawings_are_escaped)
{
    lz_buf b = {0}, body = {0};
    lz_svg_text(&body, 1.5, -3, "end", "a<b>\xff");
    lz_svg_document(&b, 20, 10, "serif", 9, ".a{fill:none}", &body);
    ck_assert_str_eq(lz_buf_str(&b),
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\" "
                     "viewBox=\"0 0 20 10\" font-family=\"serif\" font-size=\"9\">\n"
                     "<style>.a{fill:none}</style>\n"
                     "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                     "<text x=\"1.5\" y=\"-3\" text-anchor=\"end\">a&lt;b&gt;\xef\xbf\xbd"
                     "</text>\n</svg>\n");
    lz_buf_free(&b);
    lz_buf_free(&body);
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
    tcase_add_test(t, fields_are_read_back);
    tcase_add_test(t, texts_of_drawings_are_escaped);
    tcase_add_test(t, any_bytes_are_text_of_xml);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
