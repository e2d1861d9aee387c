/* terminal.c - see terminal.h. */
#include "base/terminal.h"
#include "base/env.h"
#include "base/text.h"
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool lz_terminal_is(int fd)
{
    const char *term = lz_env_get("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool lz_terminal_has_colour(int fd)
{
    return lz_terminal_is(fd) && !lz_env_get("NO_COLOR");
}

bool lz_terminal_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *v = lz_env_get(names[i]);
        if (v)
            return strstr(v, "UTF-8") || strstr(v, "utf8") || strstr(v, "UTF8") ||
                   strstr(v, "utf-8");
    }
    return false;
}

int lz_terminal_columns(int fd)
{
    struct winsize w;
    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

void lz_buf_terminal_text(lz_buf *b, const char *s)
{
    for (size_t n = strlen(s), len; n > 0; s += len, n -= len) {
        const unsigned char *c = (const unsigned char *)s;
        size_t whole = lz_utf8_length(s, n);
        bool control = *c < ' ' || *c == 0x7f || (whole == 2 && *c == 0xc2 && c[1] < 0xa0);
        len = whole ? whole : 1;
        if (!whole || control)
            lz_buf_putc(b, '?');
        else
            lz_buf_put(b, s, len);
    }
}
