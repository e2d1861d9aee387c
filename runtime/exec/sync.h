/* sync.h - computing what was traced: which nodes, in which order, through which cached program.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_EXEC_SYNC_H
#define LZ_RUNTIME_EXEC_SYNC_H
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/handle.h"

struct lz_check_run;
typedef enum lz_sync_cause {
    LZ_CAUSE_STEP,
    LZ_CAUSE_READ,
    LZ_CAUSE_SYNC,
    LZ_CAUSE_FLUSH,
    LZ_CAUSE_FUNCTION /* a function is traced, or called (lazuli/jit.h) */
} lz_sync_cause;

/* Computes the nodes that have no value yet; they keep their history, so gradients can be taken
 * later. The caller holds the nodes. */
lz_status lz_sync_nodes(lz_dev *d, lz_node *const *nodes, uint32_t n, lz_sync_cause cause,
                        bool awaited);
/* The same, not awaited, by who holds the device's lock, and ends *check without it
 * (runtime/debug/value_check.h). */
lz_status lz_sync_nodes_locked(lz_dev *d, lz_node *const *nodes, uint32_t n,
                               struct lz_check_run **check);
/* Flushes: runs the pending graph when it has too many operations or too much host data. Errors are
 *   logged as warnings. */
void lz_sync_check_limit(lz_thread_state *t);
/* The calling thread copied host data in, which a pending graph may hold: the limit is checked soon
 * when that is much. */
void lz_sync_note_data(size_t nbytes);
/* LZ_EINVAL naming the first of the program's elements that kernels must not see: booleans are one
 * byte of 0 or 1, integers of fewer bits than a byte extended. */
lz_status lz_host_data_check(lz_dtype dtype, const void *data, size_t nbytes);
/* Where on a mesh the value of a handle is or will be: its mark, or the memory it has. NULL: nobody
 * knows. */
const char *lz_mark_of(lz_tensor *x);
/* Starts computing and waits for the value of n, then copies it. dst has room for the type's
 * bytes. */
lz_status lz_read_node(lz_node *n, void *dst, lz_sync_cause cause);
#endif
