/* vjp_reduce.c - gradients of reductions and of dot_general. */
#include "autodiff/vjp_region.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/module.h"

#define X (v->opnd[0])
#define R (v->result)
#define G (v->grad_out[0])
#define TYPE(i) (v->sig->opnd[i])

/* max, min: the gradient is shared evenly by the elements that attain the result (torch.amax), or
 * that make it NaN. */
static lz_tensor *reduce_extremum(const lz_vjp *v, const lz_ints *dims, const lz_shape *s)
{
    lz_tensor *hit = lz_v_attains(v, X, lz_v_unreduce(v, R, dims, s));
    lz_tensor *ones = lz_hlo_convert_at(hit, TYPE(0)->dtype, v->site);
    lz_tensor *count = lz_hlo_reduce_at("add", ones, dims->v, dims->n, v->site);
    /* no element: the initial value is the result */
    count = lz_v2(v, "maximum", count, lz_v_const_like(v, v->sig->result[0], 1));
    lz_tensor *share = lz_v2(v, "divide", G, count);
    return lz_v_mask(v, hit, lz_v_unreduce(v, share, dims, s));
}

/* Any region: the reduced dimensions are moved to the front, and the rows combined as a tree. Of
 * products, too: the tree only multiplies, where a closed form would divide by factors, so its
 * derivatives of every order are right where these are 0. */
static lz_status reduce_any(const lz_vjp *v, lz_tensor **out)
{
    const lz_attr_reduce *a = LZ_ATTR(reduce, v->sig->attr);
    const lz_type *t = TYPE(0), *r = v->sig->result[0];
    uint32_t n = v->sig->nresult;
    int64_t perm[LZ_MAX_RANK], rows = 1;
    int k = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t d = 0; d < t->shape.rank; d++)
            if (lz_ints_has(&a->dimensions, d) == (pass == 0)) {
                rows *= pass == 0 ? t->shape.dims[d] : 1;
                perm[k++] = d;
            }
    for (uint32_t i = 0; i < n; i++) {
        lz_tensor *x = lz_hlo_transpose_at(v->opnd[i], perm, k, v->site);
        out[i] = lz_hlo_reshape_at(x, LZ_SHAPE(rows, r->nelem), v->site);
    }
    LZ_TRY(lz_v_fold(v, a->body, v->opnd + n, out, rows, r->nelem));
    for (uint32_t i = 0; i < n; i++)
        out[i] = lz_hlo_reshape_at(out[i], r->shape, v->site);
    return LZ_OK;
}

/* Sums and extrema have closed forms without a tree. */
static bool has_own_rule(lz_op comb)
{
    return comb == LZ_OP_ADD || comb == LZ_OP_MAXIMUM || comb == LZ_OP_MINIMUM;
}

lz_status lz_vjp_reduce(const lz_vjp *v)
{
    const lz_attr_reduce *a = LZ_ATTR(reduce, v->sig->attr);
    lz_op comb = v->sig->nresult == 1 ? lz_region_as_binary(a->body) : LZ_OP_NONE;
    const lz_shape *s = &TYPE(0)->shape;
    if (!has_own_rule(comb) || (v->need[1] && comb != LZ_OP_ADD))
        return lz_v_composed(v, reduce_any);
    if (v->need[1])
        v->grad_in[1] = lz_v_sum_all(v, G);
    if (!v->need[0])
        return LZ_OK;
    v->grad_in[0] = comb == LZ_OP_ADD ? lz_v_unreduce(v, G, &a->dimensions, s)
                                      : reduce_extremum(v, &a->dimensions, s);
    return LZ_OK;
}

/* ---- dot_general ---- */
typedef struct side { /* one operand of the product as seen from the other */
    const lz_ints *batch, *contract;
    int64_t free[LZ_MAX_RANK];
    int nfree, rank;
} side;

static side side_of(const lz_type *t, const lz_ints *batch, const lz_ints *contract)
{
    side s = {.batch = batch, .contract = contract, .rank = t->shape.rank};
    for (int64_t d = 0; d < t->shape.rank; d++)
        if (!lz_ints_has(batch, d) && !lz_ints_has(contract, d))
            s.free[s.nfree++] = d;
    return s;
}

/* Gradient of operand `me`: product of g with the other operand over the other's free dimensions.
 * g_free: positions of the other's free dimensions in g; g_mine: of mine. With g first the result
 * is [batch, my free, my contracting], with g second [batch, my contracting, my free]; the order
 * that needs no transpose is preferred. */
static lz_tensor *dot_grad(const lz_vjp *v, const side *me, const side *other,
                           lz_tensor *other_value, int g_free)
{
    bool contract_first = me->contract->n && me->nfree && me->contract->v[0] < me->free[0];
    lz_dot_dims d = {.nbatch = me->batch->n, .ncontract = other->nfree};
    int64_t *g_batch = contract_first ? d.rhs_batch : d.lhs_batch,
            *o_batch = contract_first ? d.lhs_batch : d.rhs_batch;
    int64_t *g_con = contract_first ? d.rhs_contract : d.lhs_contract,
            *o_con = contract_first ? d.lhs_contract : d.rhs_contract;
    for (int i = 0; i < d.nbatch; i++) {
        g_batch[i] = i;
        o_batch[i] = other->batch->v[i];
    }
    for (int i = 0; i < other->nfree; i++) {
        g_con[i] = g_free + i;
        o_con[i] = other->free[i];
    }
    lz_tensor *r = contract_first ? lz_hlo_dot_general_at(other_value, G, &d, v->site)
                                  : lz_hlo_dot_general_at(G, other_value, &d, v->site);

    /* the dimension of mine that each dimension of r is; the other's contracting dimensions come in
     * ascending order */
    int64_t mine[LZ_MAX_RANK], perm[LZ_MAX_RANK];
    int n = 0;
    for (int i = 0; i < d.nbatch; i++)
        mine[n++] = me->batch->v[i];
    for (int pass = 0; pass < 2; pass++) {
        if (pass == (contract_first ? 1 : 0))
            for (int i = 0; i < me->nfree; i++)
                mine[n++] = me->free[i];
        else
            for (int64_t od = 0; od < other->rank; od++)
                for (int j = 0; j < other->contract->n; j++)
                    if (other->contract->v[j] == od)
                        mine[n++] = me->contract->v[j];
    }
    bool identity = true;
    for (int i = 0; i < n; i++) {
        perm[mine[i]] = i;
        identity = identity && mine[i] == i;
    }
    return identity ? r : lz_hlo_transpose_at(r, perm, n, v->site);
}

lz_status lz_vjp_dot_general(const lz_vjp *v)
{
    const lz_attr_dot *a = LZ_ATTR(dot, v->sig->attr);
    side l = side_of(TYPE(0), &a->lhs_batching_dimensions, &a->lhs_contracting_dimensions);
    side r = side_of(TYPE(1), &a->rhs_batching_dimensions, &a->rhs_contracting_dimensions);
    int nbatch = l.batch->n;
    if (v->need[0])
        v->grad_in[0] = dot_grad(v, &l, &r, lz_v_conj(v, v->opnd[1]), nbatch + l.nfree);
    if (v->need[1])
        v->grad_in[1] = dot_grad(v, &r, &l, lz_v_conj(v, v->opnd[0]), nbatch);
    return LZ_OK;
}
