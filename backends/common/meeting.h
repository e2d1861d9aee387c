/* meeting.h - a collective of a group whose members are in several processes. When those of this
 * process are all there, one of them tells the other processes what it runs (LZ_WIRE_ARRIVE) and
 * under which tag it receives; when all have said the same, operands are exchanged, and each
 * process makes the results of its members (exchange.h). So nothing is sent that nobody waits for.
 * How it ends where not all come:
 *  - a member's job has failed before (LZ_WIRE_MISS), or processes run different operations: all
 *    processes see it, all members fail, and afterwards equal steps meet again, as within a
 * process;
 *  - a process does not answer in time, has ended or was killed, or leaves when operands are
 * already on their way: then some members may have their results and others not, so the group is
 * lost: it never meets again, and every further collective of it fails at once. Threads: those
 * under the rendezvous' lock are called with it. */
#ifndef LZ_BACKENDS_COMMON_MEETING_H
#define LZ_BACKENDS_COMMON_MEETING_H
#include "backends/common/rendezvous_impl.h"

/* lz_rendezvous_world's. */
lz_status lz_meeting_join(lz_rendezvous *r, uint32_t ndevice, uint32_t *n, uint32_t *first);
/* Under lock: a new group: nlocal, and far where it has members elsewhere. LZ_EMEM. */
lz_status lz_meeting_new_group(lz_rendezvous_group *g);
/* Under lock: breaks the group up where a member of another process will not come to its next
 * meeting. */
void lz_meeting_note_missing(lz_rendezvous *r, lz_rendezvous_group *g);
/* Under lock: whether a process that has members is not there any more, with LZ_ETIMEOUT. */
bool lz_meeting_deserted(const lz_rendezvous *r, const lz_rendezvous_group *g);
/* Under lock: member i, of this process, owes a job more; the other processes are told. */
void lz_meeting_owe(lz_rendezvous_group *g, uint32_t i, const lz_error *err);
/* Without lock, by one of the members, which are all there: bufs[i] are those of m->member[i], NULL
 * of another process's. *lost: as above. Errors: LZ_EINVAL (the operations do not fit), LZ_ETIMEOUT
 * (names the process), those of another member's step, LZ_EMEM. */
lz_status lz_meeting_run(lz_rendezvous *r, lz_rendezvous_group *g, const lz_step_collective *c,
                         const lz_meeters *m, void *const *const *bufs, bool *lost);
#endif
