/* safetensors.c - https://github.com/huggingface/safetensors: 8 bytes of length, a JSON object that
 * says for every tensor its dtype, its shape and the range of its bytes, then the bytes. Names of
 * dtypes, and writing; reading is in safetensors_read.c. */
#include "base/hash.h"
#include "data/data_internal.h"
#include "data/json.h"
#include "data/safetensors_save.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

static const struct name {
    const char *text;
    lz_dtype dtype;
} dtypes[] = {
    {"BOOL", LZ_BOOL},
    {"U8", LZ_U8},
    {"I8", LZ_I8},
    {"U16", LZ_U16},
    {"I16", LZ_I16},
    {"F16", LZ_F16},
    {"BF16", LZ_BF16},
    {"U32", LZ_U32},
    {"I32", LZ_I32},
    {"F32", LZ_F32},
    {"U64", LZ_U64},
    {"I64", LZ_I64},
    {"F64", LZ_F64},
    {"C64", LZ_C64},
    {"F8_E4M3", LZ_F8E4M3FN},
    {"F8_E5M2", LZ_F8E5M2},
    {"F8_E8M0", LZ_U8},
    {"F4", LZ_U8}, /* read as bytes; F4: two numbers in each */
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

typedef lz_save_item item;

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

lz_status lz_save_item_read(const lz_save_item *t, lz_array *out)
{
    LZ_TRY(lz_data_new(t->dtype, &t->shape, t->name, out));
    lz_status s = t->shard ? lz_snapshot_read_shard(t->from, t->value, t->shard, out->data)
                           : lz_snapshot_read(t->from, t->value, out->data);
    if (s != LZ_OK)
        lz_array_free(out);
    return s;
}

static lz_status put_value(lz_outfile *f, const item *t)
{
    lz_array copy = {0};
    LZ_TRY(lz_save_item_read(t, &copy));
    lz_outfile_put(f, copy.data, t->nbytes);
    lz_array_free(&copy);
    return LZ_OK;
}

static lz_status put_items(lz_outfile *f, const item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (items[i].from)
            LZ_TRY(put_value(f, &items[i]));
        else
            lz_outfile_put(f, items[i].data, items[i].nbytes);
        LZ_TRY(f->status);
    }
    return LZ_OK;
}

lz_status lz_safetensors_begin(const char *path, item *items, size_t n, const char *const *metadata,
                               size_t nmetadata, lz_buf *out)
{
    lz_buf text = {0};
    if (n)
        qsort(items, n, sizeof *items, by_width);
    lz_status s = header(path, items, n, metadata, nmetadata, &text);
    size_t padded = LZ_ALIGN_UP(8 + text.len, ALIGN) - 8;
    if (s == LZ_OK && padded > LZ_SAFETENSORS_MAX_HEADER)
        s = LZ_FAIL(LZ_ERANGE, "%s: a header of %zu bytes", path, text.len);
    if (s == LZ_OK) {
        lz_buf_u64(out, padded);
        lz_buf_put(out, text.data, text.len);
        for (size_t len = text.len; len < padded; len++)
            lz_buf_putc(out, ' ');
        if (out->failed)
            s = LZ_FAIL(LZ_EMEM, "%s: no memory for the header", path);
    }
    lz_buf_free(&text);
    return s;
}

lz_status lz_safetensors_save(const char *path, item *items, size_t n, const char *const *metadata,
                              size_t nmetadata)
{
    lz_outfile f;
    lz_buf begin = {0};
    lz_status s = lz_safetensors_begin(path, items, n, metadata, nmetadata, &begin);
    if (s == LZ_OK)
        s = lz_outfile_begin(&f, path, true);
    if (s == LZ_OK) {
        lz_outfile_put(&f, begin.data, begin.len);
        s = lz_outfile_end(&f, put_items(&f, items, n));
    }
    lz_buf_free(&begin);
    return s;
}

lz_status lz_safetensors_save_named(const char *path, item *items, size_t n,
                                    const char *const *metadata, size_t nmetadata)
{
    const char **names = lz_calloc(n + 1, sizeof *names);
    if (!names)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %zu names", path, n);
    for (size_t i = 0; i < n; i++)
        names[i] = items[i].name;
    lz_status s = lz_data_check_names(path, names, n);
    lz_free((void *)names);
    return s == LZ_OK ? lz_safetensors_save(path, items, n, metadata, nmetadata) : s;
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
        items[i] = (item){.name = names[i],
                          .dtype = arrays[i].dtype,
                          .shape = arrays[i].shape,
                          .nbytes = arrays[i].nbytes,
                          .data = arrays[i].data};
    if (s == LZ_OK)
        s = lz_safetensors_save(path, items, n, metadata, nmetadata);
    lz_free(items);
    return lz_data_done(s, "lz_safetensors_write", site);
}

lz_save_item lz_save_item_of(const char *name, const lz_snapshot *s, size_t i)
{
    lz_save_item t = {.name = name, .from = s, .value = i};
    lz_snapshot_describe(s, i, &t.dtype, &t.shape, &t.nbytes);
    return t;
}

static lz_status check_tensors(const char *path, const char *const *names,
                               lz_tensor *const *tensors, size_t n)
{
    if (!path || (n && (!names || !tensors)))
        return LZ_FAIL(LZ_ENULL, "%s is NULL", !path ? "the path" : !names ? "names" : "tensors");
    LZ_TRY(lz_data_check_names(path, names, n));
    for (size_t i = 0; i < n; i++)
        if (!tensors[i])
            return LZ_FAIL(LZ_ENULL, "%s: tensor %zu, \"%.100s\", is NULL", path, i, names[i]);
    return LZ_OK;
}

lz_status lz_save_safetensors_at(const char *path, const char *const *names,
                                 lz_tensor *const *tensors, size_t n, const char *const *metadata,
                                 size_t nmetadata, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_snapshot now = {0};
    item *items = NULL;
    lz_status s = check_tensors(path, names, tensors, n);
    if (s == LZ_OK && !(items = lz_calloc(n + 1, sizeof *items)))
        s = LZ_FAIL(LZ_EMEM, "%s: no memory for %zu names", path, n);
    if (s == LZ_OK)
        s = lz_snapshot_take(&now, tensors, n);
    for (size_t i = 0; i < n && s == LZ_OK; i++)
        items[i] = lz_save_item_of(names[i], &now, i);
    if (s == LZ_OK)
        s = lz_safetensors_save(path, items, n, metadata, nmetadata);
    lz_snapshot_free(&now);
    lz_free(items);
    return lz_data_done(s, "lz_save_safetensors", site);
}
