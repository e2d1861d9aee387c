/* npy.c - NumPy's .npy format (numpy/lib/format.py, versions 1.0 to 3.0): untrusted bytes, so every size is checked before it is used. */
#include "tools/lazuli/tool.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct descr {
    const char *text;
    lz_dtype dtype;
} descrs[] = {
    {"|b1", LZ_BOOL}, {"|i1", LZ_I8},  {"<i2", LZ_I16},  {"<i4", LZ_I32},  {"<i8", LZ_I64},
    {"|u1", LZ_U8},   {"<u2", LZ_U16}, {"<u4", LZ_U32},  {"<u8", LZ_U64},  {"<f2", LZ_F16},
    {"<f4", LZ_F32},  {"<f8", LZ_F64}, {"|V2", LZ_BF16}, {"<V2", LZ_BF16}, {"<c8", LZ_C64},
};

/* The value after 'key': in the header's dict, or NULL. */
static const char *find_key(const char *header, const char *key)
{
    const char *p = strstr(header, key);
    if (!p || !(p = strchr(p + strlen(key), ':')))
        return NULL;
    for (p++; *p == ' '; p++)
        ;
    return p;
}

static lz_status parse_shape(const char *path, const char *p, lz_shape *s)
{
    *s = (lz_shape){0};
    if (!p || *p++ != '(')
        return LZ_FAIL(LZ_EPARSE, "%s: no shape in the header", path);
    while (true) {
        while (*p == ' ' || *p == ',')
            p++;
        if (*p == ')')
            return LZ_OK;
        char *end;
        errno = 0;
        long long v = isdigit((unsigned char)*p) ? strtoll(p, &end, 10) : -1;
        if (v < 0 || errno)
            return LZ_FAIL(LZ_EPARSE, "%s: bad extent in the header's shape", path);
        if (s->rank == LZ_MAX_RANK)
            return LZ_FAIL(LZ_ESHAPE, "%s: more than %d dimensions", path, LZ_MAX_RANK);
        s->dims[s->rank++] = v;
        p = end;
    }
}

static lz_status parse_header(const char *path, const char *header, lz_dtype *d, lz_shape *s)
{
    const char *descr = find_key(header, "'descr'"), *order = find_key(header, "'fortran_order'");
    *d = LZ_DTYPE_NONE;
    for (size_t i = 0; descr && i < sizeof descrs / sizeof *descrs; i++) {
        size_t n = strlen(descrs[i].text);
        if (*descr == '\'' && strncmp(descr + 1, descrs[i].text, n) == 0 && descr[1 + n] == '\'')
            *d = descrs[i].dtype;
    }
    if (*d == LZ_DTYPE_NONE)
        return LZ_FAIL(LZ_EDTYPE, "%s: the element type %.12s is not supported", path,
                       descr ? descr : "(none)");
    if (!order || strncmp(order, "False", 5) != 0)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: Fortran order is not supported", path);
    return parse_shape(path, find_key(header, "'shape'"), s);
}

static lz_status decode(const char *path, const lz_buf *b, lz_dtype want, lz_literal **out)
{
    const uint8_t *p = (const uint8_t *)b->data;
    if (b->len < 10 || memcmp(p, "\x93NUMPY", 6) != 0 || p[6] < 1 || p[6] > 3)
        return LZ_FAIL(LZ_EPARSE, "%s: not a .npy file", path);
    size_t head = p[6] == 1 ? 10 : 12;
    size_t len = p[6] == 1 ? (size_t)p[8] | (size_t)p[9] << 8
                           : (b->len < 12 ? SIZE_MAX
                                          : (size_t)p[8] | (size_t)p[9] << 8 | (size_t)p[10] << 16 |
                                                (size_t)p[11] << 24);
    if (len > 65536 || len > b->len - head)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the header is longer than the file", path);
    char *header = lz_calloc(1, len + 1);
    if (!header)
        return LZ_FAIL(LZ_EMEM, "%s: no memory", path);
    memcpy(header, p + head, len);
    lz_dtype d;
    lz_shape s;
    lz_status st = parse_header(path, header, &d, &s);
    lz_free(header);
    LZ_TRY(st);
    if (want != LZ_DTYPE_NONE && d != want && lz_dtype_size(d) == 2 && want == LZ_BF16 &&
        (d == LZ_U16 || d == LZ_I16))
        d = LZ_BF16;
    const lz_type *t = lz_type_get(d, &s);
    if (!t)
        return LZ_FAIL(LZ_ERANGE, "%s: an array of that shape is larger than memory can be", path);
    if (b->len - head - len != t->nbytes)
        return LZ_FAIL(LZ_ECORRUPT, "%s: %zu bytes of data, the header says %zu", path,
                       b->len - head - len, t->nbytes);
    *out = lz_literal_copy_from(t, p + head + len);
    if (*out && d == LZ_BOOL) /* any byte but 0 is true, as in NumPy; here true is 1 */
        for (size_t i = 0; i < t->nbytes; i++)
            ((uint8_t *)(*out)->data)[i] = ((uint8_t *)(*out)->data)[i] != 0;
    return *out ? LZ_OK : LZ_FAIL(LZ_EMEM, "%s: no memory", path);
}

lz_status tool_npy_read(const char *path, lz_dtype want, lz_literal **out)
{
    lz_buf b = {0};
    *out = NULL;
    lz_status s = tool_read_file(path, (size_t)1 << 36, &b);
    if (s == LZ_OK)
        s = decode(path, &b, want, out);
    lz_buf_free(&b);
    return s;
}

lz_status tool_npy_write(const char *path, const lz_literal *l)
{
    const char *descr = NULL;
    for (size_t i = 0; !descr && i < sizeof descrs / sizeof *descrs; i++)
        if (descrs[i].dtype == l->type->dtype)
            descr = descrs[i].text;
    if (!descr)
        return LZ_FAIL(LZ_EDTYPE, "%s: %s cannot be stored as .npy", path,
                       lz_dtype_name(l->type->dtype));
    lz_buf h = {0};
    lz_buf_printf(&h, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < l->type->shape.rank; i++)
        lz_buf_printf(&h, "%" PRId64 ",%s", l->type->shape.dims[i],
                      i + 1 < l->type->shape.rank ? " " : "");
    lz_buf_puts(&h, "), }");
    while ((10 + h.len + 1) % 64)
        lz_buf_putc(&h, ' ');
    lz_buf_putc(&h, '\n');
    uint8_t magic[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)h.len, (uint8_t)(h.len >> 8)};
    FILE *f = h.failed ? NULL : fopen(path, "wb");
    bool ok = f && fwrite(magic, 1, 10, f) == 10 && fwrite(h.data, 1, h.len, f) == h.len &&
              fwrite(l->data, 1, l->nbytes, f) == l->nbytes;
    int why = ok ? 0 : errno;
    if (f && fclose(f) != 0 && ok) {
        ok = false;
        why = errno;
    }
    lz_buf_free(&h);
    if (ok)
        return LZ_OK;
    if (f)
        (void)remove(path); /* half a file is none */
    return LZ_FAIL(LZ_EIO, "%s: cannot be written: %s", path, strerror(why));
}

uint32_t tool_components(const lz_type *t, lz_dtype *part)
{
    *part = t->dtype == LZ_C64 ? LZ_F32 : t->dtype;
    return t->dtype == LZ_C64 ? 2 : 1;
}

static void print_number(FILE *f, lz_dtype d, const void *data, int64_t i)
{
    if (lz_dtype_is_float(d)) {
        double v = lz_elem_get_f64(d, data, i);
        if (isnan(v))
            fputs("nan", f);
        else
            fprintf(f, "%.*g", d == LZ_F64 ? 17 : 9, v);
    } else if (d == LZ_U64) {
        fprintf(f, "%" PRIu64, (uint64_t)lz_elem_get_i64(LZ_U64, data, i));
    } else {
        fprintf(f, "%" PRId64, lz_elem_get_i64(d, data, i));
    }
}

void tool_print_literal(FILE *f, const lz_literal *l)
{
    enum { SHOWN = 64 };
    char type[96];
    fprintf(f, "%s", lz_type_short(l->type, type, sizeof type));
    int64_t row = l->type->shape.rank ? l->type->shape.dims[l->type->shape.rank - 1] : 1;
    for (int64_t i = 0; i < l->type->nelem && i < SHOWN; i++) {
        fputs(row && i % row == 0 ? "\n  " : " ", f);
        lz_dtype part;
        if (tool_components(l->type, &part) == 1) {
            print_number(f, part, l->data, i);
            continue;
        }
        fputc('(', f);
        print_number(f, part, l->data, 2 * i);
        fputc(',', f);
        print_number(f, part, l->data, 2 * i + 1);
        fputc(')', f);
    }
    fprintf(f, "%s\n", l->type->nelem > SHOWN ? " ..." : "");
}
