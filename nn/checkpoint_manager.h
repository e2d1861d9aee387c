/* checkpoint_manager.h - internals of the checkpoint manager: a save, from the snapshot to the
 * disk, and the queue of those that a thread writes. Threads: what the lock is for is said below;
 * the rest is the owner's. */
#ifndef LZ_NN_CHECKPOINT_MANAGER_H
#define LZ_NN_CHECKPOINT_MANAGER_H
#include "data/checkpoint_file.h"
#include "nn/state.h"
#include <lazuli/optim.h>

/* What is saved: a snapshot, or, in a queue, a copy of it. */
typedef struct lz_ckpt_job {
    struct lz_ckpt_job *next;
    int64_t step;
    uint64_t number; /* in the queue */
    lz_state state;
    lz_state_metadata metadata;
    uint32_t rank, ranks;            /* of the processes that save together; else 0, 1 */
    uint64_t talk;                   /* of these: lz_shared_number */
    uint64_t *load;                  /* [ranks]: bytes that each writes */
    LZ_VEC(lz_ckpt_part) parts;      /* those of all processes */
    LZ_VEC(lz_local_shard *) shards; /* owned; parts point into them */
    LZ_VEC(char *) whole;            /* owned: values that all have read, and this one writes */
    LZ_VEC(lz_ckpt_metric) metrics;  /* names are owned */
    char *copy;                      /* of all values; NULL: they are read from the snapshot */
    size_t room;                     /* bytes of it */
} lz_ckpt_job;
/* Takes the snapshot. talk: 0, or of several processes that save together: the number by which they
 * settle how it went. NULL: the error is recorded. */
lz_ckpt_job *lz_ckpt_job_new(int64_t step, uint64_t talk, const lz_checkpoint *c,
                             const lz_checkpoint_save_options *o);
/* Copies the values that this process writes, into *spare where that has room, and lets the
 * snapshot go. */
lz_status lz_ckpt_job_copy(lz_ckpt_job *j, char **spare, size_t *room);
lz_status lz_ckpt_job_write(lz_ckpt_job *j, const lz_ckpt_dir *d);
void lz_ckpt_job_free(lz_ckpt_job *j);

struct lz_checkpoint_manager {
    char *path; /* absolute: the program may change its folder */
    lz_checkpoint_manager_options o;
    char *best_metric;
    int64_t last;       /* the step saved, queued or restored last; -1: none */
    unsigned preempted; /* lz_preemption_count when it was made */
    int64_t asked;      /* the step of the last answer, */
    bool answer;        /* so that all that ask of one step are told the same */
    bool handles;       /* SIGTERM */
    /* the queue */
    lz_mutex lock; /* of all that follows */
    lz_cond changed;
    lz_ckpt_job *first, **end;
    int pending; /* saves that are queued or being written */
    bool stop, runs;
    uint64_t reserved; /* places so far: the number of the last save; of the caller */
    lz_error error;    /* of a save that nobody has been given yet, */
    uint64_t failed;   /* and its number */
    uint64_t told;     /* failures of saves up to this one are not given any more */
    char *spare;       /* memory of the last copy */
    size_t spare_room;
    pthread_t thread;
    char noted[LZ_CKPT_STRANGE]; /* the last strange name that was logged */
};
/* Writes it, and removes what nothing asks for any more. */
lz_status lz_ckpt_save_now(lz_checkpoint_manager *m, lz_ckpt_job *j);

/* checkpoint_queue.c */
void lz_ckpt_queue_init(lz_checkpoint_manager *m);
/* Waits until there is room; the place is the caller's then, until put or give_up. */
void lz_ckpt_queue_reserve(lz_checkpoint_manager *m);
void lz_ckpt_queue_give_up(lz_checkpoint_manager *m);
/* Copies the values of now, to be written. On error the place is given up. talk: lz_ckpt_job_new.
 */
lz_status lz_ckpt_queue_put(lz_checkpoint_manager *m, int64_t step, uint64_t talk,
                            const lz_checkpoint *c, const lz_checkpoint_save_options *o);
void lz_ckpt_queue_wait(lz_checkpoint_manager *m);
/* The error of an earlier save, once. */
lz_status lz_ckpt_queue_error(lz_checkpoint_manager *m);
/* The same where several processes save together, the same in all of them at the same call: of the
 * saves that must be done by now, since as many places were taken after them as there are. */
lz_status lz_ckpt_queue_shared_error(lz_checkpoint_manager *m);
/* Records the thread's error as that of the save whose place was taken last. */
void lz_ckpt_queue_failed(lz_checkpoint_manager *m);
void lz_ckpt_queue_end(lz_checkpoint_manager *m);
#endif
