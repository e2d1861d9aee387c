/* creation.c - creation of tensors: fill, arange, random. include/lazuli/tensor.h.
 * Random numbers: every operation gets its own start of the Philox stream as a run-time argument
 *   {seed, counter}; its shape says how far an operation advances the counter, so the host keeps it
 *   and no graph depends on another one's. */
#include "ops/random_builder.h"
#include "ir/attr.h"
#include "runtime/graph/function_trace.h"
#include "runtime/graph/trace_builder.h"
#include <inttypes.h>
#include <math.h>

#define BEGIN(name)                                                                                \
    lz_tracer c;                                                                                   \
    lz_tracer_begin(&c, name, site)

/* Checks the shape before anything is recorded. */
static bool shape_ok(lz_dtype d, const lz_shape *s)
{
    return lz_type_get(d, s) != NULL;
}

static lz_node *filled(lz_tracer *c, lz_dtype d, const lz_shape *s, double v,
                       lz_node *(*number)(lz_tracer *, lz_dtype, double, const lz_node *))
{
    return shape_ok(d, s) ? lz_tracer_fill(c, number(c, d, v, NULL), s) : NULL;
}

lz_tensor *lz_full_at(lz_dtype dtype, lz_shape shape, double value, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_full");
    return lz_tracer_end(&c, filled(&c, dtype, &shape, value, lz_tracer_argument));
}

lz_tensor *lz_zeros_at(lz_dtype dtype, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_zeros");
    return lz_tracer_end(&c, filled(&c, dtype, &shape, 0, lz_tracer_const));
}

lz_tensor *lz_ones_at(lz_dtype dtype, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_ones");
    return lz_tracer_end(&c, filled(&c, dtype, &shape, 1, lz_tracer_const));
}

lz_tensor *lz_scalar_at(lz_dtype dtype, double value, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    static const lz_shape scalar;
    BEGIN("lz_scalar");
    return lz_tracer_end(&c, filled(&c, dtype, &scalar, value, lz_tracer_scalar));
}

lz_tensor *lz_iota_at(lz_dtype dtype, lz_shape shape, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_iota");
    bool ok = shape_ok(dtype, &shape);
    if (ok && shape.rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "a scalar has no dimension to count along");
        ok = false;
    }
    ok = ok && lz_tracer_dim(dim, shape.rank, &dim);
    return lz_tracer_end(&c, ok ? lz_tracer_iota(&c, dtype, &shape, dim, NULL) : NULL);
}

/* start + step * i, computed in f64 for floats and i64 for integers, so that long ranges are
 * exact. */
static lz_node *arange(lz_tracer *c, lz_dtype d, double start, double end, double step)
{
    if (d == LZ_BOOL || lz_dtype_is_complex(d) || !lz_dtype_size(d)) {
        LZ_FAIL(LZ_EDTYPE, "%s: integers and floats have ranges", lz_dtype_name(d));
        return NULL;
    }
    if (!isfinite(start) || !isfinite(end) || !isfinite(step) || step == 0 ||
        (end - start) / step < 0) {
        LZ_FAIL(LZ_EINVAL, "start %g, end %g, step %g: the step must lead from start to end", start,
                end, step);
        return NULL;
    }
    bool integer = lz_dtype_is_int(d);
    if (integer && (start != trunc(start) || step != trunc(step))) {
        LZ_FAIL(LZ_EINVAL, "start %g, step %g: %s needs whole numbers", start, step,
                lz_dtype_name(d));
        return NULL;
    }
    double n = ceil((end - start) / step);
    if (n > 9e15) {
        LZ_FAIL(LZ_ERANGE, "%g elements", n);
        return NULL;
    }
    if (n > 0 &&
        (!lz_tracer_number_fits(d, start) || !lz_tracer_number_fits(d, start + step * (n - 1))))
        return NULL;
    lz_shape s = {.rank = 1, .dims = {(int64_t)n}};
    lz_dtype wide = integer ? LZ_I64 : LZ_F64;
    lz_node *i = shape_ok(d, &s) ? lz_tracer_iota(c, wide, &s, 0, NULL) : NULL;
    lz_node *v = lz_tracer_ew2(
        c, LZ_OP_MULTIPLY, i, i ? lz_tracer_fill(c, lz_tracer_scalar(c, wide, step, i), &s) : NULL);
    v = lz_tracer_ew2(c, LZ_OP_ADD, v,
                      v ? lz_tracer_fill(c, lz_tracer_scalar(c, wide, start, v), &s) : NULL);
    return lz_tracer_convert(c, v, d);
}

lz_tensor *lz_arange_at(lz_dtype dtype, double start, double end, double step, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_arange");
    return lz_tracer_end(&c, arange(&c, dtype, start, end, step));
}

/* ---- random ---- */

/* n words of 32 bits from the device's stream: reserves Philox blocks of four. */
lz_node *lz_tracer_random_bits(lz_tracer *c, lz_dtype d, const lz_shape *s, const lz_node *like)
{
    lz_dev *dev = lz_tracer_dev(c, like);
    const lz_type *t = dev ? lz_type_get(d, s) : NULL;
    lz_attr_any a;
    if (!t)
        return NULL;
    uint64_t words = (uint64_t)t->nelem * (lz_dtype_size(d) == 8 ? 2 : 1), blocks = (words + 3) / 4;
    lz_node *start = lz_tracer_rng_state(c, dev, blocks);
    lz_attr_init(&a, LZ_ATTR_rng);
    a.as_rng.rng_algorithm = LZ_RNG_PHILOX;
    a.as_rng.dtype = d;
    a.as_rng.shape = *s;
    return lz_tracer_result(c, lz_tracer_op(c, LZ_OP_RNG_BIT_GENERATOR, &a.head, &start, 1), 1);
}

/* Uniform in [0, 1) from as many bits as the format's significand holds, so that every value is
 * exact and 1 is never reached. */
static lz_node *uniform_from_bits(lz_tracer *c, lz_node *bits, lz_dtype d)
{
    if (!bits)
        return NULL;
    int keep = d == LZ_F64 ? 53 : d == LZ_F32 ? 24 : d == LZ_F16 ? 11 : 8;
    lz_dtype u = lz_node_type(bits)->dtype;
    int width = (int)lz_dtype_size(u) * 8;
    lz_node *v = lz_tracer_ew2(c, LZ_OP_SHIFT_RIGHT_LOGICAL, bits,
                               lz_tracer_const_like(c, bits, width - keep));
    v = lz_tracer_convert(c, v, d);
    return lz_tracer_ew2(c, LZ_OP_MULTIPLY, v, lz_tracer_const_like(c, v, ldexp(1, -keep)));
}

static bool float_wanted(lz_dtype d)
{
    if (lz_dtype_is_float(d))
        return true;
    LZ_FAIL(LZ_EDTYPE, "%s: random numbers are floats", lz_dtype_name(d));
    return false;
}

lz_node *lz_tracer_uniform(lz_tracer *c, lz_dtype d, const lz_shape *s, const lz_node *like)
{
    return uniform_from_bits(c, lz_tracer_random_bits(c, d == LZ_F64 ? LZ_U64 : LZ_U32, s, like),
                             d);
}

lz_tensor *lz_rand_at(lz_dtype dtype, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_rand");
    return lz_tracer_end(&c,
                         float_wanted(dtype) ? lz_tracer_uniform(&c, dtype, &shape, NULL) : NULL);
}

/* Box-Muller: sqrt(-2 ln u1) cos(2 pi u2) with u1 in (0, 1]. f64 takes 53 bits for each, the others
 *   24 of one 64-bit word's halves. */
lz_node *lz_tracer_normal(lz_tracer *c, lz_dtype d, const lz_shape *s, const lz_node *like)
{
    lz_dtype f = d == LZ_F64 ? LZ_F64 : LZ_F32;
    lz_node *b1 = lz_tracer_random_bits(c, LZ_U64, s, like), *b2 = b1;
    if (f == LZ_F64)
        b2 = lz_tracer_random_bits(c, LZ_U64, s, like);
    else if (b1)
        b2 = lz_tracer_ew2(c, LZ_OP_SHIFT_LEFT, b1, lz_tracer_const_like(c, b1, 32));
    lz_node *u1 = uniform_from_bits(c, b1, f), *u2 = uniform_from_bits(c, b2, f);
    u1 = lz_tracer_ew2(c, LZ_OP_SUBTRACT, lz_tracer_const_like(c, u1, 1), u1);
    lz_node *r = lz_tracer_ew1(c, LZ_OP_LOG, u1);
    r = lz_tracer_ew1(c, LZ_OP_SQRT,
                      lz_tracer_ew2(c, LZ_OP_MULTIPLY, r, lz_tracer_const_like(c, r, -2)));
    lz_node *angle =
        lz_tracer_ew2(c, LZ_OP_MULTIPLY, u2, lz_tracer_const_like(c, u2, 6.283185307179586476925));
    return lz_tracer_convert(
        c, lz_tracer_ew2(c, LZ_OP_MULTIPLY, r, lz_tracer_ew1(c, LZ_OP_COSINE, angle)), d);
}

lz_tensor *lz_randn_at(lz_dtype dtype, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_randn");
    return lz_tracer_end(&c,
                         float_wanted(dtype) ? lz_tracer_normal(&c, dtype, &shape, NULL) : NULL);
}

static lz_status set_rng(const char *op, uint64_t seed, uint64_t counter)
{
    lz_dev *d = lz_dev_current();
    if (!d) {
        lz_error_annotate(op, NULL);
        return lz_error_get()->status;
    }
    lz_status s = lz_recording_seed(d, (lz_rng){seed, counter});
    if (s != LZ_OK)
        lz_error_annotate(op, NULL);
    return s;
}

lz_status lz_manual_seed(uint64_t seed)
{
    LZ_PUBLIC(LZ_EFORK);
    return set_rng("lz_manual_seed", seed, 0);
}

lz_status lz_get_rng_state(lz_rng_state *out)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_dev *d = out ? lz_dev_current() : NULL;
    if (!out)
        LZ_FAIL(LZ_ENULL, "out is NULL");
    if (!d) {
        lz_error_annotate("lz_get_rng_state", NULL);
        return lz_error_get()->status;
    }
    lz_rng r = lz_dev_rng_get(d);
    *out = (lz_rng_state){r.seed, r.counter};
    return LZ_OK;
}

lz_status lz_set_rng_state(const lz_rng_state *state)
{
    LZ_PUBLIC(LZ_EFORK);
    if (state)
        return set_rng("lz_set_rng_state", state->seed, state->counter);
    LZ_FAIL(LZ_ENULL, "the state is NULL");
    lz_error_annotate("lz_set_rng_state", NULL);
    return LZ_ENULL;
}
