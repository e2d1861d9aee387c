/* work.c - see work.h. */
#include "shard/work.h"
#include "ir/attr.h"
#include "ir/trip_count.h"
#include <math.h>

bool lz_work_is_product(lz_op op)
{
    return op == LZ_OP_DOT_GENERAL || op == LZ_OP_CONVOLUTION;
}

static double extents_of(const lz_type *t, const lz_ints *dims)
{
    double n = 1;
    for (int i = 0; i < dims->n; i++)
        n *= (double)t->shape.dims[dims->v[i]];
    return n;
}

static lz_work_matrices of_dot(const lz_sig *sig)
{
    const lz_attr_dot *a = LZ_ATTR(dot, sig->attr);
    lz_work_matrices w = {.batch = extents_of(sig->opnd[0], &a->lhs_batching_dimensions),
                          .k = extents_of(sig->opnd[0], &a->lhs_contracting_dimensions)};
    w.m = w.batch * w.k > 0 ? (double)sig->opnd[0]->nelem / (w.batch * w.k) : 0;
    w.n = w.batch * w.m > 0 ? (double)sig->result[0]->nelem / (w.batch * w.m) : 0;
    return w;
}

/* Each element of the result is a sum over the kernel's elements of one feature. */
static lz_work_matrices of_convolution(const lz_sig *sig)
{
    const lz_attr_convolution *a = LZ_ATTR(convolution, sig->attr);
    lz_work_matrices w = {
        .batch = 1, .n = (double)sig->opnd[1]->shape.dims[a->kernel_output_feature_dimension]};
    w.m = w.n > 0 ? (double)sig->result[0]->nelem / w.n : 0;
    w.k = w.n > 0 ? (double)sig->opnd[1]->nelem / w.n : 0;
    return w;
}

static lz_work_matrices of_linalg(const lz_sig *sig)
{
    const lz_type *t = sig->nopnd ? sig->opnd[0] : sig->result[0];
    int r = t->shape.rank;
    double n = r > 1 ? (double)t->shape.dims[r - 1] : 1,
           rows = r > 1 ? (double)t->shape.dims[r - 2] : 1;
    return (lz_work_matrices){
        .batch = n * rows > 0 ? (double)t->nelem / (n * rows) : 0, .m = rows, .n = n, .k = n};
}

lz_work_matrices lz_work_matrices_of(const lz_sig *sig)
{
    return sig->op == LZ_OP_DOT_GENERAL   ? of_dot(sig)
           : sig->op == LZ_OP_CONVOLUTION ? of_convolution(sig)
                                          : of_linalg(sig);
}

double lz_work_flops(const lz_sig *sig)
{
    lz_work_matrices w = lz_work_matrices_of(sig);
    return (lz_dtype_is_complex(sig->result[0]->dtype) ? 8 : 2) * w.batch * w.m * w.n * w.k;
}

double lz_work_rounds(const lz_func *f, const lz_inst *loop, bool *guessed)
{
    int64_t trips = lz_trip_count_static(f, loop);
    if (guessed)
        *guessed |= trips < 0;
    return trips < 0 ? 1 : (double)trips;
}

double lz_work_times(double outer, double times)
{
    return fmin(outer * times, 1e30);
}
