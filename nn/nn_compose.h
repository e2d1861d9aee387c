/* nn_compose.h - shorthands for the composites in nn/: each is one public operation at the place
 * `c->site`. A composite begins with nn_begin, ends with nn_end, and keeps nothing but its result
 * alive. An error tensor propagates to the end. Threads: as the public operations. */
#ifndef LZ_NN_NN_COMPOSE_H
#define LZ_NN_NN_COMPOSE_H
#include "nn/nn_internal.h"
#include <lazuli/amp.h>
#include <lazuli/debug.h>
#include <lazuli/grad.h>
#include <lazuli/hlo.h>
#include <lazuli/math_ops.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>
#include <string.h>

typedef struct nnc {
    const char *op;
    const lz_site *site;
    lz_status status;  /* the first failure of a check; the error is recorded */
    bool open;         /* it has a scope */
    bool named;        /* and a name scope */
    bool uncast;       /* automatic mixed precision is turned off until its end */
    const char *outer; /* the composite that this one is a part of; NULL: none */
} nnc;

static inline nnc nn_begin(const char *op, const lz_site *site)
{
    const char *outer = lz_error_speak_for(op);
    if (outer)
        (void)lz_error_speak_for(outer);
    lz_status s = lz_scope_begin();
    return (nnc){op, site, s, s == LZ_OK, false, false, outer};
}
/* The same with a name scope: "cross_entropy" of lz_cross_entropy. */
static inline nnc nn_begin_named(const char *op, const lz_site *site)
{
    nnc c = nn_begin(op, site);
    c.named = c.status == LZ_OK && lz_name_scope_begin(op + strlen("lz_")) == LZ_OK;
    return c;
}
/* Applies autocast to n operands, as the table's row of this composite says; then the operations
 * inside are not affected. NULL stays. */
static inline void nn_autocast_operands(nnc *c, lz_tensor **const *operands, int n)
{
    if (c->status != LZ_OK || lz_autocast_dtype() == LZ_DTYPE_NONE)
        return;
    for (int i = 0; i < n; i++)
        *operands[i] = lz_autocast_operand_at(c->op, *operands[i], c->site);
    c->status = lz_autocast_begin(LZ_DTYPE_NONE);
    c->uncast = c->status == LZ_OK;
}
#define nn_autocast(c, ...)                                                                        \
    nn_autocast_operands((c), (lz_tensor * *[]){__VA_ARGS__},                                      \
                         (int)(sizeof((lz_tensor **[]){__VA_ARGS__}) / sizeof(lz_tensor **)))
/* The result, or the error tensor of the recorded error. */
static inline lz_tensor *nn_end(nnc *c, lz_tensor *t)
{
    if (c->uncast)
        lz_autocast_end();
    if (c->status != LZ_OK)
        t = lz_error_tensor_last(c->op, c->site);
    t = c->open ? lz_scope_end_keep(t) : t;
    if (c->named)
        lz_name_scope_end();
    (void)lz_error_speak_for(c->outer);
    return t;
}
/* Records what is wrong and gives false. */
static inline bool nn_refused(nnc *c, lz_status s)
{
    c->status = s;
    return false;
}
#define nn_refuse(c, st, ...) nn_refused((c), LZ_FAIL((st), __VA_ARGS__))

static inline lz_tensor *nn_add(const nnc *c, lz_tensor *a, lz_tensor *b)
{
    return lz_add_at(a, b, c->site);
}
static inline lz_tensor *nn_sub(const nnc *c, lz_tensor *a, lz_tensor *b)
{
    return lz_sub_at(a, b, c->site);
}
static inline lz_tensor *nn_mul(const nnc *c, lz_tensor *a, lz_tensor *b)
{
    return lz_mul_at(a, b, c->site);
}
static inline lz_tensor *nn_div(const nnc *c, lz_tensor *a, lz_tensor *b)
{
    return lz_div_at(a, b, c->site);
}
static inline lz_tensor *nn_adds(const nnc *c, lz_tensor *a, double s)
{
    return lz_add_scalar_at(a, s, c->site);
}
static inline lz_tensor *nn_muls(const nnc *c, lz_tensor *a, double s)
{
    return lz_mul_scalar_at(a, s, c->site);
}
static inline lz_tensor *nn_neg(const nnc *c, lz_tensor *a)
{
    return lz_neg_at(a, c->site);
}
static inline lz_tensor *nn_square(const nnc *c, lz_tensor *a)
{
    return lz_mul_at(a, a, c->site);
}
static inline lz_tensor *nn_where(const nnc *c, lz_tensor *m, lz_tensor *a, lz_tensor *b)
{
    return lz_where_at(m, a, b, c->site);
}
static inline lz_tensor *nn_reshape(const nnc *c, lz_tensor *a, lz_shape s)
{
    return lz_reshape_at(a, s, c->site);
}
/* A rank-0 number of a's dtype: part of the program. */
static inline lz_tensor *nn_number(const nnc *c, lz_tensor *a, double v)
{
    return lz_hlo_constant_at(lz_dtype_of(a), v, c->site);
}
/* The same of a number that the caller gives: an argument of the program, so that another one
 * compiles nothing, not even 0 and 1. */
static inline lz_tensor *nn_given(const nnc *c, lz_tensor *a, double v)
{
    return lz_full_at(lz_dtype_of(a), LZ_SCALAR, v, c->site);
}
static inline lz_tensor *nn_add_given(const nnc *c, lz_tensor *a, double v)
{
    return nn_add(c, a, nn_given(c, a, v));
}
static inline lz_tensor *nn_mul_given(const nnc *c, lz_tensor *a, double v)
{
    return nn_mul(c, a, nn_given(c, a, v));
}
static inline lz_tensor *nn_sum(const nnc *c, lz_tensor *a, lz_dims dims, bool keepdim)
{
    const lz_reduce_options o = {.struct_size = sizeof o, .dims = dims, .keepdim = keepdim};
    return lz_sum_at(a, &o, c->site);
}
static inline lz_tensor *nn_mean(const nnc *c, lz_tensor *a, lz_dims dims, bool keepdim)
{
    const lz_reduce_options o = {.struct_size = sizeof o, .dims = dims, .keepdim = keepdim};
    return lz_mean_at(a, &o, c->site);
}
/* Dimensions from..to-1. */
static inline lz_dims nn_range(int from, int to)
{
    lz_dims d = {.n = 0};
    for (int i = from; i < to; i++)
        d.v[d.n++] = i;
    return d;
}
static inline bool nn_is_float(lz_dtype d)
{
    return d == LZ_F32 || d == LZ_F64 || d == LZ_F16 || d == LZ_BF16;
}
static inline bool nn_is_index(lz_dtype d)
{
    return d == LZ_I32 || d == LZ_I64;
}
static inline bool nn_same_shape(const lz_shape *a, const lz_shape *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank) == 0;
}
/* 16-bit floats as f32; NULL stays. */
static inline lz_tensor *nn_widen(const nnc *c, lz_tensor *t)
{
    return t && nn_is_float(lz_dtype_of(t)) && lz_dtype_size(lz_dtype_of(t)) == 2
               ? lz_to_at(t, LZ_F32, c->site)
               : t;
}
/* Back to dtype d. */
static inline lz_tensor *nn_narrow(const nnc *c, lz_tensor *t, lz_dtype d)
{
    lz_dtype have = lz_dtype_of(t);
    return have != d && have != LZ_DTYPE_NONE ? lz_to_at(t, d, c->site) : t;
}

/* Whether t is there and good; its own error is what is reported otherwise. what: "the input". */
bool nn_check(nnc *c, const lz_tensor *t, const char *what);
/* The same, and a float. */
bool nn_check_float(nnc *c, const lz_tensor *t, const char *what);
/* Whether t, which may be NULL, is of this shape. */
bool nn_check_shape(nnc *c, const lz_tensor *t, lz_shape want, const char *what);
/* Copies as much of src over dst as the caller's struct has. */
bool nn_options(nnc *c, void *dst, size_t have, const void *src);
/* The p-norm of x along dims. */
lz_tensor *lz_nn_norm(const nnc *c, lz_tensor *x, double p, lz_dims dims, bool keepdim);
#endif
