/* vjp_index.c - gradients of gather and scatter. gather clamps start indices, scatter drops updates
 * that are out of bounds: the rules below make the two agree before transposing one into the
 * other. */
#include "autodiff/vjp_region.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/module.h"
#include <lazuli/tensor.h>
#include <string.h>

#define G (v->grad_out[0])
#define TYPE(i) (v->sig->opnd[i])
/* of scatter */
#define INDICES (v->opnd[v->sig->nresult])
#define INDEX_TYPE TYPE(v->sig->nresult)
#define UPDATE_TYPE TYPE(v->sig->nresult + 1)

static int copy_ints(int64_t *dst, const lz_ints *src)
{
    memcpy(dst, src->v, sizeof src->v);
    return src->n;
}

/* The bound, or the largest value of the index dtype. */
static int64_t within(lz_dtype d, int64_t bound)
{
    int bits = lz_dtype_bits(d) - (lz_dtype_is_signed(d) ? 1 : 0);
    return bits < 63 && bound >> bits ? (INT64_C(1) << bits) - 1 : bound;
}

/* Start indices whose component k along index_vector_dim is value[k]. */
static lz_tensor *per_component(const lz_vjp *v, const lz_type *idx, int64_t ivd,
                                const int64_t *value, int n)
{
    lz_tensor *r = lz_v_const_like(v, idx, (double)(n ? value[0] : 0));
    if (ivd >= idx->shape.rank)
        return r;
    lz_tensor *k = lz_iota_at(idx->dtype, idx->shape, ivd, v->site);
    for (int i = 1; i < n; i++) {
        lz_tensor *is = lz_v_cmp(v, LZ_HLO_EQ, k, lz_v_const_like(v, idx, i));
        r = lz_v3(v, "select", is, lz_v_const_like(v, idx, (double)value[i]), r);
    }
    return r;
}

static lz_tensor *clamp_indices(const lz_vjp *v, lz_tensor *idx, const lz_type *t, int64_t ivd,
                                const int64_t *lo, const int64_t *hi, int n)
{
    int64_t most[LZ_MAX_RANK];
    for (int k = 0; k < n; k++)
        most[k] = within(t->dtype, hi[k]);
    lz_tensor *l = per_component(v, t, ivd, lo, n), *h = per_component(v, t, ivd, most, n);
    return lz_v3(v, "clamp", l, idx, h);
}

/* Scatter-adds the gradient of every gathered slice to its source. */
lz_status lz_vjp_gather(const lz_vjp *v)
{
    const lz_attr_gather *a = LZ_ATTR(gather, v->sig->attr);
    const lz_shape *x = &TYPE(0)->shape;
    int64_t lo[LZ_MAX_RANK] = {0}, hi[LZ_MAX_RANK];
    for (int k = 0; k < a->start_index_map.n; k++) {
        int64_t d = a->start_index_map.v[k];
        hi[k] = x->dims[d] - a->slice_sizes.v[d];
    }
    lz_tensor *idx =
        clamp_indices(v, v->opnd[1], TYPE(1), a->index_vector_dim, lo, hi, a->start_index_map.n);
    lz_scatter_dims s = {.index_vector_dim = a->index_vector_dim,
                         .indices_are_sorted = a->indices_are_sorted};
    s.nwindow = copy_ints(s.update_window_dims, &a->offset_dims);
    s.ninserted = copy_ints(s.inserted_window_dims, &a->collapsed_slice_dims);
    s.ninput_batch = copy_ints(s.input_batching_dims, &a->operand_batching_dims);
    copy_ints(s.scatter_indices_batching_dims, &a->start_indices_batching_dims);
    s.nmap = copy_ints(s.scatter_dims_to_operand_dims, &a->start_index_map);
    v->grad_in[0] = lz_hlo_scatter_at("add", lz_v_zeros(v, TYPE(0)), idx, G, &s, v->site);
    return LZ_OK;
}

static bool is_assign(const lz_func *region)
{
    return region->nparam == 2 && region->nresult == 1 && region->results[0] == 1;
}

static void window_sizes(const lz_attr_scatter *a, const lz_shape *x, const lz_shape *upd,
                         int64_t *size)
{
    int w = 0;
    for (int64_t d = 0; d < x->rank; d++) {
        bool one =
            lz_ints_has(&a->inserted_window_dims, d) || lz_ints_has(&a->input_batching_dims, d);
        size[d] = one ? 1 : upd->dims[a->update_window_dims.v[w++]];
    }
}

/* The gather that transposes a scatter: the slices of y at the indices, 0 where an update was
 * dropped. y is zero-padded by a window on both sides, so that a start clamped into the padded
 * array reads exactly the part that is in bounds. */
static lz_tensor *read_back(const lz_vjp *v, lz_tensor *y)
{
    const lz_attr_scatter *a = LZ_ATTR(scatter, v->sig->attr);
    const lz_shape *x = &TYPE(0)->shape;
    const lz_ints *map = &a->scatter_dims_to_operand_dims;
    lz_gather_dims g = {.index_vector_dim = a->index_vector_dim,
                        .indices_are_sorted = a->indices_are_sorted};
    int64_t pad[LZ_MAX_RANK] = {0}, lo[LZ_MAX_RANK], hi[LZ_MAX_RANK], shift[LZ_MAX_RANK];
    window_sizes(a, x, &UPDATE_TYPE->shape, g.slice_sizes);
    for (int k = 0; k < map->n; k++) {
        int64_t d = map->v[k], w = g.slice_sizes[d];
        pad[d] = w;
        shift[k] = w;
        lo[k] = -w;
        hi[k] = x->dims[d];
    }
    lz_tensor *idx = INDICES;
    const lz_type *it = INDEX_TYPE;
    if (it->dtype == LZ_U64) { /* what wraps would come back from below */
        static const int64_t from[LZ_MAX_RANK];
        idx = clamp_indices(v, idx, it, a->index_vector_dim, from, hi, map->n);
    }
    if (it->dtype != LZ_I64) { /* a narrow or unsigned index may not hold -w or dim + w */
        idx = lz_hlo_convert_at(idx, LZ_I64, v->site);
        it = lz_type_get(LZ_I64, &it->shape);
        if (!it)
            return NULL;
    }
    idx = clamp_indices(v, idx, it, a->index_vector_dim, lo, hi, map->n);
    idx = lz_v2(v, "add", idx, per_component(v, it, a->index_vector_dim, shift, map->n));
    g.noffset = copy_ints(g.offset_dims, &a->update_window_dims);
    g.ncollapsed = copy_ints(g.collapsed_slice_dims, &a->inserted_window_dims);
    g.noperand_batch = copy_ints(g.operand_batching_dims, &a->input_batching_dims);
    copy_ints(g.start_indices_batching_dims, &a->scatter_indices_batching_dims);
    g.nstart_map = copy_ints(g.start_index_map, map);
    lz_tensor *zero = lz_hlo_constant_at(lz_dtype_of(y), 0, v->site);
    lz_tensor *padded = lz_hlo_pad_at(y, zero, pad, pad, NULL, x->rank, v->site);
    return lz_hlo_gather_at(padded, idx, &g, v->site);
}

static lz_tensor *scatter_like(const lz_vjp *v, const char *comb, lz_tensor *x, lz_tensor *updates)
{
    const lz_attr_scatter *a = LZ_ATTR(scatter, v->sig->attr);
    lz_scatter_dims s = {.index_vector_dim = a->index_vector_dim,
                         .indices_are_sorted = a->indices_are_sorted,
                         .unique_indices = a->unique_indices};
    s.nwindow = copy_ints(s.update_window_dims, &a->update_window_dims);
    s.ninserted = copy_ints(s.inserted_window_dims, &a->inserted_window_dims);
    s.ninput_batch = copy_ints(s.input_batching_dims, &a->input_batching_dims);
    copy_ints(s.scatter_indices_batching_dims, &a->scatter_indices_batching_dims);
    s.nmap = copy_ints(s.scatter_dims_to_operand_dims, &a->scatter_dims_to_operand_dims);
    return lz_hlo_scatter_at(comb, x, INDICES, updates, &s, v->site);
}

/* A replacing update: when several hit one element the last one wins, found by scattering the
 * updates' numbers. */
static lz_status scatter_assign(const lz_vjp *v)
{
    const lz_type *ut = TYPE(2);
    if (v->need[0])
        v->grad_in[0] = scatter_like(v, "assign", G, lz_v_zeros(v, ut));
    if (!v->need[2])
        return LZ_OK;
    lz_tensor *g = read_back(v, G);
    if (LZ_ATTR(scatter, v->sig->attr)->unique_indices) {
        v->grad_in[2] = g;
        return LZ_OK;
    }
    const lz_type *xn = lz_type_get(LZ_I64, &TYPE(0)->shape), *un = lz_type_get(LZ_I64, &ut->shape);
    if (!xn || !un)
        return LZ_EMEM;
    lz_tensor *number = lz_v_numbers(v, ut->shape);
    number = lz_v2(v, "add", number, lz_v_const_like(v, un, 1));
    lz_tensor *owner = read_back(v, scatter_like(v, "assign", lz_v_zeros(v, xn), number));
    v->grad_in[2] = lz_v_mask(v, lz_v_cmp(v, LZ_HLO_EQ, owner, number), g);
    return LZ_OK;
}

/* maximum, minimum: elements and updates that attain the result share its gradient evenly. */
static void scatter_extremum(const lz_vjp *v)
{
    const lz_type *xt = TYPE(0), *ut = TYPE(2);
    lz_tensor *x_hit = lz_v_attains(v, v->opnd[0], v->result);
    lz_tensor *u_hit = lz_v_attains(v, v->opnd[2], read_back(v, v->result));
    lz_tensor *count = scatter_like(v, "add", lz_hlo_convert_at(x_hit, xt->dtype, v->site),
                                    lz_hlo_convert_at(u_hit, ut->dtype, v->site));
    lz_tensor *share = lz_v2(v, "divide", G, count);
    if (v->need[0])
        v->grad_in[0] = lz_v_mask(v, x_hit, share);
    if (v->need[2])
        v->grad_in[2] = lz_v_mask(v, u_hit, read_back(v, share));
}

/* Any region, with unique indices: combines the previous element and its update. */
static lz_status scatter_any(const lz_vjp *v, lz_tensor **out)
{
    uint32_t n = v->sig->nresult;
    lz_tensor **x = lz_calloc(3 * (size_t)n, sizeof *x), **y = x + 2 * n;
    if (!x)
        return LZ_FAIL(LZ_EMEM, "no memory for a scatter");
    for (uint32_t k = 0; k < n; k++) {
        x[k] = read_back(v, v->opnd[k]);
        x[n + k] = v->opnd[n + 1 + k];
    }
    lz_status s = lz_v_apply(v, LZ_ATTR(scatter, v->sig->attr)->update_computation, x, y);
    for (uint32_t k = 0; k < n && s == LZ_OK; k++)
        out[k] = scatter_like(v, "assign", v->opnd[k], y[k]);
    lz_free(x);
    return s;
}

/* Any region, with possibly repeated indices: the element of each update is read back by gathering
 * element numbers. */
static lz_status scatter_in_order(const lz_vjp *v, lz_tensor **out)
{
    const lz_type *xn = lz_type_get(LZ_I64, &TYPE(0)->shape);
    if (!xn)
        return lz_error_get()->status;
    lz_tensor *number = lz_v_numbers(v, xn->shape);
    number = lz_v2(v, "add", number, lz_v_const_like(v, xn, 1));
    return lz_v_scatter_in_order(v, LZ_ATTR(scatter, v->sig->attr)->update_computation, v->opnd,
                                 read_back(v, number), v->opnd + v->sig->nresult + 1, out);
}

lz_status lz_vjp_scatter(const lz_vjp *v)
{
    const lz_attr_scatter *a = LZ_ATTR(scatter, v->sig->attr);
    lz_op own = v->sig->nresult == 1 ? lz_region_as_binary(a->update_computation) : LZ_OP_NONE;
    bool known = v->sig->nresult == 1 &&
                 (is_assign(a->update_computation) || own == LZ_OP_ADD || own == LZ_OP_MULTIPLY ||
                  own == LZ_OP_MAXIMUM || own == LZ_OP_MINIMUM);
    if (!known)
        return lz_v_composed(v, a->unique_indices ? scatter_any : scatter_in_order);
    if (is_assign(a->update_computation))
        return scatter_assign(v);
    lz_op comb = lz_region_as_binary(a->update_computation);
    if (comb == LZ_OP_ADD) {
        v->grad_in[0] = G;
        if (v->need[2])
            v->grad_in[2] = read_back(v, G);
        return LZ_OK;
    }
    if (comb == LZ_OP_MAXIMUM || comb == LZ_OP_MINIMUM) {
        scatter_extremum(v);
        return LZ_OK;
    }
    if (comb == LZ_OP_MULTIPLY && a->unique_indices) {
        if (v->need[0])
            v->grad_in[0] = scatter_like(v, "multiply", G, lz_v_conj(v, v->opnd[2]));
        if (v->need[2])
            v->grad_in[2] = read_back(v, lz_v2(v, "multiply", G, lz_v_conj(v, v->opnd[0])));
        return LZ_OK;
    }
    return lz_v_composed(v, scatter_in_order);
}
