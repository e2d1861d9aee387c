/* graph_dump.h - graphs as text: XLA_SAVE_TENSORS_FILE, XLA_METRICS_FILE, lz_dump_graph. Threads:
 * thread-safe. */
#ifndef LZ_RUNTIME_DEBUG_GRAPH_DUMP_H
#define LZ_RUNTIME_DEBUG_GRAPH_DUMP_H
#include "runtime/exec/program.h"

/* XLA_SAVE_TENSORS_FILE or XLA_METRICS_FILE is set */
bool lz_dump_on(void);
/* appends the graph to XLA_SAVE_TENSORS_FILE */
void lz_dump_sync(const lz_capture *c, const lz_program *p);
/* appends the report to XLA_METRICS_FILE */
void lz_dump_step(void);
/* The calling stack, one frame a line, innermost first; the public call's place is the first.
 * indent before each. At most max frames. */
void lz_dump_frames(lz_buf *out, const char *indent, int max);
#endif
