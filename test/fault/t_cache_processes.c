/* t_cache_processes.c - many processes and threads on one cache, and writers that die at every
 * system call. Case numbers (C10 ...) are stable names. */
#include "cachetest.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

/* Counters that children and parent share. */
typedef struct board {
    _Atomic uint64_t stored, hits, misses, wrong, corrupt, write_fail, warnings, evicted;
    _Atomic int ready, go;
} board;

static board *make_board(void)
{
    board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(b != MAP_FAILED);
    return b;
}

static void report(board *b, const lz_cache *c)
{
    lz_cache_stats s = ct_stats(c);
    b->stored += s.stored;
    b->hits += s.hits[LZ_CACHE_KERNEL];
    b->misses += s.misses[LZ_CACHE_KERNEL];
    b->corrupt += s.corrupt;
    b->write_fail += s.write_fail;
    b->evicted += s.evicted;
    b->warnings += (uint64_t)ct_warnings;
}

static pid_t child(void)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

/* One process of a job: what is not there it computes and stores. Each starts elsewhere in the
 * list. */
static void cold_start(board *b, int who, int keys)
{
    lz_cache *c = ct_open();
    b->ready++;
    while (!b->go)
        usleep(200);
    for (int i = 0; i < keys; i++) {
        uint64_t k = (uint64_t)((i + who % 4 * 3) % keys);
        int r = ct_get(c, k);
        b->wrong += r < 0;
        if (r == 0)
            ct_put(c, k);
    }
    for (int i = 0; i < keys; i++)
        b->wrong += ct_get(c, (uint64_t)i) != 1;
    report(b, c);
    lz_cache_close(c);
    _exit(0);
}

START_TEST(c10_cold_start)
{
    enum { PROCESSES = 16, KEYS = 200 };
    int rounds = ct_quick() ? 2 : 20;
    for (int round = 0; round < rounds; round++) {
        board *b = make_board();
        pid_t pids[PROCESSES];
        for (int p = 0; p < PROCESSES; p++)
            if ((pids[p] = child()) == 0)
                cold_start(b, p, KEYS);
        while (b->ready < PROCESSES)
            usleep(200);
        b->go = 1;
        for (int p = 0; p < PROCESSES; p++)
            ck_assert_int_eq(ct_wait(pids[p]), 0);
        ck_assert_uint_eq(b->wrong + b->corrupt + b->write_fail + b->warnings, 0);
        ck_assert_uint_eq(b->stored, KEYS); /* each key by exactly one of them */
        ck_assert_uint_eq(ct_count_entries(NULL), KEYS);
        ck_assert_uint_eq(b->hits + b->misses, 2 * PROCESSES * KEYS);
        ck_assert_int_eq(ct_temps(), 0);
        lz_cache *c = ct_open();
        ck_assert_int_eq(ct_verify(c).ok, KEYS);
        lz_cache_close(c);
        ct_rm(ct_dir);
        munmap(b, sizeof *b);
    }
}
END_TEST

/* ---- crashes ---- */

typedef struct crash {
    uint64_t nth;
    bool no_rename; /* a file system where publishing takes a hard link and an unlink */
} crash;

static void die(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    const crash *k = user;
    if (nth == k->nth)
        raise(SIGKILL);
    if (k->no_rename && op == LZ_VFS_RENAME)
        f->err = EINVAL;
}

static void writer(void)
{
    lz_cache *c = ct_open_with((lz_cache_options){.fsync = true});
    for (uint64_t i = 7; i < 9; i++)
        if (ct_get(c, i) == 0)
            ct_put(c, i);
    lz_cache_close(c);
}

static void crash_at_every_call(bool no_rename)
{
    crash k = {.nth = UINT64_MAX, .no_rename = no_rename};
    lz_vfs_set_hook(die, &k);
    writer();
    uint64_t calls = lz_vfs_calls();
    lz_vfs_set_hook(NULL, NULL);
    ct_rm(ct_dir);
    ck_assert_uint_gt(calls, 20);
    for (k.nth = 1; k.nth <= calls; k.nth++) {
        pid_t pid = child();
        if (pid == 0) {
            lz_vfs_set_hook(die, &k);
            writer();
            _exit(7); /* the crash must happen */
        }
        ck_assert_int_eq(ct_wait(pid), 1000 + SIGKILL);
        ck_assert_int_le(ct_temps(), 1);
        lz_cache *c = ct_open();
        for (uint64_t i = 7; i < 9; i++) {
            ck_assert_int_ge(ct_get(c, i), 0); /* whole, or not there */
            ct_put(c, i);
            ck_assert_int_eq(ct_get(c, i), 1);
        }
        lz_cache_stats s = ct_stats(c);
        ck_assert_uint_eq(s.corrupt + s.write_fail, 0);
        lz_vfs_set_clock((int64_t)time(NULL) + 3700);
        ck_assert_int_eq(lz_cache_gc(c, 0, NULL, NULL), LZ_OK);
        ck_assert_int_eq(ct_temps(), 0);
        for (uint64_t i = 7; i < 9;
             i++) { /* also what was left with two links is well again by then */
            ck_assert_int_eq(ct_get(c, i), 1);
        }
        ck_assert_int_eq(ct_verify(c).bad, 0);
        lz_vfs_set_clock(0);
        lz_cache_close(c);
        ct_rm(ct_dir);
    }
}

START_TEST(c11_killed_at_every_call)
{
    crash_at_every_call(_i);
}
END_TEST

/* Real SIGKILLs at random moments, over and over, on one directory that readers use all the
 * time. */
START_TEST(c11_killed_at_random)
{
    board *b = make_board();
    pid_t reader = child();
    if (reader == 0) {
        lz_cache *c = ct_open();
        for (uint64_t i = 0; !b->go; i++)
            b->wrong += ct_get(c, i % 50) < 0;
        report(b, c);
        _exit(0);
    }
    uint64_t rng = 11;
    for (int i = 0; i < (ct_quick() ? 30 : 150); i++) {
        pid_t pid = child();
        if (pid == 0) {
            lz_cache *c = ct_open();
            for (uint64_t k = (uint64_t)i * 7;; k++) {
                ct_put(c, k % 50);
                if (k % 60 == 0)
                    (void)lz_cache_clear(c, NULL);
            }
        }
        usleep((useconds_t)(ct_rand(&rng) % 8000));
        kill(pid, SIGKILL);
        ck_assert_int_eq(ct_wait(pid), 1000 + SIGKILL);
    }
    b->go = 1;
    ck_assert_int_eq(ct_wait(reader), 0);
    ck_assert_uint_eq(b->wrong + b->corrupt, 0);
    lz_cache *c = ct_open();
    ck_assert_int_eq(ct_verify(c).bad, 0);
    lz_cache_close(c);
    munmap(b, sizeof *b);
}
END_TEST

/* ---- eviction under load ---- */

START_TEST(c19_eviction_race)
{
    enum { WRITERS = 4, READERS = 4 };
    uint64_t cap = 1 << 20, bytes, most = 0;
    board *b = make_board();
    pid_t pids[WRITERS + READERS];
    int puts = ct_quick() ? 300 : 900;
    for (int p = 0; p < WRITERS + READERS; p++) {
        if ((pids[p] = child()) != 0)
            continue;
        lz_cache *c = ct_open_with((lz_cache_options){.max_bytes = cap});
        uint64_t rng = (uint64_t)p;
        for (int i = 0; p < WRITERS && i < puts; i++) {
            uint64_t k = ct_rand(&rng) % 400;
            int r = ct_get(c, k);
            b->wrong += r < 0;
            if (r == 0)
                ct_put(c, k);
        }
        for (; p >= WRITERS && !b->go;)
            b->wrong += ct_get(c, ct_rand(&rng) % 400) < 0;
        report(b, c);
        _exit(0);
    }
    for (int p = 0; p < WRITERS; p++) {
        int st;
        while (waitpid(pids[p], &st, WNOHANG) == 0) {
            (void)ct_count_entries(&bytes);
            most = bytes > most ? bytes : most;
            usleep(20000);
        }
        ck_assert_int_eq(st, 0);
    }
    b->go = 1;
    for (int p = WRITERS; p < WRITERS + READERS; p++)
        ck_assert_int_eq(ct_wait(pids[p]), 0);
    ck_assert_uint_eq(b->wrong + b->corrupt + b->write_fail + b->warnings, 0);
    ck_assert_uint_gt(b->evicted, 50);
    ck_assert_uint_gt(b->hits, 100);
    ck_assert_uint_le(most, cap + WRITERS * (cap / LZ_EVICT_PART + 2 * 70000));
    (void)ct_count_entries(&bytes);
    ck_assert_uint_le(bytes, cap + WRITERS * (cap / LZ_EVICT_PART));
    munmap(b, sizeof *b);
}
END_TEST

/* ---- fork and threads ---- */

START_TEST(c24_fork_between_lookup_and_store)
{
    lz_cache *c = ct_open();
    ck_assert_int_eq(ct_get(c, 5), 0);
    pid_t pid = child();
    ct_put(c, 5); /* both compiled it, one stores it */
    bool ok = ct_get(c, 5) == 1;
    ct_put(c, pid == 0 ? 8 : 9);
    ok = ok && ct_get(c, pid == 0 ? 8 : 9) == 1;
    lz_cache_close(c);
    if (pid == 0)
        _exit(ok ? 0 : 1);
    ck_assert(ok);
    ck_assert_int_eq(ct_wait(pid), 0);
    ck_assert_uint_eq(ct_count_entries(NULL), 3);
    ck_assert_int_eq(ct_temps(), 0);
}
END_TEST

static lz_cache *shared;
static atomic_bool stop;
static void *busy(void *arg)
{
    uint64_t rng = (uint64_t)(uintptr_t)arg;
    intptr_t bad = 0;
    while (!stop) {
        uint64_t k = ct_rand(&rng) % 60;
        int r = ct_get(shared, k);
        bad += r < 0;
        if (r == 0)
            ct_put(shared, k);
    }
    return (void *)bad;
}

/* The allocators of these have locks of their own that a child inherits as they are: seen with
 * both, a child that waits in malloc. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FORKS_AMONG_THREADS 0
#else
#define FORKS_AMONG_THREADS 1
#endif
#if FORKS_AMONG_THREADS
/* Children of a process whose threads are in the middle of storing and evicting: no inherited lock
 * may stop them. */
START_TEST(c24_fork_among_threads)
{
    enum { THREADS = 4 };
    pthread_t t[THREADS];
    shared = ct_open_with((lz_cache_options){.max_bytes = 200000});
    for (intptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, busy, (void *)(i + 1)), 0);
    for (int i = 0; i < (ct_quick() ? 20 : 100); i++) {
        pid_t pid = child();
        if (pid == 0) {
            alarm(200);
            int bad = 0;
            for (uint64_t k = 100; k < 110; k++) {
                ct_put(shared, k + (uint64_t)i * 20);
                bad += ct_get(shared, k + (uint64_t)i * 20) < 0;
            }
            _exit(bad);
        }
        ck_assert_int_eq(ct_wait(pid), 0);
    }
    stop = true;
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        ck_assert_ptr_null(bad);
    }
    lz_cache_stats s = ct_stats(shared);
    ck_assert_uint_eq(s.corrupt + s.write_fail, 0);
    lz_cache_close(shared);
}
END_TEST
#endif

/* The directory is removed again and again under threads that use it. */
START_TEST(c14_removed_under_threads)
{
    enum { THREADS = 4 };
    pthread_t t[THREADS];
    shared = ct_open();
    for (intptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, busy, (void *)(i + 1)), 0);
    for (int i = 0; i < (ct_quick() ? 10 : 60); i++) {
        usleep(5000);
        ct_rm(ct_dir);
    }
    stop = true;
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        ck_assert_ptr_null(bad);
    }
    ck_assert_uint_eq(ct_stats(shared).corrupt, 0);
    ct_put(shared, 5);
    ct_put(shared, 5);
    ck_assert_int_eq(ct_get(shared, 5), 1);
    lz_cache_close(shared);
}
END_TEST

/* ---- the same keys everywhere ---- */

START_TEST(c26_second_run_hits)
{
    enum { KEYS = 60 };
    board *b = make_board();
    for (int run = 0; run < 3; run++) {
        pid_t pid = child();
        if (pid == 0) {
            char rank[16];
            snprintf(rank, sizeof rank, "%d", run);
            setenv("RANK", rank, 1);
            setenv("LAZULI_LOG", run ? "error" : "debug", 1);
            if (chdir(run == 0 ? "/" : run == 1 ? "/tmp" : ct_base) != 0)
                _exit(2);
            void *moved = malloc((size_t)run * 100000 + 1); /* other addresses */
            lz_cache *c = ct_open();
            for (uint64_t i = 0; i < KEYS; i++) {
                int r = ct_get(c, i);
                b->wrong += r != (run > 0);
                if (r == 0)
                    ct_put(c, i);
            }
            free(moved);
            _exit(0);
        }
        ck_assert_int_eq(ct_wait(pid), 0);
    }
    ck_assert_uint_eq(b->wrong, 0);
    ck_assert_uint_eq(ct_count_entries(NULL), KEYS);
    munmap(b, sizeof *b);
}
END_TEST

/* A reader on a small stack: nothing of the size of an entry stands on it. */
static void *small_main(void *arg)
{
    (void)arg;
    intptr_t bad = 0;
    for (uint64_t i = 0; i < 10; i++) {
        ct_put(shared, i);
        bad += ct_get(shared, i) != 1;
    }
    return (void *)bad;
}

START_TEST(c25_small_stack)
{
    pthread_attr_t a;
    pthread_t t;
    void *bad;
    shared = ct_open();
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 256 << 10);
    ck_assert_int_eq(pthread_create(&t, &a, small_main, NULL), 0);
    pthread_join(t, &bad);
    ck_assert_ptr_null(bad);
    pthread_attr_destroy(&a);
    lz_cache_close(shared);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cache processes");
    TCase *t = tcase_create("processes");
    tcase_set_timeout(t, 240);
    tcase_add_checked_fixture(t, ct_setup, ct_teardown);
    tcase_add_test(t, c10_cold_start);
    tcase_add_loop_test(t, c11_killed_at_every_call, 0, 2);
    tcase_add_test(t, c11_killed_at_random);
    tcase_add_test(t, c14_removed_under_threads);
    tcase_add_test(t, c19_eviction_race);
    tcase_add_test(t, c24_fork_between_lookup_and_store);
#if FORKS_AMONG_THREADS
    tcase_add_test(t, c24_fork_among_threads);
#endif
    tcase_add_test(t, c25_small_stack);
    tcase_add_test(t, c26_second_run_hits);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
