/* env.c - see env.h. */
#include "base/env.h"
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

bool lz_env_is_foreign(void)
{
    return getauxval(AT_SECURE) != 0;
}

const char *lz_env_get(const char *name)
{
    const char *text = lz_env_is_foreign() ? NULL : secure_getenv(name);
    return text && *text ? text : NULL;
}

char *const *lz_env_all(void)
{
    static char *const none[1];
    return environ && !lz_env_is_foreign() ? environ : none;
}
