/* manual.h - a body that every device of a mesh runs on its own parts, and what devices say to each
 * other in it: JAX's shard_map and lax.psum and its kin, PyTorch/XLA's enable_manual_sharding,
 * sdy.manual_computation.
 * Implemented in: autodiff/manual.c, autodiff/axis_collective.c. */
#ifndef LAZULI_MANUAL_H
#define LAZULI_MANUAL_H
#include <lazuli/control.h>
#include <lazuli/spmd.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* out[0..nout-1] of in[0..nin-1]: fn is recorded once, on tensors of the shapes that one device has
 * of the inputs, cut over all axes of the mesh as in_specs say; out_specs say which parts of the
 * results are what it gives. Extents of inputs must divide (LZ_ESHAPE names the input, the
 * dimension and the axes). Along axes that the spec of a result does not name all devices must give
 * the same: one's is taken. Tensors from outside may be used, whole. What control.h says about
 * callbacks holds. Gradients of any order by inputs and tensors from outside, and tangents; where
 * an operation of fn has none they are LZ_EGRAD. Not inside of itself (LZ_EUNSUPPORTED). Errors,
 * beside those of control.h: LZ_ESTATE (not on the virtual device), those of lz_mark_sharding for
 * specs. */
LZ_API lz_status lz_manual_at(lz_body_fn *fn, lz_mesh *mesh, lz_tensor *const *in,
                              const lz_partition_spec *in_specs, int nin,
                              const lz_partition_spec *out_specs, int nout, void *user,
                              lz_tensor **out, const lz_site *site);
#define lz_manual(...) lz_manual_at(__VA_ARGS__, LZ_SITE)

/* ---- inside of it. axes: names of axes of the mesh, as a spec has them, "data" or "data,model"
 * (major to minor): those meet that differ in nothing but their place along these. Errors, as an
 * error tensor: LZ_ESTATE (outside of lz_manual), LZ_EINVAL (naming the axis), LZ_ERANGE (the
 * dimension), LZ_ESHAPE (an extent that the devices do not divide), LZ_EDTYPE, LZ_ENULL, LZ_EMEM,
 * those of operands. All have gradients. ---- */

/* The place of the device along the axes, from 0: i32, rank 0. Source: jax.lax.axis_index. */
LZ_API lz_tensor *lz_axis_index_at(const char *axes, const lz_site *site);
#define lz_axis_index(axes) lz_axis_index_at(axes, LZ_SITE)
/* How many devices there are along the axes; 0 with an error. */
LZ_API int64_t lz_axis_size(const char *axes);
/* x reduced over the devices: "sum", "mul", "min", "max", "and", "or". The gradient of the largest
 * and of the smallest is shared evenly by those that attain it. Source: jax.lax.psum. */
LZ_API lz_tensor *lz_axis_all_reduce_at(const char *reduce_type, lz_tensor *x, const char *axes,
                                        const lz_site *site);
#define lz_axis_all_reduce(...) lz_axis_all_reduce_at(__VA_ARGS__, LZ_SITE)
/* The x of all, joined along dim. Source: jax.lax.all_gather, tiled. */
LZ_API lz_tensor *lz_axis_all_gather_at(lz_tensor *x, int64_t dim, const char *axes,
                                        const lz_site *site);
#define lz_axis_all_gather(...) lz_axis_all_gather_at(__VA_ARGS__, LZ_SITE)
/* lz_axis_all_reduce, of which each device gets its part along dim. Source: jax.lax.psum_scatter,
 * tiled. */
LZ_API lz_tensor *lz_axis_reduce_scatter_at(const char *reduce_type, lz_tensor *x, int64_t dim,
                                            const char *axes, const lz_site *site);
#define lz_axis_reduce_scatter(...) lz_axis_reduce_scatter_at(__VA_ARGS__, LZ_SITE)
/* x split along split_dim, part k to place k; what arrives joined along concat_dim. Source:
 * jax.lax.all_to_all, tiled. */
LZ_API lz_tensor *lz_axis_all_to_all_at(lz_tensor *x, int64_t split_dim, int64_t concat_dim,
                                        const char *axes, const lz_site *site);
#define lz_axis_all_to_all(...) lz_axis_all_to_all_at(__VA_ARGS__, LZ_SITE)
/* npairs pairs of places, source and target, each source and each target once: the x of the source;
 * zeros without one. Source: jax.lax.ppermute. */
LZ_API lz_tensor *lz_axis_permute_at(lz_tensor *x, const char *axes, const int64_t *pairs,
                                     int64_t npairs, const lz_site *site);
#define lz_axis_permute(...) lz_axis_permute_at(__VA_ARGS__, LZ_SITE)
/* The x of the device at place `root`: a sum of it and zeros. Source: jax.lax.pbroadcast. */
LZ_API lz_tensor *lz_axis_broadcast_at(lz_tensor *x, const char *axes, int64_t root,
                                       const lz_site *site);
#define lz_axis_broadcast(...) lz_axis_broadcast_at(__VA_ARGS__, LZ_SITE)
LZ_EXTERN_C_END
#endif
