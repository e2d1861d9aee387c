/* tiles.c - see tiles.h. */
#include "support/tiles.h"
#include "ir/eval/eval.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static size_t elem_size(const lz_type *t)
{
    return t->nelem ? t->nbytes / (size_t)t->nelem : 0;
}

/* Where element idx of a partition's tile is in the whole; -1: padding. */
static int64_t whole_index(const lz_sharding *s, const lz_type *whole, const lz_type *local,
                           int64_t partition, const int64_t *idx)
{
    int64_t at = 0;
    for (int d = 0; d < whole->shape.rank; d++) {
        int64_t tile = lz_axis_list_tile(s->mesh, &s->dims[d], partition);
        int64_t i = tile * local->shape.dims[d] + idx[d];
        if (i >= whole->shape.dims[d])
            return -1;
        at = at * whole->shape.dims[d] + i;
    }
    return at;
}

/* The number of the partition along the unreduced axes. */
static int64_t part_of(const lz_sharding *s, int64_t partition)
{
    int64_t at = 0;
    for (int k = 0; k < s->mesh->nfactor; k++)
        if (s->unreduced >> k & 1)
            at = at * s->mesh->factors[k].size + lz_mesh_coordinate(s->mesh, partition, k);
    return at;
}

/* Part k of n of element i. */
static void set_part(lz_literal *l, int64_t at, const lz_literal *whole, int64_t i,
                     const lz_sharding *s, int64_t k)
{
    lz_dtype d = whole->type->dtype;
    int64_t n = lz_mesh_mask_size(s->mesh, s->unreduced);
    double v = lz_elem_get_f64(d, whole->data, i);
    if (s->reduction == LZ_OP_ADD)
        v = k ? (double)k : v - (double)(n * (n - 1) / 2);
    else
        v -= (double)(s->reduction == LZ_OP_MAXIMUM ? k : -k);
    lz_elem_set_f64(d, l->data, at, v);
}

lz_literal *lz_test_tile(const lz_literal *whole, const lz_sharding *s, int64_t partition)
{
    const lz_type *t = lz_sharding_local(s, whole->type);
    lz_literal *l = t ? lz_literal_new(t) : NULL;
    size_t size = elem_size(whole->type);
    if (!l)
        return NULL;
    lz_dtype d = whole->type->dtype;
    memset(l->data, d == LZ_BOOL ? 1 : lz_dtype_is_int(d) ? 0x7f : 0xff, l->nbytes);
    if (!whole->type->nelem || !t->nelem)
        return l;
    int64_t at = 0, part = part_of(s, partition);
    for (lz_ref_walk w = lz_ref_walk_of(t->shape.rank, t->shape.dims); w.more;
         lz_ref_walk_next(&w), at++) {
        int64_t i = whole_index(s, whole->type, t, partition, w.idx);
        if (i < 0)
            continue;
        memcpy((char *)l->data + (size_t)at * size, (const char *)whole->data + (size_t)i * size,
               size);
        if (s->unreduced)
            set_part(l, at, whole, i, s, part);
    }
    return l;
}

/* Element `at` of a part becomes, or is combined with, element i of the whole. False: it differs
 * from what another partition had. */
static bool join_element(lz_literal *whole, int64_t i, const lz_literal *part, int64_t at,
                         const lz_sharding *s, bool first)
{
    lz_dtype d = whole->type->dtype;
    size_t size = elem_size(whole->type);
    char *to = (char *)whole->data + (size_t)i * size;
    const char *from = (const char *)part->data + (size_t)at * size;
    if (first) {
        memcpy(to, from, size);
    } else if (!s->unreduced) {
        return memcmp(to, from, size) == 0;
    } else {
        double a = lz_elem_get_f64(d, whole->data, i), b = lz_elem_get_f64(d, part->data, at);
        bool add = s->reduction == LZ_OP_ADD, larger = s->reduction == LZ_OP_MAXIMUM;
        lz_elem_set_f64(d, whole->data, i, add ? a + b : (larger ? a > b : a < b) ? a : b);
    }
    return true;
}

/* Whether it is the first of those that have the same tile and, where not unreduced, the same
 * value: of unreduced ones one for each part counts. */
static bool counts(const lz_sharding *s, int64_t partition)
{
    uint32_t used = lz_sharding_used(s);
    for (int k = 0; k < s->mesh->nfactor; k++)
        if (!(used >> k & 1) && lz_mesh_coordinate(s->mesh, partition, k))
            return false;
    return true;
}

lz_literal *lz_test_join(lz_literal *const *parts, const lz_sharding *s, const lz_type *type,
                         char *msg, size_t nmsg)
{
    const lz_type *t = lz_sharding_local(s, type);
    lz_literal *l = lz_literal_new(type);
    uint8_t *seen = l ? lz_calloc((size_t)type->nelem + 1, 1) : NULL;
    bool ok = t && seen;
    for (int64_t p = 0; p < s->mesh->ndevice && ok && t->nelem; p++) {
        int64_t at = 0;
        for (lz_ref_walk w = lz_ref_walk_of(t->shape.rank, t->shape.dims); w.more && ok;
             lz_ref_walk_next(&w), at++) {
            int64_t i = whole_index(s, type, t, p, w.idx);
            if (i < 0 || (s->unreduced && !counts(s, p)))
                continue;
            ok = join_element(l, i, parts[p], at, s, !seen[i]);
            seen[i] = 1;
            if (!ok)
                snprintf(msg, nmsg, "partition %" PRId64 " has another element %" PRId64, p, i);
        }
    }
    for (int64_t i = 0; i < type->nelem && ok; i++)
        if (!seen[i]) {
            snprintf(msg, nmsg, "no partition has element %" PRId64, i);
            ok = false;
        }
    lz_free(seen);
    if (!ok)
        lz_literal_release(l);
    return ok ? l : NULL;
}

const lz_sharding *lz_test_placement(lz_rnd *r, const lz_mesh *mesh, const lz_shape *shape,
                                     bool uneven)
{
    lz_sharding s;
    int order[LZ_MESH_FACTORS];
    lz_sharding_init(&s, mesh, shape->rank, false);
    lz_rnd_shuffle(r, mesh->nfactor, order);
    for (int k = 0; k < mesh->nfactor; k++) {
        int d = (int)lz_rnd_range(r, 0, shape->rank);
        if (d == shape->rank)
            continue;
        lz_axis_list a = s.dims[d];
        lz_axis_list_push(&a, order[k]);
        if (uneven || shape->dims[d] % lz_axis_list_size(mesh, &a) == 0)
            s.dims[d] = a;
    }
    return lz_sharding_get(&s);
}
