/* lexer.h - walking over StableHLO text: blanks, words, numbers, types, attribute values. The text
 * is untrusted: nothing here recurses, and nothing allocates more than the text's own size.
 * Threads: thread-compatible. */
#ifndef LZ_IR_TEXT_LEXER_H
#define LZ_IR_TEXT_LEXER_H
#include "ir/attr.h"
#include "ir/module.h"

typedef struct lz_slice {
    const char *s;
    size_t n;
} lz_slice;
/* !name = type of the module. */
typedef struct lz_alias {
    lz_slice name;  /* with its '!' */
    const char *at; /* the type */
} lz_alias;
typedef LZ_VEC(lz_alias) lz_aliases;
typedef struct lz_lexer {
    const char *text, *p, *end;
    const char *name;          /* for messages */
    const lz_aliases *aliases; /* may be NULL */
} lz_lexer;
#define LZ_SLICE_FMT "%.*s"
#define LZ_SLICE_ARG(x) (int)((x).n > 80 ? 80 : (x).n), (x).s

/* Records name:line:column and the message; returns the status. at: where, inside the text. */
lz_status lz_lex_fail(const lz_lexer *c, const char *at, lz_status s, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int lz_lex_line(const lz_lexer *c, const char *at); /* from 1 */
/* The thread's last error with the place put before it; anything but LZ_EMEM and LZ_EUNSUPPORTED
 * becomes LZ_EPARSE. */
lz_status lz_lex_wrap(const lz_lexer *c, const char *at);

void lz_lex_skip(lz_lexer *c); /* blanks and // comments */
/* after blanks: whether the text goes on with s */
bool lz_lex_sees(lz_lexer *c, const char *s);
bool lz_lex_eat(lz_lexer *c, const char *s);         /* the same, and steps over it */
bool lz_lex_eat_word(lz_lexer *c, const char *word); /* only when it ends there */
lz_status lz_lex_want(lz_lexer *c, const char *s);
/* [A-Za-z_][A-Za-z0-9_$.]*; empty when there is none */
lz_slice lz_lex_word(lz_lexer *c);
/* "..." without the quotes, escapes as they are */
lz_status lz_lex_string(lz_lexer *c, lz_slice *out);
lz_status lz_lex_symbol(lz_lexer *c, lz_slice *out); /* @name or @"name" */
/* %name or %name#3; UINT32_MAX without # */
lz_status lz_lex_value(lz_lexer *c, lz_slice *name, uint32_t *index);
lz_status lz_lex_i64(lz_lexer *c, int64_t *out);    /* a word of its own */
lz_status lz_lex_digits(lz_lexer *c, int64_t *out); /* the number a word begins with: 3 of 3xf32 */
/* The length of what stands at `at` like a number, which is still to be read: -1.5e+3, 0x7F, 1abc
 */
size_t lz_lex_number(const lz_lexer *c, const char *at);
bool lz_slice_is(lz_slice x, const char *s);

/* Steps over balanced text up to one of the characters `stops`, a closing bracket or the end, at
 * its own depth. */
lz_status lz_lex_until(lz_lexer *c, const char *stops);
lz_status lz_lex_group(lz_lexer *c); /* from an opening bracket to after the one that closes it */
/* Steps over `loc(...)` when it is there. */
lz_status lz_lex_location(lz_lexer *c);
/* Steps over `{...}` when it is there. */
lz_status lz_lex_braces(lz_lexer *c);

/* When an alias of a type is next: steps over it, and *at is where that type is written. An alias
 * stands for what was written before it, so following them ends. */
bool lz_lex_alias(lz_lexer *c, lz_lexer *at);
lz_status lz_lex_type(lz_lexer *c, const lz_type **out); /* tensor<2x3xf32>, or an alias */
/* [1, 2], array<i64: 1, 2>, dense<[1, 2]> : tensor<2xi64> */
lz_status lz_lex_ints(lz_lexer *c, const char *field, lz_ints *out);
/* LT, #stablehlo<comparison_direction LT>, #chlo<...> */
lz_status lz_lex_enum(lz_lexer *c, const char *table, int32_t *out);
/* "text", its escapes read; interned */
lz_status lz_lex_text(lz_lexer *c, const char **out);
lz_status lz_lex_bool(lz_lexer *c, bool *out);
/* dense<...> : type. splat: the literal is the scalar that fills the type (only when it has not
 * exactly one element). */
lz_status lz_lex_literal(lz_lexer *c, lz_literal **out, const lz_type **type, bool *splat);
#endif
