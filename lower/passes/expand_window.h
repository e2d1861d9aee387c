/* expand_window.h - between the files of pass `expand_windows`. Threads: thread-compatible. */
#ifndef LZ_LOWER_PASSES_EXPAND_WINDOW_H
#define LZ_LOWER_PASSES_EXPAND_WINDOW_H
#include "ir/window.h"
#include "lower/passes/reduce_order.h"
#include "lower/passes/rewrite.h"

#define LZ_RECORD(a) ((const lz_attr *)(const void *)&(a))

/* Each gives what instruction i becomes, or LZ_NOVAL with rw->out->status set. `out` of
 * reduce_window: a value per result. */
void lz_windows_reduce(lz_rw *rw, uint32_t i, bool scans, lz_val *out);
lz_val lz_windows_select(lz_rw *rw, uint32_t i, bool scans);
lz_val lz_windows_conv(lz_rw *rw, uint32_t i);

/* n values x of one shape reduced over windows w (one per dimension): the general way. init:
 * scalars. Windows that find no room in the rank are combined element by element before. */
void lz_windows_fold(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init,
                     const lz_window_axis *w, const lz_func *body, lz_val *out);
/* The same, of a region whose order is known. */
void lz_windows_fold_as(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init,
                        const lz_window_axis *w, const lz_func *body, const lz_reduce_order *order,
                        lz_val *out);
/* Neighbouring dimensions that windows do not touch become one: room for those that count a
 * window's elements. */
void lz_windows_merge(const lz_shape *s, const lz_window_axis *w, lz_shape *to, lz_window_axis *tw);
/* expand_window_scan.c: prefixes (or suffixes) of dimension d of n values. scans: the code
 * generator has prefix scans; else init is the identity of body. */
void lz_windows_scan(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init, int d,
                     bool suffix, const lz_func *body, bool scans, lz_val *out);
/* expand_window_long.c: whether windows share so many elements that reducing each by itself is much
 * more work than there are elements; and those as lz_windows_fold, dimension by dimension. The
 * region is scalar work. False: there are too many values for it, nothing has been done. */
bool lz_windows_are_long(const lz_window_axis *w, int rank);
bool lz_windows_slide(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init,
                      const lz_window_axis *w, const lz_func *body, bool scans, lz_val *out);
bool lz_windows_all_scalar(const lz_func *region);
/* expand_reduce_order.c: n values x reduced over dims, in the order of their elements; init:
 * scalars, which come first. */
void lz_windows_in_order(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init,
                         const lz_ints *dims, const lz_func *body, bool associates, lz_val *out);
/* Whether the instruction is a reduction whose region does not commute, and what that is; and such
 * a one, with a value per result. */
bool lz_windows_wants_order(const lz_inst *in, lz_reduce_order *order, lz_status *status);
void lz_windows_order_reduce(lz_rw *rw, uint32_t i, const lz_reduce_order *order, lz_val *out);

/* x dilated and padded with `value` for windows w, to exactly the extent that `count[d]` windows
 * take; then a view of them: the windows counted in the dimensions they had, their elements in new
 * dimensions at the end, for sizes above 1 in order. */
lz_val lz_windows_pad(lz_func *f, lz_val x, lz_val value, const lz_window_axis *w,
                      const int64_t *count);
lz_val lz_windows_view(lz_func *f, lz_val x, const lz_window_axis *w, const int64_t *count);
/* A scalar region applied to arrays of one shape, element by element; LZ_EUNSUPPORTED naming an op
 * that is not scalar work. */
bool lz_windows_inline(lz_func *f, const lz_func *region, const lz_val *args, const lz_shape *s,
                       lz_val *out);
lz_val lz_windows_spread(lz_func *f, lz_val scalar, const lz_shape *s);
lz_val lz_windows_slice(lz_func *f, lz_val x, int d, int64_t start, int64_t limit, int64_t stride);
/* x of shape [outer, n, inner] with `low` values before and `high` after, along n. */
lz_val lz_windows_extend(lz_func *f, lz_val x, lz_val value, int64_t low, int64_t high);
#endif
