/* checkpoint_job.c - one save of the checkpoint manager: what was noted of the training as boxes of
 * tensors, each of which one device has, and once. Of several processes that save together, each of
 * them lists all boxes, and who writes which, so nobody needs to be asked: of those that have a box
 * the one that has least to write so far. */
#include "nn/checkpoint_manager.h"
#include "runtime/spmd/shared.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static lz_status no_memory(const lz_ckpt_job *j)
{
    return LZ_FAIL(LZ_EMEM, "no memory to save step %" PRId64, j->step);
}

static lz_status add_part(lz_ckpt_job *j, const lz_ckpt_part *p)
{
    return lz_vec_push(&j->parts, *p) == LZ_OK ? LZ_OK : no_memory(j);
}

static uint32_t rank_of(const lz_ckpt_job *j, const lz_local_shard *s)
{
    return j->ranks > 1 ? lz_shared_rank_of(s->device) : 0;
}

/* The whole of p, which all processes have. A value that is still to be formed is read by all
 * together; the one that writes it keeps it. */
static lz_status add_whole(lz_ckpt_job *j, lz_ckpt_part p)
{
    p.box = (lz_box){.rank = p.shape.rank};
    memcpy(p.box.extent, p.shape.dims, (size_t)p.shape.rank * sizeof *p.shape.dims);
    size_t nbytes = lz_ckpt_part_bytes(&p);
    for (uint32_t r = 1; r < j->ranks; r++)
        p.rank = j->load[r] < j->load[p.rank] ? r : p.rank;
    j->load[p.rank] += nbytes;
    if (j->ranks > 1 && p.from && nbytes) {
        char *copy = lz_alloc(nbytes);
        lz_status s = copy ? lz_snapshot_read(p.from, p.value, copy) : no_memory(j);
        if (s == LZ_OK && p.rank == j->rank)
            s = lz_vec_push(&j->whole, copy) == LZ_OK ? LZ_OK : no_memory(j);
        if (s != LZ_OK || p.rank != j->rank)
            lz_free(copy);
        LZ_TRY(s);
        p.data = p.rank == j->rank ? copy : NULL;
        p.from = NULL;
    }
    return add_part(j, &p);
}

/* Equal parts side by side. */
static int by_box(const void *x, const void *y)
{
    const lz_local_shard *a = x, *b = y;
    int order = 0;
    for (int i = 0; !order && i < a->rank; i++)
        order = (a->offset[i] > b->offset[i]) - (a->offset[i] < b->offset[i]);
    for (int i = 0; !order && i < a->rank; i++)
        order = (a->extent[i] > b->extent[i]) - (a->extent[i] < b->extent[i]);
    return order ? order : (a->device > b->device) - (a->device < b->device);
}

static bool same_box(const lz_local_shard *a, const lz_local_shard *b)
{
    bool same = true;
    for (int i = 0; i < a->rank; i++)
        same &= a->offset[i] == b->offset[i] && a->extent[i] == b->extent[i];
    return same;
}

/* The distinct parts of n devices. */
static lz_status add_shards(lz_ckpt_job *j, lz_ckpt_part p, lz_local_shard *shard, int64_t n)
{
    qsort(shard, (size_t)n, sizeof *shard, by_box);
    for (int64_t d = 0, end; d < n; d = end) {
        p.shard = &shard[d];
        p.rank = rank_of(j, p.shard);
        for (end = d + 1; end < n && same_box(&shard[d], &shard[end]); end++) {
            uint32_t r = rank_of(j, &shard[end]);
            if (j->load[r] < j->load[p.rank]) {
                p.shard = &shard[end];
                p.rank = r;
            }
        }
        p.box = (lz_box){.rank = p.shard->rank};
        memcpy(p.box.offset, p.shard->offset, (size_t)p.box.rank * sizeof *p.box.offset);
        memcpy(p.box.extent, p.shard->extent, (size_t)p.box.rank * sizeof *p.box.extent);
        j->load[p.rank] += lz_ckpt_part_bytes(&p);
        if (lz_ckpt_part_bytes(&p))
            LZ_TRY(add_part(j, &p));
    }
    return LZ_OK;
}

/* Value i of the snapshot. */
static lz_status add_value(lz_ckpt_job *j, uint32_t i)
{
    lz_ckpt_part p = {.name = j->state.names.data[i], .from = &j->state.now, .value = i};
    int64_t n = 0, count = 0;
    size_t nbytes;
    lz_snapshot_describe(p.from, i, &p.dtype, &p.shape, &nbytes);
    if (nbytes)
        LZ_TRY(lz_snapshot_shards(p.from, i, NULL, 0, &n));
    if (!n)
        return add_whole(j, p);
    lz_local_shard *shard = lz_calloc((size_t)n, sizeof *shard);
    if (!shard || lz_vec_push(&j->shards, shard) != LZ_OK) {
        lz_free(shard);
        return no_memory(j);
    }
    LZ_TRY(lz_snapshot_shards(p.from, i, shard, n, &count));
    return count == n ? add_shards(j, p, shard, n) : add_whole(j, p);
}

static lz_status add_all(lz_ckpt_job *j)
{
    lz_state *b = &j->state;
    for (uint32_t i = 0; i < b->values; i++)
        LZ_TRY(add_value(j, i));
    for (uint32_t k = 0, i = b->values; k < b->steps.len; k++)
        if (b->steps.data[k].value > 0) {
            lz_ckpt_part p = {.name = b->names.data[i++],
                              .dtype = LZ_I64,
                              .shape = LZ_SCALAR,
                              .data = &b->steps.data[k].value};
            LZ_TRY(add_whole(j, p));
        }
    return LZ_OK;
}

static lz_status add_metrics(lz_ckpt_job *j, const lz_checkpoint_save_options *o)
{
    if (o->nmetrics && !o->metrics)
        return LZ_FAIL(LZ_ENULL, "metrics is NULL");
    for (size_t i = 0; i < o->nmetrics; i++) {
        if (!o->metrics[i].name)
            return LZ_FAIL(LZ_ENULL, "the name of metric %zu is NULL", i);
        lz_ckpt_metric v = {lz_strdup(o->metrics[i].name), o->metrics[i].value};
        if (!v.name || lz_vec_push(&j->metrics, v) != LZ_OK) {
            lz_free((char *)v.name);
            return no_memory(j);
        }
    }
    return LZ_OK;
}

static lz_status share(lz_ckpt_job *j, uint64_t talk)
{
    j->talk = talk;
    j->rank = talk ? lz_shared_rank() : 0;
    j->ranks = talk ? lz_shared_ranks() : 1;
    j->load = lz_calloc(j->ranks, sizeof *j->load);
    return j->load ? LZ_OK : no_memory(j);
}

lz_ckpt_job *lz_ckpt_job_new(int64_t step, uint64_t talk, const lz_checkpoint *c,
                             const lz_checkpoint_save_options *o)
{
    lz_checkpoint now = *c;
    lz_ckpt_job *j = lz_calloc(1, sizeof *j);
    if (!j) {
        (void)LZ_FAIL(LZ_EMEM, "no memory to save step %" PRId64, step);
        return NULL;
    }
    now.step = j->step = step;
    lz_status s = share(j, talk);
    if (s == LZ_OK)
        s = add_metrics(j, o);
    if (s == LZ_OK)
        s = lz_state_take(&j->state, &now);
    if (s == LZ_OK) {
        lz_state_describe(&j->state, &now, &j->metadata);
        s = add_all(j);
    }
    if (s == LZ_OK)
        return j;
    lz_ckpt_job_free(j);
    return NULL;
}

/* All values at places of one block, each a multiple of 64 bytes. */
enum { ALIGN = 64 };

static bool is_mine(const lz_ckpt_job *j, const lz_ckpt_part *p)
{
    return p->from && p->rank == j->rank;
}

static lz_status reserve(lz_ckpt_job *j, char **spare, size_t *room)
{
    size_t all = ALIGN;
    for (uint32_t i = 0; i < j->parts.len; i++)
        if (is_mine(j, &j->parts.data[i]) &&
            (!lz_add_size(all, lz_ckpt_part_bytes(&j->parts.data[i]), &all) ||
             !lz_add_size(all, ALIGN, &all)))
            return no_memory(j);
    if (*room >= all) {
        j->copy = *spare;
        j->room = *room;
        *spare = NULL;
        *room = 0;
    } else {
        j->copy = lz_alloc(all);
        j->room = all;
    }
    return j->copy ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a copy of %zu bytes", all);
}

lz_status lz_ckpt_job_copy(lz_ckpt_job *j, char **spare, size_t *room)
{
    LZ_TRY(reserve(j, spare, room));
    char *at = (char *)LZ_ALIGN_UP((uintptr_t)j->copy, ALIGN);
    for (uint32_t i = 0; i < j->parts.len; i++) {
        lz_ckpt_part *p = &j->parts.data[i];
        if (!is_mine(j, p))
            continue;
        LZ_TRY(p->shard ? lz_snapshot_read_shard(p->from, p->value, p->shard, at)
                        : lz_snapshot_read(p->from, p->value, at));
        p->data = at;
        p->from = NULL;
        at += LZ_ALIGN_UP(lz_ckpt_part_bytes(p), ALIGN);
    }
    lz_snapshot_free(&j->state.now);
    return LZ_OK;
}

lz_status lz_ckpt_job_write(lz_ckpt_job *j, const lz_ckpt_dir *d)
{
    lz_ckpt_content c = {.step = j->step,
                         .rank = j->rank,
                         .ranks = j->ranks,
                         .talk = j->talk,
                         .parts = j->parts.data,
                         .nparts = j->parts.len,
                         .metadata = j->metadata.pairs,
                         .nmetadata = LZ_STATE_PAIRS,
                         .metrics = j->metrics.data,
                         .nmetrics = j->metrics.len};
    return lz_ckpt_write(d, &c);
}

void lz_ckpt_job_free(lz_ckpt_job *j)
{
    for (uint32_t i = 0; i < j->shards.len; i++)
        lz_free(j->shards.data[i]);
    for (uint32_t i = 0; i < j->metrics.len; i++)
        lz_free((char *)j->metrics.data[i].name);
    for (uint32_t i = 0; i < j->whole.len; i++)
        lz_free(j->whole.data[i]);
    lz_vec_free(&j->whole);
    lz_vec_free(&j->shards);
    lz_vec_free(&j->metrics);
    lz_vec_free(&j->parts);
    lz_state_free(&j->state);
    lz_free(j->load);
    lz_free(j->copy);
    lz_free(j);
}
