/* compile_check.h - what may run while lz_compile (runtime/region/compile.c) is active: held to one
 * graph, and to a number of different ones over all calls. Graphs are told apart as programs in
 * memory are, by the hash of their key. Threads: what is active is the calling thread's. */
#ifndef LZ_RUNTIME_EXEC_COMPILE_CHECK_H
#define LZ_RUNTIME_EXEC_COMPILE_CHECK_H
#include "runtime/exec/capture.h"
#include "runtime/exec/sync.h"

/* What all calls for a function have run. For ever. */
typedef struct lz_compiled {
    struct lz_compiled *next;
    void (*fn)(void *user);
    LZ_VEC(lz_hash) seen;
} lz_compiled;

typedef struct lz_compiling {
    lz_compiled *f;
    const char *name;
    bool full_graph, leaving; /* leaving: fn has returned */
    int64_t most;
    lz_error error; /* the first thing that was not allowed */
} lz_compiling;
extern _Thread_local lz_compiling *lz_compiling_now; /* NULL: none is active */

lz_status lz_compiling_check(lz_compiling *k, const lz_capture *c, lz_sync_cause cause);
/* Whether the finished capture may run; c NULL: a traced function. LZ_ESTATE: it may not. */
static inline lz_status lz_compile_check(const lz_capture *c, lz_sync_cause cause)
{
    lz_compiling *k = lz_compiling_now;
    return __builtin_expect(k != NULL, 0) ? lz_compiling_check(k, c, cause) : LZ_OK;
}
#endif
