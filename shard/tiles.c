/* tiles.c - see tiles.h. */
#include "shard/tiles.h"
#include <string.h>

/* One partition's box: where it begins in the whole, how many elements of it there are, and the
 * extents of the array it is in. */
typedef struct box {
    int rank;
    size_t elem;
    int64_t start[LZ_MAX_RANK], count[LZ_MAX_RANK], part[LZ_MAX_RANK], whole[LZ_MAX_RANK];
    bool empty;
} box;

static box box_of(const lz_sharding *s, const lz_type *t, int64_t partition)
{
    box b = {.rank = t->shape.rank, .elem = lz_dtype_size(t->dtype)};
    for (int d = 0; d < b.rank; d++) {
        int64_t extent = t->shape.dims[d];
        b.whole[d] = extent;
        b.part[d] = lz_tile_extent(extent, lz_axis_list_size(s->mesh, &s->dims[d]));
        b.start[d] = lz_axis_list_tile(s->mesh, &s->dims[d], partition) * b.part[d];
        int64_t left = extent > b.start[d] ? extent - b.start[d] : 0;
        b.count[d] = left < b.part[d] ? left : b.part[d];
        b.empty |= b.count[d] == 0;
    }
    return b;
}

/* Bytes that are next to each other in both arrays: the last dimensions as far as the part has them
 * whole. *outer: the dimensions in front of them. */
static size_t run_bytes(const box *b, int *outer)
{
    size_t n = b->elem;
    int d = b->rank;
    bool whole = true;
    while (d > 0 && whole) {
        d--;
        n *= (size_t)b->count[d];
        whole = b->count[d] == b->whole[d] && b->count[d] == b->part[d];
    }
    *outer = d;
    return n;
}

/* Calls copy for every run, with its places in the whole and in the part. */
static void each_run(const box *b, char *whole, char *part, size_t nbytes, int outer, bool cut)
{
    int64_t at[LZ_MAX_RANK] = {0};
    for (;;) {
        int64_t w = 0, p = 0;
        for (int d = 0; d < b->rank; d++) {
            w = w * b->whole[d] + b->start[d] + at[d];
            p = p * b->part[d] + at[d];
        }
        memcpy(cut ? part + (size_t)p * b->elem : whole + (size_t)w * b->elem,
               cut ? whole + (size_t)w * b->elem : part + (size_t)p * b->elem, nbytes);
        int d = outer - 1;
        while (d >= 0 && ++at[d] == b->count[d])
            at[d--] = 0;
        if (d < 0)
            return;
    }
}

void lz_tile_cut(const lz_sharding *s, const lz_type *t, int64_t partition, const void *whole,
                 void *part)
{
    box b = box_of(s, t, partition);
    size_t nbytes = b.elem;
    bool full = true;
    for (int d = 0; d < b.rank; d++) {
        nbytes *= (size_t)b.part[d];
        full &= b.count[d] == b.part[d];
    }
    if (!full)
        memset(part, 0, nbytes);
    int outer;
    size_t run = run_bytes(&b, &outer);
    if (!b.empty)
        each_run(&b, (char *)(uintptr_t)whole, part, run, outer, true);
}

void lz_tile_join(const lz_sharding *s, const lz_type *t, int64_t partition, const void *part,
                  void *whole)
{
    box b = box_of(s, t, partition);
    int outer;
    size_t run = run_bytes(&b, &outer);
    if (!b.empty)
        each_run(&b, whole, (char *)(uintptr_t)part, run, outer, false);
}

bool lz_tile_is_copy(const lz_sharding *s, int64_t partition)
{
    uint32_t used = lz_sharding_dims_mask(s);
    for (int k = 0; k < s->mesh->nfactor; k++)
        if (!(used >> k & 1) && lz_mesh_coordinate(s->mesh, partition, k))
            return true;
    return false;
}
