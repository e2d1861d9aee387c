/* collective_stream.h - collectives of a device that go on while it computes (the communication
 * stream of NCCL and PyTorch). A thread comes to them one after the other, in the order in which
 * they were started, which is that of the program on every device: for whoever meets it there, the
 * device is in one collective at a time, as without a stream. The job that starts some waits for
 * all of them before it ends, so buffers that a transport may still touch are those of a job.
 * After one that fails, those behind it fail with its error, and nobody comes to them.
 * Threads: one job at a time uses a stream. */
#ifndef LZ_BACKENDS_COMMON_COLLECTIVE_STREAM_H
#define LZ_BACKENDS_COMMON_COLLECTIVE_STREAM_H
#include "lower/plan/plan_exec.h"

typedef struct lz_collective_stream lz_collective_stream;
/* name: of its thread, which the first start begins. NULL: LZ_EMEM. */
lz_collective_stream *lz_collective_stream_new(const char *name);
void lz_collective_stream_free(lz_collective_stream *s); /* NULL is fine */
/* Comes to c with fn(user, ..) as soon as all before are over; bufs stay as they are until then.
 * reached: lz_plan_meet. Errors: LZ_EMEM (no thread); one before that failed is not asked for. */
lz_status lz_collective_stream_start(lz_collective_stream *s, lz_plan_meet_fn *fn, void *user,
                                     const lz_step_collective *c, const lz_site *site,
                                     void *const *bufs, uint32_t reached);
/* Waits for the last start of c. Errors: of it, or of one before. */
lz_status lz_collective_stream_done(lz_collective_stream *s, const lz_step_collective *c);
/* Waits for all. Gives UINT32_MAX, or what `reached` was at the first that failed, and its error is
 * the thread's. The stream has forgotten it afterwards. */
uint32_t lz_collective_stream_drain(lz_collective_stream *s);
/* Whether something may be on its way. NULL: nothing is. */
bool lz_collective_stream_busy(const lz_collective_stream *s);
#endif
