/* dataset_files.c - file formats of data sets: IDX, CIFAR binaries, raw bytes. */
#include "data/data_internal.h"
#include <inttypes.h>
#include <string.h>

/* ---- IDX: 0, 0, type, rank, then big-endian extents and elements ---- */

static lz_dtype idx_dtype(uint8_t code)
{
    static const struct {
        uint8_t code;
        lz_dtype dtype;
    } types[] = {{8, LZ_U8},    {9, LZ_I8},    {0xb, LZ_I16},
                 {0xc, LZ_I32}, {0xd, LZ_F32}, {0xe, LZ_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == code)
            return types[i].dtype;
    return LZ_DTYPE_NONE;
}

static void from_big_endian(lz_array *a)
{
    size_t w = lz_dtype_size(a->dtype);
    uint8_t *p = a->data;
    for (size_t i = 0; w > 1 && i < a->nbytes; i += w)
        for (size_t k = 0; k < w / 2; k++) {
            uint8_t t = p[i + k];
            p[i + k] = p[i + w - 1 - k];
            p[i + w - 1 - k] = t;
        }
}

typedef struct idx_head {
    lz_dtype dtype;
    lz_shape shape;
    size_t at, nbytes; /* where the elements begin, and how many bytes they are */
} idx_head;
enum { IDX_LEAST = 4, IDX_MOST = 4 + 4 * LZ_MAX_RANK };

/* Of the first n bytes: all of the file, or IDX_MOST. */
static lz_status read_head(const uint8_t *p, size_t n, const char *name, idx_head *h)
{
    if (n < IDX_LEAST || p[0] || p[1])
        return LZ_FAIL(LZ_EPARSE, "%s: not an IDX file", name);
    *h = (idx_head){.dtype = idx_dtype(p[2]), .shape = {.rank = p[3]}, .at = 4 + 4 * (size_t)p[3]};
    if (h->dtype == LZ_DTYPE_NONE)
        return LZ_FAIL(LZ_EDTYPE, "%s: the IDX element type 0x%02x is unknown", name, p[2]);
    if (p[3] > LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE, "%s: %d dimensions: a tensor has at most %d", name, p[3],
                       LZ_MAX_RANK);
    if (n < h->at)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the file ends in the IDX header", name);
    for (int i = 0; i < h->shape.rank; i++) {
        const uint8_t *q = p + 4 + 4 * i;
        h->shape.dims[i] = (int64_t)q[0] << 24 | q[1] << 16 | q[2] << 8 | q[3];
    }
    return lz_data_size(h->dtype, &h->shape, name, &h->nbytes);
}

lz_status lz_idx_parse(const lz_view *v, const char *name, lz_array *out)
{
    idx_head h;
    LZ_TRY(read_head(v->data, v->len, name, &h));
    if (v->len - h.at != h.nbytes)
        return LZ_FAIL(LZ_ECORRUPT, "%s: %zu bytes of elements, the IDX header says %zu", name,
                       v->len - h.at, h.nbytes);
    if (lz_dtype_size(h.dtype) == 1)
        return lz_data_view(v, h.at, h.dtype, &h.shape, name, out);
    LZ_TRY(lz_data_new(h.dtype, &h.shape, name, out));
    if (h.nbytes)
        memcpy(out->data, v->data + h.at, h.nbytes);
    from_big_endian(out);
    return LZ_OK;
}

/* The same, compressed by gzip: no more is decompressed than the header says, but for a byte to see
 * that nothing follows. */
static lz_status read_compressed(lz_inflater *f, const char *name, lz_array *out)
{
    uint8_t head[IDX_MOST];
    idx_head h;
    size_t n = lz_inflate_read(f, head, IDX_LEAST), got = 0;
    if (n == IDX_LEAST && head[3] <= LZ_MAX_RANK)
        n += lz_inflate_read(f, head + n, 4 * (size_t)head[3]);
    LZ_TRY(read_head(head, n, name, &h));
    LZ_TRY(lz_inflate_array(f, h.dtype, &h.shape, name, out, &got));
    lz_status s = LZ_OK;
    if (got == h.nbytes && !lz_inflate_done(f))
        s = LZ_FAIL(LZ_ECORRUPT,
                    "%s: the gzip data are damaged, or more than the %zu bytes of elements that "
                    "the IDX header says",
                    name, h.nbytes);
    else if (got != h.nbytes)
        s = LZ_FAIL(LZ_ECORRUPT,
                    "%s: the gzip data are damaged: %zu bytes of elements, the IDX "
                    "header says %zu",
                    name, got, h.nbytes);
    if (s == LZ_OK)
        from_big_endian(out);
    else
        lz_array_free(out);
    return s;
}

static lz_status read_idx(const char *path, lz_array *out)
{
    lz_view v;
    lz_inflater f;
    LZ_TRY(lz_data_map(path, &v));
    lz_status s = LZ_OK;
    if (v.len < 3 || v.data[0] != 0x1f || v.data[1] != 0x8b) {
        s = lz_idx_parse(&v, path, out);
    } else if ((s = lz_inflate_begin(&f, v.data, v.len, true, path)) == LZ_OK) {
        s = read_compressed(&f, path, out);
        lz_inflate_end(&f);
    }
    lz_holder_release(v.holder);
    return s;
}

lz_status lz_idx_read_at(const char *path, lz_array *out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    if (out)
        *out = (lz_array){0};
    lz_status s = path && out ? read_idx(path, out)
                              : LZ_FAIL(LZ_ENULL, "%s is NULL", path ? "out" : "the path");
    return lz_data_done(s, "lz_idx_read", site);
}

/* ---- CIFAR: a label, or a coarse and a fine one, then 3 planes of 32 x 32 ---- */

lz_status lz_cifar_parse(const lz_view *v, const char *name, bool fine, lz_array *images,
                         lz_array *labels)
{
    enum { PIXELS = 3 * 32 * 32 };
    size_t row = PIXELS + (fine ? 2 : 1), n = v->len / row;
    if (v->len == 0 || v->len % row)
        return LZ_FAIL(LZ_ECORRUPT, "%s: %zu bytes are not images of %zu bytes", name, v->len, row);
    lz_shape is = LZ_SHAPE((int64_t)n, 3, 32, 32), ls = LZ_SHAPE((int64_t)n);
    LZ_TRY(lz_data_new(LZ_U8, &is, name, images));
    lz_status s = lz_data_new(LZ_U8, &ls, name, labels);
    if (s != LZ_OK) {
        lz_array_free(images);
        return s;
    }
    int classes = fine ? 100 : 10;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = v->data + i * row;
        uint8_t label = p[fine ? 1 : 0];
        if (label >= classes && s == LZ_OK)
            s = LZ_FAIL(LZ_ECORRUPT, "%s: image %zu has the label %d, not one of %d", name, i,
                        label, classes);
        ((uint8_t *)labels->data)[i] = label;
        memcpy((uint8_t *)images->data + i * PIXELS, p + row - PIXELS, PIXELS);
    }
    if (s != LZ_OK) {
        lz_array_free(images);
        lz_array_free(labels);
    }
    return s;
}

lz_status lz_cifar_read_at(const char *path, bool fine, lz_array *images, lz_array *labels,
                           const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_view v = {0};
    if (images)
        *images = (lz_array){0};
    if (labels)
        *labels = (lz_array){0};
    lz_status s = path && images && labels ? lz_data_map(path, &v)
                                           : LZ_FAIL(LZ_ENULL, "%s is NULL",
                                                     !path    ? "the path"
                                                     : images ? "labels"
                                                              : "images");
    if (s == LZ_OK)
        s = lz_cifar_parse(&v, path, fine, images, labels);
    lz_holder_release(v.holder);
    return lz_data_done(s, "lz_cifar_read", site);
}

/* ---- bytes ---- */

lz_status lz_bytes_read_at(const char *path, lz_array *out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_view v = {0};
    if (out)
        *out = (lz_array){0};
    lz_status s = path && out ? lz_data_map(path, &v)
                              : LZ_FAIL(LZ_ENULL, "%s is NULL", path ? "out" : "the path");
    if (s == LZ_OK) {
        lz_shape shape = LZ_SHAPE((int64_t)v.len);
        s = lz_data_view(&v, 0, LZ_U8, &shape, path, out);
    }
    lz_holder_release(v.holder);
    return lz_data_done(s, "lz_bytes_read", site);
}
