/* vhlo_read.c - bytes and text of VHLO bytecode. See vhlo_read.h. */
#include "ir/vhlo/vhlo_read.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

bool lz_vstr_is(lz_vstr x, const char *s)
{
    return strlen(s) == x.n && memcmp(x.s, s, x.n) == 0;
}

/* ---- failures ---- */

void lz_vhlo_fail(lz_vhlo *v, const uint8_t *at, lz_status s, const char *fmt, ...)
{
    char message[300];
    va_list ap;
    if (v->failed != LZ_OK)
        return;
    va_start(ap, fmt);
    lz_vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    v->failed = at ? LZ_FAIL(s, "bytecode: byte %zu: %s", (size_t)(at - v->bytes), message)
                   : LZ_FAIL(s, "bytecode: %s", message);
}

bool lz_vhlo_enter(lz_vhlo *v, const uint8_t *at)
{
    v->depth++;
    if (v->depth > LZ_VHLO_DEPTH)
        lz_vhlo_fail(v, at, LZ_EUNSUPPORTED, "more than %d things in each other", LZ_VHLO_DEPTH);
    if (v->out->len > v->most)
        lz_vhlo_fail(v, at, LZ_EUNSUPPORTED, "the program's text has more than %zu bytes", v->most);
    if (v->out->failed)
        lz_vhlo_fail(v, NULL, LZ_EMEM, "no memory for the text");
    return v->failed == LZ_OK;
}

void lz_vhlo_leave(lz_vhlo *v)
{
    v->depth--;
}

static void short_of(lz_vcur *c)
{
    lz_vhlo_fail(c->v, c->p, LZ_EPARSE, "what begins here ends too early");
    c->p = c->end;
}

/* ---- numbers ---- */

uint8_t lz_vcur_byte(lz_vcur *c)
{
    if (c->p >= c->end || c->v->failed != LZ_OK) {
        short_of(c);
        return 0;
    }
    return *c->p++;
}

/* As many zero bits as bytes follow the first, and a one. */
uint64_t lz_vcur_varint(lz_vcur *c)
{
    uint8_t first = lz_vcur_byte(c);
    if (first & 1)
        return first >> 1;
    unsigned n = first ? (unsigned)__builtin_ctz(first) : 8;
    if ((size_t)(c->end - c->p) < n || c->v->failed != LZ_OK) {
        short_of(c);
        return 0;
    }
    uint64_t x = 0;
    for (unsigned i = 0; i < n; i++)
        x |= (uint64_t)c->p[i] << (8 * i);
    c->p += n;
    return n == 8 ? x : (x << 8 | first) >> (n + 1);
}

uint64_t lz_vcur_flagged(lz_vcur *c, bool *flag)
{
    uint64_t x = lz_vcur_varint(c);
    *flag = x & 1;
    return x >> 1;
}

int64_t lz_vcur_signed(lz_vcur *c)
{
    uint64_t x = lz_vcur_varint(c);
    return (int64_t)(x >> 1 ^ (~(x & 1) + 1));
}

uint32_t lz_vcur_count(lz_vcur *c)
{
    const uint8_t *at = c->p;
    uint64_t n = lz_vcur_varint(c);
    if (n > (uint64_t)(c->end - c->p) || n > UINT32_MAX / 2) {
        lz_vhlo_fail(c->v, at, LZ_EPARSE, "a list of %" PRIu64 " has %zu bytes", n,
                     (size_t)(c->end - c->p));
        c->p = c->end;
        return 0;
    }
    return c->v->failed == LZ_OK ? (uint32_t)n : 0;
}

uint32_t lz_vcur_index(lz_vcur *c, uint32_t n, const char *what)
{
    const uint8_t *at = c->p;
    uint64_t i = lz_vcur_varint(c);
    if (i < n)
        return (uint32_t)i;
    lz_vhlo_fail(c->v, at, LZ_EPARSE, "there are %u %s, but this is number %" PRIu64, n, what, i);
    return 0;
}

lz_vcur lz_vcur_take(lz_vcur *c, uint64_t n)
{
    lz_vcur part = {c->v, c->p, c->p};
    if (n > (uint64_t)(c->end - c->p)) {
        lz_vhlo_fail(c->v, c->p, LZ_EPARSE, "%" PRIu64 " bytes are to follow, and %zu do", n,
                     (size_t)(c->end - c->p));
        c->p = c->end;
        return part;
    }
    part.end = c->p += n;
    return part;
}

uint8_t lz_vcur_section(lz_vcur *c, lz_vcur *inside)
{
    uint8_t id = lz_vcur_byte(c);
    uint64_t n = lz_vcur_varint(c);
    if (id & 0x80) { /* begins at a multiple of what follows */
        uint64_t to = lz_vcur_varint(c);
        while (to > 1 && (uint64_t)(c->p - c->v->bytes) % to && c->v->failed == LZ_OK)
            (void)lz_vcur_byte(c);
    }
    *inside = lz_vcur_take(c, n);
    return id & 0x7f;
}

lz_vstr lz_vcur_string(lz_vcur *c)
{
    uint32_t i = lz_vcur_index(c, c->v->strings.len, "strings");
    return c->v->failed == LZ_OK ? c->v->strings.data[i] : (lz_vstr){"", 0};
}

uint64_t lz_vcur_bits(lz_vcur *c, uint32_t width)
{
    if (width > 64)
        lz_vhlo_fail(c->v, c->p, LZ_EUNSUPPORTED, "a number of %u bits", width);
    uint64_t mask = width < 64 ? (UINT64_C(1) << (width & 63)) - 1 : UINT64_MAX;
    return (width <= 8 ? lz_vcur_byte(c) : (uint64_t)lz_vcur_signed(c)) & mask;
}

/* ---- text ---- */

void lz_vput(lz_vhlo *v, const char *s)
{
    lz_buf_put(v->out, s, strlen(s));
}

void lz_vput_str(lz_vhlo *v, lz_vstr s)
{
    lz_buf_put(v->out, s.s, s.n);
}

void lz_vput_u64(lz_vhlo *v, uint64_t x)
{
    char digits[24];
    size_t i = sizeof digits;
    do
        digits[--i] = (char)('0' + x % 10);
    while (x /= 10);
    lz_buf_put(v->out, digits + i, sizeof digits - i);
}

void lz_vput_i64(lz_vhlo *v, int64_t x)
{
    if (x < 0)
        lz_vput(v, "-");
    lz_vput_u64(v, x < 0 ? ~(uint64_t)x + 1 : (uint64_t)x);
}

void lz_vput_quoted(lz_vhlo *v, lz_vstr s)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t from = 0;
    lz_vput(v, "\"");
    for (size_t i = 0; i < s.n; i++) {
        uint8_t x = (uint8_t)s.s[i];
        if (x >= ' ' && x < 0x7f && x != '"' && x != '\\')
            continue;
        char escape[3] = {'\\', hex[x >> 4], hex[x & 15]};
        lz_buf_put(v->out, s.s + from, i - from);
        lz_buf_put(v->out, x == '\\' ? "\\\\" : escape, x == '\\' ? 2 : 3);
        from = i + 1;
    }
    lz_buf_put(v->out, s.s + from, s.n - from);
    lz_vput(v, "\"");
}

void lz_vput_key(lz_vhlo *v, lz_vstr s)
{
    bool bare = s.n > 0 && (lz_is_alpha(*s.s) || *s.s == '_');
    for (size_t i = 0; i < s.n && bare; i++)
        bare = lz_is_alnum(s.s[i]) || s.s[i] == '_' || s.s[i] == '$' || s.s[i] == '.';
    if (bare)
        lz_vput_str(v, s);
    else
        lz_vput_quoted(v, s);
}

void lz_vput_symbol(lz_vhlo *v, lz_vstr s)
{
    lz_vput(v, "@");
    lz_vput_key(v, s);
}
