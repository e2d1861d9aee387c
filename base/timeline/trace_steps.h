/* trace_steps.h - LAZULI_TRACE_STEPS: which steps of the process a timeline has, and the events of
 * the last ones. Threads: thread-compatible. */
#ifndef LZ_BASE_TIMELINE_TRACE_STEPS_H
#define LZ_BASE_TIMELINE_TRACE_STEPS_H
#include "base/timeline/trace_file.h"
#include <stdbool.h>

/* As Python slices: "100:110" is steps 100 to 109, "100:" those from 100 on, ":50" the first 50,
 * "-20:" the last 20. Steps are counted from 0. */
typedef struct lz_trace_steps {
    int64_t first, last; /* behind the last one; INT64_MAX: all */
    uint32_t newest;     /* the last so many; 0: not asked for */
} lz_trace_steps;
/* false: it is none of these. "": all. */
bool lz_trace_steps_parse(const char *text, lz_trace_steps *out);

/* ---- the last steps: kept in memory, and written as a whole file at most once a second ---- */

typedef struct lz_ring_event {
    int64_t end_ns;
    size_t at; /* of its text */
} lz_ring_event;
typedef struct lz_timeline_ring {
    uint32_t steps; /* 0: there is no ring */
    uint64_t nbegun;
    int64_t *begun_ns; /* of the last `steps` that have ended, and of the present one */
    lz_buf text;
    LZ_VEC(lz_ring_event) events;
    char path[4096];
    bool stream; /* is no plain file: written at the end only */
    int64_t written_ns;
    lz_trace_file file;
} lz_timeline_ring;

/* As lz_outfile_begin. */
lz_status lz_timeline_ring_open(lz_timeline_ring *r, const char *path, uint32_t steps);
void lz_timeline_ring_step(lz_timeline_ring *r, int64_t now_ns); /* a step begins */
/* Where the text of an event goes that ended then. */
lz_buf *lz_timeline_ring_event(lz_timeline_ring *r, int64_t end_ns);
void lz_timeline_ring_flush(lz_timeline_ring *r, const lz_trace_totals *e);
/* As lz_outfile_end; the ring is empty. */
lz_status lz_timeline_ring_close(lz_timeline_ring *r, const lz_trace_totals *e);
void lz_timeline_ring_forget(lz_timeline_ring *r); /* empties it; nothing is written */
#endif
