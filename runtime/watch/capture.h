/* capture.h - the events of this process from now on, as bytes in pieces (lz_trace_event_put) that
 * somebody takes several times a second. Memory is bounded: what is not taken in time is dropped
 * and counted. Curves, such as the memory in use, have a point in half a millisecond at most.
 * Threads: thread-compatible; events come in from the timeline's. */
#ifndef LZ_RUNTIME_WATCH_CAPTURE_H
#define LZ_RUNTIME_WATCH_CAPTURE_H
#include "base/mutex.h"
#include "base/timeline/timeline.h"
#include "runtime/watch/message.h"

enum { LZ_CAPTURE_BYTES = 32 << 20 }; /* that wait to be taken */
typedef struct lz_watch_capture {
    lz_timeline_tap tap;
    lz_mutex lock;
    lz_buf bytes;           /* whole events; */
    LZ_VEC(size_t) pieces;  /* where pieces end, but the last */
    lz_trace_curves curves; /* of what is taken, where a file gets them whole */
    uint64_t dropped;
} lz_watch_capture;

/* As lz_timeline_tap_on. The struct stays where it is until lz_watch_capture_end. */
lz_status lz_watch_capture_begin(lz_watch_capture *c);
void lz_watch_capture_origin(const lz_watch_capture *c, lz_watch_origin *out);
/* Calls fn with each piece that is there, of about LZ_WATCH_FRAME bytes, until it fails. Whatever
 * it says, they are gone. */
lz_status lz_watch_capture_take(lz_watch_capture *c,
                                lz_status (*fn)(const void *p, size_t n, void *user), void *user);
/* Nothing is added from now on; what is there can still be taken. */
void lz_watch_capture_stop(lz_watch_capture *c);
/* After lz_watch_capture_stop: events that are missing. */
uint64_t lz_watch_capture_dropped(const lz_watch_capture *c);
void lz_watch_capture_end(lz_watch_capture *c); /* likewise */
#endif
