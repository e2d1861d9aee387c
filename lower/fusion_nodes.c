/* fusion_nodes.c - which values get memory, and what each node reads.
 * First a forward look over the function marks the values that must or should have memory: results, what reductions, products and
 * scatters make or need, what several users share and is not cheaper to do again, what a broadcast would repeat at high cost.
 * Then every node is emitted dry, which finds its reads, splits its dimensions where reshapes want it, and may find values that need memory
 * after all (a reshape that cuts across, a bit cast); then the nodes are made again. Each round adds at least one such value.
 * Cost: O(instructions) per round.   Threads: as lz_fusion. */
#include "lower/fusion.h"
#include <inttypes.h>
#include <string.h>

enum {
    DUP_OPS = 6,
    DUP_SCALAR_OPS = 12,
    TREE_OPS = 160,
    PROLOGUE_OPS = 3,
    SOME_BUFS = 20,
    MANY_BUFS = 56,
    CHAIN = 3
};

typedef struct tree { /* what computing a value in place costs, down to memory */
    uint32_t uses;    /* nodes-to-be that want it, looking through movement */
    uint16_t ops, reads;
    uint16_t bufs; /* arrays and scalars in memory, counted as often as they are read */
    bool costly;
    bool moves;    /* has movement that is not affine */
    bool borrowed; /* reads something that would have no memory but for this */
    lz_val src;    /* the one array it reads, or LZ_NOVAL */
} tree;

static lz_op op_of(const lz_fusion *fu, lz_val v)
{
    return lz_inst_op(&fu->f->insts[v]);
}

static lz_op_class class_of(const lz_fusion *fu, lz_val v)
{
    return lz_op_get(op_of(fu, v))->cls;
}

/* Integers that may stem from a size are kept out of the code: equal layers of another size are then the same kernel. */
bool lz_const_baked(const lz_literal *l)
{
    uint64_t bits;
    if (!lz_literal_splat(l, &bits) || l->type->shape.rank > 0)
        return false;
    if (!lz_dtype_is_float(l->type->dtype))
        return true;
    double v = lz_literal_get_f64(l, 0), a = v < 0 ? -v : v;
    if (!(a > 8) && a * 16 == (double)(int64_t)(a * 16))
        return true;
    double inv = 1 / a, top = 9e15;
    if (!(a < top) || !(inv < top))
        return true;
    double near = (double)(int64_t)(inv + 0.5), eps = lz_dtype_size(l->type->dtype) == 8   ? 1e-15
                                                      : lz_dtype_size(l->type->dtype) == 4 ? 1e-7
                                                                                           : 1e-2;
    bool size_like =
        a == (double)(int64_t)a || (inv > 4 && inv - near <= eps * inv && near - inv <= eps * inv);
    return !size_like;
}

lz_val lz_fusion_memory(const lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    if (in->lit)
        return lz_const_baked(in->lit) ? LZ_NOVAL : v;
    lz_val r = fu->root[v];
    if (r == LZ_NOVAL)
        return LZ_NOVAL;
    return fu->realised[r] ? r : LZ_NOVAL;
}

const lz_type *lz_fusion_buf_type(const lz_fusion *fu, uint32_t buf)
{
    return buf < fu->f->ninst ? lz_val_type(fu->f, buf) : fu->extra.data[buf - fu->f->ninst];
}

/* ---- the forward look ---- */

/* The operand whose memory v views; LZ_NOVAL when v is not a view. */
static lz_val viewed(const lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    if (in->sig->flags & LZ_F_RELABEL)
        return in->opnd[0];
    if (lz_op_get(in->sig->op)->cls != LZ_CLASS_META)
        return LZ_NOVAL;
    if (in->sig->flags &
        LZ_F_MULTI) /* a barrier; with several results it is viewed through `result` */
        return in->sig->nresult == 1 ? in->opnd[0] : LZ_NOVAL;
    const lz_inst *multi = &fu->f->insts[in->opnd[0]];
    return lz_op_get(multi->sig->op)->cls == LZ_CLASS_META
               ? multi->opnd[LZ_ATTR(index, in->sig->attr)->index]
               : LZ_NOVAL;
}

static bool transparent(const lz_fusion *fu, lz_val v)
{
    lz_op_class c = class_of(fu, v);
    return c == LZ_CLASS_META ||
           (c == LZ_CLASS_MOVE && fu->f->insts[v].sig->nopnd <= 2 && !fu->realised[v]);
}

static bool realise(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    lz_val r = in->lit ? v : fu->root[v];
    if (r == LZ_NOVAL || fu->realised[r] ||
        (fu->f->insts[r].sig->flags & LZ_F_MULTI && fu->f->insts[r].sig->nresult > 1))
        return false;
    fu->realised[r] = true;
    return true;
}

static void count_uses(const lz_fusion *fu, tree *t)
{
    const lz_func *f = fu->f;
    for (uint32_t k = 0; k < f->nresult; k++)
        t[f->results[k]].uses++;
    for (uint32_t i = f->ninst; i-- > 0;) {
        const lz_inst *in = &f->insts[i];
        uint32_t n = transparent(fu, i) ? t[i].uses : 1;
        for (uint32_t k = 0; k < in->sig->nopnd; k++) {
            bool again = false;
            for (uint32_t j = 0; j < k; j++)
                again |= in->opnd[j] == in->opnd[k];
            if (!again && t[in->opnd[k]].uses < UINT32_MAX / 2)
                t[in->opnd[k]].uses += n;
        }
    }
}

/* What operand v adds to the tree of its user. */
static void grow(const lz_fusion *fu, const tree *t, tree *into, lz_val v)
{
    lz_val mem = lz_fusion_memory(fu, v);
    bool scalar = lz_val_type(fu->f, v)->nelem == 1;
    if (mem != LZ_NOVAL) {
        if (!scalar && into->src != mem) {
            into->reads++;
            into->src = mem;
        }
        into->borrowed |= class_of(fu, mem) != LZ_CLASS_LEAF && t[mem].uses < 2;
        into->bufs++;
        return;
    }
    uint32_t ops = (uint32_t)into->ops + t[v].ops,
             reads = (uint32_t)into->reads + (scalar ? 0 : t[v].reads);
    if (reads == 2 && into->reads == 1 && into->src == t[v].src)
        reads = 1;
    into->ops = (uint16_t)(ops > 60000 ? 60000 : ops);
    into->reads = (uint16_t)(reads > 60000 ? 60000 : reads);
    into->bufs = (uint16_t)(into->bufs + t[v].bufs < 60000 ? into->bufs + t[v].bufs : 60000);
    into->costly |= t[v].costly;
    into->moves |= t[v].moves;
    into->borrowed |= t[v].borrowed;
    if (t[v].reads && !scalar)
        into->src = t[v].src;
}

static void grow_all(const lz_fusion *fu, tree *t, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    uint32_t uses = t[v].uses;
    memset(&t[v], 0, sizeof t[v]);
    t[v].uses = uses;
    t[v].src = LZ_NOVAL;
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        grow(fu, t, &t[v], in->opnd[k]);
}

/* Several users: is it cheaper to do it in each of them than to store it? */
static bool worth_repeating(const lz_fusion *fu, const tree *t, lz_val v)
{
    const tree *x = &t[v];
    if (x->costly || lz_fusion_memory(fu, v) != LZ_NOVAL)
        return false;
    if (x->reads == 0 || lz_val_type(fu->f, v)->nelem == 1)
        return x->ops <= DUP_SCALAR_OPS;
    if (x->reads > 1 || x->ops > DUP_OPS)
        return false;
    size_t from = lz_dtype_size(lz_val_type(fu->f, x->src)->dtype),
           to = lz_dtype_size(lz_val_type(fu->f, v)->dtype);
    bool kept = class_of(fu, x->src) == LZ_CLASS_LEAF || t[x->src].uses > 1;
    return kept && from <= to * 4 && (from <= to || to == 1);
}

/* A factor may be worked out while it is packed when that is little work on memory that is there anyway. */
static bool good_prologue(const lz_fusion *fu, const tree *t, lz_val v)
{
    const tree *x = &t[v];
    if (x->costly || x->moves || x->borrowed || x->ops > PROLOGUE_OPS || x->reads == 0 ||
        x->reads > 2 || x->uses > 1)
        return false;
    return lz_dtype_size(lz_val_type(fu->f, x->src)->dtype) <=
           2 * lz_dtype_size(lz_val_type(fu->f, v)->dtype);
}

/* Below affine movement: the value a product would read, which is to have memory unless it is easily made on the way. */
static void realise_factor(lz_fusion *fu, const tree *t, lz_val v)
{
    for (;;) {
        if (lz_fusion_memory(fu, v) != LZ_NOVAL || good_prologue(fu, t, v))
            return;
        const lz_inst *in = &fu->f->insts[v];
        bool affine = class_of(fu, v) == LZ_CLASS_MOVE && in->sig->nopnd == 1 &&
                      !(in->sig->flags & LZ_F_RELABEL);
        if (!affine || in->sig->attr->kind == LZ_ATTR_dims) /* reversed: not worth a thought */
            break;
        v = in->opnd[0];
    }
    if (!fu->f->insts[v].lit)
        realise(fu, v);
}

static void look_at_mover(lz_fusion *fu, const tree *t, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    int64_t n = in->sig->result[0]->nelem;
    lz_val x = in->opnd[0];
    bool repeats = n > in->sig->opnd[0]->nelem;
    if (repeats && t[x].costly && lz_fusion_memory(fu, x) == LZ_NOVAL)
        realise(fu, x);
}

static void look_at(lz_fusion *fu, tree *t, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    const lz_op_info *info = lz_op_get(in->sig->op);
    tree *x = &t[v];
    x->src = LZ_NOVAL;
    if (info->cls == LZ_CLASS_LEAF)
        return;
    if ((info->cls == LZ_CLASS_MOVE || info->cls == LZ_CLASS_INDEX) && in->sig->nopnd)
        look_at_mover(fu, t, v);
    grow_all(fu, t, v);
    if (x->bufs > MANY_BUFS) { /* too many for one kernel: the operands with most go first */
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            if (t[in->opnd[k]].bufs > 1)
                realise(fu, in->opnd[k]);
        grow_all(fu, t, v);
    }
    if (info->cls == LZ_CLASS_EW)
        x->ops = (uint16_t)(x->ops + (info->flags & LZ_F_CHEAP ? 1 : 4));
    x->costly |= (info->flags & LZ_F_COSTLY) != 0;
    x->moves |= info->cls == LZ_CLASS_INDEX || in->sig->op == LZ_OP_PAD ||
                in->sig->op == LZ_OP_CONCATENATE || in->sig->op == LZ_OP_IOTA ||
                (info->flags & LZ_F_RELABEL);
    if (info->cls == LZ_CLASS_DOT) {
        realise_factor(fu, t, in->opnd[0]);
        realise_factor(fu, t, in->opnd[1]);
    }
    if (lz_fusion_memory(fu, v) != LZ_NOVAL)
        return;
    /* a short concatenation for one user is a choice between loads; any other is written piece by piece */
    bool work = info->cls == LZ_CLASS_EW || info->cls == LZ_CLASS_INDEX;
    if (in->sig->op == LZ_OP_CONCATENATE && (x->uses > 1 || x->costly || x->ops > DUP_OPS)) {
        realise(fu, v);
        return;
    }
    /* a predicate takes a byte: better kept than what it was made of, when a later kernel wants it (a mask for the gradient) */
    const lz_type *r = in->sig->result[0];
    bool mask = info->cls == LZ_CLASS_EW && r->dtype == LZ_BOOL && r->nelem > 1 && x->reads &&
                class_of(fu, x->src) != LZ_CLASS_LEAF &&
                lz_dtype_size(lz_val_type(fu->f, x->src)->dtype) > 1;
    if (x->ops > TREE_OPS || x->bufs > SOME_BUFS || mask ||
        (work && x->uses > 1 && !worth_repeating(fu, t, v)))
        realise(fu, v);
}

/* Values with memory whatever it costs. */
static void must_have(lz_fusion *fu)
{
    const lz_func *f = fu->f;
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        lz_op_class c = class_of(fu, i);
        lz_val w = viewed(fu, i);
        fu->root[i] = w == LZ_NOVAL ? i : fu->root[w];
        bool multi = in->sig->flags & LZ_F_MULTI;
        if (i < f->nparam || (in->lit && !lz_const_baked(in->lit)))
            fu->realised[i] = true;
        if (c == LZ_CLASS_REDUCE || c == LZ_CLASS_DOT || (c == LZ_CLASS_INDEX && multi))
            fu->realised[i] = in->sig->nresult == 1;
        if (c == LZ_CLASS_META && w == LZ_NOVAL && !multi)
            fu->realised[i] = true; /* one of several results */
        if (in->sig->op == LZ_OP_DYNAMIC_UPDATE_SLICE ||
            (in->sig->op == LZ_OP_CONCATENATE && in->sig->nopnd > CHAIN))
            fu->realised[i] = true;
        if (c == LZ_CLASS_META && multi)
            for (uint32_t k = 0; k < in->sig->nopnd; k++)
                realise(fu, in->opnd[k]);
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        realise(fu, f->results[k]);
}

/* ---- making nodes ---- */

static lz_status add_node(lz_fusion *fu, lz_node_kind kind, lz_node_store store, lz_val v,
                          uint32_t dst, lz_node **out)
{
    if (fu->nnode == fu->cap_node) {
        uint32_t cap = fu->cap_node ? 2 * fu->cap_node : 64;
        lz_node **p = lz_realloc(fu->nodes, cap * sizeof *p);
        if (!p)
            return LZ_FAIL(LZ_EMEM, "out of memory");
        fu->nodes = p;
        fu->cap_node = cap;
    }
    lz_node *n = lz_arena_alloc(&fu->arena, sizeof *n);
    if (!n)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    n->kind = kind;
    n->store = store;
    n->v = v;
    n->dst = dst;
    n->nres = 1;
    n->res[0] = dst;
    fu->nodes[fu->nnode++] = n;
    const lz_shape *s = &lz_val_type(fu->f, v)->shape;
    n->rank = s->rank;
    memcpy(n->ext, s->dims, sizeof s->dims);
    *out = n;
    return LZ_OK;
}

static void add_inner(lz_node *n, int64_t ext)
{
    n->ext[n->rank + n->ninner++] = ext;
}

static void node_axes(lz_node *n)
{
    int nd = n->rank + n->ninner;
    n->ax.n = 0;
    for (int d = 0; d < nd; d++) {
        n->first[d] = (uint8_t)n->ax.n;
        if (n->ext[d] != 1)
            n->ax.ext[n->ax.n++] = n->ext[d];
    }
    n->first[nd] = (uint8_t)n->ax.n;
}

static bool is_result_of_multi(const lz_fusion *fu, lz_val v)
{
    return class_of(fu, v) == LZ_CLASS_META && !(fu->f->insts[v].sig->flags & LZ_F_MULTI);
}

/* The `result` instructions of v, by index. */
static lz_status find_results(const lz_fusion *fu, lz_val v, uint32_t res[LZ_LOOP_MAX])
{
    const lz_inst *in = &fu->f->insts[v];
    if (in->sig->nresult > LZ_LOOP_MAX)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: %u results, at most %d are supported",
                       lz_op_get(in->sig->op)->text, in->sig->nresult, LZ_LOOP_MAX);
    for (uint32_t k = 0; k < in->sig->nresult; k++)
        res[k] = in->sig->nresult == 1 ? v : LZ_NONE;
    for (uint32_t i = v + 1; in->sig->nresult > 1 && i < fu->f->ninst; i++)
        if (is_result_of_multi(fu, i) && fu->f->insts[i].opnd[0] == v)
            res[LZ_ATTR(index, fu->f->insts[i].sig->attr)->index] = i;
    return LZ_OK;
}

static lz_status extra_buffer(lz_fusion *fu, const lz_type *t, uint32_t *buf)
{
    *buf = lz_fusion_nbuf(fu);
    return lz_vec_push(&fu->extra, t);
}

static lz_status reduce_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    const lz_shape *s = &in->sig->opnd[0]->shape;
    lz_node *n;
    LZ_TRY(add_node(fu, LZ_NODE_REDUCE, LZ_STORE_VALUE, v, v, &n));
    for (int d = 0; d < s->rank; d++)
        if (lz_ints_has(&LZ_ATTR(reduce, in->sig->attr)->dimensions, d))
            add_inner(n, s->dims[d]);
    n->nres = in->sig->nresult;
    LZ_TRY(find_results(fu, v, n->res));
    for (uint32_t k = 0; k < n->nres; k++)
        if (n->res[k] != LZ_NONE)
            fu->node_of[n->res[k]] = fu->nnode - 1;
    return LZ_OK;
}

static lz_status dot_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    const lz_ints *k = &LZ_ATTR(dot, in->sig->attr)->lhs_contracting_dimensions;
    lz_node *n;
    LZ_TRY(add_node(fu, LZ_NODE_DOT, LZ_STORE_VALUE, v, v, &n));
    for (int i = 0; i < k->n; i++)
        add_inner(n, in->sig->opnd[0]->shape.dims[k->v[i]]);
    fu->node_of[v] = fu->nnode - 1;
    return LZ_OK;
}

/* The inputs are copied, then updated in place; the copies go when the inputs die (buffers.c). */
static lz_status scatter_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    uint32_t res[LZ_LOOP_MAX], nres = in->sig->nresult;
    lz_node *n;
    LZ_TRY(find_results(fu, v, res));
    for (uint32_t k = 0; k < nres; k++) {
        if (res[k] == LZ_NONE)
            LZ_TRY(extra_buffer(fu, in->sig->result[k], &res[k]));
        LZ_TRY(add_node(fu, LZ_NODE_POINT, LZ_STORE_COPY, in->opnd[k], res[k], &n));
    }
    if (in->sig->opnd[nres + 1]->nelem == 0)
        return LZ_OK;
    LZ_TRY(add_node(fu, LZ_NODE_SCATTER, LZ_STORE_VALUE, v, v, &n));
    n->nres = nres;
    memcpy(n->res, res, sizeof res);
    const lz_shape *s = &in->sig->opnd[nres + 1]->shape;
    n->rank = s->rank;
    memcpy(n->ext, s->dims, sizeof s->dims);
    return LZ_OK;
}

static lz_status concatenate_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    int64_t at = 0, dim = LZ_ATTR(dim, in->sig->attr)->dimension;
    lz_node *n;
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        if (in->sig->opnd[k]->nelem) {
            LZ_TRY(add_node(fu, LZ_NODE_POINT, LZ_STORE_PIECE, in->opnd[k], v, &n));
            n->piece_at = at;
        }
        at += in->sig->opnd[k]->shape.dims[dim];
    }
    return LZ_OK;
}

static lz_status update_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    lz_node *n;
    LZ_TRY(add_node(fu, LZ_NODE_POINT, LZ_STORE_COPY, in->opnd[0], v, &n));
    return in->sig->opnd[1]->nelem
               ? add_node(fu, LZ_NODE_POINT, LZ_STORE_UPDATE, in->opnd[1], v, &n)
               : LZ_OK;
}

static lz_status nodes_of_value(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    lz_op_class c = class_of(fu, v);
    lz_node *n;
    if (c == LZ_CLASS_REDUCE)
        return reduce_nodes(fu, v);
    if (c == LZ_CLASS_DOT)
        return dot_nodes(fu, v);
    if (c == LZ_CLASS_INDEX && (in->sig->flags & LZ_F_MULTI))
        return scatter_nodes(fu, v);
    if (in->sig->op == LZ_OP_CONCATENATE)
        return concatenate_nodes(fu, v);
    if (in->sig->op == LZ_OP_DYNAMIC_UPDATE_SLICE)
        return update_nodes(fu, v);
    LZ_TRY(add_node(fu, LZ_NODE_POINT, LZ_STORE_VALUE, v, v, &n));
    fu->node_of[v] = fu->nnode - 1;
    return LZ_OK;
}

/* Buffers of the function's results; what is not made into one directly is copied. */
static lz_status nodes_of_results(lz_fusion *fu)
{
    const lz_func *f = fu->f;
    for (uint32_t k = 0; k < f->nresult; k++) {
        lz_val v = f->results[k], mem = lz_fusion_memory(fu, v);
        bool own = mem != LZ_NOVAL && mem >= f->nparam && !f->insts[mem].lit;
        for (uint32_t j = 0; own && j < k; j++)
            own = fu->result_buf[j] != mem;
        fu->result_buf[k] = mem;
        lz_node *n;
        if (own)
            continue;
        LZ_TRY(extra_buffer(fu, lz_val_type(f, v), &fu->result_buf[k]));
        if (lz_val_type(f, v)->nelem)
            LZ_TRY(add_node(fu, LZ_NODE_POINT, LZ_STORE_COPY, v, fu->result_buf[k], &n));
    }
    return LZ_OK;
}

static lz_status make_nodes(lz_fusion *fu)
{
    const lz_func *f = fu->f;
    fu->nnode = 0;
    fu->extra.len = 0;
    for (uint32_t i = 0; i < f->ninst; i++)
        fu->node_of[i] = LZ_NONE;
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        bool several = in->sig->nresult > 1 && class_of(fu, i) != LZ_CLASS_META;
        bool empty = !several && in->sig->result[0]->nelem == 0;
        if ((fu->realised[i] || several) && !in->lit && !empty && !is_result_of_multi(fu, i))
            LZ_TRY(nodes_of_value(fu, i));
    }
    LZ_TRY(nodes_of_results(fu));
    for (uint32_t i = 0; i < fu->nnode; i++)
        node_axes(fu->nodes[i]);
    return LZ_OK;
}

/* ---- axes ---- */

void lz_node_map(const lz_node *n, int from, int count, const uint8_t *loop_of, lz_ixmap *out)
{
    memset(out, 0, sizeof *out);
    out->rank = count;
    for (int d = 0; d < count; d++) {
        int64_t stride = 1;
        for (int a = n->first[from + d + 1]; a-- > n->first[from + d];) {
            out->d[d].k[loop_of ? loop_of[a] : a] = stride;
            stride *= n->ax.ext[a];
        }
    }
}

static void split_ix(lz_ix *x, uint32_t a, uint32_t n, int64_t inner)
{
    for (uint32_t l = n; l > a + 1; l--)
        x->k[l] = x->k[l - 1];
    x->k[a + 1] = x->k[a];
    x->k[a] *= inner;
}

void lz_node_split(lz_node *n, uint32_t a, int64_t inner)
{
    for (uint32_t i = 0; i < n->reads.len; i++)
        for (int d = 0; d < n->reads.data[i].map.rank; d++)
            split_ix(&n->reads.data[i].map.d[d], a, n->ax.n, inner);
    for (uint32_t l = n->ax.n; l > a + 1; l--) {
        n->ax.ext[l] = n->ax.ext[l - 1];
        n->axis[l] = n->axis[l - 1];
    }
    n->ax.ext[a + 1] = inner;
    n->ax.ext[a] /= inner;
    n->ax.n++;
    for (int d = 0; d <= n->rank + n->ninner; d++)
        if (n->first[d] > a)
            n->first[d]++;
}

/* ---- the dry emission ---- */

typedef struct dry {
    lz_fusion *fu;
    lz_node *n;
    uint32_t nread;
} dry;

/* Whether v is src under another shape: only then are its elements where the map says. */
static bool only_reshaped(const lz_fusion *fu, lz_val v, lz_val src)
{
    while (v != src && op_of(fu, v) == LZ_OP_RESHAPE)
        v = fu->f->insts[v].opnd[0];
    return v == src;
}

/* A read of memory `src` as value v at f->map. */
static lz_status note_read(lz_emit *e, lz_frame *f, lz_val src, lz_ix *flat)
{
    dry *d = e->env;
    lz_read r;
    memset(&r, 0, sizeof r);
    r.src = src;
    r.opaque = f->guard >= 0 || flat->ndyn > 0 || !only_reshaped(d->fu, f->v, src);
    uint32_t loop;
    int64_t inner;
    bool ours = d->fu->node_of[src] != LZ_NONE;
    if (f->v == src) {
        lz_ixmap_copy(&r.map, &f->map);
    } else if (!r.opaque && !lz_ixmap_unflat(flat, &e->ax, &lz_val_type(e->f, src)->shape, &r.map,
                                             &loop, &inner)) {
        if (ours && loop != UINT32_MAX && e->ax.n < LZ_MAX_RANK) {
            e->stop = true;
            e->split_loop = loop;
            e->split_inner = inner;
            return LZ_OK;
        }
        r.opaque = true;
    }
    if (r.opaque)
        memset(&r.map, 0, sizeof r.map);
    for (uint32_t i = 0; i < d->n->reads.len; i++) {
        const lz_read *o = &d->n->reads.data[i];
        if (o->src == src && o->opaque == r.opaque &&
            (r.opaque || lz_ixmap_eq(&o->map, &r.map, e->ax.n)))
            return LZ_OK;
    }
    return lz_vec_push(&d->n->reads, r);
}

static lz_status dry_leaf(lz_emit *e, lz_frame *f)
{
    dry *d = e->env;
    if (d->n->store == LZ_STORE_VALUE && f->v == d->n->v)
        return LZ_OK;
    lz_val src = lz_fusion_memory(d->fu, f->v);
    if (src == LZ_NOVAL)
        return LZ_OK;
    lz_ix flat;
    if (!lz_ixmap_flat(&f->map, &lz_val_type(e->f, f->v)->shape, &flat)) {
        memset(&flat, 0, sizeof flat);
        flat.ndyn = 1;
    }
    LZ_TRY(note_read(e, f, src, &flat));
    if (e->stop)
        return LZ_OK;
    f->leaf = true;
    return lz_emit_load(e, src, lz_val_type(e->f, f->v)->dtype, &flat, f->guard, &f->result);
}

static lz_status no_target(lz_emit *e, uint32_t k, uint32_t *buf)
{
    (void)e;
    *buf = LZ_NONE - k;
    return LZ_OK;
}

static lz_status dry_scalars(lz_emit *e, const lz_inst *in, uint32_t from)
{
    lz_ixmap none;
    int32_t sop;
    memset(&none, 0, sizeof none);
    for (uint32_t k = from; k < in->sig->nopnd && !e->stop; k++)
        LZ_TRY(lz_emit_value(e, in->opnd[k], &none, -1, &sop));
    return LZ_OK;
}

static lz_status dry_emit(lz_emit *e, const lz_fusion *fu, lz_node *n)
{
    lz_ixmap m;
    int32_t sop;
    const lz_inst *in = &fu->f->insts[n->v];
    lz_node_map(n, 0, n->rank, NULL, &m);
    lz_node_map(n, n->rank, n->ninner, NULL, &e->inner);
    if (n->kind != LZ_NODE_POINT)
        LZ_TRY(lz_emit_root(e, n->v, &m, &sop));
    else
        LZ_TRY(lz_emit_value(e, n->v, &m, -1, &sop));
    lz_red_plan p;
    if (n->kind == LZ_NODE_REDUCE && !e->stop) {
        lz_red_plan_of(fu->f, n->v, &p);
        if (p.fold)
            LZ_TRY(dry_scalars(e, in, in->sig->nopnd / 2));
    }
    if (n->store == LZ_STORE_UPDATE && !e->stop)
        LZ_TRY(dry_scalars(e, &fu->f->insts[n->dst], 2));
    return LZ_OK;
}

/* Finds the reads of a node. *again: a value was given memory, the nodes must be made anew. */
static lz_status analyse(lz_fusion *fu, lz_node *n, bool *again)
{
    lz_arena arena = {0};
    lz_emit e;
    dry d = {fu, n, 0};
    lz_status s;
    for (;;) {
        lz_emit_init(&e, fu->f, &arena);
        e.leaf = dry_leaf;
        e.target = no_target;
        e.env = &d;
        e.ax = n->ax;
        n->reads.len = 0;
        s = dry_emit(&e, fu, n);
        n->nsop = e.sops.v.len;
        n->costly = false;
        for (uint32_t i = 0; i < e.sops.v.len; i++)
            n->costly |=
                e.sops.v.data[i].kind == LZ_S_EW && lz_op_has(e.sops.v.data[i].op, LZ_F_COSTLY);
        bool stop = e.stop,
             too_many = n->first[n->rank] >= LZ_OUTER_MAX && e.split_loop < n->first[n->rank];
        uint32_t loop = e.split_loop;
        int64_t inner = e.split_inner;
        lz_val want = e.realise;
        lz_emit_done(&e);
        lz_arena_free(&arena);
        memset(&arena, 0, sizeof arena);
        if (s != LZ_OK || !stop)
            return s;
        if (loop != UINT32_MAX && n->ax.n < LZ_LOOP_MAX && !too_many) {
            lz_node_split(n, loop, inner);
            continue;
        }
        if (want == LZ_NOVAL || !realise(fu, want))
            return LZ_FAIL(LZ_EINTERNAL,
                           "fusion: %%%u (%s) can be neither computed in place nor stored", want,
                           lz_op_get(op_of(fu, n->v))->text);
        *again = true;
        return LZ_OK;
    }
}

static void drop_reads(lz_fusion *fu)
{
    for (uint32_t i = 0; i < fu->nnode; i++)
        lz_vec_free(&fu->nodes[i]->reads);
}

/* What only empty values or dropped results wanted goes. */
static lz_status drop_dead(lz_fusion *fu)
{
    bool *needed = lz_calloc((size_t)lz_fusion_nbuf(fu) + 1, 1),
         *live = lz_calloc((size_t)fu->nnode + 1, 1);
    uint32_t n = 0;
    for (uint32_t k = 0; needed && live && k < fu->f->nresult; k++)
        needed[fu->result_buf[k]] = true;
    for (uint32_t i = fu->nnode; needed && live && i-- > 0;) {
        const lz_node *x = fu->nodes[i];
        for (uint32_t k = 0; k < x->nres; k++)
            live[i] |= x->res[k] != LZ_NONE && needed[x->res[k]];
        for (uint32_t k = 0; k < x->reads.len && live[i]; k++)
            needed[x->reads.data[k].src] = true;
    }
    for (uint32_t i = 0; needed && live && i < fu->nnode; i++) {
        lz_node *x = fu->nodes[i];
        for (uint32_t k = 0;
             k < x->nres && x->store == LZ_STORE_VALUE && x->kind != LZ_NODE_SCATTER; k++)
            if (x->res[k] != LZ_NONE)
                fu->node_of[x->res[k]] = live[i] ? n : LZ_NONE;
        if (live[i])
            fu->nodes[n++] = x;
        else
            lz_vec_free(&x->reads);
    }
    lz_status s = needed && live ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    if (s == LZ_OK)
        fu->nnode = n;
    lz_free(needed);
    lz_free(live);
    return s;
}

lz_status lz_fusion_nodes(lz_fusion *fu)
{
    must_have(fu);
    tree *t = lz_calloc(fu->f->ninst ? fu->f->ninst : 1, sizeof *t);
    if (!t)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    count_uses(fu, t);
    for (uint32_t i = 0; i < fu->f->ninst; i++)
        look_at(fu, t, i);
    lz_free(t);
    for (;;) {
        bool again = false;
        LZ_TRY(make_nodes(fu));
        for (uint32_t i = 0; i < fu->nnode; i++)
            LZ_TRY(analyse(fu, fu->nodes[i], &again));
        if (!again)
            return drop_dead(fu);
        drop_reads(fu);
    }
}
