/* compile_check.c - see compile_check.h. */
#include "runtime/exec/compile_check.h"
#include "runtime/debug/difference.h"
#include <inttypes.h>

_Thread_local lz_compiling *lz_compiling_now;

static lz_mutex lock = LZ_MUTEX_INIT("compile_check"); /* lists of graphs */

static const char *what_runs(lz_sync_cause c)
{
    return c == LZ_CAUSE_STEP    ? "a step"
           : c == LZ_CAUSE_READ  ? "a read of what was not computed"
           : c == LZ_CAUSE_SYNC  ? "lz_sync"
           : c == LZ_CAUSE_FLUSH ? "too many pending operations"
                                 : "a call of a traced function";
}

static bool has_seen(const lz_compiled *f, lz_hash hash)
{
    for (uint32_t i = 0; i < f->seen.len; i++)
        if (lz_hash_eq(f->seen.data[i], hash))
            return true;
    return false;
}

/* Under the lock: other threads' calls for the same function lengthen the list. *d: of one more
 * than may be. */
static lz_status note_graph(const lz_compiling *k, const lz_capture *c, bool *full,
                            lz_difference *d)
{
    *full = false;
    if (has_seen(k->f, c->hash))
        return LZ_OK;
    *full = k->f->seen.len >= (uint64_t)k->most;
    if (!*full)
        return lz_vec_push(&k->f->seen, c->hash);
    lz_difference_among(c, k->f->seen.data, k->f->seen.len, d);
    return LZ_OK;
}

static lz_status check_number(const lz_compiling *k, const lz_capture *c)
{
    bool full;
    lz_difference d;
    lz_mutex_lock(&lock);
    lz_status s = note_graph(k, c, &full, &d);
    lz_mutex_unlock(&lock);
    if (s != LZ_OK || !full)
        return s;
    return LZ_FAIL(LZ_ESTATE,
                   "Maximum number of different graphs allowed per function exceeded: %" PRId64
                   " (%s): %s",
                   k->most, k->name, d.text);
}

lz_status lz_compiling_check(lz_compiling *k, const lz_capture *c, lz_sync_cause cause)
{
    lz_status s = LZ_OK;
    if (k->full_graph && !k->leaving)
        s = LZ_FAIL(LZ_ESTATE, "Unexpected execution happens inside the compiled function %s: %s",
                    k->name, what_runs(cause));
    else if (k->most && c)
        s = check_number(k, c);
    if (s != LZ_OK && k->error.status == LZ_OK)
        k->error = *lz_error_get();
    return cause == LZ_CAUSE_FLUSH ? LZ_OK : s; /* else more and more would be pending */
}
