/* checkpoint_shared.c - a checkpoint that several processes write together, each the parts that it
 * has: into a folder of its own, as if it were alone (checkpoint_dir.h). When all have, and their
 * files are on the disk, rank 0 moves these into its folder, adds the manifest with the digests
 * that it was told, and publishes it. So whoever dies, at any moment, leaves a folder that is
 * swept, and the checkpoints of before; all others learn who it was (runtime/spmd/shared.h). */
#include "base/hash.h"
#include "data/checkpoint_write.h"
#include "runtime/spmd/shared.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct shared_write {
    const lz_ckpt_content *c;
    lz_ckpt_stage stage;
    lz_manifest m; /* with this process's file; on rank 0 with those of all */
    lz_hash what;  /* of what is saved, and who writes what */
} shared_write;

/* Equal in processes that save the same. Texts are rank 0's. */
static lz_hash hash_of(const lz_manifest *m)
{
    uint64_t h =
        lz_hash_seeded(m->dims.data, m->dims.len * sizeof *m->dims.data, (uint64_t)m->step).lo;
    for (uint32_t i = 0; i < m->tensors.len; i++) {
        const lz_manifest_tensor *t = &m->tensors.data[i];
        const char *name = lz_manifest_text(m, t->name);
        const int64_t about[3] = {(int64_t)t->dtype, t->shape.rank, t->nshard};
        h = lz_hash_seeded(name, strlen(name), h).lo;
        h = lz_hash_seeded(about, sizeof about, h).lo;
        h = lz_hash_seeded(t->shape.dims, (size_t)t->shape.rank * sizeof *t->shape.dims, h).lo;
    }
    for (uint32_t i = 0; i < m->shards.len; i++)
        h = lz_hash_seeded(&m->shards.data[i].file, sizeof m->shards.data[i].file, h).lo;
    return lz_hash_seeded(&m->tensors.len, sizeof m->tensors.len, h);
}

/* ---- what each process says of its file ---- */

static void put_said(const shared_write *w, lz_buf *b)
{
    const lz_manifest_file *f = &w->m.files.data[0];
    lz_buf_u64(b, (uint64_t)w->c->step);
    lz_buf_u64(b, w->what.lo);
    lz_buf_u64(b, w->what.hi);
    lz_buf_u32(b, (uint32_t)strlen(w->stage.name));
    lz_buf_puts(b, w->stage.name);
    lz_buf_u64(b, f->size);
    lz_buf_u32(b, f->ndigest);
    for (uint32_t i = 0; i < f->ndigest; i++) {
        lz_buf_u64(b, w->m.digests.data[f->digest + i].lo);
        lz_buf_u64(b, w->m.digests.data[f->digest + i].hi);
    }
}

static lz_status get_digests(shared_write *w, lz_rd *r, lz_manifest_file *f)
{
    uint64_t block = (uint64_t)w->m.block;
    f->digest = w->m.digests.len;
    f->ndigest = lz_rd_count(r, 2 * sizeof(uint64_t));
    for (uint32_t i = 0; i < f->ndigest && !r->failed; i++) {
        lz_hash h;
        h.lo = lz_rd_u64(r);
        h.hi = lz_rd_u64(r);
        if (lz_vec_push(&w->m.digests, h) != LZ_OK)
            return LZ_FAIL(LZ_EMEM, "%s: no memory for the manifest", w->stage.dir->path);
    }
    if (!f->size || f->ndigest != f->size / block + (f->size % block != 0) || r->p != r->end)
        r->failed = true;
    return LZ_OK;
}

/* The file of a process becomes one of the checkpoint. */
static lz_status take_file(shared_write *w, uint32_t rank, lz_rd *r)
{
    const char *path = w->stage.dir->path, *name = lz_shared_process(rank);
    char stage[LZ_CKPT_NAME], file[LZ_RANK_FILE];
    uint64_t step = lz_rd_u64(r);
    lz_hash what;
    what.lo = lz_rd_u64(r);
    what.hi = lz_rd_u64(r);
    uint32_t len = lz_rd_u32(r);
    const char *text = len < sizeof stage ? lz_rd_bytes(r, len) : NULL;
    lz_manifest_file f = {.rank = rank, .size = lz_rd_u64(r)};
    if (text && step != (uint64_t)w->c->step)
        return LZ_FAIL(LZ_EINVAL, "%s: %s saves step %" PRIu64 ", rank 0 step %" PRId64, path, name,
                       step, w->c->step);
    if (text && !lz_hash_eq(what, w->what))
        return LZ_FAIL(LZ_EINVAL,
                       "%s: %s saves other tensors than rank 0, or has them in other places", path,
                       name);
    LZ_TRY(get_digests(w, r, &f));
    if (!text || r->failed)
        return LZ_FAIL(LZ_EPARSE, "%s: what %s says of its file is malformed", path, name);
    snprintf(stage, sizeof stage, "%.*s", (int)len, text);
    LZ_TRY(lz_ckpt_stage_adopt(&w->stage, stage, lz_rank_file(rank, file), f.size));
    return lz_vec_push(&w->m.files, f) == LZ_OK
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "%s: no memory for the manifest", path);
}

/* On rank 0: all files are on the disk. */
static lz_status publish(void *user, lz_rd *said)
{
    shared_write *w = user;
    for (uint32_t r = 1; r < w->c->ranks; r++)
        LZ_TRY(take_file(w, r, &said[r]));
    LZ_TRY(lz_ckpt_write_manifest(&w->stage, &w->m));
    return lz_ckpt_stage_end(&w->stage, LZ_OK);
}

static lz_status write_mine(shared_write *w, const lz_ckpt_dir *d, lz_ckpt_content *c)
{
    LZ_TRY(lz_ckpt_describe(d->path, c, &w->m));
    w->what = hash_of(&w->m);
    LZ_TRY(c->rank ? lz_ckpt_stage_begin_part(&w->stage, d, c->step)
                   : lz_ckpt_stage_begin(&w->stage, d, c->step));
    return lz_ckpt_write_file(&w->stage, &w->m, c);
}

lz_status lz_ckpt_write_shared(const lz_ckpt_dir *d, lz_ckpt_content *c)
{
    shared_write w = {.c = c, .stage = {.dir = d, .fd = -1}};
    lz_buf said = {0};
    char about[400];
    snprintf(about, sizeof about, "%.300s, step %" PRId64, d->path, c->step);
    lz_status s = write_mine(&w, d, c);
    if (s == LZ_OK)
        put_said(&w, &said);
    s = lz_shared_talk(c->talk, about, s, &said, publish, &w);
    lz_buf_free(&said);
    LZ_QUIETLY {
        lz_ckpt_stage_drop(&w.stage);
        if (s != LZ_OK) /* what one that was killed has left */
            (void)lz_ckpt_dir_sweep(d);
    }
    lz_manifest_free(&w.m);
    return s;
}
