/* loop_attr.c - attribute records of elementwise ops in the encoding and the text of kernels.
 * Elementwise ops have no regions, so a record is a few numbers.
 * Threads: pure. */
#include "lower/loops/loop_impl.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

void lz_ewattr_put(lz_buf *out, const lz_attr *a)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(a, f);
    for (int i = 0; i < n; i++)
        lz_attr_field_put(out, &f[i]);
}

const lz_attr *lz_ewattr_take(lz_rd *r, lz_attr_kind kind)
{
    lz_attr_any any;
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    lz_attr_init(&any, kind);
    int n = lz_attr_fields(&any.head, f);
    for (int i = 0; i < n && !r->failed; i++)
        lz_attr_field_take(r, &f[i]);
    return r->failed ? NULL : lz_attr_get(&any.head);
}

/* ---- text ---- */

void lz_ewattr_print(lz_buf *out, const lz_attr *a)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(a, f);
    for (int i = 0; i < n; i++) {
        lz_buf_printf(out, "%s%s = ", i ? ", " : "{", f[i].name);
        if (f[i].type == LZ_FIELD_DTYPE) /* the loop IR names dtypes as messages do */
            lz_buf_puts(out, lz_dtype_name(*f[i].dtype));
        else
            lz_attr_field_print(out, &f[i]);
    }
    if (n)
        lz_buf_putc(out, '}');
}

static bool word_is(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(p, word, n) == 0;
}

static bool parse_i64(const char *p, size_t n, int64_t *out)
{
    return lz_text_i64(p, n, INT64_MIN, INT64_MAX, out) == LZ_OK;
}

static bool parse_list(const char *p, size_t n, int32_t *count, int64_t *v)
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

static bool parse_dtype(const char *p, size_t n, lz_dtype *out)
{
    for (int d = 1; d < LZ_DTYPE_COUNT; d++)
        if (word_is(p, n, lz_dtype_name((lz_dtype)d))) {
            *out = (lz_dtype)d;
            return true;
        }
    return false;
}

static bool parse_bool(const char *p, size_t n, bool *out)
{
    *out = word_is(p, n, "true");
    return *out || word_is(p, n, "false");
}

static bool parse_field(const lz_attr_field *f, const char *p, size_t n)
{
    switch (f->type) {
    case LZ_FIELD_I64:
        return parse_i64(p, n, f->i64);
    case LZ_FIELD_BOOL:
        return parse_bool(p, n, f->flag);
    case LZ_FIELD_INTS:
        return parse_list(p, n, &f->ints->n, f->ints->v);
    case LZ_FIELD_SHAPE:
        return parse_list(p, n, &f->shape->rank, f->shape->dims);
    case LZ_FIELD_DTYPE:
        return parse_dtype(p, n, f->dtype);
    case LZ_FIELD_ENUM:
        return lz_attr_enum_value(f->table, p, n, f->value);
    case LZ_FIELD_STR:
    case LZ_FIELD_REGION:
        break;
    }
    return false;
}

bool lz_ewattr_set(lz_attr *record, const char *field, size_t nfield, const char *value,
                   size_t nvalue)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(record, f);
    for (int i = 0; i < n; i++)
        if (word_is(field, nfield, f[i].name))
            return parse_field(&f[i], value, nvalue);
    return false;
}
