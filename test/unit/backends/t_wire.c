/* t_wire.c - messages between processes: what is written is read again, and every prefix, every
 * longer one and every one with a flipped bit is read or refused, never followed. */
#include "backends/distributed/wire.h"
#include "suite.h"
#include <string.h>

enum { KINDS = 7 };

static lz_wire_hello hello(uint32_t rank)
{
    lz_wire_hello h = {.job = 77,
                       .machine = 12345678901234567,
                       .version = LZ_WIRE_VERSION,
                       .rank = rank,
                       .size = 3,
                       .ndevice = 2,
                       .pid = 4711,
                       .port = 65535,
                       .transport = 2,
                       .offer = 3};
    strcpy(h.host, "node1");
    strcpy(h.address, rank ? "10.0.0.2" : "");
    return h;
}

static lz_wire_group group(void)
{
    return (lz_wire_group){3, {0, 5, 1023}};
}

static void write_message(int kind, lz_buf *b)
{
    lz_wire_hello all[3] = {hello(0), hello(1), hello(2)};
    lz_wire_arrive a = {group(), 3, 9, {1, 2}, 32766, "all_reduce of f32[4]", "train.c:42"};
    lz_wire_miss m = {group(), 5, true, LZ_EMEM, 4, 3, 9, "the step of CPU:5 has failed"};
    lz_wire_refuse no = {LZ_ETIMEOUT, "rank 1 did not come"};
    uint8_t head[LZ_WIRE_HEADER];
    switch (kind) {
    case 0:
        lz_wire_put_hello(b, &all[1]);
        break;
    case 1:
        lz_wire_put_table(b, all, 3);
        break;
    case 2:
        lz_wire_put_refuse(b, &no);
        break;
    case 3:
        lz_wire_put_arrive(b, &a);
        break;
    case 4:
        lz_wire_put_miss(b, &m);
        break;
    case 5:
        lz_wire_put_outcome(b, &(lz_error){.status = LZ_EIO, .message = "the disk is full"});
        break;
    default:
        lz_wire_put_header(head, &(lz_wire_header){LZ_WIRE_DATA, 17, (uint64_t)1 << 40});
        lz_buf_put(b, head, sizeof head);
    }
    ck_assert(!b->failed);
}

/* Reads it and, if it can be read, writes it again. */
static lz_status read_message(int kind, const void *p, size_t n, lz_buf *again)
{
    lz_wire_hello all[3];
    lz_wire_arrive a;
    lz_wire_miss m;
    lz_wire_refuse no;
    lz_wire_header h;
    lz_error e;
    lz_rd r = {p, (const uint8_t *)p + n, false, false};
    uint8_t head[LZ_WIRE_HEADER];
    switch (kind) {
    case 0:
        LZ_TRY(lz_wire_get_hello(p, n, &all[0]));
        lz_wire_put_hello(again, &all[0]);
        return LZ_OK;
    case 1:
        LZ_TRY(lz_wire_get_table(p, n, all, 3));
        lz_wire_put_table(again, all, 3);
        return LZ_OK;
    case 2:
        LZ_TRY(lz_wire_get_refuse(p, n, &no));
        lz_wire_put_refuse(again, &no);
        return LZ_OK;
    case 3:
        LZ_TRY(lz_wire_get_arrive(p, n, &a));
        lz_wire_put_arrive(again, &a);
        return LZ_OK;
    case 4:
        LZ_TRY(lz_wire_get_miss(p, n, &m));
        lz_wire_put_miss(again, &m);
        return LZ_OK;
    case 5:
        lz_wire_get_outcome(&r, &e);
        LZ_TRY(lz_wire_ended(&r, "outcome"));
        lz_wire_put_outcome(again, &e);
        return LZ_OK;
    default:
        if (n != LZ_WIRE_HEADER)
            return LZ_EPARSE;
        LZ_TRY(lz_wire_get_header(p, &h));
        lz_wire_put_header(head, &h);
        lz_buf_put(again, head, sizeof head);
        return LZ_OK;
    }
}

START_TEST(there_and_back)
{
    lz_buf b = {0}, again = {0};
    write_message(_i, &b);
    ck_assert_int_eq(read_message(_i, b.data, b.len, &again), LZ_OK);
    ck_assert(again.len == b.len && memcmp(again.data, b.data, b.len) == 0);
    for (size_t n = 0; n < b.len; n++) {
        again.len = 0;
        ck_assert_int_eq(read_message(_i, b.data, n, &again), LZ_EPARSE);
    }
    lz_buf_putc(&b, 0);
    ck_assert_int_eq(read_message(_i, b.data, b.len, &again), LZ_EPARSE);
    lz_buf_free(&b);
    lz_buf_free(&again);
}
END_TEST

START_TEST(flipped)
{
    lz_buf b = {0}, again = {0};
    write_message(_i, &b);
    for (size_t bit = 0; bit < 8 * b.len; bit++) {
        b.data[bit / 8] ^= (char)(1 << bit % 8);
        again.len = 0;
        if (read_message(_i, b.data, b.len, &again) == LZ_OK)
            ck_assert_uint_eq(again.len, b.len);
        b.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    lz_buf_free(&b);
    lz_buf_free(&again);
}
END_TEST

/* Texts of others do not reach a terminal as they are; numbers that cannot be are refused. */
START_TEST(refused)
{
    lz_buf b = {0};
    lz_wire_arrive a = {group(), 0, 0, {0, 0}, 2, "\x1b[31mred\n", ""}, got;
    lz_wire_put_arrive(&b, &a);
    ck_assert_int_eq(lz_wire_get_arrive(b.data, b.len, &got), LZ_OK);
    ck_assert_str_eq(got.what, "?[31mred?");
    static const lz_wire_group bad[] = {
        {1, {0}}, {2, {1, 1}}, {2, {3, 2}}, {2, {0, 1024}}, {0, {0}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        b.len = 0;
        a.group = bad[i];
        lz_wire_put_arrive(&b, &a);
        ck_assert_int_eq(lz_wire_get_arrive(b.data, b.len, &got), LZ_EPARSE);
    }
    lz_wire_miss m = {group(), 7, false, LZ_EMEM, 1, 0, 0, "not a member"}, miss;
    b.len = 0;
    lz_wire_put_miss(&b, &m);
    ck_assert_int_eq(lz_wire_get_miss(b.data, b.len, &miss), LZ_EPARSE);
    m.member = 5;
    m.status = (lz_status)3; /* there is none such */
    b.len = 0;
    lz_wire_put_miss(&b, &m);
    ck_assert_int_eq(lz_wire_get_miss(b.data, b.len, &miss), LZ_EPARSE);
    uint8_t head[LZ_WIRE_HEADER];
    lz_wire_header h;
    lz_wire_put_header(head, &(lz_wire_header){LZ_WIRE_ARRIVE, 0, LZ_WIRE_CONTROL + 1});
    ck_assert_int_eq(lz_wire_get_header(head, &h), LZ_EPARSE);
    lz_buf_free(&b);
}
END_TEST

/* The body of a note is whatever is behind its head. */
START_TEST(notes)
{
    lz_buf b = {0};
    lz_wire_note got;
    lz_wire_put_note(&b, &(lz_wire_note){77, true, "abc", 3});
    ck_assert_int_eq(lz_wire_get_note(b.data, b.len, &got), LZ_OK);
    ck_assert(got.talk == 77 && got.last && got.nbody == 3 && memcmp(got.body, "abc", 3) == 0);
    ck_assert_int_eq(lz_wire_get_note(b.data, 9, &got), LZ_OK);
    ck_assert_uint_eq(got.nbody, 0);
    ck_assert_int_eq(lz_wire_get_note(b.data, 8, &got), LZ_EPARSE);
    b.data[8] = 2;
    ck_assert_int_eq(lz_wire_get_note(b.data, b.len, &got), LZ_EPARSE);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wire");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, there_and_back, 0, KINDS);
    tcase_add_loop_test(t, flipped, 0, KINDS);
    tcase_add_test(t, refused);
    tcase_add_test(t, notes);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
