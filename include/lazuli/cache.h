/* cache.h - the persistent compilation cache. On by default under $XDG_CACHE_HOME/lazuli; any
 * number of processes share it.
 * Implemented in: runtime/exec/program.c. */
#ifndef LAZULI_CACHE_H
#define LAZULI_CACHE_H
#include <lazuli/types.h>
LZ_EXTERN_C_BEGIN
/* Uses `path` (created 0700) from now on. Before the first compilation, else LZ_ESTATE "Computation
 * cache has already been initialized". */
LZ_API lz_status lz_initialize_cache(const char *path, bool readonly);
/* How many compiled graphs are in memory. */
LZ_API int64_t lz_get_num_cached_compilation_graph(void);
typedef struct lz_cache_counts {
    size_t struct_size;
    uint64_t program_hits;   /* graphs that were not in memory: found on disk */
    uint64_t program_misses; /* graphs that were not in memory: compiled */
    uint64_t kernel_hits;    /* kernels found on disk */
    uint64_t kernel_misses;  /* kernels that were not there */
    uint64_t llvm_compiles;  /* kernels given to LLVM by this process */
    uint64_t corrupt;        /* damaged entries met */
    uint64_t foreign;        /* entries met of another version or build */
    uint64_t write_fail;     /* entries that could not be written */
    uint64_t evicted;        /* entries removed to keep the size below its cap */
    double compile_ms;       /* time spent compiling, of all threads */
    uint64_t waits;          /* programs and kernels that another process was compiling */
    uint64_t mac_refused;    /* entries met without a MAC of the key (LAZULI_CACHE_KEY_FILE) */
    uint64_t code_ignored;   /* kernels that were not looked up (LAZULI_CACHE_CODE=off) */
    uint64_t system_hits;    /* programs and kernels found in a system cache */
} lz_cache_counts;
/* Copies the counts of this process; set out->struct_size first. LZ_ENULL, LZ_EINVAL. */
LZ_API lz_status lz_get_cache_counts(lz_cache_counts *out);
/* Copies the path of the cache. The needed size without NUL; 0: there is only the cache in
 * memory. */
LZ_API size_t lz_get_cache_path(char *buf, size_t n);
LZ_EXTERN_C_END
#endif
