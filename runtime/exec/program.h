/* program.h - programs, compiled graphs: found in memory by the capture's key, on disk by the
 * function's canonical bytes, else made by the backend's compiler.
 * Four objects, each inside the one before: a program (the key, and how the graph's roots map to
 * results), its executable (lz_exec: what the backend runs on a device), in backends that compile
 * plans a lz_plan_exec (the list of launches, with loaded kernels), and the lz_plan itself
 * (serialisable). A program holds no reference to nodes.
 * Threads: thread-safe; programs are refcounted. */
#ifndef LZ_RUNTIME_EXEC_PROGRAM_H
#define LZ_RUNTIME_EXEC_PROGRAM_H
#include "runtime/exec/capture.h"

typedef struct lz_graph_note { /* what a node of the graph was, for "why did it compile" */
    const lz_sig *sig;
    const lz_site *site;
    bool leaf; /* it was a parameter, whatever once computed it */
} lz_graph_note;

typedef struct lz_program {
    _Atomic uint32_t refs;
    const lz_backend *be;
    lz_exec *exec; /* be->exec_info tells its sizes and counts */
    uint32_t *key; /* the capture's, compared on a hit */
    uint32_t nkey;
    lz_hash capture_hash; /* of key */
    lz_hash hash;         /* of the canonical bytes: the same in every process */
    uint32_t nparam, nresult, nroot;
    /* Of each parameter where it was when the program was made (NULL: nowhere yet), and where it
     * must be (lz_backend.input_placement); NULL: one device. The same graph may have a program for
     * each way in which its parameters come: the others are behind it. */
    const char **made_for, **placement;
    struct lz_program *next; /* a reference */
    uint32_t *root_result;   /* per root */
    bool *shared;            /* per root: another root, or a parameter, is the same value */
    lz_graph_note *notes;    /* nnote of the nodes in capture order */
    uint32_t nnote, nnode;
    const char *name; /* graph name when it was compiled; NULL: none */
    struct {          /* of LAZULI_CHECK (runtime/debug/value_check.h) */
        _Atomic uint64_t runs;
        _Atomic bool found,
            from_outside; /* a NaN was reported; was searched though an input has one */
    } check;
} lz_program;

typedef enum lz_found { LZ_FOUND_MEMORY, LZ_FOUND_DISK, LZ_FOUND_COMPILED } lz_found;

/* Who wants to know what happens to a graph that is not in memory. Each may be NULL. */
typedef struct lz_program_watch {
    /* Before disk and compiler are tried, under the device's lock. */
    void (*missed)(const lz_capture *c, lz_hash hash, uint32_t nparam, uint32_t nresult,
                   void *user);
    /* It is not on disk either: without the lock. */
    void (*compiles)(void *user);
    void *user;
    int64_t lookup_ns, disk_ns, compile_ns; /* out: what took how long; 0: was not done */
    const char *disk; /* out: "hit", "miss", "unusable"; NULL: nobody looked there */
} lz_program_watch;

/* The program of a finished capture: a new reference. watch may be NULL. The caller holds the
 * device's lock. It is released while a program is loaded or compiled, so that other steps go on,
 * and while another thread compiles the same one; then *again is set, because the captured graph
 * may have changed. The caller captures it again and calls again with *out, which may be the
 * compiled program; it starts as NULL. A caller that knows that the graph is unchanged may use it
 * as it is. */
lz_status lz_program_get(const lz_capture *c, const char *name, lz_program_watch *watch,
                         lz_program **out, lz_found *found, bool *again);
void lz_program_release(lz_program *p);
lz_cache *lz_program_cache(void); /* where programs are kept on disk; NULL: nowhere */
/* The hash of a capture's program, without compiling it. */
lz_status lz_program_hash(const lz_capture *c, lz_hash *out);
/* Calls fn for the programs in memory, most recently used first, until it returns false. */
void lz_program_each(bool (*fn)(const lz_program *p, void *user), void *user);
#endif
