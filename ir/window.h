/* window.h - the geometry of windows: reduce_window, select_and_scatter, convolution, one dimension
 * at a time.
 * A dimension is first dilated (base - 1 gaps between its elements), then padded (negative: cut),
 * then walked by windows of `size` elements, `dilation` apart, `stride` between one window and the
 * next.
 * Units: elements. Threads: pure functions. */
#ifndef LZ_IR_WINDOW_H
#define LZ_IR_WINDOW_H
#include "ir/op.h"

typedef struct lz_window_axis {
    int64_t size, stride, low, high, base, dilation;
} lz_window_axis;

/* How far n elements reach that lie `dilation` apart: (n - 1) * dilation + 1, 0 for none. False on
 * overflow. */
bool lz_window_reach(int64_t n, int64_t dilation, int64_t *out);
/* How many windows fit an extent. False on overflow. */
bool lz_window_count(const lz_window_axis *w, int64_t extent, int64_t *out);

/* Which element of the extent, if any, element j of window i is: false in padding and gaps. */
static inline bool lz_window_at(const lz_window_axis *w, int64_t extent, int64_t i, int64_t j,
                                int64_t *at)
{
    /* cut by 2^63 it would be beyond 64 bits, which is outside as what is negative is */
    int64_t p = (int64_t)((uint64_t)(i * w->stride + j * w->dilation) - (uint64_t)w->low);
    *at = w->base == 1 ? p : p / w->base;
    return p >= 0 && (w->base == 1 || p % w->base == 0) && *at < extent;
}

/* Dimension d (of the operand) of a window op; spatial dimension d of a convolution. */
lz_window_axis lz_window_of_reduce(const lz_attr_reduce_window *a, int d);
lz_window_axis lz_window_of_select(const lz_attr_select_and_scatter *a, int d);
lz_window_axis lz_window_of_conv(const lz_attr_convolution *a, int d, const lz_shape *kernel);
/* One element each, all of them, where they are. */
static inline bool lz_window_is_plain(const lz_window_axis *w)
{
    return w->size == 1 && w->stride == 1 && w->low == 0 && w->high == 0 && w->base == 1;
}
/* The dimension whose prefixes, or suffixes, are the windows: window i holds the elements up to, or
 * from, i. -1: they are something else. */
int lz_window_prefixes(const lz_attr_reduce_window *a, const lz_shape *s, bool *suffix);
#endif
