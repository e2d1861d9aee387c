/* propagate_step.c - one visit of an edge: shardings of its nodes are read as axes of the rule's
 * factors, factors are extended, and nodes get what is new. See propagate.h.
 * A basic step extends a factor by what all tensors agree on and can take. An aggressive one lets
 * each tensor take what it can, of the candidates those first for which the fewest bytes would have
 * to move. */
#include "shard/propagate.h"
#include <string.h>

/* One factor of one dimension of one tensor. */
typedef struct slot {
    uint32_t tensor, node;
    int16_t dim;
    uint16_t factor;
    int32_t next; /* of the same factor; -1: none */
    bool closed;
    uint8_t had;    /* axes at the start of the visit */
    lz_axis_list a; /* axes of this factor */
} slot;

typedef struct visit {
    lz_prop *p;
    const lz_prop_edge *e;
    const lz_rule *r;
    const lz_prop_step *step;
    slot *slots;
    int32_t nslot;
    int32_t *first;          /* [nfactor] */
    lz_axis_list *wanted;    /* [nfactor] */
    uint64_t *weight;        /* [nfactor]: bytes of tensors that have what is wanted, operands
                                twice: what they are is known, a result can be scattered */
    uint64_t *cost;          /* [nfactor]: bytes to send until all tensors have it */
    uint32_t *present;       /* [nfactor]: axes that some tensor has there */
    uint16_t *order;         /* [nfactor] */
    uint32_t *used;          /* [tensor]: axes that are not to be had */
    uint32_t *once, *more;   /* [tensor]: axes of one of its factors, of several */
    const lz_sharding **was; /* [tensor] */
    bool clash, again;
} visit;

static uint32_t count_tensors(const lz_rule *r)
{
    return r->nopnd + r->nresult;
}

static size_t count_slots(const lz_rule *r)
{
    size_t n = 0;
    for (uint32_t t = 0; t < count_tensors(r); t++)
        for (int d = 0; d < r->tensors[t].rank; d++)
            n += r->tensors[t].dims[d].n;
    return n;
}

static size_t bytes_of(const lz_rule *r)
{
    size_t per_factor = sizeof(int32_t) + sizeof(lz_axis_list) + 2 * sizeof(uint64_t) +
                        sizeof(uint32_t) + sizeof(uint16_t);
    return count_slots(r) * sizeof(slot) + (r->nfactor + 1) * per_factor +
           count_tensors(r) * (3 * sizeof(uint32_t) + sizeof(void *)) + 64;
}

size_t lz_prop_scratch(const lz_prop *p)
{
    size_t most = 0;
    const lz_rule *last = NULL;
    for (uint32_t i = 0; i < p->edges.len; i++) {
        size_t n = p->edges.data[i].rule == last ? 0 : bytes_of(p->edges.data[i].rule);
        last = p->edges.data[i].rule;
        most = n > most ? n : most;
    }
    return most;
}

/* Arrays in the scratch, the most aligned first. */
static void place(visit *v)
{
    char *at = v->p->scratch;
    uint32_t nt = count_tensors(v->r);
    v->weight = (uint64_t *)(void *)at;
    v->cost = v->weight + v->r->nfactor + 1;
    at += 2 * (v->r->nfactor + 1) * sizeof *v->weight;
    v->was = (const lz_sharding **)(void *)at;
    at += nt * sizeof *v->was;
    v->slots = (slot *)(void *)at;
    at += count_slots(v->r) * sizeof *v->slots;
    v->first = (int32_t *)(void *)at;
    at += (v->r->nfactor + 1) * sizeof *v->first;
    v->used = (uint32_t *)(void *)at;
    v->once = v->used + nt;
    v->more = v->once + nt;
    v->present = v->more + nt;
    at += (3 * nt + v->r->nfactor + 1) * sizeof *v->used;
    v->order = (uint16_t *)(void *)at;
    at += (v->r->nfactor + 1) * sizeof *v->order;
    v->wanted = (lz_axis_list *)(void *)at;
    memset(v->weight, 0, (2 * (size_t)v->r->nfactor + 1) * sizeof *v->weight);
    memset(v->used, 0, (3 * (size_t)nt + v->r->nfactor) * sizeof *v->used);
    memset(v->wanted, 0, v->r->nfactor * sizeof *v->wanted);
    for (uint32_t f = 0; f < v->r->nfactor; f++)
        v->first[f] = -1;
}

/* ---- from shardings to factors ---- */

/* The axes of tensor t that only the other side of a manual computation's border has. */
static uint32_t hidden_axes(const visit *v, uint32_t t)
{
    return (t > 0) == v->e->manual_result ? v->e->manual : 0;
}

/* Axes go to the factors major to minor. Of several factors, one can have axes only when those
 * before it are full, and only axes that divide it: else the tiles of the two sides would not be
 * the same. */
static void project_dim(visit *v, uint32_t t, int d, const lz_sharding *s)
{
    const lz_rule_dim *dim = &v->r->tensors[t].dims[d];
    uint32_t hidden = hidden_axes(v, t);
    bool late = s && s->priority[d] > v->step->priority;
    bool closed = late || (s && !(s->open >> d & 1));
    int at = 0, n = s && !late ? s->dims[d].n : 0;
    for (int k = 0; k < dim->n; k++) {
        slot *x = &v->slots[v->nslot];
        int64_t left = v->r->factors[dim->at[k]].size;
        *x = (slot){.tensor = t, .dim = (int16_t)d, .factor = dim->at[k], .closed = closed};
        x->node = v->p->ends.data[v->e->first + t];
        for (; at < n; at++) {
            int axis = s->dims[d].at[at];
            int64_t size = v->p->mesh->factors[axis].size;
            if (hidden >> axis & 1)
                continue;
            if (dim->n > 1 && (left == 1 || left % size))
                break;
            left /= dim->n > 1 ? size : 1;
            lz_axis_list_push(&x->a, axis);
        }
        x->had = x->a.n;
        if (left != 1) { /* not full, or more than it can hold is there */
            x->closed |= at < n;
            closed = true;
            at = n;
        }
        x->next = v->first[x->factor];
        v->first[x->factor] = v->nslot++;
    }
}

/* Whether there is anything to propagate. */
static bool project(visit *v)
{
    bool any = false;
    for (uint32_t t = count_tensors(v->r); t-- > 0;) { /* lists begin with operand 0 */
        uint32_t n = v->p->ends.data[v->e->first + t];
        if (n == LZ_PROP_NONE || v->p->nodes.data[n].made)
            continue;
        const lz_sharding *s = v->was[t] = v->p->nodes.data[n].s;
        if (s) {
            uint32_t dims = lz_sharding_dims_mask(s);
            v->used[t] = dims | s->replicated | s->unreduced | s->manual;
            any |= dims != 0;
        }
        for (int d = 0; d < v->r->tensors[t].rank; d++)
            project_dim(v, t, d, s);
    }
    return any;
}

/* ---- what a factor may do ---- */

int lz_prop_directions(const lz_prop_edge *e, const lz_rule_factor *f, int stage)
{
    const lz_rule *r = e->rule;
    if (f->blocked)
        return 0;
    if (r->expands)
        return stage == LZ_PROP_LAST ? LZ_PROP_BOTH : stage >= 2 ? LZ_PROP_BACKWARD : 0;
    if (f->kind != LZ_FACTOR_PASS)
        return stage >= 3 ? LZ_PROP_BOTH : 0;
    if (r->elementwise)
        return e->directions;
    if (r->slices && stage < 2)
        return stage == 1 || e->one_user ? LZ_PROP_FORWARD : 0;
    return stage >= 2 ? LZ_PROP_BOTH : 0;
}

static bool is_source(const visit *v, const slot *x, int directions)
{
    return directions & (x->tensor < v->r->nopnd ? LZ_PROP_FORWARD : LZ_PROP_BACKWARD);
}

static bool is_target(const visit *v, const slot *x, int directions)
{
    return directions & (x->tensor < v->r->nopnd ? LZ_PROP_BACKWARD : LZ_PROP_FORWARD) ||
           directions == LZ_PROP_BOTH;
}

static int64_t slot_size(const visit *v, const slot *x)
{
    return lz_axis_list_size(v->p->mesh, &x->a);
}

/* Whether one axis more fits behind those that the slot has. */
static bool can_take(const visit *v, const slot *x, int axis, int64_t have)
{
    const lz_rule_factor *f = &v->r->factors[x->factor];
    int64_t n = have * v->p->mesh->factors[axis].size;
    int64_t extent = v->p->nodes.data[x->node].type->shape.dims[x->dim];
    if (x->closed || v->used[x->tensor] >> axis & 1)
        return false;
    if (v->r->tensors[x->tensor].dims[x->dim].n > 1)
        return f->size % n == 0;
    return f->kind == LZ_FACTOR_PASS || n <= extent;
}

/* ---- basic ---- */

/* The next axis of a factor behind those of `l` by all that have more; -1: none, or they differ. */
static int next_agreed(visit *v, uint32_t f, const lz_axis_list *l, int directions)
{
    int axis = -1;
    bool source = false;
    for (int32_t k = v->first[f]; k >= 0; k = v->slots[k].next) {
        const slot *x = &v->slots[k];
        if (x->a.n <= l->n)
            continue;
        if (axis >= 0 && x->a.at[l->n] != axis) {
            v->clash = true;
            return -1;
        }
        axis = x->a.at[l->n];
        source |= is_source(v, x, directions);
    }
    return source ? axis : -1;
}

/* The axes that a factor has or may have everywhere. */
static void agree(visit *v, uint32_t f, int directions)
{
    lz_axis_list *l = &v->wanted[f];
    int64_t have = 1;
    for (int axis; (axis = next_agreed(v, f, l, directions)) >= 0;) {
        for (int32_t k = v->first[f]; k >= 0; k = v->slots[k].next) {
            const slot *x = &v->slots[k];
            if (x->a.n <= l->n && is_target(v, x, directions) && !can_take(v, x, axis, have)) {
                v->clash = true;
                return;
            }
        }
        lz_axis_list_push(l, axis);
        have *= v->p->mesh->factors[axis].size;
    }
}

/* Axes that a tensor could have on two of its factors, because others have, go to neither. */
static void drop_contested(visit *v)
{
    for (int32_t k = 0; k < v->nslot; k++)
        v->present[v->slots[k].factor] |= lz_axis_list_mask(&v->slots[k].a);
    for (int32_t k = 0; k < v->nslot; k++) {
        const slot *x = &v->slots[k];
        v->more[x->tensor] |= v->once[x->tensor] & v->present[x->factor];
        v->once[x->tensor] |= v->present[x->factor];
    }
    for (int32_t k = 0; k < v->nslot; k++) {
        const slot *x = &v->slots[k];
        lz_axis_list *l = &v->wanted[x->factor];
        for (int i = x->a.n; i < l->n; i++)
            if (v->more[x->tensor] >> l->at[i] & 1) {
                v->clash = true;
                l->n = (uint8_t)i;
            }
    }
}

static void basic(visit *v)
{
    for (uint32_t f = 0; f < v->r->nfactor; f++) {
        int directions = lz_prop_directions(v->e, &v->r->factors[f], v->step->stage);
        if (directions)
            agree(v, f, directions);
    }
    drop_contested(v);
    for (int32_t k = 0; k < v->nslot; k++) {
        slot *x = &v->slots[k];
        const lz_axis_list *l = &v->wanted[x->factor];
        int directions = lz_prop_directions(v->e, &v->r->factors[x->factor], v->step->stage);
        if (l->n > x->a.n && is_target(v, x, directions))
            x->a = *l;
    }
}

/* ---- aggressive ---- */

static uint64_t slot_bytes(const visit *v, const slot *x)
{
    return (uint64_t)v->p->nodes.data[x->node].type->nbytes + 1;
}

static bool has_prefix(const slot *x, const lz_axis_list *l)
{
    return x->a.n >= l->n && memcmp(x->a.at, l->at, l->n) == 0;
}

/* The axis that tensors of the most bytes have next, of those that have what is wanted so far. */
static int next_heaviest(const visit *v, uint32_t f, const lz_axis_list *l, int directions)
{
    uint64_t bytes[LZ_MESH_FACTORS] = {0};
    int best = -1;
    for (int32_t k = v->first[f]; k >= 0; k = v->slots[k].next) {
        const slot *x = &v->slots[k];
        if (x->a.n <= l->n || !has_prefix(x, l) || !is_source(v, x, directions))
            continue;
        int axis = x->a.at[l->n];
        bytes[axis] += slot_bytes(v, x);
        if (best < 0 || bytes[axis] > bytes[best])
            best = axis;
    }
    return best;
}

static void choose(visit *v, uint32_t f, int directions)
{
    lz_axis_list *l = &v->wanted[f];
    for (int axis; (axis = next_heaviest(v, f, l, directions)) >= 0;)
        lz_axis_list_push(l, axis);
    for (int32_t k = v->first[f]; k >= 0; k = v->slots[k].next) {
        const slot *x = &v->slots[k];
        if (x->a.n && has_prefix(x, &(lz_axis_list){1, {l->at[0]}}))
            v->weight[f] += slot_bytes(v, x) * (x->tensor < v->r->nopnd ? 2 : 1);
    }
}

/* What it takes to bring a tensor that has some of the axes on another factor to this one: an
 * all-to-all where the tensor has it (`once` is of it then), else they are gathered. In bytes that
 * all its parts along these axes send, one for one. */
static uint64_t cost_of(const visit *v, uint32_t f, const slot *x)
{
    uint32_t wanted = lz_axis_list_mask(&v->wanted[f]) & lz_axis_list_mask(&x->a);
    const lz_sharding *s = v->was[x->tensor];
    bool has = v->once[x->tensor] == f + 1;
    if (!wanted || x->factor == f)
        return 0;
    uint64_t n = (uint64_t)lz_mesh_mask_size(v->p->mesh, wanted),
             others = (uint64_t)lz_mesh_mask_size(v->p->mesh, lz_sharding_dims_mask(s) & ~wanted);
    uint64_t bytes = slot_bytes(v, x) / others;
    return (has ? bytes / n : bytes) * (n - 1) / n;
}

/* The cheapest first, of equal ones the heaviest, then those of lower numbers. */
static bool goes_before(const visit *v, uint32_t a, uint32_t b)
{
    return v->cost[a] != v->cost[b] ? v->cost[a] < v->cost[b] : v->weight[a] > v->weight[b];
}

static void sort_factors(visit *v)
{
    for (uint32_t f = 0; f < v->r->nfactor; f++) {
        for (int32_t k = v->first[f]; k >= 0; k = v->slots[k].next)
            v->once[v->slots[k].tensor] = f + 1;
        for (int32_t k = 0; k < v->nslot && v->wanted[f].n; k++)
            v->cost[f] += cost_of(v, f, &v->slots[k]);
    }
    for (uint32_t f = 0; f < v->r->nfactor; f++) {
        uint32_t k = f;
        for (; k > 0 && goes_before(v, f, v->order[k - 1]); k--)
            v->order[k] = v->order[k - 1];
        v->order[k] = (uint16_t)f;
    }
}

static void extend(visit *v, slot *x, const lz_axis_list *l)
{
    int64_t have = slot_size(v, x);
    if (x->a.n >= l->n || memcmp(x->a.at, l->at, x->a.n) != 0)
        return;
    while (x->a.n < l->n && can_take(v, x, l->at[x->a.n], have)) {
        int axis = l->at[x->a.n];
        lz_axis_list_push(&x->a, axis);
        v->used[x->tensor] |= UINT32_C(1) << axis;
        have *= v->p->mesh->factors[axis].size;
    }
}

/* What a later stage would give to this factor is not for others. */
static void reserve(visit *v, uint32_t f)
{
    for (int32_t k = v->first[f]; k >= 0; k = v->slots[k].next)
        v->used[v->slots[k].tensor] |= lz_axis_list_mask(&v->wanted[f]);
}

static void aggressive(visit *v)
{
    for (uint32_t f = 0; f < v->r->nfactor; f++) {
        const lz_rule_factor *factor = &v->r->factors[f];
        int directions = lz_prop_directions(v->e, factor, v->step->stage);
        if (!directions && factor->kind == LZ_FACTOR_REDUCE)
            directions = lz_prop_directions(v->e, factor, LZ_PROP_LAST);
        if (directions)
            choose(v, f, directions);
    }
    sort_factors(v);
    for (uint32_t i = 0; i < v->r->nfactor; i++) {
        uint32_t f = v->order[i];
        int directions = lz_prop_directions(v->e, &v->r->factors[f], v->step->stage);
        if (!directions && v->wanted[f].n)
            reserve(v, f);
        for (int32_t k = v->first[f]; k >= 0 && v->wanted[f].n && directions; k = v->slots[k].next)
            if (is_target(v, &v->slots[k], directions))
                extend(v, &v->slots[k], &v->wanted[f]);
    }
}

/* ---- from factors to shardings ---- */

/* The node that has the axis which slot x got. */
static uint32_t giver_of(const visit *v, const slot *x)
{
    int axis = x->a.at[x->had];
    for (int32_t k = v->first[x->factor]; k >= 0; k = v->slots[k].next) {
        const slot *y = &v->slots[k];
        if (y->had > x->had && y->a.at[x->had] == axis)
            return y->node;
    }
    return LZ_PROP_NONE;
}

/* One tensor, whose slots are [from, to). New axes are behind those of the last factor that has
 * any, so behind all of the dimension. A node that two tensors have changes once in a visit. */
static lz_status give(visit *v, int32_t from, int32_t to)
{
    uint32_t node = v->slots[from].node, giver = LZ_PROP_NONE;
    lz_sharding s;
    const lz_prop_node *n = &v->p->nodes.data[node];
    if (n->s != v->was[v->slots[from].tensor]) {
        v->again = true;
        return LZ_OK;
    }
    if (n->s)
        s = *n->s;
    else
        lz_sharding_init(&s, v->p->mesh, n->type->shape.rank, true);
    for (int32_t k = from; k < to; k++) {
        const slot *x = &v->slots[k];
        if (x->a.n == x->had)
            continue;
        if (giver == LZ_PROP_NONE)
            giver = giver_of(v, x);
        v->again |= v->r->tensors[x->tensor].dims[x->dim].n > 1; /* the next factor may have some */
        for (int i = x->had; i < x->a.n; i++)
            lz_axis_list_push(&s.dims[x->dim], x->a.at[i]);
    }
    if (giver == LZ_PROP_NONE)
        return LZ_OK;
    const lz_sharding *made = lz_sharding_get(&s);
    return made ? lz_prop_changed(v->p, node, made, v->e, giver) : lz_error_get()->status;
}

lz_status lz_prop_visit(lz_prop *p, uint32_t edge, const lz_prop_step *step)
{
    lz_prop_edge *e = &p->edges.data[edge];
    visit v = {.p = p, .e = e, .r = e->rule, .step = step};
    place(&v);
    e->clash = false;
    p->visits++;
    if (!project(&v))
        return LZ_OK;
    if (step->aggressive)
        aggressive(&v);
    else
        basic(&v);
    e->clash = v.clash;
    for (int32_t k = 0, to; k < v.nslot; k = to) {
        for (to = k; to < v.nslot && v.slots[to].tensor == v.slots[k].tensor; to++)
            ;
        LZ_TRY(give(&v, k, to));
    }
    return v.again ? lz_prop_queue(p, edge) : LZ_OK;
}

/* ---- what operands that every device can make get ---- */

/* Of results and of operands that are not everywhere anyway; false: nothing is known yet. */
static bool project_wants(visit *v)
{
    bool any = false;
    for (uint32_t t = count_tensors(v->r); t-- > 0;) {
        uint32_t n = v->p->ends.data[v->e->first + t];
        if (n == LZ_PROP_NONE)
            continue;
        const lz_prop_node *node = &v->p->nodes.data[n];
        bool target = node->made && t < v->r->nopnd;
        if (!target && (node->made ? !node->s : node->whole && t < v->r->nopnd))
            continue;
        any |= !target;
        for (int d = 0; d < v->r->tensors[t].rank; d++)
            project_dim(v, t, d, target ? NULL : node->s);
    }
    return any;
}

/* As many axes of each factor as the others agree on; from the second factor of a dimension on,
 * only behind full ones. */
static void want_dim(const visit *v, const lz_rule_dim *dim, lz_axis_list *out, uint32_t *used)
{
    for (int k = 0; k < dim->n; k++) {
        const lz_axis_list *l = &v->wanted[dim->at[k]];
        int64_t left = v->r->factors[dim->at[k]].size;
        for (int i = 0; i < l->n; i++) {
            int64_t size = v->p->mesh->factors[l->at[i]].size;
            if (*used >> l->at[i] & 1 || (dim->n > 1 && left % size))
                return;
            *used |= UINT32_C(1) << l->at[i];
            left /= dim->n > 1 ? size : 1;
            lz_axis_list_push(out, l->at[i]);
        }
        if (left != 1)
            return;
    }
}

static uint32_t first_giver(const visit *v)
{
    for (int32_t k = v->nslot; k-- > 0;)
        if (v->slots[k].a.n)
            return v->slots[k].node;
    return LZ_PROP_NONE;
}

lz_status lz_prop_want(lz_prop *p, uint32_t edge,
                       lz_status (*fn)(lz_prop *p, uint32_t node, const lz_sharding *want,
                                       uint32_t edge, uint32_t giver))
{
    static const lz_prop_step all = {.stage = LZ_PROP_LAST, .priority = UINT8_MAX};
    const lz_prop_edge *e = &p->edges.data[edge];
    visit v = {.p = p, .e = e, .r = e->rule, .step = &all};
    place(&v);
    p->visits++;
    if (!project_wants(&v))
        return LZ_OK;
    for (uint32_t f = 0; f < v.r->nfactor; f++) {
        lz_factor_kind kind = v.r->factors[f].kind;
        if (kind != LZ_FACTOR_PASS && kind != LZ_FACTOR_REDUCE)
            continue;
        for (int axis; (axis = next_agreed(&v, f, &v.wanted[f], LZ_PROP_BOTH)) >= 0;)
            lz_axis_list_push(&v.wanted[f], axis);
    }
    uint32_t giver = first_giver(&v);
    for (uint32_t t = 0; t < v.r->nopnd; t++) {
        uint32_t n = p->ends.data[e->first + t], used = 0;
        if (n == LZ_PROP_NONE || !p->nodes.data[n].made)
            continue;
        lz_sharding s;
        lz_sharding_init(&s, p->mesh, p->nodes.data[n].type->shape.rank, false);
        for (int d = 0; d < v.r->tensors[t].rank; d++)
            want_dim(&v, &v.r->tensors[t].dims[d], &s.dims[d], &used);
        LZ_TRY(fn(p, n, &s, edge, giver));
    }
    return LZ_OK;
}
