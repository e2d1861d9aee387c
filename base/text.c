/* text.c - see text.h. Floats are converted by libc in the "C" locale: given to strtod_l, and made
 * the thread's own for the time of a printf, which has no such variant. */
#include "base/text.h"
#include <errno.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Made once. Two threads may make it at the same time; one of the two is kept. For "C" libc needs
 * no memory, so this does not fail; if it did, text would be as the program's locale says. */
static locale_t c_locale(void)
{
    static _Atomic(locale_t) kept;
    locale_t l = atomic_load_explicit(&kept, memory_order_acquire);
    if (l)
        return l;
    int saved = errno;
    locale_t made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    errno = saved; /* a message may be about it */
    if (!made || atomic_compare_exchange_strong(&kept, &l, made))
        return made;
    freelocale(made);
    return l;
}

size_t lz_utf8_length(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t len = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
    if (len < 2 || len > n || u[0] > 0xf4)
        return len == 1;
    for (size_t i = 1; i < len; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
               (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f);
    return bad ? 0 : len;
}

bool lz_text_same(const char *a, const char *b)
{
    while (*a && lz_to_lower(*a) == lz_to_lower(*b)) {
        a++;
        b++;
    }
    return lz_to_lower(*a) == lz_to_lower(*b);
}

bool lz_text_ends(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n > k && memcmp(s + n - k, end, k) == 0;
}

/* ---- numbers ---- */

static unsigned digit_of(char c)
{
    char l = lz_to_lower(c);
    return lz_is_digit(c)         ? (unsigned)(c - '0')
           : l >= 'a' && l <= 'f' ? (unsigned)(l - 'a') + 10
                                  : 99;
}

lz_status lz_text_u64(const char *s, size_t n, unsigned base, uint64_t hi, uint64_t *out)
{
    uint64_t v = 0;
    bool over = false;
    if (base == 0) {
        bool hex = n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
        base = hex ? 16 : n > 1 && s[0] == '0' ? 8 : 10;
        s += hex ? 2 : 0;
        n -= hex ? 2 : 0;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned digit = digit_of(s[i]);
        if (digit >= base)
            return LZ_EPARSE;
        if (__builtin_mul_overflow(v, (uint64_t)base, &v))
            over = true;
        if (__builtin_add_overflow(v, (uint64_t)digit, &v))
            over = true;
    }
    if (n == 0)
        return LZ_EPARSE;
    if (over || v > hi)
        return LZ_ERANGE;
    *out = v;
    return LZ_OK;
}

lz_status lz_text_i64(const char *s, size_t n, int64_t lo, int64_t hi, int64_t *out)
{
    bool sign = n && (*s == '-' || *s == '+'), neg = sign && *s == '-';
    uint64_t u = 0, most = neg ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    lz_status st = lz_text_u64(s + sign, n - sign, 10, most, &u);
    if (st != LZ_OK)
        return st;
    int64_t v = (int64_t)(neg ? 0 - u : u);
    if (v < lo || v > hi)
        return LZ_ERANGE;
    *out = v;
    return LZ_OK;
}

size_t lz_text_digits(const char *s, size_t n, uint64_t *out)
{
    size_t k = 0;
    while (k < n && lz_is_digit(s[k]))
        k++;
    return lz_text_u64(s, k, 10, UINT64_MAX, out) == LZ_OK ? k : 0;
}

/* A copy with an end, as strtod needs it; false when s cannot be a number, as strtod would skip
 * blanks. */
static bool end_it(const char *s, size_t n, char text[LZ_TEXT_FLOAT])
{
    if (n == 0 || n >= LZ_TEXT_FLOAT || lz_is_space(*s) || memchr(s, '\0', n))
        return false;
    memcpy(text, s, n);
    text[n] = '\0';
    return true;
}

bool lz_text_f64(const char *s, size_t n, double *out)
{
    char text[LZ_TEXT_FLOAT], *end;
    if (!end_it(s, n, text))
        return false;
    locale_t c = c_locale();
    double v = c ? strtod_l(text, &end, c) : strtod(text, &end);
    if (end != text + n)
        return false;
    *out = v;
    return true;
}

bool lz_text_f32(const char *s, size_t n, float *out)
{
    char text[LZ_TEXT_FLOAT], *end;
    if (!end_it(s, n, text))
        return false;
    locale_t c = c_locale();
    float v = c ? strtof_l(text, &end, c) : strtof(text, &end);
    if (end != text + n)
        return false;
    *out = v;
    return true;
}

/* ---- formatted text ---- */

/* The thread's own locale, "C" from now on; what it was is put back by leave. */
static locale_t enter(void)
{
    locale_t c = c_locale();
    return c ? uselocale(c) : (locale_t)0;
}

static void leave(locale_t before)
{
    if (before)
        (void)uselocale(before);
}

int lz_vsnprintf(char *s, size_t n, const char *fmt, va_list ap)
{
    locale_t before = enter();
    int len = vsnprintf(s, n, fmt, ap);
    leave(before);
    return len;
}

int lz_snprintf(char *s, size_t n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int len = lz_vsnprintf(s, n, fmt, ap);
    va_end(ap);
    return len;
}

int lz_vfprintf(FILE *f, const char *fmt, va_list ap)
{
    locale_t before = enter();
    int len = vfprintf(f, fmt, ap);
    leave(before);
    return len;
}

int lz_fprintf(FILE *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int len = lz_vfprintf(f, fmt, ap);
    va_end(ap);
    return len;
}
