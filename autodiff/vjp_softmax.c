/* vjp_softmax.c - pattern match of softmax in the traced graph: e / sum(e), with e the exponential
 * of z. Its gradient by z is written with the quotient p alone, p (g - sum(g p)); differentiated
 * operation by operation it would need the exponentials and their sums too, and a step would keep
 * both until then. Source: PyTorch's _softmax_backward_data. Threads: as vjp.h. */
#include "autodiff/vjp_softmax.h"
#include "ir/module.h"
#include <string.h>

/* Maps dimensions of an intermediate value: way[d] is the dimension of the sum's result that
 * dimension d comes from, or -1 (one of extent 1, or a new one). */

/* Extents of 1 come and go; the others keep their order. */
static bool past_reshape(int *way, const lz_shape *from, const lz_shape *to)
{
    int out[LZ_MAX_RANK], d = 0;
    for (int i = 0; i < to->rank; i++) {
        out[i] = -1;
        if (to->dims[i] == 1)
            continue;
        while (d < from->rank && from->dims[d] == 1)
            d++;
        if (d == from->rank || from->dims[d] != to->dims[i])
            return false;
        out[i] = way[d++];
    }
    memcpy(way, out, (size_t)to->rank * sizeof *way);
    return true;
}

static bool past_broadcast(int *way, const lz_shape *from, const lz_attr_broadcast *a)
{
    int out[LZ_MAX_RANK];
    for (int i = 0; i < a->shape.rank; i++)
        out[i] = -1;
    for (int d = 0; d < from->rank; d++)
        if (from->dims[d] != 1)
            out[a->broadcast_dimensions.v[d]] = way[d];
    memcpy(way, out, (size_t)a->shape.rank * sizeof *way);
    return true;
}

static bool past(int *way, const lz_node *n)
{
    const lz_shape *from = &n->sig->opnd[0]->shape;
    return lz_node_op(n) == LZ_OP_RESHAPE
               ? past_reshape(way, from, &lz_node_type(n)->shape)
               : past_broadcast(way, from, LZ_ATTR(broadcast, n->sig->attr));
}

/* Every element of the quotient divides by the sum over its own row. */
static bool own_row(const int *way, const lz_ints *reduced, const lz_shape *s)
{
    int k = 0;
    for (int d = 0; d < s->rank; d++) {
        bool kept = !lz_ints_has(reduced, d);
        if (s->dims[d] != 1 && way[d] != (kept ? k : -1))
            return false;
        k += kept;
    }
    return true;
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

const lz_node *lz_softmax_sum(const lz_softmax *m)
{
    return m->inner[m->ninner - 1];
}

static const lz_ints *reduced(const lz_softmax *m)
{
    return &LZ_ATTR(reduce, lz_softmax_sum(m)->sig->attr)->dimensions;
}

bool lz_softmax_match(const lz_node *n, lz_softmax *m)
{
    if (lz_node_op(n) != LZ_OP_DIVIDE || !lz_dtype_is_float(lz_node_type(n)->dtype))
        return false;
    const lz_node *e = n->opnd[0], *s = n->opnd[1];
    if (!lz_node_has_history(e) || lz_node_op(e) != LZ_OP_EXPONENTIAL)
        return false;
    *m = (lz_softmax){.z = e->opnd[0], .inner = {e}, .ninner = 1};
    for (; moves_one(s) && m->ninner < LZ_SOFTMAX_INNER - 1; s = s->opnd[0])
        m->inner[m->ninner++] = s;
    if (!sums(s, e))
        return false;
    m->inner[m->ninner++] = s;
    int way[LZ_MAX_RANK];
    for (int d = 0; d < lz_node_type(s)->shape.rank; d++)
        way[d] = d;
    for (uint32_t i = m->ninner - 1; i-- > 1;)
        if (!past(way, m->inner[i]))
            return false;
    return own_row(way, reduced(m), &lz_node_type(n)->shape);
}

lz_tensor *lz_softmax_vjp(const lz_softmax *m, lz_tensor *p, lz_tensor *g, const lz_site *site)
{
    const lz_vjp v = {.site = site};
    const lz_shape shape = lz_shape_of(p);
    const lz_ints *dims = reduced(m);
    lz_tensor *along = lz_hlo_reduce_at("add", lz_v2(&v, "multiply", g, p), dims->v, dims->n, site);
    lz_tensor *across = lz_v2(&v, "subtract", g, lz_v_unreduce(&v, along, dims, &shape));
    return lz_v2(&v, "multiply", p, across);
}
