/* t_collective_stream.c - collectives of a device beside its compute: one after the other, in the
 * order of their starts; who waits for one has all before it; after a failure nobody comes to those
 * behind it, and the next job begins anew. */
#include "backends/common/collective_stream.h"
#include "backends/common/collective_totals.h"
#include "base/thread.h"
#include "suite.h"
#include <time.h>

enum { MANY = 300 };
static lz_step_collective step[MANY];
static _Atomic int came;
static int order[MANY];
static lz_latch gate; /* the first waits for it */

/* site, as a number: what is to happen. */
enum { PASS, WAIT, FAIL, SLOW };
static const lz_site what[4];

static lz_status come(void *user, const lz_step_collective *c, const lz_site *site,
                      void *const *bufs, uint32_t reached)
{
    ck_assert_ptr_eq(user, order);
    (void)bufs, (void)reached;
    if (site == &what[WAIT])
        (void)lz_latch_wait(&gate, -1);
    if (site == &what[SLOW])
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    if (site == &what[FAIL])
        return LZ_FAIL(LZ_ETIMEOUT, "number %d", (int)(c - step));
    order[atomic_fetch_add(&came, 1)] = (int)(c - step);
    return LZ_OK;
}

static lz_status start(lz_collective_stream *s, int i, int how)
{
    return lz_collective_stream_start(s, come, order, &step[i], &what[how], NULL, (uint32_t)i * 10);
}

static lz_collective_stream *begin(void)
{
    lz_collective_stream *s = lz_collective_stream_new("lz-comm-0");
    ck_assert_ptr_nonnull(s);
    atomic_store(&came, 0);
    ck_assert(!lz_collective_stream_busy(s) && !lz_collective_stream_busy(NULL));
    ck_assert_uint_eq(lz_collective_stream_drain(s), UINT32_MAX); /* nothing was started */
    return s;
}

/* More than the stream has room for: a start waits for the oldest. */
START_TEST(in_order)
{
    lz_collective_stream *s = begin();
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(start(s, i, PASS), LZ_OK);
    ck_assert_int_eq(lz_collective_stream_done(s, &step[MANY - 3]), LZ_OK);
    ck_assert_int_ge(atomic_load(&came), MANY - 2);
    ck_assert_int_eq(lz_collective_stream_done(s, &step[MANY - 40]), LZ_OK);
    ck_assert_int_eq(lz_collective_stream_done(s, &step[0]), LZ_OK); /* long over */
    ck_assert_uint_eq(lz_collective_stream_drain(s), UINT32_MAX);
    ck_assert_int_eq(atomic_load(&came), MANY);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(order[i], i);
    lz_collective_stream_free(s);
}
END_TEST

/* Who waits for one has it, whatever its number: they begin again at 0. */
START_TEST(every_number)
{
    lz_collective_stream *s = begin();
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(start(s, i, SLOW), LZ_OK);
        ck_assert_int_eq(lz_collective_stream_done(s, &step[i]), LZ_OK);
        ck_assert_int_eq(atomic_load(&came), i + 1);
    }
    lz_collective_stream_free(s); /* while its thread goes to sleep: it comes to nothing more */
    ck_assert_int_eq(atomic_load(&came), MANY);
}
END_TEST

/* A start returns while the collective goes on, and the same one may be started again. */
START_TEST(beside)
{
    lz_collective_stream *s = begin();
    int64_t took0, waited0, took, waited;
    lz_collective_times(&took0, &waited0);
    ck_assert_int_eq(start(s, 7, WAIT), LZ_OK);
    ck_assert_int_eq(start(s, 8, PASS), LZ_OK);
    ck_assert(lz_collective_stream_busy(s));
    ck_assert_int_eq(atomic_load(&came), 0);
    lz_collective_times(&took, &waited);
    ck_assert_int_eq(waited, waited0);
    lz_latch_set(&gate);
    ck_assert_int_eq(lz_collective_stream_done(s, &step[7]), LZ_OK);
    ck_assert_int_ge(atomic_load(&came), 1);
    ck_assert_int_eq(start(s, 7, PASS), LZ_OK);
    ck_assert_int_eq(lz_collective_stream_done(s, &step[7]), LZ_OK);
    ck_assert_int_eq(atomic_load(&came), 3);
    ck_assert_uint_eq(lz_collective_stream_drain(s), UINT32_MAX);
    ck_assert(!lz_collective_stream_busy(s));
    lz_collective_times(&took, &waited);
    ck_assert_int_gt(took, took0);
    ck_assert_int_le(waited - waited0, took - took0); /* nobody waits for what is not on its way */
    lz_collective_stream_free(s);
}
END_TEST

START_TEST(failure)
{
    lz_collective_stream *s = begin();
    for (int round = 0; round < 3; round++) {
        atomic_store(&came, 0);
        for (int i = 0; i < 9; i++) /* who starts one does not hear of it */
            ck_assert_int_eq(start(s, i, i == 4 ? FAIL : PASS), LZ_OK);
        ck_assert_int_eq(lz_collective_stream_done(s, &step[6]), LZ_ETIMEOUT);
        ck_assert_str_eq(lz_error_get()->message, "number 4");
        lz_error_clear();
        ck_assert(lz_collective_stream_busy(s)); /* what comes next fails, too */
        ck_assert_uint_eq(lz_collective_stream_drain(s), 40);
        ck_assert_str_eq(lz_error_get()->message, "number 4");
        ck_assert_int_eq(atomic_load(&came), 4);
        ck_assert(!lz_collective_stream_busy(s));
        ck_assert_int_eq(start(s, 2, PASS), LZ_OK);
        ck_assert_int_eq(lz_collective_stream_done(s, &step[2]), LZ_OK);
        ck_assert_uint_eq(lz_collective_stream_drain(s), UINT32_MAX);
        ck_assert_int_eq(atomic_load(&came), 5);
    }
    lz_collective_stream_free(s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("collective_stream");
    TCase *t = tcase_create("all");
    tcase_add_test(t, in_order);
    tcase_add_test(t, every_number);
    tcase_add_test(t, beside);
    tcase_add_test(t, failure);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
