/* t_vec.c - vectors, byte strings and the bounds-checked reader. */
#include "base/vec.h"
#include "suite.h"
#include <math.h>
#include <string.h>

START_TEST(push_and_reserve)
{
    LZ_VEC(int64_t) v = {0};
    for (int64_t i = 0; i < 10000; i++)
        ck_assert_int_eq(lz_vec_push(&v, i * i - 7), LZ_OK);
    ck_assert_uint_eq(v.len, 10000);
    int64_t wrong = 0; /* a ck_assert per element would take most of the time */
    for (int64_t i = 0; i < 10000; i++)
        wrong += v.data[i] != i * i - 7;
    ck_assert_int_eq(wrong, 0);
    uint32_t cap = v.cap;
    ck_assert_int_eq(lz_vec_reserve(&v, 5), LZ_OK);
    ck_assert_uint_eq(v.cap, cap);
    ck_assert_int_eq(lz_vec_reserve(&v, cap + 1), LZ_OK);
    ck_assert_uint_gt(v.cap, cap);
    lz_vec_free(&v);
    ck_assert_ptr_null(v.data);
    ck_assert_uint_eq(v.len + v.cap, 0);
    lz_vec_free(&v);
}
END_TEST

START_TEST(growth_is_amortised)
{
    LZ_VEC(char) v = {0};
    uint64_t count = lz_alloc_count();
    int failed = 0;
    for (int i = 0; i < 1 << 20; i++)
        failed += lz_vec_push(&v, (char)i) != LZ_OK;
    ck_assert_int_eq(failed, 0);
    ck_assert_uint_lt(lz_alloc_count() - count, 25);
    lz_vec_free(&v);
}
END_TEST

START_TEST(vec_failure_changes_nothing)
{
    LZ_VEC(double) v = {0};
    lz_alloc_fail_at(1, false);
    ck_assert_int_eq(lz_vec_push(&v, 1.5), LZ_EMEM);
    ck_assert_ptr_null(v.data);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(lz_vec_push(&v, i + 0.25), LZ_OK);
    ck_assert_uint_eq(v.len, v.cap);
    lz_alloc_fail_at(1, false);
    ck_assert_int_eq(lz_vec_push(&v, NAN), LZ_EMEM);
    ck_assert_int_eq(lz_error_get()->status, LZ_EMEM);
    ck_assert_uint_eq(v.len, 8);
    ck_assert(v.data[7] == 7.25);
    ck_assert_int_eq(lz_vec_push(&v, NAN), LZ_OK);
    ck_assert(isnan(v.data[8]));
    volatile uint64_t beyond = (uint64_t)UINT32_MAX + 1, most = UINT64_MAX;
    ck_assert_int_eq(lz_vec_reserve(&v, beyond), LZ_EMEM);
    ck_assert_int_eq(lz_vec_reserve(&v, most), LZ_EMEM);
    lz_vec_free(&v);
}
END_TEST

START_TEST(buf_text)
{
    lz_buf b = {0};
    ck_assert_str_eq(lz_buf_str(&b), "");
    lz_buf_puts(&b, NULL);
    lz_buf_puts(&b, "");
    lz_buf_printf(&b, "%s", "");
    ck_assert_str_eq(lz_buf_str(&b), "");
    lz_buf_puts(&b, "ab");
    lz_buf_putc(&b, '-');
    lz_buf_printf(&b, "%d/%s", 7, "x");
    ck_assert_str_eq(lz_buf_str(&b), "ab-7/x");
    for (int n = 250; n <= 260; n++) { /* around the formatter's stack buffer */
        size_t len = b.len;
        lz_buf_printf(&b, "%*d", n, 5);
        ck_assert_uint_eq(b.len, len + (size_t)n);
        ck_assert_uint_eq(strlen(lz_buf_str(&b)), b.len);
        ck_assert_int_eq(b.data[b.len - 1], '5');
    }
    lz_buf_printf(&b, "%100000d", 1);
    ck_assert(!b.failed);
    ck_assert_uint_eq(strlen(lz_buf_str(&b)), b.len);
    lz_buf_free(&b);
    ck_assert_ptr_null(b.data);
}
END_TEST

START_TEST(buf_failure_sticks)
{
    lz_buf b = {0};
    lz_buf_puts(&b, "head");
    lz_alloc_fail_at(1, false);
    lz_buf_printf(&b, "%1000d", 1);
    ck_assert(b.failed);
    lz_buf_puts(&b, "tail");
    lz_buf_putc(&b, 'x');
    lz_buf_u64(&b, 1);
    ck_assert_str_eq(lz_buf_str(&b), "head");
    lz_buf_free(&b);
    ck_assert(!b.failed);
    lz_buf_put(&b, "x", SIZE_MAX); /* no size can hold it: fails before it reads */
    ck_assert(b.failed);
    lz_buf_free(&b);
}
END_TEST

START_TEST(binary_round_trip)
{
    const uint64_t values[] = {
        0, 1, 0x80, 0xFF, 0x8000, 0xDEADBEEF, UINT32_MAX, 0x123456789ABCDEF0u, UINT64_MAX};
    const size_t n = sizeof values / sizeof values[0];
    lz_buf b = {0};
    for (size_t i = 0; i < n; i++) {
        lz_buf_u8(&b, (uint8_t)values[i]);
        lz_buf_u32(&b, (uint32_t)values[i]);
        lz_buf_u64(&b, values[i]);
    }
    lz_buf_lstr(&b, "naïve");
    lz_buf_lstr(&b, NULL);
    ck_assert_uint_eq(b.len, n * 13 + 4 + 6 + 4);
    ck_assert_mem_eq(b.data + 5 * 13 + 1, "\xEF\xBE\xAD\xDE", 4); /* little-endian on any host */
    lz_rd r = {(const uint8_t *)b.data, (const uint8_t *)b.data + b.len, false, false};
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(lz_rd_u8(&r), (uint8_t)values[i]);
        ck_assert_uint_eq(lz_rd_u32(&r), (uint32_t)values[i]);
        ck_assert_uint_eq(lz_rd_u64(&r), values[i]);
    }
    uint32_t len = lz_rd_count(&r, 1);
    ck_assert_uint_eq(len, 6);
    ck_assert_mem_eq(lz_rd_bytes(&r, len), "naïve", 6);
    ck_assert_uint_eq(lz_rd_count(&r, 8), 0);
    ck_assert(!r.failed);
    ck_assert_ptr_eq(r.p, r.end);
    ck_assert_ptr_nonnull(lz_rd_bytes(&r, 0));
    ck_assert_uint_eq(lz_rd_u8(&r), 0);
    ck_assert(r.failed);
    lz_buf_free(&b);
}
END_TEST

START_TEST(reader_refuses)
{
    const uint8_t bytes[] = {0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0, 9, 9, 9};
    lz_rd r = {bytes, bytes + sizeof bytes, false, false};
    ck_assert_uint_eq(lz_rd_count(&r, SIZE_MAX), 0); /* the product overflows */
    ck_assert(r.failed);
    ck_assert_uint_eq(lz_rd_u32(&r), 0); /* and stays failed */
    r = (lz_rd){bytes, bytes + sizeof bytes, false, false};
    ck_assert_uint_eq(lz_rd_count(&r, 1), 0);
    ck_assert(r.failed);
    r = (lz_rd){bytes + 4, bytes + sizeof bytes, false, false};
    ck_assert_uint_eq(lz_rd_count(&r, 2), 0); /* 2 x 2 > 3 */
    ck_assert(r.failed);
    r = (lz_rd){bytes + 4, bytes + sizeof bytes, false, false};
    ck_assert_uint_eq(lz_rd_count(&r, 1), 2);
    ck_assert(!r.failed);
    ck_assert_ptr_null(lz_rd_bytes(&r, 4));
    ck_assert(r.failed);
    for (size_t have = 0; have < 8; have++) { /* every truncation of every width */
        lz_rd t = {bytes, bytes + have, false, false};
        ck_assert_uint_eq(lz_rd_u64(&t), 0);
        ck_assert(t.failed);
        t = (lz_rd){bytes, bytes + have, false, false};
        (void)lz_rd_u32(&t);
        ck_assert_int_eq(t.failed, have < 4);
        t = (lz_rd){bytes, bytes + have, false, false};
        (void)lz_rd_u8(&t);
        ck_assert_int_eq(t.failed, have < 1);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vec");
    TCase *t = tcase_create("vec");
    tcase_add_test(t, push_and_reserve);
    tcase_add_test(t, growth_is_amortised);
    tcase_add_test(t, vec_failure_changes_nothing);
    tcase_add_test(t, buf_text);
    tcase_add_test(t, buf_failure_sticks);
    tcase_add_test(t, binary_round_trip);
    tcase_add_test(t, reader_refuses);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
