/* t_log.c - levels, the callback, the line on stderr. */
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include "suite.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic int calls;
static char last[2048];
static lz_log_level last_level;

static void collect(lz_log_level level, const char *module, const char *message, void *user)
{
    last_level = level;
    snprintf(last, sizeof last, "%s|%s|%s", (const char *)user, module, message);
    calls++;
}

START_TEST(levels)
{
    const char *names[] = {"error", "warn", "info", "debug"};
    lz_log_set_callback(collect, "u");
    for (int shown = 0; shown < 4; shown++) {
        ck_assert_int_eq(lz_config_set("LAZULI_LOG", names[shown]), LZ_OK);
        for (int level = 0; level < 4; level++) {
            int before = calls;
            lz_logf((lz_log_level)level, "mod", "n=%d", level);
            ck_assert_int_eq(calls - before, level <= shown);
            ck_assert_int_eq(lz_log_enabled((lz_log_level)level), level <= shown);
            if (level <= shown) {
                char want[32];
                snprintf(want, sizeof want, "u|mod|n=%d", level);
                ck_assert_str_eq(last, want);
                ck_assert_int_eq(last_level, level);
            }
        }
    }
    ck_assert_int_eq(lz_config_set("LAZULI_LOG", "loud"), LZ_EINVAL);
    ck_assert(lz_log_enabled(LZ_LOG_DEBUG)); /* unchanged */
    ck_assert_int_eq(lz_config_set("LAZULI_LOG", NULL), LZ_OK);
    ck_assert(lz_log_enabled(LZ_LOG_WARN));
    ck_assert(!lz_log_enabled(LZ_LOG_INFO));
}
END_TEST

START_TEST(once)
{
    lz_log_set_callback(collect, "");
    for (int i = 0; i < 10; i++)
        LZ_WARN_ONCE("m", "only %d", i);
    ck_assert_int_eq(calls, 1);
    ck_assert_str_eq(last, "|m|only 0");
}
END_TEST

/* Runs fn with stderr going to a pipe and gives what was written. */
static size_t capture(void (*fn)(void), char *out, size_t n)
{
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    int saved = dup(STDERR_FILENO);
    dup2(fds[1], STDERR_FILENO);
    fn();
    dup2(saved, STDERR_FILENO);
    close(fds[1]);
    ssize_t got = read(fds[0], out, n - 1);
    close(fds[0]);
    close(saved);
    out[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

static void say_short(void)
{
    errno = EDOM;
    LZ_WARN("cache", "entry %s is damaged", "x");
    lz_logf(LZ_LOG_ERROR, NULL, "no module");
    if (errno != EDOM)
        abort();
}
static void say_long(void)
{
    LZ_WARN("m", "%5000d", 1);
}
static void say_without_memory(void)
{
    lz_alloc_fail_at(1, true);
    LZ_WARN("m", "%s %d", "still", 1);
    lz_alloc_fail_at(0, false);
}

START_TEST(stderr_lines)
{
    char out[4096];
    capture(say_short, out, sizeof out);
    ck_assert_str_eq(out, "lazuli: warn: cache: entry x is damaged\nlazuli: error: ?: no module\n");
    size_t n = capture(say_long, out, sizeof out);
    ck_assert_uint_eq(n, 1023);
    ck_assert_int_eq(out[n - 1], '\n');
    ck_assert_ptr_eq(strchr(out, '\n'), out + n - 1);
    capture(say_without_memory, out, sizeof out);
    ck_assert_str_eq(out, "lazuli: warn: m: still 1\n");
}
END_TEST

static _Atomic int mixed;
static void mine(lz_log_level level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message;
    mixed += strcmp(user, "mine") != 0;
}
static void yours(lz_log_level level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message;
    mixed += strcmp(user, "yours") != 0;
}
static void *flip(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3000; i++)
        lz_log_set_callback(i & 1 ? mine : yours, i & 1 ? "mine" : "yours");
    return NULL;
}

START_TEST(callback_and_argument_stay_together)
{
    pthread_t t;
    lz_log_set_callback(mine, "mine");
    ck_assert_int_eq(pthread_create(&t, NULL, flip, NULL), 0);
    for (int i = 0; i < 3000; i++)
        LZ_WARN("m", "%d", i);
    pthread_join(t, NULL);
    ck_assert_int_eq(mixed, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("log");
    TCase *t = tcase_create("log");
    tcase_add_test(t, levels);
    tcase_add_test(t, once);
    tcase_add_test(t, stderr_lines);
    tcase_add_test(t, callback_and_argument_stay_together);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
