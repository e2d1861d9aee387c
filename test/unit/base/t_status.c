/* t_status.c - the error record, status and dtype tables. */
#include "base/status.h"
#include "suite.h"
#include <pthread.h>
#include <string.h>

static const struct {
    lz_status s;
    const char *name, *doc;
    int value;
} statuses[] = {
#define LZ_STATUS(name, value, doc) {LZ_##name, "LZ_" #name, doc, value},
#include <lazuli/status.def>
#undef LZ_STATUS
};
enum { NUM_STATUSES = sizeof statuses / sizeof statuses[0] };

START_TEST(status_rows)
{
    ck_assert_int_eq(statuses[_i].s, statuses[_i].value);
    ck_assert_str_eq(lz_status_name(statuses[_i].s), statuses[_i].name);
    ck_assert_str_eq(lz_status_message(statuses[_i].s), statuses[_i].doc);
    for (int j = 0; j < _i; j++)
        ck_assert_int_ne(statuses[j].value, statuses[_i].value);
}
END_TEST

START_TEST(status_unknown)
{
    const int values[] = {-1, 1, 11, 9999, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        ck_assert_str_eq(lz_status_name((lz_status)values[i]), "LZ_?");
        ck_assert_ptr_nonnull(lz_status_message((lz_status)values[i]));
    }
}
END_TEST

START_TEST(dtype_rows)
{
#define LZ_DTYPE(NAME, value, name, text, nbytes, cls, ctype)                                      \
    ck_assert_str_eq(lz_dtype_name(LZ_##NAME), #name);                                             \
    ck_assert_uint_eq(lz_dtype_size(LZ_##NAME), nbytes);
#include <lazuli/dtypes.def>
#undef LZ_DTYPE
    const int unknown[] = {0, LZ_DTYPE_COUNT, -1, 1000, INT32_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        ck_assert_str_eq(lz_dtype_name((lz_dtype)unknown[i]), "?");
        ck_assert_uint_eq(lz_dtype_size((lz_dtype)unknown[i]), 0);
    }
}
END_TEST

START_TEST(shape_macros)
{
    lz_shape s = LZ_SHAPE(2, 3, 0);
    ck_assert_int_eq(s.rank, 3);
    ck_assert_int_eq(s.dims[0], 2);
    ck_assert_int_eq(s.dims[1], 3);
    ck_assert_int_eq(s.dims[2], 0);
    ck_assert_int_eq(s.dims[7], 0);
    ck_assert_int_eq(LZ_SCALAR.rank, 0);
    s = LZ_SHAPE(1, 2, 3, 4, 5, 6, 7, 8,
                 9); /* too many: kept as a rank that is refused, nothing overrun */
    ck_assert_int_eq(s.rank, 9);
    ck_assert_int_eq(s.dims[7], 8);
}
END_TEST

static lz_status try_it(lz_status s)
{
    LZ_TRY(s);
    return LZ_FAIL(LZ_EIO, "went on");
}

START_TEST(fail_records)
{
    ck_assert_int_eq(lz_error_get()->status, LZ_OK);
    ck_assert_int_eq(LZ_FAIL(LZ_ESHAPE, "dot: k %d != %d", 3, 4), LZ_ESHAPE);
    const lz_error *e = lz_error_get();
    ck_assert_int_eq(e->status, LZ_ESHAPE);
    ck_assert_str_eq(e->message, "dot: k 3 != 4");
    ck_assert_str_eq(e->op, "");
    ck_assert_str_eq(e->file, "");
    ck_assert_int_eq(e->line, 0);
    ck_assert_int_eq(try_it(LZ_EMEM), LZ_EMEM); /* LZ_TRY leaves the record alone */
    ck_assert_str_eq(lz_error_get()->message, "dot: k 3 != 4");
    ck_assert_int_eq(try_it(LZ_OK), LZ_EIO);
    ck_assert_str_eq(lz_error_get()->message, "went on");
    lz_error_clear();
    ck_assert_int_eq(lz_error_get()->status, LZ_OK);
    ck_assert_str_eq(lz_error_get()->message, "");
}
END_TEST

START_TEST(fail_may_quote_the_record)
{
    (void)LZ_FAIL(LZ_EIO, "disk full");
    (void)LZ_FAIL(LZ_ECORRUPT, "while storing: %s", lz_error_get()->message);
    ck_assert_str_eq(lz_error_get()->message, "while storing: disk full");
}
END_TEST

START_TEST(fail_cuts_long_messages)
{
    static char text[5000];
    lz_error probe;
    for (size_t shift = 0; shift < 4;
         shift++) { /* a 3-byte character at each position of the cut */
        memset(text, 'x', shift);
        text[shift] = '\0';
        for (size_t i = shift; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xE2\x82\xAC", 4);
        (void)LZ_FAIL(LZ_EINVAL, "%s", text);
        size_t n = strlen(lz_error_get()->message);
        ck_assert_uint_lt(n, sizeof probe.message);
        ck_assert_uint_ge(n, sizeof probe.message - 4);
        ck_assert_uint_eq((n - shift) % 3, 0);
    }
}
END_TEST

START_TEST(annotate)
{
    (void)LZ_FAIL(LZ_EINVAL, "bad");
    static const lz_site site = {"examples/mlp.c", "main", 42};
    lz_error_annotate("lz_matmul", &site);
    const lz_error *e = lz_error_get();
    ck_assert_str_eq(e->op, "lz_matmul");
    ck_assert_str_eq(e->file, "examples/mlp.c");
    ck_assert_int_eq(e->line, 42);
    lz_error_annotate(NULL, NULL); /* changes nothing */
    ck_assert_str_eq(e->op, "lz_matmul");
    ck_assert_int_eq(e->line, 42);

    char longpath[400];
    memset(longpath, 'd', sizeof longpath);
    strcpy(longpath + sizeof longpath - 8, "/main.c");
    const lz_site deep = {longpath, "f", 7};
    lz_error_annotate("an_operation_whose_name_is_longer_than_the_record_has_room_for", &deep);
    ck_assert_uint_eq(strlen(e->file), sizeof e->file - 1);
    ck_assert_str_eq(e->file + strlen(e->file) - 7, "/main.c");
    ck_assert_uint_eq(strlen(e->op), sizeof e->op - 1);
    const lz_site nofile = {NULL, NULL, 3};
    lz_error_annotate("op", &nofile);
    ck_assert_str_eq(e->file, "");
}
END_TEST

static void *fail_elsewhere(void *out)
{
    if (lz_error_get()->status != LZ_OK)
        return NULL; /* the record of another thread is seen */
    (void)LZ_FAIL(LZ_EDEVICE, "from a worker");
    *(lz_error *)out = *lz_error_get();
    return out;
}

START_TEST(records_are_per_thread_and_travel_by_value)
{
    lz_error e;
    pthread_t t;
    void *ok;
    (void)LZ_FAIL(LZ_EINVAL, "mine");
    ck_assert_int_eq(pthread_create(&t, NULL, fail_elsewhere, &e), 0);
    pthread_join(t, &ok);
    ck_assert_ptr_nonnull(ok);
    ck_assert_str_eq(lz_error_get()->message, "mine");
    lz_error_set(&e);
    ck_assert_int_eq(lz_error_get()->status, LZ_EDEVICE);
    ck_assert_str_eq(lz_error_get()->message, "from a worker");
    lz_error_set(lz_error_get()); /* onto itself */
    ck_assert_str_eq(lz_error_get()->message, "from a worker");
    lz_error_set(NULL);
    ck_assert_int_eq(lz_error_get()->status, LZ_OK);
}
END_TEST

START_TEST(assert_aborts)
{
    volatile int two = 2;
    LZ_ASSERT(two == 2);
    LZ_ASSERT(two == 3);
}
END_TEST

START_TEST(composites_speak_for_their_parts)
{
    const lz_site here = {"a.c", "f", 7};
    ck_assert_ptr_null(lz_error_speak_for("whole"));
    (void)LZ_FAIL(LZ_ESHAPE, "no");
    lz_error_annotate("part", &here);
    ck_assert_str_eq(lz_error_get()->op, "whole");
    ck_assert_int_eq(lz_error_get()->line, 7);
    ck_assert_str_eq(lz_error_speak_for(NULL), "whole");
    lz_error_annotate("part", &here);
    ck_assert_str_eq(lz_error_get()->op, "part");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("status");
    TCase *t = tcase_create("status");
    tcase_add_loop_test(t, status_rows, 0, NUM_STATUSES);
    tcase_add_test(t, status_unknown);
    tcase_add_test(t, composites_speak_for_their_parts);
    tcase_add_test(t, dtype_rows);
    tcase_add_test(t, shape_macros);
    tcase_add_test(t, fail_records);
    tcase_add_test(t, fail_may_quote_the_record);
    tcase_add_test(t, fail_cuts_long_messages);
    tcase_add_test(t, annotate);
    tcase_add_test(t, records_are_per_thread_and_travel_by_value);
    tcase_add_test_raise_signal(t, assert_aborts, 6);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
