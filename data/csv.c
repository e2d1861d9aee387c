/* csv.c - numbers in text, a line each row. */
#include "base/text.h"
#include "data/data_internal.h"
#include <inttypes.h>
#include <string.h>

enum { MAX_FIELD = 128 };

typedef struct reader {
    const char *text, *end, *name;
    char delimiter, comment;
    lz_dtype dtype;
    int64_t line, columns, rows, numbers; /* numbers: of all lines */
    uint8_t *at, *most;                   /* where the next number goes, and where none does */
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

/* An integer of the dtype, as two's complement. */
static lz_status read_integer(const reader *r, const char *s, size_t n, uint64_t *bits)
{
    size_t w = lz_dtype_size(r->dtype);
    if (r->dtype >= LZ_I8 && r->dtype <= LZ_I64) {
        int64_t v = 0, most = (int64_t)(UINT64_MAX >> (65 - 8 * w));
        lz_status st = lz_text_i64(s, n, -most - 1, most, &v);
        *bits = (uint64_t)v;
        return st;
    }
    size_t sign = n && (*s == '+' || *s == '-');
    lz_status st = lz_text_u64(s + sign, n - sign, 10, UINT64_MAX >> (64 - 8 * w), bits);
    return st == LZ_OK && *s == '-' ? LZ_ERANGE : st;
}

/* The second pass found something else than the first. */
static lz_status changed(const reader *r)
{
    return LZ_FAIL(LZ_ECORRUPT, "%s: changed while it was read", r->name);
}

static lz_status put_number(reader *r, const char *s, size_t n)
{
    uint64_t bits;
    lz_status st = LZ_EPARSE;
    if (r->at == r->most)
        return changed(r);
    if (n > MAX_FIELD)
        return LZ_FAIL(LZ_EPARSE, "%s:%" PRId64 ": a field of %zu bytes is no number", r->name,
                       r->line, n);
    if (r->dtype == LZ_F32)
        st = lz_text_f32(s, n, (float *)r->at) ? LZ_OK : LZ_EPARSE;
    else if (r->dtype == LZ_F64)
        st = lz_text_f64(s, n, (double *)r->at) ? LZ_OK : LZ_EPARSE;
    else if ((st = read_integer(r, s, n, &bits)) == LZ_OK)
        memcpy(r->at, &bits, lz_dtype_size(r->dtype)); /* little-endian */
    int shown = (int)(n < 40 ? n : 40);
    if (st != LZ_OK)
        return LZ_FAIL(st, "%s:%" PRId64 ": \"%.*s\" is no %s", r->name, r->line, shown, s,
                       st == LZ_EPARSE ? "number" : lz_dtype_name(r->dtype));
    r->at += lz_dtype_size(r->dtype);
    return LZ_OK;
}

/* The numbers of a line, which are only counted while there is no memory for them. */
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
        if (r->at)
            LZ_TRY(put_number(r, p, (size_t)(last - p)));
        columns++;
        r->numbers++;
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

static lz_status read_lines(reader *r, int skip)
{
    r->line = r->rows = r->columns = r->numbers = 0;
    for (const char *p = r->text, *eol; p < r->end; p = eol < r->end ? eol + 1 : eol) {
        eol = memchr(p, '\n', (size_t)(r->end - p));
        eol = eol ? eol : r->end;
        if (++r->line > skip)
            LZ_TRY(read_line(r, p, eol));
    }
    return LZ_OK;
}

/* Twice over the text: to count, and, with exactly the memory that takes, to read. Lines of
 * different lengths end the first pass; the second then finds what is wrong first. The text may be
 * that of a file which somebody writes to meanwhile: what is read must be what was counted. */
lz_status lz_csv_parse(const char *text, size_t n, const char *name, const lz_csv_options *o,
                       lz_array *out)
{
    reader r = {.text = text, .end = text + n, .name = name};
    int skip = 0;
    LZ_TRY(options(&r, o, &skip));
    lz_status counted = read_lines(&r, skip);
    int64_t rows = r.rows;
    lz_shape shape = counted == LZ_OK ? LZ_SHAPE(r.rows, r.columns) : LZ_SHAPE(r.numbers);
    LZ_TRY(lz_data_new(r.dtype, &shape, name, out));
    r.at = out->data;
    r.most = r.at + out->nbytes;
    lz_status s = read_lines(&r, skip);
    if (s == LZ_OK && (counted != LZ_OK || r.rows != rows || r.at != r.most))
        s = changed(&r);
    if (s != LZ_OK)
        lz_array_free(out);
    return s;
}

lz_status lz_csv_read_at(const char *path, const lz_csv_options *o, lz_array *out,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
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
