/* proto.h - fields of messages of protocol buffers (protobuf.dev/programming-guides/encoding):
 * appended one after the other, where a message within a message is built apart and then appended;
 * and read one by one.
 * Threads: thread-compatible. */
#ifndef LZ_BASE_FORMATS_PROTO_H
#define LZ_BASE_FORMATS_PROTO_H
#include "base/vec.h"

void lz_proto_int(lz_buf *b, uint32_t field, int64_t v); /* also uint64, bool and enums */
void lz_proto_double(lz_buf *b, uint32_t field, double v);
void lz_proto_float(lz_buf *b, uint32_t field, float v);
void lz_proto_bytes(lz_buf *b, uint32_t field, const void *p, size_t n);   /* also strings */
void lz_proto_list(lz_buf *b, uint32_t field, const int64_t *v, size_t n); /* repeated, packed */
/* The message that is in `m`, which is empty afterwards. */
void lz_proto_message(lz_buf *b, uint32_t field, lz_buf *m);

typedef enum lz_proto_wire {
    LZ_PROTO_VARINT = 0,
    LZ_PROTO_FIXED64 = 1,
    LZ_PROTO_BYTES = 2, /* also strings, messages and packed lists */
    LZ_PROTO_FIXED32 = 5
} lz_proto_wire;
typedef struct lz_proto_field {
    uint32_t number;
    lz_proto_wire wire;
    uint64_t value;    /* of a number: of a float its bits */
    const uint8_t *at; /* n bytes */
    size_t n;
} lz_proto_field;
/* The next field. Untrusted. False: at the end, or what follows is none (r->failed). */
bool lz_proto_next(lz_rd *r, lz_proto_field *f);
/* A number of a packed list. */
bool lz_proto_varint(lz_rd *r, uint64_t *out);
static inline lz_rd lz_proto_reader(const void *message, size_t n)
{
    return (lz_rd){.p = message, .end = (const uint8_t *)message + n};
}
#endif
