/* expand_reduce_order.c - pass `expand_windows`: reductions whose region does not commute. Loops
 * take elements by lanes, threads and blocks, in no order; what such a region makes of them depends
 * on it. One that looks for the first of the largest numbers, and says so of what comes first only
 * where its indices ascend, becomes one that commutes. Any other that associates is applied to
 * neighbours: to blocks of BLOCK elements, all blocks at once, then to what they gave. One that
 * does not is applied to one element after the other, by a loop where there are many. */
#include "ir/counted.h"
#include "lower/passes/expand_window.h"
#include "lower/passes/reduce_order.h"
#include "lower/reduction.h"
#include <string.h>

enum { BLOCK = 16, UNROLLED = 64 }; /* UNROLLED: elements taken one by one without a loop */

typedef struct row {
    lz_func *f;
    uint32_t n;
    const lz_func *body;
    bool associates;
} row;

/* Elements from, from + step, .. (`count` of them) of x[outer, all]. */
static lz_val every(lz_func *f, lz_val x, int64_t from, int64_t step, int64_t count)
{
    int64_t outer = lz_val_type(f, x)->shape.dims[0];
    return lz_build_slice(f, x, (int64_t[]){0, from},
                          (int64_t[]){outer, from + (count - 1) * step + 1}, (int64_t[]){1, step});
}

/* acc[k] with element j of each of `count` blocks behind it; the first one where there is no acc.
 */
static void take(const row *r, const lz_val *x, int64_t from, int64_t count, bool first,
                 lz_val *acc)
{
    lz_val args[2 * LZ_MAX_RANK];
    for (uint32_t k = 0; k < r->n; k++) {
        args[k] = acc[k];
        args[r->n + k] = every(r->f, x[k], from, BLOCK, count);
    }
    if (r->f->status != LZ_OK)
        return;
    if (first)
        memcpy(acc, args + r->n, r->n * sizeof *acc);
    else
        lz_windows_inline(r->f, r->body, args, &lz_val_type(r->f, args[r->n])->shape, acc);
}

static lz_val beside(lz_func *f, lz_val a, lz_val b)
{
    lz_attr_dim d = {.kind = LZ_ATTR_dim, .dimension = 1};
    lz_val o[2] = {a, b};
    return lz_build(f, LZ_OP_CONCATENATE, LZ_RECORD(d), o, 2);
}

/* x[outer, m] becomes [outer, (m + BLOCK - 1) / BLOCK]. */
static void blocks(const row *r, lz_val *x, int64_t m)
{
    lz_val whole[LZ_MAX_RANK], rest[LZ_MAX_RANK];
    int64_t nb = m / BLOCK;
    for (int64_t j = 0; j < BLOCK && r->f->status == LZ_OK; j++)
        take(r, x, j, nb, j == 0, whole);
    for (int64_t j = nb * BLOCK; j < m && r->f->status == LZ_OK; j++)
        take(r, x, j, 1, j == nb * BLOCK, rest);
    for (uint32_t k = 0; k < r->n && r->f->status == LZ_OK; k++)
        x[k] = m % BLOCK ? beside(r->f, whole[k], rest[k]) : whole[k];
}

/* (round, accumulators [outer] .., x [m, outer] ..) -> accumulators */
static lz_func *one_round(const row *r, const lz_val *acc, const lz_val *x)
{
    lz_shape scalar = LZ_SCALAR;
    const lz_type *count = lz_type_get(LZ_I64, &scalar);
    lz_func *f = count ? lz_func_new("round") : NULL;
    lz_val at, args[2 * LZ_MAX_RANK], all[LZ_MAX_RANK];
    if (!f)
        return NULL;
    at = lz_build_param(f, count);
    for (uint32_t k = 0; k < r->n; k++)
        args[k] = lz_build_param(f, lz_val_type(r->f, acc[k]));
    for (uint32_t k = 0; k < r->n; k++)
        all[k] = lz_build_param(f, lz_val_type(r->f, x[k]));
    for (uint32_t k = 0; k < r->n && f->status == LZ_OK; k++)
        args[r->n + k] = lz_loop_slice(f, all[k], at);
    if (f->status == LZ_OK &&
        lz_windows_inline(f, r->body, args, &lz_val_type(f, args[0])->shape, args))
        (void)lz_func_set_results(f, args, r->n);
    if (f->status == LZ_OK)
        return f;
    r->f->status = f->status;
    lz_func_free(f);
    return NULL;
}

/* The same as reduce_row, by a loop. */
static void loop_row(const row *r, const lz_val *x, const lz_val *init, int64_t m, lz_val *out)
{
    lz_shape kept = LZ_SHAPE(lz_val_type(r->f, x[0])->shape.dims[0]),
             one = LZ_SHAPE(kept.dims[0], 1);
    lz_attr_perm turn = {.kind = LZ_ATTR_perm, .permutation = {2, {1, 0}}};
    lz_val opnd[2 * LZ_MAX_RANK];
    for (uint32_t k = 0; k < r->n; k++) {
        opnd[k] = lz_windows_spread(r->f, init[k], &kept);
        opnd[r->n + k] = lz_build(r->f, LZ_OP_TRANSPOSE, LZ_RECORD(turn), &x[k], 1);
    }
    lz_func *body = r->f->status == LZ_OK ? one_round(r, opnd, opnd + r->n) : NULL;
    if (!body) {
        r->f->status = r->f->status == LZ_OK ? LZ_EMEM : r->f->status;
        return;
    }
    lz_status s = lz_build_count(r->f, body, m, opnd, 2 * r->n, r->n, out);
    lz_func_free(body);
    for (uint32_t k = 0; k < r->n && s == LZ_OK; k++)
        out[k] = lz_build_reshape(r->f, out[k], &one);
    r->f->status = r->f->status == LZ_OK ? s : r->f->status;
}

/* x[outer, m] in order behind init; out[outer, 1] */
static void reduce_row(const row *r, lz_val *x, const lz_val *init, int64_t m, lz_val *out)
{
    if (!r->associates && m > UNROLLED) {
        loop_row(r, x, init, m, out);
        return;
    }
    for (; r->associates && m > BLOCK && r->f->status == LZ_OK; m = (m + BLOCK - 1) / BLOCK)
        blocks(r, x, m);
    if (r->f->status != LZ_OK)
        return;
    lz_shape one = lz_val_type(r->f, x[0])->shape;
    one.dims[1] = 1;
    for (uint32_t k = 0; k < r->n; k++)
        out[k] = lz_windows_spread(r->f, init[k], &one);
    for (int64_t j = 0; j < m && r->f->status == LZ_OK; j++)
        take(r, x, j, 1, false, out);
}

void lz_windows_in_order(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init,
                         const lz_ints *dims, const lz_func *body, bool associates, lz_val *out)
{
    row r = {f, n, body, associates};
    lz_shape s = lz_val_type(f, x[0])->shape, kept = {0}, two = LZ_SHAPE(1, 1);
    lz_attr_perm order = {.kind = LZ_ATTR_perm, .permutation.n = s.rank};
    lz_val y[LZ_MAX_RANK] = {0};
    int at = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < s.rank; d++) {
            bool reduced = false;
            for (int k = 0; k < dims->n; k++)
                reduced |= dims->v[k] == d;
            if (reduced != (pass == 1))
                continue;
            order.permutation.v[at++] = d;
            two.dims[pass] *= s.dims[d];
            if (!reduced)
                kept.dims[kept.rank++] = s.dims[d];
        }
    for (uint32_t k = 0; k < n && f->status == LZ_OK; k++) {
        y[k] = lz_build(f, LZ_OP_TRANSPOSE, LZ_RECORD(order), &x[k], 1);
        y[k] = lz_build_reshape(f, y[k], &two);
    }
    if (f->status == LZ_OK)
        reduce_row(&r, y, init, two.dims[1], out);
    for (uint32_t k = 0; k < n && f->status == LZ_OK; k++)
        out[k] = lz_build_reshape(f, out[k], &kept);
}

/* ---- the first of the largest ---- */

/* Whether element i along dimension d of v is i. */
static bool counts_along(const lz_func *f, lz_val v, int64_t d)
{
    for (;;) {
        const lz_inst *in = &f->insts[v];
        if (in->sig->attr->kind == LZ_ATTR_iota)
            return LZ_ATTR(iota, in->sig->attr)->iota_dimension == d;
        if (in->sig->attr->kind != LZ_ATTR_broadcast)
            return false;
        const lz_ints *to = &LZ_ATTR(broadcast, in->sig->attr)->broadcast_dimensions;
        int k = 0;
        while (k < to->n && to->v[k] != d)
            k++;
        if (k == to->n || in->sig->opnd[0]->shape.dims[k] != in->sig->result[0]->shape.dims[d])
            return false;
        d = k;
        v = in->opnd[0];
    }
}

static bool reads_value(const lz_func *in, uint32_t reduce)
{
    for (uint32_t i = reduce + 1; i < in->ninst; i++)
        if (lz_inst_op(&in->insts[i]) == LZ_OP_RESULT && in->insts[i].opnd[0] == reduce &&
            LZ_ATTR(index, in->insts[i].sig->attr)->index == 0)
            return true;
    return false;
}

/* The region in whose place one that commutes gives the same; NULL: there is none, or an error is
 * in f. */
static const lz_func *first_of_largest(lz_rw *rw, uint32_t i, const lz_reduce_order *order)
{
    const lz_sig *s = rw->in->insts[i].sig;
    const lz_attr_reduce *a = LZ_ATTR(reduce, s->attr);
    uint64_t start;
    if (!order->arg || a->dimensions.n != 1 || s->opnd[1]->shape.dims[a->dimensions.v[0]] == 0 ||
        !counts_along(rw->out, lz_rw_opnd(rw, i, 1), a->dimensions.v[0]) ||
        !lz_val_splat(rw->out, lz_rw_opnd(rw, i, 3), &start) || start != 0 ||
        (!order->arg_exact && reads_value(rw->in, i)))
        return NULL;
    const lz_func *r = lz_region_arg_first(order->arg > 0, s->opnd[0]->dtype, s->opnd[1]->dtype);
    if (!r)
        rw->out->status = lz_error_get()->status;
    return r;
}

/* ---- reductions of the program ---- */

bool lz_windows_wants_order(const lz_inst *in, lz_reduce_order *order, lz_status *status)
{
    *order = (lz_reduce_order){.commutes = true};
    if (lz_inst_op(in) != LZ_OP_REDUCE || in->sig->opnd[0]->nelem == 0)
        return false;
    *status = lz_reduce_order_of(lz_red_body(in), order);
    return *status == LZ_OK && !order->commutes;
}

void lz_windows_order_reduce(lz_rw *rw, uint32_t i, const lz_reduce_order *order, lz_val *out)
{
    const lz_sig *s = rw->in->insts[i].sig;
    const lz_attr_reduce *a = LZ_ATTR(reduce, s->attr);
    uint32_t n = s->nresult;
    lz_val o[2 * LZ_MAX_RANK];
    for (uint32_t k = 0; k < 2 * n; k++)
        o[k] = lz_rw_opnd(rw, i, k);
    const lz_func *r = first_of_largest(rw, i, order);
    if (r) {
        lz_attr_reduce b = *a;
        b.body = r;
        lz_val v = lz_build(rw->out, LZ_OP_REDUCE, LZ_RECORD(b), o, 2 * n);
        for (uint32_t k = 0; k < n && v != LZ_NOVAL; k++)
            out[k] = lz_build_result(rw->out, v, k);
    } else if (rw->out->status == LZ_OK) {
        lz_windows_in_order(rw->out, n, o, o + n, &a->dimensions, a->body, order->associates, out);
    }
}
