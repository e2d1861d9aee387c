/* env.h - the environment of the process, read in this module only (tools/lint.sh). A program that
 * runs with raised privileges (setuid, setgid, file capabilities: AT_SECURE) was started by
 * somebody else, whose environment must not decide what it runs, reads or writes: there it is
 * empty.
 * Threads: as getenv: thread-safe while nobody changes the environment. */
#ifndef LZ_BASE_ENV_H
#define LZ_BASE_ENV_H
#include <stdbool.h>

bool lz_env_is_foreign(void); /* the process runs with raised privileges */
/* NULL when the variable is not set, or empty, or foreign. */
const char *lz_env_get(const char *name);
/* All of it, for listing and for child processes: "NAME=value" strings, then NULL. */
char *const *lz_env_all(void);
#endif
