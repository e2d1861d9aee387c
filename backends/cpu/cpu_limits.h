/* cpu_limits.h - what the processor can do at best: multiply-adds of f32, and bytes to and from
 * memory, of all threads at once. Takes a second or two. Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_CPU_LIMITS_H
#define LZ_BACKENDS_CPU_CPU_LIMITS_H
#include "base/status.h"

typedef struct lz_cpu_limits {
    double flop_s, byte_s; /* a second */
} lz_cpu_limits;
/* LZ_EMEM */
lz_status lz_cpu_measure_limits(lz_cpu_limits *out);
#endif
