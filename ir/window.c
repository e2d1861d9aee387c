/* window.c - geometry of window ops. See window.h. */
#include "ir/window.h"
#include "base/alloc.h"

bool lz_window_reach(int64_t n, int64_t dilation, int64_t *out)
{
    *out = 0;
    return n == 0 || (lz_mul_i64(n - 1, dilation, out) && lz_add_i64(*out, 1, out));
}

bool lz_window_count(const lz_window_axis *w, int64_t extent, int64_t *out)
{
    int64_t padded, reach, room;
    if (!lz_window_reach(extent, w->base, &padded) || !lz_add_i64(padded, w->low, &padded) ||
        !lz_add_i64(padded, w->high, &padded) || !lz_window_reach(w->size, w->dilation, &reach) ||
        !lz_add_i64(padded, -reach, &room))
        return false;
    *out = padded <= 0 || room < 0 ? 0 : room / w->stride + 1;
    return true;
}

lz_window_axis lz_window_of_reduce(const lz_attr_reduce_window *a, int d)
{
    return (lz_window_axis){a->window_dimensions.v[d], a->window_strides.v[d],
                            a->padding_low.v[d],       a->padding_high.v[d],
                            a->base_dilations.v[d],    a->window_dilations.v[d]};
}

lz_window_axis lz_window_of_select(const lz_attr_select_and_scatter *a, int d)
{
    return (lz_window_axis){a->window_dimensions.v[d],
                            a->window_strides.v[d],
                            a->padding_low.v[d],
                            a->padding_high.v[d],
                            1,
                            1};
}

lz_window_axis lz_window_of_conv(const lz_attr_convolution *a, int d, const lz_shape *kernel)
{
    return (lz_window_axis){kernel->dims[a->kernel_spatial_dimensions.v[d]],
                            a->window_strides.v[d],
                            a->padding_low.v[d],
                            a->padding_high.v[d],
                            a->lhs_dilation.v[d],
                            a->rhs_dilation.v[d]};
}

int lz_window_prefixes(const lz_attr_reduce_window *a, const lz_shape *s, bool *suffix)
{
    int at = -1;
    for (int d = 0; d < s->rank; d++) {
        lz_window_axis w = lz_window_of_reduce(a, d);
        int64_t n = s->dims[d];
        if (lz_window_is_plain(&w))
            continue;
        bool all = w.size == n && w.stride == 1 && w.base == 1 && w.dilation == 1;
        bool before = w.low == n - 1 && w.high == 0, after = w.low == 0 && w.high == n - 1;
        if (at >= 0 || !all || !(before || after))
            return -1;
        at = d;
        *suffix = after;
    }
    return at;
}
