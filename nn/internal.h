/* internal.h - the two things nn/ needs from below the public interface: the error record and the heap. */
#ifndef LZ_NN_INTERNAL_H
#define LZ_NN_INTERNAL_H
#include "base/alloc.h"
#include "base/status.h"

/* Records the error as one of `op`, called at `site` (NULL: unknown), and gives the status back. */
static inline lz_status lz_nn_annotated(lz_status s, const char *op, const lz_site *site)
{
    lz_error_annotate(op, site);
    return s;
}
#define LZ_NN_FAIL(status, op, site, ...)                                                          \
    lz_nn_annotated(LZ_FAIL((status), __VA_ARGS__), (op), (site))
/* "[2, 3]" in text, which has room for 160 bytes. */
const char *lz_nn_shape_text(const lz_shape *s, char *text);
#endif
