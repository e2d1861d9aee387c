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

/* ---- on the devices of several processes (partitions_far.c) ---- */

/* Partitions of this process: `nlocal` from number `first` on, each on the device of its number
 * among those of all processes. */
typedef struct lz_far_partitions {
    uint32_t n, first, nlocal;
} lz_far_partitions;
/* Joins the other processes, which have come to run as many: each has its share, those of lower
 * rank one more, and where there are fewer than processes the last ones have none. Before the
 * devices of the backend are started, whose number it sets. Errors: LZ_EUNSUPPORTED (the devices of
 * several processes do not meet), LZ_ERANGE, LZ_ETIMEOUT naming who is missing. */
lz_status lz_far_partitions_join(const lz_backend *b, uint32_t n, lz_far_partitions *out);
/* lz_run_partitions of this process's; args[l], results[l]: of the one of number first + l. Called
 * by all processes, to which numbers `talk` and talk + 1 are for (lz_talk); who fails is named in
 * all of them. */
lz_status lz_run_far_partitions(const lz_backend *b, const lz_func *f, const lz_far_partitions *who,
                                uint64_t times, uint64_t talk, lz_literal *const *const *args,
                                lz_literal ***results, lz_collective_uses *uses);
/* Gives the process that has partition 0 results of others: results[p][k] where wanted(user, p, k)
 * says so, which is the same in all processes. results: of all n partitions; those of other
 * processes are NULL, but in the process that has partition 0. Types are those of f's results.
 * Called by all processes, to which numbers from `talk` on are for; who fails is named in all. */
lz_status lz_gather_far_partitions(const lz_backend *b, const lz_func *f,
                                   const lz_far_partitions *who, uint64_t talk,
                                   bool (*wanted)(const void *user, uint32_t p, uint32_t k),
                                   const void *user, lz_literal ***results);
#endif
