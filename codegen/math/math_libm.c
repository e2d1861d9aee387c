/* math_libm.c - calls of libm functions by name: lane by lane on a CPU; on a GPU, which has no
 * libm, those of math_f64.c.
 * Threads: an em belongs to one thread. */
#include "codegen/math/math.h"

/* The functions of many threads are of scalars. */
static Val by_lanes(em *e, const char *name, const Val *a, unsigned n)
{
    unsigned lanes = em_lanes(a[0]);
    if (lanes == 1)
        return lz_math_f64(e, name, a, n);
    Val out = LLVMGetPoison(LLVMTypeOf(a[0]));
    for (unsigned i = 0; i < lanes; i++) {
        Val one[3];
        for (unsigned k = 0; k < n; k++)
            one[k] = em_extract(e, a[k], i);
        out = LLVMBuildInsertElement(e->b, out, lz_math_f64(e, name, one, n), em_c32(e, i), "");
    }
    return out;
}

Val em_libm(em *e, const char *name, const Val *a, unsigned n)
{
    if (e->simt)
        return by_lanes(e, name, a, n);
    Ty t = LLVMTypeOf(a[0]), s = em_elem(t), args[3] = {s, s, s};
    unsigned lanes = em_lanes(a[0]), bytes = em_bits(e, s) / 8;
    Val f = em_declare(e, name, s, args, n);
    Ty ft = LLVMFunctionType(s, args, n, 0);
    if (lanes == 1)
        return LLVMBuildCall2(e->b, ft, f, (Val *)a, n, "");
    Val in[3], x[3];
    for (unsigned k = 0; k < n; k++) { /* through memory: a call keeps no vector register */
        in[k] = em_alloca(e, t, 1, 64);
        em_store(e, a[k], in[k], 64);
    }
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, lanes), em_c64(e, 1), 0, NULL);
    for (unsigned k = 0; k < n; k++)
        x[k] = em_load(e, s, em_at(e, in[k], l.i, bytes), bytes);
    Val y = LLVMBuildCall2(e->b, ft, f, x, n, "");
    em_store(e, y, em_at(e, in[0], l.i, bytes), bytes);
    em_loop_end(e, &l, NULL);
    return em_load(e, t, in[0], 64);
}
