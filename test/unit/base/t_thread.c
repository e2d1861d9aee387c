/* t_thread.c - once, latch, futex, counts of work, fork guard, cores, clocks. */
#include "base/process_end.h"
#include "base/thread.h"
#include "suite.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic int ran;
static lz_once once = LZ_ONCE_INIT;
static void run_once(void)
{
    usleep(1000);
    ran++;
}
static void *call_once(void *arg)
{
    (void)arg;
    lz_once_run(&once, run_once);
    return ran == 1 ? &ran : NULL; /* nobody passes before it is done */
}

START_TEST(once_runs_once)
{
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(lz_thread_start(&t[i], "a-name-longer-than-fifteen", call_once, NULL),
                         LZ_OK);
    for (int i = 0; i < 8; i++) {
        void *ok;
        pthread_join(t[i], &ok);
        ck_assert_ptr_nonnull(ok);
    }
    ck_assert_int_eq(ran, 1);
}
END_TEST

static void *sees_blocked_signals(void *arg)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, SIGINT) && sigismember(&now, SIGTERM) ? arg : NULL;
}

START_TEST(threads_leave_signals_alone)
{
    pthread_t t;
    sigset_t now;
    void *ok;
    ck_assert_int_eq(lz_thread_start(&t, "sig", sees_blocked_signals, &ran), LZ_OK);
    pthread_join(t, &ok);
    ck_assert_ptr_nonnull(ok);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    ck_assert(!sigismember(&now, SIGINT)); /* the caller's mask is as before */
}
END_TEST

typedef struct shared {
    lz_latch latch;
    int value; /* plain: the latch orders it */
} shared;
static void *wait_latch(void *arg)
{
    shared *s = arg;
    return lz_latch_wait(&s->latch, -1) && s->value == 42 ? arg : NULL;
}

/* Counts whose first two pieces are begun at once, by two threads that walk over all of them. */
enum { COUNTS = 1 << 16 };
static lz_work_count counts[COUNTS];
static pthread_barrier_t both;
static void *begin_each(void *arg)
{
    pthread_barrier_wait(&both);
    for (int i = 0; i < COUNTS; i++)
        lz_work_begin(&counts[i]);
    return arg;
}

START_TEST(work_is_counted_from_its_first_piece)
{
    pthread_barrier_init(&both, NULL, 2);
    for (int round = 0; round < 8; round++) {
        pthread_t t;
        memset(counts, 0, sizeof counts); /* as in a process that began none */
        ck_assert_int_eq(lz_thread_start(&t, "w", begin_each, NULL), LZ_OK);
        begin_each(NULL);
        pthread_join(t, NULL);
        for (int i = 0; i < COUNTS; i++) {
            ck_assert_uint_eq((uint32_t)counts[i].state, 2);
            lz_work_end(&counts[i]);
            ck_assert_uint_eq((uint32_t)counts[i].state, 1);
        }
    }
    pthread_barrier_destroy(&both);
}
END_TEST

/* What a parent began is none of a child's, not even where the child has ended all of its own. */
START_TEST(work_of_a_parent_is_not_counted)
{
    static lz_work_count c;
    lz_work_begin(&c);
    pid_t child = fork();
    if (child == 0) {
        bool ok = lz_work_wait(&c, 0);
        lz_work_end(&c);
        lz_work_begin(&c);
        lz_work_end(&c);
        lz_work_end(&c);
        ok = ok && lz_work_wait(&c, 0);
        lz_work_begin(&c);
        _exit(ok && (uint32_t)c.state == 1 ? 0 : 1);
    }
    int status = 1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    lz_work_end(&c);
    ck_assert(lz_work_wait(&c, 0));
}
END_TEST

START_TEST(latch_releases_all)
{
    for (int round = 0; round < 50; round++) {
        shared s = {0};
        pthread_t t[4];
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(lz_thread_start(&t[i], "w", wait_latch, &s), LZ_OK);
        if (round % 2)
            usleep(200);
        s.value = 42;
        lz_latch_set(&s.latch);
        lz_latch_set(&s.latch); /* twice is harmless */
        for (int i = 0; i < 4; i++) {
            void *ok;
            pthread_join(t[i], &ok);
            ck_assert_ptr_nonnull(ok);
        }
    }
}
END_TEST

START_TEST(latch_times_out)
{
    lz_latch l = {0};
    ck_assert(!lz_latch_is_set(&l));
    ck_assert(!lz_latch_wait(&l, 0));
    int64_t t0 = lz_now_ns();
    ck_assert(!lz_latch_wait(&l, 20000000));
    ck_assert_int_ge(lz_now_ns() - t0, 20000000);
    lz_latch_set(&l);
    ck_assert(lz_latch_is_set(&l));
    ck_assert(lz_latch_wait(&l, 0));
    ck_assert(lz_latch_wait(&l, 1));
    ck_assert(lz_latch_wait(&l, -1));
    lz_latch_reset(&l);
    ck_assert(!lz_latch_is_set(&l));
}
END_TEST

START_TEST(futex)
{
    _Atomic uint32_t word = 5;
    errno = EDOM;
    ck_assert(lz_futex_wait(&word, 4, -1)); /* differs: returns at once */
    ck_assert(!lz_futex_wait(&word, 5, 1000000));
    lz_futex_wake(&word, 1);
    ck_assert_int_eq(errno, EDOM);
}
END_TEST

static int in_child(lz_status (*fn)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        lz_status s = fn();
        _exit(s == LZ_EFORK && lz_error_get()->status == LZ_EFORK && lz_fork_happened() ? 1
              : s == LZ_OK                                                              ? 0
                                                                                        : 2);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static lz_status check_in_grandchild(void)
{
    return in_child(lz_fork_check) == 1 ? LZ_EFORK : LZ_OK;
}

START_TEST(fork_guard)
{
    ck_assert_int_eq(in_child(lz_fork_check), 0); /* not armed: a child may start afresh */
    lz_fork_arm();
    lz_fork_arm();
    ck_assert_int_eq(lz_fork_check(), LZ_OK);
    ck_assert_int_eq(in_child(lz_fork_check), 1);
    ck_assert_int_eq(lz_fork_check(), LZ_OK); /* the parent goes on */
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(check_in_grandchild() == LZ_EFORK ? 1 : 0);
    waitpid(pid, &status, 0);
    ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

START_TEST(cores_follow_affinity)
{
    int all = lz_num_cores();
    ck_assert_int_ge(all, 1);
    cpu_set_t set, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    ck_assert_int_le(all, CPU_COUNT(&set));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) {
            CPU_SET(i, &one);
            break;
        }
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(lz_num_cores(), 1);
    ck_assert_int_eq(lz_spin_ns(1000),
                     0); /* a loop would keep the one that is waited for from running */
}
END_TEST

START_TEST(clocks)
{
    int64_t last = lz_now_ns();
    for (int i = 0; i < 1000; i++) {
        int64_t now = lz_now_ns();
        ck_assert_int_ge(now, last);
        last = now;
    }
    ck_assert_int_gt(lz_wall_ns(), INT64_C(1600000000) * 1000000000);
    lz_cpu_relax();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("thread");
    TCase *t = tcase_create("thread");
    tcase_add_test(t, once_runs_once);
    tcase_add_test(t, threads_leave_signals_alone);
    tcase_add_test(t, work_is_counted_from_its_first_piece);
    tcase_add_test(t, work_of_a_parent_is_not_counted);
    tcase_add_test(t, latch_releases_all);
    tcase_add_test(t, latch_times_out);
    tcase_add_test(t, futex);
    tcase_add_test(t, fork_guard);
    tcase_add_test(t, cores_follow_affinity);
    tcase_add_test(t, clocks);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
