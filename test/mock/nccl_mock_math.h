/* nccl_mock_math.h - what the library that stands in for NCCL computes: elements of several ranks
 * combined, the last rank's first, each step rounded to the type. Threads: pure functions. */
#ifndef LZ_TEST_NCCL_MOCK_MATH_H
#define LZ_TEST_NCCL_MOCK_MATH_H
#include <stddef.h>

/* Bytes of an element of one of NCCL's types; 0: there is no such type. */
int nccl_mock_size(int type);
/* to[i] of from[n - 1][i], .., from[0][i]. `to` overlaps none of them. */
void nccl_mock_combine(void *to, const void *const *from, int n, size_t count, int type, int op);
#endif
