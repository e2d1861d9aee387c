/* live_report.h - what holds device memory: live tensors by the call that made them, what graphs
 * that were not stepped hold, and the rest. Threads: thread-safe; other threads may go on
 * meanwhile, then the sums are of about the same moment. */
#ifndef LZ_RUNTIME_EXEC_LIVE_REPORT_H
#define LZ_RUNTIME_EXEC_LIVE_REPORT_H
#include "base/vec.h"
#include "base/status.h"

lz_status lz_live_print(lz_buf *out); /* LZ_EMEM */
/* "; most is held by 3 tensors made at net.c:7 (276480000 bytes)": adds to the thread's error that
 * there is no device memory. */
void lz_live_annotate(void);
/* With LAZULI_LEAKS: the report goes to stderr when the process ends. Called once, when the first
 * device is made. */
void lz_live_at_exit(void);
#endif
