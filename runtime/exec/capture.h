/* capture.h - a snapshot of what a step computes: nodes in post-order from ordered roots,
 * parameters numbered by first visit, what is donated, and the key that finds the compiled program
 * again. Its arrays are kept between steps, so a known program allocates nothing.
 * Threads: a capture belongs to one step; walked under the device's lock, and what refers to nodes
 * is good until the lock is given up. It refers to nodes without holding
 * them: the roots do. */
#ifndef LZ_RUNTIME_EXEC_CAPTURE_H
#define LZ_RUNTIME_EXEC_CAPTURE_H
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/node.h"

typedef struct lz_capture_note { /* per node */
    uint32_t edges;              /* operands of the graph's nodes that are this node */
    uint32_t leaf;               /* number of the parameter; UINT32_MAX: it is none */
    bool root, held;
} lz_capture_note;
typedef struct lz_capture_frame {
    lz_node *node;
    uint32_t next;
} lz_capture_frame;

typedef struct lz_capture {
    lz_dev *dev;
    /* arguments of a function that is being recorded are parameters */
    bool placeholders;
    uint64_t epoch;
    LZ_VEC(lz_node *) nodes; /* leaves, constants and operations; operands first */
    LZ_VEC(lz_capture_note) notes;
    LZ_VEC(lz_node *) leaves; /* parameters, by first visit */
    LZ_VEC(lz_node *) roots;
    LZ_VEC(bool) donate; /* per leaf */
    uint32_t ndonated;
    LZ_VEC(uint32_t) key; /* equal exactly for equal programs of this process */
    lz_hash hash;         /* of key */
    LZ_VEC(lz_capture_frame) stack;
    LZ_VEC(lz_dbuf *) in, out; /* scratch of a run */
} lz_capture;

/* Walks from the roots (distinct, without a value). */
lz_status lz_capture_walk(lz_capture *c, lz_dev *d, lz_node *const *roots, uint32_t nroots);
/* Decides which parameters are given away: old[i] is the node an assigned tensor had before, held
 * once by the caller. */
void lz_capture_donate(lz_capture *c, lz_node *const *old, uint32_t n);
/* Completes key and hash. */
lz_status lz_capture_finish(lz_capture *c);
/* The graph as a function: parameters are the leaves. root_result (room for every root) gets which
 * result each root is; equal values are one result. */
lz_status lz_capture_func(const lz_capture *c, const char *name, struct lz_func **out,
                          uint32_t *root_result);
void lz_capture_free(lz_capture *c); /* back to {0} */
#endif
