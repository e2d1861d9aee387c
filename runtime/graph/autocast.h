/* autocast.h - automatic mixed precision: what becomes of an operand of a public function.
 * Threads: state of the calling thread's record. */
#ifndef LZ_RUNTIME_GRAPH_AUTOCAST_H
#define LZ_RUNTIME_GRAPH_AUTOCAST_H
#include "runtime/graph/thread_state.h"

typedef enum lz_autocast_policy {
    LZ_AUTOCAST_NONE,
    LZ_AUTOCAST_LOW,
    LZ_AUTOCAST_F32,
    LZ_AUTOCAST_WIDEST
} lz_autocast_policy;
/* The row of a function ("lz_matmul"); NONE: there is none. */
lz_autocast_policy lz_autocast_policy_of(const char *function);
#endif
