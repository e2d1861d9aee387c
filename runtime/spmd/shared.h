/* shared.h - what the processes of a shared device (lz_device_is_shared) settle among themselves
 * without a program: from any thread, whatever the devices do meanwhile.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_SPMD_SHARED_H
#define LZ_RUNTIME_SPMD_SHARED_H
#include "base/status.h"
#include "base/vec.h"

/* Of a process that has joined the others. */
uint32_t lz_shared_rank(void);
uint32_t lz_shared_ranks(void);
uint32_t lz_shared_rank_of(int64_t device);
const char *lz_shared_process(uint32_t rank); /* "rank 2 (node1, pid 123)" */
/* The next number of a talk, not 0: all processes take as many, in the same order. */
uint64_t lz_shared_number(void);
/* lz_talk (backends/distributed/talk.h): all tell rank 0 how it went, and something of their own;
 * it decides, and all have its result. */
typedef lz_status lz_shared_decide(void *user, lz_rd *said);
lz_status lz_shared_talk(uint64_t number, const char *about, lz_status mine, const lz_buf *said,
                         lz_shared_decide *decide, void *user);
/* ---- one talk each, with the next number ---- */

/* How it went: the same in all processes. *mild: a failure that all may go on from, if none has
 * failed otherwise; then whether that is the result. This one's own error, or another's, with its
 * name. */
lz_status lz_shared_agree(const char *about, lz_status mine, bool *mild);
/* What rank 0 has; the largest of all. */
lz_status lz_shared_first(const char *about, int64_t mine, int64_t *first);
lz_status lz_shared_max(const char *about, int64_t mine, int64_t *most);
#endif
