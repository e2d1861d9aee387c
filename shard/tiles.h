/* tiles.h - a tensor's elements between a whole array and the arrays of the partitions. Threads:
 * pure functions. */
#ifndef LZ_SHARD_TILES_H
#define LZ_SHARD_TILES_H
#include "ir/sharding/sharding.h"

/* Copies the part of a partition out of the whole array; what is behind the end of the tensor is
 * zeros. Along unreduced axes the first partition has it, and the others the reduction's identity.
 * part: of lz_sharding_local's type. Errors: LZ_EUNSUPPORTED (there is no identity). */
lz_status lz_tile_cut(const lz_sharding *s, const lz_type *whole_type, int64_t partition,
                      const void *whole, void *part);
/* Copies a partition's part into the whole array, or, where that has the first part of a reduction
 * already, reduces it into that: partitions are taken in ascending order, but those that are
 * copies. Errors: LZ_EUNSUPPORTED (a reduction that the dtype has not). */
lz_status lz_tile_join(const lz_sharding *s, const lz_type *whole_type, int64_t partition,
                       const void *part, void *whole);
/* Where a partition's part begins in a tensor of this shape, and how many elements of the tensor
 * are in it. */
void lz_tile_box(const lz_sharding *s, const lz_shape *whole, int64_t partition, int64_t *offset,
                 int64_t *extent);
/* Copies those elements from a part to an array that has nothing else, or back; padding gets
 * zeros. */
void lz_tile_pack(const lz_sharding *s, const lz_type *whole_type, int64_t partition,
                  const void *part, void *dense);
void lz_tile_unpack(const lz_sharding *s, const lz_type *whole_type, int64_t partition,
                    const void *dense, void *part);
/* The lowest partition that has the same elements, and the same parts of reductions. */
int64_t lz_tile_first(const lz_sharding *s, int64_t partition);
/* Whether a lower one than this has them. */
bool lz_tile_is_copy(const lz_sharding *s, int64_t partition);
#endif
