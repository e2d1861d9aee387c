/* preemption.h - whether the process was asked to end (SIGTERM): the handler counts, and calls the
 * one of before.
 * Threads: thread-safe. */
#ifndef LZ_NN_PREEMPTION_H
#define LZ_NN_PREEMPTION_H
#include "base/status.h"

/* Handles SIGTERM until the matching end, of which the last one puts back the handler of before,
 * unless the program has put another one in place. */
lz_status lz_preemption_begin(void);
void lz_preemption_end(void);
/* How often SIGTERM came. */
unsigned lz_preemption_count(void);
#endif
