/* xml.h - text within XML, of SVG: names are any bytes; what is no UTF-8, or no character of XML,
 * becomes U+FFFD. Threads: thread-compatible. */
#ifndef LZ_BASE_FORMATS_XML_H
#define LZ_BASE_FORMATS_XML_H
#include "base/vec.h"

/* Between tags and in quoted attributes; up to its NUL. */
void lz_buf_xml(lz_buf *b, const char *s);
#endif
