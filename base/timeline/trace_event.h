/* trace_event.h - an event of a timeline for those who read it: as Chrome trace events are written
 * (JSON), and as bytes that go from the process that records it to one that makes files of it.
 * Bytes are those of any sender: what is read from them is checked, and so are names.
 * Threads: pure functions, and lz_trace_curve_dense is thread-safe. */
#ifndef LZ_BASE_TIMELINE_TRACE_EVENT_H
#define LZ_BASE_TIMELINE_TRACE_EVENT_H
#include "base/vec.h"
#include <stdatomic.h>

enum {
    LZ_TRACE_TEXT = 255, /* the longest text of an event, in bytes */
    LZ_TRACE_ARGS = 8,
    LZ_TRACE_ROWS = 1000000000 /* numbers of rows that are no threads are larger */
};

/* Not ended by NUL. */
typedef struct lz_trace_text {
    const char *at;
    uint8_t n;
} lz_trace_text;

typedef struct lz_trace_arg {
    lz_trace_text key;
    bool is_text;
    int64_t number;
    lz_trace_text text;
} lz_trace_arg;

typedef struct lz_trace_event {
    int64_t tid;            /* of the thread, or of a row */
    lz_trace_text row;      /* the thread's name, or the row's */
    lz_trace_text name;     /* texts live as long as what the event was read from */
    lz_trace_text category; /* empty: a quantity, whose value is the argument's */
    int64_t start_ns, ns;   /* lz_now_ns of the process; ns: not negative */
    uint64_t flow;          /* 0: there is no arrow */
    bool sends;
    uint32_t narg;
    lz_trace_arg arg[LZ_TRACE_ARGS];
} lz_trace_event;

/* A text of at most LZ_TRACE_TEXT bytes; longer ones are cut. NULL is "". */
lz_trace_text lz_trace_text_of(const char *s);
/* NULL: there is no such argument. */
const lz_trace_arg *lz_trace_arg_of(const lz_trace_event *e, const char *key);
bool lz_trace_text_is(lz_trace_text t, const char *s);

/* When curves had their latest points, by a hash of their names. Zero-initialise. */
typedef struct lz_trace_curves {
    _Atomic int64_t latest_ns[16];
} lz_trace_curves;
/* Whether the curve has had a point within the half millisecond before: else this one counts.
 * Curves that share a hash have fewer points each. */
bool lz_trace_curve_dense(lz_trace_curves *c, lz_trace_text name, int64_t now_ns);

/* The event as one JSON object, and its arrow as another. `next` gives where each is to be put,
 * after what is needed between two. */
void lz_trace_event_json(const lz_trace_event *e, int pid, int64_t began_ns,
                         lz_buf *(*next)(void *user), void *user);
/* The arrow alone, of which row, flow, direction and start are used. */
void lz_trace_arrow_json(lz_buf *b, const lz_trace_event *e, int pid, int64_t began_ns);
/* The name of a row or of a process ("thread_name", "process_name"), as an object. */
void lz_trace_name_json(lz_buf *b, int pid, int64_t tid, const char *what, lz_trace_text name);

/* Appends the bytes of an event. */
void lz_trace_event_put(lz_buf *b, const lz_trace_event *e);
/* The next one; its texts point into the bytes. false: there is none, or (r->failed) what is there
 * is none. Categories and keys that are read are identifiers with blanks. */
bool lz_trace_event_get(lz_rd *r, lz_trace_event *e);
#endif
