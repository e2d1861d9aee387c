/* codec.c - zstd for entries. The static part of zstd's interface is used for two things the stable
 * part lacks: contexts on our allocator, and a frame's header without decoding the frame. */
#include "cache/codec.h"
#include "base/alloc.h"
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

enum { LEVEL = 3, MIN_BYTES = 64 };

static void *z_alloc(void *user, size_t n)
{
    (void)user;
    return lz_alloc(n);
}

static void z_free(void *user, void *p)
{
    (void)user;
    lz_free(p);
}

static const ZSTD_customMem z_mem = {z_alloc, z_free, NULL};

void lz_codec_pool_free(lz_codec_pool *p)
{
    ZSTD_freeDCtx(atomic_exchange(&p->idle, NULL));
}

size_t lz_codec_bound(size_t n)
{
    size_t b = ZSTD_compressBound(n);
    return ZSTD_isError(b) ? 0 : b;
}

size_t lz_codec_pack(const void *src, size_t n, void *dst, size_t cap)
{
    if (n < MIN_BYTES)
        return 0;
    ZSTD_CCtx *c = ZSTD_createCCtx_advanced(z_mem);
    if (!c)
        return 0;
    size_t got = 0;
    if (!ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 1)))
        got = ZSTD_compress2(c, dst, cap, src, n);
    ZSTD_freeCCtx(c);
    if (got == 0 || ZSTD_isError(got) || got >= n - n / 16)
        return 0;
    return lz_codec_refuse(dst, got, n) ? 0 : got; /* what the reader would refuse is not written */
}

const char *lz_codec_refuse(const void *frame, size_t csize, uint64_t usize)
{
    if (usize / LZ_CODEC_MAX_RATIO > (uint64_t)csize + LZ_CODEC_RATIO_SLACK)
        return "the stated size is out of proportion";
    ZSTD_frameHeader h;
    if (ZSTD_getFrameHeader(&h, frame, csize) != 0)
        return "not a zstd frame";
    if (h.frameType != ZSTD_frame)
        return "a skippable zstd frame";
    if (h.frameContentSize != usize)
        return "the frame states another size";
    if (!h.checksumFlag)
        return "the frame has no checksum";
    if (h.dictID != 0 || h.windowSize > LZ_CODEC_MAX_WINDOW)
        return "the frame needs a dictionary or a large window";
    if (ZSTD_findFrameCompressedSize(frame, csize) != csize)
        return "the frame ends early or late";
    return NULL;
}

lz_status lz_codec_unpack(lz_codec_pool *p, const void *frame, size_t csize, void *dst,
                          size_t usize)
{
    ZSTD_DCtx *d = atomic_exchange(&p->idle, NULL);
    if (!d)
        d = ZSTD_createDCtx_advanced(z_mem);
    if (!d)
        return LZ_EMEM;
    size_t got = ZSTD_decompressDCtx(d, dst, usize, frame, csize);
    d = atomic_exchange(&p->idle, d);
    ZSTD_freeDCtx(d);
    return !ZSTD_isError(got) && got == usize ? LZ_OK : LZ_ECORRUPT;
}
