/* xla_meaning.c - see xla_meaning.h. */
#include "ir/xla_meaning.h"
#include "base/alloc.h"
#include "ir/window.h"

/* ---- scatter ---- */

/* Extents of the windows of the operand's dimensions. */
static void windows_of(const lz_attr_scatter *a, const lz_type *x, const lz_type *updates,
                       int64_t window[LZ_MAX_RANK])
{
    int k = 0;
    for (int d = 0; d < x->shape.rank; d++) {
        bool one = lz_ints_has(&a->inserted_window_dims, d) ||
                   lz_ints_has(&a->input_batching_dims, d) || k >= a->update_window_dims.n;
        window[d] = one ? 1 : updates->shape.dims[a->update_window_dims.v[k++]];
    }
}

/* The numbers of indices: component j of the vectors names dimension d. */
typedef struct component {
    int64_t d, extent, last; /* the last start whose window is inside */
} component;

/* False where windows are of one element, or nothing fits the types (the builder will say it). */
static bool windows_reach(const lz_attr_scatter *a, const lz_type *x, const lz_type *u,
                          component part[LZ_MAX_RANK])
{
    int64_t window[LZ_MAX_RANK];
    bool reach = false;
    for (int i = 0; i < a->update_window_dims.n; i++)
        if (a->update_window_dims.v[i] < 0 || a->update_window_dims.v[i] >= u->shape.rank)
            return false;
    windows_of(a, x, u, window);
    for (int j = 0; j < a->scatter_dims_to_operand_dims.n; j++) {
        int64_t d = a->scatter_dims_to_operand_dims.v[j];
        if (d < 0 || d >= x->shape.rank || window[d] > x->shape.dims[d])
            return false;
        part[j] = (component){d, x->shape.dims[d], x->shape.dims[d] - window[d]};
        reach |= window[d] > 1;
    }
    return reach;
}

/* The vectors' component of element i of the indices. */
static int64_t component_of(const lz_type *t, int64_t ivd, int64_t i)
{
    int64_t behind = 1;
    if (ivd == t->shape.rank)
        return 0;
    for (int d = (int)ivd + 1; d < t->shape.rank; d++)
        behind *= t->shape.dims[d];
    return i / behind % t->shape.dims[ivd];
}

static bool all_inside(const lz_literal *l, int64_t ivd, const component *part, bool lowest)
{
    for (int64_t i = 0; i < l->type->nelem; i++) {
        int64_t v = lz_elem_get_i64(l->type->dtype, l->data, i);
        if (lowest ? v < 0 : v < 0 || v > part[component_of(l->type, ivd, i)].last)
            return false;
    }
    return true;
}

/* A constant, or one that is repeated; *along: the component that each element is of is found by
 * the type of this. */
static const lz_literal *constant(const lz_func *f, lz_val v, const lz_type *type)
{
    const lz_inst *i = &f->insts[v];
    return i->sig->op == LZ_OP_CONSTANT && i->lit->type == type ? i->lit : NULL;
}

/* Bounds of a clamp: scalars, or of the indices' shape. */
static bool bound_is_inside(const lz_func *f, lz_val v, const lz_type *indices, int64_t ivd,
                            const component *part, int n, bool lowest)
{
    const lz_inst *i = &f->insts[v];
    if (constant(f, v, indices))
        return all_inside(i->lit, ivd, part, lowest);
    const lz_attr_broadcast *b = NULL;
    if (i->sig->op == LZ_OP_BROADCAST_IN_DIM) {
        b = LZ_ATTR(broadcast, i->sig->attr);
        i = &f->insts[i->opnd[0]];
    }
    if (i->sig->op != LZ_OP_CONSTANT || !lz_dtype_is_int(i->lit->type->dtype))
        return false;
    const lz_type *t = i->lit->type;
    bool vector = t->shape.rank == 1 && b && b->broadcast_dimensions.v[0] == ivd;
    if (t->shape.rank != 0 && !vector)
        return false;
    for (int j = 0; j < n; j++) {
        int64_t x = lz_elem_get_i64(t->dtype, i->lit->data, vector && t->nelem > 1 ? j : 0);
        if (x < 0 || (!lowest && x > part[j].last))
            return false;
    }
    return true;
}

static bool known_inside(const lz_func *f, lz_val indices, int64_t ivd, const component *part,
                         int n)
{
    const lz_inst *i = &f->insts[indices];
    const lz_type *t = lz_val_type(f, indices);
    if (t->nelem == 0)
        return true;
    if (i->sig->op == LZ_OP_CONSTANT)
        return all_inside(i->lit, ivd, part, false);
    return i->sig->op == LZ_OP_CLAMP && bound_is_inside(f, i->opnd[0], t, ivd, part, n, true) &&
           bound_is_inside(f, i->opnd[2], t, ivd, part, n, false);
}

/* Numbers by component, as large as the indices. */
static lz_val by_component(lz_func *f, const lz_type *t, int64_t ivd, const component *part, int n,
                           bool last)
{
    lz_shape s = lz_shape_make(ivd < t->shape.rank ? 1 : 0, (int64_t[]){n});
    const lz_type *vector = lz_type_get(t->dtype, &s);
    lz_literal *l = vector ? lz_literal_new(vector) : NULL;
    if (!l)
        return LZ_NOVAL;
    for (int64_t j = 0; j < vector->nelem; j++)
        lz_elem_set_i64(t->dtype, l->data, j, last ? part[j].last : part[j].extent);
    lz_val v = lz_build_const(f, l);
    lz_literal_release(l);
    lz_ints at = lz_ints_make(s.rank, &ivd);
    return v == LZ_NOVAL || lz_val_type(f, v) == t ? v : lz_build_broadcast(f, v, &at, &t->shape);
}

/* Starts of windows that are not inside are moved to where no element is. */
static lz_status keep_whole_windows(lz_func *f, const lz_attr_scatter *a, lz_val *opnd, uint32_t n)
{
    component part[LZ_MAX_RANK];
    uint32_t k = n / 2;
    int64_t ivd = a->index_vector_dim;
    const lz_type *x = lz_val_type(f, opnd[0]), *t = lz_val_type(f, opnd[k]);
    int parts = a->scatter_dims_to_operand_dims.n;
    bool fits =
        ivd >= 0 && ivd <= t->shape.rank && parts == (ivd < t->shape.rank ? t->shape.dims[ivd] : 1);
    if (!fits || !windows_reach(a, x, lz_val_type(f, opnd[k + 1]), part) ||
        known_inside(f, opnd[k], ivd, part, parts))
        return LZ_OK;
    lz_val i = opnd[k];
    bool large = false;
    for (int j = 0; j < parts; j++)
        large |= part[j].extent > INT32_MAX;
    if (lz_dtype_bits(t->dtype) < 32 || (large && lz_dtype_bits(t->dtype) < 64))
        i = lz_build_convert(f, i, large ? LZ_I64 : LZ_I32);
    if (i == LZ_NOVAL)
        return f->status;
    t = lz_val_type(f, i);
    lz_val last = by_component(f, t, ivd, part, parts, true),
           out = by_component(f, t, ivd, part, parts, false);
    lz_val inside = lz_build_compare(f, LZ_CMP_LE, i, last);
    if (lz_dtype_is_signed(t->dtype))
        inside = lz_build_ew2(f, LZ_OP_AND, inside,
                              lz_build_compare(f, LZ_CMP_GE, i, lz_build_splat(f, t, 0)));
    opnd[k] = lz_build_select(f, inside, i, out);
    return f->status;
}

/* ---- reduce_window ---- */

static bool has_gaps(const lz_attr_reduce_window *a)
{
    for (int d = 0; d < a->window_dimensions.n; d++)
        if (a->padding_low.v[d] > 0 || a->padding_high.v[d] > 0 || a->base_dilations.v[d] > 1)
            return true;
    return false;
}

static bool window_differs(const lz_func *f, const lz_attr_reduce_window *a, const lz_val *opnd,
                           uint32_t nopnd)
{
    uint64_t bits;
    lz_op comb = nopnd == 2 && a->body ? lz_region_as_binary(a->body) : LZ_OP_NONE;
    if (comb != LZ_OP_NONE && lz_identity_bits(comb, lz_val_type(f, opnd[1])->dtype, &bits))
        return !lz_val_is_neutral(f, comb, opnd[1]);
    return has_gaps(a);
}

static lz_val padded(lz_func *f, const lz_attr_reduce_window *a, lz_val x, lz_val value)
{
    lz_attr_pad pad = {.kind = LZ_ATTR_pad,
                       .edge_padding_low = a->padding_low,
                       .edge_padding_high = a->padding_high,
                       .interior_padding = a->base_dilations};
    for (int d = 0; d < pad.interior_padding.n; d++)
        pad.interior_padding.v[d]--;
    return lz_build(f, LZ_OP_PAD, (const lz_attr *)(const void *)&pad, (lz_val[]){x, value}, 2);
}

/* Whether windows are prefixes of so many elements that the order of combination is worth giving
 * up: the region is associative, or it means nothing that goes faster. */
static bool many_prefixes(const lz_attr_reduce_window *a, const lz_shape *s)
{
    enum { MANY = 16 };
    bool suffix;
    int d = a->window_dimensions.n == s->rank ? lz_window_prefixes(a, s, &suffix) : -1;
    return d >= 0 && s->dims[d] >= MANY && s->rank < LZ_MAX_RANK;
}

/* Values with gaps go in pairs with whether they are there. The fold begins with the initial values
 * and goes from the left over values without gaps. Prefixes stay what they are: what is not there
 * is the identity, and the initial values are folded in behind. */
static lz_status fold_those_there(lz_func *f, lz_attr_reduce_window *a, lz_val *opnd, uint32_t *n,
                                  lz_xla_after *after)
{
    uint32_t k = *n / 2;
    if (a->body->nresult != k || a->body->nparam != 2 * k)
        return LZ_OK; /* the builder says it */
    const lz_func *body = lz_region_of_present(a->body);
    if (!body)
        return lz_error_get()->status;
    const lz_shape *s = &lz_val_type(f, opnd[0])->shape;
    bool behind = many_prefixes(a, s);
    lz_val yes = lz_build_scalar_i64(f, LZ_BOOL, 1), no = lz_build_scalar_i64(f, LZ_BOOL, 0);
    lz_ints none = {0};
    lz_val there = lz_build_broadcast(f, yes, &none, s);
    if (!behind) {
        there = padded(f, a, there, no);
        for (uint32_t i = 0; i < k; i++)
            opnd[i] = padded(f, a, opnd[i], opnd[k + i]);
        for (int d = 0; d < a->window_dimensions.n; d++) {
            a->padding_low.v[d] = a->padding_high.v[d] = 0;
            a->base_dilations.v[d] = 1;
        }
    }
    for (uint32_t i = k; i-- > 0;)
        opnd[k + 1 + i] = opnd[k + i];
    opnd[k] = there;
    opnd[2 * k + 1] = behind ? no : yes;
    *n += 2;
    after->results = k;
    after->fold = behind ? a->body : NULL;
    a->body = body;
    return f->status;
}

/* The initial values and a result: a reduction of one element. */
static lz_status fold_behind(lz_func *f, const lz_func *body, uint32_t n, const lz_val *init,
                             lz_val *results)
{
    lz_shape s = lz_val_type(f, results[0])->shape, one = s;
    lz_attr_reduce a = {.kind = LZ_ATTR_reduce, .dimensions = {1, {s.rank}}, .body = body};
    lz_ints none = {0};
    lz_val *o = lz_alloc(2 * (size_t)n * sizeof *o);
    if (!o)
        return LZ_FAIL(LZ_EMEM, "no memory for %u results", n);
    one.dims[one.rank++] = 1;
    for (uint32_t k = 0; k < n; k++) {
        o[k] = lz_build_reshape(f, results[k], &one);
        o[n + k] = init[k];
    }
    lz_val v = lz_build(f, LZ_OP_REDUCE, (const lz_attr *)(const void *)&a, o, 2 * n);
    for (uint32_t k = 0; k < n; k++)
        o[k] = lz_build_result(f, v, k);
    for (uint32_t k = 0; k < n && f->status == LZ_OK; k++)
        results[k] =
            lz_build_select(f, results[n], o[k], lz_build_broadcast(f, init[k], &none, &s));
    lz_free(o);
    return f->status;
}

lz_status lz_xla_finish(lz_func *f, const lz_xla_after *after, const lz_val *opnd, lz_val *results)
{
    lz_ints none = {0};
    if (after->fold)
        return fold_behind(f, after->fold, after->results, opnd + after->results + 1, results);
    if (after->combine == LZ_OP_NONE)
        return LZ_OK;
    lz_val v = results[0],
           init = lz_build_broadcast(f, after->init, &none, &lz_val_type(f, v)->shape);
    results[0] = lz_build_ew2(f, after->combine, init, v);
    return f->status;
}

static lz_status gaps_are_nothing(lz_func *f, lz_attr_reduce_window *a, lz_val *opnd, uint32_t *n,
                                  lz_xla_after *after)
{
    uint64_t bits;
    if (!window_differs(f, a, opnd, *n))
        return LZ_OK;
    lz_op comb = *n == 2 ? lz_region_as_binary(a->body) : LZ_OP_NONE;
    const lz_type *t = lz_val_type(f, opnd[*n - 1]);
    if (comb == LZ_OP_NONE || !lz_identity_bits(comb, t->dtype, &bits))
        return fold_those_there(f, a, opnd, n, after);
    *after = (lz_xla_after){.combine = comb, .init = opnd[1]};
    opnd[1] = lz_build_splat_bits(f, t, bits);
    return opnd[1] == LZ_NOVAL ? lz_error_get()->status : LZ_OK;
}

/* ---- both ---- */

bool lz_xla_differs(const lz_func *f, lz_op op, const lz_attr *attr, const lz_val *opnd,
                    uint32_t nopnd)
{
    component part[LZ_MAX_RANK];
    if (op == LZ_OP_SCATTER)
        return windows_reach(LZ_ATTR(scatter, attr), lz_val_type(f, opnd[0]),
                             lz_val_type(f, opnd[nopnd / 2 + 1]), part);
    return op == LZ_OP_REDUCE_WINDOW &&
           window_differs(f, LZ_ATTR(reduce_window, attr), opnd, nopnd);
}

lz_status lz_xla_before(lz_func *f, lz_op op, lz_attr_any *a, lz_val *opnd, uint32_t *nopnd,
                        lz_xla_after *after)
{
    *after = (lz_xla_after){.combine = LZ_OP_NONE};
    if (op == LZ_OP_SCATTER && *nopnd >= 3)
        return keep_whole_windows(f, &a->as_scatter, opnd, *nopnd);
    if (op == LZ_OP_REDUCE_WINDOW && *nopnd >= 2 && a->as_reduce_window.body)
        return gaps_are_nothing(f, &a->as_reduce_window, opnd, nopnd, after);
    return LZ_OK;
}
