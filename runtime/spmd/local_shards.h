/* local_shards.h - the parts that devices have of a value of the trace, and values made of parts:
 * what checkpoints are written and read by.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_SPMD_LOCAL_SHARDS_H
#define LZ_RUNTIME_SPMD_LOCAL_SHARDS_H
#include "runtime/exec/snapshot.h"
#include <lazuli/dtensor.h>

/* The parts of value i of a snapshot: those of the first n devices, of all processes. *count:
 * devices; 0: it is on one device, or it is a sum that is still to be formed, so that its parts are
 * not it: it is to be read whole, and by all processes. */
lz_status lz_snapshot_shards(const lz_snapshot *s, size_t i, lz_local_shard *out, int64_t n,
                             int64_t *count);
/* Whether the thread's device is one of several processes, which all run the same program. What
 * they read of it whole they read together. */
bool lz_device_is_shared(void);
/* The elements of one of them, of this process, densely, wherever the value has been moved to
 * since. dst has room for them. Errors: lz_local_to_host's. */
lz_status lz_snapshot_read_shard(const lz_snapshot *s, size_t i, const lz_local_shard *shard,
                                 void *dst);

/* The parts that devices are to have of what is assigned to x: by its mark, else as they have of
 * its value now. *count: devices; 0: that is not known, or it is on one device. */
lz_status lz_wanted_shards(lz_tensor *x, lz_local_shard *out, int64_t n, int64_t *count);
/* A tensor of x's shape that has these parts: as of lz_load_local_shards. */
lz_tensor *lz_from_shards_like(lz_tensor *x, lz_dtype dtype, const void *const *shards,
                               const char *op, const lz_site *site);
#endif
