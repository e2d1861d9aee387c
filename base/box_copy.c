/* box_copy.c - see box_copy.h. */
#include "base/box_copy.h"
#include <string.h>

int64_t lz_box_volume(const lz_box *b)
{
    int64_t n = 1;
    for (int i = 0; i < b->rank; i++)
        n *= b->extent[i];
    return n;
}

bool lz_box_equal(const lz_box *a, const lz_box *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; i < a->rank && same; i++)
        same = a->offset[i] == b->offset[i] && a->extent[i] == b->extent[i];
    return same;
}

bool lz_box_common(const lz_box *a, const lz_box *b, lz_box *out)
{
    out->rank = a->rank;
    for (int i = 0; i < a->rank; i++) {
        int64_t from = a->offset[i] > b->offset[i] ? a->offset[i] : b->offset[i];
        int64_t x = a->offset[i] + a->extent[i], y = b->offset[i] + b->extent[i];
        out->offset[i] = from;
        out->extent[i] = (x < y ? x : y) - from;
        if (out->extent[i] <= 0)
            return false;
    }
    return true;
}

/* Of the element at `index` of the whole. */
static size_t place(const lz_box *in, const int64_t *index)
{
    size_t at = 0;
    for (int i = 0; i < in->rank; i++)
        at = at * (size_t)in->extent[i] + (size_t)(index[i] - in->offset[i]);
    return at;
}

void lz_box_span(const lz_box *what, size_t element, const lz_box *in, size_t *begin, size_t *end)
{
    int64_t last[LZ_BOX_RANK];
    for (int i = 0; i < what->rank; i++)
        last[i] = what->offset[i] + what->extent[i] - 1;
    *begin = place(in, what->offset) * element;
    *end = (place(in, last) + 1) * element;
}

/* Whether rows of dimension d follow each other without a hole: the array has no more than `what`
 * in the dimensions behind. */
static bool whole_rows(const lz_box *what, const lz_box *in, int d)
{
    return what->extent[d] == in->extent[d];
}

/* The first dimension of what is one run of bytes in both. */
static int first_of_run(const lz_box *what, const lz_box *in, const lz_box *out)
{
    int d = what->rank;
    while (d > 0 && (d == what->rank || (whole_rows(what, in, d) && whole_rows(what, out, d))))
        d--;
    return d;
}

void lz_box_copy(const lz_box *what, size_t element, const lz_box *in, const void *from,
                 const lz_box *out, void *to)
{
    int64_t index[LZ_BOX_RANK];
    int run = first_of_run(what, in, out);
    size_t nbytes = element;
    for (int i = 0; i < what->rank; i++) {
        index[i] = what->offset[i];
        nbytes *= i >= run ? (size_t)what->extent[i] : 1;
        if (!what->extent[i])
            return;
    }
    for (int d = 0; d >= 0;) {
        memcpy((char *)to + place(out, index) * element,
               (const char *)from + place(in, index) * element, nbytes);
        for (d = run - 1; d >= 0; d--) { /* the next index */
            if (++index[d] < what->offset[d] + what->extent[d])
                break;
            index[d] = what->offset[d];
        }
    }
}
