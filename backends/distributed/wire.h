/* wire.h - what processes say to each other: frames of a header and a payload, little-endian, and
 * the messages of control in them. Whatever comes is checked: a frame has a known type and a
 * bounded length, a message has just its bytes, its texts are printable, its numbers in range.
 * Threads: pure functions. */
#ifndef LZ_BACKENDS_DISTRIBUTED_WIRE_H
#define LZ_BACKENDS_DISTRIBUTED_WIRE_H
#include "base/hash.h"
#include "base/status.h"
#include "base/vec.h"

typedef enum lz_wire_type {
    LZ_WIRE_HELLO = 1, /* who one is */
    LZ_WIRE_TABLE,     /* who all are */
    LZ_WIRE_REFUSE,    /* why there will be no table */
    LZ_WIRE_READY,     /* tag: whether the transport has started here */
    LZ_WIRE_DECIDE,    /* tag: the transport of all */
    LZ_WIRE_BEAT,      /* heartbeat */
    LZ_WIRE_ARRIVE,    /* the members of this process are at a collective */
    LZ_WIRE_MISS,      /* one will not come */
    LZ_WIRE_BYE,       /* the process ends */
    LZ_WIRE_BYE_SEEN,  /* all before it has been read */
    LZ_WIRE_DATA,      /* tag: of the receive that waits for it */
    /* of a server that is asked about its process (runtime/watch/message.h): */
    LZ_WIRE_ASK,        /* what for */
    LZ_WIRE_ORIGIN,     /* who answers, and when its events begin */
    LZ_WIRE_EVENTS,     /* some */
    LZ_WIRE_END,        /* there are no more */
    LZ_WIRE_STATISTICS, /* its counters */
    LZ_WIRE_NOTE,       /* a piece of what is said outside of collectives (talk.h) */
    LZ_WIRE_ADDRESS,    /* of a transport in the process; nothing: it has none */
    LZ_WIRE_TYPES
} lz_wire_type;

enum {
    LZ_WIRE_VERSION = 3,
    LZ_WIRE_HEADER = 24,       /* bytes */
    LZ_WIRE_CONTROL = 1 << 20, /* the longest payload of control */
    LZ_WIRE_TEXT = 160,        /* room for a text of a message */
    LZ_WIRE_MEMBERS = 1024,
    LZ_WIRE_PROCESSES = 1024
};

typedef struct lz_wire_header {
    lz_wire_type type;
    uint32_t tag;
    uint64_t nbytes; /* of the payload */
} lz_wire_header;
void lz_wire_put_header(uint8_t out[LZ_WIRE_HEADER], const lz_wire_header *h);
/* LZ_EPARSE */
lz_status lz_wire_get_header(const uint8_t in[LZ_WIRE_HEADER], lz_wire_header *out);

/* Parts of messages. A text is shorter than n bytes: longer ones are cut, and of what is read each
 * byte that does not print is a question mark. lz_wire_ended: the message has just these bytes. */
void lz_wire_put_text(lz_buf *b, const char *s, size_t n);
void lz_wire_get_text(lz_rd *r, char *out, size_t n);
lz_status lz_wire_ended(const lz_rd *r, const char *what);

/* A process. */
typedef struct lz_wire_hello {
    uint64_t job, machine; /* machine: equal on one host */
    uint32_t version, rank, size, ndevice, pid, port;
    uint32_t transport, offer;                      /* lz_transport_choose */
    char host[LZ_WIRE_TEXT], address[LZ_WIRE_TEXT]; /* address: as rank 0 sees it; "" from itself */
} lz_wire_hello;
void lz_wire_put_hello(lz_buf *b, const lz_wire_hello *h);
lz_status lz_wire_get_hello(const void *p, size_t n, lz_wire_hello *out);
/* out: room for `size` of them; there are just so many, in order. */
void lz_wire_put_table(lz_buf *b, const lz_wire_hello *all, uint32_t size);
lz_status lz_wire_get_table(const void *p, size_t n, lz_wire_hello *out, uint32_t size);

typedef struct lz_wire_refuse {
    lz_status status; /* one that there is, also of what came */
    char text[416];
} lz_wire_refuse;
void lz_wire_put_refuse(lz_buf *b, const lz_wire_refuse *r);
lz_status lz_wire_get_refuse(const void *p, size_t n, lz_wire_refuse *out);

/* The members of a group: ascending, different. */
typedef struct lz_wire_group {
    uint32_t n;
    uint32_t member[LZ_WIRE_MEMBERS];
} lz_wire_group;

/* Meeting `seq` of a group in its `epoch` (docs/dev/distributed.md). */
typedef struct lz_wire_arrive {
    lz_wire_group group;
    uint64_t epoch, seq;
    lz_hash digest; /* of what is run */
    uint32_t tag;   /* under which the sender receives */
    char what[LZ_WIRE_TEXT], where[LZ_WIRE_TEXT];
} lz_wire_arrive;
void lz_wire_put_arrive(lz_buf *b, const lz_wire_arrive *a);
lz_status lz_wire_get_arrive(const void *p, size_t n, lz_wire_arrive *out);

typedef struct lz_wire_miss {
    lz_wire_group group;
    uint32_t member;
    bool lost; /* the group never meets again */
    lz_status status;
    uint64_t total, epoch, seq; /* jobs of the member that have failed; where the group was then */
    char text[416];
} lz_wire_miss;
void lz_wire_put_miss(lz_buf *b, const lz_wire_miss *m);
lz_status lz_wire_get_miss(const void *p, size_t n, lz_wire_miss *out);

/* A piece of a note; the bytes are not looked at here. */
typedef struct lz_wire_note {
    uint64_t talk;
    bool last;        /* the note ends with it */
    const void *body; /* of what was read: in it */
    size_t nbody;     /* LZ_WIRE_PIECE at most */
} lz_wire_note;
enum { LZ_WIRE_PIECE = LZ_WIRE_CONTROL - 9 };
void lz_wire_put_note(lz_buf *b, const lz_wire_note *note);
lz_status lz_wire_get_note(const void *p, size_t n, lz_wire_note *out);
/* A status and the reason, which begin a note: r goes on behind them. */
void lz_wire_put_outcome(lz_buf *b, const lz_error *err);
void lz_wire_get_outcome(lz_rd *r, lz_error *out);
#endif
