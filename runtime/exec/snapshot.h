/* snapshot.h - the values that many tensors of one device had at one moment between steps, whatever
 * other threads record and step meanwhile.
 * What counts. What the calling thread assigned, also what it has not stepped yet; what other
 *   threads assigned and stepped (lz_mark_step), and what ended threads left. What another thread
 *   that lives has assigned since its last step does not: the value of before does.
 * Cost. One pass over the handles under the lock that a step's write-back holds. A step that runs
 *   while the snapshot lives updates none of its tensors in place; all are let go under that lock,
 *   so that there are two such programs, not one for each set of tensors.
 * Threads: thread-compatible. */
#ifndef LZ_RUNTIME_EXEC_SNAPSHOT_H
#define LZ_RUNTIME_EXEC_SNAPSHOT_H
#include <lazuli/tensor.h>

struct lz_node;
typedef struct lz_snapshot {
    struct lz_dev *dev; /* where the values are */
    struct lz_node **nodes;
    size_t n;
    lz_rng_state rng; /* of the calling thread's default device */
} lz_snapshot;

/* Starts what is not computed. Errors: LZ_ENULL, LZ_EHANDLE, LZ_ESTALE (a value was dropped, or
 * donated by a thread that has not stepped since), a tensor's own; LZ_EINVAL (two devices),
 * LZ_EMEM; those of executing. On error *s needs no lz_snapshot_free. */
lz_status lz_snapshot_take(lz_snapshot *s, lz_tensor *const *tensors, size_t n);
/* dtype, shape and bytes of value i; each may be NULL. */
void lz_snapshot_describe(const lz_snapshot *s, size_t i, lz_dtype *dtype, lz_shape *shape,
                          size_t *nbytes);
/* Waits for value i and copies it. dst has room for it. */
lz_status lz_snapshot_read(const lz_snapshot *s, size_t i, void *dst);
void lz_snapshot_free(lz_snapshot *s);

/* What the calling thread has assigned to the tensors counts for others from now on, all of it (of
 * one device) at once, as after a step. rng, if it is not NULL, becomes the state of the calling
 * thread's default device in the same moment; lz_dev_current must have succeeded before. */
void lz_snapshot_commit(lz_tensor *const *tensors, size_t n, const lz_rng_state *rng);
#endif
