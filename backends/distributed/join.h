/* join.h - how the processes of a job find each other: rank 0 listens, the others tell it where
 * they do, and get the table of all; then any two are connected. No step waits longer than
 * LAZULI_COLLECTIVE_TIMEOUT for all of it.
 * Threads: one call in the process. */
#ifndef LZ_BACKENDS_DISTRIBUTED_JOIN_H
#define LZ_BACKENDS_DISTRIBUTED_JOIN_H
#include "backends/distributed/launcher.h"
#include "backends/distributed/net.h"

typedef struct lz_join {
    uint32_t size, transport; /* LZ_TRANSPORT_SOCKETS, .. */
    lz_wire_hello *all;       /* [size] */
    int *fd;                  /* [size]: to each; -1 of this process */
} lz_join;

/* On failure everything is closed. Errors: LZ_ETIMEOUT names the ranks that are missing, LZ_EINVAL
 * what does not fit; LZ_EUNAVAILABLE, LZ_EIO, LZ_EMEM. */
lz_status lz_join_all(const lz_process_info *p, uint32_t ndevice, lz_join *out);
void lz_join_free(lz_join *j);
/* Nanoseconds of LAZULI_COLLECTIVE_TIMEOUT; INT64_MAX / 2 where it is 0. */
int64_t lz_join_limit(void);
/* Why, after a join, it is none but sockets. */
void lz_join_why_sockets(char *text, size_t n);
#endif
