/* nccl_comms.h - NCCL's communicators, one for each device of a clique, which is some devices in an
 * order: a group of a collective. A clique is made once, for all programs, and lives as long as the
 * process. Calls are grouped: what all ranks do in one collective is one group, launched from one
 * thread, and no communicator blocks.
 * A thread of its own looks at what is in flight. When a communicator reports an error, a device is
 * lost, or a collective that has begun on its first device is not over within
 * LAZULI_COLLECTIVE_TIMEOUT, all communicators are aborted, which ends what waits on the devices;
 * every job in flight that used one fails with that error, and the next job makes new ones.
 * Threads: thread-safe; no two threads call NCCL at a time. */
#ifndef LZ_BACKENDS_CUDA_NCCL_COMMS_H
#define LZ_BACKENDS_CUDA_NCCL_COMMS_H
#include "backends/cuda/cuda_exec.h"
#include "backends/cuda/nccl.h"

typedef struct cuda_clique cuda_clique;

/* The clique of these devices, whose communicators are made if they are not there. *out NULL, with
 * LZ_OK: there is no NCCL, or it cannot make them, which is logged and final. */
lz_status cuda_clique_get(const uint32_t *member, uint32_t n, cuda_clique **out);

/* The communicator of a clique's member. */
nccl_comm cuda_clique_comm(const cuda_clique *c, uint32_t place);

/* Calls fn between ncclGroupStart and ncclGroupEnd, and comes back when the work of all ranks is on
 * the streams. with: whose communicators fn uses; sig: what they do, for messages. An error of fn
 * aborts, since ranks may be missing. On the queue that launches programs of several devices. */
lz_status cuda_nccl_group(cuda_team *t, const lz_sig *sig, cuda_clique *const *with, uint32_t n,
                          lz_status (*fn)(const void *), const void *arg);
/* A result of a call in a group as a status. */
lz_status cuda_nccl_called(int result, nccl_comm comm, const char *what);
/* Whether the communicators that the job used are still those that were there when it did; of a job
 * whose devices are done. */
lz_status cuda_nccl_check(const cuda_job *j);
#endif
