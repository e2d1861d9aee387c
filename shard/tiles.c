/* tiles.c - see tiles.h. */
#include "shard/tiles.h"
#include "ir/eval/eval.h"
#include <string.h>

/* One partition's box: where it begins in the whole, how many elements of it there are, and the
 * extents of the array it is in. */
typedef struct box {
    int rank;
    size_t elem;
    int64_t start[LZ_MAX_RANK], count[LZ_MAX_RANK], part[LZ_MAX_RANK], whole[LZ_MAX_RANK];
    bool empty;
} box;

void lz_tile_box(const lz_sharding *s, const lz_shape *whole, int64_t partition, int64_t *offset,
                 int64_t *extent)
{
    for (int d = 0; d < whole->rank; d++) {
        int64_t n = whole->dims[d];
        int64_t tile = lz_tile_extent(n, lz_axis_list_size(s->mesh, &s->dims[d]));
        int64_t at = lz_axis_list_tile(s->mesh, &s->dims[d], partition) * tile;
        offset[d] = at < n ? at : n;
        extent[d] = n - offset[d] < tile ? n - offset[d] : tile;
    }
}

static box box_of(const lz_sharding *s, const lz_type *t, int64_t partition)
{
    box b = {.rank = t->shape.rank, .elem = lz_dtype_size(t->dtype)};
    lz_tile_box(s, &t->shape, partition, b.start, b.count);
    for (int d = 0; d < b.rank; d++) {
        b.whole[d] = t->shape.dims[d];
        b.part[d] = lz_tile_extent(b.whole[d], lz_axis_list_size(s->mesh, &s->dims[d]));
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

/* How elements of a part get into the whole array. */
typedef struct joining {
    lz_op op; /* NONE: they replace what is there, else they are reduced into it */
    lz_dtype dtype;
} joining;

static lz_status join_run(const joining *j, void *whole, const void *part, size_t nbytes)
{
    const lz_ref_ew e = {.op = j->op,
                         .out = j->dtype,
                         .in = {j->dtype, j->dtype},
                         .src = {whole, part},
                         .step = {1, 1},
                         .dst = whole,
                         .n = (int64_t)(nbytes / lz_dtype_size(j->dtype))};
    if (j->op != LZ_OP_NONE)
        return lz_ref_ew_get(j->op)(&e);
    memcpy(whole, part, nbytes);
    return LZ_OK;
}

/* Every run, to the part (j NULL) or from it. */
static lz_status each_run(const box *b, char *whole, char *part, size_t nbytes, int outer,
                          const joining *j)
{
    int64_t at[LZ_MAX_RANK] = {0};
    for (;;) {
        int64_t w = 0, p = 0;
        for (int d = 0; d < b->rank; d++) {
            w = w * b->whole[d] + b->start[d] + at[d];
            p = p * b->part[d] + at[d];
        }
        char *in_whole = whole + (size_t)w * b->elem, *in_part = part + (size_t)p * b->elem;
        if (j)
            LZ_TRY(join_run(j, in_whole, in_part, nbytes));
        else
            memcpy(in_part, in_whole, nbytes);
        int d = outer - 1;
        while (d >= 0 && ++at[d] == b->count[d])
            at[d--] = 0;
        if (d < 0)
            return LZ_OK;
    }
}

/* Whether the partition's coordinates along some axes are all 0. */
static bool is_first(const lz_mesh *m, uint32_t axes, int64_t partition)
{
    for (int k = 0; k < m->nfactor; k++)
        if (axes >> k & 1 && lz_mesh_coordinate(m, partition, k))
            return false;
    return true;
}

/* A part of a reduction that adds nothing to it. */
static lz_status fill_identity(const lz_sharding *s, lz_dtype d, void *part, size_t nbytes)
{
    uint64_t bits[2];
    size_t elem = lz_dtype_size(d);
    if (!lz_identity_bits(s->reduction, d, &bits[0]))
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: has no identity in %s", lz_op_get(s->reduction)->text,
                       lz_dtype_name(d));
    bits[1] = bits[0]; /* both parts of complex128 */
    for (size_t i = 0; i < nbytes; i += elem)
        memcpy((char *)part + i, bits, elem);
    return LZ_OK;
}

lz_status lz_tile_cut(const lz_sharding *s, const lz_type *t, int64_t partition, const void *whole,
                      void *part)
{
    box b = box_of(s, t, partition);
    size_t nbytes = b.elem;
    bool full = true;
    for (int d = 0; d < b.rank; d++) {
        nbytes *= (size_t)b.part[d];
        full &= b.count[d] == b.part[d];
    }
    if (!is_first(s->mesh, s->unreduced, partition))
        return fill_identity(s, t->dtype, part, nbytes);
    if (!full)
        memset(part, 0, nbytes);
    int outer;
    size_t run = run_bytes(&b, &outer);
    return b.empty ? LZ_OK : each_run(&b, (char *)(uintptr_t)whole, part, run, outer, NULL);
}

lz_status lz_tile_join(const lz_sharding *s, const lz_type *t, int64_t partition, const void *part,
                       void *whole)
{
    box b = box_of(s, t, partition);
    bool first = is_first(s->mesh, s->unreduced, partition);
    const joining j = {first ? LZ_OP_NONE : s->reduction, t->dtype};
    int outer;
    size_t run = run_bytes(&b, &outer);
    return b.empty ? LZ_OK : each_run(&b, whole, (char *)(uintptr_t)part, run, outer, &j);
}

/* The part's elements alone as the whole of a box. */
static box dense_box(const lz_sharding *s, const lz_type *t, int64_t partition)
{
    box b = box_of(s, t, partition);
    for (int d = 0; d < b.rank; d++) {
        b.whole[d] = b.count[d];
        b.start[d] = 0;
    }
    return b;
}

void lz_tile_pack(const lz_sharding *s, const lz_type *t, int64_t partition, const void *part,
                  void *dense)
{
    box b = dense_box(s, t, partition);
    const joining j = {LZ_OP_NONE, t->dtype};
    int outer;
    size_t run = run_bytes(&b, &outer);
    if (!b.empty)
        (void)each_run(&b, dense, (char *)(uintptr_t)part, run, outer, &j);
}

void lz_tile_unpack(const lz_sharding *s, const lz_type *t, int64_t partition, const void *dense,
                    void *part)
{
    box b = dense_box(s, t, partition);
    size_t nbytes = b.elem;
    for (int d = 0; d < b.rank; d++)
        nbytes *= (size_t)b.part[d];
    memset(part, 0, nbytes);
    int outer;
    size_t run = run_bytes(&b, &outer);
    if (!b.empty)
        (void)each_run(&b, (char *)(uintptr_t)dense, part, run, outer, NULL);
}

int64_t lz_tile_first(const lz_sharding *s, int64_t partition)
{
    uint32_t used = lz_sharding_used(s);
    int64_t p = partition;
    for (int k = 0; k < s->mesh->nfactor; k++)
        if (!(used >> k & 1))
            p -= lz_mesh_coordinate(s->mesh, p, k) * s->mesh->factors[k].stride;
    return p;
}

bool lz_tile_is_copy(const lz_sharding *s, int64_t partition)
{
    return lz_tile_first(s, partition) != partition;
}
