/* reshard.h - from one placement of a value to another. A plan is made first, a list of steps, so
 * that what it costs can be asked without building anything.
 * Steps: axes that are wanted and free are sliced (no communication) first, then partial sums are
 * formed, then axes change places (one permute, or all_to_all), then those that are not wanted are
 * gathered: each step before makes the next ones smaller. (Factors of a mesh are called axes.)
 * Tiles of a dimension that the devices do not divide may not nest: [x] to [x, y] then is no local
 * slice. Such dimensions are gathered whole and cut anew.
 * Threads: pure functions; building is thread-compatible. */
#ifndef LZ_SHARD_RESHARD_H
#define LZ_SHARD_RESHARD_H
#include "shard/local.h"

typedef enum lz_reshard_kind {
    LZ_RESHARD_SLICE,          /* dimensions get more axes at their ends; local */
    LZ_RESHARD_ALL_REDUCE,     /* `axes` are not unreduced any more */
    LZ_RESHARD_REDUCE_SCATTER, /* the same, and dimensions get them at their ends */
    LZ_RESHARD_PERMUTE,        /* other axes, the same number of tiles */
    LZ_RESHARD_ALL_TO_ALL,     /* `axes` go from the end of `dim` to that of `to_dim` */
    LZ_RESHARD_ALL_GATHER,     /* dimensions lose axes at their ends */
    LZ_RESHARD_UNREDUCE        /* becomes a part of a reduction along `axes`; local */
} lz_reshard_kind;

typedef struct lz_reshard_step {
    lz_reshard_kind kind;
    int dim, to_dim;
    uint32_t axes;        /* of sums */
    lz_sharding from, to; /* placements before and after */
} lz_reshard_step;

enum {
    LZ_RESHARD_LAUNCH = 200, /* a launch costs as much as so many bytes: small ones, at least */
    LZ_RESHARD_STEPS = 24
};
typedef struct lz_reshard {
    const lz_type *type; /* global */
    int n;
    lz_reshard_step step[LZ_RESHARD_STEPS];
} lz_reshard;

/* Both placements are of one mesh and of the type's rank. Always finds a way. */
void lz_reshard_plan(const lz_type *type, const lz_sharding *from, const lz_sharding *to,
                     lz_reshard *out);
/* Bytes that a device sends, as the issue of collectives counts them: ring and pairwise. */
double lz_reshard_step_bytes(const lz_type *type, const lz_reshard_step *s);
/* The same of the whole way, and a little for each launch. */
double lz_reshard_cost(const lz_type *type, const lz_sharding *from, const lz_sharding *to);
/* The local value v at `from` made one at `to`. */
lz_val lz_reshard_build(const lz_local *l, lz_val v, const lz_type *type, const lz_sharding *from,
                        const lz_sharding *to);
#endif
