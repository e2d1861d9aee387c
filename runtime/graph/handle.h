/* handle.h - the handle table. A lz_tensor * is not an address: it is generation << 32 | index, and
 * the index is looked up in a table of chunks that are never freed, so a stale or invented handle
 * is detected and never followed. A slot's state word holds the generation, the scope's mark and
 * the reference count, and changes only by compare-and-swap.
 * Threads: thread-safe. Another thread may end the handle at any moment, and the slot become
 *   another tensor's. Who reads a slot reads first and then looks whether the handle is still alive
 *   (lz_slot_type, lz_slot_node, lz_slot_error); who writes to it retains the handle meanwhile, or
 *   writes to a word that holds the generation (flags, owner). What a slot points at stays readable
 *   for ever: types are interned, nodes and errors are pooled. */
#ifndef LZ_RUNTIME_GRAPH_HANDLE_H
#define LZ_RUNTIME_GRAPH_HANDLE_H
#include "runtime/graph/thread_state.h"
#include "runtime/graph/node.h"

/* An error tensor's error, shared by the tensors it propagated to. */
typedef struct lz_shared_error {
    _Atomic uint32_t refs;
    struct lz_shared_error *next; /* of the spare ones */
    atomic_bool looked;           /* the program has: no step reports it any more */
    lz_error error;               /* never written while there is a reference */
} lz_shared_error;

enum { /* lz_slot.flags, low half */
       LZ_SLOT_ERROR = 1,
       LZ_SLOT_STALE = 2,     /* a step dropped the value, */
       LZ_SLOT_DONATED = 128, /* or it was donated to a call */
       LZ_SLOT_ASSIGNED = 4,  /* lz_assign target since the last step */
       LZ_SLOT_QUEUED = 8,    /* in a pending list */
       LZ_SLOT_GRAD = 16,     /* lz_requires_grad */
       LZ_SLOT_WAS_ASSIGNED = 32,
       LZ_SLOT_INTERNAL = 64,
       LZ_SLOT_UNSTEPPED = 256 /* lz_assign target since the owner's last step: `old` counts */
};
#define LZ_STATE_SCOPED (UINT64_C(1) << 31)
#define LZ_STATE_REFS (LZ_STATE_SCOPED - 1)

typedef struct lz_slot {
    _Atomic uint64_t state;  /* generation << 32 | scoped << 31 | references */
    _Atomic(lz_node *) node; /* owned; NULL: error or stale */
    /* type; survives the value; NULL for an error tensor */
    _Atomic(const lz_type *) type;
    _Atomic(lz_shared_error *) err; /* owned */
    /* The node before the first assignment since the owner's last step: what a snapshot of another
     * thread takes, and a donation candidate. Set before `node` is, and dropped under the lock of
     * its device. Owned; NULL: none, or it had been donated. */
    _Atomic(lz_node *) old;
    _Atomic(const lz_site *) site; /* call that made or last assigned it */
    _Atomic uint64_t grad;         /* gradient's handle, owned; 0: none */
    _Atomic uint64_t flags;        /* generation << 32 | flags */
    /* generation << 32 | serial of the thread whose pending list it is in: the last that wrote it
     */
    _Atomic uint64_t owner;
    /* id that the next node of the thread that made it was to have: inside which bodies it was made
     */
    _Atomic uint64_t made;
    /* lz_mark_sharding's, a canonical text: what is assigned is marked so; NULL: not */
    _Atomic(const char *) sharding;
    void *link; /* in a pool */
    uint32_t index;
    _Atomic uint32_t op; /* lz_op of a dropped value, for messages */
} lz_slot;

/* thread_state.c: more slots; the caller holds the pools' lock. NULL with LZ_EMEM */
lz_slot *lz_slot_new_chunk(uint32_t *n);

static inline uint64_t lz_handle_bits(const lz_tensor *t)
{
    return (uint64_t)(uintptr_t)t;
}
/* The error tensor that is returned when there is no memory for another; LZ_FORK_TENSOR, too. */
#define LZ_HANDLE_NO_MEMORY (UINT64_C(1) << 32)
static inline lz_tensor *lz_handle_of_bits(uint64_t h)
{
    return (lz_tensor *)(uintptr_t)h;
}

enum { LZ_SLOT_CHUNK_BITS = 10, LZ_SLOT_MAX_CHUNKS = 1 << 16 };
extern _Atomic(lz_slot *) lz_slot_chunks[LZ_SLOT_MAX_CHUNKS];

/* The slot of a live handle. NULL with LZ_ENULL or LZ_EHANDLE recorded. */
lz_slot *lz_slot_get(const lz_tensor *t);
/* The same without recording an error. Inline: every operation does it several times. */
static inline lz_slot *lz_slot_peek(uint64_t h)
{
    uint32_t index = (uint32_t)h;
    if (index >> LZ_SLOT_CHUNK_BITS >= LZ_SLOT_MAX_CHUNKS)
        return NULL;
    lz_slot *c =
        atomic_load_explicit(&lz_slot_chunks[index >> LZ_SLOT_CHUNK_BITS], memory_order_acquire);
    if (!c)
        return NULL;
    lz_slot *s = c + (index & ((1u << LZ_SLOT_CHUNK_BITS) - 1));
    uint64_t v = atomic_load_explicit(&s->state, memory_order_acquire);
    return (v >> 32) == (h >> 32) && (v & LZ_STATE_REFS) ? s : NULL;
}
static inline bool lz_slot_alive(uint64_t handle)
{
    return lz_slot_peek(handle) != NULL;
}
/* Its flags; 0 when the slot is another handle's by now. */
static inline uint32_t lz_slot_flags(const lz_slot *s, uint64_t handle)
{
    uint64_t v = atomic_load_explicit(&((lz_slot *)s)->flags, memory_order_acquire);
    return v >> 32 == handle >> 32 ? (uint32_t)v : 0;
}
/* Sets and clears flags; false, with no effect, when the slot is another handle's by now. */
static inline bool lz_slot_flags_change(lz_slot *s, uint64_t handle, uint32_t set, uint32_t clear)
{
    uint64_t v = atomic_load_explicit(&s->flags, memory_order_relaxed);
    do {
        if (v >> 32 != handle >> 32)
            return false;
    } while (!atomic_compare_exchange_weak(&s->flags, &v, (v & ~(uint64_t)clear) | set));
    return true;
}
/* Serial of the thread that wrote it last; 0 when the slot is another handle's by now, or none
 * did. */
static inline uint32_t lz_slot_owner(const lz_slot *s, uint64_t handle)
{
    uint64_t v = atomic_load_explicit(&((lz_slot *)s)->owner, memory_order_relaxed);
    return v >> 32 == handle >> 32 ? (uint32_t)v : 0;
}
/* Notes in whose pending list the handle is, unless the slot is another handle's by now. */
void lz_slot_own(lz_slot *s, uint64_t handle, const lz_thread_state *t);
/* The type, which a stale handle still has; NULL: an error tensor, or the handle has ended. */
static inline const lz_type *lz_slot_type(const lz_slot *s, uint64_t handle)
{
    const lz_type *t = atomic_load_explicit(&((lz_slot *)s)->type, memory_order_acquire);
    return lz_slot_alive(handle) ? t : NULL;
}
/* Copies the error of an error tensor; false: it is none, or has ended. */
bool lz_slot_error(lz_slot *s, uint64_t handle, lz_error *out);
/* The same of one that the program has not looked at. */
bool lz_slot_error_to_report(lz_slot *s, uint64_t handle, lz_error *out);
/* The program, if it is the caller, has looked at the error, whichever of the calling thread's
 * tensors carry it. */
void lz_slot_looked(const lz_error *e);
/* The node, retained; NULL with the reason recorded (the tensor's own error, LZ_ESTALE,
 * LZ_EHANDLE). */
lz_node *lz_slot_node(lz_slot *s, uint64_t handle);
/* The same without an error. */
lz_node *lz_slot_node_peek(lz_slot *s, uint64_t handle);
/* References other than the scope's. */
static inline bool lz_slot_retained(const lz_slot *s)
{
    uint64_t v = atomic_load(&((lz_slot *)s)->state);
    return (v & LZ_STATE_REFS) > ((v & LZ_STATE_SCOPED) ? 1u : 0u);
}

/* A new handle in the innermost scope. Takes over the reference to n. Never NULL: an error tensor
 * when memory is short. */
lz_tensor *lz_slot_new(lz_thread_state *t, lz_node *n, const lz_site *site);
/* A handle that belongs to no scope, with one reference. 0 with LZ_EMEM recorded. Takes over n only
 * on success. */
uint64_t lz_slot_new_unscoped(lz_thread_state *t, lz_node *n, const lz_site *site);
lz_tensor *lz_slot_new_error(lz_thread_state *t, const lz_error *e); /* copies e */
/* The error of `from`, shared; NULL when that has ended. */
lz_tensor *lz_slot_new_same_error(lz_thread_state *t, lz_slot *from, uint64_t handle);
/* LZ_OK, LZ_EHANDLE recorded. */
lz_status lz_slot_retain(uint64_t handle);
lz_status lz_slot_release(uint64_t handle);
void lz_slot_let_go(uint64_t handle);         /* the same without recording an error */
void lz_slot_release_scoped(uint64_t handle); /* releases a handle at the end of its scope */
/* Alive, and in the pending list of t, not of a thread that wrote it later. */
bool lz_slot_pending(const lz_thread_state *t, uint64_t handle);
/* Room for n assignments of the calling thread: lz_slot_keep_old and lz_slot_queue of so many
 * handles do not fail. LZ_EMEM. */
lz_status lz_slot_reserve(lz_thread_state *t, uint32_t n);
/* Before an assignment by the calling thread: keeps the value of its last step. Comes before
 * lz_slot_queue. LZ_EMEM. */
lz_status lz_slot_keep_old(lz_thread_state *t, lz_slot *s, uint64_t handle);
/* What was kept, retained; NULL: nothing. */
lz_node *lz_slot_old(lz_slot *s, uint64_t handle);
/* Whether the handle is one of t's that lz_slot_keep_old noted. */
bool lz_slot_unstepped(const lz_thread_state *t, uint64_t handle);
/* Drops ended handles and those that are stepped from the thread's list. */
void lz_slot_sweep_unstepped(lz_thread_state *t);
/* The handle has the value n, whose reference it takes over. pending: it counts with the next step
 * of the thread, which has kept the old one and queued the handle; else at once: n is computed, and
 * the caller holds the device's lock. */
void lz_slot_put(lz_slot *s, uint64_t handle, lz_node *n, const lz_site *site, bool pending);
/* The handle's value counts from now on; `old` is what lz_slot_old gave. The caller holds the
 * device's lock. */
void lz_slot_step(const lz_thread_state *t, uint64_t handle, lz_node *old);
/* Notes that the calling thread wrote the handle since its last step. */
lz_status lz_slot_queue(lz_thread_state *t, lz_slot *s, uint64_t handle);
/* Drops the value x of a temporary at a step, or of a donated argument (`donated`), if the handle
 * still has it; and the caller's reference to x. Gives whether it had. */
bool lz_slot_drop_value(lz_slot *s, uint64_t handle, lz_node *x, bool donated);

/* scope.c */
lz_status lz_scope_push(lz_thread_state *t, uint64_t handle);
void lz_scope_end_all(lz_thread_state *t);
#endif
