/* loop_attr.c - attribute records of elementwise ops in canonical bytes and in text, derived from attrs.def.
 * Elementwise ops have no regions, so a record is a few numbers. Threads: pure. */
#include "lower/loop_impl.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

static void put_ints(lz_buf *b, const lz_ints *s)
{
    lz_buf_u8(b, (uint8_t)s->n);
    for (int i = 0; i < s->n; i++)
        lz_buf_u64(b, (uint64_t)s->v[i]);
}

static void put_shape(lz_buf *b, const lz_shape *s)
{
    lz_buf_u8(b, (uint8_t)s->rank);
    for (int i = 0; i < s->rank; i++)
        lz_buf_u64(b, (uint64_t)s->dims[i]);
}

void lz_ewattr_put(lz_buf *out, const lz_attr *a)
{
    switch (a->kind) {
#define I64(f) lz_buf_u64(out, (uint64_t)r->f);
#define BOOL(f) lz_buf_u8(out, r->f);
#define INTS(f) put_ints(out, &r->f);
#define SHAPE(f) put_shape(out, &r->f);
#define DTYPE(f) lz_buf_u8(out, (uint8_t)r->f);
#define ENUM(f, E) lz_buf_u8(out, (uint8_t)r->f);
#define REGION(f)
#define ATTR(kind_, fields)                                                                        \
    case LZ_ATTR_##kind_: {                                                                        \
        const lz_attr_##kind_ *r = LZ_ATTR(kind_, a);                                              \
        (void)r;                                                                                   \
        fields break;                                                                              \
    }
#include "ir/attrs.def"
    case LZ_ATTR_COUNT:
        break;
    }
#undef I64
#undef BOOL
#undef INTS
#undef SHAPE
#undef DTYPE
#undef ENUM
#undef REGION
}

static void take_ints(lz_rd *r, lz_ints *s)
{
    uint8_t n = lz_rd_u8(r);
    if (n > LZ_MAX_RANK) {
        r->failed = true;
        return;
    }
    s->n = n;
    for (int i = 0; i < n; i++)
        s->v[i] = (int64_t)lz_rd_u64(r);
}

static void take_shape(lz_rd *r, lz_shape *s)
{
    lz_ints v = {0};
    take_ints(r, &v);
    s->rank = v.n;
    memcpy(s->dims, v.v, sizeof s->dims);
}

static lz_dtype take_dtype(lz_rd *r)
{
    uint8_t d = lz_rd_u8(r);
    if (d == 0 || d >= LZ_DTYPE_COUNT)
        r->failed = true;
    return (lz_dtype)d;
}

typedef struct enum_row {
    const char *table, *name;
    int value;
} enum_row;
static const enum_row enum_rows[] = {
#define ATTR(kind_, fields)
#define ATTR_ENUM(table, name, value) {#table, #name, value},
#include "ir/attrs.def"
};
enum { NUM_ENUM_ROWS = sizeof enum_rows / sizeof *enum_rows };

static const char *enum_name(const char *table, int value)
{
    for (int i = 0; i < NUM_ENUM_ROWS; i++)
        if (enum_rows[i].value == value && strcmp(enum_rows[i].table, table) == 0)
            return enum_rows[i].name;
    return NULL;
}

static int32_t take_enum(lz_rd *r, const char *table)
{
    uint8_t v = lz_rd_u8(r);
    if (!enum_name(table, v))
        r->failed = true;
    return v;
}

const lz_attr *lz_ewattr_take(lz_rd *rd, lz_attr_kind kind)
{
    lz_ewattr_any any;
    memset(&any, 0, sizeof any);
    any.head.kind = kind;
    switch (kind) {
#define I64(f) r->f = (int64_t)lz_rd_u64(rd);
#define BOOL(f) r->f = lz_rd_u8(rd) != 0;
#define INTS(f) take_ints(rd, &r->f);
#define SHAPE(f) take_shape(rd, &r->f);
#define DTYPE(f) r->f = take_dtype(rd);
#define ENUM(f, E) r->f = take_enum(rd, #E);
#define REGION(f) rd->failed = true;
#define ATTR(kind_, fields)                                                                        \
    case LZ_ATTR_##kind_: {                                                                        \
        lz_attr_##kind_ *r = &any.as_##kind_;                                                      \
        (void)r;                                                                                   \
        fields break;                                                                              \
    }
#include "ir/attrs.def"
    case LZ_ATTR_COUNT:
        rd->failed = true;
    }
#undef I64
#undef BOOL
#undef INTS
#undef SHAPE
#undef DTYPE
#undef ENUM
#undef REGION
    return rd->failed ? NULL : lz_attr_get(&any.head);
}

/* ---- text ---- */

static void print_list(lz_buf *b, int n, const int64_t *v)
{
    lz_buf_putc(b, '[');
    for (int i = 0; i < n; i++)
        lz_buf_printf(b, "%s%" PRId64, i ? ", " : "", v[i]);
    lz_buf_putc(b, ']');
}

void lz_ewattr_print(lz_buf *out, const lz_attr *a)
{
    const char *sep = "{";
    switch (a->kind) {
#define NAME(f) (lz_buf_printf(out, "%s" #f " = ", sep), sep = ", ");
#define I64(f) NAME(f) lz_buf_printf(out, "%" PRId64, r->f);
#define BOOL(f) NAME(f) lz_buf_puts(out, r->f ? "true" : "false");
#define INTS(f) NAME(f) print_list(out, r->f.n, r->f.v);
#define SHAPE(f) NAME(f) print_list(out, r->f.rank, r->f.dims);
#define DTYPE(f) NAME(f) lz_buf_puts(out, lz_dtype_name(r->f));
#define ENUM(f, E) NAME(f) lz_buf_puts(out, enum_name(#E, r->f));
#define REGION(f)
#define ATTR(kind_, fields)                                                                        \
    case LZ_ATTR_##kind_: {                                                                        \
        const lz_attr_##kind_ *r = LZ_ATTR(kind_, a);                                              \
        (void)r;                                                                                   \
        fields break;                                                                              \
    }
#include "ir/attrs.def"
    case LZ_ATTR_COUNT:
        break;
    }
#undef NAME
#undef I64
#undef BOOL
#undef INTS
#undef SHAPE
#undef DTYPE
#undef ENUM
#undef REGION
    if (*sep == ',')
        lz_buf_putc(out, '}');
}

static bool word_is(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(p, word, n) == 0;
}

static bool parse_i64(const char *p, size_t n, int64_t *out)
{
    char t[32], *end;
    if (n == 0 || n >= sizeof t)
        return false;
    memcpy(t, p, n);
    t[n] = '\0';
    *out = strtoll(t, &end, 10);
    return *end == '\0';
}

static bool parse_list(const char *p, size_t n, int *count, int64_t *v)
{
    if (n < 2 || p[0] != '[' || p[n - 1] != ']')
        return false;
    *count = 0;
    for (size_t i = 1; i < n - 1;) {
        size_t end = i;
        while (end < n - 1 && p[end] != ',')
            end++;
        while (i < end && p[i] == ' ')
            i++;
        if (*count == LZ_MAX_RANK || !parse_i64(p + i, end - i, &v[(*count)++]))
            return false;
        i = end + 1;
    }
    return true;
}

static bool parse_ints(const char *p, size_t n, lz_ints *s)
{
    int count;
    if (!parse_list(p, n, &count, s->v))
        return false;
    s->n = count;
    return true;
}

static bool parse_shape(const char *p, size_t n, lz_shape *s)
{
    int count;
    if (!parse_list(p, n, &count, s->dims))
        return false;
    s->rank = count;
    return true;
}

static bool parse_dtype(const char *p, size_t n, lz_dtype *out)
{
    for (int d = 1; d < LZ_DTYPE_COUNT; d++)
        if (word_is(p, n, lz_dtype_name((lz_dtype)d))) {
            *out = (lz_dtype)d;
            return true;
        }
    return false;
}

static bool parse_enum(const char *table, const char *p, size_t n, int32_t *out)
{
    for (int i = 0; i < NUM_ENUM_ROWS; i++)
        if (strcmp(enum_rows[i].table, table) == 0 && word_is(p, n, enum_rows[i].name)) {
            *out = enum_rows[i].value;
            return true;
        }
    return false;
}

static bool parse_bool(const char *p, size_t n, bool *out)
{
    *out = word_is(p, n, "true");
    return *out || word_is(p, n, "false");
}

bool lz_ewattr_set(lz_attr *record, const char *field, size_t nfield, const char *value,
                   size_t nvalue)
{
    switch (record->kind) {
#define IS(f) if (word_is(field, nfield, #f))
#define I64(f) IS(f) return parse_i64(value, nvalue, &r->f);
#define BOOL(f) IS(f) return parse_bool(value, nvalue, &r->f);
#define INTS(f) IS(f) return parse_ints(value, nvalue, &r->f);
#define SHAPE(f) IS(f) return parse_shape(value, nvalue, &r->f);
#define DTYPE(f) IS(f) return parse_dtype(value, nvalue, &r->f);
#define ENUM(f, E) IS(f) return parse_enum(#E, value, nvalue, &r->f);
#define REGION(f)
#define ATTR(kind_, fields)                                                                        \
    case LZ_ATTR_##kind_: {                                                                        \
        lz_attr_##kind_ *r = (lz_attr_##kind_ *)(void *)record;                                    \
        (void)r;                                                                                   \
        fields break;                                                                              \
    }
#include "ir/attrs.def"
    case LZ_ATTR_COUNT:
        break;
    }
#undef IS
#undef I64
#undef BOOL
#undef INTS
#undef SHAPE
#undef DTYPE
#undef ENUM
#undef REGION
    return false;
}
