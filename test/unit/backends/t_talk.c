/* t_talk.c - what processes settle outside of collectives: all have one result, which is what rank
 * 0 decides, or the error of the first that fails, with its name, at once, or who is missing; notes
 * and answers of many pieces, talks in another order and from several threads, one that has no
 * memory for what it says. */
#include "backends/distributed/talk.h"
#include "base/alloc.h"
#include "base/log.h"
#include "suite.h"
#include "support/together.h"
#include <pthread.h>
#include <string.h>

enum { RANKS = 3 };

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_error_get()->message)

typedef struct said {
    int status;
    uint64_t sum; /* on rank 0: of what was said */
    char text[300];
} said;

static void silent(lz_log_level level, const char *component, const char *message, void *user)
{
    (void)level, (void)component, (void)message, (void)user;
}

static void join_all(void)
{
    lz_log_set_callback(silent, NULL);
    OK(lz_processes_join(1));
}

static void note(said *s, lz_status st)
{
    s->status = (int)st;
    snprintf(s->text, sizeof s->text, "%.299s", st == LZ_OK ? "" : lz_error_get()->message);
}

/* Adds up numbers, of which there are as many as there were asked for. */
static lz_status add_up(void *user, lz_rd *from)
{
    said *s = user;
    for (int r = 0; r < RANKS; r++) {
        uint64_t n = lz_rd_u64(&from[r]);
        for (uint64_t i = 0; i < n; i++)
            s->sum += lz_rd_u64(&from[r]);
        LZ_TRY(lz_wire_ended(&from[r], "numbers"));
    }
    return LZ_OK;
}

static void put_numbers(lz_buf *b, uint64_t n, uint64_t v)
{
    lz_buf_u64(b, n);
    for (uint64_t i = 0; i < n; i++)
        lz_buf_u64(b, v + i);
}

/* Talks of none, one, a piece and several pieces. */
static void numbers(int rank, void *arg, void *out)
{
    static const uint64_t count[] = {0, 1, LZ_WIRE_PIECE / 8, 400000};
    said *s = out;
    (void)arg;
    join_all();
    for (int i = 0; i < 4; i++) {
        lz_buf b = {0};
        put_numbers(&b, count[i], (uint64_t)rank);
        note(s, lz_talk(lz_talk_number(LZ_TALK_RUN, (uint64_t)i), "numbers", LZ_OK, &b, add_up, s,
                        NULL));
        lz_buf_free(&b);
        OK((lz_status)s->status);
    }
}

START_TEST(what_all_say)
{
    static const uint64_t count[] = {0, 1, LZ_WIRE_PIECE / 8, 400000};
    said all[RANKS];
    uint64_t want = 0;
    const lz_together t = {RANKS, RANKS, 20, -1};
    memset(all, 0, sizeof all);
    (void)lz_run_together(&t, numbers, NULL, all, sizeof *all);
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < RANKS; r++)
            want += count[i] * (uint64_t)r + count[i] * (count[i] - 1) / 2;
    ck_assert_uint_eq(all[0].sum, want);
}
END_TEST

/* ---- answers ---- */

static lz_status answer_as_long(void *user, lz_rd *from)
{
    for (uint64_t i = 0, n = lz_rd_u64(&from[1]); i < n; i++)
        lz_buf_u64(user, i * i);
    return LZ_OK;
}

/* None, a short one, one of several pieces; none where it fails. */
static void answers(int rank, void *arg, void *out)
{
    static const uint64_t count[] = {0, 1, 400000};
    (void)arg;
    join_all();
    for (int i = 0; i < 3; i++) {
        lz_buf b = {0}, got = {0};
        lz_buf_u64(&b, count[i]);
        OK(lz_talk(lz_talk_number(LZ_TALK_RUN, (uint64_t)i), "answers", LZ_OK, &b, answer_as_long,
                   &got, &got));
        lz_rd r = {(const uint8_t *)got.data, (const uint8_t *)got.data + got.len, got.failed,
                   false};
        for (uint64_t k = 0; k < count[i]; k++)
            ck_assert_uint_eq(lz_rd_u64(&r), k * k);
        OK(lz_wire_ended(&r, "answer"));
        lz_buf_free(&b);
        lz_buf_free(&got);
    }
    lz_buf got = {0};
    lz_buf_u64(&got, 5);
    got.len = rank ? 0 : got.len;
    lz_status mine = rank == 2 ? LZ_FAIL(LZ_EIO, "the disk is full") : LZ_OK;
    note(out, lz_talk(lz_talk_number(LZ_TALK_RUN, 3), "answers", mine, NULL, NULL, NULL, &got));
    ck_assert(rank == 0 || got.len == 0);
    lz_buf_free(&got);
}

START_TEST(what_rank_0_answers)
{
    said all[RANKS];
    const lz_together t = {RANKS, RANKS, 20, -1};
    memset(all, 0, sizeof all);
    (void)lz_run_together(&t, answers, NULL, all, sizeof *all);
    for (int r = 0; r < RANKS; r++)
        ck_assert_msg(all[r].status == LZ_EIO, "rank %d: %d %s", r, all[r].status, all[r].text);
}
END_TEST

/* ---- several at a time ---- */

typedef struct talker {
    uint64_t number, sum;
    int rank;
    lz_status s;
} talker;

static lz_status add_one(void *user, lz_rd *from)
{
    talker *t = user;
    for (int r = 0; r < RANKS; r++)
        t->sum += lz_rd_u64(&from[r]);
    return LZ_OK;
}

static void *talk(void *of)
{
    talker *t = of;
    lz_buf b = {0};
    lz_buf_u64(&b, t->number * 10 + (uint64_t)t->rank);
    t->s = lz_talk(lz_talk_number(LZ_TALK_CHECKPOINT, t->number), "threads", LZ_OK, &b, add_one, t,
                   NULL);
    lz_buf_free(&b);
    return NULL;
}

static void threads(int rank, void *arg, void *out)
{
    enum { THREADS = 6 };
    talker t[THREADS];
    pthread_t id[THREADS];
    said *s = out;
    (void)arg;
    join_all();
    for (int i = 0; i < THREADS; i++) { /* each rank begins with another one */
        t[i] = (talker){.number = (uint64_t)((i + 2 * rank) % THREADS), .rank = rank};
        ck_assert_int_eq(pthread_create(&id[i], NULL, talk, &t[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
        ck_assert_int_eq(t[i].s, LZ_OK);
        ck_assert(rank > 0 || t[i].sum == t[i].number * 10 * RANKS + 3);
    }
    s->status = LZ_OK;
}

START_TEST(many_at_a_time)
{
    said all[RANKS];
    const lz_together t = {RANKS, RANKS, 20, -1};
    memset(all, 0xff, sizeof all);
    (void)lz_run_together(&t, threads, NULL, all, sizeof *all);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(all[r].status, LZ_OK);
}
END_TEST

/* ---- what fails ---- */

typedef enum fault { FAILS, NO_MEMORY, MALFORMED, REFUSED } fault;
typedef struct plan {
    fault how;
    int rank;
} plan;

static lz_status refuse(void *user, lz_rd *from)
{
    (void)user, (void)from;
    return LZ_FAIL(LZ_EINVAL, "none of this");
}

static void fails(int rank, void *arg, void *out)
{
    const plan *p = arg;
    said *s = out;
    bool odd = rank == p->rank;
    lz_buf b = {0};
    join_all();
    put_numbers(&b, 1, 5);
    if (odd && p->how == MALFORMED)
        lz_buf_u8(&b, 1);
    b.failed = odd && p->how == NO_MEMORY;
    lz_status mine = odd && p->how == FAILS ? LZ_FAIL(LZ_EIO, "the disk is full") : LZ_OK;
    note(s, lz_talk(lz_talk_number(LZ_TALK_RUN, 0), "a fault", mine, &b,
                    p->how == REFUSED ? refuse : add_up, s, NULL));
    lz_buf_free(&b);
    OK(lz_talk(lz_talk_number(LZ_TALK_RUN, 1), "after it", LZ_OK, NULL, NULL, NULL, NULL));
}

/* The time is 20 s, after which it would be LZ_ETIMEOUT. */
START_TEST(one_fails)
{
    static const struct {
        lz_status status;
        const char *what;
        bool named;
    } want[] = {[FAILS] = {LZ_EIO, "the disk is full", true},
                [NO_MEMORY] = {LZ_EMEM, "no memory", true},
                [MALFORMED] = {LZ_EPARSE, "malformed", false},
                [REFUSED] = {LZ_EINVAL, "none of this", false}};
    for (int rank = 0; rank < RANKS; rank += 2) {
        said all[RANKS];
        plan p = {(fault)_i, rank};
        char who[20];
        const lz_together t = {RANKS, RANKS, 20, -1};
        memset(all, 0, sizeof all);
        snprintf(who, sizeof who, "rank %d (", rank);
        (void)lz_run_together(&t, fails, &p, all, sizeof *all);
        for (int r = 0; r < RANKS; r++)
            ck_assert_msg(
                all[r].status == (int)want[_i].status && strstr(all[r].text, want[_i].what) &&
                    (r == rank || !want[_i].named || strstr(all[r].text, who)),
                "rank %d of what rank %d does: %d %s", r, rank, all[r].status, all[r].text);
    }
}
END_TEST

/* ---- who is late ---- */

/* Rank 0 comes after 4 s, rank 2 after 5.5 s, or, when all others have failed, never. */
static void late(int rank, void *arg, void *out)
{
    static const int ms[RANKS] = {4000, 0, 5500};
    const bool *never = arg;
    said *s = out;
    join_all();
    (void)usleep((useconds_t)ms[rank] * 1000);
    if (rank == 2 && *never)
        (void)usleep(3500000);
    else
        note(s, lz_talk(lz_talk_number(LZ_TALK_RUN, 0), "late", LZ_OK, NULL, NULL, NULL, NULL));
}

/* The time is 3 s, for each from when it comes: rank 1 waits while rank 0 does. */
START_TEST(rank_0_comes_late)
{
    said all[RANKS];
    bool never = _i;
    const lz_together t = {RANKS, RANKS, 3, -1};
    memset(all, 0, sizeof all);
    (void)lz_run_together(&t, late, &never, all, sizeof *all);
    for (int r = 0; r < RANKS; r++)
        ck_assert_msg(never && r < 2
                          ? all[r].status == LZ_ETIMEOUT && strstr(all[r].text, "rank 2 (")
                          : all[r].status == LZ_OK,
                      "rank %d: %d %s", r, all[r].status, all[r].text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("talk");
    TCase *t = tcase_create("talk");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, what_all_say);
    tcase_add_test(t, what_rank_0_answers);
    tcase_add_test(t, many_at_a_time);
    tcase_add_loop_test(t, one_fails, 0, 4);
    tcase_add_loop_test(t, rank_0_comes_late, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
