/* suite.h - runs one Check suite as the whole of a test program. */
#ifndef LZ_TEST_SUITE_H
#define LZ_TEST_SUITE_H
#include <check.h>
#include <stdlib.h>

static inline int lz_run_suite(Suite *s)
{
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV); /* CK_VERBOSITY=silent|minimal|normal|verbose */
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif
