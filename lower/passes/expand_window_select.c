/* expand_window_select.c - pass `expand_windows`: select_and_scatter. See expand_window.c. Step 1,
 * a reduction of (value, position) pairs over each window, finds the selected element; the region
 * `select` always compares the earlier element with the later one, so the order of combination
 * does not matter. Step 2 is a gather: each element of the result combines the values of the
 * windows that may have selected it, its own and, where windows overlap, those one stride before.
 * No computed addresses, no collisions. A region `scatter` that is not an op with an identity, or
 * windows over too many dimensions or with too many elements in common, become a scatter at the
 * positions. */
#include "lower/passes/repeat.h"
#include "lower/passes/expand_window.h"
#include <string.h>

typedef struct sas {
    lz_rw *rw;
    lz_func *f;
    const lz_attr_select_and_scatter *a;
    lz_shape x, source; /* shapes */
    int64_t nelem;
    lz_window_axis w[LZ_MAX_RANK];
    lz_dtype pos; /* dtype of positions */
    bool scans;
} sas;

static lz_val ew(lz_func *f, lz_op op, lz_val a, lz_val b)
{
    return lz_build_ew2(f, op, a, b);
}

/* ---- which element ---- */

/* (value a, position a, value b, position b) -> the chosen pair; a negative position is none. */
static const lz_func *choice(const sas *h, lz_dtype d)
{
    lz_shape scalar = LZ_SCALAR;
    lz_func *f = lz_func_new("choice");
    const lz_func *r = NULL;
    if (!f)
        return NULL;
    const lz_type *t = lz_type_get(d, &scalar), *p = lz_type_get(h->pos, &scalar);
    if (!t || !p) {
        lz_func_free(f);
        return NULL;
    }
    lz_val a = lz_build_param(f, t), ai = lz_build_param(f, p), b = lz_build_param(f, t),
           bi = lz_build_param(f, p), zero = lz_build_scalar_i64(f, h->pos, 0), keep;
    lz_val a_first = lz_build_compare(f, LZ_CMP_LT, ai, bi);
    lz_val pair[2] = {lz_build_select(f, a_first, a, b), lz_build_select(f, a_first, b, a)};
    if (f->status == LZ_OK && lz_windows_inline(f, h->a->select, pair, &scalar, &keep)) {
        lz_val has_a = lz_build_compare(f, LZ_CMP_GE, ai, zero),
               no_b = lz_build_compare(f, LZ_CMP_LT, bi, zero);
        /* the first is kept: a if a comes first, else b */
        lz_val take = lz_build_compare(f, LZ_CMP_EQ, keep, a_first);
        take = ew(f, LZ_OP_AND, has_a, ew(f, LZ_OP_OR, no_b, take));
        lz_val out[2] = {lz_build_select(f, take, a, b), lz_build_select(f, take, ai, bi)};
        if (f->status == LZ_OK && lz_func_set_results(f, out, 2) == LZ_OK)
            r = lz_region_intern(f);
    }
    lz_func_free(f);
    return r;
}

/* Whether the program's region chooses the same in whatever groups: (value a, a's number, value b,
 * b's number) -> what it keeps. */
static lz_status find_order(const sas *h, lz_dtype d, lz_reduce_order *out)
{
    lz_shape scalar = LZ_SCALAR;
    lz_func *f = lz_func_new("kept");
    lz_val keep;
    const lz_type *t = lz_type_get(d, &scalar), *p = lz_type_get(LZ_I32, &scalar);
    if (!f || !t || !p) {
        lz_func_free(f);
        return LZ_EMEM;
    }
    lz_val v[4] = {lz_build_param(f, t), lz_build_param(f, p), lz_build_param(f, t),
                   lz_build_param(f, p)};
    if (f->status == LZ_OK &&
        lz_windows_inline(f, h->a->select, (lz_val[]){v[0], v[2]}, &scalar, &keep)) {
        lz_val both[2] = {lz_build_select(f, keep, v[0], v[2]),
                          lz_build_select(f, keep, v[1], v[3])};
        (void)lz_func_set_results(f, both, 2);
    }
    lz_status s = f->status;
    const lz_func *r = s == LZ_OK ? lz_region_intern(f) : NULL;
    if (s == LZ_OK)
        s = r ? lz_reduce_order_of(r, out) : lz_error_get()->status;
    lz_func_free(f);
    return s;
}

/* The row-major position of every element of shape s, as a sum over its dimensions, which any
 * layout can compute. */
static lz_val positions(const sas *h)
{
    const lz_type *t = lz_type_get(h->pos, &h->x);
    lz_val sum = LZ_NOVAL;
    int64_t stride = 1;
    if (!t)
        h->f->status = lz_error_get()->status;
    for (int d = h->x.rank; t && d-- > 0; stride *= h->x.dims[d]) {
        if (h->x.dims[d] == 1)
            continue;
        lz_val at = lz_build_iota(h->f, t, d);
        if (stride > 1)
            at = ew(h->f, LZ_OP_MULTIPLY, at, lz_build_splat(h->f, t, (double)stride));
        sum = sum == LZ_NOVAL ? at : ew(h->f, LZ_OP_ADD, sum, at);
    }
    return t && sum == LZ_NOVAL ? lz_build_splat_bits(h->f, t, 0) : sum;
}

/* For each window, the position it chooses; -1: it has no element. */
static lz_val chosen(const sas *h, lz_val x)
{
    lz_func *f = h->f;
    lz_dtype d = lz_val_type(f, x)->dtype;
    const lz_func *body = choice(h, d);
    lz_shape scalar = LZ_SCALAR;
    const lz_type *t = lz_type_get(d, &scalar);
    if (!body || !t) {
        f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    /* the zero is a constant of its own: complex numbers have no splat */
    lz_val v[2] = {x, positions(h)}, out[2],
           init[2] = {lz_build_splat_bits(f, t, 0), lz_build_scalar_i64(f, h->pos, -1)};
    if (f->status != LZ_OK)
        return LZ_NOVAL;
    /* by their positions pairs may come in any order, and in any groups where the program's region
     * associates: comparisons as numbers do not, with NaN among them */
    lz_reduce_order order;
    if ((f->status = find_order(h, d, &order)) != LZ_OK)
        return LZ_NOVAL;
    order.commutes = order.associates;
    if (!order.associates || !lz_windows_are_long(h->w, h->x.rank) ||
        !lz_windows_all_scalar(body) || !lz_windows_slide(f, 2, v, init, h->w, body, h->scans, out))
        lz_windows_fold_as(f, 2, v, init, h->w, body, &order, out);
    return out[1];
}

/* ---- what reaches an element ---- */

/* Along dimension d, an element q places from where the first window begins is in window q / stride
 * and in the `overlap` - 1 before it, if they are long enough: which is what comparing positions
 * finds out. */
static int64_t overlap(const lz_window_axis *w)
{
    return (w->size - 1) / w->stride + 1;
}

/* Values of windows spread over `stride` elements each: element q is that of window q / stride. */
static lz_val spread_out(const sas *h, lz_val v)
{
    lz_ints times = {.n = h->x.rank};
    for (int d = 0; d < h->x.rank; d++)
        times.v[d] = h->w[d].stride;
    return lz_build_repeat(h->f, v, &times);
}

/* For each element of x, in new dimensions, the values of the windows it may lie in. */
static lz_val candidates(const sas *h, lz_val v, lz_val outside)
{
    lz_window_axis w[LZ_MAX_RANK];
    for (int d = 0; d < h->x.rank; d++) {
        int64_t n = overlap(&h->w[d]), stride = h->w[d].stride;
        w[d] = (lz_window_axis){n, 1, (n - 1) * stride - h->w[d].low, 0, 1, n > 1 ? stride : 1};
    }
    v = lz_windows_pad(h->f, spread_out(h, v), outside, w, h->x.dims);
    return lz_windows_view(h->f, v, w, h->x.dims);
}

static bool fits(const sas *h)
{
    int spread = h->x.rank, view = h->x.rank;
    for (int d = 0; d < h->x.rank; d++) {
        spread += h->w[d].stride > 1;
        view += overlap(&h->w[d]) > 1;
    }
    return spread <= LZ_MAX_RANK && view <= LZ_MAX_RANK;
}

/* What windows scatter to their chosen element, combined for each element of x; `none` where
 * nothing comes. */
static lz_val arriving(const sas *h, lz_op op, lz_val at, lz_val source, lz_val none)
{
    lz_func *f = h->f;
    lz_val p = candidates(h, at, lz_build_scalar_i64(f, h->pos, -1)),
           v = candidates(h, source, none);
    if (f->status != LZ_OK)
        return LZ_NOVAL;
    lz_shape s = lz_val_type(f, p)->shape;
    lz_ints dims = {0}, where = {0};
    for (int d = 0; d < s.rank; d++)
        if (d < h->x.rank)
            where.v[where.n++] = d;
        else
            dims.v[dims.n++] = d;
    lz_val here = positions(h);
    lz_val hit =
        lz_build_compare(f, LZ_CMP_EQ, p, dims.n ? lz_build_broadcast(f, here, &where, &s) : here);
    v = lz_build_select(f, hit, v, lz_windows_spread(f, none, &s));
    return dims.n ? lz_build_reduce(f, op, v, none, &dims) : v;
}

/* The scatter operation, at positions. */
static lz_val scattered(const sas *h, lz_val at, lz_val source, lz_val init)
{
    lz_attr_scatter a;
    lz_func *f = h->f;
    int64_t n = 1;
    for (int d = 0; d < h->source.rank; d++)
        n *= h->source.dims[d];
    lz_shape flat = lz_shape_make(1, &h->nelem), list = lz_shape_make(1, &n);
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_scatter;
    a.inserted_window_dims = a.scatter_dims_to_operand_dims = (lz_ints){.n = 1};
    a.index_vector_dim = 1;
    a.update_computation = h->a->scatter;
    lz_val o[3] = {lz_windows_spread(f, init, &flat), lz_build_reshape(f, at, &list),
                   lz_build_reshape(f, source, &list)};
    lz_val r = lz_build(f, LZ_OP_SCATTER, LZ_RECORD(a), o, 3);
    return lz_build_reshape(f, lz_build_result(f, r, 0), &h->x);
}

lz_val lz_windows_select(lz_rw *rw, uint32_t i, bool scans)
{
    lz_func *f = rw->out;
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_type *t = sig->opnd[0];
    lz_val x = lz_rw_opnd(rw, i, 0), source = lz_rw_opnd(rw, i, 1), init = lz_rw_opnd(rw, i, 2);
    sas h = {.rw = rw,
             .f = f,
             .a = LZ_ATTR(select_and_scatter, sig->attr),
             .x = t->shape,
             .source = sig->opnd[1]->shape,
             .nelem = t->nelem,
             .scans = scans};
    h.pos = t->nelem <= INT32_MAX ? LZ_I32 : LZ_I64;
    if (t->nelem == 0 || sig->opnd[1]->nelem == 0)
        return lz_windows_spread(f, init, &t->shape);
    for (int d = 0; d < h.x.rank; d++)
        h.w[d] = lz_window_of_select(h.a, d);
    lz_op op = lz_region_as_binary(h.a->scatter);
    lz_dtype acc = lz_acc_dtype(t->dtype);
    uint64_t id;
    lz_val at = chosen(&h, x);
    if (at == LZ_NOVAL)
        return at;
    if (op == LZ_OP_NONE || !lz_identity_bits(op, acc, &id) || !fits(&h) ||
        lz_windows_are_long(h.w, h.x.rank))
        return scattered(&h, at, source, init);
    lz_shape scalar = LZ_SCALAR;
    const lz_type *st = lz_type_get(acc, &scalar);
    if (!st) {
        f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    lz_val v =
        arriving(&h, op, at, lz_build_convert(f, source, acc), lz_build_splat_bits(f, st, id));
    lz_val first = lz_windows_spread(f, lz_build_convert(f, init, acc), &t->shape);
    return lz_build_convert(f, ew(f, op, first, v), t->dtype);
}
