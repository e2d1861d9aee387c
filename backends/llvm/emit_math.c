/* emit_math.c - which expansion a transcendental function uses: 16-bit floats and f32 the f32
 * polynomials (rounded afterwards), f64 the C library lane by lane, complex powers the f64
 * functions.
 * Threads: an em belongs to one thread. */
#include "backends/llvm/ew.h"

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
UNARY(exponential, lz_exp_f32, "exp")
UNARY(expm1, lz_expm1_f32, "expm1")
UNARY(log, lz_log_f32, "log")
UNARY(log1p, lz_log1p_f32, "log1p")
UNARY(tanh, lz_tanh_f32, "tanh")
UNARY(erf, lz_erf_f32, "erf")
UNARY(cbrt, lz_cbrt_f32, "cbrt")
UNARY(sine, lz_sin_f32, "sin")
UNARY(cosine, lz_cos_f32, "cos")
UNARY(tan, lz_tan_f32, "tan")

Ev lz_emit_logistic(em *e, const lz_ew *w, const Ev *a)
{
    Val x = a[0].v;
    if (w->in[0] != LZ_F64)
        return (Ev){em_round_to(e, w->out, lz_logistic_f32(e, x)), NULL};
    Ty t = LLVMTypeOf(x);
    Val minus = FNEG(em_intr1(e, "llvm.fabs", x)), z = em_libm(e, "exp", &minus, 1);
    Val top = SEL(FCMP(OLT, x, em_cf(t, 0)), z, em_cf(t, 1));
    return (Ev){FDIV(top, FADD(em_cf(t, 1), z)), NULL};
}

Ev lz_emit_rsqrt(em *e, const lz_ew *w, const Ev *a)
{
    Val one = em_cf(LLVMTypeOf(a[0].v), 1);
    return (Ev){em_round_to(e, w->out, FDIV(one, em_intr1(e, "llvm.sqrt", a[0].v))), NULL};
}

Ev lz_emit_atan2(em *e, const lz_ew *w, const Ev *a)
{
    if (w->in[0] == LZ_F64)
        return (Ev){em_libm(e, "atan2", (Val[]){a[0].v, a[1].v}, 2), NULL};
    return (Ev){em_round_to(e, w->out, lz_atan2_f32(e, a[0].v, a[1].v)), NULL};
}

/* a^b = exp(b log a) in double, with a = 0 apart. */
static Ev complex_power(em *e, const Ev *a)
{
    Ty t = LLVMTypeOf(a[0].v), d = em_like(e, e->f64, a[0].v);
    Val x[4] = {a[0].v, a[0].im, a[1].v, a[1].im};
    for (int k = 0; k < 4; k++)
        x[k] = LLVMBuildFPExt(e->b, x[k], d, "");
    Val abs = em_libm(e, "hypot", x, 2), logr = em_libm(e, "log", &abs, 1);
    Val arg = em_libm(e, "atan2", (Val[]){x[1], x[0]}, 2);
    Val re = FSUB(FMUL(x[2], logr), FMUL(x[3], arg)), im = FADD(FMUL(x[2], arg), FMUL(x[3], logr));
    Val m = em_libm(e, "exp", &re, 1), c = em_libm(e, "cos", &im, 1), s = em_libm(e, "sin", &im, 1);
    Ev r = {LLVMBuildFPTrunc(e->b, FMUL(m, c), t, ""), LLVMBuildFPTrunc(e->b, FMUL(m, s), t, "")};
    Val zero = em_cf(d, 0), nan = em_cf(t, __builtin_nan(""));
    Val base0 = AND(FCMP(OEQ, x[0], zero), FCMP(OEQ, x[1], zero));
    Val exp0 = AND(FCMP(OEQ, x[2], zero), FCMP(OEQ, x[3], zero)), pos = FCMP(OGT, x[2], zero);
    Ev z = {SEL(exp0, em_cf(t, 1), SEL(pos, em_cf(t, 0), nan)),
            SEL(OR(exp0, pos), em_cf(t, 0), nan)};
    return lz_ev_select(e, base0, z, r);
}

Ev lz_emit_power(em *e, const lz_ew *w, const Ev *a)
{
    if (w->in[0] == LZ_C64)
        return complex_power(e, a);
    if (w->in[0] == LZ_F64)
        return (Ev){em_libm(e, "pow", (Val[]){a[0].v, a[1].v}, 2), NULL};
    if (!lz_dtype_is_float(w->in[0]))
        return (Ev){lz_ipow(e, a[0].v, a[1].v, lz_dtype_is_signed(w->in[0])), NULL};
    return (Ev){em_round_to(e, w->out, lz_pow_f32(e, a[0].v, a[1].v)), NULL};
}
