/* cuda_exec.h - between the files that make and run executables of CUDA devices: cuda_launch.c puts
 * kernels on streams, cuda_exec.c has executables and jobs of one device, cuda_team.c jobs of
 * several, cuda_collective.c what they do together. An executable of n partitions has one launch
 * list, whose records say for each of n devices where its code and its constants are.
 * Units: bytes. Threads: as backends/common/job.h. */
#ifndef LZ_BACKENDS_CUDA_CUDA_EXEC_H
#define LZ_BACKENDS_CUDA_CUDA_EXEC_H
#include "backends/cuda/cuda_device.h"
#include "backends/common/profile.h"

/* A launch list that the devices of an executable share: that of its plan, or of what a collective
 * computes. */
typedef struct cuda_program {
    lz_plan_exec *g;
    const lz_kernel_load *loads; /* per g->kernels, of the first device */
    lz_device_buffer **consts;   /* by device; NULL: none */
} cuda_program;

typedef struct cuda_collective cuda_collective;
typedef struct cuda_exec {
    lz_exec x;
    cuda_device *d;   /* the first one */
    uint32_t n;       /* devices */
    bool team;        /* partition q runs on device q */
    uint64_t scratch; /* bytes of device memory that the kernels share, one after the other */
    uint64_t staging; /* the same of collectives */
    cuda_graphs graphs;
    cuda_product *products; /* launches by a library */
    lz_profile *profile;    /* NULL: not profiled */
    lz_cache *cache;        /* while the executable is made */
    cuda_program program;
    cuda_collective **collectives; /* ncollective, by the address of their steps' records */
    uint32_t ncollective;
    struct cuda_local *locals; /* what they compute, each once */
} cuda_exec;

static inline cuda_device *cuda_exec_device(const cuda_exec *x, uint32_t q)
{
    return x->team ? cuda_device_at(q) : x->d;
}
static inline cuda_launcher *cuda_exec_launcher(const cuda_exec *x, uint32_t q)
{
    return x->team ? &cuda_device_at(q)->team : &x->d->own;
}
static inline cu_ptr cuda_address(const void *p)
{
    return (cu_ptr)(uintptr_t)p;
}

/* What a job has on one device. */
typedef struct cuda_part {
    cu_event over;          /* event behind the last kernel */
    lz_device_buffer *temp; /* temporaries, then scratch, then staging memory */
    LZ_VEC(cuda_stretch)
    times;              /* stretches put on the stream for a timeline, and not noted yet */
    int64_t begin, end; /* of the noted ones; 0: none */
} cuda_part;

typedef struct cuda_job cuda_job;
struct cuda_job {
    lz_job j;
    cuda_part *part; /* by device of the executable */
    uint64_t turn;   /* cuda_team.c */
    uint64_t nccl;   /* nccl_comms.c: which communicators it has used; 0: none */
    bool waits;      /* of a job of several devices: it has its turn, and was not launched yet */
    cuda_job *next;  /* among the jobs of several devices in flight, which are those that fly */
    bool flies;
};

typedef struct cuda_team cuda_team;
typedef struct cuda_run {
    cuda_device *d;
    cuda_launcher *l;
    uint32_t q; /* which of the executable's devices */
    cu_ptr scratch;
    bool timed;        /* measured per launch: for the table or a timeline, */
    cuda_part *part;   /* and this is the current one; NULL: for no timeline */
    uint64_t products; /* products by a library so far */
    cuda_team *team;   /* NULL: of one device, whose context is the current one */
} cuda_run;

/* Of a job that runs on several devices: on the queue of device 0. */
struct cuda_team {
    const cuda_exec *x;
    cuda_job *job;
    cuda_run *run;  /* by device */
    cu_ptr *stage;  /* by device: staging memory */
    int64_t inside; /* the device whose context is the current one; -1: none */
};

/* cuda_launch.c */
extern const lz_plan_exec_ops cuda_plan_ops;
/* Launch records and constants on all devices of a program that has been begun and whose code is
 * there. */
lz_status cuda_program_make(cuda_exec *x, cuda_program *p);
void cuda_program_end(const cuda_exec *x, cuda_program *p);
/* Everything that the job has put on the device's stream so far is complete. */
void cuda_note_times(cuda_device *d, cuda_part *p);
/* Notes a stretch of the job in the timeline, or drops it. */
void cuda_keep_time(const cuda_run *c, cuda_stretch *t);

/* cuda_exec.c */
/* Makes the launcher's temporaries large enough; a large block is freed after many jobs in a row
 * that needed far less. */
lz_status cuda_room(cuda_device *d, cuda_launcher *l, size_t need);
lz_status cuda_room_needed(const cuda_exec *x, uint64_t *scratch_at, uint64_t *staging_at,
                           uint64_t *need);

/* cuda_team.c */
lz_status cuda_team_here(const cuda_run *c); /* makes its context the current one */
void cuda_team_run(lz_job *j);               /* lz_exec_ops.run */
/* Jobs of one device come after those of several that were enqueued before: turn is taken when a
 * job is enqueued, and waited for on its queue. */
void cuda_team_take_turn(cuda_job *j);
void cuda_team_wait_turn(const cuda_job *j);
void cuda_team_over(cuda_job *j);              /* it has ended, or was refused */
bool cuda_team_flies(const lz_event *done);    /* a job of several devices in flight ends with it */
lz_status cuda_team_check(const cuda_exec *x); /* whether so many devices can run it together */

/* cuda_collective.c */
/* What the collectives of the plan need; staging memory is counted in x. */
lz_status cuda_collectives_make(cuda_exec *x, lz_cache *cache);
void cuda_collectives_free(cuda_exec *x);
/* lz_plan_exec_ops.collective: run is a cuda_team */
lz_status cuda_collective_run(void *run, const lz_step_collective *c, void *const *const *bufs);
#endif
