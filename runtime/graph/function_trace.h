/* function_trace.h - what a function that is being recorded (lz_function_trace) takes from outside
 * and leaves there. A tensor from outside is keyed by its handle and not by its value: inside, a
 * placeholder stands for it from its first use on, so that each call reads its value of then.
 * Gradients (lz_grad_of) and random numbers are alike, and so is what objects do on the host.
 * Threads: belongs to the thread that runs the callback. */
#ifndef LZ_RUNTIME_GRAPH_FUNCTION_TRACE_H
#define LZ_RUNTIME_GRAPH_FUNCTION_TRACE_H
#include "base/hash.h"
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/host_event.h"
#include "runtime/graph/recording.h"

typedef enum lz_source_kind {
    LZ_SOURCE_HANDLE, /* the value of a tensor */
    LZ_SOURCE_GRAD,   /* the value of a tensor's gradient */
    LZ_SOURCE_EVENT   /* what an event gives: a number, a state of the random stream */
} lz_source_kind;

/* What a placeholder stands for. */
typedef struct lz_source {
    lz_source_kind kind;
    uint32_t event;
    uint64_t handle; /* retained; of the tensor that has the gradient; 0: of an event */
    lz_node *node;   /* the placeholder, owned */
} lz_source;

typedef enum lz_event_kind {
    LZ_EVENT_ACTION,
    LZ_EVENT_NUMBER,
    LZ_EVENT_DRAW, /* advances the device's stream, and gives its state of before */
    LZ_EVENT_SEED  /* sets the stream's state */
} lz_event_kind;

typedef struct lz_host_event {
    lz_event_kind kind;
    lz_host *host; /* owned; NULL: of the stream */
    lz_host_action action;
    lz_host_number_fn number;
    void *data; /* owned */
    size_t ndata;
    const lz_type *type; /* of what it gives */
    lz_dev *dev;         /* the stream's */
    uint64_t blocks;
    lz_rng seed;
} lz_host_event;

/* The gradient slot of a tensor from outside. */
typedef struct lz_traced_grad {
    uint64_t handle; /* retained; the tensor */
    uint64_t start;  /* the gradient that it had; retained; 0: none */
    uint64_t now;    /* retained; 0: none */
    bool read;       /* before it was set: calls must find it there, or not, as the trace did */
    bool set;
} lz_traced_grad;

/* What an object does when the callback has returned. */
typedef struct lz_trace_ending {
    lz_host *host; /* owned */
    lz_status (*fn)(void *object);
} lz_trace_ending;

typedef struct lz_function_trace {
    lz_recording *rec;
    lz_dev *dev;
    uint64_t id, last_id; /* of the next placeholder: older than every body inside */
    LZ_VEC(lz_source) sources;
    LZ_VEC(lz_host_event) events;
    LZ_VEC(lz_traced_grad) grads;
    LZ_VEC(lz_trace_ending) ends;
    lz_map bound, graded; /* handle -> 1 + index in rec->bound, in grads */
    bool spoilt;
    lz_error error; /* why */
} lz_function_trace;

/* Behind lz_body_begin. */
void lz_function_trace_begin(lz_function_trace *f, lz_recording *r, lz_thread_state *t,
                             lz_dev *dev);
void lz_function_trace_free(lz_function_trace *f);

/* The callback has returned: the first failure of an object. */
lz_status lz_function_trace_end(lz_function_trace *f);

/* The innermost function that the thread records and that the tensor is from outside of. s: NULL
 * for any. NULL: none */
lz_function_trace *lz_function_trace_of(const lz_thread_state *t, const lz_slot *s);
/* The tensor's placeholder, or what it was assigned: retained. NULL with the error recorded */
lz_node *lz_function_trace_read(lz_function_trace *f, uint64_t h);
lz_bound_handle *lz_function_trace_bound(const lz_function_trace *f, uint64_t h); /* or NULL */
/* The tensor may be assigned next, which cannot fail: makes room for it. */
lz_status lz_function_trace_expect(lz_function_trace *f, uint64_t h);
/* The gradient's handle, which may be from outside; 0: none. */
lz_status lz_function_trace_grad(lz_function_trace *f, lz_slot *s, uint64_t h, uint64_t *g);
lz_status lz_function_trace_set_grad(lz_function_trace *f, uint64_t h, uint64_t g);

/* Adds the event, of which it takes host (retained), data (copied) and the rest. */
lz_status lz_function_trace_event(lz_function_trace *f, const lz_host_event *e);
/* The same of one that gives something: its placeholder, borrowed. NULL with the error recorded */
lz_node *lz_function_trace_given(lz_function_trace *f, const lz_host_event *e);

/* ---- objects, as events hold them ---- */
void lz_host_retain(lz_host *h);
void lz_host_release(lz_host *h); /* NULL is fine */
/* NULL: there is none, or with LZ_ESTATE recorded, it has ended */
void *lz_host_object(const lz_host *h);

/* ---- events of a call: runtime/exec/host_events.c ---- */
typedef struct lz_event_value {
    unsigned char bytes[LZ_NODE_IMM];
} lz_event_value;
/* Does the events in order; value has room for n. Undoes what it did when one fails: LZ_ESTATE, an
 * object has ended; LZ_ERANGE, a number does not fit. */
lz_status lz_host_events_run(lz_host_event *e, uint32_t n, lz_event_value *value);
void lz_host_events_undo(lz_host_event *e, uint32_t n, const lz_event_value *value);
void lz_host_event_free(lz_host_event *e);

/* The state from which an operation draws `blocks` blocks: advances the stream of dev, now or in
 * each call. A new reference. */
lz_node *lz_recording_draw(const lz_thread_state *t, lz_dev *dev, uint64_t blocks,
                           const lz_site *site);
/* Sets the stream's state, now or in each call. */
lz_status lz_recording_seed(lz_dev *dev, lz_rng r);
#endif
