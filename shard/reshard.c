/* reshard.c - the steps from one placement to another. See reshard.h. */
#include "shard/reshard.h"
#include <string.h>

typedef struct plan {
    lz_reshard *out;
    const lz_mesh *mesh;
    const lz_shape *shape; /* global */
    lz_sharding cur, to;
} plan;

static uint32_t bit(int axis)
{
    return UINT32_C(1) << axis;
}

static int64_t axis_size(const plan *p, int axis)
{
    return p->mesh->factors[axis].size;
}

/* ---- tiles in tiles ---- */

/* Whether each of `outer` tiles is made of `inner` whole ones, so that going from one to the other
 * is local: always where the devices divide the dimension. */
static bool nests(int64_t extent, int64_t outer, int64_t inner)
{
    return extent <= 1 || outer == 1 || inner == 1 ||
           lz_tile_extent(extent, outer) == inner * lz_tile_extent(extent, outer * inner);
}

/* Whether the last k axes of a dimension's list may come or go by themselves. */
static bool suffix_nests(const plan *p, int dim, const lz_axis_list *a, int k)
{
    lz_axis_list outer = *a;
    outer.n = (uint8_t)(a->n - k);
    int64_t n = lz_axis_list_size(p->mesh, &outer), all = lz_axis_list_size(p->mesh, a);
    return nests(p->shape->dims[dim], n, all / n);
}

static void add_step(plan *p, lz_reshard_kind kind, int dim, int to_dim, uint32_t axes,
                     const lz_sharding *after)
{
    if (p->out->n < LZ_RESHARD_STEPS)
        p->out->step[p->out->n++] = (lz_reshard_step){kind, dim, to_dim, axes, p->cur, *after};
    p->cur = *after;
}

/* ---- slices ---- */

/* The axes that dimension d may get at its end, of those in `may`: the longest run of wanted ones
 * in order, so that tiles nest. 0 when what it has now is not what the wanted list begins with. */
static int run_in_order(const plan *p, int d, uint32_t may, lz_axis_list *grown)
{
    const lz_axis_list *have = &p->cur.dims[d], *want = &p->to.dims[d];
    int best = 0;
    lz_axis_list a = *have;
    if (lz_axis_list_common(have, want) != have->n)
        return 0;
    for (int i = have->n; i < want->n && may & bit(want->at[i]); i++) {
        lz_axis_list_push(&a, want->at[i]);
        if (suffix_nests(p, d, &a, a.n - have->n)) {
            best = a.n - have->n;
            *grown = a;
        }
    }
    return best;
}

/* Wanted axes that are free, where what is before them is not in place yet: the permute that must
 * come puts them right, and is of less then. */
static void slice_out_of_order(const plan *p, lz_sharding *next)
{
    for (int d = 0; d < next->rank; d++) {
        lz_axis_list *a = &next->dims[d];
        const lz_axis_list *want = &p->to.dims[d];
        int64_t most = lz_axis_list_size(p->mesh, want);
        if (lz_axis_list_common(a, want) == a->n)
            continue;
        for (int i = 0; i < want->n; i++) {
            lz_axis_list grown = *a;
            int axis = want->at[i];
            if (lz_sharding_used(next) & bit(axis))
                continue;
            lz_axis_list_push(&grown, axis);
            if (lz_axis_list_size(p->mesh, &grown) <= most && suffix_nests(p, d, &grown, 1))
                *a = grown;
        }
    }
}

/* The axis before number i of what dimension e wants is at another dimension, from where both can
 * move together: that dimension, or -1. */
static int travels_with(const plan *p, const lz_sharding *s, int e, int i)
{
    for (int d = 0; d < s->rank && i > 0; d++)
        if (d != e && lz_axis_list_mask(&s->dims[d]) & bit(p->to.dims[e].at[i - 1]))
            return d;
    return -1;
}

/* Wanted axes that are free go where they can move from with what they come behind. */
static void slice_elsewhere(const plan *p, lz_sharding *next)
{
    for (int e = 0; e < next->rank; e++)
        for (int i = 1; i < p->to.dims[e].n; i++) {
            int axis = p->to.dims[e].at[i], d = travels_with(p, next, e, i);
            if (d < 0 || lz_sharding_used(next) & bit(axis))
                continue;
            lz_axis_list_push(&next->dims[d], axis);
            if (p->shape->dims[d] % lz_axis_list_size(p->mesh, &next->dims[d]))
                next->dims[d].n--;
        }
}

static void slice(plan *p)
{
    lz_sharding next = p->cur;
    for (int d = 0; d < next.rank; d++) {
        lz_axis_list grown;
        if (run_in_order(p, d, ~lz_sharding_used(&next), &grown))
            next.dims[d] = grown;
    }
    slice_out_of_order(p, &next);
    slice_elsewhere(p, &next);
    if (lz_sharding_dims_mask(&next) != lz_sharding_dims_mask(&p->cur))
        add_step(p, LZ_RESHARD_SLICE, -1, -1, 0, &next);
}

/* ---- sums ---- */

static bool fits_split(int rank, int ndims)
{
    return ndims <= 1 || rank + ndims <= LZ_MAX_RANK;
}

/* Sums are formed where they are not wanted: scattered to the dimensions that want them. */
static void reduce(plan *p)
{
    bool other = p->to.unreduced && p->to.reduction != p->cur.reduction;
    uint32_t sum = p->cur.unreduced & ~(other ? 0 : p->to.unreduced);
    lz_sharding next = p->cur;
    int ndims = 0, last = -1;
    uint32_t scattered = 0;
    for (int d = 0; d < next.rank; d++) {
        lz_axis_list grown;
        if (!run_in_order(p, d, sum & ~scattered, &grown) || !fits_split(next.rank, ndims + 1))
            continue;
        scattered |= lz_axis_list_mask(&grown) & ~lz_axis_list_mask(&next.dims[d]);
        next.dims[d] = grown;
        ndims++;
        last = d;
    }
    if (scattered) {
        next.unreduced &= ~scattered;
        if (!next.unreduced)
            next.reduction = LZ_OP_NONE;
        add_step(p, LZ_RESHARD_REDUCE_SCATTER, last, -1, scattered, &next);
    }
    if (sum & ~scattered) {
        next.unreduced &= ~sum;
        if (!next.unreduced)
            next.reduction = LZ_OP_NONE;
        add_step(p, LZ_RESHARD_ALL_REDUCE, -1, -1, sum & ~scattered, &next);
    }
}

/* ---- changing places ---- */

static bool dims_done(const plan *p)
{
    return lz_sharding_same_dims(&p->cur, &p->to);
}

/* The last axes of some dimension are the next that another one wants. */
static bool all_to_all(plan *p)
{
    for (int e = 0; e < p->cur.rank; e++)
        for (int d = 0; d < p->cur.rank; d++) {
            const lz_axis_list *from = &p->cur.dims[d], *want = &p->to.dims[e];
            int have = p->cur.dims[e].n, keep = lz_axis_list_common(from, &p->to.dims[d]);
            if (d == e || lz_axis_list_common(&p->cur.dims[e], want) != have)
                continue;
            for (int k = from->n - keep; k > 0; k--) { /* the longest run first */
                lz_sharding next = p->cur;
                next.dims[d].n = (uint8_t)(from->n - k);
                for (int i = 0; i < k; i++)
                    lz_axis_list_push(&next.dims[e], from->at[from->n - k + i]);
                if (next.dims[e].n > want->n ||
                    lz_axis_list_common(&next.dims[e], want) != next.dims[e].n ||
                    !suffix_nests(p, d, from, k) || !suffix_nests(p, e, &next.dims[e], k))
                    continue;
                add_step(p, LZ_RESHARD_ALL_TO_ALL, d, e, 0, &next);
                return true;
            }
        }
    return false;
}

/* Dimensions that want each other's axes, of other sizes: the last axis of one goes behind those of
 * the other that wants it, where the next permute finds all of them. */
static bool swap(plan *p)
{
    for (int d = 0; d < p->cur.rank; d++)
        for (int e = 0; e < p->cur.rank; e++) {
            lz_sharding next = p->cur;
            lz_axis_list *from = &next.dims[d], *to = &next.dims[e];
            if (d == e || !from->n || !to->n || lz_axis_list_eq(from, &p->to.dims[d]) ||
                !(lz_axis_list_mask(&p->to.dims[e]) & bit(from->at[from->n - 1])))
                continue;
            lz_axis_list_push(to, from->at[--from->n]);
            if (p->shape->dims[e] % lz_axis_list_size(p->mesh, to) ||
                p->shape->dims[d] % lz_axis_list_size(p->mesh, &p->cur.dims[d]))
                continue;
            add_step(p, LZ_RESHARD_ALL_TO_ALL, d, e, 0, &next);
            return true;
        }
    return false;
}

/* An axis of that size of the list that may be used; -1. */
static int take(const plan *p, const lz_axis_list *of, uint32_t may, int64_t size)
{
    for (int i = 0; i < of->n; i++)
        if (may & bit(of->at[i]) && axis_size(p, of->at[i]) == size)
            return of->at[i];
    return -1;
}

/* Room left in a dimension, by size of axis: what it had and has not been given again. */
typedef struct room {
    lz_axis_list left; /* axes whose places are free */
} room;

static bool use_room(const plan *p, room *r, int64_t size)
{
    for (int i = 0; i < r->left.n; i++)
        if (axis_size(p, r->left.at[i]) == size) {
            memmove(&r->left.at[i], &r->left.at[i + 1], (size_t)(r->left.n - i - 1));
            r->left.n--;
            return true;
        }
    return false;
}

/* What one permute can reach that is nearest to what is wanted: every dimension keeps its number of
 * tiles. First what the dimension itself wants, from the front on; behind it what will be gathered,
 * and at the end what other dimensions want. */
static void permuted(const plan *p, lz_sharding *next)
{
    room r[LZ_MAX_RANK];
    uint32_t free = lz_mesh_all(p->mesh) & ~p->cur.unreduced & ~p->cur.manual, wanted;
    lz_axis_list moves[LZ_MAX_RANK] = {{0}};
    for (int d = 0; d < next->rank; d++) {
        r[d].left = p->cur.dims[d];
        next->dims[d].n = 0;
        const lz_axis_list *want = &p->to.dims[d];
        for (int i = 0; i < want->n && use_room(p, &r[d], axis_size(p, want->at[i])); i++) {
            lz_axis_list_push(&next->dims[d], want->at[i]);
            free &= ~bit(want->at[i]);
        }
    }
    wanted = lz_sharding_dims_mask(&p->to) & free;
    for (int e = 0; e < next->rank; e++)
        for (int i = next->dims[e].n; i < p->to.dims[e].n; i++) {
            int axis = p->to.dims[e].at[i];
            for (int d = 0; d < next->rank && free & wanted & bit(axis); d++)
                if (use_room(p, &r[d], axis_size(p, axis))) {
                    lz_axis_list_push(&moves[d], axis);
                    free &= ~bit(axis);
                }
        }
    const lz_axis_list any = lz_axis_list_of(lz_mesh_all(p->mesh));
    for (int d = 0; d < next->rank; d++) {
        for (int i = 0; i < r[d].left.n; i++) {
            int64_t size = axis_size(p, r[d].left.at[i]);
            int axis = take(p, &p->cur.dims[d], free, size);
            axis = axis < 0 ? take(p, &any, free & lz_sharding_dims_mask(&p->cur), size) : axis;
            axis = axis < 0 ? take(p, &any, free, size) : axis;
            lz_axis_list_push(&next->dims[d], axis);
            free &= ~bit(axis);
        }
        for (int i = 0; i < moves[d].n; i++)
            lz_axis_list_push(&next->dims[d], moves[d].at[i]);
    }
}

/* Whether axes that stay are not where they are wanted, or free ones could take the place of ones
 * that are not wanted. */
static bool misplaced(const plan *p)
{
    uint32_t now = lz_sharding_dims_mask(&p->cur), want = lz_sharding_dims_mask(&p->to);
    for (int d = 0; d < p->cur.rank; d++) {
        const lz_axis_list *a = &p->cur.dims[d];
        for (int i = lz_axis_list_common(a, &p->to.dims[d]); i < a->n; i++) {
            if (want & bit(a->at[i]))
                return true;
            for (int k = 0; k < p->to.dims[d].n; k++)
                if (!(now & bit(p->to.dims[d].at[k])) &&
                    axis_size(p, p->to.dims[d].at[k]) == axis_size(p, a->at[i]))
                    return true;
        }
    }
    return false;
}

static bool permute(plan *p)
{
    lz_sharding next = p->cur;
    if (!misplaced(p))
        return false;
    permuted(p, &next);
    if (lz_sharding_same_dims(&next, &p->cur))
        return false;
    add_step(p, LZ_RESHARD_PERMUTE, -1, -1, 0, &next);
    return true;
}

/* Every dimension has as many tiles as it wants: one permute and all is done. */
static bool permute_all(plan *p)
{
    lz_sharding next = p->cur;
    for (int d = 0; d < p->cur.rank; d++) {
        if (lz_axis_list_size(p->mesh, &p->cur.dims[d]) !=
            lz_axis_list_size(p->mesh, &p->to.dims[d]))
            return false;
        next.dims[d] = p->to.dims[d];
    }
    if (lz_sharding_dims_mask(&next) & p->cur.unreduced)
        return false;
    add_step(p, LZ_RESHARD_PERMUTE, -1, -1, 0, &next);
    return true;
}

/* ---- gathers ---- */

/* How many of the last axes of dimension d are to be gathered. */
static int gathered(const plan *p, int d, bool all)
{
    const lz_axis_list *a = &p->cur.dims[d];
    uint32_t want = lz_sharding_dims_mask(&p->to);
    int k = 0, keep = lz_axis_list_common(a, &p->to.dims[d]);
    if (all)
        return lz_axis_list_eq(a, &p->to.dims[d]) ? 0 : a->n;
    while (k < a->n - keep && !(want & bit(a->at[a->n - k - 1])))
        k++;
    if (k && !suffix_nests(p, d, a, k))
        k = a->n;
    return k;
}

static bool gather(plan *p, bool all)
{
    lz_sharding next = p->cur;
    int ndims = 0, last = -1;
    for (int d = 0; d < next.rank; d++) {
        int k = gathered(p, d, all);
        if (!k || !fits_split(next.rank, ndims + 1))
            continue;
        next.dims[d].n = (uint8_t)(next.dims[d].n - k);
        ndims++;
        last = d;
    }
    if (ndims)
        add_step(p, LZ_RESHARD_ALL_GATHER, last, -1, 0, &next);
    return ndims > 0;
}

/* ---- the whole ---- */

void lz_reshard_plan(const lz_type *type, const lz_sharding *from, const lz_sharding *to,
                     lz_reshard *out)
{
    plan p = {out, to->mesh, &type->shape, *from, *to};
    out->type = type;
    out->n = 0;
    if (from == to)
        return;
    slice(&p);
    reduce(&p);
    for (int round = 0; round < 8 && !dims_done(&p); round++) {
        slice(&p);
        if (dims_done(&p) || permute_all(&p))
            break;
        if (!all_to_all(&p) && !permute(&p) && !gather(&p, false) && !swap(&p))
            break;
    }
    while (!dims_done(&p) && gather(&p, true)) /* tiles do not nest: whole, then cut anew */
        ;
    slice(&p);
    uint32_t parts = to->unreduced & ~p.cur.unreduced;
    if (parts) {
        lz_sharding next = p.cur;
        next.unreduced |= parts;
        next.reduction = to->reduction;
        add_step(&p, LZ_RESHARD_UNREDUCE, -1, -1, parts, &next);
    }
}

static int64_t local_nelem(const lz_type *type, const lz_sharding *s)
{
    lz_shape local;
    int64_t n = 1;
    lz_sharding_local_shape(s, &type->shape, &local);
    for (int d = 0; d < local.rank; d++)
        n *= local.dims[d];
    return n;
}

double lz_reshard_step_bytes(const lz_type *type, const lz_reshard_step *s)
{
    double elem = type->nelem ? (double)type->nbytes / (double)type->nelem : 0;
    double from = elem * (double)local_nelem(type, &s->from),
           to = elem * (double)local_nelem(type, &s->to);
    double n = (double)lz_mesh_mask_size(s->from.mesh, s->axes);
    switch (s->kind) {
    case LZ_RESHARD_ALL_REDUCE:
        return 2 * (n - 1) / n * from;
    case LZ_RESHARD_REDUCE_SCATTER:
        return (n - 1) / n * from;
    case LZ_RESHARD_PERMUTE:
        return from;
    case LZ_RESHARD_ALL_TO_ALL:
        n = (double)lz_axis_list_size(s->from.mesh, &s->from.dims[s->dim]) /
            (double)lz_axis_list_size(s->from.mesh, &s->to.dims[s->dim]);
        return (n - 1) / n * from;
    case LZ_RESHARD_ALL_GATHER:
        n = (double)lz_mesh_mask_size(s->from.mesh, lz_sharding_dims_mask(&s->from) &
                                                        ~lz_sharding_dims_mask(&s->to));
        return (n - 1) / n * to;
    case LZ_RESHARD_SLICE:
    case LZ_RESHARD_UNREDUCE:
        break;
    }
    return 0;
}

double lz_reshard_cost(const lz_type *type, const lz_sharding *from, const lz_sharding *to)
{
    lz_reshard r;
    double sum = 0;
    if (from == to || !from || !to) /* there was no memory for one of them */
        return 0;
    lz_reshard_plan(type, from, to, &r);
    for (int i = 0; i < r.n; i++) {
        const lz_reshard_step *s = &r.step[i];
        if (s->kind != LZ_RESHARD_SLICE && s->kind != LZ_RESHARD_UNREDUCE)
            sum += LZ_RESHARD_LAUNCH + lz_reshard_step_bytes(type, s);
    }
    return sum;
}
