/* partition.c - the values of a function in parts, and the walk over its instructions. See
 * partition.h. */
#include "shard/partition.h"
#include "ir/func.h"
#include "shard/propagate.h"
#include "shard/reshard.h"
#include <inttypes.h>
#include <string.h>

/* ---- placements ---- */

static const lz_sharding *failed(const lz_partial *p, const lz_sharding *s)
{
    if (!s)
        (void)lz_func_failed(p->l.f);
    return s;
}

const lz_sharding *lz_part_replicated(const lz_partial *p, int rank)
{
    lz_sharding s;
    lz_sharding_init(&s, p->l.mesh, rank, false);
    s.manual = p->manual;
    return failed(p, lz_sharding_get(&s));
}

static const lz_sharding *known(const lz_partial *p, const lz_sharding *s)
{
    lz_sharding t;
    if (!s)
        return NULL;
    t = *s;
    t.mesh = p->l.mesh;
    t.open = t.replicated = 0;
    t.manual = p->manual;
    memset(t.priority, 0, sizeof t.priority);
    return failed(p, lz_sharding_get(&t));
}

const lz_sharding *lz_part_at(const lz_partial *p, lz_val v)
{
    return known(p, p->s ? p->s->at[v] : NULL);
}

const lz_sharding *lz_part_at_least(const lz_partial *p, lz_val v)
{
    const lz_sharding *s = lz_part_at(p, v);
    return s ? s : lz_part_replicated(p, lz_part_type(p, v)->shape.rank);
}

const lz_sharding *lz_part_result_at(const lz_partial *p, lz_val v, uint32_t k)
{
    if (p->f->insts[v].sig->nresult == 1)
        return lz_part_at(p, v);
    for (lz_val r = p->first_result[v]; r != LZ_NOVAL; r = p->next_result[r])
        if (LZ_ATTR(index, p->f->insts[r].sig->attr)->index == k)
            return lz_part_at(p, r);
    return NULL;
}

/* ---- forms ---- */

static lz_val root(const lz_partial *p, lz_val v)
{
    return p->same[v];
}

const lz_sharding *lz_part_now(const lz_partial *p, lz_val v)
{
    v = root(p, v);
    return p->free[v] || !p->forms[v] ? NULL : p->forms[v]->at;
}

/* The form that is nearest. */
static const lz_form *nearest(const lz_partial *p, lz_val v, const lz_sharding *at, double *cost)
{
    const lz_form *best = NULL;
    *cost = 0;
    for (const lz_form *f = p->forms[v]; f; f = f->next) {
        double c = lz_reshard_cost(lz_part_type(p, v), f->at, at);
        if (best && c >= *cost)
            continue;
        best = f;
        *cost = c;
        if (c == 0 && f->at == at)
            break;
    }
    return best;
}

double lz_part_cost(const lz_partial *p, lz_val v, const lz_sharding *at)
{
    double cost = 0;
    v = root(p, v);
    if (!p->free[v])
        (void)nearest(p, v, at, &cost);
    return cost;
}

static void add_form(lz_partial *p, lz_val v, const lz_sharding *at, lz_val local)
{
    lz_form *f = lz_arena_alloc(p->arena, sizeof *f), **end = &p->forms[v];
    if (!f) {
        (void)LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
        (void)lz_func_failed(p->l.f);
        return;
    }
    *f = (lz_form){at, local, NULL};
    while (*end)
        end = &(*end)->next;
    *end = f;
}

void lz_part_give(lz_partial *p, lz_val v, const lz_sharding *at, lz_val local)
{
    add_form(p, v, at, local);
}

/* v is another name of the value. */
static void alias(lz_partial *p, lz_val v, lz_val of)
{
    p->same[v] = root(p, of);
    p->uses[root(p, of)] += p->uses[v];
    p->uses[root(p, of)]--;
}

void lz_part_give_result(lz_partial *p, lz_val v, uint32_t k, const lz_sharding *at, lz_val local)
{
    uint32_t n = p->f->insts[v].sig->nresult;
    if (n == 1) {
        lz_part_give(p, v, at, local);
        return;
    }
    if (!p->multi[v] && !(p->multi[v] = lz_arena_alloc(p->arena, n * sizeof **p->multi))) {
        (void)LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
        (void)lz_func_failed(p->l.f);
        return;
    }
    p->multi[v][k] = (lz_form){at, local, NULL};
}

static lz_val make_free(lz_partial *p, lz_val v, const lz_sharding *at)
{
    const lz_sharding *r = failed(p, lz_sharding_reduced(at));
    lz_val local = r ? lz_part_make_free(p, v, r) : LZ_NOVAL;
    return local == LZ_NOVAL ? local : lz_reshard_build(&p->l, local, lz_part_type(p, v), r, at);
}

lz_val lz_part_want(lz_partial *p, lz_val v, const lz_sharding *at)
{
    double cost;
    v = root(p, v);
    if (!at || p->l.f->status != LZ_OK)
        return LZ_NOVAL;
    const lz_form *f = nearest(p, v, at, &cost);
    if (f && f->at == at)
        return f->v;
    if (!f && !p->free[v]) {
        (void)LZ_FAIL(LZ_EINTERNAL, "partition: value %u of %s has not been made", v, p->f->name);
        return lz_func_failed(p->l.f);
    }
    lz_val first = p->l.f->ninst;
    lz_val local = p->free[v] ? make_free(p, v, at)
                              : lz_reshard_build(&p->l, f->v, lz_part_type(p, v), f->at, at);
    if (f)
        lz_note_new(p, first, v, f->at, at);
    if (local != LZ_NOVAL)
        add_form(p, v, at, local);
    return local;
}

/* ---- instructions ---- */

/* What a mark says is done here, but for sums: who needs them whole will say so. */
static lz_status mark(lz_partial *p, lz_val v)
{
    lz_val of = p->f->insts[v].opnd[0];
    const lz_sharding *at = lz_part_at(p, v), *now = lz_part_now(p, of);
    bool all = !at || !now || (lz_sharding_same_dims(at, now) && !at->unreduced);
    if (all || p->f->insts[v].sig->op != LZ_OP_SHARDING_CONSTRAINT) {
        alias(p, v, of);
        return LZ_OK;
    }
    lz_part_give(p, v, at, lz_part_want(p, of, at));
    return p->l.f->status;
}

/* Barriers are of what is there, reduced. */
static lz_status barrier(lz_partial *p, lz_val v)
{
    const lz_inst *in = &p->f->insts[v];
    lz_val *local = lz_arena_alloc(p->scratch, (in->sig->nopnd + 1) * sizeof *local);
    const lz_sharding **at = lz_arena_alloc(p->scratch, (in->sig->nopnd + 1) * sizeof *at);
    if (!local || !at)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        at[k] = lz_part_result_at(p, v, k);
        if (!at[k])
            at[k] = lz_part_replicated(p, in->sig->opnd[k]->shape.rank);
        local[k] = lz_part_want(p, in->opnd[k], at[k]);
    }
    lz_val made = lz_build(p->l.f, in->sig->op, NULL, local, in->sig->nopnd);
    for (uint32_t k = 0; k < in->sig->nresult; k++)
        lz_part_give_result(p, v, k, at[k], lz_build_result(p->l.f, made, k));
    return p->l.f->status;
}

static lz_status generic(lz_partial *p, lz_val v, const lz_rule *r)
{
    const lz_inst *in = &p->f->insts[v];
    lz_part_op o = {.p = p, .v = v, .sig = in->sig, .opnd = in->opnd, .r = r};
    size_t n = in->sig->nopnd + in->sig->nresult + 1;
    o.want = lz_arena_alloc(p->scratch, n * sizeof *o.want);
    o.at = lz_arena_alloc(p->scratch, n * sizeof *o.at);
    o.local = lz_arena_alloc(p->scratch, n * sizeof *o.local);
    if (!o.want || !o.at || !o.local)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
    for (uint32_t k = 0; k < in->sig->nresult; k++)
        o.want[k] = lz_part_result_at(p, v, k);
    const lz_sharding *mark = p->mark[v] == LZ_NOVAL ? NULL : lz_part_at(p, p->mark[v]);
    if (mark && in->sig->nresult == 1) /* not first where propagation wants it, then there */
        o.want[0] = mark;
    LZ_TRY(lz_part_choose(&o));
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        o.local[k] = lz_part_want(p, in->opnd[k], o.at[k]);
    LZ_TRY(p->l.f->status);
    return lz_part_build(&o);
}

static lz_status take_result(lz_partial *p, lz_val v)
{
    const lz_inst *in = &p->f->insts[v];
    int64_t k = LZ_ATTR(index, in->sig->attr)->index;
    if (p->same[in->opnd[0]] != in->opnd[0] || !p->multi[in->opnd[0]])
        return LZ_FAIL(LZ_EINTERNAL, "partition: results of value %u have not been made",
                       in->opnd[0]);
    const lz_form *f = &p->multi[in->opnd[0]][k];
    lz_part_give(p, v, f->at, f->v);
    return p->l.f->status;
}

static lz_status instruction(lz_partial *p, lz_val v)
{
    const lz_inst *in = &p->f->insts[v];
    const lz_rule *r;
    switch (in->sig->op) {
    case LZ_OP_RESULT:
        if (p->f->insts[in->opnd[0]].sig->op != LZ_OP_CUSTOM_VJP)
            return take_result(p, v);
        alias(p, v, p->f->insts[in->opnd[0]].opnd[LZ_ATTR(index, in->sig->attr)->index]);
        return LZ_OK;
    case LZ_OP_SHARDING_CONSTRAINT:
    case LZ_OP_SHARDING_GROUP:
    case LZ_OP_PROPAGATION_BARRIER:
        return mark(p, v);
    case LZ_OP_CUSTOM_VJP:
        if (in->sig->nresult == 1)
            alias(p, v, in->opnd[0]);
        return LZ_OK;
    case LZ_OP_OPTIMIZATION_BARRIER:
        return barrier(p, v);
    case LZ_OP_WHILE:
        return lz_part_while(p, v);
    case LZ_OP_IF:
        return lz_part_if(p, v);
    case LZ_OP_MANUAL_COMPUTATION:
        return lz_part_manual(p, v);
    default:
        break;
    }
    if (in->sig->flags & LZ_F_EFFECT)
        return lz_part_effect(p, v);
    LZ_TRY(lz_rule_of(in->sig, p->scratch, &r));
    p->free[v] = r->free_result;
    return r->free_result ? LZ_OK : generic(p, v, r);
}

lz_status lz_part_walk(lz_partial *p)
{
    for (lz_val v = p->f->nparam; v < p->f->ninst; v++) {
        lz_val first = p->l.f->ninst;
        p->now = v;
        p->l.f->now = (lz_origin){NULL, p->f->insts[v].scope, v}; /* sites are notes, so far */
        LZ_TRY(instruction(p, v));
        lz_note_new(p, first, v, NULL, NULL);
        LZ_TRY(p->l.f->status);
        lz_arena_reset(p->scratch);
    }
    return LZ_OK;
}

lz_status lz_part_begin(lz_partial *p, const lz_func *f, const lz_shardings *s)
{
    size_t n = (size_t)f->ninst + 1;
    p->f = f;
    p->s = s;
    p->forms = lz_arena_alloc(p->arena, n * sizeof *p->forms);
    p->multi = lz_arena_alloc(p->arena, n * sizeof *p->multi);
    p->same = lz_arena_alloc(p->arena, n * sizeof *p->same);
    p->free = lz_arena_alloc(p->arena, n * sizeof *p->free);
    p->uses = lz_arena_alloc(p->arena, n * sizeof *p->uses);
    p->mark = lz_arena_alloc(p->arena, n * sizeof *p->mark);
    p->first_result = lz_arena_alloc(p->arena, n * sizeof *p->first_result);
    p->next_result = lz_arena_alloc(p->arena, n * sizeof *p->next_result);
    if (!p->forms || !p->multi || !p->same || !p->free || !p->uses || !p->mark ||
        !p->first_result || !p->next_result)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", f->name);
    lz_func_use_counts(f, p->uses);
    for (lz_val v = 0; v < f->ninst; v++) {
        p->same[v] = v;
        p->mark[v] = LZ_NOVAL;
        if (lz_inst_op(&f->insts[v]) == LZ_OP_SHARDING_CONSTRAINT &&
            p->uses[f->insts[v].opnd[0]] == 1)
            p->mark[f->insts[v].opnd[0]] = v;
    }
    lz_func_result_lists(f, p->first_result, p->next_result);
    return LZ_OK;
}

/* ---- the program ---- */

static lz_status parameters(lz_partial *p, lz_partitioned *out)
{
    const lz_shape scalar = LZ_SCALAR;
    for (lz_val v = 0; v < p->f->nparam; v++) {
        const lz_sharding *at = lz_part_at_least(p, v);
        const lz_type *t = at ? lz_sharding_local(at, lz_part_type(p, v)) : NULL;
        if (!t)
            return p->l.f->status != LZ_OK ? p->l.f->status : lz_error_get()->status;
        out->in[v] = at;
        lz_part_give(p, v, at, lz_build_param(p->l.f, t));
    }
    p->l.part = lz_build_param(p->l.f, lz_type_get(LZ_U32, &scalar));
    return p->l.f->status;
}

/* Where result value v goes: where a mark says, else where it is if that is no part of a sum. */
static const lz_sharding *result_place(const lz_partial *p, lz_val v)
{
    const lz_sharding *at = lz_part_at_least(p, v), *now = lz_part_now(p, v);
    bool marked = lz_inst_op(&p->f->insts[v]) == LZ_OP_SHARDING_CONSTRAINT;
    return marked || !at || !now || now->unreduced || lz_part_cost(p, v, at) == 0 ? at : now;
}

static lz_status results(lz_partial *p, lz_partitioned *out)
{
    lz_val *local = lz_arena_alloc(p->scratch, ((size_t)p->f->nresult + 1) * sizeof *local);
    if (!local)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
    p->now = LZ_NOVAL;
    for (uint32_t k = 0; k < p->f->nresult; k++) {
        p->now_result = k;
        out->out[k] = result_place(p, p->f->results[k]);
        local[k] = lz_part_want(p, p->f->results[k], out->out[k]);
    }
    LZ_TRY(p->l.f->status);
    return lz_func_set_results(p->l.f, local, p->f->nresult);
}

static lz_status build(lz_partial *p, const lz_shardings *s, lz_partitioned *out)
{
    LZ_TRY(lz_part_begin(p, p->f, s));
    LZ_TRY(parameters(p, out));
    LZ_TRY(lz_part_walk(p));
    return results(p, out);
}

uint64_t lz_shard_small = 16 << 10;

lz_status lz_part_arrange(lz_func **local, lz_arena *notes)
{
    LZ_TRY(lz_shard_order(local));
    LZ_TRY(lz_shard_regather(local, notes));
    return lz_shard_combine(local);
}

/* The shardings may be in out->notes, which is all that out has. */
static lz_status partition(const lz_func *f, const lz_mesh *mesh, const lz_shardings *shardings,
                           lz_partitioned *out)
{
    lz_arena arena = {0}, scratch = {0};
    lz_shard_collective *end = NULL;
    lz_partial p = {.f = f,
                    .arena = &arena,
                    .scratch = &scratch,
                    .l = {.mesh = mesh},
                    .notes = &out->notes,
                    .now = LZ_NOVAL};
    out->nin = f->nparam;
    out->nout = f->nresult;
    out->in = lz_calloc((size_t)f->nparam + 1, sizeof *out->in);
    out->out = lz_calloc((size_t)f->nresult + 1, sizeof *out->out);
    lz_func *local = p.l.f = lz_func_new(f->name);
    lz_status s = local && out->in && out->out
                      ? build(&p, shardings, out)
                      : LZ_FAIL(LZ_EMEM, "no memory to partition %s", f->name);
    if (s == LZ_OK)
        out->local = lz_func_prune(local);
    if (s == LZ_OK)
        s = out->local ? lz_part_arrange(&out->local, &out->notes) : lz_error_get()->status;
    if (s == LZ_OK && !lz_note_take(&out->notes, out->local, NULL, &out->collectives, &end))
        s = lz_error_get()->status;
    if (s == LZ_OK)
        lz_note_lines(out->local, f);
    lz_func_free(local);
    lz_arena_free(&arena);
    lz_arena_free(&scratch);
    return s;
}

lz_status lz_partition_as(const lz_func *f, const lz_mesh *mesh, const lz_shardings *shardings,
                          lz_partitioned *out)
{
    *out = (lz_partitioned){0};
    lz_status s = partition(f, mesh, shardings, out);
    if (s != LZ_OK)
        lz_partitioned_free(out);
    return s;
}

/* ---- which marks come first ---- */

/* What all collectives send, and a little for each; those of loops once. */
static lz_status cost_of(const lz_partitioned *p, const lz_mesh *mesh, double *out)
{
    *out = 0;
    for (const lz_shard_collective *c = p->collectives; c; c = c->next) {
        lz_shard_traffic t;
        LZ_TRY(lz_shard_traffic_of(c->sig, mesh, &t));
        *out += (double)t.sent_bytes + LZ_RESHARD_LAUNCH;
    }
    return LZ_OK;
}

/* Propagates, with the marks of state later where is_state is given, and partitions. *any: there is
 * such state; if not, nothing is made. */
static lz_status try_order(const lz_func *f, const lz_mesh *mesh, const bool *is_state,
                           lz_partitioned *out, bool *any, double *cost)
{
    lz_prop p = {.mesh = mesh, .arena = &out->notes};
    lz_shardings *shardings;
    lz_status s = LZ_OK;
    *any = true;
    if (is_state)
        s = lz_prop_delay(&p, f, is_state, any);
    if (s == LZ_OK && *any)
        s = lz_prop_run(&p, f, &shardings);
    lz_prop_free(&p);
    if (s == LZ_OK && *any)
        s = partition(f, mesh, shardings, out);
    if (s == LZ_OK && *any)
        s = cost_of(out, mesh, cost);
    if (s != LZ_OK || !*any)
        lz_partitioned_free(out);
    return s;
}

lz_status lz_partition_step(const lz_func *f, const lz_mesh *mesh, const bool *is_state,
                            lz_partitioned *out)
{
    lz_partitioned later = {0};
    double cost = 0, cost_later = 0;
    bool any;
    *out = (lz_partitioned){0};
    LZ_TRY(try_order(f, mesh, NULL, out, &any, &cost));
    if (!is_state || cost == 0)
        return LZ_OK;
    lz_status s = try_order(f, mesh, is_state, &later, &any, &cost_later);
    if (s != LZ_OK) {
        lz_partitioned_free(out);
        return s;
    }
    if (any && cost_later < cost) {
        lz_partitioned t = *out;
        *out = later;
        out->later = true;
        later = t;
    }
    lz_partitioned_free(&later);
    return LZ_OK;
}

lz_status lz_partition_step_again(const lz_func *f, const lz_mesh *mesh, const bool *is_state,
                                  bool later, lz_partitioned *out)
{
    double cost;
    bool any = false;
    *out = (lz_partitioned){0};
    if (later && is_state)
        LZ_TRY(try_order(f, mesh, is_state, out, &any, &cost));
    out->later = any;
    return any ? LZ_OK : try_order(f, mesh, NULL, out, &any, &cost);
}

lz_status lz_partition(const lz_func *f, const lz_mesh *mesh, lz_partitioned *out)
{
    return lz_partition_step(f, mesh, NULL, out);
}

void lz_partitioned_drop_notes(lz_partitioned *p)
{
    lz_arena_free(&p->notes);
    p->collectives = NULL;
}

void lz_partitioned_free(lz_partitioned *p)
{
    lz_func_free(p->local);
    lz_free(p->in);
    lz_free(p->out);
    lz_arena_free(&p->notes);
    *p = (lz_partitioned){0};
}
