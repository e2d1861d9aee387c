/* cuda_mock.h - controls of the library that stands in for the CUDA driver in tests. It is loaded
 * by the path in LAZULI_CUDA_DRIVER; a test reaches these through dlsym of the same library.
 * Threads: thread-safe. */
#ifndef LZ_TEST_CUDA_MOCK_H
#define LZ_TEST_CUDA_MOCK_H
#include <stddef.h>
#include <stdint.h>

typedef struct lz_mock_stats {
    /* calls of any entry point; kernels run; calls that were made to fail */
    uint64_t calls, launches, failed;
    uint64_t live_blocks, live_bytes;          /* device memory */
    uint64_t modules, pinned, streams, events; /* that live */
    uint64_t graphs, graph_launches;           /* made; launched */
    uint64_t live_graphs;
    uint64_t boxes;    /* launches of kernels whose factors come as boxes */
    uint64_t clusters; /* launches of blocks that run by two */
    uint64_t waits;    /* of the host, for an event or a stream */
    /* copied, in bytes: from and to the host; from one device to another; of those, where one may
     * use the other's memory */
    uint64_t bytes_in, bytes_out, bytes_across, bytes_direct;
} lz_mock_stats;

/* The n-th call (1: the next) of the entry point `name`, or of any that can fail when NULL, returns
 * `code`. n 0: none. With a code that is a lost device the calling thread's is lost until
 * lzMockReset. */
void lzMockFail(const char *name, uint64_t n, int code);
void lzMockMemory(size_t nbytes); /* of each device; 0: 1 GiB */
/* How many there are, 1 to 8, before the driver is asked; 2. Of a program: LZ_MOCK_DEVICES. */
void lzMockDevices(int n);
void lzMockCapability(int value); /* 10 major + minor, before the driver is asked; 90 */
/* From now on until lzMockReset the time between events is what launches are said to take: one of
 * the function `name` (NULL: any) with `grid` blocks (0: any number) takes ns, by the last rule
 * that fits, and everything else nothing. Gives the rule's number, or -1: there are too many. */
int lzMockTime(const char *name, uint32_t grid, int64_t ns);
uint64_t lzMockTimed(int rule); /* launches that went by it */
void lzMockReset(void);         /* no failures, no lost device, no rules */
void lzMockLose(int device, int code);
void lzMockHold(int yes);      /* who waits for an event waits until this is over */
void lzMockReachable(int yes); /* whether devices may use each other's memory; they may */
void lzMockGetStats(lz_mock_stats *out);
#endif
