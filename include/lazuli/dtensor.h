/* dtensor.h - tensors on a mesh by placements, one for each axis of the mesh: DTensor's words
 * (torch.distributed.tensor), and the parts that devices have of a tensor. A tensor's shape and
 * value are always those of the whole; a placement says which part of it each device keeps.
 * Errors of all that give a tensor, as an error tensor: LZ_ENULL, LZ_ESTATE (not on the virtual
 * device, see spmd.h), LZ_EINVAL (as many placements as the mesh has axes, a dimension that the
 * tensor has not), LZ_EDTYPE (a reduction that the dtype has not), LZ_EMEM; an operand that is an
 * error tensor is returned.
 * Implemented in: runtime/spmd/dtensor.c, runtime/spmd/local_shards.c. */
#ifndef LAZULI_DTENSOR_H
#define LAZULI_DTENSOR_H
#include <lazuli/spmd.h>
LZ_EXTERN_C_BEGIN

/* ---- placements ---- */

typedef enum lz_placement_kind {
    LZ_PLACEMENT_REPLICATE = 0,
    LZ_PLACEMENT_SHARD,
    LZ_PLACEMENT_PARTIAL
} lz_placement_kind;
/* What one axis of a mesh does to a tensor. */
typedef struct lz_placement {
    lz_placement_kind kind;
    int32_t dim;    /* of SHARD; from the end when negative */
    const char *op; /* of PARTIAL */
} lz_placement;
/* All devices along the axis have the same. */
static inline lz_placement lz_replicate(void)
{
    lz_placement p = {LZ_PLACEMENT_REPLICATE, 0, 0};
    return p;
}
/* Dimension dim is cut along the axis, into tiles of ceil(extent / devices): the last ones are
 * shorter, or empty. Of several axes on one dimension the first is the major one; the tiles are
 * those of all their devices together. */
static inline lz_placement lz_shard(int dim)
{
    lz_placement p = {LZ_PLACEMENT_SHARD, dim, 0};
    return p;
}
/* lz_partial(op): the tensor is the reduction of what the devices along the axis have, which is
 * still to be formed: op is "sum" (also NULL), "product", "max", "min", "and" or "or", the same for
 * all axes. */
static inline lz_placement lz_placement_partial(const char *op)
{
    lz_placement p = {LZ_PLACEMENT_PARTIAL, 0, op};
    return p;
}
#define lz_partial(op) lz_placement_partial(op)
enum { LZ_MAX_MESH_AXES = 16 }; /* of a mesh whose axes are placed so */
/* One of each axis of a mesh, in its order. */
typedef struct lz_placements {
    int32_t n;
    lz_placement of[LZ_MAX_MESH_AXES];
} lz_placements;
static inline lz_placements lz_placements_make(int n, const lz_placement *of)
{
    lz_placements p;
    p.n = n;
    for (int i = 0; i < LZ_MAX_MESH_AXES; i++)
        p.of[i] = of && i < n ? of[i] : lz_replicate();
    return p;
}
/* LZ_PLACEMENTS(lz_shard(0), lz_replicate()): on a mesh of two axes. */
#ifdef __cplusplus
#define LZ_PLACEMENTS(...) (lz_placements_of(__VA_ARGS__))
#else
#define LZ_PLACEMENTS(...)                                                                         \
    (lz_placements_make((int)(sizeof((const lz_placement[]){__VA_ARGS__}) / sizeof(lz_placement)), \
                        (const lz_placement[]){__VA_ARGS__}))
#endif

/* ---- placing ---- */

/* A tensor of x's value, placed so, and so is whatever lz_assign gives it later (lz_mark_sharding).
 * If x requires a gradient (lz_requires_grad), so does the result, a leaf of its own; no gradient
 * flows to x then. Source: torch.distributed.tensor.distribute_tensor. */
LZ_API lz_tensor *lz_distribute_tensor_at(lz_tensor *x, lz_mesh *mesh, lz_placements placements,
                                          const lz_site *site);
#define lz_distribute_tensor(...) lz_distribute_tensor_at(__VA_ARGS__, LZ_SITE)
/* x placed so, an operation: the same value. What it sends is what the two placements need: Partial
 * to Shard a reduce_scatter, Partial to Replicate an all_reduce, Shard to Replicate an all_gather,
 * Shard to another Shard an all_to_all, anything from Replicate nothing. The gradient has the same
 * placement, with Replicate for Partial. Source: torch.distributed.tensor.DTensor.redistribute. */
LZ_API lz_tensor *lz_redistribute_at(lz_tensor *x, lz_mesh *mesh, lz_placements placements,
                                     const lz_site *site);
#define lz_redistribute(...) lz_redistribute_at(__VA_ARGS__, LZ_SITE)
/* x, whole on every device of whatever mesh. The gradient is, too. Source: DTensor.full_tensor. */
LZ_API lz_tensor *lz_full_tensor_at(lz_tensor *x, const lz_site *site);
#define lz_full_tensor(x) lz_full_tensor_at(x, LZ_SITE)

/* ---- parts ---- */

/* The part of a tensor that one device has. */
typedef struct lz_local_shard {
    int64_t device;     /* its number, of the platform */
    int64_t replica_id; /* 0: no device before it has the same part; 1: one has; .. */
    bool partial;       /* one of several that are to be reduced */
    int32_t rank;
    int64_t offset[LZ_MAX_RANK], extent[LZ_MAX_RANK]; /* in the whole; without padding */
} lz_local_shard;
/* Which part a device has of a tensor of this shape, placed so. LZ_ENULL, LZ_EINVAL, LZ_ERANGE (the
 * device). Source: compute_local_shape_and_global_offset. */
LZ_API lz_status lz_local_shard_of(lz_shape shape, lz_mesh *mesh, lz_placements placements,
                                   int64_t device, lz_local_shard *out);
/* The parts of x, which is computed first: copies those of the first n devices of this process, and
 * gives the number of its devices; -1 with LZ_ENULL, LZ_ESTATE, those of x. Host data that no
 * program has used yet is whole on every device. Source: XLAShardedTensor.local_shards. */
LZ_API int64_t lz_local_shards_at(lz_tensor *x, lz_local_shard *out, int64_t n,
                                  const lz_site *site);
#define lz_local_shards(...) lz_local_shards_at(__VA_ARGS__, LZ_SITE)
/* Copies the part of one device to the host, densely. LZ_ENULL, LZ_ESTATE, LZ_ERANGE (the device;
 * the part has more than nbytes), those of x. Source: DTensor.to_local. */
LZ_MUST_USE LZ_API lz_status lz_local_to_host_at(lz_tensor *x, int64_t device, void *dst,
                                                 size_t nbytes, const lz_site *site);
#define lz_local_to_host(...) lz_local_to_host_at(__VA_ARGS__, LZ_SITE)
/* The tensor whose parts are given: shards[d] are the elements of device d's, densely, as
 * lz_local_shard_of says; NULL for one that has none, and for those of other processes. Of devices
 * that have the same part the first one's is taken, and the others' may be NULL. Each device gets
 * its part only. The tensor keeps the placement as that of lz_distribute_tensor does. LZ_ENULL
 * names the device. Source: DTensor.from_local. */
LZ_API lz_tensor *lz_from_local_at(lz_dtype dtype, lz_shape shape, lz_mesh *mesh,
                                   lz_placements placements, const void *const *shards,
                                   const lz_site *site);
#define lz_from_local(...) lz_from_local_at(__VA_ARGS__, LZ_SITE)
/* Assigns to x, which is placed (LZ_ESTATE), the tensor whose parts are given, in x's placement:
 * as of lz_from_local. Source: XLAShardedTensor.load_local_shards_. */
LZ_MUST_USE LZ_API lz_status lz_load_local_shards_at(lz_tensor *x, const void *const *shards,
                                                     const lz_site *site);
#define lz_load_local_shards(...) lz_load_local_shards_at(__VA_ARGS__, LZ_SITE)
LZ_EXTERN_C_END

#ifdef __cplusplus
template <class... T> inline lz_placements lz_placements_of(T... of)
{
    const lz_placement all[] = {of...};
    return lz_placements_make(static_cast<int>(sizeof...(of)), all);
}
#endif
#endif
