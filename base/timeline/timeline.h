/* timeline.h - what happened when: spans of time by thread, written as Chrome trace events (JSON
 * that Perfetto and chrome://tracing show), or handed to taps. The file grows while the trace runs:
 * a thread of ours writes what was recorded four times a second, and leaves it whole each time,
 * whatever ends the process then. While no trace runs, a hook costs one relaxed load and allocates
 * nothing. While one runs, a thread writes to memory of its own and takes a lock for its first span
 * only. A trace runs from lz_timeline_start to lz_timeline_stop, or, with LAZULI_TRACE, from the
 * first hook to the end of the process; one that is not stopped ends with the process. A forked
 * child records nothing of its parent's trace. Units: nanoseconds of lz_now_ns. Threads:
 * thread-safe. */
#ifndef LZ_BASE_TIMELINE_TIMELINE_H
#define LZ_BASE_TIMELINE_TIMELINE_H
#include "base/thread.h"
#include "base/timeline/trace_event.h"

enum { LZ_TIMELINE_EVENTS = 1 << 24 }; /* those of one trace; more are counted */

/* ---- recording ---- */

enum { LZ_SPAN_NUMBERS = 4, LZ_SPAN_TEXTS = 3 };
typedef struct lz_span_text {
    const char *key, *text;
} lz_span_text;
typedef struct lz_span {
    const char *name;                 /* copied, at most 255 bytes */
    const char *category;             /* a literal, as the keys are */
    const char *key[LZ_SPAN_NUMBERS]; /* of numbers; NULL: there is none */
    const char *text_key, *text;      /* of a text, copied as the name is; NULL: there is none */
    lz_span_text more[LZ_SPAN_TEXTS]; /* further ones */
    int64_t value[LZ_SPAN_NUMBERS];
    int64_t start_ns, ns;
    uint32_t row; /* 0: the thread's own; else one of lz_timeline_row */
    uint64_t
        flow; /* an arrow leads from the span that `sends` this number to the one that does not */
    bool sends;
} lz_span;

typedef enum lz_timeline_state {
    LZ_TIMELINE_OFF,
    LZ_TIMELINE_ASK,
    LZ_TIMELINE_ON
} lz_timeline_state;
extern _Atomic int lz_timeline_state_now;
bool lz_timeline_ask(void); /* looks at LAZULI_TRACE, once; then as lz_timeline_on */
static inline bool lz_timeline_on(void)
{
    int s = atomic_load_explicit(&lz_timeline_state_now, memory_order_relaxed);
    return __builtin_expect(s != LZ_TIMELINE_OFF, 0) && (s == LZ_TIMELINE_ON || lz_timeline_ask());
}
/* The start of a span; 0 while no trace runs. */
static inline int64_t lz_timeline_begin(void)
{
    return lz_timeline_on() ? lz_now_ns() : 0;
}
/* A whole span; nothing when the trace began after it. */
void lz_timeline_add(const lz_span *s);
/* The span that began at t0 is over: lz_timeline_end(t0, .name = "x", .category = "y"); nothing
 * when t0 is 0. */
#define lz_timeline_end(t0, ...)                                                                   \
    do {                                                                                           \
        int64_t lz_t0_ = (t0);                                                                     \
        if (__builtin_expect(lz_t0_ != 0, 0))                                                      \
            lz_timeline_add(                                                                       \
                &(lz_span){.start_ns = lz_t0_, .ns = lz_now_ns() - lz_t0_, __VA_ARGS__});          \
    } while (0)
/* The same with a time that was taken anyway. */
#define lz_timeline_note(t0, took, ...)                                                            \
    do {                                                                                           \
        if (lz_timeline_on())                                                                      \
            lz_timeline_add(&(lz_span){.start_ns = (t0), .ns = (took), __VA_ARGS__});              \
    } while (0)
/* A row for what runs on no thread, such as a device's kernels; the same one for the same name. 0
 * when there are too many. */
uint32_t lz_timeline_row(const char *name);

uint64_t lz_timeline_flow(void); /* a new number for an arrow; not 0 */
/* A quantity in bytes as it is from now on, a curve of its own. */
void lz_timeline_quantity(const char *name, int64_t nbytes);
void lz_timeline_count(const char *name, int64_t n); /* the same of things that are counted */

/* The program's own spans: nested, of the calling thread. Pairs are counted without a trace too, so
 * one may start or stop between. step: negative: none. LZ_ESTATE: none is open. */
void lz_timeline_open(const char *name, int64_t step);
lz_status lz_timeline_close(void);

/* ---- steps: LAZULI_TRACE_STEPS ---- */

extern _Atomic bool lz_timeline_steps_matter;
/* Whether lz_timeline_step wants to hear of the end of each step. */
static inline bool lz_timeline_counts_steps(void)
{
    return __builtin_expect(atomic_load_explicit(&lz_timeline_steps_matter, memory_order_relaxed),
                            0);
}
/* A step of the process ends. true: it was the last one of the trace: lz_timeline_steps_over, when
 * what it started has run. */
bool lz_timeline_step(void);
void lz_timeline_steps_over(void);

/* ---- a trace ---- */

/* LZ_ESTATE: one runs. Else as lz_outfile_begin: the file cannot be written. */
lz_status lz_timeline_start(const char *path, uint64_t limit);
/* Ends the file. LZ_ESTATE: none runs, or it is LAZULI_TRACE's. Else as lz_outfile_end, or
 * LZ_EMEM: the file is not there. */
lz_status lz_timeline_stop(void);
/* ---- taps: who wants the events of a running program, whether it traces itself or not ---- */

enum { LZ_TIMELINE_TAPS = 4 };
typedef struct lz_timeline_tap {
    /* An event that began after the tap. Called in any order of time, under a lock, in the thread
     * that writes: it does not wait, nor call what records. */
    void (*event)(const lz_trace_event *e, void *user);
    void *user;
    int64_t began_ns, began_wall_ns; /* set by lz_timeline_tap_on */
    uint64_t first_flow;             /* arrows before it are not seen */
    uint64_t missed; /* after lz_timeline_tap_off: events that there was no memory for */
} lz_timeline_tap;
/* Four times a second the tap gets what was recorded. The program's own traces are as without it;
 * in a forked child there is no tap. LZ_EUNAVAILABLE: there are LZ_TIMELINE_TAPS already. */
lz_status lz_timeline_tap_on(lz_timeline_tap *t);
/* The tap gets the rest now, and nothing after that. */
void lz_timeline_tap_off(lz_timeline_tap *t);

/* Calls fn whenever a trace or a tap is about to stop, while it still records: for spans that are
 * known later. For good; at most a few. */
void lz_timeline_before_stop(void (*fn)(void));
#endif
