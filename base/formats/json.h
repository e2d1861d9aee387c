/* json.h - strings of JSON that is written (RFC 8259). Names and paths are any bytes; what is no
 * UTF-8, as where a name was cut, becomes U+FFFD. Threads: thread-compatible. */
#ifndef LZ_BASE_FORMATS_JSON_H
#define LZ_BASE_FORMATS_JSON_H
#include "base/vec.h"

void lz_buf_json(lz_buf *b, const char *s, size_t n);
void lz_buf_json_text(lz_buf *b, const char *s); /* up to its NUL; NULL: null */
#endif
