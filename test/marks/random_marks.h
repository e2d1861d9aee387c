/* random_marks.h - random marks in a function: whatever they say, it computes the same. Threads:
 * functions are pure. */
#ifndef LZ_TEST_RANDOM_MARKS_H
#define LZ_TEST_RANDOM_MARKS_H
#include "ir/module.h"
#include "ir/sharding/sharding.h"

/* f with marks of some of its values, in the regions of its loops and branches too. What is marked,
 * and how, depends on the seed and on the operations and types of f, not on marks that it has,
 * which stay. NULL with the error recorded. */
lz_func *lz_test_mark_at_random(const lz_func *f, const lz_mesh *mesh, uint64_t seed);
/* A mesh of n devices, with one axis or several, in any order. NULL with the error recorded. */
const lz_mesh *lz_test_mesh_at_random(int64_t n, uint64_t seed);
#endif
