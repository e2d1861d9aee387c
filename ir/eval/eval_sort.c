/* eval_sort.c - reference evaluation of sort: the positions of a row are merge-sorted by calls of
 * the comparator, then every operand is read in that order. Threads: pure. */
#include "ir/eval/eval.h"
#include <string.h>

typedef struct sorter {
    const lz_ref_call *c;
    lz_ref_region *region;
    const void **args; /* of the region: left and right element of each operand */
    int64_t n, stride; /* of the row, in elements */
    int64_t *order, *spare;
} sorter;

static lz_status less(const sorter *s, int64_t row, int64_t a, int64_t b, bool *out)
{
    uint8_t r = 0;
    void *const result[1] = {&r};
    for (uint32_t k = 0; k < s->c->sig->nopnd; k++) {
        const char *data = s->c->opnd[k]->data;
        size_t esize = lz_dtype_size(s->c->sig->opnd[k]->dtype);
        s->args[2 * k] = data + (size_t)(row + a * s->stride) * esize;
        s->args[2 * k + 1] = data + (size_t)(row + b * s->stride) * esize;
    }
    LZ_TRY(lz_ref_region_call(s->region, s->args, result));
    *out = r & 1;
    return LZ_OK;
}

/* Merges order[lo..mid) and order[mid..hi) into spare; the left one first where neither is less. */
static lz_status merge(sorter *s, int64_t row, int64_t lo, int64_t mid, int64_t hi)
{
    int64_t i = lo, j = mid;
    for (int64_t p = lo; p < hi; p++) {
        bool right = i == mid;
        if (i < mid && j < hi)
            LZ_TRY(less(s, row, s->order[j], s->order[i], &right));
        s->spare[p] = right ? s->order[j++] : s->order[i++];
    }
    return LZ_OK;
}

static lz_status sort_row(sorter *s, int64_t row)
{
    for (int64_t i = 0; i < s->n; i++)
        s->order[i] = i;
    for (int64_t width = 1; width < s->n; width *= 2) {
        for (int64_t lo = 0; lo < s->n; lo += 2 * width) {
            int64_t mid = lo + width < s->n ? lo + width : s->n,
                    hi = lo + 2 * width < s->n ? lo + 2 * width : s->n;
            LZ_TRY(merge(s, row, lo, mid, hi));
        }
        int64_t *t = s->order;
        s->order = s->spare;
        s->spare = t;
    }
    for (uint32_t k = 0; k < s->c->sig->nopnd; k++) {
        size_t esize = lz_dtype_size(s->c->sig->opnd[k]->dtype);
        const char *src = s->c->opnd[k]->data;
        char *dst = s->c->result[k]->data;
        for (int64_t i = 0; i < s->n; i++)
            memcpy(dst + (size_t)(row + i * s->stride) * esize,
                   src + (size_t)(row + s->order[i] * s->stride) * esize, esize);
    }
    return LZ_OK;
}

static lz_status sort_rows(sorter *s, int64_t dim)
{
    lz_shape rows = s->c->sig->opnd[0]->shape;
    int64_t strides[LZ_MAX_RANK];
    lz_ref_strides(&rows, strides);
    s->n = rows.dims[dim];
    s->stride = strides[dim];
    rows.dims[dim] = 1;
    for (lz_ref_walk w = lz_ref_walk_of(rows.rank, rows.dims); w.more; lz_ref_walk_next(&w))
        LZ_TRY(sort_row(s, lz_ref_dot_index(rows.rank, w.idx, strides)));
    return LZ_OK;
}

lz_status lz_ref_sort(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    if (c->sig->opnd[0]->nelem == 0)
        return LZ_OK;
    const lz_attr_sort *a = LZ_ATTR(sort, c->sig->attr);
    int64_t n = c->sig->opnd[0]->shape.dims[a->dimension];
    sorter s = {.c = c};
    LZ_TRY(lz_ref_region_new(a->comparator, c->depth, &s.region));
    int64_t *first = s.order = lz_calloc((size_t)n, sizeof *s.order),
            *second = s.spare = lz_calloc((size_t)n, sizeof *s.spare);
    s.args = lz_calloc(2 * (size_t)c->sig->nopnd, sizeof *s.args);
    lz_status st =
        first && second && s.args
            ? sort_rows(&s, a->dimension)
            : LZ_FAIL(LZ_EMEM, "sort: no memory for the order of %lld elements", (long long)n);
    lz_free(first);
    lz_free(second);
    lz_free(s.args);
    lz_ref_region_free(s.region);
    return st;
}
