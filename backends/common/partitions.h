/* partitions.h - runs a function on several partitions of a backend, from literals to literals: for
 * tools and tests. Threads: as the backend. */
#ifndef LZ_BACKENDS_COMMON_PARTITIONS_H
#define LZ_BACKENDS_COMMON_PARTITIONS_H
#include "backends/backend.h"

/* f is what every partition runs (lz_partition, or a text with collectives): compiled once, with
 * `cache` (may be NULL) for its kernels, and run `times` times. args[q]: the parameters of
 * partition q; a parameter that is its number is one of them. results[q]: room for those of the
 * last run, new references. uses: counts the collectives of the last run; NULL: not wanted. info:
 * of one partition; NULL: not wanted. Errors: LZ_EUNSUPPORTED (the backend runs no partitions),
 * those of compiling and running. On error every result is NULL. */
lz_status lz_run_partitions(const lz_backend *b, const lz_func *f, uint32_t n, uint64_t times,
                            lz_cache *cache, lz_literal *const *const *args, lz_literal ***results,
                            lz_collective_uses *uses, lz_exec_info *info);
#endif
