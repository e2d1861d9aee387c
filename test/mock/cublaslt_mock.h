/* cublaslt_mock.h - controls of the library that stands in for cuBLASLt in tests. It is loaded by
 * the path in LAZULI_CUDA_CUBLASLT, beside the one that stands in for the driver; lzMockFail of
 * that makes its entry points fail, by their names, with a status of cuBLAS. Threads:
 * thread-safe. */
#ifndef LZ_TEST_CUBLASLT_MOCK_H
#define LZ_TEST_CUBLASLT_MOCK_H
#include <stdint.h>

typedef struct lz_lt_mock_stats {
    uint64_t live;       /* descriptors of any kind */
    uint64_t asked;      /* for an algorithm */
    uint64_t put;        /* products on a stream, or into a graph */
    uint64_t run;        /* products made */
    uint64_t tf32;       /* of those that were put: with factors that may be rounded */
    uint64_t wrong;      /* calls the library would not understand; what is wrong is on stderr */
    uint64_t workspace;  /* bytes of the last one that was put */
    uint64_t transposed; /* factors of those that were put */
} lz_lt_mock_stats;

void lzLtMockRefuse(int yes); /* no algorithm is found */
void lzLtMockGetStats(lz_lt_mock_stats *out);
#endif
