/* cuda_mock_memory.c - memory of the devices of the library that stands in for the CUDA driver, and
 * copies from, to and between them. Each block belongs to a context. A copy says whose memory it
 * means, when it is enqueued and again when it runs: memory that was freed meanwhile, or of a
 * device that may not be reached, is reported. Threads: see cuda_mock_state.h. */
#include "test/mock/cuda_mock_state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API MOCK_API
enum { MAX_BLOCKS = 1 << 16, ALL = 1 << 30 };

static struct {
    char *p;
    size_t nbytes;
    cu_context owner;
} blocks[MAX_BLOCKS];
static uint32_t nblocks;
static size_t memory = ALL;
static bool unreachable;

API void lzMockMemory(size_t nbytes)
{
    mock_lock();
    memory = nbytes ? nbytes : ALL;
    (void)mock_leave(0);
}

API void lzMockReachable(int yes)
{
    mock_lock();
    unreachable = !yes;
    (void)mock_leave(0);
}

cu_context mock_owner(const void *p, size_t nbytes)
{
    const char *at = p;
    for (uint32_t i = 0; i < nblocks; i++)
        if (at >= blocks[i].p && at < blocks[i].p + blocks[i].nbytes)
            return nbytes <= (size_t)(blocks[i].p + blocks[i].nbytes - at) ? blocks[i].owner : NULL;
    return NULL;
}

/* ---- blocks ---- */

API int cuMemAlloc_v2(cu_ptr *address, size_t nbytes)
{
    ENTER();
    cu_context c = mock_current();
    if (!c)
        return mock_leave(MOCK_INVALID_CONTEXT);
    if (nbytes > memory || c->used > memory - nbytes || nblocks == MAX_BLOCKS)
        return mock_leave(CU_OUT_OF_MEMORY);
    void *p = aligned_alloc(256, (nbytes + 255) & ~(size_t)255);
    if (!p)
        return mock_leave(CU_OUT_OF_MEMORY);
    memset(p, 0xA5, nbytes);
    blocks[nblocks].p = p;
    blocks[nblocks].nbytes = nbytes;
    blocks[nblocks++].owner = c;
    c->used += nbytes;
    mock_stats.live_blocks++;
    mock_stats.live_bytes += nbytes;
    *address = (cu_ptr)(uintptr_t)p;
    return mock_leave(0);
}

API int cuMemFree_v2(cu_ptr address)
{
    ENTER();
    for (uint32_t i = 0; i < nblocks; i++)
        if ((cu_ptr)(uintptr_t)blocks[i].p == address) {
            mock_stats.live_blocks--;
            mock_stats.live_bytes -= blocks[i].nbytes;
            blocks[i].owner->used -= blocks[i].nbytes;
            free(blocks[i].p);
            blocks[i] = blocks[--nblocks];
            return mock_leave(0);
        }
    fprintf(stderr, "cuda mock: free of an address that was not allocated\n");
    return mock_leave(MOCK_INVALID_VALUE);
}

API int cuMemGetInfo_v2(size_t *nfree, size_t *total)
{
    ENTER();
    cu_context c = mock_current();
    *total = memory;
    *nfree = memory - (c && c->used < memory ? c->used : memory);
    return mock_leave(0);
}

API int cuMemHostAlloc(void **address, size_t nbytes, unsigned flags)
{
    ENTER();
    (void)flags;
    *address = aligned_alloc(4096, (nbytes + 4095) & ~(size_t)4095);
    mock_stats.pinned += *address != NULL;
    return mock_leave(*address ? 0 : CU_OUT_OF_MEMORY);
}

API int cuMemFreeHost(void *address)
{
    ENTER();
    mock_stats.pinned -= address != NULL;
    free(address);
    return mock_leave(0);
}

/* ---- copies ---- */

static int wrong(const char *what)
{
    fprintf(stderr, "cuda mock: %s\n", what);
    return MOCK_INVALID_VALUE;
}

static bool is_of(const void *p, size_t nbytes, cu_context c)
{
    return mock_owner(p, nbytes) == c;
}

int mock_run_copy(const mock_op *o)
{
    if (!is_of(o->dst, o->nbytes, o->dst_of) || !is_of(o->src, o->nbytes, o->src_of)) {
        (void)wrong("a copy ran when its memory had been freed");
        return MOCK_LAUNCH_FAILED;
    }
    memmove(o->dst, o->src, o->nbytes);
    return 0;
}

/* dst_of, src_of: whose memory it is; NULL: the host's. */
static int copy(void *dst, cu_context dst_of, const void *src, cu_context src_of, size_t nbytes,
                cu_stream stream)
{
    if (!is_of(dst, nbytes, dst_of) || !is_of(src, nbytes, src_of))
        return wrong("a copy of memory that is not its device's");
    mock_op *o = calloc(1, sizeof *o);
    if (o) {
        o->kind = OP_COPY;
        o->dst = dst;
        o->dst_of = dst_of;
        o->src = src;
        o->src_of = src_of;
        o->nbytes = nbytes;
    }
    return mock_push(stream, o);
}

API int cuMemcpyHtoDAsync_v2(cu_ptr dst, const void *src, size_t nbytes, cu_stream stream)
{
    ENTER();
    mock_stats.bytes_in += nbytes;
    return mock_leave(copy((void *)(uintptr_t)dst, stream->owner, src, NULL, nbytes, stream));
}

API int cuMemcpyDtoHAsync_v2(void *dst, cu_ptr src, size_t nbytes, cu_stream stream)
{
    ENTER();
    mock_stats.bytes_out += nbytes;
    return mock_leave(copy(dst, NULL, (void *)(uintptr_t)src, stream->owner, nbytes, stream));
}

/* Of one device, or of those that the stream's may reach. */
API int cuMemcpyDtoDAsync_v2(cu_ptr dst, cu_ptr src, size_t nbytes, cu_stream stream)
{
    ENTER();
    void *to = (void *)(uintptr_t)dst, *from = (void *)(uintptr_t)src;
    cu_context ends[2] = {mock_owner(to, nbytes), mock_owner(from, nbytes)}, c = stream->owner;
    for (int i = 0; i < 2; i++)
        if (!ends[i] || (ends[i] != c && !c->peer[ends[i]->device]))
            return mock_leave(wrong("a plain copy of memory that its device cannot reach"));
    return mock_leave(copy(to, ends[0], from, ends[1], nbytes, stream));
}

static int fill(const uint64_t *v)
{
    memset((void *)(uintptr_t)v[0], (int)v[1], v[2]);
    return 0;
}

API int cuMemsetD8Async(cu_ptr dst, unsigned char value, size_t n, cu_stream stream)
{
    ENTER();
    if (!is_of((void *)(uintptr_t)dst, n, stream->owner))
        return mock_leave(wrong("memory that is cleared is not its device's"));
    mock_op *o = calloc(1, sizeof *o + 3 * sizeof(uint64_t));
    if (o) {
        o->kind = OP_CALL;
        o->call = fill;
        o->values[0] = dst;
        o->values[1] = value;
        o->values[2] = n;
    }
    return mock_leave(mock_push(stream, o));
}

/* ---- other devices' memory ---- */

API int cuDeviceCanAccessPeer(int *can, cu_device device, cu_device peer)
{
    ENTER();
    if (device < 0 || device >= mock_ndevice || peer < 0 || peer >= mock_ndevice)
        return mock_leave(MOCK_INVALID_DEVICE);
    *can = device != peer && !unreachable;
    return mock_leave(0);
}

API int cuCtxEnablePeerAccess(cu_context peer, unsigned flags)
{
    ENTER();
    cu_context c = mock_current();
    if (!c || !peer || flags)
        return mock_leave(!c ? MOCK_INVALID_CONTEXT : MOCK_INVALID_VALUE);
    if (c == peer)
        return mock_leave(MOCK_INVALID_DEVICE);
    if (unreachable)
        return mock_leave(MOCK_PEER_UNSUPPORTED);
    if (c->peer[peer->device])
        return mock_leave(MOCK_PEER_ALREADY_ENABLED);
    c->peer[peer->device] = true;
    return mock_leave(0);
}

/* Goes from one device to the other where one may use the other's memory, through the driver's own
 * memory where not. */
API int cuMemcpyPeerAsync(cu_ptr dst, cu_context to, cu_ptr src, cu_context from, size_t nbytes,
                          cu_stream stream)
{
    ENTER();
    if (!to || !from || (stream->owner != to && stream->owner != from))
        return mock_leave(wrong("a copy between devices on a stream of neither"));
    if (to->lost || from->lost)
        return mock_leave(to->lost ? to->lost : from->lost);
    mock_stats.bytes_across += nbytes;
    if (to == from || to->peer[from->device] || from->peer[to->device])
        mock_stats.bytes_direct += nbytes;
    return mock_leave(
        copy((void *)(uintptr_t)dst, to, (void *)(uintptr_t)src, from, nbytes, stream));
}
