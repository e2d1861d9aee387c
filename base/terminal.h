/* terminal.h - what a terminal can: whether it is one whose cursor moves, colours (NO_COLOR,
 * no-color.org), characters beyond ASCII, its width; and text that it does not obey. Threads: as
 * getenv. */
#ifndef LZ_BASE_TERMINAL_H
#define LZ_BASE_TERMINAL_H
#include "base/vec.h"
#include <stdbool.h>

bool lz_terminal_is(int fd); /* and TERM is there and not "dumb" */
bool lz_terminal_has_colour(int fd);
bool lz_terminal_is_utf8(void);  /* the locale that the environment names */
int lz_terminal_columns(int fd); /* 80 where nobody says it */
/* Names are any bytes, and a terminal obeys some: control characters, those of Unicode (U+0080 to
 * U+009F) too, and what is no UTF-8 become '?'. Up to its NUL. */
void lz_buf_terminal_text(lz_buf *b, const char *s);
#endif
