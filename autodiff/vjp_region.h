/* vjp_region.h - gradients of operations that apply an arbitrary region: the operation decomposed
 * into operations on whole tensors, which are differentiated. Threads: as rules (vjp.h). */
#ifndef LZ_AUTODIFF_VJP_REGION_H
#define LZ_AUTODIFF_VJP_REGION_H
#include "autodiff/vjp.h"
#include "ir/module.h"
#include "ir/window.h"

/* A decomposition: records the operation's results on v's operands; one left NULL depends on
 * none. */
typedef lz_status lz_v_recipe(const lz_vjp *v, lz_tensor **out);
/* Fills grad_in of every needed operand. */
lz_status lz_v_composed(const lz_vjp *v, lz_v_recipe *recipe);

/* Applies f, which is of scalars, elementwise to tensors of one shape. */
lz_status lz_v_apply(const lz_vjp *v, const lz_func *f, lz_tensor *const *in, lz_tensor **out);
/* x[i], [m, n] each, for every parameter of one side of f: their first dimension combined, in
 * order. lz_v_tree leaves one row of each; lz_v_fold combines init (scalars) and that, [n] each. */
lz_status lz_v_tree(const lz_vjp *v, const lz_func *f, lz_tensor **x, int64_t m, int64_t n);
lz_status lz_v_fold(const lz_vjp *v, const lz_func *f, lz_tensor *const *init, lz_tensor **x,
                    int64_t m, int64_t n);

/* vjp_scatter.c. out[k]: x[k] after the updates u[k], one after the other, of any shape; target
 * (i64): of each the row-major number of its element from 1 on, or 0 for none. */
lz_status lz_v_scatter_in_order(const lz_vjp *v, const lz_func *f, lz_tensor *const *x,
                                lz_tensor *target, lz_tensor *const *u, lz_tensor **out);
/* select_and_scatter as a recipe, whatever its regions. */
lz_status lz_v_select_any(const lz_vjp *v, lz_tensor **out);
/* vjp_window.c. How many elements a window has. */
int64_t lz_v_window_elements(const lz_window_axis *w, int rank);
/* Where in the padded operand element j of window i of `windows` is: [windows *
 * elements] of t, row-major. */
lz_tensor *lz_v_window_places(const lz_vjp *v, const lz_window_axis *w, const lz_shape *windows,
                              const lz_shape *padded, const lz_type *t);
#endif
