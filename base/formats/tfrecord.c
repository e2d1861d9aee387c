/* tfrecord.c - see tfrecord.h. */
#include "base/formats/tfrecord.h"

enum { HEAD = 12, TAIL = 4 };

static uint32_t table[256];

/* Every thread writes the same. */
static void make_table(void)
{
    if (__atomic_load_n(&table[255], __ATOMIC_ACQUIRE))
        return;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ UINT32_C(0x82f63b78) : c >> 1;
        __atomic_store_n(&table[i], c, __ATOMIC_RELEASE);
    }
}

uint32_t lz_crc32c(const void *p, size_t n)
{
    const uint8_t *b = p;
    uint32_t c = UINT32_MAX;
    make_table();
    for (size_t i = 0; i < n; i++)
        c = c >> 8 ^ __atomic_load_n(&table[(c ^ b[i]) & 255], __ATOMIC_RELAXED);
    return ~c;
}

/* So that the checksum of bytes that hold checksums is none of theirs. */
static uint32_t masked(const void *p, size_t n)
{
    uint32_t c = lz_crc32c(p, n);
    return (c >> 15 | c << 17) + UINT32_C(0xa282ead8);
}

void lz_tfrecord_put(lz_buf *b, const void *p, size_t n)
{
    lz_buf head = {0};
    lz_buf_u64(&head, n);
    lz_buf_put(b, head.data, head.len);
    lz_buf_u32(b, head.failed ? 0 : masked(head.data, head.len));
    lz_buf_put(b, p, n);
    lz_buf_u32(b, masked(p, n));
    b->failed |= head.failed;
    lz_buf_free(&head);
}

bool lz_tfrecord_next(const void *bytes, size_t n, size_t *at, const void **p, size_t *len,
                      const char **why)
{
    const uint8_t *b = (const uint8_t *)bytes + *at;
    size_t left = n - *at;
    *why = NULL;
    if (left == 0)
        return false;
    *why = "the last record is cut";
    if (left < HEAD + TAIL)
        return false;
    if (lz_le32(b + 8) != masked(b, 8)) {
        *why = "the checksum of a length is wrong";
        return false;
    }
    uint64_t size = lz_le64(b);
    if (size > left - HEAD - TAIL)
        return false;
    if (lz_le32(b + HEAD + size) != masked(b + HEAD, (size_t)size)) {
        *why = "the checksum of a record is wrong";
        return false;
    }
    *why = NULL;
    *p = b + HEAD;
    *len = (size_t)size;
    *at += HEAD + (size_t)size + TAIL;
    return true;
}
