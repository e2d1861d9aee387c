/* json.c - see json.h. */
#include "base/formats/json.h"
#include "base/text.h"
#include <string.h>

/* What must not stand in a string as it is. */
static void put_escaped(lz_buf *b, char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = strchr(plain, c);
    if (at && *at)
        lz_buf_printf(b, "\\%c", letters[at - plain]);
    else
        lz_buf_printf(b, "\\u%04X", (unsigned char)c);
}

void lz_buf_json(lz_buf *b, const char *s, size_t n)
{
    lz_buf_putc(b, '"');
    for (size_t i = 0; i < n;) {
        const unsigned char *p = (const unsigned char *)s + i;
        size_t len = lz_utf8_length(s + i, n - i);
        if (!len)
            lz_buf_puts(b, "\\uFFFD");
        else if (*p < 0x20 || *p == 0x7f || *p == '"' || *p == '\\')
            put_escaped(b, s[i]);
        else
            lz_buf_put(b, s + i, len);
        i += len ? len : 1;
    }
    lz_buf_putc(b, '"');
}

void lz_buf_json_text(lz_buf *b, const char *s)
{
    if (s)
        lz_buf_json(b, s, strlen(s));
    else
        lz_buf_puts(b, "null");
}
