/* rendezvous.h - replicas: partitions of one program that run by themselves, each as jobs of its
 * own device, and meet in collectives. Who comes to one sleeps until the last member of its group
 * is there, which does the loop over the memory of all (lower/plan/plan_collective.h): results are
 * those of lock step, bit for bit.
 * A device is in one collective at a time, in the order of its queue, so the n-th of a group on one
 * device meets the n-th on every other. What would never end, ends as an error of all members:
 * other operations at the same number, groups that wait for each other, a member whose step failed
 * or whose thread has ended, and a time limit (LAZULI_COLLECTIVE_TIMEOUT).
 * A member whose job fails owes its groups one job: the others' jobs that would have met it fail,
 * too, and it waits for that, so that afterwards again equal steps meet.
 * Devices are numbered through all processes (lz_rendezvous_world). A group over several meets in
 * each of them, and these exchange what its members give (backends/common/meeting.h).
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_COMMON_RENDEZVOUS_H
#define LZ_BACKENDS_COMMON_RENDEZVOUS_H
#include "base/mutex.h"
#include "lower/plan/plan_exec.h"

enum { LZ_RENDEZVOUS_DEVICES = 1024 }; /* of all processes */

typedef struct lz_arrival lz_arrival;
typedef struct lz_rendezvous_group lz_rendezvous_group;
typedef struct lz_rendezvous_device {
    _Atomic uint32_t bell; /* changes when the device is to look again; it sleeps on it */
    /* under lock: */
    lz_arrival *at; /* where it waits; NULL: it does not */
    bool left;
    int64_t left_ns; /* since when */
} lz_rendezvous_device;

/* One for each backend whose devices meet. Zero but for LZ_RENDEZVOUS_INIT. */
typedef struct lz_rendezvous {
    const char *platform; /* "CPU" */
    lz_status (*run)(void *run, const lz_step_collective *c,
                     void *const *const *bufs); /* lz_plan_exec_ops.collective; run is NULL */
    _Atomic bool several; /* processes: others may speak of groups from now on */
    lz_mutex lock;
    /* under lock: */
    lz_rendezvous_group *groups; /* of all that have met; they stay */
    uint32_t nforeign;           /* of them: those that only other processes have named */
    uint64_t walk;               /* number of the last walk over groups */
    lz_rendezvous_device device[LZ_RENDEZVOUS_DEVICES];
} lz_rendezvous;
#define LZ_RENDEZVOUS_INIT(name, fn)                                                               \
    {                                                                                              \
        .platform = (name), .run = (fn), .lock = LZ_MUTEX_INIT("rendezvous")                       \
    }

/* How many devices the processes of the job have, and the number of the first of the `ndevice` of
 * this one, which joins the others at the first call; alone: ndevice, 0. Errors:
 * lz_processes_join's. */
lz_status lz_rendezvous_world(lz_rendezvous *r, uint32_t ndevice, uint32_t *n, uint32_t *first);
/* On the queue of a device: its part of a collective among c->who.n of them. bufs: its results,
 * then its operands. site: the program's line, for messages; may be NULL. program: the hash of what
 * all members run; NULL: each runs its own. Errors: LZ_EINVAL (what members run does not fit: both
 * are named), LZ_ESTATE (a member's thread has ended), LZ_ETIMEOUT
 * (the time is over, or a process has gone), those of another member's step, LZ_EMEM. */
lz_status lz_rendezvous_meet(lz_rendezvous *r, uint32_t device, const lz_hash *program,
                             const lz_step_collective *c, const lz_site *site, void *const *bufs);
/* On the queue of a device: a job of it has failed with err, and does not come to the collectives
 * of launches from `reached` on. */
void lz_rendezvous_miss(lz_rendezvous *r, uint32_t device, const lz_plan_exec *g, uint32_t reached,
                        const lz_error *err);
/* left: the last thread that had chosen the device has ended, and what it enqueued has run.
 * Otherwise: one has chosen it. */
void lz_rendezvous_leave(lz_rendezvous *r, uint32_t device, bool left);
#endif
