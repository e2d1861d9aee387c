/* json.c - see json.h. */
#include "base/json.h"
#include <string.h>

/* Bytes of the UTF-8 sequence at p; 0: it is none. */
static size_t sequence(const unsigned char *p, size_t n)
{
    size_t len = p[0] < 0x80   ? 1
                 : p[0] < 0xc2 ? 0
                 : p[0] < 0xe0 ? 2
                 : p[0] < 0xf0 ? 3
                 : p[0] < 0xf5 ? 4
                               : 0;
    if (len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool odd = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
               (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f);
    return odd ? 0 : len;
}

void lz_buf_json(lz_buf *b, const char *s, size_t n)
{
    lz_buf_putc(b, '"');
    for (size_t i = 0; i < n;) {
        const unsigned char *p = (const unsigned char *)s + i;
        size_t len = sequence(p, n - i);
        if (!len)
            lz_buf_puts(b, "\\ufffd");
        else if (*p < 0x20 || *p == 0x7f)
            lz_buf_printf(b, "\\u%04x", *p);
        else {
            if (*p == '"' || *p == '\\')
                lz_buf_putc(b, '\\');
            lz_buf_put(b, p, len);
        }
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
