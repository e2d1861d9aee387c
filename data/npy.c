/* npy.c - NumPy's .npy format (numpy/lib/format.py, versions 1.0 to 3.0). The header is a Python
 * literal; exactly the dict that NumPy writes is understood, nothing is evaluated. */
#include "data/data_internal.h"
#include <inttypes.h>
#include <string.h>

enum { MAX_HEADER = 65536, BYTE_ORDERED = 2 };

/* The first row that fits is read and written. 16- and 8-bit floats that NumPy lacks are void
 * elements, which numpy.load opens and `.view` turns into those of ml_dtypes. Both 8-bit ones are
 * of one byte: the byte order, which says nothing about one byte, tells them apart ('<' and '|' are
 * what ml_dtypes writes for the first). What ml_dtypes writes for the second, f1, numpy.load
 * refuses; it is only read. */
static const struct descr {
    char text[4]; /* without the byte order */
    char order;   /* 0: any */
    lz_dtype dtype;
} descrs[] = {
    {"b1", 0, LZ_BOOL},       {"i1", 0, LZ_I8},         {"i2", 0, LZ_I16},
    {"i4", 0, LZ_I32},        {"i8", 0, LZ_I64},        {"u1", 0, LZ_U8},
    {"u2", 0, LZ_U16},        {"u4", 0, LZ_U32},        {"u8", 0, LZ_U64},
    {"f2", 0, LZ_F16},        {"f4", 0, LZ_F32},        {"f8", 0, LZ_F64},
    {"c8", 0, LZ_C64},        {"c16", 0, LZ_C128},      {"V2", 0, LZ_BF16},
    {"V1", '>', LZ_F8E5M2},   {"V1", 0, LZ_F8E4M3FN},   {"f1", 0, LZ_F8E5M2},
    {"i1", 0, LZ_I2},         {"i1", 0, LZ_I4},         {"u1", 0, LZ_U2},
    {"u1", 0, LZ_U4},         {"u1", 0, LZ_F8E4M3},     {"u1", 0, LZ_F8E3M4},
    {"u1", 0, LZ_F8E4M3FNUZ}, {"u1", 0, LZ_F8E5M2FNUZ}, {"u1", 0, LZ_F8E4M3B11FNUZ},
    {"u1", 0, LZ_F8E8M0FNU},  {"u1", 0, LZ_F4E2M1FN},
    /* those of numbers that NumPy does not have are only written, as bytes */
};

/* ---- the header ---- */

typedef struct scanner {
    const char *p, *end, *name;
} scanner;

static void blanks(scanner *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t'))
        s->p++;
}

static bool take(scanner *s, char c)
{
    blanks(s);
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static bool take_word(scanner *s, const char *word)
{
    size_t n = strlen(word);
    blanks(s);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    return true;
}

/* A quoted string without escapes, at most 31 bytes. */
static lz_status take_string(scanner *s, char out[32])
{
    blanks(s);
    char quote = s->p < s->end ? *s->p : 0;
    const char *from = s->p + 1;
    if (quote != '\'' && quote != '"')
        return LZ_FAIL(LZ_EPARSE, "%s: a string is missing in the .npy header", s->name);
    size_t n = 0;
    while (from + n < s->end && from[n] != quote && from[n] != '\\' && n < 31)
        n++;
    if (from + n == s->end || from[n] != quote)
        return LZ_FAIL(LZ_EPARSE, "%s: a string in the .npy header has no end", s->name);
    memcpy(out, from, n);
    out[n] = '\0';
    s->p = from + n + 1;
    return LZ_OK;
}

static lz_status take_descr(scanner *s, lz_npy_head *h)
{
    char text[32];
    blanks(s);
    if (s->p < s->end && *s->p == '[')
        return LZ_FAIL(LZ_EDTYPE, "%s: arrays of records are not supported", s->name);
    LZ_TRY(take_string(s, text));
    const char *t = text;
    char order = '|';
    if (*t && strchr("<>|=", *t))
        order = *t++;
    if (*t == 'O')
        return LZ_FAIL(LZ_EDTYPE, "%s: object arrays hold code, which is never loaded", s->name);
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs && h->dtype == LZ_DTYPE_NONE; i++)
        if (strcmp(t, descrs[i].text) == 0 && (!descrs[i].order || descrs[i].order == order))
            h->dtype = descrs[i].dtype;
    if (h->dtype == LZ_DTYPE_NONE)
        return LZ_FAIL(LZ_EDTYPE, "%s: the element type \"%s\" is not supported", s->name, text);
    h->swapped = order == '>' && lz_dtype_size(h->dtype) > 1;
    return LZ_OK;
}

static lz_status take_shape(scanner *s, lz_npy_head *h)
{
    if (!take(s, '('))
        return LZ_FAIL(LZ_EPARSE, "%s: the shape in the .npy header is no tuple", s->name);
    while (!take(s, ')')) {
        int64_t v = 0;
        const char *from = s->p;
        for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
            if (!lz_mul_i64(v, 10, &v) || !lz_add_i64(v, *s->p - '0', &v))
                return LZ_FAIL(LZ_ERANGE, "%s: an extent in the .npy header is too large", s->name);
        if (s->p == from)
            return LZ_FAIL(LZ_EPARSE, "%s: a bad extent in the .npy header", s->name);
        if (s->p < s->end && *s->p == 'L') /* as Python 2 wrote them */
            s->p++;
        if (h->shape.rank == LZ_MAX_RANK)
            return LZ_FAIL(LZ_ESHAPE, "%s: more than %d dimensions", s->name, LZ_MAX_RANK);
        h->shape.dims[h->shape.rank++] = v;
        if (!take(s, ',') && (s->p == s->end || *s->p != ')'))
            return LZ_FAIL(LZ_EPARSE, "%s: the shape in the .npy header has no end", s->name);
    }
    return LZ_OK;
}

static lz_status take_order(scanner *s, lz_npy_head *h)
{
    h->fortran = take_word(s, "True");
    if (!h->fortran && !take_word(s, "False"))
        return LZ_FAIL(LZ_EPARSE, "%s: fortran_order in the .npy header is no boolean", s->name);
    return LZ_OK;
}

static lz_status take_dict(scanner *s, lz_npy_head *h)
{
    static const struct {
        const char *key;
        lz_status (*read)(scanner *, lz_npy_head *);
    } keys[] = {{"descr", take_descr}, {"fortran_order", take_order}, {"shape", take_shape}};
    unsigned seen = 0;
    if (!take(s, '{'))
        return LZ_FAIL(LZ_EPARSE, "%s: the .npy header is no dict", s->name);
    while (!take(s, '}')) {
        char key[32];
        unsigned k = 0;
        LZ_TRY(take_string(s, key));
        while (k < 3 && strcmp(key, keys[k].key) != 0)
            k++;
        if (k == 3 || seen & 1u << k)
            return LZ_FAIL(LZ_EPARSE, "%s: the key '%s' in the .npy header is %s", s->name, key,
                           k == 3 ? "unknown" : "repeated");
        if (!take(s, ':'))
            return LZ_FAIL(LZ_EPARSE, "%s: no value for '%s' in the .npy header", s->name, key);
        LZ_TRY(keys[k].read(s, h));
        seen |= 1u << k;
        if (!take(s, ',') && (s->p == s->end || *s->p != '}'))
            return LZ_FAIL(LZ_EPARSE, "%s: the .npy header has no end", s->name);
    }
    blanks(s);
    if (seen != 7 || s->p != s->end)
        return LZ_FAIL(LZ_EPARSE, "%s: the .npy header is not complete", s->name);
    return LZ_OK;
}

size_t lz_npy_head_size(const uint8_t *p)
{
    if (memcmp(p, "\x93NUMPY", 6) != 0 || p[6] < 1 || p[6] > 3)
        return 0;
    size_t n = p[6] == 1 ? 10 + (size_t)lz_le16(p + 8) : 12 + (size_t)lz_le32(p + 8);
    return n <= LZ_NPY_MOST ? n : 0;
}

lz_status lz_npy_parse_head(const uint8_t *p, size_t n, const char *name, lz_npy_head *h)
{
    *h = (lz_npy_head){0};
    if (n < 10 || memcmp(p, "\x93NUMPY", 6) != 0)
        return LZ_FAIL(LZ_EPARSE, "%s: not a .npy file", name);
    if (p[6] < 1 || p[6] > 3)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: version %d.%d of the .npy format", name, p[6], p[7]);
    size_t at = p[6] == 1 ? 10 : 12, len = (size_t)p[8] | (size_t)p[9] << 8;
    if (n < at)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the file ends in the .npy header", name);
    if (p[6] > 1)
        len |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (len > MAX_HEADER || len > n - at)
        return LZ_FAIL(LZ_ECORRUPT, "%s: a .npy header of %zu bytes", name, len);
    scanner s = {(const char *)p + at, (const char *)p + at + len, name};
    LZ_TRY(take_dict(&s, h));
    h->at = at + len;
    return lz_data_size(h->dtype, &h->shape, name, &h->nbytes);
}

/* ---- elements ---- */

static void swap_bytes(lz_array *a)
{
    size_t w = lz_dtype_size(a->dtype);
    if (a->dtype == LZ_C64 || a->dtype == LZ_C128) /* by parts */
        w /= 2;
    uint8_t *p = a->data;
    for (size_t i = 0; i + w <= a->nbytes; i += w)
        for (size_t k = 0; k < w / 2; k++) {
            uint8_t t = p[i + k];
            p[i + k] = p[i + w - 1 - k];
            p[i + w - 1 - k] = t;
        }
}

void lz_npy_fix(lz_array *a, const lz_npy_head *h)
{
    uint8_t *p = a->data;
    if (h->swapped)
        swap_bytes(a);
    for (size_t i = 0; a->dtype == LZ_BOOL && i < a->nbytes; i++)
        p[i] = p[i] != 0;
}

void lz_npy_put_columns(lz_npy_columns *c, const uint8_t *from, size_t nbytes)
{
    size_t w = lz_dtype_size(c->to->dtype);
    const lz_shape *s = &c->to->shape;
    size_t stride[LZ_MAX_RANK];
    for (int d = s->rank - 1; d >= 0; d--)
        stride[d] = d == s->rank - 1 ? w : stride[d + 1] * (size_t)s->dims[d + 1];
    for (size_t i = 0; i + w <= nbytes; i += w) {
        memcpy((uint8_t *)c->to->data + c->at, from + i, w);
        for (int d = 0; d < s->rank; d++) {
            c->at += stride[d];
            if (++c->index[d] < s->dims[d])
                break;
            c->at -= stride[d] * (size_t)c->index[d];
            c->index[d] = 0;
        }
    }
}

lz_status lz_npy_parse(const lz_view *v, const char *name, lz_array *out)
{
    lz_npy_head h;
    LZ_TRY(lz_npy_parse_head(v->data, v->len, name, &h));
    if (v->len - h.at < h.nbytes) /* what follows them is not the array's, as numpy.load has it */
        return LZ_FAIL(LZ_ECORRUPT, "%s: %zu bytes of elements, the header says %zu", name,
                       v->len - h.at, h.nbytes);
    if (!h.swapped && !h.fortran)
        return lz_data_view(v, h.at, h.dtype, &h.shape, name, out);
    LZ_TRY(lz_data_new(h.dtype, &h.shape, name, out));
    if (h.fortran)
        lz_npy_put_columns(&(lz_npy_columns){.to = out}, v->data + h.at, h.nbytes);
    else if (h.nbytes)
        memcpy(out->data, v->data + h.at, h.nbytes);
    lz_npy_fix(out, &h);
    return LZ_OK;
}

void lz_npy_put_head(lz_buf *b, const lz_array *a)
{
    const char *text = "";
    char order = lz_dtype_size(a->dtype) > 1 && a->dtype != LZ_BF16 ? '<' : '|';
    size_t start = b->len;
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs && !*text; i++)
        if (descrs[i].dtype == a->dtype) {
            text = descrs[i].text;
            order = descrs[i].order ? descrs[i].order : order;
        }
    lz_buf_put(b, "\x93NUMPY\1\0\0\0", 10);
    lz_buf_printf(b, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, text);
    for (int i = 0; i < a->shape.rank; i++)
        lz_buf_printf(b, "%s%" PRId64 "%s", i ? " " : "", a->shape.dims[i],
                      i + 1 < a->shape.rank || i == 0 ? "," : "");
    lz_buf_puts(b, "), }");
    while ((b->len - start + 1) % 64 && !b->failed)
        lz_buf_putc(b, ' ');
    lz_buf_putc(b, '\n');
    if (b->failed)
        return;
    size_t len = b->len - start - 10;
    b->data[start + 8] = (char)len;
    b->data[start + 9] = (char)(len >> 8);
}

/* ---- public ---- */

lz_status lz_npy_read_at(const char *path, lz_array *out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_view v = {0};
    if (out)
        *out = (lz_array){0};
    lz_status s = path && out ? lz_data_map(path, &v)
                              : LZ_FAIL(LZ_ENULL, "%s is NULL", path ? "out" : "the path");
    if (s == LZ_OK)
        s = lz_npy_parse(&v, path, out);
    lz_holder_release(v.holder);
    return lz_data_done(s, "lz_npy_read", site);
}

lz_status lz_npy_decode_at(const void *bytes, size_t n, const char *name, lz_array *out,
                           const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    const lz_view v = {bytes, n, NULL};
    if (out)
        *out = (lz_array){0};
    lz_status s = bytes && out ? lz_npy_parse(&v, name ? name : "the bytes", out)
                               : LZ_FAIL(LZ_ENULL, "%s is NULL", bytes ? "out" : "bytes");
    return lz_data_done(s, "lz_npy_decode", site);
}

lz_status lz_npy_write_at(const char *path, const lz_array *a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_outfile f;
    lz_buf head = {0};
    lz_status s = path && a ? lz_data_check(a, path)
                            : LZ_FAIL(LZ_ENULL, "%s is NULL", path ? "the array" : "the path");
    if (s == LZ_OK) {
        lz_npy_put_head(&head, a);
        s = head.failed ? LZ_FAIL(LZ_EMEM, "%s: no memory", path)
                        : lz_outfile_begin(&f, path, true);
    }
    if (s == LZ_OK) {
        lz_outfile_put(&f, head.data, head.len);
        lz_outfile_put(&f, a->data, a->nbytes);
        s = lz_outfile_end(&f, s);
    }
    lz_buf_free(&head);
    return lz_data_done(s, "lz_npy_write", site);
}
