/* vec.c - growth of vectors, byte strings and the bounds-checked reader. Threads:
 * thread-compatible. */
#include "base/vec.h"
#include "base/text.h"
#include <stdarg.h>
#include <string.h>

lz_status lz_vec_grow_(void **data, uint32_t *cap, uint64_t need, size_t elem)
{
    if (need > UINT32_MAX)
        return LZ_FAIL(LZ_EMEM, "a vector cannot hold %llu elements", (unsigned long long)need);
    uint64_t want = (uint64_t)*cap * 2;
    want = want < 8 ? 8 : want > UINT32_MAX ? UINT32_MAX : want;
    want = want < need ? need : want;
    size_t nbytes;
    void *p = lz_mul_size((size_t)want, elem, &nbytes) ? lz_realloc(*data, nbytes) : NULL;
    if (!p)
        return LZ_FAIL(LZ_EMEM, "no memory for a vector of %llu elements of %zu bytes",
                       (unsigned long long)want, elem);
    *data = p;
    *cap = (uint32_t)want;
    return LZ_OK;
}

/* Room for n more bytes and the final NUL. */
static bool buf_room(lz_buf *b, size_t n)
{
    size_t need;
    if (b->failed)
        return false;
    if (lz_add_size(b->len, n, &need) && lz_add_size(need, 1, &need)) {
        if (need <= b->cap)
            return true;
        size_t want = b->cap < 64 ? 64 : b->cap;
        while (want < need)
            want = want > SIZE_MAX / 2 ? need : want * 2;
        char *p = lz_realloc(b->data, want);
        if (p) {
            b->data = p;
            b->cap = want;
            return true;
        }
    }
    b->failed = true;
    return false;
}

void lz_buf_put(lz_buf *b, const void *p, size_t n)
{
    if (n == 0 || !buf_room(b, n))
        return;
    memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void lz_buf_puts(lz_buf *b, const char *s)
{
    if (s)
        lz_buf_put(b, s, strlen(s));
}

void lz_buf_putc(lz_buf *b, char c)
{
    lz_buf_put(b, &c, 1);
}

void lz_buf_printf(lz_buf *b, const char *fmt, ...)
{
    char small[256];
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = lz_vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
    } else if ((size_t)n < sizeof small) {
        lz_buf_put(b, small, (size_t)n);
    } else if (buf_room(b, (size_t)n)) {
        lz_vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void lz_buf_u8(lz_buf *b, uint8_t v)
{
    lz_buf_put(b, &v, 1);
}

void lz_buf_u32(lz_buf *b, uint32_t v)
{
    uint8_t x[4];
    for (int i = 0; i < 4; i++)
        x[i] = (uint8_t)(v >> (8 * i));
    lz_buf_put(b, x, sizeof x);
}

void lz_buf_u64(lz_buf *b, uint64_t v)
{
    uint8_t x[8];
    for (int i = 0; i < 8; i++)
        x[i] = (uint8_t)(v >> (8 * i));
    lz_buf_put(b, x, sizeof x);
}

void lz_buf_lstr(lz_buf *b, const char *s)
{
    size_t n = s ? strlen(s) : 0;
    if (n > UINT32_MAX) {
        b->failed = true;
        return;
    }
    lz_buf_u32(b, (uint32_t)n);
    lz_buf_put(b, s, n);
}

void lz_buf_put_quoted(lz_buf *b, const char *s)
{
    lz_buf_putc(b, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            lz_buf_printf(b, "\\%c", *s);
        else if ((unsigned char)*s < 32 || *s == 127)
            lz_buf_printf(b, "\\%02X", (unsigned char)*s);
        else
            lz_buf_putc(b, *s);
    }
    lz_buf_putc(b, '"');
}

const char *lz_buf_str(const lz_buf *b)
{
    return b->len ? b->data : "";
}

void lz_buf_free(lz_buf *b)
{
    lz_free(b->data);
    *b = (lz_buf){0};
}

const void *lz_rd_bytes(lz_rd *r, size_t n)
{
    if (r->failed || n > (size_t)(r->end - r->p)) {
        r->failed = true;
        return NULL;
    }
    const void *p = r->p;
    r->p += n;
    return p;
}

static uint64_t rd_le(lz_rd *r, size_t n)
{
    const uint8_t *p = lz_rd_bytes(r, n);
    uint64_t v = 0;
    for (size_t i = 0; p && i < n; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

uint8_t lz_rd_u8(lz_rd *r)
{
    return (uint8_t)rd_le(r, 1);
}

uint32_t lz_rd_u32(lz_rd *r)
{
    return (uint32_t)rd_le(r, 4);
}

uint64_t lz_rd_u64(lz_rd *r)
{
    return rd_le(r, 8);
}

uint32_t lz_rd_count(lz_rd *r, size_t min_item_bytes)
{
    uint32_t n = lz_rd_u32(r);
    size_t need;
    if (r->failed || !lz_mul_size(n, min_item_bytes, &need) || need > (size_t)(r->end - r->p)) {
        r->failed = true;
        return 0;
    }
    return n;
}
