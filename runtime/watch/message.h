/* message.h - what a server (runtime/watch/server.h) and those who ask it say to each other, in the
 * frames of backends/distributed/wire.h. A connection is one question: LZ_WIRE_ASK, then
 *   LZ_WIRE_STATISTICS; or
 *   LZ_WIRE_ORIGIN, LZ_WIRE_EVENTS (empty ones too, several a second), LZ_WIRE_END; or
 *   LZ_WIRE_REFUSE.
 * A server answers no other version than its own. Every field of what comes is checked.
 * Threads: pure functions. */
#ifndef LZ_RUNTIME_WATCH_MESSAGE_H
#define LZ_RUNTIME_WATCH_MESSAGE_H
#include "backends/distributed/wire.h"

enum {
    LZ_WATCH_VERSION = 1,
    LZ_WATCH_FRAME = 256 << 10,   /* about so many bytes of events are in one message */
    LZ_WATCH_LONGEST_MS = 3600000 /* of a capture */
};
typedef enum lz_watch_what {
    LZ_WATCH_STATISTICS = 1,
    LZ_WATCH_CAPTURE,
    LZ_WATCH_WHATS
} lz_watch_what;

typedef struct lz_watch_ask {
    uint32_t version;
    lz_watch_what what;
    uint32_t duration_ms; /* of a capture, from 1 on; else 0 */
} lz_watch_ask;
void lz_watch_put_ask(lz_buf *b, const lz_watch_ask *a);
/* LZ_EPARSE; of another version only that is read. */
lz_status lz_watch_get_ask(const void *p, size_t n, lz_watch_ask *out);

/* The process that a trace is of. */
typedef struct lz_watch_origin {
    uint32_t pid, rank, size; /* one of `size` processes */
    int64_t began_ns,
        began_unix_ns; /* one moment by the clock of its events, and since the epoch */
    char host[LZ_WIRE_TEXT], program[LZ_WIRE_TEXT];
} lz_watch_origin;
void lz_watch_put_origin(lz_buf *b, const lz_watch_origin *o);
lz_status lz_watch_get_origin(const void *p, size_t n, lz_watch_origin *out);

typedef struct lz_watch_end {
    int64_t ns;       /* that were captured */
    uint64_t dropped; /* events */
} lz_watch_end;
void lz_watch_put_end(lz_buf *b, const lz_watch_end *e);
lz_status lz_watch_get_end(const void *p, size_t n, lz_watch_end *out);

/* Counters of a process: STATISTIC(name). */
#define LZ_STATISTICS                                                                              \
    STATISTIC(now_ns)         /* its clock */                                                      \
    STATISTIC(cpu_ns)         /* processor time */                                                 \
    STATISTIC(steps)          /* ended */                                                          \
    STATISTIC(executions)     /* programs run */                                                   \
    STATISTIC(compilations)   /* programs compiled */                                              \
    STATISTIC(compile_ns)     /* in them */                                                        \
    STATISTIC(memory_hits)    /* graphs found in memory */                                         \
    STATISTIC(memory_misses)  /* and not */                                                        \
    STATISTIC(disk_hits)      /* programs found in the persistent cache */                         \
    STATISTIC(disk_misses)    /* and not */                                                        \
    STATISTIC(resident_bytes) /* of the process */
enum { LZ_WATCH_DEVICES = 64 };
typedef struct lz_watch_device {
    char name[32];
    uint64_t used, peak, limit; /* bytes; limit 0: none */
} lz_watch_device;
typedef struct lz_watch_statistics {
    uint32_t pid, rank, size;
    char host[LZ_WIRE_TEXT], program[LZ_WIRE_TEXT];
#define STATISTIC(name) uint64_t name;
    LZ_STATISTICS
#undef STATISTIC
    uint32_t ndevice;
    lz_watch_device device[LZ_WATCH_DEVICES];
} lz_watch_statistics;
void lz_watch_put_statistics(lz_buf *b, const lz_watch_statistics *s);
lz_status lz_watch_get_statistics(const void *p, size_t n, lz_watch_statistics *out);
#endif
