/* svg.h - drawings as SVG: the document around them, and texts. Threads: thread-compatible. */
#ifndef LZ_BASE_FORMATS_SVG_H
#define LZ_BASE_FORMATS_SVG_H
#include "base/vec.h"

/* anchor: start, middle or end. s: any bytes (xml.h). */
void lz_svg_text(lz_buf *b, double x, double y, const char *anchor, const char *s);
/* A document on white. family, size: of the font of its texts. style: CSS, or "". body: what is in
 * it, which fails it. */
void lz_svg_document(lz_buf *out, int width, int height, const char *family, int size,
                     const char *style, lz_buf *body);
#endif
