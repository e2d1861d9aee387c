/* t_partitions_far.c - partitions of one function in several processes, and their results to the
 * first one: the values, of processes that have some, one or none; and one that has no memory at
 * any moment: all learn so, and none waits for another until the time is over. */
#include "backends/common/partitions.h"
#include "backends/distributed/talk.h"
#include "base/alloc.h"
#include "base/log.h"
#include "suite.h"
#include "support/together.h"
#include <string.h>

enum { N = 5, COUNT = 3, RESULTS = 2 };

typedef struct said {
    int status, calls;
    char text[300];
} said;

typedef struct plan {
    int odd;        /* rank */
    bool gathers;   /* what has no memory: the gather, or the run */
    int64_t nth;    /* its allocation that fails; 0: none */
    uint32_t parts; /* how many there are: N at most */
} plan;

static void silent(lz_log_level level, const char *component, const char *message, void *user)
{
    (void)level, (void)component, (void)message, (void)user;
}

/* a + a, a * a */
static lz_func *function(void)
{
    const lz_shape shape = {1, {COUNT}};
    lz_func *f = lz_func_new("main");
    lz_val a = lz_build_param(f, lz_type_get(LZ_I32, &shape));
    lz_val r[RESULTS] = {lz_build_ew2(f, LZ_OP_ADD, a, a), lz_build_ew2(f, LZ_OP_MULTIPLY, a, a)};
    ck_assert_int_eq(lz_func_set_results(f, r, RESULTS), LZ_OK);
    return f;
}

static bool wanted(const void *user, uint32_t p, uint32_t k)
{
    (void)user;
    return k == 0 || p % 2;
}

static lz_literal *argument(const lz_func *f, uint32_t p)
{
    lz_literal *v = lz_literal_new(lz_val_type(f, 0));
    for (int i = 0; i < COUNT; i++)
        ((int32_t *)v->data)[i] = (int32_t)p * 10 + i;
    return v;
}

static void check_all(uint32_t n, lz_literal *const result[N][RESULTS])
{
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t k = 0; k < RESULTS; k++)
            for (int32_t i = 0, v = (int32_t)p * 10; i < COUNT && wanted(NULL, p, k); i++, v++)
                ck_assert_int_eq(((const int32_t *)result[p][k]->data)[i], k ? v * v : v + v);
}

static void run(int rank, void *arg, void *out)
{
    const plan *how = arg;
    said *s = out;
    lz_far_partitions who;
    lz_literal *in[N] = {NULL}, *result[N][RESULTS] = {{NULL}}, **rows[N], *const * args[N];
    lz_log_set_callback(silent, NULL);
    const lz_backend *b = lz_backend_get("cpu");
    lz_func *f = function();
    ck_assert_msg(lz_far_partitions_join(b, how->parts, &who) == LZ_OK, "%s",
                  lz_error_get()->message);
    for (uint32_t p = 0; p < N; p++)
        rows[p] = result[p];
    for (uint32_t l = 0; l < who.nlocal; l++) {
        in[l] = argument(f, who.first + l);
        args[l] = &in[l];
    }
    uint32_t at = who.nlocal ? who.first : 0;
    uint64_t before = lz_alloc_count();
    lz_alloc_fail_at(rank == how->odd && !how->gathers ? how->nth : 0, false);
    lz_status st =
        lz_run_far_partitions(b, f, &who, 2, lz_talk_number(LZ_TALK_RUN, 0), args, rows + at, NULL);
    if (how->gathers) {
        before = lz_alloc_count();
        lz_alloc_fail_at(rank == how->odd ? how->nth : 0, false);
    }
    if (st == LZ_OK)
        st = lz_gather_far_partitions(b, f, &who, lz_talk_number(LZ_TALK_RUN, 2), wanted, NULL,
                                      rows);
    lz_alloc_fail_at(0, false);
    for (uint32_t l = 0; l < who.nlocal && st == LZ_OK; l++) /* each has one owner, this one */
        for (uint32_t k = 0; k < RESULTS; k++)
            ck_assert_int_eq(result[who.first + l][k]->refs, 1);
    *s = (said){.status = (int)st, .calls = (int)(lz_alloc_count() - before)};
    snprintf(s->text, sizeof s->text, "%.299s", st == LZ_OK ? "" : lz_error_get()->message);
    if (st == LZ_OK && rank == 0)
        check_all(how->parts, result);
    for (uint32_t p = 0; p < N; p++) {
        lz_literal_release(in[p]);
        for (uint32_t k = 0; k < RESULTS; k++)
            lz_literal_release(result[p][k]);
    }
    lz_func_free(f);
}

/* Of 1 to 5 partitions in 3 processes, of which the last ones may have none. */
START_TEST(values)
{
    enum { RANKS = 3 };
    said all[RANKS];
    plan p = {.odd = -1, .parts = (uint32_t)_i};
    const lz_together t = {RANKS, RANKS, 20, -1};
    memset(all, 0, sizeof all);
    (void)lz_run_together(&t, run, &p, all, sizeof *all);
    for (int r = 0; r < RANKS; r++)
        ck_assert_msg(all[r].status == LZ_OK, "rank %d: %s", r, all[r].text);
}
END_TEST

/* The allocation may be one of the thread of the sockets, which loses the link. */
START_TEST(no_memory_in_one)
{
    enum { TWO = 2, TRIES = 30 };
    said all[TWO];
    plan p = {_i % 2, _i / 2, 0, N};
    const lz_together t = {TWO, TWO, 20, -1};
    int calls = 1, failed = 0;
    for (int k = 0; k <= TRIES && p.nth <= calls; k++) {
        memset(all, 0, sizeof all);
        (void)lz_run_together(&t, run, &p, all, sizeof *all);
        const said *odd = &all[p.odd], *other = &all[!p.odd];
        bool lost = odd->status == LZ_ETIMEOUT || other->status == LZ_ETIMEOUT;
        ck_assert_msg(lost || (odd->status == LZ_OK) == (other->status == LZ_OK),
                      "allocation %d of rank %d: %d %s, the other %d %s", (int)p.nth, p.odd,
                      odd->status, odd->text, other->status, other->text);
        ck_assert_msg(!strstr(odd->text, "has not") && !strstr(other->text, "has not"),
                      "allocation %d of rank %d: %s, the other %s", (int)p.nth, p.odd, odd->text,
                      other->text);
        failed += odd->status == LZ_EMEM;
        if (k == 0)
            calls = odd->calls;
        p.nth += 1 + (k > 8) * (calls / 20); /* the first ones, and some of the others */
    }
    ck_assert_int_gt(failed, 5);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("partitions_far");
    TCase *t = tcase_create("partitions_far");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, values, 1, N + 1);
    tcase_add_loop_test(t, no_memory_in_one, 0, 4);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
