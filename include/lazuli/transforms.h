/* transforms.h - function transforms: derivatives, and vmap (automatic batching).
 * A callback gets tensors that stand for its arguments, records operations on them once, and gives
 * back its results; what control.h says about callbacks holds. Tensors made outside may be used
 * freely inside.
 * Implemented in: runtime/region/vmap.c, autodiff/derivatives.c. */
#ifndef LAZULI_TRANSFORMS_H
#define LAZULI_TRANSFORMS_H
#include <lazuli/control.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- vmap: automatic batching ---- */
enum { LZ_MAX_EXAMPLE_RANK = LZ_MAX_RANK - 1 }; /* of a value of one example */
/* An argument or result that is the same for all examples. */
#define LZ_UNMAPPED INT64_MIN
typedef struct lz_vmap_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_vmap_options));
    /* per input: its batch dimension, from the end when negative, or LZ_UNMAPPED; NULL: 0 for
     * all */
    const int64_t *in_axes LZ_DEFAULT(nullptr);
    /* where the results get theirs, nout of them; NULL: 0 for all. LZ_UNMAPPED: the result must not
     * depend on the example (else LZ_EINVAL) */
    const int64_t *out_axes LZ_DEFAULT(nullptr);
    int64_t size LZ_DEFAULT(0); /* examples, when no argument has any */
} lz_vmap_options;
/* nout results of fn, which is written for one example, for all examples at once: fn sees its
 * arguments without the examples' dimension, is recorded once, and every operation then works on
 * all examples (the batch column of docs/reference/ops.md), so out is what a loop over the examples
 * would stack. Operations marked `each` run in a loop over the examples; a while whose condition is
 * each example's own runs until all have ended, and of branches chosen so both run. Random
 * operations give each example its own numbers: those of lz_fori over the examples. Works inside
 * and around gradients, loops and itself. Errors, beside those of control.h: LZ_ESHAPE when the
 * extents of the examples differ or a value of an example has more than LZ_MAX_EXAMPLE_RANK
 * dimensions (naming the operation); LZ_ERANGE for an axis that is none.
 * Source: JAX's vmap, torch.func.vmap. */
LZ_API lz_status lz_vmap_at(lz_body_fn *fn, lz_tensor *const *in, int nin, int nout, void *user,
                            lz_tensor **out, const lz_vmap_options *o, const lz_site *site);

/* ---- derivatives ---- */
/* out = fn(in), whose first result has one element, and the gradients of that by in: nin of in's
 * types, zeros by what it does not depend on. Errors: those of fn's results, and lz_grad's. */
LZ_API lz_status lz_value_and_grad_at(lz_body_fn *fn, lz_tensor *const *in, int nin, int nout,
                                      void *user, lz_tensor **out, lz_tensor **grads,
                                      const lz_site *site);
/* out[i] = sum over k of d2 loss / (d params[i] d params[k]) vectors[k]: the Hessian times a
 * vector, as the tangent of the gradient. Shapes, dtypes and errors as of lz_grad; vectors[k] has
 * params[k]'s type. */
LZ_API lz_status lz_hvp_at(lz_tensor *loss, lz_tensor *const *params, lz_tensor *const *vectors,
                           size_t n, lz_tensor **out, const lz_site *site);
/* d y / d x, of y's shape and then x's, all rows (or columns, when there are fewer) at once by
 * lz_vmap of the gradient (the tangent). Floats (LZ_EDTYPE) of one dtype; together no more than
 * LZ_MAX_RANK dimensions, each less (LZ_ESHAPE). */
LZ_API lz_tensor *lz_jacobian_at(lz_tensor *y, lz_tensor *x, const lz_site *site);

#define lz_value_and_grad(...) lz_value_and_grad_at(__VA_ARGS__, LZ_SITE)
#define lz_hvp(loss, params, vectors, n, out) lz_hvp_at(loss, params, vectors, n, out, LZ_SITE)
#define lz_jacobian(y, x) lz_jacobian_at(y, x, LZ_SITE)
#define lz_vmap(...) LZ_ARGS_vmap(__VA_ARGS__, )
#define LZ_ARGS_vmap(fn, in, nin, nout, user, out, ...)                                            \
    lz_vmap_at(fn, in, nin, nout, user, out, LZ_OPTIONS_OF(lz_vmap_options, __VA_ARGS__), LZ_SITE)
LZ_EXTERN_C_END
#endif
