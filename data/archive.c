/* archive.c - named arrays in files: what .npz and safetensors have in common. */
#include "data/data_internal.h"
#include <inttypes.h>
#include <lazuli/hlo.h>
#include <stdlib.h>
#include <string.h>

lz_archive *lz_archive_new(const char *path, bool zip)
{
    lz_archive *a = lz_calloc(1, sizeof *a);
    if (a && !(a->path = lz_strdup(path))) {
        lz_free(a);
        a = NULL;
    }
    if (!a)
        LZ_FAIL(LZ_EMEM, "%s: no memory", path);
    else
        a->zip = zip;
    return a;
}

void lz_archive_close(lz_archive *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->files.len; i++)
        lz_holder_release(a->files.data[i].holder);
    for (uint32_t i = 0; i < a->entries.len; i++)
        lz_free(a->entries.data[i].name);
    for (uint32_t i = 0; i < a->metadata.len; i++) {
        lz_free(a->metadata.data[i].key);
        lz_free(a->metadata.data[i].value);
    }
    lz_vec_free(&a->files);
    lz_vec_free(&a->entries);
    lz_vec_free(&a->metadata);
    lz_free(a->by_name);
    lz_free(a->path);
    lz_free(a);
}

static int compare_names(const void *x, const void *y, void *entries)
{
    const lz_archive_entry *e = entries;
    return strcmp(e[*(const uint32_t *)x].name, e[*(const uint32_t *)y].name);
}

lz_status lz_archive_index(lz_archive *a)
{
    uint32_t n = a->entries.len;
    lz_archive_entry *e = a->entries.data;
    a->by_name = lz_calloc((size_t)n + 1, sizeof *a->by_name);
    if (!a->by_name)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %u names", a->path, n);
    for (uint32_t i = 0; i < n; i++)
        a->by_name[i] = i;
    if (n)
        qsort_r(a->by_name, n, sizeof *a->by_name, compare_names, e);
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(e[a->by_name[i - 1]].name, e[a->by_name[i]].name) == 0)
            return LZ_FAIL(LZ_ECORRUPT, "%s: two arrays are named \"%.100s\"", a->path,
                           e[a->by_name[i]].name);
    return LZ_OK;
}

const lz_archive_entry *lz_archive_find(const lz_archive *a, const char *name)
{
    uint32_t lo = 0, hi = a->entries.len;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const lz_archive_entry *e = &a->entries.data[a->by_name[mid]];
        int c = strcmp(name, e->name);
        if (c == 0)
            return e;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

size_t lz_archive_len(const lz_archive *a)
{
    return a ? a->entries.len : 0;
}

const char *lz_archive_name(const lz_archive *a, size_t i)
{
    return a && i < a->entries.len ? a->entries.data[i].name : NULL;
}

bool lz_archive_has(const lz_archive *a, const char *name)
{
    return a && name && lz_archive_find(a, name);
}

const char *lz_archive_metadata(const lz_archive *a, const char *key)
{
    for (uint32_t i = 0; a && key && i < a->metadata.len; i++)
        if (strcmp(a->metadata.data[i].key, key) == 0)
            return a->metadata.data[i].value;
    return NULL;
}

/* ---- reading ---- */

static lz_status lookup(const lz_archive *a, const char *name, const lz_archive_entry **e)
{
    if (!a || !name)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", a ? "the name" : "the archive");
    *e = lz_archive_find(a, name);
    return *e ? LZ_OK : LZ_FAIL(LZ_ENOENT, "%s: no array \"%.100s\"", a->path, name);
}

lz_status lz_archive_info_at(const lz_archive *a, const char *name, lz_dtype *dtype,
                             lz_shape *shape, const lz_site *site)
{
    const lz_archive_entry *e;
    lz_status s = lookup(a, name, &e);
    lz_npy_head h = {0};
    if (s == LZ_OK && a->zip)
        s = lz_zip_info(a, e, &h);
    else if (s == LZ_OK)
        h = (lz_npy_head){.dtype = e->dtype, .shape = e->shape};
    if (s == LZ_OK && dtype)
        *dtype = h.dtype;
    if (s == LZ_OK && shape)
        *shape = h.shape;
    return lz_data_done(s, "lz_archive_info", site);
}

static lz_status read_entry(const lz_archive *a, const char *name, lz_array *out)
{
    const lz_archive_entry *e;
    LZ_TRY(lookup(a, name, &e));
    if (a->zip)
        return lz_zip_read(a, e, out);
    return lz_data_view(&a->files.data[e->file], e->at, e->dtype, &e->shape, e->name, out);
}

lz_status lz_archive_read_at(const lz_archive *a, const char *name, lz_array *out,
                             const lz_site *site)
{
    if (out)
        *out = (lz_array){0};
    lz_status s = out ? read_entry(a, name, out) : LZ_FAIL(LZ_ENULL, "out is NULL");
    return lz_data_done(s, "lz_archive_read", site);
}

lz_tensor *lz_archive_tensor_at(const lz_archive *a, const char *name, const lz_site *site)
{
    lz_array x = {0};
    if (read_entry(a, name, &x) != LZ_OK)
        return lz_error_tensor_last("lz_archive_tensor", site);
    return lz_array_tensor_at(&x, site);
}

/* ---- writing ---- */

static int compare_strings(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static lz_status distinct(const char *path, const char *const *names, size_t n)
{
    const char **sorted = lz_calloc(n + 1, sizeof *sorted);
    if (!sorted)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %zu names", path, n);
    lz_status s = LZ_OK;
    if (n)
        memcpy(sorted, names, n * sizeof *names);
    qsort(sorted, n, sizeof *sorted, compare_strings);
    for (size_t i = 1; i < n && s == LZ_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            s = LZ_FAIL(LZ_EINVAL, "%s: two arrays are named \"%.100s\"", path, sorted[i]);
    lz_free(sorted);
    return s;
}

lz_status lz_data_check_names(const char *path, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!names[i])
            return LZ_FAIL(LZ_ENULL, "%s: the name of array %zu is NULL", path, i);
    return distinct(path, names, n);
}

lz_status lz_data_check_all(const char *path, const char *const *names, const lz_array *arrays,
                            size_t n)
{
    if (!path || (n && (!names || !arrays)))
        return LZ_FAIL(LZ_ENULL, "%s is NULL", !path ? "the path" : !names ? "names" : "arrays");
    LZ_TRY(lz_data_check_names(path, names, n));
    for (size_t i = 0; i < n; i++)
        LZ_TRY(lz_data_check(&arrays[i], names[i]));
    return LZ_OK;
}
