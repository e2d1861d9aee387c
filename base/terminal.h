/* terminal.h - what a terminal can: whether it is one whose cursor moves, colours (NO_COLOR,
 * no-color.org), characters beyond ASCII, its width. Threads: as getenv. */
#ifndef LZ_BASE_TERMINAL_H
#define LZ_BASE_TERMINAL_H
#include <stdbool.h>

bool lz_terminal_is(int fd); /* and TERM is there and not "dumb" */
bool lz_terminal_has_colour(int fd);
bool lz_terminal_is_utf8(void);  /* the locale that the environment names */
int lz_terminal_columns(int fd); /* 80 where nobody says it */
#endif
