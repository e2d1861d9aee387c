/* internal.h - the two things nn/ needs from below the public interface: the error record and the heap. */
#ifndef LZ_NN_INTERNAL_H
#define LZ_NN_INTERNAL_H
#include "base/alloc.h"
#include "base/status.h"

static inline lz_status lz_nn_fail(lz_status s, const char *op, const char *message)
{
    lz_fail(s, __FILE__, "%s", message);
    lz_error_annotate(op, NULL);
    return s;
}
#define lz_nn_realloc lz_realloc
#define lz_nn_free lz_free
#endif
