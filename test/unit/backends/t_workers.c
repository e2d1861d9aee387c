/* t_workers.c - every unit of a job runs exactly once, whatever the sizes, the number of threads
 * and concurrent callers. */
#include "backends/cpu/workers.h"
#include "base/config.h"
#include "base/thread.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_UNITS = 5000 };

typedef struct tally {
    _Atomic int done[MAX_UNITS];
    _Atomic int in_use[LZ_WORKERS_MAX]; /* a worker number is on one thread at a time */
    _Atomic bool clash, bad_range, nested_ran;
    int64_t units;
    int nap_every;
    bool nested;
} tally;

static void count_nested(void *ctx, int64_t begin, int64_t end, int worker)
{
    tally *t = ctx;
    if (begin == 0 && end == 7 && worker == 0)
        t->nested_ran = true;
}

static void count(void *ctx, int64_t begin, int64_t end, int worker)
{
    tally *t = ctx;
    if (worker < 0 || worker >= lz_workers_count() || begin < 0 || end > t->units || begin >= end)
        t->bad_range = true;
    if (atomic_fetch_add(&t->in_use[worker], 1))
        t->clash = true;
    for (int64_t i = begin; i < end; i++) {
        atomic_fetch_add(&t->done[i], 1);
        if (t->nap_every && i % t->nap_every == 0)
            usleep(100);
    }
    if (t->nested)
        lz_workers_run(7, 0, count_nested, t);
    atomic_fetch_sub(&t->in_use[worker], 1);
}

static void check(tally *t)
{
    ck_assert(!t->clash && !t->bad_range);
    for (int64_t i = 0; i < MAX_UNITS; i++)
        ck_assert_int_eq(t->done[i], i < t->units);
}

static const int thread_counts[] = {1, 2, 3, 4, 9};

static void set_threads(int n)
{
    char text[16];
    snprintf(text, sizeof text, "%d", n);
    ck_assert_int_eq(lz_config_set("LAZULI_NUM_THREADS", text), LZ_OK);
}

START_TEST(every_unit_once)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 8, 31, 32, 33, 100, 1023, MAX_UNITS};
    static tally t;
    set_threads(thread_counts[_i]);
    ck_assert_int_eq(lz_workers_count(), thread_counts[_i]);
    for (int round = 0; round < 6; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            memset(&t, 0, sizeof t);
            t.units = sizes[i];
            t.nap_every = round == 5 ? 700 : 0;
            lz_workers_run(t.units, round % 3, count, &t);
            check(&t);
            if (round == 4)
                usleep(200); /* workers fall asleep */
        }
    lz_workers_stop();
}
END_TEST

/* Plain memory: the caller sees what the workers wrote, the workers what the caller wrote
 * before. */
typedef struct plain {
    const int64_t *in;
    int64_t *out;
} plain;

static void square(void *ctx, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    plain *p = ctx;
    for (int64_t i = begin; i < end; i++)
        p->out[i] = p->in[i] * p->in[i];
}

START_TEST(memory_is_handed_over)
{
    enum { N = 64 };
    int64_t a[N], b[N];
    set_threads(4);
    for (int64_t round = 0; round < 4000; round++) {
        for (int64_t i = 0; i < N; i++)
            a[i] = round + i;
        plain p = {a, b};
        lz_workers_run(N, 0, square, &p);
        for (int64_t i = 0; i < N; i++)
            ck_assert_int_eq(b[i], (round + i) * (round + i));
    }
    lz_workers_stop();
}
END_TEST

static void *run_jobs(void *arg)
{
    tally *t = arg;
    for (int i = 0; i < 300; i++) {
        memset(t, 0, sizeof *t);
        t->units = 1 + i * 7 % 400;
        t->nested = i % 10 == 0;
        lz_workers_run(t->units, 0, count, t);
        for (int64_t u = 0; u < t->units; u++)
            if (t->done[u] != 1)
                return t;
        if (t->clash || t->bad_range || t->nested != t->nested_ran)
            return t;
    }
    return NULL;
}

START_TEST(several_callers)
{
    static tally t[3];
    pthread_t th[3];
    set_threads(3);
    for (int i = 0; i < 3; i++)
        pthread_create(&th[i], NULL, run_jobs, &t[i]);
    for (int i = 0; i < 3; i++) {
        void *bad;
        pthread_join(th[i], &bad);
        ck_assert_ptr_null(bad);
    }
    lz_workers_stop();
}
END_TEST

START_TEST(nothing_starts_before_it_is_needed)
{
    set_threads(5);
    ck_assert_int_eq(lz_workers_count(), 5);
    static tally t;
    t.units = 1;
    lz_workers_run(1, 0, count, &t);
    t.units = 40;
    memset(t.done, 0, sizeof t.done);
    lz_workers_run(40, 1, count, &t);
    ck_assert_int_eq(access("/proc/self/task", R_OK), 0);
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    int threads = 0;
    while (fgets(line, sizeof line, f))
        (void)sscanf(line, "Threads: %d", &threads);
    fclose(f);
#if !defined(__SANITIZE_THREAD__)
    ck_assert_int_eq(threads, 1);
#endif
    lz_workers_stop();
}
END_TEST

START_TEST(a_forked_child_works_alone)
{
    static tally t;
    set_threads(3);
    t.units = 100;
    lz_workers_run(100, 0, count, &t);
    check(&t);
    pid_t pid = fork();
    if (pid == 0) {
        memset(&t, 0, sizeof t);
        t.units = 100;
        lz_workers_run(100, 0, count, &t);
        int n = 0;
        for (int i = 0; i < 100; i++)
            n += t.done[i] == 1;
        lz_workers_stop();
        _exit(n == 100 ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    lz_workers_stop();
}
END_TEST

/* ---- how shares are cut ---- */

typedef struct cuts {
    _Atomic int length[MAX_UNITS]; /* of the chunk that begins at a unit */
} cuts;

static void note_chunk(void *ctx, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    atomic_fetch_add(&((cuts *)ctx)->length[begin], (int)(end - begin));
}

/* Two threads' shares of `units` each, in so many chunks at most, have chunks of these lengths. */
static void check_cuts(int units, int chunks, const int *expect)
{
    static cuts c;
    memset(&c, 0, sizeof c);
    lz_workers_run_in(2 * units, 0, chunks, note_chunk, &c);
    for (int t = 0; t < 2; t++) {
        int at = t * units;
        for (int i = 0; expect[i]; i++) {
            ck_assert_msg(c.length[at] == expect[i], "%d units: chunk %d has %d, not %d", units, i,
                          c.length[at], expect[i]);
            at += expect[i];
        }
        ck_assert_int_eq(at, (t + 1) * units);
    }
}

/* Long chunks first, short ones at the end, where one thread may be late. */
START_TEST(chunks_get_shorter)
{
    set_threads(2);
    check_cuts(64, LZ_WORKERS_CHUNKS, (int[]){32, 16, 8, 4, 2, 1, 1, 0});
    check_cuts(1000, 8, (int[]){500, 250, 125, 62, 31, 16, 8, 8, 0});
    check_cuts(7, LZ_WORKERS_CHUNKS, (int[]){3, 2, 1, 1, 0});
    check_cuts(1, LZ_WORKERS_CHUNKS, (int[]){1, 0});
    lz_workers_stop();
}
END_TEST

START_TEST(shares_in_few_chunks)
{
    set_threads(2);
    check_cuts(64, 1, (int[]){64, 0});
    check_cuts(64, 2, (int[]){32, 32, 0});
    check_cuts(64, 3, (int[]){32, 16, 16, 0});
    lz_workers_stop();
}
END_TEST

/* While a thread is held up in a long chunk, whoever else there is does all that is left, the rest
 * of its share, too. */
typedef struct held {
    _Atomic int done; /* units */
    _Atomic bool helped;
} held;

static void hold(void *ctx, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    held *h = ctx;
    if (begin == 32) { /* the first 16 of the second share */
        for (int i = 0; i < 10000 && h->done < 48; i++)
            usleep(1000);
        h->helped = h->done == 48;
    }
    atomic_fetch_add(&h->done, (int)(end - begin));
}

START_TEST(a_thread_that_is_held_up_is_helped)
{
    set_threads(2);
    for (int round = 0; round < 20; round++) {
        held h = {0};
        lz_workers_run(64, 0, hold, &h);
        ck_assert(h.helped);
        ck_assert_int_eq(h.done, 64);
    }
    lz_workers_stop();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("workers");
    TCase *t = tcase_create("workers");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, every_unit_once, 0, 5);
    tcase_add_test(t, memory_is_handed_over);
    tcase_add_test(t, several_callers);
    tcase_add_test(t, nothing_starts_before_it_is_needed);
    tcase_add_test(t, a_forked_child_works_alone);
    tcase_add_test(t, chunks_get_shorter);
    tcase_add_test(t, shares_in_few_chunks);
    tcase_add_test(t, a_thread_that_is_held_up_is_helped);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
