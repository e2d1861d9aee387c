/* t_live_report.c - lz_live_report: tensors and recorded operations by line, bytes that add up to
 * those in use; and the error that there is no device memory, which names who needs and who holds
 * it. */
#include "rt.h"

static char text[1 << 16];

/* The row of a line of this file; NULL: none. */
static const char *row_of(int line)
{
    char want[64];
    snprintf(want, sizeof want, "t_live_report.c:%d\n", line);
    ck_assert(lz_live_report(text, sizeof text) > 0);
    char *at = strstr(text, want);
    while (at && at > text && at[-1] != '\n')
        at--;
    return at;
}

typedef struct counts {
    unsigned long long bytes, tensors, pending, graph, oldest;
} counts;

static counts counts_of(int line)
{
    const char *row = row_of(line);
    counts c = {0};
    ck_assert_msg(row != NULL, "line %d in\n%s", line, text);
    ck_assert_int_eq(sscanf(row, "%llu %llu %llu %llu %llu", &c.bytes, &c.tensors, &c.pending,
                            &c.graph, &c.oldest),
                     5);
    return c;
}

/* All rows and the two lines behind them. */
static unsigned long long all_bytes(void)
{
    unsigned long long sum = 0, n;
    const char *p = strchr(strchr(text, '\n') + 1, '\n');
    for (; p && p[1]; p = strchr(p + 1, '\n'))
        sum += sscanf(p + 1, "%llu", &n) == 1 ? n : 0;
    return sum;
}

START_TEST(forgotten_releases)
{
    rt_use(rt_devices[1]);
    lz_tensor *kept[40];
    int made = 0, lost = 0;
    lz_tensor *w = (made = __LINE__, lz_retain(lz_ones(LZ_F32, LZ_SHAPE(64, 64))));
    OK(lz_mark_step());
    for (int i = 0; i < 40; i++) {
        OK(lz_scope_begin());
        lz_tensor *x = lz_rand(LZ_F32, LZ_SHAPE(64, 64));
        kept[i] = (lost = __LINE__, lz_retain(lz_tanh(lz_matmul(x, w))));
        OK(lz_mark_step());
        OK(lz_scope_end());
    }
    OK(lz_wait_device_ops()); /* a step that runs holds memory that nobody owns afterwards */
    counts c = counts_of(lost);
    ck_assert_uint_eq(c.tensors, 40);
    ck_assert_uint_eq(c.bytes, 40 * 64 * 64 * 4);
    ck_assert_uint_eq(c.pending + c.graph, 0);
    ck_assert_uint_eq(c.oldest, 40);
    lz_memory_info m;
    OK(lz_get_memory_info(NULL, &m));
    ck_assert_uint_eq(all_bytes(), m.bytes_used);
    ck_assert_uint_eq(counts_of(made).tensors, 1);
    for (int i = 0; i < 40; i++)
        OK(lz_release(kept[i]));
    ck_assert_ptr_null(row_of(lost));
}
END_TEST

/* A graph that grows: operations that only the last loss holds, and what they read. */
START_TEST(graphs_that_are_not_stepped)
{
    rt_use(rt_devices[1]);
    int line = 0;
    OK(lz_scope_begin());
    lz_tensor *x = lz_retain(lz_rand(LZ_F32, LZ_SHAPE(64, 64))), *y = NULL;
    OK(lz_mark_step());
    lz_tensor *sum = x;
    for (int i = 0; i < 10; i++)
        sum = lz_add(sum, x);
    line = __LINE__ + 1;
    y = lz_retain(lz_exp(sum));
    OK(lz_scope_end());
    OK(lz_release(x));
    counts c = counts_of(line);
    ck_assert_uint_eq(c.tensors, 1);
    ck_assert_uint_eq(c.pending, 1);
    ck_assert_uint_eq(c.graph, 11);
    ck_assert_uint_eq(c.bytes, 0);
    ck_assert_ptr_nonnull(
        strstr(text, "     16384  held only by 11 operations that were not stepped\n"));
    OK(lz_release(y));
}
END_TEST

START_TEST(out_of_memory)
{
    rt_use(rt_devices[1]);
    setenv("LAZULI_DEVICE_MEMORY_MB", "40", 1);
    char holds[100], needs[100];
    int line = 0, n = 0;
    lz_status s = LZ_OK;
    for (; n < 16 && s == LZ_OK; n++) {
        OK(lz_scope_begin());
        line = __LINE__ + 1;
        (void)lz_retain(lz_exp(lz_rand(LZ_F32, LZ_SHAPE(1000, 1000))));
        s = lz_mark_step(.wait = true);
        OK(lz_scope_end());
    }
    ck_assert_int_eq(s, LZ_EDEVMEM);
    const char *said = lz_last_error_text();
    snprintf(needs, sizeof needs, "t_live_report.c:%d", line);
    snprintf(holds, sizeof holds, "t_live_report.c:%d (", line);
    ck_assert_msg(strstr(said, needs) && strstr(said, " for "), "%s", said);
    ck_assert_msg(strstr(said, "; most is held by ") && strstr(said, holds), "%s", said);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("live_report");
    TCase *t = tcase_create("live_report");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, forgotten_releases);
    tcase_add_test(t, graphs_that_are_not_stepped);
    tcase_add_test(t, out_of_memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
