/* profile_report.h - where the time of a process went: launches of kernels by step of a program, by
 * operation, by name scope and by source line, beside what the machine can do; and what the threads
 * that step did. Text and JSON. Threads: thread-safe. */
#ifndef LZ_RUNTIME_DEBUG_PROFILE_REPORT_H
#define LZ_RUNTIME_DEBUG_PROFILE_REPORT_H
#include "backends/cpu/cpu_limits.h"
#include "base/vec.h"

/* What this machine's processor can do at best, measured once and kept in the cache folder; zeros
 * where that is not known: for other devices. */
lz_cpu_limits lz_profile_limits(void);
lz_status lz_profile_print(lz_buf *out, bool json); /* LZ_EMEM */
/* With LAZULI_PROFILE_REPORT: sums begin, and the report is written when the process ends. Called
 * once, when the first device is made. */
void lz_profile_at_exit(void);
#endif
