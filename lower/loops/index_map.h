/* index_map.h - index maps: the position in a value that an iteration of a loop nest accesses, as
 * one affine expression per dimension. An expression is a constant, a multiple of each loop index,
 * and multiples of a few i64 scalar ops (computed indices). The rule of a movement op maps the
 * index map of its result to that of its operand, and emits no code.
 * Units: elements. Threads: pure functions. */
#ifndef LZ_LOWER_LOOPS_INDEX_MAP_H
#define LZ_LOWER_LOOPS_INDEX_MAP_H
#include "lower/loops/loop.h"

enum { LZ_IX_DYN = LZ_DYN_MAX };

typedef struct lz_ix {
    int64_t c;
    int64_t k[LZ_LOOP_MAX]; /* by loop */
    int32_t ndyn;
    struct {
        int32_t sop;
        int64_t scale;
    } dyn[LZ_IX_DYN];
} lz_ix;

typedef struct lz_ixmap {
    int32_t rank;
    lz_ix d[LZ_MAX_RANK];
} lz_ixmap;

typedef struct lz_axes { /* the loops a map speaks of */
    uint32_t n;
    int64_t ext[LZ_LOOP_MAX];
} lz_axes;

/* a += scale * b. False when there is no room for its computed indices. */
bool lz_ix_add(lz_ix *a, const lz_ix *b, int64_t scale);
bool lz_ix_eq(const lz_ix *a, const lz_ix *b, uint32_t nloop);
bool lz_ixmap_eq(const lz_ixmap *a, const lz_ixmap *b, uint32_t nloop);
lz_hash lz_ixmap_hash(const lz_ixmap *m, uint32_t nloop, uint64_t seed);
bool lz_ixmap_has_dyn(const lz_ixmap *m);

/* the dimensions there are; the others become 0 */
void lz_ixmap_copy(lz_ixmap *to, const lz_ixmap *from);
/* Of a map that has memory for the dimensions there are alone. */
static inline size_t lz_ixmap_bytes(const lz_ixmap *m)
{
    return offsetof(lz_ixmap, d) + (size_t)m->rank * sizeof m->d[0];
}

/* Operand maps from result maps. */
void lz_ixmap_broadcast(const lz_ixmap *m, const lz_attr_broadcast *a, const lz_shape *operand,
                        lz_ixmap *out);
void lz_ixmap_transpose(const lz_ixmap *m, const lz_attr_perm *a, lz_ixmap *out);
void lz_ixmap_slice(const lz_ixmap *m, const lz_attr_slice *a, lz_ixmap *out);
void lz_ixmap_reverse(const lz_ixmap *m, const lz_attr_dims *a, const lz_shape *s, lz_ixmap *out);

void lz_ixmap_window_view(const lz_ixmap *m, const lz_attr_window_view *a, lz_ixmap *out);

/* Element address of m in a row-major array of shape s. False when there is no room for the
 * computed indices. */
bool lz_ixmap_flat(const lz_ixmap *m, const lz_shape *s, lz_ix *out);

/* The indices in an array of shape s of the element at row-major position `flat`. When the loops do
 * not split along the dimensions: false, and *loop says which loop would have to be split so that
 * its inner part has extent *inner (UINT32_MAX: no split helps). Shapes without elements give
 * false. */
bool lz_ixmap_unflat(const lz_ix *flat, const lz_axes *ax, const lz_shape *s, lz_ixmap *out,
                     uint32_t *loop, int64_t *inner);

/* The loops that dimension expression `e` counts through, outermost first: its value runs over
 * 0..extent-1 exactly once as they run.
 * Gives their number (0 for extent 1), or -1 when it does not. */
int lz_ix_digits(const lz_ix *e, const lz_axes *ax, int64_t extent, uint8_t loops[LZ_LOOP_MAX]);
#endif
