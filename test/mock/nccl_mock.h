/* nccl_mock.h - controls of the library that stands in for NCCL in tests. It is loaded by the path
 * in LAZULI_CUDA_NCCL, beside the one that stands in for the driver; lzMockFail of that makes its
 * entry points fail, by their names, with a result of NCCL. Threads: thread-safe. */
#ifndef LZ_TEST_NCCL_MOCK_H
#define LZ_TEST_NCCL_MOCK_H
#include <stdint.h>

typedef struct lz_nccl_mock_stats {
    uint64_t live;               /* communicators, of one rank each */
    uint64_t made, aborted;      /* the same, so far */
    uint64_t groups;             /* groups of calls that did something */
    uint64_t reduced, scattered; /* all_reduce and reduce_scatter, each rank's call */
    uint64_t gathered, broadcast, sent, received;
    uint64_t polls; /* of communicators, for errors */
    uint64_t wrong; /* calls with which NCCL would hang or fail; what is wrong is on stderr */
} lz_nccl_mock_stats;

typedef enum lz_nccl_mock_fault {
    LZ_NCCL_MOCK_NOTHING,
    LZ_NCCL_MOCK_HANG,  /* the work never ends; ncclCommAbort ends it with results missing */
    LZ_NCCL_MOCK_ASYNC, /* the same, and the communicators report an error, `code` */
    LZ_NCCL_MOCK_STUCK  /* the calls of the group stay in progress, or those that make ranks */
} lz_nccl_mock_fault;

/* What becomes of the n-th group from now on (1: the next). */
void lzNcclMockFault(lz_nccl_mock_fault fault, uint64_t n, int code);
void lzNcclMockVersion(int version); /* what ncclGetVersion says; 22304 */
void lzNcclMockGetStats(lz_nccl_mock_stats *out);
#endif
