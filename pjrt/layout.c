/* layout.c - arrays in host memory with strides of any sign, or with another order of dimensions:
 * what NumPy's transposes and views are. Threads: pure. */
#include "base/alloc.h"
#include "pjrt/plugin.h"
#include <string.h>

void lz_pjrt_row_major(const lz_type *t, int64_t stride[LZ_MAX_RANK])
{
    int64_t n = (int64_t)lz_dtype_size(t->dtype);
    for (int d = t->shape.rank; d-- > 0;) {
        stride[d] = n;
        n *= t->shape.dims[d] > 0 ? t->shape.dims[d] : 1;
    }
}

/* Dimensions from the one that varies fastest; each occurs once. */
static lz_status from_order(const int64_t *minor_to_major, size_t n, const lz_type *t,
                            int64_t stride[LZ_MAX_RANK])
{
    bool seen[LZ_MAX_RANK] = {false};
    int64_t at = (int64_t)lz_dtype_size(t->dtype);
    if (n != (size_t)t->shape.rank)
        return LZ_FAIL(LZ_EINVAL, "a layout of %zu dimensions for an array of %d", n,
                       t->shape.rank);
    for (size_t i = 0; i < n; i++) {
        int64_t d = minor_to_major[i];
        if (d < 0 || d >= t->shape.rank || seen[d])
            return LZ_FAIL(LZ_EINVAL, "a layout names dimension %lld, or names it twice",
                           (long long)d);
        seen[d] = true;
        stride[d] = at;
        at *= t->shape.dims[d] > 0 ? t->shape.dims[d] : 1;
    }
    return LZ_OK;
}

lz_status lz_pjrt_strides(const PJRT_Buffer_MemoryLayout *l, const lz_type *t,
                          int64_t stride[LZ_MAX_RANK])
{
    lz_pjrt_row_major(t, stride);
    if (!l)
        return LZ_OK;
    if (l->type == PJRT_LAYOUT_STRIDES) {
        bool none = !l->strides.byte_strides && t->shape.rank;
        if (none || l->strides.num_byte_strides != (size_t)t->shape.rank)
            return LZ_FAIL(LZ_EINVAL, "%zu strides for an array of %d dimensions",
                           none ? 0 : l->strides.num_byte_strides, t->shape.rank);
        memcpy(stride, l->strides.byte_strides, (size_t)t->shape.rank * sizeof *stride);
        return LZ_OK;
    }
    if (l->type != PJRT_LAYOUT_TILED || l->tiled.num_tiles > 0)
        return LZ_FAIL(LZ_EUNSUPPORTED, "layouts in tiles are not implemented");
    return l->tiled.minor_to_major
               ? from_order(l->tiled.minor_to_major, l->tiled.minor_to_major_size, t, stride)
               : LZ_OK;
}

bool lz_pjrt_fits(const lz_type *t, const int64_t *stride, size_t nbytes)
{
    size_t end = lz_dtype_size(t->dtype), reach;
    if (t->nelem == 0)
        return true;
    for (int d = 0; d < t->shape.rank; d++)
        if (t->shape.dims[d] > 1 &&
            (stride[d] < 0 ||
             !lz_mul_size((size_t)stride[d], (size_t)t->shape.dims[d] - 1, &reach) ||
             !lz_add_size(end, reach, &end)))
            return false;
    return end <= nbytes;
}

bool lz_pjrt_is_dense(const lz_type *t, const int64_t *stride)
{
    int64_t want[LZ_MAX_RANK];
    lz_pjrt_row_major(t, want);
    for (int d = 0; d < t->shape.rank; d++)
        if (t->shape.dims[d] > 1 && stride[d] != want[d])
            return false;
    return true;
}

/* ---- copies ---- */

typedef struct walk {
    int rank;
    int64_t extent[LZ_MAX_RANK], dst[LZ_MAX_RANK], src[LZ_MAX_RANK];
    size_t size; /* of an element */
} walk;

static void copy_row(const walk *w, char *dst, const char *src)
{
    int d = w->rank - 1;
    int64_t n = w->extent[d], to = w->dst[d], from = w->src[d];
    switch (w->size) {
#define ROW(type)                                                                                  \
    for (int64_t i = 0; i < n; i++) {                                                              \
        type v;                                                                                    \
        memcpy(&v, src + i * from, sizeof v);                                                      \
        memcpy(dst + i * to, &v, sizeof v);                                                        \
    }                                                                                              \
    break
    case 1:
        ROW(uint8_t);
    case 2:
        ROW(uint16_t);
    case 4:
        ROW(uint32_t);
    case 8:
        ROW(uint64_t);
#undef ROW
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(dst + i * to, src + i * from, w->size);
    }
}

/* Dimensions of extent 1 say nothing; two that lie behind each other on both sides are one. The
 * innermost loop is over the smallest of the strides that are read, written dense or not. */
static void plan(const lz_type *t, const int64_t *dst, const int64_t *src, walk *w)
{
    w->rank = 0;
    w->size = lz_dtype_size(t->dtype);
    for (int d = 0; d < t->shape.rank; d++) {
        int64_t n = t->shape.dims[d];
        int k = w->rank - 1;
        if (n == 1)
            continue;
        if (k >= 0 && w->dst[k] == dst[d] * n && w->src[k] == src[d] * n) {
            w->extent[k] *= n;
            w->dst[k] = dst[d];
            w->src[k] = src[d];
            continue;
        }
        w->extent[w->rank] = n;
        w->dst[w->rank] = dst[d];
        w->src[w->rank++] = src[d];
    }
    if (w->rank == 0) {
        w->rank = 1;
        w->extent[0] = 1;
        w->dst[0] = w->src[0] = (int64_t)w->size;
    }
}

void lz_pjrt_copy_strided(const lz_type *t, void *dst, const int64_t *dst_stride, const void *src,
                          const int64_t *src_stride)
{
    walk w;
    int64_t at[LZ_MAX_RANK] = {0};
    if (t->nelem == 0)
        return;
    plan(t, dst_stride, src_stride, &w);
    int last = w.rank - 1;
    if (last == 0 && w.dst[0] == (int64_t)w.size && w.src[0] == (int64_t)w.size) {
        memcpy(dst, src, (size_t)w.extent[0] * w.size);
        return;
    }
    char *to = dst;
    const char *from = src;
    for (;;) {
        copy_row(&w, to, from);
        int d = last - 1;
        for (; d >= 0; d--) {
            to += w.dst[d];
            from += w.src[d];
            if (++at[d] < w.extent[d])
                break;
            to -= w.dst[d] * w.extent[d];
            from -= w.src[d] * w.extent[d];
            at[d] = 0;
        }
        if (d < 0)
            return;
    }
}
