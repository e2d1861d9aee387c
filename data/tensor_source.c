/* tensor_source.c - see tensor_source.h. */
#include "data/tensor_source.h"
#include "base/file_io.h"
#include "cache/vfs.h"
#include "data/checkpoint_file.h"
#include <fcntl.h>
#include <string.h>

/* ---- opening ---- */

/* The folder of a checkpoint of ours. *is: it has a manifest. */
static lz_status open_checkpoint(lz_tensor_source *s, const char *path, bool *is)
{
    struct stat st;
    lz_ckpt_dir d;
    LZ_TRY(lz_ckpt_dir_open(path, false, &d));
    *is = lz_vfs_statat(d.fd, "manifest.json", &st) == 0;
    if (*is)
        s->reader = lz_ckpt_open(d.fd, -1, path);
    lz_status e = *is && !s->reader ? lz_error_get()->status : LZ_OK;
    lz_ckpt_dir_close(&d);
    return e;
}

/* The first of these files that is in the folder. */
static lz_status open_in(lz_tensor_source *s, const char *path)
{
    static const char *const names[] = {"model.safetensors.index.json", "model.safetensors"};
    lz_buf full = {0};
    struct stat st;
    bool there = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !there && !full.failed; i++) {
        full.len = 0;
        lz_buf_printf(&full, "%s/%s", path, names[i]);
        there = !full.failed && LZ_NO_EINTR(stat(full.data, &st)) == 0;
    }
    lz_status e =
        full.failed ? LZ_FAIL(LZ_EMEM, "%s: no memory", path)
        : !there ? LZ_FAIL(LZ_ENOENT, "%s has no manifest.json, %s or %s", path, names[0], names[1])
                 : LZ_OK;
    if (e == LZ_OK && !(s->archive = lz_safetensors_open_at(full.data, NULL)))
        e = lz_error_get()->status;
    lz_buf_free(&full);
    return e;
}

lz_status lz_source_open(lz_tensor_source *s, const char *path)
{
    struct stat st;
    bool is;
    *s = (lz_tensor_source){0};
    if (LZ_NO_EINTR(stat(path, &st)) != 0 || !S_ISDIR(st.st_mode)) {
        s->archive = lz_safetensors_open_at(path, NULL);
        return s->archive ? LZ_OK : lz_error_get()->status;
    }
    LZ_TRY(open_checkpoint(s, path, &is));
    return is ? LZ_OK : open_in(s, path);
}

void lz_source_close(lz_tensor_source *s)
{
    lz_archive_close(s->archive);
    lz_ckpt_close(s->reader);
    *s = (lz_tensor_source){0};
}

/* ---- what is in it ---- */

size_t lz_source_len(const lz_tensor_source *s)
{
    return s->reader ? lz_ckpt_manifest(s->reader)->tensors.len : lz_archive_len(s->archive);
}

const char *lz_source_name(const lz_tensor_source *s, size_t i)
{
    if (!s->reader)
        return lz_archive_name(s->archive, i);
    const lz_manifest *m = lz_ckpt_manifest(s->reader);
    return i < m->tensors.len ? lz_manifest_text(m, m->tensors.data[i].name) : NULL;
}

bool lz_source_has(const lz_tensor_source *s, const char *name)
{
    return s->reader ? lz_manifest_find(lz_ckpt_manifest(s->reader), name) != NULL
                     : lz_archive_has(s->archive, name);
}

const char *lz_source_metadata(const lz_tensor_source *s, const char *key)
{
    if (!s->reader)
        return lz_archive_metadata(s->archive, key);
    const lz_manifest *m = lz_ckpt_manifest(s->reader);
    for (uint32_t i = 0; i < m->metadata.len; i++)
        if (strcmp(lz_manifest_text(m, m->metadata.data[i].key), key) == 0)
            return lz_manifest_text(m, m->metadata.data[i].value);
    return NULL;
}

static lz_status find(const lz_tensor_source *s, const char *name, const lz_manifest_tensor **t)
{
    *t = lz_manifest_find(lz_ckpt_manifest(s->reader), name);
    return *t ? LZ_OK : LZ_FAIL(LZ_ENOENT, "no array \"%.100s\" in the checkpoint", name);
}

lz_status lz_source_info(const lz_tensor_source *s, const char *name, lz_dtype *dtype,
                         lz_shape *shape)
{
    const lz_manifest_tensor *t;
    if (!s->reader)
        return lz_archive_info_at(s->archive, name, dtype, shape, NULL);
    LZ_TRY(find(s, name, &t));
    *dtype = t->dtype;
    *shape = t->shape;
    return LZ_OK;
}

/* ---- reading ---- */

static lz_box whole(const lz_shape *shape)
{
    lz_box b = {.rank = shape->rank};
    memcpy(b.extent, shape->dims, (size_t)shape->rank * sizeof *b.extent);
    return b;
}

lz_status lz_source_read(const lz_tensor_source *s, const char *name, lz_array *out)
{
    const lz_manifest_tensor *t;
    lz_view v;
    if (!s->reader)
        return lz_archive_read_at(s->archive, name, out, NULL);
    *out = (lz_array){0};
    LZ_TRY(find(s, name, &t));
    if (t->nshard == 1) {
        const uint8_t *at = lz_ckpt_whole(s->reader, t, &v);
        return at ? lz_data_view(&v, (size_t)(at - v.data), t->dtype, &t->shape, name, out)
                  : lz_error_get()->status;
    }
    const lz_box all = whole(&t->shape);
    LZ_TRY(lz_data_new(t->dtype, &t->shape, name, out));
    lz_status e = lz_ckpt_read_box(s->reader, t, &all, out->data);
    if (e != LZ_OK)
        lz_array_free(out);
    return e;
}

lz_status lz_source_read_box(const lz_tensor_source *s, const char *name, const lz_box *box,
                             void *dst)
{
    const lz_manifest_tensor *t;
    lz_array a;
    if (s->reader) {
        LZ_TRY(find(s, name, &t));
        return lz_ckpt_read_box(s->reader, t, box, dst);
    }
    LZ_TRY(lz_archive_read_at(s->archive, name, &a, NULL));
    const lz_box all = whole(&a.shape);
    lz_box_copy(box, lz_dtype_size(a.dtype), &all, a.data, box, dst);
    lz_array_free(&a);
    return LZ_OK;
}
