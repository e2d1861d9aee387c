/* emit_ew.h - elementwise ops as LLVM IR: one function lz_emit_<name> per distinct name of the emit
 * column of ops.def, for scalars and vectors.
 * Values: see em.h. Complex numbers are pairs of f32 or f64. The functions return values of the
 * result's dtype, rounded to it.
 * Threads: an em belongs to one thread. */
#ifndef LZ_CODEGEN_EMIT_EMIT_EW_H
#define LZ_CODEGEN_EMIT_EMIT_EW_H
#include "codegen/llvm/em.h"
#include "codegen/math/math.h"

typedef struct Ev {
    Val v, im; /* im: imaginary part of a complex number, else NULL */
} Ev;

typedef struct lz_ew {
    lz_op op;
    const lz_attr *attr;
    lz_dtype out, in[3];
    unsigned n; /* lanes of all operands */
} lz_ew;
typedef Ev lz_emit_fn(em *e, const lz_ew *w, const Ev *a);

#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, vjp, eval, emit, ...)                    \
    extern lz_emit_fn lz_emit_##emit;
#define LZ_OP(...)
#include "ir/ops.def"
lz_emit_fn lz_emit_bits; /* bitcast_convert to a dtype of the same width */

/* Emits one op: operands of different lane counts (1 or n) are brought to the larger. */
Ev lz_emit_ew(em *e, lz_op op, const lz_attr *attr, lz_dtype out, const lz_dtype *in, const Ev *a);
Ev lz_emit_cast(em *e, lz_dtype to, lz_dtype from, Ev a); /* CONVERT without an attribute */
Ev lz_ev_splat(em *e, Ev a, unsigned n);
Ev lz_ev_select(em *e, Val mask, Ev a, Ev b);
Ev lz_ev_const(em *e, lz_dtype d, uint64_t bits); /* from storage bits; a scalar */

Val lz_ipow(em *e, Val x, Val y, bool sgn); /* integer power; negative exponents as ops.def says */
#endif
