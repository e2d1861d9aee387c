/* vec.h - growable arrays and growable byte strings.
 * LZ_VEC(T) declares { T *data; uint32_t len, cap; }; zero-initialise to create, lz_vec_free to
 * end. lz_vec_push is an expression: LZ_OK or LZ_EMEM (the vector is unchanged then).
 * Threads: thread-compatible. */
#ifndef LZ_BASE_VEC_H
#define LZ_BASE_VEC_H
#include "base/alloc.h"
#include "base/status.h"

#define LZ_VEC(T)                                                                                  \
    struct {                                                                                       \
        T *data;                                                                                   \
        uint32_t len, cap;                                                                         \
    }
lz_status lz_vec_grow_(void **data, uint32_t *cap, uint64_t need, size_t elem);
#define lz_vec_reserve(v, n)                                                                       \
    ((uint64_t)(n) <= (v)->cap                                                                     \
         ? LZ_OK                                                                                   \
         : lz_vec_grow_((void **)&(v)->data, &(v)->cap, (n), sizeof *(v)->data))
#define lz_vec_push(v, x)                                                                          \
    (lz_vec_reserve((v), (uint64_t)(v)->len + 1) == LZ_OK ? ((v)->data[(v)->len++] = (x), LZ_OK)   \
                                                          : LZ_EMEM)
#define lz_vec_free(v) (lz_free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)

/* Growable byte string; a failed append sets `failed` and later appends do nothing, so a writer
 * checks once. data is NUL-terminated whenever len > 0; lz_buf_str gives "" for an empty one. */
typedef struct lz_buf {
    char *data;
    size_t len, cap;
    bool failed;
} lz_buf;
void lz_buf_put(lz_buf *b, const void *p, size_t n);
void lz_buf_puts(lz_buf *b, const char *s);
void lz_buf_putc(lz_buf *b, char c);
void lz_buf_printf(lz_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void lz_buf_u8(lz_buf *b, uint8_t v); /* little-endian binary writers */
void lz_buf_u32(lz_buf *b, uint32_t v);
void lz_buf_u64(lz_buf *b, uint64_t v);
void lz_buf_lstr(lz_buf *b, const char *s); /* u32 length, bytes */
/* "text", with \" and \\ escaped and control characters as \XX, as MLIR writes strings */
void lz_buf_put_quoted(lz_buf *b, const char *s);
const char *lz_buf_str(const lz_buf *b);
void lz_buf_free(lz_buf *b);

/* Bounds-checked reader of binary data; after an underflow `failed` is set and every read gives
 * 0. */
typedef struct lz_rd {
    const uint8_t *p, *end;
    bool failed;
    bool nomem; /* beside failed: what was read could not be kept */
} lz_rd;
uint8_t lz_rd_u8(lz_rd *r);
uint32_t lz_rd_u32(lz_rd *r);
uint64_t lz_rd_u64(lz_rd *r);
const void *lz_rd_bytes(lz_rd *r, size_t n); /* NULL on underflow */
/* Reads a count of items of at least `min_item_bytes` each; fails when the rest cannot hold
 * them. */
uint32_t lz_rd_count(lz_rd *r, size_t min_item_bytes);

/* Little-endian numbers at any address. */
static inline uint16_t lz_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t lz_le32(const uint8_t *p)
{
    return lz_le16(p) | (uint32_t)lz_le16(p + 2) << 16;
}
static inline uint64_t lz_le64(const uint8_t *p)
{
    return lz_le32(p) | (uint64_t)lz_le32(p + 4) << 32;
}
#endif
