/* codec.h - the compression of an entry's value: one zstd frame with a content size and a content
 * checksum. Frames come from disk, so everything about them is bounded before memory is spent.
 * Threads: thread-safe (a pool lends a decompression context to one thread at a time). */
#ifndef LZ_CACHE_CODEC_H
#define LZ_CACHE_CODEC_H
#include "base/status.h"
#include <stdatomic.h>

/* A value of n bytes never has a frame shorter than n / LZ_CODEC_MAX_RATIO - LZ_CODEC_RATIO_SLACK:
 * the writer keeps what would shrink more as it is, and the reader refuses such a frame without
 * reading it (a bomb). */
enum { LZ_CODEC_MAX_RATIO = 256, LZ_CODEC_RATIO_SLACK = 64, LZ_CODEC_MAX_WINDOW = 8 << 20 };

typedef struct lz_codec_pool {
    _Atomic(void *) idle; /* a context nobody uses at the moment, or NULL */
} lz_codec_pool;
void lz_codec_pool_free(lz_codec_pool *p);

size_t lz_codec_bound(size_t n); /* bytes that lz_codec_pack may write; 0 when n is too large */
/* Compresses n bytes into dst. 0 when the bytes are better kept as they are (also when memory is
 * exhausted). */
size_t lz_codec_pack(const void *src, size_t n, void *dst, size_t cap);

/* Why a frame of csize bytes cannot be what lz_codec_pack made of usize bytes; NULL when its header
 * is right. */
const char *lz_codec_refuse(const void *frame, size_t csize, uint64_t usize);
/* Decompresses a frame that lz_codec_refuse let pass into exactly usize bytes. LZ_ECORRUPT,
 * LZ_EMEM. */
lz_status lz_codec_unpack(lz_codec_pool *p, const void *frame, size_t csize, void *dst,
                          size_t usize);
#endif
