/* emit_convert.c - convert and reduce_precision between all dtypes, with a single rounding (to
 * nearest, ties to even).
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_ew.h"
#include "ir/small_float.h"

static Ev real(Val v)
{
    return (Ev){v, NULL};
}

static bool is_half(lz_dtype d)
{
    return d == LZ_F16 || d == LZ_BF16;
}

/* f64 to f32 rounded to odd: an inexact result has its last bit set, so rounding it again to 16
 * bits is as good as rounding once. */
static Val f64_to_f32_odd(em *e, Val x)
{
    Ty ft = em_like(e, e->f32, x), it = em_like(e, e->i32, x);
    Val f = LLVMBuildFPTrunc(e->b, x, ft, ""), back = LLVMBuildFPExt(e->b, f, LLVMTypeOf(x), "");
    Val u = BITS(f, it);
    Val more = FCMP(OGT, em_intr1(e, "llvm.fabs", x), em_intr1(e, "llvm.fabs", back));
    Val moved = ADD(u, SEL(more, em_ci(it, 1), em_ci(it, -1)));
    Val even = ICMP(EQ, AND(u, em_ci(it, 1)), em_ci(it, 0));
    return BITS(SEL(AND(FCMP(ONE, back, x), even), moved, u), ft);
}

/* 64-bit integer to f64 rounded to odd. */
static Val i64_to_f64_odd(em *e, Val x, bool sgn)
{
    Ty it = LLVMTypeOf(x), ft = em_like(e, e->f64, x);
    Val neg = sgn ? ICMP(SLT, x, em_ci(it, 0)) : NULL;
    Val m = sgn ? SEL(neg, LLVMBuildNeg(e->b, x, ""), x) : x;
    Val rest = ICMP(NE, AND(m, em_ci(it, 0x7ff)), em_ci(it, 0));
    Val top = OR(LSHR(m, em_ci(it, 11)), LLVMBuildZExt(e->b, rest, it, ""));
    Val big = FMUL(LLVMBuildSIToFP(e->b, top, ft, ""), em_cf(ft, 2048));
    Val small = LLVMBuildSIToFP(e->b, m, ft, "");
    Val r = SEL(ICMP(ULT, m, em_ci(it, INT64_C(1) << 53)), small, big);
    return sgn ? SEL(neg, FNEG(r), r) : r;
}

/* ---- floats of 8 bits and fewer: in registers they are their bits ---- */

/* The first magnitude, as the bits of an f32, whose code is none of a number, or the largest where
 * that takes its place. */
static int64_t first_beyond(const lz_float_format *f)
{
    int64_t top = (INT64_C(1) << f->exponent) - 1 - f->bias + 127, most = (1 << f->mantissa) - 1;
    switch (f->kind) {
    case LZ_FLOAT_IEEE:
        return top << 23;
    case LZ_FLOAT_FNUZ:
        return (top + 1) << 23;
    default:
        return top << 23 | most << (23 - f->mantissa);
    }
}

/* The code of the magnitude `all`, the bits of an f32, and of what is beyond. */
static Val magnitude_code(em *e, const lz_float_format *f, Val all)
{
    Ty it = LLVMTypeOf(all), ft = em_like(e, e->f32, all);
    int drop = 23 - f->mantissa, rebias = 127 - f->bias;
    Val a = em_intr2(e, "llvm.umin", all, em_ci(it, first_beyond(f)));
    Val odd = AND(LSHR(a, em_ci(it, drop)), em_ci(it, 1));
    int64_t half = (INT64_C(1) << (drop - 1)) - 1, off = half - ((int64_t)rebias << 23);
    Val normal = LSHR(ADD(ADD(a, em_ci(it, off)), odd), em_ci(it, drop));
    /* a number is added whose last place is that of a denormal result */
    int64_t magic = (int64_t)(rebias + 1 + drop) << 23;
    Val sum = FADD(BITS(a, ft), BITS(em_ci(it, magic), ft));
    Val denormal = SUB(BITS(sum, it), em_ci(it, magic));
    return SEL(ICMP(ULT, a, em_ci(it, (int64_t)(rebias + 1) << 23)), denormal, normal);
}

/* The nearest power of two, ties up. Below 2^-126 an f32 has no exponent of its own. */
static Val power_code(em *e, Val u)
{
    Ty it = LLVMTypeOf(u);
    Val r = LSHR(ADD(u, em_ci(it, 1 << 22)), em_ci(it, 23));
    r = SEL(ICMP(ULT, u, em_ci(it, 0x600000)), em_ci(it, 0), r);
    r = SEL(ICMP(ULT, SUB(u, em_ci(it, 1)), em_ci(it, 0x7f7fffff)), r, em_ci(it, 255));
    return em_intr2(e, "llvm.umin", r, em_ci(it, 255));
}

static Val f8_from_f32(em *e, lz_dtype d, Val x)
{
    const lz_float_format *f = lz_float_format_of(d);
    Ty it = em_like(e, e->i32, x);
    int64_t codes = INT64_C(1) << (f->exponent + f->mantissa);
    int up = 31 - f->exponent - f->mantissa;
    Val u = BITS(x, it), r;
    if (f->kind == LZ_FLOAT_FNU)
        return LLVMBuildTrunc(e->b, power_code(e, u), em_type(e, d, em_lanes(x)), "");
    Val sign = AND(u, em_ci(it, 0x80000000)), all = XOR(u, sign);
    Val nan = ICMP(UGT, all, em_ci(it, 0x7f800000));
    r = magnitude_code(e, f, all);
    sign = LSHR(sign, em_ci(it, up));
    if (f->kind == LZ_FLOAT_IEEE)
        r = SEL(nan, em_ci(it, codes - (INT64_C(1) << (f->mantissa - 1))), r);
    if (f->kind == LZ_FLOAT_FNS) {
        r = SEL(nan, em_ci(it, 0), r);
        sign = SEL(nan, XOR(sign, em_ci(it, codes)), sign);
    }
    r = f->kind == LZ_FLOAT_FNUZ ? SEL(ICMP(EQ, r, em_ci(it, 0)), r, OR(r, sign)) : OR(r, sign);
    return LLVMBuildTrunc(e->b, r, em_type(e, d, em_lanes(x)), "");
}

static Val power_to_f32(em *e, Val code)
{
    Ty it = LLVMTypeOf(code), ft = em_like(e, e->f32, code);
    Val r = SHL(code, em_ci(it, 23));
    r = SEL(ICMP(EQ, code, em_ci(it, 0)), em_ci(it, 0x400000), r); /* 2^-127 */
    return BITS(SEL(ICMP(EQ, code, em_ci(it, 255)), em_ci(it, 0x7fc00000), r), ft);
}

static Val f8_to_f32(em *e, lz_dtype d, Val x)
{
    const lz_float_format *f = lz_float_format_of(d);
    Ty it = em_like(e, e->i32, x), ft = em_like(e, e->f32, x);
    int width = f->exponent + f->mantissa, up = 23 - f->mantissa;
    int64_t codes = INT64_C(1) << width;
    Val u = LLVMBuildZExt(e->b, x, it, "");
    if (f->kind == LZ_FLOAT_FNU)
        return power_to_f32(e, u);
    Val mag = AND(u, em_ci(it, codes - 1));
    Val scaled = FMUL(BITS(SHL(mag, em_ci(it, up)), ft),
                      BITS(em_ci(it, (INT64_C(254) - f->bias) << 23), ft));
    Val r = BITS(scaled, it); /* exact: denormals become normal */
    Val sign = SHL(AND(u, em_ci(it, codes)), em_ci(it, 31 - width));
    int64_t inf = codes - (INT64_C(1) << f->mantissa);
    if (f->kind == LZ_FLOAT_IEEE)
        r = SEL(ICMP(EQ, mag, em_ci(it, inf)), em_ci(it, 0x7f800000), r);
    if (f->kind == LZ_FLOAT_IEEE || f->kind == LZ_FLOAT_FN)
        r = SEL(ICMP(UGT, mag, em_ci(it, f->kind == LZ_FLOAT_IEEE ? inf : codes - 2)),
                em_ci(it, 0x7fc00000), r);
    r = OR(r, sign);
    if (f->kind == LZ_FLOAT_FNUZ)
        r = SEL(ICMP(EQ, u, em_ci(it, codes)), em_ci(it, 0x7fc00000), r);
    return BITS(r, ft);
}

static Val f8_from_float(em *e, lz_dtype to, lz_dtype from, Val x)
{
    return f8_from_f32(e, to, from == LZ_F64 ? f64_to_f32_odd(e, x) : x);
}

/* Powers of two hold every magnitude of an integer; any other of these formats overflows below
 * 2^17, and what is below that is exact in f32. */
static Val f8_from_int(em *e, lz_dtype to, lz_dtype from, Val x)
{
    bool sgn = lz_dtype_is_signed(from);
    Ty it = LLVMTypeOf(x), ft = em_like(e, e->f32, x), dt = em_like(e, e->f64, x);
    if (lz_float_format_of(to)->kind == LZ_FLOAT_FNU && em_bits(e, it) > 16) {
        Val v = em_bits(e, it) == 64 ? i64_to_f64_odd(e, x, sgn)
                : sgn                ? LLVMBuildSIToFP(e->b, x, dt, "")
                                     : LLVMBuildUIToFP(e->b, x, dt, "");
        return f8_from_f32(e, to, f64_to_f32_odd(e, v));
    }
    if (em_bits(e, it) > 16) {
        x = em_intr2(e, sgn ? "llvm.smin" : "llvm.umin", x, em_ci(it, 1 << 17));
        x = sgn ? em_smax(e, x, em_ci(it, -(1 << 17))) : x;
    }
    x = sgn ? LLVMBuildSIToFP(e->b, x, ft, "") : LLVMBuildUIToFP(e->b, x, ft, "");
    return f8_from_f32(e, to, x);
}

/* ---- */

static Val float_from_float(em *e, lz_dtype to, lz_dtype from, Val x)
{
    if (from == LZ_F64) {
        if (to == LZ_F64)
            return x;
        if (is_half(to))
            return em_round_to(e, to, f64_to_f32_odd(e, x));
        return LLVMBuildFPTrunc(e->b, x, em_like(e, e->f32, x), "");
    }
    if (to == LZ_F64)
        return em_widen(e, x);
    return to == from || !is_half(to) ? x : em_round_to(e, to, x);
}

static Val float_from_int(em *e, lz_dtype to, lz_dtype from, Val x)
{
    bool sgn = lz_dtype_is_signed(from);
    Ty t = em_type(e, to, em_lanes(x)), d = em_like(e, e->f64, x);
    unsigned bits = em_bits(e, LLVMTypeOf(x));
    if (is_half(to) && bits == 64)
        return em_round_to(e, to, f64_to_f32_odd(e, i64_to_f64_odd(e, x, sgn)));
    if (is_half(to) && bits == 32)
        return em_round_to(e, to,
                           f64_to_f32_odd(e, sgn ? LLVMBuildSIToFP(e->b, x, d, "")
                                                 : LLVMBuildUIToFP(e->b, x, d, "")));
    Val f = sgn ? LLVMBuildSIToFP(e->b, x, t, "") : LLVMBuildUIToFP(e->b, x, t, "");
    return em_round_to(e, to, f);
}

/* Truncates, saturates, NaN gives 0. */
static Val int_from_float(em *e, lz_dtype to, Val x)
{
    Ty ov[2] = {em_type(e, to, em_lanes(x)), LLVMTypeOf(x)};
    return em_intr(e, lz_dtype_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat", ov, 2, &x, 1);
}

static Val int_from_int(em *e, lz_dtype to, lz_dtype from, Val x)
{
    Ty t = em_type(e, to, em_lanes(x));
    unsigned have = em_bits(e, LLVMTypeOf(x)), want = em_bits(e, t);
    if (have == want)
        return x;
    if (want < have)
        return LLVMBuildTrunc(e->b, x, t, "");
    return lz_dtype_is_signed(from) ? LLVMBuildSExt(e->b, x, t, "") : LLVMBuildZExt(e->b, x, t, "");
}

Ev lz_emit_cast(em *e, lz_dtype to, lz_dtype from, Ev a)
{
    if (to == from)
        return a;
    if (lz_dtype_is_storage(from))
        return lz_emit_cast(e, to, LZ_F32, real(f8_to_f32(e, from, a.v)));
    Val x = a.v;
    if (lz_dtype_is_complex(to)) {
        lz_dtype part = lz_dtype_part(to);
        Val re = lz_emit_cast(e, part, lz_dtype_part(from), real(x)).v;
        Val im = a.im ? lz_emit_cast(e, part, lz_dtype_part(from), real(a.im)).v : NULL;
        return (Ev){re, im ? im : LLVMConstNull(LLVMTypeOf(re))};
    }
    if (to == LZ_BOOL) {
        if (!lz_dtype_is_float(from) && !lz_dtype_is_complex(from))
            return real(ICMP(NE, x, LLVMConstNull(LLVMTypeOf(x))));
        return real(FCMP(UNE, x, LLVMConstNull(LLVMTypeOf(x))));
    }
    lz_dtype src = lz_dtype_part(from);
    if (lz_dtype_is_storage(to))
        return real(lz_dtype_is_float(src) ? f8_from_float(e, to, src, x)
                                           : f8_from_int(e, to, src, x));
    if (lz_dtype_is_float(src))
        return real(lz_dtype_is_float(to) ? float_from_float(e, to, src, x)
                                          : int_from_float(e, to, x));
    return real(lz_dtype_is_float(to) ? float_from_int(e, to, src, x)
                                      : int_from_int(e, to, src, x));
}

Ev lz_emit_convert(em *e, const lz_ew *w, const Ev *a)
{
    return lz_emit_cast(e, w->out, w->in[0], a[0]);
}

Ev lz_emit_bits(em *e, const lz_ew *w, const Ev *a)
{
    Val m = em_to_mem(e, w->in[0], a[0].v);
    return real(em_from_mem(e, w->out, BITS(m, em_like(e, em_mem(e, w->out), m))));
}

/* Rounds the bits of a float to fewer, as XLA does: to nearest even, overflow gives infinity, and
 * when the exponent shrinks what is below the smallest normal value becomes 0. NaN stays, except
 * that no mantissa bits can hold one. */
Ev lz_emit_reduce_precision(em *e, const lz_ew *w, const Ev *a)
{
    const lz_attr_precision *p = LZ_ATTR(precision, w->attr);
    lz_dtype d = w->in[0];
    const lz_float_format *f = lz_float_format_of(d);
    int fe = f->exponent, fm = f->mantissa;
    Ty t = em_like(e, d == LZ_F64 ? e->i64 : d == LZ_F32 ? e->i32 : e->i16, a[0].v);
    if (p->exponent_bits < 1 || p->mantissa_bits < 0)
        return real(em_fail(e, LLVMTypeOf(a[0].v), "reduce_precision: bad number of bits"));
    Val x = is_half(d) ? em_to_mem(e, d, a[0].v) : BITS(a[0].v, t);
    int64_t infbits = ((INT64_C(1) << fe) - 1) << fm;
    Val inf = em_ci(t, infbits), sign = AND(x, em_ci(t, (int64_t)(UINT64_C(1) << (fe + fm)))),
        mag = XOR(x, sign), r = mag;
    if (p->mantissa_bits < fm) {
        int drop = fm - (int)p->mantissa_bits;
        int64_t last = INT64_C(1) << drop;
        Val odd = AND(LSHR(r, em_ci(t, drop)), em_ci(t, 1));
        r = AND(ADD(ADD(r, em_ci(t, (last >> 1) - 1)), odd), em_ci(t, ~(last - 1)));
    }
    if (p->exponent_bits < fe) {
        int64_t bias = f->bias, reduced = (INT64_C(1) << (p->exponent_bits - 1)) - 1;
        Val exp = LSHR(r, em_ci(t, fm));
        Val small = SEL(ICMP(ULE, exp, em_ci(t, bias - reduced)), em_ci(t, 0), r);
        r = SEL(ICMP(UGT, exp, em_ci(t, bias + reduced)), inf, small);
    }
    r = SEL(ICMP(UGE, mag, inf), p->mantissa_bits > 0 ? mag : inf, r);
    r = OR(r, sign);
    if (is_half(d))
        return real(em_from_mem(e, d, r));
    return real(BITS(r, LLVMTypeOf(a[0].v)));
}
