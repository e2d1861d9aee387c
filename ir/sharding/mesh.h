/* mesh.h - a mesh: devices in a grid whose dimensions, the axes, have names.
 * Inside, a mesh is a list of factors: its axes cut into prime numbers, major to minor. Whatever
 * uses a part of an axis (a sub-axis of Shardy) uses some of its factors, so sets of axes are bit
 * masks, and two uses overlap or do not, never in parts.
 * A partition is a position in the grid, row-major, which is also the number that partition_id
 * gives; device_ids says which device is there.
 * Threads: interned for the life of the process, immutable: pointer equality is equality. */
#ifndef LZ_IR_SHARDING_MESH_H
#define LZ_IR_SHARDING_MESH_H
#include "base/vec.h"
#include "ir/intern.h"
#include <lazuli/types.h>

enum {
    LZ_MESH_FACTORS = 20,                  /* at most: masks are uint32_t */
    LZ_MESH_DEVICES = 1 << LZ_MESH_FACTORS /* at most */
};

typedef struct lz_mesh_axis {
    const char *name; /* interned */
    int64_t size;     /* at least 1 */
} lz_mesh_axis;

/* Factor k of axis `axis`: the axis of n seen as [pre, size, n / (pre size)], the middle one. */
typedef struct lz_mesh_factor {
    int32_t axis;
    int64_t pre, size;
    int64_t stride; /* of a step along it, in partitions */
} lz_mesh_factor;

typedef struct lz_mesh {
    lz_intern_node node;
    int32_t naxis, nfactor;
    int64_t ndevice; /* the product of the sizes; 1 without axes */
    const lz_mesh_axis *axes;
    lz_mesh_factor factors[LZ_MESH_FACTORS];
    const int64_t *device_ids; /* of each partition; NULL: its own number */
} lz_mesh;

/* The interned mesh. device_ids: ndevice numbers, each of 0 to ndevice - 1 once, or NULL; those in
 * order are the same as NULL. Names are copied.
 * Errors: LZ_EINVAL naming the axis (a size below 1, a name twice or empty) or the device (out of
 * range, twice); LZ_ERANGE (too many devices); LZ_EMEM. */
const lz_mesh *lz_mesh_get(const lz_mesh_axis *axes, int naxis, const int64_t *device_ids);
/* Whether the axes are of the same factors in the same order: an axis of one is an axis of the
 * other, or a part, or several, and partitions have the same numbers. Names and devices may differ.
 */
bool lz_mesh_same_factors(const lz_mesh *a, const lz_mesh *b);
/* The prime factors of n, at most LZ_MESH_DEVICES, in ascending order: their number. */
int lz_mesh_primes(int64_t n, int64_t *out);
/* Number of the axis of that name; -1: none. */
int lz_mesh_axis_find(const lz_mesh *m, const char *name, size_t n);
/* All factors. */
static inline uint32_t lz_mesh_all(const lz_mesh *m)
{
    return (uint32_t)((UINT64_C(1) << m->nfactor) - 1);
}
/* The product of the sizes of some factors. */
int64_t lz_mesh_mask_size(const lz_mesh *m, uint32_t factors);
/* The coordinate of a partition along factor k. */
static inline int64_t lz_mesh_coordinate(const lz_mesh *m, int64_t partition, int k)
{
    return partition / m->factors[k].stride % m->factors[k].size;
}
/* <["x"=2, "y"=4]>, with device_ids behind it where they are not in order: as sdy.mesh has it. */
void lz_mesh_print(lz_buf *b, const lz_mesh *m);
#endif
