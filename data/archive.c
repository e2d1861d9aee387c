/* archive.c - named arrays in files: what .npz and safetensors have in common. */
#include "base/hash.h"
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
    LZ_PUBLIC();
    if (!a)
        return;
    for (uint32_t i = 0; i < a->files.len; i++) {
        lz_holder_release(a->files.data[i].view.holder);
        lz_free(a->files.data[i].names);
        lz_free(a->files.data[i].metadata);
    }
    lz_vec_free(&a->files);
    lz_vec_free(&a->rows);
    lz_free(a->slots);
    lz_free(a->path);
    lz_free(a);
}

const char *lz_archive_row_name(const lz_archive *a, const lz_archive_row *r)
{
    return a->files.data[r->file].names + r->name;
}

/* The slot of a name, or the free one where it would be. The address of the table is the seed: a
 * file cannot know which names share slots. */
static uint32_t *slot_of(const lz_archive *a, const char *name)
{
    uint64_t h = lz_hash_seeded(name, strlen(name), (uintptr_t)a->slots).lo;
    for (uint32_t i = (uint32_t)h & a->mask;; i = (i + 1) & a->mask) {
        uint32_t row = a->slots[i];
        if (!row || strcmp(name, lz_archive_row_name(a, &a->rows.data[row - 1])) == 0)
            return &a->slots[i];
    }
}

lz_status lz_archive_index(lz_archive *a)
{
    uint64_t n = a->rows.len, cap = 8;
    while (cap < n + n / 3)
        cap *= 2;
    lz_free(a->slots);
    a->slots = cap <= UINT32_MAX ? lz_calloc(cap, sizeof *a->slots) : NULL;
    a->mask = (uint32_t)(cap - 1);
    if (!a->slots)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %" PRIu64 " names", a->path, n);
    for (uint32_t i = 0; i < n; i++) {
        const lz_archive_row *r = &a->rows.data[i];
        const char *name = lz_archive_row_name(a, r);
        uint32_t *slot = slot_of(a, name);
        if (*slot && !a->zip && a->rows.data[*slot - 1].file == r->file)
            return LZ_FAIL(LZ_EPARSE, "%s: the JSON text has duplicate tensors \"%.100s\"", a->path,
                           name);
        if (*slot)
            return LZ_FAIL(LZ_ECORRUPT, "%s: two arrays are named \"%.100s\"", a->path, name);
        *slot = i + 1;
    }
    return LZ_OK;
}

const lz_archive_row *lz_archive_find(const lz_archive *a, const char *name)
{
    uint32_t row = a->slots ? *slot_of(a, name) : 0;
    return row ? &a->rows.data[row - 1] : NULL;
}

size_t lz_archive_len(const lz_archive *a)
{
    LZ_PUBLIC(0);
    return a ? a->rows.len : 0;
}

const char *lz_archive_name(const lz_archive *a, size_t i)
{
    LZ_PUBLIC(NULL);
    return a && i < a->rows.len ? lz_archive_row_name(a, &a->rows.data[i]) : NULL;
}

bool lz_archive_has(const lz_archive *a, const char *name)
{
    LZ_PUBLIC(false);
    return a && name && lz_archive_find(a, name);
}

const char *lz_archive_metadata(const lz_archive *a, const char *key)
{
    LZ_PUBLIC(NULL);
    for (uint32_t i = 0; a && key && i < a->files.len; i++) {
        const char *p = a->files.data[i].metadata, *end = p ? p + a->files.data[i].metadata_len : p;
        while (p < end) {
            const char *value = p + strlen(p) + 1;
            if (strcmp(p, key) == 0)
                return value;
            p = value + strlen(value) + 1;
        }
    }
    return NULL;
}

/* ---- reading ---- */

static lz_status lookup(const lz_archive *a, const char *name, const lz_archive_row **r)
{
    if (!a || !name)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", a ? "the name" : "the archive");
    *r = lz_archive_find(a, name);
    return *r ? LZ_OK : LZ_FAIL(LZ_ENOENT, "%s: no array \"%.100s\"", a->path, name);
}

lz_status lz_archive_info_at(const lz_archive *a, const char *name, lz_dtype *dtype,
                             lz_shape *shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    const lz_archive_row *r;
    lz_archive_entry e = {0};
    lz_status s = lookup(a, name, &r);
    lz_npy_head h = {0};
    if (s == LZ_OK && a->zip) {
        s = lz_zip_info(a, r, &h);
    } else if (s == LZ_OK) {
        s = lz_safetensors_entry(a, r, &e);
        h = (lz_npy_head){.dtype = e.dtype, .shape = e.shape};
    }
    if (s == LZ_OK && dtype)
        *dtype = h.dtype;
    if (s == LZ_OK && shape)
        *shape = h.shape;
    return lz_data_done(s, "lz_archive_info", site);
}

static lz_status read_entry(const lz_archive *a, const char *name, lz_array *out)
{
    const lz_archive_row *r;
    lz_archive_entry e;
    LZ_TRY(lookup(a, name, &r));
    if (a->zip)
        return lz_zip_read(a, r, out);
    LZ_TRY(lz_safetensors_entry(a, r, &e));
    return lz_data_view(&a->files.data[r->file].view, e.at, e.dtype, &e.shape, e.name, out);
}

lz_status lz_archive_read_at(const lz_archive *a, const char *name, lz_array *out,
                             const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    if (out)
        *out = (lz_array){0};
    lz_status s = out ? read_entry(a, name, out) : LZ_FAIL(LZ_ENULL, "out is NULL");
    return lz_data_done(s, "lz_archive_read", site);
}

lz_tensor *lz_archive_tensor_at(const lz_archive *a, const char *name, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
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
