/* emit_special.c - CHLO's functions: f32 and narrower by math_special.c, f64 by external functions, which those that are rare use for every
 * dtype.   Threads: an em belongs to one thread. */
#include "backends/llvm/kern.h"
#include "backends/llvm/special.h"

#define UNARY(name, fn, external)                                                                  \
    Ev lz_emit_##name(em *e, const lz_ew *w, const Ev *a)                                          \
    {                                                                                              \
        if (w->in[0] == LZ_F64)                                                                    \
            return (Ev){em_libm(e, external, &a[0].v, 1), NULL};                                   \
        return (Ev){em_round_to(e, w->out, fn(e, a[0].v)), NULL};                                  \
    }
UNARY(acos, lz_acos_f32, "acos")
UNARY(acosh, lz_acosh_f32, "acosh")
UNARY(asin, lz_asin_f32, "asin")
UNARY(asinh, lz_asinh_f32, "asinh")
UNARY(atan, lz_atan_f32, "atan")
UNARY(atanh, lz_atanh_f32, "atanh")
UNARY(cosh, lz_cosh_f32, "cosh")
UNARY(digamma, lz_digamma_f32, "lz_digamma")
UNARY(erf_inv, lz_erf_inv_f32, "lz_erf_inv")
UNARY(erfc, lz_erfc_f32, "erfc")
UNARY(lgamma, lz_lgamma_f32, "lz_lgamma")
UNARY(sinh, lz_sinh_f32, "sinh")

/* Lane by lane in double, whatever the dtype. */
static Ev external(em *e, const lz_ew *w, const Ev *a, const char *name, unsigned n)
{
    Val x[2] = {NULL, NULL};
    bool f64 = w->in[0] == LZ_F64;
    for (unsigned k = 0; k < n; k++)
        x[k] = f64 ? a[k].v : LLVMBuildFPExt(e->b, a[k].v, em_like(e, e->f64, a[k].v), "");
    Val y = em_libm(e, name, x, n);
    if (f64)
        return (Ev){y, NULL};
    return (Ev){em_round_to(e, w->out, LLVMBuildFPTrunc(e->b, y, em_like(e, e->f32, y), "")), NULL};
}

Ev lz_emit_bessel_i1e(em *e, const lz_ew *w, const Ev *a)
{
    return external(e, w, a, "lz_bessel_i1e", 1);
}

Ev lz_emit_polygamma(em *e, const lz_ew *w, const Ev *a)
{
    return external(e, w, a, "lz_polygamma", 2);
}

Ev lz_emit_zeta(em *e, const lz_ew *w, const Ev *a)
{
    return external(e, w, a, "lz_zeta", 2);
}

/* One step on the bits of the dtype; from zero to the smallest number of b's sign. */
Ev lz_emit_next_after(em *e, const lz_ew *w, const Ev *a)
{
    Val x = a[0].v, y = a[1].v, m = em_to_mem(e, w->out, x);
    unsigned size = kern_esize(w->out);
    Ty it = em_like(e, size == 2 ? e->i16 : size == 4 ? e->i32 : e->i64, m);
    Ty mt = LLVMTypeOf(m);
    Val bits = size == 2 ? m : BITS(m, it), zero = em_ci(it, 0), one = em_ci(it, 1);
    Val sign = em_ci(it, (int64_t)(UINT64_C(1) << (size * 8 - 1)));
    Val up = FCMP(OLT, x, y), positive = ICMP(SGE, bits, zero);
    Val away = ICMP(EQ, up, positive); /* from zero */
    Val next = SEL(away, ADD(bits, one), SUB(bits, one));
    Val first = OR(SEL(up, zero, sign), one);
    next = SEL(FCMP(OEQ, x, em_cf(LLVMTypeOf(x), 0)), first, next);
    Val v = em_from_mem(e, w->out, size == 2 ? next : BITS(next, mt));
    v = SEL(FCMP(OEQ, x, y), y, v);
    Val nan = em_cf(LLVMTypeOf(x), 0);
    return (Ev){SEL(FCMP(UNO, x, y), FDIV(nan, nan), v), NULL};
}
