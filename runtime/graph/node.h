/* node.h - the traced graph: nodes, how they are made, walked and released. A handle (lz_tensor *,
 * runtime/graph/handle.h) names a slot; a slot points to a node; a node points to its operands.
 * Nodes are immutable except for their counts, the buffer that a step attaches, and the operands
 * that a step cuts.
 * Threads: making, retaining and releasing nodes is thread-safe and takes no lock. Walking operands
 *   (lz_trace_order, node->opnd) needs lz_trace_lock of the device, because a step of another
 *   thread may cut them; under it `epoch` and `index` are the walker's. */
#ifndef LZ_RUNTIME_GRAPH_NODE_H
#define LZ_RUNTIME_GRAPH_NODE_H
#include "backends/backend.h"
#include "ir/op.h"
#include <lazuli/tensor.h>
#include <stdatomic.h>

struct lz_dev; /* runtime/exec/runtime_device.h */

typedef enum lz_node_kind {
    LZ_NODE_OP,     /* an operation; a leaf too once it has a buffer */
    LZ_NODE_BUFFER, /* device memory given by the program */
    LZ_NODE_SCALAR, /* up to 16 bytes given by the program: a run-time argument */
    LZ_NODE_CONST,  /* rank 0, part of the program */
    /* an argument of a region being traced (region_trace.h): it has no value outside */
    LZ_NODE_PLACEHOLDER
} lz_node_kind;

enum {
    LZ_NODE_NOGRAD = 1, /* gradients do not flow to the operands (lz_detach) */
    LZ_NODE_LOST = 4,   /* an automatic run has cut the operands (lz_node_is_lost) */
    LZ_NODE_SHARED = 8, /* the buffer is shared with somebody outside the graph: never donated */
    LZ_NODE_TWIN = 16   /* or with nodes that were computed to equal values: not while they live */
};
enum { LZ_NODE_INLINE = 6, LZ_NODE_IMM = 16 };

typedef struct lz_node {
    /* low half: references. High half: how many of them are operands of other nodes */
    _Atomic uint64_t count;
    const lz_sig *sig; /* PARAMETER for BUFFER and SCALAR, CONSTANT for CONST */
    /* sig->nopnd operands; NULL when there are none or they were cut */
    struct lz_node **opnd;
    struct lz_dev *dev;              /* never NULL */
    _Atomic(lz_device_buffer *) buf; /* BUFFER; OP once it has been computed. Owned */
    const lz_site *site;             /* of the public call; may be NULL */
    const char *scope;               /* name scope, interned; NULL: none */
    uint64_t id;                     /* rises within a thread; unique in the process */
    uint64_t epoch;                  /* the walker's, with index */
    uint32_t index;
    uint8_t kind;
    _Atomic uint8_t flags;
    uint8_t pad_[2];
    union {
        struct lz_node *inl[LZ_NODE_INLINE];
        unsigned char imm[LZ_NODE_IMM]; /* SCALAR, CONST: the elements */
    };
} lz_node;

/* ---- what a node is ---- */
/* The type of the value. A node of an op with several results has no value of its own: `result`
 * nodes read it. */
static inline const lz_type *lz_node_type(const lz_node *n)
{
    return n->sig->result[0];
}
static inline lz_op lz_node_op(const lz_node *n)
{
    return n->sig->op;
}
static inline lz_device_buffer *lz_node_buf(const lz_node *n)
{
    return atomic_load_explicit(&((lz_node *)n)->buf, memory_order_acquire);
}
/* Nothing to compute: the node has its value. It may still have operands (history) for
 * gradients. */
static inline bool lz_node_is_value(const lz_node *n)
{
    return n->kind != LZ_NODE_OP || lz_node_buf(n) != NULL;
}
lz_status lz_node_refuse_placeholder(const lz_node *n);
/* LZ_EINVAL when n is a placeholder: it is used outside of the body it belongs to. */
static inline lz_status lz_node_not_placeholder(const lz_node *n)
{
    return __builtin_expect(n->kind == LZ_NODE_PLACEHOLDER, 0) ? lz_node_refuse_placeholder(n)
                                                               : LZ_OK;
}
static inline bool lz_node_has_history(const lz_node *n)
{
    return n->opnd != NULL;
}
/* An id has the serial of its thread above LZ_NODE_ID_BITS. Operands are older than their users. */
enum { LZ_NODE_ID_BITS = 40 };
/* Whether n was made by the thread that made the node of that id, before it: n does not depend on
 * that node. 0: of none. */
static inline bool lz_node_before(const lz_node *n, uint64_t id)
{
    return n->id < id && n->id >> LZ_NODE_ID_BITS == id >> LZ_NODE_ID_BITS;
}
/* The id of the oldest of them; 0 when several threads made them. Some may be NULL. */
uint64_t lz_node_oldest(lz_node *const *nodes, size_t n);
static inline bool lz_node_is_host(const lz_node *n)
{
    return n->kind == LZ_NODE_SCALAR || n->kind == LZ_NODE_CONST;
}
static inline uint32_t lz_node_refs(const lz_node *n)
{
    return (uint32_t)atomic_load(&((lz_node *)n)->count);
}
static inline uint32_t lz_node_uses(const lz_node *n)
{
    return (uint32_t)(atomic_load(&((lz_node *)n)->count) >> 32);
}

/* ---- references ---- */
void lz_node_retain(lz_node *n);
/* false when n has been released for good; n may be any node that ever was */
static inline bool lz_node_retain_live(lz_node *n)
{
    uint64_t v = atomic_load_explicit(&n->count, memory_order_relaxed);
    do {
        if ((uint32_t)v == 0)
            return false;
    } while (!atomic_compare_exchange_weak(&n->count, &v, v + 1));
    return true;
}
void lz_node_release(lz_node *n);     /* NULL is fine. Iterative: a chain of any length */
void lz_node_release_two(lz_node *n); /* two references at once */
/* Forgets the operands. The caller holds lz_trace_lock. */
void lz_node_cut(lz_node *n);

/* ---- making: a new reference, or NULL with the error recorded. Nothing is consumed ---- */
/* The device is that of the first operand that is not SCALAR or CONST (those are copied to it),
 * else that of the first operand, else `dev`. Operands on two devices: LZ_EINVAL. */
lz_node *lz_node_new_op(const lz_sig *sig, lz_node *const *opnd, struct lz_dev *dev,
                        const lz_site *site);
/* The same; for operands with a bit in *taken, the op takes over a reference of the caller's.
 * *taken is set to 0 when the op took none, and on failure. */
lz_node *lz_node_new_op_taking(const lz_sig *sig, lz_node *const *opnd, struct lz_dev *dev,
                               const lz_site *site, uint32_t *taken);
/* takes over buf */
lz_node *lz_node_new_buffer(const lz_type *t, struct lz_dev *dev, lz_device_buffer *buf,
                            const lz_site *site);
/* The same in two parts, for who makes many of one type. */
const lz_sig *lz_node_buffer_sig(const lz_type *t);
lz_node *lz_node_new_buffer_of(const lz_sig *sig, struct lz_dev *dev, lz_device_buffer *buf,
                               const lz_site *site);
/* t->nbytes <= LZ_NODE_IMM */
lz_node *lz_node_new_host(lz_node_kind kind, const lz_type *t, const void *bytes,
                          struct lz_dev *dev, const lz_site *site);
/* The same value as a stop-gradient (lz_detach). */
lz_node *lz_node_new_detached(lz_node *n, const lz_site *site);
/* The same value, placed on a mesh: `sharding` is a canonical text (ir/sharding/sharding.h). */
lz_node *lz_node_new_marked(lz_node *n, const char *sharding, const lz_site *site);

/* ---- handles ---- */
/* The node t stands for now: a new reference. NULL with the error recorded (LZ_ENULL, LZ_EHANDLE,
 * LZ_ESTALE, the tensor's own error). */
lz_node *lz_trace_node_of(const lz_tensor *t);
/* A new handle of n in the calling thread's innermost scope; an error tensor when that fails.
 * Retains n. n has one value. */
lz_tensor *lz_trace_tensor_of(lz_node *n, const lz_site *site);
/* An error tensor of the calling thread's last error (LZ_EINTERNAL when there is none), annotated
 * with op and site unless it already is. */
lz_tensor *lz_trace_error_tensor(const char *op, const lz_site *site);
/* The outermost public operation of the calling thread, whose name and place errors and nodes get.
 * Between enter and leave, inner public calls count as part of it. `op` is a string literal. */
typedef struct lz_api_frame {
    const char *op;
    const lz_site *site;
    bool outer;
} lz_api_frame;
lz_api_frame lz_api_enter_from(const char *op, const lz_site *site, void *caller);
#define lz_api_enter(op, site) lz_api_enter_from((op), (site), __builtin_return_address(0))
/* Fills in the results of a public function: handles of the nodes, or, after a failure, error
 * tensors. Gives the status for lz_api_leave: s, or LZ_EMEM when there is no memory for a handle.
 */
lz_status lz_api_results(const lz_api_frame *f, lz_status s, lz_tensor **out, int n,
                         lz_node *const *nodes, const lz_site *site);
/* Gives s back. LZ_OK: what the outermost operation recovered from is forgotten. */
lz_status lz_api_leave(const lz_api_frame *f, lz_status s);
/* The same of one that reads values: who is given its status knows of the error, and no step
 * reports it again. */
lz_status lz_api_leave_read(const lz_api_frame *f, lz_status s);
/* The same of a function that is called for its effect, so that its status is easily ignored. */
lz_status lz_api_leave_update(const lz_api_frame *f, lz_status s);
/* The same of a function whose result is a tensor: an error tensor is a failure. */
lz_tensor *lz_api_leave_with(const lz_api_frame *f, lz_tensor *result);
/* Annotates the thread's error record with the outermost operation, and gives `s` back. */
lz_status lz_api_status(lz_status s);
/* Ends a public function that gives text: copies as much of it as fits into buf of n bytes, with a
 * NUL, and gives its whole length. Frees text. */
size_t lz_api_text(lz_buf *text, char *buf, size_t n);

/* Sets the calling thread's device, NULL for the process's default; gives the previous one. The
 * thread has traced already. */
struct lz_dev *lz_trace_use_device(struct lz_dev *dev);

/* ---- walking ---- */
/* Holds off steps (of any thread) that would cut nodes of the device; recursive. A thread that
 * holds it does not flush by itself. */
void lz_trace_lock(struct lz_dev *dev);
void lz_trace_unlock(struct lz_dev *dev);
/* A value that no node's `epoch` has yet: those a walk has seen are marked with it. */
uint64_t lz_node_new_epoch(void);
/* Everything reachable from the roots through operands (also of nodes that have a buffer and still
 * know their history), operands before users, deterministic. order[i]->index == i until the next
 * walk. The caller holds lz_trace_lock, and the roots; frees *order with lz_free. since: the walk
 * does not go beyond nodes before this id (lz_node_before), so that it takes no longer the more has
 * been recorded before; 0: it goes beyond all. */
lz_status lz_trace_order(lz_node *const *roots, uint32_t nroots, uint64_t since, lz_node ***order,
                         uint32_t *n);
/* Whether an automatic run has cut the operands of n, a node of this thread, and no step of its own
 * on the device has made it a constant since. */
bool lz_node_is_lost(const lz_node *n);

/* ---- gradients' state of a handle (autodiff/) ---- */
lz_status lz_trace_set_requires_grad(lz_tensor *t, bool on);
bool lz_trace_requires_grad(const lz_tensor *t);
/* All live marked tensors, oldest mark first; copies at most n, gives how many there are. Not
 * retained. */
size_t lz_trace_marked(lz_tensor **out, size_t n);
/* The gradient handle t owns; NULL when there is none. Setting retains g, and releases the one
 * before; g NULL forgets it. Released with t. */
lz_tensor *lz_trace_grad(const lz_tensor *t);
lz_status lz_trace_set_grad(lz_tensor *t, lz_tensor *g);
/* LZ_EINVAL where the thread records a body that t is from outside of and that cannot keep a
 * gradient for it. */
lz_status lz_trace_may_set_grad(const lz_tensor *t);
/* Where t got its present value, for messages: "assigned at x.c:3"; "" when it was never assigned.
 * Copies into buf. */
const char *lz_trace_describe(const lz_tensor *t, char *buf, size_t n);
#endif
