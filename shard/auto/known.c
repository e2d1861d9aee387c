/* known.c - layouts that people write by hand, as candidates: a search must not lose against them.
 * Data parallel: inputs along their first dimension, the state whole. Fully sharded (FSDP, ZeRO-3):
 * the state along its largest dimension, too. Tensor parallel (Megatron): inputs along one axis of
 * the mesh, the state along the others, each matrix cut where the model finds it cheapest.
 * Threads: thread-compatible. */
#include "shard/auto/search.h"

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory to search for shardings");
}

/* What is state, and what an input whose first dimension is that of examples. */
typedef struct roles {
    bool *state, *input; /* [nparam] */
    bool *factor;        /* [ninst]: it goes into a product, moved or converted at most */
} roles;

static void find_factors(const lz_func *f, bool *out)
{
    for (lz_val v = f->ninst; v-- > f->nparam;) {
        const lz_inst *in = &f->insts[v];
        bool product = lz_auto_is_product(in->sig);
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            out[in->opnd[k]] |= product || (out[v] && in->sig->nopnd == 1);
    }
}

/* Without state, as of a forward pass alone, inputs are what is as long as the results. */
static lz_status find_roles(const lz_auto_search *s, lz_arena *a, roles *out)
{
    const lz_func *f = s->m.f;
    bool any = false;
    out->state = lz_arena_alloc(a, (size_t)f->nparam + 1);
    out->input = lz_arena_alloc(a, (size_t)f->nparam + 1);
    out->factor = lz_arena_alloc(a, (size_t)f->ninst + 1);
    if (!out->state || !out->input || !out->factor)
        return no_memory();
    find_factors(f, out->factor);
    for (uint32_t k = 0; k < f->nresult; k++)
        if (s->m.state_of[k] != LZ_NOVAL)
            any = out->state[s->m.state_of[k]] = true;
    const lz_shape *r = f->nresult ? &lz_val_type(f, f->results[0])->shape : NULL;
    for (lz_val v = 0; v < f->nparam; v++) {
        const lz_shape *p = &lz_val_type(f, v)->shape;
        bool like = r && r->rank && p->rank && p->dims[0] == r->dims[0];
        out->input[v] = !out->state[v] && p->rank && (any || like);
    }
    return LZ_OK;
}

/* Axes of the units along dimension d, where they divide it; else none. */
static const lz_sharding *along(const lz_auto_search *s, lz_val v, int d, uint32_t units)
{
    const lz_type *t = lz_val_type(s->m.f, v);
    lz_sharding at;
    lz_sharding_init(&at, s->m.mesh, t->shape.rank, false);
    for (int u = 0; u < s->m.units.n && d >= 0; u++)
        for (int i = 0; i < s->m.units.axes[u].n && (units >> u & 1); i++)
            lz_axis_list_push(&at.dims[d], s->m.units.axes[u].at[i]);
    if (d >= 0 && t->shape.dims[d] % lz_axis_list_size(s->m.mesh, &at.dims[d]))
        at.dims[d].n = 0;
    return lz_sharding_get(&at);
}

static int largest(const lz_auto_search *s, lz_val v, int64_t tiles)
{
    const lz_shape *p = &lz_val_type(s->m.f, v)->shape;
    int best = -1;
    for (int d = 0; d < p->rank; d++)
        if (p->dims[d] % tiles == 0 && (best < 0 || p->dims[d] > p->dims[best]))
            best = d;
    return best;
}

/* Inputs along the units `data`; state along the units `cut`. */
static lz_status direct(lz_auto_search *s, const roles *r, const char *name, uint32_t data,
                        uint32_t cut, lz_auto_trial **out)
{
    const lz_func *f = s->m.f;
    int64_t tiles = 1;
    LZ_TRY(lz_auto_trial_new(&s->real, name, out));
    for (int u = 0; u < s->m.units.n; u++)
        tiles *= cut >> u & 1 ? s->m.units.size[u] : 1;
    for (lz_val v = 0; v < f->nparam; v++) {
        if (lz_auto_is_marked(s, v))
            continue;
        int d = r->input[v] ? 0 : r->state[v] && cut ? largest(s, v, tiles) : -1;
        (*out)->param[v] = along(s, v, d, r->input[v] ? data : cut);
        if (!(*out)->param[v])
            return lz_error_get()->status;
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        if (s->m.state_of[k] != LZ_NOVAL)
            (*out)->result[k] = (*out)->param[s->m.state_of[k]];
    return LZ_OK;
}

static lz_status note(lz_auto_search *s, const lz_auto_trial *t)
{
    lz_auto_plan *p = s->plan;
    if (p->nknown < LZ_AUTO_KNOWN)
        p->known[p->nknown++] = (lz_auto_known){t->origin, t->cost, t->fits};
    return LZ_OK;
}

static lz_status try_direct(lz_auto_search *s, const roles *r, const char *name, uint32_t data,
                            uint32_t cut, bool noted)
{
    lz_auto_trial *t;
    bool had;
    LZ_TRY(direct(s, r, name, data, cut, &t));
    LZ_TRY(lz_auto_try(&s->real, t, &had));
    if (!had)
        return LZ_OK;
    if (noted)
        LZ_TRY(note(s, t));
    return lz_auto_consider(s, t);
}

/* ---- tensor parallel: the model's choices under conditions ---- */

static uint32_t axes_of(const lz_auto_search *s, uint32_t units)
{
    uint32_t m = 0;
    for (int u = 0; u < s->m.units.n; u++)
        m |= units >> u & 1 ? s->m.units.mask[u] : 0;
    return m;
}

/* Placements of a parameter that are of the layout. False: none is, and all are allowed. */
static bool restrict_to(const lz_auto_search *s, const roles *r, const lz_auto_var *v,
                        const lz_auto_list *at, uint32_t data, uint32_t cut, bool *may)
{
    bool any = false;
    for (uint32_t i = 0; i < at->n; i++) {
        const lz_sharding *p = at->at[i];
        uint32_t used = lz_sharding_dims_mask(p);
        if (r->input[v->number])
            may[i] = lz_axis_list_mask(&p->dims[0]) == axes_of(s, data) && used == axes_of(s, data);
        else if (r->factor[v->number])
            may[i] = used == axes_of(s, cut);
        else
            may[i] = !(used & ~axes_of(s, cut));
        any |= may[i];
    }
    return any;
}

static lz_status try_tensor(lz_auto_search *s, const roles *r, const char *name, uint32_t data,
                            uint32_t cut)
{
    lz_arena a = {0};
    lz_choices c;
    lz_choices_found found;
    lz_auto_trial *best[2] = {NULL, NULL};
    const bool **may = lz_arena_alloc(&a, ((size_t)s->m.vars.len + 1) * sizeof *may);
    lz_status st = may ? LZ_OK : no_memory();
    for (uint32_t v = 0; v < s->m.vars.len && st == LZ_OK; v++) {
        const lz_auto_var *var = &s->m.vars.data[v];
        bool *m = var->param && (r->input[var->number] || r->state[var->number])
                      ? lz_arena_alloc(&a, var->n)
                      : NULL;
        if (m && restrict_to(s, r, var, s->m.nodes[var->node].at, data, cut, m))
            may[v] = m;
    }
    for (int light = 0; light < 2 && st == LZ_OK; light++) {
        st = lz_auto_problem(s, 0, light, may, &a, &c);
        if (st == LZ_OK)
            st = lz_choices_solve(&c, NULL, 0, &a, &found);
        if (st == LZ_OK)
            st = lz_auto_try_picks(s, name, found.pick, &best[light]);
    }
    lz_auto_trial *least = best[0];
    if (!least || (best[1] && best[1]->cost.bytes < least->cost.bytes))
        least = best[1];
    if (st == LZ_OK && least)
        st = note(s, least);
    lz_arena_free(&a);
    return st;
}

lz_status lz_auto_try_known(lz_auto_search *s)
{
    static const char *const tensor[LZ_AUTO_UNITS] = {
        "tensor parallel along all axes but the first",
        "tensor parallel along all axes but the second",
        "tensor parallel along all axes but the third"};
    lz_arena a = {0};
    roles r;
    int n = s->m.units.n;
    uint32_t all = (UINT32_C(1) << n) - 1;
    lz_status st = find_roles(s, &a, &r);
    if (st == LZ_OK)
        st = try_direct(s, &r, "whole on each device", 0, 0, true);
    if (st == LZ_OK)
        st = try_direct(s, &r, "data parallel", all, 0, true);
    if (st == LZ_OK)
        st = try_direct(s, &r, "fully sharded", all, all, true);
    if (n == 1 && st == LZ_OK)
        st = try_tensor(s, &r, "tensor parallel", 0, 1);
    for (int u = 0; u < n && n > 1 && st == LZ_OK; u++) {
        uint32_t one = UINT32_C(1) << u;
        st = try_tensor(s, &r, tensor[u], one, all & ~one);
        if (st == LZ_OK)
            st = try_direct(s, &r, "data parallel along one axis", one, 0, false);
        if (st == LZ_OK)
            st = try_direct(s, &r, "data parallel, sharded along one axis", all, one, false);
    }
    lz_arena_free(&a);
    return st;
}
