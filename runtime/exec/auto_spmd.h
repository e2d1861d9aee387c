/* auto_spmd.h - whether shardings of what has no mark are searched for, and on which mesh.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_AUTO_SPMD_H
#define LZ_RUNTIME_AUTO_SPMD_H
#include "ir/sharding/mesh.h"
#include "runtime/exec/runtime_device.h"

/* The mesh of the search for programs of the device; *out is NULL where there is none: the device
 * is one, or nobody has asked for it. Errors: LZ_EINVAL (XLA_AUTO_SPMD_MESH), LZ_EMEM. */
lz_status lz_auto_spmd_mesh(const lz_dev *d, const lz_mesh **out);
/* From now on it is searched, on the mesh (NULL: what the environment says, or a row), or not.
 * Errors: as above. */
lz_status lz_auto_spmd_set(const lz_dev *d, bool on, const lz_mesh *mesh);
#endif
