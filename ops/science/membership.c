/* membership.c - what is one of a set, and places in sorted rows with all of torch's options:
 * include/lazuli/science_ops.h. */
#include "ops/science/science.h"
#include "base/status.h"
#include <lazuli/order.h>
#include <lazuli/science_ops.h>
#include <string.h>

/* The place that each element would have in the sorted set holds it, or nothing does. */
static lz_tensor *members(const lz_composite *c, lz_tensor *x, lz_tensor *set)
{
    if (!lz_composite_real(c, x, "elements") || !lz_composite_real(c, set, "test_elements"))
        return NULL;
    int64_t n = lz_numel(set);
    if (n == 0)
        return lz_zeros_like_at(x, LZ_BOOL, c->site);
    lz_dtype d = lz_promote(lz_dtype_of(x), lz_dtype_of(set));
    if (d == LZ_DTYPE_NONE) {
        LZ_FAIL(LZ_EDTYPE, "%s and %s have no common dtype", lz_dtype_name(lz_dtype_of(x)),
                lz_dtype_name(lz_dtype_of(set)));
        return NULL;
    }
    x = TO(x, d);
    lz_tensor *sorted = lz_sort_at(RESHAPE(TO(set, d), LZ_SHAPE(n)), 0, false, NULL, c->site);
    lz_tensor *at = lz_searchsorted_at(sorted, x, false, c->site);
    at = lz_clamp_at(at, 0, (double)(n - 1), c->site);
    return lz_eq_at(lz_take_at(sorted, at, c->site), x, c->site);
}

lz_tensor *lz_isin_at(lz_tensor *elements, lz_tensor *test_elements, bool invert,
                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_isin");
    lz_tensor *r = members(c, elements, test_elements);
    return lz_composite_end(c, r && invert ? lz_logical_not_at(r, site) : r);
}

static bool side_of(const lz_searchsorted_options *o, bool *right)
{
    *right = o->right;
    if (!o->side)
        return true;
    if (strcmp(o->side, "left") != 0 && strcmp(o->side, "right") != 0) {
        LZ_FAIL(LZ_EINVAL, "side is \"%.40s\": \"left\" and \"right\" are", o->side);
        return false;
    }
    *right = strcmp(o->side, "right") == 0;
    if (*right || !o->right)
        return true;
    LZ_FAIL(LZ_EINVAL, "side is \"left\", but right is true");
    return false;
}

static lz_tensor *reordered(const lz_composite *c, lz_tensor *rows, lz_tensor *sorter)
{
    char tr[160], ts[160];
    if (!lz_composite_in(c, sorter, "sorter"))
        return NULL;
    lz_dtype d = lz_dtype_of(sorter);
    if (d != LZ_I64 && d != LZ_I32) {
        LZ_FAIL(LZ_EDTYPE, "sorter is %s: it must be i64 or i32", lz_dtype_name(d));
        return NULL;
    }
    lz_shape a = lz_shape_of(rows), b = lz_shape_of(sorter);
    bool same = a.rank == b.rank && a.rank > 0;
    for (int i = 0; same && i < a.rank; i++)
        same = a.dims[i] == b.dims[i];
    if (!same) {
        LZ_FAIL(LZ_ESHAPE, "sorter is %s, sorted %s: they have one shape, of rank 1 or more",
                lz_composite_shape(sorter, ts), lz_composite_shape(rows, tr));
        return NULL;
    }
    return lz_take_along_dim_at(rows, sorter, -1, c->site);
}

lz_tensor *lz_searchsorted_with_at(lz_tensor *sorted, lz_tensor *values,
                                   const lz_searchsorted_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_searchsorted_with");
    lz_searchsorted_options opt = {.struct_size = sizeof opt};
    bool right;
    if (!lz_composite_options(c, &opt, sizeof opt, o) || !side_of(&opt, &right) ||
        !lz_composite_in(c, sorted, "sorted") || !lz_composite_in(c, values, "values"))
        return lz_composite_end(c, NULL);
    lz_tensor *rows = opt.sorter ? reordered(c, sorted, opt.sorter) : sorted;
    lz_tensor *r = rows ? lz_searchsorted_at(rows, values, right, site) : NULL;
    return lz_composite_end(c, r && opt.out_int32 ? TO(r, LZ_I32) : r);
}
