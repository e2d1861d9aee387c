/* autotune.h - autotuning (LAZULI_TUNE): chooses how a launch is run by measuring it. The cost
 * models choose code variants, tiles and splits from the sizes, and their choice is the default.
 * When an executable is made, a launch with enough work and more than one candidate configuration
 * runs each candidate on scratch memory filled with random numbers; the fastest is taken if both
 * its least and its median time are below those of the cost model's choice by LZ_TUNE_GAIN percent.
 * The choice is stored in the persistent cache and remembered by the process, so the same cache
 * gives bitwise equal results. Kernels whose addresses depend on data are left alone, since the
 * numbers are not the program's. Nothing here is an error: a launch that cannot be measured uses
 * the cost model's choice. Units: nanoseconds, bytes.
 * Threads: thread-safe; one launch is measured at a time. */
#ifndef LZ_BACKENDS_COMMON_AUTOTUNE_H
#define LZ_BACKENDS_COMMON_AUTOTUNE_H
#include "backends/backend.h"
#include "lower/plan/plan.h"

/* Deviations from the cost model's choice; all 0: none. */
typedef struct lz_choice {
    uint32_t without,
        always; /* code variants switched off and on, besides the target's (codegen/codegen.h) */
    uint32_t entry,
        parts; /* of a product on many threads (lz_simt_pick); parts 0: the model's split */
} lz_choice;
static inline bool lz_choice_is_model(lz_choice c)
{
    return !c.without && !c.always && !c.parts;
}

enum {
    LZ_TUNE_CHOICES = 32,                /* of a launch */
    LZ_TUNE_GAIN = 3,                    /* percent */
    LZ_TUNE_LONG_NS = 250000000,         /* a launch that took longer is not measured again */
    LZ_TUNE_LAUNCH_NS = 100000000,       /* of runs of one launch, about, */
    LZ_TUNE_ROUNDS = 20,                 /* at most so many of each, */
    LZ_TUNE_LEAST = 4,                   /* and at least so many of those that may win */
    LZ_TUNE_PROCESS_S = 30,              /* of a process, with compiling */
    LZ_TUNE_MEMORY = 512 << 20,          /* bytes that are taken for it */
    LZ_TUNE_VALUE = 4 * sizeof(uint32_t) /* of a stored choice */
};

/* What a device does its own way. `user` is the tuner's. */
typedef struct lz_tune_ops {
    size_t candidate_bytes; /* size of what `make` fills in; zeroed before */
    /* Everything besides the run-time sizes that decides which candidate is fastest: kernel, code,
     * threads, device. */
    void (*key)(void *user, const lz_kernel *k, lz_buf *out);
    /* The estimated time of a launch; one below worth_ns is not tuned. */
    uint64_t (*about_ns)(void *user, const lz_step *s);
    uint64_t worth_ns;
    /* The candidates besides the cost model's choice; gives their number. Cheap, and a pure
     * function of the key and the sizes: a choice read from disk must be one of these. */
    uint32_t (*choices)(void *user, const lz_kernel *k, const lz_step *s,
                        lz_choice out[LZ_TUNE_CHOICES]);
    /* Equal identities: candidates that run the same code in the same way; much cheaper than
     *   `make`. NULL: all differ. */
    lz_status (*identity)(void *user, const lz_kernel *k, const lz_step *s, lz_choice c,
                          lz_hash *out);
    /* *scratch: workspace bytes */
    lz_status (*make)(void *user, const lz_kernel *k, const lz_step *s, lz_choice c,
                      void *candidate, size_t *scratch);
    void (*drop)(void *candidate); /* NULL: nothing to do */
    lz_status (*alloc)(void *user, size_t nbytes, lz_device_buffer **out);
    lz_status (*write)(void *user, void *at, const void *src, size_t nbytes);
    /* These run on the device's queue, in turn with its programs; begin and end may be NULL.
     * Nothing of the measurement runs any more after `end`. */
    lz_status (*begin)(void *user);
    lz_status (*run)(void *user, const lz_step *s, const void *candidate, void *const *bufs,
                     void *scratch, int64_t *ns);
    void (*end)(void *user);
} lz_tune_ops;

typedef struct lz_tuner {
    const lz_tune_ops *ops;
    void *user;
    lz_queue *queue;
    lz_cache *cache;    /* NULL: choices last as long as the process */
    bool all;           /* tunes launches below worth_ns too */
    lz_exec_info *info; /* counts measurements and hits */
} lz_tuner;

/* The configuration of a launch. The calling thread waits while candidates are measured. */
lz_choice lz_tune(const lz_tuner *t, const lz_kernel *k, const lz_step *s);
/* Key and value of its cache entry (for tests). */
void lz_tune_key(const lz_tuner *t, const lz_kernel *k, const lz_step *s, lz_buf *out);
void lz_tune_value(lz_choice c, uint8_t out[LZ_TUNE_VALUE]);
void lz_tune_forget(void); /* forgets the remembered choices and the time spent (for tests) */
#endif
