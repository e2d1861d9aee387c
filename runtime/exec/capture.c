/* capture.c - see capture.h. */
#include "runtime/exec/capture.h"
#include "runtime/exec/auto_spmd.h"
#include "runtime/graph/handle.h"
#include "ir/attr.h"
#include "ir/sharding/sharding.h"
#include <stdlib.h>
#include <string.h>

static lz_status leave_node(lz_capture *c, lz_node *n);

static lz_status enter(lz_capture *c, lz_node *n)
{
    n->epoch = c->epoch;
    if (lz_node_is_value(n) || n->sig->nopnd == 0)
        return leave_node(c, n);
    return lz_vec_push(&c->stack, ((lz_capture_frame){n, 0}));
}

static inline void put_pointer(lz_capture *c, const void *p)
{
    uint64_t v = (uintptr_t)p;
    c->key.data[c->key.len++] = (uint32_t)v;
    c->key.data[c->key.len++] = (uint32_t)(v >> 32);
}

/* Groups of values that are placed alike (lz_shard_as) are numbered anew, or each step would be
 * another program. Those of keep_place are below. */
enum { FIRST_GROUP = 1 << 30 };

static lz_status note_group(lz_capture *c, const lz_node *n)
{
    int64_t id = LZ_ATTR(group, n->sig->attr)->group_id;
    for (uint32_t i = 0; i < c->groups.len; i++)
        if (c->groups.data[i] == id)
            return LZ_OK;
    return lz_vec_push(&c->groups, id);
}

/* NULL: no memory. */
static const lz_sig *grouped_sig(const lz_capture *c, const lz_node *n)
{
    lz_attr_any a;
    int64_t id = LZ_ATTR(group, n->sig->attr)->group_id, k = 0;
    while (c->groups.data[k] != id)
        k++;
    lz_attr_init(&a, LZ_ATTR_group);
    a.as_group.group_id = FIRST_GROUP + k;
    const lz_attr *ia = lz_attr_get(&a.head);
    return ia ? lz_sig_get(LZ_OP_SHARDING_GROUP, ia, n->sig->opnd, 1) : NULL;
}

/* As the program has it. */
static inline const lz_sig *sig_of(const lz_capture *c, const lz_node *n)
{
    return __builtin_expect(n->sig->op == LZ_OP_SHARDING_GROUP, 0) ? grouped_sig(c, n) : n->sig;
}

/* Key words of a node. 0: parameter and its type; 1: constant, its type and bytes; else 2 + the
 * signature and its operands' indices. The first word gives the number of words, so the sequence is
 * uniquely decodable. */
enum { KEY_LEAF, KEY_CONST, KEY_OP };

static lz_status leave_node(lz_capture *c, lz_node *n)
{
    lz_capture_note note = {0, UINT32_MAX, false, false};
    bool value = lz_node_is_value(n);
    if (!c->placeholders)
        LZ_TRY(lz_node_not_placeholder(n));
    LZ_TRY(lz_vec_reserve(&c->key, (uint64_t)c->key.len + 8 + (value ? 0 : n->sig->nopnd)));
    if (!value) {
        c->meets |= lz_op_get(n->sig->op)->cls == LZ_CLASS_COLLECTIVE;
        if (n->sig->op == LZ_OP_SHARDING_GROUP)
            LZ_TRY(note_group(c, n));
        const lz_sig *sig = sig_of(c, n);
        if (!sig)
            return lz_error_get()->status;
        c->key.data[c->key.len++] = KEY_OP + sig->id;
        for (uint32_t i = 0; i < n->sig->nopnd; i++) {
            uint32_t at = n->opnd[i]->index;
            c->key.data[c->key.len++] = at;
            c->notes.data[at].edges++;
        }
    } else if (n->kind == LZ_NODE_CONST) {
        c->key.data[c->key.len++] = KEY_CONST;
        put_pointer(c, lz_node_type(n));
        memcpy(c->key.data + c->key.len, n->imm, LZ_NODE_IMM);
        c->key.len += LZ_NODE_IMM / 4;
    } else {
        c->key.data[c->key.len++] = KEY_LEAF;
        put_pointer(c, lz_node_type(n));
        note.leaf = c->leaves.len;
        LZ_TRY(lz_vec_push(&c->leaves, n));
    }
    n->index = c->nodes.len;
    LZ_TRY(lz_vec_push(&c->notes, note));
    return lz_vec_push(&c->nodes, n);
}

static lz_status walk_root(lz_capture *c, lz_node *root)
{
    if (root->epoch != c->epoch)
        LZ_TRY(enter(c, root));
    while (c->stack.len) {
        lz_capture_frame *f = &c->stack.data[c->stack.len - 1];
        lz_node *n = f->node;
        uint32_t i = f->next, nopnd = n->sig->nopnd;
        while (i < nopnd && n->opnd[i]->epoch == c->epoch)
            i++;
        f->next = i + 1;
        if (i < nopnd) {
            LZ_TRY(enter(c, n->opnd[i]));
        } else {
            c->stack.len--;
            LZ_TRY(leave_node(c, n));
        }
    }
    return LZ_OK;
}

lz_status lz_capture_walk(lz_capture *c, lz_dev *d, lz_capture_effects effects,
                          lz_node *const *roots, uint32_t nroots)
{
    c->dev = d;
    c->meets = false;
    LZ_TRY(lz_auto_spmd_mesh(d, &c->search));
    c->epoch = lz_node_new_epoch();
    c->nodes.len = c->notes.len = c->leaves.len = c->roots.len = c->key.len = c->stack.len =
        c->donate.len = c->becomes.len = c->groups.len = 0;
    c->ndonated = c->ngiven = 0;
    for (uint32_t i = 0; i < effects.n; i++)
        LZ_TRY(walk_root(c, effects.nodes[i]));
    for (uint32_t r = 0; r < nroots; r++)
        LZ_TRY(walk_root(c, roots[r]));
    LZ_TRY(lz_vec_reserve(&c->roots, nroots));
    for (uint32_t r = 0; r < nroots; r++) {
        c->roots.data[c->roots.len++] = roots[r];
        c->notes.data[roots[r]->index].root = true;
    }
    LZ_TRY(lz_vec_reserve(&c->donate, c->leaves.len));
    LZ_TRY(lz_vec_reserve(&c->given, c->leaves.len));
    c->donate.len = c->given.len = c->leaves.len;
    if (c->leaves.len) {
        memset(c->donate.data, 0, c->leaves.len * sizeof c->donate.data[0]);
        memset(c->given.data, 0, c->leaves.len * sizeof c->given.data[0]);
    }
    return LZ_OK;
}

lz_status lz_capture_keep_effects(lz_capture *c, lz_capture_effects effects)
{
    LZ_TRY(lz_vec_reserve(&c->roots, (uint64_t)c->roots.len + effects.n));
    for (uint32_t i = 0; i < effects.n; i++) {
        lz_node *n = effects.nodes[i];
        lz_capture_note *note = &c->notes.data[n->index];
        uint32_t uses = lz_node_uses(n);
        bool held = lz_node_refs(n) != uses + 1 || uses != note->edges; /* 1: the list's own */
        if (n->sig->nresult != 1 || lz_node_is_value(n) || note->root || !held)
            continue;
        c->roots.data[c->roots.len++] = n;
        note->root = true;
    }
    return LZ_OK;
}

/* An intermediate node that somebody outside the graph still holds keeps its operands. */
static void mark_held(lz_capture *c)
{
    for (uint32_t i = c->nodes.len; i-- > 0;) {
        lz_node *n = c->nodes.data[i];
        lz_capture_note *note = &c->notes.data[i];
        if (note->root || note->leaf != UINT32_MAX || lz_node_is_value(n))
            continue;
        uint32_t uses = lz_node_uses(n);
        if (lz_node_refs(n) != uses || uses != note->edges)
            note->held = true;
        if (note->held)
            for (uint32_t k = 0; k < n->sig->nopnd; k++)
                c->notes.data[n->opnd[k]->index].held = true;
    }
}

/* Whether this run may give the node's memory away: no other handle has the value, and no equal
 * value that was computed together with it has the buffer. What the program may take over does not
 * depend on it: the first steps of a program often differ in just this, and one program serves
 * them all. */
static bool is_alone(lz_node *n, const lz_device_buffer *b)
{
    return lz_node_refs(n) - lz_node_uses(n) == 2 &&
           (!(atomic_load(&n->flags) & LZ_NODE_TWIN) ||
            __atomic_load_n(&b->refs, __ATOMIC_ACQUIRE) == 1);
}

void lz_capture_donate(lz_capture *c, lz_node *const *old, uint32_t n)
{
    bool marked = false;
    for (uint32_t i = 0; i < n; i++) {
        lz_node *l = old[i];
        if (!l) /* another thread has ended or assigned the handle */
            continue;
        lz_device_buffer *b = lz_node_buf(l);
        if (l->epoch != c->epoch || !b || b->release || (atomic_load(&l->flags) & LZ_NODE_SHARED))
            continue;
        lz_capture_note *note = &c->notes.data[l->index];
        uint32_t uses = lz_node_uses(l);
        if (note->leaf == UINT32_MAX || lz_node_refs(l) - uses < 2 || uses != note->edges)
            continue;
        if (!marked)
            mark_held(c);
        marked = true;
        if (note->held || c->donate.data[note->leaf])
            continue;
        c->donate.data[note->leaf] = true;
        c->given.data[note->leaf] = is_alone(l, b);
        c->ngiven += c->given.data[note->leaf];
        c->ndonated++;
    }
}

lz_status lz_capture_keep_places(lz_capture *c, const uint64_t *assigned, lz_node *const *old,
                                 uint32_t n)
{
    LZ_TRY(lz_vec_reserve(&c->becomes, c->leaves.len));
    c->becomes.len = c->leaves.len;
    for (uint32_t i = 0; i < c->leaves.len; i++)
        c->becomes.data[i] = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        lz_slot *s = old[i] && old[i]->epoch == c->epoch ? lz_slot_peek(assigned[i]) : NULL;
        uint32_t leaf = s ? c->notes.data[old[i]->index].leaf : UINT32_MAX;
        lz_node *now = leaf != UINT32_MAX ? lz_slot_node_peek(s, assigned[i]) : NULL;
        if (now && now->epoch == c->epoch && c->notes.data[now->index].root)
            c->becomes.data[leaf] = now->index;
        lz_node_release(now);
    }
    return LZ_OK;
}

lz_status lz_capture_finish(lz_capture *c)
{
    uint32_t words = (c->leaves.len + 31) / 32;
    LZ_TRY(
        lz_vec_reserve(&c->key, (uint64_t)c->key.len + c->roots.len + words + c->becomes.len + 6));
    for (uint32_t i = 0; i < c->becomes.len; i++)
        c->key.data[c->key.len++] = c->becomes.data[i];
    for (uint32_t i = 0; i < c->roots.len; i++)
        c->key.data[c->key.len++] = c->roots.data[i]->index;
    memset(c->key.data + c->key.len, 0, words * 4);
    for (uint32_t i = 0; c->ndonated && i < c->leaves.len; i++)
        c->key.data[c->key.len + i / 32] |= (uint32_t)c->donate.data[i] << i % 32;
    c->key.len += words;
    c->key.data[c->key.len++] = c->roots.len;
    c->key.data[c->key.len++] = c->nodes.len;
    put_pointer(c, c->meets && c->dev->be->meets ? (const void *)c->dev->be : c->dev);
    if (c->search)
        put_pointer(c, c->search);
    c->hash = lz_hash_bytes(c->key.data, c->key.len * sizeof c->key.data[0]);
    return LZ_OK;
}

/* ---- as a function ---- */

const char *lz_capture_placement(const lz_capture *c, uint32_t i)
{
    const lz_device_buffer *b = lz_node_buf(c->leaves.data[i]);
    return b && c->dev->be->placement ? c->dev->be->placement(b) : NULL;
}

/* Where parameter i has to stay: a search may choose anew where only a program has chosen. */
static const char *kept_placement(const lz_capture *c, uint32_t i)
{
    const lz_device_buffer *b = lz_node_buf(c->leaves.data[i]);
    bool chosen =
        b && c->search && c->dev->be->placement_is_chosen && c->dev->be->placement_is_chosen(b);
    return chosen ? NULL : lz_capture_placement(c, i);
}

/* Parameter v, which is where `sharding` says. */
static lz_val build_placed(lz_func *f, lz_val v, const char *sharding)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_sharding);
    a.as_sharding.sharding = sharding;
    return lz_build(f, LZ_OP_SHARDING_CONSTRAINT, &a.head, &v, 1);
}

static lz_val build_node(lz_func *f, const lz_capture *c, const lz_node *n, const lz_val *vals,
                         lz_val *opnd)
{
    lz_val v;
    f->now = (lz_origin){n->site, n->scope, LZ_NOVAL};
    if (n->kind == LZ_NODE_CONST) {
        lz_literal *l = lz_literal_copy_from(lz_node_type(n), n->imm);
        if (!l)
            return LZ_NOVAL;
        v = lz_build_const(f, l);
        lz_literal_release(l);
    } else {
        for (uint32_t i = 0; i < n->sig->nopnd; i++)
            opnd[i] = vals[n->opnd[i]->index];
        const lz_sig *sig = sig_of(c, n);
        v = sig ? lz_build_sig(f, sig, opnd) : LZ_NOVAL;
    }
    f->now = (lz_origin){.node = LZ_NOVAL};
    return v;
}

/* ---- places ---- */

static bool is_mark(const lz_node *n)
{
    return n->sig->op == LZ_OP_SHARDING_CONSTRAINT;
}

/* Of each node whether it is marked behind. NULL: no memory. */
static bool *find_marked(const lz_capture *c)
{
    bool *marked = lz_calloc((size_t)c->nodes.len + 1, sizeof *marked);
    for (uint32_t i = 0; i < c->nodes.len && marked; i++) {
        const lz_node *m = c->nodes.data[i];
        if (c->notes.data[i].leaf == UINT32_MAX && is_mark(m))
            marked[m->opnd[0]->index] = true;
    }
    return marked;
}

/* Whether the value of the node is marked behind it, or never more than a constant. */
static bool has_own_place(const bool *marked, const lz_node *n)
{
    return marked[n->index] || n->kind == LZ_NODE_CONST || (!n->sig->nopnd && !lz_node_is_value(n));
}

/* A wish: marks in regions may say other. */
static lz_val build_grouped(lz_func *f, lz_val v, uint32_t group)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_group);
    a.as_group.group_id = LZ_SHARDING_WISHES + group;
    return lz_build(f, LZ_OP_SHARDING_GROUP, &a.head, &v, 1);
}

/* Parameter i, which has the value v, and what it becomes are at one place: its own, the mark of
 * what it becomes, or what the compiler chooses for both. behind: what it becomes is built. */
static lz_val keep_place(lz_func *f, const lz_capture *c, const bool *marked, uint32_t i, lz_val v,
                         bool behind)
{
    const lz_node *l = c->leaves.data[i], *now = c->nodes.data[c->becomes.data[i]];
    const char *sharding = kept_placement(c, i);
    if (sharding)
        return behind && !is_mark(now) ? build_placed(f, v, sharding) : v;
    if (is_mark(now))
        return behind ? v : build_placed(f, v, LZ_ATTR(sharding, now->sig->attr)->sharding);
    return has_own_place(marked, l) || has_own_place(marked, now) ? v : build_grouped(f, v, i);
}

static lz_status keep_places(lz_func *f, const lz_capture *c, lz_val *vals, bool behind)
{
    bool *marked = c->becomes.len ? find_marked(c) : NULL;
    bool ok = marked || !c->becomes.len;
    for (uint32_t i = 0; i < c->becomes.len && ok; i++) {
        uint32_t at = behind ? c->becomes.data[i] : c->leaves.data[i]->index;
        if (c->becomes.data[i] == UINT32_MAX)
            continue;
        vals[at] = keep_place(f, c, marked, i, vals[at], behind);
        ok = vals[at] != LZ_NOVAL;
    }
    lz_free(marked);
    return ok ? LZ_OK : f->status != LZ_OK ? f->status : LZ_EMEM;
}

static lz_status build(lz_func *f, const lz_capture *c, lz_val *vals, lz_val *opnd,
                       uint32_t *root_result)
{
    for (uint32_t i = 0; i < c->leaves.len; i++) {
        const lz_node *n = c->leaves.data[i];
        lz_val v = lz_build_param(f, lz_node_type(n));
        if (v == LZ_NOVAL)
            return f->status != LZ_OK ? f->status : LZ_EMEM;
        f->insts[v].site = n->site;
        f->insts[v].scope = n->scope;
        vals[n->index] = v;
    }
    for (uint32_t i = 0; i < c->leaves.len; i++) {
        const char *sharding = kept_placement(c, i);
        lz_val *v = &vals[c->leaves.data[i]->index];
        if (sharding && (*v = build_placed(f, *v, sharding)) == LZ_NOVAL)
            return f->status != LZ_OK ? f->status : LZ_EMEM;
    }
    LZ_TRY(keep_places(f, c, vals, false));
    for (uint32_t i = 0; i < c->nodes.len; i++) {
        if (c->notes.data[i].leaf != UINT32_MAX)
            continue;
        vals[i] = build_node(f, c, c->nodes.data[i], vals, opnd);
        if (vals[i] == LZ_NOVAL)
            return f->status != LZ_OK ? f->status : LZ_EMEM;
    }
    LZ_TRY(keep_places(f, c, vals, true));
    uint32_t n = 0; /* `opnd` has room for every root */
    for (uint32_t r = 0; r < c->roots.len; r++) {
        lz_val v = vals[c->roots.data[r]->index];
        uint32_t k = 0;
        while (k < n && r < 4096 &&
               opnd[k] != v) /* duplicate results are rare: not worth searching among thousands */
            k++;
        if (k >= n || opnd[k] != v)
            opnd[k = n++] = v;
        root_result[r] = k;
    }
    return lz_func_set_results(f, opnd, n);
}

/* Characters that may follow @ in the text form. */
static void plain_name(const char *name, char *buf, size_t n)
{
    size_t i = 0;
    for (; name[i] && i + 1 < n; i++) {
        char ch = name[i];
        bool ok = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' ||
                  (i && ch >= '0' && ch <= '9');
        buf[i] = ok ? ch : '_';
    }
    buf[i] = '\0';
}

/* A node and the instruction that it became. */
typedef struct recorded {
    uint64_t id;
    lz_val v;
} recorded;

static int by_id(const void *a, const void *b)
{
    const recorded *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static lz_status order_of(const lz_capture *c, const lz_func *f, const lz_val *vals,
                          uint32_t **order)
{
    uint32_t n = c->nodes.len, rank = 0;
    recorded *r = lz_alloc(((size_t)n + 1) * sizeof *r);
    *order = lz_alloc(((size_t)f->ninst + 1) * sizeof **order);
    if (!r || !*order) {
        lz_free(r);
        return LZ_FAIL(LZ_EMEM, "no memory for the order of %u nodes", n);
    }
    for (uint32_t i = 0; i < n; i++)
        r[i] = (recorded){c->nodes.data[i]->id, vals[i]};
    qsort(r, n, sizeof *r, by_id);
    for (uint32_t v = 0; v < f->ninst; v++)
        (*order)[v] = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) /* equal nodes are one instruction: the first counts */
        if ((*order)[r[i].v] == UINT32_MAX)
            (*order)[r[i].v] = rank++;
    lz_free(r);
    return LZ_OK;
}

static lz_status capture_func(const lz_capture *c, const char *name, lz_func **out,
                              uint32_t *root_result, uint32_t **order)
{
    char plain[64];
    plain_name(name && name[0] ? name : "main", plain, sizeof plain);
    *out = NULL;
    uint32_t widest = c->roots.len;
    for (uint32_t i = 0; i < c->nodes.len; i++)
        if (c->nodes.data[i]->sig->nopnd > widest)
            widest = c->nodes.data[i]->sig->nopnd;
    lz_func *f = lz_func_new(plain);
    lz_val *vals = lz_calloc((size_t)c->nodes.len + widest + 1, sizeof *vals);
    lz_status s = f && vals ? build(f, c, vals, vals + c->nodes.len, root_result)
                            : LZ_FAIL(LZ_EMEM, "no memory for a graph of %u nodes", c->nodes.len);
    if (s == LZ_OK && order)
        s = order_of(c, f, vals, order);
    lz_free(vals);
    if (s != LZ_OK) {
        lz_func_free(f);
        return s;
    }
    *out = f;
    return LZ_OK;
}

lz_status lz_capture_func(const lz_capture *c, const char *name, lz_func **out,
                          uint32_t *root_result)
{
    return capture_func(c, name, out, root_result, NULL);
}

lz_status lz_capture_func_order(const lz_capture *c, const char *name, lz_func **out,
                                uint32_t *root_result, uint32_t **order)
{
    *order = NULL;
    lz_status s = capture_func(c, name, out, root_result, order);
    if (s != LZ_OK) {
        lz_free(*order);
        *order = NULL;
    }
    return s;
}

void lz_capture_free(lz_capture *c)
{
    lz_vec_free(&c->nodes);
    lz_vec_free(&c->notes);
    lz_vec_free(&c->leaves);
    lz_vec_free(&c->roots);
    lz_vec_free(&c->donate);
    lz_vec_free(&c->given);
    lz_vec_free(&c->becomes);
    lz_vec_free(&c->key);
    lz_vec_free(&c->groups);
    lz_vec_free(&c->stack);
    lz_vec_free(&c->in);
    lz_vec_free(&c->out);
    memset(c, 0, sizeof *c);
}
