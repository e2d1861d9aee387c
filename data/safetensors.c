/* safetensors.c - https://github.com/huggingface/safetensors: 8 bytes of length, a JSON object that
 * says for every tensor its dtype, its shape and the range of its bytes, then the bytes. The ranges
 * must cover what follows the header without holes or overlaps. Also the JSON index of a checkpoint
 * in several files. JSON by jansson. */
#include "data/data_internal.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER = 100000000, ALIGN = 64 };

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

/* ---- the header ---- */

static lz_status take_dtype(const char *path, const char *name, const json_t *j,
                            lz_archive_entry *e)
{
    const char *text = json_string_value(j);
    for (size_t i = 0; text && i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(text, dtypes[i].text) == 0)
            e->dtype = dtypes[i].dtype;
    return e->dtype != LZ_DTYPE_NONE
               ? LZ_OK
               : LZ_FAIL(LZ_EDTYPE, "%s: \"%.100s\" is of the unknown dtype %.20s", path, name,
                         text ? text : "(none)");
}

static lz_status take_shape(const char *path, const char *name, const json_t *j,
                            lz_archive_entry *e)
{
    if (!json_is_array(j))
        return LZ_FAIL(LZ_EPARSE, "%s: \"%.100s\" has no shape", path, name);
    if (json_array_size(j) > LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE, "%s: \"%.100s\" has %zu dimensions: a tensor has at most %d",
                       path, name, json_array_size(j), LZ_MAX_RANK);
    for (size_t i = 0; i < json_array_size(j); i++) {
        const json_t *d = json_array_get(j, i);
        if (!json_is_integer(d) || json_integer_value(d) < 0)
            return LZ_FAIL(LZ_EPARSE, "%s: extent %zu of \"%.100s\" is no extent", path, i, name);
        e->shape.dims[e->shape.rank++] = json_integer_value(d);
    }
    return LZ_OK;
}

static lz_status take_range(const char *path, const char *name, const json_t *j, size_t len,
                            lz_archive_entry *e)
{
    const json_t *from = json_array_get(j, 0), *to = json_array_get(j, 1);
    if (json_array_size(j) != 2 || !json_is_integer(from) || !json_is_integer(to))
        return LZ_FAIL(LZ_EPARSE, "%s: \"%.100s\" has no data_offsets", path, name);
    json_int_t a = json_integer_value(from), b = json_integer_value(to);
    if (a < 0 || b < a || (uint64_t)b > len)
        return LZ_FAIL(LZ_ECORRUPT,
                       "%s: the bytes %" JSON_INTEGER_FORMAT "..%" JSON_INTEGER_FORMAT
                       " of \"%.100s\" are not within %zu",
                       path, a, b, name, len);
    size_t need;
    LZ_TRY(lz_data_size(e->dtype, &e->shape, name, &need));
    if ((uint64_t)(b - a) != need)
        return LZ_FAIL(LZ_ECORRUPT,
                       "%s: \"%.100s\" has %" JSON_INTEGER_FORMAT " bytes, its shape says %zu",
                       path, name, b - a, need);
    e->at = (uint64_t)a;
    e->nbytes = need;
    return LZ_OK;
}

static lz_status add_tensor(lz_archive *a, const char *name, const json_t *j, size_t len)
{
    lz_archive_entry e = {.file = a->files.len - 1};
    if (!json_is_object(j) || json_object_size(j) != 3)
        return LZ_FAIL(LZ_EPARSE, "%s: \"%.100s\" is not dtype, shape and data_offsets", a->path,
                       name);
    LZ_TRY(take_dtype(a->path, name, json_object_get(j, "dtype"), &e));
    LZ_TRY(take_shape(a->path, name, json_object_get(j, "shape"), &e));
    LZ_TRY(take_range(a->path, name, json_object_get(j, "data_offsets"), len, &e));
    e.name = lz_strdup(name);
    if (!e.name || lz_vec_push(&a->entries, e) != LZ_OK) {
        lz_free(e.name);
        return LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    }
    return LZ_OK;
}

static lz_status add_metadata(lz_archive *a, json_t *j)
{
    const char *key;
    json_t *value;
    if (!json_is_object(j))
        return LZ_FAIL(LZ_EPARSE, "%s: __metadata__ is no object", a->path);
    json_object_foreach(j, key, value)
    {
        if (!json_is_string(value))
            return LZ_FAIL(LZ_EPARSE, "%s: \"%.100s\" in __metadata__ is no string", a->path, key);
        lz_text_pair p = {lz_strdup(key), lz_strdup(json_string_value(value))};
        if (!p.key || !p.value || lz_vec_push(&a->metadata, p) != LZ_OK) {
            lz_free(p.key);
            lz_free(p.value);
            return LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
        }
    }
    return LZ_OK;
}

static int by_range(const void *x, const void *y)
{
    const lz_archive_entry *a = x, *b = y;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->nbytes != b->nbytes) /* an empty tensor stands before the one that begins there */
        return a->nbytes < b->nbytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Entries from `first` on, in the order of their bytes, which must follow each other from 0 to
 * len. */
static lz_status check_ranges(lz_archive *a, uint32_t first, size_t start, size_t len)
{
    uint64_t at = 0;
    if (a->entries.len > first)
        qsort(a->entries.data + first, a->entries.len - first, sizeof(lz_archive_entry), by_range);
    for (uint32_t i = first; i < a->entries.len; i++) {
        lz_archive_entry *e = &a->entries.data[i];
        if (e->at != at)
            return LZ_FAIL(LZ_ECORRUPT,
                           "%s: \"%.100s\" begins at %" PRIu64
                           ", %s the tensor before it, which ends at %" PRIu64,
                           a->path, e->name, e->at, e->at < at ? "inside" : "with a hole after",
                           at);
        at += e->nbytes;
        e->at += start;
    }
    if (at != len)
        return LZ_FAIL(LZ_ECORRUPT, "%s: %" PRIu64 " bytes of tensors, the file has %zu", a->path,
                       at, len);
    return LZ_OK;
}

static lz_status load_json(const char *path, const char *text, size_t n, json_t **out)
{
    json_error_t err;
    *out = json_loadb(text, n, JSON_REJECT_DUPLICATES, &err);
    if (!*out)
        return LZ_FAIL(json_error_code(&err) == json_error_out_of_memory ? LZ_EMEM : LZ_EPARSE,
                       "%s: line %d of the JSON text: %s", path, err.line, err.text);
    if (json_is_object(*out))
        return LZ_OK;
    json_decref(*out);
    *out = NULL;
    return LZ_FAIL(LZ_EPARSE, "%s: the JSON text is no object", path);
}

lz_status lz_safetensors_parse(lz_archive *a, lz_view v)
{
    if (lz_vec_push(&a->files, v) != LZ_OK) {
        lz_holder_release(v.holder);
        return LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    }
    uint64_t n = 0;
    for (int i = 7; i >= 0 && v.len >= 8; i--)
        n = n << 8 | v.data[i];
    if (n < 2 || n > MAX_HEADER || n > v.len - 8)
        return LZ_FAIL(v.len < 8 ? LZ_EPARSE : LZ_ECORRUPT,
                       "%s: not a safetensors file: a header of %" PRIu64 " bytes in %zu", a->path,
                       n, v.len);
    if (v.data[8] != '{')
        return LZ_FAIL(LZ_EPARSE, "%s: the safetensors header is no JSON object", a->path);
    json_t *j;
    LZ_TRY(load_json(a->path, (const char *)v.data + 8, (size_t)n, &j));
    size_t start = 8 + (size_t)n, len = v.len - start;
    uint32_t first = a->entries.len;
    lz_status s = LZ_OK;
    const char *name;
    json_t *value;
    json_object_foreach(j, name, value)
    {
        s = strcmp(name, "__metadata__") == 0 ? add_metadata(a, value)
                                              : add_tensor(a, name, value, len);
        if (s != LZ_OK)
            break;
    }
    json_decref(j);
    return s == LZ_OK ? check_ranges(a, first, start, len) : s;
}

/* ---- several files ---- */

/* A file of the checkpoint: a plain name, which stands in the folder of the index. */
static lz_status open_shard(lz_archive *a, const char *file)
{
    const char *slash = strrchr(a->path, '/');
    size_t dir = slash ? (size_t)(slash - a->path) + 1 : 0, n = strlen(file);
    if (!n || strchr(file, '/') || *file == '.')
        return LZ_FAIL(LZ_EPERM, "%s: \"%.100s\" is not the name of a file beside the index",
                       a->path, file);
    char *path = lz_alloc(dir + n + 1);
    if (!path)
        return LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    memcpy(path, a->path, dir);
    memcpy(path + dir, file, n + 1);
    lz_view v;
    lz_status s = lz_data_map(path, &v);
    if (s == LZ_OK) {
        char *index = a->path; /* messages name the file at fault */
        a->path = path;
        s = lz_safetensors_parse(a, v);
        a->path = index;
    }
    lz_free(path);
    return s;
}

/* Which file of the checkpoint `file` is; opens it when it is new. */
static lz_status shard_number(lz_archive *a, json_t *seen, const char *file, uint32_t *out)
{
    json_t *number = json_object_get(seen, file);
    if (!number) {
        *out = a->files.len;
        LZ_TRY(open_shard(a, file));
        return json_object_set_new(seen, file, json_integer(*out)) == 0
                   ? LZ_OK
                   : LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    }
    *out = (uint32_t)json_integer_value(number);
    return LZ_OK;
}

/* Every tensor of the index must be in the file it names; other tensors are ignored. */
static lz_status keep_mapped(lz_archive *a, json_t *map, json_t *seen)
{
    const char *name;
    json_t *file;
    LZ_TRY(lz_archive_index(a));
    json_object_foreach(map, name, file)
    {
        const lz_archive_entry *e = lz_archive_find(a, name);
        uint32_t want =
            (uint32_t)json_integer_value(json_object_get(seen, json_string_value(file)));
        if (!e || e->file != want)
            return LZ_FAIL(LZ_ECORRUPT,
                           "%s: \"%.100s\" is not in %.100s, where the index says it is", a->path,
                           name, json_string_value(file));
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->entries.len; i++)
        if (json_object_get(map, a->entries.data[i].name))
            a->entries.data[kept++] = a->entries.data[i];
        else
            lz_free(a->entries.data[i].name);
    a->entries.len = kept;
    lz_free(a->by_name);
    a->by_name = NULL;
    return lz_archive_index(a);
}

static lz_status open_index(lz_archive *a, const lz_view *v)
{
    json_t *j, *file, *seen = json_object();
    const char *name;
    if (!seen)
        return LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    lz_status s = v->len > MAX_HEADER
                      ? LZ_FAIL(LZ_ERANGE, "%s: an index of %zu bytes", a->path, v->len)
                      : load_json(a->path, (const char *)v->data, v->len, &j);
    if (s != LZ_OK) {
        json_decref(seen);
        return s;
    }
    json_t *map = json_object_get(j, "weight_map");
    if (!json_is_object(map))
        s = LZ_FAIL(LZ_EPARSE, "%s: no weight_map in the index", a->path);
    json_object_foreach(map, name, file)
    {
        uint32_t number;
        if (s != LZ_OK)
            break;
        s = json_is_string(file)
                ? shard_number(a, seen, json_string_value(file), &number)
                : LZ_FAIL(LZ_EPARSE, "%s: the file of \"%.100s\" is no string", a->path, name);
    }
    if (s == LZ_OK)
        s = keep_mapped(a, map, seen);
    json_decref(j);
    json_decref(seen);
    return s;
}

lz_archive *lz_safetensors_open_at(const char *path, const lz_site *site)
{
    lz_view v = {0};
    lz_status s = path ? lz_data_map(path, &v) : LZ_FAIL(LZ_ENULL, "the path is NULL");
    lz_archive *a = s == LZ_OK ? lz_archive_new(path, false) : NULL;
    size_t n = path ? strlen(path) : 0;
    if (a && n > 11 && strcmp(path + n - 11, ".index.json") == 0) {
        s = open_index(a, &v);
        lz_holder_release(v.holder);
    } else if (a) {
        s = lz_safetensors_parse(a, v);
        if (s == LZ_OK)
            s = lz_archive_index(a);
    } else {
        lz_holder_release(v.holder);
    }
    if (a && s == LZ_OK)
        return a;
    lz_error_annotate("lz_safetensors_open", site);
    lz_archive_close(a);
    return NULL;
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

/* The format's name of a dtype; NULL: it has none. */
static const char *word_of(lz_dtype d)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == d)
            return dtypes[i].text;
    return NULL;
}

static json_t *describe(const item *t, uint64_t at)
{
    const char *dtype = word_of(t->dtype);
    json_t *shape = json_array(), *range = json_array();
    for (int i = 0; i < t->shape.rank; i++)
        json_array_append_new(shape, json_integer(t->shape.dims[i]));
    json_array_append_new(range, json_integer((json_int_t)at));
    json_array_append_new(range, json_integer((json_int_t)(at + t->nbytes)));
    return json_pack("{s:s, s:o, s:o}", "dtype", dtype, "shape", shape, "data_offsets", range);
}

static lz_status put_metadata(const char *path, json_t *j, const char *const *pairs, size_t n)
{
    json_t *m = json_object();
    int bad = json_object_set_new(j, "__metadata__", m);
    for (size_t i = 0; i < n; i++) {
        if (!pairs || !pairs[2 * i] || !pairs[2 * i + 1])
            return LZ_FAIL(LZ_ENULL, "%s: pair %zu of the metadata is NULL", path, i);
        if (bad || json_object_set_new(m, pairs[2 * i], json_string(pairs[2 * i + 1])) != 0)
            return LZ_FAIL(LZ_EINVAL, "%s: the metadata \"%.100s\" is no UTF-8 text", path,
                           pairs[2 * i]);
    }
    return LZ_OK;
}

static lz_status header(const char *path, const item *items, size_t n, const char *const *metadata,
                        size_t nmetadata, char **out)
{
    json_t *j = json_object();
    uint64_t at = 0;
    lz_status s = nmetadata ? put_metadata(path, j, metadata, nmetadata) : LZ_OK;
    for (size_t i = 0; i < n && s == LZ_OK; i++) {
        if (!word_of(items[i].dtype))
            s = LZ_FAIL(LZ_EDTYPE, "%s: \"%.100s\" is %s, which the format does not have", path,
                        items[i].name, lz_dtype_name(items[i].dtype));
        else if (strcmp(items[i].name, "__metadata__") == 0 ||
                 json_object_set_new(j, items[i].name, describe(&items[i], at)) != 0)
            s = LZ_FAIL(LZ_EINVAL, "%s: \"%.100s\" cannot be the name of a tensor", path,
                        items[i].name);
        at += items[i].nbytes;
    }
    *out = s == LZ_OK ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    if (s == LZ_OK && !*out)
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
    char *text;
    qsort(items, n, sizeof *items, by_width);
    LZ_TRY(header(path, items, n, metadata, nmetadata, &text));
    size_t len = strlen(text), padded = LZ_ALIGN_UP(8 + len, ALIGN) - 8;
    lz_status s = padded <= MAX_HEADER ? lz_outfile_begin(&f, path, true)
                                       : LZ_FAIL(LZ_ERANGE, "%s: a header of %zu bytes", path, len);
    if (s == LZ_OK) {
        uint8_t size[8];
        for (int i = 0; i < 8; i++)
            size[i] = (uint8_t)((uint64_t)padded >> 8 * i);
        lz_outfile_put(&f, size, 8);
        lz_outfile_put(&f, text, len);
        for (; len < padded; len++)
            lz_outfile_put(&f, " ", 1);
        s = lz_outfile_end(&f, put_tensors(&f, items, n, site));
    }
    free(text); /* lint: libc heap */
    return s;
}

lz_status lz_safetensors_write_at(const char *path, const char *const *names,
                                  const lz_array *arrays, size_t n, const char *const *metadata,
                                  size_t nmetadata, const lz_site *site)
{
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
