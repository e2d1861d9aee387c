/* dataset_files.c - file formats of data sets: IDX, CIFAR binaries, raw bytes. */
#include "data/data_internal.h"
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

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

lz_status lz_idx_parse(const lz_view *v, const char *name, lz_array *out)
{
    const uint8_t *p = v->data;
    lz_shape s = LZ_SCALAR;
    if (v->len < 4 || p[0] || p[1])
        return LZ_FAIL(LZ_EPARSE, "%s: not an IDX file", name);
    lz_dtype d = idx_dtype(p[2]);
    if (d == LZ_DTYPE_NONE)
        return LZ_FAIL(LZ_EDTYPE, "%s: the IDX element type 0x%02x is unknown", name, p[2]);
    if (p[3] > LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE, "%s: %d dimensions: a tensor has at most %d", name, p[3],
                       LZ_MAX_RANK);
    s.rank = p[3];
    size_t at = 4 + 4 * (size_t)s.rank, nbytes;
    if (v->len < at)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the file ends in the IDX header", name);
    for (int i = 0; i < s.rank; i++) {
        const uint8_t *q = p + 4 + 4 * i;
        s.dims[i] = (int64_t)q[0] << 24 | q[1] << 16 | q[2] << 8 | q[3];
    }
    LZ_TRY(lz_data_size(d, &s, name, &nbytes));
    if (v->len - at != nbytes)
        return LZ_FAIL(LZ_ECORRUPT, "%s: %zu bytes of elements, the IDX header says %zu", name,
                       v->len - at, nbytes);
    if (lz_dtype_size(d) == 1)
        return lz_data_view(v, at, d, &s, name, out);
    LZ_TRY(lz_data_new(d, &s, name, out));
    if (nbytes)
        memcpy(out->data, p + at, nbytes);
    from_big_endian(out);
    return LZ_OK;
}

/* ---- gzip ---- */

static bool grow(lz_array *a, size_t used)
{
    lz_array more = {0};
    lz_shape s = LZ_SHAPE((int64_t)(2 * a->nbytes));
    if (lz_data_new(LZ_U8, &s, "decompressed data", &more) != LZ_OK)
        return false;
    memcpy(more.data, a->data, used);
    lz_array_free(a);
    *a = more;
    return true;
}

/* Decompresses a gzip file. Memory grows with what was really decompressed, whatever the file
 * claims. */
static lz_status gunzip(const lz_view *v, const char *name, lz_array *out, size_t *len)
{
    z_stream z = {0};
    lz_shape s = LZ_SHAPE((int64_t)(4 * v->len + 4096));
    LZ_TRY(lz_data_new(LZ_U8, &s, name, out));
    if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
        return LZ_FAIL(LZ_EMEM, "%s: no memory to decompress", name);
    size_t in = 0, used = 0;
    int r = Z_OK;
    bool memory = true;
    while (r == Z_OK && memory) {
        if (used == out->nbytes)
            memory = grow(out, used);
        size_t room = memory ? out->nbytes - used : 0, rest = v->len - in;
        z.next_in = (Bytef *)v->data + in;
        z.avail_in = rest < (1u << 30) ? (uInt)rest : 1u << 30;
        z.next_out = (Bytef *)out->data + used;
        z.avail_out = room < (1u << 30) ? (uInt)room : 1u << 30;
        uInt in_before = z.avail_in, out_before = z.avail_out;
        if (memory)
            r = inflate(&z, Z_NO_FLUSH);
        in += in_before - z.avail_in;
        used += out_before - z.avail_out;
    }
    inflateEnd(&z);
    *len = used;
    if (!memory)
        return LZ_EMEM;
    if (r != Z_STREAM_END || in != v->len)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the gzip data is damaged: %s", name,
                       z.msg ? z.msg : "it has no end, or something after it");
    return LZ_OK;
}

static lz_status read_idx(const char *path, lz_array *out)
{
    lz_view v;
    lz_array block = {0};
    LZ_TRY(lz_data_map(path, &v));
    lz_status s = LZ_OK;
    lz_view whole = v;
    if (v.len > 2 && v.data[0] == 0x1f && v.data[1] == 0x8b) {
        size_t len = 0;
        s = gunzip(&v, path, &block, &len);
        whole = (lz_view){block.data, len, block.owner};
    }
    if (s == LZ_OK)
        s = lz_idx_parse(&whole, path, out);
    lz_array_free(&block);
    lz_holder_release(v.holder);
    return s;
}

lz_status lz_idx_read_at(const char *path, lz_array *out, const lz_site *site)
{
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
