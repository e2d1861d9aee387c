/* loop_impl.h - shared by the files of the loop IR: visiting sizes, dependence masks, attribute
 * records.
 * Threads: as lower/loops/loop.h. */
#ifndef LZ_LOWER_LOOPS_LOOP_IMPL_H
#define LZ_LOWER_LOOPS_LOOP_IMPL_H
#include "base/vec.h"
#include "ir/attr.h"
#include "lower/loops/loop.h"

enum { LZ_RED_MAX = 8 }; /* accumulators of one reduction */

/* What a size is for: decides whether finishing bakes it. */
typedef enum lz_sz_role {
    LZ_SZ_WIDE, /* extent of a loop of vectors, or of a product's rows or columns */
    LZ_SZ_ROWS, /* extent of the last of several loops of a product's rows */
    LZ_SZ_LOOP, /* extent of another loop */
    LZ_SZ_PART, /* extent of another loop of a product: it only counts tiles */
    LZ_SZ_OFFSET,
    LZ_SZ_STRIDE,
    LZ_SZ_VALUE
} lz_sz_role;
/* Calls fn for every size of the kernel in the one order that numbers slots and orders canonical
 * bytes: outer extents; then per stage: inner extents, sizes read by its ops, load accesses, sizes
 * read by combiners, stores. */
typedef lz_status (*lz_sz_fn)(lz_sz *s, lz_sz_role role, void *user);
lz_status lz_kernel_each_size(lz_kernel *k, lz_sz_fn fn, void *user);

/* Fills encoding, nencoding and hash from the kernel as it stands (slots decided), and marks it
 * finished. */
lz_status lz_kernel_encode(lz_kernel *k);

/* Number of operands of a scalar op that name other scalar ops of the stage. */
int lz_sop_arity(const lz_sop *s);
/* Value of a size under run-time arguments `args`; args may be NULL when the kernel is not
 * finished. */
static inline int64_t lz_sz_value(lz_sz s, const int64_t *args)
{
    return args && s.slot >= 0 ? args[s.slot] : s.v;
}

/* dep[i]: bit d is set when scalar op i of the stage may depend on loop index d; bit 31 when on
 * memory or a size. `dep` has room for nsop. */
#define LZ_DEP_INNER(k, st) ((uint32_t)(((1u << (st)->ninner) - 1) << (k)->nouter))
void lz_stage_deps(const lz_kernel *k, const lz_stage *st, uint32_t *dep);

/* How many elements row `r` of stage `s` has, NULL when there is no such row; its dtype. */
const lz_sz *lz_row_extent(const lz_kernel *k, int32_t s, int32_t r);
lz_dtype lz_row_dtype(const lz_kernel *k, int32_t s, int32_t r);
/* Its first reduction starts from 0, of either sign where that is a float's. */
bool lz_sums_from_zero(const lz_stage *st);
/* What a value is converted from, when that is all it is; else itself. */
int32_t lz_converted_from(const lz_stage *st, int32_t sop);

/* ---- attribute records of elementwise ops (no regions) ---- */
void lz_ewattr_put(lz_buf *out, const lz_attr *a);
/* Reads what lz_ewattr_put wrote for a record of `kind`; NULL with r->failed or an error
 * recorded. */
const lz_attr *lz_ewattr_take(lz_rd *r, lz_attr_kind kind);
void lz_ewattr_print(lz_buf *out, const lz_attr *a); /* {field = value, ...} */
/* Reads one `field = value` of a record being filled; value is a word or a bracketed list. */
bool lz_ewattr_set(lz_attr *record, const char *field, size_t nfield, const char *value,
                   size_t nvalue);
#endif
