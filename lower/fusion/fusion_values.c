/* fusion_values.c - decides which values are materialized. One forward scan marks results,
 * operands and results of reductions, dots and scatters, values with several users that are not
 * cheaper to recompute, values that a broadcast would recompute at high cost, and values that
 * would make one kernel too large. All others are recomputed in their users. fusion_nodes.c may
 * add more.
 * Cost: O(instructions).   Threads: as lz_fusion. */
#include "lower/fusion/fusion.h"
#include <string.h>

enum {
    DUP_OPS = 6,
    DUP_SCALAR_OPS = 12,
    TREE_OPS = 160,
    PROLOGUE_OPS = 3,
    SOME_BUFS = 20,
    MANY_BUFS = 56,
    CHAIN = 3,
    SMALL = 8
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

/* Integers that may stem from a size are kept out of the code: equal layers of another size are
 * then the same kernel. */
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

uint32_t lz_fusion_whole(const lz_fusion *fu, lz_val v)
{
    return fu->f->insts[v].lit ? v : fu->root[v];
}

const lz_type *lz_fusion_buf_type(const lz_fusion *fu, uint32_t buf)
{
    return buf < fu->f->ninst ? lz_val_type(fu->f, buf) : fu->extra.data[buf - fu->f->ninst];
}

bool lz_group_is_ordered(const lz_fusion *fu, const lz_group *g)
{
    for (uint32_t i = 0; i < g->nodes.len && !g->dead; i++)
        if (fu->nodes[g->nodes.data[i]]->ordered)
            return true;
    return false;
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

bool lz_fusion_realise(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    lz_val r = in->lit ? v : fu->root[v];
    if (r == LZ_NOVAL || fu->realised[r] ||
        (fu->f->insts[r].sig->flags & LZ_F_MULTI && fu->f->insts[r].sig->nresult > 1))
        return false;
    fu->realised[r] = true;
    return true;
}

/* last: by value, room. */
static void count_uses(const lz_fusion *fu, tree *t, uint32_t *last)
{
    const lz_func *f = fu->f;
    memset(last, 0, f->ninst * sizeof *last);
    for (uint32_t k = 0; k < f->nresult; k++)
        t[f->results[k]].uses++;
    for (uint32_t i = f->ninst; i-- > 0;) {
        const lz_inst *in = &f->insts[i];
        uint32_t n = transparent(fu, i) ? t[i].uses : 1;
        for (uint32_t k = 0; k < in->sig->nopnd; k++) {
            lz_val v = in->opnd[k];
            if (last[v] != i + 1 && t[v].uses < UINT32_MAX / 2)
                t[v].uses += n;
            last[v] = i + 1; /* twice by one user is one use */
        }
    }
}

/* What operand v adds to the tree of its user. Reading what is much smaller than what is made of it
 * costs nothing: it is in cache. */
static void grow(const lz_fusion *fu, tree *t, lz_val user, lz_val v)
{
    tree *into = &t[user];
    lz_val mem = lz_fusion_memory(fu, v);
    int64_t nelem = lz_val_type(fu->f, mem == LZ_NOVAL ? v : mem)->nelem;
    bool free =
        lz_val_type(fu->f, v)->nelem == 1 || nelem * SMALL <= lz_val_type(fu->f, user)->nelem;
    if (mem != LZ_NOVAL) {
        if (!free && into->src != mem) {
            into->reads++;
            into->src = mem;
        }
        into->borrowed |= class_of(fu, mem) != LZ_CLASS_LEAF && t[mem].uses < 2;
        into->bufs++;
        return;
    }
    uint32_t ops = (uint32_t)into->ops + t[v].ops;
    uint32_t reads = (uint32_t)into->reads + (free ? 0 : t[v].reads);
    if (reads == 2 && into->reads == 1 && into->src == t[v].src)
        reads = 1;
    into->ops = (uint16_t)(ops > 60000 ? 60000 : ops);
    into->reads = (uint16_t)(reads > 60000 ? 60000 : reads);
    into->bufs = (uint16_t)(into->bufs + t[v].bufs < 60000 ? into->bufs + t[v].bufs : 60000);
    into->costly |= t[v].costly;
    into->moves |= t[v].moves;
    into->borrowed |= t[v].borrowed;
    if (t[v].reads && !free)
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
        grow(fu, t, v, in->opnd[k]);
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

/* Several users want a value that is another one, made wider: it is that one which is stored, and
 * widened by each of them. */
static bool stored_narrow(lz_fusion *fu, tree *t, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    if (in->sig->op != LZ_OP_CONVERT)
        return false;
    lz_val w = in->opnd[0];
    size_t from = lz_dtype_size(lz_val_type(fu->f, w)->dtype),
           to = lz_dtype_size(in->sig->result[0]->dtype);
    if (from >= to || (lz_fusion_memory(fu, w) == LZ_NOVAL && !lz_fusion_realise(fu, w)))
        return false;
    t[lz_fusion_memory(fu, w)].uses += t[v].uses;
    grow_all(fu, t, v);
    t[v].ops++;
    return true;
}

/* A factor may be worked out while it is packed when that is little work on memory that is there
 * anyway. */
static bool good_prologue(const lz_fusion *fu, const tree *t, lz_val v)
{
    const tree *x = &t[v];
    if (x->costly || x->moves || x->borrowed || x->ops > PROLOGUE_OPS || x->reads == 0 ||
        x->reads > 2 || x->uses > 1)
        return false;
    return lz_dtype_size(lz_val_type(fu->f, x->src)->dtype) <=
           2 * lz_dtype_size(lz_val_type(fu->f, v)->dtype);
}

/* Below affine movement: the value a product would read, which is to have memory unless it is
 *   easily made on the way. */
static void realise_factor(lz_fusion *fu, const tree *t, lz_val v)
{
    for (;;) {
        if (lz_fusion_memory(fu, v) != LZ_NOVAL || good_prologue(fu, t, v))
            return;
        const lz_inst *in = &fu->f->insts[v];
        bool affine = class_of(fu, v) == LZ_CLASS_MOVE && in->sig->nopnd == 1 &&
                      in->sig->attr->kind != LZ_ATTR_dtype;
        if (!affine || in->sig->attr->kind == LZ_ATTR_dims) /* reversed: not worth a thought */
            break;
        v = in->opnd[0];
    }
    if (!fu->f->insts[v].lit)
        lz_fusion_realise(fu, v);
}

static void look_at_mover(lz_fusion *fu, const tree *t, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    int64_t n = in->sig->result[0]->nelem;
    lz_val x = in->opnd[0];
    bool repeats = n > in->sig->opnd[0]->nelem;
    if (repeats && t[x].costly && lz_fusion_memory(fu, x) == LZ_NOVAL)
        lz_fusion_realise(fu, x);
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
                lz_fusion_realise(fu, in->opnd[k]);
        grow_all(fu, t, v);
    }
    if (info->cls == LZ_CLASS_EW)
        x->ops = (uint16_t)(x->ops + (info->flags & LZ_F_CHEAP ? 1 : 4));
    if (info->cls == LZ_CLASS_INDEX)
        x->ops += DUP_OPS + 1; /* computed addresses once, if they can be had once */
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
    /* a short concatenation for one user is a choice between loads; any other is written piece by
     * piece */
    bool work = info->cls == LZ_CLASS_EW || info->cls == LZ_CLASS_INDEX;
    if (in->sig->op == LZ_OP_CONCATENATE && (x->uses > 1 || x->costly || x->ops > DUP_OPS)) {
        lz_fusion_realise(fu, v);
        return;
    }
    /* a predicate takes a byte: better kept than what it was made of, when a later kernel wants it
     * (a mask for the gradient) */
    const lz_type *r = in->sig->result[0];
    bool mask = info->cls == LZ_CLASS_EW && r->dtype == LZ_BOOL && r->nelem > 1 && x->reads &&
                class_of(fu, x->src) != LZ_CLASS_LEAF &&
                lz_dtype_size(lz_val_type(fu->f, x->src)->dtype) > 1;
    bool shared = work && x->uses > 1 && !worth_repeating(fu, t, v) && !stored_narrow(fu, t, v);
    if (x->ops > TREE_OPS || x->bufs > SOME_BUFS || mask || shared)
        lz_fusion_realise(fu, v);
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
        if (c == LZ_CLASS_REDUCE || c == LZ_CLASS_DOT || c == LZ_CLASS_SORT ||
            c == LZ_CLASS_WINDOW || lz_op_is_step(in->sig->op) || (c == LZ_CLASS_INDEX && multi))
            fu->realised[i] = in->sig->nresult == 1;
        if (c == LZ_CLASS_META && w == LZ_NOVAL && !multi)
            fu->realised[i] = true; /* one of several results */
        if (in->sig->op == LZ_OP_DYNAMIC_UPDATE_SLICE ||
            (in->sig->op == LZ_OP_CONCATENATE && in->sig->nopnd > CHAIN))
            fu->realised[i] = true;
        if ((c == LZ_CLASS_META && multi) || lz_op_is_step(in->sig->op))
            for (uint32_t k = 0; k < in->sig->nopnd; k++)
                lz_fusion_realise(fu, in->opnd[k]);
    }
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (lz_fusion_is_first(fu, i))
            fu->realised[i] = true;
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_fusion_realise(fu, f->results[k]);
}

lz_status lz_fusion_values(lz_fusion *fu, const bool *donate)
{
    must_have(fu);
    LZ_TRY(lz_fusion_updates(fu, donate));
    tree *t = lz_calloc((size_t)fu->f->ninst + 1, sizeof *t);
    uint32_t *last = lz_alloc(((size_t)fu->f->ninst + 1) * sizeof *last);
    bool ok = t && last;
    if (ok)
        count_uses(fu, t, last);
    for (uint32_t i = 0; ok && i < fu->f->ninst; i++)
        look_at(fu, t, i);
    lz_free(t);
    lz_free(last);
    return ok ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
}
