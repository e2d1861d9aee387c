/* reshard_build.c - the steps of a plan as operations of the local function. See reshard.h. */
#include "ir/attr.h"
#include "ir/func.h"
#include "shard/reshard.h"
#include <string.h>

typedef struct work {
    const lz_local *l;
    const lz_type *type; /* global */
    const lz_reshard_step *s;
} work;

/* The axes at the end of a dimension that only the longer list has. */
static lz_axis_list added(const lz_axis_list *less, const lz_axis_list *more)
{
    lz_axis_list a = {0};
    for (int i = less->n; i < more->n; i++)
        lz_axis_list_push(&a, more->at[i]);
    return a;
}

static int64_t tile(const work *w, const lz_sharding *s, int d)
{
    return lz_tile_extent(w->type->shape.dims[d], lz_axis_list_size(w->l->mesh, &s->dims[d]));
}

static lz_val build_slice(const work *w, lz_val v)
{
    for (int d = 0; d < w->s->to.rank; d++) {
        lz_axis_list a = added(&w->s->from.dims[d], &w->s->to.dims[d]);
        int64_t t = tile(w, &w->s->to, d), n = lz_axis_list_size(w->l->mesh, &a);
        if (!a.n)
            continue;
        v = lz_local_resize(w->l, v, d, t * n);
        v = lz_local_dynamic_slice(w->l, v, d, lz_local_offset(w->l, &a, t), t);
    }
    return v;
}

/* ---- several dimensions at once: their tiles' numbers as one dimension in front ---- */

typedef struct front {
    int rank, n; /* of the array without it; dimensions that are split */
    int dim[LZ_MAX_RANK];
    int64_t tiles[LZ_MAX_RANK], tile[LZ_MAX_RANK];
    lz_axis_list all;
} front;

static front front_of(const work *w, const lz_sharding *fewer, const lz_sharding *more)
{
    front f = {.rank = fewer->rank};
    for (int d = 0; d < fewer->rank; d++) {
        lz_axis_list a = added(&fewer->dims[d], &more->dims[d]);
        if (!a.n)
            continue;
        f.dim[f.n] = d;
        f.tiles[f.n] = lz_axis_list_size(w->l->mesh, &a);
        f.tile[f.n++] = tile(w, more, d);
        for (int i = 0; i < a.n; i++)
            lz_axis_list_push(&f.all, a.at[i]);
    }
    return f;
}

/* [tiles.., dims..] from or to [.., tiles, tile, ..]: where each dimension of the latter is in the
 * former, and its extents. */
static int interleaved(const front *f, const lz_shape *local, lz_ints *perm, lz_shape *split)
{
    int n = 0, k = 0;
    for (int d = 0; d < f->rank; d++) {
        if (k < f->n && f->dim[k] == d) {
            perm->v[n] = k;
            split->dims[n++] = f->tiles[k];
            split->dims[n] = f->tile[k];
            k++;
        } else {
            split->dims[n] = local->dims[d];
        }
        perm->v[n++] = f->n + d;
    }
    perm->n = split->rank = n;
    return n;
}

static lz_shape with_first(int64_t n, const lz_shape *s)
{
    lz_shape r = {s->rank + 1, {n}};
    memcpy(&r.dims[1], s->dims, (size_t)s->rank * sizeof *s->dims);
    return r;
}

static lz_shape shape_of(const work *w, lz_val v)
{
    return v == LZ_NOVAL ? (lz_shape){0} : lz_val_type(w->l->f, v)->shape;
}

static lz_val build_all_gather(const work *w, lz_val v)
{
    front f = front_of(w, &w->s->to, &w->s->from);
    lz_shape local = shape_of(w, v), split = {0}, whole = local;
    lz_ints perm = {0};
    if (f.n == 1) {
        v = lz_local_all_gather(w->l, v, f.dim[0], &f.all);
    } else {
        lz_shape one = with_first(1, &local), parts = {f.n + f.rank, {0}};
        v = lz_local_all_gather(w->l, lz_build_reshape(w->l->f, v, &one), 0, &f.all);
        for (int k = 0; k < f.n; k++) {
            parts.dims[k] = f.tiles[k];
            whole.dims[f.dim[k]] *= f.tiles[k];
        }
        memcpy(&parts.dims[f.n], local.dims, (size_t)f.rank * sizeof *local.dims);
        interleaved(&f, &local, &perm, &split);
        v = lz_build_transpose(w->l->f, lz_build_reshape(w->l->f, v, &parts), &perm);
        v = lz_build_reshape(w->l->f, v, &whole);
    }
    for (int k = 0; k < f.n; k++)
        v = lz_local_resize(w->l, v, f.dim[k], tile(w, &w->s->to, f.dim[k]));
    return v;
}

static lz_val build_reduce_scatter(const work *w, lz_val v)
{
    front f = front_of(w, &w->s->from, &w->s->to);
    lz_op combiner = w->s->from.reduction;
    for (int k = 0; k < f.n; k++)
        v = lz_local_resize(w->l, v, f.dim[k], f.tile[k] * f.tiles[k]);
    if (f.n == 1)
        return lz_local_reduce_scatter(w->l, v, f.dim[0], &f.all, combiner);
    lz_shape split = {0}, local = shape_of(w, v), merged;
    lz_ints perm = {0}, back = {0};
    int n = interleaved(&f, &local, &perm, &split);
    for (int i = 0; i < n; i++)
        back.v[perm.v[i]] = i;
    back.n = n;
    v = lz_build_transpose(w->l->f, lz_build_reshape(w->l->f, v, &split), &back);
    for (int k = 0; k < f.n; k++)
        local.dims[f.dim[k]] = f.tile[k];
    merged = with_first(lz_axis_list_size(w->l->mesh, &f.all), &local);
    v = lz_build_reshape(w->l->f, v, &merged);
    v = lz_local_reduce_scatter(w->l, v, 0, &f.all, combiner);
    return lz_build_reshape(w->l->f, v, &local);
}

static lz_val build_all_to_all(const work *w, lz_val v)
{
    int d = w->s->dim, e = w->s->to_dim;
    lz_axis_list a = added(&w->s->from.dims[e], &w->s->to.dims[e]);
    int64_t n = lz_axis_list_size(w->l->mesh, &a);
    v = lz_local_resize(w->l, v, e, n * tile(w, &w->s->to, e));
    v = lz_local_all_to_all(w->l, v, e, d, &a);
    return lz_local_resize(w->l, v, d, tile(w, &w->s->to, d));
}

/* ---- permutes ---- */

/* The number of what a partition has: its tile, and its part of sums. */
static int64_t content(const lz_sharding *s, int64_t partition)
{
    int64_t at = 0;
    for (int d = 0; d < s->rank; d++)
        at = at * lz_axis_list_size(s->mesh, &s->dims[d]) +
             lz_axis_list_tile(s->mesh, &s->dims[d], partition);
    for (int k = 0; k < s->mesh->nfactor; k++)
        if ((s->unreduced | s->manual) >> k & 1)
            at = at * s->mesh->factors[k].size + lz_mesh_coordinate(s->mesh, partition, k);
    return at;
}

/* Who sends to whom: whoever has what it needs keeps it; of the others the first that have it send
 * to the first that need it. first[c]: the first that has content c and has not sent it, next: the
 * one behind it; -1: none. */
static void find_sources(const lz_reshard_step *s, int64_t n, int64_t *source, int64_t *first,
                         int64_t *next)
{
    for (int64_t p = 0; p < n; p++)
        first[p] = -1;
    for (int64_t p = n; p-- > 0;) {
        int64_t c = content(&s->from, p);
        source[p] = c == content(&s->to, p) ? p : -1;
        if (source[p] == p)
            continue;
        next[p] = first[c];
        first[c] = p;
    }
    for (int64_t p = 0; p < n; p++) {
        int64_t c = content(&s->to, p);
        if (source[p] >= 0 || first[c] < 0)
            continue;
        source[p] = first[c];
        first[c] = next[first[c]];
    }
}

static lz_val build_permute(const work *w, lz_val v)
{
    int64_t n = w->l->mesh->ndevice, *source = lz_alloc(3 * (size_t)n * sizeof *source);
    if (!source) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a permutation of %d partitions", (int)n);
        return lz_func_failed(w->l->f);
    }
    find_sources(w->s, n, source, source + n, source + 2 * n);
    v = lz_local_permute(w->l, v, source);
    lz_free(source);
    return v;
}

static lz_val build_step(const work *w, lz_val v)
{
    lz_axis_list a = lz_axis_list_of(w->s->axes);
    switch (w->s->kind) {
    case LZ_RESHARD_SLICE:
        return build_slice(w, v);
    case LZ_RESHARD_ALL_REDUCE:
        return lz_local_all_reduce(w->l, v, &a, w->s->from.reduction);
    case LZ_RESHARD_REDUCE_SCATTER:
        return build_reduce_scatter(w, v);
    case LZ_RESHARD_PERMUTE:
        return build_permute(w, v);
    case LZ_RESHARD_ALL_TO_ALL:
        return build_all_to_all(w, v);
    case LZ_RESHARD_ALL_GATHER:
        return build_all_gather(w, v);
    case LZ_RESHARD_UNREDUCE:
        return lz_local_first_only(w->l, v, w->s->axes, w->s->to.reduction);
    }
    return v;
}

lz_val lz_reshard_build(const lz_local *l, lz_val v, const lz_type *type, const lz_sharding *from,
                        const lz_sharding *to)
{
    lz_reshard r;
    if (from == to)
        return v;
    if (!from || !to) /* there was no memory for one of them, which the function's status says */
        return LZ_NOVAL;
    lz_reshard_plan(type, from, to, &r);
    for (int i = 0; i < r.n && v != LZ_NOVAL; i++)
        v = build_step(&(work){l, type, &r.step[i]}, v);
    return v;
}
