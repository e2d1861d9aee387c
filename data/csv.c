/* csv.c - numbers in text, a line each row. */
#include "data/data_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELD = 128 };

typedef struct reader {
    const char *p, *end, *name;
    char delimiter, comment;
    lz_dtype dtype;
    int64_t line, columns, rows;
    lz_buf values;
} reader;

static bool blank(const reader *r, char c)
{
    return c == ' ' || c == '\r' || (c == '\t' && r->delimiter != '\t');
}

/* The end of the field at p: a delimiter, a comment or the end of the line, without the blanks
 * before it. */
static const char *field_end(const reader *r, const char *p, const char *eol)
{
    while (p < eol && *p != r->delimiter && *p != r->comment &&
           !(r->delimiter == ' ' && blank(r, *p)))
        p++;
    return p;
}

/* The limits of an integer dtype, as doubles and integers do not hold all of both: compared by the
 * wider. */
static lz_status put_integer(reader *r, const char *text, char **end)
{
    size_t w = lz_dtype_size(r->dtype);
    bool is_signed = r->dtype >= LZ_I8 && r->dtype <= LZ_I64;
    errno = 0;
    uint64_t bits;
    bool fits;
    if (is_signed) {
        long long v = strtoll(text, end, 10), lo = w == 8 ? INT64_MIN : -(1LL << (8 * w - 1));
        fits = v >= lo && v <= (w == 8 ? INT64_MAX : (1LL << (8 * w - 1)) - 1);
        bits = (uint64_t)v;
    } else {
        bits = strtoull(text, end, 10);
        fits = *text != '-' && (w == 8 || bits >> 8 * w == 0);
    }
    if (errno || !fits)
        return LZ_FAIL(LZ_ERANGE, "%s:%" PRId64 ": \"%.40s\" is no %s", r->name, r->line, text,
                       lz_dtype_name(r->dtype));
    lz_buf_put(&r->values, &bits, w); /* little-endian */
    return LZ_OK;
}

static lz_status put_number(reader *r, const char *from, const char *to)
{
    char text[MAX_FIELD + 1], *end = text;
    size_t n = (size_t)(to - from);
    if (n > MAX_FIELD || memchr(from, '\0', n))
        return LZ_FAIL(LZ_EPARSE, "%s:%" PRId64 ": a field of %zu bytes is no number", r->name,
                       r->line, n);
    memcpy(text, from, n);
    text[n] = '\0';
    if (r->dtype == LZ_F32) {
        float v = strtof(text, &end);
        lz_buf_put(&r->values, &v, sizeof v);
    } else if (r->dtype == LZ_F64) {
        double v = strtod(text, &end);
        lz_buf_put(&r->values, &v, sizeof v);
    } else {
        LZ_TRY(put_integer(r, text, &end));
    }
    if (!n || end != text + n)
        return LZ_FAIL(LZ_EPARSE, "%s:%" PRId64 ": \"%.40s\" is no number", r->name, r->line, text);
    return r->values.failed ? LZ_FAIL(LZ_EMEM, "%s: no memory for the numbers", r->name) : LZ_OK;
}

static lz_status read_line(reader *r, const char *p, const char *eol)
{
    int64_t columns = 0;
    while (p < eol && blank(r, *p))
        p++;
    if (p == eol || *p == r->comment)
        return LZ_OK;
    while (true) {
        const char *end = field_end(r, p, eol), *last = end;
        while (last > p && blank(r, last[-1]))
            last--;
        LZ_TRY(put_number(r, p, last));
        columns++;
        for (p = end; p < eol && blank(r, *p);)
            p++;
        if (p == eol || *p == r->comment)
            break;
        if (r->delimiter != ' ')
            p++;
        while (p < eol && blank(r, *p))
            p++;
    }
    if (r->rows && columns != r->columns)
        return LZ_FAIL(LZ_EPARSE,
                       "%s:%" PRId64 ": %" PRId64 " numbers, the lines before have %" PRId64,
                       r->name, r->line, columns, r->columns);
    r->columns = columns;
    r->rows++;
    return LZ_OK;
}

static lz_status options(reader *r, const lz_csv_options *o, int *skip)
{
    lz_csv_options c = {0};
    if (o && (o->struct_size < sizeof(size_t) || o->struct_size > sizeof c))
        return LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to the size of the struct",
                       o->struct_size);
    if (o)
        memcpy(&c, o, o->struct_size);
    r->dtype = c.dtype ? c.dtype : LZ_F32;
    r->delimiter = c.delimiter ? c.delimiter : ',';
    r->comment = c.comment ? c.comment : '#';
    *skip = c.skip_lines;
    bool integer = r->dtype >= LZ_I8 && r->dtype <= LZ_U64;
    if (!integer && r->dtype != LZ_F32 && r->dtype != LZ_F64)
        return LZ_FAIL(LZ_EDTYPE, "%s: numbers are read as f32, f64 or integers, not as %s",
                       r->name, lz_dtype_name(r->dtype));
    if (strchr("0123456789+-.\n\r", r->delimiter))
        return LZ_FAIL(LZ_EINVAL, "the delimiter '%c' is part of numbers or lines", r->delimiter);
    return LZ_OK;
}

lz_status lz_csv_parse(const char *text, size_t n, const char *name, const lz_csv_options *o,
                       lz_array *out)
{
    reader r = {.p = text, .end = text + n, .name = name};
    int skip = 0;
    LZ_TRY(options(&r, o, &skip));
    lz_status s = LZ_OK;
    while (s == LZ_OK && r.p < r.end) {
        const char *eol = memchr(r.p, '\n', (size_t)(r.end - r.p));
        if (!eol)
            eol = r.end;
        r.line++;
        if (r.line > skip)
            s = read_line(&r, r.p, eol);
        r.p = eol < r.end ? eol + 1 : eol;
    }
    lz_shape shape = LZ_SHAPE(r.rows, r.columns);
    if (s == LZ_OK)
        s = lz_data_new(r.dtype, &shape, name, out);
    if (s == LZ_OK && out->nbytes)
        memcpy(out->data, r.values.data, out->nbytes);
    lz_buf_free(&r.values);
    return s;
}

lz_status lz_csv_read_at(const char *path, const lz_csv_options *o, lz_array *out,
                         const lz_site *site)
{
    lz_view v = {0};
    if (out)
        *out = (lz_array){0};
    lz_status s = path && out ? lz_data_map(path, &v)
                              : LZ_FAIL(LZ_ENULL, "%s is NULL", path ? "out" : "the path");
    if (s == LZ_OK)
        s = lz_csv_parse((const char *)v.data, v.len, path, o, out);
    lz_holder_release(v.holder);
    return lz_data_done(s, "lz_csv_read", site);
}
