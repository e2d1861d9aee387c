/* complex.c - complex numbers: conjugate, angle, polar form, real and imaginary parts as a
 * dimension: include/lazuli/complex_ops.h. */
#include "ops/compose.h"
#include <lazuli/complex_ops.h>

#define COMPLEX(re, im) lz_tracer_ew2(c, LZ_OP_COMPLEX, (re), (im))

static bool is_complex(const lz_node *x)
{
    return x && lz_dtype_is_complex(lz_tracer_dtype(x));
}

lz_tensor *lz_conj_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_conj");
    lz_node *n = IN(x);
    return lz_tracer_end(c, is_complex(n) ? COMPLEX(RE(n), NEG(IM(n))) : n);
}

lz_tensor *lz_angle_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_angle");
    lz_node *n = lz_tracer_float(c, IN(x));
    if (is_complex(n))
        return lz_tracer_end(c, lz_tracer_ew2(c, LZ_OP_ATAN2, IM(n), RE(n)));
    if (!n)
        return lz_tracer_end(c, NULL);
    lz_node *below = SEL(LT(n, K(n, 0)), K(n, 3.141592653589793238), K(n, 0));
    return lz_tracer_end(c, SEL(IS_NAN(n), n, below));
}

lz_tensor *lz_polar_at(lz_tensor *abs, lz_tensor *angle, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_polar");
    lz_node *r = lz_tracer_float(c, IN(abs)), *a = r ? lz_tracer_float(c, IN(angle)) : NULL;
    if (!a || !lz_tracer_match(c, &r, &a))
        return lz_tracer_end(c, NULL);
    if (lz_dtype_of_parts(lz_tracer_dtype(r)) == LZ_DTYPE_NONE) {
        LZ_FAIL(LZ_EDTYPE, "the operands are %s: the parts of a complex number are f32 or f64",
                lz_dtype_name(lz_tracer_dtype(r)));
        return lz_tracer_end(c, NULL);
    }
    return lz_tracer_end(c, COMPLEX(MUL(r, lz_tracer_ew1(c, LZ_OP_COSINE, a)),
                                    MUL(r, lz_tracer_ew1(c, LZ_OP_SINE, a))));
}

lz_tensor *lz_view_as_real_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_view_as_real");
    lz_node *n = IN(x);
    if (!n)
        return lz_tracer_end(c, NULL);
    lz_shape s = *lz_tracer_shape(n);
    if (!is_complex(n) || s.rank == LZ_MAX_RANK) {
        char text[128];
        lz_type_short(lz_node_type(n), text, sizeof text);
        LZ_FAIL(is_complex(n) ? LZ_ESHAPE : LZ_EDTYPE, "the operand is %s: %s", text,
                is_complex(n) ? "there is no room for one more dimension" : "it must be complex");
        return lz_tracer_end(c, NULL);
    }
    s.dims[s.rank++] = 1;
    lz_node *part[2] = {lz_tracer_reshape(c, RE(n), &s), lz_tracer_reshape(c, IM(n), &s)};
    return lz_tracer_end(c, part[0] && part[1] ? lz_tracer_concat(c, part, 2, s.rank - 1) : NULL);
}

lz_tensor *lz_view_as_complex_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_view_as_complex");
    lz_node *n = IN(x);
    if (!n)
        return lz_tracer_end(c, NULL);
    lz_shape s = *lz_tracer_shape(n);
    if (s.rank == 0 || s.dims[s.rank - 1] != 2) {
        char text[128];
        LZ_FAIL(LZ_ESHAPE, "the operand is %s: its last dimension must have the two parts",
                lz_type_short(lz_node_type(n), text, sizeof text));
        return lz_tracer_end(c, NULL);
    }
    lz_node *re = lz_tracer_slice_dim(c, n, s.rank - 1, 0, 1, 1),
            *im = lz_tracer_slice_dim(c, n, s.rank - 1, 1, 2, 1);
    s.dims[--s.rank] = 0;
    return lz_tracer_end(c, COMPLEX(lz_tracer_reshape(c, re, &s), lz_tracer_reshape(c, im, &s)));
}
