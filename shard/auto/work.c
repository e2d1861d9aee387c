/* work.c - what instructions compute, and how often loops go round. See model.h.
 * Regions nest at most LZ_MAX_REGION_DEPTH deep. Threads: pure functions. */
#include "ir/attr.h"
#include "shard/auto/model.h"

/* ---- one instruction ---- */

static double extent(const lz_type *t, int64_t d)
{
    return (double)t->shape.dims[d];
}

static double of_dot(const lz_sig *sig)
{
    const lz_attr_dot *a = LZ_ATTR(dot, sig->attr);
    double n = 2 * (double)sig->result[0]->nelem;
    for (int i = 0; i < a->lhs_contracting_dimensions.n; i++)
        n *= extent(sig->opnd[0], a->lhs_contracting_dimensions.v[i]);
    return n;
}

/* Each element of the result is a sum over the kernel's elements of one feature. */
static double of_convolution(const lz_sig *sig)
{
    const lz_attr_convolution *a = LZ_ATTR(convolution, sig->attr);
    double features = extent(sig->opnd[1], a->kernel_output_feature_dimension);
    return features > 0 ? 2 * (double)sig->result[0]->nelem * (double)sig->opnd[1]->nelem / features
                        : 0;
}

static double of_elements(const lz_sig *sig)
{
    int64_t n = 0;
    for (uint32_t k = 0; k < sig->nopnd; k++)
        n = sig->opnd[k]->nelem > n ? sig->opnd[k]->nelem : n;
    for (uint32_t k = 0; k < sig->nresult; k++)
        n = sig->result[k]->nelem > n ? sig->result[k]->nelem : n;
    return (double)n;
}

double lz_auto_work(const lz_sig *sig)
{
    if (sig->op == LZ_OP_DOT_GENERAL)
        return of_dot(sig);
    if (sig->op == LZ_OP_CONVOLUTION)
        return of_convolution(sig);
    switch (lz_op_get(sig->op)->cls) {
    case LZ_CLASS_LEAF: /* made where it is read */
    case LZ_CLASS_META:
    case LZ_CLASS_CONTROL:
    case LZ_CLASS_COLLECTIVE:
        return 0;
    default:
        return of_elements(sig);
    }
}

bool lz_auto_is_product(const lz_sig *sig)
{
    return lz_auto_work(sig) > of_elements(sig);
}

/* ---- loops ---- */

/* The integer that a value of f is; operands: of the loop that has f as a region, in function
 * outer. */
static bool constant(const lz_func *f, lz_val v, int64_t *out)
{
    const lz_inst *in = &f->insts[v];
    if (lz_inst_op(in) == LZ_OP_CONVERT || lz_inst_op(in) == LZ_OP_RESHAPE)
        in = &f->insts[in->opnd[0]];
    if (lz_inst_op(in) != LZ_OP_CONSTANT || !in->lit || in->lit->type->nelem != 1 ||
        !lz_dtype_is_int(in->lit->type->dtype))
        return false;
    *out = lz_elem_get_i64(in->lit->type->dtype, in->lit->data, 0);
    return true;
}

static bool constant_in(const lz_func *outer, const lz_inst *loop, const lz_func *region, lz_val v,
                        int64_t *out)
{
    return v < region->nparam && v < loop->sig->nopnd ? constant(outer, loop->opnd[v], out)
                                                      : constant(region, v, out);
}

/* What each round adds to carried value k. */
static bool step_of(const lz_func *outer, const lz_inst *loop, uint32_t k, int64_t *out)
{
    const lz_func *body = LZ_ATTR(loop, loop->sig->attr)->body;
    if (k >= body->nresult)
        return false;
    const lz_inst *add = &body->insts[body->results[k]];
    if (lz_inst_op(add) != LZ_OP_ADD)
        return false;
    if (add->opnd[0] == k)
        return constant_in(outer, loop, body, add->opnd[1], out);
    return add->opnd[1] == k && constant_in(outer, loop, body, add->opnd[0], out);
}

double lz_auto_rounds(const lz_func *f, const lz_inst *loop)
{
    const lz_func *cond = LZ_ATTR(loop, loop->sig->attr)->cond;
    const lz_inst *test = &cond->insts[cond->results[0]];
    int64_t start, end, step;
    if (lz_inst_op(test) != LZ_OP_COMPARE || test->opnd[0] >= cond->nparam)
        return 1;
    uint32_t k = test->opnd[0];
    lz_comparison_direction go = LZ_ATTR(compare, test->sig->attr)->comparison_direction;
    if ((go != LZ_CMP_LT && go != LZ_CMP_LE) || !constant_in(f, loop, cond, test->opnd[1], &end) ||
        !constant(f, loop->opnd[k], &start) || !step_of(f, loop, k, &step) || step < 1)
        return 1;
    double n = ((double)end - (double)start + (go == LZ_CMP_LE)) / (double)step;
    return n < 1 ? 1 : n > 1e9 ? 1e9 : (double)(int64_t)(n + 0.999999);
}

static double work_of(const lz_func *f, int depth)
{
    double n = 0;
    for (lz_val v = f->nparam; v < f->ninst && depth <= LZ_MAX_REGION_DEPTH; v++) {
        const lz_inst *in = &f->insts[v];
        const lz_attr *a = in->sig->attr;
        if (a->kind == LZ_ATTR_loop)
            n += lz_auto_rounds(f, in) * (work_of(LZ_ATTR(loop, a)->cond, depth + 1) +
                                          work_of(LZ_ATTR(loop, a)->body, depth + 1));
        else if (a->kind == LZ_ATTR_branches)
            n += work_of(LZ_ATTR(branches, a)->true_branch, depth + 1) +
                 work_of(LZ_ATTR(branches, a)->false_branch, depth + 1);
        else if (a->kind == LZ_ATTR_manual)
            n += work_of(LZ_ATTR(manual, a)->body, depth + 1);
        else
            n += lz_auto_work(in->sig);
    }
    return n;
}

double lz_auto_work_of(const lz_func *f)
{
    return work_of(f, 0);
}
