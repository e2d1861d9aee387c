/* proto.c - see proto.h. */
#include "base/formats/proto.h"
#include <string.h>

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
    put_varint(b, (uint64_t)field << 3 | LZ_PROTO_VARINT);
    put_varint(b, (uint64_t)v);
}

void lz_proto_double(lz_buf *b, uint32_t field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_varint(b, (uint64_t)field << 3 | LZ_PROTO_FIXED64);
    lz_buf_u64(b, bits);
}

void lz_proto_float(lz_buf *b, uint32_t field, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_varint(b, (uint64_t)field << 3 | LZ_PROTO_FIXED32);
    lz_buf_u32(b, bits);
}

void lz_proto_bytes(lz_buf *b, uint32_t field, const void *p, size_t n)
{
    put_varint(b, (uint64_t)field << 3 | LZ_PROTO_BYTES);
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

bool lz_proto_varint(lz_rd *r, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && !r->failed; shift += 7) {
        uint8_t b = lz_rd_u8(r);
        *out |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return !r->failed;
    }
    r->failed = true;
    return false;
}

bool lz_proto_next(lz_rd *r, lz_proto_field *f)
{
    uint64_t tag, n;
    if (r->failed || r->p == r->end || !lz_proto_varint(r, &tag))
        return false;
    *f = (lz_proto_field){.number = (uint32_t)(tag >> 3), .wire = (lz_proto_wire)(tag & 7)};
    switch (f->wire) {
    case LZ_PROTO_VARINT:
        return lz_proto_varint(r, &f->value);
    case LZ_PROTO_FIXED64:
        f->value = lz_rd_u64(r);
        return !r->failed;
    case LZ_PROTO_BYTES:
        if (!lz_proto_varint(r, &n))
            return false;
        f->at = lz_rd_bytes(r, n <= SIZE_MAX ? (size_t)n : SIZE_MAX);
        f->n = (size_t)n;
        return !r->failed;
    case LZ_PROTO_FIXED32:
        f->value = lz_rd_u32(r);
        return !r->failed;
    default:
        r->failed = true;
        return false;
    }
}
