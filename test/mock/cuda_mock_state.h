/* cuda_mock_state.h - what the files of the library that stands in for the CUDA driver share:
 * contexts, work of streams, memory. What is exported is for libraries that stand in for others of
 * NVIDIA's.
 * Threads: everything under the one lock, from ENTER to leave. */
#ifndef LZ_TEST_CUDA_MOCK_STATE_H
#define LZ_TEST_CUDA_MOCK_STATE_H
#include "backends/cuda/cuda_api.h"
#include "test/mock/cuda_mock.h"
#include "test/mock/simt_emu.h"

#define MOCK_API __attribute__((visibility("default")))
enum { MOCK_DEVICES = 8 }; /* at most; see lzMockDevices */
enum {
    MOCK_INVALID_VALUE = 1,
    MOCK_NOT_INITIALIZED = 3,
    MOCK_INVALID_DEVICE = 101,
    MOCK_INVALID_CONTEXT = 201,
    MOCK_PEER_UNSUPPORTED = 217,
    MOCK_INVALID_HANDLE = 400,
    MOCK_NOT_FOUND = 500,
    MOCK_NOT_READY = 600,
    MOCK_PEER_ALREADY_ENABLED = 704,
    MOCK_LAUNCH_FAILED = 719,
    MOCK_CAPTURING = 900
};

struct cu_context_ {
    int device;
    size_t used;
    int lost;                /* by this error; 0: it works */
    bool peer[MOCK_DEVICES]; /* whose memory it may use */
};

typedef enum mock_op_kind { OP_COPY, OP_LAUNCH, OP_WAIT, OP_GRAPH, OP_CALL } mock_op_kind;
typedef struct mock_op {
    struct mock_op *next;
    mock_op_kind kind;
    void *dst;
    const void *src;
    cu_context dst_of, src_of; /* whose memory these are; NULL: the host's */
    size_t nbytes;
    cu_stream other; /* waits for its work up to `upto` */
    uint64_t upto;
    cu_function function;
    lz_simt_launch dims;
    cu_graph_exec graph;
    void **params;
    int (*call)(const uint64_t *values); /* not 0: the device is lost by this */
    uint64_t values[];
} mock_op;

struct cu_stream_ {
    cu_context owner;
    mock_op *head, **tail;
    uint64_t enqueued, done;
    int64_t told_ns; /* what its launches took, by lzMockTime */
    cu_graph capturing;
};

extern struct cu_context_ mock_contexts[MOCK_DEVICES];
extern int mock_ndevice;
MOCK_API extern lz_mock_stats mock_stats;

/* A call begins: takes the lock; an error when it is to fail or the context is lost, and then it
 * has no effect. */
MOCK_API int mock_enter(const char *name, cu_context context);
MOCK_API int mock_leave(int r);
MOCK_API void mock_lock(void); /* without being a call */
MOCK_API bool mock_initialised(void);
MOCK_API cu_context mock_current(void);
#define ENTER_IN(context)                                                                          \
    int r_ = mock_enter(__func__, context);                                                        \
    if (r_ == 0 && !mock_initialised())                                                            \
        r_ = MOCK_NOT_INITIALIZED;                                                                 \
    if (r_)                                                                                        \
    return mock_leave(r_)
#define ENTER() ENTER_IN(mock_current())

/* Puts it behind what is on the stream; takes it over. */
MOCK_API int mock_push(cu_stream s, mock_op *o);
/* Does the work of the stream up to that one; the error by which its device is lost, or 0. */
MOCK_API int mock_run_until(cu_stream s, uint64_t upto);
/* From now on who waits for a device waits for ever; until this is over. */
MOCK_API void mock_hang(bool yes);

/* cuda_mock_memory.c */
/* The context that the n bytes belong to; NULL: they are of no block. */
MOCK_API cu_context mock_owner(const void *p, size_t nbytes);
int mock_run_copy(const mock_op *o);
#endif
