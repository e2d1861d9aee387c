/* suite.h - runs one Check suite as the whole of a test program. */
#ifndef LZ_TEST_SUITE_H
#define LZ_TEST_SUITE_H
#include <check.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Limits of a test are of processor time, which other work on the machine does not use up:
 * LZ_TEST_CPU seconds a process. Those of wall clock, which Check knows, are for tests that hang: a
 * tcase's own, ten times; the runner ends a program that does nothing much sooner. */
enum { LZ_TEST_CPU = 900 };
__attribute__((constructor)) static inline void lz_test_limits(int argc)
{
    struct rlimit r;
    const char *locale = getenv("LZ_TEST_LOCALE"); /* as a program that calls setlocale has it */
    if (locale && !setlocale(LC_ALL, locale))
        abort();
    if (argc > 1) /* by hand, for as long as it takes */
        return;
    setenv("CK_DEFAULT_TIMEOUT", "240", 0);
    setenv("CK_TIMEOUT_MULTIPLIER", "10", 0);
    if (getenv("LZ_TEST_WHOLE") || getrlimit(RLIMIT_CPU, &r) != 0 || r.rlim_cur != RLIM_INFINITY)
        return;
    r.rlim_cur = LZ_TEST_CPU;
    setrlimit(RLIMIT_CPU, &r);
}

/* Smaller random loads: asked for, or because a sanitizer that does not see what the program
 * generates makes the rest many times slower. */
static inline bool lz_test_small(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return getenv("LZ_TEST_QUICK") != NULL;
#endif
}

/* Quick loads, asked for, or because the hundredth case of what runs on one thread tells the thread
 * sanitizer nothing that the first did not. */
static inline bool lz_test_quick_alone(void)
{
#if defined(__SANITIZE_THREAD__)
    return true;
#else
    return getenv("LZ_TEST_QUICK") != NULL;
#endif
}

/* The largest loads, for a night: `make check-whole`. */
static inline bool lz_test_whole(void)
{
    return getenv("LZ_TEST_WHOLE") != NULL && !lz_test_small();
}

/* Which part of a long load this run takes. tools/runtests.sh derives it from the commit and prints
 * it; what a run leaves out comes in others, and all of it in `make check-whole`. */
static inline unsigned lz_test_seed(void)
{
    const char *s = getenv("LZ_TEST_SEED");
    return s ? (unsigned)strtoul(s, NULL, 10) : 0;
}

/* One case in `of` of a table, others with another seed; all of them for the whole load. */
static inline bool lz_test_in_turn(unsigned i, unsigned of)
{
    return lz_test_whole() || of < 2 || (i + lz_test_seed()) % of == 0;
}

/* The t-th of the n trials of a run, of so many; neighbours, so that remainders are all there. */
static inline unsigned lz_test_trial(unsigned t, unsigned n, unsigned whole)
{
    return (lz_test_seed() * n + t) % whole;
}

static inline int lz_run_suite(Suite *s)
{
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV); /* CK_VERBOSITY=silent|minimal|normal|verbose */
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif
