/* capture.h - a snapshot of what a step computes: nodes in post-order from ordered roots,
 * parameters numbered by first visit, donations, and the key under which the compiled program is
 * found again. Its arrays are reused between steps, so a cached program allocates nothing. It
 * refers to nodes without holding them: the roots do. Threads: a capture belongs to one step; it is
 * walked under the device's lock, and its node pointers are valid until the lock is released. */
#ifndef LZ_RUNTIME_EXEC_CAPTURE_H
#define LZ_RUNTIME_EXEC_CAPTURE_H
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/node.h"

typedef struct lz_capture_note { /* per node */
    uint32_t edges;              /* uses of this node as an operand within the graph */
    uint32_t leaf;               /* number of the parameter; UINT32_MAX: not one */
    bool root, held;
} lz_capture_note;
typedef struct lz_capture_frame {
    lz_node *node;
    uint32_t next;
} lz_capture_frame;

typedef struct lz_capture {
    lz_dev *dev;
    /* placeholders are parameters: a function is being traced */
    bool placeholders;
    bool meets; /* it has a collective: its program is that of all devices of the backend */
    const struct lz_mesh *search; /* shardings are searched for, on this mesh; NULL: not */
    uint64_t epoch;
    LZ_VEC(lz_node *) nodes; /* leaves, constants and operations; operands first */
    LZ_VEC(lz_capture_note) notes;
    LZ_VEC(lz_node *) leaves; /* parameters, by first visit */
    LZ_VEC(lz_node *) roots;
    LZ_VEC(bool) donate; /* per leaf: the program may take over its memory; */
    LZ_VEC(bool) given;  /* this run gives it; else it is copied */
    uint32_t ndonated, ngiven;
    /* Per leaf, on devices whose memory has places: the node that the tensor becomes, which is to
     * stay where the leaf is; UINT32_MAX: none. */
    LZ_VEC(uint32_t) becomes;
    LZ_VEC(uint32_t) key;   /* equal exactly for equal programs of this process */
    lz_hash hash;           /* of key */
    LZ_VEC(int64_t) groups; /* lz_shard_as's, in the order of their first values */
    LZ_VEC(lz_capture_frame) stack;
    LZ_VEC(lz_device_buffer *) in, out; /* scratch of a run */
} lz_capture;

/* Operations that the program runs for what they do, in this order, before what only roots need. */
typedef struct lz_capture_effects {
    lz_node *const *nodes;
    uint32_t n;
} lz_capture_effects;
/* Walks from the effects and the roots (distinct, without a value). */
lz_status lz_capture_walk(lz_capture *c, lz_dev *d, lz_capture_effects effects,
                          lz_node *const *roots, uint32_t nroots);
/* What the effects give and somebody outside of the graph holds is computed, too, so that it is not
 * done again when it is asked for. */
lz_status lz_capture_keep_effects(lz_capture *c, lz_capture_effects effects);
/* Decides which parameters are donated: old[i] is the node an assigned tensor had before, held by
 * its slot and the caller. */
void lz_capture_donate(lz_capture *c, lz_node *const *old, uint32_t n);
/* A tensor stays where it is when it is assigned, so that the second run of a step is like the
 * first and may take over its memory: old as above, assigned the handles. For devices with
 * placements. */
lz_status lz_capture_keep_places(lz_capture *c, const uint64_t *assigned, lz_node *const *old,
                                 uint32_t n);
/* Completes key and hash. */
lz_status lz_capture_finish(lz_capture *c);
/* Where the memory of parameter i is (lz_backend.placement); NULL: nowhere yet, or one device. */
const char *lz_capture_placement(const lz_capture *c, uint32_t i);
/* The graph as a function whose parameters are the leaves; a placed one is marked with its
 * sharding, but for a search where no mark has said it. root_result (room for every root) gets
 * the result index of each root; equal values are one result. */
lz_status lz_capture_func(const lz_capture *c, const char *name, struct lz_func **out,
                          uint32_t *root_result);
/* The same; (*order)[v], for lz_free: how many of its instructions were recorded before v. */
lz_status lz_capture_func_order(const lz_capture *c, const char *name, struct lz_func **out,
                                uint32_t *root_result, uint32_t **order);
void lz_capture_free(lz_capture *c); /* back to {0} */
#endif
