/* simt_reduce_acc.c - reduction accumulators that threads hand to each other through memory. The
 * parts of a complex one are neighbours, 16-bit floats are f32, booleans bytes; one of several
 * points is a vector. Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"

unsigned simt_acc_bytes(lz_dtype d)
{
    unsigned n = (unsigned)lz_dtype_size(d);
    return lz_dtype_is_float(d) && n < 4 ? 4 : n;
}

static unsigned alignment(em *e, Ty t, unsigned lanes)
{
    unsigned bits = em_bits(e, t), n = (bits < 8 ? 1 : bits / 8) * lanes;
    return n < SIMT_ACC ? n : SIMT_ACC;
}

void simt_acc_put(simt *s, Ev v, Val at)
{
    em *e = s->e;
    unsigned lanes = em_lanes(v.v);
    if (em_elem(LLVMTypeOf(v.v)) == e->i1)
        v.v = LLVMBuildZExt(e->b, v.v, em_vec(e->i8, lanes), "");
    unsigned size = em_bits(e, LLVMTypeOf(v.v)) / 8,
             align = alignment(e, LLVMTypeOf(v.v), v.im ? 1 : lanes);
    em_store(e, v.v, at, align);
    if (v.im)
        em_store(e, v.im, em_at(e, at, em_c64(e, (int64_t)size * lanes), 1), align);
}

Ev simt_acc_get(simt *s, lz_dtype d, unsigned lanes, Val at)
{
    em *e = s->e;
    Ty t = em_type(e, d, lanes);
    unsigned align = alignment(e, t, lanes);
    if (lz_dtype_is_complex(d)) {
        unsigned size = (unsigned)lz_dtype_size(lz_dtype_part(d));
        return (Ev){em_load(e, t, at, size),
                    em_load(e, t, em_at(e, at, em_c64(e, (int64_t)size * lanes), 1), size)};
    }
    if (em_elem(t) == e->i1) {
        Val m = em_load(e, em_vec(e->i8, lanes), at, align);
        return (Ev){ICMP(NE, m, LLVMConstNull(LLVMTypeOf(m))), NULL};
    }
    return (Ev){em_load(e, t, at, align), NULL};
}

int simt_accs_flatten(const Ev *v, uint32_t n, Val *out)
{
    int m = 0;
    for (uint32_t k = 0; k < n; k++) {
        out[m++] = v[k].v;
        if (v[k].im)
            out[m++] = v[k].im;
    }
    return m;
}

void simt_accs_unflatten(Ev *v, uint32_t n, const Val *in)
{
    int m = 0;
    for (uint32_t k = 0; k < n; k++) {
        bool complex = v[k].im != NULL;
        v[k].v = in[m++];
        if (complex)
            v[k].im = in[m++];
    }
}
