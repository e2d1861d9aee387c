/* build_counted.c - see counted.h. */
#include "ir/counted.h"
#include <string.h>

/* ---- slices and stacks ---- */

const lz_type *lz_loop_slice_type(const lz_type *t)
{
    lz_shape s = lz_shape_make(t->shape.rank - 1, t->shape.dims + 1);
    return lz_type_get(t->dtype, &s);
}

const lz_type *lz_loop_stack_type(const lz_type *t, int64_t n)
{
    int64_t dims[LZ_MAX_RANK + 1] = {n};
    memcpy(dims + 1, t->shape.dims, (size_t)t->shape.rank * sizeof *dims);
    if (t->shape.rank == LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "stacked results would have more than %d dimensions", LZ_MAX_RANK);
        return NULL;
    }
    lz_shape s = lz_shape_make(t->shape.rank + 1, dims);
    return lz_type_get(t->dtype, &s);
}

/* Start indices: the step along the first dimension, 0 along the others. */
static void starts(lz_func *f, lz_val at, int rank, lz_val *out)
{
    out[0] = at;
    for (int d = 1; d < rank; d++)
        out[d] = lz_build_scalar_i64(f, LZ_I64, 0);
}

lz_val lz_loop_slice(lz_func *f, lz_val x, lz_val at)
{
    const lz_type *t = lz_val_type(f, x), *part = lz_loop_slice_type(t);
    lz_val v[1 + LZ_MAX_RANK] = {x};
    lz_attr_any a;
    if (!part)
        return LZ_NOVAL;
    lz_attr_init(&a, LZ_ATTR_sizes);
    a.as_sizes.slice_sizes = lz_ints_make(t->shape.rank, t->shape.dims);
    a.as_sizes.slice_sizes.v[0] = 1;
    starts(f, at, t->shape.rank, v + 1);
    lz_val s = lz_build(f, LZ_OP_DYNAMIC_SLICE, &a.head, v, 1 + (uint32_t)t->shape.rank);
    return s == LZ_NOVAL ? s : lz_build_reshape(f, s, &part->shape);
}

lz_val lz_loop_put(lz_func *f, lz_val stack, lz_val y, lz_val at)
{
    const lz_type *t = lz_val_type(f, stack);
    lz_val v[2 + LZ_MAX_RANK] = {stack};
    lz_shape one = t->shape;
    one.dims[0] = 1;
    v[1] = lz_build_reshape(f, y, &one);
    starts(f, at, t->shape.rank, v + 2);
    return v[1] == LZ_NOVAL
               ? v[1]
               : lz_build(f, LZ_OP_DYNAMIC_UPDATE_SLICE, NULL, v, 2 + (uint32_t)t->shape.rank);
}

/* ---- the loop ---- */

lz_status lz_count_regions(const lz_func *body, int64_t trip_count, uint32_t ncarried,
                           lz_attr_loop *a)
{
    lz_func *f = lz_func_new("cond"), *g = lz_func_new("body");
    lz_val *v = lz_alloc(((size_t)body->nparam + ncarried + 1) * sizeof *v);
    lz_status s = f && g && v ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a loop");
    for (uint32_t i = 0; i < body->nparam && s == LZ_OK; i++) {
        (void)lz_build_param(f, lz_val_type(body, i));
        v[i] = lz_build_param(g, lz_val_type(body, i));
    }
    if (s == LZ_OK) {
        lz_val more = lz_build_compare(f, LZ_CMP_LT, 0, lz_build_scalar_i64(f, LZ_I64, trip_count));
        s = more == LZ_NOVAL ? lz_error_get()->status : lz_func_set_results(f, &more, 1);
    }
    if (s == LZ_OK)
        s = lz_build_inline(g, body, v, v + body->nparam);
    if (s == LZ_OK) {
        v[body->nparam - 1] = lz_build_ew2(g, LZ_OP_ADD, 0, lz_build_scalar_i64(g, LZ_I64, 1));
        s = lz_func_set_results(g, v + body->nparam - 1, ncarried + 1);
    }
    if (s == LZ_OK && (!(a->cond = lz_region_intern(f)) || !(a->body = lz_region_intern(g))))
        s = lz_error_get()->status;
    lz_func_free(f);
    lz_func_free(g);
    lz_free(v);
    return s;
}

lz_status lz_build_count(lz_func *f, const lz_func *body, int64_t trip_count, const lz_val *opnd,
                         uint32_t n, uint32_t ncarried, lz_val *results)
{
    lz_attr_loop a = {.kind = LZ_ATTR_loop};
    LZ_TRY(lz_count_regions(body, trip_count, ncarried, &a));
    lz_val *all = lz_alloc(((size_t)n + 1) * sizeof *all);
    if (!all)
        return LZ_FAIL(LZ_EMEM, "no memory for a loop");
    all[0] = lz_build_scalar_i64(f, LZ_I64, 0);
    if (n)
        memcpy(all + 1, opnd, n * sizeof *all);
    lz_val loop = lz_build_while(f, a.cond, a.body, all, n + 1);
    lz_free(all);
    for (uint32_t k = 0; k < ncarried && loop != LZ_NOVAL; k++)
        results[k] = lz_build_result(f, loop, k + 1);
    return f->status;
}

static bool is_const_i64(const lz_func *f, lz_val v, int64_t *out)
{
    const lz_literal *l = f->insts[v].lit;
    if (!l || l->type->dtype != LZ_I64 || l->type->shape.rank != 0)
        return false;
    *out = *(const int64_t *)l->data;
    return true;
}

int64_t lz_control_counted(const lz_sig *sig)
{
    const lz_attr_loop *a = LZ_ATTR(loop, sig->attr);
    int64_t trip_count, step;
    if (sig->op != LZ_OP_WHILE)
        return -1;
    const lz_inst *c = &a->cond->insts[a->cond->results[0]],
                  *i = &a->body->insts[a->body->results[0]];
    bool counts = lz_inst_op(c) == LZ_OP_COMPARE &&
                  LZ_ATTR(compare, c->sig->attr)->comparison_direction == LZ_CMP_LT &&
                  c->opnd[0] == 0 && is_const_i64(a->cond, c->opnd[1], &trip_count);
    counts = counts && lz_inst_op(i) == LZ_OP_ADD && i->opnd[0] == 0 &&
             is_const_i64(a->body, i->opnd[1], &step) && step == 1;
    return counts && trip_count >= 0 ? trip_count : -1;
}
