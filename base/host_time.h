/* host_time.h - where the time of the threads that step goes, while a profile is taken: sums by
 * what they did. A hook costs one relaxed load otherwise. Units: nanoseconds of lz_now_ns. Threads:
 * thread-safe; the time of several threads adds up. */
#ifndef LZ_BASE_HOST_TIME_H
#define LZ_BASE_HOST_TIME_H
#include "base/thread.h"

/* HOST(name, "what it is") */
#define LZ_HOST_TIMES(HOST)                                                                        \
    HOST(WALK, "walk the traced graph")                                                            \
    HOST(HASH, "hash its key")                                                                     \
    HOST(LOOKUP, "find its program in memory")                                                     \
    HOST(COMPILE, "find its program on disk, or compile it")                                       \
    HOST(LAUNCH, "enqueue or launch programs")                                                     \
    HOST(RUN, "run kernels in the thread that steps")                                              \
    HOST(WAIT, "wait for the device")                                                              \
    HOST(QUEUE, "programs waited in the device's queue (meanwhile threads do other things)")

typedef enum lz_host_time_kind {
#define HOST(name, doc) LZ_HOST_##name,
    LZ_HOST_TIMES(HOST)
#undef HOST
        LZ_HOST_COUNT
} lz_host_time_kind;

extern _Atomic bool lz_host_time_is_on;
static inline bool lz_host_time_on(void)
{
    return __builtin_expect(atomic_load_explicit(&lz_host_time_is_on, memory_order_relaxed), 0);
}
/* The start of a time; 0 while none is taken. */
static inline int64_t lz_host_begin(void)
{
    return lz_host_time_on() ? lz_now_ns() : 0;
}
void lz_host_add(lz_host_time_kind k, int64_t ns); /* nothing while none is taken */
/* What began at t0 is over; nothing when t0 is 0. */
static inline void lz_host_end(lz_host_time_kind k, int64_t t0)
{
    if (__builtin_expect(t0 != 0, 0))
        lz_host_add(k, lz_now_ns() - t0);
}
/* What runs programs in this thread: kernels (lz_host_ran_kernels) are RUN, the rest is LAUNCH. */
typedef struct lz_host_launch {
    int64_t t0, kernels;
} lz_host_launch;
lz_host_launch lz_host_launch_of_thread(void);
static inline lz_host_launch lz_host_launch_begin(void)
{
    return lz_host_time_on() ? lz_host_launch_of_thread() : (lz_host_launch){0, 0};
}
void lz_host_launch_end(lz_host_launch l);
void lz_host_ran_kernels(int64_t ns); /* this thread did */
void lz_host_start(void);             /* sums begin at 0; the clock of lz_host_wall too */
int64_t lz_host_wall(void);           /* since then; 0: not started */
int64_t lz_host_sum(lz_host_time_kind k);
#endif
