/* thread_state.h - per-thread tracing state: free lists of nodes and slots, open scopes, handles
 * written since the last step, counters. The record is made at the thread's first operation and
 * ends with the thread; what it left pending goes to the orphans, which the next step of any thread
 * computes. Slab objects are never returned to the system, so a stale pointer to one stays
 * readable. Threads: a record belongs to its thread; its counters may be read by any. */
#ifndef LZ_RUNTIME_GRAPH_THREAD_STATE_H
#define LZ_RUNTIME_GRAPH_THREAD_STATE_H
#include "base/thread.h"
#include "base/vec.h"
#include "ir/op.h"

struct lz_dev;
struct lz_loop_frame; /* runtime/region/region_trace.h */
struct lz_node;
struct lz_recording; /* runtime/graph/recording.h */
struct lz_slot;

/* Free list of objects of one size: the thread's own, refilled from and spilled to a shared one. */
typedef struct lz_pool {
    void *head; /* linked through the word at `link` of each object */
    uint32_t len;
} lz_pool;
typedef enum lz_pool_kind { LZ_POOL_NODE, LZ_POOL_SLOT, LZ_POOL_KINDS } lz_pool_kind;

/* Start of an open scope: in the thread's handles, and among its nodes. */
struct lz_scope_mark {
    uint32_t base;
    uint64_t first_id;
};

/* A value that a flush computed, and that still has its history. Not held: another node may be
 * there by now, of another id. */
struct lz_flushed {
    struct lz_node *node;
    uint64_t id, at; /* the node's; the thread's id_next at the flush */
};

/* id_next of the thread at its last step on the device. */
struct lz_stepped {
    const struct lz_dev *dev;
    uint64_t id;
};

/* A path that was made of a scope (NULL: none) and a name in it. */
struct lz_joined_name {
    const char *outer, *path; /* interned; path NULL: free */
    size_t at;                /* of the name, in the path */
};
enum { LZ_JOINED_NAMES = 32 };

typedef struct lz_thread_state {
    struct lz_thread_state *next, *prev; /* registry */
    lz_pool pool[LZ_POOL_KINDS];
    LZ_VEC(uint64_t) handles;            /* of the open scopes, innermost last */
    LZ_VEC(struct lz_scope_mark) scopes; /* the open scopes; the root scope is not in it */
    LZ_VEC(uint64_t) pending;            /* handles written since the last step */
    /* open name scopes: the joined, interned path of each */
    LZ_VEC(const char *) names;
    struct lz_joined_name joined[LZ_JOINED_NAMES]; /* lately made (scope.c) */
    const char *gradient_of;    /* the scope that the innermost name is the gradient's of */
    LZ_VEC(uint64_t) unstepped; /* handles assigned since the last step, of any device */
    uint32_t pending_floor;     /* length of pending after it was last compacted */
    uint32_t unstepped_floor;
    const char *api_op; /* the outermost public operation being run */
    const struct lz_site *api_site;
    /* return address of the public operation: the first frame of the program */
    void *api_caller;
    lz_error_before error_before; /* its first failure, forgotten at its end when it succeeds */
    /* dtype of the innermost autocast scope, NONE outside; those of the scopes around it */
    lz_dtype autocast;
    LZ_VEC(lz_dtype) autocasts;
    struct lz_dev *dev;                /* default device; NULL: the process's */
    const char *graph_name;            /* interned; NULL: none */
    uint64_t id_next;                  /* of the next node */
    LZ_VEC(struct lz_stepped) stepped; /* by device, of those it has stepped */
    uint32_t serial;                   /* of the thread; not 0 */
    uint32_t locked; /* nesting of lz_trace_lock and of bodies: no flush by itself */
    uint32_t walks;  /* nesting of lz_trace_lock: bodies are those of the library's rules */
    /* number of handles in the root scope at which the next warning comes */
    uint32_t scope_marks;
    uint32_t flush_check; /* operations until the pending limit is checked again */
    /* `nodes` at the last step or flush; all threads' at the last flush */
    int64_t flush_base, all_base;
    LZ_VEC(struct lz_flushed) flushed; /* since the last step, oldest first */
    uint64_t flushed_bytes;            /* of their values, and of those that are cut by now */
    uint64_t copied_in;                /* bytes of host data since the last step or flush */
    LZ_VEC(struct lz_node *) effects;  /* owned: run by the next step (graph/effects.h) */
    /* innermost loop whose body is being recorded; NULL: none */
    struct lz_loop_frame *loop;
    int64_t groups;                 /* of lz_shard_as, in bodies since the last step */
    struct lz_recording *recording; /* innermost body that is being recorded; NULL: none */
    bool dying;
    /* read by other threads */
    /* op nodes with operands, made minus freed or cut here */
    _Atomic int64_t nodes;
    _Atomic uint64_t made, destroyed;  /* handles */
    _Atomic uint64_t ops[LZ_OP_COUNT]; /* operations traced */
} lz_thread_state;

extern __thread lz_thread_state *lz_thread_state_self;
lz_thread_state *lz_thread_state_make(void); /* NULL with LZ_EMEM or LZ_EFORK recorded */
/* The calling thread's record. */
static inline lz_thread_state *lz_thread_state_get(void)
{
    lz_thread_state *t = lz_thread_state_self;
    return __builtin_expect(t != NULL, 1) ? t : lz_thread_state_make();
}
/* Only the owner writes its counters: a load and a store, no locked instruction. */
#define LZ_THREAD_STATE_ADD(counter, n)                                                            \
    atomic_store_explicit(&(counter),                                                              \
                          atomic_load_explicit(&(counter), memory_order_relaxed) + (n),            \
                          memory_order_relaxed)

/* An object of the pool, with its previous contents. NULL with LZ_EMEM. */
void *lz_pool_take(lz_thread_state *t, lz_pool_kind k);
void lz_pool_give(lz_thread_state *t, lz_pool_kind k, void *object);

/* Called from now on by every thread that ends, with its record: who knows what its device is. */
typedef void lz_thread_state_end_fn(lz_thread_state *t);
void lz_thread_state_at_end(lz_thread_state_end_fn *fn);

/* Whether the thread of this serial has not ended. */
bool lz_thread_state_lives(uint32_t serial);

int64_t lz_thread_state_sum_nodes(void);
void lz_thread_state_sum_handles(uint64_t *made, uint64_t *destroyed);
void lz_thread_state_sum_ops(uint64_t out[LZ_OP_COUNT]);
void lz_thread_state_clear_ops(void);

/* Handles that threads which have ended left pending; appended to t->pending and t->unstepped.
 * LZ_EMEM: they stay where they are. */
lz_status lz_thread_state_adopt_orphans(lz_thread_state *t);
/* The thread has stepped on the device: what it made there until now is a constant to gradients. */
void lz_thread_state_stepped(lz_thread_state *t, const struct lz_dev *d);
bool lz_thread_state_has_orphans(void);
/* How often a thread has stepped since it made the node of this id; at most some hundred. */
uint64_t lz_thread_state_steps_since(uint64_t id);

/* A copy of s that lives for the process; equal strings give one copy. NULL with LZ_EMEM. */
const char *lz_thread_state_intern(const char *s);
#endif
