/* mark.h - marks of shardings on values and handles. Threads: thread-safe. */
#ifndef LZ_RUNTIME_SPMD_MARK_H
#define LZ_RUNTIME_SPMD_MARK_H
#include "ir/sharding/sharding.h"
#include "runtime/exec/sync.h"
#include "runtime/graph/node.h"
#include <lazuli/dtensor.h>

/* The sharding of a tensor of this type on a mesh, from a public spec: its canonical text. NULL:
 * LZ_EINVAL. */
const char *lz_spec_text(const lz_mesh *mesh, const lz_partition_spec *spec, const lz_type *type);
/* LZ_OK when values of the device may be marked on the mesh. */
lz_status lz_mark_check_device(const lz_dev *d, const lz_mesh *mesh);
/* What is assigned to the handle has the mark. */
lz_status lz_mark_handle(lz_tensor *x, const char *text);
/* The sharding of a tensor of this shape, from public placements (dtensor.c). NULL: LZ_ENULL,
 * LZ_EINVAL, LZ_EMEM. */
const lz_sharding *lz_placements_sharding(const lz_mesh *mesh, const lz_placements *p,
                                          const lz_shape *shape);
/* LZ_EDTYPE where the parts of a reduction cannot be of that dtype. */
lz_status lz_placements_check_dtype(const lz_sharding *s, lz_dtype dtype);
#endif
