/* emit_math.c - which implementation a transcendental op uses: f32 polynomials for f32 and, rounded
 * afterwards, for 16-bit floats; libm lane by lane for f64; emit_complex.c for complex dtypes.
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_complex.h"

typedef Val f32_fn(em *e, Val x);

static Ev unary(em *e, const lz_ew *w, const Ev *a, f32_fn *fn, const char *libm)
{
    if (w->in[0] == LZ_F64)
        return (Ev){em_libm(e, libm, &a[0].v, 1), NULL};
    return (Ev){em_round_to(e, w->out, fn(e, a[0].v)), NULL};
}

#define UNARY(name, fn, libm)                                                                      \
    Ev lz_emit_##name(em *e, const lz_ew *w, const Ev *a)                                          \
    {                                                                                              \
        return unary(e, w, a, fn, libm);                                                           \
    }
/* The same, and complex numbers by lz_complex_<name>. */
#define UNARY_C(name, fn, libm)                                                                    \
    Ev lz_emit_##name(em *e, const lz_ew *w, const Ev *a)                                          \
    {                                                                                              \
        return a[0].im ? lz_complex_##name(e, w, a) : unary(e, w, a, fn, libm);                    \
    }
UNARY_C(exponential, lz_exp_f32, "exp")
UNARY_C(expm1, lz_expm1_f32, "expm1")
UNARY_C(log, lz_log_f32, "log")
UNARY_C(log1p, lz_log1p_f32, "log1p")
UNARY_C(tanh, lz_tanh_f32, "tanh")
UNARY(erf, lz_erf_f32, "erf")
UNARY_C(cbrt, lz_cbrt_f32, "cbrt")
UNARY_C(sine, lz_sin_f32, "sin")
UNARY_C(cosine, lz_cos_f32, "cos")
UNARY_C(tan, lz_tan_f32, "tan")

Ev lz_emit_logistic(em *e, const lz_ew *w, const Ev *a)
{
    Val x = a[0].v;
    if (a[0].im)
        return lz_complex_logistic(e, w, a);
    if (w->in[0] != LZ_F64)
        return (Ev){em_round_to(e, w->out, lz_logistic_f32(e, x)), NULL};
    Ty t = LLVMTypeOf(x);
    Val minus = FNEG(em_intr1(e, "llvm.fabs", x)), z = em_libm(e, "exp", &minus, 1);
    Val top = SEL(FCMP(OLT, x, em_cf(t, 0)), z, em_cf(t, 1));
    return (Ev){em_fdiv(e, top, FADD(em_cf(t, 1), z)), NULL};
}

Ev lz_emit_rsqrt(em *e, const lz_ew *w, const Ev *a)
{
    Val one = em_cf(LLVMTypeOf(a[0].v), 1);
    if (a[0].im)
        return lz_complex_rsqrt(e, w, a);
    return (Ev){em_round_to(e, w->out, FDIV(one, em_intr1(e, "llvm.sqrt", a[0].v))), NULL};
}

Ev lz_emit_atan2(em *e, const lz_ew *w, const Ev *a)
{
    if (a[0].im)
        return lz_complex_atan2(e, w, a);
    if (w->in[0] == LZ_F64)
        return (Ev){em_libm(e, "atan2", (Val[]){a[0].v, a[1].v}, 2), NULL};
    return (Ev){em_round_to(e, w->out, lz_atan2_f32(e, a[0].v, a[1].v)), NULL};
}

Ev lz_emit_power(em *e, const lz_ew *w, const Ev *a)
{
    if (a[0].im)
        return lz_complex_power(e, w, a);
    if (w->in[0] == LZ_F64)
        return (Ev){em_libm(e, "pow", (Val[]){a[0].v, a[1].v}, 2), NULL};
    if (!lz_dtype_is_float(w->in[0]))
        return (Ev){lz_ipow(e, a[0].v, a[1].v, lz_dtype_is_signed(w->in[0])), NULL};
    return (Ev){em_round_to(e, w->out, lz_pow_f32(e, a[0].v, a[1].v)), NULL};
}
