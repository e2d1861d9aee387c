/* analysis.h - what PT_XLA_DEBUG prints, and a timeline notes, about a graph: why it compiled, why
 * it ran. Nothing here runs unless one of them is on. Threads: thread-safe; each block is written
 * at once. */
#ifndef LZ_RUNTIME_DEBUG_ANALYSIS_H
#define LZ_RUNTIME_DEBUG_ANALYSIS_H
#include "runtime/exec/program.h"
#include "runtime/exec/sync.h"

bool lz_analysis_on(void); /* any analysis or profiler line is wanted. Costs a load */
/* Before a graph that is not in memory is compiled. */
void lz_analysis_compilation(const lz_capture *c, lz_hash hash, uint32_t nparam, uint32_t nresult,
                             lz_sync_cause cause);
/* The same for a timeline. */
void lz_analysis_span(const lz_capture *c, lz_hash hash, uint32_t nparam, uint32_t nresult,
                      lz_sync_cause cause);
void lz_analysis_post_compilation(const lz_program *p);
void lz_analysis_execution(const lz_program *p, lz_sync_cause cause);
void lz_analysis_step(void); /* the pt-xla-profiler lines, after each step */
/* "operand 0 is f32[64,784], was f32[32,784]": the first difference between a graph and a program;
 * false when there is none worth telling. */
bool lz_analysis_difference(const lz_capture *c, const lz_program *p, char *buf, size_t n);
#endif
