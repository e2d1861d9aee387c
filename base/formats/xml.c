/* xml.c - see xml.h. */
#include "base/formats/xml.h"
#include "base/text.h"
#include <string.h>

void lz_buf_xml(lz_buf *b, const char *s)
{
    for (size_t n = strlen(s), len; n > 0; s += len, n -= len) {
        size_t whole = lz_utf8_length(s, n);
        bool control = (unsigned char)*s < ' ' && *s != '\t' && *s != '\n';
        bool none = whole == 3 && memcmp(s, "\xef\xbf", 2) == 0 && (s[2] & 0xfe) == 0xbe;
        len = whole ? whole : 1;
        if (!whole || control || none) /* none: U+FFFE and U+FFFF */
            lz_buf_puts(b, "\xef\xbf\xbd");
        else if (*s == '<')
            lz_buf_puts(b, "&lt;");
        else if (*s == '>')
            lz_buf_puts(b, "&gt;");
        else if (*s == '&')
            lz_buf_puts(b, "&amp;");
        else if (*s == '"')
            lz_buf_puts(b, "&quot;");
        else
            lz_buf_put(b, s, len);
    }
}
