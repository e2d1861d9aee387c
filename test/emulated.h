/* emulated.h - what QEMU's user emulation (tools/aarch64.sh) does not do as Linux does: a test of
 * that is left out there, and says so with the reason. */
#ifndef LZ_TEST_EMULATED_H
#define LZ_TEST_EMULATED_H
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool lz_test_emulated(const char *what, const char *why)
{
    if (!getenv("LZ_TEST_EMULATED"))
        return false;
    printf("left out under emulation: %s: %s\n", what, why);
    (void)fflush(stdout); /* Check forks */
    return true;
}
#endif
