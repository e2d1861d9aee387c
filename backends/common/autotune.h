/* autotune.h - measured tuning (LAZULI_TUNE): how a launch is run, chosen by what it takes.
 * Models choose forms of code, tiles and parts from the sizes; what they are sure of is left to
 * them. When an executable is made, a launch of enough work that can be run in several ways is run
 * in each on memory of its own, filled with numbers, and the fastest way is taken if both its least
 * and its median time are below the model's by LZ_TUNE_GAIN percent. The choice is stored in the
 * persistent cache and remembered by the process, so the same cache gives the same results to the
 * bit.
 * Left alone are kernels whose addresses depend on data, since the numbers are not the program's.
 * Nothing here is an error: what cannot be measured is run as the models say.
 * Units: nanoseconds, bytes. Threads: thread-safe; one launch is measured at a time. */
#ifndef LZ_BACKENDS_COMMON_AUTOTUNE_H
#define LZ_BACKENDS_COMMON_AUTOTUNE_H
#include "backends/backend.h"
#include "lower/plan/plan.h"

/* What is not as the models say; all 0: nothing. */
typedef struct lz_choice {
    uint32_t without, always; /* forms of code, besides the target's (codegen/codegen.h) */
    uint32_t entry, parts; /* of a product on many threads (lz_simt_pick); parts 0: the model's */
} lz_choice;
static inline bool lz_choice_is_model(lz_choice c)
{
    return !c.without && !c.always && !c.parts;
}

enum {
    LZ_TUNE_CHOICES = 24,                /* of a launch */
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
    size_t candidate_bytes; /* of what `make` fills in; 0 before */
    /* All that decides what is fastest besides the run-time sizes: kernel, code, threads,
     * device. */
    void (*key)(void *user, const lz_kernel *k, lz_buf *out);
    /* How long a launch takes, about; what takes less than worth_ns by that is left alone. */
    uint64_t (*about_ns)(void *user, const lz_step *s);
    uint64_t worth_ns;
    /* Ways to run it, besides the model's. Cheap, and a function of what the key is made of and the
     * sizes alone: what is read from disk is one of these. Gives their number. */
    uint32_t (*choices)(void *user, const lz_kernel *k, const lz_step *s,
                        lz_choice out[LZ_TUNE_CHOICES]);
    /* Equal for what is run in the same way; much cheaper than `make`. NULL: nothing is. */
    lz_status (*identity)(void *user, const lz_kernel *k, const lz_step *s, lz_choice c,
                          lz_hash *out);
    /* *scratch: bytes that it works in */
    lz_status (*make)(void *user, const lz_kernel *k, const lz_step *s, lz_choice c,
                      void *candidate, size_t *scratch);
    void (*drop)(void *candidate); /* NULL: nothing to do */
    lz_status (*alloc)(void *user, size_t nbytes, lz_dbuf **out);
    lz_status (*write)(void *user, void *at, const void *src, size_t nbytes);
    /* These on the device's queue, in turn with its programs; begin and end may be NULL. Nothing
     * runs any more after `end`. */
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
    bool all;           /* also what is not worth it */
    lz_exec_info *info; /* counts what happens */
} lz_tuner;

/* How the launch is to be run. The calling thread waits while it is measured. */
lz_choice lz_tune(const lz_tuner *t, const lz_kernel *k, const lz_step *s);
/* Key of its entry in the cache, and the value (tests). */
void lz_tune_key(const lz_tuner *t, const lz_kernel *k, const lz_step *s, lz_buf *out);
void lz_tune_value(lz_choice c, uint8_t out[LZ_TUNE_VALUE]);
void lz_tune_forget(void); /* what the process remembers; its time is its own again */
#endif
