/* eval_special.c - reference evaluation of CHLO's functions: in long double for every dtype,
 * rounded once. Threads: pure. */
#include "ir/eval/eval_complex.h"
#include "ir/eval/special.h"
#include <math.h>
#include <string.h>

static lz_status no_meaning(const lz_ref_ew *e)
{
    return LZ_FAIL(LZ_EUNSUPPORTED, "%s is not defined on %s", lz_op_get(e->op)->text,
                   lz_dtype_name(e->in[0]));
}

/* Rounded to double on the way to a narrower format, to odd, so that the second rounding is the
 * only one that counts. */
static void store(const lz_ref_ew *e, int64_t i, long double v)
{
    double d = (double)v;
    if (e->out != LZ_F64 && isfinite(d) && (long double)d != v) {
        double toward = (long double)d > v ? -INFINITY : INFINITY;
        uint64_t bits;
        memcpy(&bits, &d, sizeof bits);
        if (!(bits & 1))
            d = nextafter(d, toward);
    }
    lz_ref_store_f(e->out, e->dst, i, d);
}

#define FLOAT(function, formula)                                                                   \
    lz_status function(const lz_ref_ew *e)                                                         \
    {                                                                                              \
        if (!lz_dtype_is_float(e->in[0]))                                                          \
            return no_meaning(e);                                                                  \
        for (int64_t i = 0; i < e->n; i++) {                                                       \
            long double x = lz_ref_load_f(e->in[0], e->src[0], i * e->step[0]);                    \
            store(e, i, formula);                                                                  \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }
/* The same, and of complex numbers lz_cx_<name>. */
#define FLC1(name, formula)                                                                        \
    static lz_status float_##name(const lz_ref_ew *e);                                             \
    lz_status lz_ref_##name(const lz_ref_ew *e)                                                    \
    {                                                                                              \
        return lz_dtype_is_complex(e->in[0]) ? lz_ref_complex1(e, lz_cx_##name) : float_##name(e); \
    }                                                                                              \
    static FLOAT(float_##name, formula)
#define FLOAT1(name, formula) FLOAT(lz_ref_##name, formula)
#define FLOAT2(name, formula)                                                                      \
    lz_status lz_ref_##name(const lz_ref_ew *e)                                                    \
    {                                                                                              \
        if (!lz_dtype_is_float(e->in[0]))                                                          \
            return no_meaning(e);                                                                  \
        for (int64_t i = 0; i < e->n; i++) {                                                       \
            long double a = lz_ref_load_f(e->in[0], e->src[0], i * e->step[0]),                    \
                        b = lz_ref_load_f(e->in[1], e->src[1], i * e->step[1]);                    \
            store(e, i, formula);                                                                  \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }

FLC1(acos, acosl(x))
FLC1(acosh, acoshl(x))
FLC1(asin, asinl(x))
FLC1(asinh, asinhl(x))
FLC1(atan, atanl(x))
FLC1(atanh, atanhl(x))
FLOAT1(bessel_i1e, lz_sf_bessel_i1e(x))
FLC1(cosh, coshl(x))
FLOAT1(digamma, lz_sf_digamma(x))
FLOAT1(erf_inv, lz_sf_erf_inv(x))
FLOAT1(erfc, erfcl(x))
FLOAT1(lgamma, lz_sf_lgamma(x))
FLC1(sinh, sinhl(x))
FLOAT2(polygamma, lz_sf_polygamma(a, b))
FLOAT2(zeta, lz_sf_zeta(a, b))

/* ---- the next number, on the bits of the dtype ---- */

lz_status lz_ref_next_after(const lz_ref_ew *e)
{
    if (!lz_dtype_is_float(e->in[0]))
        return no_meaning(e);
    size_t esize = lz_dtype_size(e->out);
    uint64_t sign = UINT64_C(1) << (esize * 8 - 1);
    for (int64_t i = 0; i < e->n; i++) {
        double a = lz_ref_load_f(e->in[0], e->src[0], i * e->step[0]),
               b = lz_ref_load_f(e->in[1], e->src[1], i * e->step[1]);
        uint64_t bits = 0;
        memcpy(&bits, (const char *)e->src[0] + (size_t)(i * e->step[0]) * esize, esize);
        if (isnan(a) || isnan(b)) {
            lz_ref_store_f(e->out, e->dst, i, NAN);
            continue;
        }
        if (a == b)
            memcpy(&bits, (const char *)e->src[1] + (size_t)(i * e->step[1]) * esize, esize);
        else if (a == 0)
            bits = (b < 0 ? sign : 0) | 1;
        else
            bits += (a < b) == !(bits & sign) ? 1 : UINT64_MAX;
        memcpy((char *)e->dst + (size_t)i * esize, &bits, esize);
    }
    return LZ_OK;
}
