/* json.c - see json.h. */
#include "data/json.h"
#include "base/formats/json.h"
#include "base/text.h"
#include <string.h>

static bool mistake(lz_json *j, const char *why)
{
    if (!j->why)
        j->why = why;
    return false;
}

char lz_json_peek(lz_json *j)
{
    if (j->why)
        return 0;
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\t' || *j->p == '\r'))
        j->p++;
    return j->p < j->end ? *j->p : 0;
}

bool lz_json_take(lz_json *j, char c)
{
    if (lz_json_peek(j) != c || j->p == j->end)
        return false;
    j->p++;
    return true;
}

bool lz_json_want(lz_json *j, char c)
{
    if (lz_json_take(j, c))
        return true;
    return mistake(j, c == ':'   ? "expected ':'"
                      : c == '{' ? "expected '{'"
                      : c == '[' ? "expected '['"
                                 : "expected something else");
}

bool lz_json_item(lz_json *j, char close, size_t *n)
{
    if (lz_json_take(j, close))
        return false;
    if (*n && !lz_json_take(j, ','))
        return mistake(j, j->p < j->end ? "expected ',' or the end of the list"
                                        : "the text ends too early");
    if (!j->why && lz_json_peek(j) == 0 && j->p == j->end)
        return mistake(j, "the text ends too early");
    ++*n;
    return !j->why;
}

/* ---- strings ---- */

static size_t put_utf8(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((len == 2 ? 0xc0 : len == 3 ? 0xe0 : 0xf0) | c);
    return len;
}

/* XXXX of \uXXXX. */
static bool hex4(lz_json *j, uint32_t *out)
{
    uint64_t v;
    if (j->end - j->p < 4 || lz_text_u64(j->p, 4, 16, 0xffff, &v) != LZ_OK)
        return mistake(j, "invalid escape");
    *out = (uint32_t)v;
    j->p += 4;
    return true;
}

/* What follows a backslash, as UTF-8; its length, 0 for a mistake. */
static size_t escape(lz_json *j, char out[4])
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint32_t c, low;
    char e = j->p < j->end ? *j->p++ : 0;
    const char *at = e ? strchr(from, e) : NULL;
    if (at) {
        *out = to[at - from];
        return 1;
    }
    if (e != 'u')
        return (size_t)mistake(j, "invalid escape");
    if (!hex4(j, &c))
        return 0;
    if (c >= 0xd800 && c < 0xdc00) { /* the first of a pair of surrogates */
        if (j->end - j->p < 2 || j->p[0] != '\\' || j->p[1] != 'u')
            return (size_t)mistake(j, "invalid Unicode escape");
        j->p += 2;
        if (!hex4(j, &low))
            return 0;
        if (low < 0xdc00 || low > 0xdfff)
            return (size_t)mistake(j, "invalid Unicode escape");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
        return (size_t)mistake(j, "invalid Unicode escape");
    }
    return c ? put_utf8(c, out) : (size_t)mistake(j, "\\u0000 is not allowed");
}

/* The next character of a string, in bytes; 0: its end, or a mistake. */
static size_t character(lz_json *j, char out[4])
{
    if (j->p == j->end)
        return (size_t)mistake(j, "a string has no end");
    if (*j->p == '"') {
        j->p++;
        return 0;
    }
    if (*j->p == '\\') {
        j->p++;
        return escape(j, out);
    }
    if ((unsigned char)*j->p < 0x20)
        return (size_t)mistake(j, "a control character in a string");
    size_t len = lz_utf8_length(j->p, (size_t)(j->end - j->p));
    if (!len)
        return (size_t)mistake(j, "a string is not UTF-8 text");
    memcpy(out, j->p, len);
    j->p += len;
    return len;
}

/* What most strings are made of. */
static size_t plain_run(const lz_json *j)
{
    size_t n = 0, most = (size_t)(j->end - j->p);
    while (n < most && (unsigned char)(j->p[n] - 0x20) < 0x60 && j->p[n] != '"' && j->p[n] != '\\')
        n++;
    return n;
}

/* At most `room` bytes go to out, whole characters. */
static bool string(lz_json *j, char *out, size_t room, size_t *len)
{
    char c[4];
    size_t n = 0;
    if (!lz_json_take(j, '"'))
        return mistake(j, "expected a string");
    for (;;) {
        size_t run = plain_run(j), k = run;
        const char *from = j->p;
        j->p += run;
        if (!run) {
            k = character(j, c);
            from = c;
        }
        if (!k)
            break;
        size_t fit = n >= room ? 0 : room - n >= k ? k : run ? room - n : 0;
        if (out)
            memcpy(out + n, from, fit);
        room = fit < k && n < room ? n + fit : room; /* what follows would not join on */
        n += k;
    }
    if (out) /* also behind the first part of one that is none */
        out[n < room ? n : room] = '\0';
    *len = n;
    return !j->why;
}

bool lz_json_string(lz_json *j, char *out, size_t *len)
{
    return string(j, out, SIZE_MAX, len);
}

bool lz_json_short(lz_json *j, char *out, size_t n, size_t *len)
{
    *out = '\0';
    return string(j, out, n - 1, len);
}

bool lz_json_key(lz_json *j, char *out, size_t *len)
{
    return lz_json_string(j, out, len) && lz_json_want(j, ':');
}

/* ---- other values ---- */

static size_t digits(lz_json *j)
{
    const char *from = j->p;
    while (j->p < j->end && lz_is_digit(*j->p))
        j->p++;
    return (size_t)(j->p - from);
}

bool lz_json_number(lz_json *j, int64_t *out, bool *whole)
{
    (void)lz_json_peek(j);
    if (j->why)
        return false;
    const char *from = j->p;
    if (j->p < j->end && *j->p == '-')
        j->p++;
    const char *first = j->p;
    size_t n = digits(j);
    if (!n || (n > 1 && *first == '0'))
        return mistake(j, "expected a number");
    const char *last = j->p;
    if (j->p < j->end && *j->p == '.') {
        j->p++;
        if (!digits(j))
            return mistake(j, "expected a number");
    }
    if (j->p < j->end && (*j->p == 'e' || *j->p == 'E')) {
        j->p++;
        if (j->p < j->end && (*j->p == '+' || *j->p == '-'))
            j->p++;
        if (!digits(j))
            return mistake(j, "expected a number");
    }
    *whole = j->p == last;
    *out = 0;
    if (*whole && lz_text_i64(from, (size_t)(last - from), INT64_MIN, INT64_MAX, out) != LZ_OK)
        return mistake(j, "the integer is too large");
    return true;
}

static bool word(lz_json *j, const char *w)
{
    size_t n = strlen(w);
    if ((size_t)(j->end - j->p) < n || memcmp(j->p, w, n) != 0)
        return false;
    j->p += n;
    return true;
}

/* A value without brackets. */
static bool skip_plain(lz_json *j, char next)
{
    size_t len;
    int64_t v;
    bool whole;
    if (next == '"')
        return lz_json_string(j, NULL, &len);
    if (next == '-' || lz_is_digit(next))
        return lz_json_number(j, &v, &whole);
    return word(j, "true") || word(j, "false") || word(j, "null") ||
           mistake(j, j->p < j->end ? "expected a value" : "the text ends too early");
}

/* Goes on behind a value in the innermost of `depth` brackets: to where the next value begins, out
 * of those that end here. False: a mistake, or nothing is open any more. */
static bool to_next(lz_json *j, const char *close, size_t *count, size_t *depth)
{
    size_t len;
    for (; *depth; --*depth) {
        if (lz_json_item(j, close[*depth - 1], &count[*depth - 1]))
            return close[*depth - 1] == ']' || lz_json_key(j, NULL, &len);
        if (j->why)
            return false;
    }
    return false;
}

bool lz_json_skip(lz_json *j)
{
    char close[LZ_JSON_DEPTH];
    size_t count[LZ_JSON_DEPTH], depth = 0;
    do {
        char next = lz_json_peek(j);
        if (next == '[' || next == '{') {
            if (depth == LZ_JSON_DEPTH)
                return mistake(j, "too many brackets: the depth is limited");
            j->p++;
            close[depth] = next == '[' ? ']' : '}';
            count[depth++] = 0;
        } else if (!skip_plain(j, next)) {
            return false;
        }
    } while (to_next(j, close, count, &depth));
    return !j->why;
}

bool lz_json_finish(lz_json *j)
{
    (void)lz_json_peek(j);
    return !j->why && (j->p == j->end || mistake(j, "something follows the end"));
}

lz_status lz_json_status(const lz_json *j, const char *path)
{
    int line = 1;
    if (!j->why)
        return LZ_OK;
    for (const char *p = j->begin; p < j->p; p++)
        line += *p == '\n';
    return LZ_FAIL(LZ_EPARSE, "%s: line %d of the JSON text: %s", path, line, j->why);
}

/* ---- writing ---- */

bool lz_json_put(lz_buf *b, const char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0, k; i < n; i += k)
        if (!(k = lz_utf8_length(s + i, n - i)))
            return false;
    lz_buf_json(b, s, n);
    return true;
}
