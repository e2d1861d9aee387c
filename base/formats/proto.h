/* proto.h - fields of messages of protocol buffers (protobuf.dev/programming-guides/encoding):
 * appended one after the other; a message within a message is built apart and then appended.
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
#endif
