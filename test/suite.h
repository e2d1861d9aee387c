/* suite.h - runs one Check suite as the whole of a test program. */
#ifndef LZ_TEST_SUITE_H
#define LZ_TEST_SUITE_H
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

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

static inline int lz_run_suite(Suite *s)
{
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV); /* CK_VERBOSITY=silent|minimal|normal|verbose */
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif
