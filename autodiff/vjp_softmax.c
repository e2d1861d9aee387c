/* vjp_softmax.c - softmax found in what a program recorded: e / sum(e), with e the exponential of z.
 * Its gradient by z is written with the quotient p alone, p (g - sum(g p)): taken operation by operation it would want the exponentials and their
 * sums, too, and a step would keep both until then. Source: PyTorch's _softmax_backward_data.
 * Threads: as vjp.h. */
#include "autodiff/vjp_softmax.h"
#include "ir/module.h"

/* Where the dimensions of a value under way come from: at[d] is the dimension of the sum's result, or -1 (one of extent 1). */
typedef struct way {
    int at[LZ_MAX_RANK];
    int rank;
} way;

/* Extents of 1 come and go; the others keep their order. */
static bool past_reshape(way *w, const lz_shape *from, const lz_shape *to)
{
    way out = {.rank = to->rank};
    int d = 0;
    for (int i = 0; i < to->rank; i++) {
        out.at[i] = -1;
        if (to->dims[i] == 1)
            continue;
        while (d < from->rank && from->dims[d] == 1)
            d++;
        if (d == from->rank || from->dims[d] != to->dims[i])
            return false;
        out.at[i] = w->at[d++];
    }
    *w = out;
    return true;
}

static void past_broadcast(way *w, const lz_shape *from, const lz_attr_broadcast *a)
{
    way out = {.rank = a->shape.rank};
    for (int i = 0; i < out.rank; i++)
        out.at[i] = -1;
    for (int d = 0; d < w->rank; d++)
        if (from->dims[d] != 1)
            out.at[a->broadcast_dimensions.v[d]] = w->at[d];
    *w = out;
}

static bool past(way *w, const lz_node *n)
{
    const lz_shape *from = &n->sig->opnd[0]->shape;
    if (lz_node_op(n) == LZ_OP_RESHAPE)
        return past_reshape(w, from, &lz_node_type(n)->shape);
    past_broadcast(w, from, LZ_ATTR(broadcast, n->sig->attr));
    return true;
}

/* Every element of the quotient divides by the sum over its own row. */
static bool own_row(const way *w, const lz_ints *reduced, const lz_shape *s)
{
    int k = 0;
    for (int d = 0; d < s->rank; d++) {
        bool kept = !lz_ints_has(reduced, d);
        if (s->dims[d] != 1 && w->at[d] != (kept ? k : -1))
            return false;
        k += kept;
    }
    return w->rank == s->rank;
}

static bool moves_one(const lz_node *n)
{
    return lz_node_has_history(n) &&
           (lz_node_op(n) == LZ_OP_RESHAPE || lz_node_op(n) == LZ_OP_BROADCAST_IN_DIM);
}

static bool sums(const lz_node *n, const lz_node *of)
{
    return lz_node_has_history(n) && lz_node_op(n) == LZ_OP_REDUCE && n->sig->nresult == 1 &&
           n->opnd[0] == of &&
           lz_region_as_binary(LZ_ATTR(reduce, n->sig->attr)->body) == LZ_OP_ADD;
}

bool lz_softmax_match(const lz_node *n, lz_softmax *m)
{
    if (lz_node_op(n) != LZ_OP_DIVIDE || !lz_dtype_is_float(lz_node_type(n)->dtype))
        return false;
    const lz_node *e = n->opnd[0], *s = n->opnd[1];
    if (!lz_node_has_history(e) || lz_node_op(e) != LZ_OP_EXPONENTIAL)
        return false;
    *m = (lz_softmax){.z = e->opnd[0], .inner = {e}, .ninner = 1};
    for (; moves_one(s); s = s->opnd[0]) {
        if (m->ninner == LZ_SOFTMAX_INNER - 1)
            return false;
        m->inner[m->ninner++] = s;
    }
    if (!sums(s, e))
        return false;
    m->sum = s;
    m->dims = &LZ_ATTR(reduce, s->sig->attr)->dimensions;
    way w = {.rank = lz_node_type(s)->shape.rank};
    for (int d = 0; d < w.rank; d++)
        w.at[d] = d;
    for (uint32_t i = m->ninner; i-- > 1;)
        if (!past(&w, m->inner[i]))
            return false;
    m->inner[m->ninner++] = s;
    return own_row(&w, m->dims, &lz_node_type(n)->shape);
}

lz_tensor *lz_softmax_vjp(const lz_softmax *m, lz_tensor *p, lz_tensor *g, const lz_site *site)
{
    const lz_vjp v = {.site = site};
    const lz_shape shape = lz_shape_of(p);
    lz_tensor *along =
        lz_hlo_reduce_at("add", lz_v2(&v, "multiply", g, p), m->dims->v, m->dims->n, site);
    lz_tensor *across = lz_v2(&v, "subtract", g, lz_v_unreduce(&v, along, m->dims, &shape));
    return lz_v2(&v, "multiply", p, across);
}
