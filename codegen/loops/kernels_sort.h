/* kernels_sort.h - between the files that emit sorts.
 * The rows of an outer point are in the workspace as a structure of arrays, twice (ping-pong
 * buffers): the stage's loops write the first, and each pass of a sort goes from one to the other.
 * Key extraction: a comparator that compares f(left) with f(right) in an order that unsigned
 *   integers can have becomes a key, computed once per element into an array of its own. Operands
 *   that nobody reads afterwards have no array.
 * Units: bytes of workspace, elements of rows.
 * Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_LOOPS_KERNELS_SORT_H
#define LZ_CODEGEN_LOOPS_KERNELS_SORT_H
#include "codegen/loops/kern.h"

enum { SORT_KEY = 0, SORT_COLS = LZ_SORT_MAX + 1, SORT_DIGITS = 256 };

typedef struct ksort {
    const lz_sort *s;
    bool keyed;
    bool descending, exact; /* exact: the key's row can be had back from the key */
    int32_t key_op;         /* of the comparator: the key of the left element */
    uint32_t key_row;
    lz_dtype key_dtype;
    uint32_t ncol;                 /* column 0 is the key of a keyed one */
    lz_dtype col_dtype[SORT_COLS]; /* of the rows' columns */
    unsigned col_size[SORT_COLS];
    int8_t col_of[LZ_SORT_MAX]; /* column of a row, or -1 */
    Val n, at[SORT_COLS];       /* elements of a row; offsets of the columns in a set */
    bool selects;               /* only candidates for the first positions are sorted */
    Val kept, room;             /* of one that selects: these positions; elements of a set */
    Val set, set2, counts;      /* the two sets; counters of the radix sort */
    Val sorted;                 /* the set that is sorted at last */
} ksort;

/* kernels_sort_key.c */
void kern_sort_find_key(ksort *t);
/* of an element, or a vector of them, of the key's row */
Val kern_sort_key(kern *c, const ksort *t, Ev left);
Ev kern_sort_unkey(kern *c, const ksort *t, Val key); /* the element back; `exact` only */
/* The value of the comparator's op `want`; ops that it does not need are not emitted. left, right:
 * by row. */
Ev kern_sort_body(kern *c, const lz_sort *s, int32_t want, const Ev *left, const Ev *right);

/* kernels_sort.c */
Ty kern_sort_type(em *e, const ksort *t, uint32_t col);
Val kern_sort_load(kern *c, const ksort *t, Val set, uint32_t col, Val i);
void kern_sort_store(kern *c, const ksort *t, Val set, uint32_t col, Val i, Val v);

/* Whether the elements of `left`, one of each column, come before those of `right`. */
Val kern_sort_before(kern *c, const ksort *t, const Val *left, const Val *right);

/* The values of the current point to place `at` of the rows. */
void kern_sort_put_at(kern *c, uint32_t s, Val at);

/* kernels_sort_select.c: whether the sort of stage s selects; elements of a set, of rows of n whose
 * first `kept` are read; and the candidates for these into the set */
bool kern_sort_selects(const kern *c, uint32_t s, const ksort *t);
Val kern_sort_room(kern *c, const ksort *t, Val n, Val kept);
void kern_sort_select(kern *c, uint32_t s, const kctx *x);

/* kernels_sort_radix.c: a stable sort by the key's bytes, the lowest first; gives the set that is
 * sorted */
uint64_t kern_sort_counters(const ksort *t); /* bytes */
/* rows of fewer elements are not worth it */
int64_t kern_sort_radix_from(const ksort *t);
Val kern_sort_radix(kern *c, const ksort *t);
#endif
