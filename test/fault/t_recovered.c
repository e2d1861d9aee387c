/* t_recovered.c - failures that the library recovers from: fewer threads than asked for, no cache,
 * damaged entries of it, files of diagnostics that cannot be written, the automatic run of a graph
 * with an error. The work succeeds, and the last error of the thread is what it was: none, or that
 * of an earlier call of the program's. */
#include "suite.h"
#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <lazuli/lazuli.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

/* ---- threads that cannot be started ---- */

enum { ALL = 1 << 20 };
static _Atomic int allowed = ALL; /* how many more may be */

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return allowed-- > 0 ? real(t, a, fn, arg) : EAGAIN;
}

/* ---- the work ---- */

static void log_nothing(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
}

/* A product that several threads share, and steps, some of them asynchronous. */
static int work(void)
{
    enum { N = 600 };
    lz_scope_begin();
    lz_tensor *a = lz_ones(LZ_F32, LZ_SHAPE(N, N)), *w = lz_full(LZ_F32, LZ_SHAPE(N), 1);
    double sum = lz_item(lz_sum(lz_matmul(a, a)));
    for (int i = 0; i < 3; i++) {
        if (lz_assign(w, lz_add_scalar(w, 1)) != LZ_OK || lz_mark_step(.wait = i == 1) != LZ_OK)
            sum = -1;
    }
    if (lz_wait_device_ops() != LZ_OK || lz_item(lz_select(w, 0, N - 1)) != 4)
        sum = -1;
    lz_scope_end();
    return sum == 216000000.0 ? 0 : 1;
}

/* Gives 0, or prints what is wrong. Where the work may fail, a failure that is told is an honest
 * answer, too. */
static int check(const char *what, bool with_error, bool may_fail)
{
    char before[1000];
    lz_set_log_callback(log_nothing, NULL);
    lz_clear_error();
    if (with_error)
        (void)lz_dtype_of(NULL), (void)lz_status_of(NULL);
    lz_status s = lz_last_error(NULL);
    snprintf(before, sizeof before, "%s", lz_last_error_text());
    if (work() != 0) {
        bool told = lz_last_error(NULL) != s;
        if (may_fail && told)
            return 0;
        printf("%s: fails: %s\n", what, told ? lz_last_error_text() : "no reason is told");
        return 1;
    }
    if (lz_last_error(NULL) == s && strcmp(lz_last_error_text(), before) == 0)
        return 0;
    printf("%s: the work is done, and the last error is \"%s\", not \"%s\"\n", what,
           lz_last_error_text(), before);
    return 1;
}

static bool met_damage(void)
{
    lz_cache_counts c = {.struct_size = sizeof c};
    return lz_get_cache_counts(&c) == LZ_OK && c.corrupt > 0;
}

static int in_process(const char *what, bool with_error, int threads, bool damaged)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        allowed = threads;
        int bad = check(what, with_error, threads < ALL);
        if (damaged && !met_damage())
            bad = printf("%s: none is counted\n", what);
        fflush(stdout);
        _exit(bad != 0);
    }
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

START_TEST(fewer_threads)
{
    char what[64];
    setenv("LAZULI_CACHE", "0", 1);
    for (int n = 0; n < 6; n++) {
        snprintf(what, sizeof what, "at most %d threads", n);
        ck_assert_int_eq(in_process(what, _i, n, false), 0);
    }
}
END_TEST

/* ---- files ---- */

static int truncated;
static int damage(const char *path, const struct stat *s, int kind, struct FTW *f)
{
    (void)f;
    if (kind != FTW_F || s->st_size <= 40)
        return 0;
    truncated++;
    return truncate(path, s->st_size / 2);
}

static int delete_it(const char *path, const struct stat *s, int kind, struct FTW *f)
{
    (void)s, (void)kind, (void)f;
    return remove(path);
}

static const struct {
    const char *what, *name, *value;
} settings[] = {
    {"no place for a cache", "LAZULI_CACHE_DIR", "/proc/nowhere/cache"},
    {"a file in the cache's place", "LAZULI_CACHE_DIR", "/etc/passwd"},
    {"a trace that cannot be written", "LAZULI_TRACE", "/proc/nowhere/trace"},
    {"a profile that cannot be written", "LAZULI_PROFILE", "/proc/nowhere/profile"},
    {"metrics that cannot be written", "XLA_METRICS_FILE", "/proc/nowhere/metrics"},
    {"graphs that cannot be written", "XLA_SAVE_TENSORS_FILE", "/proc/nowhere/graphs"},
    {"analyses that cannot be written", "PT_XLA_DEBUG_FILE", "/proc/nowhere/analyses"},
    {"a value that is none", "LAZULI_NUM_THREADS", "many"},
    {"graphs run by themselves", "LAZULI_GRAPH_LIMIT", "16"},
};
enum { NSETTINGS = sizeof settings / sizeof *settings };

START_TEST(what_cannot_be_written)
{
    setenv("PT_XLA_DEBUG_FILE", "/dev/null", 1);
    setenv("PT_XLA_DEBUG", strstr(settings[_i].name, "DEBUG") ? "1" : "0", 1);
    setenv(settings[_i].name, settings[_i].value, 1);
    ck_assert_int_eq(in_process(settings[_i].what, false, ALL, false), 0);
    ck_assert_int_eq(in_process(settings[_i].what, true, ALL, false), 0);
}
END_TEST

START_TEST(damaged_entries)
{
    ck_assert_int_eq(in_process("a cache that is empty", _i, ALL, false), 0);
    ck_assert_int_eq(in_process("a cache that is full", _i, ALL, false), 0);
    ck_assert_int_eq(nftw(dir, damage, 8, FTW_PHYS), 0);
    ck_assert_int_gt(truncated, 0);
    ck_assert_int_eq(in_process("damaged entries", _i, ALL, true), 0);
}
END_TEST

static void set_up(void)
{
    strcpy(dir, "/tmp/lz-recovered-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("LAZULI_CACHE_DIR", dir, 1);
    setenv("LAZULI_NUM_THREADS", "8", 1);
    setenv("PJRT_DEVICE", "CPU", 1);
}

static void tear_down(void)
{
    (void)nftw(dir, delete_it, 8, FTW_PHYS | FTW_DEPTH);
}

int main(void)
{
    Suite *s = suite_create("recovered failures");
    TCase *t = tcase_create("recovered");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, fewer_threads, 0, 2);
    tcase_add_loop_test(t, what_cannot_be_written, 0, NSETTINGS);
    tcase_add_loop_test(t, damaged_entries, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
