/* events.h - PT_XLA_DEBUG_FILE=NAME.jsonl: what the engine did, one JSON object a line:
 * compilations, executions, reads, and look-ups of programs. docs/reference/events.md says what the
 * fields are, docs/reference/events.schema.json how they look. Each line is one write to a file
 * opened for appending, so that several processes may share it, and one that is killed leaves whole
 * lines. While it is off a hook costs a load.
 * Threads: thread-safe. Units: nanoseconds here, milliseconds in the file. */
#ifndef LZ_RUNTIME_DEBUG_EVENTS_H
#define LZ_RUNTIME_DEBUG_EVENTS_H
#include "runtime/debug/analysis.h"

enum { LZ_EVENTS_VERSION = 1 };

extern _Atomic int lz_events_state; /* 0: nobody has looked yet; 1: off; 2: on */
bool lz_events_ask(void);
static inline bool lz_events_on(void)
{
    int s = atomic_load_explicit(&lz_events_state, memory_order_relaxed);
    return __builtin_expect(s != 1, 0) && (s == 2 || lz_events_ask());
}
/* The time, where anybody wants to know it; else 0. */
static inline int64_t lz_events_now(void)
{
    return lz_events_on() ? lz_now_ns() : 0;
}

typedef struct lz_step_times {
    int64_t trace_ns, hash_ns; /* walking the graph, hashing its key */
} lz_step_times;
/* What is known of how the program of a graph is found, for texts and events. Zero-initialise. */
typedef struct lz_watch {
    lz_sync_cause cause;
    lz_program_watch program;
    lz_new_graph *graph; /* of one that is not in memory; NULL: it is, or there was no memory */
    lz_step_times times;
} lz_watch;
/* For lz_program_get; NULL: nobody asks. */
lz_program_watch *lz_watch_start(lz_watch *w, lz_sync_cause cause);
void lz_watch_found(const lz_watch *w, const lz_program *p, lz_found found);
/* The program is there: tells how, where anybody asked. */
static inline void lz_watch_tell(const lz_watch *w, const lz_program *p, lz_found found)
{
    if (__builtin_expect(w->program.user != NULL, 0))
        lz_watch_found(w, p, found);
}
static inline void lz_watch_end(const lz_watch *w)
{
    lz_free(w->graph);
}

/* An execution that is being started: written when it is seen to be finished. */
typedef struct lz_execution_event lz_execution_event;
/* NULL: there is no memory. */
lz_execution_event *lz_execution_event_new(const lz_watch *w, const lz_program *p, lz_found found,
                                           const char *device);
/* NULL: nobody asks, or there is no memory. */
static inline lz_execution_event *lz_events_execution(const lz_watch *w, const lz_program *p,
                                                      lz_found found, const char *device)
{
    return lz_events_on() ? lz_execution_event_new(w, p, found, device) : NULL;
}
/* The same of a call, whose program is at hand. */
static inline lz_execution_event *lz_events_call(const lz_program *p, const char *device)
{
    return lz_events_on() ? lz_execution_event_new(&(lz_watch){.cause = LZ_CAUSE_FUNCTION}, p,
                                                   LZ_FOUND_MEMORY, device)
                          : NULL;
}
/* Writes and frees it. launched_ns: when it was given to the device. e NULL: nothing. */
void lz_events_executed(lz_execution_event *e, int64_t launched_ns, const lz_event *done,
                        const lz_error *error);
void lz_events_drop(lz_execution_event *e); /* it was not started */

typedef struct lz_read_event {
    const char *device;
    size_t nbytes;
    int64_t start_ns; /* lz_events_now; 0: nothing is written */
    bool computed;    /* what was recorded was run for it */
} lz_read_event;
/* A read that ends now. */
void lz_events_read(const lz_read_event *r);
#endif
