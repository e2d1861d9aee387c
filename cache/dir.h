/* dir.h - where the cache lives when nobody says where. Threads: thread-safe. */
#ifndef LZ_CACHE_DIR_H
#define LZ_CACHE_DIR_H
#include "base/vec.h"

/* What the choice depends on; NULL and "" mean not given. Split from the choice so that tests can
 * give every mixture. */
typedef struct lz_dir_env {
    bool secure;              /* lz_env_is_foreign */
    bool off;                 /* LAZULI_CACHE=off */
    const char *given;        /* by the program; before everything else */
    const char *xla, *lazuli; /* XLA_PERSISTENT_CACHE_PATH, LAZULI_CACHE_DIR */
    const char *xdg, *home;   /* XDG_CACHE_HOME, HOME: only when absolute, as XDG wants it */
    const char *pw_home;      /* of the user database */
} lz_dir_env;

/* The directory's absolute path without trailing slashes into *out. LZ_EUNAVAILABLE with the reason
 * in the thread's error record when there is to be no persistent cache; LZ_EMEM. */
lz_status lz_dir_choose(const lz_dir_env *e, lz_buf *out);
/* The same for this process: options, environment, and the user database if that is needed. */
lz_status lz_dir_default(const char *given, lz_buf *out);
#endif
