/* checkpoint_read.c - reads a checkpoint by boxes: of the mapped files those blocks are touched,
 * and compared with their digests, that have some of the elements. */
#include "base/file_io.h"
#include "cache/vfs.h"
#include "data/checkpoint_file.h"
#include "data/data_internal.h"
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

struct lz_ckpt_reader {
    char *where;
    lz_manifest m;
    lz_archive *archive;        /* its files are the manifest's */
    _Atomic uint8_t *compared;  /* of each digest */
    const lz_archive_row **row; /* of each shard */
    atomic_bool damaged;
    atomic_size_t blocks;
};

const lz_manifest *lz_ckpt_manifest(const lz_ckpt_reader *r)
{
    return &r->m;
}

bool lz_ckpt_damaged(const lz_ckpt_reader *r)
{
    return r->damaged;
}

size_t lz_ckpt_blocks_read(const lz_ckpt_reader *r)
{
    return r->blocks;
}

/* ---- blocks ---- */

static lz_status compare(lz_ckpt_reader *r, uint32_t file, uint64_t block)
{
    const lz_manifest_file *f = &r->m.files.data[file];
    const lz_view *v = &r->archive->files.data[file].view;
    uint64_t size = (uint64_t)r->m.block, at = block * size;
    uint64_t n = f->size - at < size ? f->size - at : size;
    uint32_t digest = f->digest + (uint32_t)block;
    char name[LZ_RANK_FILE];
    if (r->compared[digest])
        return LZ_OK;
    r->blocks++;
    if (!lz_hash_eq(lz_hash_bytes(v->data + at, n), r->m.digests.data[digest])) {
        r->damaged = true;
        return LZ_FAIL(LZ_ECORRUPT,
                       "%s/%s: the bytes from %" PRIu64 " are not those that were written",
                       r->where, lz_rank_file(f->rank, name), at);
    }
    r->compared[digest] = 1;
    return LZ_OK;
}

/* Those that bytes begin to end of the file are in. */
static lz_status compare_range(lz_ckpt_reader *r, uint32_t file, uint64_t begin, uint64_t end)
{
    uint64_t size = (uint64_t)r->m.block;
    for (uint64_t b = begin / size; begin < end && b <= (end - 1) / size; b++)
        LZ_TRY(compare(r, file, b));
    return LZ_OK;
}

lz_status lz_ckpt_verify(lz_ckpt_reader *r)
{
    for (uint32_t i = 0; i < r->m.files.len; i++)
        LZ_TRY(compare_range(r, i, 0, r->m.files.data[i].size));
    return LZ_OK;
}

/* ---- boxes ---- */

static lz_status entry_of(const lz_ckpt_reader *r, uint32_t shard, lz_archive_entry *e)
{
    return lz_safetensors_entry(r->archive, r->row[shard], e);
}

lz_status lz_ckpt_read_box(lz_ckpt_reader *r, const lz_manifest_tensor *t, const lz_box *box,
                           void *dst)
{
    size_t element = lz_dtype_size(t->dtype), begin, end;
    for (uint32_t i = t->shard; i < t->shard + t->nshard; i++) {
        const lz_manifest_shard *s = &r->m.shards.data[i];
        const lz_box has = lz_manifest_box(&r->m, t, s);
        lz_box common;
        lz_archive_entry e;
        if (!lz_box_common(&has, box, &common))
            continue;
        LZ_TRY(entry_of(r, i, &e));
        lz_box_span(&common, element, &has, &begin, &end);
        LZ_TRY(compare_range(r, s->file, e.at + begin, e.at + end));
        lz_box_copy(&common, element, &has, r->archive->files.data[s->file].view.data + e.at, box,
                    dst);
    }
    return LZ_OK;
}

const void *lz_ckpt_whole(lz_ckpt_reader *r, const lz_manifest_tensor *t, lz_view *view)
{
    lz_archive_entry e;
    if (t->nshard != 1)
        return NULL;
    uint32_t file = r->m.shards.data[t->shard].file;
    *view = r->archive->files.data[file].view;
    return entry_of(r, t->shard, &e) == LZ_OK &&
                   compare_range(r, file, e.at, e.at + e.nbytes) == LZ_OK
               ? view->data + e.at
               : NULL;
}

/* ---- opening ---- */

static lz_status read_manifest(lz_ckpt_reader *r, int folder)
{
    int fd = lz_ckpt_open_file(folder, "manifest.json", r->where);
    lz_buf text = {0};
    if (fd < 0)
        return lz_error_get()->status;
    lz_status s = lz_file_slurp_fd(fd, r->where, LZ_MANIFEST_MAX_BYTES, &text);
    (void)lz_vfs_close(fd);
    if (s == LZ_OK)
        s = lz_manifest_check(lz_buf_str(&text), text.len, r->where);
    if (s == LZ_OK)
        s = lz_manifest_parse(text.data, text.len, r->where, &r->m);
    lz_buf_free(&text);
    return s;
}

/* A shard of a rank that the manifest does not know is no part of the checkpoint: it says that
 * something else was written here. */
static lz_status check_names(const lz_ckpt_reader *r, int folder)
{
    lz_vfs_list l;
    lz_status s = LZ_OK;
    int fd = lz_vfs_open(folder, ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return LZ_FAIL(lz_file_status(errno), "%s: %m", r->where);
    lz_vfs_list_init(&l, fd);
    for (const char *name; s == LZ_OK && (name = lz_vfs_list_next(&l)) != NULL;) {
        uint32_t rank, i = 0;
        if (!lz_rank_file_parse(name, &rank))
            continue;
        while (i < r->m.files.len && r->m.files.data[i].rank != rank)
            i++;
        if (i == r->m.files.len)
            s = LZ_FAIL(LZ_ECORRUPT, "%s/%s: the manifest does not know it", r->where, name);
    }
    (void)lz_vfs_close(fd);
    if (s == LZ_OK && l.err)
        s = LZ_FAIL(lz_file_status(l.err), "%s: cannot be listed: %s", r->where,
                    strerrordesc_np(l.err));
    return s;
}

static lz_status open_shards(lz_ckpt_reader *r, int folder, const lz_manifest_file *f)
{
    char name[LZ_RANK_FILE];
    lz_view v = {0};
    int fd = lz_ckpt_open_file(folder, lz_rank_file(f->rank, name), r->where);
    if (fd < 0)
        return lz_error_get()->status;
    lz_status s = lz_data_map_fd(fd, r->where, &v);
    (void)lz_vfs_close(fd);
    if (s == LZ_OK && v.len != f->size) {
        s = LZ_FAIL(LZ_ECORRUPT, "%s/%s: %zu bytes, the manifest says %" PRIu64, r->where, name,
                    v.len, f->size);
        lz_holder_release(v.holder);
    } else if (s == LZ_OK) {
        s = lz_safetensors_parse(r->archive, v);
    }
    return s;
}

/* What stands before the elements was parsed; now it is compared. */
static lz_status compare_head(lz_ckpt_reader *r, uint32_t file)
{
    const lz_view *v = &r->archive->files.data[file].view;
    return compare_range(r, file, 0, 8 + lz_le64(v->data));
}

/* The entry of a shard is what the manifest says of it. */
static lz_status find_shard(lz_ckpt_reader *r, const lz_manifest_tensor *t, uint32_t shard,
                            lz_buf *key)
{
    const lz_manifest_shard *s = &r->m.shards.data[shard];
    const lz_box box = lz_manifest_box(&r->m, t, s);
    lz_archive_entry e;
    key->len = 0;
    if (!lz_manifest_key(&r->m, t, s, key))
        return LZ_FAIL(LZ_EMEM, "%s: no memory", r->where);
    const lz_archive_row *row = lz_archive_find(r->archive, key->data);
    if (!row || row->file != s->file)
        return LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" is not in its file", r->where, key->data);
    r->row[shard] = row;
    LZ_TRY(entry_of(r, shard, &e));
    bool same = e.dtype == t->dtype && e.in_byte == 1 && e.shape.rank == box.rank;
    for (int i = 0; same && i < box.rank; i++)
        same = e.shape.dims[i] == box.extent[i];
    return same ? LZ_OK
                : LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" is not what the manifest says", r->where,
                          key->data);
}

static lz_status find_shards(lz_ckpt_reader *r)
{
    lz_buf key = {0};
    lz_status s = LZ_OK;
    r->row = lz_calloc((size_t)r->m.shards.len + 1, sizeof *r->row);
    if (!r->row)
        return LZ_FAIL(LZ_EMEM, "%s: no memory", r->where);
    if (r->archive->rows.len != r->m.shards.len)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the files have %u tensors, the manifest %u", r->where,
                       r->archive->rows.len, r->m.shards.len);
    for (uint32_t i = 0; i < r->m.tensors.len && s == LZ_OK; i++) {
        const lz_manifest_tensor *t = &r->m.tensors.data[i];
        for (uint32_t k = 0; k < t->nshard && s == LZ_OK; k++)
            s = find_shard(r, t, t->shard + k, &key);
    }
    lz_buf_free(&key);
    return s;
}

static lz_status open_all(lz_ckpt_reader *r, int folder, int64_t step)
{
    LZ_TRY(read_manifest(r, folder));
    if (step >= 0 && r->m.step != step)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the manifest is of step %" PRId64, r->where, r->m.step);
    LZ_TRY(check_names(r, folder));
    r->archive = lz_archive_new(r->where, false);
    r->compared = lz_calloc((size_t)r->m.digests.len + 1, sizeof *r->compared);
    if (!r->archive || !r->compared)
        return LZ_FAIL(LZ_EMEM, "%s: no memory", r->where);
    for (uint32_t i = 0; i < r->m.files.len; i++)
        LZ_TRY(open_shards(r, folder, &r->m.files.data[i]));
    LZ_TRY(lz_archive_index(r->archive));
    for (uint32_t i = 0; i < r->m.files.len; i++)
        LZ_TRY(compare_head(r, i));
    return find_shards(r);
}

lz_ckpt_reader *lz_ckpt_open(int fd, int64_t step, const char *where)
{
    lz_ckpt_reader *r = lz_calloc(1, sizeof *r);
    if (r)
        r->where = lz_strdup(where);
    lz_status s = r && r->where ? open_all(r, fd, step) : LZ_FAIL(LZ_EMEM, "%s: no memory", where);
    if (s == LZ_OK)
        return r;
    lz_ckpt_close(r);
    return NULL;
}

void lz_ckpt_close(lz_ckpt_reader *r)
{
    if (!r)
        return;
    lz_archive_close(r->archive);
    lz_manifest_free(&r->m);
    lz_free((void *)r->row);
    lz_free((void *)r->compared);
    lz_free(r->where);
    lz_free(r);
}
