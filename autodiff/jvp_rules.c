/* jvp_rules.c - the rules that serve many operations: diagonal, linear, bilinear, and those of
 * reductions. See jvp.h. */
#include "autodiff/jvp.h"
#include "autodiff/vjp_table.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/module.h"
#include "runtime/region/region_trace.h"
#include <string.h>

#define TYPE(k) (j->sig->opnd[k])
#define ATTRS(kind) LZ_ATTR(kind, j->sig->attr)
#define RECORD(a) ((const lz_attr *)(const void *)&(a))

/* ---- what rules share ---- */

lz_tensor *lz_j_zeros(const lz_type *t, const lz_site *site)
{
    lz_tensor *zero = lz_hlo_constant_at(t->dtype, 0, site);
    return t->shape.rank ? lz_hlo_broadcast_in_dim_at(zero, t->shape, NULL, 0, site) : zero;
}

lz_tensor *lz_j_tangent(const lz_jvp *j, uint32_t k)
{
    return j->tan[k] ? j->tan[k] : lz_j_zeros(TYPE(k), j->site);
}

lz_tensor *lz_j_sum(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    lz_tensor *x[2] = {a, b};
    return a && b ? lz_hlo_ew_at("add", x, 2, site) : a ? a : b;
}

lz_status lz_j_op(lz_op op, const lz_attr *record, lz_tensor *const *opnd, uint32_t n,
                  lz_tensor **out, uint32_t nresult, const lz_site *site)
{
    lz_node **in = lz_calloc((size_t)n + nresult + 1, sizeof *in), **r = in ? in + n : NULL;
    lz_status s = in ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u operands", n);
    for (uint32_t k = 0; k < n && s == LZ_OK; k++)
        if (!opnd[k] || !(in[k] = lz_trace_node_of(opnd[k])))
            s = lz_error_get()->status;
    if (s == LZ_OK)
        s = lz_control_op(op, record, in, n, NULL, 0, r, site);
    for (uint32_t k = 0; k < nresult && s == LZ_OK; k++)
        out[k] = lz_trace_tensor_of(r[k], site);
    for (uint32_t k = 0; in && k < n + nresult; k++)
        lz_node_release(in[k]);
    lz_free(in);
    return s;
}

/* The operation with some operands replaced by those in `with`; gives tangents of the results that
 * can have one. */
static lz_status apply(const lz_jvp *j, lz_tensor *const *with)
{
    lz_tensor **out = lz_calloc((size_t)j->sig->nresult + 1, sizeof *out);
    lz_status s =
        out ? lz_j_op(j->sig->op, j->sig->attr, with, j->sig->nopnd, out, j->sig->nresult, j->site)
            : LZ_FAIL(LZ_EMEM, "no memory for tangents");
    for (uint32_t k = 0; k < j->sig->nresult && s == LZ_OK; k++)
        if (lz_has_gradient(j->sig->result[k]))
            j->out[k] = lz_j_sum(j->out[k], out[k], j->site);
    lz_free(out);
    return s;
}

/* Linear in all floating-point operands together. */
lz_status lz_jvp_linear(const lz_jvp *j)
{
    lz_tensor **with = lz_calloc((size_t)j->sig->nopnd + 1, sizeof *with);
    if (!with)
        return LZ_FAIL(LZ_EMEM, "no memory for tangents");
    for (uint32_t k = 0; k < j->sig->nopnd; k++)
        with[k] = lz_has_gradient(TYPE(k)) ? lz_j_tangent(j, k) : j->opnd[k];
    lz_status s = apply(j, with);
    lz_free(with);
    return s;
}

/* Linear in each of two operands. */
lz_status lz_jvp_bilinear(const lz_jvp *j)
{
    for (uint32_t k = 0; k < 2; k++) {
        lz_tensor *with[2] = {j->opnd[0], j->opnd[1]};
        with[k] = j->tan[k];
        if (j->tan[k])
            LZ_TRY(apply(j, with));
    }
    return LZ_OK;
}

lz_status lz_jvp_barrier(const lz_jvp *j)
{
    for (uint32_t k = 0; k < j->sig->nopnd; k++)
        if (j->tan[k])
            j->out[k] = lz_hlo_optimization_barrier_at(j->tan[k], j->site);
    return LZ_OK;
}

lz_status lz_jvp_mark(const lz_jvp *j)
{
    lz_tracer c;
    lz_tracer_begin(&c, lz_op_get(j->sig->op)->text, j->site);
    lz_node *t = lz_tracer_in(&c, j->tan[0]);
    j->out[0] = lz_tracer_end(&c, lz_tracer_op(&c, j->sig->op, j->sig->attr, &t, 1));
    return LZ_OK;
}

/* ---- elementwise ---- */

/* A rank-0 operand beside tensors, broadcast. */
static lz_tensor *spread(lz_tensor *x, const lz_type *one, const lz_shape *all, const lz_site *site)
{
    return x && one->shape.rank < all->rank ? lz_hlo_broadcast_in_dim_at(x, *all, NULL, 0, site)
                                            : x;
}

typedef struct ew {
    const lz_jvp *j;
    lz_tensor *opnd[3], *tan[3];
    const lz_sig *sig;
} ew;

static lz_status open_ew(ew *e)
{
    const lz_jvp *j = e->j;
    const lz_shape *all = &j->sig->result[0]->shape;
    const lz_type *types[3];
    for (uint32_t k = 0; k < j->sig->nopnd; k++) {
        bool pred = !lz_has_gradient(TYPE(k));
        e->opnd[k] = pred ? j->opnd[k] : spread(j->opnd[k], TYPE(k), all, j->site);
        e->tan[k] = spread(j->tan[k], TYPE(k), all, j->site);
        types[k] = pred ? TYPE(k) : lz_type_get(TYPE(k)->dtype, all);
        if (!types[k])
            return lz_error_get()->status;
    }
    e->sig = lz_sig_get(j->sig->op, j->sig->attr, types, j->sig->nopnd);
    return e->sig ? LZ_OK : lz_error_get()->status;
}

/* The gradient rule's result for operand k, given g; NULL: zero. */
static lz_status pull(const ew *e, uint32_t k, lz_tensor *g, lz_tensor **out)
{
    lz_tensor *grad_in[3] = {NULL, NULL, NULL};
    bool need[3] = {k == 0, k == 1, k == 2};
    const lz_vjp v = {.sig = e->sig,
                      .opnd = e->opnd,
                      .result = e->j->result,
                      .grad_out = &g,
                      .need = need,
                      .grad_in = grad_in,
                      .site = e->j->site};
    LZ_TRY(lz_vjp_rule_of(e->sig->op).fn(&v));
    *out = grad_in[k];
    return LZ_OK;
}

/* The real part of conj(a) t, converted. */
static lz_tensor *pair(const lz_jvp *j, lz_tensor *a, lz_tensor *t, lz_dtype d)
{
    const lz_vjp v = {.site = j->site};
    lz_tensor *p = lz_v2(&v, "multiply", lz_v_conj(&v, a), t);
    if (lz_dtype_is_complex(lz_dtype_of(p)))
        p = lz_v1(&v, "real", p);
    return lz_dtype_of(p) == d ? p : lz_hlo_convert_at(p, d, j->site);
}

/* The Jacobian of one element is a number, or a 2x2 matrix for complex numbers. The gradient rule
 * applies its transpose: equal for real numbers; otherwise its rows are the rule's results for 1
 * and i. */
static lz_status push(const ew *e, uint32_t k)
{
    const lz_jvp *j = e->j;
    const lz_type *r = e->sig->result[0];
    bool complex = lz_dtype_is_complex(r->dtype);
    lz_tensor *t = e->tan[k], *row = NULL;
    const lz_vjp v = {.site = j->site};
    if (!complex && e->sig->opnd[k]->dtype == r->dtype) {
        LZ_TRY(pull(e, k, t, &row));
        j->out[0] = lz_j_sum(j->out[0], row, j->site);
        return LZ_OK;
    }
    lz_dtype part = lz_dtype_part(r->dtype);
    const lz_type *pt = lz_type_get(part, &r->shape);
    if (!pt)
        return lz_error_get()->status;
    lz_tensor *zero = lz_v_zeros(&v, pt), *one = lz_v_const_like(&v, pt, 1);
    LZ_TRY(pull(e, k, complex ? lz_v2(&v, "complex", one, zero) : one, &row));
    lz_tensor *re = row ? pair(j, row, t, part) : NULL, *im = NULL;
    if (complex) {
        LZ_TRY(pull(e, k, lz_v2(&v, "complex", zero, one), &row));
        im = row ? pair(j, row, t, part) : NULL;
        if (re || im)
            re = lz_v2(&v, "complex", re ? re : zero, im ? im : zero);
    }
    j->out[0] = lz_j_sum(j->out[0], re, j->site);
    return LZ_OK;
}

lz_status lz_jvp_diagonal(const lz_jvp *j)
{
    ew e = {.j = j};
    LZ_TRY(open_ew(&e));
    for (uint32_t k = 0; k < j->sig->nopnd; k++)
        if (e.tan[k])
            LZ_TRY(push(&e, k));
    return LZ_OK;
}

/* ---- reductions ---- */

/* Each element belongs to one result, so the gradient rule gives the derivative by each. */
static lz_status by_weights(const lz_jvp *j, const lz_ints *dims)
{
    const lz_type *r = j->sig->result[0];
    lz_tensor *weight[2] = {NULL, NULL}, *one;
    bool need[2] = {true, false};
    lz_vjp v = {.sig = j->sig,
                .opnd = j->opnd,
                .result = j->result,
                .grad_out = &one,
                .need = need,
                .grad_in = weight,
                .site = j->site};
    one = lz_v_const_like(&v, r, 1);
    LZ_TRY(lz_vjp_reduce(&v));
    lz_tensor *p = lz_v2(&v, "multiply", lz_v_conj(&v, weight[0]), j->tan[0]);
    j->out[0] = lz_hlo_reduce_at("add", p, dims->v, dims->n, j->site);
    return LZ_OK;
}

lz_status lz_jvp_reduce(const lz_jvp *j)
{
    const lz_attr_reduce *a = ATTRS(reduce);
    lz_op comb = j->sig->nresult == 1 ? lz_region_as_binary(a->body) : LZ_OP_NONE;
    if (comb == LZ_OP_ADD)
        return lz_jvp_linear(j);
    bool known = comb == LZ_OP_MAXIMUM || comb == LZ_OP_MINIMUM || comb == LZ_OP_MULTIPLY;
    return known && !j->tan[1] ? by_weights(j, &a->dimensions) : lz_jvp_pairs(j);
}

lz_status lz_jvp_reduce_window(const lz_jvp *j)
{
    const lz_func *body = ATTRS(reduce_window)->body;
    return j->sig->nresult == 1 && lz_region_as_binary(body) == LZ_OP_ADD ? lz_jvp_linear(j)
                                                                          : lz_jvp_pairs(j);
}

/* Adding and replacing are linear in the updates; which update wins does not change. */
lz_status lz_jvp_scatter(const lz_jvp *j)
{
    const lz_func *f = ATTRS(scatter)->update_computation;
    bool assigns = f->nparam == 2 && f->nresult == 1 && f->results[0] == 1;
    bool adds = f->nresult == 1 && lz_region_as_binary(f) == LZ_OP_ADD;
    return adds || assigns ? lz_jvp_linear(j) : lz_jvp_pairs(j);
}

lz_status lz_jvp_custom_call(const lz_jvp *j)
{
    return LZ_FAIL(LZ_EGRAD, "custom_call @%.200s has no gradient rule",
                   LZ_ATTR(call, j->sig->attr)->call_target_name);
}

lz_status lz_jvp_select_and_scatter(const lz_jvp *j)
{
    if (lz_region_as_binary(ATTRS(select_and_scatter)->scatter) != LZ_OP_ADD)
        return lz_jvp_transposed(j);
    lz_tensor *with[3] = {j->opnd[0], lz_j_tangent(j, 1), lz_j_tangent(j, 2)};
    return apply(j, with);
}

/* ---- sort ---- */

const lz_func *lz_j_wider_order(const lz_func *f, const lz_type *const *more, uint32_t n)
{
    lz_func *g = lz_func_new(f->name);
    lz_val *v = lz_alloc(((size_t)f->nparam + 1) * sizeof *v), r = LZ_NOVAL;
    const lz_func *out = NULL;
    const lz_shape scalar = {.rank = 0};
    if (!v)
        (void)LZ_FAIL(LZ_EMEM, "no memory for %u values", f->nparam);
    for (uint32_t i = 0; g && v && i < f->nparam; i++)
        v[i] = lz_build_param(g, lz_val_type(f, i));
    for (uint32_t k = 0; g && v && k < 2 * n; k++)
        (void)lz_build_param(g, lz_type_get(more[k / 2]->dtype, &scalar));
    if (g && v && g->status == LZ_OK && lz_build_inline(g, f, v, &r) == LZ_OK &&
        lz_func_set_results(g, &r, 1) == LZ_OK)
        out = lz_region_intern(g);
    lz_func_free(g);
    lz_free(v);
    return out;
}

/* Tangents are sorted along with the values. */
static lz_status sort_along(const lz_jvp *j, lz_tensor **v, lz_tensor **out, const lz_type **types)
{
    uint32_t n = j->sig->nopnd, m = 0;
    lz_attr_sort a = *ATTRS(sort);
    for (uint32_t k = 0; k < n; k++) {
        v[k] = j->opnd[k];
        if (!j->tan[k])
            continue;
        types[m] = TYPE(k);
        v[n + m++] = j->tan[k];
    }
    if (!(a.comparator = lz_j_wider_order(a.comparator, types, m)))
        return lz_error_get()->status;
    LZ_TRY(lz_j_op(LZ_OP_SORT, RECORD(a), v, n + m, out, n + m, j->site));
    for (uint32_t k = 0, at = n; k < n; k++)
        if (j->tan[k])
            j->out[k] = out[at++];
    return LZ_OK;
}

lz_status lz_jvp_sort(const lz_jvp *j)
{
    size_t n = 2 * (size_t)j->sig->nopnd + 1;
    lz_tensor **v = lz_calloc(2 * n, sizeof *v);
    const lz_type **types = lz_calloc(n, sizeof *types);
    lz_status s =
        v && types ? sort_along(j, v, v + n, types) : LZ_FAIL(LZ_EMEM, "no memory for tangents");
    lz_free(v);
    lz_free(types);
    return s;
}
