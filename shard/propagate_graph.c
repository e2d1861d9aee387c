/* propagate_graph.c - nodes and edges of a function and of its regions. See propagate.h.
 * Regions are at most LZ_MAX_REGION_DEPTH deep, so frames nest no deeper. */
#include "shard/propagate.h"
#include <string.h>

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory for the shardings of a function");
}

/* ---- nodes ---- */

static lz_status add_node(lz_prop *p, uint32_t frame, lz_val v, const lz_type *type, uint32_t *out)
{
    *out = p->nodes.len;
    lz_prop_node n = {.type = type, .up = p->nodes.len, .frame = frame, .val = v};
    n.cause = (lz_shard_cause){.mark = LZ_NOVAL, .from = LZ_NOVAL, .by = LZ_NOVAL};
    return lz_vec_push(&p->nodes, n) == LZ_OK ? LZ_OK : no_memory();
}

/* The two are placed alike. The sharding of a stays, if it has one. */
static void unite(lz_prop *p, uint32_t a, uint32_t b)
{
    a = lz_prop_find(p, a);
    b = lz_prop_find(p, b);
    if (a == LZ_PROP_NONE || b == LZ_PROP_NONE || a == b)
        return;
    lz_prop_node *x = &p->nodes.data[a], *y = &p->nodes.data[b];
    if (!x->s && y->s) {
        x->s = y->s;
        x->cause = y->cause;
    }
    y->up = a;
}

/* Whether marks place them differently. */
static bool are_apart(const lz_prop *p, uint32_t a, uint32_t b)
{
    const lz_prop_node *x = &p->nodes.data[lz_prop_find(p, a)],
                       *y = &p->nodes.data[lz_prop_find(p, b)];
    return x->s && y->s && x->s != y->s;
}

static uint32_t node_of(const lz_prop *p, uint32_t frame, lz_val v)
{
    return lz_prop_find(p, p->frames.data[frame].node[v]);
}

/* ---- rules, each made once ---- */

/* Of two tensors of a type, dimension by dimension. */
static const lz_rule *pair_rule(lz_prop *p, const lz_type *type)
{
    lz_hash h = {type->hash.lo ^ UINT64_C(0x9e3779b97f4a7c15), type->hash.hi};
    lz_rule *r = lz_map_get(&p->rules, h);
    if (r)
        return r;
    int rank = type->shape.rank;
    r = lz_arena_alloc(&p->own, sizeof *r);
    lz_rule_factor *f = lz_arena_alloc(&p->own, ((size_t)rank + 1) * sizeof *f);
    lz_rule_tensor *t = lz_arena_alloc(&p->own, 2 * sizeof *t);
    if (!r || !f || !t)
        return NULL;
    *r = (lz_rule){(uint32_t)rank, 1, 1, f, t, .elementwise = true};
    t[0].rank = t[1].rank = rank;
    for (int d = 0; d < rank; d++) {
        f[d] = (lz_rule_factor){.kind = LZ_FACTOR_PASS, .size = type->shape.dims[d]};
        t[0].dims[d].n = t[1].dims[d].n = 1;
        t[0].dims[d].at[0] = t[1].dims[d].at[0] = (uint16_t)d;
    }
    return lz_map_put(&p->rules, h, r) == LZ_OK ? r : NULL;
}

static lz_status rule_of(lz_prop *p, const lz_sig *sig, const lz_rule **out)
{
    *out = lz_map_get(&p->rules, sig->hash);
    if (*out)
        return LZ_OK;
    LZ_TRY(lz_rule_of(sig, &p->own, out));
    return lz_map_put(&p->rules, sig->hash, (void *)(uintptr_t)*out) == LZ_OK ? LZ_OK : no_memory();
}

/* ---- edges ---- */

static lz_status add_end(lz_prop *p, uint32_t node)
{
    return lz_vec_push(&p->ends, node) == LZ_OK ? LZ_OK : no_memory();
}

static lz_status add_edge(lz_prop *p, lz_prop_edge e)
{
    return lz_vec_push(&p->edges, e) == LZ_OK ? LZ_OK : no_memory();
}

/* `from` goes to `to`, by instruction `by` of the frame. Scalars have no dimensions to say. */
static lz_status add_pair(lz_prop *p, uint32_t from, uint32_t to, const lz_prop_edge *like)
{
    lz_prop_edge e = *like;
    if (from == LZ_PROP_NONE || to == LZ_PROP_NONE || !p->nodes.data[to].type->shape.rank)
        return LZ_OK;
    e.first = p->ends.len;
    e.rule = pair_rule(p, p->nodes.data[to].type);
    if (!e.rule)
        return no_memory();
    LZ_TRY(add_end(p, from));
    LZ_TRY(add_end(p, to));
    return add_edge(p, e);
}

static lz_prop_edge edge_by(uint32_t frame, lz_val by)
{
    return (lz_prop_edge){.frame = frame, .by = by, .directions = LZ_PROP_BOTH};
}

/* ---- what regions take and give ---- */

static lz_status add_frame(lz_prop *p, const lz_func *f, uint32_t manual, lz_shardings **out,
                           int depth);

static lz_status add_region(lz_prop *p, uint32_t parent, lz_val at, int which,
                            const lz_func *region, uint32_t manual, int depth, uint32_t *frame)
{
    lz_shardings *of = p->frames.data[parent].out;
    if (!of->sub)
        of->sub = lz_arena_alloc(p->arena, 2 * (size_t)of->f->ninst * sizeof *of->sub);
    if (!of->sub)
        return no_memory();
    *frame = p->frames.len;
    return add_frame(p, region, p->frames.data[parent].manual | manual,
                     &of->sub[2 * at + (uint32_t)which], depth);
}

/* Carried values are, in condition and body, what the results are; the others are the same in
 * both. A condition whose own mark is another one moves its value. */
static lz_status add_while(lz_prop *p, uint32_t fr, lz_val i, int depth)
{
    const lz_inst *in = &p->frames.data[fr].f->insts[i];
    const lz_attr_loop *a = LZ_ATTR(loop, in->sig->attr);
    uint32_t cond, body, base = p->frames.data[fr].node[i];
    lz_prop_edge like = edge_by(fr, i);
    LZ_TRY(add_region(p, fr, i, 0, a->cond, 0, depth, &cond));
    LZ_TRY(add_region(p, fr, i, 1, a->body, 0, depth, &body));
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        uint32_t to = p->frames.data[body].node[k], there = p->frames.data[cond].node[k];
        if (are_apart(p, to, there))
            LZ_TRY(add_pair(p, to, there, &like));
        else
            unite(p, to, there);
        if (k < in->sig->nresult)
            unite(p, to, base + k);
        LZ_TRY(add_pair(p, p->frames.data[fr].node[in->opnd[k]], to, &like));
        if (k < in->sig->nresult)
            LZ_TRY(add_pair(p, p->frames.data[body].node[a->body->results[k]], to, &like));
    }
    return LZ_OK;
}

static lz_status add_if(lz_prop *p, uint32_t fr, lz_val i, int depth)
{
    const lz_inst *in = &p->frames.data[fr].f->insts[i];
    const lz_attr_branches *a = LZ_ATTR(branches, in->sig->attr);
    const lz_func *branch[2] = {a->true_branch, a->false_branch};
    lz_prop_edge like = edge_by(fr, i);
    for (int w = 0; w < 2; w++) {
        uint32_t sub, base = p->frames.data[fr].node[i];
        LZ_TRY(add_region(p, fr, i, w, branch[w], 0, depth, &sub));
        for (uint32_t k = 1; k < in->sig->nopnd; k++)
            LZ_TRY(add_pair(p, p->frames.data[fr].node[in->opnd[k]],
                            p->frames.data[sub].node[k - 1], &like));
        for (uint32_t k = 0; k < in->sig->nresult; k++)
            LZ_TRY(add_pair(p, p->frames.data[sub].node[branch[w]->results[k]], base + k, &like));
    }
    return LZ_OK;
}

/* Result k is operand k. */
static lz_status add_through(lz_prop *p, uint32_t fr, lz_val i)
{
    const lz_inst *in = &p->frames.data[fr].f->insts[i];
    lz_prop_edge like = edge_by(fr, i);
    for (uint32_t k = 0; k < in->sig->nresult; k++)
        LZ_TRY(add_pair(p, p->frames.data[fr].node[in->opnd[k]], p->frames.data[fr].node[i] + k,
                        &like));
    return LZ_OK;
}

/* ---- marks ---- */

static void set_mark(lz_prop *p, uint32_t node, const lz_sharding *s, uint32_t fr, lz_val i)
{
    lz_prop_node *n = &p->nodes.data[node];
    n->s = s;
    n->cause = (lz_shard_cause){.where = p->frames.data[fr].out, i, LZ_NOVAL, LZ_NOVAL};
    for (int d = 0; d < s->rank; d++) {
        p->present[s->priority[d] / 32] |= UINT32_C(1) << s->priority[d] % 32;
        if (s->priority[d] >= p->priorities)
            p->priorities = s->priority[d] + 1;
    }
}

/* How often values are used, and by how many marks. */
typedef struct mark_uses {
    uint32_t *uses, *marks;
    bool *is_result; /* it is used by no instruction */
} mark_uses;

static bool is_mark(const lz_inst *in)
{
    return lz_op_get(in->sig->op)->attr == LZ_ATTR_sharding;
}

static lz_status count_marks(lz_prop *p, const lz_func *f, mark_uses *u)
{
    u->uses = lz_arena_alloc(&p->own, ((size_t)f->ninst + 1) * sizeof *u->uses);
    u->marks = lz_arena_alloc(&p->own, ((size_t)f->ninst + 1) * sizeof *u->marks);
    u->is_result = lz_arena_alloc(&p->own, (size_t)f->ninst + 1);
    if (!u->uses || !u->marks || !u->is_result)
        return no_memory();
    for (uint32_t i = 0; i < f->ninst; i++)
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd; k++)
            u->uses[f->insts[i].opnd[k]]++;
    for (uint32_t k = 0; k < f->nresult; k++)
        u->is_result[f->results[k]] = u->uses[f->results[k]] == 0;
    for (uint32_t i = 0; i < f->ninst; i++)
        if (is_mark(&f->insts[i]) && !u->is_result[i])
            u->marks[f->insts[i].opnd[0]]++;
    return LZ_OK;
}

/* A closed mark on a value that has no other says where the value itself is; so does any on a
 * parameter that is not used otherwise. Else it is where what is behind it wants the value. */
static bool shards_operand(const lz_prop *p, uint32_t fr, lz_val i, const mark_uses *u)
{
    const lz_func *f = p->frames.data[fr].f;
    lz_val v = f->insts[i].opnd[0];
    uint32_t n = node_of(p, fr, v), own = p->frames.data[fr].node[i];
    if (n == LZ_PROP_NONE || p->nodes.data[n].s)
        return false;
    if (v < f->nparam && u->uses[v] == 1)
        return true;
    return !u->is_result[i] && u->marks[v] == 1 && !p->nodes.data[own].s->open;
}

static lz_status add_mark(lz_prop *p, uint32_t fr, lz_val i, const mark_uses *u)
{
    const lz_inst *in = &p->frames.data[fr].f->insts[i];
    const lz_sharding *said = lz_sharding_parse(LZ_ATTR(sharding, in->sig->attr)->sharding);
    const lz_sharding *s = said ? lz_shard_mark(p->mesh, said, in->sig->result[0]) : NULL;
    uint32_t own = p->frames.data[fr].node[i];
    lz_prop_edge like = edge_by(fr, i);
    if (s && p->later.len && lz_map_get(&p->later, lz_prop_place_key(in)))
        s = lz_prop_later(s);
    if (!s)
        return lz_error_get()->status;
    set_mark(p, own, s, fr, i);
    if (shards_operand(p, fr, i, u)) {
        unite(p, own, p->frames.data[fr].node[in->opnd[0]]);
        return LZ_OK;
    }
    return add_pair(p, p->frames.data[fr].node[in->opnd[0]], own, &like);
}

/* ---- groups: all values of one are placed alike, in whatever region they are ---- */

static lz_status add_member(lz_prop *p, uint32_t fr, lz_val i)
{
    const lz_inst *in = &p->frames.data[fr].f->insts[i];
    lz_prop_member m = {LZ_ATTR(group, in->sig->attr)->group_id, p->frames.data[fr].node[i]};
    unite(p, m.node, p->frames.data[fr].node[in->opnd[0]]);
    return lz_vec_push(&p->members, m) == LZ_OK ? LZ_OK : no_memory();
}

/* What both marks say: in each dimension the longer list, where the shorter one is open. */
static bool both_say(const lz_sharding *a, const lz_sharding *b, lz_sharding *out)
{
    *out = *a;
    out->open &= b->open;
    out->replicated |= b->replicated;
    for (int d = 0; d < a->rank; d++) {
        bool longer = b->dims[d].n > a->dims[d].n;
        const lz_sharding *less = longer ? a : b, *more = longer ? b : a;
        bool same = less->dims[d].n == more->dims[d].n;
        if (lz_axis_list_common(&less->dims[d], &more->dims[d]) != less->dims[d].n ||
            (!same && !(less->open >> d & 1)))
            return false;
        out->dims[d] = more->dims[d];
        out->open |= same ? 0 : more->open & UINT32_C(1) << d;
    }
    return a->unreduced == b->unreduced && a->reduction == b->reduction;
}

static lz_status contradiction(int64_t id, const lz_sharding *a, const lz_sharding *b)
{
    lz_buf t = {0};
    lz_sharding_print(&t, a, "mesh");
    lz_buf_puts(&t, " and ");
    lz_sharding_print(&t, b, "mesh");
    lz_status s = LZ_FAIL(LZ_EINVAL, "sharding group %lld: marks of its values differ: %.300s",
                          (long long)id, lz_buf_str(&t));
    lz_buf_free(&t);
    return s;
}

static lz_status join_members(lz_prop *p, int64_t id, uint32_t a, uint32_t b)
{
    lz_prop_node *x = &p->nodes.data[lz_prop_find(p, a)], *y = &p->nodes.data[lz_prop_find(p, b)];
    lz_sharding s;
    if (x->type->shape.rank != y->type->shape.rank)
        return LZ_FAIL(LZ_EINVAL, "sharding group %lld: tensors of rank %d and %d", (long long)id,
                       x->type->shape.rank, y->type->shape.rank);
    if (x->s && y->s && x->s != y->s) {
        if (!both_say(x->s, y->s, &s))
            return id >= LZ_SHARDING_WISHES ? LZ_OK : contradiction(id, x->s, y->s);
        x->s = lz_sharding_get(&s);
        if (!x->s)
            return lz_error_get()->status;
    }
    unite(p, a, b);
    return LZ_OK;
}

/* When all marks are there: each says where its own value is, whatever comes first. Inside of a
 * manual computation values are others than around it. */
static lz_status join_groups(lz_prop *p)
{
    lz_map first = {0};
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < p->members.len && s == LZ_OK; i++) {
        const lz_prop_member *m = &p->members.data[i];
        uint32_t frame = p->nodes.data[m->node].frame;
        const uint64_t key[2] = {(uint64_t)m->group, p->frames.data[frame].manual};
        lz_hash h = lz_hash_bytes(key, sizeof key);
        const lz_prop_member *one = lz_map_get(&first, h);
        if (one)
            s = join_members(p, m->group, one->node, m->node);
        else if (lz_map_put(&first, h, (void *)(uintptr_t)m) != LZ_OK)
            s = no_memory();
    }
    lz_map_free(&first);
    return s;
}

/* ---- manual computations: inside, shapes are those of one tile along the manual axes ---- */

/* What a body sees of a sharding: the rest of its axes. Its types are local along the others, so
 * propagation does not see these in it. */
static const lz_sharding *inside_of(const lz_sharding *s, uint32_t manual)
{
    lz_sharding t = *s;
    t.replicated &= ~manual;
    t.unreduced &= ~manual;
    t.reduction = t.unreduced ? t.reduction : LZ_OP_NONE;
    for (int d = 0; d < t.rank; d++) {
        t.dims[d].n = 0;
        for (int i = 0; i < s->dims[d].n; i++)
            if (!(manual >> s->dims[d].at[i] & 1))
                lz_axis_list_push(&t.dims[d], s->dims[d].at[i]);
    }
    return lz_sharding_get(&t);
}

/* The border of a body: node `out` is of the global value, `in` of the local one. */
static lz_status add_border(lz_prop *p, uint32_t out, uint32_t in, const lz_sharding *said,
                            uint32_t manual, const lz_prop_edge *like, bool result)
{
    lz_prop_edge e = *like;
    const lz_sharding *s = lz_shard_mark(p->mesh, said, p->nodes.data[out].type);
    const lz_sharding *inner = s ? inside_of(s, manual) : NULL;
    if (!inner)
        return lz_error_get()->status;
    set_mark(p, out, s, like->frame, like->by);
    set_mark(p, in, inner, like->frame, like->by);
    e.manual = manual;
    e.manual_result = result;
    return result ? add_pair(p, in, out, &e) : add_pair(p, out, in, &e);
}

/* Where operand k, or what the body gives as result k, is at the border: the mark's. */
static lz_status add_manual(lz_prop *p, uint32_t fr, lz_val i, int depth)
{
    const lz_inst *in = &p->frames.data[fr].f->insts[i];
    const lz_attr_manual *a = LZ_ATTR(manual, in->sig->attr);
    uint32_t manual = (uint32_t)a->manual_axes, n = in->sig->nopnd, body, border;
    const lz_sharding **said = lz_arena_alloc(&p->own, (n + in->sig->nresult) * sizeof *said);
    lz_prop_edge like = edge_by(fr, i);
    if (!said)
        return no_memory();
    LZ_TRY(lz_shardings_parse(a->in_shardings, said, n));
    LZ_TRY(lz_shardings_parse(a->out_shardings, said + n, in->sig->nresult));
    LZ_TRY(add_region(p, fr, i, 0, a->body, manual, depth, &body));
    for (uint32_t k = 0; k < n; k++) {
        LZ_TRY(add_node(p, fr, in->opnd[k], in->sig->opnd[k], &border));
        LZ_TRY(add_pair(p, p->frames.data[fr].node[in->opnd[k]], border, &like));
        LZ_TRY(add_border(p, border, p->frames.data[body].node[k], said[k], manual, &like, false));
    }
    for (uint32_t k = 0; k < in->sig->nresult; k++) {
        lz_val v = a->body->results[k];
        LZ_TRY(add_node(p, body, v, lz_val_type(a->body, v), &border));
        LZ_TRY(add_pair(p, p->frames.data[body].node[v], border, &like));
        LZ_TRY(add_border(p, p->frames.data[fr].node[i] + k, border, said[n + k], manual, &like,
                          true));
    }
    return LZ_OK;
}

/* ---- one function ---- */

/* Values that each use makes for itself have no node. */
static lz_status add_nodes(lz_prop *p, uint32_t fr)
{
    const lz_func *f = p->frames.data[fr].f;
    uint32_t *node = p->frames.data[fr].node;
    for (lz_val i = 0; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        const lz_rule *r;
        uint32_t n;
        if (s->op == LZ_OP_RESULT) {
            node[i] = node[f->insts[i].opnd[0]] + (uint32_t)LZ_ATTR(index, s->attr)->index;
            continue;
        }
        LZ_TRY(rule_of(p, s, &r));
        node[i] = r->free_result ? LZ_PROP_NONE : p->nodes.len;
        for (uint32_t k = 0; k < s->nresult && !r->free_result; k++)
            LZ_TRY(add_node(p, fr, i, s->result[k], &n));
    }
    return LZ_OK;
}

static lz_status add_rule_edge(lz_prop *p, uint32_t fr, lz_val i, const mark_uses *u)
{
    const lz_inst *in = &p->frames.data[fr].f->insts[i];
    const uint32_t *node = p->frames.data[fr].node;
    const lz_rule *r;
    lz_prop_edge e = edge_by(fr, i);
    LZ_TRY(rule_of(p, in->sig, &r));
    if (!r->nfactor || r->free_result || !r->nopnd)
        return LZ_OK;
    e.rule = r;
    e.first = p->ends.len;
    e.one_user = true;
    for (uint32_t k = 0; k < r->nopnd; k++) {
        e.one_user &= !r->tensors[k].rank || u->uses[in->opnd[k]] == 1;
        LZ_TRY(add_end(p, node[in->opnd[k]]));
    }
    for (uint32_t k = 0; k < r->nresult; k++)
        LZ_TRY(add_end(p, node[i] + k));
    return add_edge(p, e);
}

static lz_status add_barrier(lz_prop *p, uint32_t fr, lz_val i)
{
    const lz_inst *in = &p->frames.data[fr].f->insts[i];
    lz_prop_edge e = edge_by(fr, i);
    e.directions = (uint8_t)(LZ_ATTR(propagation, in->sig->attr)->allowed_direction & 3);
    return e.directions
               ? add_pair(p, p->frames.data[fr].node[in->opnd[0]], p->frames.data[fr].node[i], &e)
               : LZ_OK;
}

static lz_status add_inst(lz_prop *p, uint32_t fr, lz_val i, const mark_uses *u, int depth)
{
    const lz_sig *s = p->frames.data[fr].f->insts[i].sig;
    switch (lz_op_get(s->op)->attr) {
    case LZ_ATTR_loop:
        return add_while(p, fr, i, depth);
    case LZ_ATTR_branches:
        return add_if(p, fr, i, depth);
    case LZ_ATTR_sharding:
        return add_mark(p, fr, i, u);
    case LZ_ATTR_group:
        return add_member(p, fr, i);
    case LZ_ATTR_propagation:
        return add_barrier(p, fr, i);
    case LZ_ATTR_index:
        return LZ_OK;
    case LZ_ATTR_manual:
        return add_manual(p, fr, i, depth);
    default:
        break;
    }
    const lz_rule *r;
    LZ_TRY(rule_of(p, s, &r));
    return r->edges ? add_through(p, fr, i) : add_rule_edge(p, fr, i, u);
}

static lz_status add_frame(lz_prop *p, const lz_func *f, uint32_t manual, lz_shardings **out,
                           int depth)
{
    uint32_t fr = p->frames.len;
    lz_prop_frame frame = {.f = f, .manual = manual};
    mark_uses u;
    if (depth > LZ_MAX_REGION_DEPTH)
        return LZ_FAIL(LZ_EINVAL, "regions nest deeper than %d", LZ_MAX_REGION_DEPTH);
    frame.out = lz_arena_alloc(p->arena, sizeof *frame.out);
    frame.node = lz_arena_alloc(&p->own, ((size_t)f->ninst + 1) * sizeof *frame.node);
    *out = frame.out;
    if (!frame.out || !frame.node || lz_vec_push(&p->frames, frame) != LZ_OK)
        return no_memory();
    frame.out->f = f;
    LZ_TRY(count_marks(p, f, &u));
    LZ_TRY(add_nodes(p, fr));
    for (lz_val i = 0; i < f->ninst; i++)
        LZ_TRY(add_inst(p, fr, i, &u, depth + 1));
    return LZ_OK;
}

/* ---- which edges a node has ---- */

static lz_status index_edges(lz_prop *p)
{
    size_t n = (size_t)p->nodes.len + 2;
    p->first_edge = lz_arena_alloc(&p->own, n * sizeof *p->first_edge);
    p->node_edges = lz_arena_alloc(&p->own, ((size_t)p->ends.len + 1) * sizeof *p->node_edges);
    if (!p->first_edge || !p->node_edges)
        return no_memory();
    for (uint32_t i = 0; i < p->ends.len; i++) {
        p->ends.data[i] = lz_prop_find(p, p->ends.data[i]);
        if (p->ends.data[i] != LZ_PROP_NONE)
            p->first_edge[p->ends.data[i] + 2]++;
    }
    for (size_t i = 2; i < n; i++)
        p->first_edge[i] += p->first_edge[i - 1];
    for (uint32_t e = 0; e < p->edges.len; e++) {
        const lz_prop_edge *edge = &p->edges.data[e];
        for (uint32_t t = 0; t < edge->rule->nopnd + edge->rule->nresult; t++) {
            uint32_t node = p->ends.data[edge->first + t];
            if (node != LZ_PROP_NONE)
                p->node_edges[p->first_edge[node + 1]++] = e;
        }
    }
    return LZ_OK;
}

lz_status lz_prop_build(lz_prop *p, const lz_func *f, lz_shardings **out)
{
    p->priorities = 1;
    p->present[0] = 1;
    LZ_TRY(add_frame(p, f, 0, out, 0));
    LZ_TRY(join_groups(p));
    return index_edges(p);
}
