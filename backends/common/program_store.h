/* program_store.h - compiled programs on disk, for all that compile by a backend: steps of the
 * tracer and programs of the PJRT plugin. One build, one key: what one has compiled the other
 * finds. Threads: thread-safe. */
#ifndef LZ_BACKENDS_COMMON_PROGRAM_STORE_H
#define LZ_BACKENDS_COMMON_PROGRAM_STORE_H
#include "backends/backend.h"
#include "backends/distributed/launcher.h"
#include "cache/lease.h"
#include "ir/module.h"

/* The persistent cache as the options say; path NULL: theirs, too. *out NULL with an error: there
 * is none. */
lz_status lz_program_store_open(const char *path, bool read_only, lz_cache **out);

/* What entries are of: lz_cache_options.build_id. */
const char *lz_program_build(void);

/* A program's key, taken apart; the rest points into it. */
typedef struct lz_program_parts {
    const char *device; /* ndevice bytes, of lz_backend.key */
    uint32_t ndevice;
    bool *donate; /* by parameter */
    lz_func *f;
    uint32_t team; /* as lz_program_key's */
} lz_program_parts;
/* Untrusted bytes. Free it with lz_program_parts_free. Errors: LZ_ECORRUPT, LZ_EMEM */
lz_status lz_program_take_apart(const void *key, size_t n, lz_program_parts *out);
void lz_program_parts_free(lz_program_parts *p);

/* Appends the key of a program, the same in every process: device (of lz_backend.key), donation by
 * parameter, the function's canonical bytes, and the team that runs it together: how many replicas,
 * or partitions of one replica and the flag, and whether their collectives go on beside compute
 * (lz_key_overlap); 0: one device alone. LZ_EMEM */
#define LZ_KEY_PARTITIONS (UINT32_C(1) << 31)
#define LZ_KEY_OVERLAP (UINT32_C(1) << 30)
static inline uint32_t lz_key_count(uint32_t team)
{
    return team & ~(LZ_KEY_PARTITIONS | LZ_KEY_OVERLAP);
}
/* The flag, where collectives of a program of several devices do (lz_collectives_overlap). */
static inline uint32_t lz_key_overlap(void)
{
    return lz_collectives_overlap() ? LZ_KEY_OVERLAP : 0;
}
lz_status lz_program_key(const lz_buf *device, const bool *donate, const lz_func *f, uint32_t team,
                         lz_buf *out);
/* What a program is compiled or loaded with for that team. */
static inline void lz_program_set_team(lz_compile_options *o, uint32_t team)
{
    o->partitions = lz_key_count(team);
    o->replicas = team && !(team & LZ_KEY_PARTITIONS);
}

typedef enum lz_program_found {
    LZ_PROGRAM_LOADED,
    LZ_PROGRAM_MISSING,
    LZ_PROGRAM_UNUSABLE /* there is an entry that does not load: why is the thread's error. It is
                           dropped, unless something else than its bytes is the cause */
} lz_program_found;
/* o->cache (NULL: missing) and o->func as for lz_backend.deserialize. While another process
 * compiles the program, this waits for it. *lease: of this process, which compiles it when it is
 * not loaded; the caller releases it (lz_cache_lease_release), whatever comes out. */
lz_program_found lz_program_load(const lz_backend *b, int device, const lz_buf *key,
                                 const lz_compile_options *o, lz_lease *lease, lz_exec **out);
/* Stores it if it can. */
void lz_program_save(const lz_backend *b, lz_exec *x, const lz_buf *key, lz_cache *cache);
#endif
