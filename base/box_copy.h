/* box_copy.h - boxes of row-major arrays: which elements two have in common, and copies of them.
 * Callers have checked that boxes are within their arrays and that sizes fit.
 * Threads: pure functions. */
#ifndef LZ_BASE_BOX_COPY_H
#define LZ_BASE_BOX_COPY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LZ_BOX_RANK = 16 };
typedef struct lz_box {
    int32_t rank;
    int64_t offset[LZ_BOX_RANK], extent[LZ_BOX_RANK];
} lz_box;
/* Elements of the box: a scalar's is 1. */
int64_t lz_box_volume(const lz_box *b);
bool lz_box_equal(const lz_box *a, const lz_box *b);
/* What both have; false: nothing. */
bool lz_box_common(const lz_box *a, const lz_box *b, lz_box *out);
/* Copies the elements of `what`, which is within both: from an array that is dense in `in`, to one
 * that is dense in `out`. */
void lz_box_copy(const lz_box *what, size_t element, const lz_box *in, const void *from,
                 const lz_box *out, void *to);
/* Bytes of the array that is dense in `in`, from its beginning, between which all of `what` is. */
void lz_box_span(const lz_box *what, size_t element, const lz_box *in, size_t *begin, size_t *end);
#endif
