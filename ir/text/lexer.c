/* lexer.c - words, brackets and places of StableHLO text. See lexer.h. */
#include "ir/text/lexer.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- failures ---- */

static void place(const lz_lexer *c, const char *at, int *line, int *column)
{
    *line = *column = 1;
    for (const char *p = c->text; p < at && p < c->end; p++) {
        ++*column;
        if (*p == '\n') {
            ++*line;
            *column = 1;
        }
    }
}

lz_status lz_lex_fail(const lz_lexer *c, const char *at, lz_status s, const char *fmt, ...)
{
    char message[360];
    int line, column;
    va_list ap;
    va_start(ap, fmt);
    lz_vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    place(c, at, &line, &column);
    return LZ_FAIL(s, "%.80s:%d:%d: %s", c->name, line, column, message);
}

int lz_lex_line(const lz_lexer *c, const char *at)
{
    int line, column;
    place(c, at, &line, &column);
    return line;
}

lz_status lz_lex_wrap(const lz_lexer *c, const char *at)
{
    lz_error e = *lz_error_get();
    if (e.status == LZ_EMEM)
        return LZ_EMEM;
    return lz_lex_fail(c, at, e.status == LZ_EUNSUPPORTED ? e.status : LZ_EPARSE, "%.340s",
                       e.message);
}

/* ---- words ---- */

static bool blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool word_char(char c)
{
    return letter(c) || digit(c) || c == '$' || c == '.';
}

void lz_lex_skip(lz_lexer *c)
{
    while (c->p < c->end) {
        if (blank(*c->p)) {
            c->p++;
        } else if (*c->p == '/' && c->end - c->p > 1 && c->p[1] == '/') {
            while (c->p < c->end && *c->p != '\n')
                c->p++;
        } else {
            return;
        }
    }
}

bool lz_lex_sees(lz_lexer *c, const char *s)
{
    size_t n = strlen(s);
    lz_lex_skip(c);
    return (size_t)(c->end - c->p) >= n && memcmp(c->p, s, n) == 0;
}

bool lz_lex_eat(lz_lexer *c, const char *s)
{
    if (!lz_lex_sees(c, s))
        return false;
    c->p += strlen(s);
    return true;
}

bool lz_lex_eat_word(lz_lexer *c, const char *word)
{
    if (!lz_lex_sees(c, word))
        return false;
    const char *after = c->p + strlen(word);
    if (after < c->end && word_char(*after))
        return false;
    c->p = after;
    return true;
}

lz_status lz_lex_want(lz_lexer *c, const char *s)
{
    if (lz_lex_eat(c, s))
        return LZ_OK;
    lz_slice have = {c->p, 0};
    while (have.n < 24 && c->p + have.n < c->end && c->p[have.n] >= ' ')
        have.n++;
    return lz_lex_fail(c, c->p, LZ_EPARSE, "expected '%s', not '" LZ_SLICE_FMT "'", s,
                       LZ_SLICE_ARG(have));
}

lz_slice lz_lex_word(lz_lexer *c)
{
    lz_lex_skip(c);
    lz_slice w = {c->p, 0};
    if (c->p < c->end && letter(*c->p))
        while (c->p < c->end && word_char(*c->p))
            c->p++;
    w.n = (size_t)(c->p - w.s);
    return w;
}

bool lz_slice_is(lz_slice x, const char *s)
{
    return strlen(s) == x.n && memcmp(x.s, s, x.n) == 0;
}

/* The quote that ends what begins at p, on its line; NULL: there is none. By memchr, as a constant
 * may be a string of megabytes. */
static const char *string_end(const char *p, const char *end)
{
    const char *start = p, *quote = memchr(p, '"', (size_t)(end - p)), *escape;
    while (quote && (escape = memchr(p, '\\', (size_t)(quote - p)))) {
        p = escape + 2;
        if (p > quote)
            quote = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL;
    }
    return quote && !memchr(start, '\n', (size_t)(quote - start)) ? quote : NULL;
}

lz_status lz_lex_string(lz_lexer *c, lz_slice *out)
{
    LZ_TRY(lz_lex_want(c, "\""));
    const char *start = c->p;
    c->p = string_end(start, c->end);
    if (!c->p) {
        c->p = start;
        return lz_lex_fail(c, start - 1, LZ_EPARSE, "the string does not end");
    }
    *out = (lz_slice){start, (size_t)(c->p - start)};
    c->p++;
    return LZ_OK;
}

lz_status lz_lex_symbol(lz_lexer *c, lz_slice *out)
{
    LZ_TRY(lz_lex_want(c, "@"));
    if (c->p < c->end && *c->p == '"')
        return lz_lex_string(c, out);
    const char *start = c->p;
    while (c->p < c->end && (word_char(*c->p) || *c->p == '-') &&
           !(*c->p == '-' && c->end - c->p > 1 && c->p[1] == '>'))
        c->p++;
    *out = (lz_slice){start, (size_t)(c->p - start)};
    return out->n ? LZ_OK : lz_lex_fail(c, start, LZ_EPARSE, "expected a name after '@'");
}

lz_status lz_lex_value(lz_lexer *c, lz_slice *name, uint32_t *index)
{
    LZ_TRY(lz_lex_want(c, "%"));
    const char *start = c->p;
    while (c->p < c->end && (word_char(*c->p) || *c->p == '-') &&
           !(*c->p == '-' && c->end - c->p > 1 && c->p[1] == '>'))
        c->p++;
    *name = (lz_slice){start, (size_t)(c->p - start)};
    *index = UINT32_MAX;
    if (name->n == 0)
        return lz_lex_fail(c, start, LZ_EPARSE, "expected a name after '%%'");
    if (c->p < c->end && *c->p == '#') {
        int64_t k;
        c->p++;
        LZ_TRY(lz_lex_i64(c, &k));
        if (k < 0 || k >= UINT32_MAX)
            return lz_lex_fail(c, start, LZ_EPARSE, "%%" LZ_SLICE_FMT "#%" PRId64 " is no result",
                               LZ_SLICE_ARG(*name), k);
        *index = (uint32_t)k;
    }
    return LZ_OK;
}

lz_status lz_lex_digits(lz_lexer *c, int64_t *out)
{
    bool neg = lz_lex_eat(c, "-");
    const char *start = c->p;
    int64_t v = 0;
    while (c->p < c->end && digit(*c->p)) {
        if (!lz_mul_i64(v, 10, &v) || !lz_add_i64(v, neg ? -(*c->p - '0') : *c->p - '0', &v))
            return lz_lex_fail(c, start, LZ_EPARSE, "the number is too large");
        c->p++;
    }
    if (c->p == start)
        return lz_lex_fail(c, start, LZ_EPARSE, "expected a number");
    *out = v;
    return LZ_OK;
}

size_t lz_lex_number(const lz_lexer *c, const char *at)
{
    size_t n = 0;
    while (at + n < c->end && at[n] && (lz_is_alnum(at[n]) || strchr("+-._", at[n])))
        n++;
    return n;
}

lz_status lz_lex_i64(lz_lexer *c, int64_t *out)
{
    LZ_TRY(lz_lex_digits(c, out));
    return c->p < c->end && (lz_is_alnum(*c->p) || *c->p == '_' || *c->p == '.')
               ? lz_lex_fail(c, c->p, LZ_EPARSE, "expected the end of the number")
               : LZ_OK;
}

/* ---- brackets ---- */

/* Whether '>' closes: in "->" it does not. */
static bool closes(const lz_lexer *c, const char *from)
{
    if (*c->p == '>')
        return c->p == from || c->p[-1] != '-';
    return *c->p == ')' || *c->p == ']' || *c->p == '}';
}

lz_status lz_lex_until(lz_lexer *c, const char *stops)
{
    int64_t depth = 0;
    lz_slice s;
    lz_lex_skip(c);
    for (const char *from = c->p; lz_lex_skip(c), c->p < c->end; c->p++) {
        if (depth == 0 && *c->p && strchr(stops, *c->p))
            return LZ_OK;
        if (*c->p == '"') {
            LZ_TRY(lz_lex_string(c, &s));
            c->p--; /* the loop steps */
        } else if (*c->p == '(' || *c->p == '[' || *c->p == '{' || *c->p == '<') {
            depth++;
        } else if (closes(c, from) && depth-- == 0) {
            return LZ_OK;
        }
    }
    return depth == 0 ? LZ_OK : lz_lex_fail(c, c->end, LZ_EPARSE, "the text ends inside brackets");
}

lz_status lz_lex_group(lz_lexer *c)
{
    const char *start = c->p++;
    LZ_TRY(lz_lex_until(c, ""));
    if (c->p >= c->end)
        return lz_lex_fail(c, start, LZ_EPARSE, "the bracket is not closed");
    c->p++;
    return LZ_OK;
}

static lz_status skip_list(lz_lexer *c, const char *close)
{
    while (!lz_lex_eat(c, close)) {
        LZ_TRY(lz_lex_until(c, ","));
        if (!lz_lex_eat(c, ",") && !lz_lex_sees(c, close))
            return lz_lex_want(c, close);
    }
    return LZ_OK;
}

lz_status lz_lex_location(lz_lexer *c)
{
    const char *start = c->p;
    if (!lz_lex_eat_word(c, "loc"))
        return LZ_OK;
    if (!lz_lex_eat(c, "(")) {
        c->p = start;
        return LZ_OK;
    }
    return skip_list(c, ")");
}

lz_status lz_lex_braces(lz_lexer *c)
{
    return lz_lex_eat(c, "{") ? skip_list(c, "}") : LZ_OK;
}
