/* manual_axes.h - between lz_manual and the collectives in its body: over which mesh the calling
 * thread is recording one. Threads: of each thread its own. */
#ifndef LZ_AUTODIFF_MANUAL_AXES_H
#define LZ_AUTODIFF_MANUAL_AXES_H
#include "ir/sharding/sharding.h"
#include <lazuli/tensor.h>

/* NULL: the thread records no body. */
extern _Thread_local const lz_mesh *lz_manual_mesh;
/* The sum of x over the devices along some factors of the mesh. */
lz_tensor *lz_manual_sum(const lz_mesh *mesh, uint32_t factors, lz_tensor *x, const lz_site *site);
#endif
