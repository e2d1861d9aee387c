/* tiles.h - whole arrays cut into the parts that partitions have, and joined again: the truth of
 * tests of shardings, element by element. Threads: thread-compatible. */
#ifndef LZ_TEST_TILES_H
#define LZ_TEST_TILES_H
#include "ir/sharding/sharding.h"
#include "support/lit.h"

/* What a partition has of the whole. Padding is of bits that no test expects. Along unreduced axes
 * partitions have parts that reduce to the whole. NULL with the error recorded. */
lz_literal *lz_test_tile(const lz_literal *whole, const lz_sharding *s, int64_t partition);
/* The whole from parts[ndevice]; NULL when two partitions that should have the same differ, and msg
 * says where. */
lz_literal *lz_test_join(lz_literal *const *parts, const lz_sharding *s, const lz_type *type,
                         char *msg, size_t nmsg);
/* A random placement of that rank: each axis is in some dimension or in none. uneven: dimensions
 * may have more tiles than divide them. */
const lz_sharding *lz_test_placement(lz_rnd *r, const lz_mesh *mesh, const lz_shape *shape,
                                     bool uneven);
#endif
