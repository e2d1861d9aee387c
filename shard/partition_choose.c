/* partition_choose.c - which axes each factor of an operation is spread over. The candidates are
 * what its operands and results have or should have, alone and together; the one that sends the
 * fewest bytes is taken, of several the one with the least to compute. See partition.h. */
#include "shard/partition.h"
#include "shard/reshard.h"
#include <string.h>

enum { SEEDS = 10 };

typedef struct seed {
    uint32_t tensor;
    const lz_sharding *s;
} seed;

typedef struct choice {
    lz_axis_list *axes;
    double cost, work;
} choice;

typedef struct chooser {
    lz_part_op *o;
    seed seeds[SEEDS];
    int nseed;
    choice best, trial;
    lz_axis_list *kept;
    bool any, placed; /* placed: o has the placements of the best */
} chooser;

static uint32_t bit(int axis)
{
    return UINT32_C(1) << axis;
}

/* ---- factors and tensors ---- */

static uint32_t used_by(const lz_part_op *o, const lz_axis_list *axes)
{
    uint32_t m = 0;
    for (uint32_t f = 0; f < o->r->nfactor; f++)
        m |= lz_axis_list_mask(&axes[f]);
    return m;
}

/* The axes of a dimension go to its factors, major to minor: to one of several as many as divide
 * it, and to the next only what is left when it is full. */
static void project_dim(const lz_part_op *o, lz_axis_list *axes, const lz_rule_dim *dim,
                        const lz_axis_list *list, uint32_t *used)
{
    const lz_mesh *m = o->p->l.mesh;
    int i = 0;
    for (int k = 0; k < dim->n && i < list->n; k++) {
        int64_t n = 1, size = o->r->factors[dim->at[k]].size;
        lz_axis_list got = {0};
        for (; i < list->n; i++) {
            int64_t s = m->factors[list->at[i]].size;
            if (dim->n > 1 && size % (n * s))
                break;
            if (*used & bit(list->at[i]))
                return;
            lz_axis_list_push(&got, list->at[i]);
            n *= s;
        }
        if (axes[dim->at[k]].n == 0 && got.n && o->may[dim->at[k]]) {
            axes[dim->at[k]] = got;
            *used |= lz_axis_list_mask(&got);
        }
        if (n != size)
            return;
    }
}

void lz_part_project(const lz_part_op *o, lz_axis_list *axes, uint32_t tensor, const lz_sharding *s)
{
    uint32_t used = used_by(o, axes);
    const lz_rule_tensor *t = &o->r->tensors[tensor];
    for (int d = 0; d < t->rank && d < s->rank; d++)
        project_dim(o, axes, &t->dims[d], &s->dims[d], &used);
}

static void project(const lz_part_op *o, lz_axis_list *axes, const seed *s)
{
    lz_part_project(o, axes, s->tensor, s->s);
}

/* A dimension of several factors is one run of elements on each device only if all but the last
 * factor that is spread are spread wholly. */
static bool clear_broken(const lz_part_op *o, lz_axis_list *axes, const lz_rule_dim *dim)
{
    bool full = true, changed = false;
    for (int k = 0; k < dim->n && dim->n > 1; k++) {
        lz_axis_list *a = &axes[dim->at[k]];
        int64_t n = lz_axis_list_size(o->p->l.mesh, a), size = o->r->factors[dim->at[k]].size;
        if (a->n && (!full || size % n)) {
            a->n = 0;
            n = 1;
            changed = true;
        }
        full = full && n == size;
    }
    return changed;
}

bool lz_part_clear_broken(const lz_part_op *o, lz_axis_list *axes)
{
    bool any = false;
    for (bool again = true; again; any |= again) {
        again = false;
        for (uint32_t t = 0; t < o->r->nopnd + o->r->nresult; t++)
            for (int d = 0; d < o->r->tensors[t].rank; d++)
                again |= clear_broken(o, axes, &o->r->tensors[t].dims[d]);
    }
    return any;
}

const lz_sharding *lz_part_place(const lz_part_op *o, const lz_axis_list *axes, uint32_t t,
                                 uint32_t unreduced)
{
    lz_sharding s;
    const lz_rule_tensor *rt = &o->r->tensors[t];
    lz_sharding_init(&s, o->p->l.mesh, rt->rank, false);
    s.manual = o->p->manual;
    s.unreduced = unreduced;
    s.reduction = unreduced ? o->reduction : LZ_OP_NONE;
    for (int d = 0; d < rt->rank; d++)
        for (int k = 0; k < rt->dims[d].n; k++)
            for (int i = 0; i < axes[rt->dims[d].at[k]].n; i++)
                lz_axis_list_push(&s.dims[d], axes[rt->dims[d].at[k]].at[i]);
    return lz_sharding_get(&s);
}

/* ---- what a choice costs ---- */

static double elements(const lz_type *t, const lz_sharding *s)
{
    lz_shape local;
    double n = 1;
    lz_sharding_local_shape(s, &t->shape, &local);
    for (int d = 0; d < local.rank; d++)
        n *= (double)local.dims[d];
    return n;
}

uint32_t lz_part_sums(lz_part_op *o, const lz_axis_list *axes)
{
    uint32_t m = 0;
    o->reduction = LZ_OP_NONE;
    for (uint32_t f = 0; f < o->r->nfactor; f++)
        if (o->r->factors[f].kind == LZ_FACTOR_REDUCE && axes[f].n) {
            m |= lz_axis_list_mask(&axes[f]);
            o->reduction = o->r->factors[f].reduction;
        }
    return m;
}

/* Placements of all tensors. */
static lz_status place_all(lz_part_op *o, const lz_axis_list *axes)
{
    const lz_sharding *plain = lz_part_place(o, axes, o->r->nopnd, 0);
    uint32_t mask, carried, used = used_by(o, axes);
    if (!plain)
        return lz_error_get()->status;
    o->summed = lz_part_sums(o, axes);
    double bytes =
        elements(o->sig->result[0], plain) * (double)lz_dtype_size(o->sig->result[0]->dtype);
    carried = lz_part_carries(o, used, (int64_t)bytes, &mask, &o->reduction);
    o->unreduced = carried | o->summed;
    for (uint32_t t = 0; t < o->r->nopnd + o->r->nresult; t++) {
        uint32_t parts = t >= o->r->nopnd ? o->unreduced : t < 32 && mask >> t & 1 ? carried : 0;
        o->at[t] = lz_part_place(o, axes, t, parts);
        if (!o->at[t])
            return lz_error_get()->status;
    }
    return LZ_OK;
}

static lz_status evaluate(chooser *c, choice *x)
{
    lz_part_op *o = c->o;
    x->work = 0;
    LZ_TRY(place_all(o, x->axes));
    x->cost = lz_part_halo_cost(o, x->axes);
    for (uint32_t k = 0; k < o->r->nopnd; k++) {
        x->cost += lz_part_cost(o->p, o->opnd[k], o->at[k]);
        x->work += elements(o->sig->opnd[k], o->at[k]);
    }
    for (uint32_t k = 0; k < o->r->nresult; k++) {
        const lz_sharding *at = o->at[o->r->nopnd + k];
        const lz_sharding *want = o->want[k] ? o->want[k] : lz_sharding_reduced(at);
        if (!want)
            return lz_error_get()->status;
        x->cost += lz_reshard_cost(o->sig->result[k], at, want);
        x->work += elements(o->sig->result[k], at);
    }
    return LZ_OK;
}

static bool same_axes(const chooser *c, const lz_axis_list *a, const lz_axis_list *b)
{
    for (uint32_t f = 0; f < c->o->r->nfactor; f++)
        if (!lz_axis_list_eq(&a[f], &b[f]))
            return false;
    return true;
}

static bool better(const choice *a, const choice *b)
{
    double eps = 1e-9 * (a->cost + b->cost + 1);
    return a->cost < b->cost - eps || (a->cost < b->cost + eps && a->work < b->work);
}

/* The trial is the best so far, or is forgotten. */
static lz_status consider(chooser *c)
{
    (void)lz_part_clear_broken(c->o, c->trial.axes);
    if (c->any && same_axes(c, c->trial.axes, c->best.axes))
        return LZ_OK;
    LZ_TRY(evaluate(c, &c->trial));
    c->placed = !c->any || better(&c->trial, &c->best);
    if (c->placed) {
        choice t = c->best;
        c->best = c->trial;
        c->trial = t;
        c->any = true;
    }
    return LZ_OK;
}

static void clear(chooser *c)
{
    memset(c->trial.axes, 0, (c->o->r->nfactor + 1) * sizeof *c->trial.axes);
}

/* ---- candidates ---- */

static void add_seed(chooser *c, uint32_t tensor, const lz_sharding *s)
{
    for (int i = 0; i < c->nseed; i++)
        if (c->seeds[i].s == s && c->seeds[i].tensor == tensor)
            return;
    if (s && lz_sharding_dims_mask(s) && c->nseed < SEEDS)
        c->seeds[c->nseed++] = (seed){tensor, s};
}

static void find_seeds(chooser *c)
{
    lz_part_op *o = c->o;
    for (uint32_t k = 0; k < o->r->nresult; k++)
        add_seed(c, o->r->nopnd + k, o->want[k]);
    for (uint32_t k = 0; k < o->r->nopnd; k++)
        add_seed(c, k, lz_part_now(o->p, o->opnd[k]));
    for (uint32_t k = 0; k < o->r->nopnd; k++)
        add_seed(c, k, lz_part_at(o->p, o->opnd[k]));
}

/* The candidate without the factors of a kind that it spreads, if there are any. */
static lz_status try_without(chooser *c, lz_factor_kind kind, const lz_axis_list *axes)
{
    const lz_rule *r = c->o->r;
    bool any = false;
    memcpy(c->trial.axes, axes, r->nfactor * sizeof *axes);
    for (uint32_t f = 0; f < r->nfactor; f++)
        if (r->factors[f].kind == kind && axes[f].n) {
            c->trial.axes[f].n = 0;
            any = true;
        }
    return any ? consider(c) : LZ_OK;
}

/* A seed with all others, as far as they go together; by itself; with one other. */
static lz_status try_seeds(chooser *c)
{
    for (int i = 0; i < c->nseed; i++) {
        clear(c);
        project(c->o, c->trial.axes, &c->seeds[i]);
        for (int k = 0; k < c->nseed; k++)
            project(c->o, c->trial.axes, &c->seeds[k]);
        memcpy(c->kept, c->trial.axes, c->o->r->nfactor * sizeof *c->kept);
        LZ_TRY(consider(c));
        if (c->any && c->best.cost == 0)
            return LZ_OK;
        LZ_TRY(try_without(c, LZ_FACTOR_PERMUTE, c->kept));
        LZ_TRY(try_without(c, LZ_FACTOR_REDUCE, c->kept));
    }
    for (int i = 0; i < c->nseed; i++)
        for (int k = i; k < c->nseed; k++) {
            clear(c);
            project(c->o, c->trial.axes, &c->seeds[i]);
            project(c->o, c->trial.axes, &c->seeds[k]);
            LZ_TRY(consider(c));
        }
    clear(c);
    return consider(c);
}

/* Axes that what an operand has now loses, moved to another factor of it: an all_to_all instead of
 * a gather. */
static lz_status try_moves(chooser *c, uint32_t k)
{
    const lz_part_op *o = c->o;
    const lz_sharding *now = lz_part_now(o->p, o->opnd[k]);
    const lz_rule_tensor *t = &o->r->tensors[k];
    for (int d = 0; d < t->rank && now; d++) {
        uint32_t lost = lz_sharding_dims_mask(now) & ~used_by(o, c->best.axes);
        if (t->dims[d].n != 1 || !o->may[t->dims[d].at[0]])
            continue;
        const lz_rule_factor *f = &o->r->factors[t->dims[d].at[0]];
        if (f->kind != LZ_FACTOR_PASS)
            continue;
        memcpy(c->trial.axes, c->best.axes, o->r->nfactor * sizeof *c->trial.axes);
        lz_axis_list *a = &c->trial.axes[t->dims[d].at[0]];
        for (int axis = 0; axis < o->p->l.mesh->nfactor; axis++) {
            lz_axis_list more = *a;
            if (!(lost & bit(axis)))
                continue;
            lz_axis_list_push(&more, axis);
            if (f->size % lz_axis_list_size(o->p->l.mesh, &more) == 0)
                *a = more;
        }
        LZ_TRY(consider(c));
    }
    return LZ_OK;
}

lz_status lz_part_choose(lz_part_op *o)
{
    chooser c = {.o = o};
    size_t n = ((size_t)o->r->nfactor + 1) * sizeof *o->axes;
    c.best.axes = lz_arena_alloc(o->p->scratch, n);
    c.trial.axes = lz_arena_alloc(o->p->scratch, n);
    c.kept = lz_arena_alloc(o->p->scratch, n);
    if (!c.best.axes || !c.trial.axes || !c.kept)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", o->p->f->name);
    LZ_TRY(lz_part_find_factors(o));
    find_seeds(&c);
    LZ_TRY(try_seeds(&c));
    for (uint32_t k = 0; k < o->r->nopnd && c.best.cost > 0; k++)
        LZ_TRY(try_moves(&c, k));
    o->axes = c.best.axes;
    return c.placed ? LZ_OK : place_all(o, o->axes);
}
