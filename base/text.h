/* text.h - characters, numbers and formatted text that are the same under every locale: a program
 * may have called setlocale, and what the library reads and writes must not depend on it. The only
 * place where libc's conversions of numbers are called (tools/lint.sh).
 * Threads: thread-safe. */
#ifndef LZ_BASE_TEXT_H
#define LZ_BASE_TEXT_H
#include "base/status.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- characters: of ASCII; every byte from 128 on is none of them ---- */
static inline bool lz_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool lz_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}
static inline bool lz_is_alpha(char c)
{
    return lz_is_upper(c) || (c >= 'a' && c <= 'z');
}
static inline bool lz_is_alnum(char c)
{
    return lz_is_alpha(c) || lz_is_digit(c);
}
static inline bool lz_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}
static inline char lz_to_lower(char c)
{
    return lz_is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}
static inline char lz_to_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}
/* Bytes of the UTF-8 character at s, of which n > 0 are there; 0: it is none (RFC 3629). */
size_t lz_utf8_length(const char *s, size_t n);
/* Equal but for the case of letters. */
bool lz_text_same(const char *a, const char *b);
/* Something, and then `end`: as the name of a file with ".json". */
bool lz_text_ends(const char *s, const char *end);

/* ---- numbers: all of s[0..n) is one, or nothing is read ---- */
/* Digits of base 10 or 16; base 0: as in C, 0x1f and 017 too. LZ_EPARSE: no number; LZ_ERANGE: more
 * than hi. Neither is recorded, nor *out changed. */
lz_status lz_text_u64(const char *s, size_t n, unsigned base, uint64_t hi, uint64_t *out);
/* The same with a sign, + or -, if there is one, base 10. */
lz_status lz_text_i64(const char *s, size_t n, int64_t lo, int64_t hi, int64_t *out);
/* The number of digits of base 10 that s begins with, as a number; 0: none, or more than 64 bits
 * hold. */
size_t lz_text_digits(const char *s, size_t n, uint64_t *out);
/* Numbers as strtod reads them in the C locale, with "inf", "nan" and hexadecimal; rounded once.
 * What overflows is infinite. At most LZ_TEXT_FLOAT - 1 bytes. */
enum { LZ_TEXT_FLOAT = 512 };
bool lz_text_f64(const char *s, size_t n, double *out);
bool lz_text_f32(const char *s, size_t n, float *out);

/* ---- formatted text ---- */
int lz_snprintf(char *s, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int lz_vsnprintf(char *s, size_t n, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
int lz_fprintf(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int lz_vfprintf(FILE *f, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
#endif
