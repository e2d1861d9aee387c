/* vjp_region.h - gradients of operations that apply a region of any kind: the operation as a recipe
 * of operations on whole tensors, of which the gradient is taken.
 * Threads: as rules (vjp.h). */
#ifndef LZ_AUTODIFF_VJP_REGION_H
#define LZ_AUTODIFF_VJP_REGION_H
#include "autodiff/vjp.h"
#include "ir/module.h"

/* out: the operation's results, recorded on v's operands; one that is left NULL depends on none. */
typedef lz_status lz_v_recipe(const lz_vjp *v, lz_tensor **out);
/* grad_in of every operand somebody needs. */
lz_status lz_v_composed(const lz_vjp *v, lz_v_recipe *recipe);

/* f, which is of scalars, on tensors of one shape. */
lz_status lz_v_apply(const lz_vjp *v, const lz_func *f, lz_tensor *const *in, lz_tensor **out);
/* x[i], [m, n] each, for every parameter of one side of f: their first dimension combined, in order.
 * lz_v_tree leaves one row of each; lz_v_fold combines init (scalars) and that, [n] each. */
lz_status lz_v_tree(const lz_vjp *v, const lz_func *f, lz_tensor **x, int64_t m, int64_t n);
lz_status lz_v_fold(const lz_vjp *v, const lz_func *f, lz_tensor *const *init, lz_tensor **x,
                    int64_t m, int64_t n);
#endif
