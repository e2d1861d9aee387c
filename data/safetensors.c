/* safetensors.c - https://github.com/huggingface/safetensors: 8 bytes of length, a JSON object that
 * says for every tensor its dtype, its shape and the range of its bytes, then the bytes. Names of
 * dtypes, and writing; reading is in safetensors_read.c. */
#include "base/hash.h"
#include "data/data_internal.h"
#include "data/json.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

static const struct name {
    const char *text;
    lz_dtype dtype;
} dtypes[] = {
    {"BOOL", LZ_BOOL},      {"U8", LZ_U8},   {"I8", LZ_I8},
    {"U16", LZ_U16},        {"I16", LZ_I16}, {"F16", LZ_F16},
    {"BF16", LZ_BF16},      {"U32", LZ_U32}, {"I32", LZ_I32},
    {"F32", LZ_F32},        {"U64", LZ_U64}, {"I64", LZ_I64},
    {"F64", LZ_F64},        {"C64", LZ_C64}, {"F8_E4M3", LZ_F8E4M3FN},
    {"F8_E5M2", LZ_F8E5M2},
};

/* The format's name of a dtype; NULL: it has none. */
const char *lz_safetensors_word(lz_dtype d)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == d)
            return dtypes[i].text;
    return NULL;
}

lz_dtype lz_safetensors_dtype(const char *word)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(word, dtypes[i].text) == 0)
            return dtypes[i].dtype;
    return LZ_DTYPE_NONE;
}

/* ---- writing ---- */

/* What is written: an array, or a tensor that is read when its turn comes. */
typedef struct item {
    const char *name;
    lz_dtype dtype;
    lz_shape shape;
    size_t nbytes;
    const void *data;
    lz_tensor *tensor;
} item;

static int by_width(const void *x, const void *y)
{
    const item *a = x, *b = y;
    size_t wa = lz_dtype_size(a->dtype), wb = lz_dtype_size(b->dtype);
    return wa != wb ? (wa > wb ? -1 : 1) : strcmp(a->name, b->name);
}

static void describe(lz_buf *b, const item *t, uint64_t at)
{
    lz_buf_printf(b, ":{\"dtype\":\"%s\",\"shape\":[", lz_safetensors_word(t->dtype));
    for (int i = 0; i < t->shape.rank; i++)
        lz_buf_printf(b, "%s%" PRId64, i ? "," : "", t->shape.dims[i]);
    lz_buf_printf(b, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", at, at + t->nbytes);
}

/* Of pairs with the same key the last one counts; `last` has the value of each. */
static lz_status put_pairs(lz_buf *b, const char *path, const char *const *pairs, size_t n,
                           lz_map *last)
{
    if (n > LZ_SAFETENSORS_MAX_PAIRS)
        return LZ_FAIL(LZ_ERANGE, "%s: %zu pairs of metadata", path, n);
    for (size_t i = 0; i < n; i++) {
        if (!pairs || !pairs[2 * i] || !pairs[2 * i + 1])
            return LZ_FAIL(LZ_ENULL, "%s: pair %zu of the metadata is NULL", path, i);
        lz_hash key = lz_hash_bytes(pairs[2 * i], strlen(pairs[2 * i]));
        if (lz_map_put(last, key, (void *)pairs[2 * i + 1]) != LZ_OK)
            return LZ_FAIL(LZ_EMEM, "%s: no memory for the metadata", path);
    }
    lz_buf_puts(b, "\"__metadata__\":{");
    for (size_t i = 0, put = 0; i < n; i++) {
        const char *key = pairs[2 * i], *value = lz_map_del(last, lz_hash_bytes(key, strlen(key)));
        if (!value) /* was put with the first of its key */
            continue;
        if (put++)
            lz_buf_putc(b, ',');
        bool good = lz_json_put(b, key);
        lz_buf_putc(b, ':');
        if (!good || !lz_json_put(b, value))
            return LZ_FAIL(LZ_EINVAL, "%s: the metadata \"%.100s\" is no UTF-8 text", path, key);
    }
    lz_buf_putc(b, '}');
    return LZ_OK;
}

static lz_status put_metadata(lz_buf *b, const char *path, const char *const *pairs, size_t n)
{
    lz_map last = {0};
    lz_status s = put_pairs(b, path, pairs, n, &last);
    lz_map_free(&last);
    return s;
}

static lz_status header(const char *path, const item *items, size_t n, const char *const *metadata,
                        size_t nmetadata, lz_buf *b)
{
    uint64_t at = 0;
    lz_buf_putc(b, '{');
    lz_status s = nmetadata ? put_metadata(b, path, metadata, nmetadata) : LZ_OK;
    for (size_t i = 0; i < n && s == LZ_OK; i++) {
        if (i || nmetadata)
            lz_buf_putc(b, ',');
        if (!lz_safetensors_word(items[i].dtype))
            s = LZ_FAIL(LZ_EDTYPE, "%s: \"%.100s\" is %s, which the format does not have", path,
                        items[i].name, lz_dtype_name(items[i].dtype));
        else if (strcmp(items[i].name, "__metadata__") == 0 || !lz_json_put(b, items[i].name))
            s = LZ_FAIL(LZ_EINVAL, "%s: \"%.100s\" cannot be the name of a tensor", path,
                        items[i].name);
        else
            describe(b, &items[i], at);
        at += items[i].nbytes;
    }
    lz_buf_putc(b, '}');
    if (s == LZ_OK && b->failed)
        s = LZ_FAIL(LZ_EMEM, "%s: no memory for the header", path);
    return s;
}

static lz_status put_tensors(lz_outfile *f, const item *items, size_t n, const lz_site *site)
{
    for (size_t i = 0; i < n; i++) {
        lz_array copy = {0};
        if (items[i].tensor)
            LZ_TRY(lz_tensor_array_at(items[i].tensor, &copy, site));
        lz_outfile_put(f, items[i].tensor ? copy.data : items[i].data, items[i].nbytes);
        lz_array_free(&copy);
        LZ_TRY(f->status);
    }
    return LZ_OK;
}

static lz_status write_file(const char *path, item *items, size_t n, const char *const *metadata,
                            size_t nmetadata, const lz_site *site)
{
    lz_outfile f;
    lz_buf text = {0};
    qsort(items, n, sizeof *items, by_width);
    lz_status s = header(path, items, n, metadata, nmetadata, &text);
    size_t len = text.len, padded = LZ_ALIGN_UP(8 + len, ALIGN) - 8;
    if (s == LZ_OK)
        s = padded <= LZ_SAFETENSORS_MAX_HEADER
                ? lz_outfile_begin(&f, path, true)
                : LZ_FAIL(LZ_ERANGE, "%s: a header of %zu bytes", path, len);
    if (s == LZ_OK) {
        uint8_t size[8];
        for (int i = 0; i < 8; i++)
            size[i] = (uint8_t)((uint64_t)padded >> 8 * i);
        lz_outfile_put(&f, size, 8);
        lz_outfile_put(&f, text.data, len);
        for (; len < padded; len++)
            lz_outfile_put(&f, " ", 1);
        s = lz_outfile_end(&f, put_tensors(&f, items, n, site));
    }
    lz_buf_free(&text);
    return s;
}

lz_status lz_safetensors_write_at(const char *path, const char *const *names,
                                  const lz_array *arrays, size_t n, const char *const *metadata,
                                  size_t nmetadata, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_status s = lz_data_check_all(path, names, arrays, n);
    item *items = s == LZ_OK ? lz_calloc(n + 1, sizeof *items) : NULL;
    if (s == LZ_OK && !items)
        s = LZ_FAIL(LZ_EMEM, "%s: no memory for %zu names", path, n);
    for (size_t i = 0; i < n && s == LZ_OK; i++)
        items[i] = (item){names[i],         arrays[i].dtype, arrays[i].shape,
                          arrays[i].nbytes, arrays[i].data,  NULL};
    if (s == LZ_OK)
        s = write_file(path, items, n, metadata, nmetadata, site);
    lz_free(items);
    return lz_data_done(s, "lz_safetensors_write", site);
}

static lz_status take_tensors(const char *path, const char *const *names, lz_tensor *const *tensors,
                              size_t n, item *items)
{
    LZ_TRY(lz_data_check_names(path, names, n));
    for (size_t i = 0; i < n; i++) {
        if (!tensors[i])
            return LZ_FAIL(LZ_ENULL, "%s: tensor %zu, \"%.100s\", is NULL", path, i, names[i]);
        LZ_TRY(lz_status_of(tensors[i]));
        items[i] = (item){names[i],
                          lz_dtype_of(tensors[i]),
                          lz_shape_of(tensors[i]),
                          lz_nbytes(tensors[i]),
                          NULL,
                          tensors[i]};
    }
    return LZ_OK;
}

lz_status lz_save_safetensors_at(const char *path, const char *const *names,
                                 lz_tensor *const *tensors, size_t n, const char *const *metadata,
                                 size_t nmetadata, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    item *items = NULL;
    lz_status s = LZ_OK;
    if (!path || (n && (!names || !tensors)))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", !path ? "the path" : !names ? "names" : "tensors");
    else if (!(items = lz_calloc(n + 1, sizeof *items)))
        s = LZ_FAIL(LZ_EMEM, "%s: no memory for %zu names", path, n);
    if (s == LZ_OK)
        s = take_tensors(path, names, tensors, n, items);
    if (s == LZ_OK && n)
        s = lz_sync_at(tensors, n, true, site);
    if (s == LZ_OK)
        s = write_file(path, items, n, metadata, nmetadata, site);
    lz_free(items);
    return lz_data_done(s, "lz_save_safetensors", site);
}
