/* analysis.h - what PT_XLA_DEBUG prints, and a timeline notes, about a graph: why it compiled, why
 * it ran. Nothing here runs unless one of them is on. Threads: thread-safe; each block is written
 * at once. */
#ifndef LZ_RUNTIME_DEBUG_ANALYSIS_H
#define LZ_RUNTIME_DEBUG_ANALYSIS_H
#include "runtime/debug/difference.h"
#include "runtime/debug/metrics.h"
#include "runtime/exec/sync.h"

/* A graph that is not in memory. */
typedef struct lz_new_graph {
    lz_sync_cause cause;
    lz_hash hash;
    uint32_t nparam, nresult;
    const char *name; /* of the thread's graphs; NULL: none */
    lz_difference why;
} lz_new_graph;

bool lz_analysis_on(void); /* any analysis or profiler line is wanted. Costs a load */
/* PT_XLA_DEBUG_FILE is for events (events.h), and not for these texts. */
bool lz_analysis_file_is_json(const char *path);
/* Finds out in what way the graph is new, and notes it on the timeline. */
void lz_analysis_new_graph(const lz_capture *c, lz_hash hash, uint32_t nparam, uint32_t nresult,
                           lz_sync_cause cause, lz_new_graph *out);
void lz_analysis_compilation(const lz_new_graph *g);                /* before it is compiled */
void lz_analysis_cache(const lz_new_graph *g, const lz_program *p); /* it was found on disk */
void lz_analysis_post_compilation(const lz_program *p);
void lz_analysis_execution(const lz_program *p, lz_sync_cause cause);
void lz_analysis_step(void); /* the pt-xla-profiler lines, after each step */
/* For these lines: something that the metric counts took so long, at a call of the program's (NULL:
 * unknown). Nothing unless they are on. */
void lz_analysis_took(lz_metric_id id, const lz_site *site, double ns);
#endif
