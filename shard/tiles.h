/* tiles.h - a tensor's elements between a whole array and the arrays of the partitions. Threads:
 * pure functions. */
#ifndef LZ_SHARD_TILES_H
#define LZ_SHARD_TILES_H
#include "ir/sharding/sharding.h"

/* Copies the part of a partition out of the whole array; what is behind the end of the tensor is
 * zeros. part: of lz_sharding_local's type. */
void lz_tile_cut(const lz_sharding *s, const lz_type *whole_type, int64_t partition,
                 const void *whole, void *part);
/* Copies a partition's part into the whole array. */
void lz_tile_join(const lz_sharding *s, const lz_type *whole_type, int64_t partition,
                  const void *part, void *whole);
/* Whether a lower partition has the same elements. */
bool lz_tile_is_copy(const lz_sharding *s, int64_t partition);
#endif
