/* eval_convert.c - reference evaluation of the elementwise changes of format: convert,
 * reduce_precision.
 * Threads: pure. */
#include "ir/eval/eval_complex.h"
#include "ir/small_float.h"
#include <math.h>
#include <string.h>

/* Truncates towards 0, saturates to the range of the integer dtype, NaN gives 0. */
static uint64_t int_from_f64(lz_dtype d, double v)
{
    unsigned bits = (unsigned)lz_dtype_bits(d);
    bool sgn = lz_dtype_is_signed(d);
    double hi = ldexp(1, (int)(sgn ? bits - 1 : bits)); /* first value beyond the range */
    uint64_t max = sgn ? (UINT64_C(1) << (bits - 1)) - 1 : ~UINT64_C(0) >> (64 - bits);
    if (isnan(v))
        return 0;
    v = trunc(v);
    if (v >= hi)
        return max;
    if (v < 0) {
        if (!sgn)
            return 0;
        return v < -hi ? ~max : (uint64_t)(int64_t)v;
    }
    return (uint64_t)v;
}

/* The value of an element as far as a conversion needs it: `f` of floats (and real parts), else
 * the integer `u`. */
typedef struct number {
    bool is_float, nonzero;
    double f;
    uint64_t u;
} number;

static number number_of(lz_dtype d, const void *p, int64_t i)
{
    if (lz_dtype_is_complex(d)) {
        lz_cx c = lz_ref_load_c(d, p, i);
        return (number){.is_float = true, .f = (double)c.re, .nonzero = c.re != 0};
    }
    if (lz_dtype_is_float(d) || lz_dtype_is_storage(d)) {
        double f = lz_ref_load_f(d, p, i);
        return (number){.is_float = true, .f = f, .nonzero = f != 0};
    }
    uint64_t u = lz_ref_load_u(d, p, i);
    return (number){.u = u, .nonzero = u != 0};
}

/* The number as a double that rounds correctly to `out`. */
static double float_of(number x, lz_dtype in, lz_dtype out)
{
    if (x.is_float)
        return x.f;
    if (out == LZ_F64)
        return lz_dtype_is_signed(in) ? (double)(int64_t)x.u : (double)x.u;
    return lz_dtype_is_signed(in) ? lz_ref_round_odd_i64((int64_t)x.u) : lz_ref_round_odd_u64(x.u);
}

lz_status lz_ref_convert(const lz_ref_ew *e)
{
    lz_dtype in = e->in[0], out = e->out;
    for (int64_t i = 0; i < e->n; i++) {
        int64_t at = i * e->step[0];
        if (lz_dtype_is_complex(in) && lz_dtype_is_complex(out)) {
            lz_ref_store_c(out, e->dst, i, lz_ref_load_c(in, e->src[0], at));
            continue;
        }
        number x = number_of(in, e->src[0], at);
        if (out == LZ_BOOL)
            ((uint8_t *)e->dst)[i] = x.nonzero;
        else if (lz_dtype_is_complex(out))
            lz_ref_store_c(out, e->dst, i, (lz_cx){float_of(x, in, lz_dtype_part(out)), 0});
        else if (lz_dtype_is_float(out) || lz_dtype_is_storage(out))
            lz_ref_store_f(out, e->dst, i, float_of(x, in, out));
        else
            lz_ref_store_u(out, e->dst, i, x.is_float ? int_from_f64(out, x.f) : x.u);
    }
    return LZ_OK;
}

/* ---- reduce_precision ---- */

/* Rounds the bits x of a float in format f to fewer bits, as XLA does: to nearest even; what
 * overflows becomes infinite, and when the exponent shrinks what is below the smallest normal
 * value becomes 0. NaN stays NaN, except that no mantissa bits can hold one: then it is inf. */
static uint64_t reduce_bits(uint64_t x, const lz_float_format *f, int64_t exponent_bits,
                            int64_t mantissa_bits)
{
    int total = 1 + f->exponent + f->mantissa;
    uint64_t sign = x & UINT64_C(1) << (total - 1);
    uint64_t inf = ((UINT64_C(1) << f->exponent) - 1) << f->mantissa;
    uint64_t mag = x ^ sign;
    if (mag > inf)
        return mantissa_bits > 0 ? x : sign | inf;
    if (mag == inf)
        return x;
    if (mantissa_bits < f->mantissa) {
        int drop = f->mantissa - (int)mantissa_bits;
        uint64_t last = UINT64_C(1) << drop;
        mag += (last >> 1) - 1 + ((mag >> drop) & 1);
        mag &= ~(last - 1);
    }
    if (exponent_bits < f->exponent) {
        uint64_t bias = (uint64_t)f->bias, reduced = (UINT64_C(1) << (exponent_bits - 1)) - 1;
        uint64_t exponent = mag >> f->mantissa;
        if (exponent > bias + reduced)
            mag = inf;
        else if (exponent <= bias - reduced)
            mag = 0;
    }
    return sign | mag;
}

lz_status lz_ref_reduce_precision(const lz_ref_ew *e)
{
    const lz_attr_precision *a = LZ_ATTR(precision, e->attr);
    if (!lz_dtype_is_float(e->in[0]))
        return LZ_FAIL(LZ_EUNSUPPORTED, "reduce_precision is not defined on %s",
                       lz_dtype_name(e->in[0]));
    if (a->exponent_bits < 1 || a->mantissa_bits < 0)
        return LZ_FAIL(LZ_EINVAL, "reduce_precision: exponent_bits %lld, mantissa_bits %lld",
                       (long long)a->exponent_bits, (long long)a->mantissa_bits);
    size_t esize = lz_dtype_size(e->in[0]);
    for (int64_t i = 0; i < e->n; i++) {
        uint64_t x = 0;
        memcpy(&x, (const char *)e->src[0] + (size_t)(i * e->step[0]) * esize, esize);
        x = reduce_bits(x, lz_float_format_of(e->in[0]), a->exponent_bits, a->mantissa_bits);
        memcpy((char *)e->dst + (size_t)i * esize, &x, esize);
    }
    return LZ_OK;
}
