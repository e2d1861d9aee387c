/* compose.h - shorthands for composite operations: functions from nodes to nodes, made of
 * primitives. In all of them `c` is the trace context; a NULL operand gives NULL (trace_builder.h).
 * Numbers: K is a constant of the program; ARG is given by the caller and passed as a run-time
 * argument, so that no value of it compiles; both have the dtype and shape of their first operand.
 */
#ifndef LZ_OPS_COMPOSE_H
#define LZ_OPS_COMPOSE_H
#include "ir/attr.h"
#include "ops/reduce_builder.h"

#define ADD(a, b) lz_tracer_ew2(c, LZ_OP_ADD, (a), (b))
#define SUB(a, b) lz_tracer_ew2(c, LZ_OP_SUBTRACT, (a), (b))
#define MUL(a, b) lz_tracer_ew2(c, LZ_OP_MULTIPLY, (a), (b))
#define DIV(a, b) lz_tracer_ew2(c, LZ_OP_DIVIDE, (a), (b))
#define REM(a, b) lz_tracer_ew2(c, LZ_OP_REMAINDER, (a), (b))
#define POW(a, b) lz_tracer_ew2(c, LZ_OP_POWER, (a), (b))
#define MAX(a, b) lz_tracer_ew2(c, LZ_OP_MAXIMUM, (a), (b))
#define MIN(a, b) lz_tracer_ew2(c, LZ_OP_MINIMUM, (a), (b))
#define AND(a, b) lz_tracer_ew2(c, LZ_OP_AND, (a), (b))
#define OR(a, b) lz_tracer_ew2(c, LZ_OP_OR, (a), (b))
#define XOR(a, b) lz_tracer_ew2(c, LZ_OP_XOR, (a), (b))
#define NOT(a) lz_tracer_ew1(c, LZ_OP_NOT, (a))
#define NEG(a) lz_tracer_ew1(c, LZ_OP_NEGATE, (a))
#define ABS(a) lz_tracer_ew1(c, LZ_OP_ABS, (a))
#define EXP(a) lz_tracer_ew1(c, LZ_OP_EXPONENTIAL, (a))
#define EXPM1(a) lz_tracer_ew1(c, LZ_OP_EXPONENTIAL_MINUS_ONE, (a))
#define LOG(a) lz_tracer_ew1(c, LZ_OP_LOG, (a))
#define LOG1P(a) lz_tracer_ew1(c, LZ_OP_LOG_PLUS_ONE, (a))
#define SQRT(a) lz_tracer_ew1(c, LZ_OP_SQRT, (a))
#define RSQRT(a) lz_tracer_ew1(c, LZ_OP_RSQRT, (a))
#define SIN(a) lz_tracer_ew1(c, LZ_OP_SINE, (a))
#define TANH(a) lz_tracer_ew1(c, LZ_OP_TANH, (a))
#define SIGMOID(a) lz_tracer_ew1(c, LZ_OP_LOGISTIC, (a))
#define FLOOR(a) lz_tracer_ew1(c, LZ_OP_FLOOR, (a))
#define CEIL(a) lz_tracer_ew1(c, LZ_OP_CEIL, (a))
#define FINITE(a) lz_tracer_ew1(c, LZ_OP_IS_FINITE, (a))
#define SIGN(a) lz_tracer_ew1(c, LZ_OP_SIGN, (a))
#define RE(a) lz_tracer_ew1(c, LZ_OP_REAL, (a))
#define IM(a) lz_tracer_ew1(c, LZ_OP_IMAG, (a))
#define EQ(a, b) lz_tracer_compare(c, LZ_CMP_EQ, (a), (b))
#define NE(a, b) lz_tracer_compare(c, LZ_CMP_NE, (a), (b))
#define LT(a, b) lz_tracer_compare(c, LZ_CMP_LT, (a), (b))
#define LE(a, b) lz_tracer_compare(c, LZ_CMP_LE, (a), (b))
#define GT(a, b) lz_tracer_compare(c, LZ_CMP_GT, (a), (b))
#define GE(a, b) lz_tracer_compare(c, LZ_CMP_GE, (a), (b))
#define SEL(p, a, b) lz_tracer_ew3(c, LZ_OP_SELECT, (p), (a), (b))
#define CLAMP(lo, x, hi) lz_tracer_ew3(c, LZ_OP_CLAMP, (lo), (x), (hi))
#define TO(x, d) lz_tracer_convert(c, (x), (d))
#define K(x, v) lz_tracer_const_like(c, (x), (v))
#define ARG(x, v) lz_tracer_arg_like(c, (x), (v))
#define IS_NAN(x) lz_tracer_is_nan(c, (x))

static inline lz_node *lz_tracer_arg_like(lz_tracer *c, lz_node *x, double v)
{
    return x ? lz_tracer_fill(c, lz_tracer_argument(c, lz_node_type(x)->dtype, v, x),
                              &lz_node_type(x)->shape)
             : NULL;
}

static inline lz_node *lz_tracer_is_nan(lz_tracer *c, lz_node *x)
{
    return NE(x, x);
}

/* False with LZ_EDTYPE recorded: an operation that complex numbers do not have. */
static inline bool lz_tracer_is_real(const lz_node *x)
{
    if (!x || !lz_dtype_is_complex(lz_node_type(x)->dtype))
        return x != NULL;
    LZ_FAIL(LZ_EDTYPE, "the operand is %s: it is not defined for complex numbers",
            lz_dtype_name(lz_node_type(x)->dtype));
    return false;
}

/* x x, of a complex number the square of its magnitude: not the square of |x|, whose kink hides the
 * second derivative at 0. */
static inline lz_node *lz_tracer_magnitude2(lz_tracer *c, lz_node *x)
{
    if (x && lz_dtype_is_complex(lz_node_type(x)->dtype))
        return ADD(MUL(RE(x), RE(x)), MUL(IM(x), IM(x)));
    return MUL(x, x);
}

/* The dtype of magnitudes. */
static inline lz_dtype lz_tracer_real_dtype(lz_dtype d)
{
    return lz_dtype_is_complex(d) ? lz_dtype_part(d) : d;
}

/* The value of x as a stop-gradient: for shifts and scales that cancel again and need no
 * gradient. */
static inline lz_node *lz_tracer_detached(lz_tracer *c, lz_node *x)
{
    return x ? lz_tracer_own(c, lz_node_new_detached(x, c->site)) : NULL;
}

static inline lz_dtype lz_tracer_dtype(const lz_node *x)
{
    return x ? lz_node_type(x)->dtype : LZ_DTYPE_NONE;
}

/* Of NULL, which operations pass on: one whose last dimensions can be looked at. */
static inline const lz_shape *lz_tracer_shape(const lz_node *x)
{
    static const lz_shape none = {4, {1, 1, 1, 1, 1, 1, 1, 1}};
    return x ? &lz_node_type(x)->shape : &none;
}

#define BEGIN(name)                                                                                \
    lz_tracer context, *const c = &context;                                                        \
    lz_tracer_begin(c, name, site)

/* Helpers that several files use. */
lz_node *lz_tracer_softmax(lz_tracer *c, lz_node *x, int64_t dim, bool logarithm); /* reduction.c */
lz_node *lz_tracer_matmul(lz_tracer *c, lz_node *a, lz_node *b);                   /* reduction.c */
/* linalg.c: v x, in f32 where x has 16 bits; LZ_EDTYPE naming `what` for a fraction of integers */
lz_node *lz_tracer_scaled(lz_tracer *c, lz_node *x, double v, const char *what);
lz_node *lz_tracer_unsqueeze(lz_tracer *c, lz_node *x, int64_t dim); /* shape.c */
/* shape.c: if its extent is 1 */
lz_node *lz_tracer_squeeze(lz_tracer *c, lz_node *x, int64_t dim);
/* shape.c: start <= limit <= extent */
lz_node *lz_tracer_slice_dim(lz_tracer *c, lz_node *x, int64_t dim, int64_t start, int64_t limit,
                             int64_t step);
lz_node *lz_tracer_permute(lz_tracer *c, lz_node *x, const lz_dims *d); /* shape.c */
lz_node *lz_tracer_flip(lz_tracer *c, lz_node *x, const lz_dims *d);    /* shape.c */
/* indexing.c: i32 or i64; false with LZ_EDTYPE recorded */
bool lz_tracer_is_index(const lz_node *x);
/* indexing.c, as lz_gather and lz_scatter_add, with any combiner (NONE: replace). */
lz_node *lz_tracer_gather(lz_tracer *c, lz_node *x, int64_t dim, lz_node *index);
lz_node *lz_tracer_scatter_along(lz_tracer *c, lz_op op, lz_node *x, int64_t dim, lz_node *index,
                                 lz_node *src);
/* index_put.c: slice i of source combined into slice index[i] of dim. index of rank 1, dim from
 * the front; LZ_ESHAPE, LZ_EDTYPE when they do not fit. */
lz_node *lz_tracer_into_slices(lz_tracer *c, lz_op op, lz_node *x, int64_t dim, lz_node *index,
                               lz_node *source);
/* shape.c: n >= 1 operands promoted to one dtype, in few (room for 16) or in memory to lz_free;
 * NULL with the error recorded. */
lz_node **lz_tracer_operands(lz_tracer *c, lz_tensor *const *xs, int n, lz_node **few);
/* indexing.c: broadcasts and promotes */
lz_node *lz_tracer_where(lz_tracer *c, lz_node *p, lz_node *a, lz_node *b);

/* view.c: i64 positions offset + sum of i[k] strides[k] in x's row-major order, for each index
 * i of s; NULL with LZ_ERANGE when one is outside. */
lz_node *lz_tracer_strided_positions(lz_tracer *c, const lz_node *x, const lz_shape *s,
                                     const int64_t *strides, int64_t offset);
/* slice_update.c: zeros around and between */
lz_node *lz_tracer_pad(lz_tracer *c, lz_node *x, const lz_ints *low, const lz_ints *high,
                       const lz_ints *interior);
/* pointwise.c: of a real x; NULL: no such bound. A bound that is NaN wins; the gradient at the
 * bounds is 0. */
lz_node *lz_tracer_clamp(lz_tracer *c, lz_node *x, const double *lo, const double *hi);
/* statistics.c: sqrt with gradient 0 at 0, for norms. */
lz_node *lz_tracer_root(lz_tracer *c, lz_node *x);
/* elementwise_math.c: the logarithm of base^a + base^b to that base; base: its logarithm. */
lz_node *lz_tracer_log_add(lz_tracer *c, lz_node *a, lz_node *b, double base);
/* view.c: elements [.., i, i + offset] of dimensions d1 and d2, which go; the new one is the
 * last. Dimensions from the front, d1 != d2. */
lz_node *lz_tracer_diagonal(lz_tracer *c, lz_node *x, int64_t offset, int64_t d1, int64_t d2);

/* A second result of the public function: a handle of x, an error tensor for NULL, in *out, which
 * may be NULL. Before lz_tracer_end. */
static inline void lz_tracer_also(lz_tracer *c, lz_node *x, lz_tensor **out)
{
    if (out)
        *out = x && c->thr ? lz_trace_tensor_of(x, c->site) : lz_trace_error_tensor(c->op, c->site);
}

#define IN(t) lz_tracer_in(c, (t))

/* The caller's options, or the defaults when there are none; NULL with LZ_EINVAL recorded when the
 * struct is not filled. */
static inline const void *lz_tracer_options(const void *o, size_t nbytes, const void *defaults)
{
    if (!o)
        return defaults;
    size_t has = *(const size_t *)o;
    if (has >= nbytes)
        return o;
    LZ_FAIL(LZ_EINVAL, "struct_size is %zu: fill the options by their macro", has);
    return NULL;
}
/* const T *name: the options o of the function's caller, with the defaults given. */
#define OPTIONS(T, name, ...)                                                                      \
    static const T name##_defaults = {.struct_size = sizeof(T), __VA_ARGS__};                      \
    const T *name = lz_tracer_options(o, sizeof(T), &name##_defaults)

static inline bool lz_tracer_is_float(const lz_node *x)
{
    if (x && lz_dtype_is_float(lz_node_type(x)->dtype))
        return true;
    if (x)
        LZ_FAIL(LZ_EDTYPE, "the operand is %s: it must be f16, bf16, f32 or f64",
                lz_dtype_name(lz_node_type(x)->dtype));
    return false;
}
#endif
