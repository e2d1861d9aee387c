/* host_event.h - what the program's objects (optimizers, the stream of random numbers) do on the
 * host while a function is recorded (lz_function_trace). It is of the calls, not of the trace: each
 * call does it again, in the same order, and undoes it when it fails.
 * Threads: a record belongs to the thread that runs the callback; objects are thread-safe. */
#ifndef LZ_RUNTIME_GRAPH_HOST_EVENT_H
#define LZ_RUNTIME_GRAPH_HOST_EVENT_H
#include "base/status.h"
#include <lazuli/tensor.h>

/* An object of the program's as functions that were recorded with it know it: counted, so that a
 * call finds out when the object has ended. */
typedef struct lz_host lz_host;
/* what: "optimizer", for messages; a literal. NULL with LZ_EMEM */
lz_host *lz_host_new(void *object, const char *what);
void lz_host_end(lz_host *h); /* the object ends. NULL is fine */

/* An effect on the object. `data` is the record's own copy, the same for both. */
typedef struct lz_host_action {
    void (*run)(void *object, void *data);
    void (*undo)(void *object, void *data); /* after a run, when the call fails */
} lz_host_action;
/* A number of the object's, of its present state. */
typedef double (*lz_host_number_fn)(const void *object, const void *data);

/* Whether the calling thread records a function. */
bool lz_host_records(void);
/* Does it now, or, where a function is recorded, in each call. Copies n bytes of data. LZ_EMEM;
 * LZ_EINVAL in a body inside of the function that runs any number of times. */
lz_status lz_host_act(lz_host *h, const lz_host_action *a, const void *data, size_t n);
/* The number as a run-time argument of rank 0; of each call's moment where a function is
 * recorded. */
lz_tensor *lz_host_number(lz_host *h, lz_host_number_fn fn, const void *data, size_t n,
                          lz_dtype dtype, const lz_site *site);
/* Calls fn once when the callback of the function that is recorded has returned; its failure is the
 * trace's. No effect where none is recorded. LZ_EMEM. */
lz_status lz_host_at_end(lz_host *h, lz_status (*fn)(void *object));
/* A part of what the thread records has failed, so that the function must not be used: its trace
 * fails with the thread's last error. No effect elsewhere. */
void lz_host_spoil(void);

/* Between them the thread records nothing, though it runs the callback of a body: for state that
 * begins now and lives on. Tensors that are made are released with the innermost scope. */
typedef struct lz_outside {
    void *recording, *loop;
} lz_outside;
lz_outside lz_outside_begin(void);
/* made: the state, from outside of every body from now on; may be NULL, or an error tensor */
void lz_outside_end(const lz_outside *o, lz_tensor *made);
/* LZ_EINVAL where the thread records a body that may not assign the tensor: lz_assign would say the
 * same. */
lz_status lz_outside_may_assign(const lz_tensor *t);
#endif
