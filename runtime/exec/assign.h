/* assign.h - updates of several tensors in place, of which a failure makes none: what a load, an
 * average or a scaler changes together is never changed in part.
 * Threads: as lz_assign. */
#ifndef LZ_RUNTIME_EXEC_ASSIGN_H
#define LZ_RUNTIME_EXEC_ASSIGN_H
#include "base/vec.h"
#include <lazuli/tensor.h>

typedef struct lz_assignment {
    lz_tensor *dst, *value; /* lent */
} lz_assignment;
typedef LZ_VEC(lz_assignment) lz_assignments; /* zero-initialise to create */

/* Notes that dst is to become value. LZ_EMEM. */
lz_status lz_assignments_add(lz_assignments *l, lz_tensor *dst, lz_tensor *value);
/* Makes them in their order, as lz_assign. Gives its first error; then nothing was assigned. */
lz_status lz_assign_all(const lz_assignments *l, const lz_site *site);
/* The same unless s is an error, which it gives back. Frees the list. */
lz_status lz_assignments_end(lz_assignments *l, lz_status s, const lz_site *site);

/* From now on what is assigned to dst is placed as src is marked (lz_mark_sharding), if it is, and
 * has the same shape: state that follows its parameter. */
void lz_follow_sharding(lz_tensor *dst, lz_tensor *src);
/* Whether the tensor is marked, also as whole everywhere. */
bool lz_is_marked(lz_tensor *x);
/* x, placed so; x itself where src has no mark. */
lz_tensor *lz_marked_like(lz_tensor *x, lz_tensor *src, const lz_site *site);
#endif
