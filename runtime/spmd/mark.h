/* mark.h - marks of shardings on values and handles. Threads: thread-safe. */
#ifndef LZ_RUNTIME_SPMD_MARK_H
#define LZ_RUNTIME_SPMD_MARK_H
#include "ir/sharding/sharding.h"
#include "runtime/graph/node.h"
#include <lazuli/spmd.h>

/* The sharding of a tensor of this type on a mesh, from a public spec: its canonical text. NULL:
 * LZ_EINVAL. */
const char *lz_spec_text(const lz_mesh *mesh, const lz_partition_spec *spec, const lz_type *type);
#endif
