/* autocast.h - automatic mixed precision: the conversion of the operands of a public function.
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
/* The policy of a function ("lz_matmul"); NONE: not in the table. */
lz_autocast_policy lz_autocast_policy_of(const char *function);
#endif
