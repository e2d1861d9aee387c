/* emit_special.c - which implementation a CHLO special function uses: math_special.c for f32 and
 * narrower dtypes, for f64 functions of the library lane by lane.
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_complex.h"
#include "codegen/loops/kern.h"
#include "codegen/emit/emit_special.h"

#define UNARY_AS(function, fn, external)                                                           \
    Ev function(em *e, const lz_ew *w, const Ev *a)                                                \
    {                                                                                              \
        if (w->in[0] == LZ_F64)                                                                    \
            return (Ev){em_libm(e, external, &a[0].v, 1), NULL};                                   \
        return (Ev){em_round_to(e, w->out, fn(e, a[0].v)), NULL};                                  \
    }
/* The same, and complex numbers by lz_complex_<name>. */
#define UNARY_C(name, fn, external)                                                                \
    static UNARY_AS(real_##name, fn, external)                                                     \
        Ev lz_emit_##name(em *e, const lz_ew *w, const Ev *a)                                      \
    {                                                                                              \
        return a[0].im ? lz_complex_##name(e, w, a) : real_##name(e, w, a);                        \
    }
#define UNARY(name, fn, external) UNARY_AS(lz_emit_##name, fn, external)
UNARY_C(acos, lz_acos_f32, "acos")
UNARY_C(acosh, lz_acosh_f32, "acosh")
UNARY_C(asin, lz_asin_f32, "asin")
UNARY_C(asinh, lz_asinh_f32, "asinh")
UNARY_C(atan, lz_atan_f32, "atan")
UNARY_C(atanh, lz_atanh_f32, "atanh")
UNARY(bessel_i1e, lz_bessel_i1e_f32, "lz_bessel_i1e")
UNARY_C(cosh, lz_cosh_f32, "cosh")
UNARY(digamma, lz_digamma_f32, "lz_digamma")
UNARY(erf_inv, lz_erf_inv_f32, "lz_erf_inv")
UNARY(erfc, lz_erfc_f32, "erfc")
UNARY(lgamma, lz_lgamma_f32, "lz_lgamma")
UNARY_C(sinh, lz_sinh_f32, "sinh")

#define BINARY(name, fn, external)                                                                 \
    Ev lz_emit_##name(em *e, const lz_ew *w, const Ev *a)                                          \
    {                                                                                              \
        if (w->in[0] == LZ_F64)                                                                    \
            return (Ev){em_libm(e, external, (Val[]){a[0].v, a[1].v}, 2), NULL};                   \
        return (Ev){em_round_to(e, w->out, fn(e, a[0].v, a[1].v)), NULL};                          \
    }
BINARY(polygamma, lz_polygamma_f32, "lz_polygamma")
BINARY(zeta, lz_zeta_f32, "lz_zeta")

/* One step on the bits of the dtype; from zero to the smallest number of b's sign. */
Ev lz_emit_next_after(em *e, const lz_ew *w, const Ev *a)
{
    Val x = a[0].v, y = a[1].v, m = em_to_mem(e, w->out, x);
    unsigned size = em_esize(w->out);
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
