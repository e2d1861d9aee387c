/* lexer_value.c - types, attribute values and literals of StableHLO text. See lexer.h. */
#include "ir/text/lexer.h"
#include "ir/text/number.h"
#include <inttypes.h>
#include <string.h>

/* ---- types ---- */

/* Extents are read by character: "0x4xf32" is the extents 0 and 4, not a hexadecimal number. */
static lz_status scan_extents(lz_lexer *c, const char *start, lz_shape *s)
{
    for (lz_lex_skip(c);
         c->p < c->end && ((*c->p >= '0' && *c->p <= '9') || *c->p == '?' || *c->p == '*');
         c->p++) {
        if (*c->p == '?' || *c->p == '*')
            return lz_lex_fail(
                c, c->p, LZ_EUNSUPPORTED,
                "the type has an extent that is not known: only static shapes are supported");
        int64_t e;
        LZ_TRY(lz_lex_digits(c, &e));
        if (c->p >= c->end || *c->p != 'x')
            return lz_lex_fail(c, c->p, LZ_EPARSE, "expected 'x' after the extent %" PRId64, e);
        if (s->rank == LZ_MAX_RANK)
            return lz_lex_fail(c, start, LZ_EUNSUPPORTED, "the type has more than %d dimensions",
                               LZ_MAX_RANK);
        s->dims[s->rank++] = e;
    }
    return LZ_OK;
}

static lz_status scan_dtype(lz_lexer *c, lz_dtype *d)
{
    const char *at = c->p;
    lz_slice w = lz_lex_word(c);
    if (lz_slice_is(w, "complex") && lz_lex_eat(c, "<")) {
        (void)lz_lex_word(c);
        LZ_TRY(lz_lex_want(c, ">"));
        w.n = (size_t)(c->p - w.s);
    }
    *d = lz_slice_is(w, "index") ? LZ_I64 : lz_dtype_from_mlir(w.s, w.n);
    if (*d == LZ_DTYPE_NONE)
        return lz_lex_fail(c, at, w.n ? LZ_EUNSUPPORTED : LZ_EPARSE,
                           "element type '" LZ_SLICE_FMT "' is not supported", LZ_SLICE_ARG(w));
    return LZ_OK;
}

static const lz_alias *find_alias(const lz_lexer *c, lz_slice name)
{
    for (uint32_t i = 0; c->aliases && i < c->aliases->len; i++) {
        const lz_alias *a = &c->aliases->data[i];
        if (a->name.n == name.n && memcmp(a->name.s, name.s, name.n) == 0 && a->at < c->p)
            return a;
    }
    return NULL;
}

bool lz_lex_alias(lz_lexer *c, lz_lexer *at)
{
    lz_lexer after = *c;
    bool found = false;
    for (*at = *c; lz_lex_sees(at, "!"); found = true) {
        lz_slice name = {at->p++, 0};
        (void)lz_lex_word(at);
        name.n = (size_t)(at->p - name.s);
        at->p = name.s;
        const lz_alias *a = find_alias(at, name);
        if (!a)
            break;
        if (!found)
            after.p = name.s + name.n;
        at->p = a->at;
    }
    if (found)
        *c = after;
    return found;
}

static lz_status written_type(lz_lexer *c, const lz_type **out)
{
    lz_shape s = {0};
    lz_dtype d;
    lz_lex_skip(c);
    const char *start = c->p;
    if (!lz_lex_eat(c, "tensor<")) {
        lz_lexer at = *c;
        lz_slice w = {c->p, 0};
        while (w.n < 40 && at.p<at.end && * at.p> ' ' && *at.p != ',' && *at.p != ')')
            at.p++, w.n++;
        return lz_lex_fail(c, start, start < c->end && *start == '!' ? LZ_EUNSUPPORTED : LZ_EPARSE,
                           "expected a tensor type, not '" LZ_SLICE_FMT "'", LZ_SLICE_ARG(w));
    }
    LZ_TRY(scan_extents(c, start, &s));
    LZ_TRY(scan_dtype(c, &d));
    if (lz_lex_sees(c, ","))
        return lz_lex_fail(c, c->p, LZ_EUNSUPPORTED, "tensor encodings are not supported");
    LZ_TRY(lz_lex_want(c, ">"));
    *out = lz_type_get(d, &s);
    return *out ? LZ_OK : lz_lex_wrap(c, start);
}

lz_status lz_lex_type(lz_lexer *c, const lz_type **out)
{
    lz_lexer at;
    return lz_lex_alias(c, &at) ? written_type(&at, out) : written_type(c, out);
}

/* ---- small attribute values ---- */

static lz_status push_int(lz_lexer *c, const char *field, lz_ints *out)
{
    int64_t v;
    lz_lex_skip(c);
    const char *at = c->p;
    if (lz_lex_eat_word(c, "true"))
        v = 1;
    else if (lz_lex_eat_word(c, "false"))
        v = 0;
    else
        LZ_TRY(lz_lex_i64(c, &v));
    if (out->n == LZ_MAX_RANK)
        return lz_lex_fail(c, at, LZ_EUNSUPPORTED, "%s has more than %d values", field,
                           LZ_MAX_RANK);
    out->v[out->n++] = v;
    return LZ_OK;
}

static lz_status int_list(lz_lexer *c, const char *field, const char *close, lz_ints *out)
{
    if (lz_lex_eat(c, close))
        return LZ_OK;
    do {
        LZ_TRY(push_int(c, field, out));
        if (lz_lex_eat(c, ":")) /* 1 : i64 */
            (void)lz_lex_word(c);
    } while (lz_lex_eat(c, ","));
    return lz_lex_want(c, close);
}

/* dense<[1, 2]> : tensor<2xi64>, or dense<1> for as many as the type has, which may be
 * tensor<i64>. */
static lz_status dense_ints(lz_lexer *c, const char *field, lz_ints *out)
{
    const char *start = c->p;
    const lz_type *t;
    bool one = false;
    if (lz_lex_eat(c, "[")) {
        LZ_TRY(int_list(c, field, "]", out));
    } else if (!lz_lex_sees(c, ">")) {
        LZ_TRY(push_int(c, field, out));
        one = true;
    }
    LZ_TRY(lz_lex_want(c, ">"));
    LZ_TRY(lz_lex_want(c, ":"));
    LZ_TRY(lz_lex_type(c, &t));
    bool single = one && t->shape.rank == 0; /* tensor<i64>: a list of one */
    if ((t->shape.rank != 1 && !single) || !lz_dtype_is_int(t->dtype) || t->nelem > LZ_MAX_RANK ||
        (!one && t->nelem != out->n))
        return lz_lex_fail(c, start, LZ_EPARSE, "%s: the list does not fit its type", field);
    out->n = (int32_t)t->nelem;
    for (int i = 1; one && i < out->n; i++)
        out->v[i] = out->v[0];
    return LZ_OK;
}

lz_status lz_lex_ints(lz_lexer *c, const char *field, lz_ints *out)
{
    *out = (lz_ints){0};
    if (lz_lex_eat(c, "["))
        return int_list(c, field, "]", out);
    if (lz_lex_eat(c, "dense<"))
        return dense_ints(c, field, out);
    if (lz_lex_eat(c, "array<")) {
        (void)lz_lex_word(c); /* i64 */
        return lz_lex_eat(c, ":") ? int_list(c, field, ">", out) : lz_lex_want(c, ">");
    }
    return lz_lex_fail(c, c->p, LZ_EPARSE, "%s: expected a list of numbers", field);
}

lz_status lz_lex_enum(lz_lexer *c, const char *table, int32_t *out)
{
    bool wrapped = lz_lex_eat(c, "#stablehlo<") || lz_lex_eat(c, "#chlo<");
    if (wrapped)
        (void)lz_lex_word(c); /* the table's own word: comparison_direction */
    lz_slice w = lz_lex_word(c);
    if (!lz_attr_enum_value(table, w.s, w.n, out))
        return lz_lex_fail(c, w.s, LZ_EPARSE, "'" LZ_SLICE_FMT "' is no %s", LZ_SLICE_ARG(w),
                           table);
    return wrapped ? lz_lex_want(c, ">") : LZ_OK;
}

lz_status lz_lex_bool(lz_lexer *c, bool *out)
{
    *out = lz_lex_eat_word(c, "true");
    return *out || lz_lex_eat_word(c, "false")
               ? LZ_OK
               : lz_lex_fail(c, c->p, LZ_EPARSE, "expected true or false");
}

/* ---- literals ---- */

typedef struct elements {
    lz_lexer *c;
    lz_literal *l;
    int64_t n; /* read so far */
} elements;

static lz_status one_number(elements *e, int part)
{
    lz_lexer *c = e->c;
    bool neg = lz_lex_eat(c, "-");
    lz_lex_skip(c);
    const char *start = c->p;
    while (c->p < c->end && ((*c->p >= '0' && *c->p <= '9') || (*c->p >= 'a' && *c->p <= 'z') ||
                             (*c->p >= 'A' && *c->p <= 'Z') || *c->p == '.' ||
                             ((*c->p == '+' || *c->p == '-') && c->p > start &&
                              (c->p[-1] == 'e' || c->p[-1] == 'E'))))
        c->p++;
    lz_slice w = {start, (size_t)(c->p - start)};
    if (!lz_number_parse(e->l->type->dtype, w.s, w.n, neg, part, e->l->data, e->n))
        return lz_lex_fail(c, start, LZ_EPARSE, "'%s" LZ_SLICE_FMT "' is no %s", neg ? "-" : "",
                           LZ_SLICE_ARG(w), lz_dtype_name(e->l->type->dtype));
    return LZ_OK;
}

static lz_status one_element(elements *e)
{
    if (e->n >= e->l->type->nelem)
        return lz_lex_fail(e->c, e->c->p, LZ_EPARSE,
                           "the literal has more than the %" PRId64 " elements of its type",
                           e->l->type->nelem);
    if (lz_dtype_is_complex(e->l->type->dtype)) {
        LZ_TRY(lz_lex_want(e->c, "("));
        LZ_TRY(one_number(e, 0));
        LZ_TRY(lz_lex_want(e->c, ","));
        LZ_TRY(one_number(e, 1));
        LZ_TRY(lz_lex_want(e->c, ")"));
    } else {
        LZ_TRY(one_number(e, 0));
    }
    e->n++;
    return LZ_OK;
}

/* Nested lists, with a counter for each open one instead of a recursion. */
static lz_status nested_lists(elements *e)
{
    const lz_shape *s = &e->l->type->shape;
    int64_t count[LZ_MAX_RANK + 1] = {0};
    int depth = 0;
    lz_lexer *c = e->c;
    for (;;) {
        if (depth < s->rank) {
            LZ_TRY(lz_lex_want(c, "["));
            count[depth++] = 0;
            continue;
        }
        LZ_TRY(one_element(e));
        for (;; depth--) { /* an element or a list is complete: what follows it? */
            if (depth == 0)
                return LZ_OK;
            count[depth - 1]++;
            if (lz_lex_eat(c, ","))
                break;
            LZ_TRY(lz_lex_want(c, "]"));
            if (count[depth - 1] != s->dims[depth - 1])
                return lz_lex_fail(c, c->p - 1, LZ_EPARSE,
                                   "a list of %" PRId64 " where dimension %d has %" PRId64,
                                   count[depth - 1], depth - 1, s->dims[depth - 1]);
        }
    }
}

/* What a digit stands for, and 1: 0 is none. */
static const uint8_t hex_digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};

static inline int hex_byte(const char *s)
{
    int hi = hex_digits[(uint8_t)s[0]], lo = hex_digits[(uint8_t)s[1]];
    return hi == 0 || lo == 0 ? -1 : (hi - 1) << 4 | (lo - 1);
}

/* "0x..." of n bytes into the literal; booleans are bits, or bytes where there are as many. */
static lz_status hex_elements(lz_lexer *c, lz_slice hex, lz_literal *l)
{
    uint8_t *data = l->data;
    bool flags = l->type->dtype == LZ_BOOL, narrow = lz_dtype_is_narrow(l->type->dtype);
    bool bits = flags && (l->nbytes == 1 || hex.n / 2 != l->nbytes), plain = !flags && !narrow;
    for (size_t i = 0; i < hex.n / 2; i++) {
        int byte = hex_byte(hex.s + 2 * i);
        if (byte < 0)
            return lz_lex_fail(c, hex.s + 2 * i, LZ_EPARSE, "not a hexadecimal digit");
        if (plain)
            data[i] = (uint8_t)byte;
        else if (!bits)
            data[i] = narrow ? (uint8_t)lz_dtype_wrap(l->type->dtype, (uint64_t)byte)
                             : (uint8_t)(flags ? byte != 0 : byte);
        for (size_t k = 8 * i; bits && k < 8 * i + 8 && k < l->nbytes; k++)
            data[k] = byte >> (k - 8 * i) & 1;
    }
    return LZ_OK;
}

/* What the text between dense< and > is, found without reading its elements. */
typedef struct dense {
    const char *body; /* first character */
    bool is_string, is_list, is_empty;
    lz_slice hex; /* digits of a string */
    size_t nchar;
} dense;

static lz_status scan_dense(lz_lexer *c, dense *d)
{
    LZ_TRY(lz_lex_want(c, "dense"));
    LZ_TRY(lz_lex_want(c, "<"));
    lz_lex_skip(c);
    *d = (dense){.body = c->p};
    d->is_string = lz_lex_sees(c, "\"");
    d->is_list = lz_lex_sees(c, "[");
    d->is_empty = lz_lex_sees(c, ">");
    if (d->is_string) {
        LZ_TRY(lz_lex_string(c, &d->hex));
        if (d->hex.n < 2 || d->hex.s[0] != '0' || (d->hex.s[1] != 'x' && d->hex.s[1] != 'X') ||
            d->hex.n % 2)
            return lz_lex_fail(c, d->body, LZ_EPARSE,
                               "expected \"0x...\" with two digits for each byte");
        d->hex.s += 2;
        d->hex.n -= 2;
    } else {
        LZ_TRY(lz_lex_until(c, ""));
    }
    d->nchar = (size_t)(c->p - d->body);
    return lz_lex_want(c, ">");
}

/* Whether one element is written for all. Sizes are checked here against the text, before anything
 * is allocated. */
static lz_status check_dense(const lz_lexer *c, const dense *d, const lz_type *t, bool *splat)
{
    size_t one = t->dtype == LZ_BOOL ? 1 : lz_dtype_size(t->dtype),
           all = t->dtype == LZ_BOOL ? (t->nbytes + 7) / 8 : t->nbytes;
    *splat = false;
    if (d->is_string) {
        *splat = t->nelem != 1 && d->hex.n / 2 == one && all != one;
        if (!*splat && d->hex.n / 2 != all && !(t->dtype == LZ_BOOL && d->hex.n / 2 == t->nbytes))
            return lz_lex_fail(c, d->body, LZ_EPARSE, "the literal has %zu bytes, its type has %zu",
                               d->hex.n / 2, all);
    } else if (d->is_list || d->is_empty) {
        if (t->nelem > 0 && (d->is_empty || (size_t)t->nelem > d->nchar))
            return lz_lex_fail(c, d->body, LZ_EPARSE,
                               "the literal has fewer than the %" PRId64 " elements of its type",
                               t->nelem);
    } else {
        *splat = t->nelem != 1;
    }
    return LZ_OK;
}

static lz_status read_dense(lz_lexer *c, const dense *d, lz_literal *l, bool splat)
{
    lz_lexer at = *c;
    at.p = d->body;
    elements e = {&at, l, 0};
    if (d->is_string)
        return hex_elements(&at, d->hex, l);
    if (l->type->nelem == 0)
        return LZ_OK;
    if (!d->is_list || splat)
        LZ_TRY(one_element(&e));
    else
        LZ_TRY(nested_lists(&e));
    return lz_lex_want(&at, ">");
}

/* ---- texts ---- */

/* One character of a string, its escape read: \" \\ \n \t or two hexadecimal digits. */
static char one_character(const char **p, const char *end)
{
    const char *s = *p;
    *p = s + 1;
    if (*s != '\\' || end - s < 2)
        return *s;
    *p = s + 2;
    int byte = end - s > 2 ? hex_byte(s + 1) : -1;
    if (byte < 0)
        return s[1] == 'n' ? '\n' : s[1] == 't' ? '\t' : s[1];
    *p = s + 3;
    return (char)byte;
}

lz_status lz_lex_text(lz_lexer *c, const char **out)
{
    lz_slice s;
    lz_buf b = {0};
    LZ_TRY(lz_lex_string(c, &s));
    for (const char *p = s.s; p < s.s + s.n;) {
        char x = one_character(&p, s.s + s.n);
        if (!x) {
            lz_buf_free(&b);
            return lz_lex_fail(c, s.s, LZ_EUNSUPPORTED, "the text holds a character 0");
        }
        lz_buf_putc(&b, x);
    }
    *out = b.failed ? NULL : lz_string_get(lz_buf_str(&b), b.len);
    bool failed = b.failed;
    lz_buf_free(&b);
    return failed ? LZ_FAIL(LZ_EMEM, "no memory for a text") : *out ? LZ_OK : LZ_EMEM;
}

lz_status lz_lex_literal(lz_lexer *c, lz_literal **out, const lz_type **type, bool *splat)
{
    dense d;
    const lz_shape scalar = {0};
    *out = NULL;
    if (lz_lex_sees(c, "dense_resource"))
        return lz_lex_fail(c, c->p, LZ_EUNSUPPORTED,
                           "the literal's value is not in the text (dense_resource)");
    LZ_TRY(scan_dense(c, &d));
    LZ_TRY(lz_lex_want(c, ":"));
    LZ_TRY(lz_lex_type(c, type));
    LZ_TRY(check_dense(c, &d, *type, splat));
    const lz_type *t = *splat ? lz_type_get((*type)->dtype, &scalar) : *type;
    lz_literal *l = t ? lz_literal_new(t) : NULL;
    if (!l)
        return lz_lex_wrap(c, d.body);
    lz_status s = read_dense(c, &d, l, *splat);
    if (s == LZ_OK)
        *out = l;
    else
        lz_literal_release(l);
    return s;
}
