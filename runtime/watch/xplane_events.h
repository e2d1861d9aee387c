/* xplane_events.h - what an lz_xplane keeps of a trace: texts, rows, kernels and events, each text
 * and each kernel once. Used by xplane.c alone. Threads: thread-compatible. */
#ifndef LZ_RUNTIME_WATCH_XPLANE_EVENTS_H
#define LZ_RUNTIME_WATCH_XPLANE_EVENTS_H
#include "base/hash.h"
#include "runtime/watch/xplane.h"

/* Texts and kernels are numbered from 1, as identifiers of metadata have to be. */
typedef struct lz_xtext {
    size_t at; /* in `chars` */
    uint32_t n;
    bool is_name, is_stat; /* of an event, or of a statistic, of the host */
} lz_xtext;
typedef struct lz_xkernel {
    uint32_t name, operation, scope, source, hash; /* texts; 0: unknown */
    int64_t flops, bytes;
} lz_xkernel;
typedef struct lz_xrow {
    int64_t tid;
    uint32_t name;   /* the latest */
    uint32_t device; /* text: whose row it is; 0: it is a thread */
    uint32_t nevent;
} lz_xrow;
typedef enum lz_xkind { LZ_XKIND_OTHER, LZ_XKIND_KERNEL, LZ_XKIND_PROGRAM, LZ_XKIND_STEP } lz_xkind;
typedef struct lz_xevent {
    int64_t start_ns, ns; /* start: since the beginning */
    uint32_t row, name;
    uint32_t what;    /* a kernel; the text of a program's label */
    uint32_t ordinal; /* of a program's device */
    int64_t step;
    size_t stats_at; /* in `stats`: fields of XEvent */
    uint32_t nstats;
    lz_xkind kind;
} lz_xevent;

struct lz_xplane {
    char host[256];
    int64_t began_ns, began_unix_ns;
    lz_buf chars, stats, scratch;
    LZ_VEC(lz_xtext) texts;
    LZ_VEC(lz_xkernel) kernels;
    LZ_VEC(lz_xrow) rows;
    LZ_VEC(lz_xevent) events;
    lz_map text_ids, kernel_ids, row_ids; /* of their numbers */
};

/* The number of a text. LZ_EMEM. */
lz_status lz_xplane_text(lz_xplane *x, const char *s, size_t n, uint32_t *id);
#endif
