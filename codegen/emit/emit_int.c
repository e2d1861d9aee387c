/* emit_int.c - integer ops as LLVM IR: bitwise ops, shifts, bit counts, powers. All are total:
 * nothing traps, and shifts by the width or more are defined.
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_ew.h"

static Ev real(Val v)
{
    return (Ev){v, NULL};
}

Ev lz_emit_and(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return real(AND(a[0].v, a[1].v));
}

Ev lz_emit_or(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return real(OR(a[0].v, a[1].v));
}

Ev lz_emit_xor(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return real(XOR(a[0].v, a[1].v));
}

Ev lz_emit_not(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return real(NOT(a[0].v));
}

Ev lz_emit_clz(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    Ty t = LLVMTypeOf(a[0].v);
    return real(em_intr(e, "llvm.ctlz", &t, 1, (Val[]){a[0].v, em_ci(e->i1, 0)}, 2));
}

Ev lz_emit_popcnt(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return real(em_intr1(e, "llvm.ctpop", a[0].v));
}

/* The count made smaller than the width, and whether it was: NULL: it is known to be. */
static Val count(em *e, Val s, Val *inside)
{
    Ty t = LLVMTypeOf(s);
    unsigned bits = em_bits(e, t);
    int64_t by;
    if (em_is_ci(s, &by) && by >= 0 && by < bits) {
        if (inside)
            *inside = NULL;
        return s;
    }
    if (inside)
        *inside = ICMP(ULT, s, em_ci(t, bits));
    return em_intr2(e, "llvm.umin", s, em_ci(t, bits - 1));
}

Ev lz_emit_shl(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    Val in, s = count(e, a[1].v, &in), r = SHL(a[0].v, s);
    return real(in ? SEL(in, r, LLVMConstNull(LLVMTypeOf(r))) : r);
}

Ev lz_emit_shr(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    Val in, s = count(e, a[1].v, &in), r = LSHR(a[0].v, s);
    return real(in ? SEL(in, r, LLVMConstNull(LLVMTypeOf(r))) : r);
}

Ev lz_emit_sar(em *e, const lz_ew *w, const Ev *a)
{
    (void)w;
    return real(ASHR(a[0].v, count(e, a[1].v, NULL)));
}

/* By repeated squaring, one step per bit of the exponent's type. */
Val lz_ipow(em *e, Val x, Val y, bool sgn)
{
    Ty t = LLVMTypeOf(x);
    unsigned bits = em_bits(e, t);
    Val one = em_ci(t, 1), zero = em_ci(t, 0);
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, bits), em_c64(e, 1), 3, (Val[]){one, x, y});
    Val odd = ICMP(NE, AND(l.phi[2], one), zero);
    Val r = SEL(odd, MUL(l.phi[0], l.phi[1]), l.phi[0]);
    em_loop_end(e, &l, (Val[]){r, MUL(l.phi[1], l.phi[1]), LSHR(l.phi[2], one)});
    r = l.phi[0];
    if (!sgn)
        return r;
    Val minus = em_ci(t, -1), parity = ICMP(NE, AND(y, one), zero);
    Val inv = SEL(ICMP(EQ, x, one), one, SEL(ICMP(EQ, x, minus), SEL(parity, minus, one), zero));
    return SEL(ICMP(SLT, y, zero), inv, r);
}
