/* checkpoint_write.c - writes a checkpoint: this process's file, with a digest of each block as it
 * goes by, then the manifest, then the name (checkpoint_dir.h). Those of several processes:
 * checkpoint_shared.c. */
#include "base/file_io.h"
#include "cache/vfs.h"
#include "data/checkpoint_write.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t lz_ckpt_part_bytes(const lz_ckpt_part *p)
{
    return (size_t)lz_box_volume(&p->box) * lz_dtype_size(p->dtype);
}

/* ---- what is in the file ---- */

static int by_name_and_box(const void *x, const void *y)
{
    const lz_ckpt_part *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    for (int i = 0; !order && i < a->box.rank && i < b->box.rank; i++)
        order = (a->box.offset[i] > b->box.offset[i]) - (a->box.offset[i] < b->box.offset[i]);
    return order;
}

static bool same_tensor(const lz_ckpt_part *a, const lz_ckpt_part *b)
{
    bool same = a->dtype == b->dtype && a->shape.rank == b->shape.rank;
    for (int i = 0; same && i < a->shape.rank; i++)
        same = a->shape.dims[i] == b->shape.dims[i];
    return same && !lz_box_equal(&a->box, &b->box);
}

static lz_status no_memory(const char *path)
{
    return LZ_FAIL(LZ_EMEM, "%s: no memory for the manifest", path);
}

static lz_status add_shard(lz_manifest *m, const char *path, const lz_ckpt_part *p)
{
    lz_manifest_shard s = {.file = p->rank, .box = m->dims.len};
    if (lz_vec_reserve(&m->dims, (uint64_t)m->dims.len + 2 * (uint64_t)p->box.rank) != LZ_OK ||
        lz_vec_push(&m->shards, s) != LZ_OK)
        return no_memory(path);
    for (int i = 0; i < p->box.rank; i++)
        m->dims.data[m->dims.len++] = p->box.offset[i];
    for (int i = 0; i < p->box.rank; i++)
        m->dims.data[m->dims.len++] = p->box.extent[i];
    return LZ_OK;
}

/* The tensors of the sorted parts. */
static lz_status add_tensors(lz_manifest *m, const char *path, const lz_ckpt_content *c)
{
    for (size_t i = 0; i < c->nparts; i++) {
        const lz_ckpt_part *p = &c->parts[i], *before = i ? p - 1 : NULL;
        bool more = before && strcmp(before->name, p->name) == 0;
        if (more && !same_tensor(before, p))
            return LZ_FAIL(LZ_EINVAL, "%s: two arrays are named \"%.100s\"", path, p->name);
        lz_manifest_tensor t = {.dtype = p->dtype, .shape = p->shape, .shard = m->shards.len};
        if (!more) {
            t.name = lz_manifest_keep(m, p->name, strlen(p->name));
            if (t.name == UINT32_MAX || lz_vec_push(&m->tensors, t) != LZ_OK)
                return no_memory(path);
        }
        if (lz_ckpt_part_bytes(p)) {
            LZ_TRY(add_shard(m, path, p));
            m->tensors.data[m->tensors.len - 1].nshard++;
        }
    }
    return LZ_OK;
}

static lz_status add_texts(lz_manifest *m, const char *path, const lz_ckpt_content *c)
{
    for (size_t i = 0; i < c->nmetadata; i++) {
        const char *k = c->metadata[2 * i], *v = c->metadata[2 * i + 1];
        lz_manifest_pair p = {lz_manifest_keep(m, k, strlen(k)), lz_manifest_keep(m, v, strlen(v))};
        if (p.key == UINT32_MAX || p.value == UINT32_MAX || lz_vec_push(&m->metadata, p) != LZ_OK)
            return no_memory(path);
    }
    for (size_t i = 0; i < c->nmetrics; i++) {
        const char *k = c->metrics[i].name;
        lz_manifest_metric v = {lz_manifest_keep(m, k, strlen(k)), c->metrics[i].value};
        if (v.name == UINT32_MAX || lz_vec_push(&m->metrics, v) != LZ_OK)
            return no_memory(path);
    }
    return LZ_OK;
}

/* The items of this process's file, one for each of its shards in the manifest: names are in
 * `keys`. */
static lz_status make_items(const lz_manifest *m, const lz_ckpt_content *c, const char *path,
                            lz_save_item *items, size_t *nitem, lz_buf *keys)
{
    size_t n = 0, at = 0;
    for (uint32_t i = 0; i < m->tensors.len; i++)
        for (uint32_t k = 0; k < m->tensors.data[i].nshard; k++) {
            const lz_manifest_shard *s = &m->shards.data[m->tensors.data[i].shard + k];
            if (s->file == c->rank && !lz_manifest_key(m, &m->tensors.data[i], s, keys))
                return no_memory(path);
        }
    for (size_t i = 0; i < c->nparts; i++) { /* in the order of the shards */
        const lz_ckpt_part *p = &c->parts[i];
        lz_save_item t = {.name = keys->data + at,
                          .dtype = p->dtype,
                          .shape = {.rank = p->box.rank},
                          .nbytes = lz_ckpt_part_bytes(p),
                          .data = p->data,
                          .from = p->data ? NULL : p->from,
                          .value = p->value,
                          .shard = p->shard};
        if (!t.nbytes || p->rank != c->rank)
            continue;
        memcpy(t.shape.dims, p->box.extent, (size_t)p->box.rank * sizeof *t.shape.dims);
        at += strlen(t.name) + 1;
        items[n++] = t;
    }
    *nitem = n;
    return LZ_OK;
}

/* ---- a file, and the digests of its blocks ---- */

typedef struct block_file {
    lz_manifest *m; /* digests go there */
    const char *path;
    int fd;
    char *block;
    size_t used;
    uint64_t size;
} block_file;

static lz_status write_block(block_file *f, const void *p, size_t n)
{
    int e = lz_ckpt_write_all(f->fd, p, n);
    if (e)
        return LZ_FAIL(e == ENOSPC || e == EDQUOT ? LZ_EIO : lz_file_status(e),
                       "%s: cannot be written: %s", f->path, strerrordesc_np(e));
    f->size += n;
    return lz_vec_push(&f->m->digests, lz_hash_bytes(p, n)) == LZ_OK ? LZ_OK : no_memory(f->path);
}

static lz_status put_bytes(block_file *f, const void *p, size_t n)
{
    const char *at = p;
    while (n) {
        if (!f->used && n >= LZ_MANIFEST_BLOCK) { /* as it is */
            LZ_TRY(write_block(f, at, LZ_MANIFEST_BLOCK));
            at += LZ_MANIFEST_BLOCK;
            n -= LZ_MANIFEST_BLOCK;
            continue;
        }
        size_t room = LZ_MANIFEST_BLOCK - f->used, k = n < room ? n : room;
        memcpy(f->block + f->used, at, k);
        f->used += k;
        at += k;
        n -= k;
        if (f->used == LZ_MANIFEST_BLOCK) {
            f->used = 0;
            LZ_TRY(write_block(f, f->block, LZ_MANIFEST_BLOCK));
        }
    }
    return LZ_OK;
}

static lz_status put_item(block_file *f, const lz_save_item *t)
{
    lz_array copy = {0};
    if (!t->from)
        return put_bytes(f, t->data, t->nbytes);
    LZ_TRY(lz_save_item_read(t, &copy));
    lz_status s = put_bytes(f, copy.data, t->nbytes);
    lz_array_free(&copy);
    return s;
}

static lz_status put_file(block_file *f, lz_save_item *items, size_t n)
{
    static const char *const metadata[] = {"format", "pt"};
    lz_buf begin = {0};
    lz_status s = lz_safetensors_begin(f->path, items, n, metadata, 1, &begin);
    if (s == LZ_OK)
        s = put_bytes(f, begin.data, begin.len);
    lz_buf_free(&begin);
    for (size_t i = 0; i < n && s == LZ_OK; i++)
        s = put_item(f, &items[i]);
    return s == LZ_OK && f->used ? write_block(f, f->block, f->used) : s;
}

/* Syncs and closes it. */
static lz_status finish(int fd, const char *path, lz_status s)
{
    int e = s == LZ_OK && lz_vfs_sync(fd) < 0 ? errno : 0;
    if (lz_vfs_close(fd) < 0 && !e)
        e = errno;
    return s == LZ_OK && e ? LZ_FAIL(LZ_EIO, "%s: cannot be written: %s", path, strerrordesc_np(e))
                           : s;
}

static lz_status write_items(lz_ckpt_stage *st, lz_manifest *m, uint32_t rank, lz_save_item *items,
                             size_t n)
{
    char name[LZ_RANK_FILE], path[512];
    lz_manifest_file entry = {.rank = rank, .digest = m->digests.len};
    snprintf(path, sizeof path, "%.300s/%s/%s", st->dir->path, st->name,
             lz_rank_file(entry.rank, name));
    block_file f = {.m = m, .path = path, .block = lz_alloc(LZ_MANIFEST_BLOCK)};
    f.fd = f.block ? lz_ckpt_stage_file(st, name) : -1;
    lz_status s = f.fd >= 0  ? put_file(&f, items, n)
                  : !f.block ? LZ_FAIL(LZ_EMEM, "%s: no memory", path)
                             : lz_error_get()->status;
    if (f.fd >= 0)
        s = finish(f.fd, path, s);
    lz_free(f.block);
    entry.size = f.size;
    entry.ndigest = m->digests.len - entry.digest;
    return s == LZ_OK && lz_vec_push(&m->files, entry) != LZ_OK ? no_memory(path) : s;
}

lz_status lz_ckpt_write_file(lz_ckpt_stage *st, lz_manifest *m, const lz_ckpt_content *c)
{
    lz_buf keys = {0};
    size_t n = 0;
    lz_save_item *items = lz_calloc((size_t)m->shards.len + 1, sizeof *items);
    lz_status s =
        items ? make_items(m, c, st->dir->path, items, &n, &keys) : no_memory(st->dir->path);
    if (s == LZ_OK)
        s = write_items(st, m, c->rank, items, n);
    lz_buf_free(&keys);
    lz_free(items);
    return s;
}

lz_status lz_ckpt_write_manifest(lz_ckpt_stage *st, const lz_manifest *m)
{
    lz_buf text = {0};
    char path[512];
    snprintf(path, sizeof path, "%.300s/%s/manifest.json", st->dir->path, st->name);
    lz_status s = lz_manifest_put(m, path, &text);
    if (s == LZ_OK && text.len > LZ_MANIFEST_MAX_BYTES)
        s = LZ_FAIL(LZ_ERANGE, "%s: a manifest of %zu bytes", path, text.len);
    int fd = s == LZ_OK ? lz_ckpt_stage_file(st, "manifest.json") : -1;
    if (s == LZ_OK && fd < 0)
        s = lz_error_get()->status;
    if (fd >= 0) {
        int e = lz_ckpt_write_all(fd, text.data, text.len);
        if (e)
            s = LZ_FAIL(LZ_EIO, "%s: cannot be written: %s", path, strerrordesc_np(e));
        s = finish(fd, path, s);
    }
    lz_buf_free(&text);
    return s;
}

lz_status lz_ckpt_describe(const char *path, lz_ckpt_content *c, lz_manifest *m)
{
    *m = (lz_manifest){
        .step = c->step, .block = LZ_MANIFEST_BLOCK, .processes = c->ranks ? c->ranks : 1};
    if (c->nparts)
        qsort(c->parts, c->nparts, sizeof *c->parts, by_name_and_box);
    LZ_TRY(add_texts(m, path, c));
    return add_tensors(m, path, c);
}

static lz_status write_alone(const lz_ckpt_dir *d, lz_ckpt_content *c)
{
    lz_ckpt_stage st;
    lz_manifest m;
    LZ_TRY(lz_ckpt_stage_begin(&st, d, c->step));
    lz_status s = lz_ckpt_describe(d->path, c, &m);
    if (s == LZ_OK)
        s = lz_ckpt_write_file(&st, &m, c);
    if (s == LZ_OK)
        s = lz_ckpt_write_manifest(&st, &m);
    lz_manifest_free(&m);
    return lz_ckpt_stage_end(&st, s);
}

lz_status lz_ckpt_write(const lz_ckpt_dir *d, lz_ckpt_content *c)
{
    return c->ranks > 1 ? lz_ckpt_write_shared(d, c) : write_alone(d, c);
}
