/* proto.c - see proto.h. */
#include "base/formats/proto.h"
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

static void put_varint(lz_buf *b, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    do {
        bytes[n] = (uint8_t)(v & 127);
        v >>= 7;
        bytes[n++] |= v ? 128 : 0;
    } while (v);
    lz_buf_put(b, bytes, n);
}

void lz_proto_int(lz_buf *b, uint32_t field, int64_t v)
{
    put_varint(b, (uint64_t)field << 3 | VARINT);
    put_varint(b, (uint64_t)v);
}

void lz_proto_double(lz_buf *b, uint32_t field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_varint(b, (uint64_t)field << 3 | FIXED64);
    lz_buf_u64(b, bits);
}

void lz_proto_float(lz_buf *b, uint32_t field, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_varint(b, (uint64_t)field << 3 | FIXED32);
    lz_buf_u32(b, bits);
}

void lz_proto_bytes(lz_buf *b, uint32_t field, const void *p, size_t n)
{
    put_varint(b, (uint64_t)field << 3 | LENGTH);
    put_varint(b, n);
    lz_buf_put(b, p, n);
}

void lz_proto_list(lz_buf *b, uint32_t field, const int64_t *v, size_t n)
{
    lz_buf list = {0};
    for (size_t i = 0; i < n; i++)
        put_varint(&list, (uint64_t)v[i]);
    lz_proto_message(b, field, &list);
    lz_buf_free(&list);
}

void lz_proto_message(lz_buf *b, uint32_t field, lz_buf *m)
{
    lz_proto_bytes(b, field, m->data, m->len);
    b->failed |= m->failed;
    m->len = 0;
}
