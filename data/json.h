/* json.h - JSON (RFC 8259) piece by piece: the reader asks for what may come next and keeps
 * nothing, so a text takes no memory but what the caller makes of it. The first mistake ends the
 * reading: `why` says what it is, and every function gives false, 0 or nothing from then on.
 * Threads: thread-compatible. */
#ifndef LZ_DATA_JSON_H
#define LZ_DATA_JSON_H
#include "base/vec.h"

typedef struct lz_json {
    const char *begin, *p, *end;
    const char *why; /* NULL: no mistake so far */
} lz_json;

static inline lz_json lz_json_of(const char *text, size_t n)
{
    return (lz_json){text, text, text + n, NULL};
}
/* The character that comes next, after blanks; 0: the end. */
char lz_json_peek(lz_json *j);
/* Takes c if it comes next. */
bool lz_json_take(lz_json *j, char c);
/* The same, but a mistake if it does not. */
bool lz_json_want(lz_json *j, char c);
/* After '[' or '{' (close: what ends it) was taken: whether there is an item to read. *n counts
 * them and begins at 0. */
bool lz_json_item(lz_json *j, char close, size_t *n);
/* A string, decoded into out with a NUL if that is not NULL: which has room, as the text of a
 * string is longer than what it means. *len: its bytes, without the NUL. No string may hold a
 * NUL. */
bool lz_json_string(lz_json *j, char *out, size_t *len);
/* The same in a buffer of n bytes, cut to them, which has its NUL also where the text is no string;
 * *len: of the whole string. */
bool lz_json_short(lz_json *j, char *out, size_t n, size_t *len);
/* The key of an item of an object, and the colon. */
bool lz_json_key(lz_json *j, char *out, size_t *len);
/* A number; *whole: it is an integer, which is *out. One of more than 64 bits is a mistake. */
bool lz_json_number(lz_json *j, int64_t *out, bool *whole);
/* Any value, at most LZ_JSON_DEPTH brackets deep, is passed over. */
enum { LZ_JSON_DEPTH = 256 };
bool lz_json_skip(lz_json *j);
/* Nothing but blanks may come. */
bool lz_json_finish(lz_json *j);
/* LZ_OK, or the mistake as an error: LZ_EPARSE with the line. */
lz_status lz_json_status(const lz_json *j, const char *path);

/* Appends s as a JSON string. False, with nothing appended: it is no UTF-8 text. */
bool lz_json_put(lz_buf *b, const char *s);
#endif
