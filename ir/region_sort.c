/* region_sort.c - the comparators of sort that the library makes itself: lexicographic, by the
 * first operands. Floats compare by the total order after -0 has become 0 and every NaN one
 * positive NaN, so that NaN is the largest: JAX's comparator, and ATen's order.
 * Threads: thread-safe. */
#include "ir/module.h"
#include <math.h>

static lz_val compare(lz_func *f, lz_comparison_direction dir, int32_t type, lz_val a, lz_val b)
{
    lz_attr_compare c = {
        .kind = LZ_ATTR_compare, .comparison_direction = (int32_t)dir, .compare_type = type};
    return lz_build(f, LZ_OP_COMPARE, (const lz_attr *)(const void *)&c, (lz_val[]){a, b}, 2);
}

static lz_val canonical(lz_func *f, lz_val x)
{
    lz_dtype d = lz_val_type(f, x)->dtype;
    if (!lz_dtype_is_float(d))
        return x;
    lz_val zero = lz_build_scalar(f, d, 0), nan = lz_build_scalar(f, d, NAN);
    lz_val y = lz_build_select(f, lz_build_compare(f, LZ_CMP_EQ, x, zero), zero, x);
    return lz_build_select(f, lz_build_compare(f, LZ_CMP_NE, x, x), nan, y);
}

static lz_val build(lz_func *f, const lz_dtype *d, uint32_t n, uint32_t nkey, bool descending)
{
    const lz_shape scalar = {0};
    lz_comparison_direction dir = descending ? LZ_CMP_GT : LZ_CMP_LT;
    for (uint32_t i = 0; i < 2 * n; i++) {
        const lz_type *t = lz_type_get(d[i / 2], &scalar);
        if (!t || lz_build_param(f, t) == LZ_NOVAL)
            return LZ_NOVAL;
    }
    lz_val out = LZ_NOVAL;
    for (uint32_t k = nkey; k-- > 0;) {
        lz_val a = canonical(f, 2 * k), b = canonical(f, 2 * k + 1);
        int32_t type = lz_dtype_is_float(d[k])    ? LZ_CT_TOTALORDER
                       : lz_dtype_is_signed(d[k]) ? LZ_CT_SIGNED
                                                  : LZ_CT_UNSIGNED;
        lz_val before = compare(f, dir, type, a, b);
        if (k + 1 < nkey) {
            lz_val same = compare(f, LZ_CMP_EQ, type, a, b);
            before = lz_build_ew2(f, LZ_OP_OR, before, lz_build_ew2(f, LZ_OP_AND, same, out));
        }
        out = before;
    }
    return out;
}

const lz_func *lz_region_order(const lz_dtype *d, uint32_t n, uint32_t nkey, bool descending)
{
    for (uint32_t k = 0; k < nkey; k++)
        if (lz_dtype_is_complex(d[k])) {
            (void)LZ_FAIL(LZ_EDTYPE, "complex numbers have no order");
            return NULL;
        }
    lz_func *f = lz_func_new("comparator");
    if (!f)
        return NULL;
    lz_val v = build(f, d, n, nkey, descending);
    const lz_func *r =
        v != LZ_NOVAL && lz_func_set_results(f, &v, 1) == LZ_OK ? lz_region_intern(f) : NULL;
    lz_func_free(f);
    return r;
}
