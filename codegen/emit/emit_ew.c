/* emit_ew.c - elementwise ops as LLVM IR: the dispatch by op, arithmetic, compare, select, clamp.
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_complex.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static lz_emit_fn *const rules[LZ_OP_COUNT] = {
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, vjp, eval, emit, ...)                    \
    [LZ_OP_##E] = lz_emit_##emit,
#define LZ_OP(...)
#include "ir/ops.def"
    [LZ_OP_BITCAST_CONVERT] = lz_emit_bits,
};

/* ---- values ---- */

Ev lz_ev_splat(em *e, Ev a, unsigned n)
{
    return (Ev){em_splat(e, a.v, n), a.im ? em_splat(e, a.im, n) : NULL};
}

Ev lz_ev_select(em *e, Val mask, Ev a, Ev b)
{
    return (Ev){SEL(mask, a.v, b.v), a.im ? SEL(mask, a.im, b.im) : NULL};
}

Ev lz_ev_const(em *e, lz_dtype d, uint64_t bits)
{
    switch (d) {
    case LZ_F32:
        return (Ev){em_cfbits(e, e->f32, (uint32_t)bits), NULL};
    case LZ_F64:
        return (Ev){em_cfbits(e, e->f64, bits), NULL};
    case LZ_BF16:
        return (Ev){em_cfbits(e, e->f32, (uint32_t)bits << 16), NULL};
    case LZ_F16: {
        uint32_t h = (uint32_t)bits & 0x7fff, sign = ((uint32_t)bits & 0x8000) << 16;
        if (h >= 0x7c00)
            return (Ev){em_cfbits(e, e->f32, sign | 0x7f800000 | (h & 0x3ff) << 13), NULL};
        double v = (h & 0x3ff) | (h >= 0x400 ? 0x400 : 0);
        int up = (h >= 0x400 ? (int)(h >> 10) - 1 : 0);
        v = v * 0x1p-24 * (double)(1u << up);
        return (Ev){em_cf(e->f32, sign ? -v : v), NULL};
    }
    case LZ_C64:
        return (Ev){em_cfbits(e, e->f32, (uint32_t)bits), em_cfbits(e, e->f32, bits >> 32)};
    case LZ_C128:
        return (Ev){em_cfbits(e, e->f64, bits), em_cfbits(e, e->f64, bits)};
    case LZ_BOOL:
        return (Ev){em_ci(e->i1, (bits & 0xff) != 0), NULL};
    default:
        return (Ev){LLVMConstInt(em_type(e, d, 1), bits, 0), NULL};
    }
}

static Ev unsupported(em *e, const lz_ew *w)
{
    char what[128];
    snprintf(what, sizeof what, "%s of %s is not supported on this device", lz_op_get(w->op)->text,
             lz_dtype_name(w->in[0]));
    Val z = em_fail(e, em_type(e, w->out, w->n), what);
    return (Ev){z, lz_dtype_is_complex(w->out) ? z : NULL};
}

Ev lz_emit_ew(em *e, lz_op op, const lz_attr *attr, lz_dtype out, const lz_dtype *in, const Ev *a)
{
    int arity = lz_op_get(op)->arity;
    lz_ew w = {.op = op, .attr = attr, .out = out, .n = 1};
    Ev x[3];
    for (int k = 0; k < arity && k < 3; k++) {
        w.in[k] = in[k];
        unsigned n = em_lanes(a[k].v);
        w.n = n > w.n ? n : w.n;
    }
    if ((unsigned)op >= LZ_OP_COUNT || !rules[op])
        return unsupported(e, &w);
    for (int k = 0; k < arity && k < 3; k++)
        x[k] = lz_ev_splat(e, a[k], w.n);
    return rules[op](e, &w, x);
}

/* ---- helpers ---- */

static bool is_f(const lz_ew *w)
{
    return lz_dtype_is_float(w->in[0]);
}

static bool is_c(const lz_ew *w)
{
    return lz_dtype_is_complex(w->in[0]);
}

static Ev real(Val v)
{
    return (Ev){v, NULL};
}

static Ev rounded(em *e, const lz_ew *w, Val v)
{
    return real(em_round_to(e, w->out, v));
}

/* ---- parts of complex numbers ---- */

Ev lz_emit_real(em *e, const lz_ew *w, const Ev *a)
{
    (void)e;
    (void)w;
    return real(a[0].v);
}

Ev lz_emit_imag(em *e, const lz_ew *w, const Ev *a)
{
    (void)e;
    (void)w;
    return real(a[0].im ? a[0].im : LLVMConstNull(LLVMTypeOf(a[0].v)));
}

Ev lz_emit_complex(em *e, const lz_ew *w, const Ev *a)
{
    (void)e;
    (void)w;
    return (Ev){a[0].v, a[1].v};
}

/* ---- arithmetic ---- */

Ev lz_emit_add(em *e, const lz_ew *w, const Ev *a)
{
    if (is_c(w))
        return (Ev){FADD(a[0].v, a[1].v), FADD(a[0].im, a[1].im)};
    if (w->out == LZ_BOOL)
        return real(OR(a[0].v, a[1].v));
    return is_f(w) ? rounded(e, w, FADD(a[0].v, a[1].v)) : real(ADD(a[0].v, a[1].v));
}

Ev lz_emit_subtract(em *e, const lz_ew *w, const Ev *a)
{
    if (is_c(w))
        return (Ev){FSUB(a[0].v, a[1].v), FSUB(a[0].im, a[1].im)};
    return is_f(w) ? rounded(e, w, FSUB(a[0].v, a[1].v)) : real(SUB(a[0].v, a[1].v));
}

Ev lz_emit_multiply(em *e, const lz_ew *w, const Ev *a)
{
    if (is_c(w)) {
        Ty t = LLVMTypeOf(a[0].v);
        if (w->in[0] == LZ_C128)
            return (Ev){FSUB(FMUL(a[0].v, a[1].v), FMUL(a[0].im, a[1].im)),
                        FADD(FMUL(a[0].v, a[1].im), FMUL(a[0].im, a[1].v))};
        Val x[4] = {a[0].v, a[0].im, a[1].v, a[1].im};
        for (int k = 0; k < 4; k++)
            x[k] = em_widen(e, x[k]); /* products of f32 are exact in double */
        Val re = FSUB(FMUL(x[0], x[2]), FMUL(x[1], x[3])),
            im = FADD(FMUL(x[0], x[3]), FMUL(x[1], x[2]));
        return (Ev){LLVMBuildFPTrunc(e->b, re, t, ""), LLVMBuildFPTrunc(e->b, im, t, "")};
    }
    if (w->out == LZ_BOOL)
        return real(AND(a[0].v, a[1].v));
    return is_f(w) ? rounded(e, w, FMUL(a[0].v, a[1].v)) : real(MUL(a[0].v, a[1].v));
}

Ev lz_emit_negate(em *e, const lz_ew *w, const Ev *a)
{
    if (is_c(w))
        return (Ev){FNEG(a[0].v), FNEG(a[0].im)};
    return real(is_f(w) ? FNEG(a[0].v) : LLVMBuildNeg(e->b, a[0].v, ""));
}

Ev lz_emit_abs(em *e, const lz_ew *w, const Ev *a)
{
    if (is_c(w))
        return lz_complex_abs(e, w, a);
    if (is_f(w))
        return real(em_intr1(e, "llvm.fabs", a[0].v));
    Ty t = LLVMTypeOf(a[0].v);
    return real(em_intr(e, "llvm.abs", &t, 1, (Val[]){a[0].v, em_ci(e->i1, 0)}, 2));
}

Ev lz_emit_sign(em *e, const lz_ew *w, const Ev *a)
{
    if (is_c(w))
        return lz_complex_sign(e, w, a);
    Val x = a[0].v;
    Ty t = LLVMTypeOf(x);
    if (is_f(w)) {
        Val one = em_intr2(e, "llvm.copysign", em_cf(t, 1), x);
        return real(SEL(FCMP(ONE, x, em_cf(t, 0)), one, x));
    }
    Val pos = LLVMBuildZExt(e->b, ICMP(SGT, x, em_ci(t, 0)), t, "");
    return real(OR(pos, ASHR(x, em_ci(t, em_bits(e, t) - 1))));
}

/* Quotient of integers, b not 0 and not (lowest, -1). The machine divides no vectors of integers,
 * but floats do it exactly up to 32 bits: the distance of a quotient from the integer above is more
 * than the rounding error. LLVM multiplies by the reciprocal of a constant (Granlund, Montgomery
 * 1994) or shifts. */
static Val int_quotient(em *e, Val x, Val y, bool sgn)
{
    Ty t = LLVMTypeOf(x);
    unsigned bits = em_bits(e, t);
    int64_t constant;
    if (em_lanes(x) == 1 || bits == 64 || em_is_ci(y, &constant))
        return sgn ? LLVMBuildSDiv(e->b, x, y, "") : LLVMBuildUDiv(e->b, x, y, "");
    Ty f = em_like(e, bits == 32 ? e->f64 : e->f32, x);
    Ty wide = em_like(e, bits == 32 ? e->i64 : e->i32, x);
    Val fx = sgn ? LLVMBuildSIToFP(e->b, x, f, "") : LLVMBuildUIToFP(e->b, x, f, "");
    Val fy = sgn ? LLVMBuildSIToFP(e->b, y, f, "") : LLVMBuildUIToFP(e->b, y, f, "");
    return LLVMBuildTrunc(e->b, LLVMBuildFPToSI(e->b, FDIV(fx, fy), wide, ""), t, "");
}

/* Divisor made harmless: 1 where it is 0 or where lowest / -1 would overflow. */
static Val safe_divisor(em *e, Val x, Val y, bool sgn, Val *is_zero)
{
    Ty t = LLVMTypeOf(x);
    int64_t constant;
    *is_zero = ICMP(EQ, y, em_ci(t, 0));
    if (em_is_ci(y, &constant) && constant != 0 && constant != -1)
        return y;
    Val bad = *is_zero;
    if (sgn) {
        Val lowest = ICMP(EQ, x, em_ci(t, (int64_t)(UINT64_MAX << (em_bits(e, t) - 1))));
        bad = OR(bad, AND(lowest, ICMP(EQ, y, em_ci(t, -1))));
    }
    return SEL(bad, em_ci(t, 1), y);
}

Ev lz_emit_divide(em *e, const lz_ew *w, const Ev *a)
{
    if (is_c(w))
        return lz_complex_divide(e, w, a);
    if (is_f(w))
        return rounded(e, w, em_fdiv(e, a[0].v, a[1].v));
    bool sgn = lz_dtype_is_signed(w->in[0]);
    Val zero, y = safe_divisor(e, a[0].v, a[1].v, sgn, &zero);
    return real(SEL(zero, em_ci(LLVMTypeOf(y), -1), int_quotient(e, a[0].v, y, sgn)));
}

Ev lz_emit_remainder(em *e, const lz_ew *w, const Ev *a)
{
    if (is_f(w))
        return real(em_libm(e, w->in[0] == LZ_F64 ? "fmod" : "fmodf", (Val[]){a[0].v, a[1].v}, 2));
    bool sgn = lz_dtype_is_signed(w->in[0]);
    Val zero, y = safe_divisor(e, a[0].v, a[1].v, sgn, &zero);
    Val r = SUB(a[0].v, MUL(y, int_quotient(e, a[0].v, y, sgn)));
    return real(SEL(zero, a[0].v, r));
}

/* ---- order ---- */

/* Complex numbers are ordered by real part, then imaginary part. */
static Val complex_less(em *e, Ev a, Ev b)
{
    return OR(FCMP(OLT, a.v, b.v), AND(FCMP(OEQ, a.v, b.v), FCMP(OLT, a.im, b.im)));
}

/* NaN in any part wins; of two such, part by part. */
static Ev complex_extremum(em *e, Ev a, Ev b, bool max)
{
    Val na = FCMP(UNO, a.v, a.im), nb = FCMP(UNO, b.v, b.im);
    Val less = max ? complex_less(e, b, a) : complex_less(e, a, b);
    Ev both = {em_intr2(e, "llvm.maximum", a.v, b.v), em_intr2(e, "llvm.maximum", a.im, b.im)};
    return lz_ev_select(e, AND(na, nb), both, lz_ev_select(e, SEL(nb, na, OR(na, less)), a, b));
}

/* VRANGEPS orders zeros, and gives the other operand for a NaN: a sum is one where either is. What
 * LLVM makes of llvm.maximum is twice as many instructions, each waiting for the one before. */
static Val extremum_512(em *e, Val x, Val y, bool max)
{
    enum { MIN = 4, MAX = 5, NO_SAE = 4 };
    Val in[6] = {x, y, em_c32(e, max ? MAX : MIN), x, em_ci(e->i16, -1), em_c32(e, NO_SAE)};
    Val r = em_intr(e, "llvm.x86.avx512.mask.range.ps.512", NULL, 0, in, 6);
    return SEL(FCMP(UNO, x, y), FADD(x, y), r);
}

static Val extremum(em *e, const lz_ew *w, Val x, Val y, bool max)
{
    if (w->in[0] == LZ_BOOL)
        return max ? OR(x, y) : AND(x, y);
    if (e->avx512 && w->in[0] == LZ_F32 && em_lanes(x) == 16 && !LLVMIsConstant(x) &&
        !LLVMIsConstant(y))
        return extremum_512(e, x, y, max);
    if (is_f(w))
        return em_intr2(e, max ? "llvm.maximum" : "llvm.minimum", x, y);
    bool sgn = lz_dtype_is_signed(w->in[0]);
    return em_intr2(e, max ? (sgn ? "llvm.smax" : "llvm.umax") : (sgn ? "llvm.smin" : "llvm.umin"),
                    x, y);
}

Ev lz_emit_maximum(em *e, const lz_ew *w, const Ev *a)
{
    return is_c(w) ? complex_extremum(e, a[0], a[1], true)
                   : real(extremum(e, w, a[0].v, a[1].v, true));
}

Ev lz_emit_minimum(em *e, const lz_ew *w, const Ev *a)
{
    return is_c(w) ? complex_extremum(e, a[0], a[1], false)
                   : real(extremum(e, w, a[0].v, a[1].v, false));
}

Ev lz_emit_clamp(em *e, const lz_ew *w, const Ev *a)
{
    if (is_c(w))
        return complex_extremum(e, complex_extremum(e, a[1], a[0], true), a[2], false);
    return real(extremum(e, w, extremum(e, w, a[1].v, a[0].v, true), a[2].v, false));
}

/* Bits of a float as an integer ordered like totalOrder. 16-bit floats are ordered through their
 * storage, which keeps every NaN's bits. */
static Val total_order(em *e, lz_dtype d, Val x)
{
    Ty t = em_like(e, d == LZ_F64 ? e->i64 : d == LZ_F32 ? e->i32 : e->i16, x);
    Val u = d == LZ_F64 || d == LZ_F32 ? BITS(x, t) : em_to_mem(e, d, x);
    unsigned top = em_bits(e, t) - 1;
    Val low = LSHR(ASHR(u, em_ci(t, top)), em_ci(t, 1));
    return XOR(u, low);
}

Ev lz_emit_compare(em *e, const lz_ew *w, const Ev *a)
{
    static const LLVMRealPredicate fp[] = {
        [LZ_CMP_EQ] = LLVMRealOEQ, [LZ_CMP_NE] = LLVMRealUNE, [LZ_CMP_GE] = LLVMRealOGE,
        [LZ_CMP_GT] = LLVMRealOGT, [LZ_CMP_LE] = LLVMRealOLE, [LZ_CMP_LT] = LLVMRealOLT};
    static const LLVMIntPredicate sp[] = {
        [LZ_CMP_EQ] = LLVMIntEQ,  [LZ_CMP_NE] = LLVMIntNE,  [LZ_CMP_GE] = LLVMIntSGE,
        [LZ_CMP_GT] = LLVMIntSGT, [LZ_CMP_LE] = LLVMIntSLE, [LZ_CMP_LT] = LLVMIntSLT};
    static const LLVMIntPredicate up[] = {
        [LZ_CMP_EQ] = LLVMIntEQ,  [LZ_CMP_NE] = LLVMIntNE,  [LZ_CMP_GE] = LLVMIntUGE,
        [LZ_CMP_GT] = LLVMIntUGT, [LZ_CMP_LE] = LLVMIntULE, [LZ_CMP_LT] = LLVMIntULT};
    const lz_attr_compare *c = LZ_ATTR(compare, w->attr);
    int dir = c->comparison_direction;
    if (is_c(w)) {
        Val eq = AND(FCMP(OEQ, a[0].v, a[1].v), FCMP(OEQ, a[0].im, a[1].im));
        if (dir == LZ_CMP_EQ || dir == LZ_CMP_NE)
            return real(dir == LZ_CMP_EQ ? eq : NOT(eq));
        bool less = dir == LZ_CMP_LT || dir == LZ_CMP_LE;
        Val strict = less ? complex_less(e, a[0], a[1]) : complex_less(e, a[1], a[0]);
        return real(dir == LZ_CMP_LE || dir == LZ_CMP_GE ? OR(strict, eq) : strict);
    }
    if (is_f(w) && c->compare_type == LZ_CT_TOTALORDER)
        return real(LLVMBuildICmp(e->b, sp[dir], total_order(e, w->in[0], a[0].v),
                                  total_order(e, w->in[0], a[1].v), ""));
    if (is_f(w))
        return real(LLVMBuildFCmp(e->b, fp[dir], a[0].v, a[1].v, ""));
    return real(
        LLVMBuildICmp(e->b, lz_dtype_is_signed(w->in[0]) ? sp[dir] : up[dir], a[0].v, a[1].v, ""));
}

Ev lz_emit_select(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return lz_ev_select(e, a[0].v, a[1], a[2]);
}

Ev lz_emit_is_finite(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    Val x = em_intr1(e, "llvm.fabs", a[0].v);
    return real(FCMP(OLT, x, em_cf(LLVMTypeOf(x), __builtin_inf())));
}

/* ---- rounding to integral values: exact in every float format ---- */

Ev lz_emit_ceil(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return real(em_intr1(e, "llvm.ceil", a[0].v));
}

Ev lz_emit_floor(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return real(em_intr1(e, "llvm.floor", a[0].v));
}

Ev lz_emit_round_even(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return real(em_intr1(e, "llvm.rint", a[0].v));
}

/* Half is added below the value's magnitude only where a fraction exists, so nothing rounds twice.
 * */
Ev lz_emit_round_afz(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    Ty t = LLVMTypeOf(a[0].v);
    Val x = em_intr1(e, "llvm.fabs", a[0].v), down = em_intr1(e, "llvm.trunc", x);
    Val up = FCMP(OGE, FSUB(x, down), em_cf(t, 0.5));
    Val r = SEL(up, FADD(down, em_cf(t, 1)), down);
    return real(em_intr2(e, "llvm.copysign", r, a[0].v));
}

Ev lz_emit_sqrt(em *e, const lz_ew *w, const Ev *a)
{
    return is_c(w) ? lz_complex_sqrt(e, w, a) : rounded(e, w, em_intr1(e, "llvm.sqrt", a[0].v));
}
