/* function.h - a traced function: its programs, what their parameters are in a call, and where
 * their results go.
 * Threads: a function is immutable but for its list of variants, which only grows; calls of one
 *   that leaves state outside run one after the other. */
#ifndef LZ_RUNTIME_REGION_FUNCTION_H
#define LZ_RUNTIME_REGION_FUNCTION_H
#include "runtime/exec/program.h"
#include "runtime/graph/function_trace.h"
#include "runtime/region/region_trace.h"
#include <lazuli/jit.h>

typedef enum lz_leaf_kind {
    LZ_LEAF_INPUT,  /* an argument */
    LZ_LEAF_KEPT,   /* a value that was made inside of the callback */
    LZ_LEAF_HANDLE, /* the value of a tensor from outside */
    LZ_LEAF_GRAD,   /* the value of its gradient */
    LZ_LEAF_EVENT   /* what an event gives */
} lz_leaf_kind;

typedef struct lz_function_leaf {
    lz_leaf_kind kind;
    uint32_t index; /* of the argument, of the event */
    bool donate;
    const lz_type *type;
    lz_node *kept;   /* owned */
    uint64_t handle; /* retained; of a gradient: its tensor's */
} lz_function_leaf;

/* Where a value comes from: `index` is of the roots, of the leaves. */
typedef enum lz_value_from {
    LZ_FROM_ROOT,
    LZ_FROM_LEAF,
    LZ_FROM_KEPT,
    LZ_FROM_NOTHING
} lz_value_from;
typedef struct lz_function_value {
    lz_value_from from;
    uint32_t index;
    lz_node *kept; /* owned */
} lz_function_value;

typedef enum lz_state_kind {
    LZ_STATE_TENSOR,     /* the handle is assigned the value */
    LZ_STATE_GRAD_VALUE, /* the handle's gradient is */
    LZ_STATE_GRAD        /* the handle gets a new gradient, or none */
} lz_state_kind;
typedef struct lz_function_state {
    lz_state_kind kind;
    uint64_t handle; /* retained */
    lz_function_value value;
    const lz_site *site; /* where the callback assigned it */
} lz_function_state;

/* Whether a tensor has a gradient: a call is of the variant that found it so. */
typedef struct lz_function_guard {
    uint64_t handle; /* retained */
    bool present;
} lz_function_guard;

typedef struct lz_variant {
    _Atomic(struct lz_variant *) next;
    lz_program *prog;
    struct lz_func *func; /* the same, to be recorded again inside of bodies */
    uint32_t *root_result;
    lz_function_leaf *leaves; /* nparam parameters of the program, then others */
    uint32_t nparam, nleaf, nroot;
    const lz_sig **root_sig; /* of a buffer */
    uint32_t *result;        /* per result of the function: which root */
    LZ_VEC(lz_function_state) states;
    LZ_VEC(lz_host_event) events;
    LZ_VEC(lz_function_guard) guards;
    bool alone; /* a call must not meet another one */
} lz_variant;

struct lz_function {
    lz_dev *dev;
    int nin, nout;
    const lz_type **in_type;
    bool *donate; /* per argument */
    lz_body_fn *fn;
    void *user;
    const char *name; /* interned; NULL: none */
    const lz_site *site;
    lz_mutex lock; /* held by calls that leave state; to add a variant */
    _Atomic(lz_variant *) variants;
};

/* The variant for the gradients that there are, as the calling thread sees them; records it when
 * there is none yet. */
lz_status lz_function_variant(lz_function *f, lz_variant **out);
bool lz_variant_fits(const lz_variant *v);
/* Records the call into the body that the thread records. in: per argument; results: nout new
 * references. */
lz_status lz_function_inline(lz_function *f, lz_node *const *in, lz_node **results,
                             const lz_site *site);
#endif
