/* svg.c - see svg.h. */
#include "base/formats/svg.h"
#include "base/formats/xml.h"

void lz_svg_text(lz_buf *b, double x, double y, const char *anchor, const char *s)
{
    lz_buf_printf(b, "<text x=\"%.7g\" y=\"%.7g\" text-anchor=\"%s\">", x, y, anchor);
    lz_buf_xml(b, s);
    lz_buf_puts(b, "</text>\n");
}

void lz_svg_document(lz_buf *out, int width, int height, const char *family, int size,
                     const char *style, lz_buf *body)
{
    lz_buf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" font-family=\"%s\" font-size=\"%d\">\n",
                  width, height, width, height, family, size);
    if (*style)
        lz_buf_printf(out, "<style>%s</style>\n", style);
    lz_buf_puts(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    lz_buf_puts(out, lz_buf_str(body));
    lz_buf_puts(out, "</svg>\n");
    out->failed |= body->failed;
}
